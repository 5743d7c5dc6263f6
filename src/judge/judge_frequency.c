/* Tells the clocks of the cores, and which of them the engine found low. */
#include <math.h>

#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/clocks.h"
#include "capture/source_words.h"
#include "judge/finding.h"
#include "text/phrase.h"

static enum fsl_status tell(struct fsl_profile_findings *findings, const struct fsl_clock *clock,
			    int32_t rank, double nominal_mhz, struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_CORE_FREQUENCY);
	struct fsl_phrase what = {0};
	fsl_phrase_add(&what, "rank %d: its cores work at %.0f MHz on average, ", (int)rank,
		       clock->mhz);
	fsl_phrase_add_percent(&what, clock->loss);
	fsl_phrase_add(&what, " below the highest clock of the set, %.0f MHz", nominal_mhz);
	finding.rank = rank;
	finding.gain_ms = clock->cost_ms;
	finding.what = what.text;
	finding.advice = "check temperature, power limit and cooling of this device (npu-smi info "
			 "-t temp, -t power)";
	(void)fsl_profile_finding_add_fact(&finding, "clock", clock->mhz, "MHz");
	(void)fsl_profile_finding_add_fact(&finding, "highest", nominal_mhz, "MHz");
	(void)fsl_profile_finding_add_fact(&finding, "loss", clock->loss, "share");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* No fault: at which clock the cores work, from the slowest rank to the fastest. */
static enum fsl_status tell_clocks(struct fsl_profile_findings *findings,
				   const struct fsl_profile *profile,
				   const struct fsl_clocks *clocks, struct fsl_error *err)
{
	struct fsl_phrase what = {0};
	const struct fsl_profile_rank *slowest = NULL;
	double least = INFINITY, most = 0.0;
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		double mhz = clocks->ranks[r].mhz;
		if (!isfinite(mhz)) {
			continue;
		}
		n++;
		most = fmax(most, mhz);
		if (mhz < least) {
			least = mhz;
			slowest = &profile->ranks[r];
		}
	}
	if (slowest == NULL) {
		return FSL_OK;
	}
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_CORE_CLOCK);
	finding.is_overview = true;
	fsl_phrase_add(&what, "while they work, the cores of ");
	fsl_phrase_add_count(&what, n, "rank");
	if (most - least < 0.5) {
		fsl_phrase_add(&what, " have a clock of %.0f MHz", most);
	} else {
		fsl_phrase_add(&what, " have clocks of %.0f MHz (rank %d) to %.0f MHz", least,
			       (int)slowest->rank, most);
	}
	(void)fsl_profile_finding_add_fact(&finding, "lowest", least, "MHz");
	(void)fsl_profile_finding_add_fact(&finding, "highest", most, "MHz");
	finding.what = what.text;
	finding.advice =
		"compare with the chip's nominal clock: all devices may be throttled alike";
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_all(struct fsl_profile_findings *findings,
				const struct fsl_profile *profile, struct fsl_clocks *clocks,
				struct fsl_error *err)
{
	int32_t *lacking = NULL;
	size_t n_lacking = 0;
	FSL_TRY(FSL_ARENA_NEW(lacking, &clocks->arena, profile->n_ranks, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_clock *clock = &clocks->ranks[r];
		if (isnan(clock->mhz)) {
			lacking[n_lacking++] = profile->ranks[r].rank;
		} else if (clock->is_low) {
			FSL_TRY(tell(findings, clock, profile->ranks[r].rank, clocks->nominal_mhz,
				     err));
		}
	}
	FSL_TRY(tell_clocks(findings, profile, clocks, err));
	const char *words = fsl_profile_source_words(profile)->clock;
	return words != NULL
		       ? fsl_profile_findings_miss_ranks(findings, lacking, n_lacking, words, err)
		       : FSL_OK;
}

enum fsl_status fsl_profile_judge_frequency(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	const struct fsl_capture_places *places = facts->places;
	struct fsl_clocks clocks;
	FSL_TRY(fsl_clocks_compare(&clocks, facts->profile, &places->job, &places->places, err));
	enum fsl_status status = tell_all(findings, facts->profile, &clocks, err);
	fsl_clocks_fini(&clocks);
	return status;
}
