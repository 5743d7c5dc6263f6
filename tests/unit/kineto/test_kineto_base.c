/* A trace that was cut lost the base of its times, which stands at its end: other ranks tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/kept_rows.h"
#include "source/kineto/base.h"

static const int64_t BASE_NS = INT64_C(1750000000000000000);

/* Two ranks; the second one has no base, and one kernel from 30 to 70 ns. */
struct job {
	struct fsl_profile_rank ranks[2];
	struct fsl_profile profile;
	struct fsl_kept_kernel kernel;
	struct fsl_kept_rows kept;
};

static void share(struct job *job, int64_t first_base_ns, int64_t second_base_ns)
{
	*job = (struct job){.kernel = {.begin_ns = 30, .end_ns = 70}};
	job->kept = (struct fsl_kept_rows){.kernels = &job->kernel, .n_kernels = 1};
	job->profile = (struct fsl_profile){.ranks = job->ranks, .n_ranks = 2};
	for (size_t r = 0; r < 2; r++) {
		job->ranks[r].folder.writer = FSL_PROFILE_KINETO;
		job->ranks[r].trace.begin_ns = 10;
		job->ranks[r].trace.end_ns = 90;
	}
	job->ranks[0].trace.base_ns = first_base_ns;
	job->ranks[1].trace.base_ns = second_base_ns;
	job->ranks[1].kept = &job->kept;
	fsl_kineto_share_base(&job->profile);
}

static void kernels_of_a_timeline_move_with_their_trace(void **state)
{
	(void)state;
	struct job job;
	share(&job, BASE_NS, 0);
	assert_int_equal(job.ranks[1].trace.begin_ns, BASE_NS + 10);
	assert_int_equal(job.kernel.begin_ns, BASE_NS + 30);
	assert_int_equal(job.kernel.end_ns, BASE_NS + 70);
	assert_int_equal(job.ranks[0].trace.begin_ns, 10);
}

static void ranks_with_a_base_and_ranks_that_nobody_tells_stay(void **state)
{
	(void)state;
	const int64_t bases[][2] = {{BASE_NS, BASE_NS}, {0, 0}, {BASE_NS, BASE_NS + 1}};
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		struct job job;
		share(&job, bases[i][0], bases[i][1]);
		assert_int_equal(job.ranks[1].trace.end_ns, 90);
		assert_int_equal(job.kernel.begin_ns, 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_a_timeline_move_with_their_trace),
		cmocka_unit_test(ranks_with_a_base_and_ranks_that_nobody_tells_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
