/* Parameters of a job: defaults, presets, and whether such a job can run. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "sim/sim.h"

void fsl_sim_params_init(struct fsl_sim_params *params)
{
	*params = (struct fsl_sim_params){
		.tp = 4,
		.dp = 2,
		.pp = 1,
		.ep = 1,
		.micro_batches = 1,
		.chunks = 1,
		.steps = 60,
		.pairs = 1,
		.ranks_per_host = 8,
		.segment_ms = 160.0,
		.transfer_ms = 3.0,
		.dataloader_ms = 2.0,
		.optimizer_ms = 8.0,
		.checkpoint_ms = 400.0,
		.gc_period = 7,
		.gc_ms = 3.0,
		.seed = 1,
		.noise_share = 0.005,
		.noise_rho = 0.3,
		.hetero_share = 0.002,
		.start_ns = INT64_C(1750000000000000000), /* 2025-06-15T15:06:40Z */
		.time_scale = 1.0,
		.relabel_by = 1,
		.timelines = FSL_SIM_TIMELINES_FIRST,
		.config_files = true,
	};
	for (size_t i = 0; i < FSL_SIM_FAULTS_MAX; i++) {
		fsl_sim_fault_init(&params->faults[i], FSL_SIM_NONE);
	}
}

int32_t fsl_sim_n_ranks(const struct fsl_sim_params *params)
{
	return params->tp * params->dp * params->pp;
}

int32_t fsl_sim_label(const struct fsl_sim_params *params, int32_t rank)
{
	int64_t n_ranks = fsl_sim_n_ranks(params);
	return params->relabel ? (int32_t)((int64_t)rank * params->relabel_by % n_ranks) : rank;
}

/*
 * What a preset sets. Step times follow from it: a rank computes micro_batches * pairs * 2 segments
 * forward and twice as long backward, and a pipeline adds pp - 1 micro-batches of waiting.
 */
struct preset {
	int32_t tp, pp, dp, ep, micro_batches, pairs, buckets, chunks;
	enum fsl_sim_schedule schedule;
	double segment_ms, transfer_ms;
};

static const struct fsl_sim_preset_info preset_infos[] = {
	{"tiny", "8 ranks: tp 4, dp 2; steps of 1 s"},
	{"gpt-7b", "32 ranks: tp 4, dp 8; steps of 1.7 s"},
	{"gpt-22b", "64 ranks: tp 8, pp 2, dp 4; steps of 4 s"},
	{"gpt-175b", "1024 ranks: tp 8, pp 8, dp 16; steps of 14 s"},
	{"gpt-1t", "4096 ranks: tp 8, pp 16, dp 32, interleaved; steps of 35 s"},
	{"moe-8x7b", "64 ranks: tp 2, pp 2, dp 16, ep 8; steps of 2.6 s"},
	{"moe-256", "512 ranks: pp 8, dp 64, ep 32; steps of 9 s"},
};
static const struct preset presets[] = {
	{4, 1, 2, 1, 1, 1, 0, 1, FSL_SIM_1F1B, 160.0, 3.0},
	{4, 1, 8, 1, 4, 2, 4, 1, FSL_SIM_1F1B, 32.0, 0.6},
	{8, 2, 4, 1, 8, 2, 4, 1, FSL_SIM_1F1B, 36.0, 0.7},
	{8, 8, 16, 1, 16, 1, 2, 1, FSL_SIM_1F1B, 100.0, 2.0},
	{8, 16, 32, 1, 32, 1, 2, 2, FSL_SIM_INTERLEAVED, 67.0, 1.5},
	{2, 2, 16, 8, 4, 2, 4, 1, FSL_SIM_1F1B, 40.0, 0.8},
	{1, 8, 64, 32, 16, 1, 2, 1, FSL_SIM_1F1B, 60.0, 1.5},
};
enum { PRESETS_N = sizeof(presets) / sizeof(presets[0]) };

size_t fsl_sim_preset_infos(const struct fsl_sim_preset_info **out)
{
	*out = preset_infos;
	return PRESETS_N;
}

static void set_preset(struct fsl_sim_params *params, const struct preset *preset)
{
	params->tp = preset->tp;
	params->pp = preset->pp;
	params->dp = preset->dp;
	params->ep = preset->ep;
	params->micro_batches = preset->micro_batches;
	params->pairs = preset->pairs;
	params->buckets = preset->buckets;
	params->chunks = preset->chunks;
	params->schedule = preset->schedule;
	params->segment_ms = preset->segment_ms;
	params->transfer_ms = preset->transfer_ms;
	params->noise_form = FSL_SIM_LOGNORMAL;
	params->noise_share = 0.01;
	params->hetero_share = 0.005;
	params->warmup_steps = 3;
}

/* "tp4dp8pp2"; false: not such a text. */
static bool set_shape(struct fsl_sim_params *params, const char *text)
{
	static const char *const parts[] = {"tp", "dp", "pp", "ep"};
	enum { PARTS_N = 4, DIGITS_MAX = 5 };
	int32_t sizes[PARTS_N] = {0, 0, 0, 0};
	while (*text != '\0') {
		size_t part = 0;
		while (part < PARTS_N && strncmp(text, parts[part], 2) != 0) {
			part++;
		}
		if (part == PARTS_N || sizes[part] != 0) {
			return false;
		}
		text += 2;
		size_t n_digits = strspn(text, "0123456789");
		if (n_digits == 0 || n_digits > DIGITS_MAX) {
			return false;
		}
		sizes[part] = (int32_t)strtol(text, NULL, 10);
		if (sizes[part] == 0) {
			return false;
		}
		text += n_digits;
	}
	int32_t *const fields[PARTS_N] = {&params->tp, &params->dp, &params->pp, &params->ep};
	for (size_t i = 0; i < PARTS_N; i++) {
		*fields[i] = sizes[i] > 0 ? sizes[i] : 1;
	}
	return true;
}

enum fsl_status fsl_sim_params_preset(struct fsl_sim_params *params, const char *name,
				      struct fsl_error *err)
{
	const char *names[PRESETS_N];
	for (size_t i = 0; i < PRESETS_N; i++) {
		names[i] = preset_infos[i].name;
		if (strcmp(name, names[i]) == 0) {
			set_preset(params, &presets[i]);
			return FSL_OK;
		}
	}
	if (name[0] != '\0' && set_shape(params, name)) {
		return FSL_OK;
	}
	const char *nearest = fsl_nearest_name(name, strlen(name), names, PRESETS_N);
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"unknown preset, `failslow simulate --help` lists them, and a shape such "
			"as tp4dp8pp2 is one as well: preset=\"%s\"%s%s%s",
			name, nearest != NULL ? ", nearest=\"" : "", nearest != NULL ? nearest : "",
			nearest != NULL ? "\"" : "");
}

enum fsl_status fsl_sim_params_set_ranks(struct fsl_sim_params *params, int32_t n_ranks,
					 struct fsl_error *err)
{
	int32_t n_replica = params->tp * params->pp;
	if (n_ranks < 1 || n_ranks > FSL_SIM_RANKS_MAX || n_ranks % n_replica != 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the number of ranks must be a multiple of tp * pp, up to %d: "
				"ranks=%d, tp=%d, pp=%d",
				FSL_SIM_RANKS_MAX, n_ranks, params->tp, params->pp);
	}
	params->dp = n_ranks / n_replica;
	/* The largest number of replicas that experts were spread over and that still fits. */
	while (params->ep > 1 && params->dp % params->ep != 0) {
		params->ep--;
	}
	return FSL_OK;
}
