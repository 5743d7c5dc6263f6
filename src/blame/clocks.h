/*
 * Clocks of the cores, and what a lower clock costs. Nothing is known about the chip: its nominal
 * clock is the highest of all ranks, and half of that or less is the clock of idle cores, which is
 * normal ({800, 1800} MHz).
 */
#ifndef FSL_BLAME_CLOCKS_H
#define FSL_BLAME_CLOCKS_H

#include "blame/places.h"
#include "capture/capture.h"

struct fsl_clock {
	double mhz;  /* mean while the cores work, by time; NaN: not told */
	bool is_low; /* so far below the nominal clock that it is a fault */
	double loss; /* share of the nominal clock that it lacks */
	/* The cost of a low clock per step if all other low clocks are mended; without a replay,
	 * how much longer the rank computes by it. */
	double cost_ms;
};

struct fsl_clocks {
	struct fsl_arena arena;
	struct fsl_clock *ranks; /* by index in profile->ranks */
	double nominal_mhz;
};

/* Fills @out (overwritten). @job, @places: of the ranks of the profile. Fails with FSL_ERR_MEMORY
 * only; @out is then empty. */
enum fsl_status fsl_clocks_compare(struct fsl_clocks *out, const struct fsl_profile *profile,
				   const struct fsl_places_job *job,
				   const struct fsl_places *places, struct fsl_error *err);
void fsl_clocks_fini(struct fsl_clocks *clocks);

#endif
