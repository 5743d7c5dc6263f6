/* Reading that goes on from a tail gives what reading from its mark gives, whatever became of the
 * file of tails. */
#include "marks_readings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "source/tail_parts.h"

enum { ROUNDS = 300, GROWTHS = 12, TAIL_BYTES_MAX = 1 << 20 };

struct totals {
	size_t n_read, n_from_tail, n_segments_most, n_anew;
};

static void tails_path(struct tree *tree, char *path, size_t size)
{
	tree_path(tree, "tails", path, size);
}

/* The newest boundary at which reading may begin with a tail. */
static int64_t boundary_of(const struct reading *reading)
{
	int64_t last_ns = reading->load.sink.events.last_event_ns;
	int64_t newest_ns = last_ns - MARKS_PERIOD_NS / 2 - MARKS_PERIOD_NS / 8;
	return newest_ns > 0 ? newest_ns / MARKS_PERIOD_NS * MARKS_PERIOD_NS : 0;
}

/* What the marks and nothing else say, read with the tails or without. */
static void begin_bare(struct reading *reading, struct subject *subject,
		       const struct fsl_marks *old, bool has_tails)
{
	size_t tail_bytes_max = subject->tail_bytes_max;
	subject->tail_bytes_max = 0;
	subject->options.resume = has_tails ? old : NULL;
	reading_begin(reading, subject, old, false);
	subject->options.resume = old;
	subject->tail_bytes_max = tail_bytes_max;
}

static void expect_same(struct subject *subject, const struct fsl_marks *old, uint64_t seed)
{
	struct reading plain, with_tail;
	begin_bare(&plain, subject, old, false);
	begin_bare(&with_tail, subject, old, true);
	const char *what = difference(&plain, &with_tail);
	if (what != NULL) {
		fail_msg("seed=%llu: %s differ at boundary %lld of %s", (unsigned long long)seed,
			 what, (long long)subject->options.resume_ns, subject->name);
	}
	reading_end(&plain);
	reading_end(&with_tail);
}

/* @old: of the reading before, or NULL. */
static void keep_tails(struct reading *reading, const struct fsl_marks *old, int64_t boundary_ns,
		       struct tree *tree)
{
	char path[512];
	bool is_anew = false;
	tails_path(tree, path, sizeof(path));
	assert_int_equal(fsl_tails_write(&reading->marks, old, path, boundary_ns, &is_anew, NULL),
			 FSL_OK);
	fsl_tails_open(&reading->marks, path);
}

/* Where the newest chapter may begin: up to two periods before it would mostly. */
static int64_t random_begin(const struct reading *reading, int64_t least_ns, uint64_t *random)
{
	int64_t begin_ns =
		boundary_of(reading) - (int64_t)random_below(random, 3) * MARKS_PERIOD_NS;
	return begin_ns > least_ns ? begin_ns : least_ns;
}

static void note(struct totals *totals, const struct reading *reading)
{
	const struct fsl_tail *tail = &reading->marks.files[0].tail;
	bool is_from_tail = reading->taker.at != reading->taker.from;
	totals->n_read++;
	totals->n_from_tail += is_from_tail;
	totals->n_anew += is_from_tail && tail->n_written == 0;
	totals->n_segments_most = tail->n_segments > totals->n_segments_most
					  ? tail->n_segments
					  : totals->n_segments_most;
}

/* One file from its first bytes to its last; each reading goes on from the one before, from where
 * that began or from a later boundary. */
static void grow(struct subject *subject, const struct marks_text *text, uint64_t *random,
		 uint64_t seed, struct totals *totals)
{
	struct reading old, now;
	size_t n = text->n / 2 + random_below(random, text->n / 2 + 1);
	tree_write_bytes(subject->tree, subject->name, text->bytes, n);
	reading_begin(&old, subject, NULL, false);
	int64_t begin_ns = random_begin(&old, 0, random);
	keep_tails(&old, NULL, begin_ns, subject->tree);
	for (size_t k = 0; k < GROWTHS; k++) {
		subject->options.resume_ns =
			begin_ns + (int64_t)random_below(random, 2) * MARKS_PERIOD_NS;
		n += random_below(random, (text->n - n) / 3 + 1);
		tree_write_bytes(subject->tree, subject->name, text->bytes, n);
		expect_same(subject, &old.marks, seed);
		reading_begin(&now, subject, &old.marks, false);
		note(totals, &now);
		begin_ns = random_begin(&now, subject->options.resume_ns, random);
		keep_tails(&now, &old.marks, begin_ns, subject->tree);
		reading_end(&old);
		old = now;
		old.load.taker = &old.taker;
		old.load.sink.file = &old.load.file;
	}
	reading_end(&old);
}

static void going_on_from_a_tail_equals_going_on_from_its_mark(void **state)
{
	static struct marks_text text;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct totals totals = {0};
		for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
			struct subject subject;
			uint64_t random = seed;
			kinds[k].make(&text, &random);
			subject_begin(&subject, *state, kinds[k].name, &random);
			subject.tail_bytes_max = TAIL_BYTES_MAX;
			grow(&subject, &text, &random, seed, &totals);
		}
		print_message("%s: readings=%zu, from_tail=%zu, segments=%zu, anew=%zu\n",
			      kinds[k].name, totals.n_read, totals.n_from_tail,
			      totals.n_segments_most, totals.n_anew);
		assert_true(totals.n_from_tail > ROUNDS / 2);
		assert_true(totals.n_segments_most > 4);
	}
}

/* A file of which a reading of the larger part left a tail that the next one goes on from. */
struct kept {
	struct subject subject;
	struct reading old;
	char path[512];
};

static struct marks_text kept_text;

static void kept_begin(struct kept *kept, struct tree *tree)
{
	for (uint64_t seed = 1;; seed++) {
		uint64_t random = seed;
		assert_true(seed < 1000);
		marks_csv_make(&kept_text, &random);
		subject_begin(&kept->subject, tree, kinds[0].name, &random);
		kept->subject.tail_bytes_max = TAIL_BYTES_MAX;
		tree_write_bytes(tree, kept->subject.name, kept_text.bytes, kept_text.n * 9 / 10);
		reading_begin(&kept->old, &kept->subject, NULL, false);
		keep_tails(&kept->old, NULL, boundary_of(&kept->old), tree);
		tails_path(tree, kept->path, sizeof(kept->path));
		kept->subject.options.resume_ns = boundary_of(&kept->old);
		kept->subject.options.resume = &kept->old.marks;
		const struct fsl_event_counts n = kept->old.marks.files[0].tail.n;
		if (n.n_ops > 4 && n.n_remnants == 0) {
			break;
		}
		reading_end(&kept->old);
	}
	tree_write_bytes(tree, kept->subject.name, kept_text.bytes, kept_text.n);
}

static bool is_from_tail(struct kept *kept)
{
	struct reading now;
	expect_same(&kept->subject, &kept->old.marks, 0);
	begin_bare(&now, &kept->subject, &kept->old.marks, true);
	bool is_used = now.taker.at != now.taker.from;
	reading_end(&now);
	return is_used;
}

static void a_damaged_tail_costs_time_and_nothing_else(void **state)
{
	struct kept kept;
	struct stat facts;
	kept_begin(&kept, *state);
	assert_true(is_from_tail(&kept));
	assert_int_equal(stat(kept.path, &facts), 0);
	for (long at = 0; at < (long)facts.st_size; at += 13) {
		FILE *file = fopen(kept.path, "r+b");
		assert_non_null(file);
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		int byte = fgetc(file);
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		assert_int_not_equal(fputc(byte ^ 1, file), EOF);
		assert_int_equal(fclose(file), 0);
		assert_false(is_from_tail(&kept));
		file = fopen(kept.path, "r+b");
		assert_non_null(file);
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		assert_int_not_equal(fputc(byte, file), EOF);
		assert_int_equal(fclose(file), 0);
	}
	assert_true(is_from_tail(&kept));
	assert_int_equal(truncate(kept.path, facts.st_size - 1), 0);
	assert_false(is_from_tail(&kept));
	reading_end(&kept.old);
}

static void a_file_that_changed_behind_a_mark_is_not_read_from_its_tail(void **state)
{
	struct kept kept;
	kept_begin(&kept, *state);
	const struct fsl_file_marks *file = &kept.old.marks.files[0];
	uint64_t end = file->marks[file->n_marks - 1].place.offset;
	kept_text.bytes[end - 2] ^= 1; /* the last row that was read, but for its end */
	tree_write_bytes(kept.subject.tree, kept.subject.name, kept_text.bytes, kept_text.n);
	assert_false(is_from_tail(&kept));
	reading_end(&kept.old);
}

/* As fsl_tail_check() is to keep whoever writes to the folder of the state from more than wrong
 * words. */
static void a_tail_that_no_reader_makes_is_not_believed(void **state)
{
	struct kept kept;
	kept_begin(&kept, *state);
	struct fsl_tail *tail = &kept.old.marks.files[0].tail;
	struct fsl_tail_segment *first = &tail->segments[0];
	struct fsl_op *ops = tail->ops + (tail->n_passed.n_ops - tail->n.n_ops);
	assert_true(first->n.n_ops > 0 && first->n.n_remnants == 0 && first->offset == 0);
	ops->op_id = 12345;
	first->checksum = fsl_events_checksum(ops, NULL, NULL, first->n);
	FILE *file = fopen(kept.path, "r+b");
	assert_non_null(file);
	assert_int_equal(fwrite(ops, sizeof(*ops), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	struct reading now;
	begin_bare(&now, &kept.subject, &kept.old.marks, true);
	assert_null(now.taker.from); /* read from the beginning */
	reading_end(&now);
	reading_end(&kept.old);
}

static void a_tail_that_is_too_long_is_not_kept(void **state)
{
	struct kept kept;
	kept_begin(&kept, *state);
	struct reading now;
	size_t n_bytes = fsl_counts_bytes(kept.old.marks.files[0].tail.n);
	tree_write_bytes(kept.subject.tree, kept.subject.name, kept_text.bytes,
			 kept_text.n * 9 / 10);
	kept.subject.tail_bytes_max = n_bytes - 1;
	kept.subject.options.resume = NULL;
	reading_begin(&now, &kept.subject, NULL, false);
	assert_true(fsl_counts_bytes(now.marks.files[0].tail.n) < n_bytes);
	reading_end(&now);
	reading_end(&kept.old);
}

static void without_tails_no_file_is_left(void **state)
{
	struct kept kept;
	kept_begin(&kept, *state);
	assert_int_equal(access(kept.path, F_OK), 0);
	keep_tails(&kept.old, NULL, 0, *state);
	assert_int_equal(access(kept.path, F_OK), -1);
	assert_false(kept.old.marks.files[0].marks[0].is_in_tail);
	reading_end(&kept.old);
}

/* A file whose tail has @n_old operators where earlier runs left them and @n_new of this one. */
static void fill_file(struct fsl_file_marks *file, struct fsl_mark marks[2], const char *path,
		      uint64_t n_old, uint64_t n_new, uint64_t offset)
{
	marks[0] = (struct fsl_mark){.is_in_tail = true};
	marks[1] = (struct fsl_mark){.first_ns = INT64_MAX - 1,
				     .boundary_ns = INT64_MAX,
				     .events = {n_old + n_new, 0, 0},
				     .is_in_tail = true};
	*file = (struct fsl_file_marks){.path = path, .marks = marks, .n_marks = 2};
	struct fsl_tail *tail = &file->tail;
	if (n_old > 0) {
		tail->segments[tail->n_segments++] =
			(struct fsl_tail_segment){{n_old, 0, 0}, offset, 0};
		tail->n_written = 1;
	}
	tail->segments[tail->n_segments++] = (struct fsl_tail_segment){.n = {n_new, 0, 0}};
	tail->n = (struct fsl_event_counts){n_old + n_new, 0, 0};
	tail->ops = calloc(n_new, sizeof(*tail->ops));
	assert_non_null(tail->ops);
}

static long size_of(const char *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 ? (long)facts.st_size : -1;
}

static void tails_go_before_their_file_grows_too_long(void **state)
{
	static const uint64_t OP = sizeof(struct fsl_op);
	struct fsl_mark marks[2][2];
	struct fsl_file_marks files[2];
	char path[512];
	tails_path(*state, path, sizeof(path));
	for (int is_long = 0; is_long <= 1; is_long++) {
		struct fsl_marks all = {.files = files, .n_files = 2};
		tree_write_bytes(*state, "tails", kept_text.bytes, 100 * OP);
		/* 100 old ones, of which 50 or 10 are of use, and 60 new ones behind them. */
		fill_file(&files[0], marks[0], "a", 0, 50, 0);
		fill_file(&files[1], marks[1], "b", is_long ? 10 : 50, 10,
			  (is_long ? 90 : 50) * OP);
		struct fsl_marks old = {.files = NULL};
		bool is_anew = false;
		fsl_tails_open(&old, path);
		assert_int_equal(fsl_tails_write(&all, &old, path, 0, &is_anew, NULL), FSL_OK);
		assert_int_equal(is_anew, is_long);
		fsl_marks_fini(&old);
		assert_int_equal(files[0].tail.segments[0].offset, is_long ? 0 : 100 * OP);
		assert_int_equal(files[1].tail.n_segments, is_long ? 0 : 2);
		assert_int_equal(size_of(path), (is_long ? 50 : 160) * OP);
		fsl_tail_fini(&files[0].tail);
		fsl_tail_fini(&files[1].tail);
	}
}

/* The next reading goes on from the tail of @kept. */
static void go_on(struct kept *kept, struct reading *now)
{
	reading_begin(now, &kept->subject, &kept->old.marks, false);
	assert_true(now->taker.at != now->taker.from);
}

static void a_tail_that_grows_too_long_is_begun_anew(void **state)
{
	struct kept kept;
	struct reading now;
	kept_begin(&kept, *state);
	go_on(&kept, &now);
	assert_true(now.marks.files[0].tail.n_written > 0);
	size_t n_bytes = fsl_counts_bytes(now.marks.files[0].tail.n);
	reading_end(&now);
	kept.subject.tail_bytes_max = n_bytes - 1;
	go_on(&kept, &now);
	assert_int_equal(now.marks.files[0].tail.n_written, 0);
	assert_true(fsl_counts_bytes(now.marks.files[0].tail.n) < n_bytes);
	reading_end(&now);
	reading_end(&kept.old);
}

/* What becomes of a tail of @n segments, of an operator each, when another operator comes. */
static size_t segments_written(size_t n)
{
	struct fsl_op ops[FSL_TAIL_SEGMENTS_MAX + 1] = {{0}};
	struct fsl_mark marks[2] = {{.is_in_tail = true}, {.is_in_tail = true}};
	struct fsl_file_marks old = {.marks = marks, .n_marks = 2};
	struct fsl_mark_taker taker = {.old = &old,
				       .from = &marks[0],
				       .at = &marks[1],
				       .period_ns = 1000,
				       .n_bytes = 1000};
	struct fsl_sink sink = {.events = {.ops = ops, .n_ops = n + 1, .last_event_ns = 4000}};
	old.tail = (struct fsl_tail){.n = {n, 0, 0}, .n_segments = n, .n_written = n};
	for (size_t k = 0; k < n; k++) {
		old.tail.segments[k].n.n_ops = 1;
	}
	marks[1].events.n_ops = n;
	taker.marks[1] = (struct fsl_mark){
		.first_ns = 5000, .boundary_ns = INT64_MAX, .events = {n + 1, 0, 0}};
	taker.n_marks = 2;
	taker.tail_bytes_max = TAIL_BYTES_MAX;
	fsl_tail_take(&taker, &sink);
	assert_int_equal(taker.tail.n.n_ops, n + 1);
	assert_int_equal(taker.tail.n_segments, taker.tail.n_written + 1);
	size_t n_written = taker.tail.n_written;
	fsl_tail_fini(&taker.tail);
	return n_written;
}

static void a_tail_of_too_many_segments_is_begun_anew(void **state)
{
	(void)state;
	assert_int_equal(segments_written(1), 1);
	assert_int_equal(segments_written(FSL_TAIL_SEGMENTS_MAX - 1), FSL_TAIL_SEGMENTS_MAX - 1);
	assert_int_equal(segments_written(FSL_TAIL_SEGMENTS_MAX), 0);
}

static void broken_rows_are_read_again(void **state)
{
	struct kept kept;
	kept_begin(&kept, *state);
	assert_true(is_from_tail(&kept));
	struct fsl_file_marks *file = &kept.old.marks.files[0];
	file->marks[file->n_marks - 1].n_dropped[FSL_DROP_MALFORMED]++;
	struct reading now;
	begin_bare(&now, &kept.subject, &kept.old.marks, true);
	assert_ptr_equal(now.taker.at, now.taker.from);
	reading_end(&now);
	reading_end(&kept.old);
}

static void only_a_file_with_one_name_is_read_or_written(void **state)
{
	struct kept kept;
	struct fsl_marks marks = {.files = NULL};
	char other[512];
	kept_begin(&kept, *state);
	tree_path(*state, "other", other, sizeof(other));
	assert_int_equal(link(kept.path, other), 0);
	fsl_tails_open(&marks, kept.path);
	assert_false(marks.has_tails);
	assert_int_equal(unlink(kept.path), 0);
	assert_int_equal(symlink(other, kept.path), 0);
	fsl_tails_open(&marks, kept.path);
	assert_false(marks.has_tails);
	assert_int_equal(unlink(kept.path), 0);
	assert_int_equal(mkfifo(kept.path, 0600), 0);
	fsl_tails_open(&marks, kept.path);
	assert_false(marks.has_tails);
	reading_end(&kept.old);
}

static void tails_that_cannot_be_appended_are_not_pointed_to(void **state)
{
	struct kept kept;
	struct reading now;
	struct fsl_error err = {0};
	bool is_anew = false;
	kept_begin(&kept, *state);
	go_on(&kept, &now);
	assert_int_equal(close(kept.old.marks.tails_fd), 0);
	kept.old.marks.tails_fd = open("/dev/full", O_RDWR);
	assert_true(kept.old.marks.tails_fd >= 0);
	assert_int_equal(fsl_tails_write(&now.marks, &kept.old.marks, kept.path,
					 kept.subject.options.resume_ns, &is_anew, &err),
			 FSL_ERR_IO);
	assert_int_equal(now.marks.files[0].tail.n_segments, 0);
	reading_end(&now);
	reading_end(&kept.old);
}

static void tails_that_cannot_be_written_are_not_pointed_to(void **state)
{
	struct kept kept;
	struct fsl_error err = {0};
	kept_begin(&kept, *state);
	bool is_anew = false;
	struct fsl_tail *tail = &kept.old.marks.files[0].tail;
	tail->n_written = 0;
	tail->n_passed = (struct fsl_event_counts){0, 0, 0};
	assert_int_equal(fsl_tails_write(&kept.old.marks, NULL, "/nowhere/at/all",
					 boundary_of(&kept.old), &is_anew, &err),
			 FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "/nowhere/at/all"));
	assert_int_equal(kept.old.marks.files[0].tail.n_segments, 0);
	reading_end(&kept.old);
}

static void every_failing_allocation_is_told_or_costs_the_tail(void **state)
{
	struct kept kept;
	kept_begin(&kept, *state);
	bool is_done = false;
	for (uint64_t nth = 1; !is_done; nth++) {
		struct fsl_load load = {.input = &kept.subject.input};
		struct fsl_mark_taker taker;
		fsl_mark_taker_begin(&taker, &kept.subject.options, &kept.old.marks.files[0]);
		taker.tail_bytes_max = TAIL_BYTES_MAX;
		load.taker = &taker;
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_load_read(&load, INT64_MIN, INT64_MAX, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		is_done = status == FSL_OK && taker.at != taker.from && taker.tail.n_segments > 0;
		assert_true(nth < 10000);
		fsl_sink_fini(&load.sink);
		fsl_mark_taker_fini(&taker);
	}
	reading_end(&kept.old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(going_on_from_a_tail_equals_going_on_from_its_mark,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(a_damaged_tail_costs_time_and_nothing_else,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_file_that_changed_behind_a_mark_is_not_read_from_its_tail, tree_setup,
			tree_teardown),
		cmocka_unit_test_setup_teardown(a_tail_that_no_reader_makes_is_not_believed,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(a_tail_that_is_too_long_is_not_kept, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(without_tails_no_file_is_left, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(tails_go_before_their_file_grows_too_long,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(a_tail_that_grows_too_long_is_begun_anew,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(a_tail_of_too_many_segments_is_begun_anew,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(broken_rows_are_read_again, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(only_a_file_with_one_name_is_read_or_written,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(tails_that_cannot_be_appended_are_not_pointed_to,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(tails_that_cannot_be_written_are_not_pointed_to,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(every_failing_allocation_is_told_or_costs_the_tail,
						tree_setup, tree_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
