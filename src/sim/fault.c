/* Kinds of faults: names, usual strengths, and what each one takes. */
#include <string.h>

#include "sim/sim.h"

static const struct fsl_sim_fault_info infos[FSL_SIM_FAULTS_N] = {
	[FSL_SIM_NONE] = {"none", "no fault", ""},
	[FSL_SIM_COMPUTE] = {"compute", "the ranks compute longer", "factor ramp period on"},
	[FSL_SIM_HOST] = {"host", "the ranks' host launches too late", "factor ramp period on"},
	[FSL_SIM_GC] = {"gc", "the ranks pause in some of their steps",
			"extra_ms share ramp period on"},
	[FSL_SIM_DATALOADER] = {"dataloader", "the ranks wait longer for data",
				"extra_ms ramp period on"},
	[FSL_SIM_STORAGE] = {"storage", "the ranks save checkpoints longer (needs ckpt)",
			     "extra_ms ramp period on"},
	[FSL_SIM_LINK] = {"link", "operators between two ranks take longer",
			  "extra_ms ramp period on"},
	[FSL_SIM_SWITCH] = {"switch", "operators between the ranks and all others take longer",
			    "extra_ms ramp period on"},
	[FSL_SIM_SEQUENCE] = {"sequence", "micro-batches differ in length", "share"},
	[FSL_SIM_STAGE] = {"stage", "whole pipeline stages have more to compute", "factor"},
	[FSL_SIM_RAMP] = {"ramp", "the ranks get slower and slower", "factor ramp"},
	[FSL_SIM_JOB] = {"job", "all ranks compute longer", "factor ramp period on"},
	[FSL_SIM_PAUSES] = {"pauses", "pauses that hit any rank", "extra_ms share period on"},
	[FSL_SIM_SPIKE] = {"spike", "one single step is long", "extra_ms"},
	[FSL_SIM_HANG] = {"hang", "the ranks stop, all others wait for them", ""},
	[FSL_SIM_MISSING] = {"missing", "the ranks left no marker file", ""},
	[FSL_SIM_EMPTY] = {"empty", "the ranks' marker files hold nothing", ""},
	[FSL_SIM_TRUNCATED] = {"truncated", "the ranks' marker files end too early", ""},
};

const struct fsl_sim_fault_info *fsl_sim_fault_infos(void)
{
	return infos;
}

const char *fsl_sim_fault_text(enum fsl_sim_fault_kind kind)
{
	return infos[kind].name;
}

int fsl_sim_fault_from_text(const char *text)
{
	for (int i = 0; i < FSL_SIM_FAULTS_N; i++) {
		if (strcmp(infos[i].name, text) == 0) {
			return i;
		}
	}
	return -1;
}

bool fsl_sim_fault_has_onset(enum fsl_sim_fault_kind kind)
{
	return kind != FSL_SIM_NONE && kind != FSL_SIM_MISSING && kind != FSL_SIM_EMPTY &&
	       kind != FSL_SIM_TRUNCATED;
}

void fsl_sim_fault_init(struct fsl_sim_fault *fault, enum fsl_sim_fault_kind kind)
{
	*fault = (struct fsl_sim_fault){
		.kind = kind,
		.until_step = -1,
		.factor = 1.3,
		.extra_ms = 300.0,
		.share = 0.2,
	};
	switch (kind) {
	case FSL_SIM_SEQUENCE:
		fault->share = 0.5;
		break;
	case FSL_SIM_PAUSES:
		fault->share = 0.02;
		break;
	case FSL_SIM_RAMP:
		fault->factor = 2.0;
		fault->ramp_steps = 100;
		break;
	case FSL_SIM_SPIKE:
		fault->extra_ms = 2000.0;
		break;
	case FSL_SIM_STORAGE:
		fault->extra_ms = 3000.0;
		break;
	case FSL_SIM_NONE:
	case FSL_SIM_COMPUTE:
	case FSL_SIM_HOST:
	case FSL_SIM_GC:
	case FSL_SIM_DATALOADER:
	case FSL_SIM_LINK:
	case FSL_SIM_SWITCH:
	case FSL_SIM_STAGE:
	case FSL_SIM_JOB:
	case FSL_SIM_HANG:
	case FSL_SIM_MISSING:
	case FSL_SIM_EMPTY:
	case FSL_SIM_TRUNCATED:
	case FSL_SIM_FAULTS_N:
		break;
	}
}

void fsl_sim_fault_strike(struct fsl_sim_fault *fault, int32_t rank)
{
	if (rank >= 0 && rank < FSL_SIM_RANKS_MAX) {
		fault->ranks[rank / 64] |= UINT64_C(1) << (rank % 64);
	}
}

bool fsl_sim_fault_strikes(const struct fsl_sim_fault *fault, int32_t rank)
{
	return rank >= 0 && rank < FSL_SIM_RANKS_MAX &&
	       (fault->ranks[rank / 64] >> (rank % 64) & 1) != 0;
}
