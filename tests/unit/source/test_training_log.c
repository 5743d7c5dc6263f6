/* Step times from training logs: local time, milliseconds, lines of other kinds. */
#include <time.h>

#include "tree.h"

#define NAME "train.log"

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

static const struct fsl_file *read_text(const char *text)
{
	tree_write(&tree, NAME, text);
	(void)tree_read(&tree);
	return tree_file(&tree, NAME);
}

static void the_stamp_is_the_end_of_the_step_in_local_time(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "Asia/Shanghai", 1), 0);
	tzset();
	const struct fsl_file *file =
		read_text("starting\n2025-06-15 23:07:20,250 - mindformers - INFO - { Epoch:[1/2], "
			  "step:[10/100], loss: 3.5, per_step_time: 1250ms, lr: 1e-5 }\n");
	assert_int_equal(unsetenv("TZ"), 0);
	tzset();
	assert_string_equal(file->format, "training_log");
	assert_int_equal(file->state, FSL_FILE_READ);
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].step, -1);
	assert_int_equal(rank->steps[0].dur_ns, INT64_C(1250000000));
	/* 2025-06-15T15:07:19Z */
	assert_int_equal(rank->steps[0].begin_ns, INT64_C(1750000039000000000));
}

static void steps_come_in_order_of_time(void **state)
{
	(void)state;
	(void)read_text("2025-06-15 15:07:22,000 per_step_time: 100ms\n"
			"2025-06-15 15:07:20,000 per_step_time:90ms\n"
			"2025-06-15 15:07:21,000 per_step_time: 95.5 ms\n"
			"2025-06-15 15:07:21,000 per_step_time: 95.5 ms\n");
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 3);
	assert_int_equal(rank->steps[0].dur_ns, 90000000);
	assert_int_equal(rank->steps[1].dur_ns, 95500000);
	assert_int_equal(rank->steps[2].dur_ns, 100000000);
}

static void broken_lines_are_counted_and_the_first_is_placed(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("no step\nper_step_time: 100ms\n"
						"2025-06-15 15:07:22,000 per_step_time: soon\n"
						"2025-13-45 15:07:22,000 per_step_time: 5ms\n"
						"2025-06-15 15:07:22,000 per_step_time: 100ms\n"
						"2025-06-15 15:07:23,000 per_step_time: 10");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_records, 5);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 4);
	assert_contains(file->message, "line=2");
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

static void a_log_whose_steps_come_late_is_found_by_its_name(void **state)
{
	(void)state;
	char text[FSL_FILE_HEAD_BYTES * 3];
	size_t length = 0;
	while (length < FSL_FILE_HEAD_BYTES * 2) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "loading\n");
	}
	(void)snprintf(text + length, sizeof(text) - length,
		       "2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	assert_int_equal(read_text(text)->n_records, 1);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

static void logs_without_steps_are_left_alone_unless_named(void **state)
{
	(void)state;
	char path[512];
	tree_write(&tree, "plog.log", "nothing of interest\n");
	(void)read_text("2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	assert_int_equal(tree.run.n_files, 1);
	tree_path(&tree, "plog.log", path, sizeof(path));
	tree.options.training_log = path;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 2);
	assert_int_equal(tree_file(&tree, "plog.log")->state, FSL_FILE_EMPTY);
}

static void a_log_named_as_such_needs_no_telling_name(void **state)
{
	(void)state;
	char path[512];
	tree_write(&tree, "output", "nothing of interest\n");
	tree_path(&tree, "output", path, sizeof(path));
	tree.options.training_log = path;
	tree.options.log_type_is_log = true;
	tree.options.root_path = NULL;
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_string_equal(tree_file(&tree, "output")->format, "training_log");
}

static void every_file_of_a_folder_of_logs_is_looked_through(void **state)
{
	(void)state;
	char text[FSL_FILE_HEAD_BYTES * 2] = "";
	tree_folder(&tree, "logs");
	memset(text, '#', FSL_FILE_HEAD_BYTES);
	(void)strcpy(text + FSL_FILE_HEAD_BYTES,
		     "\n2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	tree_write(&tree, "logs/worker-0.txt", text);
	tree_write(&tree, "logs/notes.txt", "nothing\n");
	char path[512];
	tree_path(&tree, "logs", path, sizeof(path));
	tree.options.root_path = NULL;
	tree.options.training_log = path;
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	tree.options.log_type_is_log = true;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 1);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_stamp_is_the_end_of_the_step_in_local_time),
		TEST(steps_come_in_order_of_time),
		TEST(broken_lines_are_counted_and_the_first_is_placed),
		TEST(a_log_whose_steps_come_late_is_found_by_its_name),
		TEST(logs_without_steps_are_left_alone_unless_named),
		TEST(every_file_of_a_folder_of_logs_is_looked_through),
		TEST(a_log_named_as_such_needs_no_telling_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
