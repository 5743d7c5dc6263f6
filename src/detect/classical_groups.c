/* Slow groups of comm: tensor-parallel groups, judged against each other by their mean times. */
#include <math.h>
#include <stdio.h>

#include "detect/classical_parts.h"

/* One group's series; filled by one thread. */
struct part {
	struct fsl_series series;
	struct fsl_notes notes;
	enum fsl_status status;
	struct fsl_error err;
};

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
static enum fsl_status group_windows(struct fsl_windows *out, const struct part *parts,
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
				    const struct fsl_targets *targets, const struct part *parts,
				    struct fsl_notes *notes, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t f = 0; f < metric->n_funcs && status == FSL_OK; f++) {
		struct fsl_windows windows = {0};
		struct fsl_judgement judgement = {0};
		char label[256];
		(void)snprintf(label, sizeof(label), "%s between %s groups", metric->name,
			       fsl_group_kind_text(targets->kind));
		status = group_windows(&windows, parts, targets->n_items, f, err);
		if (status == FSL_OK && windows.n_members > 0) {
			status = fsl_judge(&judgement, metric, &windows, label, notes, err);
		}
		for (size_t m = 0; m < windows.n_members && status == FSL_OK; m++) {
			if (fsl_judgement_is_anomalous(&judgement, &windows, m)) {
				mark_slow(is_slow, targets->items[windows.ranks[m]].group);
			}
		}
		fsl_judgement_fini(&judgement);
		fsl_windows_fini(&windows);
	}
	return status;
}

static enum fsl_status merge_part(const struct part *part, struct fsl_notes *notes,
				  struct fsl_error *err)
{
	if (part->status != FSL_OK) {
		if (err != NULL) {
			*err = part->err;
		}
		return part->status;
	}
	return fsl_notes_merge(notes, &part->notes, err);
}

/* Builds the series of all groups on several threads, then compares the groups. */
static enum fsl_status run_parts(bool *is_slow, const struct fsl_metric_source *source,
				 const struct fsl_targets *targets, struct fsl_notes *notes,
				 struct fsl_error *err)
{
	struct part *parts = fsl_calloc(targets->n_items, sizeof(*parts));
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
		status = merge_part(&parts[i], notes, err);
	}
	if (status == FSL_OK) {
		status = judge_groups(is_slow, source->metric, targets, parts, notes, err);
	}
	for (size_t i = 0; i < targets->n_items; i++) {
		fsl_series_fini(&parts[i].series);
		fsl_notes_fini(&parts[i].notes);
	}
	fsl_free(parts);
	return status;
}

enum fsl_status fsl_slow_groups_find(bool *is_slow, const struct fsl_classical *classical,
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
