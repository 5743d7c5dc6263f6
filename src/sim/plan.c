/*
 * Schedules: the actions of each pipeline stage in a step, in order. GPipe runs all forward passes,
 * then all backward passes. 1F1B and interleaved 1F1B follow Narayanan et al., "Efficient
 * large-scale language model training on GPU clusters using Megatron-LM" (SC21).
 */
#include "sim/sim_parts.h"

struct writer {
	const struct fsl_sim_params *params;
	struct fsl_sim_plan *plan;
	int32_t stage;
};

static void put(struct writer *writer, struct fsl_sim_action action)
{
	writer->plan->actions[writer->plan->n_actions++] = action;
}

static void put_pass(struct writer *writer, bool is_forward, int32_t micro_batch, int32_t chunk)
{
	put(writer, (struct fsl_sim_action){.kind = is_forward ? FSL_SIM_PASS_FORWARD
							       : FSL_SIM_PASS_BACKWARD,
					    .micro_batch = micro_batch,
					    .chunk = chunk});
}

/* Adds a rendezvous with the stage before (@side -1) or behind (+1), if there is one. */
static void put_exchange(struct writer *writer, int32_t side, bool sends, bool receives)
{
	int32_t peer = writer->stage + side;
	if (peer >= 0 && peer < writer->params->pp) {
		put(writer, (struct fsl_sim_action){.kind = FSL_SIM_EXCHANGE,
						    .peer = peer,
						    .sends = sends,
						    .receives = receives});
	}
}

static void plan_gpipe(struct writer *writer)
{
	int32_t n = writer->params->micro_batches;
	for (int32_t i = 0; i < n; i++) {
		put_exchange(writer, -1, false, true);
		put_pass(writer, true, i, 0);
		put_exchange(writer, 1, true, false);
	}
	for (int32_t i = 0; i < n; i++) {
		put_exchange(writer, 1, false, true);
		put_pass(writer, false, i, 0);
		put_exchange(writer, -1, true, false);
	}
}

static void plan_1f1b(struct writer *writer)
{
	int32_t n = writer->params->micro_batches;
	int32_t n_warm = writer->params->pp - 1 - writer->stage;
	n_warm = n_warm < n ? n_warm : n;
	for (int32_t i = 0; i < n_warm; i++) {
		put_exchange(writer, -1, false, true);
		put_pass(writer, true, i, 0);
		put_exchange(writer, 1, true, false);
	}
	int32_t n_steady = n - n_warm;
	if (n_steady > 0) {
		put_exchange(writer, -1, false, true);
	}
	for (int32_t i = 0; i < n_steady; i++) {
		put_pass(writer, true, n_warm + i, 0);
		put_exchange(writer, 1, true, true);
		put_pass(writer, false, i, 0);
		put_exchange(writer, -1, true, i + 1 < n_steady);
	}
	for (int32_t i = 0; i < n_warm; i++) {
		put_exchange(writer, 1, false, true);
		put_pass(writer, false, n_steady + i, 0);
		put_exchange(writer, -1, true, false);
	}
}

/* Adds the @k-th pass of one direction of the interleaved schedule, with its receive and send. */
static void put_interleaved(struct writer *writer, int32_t k, bool is_forward)
{
	const struct fsl_sim_params *params = writer->params;
	int32_t pp = params->pp, last = params->chunks - 1, round = pp * params->chunks;
	int32_t chunk = k % round / pp, micro_batch = k / round * pp + k % pp;
	chunk = is_forward ? chunk : last - chunk;
	/* Virtual stages are numbered chunk * pp + stage; forward goes up, backward down. */
	int32_t here = chunk * pp + writer->stage, n_virtual = round;
	int32_t from = is_forward ? here - 1 : here + 1, to = is_forward ? here + 1 : here - 1;
	if (from >= 0 && from < n_virtual) {
		put(writer, (struct fsl_sim_action){.kind = FSL_SIM_RECEIVE,
						    .micro_batch = micro_batch,
						    .chunk = chunk,
						    .peer = from % pp,
						    .is_backward = !is_forward});
	}
	put_pass(writer, is_forward, micro_batch, chunk);
	if (to >= 0 && to < n_virtual) {
		put(writer, (struct fsl_sim_action){.kind = FSL_SIM_SEND,
						    .micro_batch = micro_batch,
						    .chunk = to / pp,
						    .peer = to % pp,
						    .is_backward = !is_forward});
	}
}

static void plan_interleaved(struct writer *writer)
{
	const struct fsl_sim_params *params = writer->params;
	int32_t n = params->micro_batches * params->chunks;
	int32_t n_warm = (params->pp - 1 - writer->stage) * 2 + (params->chunks - 1) * params->pp;
	n_warm = n_warm < n ? n_warm : n;
	for (int32_t k = 0; k < n_warm; k++) {
		put_interleaved(writer, k, true);
	}
	for (int32_t k = 0; k < n - n_warm; k++) {
		put_interleaved(writer, n_warm + k, true);
		put_interleaved(writer, k, false);
	}
	for (int32_t k = n - n_warm; k < n; k++) {
		put_interleaved(writer, k, false);
	}
}

enum fsl_status fsl_sim_plans_build(struct fsl_sim_plan **plans,
				    const struct fsl_sim_params *params, struct fsl_arena *arena,
				    struct fsl_error *err)
{
	/* A pass has at most one action before it and one behind it. */
	size_t n_most = 6 * (size_t)params->micro_batches * (size_t)params->chunks + 2;
	struct fsl_sim_plan *out = fsl_arena_alloc(arena, (size_t)params->pp * sizeof(*out));
	for (int32_t stage = 0; out != NULL && stage < params->pp; stage++) {
		struct writer writer = {params, &out[stage], stage};
		out[stage].actions = fsl_arena_alloc(arena, n_most * sizeof(*out[stage].actions));
		if (out[stage].actions == NULL) {
			out = NULL;
			break;
		}
		if (params->schedule == FSL_SIM_INTERLEAVED) {
			plan_interleaved(&writer);
		} else if (params->schedule == FSL_SIM_1F1B) {
			plan_1f1b(&writer);
		} else {
			plan_gpipe(&writer);
		}
	}
	if (out == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: micro_batches=%d",
				(int)params->micro_batches);
	}
	*plans = out;
	return FSL_OK;
}
