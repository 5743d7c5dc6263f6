/* Tells what the engine found of a capture beside an earlier one of the job, and through which
 * kernels and collectives it grew. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "blame/baseline.h"
#include "blame/limits.h"
#include "capture/sums.h"
#include "judge/finding.h"
#include "judge/limits.h"

enum { GROWN_MAX = 5 /* kernels, and collectives, that are told */, NAME_BYTES_MAX = 72 };

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

/* A kernel or collective that takes longer than in the baseline; a list is sorted by the excess,
 * the largest first. */
struct grown {
	const struct fsl_profile_sum *now;
	double then_ms, then_count; /* 0: was not there */
};

/* Keeps the GROWN_MAX greatest. */
static void keep_grown(struct grown list[GROWN_MAX], size_t *n, struct grown item)
{
	size_t at = *n < GROWN_MAX ? (*n)++ : GROWN_MAX;
	double change_ms = item.now->ms - item.then_ms;
	for (; at > 0 && list[at - 1].now->ms - list[at - 1].then_ms < change_ms; at--) {
		if (at < GROWN_MAX) {
			list[at] = list[at - 1];
		}
	}
	if (at < GROWN_MAX) {
		list[at] = item;
	}
}

/* Both lists are sorted by name. */
static size_t list_grown(struct grown list[GROWN_MAX], const struct fsl_profile_sums *now,
			 const struct fsl_profile_sums *then, double least_ms)
{
	size_t n = 0, t = 0;
	for (size_t i = 0; i < now->n_items; i++) {
		const struct fsl_profile_sum *item = &now->items[i];
		while (t < then->n_items && strcmp(then->items[t].name, item->name) < 0) {
			t++;
		}
		bool is_known = t < then->n_items && strcmp(then->items[t].name, item->name) == 0;
		struct grown grown = {item, is_known ? then->items[t].ms : 0.0,
				      is_known ? then->items[t].count : 0.0};
		if (item->ms - grown.then_ms >= least_ms) {
			keep_grown(list, &n, grown);
		}
	}
	return n;
}

static enum fsl_status tell_grown(struct fsl_profile_findings *findings, const struct grown *grown,
				  enum fsl_code code, struct fsl_error *err)
{
	char what[1024];
	bool is_new = !(grown->then_count > 0.0);
	bool is_cut = strlen(grown->now->name) > NAME_BYTES_MAX;
	double change_ms = grown->now->ms - grown->then_ms;
	(void)snprintf(what, sizeof(what),
		       "%.*s%s: %.2f ms per step and rank, %s%.2f ms in the baseline (%.1f calls, "
		       "%.1f in the baseline)",
		       NAME_BYTES_MAX, grown->now->name, is_cut ? "..." : "", grown->now->ms,
		       is_new ? "new; " : "", grown->then_ms, grown->now->count, grown->then_count);
	const struct fsl_profile_finding finding = {
		.code = code,
		.rank = -1,
		.peer = -1,
		.step = FSL_STEP_ABSENT,
		.gain_ms = change_ms,
		.what = what,
		.advice = grown->now->count > 1.05 * grown->then_count
				  ? "it runs more often than before: look at the model or the batch"
				  : "it runs as often as before and each takes longer",
		.n_facts = 4,
		.facts = {{"now", grown->now->ms, "ms"},
			  {"baseline", grown->then_ms, "ms"},
			  {"calls", grown->now->count, "count"},
			  {"baseline_calls", grown->then_count, "count"}},
	};
	return fsl_profile_findings_add(findings, &finding, err);
}

/* All kernels together: how many times as long they take as in the baseline, and the share of their
 * time that grew so. Both lists are sorted by name. */
struct growth {
	double now_ms, then_ms, even_share;
	size_t n; /* kernels that both have */
};

static struct growth grow_together(const struct fsl_profile_sums *now,
				   const struct fsl_profile_sums *then)
{
	struct growth all = {0};
	for (int pass = 0; pass < 2; pass++) {
		double ratio = all.now_ms / all.then_ms, even_ms = 0.0;
		for (size_t i = 0, t = 0; i < now->n_items; i++) {
			const struct fsl_profile_sum *item = &now->items[i];
			while (t < then->n_items && strcmp(then->items[t].name, item->name) < 0) {
				t++;
			}
			bool is_known = t < then->n_items &&
					strcmp(then->items[t].name, item->name) == 0 &&
					fabs(item->count - then->items[t].count) <=
						FSL_JUDGE_SAME_CALLS_SHARE_MAX * item->count;
			if (pass == 0) {
				all.n += is_known ? 1 : 0;
				all.now_ms += is_known ? item->ms : 0.0;
				all.then_ms += is_known ? then->items[t].ms : 0.0;
			} else if (is_known && fabs(item->ms / then->items[t].ms / ratio - 1.0) <=
						       FSL_JUDGE_KERNELS_MORE_MIN) {
				even_ms += item->ms;
			}
		}
		all.even_share = even_ms / all.now_ms;
	}
	return all;
}

/* All ranks do the same as before at another speed: one thing, told once. *is_told stays false if
 * it is not so. */
static enum fsl_status tell_together(struct fsl_profile_findings *findings,
				     const struct fsl_profile_sums *now,
				     const struct fsl_profile_sums *then, bool *is_told,
				     struct fsl_error *err)
{
	struct growth all = grow_together(now, then);
	*is_told = all.n >= 2 &&
		   all.now_ms >= (1.0 + FSL_BASELINE_CHANGE_SHARE_MIN) * all.then_ms &&
		   all.even_share >= FSL_JUDGE_EVEN_SHARE_MIN;
	if (!*is_told) {
		return FSL_OK;
	}
	char what[256];
	(void)snprintf(
		what, sizeof(what),
		"all kernels take %.2f times as long as in the baseline, with the same shapes "
		"and as often: %.2f ms per step and rank, was %.2f ms",
		all.now_ms / all.then_ms, all.now_ms, all.then_ms);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_KERNEL_GREW);
	finding.gain_ms = all.now_ms - all.then_ms;
	finding.what = what;
	finding.advice = "the devices do the same at a lower speed: compare clock, power limit, "
			 "driver and CANN with those of the baseline";
	(void)fsl_profile_finding_add_fact(&finding, "now", all.now_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "baseline", all.then_ms, "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

typedef enum fsl_status (*summer)(struct fsl_profile_sums *sums, const struct fsl_profile *profile,
				  struct fsl_error *err);

static enum fsl_status judge_sums(struct fsl_profile_findings *findings,
				  const struct fsl_profile_case *facts, summer sum,
				  enum fsl_code code, const struct fsl_baseline *found,
				  struct fsl_error *err)
{
	double least_ms = FSL_CAPTURE_COST_SHARE_MIN * found->then_ms[FSL_BASELINE_STEP];
	bool is_told = false;
	struct fsl_profile_sums now = {0}, then = {0};
	struct grown list[GROWN_MAX];
	enum fsl_status status = sum(&now, facts->profile, err);
	if (status == FSL_OK) {
		status = sum(&then, facts->baseline, err);
	}
	if (status == FSL_OK && code == FSL_CODE_KERNEL_GREW && found->worst == NULL) {
		status = tell_together(findings, &now, &then, &is_told, err);
	}
	/* Ranks wait for the one that grew: no collective is slower by that. */
	if (code == FSL_CODE_COMMUNICATION_GREW && found->worst != NULL) {
		least_ms = fmax(least_ms, found->worst->beyond_ms);
	}
	if (status == FSL_OK && now.n_items > 0 && then.n_items > 0 && !is_told) {
		size_t n = list_grown(list, &now, &then, least_ms);
		for (size_t i = 0; i < n && status == FSL_OK; i++) {
			status = tell_grown(findings, &list[i], code, err);
		}
	}
	fsl_profile_sums_fini(&now);
	fsl_profile_sums_fini(&then);
	return status;
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
	if (found->n_ranks == 0) {
		return FSL_OK;
	}
	for (size_t i = 0; i < found->n_grown; i++) {
		FSL_TRY(tell_rank(findings, &found->grown[i], err));
	}
	FSL_TRY(tell_job(findings, found, err));
	FSL_TRY(judge_sums(findings, facts, fsl_profile_sum_kernels, FSL_CODE_KERNEL_GREW, found,
			   err));
	return judge_sums(findings, facts, fsl_profile_sum_comms, FSL_CODE_COMMUNICATION_GREW,
			  found, err);
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
