/* Rows of the profiler as collectives: the members of each, and the lateness of each member. */
#include "unit/ascend/small_capture.h"

#include "match/meetings.h"

static void meet(struct fsl_profile_meetings *meetings, struct small_capture *small)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_profile_meet(meetings, &small->profile, &small->cluster, &err),
			 FSL_OK);
}

static void the_same_operator_of_the_same_group_is_one_collective(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	small_begin(&small, 2);
	small_group(&small, "586", "dp_cp", false, 0, 2, 2);
	for (size_t r = 0; r < 2; r++) {
		double late_ms = r == 1 ? 3.0 : 0.0;
		small_comm(&small, r, 7, "hcom_allReduce__586_0_1", "586", 10.0 + late_ms,
			   5.0 - late_ms);
		small_comm(&small, r, 8, "hcom_allReduce__586_1_1", "586", 30.0, 5.0);
	}
	meet(&meetings, &small);
	assert_int_equal(meetings.topology.n_groups, 1);
	assert_int_equal(meetings.topology.groups[0].kind, FSL_GROUP_DP);
	assert_int_equal(meetings.topology.groups[0].n_ranks, 2);
	assert_int_equal(meetings.match.n_channels, 1);
	const struct fsl_channel *channel = &meetings.match.channels[0];
	assert_string_equal(fsl_strpool_text(meetings.run.names, channel->op_id), "hcom_allReduce");
	assert_int_equal(channel->n_instances, 2);
	assert_int_equal(fsl_channel_duration_ns(channel, 0, 0), 5000000);
	assert_int_equal(fsl_channel_duration_ns(channel, 0, 1), 2000000);
	assert_true(fsl_meeting_tells_lateness(&meetings, channel));
	const struct fsl_profile_comm *comm =
		fsl_meeting_comm(&meetings, &small.profile, channel, 1, 1);
	assert_ptr_equal(comm, &small.profile.ranks[1].comms[1]);
	assert_int_equal(meetings.run.ranks[1].ops[1].step, 8);
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

static void groups_without_a_hash_go_by_the_digits_of_the_name(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	small_begin(&small, 4);
	for (size_t r = 0; r < 4; r++) {
		const char *name = r < 2 ? "hcom_allReduce__061_0_1" : "hcom_allReduce__170_0_1";
		small_comm(&small, r, 1, name, NULL, 10.0, 5.0);
	}
	small_comm(&small, 0, 1, "allreduce", NULL, 20.0, 1.0); /* nothing tells its group */
	meet(&meetings, &small);
	assert_int_equal(meetings.topology.n_groups, 2);
	assert_int_equal(meetings.topology.groups[0].ranks[1], 1);
	assert_int_equal(meetings.topology.groups[1].ranks[0], 2);
	assert_int_equal(meetings.n_unusable, 1);
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

static void an_operator_that_a_member_lacks_is_left_out(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	small_begin(&small, 2);
	for (int i = 0; i < 6; i++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "hcom_allGather__100_%d_1", i);
		for (size_t r = i == 0 ? 1 : 0; r < 2; r++) {
			small_comm(&small, r, 1, name, "100", 10.0 * i, 1.0 + 0.1 * i);
		}
	}
	meet(&meetings, &small);
	assert_int_equal(meetings.n_torn, 1);
	assert_int_equal(meetings.n_torn_of[0], 0);
	assert_int_equal(meetings.n_torn_of[1], 1);
	assert_int_equal(meetings.match.n_channels, 1);
	const struct fsl_channel *channel = &meetings.match.channels[0];
	assert_int_equal(channel->n_instances, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(fsl_channel_duration_ns(channel, i, 0),
				 fsl_channel_duration_ns(channel, i, 1));
	}
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

static void ranks_that_number_their_operators_apart_are_matched_by_time(void **state)
{
	(void)state;
	static const double begin_ms[] = {0.0, 13.0, 21.0, 40.0, 48.0, 70.0};
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	small_begin(&small, 2);
	for (int i = 0; i < 6; i++) {
		for (int r = i == 0 ? 1 : 0; r < 2; r++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "hcom_allGather__100_%d_1", i + 10 * r);
			small_comm(&small, (size_t)r, 1, name, "100", begin_ms[i], 1.0 + 0.1 * i);
		}
	}
	meet(&meetings, &small);
	const struct fsl_channel *channel = &meetings.match.channels[0];
	assert_int_equal(channel->n_instances, 6);
	assert_null(fsl_meeting_comm(&meetings, &small.profile, channel, 0, 0));
	assert_int_equal(fsl_channel_duration_ns(channel, 5, 0), 1500000);
	assert_int_equal(fsl_channel_duration_ns(channel, 5, 1), 1500000);
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

static void sends_broadcasts_and_a_set_without_operators_tell_no_lateness(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	small_begin(&small, 2);
	meet(&meetings, &small);
	assert_int_equal(meetings.match.n_channels, 0);
	fsl_profile_meetings_fini(&meetings);
	for (size_t r = 0; r < 2; r++) {
		small_comm(&small, r, 1, "hcom_batchSendRecv__128_3_1", "128", 10.0, 5.0);
		small_comm(&small, r, 1, "hcom_broadcast__128_4_1", "128", 20.0, 5.0);
	}
	meet(&meetings, &small);
	assert_int_equal(meetings.match.n_channels, 2);
	assert_false(fsl_meeting_tells_lateness(&meetings, &meetings.match.channels[0]));
	assert_false(fsl_meeting_tells_lateness(&meetings, &meetings.match.channels[1]));
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

static void times_that_cannot_be_are_left_out(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_profile_meetings meetings;
	small_begin(&small, 1);
	small_comm(&small, 0, 1, "hcom_allReduce__061_0_1", "061", 0.0, 1.0)->begin_ns = INT64_MAX;
	small_comm(&small, 0, 1, "hcom_allReduce__061_1_1", "061", 0.0, 1.0)->elapse_ns = INT64_MAX;
	small_comm(&small, 0, 1, "hcom_allReduce__061_2_1", "061", 0.0, 1.0)->elapse_ns = -1;
	small_comm(&small, 0, 1, "hcom_allReduce__061_3_1", "061", 0.0, 1.0)->begin_ns =
		FSL_NS_ABSENT;
	meet(&meetings, &small);
	assert_int_equal(meetings.n_unusable, 4);
	assert_int_equal(meetings.topology.n_groups, 0);
	fsl_profile_meetings_fini(&meetings);
	small_end(&small);
}

static void types_and_kinds_are_told_from_names(void **state)
{
	(void)state;
	assert_int_equal(fsl_profile_type_length("hcom_allReduce__586_0_1"), 14);
	assert_int_equal(fsl_profile_type_length("allReduce"), 9);
	assert_int_equal(fsl_profile_group_kind("dp_cp"), FSL_GROUP_DP);
	assert_int_equal(fsl_profile_group_kind("exp"), FSL_GROUP_EP);
	assert_int_equal(fsl_profile_group_kind("mp"), FSL_GROUP_UNKNOWN);
	assert_int_equal(fsl_profile_group_kind("default_group"), FSL_GROUP_WORLD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_operator_of_the_same_group_is_one_collective),
		cmocka_unit_test(groups_without_a_hash_go_by_the_digits_of_the_name),
		cmocka_unit_test(an_operator_that_a_member_lacks_is_left_out),
		cmocka_unit_test(ranks_that_number_their_operators_apart_are_matched_by_time),
		cmocka_unit_test(sends_broadcasts_and_a_set_without_operators_tell_no_lateness),
		cmocka_unit_test(times_that_cannot_be_are_left_out),
		cmocka_unit_test(types_and_kinds_are_told_from_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
