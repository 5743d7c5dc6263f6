/* Lanes of CPUs and threads, and counters. */
#include "report/trace/kernel_tracks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "judge/limits.h"
#include "report/trace/run_tracks.h"
#include "report/trace/track_slices.h"
#include "text/phrase.h"

/* Ids of arrows are apart from those of launches, which count from 0. */
#define WAKE_ID(host, wake) ((UINT64_C(1) << 62) | (uint64_t)(host) << 40 | (uint64_t)(wake))

static const char *const state_names[FSL_SCHED_STATES_N] = {
	[FSL_SCHED_RUN] = "running",
	[FSL_SCHED_RQ_WAKE] = "runnable",
	[FSL_SCHED_RQ_PREEMPT] = "runnable (preempted)",
	[FSL_SCHED_SLEEP] = "sleeping",
	[FSL_SCHED_DISK] = "uninterruptible sleep",
	[FSL_SCHED_IDLE] = "idle",
	[FSL_SCHED_STOP] = "stopped",
	[FSL_SCHED_UNKNOWN] = "unknown",
};

/* All lanes of a host share this; it is in the arena of the plan. */
struct host {
	const struct fsl_kernel_tracks *source;
	uint32_t *names;                            /* texts by name id */
	uint32_t states[FSL_SCHED_STATES_N];        /* texts */
	uint32_t category, tid, process, rank, cpu; /* texts */
	bool *is_shown;                             /* [n_threads] */
	bool *is_used; /* by wake: a state that is drawn refers to it */
};

/* One lane of them. */
struct lane {
	const struct host *host;
	const struct fsl_ftrace_list *list;
	const char *name;
};

static bool is_waiting(int state)
{
	return state == FSL_SCHED_RQ_WAKE || state == FSL_SCHED_RQ_PREEMPT;
}

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct lane *lane = context;
	const struct fsl_ftrace_interval *interval = &lane->list->items[idx];
	*begin_ns = fsl_sum_i64(interval->begin_ns, lane->host->source->offset_ns);
	*end_ns = fsl_sum_i64(interval->end_ns, lane->host->source->offset_ns);
}

static void add_number(struct fsl_track_event *event, uint32_t key, int64_t number)
{
	event->args[event->n_args++] =
		(struct fsl_track_arg){.key = key, .text = FSL_STR_NONE, .number = number};
}

static void add_thread(struct fsl_track_event *event, const struct host *host, int32_t thread)
{
	const struct fsl_sched *sched = &host->source->intervals->sched;
	const struct fsl_sched_thread *own = &sched->threads[thread];
	add_number(event, host->tid, own->tid);
	if (own->tgid >= 0) {
		add_number(event, host->process, own->tgid);
	}
	if (own->rank >= 0) {
		add_number(event, host->rank, sched->ranks[own->rank].rank);
	}
}

/* Who held a CPU, or an interrupt on it. */
static void fill_held(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct lane *lane = context;
	const struct fsl_ftrace_interval *interval = &lane->list->items[idx];
	event->name = lane->host->names[interval->name_id];
	event->category = lane->host->category;
	if (interval->thread >= 0) {
		add_thread(event, lane->host, interval->thread);
	}
}

static void fill_wake(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct lane *lane = context;
	fill_held(context, idx, event);
	if (lane->host->is_used[idx]) {
		event->launch = FSL_FLOW_BEGINS;
		event->launch_id = WAKE_ID(lane->host->source->number, idx);
	}
}

static void fill_state(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct lane *lane = context;
	const struct fsl_ftrace_interval *interval = &lane->list->items[idx];
	event->name = lane->host->states[interval->state];
	event->category = lane->host->category;
	if (interval->cpu >= 0 &&
	    (interval->state == FSL_SCHED_RUN || is_waiting(interval->state))) {
		add_number(event, lane->host->cpu, interval->cpu);
	}
	if (interval->wake > 0) {
		event->launch = FSL_FLOW_ENDS;
		event->launch_id = WAKE_ID(lane->host->source->number, interval->wake - 1);
	}
}

/* Adds the intervals order[0 .. n) as one lane (more, if they overlap). Copies @order. */
static enum fsl_status
add_lane(struct fsl_track_plan *plan, uint32_t pid, const struct lane *from,
	 void (*fill)(const void *context, uint32_t idx, struct fsl_track_event *event),
	 const uint32_t *order, size_t n, struct fsl_kernel_tracks *source, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	struct lane *lane = NULL;
	uint32_t *copy = NULL;
	FSL_TRY(FSL_ARENA_NEW(lane, arena, 1, "lanes", err));
	*lane = *from;
	lane->name = fsl_arena_strdup(arena, from->name);
	if (lane->name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"lanes\"");
	}
	const struct fsl_slice_source slices = {
		.context = lane, .times = times_of, .fill = fill, .families = &lane->name};
	FSL_TRY(FSL_NEW(copy, n + 1, "intervals", err));
	memcpy(copy, order, n * sizeof(*copy));
	return fsl_slices_add(plan, pid, &slices, copy, n, &source->n_left_out, err);
}

/* Sorts numbers of intervals by CPU, or by thread, then by time. */
struct sorting {
	const struct fsl_ftrace_list *list;
	bool is_by_thread;
};

static int compare(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct fsl_ftrace_interval *a = &sorting->list->items[i];
	const struct fsl_ftrace_interval *b = &sorting->list->items[k];
	FSL_ORDER_BY(sorting->is_by_thread ? a->thread : a->cpu,
		     sorting->is_by_thread ? b->thread : b->cpu);
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	return FSL_ORDER(i, k);
}

static enum fsl_status sorted(uint32_t **order, const struct fsl_ftrace_list *list,
			      bool is_by_thread, struct fsl_error *err)
{
	struct sorting sorting = {list, is_by_thread};
	FSL_TRY(FSL_NEW(*order, list->n_items + 1, "intervals", err));
	for (size_t i = 0; i < list->n_items; i++) {
		(*order)[i] = (uint32_t)i;
	}
	if (list->n_items > 0) {
		qsort_r(*order, list->n_items, sizeof(**order), compare, &sorting);
	}
	return FSL_OK;
}

/* The part of @order, sorted by CPU, that is of this CPU. */
static const uint32_t *of_cpu(const struct fsl_ftrace_list *list, const uint32_t *order,
			      int32_t cpu, size_t *n)
{
	size_t begin = 0, end = 0;
	FSL_BISECT(begin, list->n_items, i, list->items[order[i]].cpu < cpu);
	end = begin;
	FSL_BISECT(end, list->n_items, i, list->items[order[i]].cpu <= cpu);
	*n = end - begin;
	return order + begin;
}

/* Threads that wait for a CPU begin and end to wait. */
struct change {
	int64_t time_ns;
	int32_t cpu;
	int change;
};

struct counter {
	struct fsl_track_stream stream; /* first: the stream is this struct */
	const struct fsl_track *track;
	const struct change *changes; /* [n]: in the arena of the plan */
	size_t n, at;
	int64_t value, offset_ns;
};

static bool next_value(struct fsl_track_stream *stream, struct fsl_track_event *event)
{
	struct counter *counter = (struct counter *)stream;
	if (counter->at == counter->n) {
		return false;
	}
	int64_t time_ns = counter->changes[counter->at].time_ns;
	while (counter->at < counter->n && counter->changes[counter->at].time_ns == time_ns) {
		counter->value += counter->changes[counter->at++].change;
	}
	time_ns = fsl_sum_i64(time_ns, counter->offset_ns);
	*event = (struct fsl_track_event){.track = counter->track,
					  .begin_ns = time_ns,
					  .end_ns = time_ns,
					  .value = counter->value};
	return true;
}

static void destroy_counter(struct fsl_track_stream *stream)
{
	fsl_free(stream);
}

static int compare_changes(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	FSL_ORDER_BY(a->cpu, b->cpu);
	FSL_ORDER_BY(a->time_ns, b->time_ns);
	return FSL_ORDER(a->change, b->change);
}

/* All changes, by CPU and time. */
static enum fsl_status make_changes(struct fsl_track_plan *plan, const struct fsl_ftrace_list *list,
				    struct change **changes, size_t *n, struct fsl_error *err)
{
	*n = 0;
	FSL_TRY(FSL_ARENA_NEW(*changes, fsl_track_plan_arena(plan), 2 * list->n_items + 1,
			      "intervals", err));
	for (size_t i = 0; i < list->n_items; i++) {
		const struct fsl_ftrace_interval *interval = &list->items[i];
		if (is_waiting(interval->state) && interval->cpu >= 0) {
			(*changes)[(*n)++] = (struct change){interval->begin_ns, interval->cpu, 1};
			(*changes)[(*n)++] = (struct change){interval->end_ns, interval->cpu, -1};
		}
	}
	qsort(*changes, *n, sizeof(**changes), compare_changes);
	return FSL_OK;
}

static enum fsl_status add_counter(struct fsl_track_plan *plan, uint32_t pid, int32_t cpu,
				   const struct change *changes, size_t n_changes,
				   const struct fsl_kernel_tracks *source, struct fsl_error *err)
{
	char name[64];
	struct counter *counter = NULL;
	const struct fsl_track *track = NULL;
	size_t begin = 0, end = 0;
	FSL_BISECT(begin, n_changes, i, changes[i].cpu < cpu);
	end = begin;
	FSL_BISECT(end, n_changes, i, changes[i].cpu <= cpu);
	if (begin == end) {
		return FSL_OK;
	}
	(void)snprintf(name, sizeof(name), "CPU %" PRId32 " runnable", cpu);
	FSL_TRY(fsl_track_plan_add_counter(plan, pid, name, "threads", false, &track, err));
	FSL_TRY(FSL_NEW(counter, 1, "counters", err));
	*counter = (struct counter){.stream = {next_value, destroy_counter},
				    .track = track,
				    .changes = changes + begin,
				    .n = end - begin,
				    .offset_ns = source->offset_ns};
	return fsl_track_plan_add_stream(plan, &counter->stream, err);
}

bool fsl_kernel_tracks_draw(const struct fsl_kernel_tracks *source, int32_t cpu)
{
	bool is_found = source->n_cpus == 0;
	for (size_t i = 0; i < source->n_cpus && !is_found; i++) {
		is_found = source->cpus[i] == cpu;
	}
	return is_found;
}

/* Lists of intervals on CPUs, as lanes. */
enum { CPU_LANES_N = 3 };
struct cpu_lanes {
	const struct fsl_ftrace_list *lists[CPU_LANES_N];
	uint32_t *orders[CPU_LANES_N]; /* owned */
	struct change *changes;
	size_t n_changes;
};

static enum fsl_status add_cpu(struct fsl_track_plan *plan, struct host *host,
			       struct fsl_kernel_tracks *source, const struct cpu_lanes *lanes,
			       int32_t cpu, struct fsl_error *err)
{
	static const char *const formats[CPU_LANES_N] = {"", " interrupts", " wakes"};
	uint32_t pid = FSL_TRACK_PID_KERNEL + 2 * source->number;
	char name[64];
	for (size_t l = 0; l < CPU_LANES_N; l++) {
		size_t n = 0;
		const uint32_t *order = of_cpu(lanes->lists[l], lanes->orders[l], cpu, &n);
		(void)snprintf(name, sizeof(name), "CPU %" PRId32 "%s", cpu, formats[l]);
		const struct lane lane = {host, lanes->lists[l], name};
		FSL_TRY(add_lane(plan, pid, &lane, l == 2 ? fill_wake : fill_held, order, n, source,
				 err));
	}
	return add_counter(plan, pid, cpu, lanes->changes, lanes->n_changes, source, err);
}

/* The label of the CPUs. */
static void word_clock(struct fsl_phrase *phrase, const struct fsl_kernel_clock *clock)
{
	struct fsl_phrase share = {0};
	if (!clock->is_known) {
		fsl_phrase_add(phrase, "clock not known, at its own times");
		return;
	}
	fsl_phrase_add(phrase, "clock %s%s", clock->is_estimated ? "estimated" : clock->name,
		       clock->is_profile ? " by the profile" : "");
	if (!isnan(clock->score)) {
		fsl_phrase_add_percent(&share, clock->score);
		fsl_phrase_add(phrase, ", %sranks run at %s of their calls",
			       clock->score < FSL_JUDGE_CLOCK_SCORE_MIN ? "mismatch: " : "",
			       share.text);
	}
	if (clock->shift_ns != 0) {
		fsl_phrase_add(phrase, ", shifted by %" PRId64 " ns", -clock->shift_ns);
	}
}

static enum fsl_status add_cpus(struct fsl_track_plan *plan, struct host *host,
				struct fsl_kernel_tracks *source, struct fsl_error *err)
{
	const struct fsl_ftrace_intervals *all = source->intervals;
	struct cpu_lanes lanes = {.lists = {&all->held, &all->interrupts, &all->wakes}};
	uint32_t pid = FSL_TRACK_PID_KERNEL + 2 * source->number;
	size_t n_drawn = 0;
	char name[160];
	struct fsl_phrase label = {0};
	word_clock(&label, &source->clock);
	(void)snprintf(name, sizeof(name), "CPUs of %s",
		       source->host[0] != '\0' ? source->host : "the host");
	enum fsl_status status = fsl_track_plan_add_process(plan, pid, name, label.text,
							    (int32_t)source->number - 2, err);
	for (size_t l = 0; l < CPU_LANES_N; l++) {
		FSL_THEN(status, sorted(&lanes.orders[l], lanes.lists[l], false, err));
	}
	FSL_THEN(status, make_changes(plan, &all->states, &lanes.changes, &lanes.n_changes, err));
	for (size_t c = 0; c < all->sched.n_cpus && status == FSL_OK; c++) {
		if (!all->sched.cpus[c].is_seen || !fsl_kernel_tracks_draw(source, (int32_t)c)) {
			continue;
		}
		if (n_drawn == FSL_KERNEL_CPUS_MAX) {
			source->n_cpus_left_out++;
			continue;
		}
		n_drawn++;
		status = add_cpu(plan, host, source, &lanes, (int32_t)c, err);
	}
	for (size_t l = 0; l < CPU_LANES_N; l++) {
		fsl_free(lanes.orders[l]);
	}
	return status;
}

/* Time in which a thread ran or waited: what its lane is for. */
static int64_t worth_ns(const struct fsl_sched_thread *thread)
{
	return thread->in_ns[FSL_SCHED_RUN] + fsl_sched_waited_ns(thread->in_ns);
}

static int compare_threads(const void *left, const void *right, void *context)
{
	const struct fsl_sched_thread *threads = context;
	const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	FSL_ORDER_BY(threads[i].rank, threads[k].rank);
	FSL_ORDER_BY(threads[k].is_main, threads[i].is_main);
	FSL_ORDER_BY(worth_ns(&threads[k]), worth_ns(&threads[i]));
	return FSL_ORDER(i, k);
}

/* Threads in the order of their lanes: of each rank, and of none, those with most time. */
static enum fsl_status choose_threads(struct host *host, struct fsl_kernel_tracks *source,
				      uint32_t **out, size_t *n_out, struct fsl_error *err)
{
	const struct fsl_sched *sched = &source->intervals->sched;
	uint32_t *order = NULL;
	size_t n = 0, n_kept = 0, n_of_rank = 0;
	int32_t last_rank = -1;
	FSL_TRY(FSL_NEW(order, sched->n_threads + 1, "threads", err));
	for (size_t i = 0; i < sched->n_threads; i++) {
		const struct fsl_sched_thread *thread = &sched->threads[i];
		if (worth_ns(thread) > 0 &&
		    (thread->rank < 0 ||
		     source->is_wanted(source->context, sched->ranks[thread->rank].rank))) {
			order[n++] = (uint32_t)i;
		}
	}
	if (n > 0) {
		qsort_r(order, n, sizeof(*order), compare_threads, sched->threads);
	}
	for (size_t i = 0; i < n; i++) {
		int32_t rank = sched->threads[order[i]].rank;
		n_of_rank = i > 0 && rank == last_rank ? n_of_rank + 1 : 1;
		last_rank = rank;
		if (n_of_rank <= FSL_KERNEL_THREADS_MAX) {
			host->is_shown[order[i]] = true;
			order[n_kept++] = order[i];
		} else {
			source->n_threads_left_out++;
		}
	}
	source->n_threads = n_kept;
	*out = order;
	*n_out = n_kept;
	return FSL_OK;
}

static enum fsl_status add_thread_lane(struct fsl_track_plan *plan, struct host *host,
				       struct fsl_kernel_tracks *source, uint32_t number,
				       const uint32_t *order, struct fsl_error *err)
{
	const struct fsl_ftrace_list *list = &source->intervals->states;
	const struct fsl_sched *sched = &source->intervals->sched;
	const struct fsl_sched_thread *thread = &sched->threads[number];
	uint32_t pid = FSL_TRACK_PID_KERNEL + 2 * source->number + 1;
	size_t begin = 0, end = 0;
	char name[160];
	FSL_BISECT(begin, list->n_items, i, list->items[order[i]].thread < (int32_t)number);
	end = begin;
	FSL_BISECT(end, list->n_items, i, list->items[order[i]].thread <= (int32_t)number);
	if (thread->rank >= 0) {
		int32_t rank = sched->ranks[thread->rank].rank;
		FSL_TRY(fsl_track_add_rank(plan, rank, NULL, err));
		pid = fsl_track_pid_of_rank(rank);
	} else {
		(void)snprintf(name, sizeof(name), "other threads of %s",
			       source->host[0] != '\0' ? source->host : "the host");
		FSL_TRY(fsl_track_plan_add_process(plan, pid, name, NULL,
						   INT32_MAX - 64 + (int32_t)source->number, err));
	}
	(void)snprintf(name, sizeof(name), "%s %" PRId32, thread->comm, thread->tid);
	const struct lane lane = {host, list, name};
	return add_lane(plan, pid, &lane, fill_state, order + begin, end - begin, source, err);
}

/* Marks wakes to which a state of a shown thread refers. */
static void mark_used(struct host *host, const struct fsl_ftrace_list *states)
{
	for (size_t i = 0; i < states->n_items; i++) {
		const struct fsl_ftrace_interval *interval = &states->items[i];
		if (interval->wake > 0 && host->is_shown[interval->thread]) {
			host->is_used[interval->wake - 1] = true;
		}
	}
}

static enum fsl_status make_host(struct fsl_track_plan *plan, struct fsl_kernel_tracks *source,
				 struct host **out, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const struct fsl_ftrace_intervals *all = source->intervals;
	struct host *host = NULL;
	size_t n = fsl_strpool_size(all->names);
	FSL_TRY(FSL_ARENA_NEW(host, arena, 1, "hosts", err));
	host->source = source;
	FSL_TRY(FSL_ARENA_NEW(host->names, arena, n + 1, "names", err));
	FSL_TRY(FSL_ARENA_NEW(host->is_shown, arena, all->sched.n_threads + 1, "threads", err));
	FSL_TRY(FSL_ARENA_NEW(host->is_used, arena, all->wakes.n_items + 1, "wakes", err));
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(fsl_track_plan_text(plan, fsl_strpool_text(all->names, (uint32_t)i),
					    &host->names[i], err));
	}
	for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
		FSL_TRY(fsl_track_plan_text(plan, state_names[i], &host->states[i], err));
	}
	FSL_TRY(fsl_track_plan_text(plan, "kernel", &host->category, err));
	FSL_TRY(fsl_track_plan_text(plan, "thread", &host->tid, err));
	FSL_TRY(fsl_track_plan_text(plan, "process", &host->process, err));
	FSL_TRY(fsl_track_plan_text(plan, "rank", &host->rank, err));
	FSL_TRY(fsl_track_plan_text(plan, "cpu", &host->cpu, err));
	*out = host;
	return FSL_OK;
}

enum fsl_status fsl_kernel_tracks_add(struct fsl_track_plan *plan, struct fsl_kernel_tracks *source,
				      struct fsl_error *err)
{
	const struct fsl_ftrace_list *states = &source->intervals->states;
	struct host *host = NULL;
	uint32_t *threads = NULL, *order = NULL;
	size_t n_threads = 0;
	FSL_TRY(make_host(plan, source, &host, err));
	enum fsl_status status = choose_threads(host, source, &threads, &n_threads, err);
	if (status == FSL_OK) {
		mark_used(host, states);
	}
	FSL_THEN(status, add_cpus(plan, host, source, err));
	FSL_THEN(status, sorted(&order, states, true, err));
	for (size_t i = 0; i < n_threads && status == FSL_OK; i++) {
		status = add_thread_lane(plan, host, source, threads[i], order, err);
	}
	fsl_free(threads);
	fsl_free(order);
	return status;
}
