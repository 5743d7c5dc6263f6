/* Timelines entered in the middle for a time range, and left behind it, give what a full scan
 * gives. */
#include <stdlib.h>

#include "pair.h"

enum {
	STAGES_N = 200000,
	STAGE_BYTES_MAX = 400,
	STAGE_MS = 100, /* from one to the next, each half as long */
	FLUSH = 1000,   /* stages to a message */
	RANGES_N = FSL_TEST_COST > 1 ? 3 : 7,
};
#define ORIGIN_US UINT64_C(1750000000000000)
static const char plain[] = "host0--00000--1.timeline", packed[] = "host0--00001--1.timeline.gz";

static struct tree tree;
static struct pair pair;
static unsigned char *bytes;
static size_t n_bytes;

static int setup(void **state)
{
	(void)state;
	tree_begin(&tree);
	pair = (struct pair){0};
	bytes = malloc((size_t)STAGES_N * STAGE_BYTES_MAX);
	n_bytes = 0;
	assert_non_null(bytes);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(bytes);
	tree_end(&tree);
	return 0;
}

static size_t put_varint(unsigned char *to, uint64_t value)
{
	size_t n = 0;
	do {
		to[n++] = (unsigned char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
		value >>= 7;
	} while (value > 0);
	return n;
}

static size_t put_number(unsigned char *to, unsigned field, uint64_t value)
{
	size_t n = put_varint(to, field << 3);
	return n + put_varint(to + n, value);
}

static size_t put_text(unsigned char *to, unsigned field, const void *text, size_t length)
{
	size_t n = put_varint(to, field << 3 | 2);
	n += put_varint(to + n, length);
	memcpy(to + n, text, length);
	return n + length;
}

static size_t put_stage(unsigned char *to, uint64_t step, uint64_t begin_us, const void *frame,
			size_t n_frame)
{
	unsigned char stage[STAGE_BYTES_MAX];
	static const char *const types[] = {"dataloader", "forward", "backward", "optimizer"};
	const char *type = types[step % 4];
	size_t n = put_number(stage, 1, step);
	n += put_text(stage + n, 2, type, strlen(type));
	n += put_number(stage + n, 3, begin_us);
	n += put_number(stage + n, 4, begin_us + STAGE_MS * 500);
	n += put_text(stage + n, 5, frame, n_frame);
	return put_text(to, 1, stage, n);
}

static uint64_t begin_of(size_t stage)
{
	return ORIGIN_US + (uint64_t)stage * STAGE_MS * 1000;
}

/* As a collector writes them: some stages, the rank, the next stages. */
static void make_stages(const void *frame, size_t n_frame)
{
	n_bytes = 0;
	for (size_t i = 0; i < STAGES_N; i++) {
		n_bytes += put_stage(bytes + n_bytes, i, begin_of(i), frame, n_frame);
		if (i % FLUSH == FLUSH - 1) {
			n_bytes += put_number(bytes + n_bytes, 2, 0);
			n_bytes += put_text(bytes + n_bytes, 4, "job0", 4);
		}
	}
}

static void make_usual_stages(void)
{
	make_stages("train.py:100 step", 17);
}

static int64_t share_ns(double share)
{
	return (int64_t)begin_of((size_t)(share * STAGES_N)) * 1000;
}

/* The same bytes as rank 0 plain and as rank 1 compressed. */
static void write_both(void)
{
	pair_write(&pair, &tree, plain, packed, bytes, n_bytes);
}

static void read_range(int64_t from_ns, int64_t to_ns)
{
	tree.options.from_ns = from_ns;
	tree.options.to_ns = to_ns;
	tree.options.is_range_for_stages = true;
	assert_int_equal(tree_read(&tree), FSL_OK);
	fsl_run_cut_steps(&tree.run, from_ns, to_ns);
}

static void assert_same(void)
{
	const struct fsl_rank *entered = tree_rank(&tree, 0), *scanned = tree_rank(&tree, 1);
	assert_int_equal(entered->n_stages, scanned->n_stages);
	assert_true(entered->n_stages > 0);
	assert_memory_equal(entered->stages, scanned->stages,
			    entered->n_stages * sizeof(*entered->stages));
	assert_int_equal(entered->last_event_ns, scanned->last_event_ns);
	assert_int_equal(tree_file(&tree, plain)->state, FSL_FILE_READ);
}

static double share_before(void)
{
	return (double)tree_file(&tree, plain)->n_bytes_before / (double)n_bytes;
}

static double share_behind(void)
{
	return (double)tree_file(&tree, plain)->n_bytes_behind / (double)n_bytes;
}

static void every_range_gives_the_stages_of_a_full_scan(void **state)
{
	(void)state;
	make_usual_stages();
	write_both();
	for (int i = 0; i < RANGES_N; i++) {
		double from = 0.99 * i / RANGES_N;
		read_range(share_ns(from) + 1, share_ns(from + 0.05));
		assert_same();
		assert_true(share_before() > from - 0.1 && share_before() <= from);
		read_range(share_ns(from) - 1, INT64_MAX);
		assert_same();
		assert_true(share_before() > from - 0.1 && share_behind() == 0.0);
	}
}

static void a_range_in_the_middle_leaves_out_both_sides(void **state)
{
	(void)state;
	make_usual_stages();
	write_both();
	read_range(share_ns(0.5), share_ns(0.52));
	assert_same();
	assert_true(share_before() > 0.4 && share_behind() > 0.15);
}

/* A text with stages in it, as bytes, of another time. */
static void what_looks_like_a_stage_within_a_text_is_none(void **state)
{
	(void)state;
	unsigned char frame[STAGE_BYTES_MAX];
	for (uint64_t other_us = 1000000; other_us < 3 * ORIGIN_US; other_us += ORIGIN_US) {
		size_t n_frame = 0;
		for (int i = 0; i < 3; i++) {
			n_frame += put_stage(frame + n_frame, 1, other_us, "", 0);
		}
		make_stages(frame, n_frame);
		write_both();
		read_range(share_ns(0.7), share_ns(0.8));
		assert_same();
		assert_true(share_before() > 0.5);
	}
}

static void stages_far_out_of_order_are_all_read(void **state)
{
	(void)state;
	n_bytes = 0;
	for (size_t i = 0; i < STAGES_N; i++) { /* the later half comes first */
		size_t stage = (i + STAGES_N / 2) % STAGES_N;
		n_bytes += put_stage(bytes + n_bytes, stage, begin_of(stage), "frame of it", 11);
	}
	write_both();
	for (int i = 0; i < RANGES_N; i++) {
		double from = 0.1 + 0.8 * i / RANGES_N;
		read_range(share_ns(from), INT64_MAX);
		assert_same();
		assert_true(from > 0.5 || share_before() == 0.0);
	}
}

static void a_rank_that_only_the_content_tells_is_found(void **state)
{
	(void)state;
	make_usual_stages();
	tree_write_bytes(&tree, "trace.timeline", bytes, n_bytes);
	read_range(share_ns(0.9), INT64_MAX);
	assert_int_equal(tree_file(&tree, "trace.timeline")->n_bytes_before, 0);
	assert_true(tree_rank(&tree, 0)->n_stages > STAGES_N / 20);
}

static void where_steps_of_all_times_count_everything_is_read(void **state)
{
	(void)state;
	make_usual_stages();
	tree_write_bytes(&tree, plain, bytes, n_bytes);
	tree.options.from_ns = share_ns(0.9);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_file(&tree, plain)->n_bytes_before, 0);
	assert_int_equal(tree_rank(&tree, 0)->n_stages, STAGES_N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_range_gives_the_stages_of_a_full_scan, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_range_in_the_middle_leaves_out_both_sides, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_looks_like_a_stage_within_a_text_is_none,
						setup, teardown),
		cmocka_unit_test_setup_teardown(stages_far_out_of_order_are_all_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_rank_that_only_the_content_tells_is_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(where_steps_of_all_times_count_everything_is_read,
						setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
