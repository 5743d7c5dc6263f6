/* Ranks that earlier runs saw: for which data they hold, and what a run makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/number.h"
#include "model/seen_ranks.h"

#define HOUR  (INT64_C(3600) * FSL_NS_PER_S)
#define UNTIL (INT64_C(1750000000) * FSL_NS_PER_S)

static const struct fsl_seen_ranks eight = {.n = 8, .until_ns = UNTIL};

static void they_hold_for_data_that_begin_before_they_were_seen_last(void **state)
{
	(void)state;
	assert_true(fsl_seen_ranks_hold(&eight, UNTIL - HOUR, UNTIL + HOUR, 24.0));
	assert_true(fsl_seen_ranks_hold(&eight, UNTIL, UNTIL + HOUR, 24.0));
	assert_true(fsl_seen_ranks_hold(&eight, UNTIL - HOUR, UNTIL - 1, 24.0));
	assert_false(fsl_seen_ranks_hold(&eight, UNTIL + 1, UNTIL + HOUR, 24.0));
}

static void they_are_forgotten_after_the_configured_time(void **state)
{
	(void)state;
	assert_true(fsl_seen_ranks_hold(&eight, UNTIL - HOUR, UNTIL + 24 * HOUR, 24.0));
	assert_false(fsl_seen_ranks_hold(&eight, UNTIL - HOUR, UNTIL + 24 * HOUR + HOUR, 24.0));
	assert_false(fsl_seen_ranks_hold(&eight, UNTIL - HOUR, UNTIL + 2 * HOUR, 1.5));
}

static void without_data_or_an_earlier_run_they_do_not_hold(void **state)
{
	(void)state;
	const struct fsl_seen_ranks none = {0};
	assert_false(fsl_seen_ranks_hold(&none, UNTIL - HOUR, UNTIL, 24.0));
	assert_false(fsl_seen_ranks_hold(&eight, FSL_NS_ABSENT, UNTIL, 24.0));
	assert_false(fsl_seen_ranks_hold(&eight, UNTIL - HOUR, FSL_NS_ABSENT, 24.0));
}

static void check(struct fsl_seen_ranks seen, size_t n, int64_t until_ns)
{
	assert_int_equal(seen.n, n);
	assert_int_equal(seen.until_ns, until_ns);
}

static void fewer_ranks_of_the_same_start_change_nothing_and_more_do(void **state)
{
	(void)state;
	static const struct {
		size_t n;
		size_t n_known;
		int64_t begin_ns, end_ns, until_ns;
	} cases[] = {
		{7, 8, UNTIL - HOUR, UNTIL + HOUR, UNTIL},               /* one is gone */
		{8, 8, UNTIL - HOUR, UNTIL + HOUR, UNTIL + HOUR},        /* all are there */
		{8, 8, UNTIL - HOUR, UNTIL - 1, UNTIL},                  /* older data */
		{16, 16, UNTIL - HOUR, UNTIL + HOUR, UNTIL + HOUR},      /* more came */
		{7, 7, UNTIL + 1, UNTIL + HOUR, UNTIL + HOUR},           /* started again */
		{7, 7, UNTIL - 1, UNTIL + 25 * HOUR, UNTIL + 25 * HOUR}, /* forgotten */
		{0, 8, UNTIL - HOUR, UNTIL + HOUR, UNTIL},               /* it read nothing */
		{7, 8, UNTIL - HOUR, FSL_NS_ABSENT, UNTIL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fsl_seen_ranks now = {cases[i].n, cases[i].end_ns};
		check(fsl_seen_ranks_with(&eight, &now, cases[i].begin_ns, 24.0), cases[i].n_known,
		      cases[i].until_ns);
	}
	const struct fsl_seen_ranks none = {0};
	check(fsl_seen_ranks_with(&none, &eight, UNTIL - HOUR, 24.0), 8, UNTIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_hold_for_data_that_begin_before_they_were_seen_last),
		cmocka_unit_test(they_are_forgotten_after_the_configured_time),
		cmocka_unit_test(without_data_or_an_earlier_run_they_do_not_hold),
		cmocka_unit_test(fewer_ranks_of_the_same_start_change_nothing_and_more_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
