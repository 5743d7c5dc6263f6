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
#include "profile/dispatch_view.h"
#include "profile/finding.h"
#include "report/phrase.h"

enum { TOLD_ALONE_MAX = 3, RANGES_SHOWN_MAX = 6 };

/* More free time than this: the host does not keep up (product document of the profiler). */
#define FREE_SHARE_MAX 0.10
/* Below this nobody would change a program for it. */
#define HOST_WORK_SHARE_MAX 0.01
/* Waiting is the normal state of a host that is ahead of its device. */
#define SYNCHRONISE_SHARE_MAX 0.10
/* One gap makes so much of a step's free time: a pause, not the price of launches. */
#define LONG_GAP_SHARE_MIN 0.2

static bool is_host_bound(const struct fsl_dispatch_view *view)
{
	return view->free_ms > FREE_SHARE_MAX * view->step_ms;
}

/* NaN when one of them is. */
static double lesser(double a, double b)
{
	return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
}

static double free_ms(const struct fsl_dispatch_view *view)
{
	return view->free_ms;
}

static double preparing_ms(const struct fsl_dispatch_view *view)
{
	return view->preparing_ms;
}

/* Only what the device then lacks can be won. */
static double won_ms(const struct fsl_dispatch_view *view, double host_ms)
{
	double preparing = view->preparing_ms > 0.0 ? view->preparing_ms : 0.0;
	return lesser(host_ms, view->free_ms + preparing);
}

static double compiling_ms(const struct fsl_dispatch_view *view)
{
	return won_ms(view, view->compile_ms);
}

static double allocating_ms(const struct fsl_dispatch_view *view)
{
	return won_ms(view, view->allocate_ms);
}

static double loading_ms(const struct fsl_dispatch_view *view)
{
	return won_ms(view, view->dataloader_ms);
}

static double collecting_ms(const struct fsl_dispatch_view *view)
{
	return won_ms(view, view->gc_ms);
}

static double pausing_ms(const struct fsl_dispatch_view *view)
{
	return view->pause_ms;
}

static double synchronising_ms(const struct fsl_dispatch_view *view)
{
	return is_host_bound(view) ? view->synchronise_ms : NAN;
}

static bool has_long_gaps(const struct fsl_dispatch_view *view)
{
	double longest_ms = (double)view->gap->dur_ns / (double)FSL_NS_PER_MS;
	return longest_ms >= LONG_GAP_SHARE_MIN * view->free_ms;
}

/* What the free time consists of. */
static void detail_free(struct fsl_phrase *phrase, const struct fsl_dispatch_view *view)
{
	const struct fsl_profile_rank *rank = view->rank;
	if (isfinite(view->n_kernels)) {
		fsl_phrase_add(phrase, "; %.0f kernels per step, %.0f us of it for each",
			       view->n_kernels, 1000.0 * view->free_ms / view->n_kernels);
	}
	if (view->gap != NULL) {
		const char *after = fsl_strpool_text(rank->names, view->gap->after_id);
		fsl_phrase_add(phrase, "; the longest gap ");
		fsl_phrase_add_ms(phrase, (double)view->gap->dur_ns / (double)FSL_NS_PER_MS);
		fsl_phrase_add(phrase, "%s%s", *after != '\0' ? " before " : "", after);
	}
	double known_ms = view->framework_ms + view->cann_ms + view->device_ms;
	if (known_ms > 0.0) {
		fsl_phrase_add(phrase, "; the longest stretches wait for the framework (");
		fsl_phrase_add_percent(phrase, view->framework_ms / known_ms);
		fsl_phrase_add(phrase, "), for launches by CANN (");
		fsl_phrase_add_percent(phrase, view->cann_ms / known_ms);
		fsl_phrase_add(phrase, "), for what was launched (");
		fsl_phrase_add_percent(phrase, view->device_ms / known_ms);
		fsl_phrase_add(phrase, ")");
	}
}

static const char *advise_free(const struct fsl_dispatch_view *view)
{
	if (view->gap == NULL) {
		return "capture kernel_details.csv (Level1) to tell single pauses from slow "
		       "launches; then look at the host: data loading, synchronisation, CPU cores";
	}
	if (has_long_gaps(view)) {
		return "a few long gaps: look what the host does before the operators after them "
		       "(synchronisation, data loading, garbage collection, compilation)";
	}
	return "many short gaps: launch fewer, larger kernels (fused operators, graph mode), give "
	       "the process cores of its own, and set TASK_QUEUE_ENABLE=2, CPU_AFFINITY_CONF=1";
}

static void detail_none(struct fsl_phrase *phrase, const struct fsl_dispatch_view *view)
{
	(void)phrase;
	(void)view;
}

static const char *advise_preparing(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "load and copy the next batch while this step runs, and keep work on the host out "
	       "of the begin of a step";
}

static const char *advise_compile(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "compile once: torch.npu.set_compile_mode(jit_compile=False), operators of aclnn, "
	       "and input shapes that do not change; leave the first steps out of captures";
}

static const char *advise_allocate(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "keep memory with the process: PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, no "
	       "empty_cache() in steps";
}

static const char *advise_synchronise(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "after each synchronisation the device waits until the host is ahead again: keep "
	       "item(), copies to the host and prints of tensors out of steps";
}

static const char *advise_loading(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "more workers of the data loader, pinned memory and prefetching, or faster storage";
}

static const char *advise_collecting(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "gc.disable() or gc.freeze() after the model is built, and gc.collect() between "
	       "steps at times of your own";
}

static const char *advise_pause(const struct fsl_dispatch_view *view)
{
	(void)view;
	return "look for garbage collection, a lock, storage or another process on its cores: the "
	       "process called nothing of CANN meanwhile";
}

static const struct symptom {
	const char *code;
	const char *words; /* subject and verb before the time */
	double share_max;  /* of the step, from there on it is told */
	bool is_gain;      /* the time is what could be won */
	double (*ms)(const struct fsl_dispatch_view *view);
	void (*detail)(struct fsl_phrase *phrase, const struct fsl_dispatch_view *view);
	const char *(*advise)(const struct fsl_dispatch_view *view);
} symptoms[] = {
	{"host_bound", "the device has nothing to do for", FREE_SHARE_MAX, true, free_ms,
	 detail_free, advise_free},
	{"late_first_task", "from the first operator of a step to its first device task pass",
	 FREE_SHARE_MAX, true, preparing_ms, detail_none, advise_preparing},
	{"operator_compile", "compiling operators holds the device up for", HOST_WORK_SHARE_MAX,
	 true, compiling_ms, detail_none, advise_compile},
	{"device_malloc", "allocating device memory holds the device up for", HOST_WORK_SHARE_MAX,
	 true, allocating_ms, detail_none, advise_allocate},
	{"data_loading", "long calls of the data loader hold the device up for",
	 HOST_WORK_SHARE_MAX, true, loading_ms, detail_none, advise_loading},
	{"garbage_collection", "Python's garbage collector holds the device up for",
	 HOST_WORK_SHARE_MAX, true, collecting_ms, detail_none, advise_collecting},
	{"host_pause", "the host gives the device nothing at all for", HOST_WORK_SHARE_MAX, true,
	 pausing_ms, detail_none, advise_pause},
	{"synchronisation", "the host waits in synchronisations for", SYNCHRONISE_SHARE_MAX, false,
	 synchronising_ms, detail_none, advise_synchronise},
};

/* Ranks beyond the limit of one symptom, and medians of both sides. */
struct affected {
	const struct symptom *symptom;
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

static enum fsl_status tell_one(struct fsl_profile_findings *findings,
				const struct affected *affected,
				const struct fsl_dispatch_view *view, struct fsl_error *err)
{
	const struct symptom *symptom = affected->symptom;
	struct fsl_profile_finding finding =
		fsl_profile_finding_of(FSL_LAYER_DISPATCH, symptom->code);
	struct fsl_phrase what = {0};
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
	finding.advice = symptom->advise(view);
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
	const struct symptom *symptom = affected->symptom;
	const struct fsl_dispatch_view *worst = affected->views[0];
	struct fsl_profile_finding finding =
		fsl_profile_finding_of(FSL_LAYER_DISPATCH, symptom->code);
	struct fsl_phrase what = {0};
	add_ranks(&what, affected);
	fsl_phrase_add(&what, ": %s ", symptom->words);
	add_time(&what, affected->ms, affected->step_ms);
	fsl_phrase_add(&what, ", ");
	fsl_phrase_add_ms(&what, symptom->ms(worst));
	fsl_phrase_add(&what, " on rank %d", (int)worst->rank->rank);
	symptom->detail(&what, worst);
	finding.gain_ms = symptom->is_gain ? affected->ms : NAN;
	finding.what = what.text;
	finding.advice = symptom->advise(worst);
	(void)fsl_profile_finding_add_fact(&finding, "ranks", (double)affected->n, "count");
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
		if (ms > affected->symptom->share_max * views[i].step_ms) {
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

static enum fsl_status judge(struct fsl_profile_findings *findings, const struct symptom *symptom,
			     const struct fsl_dispatch_view *views, size_t n, struct fsl_error *err)
{
	struct affected affected = {.symptom = symptom};
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

static bool lacks_statistics(const struct fsl_dispatch_view *view)
{
	return view->rank->n_api_statistics == 0;
}

static bool lacks_gaps(const struct fsl_dispatch_view *view)
{
	return is_host_bound(view) && view->gap == NULL;
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
		     "where the time of a step goes, for want of step_trace_time.csv or "
		     "kernel_details.csv",
		     err);
	if (status == FSL_OK) {
		status = miss(findings, views, n, lacks_statistics,
			      "what the host does in free time, for want of api_statistic.csv "
			      "(Level1 or Level2)",
			      err);
	}
	return status == FSL_OK
		       ? miss(findings, views, n, lacks_gaps,
			      "when the device is free, for want of kernel_details.csv", err)
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
	for (size_t s = 0; s < sizeof(symptoms) / sizeof(symptoms[0]) && status == FSL_OK; s++) {
		status = judge(findings, &symptoms[s], views, n, err);
	}
	if (status == FSL_OK) {
		status = tell_missing(findings, views, n, err);
	}
	fsl_free(views);
	return status;
}
