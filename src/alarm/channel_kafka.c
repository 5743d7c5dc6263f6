/* Sends each edge to a topic of Kafka, by librdkafka if the program was built with it. */
#include <stdio.h>
#include <string.h>

#include "alarm/anteater.h"
#include "alarm/channel.h"
#include "base/mem.h"

static bool is_on(const struct fsl_config *config)
{
	return config->kafka_brokers != NULL;
}

#ifdef FSL_HAVE_KAFKA

#include <librdkafka/rdkafka.h>

#include "base/library.h"

enum { WHY_MAX = 512 };

/* Functions of librdkafka 1.0 and later, once they are loaded. */
static struct {
	__typeof__(rd_kafka_conf_new) *conf_new;
	__typeof__(rd_kafka_conf_set) *conf_set;
	__typeof__(rd_kafka_conf_destroy) *conf_destroy;
	__typeof__(rd_kafka_conf_set_dr_msg_cb) *on_delivery;
	__typeof__(rd_kafka_new) *new;
	__typeof__(rd_kafka_producev) *produce;
	__typeof__(rd_kafka_flush) *flush;
	__typeof__(rd_kafka_purge) *purge;
	__typeof__(rd_kafka_destroy) *destroy;
	__typeof__(rd_kafka_version_str) *version;
	__typeof__(rd_kafka_err2str) *error_text;
} kafka;

static bool load_kafka(void)
{
	const struct fsl_symbol symbols[] = {
		{"rd_kafka_conf_new", &kafka.conf_new},
		{"rd_kafka_conf_set", &kafka.conf_set},
		{"rd_kafka_conf_destroy", &kafka.conf_destroy},
		{"rd_kafka_conf_set_dr_msg_cb", &kafka.on_delivery},
		{"rd_kafka_new", &kafka.new},
		{"rd_kafka_producev", &kafka.produce},
		{"rd_kafka_flush", &kafka.flush},
		{"rd_kafka_purge", &kafka.purge},
		{"rd_kafka_destroy", &kafka.destroy},
		{"rd_kafka_version_str", &kafka.version},
		{"rd_kafka_err2str", &kafka.error_text},
	};
	return kafka.error_text != NULL ||
	       fsl_library_load("librdkafka.so.1", symbols, sizeof(symbols) / sizeof(symbols[0]));
}

static enum fsl_status fail(const struct fsl_config *config, enum fsl_status status,
			    const char *why, struct fsl_error *err)
{
	return FSL_FAIL(err, status,
			"cannot send to Kafka, check brokers and topic: key=\"kafka_brokers\", "
			"brokers=\"%s\", topic=\"%s\", reason=\"%s\"",
			config->kafka_brokers, config->kafka_topic, why);
}

/* How the message fared; librdkafka tells it while it is polled. */
static void note_delivery(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
	(void)producer;
	(void)opaque;
	*(rd_kafka_resp_err_t *)message->_private = message->err;
}

static rd_kafka_t *make_producer(const struct fsl_config *config, char why[WHY_MAX])
{
	const char *const settings[][2] = {
		{"bootstrap.servers", config->kafka_brokers},
		{"client.id", "failslow"},
		{"enable.idempotence", "true"}, /* no edge twice by a repeated request */
		{"log_level", "0"},
	};
	rd_kafka_conf_t *conf = kafka.conf_new();
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (kafka.conf_set(conf, settings[i][0], settings[i][1], why, WHY_MAX) !=
		    RD_KAFKA_CONF_OK) {
			kafka.conf_destroy(conf);
			return NULL;
		}
	}
	kafka.on_delivery(conf, note_delivery);
	rd_kafka_t *producer = kafka.new(RD_KAFKA_PRODUCER, conf, why, WHY_MAX);
	if (producer == NULL) {
		kafka.conf_destroy(conf);
	}
	return producer;
}

static enum fsl_status send_text(const struct fsl_config *config, const struct fsl_edge *edge,
				 const char *text, int64_t deadline_ns, struct fsl_error *err)
{
	char why[WHY_MAX] = "", key[1024];
	rd_kafka_resp_err_t fate = RD_KAFKA_RESP_ERR__TIMED_OUT;
	rd_kafka_t *producer = NULL;
	if (!load_kafka()) {
		return fail(config, FSL_ERR_CONFIG, "librdkafka is not installed", err);
	}
	producer = make_producer(config, why);
	if (producer == NULL) {
		return fail(config, FSL_ERR_CONFIG, why, err);
	}
	/* A topic that keeps the newest message of a key holds the state. */
	(void)snprintf(key, sizeof(key), "%.400s|%.400s", fsl_edge_text(edge, "jobRoot"),
		       edge->incident);
	/* Without the macros of the library, which are no ISO C. */
	rd_kafka_resp_err_t code = kafka.produce(
		producer, RD_KAFKA_VTYPE_TOPIC, config->kafka_topic, RD_KAFKA_VTYPE_KEY,
		(void *)key, strlen(key), RD_KAFKA_VTYPE_VALUE, (void *)(uintptr_t)text,
		strlen(text), RD_KAFKA_VTYPE_MSGFLAGS, (int)RD_KAFKA_MSG_F_COPY,
		RD_KAFKA_VTYPE_OPAQUE, (void *)&fate, RD_KAFKA_VTYPE_END);
	if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
		code = kafka.flush(producer, fsl_clock_left_ms(deadline_ns));
		code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? fate : code;
	}
	(void)kafka.purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
	(void)kafka.flush(producer, 100);
	kafka.destroy(producer);
	return code == RD_KAFKA_RESP_ERR_NO_ERROR
		       ? FSL_OK
		       : fail(config, FSL_ERR_IO, kafka.error_text(code), err);
}

static enum fsl_status send_edge(const struct fsl_config *config, const struct fsl_edge *edge,
				 int64_t deadline_ns, struct fsl_error *err)
{
	if (config->kafka_form == FSL_KAFKA_FAILSLOW) {
		return send_text(config, edge, edge->text, deadline_ns, err);
	}
	char *text = fsl_anteater_text(edge);
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channel=\"kafka\"");
	}
	enum fsl_status status = send_text(config, edge, text, deadline_ns, err);
	cJSON_free(text);
	return status;
}

const char *fsl_kafka_version(void)
{
	return load_kafka() ? kafka.version() : "no";
}

#else

const char *fsl_kafka_version(void)
{
	return "no";
}

static enum fsl_status send_edge(const struct fsl_config *config, const struct fsl_edge *edge,
				 int64_t deadline_ns, struct fsl_error *err)
{
	(void)config;
	(void)edge;
	(void)deadline_ns;
	return FSL_FAIL(err, FSL_ERR_CONFIG,
			"built without librdkafka, install a build with it or remove the key: "
			"key=\"kafka_brokers\"");
}

#endif

const struct fsl_channel fsl_channel_kafka = {
	.name = "kafka",
	.summary = "sends begins and ends of incidents to a topic of Kafka (kafka_brokers)",
	.is_on = is_on,
	.send = send_edge,
};
