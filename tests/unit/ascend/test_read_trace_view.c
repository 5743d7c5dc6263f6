/* trace_view.json: its sums, and reports on unusual files. */
#include "json_reading.h"

#include "capture/step_rows.h"
#include "fuzz/packing.h"

#define PROCESS(pid, name)                                                                         \
	"{'name': 'process_name', 'pid': " pid ", 'tid': 0, 'args': {'name': '" name               \
	"'}, 'ph': 'M'}"
#define X(name, pid, ts, dur)                                                                      \
	"{'name': '" name "', 'pid': " pid ", 'tid': 0, 'ts': '" ts "', 'dur': " dur               \
	", 'args': {'level': 'acl', 'x': [1, {'ph': 'M'}]}, 'ph': 'X'}"
#define CAT(name, cat, ts, dur)                                                                    \
	"{'ph': 'X', 'name': '" name "', 'pid': 1, 'tid': 2, 'ts': '" ts "', 'dur': " dur          \
	", 'cat': '" cat "'}"
#define FLOW(phase, cat, id, ts)                                                                   \
	"{'name': 'f', 'ph': '" phase "', 'cat': '" cat "', 'id': " id                             \
	", 'pid': 3, 'tid': 0, 'ts': '" ts "'}"
#define FREQ(pid, ts, mhz)                                                                         \
	"{'name': 'AI Core Freq', 'ts': '" ts "', 'pid': " pid ", 'tid': 0, 'args': {'MHz': " mhz  \
	"}, 'ph': 'C'}"
#define AND ", "

static const fsl_profile_reader reader = fsl_profile_read_trace_view;

static const struct fsl_profile_trace *read_text(struct reading *reading, const char *text)
{
	reading_begin(reading);
	reading_document(reading, reader, text);
	return &reading->rank.trace;
}

static void device_time_is_that_of_its_processes(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading, "[" PROCESS("7", "Ascend Hardware") AND PROCESS("9", "HCCL")
				  AND X("k", "7", "1736408883732241.564", "0.5") AND X("host", "8",
										       "1", "900")
					  AND X("hcom", "9", "1736408883732242.000", "1.25") "]");
	assert_int_equal(trace->n_events, 5);
	assert_int_equal(trace->begin_ns, INT64_C(1736408883732241564));
	assert_int_equal(trace->end_ns, INT64_C(1736408883732243250));
	assert_true(reading.rank.has_trace);
	assert_false(trace->is_cut);
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.file.n_records, 5);
	reading_end(&reading);
}

static void metadata_may_come_last_and_times_be_numbers(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading,
		"[{'ts': 1736408883732241.5, 'dur': '2', 'ph': 'X', 'pid': 'a\\u0062', 'name': 'k'}"
		", {'ph': 'M', 'args': {'name': 'Ascend Hardware'}, 'name': 'process_name', "
		"'pid': 'ab'}]");
	assert_int_equal(trace->begin_ns, INT64_C(1736408883732241500));
	assert_int_equal(trace->end_ns, INT64_C(1736408883732243500));
	reading_end(&reading);
}

static void an_object_around_the_events_is_read_too(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading,
		"{'displayTimeUnit': 'ns', 'traceEvents': [" PROCESS("7", "Ascend Hardware")
			AND X("k", "7", "5", "1") "], 'other': {'traceEvents': 5}}");
	assert_int_equal(trace->n_events, 2);
	assert_int_equal(trace->begin_ns, 5000);
	reading_end(&reading);
}

static void lags_are_from_begin_to_end_of_flows(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading,
		"[" FLOW("s", "HostToDevice", "'12'", "10") AND FLOW(
			"s", "async_npu", "12", "8") AND FLOW("f", "HostToDevice", "12", "10.1")
			AND FLOW("f", "async_npu", "12", "38") AND FLOW(
				"f", "HostToDevice", "13",
				"20.05") AND FLOW("s", "HostToDevice", "13",
						  "20") AND FLOW("f", "HostToDevice", "14", "30")
				AND FLOW("s", "HostToDevice", "14", "30.5") AND FLOW(
					"s", "fwdbwd", "15", "1") AND FLOW("f", "fwdbwd", "15", "2")
					AND FLOW("s", "async_task_queue", "'x'", "1")
						AND FLOW("f", "async_task_queue", "'x'", "3") "]");
	assert_int_equal(trace->n_launches, 3); /* 100, 50 and, by two clocks, 0 ns */
	assert_int_equal(trace->lag_median_ns, 50);
	assert_int_equal(trace->lag_max_ns, 100);
	assert_int_equal(trace->torch_lag.n, 1);
	assert_in_range(trace->torch_lag.median_ns, 29880, 30000);
	assert_int_equal(trace->torch_lag.max_ns, 30000);
	assert_int_equal(trace->queue_lag.n, 1);
	assert_in_range(trace->queue_lag.p95_ns, 1992, 2000);
	reading_end(&reading);
}

/* 200,000 flows, of which 5,000 are open at any time; lags of 1 to 200,000 us. */
static void quantiles_are_right_to_half_a_percent(void **state)
{
	enum { N = 200000, OPEN_N = 5000 };
	char *text = malloc((size_t)N * 2 * 128);
	struct reading reading;
	size_t length = 0;
	(void)state;
	assert_non_null(text);
	text[length++] = '[';
	for (int i = 0; i < N + OPEN_N; i++) {
		if (i < N) {
			length += (size_t)sprintf(text + length,
						  "{'ph': 's', 'cat': 'HostToDevice', 'id': %d, "
						  "'ts': 1000000},",
						  i);
		}
		if (i >= OPEN_N) {
			length += (size_t)sprintf(text + length,
						  "{'ph': 'f', 'cat': 'HostToDevice', 'id': %d, "
						  "'ts': %d},",
						  i - OPEN_N, 1000001 + i - OPEN_N);
		}
	}
	text[length - 1] = ']';
	text[length] = '\0';
	const struct fsl_profile_trace *trace = read_text(&reading, text);
	assert_in_range(trace->n_launches, N - 5, N); /* nine of one set are open at once */
	assert_in_range(trace->lag_median_ns, 99500000, 100500000);
	assert_in_range(trace->lag_p95_ns, 189050000, 190950000);
	assert_int_equal(trace->lag_max_ns, 200000000);
	reading_end(&reading);
	free(text);
}

static void flows_that_never_end_take_no_memory(void **state)
{
	enum { N = 300000 };
	char *text = malloc((size_t)N * 64 + 256);
	struct reading reading;
	size_t length = 0;
	(void)state;
	assert_non_null(text);
	text[length++] = '[';
	for (int i = 0; i < N; i++) {
		length += (size_t)sprintf(text + length,
					  "{'ph': 's', 'cat': 'async_npu', 'id': %d, 'ts': 1},", i);
	}
	(void)sprintf(text + length, "{'ph': 'f', 'cat': 'async_npu', 'id': %d, 'ts': 2}]", N - 1);
	const struct fsl_profile_trace *trace = read_text(&reading, text);
	assert_int_equal(trace->torch_lag.n, 1);
	reading_end(&reading);
	free(text);
}

static void frequencies_have_the_time_until_the_next(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading, "[" PROCESS("7", "Ascend Hardware") AND FREQ("5", "10", "1800")
				  AND FREQ("5", "30", "800") AND FREQ("6", "31", "1000")
					  AND FREQ("5", "35", "1800") AND FREQ("5", "20", "1")
						  AND X("k", "7", "12", "28") "]");
	assert_int_equal(trace->n_freqs, 2);
	assert_int_equal(trace->freqs_mhz[0], 800);
	assert_int_equal(trace->freq_ns[0], 5000);
	assert_int_equal(trace->freqs_mhz[1], 1800);
	assert_int_equal(trace->freq_ns[1], 25000); /* 10 to 30, 35 to 40 */
	reading_end(&reading);
}

static void more_frequencies_than_fit_count_for_the_nearest(void **state)
{
	char text[4096] = "[";
	struct reading reading;
	(void)state;
	for (int i = 0; i < 20; i++) {
		(void)sprintf(text + strlen(text), FREQ("5", "%d", "%d") ",", 10 + i,
			      i == 19 ? 1 : 1000 + i);
	}
	text[strlen(text) - 1] = ']';
	const struct fsl_profile_trace *trace = read_text(&reading, text);
	assert_int_equal(trace->n_freqs, FSL_PROFILE_FREQS_MAX);
	assert_int_equal(trace->freqs_mhz[0], 1000);
	assert_int_equal(trace->freqs_mhz[7], 1007);
	assert_int_equal(trace->freq_ns[7], 12000);
	reading_end(&reading);
}

static void calls_of_the_host_are_counted_by_kind(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading,
		"[" CAT("enumerate(DataLoader)#__next__", "cpu_op", "1", "10000") AND CAT(
			"my_DATALOADER", "user_annotation", "1",
			"10000.001") AND CAT("dataloader.py(1): next", "python_function", "1",
					     "20000") AND CAT("GC", "GC", "1", "1500")
			AND X("AscendCL@aclrtSynchronizeStreamWithTimeout", "2", "1", "2000")
				AND X("AscendCL@aclrtSynchronizeDevice", "2", "1", "10")
					AND X("AscendCL@opCompile", "2", "1", "3000")
						AND X("Node@launch", "2", "1", "5")
							AND X("dataloade", "2", "1", "5000") "]");
	const struct fsl_profile_host_calls *calls = trace->calls;
	assert_int_equal(calls[FSL_HOST_DATALOADER].n, 2);
	assert_int_equal(calls[FSL_HOST_DATALOADER].n_long, 1);
	assert_int_equal(calls[FSL_HOST_DATALOADER].long_ns, 10000001);
	assert_int_equal(calls[FSL_HOST_DATALOADER].total_ns, 20000001);
	assert_int_equal(calls[FSL_HOST_GC].n, 1);
	assert_int_equal(calls[FSL_HOST_GC].n_long, 1);
	assert_int_equal(calls[FSL_HOST_SYNCHRONIZE].n, 2);
	assert_int_equal(calls[FSL_HOST_SYNCHRONIZE].max_ns, 2000000);
	assert_int_equal(calls[FSL_HOST_SYNCHRONIZE].n_long, 1);
	assert_int_equal(calls[FSL_HOST_COMPILE].total_ns, 3000000);
	assert_int_equal(calls[FSL_HOST_LAUNCH].n, 1);
	reading_end(&reading);
}

#define STEPS                                                                                      \
	CAT("ProfilerStep#4", "cpu_op", "100", "100")                                              \
	AND CAT("ProfilerStep#3", "cpu_op", "0", "100")
#define SLICES                                                                                     \
	PROCESS("9", "Overlap Analysis")                                                           \
	AND X("Computing", "9", "20", "10") AND X("Communication", "9", "25", "15")                \
		AND X("Communication(Not Overlapped)", "9", "30", "10")                            \
			AND X("Free", "9", "40", "5") AND X("Computing", "9", "45", "60")          \
				AND X("hcom_receive__1", "8", "30", "4")                           \
					AND X("Free", "9", "105", "45")                            \
						AND X("Computing", "9", "150", "10")               \
							AND X("Computing", "9", "300", "10")

static void steps_are_rebuilt_from_the_overlap_analysis(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace =
		read_text(&reading, "[" STEPS AND X("Free", "77", "0", "100") AND SLICES "]");
	assert_int_equal(trace->n_ranges, 2);
	assert_int_equal(trace->ranges[0].step, 3);
	assert_int_equal(trace->ranges[1].begin_ns, 100000);
	assert_int_equal(reading.rank.n_rebuilt, 2);
	const struct fsl_profile_step *three = &reading.rank.rebuilt[0];
	assert_int_equal(three->step, 3);
	assert_int_equal(three->computing_ns, 70000); /* by their begin, not split */
	assert_int_equal(three->communication_ns, 15000);
	assert_int_equal(three->exposed_ns, 10000);
	assert_int_equal(three->overlapped_ns, 5000);
	assert_int_equal(three->free_ns, 5000);
	assert_int_equal(three->bubble_ns, 4000);
	assert_int_equal(three->stage_ns, 81000);
	assert_int_equal(three->exposed_not_receive_ns, 6000);
	assert_int_equal(three->preparing_ns, 20000);
	const struct fsl_profile_step *four = &reading.rank.rebuilt[1];
	assert_int_equal(four->step, 4);
	assert_int_equal(four->free_ns, 45000);
	assert_int_equal(four->stage_ns, 55000);
	assert_int_equal(four->preparing_ns, 50000);
	reading_end(&reading);
}

static void without_numbers_there_is_one_step(void **state)
{
	struct reading reading;
	(void)state;
	(void)read_text(&reading, "[" SLICES "]");
	assert_int_equal(reading.rank.n_rebuilt, 1);
	assert_int_equal(reading.rank.rebuilt[0].step, FSL_STEP_ABSENT);
	assert_int_equal(reading.rank.rebuilt[0].computing_ns, 90000);
	assert_int_equal(reading.rank.rebuilt[0].preparing_ns, FSL_NS_ABSENT);
	reading_end(&reading);
}

/* Reads a trace beside rows of kernels for steps 3 and 4; steps 3 of both compute for 70 us. */
static void read_beside_kernels(struct reading *reading, int64_t computing_ns, const char *text)
{
	struct fsl_profile_rank *rank = &reading->rank;
	reading_begin(reading);
	assert_int_equal(FSL_GROW(rank->rebuilt, rank->rebuilt_capacity, 2, NULL), FSL_OK);
	rank->rebuilt[0] = (struct fsl_profile_step){
		.step = 3, .device_id = 5, .computing_ns = computing_ns, .exposed_ns = 10000};
	rank->rebuilt[1] = (struct fsl_profile_step){.step = 4, .computing_ns = 10000};
	rank->n_rebuilt = 2;
	reading_document(reading, reader, text);
	assert_int_equal(rank->n_rebuilt, 2);
	assert_int_equal(rank->rebuilt[0].computing_ns, computing_ns);
}

static void a_whole_trace_wins_over_rounded_kernels(void **state)
{
	(void)state;
	const int64_t computing_ns[] = {70020, 69980, 40000}; /* the last: a part of the kernels */
	for (size_t i = 0; i < 3; i++) {
		struct reading reading;
		size_t n = 0;
		read_beside_kernels(&reading, computing_ns[i], "[" STEPS AND SLICES "]");
		const struct fsl_profile_step *rows = fsl_profile_step_rows(&reading.rank, &n);
		assert_int_equal(n, 2);
		assert_int_equal(rows[0].computing_ns, 70000);
		assert_int_equal(rows[0].device_id, 5);
		assert_int_equal(rows[1].free_ns, 45000);
		reading_end(&reading);
	}
}

static void kernels_win_over_a_part_of_a_trace(void **state)
{
	(void)state;
	static const char *const texts[] = {"[" STEPS AND SLICES "]", /* lacks a kernel of step 3 */
					    "[" STEPS AND SLICES,     /* cut */
					    "[" SLICES "]"};          /* without steps */
	for (size_t i = 0; i < 3; i++) {
		struct reading reading;
		size_t n = 0;
		int64_t computing_ns = i == 0 ? 71000 : 70000;
		read_beside_kernels(&reading, computing_ns, texts[i]);
		assert_ptr_equal(fsl_profile_step_rows(&reading.rank, &n), reading.rank.rebuilt);
		assert_int_equal(n, 2);
		reading_end(&reading);
	}
}

static void idle_stretches_tell_what_the_host_did(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace =
		read_text(&reading, "[" SLICES AND X("AscendCL@aclnnAdd", "2", "106",
						     "2") AND FLOW("s", "HostToDevice", "1", "149")
					    AND FLOW("f", "HostToDevice", "1",
						     "150") AND FLOW("s", "async_npu", "1", "140")
						    AND FLOW("f", "async_npu", "1", "150") "]");
	assert_int_equal(trace->n_idle, 2);
	assert_int_equal(trace->idle[0].begin_ns, 105000);
	assert_int_equal(trace->idle[0].dur_ns, 45000);
	assert_int_equal(trace->idle[0].launch_lag_ns, 1000);
	assert_int_equal(trace->idle[0].torch_lag_ns, 10000);
	assert_int_equal(trace->idle[1].dur_ns, 5000);
	assert_int_equal(trace->idle[1].launch_lag_ns, FSL_NS_ABSENT);
	reading_end(&reading);
}

/* A pause of 300 ms in a capture of 20 s, with a call every ms outside of it. */
static void calls_are_counted_inside_of_long_stretches(void **state)
{
	enum { N = 20000, PAUSE = 5000, PAUSE_N = 300 };
	char *text = malloc((size_t)N * 160);
	struct reading reading;
	size_t length = 0;
	(void)state;
	assert_non_null(text);
	length += (size_t)sprintf(text, "[" PROCESS("9", "Overlap Analysis")
						AND X("Free", "9", "5000000", "300000")
							AND X("Free", "9", "15000000", "100000"));
	for (int i = 0; i < N; i++) {
		if (i < PAUSE || i >= PAUSE + PAUSE_N) {
			length += (size_t)sprintf(text + length,
						  ", {'name': 'AscendCL@a', 'ts': %d, 'dur': 500, "
						  "'ph': 'X'}",
						  i * 1000);
		}
	}
	(void)sprintf(text + length, "]");
	const struct fsl_profile_trace *trace = read_text(&reading, text);
	assert_int_equal(trace->n_idle, 2);
	assert_int_equal(trace->idle[0].dur_ns, 300000000);
	assert_in_range(trace->idle[0].n_acl, 0, 8);
	assert_in_range(trace->idle[0].acl_ns, 0, 4000000);
	assert_in_range(trace->idle[1].n_acl, 92, 108);
	assert_in_range(trace->idle[1].acl_ns, 46000000, 54000000);
	reading_end(&reading);
	free(text);
}

/* msprof cuts large traces: flows, frequencies and steps go on in the next file. */
static void slices_are_summed_up_as_one(void **state)
{
	static const char *const slices[] = {
		"[" STEPS AND PROCESS("9", "Overlap Analysis") AND X("Computing", "9", "20", "10")
			AND FREQ("5", "10", "1800") AND FLOW("s", "HostToDevice", "1", "10") "]",
		"[" PROCESS("7", "Ascend Hardware") AND X("Free", "9", "30", "10")
			AND FREQ("5", "30", "800") AND FLOW("f", "HostToDevice", "1", "12") "]",
		"[" X("k", "7", "20", "30") AND X("Computing", "9", "40", "10") "]",
	};
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	for (size_t i = 0; i < 3; i++) {
		struct fsl_file file = {.path = "slice", .message = ""};
		const struct fsl_profile_input input = {
			.reader = quoted_reader(slices[i], strlen(slices[i])),
			.path = "slice",
			.file = &file,
			.has_next = i < 2};
		assert_int_equal(reader(&reading.rank, &input, NULL), FSL_OK);
		assert_int_equal(file.state, FSL_FILE_READ);
		fsl_reader_close(input.reader);
	}
	const struct fsl_profile_trace *trace = &reading.rank.trace;
	assert_null(trace->sums);
	assert_int_equal(trace->n_events, 12);
	assert_int_equal(trace->n_launches, 1);
	assert_int_equal(trace->lag_max_ns, 2000);
	assert_int_equal(trace->begin_ns, 20000);
	assert_int_equal(trace->n_freqs, 2);
	assert_int_equal(trace->freq_ns[0], 20000); /* 30 to 50 */
	assert_int_equal(trace->freq_ns[1], 20000); /* 10 to 30 */
	assert_int_equal(reading.rank.n_rebuilt, 1);
	assert_int_equal(reading.rank.rebuilt[0].computing_ns, 20000);
	assert_int_equal(reading.rank.rebuilt[0].free_ns, 10000);
	reading_end(&reading);
}

static void a_cut_file_is_used_up_to_there(void **state)
{
	static const char text[] = "[" PROCESS("7", "Ascend Hardware") AND X("k", "7", "5", "1")
		AND X("k\\u00e9\\n", "7", "9", "1") "]";
	uint64_t n_before = 0;
	(void)state;
	for (size_t n = 1; n < strlen(text); n++) {
		struct reading reading;
		reading_begin(&reading);
		reading_piece(&reading, reader, text, n);
		assert_true(reading.rank.trace.is_cut);
		assert_true(reading.rank.trace.n_events >= n_before);
		assert_int_equal(reading.file.n_dropped[FSL_DROP_CUT], 1);
		n_before = reading.rank.trace.n_events;
		assert_int_equal(reading.file.state,
				 n_before > 0 ? FSL_FILE_PARTIAL : FSL_FILE_UNUSABLE);
		assert_non_null(strstr(reading.file.message, "is cut"));
		reading_end(&reading);
	}
	assert_int_equal(n_before, 3);
}

/* Two writers, a name in another encoding, a comma too many or too few. */
static void what_is_no_json_costs_no_more_than_its_event(void **state)
{
	static const char *const faults[] = {
		"{'name': '\xb0\xa1', 'ph': 'M'}",
		"{'name': 'a\nb', 'ph': 'M'}",
		"{'name': 'a}",
		"{'name': 'a', 'ph' 'M'}",
		"{'name': NaN, 'ph': 'M'}",
		"{'a': [1, {'b'}]}",
		"{'name': 'a\\x'}",
		"",
		"{'a': [}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		char text[1024];
		struct reading reading;
		(void)snprintf(text, sizeof(text),
			       "[" PROCESS("7", "Ascend Hardware") ", %s," X("k", "7", "5", "1")
				       AND X("k", "7", "8", "1") "]",
			       faults[i]);
		const struct fsl_profile_trace *trace = read_text(&reading, text);
		/* A string without an end takes its neighbour with it. */
		assert_in_range(trace->n_events, i == 2 ? 2 : 3, 3);
		assert_int_equal(trace->end_ns, 9000);
		assert_false(trace->is_cut);
		assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
		assert_true(reading.file.n_dropped[FSL_DROP_MALFORMED] > 0);
		assert_non_null(strstr(reading.file.message, "offset="));
		reading_end(&reading);
	}
}

/* A file of faults is given up; it takes no longer than one of events. */
static void too_many_faults_are_the_end(void **state)
{
	enum { N = 5000 };
	char *text = calloc((size_t)N, 32);
	struct reading reading;
	size_t length = 0;
	(void)state;
	assert_non_null(text);
	length += (size_t)sprintf(text, "[{'ph': 'M'}");
	for (int i = 0; i < N; i++) {
		length += (size_t)sprintf(text + length, ", {'a' 1}");
	}
	(void)sprintf(text + length, ", {'ph': 'M'}]");
	const struct fsl_profile_trace *trace = read_text(&reading, text);
	assert_int_equal(trace->n_events, 1);
	assert_true(trace->is_cut);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	reading_end(&reading);
	free(text);
}

static void odd_documents_are_told(void **state)
{
	static const struct {
		const char *text;
		enum fsl_file_state state;
	} cases[] = {
		{"", FSL_FILE_EMPTY},
		{"[]", FSL_FILE_EMPTY},
		{"{}", FSL_FILE_EMPTY},
		{"{'traceEvents': 7}", FSL_FILE_EMPTY},
		{"5", FSL_FILE_EMPTY},
		{"no JSON", FSL_FILE_UNUSABLE},
		{"[1, 'a', [2], null, {}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'X', 'ts': 'N/A', 'dur': 1}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'X', 'ts': -1, 'dur': 1}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'X', 'ts': 1e300, 'dur': 1}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'X', 'ts': 1, 'dur': 1e30}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'X', 'ts': [1], 'dur': {'a': 1}}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'XX', 'ts': 1, 'dur': 1}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'C', 'name': 'AI Core Freq', 'ts': 1}]", FSL_FILE_PARTIAL},
		{"[{'ph': 'C', 'name': 'AI Core Freq', 'ts': 1, 'args': {'MHz': -5}}]",
		 FSL_FILE_PARTIAL},
		{"[{'ph': 'M', 'name': 'process_name', 'args': 5}]", FSL_FILE_READ},
		{"[{'ph': 's', 'cat': 'async_npu'}]", FSL_FILE_READ},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reading reading;
		(void)read_text(&reading, cases[i].text);
		assert_int_equal(reading.file.state, cases[i].state);
		assert_int_equal(reading.file.message[0] == '\0', cases[i].state == FSL_FILE_READ);
		assert_int_equal(reading.rank.trace.begin_ns, FSL_NS_ABSENT);
		reading_end(&reading);
	}
}

static void of_the_same_key_twice_the_last_one_holds(void **state)
{
	struct reading reading;
	(void)state;
	const struct fsl_profile_trace *trace = read_text(
		&reading, "[" PROCESS("7", "Ascend Hardware") ", {'ph': 'X', 'ts': 1, 'ts': 2, "
							      "'dur': 9, 'dur': 1, 'pid': 8, "
							      "'pid': 7, 'ph': 'M', 'ph': 'X'}]");
	assert_int_equal(trace->begin_ns, 2000);
	assert_int_equal(trace->end_ns, 3000);
	reading_end(&reading);
}

static void a_compressed_file_is_read_too(void **state)
{
	char text[] = "[" PROCESS("7", "Ascend Hardware") AND X("k", "7", "5", "1") "]";
	struct reading reading;
	(void)state;
	for (size_t i = 0; text[i] != '\0'; i++) {
		text[i] = text[i] == '\'' ? '"' : text[i];
	}
	struct blob packed = gzip_of(text, strlen(text));
	struct fsl_reader *gz = memory_reader(packed.data, packed.n_bytes);
	reading_begin(&reading);
	assert_int_equal(reading_try(&reading, reader, gz, NULL), FSL_OK);
	assert_int_equal(reading.rank.trace.end_ns, 6000);
	fsl_reader_close(gz);
	free(packed.data);
	reading_end(&reading);
}

static void a_cut_archive_is_one_fault(void **state)
{
	enum { N = 2000 };
	char *text = calloc((size_t)N, 64);
	struct reading reading;
	size_t length = 0;
	(void)state;
	assert_non_null(text);
	length += (size_t)sprintf(text, "[{\"ph\": \"M\"}");
	for (unsigned i = 0; i < N; i++) {
		length += (size_t)sprintf(text + length, ", {\"ph\": \"C\", \"ts\": %u}",
					  i * 2654435761U);
	}
	text[length++] = ']';
	struct blob packed = gzip_of(text, length);
	struct fsl_reader *gz = memory_reader(packed.data, packed.n_bytes / 2);
	reading_begin(&reading);
	assert_int_equal(reading_try(&reading, reader, gz, NULL), FSL_OK);
	assert_in_range(reading.rank.trace.n_events, 1, N - 1);
	assert_true(reading.rank.trace.is_cut);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_CUT], 1);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 0);
	fsl_reader_close(gz);
	free(packed.data);
	free(text);
	reading_end(&reading);
}

#define SIGNAL(name, ts, dur, args)                                                                \
	"{'name': '" name "', 'pid': 9, 'tid': 1, 'ts': '" ts "', 'dur': " dur ", 'args': {" args  \
	"}, 'ph': 'X'}"

static void waits_for_signals_count_for_the_member_that_gives_them(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	struct fsl_profile_rank *rank = &reading.rank;
	uint32_t group_id = 0;
	assert_int_equal(fsl_strpool_intern(rank->names, "586", 3, &group_id, NULL), FSL_OK);
	assert_int_equal(FSL_GROW(rank->comms, rank->comms_capacity, 1, NULL), FSL_OK);
	rank->comms[rank->n_comms++] = (struct fsl_profile_comm){
		.step = 50, .group_id = group_id, .begin_ns = 100000, .elapse_ns = 900000};
	reading_document(
		&reading, reader,
		"[" SIGNAL("Notify_Wait", "200", "1.5", "'src rank': 0, 'dst rank': 5")
			AND SIGNAL("Notify_Wait", "300", "2", "'dst rank': '5', 'x': 1")
				AND SIGNAL("Notify_Wait", "400", "4", "'dst rank': 1") AND SIGNAL(
					"Notify_Wait", "400", "8", "'dst rank': 4294967295")
					AND SIGNAL("Memcpy", "400", "16", "'dst rank': 1")
						AND SIGNAL("Notify_Wait", "2000", "32",
							   "'dst rank': 1") "]");
	assert_int_equal(rank->n_waits, 2);
	assert_int_equal(rank->waits[0].place, 5);
	assert_int_equal(rank->waits[0].wait_ns, 3500);
	assert_int_equal(rank->waits[0].group_id, group_id);
	assert_int_equal(rank->waits[1].place, 1);
	assert_int_equal(rank->waits[1].wait_ns, 4000);
	reading_end(&reading);
}

#define KERNEL(name, core, ts, dur)                                                                \
	"{'name': '" name "', 'pid': 7, 'tid': 2, 'ts': '" ts "', 'dur': " dur                     \
	", 'args': {'Task Type': '" core "', 'Task Id': 3}, 'ph': 'X'}"

static void assert_copies(const struct fsl_profile_rank *rank, size_t i, int64_t step,
			  int64_t exposed_ns)
{
	assert_true(i < rank->n_copies);
	assert_int_equal(rank->copies[i].step, step);
	assert_int_equal(rank->copies[i].exposed_ns, exposed_ns);
}

/* Free are 40 to 45 of step 3, and 105 to 150 of step 4. */
#define COPIES                                                                                     \
	KERNEL("MEMCPY_ASYNC", "MEMCPY_ASYNC", "38", "3")                                          \
	AND KERNEL("c", "PCIE_DMA_SQE", "120", "20") AND KERNEL("c", "SDMA_SQE", "110", "15")      \
		AND KERNEL("c", "SDMA_SQE", "148", "20") AND KERNEL("Memcpy", "SDMA", "105", "40")

static void copies_count_in_the_slices_that_are_free(void **state)
{
	static const char *const texts[] = {"[" STEPS AND COPIES AND SLICES "]",
					    "[" STEPS AND SLICES AND COPIES "]"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct reading reading;
		read_text(&reading, texts[i]);
		assert_int_equal(reading.rank.n_copies, 2);
		assert_copies(&reading.rank, 0, 3, 1000);
		assert_copies(&reading.rank, 1, 4, 32000);
		reading_end(&reading);
		reading_survives(reader, texts[i]);
	}
}

static void assert_row(const struct fsl_profile_rank *rank, const char *type, const char *core,
		       int64_t count, int64_t total_ns)
{
	for (size_t i = 0; i < rank->n_op_statistics; i++) {
		const struct fsl_profile_statistic *row = &rank->op_statistics[i];
		if (strcmp(fsl_strpool_text(rank->names, row->name_id), type) == 0 &&
		    strcmp(fsl_strpool_text(rank->names, row->kind_id), core) == 0) {
			assert_int_equal(row->count, count);
			assert_int_equal(row->total_ns, total_ns);
			return;
		}
	}
	fail_msg("no row of %s on %s", type, core);
}

static void kernels_are_counted_by_the_type_in_their_name(void **state)
{
	struct reading reading;
	(void)state;
	static const char text[] = "[" KERNEL("aclnnAdd_AddAiCore_Add", "AI_VECTOR_CORE", "10", "2")
		AND KERNEL("aclnnInplaceAdd_AddAiCore_Add", "AI_VECTOR_CORE", "20", "1.5")
			AND KERNEL("trans_TransData_12", "KERNEL_AICORE", "30", "4")
				AND KERNEL("Conv2D7", "AI_CORE", "40", "8")
					AND KERNEL("GatherV2", "AI_CORE", "50", "16")
						AND KERNEL("matmul_kernel", "MIX_AIC", "60", "32")
							AND KERNEL("Memcpy", "SDMA", "70", "64")
								AND X("cpu", "1", "80", "128") "]";
	read_text(&reading, text);
	assert_int_equal(reading.rank.n_op_statistics, 5);
	assert_row(&reading.rank, "Add", "AI_VECTOR_CORE", 2, 3500);
	assert_row(&reading.rank, "TransData", "AI_CORE", 1, 4000);
	assert_row(&reading.rank, "Conv2D", "AI_CORE", 1, 8000);
	assert_row(&reading.rank, "GatherV2", "AI_CORE", 1, 16000);
	assert_row(&reading.rank, "matmul_kernel", "MIX_AIC", 1, 32000);
	reading_end(&reading);
	reading_survives(reader, text);
}

static void long_names_and_kernels_that_communicate_are_told_apart(void **state)
{
	struct reading reading;
	(void)state;
	read_text(&reading, "[" KERNEL("aclnnMaxPool2dWithMaskOfAVeryLongNameIndeed_"
				       "MaxPoolWithArgmaxV1AiCoreAndMoreOfThatKind_"
				       "AndMoreOfThat_MaxPoolWithArgmaxV1",
				       "AI_VECTOR_CORE", "10", "2")
				    AND KERNEL("AllReduceAicpuKernel", "KERNEL_AICPU", "20", "1")
					    AND KERNEL("aclnnCast_Cast", "AI_CPU", "30", "3") "]");
	assert_int_equal(reading.rank.n_op_statistics, 2);
	assert_row(&reading.rank, "MaxPoolWithArgmaxV1", "AI_VECTOR_CORE", 1, 2000);
	assert_row(&reading.rank, "Cast", "AI_CPU", 1, 3000);
	reading_end(&reading);
}

static void rows_of_other_files_stay_as_they_are(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	struct fsl_profile_rank *rank = &reading.rank;
	const struct fsl_profile_statistic row = {.count = 7, .total_ns = 9};
	assert_int_equal(FSL_APPEND(rank, op_statistics, &row, NULL), FSL_OK);
	reading_document(&reading, reader, "[" KERNEL("Add", "AI_CORE", "10", "2") "]");
	assert_int_equal(rank->n_op_statistics, 1);
	assert_int_equal(rank->op_statistics[0].count, 7);
	reading_end(&reading);
}

static void memory_that_is_short_is_a_failure(void **state)
{
	(void)state;
	reading_survives(reader, "[" STEPS AND SLICES "]");
}

/* The figures of step_trace_time.csv, and those that a plain reading in Python gives. */
static void real_captures_give_what_others_count(void **state)
{
	struct reading reading;
	(void)state;
	reading_begin(&reading);
	reading_shared(&reading, reader,
		       "insight-2rank-text/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/"
		       "trace_view.json");
	const struct fsl_profile_trace *trace = &reading.rank.trace;
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(trace->n_events, 10112);
	assert_int_equal(trace->n_launches, 210);
	assert_in_range(trace->lag_median_ns, 637400, 643800);  /* 640.588 us */
	assert_in_range(trace->lag_p95_ns, 93260500, 94197900); /* 93729.174 us */
	assert_int_equal(trace->lag_max_ns, 94033435);
	assert_int_equal(trace->torch_lag.n, 210);
	assert_int_equal(trace->queue_lag.n, 159);
	assert_int_equal(trace->n_freqs, 1);
	assert_int_equal(trace->freqs_mhz[0], 1800);
	assert_int_equal(trace->calls[FSL_HOST_DATALOADER].total_ns, 3332400);
	assert_int_equal(trace->calls[FSL_HOST_SYNCHRONIZE].max_ns, 91682160);
	assert_int_equal(reading.rank.n_rebuilt, 1);
	const struct fsl_profile_step *step = &reading.rank.rebuilt[0];
	assert_int_equal(step->step, 50);
	assert_int_equal(step->computing_ns, 8873756);
	assert_int_equal(step->exposed_ns, 101963203);
	assert_int_equal(step->overlapped_ns, 4028675);
	assert_int_equal(step->communication_ns, 105991878);
	assert_int_equal(step->free_ns, 25744050);
	assert_int_equal(step->stage_ns, 136581009); /* written as 136581.0 us */
	assert_int_equal(step->preparing_ns, 17902502);
	assert_copies(&reading.rank, 0, 50, 10760);
	assert_row(&reading.rank, "MatMulV2", "AI_CORE", 8, 921498); /* as op_statistic.csv */
	reading_end(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_time_is_that_of_its_processes),
		cmocka_unit_test(metadata_may_come_last_and_times_be_numbers),
		cmocka_unit_test(an_object_around_the_events_is_read_too),
		cmocka_unit_test(lags_are_from_begin_to_end_of_flows),
		cmocka_unit_test(quantiles_are_right_to_half_a_percent),
		cmocka_unit_test(flows_that_never_end_take_no_memory),
		cmocka_unit_test(frequencies_have_the_time_until_the_next),
		cmocka_unit_test(more_frequencies_than_fit_count_for_the_nearest),
		cmocka_unit_test(calls_of_the_host_are_counted_by_kind),
		cmocka_unit_test(steps_are_rebuilt_from_the_overlap_analysis),
		cmocka_unit_test(without_numbers_there_is_one_step),
		cmocka_unit_test(a_whole_trace_wins_over_rounded_kernels),
		cmocka_unit_test(kernels_win_over_a_part_of_a_trace),
		cmocka_unit_test(idle_stretches_tell_what_the_host_did),
		cmocka_unit_test(calls_are_counted_inside_of_long_stretches),
		cmocka_unit_test(slices_are_summed_up_as_one),
		cmocka_unit_test(a_cut_file_is_used_up_to_there),
		cmocka_unit_test(what_is_no_json_costs_no_more_than_its_event),
		cmocka_unit_test(too_many_faults_are_the_end),
		cmocka_unit_test(odd_documents_are_told),
		cmocka_unit_test(of_the_same_key_twice_the_last_one_holds),
		cmocka_unit_test(a_compressed_file_is_read_too),
		cmocka_unit_test(a_cut_archive_is_one_fault),
		cmocka_unit_test(waits_for_signals_count_for_the_member_that_gives_them),
		cmocka_unit_test(kernels_are_counted_by_the_type_in_their_name),
		cmocka_unit_test(long_names_and_kernels_that_communicate_are_told_apart),
		cmocka_unit_test(rows_of_other_files_stay_as_they_are),
		cmocka_unit_test(copies_count_in_the_slices_that_are_free),
		cmocka_unit_test(memory_that_is_short_is_a_failure),
		cmocka_unit_test(real_captures_give_what_others_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
