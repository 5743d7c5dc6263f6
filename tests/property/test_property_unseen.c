/* Ranks without data: no other rank is named in their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

struct shape {
	int32_t tp, dp, pp;
};

static void set_shape(struct known_job *job, const struct shape *shape, uint64_t seed)
{
	job->params.tp = shape->tp;
	job->params.dp = shape->dp;
	job->params.pp = shape->pp;
	job->params.seed = seed;
}

/* Rank 3 is slow from step 25 on and left no data. */
static void init_slow_unseen(struct known_job *job, int fault)
{
	known_job_init(job);
	job->fault = fault;
	job->culprits[0] = job->lost[0] = 3;
	job->n_culprits = job->n_lost = 1;
	job->onset_step = 25;
}

/* The job is judged; fails unless everybody gets slower and nobody is named. */
static void check_nobody_is_named(const struct known_job *job)
{
	struct judgement judgement;
	char text[1024];
	judge(&judgement, job, 2);
	if (judgement.n_culprits > 0) {
		known_job_print(job, text, sizeof(text));
		print_message("names %d (%s): failslow simulate DIR %s\n", judgement.culprits[0],
			      judgement.causes[0], text);
	}
	assert_int_equal(judgement.n_culprits, 0);
	assert_string_equal(judgement.kind, "job_slowdown");
	assert_int_equal(judgement.n_missing, job->n_lost);
}

/* All others wait for it in every collective, and none of these was seen whole. */
static void a_slow_rank_without_data_in_the_only_group_is_no_slow_link(void **state)
{
	(void)state;
	static const struct shape shapes[] = {{8, 1, 1}, {16, 1, 1}, {1, 8, 1}, {1, 16, 1}};
	static const int faults[] = {FSL_SIM_COMPUTE, FSL_SIM_HOST, FSL_SIM_DATALOADER};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t k = 0; k < sizeof(faults) / sizeof(faults[0]); k++) {
			struct known_job job;
			init_slow_unseen(&job, faults[k]);
			set_shape(&job, &shapes[i], i * 3 + k);
			job.lost_as = k == 1 ? FSL_SIM_EMPTY : FSL_SIM_MISSING;
			job.params.timelines =
				k == 2 ? FSL_SIM_TIMELINES_NONE : FSL_SIM_TIMELINES_FIRST;
			check_nobody_is_named(&job);
		}
	}
}

/* Every group misses a member, so that none shows how large it should be. */
static void slow_ranks_without_data_in_each_group_are_no_slow_links(void **state)
{
	(void)state;
	static const struct shape shape = {8, 2, 1};
	struct known_job job;
	init_slow_unseen(&job, FSL_SIM_COMPUTE);
	set_shape(&job, &shape, 1);
	job.culprits[1] = job.lost[1] = 12;
	job.n_culprits = job.n_lost = 2;
	check_nobody_is_named(&job);
}

/* Stages that are equally far behind a gap and behind the begin are no replicas. */
static void unequal_stages_around_one_without_data_name_no_host(void **state)
{
	(void)state;
	static const struct shape shape = {4, 2, 4};
	static const struct {
		int32_t slow, lost; /* stages */
		int schedule;
	} jobs[] = {{0, 2, FSL_SIM_1F1B},
		    {1, 2, FSL_SIM_INTERLEAVED},
		    {3, 1, FSL_SIM_1F1B},
		    {3, 2, FSL_SIM_INTERLEAVED}};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct known_job job;
		struct judgement judgement;
		known_job_init(&job);
		set_shape(&job, &shape, i + 1);
		job.fault = FSL_SIM_STAGE;
		job.factor = 1.5;
		job.params.micro_batches = 8;
		job.params.ranks_per_host = 8;
		job.params.p2p_groups = FSL_SIM_PAIR_GROUPS;
		job.params.schedule = jobs[i].schedule;
		job.params.chunks = jobs[i].schedule == FSL_SIM_INTERLEAVED ? 2 : 1;
		job.culprits[0] = jobs[i].slow;
		job.n_culprits = 1;
		for (int32_t r = 0; r < shape.tp * shape.dp; r++) {
			job.lost[job.n_lost++] = jobs[i].lost * shape.tp * shape.dp + r;
		}
		judge(&judgement, &job, 2);
		/* Receives posted ahead may hide too much of the work to tell. */
		if (jobs[i].schedule == FSL_SIM_INTERLEAVED && judgement.n_culprits == 0) {
			assert_string_equal(judgement.kind, "normal");
			continue;
		}
		assert_string_equal(judgement.kind, "stage_imbalance");
		assert_int_equal(judgement.n_culprits, 1);
		assert_int_equal(judgement.culprits[0], jobs[i].slow * shape.tp * shape.dp);
	}
}

static void less_data_says_no_more_of_ranks_that_have_no_peers(void **state)
{
	(void)state;
	static const struct shape shape = {1, 1, 8};
	for (int32_t lost = -1; lost < shape.pp - 1; lost++) {
		struct known_job job;
		struct judgement judgement;
		known_job_init(&job);
		set_shape(&job, &shape, 1);
		job.params.p2p_groups = FSL_SIM_PAIR_GROUPS;
		job.lost[0] = lost;
		job.n_lost = lost >= 0 ? 1 : 0;
		judge(&judgement, &job, 2);
		assert_string_equal(judgement.kind, "insufficient_evidence");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_rank_without_data_in_the_only_group_is_no_slow_link),
		cmocka_unit_test(slow_ranks_without_data_in_each_group_are_no_slow_links),
		cmocka_unit_test(unequal_stages_around_one_without_data_name_no_host),
		cmocka_unit_test(less_data_says_no_more_of_ranks_that_have_no_peers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
