/*
 * Time that jobs lose at stretches is told: stalls, restarts, drift, checkpoints, evaluations, in
 * markers, step times and logs. `test_property_stops 200 1001` looks at 200 jobs with such losses
 * and at 200 healthy ones, with seeds from 1001 on, and prints what was found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "sim/sim.h"
#include "support/program.h"

enum { TEXT_BYTES = 1024, NANO_TEXT_BYTES = 32 };

/* Kinds of loss that are simulated. */
enum loss { ONE, EVERY, TURN, SAME, RESTART, DRIFT, CHECKPOINT, EVALUATION, LOSSES_N };
static const char *const loss_texts[LOSSES_N] = {"one stall",   "every n steps", "ranks in turn",
						 "one rank",    "restart",       "drift",
						 "checkpoints", "evaluations"};
static const char *const output_texts[] = {"markers", "steps", "log"};
enum { OUTPUTS_N = 3 };

/* What the command line asks for. */
static int n_jobs = 24, first_seed = 1;
static bool is_verbose;

struct job {
	char settings[TEXT_BYTES], fault[TEXT_BYTES];
	const char *second_fault; /* NULL or "": none */
	enum loss loss;
	int output; /* enum fsl_sim_output */
	int timelines;
	int every;     /* 0: not periodic */
	double gap_ns; /* time that a restarted job stood */
};

struct figures {
	int n, n_sums, n_kinds, n_times, n_periods, n_told;
};

static uint64_t chance;

/* From 0 to 1; splitmix64. */
static double draw(void)
{
	uint64_t z = chance += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double draw_log(double from, double to)
{
	return from * pow(to / from, draw());
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
	size_t n = strlen(text);
	va_list values;
	va_start(values, format);
	(void)vsnprintf(text + n, TEXT_BYTES - n, format, values);
	va_end(values);
}

/*
 * Size, step time and noise of a job; returns about how long a step takes, ms. Markers alone tell
 * the steps of jobs with replicas: without, a checkpoint looks like the end of a step of many
 * micro-batches.
 */
static double draw_common(struct job *job, int seed, int steps)
{
	static const char *const shapes[] = {"tp=2 dp=2", "tp=4 dp=2", "tp=2 dp=1",
					     "tp=2 dp=1 pp=2"};
	static const char *const timelines[] = {"none", "first", "all"};
	double step_ms = draw_log(200.0, 8000.0), noise = draw_log(0.003, 0.03);
	job->timelines = (int)(3.0 * draw());
	bool is_bare = job->output == FSL_SIM_MARKERS && job->timelines == 0;
	int shape = (int)((is_bare ? 2.0 : 4.0) * draw());
	add(job->settings, "pairs=1 %s steps=%d seed=%d", shapes[shape], steps, seed);
	add(job->settings, " step_ms=%.1f noise=%.4f", step_ms, noise);
	add(job->settings, " timelines=%s write=%s", timelines[job->timelines],
	    output_texts[job->output]);
	return step_ms * (shape == 3 ? 2.05 : 1.05);
}

/*
 * A job that loses 5 to 30 % of its time; a stalled step takes at least 30 % longer. The chances
 * are those of the seed.
 */
static void draw_faulty(struct job *job, int i, int seed)
{
	*job = (struct job){.loss = (enum loss)(i % LOSSES_N), .output = i / LOSSES_N % OUTPUTS_N};
	chance = (uint64_t)seed * 1000003U + (uint64_t)i;
	bool is_periodic = job->loss == EVERY || job->loss == TURN || job->loss == SAME ||
			   job->loss == CHECKPOINT || job->loss == EVALUATION;
	job->every = is_periodic ? (int)lround(draw_log(2.0, 500.0)) : 0;
	int n_times = job->every < 40 ? (int)ceil(120.0 / (job->every + 1)) + 4 : 4;
	int steps = is_periodic ? job->every * n_times + job->every / 2 + 1
				: 80 + (int)(300.0 * draw());
	double usual_ms = draw_common(job, seed, steps), cost = draw_log(0.05, 0.3);
	double extra_ms = cost / (1.0 - cost) * usual_ms * (is_periodic ? job->every : steps);
	int onset = steps / 4 + (int)(draw() * steps / 2.0);
	extra_ms = fmax(extra_ms, 0.6 * usual_ms);
	if (is_periodic) {
		onset = (int)(draw() * job->every);
	}
	/* By a clock of seconds a shorter gap cannot be told from rounding. */
	bool is_short = (job->loss == CHECKPOINT || job->loss == EVALUATION) && extra_ms < 3000.0;
	add(job->settings, " log_us=%s", is_short || draw() < 0.5 ? "true" : "false");
	switch (job->loss) {
	case ONE:
	case EVERY:
		(void)snprintf(job->fault, TEXT_BYTES, "spike onset=%d", onset);
		break;
	case TURN:
		(void)snprintf(job->fault, TEXT_BYTES, "spike ranks=all onset=%d", onset);
		break;
	case SAME:
		(void)snprintf(job->fault, TEXT_BYTES, "spike ranks=1 onset=%d", onset);
		break;
	case RESTART:
		(void)snprintf(job->fault, TEXT_BYTES, "restart onset=%d back=%d", onset,
			       1 + (int)(draw() * 0.2 * onset));
		job->gap_ns = extra_ms * 1e6;
		break;
	case DRIFT:
		(void)snprintf(job->fault, TEXT_BYTES, "job_slow onset=%d ramp=%d factor=%.3f",
			       onset, steps - onset, 1.1 + 0.4 * draw() + 2.0 * cost);
		break;
	case CHECKPOINT:
		add(job->settings, " ckpt=%d", job->every);
		add(job->settings, " ckpt_ms=%.1f", extra_ms);
		break;
	case EVALUATION:
		add(job->settings, " evaluation=%d", job->every);
		add(job->settings, " evaluation_ms=%.1f", extra_ms);
		break;
	case LOSSES_N:
		break;
	}
	if (job->fault[0] != '\0' && job->loss != DRIFT) {
		add(job->fault, " extra_ms=%.1f", extra_ms);
	}
	if (job->fault[0] != '\0' && is_periodic) {
		add(job->fault, " period=%d", job->every);
	}
}

/* A healthy job. Markers tell checkpoints and evaluations, which step times and logs do not. */
static void draw_healthy(struct job *job, int i, int seed)
{
	*job = (struct job){.loss = LOSSES_N, .output = i % OUTPUTS_N};
	chance = (uint64_t)seed * 1000003U + (uint64_t)i + 500000U;
	double usual_ms = draw_common(job, seed, 40 + (int)draw_log(1.0, 600.0));
	add(job->settings, " log_us=%s", draw() < 0.5 ? "true" : "false");
	add(job->settings, " spikes=%.4f", 0.004 * draw());
	add(job->settings, " hetero=%.4f", 0.02 * draw());
	add(job->settings, " warm_up=%.2f", draw());
	if (job->output == FSL_SIM_MARKERS && job->timelines > 0 && draw() < 0.5) {
		add(job->settings, " ckpt=%.0f", floor(draw_log(5.0, 50.0)));
		add(job->settings, " ckpt_ms=%.1f", usual_ms * draw_log(0.2, 5.0));
	}
	if (job->output == FSL_SIM_MARKERS && draw() < 0.5) {
		add(job->settings, " evaluation=%.0f", floor(draw_log(5.0, 50.0)));
		add(job->settings, " evaluation_ms=%.1f", usual_ms * draw_log(0.5, 10.0));
	}
}

static void write_job(const struct job *job, const char *dir, struct fsl_sim_truth *truth)
{
	struct fsl_sim_params params;
	struct fsl_error err = {0};
	char text[TEXT_BYTES], *rest = NULL;
	fsl_sim_params_init(&params);
	(void)snprintf(text, sizeof(text), "%s", job->settings);
	for (char *word = strtok_r(text, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_int_equal(fsl_sim_params_set(&params, word, &err), FSL_OK);
	}
	if (job->fault[0] != '\0') {
		assert_int_equal(fsl_sim_params_add_fault(&params, job->fault, &err), FSL_OK);
	}
	if (job->second_fault != NULL && *job->second_fault != '\0') {
		assert_int_equal(fsl_sim_params_add_fault(&params, job->second_fault, &err),
				 FSL_OK);
	}
	enum fsl_status status = fsl_sim_write_tree(&params, dir, truth, &err);
	if (status != FSL_OK) {
		print_message("%s: %s, %s\n", fsl_error_root(&err), job->settings, job->fault);
	}
	assert_int_equal(status, FSL_OK);
	fsl_sim_params_fini(&params);
}

/* Simulates the job, runs the program on it and returns its case. */
static cJSON *judge(const struct job *job, struct fsl_sim_truth *truth)
{
	char name[64], dir[TEXT_BYTES], config[2 * TEXT_BYTES], output[2 * TEXT_BYTES];
	char now[NANO_TEXT_BYTES];
	struct program_run run;
	(void)snprintf(name, sizeof(name), "stops-%ld", (long)getpid());
	assert_true(scratch_create(FSL_BUILD_DIR, name, dir, sizeof(dir)));
	write_job(job, dir, truth);
	(void)snprintf(config, sizeof(config), "%s/model_config.json", dir);
	(void)snprintf(output, sizeof(output), "%s/out", dir);
	(void)snprintf(now, sizeof(now), "%" PRId64, truth->now_ns);
	char *argv[] = {FSL_PROGRAM, "detect", "--config", config,     "--output", output, "--now",
			now,         "--jobs", "1",        "--format", "json",     NULL};
	assert_true(program_run(&run, NULL, argv));
	assert_int_equal(run.exit_code, 0);
	cJSON *root = cJSON_Parse(run.out);
	assert_non_null(root);
	program_run_fini(&run);
	scratch_remove(dir);
	return root;
}

static const cJSON *get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Time in a part of the account, ns. */
static double part_ns(const cJSON *root, const char *part)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, get(root, "account"))
	{
		if (strcmp(get(item, "part")->valuestring, part) == 0) {
			return get(item, "ns")->valuedouble;
		}
	}
	return 0.0;
}

static bool does_sum(const cJSON *root)
{
	const cJSON *item = NULL;
	double sum_ns = 0.0; /* exact: no job takes a hundred days */
	cJSON_ArrayForEach(item, get(root, "account"))
	{
		sum_ns += get(item, "ns")->valuedouble;
	}
	return sum_ns == get(get(root, "job"), "spanNs")->valuedouble;
}

static bool has_period(const cJSON *root, const char *list, const char *key, const char *part,
		       int every)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, get(root, list))
	{
		const cJSON *told = get(item, "everySteps");
		if (strcmp(get(item, key)->valuestring, part) == 0 && cJSON_IsNumber(told) &&
		    told->valueint == every) {
			return true;
		}
	}
	return false;
}

/*
 * Parts that tell the loss, NULL behind the last. Step times do not tell why a step is long, a log
 * leaves time between its lines, and markers alone do not tell whether all ranks save or evaluate.
 * Short pauses of ranks in turn may be told as such.
 */
static const char *const *parts_of(const struct job *job)
{
	static const char *const stalls[] = {"stalls", NULL}, *const gaps[] = {"gap", NULL};
	static const char *const pauses[] = {"stalls", "host_pauses", NULL};
	static const char *const rank[] = {"slow_rank", NULL}, *const restart[] = {"restart", NULL};
	static const char *const drift[] = {"job_slowdown", NULL};
	static const char *const planned[] = {"evaluation", "stalls", NULL};
	static const char *const saves[] = {"checkpoint", NULL}, *const evaluation[] = {
									 "evaluation", NULL};
	bool is_of_markers = job->output == FSL_SIM_MARKERS;
	bool is_log = job->output == FSL_SIM_LOG;
	switch (job->loss) {
	case ONE:
	case EVERY:
		return stalls;
	case TURN:
		return is_of_markers ? pauses : stalls;
	case SAME:
		return is_of_markers ? rank : stalls;
	case RESTART:
		return restart;
	case DRIFT:
		return drift;
	case CHECKPOINT:
		return is_log               ? gaps
		       : !is_of_markers     ? stalls
		       : job->timelines > 0 ? saves
					    : planned;
	case EVALUATION:
		return is_of_markers ? evaluation : is_log ? gaps : stalls;
	case LOSSES_N:
		break;
	}
	return stalls;
}

static void mark(struct figures *sum, const struct job *job, const cJSON *root,
		 const struct fsl_sim_truth *truth)
{
	double lost_ns = (double)truth->stops[0].lost_ns;
	bool is_kind = false, is_time = false, is_period = job->every == 0, sums = does_sum(root);
	assert_int_equal(truth->n_stops, 1);
	assert_true(lost_ns >= 0.03 * (double)(truth->end_ns - truth->start_ns));
	if (job->loss == RESTART && job->output == FSL_SIM_MARKERS && job->timelines == 0) {
		lost_ns = job->gap_ns;
	}
	for (const char *const *part = parts_of(job); *part != NULL; part++) {
		double told_ns = part_ns(root, *part);
		is_kind |= told_ns > 0.0;
		is_time |= fabs(told_ns - lost_ns) <= 0.1 * lost_ns;
		is_period |= has_period(root, "losses", "kind", *part, job->every) ||
			     has_period(root, "account", "part", *part, job->every);
	}
	bool is_told = is_kind && is_time && is_period;
	sum->n++;
	sum->n_sums += sums;
	sum->n_kinds += is_kind;
	sum->n_times += is_kind && is_time;
	sum->n_periods += is_kind && is_period;
	sum->n_told += is_told;
	if (!sums || (!is_told && is_verbose)) {
		char *account = cJSON_PrintUnformatted(get(root, "account"));
		print_message(
			"%s:%s%s%s%s every %d, lost %.1f s, told: %s\n  simulate DIR %s fault=\"%s\"\n  %s\n",
			loss_texts[job->loss], sums ? "" : " no sum", is_kind ? "" : " no kind",
			is_time ? "" : " no time", is_period ? "" : " no period", job->every,
			lost_ns / 1e9, get(root, "headline")->valuestring, job->settings,
			job->fault, is_verbose ? account : "");
		cJSON_free(account);
	}
}

static void print_figures(const char *name, const struct figures *sum)
{
	print_message("%-14s jobs %3d, account sums %3d, kind %3d, time %3d, period %3d, all %3d\n",
		      name, sum->n, sum->n_sums, sum->n_kinds, sum->n_times, sum->n_periods,
		      sum->n_told);
}

static void lost_time_is_told_with_kind_time_and_period(void **state)
{
	(void)state;
	struct figures all = {0}, by_loss[LOSSES_N] = {{0}}, by_output[OUTPUTS_N] = {{0}};
	for (int i = 0; i < n_jobs; i++) {
		struct job job;
		struct fsl_sim_truth truth;
		draw_faulty(&job, i, first_seed + i);
		cJSON *root = judge(&job, &truth);
		struct figures one = {0};
		mark(&one, &job, root, &truth);
		struct figures *sums[] = {&all, &by_loss[job.loss], &by_output[job.output]};
		for (size_t k = 0; k < 3; k++) {
			sums[k]->n += one.n;
			sums[k]->n_sums += one.n_sums;
			sums[k]->n_kinds += one.n_kinds;
			sums[k]->n_times += one.n_times;
			sums[k]->n_periods += one.n_periods;
			sums[k]->n_told += one.n_told;
		}
		cJSON_Delete(root);
		fsl_sim_truth_fini(&truth);
	}
	for (int k = 0; k < LOSSES_N; k++) {
		print_figures(loss_texts[k], &by_loss[k]);
	}
	for (int k = 0; k < OUTPUTS_N; k++) {
		print_figures(output_texts[k], &by_output[k]);
	}
	print_figures("all", &all);
	assert_int_equal(all.n_sums, all.n);
	assert_true(all.n_told >= (int)ceil(0.95 * all.n));
}

static void healthy_jobs_are_normal(void **state)
{
	(void)state;
	int n_alarms = 0;
	for (int i = 0; i < n_jobs; i++) {
		struct job job;
		struct fsl_sim_truth truth;
		draw_healthy(&job, i, first_seed + i);
		cJSON *root = judge(&job, &truth);
		assert_true(does_sum(root));
		if (strcmp(get(root, "verdict")->valuestring, "normal") != 0) {
			n_alarms++;
			print_message("%s\n  simulate DIR %s\n", get(root, "headline")->valuestring,
				      job.settings);
		}
		cJSON_Delete(root);
		fsl_sim_truth_fini(&truth);
	}
	print_message("healthy jobs %d, not normal %d\n", n_jobs, n_alarms);
	assert_true(n_alarms <= n_jobs / 100);
}

/* Checks the verdict and, unless @every is 0, the period of its part of the account. */
static void check(const char *settings, const char *fault, const char *verdict, int every)
{
	struct job job = {.loss = LOSSES_N};
	struct fsl_sim_truth truth;
	add(job.settings, "pairs=1 tp=2 %s", settings);
	add(job.fault, "%s", fault);
	cJSON *root = judge(&job, &truth);
	assert_string_equal(get(root, "verdict")->valuestring, verdict);
	assert_true(every == 0 || has_period(root, "account", "part", verdict, every));
	cJSON_Delete(root);
	fsl_sim_truth_fini(&truth);
}

/* Replicas do not wait for each other in an evaluation, so its end lies in either step. */
static void nobody_pauses_in_an_evaluation(void **state)
{
	(void)state;
	check("dp=2 steps=247 seed=1199 step_ms=505 noise=0.0034 warm_up=0.45 evaluation=8 "
	      "evaluation_ms=2947 hetero=0.0003",
	      "", "normal", 0);
	check("dp=4 steps=250 seed=100 step_ms=632 noise=0.0133 evaluation=5 "
	      "evaluation_ms=1521 hetero=0.0053",
	      "", "normal", 0);
}

static void an_evaluation_behind_the_last_step_is_no_stall(void **state)
{
	(void)state;
	check("dp=2 steps=42 timelines=none evaluation=7 evaluation_ms=8000", "", "normal", 0);
	check("dp=4 steps=48 timelines=none evaluation=6 evaluation_ms=24000", "", "normal", 0);
}

static void two_evaluations_of_a_job_of_many_micro_batches_are_no_stalls(void **state)
{
	(void)state;
	check("dp=2 pairs=4 micro_batches=16 steps=60 timelines=none evaluation=20 "
	      "evaluation_ms=1900",
	      "", "normal", 0);
	check("dp=2 pairs=4 micro_batches=12 pp=2 steps=40 timelines=none evaluation=15 "
	      "evaluation_ms=4000",
	      "", "normal", 0);
	/* as long, and nobody does anything in them */
	check("dp=2 pairs=4 micro_batches=16 steps=60 timelines=none",
	      "spike onset=19 extra_ms=1900 period=20", "stalls", 0);
	check("dp=2 pairs=4 micro_batches=12 pp=2 steps=40 timelines=none",
	      "spike onset=14 extra_ms=4000 period=15", "stalls", 0);
}

static void an_evaluation_in_the_last_step_is_no_stall(void **state)
{
	(void)state;
	check("dp=2 steps=41 seed=645 step_ms=425.2 noise=0.0056 timelines=none spikes=0.0017 "
	      "hetero=0.0191 warm_up=0.56 evaluation=10 evaluation_ms=813.4",
	      "", "normal", 0);
	check("tp=4 dp=2 steps=43 seed=726 step_ms=1046.2 noise=0.0062 timelines=none "
	      "spikes=0.0011 hetero=0.012 warm_up=0.65 evaluation=6 evaluation_ms=6358.2",
	      "", "normal", 0);
}

/* Ids of markers begin again; the steps that ran again have no numbers. */
static void restarts_in_markers_alone_are_counted(void **state)
{
	(void)state;
	static const struct {
		const char *settings, *faults[2];
		size_t n;
		double lost_s;
	} jobs[] = {{"dp=2 steps=200", {"restart onset=90 back=12 extra_ms=40000", ""}, 1, 40.0},
		    {"dp=1 steps=150 format=json",
		     {"restart onset=40 back=9 extra_ms=9000",
		      "restart onset=110 back=30 extra_ms=25000"},
		     2,
		     34.0},
		    {"dp=2 steps=200", {"spike onset=90 extra_ms=40000", ""}, 0, 0.0},
		    {"dp=1 steps=150 format=json", {"spike onset=40 extra_ms=9000", ""}, 0, 0.0}};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct job job = {.loss = LOSSES_N};
		struct fsl_sim_truth truth;
		add(job.settings, "pairs=1 tp=2 timelines=none %s", jobs[i].settings);
		add(job.fault, "%s", jobs[i].faults[0]);
		job.second_fault = jobs[i].faults[1];
		cJSON *root = judge(&job, &truth);
		size_t n = 0;
		const cJSON *loss = NULL;
		cJSON_ArrayForEach(loss, get(root, "losses"))
		{
			n += strcmp(get(loss, "kind")->valuestring, "restart") == 0;
		}
		assert_true(does_sum(root));
		assert_string_equal(get(root, "verdict")->valuestring, "stalls");
		assert_int_equal(n, jobs[i].n);
		assert_true(fabs(part_ns(root, "restart") / 1e9 - jobs[i].lost_s) < 0.5);
		cJSON_Delete(root);
		fsl_sim_truth_fini(&truth);
	}
}

static void a_rank_that_is_late_every_second_step_has_a_period(void **state)
{
	(void)state;
	check("dp=4 steps=90 seed=5028 noise=0.0037 step_ms=2038",
	      "spike ranks=1 onset=0 extra_ms=1284 period=2", "slow_rank", 2);
	check("dp=2 steps=90 seed=5196 noise=0.0065 step_ms=6727",
	      "spike ranks=2 onset=1 extra_ms=4238 period=2", "slow_rank", 2);
}

static void stalls_of_unlike_length_are_no_evaluation(void **state)
{
	(void)state;
	check("dp=4 steps=190 seed=7 noise=0.0071 step_ms=831",
	      "spike onset=5 extra_ms=5945 period=42", "stalls", 42);
	check("dp=2 steps=300 seed=3", "spike onset=9 extra_ms=5000 period=60", "stalls", 60);
}

/* The job stands once for 90 s, whatever recurs in it. */
static void check_single(const char *settings, int at, const char *part, int every)
{
	struct job job = {.loss = LOSSES_N};
	struct fsl_sim_truth truth;
	add(job.settings, "pairs=1 tp=2 dp=2 step_ms=1000 %s", settings);
	add(job.fault, "spike onset=%d extra_ms=90000", at);
	cJSON *root = judge(&job, &truth);
	const cJSON *loss = cJSON_GetArrayItem(get(root, "losses"), 0);
	assert_string_equal(get(root, "verdict")->valuestring, "stalls");
	assert_string_equal(get(loss, "kind")->valuestring, "stalls");
	assert_true(cJSON_IsNull(get(loss, "everySteps")));
	assert_true(fabs(get(loss, "ms")->valuedouble - 90000.0) < 1000.0);
	assert_true(has_period(root, "account", "part", part, every) ||
		    has_period(root, "losses", "kind", part, every));
	cJSON_Delete(root);
	fsl_sim_truth_fini(&truth);
}

static void a_long_stall_and_what_recurs_are_told_side_by_side(void **state)
{
	(void)state;
	static const struct {
		const char *settings, *part;
		int every;
	} jobs[] = {{"steps=200 write=steps ckpt=20 ckpt_ms=6000", "stalls", 20},
		    {"steps=160 write=log ckpt=20 ckpt_ms=6000", "gap", 20},
		    {"steps=200 timelines=none ckpt=20 ckpt_ms=6000", "evaluation", 20},
		    {"steps=200 timelines=all evaluation=20 evaluation_ms=6000", "evaluation", 20},
		    {"steps=180 timelines=all ckpt=15 ckpt_ms=4000", "checkpoint", 15},
		    {"steps=180 write=steps evaluation=15 evaluation_ms=4000", "stalls", 15}};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		check_single(jobs[i].settings, 91, jobs[i].part, jobs[i].every);
		/* in a step that is long already */
		check_single(jobs[i].settings, 6 * jobs[i].every - 1, jobs[i].part, jobs[i].every);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost_time_is_told_with_kind_time_and_period),
		cmocka_unit_test(healthy_jobs_are_normal),
		cmocka_unit_test(nobody_pauses_in_an_evaluation),
		cmocka_unit_test(an_evaluation_behind_the_last_step_is_no_stall),
		cmocka_unit_test(two_evaluations_of_a_job_of_many_micro_batches_are_no_stalls),
		cmocka_unit_test(an_evaluation_in_the_last_step_is_no_stall),
		cmocka_unit_test(restarts_in_markers_alone_are_counted),
		cmocka_unit_test(a_rank_that_is_late_every_second_step_has_a_period),
		cmocka_unit_test(stalls_of_unlike_length_are_no_evaluation),
		cmocka_unit_test(a_long_stall_and_what_recurs_are_told_side_by_side),
	};
	(void)setenv("TZ", "UTC", 1); /* of the logs */
	n_jobs = argc > 1 ? atoi(argv[1]) : n_jobs;
	first_seed = argc > 2 ? atoi(argv[2]) : first_seed;
	is_verbose = argc > 3;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
