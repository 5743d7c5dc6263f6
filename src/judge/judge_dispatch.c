/*
 * The dispatch layer: does the host keep the device busy, and if not, with what does it spend its
 * time. Each symptom is a time per step of each rank; ranks beyond its limit are told together when
 * most of them are, one by one when they stand out among their peers.
 */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/number.h"
#include "judge/dispatch_symptoms.h"
#include "judge/finding.h"

enum { TOLD_ALONE_MAX = 3, RANGES_SHOWN_MAX = 6 };

/* Ranks beyond the limit of one symptom, and medians of both sides. */
struct affected {
	const struct fsl_dispatch_symptom *symptom;
	double share_min;                       /* of a step, from there on it counts */
	const struct fsl_dispatch_view **views; /* longest first */
	size_t n, n_judged;
	double ms, step_ms; /* medians of those affected */
	double others_ms;   /* median of the others; NaN without */
};

static void add_time(struct fsl_phrase *phrase, double ms, double step_ms)
{
	fsl_phrase_add_ms(phrase, ms);
	fsl_phrase_add(phrase, " (");
	fsl_phrase_add_percent(phrase, ms / step_ms);
	fsl_phrase_add(phrase, ") of a step of ");
	fsl_phrase_add_ms(phrase, step_ms);
}

static void add_facts(struct fsl_profile_finding *finding, const struct fsl_dispatch_view *view)
{
	const struct {
		const char *name;
		double value;
		const char *unit;
	} facts[] = {
		{"step", view->step_ms, "ms"},
		{"free", view->free_ms, "ms"},
		{"free", view->free_ms / view->step_ms, "share"},
		{"preparing", view->preparing_ms, "ms"},
		{"long_gaps", view->long_gaps_ms, "ms"},
		{"kernels", view->n_kernels, "count"},
		{"host_synchronise", view->synchronise_ms, "ms"},
		{"host_compile", view->compile_ms, "ms"},
		{"host_allocate", view->allocate_ms, "ms"},
		{"waits_for_framework", view->framework_ms, "ms"},
		{"waits_for_cann", view->cann_ms, "ms"},
		{"waits_for_host", view->host_ms, "ms"},
		{"waits_for_device", view->device_ms, "ms"},
		{"data_loading", view->dataloader_ms, "ms"},
		{"garbage_collection", view->gc_ms, "ms"},
		{"launch_lag",
		 view->rank->trace.n_launches > 0
			 ? (double)view->rank->trace.lag_median_ns / (double)FSL_NS_PER_MS
			 : NAN,
		 "ms"},
	};
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (isfinite(facts[i].value)) {
			(void)fsl_profile_finding_add_fact(finding, facts[i].name, facts[i].value,
							   facts[i].unit);
		}
	}
}

static void add_advice(struct fsl_phrase *advice, const struct fsl_dispatch_symptom *symptom,
		       const struct fsl_dispatch_view *view)
{
	fsl_phrase_add(advice, "%s", symptom->advise(view));
	if (symptom->code == FSL_CODE_HOST_BOUND) {
		fsl_dispatch_add_settings(advice, view);
	}
}

static enum fsl_status tell_one(struct fsl_profile_findings *findings,
				const struct affected *affected,
				const struct fsl_dispatch_view *view, struct fsl_error *err)
{
	const struct fsl_dispatch_symptom *symptom = affected->symptom;
	struct fsl_profile_finding finding = fsl_profile_finding_of(symptom->code);
	struct fsl_phrase what = {0}, advice = {0};
	double ms = symptom->ms(view);
	finding.rank = view->rank->rank;
	fsl_phrase_add(&what, "rank %d: %s ", (int)finding.rank, symptom->words);
	add_time(&what, ms, view->step_ms);
	if (isfinite(affected->others_ms)) {
		fsl_phrase_add(&what, ", ");
		fsl_phrase_add_ms(&what, affected->others_ms);
		fsl_phrase_add(&what, " on the others");
	}
	symptom->detail(&what, view);
	if (symptom->is_gain) {
		finding.gain_ms = isfinite(affected->others_ms) ? ms - affected->others_ms : ms;
	}
	finding.what = what.text;
	add_advice(&advice, symptom, view);
	finding.advice = advice.text;
	add_facts(&finding, view);
	return fsl_profile_findings_add(findings, &finding, err);
}

/* "ranks 0-3"; only their number when memory is short. */
static void add_ranks(struct fsl_phrase *phrase, const struct affected *affected)
{
	int32_t *ranks = fsl_calloc(affected->n, sizeof(*ranks));
	if (ranks == NULL) {
		fsl_phrase_add_count(phrase, affected->n, "rank");
		return;
	}
	for (size_t i = 0; i < affected->n; i++) {
		ranks[i] = affected->views[i]->rank->rank;
	}
	fsl_phrase_add_unsorted_ranks(phrase, ranks, affected->n, RANGES_SHOWN_MAX);
	fsl_free(ranks);
}

static enum fsl_status tell_all(struct fsl_profile_findings *findings,
				const struct affected *affected, struct fsl_error *err)
{
	const struct fsl_dispatch_symptom *symptom = affected->symptom;
	const struct fsl_dispatch_view *worst = affected->views[0];
	struct fsl_profile_finding finding = fsl_profile_finding_of(symptom->code);
	struct fsl_phrase what = {0}, advice = {0};
	add_ranks(&what, affected);
	fsl_phrase_add(&what, ": %s ", symptom->words);
	add_time(&what, affected->ms, affected->step_ms);
	fsl_phrase_add(&what, " (medians); rank %d, the longest: ", (int)worst->rank->rank);
	fsl_phrase_add_ms(&what, symptom->ms(worst));
	symptom->detail(&what, worst);
	finding.gain_ms = symptom->is_gain ? affected->ms : NAN;
	finding.what = what.text;
	add_advice(&advice, symptom, worst);
	finding.advice = advice.text;
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)affected->n);
	add_facts(&finding, worst);
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Longest first, then by rank as they come. */
static void insert(struct affected *affected, const struct fsl_dispatch_view *view)
{
	size_t at = affected->n++;
	double ms = affected->symptom->ms(view);
	while (at > 0 && affected->symptom->ms(affected->views[at - 1]) < ms) {
		affected->views[at] = affected->views[at - 1];
		at--;
	}
	affected->views[at] = view;
}

static double median_ms(const struct affected *affected, double *scratch)
{
	for (size_t i = 0; i < affected->n; i++) {
		scratch[i] = affected->symptom->ms(affected->views[i]);
	}
	return fsl_median(scratch, affected->n, scratch + affected->n);
}

/* @scratch: two per view. */
static void sort_out(struct affected *affected, const struct fsl_dispatch_view *views, size_t n,
		     double *scratch)
{
	size_t n_others = 0;
	for (size_t i = 0; i < n; i++) {
		double ms = affected->symptom->ms(&views[i]);
		if (!isfinite(ms) || !isfinite(views[i].step_ms)) {
			continue;
		}
		affected->n_judged++;
		if (ms > affected->share_min * views[i].step_ms) {
			insert(affected, &views[i]);
		} else {
			scratch[n_others++] = ms;
		}
	}
	affected->others_ms = fsl_median(scratch, n_others, scratch + n);
	for (size_t i = 0; i < affected->n; i++) {
		scratch[i] = affected->views[i]->step_ms;
	}
	affected->step_ms = fsl_median(scratch, affected->n, scratch + n);
	affected->ms = median_ms(affected, scratch);
}

static enum fsl_status judge(struct fsl_profile_findings *findings,
			     const struct fsl_profile_case *facts,
			     const struct fsl_dispatch_symptom *symptom,
			     const struct fsl_dispatch_view *views, size_t n, struct fsl_error *err)
{
	struct affected affected = {.symptom = symptom,
				    .share_min = fsl_profile_effect_min(facts, symptom->share_max)};
	double *scratch = fsl_calloc(2 * n + 1, sizeof(*scratch));
	affected.views = fsl_calloc(n + 1, sizeof(*affected.views));
	enum fsl_status status = FSL_OK;
	if (scratch == NULL || affected.views == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
		goto out;
	}
	sort_out(&affected, views, n, scratch);
	bool is_alone = affected.n <= TOLD_ALONE_MAX &&
			(affected.n_judged == 1 || 2 * affected.n < affected.n_judged);
	for (size_t i = 0; is_alone && i < affected.n && status == FSL_OK; i++) {
		status = tell_one(findings, &affected, affected.views[i], err);
	}
	if (!is_alone && affected.n > 0) {
		status = tell_all(findings, &affected, err);
	}
out:
	fsl_free(affected.views);
	fsl_free(scratch);
	return status;
}

static bool lacks_steps(const struct fsl_dispatch_view *view)
{
	return !isfinite(view->step_ms);
}

/* A trace tells how long the device waited for the framework and for launches, too. */
static bool lacks_statistics(const struct fsl_dispatch_view *view)
{
	return view->rank->n_api_statistics == 0 && isnan(view->device_ms);
}

/* Likewise: the longest stretches of idle time in a trace tell when the device was free. */
static bool lacks_gaps(const struct fsl_dispatch_view *view)
{
	return fsl_dispatch_is_host_bound(view) && view->gap == NULL && isnan(view->device_ms);
}

/* The longest edges of a side, as milliseconds; 0: no rank has any. */
static double longest_ms(const struct fsl_dispatch_view *views, size_t n, bool is_before)
{
	int64_t most_ns = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_profile_edges *edges = &views[i].edges;
		int64_t ns = is_before ? edges->before_ns : edges->after_ns;
		most_ns = isfinite(views[i].step_ms) && ns > most_ns ? ns : most_ns;
	}
	return (double)most_ns / (double)FSL_NS_PER_MS;
}

/* Idle time at the edges of the capture costs nothing: told, so that nobody misses it. */
static enum fsl_status tell_edges(struct fsl_profile_findings *findings,
				  const struct fsl_dispatch_view *views, size_t n,
				  struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_CAPTURE_EDGES);
	struct fsl_phrase what = {0};
	double before_ms = longest_ms(views, n, true), after_ms = longest_ms(views, n, false);
	if (!(before_ms + after_ms > 0.0)) {
		return FSL_OK;
	}
	finding.is_overview = true;
	fsl_phrase_add(&what, "the device is idle outside of the work: ");
	if (before_ms > 0.0) {
		fsl_phrase_add_ms(&what, before_ms);
		fsl_phrase_add(&what, " before the first kernels");
	}
	if (after_ms > 0.0) {
		fsl_phrase_add(&what, before_ms > 0.0 ? ", " : "");
		fsl_phrase_add_ms(&what, after_ms);
		fsl_phrase_add(&what, " after the last ones");
	}
	fsl_phrase_add(&what, "; the capture is longer than the work, nothing of it can be won");
	finding.what = what.text;
	finding.advice = "capture steps with a schedule of the profiler, or begin and end with the "
			 "work";
	(void)fsl_profile_finding_add_fact(&finding, "before_work", before_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "after_work", after_ms, "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status miss(struct fsl_profile_findings *findings,
			    const struct fsl_dispatch_view *views, size_t n,
			    bool (*lacks)(const struct fsl_dispatch_view *view), const char *words,
			    struct fsl_error *err)
{
	int32_t *ranks = fsl_calloc(n + 1, sizeof(*ranks));
	size_t n_lacking = 0;
	if (ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	for (size_t i = 0; i < n; i++) {
		if (lacks(&views[i])) {
			ranks[n_lacking++] = views[i].rank->rank;
		}
	}
	enum fsl_status status =
		fsl_profile_findings_miss_ranks(findings, ranks, n_lacking, words, err);
	fsl_free(ranks);
	return status;
}

static enum fsl_status tell_missing(struct fsl_profile_findings *findings,
				    const struct fsl_dispatch_view *views, size_t n,
				    struct fsl_error *err)
{
	enum fsl_status status =
		miss(findings, views, n, lacks_steps,
		     "where the time of a step goes, for want of step_trace_time.csv, "
		     "kernel_details.csv or a database",
		     err);
	if (status == FSL_OK) {
		status = miss(findings, views, n, lacks_statistics,
			      "what the host does in free time, for want of api_statistic.csv "
			      "(Level1 or Level2) or the profiler's database",
			      err);
	}
	return status == FSL_OK
		       ? miss(findings, views, n, lacks_gaps,
			      "when the device is free, for want of kernel_details.csv or the "
			      "profiler's database",
			      err)
		       : status;
}

enum fsl_status fsl_profile_judge_dispatch(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	size_t n = facts->profile->n_ranks;
	struct fsl_dispatch_view *views = fsl_calloc(n + 1, sizeof(*views));
	if (views == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	for (size_t i = 0; i < n; i++) {
		views[i] = fsl_dispatch_view_of(&facts->profile->ranks[i]);
	}
	enum fsl_status status = FSL_OK;
	for (size_t s = 0; s < FSL_DISPATCH_SYMPTOMS_N && status == FSL_OK; s++) {
		status = judge(findings, facts, &fsl_dispatch_symptoms[s], views, n, err);
	}
	if (status == FSL_OK) {
		status = tell_edges(findings, views, n, err);
	}
	if (status == FSL_OK) {
		status = tell_missing(findings, views, n, err);
	}
	fsl_free(views);
	return status;
}
