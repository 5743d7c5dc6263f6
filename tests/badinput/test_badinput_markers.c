/* Damaged marker and timeline files: the other ranks are still judged, and the verdict says what
 * was wrong, in which file, and what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
static const char rank_2[] = "-.2.csv";

/* A fresh tree, the path of rank 2's marker file, and an answer to fill. */
struct fixture {
	struct tree tree;
	char path[TREE_PATH_MAX];
	struct answer answer;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	tree_create(&fixture.tree, "markers");
	(void)tree_markers(&fixture.tree, 2, fixture.path);
	fixture.answer = (struct answer){.json = NULL};
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	answer_fini(&fixture->answer);
	tree_remove(&fixture->tree);
	return 0;
}

static void detect(struct fixture *fixture)
{
	tree_detect(&fixture->tree, &fixture->answer, NULL);
}

static void zero_byte_file_is_a_missing_rank(void **state)
{
	struct fixture *f = *state;
	file_write_text(f->path, "");
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "empty", WORDS("look at its log"));
	assert_true(is_missing_rank(&f->answer, 2));
}

static void header_alone_is_a_missing_rank(void **state)
{
	struct fixture *f = *state;
	size_t n_bytes = 0;
	char *data = file_read(f->path, &n_bytes);
	file_write(f->path, data, (size_t)(strchr(data, '\n') - data) + 1);
	free(data);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "empty", WORDS("look at its log"));
	assert_true(is_missing_rank(&f->answer, 2));
}

static void row_that_is_cut_is_counted(void **state)
{
	struct fixture *f = *state;
	file_truncate(f->path, file_size(f->path) - 20);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "partial", WORDS("line=", "offset="));
	assert_true(rows_dropped(&f->answer, "cut") >= 1.0);
	assert_false(is_missing_rank(&f->answer, 2));
}

static void timeline_that_is_cut_gives_its_first_steps(void **state)
{
	struct fixture *f = *state;
	char timeline[TREE_PATH_MAX];
	(void)tree_path(&f->tree, "timeline/host0--00000.timeline", timeline);
	file_truncate(timeline, file_size(timeline) * 9 / 10 + 3);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, "00000.timeline", "partial", WORDS("offset="));
}

static void content_decides_the_format(void **state)
{
	struct fixture *f = *state;
	static const char json[] =
		"[{\"Flag\":16,\"Id\":1,\"Kind\":1,\"Name\":\"comm:HcclAllreduce,w0,bfp16,8\","
		"\"SourceKind\":0,\"Timestamp\":1750000000000000000,\"msptiObjectId\":{}}]\n";
	file_write_text(f->path, json);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_true(rows_dropped(&f->answer, "noEnd") >= 1.0);
}

static void csv_that_turns_into_json_is_used_up_to_there(void **state)
{
	struct fixture *f = *state;
	static const char json[] = "[{\"Flag\":16,\"Id\":1,\"Timestamp\":1}]\n";
	file_append(f->path, json, strlen(json));
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "partial", WORDS("line="));
	assert_true(rows_dropped(&f->answer, "malformed") >= 1.0);
}

static void second_file_of_a_rank_is_not_mixed_in(void **state)
{
	struct fixture *f = *state;
	char twin[TREE_PATH_MAX];
	size_t n_bytes = 0;
	char *data = file_read(f->path, &n_bytes);
	file_write(tree_path(&f->tree, "mspti/hccl_activity-10.1.0.9-.2.csv", twin), data, n_bytes);
	free(data);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, "10.1.0.9-.2.csv", "duplicate", WORDS("10.1.0.1-.2.csv"));
}

static void file_that_disappears_is_a_missing_rank(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(symlink("gone.csv", f->path), 0);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "unusable", WORDS("look for it on the host"));
	assert_true(is_missing_rank(&f->answer, 2));
}

/* Cuts and restores the file over and over until it is told to stop. */
static _Noreturn void shrink_and_grow(const char *path)
{
	size_t n_bytes = 0;
	char *data = file_read(path, &n_bytes);
	for (;;) {
		(void)truncate(path, (off_t)(n_bytes / 3));
		(void)usleep(500);
		FILE *file = fopen(path, "r+b");
		if (file != NULL) {
			(void)fwrite(data, 1, n_bytes, file);
			(void)fclose(file);
		}
		(void)usleep(500);
	}
}

static void file_that_shrinks_while_read_does_no_harm(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();
	if (child == 0) {
		shrink_and_grow(f->path);
	}
	assert_true(child > 0);
	for (int i = 0; i < 5; i++) {
		struct answer answer;
		tree_run(&f->tree, &answer, NULL);
		assert_slow_rank_found(&answer);
		answer_fini(&answer);
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void wrong_columns_are_named(void **state)
{
	struct fixture *f = *state;
	file_write_text(f->path, "Flag,Id,Kind,Name,SourceKind,When\n16,1,1,comm:X!g!t!1,0,5\n");
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "unusable", WORDS("Timestamp", "line="));
	assert_true(is_missing_rank(&f->answer, 2));
}

static void unknown_format_is_named(void **state)
{
	struct fixture *f = *state;
	file_write_text(f->path, "this is a note of an engineer, not a marker file\n");
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "unusable",
		       WORDS("collect it again or move it away", "line=1"));
}

static void nul_bytes_cost_their_rows_only(void **state)
{
	struct fixture *f = *state;
	static const char row[] = "16,900001,1,comm:Hccl\0AllGather!t0_0!bfp16!1,0,1,1,1,1,1\n";
	file_append(f->path, row, sizeof(row) - 1);
	static const char zeros[512] = {0};
	file_append(f->path, zeros, sizeof(zeros));
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "partial", WORDS("line="));
	assert_true(rows_dropped(&f->answer, "malformed") >= 1.0);
}

/* A line of @n_bytes in the middle of the file. */
static void insert_long_line(const char *path, size_t n_bytes)
{
	size_t n_data = 0;
	char *data = file_read(path, &n_data);
	char *middle = strchr(data + n_data / 2, '\n') + 1;
	char *line = malloc(n_bytes);
	assert_non_null(line);
	memset(line, 'x', n_bytes);
	line[n_bytes - 1] = '\n';
	file_write(path, data, (size_t)(middle - data));
	file_append(path, line, n_bytes);
	file_append(path, middle, n_data - (size_t)(middle - data));
	free(line);
	free(data);
}

static void line_of_a_megabyte_is_one_bad_row(void **state)
{
	struct fixture *f = *state;
	insert_long_line(f->path, 1024 * 1024);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "partial", WORDS("line="));
	assert_true(rows_dropped(&f->answer, "malformed") >= 1.0);
}

static void line_over_the_limit_is_skipped(void **state)
{
	struct fixture *f = *state;
	insert_long_line(f->path, 9 * 1024 * 1024);
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_problem(&f->answer, rank_2, "partial", WORDS("line="));
	assert_true(rows_dropped(&f->answer, "tooLong") >= 1.0);
}

/* Appends an operator with these rows; ids far above those of the job. */
static void append_op(const char *path, int id, const char *name)
{
	char rows[1024];
	int length = snprintf(rows, sizeof(rows),
			      "16,%d,1,%s,0,1750000030000000000,1,1,1,1\n"
			      "32,%d,1,,0,1750000030000100000,1,1,1,1\n"
			      "16,%d,1,,1,1750000030000200000,1,1,1,1\n"
			      "32,%d,1,,1,1750000030000300000,1,1,1,1\n",
			      id, name, id, id, id);
	file_append(path, rows, (size_t)length);
}

static void unknown_operators_and_odd_names_are_no_fault(void **state)
{
	struct fixture *f = *state;
	append_op(f->path, 900001, "comm:HcclFancyNewThing!t0_0!bfp16!77");
	append_op(f->path, 900002, "comm:HcclAllGather");
	append_op(f->path, 900003, "user marker, with a comma");
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_true(rows_dropped(&f->answer, "badName") + rows_dropped(&f->answer, "malformed") >=
		    1.0);
}

static void restarted_job_is_not_one_huge_operator(void **state)
{
	struct fixture *f = *state;
	for (int rank = 0; rank < TREE_RANKS; rank++) {
		/* The same ids once more, an hour later. */
		char path[TREE_PATH_MAX];
		size_t n_bytes = 0;
		char *data = file_read(tree_markers(&f->tree, rank, path), &n_bytes);
		char *rows = strchr(data, '\n') + 1;
		for (char *at = rows; (at = strstr(at, ",17500000")) != NULL; at++) {
			memcpy(at, ",17500036", 9);
		}
		file_append(path, rows, n_bytes - (size_t)(rows - data));
		free(data);
	}
	detect(f);
	assert_slow_rank_found(&f->answer);
}

static void ends_without_starts_are_counted(void **state)
{
	struct fixture *f = *state;
	static const char rows[] = "32,900001,1,,0,1750000030000000000,1,1,1,1\n"
				   "32,900001,1,,1,1750000030000300000,1,1,1,1\n";
	file_append(f->path, rows, strlen(rows));
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_true(rows_dropped(&f->answer, "noStart") + rows_dropped(&f->answer, "noName") >=
		    1.0);
}

static void clock_that_jumps_back_is_counted(void **state)
{
	struct fixture *f = *state;
	static const char rows[] =
		"16,900001,1,comm:HcclAllGather!t0_0!bfp16!1,0,1750000030000000000,1,1,1,1\n"
		"32,900001,1,,0,1750000029000000000,1,1,1,1\n"
		"16,900001,1,,1,1750000030000300000,1,1,1,1\n"
		"32,900001,1,,1,1750000028000300000,1,1,1,1\n";
	file_append(f->path, rows, strlen(rows));
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_true(rows_dropped(&f->answer, "backwards") >= 1.0);
}

static void damaged_gzip_is_used_up_to_the_damage(void **state)
{
	struct fixture *f = *state;
	static const unsigned char half_gzip[] = {0x1f, 0x8b, 8, 0,    0,    0,   0,
						  0,    0,    3, 0x73, 0xcb, 0x49};
	file_write(f->path, half_gzip, sizeof(half_gzip));
	detect(f);
	assert_slow_rank_found(&f->answer);
	assert_true(is_missing_rank(&f->answer, 2));
}

static void folder_and_pipe_in_place_of_files_do_not_block(void **state)
{
	struct fixture *f = *state;
	char path[TREE_PATH_MAX];
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(mkfifo(f->path, 0644), 0);
	assert_int_equal(unlink(tree_markers(&f->tree, 1, path)), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	/* The digest of the inputs would wait for somebody to write into the pipe. */
	tree_run(&f->tree, &f->answer, NULL);
	assert_slow_rank_found(&f->answer);
	assert_true(is_missing_rank(&f->answer, 1));
	assert_true(is_missing_rank(&f->answer, 2));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(zero_byte_file_is_a_missing_rank),
		CASE(header_alone_is_a_missing_rank),
		CASE(row_that_is_cut_is_counted),
		CASE(timeline_that_is_cut_gives_its_first_steps),
		CASE(content_decides_the_format),
		CASE(csv_that_turns_into_json_is_used_up_to_there),
		CASE(second_file_of_a_rank_is_not_mixed_in),
		CASE(file_that_disappears_is_a_missing_rank),
		CASE(file_that_shrinks_while_read_does_no_harm),
		CASE(wrong_columns_are_named),
		CASE(unknown_format_is_named),
		CASE(nul_bytes_cost_their_rows_only),
		CASE(line_of_a_megabyte_is_one_bad_row),
		CASE(line_over_the_limit_is_skipped),
		CASE(unknown_operators_and_odd_names_are_no_fault),
		CASE(restarted_job_is_not_one_huge_operator),
		CASE(ends_without_starts_are_counted),
		CASE(clock_that_jumps_back_is_counted),
		CASE(damaged_gzip_is_used_up_to_the_damage),
		CASE(folder_and_pipe_in_place_of_files_do_not_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
