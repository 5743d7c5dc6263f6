/*
 * Pools findings of single collectives: captures hold one to ten steps, so a rank is judged from a
 * handful of collectives. Pure functions.
 *
 * A vote is a finding of detector GeneralizedESD: the rank's lateness is an outlier among its
 * peers'. Healthy ranks give a vote in less than 1 of 100 collectives, however many ranks there
 * are, because the quantile of the test grows with their number; one rank that is early hides
 * nobody, and votes for nobody. Fewer than four peers give no vote.
 *
 * Detector LastArrival finds the rank that came last. This test serves two or three peers, or many
 * collectives. If all ranks are equally likely to come last, the number of times that one rank
 * comes last has a Poisson-binomial distribution (for pairs this is the sign test). A collective
 * whose last two ranks come at the same time counts for no rank.
 */
#ifndef FSL_JUDGE_VOTES_H
#define FSL_JUDGE_VOTES_H

#include <stddef.h>
#include <stdint.h>

/* Probability that collectives of healthy ranks give @n_votes votes or more. */
double fsl_votes_p(size_t n_collectives, size_t n_votes);

/*
 * Probability to be last in at least @n_last of @n collectives of @n_peers[] ranks (>= 2) each.
 * Exact up to 512 collectives; beyond that Hoeffding's bound, which is never too small.
 */
double fsl_last_p(const uint32_t *n_peers, size_t n, size_t n_last);

#endif
