/* Findings of a profile: kept, sorted, freed; the judges in their order. */
#include "judge/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/counts.h"
#include "judge/by_step.h"
#include "text/phrase.h"

const fsl_profile_judge fsl_profile_judges[FSL_JUDGES_N] = {
#define PROFILE_JUDGE(name) fsl_profile_judge_##name,
#include "judge/judges.def"
#undef PROFILE_JUDGE
};

struct fsl_profile_finding fsl_profile_finding_of(enum fsl_code code)
{
	return (struct fsl_profile_finding){.code = code,
					    .rank = -1,
					    .peer = -1,
					    .step = FSL_STEP_ABSENT,
					    .gain_ms = NAN,
					    .what = "",
					    .advice = ""};
}

bool fsl_profile_finding_add_fact(struct fsl_profile_finding *finding, const char *name,
				  double value, const char *unit)
{
	if (finding->n_facts >= FSL_FACTS_MAX) {
		return false;
	}
	finding->facts[finding->n_facts++] = (struct fsl_fact){name, value, unit};
	return true;
}

bool fsl_profile_finding_add_known(struct fsl_profile_finding *finding, enum fsl_fact_name name,
				   double value)
{
	struct fsl_fact fact = fsl_fact_of(name, value);
	return fsl_profile_finding_add_fact(finding, fact.name, fact.value, fact.unit);
}

static enum fsl_status no_memory(struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"findings\"");
}

const char *fsl_profile_seen_text(const struct fsl_profile *profile)
{
	return profile->has_choice ? "chosen" : "captured";
}

/* With the names; NULL when memory is short. */
static const int32_t *copy_members(struct fsl_profile_findings *findings,
				   const struct fsl_profile_finding *finding)
{
	size_t n_bytes = finding->n_members * sizeof(*finding->members);
	int32_t *members = fsl_arena_alloc(&findings->arena, n_bytes);
	if (members != NULL) {
		memcpy(members, finding->members, n_bytes);
	}
	return members;
}

static const struct fsl_profile_line *copy_lines(struct fsl_profile_findings *findings,
						 const struct fsl_profile_finding *finding)
{
	struct fsl_profile_line *lines =
		fsl_arena_alloc(&findings->arena, finding->n_lines * sizeof(*lines));
	for (size_t i = 0; lines != NULL && i < finding->n_lines; i++) {
		lines[i] = finding->lines[i];
		lines[i].name = fsl_arena_strdup(&findings->arena, finding->lines[i].name);
		if (lines[i].name == NULL) {
			return NULL;
		}
	}
	return lines;
}

enum fsl_status fsl_profile_findings_add(struct fsl_profile_findings *findings,
					 const struct fsl_profile_finding *finding,
					 struct fsl_error *err)
{
	FSL_ASSERT((size_t)finding->code < FSL_CODES_N && finding->rank >= -1 &&
		   finding->n_facts <= FSL_FACTS_MAX);
	enum fsl_status status =
		FSL_GROW(findings->items, findings->capacity, findings->n_items + 1, err);
	if (status != FSL_OK) {
		return status;
	}
	struct fsl_profile_finding *item = &findings->items[findings->n_items];
	*item = *finding;
	item->what = fsl_arena_strdup(&findings->arena, finding->what);
	item->advice = fsl_arena_strdup(&findings->arena, finding->advice);
	item->lines = finding->n_lines > 0 ? copy_lines(findings, finding) : NULL;
	item->members = finding->n_members > 0 ? copy_members(findings, finding) : NULL;
	if (item->what == NULL || item->advice == NULL ||
	    (finding->n_lines > 0 && item->lines == NULL) ||
	    (finding->n_members > 0 && item->members == NULL)) {
		return no_memory(err);
	}
	findings->n_items++;
	return FSL_OK;
}

enum fsl_status fsl_profile_findings_miss(struct fsl_profile_findings *findings,
					  struct fsl_error *err, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	FSL_TRY(FSL_GROW(findings->missing, findings->missing_capacity, findings->n_missing + 1,
			 err));
	const char *kept = fsl_arena_strdup(&findings->arena, text);
	if (kept == NULL) {
		return no_memory(err);
	}
	findings->missing[findings->n_missing++] = kept;
	return FSL_OK;
}

enum fsl_status fsl_profile_findings_miss_ranks(struct fsl_profile_findings *findings,
						const int32_t *ranks, size_t n_ranks,
						const char *words, struct fsl_error *err)
{
	enum { RANGES_SHOWN_MAX = 6 };
	struct fsl_phrase phrase = {0};
	if (n_ranks == 0) {
		return FSL_OK;
	}
	fsl_phrase_add_ranks(&phrase, ranks, n_ranks, RANGES_SHOWN_MAX);
	return fsl_profile_findings_miss(findings, err, "%s: %s", phrase.text, words);
}

/* Most to win first; what cannot be told last. */
static int compare(const void *left, const void *right)
{
	const struct fsl_profile_finding *a = left, *b = right;
	double gain_a = isnan(a->gain_ms) ? -1.0 : a->gain_ms;
	double gain_b = isnan(b->gain_ms) ? -1.0 : b->gain_ms;
	if (gain_a != gain_b) {
		return gain_a > gain_b ? -1 : 1;
	}
	const struct fsl_code_row *code_a = fsl_code_row(a->code), *code_b = fsl_code_row(b->code);
	if (code_a->layer != code_b->layer) {
		return code_a->layer < code_b->layer ? -1 : 1;
	}
	int order = strcmp(code_a->text, code_b->text);
	if (order == 0) {
		order = (a->rank > b->rank) - (a->rank < b->rank);
	}
	if (order == 0) {
		order = (a->step > b->step) - (a->step < b->step);
	}
	return order != 0 ? order : strcmp(a->what, b->what);
}

void fsl_profile_findings_sort(struct fsl_profile_findings *findings)
{
	if (findings->n_items > 1) {
		qsort(findings->items, findings->n_items, sizeof(*findings->items), compare);
	}
	for (size_t i = 1; i < findings->n_items; i++) {
		FSL_ASSERT(compare(&findings->items[i - 1], &findings->items[i]) <= 0);
	}
}

void fsl_profile_findings_fini(struct fsl_profile_findings *findings)
{
	fsl_free(findings->items);
	fsl_free(findings->missing);
	fsl_arena_fini(&findings->arena);
	*findings = (struct fsl_profile_findings){0};
}

static enum fsl_status keep_costs(struct fsl_profile_findings *findings,
				  const struct fsl_places *places, struct fsl_error *err)
{
	double *cost_ms = NULL;
	FSL_TRY(FSL_ARENA_NEW(cost_ms, &findings->arena, places->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < places->n_ranks; r++) {
		const struct fsl_place_rank *rank = &places->ranks[r];
		cost_ms[r] = rank->n_peers < 2  ? (double)NAN
			     : rank->is_suspect ? rank->cost_ms
						: 0.0;
	}
	findings->rank_costs_ms = cost_ms;
	return FSL_OK;
}

static enum fsl_status judge_capture(struct fsl_profile_findings *findings,
				     const struct fsl_profile_case *facts,
				     struct fsl_profile_meetings *meetings, struct fsl_error *err)
{
	struct fsl_capture_places places;
	struct fsl_profile_case all = *facts;
	FSL_TRY(fsl_capture_places_find(&places, facts->profile, facts->cluster, &facts->look,
					meetings, err));
	enum fsl_status status = keep_costs(findings, &places.places, err);
	all.meetings = meetings;
	all.places = &places;
	for (size_t j = 0; j < FSL_JUDGES_N && status == FSL_OK; j++) {
		status = fsl_profile_judges[j](findings, &all, err);
	}
	fsl_capture_places_fini(&places);
	return status;
}

/* All captured ranks wait for one that was not captured: they win less than they seem to. */
static void settle_gains(struct fsl_profile_findings *findings)
{
	double outside_ms = 0.0;
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		bool is_outside = item->code == FSL_CODE_CAUSE_OUTSIDE;
		outside_ms = is_outside ? fmax(outside_ms, item->gain_ms) : outside_ms;
	}
	for (size_t i = 0; i < findings->n_items && outside_ms > 0.0; i++) {
		struct fsl_profile_finding *item = &findings->items[i];
		enum fsl_profile_layer layer = fsl_code_row(item->code)->layer;
		if (layer == FSL_LAYER_DISPATCH || layer == FSL_LAYER_COMPUTE) {
			item->gain_ms = fsl_cost_beyond(item->gain_ms, outside_ms);
		}
	}
}

enum fsl_status fsl_profile_judge_all(struct fsl_profile_findings *findings,
				      const struct fsl_profile_case *facts,
				      struct fsl_profile_meetings *meetings, struct fsl_error *err)
{
	enum fsl_status status = judge_capture(findings, facts, meetings, err);
	FSL_THEN(status, fsl_profile_judge_by_step(findings, facts, err));
	settle_gains(findings);
	fsl_profile_findings_sort(findings);
	return status;
}
