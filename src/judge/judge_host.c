/*
 * Tells the work of the host in a step and how far it is ahead of its device: calls of AscendCL,
 * operators of the framework, launches, and the time from a launch to its task. These findings are
 * no faults. They help if the device waits, which judge_dispatch.c tells.
 */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "capture/step_rows.h"
#include "capture/sums.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "text/phrase.h"

enum { TOLD_MAX = 3, LINES_MAX = 20 /* of a kind, in the file */ };

static const char *const call_facts[TOLD_MAX] = {"first_call", "second_call", "third_call"};
static const char *const operator_facts[TOLD_MAX] = {"first_operator", "second_operator",
						     "third_operator"};

static void begin_part(struct fsl_phrase *what, const char *words)
{
	fsl_phrase_add(what, "%s%s", what->length > 0 ? "; " : "", words);
}

/* "aclrtSynchronizeStream 71.7 ms (6 calls), ..." */
static void list_longest(struct fsl_phrase *what, struct fsl_profile_finding *finding,
			 struct fsl_profile_sums *sums, const char *words, const char *const *facts)
{
	fsl_profile_sums_rank(sums);
	for (size_t i = 0; i < sums->n_items && i < TOLD_MAX; i++) {
		const struct fsl_profile_sum *item = &sums->items[i];
		if (item->ms < FSL_JUDGE_TOLD_MS_MIN) {
			break;
		}
		if (i == 0) {
			begin_part(what, words);
		}
		fsl_phrase_add(what, "%s%.80s ", i > 0 ? ", " : " ", item->name);
		fsl_phrase_add_ms(what, item->ms);
		fsl_phrase_add(what, item->count < 1.0 ? " (%.2g call%s)" : " (%.4g call%s)",
			       item->count, item->count == 1.0 ? "" : "s");
		(void)fsl_profile_finding_add_fact(finding, facts[i], item->ms, "ms");
	}
}

/* The longest with all their numbers, behind lines[n] there are; @sums: longest first. */
static size_t add_lines(struct fsl_profile_line *lines, size_t n,
			const struct fsl_profile_sums *sums, const char *kind)
{
	double all_ms = 0.0;
	for (size_t i = 0; i < sums->n_items; i++) {
		all_ms += sums->items[i].ms;
	}
	for (size_t i = 0; i < sums->n_items && i < LINES_MAX && all_ms > 0.0; i++) {
		const struct fsl_profile_sum *item = &sums->items[i];
		lines[n++] = (struct fsl_profile_line){kind, item->name, item->ms, item->count,
						       item->ms / all_ms};
	}
	return n;
}

/* Launches by CANN: "launch" of level node. */
static void tell_launches(struct fsl_phrase *what, struct fsl_profile_finding *finding,
			  const struct fsl_profile *profile)
{
	double n = 0.0, ms = 0.0, n_steps = 0.0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		uint32_t launch = fsl_strpool_find(rank->names, "launch", 6);
		uint32_t node = fsl_strpool_find(rank->names, "node", 4);
		for (size_t i = 0; i < rank->n_api_statistics; i++) {
			const struct fsl_profile_statistic *api = &rank->api_statistics[i];
			if (api->name_id == launch && api->kind_id == node && api->count > 0) {
				n += (double)api->count;
				ms += (double)api->total_ns / (double)FSL_NS_PER_MS;
				n_steps += (double)fsl_profile_steps_captured(rank);
			}
		}
	}
	if (!(n > 0.0)) {
		return;
	}
	begin_part(what, "");
	fsl_phrase_add(what, "%.4g launches of %.1f us each", n / n_steps, 1000.0 * ms / n);
	(void)fsl_profile_finding_add_fact(finding, "launches", n / n_steps, "count");
	(void)fsl_profile_finding_add_fact(finding, "launch", ms / n, "ms");
}

/* Lags of one rank, ms; NaN: not told. */
static double lag_ms(const struct fsl_profile_rank *rank)
{
	return rank->trace.n_launches > 0
		       ? (double)rank->trace.lag_median_ns / (double)FSL_NS_PER_MS
		       : (double)NAN;
}

static double lag_p95_ms(const struct fsl_profile_rank *rank)
{
	return rank->trace.n_launches > 0 ? (double)rank->trace.lag_p95_ns / (double)FSL_NS_PER_MS
					  : (double)NAN;
}

static double torch_lag_ms(const struct fsl_profile_rank *rank)
{
	const struct fsl_trace_lag *lag = &rank->trace.torch_lag;
	return lag->n > 0 ? (double)lag->median_ns / (double)FSL_NS_PER_MS : (double)NAN;
}

static double queue_lag_ms(const struct fsl_profile_rank *rank)
{
	const struct fsl_trace_lag *lag = &rank->trace.queue_lag;
	return lag->n > 0 ? (double)lag->median_ns / (double)FSL_NS_PER_MS : (double)NAN;
}

/* Over the ranks that tell; @scratch: 2 per rank. */
static double median_of(const struct fsl_profile *profile, double *scratch,
			double (*of)(const struct fsl_profile_rank *rank))
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		double value = of(&profile->ranks[r]);
		scratch[n] = value;
		n += isfinite(value) ? 1 : 0;
	}
	return fsl_median(scratch, n, scratch + n);
}

/* From the host's call to the device's work: how far the host is ahead. */
static enum fsl_status tell_lags(struct fsl_phrase *what, struct fsl_profile_finding *finding,
				 const struct fsl_profile *profile, struct fsl_error *err)
{
	double *scratch = fsl_calloc(2 * profile->n_ranks + 1, sizeof(*scratch));
	if (scratch == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	const struct {
		const char *words, *fact;
		double (*of)(const struct fsl_profile_rank *rank);
	} lags[] = {
		{"from a launch to its task pass ", "launch_lag", lag_ms},
		{", 19 of 20 times at most ", "launch_lag_p95", lag_p95_ms},
		{", from the framework's operator ", "operator_lag", torch_lag_ms},
		{", of it in the task queue ", "queue_lag", queue_lag_ms},
	};
	bool is_told = false;
	for (size_t i = 0; i < sizeof(lags) / sizeof(lags[0]); i++) {
		double ms = median_of(profile, scratch, lags[i].of);
		if (i == 0 && isfinite(ms)) {
			is_told = true;
			begin_part(what, "");
		}
		if (is_told && isfinite(ms)) {
			fsl_phrase_add(what, "%s", lags[i].words);
			fsl_phrase_add_ms(what, ms);
			(void)fsl_profile_finding_add_fact(finding, lags[i].fact, ms, "ms");
		}
	}
	fsl_phrase_add(what, "%s", is_told ? " (medians)" : "");
	finding->advice =
		is_told ? "short lags: the device waits for launches; long ones: the host "
			  "is ahead, so the device sets the pace"
			: "synchronisations are waits for the device; the rest is what the "
			  "host itself takes";
	fsl_free(scratch);
	return FSL_OK;
}

enum fsl_status fsl_profile_judge_host(struct fsl_profile_findings *findings,
				       const struct fsl_profile_case *facts, struct fsl_error *err)
{
	struct fsl_profile_sums calls = {0}, operators = {0};
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_HOST_WORK);
	finding.is_overview = true;
	struct fsl_phrase what = {0};
	enum fsl_status status = fsl_profile_sum_calls(&calls, facts->profile, err);
	if (status == FSL_OK) {
		status = fsl_profile_sum_operators(&operators, facts->profile, err);
	}
	if (status == FSL_OK) {
		list_longest(&what, &finding, &calls, "calls of the host in a step:", call_facts);
		tell_launches(&what, &finding, facts->profile);
		list_longest(&what, &finding, &operators,
			     "operators of the framework, by themselves:", operator_facts);
		status = tell_lags(&what, &finding, facts->profile, err);
	}
	if (status == FSL_OK && what.length > 0) {
		struct fsl_profile_line lines[2 * LINES_MAX];
		finding.n_lines = add_lines(lines, 0, &calls, "hostCall");
		finding.n_lines =
			add_lines(lines, finding.n_lines, &operators, "frameworkOperator");
		finding.lines = lines;
		finding.what = what.text;
		status = fsl_profile_findings_add(findings, &finding, err);
	}
	fsl_profile_sums_fini(&operators);
	fsl_profile_sums_fini(&calls);
	return status;
}
