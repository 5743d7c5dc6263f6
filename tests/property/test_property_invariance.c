/* Changes that must not alter a verdict, and how it must move when the fault grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

enum { SEEDS_N = 4 };

/* A job with one slow rank, another one with each seed. */
static struct known_job slow_job(uint64_t seed)
{
	struct known_job job;
	known_job_init(&job);
	job.params.seed = seed;
	job.fault = FSL_SIM_COMPUTE;
	job.onset_step = 25;
	job.n_culprits = 1;
	job.culprits[0] = (int32_t)(seed % 8);
	return job;
}

/* Both jobs judged and compared; the first must be right as well. */
static void check_same(const struct known_job *a, const struct known_job *b, const char *what)
{
	struct judgement first;
	struct judgement second;
	judge(&first, a, 2);
	assert_right_verdict(&first, a);
	judge(&second, b, 2);
	assert_same_verdict(&first, &second, what);
}

static void relabelled_ranks_relabel_the_verdict(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct known_job job = slow_job(seed);
		job.params.relabel_by = seed % 2 == 0 ? 3 : 5;
		struct judgement judgement;
		judge(&judgement, &job, 2);
		assert_right_verdict(&judgement, &job);
	}
}

static void shifted_time_changes_no_verdict(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct known_job job = slow_job(seed);
		struct known_job shifted = job;
		shifted.params.start_ns += INT64_C(86399123456789);
		check_same(&job, &shifted, "a shift in time");
	}
}

static void scaled_durations_change_no_verdict(void **state)
{
	(void)state;
	static const double scales[] = {0.1, 0.5, 2.0, 10.0};
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct known_job job = slow_job(seed);
		struct known_job scaled = job;
		scaled.params.time_scale = scales[seed - 1];
		check_same(&job, &scaled, "scaling all durations");
	}
}

static void skewed_clocks_change_no_verdict(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct known_job job = slow_job(seed);
		struct known_job skewed = job;
		skewed.params.ranks_per_host = 1;
		skewed.params.clock_offset_ms = 50.0;
		/* Addresses differ with the hosts; ranks and causes must not. */
		check_same(&job, &skewed, "clocks of hosts apart");
	}
}

static void number_of_threads_changes_no_verdict(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS_N; seed++) {
		struct known_job job = slow_job(seed);
		struct judgement one;
		struct judgement many;
		judge(&one, &job, 1);
		assert_right_verdict(&one, &job);
		judge(&many, &job, 7);
		assert_same_verdict(&one, &many, "the number of threads");
		assert_true(one.slowdown == many.slowdown);
		assert_true(one.lost_ms == many.lost_ms);
	}
}

static void form_of_the_files_changes_no_verdict(void **state)
{
	(void)state;
	static const struct {
		enum fsl_sim_format format;
		enum fsl_sim_compression compression;
	} forms[] = {
		{FSL_SIM_CSV, FSL_SIM_GZIP},
		{FSL_SIM_CSV, FSL_SIM_ZSTD},
		{FSL_SIM_JSON, FSL_SIM_PLAIN},
		{FSL_SIM_JSON, FSL_SIM_GZIP},
	};
	struct known_job job = slow_job(1);
	struct judgement plain;
	judge(&plain, &job, 2);
	assert_right_verdict(&plain, &job);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		job.params.format = (int)forms[i].format;
		job.params.compression = (int)forms[i].compression;
		job.params.timeline_json = i % 2 == 1;
		struct judgement judgement;
		judge(&judgement, &job, 2);
		assert_same_verdict(&plain, &judgement, "the form of the files");
		assert_true(plain.slowdown == judgement.slowdown);
		assert_true(plain.lost_ms == judgement.lost_ms);
	}
}

/* The simulator draws the same noise whatever the fault, so the figures must be monotone. */
static void larger_delay_never_lowers_the_slowdown(void **state)
{
	(void)state;
	static const double factors[] = {1.1, 1.2, 1.4, 1.8, 2.6};
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct known_job job = slow_job(seed);
		double slowdown = 1.0;
		double lost_ms = 0.0;
		for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
			job.factor = factors[i];
			struct judgement judgement;
			judge(&judgement, &job, 2);
			assert_right_verdict(&judgement, &job);
			if (judgement.slowdown < slowdown || judgement.lost_ms < lost_ms) {
				print_message("factor %g: slowdown %g after %g, lost %g after %g\n",
					      factors[i], judgement.slowdown, slowdown,
					      judgement.lost_ms, lost_ms);
				fail();
			}
			slowdown = judgement.slowdown;
			lost_ms = judgement.lost_ms;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relabelled_ranks_relabel_the_verdict),
		cmocka_unit_test(shifted_time_changes_no_verdict),
		cmocka_unit_test(scaled_durations_change_no_verdict),
		cmocka_unit_test(skewed_clocks_change_no_verdict),
		cmocka_unit_test(number_of_threads_changes_no_verdict),
		cmocka_unit_test(form_of_the_files_changes_no_verdict),
		cmocka_unit_test(larger_delay_never_lowers_the_slowdown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
