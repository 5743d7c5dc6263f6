/*
 * The dispatch layer: tells whether the host keeps the device busy, and if not, with what it spends
 * its time. Ranks that the engine found to lose time to a symptom are told together if most of them
 * do, one by one if they stand out among their peers.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "capture/source_words.h"
#include "judge/dispatch_symptoms.h"
#include "judge/finding.h"

enum { RANGES_SHOWN_MAX = 6 };

static void add_time(struct fsl_phrase *phrase, double ms, double step_ms)
{
	fsl_phrase_add_ms(phrase, ms);
	fsl_phrase_add(phrase, " (");
	fsl_phrase_add_percent(phrase, ms / step_ms);
	fsl_phrase_add(phrase, ") of a step of ");
	fsl_phrase_add_ms(phrase, step_ms);
}

static void add_facts(struct fsl_profile_finding *finding, const struct fsl_host_view *view)
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
		       const struct fsl_host_view *view)
{
	fsl_phrase_add(advice, "%s", symptom->advise(view));
	if (symptom->code == FSL_CODE_HOST_BOUND) {
		fsl_dispatch_add_settings(advice, view);
	}
}

static enum fsl_status tell_one(struct fsl_profile_findings *findings,
				const struct fsl_dispatch_symptom *symptom,
				const struct fsl_host_loss *loss, double others_ms,
				struct fsl_error *err)
{
	const struct fsl_host_view *view = loss->view;
	struct fsl_profile_finding finding = fsl_profile_finding_of(symptom->code);
	struct fsl_phrase what = {0}, advice = {0};
	finding.rank = view->rank->rank;
	fsl_phrase_add(&what, "rank %d: %s ", (int)finding.rank, symptom->words);
	add_time(&what, loss->ms, view->step_ms);
	if (isfinite(others_ms)) {
		fsl_phrase_add(&what, ", ");
		fsl_phrase_add_ms(&what, others_ms);
		fsl_phrase_add(&what, " on the others");
	}
	if (symptom->detail != NULL) {
		symptom->detail(&what, view);
	}
	finding.gain_ms = loss->gain_ms;
	finding.what = what.text;
	add_advice(&advice, symptom, view);
	finding.advice = advice.text;
	add_facts(&finding, view);
	return fsl_profile_findings_add(findings, &finding, err);
}

/* "ranks 0-3"; only their number when memory is short. */
static void add_ranks(struct fsl_phrase *phrase, const struct fsl_symptom_losses *of)
{
	int32_t *ranks = fsl_calloc(of->n_ranks, sizeof(*ranks));
	if (ranks == NULL) {
		fsl_phrase_add_count(phrase, of->n_ranks, "rank");
		return;
	}
	for (size_t i = 0; i < of->n_ranks; i++) {
		ranks[i] = of->ranks[i].view->rank->rank;
	}
	fsl_phrase_add_unsorted_ranks(phrase, ranks, of->n_ranks, RANGES_SHOWN_MAX);
	fsl_free(ranks);
}

static enum fsl_status tell_all(struct fsl_profile_findings *findings,
				const struct fsl_dispatch_symptom *symptom,
				const struct fsl_symptom_losses *of, struct fsl_error *err)
{
	const struct fsl_host_view *worst = of->ranks[0].view;
	struct fsl_profile_finding finding = fsl_profile_finding_of(symptom->code);
	struct fsl_phrase what = {0}, advice = {0};
	add_ranks(&what, of);
	fsl_phrase_add(&what, ": %s ", symptom->words);
	add_time(&what, of->ms, of->step_ms);
	fsl_phrase_add(&what, " (medians); rank %d, the longest: ", (int)worst->rank->rank);
	fsl_phrase_add_ms(&what, of->ranks[0].ms);
	if (symptom->detail != NULL) {
		symptom->detail(&what, worst);
	}
	finding.gain_ms = of->gain_ms;
	finding.what = what.text;
	add_advice(&advice, symptom, worst);
	finding.advice = advice.text;
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)of->n_ranks);
	add_facts(&finding, worst);
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell(struct fsl_profile_findings *findings,
			    const struct fsl_symptom_losses *of,
			    const struct fsl_dispatch_symptom *symptom, struct fsl_error *err)
{
	for (size_t i = 0; of->is_single && i < of->n_ranks; i++) {
		FSL_TRY(tell_one(findings, symptom, &of->ranks[i], of->others_ms, err));
	}
	return of->is_single || of->n_ranks == 0 ? FSL_OK : tell_all(findings, symptom, of, err);
}

static bool lacks_steps(const struct fsl_host_view *view)
{
	return !isfinite(view->step_ms);
}

/* A trace tells how long the device waited for the framework and for launches, too. */
static bool lacks_statistics(const struct fsl_host_view *view)
{
	return view->rank->n_api_statistics == 0 && isnan(view->device_ms);
}

/* Likewise: the longest stretches of idle time in a trace tell when the device was free. */
static bool lacks_gaps(const struct fsl_host_view *view)
{
	return view->is_host_bound && view->gap == NULL && isnan(view->device_ms);
}

/* Idle time at the edges of the capture costs nothing: told, so that nobody misses it. */
static enum fsl_status tell_edges(struct fsl_profile_findings *findings,
				  const struct fsl_host_losses *losses, struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_CAPTURE_EDGES);
	struct fsl_phrase what = {0};
	double before_ms = losses->before_ms, after_ms = losses->after_ms;
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
			    const struct fsl_host_view *views, size_t n,
			    bool (*lacks)(const struct fsl_host_view *view), const char *words,
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
				    const struct fsl_host_view *views, size_t n,
				    const struct fsl_source_words *words, struct fsl_error *err)
{
	FSL_TRY(miss(findings, views, n, lacks_steps, words->steps, err));
	FSL_TRY(miss(findings, views, n, lacks_statistics, words->statistics, err));
	return miss(findings, views, n, lacks_gaps, words->gaps, err);
}

enum fsl_status fsl_profile_judge_dispatch(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	struct fsl_host_losses losses;
	FSL_TRY(fsl_host_losses_find(&losses, facts->profile, &facts->look, err));
	enum fsl_status status = FSL_OK;
	for (size_t s = 0; s < FSL_SYMPTOMS_N; s++) {
		FSL_THEN(status,
			 tell(findings, &losses.symptoms[s], &fsl_dispatch_symptoms[s], err));
	}
	FSL_THEN(status, tell_edges(findings, &losses, err));
	FSL_THEN(status, tell_missing(findings, losses.views, facts->profile->n_ranks,
				      fsl_profile_source_words(facts->profile), err));
	fsl_host_losses_fini(&losses);
	return status;
}
