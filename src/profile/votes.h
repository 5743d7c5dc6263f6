/*
 * Rules for few samples: captures hold one to ten steps, so a rank is judged from a handful of
 * collectives. Pure functions.
 *
 * The detectors of failslow detect want windows: ArrivalLateness judges from eight instances of one
 * channel on, replay from many steps on, and both from noise that is measured over time. What is
 * shared is what comes before: runs, groups, matched collectives, lateness from a common end.
 *
 * A vote. In a collective all end together, so the rank with the shortest operator came last. It is
 * voted late when its duration is a low outlier among the durations of its peers: Rosner's test for
 * several outliers (Technometrics 25, 1983, p. 165; for one outlier it is Grubbs' test). The value
 * that lies farthest from the mean of the rest, on either side, is taken out again and again, up to
 * half of them; what remains gives a mean and a spread, and so a Student t for each one taken. The
 * last of them whose t is beyond the quantile for so many values is an outlier, and so are all that
 * were taken before it. Of these only the low ones are votes. Durations of healthy ranks give a
 * vote in less than 1 of 100 collectives, however many ranks there are, because the quantile grows
 * with their number; one rank that is early (one long duration) is taken out first and hides
 * nobody, and votes for nobody. Fewer than four peers give no vote.
 *
 * Always last. Two or three peers, or many collectives: where all are equally likely to come last,
 * the number of times that one of them does follows a Poisson-binomial distribution (for pairs this
 * is the sign test). Collectives whose last two come at the same time count for nobody.
 */
#ifndef FSL_PROFILE_VOTES_H
#define FSL_PROFILE_VOTES_H

#include <stddef.h>
#include <stdint.h>

enum { FSL_VOTES_MIN = 4 }; /* fewer values have no outliers */

/* One value and whose it is. */
struct fsl_vote {
	double value;
	uint32_t idx;
};

/*
 * Sorts @votes by value, then idx, and returns how many of the first ones are low outliers.
 * @least_sigma: no spread is smaller, in the unit of the values (what the clock can tell); > 0.
 */
size_t fsl_votes_low(struct fsl_vote *votes, size_t n, double least_sigma);

/* Probability that collectives of healthy ranks give @n_votes votes or more. */
double fsl_votes_p(size_t n_collectives, size_t n_votes);

/*
 * Probability to be last in at least @n_last of @n collectives of @n_peers[] ranks (>= 2) each.
 * Exact up to 512 collectives; beyond that Hoeffding's bound, which is never too small.
 */
double fsl_last_p(const uint32_t *n_peers, size_t n, size_t n_last);

#endif
