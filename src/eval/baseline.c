/* The list of baselines, and rules on mean durations and own times. */
#include "eval/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/detector.h>
#include <failslow/stats.h>

#include "base/sort.h"
#include "detect/classical.h"
#include "eval/baseline_parts.h"
#include "match/topology_build.h"

/* A usual fixed threshold in the field. */
static const double fixed_ratio = 1.1;

static int compare_accused(const void *left, const void *right)
{
	const struct fsl_accused *a = left, *b = right;
	int order = FSL_ORDER(b->effect, a->effect);
	return order != 0 ? order : FSL_ORDER(a->rank, b->rank);
}

enum fsl_status fsl_eval_accuse(struct fsl_eval_answer *out, struct fsl_accused *accused, size_t n,
				struct fsl_arena *arena, struct fsl_error *err)
{
	int32_t *named = NULL;
	FSL_TRY(FSL_ARENA_NEW(named, arena, n, "ranks", err));
	if (n > 1) {
		qsort(accused, n, sizeof(*accused), compare_accused);
	}
	for (size_t i = 0; i < n; i++) {
		named[i] = accused[i].rank;
	}
	*out = (struct fsl_eval_answer){
		.kind = n > 0 ? FSL_VERDICT_SLOW_RANK : FSL_VERDICT_NORMAL,
		.is_alarm = n > 0,
		.named = named,
		.n_named = n,
		.cause = -1,
		.onset_ns = n > 0 ? accused[0].onset_ns : FSL_NS_ABSENT,
		.slowdown = NAN,
	};
	return FSL_OK;
}

/* Mean duration of a rank's operators in ms; NaN if it has none. */
static double mean_op_ms(const struct fsl_rank *rank)
{
	double sum_ms = 0.0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		sum_ms += (double)(fsl_op_end_ns(op) - fsl_op_begin_ns(op)) * 1e-6;
	}
	return rank->n_ops > 0 ? sum_ms / (double)rank->n_ops : (double)NAN;
}

/* Names the rank with the longest (@sign 1) or shortest (-1) mean operator of the job, if both
 * differ by fixed_ratio. */
static enum fsl_status ask_extreme(struct fsl_eval_answer *out, const struct fsl_case *facts,
				   int sign, struct fsl_arena *arena, struct fsl_error *err)
{
	const struct fsl_run *run = facts->run;
	double shortest_ms = INFINITY, longest_ms = 0.0;
	int32_t shortest = -1, longest = -1;
	for (size_t i = 0; i < run->n_ranks; i++) {
		double mean_ms = mean_op_ms(&run->ranks[i]);
		if (mean_ms < shortest_ms) {
			shortest_ms = mean_ms;
			shortest = run->ranks[i].rank;
		}
		if (mean_ms > longest_ms) {
			longest_ms = mean_ms;
			longest = run->ranks[i].rank;
		}
	}
	struct fsl_accused accused = {.rank = sign > 0 ? longest : shortest,
				      .onset_ns = FSL_NS_ABSENT};
	bool is_uneven = longest >= 0 && longest_ms >= fixed_ratio * shortest_ms;
	return fsl_eval_accuse(out, &accused, is_uneven, arena, err);
}

static enum fsl_status ask_longest(struct fsl_eval_answer *out, const struct fsl_case *facts,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	return ask_extreme(out, facts, 1, arena, err);
}

static enum fsl_status ask_shortest(struct fsl_eval_answer *out, const struct fsl_case *facts,
				    struct fsl_arena *arena, struct fsl_error *err)
{
	return ask_extreme(out, facts, -1, arena, err);
}

/* Mean own time of a rank over the steps that are complete. */
static double mean_own_ms(const struct fsl_case *facts, size_t rank_idx)
{
	double sum_ms = 0.0;
	size_t n = 0;
	for (size_t step = 0; step < facts->own->n_steps; step++) {
		double own_ms = fsl_own_total_ms(facts->own, rank_idx, step);
		if (own_ms == own_ms) {
			sum_ms += own_ms;
			n++;
		}
	}
	return n > 0 ? sum_ms / (double)n : (double)NAN;
}

/* Names ranks whose mean own time exceeds fixed_ratio times the median of their peers. */
static enum fsl_status ask_fixed(struct fsl_eval_answer *out, const struct fsl_case *facts,
				 struct fsl_arena *arena, struct fsl_error *err)
{
	const struct fsl_peers *peers = &facts->blame->peers;
	size_t n_ranks = facts->run->n_ranks, n = 0;
	double *means = fsl_arena_alloc(arena, (2 * n_ranks + 1) * sizeof(*means));
	struct fsl_accused *accused = fsl_arena_alloc(arena, (n_ranks + 1) * sizeof(*accused));
	if (means == NULL || accused == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_ranks);
	}
	for (size_t c = 0; c < peers->n_classes; c++) {
		const uint32_t *members = peers->members + peers->begin[c];
		size_t n_members = peers->begin[c + 1] - peers->begin[c];
		for (size_t m = 0; m < n_members; m++) {
			means[m] = mean_own_ms(facts, members[m]);
		}
		double median = fsl_median(means, n_members, means + n_ranks);
		for (size_t m = 0; m < n_members; m++) {
			if (means[m] > fixed_ratio * median) {
				accused[n++] = (struct fsl_accused){
					.rank = facts->run->ranks[members[m]].rank,
					.effect = means[m] - median,
					.onset_ns = FSL_NS_ABSENT,
				};
			}
		}
	}
	return fsl_eval_accuse(out, accused, n, arena, err);
}

/* Applies the reference's rules: its topology, its observation points, its naming. */
static enum fsl_status ask_systrace(struct fsl_eval_answer *out, const struct fsl_case *facts,
				    struct fsl_arena *arena, struct fsl_error *err)
{
	struct fsl_config config = *facts->config; /* shallow copy, only read */
	struct fsl_topology topology = {0};
	struct fsl_localisation found;
	struct fsl_accused *accused = NULL;
	size_t n = 0;
	config.algorithm = FSL_ALGORITHM_SYSTRACE;
	fsl_localisation_init(&found);
	enum fsl_status status = fsl_topology_build(&topology, facts->run, &config, err);
	FSL_THEN(status, fsl_classical_run(&found, facts->run, &topology, &config, err));
	if (status == FSL_OK) {
		accused = fsl_arena_alloc(arena, (found.n_abnormal + 1) * sizeof(*accused));
		status = accused != NULL ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
						    found.n_abnormal);
	}
	for (size_t i = 0; status == FSL_OK && i < found.n_abnormal; i++) {
		const struct fsl_detail *detail = &found.abnormal[i];
		bool is_known = detail->method == FSL_METHOD_LACK;
		for (size_t k = 0; k < n; k++) {
			is_known = is_known || accused[k].rank == detail->rank;
		}
		if (!is_known) {
			accused[n++] = (struct fsl_accused){.rank = detail->rank,
							    .onset_ns = FSL_NS_ABSENT};
		}
	}
	FSL_THEN(status, fsl_eval_accuse(out, accused, n, arena, err));
	fsl_localisation_fini(&found);
	fsl_topology_fini(&topology);
	return status;
}

static const struct fsl_eval_baseline rules[] = {
	{"longest-collective", "the rank whose mean operator is longest (wrong by construction)",
	 true, ask_longest, NULL},
	{"shortest-collective", "the rank whose mean operator is shortest", true, ask_shortest,
	 NULL},
	{"fixed-1.1x", "own time above 1.1 times the median of its peers", true, ask_fixed, NULL},
	{"systrace", "the rules of sysTrace's locator", true, ask_systrace, NULL},
};

size_t fsl_eval_baselines(struct fsl_eval_baseline *out, const struct fsl_config *config)
{
	size_t n = sizeof(rules) / sizeof(rules[0]);
	memcpy(out, rules, sizeof(rules));
	for (size_t i = 0; i < config->n_detectors_known && n < FSL_EVAL_BASELINES_MAX; i++) {
		const struct fsl_detector_config *detector = &config->detectors[i];
		if (detector->detector == NULL ||
		    fsl_eval_detector_metric(detector->detector) < 0) {
			continue;
		}
		out[n] = (struct fsl_eval_baseline){.summary = detector->detector->summary,
						    .detector = detector};
		snprintf(out[n].name, sizeof(out[n].name), "%s", detector->name);
		n++;
	}
	return n;
}

enum fsl_status fsl_eval_baseline_ask(struct fsl_eval_answer *out,
				      const struct fsl_eval_baseline *baseline,
				      const struct fsl_case *facts, struct fsl_arena *arena,
				      struct fsl_error *err)
{
	if (baseline->ask != NULL) {
		return baseline->ask(out, facts, arena, err);
	}
	return fsl_eval_ask_detector(out, baseline->detector, facts, arena, err);
}
