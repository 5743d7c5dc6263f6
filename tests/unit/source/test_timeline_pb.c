/* Timelines as protobuf, written here byte by byte: stages, concatenation, damage. */
#include "source/systrace/timeline_stage.h"
#include "tree.h"

#define NAME "host0--00003--4711.timeline"

static struct tree tree;

static int setup(void **state)
{
	(void)state;
	tree_begin(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_end(&tree);
	return 0;
}

/* A message under construction. */
struct bytes {
	unsigned char at[1 << 13];
	size_t length;
};

static void put_varint(struct bytes *bytes, uint64_t value)
{
	do {
		unsigned char low = (unsigned char)(value & 0x7F);
		value >>= 7;
		bytes->at[bytes->length++] = (unsigned char)(low | (value > 0 ? 0x80 : 0));
	} while (value > 0);
}

static void put_number(struct bytes *bytes, unsigned field, uint64_t value)
{
	put_varint(bytes, field << 3);
	put_varint(bytes, value);
}

static void put_text(struct bytes *bytes, unsigned field, const void *text, size_t length)
{
	put_varint(bytes, field << 3 | 2);
	put_varint(bytes, length);
	memcpy(bytes->at + bytes->length, text, length);
	bytes->length += length;
}

/* A stage with two frames, whose innermost one is @frame, and a collection of @n objects. */
static void put_stage_at(struct bytes *bytes, const char *frame, uint64_t n, uint64_t begin_us)
{
	struct bytes stage = {.length = 0}, gc = {.length = 0};
	put_text(&stage, 2, "GC", 2);
	put_number(&stage, 3, begin_us);
	put_number(&stage, 4, begin_us + 5);
	put_text(&stage, 5, frame, strlen(frame));
	put_text(&stage, 5, "train@train.py:9", 16);
	put_number(&gc, 1, n);
	put_number(&gc, 2, 3);
	put_text(&stage, 6, gc.at, gc.length);
	put_text(bytes, 1, stage.at, stage.length);
}

static void put_stage(struct bytes *bytes, uint64_t step, const char *type, uint64_t begin_us,
		      uint64_t end_us)
{
	struct bytes stage = {.length = 0};
	put_number(&stage, 1, step);
	put_text(&stage, 2, type, strlen(type));
	put_number(&stage, 3, begin_us);
	put_number(&stage, 4, end_us);
	put_text(&stage, 5, "frame", 5);
	put_text(&stage, 6, "\x08\x01", 2);
	put_text(bytes, 1, stage.at, stage.length);
}

static const struct fsl_file *read_bytes(const struct bytes *bytes, const char *name)
{
	tree_write_bytes(&tree, name, bytes->at, bytes->length);
	(void)tree_read(&tree);
	return tree_file(&tree, name);
}

static void stages_are_read_with_step_type_and_time(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 7, "torch.utils.data.dataloader@_BaseDataLoaderIter@__next__",
		  1750000000002115, 1750000000005220);
	put_number(&bytes, 2, 9);
	put_number(&bytes, 3, 80);
	put_text(&bytes, 4, "job0", 4);
	const struct fsl_file *file = read_bytes(&bytes, NAME);
	assert_string_equal(file->format, "timeline_pb");
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(file->n_records, 1);
	const struct fsl_rank *rank = tree_rank(&tree, 3); /* the name wins over the content */
	assert_int_equal(rank->n_stages, 1);
	assert_int_equal(rank->stages[0].begin_ns, INT64_C(1750000000002115000));
	assert_int_equal(rank->stages[0].end_ns, INT64_C(1750000000005220000));
	assert_int_equal(rank->stages[0].step, 7);
	assert_int_equal(rank->stages[0].kind, FSL_STAGE_DATALOADER);
	assert_string_equal(rank->server_ip, "host0");
	assert_false(rank->has_markers_file);
}

static void the_frame_and_the_collected_objects_of_a_stage_are_kept(void **state)
{
	(void)state;
	char long_frame[300] = {0};
	struct bytes bytes = {.length = 0};
	memset(long_frame, 'x', 257);
	put_stage_at(&bytes, "next@loader.py:30", 1204, 10);
	put_stage_at(&bytes, "save@disk.py:7", 0, 20);
	put_stage_at(&bytes, long_frame, 8, 30);
	put_stage_at(&bytes, "next@loader.py:30", UINT32_MAX, 40);
	assert_int_equal(read_bytes(&bytes, NAME)->state, FSL_FILE_READ);
	const struct fsl_stage *stages = tree_rank(&tree, 3)->stages;
	const struct fsl_strpool *names = tree.run.names;
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 4);
	assert_string_equal(fsl_strpool_text(names, stages[0].frame - 1), "next@loader.py:30");
	assert_string_equal(fsl_strpool_text(names, stages[1].frame - 1), "save@disk.py:7");
	assert_int_equal(stages[2].frame, 0);
	assert_int_equal(stages[3].frame, stages[0].frame);
	assert_int_equal(stages[0].n_collected, 1204);
	assert_int_equal(stages[1].n_collected, 0);
	assert_int_equal(stages[2].n_collected, 8);
	assert_int_equal(stages[3].n_collected, UINT32_MAX);
}

/* A stage with @n frames: f0 is the innermost one. */
static void put_deep_stage(struct bytes *bytes, unsigned n, size_t n_bytes_of_frame)
{
	static char frame[2 * FSL_STAGE_STACK_BYTES];
	static struct bytes stage;
	stage.length = 0;
	put_text(&stage, 2, "GC", 2);
	put_number(&stage, 3, 10);
	put_number(&stage, 4, 20);
	memset(frame, 'x', sizeof(frame));
	for (unsigned i = 0; i < n; i++) {
		int length = snprintf(frame, sizeof(frame), "f%u", i);
		frame[length] = 'x';
		put_text(&stage, 5, frame, n_bytes_of_frame);
	}
	put_text(bytes, 1, stage.at, stage.length);
}

/* The frames that are kept of @n frames of @n_bytes bytes each. */
static size_t kept_frames(unsigned n, size_t n_bytes)
{
	static struct bytes bytes;
	bytes.length = 0;
	tree.options.keeps_stacks = true;
	put_deep_stage(&bytes, n, n_bytes);
	assert_int_equal(read_bytes(&bytes, NAME)->state, FSL_FILE_READ);
	const struct fsl_stage *stage = &tree_rank(&tree, 3)->stages[0];
	if (stage->stack == 0) {
		return 0;
	}
	const char *text = fsl_strpool_text(tree.run.names, stage->stack - 1);
	size_t n_kept = (strlen(text) + 1) / (n_bytes + 1);
	assert_int_equal(strlen(text), n_kept * (n_bytes + 1) - 1);
	assert_memory_equal(text + (n_kept - 1) * (n_bytes + 1), "f0", 2);
	return n_kept;
}

static void the_innermost_32_frames_and_2_kb_of_a_stack_are_kept(void **state)
{
	(void)state;
	assert_int_equal(kept_frames(3, 3), 3);
	assert_int_equal(kept_frames(32, 3), 32);
	assert_int_equal(kept_frames(33, 3), 32);
	assert_int_equal(kept_frames(32, 64), 31); /* 31 * 65 - 1 bytes */
	assert_int_equal(kept_frames(2, 1024), 1);
	assert_int_equal(kept_frames(1, 2048), 1);
	assert_int_equal(kept_frames(1, 2049), 0);
}

static void stacks_are_kept_on_demand_with_their_collections(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage_at(&bytes, "a;b\t@loader.py:30", 1204, 10);
	assert_int_equal(read_bytes(&bytes, NAME)->state, FSL_FILE_READ);
	assert_int_equal(tree_rank(&tree, 3)->stages[0].stack, 0);
	assert_int_equal(tree_rank(&tree, 3)->stages[0].n_uncollectable, 3);
	tree.options.keeps_stacks = true;
	assert_int_equal(read_bytes(&bytes, NAME)->state, FSL_FILE_READ);
	const struct fsl_stage *stage = &tree_rank(&tree, 3)->stages[0];
	assert_string_equal(fsl_strpool_text(tree.run.names, stage->stack - 1),
			    "train@train.py:9;a:b?@loader.py:30");
	assert_string_equal(fsl_strpool_text(tree.run.names, stage->frame - 1),
			    "a;b\t@loader.py:30");
}

static void frames_of_files_that_know_others_keep_their_texts(void **state)
{
	(void)state;
	static const char *const frames[] = {"b@b.py:2", "a@a.py:1", "c@c.py:3"};
	for (size_t i = 0; i < 3; i++) {
		char name[] = "host0--00000.timeline";
		struct bytes bytes = {.length = 0};
		name[11] = (char)('0' + i);
		for (size_t k = i; k < 3; k++) {
			put_stage_at(&bytes, frames[k], 1, 10 * (k + 1));
		}
		tree_write_bytes(&tree, name, bytes.at, bytes.length);
	}
	(void)tree_read(&tree);
	for (int32_t r = 0; r < 3; r++) {
		const struct fsl_rank *rank = tree_rank(&tree, r);
		for (size_t i = 0; i < rank->n_stages; i++) {
			assert_string_equal(
				fsl_strpool_text(tree.run.names, rank->stages[i].frame - 1),
				frames[(size_t)r + i]);
		}
	}
}

/* Frames that differ in each stage, as no program has them. */
static void frames_without_end_cost_no_stage(void **state)
{
	(void)state;
	enum { N = 70000, KNOWN = 65000 };
	struct bytes stage = {.length = 0};
	size_t n = 0;
	unsigned char *all = test_calloc(N, 64);
	for (size_t i = 0; i < N; i++) {
		char frame[32];
		stage.length = 0;
		(void)snprintf(frame, sizeof(frame), "f@f.py:%zu", i);
		put_stage_at(&stage, frame, 1, 10 + i);
		assert_true(stage.length <= 64);
		memcpy(all + n, stage.at, stage.length);
		n += stage.length;
	}
	tree_write_bytes(&tree, NAME, all, n);
	(void)tree_read(&tree);
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(tree_file(&tree, NAME)->state, FSL_FILE_READ);
	assert_int_equal(rank->n_stages, N);
	assert_string_equal(fsl_strpool_text(tree.run.names, rank->stages[KNOWN].frame - 1),
			    "f@f.py:65000");
	assert_int_equal(rank->stages[N - 1].frame, 0);
	test_free(all);
}

static void messages_one_after_the_other_are_one(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	put_number(&bytes, 2, 3);
	put_stage(&bytes, 2, "forward", 30, 40);
	put_number(&bytes, 2, 3);
	(void)read_bytes(&bytes, NAME);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 2);
}

static void repeated_stages_of_a_cumulative_file_count_once(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 2, "forward", 30, 40);
	put_stage(&bytes, 1, "forward", 10, 20);
	put_stage(&bytes, 1, "forward", 10, 20);
	(void)read_bytes(&bytes, NAME);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 2);
	assert_int_equal(tree_rank(&tree, 3)->stages[0].step, 1);
}

static void the_content_tells_the_rank_when_the_name_does_not(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	put_number(&bytes, 2, 5);
	assert_int_equal(read_bytes(&bytes, "trace.timeline")->rank, 5);
	assert_int_equal(tree_rank(&tree, 5)->n_stages, 1);
}

static void unknown_fields_are_skipped(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	put_number(&bytes, 99, 1);
	put_text(&bytes, 100, "later", 5);
	put_varint(&bytes, 101 << 3 | 1);
	memcpy(bytes.at + bytes.length, "12345678", 8);
	bytes.length += 8;
	put_varint(&bytes, 102 << 3 | 5);
	memcpy(bytes.at + bytes.length, "1234", 4);
	bytes.length += 4;
	put_stage(&bytes, 2, "forward", 30, 40);
	assert_int_equal(read_bytes(&bytes, NAME)->state, FSL_FILE_READ);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 2);
}

static void every_cut_keeps_the_stages_before_it(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	size_t n_first = bytes.length;
	put_stage(&bytes, 2, "forward", 30, 40);
	size_t n_whole = bytes.length;
	for (size_t n = n_first + 1; n < n_whole; n++) {
		bytes.length = n;
		const struct fsl_file *file = read_bytes(&bytes, NAME);
		assert_int_equal(file->state, FSL_FILE_PARTIAL);
		assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
		assert_contains(file->message, "offset=");
		assert_int_equal(tree_rank(&tree, 3)->n_stages, 1);
	}
}

static void bytes_that_are_no_timeline_end_reading_with_their_place(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	size_t n_first = bytes.length;
	memset(bytes.at + bytes.length, 0xFF, 64);
	bytes.length += 64;
	const struct fsl_file *file = read_bytes(&bytes, NAME);
	char place[32];
	(void)snprintf(place, sizeof(place), "offset=%zu", n_first);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_contains(file->message, place);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 1);
}

static void broken_stages_are_counted_and_left_out(void **state)
{
	(void)state;
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	put_text(&bytes, 1, "\xFF\xFF\xFF", 3);
	put_stage(&bytes, 2, "", 30, 40);
	put_stage(&bytes, 3, "forward", 50, UINT64_MAX);
	put_stage(&bytes, 4, "forward", 70, 60);
	put_stage(&bytes, 5, "forward", 80, 0);
	put_stage(&bytes, 6, "forward", 90, 100);
	const struct fsl_file *file = read_bytes(&bytes, NAME);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_records, 7);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 3);
	assert_int_equal(file->n_dropped[FSL_DROP_BACKWARDS], 1);
	assert_int_equal(file->n_dropped[FSL_DROP_NO_END], 1);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 2);
}

static void a_stage_over_the_limit_is_left_out(void **state)
{
	(void)state;
	char path[512];
	struct bytes bytes = {.length = 0};
	put_stage(&bytes, 1, "forward", 10, 20);
	put_varint(&bytes, 1 << 3 | 2);
	put_varint(&bytes, FSL_LINE_BYTES_MAX + 1);
	tree_path(&tree, NAME, path, sizeof(path));
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.at, 1, bytes.length, file), bytes.length);
	for (size_t i = 0; i < FSL_LINE_BYTES_MAX + 1; i++) {
		(void)fputc('x', file);
	}
	bytes.length = 0;
	put_stage(&bytes, 2, "forward", 30, 40);
	assert_int_equal(fwrite(bytes.at, 1, bytes.length, file), bytes.length);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_file(&tree, NAME)->n_dropped[FSL_DROP_TOO_LONG], 1);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 2);
}

static void text_is_no_timeline(void **state)
{
	(void)state;
	tree_write(&tree, NAME, "this is no timeline, whatever the name says\n");
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_int_equal(tree_file(&tree, NAME)->state, FSL_FILE_UNUSABLE);
	assert_contains(tree_file(&tree, NAME)->message, "offset=0");
}

static void an_empty_timeline_is_empty(void **state)
{
	(void)state;
	tree_write(&tree, NAME, "");
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_int_equal(tree_file(&tree, NAME)->state, FSL_FILE_EMPTY);
	assert_int_equal(tree_file(&tree, NAME)->rank, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stages_are_read_with_step_type_and_time),
		TEST(the_frame_and_the_collected_objects_of_a_stage_are_kept),
		TEST(the_innermost_32_frames_and_2_kb_of_a_stack_are_kept),
		TEST(stacks_are_kept_on_demand_with_their_collections),
		TEST(frames_of_files_that_know_others_keep_their_texts),
		TEST(frames_without_end_cost_no_stage),
		TEST(messages_one_after_the_other_are_one),
		TEST(repeated_stages_of_a_cumulative_file_count_once),
		TEST(the_content_tells_the_rank_when_the_name_does_not),
		TEST(unknown_fields_are_skipped),
		TEST(every_cut_keeps_the_stages_before_it),
		TEST(bytes_that_are_no_timeline_end_reading_with_their_place),
		TEST(broken_stages_are_counted_and_left_out),
		TEST(a_stage_over_the_limit_is_left_out),
		TEST(text_is_no_timeline),
		TEST(an_empty_timeline_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
