/* Kernels compared with the same kernels of peers; AI CPUs, shapes, clocks, and the longest
 * kernels. */
#include "unit/ascend/small_capture.h"

#include "blame/kernel_peers.h"

static void small_kernel(struct small_capture *small, size_t r, int64_t step, const char *type,
			 const char *shape, const char *core, int64_t count, double total_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->kernels, rank->kernels_capacity, rank->n_kernels + 1, NULL),
			 FSL_OK);
	rank->kernels[rank->n_kernels++] = (struct fsl_profile_kernels){
		.step = step,
		.type_id = small_name(rank, type),
		.shape_id = shape != NULL ? small_name(rank, shape) : FSL_STR_NONE,
		.core_id = small_name(rank, core),
		.count = count,
		.total_ns = small_ns(total_ms),
	};
}

static void small_clock(struct small_capture *small, size_t r, int32_t mhz, double ms)
{
	struct fsl_profile_trace *trace = &small->profile.ranks[r].trace;
	trace->freqs_mhz[trace->n_freqs] = mhz;
	trace->freq_ns[trace->n_freqs++] = small_ns(ms);
}

static bool has_missing(const struct small_capture *small, const char *words)
{
	for (size_t i = 0; i < small->findings.n_missing; i++) {
		if (strstr(small->findings.missing[i], words) != NULL) {
			return true;
		}
	}
	return false;
}

/* Four ranks, two steps of 100 ms in two kernels; those of @slow take @factor as long. */
static void small_job(struct small_capture *small, size_t slow, double factor)
{
	small_begin(small, 4);
	for (size_t r = 0; r < 4; r++) {
		double own = r == slow ? factor : 1.0;
		for (int64_t step = 1; step <= 2; step++) {
			small_step(small, r, step, 100.0 * own, 0.0, 0.0);
			small_kernel(small, r, step, "MatMulV2", "8,8;8,8|FLOAT", "AI_CORE", 10,
				     60.0 * own);
			small_kernel(small, r, step, "Add", "8,8|FLOAT", "AI_VECTOR_CORE", 20,
				     40.0 * own);
		}
	}
}

static void kernels_that_take_longer_than_on_peers_are_told_in_ms_per_step(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 2, 1.2);
	small_judge(&small, fsl_profile_judge_compute);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "slow_kernels", -2);
	assert_non_null(finding);
	assert_int_equal(finding->rank, 2);
	assert_float_equal(finding->gain_ms, 20.0, 1e-9);
	assert_float_equal(small_fact(finding, "slow_ratio"), 1.2, 1e-9);
	assert_float_equal(small_fact(finding, "top_excess"), 12.0, 1e-9);
	assert_non_null(strstr(finding->what, "10 calls of MatMulV2 [8,8;8,8], 7200 us each "
					      "instead of 6000 us"));
	assert_null(small_finding(&small.findings, "slow_kernels", 0));
	small_end(&small);
}

static void one_slow_kernel_and_a_slow_device_have_different_remedies(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 2, 1.2);
	small_judge(&small, fsl_profile_judge_compute);
	assert_non_null(strstr(small_finding(&small.findings, "slow_kernels", 2)->advice,
			       "all kernels are slower"));
	small_end(&small);
	small_job(&small, 2, 1.0);
	for (size_t r = 0; r < 4; r++) {
		small_kernel(&small, r, 1, "Cast", "8|FLOAT", "AI_CORE", 1, r == 2 ? 20.0 : 5.0);
	}
	small_judge(&small, fsl_profile_judge_compute);
	assert_non_null(strstr(small_finding(&small.findings, "slow_kernels", 2)->advice,
			       "one kernel is slower"));
	small_end(&small);
}

/* Four ranks whose MatMulV3 has two shapes and a third that hardly counts. */
static void a_type_that_is_slow_in_all_its_shapes_is_no_slow_device(void **state)
{
	(void)state;
	const double factors[] = {1.3, 1.15};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		small_job(&small, 0, 1.0);
		for (size_t r = 0; r < 4; r++) {
			double own = r == 1 + i ? factors[i] : 1.0;
			small_kernel(&small, r, 1, "MatMulV3", "8,8|FLOAT", "AI_CORE", 4,
				     40.0 * own);
			small_kernel(&small, r, 2, "MatMulV3", "9,8|FLOAT", "AI_CORE", 4,
				     30.0 * own);
			small_kernel(&small, r, 2, "MatMulV3", "7|FLOAT", "AI_CORE", 4, 20.0 * own);
		}
		small_judge(&small, fsl_profile_judge_compute);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "slow_kernels", (int32_t)(1 + i));
		assert_non_null(finding);
		assert_non_null(strstr(finding->advice, "one type of operator is slower"));
		small_end(&small);
	}
}

static void a_difference_of_two_percent_is_usual(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 1, 1.019);
	small_judge(&small, fsl_profile_judge_compute);
	assert_null(small_finding(&small.findings, "slow_kernels", -2));
	small_end(&small);
}

static void kernels_that_hardly_count_are_not_told(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	for (size_t r = 0; r < 3; r++) {
		small_step(&small, r, 1, 10.0, 0.0, 90.0);
		small_kernel(&small, r, 1, "Add", "8|FLOAT", "AI_CORE", 2, r == 1 ? 2.4 : 2.0);
	}
	small_judge(&small, fsl_profile_judge_compute);
	assert_null(small_finding(&small.findings, "slow_kernels", -2));
	small_end(&small);
}

static void a_pair_is_compared_too(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t r = 0; r < 2; r++) {
		small_step(&small, r, 1, 10.0, 0.0, 0.0);
		small_kernel(&small, r, 1, "Add", NULL, "AI_CORE", 2, r == 1 ? 12.0 : 10.0);
	}
	small_judge(&small, fsl_profile_judge_compute);
	assert_non_null(small_finding(&small.findings, "slow_kernels", 1));
	assert_null(small_finding(&small.findings, "slow_kernels", 0));
	small_end(&small);
}

static void other_stages_and_other_shapes_are_no_peers(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		small_step(&small, r, 1, 10.0, 0.0, 0.0);
		small_kernel(&small, r, 1, "Add", r % 2 == 0 ? "8|FLOAT" : "16|FLOAT", "AI_CORE", 1,
			     10.0 * (double)(r + 1));
	}
	small_stages(&small, 2);
	small_judge(&small, fsl_profile_judge_compute);
	assert_null(small_finding(&small.findings, "slow_kernels", -2));
	assert_true(has_missing(&small, "ranks 0-3: whether kernels are slower"));
	small_end(&small);
}

static void more_calls_are_more_work_and_not_slower_kernels(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	for (size_t r = 0; r < 3; r++) {
		int64_t calls = r == 0 ? 20 : 10;
		small_step(&small, r, 1, (double)calls, 0.0, 0.0);
		small_kernel(&small, r, 1, "Add", "8|FLOAT", "AI_CORE", calls, (double)calls);
	}
	small_judge(&small, fsl_profile_judge_compute);
	assert_null(small_finding(&small.findings, "slow_kernels", -2));
	small_end(&small);
}

static void operators_on_ai_cpus_are_told(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 0, 1.0);
	small_kernel(&small, 3, 1, "IndexPut", "8|INT64", "AI_CPU", 4, 16.0);
	small_judge(&small, fsl_profile_judge_compute);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "ai_cpu", -1);
	assert_non_null(finding);
	assert_float_equal(finding->gain_ms, 2.0, 1e-9); /* of 4 ranks and 2 steps */
	assert_non_null(strstr(finding->what, "IndexPut"));
	small_end(&small);
}

static void what_takes_most_comes_first(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 0, 1.0);
	small_judge(&small, fsl_profile_judge_compute);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "top_operators", -1);
	assert_non_null(finding);
	assert_non_null(strstr(finding->what, "MatMulV2 60 %, Add 40 %"));
	assert_float_equal(small_fact(finding, "first"), 0.6, 1e-9);
	assert_true(isnan(finding->gain_ms));
	small_end(&small);
}

static void a_name_with_templates_is_told_by_its_begin(void **state)
{
	(void)state;
	static const struct {
		const char *name, *told;
	} rows[] = {
		{"void elementwise_kernel<4, long_template_argument>(int, float)",
		 " elementwise_kernel 100 %"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::Add>(int)",
		 " at::native::vectorized_e... 100 %"},
		{"a_name_of_more_than_forty_bytes_is_cut_off",
		 " a_name_of_more_than_fort... 100 %"},
		{"MatMulV2", " MatMulV2 100 %"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 1, 10.0, 0.0, 0.0);
		small_kernel(&small, 0, 1, rows[i].name, "8|FLOAT", "AI_CORE", 5, 10.0);
		small_judge(&small, fsl_profile_judge_compute);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "top_operators", -1);
		assert_non_null(finding);
		assert_non_null(strstr(finding->what, rows[i].told));
		small_end(&small);
	}
}

static void shapes_that_no_other_step_has_are_dynamic(void **state)
{
	(void)state;
	for (int64_t n_steps = 2; n_steps <= 4; n_steps += 2) {
		struct small_capture small;
		small_begin(&small, 1);
		for (int64_t step = 1; step <= n_steps; step++) {
			char shape[32];
			(void)snprintf(shape, sizeof(shape), "%d,8|FLOAT", (int)step);
			small_step(&small, 0, step, 10.0, 0.0, 0.0);
			small_kernel(&small, 0, step, "MatMulV2", shape, "AI_CORE", 5, 10.0);
		}
		small_judge(&small, fsl_profile_judge_compute);
		/* Two steps are too few to tell. */
		assert_int_equal(small_finding(&small.findings, "dynamic_shapes", -1) != NULL,
				 n_steps > 2);
		small_end(&small);
	}
}

static void statistics_serve_where_kernels_are_not_told(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	struct fsl_profile_rank *rank = &small.profile.ranks[0];
	small_step(&small, 0, 1, 10.0, 0.0, 0.0);
	assert_int_equal(FSL_GROW(rank->op_statistics, rank->op_statistics_capacity, 1, NULL),
			 FSL_OK);
	rank->op_statistics[rank->n_op_statistics++] =
		(struct fsl_profile_statistic){.name_id = small_name(rank, "Conv2D"),
					       .kind_id = small_name(rank, "AI_CORE"),
					       .count = 3,
					       .total_ns = small_ns(9.0)};
	small_judge(&small, fsl_profile_judge_compute);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "top_operators", -1);
	assert_non_null(finding);
	assert_non_null(strstr(finding->what, "Conv2D 100 %"));
	small_end(&small);
}

/* An excerpt of 1 ms and a table of sums over all, of two ranks and sizes. */
static void sums_win_over_an_excerpt_of_the_kernels(void **state)
{
	(void)state;
	const double whole_ms[] = {9.0, 640.0};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		small_begin(&small, 1);
		struct fsl_profile_rank *rank = &small.profile.ranks[0];
		small_step(&small, 0, 1, whole_ms[i], 0.0, 1.0);
		small_kernel(&small, 0, 1, "Cast", NULL, "AI_CORE", 7, 1.0);
		assert_int_equal(
			FSL_GROW(rank->op_statistics, rank->op_statistics_capacity, 1, NULL),
			FSL_OK);
		rank->op_statistics[rank->n_op_statistics++] =
			(struct fsl_profile_statistic){.name_id = small_name(rank, "MatMulV2"),
						       .kind_id = small_name(rank, "AI_CORE"),
						       .count = 3,
						       .total_ns = small_ns(whole_ms[i])};
		small_judge(&small, fsl_profile_judge_compute);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "top_operators", -1);
		assert_non_null(strstr(finding->what, "MatMulV2 100 %"));
		assert_true(has_missing(&small, "single kernels and the gaps"));
		small_end(&small);
	}
}

static void the_unit_that_bounds_a_type_is_told(void **state)
{
	(void)state;
	static const struct {
		enum fsl_profile_pipe pipe;
		double share;
		const char *told, *advice;
	} cases[] = {
		{FSL_PIPE_SCALAR, 0.999, "Conv2D 100 % (scalar 100 %)", "scalar work"},
		{FSL_PIPE_READ, 0.81, "Conv2D 100 % (reading 81 %)", "reading memory"},
		{FSL_PIPE_READ, 0.7, "Conv2D 100 %", "tune, fuse"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		small_begin(&small, 1);
		small_step(&small, 0, 1, 10.0, 0.0, 0.0);
		small_kernel(&small, 0, 1, "Conv2D", NULL, "AI_CORE", 3, 10.0);
		small.profile.ranks[0].kernels[0].pipe_ns[cases[i].pipe] =
			(float)(1e7 * cases[i].share);
		small_judge(&small, fsl_profile_judge_compute);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "top_operators", -1);
		assert_non_null(strstr(finding->what, cases[i].told));
		assert_int_equal(strstr(finding->what, "(") != NULL, i < 2);
		assert_non_null(strstr(finding->advice, cases[i].advice));
		small_end(&small);
	}
}

/* Other types ask for all cores: @n_types of them for @n_cores. */
static void small_blocks(struct small_capture *small, int64_t n_blocks, int64_t n_cores,
			 int n_types)
{
	static const char *const others[] = {"Add", "Mul", "Cast"};
	small_begin(small, 1);
	small_step(small, 0, 1, 10.0, 0.0, 0.0);
	small_kernel(small, 0, 1, "ArgMaxV2", NULL, "AI_VECTOR_CORE", 3, 7.0);
	small_kernel(small, 0, 1, "Sort", NULL, "AI_CORE", 1, 0.1);
	for (int i = 0; i < n_types; i++) {
		small_kernel(small, 0, 1, others[i], NULL, "AI_VECTOR_CORE", 3, 1.0);
	}
	struct fsl_profile_kernels *kernels = small->profile.ranks[0].kernels;
	kernels[0].n_blocks = n_blocks;
	kernels[1].n_blocks = 1000;
	for (int i = 0; i < n_types; i++) {
		kernels[2 + i].n_blocks = n_cores;
	}
}

static void a_type_on_few_of_the_cores_that_others_use_is_told(void **state)
{
	(void)state;
	static const struct {
		int64_t n_blocks, n_cores;
		int n_types;
		const char *told, *advice;
	} cases[] = {
		{5, 40, 3, "ArgMaxV2 69 % (5 of 40 cores)", "few of the device's cores"},
		{24, 48, 3, "ArgMaxV2 69 % (24 of 48 cores)", "few of the device's cores"},
		{32, 48, 3, "ArgMaxV2 69 %,", "tune, fuse"},
		{256, 48, 3, "ArgMaxV2 69 %,", "tune, fuse"},
		{5, 40, 2, "ArgMaxV2 77 %,", "tune, fuse"}, /* nobody knows the device's */
		{0, 40, 3, "ArgMaxV2 69 %,", "tune, fuse"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		small_blocks(&small, cases[i].n_blocks, cases[i].n_cores, cases[i].n_types);
		small_judge(&small, fsl_profile_judge_compute);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "top_operators", -1);
		assert_non_null(strstr(finding->what, cases[i].told));
		assert_non_null(strstr(finding->advice, cases[i].advice));
		small_end(&small);
	}
}

static void a_capture_without_kernels_says_what_it_lacks(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	small_step(&small, 0, 1, 10.0, 0.0, 0.0);
	small_judge(&small, fsl_profile_judge_compute);
	assert_int_equal(small.findings.n_items, 0);
	assert_true(has_missing(&small, "which operators take the time"));
	small_end(&small);
}

static void a_device_below_the_clock_of_the_others_is_told(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 3);
	for (size_t r = 0; r < 3; r++) {
		small_step(&small, r, 1, 100.0, 0.0, 0.0);
		small_clock(&small, r, 800, 50.0); /* idle */
	}
	small_clock(&small, 0, 1800, 50.0);
	small_clock(&small, 1, 1350, 50.0);
	small_judge(&small, fsl_profile_judge_frequency);
	assert_int_equal(small.findings.n_items, 2);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "core_frequency", 1);
	assert_non_null(finding);
	assert_float_equal(finding->gain_ms, 25.0, 1e-9);
	const struct fsl_profile_finding *clock = small_finding(&small.findings, "core_clock", -1);
	assert_non_null(clock);
	assert_string_equal(clock->what, "while they work, the cores of 2 ranks have clocks of "
					 "1350 MHz (rank 1) to 1800 MHz");
	assert_float_equal(small_fact(clock, "lowest"), 1350.0, 1e-9);
	/* Idle all along: no clock of work is known. */
	assert_true(has_missing(&small, "rank 2: at which clock"));
	small_end(&small);
}

/* Two collectives, and work of @ms of each rank between them; rank 1 has 3/4 of the clock. */
static double gain_of_rank_1(const double ms[3])
{
	struct small_capture small;
	double most_ms = fmax(fmax(ms[0], ms[1]), ms[2]);
	small_begin(&small, 3);
	small_group(&small, "483", "dp", false, 0, 3, 3);
	for (size_t r = 0; r < 3; r++) {
		double wait_ms = most_ms - ms[r];
		small_comm(&small, r, 1, "hcom_allReduce__483_0_1", "483", 0.0, 1.0);
		small_comm(&small, r, 1, "hcom_allReduce__483_1_1", "483", 1.0 + ms[r],
			   1.0 + wait_ms);
		small_step(&small, r, 1, ms[r], 2.0 + wait_ms, 0.0);
		small_clock(&small, r, r == 1 ? 1350 : 1800, ms[r]);
	}
	small_judge(&small, fsl_profile_judge_frequency);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "core_frequency", 1);
	assert_non_null(finding);
	double gain_ms = finding->gain_ms;
	small_end(&small);
	return gain_ms;
}

static void a_low_clock_costs_what_others_wait_for_it(void **state)
{
	(void)state;
	const double last[] = {60.0, 100.0, 70.0}, close[] = {90.0, 100.0, 70.0};
	const double waits[] = {100.0, 80.0, 70.0};
	assert_float_equal(gain_of_rank_1(last), 25.0, 0.1);
	assert_float_equal(gain_of_rank_1(close), 10.0, 0.1);
	assert_float_equal(gain_of_rank_1(waits), 0.0, 1e-9);
}

static void a_clock_that_falls_in_idle_time_is_no_finding(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	small_step(&small, 0, 1, 100.0, 0.0, 0.0);
	small_clock(&small, 0, 800, 70.0);
	small_clock(&small, 0, 1800, 30.0);
	small_judge(&small, fsl_profile_judge_frequency);
	assert_null(small_finding(&small.findings, "core_frequency", -2));
	assert_string_equal(small_finding(&small.findings, "core_clock", -1)->what,
			    "while they work, the cores of 1 rank have a clock of 1800 MHz");
	small_end(&small);
}

static void short_memory_is_an_error_and_nothing_is_lost(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 2, 1.2);
	small_kernel(&small, 3, 1, "IndexPut", "8|INT64", "AI_CPU", 4, 16.0);
	small_judge_short_of_memory(&small, fsl_profile_judge_compute);
	small_end(&small);
}

/* The longest run of MatMulV2 of rank @r in @step takes @ms, the others what they take on peers. */
static void small_long_run(struct small_capture *small, size_t r, int64_t step, double ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	struct fsl_profile_kernels *kernels = &rank->kernels[2 * (step - 1)];
	kernels->max_ns = small_ns(ms);
	kernels->total_ns = small_ns(54.0 + ms);
}

static void expect_long_runs(const struct small_capture *small, double ms)
{
	double ms_of[4];
	const struct fsl_kernels_job job = {.profile = &small->profile, .cluster = &small->cluster};
	assert_int_equal(fsl_kernel_peers_find_long_runs(ms_of, &job, NULL), FSL_OK);
	assert_float_equal(ms_of[2], ms, 1e-9);
	assert_float_equal(ms_of[1], 0.0, 1e-9);
}

static void single_long_runs_of_kernels_are_told_per_step(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 0, 1.0);
	small_long_run(&small, 2, 1, 16.0);
	expect_long_runs(&small, 5.0);
	small_long_run(&small, 2, 2, 12.0);
	expect_long_runs(&small, 8.0);
	small_long_run(&small, 2, 2, 8.0); /* no long run, as 1.4 times the usual is none */
	expect_long_runs(&small, 5.0);
	small_end(&small);
}

static void what_takes_most_runs_or_a_tenth_of_the_capture_is_no_chance(void **state)
{
	(void)state;
	struct small_capture small;
	small_job(&small, 2, 1.5);
	for (int64_t step = 1; step <= 2; step++) { /* all runs take as long */
		small.profile.ranks[2].kernels[2 * (step - 1)].max_ns = small_ns(12.0);
	}
	expect_long_runs(&small, 0.0);
	small_end(&small);
	small_job(&small, 0, 1.0);
	small_long_run(&small, 2, 1, 25.0);
	expect_long_runs(&small, 9.5);
	small_long_run(&small, 2, 1, 27.0);
	expect_long_runs(&small, 0.0);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_take_longer_than_on_peers_are_told_in_ms_per_step),
		cmocka_unit_test(one_slow_kernel_and_a_slow_device_have_different_remedies),
		cmocka_unit_test(a_type_that_is_slow_in_all_its_shapes_is_no_slow_device),
		cmocka_unit_test(a_difference_of_two_percent_is_usual),
		cmocka_unit_test(kernels_that_hardly_count_are_not_told),
		cmocka_unit_test(a_pair_is_compared_too),
		cmocka_unit_test(other_stages_and_other_shapes_are_no_peers),
		cmocka_unit_test(more_calls_are_more_work_and_not_slower_kernels),
		cmocka_unit_test(operators_on_ai_cpus_are_told),
		cmocka_unit_test(what_takes_most_comes_first),
		cmocka_unit_test(a_name_with_templates_is_told_by_its_begin),
		cmocka_unit_test(shapes_that_no_other_step_has_are_dynamic),
		cmocka_unit_test(statistics_serve_where_kernels_are_not_told),
		cmocka_unit_test(sums_win_over_an_excerpt_of_the_kernels),
		cmocka_unit_test(the_unit_that_bounds_a_type_is_told),
		cmocka_unit_test(a_type_on_few_of_the_cores_that_others_use_is_told),
		cmocka_unit_test(a_capture_without_kernels_says_what_it_lacks),
		cmocka_unit_test(a_device_below_the_clock_of_the_others_is_told),
		cmocka_unit_test(a_low_clock_costs_what_others_wait_for_it),
		cmocka_unit_test(a_clock_that_falls_in_idle_time_is_no_finding),
		cmocka_unit_test(short_memory_is_an_error_and_nothing_is_lost),
		cmocka_unit_test(single_long_runs_of_kernels_are_told_per_step),
		cmocka_unit_test(what_takes_most_runs_or_a_tenth_of_the_capture_is_no_chance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
