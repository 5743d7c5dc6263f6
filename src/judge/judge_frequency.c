/*
 * The clock of the cores: how much slower they run than the fastest clock that was seen in the set.
 * Nothing is known about the chip: its nominal clock is the highest of all ranks, and half of that
 * or less is the clock of idle cores, which is normal ({800, 1800} MHz).
 */
#include <math.h>

#include "base/mem.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "text/phrase.h"

static int32_t nominal_mhz(const struct fsl_profile *profile)
{
	int32_t highest = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_trace *trace = &profile->ranks[r].trace;
		for (size_t i = 0; i < trace->n_freqs; i++) {
			highest = trace->freqs_mhz[i] > highest ? trace->freqs_mhz[i] : highest;
		}
	}
	return highest;
}

/* Mean clock of cores that work, MHz, by time; NaN when not told. */
static double working_mhz(const struct fsl_profile_trace *trace, int32_t nominal)
{
	double sum = 0.0, time = 0.0;
	for (size_t i = 0; i < trace->n_freqs; i++) {
		double mhz = (double)trace->freqs_mhz[i], ns = (double)trace->freq_ns[i];
		if (mhz > FSL_JUDGE_IDLE_CLOCK_MAX * (double)nominal && ns > 0.0) {
			sum += mhz * ns;
			time += ns;
		}
	}
	return time > 0.0 ? sum / time : (double)NAN;
}

static enum fsl_status tell(struct fsl_profile_findings *findings,
			    const struct fsl_profile_rank *rank, double mhz, double nominal,
			    struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_CORE_FREQUENCY);
	struct fsl_phrase what = {0};
	double loss = 1.0 - mhz / nominal;
	fsl_phrase_add(&what, "rank %d: its cores work at %.0f MHz on average, ", (int)rank->rank,
		       mhz);
	fsl_phrase_add_percent(&what, loss);
	fsl_phrase_add(&what, " below the highest clock of the set, %.0f MHz", nominal);
	finding.rank = rank->rank;
	finding.gain_ms = loss * fsl_profile_part_ms(rank, FSL_PART_COMPUTING);
	finding.what = what.text;
	finding.advice = "check temperature, power limit and cooling of this device (npu-smi info "
			 "-t temp, -t power)";
	(void)fsl_profile_finding_add_fact(&finding, "clock", mhz, "MHz");
	(void)fsl_profile_finding_add_fact(&finding, "highest", nominal, "MHz");
	(void)fsl_profile_finding_add_fact(&finding, "loss", loss, "share");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* No fault: at which clock the cores work, from the slowest rank to the fastest. */
static enum fsl_status tell_clocks(struct fsl_profile_findings *findings,
				   const struct fsl_profile *profile, double nominal,
				   struct fsl_error *err)
{
	struct fsl_phrase what = {0};
	const struct fsl_profile_rank *slowest = NULL;
	double least = INFINITY, most = 0.0;
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		double mhz = working_mhz(&profile->ranks[r].trace, (int32_t)nominal);
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

enum fsl_status fsl_profile_judge_frequency(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	const struct fsl_profile *profile = facts->profile;
	int32_t *lacking = fsl_calloc(profile->n_ranks + 1, sizeof(*lacking));
	double nominal = (double)nominal_mhz(profile);
	enum fsl_status status = FSL_OK;
	size_t n_lacking = 0;
	if (lacking == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		double mhz = working_mhz(&rank->trace, (int32_t)nominal);
		if (isnan(mhz)) {
			lacking[n_lacking++] = rank->rank;
		} else if (mhz < (1.0 - FSL_JUDGE_CLOCK_LOSS_MIN) * nominal) {
			status = tell(findings, rank, mhz, nominal, err);
		}
	}
	if (status == FSL_OK) {
		status = tell_clocks(findings, profile, nominal, err);
	}
	if (status == FSL_OK) {
		status = fsl_profile_findings_miss_ranks(
			findings, lacking, n_lacking,
			"at which clock the cores work, for want of trace_view.json with AI Core "
			"Freq (Level1 or Level2), or AICORE_FREQ of a database",
			err);
	}
	fsl_free(lacking);
	return status;
}
