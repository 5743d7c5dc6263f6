/* Calls judges for each step, and merges their findings with the findings over all steps. */
#include "judge/by_step_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/log.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/counts.h"
#include "capture/step_rows.h"
#include "capture/step_view.h"
#include "judge/finding.h"
#include "judge/limits.h"

/* Findings of one step: news, and findings that all steps show already. */
struct found {
	struct fsl_profile_findings news, again;
};

struct by_step {
	const struct fsl_profile_case *facts;
	struct fsl_profile_findings *all; /* about all steps; single ones are added to them */
	struct fsl_step_view view;
	double step_ms;      /* greatest mean of a rank; NaN: not told */
	size_t n_steps;      /* that are judged */
	size_t *captured;    /* per rank: in how many of them it has rows */
	struct found *found; /* per step */
	/* Findings of all single steps, ascending by step. */
	struct fsl_profile_findings news, again;
	bool is_told[FSL_CODES_N]; /* codes of the findings over all steps */
	struct fsl_subjects known; /* the findings over all steps */
	struct fsl_subject_hits hits;
	bool *is_refuted; /* [known finding] */
};

/* Whether one of @codes, or any code if it is NULL, that @judge tells concerns single steps. */
static bool is_asked(enum fsl_judge judge, const bool *codes)
{
	for (size_t c = 0; c < FSL_CODES_N; c++) {
		const struct fsl_code_row *row = fsl_code_row((enum fsl_code)c);
		if (row->judge == judge && row->steps != FSL_STEPS_NEVER &&
		    (codes == NULL || codes[c])) {
			return true;
		}
	}
	return false;
}

static enum fsl_status ask(struct fsl_profile_findings *found, const struct by_step *by,
			   const struct fsl_profile_case *facts, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	/* Only judges that have findings over all steps are called again. */
	const bool *codes = facts->look.kind == FSL_LOOK_AGAIN ? by->is_told : NULL;
	for (size_t j = 0; j < FSL_JUDGES_N && status == FSL_OK; j++) {
		if (is_asked((enum fsl_judge)j, codes)) {
			status = fsl_profile_judges[j](found, facts, err);
		}
	}
	return status;
}

/* Judges one step. Missing data of a step are not told: they are told for all steps. */
static enum fsl_status look(const struct by_step *by, const struct fsl_profile_case *of_step,
			    struct fsl_profile_meetings *meetings, struct found *out,
			    struct fsl_error *err)
{
	struct fsl_profile_findings found = {0};
	struct fsl_capture_places places;
	struct fsl_profile_case facts = *of_step;
	bool is_again = facts.look.kind == FSL_LOOK_AGAIN;
	FSL_TRY(fsl_capture_places_find(&places, of_step->profile, of_step->cluster, &of_step->look,
					meetings, err));
	facts.places = &places;
	enum fsl_status status = ask(&found, by, &facts, err);
	fsl_capture_places_fini(&places);
	for (size_t i = 0; i < found.n_items && status == FSL_OK; i++) {
		struct fsl_profile_finding *item = &found.items[i];
		bool is_news = fsl_by_step_is_news(item);
		item->step = facts.cluster->steps[0];
		if (is_again && fsl_subjects_has(&by->known, item)) {
			status = fsl_profile_findings_add(&out->again, item, err);
		} else if (!is_again && is_news && !isnan(item->gain_ms)) {
			status = fsl_profile_findings_add(&out->news, item, err);
		}
	}
	fsl_profile_findings_fini(&found);
	return status;
}

/* Judges one step. Steps are judged on threads: shared data are not changed, except the counts. */
static enum fsl_status judge_step(const struct by_step *by, struct fsl_step_view *view, size_t s,
				  struct fsl_error *err)
{
	struct fsl_profile_meetings meetings;
	struct fsl_profile_cluster cluster = *by->facts->cluster;
	FSL_ASSERT(s < cluster.n_steps);
	cluster.steps += s;
	cluster.n_steps = 1;
	fsl_step_view_show(view, cluster.steps[0]);
	for (size_t r = 0; r < view->profile.n_ranks; r++) {
		if (fsl_step_view_has(view, r)) {
#pragma omp atomic
			by->captured[r]++;
		}
	}
	enum fsl_status status = fsl_profile_meet(&meetings, &view->profile, &cluster, err);
	if (status != FSL_OK) {
		return status;
	}
	struct fsl_profile_case facts = {.profile = &view->profile,
					 .cluster = &cluster,
					 .n_threads = 1,
					 .meetings = &meetings,
					 .look = {FSL_LOOK_STEP, by->n_steps}};
	status = look(by, &facts, &meetings, &by->found[s], err);
	if (status == FSL_OK) {
		facts.look.kind = FSL_LOOK_AGAIN;
		status = look(by, &facts, &meetings, &by->found[s], err);
	}
	fsl_profile_meetings_fini(&meetings);
	return status;
}

/* If several steps fail, the first of them is reported, whichever thread judged it. */
struct failure {
	size_t step; /* none: all steps are before it */
	enum fsl_status status;
	struct fsl_error err;
};

static void keep_first(struct failure *failure, size_t step, enum fsl_status status,
		       const struct fsl_error *err)
{
#pragma omp critical(by_step)
	if (step < failure->step) {
		*failure = (struct failure){step, status, *err};
	}
}

/* The work of one thread of several. */
static void judge_on_thread(const struct by_step *by, struct failure *failure)
{
	struct fsl_error err = {0};
	struct fsl_step_view view;
	enum fsl_status shared = fsl_step_view_share(&view, &by->view, &err);
#pragma omp for schedule(dynamic, 1) nowait
	for (size_t s = 0; s < by->n_steps; s++) {
		enum fsl_status status = shared;
		if (status == FSL_OK) {
			status = judge_step(by, &view, s, &err);
		}
		if (status != FSL_OK) {
			keep_first(failure, s, status, &err);
		}
	}
	fsl_step_view_fini(&view);
}

static enum fsl_status judge_steps(const struct by_step *by, struct fsl_error *err)
{
	struct failure failure = {.step = by->n_steps};
	int n_threads = by->facts->n_threads > 0 ? by->facts->n_threads : omp_get_max_threads();
#pragma omp parallel num_threads(n_threads)
	judge_on_thread(by, &failure);
	if (failure.status != FSL_OK && err != NULL) {
		*err = failure.err;
	}
	return failure.status;
}

static enum fsl_status add_all(struct fsl_profile_findings *to,
			       const struct fsl_profile_findings *from, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < from->n_items && status == FSL_OK; i++) {
		status = fsl_profile_findings_add(to, &from->items[i], err);
	}
	return status;
}

static enum fsl_status gather(struct by_step *by, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t s = 0; s < by->n_steps && status == FSL_OK; s++) {
		status = add_all(&by->news, &by->found[s].news, err);
		if (status == FSL_OK) {
			status = add_all(&by->again, &by->found[s].again, err);
		}
	}
	return status;
}

/* Number of steps that could show the finding. */
static size_t count_captured(const struct by_step *by, const struct fsl_profile_finding *finding)
{
	const struct fsl_profile_rank *rank =
		fsl_profile_rank_of(by->facts->profile, finding->rank);
	return rank != NULL ? by->captured[rank - by->facts->profile->ranks] : by->n_steps;
}

static enum fsl_status no_memory(struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"findings of steps\"");
}

/* True if @found, a finding of one step, shows the finding @all over all steps. */
static bool shows(const struct fsl_profile_finding *found, const struct fsl_profile_finding *all)
{
	return isnan(all->gain_ms) ? found->code == all->code
				   : fsl_step_shows(found->gain_ms, all->gain_ms);
}

/* Lists the steps that show a finding over all steps. @again: index of the findings of single
 * steps. */
static enum fsl_status count_seen(struct by_step *by, const struct fsl_subjects *again,
				  struct fsl_profile_finding *finding, struct fsl_error *err)
{
	struct fsl_phrase seen = {0};
	size_t n_steps = count_captured(by, finding);
	int64_t *steps = fsl_arena_alloc(&by->all->arena, (n_steps + 1) * sizeof(*steps));
	double *gains_ms = fsl_arena_alloc(&by->all->arena, (n_steps + 1) * sizeof(*gains_ms));
	if (steps == NULL || gains_ms == NULL) {
		return no_memory(err);
	}
	FSL_TRY(fsl_subjects_find(&by->hits, again, finding, err));
	finding->seen_steps = steps;
	finding->seen_ms = gains_ms;
	finding->n_steps = n_steps;
	for (size_t i = 0; i < by->hits.n_items; i++) {
		const struct fsl_profile_finding *found = &by->again.items[by->hits.items[i]];
		size_t n = finding->n_seen_steps;
		bool is_counted = n > 0 && steps[n - 1] == found->step;
		if (!is_counted && n < n_steps && shows(found, finding)) {
			gains_ms[finding->n_seen_steps] = found->gain_ms;
			steps[finding->n_seen_steps++] = found->step;
		}
	}
	FSL_ASSERT(finding->n_seen_steps <= finding->n_steps);
	fsl_by_step_add_seen(&seen, finding);
	finding->what = fsl_arena_printf(&by->all->arena, "%s; %s", finding->what, seen.text);
	return finding->what != NULL ? FSL_OK : no_memory(err);
}

static enum fsl_status count_all_seen(struct by_step *by, struct fsl_error *err)
{
	struct fsl_subjects again;
	enum fsl_status status = fsl_subjects_init(&again, &by->again, err);
	for (size_t i = 0; i < by->all->n_items && status == FSL_OK; i++) {
		struct fsl_profile_finding *finding = &by->all->items[i];
		if (fsl_by_step_family(finding) != FSL_FAMILY_NONE &&
		    count_captured(by, finding) >= 2) {
			status = count_seen(by, &again, finding, err);
		}
	}
	fsl_subjects_fini(&again);
	return status;
}

/* By subject, then step; within a step by cost, the highest first. */
static int compare_news(const void *left, const void *right)
{
	const struct fsl_profile_finding *a = left, *b = right;
	int order = fsl_by_step_compare_subjects(a, b);
	order = order != 0 ? order : FSL_ORDER(a->step, b->step);
	order = order != 0 ? order : FSL_ORDER(b->gain_ms, a->gain_ms);
	return order != 0 ? order : strcmp(a->what, b->what);
}

/* True if a finding over all steps in by->hits is about the same: then @finding is no news. */
static bool is_covered(const struct by_step *by, const struct fsl_profile_finding *finding)
{
	for (size_t i = 0; i < by->hits.n_items; i++) {
		const struct fsl_profile_finding *item = &by->all->items[by->hits.items[i]];
		bool is_news = fsl_by_step_is_news(item);
		bool is_of_all = item->step == FSL_STEP_ABSENT;
		/* A step in which everybody is concerned is news beside one rank that always is. */
		if (is_of_all && is_news && (item->rank < 0 || finding->rank >= 0)) {
			return true;
		}
	}
	return false;
}

/* A rank that is late in the mean because of a step or two is not "consistently" late, nor a
 * victim: the findings of these steps replace such a finding. */
static void refute(struct by_step *by)
{
	for (size_t i = 0; i < by->hits.n_items; i++) {
		const struct fsl_profile_finding *item = &by->all->items[by->hits.items[i]];
		bool is_refuted = item->step == FSL_STEP_ABSENT &&
				  fsl_by_step_family(item) == FSL_FAMILY_RANK &&
				  !fsl_by_step_is_news(item) && fsl_by_step_is_passing(item);
		by->is_refuted[by->hits.items[i]] |= is_refuted;
	}
}

/* @n_known: the first findings, which are over all steps; the others are of single steps. */
static void drop_refuted(struct by_step *by, size_t n_known)
{
	size_t n = 0;
	for (size_t i = 0; i < by->all->n_items; i++) {
		if (i >= n_known || !by->is_refuted[i]) {
			by->all->items[n++] = by->all->items[i];
		}
	}
	by->all->n_items = n;
}

/* Merges the findings @items[n] of single steps about one subject to one finding. by->hits: the
 * findings over all steps about this subject. */
static enum fsl_status add_news(struct by_step *by, const struct fsl_profile_finding *items,
				size_t n, struct fsl_error *err)
{
	struct fsl_profile_finding finding = items[0];
	double sum_ms = 0.0;
	int64_t *steps = fsl_arena_alloc(&by->all->arena, n * sizeof(*steps));
	double *gains_ms = fsl_arena_alloc(&by->all->arena, n * sizeof(*gains_ms));
	if (steps == NULL || gains_ms == NULL) {
		return no_memory(err);
	}
	size_t n_seen = 0;
	for (size_t i = 0; i < n; i++) {
		FSL_ASSERT(n_seen == 0 || steps[n_seen - 1] <= items[i].step);
		if (n_seen == 0 || steps[n_seen - 1] != items[i].step) {
			gains_ms[n_seen] = items[i].gain_ms;
			steps[n_seen++] = items[i].step;
			sum_ms += items[i].gain_ms;
		}
		finding = items[i].gain_ms > finding.gain_ms ? items[i] : finding;
	}
	(void)fsl_profile_finding_add_fact(&finding, "gain_in_step", finding.gain_ms, "ms");
	finding.seen_steps = steps;
	finding.seen_ms = gains_ms;
	finding.n_seen_steps = n_seen;
	finding.n_steps = count_captured(by, &items[0]);
	finding.gain_ms = fsl_single_steps_cost(sum_ms, finding.n_steps, by->step_ms);
	if (isnan(finding.gain_ms)) {
		return FSL_OK;
	}
	struct fsl_phrase when = {0};
	fsl_by_step_add_when(&when, &finding);
	refute(by);
	finding.what = fsl_arena_printf(&by->all->arena, "%s: %s", when.text, finding.what);
	return finding.what != NULL ? fsl_profile_findings_add(by->all, &finding, err)
				    : no_memory(err);
}

static enum fsl_status add_all_news(struct by_step *by, struct fsl_error *err)
{
	struct fsl_profile_finding *items = by->news.items;
	size_t n_known = by->all->n_items;
	enum fsl_status status = FSL_OK;
	if (by->news.n_items > 1) {
		qsort(items, by->news.n_items, sizeof(*items), compare_news);
	}
	for (size_t begin = 0, end = 0; begin < by->news.n_items && status == FSL_OK; begin = end) {
		end = begin;
		while (end < by->news.n_items &&
		       fsl_by_step_compare_subjects(&items[begin], &items[end]) == 0) {
			end++;
		}
		status = fsl_subjects_find(&by->hits, &by->known, &items[begin], err);
		if (status == FSL_OK && !is_covered(by, &items[begin])) {
			status = add_news(by, items + begin, end - begin, err);
		}
	}
	drop_refuted(by, n_known);
	return status;
}

static enum fsl_status judge(struct by_step *by, struct fsl_error *err)
{
	const struct fsl_profile_cluster *cluster = by->facts->cluster;
	enum fsl_status status = FSL_OK;
	if (by->n_steps < cluster->n_steps) {
		status = fsl_profile_findings_miss(by->all, err,
						   "single steps: of %zu steps the first %zu are "
						   "judged one by one; --steps chooses others",
						   cluster->n_steps, by->n_steps);
	}
	if (status == FSL_OK) {
		status = judge_steps(by, err);
	}
	if (status == FSL_OK) {
		status = gather(by, err);
	}
	if (status == FSL_OK) {
		status = count_all_seen(by, err);
	}
	return status == FSL_OK ? add_all_news(by, err) : status;
}

static void by_step_fini(struct by_step *by)
{
	for (size_t s = 0; s < by->n_steps && by->found != NULL; s++) {
		fsl_profile_findings_fini(&by->found[s].news);
		fsl_profile_findings_fini(&by->found[s].again);
	}
	fsl_profile_findings_fini(&by->news);
	fsl_profile_findings_fini(&by->again);
	fsl_subjects_fini(&by->known);
	fsl_free(by->hits.items);
	fsl_free(by->is_refuted);
	fsl_step_view_fini(&by->view);
	fsl_free(by->found);
	fsl_free(by->captured);
}

enum fsl_status fsl_profile_judge_by_step(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	size_t n = facts->cluster->n_steps;
	struct by_step by = {
		.facts = facts,
		.all = findings,
		.step_ms = fsl_profile_longest_step_ms(facts->profile),
		.n_steps = n < FSL_JUDGE_STEPS_MAX ? n : FSL_JUDGE_STEPS_MAX,
	};
	if (n < 2) {
		return FSL_OK;
	}
	for (size_t i = 0; i < findings->n_items; i++) {
		by.is_told[findings->items[i].code] = true;
	}
	by.found = fsl_calloc(by.n_steps, sizeof(*by.found));
	by.captured = fsl_calloc(facts->profile->n_ranks + 1, sizeof(*by.captured));
	by.is_refuted = fsl_calloc(findings->n_items + 1, sizeof(*by.is_refuted));
	enum fsl_status status = by.found != NULL && by.captured != NULL && by.is_refuted != NULL
					 ? fsl_step_view_init(&by.view, facts->profile, err)
					 : no_memory(err);
	if (status == FSL_OK) {
		status = fsl_subjects_init(&by.known, findings, err);
	}
	if (status == FSL_OK) {
		status = judge(&by, err);
	}
	by_step_fini(&by);
	return status;
}
