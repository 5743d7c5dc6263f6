/* Families of jobs: the program of a step for each way in which communication overlaps compute. */
#include <stdio.h>
#include <string.h>

#include "sim/program.h"

enum { NONE = FSL_SIM_NO_CALL, ELEMENTS_PER_MS = 5000000, LAYERS_MAX = 64, CHUNKS_MAX = 64 };
static const double FORWARD_SHARE = 1.0 / 3.0;
static const double TINY_MS = 0.1; /* Allreduce of one number */

static int32_t put(struct fsl_sim_program *program, const struct fsl_sim_call *call)
{
	if (program->status == FSL_OK) {
		program->status = FSL_APPEND(program, calls, call, program->err);
	}
	return (int32_t)program->n_calls - 1;
}

/* Own work of a micro-batch behind call @after. */
static int32_t work(struct fsl_sim_program *program, double ms, int32_t micro_batch, int32_t after)
{
	return put(program, &(struct fsl_sim_call){.stream = FSL_SIM_MAIN,
						   .after = {after, NONE},
						   .ms = ms,
						   .uneven = FSL_SIM_BY_LENGTH,
						   .micro_batch = micro_batch});
}

int32_t fsl_sim_group_size(const struct fsl_sim_params *params, enum fsl_sim_group group)
{
	int32_t n_ranks = fsl_sim_n_ranks(params), per_host = params->ranks_per_host;
	const int32_t sizes[FSL_SIM_GROUPS_N] = {
		[FSL_SIM_WORLD] = n_ranks,
		[FSL_SIM_TENSOR] = params->tp,
		[FSL_SIM_DATA] = params->dp,
		[FSL_SIM_REPLICAS] = params->dp * params->tp,
		[FSL_SIM_EXPERTS] = params->ep,
		[FSL_SIM_HOST_RANKS] = per_host,
		[FSL_SIM_ACROSS] = n_ranks / per_host,
		[FSL_SIM_PAIR] = 2,
		[FSL_SIM_PIPELINE] = 2,
	};
	return sizes[group];
}

/* Index of the rank's communicator among those of its kind. */
static int32_t group_idx_of(const struct fsl_sim_params *params, enum fsl_sim_group group,
			    int32_t rank)
{
	int32_t width = params->tp * params->dp, stage = rank / width, shard = rank % params->tp;
	int32_t replica = rank / params->tp % params->dp;
	const int32_t idx[FSL_SIM_GROUPS_N] = {
		[FSL_SIM_TENSOR] = rank / params->tp,
		[FSL_SIM_DATA] = stage * params->tp + shard,
		[FSL_SIM_REPLICAS] = stage,
		[FSL_SIM_EXPERTS] =
			(stage * params->dp + replica / params->ep) * params->tp + shard,
		[FSL_SIM_HOST_RANKS] = rank / params->ranks_per_host,
		[FSL_SIM_ACROSS] = rank % params->ranks_per_host,
		[FSL_SIM_PIPELINE] = rank % width,
	};
	return idx[group];
}

/* An operator of a group behind call @after; a group of one rank needs none. */
static int32_t meet(struct fsl_sim_program *program, enum fsl_sim_stream stream,
		    enum fsl_sim_group group, const char *name, double ms, int32_t after)
{
	if (fsl_sim_group_size(program->params, group) < 2) {
		return after;
	}
	uint64_t n_elements = (uint64_t)(ms * ELEMENTS_PER_MS);
	return put(program, &(struct fsl_sim_call){.name = name,
						   .stream = stream,
						   .after = {after, NONE},
						   .ms = ms,
						   .group = group,
						   .group_idx = group_idx_of(program->params, group,
									     program->rank),
						   .use = program->n_uses[group]++,
						   .n_elements = ms == TINY_MS ? 1 : n_elements});
}

/* The end of a step: a norm of all gradients if @has_norm, then the optimizer. */
static void finish(struct fsl_sim_program *program, int32_t last, bool has_norm)
{
	if (has_norm) {
		last = meet(program, FSL_SIM_SIDE, FSL_SIM_WORLD, "HcclAllreduce", TINY_MS, last);
	}
	put(program, &(struct fsl_sim_call){.stream = FSL_SIM_MAIN,
					    .after = {last, NONE},
					    .ms = program->params->optimizer_ms});
}

/*
 * Parameters of each layer are gathered one layer ahead, and gradients are scattered behind it
 * (FSDP, ZeRO-3). @scatter: the stream of the gradients. With @has_copies the shards lie in one
 * host and their gradients are reduced between hosts.
 */
static void build_sharded(struct fsl_sim_program *program, enum fsl_sim_stream scatter,
			  bool has_copies)
{
	const struct fsl_sim_params *params = program->params;
	enum fsl_sim_group shards = has_copies ? FSL_SIM_HOST_RANKS : FSL_SIM_DATA;
	int32_t n = params->layers, last = NONE, before = NONE;
	double ms = params->step_ms / params->micro_batches / n;
	for (int32_t m = 0; m < params->micro_batches; m++) {
		int32_t next = meet(program, FSL_SIM_SIDE, shards, "HcclAllGather",
				    params->transfer_ms, NONE);
		/* Forward through the layers, then back; the last layer stays gathered. */
		for (int32_t i = 0; i < (program->is_evaluation ? n : 2 * n); i++) {
			int32_t gathered = next;
			bool is_forward = i < n;
			if (i + 1 < 2 * n && i != n - 1) {
				next = meet(program, FSL_SIM_SIDE, shards, "HcclAllGather",
					    params->transfer_ms, before);
			}
			before = last;
			last = work(program, ms * (is_forward ? FORWARD_SHARE : 1 - FORWARD_SHARE),
				    m, gathered);
			if (is_forward) {
				continue;
			}
			int32_t scattered = meet(program, scatter, shards, "HcclReduceScatter",
						 params->transfer_ms, last);
			if (has_copies) {
				meet(program, FSL_SIM_SIDE_3, FSL_SIM_ACROSS, "HcclAllreduce",
				     params->reduce_ms / n, scattered);
			}
		}
	}
	if (!program->is_evaluation) {
		finish(program, (int32_t)program->n_calls - 1, true);
	}
}

static void build_fsdp(struct fsl_sim_program *program)
{
	build_sharded(program, FSL_SIM_SIDE_2, false);
}

static void build_fsdp1(struct fsl_sim_program *program)
{
	build_sharded(program, FSL_SIM_SIDE, false);
}

static void build_hsdp(struct fsl_sim_program *program)
{
	build_sharded(program, FSL_SIM_SIDE_2, true);
}

/* Gradients are summed over the micro-batches; in the last, each bucket is reduced beneath the
 * backward pass as soon as its layers are done (DDP). */
static void build_accumulated(struct fsl_sim_program *program)
{
	const struct fsl_sim_params *params = program->params;
	int32_t n = params->layers, n_micro = params->micro_batches, last = NONE, bucket = 0;
	double ms = params->step_ms / n_micro / n;
	for (int32_t m = 0; m < n_micro; m++) {
		for (int32_t i = 0; i < (program->is_evaluation ? n : 2 * n); i++) {
			last = work(program, ms * (i < n ? FORWARD_SHARE : 1 - FORWARD_SHARE), m,
				    NONE);
			/* The layers behind a bucket: its share, and at least one. */
			int32_t due = (bucket + 1) * n / params->buckets;
			while (m == n_micro - 1 && i >= n && bucket < params->buckets &&
			       i - n + 1 >= due) {
				double share = bucket == 0 ? 0.6 : 1.0;
				last = meet(program, FSL_SIM_SIDE, FSL_SIM_DATA, "HcclAllreduce",
					    share * params->reduce_ms / params->buckets, last);
				due = (++bucket + 1) * n / params->buckets;
			}
		}
	}
	if (!program->is_evaluation) {
		finish(program, last, false);
	}
}

/* The newest call ends with the neighbours of the rank. */
static void make_ring(struct fsl_sim_program *program)
{
	if (program->status == FSL_OK) {
		program->calls[program->n_calls - 1].is_ring = true;
	}
}

/* Keys and values go round a ring of the tensor ranks in batched sends, each beneath the part of
 * the attention that it does not hold up; gradients are scattered at the end, parameters gathered
 * at the begin of a step. */
static void build_ring(struct fsl_sim_program *program)
{
	const struct fsl_sim_params *params = program->params;
	int32_t n = params->layers, n_ring = params->tp, last = NONE;
	double ms = params->step_ms / n / n_ring;
	int32_t sent = meet(program, FSL_SIM_SIDE_2, FSL_SIM_REPLICAS, "HcclAllGather",
			    0.5 * params->reduce_ms, NONE);
	for (int32_t i = 0; i < (program->is_evaluation ? n : 2 * n); i++) {
		double share = i < n ? FORWARD_SHARE : 1 - FORWARD_SHARE;
		for (int32_t hop = 0; hop < n_ring; hop++) {
			int32_t needed = sent;
			if (hop + 1 < n_ring) {
				sent = meet(program, FSL_SIM_SIDE, FSL_SIM_TENSOR,
					    "HcclBatchSendRecv",
					    params->hand_over_ms * (i < n ? 1 : 2), last);
				make_ring(program);
			}
			last = work(program, ms * share, 0, needed);
		}
	}
	for (int32_t b = 0; b < params->buckets && !program->is_evaluation; b++) {
		last = meet(program, FSL_SIM_SIDE_2, FSL_SIM_REPLICAS, "HcclReduceScatter",
			    params->reduce_ms / params->buckets, last);
	}
	if (!program->is_evaluation) {
		finish(program, last, true);
	}
}

/* A stage of a pipeline while its program is built. */
struct pipeline {
	struct fsl_sim_program *program;
	int32_t stage, n_pieces;                   /* pieces of a pass */
	int32_t gathered[LAYERS_MAX + CHUNKS_MAX]; /* by chunk and piece */
	int32_t last;                              /* end of the newest pass */
	int32_t arrived;                           /* call that the next pass waits for */
	int32_t n_caught_up;
	int32_t n_deferred; /* weight gradients that are left for later (zero bubble) */
	bool defers;
};

/* One pass of a micro-batch over the pieces of a chunk. @share: of the work of a micro-batch. */
static void pass(struct pipeline *line, const struct fsl_sim_action *action, double share)
{
	struct fsl_sim_program *program = line->program;
	const struct fsl_sim_params *params = program->params;
	bool is_forward = action->kind == FSL_SIM_PASS_FORWARD;
	bool is_first = is_forward && action->micro_batch == 0 && !program->is_evaluation;
	bool reduces = !is_forward && action->micro_batch == params->micro_batches - 1;
	double ms =
		params->step_ms * share / params->micro_batches / params->chunks / line->n_pieces;
	line->last = line->arrived;
	for (int32_t i = 0; i < line->n_pieces; i++) {
		int32_t shard = meet(program, FSL_SIM_SIDE, FSL_SIM_TENSOR, "HcclAllGather",
				     params->transfer_ms, line->last);
		line->last = work(program, ms, action->micro_batch, shard);
		if (is_first && program->status == FSL_OK) {
			program->calls[line->last].after[1] =
				line->gathered[action->chunk * line->n_pieces + i];
		}
		if (reduces && !line->defers) {
			meet(program, FSL_SIM_SIDE_2, FSL_SIM_DATA, "HcclReduceScatter",
			     params->reduce_ms / params->chunks / line->n_pieces, line->last);
		}
		line->last = meet(program, FSL_SIM_SIDE, FSL_SIM_TENSOR, "HcclReduceScatter",
				  params->transfer_ms, line->last);
	}
	line->arrived = NONE;
}

/* A rendezvous with the stage before (@side -1) or behind (1), if there is one. */
static void exchange(struct pipeline *line, int32_t side)
{
	struct fsl_sim_program *program = line->program;
	const struct fsl_sim_params *params = program->params;
	int32_t width = params->tp * params->dp, rank = program->rank;
	if (line->stage + side < 0 || line->stage + side >= params->pp) {
		return;
	}
	line->arrived = meet(program, FSL_SIM_SIDE_3, FSL_SIM_PAIR, "HcclBatchSendRecv",
			     params->hand_over_ms, line->last);
	if (program->status == FSL_OK) {
		struct fsl_sim_call *call = &program->calls[line->arrived];
		call->group_idx = side < 0 ? rank - width : rank;
		call->use = program->n_exchanges[side > 0]++;
	}
}

/* A message that is under way while both sides go on. */
static int32_t message(struct pipeline *line, const struct fsl_sim_action *action)
{
	struct fsl_sim_program *program = line->program;
	const struct fsl_sim_params *params = program->params;
	bool sends = action->kind == FSL_SIM_SEND;
	int32_t receiver = sends ? action->peer : line->stage;
	int32_t call = meet(program, FSL_SIM_FREE, FSL_SIM_PIPELINE,
			    sends ? "HcclSend" : "HcclReceive", params->hand_over_ms, line->last);
	if (program->status == FSL_OK) {
		int64_t use = (action->is_backward ? params->chunks : 0) + action->chunk;
		use = use * params->pp + receiver;
		program->calls[call].use = use * params->micro_batches + action->micro_batch;
	}
	return call;
}

/* Weight gradients of deferred backward passes, until @n_left are left. Gradients of the last pass
 * are complete and are scattered piece by piece. */
static void catch_up(struct pipeline *line, int32_t n_left)
{
	struct fsl_sim_program *program = line->program;
	const struct fsl_sim_params *params = program->params;
	double ms = params->step_ms / 3.0 / params->micro_batches;
	for (; line->n_deferred > n_left; line->n_deferred--) {
		bool is_last = ++line->n_caught_up == params->micro_batches * params->chunks;
		int32_t n_pieces = is_last ? line->n_pieces : 1;
		for (int32_t i = 0; i < n_pieces; i++) {
			int32_t done = work(program, ms / params->chunks / n_pieces, 0, NONE);
			if (is_last) {
				meet(program, FSL_SIM_SIDE_2, FSL_SIM_DATA, "HcclReduceScatter",
				     params->reduce_ms / n_pieces, done);
			}
		}
	}
}

/* Posts receives until those of the next two passes are under way; returns the action behind. */
static size_t post_receives(struct pipeline *line, size_t from, size_t here, int32_t *posted)
{
	const struct fsl_sim_plan *plan = line->program->plan;
	int n_passes = 0;
	for (size_t i = here; i < plan->n_actions; i++) {
		enum fsl_sim_action_kind kind = plan->actions[i].kind;
		n_passes += kind == FSL_SIM_PASS_FORWARD || kind == FSL_SIM_PASS_BACKWARD;
		if (i >= from && kind == FSL_SIM_RECEIVE) {
			posted[i] = message(line, &plan->actions[i]);
		}
		if (n_passes == 2) {
			return i > from ? i : from;
		}
	}
	return plan->n_actions;
}

static void run_plan(struct pipeline *line, int32_t *posted)
{
	const struct fsl_sim_plan *plan = line->program->plan;
	/* The last stages send first what the stages before them wait for. */
	int32_t delay = line->stage;
	size_t n_posted = 0;
	for (size_t i = 0; i < plan->n_actions; i++) {
		const struct fsl_sim_action *action = &plan->actions[i];
		n_posted = post_receives(line, n_posted, i, posted);
		switch (action->kind) {
		case FSL_SIM_PASS_FORWARD:
			pass(line, action, FORWARD_SHARE);
			break;
		case FSL_SIM_PASS_BACKWARD:
			pass(line, action, line->defers ? FORWARD_SHARE : 1 - FORWARD_SHARE);
			line->n_deferred += line->defers;
			break;
		case FSL_SIM_EXCHANGE:
			exchange(line, action->peer - line->stage);
			break;
		case FSL_SIM_SEND:
			message(line, action);
			break;
		case FSL_SIM_RECEIVE:
			line->arrived = posted[i];
			break;
		}
		/* While a stage waits for its neighbour, it does what it deferred. */
		if (action->kind == FSL_SIM_EXCHANGE && line->defers) {
			catch_up(line, delay);
		}
	}
}

/* A pipeline by params->schedule, with a distributed optimizer: parameters are gathered beneath the
 * first passes, gradients scattered beneath the last. */
static void build_stage(struct fsl_sim_program *program, bool defers)
{
	const struct fsl_sim_params *params = program->params;
	int32_t n_pieces = params->layers / params->chunks;
	struct pipeline line = {.program = program,
				.stage = program->rank / (params->tp * params->dp),
				.n_pieces = n_pieces > 0 ? n_pieces : 1,
				.last = NONE,
				.arrived = NONE,
				.defers = defers};
	if (program->is_evaluation) {
		for (int32_t m = 0; m < params->micro_batches; m++) {
			struct fsl_sim_action forward = {.kind = FSL_SIM_PASS_FORWARD};
			exchange(&line, -1);
			pass(&line, &forward, FORWARD_SHARE * params->chunks);
			exchange(&line, 1);
		}
		return;
	}
	int32_t n_all = line.n_pieces * params->chunks;
	for (int32_t i = 0; i < n_all; i++) {
		line.gathered[i] = meet(program, FSL_SIM_SIDE_2, FSL_SIM_DATA, "HcclAllGather",
					0.5 * params->reduce_ms / n_all, NONE);
	}
	int32_t *posted = NULL;
	if (program->status == FSL_OK) {
		program->status =
			FSL_NEW(posted, program->plan->n_actions, "actions", program->err);
	}
	if (program->status == FSL_OK) {
		run_plan(&line, posted);
	}
	catch_up(&line, 0);
	finish(program, (int32_t)program->n_calls - 1, true);
	fsl_free(posted);
}

static void build_megatron(struct fsl_sim_program *program)
{
	build_stage(program, false);
}

static void build_zero_bubble(struct fsl_sim_program *program)
{
	build_stage(program, true);
}

/* Tokens go to the experts of other replicas and back in each layer; how many a rank gets differs
 * from step to step. */
static void build_experts(struct fsl_sim_program *program)
{
	const struct fsl_sim_params *params = program->params;
	int32_t n = params->layers, last = NONE;
	for (int32_t i = 0; i < (program->is_evaluation ? n : 2 * n); i++) {
		double share = i < n ? FORWARD_SHARE : 1 - FORWARD_SHARE;
		double ms = share * params->step_ms / n / 2;
		int32_t tokens = meet(program, FSL_SIM_SIDE, FSL_SIM_EXPERTS, "HcclAlltoAllV",
				      params->transfer_ms, work(program, ms, 0, last));
		last = work(program, ms, 0, tokens);
		if (program->status == FSL_OK) {
			program->calls[last].uneven = FSL_SIM_BY_ROUTE;
		}
		last = meet(program, FSL_SIM_SIDE, FSL_SIM_EXPERTS, "HcclAlltoAllV",
			    params->transfer_ms, last);
		if (i >= n) {
			meet(program, FSL_SIM_SIDE_2, FSL_SIM_DATA, "HcclAllreduce",
			     params->reduce_ms / n, last);
		}
	}
	if (!program->is_evaluation) {
		finish(program, (int32_t)program->n_calls - 1, true);
	}
}

static const struct {
	struct fsl_sim_preset preset;
	void (*build)(struct fsl_sim_program *program);
} families[] = {
	{{"none", "synchronous: each rank waits in each operator", ""}, NULL},
	{{"fsdp", "parameters gathered a layer ahead, gradients scattered on a second stream",
	  "tp=1 dp=8 pp=1 transfer_ms=10"},
	 build_fsdp},
	{{"fsdp1", "the same, all communication on one stream", "tp=1 dp=8 pp=1 transfer_ms=10"},
	 build_fsdp1},
	{{"hsdp", "sharded inside each host, gradients reduced between hosts",
	  "tp=1 dp=16 pp=1 transfer_ms=8 reduce_ms=60"},
	 build_hsdp},
	{{"ga", "gradients summed over micro-batches, then reduced in buckets (DDP)",
	  "tp=1 dp=8 pp=1 micro_batches=4 buckets=3 reduce_ms=60"},
	 build_accumulated},
	{{"hostbound", "the same; the host launches about as slowly as the device works",
	  "tp=1 dp=8 pp=1 buckets=3 reduce_ms=40 launch=1 queue=4 item=1"},
	 build_accumulated},
	{{"cp", "context parallel: a ring of batched sends beneath the attention",
	  "tp=4 dp=2 pp=1 layers=3 buckets=3 reduce_ms=30 hand_over_ms=6 sequence=0.03"},
	 build_ring},
	{{"varlen", "as fsdp; the lengths of sequences differ between ranks and steps",
	  "tp=1 dp=8 pp=1 transfer_ms=10 sequence=0.08"},
	 build_fsdp},
	{{"megatron", "1F1B pipeline, tensor parallel, optimizer sharded over replicas",
	  "tp=2 dp=4 pp=2 schedule=1f1b micro_batches=4 layers=2 transfer_ms=2 hand_over_ms=3 "
	  "reduce_ms=40"},
	 build_megatron},
	{{"moe", "mixture of experts: uneven routing in each step",
	  "tp=1 dp=8 pp=1 ep=4 transfer_ms=4 reduce_ms=40 routing=0.1"},
	 build_experts},
	{{"vpp", "interleaved pipeline, receives posted ahead",
	  "tp=1 dp=4 pp=2 schedule=interleaved chunks=2 micro_batches=4 layers=2 hand_over_ms=4 "
	  "reduce_ms=40"},
	 build_megatron},
	{{"zb", "zero-bubble pipeline: weight gradients fill the waits",
	  "tp=1 dp=4 pp=2 schedule=1f1b micro_batches=4 layers=2 hand_over_ms=4 reduce_ms=40"},
	 build_zero_bubble},
};

const struct fsl_sim_preset *fsl_sim_family(int idx)
{
	return (size_t)idx < sizeof(families) / sizeof(families[0]) ? &families[idx].preset : NULL;
}

void fsl_sim_program_build(struct fsl_sim_program *program)
{
	families[program->params->family].build(program);
}
