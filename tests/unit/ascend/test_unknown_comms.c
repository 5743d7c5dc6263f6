/* Kernels whose calls end together communicate; kernels that only compute do not. */
#include "source/ascend/unknown_comms.h"

#include "small_capture.h"

enum { RANKS = 4, CALLS = 8 };

/* A call of a class of kernels of its own step, as the readers keep it. */
static void add_call(struct small_capture *small, size_t r, int64_t step, const char *type,
		     double begin_ms, double end_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	const struct fsl_profile_kernels kernels = {.step = step,
						    .type_id = small_name(rank, type),
						    .shape_id = FSL_STR_NONE,
						    .core_id = FSL_STR_NONE,
						    .count = 1,
						    .total_ns = small_ns(end_ms - begin_ms)};
	size_t k = 0;
	while (k < rank->n_kernels &&
	       (rank->kernels[k].step != step || rank->kernels[k].type_id != kernels.type_id)) {
		k++;
	}
	const struct fsl_profile_sample sample = {SMALL_ORIGIN_NS + small_ns(begin_ms),
						  (uint32_t)small_ns(end_ms - begin_ms),
						  (uint32_t)k};
	if (k == rank->n_kernels) {
		assert_int_equal(FSL_APPEND(rank, kernels, &kernels, NULL), FSL_OK);
	}
	assert_int_equal(FSL_APPEND(rank, samples, &sample, NULL), FSL_OK);
}

static const struct fsl_profile_found_comms *find(struct small_capture *small)
{
	assert_int_equal(fsl_profile_find_comms(&small->profile, NULL), FSL_OK);
	return small->profile.found;
}

/* Ranks come @late_ms[] after the first in each third call, and the call ends for all at once. */
static void add_waits(struct small_capture *small, const char *type, const double *late_ms,
		      size_t n_calls, double clock_ms)
{
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		for (size_t c = 0; c < n_calls; c++) {
			double begin_ms = 100.0 * (double)c + (double)r * clock_ms;
			add_call(small, r, (int64_t)c, type,
				 begin_ms + (c % 3 == 0 ? late_ms[r] : 0.0),
				 begin_ms + 40.0 + 0.001 * (double)((r + c) % 3));
		}
	}
}

static void a_type_whose_calls_end_together_is_found(void **state)
{
	(void)state;
	static const double late_ms[RANKS] = {0.0, 0.0, 30.0, 0.0};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		small_begin(&small, RANKS);
		add_waits(&small, "TurboShuffle", late_ms, CALLS, i == 0 ? 0.0 : 17.0);
		const struct fsl_profile_found_comms *found = find(&small);
		assert_non_null(found);
		assert_int_equal(found->n_items, 1);
		assert_string_equal(found->items[0].type, "TurboShuffle");
		assert_null(found->items[0].group);
		assert_near((double)found->items[0].apart_ns, 30e6, 1e4);
		assert_true(found->items[0].ends_ns < 10000);
		small_end(&small);
	}
}

static void known_and_rare_types_are_not_looked_for(void **state)
{
	(void)state;
	static const double late_ms[RANKS] = {0.0, 0.0, 30.0, 0.0};
	struct small_capture small;
	small_begin(&small, RANKS);
	add_waits(&small, "MoeDistributeDispatchV2", late_ms, CALLS, 0.0);
	add_waits(&small, "TurboShuffle", late_ms, 3, 0.0);
	assert_null(find(&small));
	assert_null(small.profile.ranks[0].samples);
	small_end(&small);
}

/* A slow device ends as late in each call as in the one before: that is no wait of the others. */
static void a_slow_device_is_not_taken_for_communication(void **state)
{
	(void)state;
	for (size_t slow = 0; slow < RANKS; slow++) {
		struct small_capture small;
		small_begin(&small, RANKS);
		for (size_t r = 0; r < RANKS; r++) {
			for (size_t c = 0; c < CALLS; c++) {
				double begin_ms = 100.0 * (double)c + 0.002 * (double)(r * c % 3);
				add_call(&small, r, (int64_t)c, "MatMulV2", begin_ms,
					 begin_ms + (r == slow ? 52.0 : 40.0));
			}
		}
		assert_null(find(&small));
		small_end(&small);
	}
}

static void the_clocks_of_known_collectives_show_lasting_lateness(void **state)
{
	(void)state;
	static const double clock_ms[] = {0.0, 3.5};
	for (size_t i = 0; i < 2; i++) {
		struct small_capture small;
		small_begin(&small, 2);
		for (size_t r = 0; r < 2; r++) {
			double ahead_ms = (double)r * clock_ms[i];
			small_comm(&small, r, 0, "hcom_allReduce__1_0_1", NULL, 900.0 + ahead_ms,
				   5.0);
			for (size_t c = 0; c < CALLS; c++) {
				double begin_ms = 100.0 * (double)c + ahead_ms;
				add_call(&small, r, 0, "TurboReduce",
					 begin_ms + (r == 1 ? 10.0 : 0.0), begin_ms + 40.0);
			}
		}
		const struct fsl_profile_found_comms *found = find(&small);
		assert_non_null(found);
		assert_near((double)found->items[0].apart_ns, 10e6, 1e3);
		small_end(&small);
	}
}

/* Two pairs of tensor parallelism: the members of a pair wait for each other alone. */
static void members_of_a_told_group_meet_in_it(void **state)
{
	(void)state;
	int32_t members[RANKS] = {0, 1, 2, 3};
	struct fsl_profile_parallel_group pairs[] = {
		{.name = "tp", .id = "one", .ranks = members, .n_ranks = 2, .hash = "11"},
		{.name = "tp", .id = "two", .ranks = members + 2, .n_ranks = 2, .hash = "22"},
	};
	struct small_capture small;
	small_begin(&small, RANKS);
	for (size_t r = 0; r < RANKS; r++) {
		small.profile.ranks[r].info.groups = &pairs[r / 2];
		small.profile.ranks[r].info.n_groups = 1;
		for (size_t c = 0; c < CALLS; c++) {
			double late_ms = c % 3 == 0 && r == 3 ? 25.0 : 0.0;
			double begin_ms = 100.0 * (double)c + (r < 2 ? (double)(7 * c % 5) : 0.0);
			add_call(&small, r, (int64_t)c, "TurboReduce", begin_ms + late_ms,
				 begin_ms + 40.0);
		}
	}
	const struct fsl_profile_found_comms *found = find(&small);
	for (size_t r = 0; r < RANKS; r++) {
		small.profile.ranks[r].info.groups = NULL;
		small.profile.ranks[r].info.n_groups = 0;
	}
	assert_non_null(found);
	assert_string_equal(found->items[0].group, "tp");
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_type_whose_calls_end_together_is_found),
		cmocka_unit_test(known_and_rare_types_are_not_looked_for),
		cmocka_unit_test(a_slow_device_is_not_taken_for_communication),
		cmocka_unit_test(the_clocks_of_known_collectives_show_lasting_lateness),
		cmocka_unit_test(members_of_a_told_group_meet_in_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
