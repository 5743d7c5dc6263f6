/* Families of jobs: the program of a step for each way in which communication overlaps compute. */
#include <stdio.h>
#include <string.h>

#include "sim/program.h"

enum { NONE = FSL_SIM_NO_CALL, ELEMENTS_PER_MS = 5000000, LAYERS_MAX = 64 };
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
	{{"varlen", "as fsdp; the lengths of sequences differ between ranks and steps",
	  "tp=1 dp=8 pp=1 transfer_ms=10 sequence=0.08"},
	 build_fsdp},
};

const struct fsl_sim_preset *fsl_sim_family(int idx)
{
	return (size_t)idx < sizeof(families) / sizeof(families[0]) ? &families[idx].preset : NULL;
}

void fsl_sim_program_build(struct fsl_sim_program *program)
{
	families[program->params->family].build(program);
}
