/* The model of the job: which ranks compute and which wait for which, step after step; collectives,
 * hand-overs between stages, gradients. */
#include <math.h>
#include <stdio.h>

#include <gsl/gsl_randist.h>

#include "base/number.h"
#include "sim/lane.h"
#include "sim/program.h"

/* Ranks that run in lock step: one stage of the replicas that share experts. */
struct cell {
	int32_t stage, block; /* replicas block * ep .. block * ep + ep - 1 */
	size_t next;          /* next action of the plan */
	/* Interleaved schedule: time at which each rank's message was ready, [(direction * chunks +
	 * chunk) * micro_batches + micro-batch] * width; -1: not sent. */
	int64_t *mail_ns;
};

struct job {
	const struct fsl_sim_params *params;
	const struct fsl_sim_sink *sink; /* NULL: nothing is written */
	int32_t n_ranks, step;
	int32_t number; /* of the step; behind a restart below its place */
	struct fsl_sim_lane *lanes;
	struct fsl_sim_plan *plans;
	struct cell *cells;      /* [block * pp + stage] */
	int32_t n_blocks, width; /* width: number of ranks of a cell */
	double *lengths;         /* [replica * micro_batches + micro-batch], factor on the work */
	gsl_rng **streams;       /* random streams of the lengths, one per replica */
	const char **groups;     /* names of communicators by number; NULL: not used so far */
	struct fsl_arena *names; /* arena of these names */
	struct fsl_sim_net net;
	int32_t *members;  /* scratch, as many as the largest group */
	int64_t *ready_ns; /* [rank * buckets + bucket]: time at which overlapped
			      gradients are ready */
	int64_t last_ns;
	struct fsl_error *err;
	enum fsl_status status; /* first failure; all later calls do nothing */
};

/* Facts about one operator. */
struct traffic {
	const char *name;
	uint64_t n_elements;
	double transfer_ms;
	const char *group;
	uint32_t group_no;
};

/* Kinds of communicators. Each kind has its own numbers, n_ranks of them, pairs twice as many. */
enum group_kind { GROUP_TENSOR, GROUP_DATA, GROUP_EXPERTS, GROUP_PAIRS, GROUP_KINDS_N };
_Static_assert((int)GROUP_KINDS_N + 1 <= (int)FSL_SIM_GROUPS_PER_RANK, "numbers of communicators");

static int32_t rank_at(const struct fsl_sim_params *params, int32_t stage, int32_t replica,
		       int32_t shard)
{
	return (stage * params->dp + replica) * params->tp + shard;
}

/* The @i-th rank of a cell, by replica, then shard. */
static int32_t cell_rank(const struct job *job, const struct cell *cell, int32_t i)
{
	const struct fsl_sim_params *params = job->params;
	int32_t replica = cell->block * params->ep + i / params->tp;
	return rank_at(params, cell->stage, replica, i % params->tp);
}

/* Keeps the first failure. */
static void note_status(struct job *job, enum fsl_status status)
{
	job->status = job->status == FSL_OK ? status : job->status;
}

static void draft(struct job *job, int32_t rank, const struct traffic *traffic, int64_t begin_ns,
		  int64_t end_ns)
{
	struct fsl_sim_lane *lane = &job->lanes[rank];
	if (job->sink == NULL || begin_ns == FSL_SIM_NEVER) {
		lane->n_ops += begin_ns != FSL_SIM_NEVER;
		return;
	}
	struct fsl_sim_draft op = {.name = traffic->name,
				   .group = traffic->group,
				   .group_no = traffic->group_no,
				   .n_elements = traffic->n_elements,
				   .begin_ns = begin_ns,
				   .end_ns = end_ns};
	note_status(job, fsl_sim_lane_put_op(lane, &op, job->err));
}

/* Sets communicator number @idx of its kind, named from @a, @b and, if @c >= 0, @c. */
static void set_group(struct job *job, struct traffic *traffic, enum group_kind kind, int32_t idx,
		      int32_t a, int32_t b, int32_t c)
{
	static const char *const letters[GROUP_KINDS_N] = {"t", "d", "e", "p"};
	uint32_t no = (uint32_t)kind * (uint32_t)job->n_ranks + (uint32_t)idx;
	if (job->groups[no] == NULL && job->sink != NULL) {
		job->groups[no] = c >= 0 ? fsl_arena_printf(job->names, "%s%d_%d_%d", letters[kind],
							    (int)a, (int)b, (int)c)
				  : a >= 0 ? fsl_arena_printf(job->names, "%s%d_%d", letters[kind],
							      (int)a, (int)b)
					   : fsl_arena_printf(job->names, "pp_%d", (int)b);
		if (job->groups[no] == NULL) {
			note_status(job, FSL_FAIL(job->err, FSL_ERR_MEMORY,
						  "out of memory: group=%u", (unsigned)no));
		}
	}
	traffic->group = job->groups[no];
	traffic->group_no = no;
}

/*
 * Runs an operator, which ends on all members when the last has arrived and the transfer is done.
 */
static void communicate(struct job *job, const int32_t *members, int32_t n_members,
			const struct traffic *traffic)
{
	int64_t arrived_ns = INT64_MIN;
	for (int32_t i = 0; i < n_members; i++) {
		arrived_ns = fsl_sim_later(arrived_ns, job->lanes[members[i]].now_ns);
	}
	int64_t dur_ns = fsl_sim_transfer_ns(&job->net, job->lanes[members[0]].net, members,
					     n_members, traffic->transfer_ms);
	int64_t end_ns = fsl_sim_after(arrived_ns, dur_ns);
	for (int32_t i = 0; i < n_members; i++) {
		draft(job, members[i], traffic, job->lanes[members[i]].now_ns, end_ns);
		job->lanes[members[i]].now_ns = end_ns;
	}
}

static struct traffic make_traffic(const char *name, uint64_t n_elements, double transfer_ms)
{
	return (struct traffic){.name = name, .n_elements = n_elements, .transfer_ms = transfer_ms};
}

/* Sets the communicator of two neighbours, or of their whole pipeline. */
static void set_p2p_group(struct job *job, struct traffic *traffic, int32_t a, int32_t b)
{
	const struct fsl_sim_params *params = job->params;
	int32_t width = params->dp * params->tp, low = a < b ? a : b, high = a < b ? b : a;
	if (params->p2p_groups == FSL_SIM_PIPELINE_GROUPS) {
		set_group(job, traffic, GROUP_PAIRS, 2 * (low % width), -1, low % width, -1);
	} else {
		bool is_round = high - low != width; /* from the last stage to the first */
		set_group(job, traffic, GROUP_PAIRS, 2 * low + is_round, low, high, -1);
	}
}

static const char *p2p_name(const struct job *job, bool sends)
{
	if (job->params->p2p == FSL_SIM_BATCHED) {
		return "HcclBatchSendRecv";
	}
	return sends ? "HcclSend" : "HcclReceive";
}

/* A rendezvous between the ranks of two neighbouring cells. */
static void exchange(struct job *job, const struct cell *a, const struct cell *b,
		     const struct fsl_sim_action *action)
{
	for (int32_t i = 0; i < job->width; i++) {
		int32_t pair[2] = {cell_rank(job, a, i), cell_rank(job, b, i)};
		struct traffic traffic = make_traffic("", 8388608, job->params->hand_over_ms);
		set_p2p_group(job, &traffic, pair[0], pair[1]);
		int64_t begin_ns[2] = {job->lanes[pair[0]].now_ns, job->lanes[pair[1]].now_ns};
		int64_t dur_ns = fsl_sim_transfer_ns(&job->net, job->lanes[pair[0]].net, pair, 2,
						     traffic.transfer_ms);
		int64_t end_ns = fsl_sim_after(fsl_sim_later(begin_ns[0], begin_ns[1]), dur_ns);
		bool is_both = action->sends && action->receives;
		for (int k = 0; k < 2; k++) {
			bool sends = (k == 0) == action->sends || is_both;
			traffic.name = p2p_name(job, sends);
			draft(job, pair[k], &traffic, begin_ns[k], end_ns);
			if (is_both && job->params->p2p == FSL_SIM_SEND_RECEIVE) {
				traffic.name = p2p_name(job, false);
				draft(job, pair[k], &traffic, begin_ns[k], end_ns);
			}
			job->lanes[pair[k]].now_ns = end_ns;
		}
	}
}

static int64_t *mail_of(const struct job *job, const struct cell *receiver,
			const struct fsl_sim_action *action)
{
	const struct fsl_sim_params *params = job->params;
	int32_t slot = ((action->is_backward ? params->chunks : 0) + action->chunk) *
			       params->micro_batches +
		       action->micro_batch;
	return receiver->mail_ns + (int64_t)slot * job->width;
}

/* The cell that takes part in @action with this one. */
static struct cell *peer_of(const struct job *job, const struct cell *cell,
			    const struct fsl_sim_action *action)
{
	return &job->cells[cell->block * job->params->pp + action->peer];
}

/* Asynchronous send: the sender does not wait for the message. */
static void send_mail(struct job *job, const struct cell *cell, const struct fsl_sim_action *action)
{
	int64_t *mail_ns = mail_of(job, peer_of(job, cell, action), action);
	for (int32_t i = 0; i < job->width; i++) {
		mail_ns[i] = job->lanes[cell_rank(job, cell, i)].now_ns;
	}
}

/* Receives a message; false if it has not been sent yet. */
static bool receive_mail(struct job *job, const struct cell *cell,
			 const struct fsl_sim_action *action)
{
	int64_t *mail_ns = mail_of(job, cell, action);
	if (mail_ns[0] < 0) {
		return false;
	}
	const struct cell *sender = peer_of(job, cell, action);
	for (int32_t i = 0; i < job->width; i++) {
		int32_t pair[2] = {cell_rank(job, sender, i), cell_rank(job, cell, i)};
		struct traffic traffic = make_traffic("", 8388608, job->params->hand_over_ms);
		set_p2p_group(job, &traffic, pair[0], pair[1]);
		int64_t dur_ns = fsl_sim_transfer_ns(&job->net, job->lanes[pair[0]].net, pair, 2,
						     traffic.transfer_ms);
		int64_t begin_ns = job->lanes[pair[1]].now_ns;
		int64_t end_ns = fsl_sim_after(fsl_sim_later(mail_ns[i], begin_ns), dur_ns);
		/* Asynchronous messages are single operators: in a batch both sides post. */
		traffic.name = "HcclSend";
		draft(job, pair[0], &traffic, mail_ns[i], end_ns);
		traffic.name = "HcclReceive";
		draft(job, pair[1], &traffic, begin_ns, end_ns);
		job->lanes[pair[1]].now_ns = end_ns;
		mail_ns[i] = -1;
	}
	return true;
}

/* Runs one collective of the tensor-parallel ranks in each replica of a cell. */
static void meet_shards(struct job *job, const struct cell *cell, const char *name,
			uint64_t n_elements)
{
	const struct fsl_sim_params *params = job->params;
	struct traffic traffic = make_traffic(name, n_elements, params->transfer_ms);
	for (int32_t e = 0; e < params->ep && params->tp > 1; e++) {
		int32_t replica = cell->block * params->ep + e;
		for (int32_t t = 0; t < params->tp; t++) {
			job->members[t] = rank_at(params, cell->stage, replica, t);
		}
		set_group(job, &traffic, GROUP_TENSOR, cell->stage * params->dp + replica,
			  cell->stage, replica, -1);
		communicate(job, job->members, params->tp, &traffic);
	}
}

/* Sends tokens to the experts and back: each shard meets its like in the block's other replicas. */
static void meet_experts(struct job *job, const struct cell *cell)
{
	const struct fsl_sim_params *params = job->params;
	struct traffic traffic = make_traffic("HcclAlltoAllV", 16777216, 2.0 * params->transfer_ms);
	for (int32_t t = 0; t < params->tp && params->ep > 1; t++) {
		for (int32_t e = 0; e < params->ep; e++) {
			job->members[e] =
				rank_at(params, cell->stage, cell->block * params->ep + e, t);
		}
		set_group(job, &traffic, GROUP_EXPERTS,
			  (cell->stage * job->n_blocks + cell->block) * params->tp + t, cell->stage,
			  cell->block, t);
		communicate(job, job->members, params->ep, &traffic);
	}
}

/* Allreduce of one bucket over the replicas; under overlap it runs beside the backward passes. */
static void reduce(struct job *job, int32_t stage_idx, int32_t shard, int32_t bucket)
{
	const struct fsl_sim_params *params = job->params;
	struct traffic traffic = make_traffic("HcclAllreduce", 1048576 + (uint64_t)bucket,
					      params->reduce_ms / params->buckets);
	set_group(job, &traffic, GROUP_DATA, stage_idx * params->tp + shard, stage_idx, shard, -1);
	for (int32_t d = 0; d < params->dp; d++) {
		job->members[d] = rank_at(params, stage_idx, d, shard);
	}
	if (!params->overlap) {
		communicate(job, job->members, params->dp, &traffic);
		return;
	}
	/*
	 * A stream runs its operators one after the other, so a bucket waits for the one before it.
	 */
	int64_t begin_ns = INT64_MIN;
	for (int32_t d = 0; d < params->dp; d++) {
		int64_t *ready_ns = &job->ready_ns[(int64_t)job->members[d] * params->buckets];
		if (bucket > 0) {
			ready_ns[bucket] = fsl_sim_later(ready_ns[bucket], ready_ns[bucket - 1]);
		}
		begin_ns = fsl_sim_later(begin_ns, ready_ns[bucket]);
	}
	int64_t dur_ns = fsl_sim_transfer_ns(&job->net, job->lanes[job->members[0]].net,
					     job->members, params->dp, traffic.transfer_ms);
	int64_t end_ns = fsl_sim_after(begin_ns, dur_ns);
	for (int32_t d = 0; d < params->dp; d++) {
		struct fsl_sim_lane *lane = &job->lanes[job->members[d]];
		int64_t *ready_ns = &job->ready_ns[(int64_t)job->members[d] * params->buckets];
		draft(job, job->members[d], &traffic, ready_ns[bucket], end_ns);
		ready_ns[bucket] = end_ns;
		if (bucket == params->buckets - 1) {
			lane->now_ns = fsl_sim_later(lane->now_ns, end_ns);
		}
	}
}

/* Allreduce of all buckets over the replicas. */
static void reduce_gradients(struct job *job)
{
	const struct fsl_sim_params *params = job->params;
	for (int32_t s = 0; s < params->pp && params->dp > 1; s++) {
		for (int32_t t = 0; t < params->tp; t++) {
			for (int32_t b = 0; b < params->buckets; b++) {
				reduce(job, s, t, b);
			}
		}
	}
}

/* The first operator of a job: all ranks meet. */
static void meet_all(struct job *job)
{
	struct traffic traffic = make_traffic("HcclAllreduce", 1024, 0.5);
	traffic.group = "world";
	traffic.group_no = (GROUP_KINDS_N + 1) * (uint32_t)job->n_ranks;
	for (int32_t r = 0; r < job->n_ranks; r++) {
		job->members[r] = r;
	}
	job->step = job->net.step = -1; /* no fault before the first step */
	communicate(job, job->members, job->n_ranks, &traffic);
}

enum { STREAM_LENGTHS = 100, FORWARD_PARTS = 1, BACKWARD_PARTS = 2 };

static void stage(struct job *job, int32_t rank, enum fsl_stage_kind kind, int64_t begin_ns)
{
	if (job->sink != NULL) {
		note_status(job, fsl_sim_lane_put_stage(&job->lanes[rank], job->number, kind,
							begin_ns, job->err));
	}
}

/* Takes the pauses that are due before this pass. */
static void pause_lanes(struct job *job, const struct cell *cell)
{
	for (int32_t i = 0; i < job->width; i++) {
		int32_t rank = cell_rank(job, cell, i);
		struct fsl_sim_lane *lane = &job->lanes[rank];
		if (lane->n_passes++ != lane->pause_at || lane->now_ns == FSL_SIM_NEVER) {
			continue;
		}
		lane->now_ns += (int64_t)((lane->pause_ms[0] + lane->stall_ms) * FSL_NS_PER_MS);
		int64_t begin_ns = lane->now_ns;
		lane->now_ns += (int64_t)(lane->pause_ms[1] * FSL_NS_PER_MS);
		if (lane->now_ns > begin_ns) {
			stage(job, rank, FSL_STAGE_GC, begin_ns);
		}
	}
}

static void work_cell(struct job *job, const struct cell *cell, double ms, int32_t micro_batch)
{
	const struct fsl_sim_params *params = job->params;
	double warm = fsl_sim_warm_up(params, job->step);
	for (int32_t i = 0; i < job->width; i++) {
		int32_t replica = cell->block * params->ep + i / params->tp;
		double length = job->lengths[replica * params->micro_batches + micro_batch];
		fsl_sim_lane_work(&job->lanes[cell_rank(job, cell, i)], params, ms, warm * length);
	}
}

/* Under overlap the gradients of bucket b are ready when the last backward pass has done that
 * bucket's share of its layers, and at least one layer. */
static void mark_ready(struct job *job, const struct cell *cell, int32_t n_done, int32_t n_all)
{
	const struct fsl_sim_params *params = job->params;
	for (int32_t b = 0; b < params->buckets; b++) {
		int32_t share = (b + 1) * n_all / params->buckets, due = share > 1 ? share : 1;
		for (int32_t i = 0; i < job->width && due == n_done; i++) {
			int32_t rank = cell_rank(job, cell, i);
			job->ready_ns[(int64_t)rank * params->buckets + b] =
				job->lanes[rank].now_ns;
		}
	}
}

static void pass(struct job *job, const struct cell *cell, const struct fsl_sim_action *action)
{
	const struct fsl_sim_params *params = job->params;
	bool is_forward = action->kind == FSL_SIM_PASS_FORWARD;
	int32_t n_pieces = 2 * params->pairs;
	double share = (is_forward ? FORWARD_PARTS : BACKWARD_PARTS) /
		       (double)(FORWARD_PARTS + BACKWARD_PARTS);
	double piece_ms =
		params->step_ms * share / params->micro_batches / params->chunks / n_pieces;
	bool is_last = !is_forward && action->micro_batch == params->micro_batches - 1 &&
		       action->chunk == 0;
	for (int32_t i = 0; i < job->width; i++) {
		struct fsl_sim_lane *lane = &job->lanes[cell_rank(job, cell, i)];
		lane->pass_begin_ns = lane->now_ns;
	}
	pause_lanes(job, cell);
	for (int32_t k = 0; k < n_pieces; k++) {
		work_cell(job, cell, piece_ms, action->micro_batch);
		bool is_gather = k % 2 == 0;
		meet_shards(job, cell, is_gather ? "HcclAllGather" : "HcclReduceScatter",
			    is_gather ? 4194304 : 33554432);
		if (!is_gather) {
			meet_experts(job, cell);
		}
		if (is_last) {
			mark_ready(job, cell, k + 1, n_pieces);
		}
	}
	for (int32_t i = 0; i < job->width; i++) {
		int32_t rank = cell_rank(job, cell, i);
		stage(job, rank, is_forward ? FSL_STAGE_FORWARD : FSL_STAGE_BACKWARD,
		      job->lanes[rank].pass_begin_ns);
	}
}

/* Takes one action if it is possible now; false: the cell waits for another cell. */
static bool act(struct job *job, struct cell *cell)
{
	const struct fsl_sim_plan *plan = &job->plans[cell->stage];
	const struct fsl_sim_action *action = &plan->actions[cell->next];
	struct cell *peer = NULL;
	switch (action->kind) {
	case FSL_SIM_PASS_FORWARD:
	case FSL_SIM_PASS_BACKWARD:
		pass(job, cell, action);
		break;
	case FSL_SIM_EXCHANGE: {
		peer = peer_of(job, cell, action);
		const struct fsl_sim_plan *theirs = &job->plans[peer->stage];
		bool is_there = peer->next < theirs->n_actions &&
				theirs->actions[peer->next].kind == FSL_SIM_EXCHANGE &&
				theirs->actions[peer->next].peer == cell->stage;
		if (!is_there) {
			return false;
		}
		exchange(job, cell, peer, action);
		peer->next++;
		break;
	}
	case FSL_SIM_SEND:
		send_mail(job, cell, action);
		break;
	case FSL_SIM_RECEIVE:
		if (!receive_mail(job, cell, action)) {
			return false;
		}
		break;
	}
	cell->next++;
	return true;
}

/* Runs all stages of one block of replicas, each as far as possible, until all are done. */
static void run_block(struct job *job, int32_t block)
{
	const struct fsl_sim_params *params = job->params;
	struct cell *cells = &job->cells[block * params->pp];
	bool is_moving = true;
	for (int32_t s = 0; s < params->pp; s++) {
		cells[s].next = 0;
	}
	while (is_moving && job->status == FSL_OK) {
		is_moving = false;
		for (int32_t s = 0; s < params->pp; s++) {
			while (cells[s].next < job->plans[s].n_actions && act(job, &cells[s])) {
				is_moving = true;
			}
		}
	}
	for (int32_t s = 0; s < params->pp; s++) {
		if (cells[s].next < job->plans[s].n_actions && job->status == FSL_OK) {
			note_status(job,
				    FSL_FAIL(job->err, FSL_ERR_INTERNAL,
					     "the schedule waits for itself: stage=%d, action=%zu",
					     (int)s, cells[s].next));
		}
	}
}

/* Draws the lengths of this step's micro-batches. */
static void draw_lengths(struct job *job)
{
	const struct fsl_sim_params *params = job->params;
	double sigma = fsl_sim_length_sigma(&job->net);
	for (int32_t i = 0; i < params->dp * params->micro_batches; i++) {
		job->lengths[i] = fsl_sim_length(job->streams[i / params->micro_batches], sigma);
	}
}

static void load_data(struct job *job, int32_t rank)
{
	struct fsl_sim_lane *lane = &job->lanes[rank];
	int64_t begin_ns = lane->now_ns;
	fsl_sim_lane_load(lane, job->params);
	stage(job, rank, FSL_STAGE_DATALOADER, begin_ns);
	lane->now_ns = fsl_sim_after(lane->now_ns, (int64_t)(lane->stand_ms * FSL_NS_PER_MS));
}

static bool is_due(const struct job *job, int32_t period)
{
	return period > 0 && (job->number + 1) % period == 0;
}

/* Returns how long the rank saved. */
static int64_t finish_step(struct job *job, int32_t rank)
{
	const struct fsl_sim_params *params = job->params;
	struct fsl_sim_lane *lane = &job->lanes[rank];
	int64_t begin_ns = lane->now_ns;
	fsl_sim_lane_work(lane, params, params->optimizer_ms, 1.0);
	stage(job, rank, FSL_STAGE_OPTIMIZER, begin_ns);
	if (is_due(job, params->ckpt_period) && lane->now_ns != FSL_SIM_NEVER) {
		begin_ns = lane->now_ns;
		fsl_sim_lane_save(lane, params);
		stage(job, rank, FSL_STAGE_CKPT, begin_ns);
		return lane->now_ns - begin_ns;
	}
	return 0;
}

/* Forward passes of all cells, without hand-overs. */
static void evaluate(struct job *job)
{
	const struct fsl_sim_params *params = job->params;
	int32_t n_pieces = 2 * params->pairs, n_cells = job->n_blocks * params->pp;
	for (int32_t k = 0; k < n_pieces * n_cells; k++) {
		const struct cell *cell = &job->cells[k / n_pieces];
		work_cell(job, cell, params->evaluation_ms / n_pieces, 0);
		meet_shards(job, cell, "HcclAllGather", 4194304);
	}
}

/* All ranks end, and begin again together, with the ids of new processes. */
static void restart(struct job *job)
{
	int64_t last_ns = INT64_MIN;
	double stand_ms = 0.0;
	bool does_restart = false;
	for (size_t f = 0; f < job->params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &job->params->faults[f];
		bool is_now = fault->kind == FSL_SIM_RESTART && fault->onset_step == job->step &&
			      (job->net.active >> f & 1) != 0;
		stand_ms += is_now ? fault->extra_ms : 0.0;
		does_restart |= is_now;
	}
	for (int32_t r = 0; r < job->n_ranks; r++) {
		last_ns = fsl_sim_later(last_ns, job->lanes[r].now_ns);
	}
	for (int32_t r = 0; r < job->n_ranks && does_restart; r++) {
		job->lanes[r].now_ns = fsl_sim_after(last_ns, (int64_t)(stand_ms * FSL_NS_PER_MS));
		job->lanes[r].n_ops_before = job->lanes[r].n_ops;
	}
}

static void flush(struct job *job)
{
	for (int32_t r = 0; r < job->n_ranks && job->sink != NULL && job->status == FSL_OK; r++) {
		note_status(job, fsl_sim_lane_flush(&job->lanes[r], job->params, job->sink, r,
						    &job->last_ns, job->err));
	}
}

static void run_step(struct job *job, const struct fsl_sim_clock *out)
{
	const struct fsl_sim_lane *first = &job->lanes[0];
	job->net.step = job->step;
	job->number = fsl_sim_step_number(job->params, job->net.active, job->step);
	restart(job);
	out->step_begin_ns[job->step] = first->now_ns;
	for (int32_t r = 0; r < job->n_ranks; r++) {
		fsl_sim_lane_prepare(&job->lanes[r], job->params, r, job->step,
				     job->net.active & job->net.struck[r]);
		load_data(job, r);
	}
	draw_lengths(job);
	for (int32_t b = 0; b < job->n_blocks; b++) {
		run_block(job, b);
	}
	reduce_gradients(job);
	for (int32_t r = 0; r < job->n_ranks; r++) {
		int64_t saved_ns = finish_step(job, r);
		out->save_ns[job->step] = r == 0 ? saved_ns : out->save_ns[job->step];
	}
	int64_t trained_ns = first->now_ns;
	if (is_due(job, job->params->evaluation_period)) {
		evaluate(job);
	}
	out->evaluation_ns[job->step] = first->now_ns - trained_ns;
	out->step_end_ns[job->step] = first->now_ns;
	flush(job);
}

static bool has_hung(const struct job *job)
{
	for (int32_t r = 0; r < job->n_ranks; r++) {
		if (job->lanes[r].now_ns == FSL_SIM_NEVER) {
			return true;
		}
	}
	return false;
}

static enum fsl_status job_init(struct job *job, struct fsl_arena *arena)
{
	const struct fsl_sim_params *params = job->params;
	job->n_ranks = fsl_sim_n_ranks(params);
	job->n_blocks = params->dp / params->ep;
	job->width = params->ep * params->tp;
	size_t n = (size_t)job->n_ranks, n_cells = (size_t)job->n_blocks * (size_t)params->pp;
	size_t n_mail =
		2 * (size_t)params->chunks * (size_t)params->micro_batches * (size_t)job->width;
	job->cells = fsl_arena_alloc(arena, n_cells * sizeof(*job->cells));
	job->lengths = fsl_arena_alloc(arena, (size_t)params->dp * (size_t)params->micro_batches *
						      sizeof(*job->lengths));
	job->streams = fsl_arena_alloc(arena, (size_t)params->dp * sizeof(gsl_rng *));
	job->members = fsl_arena_alloc(arena, n * sizeof(*job->members));
	job->ready_ns =
		fsl_arena_alloc(arena, n * (size_t)params->buckets * sizeof(*job->ready_ns));
	job->groups = fsl_arena_alloc(arena, FSL_SIM_GROUPS_PER_RANK * n * sizeof(char *));
	bool is_complete = job->cells != NULL && job->lengths != NULL && job->streams != NULL &&
			   job->members != NULL && job->ready_ns != NULL && job->groups != NULL;
	for (size_t c = 0; c < n_cells && is_complete; c++) {
		job->cells[c].stage = (int32_t)(c % (size_t)params->pp);
		job->cells[c].block = (int32_t)(c / (size_t)params->pp);
		if (params->schedule == FSL_SIM_INTERLEAVED) {
			job->cells[c].mail_ns =
				fsl_arena_alloc(arena, n_mail * sizeof(*job->cells[c].mail_ns));
			is_complete = job->cells[c].mail_ns != NULL;
			for (size_t i = 0; i < n_mail && is_complete; i++) {
				job->cells[c].mail_ns[i] = -1;
			}
		}
	}
	for (int32_t d = 0; d < params->dp && is_complete; d++) {
		job->streams[d] = fsl_sim_stream(params, d, STREAM_LENGTHS);
		is_complete = job->streams[d] != NULL;
	}
	return is_complete ? FSL_OK
			   : FSL_FAIL(job->err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
}

enum fsl_status fsl_sim_clock_init(struct fsl_sim_clock *clock, const struct fsl_sim_params *params,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n = (size_t)params->steps + 1;
	*clock = (struct fsl_sim_clock){.last_ns = FSL_NS_ABSENT};
	FSL_TRY(FSL_ARENA_NEW(clock->step_begin_ns, arena, n, "steps", err));
	FSL_TRY(FSL_ARENA_NEW(clock->step_end_ns, arena, n, "steps", err));
	FSL_TRY(FSL_ARENA_NEW(clock->save_ns, arena, n, "steps", err));
	return FSL_ARENA_NEW(clock->evaluation_ns, arena, n, "steps", err);
}

enum fsl_status fsl_sim_run(const struct fsl_sim_params *params, uint32_t active,
			    const struct fsl_sim_sink *sink, struct fsl_arena *arena,
			    struct fsl_sim_clock *out, struct fsl_error *err)
{
	if (params->family != FSL_SIM_SYNCHRONOUS) {
		return fsl_sim_run_streams(params, active, sink, arena, out, err);
	}
	struct fsl_arena scratch = {0};
	struct job job = {.params = params,
			  .sink = sink,
			  .names = arena,
			  .last_ns = FSL_NS_ABSENT,
			  .err = err};
	enum fsl_status status = fsl_sim_params_check(params, err);
	FSL_THEN(status, fsl_sim_clock_init(out, params, arena, err));
	FSL_THEN(status, job_init(&job, &scratch));
	FSL_THEN(status, fsl_sim_net_init(&job.net, params, active, &scratch, err));
	FSL_THEN(status, fsl_sim_plans_build(&job.plans, params, &scratch, err));
	FSL_THEN(status, fsl_sim_lanes_create(&job.lanes, params, err));
	if (status != FSL_OK) {
		goto out;
	}
	meet_all(&job);
	flush(&job);
	bool is_over = false;
	for (job.step = 0; job.step < params->steps && !is_over && job.status == FSL_OK;
	     job.step++) {
		run_step(&job, out);
		out->n_steps = job.step + 1;
		is_over = has_hung(&job);
	}
	out->step_begin_ns[out->n_steps] = job.lanes[0].now_ns;
	out->last_ns = job.last_ns;
	for (int32_t r = 0; r < job.n_ranks; r++) {
		out->n_ops += job.lanes[r].n_ops;
	}
	status = job.status;
out:
	for (int32_t d = 0; job.streams != NULL && d < params->dp; d++) {
		if (job.streams[d] != NULL) {
			gsl_rng_free(job.streams[d]);
		}
	}
	fsl_sim_lanes_destroy(job.lanes, job.n_ranks);
	fsl_arena_fini(&scratch);
	return status;
}
