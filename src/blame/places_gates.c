/*
 * Replay of a capture that tells which operators kernels waited for: the gates of a rank. Its own
 * time goes on from gate to gate, whatever operators run beside it; an operator begins when its
 * rank has come as far as it had, and ends when all members have come and the transfer is over.
 */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/limits.h"
#include "blame/places_parts.h"

/* One operator. Own time: of its rank since its first operator began, without stretches in which it
 * waited at gates. */
struct op {
	int64_t begin_ns, end_ns;         /* as captured, clock of the reference */
	int64_t begin_own_ns, end_own_ns; /* own time at its begin and end */
	int64_t ready_own_ns;             /* own time at which it could have begun */
	int64_t bare_ns;  /* stretch before its end in which no kernel ran; > 0: a gate */
	uint32_t before;  /* operator of its group that ended as it began; UINT32_MAX: none */
	uint32_t meeting; /* UINT32_MAX: it meets nobody */
};

struct meeting {
	int64_t transfer_ns;
	uint32_t channel;
	uint32_t n_members;
};

/* An operator by what it does: class of its rank, type, how-many-th group of the rank with that
 * type, how-many-th in that. */
struct use {
	uint32_t class_idx, op_id, group, number;
	uint32_t rank_idx;
	uint32_t op; /* index; of a group: its name */
};

struct rank {
	struct op *ops;   /* by begin */
	uint32_t *by_end; /* [n_ops] */
	size_t n_ops;
};

struct graph {
	struct fsl_arena arena;
	const struct fsl_places_job *job;
	struct rank *ranks;
	struct meeting *meetings;
	size_t n_meetings;
	int64_t begin_ns; /* of the first operator of a rank: times of a run count from there */
};

/* One run; ns since the capture began. */
struct run_of_rank {
	double *end_ns;                    /* per operator, unless it meets others */
	double *ready_own_ns, *end_own_ns; /* per operator: own time as it is in the run */
	size_t next_op, next_gate;
	double at_ns, own_ns; /* the last gate that was passed, and own time there */
};
struct run {
	struct run_of_rank *ranks;
	double *arrived_ns;            /* per meeting: the latest member */
	uint32_t *n_arrived;           /* per meeting */
	double *ends_ns;               /* per meeting; NaN */
	const double *transfer_factor; /* per channel; NULL: as captured */
};

static int compare_ends(const void *left, const void *right, void *context)
{
	const struct op *ops = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	FSL_ORDER_BY(ops[a].end_ns, ops[b].end_ns);
	return FSL_ORDER(a, b);
}

/* Stretches in which a rank waited at gates, per place in by_end. They follow each other: a kernel
 * that waited for two operators waited for one of them first. */
struct waits {
	int64_t *until_ns;  /* [n_ops]: end of the stretch, captured time */
	int64_t *before_ns; /* [n_ops + 1]: length of all stretches before */
};

static enum fsl_status list_waits(struct waits *waits, const struct rank *rank,
				  struct fsl_arena *arena, struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(waits->until_ns, arena, rank->n_ops + 1, "operators", err));
	FSL_TRY(FSL_ARENA_NEW(waits->before_ns, arena, rank->n_ops + 1, "operators", err));
	int64_t next_ns = INT64_MAX;
	for (size_t k = rank->n_ops; k-- > 0;) {
		const struct op *op = &rank->ops[rank->by_end[k]];
		waits->until_ns[k] = op->end_ns < next_ns ? op->end_ns : next_ns;
		next_ns = waits->until_ns[k] - op->bare_ns;
	}
	for (size_t k = 0; k < rank->n_ops; k++) {
		waits->before_ns[k + 1] = waits->before_ns[k] + rank->ops[rank->by_end[k]].bare_ns;
	}
	return FSL_OK;
}

/* Own time of the rank at @at_ns. */
static int64_t own_at(const struct rank *rank, const struct waits *waits, int64_t at_ns)
{
	size_t n = 0;
	FSL_LOWER_BOUND(n, rank->n_ops, waits->until_ns[n] <= at_ns);
	int64_t own_ns = at_ns - rank->ops[0].begin_ns - waits->before_ns[n];
	if (n < rank->n_ops) {
		int64_t bare_ns = rank->ops[rank->by_end[n]].bare_ns;
		int64_t inside_ns = at_ns - (waits->until_ns[n] - bare_ns);
		own_ns -= inside_ns > 0 ? inside_ns : 0;
	}
	return own_ns;
}

static enum fsl_status build_rank(struct graph *graph, size_t r, struct fsl_error *err)
{
	const struct fsl_rank *from = &graph->job->run->ranks[r];
	struct rank *rank = &graph->ranks[r];
	int64_t clock_ns = graph->job->match->clock_ns[r];
	struct waits waits = {0};
	rank->n_ops = from->n_ops;
	FSL_TRY(FSL_ARENA_NEW(rank->ops, &graph->arena, from->n_ops + 1, "operators", err));
	FSL_TRY(FSL_ARENA_NEW(rank->by_end, &graph->arena, from->n_ops + 1, "operators", err));
	for (size_t i = 0; i < from->n_ops; i++) {
		rank->ops[i] = (struct op){.begin_ns = fsl_op_begin_ns(&from->ops[i]) - clock_ns,
					   .end_ns = fsl_op_end_ns(&from->ops[i]) - clock_ns,
					   .bare_ns = graph->job->bare_ns[r][i],
					   .before = UINT32_MAX,
					   .meeting = UINT32_MAX};
		rank->by_end[i] = (uint32_t)i;
	}
	qsort_r(rank->by_end, rank->n_ops, sizeof(*rank->by_end), compare_ends, rank->ops);
	FSL_TRY(list_waits(&waits, rank, &graph->arena, err));
	for (size_t i = 0; i < rank->n_ops; i++) {
		struct op *op = &rank->ops[i];
		op->begin_own_ns = own_at(rank, &waits, op->begin_ns);
		op->end_own_ns = own_at(rank, &waits, op->end_ns);
		op->ready_own_ns = op->begin_own_ns;
		for (size_t k = i; k-- > 0 && k + FSL_GATES_ROW_MAX >= i;) {
			if (from->ops[k].group_id == from->ops[i].group_id) {
				int64_t apart_ns = op->begin_ns - rank->ops[k].end_ns;
				bool is_behind =
					apart_ns < FSL_GATES_ROW_NS && apart_ns > -FSL_GATES_ROW_NS;
				op->before = is_behind ? (uint32_t)k : UINT32_MAX;
				break;
			}
		}
	}
	return FSL_OK;
}

static void add_meetings(struct graph *graph, uint32_t c)
{
	const struct fsl_channel *channel = &graph->job->match->channels[c];
	for (size_t i = 0; i < channel->n_instances && !channel->disagrees; i++) {
		struct meeting meeting = {.transfer_ns = INT64_MAX, .channel = c};
		for (size_t m = 0; m < channel->n_members; m++) {
			uint32_t op = channel->op_idx[i * channel->n_members + m];
			int64_t dur_ns = fsl_channel_duration_ns(channel, i, m);
			if (op != FSL_NO_OP && dur_ns >= 0) {
				graph->ranks[channel->members[m]].ops[op].meeting =
					(uint32_t)graph->n_meetings;
				meeting.transfer_ns =
					dur_ns < meeting.transfer_ns ? dur_ns : meeting.transfer_ns;
				meeting.n_members++;
			}
		}
		graph->meetings[graph->n_meetings] = meeting;
		graph->n_meetings += meeting.n_members > 0;
	}
}

static int compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	FSL_ORDER_BY(a->class_idx, b->class_idx);
	FSL_ORDER_BY(a->op_id, b->op_id);
	FSL_ORDER_BY(a->group, b->group);
	FSL_ORDER_BY(a->number, b->number);
	FSL_ORDER_BY(a->rank_idx, b->rank_idx);
	return FSL_ORDER(a->op, b->op);
}

static bool is_same_use(const struct use *a, const struct use *b)
{
	return a->class_idx == b->class_idx && a->op_id == b->op_id && a->group == b->group &&
	       a->number == b->number;
}

/* Lists the operators of rank @r. @groups: room for them. */
static void list_uses(struct use *uses, const struct fsl_places_job *job, size_t r,
		      struct use *groups)
{
	const struct fsl_rank *rank = &job->run->ranks[r];
	size_t n_groups = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		uint32_t ordinal = 0;
		size_t g = 0;
		while (g < n_groups &&
		       (groups[g].op_id != op->op_id || groups[g].op != op->group_id)) {
			ordinal += groups[g++].op_id == op->op_id;
		}
		if (g == n_groups) {
			groups[n_groups++] = (struct use){
				.op_id = op->op_id, .op = op->group_id, .group = ordinal};
		}
		uses[i] = (struct use){.class_idx = job->class_of[r],
				       .op_id = op->op_id,
				       .group = groups[g].group,
				       .number = groups[g].number++,
				       .rank_idx = (uint32_t)r,
				       .op = (uint32_t)i};
	}
}

/* An operator right behind another one of its group may have been ready for long. Ranks of its
 * class tell when, if they were not held up. */
static enum fsl_status set_ready(struct graph *graph, size_t n_ops, struct fsl_error *err)
{
	struct use *uses = NULL, *groups = NULL;
	size_t n = 0;
	FSL_TRY(FSL_ARENA_NEW(uses, &graph->arena, n_ops + 1, "operators", err));
	FSL_TRY(FSL_ARENA_NEW(groups, &graph->arena, n_ops + 1, "operators", err));
	for (size_t r = 0; r < graph->job->run->n_ranks; r++) {
		list_uses(uses + n, graph->job, r, groups);
		n += graph->ranks[r].n_ops;
	}
	qsort(uses, n, sizeof(*uses), compare_uses);
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		int64_t least_ns = INT64_MAX;
		for (end = begin; end < n && is_same_use(&uses[begin], &uses[end]); end++) {
			const struct op *op = &graph->ranks[uses[end].rank_idx].ops[uses[end].op];
			least_ns = op->begin_own_ns < least_ns ? op->begin_own_ns : least_ns;
		}
		for (size_t k = begin; k < end; k++) {
			struct op *op = &graph->ranks[uses[k].rank_idx].ops[uses[k].op];
			op->ready_own_ns = op->before != UINT32_MAX ? least_ns : op->begin_own_ns;
		}
	}
	return FSL_OK;
}

static enum fsl_status build(struct graph *graph, const struct fsl_places_job *job,
			     struct fsl_error *err)
{
	size_t n_instances = 0, n_ops = 0;
	*graph = (struct graph){.job = job};
	for (size_t c = 0; c < job->match->n_channels; c++) {
		n_instances += job->match->channels[c].n_instances;
	}
	FSL_TRY(FSL_ARENA_NEW(graph->ranks, &graph->arena, job->run->n_ranks + 1, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(graph->meetings, &graph->arena, n_instances + 1, "instances", err));
	for (size_t r = 0; r < job->run->n_ranks; r++) {
		FSL_TRY(build_rank(graph, r, err));
		if (n_ops == 0 && graph->ranks[r].n_ops > 0) {
			graph->begin_ns = graph->ranks[r].ops[0].begin_ns;
		}
		n_ops += job->run->ranks[r].n_ops;
	}
	for (size_t c = 0; c < job->match->n_channels; c++) {
		add_meetings(graph, (uint32_t)c);
	}
	return set_ready(graph, n_ops, err);
}

static double time_at(const struct run_of_rank *of, double own_ns)
{
	return of->at_ns + own_ns - of->own_ns;
}

/* End of an operator; NaN: not known yet. */
static double end_of(const struct graph *graph, const struct run *run, size_t r, uint32_t i)
{
	uint32_t meeting = graph->ranks[r].ops[i].meeting;
	return meeting != UINT32_MAX ? run->ends_ns[meeting] : run->ranks[r].end_ns[i];
}

/* Passes the gates that began earlier in the run and ended by @until_ns in the capture; false: one
 * of them has no end yet. */
static bool pass_gates(const struct graph *graph, struct run *run, size_t r, int64_t until_ns)
{
	const struct rank *rank = &graph->ranks[r];
	struct run_of_rank *of = &run->ranks[r];
	while (of->next_gate < rank->n_ops) {
		uint32_t i = rank->by_end[of->next_gate];
		const struct op *gate = &rank->ops[i];
		if (gate->end_ns > until_ns || i >= of->next_op) {
			break;
		}
		double end_ns = gate->bare_ns > 0 ? end_of(graph, run, r, i) : -INFINITY;
		if (isnan(end_ns)) {
			return false;
		}
		if (gate->bare_ns > 0) {
			of->at_ns = fmax(end_ns, time_at(of, of->end_own_ns[i]));
			of->own_ns = of->end_own_ns[i];
		}
		of->next_gate++;
	}
	return true;
}

/* Begins the next operator of a rank; false: that has to wait. */
static bool begin_next(const struct graph *graph, struct run *run, size_t r)
{
	const struct rank *rank = &graph->ranks[r];
	struct run_of_rank *of = &run->ranks[r];
	const struct op *op = &rank->ops[of->next_op];
	if (!pass_gates(graph, run, r, op->begin_ns + FSL_GATES_SLACK_NS)) {
		return false;
	}
	double ready_own_ns = of->ready_own_ns[of->next_op];
	double begin_ns = time_at(of, ready_own_ns);
	if (op->before != UINT32_MAX) {
		double before_ns = end_of(graph, run, r, op->before);
		if (isnan(before_ns)) {
			return false;
		}
		begin_ns = fmax(before_ns, ready_own_ns > of->own_ns ? begin_ns : before_ns);
	}
	of->end_ns[of->next_op++] = begin_ns + (double)(op->end_ns - op->begin_ns);
	if (op->meeting != UINT32_MAX) {
		const struct meeting *meeting = &graph->meetings[op->meeting];
		double *arrived_ns = &run->arrived_ns[op->meeting];
		double factor =
			run->transfer_factor != NULL ? run->transfer_factor[meeting->channel] : 1.0;
		*arrived_ns = fmax(*arrived_ns, begin_ns);
		if (++run->n_arrived[op->meeting] == meeting->n_members) {
			run->ends_ns[op->meeting] =
				*arrived_ns + factor * (double)meeting->transfer_ns;
		}
	}
	return true;
}

/* Own time @own_ns of a rank in the run. @begins_ns: that at the begin of each operator. */
static double own_in_run(const struct rank *rank, const double *begins_ns, int64_t own_ns,
			 double factor)
{
	size_t n = 0;
	FSL_LOWER_BOUND(n, rank->n_ops, rank->ops[n].begin_own_ns <= own_ns);
	const struct op *op = &rank->ops[n > 0 ? n - 1 : 0];
	return begins_ns[n > 0 ? n - 1 : 0] + factor * (double)(own_ns - op->begin_own_ns);
}

/* Own time of a rank takes a factor, and is shorter before operators. */
static enum fsl_status change_rank(struct run_of_rank *of, const struct rank *rank, double factor,
				   const int64_t *off_ns, struct fsl_arena *arena,
				   struct fsl_error *err)
{
	double *begins_ns = NULL, left_ns = 0.0;
	FSL_TRY(FSL_ARENA_NEW(begins_ns, arena, rank->n_ops + 1, "operators", err));
	FSL_TRY(FSL_ARENA_NEW(of->ready_own_ns, arena, rank->n_ops + 1, "operators", err));
	FSL_TRY(FSL_ARENA_NEW(of->end_own_ns, arena, rank->n_ops + 1, "operators", err));
	for (size_t i = 1; i < rank->n_ops; i++) {
		double gap_ns = factor *
				(double)(rank->ops[i].begin_own_ns - rank->ops[i - 1].begin_own_ns);
		left_ns += off_ns != NULL ? (double)off_ns[i] : 0.0;
		double taken_ns = fmin(left_ns, gap_ns);
		begins_ns[i] = begins_ns[i - 1] + gap_ns - taken_ns;
		left_ns -= taken_ns;
	}
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct op *op = &rank->ops[i];
		of->ready_own_ns[i] = own_in_run(rank, begins_ns, op->ready_own_ns, factor);
		of->end_own_ns[i] = own_in_run(rank, begins_ns, op->end_own_ns, factor);
	}
	of->at_ns -= off_ns != NULL ? (double)off_ns[0] : 0.0;
	return FSL_OK;
}

static enum fsl_status begin_run(struct run *run, const struct graph *graph,
				 const struct fsl_gates_change *change, struct fsl_arena *arena,
				 struct fsl_error *err)
{
	size_t n_ranks = graph->job->run->n_ranks, n = graph->n_meetings;
	FSL_TRY(FSL_ARENA_NEW(run->ranks, arena, n_ranks + 1, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(run->arrived_ns, arena, n + 1, "instances", err));
	FSL_TRY(FSL_ARENA_NEW(run->n_arrived, arena, n + 1, "instances", err));
	FSL_TRY(FSL_ARENA_NEW(run->ends_ns, arena, n + 1, "instances", err));
	for (size_t k = 0; k < n; k++) {
		run->arrived_ns[k] = -INFINITY;
		run->ends_ns[k] = NAN;
	}
	for (size_t r = 0; r < n_ranks; r++) {
		const struct rank *rank = &graph->ranks[r];
		struct run_of_rank *of = &run->ranks[r];
		double factor = change->rank_factor != NULL ? change->rank_factor[r] : 1.0;
		const int64_t *off_ns =
			change->off_ns != NULL && r != change->but_rank ? change->off_ns[r] : NULL;
		FSL_TRY(FSL_ARENA_NEW(of->end_ns, arena, rank->n_ops + 1, "operators", err));
		of->at_ns = (double)(rank->ops[0].begin_ns - graph->begin_ns);
		FSL_TRY(change_rank(of, rank, factor, off_ns, arena, err));
	}
	return FSL_OK;
}

/* Time until the last rank is through, ns; NaN: operators wait for each other. */
static enum fsl_status replay(double *whole_ns, const struct graph *graph,
			      const struct fsl_gates_change *change, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct run run = {.transfer_factor = change->transfer_factor};
	size_t n_ranks = graph->job->run->n_ranks;
	bool goes_on = true;
	enum fsl_status status = begin_run(&run, graph, change, &arena, err);
	while (goes_on && status == FSL_OK) {
		goes_on = false;
		for (size_t r = 0; r < n_ranks; r++) {
			while (run.ranks[r].next_op < graph->ranks[r].n_ops &&
			       begin_next(graph, &run, r)) {
				goes_on = true;
			}
		}
	}
	*whole_ns = -INFINITY;
	for (size_t r = 0; r < n_ranks && status == FSL_OK; r++) {
		size_t n_ops = graph->ranks[r].n_ops;
		bool is_through =
			run.ranks[r].next_op == n_ops && pass_gates(graph, &run, r, INT64_MAX);
		for (uint32_t i = 0; i < n_ops && is_through; i++) {
			*whole_ns = fmax(*whole_ns, end_of(graph, &run, r, i));
		}
		*whole_ns = is_through ? *whole_ns : (double)NAN;
		if (!is_through) {
			break;
		}
	}
	fsl_arena_fini(&arena);
	return status;
}

enum fsl_status fsl_places_pass_gates(double *saved_ms, const struct fsl_places_job *job,
				      const struct fsl_gates_change *changes, size_t n,
				      struct fsl_error *err)
{
	const struct fsl_gates_change none = {0};
	struct graph graph = {0};
	double captured_ns = NAN, changed_ns = NAN, n_steps = 1.0;
	bool is_told = job->bare_ns != NULL, has_some = false;
	for (size_t k = 0; k < n; k++) {
		saved_ms[k] = NAN;
	}
	for (size_t r = 0; r < job->run->n_ranks && is_told; r++) {
		bool has_ops = job->run->ranks[r].n_ops > 0; /* else it is as if not captured */
		is_told = !has_ops || job->bare_ns[r] != NULL;
		has_some |= has_ops;
		n_steps = fmax(n_steps, job->n_steps[r]);
	}
	if (!is_told || !has_some) {
		return FSL_OK;
	}
	enum fsl_status status = build(&graph, job, err);
	FSL_THEN(status, replay(&captured_ns, &graph, &none, err));
	for (size_t k = 0; k < n && status == FSL_OK; k++) {
		status = replay(&changed_ns, &graph, &changes[k], err);
		saved_ms[k] = (captured_ns - changed_ns) / FSL_NS_PER_MS / n_steps;
	}
	fsl_arena_fini(&graph.arena);
	return status;
}
