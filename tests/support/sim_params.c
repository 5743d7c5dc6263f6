/* Parameters of the job simulator: defaults and names of faults. */
#include <string.h>

#include "support/simjob.h"

static const char *const fault_texts[SIM_FAULTS_N] = {
	[SIM_FAULT_NONE] = "none",         [SIM_FAULT_COMPUTE] = "compute",
	[SIM_FAULT_HOST] = "host",         [SIM_FAULT_DATALOADER] = "dataloader",
	[SIM_FAULT_STORAGE] = "storage",   [SIM_FAULT_LINK] = "link",
	[SIM_FAULT_JOB_SLOW] = "job_slow", [SIM_FAULT_SPIKE] = "spike",
	[SIM_FAULT_HANG] = "hang",         [SIM_FAULT_MISSING] = "missing",
	[SIM_FAULT_EMPTY] = "empty",
};

void sim_params_init(struct sim_params *params)
{
	*params = (struct sim_params){
		.tp = 4,
		.dp = 2,
		.pp = 1,
		.steps = 60,
		.pairs = 1,
		.seed = 1,
		.segment_ms = 160.0,
		.noise_share = 0.005,
		.hetero_share = 0.002,
		.transfer_ms = 3.0,
		.fault = SIM_FAULT_NONE,
		.factor = 1.3,
		.extra_ms = 300.0,
		.until_step = -1,
		.ranks_per_host = 8,
		.gc_period = 7,
		.start_ns = INT64_C(1750000000000000000), /* 2025-06-15T15:06:40Z */
		.time_scale = 1.0,
		.relabel_by = 1,
		.timelines = SIM_TIMELINES_FIRST,
		.config_files = true,
	};
}

int sim_fault_from_text(const char *text)
{
	for (int i = 0; i < SIM_FAULTS_N; i++) {
		if (strcmp(fault_texts[i], text) == 0) {
			return i;
		}
	}
	return -1;
}

const char *sim_fault_text(enum sim_fault fault)
{
	return fault_texts[fault];
}

bool sim_fault_has_onset(enum sim_fault fault)
{
	return fault != SIM_FAULT_NONE && fault != SIM_FAULT_MISSING && fault != SIM_FAULT_EMPTY;
}

int32_t sim_n_ranks(const struct sim_params *params)
{
	return params->tp * params->dp * params->pp;
}

int32_t sim_label(const struct sim_params *params, int32_t rank)
{
	return params->relabel ? rank * params->relabel_by % sim_n_ranks(params) : rank;
}
