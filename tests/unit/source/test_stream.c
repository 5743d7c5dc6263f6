/* Files that are read in pieces give what they give when they are read in one. */
#include "row_documents.h"
#include "tree.h"

#include "base/number.h"
#include "readings.h"
#include "source/discover.h"
#include "source/stream.h"

enum { ROUNDS = 150, LATE_PERIODS = 6 };

static const struct file_kind {
	const char *name;
	void (*make)(struct rows_text *text, uint64_t *random);
	size_t n_least; /* pieces that all of its files together have */
} documents[] = {
	{"hccl_activity-h-.0.csv", rows_csv_make, ROUNDS * 3 / 2},
	{"hccl_activity-h-.0.json", rows_json_make, ROUNDS * 3 / 2},
	{"h--00000.timeline", rows_timeline_make, ROUNDS * 3 / 2},
	{"nccl.0.csv", rows_nccl_make, ROUNDS},
};

/* Reads on and on; *n: in how many pieces there was something. */
static void read_in_pieces(struct tree *tree, struct fsl_run *run, int64_t period_ns, size_t *n)
{
	struct fsl_inputs inputs = {0};
	struct fsl_stream *stream = NULL;
	const struct fsl_pieces pieces = {INT64_MAX, ROWS_BASE_NS, period_ns,
					  LATE_PERIODS * (int64_t)ROWS_PERIOD_NS, false};
	*n = 0;
	assert_int_equal(fsl_inputs_find(&inputs, &tree->options, &tree->err), FSL_OK);
	assert_int_equal(
		fsl_stream_open(&stream, &inputs, &tree->options, &pieces, 8.0, NULL, NULL),
		FSL_OK);
	for (int64_t i = 0; i < 20; i++) {
		size_t n_before =
			run->n_ranks > 0 ? run->ranks[0].n_ops + run->ranks[0].n_stages : 0;
		int64_t until_ns = i < 19 ? ROWS_BASE_NS + i * period_ns : INT64_MAX;
		assert_int_equal(fsl_stream_read(stream, run, until_ns, NULL), FSL_OK);
		*n += run->n_ranks > 0 && run->ranks[0].n_ops + run->ranks[0].n_stages > n_before;
	}
	fsl_stream_close(stream);
	fsl_inputs_fini(&inputs);
}

static void pieces_give_what_one_reading_gives(void **state)
{
	static struct rows_text text;
	struct tree *tree = *state;
	tree->options.n_threads = 1; /* it is done often */
	for (size_t d = 0; d < sizeof(documents) / sizeof(documents[0]); d++) {
		size_t n_pieces = 0;
		for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
			uint64_t random = seed;
			size_t n = 0;
			struct fsl_run whole, run;
			documents[d].make(&text, &random);
			tree_write_bytes(tree, documents[d].name, text.bytes, text.n);
			assert_int_equal(fsl_run_init(&whole, NULL), FSL_OK);
			assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
			enum fsl_status status = fsl_ingest_run(&whole, &tree->options, &tree->err);
			assert_true(status == FSL_OK || status == FSL_ERR_INPUT);
			read_in_pieces(tree, &run, ROWS_PERIOD_NS * (int64_t)(1 + seed % 3), &n);
			n_pieces += n;
			assert_int_equal(run.n_files, 1);
			assert_int_equal(run.n_ranks, whole.n_ranks);
			const char *what = difference_of_files(&run.files[0], &whole.files[0]);
			if (what == NULL && run.n_ranks > 0) {
				/* Ids are compared within a piece; no verdict hangs on it. */
				run.ranks[0].is_restarted = whole.ranks[0].is_restarted;
				what = difference_of_events(&run.ranks[0], &whole.ranks[0]);
			}
			/* Nobody waits in what never ended for longer than the slack; and where ids
			 * come again what lacks rows is not taken for the next one of its id. */
			bool is_again = d < 2 && whole.n_ranks > 0 && whole.ranks[0].is_restarted;
			bool is_open = what != NULL && strcmp(what, "open operator") == 0;
			if (what != NULL && !is_again && !is_open) {
				fail_msg("%s, seed=%llu: %s differ", documents[d].name,
					 (unsigned long long)seed, what);
			}
			fsl_run_fini(&whole);
			fsl_run_fini(&run);
		}
		print_message("%s: pieces=%zu\n", documents[d].name, n_pieces);
		assert_true(n_pieces >= documents[d].n_least);
		char path[512];
		tree_path(tree, documents[d].name, path, sizeof(path));
		assert_int_equal(remove(path), 0);
	}
}

/* Two operators a period apart on a rank that stops, and on one that goes on. */
static void a_file_that_ends_is_not_waited_for(void **state)
{
	struct tree *tree = *state;
	char text[16384];
	for (int rank = 0; rank < 2; rank++) {
		char name[64];
		size_t n = (size_t)sprintf(text, "%s", MARKER_HEADER);
		for (int i = 0; i < (rank == 0 ? 6 : 60); i++) {
			for (int side = 0; side < 4; side++) {
				n += (size_t)sprintf(text + n, "%d,%d,1,%s,%d,%lld,0,0,1,1\n",
						     side % 2 == 0 ? 16 : 32, i,
						     side == 0 ? "comm:HcclAllReduce!g!f!1" : "",
						     side / 2,
						     (long long)ROWS_BASE_NS + 1000 * i + side);
			}
		}
		(void)sprintf(name, "hccl_activity-h-.%d.csv", rank);
		tree_write_bytes(tree, name, text, n);
	}
	struct fsl_inputs inputs = {0};
	struct fsl_stream *stream = NULL;
	const struct fsl_pieces pieces = {INT64_MAX, ROWS_BASE_NS + 10000, 10000, 2000, false};
	assert_int_equal(fsl_inputs_find(&inputs, &tree->options, &tree->err), FSL_OK);
	assert_int_equal(
		fsl_stream_open(&stream, &inputs, &tree->options, &pieces, 6.0, NULL, NULL),
		FSL_OK);
	assert_int_equal(fsl_stream_read(stream, &tree->run, ROWS_BASE_NS + 10000, NULL), FSL_OK);
	assert_int_equal(tree->run.n_ranks, 2);
	assert_in_range(tree->run.ranks[1].n_ops, 10, 30);
	assert_int_equal(fsl_stream_read(stream, &tree->run, INT64_MAX, NULL), FSL_OK);
	assert_int_equal(tree->run.ranks[1].n_ops, 60);
	assert_int_equal(tree->run.ranks[0].n_ops, 6);
	fsl_stream_close(stream);
	fsl_inputs_fini(&inputs);
}

/* Sixty operators 1 us apart; that of @number ends behind all others. Returns how many are read in
 * pieces. */
static size_t read_with_long_operator(struct tree *tree, int number, bool keeps_running)
{
	char text[16384];
	size_t n = (size_t)sprintf(text, "%s", MARKER_HEADER), n_read = 0;
	for (int i = 0; i < 60; i++) {
		for (int side = 0; side < (i == number ? 3 : 4); side++) {
			n += (size_t)sprintf(text + n, "%d,%d,1,%s,%d,%lld,0,0,1,1\n",
					     side % 2 == 0 ? 16 : 32, i,
					     side == 0 ? "comm:HcclAllReduce!g!f!1" : "", side / 2,
					     (long long)ROWS_BASE_NS + 1000 * i + side);
		}
	}
	n += (size_t)sprintf(text + n, "32,%d,1,,1,%lld,0,0,1,1\n", number,
			     (long long)ROWS_BASE_NS + 60000);
	tree_write_bytes(tree, "hccl_activity-h-.0.csv", text, n);
	struct fsl_inputs inputs = {0};
	struct fsl_stream *stream = NULL;
	struct fsl_run run;
	const struct fsl_pieces pieces = {INT64_MAX, ROWS_BASE_NS + 10000, 10000, 2000,
					  keeps_running};
	assert_int_equal(fsl_run_init(&run, NULL), FSL_OK);
	assert_int_equal(fsl_inputs_find(&inputs, &tree->options, &tree->err), FSL_OK);
	assert_int_equal(
		fsl_stream_open(&stream, &inputs, &tree->options, &pieces, 6.0, NULL, NULL),
		FSL_OK);
	assert_int_equal(fsl_stream_read(stream, &run, INT64_MAX, NULL), FSL_OK);
	n_read = run.n_ranks == 1 ? run.ranks[0].n_ops : 0;
	fsl_stream_close(stream);
	fsl_inputs_fini(&inputs);
	fsl_run_fini(&run);
	return n_read;
}

static void a_running_operator_is_kept_if_asked(void **state)
{
	assert_int_equal(read_with_long_operator(*state, 5, true), 60);
	assert_int_equal(read_with_long_operator(*state, 5, false), 59);
	assert_int_equal(read_with_long_operator(*state, 17, true), 60);
	assert_int_equal(read_with_long_operator(*state, 17, false), 59);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pieces_give_what_one_reading_gives, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(a_file_that_ends_is_not_waited_for, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(a_running_operator_is_kept_if_asked, tree_setup,
						tree_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
