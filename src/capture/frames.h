/*
 * Frames of the host: functions of Python, operators, loading of data. A trace has millions of
 * them, so they are kept as a few bytes each, in the order of each thread.
 */
#ifndef FSL_CAPTURE_FRAMES_H
#define FSL_CAPTURE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "capture/spill.h"

enum fsl_frame_kind {
	FSL_FRAME_PYTHON,
	FSL_FRAME_OPERATOR, /* of the framework */
	FSL_FRAME_LOADING,  /* of data; an annotation, which is on no call path */
	FSL_FRAME_SYSCALL,  /* no function: time that the function around it spends in the system */
};

/* A function or operator on a thread of the host. */
struct fsl_frame {
	int64_t begin_ns, dur_ns; /* dur_ns is not negative */
	uint32_t name_id;         /* in rank->names */
	uint32_t thread : 30;     /* threads are numbered from 0 without large gaps */
	enum fsl_frame_kind kind : 2;
};

enum {
	/* Frames of a thread that are sorted before they are packed: some writers have a frame
	 * behind the frames that it calls. */
	FSL_FRAMES_WINDOW = 512,
	/* Sorted runs of a thread. PyTorch's profiler writes all operators, then all functions of
	 * Python. A thread with more runs is sorted as a whole. */
	FSL_FRAME_RUNS_MAX = 8,
};

struct fsl_frame_thread; /* opaque */

/* Start as {0}, or set the first three members. */
struct fsl_frames {
	bool keeps_order;        /* of adding: the frames are not sorted, and have thread 0 */
	size_t window;           /* 0: FSL_FRAMES_WINDOW */
	struct fsl_spill *spill; /* NULL: they stay in memory */
	int64_t shift_ns;        /* that is added to begins when frames are read */
	size_t n;
	struct fsl_frame_thread *threads; /* by number */
	size_t n_threads, threads_capacity;
};

/* FSL_ERR_MEMORY only. */
enum fsl_status fsl_frames_add(struct fsl_frames *frames, const struct fsl_frame *frame,
			       struct fsl_error *err);
/* Ends adding: only now frames can be read. FSL_ERR_MEMORY only. */
enum fsl_status fsl_frames_settle(struct fsl_frames *frames, struct fsl_error *err);
/* Forgets all frames of a kind; adding has ended. FSL_ERR_MEMORY only. */
enum fsl_status fsl_frames_forget(struct fsl_frames *frames, enum fsl_frame_kind kind,
				  struct fsl_error *err);
void fsl_frames_fini(struct fsl_frames *frames);

/* Reads the frames of one thread: by begin, callers before what they call. */
struct fsl_frame_head {
	const struct fsl_spill_list *bytes;
	size_t chunk, at;        /* of the next frame */
	struct fsl_frame newest; /* of this run */
};
struct fsl_frame_cursor {
	int64_t shift_ns;
	size_t n_heads; /* runs that have frames left */
	struct fsl_frame_head heads[FSL_FRAME_RUNS_MAX];
};
/* @thread is below n_threads. The frames are borrowed. */
struct fsl_frame_cursor fsl_frames_read(const struct fsl_frames *frames, size_t thread);
/* False: there are no more. */
bool fsl_frame_next(struct fsl_frame_cursor *cursor, struct fsl_frame *frame);

#endif
