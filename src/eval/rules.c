/* The table of faults and right answers. */
#include "eval/rules.h"

#include <string.h>

#define BIT(kind) (UINT32_C(1) << (kind))

/* Short forms that keep a row on a few lines. */
#define NOBODY     FSL_EVAL_NOBODY, FSL_EVAL_NAME_NOBODY
#define NAME(who)  FSL_EVAL_##who, FSL_EVAL_NAME_STRUCK
#define MAY(who)   FSL_EVAL_##who, FSL_EVAL_MAY_STRUCK
#define BY(knob)   FSL_EVAL_KNOB_##knob
#define ONLY(kind) FSL_VERDICT_##kind, BIT(FSL_VERDICT_##kind)
#define OR(a, b)   FSL_VERDICT_##a, BIT(FSL_VERDICT_##a) | BIT(FSL_VERDICT_##b)
/* If all ranks of a host are slow, naming the ranks or the host is right. */
#define RANKS   OR(SLOW_RANK, SLOW_HOST)
#define LASTS   .is_endless = true
#define MAY_END .is_endless = false

static const struct fsl_eval_scenario scenarios[] = {
	{"clean", "no fault", NULL, "", NOBODY, BY(NONE), ONLY(NORMAL), -1, LASTS},
	{"compute-one", "one rank computes slowly", "compute", "", NAME(ONE), BY(FACTOR), RANKS,
	 FSL_CAUSE_COMPUTE, MAY_END},
	{"compute-two", "two ranks of different hosts compute slowly", "compute", "", NAME(TWO),
	 BY(FACTOR), RANKS, FSL_CAUSE_COMPUTE, MAY_END},
	{"compute-host", "all ranks of a host compute slowly", "compute", "", NAME(HOST),
	 BY(FACTOR), OR(SLOW_HOST, SLOW_RANK), FSL_CAUSE_COMPUTE, MAY_END},
	{"compute-half", "every second rank of a data-parallel group computes slowly", "compute",
	 "", NAME(HALF), BY(FACTOR), RANKS, FSL_CAUSE_COMPUTE, MAY_END},
	{"ramp", "one rank becomes slower over 60 steps", "compute ramp=60", "", NAME(ONE),
	 BY(FACTOR), RANKS, FSL_CAUSE_COMPUTE, LASTS},
	{"host", "the host of one rank feeds its device late", "host", "", NAME(ONE), BY(FACTOR),
	 RANKS, FSL_CAUSE_HOST, MAY_END},
	{"gc", "one rank pauses in one of ten steps", "gc factor=0.1", "", NAME(ONE), BY(EXTRA),
	 RANKS, FSL_CAUSE_HOST, LASTS, .is_random = true},
	{"dataloader", "one rank waits for its data", "dataloader", "", NAME(ONE), BY(EXTRA), RANKS,
	 FSL_CAUSE_DATALOADER, MAY_END},
	{"storage", "one rank saves its checkpoints slowly, every tenth step", "storage", "ckpt=10",
	 NAME(ONE), BY(EXTRA), RANKS, FSL_CAUSE_STORAGE, LASTS},
	{"link", "the link between two ranks is slow", "link", "", FSL_EVAL_PAIR,
	 FSL_EVAL_NAME_ENDS, BY(EXTRA), ONLY(SLOW_LINK), FSL_CAUSE_NETWORK, MAY_END},
	{"switch", "all traffic that leaves one host is slow", "switch", "", FSL_EVAL_HOST,
	 FSL_EVAL_MAY_ANYBODY, BY(EXTRA), OR(SLOW_LINK, JOB_SLOWDOWN), -1, .is_relative = true},
	{"sequence", "lengths of sequences differ, so another rank has most work in each step",
	 "sequence", "", NOBODY, BY(SHARE), ONLY(WORK_IMBALANCE), -1, .is_constant = true,
	 .is_random = true},
	{"stage", "one pipeline stage has more work than the others", "stage", "", MAY(STAGE),
	 BY(FACTOR), ONLY(STAGE_IMBALANCE), -1, .is_constant = true},
	{"job-wide", "every rank becomes slower alike", "job_slow", "", NOBODY, BY(FACTOR),
	 ONLY(JOB_SLOWDOWN), -1, .is_relative = true},
	{"pauses", "any rank pauses in one of fifty steps", "pauses factor=0.02", "", NOBODY,
	 BY(EXTRA), ONLY(HOST_PAUSES), -1, .is_constant = true, .is_random = true},
	{"hang", "one rank stops and all others wait for it", "hang", "", MAY(ONE), BY(NONE),
	 ONLY(HANG), -1, LASTS},
	{"missing", "one rank left no file: it is missing, not slow", "missing", "", FSL_EVAL_ONE,
	 FSL_EVAL_NAME_NOBODY, BY(NONE), OR(NORMAL, INSUFFICIENT_EVIDENCE), -1, LASTS},
	{"throttle", "one device is throttled in five of ten steps", "compute period=10 on=5", "",
	 NAME(ONE), BY(FACTOR), RANKS, FSL_CAUSE_COMPUTE, LASTS},
	{"ecc", "one device stalls in one of four steps", "ecc factor=0.25", "", NAME(ONE),
	 BY(EXTRA), RANKS, FSL_CAUSE_COMPUTE, LASTS, .is_random = true},
	{"heal", "one rank computes slowly, then as before", "compute", "", NAME(ONE), BY(FACTOR),
	 RANKS, FSL_CAUSE_COMPUTE, MAY_END, .duration_steps = 50},
	{"cpu", "other processes slow all host threads of a host", "host", "", NAME(HOST),
	 BY(FACTOR), OR(SLOW_HOST, SLOW_RANK), FSL_CAUSE_HOST, LASTS},
	{"loader-kth", "one rank waits for its data in every fourth step",
	 "dataloader period=4 on=1", "", NAME(ONE), BY(EXTRA), RANKS, FSL_CAUSE_DATALOADER, LASTS},
	/* Ranks of the host may be named, and the links that leave it. */
	{"nic", "all that leaves one host is slow", "nic", "", MAY(HOST), BY(FACTOR),
	 FSL_VERDICT_SLOW_HOST,
	 BIT(FSL_VERDICT_SLOW_HOST) | BIT(FSL_VERDICT_SLOW_LINK) | BIT(FSL_VERDICT_JOB_SLOWDOWN),
	 -1, LASTS, .is_relative = true},
	{"congestion", "transfers of another rank are slow every four steps", "congestion", "",
	 NOBODY, BY(FACTOR), OR(JOB_SLOWDOWN, SLOW_LINK), -1, LASTS, .is_relative = true},
};

size_t fsl_eval_scenarios(const struct fsl_eval_scenario **out)
{
	*out = scenarios;
	return sizeof(scenarios) / sizeof(scenarios[0]);
}

const struct fsl_eval_scenario *fsl_eval_scenario_find(const char *name)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (strcmp(scenarios[i].name, name) == 0) {
			return &scenarios[i];
		}
	}
	return NULL;
}
