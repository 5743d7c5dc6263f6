/*
 * Between the walk over a trace and its events: categories that a user tells by lanes, and begins
 * and ends (B, E) that become whole events.
 */
#ifndef FSL_SOURCE_KINETO_INTAKE_H
#define FSL_SOURCE_KINETO_INTAKE_H

#include "source/kineto/events.h"
#include "source/kineto/lanes.h"

struct fsl_kineto_open; /* a begin whose end has not come */

struct fsl_kineto_intake {
	struct fsl_kineto_events *events; /* borrowed */
	const struct fsl_lanes *lanes;    /* borrowed; NULL: the user tells none */
	struct fsl_strpool *categories;   /* texts that were asked for, and */
	int8_t *of_category;              /* their kind, by id */
	size_t of_category_capacity;
	struct fsl_strpool *places; /* processes and threads with a name, and */
	int8_t *of_place;           /* their kind, by id */
	size_t of_place_capacity;
	struct fsl_strpool *threads; /* with begins; NULL: none yet */
	uint32_t *last_of_thread;    /* by id: the innermost open begin, FSL_STR_NONE: none */
	size_t last_capacity;
	struct fsl_kineto_open *open;
	size_t n_open, open_capacity;
	uint32_t first_free;    /* of @open */
	uint64_t n_unmatched;   /* ends without a begin, begins that are too deep */
	bool has_unknown_forms; /* of a dialect of which no real export is known */
	bool has_old_words;     /* categories of 2021 that no later trace has */
};

/* As events: {.events, .lanes}. FSL_ERR_MEMORY. */
enum fsl_status fsl_kineto_intake_init(struct fsl_kineto_intake *intake,
				       struct fsl_kineto_events *events,
				       const struct fsl_lanes *lanes, struct fsl_error *err);
void fsl_kineto_intake_fini(struct fsl_kineto_intake *intake);

/* Takes the name of a process or thread from metadata; call it for a whole trace before its events
 * are taken, as names may stand behind them. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_intake_learn(struct fsl_kineto_intake *intake,
					const struct fsl_trace_event *event, struct fsl_error *err);
/* Adds an event without a fault to the events, as it is, or once its end has come. FSL_ERR_MEMORY,
 * FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_intake_take(struct fsl_kineto_intake *intake,
				       const struct fsl_trace_event *event, struct fsl_error *err);
/* Begins without an end, and ends without a begin. */
uint64_t fsl_kineto_intake_unmatched(const struct fsl_kineto_intake *intake);

#endif
