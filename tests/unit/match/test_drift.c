/* Claims about clock drift: operators that belong together end together again. */
#include <math.h>
#include <stdlib.h>

#include "support/small_job.h"

#include "match/drift.h"
#include "match/topology_build.h"

enum { USES = 400, USES_NS = 500 * FSL_NS_PER_MS };
static const double DRIFT = 40e-6;

/* Two ranks that meet every half second; the clock of rank 1 is 3 ms ahead and gains DRIFT. The
 * work before each meeting is rank 0's in turn and rank 1's. */
static void make_job(struct small_job *job, double drift)
{
	small_job_init(job, 2, 1);
	uint32_t gather = small_job_name(job, "HcclAllGather"), group = small_job_name(job, "g0");
	for (int64_t i = 0; i < USES; i++) {
		int64_t end_ns = SMALL_JOB_ORIGIN_NS + (i + 1) * USES_NS;
		int64_t wait_ns[2] = {(i % 7) * FSL_NS_PER_MS, (i % 3) * FSL_NS_PER_MS};
		for (size_t r = 0; r < 2; r++) {
			int64_t gain_ns =
				r == 0 ? 0
				       : 3 * FSL_NS_PER_MS + llround(drift * (double)(i * USES_NS));
			small_job_add_op(job, r, gather, group,
					 end_ns + gain_ns - FSL_NS_PER_MS - wait_ns[r],
					 end_ns + gain_ns);
		}
	}
}

static enum fsl_status remove_from(struct small_job *job, double *ppm)
{
	int32_t members[] = {0, 1};
	struct fsl_group group = {.name_id = small_job_name(job, "g0"),
				  .kind = FSL_GROUP_TP,
				  .ranks = members,
				  .n_ranks = 2,
				  .n_op_kinds = 1,
				  .n_calls = 2 * USES};
	struct fsl_topology topology = {.groups = &group, .n_groups = 1};
	struct fsl_match match = {0};
	struct fsl_listing listing = {0};
	enum fsl_status status = fsl_channels_list(&match, &listing, &job->run, &topology, NULL);
	if (status == FSL_OK) {
		status = fsl_drift_remove(&job->run, &listing, match.n_channels, ppm, NULL);
	}
	fsl_arena_fini(&listing.arena);
	fsl_match_fini(&match);
	return status;
}

static double remove_drift(struct small_job *job)
{
	double ppm = NAN;
	assert_int_equal(remove_from(job, &ppm), FSL_OK);
	return ppm;
}

/* Ends of rank 1 minus those of rank 0, use @i. */
static int64_t apart_ns(const struct small_job *job, size_t i)
{
	return job->run.ranks[1].ops[i].dev_end_ns - job->run.ranks[0].ops[i].dev_end_ns;
}

static void common_ends_are_as_far_apart_at_the_end_as_at_the_begin(void **state)
{
	(void)state;
	struct small_job job;
	make_job(&job, DRIFT);
	assert_true(apart_ns(&job, USES - 1) - apart_ns(&job, 0) > 7 * FSL_NS_PER_MS);
	double ppm = remove_drift(&job);
	assert_true(fabs(ppm - 1e6 * DRIFT) < 0.3);
	assert_true(llabs(apart_ns(&job, USES - 1) - apart_ns(&job, 0)) < FSL_NS_PER_MS / 10);
	assert_true(llabs(apart_ns(&job, 0) - 3 * FSL_NS_PER_MS) < FSL_NS_PER_MS / 10);
	small_job_fini(&job);
}

static void clocks_that_run_alike_are_left_alone(void **state)
{
	(void)state;
	struct small_job job;
	make_job(&job, 0.0);
	int64_t before_ns = job.run.ranks[1].ops[USES / 2].dev_begin_ns;
	assert_true(remove_drift(&job) == 0.0);
	assert_int_equal(job.run.ranks[1].ops[USES / 2].dev_begin_ns, before_ns);
	small_job_fini(&job);
}

/* Removes every @period-th operator of a rank. */
static void lose(struct small_job *job, size_t r, size_t period)
{
	struct fsl_rank *rank = &job->run.ranks[r];
	size_t n = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		if (i % period != 1) {
			rank->ops[n++] = rank->ops[i];
		}
	}
	rank->n_ops = n;
}

static void lost_records_do_not_hide_the_drift(void **state)
{
	(void)state;
	struct small_job job;
	make_job(&job, DRIFT);
	lose(&job, 0, 23);
	lose(&job, 1, 17);
	double ppm = remove_drift(&job);
	assert_true(fabs(ppm - 1e6 * DRIFT) < 0.3);
	const struct fsl_rank *first = &job.run.ranks[0], *other = &job.run.ranks[1];
	int64_t late_ns =
		other->ops[other->n_ops - 1].dev_end_ns - first->ops[first->n_ops - 1].dev_end_ns;
	assert_true(llabs(late_ns - 3 * FSL_NS_PER_MS) < FSL_NS_PER_MS / 10);
	small_job_fini(&job);
}

static void failing_allocations_leave_the_run_as_it_is(void **state)
{
	(void)state;
	struct small_job job;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	make_job(&job, DRIFT);
	for (; status != FSL_OK && nth < 1000; nth++) {
		double ppm = NAN;
		assert_true(apart_ns(&job, USES - 1) - apart_ns(&job, 0) > 7 * FSL_NS_PER_MS);
		fsl_mem_fail_at(nth);
		status = remove_from(&job, &ppm);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(nth > 2);
	assert_true(llabs(apart_ns(&job, USES - 1) - apart_ns(&job, 0)) < FSL_NS_PER_MS / 10);
	small_job_fini(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(common_ends_are_as_far_apart_at_the_end_as_at_the_begin),
		cmocka_unit_test(clocks_that_run_alike_are_left_alone),
		cmocka_unit_test(lost_records_do_not_hide_the_drift),
		cmocka_unit_test(failing_allocations_leave_the_run_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
