/* Files entered in the middle for a time range, and left behind it, give what a full scan gives. */
#include <stdio.h>
#include <stdlib.h>

#include "pair.h"

#include "source/entry.h"

enum {
	OPS_N = 50000,
	ROW_BYTES_MAX = 240,
	STEP_MS = 100,
	BATCH_OPS = 1150,
	FLUSHES_N = FSL_TEST_COST > 1 ? 2 : 4,
	STRIDE = FSL_TEST_COST > 1 ? 3 : 2, /* from a place that is tried to the next */
};
static const int flushes[] = {1, 2000, 100, 4 * OPS_N}; /* records of one */
#define ORIGIN_NS INT64_C(1750000000000000000)
static const char plain[] = "hccl_activity-a-.0.csv", packed[] = "hccl_activity-a-.1.csv.gz";
static const char plain_json[] = "hccl_activity-a-.0.json";
static const char packed_json[] = "hccl_activity-a-.1.json.gz";

static struct tree tree;
static struct pair pair;
static int flush_records; /* as JSON, so many records to a flush; 0: as CSV */
static int n_records;
static char *text;
static size_t n_text;

static int setup(void **state)
{
	(void)state;
	tree_begin(&tree);
	pair = (struct pair){0};
	text = malloc((size_t)OPS_N * 4 * ROW_BYTES_MAX);
	n_text = 0;
	flush_records = n_records = 0;
	assert_non_null(text);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	tree_end(&tree);
	return 0;
}

/* One record of a flush: "[" before the first, "]" and a newline behind the last. */
static void add_record(int flag, int id, const char *name, int source, int64_t time_ns)
{
	bool is_first = n_records % flush_records == 0;
	n_text += (size_t)sprintf(
		text + n_text,
		"%s{\"Domain\":\"\",\"Flag\":%d,\"Id\":%d,\"Kind\":1,\"Name\":\"%s\","
		"\"SourceKind\":%d,\"Timestamp\":%lld,\"msptiObjectId\":{\"Ds\":"
		"{\"DeviceId\":7,\"StreamId\":7}}}",
		is_first ? "[" : ",", flag, id, name, source, (long long)time_ns);
	n_records++;
	if (n_records % flush_records == 0) {
		n_text += (size_t)sprintf(text + n_text, "]\n");
	}
}

static void add_row(int flag, int id, const char *name, int source, int64_t time_ns)
{
	if (flush_records > 0) {
		add_record(flag, id, name, source, time_ns);
		return;
	}
	n_text += (size_t)sprintf(text + n_text, "%d,%d,1,%s,%d,%lld,7,7,7,7\n", flag, id, name,
				  source, (long long)time_ns);
}

static int64_t begin_of(int op)
{
	return ORIGIN_NS + (int64_t)op * STEP_MS * 1000000;
}

/* Operators 100 ms apart, 50 ms long; a collector that flushes the host rows of so many, then their
 * device rows. */
static void make_rows(int batch_ops)
{
	n_text = flush_records > 0 ? 0 : (size_t)sprintf(text, "%s", MARKER_HEADER);
	n_records = 0;
	for (int first = 0; first < OPS_N; first += batch_ops) {
		int end = first + batch_ops < OPS_N ? first + batch_ops : OPS_N;
		for (int i = first; i < end; i++) {
			add_row(16, i + 1, "comm:HcclAllReduce!world!bfp16!1024", 0, begin_of(i));
			add_row(32, i + 1, "", 0, begin_of(i) + 1000000);
		}
		for (int i = first; i < end; i++) {
			add_row(16, i + 1, "", 1, begin_of(i) + 2000000);
			add_row(32, i + 1, "", 1, begin_of(i) + 52000000);
		}
	}
}

/* The same bytes as rank 0 plain and as rank 1 compressed. */
static void read_both(int64_t from_ns)
{
	pair_write(&pair, &tree, flush_records > 0 ? plain_json : plain,
		   flush_records > 0 ? packed_json : packed, text, n_text);
	tree.options.from_ns = from_ns;
	assert_int_equal(tree_read(&tree), FSL_OK);
}

static void assert_same_operators(void)
{
	const struct fsl_rank *entered = tree_rank(&tree, 0), *scanned = tree_rank(&tree, 1);
	assert_int_equal(entered->n_ops, scanned->n_ops);
	assert_true(entered->n_ops > 0);
	for (size_t i = 0; i < entered->n_ops; i++) {
		assert_int_equal(entered->ops[i].id, scanned->ops[i].id);
		assert_int_equal(entered->ops[i].dev_end_ns, scanned->ops[i].dev_end_ns);
		assert_int_equal(entered->ops[i].host_begin_ns, scanned->ops[i].host_begin_ns);
	}
	assert_int_equal(entered->n_remnants, scanned->n_remnants);
	for (size_t i = 0; i < entered->n_remnants; i++) {
		assert_int_equal(entered->remnants[i].id, scanned->remnants[i].id);
		assert_int_equal(entered->remnants[i].dev_begin_ns,
				 scanned->remnants[i].dev_begin_ns);
	}
	assert_int_equal(entered->last_event_ns, scanned->last_event_ns);
	assert_int_equal(entered->is_restarted, scanned->is_restarted);
}

/* The same operators, and the same one that never ended. */
static void assert_same(void)
{
	const struct fsl_rank *entered = tree_rank(&tree, 0), *scanned = tree_rank(&tree, 1);
	assert_same_operators();
	assert_int_equal(entered->open_begin_ns, scanned->open_begin_ns);
	assert_int_equal(entered->open_op_id, scanned->open_op_id);
}

static uint64_t bytes_behind(void)
{
	return tree_file(&tree, flush_records > 0 ? plain_json : plain)->n_bytes_behind;
}

static int64_t share_ns(double share)
{
	return ORIGIN_NS + (int64_t)(share * OPS_N) * STEP_MS * 1000000;
}

static void a_range_at_the_end_skips_what_is_older_and_gives_the_same(void **state)
{
	(void)state;
	make_rows(1);
	read_both(share_ns(0.95));
	assert_same();
	assert_true(tree_file(&tree, plain)->n_bytes_before > n_text * 8 / 10);
	assert_int_equal(tree_file(&tree, packed)->n_bytes_before, 0);
}

static void every_begin_of_a_range_gives_the_same(void **state)
{
	(void)state;
	make_rows(1);
	for (int i = 0; i < 4; i += STRIDE) {
		read_both(share_ns((double)i / 4.0) - 1);
		assert_same();
	}
}

/* The sixth field of a row. */
static bool time_of(const void *context, const char *row, size_t length, int64_t *time_ns)
{
	(void)context, (void)length;
	for (int field = 0; field < 5; field++) {
		row = strchr(row, ',') + 1;
	}
	*time_ns = strtoll(row, NULL, 10);
	return true;
}

static bool next_row(const void *context, const char *block, const char *end,
		     struct fsl_entry_row *row)
{
	const char *first = memchr(block, '\n', (size_t)(end - block));
	const char *last =
		first != NULL ? memchr(first + 1, '\n', (size_t)(end - first - 1)) : NULL;
	if (last == NULL) {
		return false;
	}
	*row = (struct fsl_entry_row){.begin = first + 1, .end = last};
	return time_of(context, first + 1, (size_t)(last - first - 1), &row->time_ns);
}

/* True when all rows before @entry are older than the range. */
static bool is_all_older(uint64_t entry, int64_t from_ns)
{
	const char *row = strchr(text, '\n') + 1;
	int64_t newest_ns = 0, time_ns = 0;
	for (; row < text + entry; row = strchr(row, '\n') + 1) {
		(void)time_of(NULL, row, 0, &time_ns);
		newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
	}
	return newest_ns < from_ns;
}

static void no_row_of_the_range_stands_before_the_entry(void **state)
{
	(void)state;
	enum { PLACES_N = 40 };
	static const struct fsl_entry_rows rows = {NULL, next_row};
	char path[512];
	struct fsl_reader *reader = NULL;
	size_t n_entered = 0;
	make_rows(BATCH_OPS);
	tree_write_bytes(&tree, plain, text, n_text);
	tree_path(&tree, plain, path, sizeof(path));
	assert_int_equal(fsl_reader_open(&reader, path, NULL), FSL_OK);
	for (int i = 0; i < PLACES_N; i++) {
		int64_t from_ns = begin_of(OPS_N / 2 + i * 3 * BATCH_OPS / PLACES_N);
		uint64_t first = strlen(MARKER_HEADER), entry = 0;
		assert_int_equal(fsl_entry_find(reader, &rows, from_ns, first, &entry, NULL),
				 FSL_OK);
		assert_true(entry == first || text[entry - 1] == '\n');
		assert_true(is_all_older(entry, from_ns));
		n_entered += entry > n_text / 4;
	}
	assert_int_equal(n_entered, PLACES_N);
	fsl_reader_close(reader);
}

static void rows_flushed_in_batches_are_found(void **state)
{
	(void)state;
	make_rows(BATCH_OPS);
	read_both(share_ns(0.7));
	assert_same();
	assert_true(tree_file(&tree, plain)->n_bytes_before > n_text / 2);
	assert_int_equal(tree_file(&tree, plain)->n_dropped[FSL_DROP_NO_START], 0);
	assert_int_equal(tree_file(&tree, plain)->n_dropped[FSL_DROP_NO_NAME], 0);
}

/* A clock set back, or files put together the wrong way round: the second half is older. */
static void a_file_out_of_order_is_read_whole(void **state)
{
	(void)state;
	make_rows(1);
	char *half = text + n_text / 2;
	char *cut = strchr(half, '\n') + 1;
	size_t n_head = strlen(MARKER_HEADER), n_second = (size_t)(text + n_text - cut);
	char *turned = malloc(n_text);
	assert_non_null(turned);
	memcpy(turned, text, n_head);
	memcpy(turned + n_head, cut, n_second);
	memcpy(turned + n_head + n_second, text + n_head, (size_t)(cut - text) - n_head);
	memcpy(text, turned, n_text);
	free(turned);
	read_both(share_ns(0.9));
	assert_same_operators();
	read_both(share_ns(0.3));
	assert_same_operators();
}

static void a_small_file_is_read_whole(void **state)
{
	(void)state;
	make_rows(1);
	n_text = (size_t)(strchr(text + n_text / 64, '\n') + 1 - text);
	read_both(share_ns(0.01));
	assert_same();
	assert_int_equal(tree_file(&tree, plain)->n_bytes_before, 0);
}

static void a_rank_silent_before_the_range_still_tells_what_it_waited_in(void **state)
{
	(void)state;
	make_rows(1);
	add_row(16, OPS_N + 1, "comm:HcclAllReduce!world!bfp16!1024", 0, share_ns(1.0));
	add_row(32, OPS_N + 1, "", 0, share_ns(1.0) + 1000000);
	add_row(16, OPS_N + 1, "", 1, share_ns(1.0) + 2000000);
	read_both(share_ns(1.5));
	const struct fsl_rank *entered = tree_rank(&tree, 0), *scanned = tree_rank(&tree, 1);
	assert_true(tree_file(&tree, plain)->n_bytes_before > n_text * 8 / 10);
	assert_int_equal(entered->n_ops, 0);
	assert_int_equal(entered->last_event_ns, scanned->last_event_ns);
	assert_int_equal(entered->open_begin_ns, scanned->open_begin_ns);
	assert_int_equal(entered->open_begin_ns, share_ns(1.0) + 2000000);
}

static void broken_rows_behind_the_entry_are_told_by_their_offset(void **state)
{
	(void)state;
	make_rows(1);
	memcpy(strchr(text + n_text - 2000, '\n') + 1, "xx", 2);
	read_both(share_ns(0.95));
	const char *message = tree_file(&tree, plain)->message;
	assert_contains(message, "offset=");
	assert_null(strstr(message, "line="));
	assert_contains(tree_file(&tree, packed)->message, "line=");
}

static void json_is_entered_in_flushes_of_any_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < FLUSHES_N; i++) {
		flush_records = flushes[i];
		make_rows(1);
		read_both(share_ns(0.95));
		assert_same();
		assert_true(tree_file(&tree, plain_json)->n_bytes_before > n_text * 8 / 10);
		assert_int_equal(tree_file(&tree, packed_json)->n_bytes_before, 0);
		assert_int_equal(tree_file(&tree, plain_json)->state, FSL_FILE_READ);
		read_both(share_ns(0.4));
		assert_same();
	}
}

/* Escaped quotes keep bytes of a name from being taken for a record. */
static void a_name_that_looks_like_a_record_is_no_entry(void **state)
{
	(void)state;
	flush_records = 50;
	make_rows(1);
	/* The text of a later record, in a name: of the same length, so that nothing moves. */
	static const char usual[] = "comm:HcclAllReduce!world!bfp16!1024";
	static const char trap[] = "comm:},{\\\"Domain\\\":!world!bfp16!512";
	assert_int_equal(sizeof(trap), sizeof(usual));
	for (size_t at = n_text / 3; at + 5000 < n_text; at += 5000) {
		char *name = memmem(text + at, 5000, usual, sizeof(usual) - 1);
		assert_non_null(name);
		memcpy(name, trap, sizeof(trap) - 1);
	}
	read_both(share_ns(0.95));
	assert_same();
	assert_int_equal(tree_file(&tree, plain_json)->state, tree_file(&tree, packed_json)->state);
}

static void broken_json_behind_the_entry_is_told_by_its_offset(void **state)
{
	(void)state;
	flush_records = 50;
	make_rows(1);
	memcpy(strstr(text + n_text - 20000, "\"Id\""), "'", 1);
	read_both(share_ns(0.95));
	const char *message = tree_file(&tree, plain_json)->message;
	assert_contains(message, "offset=");
	assert_null(strstr(message, "line="));
	assert_contains(tree_file(&tree, packed_json)->message, "line=");
	assert_same();
}

static void a_range_in_the_middle_leaves_out_both_sides_and_gives_the_same(void **state)
{
	(void)state;
	make_rows(1);
	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		tree.options.n_threads = n_threads;
		tree.options.to_ns = share_ns(0.35);
		read_both(share_ns(0.3));
		assert_same();
		assert_true(tree_file(&tree, plain)->n_bytes_before > n_text / 5);
		assert_true(bytes_behind() > n_text * 4 / 10);
		assert_true(tree_file(&tree, plain)->n_bytes_before + bytes_behind() < n_text);
		assert_int_equal(tree_file(&tree, packed)->n_bytes_behind, 0);
	}
}

static void every_end_of_a_range_gives_the_same(void **state)
{
	(void)state;
	for (int batch_ops = 1; batch_ops <= BATCH_OPS; batch_ops += BATCH_OPS - 1) {
		make_rows(batch_ops);
		for (int i = 1; i <= 4; i += STRIDE) {
			tree.options.to_ns = share_ns((double)i / 4.0) - 1;
			read_both(INT64_MIN);
			assert_same();
			assert_true(i > 2 || bytes_behind() > 0);
			assert_true(i < 4 || bytes_behind() == 0);
		}
	}
}

static void json_is_left_in_flushes_of_any_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < FLUSHES_N; i++) {
		flush_records = flushes[i];
		make_rows(1);
		tree.options.to_ns = share_ns(0.3);
		read_both(share_ns(0.2));
		assert_same();
		assert_true(bytes_behind() > n_text / 2);
		assert_int_equal(tree_file(&tree, plain_json)->state, FSL_FILE_READ);
		read_both(INT64_MIN);
		assert_same();
		assert_true(bytes_behind() > n_text / 2);
	}
}

/* What was read as the last before the rows that are left out is no operator that never ended. */
static void the_end_of_the_file_still_tells_what_a_rank_waits_in(void **state)
{
	(void)state;
	make_rows(1);
	tree.options.to_ns = share_ns(0.3);
	read_both(INT64_MIN);
	assert_same();
	assert_true(bytes_behind() > 0);
	assert_int_equal(tree_rank(&tree, 0)->open_op_id, FSL_STR_NONE);
	add_row(16, OPS_N + 1, "comm:HcclAllReduce!world!bfp16!1024", 0, share_ns(1.0));
	add_row(32, OPS_N + 1, "", 0, share_ns(1.0) + 1000000);
	add_row(16, OPS_N + 1, "", 1, share_ns(1.0) + 2000000);
	read_both(INT64_MIN);
	assert_same();
	assert_int_equal(tree_rank(&tree, 0)->open_begin_ns, share_ns(1.0) + 2000000);
}

/* Turns the order of so many rows or records at a time. */
static void turn_rows(size_t n_rows)
{
	char *turned = malloc(n_text + 1), *to = turned;
	assert_non_null(turned);
	char *row = flush_records > 0 ? text : strchr(text, '\n') + 1;
	char *first = row;
	while (row < text + n_text) {
		char *ends[64] = {row};
		size_t n = 0;
		while (n < n_rows && ends[n] < text + n_text) {
			ends[n + 1] = strchr(ends[n], '\n') + 1;
			n++;
		}
		for (size_t i = n; i-- > 0;) {
			memcpy(to, ends[i], (size_t)(ends[i + 1] - ends[i]));
			to += ends[i + 1] - ends[i];
		}
		row = ends[n];
	}
	memcpy(first, turned, (size_t)(to - turned));
	free(turned);
}

/* An operator whose end stands in front of its begin, and in front of where reading goes on. */
static void an_end_that_was_left_out_is_not_waited_for(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i += STRIDE) {
		flush_records = i / 4;
		make_rows(1);
		turn_rows(48 + (size_t)(i % 4)); /* cuts operators at another row each time */
		tree.options.to_ns = share_ns(0.3);
		read_both(INT64_MIN);
		assert_same();
		assert_true(bytes_behind() > 0);
		assert_int_equal(tree_rank(&tree, 0)->open_op_id, FSL_STR_NONE);
		tree.options.to_ns = INT64_MAX;
		read_both(share_ns(1.5));
		assert_int_equal(tree_rank(&tree, 0)->open_op_id, FSL_STR_NONE);
	}
}

/* Blanks out the row of the file at or behind @at, so that it is none. */
static void lose_row(char *at)
{
	char *row = strchr(at, '\n') + 1;
	char *end = strchr(row, '\n');
	memset(row, 'x', (size_t)(end - row));
}

static void lost_rows_are_lost_in_the_same_operators(void **state)
{
	(void)state;
	make_rows(1);
	for (size_t at = 1000; at + 1000 < n_text; at += 997) {
		lose_row(text + at);
	}
	tree.options.to_ns = share_ns(0.4);
	read_both(share_ns(0.1));
	assert_same();
	assert_true(bytes_behind() > 0);
	assert_true(tree_rank(&tree, 0)->n_remnants > 100);
}

/* The job stands still for an hour behind the device's begin of an operator. */
static void stand_still(int op)
{
	const int64_t hour_ns = INT64_C(3600) * 1000000000;
	make_rows(1);
	for (char *row = strchr(text, '\n') + 1; row < text + n_text; row = strchr(row, '\n') + 1) {
		char *time = row, digits[32];
		for (int field = 0; field < 5; field++) {
			time = strchr(time, ',') + 1;
		}
		int64_t time_ns = strtoll(time, NULL, 10);
		if (time_ns > begin_of(op) + 2000000) {
			sprintf(digits, "%lld", (long long)(time_ns + hour_ns));
			memcpy(time, digits, strlen(digits));
		}
	}
}

/* The first row behind the middle of what is searched for the gap. */
static const char *middle_row(void)
{
	size_t first = strlen(MARKER_HEADER);
	const char *tail = strchr(text + n_text - FSL_ENTRY_TAIL_BYTES, '\n') + 1;
	return strchr(text + first + ((size_t)(tail - text) - first) / 2, '\n') + 1;
}

/* The range ends while the job stands still, and what hangs then ends at the very row where the
 * gap is first looked for. */
static void an_operator_that_hangs_across_the_end_of_the_range_is_in_none(void **state)
{
	(void)state;
	size_t n_cut = 0;
	int op = 0, source = 0, flag = 0;
	make_rows(1);
	while (flag != 32 || source != 1) {
		text[n_text - 1] = '\0';
		n_text = (size_t)(strrchr(text, '\n') + 1 - text);
		assert_true(++n_cut < 100);
		assert_int_equal(sscanf(middle_row(), "%d,%d,1,,%d", &flag, &op, &source) < 1, 0);
	}
	size_t n_kept = n_text;
	stand_still(op - 1);
	n_text = n_kept;
	tree.options.to_ns = begin_of(op - 1) + INT64_C(1800) * 1000000000;
	read_both(INT64_MIN);
	assert_same();
	assert_true(bytes_behind() > 0);
	assert_int_equal(tree_rank(&tree, 0)->n_remnants, 0);
}

static void the_end_of_a_range_in_a_file_out_of_order_changes_nothing(void **state)
{
	(void)state;
	make_rows(1);
	char *cut = strchr(text + n_text / 2, '\n') + 1;
	size_t n_head = strlen(MARKER_HEADER), n_second = (size_t)(text + n_text - cut);
	char *turned = malloc(n_text);
	assert_non_null(turned);
	memcpy(turned, text, n_head);
	memcpy(turned + n_head, cut, n_second);
	memcpy(turned + n_head + n_second, text + n_head, n_text - n_second - n_head);
	memcpy(text, turned, n_text);
	free(turned);
	for (int i = 1; i < 8; i += STRIDE) {
		tree.options.to_ns = share_ns((double)i / 8.0);
		read_both(INT64_MIN);
		assert_same_operators();
	}
}

static void a_row_that_is_broken_behind_the_range_is_told_where_it_is_read(void **state)
{
	(void)state;
	make_rows(1);
	memcpy(strchr(text + n_text - 2000, '\n') + 1, "xx", 2);
	tree.options.to_ns = share_ns(0.3);
	read_both(INT64_MIN);
	assert_same();
	assert_contains(tree_file(&tree, plain)->message, "offset=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_range_at_the_end_skips_what_is_older_and_gives_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(every_begin_of_a_range_gives_the_same, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_row_of_the_range_stands_before_the_entry, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rows_flushed_in_batches_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_out_of_order_is_read_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(a_small_file_is_read_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_rank_silent_before_the_range_still_tells_what_it_waited_in, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			broken_rows_behind_the_entry_are_told_by_their_offset, setup, teardown),
		cmocka_unit_test_setup_teardown(json_is_entered_in_flushes_of_any_size, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_name_that_looks_like_a_record_is_no_entry, setup,
						teardown),
		cmocka_unit_test_setup_teardown(broken_json_behind_the_entry_is_told_by_its_offset,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_range_in_the_middle_leaves_out_both_sides_and_gives_the_same, setup,
			teardown),
		cmocka_unit_test_setup_teardown(every_end_of_a_range_gives_the_same, setup,
						teardown),
		cmocka_unit_test_setup_teardown(json_is_left_in_flushes_of_any_size, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			the_end_of_the_file_still_tells_what_a_rank_waits_in, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_that_was_left_out_is_not_waited_for, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lost_rows_are_lost_in_the_same_operators, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			an_operator_that_hangs_across_the_end_of_the_range_is_in_none, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			the_end_of_a_range_in_a_file_out_of_order_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_row_that_is_broken_behind_the_range_is_told_where_it_is_read, setup,
			teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
