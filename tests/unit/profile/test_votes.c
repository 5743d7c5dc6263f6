/* Votes: what the peer tool finds, nothing in noise, nobody for one early rank; and small groups.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include <cjson/cJSON.h>

#include "profile/votes.h"

enum { RANKS_MAX = 1024 };
static const double LEAST_NS = 10000.0;

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

static size_t vote_on(struct fsl_vote *votes, const double *durations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		votes[i] = (struct fsl_vote){durations[i], (uint32_t)i};
	}
	return fsl_votes_low(votes, n, LEAST_NS);
}

static cJSON *read_vectors(void)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	char path[1024];
	(void)snprintf(path, sizeof(path), "%s/data/ascend/expected/judge_slow_rank_vectors.json",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR);
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		return NULL;
	}
	static char text[1 << 18];
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	assert_int_equal(fclose(file), 0);
	return cJSON_Parse(text);
}

static void finds_the_late_rank_that_the_peer_finds_and_no_other(void **state)
{
	(void)state;
	struct fsl_vote votes[RANKS_MAX];
	double durations[RANKS_MAX];
	cJSON *vectors = read_vectors();
	if (vectors == NULL) {
		skip();
	}
	assert_int_equal(cJSON_GetArraySize(vectors), 68);
	size_t n_late = 0;
	const cJSON *vector = NULL;
	cJSON_ArrayForEach(vector, vectors)
	{
		const cJSON *values = cJSON_GetObjectItem(vector, "durations_ns");
		const cJSON *flagged = cJSON_GetObjectItem(vector, "flagged");
		const char *kind = cJSON_GetObjectItem(vector, "kind")->valuestring;
		size_t n = 0;
		const cJSON *value = NULL;
		cJSON_ArrayForEach(value, values)
		{
			durations[n++] = value->valuedouble;
		}
		size_t n_found = vote_on(votes, durations, n);
		/* The peer's votes on noise and for one early rank are its mistakes. */
		bool is_late = strcmp(kind, "onelow") == 0 && cJSON_GetArraySize(flagged) > 0;
		assert_int_equal(n_found, is_late ? 1 : 0);
		if (is_late) {
			assert_int_equal(cJSON_GetArraySize(flagged), 1);
			assert_int_equal(votes[0].idx, cJSON_GetArrayItem(flagged, 0)->valueint);
		}
		n_late += is_late ? 1 : 0;
	}
	assert_int_equal(n_late, 21);
	cJSON_Delete(vectors);
}

/* Share of collectives with a vote. */
static double vote_rate(size_t n, size_t n_trials, double early_factor)
{
	struct fsl_vote votes[RANKS_MAX];
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
	struct fsl_vote votes[RANKS_MAX];
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
	struct fsl_vote votes[8];
	double durations[8] = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6 - 2000.0};
	assert_int_equal(vote_on(votes, durations, 8), 0);
	durations[7] = 0.5e6;
	assert_int_equal(vote_on(votes, durations, 8), 1);
}

static void equal_durations_and_tiny_groups_give_no_vote(void **state)
{
	(void)state;
	struct fsl_vote votes[4];
	double durations[4] = {5.0, 5.0, 5.0, 5.0};
	for (size_t n = 0; n <= 4; n++) {
		assert_int_equal(vote_on(votes, durations, n), 0);
	}
	durations[1] = 1e-3;
	assert_int_equal(vote_on(votes, durations, 3), 0);
}

static void a_pair_is_judged_over_several_collectives(void **state)
{
	(void)state;
	const uint32_t pairs[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
	assert_true(fsl_last_p(pairs, 10, 10) > 0.9e-3 && fsl_last_p(pairs, 10, 10) < 1e-3);
	assert_true(fsl_last_p(pairs, 3, 3) == 0.125); /* three are no proof */
	assert_true(fsl_last_p(pairs, 10, 0) == 1.0);
	double eight = fsl_last_p(pairs, 10, 8);
	assert_true(eight > 0.0546 && eight < 0.0547);
}

static void groups_of_different_sizes_count_together(void **state)
{
	(void)state;
	const uint32_t peers[6] = {4, 4, 4, 4, 2, 2};
	assert_float_equal(fsl_last_p(peers, 6, 6), 1.0 / 1024.0, 1e-15);
	assert_float_equal(fsl_last_p(peers, 6, 1), 1.0 - 0.75 * 0.75 * 0.75 * 0.75 * 0.5 * 0.5,
			   1e-12);
}

static void the_bound_for_many_collectives_is_never_too_small(void **state)
{
	(void)state;
	static uint32_t peers[600];
	for (size_t i = 0; i < 600; i++) {
		peers[i] = i % 2 == 0 ? 2 : 8;
	}
	double exact = fsl_last_p(peers, 512, 240); /* mean 160 */
	double bound = fsl_last_p(peers, 600, 282); /* the same share of more */
	assert_true(exact > 0.0 && exact < 1e-6);
	assert_true(bound > 0.0 && bound < 1e-6);
	assert_true(fsl_last_p(peers, 600, 150) == 1.0);
	assert_true(fsl_last_p(peers, 600, 600) < 1e-100);
}

static void a_few_votes_among_many_collectives_are_chance(void **state)
{
	(void)state;
	assert_true(fsl_votes_p(1, 0) == 1.0);
	assert_true(fsl_votes_p(1, 1) <= 0.0101);
	assert_true(fsl_votes_p(100, 1) > 0.5);
	assert_true(fsl_votes_p(100, 8) < 1e-4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_late_rank_that_the_peer_finds_and_no_other),
		cmocka_unit_test(noise_gives_a_vote_in_less_than_one_of_a_hundred_collectives),
		cmocka_unit_test(one_early_rank_gets_nobody_named),
		cmocka_unit_test(late_ranks_do_not_hide_each_other),
		cmocka_unit_test(less_than_the_clock_can_tell_is_no_vote),
		cmocka_unit_test(equal_durations_and_tiny_groups_give_no_vote),
		cmocka_unit_test(a_pair_is_judged_over_several_collectives),
		cmocka_unit_test(groups_of_different_sizes_count_together),
		cmocka_unit_test(the_bound_for_many_collectives_is_never_too_small),
		cmocka_unit_test(a_few_votes_among_many_collectives_are_chance),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
