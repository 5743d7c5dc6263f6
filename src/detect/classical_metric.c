/* cal and op_launch: one metric, judged on every communicator of the tensor-parallel groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "detect/classical_parts.h"

/* Selects the communicators that the classical detectors judge. */

enum { LABEL_RANKS_MAX = 16 };

enum fsl_group_kind fsl_targets_main_kind(const struct fsl_topology *topology)
{
	const struct fsl_domain *tp = &topology->domains[FSL_GROUP_TP];
	return tp->n_lists > 0 && tp->lists[0].n_ranks > 1 ? FSL_GROUP_TP : FSL_GROUP_DP;
}

/* Orders by ranks; of equal ranks by operators, then calls, the most first. */
static int compare_groups(const void *left, const void *right)
{
	const struct fsl_group *a = *(const struct fsl_group *const *)left;
	const struct fsl_group *b = *(const struct fsl_group *const *)right;
	int order = fsl_ranks_compare(a->ranks, a->n_ranks, b->ranks, b->n_ranks);
	if (order != 0) {
		return order;
	}
	FSL_ORDER_BY(b->n_op_kinds, a->n_op_kinds);
	FSL_ORDER_BY(b->n_calls, a->n_calls);
	return FSL_ORDER(a, b); /* topology->groups is sorted, so its order decides */
}

static bool has_data(const struct fsl_run *run, int32_t rank)
{
	const struct fsl_rank *seen = fsl_run_rank(run, rank);
	return seen != NULL && seen->n_ops > 0;
}

static bool is_consecutive(const struct fsl_run *run, const int32_t *ranks, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		for (int32_t between = ranks[i - 1] + 1; between < ranks[i]; between++) {
			if (has_data(run, between)) {
				return false;
			}
		}
	}
	return true;
}

/* "tp [0,1,2,3]", cut after LABEL_RANKS_MAX ranks. */
static const char *label_of(struct fsl_arena *arena, enum fsl_group_kind kind, const int32_t *ranks,
			    size_t n)
{
	char text[LABEL_RANKS_MAX * 12 + 32];
	size_t length = (size_t)snprintf(text, sizeof(text), "%s [", fsl_group_kind_text(kind));
	for (size_t i = 0; i < n && i < LABEL_RANKS_MAX; i++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
					   i > 0 ? "," : "", ranks[i]);
	}
	(void)snprintf(text + length, sizeof(text) - length, n > LABEL_RANKS_MAX ? ",...]" : "]");
	return fsl_arena_strdup(arena, text);
}

/* First communicator of @sorted with exactly these ranks; NULL: none. */
static const struct fsl_group *find_group(const struct fsl_group *const *sorted, size_t n_groups,
					  const int32_t *ranks, size_t n)
{
	size_t begin = 0;
	FSL_BISECT(begin, n_groups, middle,
		   fsl_ranks_compare(sorted[middle]->ranks, sorted[middle]->n_ranks, ranks, n) < 0);
	bool is_equal =
		begin < n_groups &&
		fsl_ranks_compare(sorted[begin]->ranks, sorted[begin]->n_ranks, ranks, n) == 0;
	return is_equal ? sorted[begin] : NULL;
}

/* Writes the ranks of the list that have data, sorted, to @ranks (room for list->n_ranks). */
static size_t present_ranks(const struct fsl_run *run, const struct fsl_rank_list *list,
			    int32_t *ranks)
{
	size_t n = 0;
	for (size_t i = 0; i < list->n_ranks; i++) {
		if (has_data(run, list->ranks[i])) {
			ranks[n++] = list->ranks[i];
		}
	}
	qsort(ranks, n, sizeof(*ranks), fsl_rank_compare);
	return n;
}

static enum fsl_status add_target(struct fsl_targets *out, const struct fsl_classical *classical,
				  const struct fsl_group *const *sorted, size_t n_groups,
				  const struct fsl_rank_list *list, struct fsl_error *err)
{
	int32_t *ranks = NULL;
	FSL_TRY(FSL_ARENA_NEW(ranks, &out->arena, list->n_ranks, "ranks", err));
	size_t n = present_ranks(classical->run, list, ranks);
	/* In a communicator of one rank nobody waits. */
	const struct fsl_group *group = n >= 2 ? find_group(sorted, n_groups, ranks, n) : NULL;
	const char *label = group != NULL ? label_of(&out->arena, out->kind, ranks, n) : NULL;
	if (group == NULL) {
		return FSL_OK;
	}
	if (label == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	out->items[out->n_items++] = (struct fsl_target){
		.group = group,
		.label = label,
		.is_consecutive = is_consecutive(classical->run, ranks, n),
	};
	return FSL_OK;
}

enum fsl_status fsl_targets_find(struct fsl_targets *out, const struct fsl_classical *classical,
				 enum fsl_group_kind kind, struct fsl_error *err)
{
	const struct fsl_topology *topology = classical->topology;
	const struct fsl_domain *domain = &topology->domains[kind];
	const struct fsl_group **sorted = NULL;
	size_t n_groups = 0;
	out->kind = kind;
	FSL_TRY(FSL_ARENA_NEW(sorted, &out->arena, topology->n_groups, "sorted", err));
	FSL_TRY(FSL_ARENA_NEW(out->items, &out->arena, domain->n_lists, "items", err));
	for (size_t g = 0; g < topology->n_groups; g++) {
		if (topology->groups[g].name_id != FSL_STR_NONE) {
			sorted[n_groups++] = &topology->groups[g];
		}
	}
	qsort(sorted, n_groups, sizeof(const struct fsl_group *), compare_groups);
	for (size_t i = 0; i < domain->n_lists; i++) {
		FSL_TRY(add_target(out, classical, sorted, n_groups, &domain->lists[i], err));
	}
	return FSL_OK;
}

void fsl_targets_fini(struct fsl_targets *targets)
{
	fsl_arena_fini(&targets->arena);
	*targets = (struct fsl_targets){0};
}

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
	FSL_TRY(FSL_ARENA_NEW(is_anomalous, &task->unit.arena, windows->n_members, "is_anomalous",
			      err));
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
