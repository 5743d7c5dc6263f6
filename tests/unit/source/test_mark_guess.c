/*
 * Marks of a file of which nobody knows yet how long chapters it will have: whatever its rows did
 * in the meantime, the newest chapters can be begun at one, and few marks were tried for that.
 */
#include "tree.h"

#include "readings.h"

#include "base/number.h"
#include "model/chapter.h"
#include "source/mark_parts.h"

#define BASE_NS INT64_C(1750000000123456789)

enum { ROWS = 40000, PARTS = 32 };

/* Nanoseconds from operator @i to the next. */
typedef int64_t (*pace_fn)(int i);

static int64_t steady(int i)
{
	(void)i;
	return 20000000;
}

static int64_t quick(int i)
{
	(void)i;
	return 1000;
}

static int64_t slow(int i)
{
	(void)i;
	return INT64_C(30) * FSL_NS_PER_S;
}

static int64_t late_to_start(int i)
{
	return i == 50 ? INT64_C(200) * FSL_NS_PER_S : 20000000;
}

/* The first steps compile, and load data. */
static int64_t warming_up(int i)
{
	return i < 1200 ? 60000000 : 20000000;
}

static int64_t getting_slower(int i)
{
	return 10000000 + i * 2000;
}

static int64_t getting_faster(int i)
{
	return 60000000 - i * 1000;
}

static int64_t with_a_pause(int i)
{
	return i == ROWS / 2 ? INT64_C(300) * FSL_NS_PER_S : 20000000;
}

/* Operators of four rows each; returns the time of the last row. */
static int64_t write_markers(struct tree *tree, const char *name, pace_fn pace)
{
	enum { ROW_BYTES = 80 };
	char *text = malloc((size_t)ROWS * ROW_BYTES + 200);
	assert_non_null(text);
	size_t n = (size_t)sprintf(text, "%s",
				   "Flag,Id,Kind,Name,SourceKind,Timestamp,"
				   "msptiObjectId_Ds_DeviceId,msptiObjectId_Ds_StreamId,"
				   "msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId\n");
	int64_t time_ns = BASE_NS;
	for (int i = 0; i < ROWS / 4; i++) {
		for (int row = 0; row < 4; row++) {
			n += (size_t)sprintf(text + n, "%d,%d,1,%s,%d,%lld,0,0,0,0\n",
					     row % 2 == 0 ? 16 : 32, i + 1,
					     row == 0 ? "comm:HcclAllGather!world!fp16!64" : "",
					     row / 2, (long long)(time_ns + row * 100));
		}
		time_ns += pace(i * 4);
	}
	tree_write_bytes(tree, name, text, n);
	free(text);
	return time_ns;
}

static struct fsl_ingest_options options_of(const struct fsl_chapter_rule *rule, int64_t parts)
{
	return (struct fsl_ingest_options){.mark_period_ns = rule->length_ns,
					   .mark_lead_ns = rule->lead_ns + rule->slack_ns,
					   .mark_parts = parts};
}

/* Reads the file, from @old where it is given. */
static void read_markers(struct fsl_load *load, struct fsl_mark_taker *taker,
			 const struct fsl_input *input, const struct fsl_ingest_options *options,
			 const struct fsl_marks *old, bool is_forgetting)
{
	*load = (struct fsl_load){.input = input, .taker = taker};
	fsl_mark_taker_begin(taker, options, old != NULL ? &old->files[0] : NULL);
	taker->is_forgetting = is_forgetting;
	assert_int_equal(fsl_load_read(load, INT64_MIN, INT64_MAX, NULL), FSL_OK);
}

/* Reading from a boundary gives what reading everything gives, and fewer than @n_most operators. */
static void check_boundary(const struct fsl_input *input, const struct fsl_chapter_rule *rule,
			   const struct fsl_marks *marks, int64_t boundary_ns, size_t n_most)
{
	struct fsl_load full, resumed;
	struct fsl_mark_taker takers[2];
	struct fsl_ingest_options options = options_of(rule, 0);
	options.resume_ns = boundary_ns;
	assert_non_null(fsl_mark_find(&marks->files[0], boundary_ns));
	read_markers(&full, &takers[0], input, &options, NULL, false);
	read_markers(&resumed, &takers[1], input, &options, marks, false);
	assert_non_null(takers[1].from);
	assert_true(resumed.file.n_records == full.file.n_records);
	struct fsl_rank *all = &full.sink.events, *rest = &resumed.sink.events;
	assert_true(rest->n_ops > 0 && rest->n_ops < n_most);
	size_t n_gone = all->n_ops - rest->n_ops;
	assert_memory_equal(all->ops + n_gone, rest->ops, rest->n_ops * sizeof(*rest->ops));
	assert_true(fsl_op_begin_ns(&all->ops[n_gone - 1]) < boundary_ns - rule->lead_ns);
	fsl_sink_fini(&full.sink);
	fsl_sink_fini(&resumed.sink);
	fsl_mark_taker_fini(&takers[0]);
	fsl_mark_taker_fini(&takers[1]);
}

/* As many chapters as were wanted, or fewer. */
static void check_newest(const struct fsl_input *input, const struct fsl_load *load,
			 int64_t span_ns, int64_t end_ns, int64_t parts)
{
	struct fsl_marks marks = {0};
	struct fsl_chapter_rule longest = fsl_chapter_rule_of(4.0);
	struct fsl_chapter_rule rule = fsl_chapter_rule_finer(&longest, span_ns, parts);
	assert_int_equal(fsl_marks_add(&marks, load, NULL), FSL_OK);
	fsl_marks_settle(&marks, rule.length_ns, rule.lead_ns + rule.slack_ns);
	size_t n_most = load->sink.events.n_ops / (parts == PARTS ? 4 : 2);
	int64_t newest_ns = end_ns - rule.length_ns / 2;
	newest_ns -= newest_ns % rule.length_ns;
	if (span_ns > 2 * rule.length_ns) { /* else there is one chapter */
		check_boundary(input, &rule, &marks, newest_ns, n_most);
	}
	if (span_ns > 2 * rule.length_ns && parts == PARTS) {
		check_boundary(input, &rule, &marks, newest_ns - rule.length_ns, n_most);
	}
	fsl_marks_fini(&marks);
}

static void the_newest_chapters_can_be_begun_at_marks_that_were_guessed(void **state)
{
	static const pace_fn paces[] = {steady,     quick,          slow,           late_to_start,
					warming_up, getting_slower, getting_faster, with_a_pause};
	static const char name[] = "hccl_activity-h-.0.csv";
	char path[512];
	tree_path(*state, name, path, sizeof(path));
	struct fsl_input input = {.path = path, .name = name, .kinds = 0xf, .is_explicit = true};
	input.told = fsl_file_name_parse(name);
	for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]); i++) {
		struct fsl_load load;
		struct fsl_mark_taker taker;
		struct fsl_chapter_rule longest = fsl_chapter_rule_of(4.0);
		struct fsl_ingest_options options = options_of(&longest, PARTS);
		int64_t end_ns = write_markers(*state, name, paces[i]);
		read_markers(&load, &taker, &input, &options, NULL, false);
		for (int64_t parts = PARTS; parts >= PARTS / 4; parts /= 2) {
			check_newest(&input, &load, end_ns - BASE_NS, end_ns, parts);
		}
		fsl_sink_fini(&load.sink);
		fsl_mark_taker_fini(&taker);
	}
}

static void a_small_file_is_not_guessed_at(void **state)
{
	static const char name[] = "hccl_activity-h-.0.csv";
	static const char text[] =
		"Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,"
		"msptiObjectId_Ds_StreamId,msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId\n"
		"16,1,1,comm:HcclAllGather!world!fp16!64,0,1750000000123456789,0,0,0,0\n"
		"32,1,1,,0,1750000000123456889,0,0,0,0\n";
	char path[512];
	struct fsl_load load;
	struct fsl_mark_taker taker;
	struct fsl_chapter_rule longest = fsl_chapter_rule_of(4.0);
	struct fsl_ingest_options options = options_of(&longest, PARTS);
	tree_path(*state, name, path, sizeof(path));
	tree_write_bytes(*state, name, text, strlen(text));
	struct fsl_input input = {.path = path, .name = name, .kinds = 0xf, .is_explicit = true};
	input.told = fsl_file_name_parse(name);
	read_markers(&load, &taker, &input, &options, NULL, false);
	assert_true(taker.period_ns == longest.length_ns);
	assert_true(taker.n_marks <= 2);
	fsl_sink_fini(&load.sink);
	fsl_mark_taker_fini(&taker);
}

static void settled_marks_stand_for_the_first_boundary_that_they_are_far_enough_before(void **state)
{
	(void)state;
	struct fsl_mark items[] = {
		{.first_ns = 100, .boundary_ns = 100, .lead_ns = 9, .n_names = 1}, /* 101 on */
		{.first_ns = 110, .boundary_ns = 190, .lead_ns = 20, .n_names = 2},
		{.first_ns = 200, .boundary_ns = 250, .lead_ns = 10, .n_names = 3},
		{.first_ns = 260, .boundary_ns = 470, .lead_ns = 20, .n_names = 4},
		{.first_ns = 480, .boundary_ns = INT64_MAX, .lead_ns = 10, .n_names = 5},
	};
	struct fsl_file_marks file = {.marks = items, .n_marks = 5};
	struct fsl_marks marks = {.files = &file, .n_files = 1};
	fsl_marks_settle(&marks, 100, 10);
	assert_int_equal(file.n_marks, 4);
	assert_true(file.marks[0].first_ns == 100 && file.marks[0].boundary_ns == 100);
	assert_true(file.marks[1].first_ns == 200 && file.marks[1].boundary_ns == 200);
	assert_true(file.marks[2].first_ns == 300 && file.marks[2].boundary_ns == 400);
	assert_true(file.marks[3].first_ns == 500 && file.marks[3].boundary_ns == INT64_MAX);
	assert_true(marks.period_ns == 100 && marks.lead_ns == 10);
	assert_null(fsl_mark_find(&file, 0));
	assert_int_equal(fsl_mark_find(&file, 100)->n_names, 2);
	assert_int_equal(fsl_mark_find(&file, 200)->n_names, 3);
	assert_int_equal(fsl_mark_find(&file, 400)->n_names, 4);
	assert_int_equal(fsl_mark_find(&file, 900)->n_names, 5);
}

static void settled_marks_are_in_order_whatever_their_leads(void **state)
{
	(void)state;
	struct fsl_mark items[] = {
		{.first_ns = 1600, .boundary_ns = 1600, .lead_ns = 100},
		{.first_ns = 1700, .boundary_ns = 1700, .lead_ns = 100},
		{.first_ns = 1750, .boundary_ns = 1750, .lead_ns = 500},
	};
	struct fsl_file_marks file = {.marks = items, .n_marks = 3};
	struct fsl_marks marks = {.files = &file, .n_files = 1};
	fsl_marks_settle(&marks, 400, 100); /* 1600, 1700 and 1350 on */
	for (size_t i = 0; i < file.n_marks; i++) {
		assert_true(file.marks[i].first_ns <= file.marks[i].boundary_ns);
		assert_true(i == 0 || file.marks[i - 1].boundary_ns < file.marks[i].first_ns);
	}
	assert_int_equal(file.n_marks, 1);
	assert_true(file.marks[0].first_ns == 1600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_newest_chapters_can_be_begun_at_marks_that_were_guessed, tree_setup,
			tree_teardown),
		cmocka_unit_test_setup_teardown(a_small_file_is_not_guessed_at, tree_setup,
						tree_teardown),
		cmocka_unit_test(settled_marks_are_in_order_whatever_their_leads),
		cmocka_unit_test(
			settled_marks_stand_for_the_first_boundary_that_they_are_far_enough_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
