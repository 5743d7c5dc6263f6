/*
 * One pass over the frames of each thread, with the frames that are open on a stack. Own time is
 * summed up at once; that of functions on several threads, which may run at the same time, in a
 * second pass, which goes through all threads together in the order of time.
 */
#include "capture/call_paths.h"

#include "base/heap.h"
#include "base/number.h"
#include "base/try.h"

enum { STACK_FIRST = 16 /* frames */ };

struct open_frame {
	int64_t end_ns, own_ns;
	uint32_t function;
};

/* Own time of a function that runs on several threads. */
struct stretch {
	int64_t from_ns, to_ns;
	uint32_t function;
};

/* A walk through the frames of one thread. */
struct walk {
	struct fsl_function_times *times;
	struct fsl_frame_cursor cursor;
	struct open_frame *stack; /* at most FSL_CALL_DEPTH_MAX */
	size_t n_stack, stack_capacity;
	int64_t now_ns; /* own time of the innermost frame is counted up to here */
	const struct fsl_busy *above;
	size_t above_at;           /* where the time was looked for last */
	bool has_shared;           /* a function runs on several threads */
	bool is_second;            /* only the time of these is wanted */
	bool is_over;              /* no frame is left */
	int64_t syscall_until_ns;  /* end of the system calls so far */
	struct stretch *stretches; /* of the second pass: taken from the next frame, */
	size_t n_stretches, stretches_capacity;
	size_t at; /* and the first of them that was not added yet */
};

/* Own time of a function, behind all that was told of this thread. */
static enum fsl_status add_own(struct walk *walk, uint32_t id, int64_t from_ns, int64_t to_ns,
			       struct fsl_error *err)
{
	struct fsl_function_built *built = &walk->times->built[id];
	if (walk->is_second) {
		const struct stretch stretch = {from_ns, to_ns, id};
		return built->is_shared && from_ns < to_ns
			       ? FSL_APPEND(walk, stretches, &stretch, err)
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
	if (walk->n_stack > 0 && to_ns <= from_ns) {
		return FSL_OK;
	}
	walk->now_ns = to_ns;
	if (walk->n_stack == 0) {
		return FSL_OK;
	}
	struct open_frame *inner = &walk->stack[walk->n_stack - 1];
	inner->own_ns += to_ns - from_ns;
	return add_own(walk, inner->function, from_ns, to_ns, err);
}

/* Ends frames that end at @to_ns or before. */
static enum fsl_status close_until(struct walk *walk, int64_t to_ns, struct fsl_error *err)
{
	while (walk->n_stack > 0 && walk->stack[walk->n_stack - 1].end_ns <= to_ns) {
		FSL_TRY(advance(walk, walk->stack[walk->n_stack - 1].end_ns, err));
		walk->n_stack--;
		if (!walk->is_second) {
			fsl_function_count(walk->times, walk->stack[walk->n_stack].function,
					   walk->stack[walk->n_stack].own_ns);
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
	if (walk->n_stack == 0 || walk->is_second) {
		return FSL_OK;
	}
	const struct open_frame *outer = &walk->stack[walk->n_stack - 1];
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
	if (walk->n_stack == FSL_CALL_DEPTH_MAX) {
		return FSL_OK;
	}
	if (walk->n_stack > 0) {
		const struct open_frame *outer = &walk->stack[walk->n_stack - 1];
		caller = outer->function;
		end_ns = end_ns < outer->end_ns ? end_ns : outer->end_ns;
	}
	FSL_TRY(fsl_function_find(walk->times, FSL_FUNCTION_PYTHON, frame->name_id, FSL_STR_NONE,
				  caller, &function, err));
	take_thread(walk, function, frame->thread);
	const struct open_frame open = {end_ns, 0, function};
	FSL_TRY(FSL_GROW(walk->stack, walk->stack_capacity, STACK_FIRST, err));
	return FSL_APPEND(walk, stack, &open, err);
}

static enum fsl_status take_frame(struct walk *walk, const struct fsl_frame *frame,
				  struct fsl_error *err)
{
	if (frame->kind == FSL_FRAME_SYSCALL) {
		return add_syscall(walk, frame, err);
	}
	return frame->kind != FSL_FRAME_LOADING ? open_frame(walk, frame, err) : FSL_OK;
}

static void begin_thread(struct walk *walk, const struct fsl_frames *frames, size_t thread)
{
	walk->cursor = fsl_frames_read(frames, thread);
	walk->above_at = 0;
	walk->syscall_until_ns = INT64_MIN;
}

static enum fsl_status walk_first(struct walk *walk, const struct fsl_frames *frames,
				  struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < frames->n_threads && status == FSL_OK; i++) {
		struct fsl_frame frame;
		begin_thread(walk, frames, i);
		while (status == FSL_OK && fsl_frame_next(&walk->cursor, &frame)) {
			status = take_frame(walk, &frame, err);
		}
		FSL_THEN(status, close_until(walk, INT64_MAX, err));
	}
	return status;
}

/* Goes on to the next stretch of the walk; *has: there is one. */
static enum fsl_status next_stretch(struct walk *walk, bool *has, struct fsl_error *err)
{
	walk->at++;
	while (walk->at >= walk->n_stretches && !walk->is_over) {
		struct fsl_frame frame;
		walk->at = walk->n_stretches = 0;
		walk->is_over = !fsl_frame_next(&walk->cursor, &frame);
		FSL_TRY(walk->is_over ? close_until(walk, INT64_MAX, err)
				      : take_frame(walk, &frame, err));
	}
	*has = walk->at < walk->n_stretches;
	return FSL_OK;
}

/* The walks of all threads: a heap, the one with the earliest stretch first. */
struct walks {
	struct walk *of; /* [n_threads] */
	uint32_t *heap;  /* [n_threads] */
	size_t n, n_threads;
};

static bool is_before(const void *context, uint32_t a, uint32_t b)
{
	const struct walks *walks = context;
	const struct walk *left = &walks->of[a], *right = &walks->of[b];
	return left->stretches[left->at].from_ns < right->stretches[right->at].from_ns;
}

static enum fsl_status begin_walks(struct walks *walks, const struct walk *first,
				   const struct fsl_frames *frames, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(walks->of, frames->n_threads, "threads", err));
	walks->n_threads = frames->n_threads;
	FSL_TRY(FSL_NEW(walks->heap, frames->n_threads, "threads", err));
	for (size_t i = 0; i < frames->n_threads; i++) {
		bool has = false;
		struct walk *walk = &walks->of[i];
		*walk = (struct walk){.times = first->times, .is_second = true};
		begin_thread(walk, frames, i);
		FSL_TRY(next_stretch(walk, &has, err));
		if (has) {
			fsl_heap_push(walks->heap, walks->n++, (uint32_t)i, is_before, walks);
		}
	}
	return FSL_OK;
}

static void end_walks(struct walks *walks)
{
	for (size_t i = 0; i < walks->n_threads; i++) {
		fsl_free(walks->of[i].stack);
		fsl_free(walks->of[i].stretches);
	}
	fsl_free(walks->of);
	fsl_free(walks->heap);
}

/* Sums what the first pass cannot: overlaps of a function on several threads count once. */
static enum fsl_status walk_second(const struct walk *first, const struct fsl_frames *frames,
				   struct fsl_error *err)
{
	struct walks walks = {0};
	struct fsl_function_times *times = first->times;
	for (size_t f = 0; f < times->n_built; f++) {
		if (times->built[f].is_shared) {
			times->built[f].function.wall_ns = times->built[f].function.exclusive_ns =
				0;
		}
	}
	enum fsl_status status = begin_walks(&walks, first, frames, err);
	while (status == FSL_OK && walks.n > 0) {
		bool has = false;
		struct walk *walk = &walks.of[walks.heap[0]];
		const struct stretch *stretch = &walk->stretches[walk->at];
		fsl_function_add_time(times, stretch->function, stretch->from_ns, stretch->to_ns,
				      first->above);
		status = next_stretch(walk, &has, err);
		if (status == FSL_OK && !has) {
			walks.heap[0] = walks.heap[--walks.n];
		}
		fsl_heap_sink(walks.heap, walks.n, 0, is_before, &walks);
	}
	end_walks(&walks);
	return status;
}

enum fsl_status fsl_call_paths_add(struct fsl_function_times *times,
				   const struct fsl_frames *frames, const struct fsl_busy *above,
				   struct fsl_error *err)
{
	struct walk walk = {.times = times, .above = above};
	enum fsl_status status = walk_first(&walk, frames, err);
	if (status == FSL_OK && walk.has_shared) {
		status = walk_second(&walk, frames, err);
	}
	fsl_free(walk.stack);
	return status;
}
