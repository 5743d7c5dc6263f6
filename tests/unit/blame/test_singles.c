/*
 * Claims about single long steps: the ones that a chapter keeps, and the report on many chapters.
 */
#include <math.h>

#include "charged_job.h"

#include "blame/singles.h"

enum { STEPS = 40, CHAPTERS = 20, RANKS = 8 };

static void find(struct charged_job *c, struct fsl_singles *singles, size_t begin, size_t end)
{
	const struct fsl_case facts = CASE_OF(c);
	assert_int_equal(fsl_singles_find(singles, &facts, begin, end, NULL), FSL_OK);
}

/* A job in which rank 3 takes longer in the steps [onset, until). */
static void make(struct charged_job *c, double extra_ms, size_t onset, size_t until)
{
	*c = (struct charged_job){.job = {.n_ranks = 0}};
	small_job_init(&c->job, RANKS, STEPS);
	c->job.head_ms[3] = extra_ms;
	c->job.onset = onset;
	c->job.until = until;
	charge(c);
	c->config.causes = (1U << FSL_CAUSES_N) - 1;
	c->config.ckpt_slow = c->config.op_launch_slow = c->config.cal_slow = "slow";
	c->config.max_num_normal_results = 16;
}

static void a_long_step_is_kept_with_what_the_job_lost(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_singles singles;
	make(&c, 400.0, 20, 21);
	find(&c, &singles, 0, STEPS);
	assert_int_equal(singles.n_steps, STEPS);
	assert_int_equal(singles.n_pauses, 1);
	assert_int_equal(singles.n_items, 1);
	const struct fsl_rank_singles *item = &singles.items[0];
	assert_int_equal(item->rank, 3);
	assert_int_equal(item->n_stage, RANKS);
	assert_int_equal(item->stage, 0);
	assert_int_equal(fsl_singles_count(item, 0), 1);
	assert_int_equal(item->n_waited, 1);
	assert_int_equal(item->first_step, 20);
	assert_int_equal(item->last_step, 20);
	assert_true(fabs(item->lost_ms - 400.0) < 2.0 && item->most_ms == item->lost_ms);
	assert_true(fabs(item->own_ms - item->peers_ms - 400.0) < 2.0);
	assert_true(fabs(singles.pauses_ms - item->lost_ms) < 1e-9);
	assert_int_equal(item->cause, FSL_CAUSE_HOST);
	fsl_singles_fini(&singles);
	release(&c);
}

static void steps_of_the_chapter_before_are_left_out(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_singles singles;
	make(&c, 400.0, 4, 5);
	find(&c, &singles, 5, STEPS);
	assert_int_equal(singles.n_steps, STEPS - 5);
	assert_int_equal(singles.n_items, 0);
	fsl_singles_fini(&singles);
	find(&c, &singles, 5, 5);
	assert_int_equal(singles.n_steps, 0);
	release(&c);
}

static void steps_in_a_row_are_one(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_singles singles;
	make(&c, 400.0, 20, 22);
	find(&c, &singles, 0, STEPS);
	assert_int_equal(singles.n_items, 1);
	assert_int_equal(fsl_singles_count(&singles.items[0], 0), 1);
	assert_int_equal(singles.items[0].last_step, 21);
	assert_true(fabs(singles.items[0].lost_ms - 800.0) < 4.0);
	fsl_singles_fini(&singles);
	release(&c);
}

static void a_rank_that_is_slow_for_long_has_no_single_steps(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_singles singles;
	make(&c, 60.0, 10, STEPS);
	assert_int_equal(c.blame.charges[3].pattern, FSL_PATTERN_LASTING);
	find(&c, &singles, 0, STEPS);
	assert_int_equal(singles.n_items, 0);
	fsl_singles_fini(&singles);
	release(&c);
}

/* A device that is a little slower than others is no fault; its pauses are told all the same. */
static void long_steps_of_an_uneven_device_are_kept(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_singles singles;
	make(&c, 400.0, 20, 21);
	c.blame.charges[3].pattern = FSL_PATTERN_LASTING;
	find(&c, &singles, 0, STEPS);
	assert_int_equal(singles.n_items, 1);
	fsl_singles_fini(&singles);
	release(&c);
}

static void where_too_few_ranks_left_data_nothing_is_kept(void **state)
{
	(void)state;
	struct charged_job c;
	struct fsl_singles singles;
	make(&c, 400.0, 20, 21);
	c.config.rank_coverage_min = 0.7;
	c.job.topology.n_expected_ranks = 12;
	find(&c, &singles, 0, STEPS);
	assert_int_equal(singles.n_items, 0);
	c.job.topology.n_expected_ranks = RANKS;
	fsl_singles_fini(&singles);
	release(&c);
}

static void sizes_are_powers_of_two(void **state)
{
	(void)state;
	assert_int_equal(fsl_single_size(0.0), 0);
	assert_int_equal(fsl_single_size(1.99), 0);
	assert_int_equal(fsl_single_size(2.0), 1);
	assert_int_equal(fsl_single_size(1023.0), 9);
	assert_int_equal(fsl_single_size(1024.0), 10);
	assert_int_equal(fsl_single_size(1e300), FSL_SINGLE_SIZES_N - 1);
}

/* Chapters of 100 steps of 200 ms, and what a test puts into them. */
struct capture {
	struct charged_job newest;
	struct fsl_singles chapters[CHAPTERS];
	const struct fsl_singles *list[CHAPTERS];
	struct fsl_localisation verdict;
	bool is_found;
};

static void begin(struct capture *capture)
{
	make(&capture->newest, 0.0, 0, 0);
	for (size_t k = 0; k < CHAPTERS; k++) {
		capture->chapters[k] = (struct fsl_singles){.n_steps = 100, .steps_ms = 20000.0};
		capture->list[k] = &capture->chapters[k];
	}
	fsl_localisation_init(&capture->verdict);
	capture->verdict.kind = FSL_VERDICT_NORMAL;
	capture->verdict.reason = "nothing";
}

/* @n single steps of a rank that cost @ms each; ranks in ascending order. */
static void put(struct capture *capture, size_t k, int32_t rank, uint32_t n, double ms)
{
	struct fsl_singles *singles = &capture->chapters[k];
	assert_int_equal(FSL_GROW(singles->items, singles->capacity, singles->n_items + 1, NULL),
			 FSL_OK);
	struct fsl_rank_singles *item = &singles->items[singles->n_items++];
	*item = (struct fsl_rank_singles){.rank = rank,
					  .n_stage = RANKS,
					  .n_waited = n,
					  .cause = FSL_CAUSE_STORAGE,
					  .lost_ms = n * ms,
					  .most_ms = ms,
					  .own_ms = n * (200.0 + ms),
					  .peers_ms = n * 200.0,
					  .first_step = (int64_t)k * 100 + 7,
					  .last_step = (int64_t)k * 100 + 93,
					  .first_ns = (int64_t)(k + 1) * FSL_NS_PER_S};
	item->n_by_size[fsl_single_size(ms)] = n;
	singles->n_pauses += n;
	singles->pauses_ms += n * ms;
	singles->steps_ms += n * ms;
}

static void tell(struct capture *capture)
{
	const struct fsl_case facts = CASE_OF(&capture->newest);
	assert_int_equal(fsl_singles_tell(&capture->verdict, &facts, capture->list, CHAPTERS,
					  &capture->is_found, NULL),
			 FSL_OK);
}

static void end(struct capture *capture)
{
	fsl_localisation_fini(&capture->verdict);
	for (size_t k = 0; k < CHAPTERS; k++) {
		fsl_singles_fini(&capture->chapters[k]);
	}
	release(&capture->newest);
}

static void a_step_of_each_chapter_adds_up_to_a_culprit(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 5; k < CHAPTERS; k++) {
		put(&capture, k, 3, 1, 4000.0);
	}
	tell(&capture);
	const struct fsl_localisation *verdict = &capture.verdict;
	assert_true(capture.is_found);
	assert_int_equal(verdict->kind, FSL_VERDICT_SLOW_RANK);
	assert_int_equal(verdict->n_culprits, 1);
	const struct fsl_culprit *culprit = &verdict->culprits[0];
	assert_int_equal(culprit->rank, 3);
	assert_int_equal(culprit->cause, FSL_CAUSE_STORAGE);
	assert_int_equal(culprit->onset_step, 507);
	assert_int_equal(culprit->until_step, -1);
	assert_true(fabs(culprit->lost_ms_per_step - 40.0) < 1e-9);
	assert_true(fabs(verdict->slowdown - 240.0 / 200.0) < 1e-9);
	assert_true(verdict->fault_ns == INT64_C(6) * FSL_NS_PER_S);
	assert_int_equal(verdict->n_abnormal, 1);
	assert_true(verdict->storage && !verdict->compute);
	assert_non_null(strstr(culprit->reason, "15 single steps of 15 chapters"));
	end(&capture);
}

static void a_culprit_of_long_ago_is_told_as_over(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 0; k < 5; k++) {
		put(&capture, k, 3, 1, 4000.0);
	}
	tell(&capture);
	assert_int_equal(capture.verdict.n_culprits, 1);
	assert_int_equal(capture.verdict.culprits[0].until_step, 494);
	end(&capture);
}

static void short_steps_of_its_peers_do_not_hide_it(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 0; k < CHAPTERS; k++) {
		for (int32_t rank = 0; rank < RANKS; rank++) {
			bool is_culprit = rank == 3;
			put(&capture, k, rank, is_culprit ? 1 : 3, is_culprit ? 4000.0 : 30.0);
		}
	}
	tell(&capture);
	assert_int_equal(capture.verdict.n_culprits, 1);
	assert_int_equal(capture.verdict.culprits[0].rank, 3);
	end(&capture);
}

/* Each of these is nobody's fault. */
static void chance_single_events_and_what_costs_nothing_are_not_told(void **state)
{
	(void)state;
	static const struct {
		size_t n_chapters;
		double ms, first_ms;
		bool is_waited;
	} cases[] = {
		{2, 4000.0, 4000.0, true},   /* chance */
		{15, 400.0, 400.0, true},    /* 2 % of the time */
		{15, 4000.0, 4000.0, false}, /* nobody waited */
		{5, 1000.0, 90000.0, true},  /* one event among small ones */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture capture;
		begin(&capture);
		for (size_t k = 0; k < cases[i].n_chapters; k++) {
			put(&capture, k, 3, 1, k == 0 ? cases[i].first_ms : cases[i].ms);
			capture.chapters[k].items[0].n_waited = cases[i].is_waited;
		}
		tell(&capture);
		assert_false(capture.is_found);
		assert_int_equal(capture.verdict.n_culprits, 0);
		assert_int_equal(capture.verdict.kind, FSL_VERDICT_NORMAL);
		assert_string_equal(capture.verdict.reason, "nothing");
		end(&capture);
	}
}

/* The loss is that of the chapters in which it was found. */
static void the_costliest_culprit_tells_the_loss(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 0; k < CHAPTERS; k++) {
		if (k < 4) {
			put(&capture, k, 1, 1, 9000.0);
		} else {
			put(&capture, k, 3, 1, 2000.0);
		}
	}
	tell(&capture);
	assert_int_equal(capture.verdict.n_culprits, 2);
	assert_int_equal(capture.verdict.culprits[0].rank, 1);
	assert_true(fabs(capture.verdict.step_ms - 290.0) < 1e-9);
	assert_true(fabs(capture.verdict.lost_ms_per_step - 90.0) < 1e-9);
	assert_true(fabs(capture.verdict.slowdown - 1.45) < 1e-9);
	end(&capture);
}

static void a_rank_whose_stage_is_not_sure_is_not_named(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 0; k < CHAPTERS; k++) {
		put(&capture, k, 3, 1, 4000.0);
		capture.chapters[k].items[0].stage = k == 7;
	}
	tell(&capture);
	assert_int_equal(capture.verdict.n_culprits, 0);
	end(&capture);
}

static void pauses_of_all_ranks_are_told_as_such(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 0; k < CHAPTERS; k++) {
		put(&capture, k, (int32_t)(k % RANKS), 1, 4000.0);
	}
	tell(&capture);
	assert_true(capture.is_found);
	assert_int_equal(capture.verdict.kind, FSL_VERDICT_HOST_PAUSES);
	assert_int_equal(capture.verdict.n_culprits, 0);
	assert_true(fabs(capture.verdict.lost_ms_per_step - 40.0) < 1e-9);
	assert_non_null(strstr(capture.verdict.reason, "8 ranks pause in turn"));
	end(&capture);
}

static void pauses_in_few_chapters_are_not(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 3; k < 6; k++) {
		put(&capture, k, (int32_t)k, 1, 4000.0);
	}
	tell(&capture);
	assert_false(capture.is_found);
	end(&capture);
}

static void a_rank_that_is_named_is_no_suspect(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (int32_t rank = 2; rank < 4; rank++) {
		const struct fsl_suspect suspect = {.rank = rank, .detector = "x", .reason = "y"};
		assert_int_equal(FSL_APPEND(&capture.verdict, unconfirmed, &suspect, NULL), FSL_OK);
	}
	for (size_t k = 0; k < CHAPTERS; k++) {
		put(&capture, k, 3, 1, 4000.0);
	}
	tell(&capture);
	assert_int_equal(capture.verdict.n_unconfirmed, 1);
	assert_int_equal(capture.verdict.unconfirmed[0].rank, 2);
	end(&capture);
}

static void pack(struct fsl_pack *bytes)
{
	struct capture capture;
	begin(&capture);
	for (int32_t rank = 0; rank < RANKS; rank++) {
		put(&capture, 0, rank, 3, 100.0 * (rank + 1));
	}
	fsl_singles_pack(&capture.chapters[0], bytes);
	assert_false(bytes->is_failed);
	end(&capture);
}

static void what_was_packed_is_found_again(void **state)
{
	(void)state;
	struct fsl_pack bytes = {0}, again = {0};
	struct fsl_singles found;
	pack(&bytes);
	struct fsl_unpack unpack = {.at = bytes.bytes, .n_left = bytes.n_bytes};
	assert_int_equal(fsl_singles_unpack(&found, &unpack, NULL), FSL_OK);
	assert_true(fsl_unpack_is_done(&unpack));
	assert_int_equal(found.n_items, RANKS);
	assert_int_equal(found.n_pauses, 3 * RANKS);
	assert_int_equal(found.items[7].rank, 7);
	assert_int_equal(fsl_singles_count(&found.items[7], 9), 3);
	assert_true(found.items[7].lost_ms == 2400.0);
	fsl_singles_pack(&found, &again);
	assert_int_equal(again.n_bytes, bytes.n_bytes);
	assert_memory_equal(again.bytes, bytes.bytes, bytes.n_bytes);
	fsl_singles_fini(&found);
	fsl_pack_fini(&again);
	fsl_pack_fini(&bytes);
}

static void what_is_damaged_is_refused_or_sound(void **state)
{
	(void)state;
	struct fsl_pack bytes = {0};
	pack(&bytes);
	for (size_t n = 0; n < bytes.n_bytes; n++) {
		struct fsl_singles found;
		struct fsl_unpack unpack = {.at = bytes.bytes, .n_left = n};
		assert_int_equal(fsl_singles_unpack(&found, &unpack, NULL), FSL_ERR_FORMAT);
		assert_null(found.items);
	}
	for (size_t i = 0; i < bytes.n_bytes * 8; i++) {
		struct fsl_singles found;
		bytes.bytes[i / 8] ^= (unsigned char)(1U << (i % 8));
		struct fsl_unpack unpack = {.at = bytes.bytes, .n_left = bytes.n_bytes};
		enum fsl_status status = fsl_singles_unpack(&found, &unpack, NULL);
		assert_true(status == FSL_OK || status == FSL_ERR_FORMAT);
		bytes.bytes[i / 8] ^= (unsigned char)(1U << (i % 8));
		fsl_singles_fini(&found);
	}
	fsl_pack_fini(&bytes);
}

static void out_of_memory_is_reported(void **state)
{
	(void)state;
	struct capture capture;
	begin(&capture);
	for (size_t k = 0; k < CHAPTERS; k++) {
		put(&capture, k, 3, 1, 4000.0);
	}
	const struct fsl_case facts = CASE_OF(&capture.newest);
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status == FSL_ERR_MEMORY; nth++) {
		fsl_localisation_fini(&capture.verdict);
		fsl_localisation_init(&capture.verdict);
		fsl_mem_fail_at(nth);
		status = fsl_singles_tell(&capture.verdict, &facts, capture.list, CHAPTERS,
					  &capture.is_found, NULL);
		fsl_mem_fail_at(0);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(capture.is_found);
	end(&capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_step_is_kept_with_what_the_job_lost),
		cmocka_unit_test(steps_of_the_chapter_before_are_left_out),
		cmocka_unit_test(steps_in_a_row_are_one),
		cmocka_unit_test(a_rank_that_is_slow_for_long_has_no_single_steps),
		cmocka_unit_test(long_steps_of_an_uneven_device_are_kept),
		cmocka_unit_test(where_too_few_ranks_left_data_nothing_is_kept),
		cmocka_unit_test(sizes_are_powers_of_two),
		cmocka_unit_test(a_step_of_each_chapter_adds_up_to_a_culprit),
		cmocka_unit_test(a_culprit_of_long_ago_is_told_as_over),
		cmocka_unit_test(short_steps_of_its_peers_do_not_hide_it),
		cmocka_unit_test(chance_single_events_and_what_costs_nothing_are_not_told),
		cmocka_unit_test(the_costliest_culprit_tells_the_loss),
		cmocka_unit_test(a_rank_whose_stage_is_not_sure_is_not_named),
		cmocka_unit_test(pauses_of_all_ranks_are_told_as_such),
		cmocka_unit_test(pauses_in_few_chapters_are_not),
		cmocka_unit_test(a_rank_that_is_named_is_no_suspect),
		cmocka_unit_test(what_was_packed_is_found_again),
		cmocka_unit_test(what_is_damaged_is_refused_or_sound),
		cmocka_unit_test(out_of_memory_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
