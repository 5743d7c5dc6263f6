/* Rosner's test: no outlier in noise, none for a single high value, several low ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include <failslow/stats.h>

enum { RANKS_MAX = 1024 };
static const double LEAST_NS = 10000.0, ALPHA = 0.004;

static gsl_rng *random_numbers;

static int set_up(void **state)
{
	(void)state;
	random_numbers = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(random_numbers, 5);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gsl_rng_free(random_numbers);
	return 0;
}

static size_t vote_on(struct fsl_indexed *votes, const double *durations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		votes[i] = (struct fsl_indexed){durations[i], (uint32_t)i};
	}
	fsl_indexed_sort(votes, n);
	return fsl_outliers_low(votes, n, ALPHA, LEAST_NS, NULL);
}

/* Share of collectives with a vote. */
static double vote_rate(size_t n, size_t n_trials, double early_factor)
{
	struct fsl_indexed votes[RANKS_MAX];
	double durations[RANKS_MAX];
	size_t n_voted = 0;
	for (size_t t = 0; t < n_trials; t++) {
		for (size_t i = 0; i < n; i++) {
			durations[i] = 1e7 + gsl_ran_gaussian(random_numbers, 2e5);
		}
		durations[t % n] *= early_factor;
		n_voted += vote_on(votes, durations, n) > 0;
	}
	return (double)n_voted / (double)n_trials;
}

static void noise_gives_a_vote_in_less_than_one_of_a_hundred_collectives(void **state)
{
	(void)state;
	static const size_t sizes[] = {4, 5, 6, 7, 8, 12, 16, 32, 64, 128, 256, 1024};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double rate = vote_rate(sizes[i], sizes[i] < 100 ? 20000 : 2000, 1.0);
		print_message("%zu ranks: %.4f\n", sizes[i], rate);
		assert_true(rate < 0.01);
	}
}

static void one_early_rank_gets_nobody_named(void **state)
{
	(void)state;
	static const size_t sizes[] = {4, 5, 6, 8, 16, 101, 128, 256};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double rate = vote_rate(sizes[i], 4000, 1.7);
		print_message("%zu ranks: %.4f\n", sizes[i], rate);
		assert_true(rate < 0.01);
	}
}

static void late_ranks_do_not_hide_each_other(void **state)
{
	(void)state;
	struct fsl_indexed votes[RANKS_MAX];
	double durations[16];
	for (size_t i = 0; i < 16; i++) {
		durations[i] = 1e7 + gsl_ran_gaussian(random_numbers, 1e5);
	}
	durations[3] = 4e6;
	durations[7] = 5e6;
	durations[8] = 6e6;
	durations[2] = 3e7; /* early */
	assert_int_equal(vote_on(votes, durations, 16), 3);
	assert_int_equal(votes[0].idx, 3);
	assert_int_equal(votes[1].idx, 7);
	assert_int_equal(votes[2].idx, 8);
}

static void less_than_the_clock_can_tell_is_no_vote(void **state)
{
	(void)state;
	struct fsl_indexed votes[8];
	double durations[8] = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6 - 2000.0};
	assert_int_equal(vote_on(votes, durations, 8), 0);
	durations[7] = 0.5e6;
	assert_int_equal(vote_on(votes, durations, 8), 1);
}

static void equal_durations_and_tiny_groups_give_no_vote(void **state)
{
	(void)state;
	struct fsl_indexed votes[4];
	double durations[4] = {5.0, 5.0, 5.0, 5.0};
	for (size_t n = 0; n <= 4; n++) {
		assert_int_equal(vote_on(votes, durations, n), 0);
	}
	durations[1] = 1e-3;
	assert_int_equal(vote_on(votes, durations, 3), 0);
}

static void the_chance_that_is_told_is_that_of_noise(void **state)
{
	(void)state;
	enum { N = 8, TRIALS = 20000 };
	size_t n_found = 0, n_rarer = 0;
	for (size_t t = 0; t < TRIALS; t++) {
		struct fsl_indexed values[N];
		double p = 0.0;
		for (size_t i = 0; i < N; i++) {
			values[i] = (struct fsl_indexed){gsl_ran_gaussian(random_numbers, 1.0),
							 (uint32_t)i};
		}
		fsl_indexed_sort(values, N);
		size_t n_low = fsl_outliers_low(values, N, 0.2, 1e-9, &p);
		assert_true(n_low > 0 ? p > 0.0 && p <= 0.4 : p == 1.0);
		n_found += n_low > 0 ? 1 : 0;
		n_rarer += p < 0.02 ? 1 : 0;
	}
	print_message("found: %zu, rarer than 2 %%: %zu of %d\n", n_found, n_rarer, (int)TRIALS);
	assert_true(n_found > TRIALS / 20 && n_found < TRIALS * 2 / 5);
	assert_true(n_rarer > 0 && n_rarer < TRIALS / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_gives_a_vote_in_less_than_one_of_a_hundred_collectives),
		cmocka_unit_test(one_early_rank_gets_nobody_named),
		cmocka_unit_test(late_ranks_do_not_hide_each_other),
		cmocka_unit_test(less_than_the_clock_can_tell_is_no_vote),
		cmocka_unit_test(equal_durations_and_tiny_groups_give_no_vote),
		cmocka_unit_test(the_chance_that_is_told_is_that_of_noise),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
