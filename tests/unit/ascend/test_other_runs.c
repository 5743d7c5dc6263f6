/* Captures of other runs are no ranks of the job. */
#include "small_capture.h"
#include "source/ascend/other_runs.h"

#define MINUTE_MS 60000.0

/* One rank per time (minutes after the origin; NaN: no time), with folders. */
static void begin(struct small_capture *small, const double *minutes, size_t n)
{
	small_begin(small, n);
	struct fsl_profile *profile = &small->profile;
	assert_int_equal(FSL_GROW(profile->folders, profile->folders_capacity, n, NULL), FSL_OK);
	profile->n_folders = n;
	for (size_t r = 0; r < n; r++) {
		profile->folders[r] =
			(struct fsl_profile_folder){.path = "captures", .rank = (int32_t)r};
		profile->ranks[r].folder = profile->folders[r];
		if (isfinite(minutes[r])) {
			(void)small_comm(small, r, 1, "hcom_allReduce__483_0_1", "483",
					 MINUTE_MS * minutes[r], 5.0);
		}
	}
	assert_int_equal(fsl_profile_leave_out_runs(profile, NULL), FSL_OK);
	assert_int_equal(profile->n_folders, profile->n_ranks);
}

static void ranks_of_one_run_stay(void **state)
{
	(void)state;
	const double minutes[] = {0.0, 9.0, 18.0, NAN};
	struct small_capture small;
	begin(&small, minutes, 4);
	assert_int_equal(small.profile.n_ranks, 4);
	assert_int_equal(small.profile.n_remarks, 0);
	small_end(&small);
}

static void the_run_of_most_ranks_is_kept(void **state)
{
	(void)state;
	const double minutes[] = {0.0, 1440.0 * 322.0, 0.1, NAN, 1440.0 * 322.0 + 30.0};
	struct small_capture small;
	begin(&small, minutes, 5);
	assert_int_equal(small.profile.n_ranks, 3);
	assert_int_equal(small.profile.ranks[0].rank, 0);
	assert_int_equal(small.profile.ranks[1].rank, 2);
	assert_int_equal(small.profile.folders[2].rank, 3);
	assert_int_equal(small.profile.n_remarks, 1);
	assert_non_null(strstr(small.profile.remarks[0],
			       "2 of 5 captures are of another run, at least 322 days apart"));
	small_end(&small);
}

static void of_equal_runs_the_newest_is_kept(void **state)
{
	(void)state;
	const double minutes[] = {95.0, 0.0};
	struct small_capture small;
	begin(&small, minutes, 2);
	assert_int_equal(small.profile.n_ranks, 1);
	assert_int_equal(small.profile.ranks[0].rank, 0);
	assert_non_null(strstr(small.profile.remarks[0], "1 of 2 captures are of another run, at "
							 "least 95 minutes apart"));
	small_end(&small);
}

static void a_capture_that_tells_neither_rank_nor_time_is_left_out(void **state)
{
	(void)state;
	const double minutes[] = {0.0, NAN, 1.0};
	for (int i = 0; i < 2; i++) {
		struct small_capture small;
		begin(&small, minutes, 3);
		small.profile.folders[1].rank_source =
			i == 0 ? FSL_PROFILE_RANK_NONE : FSL_PROFILE_RANK_METADATA;
		assert_int_equal(fsl_profile_leave_out_runs(&small.profile, NULL), FSL_OK);
		assert_int_equal(small.profile.n_ranks, 2 + i);
		assert_int_equal(small.profile.n_remarks, 1 - i);
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_one_run_stay),
		cmocka_unit_test(the_run_of_most_ranks_is_kept),
		cmocka_unit_test(of_equal_runs_the_newest_is_kept),
		cmocka_unit_test(a_capture_that_tells_neither_rank_nor_time_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
