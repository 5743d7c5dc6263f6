/* A single detector as a baseline: its findings in own times of peers, or in lateness. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/detector.h>

#include "detect/engine.h"
#include "eval/baseline_parts.h"
#include "model/windows.h"

/* Findings of all units, reduced to the costliest of each rank. */
struct trial {
	const struct fsl_case *facts;
	const struct fsl_detector_config *detector;
	struct fsl_accused *by_rank; /* per rank index; effect NaN: no finding */
};

int fsl_eval_detector_metric(const struct fsl_detector *detector)
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
	struct fsl_accused *accused = &trial->by_rank[idx];
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
	if (fsl_eval_detector_metric(trial->detector->detector) == FSL_METRIC_OWN) {
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

enum fsl_status fsl_eval_ask_detector(struct fsl_eval_answer *out,
				      const struct fsl_detector_config *detector,
				      const struct fsl_case *facts, struct fsl_arena *arena,
				      struct fsl_error *err)
{
	size_t n_ranks = facts->run->n_ranks, n = 0;
	struct trial trial = {
		.facts = facts,
		.detector = detector,
		.by_rank = fsl_arena_alloc(arena, (n_ranks + 1) * sizeof(struct fsl_accused))};
	if (trial.by_rank == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_ranks);
	}
	for (size_t i = 0; i < n_ranks; i++) {
		trial.by_rank[i] = (struct fsl_accused){.rank = facts->run->ranks[i].rank,
							.effect = NAN,
							.onset_ns = FSL_NS_ABSENT};
	}
	enum fsl_status status = scan_all(&trial, err);
	for (size_t i = 0; i < n_ranks; i++) {
		if (trial.by_rank[i].effect == trial.by_rank[i].effect) {
			trial.by_rank[n++] = trial.by_rank[i];
		}
	}
	return status == FSL_OK ? fsl_eval_accuse(out, trial.by_rank, n, arena, err) : status;
}
