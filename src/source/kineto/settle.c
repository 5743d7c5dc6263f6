/* Joins launches with the work of the device, and fills the rank: steps, collectives, kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_left.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/breakdown.h"
#include "capture/copies.h"
#include "capture/exposed.h"
#include "capture/kernel_classes.h"
#include "capture/ranges.h"
#include "source/kineto/base.h"
#include "source/kineto/functions.h"
#include "source/kineto/groups.h"
#include "source/kineto/keep.h"
#include "source/kineto/shares.h"
#include "source/kineto/worker.h"

enum { LONG_EVENTS = 1 << 20 /* of some 400 MB of JSON: 10 ms do not matter */ };

/* All times on one axis. Some writers tell a base and have added it already. */
static void add_base(struct fsl_kineto_events *events)
{
	if (events->works.n > 0 && events->first_work_ns >= FSL_KINETO_SINCE_1970_MIN_NS) {
		return;
	}
	struct fsl_profile_trace *trace = &events->rank->trace;
	int64_t base_ns = events->base_ns;
	trace->base_ns = base_ns;
	events->shift_ns = base_ns;
	events->frames.shift_ns = base_ns;
	for (size_t i = 0; i < FSL_SAMPLED_N; i++) {
		struct fsl_link_samples *samples = &events->counters.of[i];
		for (size_t k = 0; k < samples->n_items; k++) {
			samples->items[k].time_ns += base_ns;
		}
	}
	for (size_t i = 0; i < trace->n_ranges; i++) {
		trace->ranges[i].begin_ns += base_ns;
		trace->ranges[i].end_ns += base_ns;
	}
	for (size_t i = 0; i < events->n_device_steps; i++) {
		events->device_steps[i].begin_ns += base_ns;
		events->device_steps[i].end_ns += base_ns;
	}
}

static int compare_facts(const void *left, const void *right)
{
	const struct fsl_kineto_facts *a = left, *b = right;
	return FSL_ORDER(a->external, b->external);
}

/* Calls by their correlations. */
enum { CALL_CORRELATION, CALL_BEGIN, CALL_DUR, CALL_COLUMNS };

static int compare_launches(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	FSL_ORDER_BY(a->cells[CALL_CORRELATION], b->cells[CALL_CORRELATION]);
	return FSL_ORDER(a->cells[CALL_BEGIN], b->cells[CALL_BEGIN]);
}

static enum fsl_status list_launches(const struct fsl_kineto_events *events,
				     struct fsl_packed_rows *launches, struct fsl_error *err)
{
	struct fsl_kineto_calls calls;
	fsl_kineto_calls_begin(&calls, events);
	for (size_t i = 0; i < events->calls.n; i++) {
		const struct fsl_kineto_call call = fsl_kineto_call_at(&calls, i);
		const struct fsl_packed_row row = {
			.cells = {call.correlation, call.begin_ns, call.dur_ns}};
		if (call.correlation >= 0) {
			FSL_TRY(fsl_packed_add(launches, &row, err));
		}
	}
	return fsl_packed_settle(launches, err);
}

/* The first call of a correlation launched its work. */
static void find_launch(struct fsl_kineto_work *work, struct fsl_packed_finder *finder)
{
	const struct fsl_packed_row *call =
		work->correlation >= 0 ? fsl_packed_find(finder, work->correlation) : NULL;
	if (call != NULL) {
		work->launch_ns = call->cells[CALL_BEGIN];
		work->launch_dur_ns = call->cells[CALL_DUR];
	}
}

/* A step holds what was launched in it; if no launch was recorded, what the device or the host ran
 * in its time. */
static int64_t step_of(const struct fsl_kineto_events *events, const struct fsl_kineto_work *work)
{
	const struct fsl_profile_trace *trace = &events->rank->trace;
	if (work->launch_ns != FSL_NS_ABSENT) {
		return fsl_range_at(trace->ranges, trace->n_ranges, work->launch_ns);
	}
	int64_t step = fsl_range_at(events->device_steps, events->n_device_steps, work->begin_ns);
	return step != FSL_STEP_ABSENT
		       ? step
		       : fsl_range_at(trace->ranges, trace->n_ranges, work->begin_ns);
}

static enum fsl_status find_launches(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_packed_rows launches = {.n_columns = CALL_COLUMNS,
					   .compare = compare_launches,
					   .bytes.spill = &events->spill};
	struct fsl_packed_rows *found = &events->launches;
	struct fsl_packed_finder finder = {0};
	struct fsl_kineto_works works;
	fsl_kineto_bare_works_begin(&works, events);
	found->bytes.spill = &events->spill;
	enum fsl_status status = list_launches(events, &launches, err);
	FSL_THEN(status, fsl_packed_finder_begin(&finder, &launches, err));
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		find_launch(&work, &finder);
		work.step = step_of(events, &work);
		status = fsl_kineto_keep_launch(found, &work, err);
	}
	fsl_packed_finder_end(&finder);
	fsl_packed_fini(&launches);
	FSL_THEN(status, fsl_packed_settle(found, err));
	return status;
}

/* Facts of the kernel itself, else of its host side. */
static const struct fsl_kineto_facts *facts_of(const struct fsl_kineto_events *events,
					       const struct fsl_kineto_work *work,
					       const struct fsl_kineto_facts *hosts, size_t n_hosts)
{
	const struct fsl_kineto_facts key = {.external = work->external};
	if (work->facts != FSL_STR_NONE) {
		return &events->facts[work->facts];
	}
	return work->external != 0 && n_hosts > 0
		       ? bsearch(&key, hosts, n_hosts, sizeof(key), compare_facts)
		       : NULL;
}

/* Number of the operator within its group and step: the profiler's, else the order in which it
 * began. @counts: of each group and type so far, in the order of @keys. */
struct counter {
	struct fsl_strpool *keys;
	int64_t *counts;
	size_t capacity;
};

static enum fsl_status count(struct counter *counter, const char *type, uint32_t group_id,
			     int64_t step, int64_t *n, struct fsl_error *err)
{
	char key[96];
	uint32_t id = 0;
	size_t n_before = fsl_strpool_size(counter->keys);
	int length =
		snprintf(key, sizeof(key), "%s %u %lld", type, (unsigned)group_id, (long long)step);
	FSL_TRY(fsl_strpool_intern(counter->keys, key, (size_t)length, &id, err));
	FSL_TRY(FSL_GROW(counter->counts, counter->capacity, (size_t)id + 1, err));
	counter->counts[id] = id < n_before ? counter->counts[id] + 1 : 0;
	*n = counter->counts[id];
	return FSL_OK;
}

static enum fsl_status add_comm(struct fsl_kineto_events *events,
				const struct fsl_kineto_work *work,
				const struct fsl_kineto_facts *facts, struct counter *counter,
				struct fsl_error *err)
{
	char name[96];
	struct fsl_profile_rank *rank = events->rank;
	const char *kernel = fsl_strpool_text(rank->names, work->name_id);
	const char *type = facts != NULL ? facts->type : "";
	int64_t n = facts != NULL ? facts->sequence : -1;
	struct fsl_profile_comm comm = {
		.step = work->step,
		.n_elements = facts != NULL && facts->n_elements > 0 ? facts->n_elements : 0,
		.begin_ns = work->begin_ns,
		.elapse_ns = work->dur_ns,
		.transit_ns = FSL_NS_ABSENT,
		.wait_ns = FSL_NS_ABSENT,
		.sync_ns = FSL_NS_ABSENT,
		.idle_ns = FSL_NS_ABSENT,
	};
	type = type[0] != '\0' ? type : fsl_kineto_collective(kernel, strlen(kernel));
	type = type[0] != '\0' ? type : "ncclOther";
	/* A kernel of this name alone may run an all-to-all. */
	bool is_told = facts != NULL && facts->type[0] != '\0';
	comm.is_p2p = is_told && (strstr(type, "Send") != NULL || strstr(type, "Recv") != NULL);
	FSL_TRY(fsl_kineto_group_of(rank, facts, &comm.group_id, err));
	if (n < 0) {
		FSL_TRY(count(counter, type, comm.group_id, work->step, &n, err));
	}
	int length = snprintf(name, sizeof(name), "%s__%lld", type, (long long)n);
	FSL_TRY(fsl_strpool_intern(rank->names, name, (size_t)length, &comm.name_id, err));
	return FSL_APPEND(rank, comms, &comm, err);
}

/* Facts of hosts, sorted by external id. */
static enum fsl_status list_hosts(const struct fsl_kineto_events *events,
				  struct fsl_kineto_facts **hosts, size_t *n, struct fsl_error *err)
{
	*n = 0;
	FSL_TRY(FSL_NEW(*hosts, events->n_facts + 1, "facts", err));
	for (size_t i = 0; i < events->n_facts; i++) {
		if (events->facts[i].external != 0) {
			(*hosts)[(*n)++] = events->facts[i];
		}
	}
	fsl_sort_runs(*hosts, *n, sizeof(**hosts), compare_facts);
	return FSL_OK;
}

static enum fsl_status add_comms(struct fsl_kineto_events *events,
				 const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_kineto_facts *hosts = NULL;
	size_t n_hosts = 0;
	struct counter counter = {.keys = fsl_strpool_create()};
	enum fsl_status status = counter.keys != NULL
					 ? list_hosts(events, &hosts, &n_hosts, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
						    (int)events->rank->rank);
	bool has_steps = events->rank->trace.n_ranges + events->n_device_steps > 0;
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		/* Between two steps, or in one that is not wanted. */
		bool is_outside = has_steps && work.step == FSL_STEP_ABSENT;
		if (work.is_collective && !is_outside && fsl_profile_wants_step(input, work.step)) {
			status = add_comm(events, &work, facts_of(events, &work, hosts, n_hosts),
					  &counter, err);
		}
	}
	fsl_strpool_destroy(counter.keys);
	fsl_free(counter.counts);
	fsl_free(hosts);
	fsl_profile_sort_comms(events->rank);
	return status;
}

static enum fsl_status add_kernel(struct fsl_kernel_classes *classes,
				  const struct fsl_kineto_work *work, struct fsl_error *err)
{
	uint32_t at = FSL_STR_NONE;
	const struct fsl_strpool *names = classes->rank->names;
	const char *shape =
		work->shape_id != FSL_STR_NONE ? fsl_strpool_text(names, work->shape_id) : "";
	const struct fsl_kernel kernel = {.step = work->step,
					  .begin_ns = work->begin_ns,
					  .dur_ns = work->dur_ns,
					  .type_id = work->name_id,
					  .core_id = FSL_STR_NONE,
					  .shapes = shape,
					  .n_shapes = strlen(shape),
					  .types = ""};
	return fsl_kernel_classes_add(classes, &kernel, &at, err);
}

/* Kernels and collectives, in the order of their begins. */
static enum fsl_status add_tasks(struct fsl_kineto_events *events,
				 const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_kernel_classes classes = {.rank = events->rank};
	struct fsl_breakdown *breakdown = fsl_breakdown_create(FSL_BREAKDOWN_WINDOW);
	bool is_late = false, is_whole = true;
	enum fsl_status status = breakdown != NULL
					 ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
						    (int)events->rank->rank);
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		const struct fsl_task task = {.begin_ns = work.begin_ns,
					      .end_ns = work.begin_ns + work.dur_ns,
					      .step = work.step,
					      .name_id = work.name_id,
					      .kind = work.is_collective ? FSL_TASK_COMMUNICATION
									 : FSL_TASK_COMPUTE,
					      .call = FSL_STR_NONE};
		if (work.category != FSL_KINETO_KERNEL) {
			continue;
		}
		status = fsl_breakdown_add(breakdown, &task, &is_late, err);
		if (status == FSL_OK && !work.is_collective &&
		    fsl_profile_wants_step(input, work.step)) {
			status = add_kernel(&classes, &work, err);
		}
	}
	FSL_THEN(status, fsl_breakdown_finish(breakdown, events->rank, input, -1, &is_whole, err));
	fsl_breakdown_destroy(breakdown);
	fsl_kernel_classes_fini(&classes);
	return status;
}

/* What of each collective no kernel hides. */
static enum fsl_status tell_exposed(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_bare_works_begin(&works, events);
	struct fsl_spans kernels = {0};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		if (work.category == FSL_KINETO_KERNEL && !work.is_collective) {
			status = fsl_exposed_add_kernel(&kernels, work.begin_ns,
							work.begin_ns + work.dur_ns, err);
		}
	}
	FSL_THEN(status, fsl_exposed_tell(events->rank, &kernels, err));
	fsl_spans_fini(&kernels);
	return status;
}

/* Stretches without kernels, and copies in them. */
static enum fsl_status add_free_time(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_profile_trace *trace = &events->rank->trace;
	struct fsl_spans copies = {0}, free_spans = {0};
	int64_t busy_until_ns = FSL_NS_ABSENT;
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		int64_t end_ns = work.begin_ns + work.dur_ns;
		if (work.category != FSL_KINETO_KERNEL) {
			status =
				fsl_spans_add(&copies, work.begin_ns, end_ns, FSL_STEP_ABSENT, err);
			continue;
		}
		if (busy_until_ns != FSL_NS_ABSENT && work.begin_ns > busy_until_ns) {
			fsl_trace_keep_idle(trace->idle, &trace->n_idle, busy_until_ns,
					    work.begin_ns - busy_until_ns);
			status = fsl_spans_add(&free_spans, busy_until_ns, work.begin_ns, work.step,
					       err);
		}
		busy_until_ns = end_ns > busy_until_ns ? end_ns : busy_until_ns;
	}
	FSL_THEN(status, fsl_copies_tell(&copies, &free_spans, events->rank, err));
	fsl_spans_fini(&copies);
	fsl_spans_fini(&free_spans);
	return status;
}

/* How far ahead the launch was of the kernel that ends the stretch. */
static void ask_lag(const struct fsl_kineto_events *events, struct fsl_profile_idle *idle,
		    int64_t end_ns)
{
	struct fsl_kineto_works works;
	size_t at = 0;
	fsl_kineto_works_begin(&works, events);
	FSL_LOWER_BOUND(at, events->works.n, fsl_kineto_work_at(&works, at).begin_ns < end_ns);
	for (; at < events->works.n; at++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, at);
		if (work.begin_ns != end_ns) {
			break;
		}
		if (work.category == FSL_KINETO_KERNEL && work.launch_ns != FSL_NS_ABSENT) {
			int64_t lag_ns = work.begin_ns - work.launch_ns;
			idle->launch_lag_ns = lag_ns > 0 ? lag_ns : 0;
		}
	}
}

/* Tells what the host did in the longest stretches, and how far ahead the launch was that ended
 * them. */
static void ask_idle(struct fsl_kineto_events *events)
{
	struct fsl_kineto_calls calls;
	fsl_kineto_calls_begin(&calls, events);
	struct fsl_profile_trace *trace = &events->rank->trace;
	for (size_t k = 0; k < trace->n_idle; k++) {
		struct fsl_profile_idle *idle = &trace->idle[k];
		int64_t end_ns = idle->begin_ns + idle->dur_ns;
		size_t at = 0;
		FSL_LOWER_BOUND(at, events->calls.n,
				fsl_kineto_call_at(&calls, at).begin_ns < idle->begin_ns);
		for (; at < events->calls.n; at++) {
			const struct fsl_kineto_call call = fsl_kineto_call_at(&calls, at);
			int64_t left_ns = end_ns - call.begin_ns;
			if (left_ns <= 0) {
				break;
			}
			idle->n_acl++;
			idle->acl_ns += call.dur_ns < left_ns ? call.dur_ns : left_ns;
		}
		ask_lag(events, idle, end_ns);
	}
}

/* Lags from launches to their work. */
static enum fsl_status tell_lags(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_profile_trace *trace = &events->rank->trace;
	struct fsl_packed_rows lags = {
		.n_columns = 1, .compare = fsl_packed_compare_first, .bytes.spill = &events->spill};
	struct fsl_packed_reader reader = {.rows = &lags};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		if (work.category == FSL_KINETO_KERNEL && work.launch_ns != FSL_NS_ABSENT) {
			int64_t lag_ns = work.begin_ns - work.launch_ns;
			const struct fsl_packed_row row = {.cells = {lag_ns > 0 ? lag_ns : 0}};
			status = fsl_packed_add(&lags, &row, err);
		}
	}
	FSL_THEN(status, fsl_packed_settle(&lags, err));
	size_t n = status == FSL_OK ? lags.n : 0;
	trace->n_launches = n;
	if (n > 0) {
		trace->lag_median_ns = fsl_packed_at(&reader, (n - 1) / 2)->cells[0];
		trace->lag_p95_ns = fsl_packed_at(&reader, (n - 1) * 95 / 100)->cells[0];
		trace->lag_max_ns = fsl_packed_at(&reader, n - 1)->cells[0];
	}
	fsl_packed_fini(&lags);
	return status;
}

static bool is_like(const char *name, const char *begin, const char *end)
{
	size_t n = strlen(name), n_begin = strlen(begin), n_end = strlen(end);
	return n >= n_begin + n_end && strncmp(name, begin, n_begin) == 0 &&
	       strcmp(name + n - n_end, end) == 0;
}

/* Calls of the runtime, summed by name. */
static enum fsl_status tell_calls(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_kineto_calls calls;
	fsl_kineto_calls_begin(&calls, events);
	struct fsl_profile_rank *rank = events->rank;
	size_t n_names = fsl_strpool_size(rank->names);
	uint32_t kind_id = 0, *row_of = NULL; /* row + 1 */
	FSL_TRY(FSL_NEW(row_of, n_names + 1, "calls", err));
	enum fsl_status status = fsl_strpool_intern(rank->names, "runtime", 7, &kind_id, err);
	for (size_t i = 0; i < events->calls.n && status == FSL_OK; i++) {
		const struct fsl_kineto_call call = fsl_kineto_call_at(&calls, i);
		const char *name = fsl_strpool_text(rank->names, call.name_id);
		uint32_t *row = &row_of[call.name_id];
		if (*row == 0) {
			const struct fsl_profile_statistic first = {
				.name_id = call.name_id, .kind_id = kind_id, .min_ns = INT64_MAX};
			status = FSL_APPEND(rank, api_statistics, &first, err);
			*row = (uint32_t)rank->n_api_statistics;
		}
		if (status != FSL_OK) {
			break;
		}
		struct fsl_profile_statistic *sums = &rank->api_statistics[*row - 1];
		sums->count++;
		sums->total_ns = fsl_sum_i64(sums->total_ns, call.dur_ns);
		sums->min_ns = call.dur_ns < sums->min_ns ? call.dur_ns : sums->min_ns;
		sums->max_ns = call.dur_ns > sums->max_ns ? call.dur_ns : sums->max_ns;
		sums->mean_ns = sums->total_ns / sums->count;
		if (is_like(name, "cuda", "Synchronize") || is_like(name, "hip", "Synchronize")) {
			fsl_trace_count_call(&rank->trace, FSL_HOST_SYNCHRONIZE, call.dur_ns);
		}
	}
	fsl_free(row_of);
	return status;
}

static enum fsl_status tell_memory(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_profile_memory memory = {.allocated_bytes = events->allocated_bytes,
					    .reserved_bytes = events->reserved_bytes,
					    .active_bytes = -1,
					    .largest_bytes = -1,
					    .largest_name_id = FSL_STR_NONE};
	if (events->allocated_bytes < 0 && events->reserved_bytes < 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(events->rank->names, "PyTorch", 7, &memory.component_id, err));
	return FSL_APPEND(events->rank, memory, &memory, err);
}

static void tell_range(struct fsl_kineto_events *events)
{
	struct fsl_profile_trace *trace = &events->rank->trace;
	struct fsl_kineto_works works;
	fsl_kineto_bare_works_begin(&works, events);
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		int64_t end_ns = work.begin_ns + work.dur_ns;
		trace->begin_ns = i == 0 ? work.begin_ns : trace->begin_ns;
		trace->end_ns = end_ns > trace->end_ns ? end_ns : trace->end_ns;
	}
}

void fsl_kineto_give_back(const struct fsl_kineto_events *events)
{
	if (events->rank->trace.n_events >= LONG_EVENTS) {
		fsl_memory_give_back();
	}
}

enum fsl_status fsl_kineto_settle(struct fsl_kineto_events *events,
				  const struct fsl_profile_input *input, struct fsl_error *err)
{
	add_base(events);
	FSL_TRY(fsl_frames_settle(&events->frames, err));
	FSL_TRY(fsl_packed_settle(&events->works, err));
	FSL_TRY(fsl_packed_settle(&events->calls, err));
	FSL_TRY(find_launches(events, err));
	tell_range(events);
	/* First, because most memory is that of functions of Python, which nobody else asks for. */
	fsl_kineto_give_back(events);
	FSL_TRY(fsl_kineto_tell_functions(events, err));
	FSL_TRY(add_comms(events, input, err));
	FSL_TRY(add_tasks(events, input, err));
	FSL_TRY(tell_exposed(events, err));
	FSL_TRY(add_free_time(events, err));
	fsl_kineto_give_back(events);
	FSL_TRY(fsl_kineto_tell_shares(events, input, err));
	FSL_TRY(fsl_kineto_tell_worker(events, input, err));
	FSL_TRY(fsl_kineto_keep_rows(events, err));
	ask_idle(events);
	FSL_TRY(tell_lags(events, err));
	FSL_TRY(tell_memory(events, err));
	return tell_calls(events, err);
}
