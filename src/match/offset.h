/*
 * Offset between two clocks from ends that belong together, without knowing which do: ends of one
 * message or collective differ by the offset and little more, all other pairs of ends by anything.
 * Private to src/match.
 */
#ifndef FSL_MATCH_OFFSET_H
#define FSL_MATCH_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends of one rank's operators on its own clock, ascending. */
struct fsl_ends {
	const int64_t *ns;
	size_t n;
};

/* True when they are in order: what every search relies on. */
bool fsl_ends_ascend(struct fsl_ends ends);

/* Difference b - a of two ends that may belong together. */
struct fsl_difference {
	int64_t ns;
	uint32_t asked; /* number of the end of a, in order of time */
};

struct fsl_differences {
	struct fsl_difference *items; /* n_max */
	size_t n, n_max;
	size_t n_asked; /* ends of a that had a chance: inside the time that b covers */
};

/* Range of the search: offsets of clock b to clock a in [around - reach, around + reach]. */
struct fsl_offset_range {
	int64_t around_ns, reach_ns;
};

/* Most common difference. */
struct fsl_offset {
	int64_t offset_ns;
	int64_t width_ns;  /* of the narrowest range that holds the wanted number of differences */
	int64_t jitter_ns; /* usual change from one common end to the next: free of drift */
};

/* Adds the differences of at most @n_samples ends of @a, spread evenly, to all ends of @b in range.
 */
void fsl_differences_add(struct fsl_differences *out, struct fsl_ends a, struct fsl_ends b,
			 struct fsl_offset_range range, size_t n_samples);

/*
 * The narrowest range that holds @n_wanted of the differences, and its middle one: the shortest-
 * half estimate of a mode (Andrews et al. 1972; Rousseeuw 1985). If several ranges are narrow, the
 * one with the least jitter wins: work between two ends varies from use to use, a clock only
 * drifts. Reorders the differences. False if there are fewer. @hits, @work: room for as many.
 */
bool fsl_offset_find(struct fsl_offset *out, struct fsl_differences *differences, size_t n_wanted,
		     struct fsl_difference *hits, int64_t *work);

/* Half of the times between successive ends are shorter; 0 below two. @work:
 * FSL_ENDS_COMPARED_MAX. */
int64_t fsl_usual_interval_ns(struct fsl_ends ends, int64_t *work);

#endif
