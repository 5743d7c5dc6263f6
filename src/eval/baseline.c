/* The list of baselines: rules on mean durations and own times, and single detectors, which look at
 * own times of peers or at lateness. */
#include "eval/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/detector.h>
#include <failslow/stats.h>

#include "base/sort.h"
#include "detect/classical.h"
#include "detect/engine.h"
#include "match/topology_build.h"
#include "model/windows.h"

/* A usual fixed threshold in the field. */
static const double fixed_ratio = 1.1;

/* One rank that a baseline names; the greatest effect is named first. */
struct accused {
	int32_t rank;
	double effect;
	int64_t onset_ns; /* FSL_NS_ABSENT: unknown */
};

static int compare_accused(const void *left, const void *right)
{
	const struct accused *a = left, *b = right;
	int order = FSL_ORDER(b->effect, a->effect);
	return order != 0 ? order : FSL_ORDER(a->rank, b->rank);
}

/* Builds the answer that names @accused (sorted here); arrays in @arena. */
static enum fsl_status accuse(struct fsl_eval_answer *out, struct accused *accused, size_t n,
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
	struct accused accused = {.rank = sign > 0 ? longest : shortest, .onset_ns = FSL_NS_ABSENT};
	bool is_uneven = longest >= 0 && longest_ms >= fixed_ratio * shortest_ms;
	return accuse(out, &accused, is_uneven, arena, err);
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
	double *means = NULL;
	struct accused *accused = NULL;
	FSL_TRY(FSL_ARENA_NEW(means, arena, 2 * n_ranks, "means", err));
	FSL_TRY(FSL_ARENA_NEW(accused, arena, n_ranks, "ranks", err));
	for (size_t c = 0; c < peers->n_classes; c++) {
		const uint32_t *members = peers->members + peers->begin[c];
		size_t n_members = peers->begin[c + 1] - peers->begin[c];
		for (size_t m = 0; m < n_members; m++) {
			means[m] = mean_own_ms(facts, members[m]);
		}
		double median = fsl_median(means, n_members, means + n_ranks);
		for (size_t m = 0; m < n_members; m++) {
			if (means[m] > fixed_ratio * median) {
				accused[n++] = (struct accused){
					.rank = facts->run->ranks[members[m]].rank,
					.effect = means[m] - median,
					.onset_ns = FSL_NS_ABSENT,
				};
			}
		}
	}
	return accuse(out, accused, n, arena, err);
}

/* Applies the reference's rules: its topology, its observation points, its naming. */
static enum fsl_status ask_systrace(struct fsl_eval_answer *out, const struct fsl_case *facts,
				    struct fsl_arena *arena, struct fsl_error *err)
{
	struct fsl_config config = *facts->config; /* shallow copy, only read */
	struct fsl_topology topology = {0};
	struct fsl_localisation found;
	struct accused *accused = NULL;
	size_t n = 0;
	config.algorithm = FSL_ALGORITHM_SYSTRACE;
	fsl_localisation_init(&found);
	enum fsl_status status = fsl_topology_build(&topology, facts->run, &config, err);
	FSL_THEN(status, fsl_classical_run(&found, facts->run, &topology, &config, err));
	FSL_THEN(status, FSL_ARENA_NEW(accused, arena, found.n_abnormal, "ranks", err));
	for (size_t i = 0; status == FSL_OK && i < found.n_abnormal; i++) {
		const struct fsl_detail *detail = &found.abnormal[i];
		bool is_known = detail->method == FSL_METHOD_LACK;
		for (size_t k = 0; k < n; k++) {
			is_known = is_known || accused[k].rank == detail->rank;
		}
		if (!is_known) {
			accused[n++] =
				(struct accused){.rank = detail->rank, .onset_ns = FSL_NS_ABSENT};
		}
	}
	FSL_THEN(status, accuse(out, accused, n, arena, err));
	fsl_localisation_fini(&found);
	fsl_topology_fini(&topology);
	return status;
}

/* Findings of all units, reduced to the costliest of each rank. */
struct trial {
	const struct fsl_case *facts;
	const struct fsl_detector_config *detector;
	struct accused *by_rank; /* per rank index; effect NaN: no finding */
};

/* The metric for a detector that judges one group: own time, else lateness; -1: neither. */
static int detector_metric(const struct fsl_detector *detector)
{
	if ((detector->needs & FSL_NEED(FSL_METRIC_OWN)) != 0) {
		return FSL_METRIC_OWN;
	}
	return (detector->needs & FSL_NEED(FSL_METRIC_LATENESS)) != 0 ? FSL_METRIC_LATENESS : -1;
}

/* Index of the step of a window; SIZE_MAX outside all steps. */
static size_t step_of(const struct fsl_windows *windows, const struct fsl_channel *channel,
		      size_t window)
{
	if (windows->kind == FSL_WINDOW_STEP) {
		return window;
	}
	uint32_t step = channel->step_idx[window];
	return step == UINT32_MAX ? SIZE_MAX : step;
}

static void note(struct trial *trial, const struct fsl_finding *finding, size_t step)
{
	size_t idx = fsl_run_rank_idx(trial->facts->run, finding->rank);
	double effect = finding->effect_ms == finding->effect_ms ? finding->effect_ms : 0.0;
	/* A time below the expected one is no slowness. */
	if (idx == SIZE_MAX || finding->slow_ratio < 1.0) {
		return;
	}
	struct accused *accused = &trial->by_rank[idx];
	if (accused->effect != accused->effect || effect > accused->effect) {
		accused->effect = effect;
		accused->onset_ns = step < trial->facts->steps->n_items
					    ? trial->facts->steps->items[step].begin_ns
					    : FSL_NS_ABSENT;
	}
}

static enum fsl_status scan(struct trial *trial, const struct fsl_windows *windows,
			    const struct fsl_channel *channel, struct fsl_error *err)
{
	struct fsl_findings findings = {0};
	bool is_skipped = false;
	enum fsl_status status =
		fsl_engine_scan(trial->detector, windows, &findings, &is_skipped, err);
	for (size_t i = 0; status == FSL_OK && i < findings.n_items; i++) {
		note(trial, &findings.items[i],
		     step_of(windows, channel, findings.items[i].window_begin));
	}
	fsl_findings_fini(&findings);
	return status;
}

static enum fsl_status scan_peers(struct trial *trial, size_t class_idx, struct fsl_error *err)
{
	const struct fsl_case *facts = trial->facts;
	const struct fsl_peers *peers = &facts->blame->peers;
	const uint32_t *members = peers->members + peers->begin[class_idx];
	size_t n_members = peers->begin[class_idx + 1] - peers->begin[class_idx];
	struct fsl_windows windows = {0};
	enum fsl_status status = fsl_windows_init(&windows, FSL_METRIC_OWN, FSL_WINDOW_STEP,
						  n_members, facts->own->n_steps, err);
	for (size_t m = 0; status == FSL_OK && m < n_members; m++) {
		windows.ranks[m] = facts->run->ranks[members[m]].rank;
		for (size_t step = 0; step < windows.n_windows; step++) {
			double own_ms = fsl_own_total_ms(facts->own, members[m], step);
			windows.values[m * windows.n_windows + step] = own_ms;
			windows.n_samples[m * windows.n_windows + step] = own_ms == own_ms;
			windows.first_ns[m * windows.n_windows + step] =
				facts->steps->items[step].begin_ns;
		}
	}
	FSL_THEN(status, scan(trial, &windows, NULL, err));
	fsl_windows_fini(&windows);
	return status;
}

static enum fsl_status scan_channel(struct trial *trial, const struct fsl_channel *channel,
				    struct fsl_error *err)
{
	struct fsl_windows windows = {0};
	enum fsl_status status = fsl_channel_lateness(&windows, channel, trial->facts->run, err);
	FSL_THEN(status, scan(trial, &windows, channel, err));
	fsl_windows_fini(&windows);
	return status;
}

static enum fsl_status scan_all(struct trial *trial, struct fsl_error *err)
{
	const struct fsl_case *facts = trial->facts;
	enum fsl_status status = FSL_OK;
	if (detector_metric(trial->detector->detector) == FSL_METRIC_OWN) {
		for (size_t c = 0; status == FSL_OK && c < facts->blame->peers.n_classes; c++) {
			status = scan_peers(trial, c, err);
		}
		return status;
	}
	for (size_t c = 0; status == FSL_OK && c < facts->match->n_channels; c++) {
		status = scan_channel(trial, &facts->match->channels[c], err);
	}
	return status;
}

/* Names every rank in which the detector finds slowness, in any class of peers or any channel. */
static enum fsl_status ask_detector(struct fsl_eval_answer *out,
				    const struct fsl_detector_config *detector,
				    const struct fsl_case *facts, struct fsl_arena *arena,
				    struct fsl_error *err)
{
	size_t n_ranks = facts->run->n_ranks, n = 0;
	struct trial trial = {.facts = facts, .detector = detector};
	FSL_TRY(FSL_ARENA_NEW(trial.by_rank, arena, n_ranks, "ranks", err));
	for (size_t i = 0; i < n_ranks; i++) {
		trial.by_rank[i] = (struct accused){.rank = facts->run->ranks[i].rank,
						    .effect = NAN,
						    .onset_ns = FSL_NS_ABSENT};
	}
	FSL_TRY(scan_all(&trial, err));
	for (size_t i = 0; i < n_ranks; i++) {
		if (trial.by_rank[i].effect == trial.by_rank[i].effect) {
			trial.by_rank[n++] = trial.by_rank[i];
		}
	}
	return accuse(out, trial.by_rank, n, arena, err);
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
		if (detector->detector == NULL || detector_metric(detector->detector) < 0) {
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
	return ask_detector(out, baseline->detector, facts, arena, err);
}
