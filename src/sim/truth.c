/* The truth about a simulated job: the ranks at fault, the onset, and the cost. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/number.h"
#include "base/sort.h"
#include "sim/sim_parts.h"

/* Right answers of localisation and perception for each fault. */
static const struct {
	enum fsl_verdict_kind kind;
	const char *perception;
	int cause; /* enum fsl_cause; -1: none */
	bool has_culprits;
} answers[FSL_SIM_FAULT_KINDS_N] = {
	[FSL_SIM_COMPUTE] = {FSL_VERDICT_SLOW_RANK, "failSlow", FSL_CAUSE_COMPUTE, true},
	[FSL_SIM_HOST] = {FSL_VERDICT_SLOW_RANK, "failSlow", FSL_CAUSE_HOST, true},
	[FSL_SIM_GC] = {FSL_VERDICT_SLOW_RANK, "normal", FSL_CAUSE_HOST, true},
	[FSL_SIM_DATALOADER] = {FSL_VERDICT_SLOW_RANK, "failSlow", FSL_CAUSE_DATALOADER, true},
	[FSL_SIM_STORAGE] = {FSL_VERDICT_SLOW_RANK, "normal", FSL_CAUSE_STORAGE, true},
	[FSL_SIM_LINK] = {FSL_VERDICT_SLOW_LINK, "failSlow", FSL_CAUSE_NETWORK, true},
	[FSL_SIM_SWITCH] = {FSL_VERDICT_SLOW_LINK, "failSlow", FSL_CAUSE_NETWORK, true},
	[FSL_SIM_SEQUENCE] = {FSL_VERDICT_WORK_IMBALANCE, "normal", -1, false},
	[FSL_SIM_STAGE] = {FSL_VERDICT_STAGE_IMBALANCE, "normal", -1, false},
	[FSL_SIM_JOB_SLOW] = {FSL_VERDICT_JOB_SLOWDOWN, "failSlow", -1, false},
	[FSL_SIM_PAUSES] = {FSL_VERDICT_HOST_PAUSES, "normal", -1, false},
	[FSL_SIM_SPIKE] = {FSL_VERDICT_NORMAL, "normal", -1, false},
	[FSL_SIM_HANG] = {FSL_VERDICT_HANG, "hang", -1, true},
	[FSL_SIM_MISSING] = {FSL_VERDICT_NORMAL, "normal", -1, false},
	[FSL_SIM_EMPTY] = {FSL_VERDICT_NORMAL, "normal", -1, false},
	[FSL_SIM_ECC] = {FSL_VERDICT_SLOW_RANK, "normal", FSL_CAUSE_COMPUTE, true},
	[FSL_SIM_NIC] = {FSL_VERDICT_SLOW_HOST, "failSlow", FSL_CAUSE_NETWORK, true},
	[FSL_SIM_CONGESTION] = {FSL_VERDICT_JOB_SLOWDOWN, "failSlow", -1, false},
	[FSL_SIM_RESTART] = {FSL_VERDICT_NORMAL, "normal", -1, false},
};

/* Collects all ranks of all faults that have culprits, as written, each once. */
static enum fsl_status collect_culprits(struct fsl_sim_truth *out,
					const struct fsl_sim_params *params, struct fsl_error *err)
{
	size_t n = 0, n_unique = 0;
	for (size_t f = 0; f < params->n_faults; f++) {
		n += params->faults[f].n_ranks;
	}
	FSL_TRY(FSL_ARENA_NEW(out->culprits, &out->arena, n, "culprits", err));
	n = 0;
	for (size_t f = 0; f < params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &params->faults[f];
		for (size_t i = 0; i < fault->n_ranks && answers[fault->kind].has_culprits; i++) {
			out->culprits[n++] = fsl_sim_label(params, fault->ranks[i]);
		}
	}
	if (n > 1) {
		qsort(out->culprits, n, sizeof(*out->culprits), fsl_compare_i32);
	}
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || out->culprits[i] != out->culprits[i - 1]) {
			out->culprits[n_unique++] = out->culprits[i];
		}
	}
	out->n_culprits = n_unique;
	return FSL_OK;
}

/* Mean step time of the completed steps in [begin, end); NaN if there are none. */
static double mean_ms(const struct fsl_sim_params *params, const struct fsl_sim_clock *clock,
		      int32_t begin, int32_t end)
{
	end = end > clock->n_steps ? clock->n_steps : end;
	if (end > begin && clock->step_begin_ns[end] == FSL_SIM_NEVER) {
		end--;
	}
	if (end <= begin) {
		return NAN;
	}
	/* With the time that the job stands before the first of them. */
	int64_t from_ns = begin > 0 ? clock->step_end_ns[begin - 1] : clock->step_begin_ns[0];
	int64_t span_ns = clock->step_begin_ns[end] - from_ns;
	return (double)span_ns * params->time_scale / FSL_NS_PER_MS / (end - begin);
}

/* End of the last step that ended; the begin of the job if none did. */
static int64_t last_end_ns(const struct fsl_sim_params *params, const struct fsl_sim_clock *clock)
{
	int32_t n = clock->n_steps;
	while (n > 0 && clock->step_end_ns[n - 1] == FSL_SIM_NEVER) {
		n--;
	}
	return n > 0 ? fsl_sim_written_ns(params, clock->step_end_ns[n - 1]) : params->start_ns;
}

static void set_times(struct fsl_sim_truth *out, const struct fsl_sim_params *params,
		      const struct fsl_sim_clock *clock, const struct fsl_sim_clock *healthy)
{
	int32_t begin = 0, end = params->steps;
	out->start_ns = params->start_ns;
	out->end_ns = clock->last_ns != FSL_NS_ABSENT ? clock->last_ns : last_end_ns(params, clock);
	if (params->n_faults > 0) {
		const struct fsl_sim_fault *fault = &params->faults[0];
		begin = out->onset_step = fault->onset_step;
		out->until_step = fault->until_step;
		end = fault->until_step >= 0 ? fault->until_step : end;
		if (begin < clock->n_steps && clock->step_begin_ns[begin] != FSL_SIM_NEVER) {
			out->onset_ns = fsl_sim_written_ns(params, clock->step_begin_ns[begin]);
		}
	}
	out->step_ms = mean_ms(params, clock, 0, params->steps);
	out->healthy_step_ms = mean_ms(params, healthy, 0, clock->n_steps);
	out->fault_step_ms = mean_ms(params, clock, begin, end);
	out->fault_healthy_ms = mean_ms(params, healthy, begin, end);
	out->slowdown = params->n_faults > 0 ? out->fault_step_ms / out->fault_healthy_ms : 1.0;
	out->n_ops = clock->n_ops;
}

/* Mean step time with the faults of @active, from the onset of @fault to its end. */
static enum fsl_status mean_with(double *ms, const struct fsl_sim_params *params,
				 const struct fsl_sim_fault *fault, uint32_t active,
				 struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock clock = {0};
	enum fsl_status status = fsl_sim_run(params, active, NULL, &scratch, &clock, err);
	*ms = status == FSL_OK ? mean_ms(params, &clock, fault->onset_step,
					 fault->until_step >= 0 ? fault->until_step : params->steps)
			       : NAN;
	fsl_arena_fini(&scratch);
	return status;
}

/* Runs the job with each fault alone, and without each. */
static enum fsl_status set_costs(struct fsl_sim_truth *out, const struct fsl_sim_params *params,
				 struct fsl_error *err)
{
	size_t n = params->n_faults;
	if (params->family == FSL_SIM_SYNCHRONOUS || n == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(out->alone_ms, &out->arena, n, "faults", err));
	FSL_TRY(FSL_ARENA_NEW(out->beside_ms, &out->arena, n, "faults", err));
	if (n == 1) {
		out->alone_ms[0] = out->beside_ms[0] = out->fault_step_ms - out->fault_healthy_ms;
		return FSL_OK;
	}
	for (size_t f = 0; f < n; f++) {
		const struct fsl_sim_fault *fault = &params->faults[f];
		double none, alone, all, others;
		FSL_TRY(mean_with(&none, params, fault, 0, err));
		FSL_TRY(mean_with(&alone, params, fault, UINT32_C(1) << f, err));
		FSL_TRY(mean_with(&all, params, fault, FSL_SIM_ALL_FAULTS, err));
		FSL_TRY(mean_with(&others, params, fault, ~(UINT32_C(1) << f), err));
		out->alone_ms[f] = alone - none;
		out->beside_ms[f] = all - others;
	}
	return FSL_OK;
}

/* Spikes and restarts are stalls if they cost what counts: 3 % of the time, or a minute at one go.
 * The same rank again and again is slow. */
static void judge_stop(struct fsl_sim_truth *truth, const struct fsl_sim_params *params)
{
	const struct fsl_sim_stop *stop = &truth->stops[0];
	const struct fsl_sim_fault *fault = &params->faults[0];
	if (truth->n_stops == 0 ||
	    ((double)stop->lost_ns < 0.03 * (double)(truth->end_ns - truth->start_ns) &&
	     stop->lost_ns / stop->n_times < INT64_C(60) * FSL_NS_PER_S)) {
		return;
	}
	truth->kind = FSL_VERDICT_STALLS;
	truth->perception = "failSlow";
	if (fault->n_ranks == 1 && stop->every_steps > 0) {
		truth->kind = FSL_VERDICT_SLOW_RANK;
		truth->cause = FSL_CAUSE_HOST;
		truth->culprits[0] = fsl_sim_label(params, fault->ranks[0]);
		truth->n_culprits = 1;
	}
}

enum fsl_status fsl_sim_truth_build(struct fsl_sim_truth *out, const struct fsl_sim_params *params,
				    const struct fsl_sim_clock *clock, struct fsl_error *err)
{
	enum { AFTER_END_S = 60, AFTER_HANG_S = 3600 };
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock healthy = {0};
	*out = (struct fsl_sim_truth){.kind = FSL_VERDICT_NORMAL,
				      .perception = "normal",
				      .cause = -1,
				      .onset_step = -1,
				      .until_step = -1,
				      .onset_ns = FSL_NS_ABSENT};
	enum fsl_status status = FSL_OK;
	if (params->n_faults > 0) {
		status = fsl_sim_run(params, 0, NULL, &scratch, &healthy, err);
	} else {
		healthy = *clock;
	}
	FSL_THEN(status, collect_culprits(out, params, err));
	if (status == FSL_OK) {
		set_times(out, params, clock, &healthy);
		status = set_costs(out, params, err);
		FSL_THEN(status, fsl_sim_stops_find(out, params, clock, err));
	}
	if (status == FSL_OK) {
		bool has_fault = params->n_faults > 0;
		enum fsl_sim_fault_kind kind = has_fault ? params->faults[0].kind : FSL_SIM_SPIKE;
		out->kind = answers[kind].kind;
		out->perception = answers[kind].perception;
		out->cause = answers[kind].cause;
		if (has_fault && (kind == FSL_SIM_SPIKE || kind == FSL_SIM_RESTART)) {
			judge_stop(out, params);
		}
		bool hangs = has_fault && kind == FSL_SIM_HANG;
		out->now_ns =
			out->end_ns + (int64_t)(hangs ? AFTER_HANG_S : AFTER_END_S) * FSL_NS_PER_S;
	} else {
		fsl_sim_truth_fini(out);
	}
	fsl_arena_fini(&scratch);
	return status;
}

enum fsl_status fsl_sim_foresee(const struct fsl_sim_params *params, struct fsl_sim_truth *truth,
				struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock clock = {0};
	enum fsl_status status =
		fsl_sim_run(params, FSL_SIM_ALL_FAULTS, NULL, &scratch, &clock, err);
	FSL_THEN(status, fsl_sim_truth_build(truth, params, &clock, err));
	fsl_arena_fini(&scratch);
	return status;
}

void fsl_sim_truth_fini(struct fsl_sim_truth *truth)
{
	fsl_arena_fini(&truth->arena);
	*truth = (struct fsl_sim_truth){0};
}

/* NaN and "none" become null. Whole numbers of ns do not fit a double: they are written as text. */
static void add_ms(cJSON *object, const char *name, double ms)
{
	char text[64];
	if (isfinite(ms)) {
		(void)snprintf(text, sizeof(text), "%.3f", ms);
		(void)cJSON_AddRawToObject(object, name, text);
	} else {
		(void)cJSON_AddNullToObject(object, name);
	}
}

static void add_i64(cJSON *object, const char *name, int64_t value, int64_t none)
{
	char text[32];
	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	(void)cJSON_AddRawToObject(object, name, value == none ? "null" : text);
}

static void add_fault(cJSON *faults, const struct fsl_sim_params *params,
		      const struct fsl_sim_truth *truth, size_t fault_idx)
{
	const struct fsl_sim_fault *fault = &params->faults[fault_idx];
	cJSON *item = cJSON_CreateObject();
	cJSON *ranks = cJSON_CreateArray();
	(void)cJSON_AddStringToObject(item, "fault", fsl_sim_fault_text(fault->kind));
	for (size_t i = 0; i < fault->n_ranks; i++) {
		bool is_stage = fault->kind == FSL_SIM_STAGE;
		int32_t number =
			is_stage ? fault->ranks[i] : fsl_sim_label(params, fault->ranks[i]);
		cJSON_AddItemToArray(ranks, cJSON_CreateNumber(number));
	}
	cJSON_AddItemToObject(item, fault->kind == FSL_SIM_STAGE ? "stages" : "ranks", ranks);
	(void)cJSON_AddNumberToObject(item, "factor", fault->factor);
	(void)cJSON_AddNumberToObject(item, "extra_ms", fault->extra_ms);
	add_i64(item, "onset_step", fault->onset_step, -1);
	add_i64(item, "until_step", fault->until_step, -1);
	add_i64(item, "every_steps", fault->period_steps, 0);
	add_i64(item, "ramp_steps", fault->ramp_steps, 0);
	if (truth->alone_ms != NULL) {
		add_ms(item, "alone_ms_per_step", truth->alone_ms[fault_idx]);
		add_ms(item, "beside_ms_per_step", truth->beside_ms[fault_idx]);
	}
	cJSON_AddItemToArray(faults, item);
}

static void add_stops(cJSON *root, const struct fsl_sim_truth *truth)
{
	cJSON *stops = cJSON_AddArrayToObject(root, "stops");
	for (size_t i = 0; i < truth->n_stops; i++) {
		const struct fsl_sim_stop *stop = &truth->stops[i];
		cJSON *item = cJSON_CreateObject();
		(void)cJSON_AddStringToObject(item, "part", stop->part);
		add_i64(item, "first_step", stop->first_step, -1);
		add_i64(item, "last_step", stop->last_step, -1);
		add_i64(item, "every_steps", stop->every_steps, -1);
		add_i64(item, "times", stop->n_times, -1);
		add_i64(item, "first_ns", stop->first_ns, -1);
		add_i64(item, "last_ns", stop->last_ns, -1);
		add_i64(item, "lost_ns", stop->lost_ns, -1);
		cJSON_AddItemToArray(stops, item);
	}
}

enum fsl_status fsl_sim_truth_write(const struct fsl_sim_truth *truth,
				    const struct fsl_sim_params *params, const char *dir,
				    struct fsl_error *err)
{
	cJSON *root = cJSON_CreateObject(), *ranks = cJSON_CreateArray();
	cJSON *faults = cJSON_CreateArray();
	bool is_cause = truth->cause >= 0;
	(void)cJSON_AddStringToObject(root, "verdict", fsl_verdict_text(truth->kind));
	(void)cJSON_AddStringToObject(root, "perception", truth->perception);
	(void)cJSON_AddItemToObject(
		root, "cause",
		is_cause ? cJSON_CreateString(fsl_cause_text((enum fsl_cause)truth->cause))
			 : cJSON_CreateNull());
	for (size_t i = 0; i < truth->n_culprits; i++) {
		cJSON_AddItemToArray(ranks, cJSON_CreateNumber(truth->culprits[i]));
	}
	cJSON_AddItemToObject(root, "culprit_ranks", ranks);
	for (size_t i = 0; i < params->n_faults; i++) {
		add_fault(faults, params, truth, i);
	}
	cJSON_AddItemToObject(root, "faults", faults);
	add_stops(root, truth);
	add_i64(root, "onset_step", truth->onset_step, -1);
	add_i64(root, "until_step", truth->until_step, -1);
	add_i64(root, "onset_ns", truth->onset_ns, FSL_NS_ABSENT);
	add_ms(root, "step_ms", truth->step_ms);
	add_ms(root, "counterfactual_step_ms", truth->healthy_step_ms);
	add_ms(root, "fault_step_ms", truth->fault_step_ms);
	add_ms(root, "fault_counterfactual_step_ms", truth->fault_healthy_ms);
	(void)cJSON_AddNumberToObject(root, "slowdown", truth->slowdown);
	add_i64(root, "job_start_ns", truth->start_ns, FSL_NS_ABSENT);
	add_i64(root, "job_end_ns", truth->end_ns, FSL_NS_ABSENT);
	add_i64(root, "now_ns", truth->now_ns, FSL_NS_ABSENT);
	add_i64(root, "ranks", fsl_sim_n_ranks(params), -1);
	add_i64(root, "tp", params->tp, -1);
	add_i64(root, "dp", params->dp, -1);
	add_i64(root, "pp", params->pp, -1);
	add_i64(root, "ep", params->ep, -1);
	if (params->family != FSL_SIM_SYNCHRONOUS) {
		(void)cJSON_AddStringToObject(root, "family", fsl_sim_family(params->family)->name);
	}
	add_i64(root, "steps", params->steps, -1);
	add_i64(root, "seed", (int64_t)params->seed, -1);
	char *text = cJSON_Print(root), path[4096];
	(void)snprintf(path, sizeof(path), "%s/truth.json", dir);
	enum fsl_status status =
		text == NULL ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path)
			     : fsl_file_write_atomic(path, text, strlen(text), err);
	cJSON_free(text);
	cJSON_Delete(root);
	return status;
}
