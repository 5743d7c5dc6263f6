/* communication.json: the values read from it, and reports on unusual files. */
#include <math.h>

#include "base/number.h"
#include "json_reading.h"
#include "source/ascend/comms.h"

/* clang-format off */
#define TIMES(begin, elapse) \
	"'Communication Time Info': {'Start Timestamp(us)': " begin ", 'Elapse Time(ms)': " elapse \
	", 'Transit Time(ms)': 0.25, 'Wait Time(ms)': 2e-05, 'Synchronization Time(ms)': 0.0," \
	" 'Idle Time(ms)': 0.1541830625000004, 'Wait Time Ratio': 0.5}"
#define TRAFFIC \
	"'Communication Bandwidth Info': {" \
	"'RDMA': {'Transit Size(MB)': 0, 'Transit Time(ms)': 0, 'Bandwidth(GB/s)': 0," \
	" 'Large Packet Ratio': 0, 'Size Distribution': {}}, " \
	"'HCCS': {'Transit Size(MB)': 28.647232000000002, 'Transit Time(ms)': 1.8168363437500001," \
	" 'Bandwidth(GB/s)': 15.7676, 'Large Packet Ratio': 0.5," \
	" 'Size Distribution': {'2.064384': [12, 1.578891625], '1.9': [2, 0.2]}}, " \
	"'UB': {'Transit Size(MB)': 1, 'Transit Time(ms)': 2}}"
/* clang-format on */
#define OP(name, begin, elapse) "'" name "': {" TIMES(begin, elapse) ", " TRAFFIC "}"

static const fsl_profile_reader reader = fsl_profile_read_communication;

static void figures_are_taken_exactly(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(&reading, reader,
			 "{'step50': {'p2p': {}, 'collective': {" OP(
				 "hcom_allReduce__586_0_1@17522688603477080586",
				 "1736408883732241.5",
				 "79.08952021875") ", 'Total Op Info': {" TIMES("1", "2") "}}}}");
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.rank.n_comms, 1);
	const struct fsl_profile_comm *op = &reading.rank.comms[0];
	assert_int_equal(op->step, 50);
	assert_string_equal(reading_name(&reading, op->name_id), "hcom_allReduce__586_0_1");
	assert_string_equal(reading_name(&reading, op->group_id), "17522688603477080586");
	assert_false(op->is_p2p);
	assert_int_equal(op->begin_ns, INT64_C(1736408883732241500));
	assert_int_equal(op->elapse_ns, 79089520);
	assert_int_equal(op->elapse_ps, 219);
	assert_int_equal(op->transit_ns, 250000);
	assert_int_equal(op->wait_ns, 20);
	assert_int_equal(op->sync_ns, 0);
	assert_int_equal(op->idle_ns, 154183);
	assert_int_equal(op->n_traffic, 2); /* nothing went over RDMA */
	const struct fsl_profile_traffic *hccs = &reading.rank.traffic[op->traffic_begin];
	assert_int_equal(hccs[0].transport, FSL_TRANSPORT_HCCS);
	assert_int_equal(hccs[0].n_bytes, 28647232);
	assert_int_equal(hccs[0].time_ns, 1816836);
	assert_int_equal(hccs[0].time_ps, 344);
	assert_float_equal(hccs[0].gb_per_s, 15.7676, 0);
	assert_float_equal(hccs[0].large_packet_ratio, 0.5, 0);
	assert_int_equal(hccs[0].n_packets, 2);
	const struct fsl_profile_packets *packets = &reading.rank.packets[hccs[0].packets_begin];
	assert_int_equal(packets[0].n_bytes, 2064384);
	assert_int_equal(packets[0].count, 12);
	assert_int_equal(packets[0].time_ns, 1578892);
	assert_int_equal(packets[0].time_ps, -375);
	assert_int_equal(packets[1].n_bytes, 1900000);
	assert_int_equal(hccs[1].transport, FSL_TRANSPORT_OTHER);
	assert_true(isnan(hccs[1].gb_per_s));
	reading_end(&reading);
}

static void a_raw_capture_has_operators_alone(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(&reading, reader,
			 "{" OP("hcom_allReduce__1_0@7", "30", "1") ", " OP(
				 "HCOM_BatchSendRecv__1_1@7", "20",
				 "1") ", " OP("hcom_receive__1_2@7", "10",
					      "1") ", " OP("hcom_send_1", "5", "1") "}");
	assert_int_equal(reading.rank.n_comms, 4);
	const struct fsl_profile_comm *ops = reading.rank.comms;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(ops[i].step, FSL_STEP_ABSENT);
		assert_int_equal(ops[i].is_p2p, i < 3);
	}
	assert_int_equal(ops[0].group_id, FSL_STR_NONE);
	assert_string_equal(reading_name(&reading, ops[3].name_id), "hcom_allReduce__1_0");
	reading_end(&reading);
}

static void operators_are_sorted_and_steps_chosen(void **state)
{
	static const int64_t wanted[] = {3, 5};
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading.steps = wanted;
	reading.n_steps = 2;
	reading_document(
		&reading, reader,
		"{'step5': {'p2p': {" OP("b@1", "9", "1") "}, 'collective': {" OP(
			"c@1", "8", "1") "}}, "
					 "'step4': {'collective': {" OP(
						 "d@1", "1", "1") "}}, "
								  "'step3': {'collective': {" OP(
									  "z@1", "7",
									  "1") ", " OP("y@1", "7",
										       "1") "}}}");
	const char *names[] = {"y", "z", "c", "b"};
	assert_int_equal(reading.rank.n_comms, 4);
	assert_int_equal(reading.file.n_records, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(reading_name(&reading, reading.rank.comms[i].name_id),
				    names[i]);
	}
	assert_true(reading.rank.comms[3].is_p2p);
	reading_end(&reading);
}

static void a_step_without_number_is_always_wanted(void **state)
{
	static const int64_t wanted[] = {3};
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading.steps = wanted;
	reading.n_steps = 1;
	reading_document(&reading, reader, "{'step': {'collective': {" OP("a@1", "1", "1") "}}}");
	assert_int_equal(reading.rank.n_comms, 1);
	assert_int_equal(reading.rank.comms[0].step, FSL_STEP_ABSENT);
	reading_end(&reading);
}

static void bad_operators_are_counted_and_the_rest_is_used(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(
		&reading, reader,
		"{'step1': {'collective': {"
		"'a@1': {" TIMES(
			"'N/A'",
			"1") ", " TRAFFIC "}, "
			     "'b@1': {" TIMES(
				     "1",
				     "-1") "}, "
					   "'@1': {" TIMES(
						   "1",
						   "1") "}, "
							"'c@': {" TIMES(
								"1",
								"1") "}, "
								     "'d@1': {" TIMES(
									     "1",
									     "1e400") "}, "
										      "'e@1': {" TIMES(
											      "[1]",
											      "{'x': 1}") "}, "
													  "'f@1': 5, "
													  "'g@1': {'Communication Time Info': 7}, " OP(
														  "good@1",
														  "1",
														  "1") "}}}");
	assert_int_equal(reading.rank.n_comms, 1);
	assert_string_equal(reading_name(&reading, reading.rank.comms[0].name_id), "good");
	assert_int_equal(reading.rank.n_traffic, 2);
	assert_int_equal(reading.rank.n_packets, 2);
	assert_int_equal(reading.file.n_records, 8);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 7);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_non_null(strstr(reading.file.message, "offset="));
	reading_end(&reading);
}

static void of_the_same_key_twice_the_last_one_holds(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_document(&reading, reader,
			 "{'a@1': {" TIMES("1", "1") ", " TRAFFIC ", " TRAFFIC
						     ", " TIMES("2", "3") "}}");
	assert_int_equal(reading.rank.n_comms, 1);
	assert_int_equal(reading.rank.comms[0].begin_ns, 2000);
	assert_int_equal(reading.rank.comms[0].elapse_ns, 3000000);
	assert_int_equal(reading.rank.n_traffic, 2);
	assert_int_equal(reading.rank.n_packets, 2);
	reading_end(&reading);
}

/* Cut behind every byte: nothing of a half operator stays, and what is whole is used. */
static void a_cut_file_is_used_up_to_there(void **state)
{
	static const char text[] = "{'step1': {'collective': {" OP("a@1", "1", "1") ", " OP(
		"b@1", "2", "1") "}, 'p2p': {}}}";
	size_t whole = strlen(text), n_before = 0;
	(void)state;
	for (size_t n = 0; n < whole; n++) {
		struct reading reading;
		reading_begin(&reading);
		reading_piece(&reading, reader, text, n);
		size_t n_comms = reading.rank.n_comms;
		assert_true(n_comms >= n_before && n_comms <= 2);
		assert_int_equal(reading.rank.n_traffic, 2 * n_comms);
		assert_int_equal(reading.rank.n_packets, 2 * n_comms);
		assert_int_not_equal(reading.file.state, FSL_FILE_READ);
		assert_string_not_equal(reading.file.message, "");
		n_before = n_comms;
		reading_end(&reading);
	}
	assert_int_equal(n_before, 2);
}

static void odd_documents_are_told(void **state)
{
	static const struct {
		const char *text;
		enum fsl_file_state state;
	} cases[] = {
		{"", FSL_FILE_EMPTY},
		{"{}", FSL_FILE_EMPTY},
		{"[]", FSL_FILE_EMPTY},
		{"null", FSL_FILE_EMPTY},
		{"{'step': {'p2p': {}, 'collective': {}}}", FSL_FILE_EMPTY},
		{"{'a': NaN}", FSL_FILE_UNUSABLE},
		{"not JSON", FSL_FILE_UNUSABLE},
		{"{'Communication Time Info': {'Elapse Time(ms)': 1}}", FSL_FILE_EMPTY},
		{"{'a': {'b': {'c': {'d': {'e': {}}}}}}", FSL_FILE_EMPTY},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reading reading;
		reading_begin(&reading);
		reading_document(&reading, reader, cases[i].text);
		assert_int_equal(reading.rank.n_comms, 0);
		assert_int_equal(reading.file.state, cases[i].state);
		assert_string_not_equal(reading.file.message, "");
		reading_end(&reading);
	}
}

static void a_document_that_is_nested_too_deep_is_given_up(void **state)
{
	char text[2048] = "{'step1': {'collective': {" OP("a@1", "1", "1") ", 'b@1': ";
	struct reading reading;
	(void)state;
	for (int i = 0; i < 100; i++) {
		strncat(text, "[", sizeof(text) - strlen(text) - 1);
	}
	reading_begin(&reading);
	reading_document(&reading, reader, text);
	assert_int_equal(reading.rank.n_comms, 1);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_non_null(strstr(reading.file.message, "nested too deep"));
	reading_end(&reading);
}

static void names_of_any_length_do_no_harm(void **state)
{
	enum { LENGTH = 5000 };
	char *text = calloc(1, LENGTH + 1024);
	struct reading reading;
	(void)state;
	assert_non_null(text);
	memcpy(text, "{'", 2);
	memset(text + 2, 'x', LENGTH);
	strcat(text, "@1': {" TIMES("1", "1") "}}");
	reading_begin(&reading);
	reading_document(&reading, reader, text);
	assert_int_equal(reading.rank.n_comms, 0);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 1);
	reading_end(&reading);
	free(text);
}

static void memory_that_is_short_is_a_failure(void **state)
{
	(void)state;
	reading_survives(reader, "{'step1': {'collective': {" OP("a@1", "1", "1") "}}}");
}

/* In every real file Elapse is Transit + Wait + Idle; numbers of operators, and the time of those
 * that are point to point, as other tools count them. */
static void real_captures_hold_their_identity(void **state)
{
	static const struct {
		const char *path;
		size_t n_comms;
		int64_t step, p2p_us;
	} cases[] = {
		{"insight-2rank-text/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT", 4, 50, 0},
		{"insight-4rank-level2/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT", 15, 13, 313877},
		{"insight-4rank-level2/rank_2_ascend_pt/ASCEND_PROFILER_OUTPUT", 23, 13, 72663},
		{"insight-ut/test_rank_0/ASCEND_PROFILER_OUTPUT", 28, 2, 896},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[256];
		struct reading reading;
		int64_t p2p_ns = 0;
		(void)snprintf(path, sizeof(path), "%s/communication.json", cases[i].path);
		reading_begin(&reading);
		reading_shared(&reading, reader, path);
		assert_int_equal(reading.file.state, FSL_FILE_READ);
		assert_int_equal(reading.rank.n_comms, cases[i].n_comms);
		for (size_t k = 0; k < reading.rank.n_comms; k++) {
			const struct fsl_profile_comm *op = &reading.rank.comms[k];
			int64_t sum = op->transit_ns + op->wait_ns + op->idle_ns;
			const char *name = reading_name(&reading, op->name_id);
			assert_in_range(op->elapse_ns - sum + 2, 0, 4);
			assert_int_equal(op->step, cases[i].step);
			assert_int_equal(op->is_p2p, fsl_profile_is_p2p(name, strlen(name)));
			p2p_ns += op->is_p2p ? op->elapse_ns : 0;
		}
		assert_int_equal(p2p_ns / FSL_NS_PER_US, cases[i].p2p_us);
		reading_end(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_taken_exactly),
		cmocka_unit_test(a_raw_capture_has_operators_alone),
		cmocka_unit_test(operators_are_sorted_and_steps_chosen),
		cmocka_unit_test(a_step_without_number_is_always_wanted),
		cmocka_unit_test(bad_operators_are_counted_and_the_rest_is_used),
		cmocka_unit_test(of_the_same_key_twice_the_last_one_holds),
		cmocka_unit_test(a_cut_file_is_used_up_to_there),
		cmocka_unit_test(odd_documents_are_told),
		cmocka_unit_test(a_document_that_is_nested_too_deep_is_given_up),
		cmocka_unit_test(names_of_any_length_do_no_harm),
		cmocka_unit_test(memory_that_is_short_is_a_failure),
		cmocka_unit_test(real_captures_hold_their_identity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
