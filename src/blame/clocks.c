/* Clocks of the ranks beside the highest of them. */
#include "blame/clocks.h"

#include <math.h>

#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

static double highest_mhz(const struct fsl_profile *profile)
{
	int32_t highest = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_trace *trace = &profile->ranks[r].trace;
		for (size_t i = 0; i < trace->n_freqs; i++) {
			highest = trace->freqs_mhz[i] > highest ? trace->freqs_mhz[i] : highest;
		}
	}
	return (double)highest;
}

/* Mean clock of cores that work, MHz, by time; NaN when not told. */
static double working_mhz(const struct fsl_profile_trace *trace, double nominal_mhz)
{
	double sum = 0.0, time = 0.0;
	for (size_t i = 0; i < trace->n_freqs; i++) {
		double mhz = (double)trace->freqs_mhz[i], ns = (double)trace->freq_ns[i];
		if (mhz > FSL_IDLE_CLOCK_MAX * nominal_mhz && ns > 0.0) {
			sum += mhz * ns;
			time += ns;
		}
	}
	return time > 0.0 ? sum / time : (double)NAN;
}

/* Replays the job with low clocks mended. */
static enum fsl_status replay_costs(struct fsl_clocks *out, const struct fsl_places_job *job,
				    const struct fsl_places *places, struct fsl_error *err)
{
	double *factor = NULL, *cost_ms = NULL, together_ms;
	FSL_TRY(FSL_ARENA_NEW(factor, &out->arena, places->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(cost_ms, &out->arena, places->n_ranks, "ranks", err));
	for (size_t r = 0; r < places->n_ranks; r++) {
		cost_ms[r] = out->ranks[r].cost_ms;
		double left = 1.0 - cost_ms[r] / job->own_ms[r];
		factor[r] = out->ranks[r].is_low && left > 0.0 ? left : 1.0;
	}
	FSL_TRY(fsl_places_scale(&together_ms, cost_ms, job, places, factor, err));
	for (size_t r = 0; r < places->n_ranks; r++) {
		out->ranks[r].cost_ms = cost_ms[r];
	}
	return FSL_OK;
}

enum fsl_status fsl_clocks_compare(struct fsl_clocks *out, const struct fsl_profile *profile,
				   const struct fsl_places_job *job,
				   const struct fsl_places *places, struct fsl_error *err)
{
	bool is_any_low = false;
	*out = (struct fsl_clocks){.nominal_mhz = highest_mhz(profile)};
	FSL_TRY(FSL_ARENA_NEW(out->ranks, &out->arena, profile->n_ranks, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		struct fsl_clock *clock = &out->ranks[r];
		clock->mhz = working_mhz(&rank->trace, out->nominal_mhz);
		clock->loss = 1.0 - clock->mhz / out->nominal_mhz;
		clock->is_low = clock->mhz < (1.0 - FSL_CLOCK_LOSS_MIN) * out->nominal_mhz;
		if (clock->is_low) {
			clock->cost_ms =
				clock->loss * fsl_profile_part_ms(rank, FSL_PART_COMPUTING);
			is_any_low = true;
		}
	}
	enum fsl_status status = is_any_low ? replay_costs(out, job, places, err) : FSL_OK;
	if (status != FSL_OK) {
		fsl_clocks_fini(out);
	}
	return status;
}

void fsl_clocks_fini(struct fsl_clocks *clocks)
{
	fsl_arena_fini(&clocks->arena);
	*clocks = (struct fsl_clocks){0};
}
