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
	char key[2 * sizeof(uint64_t)];
	*thread = 0;
	if (events->rank->functions == NULL && events->rank->kept == NULL) {
		return FSL_OK;
	}
	if (events->threads == NULL && (events->threads = fsl_strpool_create()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
				(int)events->rank->rank);
	}
	memcpy(key, &event->pid, sizeof(event->pid));
	memcpy(key + sizeof(event->pid), &event->tid, sizeof(event->tid));
	return fsl_strpool_intern(events->threads, key, sizeof(key), thread, err);
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
	frame.thread = thread & FSL_KINETO_THREADS_MAX;
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
	return FSL_APPEND(events, frames, &frame, err);
}

/* What functions are made of, and the time that higher classes take. */
struct sums {
	struct fsl_function_times times;
	struct fsl_busy compute, all;
	struct fsl_kineto_levels levels;
	const struct fsl_kineto_events *events;
};

static enum fsl_status add_run(struct sums *sums, enum fsl_function_class class, uint32_t name_id,
			       uint32_t shape_id, int64_t begin_ns, int64_t dur_ns,
			       struct fsl_error *err)
{
	uint32_t id = 0;
	FSL_TRY(fsl_function_find(&sums->times, class, name_id, shape_id, FSL_STR_NONE, &id, err));
	fsl_function_count(&sums->times, id, dur_ns);
	FSL_TRY(fsl_kineto_levels_add(&sums->levels, sums->events, class, id, begin_ns,
				      begin_ns + dur_ns, err));
	return fsl_function_add_time(&sums->times, id, begin_ns, begin_ns + dur_ns, err);
}

static enum fsl_status add_work(struct sums *sums, const struct fsl_kineto_events *events,
				struct fsl_error *err)
{
	static const enum fsl_function_class classes[FSL_DEVICE_WORK_N] = {
		[FSL_DEVICE_COMPUTE] = FSL_FUNCTION_COMPUTE,
		[FSL_DEVICE_COMMUNICATION] = FSL_FUNCTION_COLLECTIVE,
		[FSL_DEVICE_MEMORY] = FSL_FUNCTION_MEMORY,
	};
	for (size_t i = 0; i < events->n_work; i++) {
		const struct fsl_kineto_work *work = &events->work[i];
		enum fsl_device_work kind = fsl_kineto_kind_of(events, work);
		int64_t end_ns = work->begin_ns + work->dur_ns;
		bool is_compute = kind == FSL_DEVICE_COMPUTE;
		FSL_TRY(add_run(sums, classes[kind], work->whole_id,
				is_compute ? work->shape_id : FSL_STR_NONE, work->begin_ns,
				work->dur_ns, err));
		if (is_compute) {
			FSL_TRY(fsl_busy_add(&sums->compute, work->begin_ns, end_ns, err));
		}
		FSL_TRY(fsl_busy_add(&sums->all, work->begin_ns, end_ns, err));
	}
	for (size_t i = 0; i < events->n_calls; i++) {
		const struct fsl_kineto_call *call = &events->calls[i];
		FSL_TRY(add_run(sums, FSL_FUNCTION_RUNTIME, call->name_id, FSL_STR_NONE,
				call->begin_ns, call->dur_ns, err));
	}
	return FSL_OK;
}

/* A run of a kernel, for its median. */
struct run {
	int64_t step, dur_ns;
	uint32_t name_id;
};

static int compare_runs(const void *left, const void *right)
{
	const struct run *a = left, *b = right;
	FSL_ORDER_BY(a->step, b->step);
	FSL_ORDER_BY(a->name_id, b->name_id);
	return FSL_ORDER(a->dur_ns, b->dur_ns);
}

/* Of each name and step, from runs that are sorted. */
static enum fsl_status add_levels(struct fsl_functions *functions, const struct run *runs, size_t n,
				  struct fsl_error *err)
{
	for (size_t i = 0, end = 0; i < n; i = end) {
		struct fsl_kernel_level level = {.step = runs[i].step, .name_id = runs[i].name_id};
		for (end = i;
		     end < n && runs[end].step == level.step && runs[end].name_id == level.name_id;
		     end++) {
			level.total_ns = fsl_sum_i64(level.total_ns, runs[end].dur_ns);
		}
		level.count = (int64_t)(end - i);
		level.median_ns = (double)(runs[i + (end - i - 1) / 2].dur_ns +
					   runs[i + (end - i) / 2].dur_ns) /
				  2.0;
		FSL_TRY(FSL_APPEND(functions, levels, &level, err));
	}
	return FSL_OK;
}

static enum fsl_status tell_levels(const struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct run *runs = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(runs, 2 * events->n_work + 1, "kernels", err));
	for (size_t i = 0; i < events->n_work; i++) {
		const struct fsl_kineto_work *work = &events->work[i];
		if (fsl_kineto_kind_of(events, work) != FSL_DEVICE_COMPUTE) {
			continue;
		}
		runs[n++] = (struct run){FSL_STEP_ABSENT, work->dur_ns, work->whole_id};
		if (work->step != FSL_STEP_ABSENT) {
			runs[n++] = (struct run){work->step, work->dur_ns, work->whole_id};
		}
	}
	if (n > 1) {
		qsort(runs, n, sizeof(*runs), compare_runs);
	}
	enum fsl_status status = add_levels(events->rank->functions, runs, n, err);
	fsl_free(runs);
	return status;
}

enum fsl_status fsl_kineto_tell_functions(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct sums sums = {.events = events};
	struct fsl_functions *functions = events->rank->functions;
	if (functions == NULL) {
		return FSL_OK;
	}
	/* The product's ratios: copies, collectives and calls beside no kernel; Python beside no
	 * work at all. */
	const struct fsl_busy *const above[FSL_FUNCTION_CLASSES_N] = {
		[FSL_FUNCTION_MEMORY] = &sums.compute,
		[FSL_FUNCTION_COLLECTIVE] = &sums.compute,
		[FSL_FUNCTION_RUNTIME] = &sums.compute,
		[FSL_FUNCTION_PYTHON] = &sums.all,
	};
	fsl_kineto_settle_samples(events);
	enum fsl_status status = fsl_function_times_init(&sums.times, err);
	FSL_THEN(status, add_work(&sums, events, err));
	FSL_THEN(status, fsl_kineto_tell_operations(events, &sums.times, err));
	FSL_THEN(status,
		 fsl_call_paths_add(&sums.times, events->frames, events->n_frames, &sums.all, err));
	if (status == FSL_OK) {
		functions->window_ns = events->end_ns - events->begin_ns;
		functions->compute_ns = fsl_busy_until(&sums.compute, INT64_MAX);
		functions->busy_ns = fsl_busy_until(&sums.all, INT64_MAX);
	}
	fsl_kineto_levels_tell(&sums.levels, events, &sums.times);
	FSL_THEN(status, fsl_functions_settle(&sums.times, events->rank, above, err));
	FSL_THEN(status, tell_levels(events, err));
	fsl_kineto_levels_fini(&sums.levels);
	fsl_function_times_fini(&sums.times);
	fsl_free(sums.compute.spans);
	fsl_free(sums.all.spans);
	return status;
}
