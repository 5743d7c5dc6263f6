/* Tells what the engine found of a capture beside an earlier one of the job, and through which
 * kernels and collectives it grew. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/try.h"
#include "blame/baseline.h"
#include "capture/source_words.h"
#include "judge/finding.h"

enum { NAME_TOLD_MAX = 72 };

static const char *const part_texts[] = {"the step", "computing",
					 "communication that nothing hides", "free time"};

/* The job as a whole: medians over the ranks. */
static enum fsl_status tell_job(struct fsl_profile_findings *findings,
				const struct fsl_baseline *found, struct fsl_error *err)
{
	const double *now = found->now_ms, *then = found->then_ms;
	double change_ms = found->change_ms;
	if (isnan(change_ms)) {
		return FSL_OK;
	}
	char what[512], waits[128] = "";
	if (found->is_waited_for) {
		(void)snprintf(waits, sizeof(waits),
			       "; the others wait in it for rank %d, which grew by %.1f ms",
			       (int)found->worst->rank, found->worst->beyond_ms);
	}
	(void)snprintf(
		what, sizeof(what),
		"a step takes %.1f ms, %.1f ms (%.1f %%) %s than in the baseline; most of it "
		"is %s: %.1f ms, was %.1f ms%s",
		now[FSL_BASELINE_STEP], fabs(change_ms),
		100.0 * fabs(change_ms) / then[FSL_BASELINE_STEP],
		change_ms > 0.0 ? "more" : "less", part_texts[found->most], now[found->most],
		then[found->most], waits);
	const struct fsl_profile_finding finding = {
		.code = change_ms > 0.0 ? FSL_CODE_SLOWER_THAN_BASELINE
					: FSL_CODE_FASTER_THAN_BASELINE,
		.rank = -1,
		.peer = -1,
		.step = FSL_STEP_ABSENT,
		.gain_ms = change_ms > 0.0 ? change_ms : (double)NAN,
		.what = what,
		.advice = change_ms > 0.0
				  ? "look at the kernels and collectives that grew, and at what "
				    "was changed between the two runs"
				  : "",
		.n_facts = 6,
		.facts = {{"step", now[FSL_BASELINE_STEP], "ms"},
			  {"baseline_step", then[FSL_BASELINE_STEP], "ms"},
			  {"computing_change",
			   now[FSL_BASELINE_COMPUTING] - then[FSL_BASELINE_COMPUTING], "ms"},
			  {"exposed_change", now[FSL_BASELINE_EXPOSED] - then[FSL_BASELINE_EXPOSED],
			   "ms"},
			  {"free_change", now[FSL_BASELINE_FREE] - then[FSL_BASELINE_FREE], "ms"},
			  {"ranks", (double)found->n_ranks, "count"}},
	};
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_rank(struct fsl_profile_findings *findings,
				 const struct fsl_grown_rank *grown, struct fsl_error *err)
{
	char what[512];
	(void)snprintf(what, sizeof(what),
		       "rank %d: %s takes %.1f ms per step, %.1f ms in the baseline; it grew by "
		       "%.1f ms more than on the other ranks",
		       (int)grown->rank, part_texts[grown->part], grown->now_ms, grown->then_ms,
		       grown->beyond_ms);
	const struct fsl_profile_finding finding = {
		.code = FSL_CODE_RANK_SLOWER_THAN_BASELINE,
		.rank = grown->rank,
		.peer = -1,
		.step = FSL_STEP_ABSENT,
		.gain_ms = grown->beyond_ms,
		.what = what,
		.advice = grown->part == FSL_BASELINE_COMPUTING
				  ? "check this device: its clock, temperature and power limit"
				  : "check this host: what else runs there, and its CPU clock",
		.n_facts = 3,
		.facts = {{"now", grown->now_ms, "ms"},
			  {"baseline", grown->then_ms, "ms"},
			  {"others_change", grown->others_ms, "ms"}},
	};
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_grown(struct fsl_profile_findings *findings,
				  const struct fsl_grown_sum *grown, enum fsl_code code,
				  struct fsl_error *err)
{
	char what[1024];
	bool is_new = !(grown->then_count > 0.0);
	bool is_cut = strlen(grown->name) > NAME_TOLD_MAX;
	(void)snprintf(what, sizeof(what),
		       "%.*s%s: %.2f ms per step and rank, %s%.2f ms in the baseline (%.1f calls, "
		       "%.1f in the baseline)",
		       NAME_TOLD_MAX, grown->name, is_cut ? "..." : "", grown->now_ms,
		       is_new ? "new; " : "", grown->then_ms, grown->now_count, grown->then_count);
	const struct fsl_profile_finding finding = {
		.code = code,
		.rank = -1,
		.peer = -1,
		.step = FSL_STEP_ABSENT,
		.gain_ms = grown->now_ms - grown->then_ms,
		.what = what,
		.advice = grown->now_count > 1.05 * grown->then_count
				  ? "it runs more often than before: look at the model or the batch"
				  : "it runs as often as before and each takes longer",
		.n_facts = 4,
		.facts = {{"now", grown->now_ms, "ms"},
			  {"baseline", grown->then_ms, "ms"},
			  {"calls", grown->now_count, "count"},
			  {"baseline_calls", grown->then_count, "count"}},
	};
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_sums(struct fsl_profile_findings *findings,
				 const struct fsl_grown_sums *sums, enum fsl_code code,
				 struct fsl_error *err)
{
	for (size_t i = 0; i < sums->n_items; i++) {
		FSL_TRY(tell_grown(findings, &sums->items[i], code, err));
	}
	return FSL_OK;
}

/* All ranks do the same as before at another speed: one thing, told once. */
static enum fsl_status tell_together(struct fsl_profile_findings *findings,
				     const struct fsl_baseline *found, bool is_kineto,
				     struct fsl_error *err)
{
	double now_ms = found->kernels_now_ms, then_ms = found->kernels_then_ms;
	char what[256];
	(void)snprintf(
		what, sizeof(what),
		"all kernels take %.2f times as long as in the baseline, with the same shapes "
		"and as often: %.2f ms per step and rank, was %.2f ms",
		now_ms / then_ms, now_ms, then_ms);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_KERNEL_GREW);
	finding.gain_ms = now_ms - then_ms;
	finding.what = what;
	finding.advice =
		is_kineto ? "the devices do the same at a lower speed: compare clock, power limit, "
			    "driver and libraries with those of the baseline"
			  : "the devices do the same at a lower speed: compare clock, power limit, "
			    "driver and CANN with those of the baseline";
	(void)fsl_profile_finding_add_fact(&finding, "now", now_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "baseline", then_ms, "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Tells the ranks that are in one capture alone: they are not compared. */
static enum fsl_status tell_unpaired(struct fsl_profile_findings *findings,
				     const struct fsl_profile_case *facts,
				     const struct fsl_baseline *found, struct fsl_error *err)
{
	size_t n_now = facts->profile->n_ranks, n_then = facts->baseline->n_ranks;
	size_t n_most = n_now > n_then ? n_now : n_then;
	if (found->n_ranks == 0) {
		return fsl_profile_findings_miss(
			findings, err,
			"the comparison with the baseline: no rank has step times in both");
	}
	if (found->is_other_model) {
		fsl_log(FSL_LOG_WARNING, "baseline",
			"the baseline ran another model, so that nothing is compared with it");
		return fsl_profile_findings_miss(
			findings, err,
			"the comparison with the baseline: it ran another model, %.0f %% of the "
			"time of kernels is in kernels of both captures",
			100.0 * found->model_share);
	}
	if (found->n_ranks < n_most) {
		return fsl_profile_findings_miss(
			findings, err,
			"%zu of %zu ranks beside the baseline: these have step times in one "
			"of the captures alone",
			n_most - found->n_ranks, n_most);
	}
	return FSL_OK;
}

static enum fsl_status tell_all(struct fsl_profile_findings *findings,
				const struct fsl_profile_case *facts,
				const struct fsl_baseline *found, struct fsl_error *err)
{
	FSL_TRY(tell_unpaired(findings, facts, found, err));
	if (found->n_ranks == 0 || found->is_other_model) {
		return FSL_OK;
	}
	for (size_t i = 0; i < found->n_grown; i++) {
		FSL_TRY(tell_rank(findings, &found->grown[i], err));
	}
	FSL_TRY(tell_job(findings, found, err));
	if (found->is_even) {
		FSL_TRY(tell_together(findings, found, fsl_profile_is_kineto(facts->profile), err));
	}
	FSL_TRY(tell_sums(findings, &found->kernels, FSL_CODE_KERNEL_GREW, err));
	return tell_sums(findings, &found->comms, FSL_CODE_COMMUNICATION_GREW, err);
}

enum fsl_status fsl_profile_judge_baseline(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	struct fsl_baseline found;
	if (facts->baseline == NULL) {
		return FSL_OK;
	}
	FSL_TRY(fsl_baseline_compare(&found, facts->profile, facts->baseline, err));
	enum fsl_status status = tell_all(findings, facts, &found, err);
	fsl_baseline_fini(&found);
	return status;
}
