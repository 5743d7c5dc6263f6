/*
 * Compares each rank with the ranks that do the same work: how late it comes to their collectives,
 * and how much more own time it has. Detectors tell who stands out in one collective or in the mean
 * step; this module sums their findings for each rank.
 */
#ifndef FSL_JUDGE_STANDING_H
#define FSL_JUDGE_STANDING_H

#include "judge/to_run.h"

/*
 * Lateness of a rank is counted in the collectives to which it came last of its peers. It is the
 * longest operator of the collective minus the rank's own operator, as all operators end together.
 * A collective that ends within a millisecond after the last rank came is a signal: all of its
 * duration is waiting. In other collectives the duration includes the transfer. "Per step" counts
 * the steps whose collectives all members captured.
 */
struct fsl_profile_standing {
	size_t n_met;  /* collectives with peers in which somebody was clearly last */
	size_t n_last; /* collectives of these in which this rank was last */
	size_t n_last_signals;
	double late_signal_ms, late_transfer_ms; /* per step */
	double late_to_peers_ms;                 /* per step; as if its peers alone had met */
	double p_last;  /* probability to be last so often by chance, times the number of ranks */
	size_t n_votes; /* collectives in which it is an outlier, GeneralizedESD */
	double p_votes; /* probability of so many votes for healthy ranks, all ranks together */
	/* Mean per step, and how much more than the median of its peers; NaN: not told. */
	double step_ms, computing_ms, computing_more_ms, free_more_ms, p2p_more_ms;
	size_t n_peers; /* ranks that do the same work, itself too */
	/* Excess over the longest of its peers; below 0: it is not the longest. */
	double computing_above_ms, free_above_ms;
	/* Outliers above their peers, by detector GeneralizedESD. */
	bool is_computing_outlier, is_free_outlier;
	double computing_median_ms, exposed_median_ms; /* of its peers; nobody waits longer */
};

struct fsl_profile_standings {
	struct fsl_arena arena;
	struct fsl_profile_standing *items; /* per profile->ranks */
	size_t n;
	/* Ranks of a class do the same work: those of a pipeline stage; all where no stages are
	 * known. Members are places in profile->ranks, ascending. */
	uint32_t *members;
	size_t *begin; /* [n_classes + 1] */
	size_t n_classes;
	uint32_t *class_of; /* per profile->ranks */
};

/* Fills @out (overwritten); fails only when memory is short. */
enum fsl_status fsl_profile_stand(struct fsl_profile_standings *out,
				  const struct fsl_profile *profile,
				  const struct fsl_profile_cluster *cluster,
				  const struct fsl_profile_meetings *meetings,
				  struct fsl_error *err);
void fsl_profile_standings_fini(struct fsl_profile_standings *standings);

/* Time inside point-to-point operators, mean per step, ms; NaN when the rank has no operators. */
double fsl_profile_p2p_ms(const struct fsl_profile_rank *rank);
/* Over the ranks of a set: the longest mean step of a rank, ms (NaN if no rank tells it); the most
 * steps of a rank. */
double fsl_profile_longest_step_ms(const struct fsl_profile *profile);
size_t fsl_profile_most_steps(const struct fsl_profile *profile);

#endif
