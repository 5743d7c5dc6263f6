/* Rules for the verdict on a capture: which costs count, which part of a step bounds the job, and
 * who waits for ranks that were not captured. */
#ifndef FSL_BLAME_COUNTS_H
#define FSL_BLAME_COUNTS_H

#include "capture/cluster.h"
#include "capture/step_rows.h"
#include "model/verdict.h"

/* True if a cost, mean per step of @step_ms, is enough for the verdict. @is_passing: most steps do
 * not show it; then somebody is named for more alone. */
bool fsl_cost_counts(double cost_ms, double step_ms, bool is_passing);

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

/* Whether the rank was seen in a group of which some members were not captured. */
bool fsl_lacks_mates(const struct fsl_profile_cluster *cluster, int32_t rank);

#endif
