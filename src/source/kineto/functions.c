/* Frames while the trace is read; functions once all of it was. */
#include "source/kineto/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/kineto/counters.h"
#include "source/kineto/operations.h"
#include "source/kineto/shares.h"

void fsl_kineto_widen(struct fsl_kineto_events *events, const struct fsl_trace_event *event)
{
	int64_t begin_ns = event->ts_ns, end_ns = event->ts_ns + event->dur_ns;
	if (event->category == FSL_KINETO_SPAN || event->category == FSL_KINETO_CPU) {
		return;
	}
	bool is_first = events->begin_ns == 0 && events->end_ns == 0;
	events->begin_ns = is_first || begin_ns < events->begin_ns ? begin_ns : events->begin_ns;
	events->end_ns = is_first || end_ns > events->end_ns ? end_ns : events->end_ns;
}

/* "file.py(12): f" to "file.py: f", "<... object at 0x7f12>" to "<... object at 0x>": the same on
 * all ranks. Returns the length. */
static size_t make_common(char *to, size_t size, const struct fsl_trace_text *name)
{
	size_t n = 0;
	for (size_t i = 0; i < name->length && n < size;) {
		const char *text = name->text + i;
		size_t left = name->length - i, k = 1;
		while (k < left && isdigit((unsigned char)text[k]) != 0) {
			k++;
		}
		if (text[0] == '(' && k > 1 && k < left && text[k] == ')') {
			i += k + 1;
			continue;
		}
		if (left >= 2 && text[0] == '0' && text[1] == 'x' && n + 2 <= size) {
			to[n++] = '0';
			to[n++] = 'x';
			for (i += 2;
			     i < name->length && isxdigit((unsigned char)name->text[i]) != 0;) {
				i++;
			}
			continue;
		}
		to[n++] = text[0];
		i++;
	}
	return n;
}

enum fsl_status fsl_kineto_thread(struct fsl_kineto_events *events,
				  const struct fsl_trace_event *event, uint32_t *thread,
				  struct fsl_error *err)
{
	*thread = 0;
	if (events->rank->functions == NULL && events->rank->kept == NULL) {
		return FSL_OK;
	}
	if (events->threads == NULL && (events->threads = fsl_strpool_create()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
				(int)events->rank->rank);
	}
	struct fsl_kineto_last_thread *last = &events->last_thread;
	if (!last->is_known || last->pid != event->pid || last->tid != event->tid) {
		char key[2 * sizeof(uint64_t)];
		memcpy(key, &event->pid, sizeof(event->pid));
		memcpy(key + sizeof(event->pid), &event->tid, sizeof(event->tid));
		FSL_TRY(fsl_strpool_intern(events->threads, key, sizeof(key), &last->id, err));
		if (last->id >= FSL_KINETO_THREADS_MAX) {
			return FSL_FAIL(err, FSL_ERR_LIMIT,
					"too many threads of the host: at_most=%d",
					FSL_KINETO_THREADS_MAX);
		}
		last->is_known = true;
		last->pid = event->pid;
		last->tid = event->tid;
	}
	*thread = last->id;
	return FSL_OK;
}

enum fsl_status fsl_kineto_add_frame(struct fsl_kineto_events *events,
				     const struct fsl_trace_event *event, struct fsl_error *err)
{
	char name[FSL_TRACE_NAME_MAX];
	struct fsl_kineto_seen_name *seen = NULL;
	uint32_t thread = 0;
	struct fsl_frame frame = {
		.begin_ns = event->ts_ns,
		.dur_ns = event->dur_ns,
		.kind = event->category == FSL_KINETO_PYTHON     ? FSL_FRAME_PYTHON
			: event->category == FSL_KINETO_OPERATOR ? FSL_FRAME_OPERATOR
			: event->category == FSL_KINETO_SYSCALL  ? FSL_FRAME_SYSCALL
								 : FSL_FRAME_LOADING};
	bool is_wanted = events->rank->functions != NULL || events->rank->kept != NULL;
	if (!is_wanted || event->whole_name.length == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_kineto_thread(events, event, &thread, err));
	frame.thread = thread & (2 * FSL_KINETO_THREADS_MAX - 1); /* all of it */
	if (events->rank->functions != NULL) {
		events->rank->functions->n_syscalls += frame.kind == FSL_FRAME_SYSCALL;
	}
	FSL_TRY(fsl_kineto_seen_find(&events->functions, &event->whole_name, &seen, err));
	if (seen->id == FSL_STR_NONE) {
		/* A timeline shows lines of code, ranks are compared without them. */
		bool is_common = events->rank->functions != NULL;
		size_t length = is_common ? make_common(name, sizeof(name), &event->whole_name)
					  : event->whole_name.length;
		const char *text = is_common ? name : event->whole_name.text;
		FSL_TRY(fsl_strpool_intern(events->rank->names, text, length, &seen->id, err));
	}
	frame.name_id = seen->id;
	return fsl_frames_add(&events->frames, &frame, err);
}

/* What functions are made of, and the time that higher classes take. */
struct sums {
	struct fsl_function_times times;
	struct fsl_busy busy; /* time in which the device computes, then in which it works at all */
	struct fsl_kineto_levels levels;
	const struct fsl_kineto_events *events;
};

/* One run of a work of the device, or one call. */
struct run {
	enum fsl_function_class class;
	uint32_t name_id, shape_id;
	int64_t begin_ns, dur_ns;
};

static enum fsl_status add_run(struct sums *sums, const struct run *run, struct fsl_error *err)
{
	uint32_t id = 0;
	int64_t end_ns = run->begin_ns + run->dur_ns;
	FSL_TRY(fsl_function_find(&sums->times, run->class, run->name_id, run->shape_id,
				  FSL_STR_NONE, &id, err));
	fsl_function_count(&sums->times, id, run->dur_ns);
	/* The product's ratios: copies, collectives and calls beside no kernel. */
	fsl_function_add_time(&sums->times, id, run->begin_ns, end_ns,
			      run->class != FSL_FUNCTION_COMPUTE ? &sums->busy : NULL);
	return fsl_kineto_levels_add(&sums->levels, sums->events, run->class, id, run->begin_ns,
				     end_ns, err);
}

static enum fsl_status add_duration(struct sums *sums, const struct run *run, struct fsl_error *err)
{
	uint32_t id = 0;
	FSL_TRY(fsl_function_find(&sums->times, run->class, run->name_id, run->shape_id,
				  FSL_STR_NONE, &id, err));
	fsl_function_medians_add(&sums->times, id, run->dur_ns);
	return FSL_OK;
}

/* Hands all works and calls to @take: twice the same ones in the same order. */
static enum fsl_status each_run(struct sums *sums,
				enum fsl_status (*take)(struct sums *sums, const struct run *run,
							struct fsl_error *err),
				struct fsl_error *err)
{
	static const enum fsl_function_class classes[FSL_DEVICE_WORK_N] = {
		[FSL_DEVICE_COMPUTE] = FSL_FUNCTION_COMPUTE,
		[FSL_DEVICE_COMMUNICATION] = FSL_FUNCTION_COLLECTIVE,
		[FSL_DEVICE_MEMORY] = FSL_FUNCTION_MEMORY,
	};
	struct fsl_kineto_works works;
	struct fsl_kineto_calls calls;
	const struct fsl_kineto_events *events = sums->events;
	fsl_kineto_bare_works_begin(&works, events);
	fsl_kineto_calls_begin(&calls, events);
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		enum fsl_device_work kind = fsl_kineto_kind_of(events, &work);
		uint32_t shape_id = kind == FSL_DEVICE_COMPUTE ? work.shape_id : FSL_STR_NONE;
		const struct run run = {classes[kind], work.whole_id, shape_id, work.begin_ns,
					work.dur_ns};
		FSL_TRY(take(sums, &run, err));
	}
	for (size_t i = 0; i < events->calls.n; i++) {
		const struct fsl_kineto_call call = fsl_kineto_call_at(&calls, i);
		const struct run run = {FSL_FUNCTION_RUNTIME, call.name_id, FSL_STR_NONE,
					call.begin_ns, call.dur_ns};
		FSL_TRY(take(sums, &run, err));
	}
	return FSL_OK;
}

static enum fsl_status tell_medians(struct sums *sums, struct fsl_error *err)
{
	FSL_TRY(fsl_function_medians_begin(&sums->times, err));
	FSL_TRY(each_run(sums, add_duration, err));
	fsl_function_medians_tell(&sums->times);
	return FSL_OK;
}

static void forget_busy(struct sums *sums)
{
	fsl_free(sums->busy.spans);
	sums->busy = (struct fsl_busy){0};
}

/* The time in which the device computes, or works at all; *busy_ns: its sum. */
static enum fsl_status find_busy(struct sums *sums, bool is_all, int64_t *busy_ns,
				 struct fsl_error *err)
{
	struct fsl_kineto_works works;
	const struct fsl_kineto_events *events = sums->events;
	fsl_kineto_bare_works_begin(&works, events);
	forget_busy(sums);
	/* At once: an array that grows is there twice for a moment. */
	FSL_TRY(FSL_GROW(sums->busy.spans, sums->busy.spans_capacity, events->works.n, err));
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		if (is_all || fsl_kineto_kind_of(events, &work) == FSL_DEVICE_COMPUTE) {
			FSL_TRY(fsl_busy_add(&sums->busy, work.begin_ns,
					     work.begin_ns + work.dur_ns, err));
		}
	}
	*busy_ns = fsl_busy_until(&sums->busy, INT64_MAX);
	return FSL_OK;
}

/* Runs of kernels, for levels: step, whole name, duration. If levels are those of the whole trace,
 * the step is 0. */
enum { RUN_STEP, RUN_NAME, RUN_DUR, RUN_COLUMNS };

static int compare_runs(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	FSL_ORDER_BY(a->cells[RUN_STEP], b->cells[RUN_STEP]);
	FSL_ORDER_BY(a->cells[RUN_NAME], b->cells[RUN_NAME]);
	return FSL_ORDER(a->cells[RUN_DUR], b->cells[RUN_DUR]);
}

/* Adds the level of runs [first, end), which are of one name and step, sorted by duration. */
static enum fsl_status add_level(struct fsl_functions *functions, struct fsl_packed_reader *runs,
				 size_t first, size_t end, bool is_of_steps, struct fsl_error *err)
{
	size_t middle = first + (end - first - 1) / 2, beside = first + (end - first) / 2;
	const int64_t *cells = fsl_packed_at(runs, first)->cells;
	struct fsl_kernel_level level = {.step = is_of_steps ? cells[RUN_STEP] : FSL_STEP_ABSENT,
					 .name_id = (uint32_t)cells[RUN_NAME],
					 .count = (int64_t)(end - first)};
	int64_t middle_ns = 0;
	for (size_t i = first; i < end; i++) {
		int64_t dur_ns = fsl_packed_at(runs, i)->cells[RUN_DUR];
		level.total_ns = fsl_sum_i64(level.total_ns, dur_ns);
		middle_ns = i == middle ? dur_ns : middle_ns;
		if (i == beside) {
			level.median_ns = (double)(middle_ns + dur_ns) / 2.0;
		}
	}
	return FSL_APPEND(functions, levels, &level, err);
}

/* Levels of each name, over the whole trace or in each step. */
static enum fsl_status add_levels(struct fsl_functions *functions,
				  const struct fsl_packed_rows *runs, bool is_of_steps,
				  struct fsl_error *err)
{
	/* One looks ahead for the end of a level, the other one reads it. */
	struct fsl_packed_reader *readers = NULL;
	enum fsl_status status = FSL_NEW(readers, 2, "kernels", err);
	for (size_t i = 0, end = 0; i < runs->n && status == FSL_OK; i = end) {
		readers[0].rows = readers[1].rows = runs;
		const struct fsl_packed_row first = *fsl_packed_at(&readers[0], i);
		for (end = i + 1; end < runs->n; end++) {
			const int64_t *cells = fsl_packed_at(&readers[0], end)->cells;
			if (cells[RUN_NAME] != first.cells[RUN_NAME] ||
			    cells[RUN_STEP] != first.cells[RUN_STEP]) {
				break;
			}
		}
		status = add_level(functions, &readers[1], i, end, is_of_steps, err);
	}
	fsl_free(readers);
	return status;
}

static enum fsl_status list_runs(struct fsl_kineto_events *events, struct fsl_packed_rows *whole,
				 struct fsl_packed_rows *of_steps, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		struct fsl_packed_row row = {.cells = {0, work.whole_id, work.dur_ns}};
		if (fsl_kineto_kind_of(events, &work) != FSL_DEVICE_COMPUTE) {
			continue;
		}
		FSL_TRY(fsl_packed_add(whole, &row, err));
		row.cells[RUN_STEP] = work.step;
		if (work.step != FSL_STEP_ABSENT) {
			FSL_TRY(fsl_packed_add(of_steps, &row, err));
		}
	}
	FSL_TRY(fsl_packed_settle(whole, err));
	return fsl_packed_settle(of_steps, err);
}

static enum fsl_status tell_levels(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_packed_rows whole = {
		.n_columns = RUN_COLUMNS, .compare = compare_runs, .bytes.spill = &events->spill};
	struct fsl_packed_rows of_steps = whole;
	struct fsl_functions *functions = events->rank->functions;
	enum fsl_status status = list_runs(events, &whole, &of_steps, err);
	FSL_THEN(status, add_levels(functions, &whole, false, err));
	FSL_THEN(status, add_levels(functions, &of_steps, true, err));
	fsl_packed_fini(&whole);
	fsl_packed_fini(&of_steps);
	return status;
}

enum fsl_status fsl_kineto_tell_functions(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct sums sums = {.events = events};
	struct fsl_functions *functions = events->rank->functions;
	if (functions == NULL) {
		return FSL_OK;
	}
	fsl_kineto_settle_samples(events);
	enum fsl_status status = fsl_function_times_init(&sums.times, err);
	FSL_THEN(status, find_busy(&sums, false, &functions->compute_ns, err));
	FSL_THEN(status, each_run(&sums, add_run, err));
	forget_busy(&sums);
	FSL_THEN(status, fsl_kineto_tell_operations(events, &sums.times, err));
	/* Python beside no work at all. */
	FSL_THEN(status, find_busy(&sums, true, &functions->busy_ns, err));
	FSL_THEN(status, fsl_call_paths_add(&sums.times, &events->frames, &sums.busy, err));
	forget_busy(&sums);
	FSL_THEN(status, fsl_frames_forget(&events->frames, FSL_FRAME_PYTHON, err));
	fsl_kineto_give_back(events);
	FSL_THEN(status, tell_medians(&sums, err));
	functions->window_ns = events->end_ns - events->begin_ns;
	fsl_kineto_levels_tell(&sums.levels, events, &sums.times);
	FSL_THEN(status, fsl_functions_settle(&sums.times, events->rank, err));
	fsl_kineto_levels_fini(&sums.levels);
	fsl_function_times_fini(&sums.times);
	FSL_THEN(status, tell_levels(events, err));
	fsl_kineto_give_back(events);
	return status;
}
