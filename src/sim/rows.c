/* Lost rows, lost ranks, and texts that both forms of output share. */
#include "sim/rows.h"

#include <stdio.h>

enum { PURPOSE_LOSSES = 101 };

enum fsl_status fsl_sim_losses_init(struct fsl_sim_losses *losses,
				    const struct fsl_sim_params *params, struct fsl_error *err)
{
	int32_t n_ranks = fsl_sim_n_ranks(params);
	*losses = (struct fsl_sim_losses){.params = params};
	losses->streams = fsl_calloc((size_t)n_ranks, sizeof(*losses->streams));
	for (int32_t r = 0; losses->streams != NULL && r < n_ranks; r++) {
		losses->streams[r] = fsl_sim_stream(params, r, PURPOSE_LOSSES);
		if (losses->streams[r] == NULL) {
			fsl_sim_losses_fini(losses);
		}
	}
	return losses->streams != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%d", (int)n_ranks);
}

void fsl_sim_losses_fini(struct fsl_sim_losses *losses)
{
	for (int32_t r = 0; losses->streams != NULL && r < fsl_sim_n_ranks(losses->params); r++) {
		if (losses->streams[r] != NULL) {
			gsl_rng_free(losses->streams[r]);
		}
	}
	fsl_free(losses->streams);
	losses->streams = NULL;
}

void fsl_sim_losses_draw(struct fsl_sim_losses *losses, int32_t rank, const struct fsl_sim_op *op,
			 bool is_kept[FSL_SIM_ROWS_N])
{
	for (int i = 0; i < FSL_SIM_ROWS_N; i++) {
		is_kept[i] = losses->params->drop_share == 0.0 ||
			     gsl_rng_uniform(losses->streams[rank]) >= losses->params->drop_share;
	}
	is_kept[FSL_SIM_DEV_END] &= op->dev_end_ns != FSL_SIM_NEVER;
}

bool fsl_sim_is_lost(const struct fsl_sim_params *params, int32_t rank, bool *is_header_only)
{
	bool is_struck = false, is_lost = false;
	*is_header_only = false;
	for (size_t i = 0; i < params->n_faults; i++) {
		const struct fsl_sim_fault *fault = &params->faults[i];
		bool strikes = fault->kind != FSL_SIM_STAGE && fsl_sim_fault_strikes(fault, rank);
		is_struck |= strikes;
		is_lost |= strikes && fault->kind == FSL_SIM_MISSING;
		*is_header_only |= strikes && fault->kind == FSL_SIM_EMPTY;
	}
	if (params->lost_period > 0 && !is_struck) {
		int32_t first = (int32_t)(params->seed % (uint64_t)params->lost_period);
		is_lost |= rank % params->lost_period == first;
	}
	return is_lost;
}

const char *fsl_sim_stage_text(enum fsl_stage_kind kind)
{
	static const char *const texts[FSL_STAGES_N] = {
		[FSL_STAGE_DATALOADER] = "torch.utils.data.dataloader@_BaseDataLoaderIter@__next__",
		[FSL_STAGE_FORWARD] = "train@pipeline@forward_step",
		[FSL_STAGE_BACKWARD] = "train@pipeline@backward_step",
		[FSL_STAGE_OPTIMIZER] = "train@optimizer@step",
		[FSL_STAGE_CKPT] = "SaveCkpt",
		[FSL_STAGE_GC] = "GC",
		[FSL_STAGE_SYNC] = "synchronize",
		[FSL_STAGE_OTHER] = "other",
	};
	return texts[kind];
}

void fsl_sim_server_ip(const struct fsl_sim_params *params, int32_t rank, char *text, size_t size)
{
	int32_t host = rank / params->ranks_per_host + 1;
	(void)snprintf(text, size, "10.%d.%d.%d", (int)(1 + host / 65536), (int)(host / 256 % 256),
		       (int)(host % 256));
}

bool fsl_sim_has_timeline(const struct fsl_sim_params *params, int32_t rank)
{
	return params->timelines == FSL_SIM_TIMELINES_ALL ||
	       (params->timelines == FSL_SIM_TIMELINES_FIRST && rank == 0);
}
