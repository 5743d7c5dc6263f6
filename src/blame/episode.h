/* Steps side by side in which a series is high. */
#ifndef FSL_BLAME_EPISODE_H
#define FSL_BLAME_EPISODE_H

#include <stddef.h>

/* Half-open range of steps in which a series is high; empty when begin == end. */
struct fsl_episode {
	size_t begin, end;
	size_t n_high;      /* steps above the threshold inside */
	double persistence; /* n_high / (end - begin) */
	double mean_ms;     /* mean excess over the range */
};

/*
 * The range that maximises the sum of +1 for values above @threshold and -1 for the others
 * (Kadane): the series is high most of the time in it. NaN values count nothing.
 */
struct fsl_episode fsl_episode_find(const double *values, size_t n, double threshold);

/* Fills n_high, persistence and mean_ms of the range [begin, end). */
void fsl_episode_measure(struct fsl_episode *episode, const double *values, double threshold);

/* From the first value above @threshold to the last one; mean_ms is that of the high values. */
struct fsl_episode fsl_episode_all(const double *values, size_t n, double threshold,
				   size_t *n_seen);

/*
 * How far an episode lies above the rest of a series (medians); NaN if the rest is too short to
 * compare with. *n_least: values seen on the shorter side. @work: 2 * n.
 */
double fsl_episode_rise(const struct fsl_episode *episode, const double *values, size_t n,
			size_t *n_least, double *work);

/*
 * How many episodes with a score (high steps less other steps) as great as that of @episode are
 * expected by chance if steps are high as often as outside of it: n (p / q)^score (Karlin and
 * Altschul, PNAS 87, 1990), the constant below 1 left out.
 */
double fsl_episode_by_chance(const struct fsl_episode *episode, const double *values, size_t n,
			     double threshold);

#endif
