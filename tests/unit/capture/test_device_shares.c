/* Parts of the device's time sum to their window, and are those of other programs for real traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/shares.h"

/* Times of a set in the reference data, us: from exact intervals, and from HTA with all steps. */
struct known {
	const char *path;
	double window, compute, exposed_comm, exposed_memory, idle, overlap_percent;
	double hta_window, hta_compute, hta_idle; /* of work that was launched in steps */
	double tolerance; /* of times that went through doubles since 1970 */
};

static void assert_near(double found, double wanted, double tolerance)
{
	if (!(fabs(found - wanted) <= tolerance)) {
		fail_msg("%.4f instead of %.4f", found, wanted);
	}
}

static void assert_sums(const struct fsl_profile_shares *shares)
{
	assert_int_equal(shares->window_ns, shares->compute_ns + shares->exposed_comm_ns +
						    shares->exposed_memory_ns + shares->idle_ns);
	assert_int_equal(shares->comm_ns, shares->exposed_comm_ns + shares->overlapped_ns);
}

static void compare(const struct fsl_profile_rank *rank, const struct known *known)
{
	assert_true(rank->n_shares >= 1);
	const struct fsl_profile_shares *whole = &rank->shares[0];
	struct fsl_profile_shares steps = {0};
	assert_int_equal(whole->step, FSL_STEP_ABSENT);
	for (size_t i = 0; i < rank->n_shares; i++) {
		const struct fsl_profile_shares *shares = &rank->shares[i];
		assert_sums(shares);
		steps.window_ns += i > 0 ? shares->window_ns : 0;
		steps.compute_ns += i > 0 ? shares->compute_ns : 0;
		steps.idle_ns += i > 0 ? shares->idle_ns : 0;
	}
	assert_near((double)whole->window_ns / 1e3, known->window, known->tolerance);
	assert_near((double)whole->compute_ns / 1e3, known->compute, known->tolerance);
	assert_near((double)whole->exposed_comm_ns / 1e3, known->exposed_comm, known->tolerance);
	assert_near((double)whole->exposed_memory_ns / 1e3, known->exposed_memory,
		    known->tolerance);
	assert_near((double)whole->idle_ns / 1e3, known->idle, known->tolerance);
	if (!isnan(known->overlap_percent)) {
		assert_near(100.0 * (double)whole->overlapped_ns / (double)whole->comm_ns,
			    known->overlap_percent, 0.005);
	}
	if (!isnan(known->hta_window)) {
		assert_near((double)steps.window_ns / 1e3, known->hta_window, known->tolerance);
		assert_near((double)steps.compute_ns / 1e3, known->hta_compute, known->tolerance);
		assert_near((double)steps.idle_ns / 1e3, known->hta_idle, known->tolerance);
	}
}

static void check(const struct known *known)
{
	char path[512];
	struct fsl_profile set;
	struct fsl_error err = {0};
	const char *folder = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, sizeof(path), "%s/data/kineto/%s",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, known->path);
	if (access(path, R_OK) != 0) {
		skip();
	}
	const struct fsl_profile_options options = {.path = path};
	assert_int_equal(fsl_profile_read(&set, &options, &err), FSL_OK);
	assert_int_equal(set.n_ranks, 1);
	compare(&set.ranks[0], known);
	fsl_profile_fini(&set);
}

static void shares_of_two_ranks_are_those_of_hta(void **state)
{
	(void)state;
	static const struct known known[] = {
		{"hta/trace_filter/sampled_rank-0.json.gz", 1222847, 210320, 336983, 353, 675191,
		 14.95, 1222847, 210320, 675191, 0.001},
		{"hta/trace_filter/sampled_rank-1.json.gz", 1231186, 271973, 303523, 4554, 651136,
		 19.93, 1231186, 271973, 651136, 0.001},
	};
	check(&known[0]);
	check(&known[1]);
}

static void shares_in_ns_are_those_of_hta(void **state)
{
	(void)state;
	static const struct known known = {"hta/nccl_parser_config/nccl_data.json.gz",
					   660551.0056,
					   115655.847,
					   39559.4658,
					   2284.7695,
					   503050.9914,
					   15.61,
					   660551.0056,
					   115655.847,
					   503050.9914,
					   0.2};
	check(&known);
}

static void shares_of_many_steps_are_those_of_hta(void **state)
{
	(void)state;
	static const struct known known = {"hta/df_index_resolver/df_index_resolver.json.gz",
					   1732965,
					   620516,
					   357343,
					   22754,
					   732352,
					   0.0,
					   1732965,
					   620516,
					   732352,
					   0.001};
	check(&known);
}

/* HTA leaves the last step out here, and rounds the begins of 4,876 works up to us and their ends
 * down: each is up to 2 us shorter, and each gap so much longer. */
static void shares_of_wanted_steps_differ_from_those_of_hta_by_rounding_alone(void **state)
{
	(void)state;
	enum { N_WORKS = 4876 };
	static const int64_t steps[] = {101, 102, 103, 104};
	char path[512];
	struct fsl_profile set;
	struct fsl_profile_shares sum = {0};
	const char *folder = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, sizeof(path),
		       "%s/data/kineto/hta/ns_resolution_trace/"
		       "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR);
	if (access(path, R_OK) != 0) {
		skip();
	}
	const struct fsl_profile_options options = {.path = path, .steps = steps, .n_steps = 4};
	assert_int_equal(fsl_profile_read(&set, &options, NULL), FSL_OK);
	assert_int_equal(set.ranks[0].n_shares, 5);
	for (size_t i = 1; i < 5; i++) {
		const struct fsl_profile_shares *shares = &set.ranks[0].shares[i];
		assert_sums(shares);
		sum.window_ns += shares->window_ns;
		sum.compute_ns += shares->compute_ns;
		sum.idle_ns += shares->idle_ns;
	}
	fsl_profile_fini(&set);
	/* The last step of HTA ends with its last work, ours with the first of the next step. */
	assert_near((double)sum.window_ns / 1e3, 384634, 2.0);
	double shorter_us = (double)sum.compute_ns / 1e3 - 372150;
	double longer_us = 10113 - (double)sum.idle_ns / 1e3;
	assert_true(shorter_us >= 0.0 && shorter_us <= 2.0 * N_WORKS);
	assert_true(longer_us >= 0.0 && longer_us <= 2.0 * N_WORKS);
}

static void shares_of_a_trace_of_rocm_are_exact(void **state)
{
	(void)state;
	static const struct known known = {
		"tracelens/mi300_resnet_act_checkpoint.json.gz",
		86567.708,
		25739.3511,
		55625.186,
		2637.5317,
		2565.6392,
		22.22,
		NAN, /* HTA drops kernels whose launch is missing; they are in steps here */
		NAN,
		NAN,
		0.2};
	check(&known);
}

static void traces_without_communication_have_none(void **state)
{
	(void)state;
	static const struct known known[] = {
		{"tb_samples/resnet50_nw4_worker0.1623212756351.pt.trace.json.gz", 801550, 594868,
		 0, 19545, 187137, NAN, NAN, NAN, NAN, 0.001},
		{"tracelens/h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 49652.832, 45432.7057, 0,
		 214.605, 4005.5215, NAN, NAN, NAN, NAN, 0.2},
	};
	check(&known[0]);
	check(&known[1]);
}

static void overlapping_work_counts_once(void **state)
{
	(void)state;
	struct fsl_shares_sweep sweep = {0};
	fsl_shares_add(&sweep, 100, 50, FSL_DEVICE_COMPUTE);
	fsl_shares_add(&sweep, 120, 80, FSL_DEVICE_COMMUNICATION);
	fsl_shares_add(&sweep, 120, 0, FSL_DEVICE_COMPUTE);
	fsl_shares_add(&sweep, 190, 30, FSL_DEVICE_MEMORY);
	fsl_shares_add(&sweep, 300, 10, FSL_DEVICE_MEMORY);
	struct fsl_profile_shares shares = fsl_shares_tell(&sweep, true);
	assert_sums(&shares);
	assert_int_equal(shares.window_ns, 210);
	assert_int_equal(shares.compute_ns, 50);
	assert_int_equal(shares.exposed_comm_ns, 50);
	assert_int_equal(shares.exposed_memory_ns, 30);
	assert_int_equal(shares.overlapped_ns, 30);
	assert_int_equal(shares.idle_ns, 80);
}

static void a_stretch_that_is_told_counts_for_no_other_one(void **state)
{
	(void)state;
	struct fsl_shares_sweep sweep = {0};
	fsl_shares_add(&sweep, 0, 40, FSL_DEVICE_COMPUTE);
	fsl_shares_advance(&sweep, 30);
	struct fsl_profile_shares first = fsl_shares_tell(&sweep, false);
	fsl_shares_add(&sweep, 30, 5, FSL_DEVICE_MEMORY);
	struct fsl_profile_shares second = fsl_shares_tell(&sweep, true);
	assert_sums(&first);
	assert_sums(&second);
	assert_int_equal(first.compute_ns, 30);
	assert_int_equal(second.compute_ns, 10);
	assert_int_equal(second.window_ns, 10);
	assert_int_equal(second.exposed_memory_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_two_ranks_are_those_of_hta),
		cmocka_unit_test(shares_in_ns_are_those_of_hta),
		cmocka_unit_test(shares_of_many_steps_are_those_of_hta),
		cmocka_unit_test(shares_of_wanted_steps_differ_from_those_of_hta_by_rounding_alone),
		cmocka_unit_test(shares_of_a_trace_of_rocm_are_exact),
		cmocka_unit_test(traces_without_communication_have_none),
		cmocka_unit_test(overlapping_work_counts_once),
		cmocka_unit_test(a_stretch_that_is_told_counts_for_no_other_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
