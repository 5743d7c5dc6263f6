/* Sets up a task's job for the simulator, and finds the strength that gives the wanted slowdown. */
#include "eval/eval.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "sim/sim.h"

enum {
	FAULT_TEXT_MAX = 768,
	TRIALS_MAX = 10,
	TRIAL_STEPS = 30,       /* steps of a trial */
	TRIAL_STEPS_LARGE = 10, /* the same with LARGE_RANKS or more */
	TRIAL_STEPS_RANDOM = 5, /* factor on the steps if the cost of the fault is random */
	LARGE_RANKS = 256,
	MARGIN_STEPS = 20, /* least number of healthy steps behind an episode */
};

/* Aims a little above the magnitude, so that a job of "10 %" is slower by at least 10 %. */
static const double aim = 1.04;
static const double aim_tolerance = 0.02;

/* Sequence lengths that spread more than this (log-normal sigma) do not occur in training jobs. */
static const double share_max = 1.0;

/* The plan of one job. */
struct plan {
	const struct fsl_eval_task *task;
	struct fsl_eval_result *result;
	uint64_t random;
	double step_ms;
	int32_t *struck; /* ranks of the model, ascending; result's arena */
	size_t n_struck;
	int32_t onset_step, until_step;
	double size; /* size of the fault in units of the knob */
};

/* Next random number (splitmix64). */
static uint64_t draw(struct plan *plan)
{
	uint64_t z = plan->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int32_t draw_below(struct plan *plan, int32_t n)
{
	return (int32_t)(draw(plan) % (uint64_t)n);
}

static void strike(struct plan *plan, int32_t rank)
{
	plan->struck[plan->n_struck++] = rank;
}

/* The other end of a link: the next replica, or the next stage if there is only one replica. */
static int32_t far_end(const struct fsl_eval_topology *topology, int32_t rank)
{
	int32_t tp = topology->tp, dp = topology->dp;
	int32_t shard = rank % tp, replica = rank / tp % dp, stage = rank / (tp * dp);
	if (dp > 1) {
		return (stage * dp + (replica + 1) % dp) * tp + shard;
	}
	return ((stage + 1) % topology->pp * dp + replica) * tp + shard;
}

/* Chooses the ranks that the fault strikes. */
static enum fsl_status choose_ranks(struct plan *plan, struct fsl_error *err)
{
	const struct fsl_eval_topology *topology = plan->task->topology;
	int32_t n_ranks = plan->task->n_ranks, per_host = topology->ranks_per_host;
	int32_t rank = draw_below(plan, n_ranks), per_stage = topology->tp * topology->dp;
	FSL_TRY(FSL_ARENA_NEW(plan->struck, &plan->result->arena, (size_t)n_ranks, "ranks", err));
	switch (plan->task->scenario->spread) {
	case FSL_EVAL_NOBODY:
		break;
	case FSL_EVAL_ONE:
		strike(plan, rank);
		break;
	case FSL_EVAL_TWO:
		strike(plan, rank);
		strike(plan, (rank + n_ranks / 2 + 1) % n_ranks);
		break;
	case FSL_EVAL_HOST:
		for (int32_t i = 0; i < per_host; i++) {
			strike(plan, rank / per_host * per_host + i);
		}
		break;
	case FSL_EVAL_HALF:
		for (int32_t replica = 0; replica < topology->dp; replica += 2) {
			strike(plan, rank / per_stage * per_stage + replica * topology->tp +
					     rank % topology->tp);
		}
		break;
	case FSL_EVAL_PAIR:
		strike(plan, rank);
		strike(plan, far_end(topology, rank));
		break;
	case FSL_EVAL_STAGE:
		for (int32_t i = 0; i < per_stage; i++) {
			strike(plan, rank / per_stage * per_stage + i);
		}
		break;
	}
	qsort(plan->struck, plan->n_struck, sizeof(*plan->struck), fsl_compare_i32);
	return FSL_OK;
}

/* Puts the onset in the second quarter, earlier if a long episode needs the room. */
static void choose_steps(struct plan *plan)
{
	const struct fsl_eval_task *task = plan->task;
	int32_t quarter = task->n_steps / 4;
	/* Families are short: the fault begins in the second eighth. */
	quarter /= fsl_eval_is_family(task->topology) ? 2 : 1;
	plan->onset_step = quarter + draw_below(plan, quarter);
	plan->until_step = -1;
	if (task->duration_steps > 0) {
		int32_t latest = task->n_steps - task->duration_steps - MARGIN_STEPS;
		plan->onset_step = plan->onset_step < latest ? plan->onset_step : latest;
		plan->until_step = plan->onset_step + task->duration_steps;
	}
	if (task->is_from_start) {
		plan->onset_step = 0;
	}
}

/* Makes the steps of clean jobs long, because they have to cover many days. */
static void choose_step_time(struct plan *plan)
{
	static const double faulty_ms[] = {600.0, 1500.0, 4000.0, 15000.0};
	static const double clean_ms[] = {15000.0, 20000.0, 30000.0, 40000.0};
	static const double family_ms[] = {200.0, 300.0, 300.0, 450.0};
	const double *choices = fsl_eval_is_family(plan->task->topology) ? family_ms
				: plan->task->scenario->fault != NULL    ? faulty_ms
									 : clean_ms;
	plan->step_ms = choices[draw_below(plan, 4)];
}

/* Sets one "key=value", and notes it for the command that reproduces the job. */
static enum fsl_status set(struct fsl_sim_params *params, struct fsl_eval_result *result,
			   struct fsl_error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static enum fsl_status set(struct fsl_sim_params *params, struct fsl_eval_result *result,
			   struct fsl_error *err, const char *format, ...)
{
	char setting[FSL_EVAL_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(setting, sizeof(setting), format, args);
	va_end(args);
	size_t length = strlen(result->parameters);
	snprintf(result->parameters + length, sizeof(result->parameters) - length, "%s%s",
		 length > 0 ? " " : "", setting);
	return fsl_sim_params_set(params, setting, err);
}

/* Sets every word of @settings. */
static enum fsl_status set_all(struct fsl_sim_params *params, struct fsl_eval_result *result,
			       const char *settings, struct fsl_error *err)
{
	while (*settings != '\0') {
		size_t length = strcspn(settings, " ");
		FSL_TRY(set(params, result, err, "%.*s", (int)length, settings));
		settings += length + (settings[length] == ' ');
	}
	return FSL_OK;
}

/* A number without a common divisor with @n, so that relabelling by it is a permutation. */
static int32_t coprime_to(int32_t n)
{
	int32_t by = n / 2 + 1;
	for (;; by++) {
		int32_t a = by, b = n;
		while (b != 0) {
			int32_t rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1 && by != 1) {
			return by;
		}
	}
}

static enum fsl_status set_condition(struct fsl_sim_params *params, const struct plan *plan,
				     struct fsl_error *err)
{
	struct fsl_eval_result *result = plan->result;
	switch (plan->task->condition) {
	case FSL_EVAL_RELABELLED:
		return set(params, result, err, "relabel_by=%d",
			   (int)coprime_to(plan->task->n_ranks));
	case FSL_EVAL_CLOCKS: {
		enum fsl_status status = set(params, result, err, "clock_ms=50");
		return status == FSL_OK ? set(params, result, err, "drift_ppm=10") : status;
	}
	case FSL_EVAL_DROPPED:
		return set(params, result, err, "drop=0.01");
	case FSL_EVAL_LOST:
		return set(params, result, err, "lost=8");
	case FSL_EVAL_PLAIN:
	case FSL_EVAL_CONDITIONS_N:
		break;
	}
	return FSL_OK;
}

/* Number of ranks for which the surroundings' share of spikes is meant. */
enum { SPIKY_RANKS = 8 };

static enum fsl_status set_job(struct fsl_sim_params *params, const struct plan *plan,
			       struct fsl_error *err)
{
	const struct fsl_eval_topology *topology = plan->task->topology;
	struct fsl_eval_result *result = plan->result;
	const struct fsl_eval_task *task = plan->task;
	char settings[512];
	snprintf(settings, sizeof(settings),
		 "tp=%d dp=%d pp=%d ranks_per_host=%d %s steps=%d %s %s", (int)topology->tp,
		 (int)topology->dp, (int)topology->pp, (int)topology->ranks_per_host,
		 topology->settings, (int)task->n_steps, task->devices->settings,
		 task->timelines->settings);
	FSL_TRY(set_all(params, result, settings, err));
	if (task->n_ranks > SPIKY_RANKS && !fsl_eval_is_family(topology)) {
		/* The same number of spikes in a job of any size: with a fixed share per rank, a
		 * large job would always be slow, and would not be clean. */
		FSL_TRY(set(params, result, err, "spikes=%.3g",
			    params->spike_share * SPIKY_RANKS / task->n_ranks));
	}
	FSL_TRY(set_all(params, result, plan->task->scenario->job, err));
	FSL_TRY(set(params, result, err, "step_ms=%g", plan->step_ms));
	return set(params, result, err, "seed=%llu", (unsigned long long)plan->task->random);
}

/* "0-7,9": runs of neighbours as ranges. */
static void put_ranks(char *out, size_t size, const int32_t *ranks, size_t n)
{
	size_t length = 0;
	for (size_t i = 0; i < n && length + 32 < size;) {
		size_t end = i + 1;
		while (end < n && ranks[end] == ranks[end - 1] + 1) {
			end++;
		}
		length += (size_t)snprintf(out + length, size - length, i > 0 ? ",%d" : "%d",
					   (int)ranks[i]);
		if (end - i > 1) {
			length += (size_t)snprintf(out + length, size - length, "-%d",
						   (int)ranks[end - 1]);
		}
		i = end;
	}
}

/* The fault as `failslow simulate` reads it. */
static void put_fault(char *out, size_t size, const struct plan *plan, int32_t onset_step,
		      int32_t until_step)
{
	const struct fsl_eval_scenario *scenario = plan->task->scenario;
	size_t length = (size_t)snprintf(out, size, "%s", scenario->fault);
	if (plan->n_struck > 0) {
		length += (size_t)snprintf(out + length, size - length, " ranks=");
		/* A stage fault takes the number of the stage. */
		int32_t stage =
			plan->struck[0] / (plan->task->topology->tp * plan->task->topology->dp);
		bool is_stage = scenario->spread == FSL_EVAL_STAGE;
		put_ranks(out + length, size - length - 128, is_stage ? &stage : plan->struck,
			  is_stage ? 1 : plan->n_struck);
		length = strlen(out);
	}
	if (scenario->knob == FSL_EVAL_KNOB_FACTOR) {
		length += (size_t)snprintf(out + length, size - length, " factor=%.6g",
					   1.0 + plan->size);
	} else if (scenario->knob == FSL_EVAL_KNOB_SHARE) {
		length += (size_t)snprintf(out + length, size - length, " factor=%.6g", plan->size);
	} else if (scenario->knob == FSL_EVAL_KNOB_EXTRA) {
		length += (size_t)snprintf(out + length, size - length, " extra_ms=%.6g",
					   plan->size * plan->step_ms);
	}
	length += (size_t)snprintf(out + length, size - length, " onset=%d", (int)onset_step);
	if (until_step >= 0) {
		snprintf(out + length, size - length, " until=%d", (int)until_step);
	}
}

/* Slowdown of a short job that has the fault from its first step on, as a share. */
static enum fsl_status try_size(double *slowdown, const struct plan *plan, struct fsl_error *err)
{
	struct fsl_sim_params params;
	struct fsl_sim_truth truth = {0};
	struct fsl_eval_result ignored = {0};
	char fault[FAULT_TEXT_MAX];
	fsl_sim_params_init(&params);
	enum fsl_status status = set_job(
		&params,
		&(struct plan){.task = plan->task, .result = &ignored, .step_ms = plan->step_ms},
		err);
	params.steps = plan->task->n_ranks < LARGE_RANKS ? TRIAL_STEPS : TRIAL_STEPS_LARGE;
	params.steps *= plan->task->scenario->is_random ? TRIAL_STEPS_RANDOM : 1;
	put_fault(fault, sizeof(fault), plan, 0, -1);
	/* The trial starts with the fault at full size, so it has no ramp. */
	char *ramp = strstr(fault, " ramp=");
	if (ramp != NULL) {
		memset(ramp, ' ', strcspn(ramp + 1, " ") + 1);
	}
	FSL_THEN(status, fsl_sim_params_add_fault(&params, fault, err));
	FSL_THEN(status, fsl_sim_foresee(&params, &truth, err));
	*slowdown = truth.slowdown - 1.0;
	fsl_sim_truth_fini(&truth);
	fsl_sim_params_fini(&params);
	return status;
}

/*
 * Finds the size at which the trial has the wanted cost. The fault costs nothing until it exceeds
 * whatever is slowest anyway, then about linearly. So the size is doubled until the aim lies
 * between two sizes, then taken from the straight line between them.
 */
static enum fsl_status find_size(struct plan *plan, struct fsl_error *err)
{
	double target = aim * plan->task->magnitude, slowdown = 0.0;
	double low = 0.0, low_cost = 0.0, high = NAN, high_cost = NAN;
	plan->size = target;
	for (int i = 0; i < TRIALS_MAX; i++) {
		FSL_TRY(try_size(&slowdown, plan, err));
		if (fabs(slowdown / target - 1.0) < aim_tolerance) {
			break;
		}
		if (slowdown > target) {
			high = plan->size;
			high_cost = slowdown;
		} else {
			low = plan->size;
			low_cost = slowdown;
		}
		double share = (target - low_cost) / (high_cost - low_cost);
		/* Keeps away from both ends, so that a bend between them is found. */
		share = fmin(fmax(share, 0.1), 0.9);
		plan->size = high == high ? low + share * (high - low) : 2.0 * plan->size;
		if (plan->task->scenario->knob == FSL_EVAL_KNOB_SHARE && plan->size > share_max) {
			plan->size = share_max;
			break;
		}
	}
	return FSL_OK;
}

/* Numbers as which the ranks are written, ascending. */
static enum fsl_status written_ranks(int32_t **out, const struct fsl_sim_params *params,
				     const int32_t *ranks, size_t n, struct fsl_arena *arena,
				     struct fsl_error *err)
{
	int32_t *written = NULL;
	FSL_TRY(FSL_ARENA_NEW(written, arena, n, "ranks", err));
	for (size_t i = 0; i < n; i++) {
		written[i] = fsl_sim_label(params, ranks[i]);
	}
	qsort(written, n, sizeof(*written), fsl_compare_i32);
	*out = written;
	return FSL_OK;
}

/* Members of the groups that contain both ends of the link: the replicas, or the two stages. */
static size_t link_members(int32_t *members, const struct plan *plan)
{
	const struct fsl_eval_topology *topology = plan->task->topology;
	int32_t tp = topology->tp, dp = topology->dp, per_stage = tp * dp;
	size_t n = 0;
	if (dp < 2) {
		members[n++] = plan->struck[0];
		members[n++] = plan->struck[1];
		return n;
	}
	for (int32_t replica = 0; replica < dp; replica++) {
		members[n++] = plan->struck[0] / per_stage * per_stage + replica * tp +
			       plan->struck[0] % tp;
	}
	return n;
}

/* Sets the ranks that an answer must name and those that it may name. */
static enum fsl_status set_named(struct plan *plan, const struct fsl_sim_params *params,
				 struct fsl_error *err)
{
	struct fsl_eval_truth *truth = &plan->result->truth;
	struct fsl_arena *arena = &plan->result->arena;
	size_t n_ranks = (size_t)plan->task->n_ranks, n_others = 0;
	enum fsl_eval_naming naming = plan->task->scenario->naming;
	int32_t *struck = NULL, *allowed = NULL;
	int32_t *others = NULL;
	FSL_TRY(FSL_ARENA_NEW(others, arena, n_ranks + 2, "ranks", err));
	if (naming == FSL_EVAL_NAME_ENDS) {
		n_others = link_members(others, plan);
	} else if (naming == FSL_EVAL_MAY_STRUCK) {
		n_others = plan->n_struck;
		memcpy(others, plan->struck, n_others * sizeof(*others));
	} else if (naming == FSL_EVAL_MAY_ANYBODY) {
		for (; n_others < n_ranks; n_others++) {
			others[n_others] = (int32_t)n_others;
		}
	}
	FSL_TRY(written_ranks(&struck, params, plan->struck, plan->n_struck, arena, err));
	FSL_TRY(written_ranks(&allowed, params, others, n_others, arena, err));
	bool must = naming == FSL_EVAL_NAME_STRUCK || naming == FSL_EVAL_NAME_ENDS;
	if (naming == FSL_EVAL_NAME_ENDS && n_others == n_ranks) {
		/* All ranks wait for the transfers of all: nothing tells which of them is slow. */
		must = false;
		truth->kinds_ok |= UINT32_C(1) << FSL_VERDICT_JOB_SLOWDOWN;
	}
	truth->culprits = struck;
	truth->n_culprits = must ? plan->n_struck : 0;
	truth->allowed = allowed;
	truth->n_allowed = n_others;
	return FSL_OK;
}

static enum fsl_status set_truth(struct plan *plan, const struct fsl_sim_params *params,
				 const struct fsl_sim_truth *simulated, struct fsl_error *err)
{
	const struct fsl_eval_scenario *scenario = plan->task->scenario;
	struct fsl_eval_result *result = plan->result;
	bool has_onset = scenario->fault != NULL && !plan->task->is_from_start;
	result->truth = (struct fsl_eval_truth){
		.has_fault = scenario->fault != NULL,
		.kinds_ok = scenario->kinds_ok,
		.kind = scenario->kind,
		.cause = scenario->cause,
		.onset_ns = has_onset ? simulated->onset_ns : FSL_NS_ABSENT,
		.step_ms = simulated->fault_healthy_ms,
		.slowdown = simulated->slowdown,
	};
	int32_t until = plan->until_step >= 0 ? plan->until_step : plan->task->n_steps;
	result->strength = fsl_eval_strength_of(&result->truth, until - plan->onset_step);
	result->now_ns = simulated->now_ns;
	result->n_ops = simulated->n_ops;
	result->days = (double)(simulated->end_ns - simulated->start_ns) / (86400.0 * FSL_NS_PER_S);
	return set_named(plan, params, err);
}

/* Simulates the job itself. */
static enum fsl_status simulate(struct plan *plan, struct fsl_sim_params *params,
				struct fsl_run *run, struct fsl_error *err)
{
	struct fsl_sim_truth truth = {0};
	enum fsl_status status = set_job(params, plan, err);
	FSL_THEN(status, set_condition(params, plan, err));
	if (status == FSL_OK && plan->task->scenario->fault != NULL) {
		char fault[FAULT_TEXT_MAX];
		put_fault(fault, sizeof(fault), plan, plan->onset_step, plan->until_step);
		size_t length = strlen(plan->result->parameters);
		snprintf(plan->result->parameters + length,
			 sizeof(plan->result->parameters) - length, " fault='%s'", fault);
		status = fsl_sim_params_add_fault(params, fault, err);
	}
	FSL_THEN(status, fsl_sim_run_in_memory(params, run, &truth, err));
	FSL_THEN(status, set_truth(plan, params, &truth, err));
	fsl_sim_truth_fini(&truth);
	return status;
}

enum fsl_status fsl_eval_stage(struct fsl_eval_result *result, struct fsl_run *run,
			       struct fsl_error *err)
{
	struct plan plan = {.task = result->task, .result = result, .random = result->task->random};
	struct fsl_sim_params params;
	enum fsl_status status = fsl_run_init(run, err);
	FSL_THEN(status, choose_ranks(&plan, err));
	choose_steps(&plan);
	choose_step_time(&plan);
	if (status == FSL_OK && result->task->scenario->knob != FSL_EVAL_KNOB_NONE) {
		status = find_size(&plan, err);
	}
	fsl_sim_params_init(&params);
	FSL_THEN(status, simulate(&plan, &params, run, err));
	fsl_sim_params_fini(&params);
	return status;
}
