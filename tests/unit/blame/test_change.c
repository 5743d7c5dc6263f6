/* Tells whether a rank became slower, or its peers faster. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "blame/blame.h"

enum { RANKS = 3, STEPS = 40, ONSET = 15 };

/* Own times and steps before and from ONSET on. */
struct levels {
	double own_ms[2], reference_ms[2], step_ms[2];
};

struct case_ {
	double own_ms[RANKS * STEPS], reference_ms[RANKS * STEPS], step_ms[STEPS];
	struct fsl_charge charges[RANKS];
	struct fsl_blame blame;
};

static void set_rank(struct case_ *c, size_t r, const struct levels *levels)
{
	for (size_t s = 0; s < STEPS; s++) {
		c->own_ms[r * STEPS + s] = levels->own_ms[s >= ONSET];
		c->reference_ms[r * STEPS + s] = levels->reference_ms[s >= ONSET];
		c->step_ms[s] = levels->step_ms[s >= ONSET];
	}
	c->blame = (struct fsl_blame){.n_ranks = RANKS,
				      .n_steps = STEPS,
				      .own_ms = c->own_ms,
				      .reference_ms = c->reference_ms,
				      .step_dur_ms = c->step_ms,
				      .charges = c->charges};
}

/* @is_early: the episode before ONSET is high, not the one from ONSET on. */
static bool is_own(const struct levels *levels, bool is_early)
{
	struct case_ c = {.step_ms = {0.0}};
	double work[2 * STEPS];
	set_rank(&c, 0, levels);
	double before = levels->own_ms[0] - levels->reference_ms[0];
	double after = levels->own_ms[1] - levels->reference_ms[1];
	struct fsl_episode episode = {.begin = is_early ? 0 : ONSET,
				      .end = is_early ? ONSET : STEPS};
	return fsl_change_is_own(&c.blame, 0, &episode, is_early ? before - after : after - before,
				 5.0, work);
}

static void who_works_longer_has_changed(void **state)
{
	(void)state;
	assert_true(is_own(&(struct levels){{100, 130}, {100, 100}, {200, 230}}, false));
	/* Its peers wait for it and work on beneath: they seem to work less. */
	assert_true(is_own(&(struct levels){{100, 130}, {100, 40}, {200, 230}}, false));
}

static void who_works_as_before_has_not(void **state)
{
	(void)state;
	/* Some other rank makes its peers wait. */
	assert_false(is_own(&(struct levels){{100, 101}, {100, 40}, {200, 230}}, false));
	/* It waits elsewhere than before, and works a little more in sight. */
	assert_false(is_own(&(struct levels){{100, 110}, {100, 40}, {200, 230}}, false));
	/* Steps did not get longer: the peers got faster. */
	assert_false(is_own(&(struct levels){{100, 120}, {100, 40}, {200, 200}}, false));
}

/* All work in sight until a rank becomes slow for which they wait: one that was a little slower was
 * no more so before. */
static void who_waits_since_was_not_slow_before(void **state)
{
	(void)state;
	assert_false(is_own(&(struct levels){{110, 30}, {100, 35}, {200, 260}}, true));
	/* One that got well was. */
	assert_true(is_own(&(struct levels){{130, 100}, {100, 100}, {230, 200}}, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_works_longer_has_changed),
		cmocka_unit_test(who_works_as_before_has_not),
		cmocka_unit_test(who_waits_since_was_not_slow_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
