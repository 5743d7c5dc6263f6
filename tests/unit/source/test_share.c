/* Files distributed over processes, and a process that answers the first one's questions. */
#include "source/load_pack.h"
#include "source/share_parts.h"
#include "tree.h"

enum { PLACES_MAX = 4, LOADS_MAX = 8 };

struct table {
	struct fsl_input inputs[LOADS_MAX];
	struct fsl_load loads[LOADS_MAX];
	size_t n;
	bool is_blind[PLACES_MAX];
	uint64_t n_bytes[PLACES_MAX];
	struct fsl_share share;
};

static void lay(struct table *table, int n_places, const uint64_t *sizes, size_t n)
{
	*table = (struct table){.n = n};
	table->share = (struct fsl_share){n_places, table->is_blind, table->n_bytes};
	for (size_t i = 0; i < n; i++) {
		table->inputs[i].n_bytes = sizes[i];
		table->loads[i].input = &table->inputs[i];
	}
}

static void check_places(const struct table *table, const int *wanted)
{
	for (size_t i = 0; i < table->n; i++) {
		assert_int_equal(table->loads[i].place, wanted[i]);
	}
}

static void the_largest_file_goes_to_who_has_least(void **state)
{
	(void)state;
	struct table table;
	const uint64_t sizes[] = {UINT64_C(1) << 30, UINT64_C(3) << 30, UINT64_C(2) << 30,
				  UINT64_C(1) << 30};
	lay(&table, 2, sizes, 4);
	fsl_share_place(&table.share, table.loads, 4);
	check_places(&table, (const int[]){1, 0, 1, 0});
}

static void equal_files_are_dealt_in_turn(void **state)
{
	(void)state;
	struct table table;
	const uint64_t sizes[] = {0, 0, 0, 0, 0, 0};
	lay(&table, 3, sizes, 6);
	fsl_share_place(&table.share, table.loads, 6);
	check_places(&table, (const int[]){0, 1, 2, 0, 1, 2});
}

static void the_next_batch_goes_on_where_the_last_one_ended(void **state)
{
	(void)state;
	struct table table;
	const uint64_t sizes[] = {5, 5, 5};
	lay(&table, 2, sizes, 3);
	fsl_share_place(&table.share, table.loads, 1);
	fsl_share_place(&table.share, table.loads + 1, 2);
	check_places(&table, (const int[]){0, 1, 0});
}

static void who_sees_no_files_gets_none_and_faults_stay(void **state)
{
	(void)state;
	struct table table;
	const uint64_t sizes[] = {5, 4, 3, 2};
	lay(&table, 3, sizes, 4);
	table.is_blind[1] = true;
	table.inputs[1].fault = "cannot be looked at";
	fsl_share_place(&table.share, table.loads, 4);
	check_places(&table, (const int[]){0, 0, 2, 2});
}

static void one_process_reads_everything(void **state)
{
	(void)state;
	struct table table;
	const uint64_t sizes[] = {5, 4};
	struct fsl_share share = {0};
	const struct fsl_ingest_options options = {.root_path = "."};
	const struct fsl_inputs inputs = {.n_items = 0};
	lay(&table, 1, sizes, 2);
	assert_int_equal(fsl_share_begin(&share, &options, &inputs, NULL), FSL_OK);
	assert_int_equal(fsl_share_deal(&share, table.loads, 2, NULL), FSL_OK);
	check_places(&table, (const int[]){0, 0});
	assert_int_equal(fsl_share_gather(table.loads, 2, 1, NULL), FSL_OK);
	fsl_share_end();
	fsl_share_fini(&share);
}

/* A question to @server; what it answers, to be ended with fsl_pack_fini. */
static struct fsl_pack asked(struct fsl_server *server, struct fsl_pack *question)
{
	struct fsl_pack answer = {0};
	bool is_end = true;
	struct fsl_error err = {0};
	assert_int_equal(
		fsl_server_do(server, question->bytes, question->n_bytes, &answer, &is_end, &err),
		FSL_OK);
	assert_false(is_end);
	fsl_pack_fini(question);
	return answer;
}

static struct fsl_pack look(const char *version, const char *root)
{
	struct fsl_pack pack = {0};
	fsl_pack_u8(&pack, FSL_ASK_LOOK);
	fsl_pack_text(&pack, version);
	fsl_pack_text(&pack, root);
	fsl_pack_text(&pack, "");
	fsl_pack_text(&pack, "");
	fsl_pack_u64(&pack, (uint64_t)INT64_MIN);
	fsl_pack_u64(&pack, (uint64_t)INT64_MAX);
	fsl_pack_u8(&pack, 0); /* the range is none for stages */
	fsl_pack_u8(&pack, 0); /* without stacks */
	fsl_pack_u32(&pack, 1);
	fsl_pack_u64(&pack, 1);
	fsl_pack_text(&pack, "took (?<time>[0-9]+)");
	return pack;
}

static struct fsl_pack next(void)
{
	struct fsl_pack pack = {0};
	fsl_pack_u8(&pack, FSL_ASK_NEXT);
	return pack;
}

/* The text of an answer that says no. */
static void check_refusal(struct fsl_pack *answer, const char *part)
{
	size_t n = 0;
	char text[1024];
	struct fsl_unpack unpack = {.at = answer->bytes, .n_left = answer->n_bytes};
	assert_int_equal(fsl_unpack_u8(&unpack), 0);
	const char *said = fsl_unpack_text(&unpack, sizeof(text) - 1, &n);
	assert_true(fsl_unpack_is_done(&unpack));
	memcpy(text, said, n);
	text[n] = '\0';
	assert_non_null(strstr(text, part));
	fsl_pack_fini(answer);
}

static void who_cannot_see_the_run_says_host_and_remedy(void **state)
{
	(void)state;
	struct fsl_server server = {0};
	struct fsl_pack question = look(FSL_VERSION, "/nowhere/at/all");
	struct fsl_pack answer = asked(&server, &question);
	check_refusal(&answer,
		      "mount the run's folder on its host or leave that host out: host=\"");
	question = look("0.0.1", "/");
	answer = asked(&server, &question);
	check_refusal(&answer, "wanted=\"0.0.1\"");
	question = look(FSL_VERSION, "/");
	answer = asked(&server, &question);
	assert_int_equal(answer.bytes[0], 1);
	fsl_pack_fini(&answer);
	fsl_server_fini(&server);
}

static void pack_input(struct fsl_pack *pack, const char *path, uint64_t n_bytes)
{
	fsl_pack_text(pack, path);
	fsl_pack_u64(pack, n_bytes);
	fsl_pack_u32(pack, 0xf);
	fsl_pack_u8(pack, 0);
	fsl_pack_u8(pack, 0);
}

static void files_are_answered_in_the_order_told(void **state)
{
	struct tree *tree = *state;
	struct fsl_server server = {0};
	char paths[2][512];
	const char *const names[] = {"hccl_activity-a-.4.csv", "hccl_activity-gone-.5.csv"};
	tree_write(tree, names[0], "kernel,t1,t2,t3,t4\nA,1,2,3,4\n");
	struct fsl_pack question = look(FSL_VERSION, tree->root);
	struct fsl_pack answer = asked(&server, &question);
	fsl_pack_fini(&answer);
	fsl_pack_u8(&question, FSL_ASK_READ);
	fsl_pack_u64(&question, 2);
	for (size_t i = 0; i < 2; i++) {
		tree_path(tree, names[i], paths[i], sizeof(paths[i]));
		pack_input(&question, paths[i], 9);
	}
	answer = asked(&server, &question);
	assert_int_equal(answer.n_bytes, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct fsl_input input = {.path = paths[i]};
		struct fsl_load load = {.input = &input};
		question = next();
		answer = asked(&server, &question);
		assert_int_equal(answer.bytes[0], 1);
		assert_int_equal(fsl_load_unpack(&load, answer.bytes + 1, answer.n_bytes - 1, NULL),
				 FSL_OK);
		assert_int_equal(load.file.state, i == 0 ? FSL_FILE_READ : FSL_FILE_UNUSABLE);
		assert_int_equal(load.sink.events.n_ops, i == 0 ? 1 : 0);
		fsl_sink_fini(&load.sink);
		fsl_pack_fini(&answer);
	}
	question = next();
	answer = asked(&server, &question);
	check_refusal(&answer, "no file is left: host=\"");
	fsl_server_fini(&server);
}

static void what_is_no_question_is_refused(void **state)
{
	(void)state;
	struct fsl_server server = {0};
	for (unsigned kind = 0; kind < 256; kind++) {
		const unsigned char bytes[] = {(unsigned char)kind, 1, 2, 3};
		struct fsl_pack answer = {0};
		bool is_end = false;
		assert_int_equal(
			fsl_server_do(&server, bytes, sizeof(bytes), &answer, &is_end, NULL),
			FSL_ERR_FORMAT);
		fsl_pack_fini(&answer);
	}
	struct fsl_pack answer = {0};
	const unsigned char end = FSL_ASK_END;
	bool is_end = false;
	assert_int_equal(fsl_server_do(&server, &end, 1, &answer, &is_end, NULL), FSL_OK);
	assert_true(is_end);
	fsl_server_fini(&server);
}

static void short_memory_is_answered(void **state)
{
	struct tree *tree = *state;
	char path[512];
	tree_write(tree, "hccl_activity-a-.4.csv", "kernel,t1,t2,t3,t4\nA,1,2,3,4\n");
	tree_path(tree, "hccl_activity-a-.4.csv", path, sizeof(path));
	size_t n_refused = 0;
	for (uint64_t nth = 1; nth < 60; nth++) {
		struct fsl_server server = {
			.from_ns = INT64_MIN, .to_ns = INT64_MAX, .n_threads = 1};
		struct fsl_pack answer = {0}, question = {0};
		bool is_end = false;
		fsl_pack_u8(&question, FSL_ASK_READ);
		fsl_pack_u64(&question, 1);
		pack_input(&question, path, 9);
		fsl_mem_fail_at(nth);
		assert_int_equal(fsl_server_do(&server, question.bytes, question.n_bytes, &answer,
					       &is_end, NULL),
				 FSL_OK);
		fsl_mem_fail_at(0);
		fsl_pack_fini(&question);
		question = next();
		answer = asked(&server, &question);
		if (answer.bytes[0] == 0) {
			check_refusal(&answer, "out of memory: host=\"");
			n_refused++;
		}
		fsl_pack_fini(&answer);
		fsl_server_fini(&server);
	}
	assert_true(n_refused > 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_largest_file_goes_to_who_has_least),
		TEST(equal_files_are_dealt_in_turn),
		TEST(the_next_batch_goes_on_where_the_last_one_ended),
		TEST(who_sees_no_files_gets_none_and_faults_stay),
		TEST(one_process_reads_everything),
		TEST(who_cannot_see_the_run_says_host_and_remedy),
		TEST(files_are_answered_in_the_order_told),
		TEST(what_is_no_question_is_refused),
		TEST(short_memory_is_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
