/* Functions across workers: who stands out, who waits, when nobody can be named; scores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge/functions.h"

enum { WORKERS_MAX = 16, ITEMS_MAX = 8, LEVELS_MAX = 16 };
static const int64_t WINDOW_NS = 1000000;

/* Workers made by hand. */
struct job {
	struct fsl_profile profile;
	struct fsl_profile_cluster cluster;
	struct fsl_profile_rank ranks[WORKERS_MAX];
	struct fsl_functions functions[WORKERS_MAX];
	struct fsl_function items[WORKERS_MAX][ITEMS_MAX];
	struct fsl_kernel_level levels[WORKERS_MAX][LEVELS_MAX];
	struct fsl_functions_view view;
};

static struct job *begin(size_t n)
{
	struct job *job = fsl_calloc(1, sizeof(*job));
	assert_non_null(job);
	job->profile.ranks = job->ranks;
	job->profile.n_ranks = n;
	for (size_t w = 0; w < n; w++) {
		job->ranks[w].rank = (int32_t)w;
		job->ranks[w].functions = &job->functions[w];
		job->ranks[w].names = fsl_strpool_create();
		assert_non_null(job->ranks[w].names);
		job->functions[w] = (struct fsl_functions){
			.window_ns = WINDOW_NS, .items = job->items[w], .levels = job->levels[w]};
	}
	return job;
}

/* @ratio of the trace, in calls of @mean_ns. */
static void add(struct job *job, size_t w, enum fsl_function_class class, const char *name,
		double ratio, double mean_ns, double spread_ns)
{
	struct fsl_functions *functions = &job->functions[w];
	int64_t ns = (int64_t)(ratio * (double)WINDOW_NS);
	assert_true(functions->n_items < ITEMS_MAX);
	job->items[w][functions->n_items++] = (struct fsl_function){.class = class,
								    .name = name,
								    .shape = "",
								    .count = 10,
								    .total_ns = ns,
								    .wall_ns = ns,
								    .exclusive_ns = ns,
								    .mean_ns = mean_ns,
								    .spread_ns = spread_ns,
								    .median_ns = mean_ns};
	functions->compute_ns += class == FSL_FUNCTION_COMPUTE ? ns : 0;
	functions->busy_ns += class <= FSL_FUNCTION_COLLECTIVE ? ns : 0;
}

/* Worker @w computes so much and waits for the rest. */
static void add_usual(struct job *job, size_t w, double computing)
{
	add(job, w, FSL_FUNCTION_COMPUTE, "gemm", computing, computing * 1e4, 10.0 + (double)w);
	add(job, w, FSL_FUNCTION_COLLECTIVE, "nccl", 0.8 - computing, 1e5 * (0.8 - computing),
	    100.0);
}

static const struct fsl_functions_view *compare(struct job *job)
{
	const struct fsl_functions_options options = fsl_functions_defaults();
	assert_int_equal(
		fsl_functions_compare(&job->view, &job->profile, &job->cluster, &options, NULL),
		FSL_OK);
	return &job->view;
}

static void end(struct job *job)
{
	fsl_functions_view_fini(&job->view);
	for (size_t w = 0; w < job->profile.n_ranks; w++) {
		fsl_strpool_destroy(job->ranks[w].names);
	}
	fsl_free(job);
}

static void workers_alike_name_nobody(void **state)
{
	(void)state;
	struct job *job = begin(8);
	for (size_t w = 0; w < 8; w++) {
		add_usual(job, w, 0.5 + 0.002 * (double)w);
	}
	const struct fsl_functions_view *view = compare(job);
	assert_int_equal(view->verdict, FSL_FUNCTIONS_NONE);
	assert_int_equal(view->n_rows, 2);
	for (size_t w = 0; w < 8; w++) {
		assert_false(view->workers[w].is_culprit || view->workers[w].is_victim);
	}
	end(job);
}

static void the_slow_worker_is_the_culprit_and_the_others_wait(void **state)
{
	(void)state;
	for (size_t slow = 0; slow < 8; slow += 7) {
		struct job *job = begin(8);
		for (size_t w = 0; w < 8; w++) {
			add_usual(job, w, w == slow ? 0.6 : 0.4);
		}
		const struct fsl_functions_view *view = compare(job);
		assert_int_equal(view->verdict, FSL_FUNCTIONS_CULPRITS);
		for (size_t w = 0; w < 8; w++) {
			assert_int_equal(view->workers[w].is_culprit, w == slow);
			assert_int_equal(view->workers[w].is_victim, w != slow);
			assert_int_equal(view->rows[0].cells[w].is_abnormal, w == slow);
			assert_int_equal(view->rows[0].cells[w].n_different, w == slow ? 7 : 1);
		}
		assert_int_equal(view->workers[slow].excess_class, FSL_FUNCTION_COMPUTE);
		assert_true(fabs(view->workers[slow].excess - 0.2) < 1e-6);
		end(job);
	}
}

static void three_of_eight_are_named_four_are_not(void **state)
{
	(void)state;
	for (size_t n_slow = 3; n_slow <= 4; n_slow++) {
		struct job *job = begin(8);
		for (size_t w = 0; w < 8; w++) {
			add_usual(job, w, w < n_slow ? 0.6 : 0.4);
		}
		const struct fsl_functions_view *view = compare(job);
		assert_int_equal(view->rows[0].n_abnormal, n_slow == 3 ? 3 : 0);
		end(job);
	}
}

/* A kernel that runs in a shape of its own on each worker, as with uneven loads: the sum over its
 * shapes is compared. @share: of the worker 3; all others take 0.3. */
static const struct fsl_functions_view *compare_shapes(struct job *job, double share)
{
	static const char *const shapes[] = {"1_1_1|1_1_1", "2_1_1|1_1_1", "3_1_1|1_1_1",
					     "4_1_1|1_1_1", "5_1_1|1_1_1", "6_1_1|1_1_1"};
	for (size_t w = 0; w < 6; w++) {
		add(job, w, FSL_FUNCTION_COMPUTE, "grouped", 0.2, 1000.0, 1.0);
		add(job, w, FSL_FUNCTION_COMPUTE, "grouped", w == 3 ? share - 0.2 : 0.1, 1000.0,
		    1.0);
		job->items[w][0].shape = "9_1_1|1_1_1";
		job->items[w][1].shape = shapes[w];
	}
	return compare(job);
}

static void shapes_of_a_kernel_stand_for_each_other(void **state)
{
	(void)state;
	struct job *job = begin(6);
	const struct fsl_functions_view *view = compare_shapes(job, 0.31);
	assert_int_equal(view->verdict, FSL_FUNCTIONS_NONE);
	for (size_t i = 0; i < view->n_rows; i++) {
		assert_int_equal(view->rows[i].n_abnormal, 0);
	}
	end(job);
	job = begin(6);
	view = compare_shapes(job, 0.4);
	assert_int_equal(view->verdict, FSL_FUNCTIONS_CULPRITS);
	for (size_t w = 0; w < 6; w++) {
		assert_int_equal(view->workers[w].is_culprit, w == 3);
	}
	assert_true(fabs(view->workers[3].excess - 0.1) < 1e-9);
	end(job);
}

/* Worker 3 takes @more of the trace longer than the others in @count runs of a shape of its own. */
static bool is_slow_in_runs(double more, int64_t count)
{
	struct job *job = begin(6);
	for (size_t w = 0; w < 6; w++) {
		double run = 0.02, own = w == 3 ? 0.1 + more : 0.1;
		add(job, w, FSL_FUNCTION_COMPUTE, "grouped", 0.2, run * (double)WINDOW_NS, 1.0);
		add(job, w, FSL_FUNCTION_COMPUTE, "grouped", own, run * (double)WINDOW_NS, 1.0);
		job->items[w][0].shape = "9_1_1|1_1_1";
		job->items[w][1].shape = w == 3 ? "4_1_1|1_1_1" : "3_1_1|1_1_1";
		job->items[w][1].count = w == 3 ? count : 5;
		add(job, w, FSL_FUNCTION_COMPUTE, "attention", 0.4, 1000.0, 1.0);
	}
	job->items[3][1].mean_ns = (0.1 + more) * (double)WINDOW_NS / (double)count;
	const struct fsl_functions_view *view = compare(job);
	for (size_t w = 0; w < 6; w++) {
		assert_true(w == 3 || !view->workers[w].is_culprit);
	}
	bool is_slow = view->workers[3].is_culprit;
	end(job);
	return is_slow;
}

static void one_long_run_in_a_shape_of_its_own_makes_nobody_slow(void **state)
{
	(void)state;
	assert_false(is_slow_in_runs(0.05, 1));
	assert_true(is_slow_in_runs(0.05, 5));
	assert_false(is_slow_in_runs(0.06, 1));
	assert_true(is_slow_in_runs(0.06, 4));
	assert_true(is_slow_in_runs(0.15, 1)); /* so long that it counts all the same */
}

/* A tenth of the greatest excess is the least that makes a culprit. */
static void who_is_hardly_slow_beside_a_slow_one_is_no_culprit(void **state)
{
	(void)state;
	for (int is_slow = 0; is_slow < 2; is_slow++) {
		struct job *job = begin(8);
		for (size_t w = 0; w < 8; w++) {
			add_usual(job, w, w == 5 ? 0.8 : 0.4);
			add(job, w, FSL_FUNCTION_COMPUTE, "norm",
			    w == 2 ? (is_slow ? 0.11 : 0.09) : 0.06, 1000.0, 1.0);
		}
		const struct fsl_functions_view *view = compare(job);
		assert_true(view->workers[5].is_culprit);
		assert_true(view->workers[2].excess > 0.02);
		assert_int_equal(view->workers[2].is_culprit, is_slow);
		end(job);
	}
}

/* One of ten runs of the kernel takes so long that its mean is half as much again; or five runs do.
 */
static void one_long_run_makes_nobody_slow(void **state)
{
	(void)state;
	for (int n_long = 1; n_long <= 5; n_long += 4) {
		struct job *job = begin(8);
		for (size_t w = 0; w < 8; w++) {
			bool is_long = w == 5;
			double more = is_long ? 500.0 : 0.0;
			/* k of n runs take d more: mean + kd/n, spread d sqrt(k (n - k)) / n. */
			double spread = more * sqrt((10.0 - n_long) / n_long);
			add(job, w, FSL_FUNCTION_COMPUTE, "gemm", 0.4, 4000.0, 1.0);
			add(job, w, FSL_FUNCTION_COMPUTE, "norm", is_long ? 0.09 : 0.06,
			    1000.0 + more, spread);
			job->items[w][1].median_ns = 1000.0;
			add(job, w, FSL_FUNCTION_COLLECTIVE, "nccl", is_long ? 0.1 : 0.13, 1e4,
			    1.0);
		}
		const struct fsl_functions_view *view = compare(job);
		assert_int_equal(view->workers[5].is_culprit, n_long > 1);
		assert_true(view->workers[5].excess > 0.0 || n_long == 1);
		end(job);
	}
}

/* A device that looks idle since events are lost names nobody. */
static void a_damaged_trace_does_not_make_its_worker_slow(void **state)
{
	(void)state;
	for (int is_damaged = 0; is_damaged < 2; is_damaged++) {
		struct job *job = begin(8);
		struct fsl_file file = {.state = FSL_FILE_PARTIAL, .message = ""};
		for (size_t w = 0; w < 8; w++) {
			add_usual(job, w, 0.4);
			add(job, w, FSL_FUNCTION_PYTHON, w == 5 ? "b" : "a|b", 0.1, 1e4, 1.0);
			job->functions[w].busy_ns = w == 5 ? WINDOW_NS / 2 : WINDOW_NS;
			job->items[w][1].exclusive_ns = w == 5 ? 100000 : 400000;
		}
		job->ranks[5].files = is_damaged ? &file : NULL;
		job->ranks[5].n_files = is_damaged ? 1 : 0;
		const struct fsl_functions_view *view = compare(job);
		assert_int_equal(view->workers[5].is_culprit, !is_damaged);
		end(job);
	}
}

static void stages_are_compared_apart(void **state)
{
	(void)state;
	struct job *job = begin(8);
	int32_t ranks[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct fsl_profile_stage stages[] = {{ranks, 4}, {ranks + 4, 4}};
	job->cluster.stages = stages;
	job->cluster.n_stages = 2;
	for (size_t w = 0; w < 8; w++) {
		add_usual(job, w, w == 5 ? 0.4 : w < 4 ? 0.6 : 0.3);
	}
	const struct fsl_functions_view *view = compare(job);
	assert_int_equal(view->verdict, FSL_FUNCTIONS_CULPRITS);
	for (size_t w = 0; w < 8; w++) {
		assert_int_equal(view->workers[w].is_culprit, w == 5);
	}
	end(job);
}

static void differences_of_waiting_alone_are_no_evidence(void **state)
{
	(void)state;
	struct job *job = begin(6);
	for (size_t w = 0; w < 6; w++) {
		add(job, w, FSL_FUNCTION_COMPUTE, "gemm", 0.4, 4000, 10);
		add(job, w, FSL_FUNCTION_COLLECTIVE, "nccl", w == 2 ? 0.5 : 0.1,
		    w == 2 ? 5000 : 1000, 10);
		add(job, w, FSL_FUNCTION_RUNTIME, "cudaStreamSynchronize", w == 2 ? 0.4 : 0.1, 1000,
		    10);
	}
	const struct fsl_functions_view *view = compare(job);
	assert_int_equal(view->verdict, FSL_FUNCTIONS_INSUFFICIENT);
	assert_string_not_equal(view->reason, "");
	assert_false(view->workers[2].is_culprit);
	end(job);
}

static void a_device_that_is_idle_tells_a_slow_host(void **state)
{
	(void)state;
	struct job *job = begin(5);
	for (size_t w = 0; w < 5; w++) {
		add(job, w, FSL_FUNCTION_COMPUTE, "gemm", 0.4, 4000, 10);
		add(job, w, FSL_FUNCTION_COLLECTIVE, "nccl", w == 1 ? 0.1 : 0.4, 1000, 10);
	}
	const struct fsl_functions_view *view = compare(job);
	assert_int_equal(view->verdict, FSL_FUNCTIONS_CULPRITS);
	assert_true(view->workers[1].is_culprit);
	assert_int_equal(view->workers[1].excess_class, FSL_FUNCTION_CLASSES_N);
	assert_string_equal(fsl_functions_class_text(view->workers[1].excess_class), "idle");
	end(job);
}

static void two_workers_or_none_are_too_few(void **state)
{
	(void)state;
	for (size_t n = 0; n <= 2; n++) {
		struct job *job = begin(n);
		for (size_t w = 0; w < n; w++) {
			add_usual(job, w, 0.2 + 0.5 * (double)w);
		}
		const struct fsl_functions_view *view = compare(job);
		assert_int_equal(view->verdict, FSL_FUNCTIONS_INSUFFICIENT);
		assert_int_equal(view->n_workers, n);
		end(job);
	}
}

static void add_level(struct job *job, size_t w, const char *name, int64_t step, double median_ns,
		      int64_t total_ns)
{
	struct fsl_functions *functions = &job->functions[w];
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(job->ranks[w].names, name, strlen(name), &id, NULL),
			 FSL_OK);
	job->levels[w][functions->n_levels++] = (struct fsl_kernel_level){.step = step,
									  .name_id = id,
									  .count = 1,
									  .total_ns = total_ns,
									  .median_ns = median_ns};
}

static void scores_are_weighted_by_time(void **state)
{
	(void)state;
	struct job *job = begin(2);
	add_usual(job, 0, 0.4);
	add_usual(job, 1, 0.4);
	/* Names in other orders; a kernel that one worker runs alone does not count. */
	add_level(job, 0, "only", FSL_STEP_ABSENT, 1.0, 1000);
	add_level(job, 0, "a", FSL_STEP_ABSENT, 10.0, 300);
	add_level(job, 0, "b", FSL_STEP_ABSENT, 8.0, 100);
	add_level(job, 1, "b", FSL_STEP_ABSENT, 4.0, 100);
	add_level(job, 1, "a", FSL_STEP_ABSENT, 20.0, 300);
	add_level(job, 1, "a", 7, 10.0, 100);
	add_level(job, 1, "a", 8, 20.0, 100);
	add_level(job, 1, "b", 8, 5.0, 100);
	const struct fsl_functions_view *view = compare(job);
	assert_true(fabs(view->workers[0].relative_score - (300.0 + 0.5 * 100.0) / 400.0) < 1e-12);
	assert_true(fabs(view->workers[1].relative_score - (0.5 * 300.0 + 100.0) / 400.0) < 1e-12);
	assert_true(isnan(view->workers[0].individual_score));
	assert_true(fabs(view->workers[1].individual_score - 0.75) < 1e-12);
	assert_false(view->workers[0].is_straggler);
	assert_true(view->workers[1].is_straggler);
	end(job);
}

static void scores_of_two_real_ranks_are_those_of_the_reference(void **state)
{
	(void)state;
	static const double wanted[] = {0.9544275081787561, 0.6460240131631432};
	char path[512];
	struct fsl_profile set;
	struct fsl_profile_cluster cluster = {0};
	struct fsl_functions_view view;
	const char *folder = getenv("FSL_SHARED_DIR");
	const struct fsl_functions_options defaults = fsl_functions_defaults();
	(void)snprintf(path, sizeof(path), "%s/data/kineto/hta/trace_filter",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR);
	if (access(path, R_OK) != 0) {
		skip();
	}
	const struct fsl_profile_options options = {.path = path, .sums_functions = true};
	assert_int_equal(fsl_profile_read(&set, &options, NULL), FSL_OK);
	assert_int_equal(fsl_profile_cluster_build(&cluster, &set, NULL), FSL_OK);
	assert_int_equal(fsl_functions_compare(&view, &set, &cluster, &defaults, NULL), FSL_OK);
	assert_int_equal(view.n_workers, 2);
	for (size_t w = 0; w < 2; w++) {
		assert_true(fabs(view.workers[w].relative_score - wanted[w]) < 1e-9);
		assert_int_equal(view.workers[w].is_straggler, w == 1);
	}
	assert_true(view.workers[1].has_other_work);
	fsl_functions_view_fini(&view);
	fsl_profile_cluster_fini(&cluster);
	fsl_profile_fini(&set);
}

static void short_memory_fails_whole(void **state)
{
	(void)state;
	struct job *job = begin(4);
	const struct fsl_functions_options options = fsl_functions_defaults();
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (size_t w = 0; w < 4; w++) {
		add_usual(job, w, 0.4);
		add_level(job, w, "a", FSL_STEP_ABSENT, 10.0, 300);
	}
	for (; status != FSL_OK && nth < 1000; nth++) {
		fsl_mem_fail_at(nth);
		status = fsl_functions_compare(&job->view, &job->profile, &job->cluster, &options,
					       NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(status == FSL_OK || job->view.rows == NULL);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(nth > 5);
	end(job);
}

/* Hosts that feed their device alike, but for worker @odd: its launches take long. */
static void feed(struct job *job, struct fsl_worker_figures *figures,
		 struct fsl_stream_figures *streams, size_t odd, int64_t delay_ns)
{
	for (size_t w = 0; w < job->profile.n_ranks; w++) {
		add_usual(job, w, 0.5);
		streams[w] =
			(struct fsl_stream_figures){.stream = 7,
						    .busy_ns = 600000,
						    .wait_ns = {[FSL_STREAM_HOST_WAIT] = 100000},
						    .n_lengths = 10,
						    .length_sum = w == odd ? 200 : 40};
		figures[w] = (struct fsl_worker_figures){
			.streams = &streams[w],
			.n_streams = 1,
			.launches = {.count = 100,
				     .n_short = 20,
				     .delay_median_ns = w == odd ? delay_ns : 30000},
			.path = {.length_ns = 1000, .parts_ns = {[FSL_PATH_HOST] = 400}}};
		job->ranks[w].figures = &figures[w];
	}
}

static void a_figure_stands_out_if_it_is_far_from_those_of_the_peers(void **state)
{
	(void)state;
	static const int64_t delays_ns[] = {34000, 36000, 5000};
	for (size_t i = 0; i < 3; i++) {
		struct job *job = begin(8);
		struct fsl_worker_figures figures[8];
		struct fsl_stream_figures streams[8];
		feed(job, figures, streams, 6, delays_ns[i]);
		const struct fsl_functions_view *view = compare(job);
		for (size_t w = 0; w < 8; w++) {
			const struct fsl_function_worker *worker = &view->workers[w];
			assert_int_equal(worker->is_unusual[FSL_FIGURE_LAUNCH_DELAY],
					 w == 6 && i > 0); /* 4 us more are too little */
			assert_int_equal(worker->is_unusual[FSL_FIGURE_QUEUE], w == 6);
			assert_false(worker->is_unusual[FSL_FIGURE_HOST_WAIT]);
			assert_false(worker->is_unusual[FSL_FIGURE_HOST_LINK]);
			assert_true(fabs(worker->figures[FSL_FIGURE_HOST_WAIT] - 0.1) < 1e-12);
			assert_true(fabs(worker->figures[FSL_FIGURE_SHORT_WORK] - 0.2) < 1e-12);
			assert_true(fabs(worker->figures[FSL_FIGURE_PATH_HOST] - 0.4) < 1e-12);
			assert_true(fabs(worker->usual[FSL_FIGURE_QUEUE] - 4.0) < 1e-12);
			assert_true(isnan(worker->figures[FSL_FIGURE_HOST_LINK]));
		}
		assert_int_equal(view->verdict, FSL_FUNCTIONS_NONE);
		end(job);
	}
}

static void of_two_workers_no_figure_stands_out(void **state)
{
	(void)state;
	struct job *job = begin(2);
	struct fsl_worker_figures figures[2];
	struct fsl_stream_figures streams[2];
	feed(job, figures, streams, 1, 900000);
	const struct fsl_functions_view *view = compare(job);
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		assert_false(view->workers[1].is_unusual[i]);
	}
	end(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_figure_stands_out_if_it_is_far_from_those_of_the_peers),
		cmocka_unit_test(of_two_workers_no_figure_stands_out),
		cmocka_unit_test(workers_alike_name_nobody),
		cmocka_unit_test(the_slow_worker_is_the_culprit_and_the_others_wait),
		cmocka_unit_test(three_of_eight_are_named_four_are_not),
		cmocka_unit_test(shapes_of_a_kernel_stand_for_each_other),
		cmocka_unit_test(one_long_run_in_a_shape_of_its_own_makes_nobody_slow),
		cmocka_unit_test(who_is_hardly_slow_beside_a_slow_one_is_no_culprit),
		cmocka_unit_test(one_long_run_makes_nobody_slow),
		cmocka_unit_test(a_damaged_trace_does_not_make_its_worker_slow),
		cmocka_unit_test(stages_are_compared_apart),
		cmocka_unit_test(differences_of_waiting_alone_are_no_evidence),
		cmocka_unit_test(a_device_that_is_idle_tells_a_slow_host),
		cmocka_unit_test(two_workers_or_none_are_too_few),
		cmocka_unit_test(scores_are_weighted_by_time),
		cmocka_unit_test(scores_of_two_real_ranks_are_those_of_the_reference),
		cmocka_unit_test(short_memory_fails_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
