/*
 * Reading that begins at a mark gives what reading the whole file gives, without what was complete
 * before the mark; also when the file was shorter when the mark was taken.
 */
#include "marks_readings.h"

enum { ROUNDS = 400 };

/* No event that the resumed reading lacks has a time from the boundary's lead on. */
static void check_nothing_new_is_missing(const struct subject *subject, size_t n_resumed)
{
	struct reading whole;
	reading_begin(&whole, subject, NULL, false);
	const struct fsl_rank *events = &whole.load.sink.events;
	int64_t limit_ns = subject->options.resume_ns - subject->options.mark_lead_ns;
	for (size_t i = 0; i + n_resumed < events->n_ops; i++) {
		assert_true(fsl_op_end_ns(&events->ops[i]) < limit_ns);
		assert_true(events->ops[i].host_end_ns < limit_ns);
	}
	reading_end(&whole);
}

struct totals {
	size_t n_resumed, n_forgotten, n_again;
};

/* The last @n of an array. */
static void keep_last(void *items, size_t *n_items, size_t n, size_t n_item_bytes)
{
	assert_true(n <= *n_items);
	if (n > 0) {
		memmove(items, (char *)items + (*n_items - n) * n_item_bytes, n * n_item_bytes);
	}
	*n_items = n;
}

/* Leaves as many events as another reading has, the last ones. */
static void trim(struct fsl_rank *events, const struct fsl_rank *to)
{
	keep_last(events->ops, &events->n_ops, to->n_ops, sizeof(*events->ops));
	keep_last(events->remnants, &events->n_remnants, to->n_remnants, sizeof(*events->remnants));
	keep_last(events->stages, &events->n_stages, to->n_stages, sizeof(*events->stages));
}

/* @is_late: there may be rows between the mark and the boundary, because it stands for an earlier
 * one, or at the end of a file that has grown and in which no row had reached the boundary. */
static void check_boundary(struct subject *subject, const struct fsl_marks *old, bool is_late,
			   uint64_t seed, struct totals *totals)
{
	struct reading full, resumed;
	reading_begin(&full, subject, NULL, !is_late);
	reading_begin(&resumed, subject, old, false);
	if (is_late) {
		trim(&full.load.sink.events, &resumed.load.sink.events);
	}
	const char *what = difference(&full, &resumed);
	if (what != NULL) {
		fail_msg("seed=%llu: %s differ at boundary %lld of %s", (unsigned long long)seed,
			 what, (long long)subject->options.resume_ns, subject->name);
	}
	totals->n_resumed++;
	totals->n_forgotten += full.taker.n_old_ops + full.taker.n_old_stages;
	totals->n_again += resumed.taker.from == NULL;
	size_t n_resumed = resumed.load.sink.events.n_ops;
	reading_end(&full);
	reading_end(&resumed);
	check_nothing_new_is_missing(subject, n_resumed);
}

/* Every boundary that marks of the first @n_old bytes allow to begin at. */
static void check_document(struct subject *subject, const struct marks_text *text, size_t n_old,
			   uint64_t seed, struct totals *totals)
{
	struct reading old;
	tree_write_bytes(subject->tree, subject->name, text->bytes, n_old);
	reading_begin(&old, subject, NULL, false);
	tree_write_bytes(subject->tree, subject->name, text->bytes, text->n);
	const struct fsl_file_marks *file = &old.marks.files[0];
	for (int64_t k = MARKS_BASE_NS / MARKS_PERIOD_NS - 2;
	     k < MARKS_BASE_NS / MARKS_PERIOD_NS + 60; k++) {
		int64_t boundary_ns = k * MARKS_PERIOD_NS;
		const struct fsl_mark *mark = fsl_mark_find(file, boundary_ns);
		bool is_late = n_old < text->n && boundary_ns > old.load.sink.events.last_event_ns;
		subject->options.resume_ns = boundary_ns;
		if (mark != NULL) {
			is_late = is_late || boundary_ns > mark->boundary_ns;
			check_boundary(subject, &old.marks, is_late, seed, totals);
		}
	}
	reading_end(&old);
}

static void reading_from_a_mark_equals_reading_everything(void **state)
{
	static struct marks_text text;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct totals totals = {0};
		for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
			struct subject subject;
			uint64_t random = seed;
			kinds[k].make(&text, &random);
			subject_begin(&subject, *state, kinds[k].name, &random);
			size_t n_old = marks_chance(&random, 4) ? text.n
								: random_below(&random, text.n + 1);
			check_document(&subject, &text, n_old, seed, &totals);
		}
		print_message("%s: resumed=%zu, forgotten=%zu, again=%zu\n", kinds[k].name,
			      totals.n_resumed, totals.n_forgotten, totals.n_again);
		assert_true(totals.n_resumed > ROUNDS && totals.n_forgotten > ROUNDS);
		assert_true(totals.n_again < totals.n_resumed / 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reading_from_a_mark_equals_reading_everything,
						tree_setup, tree_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
