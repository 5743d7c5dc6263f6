/* The truth about time that no healthy step takes: stalls, restarts, drift, checkpoints and
 * evaluations. */
#include "base/number.h"
#include "sim/sim_parts.h"

struct look {
	const struct fsl_sim_params *params;
	const struct fsl_sim_clock *clock;
};

static int64_t span_ns(const struct look *look, const struct fsl_sim_clock *clock, int32_t begin,
		       int32_t end)
{
	return fsl_sim_scaled_ns(look->params, clock->step_end_ns[end - 1]) -
	       fsl_sim_scaled_ns(look->params, clock->step_begin_ns[begin]);
}

/* Adds a step of the job to a stop. */
static void note_step(struct fsl_sim_stop *stop, const struct look *look, int32_t step)
{
	int32_t number = fsl_sim_step_number(look->params, FSL_SIM_ALL_FAULTS, step);
	stop->last_ns = fsl_sim_written_ns(look->params, look->clock->step_begin_ns[step]);
	stop->last_step = number;
	if (stop->n_times++ == 0) {
		stop->first_ns = stop->last_ns;
		stop->first_step = number;
	}
}

/* Checkpoints or evaluations, of rank 0. */
static struct fsl_sim_stop planned(const struct look *look, const char *part, int32_t period,
				   const int64_t *lengths_ns)
{
	struct fsl_sim_stop stop = {.part = part, .every_steps = period};
	for (int32_t s = 0; s < look->clock->n_steps; s++) {
		if (lengths_ns[s] > 0) {
			note_step(&stop, look, s);
			stop.lost_ns += fsl_sim_scaled_ns(look->params, lengths_ns[s]);
		}
	}
	return stop;
}

/* What a fault costs, by a job without it: @without_ns is the length of that job. */
static struct fsl_sim_stop of_fault(const struct look *look, const struct fsl_sim_fault *fault,
				    int64_t without_ns)
{
	int32_t n = look->clock->n_steps, first = fault->onset_step;
	bool is_spike = fault->kind == FSL_SIM_SPIKE, is_restart = fault->kind == FSL_SIM_RESTART;
	int32_t until = is_restart ? first + 1 : n;
	struct fsl_sim_stop stop = {
		.part = is_restart ? "restart"
			: is_spike ? "stalls"
				   : "job_slowdown",
		.every_steps = is_spike && fault->period_steps > 0 ? fault->period_steps : -1,
		.lost_ns = span_ns(look, look->clock, 0, n) - without_ns};
	for (int32_t s = first; s < until; s++) {
		bool is_due = fault->period_steps > 0 ? (s - first) % fault->period_steps == 0
						      : s == first || !is_spike;
		if (is_due && fsl_sim_fault_size(fault, s) > 0.0) {
			note_step(&stop, look, s);
		}
	}
	if (is_restart && fault->back_steps > 0) {
		stop.lost_ns += span_ns(look, look->clock, first - fault->back_steps, first);
	}
	return stop;
}

static enum fsl_status length_without(int64_t *length_ns, const struct look *look, size_t fault_idx,
				      struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock clock = {0};
	uint32_t active = FSL_SIM_ALL_FAULTS & ~(UINT32_C(1) << fault_idx);
	enum fsl_status status = fsl_sim_run(look->params, active, NULL, &scratch, &clock, err);
	*length_ns = status == FSL_OK ? span_ns(look, &clock, 0, clock.n_steps) : 0;
	fsl_arena_fini(&scratch);
	return status;
}

static void add(struct fsl_sim_truth *out, struct fsl_sim_stop stop)
{
	if (stop.n_times > 0) {
		stop.every_steps = stop.n_times > 1 ? stop.every_steps : -1;
		out->stops[out->n_stops++] = stop;
	}
}

enum fsl_status fsl_sim_stops_find(struct fsl_sim_truth *out, const struct fsl_sim_params *params,
				   const struct fsl_sim_clock *clock, struct fsl_error *err)
{
	struct look look = {params, clock};
	FSL_TRY(FSL_ARENA_NEW(out->stops, &out->arena, params->n_faults + 2, "stops", err));
	if (clock->n_steps < params->steps ||
	    clock->step_end_ns[clock->n_steps - 1] == FSL_SIM_NEVER) {
		return FSL_OK; /* the job hangs */
	}
	for (size_t f = 0; f < params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &params->faults[f];
		bool is_drift = fault->kind == FSL_SIM_JOB_SLOW && fault->ramp_steps > 0;
		if (is_drift || fault->kind == FSL_SIM_SPIKE || fault->kind == FSL_SIM_RESTART) {
			int64_t without_ns = 0;
			FSL_TRY(length_without(&without_ns, &look, f, err));
			add(out, of_fault(&look, fault, without_ns));
		}
	}
	add(out, planned(&look, "checkpoint", params->ckpt_period, clock->save_ns));
	add(out, planned(&look, "evaluation", params->evaluation_period, clock->evaluation_ns));
	return FSL_OK;
}
