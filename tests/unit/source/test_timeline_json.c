/* Timelines as JSON: objects a line, arrays, whole messages, damage. */
#include "tree.h"

#define NAME "host0--00003.timeline"

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

#define STAGE(step, type, begin, end)                                                              \
	"{\"start_us\":" begin ",\"end_us\":" end ",\"stage_id\":" step                            \
	",\"rank\":3,\"stage_type\":\"" type                                                       \
	"\",\"stack_frames\":[\"a\",\"b\"],\"gc_debug\":{\"collected\":1,\"uncollectable\":0}}"

static const struct fsl_file *read_text(const char *name, const char *text)
{
	tree_write(&tree, name, text);
	(void)tree_read(&tree);
	return tree_file(&tree, name);
}

static void one_object_a_line_is_read(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		NAME, STAGE("4", "GC", "1750000000002115", "1750000000005220") "\n" STAGE(
			      "5", "forward_step", "1750000000006000", "1750000000007000") "\n");
	assert_string_equal(file->format, "timeline_json");
	assert_int_equal(file->state, FSL_FILE_READ);
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_stages, 2);
	assert_int_equal(rank->stages[0].begin_ns, INT64_C(1750000000002115000));
	assert_int_equal(rank->stages[0].kind, FSL_STAGE_GC);
	assert_int_equal(rank->stages[1].step, 5);
}

static void an_array_of_objects_is_read(void **state)
{
	(void)state;
	(void)read_text("host0--00003.json",
			"[" STAGE("4", "GC", "10", "20") ",\n" STAGE("5", "x", "30", "40") "]");
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 2);
}

static void whole_messages_are_read_wherever_the_rank_stands(void **state)
{
	(void)state;
	(void)read_text("a.json", "{\"pytorch_stages\":[{\"stage_type\":\"GC\",\"start_us\":10,"
				  "\"end_us\":20}],\"rank\":6,\"step_id\":1,\"comm\":\"job\"}");
	(void)read_text("b.json", "{\"rank\":7,\"pytorch_stages\":[{\"stage_type\":\"GC\","
				  "\"start_us\":\"10\",\"end_us\":\"20\"}]}");
	assert_int_equal(tree_rank(&tree, 6)->n_stages, 1);
	assert_int_equal(tree_rank(&tree, 6)->stages[0].step, 0);
	assert_int_equal(tree_rank(&tree, 7)->n_stages, 1);
}

static void a_cut_object_keeps_the_stages_before_it(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text(NAME, STAGE("4", "GC", "10", "20") "\n{\"start_us\":30,\"end_");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_contains(file->message, "line=2");
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 1);
}

static void objects_that_are_no_stages_are_left_out(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		NAME, STAGE("4", "GC", "10", "20") "\n{\"stage_type\":\"GC\"}\n"
						   "{\"start_us\":1,\"end_us\":2}\n\"x\"\n" STAGE(
							   "-1", "GC", "10", "20"));
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 4);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 1);
}

static void stages_inside_stages_are_refused(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text(NAME, "{\"pytorch_stages\":[{\"stages\":[{\"start_us\":1}]}]}");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "offset=");
}

static void other_json_in_a_tree_is_left_alone(void **state)
{
	(void)state;
	tree_write(&tree, "config.json", "{\"root_path\":\"x\",\"rank\":3}");
	(void)read_text(NAME, STAGE("4", "GC", "10", "20"));
	assert_int_equal(tree.run.n_files, 1);
}

/* A stage whose frames and collection are the JSON texts @frames and @gc. */
static const struct fsl_stage *read_frames(const char *frames, const char *gc)
{
	static char text[1 << 16];
	(void)snprintf(text, sizeof(text),
		       "{\"start_us\":10,\"end_us\":20,\"stage_type\":\"GC\",\"stack_frames\":%s,"
		       "\"gc_debug\":%s,\"rank\":3}",
		       frames, gc);
	assert_int_equal(read_text(NAME, text)->state, FSL_FILE_READ);
	assert_int_equal(tree_rank(&tree, 3)->n_stages, 1);
	return &tree_rank(&tree, 3)->stages[0];
}

static void the_innermost_frame_and_the_collected_objects_are_kept(void **state)
{
	(void)state;
	const struct fsl_stage *stage = read_frames(
		"[\"next@/opt/loader.py:30\",\"train@t.py:1\"]",
		"{\"rank\":5,\"inner\":{\"collected\":9},\"collected\":17,\"uncollectable\":2}");
	assert_string_equal(fsl_strpool_text(tree.run.names, stage->frame - 1),
			    "next@/opt/loader.py:30");
	assert_int_equal(stage->n_collected, 17);
	stage = read_frames("[\"step@\\u00e9.py:2\"]", "{\"collected\":\"99999999999\"}");
	assert_string_equal(fsl_strpool_text(tree.run.names, stage->frame - 1),
			    "step@\xc3\xa9.py:2");
	assert_int_equal(stage->n_collected, UINT32_MAX);
}

static void a_stack_holds_the_frames_that_are_texts(void **state)
{
	(void)state;
	static const char *const frames[][2] = {
		{"[\"next@l.py:30\",\"step@t.py:7\",\"train@t.py:1\"]",
		 "train@t.py:1;step@t.py:7;next@l.py:30"},
		{"[\"a;b\",[\"c\"],{\"d\":\"e\"},7,\"f\\n\"]", "f?;a:b"},
	};
	tree.options.keeps_stacks = true;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		const struct fsl_stage *stage =
			read_frames(frames[i][0], "{\"uncollectable\":4,\"collected\":2}");
		assert_string_equal(fsl_strpool_text(tree.run.names, stage->stack - 1),
				    frames[i][1]);
		assert_int_equal(stage->n_uncollectable, 4);
		assert_int_equal(stage->n_collected, 2);
	}
	assert_int_equal(read_frames("[]", "{}")->stack, 0);
	tree.options.keeps_stacks = false;
	assert_int_equal(read_frames(frames[0][0], "{}")->stack, 0);
}

static void a_stage_stays_whatever_its_frames_are(void **state)
{
	(void)state;
	static const char *const frames[] = {
		"[]",     "null",          "{}", "[[\"a\"]]", "[{\"a\":\"b\"},\"c\"]",
		"[\"\"]", "[\"a\\u0000\"]"};
	static const char *const gc[] = {"{}",
					 "null",
					 "[7]",
					 "3",
					 "{\"collected\":{\"x\":1}}",
					 "{\"collected\":-1}",
					 "{\"uncollectable\":4}"};
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		const struct fsl_stage *stage = read_frames(frames[i], gc[i]);
		assert_int_equal(stage->frame, 0);
		assert_int_equal(stage->n_collected, 0);
	}
}

static void a_frame_over_the_limit_is_left_out_and_its_stage_stays(void **state)
{
	(void)state;
	static const int lengths[] = {256, 257, 5000, 60000};
	for (size_t i = 0; i < 4; i++) {
		static char frames[1 << 16];
		(void)snprintf(frames, sizeof(frames), "[\"%0*d\"]", lengths[i], 7);
		assert_int_equal(read_frames(frames, "{}")->frame > 0, i == 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_object_a_line_is_read),
		TEST(an_array_of_objects_is_read),
		TEST(whole_messages_are_read_wherever_the_rank_stands),
		TEST(a_cut_object_keeps_the_stages_before_it),
		TEST(objects_that_are_no_stages_are_left_out),
		TEST(stages_inside_stages_are_refused),
		TEST(other_json_in_a_tree_is_left_alone),
		TEST(the_innermost_frame_and_the_collected_objects_are_kept),
		TEST(a_stack_holds_the_frames_that_are_texts),
		TEST(a_stage_stays_whatever_its_frames_are),
		TEST(a_frame_over_the_limit_is_left_out_and_its_stage_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
