/*
 * One pass over the frames of each thread, with the frames that are open on a stack. Own time is
 * summed up at once; that of functions on several threads, which may run at the same time, is kept
 * in a second pass.
 */
#include "capture/call_paths.h"

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

struct open_frame {
	int64_t end_ns, own_ns;
	uint32_t function;
};

struct walk {
	struct fsl_function_times *times;
	struct open_frame *stack; /* [FSL_CALL_DEPTH_MAX] */
	size_t depth;
	int64_t now_ns; /* own time of the innermost frame is counted up to here */
	const struct fsl_busy *above;
	size_t above_at;          /* where the time was looked for last */
	bool has_shared;          /* a function runs on several threads */
	bool is_second;           /* only the time of these is wanted */
	int64_t syscall_until_ns; /* end of the system calls so far */
};

/* Callers before what they call. */
static int compare_frames(const void *left, const void *right)
{
	const struct fsl_frame *a = left, *b = right;
	FSL_ORDER_BY(a->thread, b->thread);
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	FSL_ORDER_BY(b->dur_ns, a->dur_ns);
	FSL_ORDER_BY(a->kind == FSL_FRAME_SYSCALL, b->kind == FSL_FRAME_SYSCALL);
	return FSL_ORDER(a->name_id, b->name_id);
}

/* Own time of a function, behind all that was told of this thread. */
static enum fsl_status add_own(struct walk *walk, uint32_t id, int64_t from_ns, int64_t to_ns,
			       struct fsl_error *err)
{
	struct fsl_function_built *built = &walk->times->built[id];
	if (walk->is_second) {
		return built->is_shared
			       ? fsl_function_add_time(walk->times, id, from_ns, to_ns, err)
			       : FSL_OK;
	}
	int64_t own_ns = to_ns - from_ns;
	built->function.wall_ns += own_ns;
	built->function.exclusive_ns += own_ns;
	if (walk->above != NULL && own_ns > 0) {
		int64_t before_ns = fsl_busy_next(walk->above, &walk->above_at, from_ns);
		built->function.exclusive_ns -=
			fsl_busy_next(walk->above, &walk->above_at, to_ns) - before_ns;
	}
	return FSL_OK;
}

/* Counts own time of the innermost frame. */
static enum fsl_status advance(struct walk *walk, int64_t to_ns, struct fsl_error *err)
{
	int64_t from_ns = walk->now_ns;
	if (walk->depth > 0 && to_ns <= from_ns) {
		return FSL_OK;
	}
	walk->now_ns = to_ns;
	if (walk->depth == 0) {
		return FSL_OK;
	}
	struct open_frame *inner = &walk->stack[walk->depth - 1];
	inner->own_ns += to_ns - from_ns;
	return add_own(walk, inner->function, from_ns, to_ns, err);
}

/* Ends frames that end at @to_ns or before. */
static enum fsl_status close_until(struct walk *walk, int64_t to_ns, struct fsl_error *err)
{
	while (walk->depth > 0 && walk->stack[walk->depth - 1].end_ns <= to_ns) {
		FSL_TRY(advance(walk, walk->stack[walk->depth - 1].end_ns, err));
		walk->depth--;
		if (!walk->is_second) {
			fsl_function_count(walk->times, walk->stack[walk->depth].function,
					   walk->stack[walk->depth].own_ns);
		}
	}
	return FSL_OK;
}

static void take_thread(struct walk *walk, uint32_t function, uint32_t thread)
{
	struct fsl_function_built *built = &walk->times->built[function];
	built->is_shared |= built->has_thread && built->thread != thread;
	built->thread = thread;
	built->has_thread = true;
	walk->has_shared |= built->is_shared;
}

/* Counts a system call for the function that is open; calls in each other count once. */
static enum fsl_status add_syscall(struct walk *walk, const struct fsl_frame *frame,
				   struct fsl_error *err)
{
	int64_t begin_ns = frame->begin_ns, end_ns = frame->begin_ns + frame->dur_ns;
	FSL_TRY(close_until(walk, begin_ns, err));
	if (walk->depth == 0 || walk->is_second) {
		return FSL_OK;
	}
	const struct open_frame *outer = &walk->stack[walk->depth - 1];
	begin_ns = begin_ns > walk->syscall_until_ns ? begin_ns : walk->syscall_until_ns;
	end_ns = end_ns < outer->end_ns ? end_ns : outer->end_ns;
	if (begin_ns < end_ns) {
		struct fsl_function *function = &walk->times->built[outer->function].function;
		function->syscall_ns = fsl_sum_i64(function->syscall_ns, end_ns - begin_ns);
		walk->syscall_until_ns = end_ns;
	}
	return FSL_OK;
}

static enum fsl_status open_frame(struct walk *walk, const struct fsl_frame *frame,
				  struct fsl_error *err)
{
	int64_t end_ns = frame->begin_ns + frame->dur_ns;
	uint32_t caller = FSL_STR_NONE, function = 0;
	FSL_TRY(close_until(walk, frame->begin_ns, err));
	FSL_TRY(advance(walk, frame->begin_ns, err));
	if (walk->depth == FSL_CALL_DEPTH_MAX) {
		return FSL_OK;
	}
	if (walk->depth > 0) {
		const struct open_frame *outer = &walk->stack[walk->depth - 1];
		caller = outer->function;
		end_ns = end_ns < outer->end_ns ? end_ns : outer->end_ns;
	}
	FSL_TRY(fsl_function_find(walk->times, FSL_FUNCTION_PYTHON, frame->name_id, FSL_STR_NONE,
				  caller, &function, err));
	take_thread(walk, function, frame->thread);
	walk->stack[walk->depth++] = (struct open_frame){end_ns, 0, function};
	return FSL_OK;
}

static enum fsl_status walk_all(struct walk *walk, const struct fsl_frame *frames, size_t n,
				struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		if (i > 0 && frames[i].thread != frames[i - 1].thread) {
			status = close_until(walk, INT64_MAX, err);
			walk->above_at = 0;
			walk->syscall_until_ns = INT64_MIN;
		}
		if (frames[i].kind == FSL_FRAME_SYSCALL) {
			FSL_THEN(status, add_syscall(walk, &frames[i], err));
		} else if (frames[i].kind != FSL_FRAME_LOADING) {
			FSL_THEN(status, open_frame(walk, &frames[i], err));
		}
	}
	FSL_THEN(status, close_until(walk, INT64_MAX, err));
	return status;
}

/* Forgets what was summed up for functions on several threads. */
static void begin_second(struct walk *walk)
{
	walk->is_second = true;
	for (size_t f = 0; f < walk->times->n_built; f++) {
		struct fsl_function_built *built = &walk->times->built[f];
		if (built->is_shared) {
			built->function.wall_ns = built->function.exclusive_ns = 0;
		}
	}
}

enum fsl_status fsl_call_paths_add(struct fsl_function_times *times, struct fsl_frame *frames,
				   size_t n, const struct fsl_busy *above, struct fsl_error *err)
{
	struct walk walk = {.times = times, .above = above, .syscall_until_ns = INT64_MIN};
	FSL_TRY(FSL_NEW(walk.stack, FSL_CALL_DEPTH_MAX, "frames", err));
	fsl_sort_runs(frames, n, sizeof(*frames), compare_frames);
	enum fsl_status status = walk_all(&walk, frames, n, err);
	if (status == FSL_OK && walk.has_shared) {
		begin_second(&walk);
		status = walk_all(&walk, frames, n, err);
	}
	fsl_free(walk.stack);
	return status;
}
