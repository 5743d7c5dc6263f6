/* A slow network is told as what it is: a host's own, one that wanders, or single links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

static struct known_job job_of(const char *const *settings, int fault, double factor)
{
	struct known_job job;
	known_job_init(&job);
	for (size_t i = 0; settings[i] != NULL; i++) {
		assert_int_equal(fsl_sim_params_set(&job.params, settings[i], NULL), FSL_OK);
	}
	job.fault = fault;
	job.factor = factor;
	return job;
}

static void a_host_is_named_if_all_that_leaves_it_is_slow(void **state)
{
	static const int32_t firsts[] = {4, 12};
	static const char *const settings[] = {
		"family=megatron",  "tp=2",        "dp=4", "pp=2", "steps=80",
		"ranks_per_host=4", "step_ms=300", NULL};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct known_job job = job_of(settings, FSL_SIM_NIC, 3.5 - 0.4 * (double)i);
		struct judgement judgement;
		job.params.seed = 5 + i;
		job.onset_step = 15 + (int32_t)i;
		for (int32_t r = 0; r < 4; r++) {
			job.culprits[job.n_culprits++] = firsts[i] + r;
		}
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "slow_host");
		assert_int_equal(judgement.n_culprits, 4);
		assert_int_equal(judgement.culprits[0], firsts[i]);
		assert_string_equal(judgement.causes[0], "network");
	}
}

static void slowness_that_wanders_from_group_to_group_names_nobody(void **state)
{
	static const char *const families[] = {"family=zb", "family=moe", "family=vpp",
					       "family=vpp"};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const char *const settings[] = {families[i],
						"tp=1",
						i == 1 ? "dp=8" : "dp=4",
						i == 1 ? "pp=1" : "pp=2",
						"steps=80",
						"ranks_per_host=4",
						"step_ms=300",
						NULL};
		struct known_job job = job_of(settings, FSL_SIM_CONGESTION, 2.2);
		struct judgement judgement;
		job.params.seed = 7 + i;
		job.onset_step = i == 2 ? 10 : 12;
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "job_slowdown");
		assert_int_equal(judgement.n_culprits, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_named_if_all_that_leaves_it_is_slow),
		cmocka_unit_test(slowness_that_wanders_from_group_to_group_names_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
