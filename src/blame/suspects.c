/* Victims and unconfirmed suspects: ranks that detectors propose and charges do not confirm. */
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "blame/fuse_parts.h"
#include "blame/suspects.h"
#include "detect/engine.h"

/* The search for proposals. */
struct hearing {
	const struct fsl_shown *shown;
	struct fsl_localisation *out;
	struct fsl_proposal *proposals; /* per rank index */
};

static void note(struct hearing *hearing, int32_t rank, const char *detector, double effect_ms)
{
	size_t r = fsl_run_rank_idx(hearing->shown->run, rank);
	if (r == SIZE_MAX) {
		return;
	}
	struct fsl_proposal *proposal = &hearing->proposals[r];
	if (proposal->detector == NULL) {
		proposal->detector = detector;
	}
	proposal->effect_ms = fmax(proposal->effect_ms, isnan(effect_ms) ? 0.0 : effect_ms);
}

static enum fsl_status ask(struct fsl_findings *findings,
			   const struct fsl_detector_config *detector,
			   const struct fsl_windows *windows, struct fsl_error *err)
{
	bool skipped = false;
	return fsl_engine_scan(detector, windows, findings, &skipped, err);
}

/* Notes what a detector found and releases it. */
static void hear(struct hearing *hearing, const struct fsl_detector_config *detector,
		 struct fsl_findings *findings)
{
	for (size_t i = 0; i < findings->n_items; i++) {
		note(hearing, findings->items[i].rank, detector->name,
		     findings->items[i].effect_ms);
	}
	fsl_findings_fini(findings);
}

/* One metric of a channel as instances x members. */
static enum fsl_status channel_windows(struct fsl_windows *out, const struct fsl_run *run,
				       const struct fsl_channel *channel, enum fsl_metric metric,
				       struct fsl_error *err)
{
	enum fsl_status status = fsl_channel_lateness(out, channel, run, err);
	if (status != FSL_OK || metric == FSL_METRIC_LATENESS) {
		return status;
	}
	out->metric = metric;
	for (size_t m = 0; m < channel->n_members; m++) {
		for (size_t i = 0; i < channel->n_instances; i++) {
			uint32_t op_idx = channel->op_idx[i * channel->n_members + m];
			double *value = &out->values[m * out->n_windows + i];
			if (op_idx == FSL_NO_OP) {
				continue;
			}
			const struct fsl_op *op = &run->ranks[channel->members[m]].ops[op_idx];
			int64_t from_ns = metric == FSL_METRIC_HOST     ? op->host_begin_ns
					  : metric == FSL_METRIC_LAUNCH ? op->host_end_ns
									: op->dev_begin_ns;
			int64_t to_ns = metric == FSL_METRIC_HOST     ? op->host_end_ns
					: metric == FSL_METRIC_LAUNCH ? op->dev_begin_ns
								      : op->dev_end_ns;
			bool is_known = from_ns != FSL_NS_ABSENT && to_ns != FSL_NS_ABSENT;
			*value = is_known ? (double)(to_ns - from_ns) / FSL_NS_PER_MS : NAN;
		}
	}
	return FSL_OK;
}

static enum fsl_status ask_channel(struct fsl_findings *findings, const struct fsl_run *run,
				   const struct fsl_detector_config *detector,
				   const struct fsl_channel *channel, enum fsl_metric metric,
				   struct fsl_error *err)
{
	struct fsl_windows windows = {0};
	if (channel->disagrees) {
		return FSL_OK;
	}
	enum fsl_status status = channel_windows(&windows, run, channel, metric, err);
	status = status == FSL_OK ? ask(findings, detector, &windows, err) : status;
	fsl_windows_fini(&windows);
	return status;
}

/* One detector asked about all channels. */
struct question {
	const struct fsl_shown *shown;
	const struct fsl_detector_config *detector;
	enum fsl_metric metric;
	struct fsl_findings *findings; /* per channel */
	size_t first_failed;           /* channel; n_channels: none */
	enum fsl_status status;        /* of that one */
	struct fsl_error err;
};

static void ask_of(struct question *question, size_t c)
{
	struct fsl_error err = {0};
	enum fsl_status status =
		ask_channel(&question->findings[c], question->shown->run, question->detector,
			    &question->shown->match->channels[c], question->metric, &err);
	if (status != FSL_OK) {
#pragma omp critical(suspects)
		if (c < question->first_failed) {
			question->first_failed = c;
			question->status = status;
			question->err = err;
		}
	}
}

/* Many channels on threads; of few, each has all threads in turn. */
static void ask_of_all(struct question *question)
{
	const struct fsl_match *match = question->shown->match;
	size_t n_alone = fsl_match_has_many_channels(match) ? 0 : match->n_channels;
	for (size_t c = 0; c < n_alone; c++) {
		ask_of(question, c);
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t c = n_alone; c < match->n_channels; c++) {
		ask_of(question, c);
	}
}

/* Channels, heard in their order. */
static enum fsl_status hear_channels(struct hearing *hearing,
				     const struct fsl_detector_config *detector,
				     enum fsl_metric metric, struct fsl_error *err)
{
	size_t n = hearing->shown->match->n_channels;
	struct question question = {.shown = hearing->shown,
				    .detector = detector,
				    .metric = metric,
				    .findings = fsl_calloc(n, sizeof(*question.findings)),
				    .first_failed = n};
	if (question.findings == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu", n);
	}
	ask_of_all(&question);
	for (size_t c = 0; c < n; c++) {
		hear(hearing, detector, &question.findings[c]);
	}
	fsl_free(question.findings);
	if (question.status != FSL_OK && err != NULL) {
		*err = question.err;
	}
	return question.status;
}

/* Own time of the ranks that do the same work, steps x ranks. */
static enum fsl_status hear_classes(struct hearing *hearing,
				    const struct fsl_detector_config *detector,
				    struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	const struct fsl_shown *shown = hearing->shown;
	const struct fsl_peers *peers = shown->peers;
	size_t n_steps = shown->steps->n_items;
	for (size_t k = 0; k < peers->n_classes && status == FSL_OK; k++) {
		const uint32_t *members = peers->members + peers->begin[k];
		size_t n = peers->begin[k + 1] - peers->begin[k];
		struct fsl_windows windows = {0};
		status = fsl_windows_init(&windows, FSL_METRIC_OWN, FSL_WINDOW_STEP, n, n_steps,
					  err);
		for (size_t m = 0; m < n && status == FSL_OK; m++) {
			windows.ranks[m] = shown->run->ranks[members[m]].rank;
			for (size_t s = 0; s < n_steps; s++) {
				windows.values[m * n_steps + s] =
					shown->own_ms[members[m] * n_steps + s];
				windows.n_samples[m * n_steps + s] = 1;
				windows.first_ns[m * n_steps + s] = shown->steps->items[s].begin_ns;
			}
		}
		if (status == FSL_OK) {
			struct fsl_findings findings = {0};
			status = ask(&findings, detector, &windows, err);
			hear(hearing, detector, &findings);
		}
		fsl_windows_fini(&windows);
	}
	return status;
}

/* Arrival lateness always; further detectors as the configuration names them. */
static enum fsl_status hear_detectors(struct hearing *hearing, struct fsl_error *err)
{
	const struct fsl_config *config = hearing->shown->config;
	const struct fsl_detector_config *late = fsl_config_detector(config, "ArrivalLateness");
	if (late != NULL && late->detector != NULL) {
		FSL_TRY(hear_channels(hearing, late, FSL_METRIC_LATENESS, err));
	}
	for (size_t i = 0; i < config->n_detectors; i++) {
		const struct fsl_detector_config *detector = &config->detectors[i];
		if (detector == late || !detector->enabled || detector->detector == NULL) {
			continue;
		}
		switch (detector->metric) {
		case FSL_METRIC_OWN:
			FSL_TRY(hear_classes(hearing, detector, err));
			break;
		case FSL_METRIC_EXEC:
		case FSL_METRIC_LAUNCH:
		case FSL_METRIC_HOST:
		case FSL_METRIC_LATENESS:
			FSL_TRY(hear_channels(hearing, detector, detector->metric, err));
			break;
		case FSL_METRIC_TRANSFER:
		case FSL_METRIC_STEP_TIME:
		case FSL_METRIC_EVENT_AGE:
		case FSL_METRIC_DATALOADER:
		case FSL_METRIC_CKPT:
		case FSL_METRICS_N:
			FSL_TRY(fsl_coverage_add_skipped(
				&hearing->out->coverage, &hearing->out->arena, err,
				"%s: its metric is not one of localisation", detector->name));
			break;
		}
	}
	return FSL_OK;
}

/* Ranks that the classical points accuse; LACK is no accusation. */
static void hear_classical(struct hearing *hearing)
{
	const struct fsl_localisation *classical = hearing->shown->classical;
	for (size_t i = 0; classical != NULL && i < classical->n_abnormal; i++) {
		const struct fsl_detail *detail = &classical->abnormal[i];
		if (detail->method != FSL_METHOD_LACK) {
			note(hearing, detail->rank, detail->kpi_id, NAN);
		}
	}
}

/*
 * Mean idle time per step that neither operators nor stages explain; 0 if stages are not recorded.
 */
static double idle_ms_per_step(const struct fsl_case *facts, size_t r)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = 0; s < facts->own->n_steps && facts->own->has_stages; s++) {
		double idle_ms = facts->own->idle_ms[r * facts->own->n_steps + s];
		if (!isnan(idle_ms)) {
			sum += idle_ms;
			n++;
		}
	}
	return n > 0 ? sum / (double)n : 0.0;
}

static const char *why_not_named(struct fsl_localisation *out, const struct fsl_case *facts,
				 size_t r, double late_ms)
{
	double idle_ms = idle_ms_per_step(facts, r);
	if (idle_ms > FSL_SUSPECT_IDLE_SHARE * late_ms && late_ms > 0.0) {
		return fsl_arena_printf(
			&out->arena,
			"others wait for it, but it is idle itself for %.1f ms per step "
			"that no record explains",
			idle_ms);
	}
	if (fsl_peers_n(&facts->blame->peers, r) == 1) {
		return "no other of its stage uses the same operators, and its own work is as it "
		       "always was";
	}
	if (late_ms <= 0.0) {
		return "its own work is at the level of its peers and nobody waits for it";
	}
	if (out->n_culprits > 0) {
		return fsl_arena_printf(&out->arena,
					"arrives late because it waits for rank %" PRId32
					" further up; its own work is at the level of its peers",
					out->culprits[0].rank);
	}
	return "its own work is at the level of its peers";
}

static enum fsl_status list_suspects(struct fsl_localisation *out, const struct fsl_case *facts,
				     const struct fsl_proposal *proposals, struct fsl_error *err)
{
	double least_ms = fsl_least_loss_ms(facts->config, facts->blame->step_ms);
	bool *is_named = NULL;
	FSL_TRY(fsl_fuse_named(&is_named, out, facts->run, err));
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		double late_ms = facts->blame->charges[r].late_ms_per_step;
		if (proposals[r].detector == NULL || is_named[r]) {
			continue;
		}
		struct fsl_suspect suspect = {.rank = facts->run->ranks[r].rank,
					      .late_ms_per_step = late_ms,
					      .detector = proposals[r].detector,
					      .reason = why_not_named(out, facts, r, late_ms)};
		bool is_victim = out->n_culprits > 0 && late_ms >= least_ms;
		FSL_TRY(is_victim ? FSL_APPEND(out, victims, &suspect, err)
				  : FSL_APPEND(out, unconfirmed, &suspect, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_hear_detectors(struct fsl_proposal **proposals, struct fsl_localisation *out,
				   const struct fsl_shown *shown, struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(*proposals, &out->arena, shown->run->n_ranks, "proposals", err));
	struct hearing hearing = {.shown = shown, .out = out, .proposals = *proposals};
	FSL_TRY(hear_detectors(&hearing, err));
	hear_classical(&hearing);
	return FSL_OK;
}

enum fsl_status fsl_fuse_suspects(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	const struct fsl_shown shown = {.config = facts->config,
					.run = facts->run,
					.steps = facts->steps,
					.match = facts->match,
					.peers = &facts->blame->peers,
					.own_ms = facts->blame->own_ms,
					.classical = facts->classical};
	struct fsl_proposal *proposals = NULL;
	FSL_TRY(fsl_hear_detectors(&proposals, out, &shown, err));
	return list_suspects(out, facts, proposals, err);
}
