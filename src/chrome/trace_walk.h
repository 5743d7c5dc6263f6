/*
 * All events of a file in Chrome's form: an array of them, or an object with such an array as
 * "traceEvents", in one pass. After broken JSON (two writers, a name in another encoding, a file
 * that is cut) reading goes on with the next event.
 */
#ifndef FSL_CHROME_TRACE_WALK_H
#define FSL_CHROME_TRACE_WALK_H

#include "chrome/trace_event.h"

/* The one to whom the walk tells what it finds. A call that does not return FSL_OK ends the walk
 * with that. */
struct fsl_trace_listener {
	const struct fsl_trace_vocabulary *vocabulary; /* borrowed */
	void *context;
	/* A second thread scans ahead if the file is large, regular and not compressed. All calls
	 * but @fault_of come from the caller's thread, and are the same without it. */
	bool has_second_thread;
	size_t block_bytes; /* that a thread scans at once, then also of small files; 0: as is best
			     */
	/* NULL if the event can be used, else the reason why not (static text). */
	const char *(*fault_of)(const struct fsl_trace_event *event);
	/* An event without a fault. */
	enum fsl_status (*take)(void *context, const struct fsl_trace_event *event,
				struct fsl_error *err);
	/* A value of the array that cannot be used; @json tells its place. */
	enum fsl_status (*drop)(void *context, const struct fsl_json *json, const char *reason,
				struct fsl_error *err);
	/* JSON that cannot be read (@status, in @own). Returns FSL_OK if reading may go on. */
	enum fsl_status (*fault)(void *context, enum fsl_status status, const struct fsl_error *own,
				 struct fsl_error *err);
	/* Another member of the object than "traceEvents"; reads its value. NULL: it is skipped. */
	enum fsl_status (*member)(void *context, struct fsl_json *json,
				  const struct fsl_json_value *key, struct fsl_error *err);
};

struct fsl_trace_walked {
	uint64_t n_events; /* that were taken */
	bool is_cut;       /* the end is missing or unreadable */
	bool has_faults;   /* some JSON could not be read */
};

/* Walks from the reader's place on. Fails if memory is short, or if the listener fails. */
enum fsl_status fsl_trace_walk(struct fsl_trace_walked *out, struct fsl_reader *reader,
			       const struct fsl_trace_listener *listener, struct fsl_error *err);

#endif
