/* Runs the enabled classical observation points and lists the ranks without data. */
#include "detect/classical.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "detect/classical_parts.h"

/* dataloader and ckpt: time per step inside recorded stages, ranks against each other. sysTrace has
 * the switches but no detector for them; this rule is failslow's own. */
enum { STAGE_RANKS_MIN = 3 };

/*
 * A step of a rank is long if it exceeds the median of all ranks in that step by three limits: this
 * many robust sigmas of all such differences, this share of the usual time, and this many ms. The
 * last limit ignores the jitter of a loader that takes microseconds.
 */
#define STAGE_SIGMAS    5.0
#define STAGE_SHARE_MIN 0.1
#define STAGE_MS_MIN    1.0

static bool is_wanted(const struct fsl_stage *stage, enum fsl_stage_kind kind)
{
	return stage->kind == kind && stage->step >= 0;
}

/* The steps in which any rank has stages of the kind, sorted, each once. It is a list: one damaged
 * number in a timeline must not create a window for every number up to it. */
struct step_list {
	int64_t *items;
	size_t n_items, capacity;
	size_t n_members; /* number of ranks that have such stages */
};

static enum fsl_status list_steps(struct step_list *steps, const struct fsl_run *run,
				  enum fsl_stage_kind kind, struct fsl_error *err)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		size_t n_before = steps->n_items;
		for (size_t i = 0; i < run->ranks[r].n_stages; i++) {
			const struct fsl_stage *stage = &run->ranks[r].stages[i];
			if (!is_wanted(stage, kind)) {
				continue;
			}
			FSL_TRY(FSL_GROW(steps->items, steps->capacity, steps->n_items + 1, err));
			steps->items[steps->n_items++] = stage->step;
		}
		steps->n_members += steps->n_items > n_before ? 1 : 0;
	}
	if (steps->n_items > 1) {
		qsort(steps->items, steps->n_items, sizeof(*steps->items), fsl_compare_i64);
	}
	size_t n = 0;
	for (size_t i = 0; i < steps->n_items; i++) {
		if (n == 0 || steps->items[i] != steps->items[n - 1]) {
			steps->items[n++] = steps->items[i];
		}
	}
	steps->n_items = n;
	return FSL_OK;
}

/*
 * Leaves out the share at the start, as for series of operators, and steps beyond the memory limit.
 */
static void trim_steps(struct step_list *steps, double share)
{
	size_t n_most = FSL_KPI_CELLS_MAX / steps->n_members;
	size_t n_dropped = (size_t)(share * (double)steps->n_items);
	n_dropped = n_dropped < steps->n_items ? n_dropped : steps->n_items;
	if (steps->n_items - n_dropped > n_most) {
		n_dropped = steps->n_items - n_most;
	}
	steps->n_items -= n_dropped;
	memmove(steps->items, steps->items + n_dropped, steps->n_items * sizeof(*steps->items));
}

/* Adds the stages of one rank; false: the rank has none of the kind. */
static bool fill_member(struct fsl_windows *windows, size_t member, const struct fsl_rank *rank,
			enum fsl_stage_kind kind, const struct step_list *steps)
{
	bool has_any = false;
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		if (!is_wanted(stage, kind)) {
			continue;
		}
		has_any = true;
		const int64_t *step = bsearch(&stage->step, steps->items, steps->n_items,
					      sizeof(*steps->items), fsl_compare_i64);
		if (step == NULL) {
			continue;
		}
		size_t cell = member * windows->n_windows + (size_t)(step - steps->items);
		double dur_ms = (double)(stage->end_ns - stage->begin_ns) / FSL_NS_PER_MS;
		if (windows->n_samples[cell]++ == 0) {
			windows->values[cell] = 0.0;
			windows->first_ns[cell] = stage->begin_ns;
		}
		windows->values[cell] += dur_ms;
	}
	return has_any;
}

/* Differences between all cells and the median of their step; NaN if there is no value. */
static void differences(const struct fsl_windows *windows, double *out, double *medians,
			double *scratch)
{
	size_t n = windows->n_members;
	for (size_t w = 0; w < windows->n_windows; w++) {
		for (size_t m = 0; m < n; m++) {
			scratch[m] = windows->values[m * windows->n_windows + w];
		}
		medians[w] = fsl_median(scratch, n, scratch + n);
		for (size_t m = 0; m < n; m++) {
			size_t cell = m * windows->n_windows + w;
			out[cell] = windows->values[cell] - medians[w];
		}
	}
}

/* A member is anomalous if at least @share of its steps are long. */
static void judge_members(const struct fsl_windows *windows, const double *difference,
			  double limit_ms, double share, uint8_t *labels, bool *is_anomalous)
{
	for (size_t m = 0; m < windows->n_members; m++) {
		size_t n_steps = 0, n_long = 0;
		for (size_t w = 0; w < windows->n_windows; w++) {
			size_t cell = m * windows->n_windows + w;
			bool is_long = difference[cell] > limit_ms;
			labels[cell] = is_long ? 1 : 0;
			n_steps += isnan(difference[cell]) ? 0 : 1;
			n_long += is_long;
		}
		is_anomalous[m] = n_long > 0 && (double)n_long >= share * (double)n_steps;
	}
}

static enum fsl_status judge(struct fsl_localisation *out, const struct fsl_classical *classical,
			     const struct fsl_windows *windows, const char *kpi_id,
			     struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n_cells = windows->n_members * windows->n_windows;
	size_t n_most = n_cells > 2 * windows->n_members ? n_cells : 2 * windows->n_members;
	double *difference = NULL, *medians = NULL, *scratch = NULL;
	uint8_t *labels = NULL;
	bool *is_anomalous = NULL;
	FSL_TRY(FSL_ARENA_NEW(difference, arena, n_cells, "difference", err));
	FSL_TRY(FSL_ARENA_NEW(medians, arena, windows->n_windows, "medians", err));
	FSL_TRY(FSL_ARENA_NEW(scratch, arena, n_most, "scratch", err));
	FSL_TRY(FSL_ARENA_NEW(labels, arena, n_cells, "labels", err));
	FSL_TRY(FSL_ARENA_NEW(is_anomalous, arena, windows->n_members, "is_anomalous", err));
	differences(windows, difference, medians, scratch);
	double usual_ms = fsl_median(medians, windows->n_windows, scratch);
	double limit_ms = STAGE_SIGMAS * fsl_mad_sigma(difference, n_cells, 0.0, scratch);
	limit_ms = limit_ms > STAGE_SHARE_MIN * usual_ms ? limit_ms : STAGE_SHARE_MIN * usual_ms;
	limit_ms = limit_ms > STAGE_MS_MIN ? limit_ms : STAGE_MS_MIN;
	judge_members(windows, difference, limit_ms, classical->config->persistence_min, labels,
		      is_anomalous);
	struct fsl_entries entries = {
		.windows = windows,
		.labels = labels,
		.is_anomalous = is_anomalous,
		.method = FSL_METHOD_SPACE,
		.kpi_id = kpi_id,
		.type = "storage",
	};
	return fsl_entries_add(out, classical, &entries, err);
}

static enum fsl_status fill_windows(struct fsl_windows *windows, const struct fsl_run *run,
				    enum fsl_stage_kind kind, const struct step_list *steps,
				    struct fsl_error *err)
{
	enum fsl_metric metric = kind == FSL_STAGE_CKPT ? FSL_METRIC_CKPT : FSL_METRIC_DATALOADER;
	FSL_TRY(fsl_windows_init(windows, metric, FSL_WINDOW_STEP, steps->n_members, steps->n_items,
				 err));
	size_t member = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (member < steps->n_members &&
		    fill_member(windows, member, &run->ranks[r], kind, steps)) {
			windows->ranks[member++] = run->ranks[r].rank;
		}
	}
	return FSL_OK;
}

/* dataloader, ckpt: time per step inside stages of @kind. */
static enum fsl_status judge_stages(struct fsl_localisation *out,
				    const struct fsl_classical *classical, enum fsl_stage_kind kind,
				    const char *kpi_id, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct step_list steps = {0};
	struct fsl_windows windows = {0};
	enum fsl_status status = list_steps(&steps, classical->run, kind, err);
	if (status != FSL_OK) {
		goto out;
	}
	if (steps.n_members < STAGE_RANKS_MIN) {
		status = fsl_coverage_add_skipped(
			&out->coverage, &out->arena, err,
			"%s: %zu ranks with such stages in their timelines, needs %d", kpi_id,
			steps.n_members, STAGE_RANKS_MIN);
		goto out;
	}
	trim_steps(&steps, classical->config->trim_head_share);
	status = fill_windows(&windows, classical->run, kind, &steps, err);
	if (status == FSL_OK && windows.n_windows > 0) {
		status = judge(out, classical, &windows, kpi_id, &arena, err);
	}
out:
	fsl_arena_fini(&arena);
	fsl_windows_fini(&windows);
	fsl_free(steps.items);
	return status;
}

int fsl_classical_threads(const struct fsl_classical *classical)
{
	int most = omp_get_max_threads();
	int64_t jobs = classical->config->jobs;
	return jobs > 0 && jobs < most ? (int)jobs : most;
}

static bool has_device_times(const struct fsl_rank *rank)
{
	for (size_t i = 0; i < rank->n_ops; i++) {
		if (rank->ops[i].dev_begin_ns != FSL_NS_ABSENT) {
			return true;
		}
	}
	return false;
}

/* True if any rank has device times: a rank without them has then lost them. */
static bool any_device_times(const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (has_device_times(&run->ranks[r])) {
			return true;
		}
	}
	return false;
}

/* Metric name of LACK entries: that of the first enabled observation point. */
static const char *first_metric(const struct fsl_config *config)
{
	if (!config->enable_cal && config->enable_op_launch) {
		return config->op_launch_slow;
	}
	if (!config->enable_cal && config->enable_comm) {
		return config->comm_slow;
	}
	return config->cal_slow;
}

static enum fsl_status add_lack(struct fsl_localisation *out, const struct fsl_classical *classical,
				int32_t rank, struct fsl_error *err)
{
	const char *name = first_metric(classical->config);
	const struct fsl_metric_config *metric = fsl_config_metric(classical->config, name);
	struct fsl_detail detail = {
		.rank = rank,
		.server_ip = fsl_arena_strdup(&out->arena, fsl_entries_host(classical, rank)),
		.kpi_id = fsl_arena_strdup(&out->arena, name),
		.method = FSL_METHOD_LACK,
		.is_abnormal = true,
	};
	if (detail.server_ip == NULL || detail.kpi_id == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
	}
	fsl_entries_flag(out, metric != NULL ? metric->type : "compute");
	return fsl_localisation_add_detail(out, &detail, err);
}

static bool has_data(const struct fsl_rank *rank, bool wants_device)
{
	return rank != NULL && (wants_device ? has_device_times(rank) : rank->n_ops > 0);
}

/* Lists every expected rank without operators once. If no rank has operators, no rank is listed. */
static enum fsl_status list_lacking(struct fsl_localisation *out,
				    const struct fsl_classical *classical, struct fsl_error *err)
{
	const struct fsl_run *run = classical->run;
	const struct fsl_topology *topology = classical->topology;
	bool wants_device = any_device_times(run), is_any_seen = false;
	for (size_t i = 0; i < run->n_ranks; i++) {
		is_any_seen = is_any_seen || has_data(&run->ranks[i], wants_device);
	}
	for (size_t i = 0; i < topology->n_expected_ranks && is_any_seen; i++) {
		int32_t rank = topology->expected_ranks[i];
		if (has_data(fsl_run_rank(run, rank), wants_device)) {
			continue;
		}
		FSL_TRY(add_lack(out, classical, rank, err));
	}
	return FSL_OK;
}

static bool wants_steps(const struct fsl_config *config)
{
	for (size_t i = 0; i < config->n_metrics; i++) {
		if (config->metrics[i].during_steps > 0) {
			return true;
		}
	}
	return false;
}

/* Runs the enabled observation points, one after the other. */
static enum fsl_status run_points(struct fsl_localisation *out,
				  const struct fsl_classical *classical, struct fsl_error *err)
{
	const struct fsl_config *config = classical->config;
	if (config->enable_cal) {
		FSL_TRY(fsl_classical_metric(out, classical, config->cal_slow, err));
	}
	if (config->enable_op_launch) {
		FSL_TRY(fsl_classical_metric(out, classical, config->op_launch_slow, err));
	}
	if (config->enable_comm) {
		FSL_TRY(fsl_classical_comm(out, classical, err));
	}
	if (config->enable_dataloader) {
		FSL_TRY(judge_stages(out, classical, FSL_STAGE_DATALOADER, config->dataloader_slow,
				     err));
	}
	if (config->enable_ckpt) {
		FSL_TRY(judge_stages(out, classical, FSL_STAGE_CKPT, config->ckpt_slow, err));
	}
	return list_lacking(out, classical, err);
}

enum fsl_status fsl_classical_run(struct fsl_localisation *out, const struct fsl_run *run,
				  const struct fsl_topology *topology,
				  const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_classical classical = {.run = run, .topology = topology, .config = config};
	enum fsl_status status =
		wants_steps(config) ? fsl_steps_build(&classical.steps, run, err) : FSL_OK;
	out->result_code = 200;
	if (status == FSL_OK) {
		status = run_points(out, &classical, err);
	}
	fsl_steps_fini(&classical.steps);
	return status;
}
