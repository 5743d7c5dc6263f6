/*
 * Events of a timeline that people look at: slices and instants on lanes, values of counters, flows
 * from slice to slice. All sources of events make these, both writers (track_writer.h) take these.
 */
#ifndef FSL_REPORT_TRACE_TRACK_EVENT_H
#define FSL_REPORT_TRACE_TRACK_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FSL_TRACK_ARGS_MAX = 6,   /* arguments of one event */
	FSL_TRACK_DECIMALS_N = 3, /* of a counter that is no integer: ms with microseconds */
};

/* A row of the viewer: a lane of slices, or a counter. Texts are ids of the plan's names. */
struct fsl_track {
	uint32_t number; /* among all tracks of the plan, from 0 on */
	uint32_t pid;    /* process that it belongs to */
	uint32_t tid;    /* unique over all tracks, never 0 */
	uint32_t name;   /* text */
	uint32_t unit;   /* text; of a counter */
	bool is_counter;
	bool has_decimals; /* of a counter: its values are thousandths of the unit */
	int32_t place;     /* order within the process */
};

/* A process of the viewer: a rank, or the job. */
struct fsl_track_process {
	uint32_t pid;   /* never 0 */
	uint32_t name;  /* text */
	uint32_t label; /* text that stands behind the name; FSL_STR_NONE: none */
	int32_t place;  /* order of the processes */
};

/* A named value of an event: a number, or a text. */
struct fsl_track_arg {
	uint32_t key;   /* text */
	uint32_t text;  /* FSL_STR_NONE: a number */
	int64_t number; /* if it is no text */
};

/* Place of an event in a flow. */
enum fsl_track_flow {
	FSL_FLOW_NONE,
	FSL_FLOW_BEGINS,
	FSL_FLOW_GOES_ON,
	FSL_FLOW_ENDS,
};

struct fsl_track_event {
	const struct fsl_track *track; /* borrowed */
	int64_t begin_ns, end_ns;      /* equal: an instant, or the value of a counter */
	uint32_t name, category;       /* texts; of slices and instants */
	uint32_t n_args;
	struct fsl_track_arg args[FSL_TRACK_ARGS_MAX];
	int64_t value; /* of a counter */
	/* Flow from the launch on the host to the work on the device: the same id at both ends. */
	uint64_t launch_id;
	enum fsl_track_flow launch;
	/* Flow through the members of a collective, in the order in which they came. */
	uint64_t meeting_id;
	enum fsl_track_flow meeting;
};

#endif
