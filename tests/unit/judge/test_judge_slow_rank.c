/*
 * Slow ranks among ranks that do the same work; a rank that is late because of another is not one.
 */
#include "unit/ascend/small_capture.h"

#include <omp.h>

enum { COLLECTIVES = 6 };
static const double EVERY_MS = 100.0, TRANSFER_MS = 0.02;

/*
 * Steps of COLLECTIVES collectives of all ranks, one every 100 ms. Each rank comes delay_ms[r] (and
 * a little noise) behind; all end when the last has come.
 */
static void add_collectives(struct small_capture *small, int64_t n_steps, const double *delay_ms)
{
	size_t n = small->profile.n_ranks;
	uint32_t noise = 1;
	for (int64_t i = 0; i < n_steps * COLLECTIVES; i++) {
		char name[64];
		double come_ms[64], last_ms = 0.0;
		(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", (int)i);
		for (size_t r = 0; r < n; r++) {
			noise = noise * 1664525U + 1013904223U;
			come_ms[r] = delay_ms[r] + 0.2 * (double)(noise >> 8) / (double)(1U << 24);
			last_ms = fmax(last_ms, come_ms[r]);
		}
		for (size_t r = 0; r < n; r++) {
			small_comm(small, r, i / COLLECTIVES, name, "586",
				   EVERY_MS * (double)i + come_ms[r],
				   last_ms - come_ms[r] + TRANSFER_MS);
		}
	}
}

/* Steps of 600 ms: the rank computes 400 ms and @more_ms, is free 100 ms and @free_ms, waits for
 * the rest. */
static void add_steps(struct small_capture *small, size_t r, int64_t n_steps, double more_ms,
		      double free_ms)
{
	for (int64_t step = 0; step < n_steps; step++) {
		small_step(small, r, step, 400.0 + more_ms, 100.0 - more_ms - free_ms,
			   100.0 + free_ms);
	}
}

static void begin(struct small_capture *small, size_t n_ranks, int64_t n_steps, size_t slow,
		  double more_ms, double free_ms)
{
	double delay_ms[64] = {0.0};
	small_begin(small, n_ranks);
	if (slow < n_ranks) {
		delay_ms[slow] = (more_ms + free_ms) / COLLECTIVES;
	}
	add_collectives(small, n_steps, delay_ms);
	for (size_t r = 0; r < n_ranks; r++) {
		add_steps(small, r, n_steps, r == slow ? more_ms : 0.0, r == slow ? free_ms : 0.0);
	}
}

static void a_rank_that_computes_longer_is_named_with_what_it_costs(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 8, 1, 5, 60.0, 0.0);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "slow_rank_compute", 5);
	assert_non_null(finding);
	assert_true(finding->gain_ms > 58.0 && finding->gain_ms < 61.0);
	assert_near(small_fact(finding, "computing_more"), 60.0, 0.01);
	assert_near(small_fact(finding, "together"), 60.0, 1.0);
	small_end(&small);
}

static void a_rank_whose_host_is_slow_is_named_for_its_free_time(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 8, 1, 2, 0.0, 48.0);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "slow_rank_host", 2));
	small_end(&small);
}

/* Devices that are alike differ by 1.5 %, and of four no test finds an outlier in that. */
static void one_of_four_that_computes_a_quarter_longer_is_named(void **state)
{
	(void)state;
	struct small_capture small;
	double delay_ms[4] = {0.0};
	small_begin(&small, 4);
	add_collectives(&small, 1, delay_ms);
	for (size_t r = 0; r < 4; r++) {
		static const double more_ms[4] = {0.0, 2.0, -4.0, 66.0};
		add_steps(&small, r, 1, more_ms[r], 0.0);
		small.profile.ranks[r].comms[0].begin_ns += r == 3 ? small_ns(66.0) : 0;
		small.profile.ranks[r].comms[0].elapse_ns += r == 3 ? 0 : small_ns(66.0);
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "slow_rank_compute", 3));
	small_end(&small);
}

/* Calls of one kernel on a rank, 4 ms each unless it is slower. */
static void add_kernels(struct small_capture *small, size_t r, int64_t count, double call_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->kernels, rank->kernels_capacity, 1, NULL), FSL_OK);
	rank->kernels[rank->n_kernels++] = (struct fsl_profile_kernels){
		.type_id = small_name(rank, "MatMulV2"),
		.shape_id = small_name(rank, "4096,4096;4096,4096"),
		.core_id = small_name(rank, "AI_CORE"),
		.count = count,
		.total_ns = small_ns((double)count * call_ms),
	};
}

static void more_calls_of_the_same_kernels_are_more_work_and_no_slow_rank(void **state)
{
	(void)state;
	static const struct {
		int64_t count;
		double call_ms;
		const char *code;
	} cases[] = {{115, 4.0, "more_work"}, {100, 4.6, "slow_rank_compute"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_capture small;
		begin(&small, 8, 1, 5, 60.0, 0.0);
		for (size_t r = 0; r < 8; r++) {
			add_kernels(&small, r, r == 5 ? cases[i].count : 100,
				    r == 5 ? cases[i].call_ms : 4.0);
		}
		small_judge(&small, fsl_profile_judge_slow_rank);
		assert_int_equal(small.findings.n_items, 1);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, cases[i].code, 5);
		assert_non_null(finding);
		assert_true(finding->gain_ms > 58.0 && finding->gain_ms < 61.0);
		small_end(&small);
	}
}

static void kernels_of_other_shapes_tell_nothing_of_the_device(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 8, 1, 5, 60.0, 0.0);
	for (size_t r = 0; r < 8; r++) {
		add_kernels(&small, r, 20, 4.0); /* a fifth of what it computes */
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_non_null(small_finding(&small.findings, "slow_rank_compute", 5));
	small_end(&small);
}

/* Three steps of six collectives; rank 3 comes @late_ms late to the first of each step. */
static void begin_pauses(struct small_capture *small, double late_ms, double free_ms)
{
	static const double nobody_ms[8] = {0.0};
	small_begin(small, 8);
	add_collectives(small, 3, nobody_ms);
	for (size_t r = 0; r < 8; r++) {
		add_steps(small, r, 3, 0.0, r == 3 ? free_ms : 0.0);
		for (size_t i = 0; i < 3 * (size_t)COLLECTIVES; i += COLLECTIVES) {
			struct fsl_profile_comm *comm = &small->profile.ranks[r].comms[i];
			comm->begin_ns += r == 3 ? small_ns(late_ms) : 0;
			comm->elapse_ns += r == 3 ? 0 : small_ns(late_ms);
		}
	}
}

static void a_host_that_pauses_once_a_step_is_named_for_its_free_time(void **state)
{
	(void)state;
	struct small_capture small;
	begin_pauses(&small, 80.0, 80.0);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "slow_rank_host", 3);
	assert_non_null(finding);
	assert_true(finding->gain_ms > 79.0 && finding->gain_ms <= 80.01);
	small_end(&small);
}

static void free_time_that_nobody_waits_for_names_nobody(void **state)
{
	(void)state;
	struct small_capture small;
	begin_pauses(&small, 0.0, 80.0);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void one_of_two_ranks_is_named_when_it_is_always_last(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 2, 2, 1, 0.0, 60.0); /* 12 collectives */
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "slow_rank_host", 1));
	small_end(&small);
}

static void little_lateness_all_the_time_is_told_as_that(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 3, 2, 0, 0.0, 12.0);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "consistently_late", 0);
	assert_non_null(finding);
	assert_true(finding->gain_ms > 11.0 && finding->gain_ms <= 12.01);
	assert_non_null(strstr(finding->what, "slightly but consistently late"));
	small_end(&small);
}

static void equal_ranks_are_not_named(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 2, 3, 4, 8, 64};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct small_capture small;
		begin(&small, sizes[i], 3, SIZE_MAX, 0.0, 0.0);
		small_judge(&small, fsl_profile_judge_slow_rank);
		assert_int_equal(small.findings.n_items, 0);
		assert_int_equal(small.findings.n_missing, sizes[i] == 1 ? 1 : 0);
		small_end(&small);
	}
}

/* Draws of an exponential distribution with mean 1. */
static double draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return -log(((double)(*seed >> 11) + 0.5) / 9007199254740992.0);
}

/* A step of collectives to which healthy ranks come with delays that have a long tail. */
static void begin_noisy(struct small_capture *small, size_t n_ranks, double mean_ms, uint64_t *seed)
{
	double come_ms[64], sum_ms[64] = {0.0};
	small_begin(small, n_ranks);
	for (int i = 0; i < COLLECTIVES; i++) {
		char name[64];
		double last_ms = 0.0;
		(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", i);
		for (size_t r = 0; r < n_ranks; r++) {
			come_ms[r] = mean_ms * draw(seed);
			sum_ms[r] += come_ms[r];
			last_ms = fmax(last_ms, come_ms[r]);
		}
		for (size_t r = 0; r < n_ranks; r++) {
			small_comm(small, r, 0, name, "586", EVERY_MS * i + come_ms[r],
				   last_ms - come_ms[r] + TRANSFER_MS);
		}
	}
	for (size_t r = 0; r < n_ranks; r++) {
		add_steps(small, r, 1, 0.5 * draw(seed), sum_ms[r]);
	}
}

static void noise_with_a_long_tail_names_hardly_anybody(void **state)
{
	(void)state;
	static const size_t sizes[] = {2, 3, 4, 8, 32, 64};
	enum { TRIALS = 200 };
	uint64_t seed = 11;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n_slow = 0, n_late = 0;
		for (int t = 0; t < TRIALS; t++) {
			struct small_capture small;
			begin_noisy(&small, sizes[i], 2.0, &seed);
			small_judge(&small, fsl_profile_judge_slow_rank);
			for (size_t f = 0; f < small.findings.n_items; f++) {
				const char *code = fsl_code_text(small.findings.items[f].code);
				n_slow += strncmp(code, "slow_rank", 9) == 0 ? 1 : 0;
				n_late += strcmp(code, "consistently_late") == 0 ? 1 : 0;
			}
			small_end(&small);
		}
		print_message("%zu ranks: %zu slow, %zu late of %d\n", sizes[i], n_slow, n_late,
			      (int)TRIALS);
		assert_true(n_slow <= TRIALS / 50);
		assert_true(n_late <= TRIALS / 50);
	}
}

static void one_early_rank_gets_nobody_named(void **state)
{
	(void)state;
	struct small_capture small;
	double delay_ms[64];
	small_begin(&small, 64);
	for (size_t r = 0; r < 64; r++) {
		delay_ms[r] = r == 9 ? 0.0 : 50.0;
		add_steps(&small, r, 1, 0.0, r == 9 ? -50.0 : 0.0);
	}
	add_collectives(&small, 1, delay_ms);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void a_rank_that_is_late_without_own_time_is_not_told(void **state)
{
	(void)state;
	struct small_capture small;
	double delay_ms[4] = {0.0, 10.0, 0.0, 0.0};
	small_begin(&small, 4);
	add_collectives(&small, 1, delay_ms);
	for (size_t r = 0; r < 4; r++) {
		add_steps(&small, r, 1, 0.0, 0.0);
		small_comm(&small, r, 0, "hcom_receive__777_1_1", "777", 5.0, r == 1 ? 70.0 : 5.0);
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

/* Late to six collectives by the same 10 ms, of which nobody is exposed to more than 10 ms. */
static void lateness_beside_kernels_counts_once(void **state)
{
	(void)state;
	struct small_capture small;
	double delay_ms[4] = {0.0, 10.0, 0.0, 0.0};
	small_begin(&small, 4);
	add_collectives(&small, 1, delay_ms);
	for (size_t r = 0; r < 4; r++) {
		small_step(&small, r, 0, 490.0, r == 1 ? 2.0 : 10.0, r == 1 ? 108.0 : 100.0);
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_null(small_finding(&small.findings, "slow_rank_host", 1));
	/* It is free 8 ms longer than the others, which few ranks may be by chance. */
	assert_null(small_finding(&small.findings, "consistently_late", 1));
	small_end(&small);
}

/* Expects that no rank of two stages is named although the second stage computes for longer. */
static void expect_nobody_of_two_stages(size_t n_ranks, double *delay_ms)
{
	struct small_capture small;
	small_begin(&small, n_ranks);
	small_stages(&small, 2);
	add_collectives(&small, 2, delay_ms);
	for (size_t r = 0; r < n_ranks; r++) {
		add_steps(&small, r, 2, r < n_ranks / 2 ? 0.0 : 90.0, 0.0);
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

/* Always last of its stage, by little; the other stage was there long before. */
static void a_rank_of_a_longer_stage_is_no_victim_of_its_stage(void **state)
{
	(void)state;
	double delay_ms[8] = {0.0, 0.0, 0.0, 0.0, 60.0, 60.0, 60.5, 60.0};
	expect_nobody_of_two_stages(8, delay_ms);
}

static void ranks_of_a_longer_stage_are_not_slow(void **state)
{
	(void)state;
	double delay_ms[4] = {0.0, 0.0, 20.0, 20.0};
	expect_nobody_of_two_stages(4, delay_ms);
}

/* Two halves of the job come to each collective at the same times. */
static void collectives_to_which_nobody_came_last_are_not_missing(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		small_comm(&small, r, 0, "hcom_allReduce__586_0_1", "586", 5.0 * (double)(r % 2),
			   20.0 - 5.0 * (double)(r % 2));
		add_steps(&small, r, 1, 0.0, 0.0);
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	assert_int_equal(small.findings.n_missing, 0);
	small_end(&small);
}

static void without_collectives_compute_time_alone_is_judged(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		add_steps(&small, r, 2, r == 3 ? 80.0 : 0.1 * (double)r, 0.0);
	}
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_non_null(small_finding(&small.findings, "slow_rank_compute", 3));
	assert_int_equal(small.findings.n_items, 1);
	assert_int_equal(small.findings.n_missing, 1);
	assert_non_null(strstr(small.findings.missing[0], "communication.json"));
	small_end(&small);
}

static void two_ranks_without_a_collective_need_not_do_the_same(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_steps(&small, 0, 1, 90.0, 0.0);
	add_steps(&small, 1, 1, 0.0, 0.0);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void a_set_without_anything_is_no_failure(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	small_judge(&small, fsl_profile_judge_slow_rank);
	assert_int_equal(small.findings.n_items, 0);
	assert_int_equal(small.findings.n_missing, 1);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_computes_longer_is_named_with_what_it_costs),
		cmocka_unit_test(a_rank_whose_host_is_slow_is_named_for_its_free_time),
		cmocka_unit_test(one_of_two_ranks_is_named_when_it_is_always_last),
		cmocka_unit_test(little_lateness_all_the_time_is_told_as_that),
		cmocka_unit_test(equal_ranks_are_not_named),
		cmocka_unit_test(noise_with_a_long_tail_names_hardly_anybody),
		cmocka_unit_test(one_early_rank_gets_nobody_named),
		cmocka_unit_test(a_rank_that_is_late_without_own_time_is_not_told),
		cmocka_unit_test(lateness_beside_kernels_counts_once),
		cmocka_unit_test(more_calls_of_the_same_kernels_are_more_work_and_no_slow_rank),
		cmocka_unit_test(kernels_of_other_shapes_tell_nothing_of_the_device),
		cmocka_unit_test(one_of_four_that_computes_a_quarter_longer_is_named),
		cmocka_unit_test(a_rank_of_a_longer_stage_is_no_victim_of_its_stage),
		cmocka_unit_test(a_host_that_pauses_once_a_step_is_named_for_its_free_time),
		cmocka_unit_test(free_time_that_nobody_waits_for_names_nobody),
		cmocka_unit_test(ranks_of_a_longer_stage_are_not_slow),
		cmocka_unit_test(collectives_to_which_nobody_came_last_are_not_missing),
		cmocka_unit_test(without_collectives_compute_time_alone_is_judged),
		cmocka_unit_test(two_ranks_without_a_collective_need_not_do_the_same),
		cmocka_unit_test(a_set_without_anything_is_no_failure),
	};
	omp_set_num_threads(1); /* hundreds of small jobs: threads would wait for each other */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
