/* One pass over a kernel trace that keeps what the model counts. */
#include "source/ftrace/intervals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"

enum { WAKE_NS_MIN = FSL_NS_PER_US }; /* viewers bind no arrows to instants */

/* Wakers of a thread: who began to wake it, and who woke it last. */
struct fsl_ftrace_waking {
	int64_t begin_ns, woken_ns;
	int32_t cpu;
	uint32_t wake; /* index + 1 */
};

/* Interrupts that go on on a CPU. */
struct fsl_ftrace_nest {
	struct open_interrupt {
		bool is_soft;
		int64_t number, begin_ns;
		uint32_t name_id;
	} items[FSL_SCHED_NESTING_MAX];
	size_t n_items;
};

static enum fsl_status add(struct fsl_ftrace_intervals *out, struct fsl_ftrace_list *list,
			   const struct fsl_ftrace_interval *interval, struct fsl_error *err)
{
	if (interval->end_ns < out->from_ns || interval->end_ns > out->to_ns) {
		return FSL_OK;
	}
	if (list->n_items >= FSL_FTRACE_INTERVALS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the kernel trace has too many events to be drawn, name a part: "
				"option=\"--from\", option=\"--to\", max=%d",
				FSL_FTRACE_INTERVALS_MAX);
	}
	return FSL_APPEND(list, items, interval, err);
}

static enum fsl_status name_of(struct fsl_ftrace_intervals *out, int32_t thread, uint32_t *id,
			       struct fsl_error *err)
{
	const char *comm = thread >= 0 ? out->sched.threads[thread].comm : "unknown";
	return fsl_strpool_intern(out->names, comm, strlen(comm), id, err);
}

static enum fsl_status take_state(void *context, int32_t thread, int state, int64_t from_ns,
				  int64_t to_ns, struct fsl_error *err)
{
	struct fsl_ftrace_intervals *out = context;
	struct fsl_ftrace_interval interval = {.begin_ns = from_ns,
					       .end_ns = to_ns,
					       .thread = thread,
					       .cpu = out->sched.threads[thread].cpu,
					       .name_id = FSL_STR_NONE,
					       .state = state};
	if (state == FSL_SCHED_RQ_WAKE && (size_t)thread < out->n_wakings &&
	    out->wakings[thread].woken_ns == from_ns) {
		interval.wake = out->wakings[thread].wake;
	}
	return add(out, &out->states, &interval, err);
}

static enum fsl_status take_holder(void *context, int32_t cpu, int32_t holder, int64_t from_ns,
				   int64_t to_ns, struct fsl_error *err)
{
	struct fsl_ftrace_intervals *out = context;
	struct fsl_ftrace_interval interval = {
		.begin_ns = from_ns, .end_ns = to_ns, .thread = holder, .cpu = cpu};
	if (holder == FSL_SCHED_HOLDER_IDLE) {
		return FSL_OK;
	}
	FSL_TRY(name_of(out, holder, &interval.name_id, err));
	return add(out, &out->held, &interval, err);
}

/* The notes on the thread; NULL: memory is short. */
static struct fsl_ftrace_waking *waking_of(struct fsl_ftrace_intervals *out, size_t thread,
					   struct fsl_error *err)
{
	if (FSL_GROW(out->wakings, out->wakings_capacity, thread + 1, err) != FSL_OK) {
		return NULL;
	}
	while (out->n_wakings <= thread) {
		out->wakings[out->n_wakings++] =
			(struct fsl_ftrace_waking){.begin_ns = -1, .woken_ns = -1};
	}
	return &out->wakings[thread];
}

/* Notes who wakes a thread, when the model has taken the event. */
static enum fsl_status note_wake(struct fsl_ftrace_intervals *out,
				 const struct fsl_sched_event *event, struct fsl_error *err)
{
	const struct fsl_sched_thread *thread = fsl_sched_find(&out->sched, event->task.tid);
	if (thread == NULL || event->task.tid <= 0) {
		return FSL_OK;
	}
	int32_t number = (int32_t)(thread - out->sched.threads);
	struct fsl_ftrace_waking *waking = waking_of(out, (size_t)number, err);
	if (waking == NULL) {
		return FSL_ERR_MEMORY;
	}
	if (event->kind == FSL_SCHED_WAKING) {
		if (thread->waking_ns == event->time_ns) {
			waking->begin_ns = event->time_ns;
			waking->cpu = event->cpu;
		}
		return FSL_OK;
	}
	if (thread->state != FSL_SCHED_RQ_WAKE || thread->since_ns != event->time_ns ||
	    waking->woken_ns == event->time_ns) {
		return FSL_OK; /* it was awake */
	}
	bool has_begun = waking->begin_ns >= 0 && waking->begin_ns == thread->waking_ns;
	struct fsl_ftrace_interval wake = {.begin_ns =
						   has_begun ? waking->begin_ns : event->time_ns,
					   .end_ns = event->time_ns,
					   .thread = number,
					   .cpu = has_begun ? waking->cpu : event->cpu};
	if (wake.end_ns < wake.begin_ns + WAKE_NS_MIN) {
		wake.end_ns = wake.begin_ns + WAKE_NS_MIN;
	}
	size_t n_before = out->wakes.n_items;
	FSL_TRY(name_of(out, number, &wake.name_id, err));
	FSL_TRY(add(out, &out->wakes, &wake, err));
	waking->woken_ns = event->time_ns;
	waking->wake = out->wakes.n_items > n_before ? (uint32_t)out->wakes.n_items : 0;
	waking->begin_ns = -1;
	return FSL_OK;
}

static enum fsl_status begin_interrupt(struct fsl_ftrace_intervals *out,
				       struct fsl_ftrace_nest *nest,
				       const struct fsl_sched_event *event, struct fsl_error *err)
{
	char text[FSL_SCHED_TEXT_MAX + 48];
	bool is_soft = event->kind == FSL_SCHED_SOFTIRQ_ENTRY;
	struct open_interrupt open = {is_soft, event->value, event->time_ns, 0};
	int n = snprintf(text, sizeof(text), "%s %" PRId64, is_soft ? "softirq" : "irq",
			 event->value);
	(void)snprintf(text + n, sizeof(text) - (size_t)n, " %.*s", (int)event->text.length,
		       event->text.at);
	FSL_TRY(fsl_strpool_intern(out->names, text, strlen(text), &open.name_id, err));
	if (nest->n_items == FSL_SCHED_NESTING_MAX) {
		nest->n_items = 0; /* ends were lost */
	}
	nest->items[nest->n_items++] = open;
	return FSL_OK;
}

static enum fsl_status note_interrupt(struct fsl_ftrace_intervals *out,
				      const struct fsl_sched_event *event, struct fsl_error *err)
{
	size_t cpu = (size_t)event->cpu;
	FSL_TRY(FSL_GROW(out->nests, out->nests_capacity, cpu + 1, err));
	while (out->n_nests <= cpu) {
		out->nests[out->n_nests++] = (struct fsl_ftrace_nest){0};
	}
	struct fsl_ftrace_nest *nest = &out->nests[cpu];
	bool is_soft =
		event->kind == FSL_SCHED_SOFTIRQ_ENTRY || event->kind == FSL_SCHED_SOFTIRQ_EXIT;
	if (event->kind == FSL_SCHED_IRQ_ENTRY || event->kind == FSL_SCHED_SOFTIRQ_ENTRY) {
		return begin_interrupt(out, nest, event, err);
	}
	struct open_interrupt *open = nest->n_items > 0 ? &nest->items[nest->n_items - 1] : NULL;
	if (open == NULL || open->is_soft != is_soft || open->number != event->value) {
		nest->n_items = 0; /* its begin was lost, and those of others perhaps */
		return FSL_OK;
	}
	nest->n_items--;
	const struct fsl_ftrace_interval interval = {.begin_ns = open->begin_ns,
						     .end_ns = event->time_ns,
						     .thread = -1,
						     .cpu = event->cpu,
						     .name_id = open->name_id};
	return add(out, &out->interrupts, &interval, err);
}

static enum fsl_status note(struct fsl_ftrace_intervals *out, const struct fsl_sched_event *event,
			    struct fsl_error *err)
{
	switch (event->kind) {
	case FSL_SCHED_WAKING:
	case FSL_SCHED_WAKEUP:
	case FSL_SCHED_WAKEUP_NEW:
		return note_wake(out, event, err);
	case FSL_SCHED_IRQ_ENTRY:
	case FSL_SCHED_IRQ_EXIT:
	case FSL_SCHED_SOFTIRQ_ENTRY:
	case FSL_SCHED_SOFTIRQ_EXIT:
		return note_interrupt(out, event, err);
	case FSL_SCHED_LOST:
		if (event->cpu >= 0 && (size_t)event->cpu < out->n_nests) {
			out->nests[event->cpu].n_items = 0;
		}
		return FSL_OK;
	case FSL_SCHED_OTHER:
	case FSL_SCHED_SWITCH:
	case FSL_SCHED_MIGRATE:
	case FSL_SCHED_FORK:
	case FSL_SCHED_EXEC:
	case FSL_SCHED_EXIT:
	case FSL_SCHED_RUNTIME:
	case FSL_SCHED_MARK:
	case FSL_SCHED_KINDS_N:
		break;
	}
	return FSL_OK;
}

static enum fsl_status read_all(struct fsl_ftrace_intervals *out, struct fsl_ftrace_merge *merge,
				struct fsl_error *err)
{
	for (;;) {
		const struct fsl_sched_event *event = NULL;
		FSL_TRY(fsl_ftrace_merge_next(merge, &event, err));
		if (event == NULL) {
			return fsl_sched_finish(&out->sched, err);
		}
		FSL_TRY(fsl_sched_feed(&out->sched, event, err));
		FSL_TRY(note(out, event, err));
	}
}

enum fsl_status fsl_ftrace_intervals_read(struct fsl_ftrace_intervals *out,
					  const struct fsl_ftrace_ranks *ranks,
					  const char *const *paths, size_t n_paths,
					  const struct fsl_ftrace_loaded *loaded, int64_t begin_ns,
					  int64_t end_ns, struct fsl_error *err)
{
	const struct fsl_sched_watch watch = {out, take_state, take_holder};
	struct fsl_ftrace_merge *merge = NULL;
	out->names = fsl_strpool_create();
	if (out->names == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"names\"");
	}
	fsl_sched_init(&out->sched, begin_ns, end_ns);
	out->sched.watch = &watch;
	out->sched.told = ranks->told;
	out->sched.n_told = ranks->n_told;
	for (size_t i = 0; i < ranks->n_items; i++) {
		const struct fsl_ftrace_rank *rank = &ranks->items[i];
		FSL_TRY(fsl_sched_add_rank(&out->sched, rank->rank, rank->pid, rank->steps,
					   rank->n_steps, err));
	}
	FSL_TRY(fsl_ftrace_merge_open(&merge, paths, n_paths, loaded->n_late > 0, err));
	enum fsl_status status = read_all(out, merge, err);
	out->sched.watch = NULL;
	fsl_ftrace_merge_close(merge);
	return status;
}

void fsl_ftrace_intervals_fini(struct fsl_ftrace_intervals *intervals)
{
	if (intervals->names != NULL) {
		fsl_sched_fini(&intervals->sched);
	}
	fsl_strpool_destroy(intervals->names);
	fsl_free(intervals->held.items);
	fsl_free(intervals->states.items);
	fsl_free(intervals->interrupts.items);
	fsl_free(intervals->wakes.items);
	fsl_free(intervals->wakings);
	fsl_free(intervals->nests);
	*intervals = (struct fsl_ftrace_intervals){0};
}
