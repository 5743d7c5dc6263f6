/* Steps, gaps and calls of the host of each rank, beside what healthy ranks may have. */
#include "blame/host_losses.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "blame/operator_types.h"
#include "capture/step_rows.h"

/* Least share of a step from which on a symptom counts, and whether its time is what could be won.
 */
static const struct {
	double share_min;
	bool is_gain;
} symptoms[FSL_SYMPTOMS_N] = {
	[FSL_SYMPTOM_IDLE] = {FSL_CAPTURE_FREE_SHARE_MIN, true},
	[FSL_SYMPTOM_PREPARING] = {FSL_CAPTURE_FREE_SHARE_MIN, true},
	[FSL_SYMPTOM_COMPILING] = {FSL_CAPTURE_COST_SHARE_MIN, true},
	[FSL_SYMPTOM_ALLOCATING] = {FSL_CAPTURE_COST_SHARE_MIN, true},
	[FSL_SYMPTOM_LOADING] = {FSL_CAPTURE_COST_SHARE_MIN, true},
	[FSL_SYMPTOM_COLLECTING] = {FSL_CAPTURE_COST_SHARE_MIN, true},
	[FSL_SYMPTOM_PAUSING] = {FSL_CAPTURE_COST_SHARE_MIN, true},
	[FSL_SYMPTOM_SYNCHRONISING] = {FSL_HOST_SYNCHRONISE_SHARE_MAX, false},
};

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

static void view_gaps(struct fsl_host_view *view)
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
static bool fits(const struct fsl_host_view *view)
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
	return idle->dur_ns > FSL_PAUSE_NS &&
	       (double)idle->n_acl <= FSL_PAUSE_CALLS_A_US * dur_us &&
	       (double)idle->acl_ns <= FSL_PAUSE_CALL_SHARE_MAX * (double)idle->dur_ns;
}

/* Whose turn it was while the device had nothing to do: the framework's until it called what ended
 * the stretch, then that of CANN until it launched that, then the device's. */
static void lay_idle(struct fsl_host_view *view, const struct fsl_profile_idle *idle, double per_ms)
{
	int64_t launched_ns = idle->launch_lag_ns, called_ns = idle->torch_lag_ns;
	if (launched_ns == FSL_NS_ABSENT) {
		return;
	}
	launched_ns = launched_ns < idle->dur_ns ? launched_ns : idle->dur_ns;
	called_ns = called_ns < idle->dur_ns ? called_ns : idle->dur_ns;
	called_ns = called_ns > launched_ns ? called_ns : launched_ns; /* also if absent */
	view->framework_ms += (double)(idle->dur_ns - called_ns) / per_ms;
	view->cann_ms += (double)(called_ns - launched_ns) / per_ms;
	view->device_ms += (double)launched_ns / per_ms;
}

static void view_trace(struct fsl_host_view *view)
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

/* Gain of less host time: only time in which the device is idle can be won. NaN if one of them is.
 */
static double won_ms(const struct fsl_host_view *view, double host_ms)
{
	double idle_ms = view->free_ms + (view->preparing_ms > 0.0 ? view->preparing_ms : 0.0);
	return isnan(host_ms) || isnan(idle_ms) ? (double)NAN : fmin(host_ms, idle_ms);
}

static void measure_symptoms(struct fsl_host_view *view)
{
	double *ms = view->symptom_ms;
	view->is_host_bound = view->free_ms > FSL_CAPTURE_FREE_SHARE_MIN * view->step_ms;
	ms[FSL_SYMPTOM_IDLE] = view->free_ms;
	ms[FSL_SYMPTOM_PREPARING] = view->preparing_ms;
	ms[FSL_SYMPTOM_COMPILING] = won_ms(view, view->compile_ms);
	ms[FSL_SYMPTOM_ALLOCATING] = won_ms(view, view->allocate_ms);
	ms[FSL_SYMPTOM_LOADING] = won_ms(view, view->dataloader_ms);
	ms[FSL_SYMPTOM_COLLECTING] = won_ms(view, view->gc_ms);
	ms[FSL_SYMPTOM_PAUSING] = view->pause_ms;
	ms[FSL_SYMPTOM_SYNCHRONISING] = view->is_host_bound ? view->synchronise_ms : (double)NAN;
}

struct fsl_host_view fsl_host_view_of(const struct fsl_profile_rank *rank)
{
	const struct fsl_profile_edges edges = fsl_profile_edges_of(rank);
	double edges_ms = fsl_profile_edges_ms(&edges);
	struct fsl_host_view view = {.rank = rank,
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
	measure_symptoms(&view);
	return view;
}

/* Longest first, then by rank as they come. */
static void insert(struct fsl_symptom_losses *of, const struct fsl_host_view *view, double ms)
{
	size_t at = of->n_ranks++;
	for (; at > 0 && of->ranks[at - 1].ms < ms; at--) {
		of->ranks[at] = of->ranks[at - 1];
	}
	of->ranks[at] = (struct fsl_host_loss){view, ms, NAN};
}

static void settle(struct fsl_symptom_losses *of, size_t n_judged, bool is_gain, double *scratch)
{
	size_t n = of->n_ranks;
	for (size_t i = 0; i < n; i++) {
		struct fsl_host_loss *loss = &of->ranks[i];
		scratch[i] = loss->view->step_ms;
		loss->gain_ms = !is_gain               ? (double)NAN
				: isnan(of->others_ms) ? loss->ms
						       : loss->ms - of->others_ms;
	}
	of->step_ms = fsl_median(scratch, n, scratch + n);
	for (size_t i = 0; i < n; i++) {
		scratch[i] = of->ranks[i].ms;
	}
	of->ms = fsl_median(scratch, n, scratch + n);
	of->gain_ms = is_gain ? of->ms : (double)NAN;
	of->is_single = n <= FSL_HOST_SINGLE_RANKS_MAX && (n_judged == 1 || 2 * n < n_judged);
}

/* @scratch: two per rank. */
static void sort_out(struct fsl_host_losses *out, size_t n_views, size_t s,
		     const struct fsl_look *look, double *scratch)
{
	struct fsl_symptom_losses *of = &out->symptoms[s];
	size_t n_others = 0;
	for (size_t i = 0; i < n_views; i++) {
		const struct fsl_host_view *view = &out->views[i];
		double ms = view->symptom_ms[s];
		if (!isfinite(ms) || !isfinite(view->step_ms)) {
			continue;
		}
		if (ms > fsl_look_effect_min(look, symptoms[s].share_min) * view->step_ms) {
			insert(of, view, ms);
		} else {
			scratch[n_others++] = ms;
		}
	}
	of->others_ms = fsl_median(scratch, n_others, scratch + n_others);
	settle(of, of->n_ranks + n_others, symptoms[s].is_gain, scratch);
}

static enum fsl_status find(struct fsl_host_losses *out, const struct fsl_profile *profile,
			    const struct fsl_look *look, struct fsl_error *err)
{
	size_t n = profile->n_ranks;
	double *scratch = NULL;
	FSL_TRY(FSL_ARENA_NEW(out->views, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(scratch, &out->arena, 2 * n, "ranks", err));
	for (size_t r = 0; r < n; r++) {
		struct fsl_host_view *view = &out->views[r];
		*view = fsl_host_view_of(&profile->ranks[r]);
		if (isfinite(view->step_ms)) {
			out->before_ms =
				fmax(out->before_ms, (double)view->edges.before_ns / FSL_NS_PER_MS);
			out->after_ms =
				fmax(out->after_ms, (double)view->edges.after_ns / FSL_NS_PER_MS);
		}
	}
	for (size_t s = 0; s < FSL_SYMPTOMS_N; s++) {
		FSL_TRY(FSL_ARENA_NEW(out->symptoms[s].ranks, &out->arena, n, "ranks", err));
		sort_out(out, n, s, look, scratch);
	}
	return FSL_OK;
}

enum fsl_status fsl_host_losses_find(struct fsl_host_losses *out, const struct fsl_profile *profile,
				     const struct fsl_look *look, struct fsl_error *err)
{
	*out = (struct fsl_host_losses){0};
	enum fsl_status status = find(out, profile, look, err);
	if (status != FSL_OK) {
		fsl_host_losses_fini(out);
	}
	return status;
}

void fsl_host_losses_fini(struct fsl_host_losses *losses)
{
	fsl_arena_fini(&losses->arena);
	*losses = (struct fsl_host_losses){0};
}
