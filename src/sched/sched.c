/*
 * Events to states. The chain rule: if a switch leaves a task that the last switch did not bring,
 * somebody was switched in between without an event. The time since the last switch is unknown
 * then, for the task that was brought and for the task that leaves.
 */
#include "sched/sched.h"

#include "base/sort.h"
#include "sched/sched_parts.h"

void fsl_sched_init(struct fsl_sched *sched, int64_t begin_ns, int64_t end_ns)
{
	*sched = (struct fsl_sched){.begin_ns = begin_ns,
				    .end_ns = end_ns,
				    .gap_from = FSL_SCHED_HOLDER_UNKNOWN,
				    .gap_to = FSL_SCHED_HOLDER_UNKNOWN};
}

void fsl_sched_fini(struct fsl_sched *sched)
{
	for (size_t i = 0; i < sched->n_cpus; i++) {
		fsl_free(sched->cpus[i].waiters);
	}
	for (size_t i = 0; i < sched->n_ranks; i++) {
		fsl_free(sched->ranks[i].cells);
		fsl_free(sched->ranks[i].cpu_ns);
	}
	fsl_sched_pairs_fini(&sched->pairs);
	fsl_sched_pairs_fini(&sched->step_pairs);
	fsl_sched_pairs_fini(&sched->gaps);
	fsl_sched_pairs_fini(&sched->rank_interrupts);
	fsl_sched_pairs_fini(&sched->cpu_interrupts);
	fsl_free(sched->notes.items);
	fsl_free(sched->interrupts);
	fsl_free(sched->threads);
	fsl_free(sched->slots);
	fsl_free(sched->cpus);
	fsl_free(sched->ranks);
	fsl_arena_fini(&sched->arena);
	*sched = (struct fsl_sched){0};
}

enum fsl_status fsl_sched_add_rank(struct fsl_sched *sched, int32_t rank, int32_t pid,
				   const struct fsl_sched_step *steps, size_t n_steps,
				   struct fsl_error *err)
{
	struct fsl_sched_rank fresh = {
		.rank = rank, .pid = pid, .steps = steps, .n_steps = n_steps};
	if (sched->n_ranks >= FSL_SCHED_RANKS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many ranks of one host: ranks=%zu",
				sched->n_ranks);
	}
	fresh.whole.longest_waiter = fresh.chain.step = -1;
	enum fsl_status status = FSL_OK;
	if (n_steps > 0) {
		FSL_THEN(status, FSL_NEW(fresh.cells, n_steps, "steps", err));
	}
	FSL_THEN(status, FSL_NEW(fresh.cpu_ns, FSL_SCHED_CPUS_MAX, "CPUs", err));
	FSL_THEN(status, FSL_APPEND(sched, ranks, &fresh, err));
	if (status != FSL_OK) {
		fsl_free(fresh.cells);
		fsl_free(fresh.cpu_ns);
	}
	return status;
}

static bool is_waiting(const struct fsl_sched_thread *thread)
{
	return thread->state == FSL_SCHED_RQ_WAKE || thread->state == FSL_SCHED_RQ_PREEMPT;
}

/* The thread leaves its state at @now_ns, and is in @next from then on. Time after what is charged
 * to the holders of its queue counts as waiting, too. */
static enum fsl_status change(struct fsl_sched *sched, int32_t thread, int next, int64_t now_ns,
			      struct fsl_error *err)
{
	struct fsl_sched_thread *own = &sched->threads[thread];
	int64_t until_ns = is_waiting(own) ? fsl_sched_leave_queue(sched, thread, now_ns) : now_ns;
	FSL_TRY(fsl_sched_count(sched, thread, own->state, own->since_ns, until_ns, err));
	own = &sched->threads[thread];
	own->since_ns = until_ns;
	own->state = next;
	own->is_throttled = false;
	return FSL_OK;
}

/* The slice of a CPU ends without an event that says who held it: its holder is unknown since the
 * slice began. */
static enum fsl_status lose_holder(struct fsl_sched *sched, int32_t cpu, int64_t now_ns,
				   struct fsl_error *err)
{
	int32_t holder = sched->cpus[cpu].holder;
	if (holder >= 0 && sched->threads[holder].state == FSL_SCHED_RUN &&
	    sched->threads[holder].cpu == cpu) {
		sched->threads[holder].state = FSL_SCHED_UNKNOWN; /* since the slice began */
	}
	sched->cpus[cpu].holder = FSL_SCHED_HOLDER_UNKNOWN;
	return fsl_sched_end_slice(sched, cpu, FSL_SCHED_HOLDER_UNKNOWN, now_ns, err);
}

/* The same if the tasks at both ends of the gap are known. */
static enum fsl_status break_chain(struct fsl_sched *sched, int32_t cpu, int32_t comes,
				   struct fsl_error *err)
{
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	bool is_told = own->holder != FSL_SCHED_HOLDER_UNKNOWN;
	own->n_breaks += is_told;
	sched->n_breaks += is_told;
	sched->gap_from = own->holder;
	sched->gap_to = is_told ? comes : FSL_SCHED_HOLDER_UNKNOWN;
	enum fsl_status status = lose_holder(sched, cpu, sched->now_ns, err);
	sched->gap_from = sched->gap_to = FSL_SCHED_HOLDER_UNKNOWN;
	return status;
}

/* The thread with this id that lives: ids of dead threads are used again. */
static enum fsl_status alive(struct fsl_sched *sched, const struct fsl_sched_task *task,
			     bool is_own, int32_t *out, struct fsl_error *err)
{
	FSL_TRY(fsl_sched_thread_of(sched, task->tid, &task->comm, is_own, out, err));
	return sched->threads[*out].state != FSL_SCHED_DEAD
		       ? FSL_OK
		       : fsl_sched_thread_again(sched, task->tid, &task->comm, out, err);
}

static enum fsl_status add_latency(struct fsl_sched *sched, struct fsl_latency **latency,
				   int64_t from_ns, struct fsl_error *err)
{
	if (from_ns < sched->begin_ns || sched->now_ns > sched->end_ns) {
		return FSL_OK; /* the window cuts it */
	}
	if (*latency == NULL) {
		FSL_TRY(FSL_ARENA_NEW(*latency, &sched->arena, 1, "latencies", err));
	}
	fsl_latency_add(*latency, sched->now_ns - from_ns);
	return FSL_OK;
}

static void count_far(const struct fsl_sched *sched, uint64_t n[FSL_SCHED_FAR_N], int32_t from,
		      int32_t to)
{
	n[FSL_SCHED_FAR_CACHE] += fsl_sched_is_far(sched->topology, FSL_SCHED_FAR_CACHE, from, to);
	n[FSL_SCHED_FAR_NODE] += fsl_sched_is_far(sched->topology, FSL_SCHED_FAR_NODE, from, to);
}

/* The thread runs on the CPU from now on. */
static enum fsl_status run(struct fsl_sched *sched, int32_t thread, int32_t cpu,
			   struct fsl_error *err)
{
	struct fsl_sched_thread *own = &sched->threads[thread];
	int64_t now_ns = sched->now_ns;
	if (own->state == FSL_SCHED_RUN && own->cpu >= 0 && own->cpu != cpu) {
		FSL_TRY(lose_holder(sched, own->cpu, now_ns, err)); /* its end there is lost */
		own = &sched->threads[thread];
	}
	if (is_waiting(own)) {
		FSL_TRY(fsl_sched_note_queue(sched, thread, own->since_ns, err));
	}
	if (own->state == FSL_SCHED_RQ_WAKE) {
		FSL_TRY(add_latency(sched, &own->wake, own->since_ns, err));
	} else if (own->state == FSL_SCHED_RQ_PREEMPT) {
		FSL_TRY(add_latency(sched, &own->preempt, own->since_ns, err));
	}
	if (own->waking_ns >= 0) {
		FSL_TRY(add_latency(sched, &own->waking, own->waking_ns, err));
		own->waking_ns = -1;
	}
	int32_t before = own->cpu;
	FSL_TRY(change(sched, thread, FSL_SCHED_RUN, now_ns, err));
	own = &sched->threads[thread];
	if (now_ns >= sched->begin_ns && now_ns < sched->end_ns) {
		own->n_runs++;
		own->n_moves += before >= 0 && before != cpu;
		count_far(sched, own->n_far_moves, before, cpu);
	}
	own->cpu = cpu;
	sched->cpus[cpu].holder = thread;
	return FSL_OK;
}

static int state_of_letter(char letter)
{
	switch (letter) {
	case 'R':
		return FSL_SCHED_RQ_PREEMPT;
	case 'D':
	case 'K':
		return FSL_SCHED_DISK;
	case 'I':
		return FSL_SCHED_IDLE;
	case 'T':
	case 't':
	case 'P':
		return FSL_SCHED_STOP;
	case 'X':
	case 'x':
	case 'Z':
		return FSL_SCHED_DEAD;
	default:
		return FSL_SCHED_SLEEP;
	}
}

static void count_leaving(struct fsl_sched *sched, struct fsl_sched_thread *own, int next,
			  int32_t comes)
{
	if (sched->now_ns < sched->begin_ns || sched->now_ns >= sched->end_ns) {
		return;
	}
	if (next != FSL_SCHED_RQ_PREEMPT) {
		own->n_voluntary++;
		return;
	}
	own->n_involuntary++;
	own->n_yields += comes >= 0 && sched->threads[comes].process == own->process;
}

/* The task leaves the CPU; the chain is broken if it was not known to hold it. */
static enum fsl_status leave(struct fsl_sched *sched, int32_t cpu, int32_t thread, int next,
			     bool comes_nobody, struct fsl_error *err)
{
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	int64_t now_ns = sched->now_ns;
	struct fsl_sched_thread *left = &sched->threads[thread];
	if (own->holder == thread) {
		FSL_TRY(fsl_sched_end_slice(sched, cpu, thread, now_ns, err));
	} else {
		if (left->state == FSL_SCHED_RUN && left->cpu >= 0 && left->cpu != cpu) {
			FSL_TRY(lose_holder(sched, left->cpu, now_ns, err));
		}
		int64_t since_ns = own->since_ns;
		left = &sched->threads[thread];
		since_ns = left->since_ns > since_ns ? left->since_ns : since_ns;
		FSL_TRY(change(sched, thread, FSL_SCHED_UNKNOWN, since_ns, err));
		FSL_TRY(break_chain(sched, cpu, thread, err));
	}
	FSL_TRY(change(sched, thread, next, now_ns, err));
	left = &sched->threads[thread];
	left->cpu = cpu;
	if (next == FSL_SCHED_RQ_PREEMPT) {
		left->is_throttled = comes_nobody;
		left->n_throttled += comes_nobody;
		return fsl_sched_join_queue(sched, thread, cpu, now_ns, err);
	}
	if (next == FSL_SCHED_DEAD) {
		left->end_ns = now_ns;
	}
	return FSL_OK;
}

/* The idle task leaves, or another task comes behind it. */
static enum fsl_status leave_idle(struct fsl_sched *sched, int32_t cpu, struct fsl_error *err)
{
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	if (own->holder == FSL_SCHED_HOLDER_IDLE) {
		return fsl_sched_end_slice(sched, cpu, FSL_SCHED_HOLDER_IDLE, sched->now_ns, err);
	}
	return break_chain(sched, cpu, FSL_SCHED_HOLDER_IDLE, err);
}

static enum fsl_status feed_switch(struct fsl_sched *sched, const struct fsl_sched_event *event,
				   struct fsl_error *err)
{
	int32_t prev = -1, next = -1;
	sched->n_switches++;
	if (event->task.tid > 0) {
		FSL_TRY(alive(sched, &event->task, true, &prev, err));
	}
	if (event->other.tid > 0) {
		FSL_TRY(alive(sched, &event->other, true, &next, err));
	}
	if (prev >= 0 && prev == next) {
		return FSL_OK; /* no switch at all */
	}
	if (prev >= 0) {
		int state = state_of_letter(event->state);
		count_leaving(sched, &sched->threads[prev], state, next);
		FSL_TRY(leave(sched, event->cpu, prev, state, next < 0, err));
	} else {
		FSL_TRY(leave_idle(sched, event->cpu, err));
	}
	if (next < 0) {
		sched->cpus[event->cpu].holder = FSL_SCHED_HOLDER_IDLE;
		return FSL_OK;
	}
	return run(sched, next, event->cpu, err);
}

/* Who writes the event: the task that runs, or an interrupt. */
static enum fsl_status set_waker(struct fsl_sched *sched, int32_t thread,
				 const struct fsl_sched_event *event, struct fsl_error *err)
{
	int32_t waker = event->tid == 0 || event->is_in_interrupt ? FSL_SCHED_WAKER_INTERRUPT
								  : FSL_SCHED_WAKER_UNKNOWN;
	int32_t interrupt = fsl_sched_open_interrupt(sched, event->cpu);
	waker = interrupt >= 0 ? FSL_SCHED_WAKER_INTERRUPT : waker;
	if (waker == FSL_SCHED_WAKER_UNKNOWN && event->tid > 0) {
		FSL_TRY(fsl_sched_thread_of(sched, event->tid, &event->comm, false, &waker, err));
	}
	sched->threads[thread].waker = waker;
	sched->threads[thread].waker_interrupt = interrupt;
	return FSL_OK;
}

/* The thread is on the queue of @cpu from now on. */
static enum fsl_status wake(struct fsl_sched *sched, const struct fsl_sched_event *event,
			    struct fsl_error *err)
{
	int32_t thread = -1;
	sched->n_wakeups++;
	if (event->task.tid <= 0 || event->value == 0) {
		return FSL_OK; /* old kernels tell of wakeups without success */
	}
	FSL_TRY(alive(sched, &event->task, true, &thread, err));
	struct fsl_sched_thread *own = &sched->threads[thread];
	if (own->state == FSL_SCHED_RUN || is_waiting(own)) {
		return FSL_OK; /* it waits for nothing, so its clock must not begin again */
	}
	if (event->kind == FSL_SCHED_WAKING && own->waking_ns >= 0) {
		return FSL_OK;
	}
	if (own->waking_ns < 0) {
		FSL_TRY(set_waker(sched, thread, event, err));
		own = &sched->threads[thread];
	}
	if (event->kind == FSL_SCHED_WAKING) {
		own->waking_ns = event->time_ns;
		return FSL_OK;
	}
	if (own->state == FSL_SCHED_SLEEP || own->state == FSL_SCHED_DISK) {
		FSL_TRY(fsl_sched_note_wake(sched, thread, own->since_ns, err));
	}
	int32_t cpu = event->to_cpu >= 0 ? event->to_cpu : own->cpu >= 0 ? own->cpu : event->cpu;
	FSL_TRY(change(sched, thread, FSL_SCHED_RQ_WAKE, event->time_ns, err));
	return fsl_sched_join_queue(sched, thread, cpu, event->time_ns, err);
}

static enum fsl_status migrate(struct fsl_sched *sched, const struct fsl_sched_event *event,
			       struct fsl_error *err)
{
	int32_t thread = -1;
	sched->n_migrations++;
	if (event->task.tid <= 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_sched_thread_of(sched, event->task.tid, &event->task.comm, true, &thread, err));
	struct fsl_sched_thread *own = &sched->threads[thread];
	if (event->time_ns >= sched->begin_ns && event->time_ns < sched->end_ns) {
		own->n_migrations++;
		count_far(sched, own->n_far_migrations, own->cpu, event->to_cpu);
	}
	if (!is_waiting(own)) {
		return FSL_OK;
	}
	(void)fsl_sched_leave_queue(sched, thread, event->time_ns);
	return fsl_sched_join_queue(sched, thread, event->to_cpu, event->time_ns, err);
}

static enum fsl_status fork_thread(struct fsl_sched *sched, const struct fsl_sched_event *event,
				   struct fsl_error *err)
{
	int32_t parent = -1, child = -1;
	sched->n_forks++;
	if (event->task.tid <= 0 || event->other.tid <= 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_sched_thread_of(sched, event->task.tid, &event->task.comm, true, &parent, err));
	FSL_TRY(alive(sched, &event->other, true, &child, err));
	fsl_sched_thread_inherit(sched, child, parent);
	return FSL_OK;
}

/* Events that are about the task that runs, or about one task alone. */
static enum fsl_status feed_other(struct fsl_sched *sched, const struct fsl_sched_event *event,
				  struct fsl_error *err)
{
	int32_t thread = -1;
	if (event->task.tid <= 0) {
		return FSL_OK;
	}
	if (event->kind == FSL_SCHED_EXEC) {
		static const struct fsl_sched_text unnamed = {"", 0};
		FSL_TRY(fsl_sched_thread_of(sched, event->task.tid, &unnamed, false, &thread, err));
		fsl_sched_thread_part(sched, thread);
		return FSL_OK;
	}
	FSL_TRY(fsl_sched_thread_of(sched, event->task.tid, &event->task.comm, true, &thread, err));
	if (event->kind == FSL_SCHED_RUNTIME) {
		struct fsl_sched_thread *own = &sched->threads[thread];
		sched->n_runtime++;
		if (event->time_ns >= sched->begin_ns && event->time_ns <= sched->end_ns) {
			own->runtime_ns += event->value;
			own->n_runtime++;
		}
	}
	return FSL_OK;
}

/* Everything of this CPU since its last event is unknown: its holder, and who waited there. */
static enum fsl_status skip_loss(struct fsl_sched *sched, int32_t cpu, struct fsl_error *err)
{
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	int64_t last_ns = own->last_ns > own->since_ns ? own->last_ns : own->since_ns;
	int32_t holder = own->holder;
	own->is_lost = false;
	own->n_nested = 0;
	FSL_TRY(fsl_sched_end_slice(sched, cpu, holder, last_ns, err));
	if (holder >= 0) {
		FSL_TRY(change(sched, holder, FSL_SCHED_UNKNOWN, last_ns, err));
	}
	for (size_t i = 0; i < sched->cpus[cpu].n_waiters;) {
		const struct fsl_sched_waiter *waiter = &sched->cpus[cpu].waiters[i];
		if (waiter->end_ns != INT64_MAX) {
			i++;
			continue;
		}
		/* Nothing of it is charged behind last_ns, so that it is taken out. */
		FSL_TRY(change(sched, waiter->thread, FSL_SCHED_UNKNOWN, last_ns, err));
	}
	return lose_holder(sched, cpu, sched->now_ns, err);
}

/* Some kernels do not tell that the idle task leaves: a line of another task does. When it came is
 * unknown since the last line of the CPU. */
static enum fsl_status end_idle(struct fsl_sched *sched, int32_t cpu, int64_t last_ns,
				struct fsl_error *err)
{
	FSL_TRY(fsl_sched_end_slice(sched, cpu, FSL_SCHED_HOLDER_IDLE, last_ns, err));
	sched->cpus[cpu].holder = FSL_SCHED_HOLDER_UNKNOWN;
	return FSL_OK;
}

/* When the thread was put on the queue of the CPU; INT64_MIN: it is not there. */
static int64_t joined_ns(const struct fsl_sched_cpu *cpu, int32_t thread)
{
	for (size_t i = 0; i < cpu->n_waiters; i++) {
		if (cpu->waiters[i].thread == thread && cpu->waiters[i].end_ns == INT64_MAX) {
			return cpu->waiters[i].begin_ns;
		}
	}
	return INT64_MIN;
}

/*
 * When the task in the line came, of which no switch told: as long ago as sched_stat_runtime says
 * that it ran, but not before what is known of the CPU (up to @known_ns) and of itself. The idle
 * task gives way at once: a task that joined the queue of its CPU came then, unless a quota holds
 * it back. @idle_ns: begin of the idle time in front; INT64_MAX: none.
 */
static int64_t came_ns(const struct fsl_sched *sched, const struct fsl_sched_event *event,
		       int64_t known_ns, int64_t idle_ns)
{
	int64_t now_ns = sched->now_ns, came_ns = now_ns;
	const struct fsl_sched_thread *own = fsl_sched_find(sched, event->tid);
	int64_t least_ns = own != NULL && own->since_ns > known_ns ? own->since_ns : known_ns;
	int64_t queued_ns =
		own != NULL ? joined_ns(&sched->cpus[event->cpu], (int32_t)(own - sched->threads))
			    : INT64_MIN;
	if (event->kind == FSL_SCHED_RUNTIME && event->task.tid == event->tid) {
		came_ns = event->value < now_ns - least_ns ? now_ns - event->value : least_ns;
	} else if (queued_ns >= idle_ns && !own->is_throttled) {
		came_ns = queued_ns > known_ns ? queued_ns : known_ns;
	}
	return came_ns < now_ns ? came_ns : now_ns;
}

/* Before the first switch of a CPU, after a loss, and behind idle time, the task in the line holds
 * it. */
static enum fsl_status note_cpu(struct fsl_sched *sched, const struct fsl_sched_event *event,
				struct fsl_error *err)
{
	struct fsl_sched_cpu *cpu = fsl_sched_cpu_of(sched, event->cpu, err);
	int32_t thread = -1;
	if (cpu == NULL) {
		return FSL_ERR_MEMORY;
	}
	if (cpu->is_lost) {
		FSL_TRY(skip_loss(sched, event->cpu, err));
		cpu = &sched->cpus[event->cpu];
	}
	int64_t last_ns = cpu->last_ns;
	int64_t idle_ns = INT64_MAX;
	cpu->last_ns = event->time_ns;
	if (cpu->holder == FSL_SCHED_HOLDER_IDLE && event->tid > 0) {
		idle_ns = cpu->since_ns;
		FSL_TRY(end_idle(sched, event->cpu, last_ns, err));
		cpu = &sched->cpus[event->cpu];
	}
	if (cpu->holder != FSL_SCHED_HOLDER_UNKNOWN || event->tid < 0) {
		return FSL_OK;
	}
	int64_t now_ns = sched->now_ns;
	int64_t known_ns = last_ns > cpu->since_ns ? last_ns : cpu->since_ns;
	sched->now_ns = came_ns(sched, event, known_ns, idle_ns);
	FSL_TRY(fsl_sched_end_slice(sched, event->cpu, FSL_SCHED_HOLDER_UNKNOWN, sched->now_ns,
				    err));
	if (event->tid == 0) {
		cpu->holder = FSL_SCHED_HOLDER_IDLE;
	} else {
		FSL_TRY(fsl_sched_thread_of(sched, event->tid, &event->comm, false, &thread, err));
		if (sched->threads[thread].state != FSL_SCHED_DEAD) {
			FSL_TRY(run(sched, thread, event->cpu, err));
		}
	}
	sched->now_ns = now_ns;
	return FSL_OK;
}

static enum fsl_status begin(struct fsl_sched *sched, const struct fsl_sched_event *event)
{
	if (!sched->is_begun) {
		sched->is_begun = true;
		sched->begin_ns =
			sched->begin_ns > event->time_ns ? sched->begin_ns : event->time_ns;
		fsl_sched_end_steps(sched, INT64_MIN);
	}
	sched->now_ns = event->time_ns;
	if (event->time_ns > sched->notes.due_ns) {
		fsl_sched_end_steps(sched, event->time_ns);
	}
	return FSL_OK;
}

enum fsl_status fsl_sched_feed(struct fsl_sched *sched, const struct fsl_sched_event *event,
			       struct fsl_error *err)
{
	if (event->kind == FSL_SCHED_LOST) {
		if ((size_t)event->cpu < sched->n_cpus) {
			sched->cpus[event->cpu].is_lost = sched->cpus[event->cpu].is_seen;
		}
		return FSL_OK;
	}
	FSL_TRY(begin(sched, event));
	FSL_TRY(note_cpu(sched, event, err));
	if (event->tgid > 0 && event->tid > 0) {
		const struct fsl_sched_thread *own = fsl_sched_find(sched, event->tid);
		if (own != NULL && own->tgid != event->tgid) {
			FSL_TRY(fsl_sched_thread_set_process(sched, (int32_t)(own - sched->threads),
							     event->tgid, err));
		}
	}
	switch (event->kind) {
	case FSL_SCHED_SWITCH:
		return feed_switch(sched, event, err);
	case FSL_SCHED_WAKEUP:
	case FSL_SCHED_WAKEUP_NEW:
	case FSL_SCHED_WAKING:
		return wake(sched, event, err);
	case FSL_SCHED_MIGRATE:
		return migrate(sched, event, err);
	case FSL_SCHED_FORK:
		return fork_thread(sched, event, err);
	case FSL_SCHED_RUNTIME:
	case FSL_SCHED_EXEC:
	case FSL_SCHED_EXIT:
		return feed_other(sched, event, err);
	case FSL_SCHED_IRQ_ENTRY:
	case FSL_SCHED_IRQ_EXIT:
	case FSL_SCHED_SOFTIRQ_ENTRY:
	case FSL_SCHED_SOFTIRQ_EXIT:
		return fsl_sched_feed_interrupt(sched, event, err);
	case FSL_SCHED_OTHER:
	case FSL_SCHED_MARK:
	case FSL_SCHED_LOST:
	case FSL_SCHED_KINDS_N:
		break;
	}
	return FSL_OK;
}

/* The thread of each rank that waited longest in each step. */
static void find_longest_waiters(struct fsl_sched *sched)
{
	for (size_t r = 0; r < sched->n_ranks; r++) {
		for (size_t s = 0; s < sched->ranks[r].n_steps; s++) {
			sched->ranks[r].cells[s].longest_waiter = -1;
		}
	}
	for (size_t t = 0; t < sched->n_threads; t++) {
		const struct fsl_sched_thread *thread = &sched->threads[t];
		if (thread->rank < 0 || thread->step_waits_ns == NULL) {
			continue;
		}
		struct fsl_sched_rank *rank = &sched->ranks[thread->rank];
		for (size_t s = 0; s < rank->n_steps; s++) {
			if (thread->step_waits_ns[s] > rank->cells[s].longest_wait_ns) {
				rank->cells[s].longest_wait_ns = thread->step_waits_ns[s];
				rank->cells[s].longest_waiter = (int32_t)t;
			}
		}
	}
}

enum fsl_status fsl_sched_finish(struct fsl_sched *sched, struct fsl_error *err)
{
	sched->end_ns = sched->end_ns < sched->now_ns ? sched->end_ns : sched->now_ns;
	if (!sched->is_begun) {
		sched->begin_ns = sched->end_ns = 0;
	}
	sched->begin_ns = sched->begin_ns < sched->end_ns ? sched->begin_ns : sched->end_ns;
	int64_t end_ns = sched->end_ns > sched->now_ns ? sched->end_ns : sched->now_ns;
	for (size_t c = 0; c < sched->n_cpus; c++) {
		if (!sched->cpus[c].is_seen) {
			continue;
		}
		if (sched->cpus[c].is_lost) {
			FSL_TRY(skip_loss(sched, (int32_t)c, err));
		}
		FSL_TRY(fsl_sched_end_slice(sched, (int32_t)c, sched->cpus[c].holder, end_ns, err));
	}
	for (size_t t = 0; t < sched->n_threads; t++) {
		const struct fsl_sched_thread *thread = &sched->threads[t];
		FSL_TRY(fsl_sched_count(sched, (int32_t)t, thread->state, thread->since_ns, end_ns,
					err));
	}
	if (sched->is_begun) {
		fsl_sched_end_steps(sched, sched->end_ns);
	}
	find_longest_waiters(sched);
	return FSL_OK;
}
