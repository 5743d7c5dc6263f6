/* A last pass over a kernel trace that keeps the worst step. */
#include "engine/hostbound_picture.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "source/ftrace/merge.h"

/* Interrupts that go on on a CPU. */
struct nest {
	size_t depth;
	int64_t begin_ns; /* of the outermost one */
};

/* The pass. */
struct pass {
	struct fsl_host_picture *out;
	const struct fsl_host_trace *trace;
	const struct fsl_hostbound_holder *culprit; /* NULL: nobody is to blame */
	int32_t told;                               /* rank, index in the model; -1: none */
	int32_t *rank_of; /* [n_threads]: position in ranks that the thread stands for; -1: none */
	struct fsl_sched sched;
	struct nest *nests; /* [n_nests]: by CPU */
	size_t n_nests, nests_capacity;
	size_t lanes_capacity, n_lanes; /* by CPU while it is read */
};

static bool is_whole(const struct fsl_sched *sched, const struct fsl_sched_step *step)
{
	return step->begin_ns >= sched->begin_ns && step->end_ns <= sched->end_ns;
}

static const struct fsl_hostbound_rank *told_of(const struct fsl_host_trace *trace)
{
	return trace->judged.n_ranks > 0 ? &trace->judged.ranks[0] : NULL;
}

/* Whether the step is judged, and lies in the stretch of the told rank if it has one. */
static bool is_told(const struct fsl_host_trace *trace, const struct fsl_sched_step *step)
{
	const struct fsl_hostbound_rank *told = told_of(trace);
	return is_whole(&trace->sched, step) &&
	       (told->n_high == 0 ||
		(step->step >= told->first_step && step->step <= told->last_step));
}

/* The step in which the told rank waits longest. */
static void find_step(struct fsl_host_picture *out, const struct fsl_host_trace *trace)
{
	const struct fsl_hostbound_rank *told = told_of(trace);
	const struct fsl_sched_rank *rank = told != NULL ? &trace->sched.ranks[told->index] : NULL;
	int64_t most_ns = -1;
	out->step = SIZE_MAX;
	out->waiter = -1;
	out->begin_ns = trace->sched.begin_ns;
	out->end_ns = trace->sched.end_ns;
	for (size_t s = 0; rank != NULL && s < rank->n_steps; s++) {
		const struct fsl_sched_step *step = &rank->steps[s];
		if (is_told(trace, step) && rank->cells[s].longest_wait_ns > most_ns) {
			most_ns = rank->cells[s].longest_wait_ns;
			out->step = s;
			out->waiter = rank->cells[s].longest_waiter;
			out->begin_ns = step->begin_ns;
			out->end_ns = step->end_ns;
		}
	}
}

/* Which threads stand for ranks. */
static enum fsl_status find_threads(struct pass *pass, struct fsl_error *err)
{
	const struct fsl_hostbound *judged = &pass->trace->judged;
	const struct fsl_sched *sched = &pass->trace->sched;
	FSL_TRY(FSL_NEW(pass->out->ranks, judged->n_ranks + 1, "ranks", err));
	FSL_TRY(FSL_NEW(pass->rank_of, sched->n_threads + 1, "threads", err));
	for (size_t i = 0; i < sched->n_threads; i++) {
		pass->rank_of[i] = -1;
	}
	for (size_t r = 0; r < judged->n_ranks; r++) {
		const struct fsl_hostbound_rank *rank = &judged->ranks[r];
		const struct fsl_sched_thread *leader = fsl_sched_find(sched, rank->pid);
		int32_t main = leader != NULL ? (int32_t)(leader - sched->threads) : -1;
		pass->out->ranks[r].thread = rank->waiter >= 0 ? rank->waiter : main;
		if (pass->out->ranks[r].thread >= 0) {
			pass->rank_of[pass->out->ranks[r].thread] = (int32_t)r;
		}
		const struct fsl_sched_rank *own = &sched->ranks[rank->index];
		for (size_t s = 0; s < own->n_steps; s++) {
			pass->out->ranks[r].n_steps += is_told(pass->trace, &own->steps[s]);
		}
	}
	pass->out->n_steps = judged->n_ranks > 0 ? sched->ranks[judged->ranks[0].index].n_steps : 0;
	return FSL_NEW(pass->out->steps, pass->out->n_steps + 1, "steps", err);
}

/* Adds [@from_ns, @to_ns) to the cells of the worst step: @offset of a member of cells. */
static void add_to_cells(const struct fsl_host_picture *out, struct fsl_host_cell *cells,
			 size_t offset, int64_t from_ns, int64_t to_ns)
{
	double width_ns = (double)(out->end_ns - out->begin_ns) / FSL_HOST_CELLS_N;
	size_t first = (size_t)((double)(from_ns - out->begin_ns) / width_ns);
	for (size_t c = first; c < FSL_HOST_CELLS_N; c++) {
		int64_t begin_ns = out->begin_ns + (int64_t)((double)c * width_ns);
		int64_t end_ns = out->begin_ns + (int64_t)((double)(c + 1) * width_ns);
		begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns > begin_ns) {
			uint32_t *sum = (uint32_t *)((char *)&cells[c] + offset);
			int64_t ns = (int64_t)*sum + end_ns - begin_ns;
			*sum = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
		} else if (begin_ns >= to_ns) {
			break;
		}
	}
}

/* Cuts an interval to the worst step; false: nothing is left. */
static bool cut(const struct fsl_host_picture *out, int64_t *from_ns, int64_t *to_ns)
{
	*from_ns = *from_ns > out->begin_ns ? *from_ns : out->begin_ns;
	*to_ns = *to_ns < out->end_ns ? *to_ns : out->end_ns;
	return *to_ns > *from_ns;
}

/* The lane of a CPU; NULL: memory is short. */
static struct fsl_host_lane *lane_of(struct pass *pass, int32_t cpu, struct fsl_error *err)
{
	size_t n = (size_t)cpu + 1;
	if (FSL_GROW(pass->out->lanes, pass->lanes_capacity, n, err) != FSL_OK) {
		return NULL;
	}
	while (pass->n_lanes < n) {
		pass->out->lanes[pass->n_lanes] =
			(struct fsl_host_lane){.cpu = (int32_t)pass->n_lanes};
		pass->n_lanes++;
	}
	struct fsl_host_lane *lane = &pass->out->lanes[cpu];
	bool is_there = lane->cells != NULL ||
			FSL_NEW(lane->cells, FSL_HOST_CELLS_N, "cells", err) == FSL_OK;
	return is_there ? lane : NULL;
}

static enum fsl_host_class class_of(const struct pass *pass,
				    const struct fsl_hostbound_slice *slice)
{
	const struct fsl_sched *sched = &pass->trace->sched;
	bool is_likely = false;
	if (slice->holder >= (int32_t)sched->n_threads) {
		return FSL_HOST_UNKNOWN; /* the file has changed */
	}
	int32_t holder = fsl_hostbound_holder_of(sched, pass->told, slice, &is_likely);
	if (holder < 0) {
		return holder == FSL_SCHED_HOLDER_IDLE ? FSL_HOST_IDLE : FSL_HOST_UNKNOWN;
	}
	const struct fsl_sched_thread *thread = &sched->threads[holder];
	if (pass->told >= 0 && thread->rank == pass->told) {
		return FSL_HOST_TOLD;
	}
	if (pass->culprit != NULL &&
	    fsl_hostbound_holds(pass->culprit, sched, pass->told, holder)) {
		return is_likely ? FSL_HOST_LIKELY : FSL_HOST_CULPRIT;
	}
	return is_likely           ? FSL_HOST_UNKNOWN
	       : thread->rank >= 0 ? FSL_HOST_RANK
	       : thread->is_kernel ? FSL_HOST_KERNEL
				   : FSL_HOST_PROCESS;
}

static enum fsl_status take_holder(void *context, int32_t cpu, int32_t holder, int64_t from_ns,
				   int64_t to_ns, struct fsl_error *err)
{
	struct pass *pass = context;
	if (!cut(pass->out, &from_ns, &to_ns)) {
		return FSL_OK;
	}
	struct fsl_host_lane *lane = lane_of(pass, cpu, err);
	if (lane == NULL) {
		return FSL_ERR_MEMORY;
	}
	const struct fsl_hostbound_slice slice = {holder, pass->sched.gap_from, pass->sched.gap_to};
	enum fsl_host_class class = class_of(pass, &slice);
	lane->in_ns[class] += to_ns - from_ns;
	add_to_cells(pass->out, lane->cells,
		     offsetof(struct fsl_host_cell, ns) + (size_t) class * sizeof(uint32_t),
		     from_ns, to_ns);
	return FSL_OK;
}

/* Adds [@from_ns, @to_ns) to the times of the rank at @position and, if it is the first one, of its
 * steps. @offset of a member of the times. */
static void add_to_steps(struct pass *pass, size_t position, size_t offset, int64_t from_ns,
			 int64_t to_ns)
{
	const struct fsl_sched *sched = &pass->trace->sched;
	const struct fsl_sched_rank *rank =
		&sched->ranks[pass->trace->judged.ranks[position].index];
	size_t first = 0;
	FSL_LOWER_BOUND(first, rank->n_steps, rank->steps[first].end_ns <= from_ns);
	for (size_t s = first; s < rank->n_steps && rank->steps[s].begin_ns < to_ns; s++) {
		const struct fsl_sched_step *step = &rank->steps[s];
		int64_t begin_ns = step->begin_ns > from_ns ? step->begin_ns : from_ns;
		int64_t end_ns = step->end_ns < to_ns ? step->end_ns : to_ns;
		if (end_ns <= begin_ns || !is_whole(sched, step)) {
			continue;
		}
		if (is_told(pass->trace, step)) {
			*(int64_t *)((char *)&pass->out->ranks[position].sum + offset) +=
				end_ns - begin_ns;
		}
		if (position == 0) {
			*(int64_t *)((char *)&pass->out->steps[s] + offset) += end_ns - begin_ns;
		}
	}
}

static enum fsl_status take_state(void *context, int32_t thread, int state, int64_t from_ns,
				  int64_t to_ns, struct fsl_error *err)
{
	struct pass *pass = context;
	bool is_known = (size_t)thread < pass->trace->sched.n_threads;
	int32_t position = is_known ? pass->rank_of[thread] : -1;
	int32_t cpu = pass->sched.threads[thread].cpu;
	bool waits = state == FSL_SCHED_RQ_WAKE || state == FSL_SCHED_RQ_PREEMPT;
	if (position >= 0) {
		add_to_steps(pass, (size_t)position,
			     offsetof(struct fsl_host_times, in_ns) +
				     (size_t)state * sizeof(int64_t),
			     from_ns, to_ns);
	}
	if (!waits || thread != pass->out->waiter || cpu < 0 || !cut(pass->out, &from_ns, &to_ns)) {
		return FSL_OK;
	}
	struct fsl_host_lane *lane = lane_of(pass, cpu, err);
	if (lane == NULL) {
		return FSL_ERR_MEMORY;
	}
	lane->wait_ns += to_ns - from_ns;
	add_to_cells(pass->out, lane->cells, offsetof(struct fsl_host_cell, wait_ns), from_ns,
		     to_ns);
	return FSL_OK;
}

/* An interrupt takes its time from whoever holds the CPU. */
static enum fsl_status take_interrupt(struct pass *pass, int32_t cpu, int64_t from_ns,
				      int64_t to_ns, struct fsl_error *err)
{
	int32_t holder = pass->sched.cpus[cpu].holder;
	bool is_known = holder >= 0 && (size_t)holder < pass->trace->sched.n_threads;
	if (is_known && pass->rank_of[holder] >= 0) {
		add_to_steps(pass, (size_t)pass->rank_of[holder],
			     offsetof(struct fsl_host_times, irq_ns), from_ns, to_ns);
	}
	if (!cut(pass->out, &from_ns, &to_ns)) {
		return FSL_OK;
	}
	struct fsl_host_lane *lane = lane_of(pass, cpu, err);
	if (lane == NULL) {
		return FSL_ERR_MEMORY;
	}
	lane->in_ns[FSL_HOST_INTERRUPT] += to_ns - from_ns;
	add_to_cells(pass->out, lane->cells,
		     offsetof(struct fsl_host_cell, ns) + FSL_HOST_INTERRUPT * sizeof(uint32_t),
		     from_ns, to_ns);
	return FSL_OK;
}

/* Only outermost interrupts are taken: those inside are a part of them. */
static enum fsl_status note(struct pass *pass, const struct fsl_sched_event *event,
			    struct fsl_error *err)
{
	bool begins = event->kind == FSL_SCHED_IRQ_ENTRY || event->kind == FSL_SCHED_SOFTIRQ_ENTRY;
	bool ends = event->kind == FSL_SCHED_IRQ_EXIT || event->kind == FSL_SCHED_SOFTIRQ_EXIT;
	bool is_reset = event->kind == FSL_SCHED_SWITCH || event->kind == FSL_SCHED_LOST;
	if ((!begins && !ends && !is_reset) || event->cpu < 0) {
		return FSL_OK;
	}
	size_t cpu = (size_t)event->cpu;
	FSL_TRY(FSL_GROW(pass->nests, pass->nests_capacity, cpu + 1, err));
	while (pass->n_nests <= cpu) {
		pass->nests[pass->n_nests++] = (struct nest){0};
	}
	struct nest *nest = &pass->nests[cpu];
	if (is_reset) {
		nest->depth = 0; /* no interrupt goes on over a switch: its end was lost */
	} else if (begins && nest->depth++ == 0) {
		nest->begin_ns = event->time_ns;
	} else if (ends && nest->depth > 0 && --nest->depth == 0) {
		return take_interrupt(pass, event->cpu, nest->begin_ns, event->time_ns, err);
	}
	return FSL_OK;
}

static enum fsl_status read_all(struct pass *pass, struct fsl_ftrace_merge *merge,
				struct fsl_error *err)
{
	for (;;) {
		const struct fsl_sched_event *event = NULL;
		FSL_TRY(fsl_ftrace_merge_next(merge, &event, err));
		if (event == NULL) {
			return fsl_sched_finish(&pass->sched, err);
		}
		FSL_TRY(fsl_sched_feed(&pass->sched, event, err));
		FSL_TRY(note(pass, event, err));
	}
}

static enum fsl_status read_again(struct pass *pass, struct fsl_error *err)
{
	const struct fsl_host_trace *trace = pass->trace;
	const struct fsl_sched_watch watch = {pass, take_state, take_holder};
	struct fsl_ftrace_merge *merge = NULL;
	bool has_window = trace->loaded.has_window;
	fsl_sched_init(&pass->sched, has_window ? trace->sched.begin_ns : INT64_MIN,
		       has_window ? trace->sched.end_ns : INT64_MAX);
	pass->sched.watch = &watch;
	pass->sched.told = trace->ranks.told;
	pass->sched.n_told = trace->ranks.n_told;
	for (size_t i = 0; i < trace->ranks.n_items; i++) {
		const struct fsl_ftrace_rank *rank = &trace->ranks.items[i];
		FSL_TRY(fsl_sched_add_rank(&pass->sched, rank->rank, rank->pid, NULL, 0, err));
	}
	FSL_TRY(fsl_ftrace_merge_open(&merge, trace->files->paths, trace->files->n_paths,
				      trace->loaded.n_late > 0, err));
	enum fsl_status status = read_all(pass, merge, err);
	fsl_ftrace_merge_close(merge);
	return status;
}

static int compare_interest(const void *left, const void *right)
{
	const struct fsl_host_lane *a = left, *b = right;
	FSL_ORDER_BY(b->wait_ns, a->wait_ns);
	FSL_ORDER_BY(b->in_ns[FSL_HOST_TOLD], a->in_ns[FSL_HOST_TOLD]);
	FSL_ORDER_BY(b->in_ns[FSL_HOST_CULPRIT], a->in_ns[FSL_HOST_CULPRIT]);
	FSL_ORDER_BY(b->in_ns[FSL_HOST_RANK], a->in_ns[FSL_HOST_RANK]);
	FSL_ORDER_BY(a->in_ns[FSL_HOST_IDLE], b->in_ns[FSL_HOST_IDLE]);
	return FSL_ORDER(a->cpu, b->cpu);
}

static int compare_cpus(const void *left, const void *right)
{
	return FSL_ORDER(((const struct fsl_host_lane *)left)->cpu,
			 ((const struct fsl_host_lane *)right)->cpu);
}

/* Keeps the CPUs that matter most. */
static void choose_lanes(struct pass *pass)
{
	struct fsl_host_picture *out = pass->out;
	size_t n = 0;
	for (size_t i = 0; i < pass->n_lanes; i++) {
		if (out->lanes[i].cells != NULL) {
			out->lanes[n++] = out->lanes[i];
		}
	}
	if (n == 0) {
		return;
	}
	qsort(out->lanes, n, sizeof(*out->lanes), compare_interest);
	out->n_lanes = n < FSL_HOST_LANES_MAX ? n : FSL_HOST_LANES_MAX;
	out->n_left_out = n - out->n_lanes;
	for (size_t i = out->n_lanes; i < n; i++) {
		fsl_free(out->lanes[i].cells);
	}
	qsort(out->lanes, out->n_lanes, sizeof(*out->lanes), compare_cpus);
}

/* Times of main threads by the sums of the model. */
static void take_main_threads(struct fsl_host_picture *out, const struct fsl_host_trace *trace)
{
	const struct fsl_sched *sched = &trace->sched;
	for (size_t r = 0; r < trace->judged.n_ranks; r++) {
		const struct fsl_hostbound_rank *judged = &trace->judged.ranks[r];
		const struct fsl_sched_rank *rank = &sched->ranks[judged->index];
		const struct fsl_sched_thread *leader = fsl_sched_find(sched, judged->pid);
		out->ranks[r].thread = leader != NULL ? (int32_t)(leader - sched->threads) : -1;
		for (size_t s = 0; s < rank->n_steps; s++) {
			bool counts = is_told(trace, &rank->steps[s]);
			for (size_t i = 0; counts && i < FSL_SCHED_STATES_N; i++) {
				out->ranks[r].sum.in_ns[i] += rank->cells[s].main_ns[i];
			}
			if (r == 0 && is_whole(sched, &rank->steps[s])) {
				memcpy(out->steps[s].in_ns, rank->cells[s].main_ns,
				       sizeof(out->steps[s].in_ns));
			}
		}
	}
}

enum fsl_status fsl_host_picture_make(struct fsl_host_picture *out,
				      const struct fsl_host_trace *trace, struct fsl_error *err)
{
	const struct fsl_hostbound_rank *told = told_of(trace);
	struct pass pass = {.out = out, .trace = trace, .told = -1};
	*out = (struct fsl_host_picture){.step = SIZE_MAX, .waiter = -1};
	if (told != NULL) {
		pass.told = told->index;
		pass.culprit =
			told->cause == FSL_HOSTBOUND_CPU ? fsl_hostbound_main_holder(told) : NULL;
	}
	find_step(out, trace);
	enum fsl_status status = find_threads(&pass, err);
	if (status == FSL_OK && fsl_host_records_knows(trace->files->paths[0])) {
		take_main_threads(out, trace);
	} else if (status == FSL_OK && out->end_ns > out->begin_ns) {
		status = read_again(&pass, err);
		fsl_sched_fini(&pass.sched);
		out->n_lanes = pass.n_lanes; /* to be released */
		if (status == FSL_OK) {
			choose_lanes(&pass);
		}
	}
	fsl_free(pass.nests);
	fsl_free(pass.rank_of);
	return status;
}

enum fsl_status fsl_host_traces_picture(struct fsl_host_traces *traces, struct fsl_error *err)
{
	for (size_t i = 0; i < traces->n_items; i++) {
		struct fsl_host_trace *trace = &traces->items[i];
		if (trace->picture == NULL) {
			FSL_TRY(FSL_NEW(trace->picture, 1, "pictures", err));
			FSL_TRY(fsl_host_picture_make(trace->picture, trace, err));
		}
	}
	return FSL_OK;
}

void fsl_host_picture_fini(struct fsl_host_picture *picture)
{
	for (size_t i = 0; i < picture->n_lanes; i++) {
		fsl_free(picture->lanes[i].cells);
	}
	fsl_free(picture->lanes);
	fsl_free(picture->ranks);
	fsl_free(picture->steps);
	*picture = (struct fsl_host_picture){0};
}
