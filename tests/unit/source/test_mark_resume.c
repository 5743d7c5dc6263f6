/* Where reading may go on: files that only grew, and what is noticed when they did anything else.
 */
#include "tree.h"

#include "base/mem.h"
#include "source/discover.h"
#include "source/mark.h"

enum { PERIOD_NS = 1000, LEAD_NS = 500, SLACK_NS = 300, OP_NS = 100 };
#define BASE_NS INT64_C(1000000)

struct job {
	struct tree tree;
	struct fsl_marks marks;
};

/* To append to; a new file has its header. */
static FILE *open_markers(const struct tree *tree, const char *name)
{
	char path[512];
	tree_path(tree, name, path, sizeof(path));
	FILE *file = fopen(path, "a");
	assert_non_null(file);
	if (ftell(file) == 0) {
		assert_true(fputs(MARKER_HEADER, file) >= 0);
	}
	return file;
}

/* Operators [first, last) of a rank, one every OP_NS. */
static void append_ops(const struct tree *tree, const char *name, int first, int last)
{
	FILE *file = open_markers(tree, name);
	for (int i = first; i < last; i++) {
		long long at_ns = (long long)(BASE_NS + (int64_t)i * OP_NS);
		for (int source = 0; source < 2; source++) {
			(void)fprintf(file, "16,%d,1,%s,%d,%lld,0,0,1,1\n", i + 1,
				      source == 0 ? "comm:HcclSend!g!int8!1" : "", source, at_ns);
			(void)fprintf(file, "32,%d,1,,%d,%lld,0,0,1,1\n", i + 1, source,
				      at_ns + 10);
		}
	}
	assert_int_equal(fclose(file), 0);
}

#define RANK_0 "hccl_activity-h-.0.csv"
#define RANK_1 "hccl_activity-h-.1.csv"

static int setup(void **state)
{
	static struct job job;
	job = (struct job){.marks = {.n_files = 0}};
	tree_begin(&job.tree);
	job.tree.options.mark_period_ns = PERIOD_NS;
	job.tree.options.mark_lead_ns = LEAD_NS;
	*state = &job;
	return 0;
}

static int teardown(void **state)
{
	struct job *job = *state;
	fsl_marks_fini(&job->marks);
	tree_end(&job->tree);
	return 0;
}

/* Reads everything and keeps the marks, packed and unpacked again as between two runs. */
static void read_and_mark(struct job *job)
{
	struct fsl_marks fresh = {0};
	struct fsl_pack pack = {0};
	job->tree.options.marks = &fresh;
	assert_int_equal(tree_read(&job->tree), FSL_OK);
	job->tree.options.marks = NULL;
	fsl_marks_fini(&job->marks);
	fsl_marks_pack(&fresh, &pack);
	assert_false(pack.is_failed);
	assert_int_equal(fsl_marks_unpack(&job->marks, pack.bytes, pack.n_bytes, NULL), FSL_OK);
	fsl_pack_fini(&pack);
	fsl_marks_fini(&fresh);
}

/* Greatest boundary up to @most_ns. */
static int64_t resume_up_to_ns(const struct job *job, int64_t most_ns)
{
	int64_t boundary_ns = 0;
	assert_int_equal(fsl_marks_resume_ns(&job->marks, &job->tree.options, SLACK_NS, most_ns,
					     &boundary_ns, NULL),
			 FSL_OK);
	return boundary_ns;
}

static int64_t resume_ns(const struct job *job)
{
	return resume_up_to_ns(job, INT64_MAX);
}

/* Two ranks of 100 operators: their last rows are at 9,910 ns. */
static void begin_job(struct job *job)
{
	append_ops(&job->tree, RANK_0, 0, 100);
	append_ops(&job->tree, RANK_1, 0, 100);
	read_and_mark(job);
}

static void files_that_did_not_change_go_on_at_the_newest_boundary(void **state)
{
	struct job *job = *state;
	begin_job(job);
	assert_int_equal(resume_ns(job), BASE_NS + 10000); /* 9,910 + lead */
}

static void files_that_grew_go_on_where_no_older_row_can_come(void **state)
{
	struct job *job = *state;
	begin_job(job);
	append_ops(&job->tree, RANK_0, 100, 130);
	assert_int_equal(resume_ns(job), BASE_NS + 9000); /* 9,910 - slack */
}

/* Launches operators [first, last); when each is, the device runs the one @n_behind before it, at
 * times @back_ns earlier. */
static void append_behind(const struct tree *tree, const char *name, int first, int last,
			  int n_behind, int64_t back_ns)
{
	FILE *file = open_markers(tree, name);
	for (int i = first; i < last; i++) {
		long long at_ns = (long long)(BASE_NS + (int64_t)i * OP_NS);
		(void)fprintf(file, "16,%d,1,comm:HcclSend!g!int8!1,0,%lld,0,0,1,1\n", i + 1,
			      at_ns);
		(void)fprintf(file, "32,%d,1,,0,%lld,0,0,1,1\n", i + 1, at_ns + 10);
		if (i >= n_behind) {
			int id = i + 1 - n_behind;
			at_ns -= (long long)back_ns;
			(void)fprintf(file, "16,%d,1,,1,%lld,0,0,1,1\n", id, at_ns + 50);
			(void)fprintf(file, "32,%d,1,,1,%lld,0,0,1,1\n", id, at_ns + 60);
		}
	}
	assert_int_equal(fclose(file), 0);
}

/* Operators that come end later than those that are there, whatever the host did meanwhile. */
static void a_host_far_ahead_of_its_device_does_not_make_operators_whole(void **state)
{
	struct job *job = *state;
	append_behind(&job->tree, RANK_0, 0, 100, 10, 10 * OP_NS);
	append_ops(&job->tree, RANK_1, 0, 110);
	read_and_mark(job);
	assert_int_equal(tree_rank(&job->tree, 0)->n_ops, 100); /* ten of the host alone */
	append_behind(&job->tree, RANK_0, 100, 140, 10, 10 * OP_NS);
	append_ops(&job->tree, RANK_1, 110, 130);
	assert_int_equal(resume_ns(job), BASE_NS + 8000); /* 8,960 - slack; the host is at 9,910 */
}

/* They stand where their host left them, and when they have run behind what ran last before. */
static void operators_that_queue_for_the_device_are_not_where_they_will_be(void **state)
{
	struct job *job = *state;
	append_behind(&job->tree, RANK_0, 0, 100, 15, 0);
	append_ops(&job->tree, RANK_1, 0, 110);
	read_and_mark(job);
	assert_int_equal(tree_rank(&job->tree, 0)->n_ops, 100); /* fifteen of the host alone */
	append_behind(&job->tree, RANK_0, 100, 130, 15, 0);
	append_ops(&job->tree, RANK_1, 110, 130);
	assert_int_equal(resume_ns(job), BASE_NS + 8000); /* 8,510; the device is at 9,960 */
}

static void no_boundary_behind_the_one_asked_for_is_told(void **state)
{
	struct job *job = *state;
	begin_job(job);
	assert_int_equal(resume_up_to_ns(job, BASE_NS + 9000), BASE_NS + 9000);
	assert_int_equal(resume_up_to_ns(job, BASE_NS + 8999), BASE_NS + 8000);
	assert_int_equal(resume_up_to_ns(job, BASE_NS + 1000), FSL_NS_ABSENT); /* long forgotten */
}

static void resumed_runs_are_the_end_of_full_ones(void **state)
{
	struct job *job = *state;
	begin_job(job);
	append_ops(&job->tree, RANK_0, 100, 130);
	append_ops(&job->tree, RANK_1, 100, 131);
	struct fsl_ingest_options *options = &job->tree.options;
	options->resume_ns = resume_ns(job);
	assert_int_equal(options->resume_ns, BASE_NS + 9000);
	options->resume = &job->marks;
	assert_int_equal(tree_read(&job->tree), FSL_OK);
	const struct fsl_rank *rank = tree_rank(&job->tree, 1);
	/* From 9,000 - lead on. */
	assert_int_equal(rank->n_ops, 131 - 85);
	assert_int_equal(rank->ops[0].id, 86);
	assert_int_equal(tree_file(&job->tree, RANK_1)->n_records, 131 * 4);
	assert_int_equal(tree_file(&job->tree, RANK_0)->n_records, 130 * 4);
	options->resume = NULL;
}

static uint64_t bytes_of(const struct job *job)
{
	struct fsl_inputs inputs = {0};
	assert_int_equal(fsl_inputs_find(&inputs, &job->tree.options, NULL), FSL_OK);
	uint64_t n_bytes = fsl_inputs_bytes(&inputs, &job->tree.options);
	fsl_inputs_fini(&inputs);
	return n_bytes;
}

static void what_is_read_is_what_stands_behind_the_marks(void **state)
{
	struct job *job = *state;
	begin_job(job);
	uint64_t n_all = bytes_of(job);
	append_ops(&job->tree, RANK_0, 100, 130);
	job->tree.options.resume_ns = resume_ns(job);
	job->tree.options.resume = &job->marks;
	uint64_t n_behind = bytes_of(job);
	const uint64_t n_opens = (uint64_t)job->marks.n_files * (16 << 10);
	assert_true(n_behind > n_opens && n_behind - n_opens < (n_all - n_opens) / 2);
	append_ops(&job->tree, RANK_0, 130, 140);
	assert_true(bytes_of(job) > n_behind);
	n_behind = bytes_of(job);
	for (size_t i = 0; i < job->marks.n_files; i++) {
		struct fsl_file_marks *file = &job->marks.files[i];
		for (size_t k = 0; k < file->n_marks; k++) {
			file->marks[k].is_in_tail = true; /* up to the mark at the end */
		}
	}
	assert_true(bytes_of(job) < n_behind);
	job->tree.options.resume = NULL;
	assert_true(bytes_of(job) > n_all);
}

static void marks_of_a_resumed_run_serve_the_next(void **state)
{
	struct job *job = *state;
	begin_job(job);
	struct fsl_ingest_options *options = &job->tree.options;
	for (int round = 1; round < 5; round++) {
		append_ops(&job->tree, RANK_0, 70 + 30 * round, 100 + 30 * round);
		options->resume_ns = resume_ns(job);
		assert_true(options->resume_ns > BASE_NS + 3000 * round + 5000);
		struct fsl_marks old = job->marks;
		job->marks = (struct fsl_marks){.n_files = 0};
		options->resume = &old;
		read_and_mark(job);
		options->resume = NULL;
		fsl_marks_fini(&old);
		assert_int_equal(tree_file(&job->tree, RANK_0)->n_records, (100 + 30 * round) * 4);
		/* The rank that is silent stays known. */
		assert_int_equal(tree_file(&job->tree, RANK_1)->n_records, 400);
		assert_int_equal(tree_rank(&job->tree, 1)->last_event_ns, BASE_NS + 9910);
	}
}

static void a_silent_file_that_grows_again_is_read_again(void **state)
{
	struct job *job = *state;
	append_ops(&job->tree, RANK_0, 0, 200);
	append_ops(&job->tree, RANK_1, 0, 20);
	read_and_mark(job);
	assert_int_equal(resume_ns(job), BASE_NS + 20000);
	append_ops(&job->tree, RANK_1, 20, 21);
	/* Its rows may begin at 1,910 - slack, and the other file has no mark so old. */
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void a_shorter_file_is_noticed(void **state)
{
	struct job *job = *state;
	char path[512];
	begin_job(job);
	tree_path(&job->tree, RANK_1, path, sizeof(path));
	assert_int_equal(truncate(path, 9000), 0);
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void a_rotated_file_is_noticed(void **state)
{
	struct job *job = *state;
	char path[512], other[512];
	begin_job(job);
	append_ops(&job->tree, "fresh", 0, 110);
	tree_path(&job->tree, RANK_1, path, sizeof(path));
	tree_path(&job->tree, "fresh", other, sizeof(other));
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void overwrite(const struct job *job, const char *name, long offset)
{
	char path[512];
	tree_path(&job->tree, name, path, sizeof(path));
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
	assert_int_equal(fputc('x', file), 'x');
	assert_int_equal(fclose(file), 0);
}

static void another_head_is_noticed(void **state)
{
	struct job *job = *state;
	begin_job(job);
	overwrite(job, RANK_1, 900);
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void bytes_rewritten_before_a_mark_cost_that_mark(void **state)
{
	struct job *job = *state;
	begin_job(job);
	overwrite(job, RANK_1, -300); /* behind the marks of 8,500 and 9,500 */
	int64_t boundary_ns = resume_ns(job);
	assert_true(boundary_ns < BASE_NS + 10500);
	overwrite(job, RANK_1, -3000);
	assert_true(resume_ns(job) < boundary_ns);
}

static void a_new_file_means_reading_everything(void **state)
{
	struct job *job = *state;
	begin_job(job);
	append_ops(&job->tree, "hccl_activity-h-.2.csv", 0, 100);
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void a_file_that_is_gone_means_reading_everything(void **state)
{
	struct job *job = *state;
	char path[512];
	begin_job(job);
	tree_path(&job->tree, RANK_0, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void other_boundaries_mean_reading_everything(void **state)
{
	struct job *job = *state;
	begin_job(job);
	job->tree.options.mark_period_ns = 2 * PERIOD_NS;
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
	job->tree.options.mark_period_ns = PERIOD_NS;
	job->tree.options.mark_lead_ns = 2 * LEAD_NS;
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void files_of_others_do_not_matter(void **state)
{
	struct job *job = *state;
	char path[512];
	tree_write(&job->tree, "a notes.txt", "nothing of ours\n");
	tree_write(&job->tree, "notes.txt", "nothing of ours\n");
	begin_job(job);
	assert_int_equal(resume_ns(job), BASE_NS + 10000);
	tree_write(&job->tree, "notes.txt", "something else, and more of it\n");
	tree_write(&job->tree, "new notes.txt", "nothing of ours\n");
	tree_path(&job->tree, "a notes.txt", path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(resume_ns(job), BASE_NS + 10000);
	tree_write(&job->tree, "training-step-time.csv", "step,time\n");
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void a_file_that_becomes_one_of_ours_is_noticed(void **state)
{
	struct job *job = *state;
	tree_write(&job->tree, "notes", "nothing of ours\n");
	begin_job(job);
	tree_write(&job->tree, "notes", MARKER_HEADER);
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void a_file_replaced_after_the_question_is_read_as_it_is(void **state)
{
	struct job *job = *state;
	begin_job(job);
	struct fsl_ingest_options *options = &job->tree.options;
	options->resume_ns = resume_ns(job);
	options->resume = &job->marks;
	overwrite(job, RANK_1, 900);
	struct fsl_marks fresh = {0};
	options->marks = &fresh;
	assert_int_equal(tree_read(&job->tree), FSL_OK);
	assert_int_equal(tree_file(&job->tree, RANK_1)->n_records, 400);
	assert_true(tree_rank(&job->tree, 1)->n_ops > 90);
	options->resume = NULL;
	options->marks = NULL;
	fsl_marks_fini(&job->marks);
	job->marks = fresh;
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

static void append(const struct tree *tree, const char *name, const char *text)
{
	char path[512];
	tree_path(tree, name, path, sizeof(path));
	FILE *file = fopen(path, "a");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void append_objects(const struct tree *tree, const char *name, int first, int last)
{
	for (int i = first; i < last; i++) {
		char text[256];
		(void)snprintf(text, sizeof(text),
			       "%c{\"Flag\":%d,\"Id\":%d,\"Name\":\"%s\",\"SourceKind\":0,"
			       "\"Timestamp\":%lld}",
			       i == 0 ? '[' : ',', i % 2 == 0 ? 16 : 32, i / 2,
			       i % 2 == 0 ? "comm:HcclSend!g!int8!1" : "",
			       (long long)(BASE_NS + (int64_t)i * OP_NS));
		append(tree, name, text);
	}
}

#define JSON_0 "hccl_activity-h-.0.json"

static void an_array_that_is_not_closed_yet_goes_on(void **state)
{
	struct job *job = *state;
	append_objects(&job->tree, JSON_0, 0, 100);
	append(&job->tree, JSON_0, ",{\"Flag\":16,\"Id\":7");
	read_and_mark(job);
	assert_int_equal(resume_ns(job), BASE_NS + 10000);
	assert_int_equal(tree_file(&job->tree, JSON_0)->n_dropped[FSL_DROP_CUT], 1);
	append(&job->tree, JSON_0,
	       "7,\"Name\":\"comm:HcclSend!g!int8!1\",\"SourceKind\":0,\"Timestamp\":1009950}");
	append_objects(&job->tree, JSON_0, 100, 120);
	struct fsl_ingest_options *options = &job->tree.options;
	options->resume_ns = resume_ns(job);
	assert_int_equal(options->resume_ns, BASE_NS + 9000);
	options->resume = &job->marks;
	assert_int_equal(tree_read(&job->tree), FSL_OK);
	options->resume = NULL;
	assert_int_equal(tree_file(&job->tree, JSON_0)->n_records, 122); /* "]" is missing */
}

static void a_number_at_the_end_may_go_on(void **state)
{
	struct job *job = *state;
	append_objects(&job->tree, JSON_0, 0, 100);
	append(&job->tree, JSON_0, "]\n12");
	read_and_mark(job);
	/* There is no mark in front of it; those before serve. */
	assert_int_equal(resume_ns(job), BASE_NS + 10000);
	assert_int_equal(job->marks.files[0].marks[job->marks.files[0].n_marks - 1].boundary_ns,
			 BASE_NS + 10000);
}

static void a_compressed_marker_file_is_read_again(void **state)
{
	static const unsigned char empty_frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20,
						    0x00, 0x01, 0x00, 0x00};
	struct job *job = *state;
	begin_job(job);
	tree_write_bytes(&job->tree, "hccl_activity-h-.2.csv.zst", empty_frame,
			 sizeof(empty_frame));
	read_and_mark(job);
	assert_int_equal(resume_ns(job), BASE_NS + 10000); /* nothing is in it */
	append(&job->tree, "hccl_activity-h-.2.csv.zst", "more");
	assert_int_equal(resume_ns(job), FSL_NS_ABSENT);
}

#define STEPS_1 "training-step-time-h-1.csv"

static void step_times_may_grow_as_they_like(void **state)
{
	struct job *job = *state;
	tree_write(&job->tree, STEPS_1,
		   "step_id,step_start_time,step_end_time,step_exec_time\n1,100,110,10\n");
	begin_job(job);
	bool is_ignored = job->marks.files[job->marks.n_files - 1].is_ignored;
	assert_false(is_ignored);
	append(&job->tree, STEPS_1, "2,200,210,10\n");
	assert_int_equal(resume_ns(job), BASE_NS + 10000);
}

/* Reads once more from the marks with the nth allocation failing. */
static enum fsl_status read_short_of_memory(struct job *job, uint64_t nth)
{
	struct fsl_marks fresh = {0};
	job->tree.options.marks = &fresh;
	job->tree.options.n_threads = 1;
	fsl_run_fini(&job->tree.run);
	assert_int_equal(fsl_run_init(&job->tree.run, NULL), FSL_OK);
	fsl_mem_fail_at(nth);
	int64_t boundary_ns = 0;
	enum fsl_status status = fsl_marks_resume_ns(&job->marks, &job->tree.options, SLACK_NS,
						     INT64_MAX, &boundary_ns, NULL);
	if (status == FSL_OK) {
		status = fsl_ingest_run(&job->tree.run, &job->tree.options, NULL);
	}
	fsl_mem_fail_at(0);
	fsl_marks_fini(&fresh);
	job->tree.options.marks = NULL;
	return status;
}

static void every_failing_allocation_is_reported(void **state)
{
	struct job *job = *state;
	begin_job(job);
	append_ops(&job->tree, RANK_0, 100, 130);
	job->tree.options.resume_ns = resume_ns(job);
	job->tree.options.resume = &job->marks;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK; nth++) {
		status = read_short_of_memory(job, nth);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_true(nth > 30);
	job->tree.options.resume = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_that_did_not_change_go_on_at_the_newest_boundary),
		TEST(files_that_grew_go_on_where_no_older_row_can_come),
		TEST(a_host_far_ahead_of_its_device_does_not_make_operators_whole),
		TEST(operators_that_queue_for_the_device_are_not_where_they_will_be),
		TEST(no_boundary_behind_the_one_asked_for_is_told),
		TEST(resumed_runs_are_the_end_of_full_ones),
		TEST(what_is_read_is_what_stands_behind_the_marks),
		TEST(marks_of_a_resumed_run_serve_the_next),
		TEST(a_silent_file_that_grows_again_is_read_again),
		TEST(a_shorter_file_is_noticed),
		TEST(a_rotated_file_is_noticed),
		TEST(another_head_is_noticed),
		TEST(bytes_rewritten_before_a_mark_cost_that_mark),
		TEST(a_new_file_means_reading_everything),
		TEST(a_file_that_is_gone_means_reading_everything),
		TEST(other_boundaries_mean_reading_everything),
		TEST(files_of_others_do_not_matter),
		TEST(a_file_that_becomes_one_of_ours_is_noticed),
		TEST(a_file_replaced_after_the_question_is_read_as_it_is),
		TEST(an_array_that_is_not_closed_yet_goes_on),
		TEST(a_number_at_the_end_may_go_on),
		TEST(a_compressed_marker_file_is_read_again),
		TEST(step_times_may_grow_as_they_like),
		TEST(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
