/* Steps judged one by one: findings of every step, and findings of single steps. */
#include "unit/ascend/small_capture.h"

#include <stdlib.h>

#include <omp.h>

#include "judge/by_step.h"
#include "judge/conclude.h"

enum { COLLECTIVES = 6, RANKS = 8 };
static const double EVERY_MS = 100.0, TRANSFER_MS = 0.02;

/* How much longer a rank computes in a step, and how much longer it is free, ms. */
struct excess {
	size_t r;
	int64_t step; /* -1: each */
	double computing_ms, free_ms;
};

static struct excess excess_of(const struct excess *list, size_t n, size_t r, int64_t step)
{
	struct excess sum = {r, step, 0.0, 0.0};
	for (size_t i = 0; i < n; i++) {
		if (list[i].r == r && (list[i].step == step || list[i].step == -1)) {
			sum.computing_ms += list[i].computing_ms;
			sum.free_ms += list[i].free_ms;
		}
	}
	return sum;
}

/* A step of 600 ms with COLLECTIVES collectives of ranks [first, end); those with more to do come
 * later, all end together. @number: what the step is called. */
static void add_step(struct small_capture *small, size_t first, size_t end, int64_t step,
		     int64_t number, const struct excess *list, size_t n)
{
	uint32_t noise = (uint32_t)step + 1;
	for (int64_t i = step * COLLECTIVES; i < (step + 1) * COLLECTIVES; i++) {
		char name[64];
		double come_ms[64], last_ms = 0.0;
		(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", (int)i);
		for (size_t r = first; r < end; r++) {
			struct excess own = excess_of(list, n, r, step);
			noise = noise * 1664525U + 1013904223U;
			come_ms[r] = (own.computing_ms + own.free_ms) / COLLECTIVES +
				     0.2 * (double)(noise >> 8) / (double)(1U << 24);
			last_ms = fmax(last_ms, come_ms[r]);
		}
		for (size_t r = first; r < end; r++) {
			small_comm(small, r, number, name, "586", EVERY_MS * (double)i + come_ms[r],
				   last_ms - come_ms[r] + TRANSFER_MS);
		}
	}
	for (size_t r = first; r < end; r++) {
		struct excess own = excess_of(list, n, r, step);
		small_step(small, r, number, 500.0 + own.computing_ms + 0.01 * (double)r,
			   90.0 - own.computing_ms - own.free_ms, 10.0 + own.free_ms);
	}
}

static void set_steps(struct small_capture *small, int64_t first, size_t n)
{
	struct fsl_profile_cluster *cluster = &small->cluster;
	cluster->steps = fsl_arena_alloc(&cluster->arena, n * sizeof(*cluster->steps));
	assert_non_null(cluster->steps);
	for (size_t s = 0; s < n; s++) {
		cluster->steps[s] = first + (int64_t)s;
	}
	cluster->n_steps = n;
}

/* Steps 0 to n_steps - 1 on all ranks. */
static void begin(struct small_capture *small, size_t n_steps, const struct excess *list, size_t n)
{
	small_begin(small, RANKS);
	for (size_t s = 0; s < n_steps; s++) {
		add_step(small, 0, RANKS, (int64_t)s, (int64_t)s, list, n);
	}
	(void)small_group(small, "586", "dp", false, 0, RANKS, RANKS);
	set_steps(small, 0, n_steps);
}

/* Steps of 600 ms; what links cost is not replayed. */
static void begin_without_operators(struct small_capture *small, size_t n_steps)
{
	small_begin(small, RANKS);
	for (size_t s = 0; s < n_steps; s++) {
		for (size_t r = 0; r < RANKS; r++) {
			small_step(small, r, (int64_t)s, 500.0, 90.0, 10.0);
		}
	}
	(void)small_group(small, "586", "dp", false, 0, RANKS, RANKS);
	set_steps(small, 0, n_steps);
}

static struct fsl_profile_case case_of(const struct small_capture *small)
{
	return (struct fsl_profile_case){
		.profile = &small->profile, .cluster = &small->cluster, .n_threads = 1};
}

static void judge_all(struct small_capture *small)
{
	struct fsl_error err = {0};
	const struct fsl_profile_case facts = case_of(small);
	assert_int_equal(judge_whole(&small->findings, &facts, &err), FSL_OK);
}

static void conclude(struct small_capture *small, struct fsl_localisation *verdict)
{
	struct fsl_error err = {0};
	const struct fsl_profile_case facts = case_of(small);
	fsl_localisation_init(verdict);
	assert_int_equal(fsl_profile_conclude(verdict, &facts, &small->findings, &err), FSL_OK);
}

static size_t count_of_steps(const struct small_capture *small)
{
	size_t n = 0;
	for (size_t i = 0; i < small->findings.n_items; i++) {
		const struct fsl_profile_finding *item = &small->findings.items[i];
		n += item->step != FSL_STEP_ABSENT && item->n_steps > 0 ? 1 : 0;
	}
	return n;
}

static void a_rank_that_is_slow_in_every_step_is_told_so(void **state)
{
	(void)state;
	static const struct excess slow[] = {{3, -1, 60.0, 0.0}};
	struct small_capture small;
	struct fsl_localisation verdict;
	begin(&small, 4, slow, 1);
	judge_all(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "slow_rank_compute", 3);
	assert_non_null(finding);
	assert_int_equal(finding->step, FSL_STEP_ABSENT);
	assert_int_equal(finding->n_seen_steps, 4);
	assert_int_equal(finding->n_steps, 4);
	assert_non_null(strstr(finding->what, "; seen in each of the 4 steps"));
	assert_int_equal(count_of_steps(&small), 0);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_SLOW_RANK);
	assert_near(verdict.confidence, 0.9, 1e-9);
	assert_int_equal(verdict.culprits[0].onset_step, -1);
	char *text = small_text(&small, &verdict, 1000);
	assert_null(strstr(text, "of 4 steps"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_rank_that_is_slow_in_one_of_six_steps_is_a_remark(void **state)
{
	(void)state;
	static const struct excess slow[] = {{5, 2, 80.0, 0.0}};
	struct small_capture small;
	struct fsl_localisation verdict;
	begin(&small, 6, slow, 1);
	judge_all(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "slow_rank_compute", 5);
	assert_non_null(finding);
	assert_int_equal(finding->step, 2);
	assert_int_equal(finding->n_seen_steps, 1);
	assert_int_equal(finding->seen_steps[0], 2);
	assert_int_equal(finding->n_steps, 6);
	/* Noise of up to 0.2 ms before each of six collectives hides some of it. */
	assert_near(finding->gain_ms, 80.0 / 6.0, 0.2);
	assert_near(small_fact(finding, "gain_in_step"), 80.0, 1.0);
	assert_non_null(strstr(finding->what, "in step 2, one of 6: rank 5 holds its peers up"));
	assert_int_equal(count_of_steps(&small), 1);
	/* It is the reason for its lateness in the mean. */
	assert_null(small_finding(&small.findings, "consistently_late", -2));
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_NORMAL);
	assert_near(verdict.confidence, 0.7, 1e-9);
	assert_non_null(
		strstr(verdict.reason, "all the time; rank 5 was slow in 1 of 6 steps (2)"));
	assert_int_equal(verdict.n_unconfirmed, 1);
	assert_int_equal(verdict.unconfirmed[0].rank, 5);
	char *text = small_text(&small, &verdict, 1000);
	assert_non_null(strstr(text, "NORMAL: "));
	assert_non_null(strstr(text, "; rank 5 was slow in 1 of 6 steps (2)\n"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void
a_step_that_costs_the_whole_capture_enough_names_its_rank_with_less_confidence(void **state)
{
	(void)state;
	static const struct excess slow[] = {{5, 1, 0.0, 85.0}, {5, 2, 0.0, 85.0}};
	struct small_capture small;
	struct fsl_localisation verdict;
	begin(&small, 5, slow, 2);
	judge_all(&small);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(verdict.n_culprits, 1);
	assert_int_equal(verdict.culprits[0].rank, 5);
	assert_near(verdict.confidence, 0.5 + 0.4 * 2.0 / 5.0, 1e-9);
	assert_int_equal(verdict.culprits[0].onset_step, 1);
	assert_int_equal(verdict.culprits[0].until_step, 3);
	assert_non_null(strstr(verdict.reason, "seen in 2 of 5 steps (1, 2)"));
	char *text = small_text(&small, &verdict, 1000);
	assert_non_null(strstr(text, "; seen in 2 of 5 steps\n"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void different_ranks_in_different_steps_are_told_apart(void **state)
{
	(void)state;
	static const struct excess slow[] = {
		{2, 1, 70.0, 0.0}, {6, 4, 0.0, 60.0}, {6, 7, 0.0, 80.0}};
	struct small_capture small;
	struct fsl_localisation verdict;
	begin(&small, 8, slow, 3);
	judge_all(&small);
	const struct fsl_profile_finding *two =
		small_finding(&small.findings, "slow_rank_compute", 2);
	const struct fsl_profile_finding *six = small_finding(&small.findings, "slow_rank_host", 6);
	assert_non_null(two);
	assert_non_null(six);
	assert_int_equal(two->step, 1);
	assert_int_equal(six->step, 7);
	assert_near(six->gain_ms, 140.0 / 8.0, 0.3);
	assert_non_null(strstr(six->what, "in step 7, the worst of 2 in 8 steps (4, 7): rank 6"));
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_NORMAL);
	assert_non_null(strstr(verdict.reason, "rank 6 was slow in 2 of 8 steps (4, 7)"));
	assert_int_equal(verdict.n_unconfirmed, 2);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_rank_is_counted_in_the_steps_in_which_it_was_captured(void **state)
{
	(void)state;
	static const struct excess slow[] = {{6, 5, 80.0, 0.0}, {1, -1, 75.0, 0.0}};
	struct small_capture small;
	small_begin(&small, RANKS);
	for (int64_t s = 0; s < 9; s++) {
		add_step(&small, s <= 5 ? 0 : 4, s >= 3 ? RANKS : 4, s, s, slow, 2);
	}
	(void)small_group(&small, "586", "dp", false, 0, RANKS, RANKS);
	set_steps(&small, 0, 9);
	judge_all(&small);
	const struct fsl_profile_finding *late =
		small_finding(&small.findings, "slow_rank_compute", 6);
	assert_non_null(late);
	assert_int_equal(late->step, 5);
	assert_int_equal(late->n_steps, 6); /* of 9 */
	const struct fsl_profile_finding *slow_always =
		small_finding(&small.findings, "slow_rank_compute", 1);
	assert_non_null(slow_always);
	assert_int_equal(slow_always->step, FSL_STEP_ABSENT);
	assert_int_equal(slow_always->n_steps, 6);
	small_end(&small);
}

static void what_all_steps_prove_shows_in_steps_that_prove_nothing_alone(void **state)
{
	(void)state;
	static const struct excess slow[] = {{1, -1, 0.0, 60.0}};
	for (int64_t n_steps = 1; n_steps <= 3; n_steps += 2) {
		struct small_capture small;
		small_begin(&small, 2);
		for (int64_t s = 0; s < n_steps; s++) {
			add_step(&small, 0, 2, s, s, slow, 1);
		}
		set_steps(&small, 0, (size_t)n_steps);
		judge_all(&small);
		const struct fsl_profile_finding *finding =
			small_finding(&small.findings, "slow_rank_host", 1);
		assert_non_null(finding);
		assert_int_equal(finding->n_seen_steps, n_steps == 3 ? 3 : 0);
		assert_int_equal(count_of_steps(&small), 0);
		small_end(&small);
	}
}

/* Nothing is said of single steps. */
static void assert_not_by_step(struct small_capture *small)
{
	judge_all(small);
	assert_non_null(small_finding(&small->findings, "slow_rank_compute", 3));
	for (size_t i = 0; i < small->findings.n_items; i++) {
		assert_int_equal(small->findings.items[i].n_steps, 0);
		assert_null(strstr(small->findings.items[i].what, "seen in"));
	}
}

static void steps_without_numbers_are_not_judged_one_by_one(void **state)
{
	(void)state;
	static const struct excess slow[] = {{3, -1, 60.0, 0.0}};
	struct small_capture small;
	small_begin(&small, RANKS);
	for (int64_t s = 0; s < 3; s++) {
		add_step(&small, 0, RANKS, s, FSL_STEP_ABSENT, slow, 1);
	}
	set_steps(&small, FSL_STEP_ABSENT, 1);
	assert_not_by_step(&small);
	small_end(&small);
}

static void a_capture_of_one_step_is_judged_once(void **state)
{
	(void)state;
	static const struct excess slow[] = {{3, -1, 60.0, 0.0}};
	struct small_capture small;
	struct fsl_localisation verdict;
	begin(&small, 1, slow, 1);
	assert_not_by_step(&small);
	conclude(&small, &verdict);
	assert_near(verdict.confidence, 0.8, 1e-9);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

/* Links of all ranks to all others, for @n_steps steps; that of rank 2 to rank 4 moves @gb_per_s in
 * the first @n_slow of them. */
static void add_links(struct small_capture *small, int64_t n_steps, int64_t n_slow, double gb_per_s)
{
	for (int32_t r = 0; r < RANKS; r++) {
		for (int64_t s = 0; s < n_steps; s++) {
			small_link(small, (size_t)r, s, "allreduce-total", "586", r, r, 1.0, 1.0);
			for (int32_t to = 0; to < RANKS; to++) {
				bool is_slow = r == 2 && to == 4 && s < n_slow;
				double noise = 1.0 + 0.001 * (double)((r * 5 + to * 3) % 7);
				if (to != r) {
					small_link(small, (size_t)r, s, "allreduce-total", "586", r,
						   to, 3000.0,
						   noise * (is_slow ? gb_per_s : 100.0));
				}
			}
		}
	}
}

static void a_link_that_is_slow_in_three_of_ten_steps_is_told_with_them(void **state)
{
	(void)state;
	struct small_capture small;
	begin_without_operators(&small, 10);
	add_links(&small, 10, 3, 60.0);
	judge_all(&small);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "slow_link", 2);
	assert_non_null(finding);
	assert_int_equal(finding->peer, 4);
	assert_true(finding->step >= 0 && finding->step < 3);
	assert_int_equal(finding->n_seen_steps, 3);
	assert_int_equal(finding->n_steps, 10);
	assert_near(finding->gain_ms, 20.0 * 3.0 / 10.0, 0.3);
	assert_int_equal(count_of_steps(&small), 1);
	small_end(&small);
}

static void a_link_that_is_always_slow_is_seen_in_each_step(void **state)
{
	(void)state;
	struct small_capture small;
	begin_without_operators(&small, 5);
	add_links(&small, 5, 5, 60.0);
	judge_all(&small);
	const struct fsl_profile_finding *finding = small_finding(&small.findings, "slow_link", 2);
	assert_non_null(finding);
	assert_int_equal(finding->step, FSL_STEP_ABSENT);
	assert_int_equal(finding->n_seen_steps, 5);
	assert_int_equal(count_of_steps(&small), 0);
	small_end(&small);
}

static void a_host_that_pauses_in_one_step_is_bound_in_that_step(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, 10, NULL, 0);
	for (size_t r = 0; r < RANKS; r++) {
		/* All wait for the same storage. */
		small.profile.ranks[r].steps[7].free_ns += small_ns(300.0);
	}
	judge_all(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "host_bound", -2);
	assert_non_null(finding);
	assert_int_equal(finding->step, 7);
	assert_int_equal(finding->rank, -1);
	assert_near(finding->gain_ms, 31.0, 0.1);
	small_end(&small);
}

static void a_longer_stage_in_some_steps_is_no_verdict(void **state)
{
	(void)state;
	static const struct excess slow[] = {
		{4, 3, 90.0, 0.0}, {5, 3, 90.0, 0.0}, {6, 3, 90.0, 0.0}, {7, 3, 90.0, 0.0}};
	struct small_capture small;
	struct fsl_localisation verdict;
	begin(&small, 6, slow, 4);
	small_stages(&small, 2);
	judge_all(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "stage_imbalance", -1);
	assert_non_null(finding);
	assert_int_equal(finding->step, 3);
	conclude(&small, &verdict);
	assert_int_equal(verdict.kind, FSL_VERDICT_NORMAL);
	assert_non_null(
		strstr(verdict.reason, "a stage computed longer than the others in 1 of 6"));
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

/* Draws of an exponential distribution with mean 1. */
static double draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return -log(((double)(*seed >> 11) + 0.5) / 9007199254740992.0);
}

/* A step to whose collectives healthy ranks come with delays of @mean_ms that have a long tail. */
static void add_noisy_step(struct small_capture *small, int64_t step, double mean_ms,
			   uint64_t *seed)
{
	double come_ms[RANKS], sum_ms[RANKS] = {0.0};
	for (int64_t i = step * COLLECTIVES; i < (step + 1) * COLLECTIVES; i++) {
		char name[64];
		double last_ms = 0.0;
		(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", (int)i);
		for (size_t r = 0; r < RANKS; r++) {
			come_ms[r] = mean_ms * draw(seed);
			sum_ms[r] += come_ms[r];
			last_ms = fmax(last_ms, come_ms[r]);
		}
		for (size_t r = 0; r < RANKS; r++) {
			small_comm(small, r, step, name, "586", EVERY_MS * (double)i + come_ms[r],
				   last_ms - come_ms[r] + TRANSFER_MS);
		}
	}
	for (size_t r = 0; r < RANKS; r++) {
		small_step(small, r, step, 500.0 + 0.5 * draw(seed), 50.0, 10.0 + sum_ms[r]);
	}
}

static void many_looks_at_noise_with_a_long_tail_name_hardly_anybody(void **state)
{
	(void)state;
	enum { TRIALS = 150, STEPS = 10 };
	uint64_t seed = 5;
	size_t n_named = 0, n_of_steps = 0;
	for (int t = 0; t < TRIALS; t++) {
		struct small_capture small;
		small_begin(&small, RANKS);
		for (int64_t s = 0; s < STEPS; s++) {
			add_noisy_step(&small, s, 12.0, &seed);
		}
		set_steps(&small, 0, STEPS);
		judge_all(&small);
		for (size_t i = 0; i < small.findings.n_items; i++) {
			const char *code = fsl_code_text(small.findings.items[i].code);
			n_named += strncmp(code, "slow_rank", 9) == 0 ? 1 : 0;
		}
		n_of_steps += count_of_steps(&small);
		small_end(&small);
	}
	print_message("%zu named, %zu told of steps, of %d captures of %d steps\n", n_named,
		      n_of_steps, (int)TRIALS, (int)STEPS);
	assert_true(n_named <= TRIALS / 50);
}

static void of_very_many_steps_the_first_are_judged_and_that_is_told(void **state)
{
	(void)state;
	enum { STEPS = 520 };
	struct small_capture small;
	small_begin(&small, 2);
	for (int64_t s = 0; s < STEPS; s++) {
		for (size_t r = 0; r < 2; r++) {
			small_step(&small, r, s, 100.0, 1.0, 20.0);
		}
	}
	set_steps(&small, 0, STEPS);
	judge_all(&small);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "host_bound", -1);
	assert_non_null(finding);
	assert_int_equal(finding->n_steps, 512);
	assert_int_equal(finding->n_seen_steps, 512);
	bool is_told = false;
	for (size_t i = 0; i < small.findings.n_missing; i++) {
		is_told =
			is_told || strstr(small.findings.missing[i], "of 520 steps the first 512");
	}
	assert_true(is_told);
	small_end(&small);
}

static void memory_that_runs_out_at_any_point_is_a_failure_and_no_crash(void **state)
{
	(void)state;
	static const struct excess slow[] = {{3, -1, 60.0, 0.0}, {5, 1, 50.0, 0.0}};
	struct small_capture small;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t n = 0;
	begin(&small, 3, slow, 2);
	const struct fsl_profile_case facts = case_of(&small);
	while (status != FSL_OK) {
		struct fsl_error err = {0};
		fsl_profile_findings_fini(&small.findings);
		fsl_mem_fail_at(++n);
		status = judge_whole(&small.findings, &facts, &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_true(n > 100);
	assert_int_equal(count_of_steps(&small), 1);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_is_slow_in_every_step_is_told_so),
		cmocka_unit_test(a_rank_that_is_slow_in_one_of_six_steps_is_a_remark),
		cmocka_unit_test(
			a_step_that_costs_the_whole_capture_enough_names_its_rank_with_less_confidence),
		cmocka_unit_test(different_ranks_in_different_steps_are_told_apart),
		cmocka_unit_test(a_rank_is_counted_in_the_steps_in_which_it_was_captured),
		cmocka_unit_test(what_all_steps_prove_shows_in_steps_that_prove_nothing_alone),
		cmocka_unit_test(steps_without_numbers_are_not_judged_one_by_one),
		cmocka_unit_test(a_capture_of_one_step_is_judged_once),
		cmocka_unit_test(a_link_that_is_slow_in_three_of_ten_steps_is_told_with_them),
		cmocka_unit_test(a_link_that_is_always_slow_is_seen_in_each_step),
		cmocka_unit_test(a_host_that_pauses_in_one_step_is_bound_in_that_step),
		cmocka_unit_test(a_longer_stage_in_some_steps_is_no_verdict),
		cmocka_unit_test(many_looks_at_noise_with_a_long_tail_name_hardly_anybody),
		cmocka_unit_test(of_very_many_steps_the_first_are_judged_and_that_is_told),
		cmocka_unit_test(memory_that_runs_out_at_any_point_is_a_failure_and_no_crash),
	};
	omp_set_num_threads(1); /* many small jobs: threads would wait for each other */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
