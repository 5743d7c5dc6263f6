/* The table of codes says one thing about each code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "judge/codes.h"

static void no_two_codes_have_the_same_text(void **state)
{
	(void)state;
	for (size_t a = 0; a < FSL_CODES_N; a++) {
		for (size_t b = 0; b < a; b++) {
			assert_string_not_equal(fsl_code_text((enum fsl_code)a),
						fsl_code_text((enum fsl_code)b));
		}
	}
}

static void single_steps_are_asked_about_codes_with_a_family_alone(void **state)
{
	(void)state;
	for (size_t c = 0; c < FSL_CODES_N; c++) {
		const struct fsl_code_row *row = fsl_code_row((enum fsl_code)c);
		assert_int_equal(row->family == FSL_FAMILY_NONE, row->steps == FSL_STEPS_NEVER);
	}
}

/* by_step.c asks the judge of a code about all of its family. */
static void a_family_is_told_by_one_judge(void **state)
{
	(void)state;
	for (size_t a = 0; a < FSL_CODES_N; a++) {
		const struct fsl_code_row *row = fsl_code_row((enum fsl_code)a);
		for (size_t b = 0; b < a && row->family != FSL_FAMILY_NONE; b++) {
			const struct fsl_code_row *other = fsl_code_row((enum fsl_code)b);
			assert_true(other->family != row->family || other->judge == row->judge);
		}
	}
}

static void a_code_has_a_cause_when_somebody_is_named_for_it(void **state)
{
	(void)state;
	for (size_t c = 0; c < FSL_CODES_N; c++) {
		const struct fsl_code_row *row = fsl_code_row((enum fsl_code)c);
		assert_int_equal(row->names == FSL_NAMES_NOBODY, row->cause == FSL_CAUSES_N);
	}
}

static void a_fact_is_told_by_its_name_and_unit(void **state)
{
	(void)state;
	const struct fsl_fact facts[] = {
		fsl_fact_of(FSL_FACT_SEEN, 3.0),
		{"late", 0.5, "share"},
		fsl_fact_of(FSL_FACT_LATE, 12.5),
	};
	assert_true(fsl_facts_value(facts, 3, FSL_FACT_SEEN) == 3.0);
	assert_true(fsl_facts_value(facts, 3, FSL_FACT_LATE) == 12.5);
	assert_false(fsl_fact_is(&facts[1], FSL_FACT_LATE));
	double absent = fsl_facts_value(facts, 3, FSL_FACT_MEMBERS);
	assert_true(absent != absent); /* NaN */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_two_codes_have_the_same_text),
		cmocka_unit_test(single_steps_are_asked_about_codes_with_a_family_alone),
		cmocka_unit_test(a_family_is_told_by_one_judge),
		cmocka_unit_test(a_code_has_a_cause_when_somebody_is_named_for_it),
		cmocka_unit_test(a_fact_is_told_by_its_name_and_unit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
