/* Votes and last places over several collectives, by chance and beyond chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/votes.h"

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
		cmocka_unit_test(a_pair_is_judged_over_several_collectives),
		cmocka_unit_test(groups_of_different_sizes_count_together),
		cmocka_unit_test(the_bound_for_many_collectives_is_never_too_small),
		cmocka_unit_test(a_few_votes_among_many_collectives_are_chance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
