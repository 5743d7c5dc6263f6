/* Waits for signals, by group and member. */
#include "small_capture.h"
#include "source/ascend/signal_waits.h"

static void names_of_waits_are_known_in_all_spellings(void **state)
{
	(void)state;
	static const char *const waits[] = {"Notify_Wait", "Notify Wait", "NotifyWait"};
	static const char *const others[] = {"Notify_Record", "Wait", "Notify", "", "Event_Wait"};
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		assert_true(fsl_is_signal_wait(waits[i], strlen(waits[i])));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(fsl_is_signal_wait(others[i], strlen(others[i])));
	}
}

static void waits_are_summed_by_group_and_member(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	struct fsl_profile_rank *rank = &small.profile.ranks[0];
	struct fsl_signal_waits waits = {.rank = rank};
	uint32_t a = small_name(rank, "586"), b = small_name(rank, "587");
	assert_int_equal(fsl_signal_waits_add(&waits, a, 5, 100, NULL), FSL_OK);
	assert_int_equal(fsl_signal_waits_add(&waits, b, 5, 1, NULL), FSL_OK);
	assert_int_equal(fsl_signal_waits_add(&waits, a, 5, 11, NULL), FSL_OK);
	assert_int_equal(fsl_signal_waits_add(&waits, a, 5, INT64_MAX, NULL), FSL_OK);
	assert_int_equal(fsl_signal_waits_add(&waits, a, -1, 7, NULL), FSL_OK);
	assert_int_equal(fsl_signal_waits_add(&waits, a, INT64_C(4294967295), 7, NULL), FSL_OK);
	assert_int_equal(fsl_signal_waits_add(&waits, FSL_STR_NONE, 1, 7, NULL), FSL_OK);
	assert_int_equal(rank->n_waits, 2);
	assert_int_equal(rank->waits[0].place, 5);
	assert_int_equal(rank->waits[0].wait_ns, INT64_MAX); /* no more fits */
	assert_int_equal(rank->waits[1].wait_ns, 1);
	fsl_signal_waits_fini(&waits);
	small_end(&small);
}

static void a_time_is_in_the_collective_that_runs_alone(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	struct fsl_profile_rank *rank = &small.profile.ranks[0];
	(void)small_comm(&small, 0, 1, "hcom_allReduce__586_0_1", "586", 0.0, 10.0);
	(void)small_comm(&small, 0, 1, "hcom_allReduce__587_0_1", "587", 8.0, 4.0);
	(void)small_comm(&small, 0, 1, "hcom_send__588_0_1", "588", 20.0, 5.0);
	const struct {
		double ms;
		const char *group;
	} cases[] = {{-1.0, ""},    {0.0, "586"}, {7.0, "586"}, {9.0, ""},
		     {11.0, "587"}, {15.0, ""},   {22.0, ""},   {90.0, ""}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id =
			fsl_signal_waits_group_at(rank, SMALL_ORIGIN_NS + small_ns(cases[i].ms));
		assert_string_equal(fsl_strpool_text(rank->names, id), cases[i].group);
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_waits_are_known_in_all_spellings),
		cmocka_unit_test(waits_are_summed_by_group_and_member),
		cmocka_unit_test(a_time_is_in_the_collective_that_runs_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
