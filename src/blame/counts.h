/* Rules for captures: how great effects have to be, which costs count for the verdict and what they
 * sum to, what the verdict is about, which part of a step bounds the job, and who waits for ranks
 * that were not captured. */
#ifndef FSL_BLAME_COUNTS_H
#define FSL_BLAME_COUNTS_H

#include "capture/cluster.h"
#include "capture/step_rows.h"
#include "model/verdict.h"

/* One look at a capture, or at a step of it; {0}: at the whole capture. */
struct fsl_look {
	enum {
		FSL_LOOK_CAPTURE, /* at all steps together */
		FSL_LOOK_STEP,    /* at one step, for what need not show in all steps together */
		FSL_LOOK_AGAIN,   /* at a step that may show what all steps proved already */
	} kind;
	size_t n_looks; /* FSL_LOOK_STEP: steps that are judged, one after the other */
};

/*
 * The greatest probability of a chance effect with which it is told; @most: the limit for one look.
 * In n looks a rare effect occurs by chance n times as often, so each look has the limit @most / n
 * (Bonferroni). Above 1 for FSL_LOOK_AGAIN: no proof is needed.
 */
double fsl_look_chance_max(const struct fsl_look *look, double most);
/*
 * The least effect (a share or an excess) that is told if its chance is not tested; @least: the
 * limit for all steps. Twice @least in one step of several, as the largest of n effects is always
 * larger than usual. Half of @least if all steps together showed it already, as steps scatter
 * around their mean.
 */
double fsl_look_effect_min(const struct fsl_look *look, double least);
/* The same for an effect whose chance is tested: one step of several has the same limit as all
 * steps. */
double fsl_look_tested_min(const struct fsl_look *look, double least);

/* True if a cost, mean per step of @step_ms, is enough for the verdict. */
bool fsl_cost_counts(double cost_ms, double step_ms);
/* True if a rank that was found slow is named. @is_passing: most steps do not show it; then it is
 * named for a greater cost alone. */
bool fsl_slow_is_named(double cost_ms, double step_ms, bool is_passing);

/* Single steps alone tell it, or half of @n_steps at most show it. */
bool fsl_is_passing(bool is_of_single_steps, size_t n_seen, size_t n_steps);
/* True if one step shows what costs @mean_ms over all steps. */
bool fsl_step_shows(double cost_ms, double mean_ms);
/* Mean cost of what single ones of @n_steps show that cost @sum_ms together; NaN: too little, or of
 * too few steps. */
double fsl_single_steps_cost(double sum_ms, size_t n_steps, double step_ms);
/* All captured ranks wait @wait_ms for one that was not captured. If they worked faster they would
 * wait longer: only what goes beyond that wait can be won. NaN: nothing. */
double fsl_cost_beyond(double cost_ms, double wait_ms);

/* Costs of all that are named. */
struct fsl_named_costs {
	size_t n;
	double sum_ms;      /* each alone: shares of the loss */
	double together_ms; /* comes back if all are mended */
};
/* @together_ms: of all that are named for all steps, by a replay; NaN: not told. */
void fsl_named_costs_add(struct fsl_named_costs *costs, double cost_ms, double together_ms);

/* All captured ranks of one host and nobody else are culprits, and other hosts were captured. */
bool fsl_culprits_are_host(const struct fsl_localisation *verdict,
			   const struct fsl_profile *profile);

/* Median of the ranks, ms: one part of a step, or for FSL_PARTS_N all of it; NaN: not told. */
double fsl_usual_part_ms(const struct fsl_profile *profile, enum fsl_profile_part part);

/* The part that bounds the steps if nobody is at fault. */
struct fsl_bound {
	enum fsl_verdict_kind kind; /* host, communication or compute bound; normal: none */
	double ms;                  /* of a step, in that part */
};

/*
 * Waits for other stages of a pipeline, or for ranks that were not captured, are no evidence of
 * slow communication. Of one rank alone the longest part is told, whatever its share. @host_ms:
 * what a faster host would bring at most; NaN: not told. @is_whole: no group lacks members.
 */
struct fsl_bound fsl_bound_find(const struct fsl_profile *profile, double step_ms, double host_ms,
				bool is_whole);

/* All that the verdict may be about, in the order in which it is chosen. A cause among the captured
 * ranks comes before one outside of them, and that before uneven work. */
enum fsl_capture_topic {
	FSL_TOPIC_RANKS,
	FSL_TOPIC_LINK,
	FSL_TOPIC_OUTSIDE,
	FSL_TOPIC_STAGE,
	FSL_TOPIC_MORE_WORK,
	FSL_TOPIC_BASELINE,
	FSL_TOPIC_BOUND,
	FSL_TOPIC_NOBODY,
};
struct fsl_capture_costs {
	size_t n_named;
	double link_ms; /* the costliest; NaN: none, as all of these */
	bool is_outside, has_more_work;
	double stage_ms, baseline_ms;
	struct fsl_bound bound;
};
enum fsl_capture_topic fsl_capture_topic_of(const struct fsl_capture_costs *costs, double step_ms);

/* Whether the rank was seen in a group of which some members were not captured. */
bool fsl_lacks_mates(const struct fsl_profile_cluster *cluster, int32_t rank);

#endif
