/* The inside of fsl_marker_pairs, shared by marker_pairs.c and marker_state.c. */
#ifndef FSL_SOURCE_SYSTRACE_MARKER_PARTS_H
#define FSL_SOURCE_SYSTRACE_MARKER_PARTS_H

#include "source/systrace/marker_pairs.h"

enum {
	SLOTS_MIN = FSL_MARKER_SLOTS_MIN,
	PENDING_MAX = FSL_SINK_OPS_MAX,
	HOST = 0,
	DEVICE = 1,
	FLAG_STARTS = 2 | 16, /* range start without and with a stream */
	FLAG_ENDS = 4 | 32,
};
#define NAME_NONE UINT32_MAX

/* A name once parsed; every operator with the same text shares it. */
struct parsed_name {
	uint32_t op_id, group_id, dtype_id; /* op_id FSL_STR_NONE: no communication operator */
	uint32_t next; /* name that followed the last time; NAME_NONE: none yet */
	uint64_t n_elements;
	const char *text; /* whole; texts' */
	size_t n_text;
};

/* Which of the operators that never ended a hung rank waits in, best first. */
enum open_class {
	OPEN_ON_DEVICE, /* began on the device: the newest */
	OPEN_ON_HOST,   /* the host never came back from launching it: the newest */
	OPEN_QUEUED,    /* launched, not begun on the device: the oldest blocks the others */
	OPEN_NONE,
};

struct fsl_marker_pairs {
	struct fsl_sink *sink;
	struct fsl_marker_pending *slots;
	size_t n_slots, n_pending; /* n_slots is a power of two, at most half full */
	struct fsl_strpool *texts; /* whole names; the id is the index of names[] */
	struct parsed_name *names;
	size_t n_names, names_capacity;
	uint32_t last_name;            /* index of names[], NAME_NONE */
	int64_t last_device_launch_ns; /* newest host begin of an operator with device rows */
	uint64_t last_host_id;
	bool has_host_id;
	bool has_id_fallen; /* host ids did not only rise: perhaps a restart */
	enum open_class open;
	uint64_t open_id;
	/* For marks, kept as long as no restart is known: */
	struct fsl_id_set used; /* ids of the operators pushed so far, when n_noted of them were
				   there */
	size_t n_noted;
	struct fsl_marker_past past; /* in a resumed reading, of the mark that it began at */
};

/* Index of names[] for a whole name, parsed when it is new. */
enum fsl_status fsl_marker_name_intern(struct fsl_marker_pairs *pairs,
				       const struct fsl_marker *marker, size_t length,
				       uint32_t *name, struct fsl_error *err);
/* The operator's slot, or the free one where it belongs. */
struct fsl_marker_pending *fsl_marker_slot(const struct fsl_marker_pairs *pairs, uint64_t id);
/* Host ids did not only rise: threads that take turns, rows written twice, or a restart, which
 * uses ids again at another time. Says which in the events of the sink. */
enum fsl_status fsl_marker_find_restart(struct fsl_marker_pairs *pairs, struct fsl_error *err);

#endif
