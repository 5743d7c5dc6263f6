/*
 * Who holds each CPU, and who waits for it. A slice of a CPU ends with its holder; then everybody
 * who waited meanwhile is charged to that holder, so that the charges of a thread sum to its time
 * on queues, whatever the trace does not tell.
 */
#include "base/sort.h"
#include "sched/sched_parts.h"

struct fsl_sched_cpu *fsl_sched_cpu_of(struct fsl_sched *sched, int32_t cpu, struct fsl_error *err)
{
	size_t n = (size_t)cpu + 1;
	if (n > sched->n_cpus) {
		if (FSL_GROW(sched->cpus, sched->cpus_capacity, n, err) != FSL_OK) {
			return NULL;
		}
		while (sched->n_cpus < n) {
			sched->cpus[sched->n_cpus++] =
				(struct fsl_sched_cpu){.holder = FSL_SCHED_HOLDER_UNKNOWN};
		}
	}
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	if (!own->is_seen) {
		own->is_seen = true;
		own->first_ns = own->last_ns = own->since_ns = sched->now_ns;
	}
	return own;
}

/* Cuts an interval to the window; false: nothing is left. */
static bool cut(const struct fsl_sched *sched, int64_t *from_ns, int64_t *to_ns)
{
	*from_ns = *from_ns > sched->begin_ns ? *from_ns : sched->begin_ns;
	*to_ns = *to_ns < sched->end_ns ? *to_ns : sched->end_ns;
	return *to_ns > *from_ns;
}

static size_t first_step(const struct fsl_sched_rank *rank, int64_t from_ns)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, rank->n_steps, rank->steps[at].end_ns <= from_ns);
	return at;
}

/* Length of the part of [@from_ns, @to_ns) in the step. */
static int64_t overlap(const struct fsl_sched_step *step, int64_t from_ns, int64_t to_ns)
{
	int64_t begin = step->begin_ns > from_ns ? step->begin_ns : from_ns;
	int64_t end = step->end_ns < to_ns ? step->end_ns : to_ns;
	return end > begin ? end - begin : 0;
}

static void add_to_cell(struct fsl_sched_cell *cell, const struct fsl_sched_thread *thread,
			int state, int64_t ns)
{
	cell->in_ns[state] += ns;
	cell->main_ns[state] += thread->is_main ? ns : 0;
}

/* Calls of the main thread in [@from_ns, @to_ns), in which it is in @state. */
static void count_calls(struct fsl_sched_rank *rank, int state, int64_t from_ns, int64_t to_ns)
{
	size_t first = 0, last = 0;
	if (rank->n_calls == 0 || state == FSL_SCHED_UNKNOWN) {
		return;
	}
	FSL_LOWER_BOUND(first, rank->n_calls, rank->calls_ns[first] < from_ns);
	FSL_LOWER_BOUND(last, rank->n_calls, rank->calls_ns[last] < to_ns);
	rank->n_calls_seen += last - first;
	rank->n_calls_running += state == FSL_SCHED_RUN ? last - first : 0;
}

static enum fsl_status count_steps(struct fsl_sched *sched, struct fsl_sched_thread *thread,
				   int state, int64_t from_ns, int64_t to_ns, struct fsl_error *err)
{
	struct fsl_sched_rank *rank = &sched->ranks[thread->rank];
	bool waits = state == FSL_SCHED_RQ_WAKE || state == FSL_SCHED_RQ_PREEMPT;
	add_to_cell(&rank->whole, thread, state, to_ns - from_ns);
	if (thread->is_main) {
		count_calls(rank, state, from_ns, to_ns);
	}
	if (state == FSL_SCHED_RUN && thread->cpu >= 0) {
		rank->cpu_ns[thread->cpu] += to_ns - from_ns;
	}
	if (waits && thread->step_waits_ns == NULL && rank->n_steps > 0) {
		FSL_TRY(FSL_ARENA_NEW(thread->step_waits_ns, &sched->arena, rank->n_steps, "steps",
				      err));
	}
	for (size_t i = first_step(rank, from_ns);
	     i < rank->n_steps && rank->steps[i].begin_ns < to_ns; i++) {
		int64_t ns = overlap(&rank->steps[i], from_ns, to_ns);
		add_to_cell(&rank->cells[i], thread, state, ns);
		if (waits) {
			thread->step_waits_ns[i] += ns;
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_sched_count(struct fsl_sched *sched, int32_t thread, int state, int64_t from_ns,
				int64_t to_ns, struct fsl_error *err)
{
	struct fsl_sched_thread *own = &sched->threads[thread];
	if (state >= FSL_SCHED_STATES_N || !cut(sched, &from_ns, &to_ns)) {
		return FSL_OK;
	}
	own->in_ns[state] += to_ns - from_ns;
	if (sched->watch != NULL) {
		FSL_TRY(sched->watch->was(sched->watch->context, thread, state, from_ns, to_ns,
					  err));
	}
	return own->rank >= 0 ? count_steps(sched, own, state, from_ns, to_ns, err) : FSL_OK;
}

/* Who stood at both ends of a gap tells most of what was in it. */
static enum fsl_status note_gap(struct fsl_sched *sched, struct fsl_sched_pair key,
				struct fsl_error *err)
{
	bool is_told = key.holder == FSL_SCHED_HOLDER_UNKNOWN &&
		       sched->gap_to != FSL_SCHED_HOLDER_UNKNOWN && key.ns > 0 &&
		       sched->gaps.n_items < FSL_SCHED_PAIRS_MAX;
	key.cpu = sched->gap_from;
	key.holder = sched->gap_to;
	return is_told ? fsl_sched_pairs_add(&sched->gaps, &key, err) : FSL_OK;
}

static enum fsl_status add_pair(struct fsl_sched_pairs *pairs, struct fsl_sched_pair key,
				struct fsl_error *err)
{
	if (pairs->n_items >= FSL_SCHED_PAIRS_MAX) {
		key.holder = FSL_SCHED_HOLDER_OTHERS;
	}
	return key.ns > 0 ? fsl_sched_pairs_add(pairs, &key, err) : FSL_OK;
}

enum fsl_status fsl_sched_charge(struct fsl_sched *sched, int32_t thread, int32_t cpu,
				 int32_t holder, int64_t from_ns, int64_t to_ns,
				 struct fsl_error *err)
{
	const struct fsl_sched_thread *own = &sched->threads[thread];
	if (!cut(sched, &from_ns, &to_ns)) {
		return FSL_OK;
	}
	struct fsl_sched_pair key = {.victim = thread,
				     .step = -1,
				     .cpu = -1,
				     .holder = holder,
				     .ns = to_ns - from_ns,
				     .last_ns = to_ns};
	FSL_TRY(add_pair(&sched->pairs, key, err));
	if (own->rank < 0) {
		return FSL_OK;
	}
	const struct fsl_sched_rank *rank = &sched->ranks[own->rank];
	key.cpu = cpu;
	int64_t in_steps_ns = 0;
	for (size_t i = first_step(rank, from_ns);
	     i < rank->n_steps && rank->steps[i].begin_ns < to_ns; i++) {
		key.step = (int32_t)i;
		key.ns = overlap(&rank->steps[i], from_ns, to_ns);
		in_steps_ns += key.ns;
		FSL_TRY(add_pair(&sched->step_pairs, key, err));
		FSL_TRY(note_gap(sched, key, err));
	}
	key.step = -1;
	key.ns = to_ns - from_ns - in_steps_ns;
	FSL_TRY(note_gap(sched, key, err));
	return add_pair(&sched->step_pairs, key, err);
}

/* Charges the waiters of the CPU up to @end_ns, and forgets who has left. */
static enum fsl_status charge_waiters(struct fsl_sched *sched, int32_t cpu, int32_t holder,
				      int64_t end_ns, struct fsl_error *err)
{
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	size_t n_left = 0;
	for (size_t i = 0; i < own->n_waiters; i++) {
		struct fsl_sched_waiter waiter = own->waiters[i];
		int64_t to_ns = waiter.end_ns < end_ns ? waiter.end_ns : end_ns;
		if (to_ns > waiter.begin_ns) {
			bool is_throttled = sched->threads[waiter.thread].is_throttled;
			FSL_TRY(fsl_sched_charge(sched, waiter.thread, cpu,
						 is_throttled ? FSL_SCHED_HOLDER_QUOTA : holder,
						 waiter.begin_ns, to_ns, err));
			waiter.begin_ns = to_ns;
		}
		if (waiter.end_ns > waiter.begin_ns) {
			own->waiters[n_left++] = waiter;
		}
	}
	own->n_waiters = n_left;
	return FSL_OK;
}

enum fsl_status fsl_sched_end_slice(struct fsl_sched *sched, int32_t cpu, int32_t holder,
				    int64_t end_ns, struct fsl_error *err)
{
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	int64_t from_ns = own->since_ns, to_ns = end_ns;
	if (own->n_waiters > 0) {
		FSL_TRY(charge_waiters(sched, cpu, holder, end_ns, err));
	}
	own->since_ns = end_ns;
	if (cut(sched, &from_ns, &to_ns)) {
		int64_t *sum = holder >= 0                       ? &own->busy_ns
			       : holder == FSL_SCHED_HOLDER_IDLE ? &own->idle_ns
								 : &own->unknown_ns;
		*sum += to_ns - from_ns;
		return sched->watch == NULL ? FSL_OK
					    : sched->watch->held(sched->watch->context, cpu, holder,
								 from_ns, to_ns, err);
	}
	return FSL_OK;
}

enum fsl_status fsl_sched_join_queue(struct fsl_sched *sched, int32_t thread, int32_t cpu,
				     int64_t begin_ns, struct fsl_error *err)
{
	struct fsl_sched_cpu *own = fsl_sched_cpu_of(sched, cpu, err);
	if (own == NULL) {
		return FSL_ERR_MEMORY;
	}
	const struct fsl_sched_waiter waiter = {thread, begin_ns, INT64_MAX};
	sched->threads[thread].cpu = cpu;
	return FSL_APPEND(own, waiters, &waiter, err);
}

int64_t fsl_sched_leave_queue(struct fsl_sched *sched, int32_t thread, int64_t end_ns)
{
	int32_t cpu = sched->threads[thread].cpu;
	struct fsl_sched_cpu *own = &sched->cpus[cpu];
	for (size_t i = 0; i < own->n_waiters; i++) {
		struct fsl_sched_waiter *waiter = &own->waiters[i];
		if (waiter->thread != thread || waiter->end_ns != INT64_MAX) {
			continue;
		}
		waiter->end_ns = end_ns > waiter->begin_ns ? end_ns : waiter->begin_ns;
		end_ns = waiter->end_ns;
		if (waiter->end_ns == waiter->begin_ns) {
			*waiter = own->waiters[--own->n_waiters];
		}
		return end_ns;
	}
	return end_ns;
}
