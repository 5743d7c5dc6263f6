/* Pairing of marker rows: order of rows, generations of ids, open operators, names. */
#include "source/systrace/marker_pairs.h"
#include "tree.h"

struct fixture {
	struct fsl_file file;
	struct fsl_sink sink;
	struct fsl_marker_pairs *pairs;
	struct fsl_error err;
};

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	f = (struct fixture){.file = {.path = "test", .message = ""}};
	assert_int_equal(fsl_sink_init(&f.sink, &f.file, &f.err), FSL_OK);
	f.pairs = fsl_marker_pairs_create(&f.sink);
	assert_non_null(f.pairs);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fsl_marker_pairs_destroy(f.pairs);
	fsl_sink_fini(&f.sink);
	return 0;
}

enum { HS, HE, DS, DE }; /* host start, host end, device start, device end */

static void row(uint64_t id, int what, int64_t time_ns, const char *name)
{
	const struct fsl_marker marker = {
		.id = id,
		.time_ns = time_ns,
		.flag = what == HS || what == DS ? 16 : 32,
		.is_device = what == DS || what == DE,
		.name = name,
		.n_name = strlen(name),
	};
	assert_int_equal(fsl_marker_pairs_add(f.pairs, &marker, &f.err), FSL_OK);
}

static void finish(void)
{
	assert_int_equal(fsl_marker_pairs_finish(f.pairs, &f.err), FSL_OK);
}

static const char *name_of(uint32_t id)
{
	return fsl_strpool_text(f.sink.names, id);
}

/* All four rows of one operator that begins at @t. */
static void whole(uint64_t id, int64_t t, const char *name)
{
	row(id, HS, t, name);
	row(id, HE, t + 10, "");
	row(id, DS, t + 20, "");
	row(id, DE, t + 30, "");
}

static void what_is_left_of_an_operator_is_kept(void **state)
{
	(void)state;
	row(1, HS, 100, "comm:A!g!f!1"); /* no device end */
	row(1, DS, 120, "");
	row(2, HS, 200, "comm:A!g!f!1"); /* no device begin */
	row(2, DE, 230, "");
	row(3, DS, 320, ""); /* no name */
	row(3, DE, 330, "");
	row(4, HS, 400, "comm:A!g!f!1"); /* nothing from the device: kept as an operator */
	row(4, HE, 410, "");
	row(5, HE, 510, ""); /* nothing that helps */
	whole(6, 600, "comm:A!g!f!1");
	finish();
	fsl_rank_normalise(&f.sink.events);
	assert_int_equal(f.sink.events.n_ops, 2);
	assert_int_equal(f.sink.events.n_remnants, 3);
	const struct fsl_op *left = f.sink.events.remnants;
	assert_int_equal(left[0].dev_begin_ns, 120);
	assert_int_equal(left[0].dev_end_ns, FSL_NS_ABSENT);
	assert_string_equal(name_of(left[0].op_id), "A");
	assert_int_equal(left[1].dev_begin_ns, FSL_NS_ABSENT);
	assert_int_equal(left[1].dev_end_ns, 230);
	assert_int_equal(left[2].dev_begin_ns, 320);
	assert_int_equal(left[2].op_id, FSL_STR_NONE);
}

static void rows_of_one_id_may_be_far_apart(void **state)
{
	(void)state;
	for (uint64_t id = 1; id <= 5000; id++) {
		row(id, HS, (int64_t)id * 100, "comm:A!g!f!1");
		row(id, HE, (int64_t)id * 100 + 10, "");
	}
	for (uint64_t id = 1; id <= 5000; id++) {
		row(id, DS, (int64_t)id * 100 + 20, "");
		row(id, DE, (int64_t)id * 100 + 30, "");
	}
	finish();
	assert_int_equal(f.sink.events.n_ops, 5000);
	for (size_t i = 0; i < 5000; i++) {
		const struct fsl_op *op = &f.sink.events.ops[i];
		assert_int_equal(op->dev_begin_ns, (int64_t)op->id * 100 + 20);
		assert_int_equal(op->host_end_ns, (int64_t)op->id * 100 + 10);
	}
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		assert_int_equal(f.file.n_dropped[i], 0);
	}
	assert_false(f.sink.events.is_restarted);
}

static void device_rows_may_come_before_the_name(void **state)
{
	(void)state;
	row(1, DS, 120, "");
	row(1, DE, 130, "");
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, HE, 110, "");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_string_equal(name_of(f.sink.events.ops[0].op_id), "A");
}

static void an_end_may_come_before_its_start(void **state)
{
	(void)state;
	row(1, HE, 110, "");
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, DE, 130, "");
	row(1, DS, 120, "");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_int_equal(f.sink.events.ops[0].dev_end_ns, 130);
}

static void ids_begin_again_after_a_restart(void **state)
{
	(void)state;
	whole(1, 100, "comm:A!g!f!1");
	whole(2, 200, "comm:B!g!f!1");
	whole(1, 1000, "comm:C!g!f!1");
	finish();
	assert_int_equal(f.sink.events.n_ops, 3);
	assert_true(f.sink.events.is_restarted);
	assert_string_equal(name_of(f.sink.events.ops[2].op_id), "C");
	assert_int_equal(f.sink.events.ops[2].host_begin_ns, 1000);
	assert_int_equal(f.sink.events.ops[0].dev_end_ns, 130);
}

static void a_restart_ends_what_was_incomplete(void **state)
{
	(void)state;
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, HE, 110, "");
	row(1, DS, 120, "");
	whole(1, 1000, "comm:B!g!f!1");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_int_equal(f.sink.events.ops[0].host_begin_ns, 1000);
	assert_int_equal(f.file.n_dropped[FSL_DROP_NO_END], 1);
	assert_true(f.sink.events.is_restarted);
	assert_int_equal(f.sink.events.open_op_id, FSL_STR_NONE);
}

static void host_ids_of_two_threads_are_no_restart(void **state)
{
	(void)state;
	whole(2, 100, "comm:A!g!f!1");
	whole(1, 200, "comm:A!g!f!1");
	whole(4, 300, "comm:A!g!f!1");
	whole(3, 400, "comm:A!g!f!1");
	finish();
	assert_int_equal(f.sink.events.n_ops, 4);
	assert_false(f.sink.events.is_restarted);
}

static void an_end_without_a_start_is_counted(void **state)
{
	(void)state;
	row(1, HE, 90, "");
	row(2, DE, 95, "");
	row(3, DS, 100, "");
	row(3, DE, 110, "");
	finish();
	assert_int_equal(f.sink.events.n_ops, 0);
	assert_int_equal(f.file.n_dropped[FSL_DROP_NO_START], 2);
	assert_int_equal(f.file.n_dropped[FSL_DROP_NO_NAME], 1);
}

static void the_newest_operator_that_began_on_the_device_is_open(void **state)
{
	(void)state;
	whole(1, 100, "comm:A!g!f!1");
	row(2, HS, 200, "comm:B!g2!f!1");
	row(2, HE, 210, "");
	row(2, DS, 220, "");
	row(3, HS, 300, "comm:C!g3!f!1");
	row(3, HE, 310, "");
	row(3, DS, 320, "");
	row(4, HS, 400, "comm:D!g4!f!1");
	row(4, HE, 410, "");
	finish();
	assert_string_equal(name_of(f.sink.events.open_op_id), "C");
	assert_string_equal(name_of(f.sink.events.open_group_id), "g3");
	assert_int_equal(f.sink.events.open_begin_ns, 320);
	assert_int_equal(f.file.n_dropped[FSL_DROP_NO_END], 2);
}

static void the_oldest_queued_operator_is_open_when_none_runs(void **state)
{
	(void)state;
	whole(1, 100, "comm:A!g!f!1");
	for (uint64_t id = 2; id <= 4; id++) {
		row(id, HS, (int64_t)id * 100, id == 2 ? "comm:B!g!f!1" : "comm:C!g!f!1");
		row(id, HE, (int64_t)id * 100 + 10, "");
	}
	finish();
	assert_string_equal(name_of(f.sink.events.open_op_id), "B");
	assert_int_equal(f.sink.events.open_begin_ns, 200);
	assert_int_equal(f.sink.events.n_ops, 4);
}

static void host_only_files_have_no_open_operator(void **state)
{
	(void)state;
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, HE, 110, "");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_int_equal(f.sink.events.ops[0].dev_begin_ns, FSL_NS_ABSENT);
	assert_int_equal(fsl_op_begin_ns(&f.sink.events.ops[0]), 100);
	assert_int_equal(f.sink.events.open_op_id, FSL_STR_NONE);
}

static void a_host_that_never_came_back_is_open(void **state)
{
	(void)state;
	row(7, HS, 100, "comm:A!g!f!1");
	finish();
	assert_int_equal(f.sink.events.n_ops, 0);
	assert_int_equal(f.file.n_dropped[FSL_DROP_NO_END], 1);
	assert_string_equal(name_of(f.sink.events.open_op_id), "A");
}

static void a_lost_host_end_keeps_the_operator(void **state)
{
	(void)state;
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, DS, 120, "");
	row(1, DE, 130, "");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_int_equal(f.sink.events.ops[0].host_end_ns, FSL_NS_ABSENT);
	assert_int_equal(f.sink.events.ops[0].dev_end_ns, 130);
}

static void a_clock_that_goes_back_drops_the_operator(void **state)
{
	(void)state;
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, HE, 110, "");
	row(1, DS, 130, "");
	row(1, DE, 120, "");
	whole(2, 50, "comm:B!g!f!1");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_int_equal(f.file.n_dropped[FSL_DROP_BACKWARDS], 1);
	assert_int_equal(f.sink.events.ops[0].host_begin_ns, 50);
}

static void repeated_rows_are_duplicates(void **state)
{
	(void)state;
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, HS, 100, "comm:A!g!f!1");
	row(1, HE, 110, "");
	row(1, HE, 110, "");
	row(1, DS, 120, "");
	row(1, DE, 130, "");
	finish();
	assert_int_equal(f.sink.events.n_ops, 1);
	assert_int_equal(f.file.n_dropped[FSL_DROP_DUPLICATE], 2);
	assert_false(f.sink.events.is_restarted);
}

static void rows_written_twice_are_no_restart(void **state)
{
	(void)state;
	whole(1, 100, "comm:A!g!f!1");
	whole(1, 100, "comm:A!g!f!1");
	finish();
	assert_false(f.sink.events.is_restarted);
	fsl_rank_normalise(&f.sink.events);
	assert_int_equal(f.sink.events.n_ops, 1);
}

static void operators_in_order_are_known_to_be(void **state)
{
	(void)state;
	whole(1, 100, "comm:A!g!f!1");
	whole(2, 101, "comm:A!g!f!1");
	assert_true(f.sink.events.is_rising);
	whole(3, 101, "comm:A!g!f!1");
	assert_false(f.sink.events.is_rising);
	whole(4, 102, "comm:A!g!f!1");
	assert_false(f.sink.events.is_rising);
	finish();
	assert_int_equal(f.sink.events.n_ops, 4);
}

static void operators_outside_the_range_are_counted(void **state)
{
	(void)state;
	f.sink.from_ns = 230;
	f.sink.to_ns = 330;
	whole(1, 100, "comm:A!g!f!1");
	whole(2, 200, "comm:A!g!f!1");
	whole(3, 300, "comm:A!g!f!1");
	whole(4, 301, "comm:A!g!f!1");
	finish();
	assert_int_equal(f.sink.events.n_ops, 2);
	assert_int_equal(f.file.n_dropped[FSL_DROP_OUT_OF_RANGE], 2);
	assert_int_equal(f.sink.events.last_event_ns, 331);
}

static void names_are_told_apart_in_any_order(void **state)
{
	(void)state;
	static const char *const names[] = {"comm:A!g!f!1", "comm:B!g!f!1", "comm:B!g!f!12",
					    "comm:C!g!f!1"};
	static const char order[] = "0101010120101230321001101333";
	for (size_t i = 0; order[i] != '\0'; i++) {
		whole(1 + i, 1000 * (int64_t)(1 + i), names[order[i] - '0']);
	}
	finish();
	assert_int_equal(f.sink.events.n_ops, strlen(order));
	for (size_t i = 0; order[i] != '\0'; i++) {
		const struct fsl_op *op = &f.sink.events.ops[i];
		const char *name = names[order[i] - '0'];
		assert_int_equal(*name_of(op->op_id), name[5]);
		assert_int_equal(op->n_elements, atoi(name + 11));
	}
}

static void assert_name(const char *text, const char *op, const char *group, const char *dtype,
			uint64_t n_elements)
{
	struct fsl_marker_name name;
	assert_true(fsl_marker_name_parse(&name, text, strlen(text)));
	assert_int_equal(name.n_op, strlen(op));
	assert_memory_equal(name.op, op, name.n_op);
	assert_int_equal(name.n_group, strlen(group));
	assert_memory_equal(name.group, group, name.n_group);
	assert_int_equal(name.n_dtype, strlen(dtype));
	assert_memory_equal(name.dtype, dtype, name.n_dtype);
	assert_int_equal(name.n_elements, n_elements);
}

static void names_are_split_from_both_ends(void **state)
{
	(void)state;
	assert_name("comm:HcclSend!g!fp16!8", "HcclSend", "g", "fp16", 8);
	assert_name("comm:HcclSend,g,fp16,8", "HcclSend", "g", "fp16", 8);
	assert_name("HcclSend!g!fp16!8", "HcclSend", "g", "fp16", 8);
	assert_name("hccl:v2:HcclSend!g!fp16!8", "HcclSend", "g", "fp16", 8);
	assert_name("comm:A!10.0.0.1%eth0:60000!0!x!fp16!8", "A", "10.0.0.1%eth0:60000!0!x", "fp16",
		    8);
	assert_name("comm:A,g,1,fp16,8", "A", "g,1", "fp16", 8);
	assert_name("comm:A!g,1!fp16!8", "A", "g,1", "fp16", 8);
	assert_name("comm:A,g!1,fp16,8", "A", "g!1", "fp16", 8);
	assert_name("comm:A!g!fp16!18446744073709551615", "A", "g", "fp16", UINT64_MAX);
}

static void other_texts_are_no_operator_name(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"comm:",
		"step:12",
		"comm:A!g!fp16",
		"comm:A!g!8",
		"comm:A!!fp16!8",
		"comm:!g!fp16!8",
		"comm:A!g!!8",
		"a!b!c!",
		"comm:A!g!fp16!x",
		"!!!",
		"comm:A!g!fp16!-1",
	};
	struct fsl_marker_name name;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(fsl_marker_name_parse(&name, texts[i], strlen(texts[i])));
	}
	assert_false(fsl_marker_name_parse(&name, "comm:A!g\0!f!1", 13));
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	bool is_done = false;
	for (uint64_t nth = 1; !is_done; nth++) {
		teardown(state);
		f = (struct fixture){.file = {.path = "test", .message = ""}};
		assert_int_equal(fsl_sink_init(&f.sink, &f.file, &f.err), FSL_OK);
		fsl_mem_fail_at(nth);
		f.pairs = fsl_marker_pairs_create(&f.sink);
		enum fsl_status status = f.pairs != NULL ? FSL_OK : FSL_ERR_MEMORY;
		for (uint64_t id = 1; id <= 2000 && status == FSL_OK; id++) {
			const struct fsl_marker marker = {id, 100, 16, false, "comm:A!g!f!1", 12};
			status = fsl_marker_pairs_add(f.pairs, &marker, &f.err);
		}
		if (status == FSL_OK) {
			status = fsl_marker_pairs_finish(f.pairs, &f.err);
		}
		fsl_mem_fail_at(0);
		is_done = status == FSL_OK;
		assert_true(is_done || status == FSL_ERR_MEMORY);
		assert_true(nth < 1000);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_of_one_id_may_be_far_apart),
		TEST(what_is_left_of_an_operator_is_kept),
		TEST(device_rows_may_come_before_the_name),
		TEST(an_end_may_come_before_its_start),
		TEST(ids_begin_again_after_a_restart),
		TEST(a_restart_ends_what_was_incomplete),
		TEST(host_ids_of_two_threads_are_no_restart),
		TEST(an_end_without_a_start_is_counted),
		TEST(the_newest_operator_that_began_on_the_device_is_open),
		TEST(the_oldest_queued_operator_is_open_when_none_runs),
		TEST(host_only_files_have_no_open_operator),
		TEST(a_host_that_never_came_back_is_open),
		TEST(a_lost_host_end_keeps_the_operator),
		TEST(a_clock_that_goes_back_drops_the_operator),
		TEST(repeated_rows_are_duplicates),
		TEST(rows_written_twice_are_no_restart),
		TEST(operators_in_order_are_known_to_be),
		TEST(operators_outside_the_range_are_counted),
		TEST(names_are_told_apart_in_any_order),
		TEST(names_are_split_from_both_ends),
		TEST(other_texts_are_no_operator_name),
		TEST(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
