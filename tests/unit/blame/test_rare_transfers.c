/* Claims about single long steps that transfers explain. */
#include <stdio.h>

#include "charged_job.h"

#include "blame/rare_transfers.h"

static enum fsl_verdict_kind tell(struct charged_job *c, size_t n_missing, char *reason,
				  size_t n_reason)
{
	struct fsl_localisation out = {.kind = FSL_VERDICT_NORMAL,
				       .coverage = {.n_ranks_seen = c->job.n_ranks,
						    .n_ranks_expected = c->job.n_ranks,
						    .n_missing_ranks = n_missing}};
	charge(c);
	c->config.anomaly_degree_thr = 0.2;
	struct fsl_case facts = CASE_OF(c);
	assert_int_equal(fsl_rare_transfers_tell(&out, &facts, NULL), FSL_OK);
	(void)snprintf(reason, n_reason, "%s", out.reason != NULL ? out.reason : "");
	enum fsl_verdict_kind kind = out.kind;
	fsl_localisation_fini(&out);
	release(c);
	return kind;
}

static void expect(size_t every, double ms, enum fsl_verdict_kind kind, const char *begin)
{
	struct charged_job c = {0};
	char reason[256];
	small_job_init(&c.job, 8, 40);
	c.job.time_out_every = every;
	c.job.time_out_ms = ms;
	assert_int_equal(tell(&c, 0, reason, sizeof(reason)), kind);
	assert_memory_equal(reason, begin, strlen(begin));
}

static void time_outs_of_transfers_are_told(void **state)
{
	(void)state;
	expect(10, 200.0, FSL_VERDICT_JOB_SLOWDOWN, "4 single steps take ");
	expect(13, 150.0, FSL_VERDICT_JOB_SLOWDOWN, "3 single steps take ");
}

static void two_time_outs_and_cheap_ones_are_not_told(void **state)
{
	(void)state;
	expect(20, 900.0, FSL_VERDICT_NORMAL, "");
	expect(13, 100.0, FSL_VERDICT_NORMAL, "");
	expect(0, 0.0, FSL_VERDICT_NORMAL, "");
}

static void long_steps_of_a_late_rank_are_no_time_outs(void **state)
{
	(void)state;
	struct charged_job c = {0};
	char reason[256];
	small_job_init(&c.job, 8, 40);
	c.job.head_ms[2] = 200.0;
	c.job.onset = 10;
	c.job.until = 14;
	assert_int_equal(tell(&c, 0, reason, sizeof(reason)), FSL_VERDICT_NORMAL);
}

static void a_rank_that_was_not_seen_may_have_been_late(void **state)
{
	(void)state;
	struct charged_job c = {0};
	char reason[256];
	small_job_init(&c.job, 8, 40);
	c.job.time_out_every = 10;
	c.job.time_out_ms = 200.0;
	assert_int_equal(tell(&c, 1, reason, sizeof(reason)), FSL_VERDICT_NORMAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_outs_of_transfers_are_told),
		cmocka_unit_test(two_time_outs_and_cheap_ones_are_not_told),
		cmocka_unit_test(long_steps_of_a_late_rank_are_no_time_outs),
		cmocka_unit_test(a_rank_that_was_not_seen_may_have_been_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
