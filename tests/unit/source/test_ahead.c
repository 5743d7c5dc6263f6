/* Rows that idle threads read ahead: what is read is the same with them, wherever they look. */
#include "readings.h"
#include "row_documents.h"

#include "source/ahead.h"
#include "source/batch.h"

enum { ROUNDS = 600, MANY_PARTS = ROWS_TEXT_MAX, LARGE_ROWS = 40000 };

/* In front of fsl_ahead_offer(), by the linker: everything that may be read ahead has been by the
 * time the reader goes on. */
struct fsl_ahead_file *__real_fsl_ahead_offer(struct fsl_ahead *ahead,
					      const struct fsl_reader *reader, uint64_t offset,
					      uint64_t end, struct fsl_ahead_scanner scanner);
struct fsl_ahead_file *__wrap_fsl_ahead_offer(struct fsl_ahead *ahead,
					      const struct fsl_reader *reader, uint64_t offset,
					      uint64_t end, struct fsl_ahead_scanner scanner);
const struct fsl_ahead_part *__real_fsl_ahead_meet(struct fsl_ahead_file *file, uint64_t offset);
const struct fsl_ahead_part *__wrap_fsl_ahead_meet(struct fsl_ahead_file *file, uint64_t offset);

static bool is_helped_at_once;
static size_t n_parts_asked, n_parts_met, n_rows_met;

struct fsl_ahead_file *__wrap_fsl_ahead_offer(struct fsl_ahead *ahead,
					      const struct fsl_reader *reader, uint64_t offset,
					      uint64_t end, struct fsl_ahead_scanner scanner)
{
	struct fsl_ahead_file *file = __real_fsl_ahead_offer(ahead, reader, offset, end, scanner);
	if (file != NULL && is_helped_at_once) {
		fsl_ahead_help(ahead);
	}
	return file;
}

const struct fsl_ahead_part *__wrap_fsl_ahead_meet(struct fsl_ahead_file *file, uint64_t offset)
{
	const struct fsl_ahead_part *part = __real_fsl_ahead_meet(file, offset);
	n_parts_asked++;
	n_parts_met += part != NULL;
	n_rows_met += part != NULL ? part->n_rows : 0;
	return part;
}

/* One file, read by itself or with parts of @part_bytes read ahead. */
struct reading {
	struct fsl_load load;
};

static void reading_begin(struct reading *reading, const struct fsl_input *input,
			  const struct fsl_ingest_options *options, size_t part_bytes)
{
	struct fsl_ahead *ahead =
		part_bytes > 0 ? fsl_ahead_create(1, MANY_PARTS, part_bytes) : NULL;
	*reading = (struct reading){.load = {.input = input, .ahead = ahead}};
	assert_int_equal(fsl_load_read(&reading->load, options->from_ns, options->to_ns, NULL),
			 FSL_OK);
	fsl_ahead_destroy(ahead);
}

static void reading_end(struct reading *reading)
{
	fsl_sink_fini(&reading->load.sink);
}

static void check_alike(const struct fsl_input *input, const struct fsl_ingest_options *options,
			size_t part_bytes, uint64_t seed)
{
	struct reading alone, helped;
	reading_begin(&alone, input, options, 0);
	reading_begin(&helped, input, options, part_bytes);
	const struct fsl_sink *a = &alone.load.sink, *b = &helped.load.sink;
	const char *what = difference_of_events(&a->events, &b->events);
	what = what != NULL ? what : difference_of_files(&alone.load.file, &helped.load.file);
	what = what != NULL || are_names_alike(a->names, b->names) ? what : "names";
	if (what != NULL) {
		fail_msg("seed=%llu, part_bytes=%zu: %s differ", (unsigned long long)seed,
			 part_bytes, what);
	}
	reading_end(&alone);
	reading_end(&helped);
}

static struct fsl_input input_of(const struct tree *tree, const char *name, char *path, size_t size)
{
	tree_path(tree, name, path, size);
	struct fsl_input input = {.path = path, .name = name, .kinds = 0xf, .is_explicit = true};
	input.told = fsl_file_name_parse(name);
	return input;
}

static void reading_with_help_equals_reading_alone(void **state)
{
	static struct rows_text text;
	struct tree *tree = *state;
	char path[512];
	struct fsl_input input = input_of(tree, "hccl_activity-h-.0.csv", path, sizeof(path));
	is_helped_at_once = true;
	n_parts_asked = n_parts_met = n_rows_met = 0;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		uint64_t random = seed;
		struct fsl_ingest_options options = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
		rows_csv_make(&text, &random);
		tree_write_bytes(tree, input.name, text.bytes, text.n);
		if (rows_chance(&random, 2)) {
			options.from_ns = ROWS_BASE_NS + 200000;
			options.to_ns = ROWS_BASE_NS + 900000;
		}
		check_alike(&input, &options, 16 + random_below(&random, 64), seed);
		check_alike(&input, &options, 100 + random_below(&random, 1000), seed);
	}
	print_message("parts asked for=%zu, met=%zu, rows=%zu\n", n_parts_asked, n_parts_met,
		      n_rows_met);
	assert_true(n_parts_met > 10 * ROUNDS && n_parts_met < n_parts_asked);
	assert_true(n_rows_met > 50 * ROUNDS);
}

/* Many rows that lack nothing. */
static void write_large(struct tree *tree, const char *name)
{
	enum { ROW_BYTES = 80 };
	char *text = malloc(sizeof(MARKER_HEADER) + (size_t)LARGE_ROWS * ROW_BYTES);
	assert_non_null(text);
	size_t n = (size_t)sprintf(text, "%s", MARKER_HEADER);
	for (int i = 0; i < LARGE_ROWS; i++) {
		int id = i / 4, side = i % 4;
		n += (size_t)sprintf(text + n, "%d,%d,1,%s,%d,%d,0,0,42,42\n",
				     side % 2 == 0 ? 16 : 32, id,
				     side == 0 ? "comm:HcclAllReduce!tp0!bfp16!4096" : "", side / 2,
				     ROWS_BASE_NS + 1000 * i);
	}
	tree_write_bytes(tree, name, text, n);
	free(text);
}

static void threads_without_a_file_help_and_change_nothing(void **state)
{
	struct tree *tree = *state;
	char path[512];
	struct fsl_input input = input_of(tree, "hccl_activity-h-.0.csv", path, sizeof(path));
	is_helped_at_once = false;
	write_large(tree, input.name);
	for (int n_threads = 1; n_threads <= 5; n_threads += 2) {
		struct fsl_load load = {.input = &input};
		assert_int_equal(fsl_batch_read(&load, 1, INT64_MIN, INT64_MAX, n_threads, NULL),
				 FSL_OK);
		assert_int_equal(load.file.state, FSL_FILE_READ);
		assert_int_equal(load.file.n_records, LARGE_ROWS);
		assert_int_equal(load.sink.events.n_ops, LARGE_ROWS / 4);
		for (size_t i = 0; i < load.sink.events.n_ops; i++) {
			assert_int_equal(load.sink.events.ops[i].id, i);
		}
		fsl_sink_fini(&load.sink);
	}
}

static void memory_that_is_short_is_told_or_costs_no_row(void **state)
{
	struct tree *tree = *state;
	char path[512];
	struct fsl_input input = input_of(tree, "hccl_activity-h-.0.csv", path, sizeof(path));
	static struct rows_text text;
	uint64_t random = 3;
	rows_csv_make(&text, &random);
	tree_write_bytes(tree, input.name, text.bytes, text.n);
	is_helped_at_once = true;
	struct reading alone;
	struct fsl_ingest_options options = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
	reading_begin(&alone, &input, &options, 0);
	size_t n_told = 0;
	for (uint64_t nth = 1; nth < 200; nth++) {
		struct fsl_ahead *ahead = fsl_ahead_create(1, MANY_PARTS, 300);
		struct fsl_load load = {.input = &input, .ahead = ahead};
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_load_read(&load, INT64_MIN, INT64_MAX, NULL);
		fsl_mem_fail_at(0);
		if (status == FSL_OK) {
			assert_null(
				difference_of_events(&load.sink.events, &alone.load.sink.events));
		} else {
			assert_int_equal(status, FSL_ERR_MEMORY);
			n_told++;
		}
		fsl_sink_fini(&load.sink);
		fsl_ahead_destroy(ahead);
	}
	assert_true(n_told > 10 && n_told < 199);
	reading_end(&alone);
}

static void small_files_are_not_offered(void **state)
{
	struct tree *tree = *state;
	char path[512];
	struct fsl_reader *reader = NULL;
	tree_write_bytes(tree, "small.csv", MARKER_HEADER, strlen(MARKER_HEADER));
	tree_path(tree, "small.csv", path, sizeof(path));
	assert_int_equal(fsl_reader_open(&reader, path, NULL), FSL_OK);
	struct fsl_ahead *ahead = fsl_ahead_create(1, 2, FSL_AHEAD_PART_BYTES);
	const struct fsl_ahead_scanner scanner = {NULL, NULL};
	assert_null(fsl_ahead_offer(ahead, reader, 10, UINT64_MAX, scanner));
	assert_null(fsl_ahead_offer(NULL, reader, 10, UINT64_MAX, scanner));
	assert_true(fsl_ahead_fence(NULL) == UINT64_MAX);
	assert_null(fsl_ahead_create(1, 0, FSL_AHEAD_PART_BYTES));
	fsl_ahead_withdraw(NULL);
	fsl_ahead_destroy(ahead);
	fsl_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reading_with_help_equals_reading_alone, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(threads_without_a_file_help_and_change_nothing,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_short_is_told_or_costs_no_row,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(small_files_are_not_offered, tree_setup,
						tree_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
