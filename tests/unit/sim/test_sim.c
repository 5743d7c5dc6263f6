/* Claims about the job simulator: it is causal, it repeats itself, and its truth is one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/sim_parts.h"
#include "source/ingest.h"

/* A job from words: "tp=8 steps=20", faults separated by '|'. */
static void make(struct fsl_sim_params *params, const char *settings, const char *faults)
{
	struct fsl_error err = {0};
	char text[512], *rest = NULL;
	fsl_sim_params_init(params);
	(void)snprintf(text, sizeof(text), "%s", settings);
	for (char *word = strtok_r(text, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_int_equal(fsl_sim_params_set(params, word, &err), FSL_OK);
	}
	(void)snprintf(text, sizeof(text), "%s", faults);
	for (char *fault = strtok_r(text, "|", &rest); fault != NULL;
	     fault = strtok_r(NULL, "|", &rest)) {
		assert_int_equal(fsl_sim_params_add_fault(params, fault, &err), FSL_OK);
	}
}

static void simulate(const struct fsl_sim_params *params, struct fsl_run *run,
		     struct fsl_sim_truth *truth)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_run_init(run, &err), FSL_OK);
	assert_int_equal(fsl_sim_run_in_memory(params, run, truth, &err), FSL_OK);
}

static const char *const shapes[] = {
	"tp=8 dp=1 steps=8",
	"tp=2 dp=2 pp=3 steps=6 micro_batches=4",
	"tp=2 dp=2 pp=4 steps=6 micro_batches=8 schedule=1f1b p2p=send-receive",
	"tp=1 dp=2 pp=4 steps=6 micro_batches=8 schedule=interleaved chunks=2 p2p_groups=pipeline",
	"tp=2 dp=8 pp=2 ep=4 steps=6 micro_batches=2 schedule=1f1b",
	"tp=2 dp=4 steps=6 overlap=true buckets=3 ckpt=2",
};
enum { SHAPES_N = sizeof(shapes) / sizeof(shapes[0]) };

static void same_seed_gives_the_same_run_and_another_seed_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct fsl_sim_params params;
		struct fsl_run runs[3];
		make(&params, shapes[i], "");
		simulate(&params, &runs[0], NULL);
		simulate(&params, &runs[1], NULL);
		params.seed++;
		simulate(&params, &runs[2], NULL);
		const struct fsl_rank *a = &runs[0].ranks[1], *b = &runs[1].ranks[1];
		assert_int_equal(a->n_ops, b->n_ops);
		assert_memory_equal(a->ops, b->ops, a->n_ops * sizeof(*a->ops));
		assert_memory_not_equal(a->ops, runs[2].ranks[1].ops, a->n_ops * sizeof(*a->ops));
		for (size_t k = 0; k < 3; k++) {
			fsl_run_fini(&runs[k]);
		}
		fsl_sim_params_fini(&params);
	}
}

/* Ends of one communicator and operator, use by use. */
static size_t ends_of(const struct fsl_run *run, size_t rank_idx, uint32_t op_id, uint32_t group_id,
		      const struct fsl_op **ops, size_t n_max)
{
	size_t n = 0;
	const struct fsl_rank *rank = &run->ranks[rank_idx];
	for (size_t i = 0; i < rank->n_ops && n < n_max; i++) {
		if (rank->ops[i].op_id == op_id && rank->ops[i].group_id == group_id) {
			ops[n++] = &rank->ops[i];
		}
	}
	return n;
}

static void collectives_end_when_the_last_has_arrived(void **state)
{
	(void)state;
	enum { USES_MAX = 4096 };
	static const struct fsl_op *ours[USES_MAX], *theirs[USES_MAX];
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct fsl_sim_params params;
		struct fsl_run run;
		make(&params, shapes[i], "");
		params.clock_offset_ms = params.clock_drift_ppm = 0.0;
		simulate(&params, &run, NULL);
		const struct fsl_op *first = &run.ranks[0].ops[run.ranks[0].n_ops / 2];
		const char *name = fsl_strpool_text(run.names, first->op_id);
		size_t n = ends_of(&run, 0, first->op_id, first->group_id, ours, USES_MAX);
		for (size_t r = 1; r < run.n_ranks; r++) {
			size_t m =
				ends_of(&run, r, first->op_id, first->group_id, theirs, USES_MAX);
			bool is_collective =
				strstr(name, "Send") == NULL && strstr(name, "Rec") == NULL;
			for (size_t k = 0; k < m && m == n && is_collective; k++) {
				assert_true(llabs(ours[k]->dev_end_ns - theirs[k]->dev_end_ns) <=
					    20000);
				assert_true(ours[k]->dev_end_ns >= theirs[k]->dev_begin_ns);
			}
		}
		fsl_run_fini(&run);
		fsl_sim_params_fini(&params);
	}
}

static void the_counterfactual_is_the_job_without_its_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES_N; i++) {
		struct fsl_sim_params faulty, healthy;
		struct fsl_sim_truth truth, clean;
		struct fsl_error err = {0};
		make(&faulty, shapes[i], "compute ranks=1 factor=1.5 onset=2|gc ranks=0 onset=1");
		make(&healthy, shapes[i], "");
		assert_int_equal(fsl_sim_foresee(&faulty, &truth, &err), FSL_OK);
		assert_int_equal(fsl_sim_foresee(&healthy, &clean, &err), FSL_OK);
		assert_true(truth.healthy_step_ms == clean.step_ms);
		assert_true(truth.slowdown > 1.0);
		assert_int_equal(truth.n_culprits, 2);
		fsl_sim_truth_fini(&truth);
		fsl_sim_truth_fini(&clean);
		fsl_sim_params_fini(&faulty);
		fsl_sim_params_fini(&healthy);
	}
}

static void the_rank_that_hangs_is_the_culprit(void **state)
{
	struct fsl_sim_params params;
	struct fsl_sim_truth truth;
	struct fsl_error err = {0};
	(void)state;
	make(&params, shapes[0], "hang ranks=1 onset=3");
	assert_int_equal(fsl_sim_foresee(&params, &truth, &err), FSL_OK);
	assert_int_equal(truth.n_culprits, 1);
	assert_int_equal(truth.culprits[0], 1);
	fsl_sim_truth_fini(&truth);
	fsl_sim_params_fini(&params);
}

/* Operators, or what is left of some. */
static void assert_same_ops(const struct fsl_run *a, const struct fsl_run *b,
			    const struct fsl_op *x, const struct fsl_op *y, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct fsl_op *p = &x[i], *q = &y[i];
		assert_int_equal(p->id, q->id);
		assert_int_equal(p->n_elements, q->n_elements);
		assert_int_equal(p->step, q->step);
		assert_string_equal(fsl_strpool_text(a->names, p->dtype_id),
				    fsl_strpool_text(b->names, q->dtype_id));
		assert_int_equal(p->host_begin_ns, q->host_begin_ns);
		assert_int_equal(p->host_end_ns, q->host_end_ns);
		assert_int_equal(p->dev_begin_ns, q->dev_begin_ns);
		assert_int_equal(p->dev_end_ns, q->dev_end_ns);
		assert_string_equal(fsl_strpool_text(a->names, p->op_id),
				    fsl_strpool_text(b->names, q->op_id));
		assert_string_equal(fsl_strpool_text(a->names, p->group_id),
				    fsl_strpool_text(b->names, q->group_id));
	}
}

static void assert_same_rank(const struct fsl_run *a, const struct fsl_run *b, size_t r)
{
	const struct fsl_rank *x = &a->ranks[r], *y = &b->ranks[r];
	assert_int_equal(x->rank, y->rank);
	assert_string_equal(x->server_ip, y->server_ip);
	assert_int_equal(x->n_ops, y->n_ops);
	assert_int_equal(x->n_stages, y->n_stages);
	assert_int_equal(x->last_event_ns, y->last_event_ns);
	assert_int_equal(x->has_markers_file, y->has_markers_file);
	assert_int_equal(x->is_restarted, y->is_restarted);
	assert_int_equal(x->open_begin_ns, y->open_begin_ns);
	assert_string_equal(fsl_strpool_text(a->names, x->open_op_id),
			    fsl_strpool_text(b->names, y->open_op_id));
	assert_string_equal(fsl_strpool_text(a->names, x->open_group_id),
			    fsl_strpool_text(b->names, y->open_group_id));
	assert_int_equal(x->n_remnants, y->n_remnants);
	assert_same_ops(a, b, x->ops, y->ops, x->n_ops);
	assert_same_ops(a, b, x->remnants, y->remnants, x->n_remnants);
	for (size_t i = 0; i < x->n_stages; i++) {
		assert_int_equal(x->stages[i].begin_ns, y->stages[i].begin_ns);
		assert_int_equal(x->stages[i].end_ns, y->stages[i].end_ns);
		assert_int_equal(x->stages[i].step, y->stages[i].step);
		assert_string_equal(fsl_strpool_text(a->names, x->stages[i].type_id),
				    fsl_strpool_text(b->names, y->stages[i].type_id));
		assert_int_equal(x->stages[i].kind, y->stages[i].kind);
	}
}

/* Writes the job, reads it back and compares it with the one in memory. */
static void check_read_back(const char *settings, const char *faults)
{
	char dir[] = "/tmp/test_sim_XXXXXX", command[64];
	struct fsl_sim_params params;
	struct fsl_run memory, disk = {0};
	struct fsl_error err = {0};
	assert_non_null(mkdtemp(dir));
	make(&params, settings, faults);
	simulate(&params, &memory, NULL);
	assert_int_equal(fsl_sim_write_tree(&params, dir, NULL, &err), FSL_OK);
	struct fsl_ingest_options options = {.root_path = dir,
					     .training_log = "",
					     .from_ns = INT64_MIN,
					     .to_ns = INT64_MAX,
					     .n_threads = 1};
	assert_int_equal(fsl_run_init(&disk, &err), FSL_OK);
	assert_int_equal(fsl_ingest_run(&disk, &options, &err), FSL_OK);
	assert_int_equal(memory.n_ranks, disk.n_ranks);
	for (size_t r = 0; r < disk.n_ranks; r++) {
		assert_same_rank(&memory, &disk, r);
	}
	fsl_run_fini(&memory);
	fsl_run_fini(&disk);
	fsl_sim_params_fini(&params);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void files_read_back_are_the_run_in_memory(void **state)
{
	(void)state;
	static const char *const forms[] = {
		"format=csv timelines=all", "format=json compression=gz timeline_json=true",
		"compression=zst timelines=all timeline_json=true scale=0.5",
		"compression=gz scale=2"};
	for (size_t i = 0; i < SHAPES_N; i++) {
		char settings[512];
		(void)snprintf(settings, sizeof(settings), "%s relabel_by=5 %s", shapes[i],
			       forms[i % 4]);
		check_read_back(settings, "compute ranks=1 onset=2|missing ranks=2");
	}
}

/* A reader keeps some operators that lack rows, and an operator without an end tells of a hang. */
static void files_that_lack_rows_are_the_run_in_memory(void **state)
{
	(void)state;
	static const char *const losses[] = {"drop=0.01", "drop=0.2 clock_ms=50", "drop=0.9",
					     "lost=3 timelines=none"};
	static const char *const faults[] = {"hang ranks=1 onset=3", "empty ranks=0",
					     "missing ranks=0|pauses onset=1", "host ranks=0"};
	for (size_t i = 0; i < SHAPES_N; i++) {
		for (size_t k = 0; k < 4; k++) {
			char settings[512];
			(void)snprintf(settings, sizeof(settings), "%s seed=%zu %s", shapes[i],
				       i + 1, losses[(i + k) % 4]);
			check_read_back(settings, faults[k]);
		}
	}
}

static void neighbouring_stages_agree_on_their_exchanges(void **state)
{
	(void)state;
	static const char *const jobs[] = {"tp=1 pp=4 micro_batches=8 schedule=1f1b",
					   "tp=1 pp=4 micro_batches=2 schedule=1f1b",
					   "tp=1 pp=5 micro_batches=3 schedule=gpipe"};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct fsl_sim_params params;
		struct fsl_arena arena = {0};
		struct fsl_sim_plan *plans = NULL;
		struct fsl_error err = {0};
		make(&params, jobs[i], "");
		assert_int_equal(fsl_sim_plans_build(&plans, &params, &arena, &err), FSL_OK);
		for (int32_t s = 0; s + 1 < params.pp; s++) {
			size_t k = 0;
			for (size_t a = 0; a < plans[s].n_actions; a++) {
				const struct fsl_sim_action *up = &plans[s].actions[a],
							    *down = NULL;
				if (up->kind != FSL_SIM_EXCHANGE || up->peer != s + 1) {
					continue;
				}
				while (k < plans[s + 1].n_actions && down == NULL) {
					const struct fsl_sim_action *next =
						&plans[s + 1].actions[k++];
					bool is_ours =
						next->kind == FSL_SIM_EXCHANGE && next->peer == s;
					down = is_ours ? next : NULL;
				}
				assert_non_null(down);
				assert_int_equal(up->sends, down->receives);
				assert_int_equal(up->receives, down->sends);
			}
		}
		fsl_arena_fini(&arena);
		fsl_sim_params_fini(&params);
	}
}

static void impossible_jobs_are_refused_with_what_to_change(void **state)
{
	(void)state;
	static const char *const jobs[][2] = {
		{"tp=64 dp=1024", ""},
		{"dp=4 ep=3", ""},
		{"schedule=interleaved pp=4 micro_batches=6", ""},
		{"relabel_by=2", ""},
		{"steps=10", "compute ranks=1 onset=10"},
		{"steps=10", "storage ranks=1"},
		{"steps=10", "link ranks=1"},
		{"pp=2", "stage ranks=2"},
		{"tp=2 dp=2", "link ranks=0,3"},
		{"tp=2 dp=1 pp=3", "link ranks=0,4"},
		{"tp=2 dp=2 pp=2", "link ranks=0,5"},
	};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct fsl_sim_params params;
		struct fsl_error err = {0};
		make(&params, jobs[i][0], jobs[i][1]);
		assert_int_equal(fsl_sim_params_check(&params, &err), FSL_ERR_USAGE);
		assert_true(strlen(fsl_error_root(&err)) > 20);
		fsl_sim_params_fini(&params);
	}
}

static void links_are_between_ranks_that_talk(void **state)
{
	(void)state;
	static const char *const jobs[][2] = {
		{"tp=2 dp=2", "link ranks=0,1"},
		{"tp=2 dp=2", "link ranks=1,3"},
		{"tp=2 dp=1 pp=3", "link ranks=4,2"},
		{"tp=1 dp=1 pp=4 micro_batches=4 schedule=interleaved chunks=2", "link ranks=0,3"},
	};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct fsl_sim_params params;
		struct fsl_sim_truth truth;
		struct fsl_error err = {0};
		make(&params, jobs[i][0], jobs[i][1]);
		assert_int_equal(fsl_sim_foresee(&params, &truth, &err), FSL_OK);
		assert_true(truth.slowdown > 1.05);
		fsl_sim_truth_fini(&truth);
		fsl_sim_params_fini(&params);
	}
}

static double fault_step_ms_of(const char *settings, const char *faults)
{
	struct fsl_sim_params params;
	struct fsl_sim_truth truth;
	struct fsl_error err = {0};
	make(&params, settings, faults);
	assert_int_equal(fsl_sim_foresee(&params, &truth, &err), FSL_OK);
	double step_ms = truth.fault_step_ms;
	fsl_sim_truth_fini(&truth);
	fsl_sim_params_fini(&params);
	return step_ms;
}

static void pauses_of_several_faults_add_up(void **state)
{
	(void)state;
	static const char job[] = "tp=2 dp=1 steps=60 noise=0 spikes=0 gc=0";
	double both_ms = fault_step_ms_of(
		job, "gc ranks=0 factor=0.4 extra_ms=300|gc ranks=0 factor=0.3 extra_ms=500");
	double first_ms = fault_step_ms_of(job, "gc ranks=0 factor=0.4 extra_ms=300");
	double second_ms = fault_step_ms_of(job, "gc ranks=0 factor=0.3 extra_ms=500");
	double none_ms = fault_step_ms_of(job, "compute ranks=0 factor=1");
	assert_true(both_ms - none_ms > 0.7 * (first_ms - none_ms + second_ms - none_ms));
	assert_true(both_ms > 1.1 * first_ms && both_ms > 1.1 * second_ms);
}

static void a_fault_may_strike_every_rank_of_the_largest_job(void **state)
{
	(void)state;
	struct fsl_sim_params params;
	struct fsl_error err = {0};
	make(&params, "tp=8 dp=2048 steps=1", "compute ranks=all");
	assert_int_equal(params.faults[0].n_ranks, FSL_SIM_RANKS_MAX);
	assert_int_equal(fsl_sim_params_check(&params, &err), FSL_OK);
	fsl_sim_params_fini(&params);
	make(&params, "tp=8 dp=1", "compute ranks=3,2-4,3");
	assert_int_equal(params.faults[0].n_ranks, 3);
	fsl_sim_params_fini(&params);
}

static void replicas_fill_the_number_of_ranks(void **state)
{
	(void)state;
	struct fsl_sim_params params;
	struct fsl_error err = {0};
	fsl_sim_params_init(&params);
	assert_int_equal(fsl_sim_params_preset(&params, "moe-64", &err), FSL_OK);
	assert_int_equal(fsl_sim_params_fit_ranks(&params, 256, &err), FSL_OK);
	assert_int_equal(params.dp, 32);
	assert_int_equal(fsl_sim_n_ranks(&params), 256);
	assert_int_equal(fsl_sim_params_fit_ranks(&params, 96, &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "multiple"));
	fsl_sim_params_fini(&params);
}

/* Truth of a job; release it with fsl_sim_truth_fini. */
static void foresee(struct fsl_sim_truth *truth, const char *settings, const char *faults)
{
	struct fsl_sim_params params;
	struct fsl_error err = {0};
	make(&params, settings, faults);
	assert_int_equal(fsl_sim_foresee(&params, truth, &err), FSL_OK);
	fsl_sim_params_fini(&params);
}

static void the_truth_tells_what_stops_cost(void **state)
{
	(void)state;
	static const struct {
		const char *settings, *faults, *part;
		enum fsl_verdict_kind kind;
		int first_step, last_step, every_steps, n_times;
		double lost_s, error_s;
	} table[] = {
		{"ckpt=9 ckpt_ms=500", "", "checkpoint", FSL_VERDICT_NORMAL, 8, 35, 9, 4, 2.0, 0.1},
		{"evaluation=15 evaluation_ms=2000", "", "evaluation", FSL_VERDICT_NORMAL, 14, 29,
		 15, 2, 4.0, 0.2},
		{"", "spike onset=7 extra_ms=9000", "stalls", FSL_VERDICT_STALLS, 7, 7, -1, 1, 9.0,
		 0.01},
		{"", "spike onset=7 extra_ms=500", "stalls", FSL_VERDICT_NORMAL, 7, 7, -1, 1, 0.5,
		 0.01},
		{"", "spike onset=4 period=6 extra_ms=900", "stalls", FSL_VERDICT_STALLS, 4, 34, 6,
		 6, 5.4, 2.7},
		{"", "spike ranks=1-3 onset=4 period=6 extra_ms=900", "stalls", FSL_VERDICT_STALLS,
		 4, 34, 6, 6, 5.4, 2.7},
		{"", "spike ranks=2 onset=4 period=6 extra_ms=900", "stalls", FSL_VERDICT_SLOW_RANK,
		 4, 34, 6, 6, 5.4, 2.7},
		{"", "restart onset=20 back=5 extra_ms=8000", "restart", FSL_VERDICT_STALLS, 15, 15,
		 -1, 1, 13.2, 0.3},
		{"", "job_slow onset=20 ramp=20 factor=1.5", "job_slowdown",
		 FSL_VERDICT_JOB_SLOWDOWN, 20, 39, -1, 20, 5.0, 0.3},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char settings[256];
		struct fsl_sim_truth truth;
		(void)snprintf(settings, sizeof(settings), "tp=2 dp=2 steps=40 gc=0 spikes=0 %s",
			       table[i].settings);
		foresee(&truth, settings, table[i].faults);
		assert_int_equal(truth.n_stops, 1);
		assert_string_equal(truth.stops[0].part, table[i].part);
		assert_int_equal(truth.kind, table[i].kind);
		assert_int_equal(truth.stops[0].first_step, table[i].first_step);
		assert_int_equal(truth.stops[0].last_step, table[i].last_step);
		assert_int_equal(truth.stops[0].every_steps, table[i].every_steps);
		assert_int_equal(truth.stops[0].n_times, table[i].n_times);
		assert_true(fabs((double)truth.stops[0].lost_ns / 1e9 - table[i].lost_s) <=
			    table[i].error_s);
		assert_true(truth.stops[0].first_ns >= truth.start_ns);
		assert_true(truth.stops[0].last_ns <= truth.end_ns);
		fsl_sim_truth_fini(&truth);
	}
}

static void stops_of_a_job_are_told_apart_in_the_truth(void **state)
{
	(void)state;
	struct fsl_sim_truth truth;
	foresee(&truth, "tp=2 dp=1 steps=60 ckpt=20 evaluation=25",
		"spike onset=7 extra_ms=9000|restart onset=30 back=4 extra_ms=5000");
	static const char *const parts[] = {"stalls", "restart", "checkpoint", "evaluation"};
	assert_int_equal(truth.n_stops, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(truth.stops[i].part, parts[i]);
	}
	assert_int_equal(truth.stops[0].lost_ns / 1000, 9000000);
	fsl_sim_truth_fini(&truth);
}

static void a_family_does_not_stand_as_a_whole(void **state)
{
	(void)state;
	static const char *const faults[] = {"spike onset=3", "restart onset=3"};
	for (size_t i = 0; i < 2; i++) {
		struct fsl_sim_params params;
		struct fsl_error err = {0};
		make(&params, "family=hsdp", faults[i]);
		assert_int_equal(fsl_sim_params_check(&params, &err), FSL_ERR_USAGE);
		fsl_sim_params_fini(&params);
	}
}

/* Also the truth: a job of half the scale takes half the time. */
static void scale_is_on_all_durations(void **state)
{
	(void)state;
	double whole_ms = fault_step_ms_of("steps=10", "compute ranks=1 onset=2");
	double half_ms = fault_step_ms_of("steps=10 scale=0.5", "compute ranks=1 onset=2");
	assert_true(fabs(half_ms - 0.5 * whole_ms) < 1e-6 * whole_ms);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct fsl_sim_params params;
	make(&params, "tp=2 dp=2 pp=2 steps=3 schedule=interleaved micro_batches=2 chunks=2",
	     "compute ranks=1 onset=1");
	bool has_failed = true;
	for (uint64_t nth = 1; has_failed && nth < 10000; nth++) {
		struct fsl_error err = {0};
		struct fsl_run run = {0};
		struct fsl_sim_truth truth = {0};
		assert_int_equal(fsl_run_init(&run, &err), FSL_OK);
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_sim_run_in_memory(&params, &run, &truth, &err);
		fsl_mem_fail_at(0);
		has_failed = status != FSL_OK;
		assert_true(!has_failed || status == FSL_ERR_MEMORY);
		fsl_sim_truth_fini(&truth);
		fsl_run_fini(&run);
	}
	assert_false(has_failed);
	fsl_sim_params_fini(&params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_gives_the_same_run_and_another_seed_another),
		cmocka_unit_test(collectives_end_when_the_last_has_arrived),
		cmocka_unit_test(the_counterfactual_is_the_job_without_its_faults),
		cmocka_unit_test(the_rank_that_hangs_is_the_culprit),
		cmocka_unit_test(files_read_back_are_the_run_in_memory),
		cmocka_unit_test(files_that_lack_rows_are_the_run_in_memory),
		cmocka_unit_test(neighbouring_stages_agree_on_their_exchanges),
		cmocka_unit_test(impossible_jobs_are_refused_with_what_to_change),
		cmocka_unit_test(links_are_between_ranks_that_talk),
		cmocka_unit_test(pauses_of_several_faults_add_up),
		cmocka_unit_test(a_fault_may_strike_every_rank_of_the_largest_job),
		cmocka_unit_test(replicas_fill_the_number_of_ranks),
		cmocka_unit_test(scale_is_on_all_durations),
		cmocka_unit_test(the_truth_tells_what_stops_cost),
		cmocka_unit_test(stops_of_a_job_are_told_apart_in_the_truth),
		cmocka_unit_test(a_family_does_not_stand_as_a_whole),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
