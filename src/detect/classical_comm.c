/* comm: every pipeline votes on its ranks, with the slow groups as a tie-breaker. */
#include <math.h>
#include <stdio.h>

#include "detect/classical_parts.h"

/* The vote on a pipeline: neighbours that agree that the link between them is slow. */

/* Scores are k / n with small n: half of the functions, and all of them. */
#define SCORE_NEIGHBOUR 0.5
#define SCORE_SURE      1.0

void fsl_vote(const double *scores, const bool *in_slow_group, size_t n_ranks, bool *taken)
{
	bool has_slow = false;
	for (size_t i = 0; i < n_ranks; i++) {
		bool has_neighbour = (i > 0 && scores[i - 1] >= SCORE_NEIGHBOUR) ||
				     (i + 1 < n_ranks && scores[i + 1] >= SCORE_NEIGHBOUR);
		taken[i] = scores[i] >= SCORE_SURE && has_neighbour;
		has_slow = has_slow || (taken[i] && in_slow_group[i]);
	}
	for (size_t i = 0; i < n_ranks && has_slow; i++) {
		taken[i] = taken[i] && in_slow_group[i];
	}
}

/* Slow groups of comm: tensor-parallel groups, judged against each other by their mean times. */

/* Mean over the members of each window's values; a window without a value stays NaN. */
static void mean_series(struct fsl_windows *out, size_t member, const struct fsl_windows *windows)
{
	for (size_t w = 0; w < windows->n_windows; w++) {
		size_t cell = member * out->n_windows + w;
		double sum = 0.0;
		uint32_t n = 0;
		for (size_t m = 0; m < windows->n_members; m++) {
			double value = windows->values[m * windows->n_windows + w];
			int64_t first_ns = windows->first_ns[m * windows->n_windows + w];
			if (isnan(value)) {
				continue;
			}
			sum += value;
			n++;
			if (out->first_ns[cell] == FSL_NS_ABSENT ||
			    first_ns < out->first_ns[cell]) {
				out->first_ns[cell] = first_ns;
			}
		}
		if (n > 0) {
			out->values[cell] = sum / n;
			out->n_samples[cell] = n;
		}
	}
}

/* Makes the groups members of one unit of work; "rank" is the index of the target. */
static enum fsl_status group_windows(struct fsl_windows *out, const struct fsl_unit *parts,
				     size_t n_targets, size_t func, struct fsl_error *err)
{
	size_t n_members = 0, n_windows = 0;
	for (size_t i = 0; i < n_targets; i++) {
		if (parts[i].series.n_funcs > 0) {
			size_t n = parts[i].series.windows[func].n_windows;
			n_windows = n > n_windows ? n : n_windows;
			n_members++;
		}
	}
	FSL_TRY(fsl_windows_init(out, FSL_METRIC_EXEC, FSL_WINDOW_TIME, n_members, n_windows, err));
	for (size_t i = 0, member = 0; i < n_targets; i++) {
		if (parts[i].series.n_funcs > 0) {
			out->ranks[member] = (int32_t)i;
			mean_series(out, member++, &parts[i].series.windows[func]);
		}
	}
	return FSL_OK;
}

static void mark_slow(bool *is_slow, const struct fsl_group *group)
{
	for (size_t i = 0; i < group->n_ranks; i++) {
		is_slow[group->ranks[i]] = true;
	}
}

static enum fsl_status judge_groups(bool *is_slow, const struct fsl_metric_config *metric,
				    const struct fsl_targets *targets, const struct fsl_unit *parts,
				    struct fsl_notes *notes, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t f = 0; f < metric->n_funcs && status == FSL_OK; f++) {
		struct fsl_windows windows = {0};
		struct fsl_judgement judgement = {0};
		struct fsl_unit unit = {0};
		char label[256];
		(void)snprintf(label, sizeof(label), "%s between %s groups", metric->name,
			       fsl_group_kind_text(targets->kind));
		status = group_windows(&windows, parts, targets->n_items, f, err);
		if (status == FSL_OK && windows.n_members > 0) {
			status = fsl_judge(&judgement, &unit, metric, &windows, label, err);
		}
		for (size_t m = 0; m < windows.n_members && status == FSL_OK; m++) {
			if (fsl_judgement_is_anomalous(&judgement, &windows, m)) {
				mark_slow(is_slow, targets->items[windows.ranks[m]].group);
			}
		}
		if (status == FSL_OK) {
			status = fsl_unit_take(&unit, notes, err);
		}
		fsl_unit_fini(&unit);
		fsl_windows_fini(&windows);
	}
	return status;
}

/* Builds the series of all groups on several threads, then compares the groups. */
static enum fsl_status run_parts(bool *is_slow, const struct fsl_metric_source *source,
				 const struct fsl_targets *targets, struct fsl_notes *notes,
				 struct fsl_error *err)
{
	struct fsl_unit *parts = fsl_calloc(targets->n_items, sizeof(*parts));
	if (parts == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", targets->n_items);
	}
	int n_threads = fsl_classical_threads(source->classical);
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
	for (size_t i = 0; i < targets->n_items; i++) {
		if (targets->items[i].is_consecutive) {
			parts[i].status =
				fsl_series_build(&parts[i].series, source, &targets->items[i],
						 &parts[i].notes, &parts[i].err);
		}
	}
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < targets->n_items && status == FSL_OK; i++) {
		status = fsl_unit_take(&parts[i], notes, err);
	}
	if (status == FSL_OK) {
		status = judge_groups(is_slow, source->metric, targets, parts, notes, err);
	}
	for (size_t i = 0; i < targets->n_items; i++) {
		fsl_unit_fini(&parts[i]);
	}
	fsl_free(parts);
	return status;
}

/* Sets is_slow[rank] for the ranks of groups that stand out among the groups of their kind. */
static enum fsl_status find_slow_groups(bool *is_slow, const struct fsl_classical *classical,
					struct fsl_notes *notes, struct fsl_error *err)
{
	enum fsl_group_kind kind = fsl_targets_main_kind(classical->topology);
	const char *name = kind == FSL_GROUP_TP ? FSL_CLASSICAL_TP_METRIC : FSL_CLASSICAL_DP_METRIC;
	struct fsl_metric_source source;
	struct fsl_targets targets = {0};
	bool is_found = false;
	enum fsl_status status =
		fsl_metric_source_find(&source, classical, name, notes, &is_found, err);
	if (status != FSL_OK || !is_found) {
		return status;
	}
	status = fsl_targets_find(&targets, classical, kind, err);
	if (status == FSL_OK) {
		status = run_parts(is_slow, &source, &targets, notes, err);
	}
	fsl_targets_fini(&targets);
	return status;
}

static size_t count_rank_files(const struct fsl_run *run)
{
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n += run->ranks[r].has_markers_file || run->ranks[r].n_ops > 0;
	}
	return n;
}

/* One pipeline; filled by one thread. Arrays of the ballot have one element per member. */
struct ballot {
	struct fsl_unit unit;
	double *scores;
	bool *in_slow_group, *taken;
	uint8_t *labels; /* alarmed by any function, laid out as the windows */
};

static enum fsl_status ballot_alloc(struct ballot *ballot, struct fsl_error *err)
{
	struct fsl_arena *arena = &ballot->unit.arena;
	const struct fsl_windows *windows = &ballot->unit.series.windows[0];
	FSL_TRY(FSL_ARENA_NEW(ballot->scores, arena, windows->n_members, "scores", err));
	FSL_TRY(FSL_ARENA_NEW(ballot->in_slow_group, arena, windows->n_members, "in_slow_group",
			      err));
	FSL_TRY(FSL_ARENA_NEW(ballot->taken, arena, windows->n_members, "taken", err));
	return FSL_ARENA_NEW(ballot->labels, arena, windows->n_members * windows->n_windows,
			     "labels", err);
}

/* Counts the alarms of one aggregation function in the scores. */
static enum fsl_status collect_vote(struct ballot *ballot, const struct fsl_metric_config *metric,
				    size_t func, const char *label, struct fsl_error *err)
{
	const struct fsl_windows *windows = &ballot->unit.series.windows[func];
	struct fsl_judgement judgement = {0};
	FSL_TRY(fsl_judge_time(&judgement, &ballot->unit, metric, windows, label, err));
	for (size_t m = 0; m < windows->n_members; m++) {
		bool is_alarmed = fsl_judgement_is_anomalous(&judgement, windows, m);
		ballot->scores[m] += is_alarmed ? 1.0 : 0.0;
	}
	for (size_t i = 0; i < windows->n_members * windows->n_windows; i++) {
		ballot->labels[i] |= judgement.labels[i];
	}
	return FSL_OK;
}

static enum fsl_status run_ballot(struct ballot *ballot, const struct fsl_metric_source *source,
				  const struct fsl_target *target, const bool *is_slow,
				  struct fsl_error *err)
{
	char label[256];
	(void)snprintf(label, sizeof(label), "%s %s", source->metric->name, target->label);
	FSL_TRY(fsl_series_build(&ballot->unit.series, source, target, &ballot->unit.notes, err));
	if (ballot->unit.series.n_funcs == 0) {
		return FSL_OK;
	}
	const struct fsl_windows *windows = &ballot->unit.series.windows[0];
	FSL_TRY(ballot_alloc(ballot, err));
	for (size_t f = 0; f < ballot->unit.series.n_funcs; f++) {
		FSL_TRY(collect_vote(ballot, source->metric, f, label, err));
	}
	for (size_t m = 0; m < windows->n_members; m++) {
		ballot->scores[m] /= (double)ballot->unit.series.n_funcs;
		ballot->in_slow_group[m] = is_slow[windows->ranks[m]];
	}
	fsl_vote(ballot->scores, ballot->in_slow_group, windows->n_members, ballot->taken);
	return FSL_OK;
}

static enum fsl_status emit_ballot(struct fsl_localisation *out,
				   const struct fsl_metric_source *source, struct ballot *ballot,
				   struct fsl_notes *notes, struct fsl_error *err)
{
	FSL_TRY(fsl_unit_take(&ballot->unit, notes, err));
	if (ballot->unit.series.n_funcs == 0) {
		return FSL_OK;
	}
	struct fsl_entries entries = {
		.windows = &ballot->unit.series.windows[0],
		.labels = ballot->labels,
		.is_anomalous = ballot->taken,
		.method = FSL_METHOD_TIME,
		.kpi_id = source->metric->name,
		.type = source->metric->type,
	};
	return fsl_entries_add(out, source->classical, &entries, err);
}

/* Judges pipelines on several threads and adds the results in their order. */
static enum fsl_status run_ballots(struct fsl_localisation *out,
				   const struct fsl_metric_source *source,
				   const struct fsl_targets *targets, const bool *is_slow,
				   struct fsl_notes *notes, struct fsl_error *err)
{
	struct ballot *ballots = fsl_calloc(targets->n_items, sizeof(*ballots));
	if (ballots == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", targets->n_items);
	}
	int n_threads = fsl_classical_threads(source->classical);
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
	for (size_t i = 0; i < targets->n_items; i++) {
		ballots[i].unit.status = run_ballot(&ballots[i], source, &targets->items[i],
						    is_slow, &ballots[i].unit.err);
	}
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < targets->n_items; i++) {
		if (status == FSL_OK) {
			status = emit_ballot(out, source, &ballots[i], notes, err);
		}
		fsl_unit_fini(&ballots[i].unit);
	}
	fsl_free(ballots);
	return status;
}

static enum fsl_status vote_on_pipelines(struct fsl_localisation *out,
					 const struct fsl_classical *classical, const bool *is_slow,
					 struct fsl_notes *notes, struct fsl_error *err)
{
	struct fsl_metric_source source;
	struct fsl_targets targets = {0};
	bool is_found = false;
	enum fsl_status status = fsl_metric_source_find(
		&source, classical, classical->config->comm_slow, notes, &is_found, err);
	if (status != FSL_OK || !is_found) {
		return status;
	}
	status = fsl_targets_find(&targets, classical, FSL_GROUP_PP, err);
	if (status == FSL_OK && targets.n_items == 0) {
		status = fsl_notes_add(notes, err, source.metric->name, "",
				       "no pp communicator of two or more ranks with data");
	}
	if (status == FSL_OK) {
		status = run_ballots(out, &source, &targets, is_slow, notes, err);
	}
	fsl_targets_fini(&targets);
	return status;
}

enum fsl_status fsl_classical_comm(struct fsl_localisation *out,
				   const struct fsl_classical *classical, struct fsl_error *err)
{
	const struct fsl_run *run = classical->run;
	size_t n_files = count_rank_files(run);
	if (n_files < FSL_CLASSICAL_COMM_FILES_MIN) {
		return fsl_coverage_add_skipped(
			&out->coverage, &out->arena, err, "%s: %zu rank files, needs %d",
			classical->config->comm_slow, n_files, FSL_CLASSICAL_COMM_FILES_MIN);
	}
	size_t n_numbers = (size_t)run->ranks[run->n_ranks - 1].rank + 1;
	struct fsl_notes notes = {0};
	bool *is_slow = fsl_calloc(n_numbers, sizeof(*is_slow));
	if (is_slow == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_numbers);
	}
	enum fsl_status status = find_slow_groups(is_slow, classical, &notes, err);
	if (status == FSL_OK) {
		status = vote_on_pipelines(out, classical, is_slow, &notes, err);
	}
	if (status == FSL_OK) {
		status = fsl_notes_flush(out, &notes, err);
	}
	fsl_notes_fini(&notes);
	fsl_free(is_slow);
	return status;
}
