/* Sweeps over tasks in the order of their begins. A buffer sorts them. */
#include "capture/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

/* Sums of a step. */
struct entry {
	struct fsl_profile_step sums;
	int64_t begin_ns, end_ns; /* range of its slices */
	struct fsl_profile_gap gaps[FSL_PROFILE_GAPS_MAX];
	size_t n_gaps;
};

/* The newest slice of one kind. */
struct slice {
	int64_t end_ns; /* as far as known */
	size_t entry;   /* index of the entry for which it counts */
};

struct fsl_breakdown {
	struct fsl_task *tasks; /* buffer for sorting */
	size_t n_tasks, tasks_capacity, window;
	struct entry *entries; /* in the order of first use */
	size_t n_entries, entries_capacity;
	bool is_short_of_entries;
	/* State of the sweep. */
	bool is_begun;
	struct fsl_task last;
	int64_t now_ns; /* all time before this is counted */
	size_t current; /* index of the entry with the latest begin */
	struct slice computing, communication, exposed;
	uint32_t busy_name_id; /* name of the task that keeps the device busy longest */
	/* Ends, as far as known, of kernels that only compute, of fused ones (with the call that
	 * ends last), and of communication on AI CPUs. */
	int64_t plain_end_ns, fused_end_ns, on_cpu_end_ns;
	uint32_t call;
	int64_t *alone_ns; /* per call */
	size_t n_alone, alone_capacity;
};

struct fsl_breakdown *fsl_breakdown_create(size_t window)
{
	struct fsl_breakdown *breakdown = fsl_calloc(1, sizeof(*breakdown));
	if (breakdown != NULL) {
		breakdown->window = window;
	}
	return breakdown;
}

void fsl_breakdown_destroy(struct fsl_breakdown *breakdown)
{
	if (breakdown != NULL) {
		fsl_free(breakdown->tasks);
		fsl_free(breakdown->entries);
		fsl_free(breakdown->alone_ns);
		fsl_free(breakdown);
	}
}

static int compare_tasks(const void *left, const void *right)
{
	const struct fsl_task *a = left, *b = right;
	int order = FSL_ORDER(a->begin_ns, b->begin_ns);
	order = order != 0 ? order : FSL_ORDER(a->end_ns, b->end_ns);
	order = order != 0 ? order : FSL_ORDER(a->kind, b->kind);
	order = order != 0 ? order : FSL_ORDER(a->step, b->step);
	return order != 0 ? order : FSL_ORDER(a->name_id, b->name_id);
}

/* Entry of the task's step. Steps come one after the other, so the search starts at the newest.
 * SIZE_MAX if there are too many. */
static enum fsl_status find_entry(struct fsl_breakdown *breakdown, const struct fsl_task *task,
				  size_t *at, struct fsl_error *err)
{
	for (*at = breakdown->n_entries; (*at)-- > 0;) {
		if (breakdown->entries[*at].sums.step == task->step) {
			return FSL_OK;
		}
	}
	if (breakdown->n_entries == FSL_BREAKDOWN_STEPS_MAX) {
		breakdown->is_short_of_entries = true;
		return FSL_OK; /* *at is SIZE_MAX then */
	}
	*at = breakdown->n_entries;
	FSL_TRY(FSL_GROW(breakdown->entries, breakdown->entries_capacity, *at + 1, err));
	breakdown->entries[breakdown->n_entries++] =
		(struct entry){.sums = {.step = task->step, .device_id = -1},
			       .begin_ns = task->begin_ns,
			       .end_ns = task->begin_ns};
	return FSL_OK;
}

/* Keeps the longest gaps; of equal ones the first. */
static void add_gap(struct entry *entry, const struct fsl_profile_gap *gap)
{
	size_t at = entry->n_gaps;
	if (at == FSL_PROFILE_GAPS_MAX) {
		at = 0;
		for (size_t i = 1; i < FSL_PROFILE_GAPS_MAX; i++) {
			const struct fsl_profile_gap *least = &entry->gaps[at];
			if (entry->gaps[i].dur_ns <= least->dur_ns) {
				at = i;
			}
		}
		if (gap->dur_ns <= entry->gaps[at].dur_ns) {
			return;
		}
	} else {
		entry->n_gaps++;
	}
	entry->gaps[at] = *gap;
}

static void stretch(struct entry *entry, int64_t end_ns)
{
	entry->end_ns = end_ns > entry->end_ns ? end_ns : entry->end_ns;
}

/* Counts free time from now until @task begins. */
static void count_free(struct fsl_breakdown *breakdown, const struct fsl_task *task)
{
	struct entry *entry = &breakdown->entries[breakdown->current];
	const struct fsl_profile_gap gap = {
		.step = entry->sums.step,
		.begin_ns = breakdown->now_ns,
		.dur_ns = task->begin_ns - breakdown->now_ns,
		.busy_ns = breakdown->now_ns - entry->begin_ns - entry->sums.free_ns,
		.before_id = breakdown->busy_name_id,
		.after_id = task->name_id,
	};
	entry->sums.free_ns += gap.dur_ns;
	stretch(entry, task->begin_ns);
	add_gap(entry, &gap);
}

/* The kind counts as computing for the profiler. */
static bool is_compute(enum fsl_task_kind kind)
{
	return kind == FSL_TASK_COMPUTE || kind == FSL_TASK_FUSED || kind == FSL_TASK_ON_CPU;
}

/* Counts what kernels that communicate do in the time from now on. */
static void count_calls(struct fsl_breakdown *breakdown, int64_t dur_ns, bool is_communicating)
{
	int64_t now_ns = breakdown->now_ns;
	struct fsl_profile_step *sums = &breakdown->entries[breakdown->computing.entry].sums;
	bool is_plain = now_ns < breakdown->plain_end_ns;
	bool is_fused = now_ns < breakdown->fused_end_ns;
	if (now_ns < breakdown->on_cpu_end_ns) {
		sums->moved_ns += is_plain || is_fused ? 0 : dur_ns;
		sums->found_ns += is_communicating ? 0 : dur_ns;
	}
	if (is_fused && !is_plain && breakdown->call < breakdown->n_alone) {
		breakdown->alone_ns[breakdown->call] += dur_ns;
	}
}

/* Counts the time from now until @end_ns, in which the same kinds of tasks run. */
static void count_busy(struct fsl_breakdown *breakdown, int64_t end_ns)
{
	int64_t dur_ns = end_ns - breakdown->now_ns;
	bool is_computing = breakdown->now_ns < breakdown->computing.end_ns;
	bool is_communicating = breakdown->now_ns < breakdown->communication.end_ns;
	if (is_computing) {
		struct entry *entry = &breakdown->entries[breakdown->computing.entry];
		entry->sums.computing_ns += dur_ns;
		stretch(entry, end_ns);
		count_calls(breakdown, dur_ns, is_communicating);
	}
	if (is_communicating) {
		struct entry *entry = &breakdown->entries[breakdown->communication.entry];
		entry->sums.communication_ns += dur_ns;
		stretch(entry, end_ns);
	}
	if (is_communicating && !is_computing) {
		/* The slice goes on, or begins here: at the begin of a task or the end of
		 * computing. */
		if (breakdown->exposed.end_ns != breakdown->now_ns) {
			breakdown->exposed.entry = breakdown->current;
		}
		breakdown->exposed.end_ns = end_ns;
		breakdown->entries[breakdown->exposed.entry].sums.exposed_ns += dur_ns;
	}
}

/* Counts the time between now and the begin of @task; all remaining time if @task is NULL. */
static void advance(struct fsl_breakdown *breakdown, const struct fsl_task *task)
{
	int64_t until_ns = task != NULL ? task->begin_ns : INT64_MAX;
	const int64_t *computing = &breakdown->computing.end_ns;
	const int64_t *communication = &breakdown->communication.end_ns;
	const int64_t *const ends[] = {computing, communication, &breakdown->plain_end_ns,
				       &breakdown->fused_end_ns, &breakdown->on_cpu_end_ns};
	while (breakdown->now_ns < until_ns) {
		int64_t end_ns = until_ns;
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			bool is_next = *ends[i] > breakdown->now_ns && *ends[i] < end_ns;
			end_ns = is_next ? *ends[i] : end_ns;
		}
		if (*computing <= breakdown->now_ns && *communication <= breakdown->now_ns) {
			if (task == NULL) {
				return;
			}
			count_free(breakdown, task);
		} else {
			count_busy(breakdown, end_ns);
		}
		breakdown->now_ns = end_ns;
	}
}

static int64_t busy_until(const struct fsl_breakdown *breakdown)
{
	int64_t computing_ns = breakdown->computing.end_ns;
	int64_t communication_ns = breakdown->communication.end_ns;
	return computing_ns > communication_ns ? computing_ns : communication_ns;
}

static void extend(int64_t *end_ns, const struct fsl_task *task)
{
	*end_ns = task->end_ns > *end_ns ? task->end_ns : *end_ns;
}

static enum fsl_status note_call(struct fsl_breakdown *breakdown, const struct fsl_task *task,
				 struct fsl_error *err)
{
	if (task->kind == FSL_TASK_COMPUTE) {
		extend(&breakdown->plain_end_ns, task);
	} else if (task->kind == FSL_TASK_ON_CPU) {
		extend(&breakdown->on_cpu_end_ns, task);
	} else if (task->kind == FSL_TASK_FUSED) {
		breakdown->call =
			task->end_ns > breakdown->fused_end_ns ? task->call : breakdown->call;
		extend(&breakdown->fused_end_ns, task);
		size_t n = task->call != FSL_STR_NONE ? (size_t)task->call + 1 : 0;
		FSL_TRY(FSL_GROW(breakdown->alone_ns, breakdown->alone_capacity, n, err));
		while (breakdown->n_alone < n) {
			breakdown->alone_ns[breakdown->n_alone++] = 0;
		}
	}
	return FSL_OK;
}

/* Sweeps to @task, the next in the order of begins. */
static enum fsl_status sweep(struct fsl_breakdown *breakdown, const struct fsl_task *task,
			     struct fsl_error *err)
{
	size_t at = 0;
	FSL_TRY(find_entry(breakdown, task, &at, err));
	if (at == SIZE_MAX) {
		return FSL_OK;
	}
	if (breakdown->is_begun) {
		advance(breakdown, task);
	} else {
		breakdown->is_begun = true;
		breakdown->now_ns = task->begin_ns;
		breakdown->computing.end_ns = breakdown->communication.end_ns = task->begin_ns;
		breakdown->exposed.end_ns = -1;
		breakdown->plain_end_ns = breakdown->fused_end_ns = task->begin_ns;
		breakdown->on_cpu_end_ns = task->begin_ns;
	}
	breakdown->current = at;
	FSL_TRY(note_call(breakdown, task, err));
	struct slice *slice =
		is_compute(task->kind) ? &breakdown->computing : &breakdown->communication;
	if (slice->end_ns <= task->begin_ns) {
		slice->entry = at;
		slice->end_ns = task->begin_ns;
		if (!is_compute(task->kind)) {
			breakdown->exposed.end_ns = -1;
		}
	}
	if (task->end_ns >= busy_until(breakdown)) {
		breakdown->busy_name_id = task->name_id;
	}
	if (task->end_ns > slice->end_ns) {
		slice->end_ns = task->end_ns;
	}
	if (task->kind == FSL_TASK_RECEIVE) {
		int64_t *bubble_ns = &breakdown->entries[at].sums.bubble_ns;
		*bubble_ns = fsl_sum_i64(*bubble_ns, task->end_ns - task->begin_ns);
	}
	return FSL_OK;
}

static void sort_tasks(struct fsl_task *tasks, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (compare_tasks(&tasks[i - 1], &tasks[i]) > 0) {
			qsort(tasks, n, sizeof(*tasks), compare_tasks);
			return;
		}
	}
}

/* Counts the first @n held tasks; the rest stays. */
static enum fsl_status release(struct fsl_breakdown *breakdown, size_t n, struct fsl_error *err)
{
	sort_tasks(breakdown->tasks, breakdown->n_tasks);
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(sweep(breakdown, &breakdown->tasks[i], err));
	}
	if (n > 0) {
		breakdown->last = breakdown->tasks[n - 1];
		breakdown->n_tasks -= n;
		memmove(breakdown->tasks, breakdown->tasks + n,
			breakdown->n_tasks * sizeof(*breakdown->tasks));
	}
	return FSL_OK;
}

enum fsl_status fsl_breakdown_add(struct fsl_breakdown *breakdown, const struct fsl_task *task,
				  bool *is_late, struct fsl_error *err)
{
	FSL_REQUIRE(task->begin_ns >= 0 && task->begin_ns <= task->end_ns);
	*is_late = breakdown->is_begun && compare_tasks(task, &breakdown->last) < 0;
	if (*is_late) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(breakdown->tasks, breakdown->tasks_capacity, breakdown->n_tasks + 1, err));
	breakdown->tasks[breakdown->n_tasks++] = *task;
	return breakdown->n_tasks < breakdown->window
		       ? FSL_OK
		       : release(breakdown, breakdown->n_tasks / 2, err);
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return FSL_ORDER(a->sums.step, b->sums.step);
}

static int compare_gaps(const void *left, const void *right)
{
	const struct fsl_profile_gap *a = left, *b = right;
	int order = FSL_ORDER(b->dur_ns, a->dur_ns);
	return order != 0 ? order : FSL_ORDER(a->begin_ns, b->begin_ns);
}

static int64_t less(int64_t from, int64_t what)
{
	return from > what ? from - what : 0;
}

static enum fsl_status give(struct entry *entry, struct fsl_profile_rank *rank, int64_t device_id,
			    struct fsl_error *err)
{
	struct fsl_profile_step *sums = &entry->sums;
	sums->device_id = device_id;
	sums->overlapped_ns = less(sums->communication_ns, sums->exposed_ns);
	sums->stage_ns = less(entry->end_ns - entry->begin_ns, sums->bubble_ns);
	sums->exposed_not_receive_ns = less(sums->exposed_ns, sums->bubble_ns);
	sums->preparing_ns = FSL_NS_ABSENT; /* unknown: the tables have no host times */
	qsort(entry->gaps, entry->n_gaps, sizeof(entry->gaps[0]), compare_gaps);
	FSL_TRY(FSL_GROW(rank->rebuilt, rank->rebuilt_capacity, rank->n_rebuilt + 1, err));
	FSL_TRY(FSL_GROW(rank->gaps, rank->gaps_capacity, rank->n_gaps + entry->n_gaps, err));
	rank->rebuilt[rank->n_rebuilt++] = *sums;
	for (size_t i = 0; i < entry->n_gaps; i++) {
		rank->gaps[rank->n_gaps++] = entry->gaps[i];
	}
	return FSL_OK;
}

enum fsl_status fsl_breakdown_finish(struct fsl_breakdown *breakdown, struct fsl_profile_rank *rank,
				     const struct fsl_profile_input *input, int64_t device_id,
				     bool *is_whole, struct fsl_error *err)
{
	FSL_TRY(release(breakdown, breakdown->n_tasks, err));
	*is_whole = !breakdown->is_short_of_entries;
	if (breakdown->n_entries == 0) {
		return FSL_OK;
	}
	advance(breakdown, NULL);
	for (size_t i = 0; i < breakdown->n_alone && i < rank->n_calls; i++) {
		rank->calls[i].alone_ns = breakdown->alone_ns[i];
	}
	qsort(breakdown->entries, breakdown->n_entries, sizeof(breakdown->entries[0]),
	      compare_entries);
	/* The entries are sorted: one without step number comes first. It is dropped unless it is
	 * the only one. */
	size_t n_outside =
		breakdown->entries[0].sums.step == FSL_STEP_ABSENT && breakdown->n_entries > 1;
	for (size_t i = n_outside; i < breakdown->n_entries; i++) {
		struct entry *entry = &breakdown->entries[i];
		if (fsl_profile_wants_step(input, entry->sums.step)) {
			FSL_TRY(give(entry, rank, device_id, err));
		}
	}
	return FSL_OK;
}
