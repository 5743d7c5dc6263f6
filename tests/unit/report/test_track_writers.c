/* Timelines: lanes, the merge of streams, and what both writers make of an event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/track_lanes.h"
#include "report/trace/track_plan.h"
#include "report/trace/track_slices.h"

/* Slices of a test, with one name. */
struct slices {
	int64_t times[8][2];
	uint32_t name, category;
	enum fsl_track_flow launch[8], meeting[8];
};

static const char *const families[] = {"lane"};

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct slices *slices = context;
	*begin_ns = slices->times[idx][0];
	*end_ns = slices->times[idx][1];
}

static void fill(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct slices *slices = context;
	event->name = slices->name;
	event->category = slices->category;
	event->launch = slices->launch[idx];
	event->launch_id = 26;
	event->meeting = slices->meeting[idx];
	event->meeting_id = 7;
	event->args[event->n_args++] = (struct fsl_track_arg){
		.key = slices->category, .text = FSL_STR_NONE, .number = -(int64_t)idx};
}

static void add(struct fsl_track_plan *plan, uint32_t pid, struct slices *slices, const char *name,
		size_t n)
{
	const struct fsl_slice_source source = {
		.context = slices, .times = times_of, .fill = fill, .families = families};
	uint64_t n_left_out = 0;
	uint32_t *order = fsl_calloc(n, sizeof(*order));
	assert_non_null(order);
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
	}
	assert_int_equal(fsl_track_plan_text(plan, name, &slices->name, NULL), FSL_OK);
	assert_int_equal(fsl_track_plan_text(plan, "c", &slices->category, NULL), FSL_OK);
	assert_int_equal(fsl_track_plan_add_process(plan, pid, "p", NULL, 0, NULL), FSL_OK);
	assert_int_equal(fsl_slices_add(plan, pid, &source, order, n, &n_left_out, NULL), FSL_OK);
	assert_int_equal(n_left_out, 0);
}

/* The plan as a file in memory, NUL-terminated; freed by the caller. */
static char *written(struct fsl_track_plan *plan, const struct fsl_track_writer *writer,
		     size_t *length, struct fsl_track_counts *counts)
{
	char *text = NULL;
	struct fsl_track_output output;
	FILE *stream = open_memstream(&text, length);
	assert_non_null(stream);
	assert_int_equal(fsl_track_output_init(&output, stream, false, NULL), FSL_OK);
	assert_int_equal(fsl_track_plan_write(plan, writer, &output, counts, NULL), FSL_OK);
	fsl_track_output_fini(&output);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static char *chrome(struct fsl_track_plan *plan, struct fsl_track_counts *counts)
{
	size_t length = 0;
	return written(plan, &fsl_track_writer_chrome, &length, counts);
}

static void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL) {
		fail_msg("%s\nis not in\n%s", part, text);
	}
}

static void slices_of_a_lane_nest_or_are_disjoint(void **state)
{
	(void)state;
	const int64_t times[][3] = {/* begin, end, lane */
				    {0, 10, 0},  {0, 5, 0},   {5, 10, 0},  {9, 12, 1},
				    {10, 11, 0}, {11, 11, 0}, {11, 13, 0}, {12, 14, 1}};
	struct fsl_lanes lanes = {0};
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint8_t lane = 0;
		assert_int_equal(fsl_lanes_place(&lanes, times[i][0], times[i][1], &lane, NULL),
				 FSL_OK);
		assert_int_equal(lane, times[i][2]);
	}
	fsl_lanes_fini(&lanes);
}

static void too_many_overlapping_slices_find_no_lane(void **state)
{
	(void)state;
	struct fsl_lanes lanes = {0};
	uint8_t lane = 0;
	for (int64_t i = 0; i <= FSL_LANES_MAX; i++) {
		assert_int_equal(fsl_lanes_place(&lanes, i, 1000 + i, &lane, NULL), FSL_OK);
		assert_int_equal(lane, i < FSL_LANES_MAX ? i : FSL_LANE_NONE);
	}
	fsl_lanes_fini(&lanes);
}

static void times_are_microseconds_with_three_decimals(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	/* A double would lose the last three digits of both. */
	struct slices slices = {
		.times = {{INT64_C(1750000000123456789), INT64_C(1750000000123456790)},
			  {INT64_C(1750000009000000001), INT64_C(1750000019000000101)}}};
	add(plan, 4, &slices, "n", 2);
	char *text = chrome(plan, &counts);
	assert_has(text, "\"baseTimeNanoseconds\":1750000000000000000,");
	assert_has(text, "\"ts\":123456.789,\"dur\":0.001,");
	assert_has(text, "\"ts\":9000000.001,\"dur\":10000000.100,");
	assert_has(text, "\"args\":{\"c\":-1}");
	assert_int_equal(counts.n_slices, 2);
	assert_int_equal(counts.begin_ns, INT64_C(1750000000123456789));
	assert_int_equal(counts.end_ns, INT64_C(1750000019000000101));
	free(text);
	fsl_track_plan_destroy(plan);
}

static void streams_are_merged_and_longer_slices_come_first(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	struct slices left = {.times = {{5, 6}, {9, 20}}}, right = {.times = {{9, 30}, {5, 7}}};
	add(plan, 1, &left, "left", 2);
	add(plan, 2, &right, "right", 2);
	char *text = chrome(plan, &counts);
	const char *const order[] = {
		"0.005,\"dur\":0.002,\"name\":\"right\"", "0.005,\"dur\":0.001,\"name\":\"left\"",
		"0.009,\"dur\":0.021,\"name\":\"right\"", "0.009,\"dur\":0.011,\"name\":\"left\""};
	const char *at = text;
	for (size_t i = 0; i < 4; i++) {
		assert_has(at, order[i]);
		at = strstr(at, order[i]);
	}
	free(text);
	fsl_track_plan_destroy(plan);
}

static void a_slice_without_length_is_an_instant(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	struct slices slices = {.times = {{7, 7}}};
	add(plan, 1, &slices, "n", 1);
	char *text = chrome(plan, &counts);
	assert_has(text, "{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":1025,\"ts\":0.007,\"name\"");
	assert_int_equal(counts.n_instants, 1);
	free(text);
	fsl_track_plan_destroy(plan);
}

static void hostile_names_are_escaped(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	struct slices slices = {.times = {{7, 8}}};
	add(plan, 1, &slices, "\"\\\n\x7f\xff\xc3\xa9", 1);
	char *text = chrome(plan, &counts);
	assert_has(text, "\"name\":\"\\\"\\\\\\u000a\\u007f\xef\xbf\xbd\xc3\xa9\"");
	free(text);
	fsl_track_plan_destroy(plan);
}

static void flows_name_both_ends(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	struct slices slices = {.times = {{7, 8}, {9, 12}},
				.launch = {FSL_FLOW_BEGINS, FSL_FLOW_ENDS},
				.meeting = {FSL_FLOW_BEGINS, FSL_FLOW_ENDS}};
	add(plan, 1, &slices, "n", 2);
	char *text = chrome(plan, &counts);
	assert_has(
		text,
		"\"dur\":0.001,\"name\":\"n\",\"cat\":\"c\",\"bind_id\":\"0x1a\",\"flow_out\":true");
	assert_has(
		text,
		"\"dur\":0.003,\"name\":\"n\",\"cat\":\"c\",\"bind_id\":\"0x1a\",\"flow_in\":true");
	assert_has(text, "{\"ph\":\"s\",\"pid\":1,\"tid\":1025,\"ts\":0.007,\"id\":7,");
	assert_has(text,
		   "{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":1025,\"ts\":0.009,\"id\":7,");
	assert_int_equal(counts.n_launches, 1);
	assert_int_equal(counts.n_meetings, 1);
	free(text);
	fsl_track_plan_destroy(plan);
}

/* Values of a counter: -1, 0, 1 thousandths. */
struct values {
	struct fsl_track_stream stream;
	const struct fsl_track *track;
	int64_t at;
};

static bool next_value(struct fsl_track_stream *stream, struct fsl_track_event *event)
{
	struct values *values = (struct values *)stream;
	*event = (struct fsl_track_event){.track = values->track,
					  .begin_ns = values->at,
					  .end_ns = values->at,
					  .value = values->at * 1000 - 1001};
	return values->at++ < 3;
}

/* One slice of a lane through the JSON writer. Freed by the caller. */
static char *slice_of(int64_t number, uint64_t launch_id, int64_t end_ns)
{
	struct fsl_strpool *texts = fsl_strpool_create();
	struct fsl_track lane = {.pid = UINT32_MAX, .tid = UINT32_MAX};
	struct fsl_track_process process = {.pid = UINT32_MAX, .label = FSL_STR_NONE};
	struct fsl_track_event event = {.track = &lane, .end_ns = end_ns, .n_args = 1};
	struct fsl_track_writing *writing = NULL;
	struct fsl_track_output output;
	size_t length = 0;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	assert_non_null(texts);
	assert_int_equal(fsl_strpool_intern(texts, "n", 1, &lane.name, NULL), FSL_OK);
	event.args[0] = (struct fsl_track_arg){.text = FSL_STR_NONE, .number = number};
	event.launch = FSL_FLOW_BEGINS;
	event.launch_id = event.meeting_id = launch_id;
	event.meeting = FSL_FLOW_GOES_ON;
	const struct fsl_track_writer *writer = &fsl_track_writer_chrome;
	assert_int_equal(fsl_track_output_init(&output, stream, false, NULL), FSL_OK);
	assert_int_equal(writer->begin(&writing, &output, texts, 0, NULL), FSL_OK);
	assert_int_equal(writer->process(writing, &process, NULL), FSL_OK);
	assert_int_equal(writer->track(writing, &lane, NULL), FSL_OK);
	assert_int_equal(writer->event(writing, &event, NULL), FSL_OK);
	assert_int_equal(writer->finish(writing, NULL), FSL_OK);
	writer->end(writing);
	fsl_track_output_finish(&output);
	fsl_track_output_fini(&output);
	fsl_strpool_destroy(texts);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void assert_slice(int64_t number, uint64_t launch_id, int64_t end_ns)
{
	char *text = slice_of(number, launch_id, end_ns), part[512];
	const char *place = ",\"pid\":4294967295,\"tid\":4294967295,\"ts\":0.000,";
	(void)snprintf(part, sizeof(part),
		       "\n{\"ph\":\"X\"%s\"dur\":%" PRId64 ".%03" PRId64
		       ",\"name\":\"n\",\"cat\":\"n\",\"bind_id\":\"0x%" PRIx64
		       "\",\"flow_out\":true,\"args\":{\"n\":%" PRId64 "}},\n"
		       "{\"ph\":\"t\",\"bp\":\"e\"%s\"id\":%" PRIu64 ",",
		       place, end_ns / 1000, end_ns % 1000, launch_id, number, place, launch_id);
	assert_has(text, part);
	free(text);
}

/* 8, 16 and 32 digits are borders of the writer. */
static void numbers_of_all_lengths_are_those_of_printf(void **state)
{
	(void)state;
	uint64_t power = 1;
	for (int i = 0; i < 19; i++, power *= 10) {
		assert_slice((int64_t)power, power - 1, (int64_t)power);
		assert_slice(1 - (int64_t)power, power, (int64_t)power + 123);
	}
	for (unsigned bits = 0; bits < 64; bits++) {
		assert_slice(INT64_MIN >> bits, UINT64_MAX >> bits, INT64_MAX >> bits | 1);
		assert_slice(INT64_MAX >> bits, UINT64_C(0x9fedcba987654321) >> bits, 7);
	}
}

static void destroy_values(struct fsl_track_stream *stream)
{
	(void)stream;
}

static void counters_have_a_unit_and_may_be_negative(void **state)
{
	(void)state;
	for (int has_decimals = 0; has_decimals < 2; has_decimals++) {
		struct fsl_track_plan *plan = fsl_track_plan_create();
		struct fsl_track_counts counts;
		struct values values = {.stream = {next_value, destroy_values}};
		assert_int_equal(fsl_track_plan_add_process(plan, 9, "p", "l", 0, NULL), FSL_OK);
		assert_int_equal(fsl_track_plan_add_counter(plan, 9, "own time", "ms",
							    has_decimals != 0, &values.track, NULL),
				 FSL_OK);
		assert_int_equal(fsl_track_plan_add_stream(plan, &values.stream, NULL), FSL_OK);
		char *text = chrome(plan, &counts);
		assert_has(text, "\"name\":\"process_labels\",\"args\":{\"labels\":\"l\"}");
		assert_has(text, has_decimals != 0
					 ? "{\"ph\":\"C\",\"pid\":9,\"ts\":0.000,\"name\":\"own "
					   "time\",\"args\":{\"ms\":-1.001}}"
					 : "\"args\":{\"ms\":-1001}}");
		assert_has(text, has_decimals != 0 ? "\"args\":{\"ms\":0.999}}"
						   : "\"args\":{\"ms\":999}}");
		assert_int_equal(counts.n_values, 3);
		free(text);
		fsl_track_plan_destroy(plan);
	}
}

/* Place of the bytes in the file, SIZE_MAX if they are not there. */
static size_t place_of(const char *file, size_t length, const char *bytes, size_t n_bytes)
{
	const char *found = memmem(file, length, bytes, n_bytes);
	return found != NULL ? (size_t)(found - file) : SIZE_MAX;
}

static void perfetto_ends_a_slice_before_the_next_one_begins(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	size_t length = 0;
	struct slices slices = {.times = {{1, 5}, {5, 9}}};
	add(plan, 1, &slices, "kernel", 2);
	char *file = written(plan, &fsl_track_writer_pftrace, &length, &counts);
	/* Packet: time 5, sequence 1, flags 2, event { type end, track 2050 }. */
	const char end[] = "\x40\x05\x50\x01\x68\x02\x5a\x05\x48\x02\x58\x82\x10";
	/* Time 5, event { type begin, track 2050 ... */
	const char begin[] = "\x48\x01\x58\x82\x10";
	size_t end_at = place_of(file, length, end, sizeof(end) - 1);
	assert_true(end_at != SIZE_MAX);
	size_t first = place_of(file, length, begin, sizeof(begin) - 1);
	assert_true(first < end_at);
	assert_true(place_of(file + end_at, length - end_at, begin, sizeof(begin) - 1) != SIZE_MAX);
	/* The name stands there once. */
	size_t name = place_of(file, length, "kernel", 6);
	assert_true(name != SIZE_MAX);
	assert_true(place_of(file + name + 6, length - name - 6, "kernel", 6) == SIZE_MAX);
	free(file);
	fsl_track_plan_destroy(plan);
}

static void a_plan_without_events_is_a_sound_file(void **state)
{
	(void)state;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_counts counts;
	char *text = chrome(plan, &counts);
	assert_has(text, "\"traceEvents\":[\n\n]}\n");
	assert_int_equal(counts.begin_ns, -1);
	free(text);
	fsl_track_plan_destroy(plan);
}

static void a_failed_allocation_is_told(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth < 12; nth++) {
		char *text = NULL;
		size_t length = 0;
		struct fsl_track_output output = {0};
		struct fsl_track_counts counts;
		struct fsl_track_plan *plan = fsl_track_plan_create();
		struct slices slices = {.times = {{1, 5}, {5, 9}}};
		add(plan, 1, &slices, "kernel", 2);
		FILE *stream = open_memstream(&text, &length);
		assert_non_null(stream);
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_track_output_init(&output, stream, false, NULL);
		if (status == FSL_OK) {
			status = fsl_track_plan_write(plan,
						      nth % 2 == 0 ? &fsl_track_writer_chrome
								   : &fsl_track_writer_pftrace,
						      &output, &counts, NULL);
		}
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(nth > 2 || status == FSL_ERR_MEMORY);
		fsl_track_output_fini(&output);
		fsl_track_plan_destroy(plan);
		assert_int_equal(fclose(stream), 0);
		free(text);
	}
}

/* A disk without room: the reason of the failed write is kept, packed or not. */
static void a_full_disk_is_told_by_its_own_error(void **state)
{
	(void)state;
	enum { BYTES = 64 * 1024 };
	for (int is_packed = 0; is_packed < 2; is_packed++) {
		struct fsl_track_output output;
		FILE *stream = fopen("/dev/full", "w");
		assert_non_null(stream);
		assert_int_equal(setvbuf(stream, NULL, _IONBF, 0), 0);
		assert_int_equal(fsl_track_output_init(&output, stream, is_packed == 1, NULL),
				 FSL_OK);
		assert_int_equal(fsl_track_output_reserve(&output, BYTES, NULL), FSL_OK);
		memset(output.block, 'x', BYTES);
		output.n = BYTES;
		fsl_track_output_finish(&output);
		assert_int_equal(output.error, ENOSPC);
		fsl_track_output_fini(&output);
		(void)fclose(stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_of_a_lane_nest_or_are_disjoint),
		cmocka_unit_test(too_many_overlapping_slices_find_no_lane),
		cmocka_unit_test(times_are_microseconds_with_three_decimals),
		cmocka_unit_test(streams_are_merged_and_longer_slices_come_first),
		cmocka_unit_test(a_slice_without_length_is_an_instant),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(flows_name_both_ends),
		cmocka_unit_test(numbers_of_all_lengths_are_those_of_printf),
		cmocka_unit_test(counters_have_a_unit_and_may_be_negative),
		cmocka_unit_test(perfetto_ends_a_slice_before_the_next_one_begins),
		cmocka_unit_test(a_plan_without_events_is_a_sound_file),
		cmocka_unit_test(a_failed_allocation_is_told),
		cmocka_unit_test(a_full_disk_is_told_by_its_own_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
