/* cal and op_launch: one metric, judged on every communicator of the tensor-parallel groups. */
#include <stdio.h>
#include <string.h>

#include "detect/classical_parts.h"

enum fsl_status fsl_metric_source_find(struct fsl_metric_source *out,
				       const struct fsl_classical *classical, const char *name,
				       struct fsl_notes *notes, bool *is_found,
				       struct fsl_error *err)
{
	*out = (struct fsl_metric_source){.classical = classical};
	out->metric = fsl_config_metric(classical->config, name);
	*is_found = out->metric != NULL && out->metric->n_funcs > 0;
	if (out->metric == NULL) {
		return fsl_notes_add(notes, err, name, "", "not in the metric configuration");
	}
	if (out->metric->n_funcs == 0) {
		return fsl_notes_add(notes, err, name, "",
				     "its configuration names no aggregation.funcs");
	}
	out->n_op_ids = fsl_kpi_op_ids(classical->run, out->metric->op_name, out->op_ids,
				       FSL_CLASSICAL_SPELLINGS_MAX);
	return FSL_OK;
}

enum fsl_status fsl_series_build(struct fsl_series *out, const struct fsl_metric_source *source,
				 const struct fsl_target *target, struct fsl_notes *notes,
				 struct fsl_error *err)
{
	struct fsl_kpi_request request = {
		.run = source->classical->run,
		.metric = source->metric,
		.op_ids = source->op_ids,
		.n_op_ids = source->n_op_ids,
		.group_id = target->group->name_id,
		.ranks = target->group->ranks,
		.n_ranks = target->group->n_ranks,
		.steps = &source->classical->steps,
		.trim_head_share = source->classical->config->trim_head_share,
	};
	size_t n_outside = 0;
	enum fsl_status status = fsl_kpi_build(out->windows, &request, &n_outside, err);
	if (status != FSL_OK) {
		return status;
	}
	out->n_funcs = source->metric->n_funcs;
	if (n_outside > 0) {
		status = fsl_notes_add(
			notes, err, source->metric->name, target->label,
			"%zu operators lie more than %zu windows after the first of their rank",
			n_outside, out->windows[0].n_windows);
	}
	if (status == FSL_OK && out->windows[0].n_members == 0) {
		fsl_series_fini(out);
		status = fsl_notes_add(notes, err, source->metric->name, target->label,
				       "no %s with the times that it needs",
				       source->metric->op_name);
	}
	if (status != FSL_OK) {
		fsl_series_fini(out);
	}
	return status;
}

void fsl_series_fini(struct fsl_series *series)
{
	for (size_t f = 0; f < series->n_funcs; f++) {
		fsl_windows_fini(&series->windows[f]);
	}
	series->n_funcs = 0;
}

enum fsl_status fsl_unit_take(const struct fsl_unit *unit, struct fsl_notes *notes,
			      struct fsl_error *err)
{
	if (unit->status != FSL_OK && err != NULL) {
		*err = unit->err;
	}
	return unit->status == FSL_OK ? fsl_notes_merge(notes, &unit->notes, err) : unit->status;
}

void fsl_unit_fini(struct fsl_unit *unit)
{
	fsl_series_fini(&unit->series);
	fsl_arena_fini(&unit->arena);
	fsl_notes_fini(&unit->notes);
}

struct task {
	struct fsl_unit unit;
	struct fsl_judgement judgements[FSL_AGG_FUNCS_MAX];
};

static bool has_anomaly(const struct task *task)
{
	for (size_t f = 0; f < task->unit.series.n_funcs; f++) {
		const struct fsl_windows *windows = &task->unit.series.windows[f];
		if (memchr(task->judgements[f].labels, 1,
			   windows->n_members * windows->n_windows) != NULL) {
			return true;
		}
	}
	return false;
}

static enum fsl_status run_task(struct task *task, const struct fsl_metric_source *source,
				const struct fsl_target *target, struct fsl_error *err)
{
	const struct fsl_metric_config *metric = source->metric;
	if (metric->is_launch && !target->is_consecutive) {
		return fsl_notes_add(&task->unit.notes, err, metric->name, target->label,
				     "ranks are not consecutive");
	}
	enum fsl_status status =
		fsl_series_build(&task->unit.series, source, target, &task->unit.notes, err);
	for (size_t f = 0; f < task->unit.series.n_funcs && status == FSL_OK; f++) {
		char label[256];
		(void)snprintf(label, sizeof(label), "%s %s", metric->name, target->label);
		status = fsl_judge(&task->judgements[f], &task->unit, metric,
				   &task->unit.series.windows[f], label, err);
	}
	if (status == FSL_OK && !has_anomaly(task)) {
		/* Frees the series of healthy groups: they are no longer needed, and thousands of
		 * groups add up. */
		fsl_arena_fini(&task->unit.arena);
		fsl_series_fini(&task->unit.series);
	}
	return status;
}

static enum fsl_status emit_func(struct fsl_localisation *out,
				 const struct fsl_metric_source *source, struct task *task,
				 size_t func, struct fsl_error *err)
{
	const struct fsl_metric_config *metric = source->metric;
	const struct fsl_windows *windows = &task->unit.series.windows[func];
	const struct fsl_judgement *judgement = &task->judgements[func];
	char kpi_id[256];
	if (metric->n_funcs > 1) {
		(void)snprintf(kpi_id, sizeof(kpi_id), "%s!%s", metric->name,
			       metric->funcs[func].suffix);
	} else {
		(void)snprintf(kpi_id, sizeof(kpi_id), "%s", metric->name);
	}
	bool *is_anomalous = NULL;
	FSL_TRY(FSL_NEW(&task->unit.arena, is_anomalous, windows->n_members, err));
	for (size_t m = 0; m < windows->n_members; m++) {
		is_anomalous[m] = fsl_judgement_is_anomalous(judgement, windows, m);
	}
	struct fsl_entries entries = {
		.windows = windows,
		.labels = judgement->labels,
		.is_anomalous = is_anomalous,
		.method = judgement->method,
		.kpi_id = kpi_id,
		.type = metric->type,
	};
	return fsl_entries_add(out, source->classical, &entries, err);
}

static enum fsl_status emit_task(struct fsl_localisation *out,
				 const struct fsl_metric_source *source, struct task *task,
				 struct fsl_notes *notes, struct fsl_error *err)
{
	FSL_TRY(fsl_unit_take(&task->unit, notes, err));
	for (size_t f = 0; f < task->unit.series.n_funcs; f++) {
		FSL_TRY(emit_func(out, source, task, f, err));
	}
	return FSL_OK;
}

/* Runs targets on several threads; a single target runs its ranks on threads instead. */
static void run_tasks(struct task *tasks, const struct fsl_metric_source *source,
		      const struct fsl_targets *targets)
{
	if (targets->n_items == 1) {
		tasks[0].unit.status =
			run_task(&tasks[0], source, &targets->items[0], &tasks[0].unit.err);
		return;
	}
	int n_threads = fsl_classical_threads(source->classical);
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
	for (size_t i = 0; i < targets->n_items; i++) {
		tasks[i].unit.status =
			run_task(&tasks[i], source, &targets->items[i], &tasks[i].unit.err);
	}
}

/* Adds the results in the order of the targets. */
static enum fsl_status run_targets(struct fsl_localisation *out,
				   const struct fsl_metric_source *source,
				   const struct fsl_targets *targets, struct fsl_notes *notes,
				   struct fsl_error *err)
{
	struct task *tasks = fsl_calloc(targets->n_items, sizeof(*tasks));
	if (tasks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", targets->n_items);
	}
	run_tasks(tasks, source, targets);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < targets->n_items; i++) {
		if (status == FSL_OK) {
			status = emit_task(out, source, &tasks[i], notes, err);
		}
		fsl_unit_fini(&tasks[i].unit);
	}
	fsl_free(tasks);
	return status;
}

enum fsl_status fsl_classical_metric(struct fsl_localisation *out,
				     const struct fsl_classical *classical, const char *metric_name,
				     struct fsl_error *err)
{
	struct fsl_notes notes = {0};
	struct fsl_targets targets = {0};
	struct fsl_metric_source source;
	bool is_found = false;
	enum fsl_status status =
		fsl_metric_source_find(&source, classical, metric_name, &notes, &is_found, err);
	if (status == FSL_OK && is_found) {
		enum fsl_group_kind kind = fsl_targets_main_kind(classical->topology);
		status = fsl_targets_find(&targets, classical, kind, err);
		if (status == FSL_OK && targets.n_items == 0) {
			status = fsl_notes_add(&notes, err, metric_name, "",
					       "no %s communicator of two or more ranks with data",
					       fsl_group_kind_text(kind));
		}
	}
	if (status == FSL_OK && is_found) {
		status = run_targets(out, &source, &targets, &notes, err);
	}
	if (status == FSL_OK) {
		status = fsl_notes_flush(out, &notes, err);
	}
	fsl_targets_fini(&targets);
	fsl_notes_fini(&notes);
	return status;
}
