/* communication_matrix.json: the values read from it, and reports on unusual files. */
#include <math.h>

#include "json_reading.h"

#define FIGURES                                                                                    \
	"'Transport Type': 'HCCS', 'Transit Size(MB)': 37.781504, "                                \
	"'Transit Time(ms)': 0.008220156250000001, 'Bandwidth(GB/s)': 17.5452"
#define LINK(ends) "'" ends "': {" FIGURES ", 'Op Name': 'hcom_allReduce__586_2_1'}"

static const fsl_profile_reader reader = fsl_profile_read_communication_matrix;

static void figures_are_taken_exactly(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(&reading, reader,
			 "{'step50': {'p2p': {'send-top1@7': {" LINK(
				 "3-0") "}}, 'collective': {"
					"'allreduce-total@17522688603477080586': {'0-12': {" FIGURES
					"}}}}}");
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.file.n_records, 2);
	assert_int_equal(reading.rank.n_links, 2);
	const struct fsl_profile_link *send = &reading.rank.links[0];
	assert_int_equal(send->step, 50);
	assert_true(send->is_p2p);
	assert_string_equal(reading_name(&reading, send->label_id), "send-top1");
	assert_string_equal(reading_name(&reading, send->group_id), "7");
	assert_string_equal(reading_name(&reading, send->name_id), "hcom_allReduce__586_2_1");
	assert_int_equal(send->src, 3);
	assert_int_equal(send->dst, 0);
	assert_int_equal(send->transport, FSL_TRANSPORT_HCCS);
	assert_int_equal(send->n_bytes, 37781504);
	assert_int_equal(send->time_ns, 8220);
	assert_int_equal(send->time_ps, 156);
	assert_float_equal(send->gb_per_s, 17.5452, 0);
	const struct fsl_profile_link *total = &reading.rank.links[1];
	assert_false(total->is_p2p);
	assert_int_equal(total->name_id, FSL_STR_NONE);
	assert_string_equal(reading_name(&reading, total->label_id), "allreduce-total");
	assert_int_equal(total->dst, 12);
	reading_end(&reading);
}

static void a_raw_capture_has_operators_alone(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(
		&reading, reader,
		"{'hcom_allReduce__1_0@7': {" LINK("0-0") "}, 'hcom_receive__1_2@7': {" LINK(
			"0-1") "}, 'batchSendRecv-top1@7': {" LINK("1-0") "}, 'send': {" LINK("1-1") "}}");
	assert_int_equal(reading.rank.n_links, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(reading.rank.links[i].step, FSL_STEP_ABSENT);
		assert_int_equal(reading.rank.links[i].is_p2p, i > 0);
	}
	assert_int_equal(reading.rank.links[3].group_id, FSL_STR_NONE);
	reading_end(&reading);
}

static void only_wanted_steps_are_kept(void **state)
{
	static const int64_t wanted[] = {5};
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading.steps = wanted;
	reading.n_steps = 1;
	reading_document(&reading, reader,
			 "{'step4': {'p2p': {'a@7': {" LINK(
				 "0-0") "}}}, "
					"'step5': {'p2p': {'a@7': {" LINK("0-1") "}}}}");
	assert_int_equal(reading.rank.n_links, 1);
	assert_int_equal(reading.rank.links[0].step, 5);
	assert_int_equal(reading.rank.links[0].dst, 1);
	reading_end(&reading);
}

static void bad_links_are_counted_and_the_rest_is_used(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(
		&reading, reader,
		"{'step1': {'collective': {'a@1': {" LINK("01") ", " LINK("-1-2") ", " LINK(
			"0-4294967295") ", '0-0': {'Transport Type': 7}, '0-1': 5, '0-2': "
					"{'Transit Size(MB)': -1, 'Transit Time(ms)': 2}, " LINK(
						"0-3") "}, '@': {" LINK("0-4") "}}}}");
	assert_int_equal(reading.rank.n_links, 1);
	assert_int_equal(reading.rank.links[0].dst, 3);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 6);
	assert_int_equal(reading.file.n_records, 7);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	reading_end(&reading);
}

static void figures_that_are_missing_are_not_zero(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(&reading, reader,
			 "{'a@1': {'0-1': {'Transport Type': 'NEW', 'Transit Size(MB)': 1, "
			 "'Transit Time(ms)': 0, 'Op Name': [1, 2]}}}");
	assert_int_equal(reading.rank.n_links, 1);
	assert_true(isnan(reading.rank.links[0].gb_per_s));
	assert_int_equal(reading.rank.links[0].transport, FSL_TRANSPORT_OTHER);
	assert_int_equal(reading.rank.links[0].name_id, FSL_STR_NONE);
	reading_end(&reading);
}

static void a_cut_file_is_used_up_to_there(void **state)
{
	static const char text[] =
		"{'step1': {'collective': {'a@1': {" LINK("0-0") ", " LINK("0-1") "}}, 'p2p': {}}}";
	size_t n_before = 0;
	(void)state;
	for (size_t n = 0; n < strlen(text); n++) {
		struct reading reading;
		reading_begin(&reading);
		reading_piece(&reading, reader, text, n);
		assert_true(reading.rank.n_links >= n_before && reading.rank.n_links <= 2);
		assert_int_not_equal(reading.file.state, FSL_FILE_READ);
		n_before = reading.rank.n_links;
		reading_end(&reading);
	}
	assert_int_equal(n_before, 2);
}

static void memory_that_is_short_is_a_failure(void **state)
{
	(void)state;
	reading_survives(reader, "{'step1': {'collective': {'a@1': {" LINK("0-0") "}}}}");
}

static void real_captures_prove_the_size_of_groups(void **state)
{
	static const struct {
		const char *path;
		size_t n_links;
		int32_t dst_max;
	} cases[] = {
		{"insight-2rank-text/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT", 48, 7},
		{"insight-4rank-level2/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT", 67, 3},
		{"insight-ut/test_rank_1/ASCEND_PROFILER_OUTPUT", 112, 9},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[256];
		struct reading reading;
		int32_t dst_max = 0;
		(void)snprintf(path, sizeof(path), "%s/communication_matrix.json", cases[i].path);
		reading_begin(&reading);
		reading_shared(&reading, reader, path);
		assert_int_equal(reading.file.state, FSL_FILE_READ);
		assert_int_equal(reading.rank.n_links, cases[i].n_links);
		for (size_t k = 0; k < reading.rank.n_links; k++) {
			const struct fsl_profile_link *link = &reading.rank.links[k];
			dst_max = link->dst > dst_max ? link->dst : dst_max;
			assert_int_equal(link->transport == FSL_TRANSPORT_LOCAL,
					 link->src == link->dst);
		}
		assert_int_equal(dst_max, cases[i].dst_max);
		reading_end(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_taken_exactly),
		cmocka_unit_test(a_raw_capture_has_operators_alone),
		cmocka_unit_test(only_wanted_steps_are_kept),
		cmocka_unit_test(bad_links_are_counted_and_the_rest_is_used),
		cmocka_unit_test(figures_that_are_missing_are_not_zero),
		cmocka_unit_test(a_cut_file_is_used_up_to_there),
		cmocka_unit_test(memory_that_is_short_is_a_failure),
		cmocka_unit_test(real_captures_prove_the_size_of_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
