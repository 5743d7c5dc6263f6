/* One rank as the dispatch layer sees it. */
#include "judge/dispatch_view.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "blame/operator_types.h"
#include "capture/step_rows.h"
#include "judge/limits.h"

static double per_step_ms(const struct fsl_profile_rank *rank, double total_ns)
{
	return total_ns / (double)FSL_NS_PER_MS / (double)fsl_profile_n_steps(rank);
}

static double level_ms(const struct fsl_profile_rank *rank, uint32_t level, const char *word,
		       bool is_begin)
{
	double sum_ns = 0.0;
	for (size_t i = 0; i < rank->n_api_statistics; i++) {
		const struct fsl_profile_statistic *api = &rank->api_statistics[i];
		const char *name = fsl_strpool_text(rank->names, api->name_id);
		const char *found = strstr(name, word);
		if (api->kind_id == level && (is_begin ? found == name : found != NULL)) {
			sum_ns += (double)api->total_ns;
		}
	}
	return sum_ns / (double)FSL_NS_PER_MS / (double)fsl_profile_steps_captured(rank);
}

/*
 * Host time in APIs whose name holds @word, or begins with it. Levels contain each other (acl calls
 * runtime), so the level with most of it counts alone.
 */
static double host_ms(const struct fsl_profile_rank *rank, const char *word, bool is_begin)
{
	static const char *const levels[] = {"acl", "node", "runtime", "model"};
	double most_ms = rank->n_api_statistics > 0 ? 0.0 : (double)NAN;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		uint32_t level = fsl_strpool_find(rank->names, levels[i], strlen(levels[i]));
		double ms = level != FSL_STR_NONE ? level_ms(rank, level, word, is_begin) : 0.0;
		most_ms = ms > most_ms ? ms : most_ms;
	}
	return most_ms;
}

/* Not of aclopCompileAndExecute, which calls opCompile: most of its time goes to executing. */
static double compile_ms(const struct fsl_profile_rank *rank)
{
	return host_ms(rank, "opCompile", true);
}

static void view_gaps(struct fsl_dispatch_view *view)
{
	double sum_ns = 0.0;
	for (size_t i = 0; i < view->rank->n_gaps; i++) {
		const struct fsl_profile_gap *gap = &view->rank->gaps[i];
		if (fsl_profile_is_edge(&view->edges, gap->begin_ns)) {
			continue;
		}
		sum_ns += (double)gap->dur_ns;
		if (view->gap == NULL || gap->dur_ns > view->gap->dur_ns) {
			view->gap = gap;
		}
	}
	view->long_gaps_ms = view->gap != NULL ? per_step_ms(view->rank, sum_ns) : NAN;
}

/* Kernels of an excerpt hold little of what the rank computes, or leave gaps that are longer than
 * the free time that the profiler tells. */
static bool fits(const struct fsl_dispatch_view *view)
{
	enum { ROUNDING_NS = 1000 };
	size_t n_rows = 0;
	(void)fsl_profile_step_rows(view->rank, &n_rows);
	double free_ns = view->free_ms * (double)FSL_NS_PER_MS * (double)n_rows;
	bool is_short = view->gap == NULL || !((double)view->gap->dur_ns > free_ns + ROUNDING_NS);
	return is_short && !fsl_operator_types_are_cut(view->rank);
}

static bool is_pause(const struct fsl_profile_idle *idle)
{
	double dur_us = (double)idle->dur_ns / (double)FSL_NS_PER_US;
	return idle->dur_ns > FSL_JUDGE_PAUSE_NS &&
	       (double)idle->n_acl <= FSL_JUDGE_PAUSE_CALLS_A_US * dur_us &&
	       (double)idle->acl_ns <= FSL_JUDGE_PAUSE_CALL_SHARE_MAX * (double)idle->dur_ns;
}

/* Whose turn it was while the device had nothing to do: the framework's until it called what ended
 * the stretch, then that of CANN until it launched that, then the device's. */
static void lay_idle(struct fsl_dispatch_view *view, const struct fsl_profile_idle *idle,
		     double per_ms)
{
	int64_t launched_ns = idle->launch_lag_ns, called_ns = idle->torch_lag_ns;
	if (launched_ns == FSL_NS_ABSENT) {
		return;
	}
	launched_ns = launched_ns < idle->dur_ns ? launched_ns : idle->dur_ns;
	called_ns = called_ns < idle->dur_ns ? called_ns : idle->dur_ns;
	called_ns = called_ns > launched_ns ? called_ns : launched_ns; /* also where absent */
	view->framework_ms += (double)(idle->dur_ns - called_ns) / per_ms;
	view->cann_ms += (double)(called_ns - launched_ns) / per_ms;
	view->device_ms += (double)launched_ns / per_ms;
}

static void view_trace(struct fsl_dispatch_view *view)
{
	const struct fsl_profile_rank *rank = view->rank;
	const struct fsl_profile_trace *trace = &rank->trace;
	double per_ms = (double)FSL_NS_PER_MS * (double)fsl_profile_steps_captured(rank);
	bool has_calls = false, has_launches = false;
	view->framework_ms = view->cann_ms = view->device_ms = view->pause_ms = 0.0;
	for (size_t i = 0; i < trace->n_idle; i++) {
		if (fsl_profile_is_edge(&view->edges, trace->idle[i].begin_ns)) {
			continue;
		}
		double ms = (double)trace->idle[i].dur_ns / per_ms;
		lay_idle(view, &trace->idle[i], per_ms);
		has_calls |= trace->idle[i].torch_lag_ns != FSL_NS_ABSENT;
		has_launches |= trace->idle[i].launch_lag_ns != FSL_NS_ABSENT;
		view->pause_ms += is_pause(&trace->idle[i]) ? ms : 0.0;
	}
	if (!has_launches) {
		view->framework_ms = view->cann_ms = view->device_ms = NAN;
	} else if (!has_calls) {
		view->host_ms = view->framework_ms;
		view->framework_ms = view->cann_ms = NAN;
	}
	view->dataloader_ms = (double)trace->calls[FSL_HOST_DATALOADER].long_ns / per_ms;
	view->gc_ms = (double)trace->calls[FSL_HOST_GC].long_ns / per_ms;
	if (isnan(view->synchronise_ms)) {
		view->synchronise_ms = (double)trace->calls[FSL_HOST_SYNCHRONIZE].total_ns / per_ms;
		view->compile_ms = (double)trace->calls[FSL_HOST_COMPILE].total_ns / per_ms;
	}
}

struct fsl_dispatch_view fsl_dispatch_view_of(const struct fsl_profile_rank *rank)
{
	const struct fsl_profile_edges edges = fsl_profile_edges_of(rank);
	double edges_ms = fsl_profile_edges_ms(&edges);
	struct fsl_dispatch_view view = {
		.rank = rank,
		.edges = edges,
		.step_ms = fsl_profile_step_ms(rank) - edges_ms,
		.free_ms = fsl_profile_part_ms(rank, FSL_PART_FREE) - edges_ms,
		.preparing_ms = fsl_profile_part_ms(rank, FSL_PART_PREPARING),
		.synchronise_ms = host_ms(rank, "ynchronize", false),
		.compile_ms = compile_ms(rank),
		.allocate_ms = host_ms(rank, "Malloc", false),
		.n_kernels = NAN,
		.framework_ms = NAN,
		.cann_ms = NAN,
		.device_ms = NAN,
		.host_ms = NAN,
		.pause_ms = NAN,
		.dataloader_ms = NAN,
		.gc_ms = NAN};
	double n = 0.0;
	for (size_t i = 0; i < rank->n_kernels; i++) {
		n += (double)rank->kernels[i].count;
	}
	if (n > 0.0) {
		view.n_kernels = per_step_ms(rank, n * (double)FSL_NS_PER_MS);
	}
	view_gaps(&view);
	if (!fits(&view)) {
		view.gap = NULL;
		view.long_gaps_ms = view.n_kernels = NAN;
		/* Steps that were rebuilt from an excerpt tell nothing. */
		view.step_ms = rank->n_steps > 0 ? view.step_ms : NAN;
	}
	if (rank->has_trace) {
		view_trace(&view);
	}
	return view;
}
