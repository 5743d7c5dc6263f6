/* Operator times to windows. */
#include <math.h>

#include "classical_bench.h"

#include "detect/kpi_series.h"

static double constant(int32_t rank, size_t i)
{
	(void)rank;
	(void)i;
	return 100.0;
}

static double rising(int32_t rank, size_t i)
{
	(void)rank;
	return 100.0 + (double)i;
}

/* A mean over windows of @during_s of "Op" on "g". */
static struct fsl_metric_config mean_of(const char *op_name, double during_s)
{
	return (struct fsl_metric_config){
		.name = op_name,
		.op_name = op_name,
		.during_s = during_s,
		.n_funcs = 1,
		.funcs = {{.agg = FSL_AGG_MEAN, .suffix = "mean"}},
	};
}

/* Steps of the job for metrics with during_steps. */
static const struct fsl_steps *bench_steps;

static size_t build(struct bench *bench, struct fsl_windows *out,
		    const struct fsl_metric_config *metric, double trim_head_share)
{
	static const int32_t ranks[] = {0, 1, 2, 3};
	uint32_t op_ids[4];
	size_t n_outside = 0;
	struct fsl_kpi_request request = {
		.run = &bench->run,
		.metric = metric,
		.op_ids = op_ids,
		.n_op_ids = fsl_kpi_op_ids(&bench->run, metric->op_name, op_ids, 4),
		.group_id = bench_name(bench, "g"),
		.ranks = ranks,
		.n_ranks = 4,
		.steps = bench_steps,
		.trim_head_share = trim_head_share,
	};
	assert_int_equal(fsl_kpi_build(out, &request, &n_outside, NULL), FSL_OK);
	return n_outside;
}

static void assert_near(double expected, double actual)
{
	if (!(fabs(expected - actual) < 1e-6)) {
		fail_msg("expected %.9g, got %.9g", expected, actual);
	}
}

static void the_share_at_the_start_is_left_out(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 19, rising);
	struct fsl_metric_config metric = mean_of("Op", 1000);
	assert_int_equal(build(&bench, &windows, &metric, 0.2), 0);
	/* int(0.2 * 19) = 3 are dropped: 103 .. 118 stay. */
	assert_int_equal(windows.n_windows, 1);
	assert_int_equal(windows.n_samples[0], 16);
	assert_near(110.5, windows.values[0]);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

static void a_hole_is_a_window_without_a_value(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 12, constant);
	struct fsl_rank *rank = &bench.run.ranks[0];
	memmove(&rank->ops[4], &rank->ops[8], 4 * sizeof(*rank->ops));
	rank->n_ops = 8;
	struct fsl_metric_config metric = mean_of("Op", 2);
	build(&bench, &windows, &metric, 0.0);
	assert_int_equal(windows.n_windows, 6);
	assert_near(100.0, windows.values[1]);
	assert_true(isnan(windows.values[2]) && isnan(windows.values[3]));
	assert_near(100.0, windows.values[4]);
	assert_int_equal(windows.n_samples[2], 0);
	assert_int_equal(windows.first_ns[2], FSL_NS_ABSENT);
	assert_int_equal(fsl_kpi_member_length(&windows, 0), 6);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

/* Eight operators, two a step; steps numbered 5 to 8 by the input, or told by time. */
static void windows_of_steps_hold_the_same_steps_of_the_job(void **state)
{
	(void)state;
	for (int is_numbered = 0; is_numbered < 2; is_numbered++) {
		struct bench bench;
		struct fsl_windows windows;
		struct fsl_job_step items[4];
		bench_init(&bench);
		bench_ops(&bench, 0, "g", "Op", 8, rising);
		struct fsl_op *ops = bench.run.ranks[0].ops;
		for (size_t s = 0; s < 4; s++) {
			items[s] = (struct fsl_job_step){
				.step = (int64_t)s + 5,
				.begin_ns = ops[2 * s].dev_begin_ns,
				.dur_ns = s < 3 ? ops[2 * s + 2].dev_begin_ns -
							  ops[2 * s].dev_begin_ns
						: 3600 * (int64_t)FSL_NS_PER_S};
			ops[2 * s].step = ops[2 * s + 1].step =
				is_numbered != 0 ? (int32_t)s + 5 : -1;
		}
		if (is_numbered != 0) {
			ops[7].step = 99; /* a step that the job does not have */
		}
		struct fsl_steps steps = {.items = items, .n_items = 4};
		struct fsl_metric_config metric = mean_of("Op", 1000);
		metric.during_steps = 2;
		bench_steps = &steps;
		assert_int_equal(build(&bench, &windows, &metric, 0.0), is_numbered);
		bench_steps = NULL;
		assert_int_equal(windows.kind, FSL_WINDOW_STEP);
		assert_int_equal(windows.n_windows, 2);
		assert_near(101.5, windows.values[0]);
		assert_near(is_numbered != 0 ? 105.0 : 105.5, windows.values[1]);
		fsl_windows_fini(&windows);
		bench_fini(&bench);
	}
}

static void every_rank_counts_from_its_own_first_operator(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 8, rising);
	bench_ops(&bench, 2, "g", "Op", 8, rising);
	for (size_t i = 0; i < 8; i++) {
		bench.run.ranks[1].ops[i].dev_begin_ns += 3600 * (int64_t)FSL_NS_PER_S;
		bench.run.ranks[1].ops[i].dev_end_ns += 3600 * (int64_t)FSL_NS_PER_S;
	}
	struct fsl_metric_config metric = mean_of("Op", 4);
	build(&bench, &windows, &metric, 0.0);
	assert_int_equal(windows.n_members, 2);
	assert_int_equal(windows.ranks[1], 2);
	assert_int_equal(windows.n_windows, 2);
	assert_near(windows.values[0], windows.values[2]);
	assert_near(windows.values[1], windows.values[3]);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

static void launch_is_the_distance_of_host_end_and_device_begin(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 2, constant);
	struct fsl_op *ops = bench.run.ranks[0].ops;
	/* The host returned after the device had begun. */
	ops[1].host_end_ns = ops[1].dev_begin_ns + 30 * FSL_NS_PER_MS;
	struct fsl_metric_config metric = mean_of("Op", 1);
	metric.is_launch = true;
	build(&bench, &windows, &metric, 0.0);
	assert_int_equal(windows.metric, FSL_METRIC_LAUNCH);
	assert_near(10.0, windows.values[0]);
	assert_near(30.0, windows.values[1]);
	assert_int_equal(windows.first_ns[1], ops[1].dev_begin_ns);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

static void operators_without_the_needed_times_do_not_count(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 4, constant);
	bench.run.ranks[0].ops[1].dev_end_ns = FSL_NS_ABSENT;
	bench.run.ranks[0].ops[2].dev_begin_ns = FSL_NS_ABSENT;
	struct fsl_metric_config metric = mean_of("Op", 1000);
	build(&bench, &windows, &metric, 0.0);
	assert_int_equal(windows.n_samples[0], 2);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

static void spellings_of_an_operator_are_one(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "HcclAllreduce", 4, constant);
	bench_ops(&bench, 0, "g", "HcclAllReduce", 4, constant);
	bench_ops(&bench, 0, "g", "HcclReduce", 4, constant);
	bench_ops(&bench, 0, "other", "HcclAllReduce", 4, constant);
	struct fsl_metric_config metric = mean_of("HcclAllReduce", 1000);
	build(&bench, &windows, &metric, 0.0);
	assert_int_equal(windows.n_samples[0], 8);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

static void without_samples_there_are_no_members(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 4, constant);
	struct fsl_metric_config metric = mean_of("Absent", 1);
	build(&bench, &windows, &metric, 0.2);
	assert_int_equal(windows.n_members, 0);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

/* A clock that jumps by years would ask for billions of windows. */
static void a_jumping_clock_costs_samples_not_memory(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows windows;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 10, constant);
	struct fsl_op *first = &bench.run.ranks[0].ops[0];
	first->dev_begin_ns = 1000;
	first->dev_end_ns = 2000;
	struct fsl_metric_config metric = mean_of("Op", 2);
	assert_int_equal(build(&bench, &windows, &metric, 0.0), 9);
	assert_int_equal(windows.n_windows, FSL_KPI_WINDOWS_MAX);
	assert_int_equal(fsl_kpi_member_length(&windows, 0), 1);
	fsl_windows_fini(&windows);
	bench_fini(&bench);
}

static void order_of_operators_changes_no_window(void **state)
{
	(void)state;
	struct bench bench;
	struct fsl_windows forward, backward;
	bench_init(&bench);
	bench_ops(&bench, 0, "g", "Op", 9, rising);
	struct fsl_metric_config metric = mean_of("Op", 3);
	build(&bench, &forward, &metric, 0.0);
	struct fsl_op *ops = bench.run.ranks[0].ops;
	for (size_t i = 0; i < 4; i++) {
		struct fsl_op kept = ops[i];
		ops[i] = ops[8 - i];
		ops[8 - i] = kept;
	}
	build(&bench, &backward, &metric, 0.0);
	assert_memory_equal(forward.values, backward.values, 3 * sizeof(double));
	fsl_windows_fini(&forward);
	fsl_windows_fini(&backward);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_share_at_the_start_is_left_out),
		cmocka_unit_test(a_hole_is_a_window_without_a_value),
		cmocka_unit_test(windows_of_steps_hold_the_same_steps_of_the_job),
		cmocka_unit_test(every_rank_counts_from_its_own_first_operator),
		cmocka_unit_test(launch_is_the_distance_of_host_end_and_device_begin),
		cmocka_unit_test(operators_without_the_needed_times_do_not_count),
		cmocka_unit_test(spellings_of_an_operator_are_one),
		cmocka_unit_test(without_samples_there_are_no_members),
		cmocka_unit_test(a_jumping_clock_costs_samples_not_memory),
		cmocka_unit_test(order_of_operators_changes_no_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
