/* Arrival arcs on jobs whose own work is known. */
#include "arcs_job.h"

#include <math.h>

#include "arcs/classes.h"

static const int64_t no_offset[ARCS_RANKS_MAX];

/* Runs @job and judges it; @arcs is to be released. */
static void judge(struct fsl_arcs *arcs, struct arcs_job *job)
{
	arcs_job_run(job, FSL_GROUP_PP);
	assert_int_equal(fsl_arcs_find(arcs, &job->run, &job->topology, job->clock_ns, NULL),
			 FSL_OK);
}

static void end(struct fsl_arcs *arcs, struct arcs_job *job)
{
	fsl_arcs_fini(arcs);
	arcs_job_fini(job);
}

/* Exactly the ranks of @named are slow; all others are innocent. */
static void assert_named(const struct fsl_arcs *arcs, uint32_t named)
{
	for (size_t r = 0; r < arcs->n_ranks; r++) {
		bool is_slow = fsl_arcs_is_slow(arcs->ranks[r].verdict.word);
		if (is_slow != ((named >> r & 1) != 0)) {
			fail_msg("rank %zu: word %d, cost %.3f, excess %.3f, z %.1f", r,
				 (int)arcs->ranks[r].verdict.word, arcs->ranks[r].verdict.cost,
				 arcs->ranks[r].verdict.excess, arcs->ranks[r].verdict.z);
		}
		assert_int_not_equal(arcs->ranks[r].verdict.word, FSL_ARCS_UNTOLD);
	}
}

static size_t culprit, onset, period;
static uint64_t seed;
static double extra;

static double extra_of_culprit(size_t rank, size_t step, size_t row)
{
	(void)row;
	return rank == culprit && step >= onset ? extra : 0.0;
}

static double mean_excess(const struct fsl_arcs *arcs, size_t r, size_t begin)
{
	double sum_ms = 0.0;
	for (size_t s = begin; s < arcs->ranks[r].n_steps; s++) {
		sum_ms += arcs->ranks[r].excess_ms[s];
	}
	return sum_ms / (double)(arcs->ranks[r].n_steps - begin);
}

static void a_rank_that_works_longer_is_named_with_its_work_in(size_t n_ranks, size_t who,
							       size_t when, double more_ms)
{
	struct arcs_job job;
	struct fsl_arcs arcs;
	arcs_job_init(&job, n_ranks, 60);
	culprit = who;
	onset = when;
	extra = more_ms / 4.0;
	job.extra_ms = extra_of_culprit;
	job.clock_ns[1] = 7 * FSL_NS_PER_MS;
	judge(&arcs, &job);
	assert_named(&arcs, UINT32_C(1) << who);
	const struct fsl_arcs_rank *rank = &arcs.ranks[who];
	assert_int_equal(rank->verdict.word, FSL_ARCS_LASTING);
	/* The first step has no anchor before it. */
	assert_in_range(rank->verdict.onset + 2, when - (when > 0), when + 2);
	assert_true(fabs(mean_excess(&arcs, who, rank->verdict.onset) - more_ms) < 0.5);
	for (size_t r = 0; r < n_ranks; r++) {
		assert_true(r == who || fabs(mean_excess(&arcs, r, when)) < 0.5);
	}
	end(&arcs, &job);
}

static void a_slow_rank_is_named_with_its_own_work_and_waiters_have_none(void **state)
{
	(void)state;
	a_rank_that_works_longer_is_named_with_its_work_in(8, 3, 20, 16.0);
}

static void another_slow_rank_is_named_with_its_own_work(void **state)
{
	(void)state;
	a_rank_that_works_longer_is_named_with_its_work_in(5, 4, 31, 9.0);
}

static void a_slow_rank_of_three_is_late(void **state)
{
	(void)state;
	a_rank_that_works_longer_is_named_with_its_work_in(3, 2, 22, 14.0);
	a_rank_that_works_longer_is_named_with_its_work_in(3, 0, 35, 10.0);
}

/* Peers that always waited teach arcs that hold their wait: less than the whole excess shows. */
static void a_rank_slow_from_the_start_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 16 - 9 * i, 60);
		culprit = 11 - 6 * i;
		onset = 0;
		extra = 6.0 + (double)i;
		job.extra_ms = extra_of_culprit;
		judge(&arcs, &job);
		assert_named(&arcs, UINT32_C(1) << culprit);
		assert_true(mean_excess(&arcs, culprit, 0) > 0.9 * extra);
		end(&arcs, &job);
	}
}

static void of_ranks_that_work_alike_none_is_named(void **state)
{
	(void)state;
	for (size_t n_ranks = 3; n_ranks <= 16; n_ranks += 13) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, n_ranks, 40);
		judge(&arcs, &job);
		assert_named(&arcs, 0);
		end(&arcs, &job);
	}
}

/* Gradients are reduced in three buckets beneath the backward pass. */
static void overlap(struct arcs_job *job)
{
	job->n_rows = 5;
	for (size_t k = 0; k < 5; k++) {
		job->rows[k] =
			(struct arcs_row){.op = k < 4 ? "HcclReduceScatter" : "HcclAllReduce",
					  .n_elements = 5000 + k,
					  .work_ms = 30.0,
					  .transfer_ms = 24.0,
					  .is_beside = k < 4};
	}
}

/* Healthy ranks that differ by 2 % in all that they do. */
static double uneven(size_t rank, size_t step, size_t row)
{
	double share = (double)((rank * 7) % 16) / 15.0 * 0.02;
	return 30.0 * share + extra_of_culprit(rank, step, row);
}

static void overlapped_operators_hide_no_work_and_make_none(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 16, 60);
		overlap(&job);
		culprit = i == 1 ? 5 : 12;
		onset = 25;
		extra = i == 0 ? 0.0 : i == 1 ? 3.0 : 6.0;
		job.extra_ms = uneven;
		judge(&arcs, &job);
		assert_named(&arcs, i == 0 ? 0 : UINT32_C(1) << culprit);
		end(&arcs, &job);
	}
}

/* Two middle stages of a pipeline of four run the same operators; each has @n_ranks / 4 ranks. */
static bool row_of_stage(size_t rank, size_t step, size_t row)
{
	size_t stage = rank % 4;
	(void)step;
	return row == 3 || (row == 0 && stage > 0) || (row == 1 && stage < 3) || row == 2;
}

static double more_in_stage_2(size_t rank, size_t step, size_t row)
{
	(void)step;
	return rank % 4 == 2 && row == 2 ? extra : 0.0;
}

static void pipeline(struct arcs_job *job)
{
	job->n_rows = 4;
	job->rows[0] = (struct arcs_row){"HcclReceive", 700, 5.0, 1.0, 1, false};
	job->rows[1] = (struct arcs_row){"HcclSend", 700, 30.0, 1.0, 1, false};
	job->rows[2] = (struct arcs_row){"HcclAllGather", 90, 20.0, 1.0, 0, false};
	job->rows[3] = (struct arcs_row){"HcclReduceScatter", 90, 9.0, 1.0, 0, false};
	for (size_t r = 0; r < job->n_ranks; r++) {
		job->group_of[0][r] = (int)(r % 4);
		job->group_of[1][r] = (int)(r / 4);
	}
	job->has_row = row_of_stage;
}

static void middle_stages_of_a_pipeline_are_not_compared(void **state)
{
	(void)state;
	for (size_t n_ranks = 8; n_ranks <= 16; n_ranks += 8) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, n_ranks, 40);
		pipeline(&job);
		extra = 25.0;
		job.extra_ms = more_in_stage_2;
		judge(&arcs, &job);
		assert_int_equal(arcs.n_slow, 0);
		/* Two ranks of a stage are too few to compare, four are not. */
		assert_int_equal(arcs.n_judged, n_ranks == 8 ? 0 : 16);
		assert_true((arcs.ranks[2].lack != NULL) == (n_ranks == 8));
		end(&arcs, &job);
	}
}

/* An evaluation behind every eighth step has two operators more. */
static bool row_of_training(size_t rank, size_t step, size_t row)
{
	(void)rank;
	return row < 4 || step % onset == onset - 1;
}

static double long_evaluation(size_t rank, size_t step, size_t row)
{
	(void)step;
	return rank == 1 && row >= 4 ? 80.0 : 0.0;
}

static void steps_with_an_evaluation_are_left_out(void **state)
{
	(void)state;
	for (size_t every = 6; every <= 8; every += 2) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 6, 48);
		job.n_rows = 6;
		job.rows[4] = (struct arcs_row){"HcclAllGather", 33, 0.0, 1.0, 0, false};
		job.rows[5] = (struct arcs_row){"HcclAllGather", 33, 0.0, 1.0, 0, false};
		onset = every;
		job.has_row = row_of_training;
		job.extra_ms = long_evaluation;
		judge(&arcs, &job);
		assert_named(&arcs, 0);
		assert_in_range(arcs.ranks[0].n_steps, 48 - 2 - 48 / every, 47 - 48 / every);
		end(&arcs, &job);
	}
}

static double now_and_then(size_t rank, size_t step, size_t row)
{
	(void)row;
	return rank == culprit && step / onset % 3 == 1 ? extra : 0.0;
}

static void a_rank_that_is_slow_now_and_then_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 8, 120);
		culprit = 2 + 4 * i;
		onset = 8 + 4 * i;
		extra = 12.0;
		job.extra_ms = now_and_then;
		judge(&arcs, &job);
		assert_named(&arcs, UINT32_C(1) << culprit);
		assert_int_equal(arcs.ranks[culprit].verdict.word, FSL_ARCS_COMES);
		end(&arcs, &job);
	}
}

static double extra_and_a_long_step(size_t rank, size_t step, size_t row)
{
	bool is_long = rank == culprit && row == 0 && step == 70;
	return extra_of_culprit(rank, step, row) + (is_long ? 900.0 : 0.0);
}

static void a_single_long_step_hides_no_lasting_rank(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 8, 80 + 8 * i);
		culprit = 4 - 3 * i;
		onset = 12 + 8 * i;
		extra = 3.0 + (double)i;
		job.extra_ms = extra_and_a_long_step;
		judge(&arcs, &job);
		assert_named(&arcs, UINT32_C(1) << culprit);
		assert_int_equal(arcs.ranks[culprit].verdict.word, FSL_ARCS_LASTING);
		end(&arcs, &job);
	}
}

/* Up to 60 ms of work that differs in every step, as that of sequences does. */
static double uneven_work(size_t rank, size_t step, size_t row)
{
	uint64_t random = (rank * 1000 + step) * UINT64_C(0x9e3779b97f4a7c15) + seed;
	random = (random ^ (random >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
	return row == 0 ? 60.0 * (double)(random >> 40) / (double)(1 << 24) : 0.0;
}

static double every_so_many(size_t rank, size_t step, size_t row)
{
	bool is_slow = rank == culprit && row == 0 && step >= 10 && step % period == 1;
	return uneven_work(rank, step, row) + (is_slow ? extra : 0.0);
}

static void a_rank_slow_in_every_few_steps_is_named_beneath_uneven_work(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 8, 80);
		culprit = 6 - 5 * i;
		period = 4 + 2 * i;
		extra = 70.0 - 5.0 * (double)i;
		seed = i;
		job.extra_ms = every_so_many;
		judge(&arcs, &job);
		assert_named(&arcs, UINT32_C(1) << culprit);
		const struct fsl_arcs_verdict *verdict = &arcs.ranks[culprit].verdict;
		assert_int_equal(verdict->word, FSL_ARCS_RECURS);
		assert_int_equal(verdict->every, period);
		assert_in_range(verdict->onset, 8, 8 + 2 * period);
		end(&arcs, &job);
	}
}

/* The evaluation takes the place of no step of training in the count. */
static void evaluations_do_not_shift_the_steps_in_which_a_rank_is_slow(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 8, 80);
		job.n_rows = 6;
		job.rows[4] = (struct arcs_row){"HcclAllGather", 33, 0.0, 1.0, 0, false};
		job.rows[5] = (struct arcs_row){"HcclAllGather", 33, 0.0, 1.0, 0, false};
		onset = 11 + 4 * i;
		culprit = 2 + i;
		period = 6;
		extra = 70.0;
		seed = 5 + i;
		job.has_row = row_of_training;
		job.extra_ms = every_so_many;
		judge(&arcs, &job);
		assert_named(&arcs, UINT32_C(1) << culprit);
		assert_int_equal(arcs.ranks[culprit].verdict.every, 6);
		end(&arcs, &job);
	}
}

static void of_ranks_whose_work_differs_in_every_step_none_is_named(void **state)
{
	(void)state;
	for (seed = 0; seed < 20; seed++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 3 + seed % 6, 60 + 4 * seed);
		job.extra_ms = uneven_work;
		judge(&arcs, &job);
		assert_named(&arcs, 0);
		end(&arcs, &job);
	}
}

static double slow_host(size_t rank, size_t step, size_t row)
{
	(void)row;
	return rank / 4 == culprit && step >= onset ? extra + 0.3 * (double)(rank % 4) : 0.0;
}

static void all_ranks_of_a_slow_host_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 8, 60);
		culprit = i;
		onset = 10 * i;
		extra = 5.0;
		job.extra_ms = slow_host;
		judge(&arcs, &job);
		assert_named(&arcs, UINT32_C(15) << 4 * i);
		assert_int_equal(arcs.ranks[4 * i].verdict.word, FSL_ARCS_HOST);
		end(&arcs, &job);
	}
}

static bool lost_now_and_then(size_t rank, size_t step, size_t row)
{
	return (rank * 7 + step * 5 + row) % onset != 0;
}

static void lost_operators_cost_the_rank_its_step_alone(void **state)
{
	(void)state;
	for (size_t every = 41; every <= 67; every += 26) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 6, 60);
		onset = every;
		job.has_row = lost_now_and_then;
		judge(&arcs, &job);
		assert_named(&arcs, 0);
		assert_true(arcs.ranks[0].n_steps > 40);
		end(&arcs, &job);
	}
}

/* Its groups are smaller than those of the others, and still the same. */
static void lose_rank(struct arcs_job *job, size_t r)
{
	job->run.ranks[r].n_ops = 0;
	job->topology.n_expected_ranks = job->n_ranks;
	for (size_t g = 0; g < job->topology.n_groups; g++) {
		struct fsl_group *group = &job->groups[g];
		size_t n_left = 0;
		for (size_t i = 0; i < group->n_ranks; i++) {
			if (job->members[g][i] != (int32_t)r) {
				job->members[g][n_left++] = job->members[g][i];
			}
		}
		group->n_ranks = n_left;
	}
}

static void ranks_beside_one_without_data_are_judged(void **state)
{
	(void)state;
	for (size_t lost = 1; lost <= 6; lost += 5) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, 8, 60);
		for (int r = 0; r < 8; r++) { /* two groups of four, four of two across them */
			job.group_of[0][r] = r / 4;
			job.group_of[1][r] = r % 4;
		}
		job.rows[3].group_set = 1;
		culprit = 7 - lost;
		onset = 20;
		extra = 5.0;
		job.extra_ms = extra_of_culprit;
		arcs_job_run(&job, FSL_GROUP_TP);
		lose_rank(&job, lost);
		assert_int_equal(fsl_arcs_find(&arcs, &job.run, &job.topology, job.clock_ns, NULL),
				 FSL_OK);
		assert_int_equal(arcs.n_judged, 7);
		assert_int_equal(arcs.n_slow, 1);
		assert_true(fsl_arcs_is_slow(arcs.ranks[culprit].verdict.word));
		end(&arcs, &job);
	}
}

/* Where the culprit's extra work lies. */
static size_t extra_row;

static double extra_in_row(size_t rank, size_t step, size_t row)
{
	return row == extra_row ? extra_of_culprit(rank, step, row) : 0.0;
}

/* The host of a slow rank launches its operators @queued_ns before they begin. */
static struct fsl_arcs_clues clues_of(size_t who, size_t row, int64_t queued_ns)
{
	struct arcs_job job;
	struct fsl_arcs arcs;
	arcs_job_init(&job, 8, 60);
	culprit = who;
	onset = 20;
	extra = 16.0;
	extra_row = row;
	job.extra_ms = extra_in_row;
	arcs_job_run(&job, FSL_GROUP_PP);
	struct fsl_rank *rank = &job.run.ranks[who];
	for (size_t i = 0; i < rank->n_ops; i++) {
		rank->ops[i].host_end_ns =
			queued_ns >= 0 ? rank->ops[i].dev_begin_ns - queued_ns : FSL_NS_ABSENT;
	}
	assert_int_equal(fsl_arcs_find(&arcs, &job.run, &job.topology, no_offset, NULL), FSL_OK);
	assert_named(&arcs, UINT32_C(1) << who);
	struct fsl_arcs_clues clues = arcs.ranks[who].clues;
	end(&arcs, &job);
	return clues;
}

static void work_that_begins_as_it_is_launched_waited_for_the_host(void **state)
{
	(void)state;
	assert_true(clues_of(3, 0, 100).host_share > 0.9);
	assert_true(clues_of(5, 2, 20000).host_share > 0.9);
}

static void work_that_was_launched_long_before_is_the_devices(void **state)
{
	(void)state;
	assert_true(clues_of(3, 0, 16 * FSL_NS_PER_MS).host_share < 0.1);
	assert_true(clues_of(5, 2, 2 * FSL_NS_PER_MS).host_share < 0.1);
	assert_true(isnan(clues_of(3, 0, -1).host_share)); /* no host times */
}

static void work_before_the_first_operator_of_the_step_is_told(void **state)
{
	(void)state;
	/* The quiet before the first operator, in which there is most work, divides the steps. */
	assert_true(clues_of(3, 0, 100).head_share > 0.9);
	assert_true(clues_of(5, 2, 100).head_share < 0.1);
}

static void few_steps_and_few_ranks_are_not_judged(void **state)
{
	(void)state;
	static const size_t sizes[][2] = {{2, 40}, {8, 12}};
	for (size_t i = 0; i < 2; i++) {
		struct arcs_job job;
		struct fsl_arcs arcs;
		arcs_job_init(&job, sizes[i][0], sizes[i][1]);
		judge(&arcs, &job);
		assert_int_equal(arcs.n_judged, 0);
		assert_int_equal(arcs.ranks[0].verdict.word, FSL_ARCS_UNTOLD);
		assert_non_null(arcs.ranks[0].lack);
		end(&arcs, &job);
	}
}

/* A class of two samples by hand: [member][place * 2 + step], ms. */
static const int64_t begins[3][4] = {{0, 100, 30, 140}, {0, 100, 20, 121}, {0, 100, 25, 120}};
static const int64_t ends[3][4] = {{5, 105, 50, 160}, {5, 105, 50, 160}, {5, 105, 50, 160}};

static void fill(const void *source, size_t member, const uint32_t *steps, size_t n,
		 int64_t *begin_ns, int64_t *end_ns)
{
	(void)source;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < 2; k++) {
			begin_ns[k * n + i] = begins[member][k * 2 + steps[i]];
			end_ns[k * n + i] = ends[member][k * 2 + steps[i]];
		}
	}
}

static void with_few_samples_an_arc_is_the_least_of_all(void **state)
{
	(void)state;
	const struct fsl_arcs_class class = {
		.n_ranks = 3, .n_positions = 1, .n_steps = 2, .fill = fill};
	int64_t arcs_ns[FSL_ARCS_CANDIDATES_N], own_ns[2];
	assert_int_equal(fsl_arcs_build(arcs_ns, &class, NULL), FSL_OK);
	assert_int_equal(arcs_ns[0], 15); /* behind the end of the anchor: 20 - 5, 120 - 105 */
	fsl_arcs_explain(own_ns, arcs_ns, 0, begins[0], ends[0], 2);
	assert_int_equal(own_ns[0], 10);
	assert_int_equal(own_ns[1], 20);
	fsl_arcs_explain(own_ns, arcs_ns, 0, begins[1], ends[1], 2);
	assert_int_equal(own_ns[0], 0);
	assert_int_equal(own_ns[1], 1);
}

static void without_memory_finding_fails_cleanly(void **state)
{
	(void)state;
	struct arcs_job job;
	arcs_job_init(&job, 5, 30);
	arcs_job_run(&job, FSL_GROUP_PP);
	for (uint64_t nth = 1; nth < 400; nth += 7) {
		struct fsl_arcs arcs;
		fsl_mem_fail_at(nth);
		enum fsl_status status =
			fsl_arcs_find(&arcs, &job.run, &job.topology, no_offset, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		fsl_arcs_fini(&arcs);
	}
	arcs_job_fini(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_rank_is_named_with_its_own_work_and_waiters_have_none),
		cmocka_unit_test(another_slow_rank_is_named_with_its_own_work),
		cmocka_unit_test(a_slow_rank_of_three_is_late),
		cmocka_unit_test(a_rank_slow_from_the_start_is_named),
		cmocka_unit_test(of_ranks_that_work_alike_none_is_named),
		cmocka_unit_test(overlapped_operators_hide_no_work_and_make_none),
		cmocka_unit_test(middle_stages_of_a_pipeline_are_not_compared),
		cmocka_unit_test(steps_with_an_evaluation_are_left_out),
		cmocka_unit_test(a_rank_that_is_slow_now_and_then_is_named),
		cmocka_unit_test(a_single_long_step_hides_no_lasting_rank),
		cmocka_unit_test(a_rank_slow_in_every_few_steps_is_named_beneath_uneven_work),
		cmocka_unit_test(evaluations_do_not_shift_the_steps_in_which_a_rank_is_slow),
		cmocka_unit_test(of_ranks_whose_work_differs_in_every_step_none_is_named),
		cmocka_unit_test(all_ranks_of_a_slow_host_are_named),
		cmocka_unit_test(lost_operators_cost_the_rank_its_step_alone),
		cmocka_unit_test(ranks_beside_one_without_data_are_judged),
		cmocka_unit_test(work_that_begins_as_it_is_launched_waited_for_the_host),
		cmocka_unit_test(work_that_was_launched_long_before_is_the_devices),
		cmocka_unit_test(work_before_the_first_operator_of_the_step_is_told),
		cmocka_unit_test(few_steps_and_few_ranks_are_not_judged),
		cmocka_unit_test(with_few_samples_an_arc_is_the_least_of_all),
		cmocka_unit_test(without_memory_finding_fails_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
