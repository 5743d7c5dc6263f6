/* Cause: what kind of work a charged rank spends its excess on. */
#ifndef FSL_BLAME_CAUSE_H
#define FSL_BLAME_CAUSE_H

#include "blame/blame.h"
#include "model/verdict.h"

/* The parts of a charge that tell causes apart; means over its high steps, ms per step. */
struct fsl_cause_clues {
	enum fsl_cause cause;
	double head_ms, head_peers_ms;     /* before the first operator of the step (gaps only) */
	double body_ms, body_peers_ms;     /* everything else (gaps), or compute stages */
	double launch_ms, launch_peers_ms; /* median device begin after host end, per operator */
	double ckpt_share; /* share of the high steps whose longest gap meets a checkpoint; NaN */
	enum fsl_cause other_cause; /* looks the same; FSL_CAUSES_N: none */
	bool is_unrecorded;         /* most of the excess lies outside of all recorded stages */
};

/*
 * Rules (docs/users/algorithms.md, "causes"): excess in checkpoint stages or in gaps that meet a
 * checkpoint: storage; at the head of the step only: data loading, if work behind it would show a
 * slow device; launch queue run empty or host calls long: host; else compute. If blame counts idle
 * time, a stage is the cause only if it explains half of the excess. @charge: of the rank, that of
 * blame or one like it.
 */
struct fsl_cause_clues fsl_cause_find(const struct fsl_case *facts, size_t rank_idx,
				      const struct fsl_charge *charge);

/* Median time from the launch of an operator to its begin on the device, ms, over operators of
 * steps in [begin, end); NaN: the range is empty, or a clock is missing. */
double fsl_cause_launch_ms(const struct fsl_case *facts, size_t rank_idx, size_t begin, size_t end);

#endif
