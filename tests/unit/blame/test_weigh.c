/* Claims about means over steps of which only some were replayed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blame/whatif.h"

enum { STEPS = 20 };

/* One rank; every fifth step takes 100 ms instead of 10, and costs as much. */
struct sampled {
	double own_ms[STEPS], reference_ms[STEPS];
	struct fsl_charge charge;
	struct fsl_blame blame;
};

static void sampled_init(struct sampled *c, enum fsl_pattern pattern)
{
	*c = (struct sampled){.charge = {.pattern = pattern, .threshold_ms = 5.0}};
	for (size_t s = 0; s < STEPS; s++) {
		c->reference_ms[s] = 10.0;
		c->own_ms[s] = s % 5 == 4 ? 100.0 : 10.0;
	}
	c->blame = (struct fsl_blame){.n_ranks = 1,
				      .n_steps = STEPS,
				      .own_ms = c->own_ms,
				      .reference_ms = c->reference_ms,
				      .charges = &c->charge};
}

/* Mean own time over the replayed steps; negative: too few to tell. */
static double mean_of(const struct sampled *c, uint32_t *steps, size_t n)
{
	double weights[STEPS], step_ms[STEPS];
	struct fsl_replay replay = {.n_steps = n, .step_idx = steps};
	for (size_t i = 0; i < n; i++) {
		step_ms[i] = c->own_ms[steps[i]];
	}
	return fsl_weigh_steps(weights, &replay, &c->blame, 0, 0, STEPS)
		       ? fsl_repairs_mean(&replay, step_ms, weights)
		       : -1.0;
}

static void the_mean_does_not_depend_on_which_steps_were_replayed(void **state)
{
	(void)state;
	struct sampled c;
	sampled_init(&c, FSL_PATTERN_REPEATED);
	uint32_t many_single[] = {4, 9, 10, 11, 12, 14};
	uint32_t few_single[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	assert_true(mean_of(&c, many_single, 6) == 28.0);
	assert_true(fabs(mean_of(&c, few_single, 16) - 28.0) < 1e-9);
}

static void too_few_single_steps_tell_nothing(void **state)
{
	(void)state;
	struct sampled c;
	sampled_init(&c, FSL_PATTERN_REPEATED);
	uint32_t steps[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	assert_true(mean_of(&c, steps, 13) < 0.0);
}

static void steps_of_a_lasting_charge_count_alike(void **state)
{
	(void)state;
	struct sampled c;
	sampled_init(&c, FSL_PATTERN_LASTING);
	uint32_t steps[] = {0, 4, 5, 9};
	assert_true(mean_of(&c, steps, 4) == 55.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mean_does_not_depend_on_which_steps_were_replayed),
		cmocka_unit_test(too_few_single_steps_tell_nothing),
		cmocka_unit_test(steps_of_a_lasting_charge_count_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
