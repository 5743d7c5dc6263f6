/*
 * Channels that are told once that an incident opened and once that it cleared. They are a table,
 * channels.def; each is a file channel_<name>.c. What a channel is told waits in the outbox of the
 * state until its receiver took it.
 */
#ifndef FSL_ALARM_CHANNEL_H
#define FSL_ALARM_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <failslow/error.h>

#include "config/config.h"

/* One edge of an incident. All borrowed. */
struct fsl_edge {
	const char *incident; /* id */
	const char *name;     /* "open", "clear" */
	const char *text;     /* the edge as JSON: docs/edge.schema.json */
	const cJSON *json;    /* the same, parsed */
};

struct fsl_channel {
	const char *name;
	const char *summary;
	/* True if the configuration names a receiver. */
	bool (*is_on)(const struct fsl_config *config);
	/*
	 * Hands an edge over until @deadline_ns (fsl_clock_ns). FSL_OK: the receiver has it. After
	 * FSL_ERR_CONFIG no later try can succeed either, until the configuration changes.
	 */
	enum fsl_status (*send)(const struct fsl_config *config, const struct fsl_edge *edge,
				int64_t deadline_ns, struct fsl_error *err);
};

/* Version of librdkafka, "2.0.2"; "no": the program does without, or it is not installed. */
const char *fsl_kafka_version(void);

/* The table, ended by NULL. */
extern const struct fsl_channel *const fsl_channels[];

/* Text of a member of the edge; "" if there is none. */
const char *fsl_edge_text(const struct fsl_edge *edge, const char *key);
bool fsl_edge_is_open(const struct fsl_edge *edge);

/* A clock that is never set; ns. */
int64_t fsl_clock_ns(void);
/* Time until @deadline_ns in ms, at least 0. */
int fsl_clock_left_ms(int64_t deadline_ns);

/*
 * The text of a configured secret: "env:NAME" is that variable, "file:PATH" the first line of that
 * file, anything else itself. Free with fsl_free. FSL_ERR_CONFIG names @key and never the value.
 */
enum fsl_status fsl_secret_read(char **out, const char *key, const char *value,
				struct fsl_error *err);

#endif
