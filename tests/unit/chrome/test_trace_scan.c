/* Events that are read by scanning are those that the tokenizer reads, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/trace_event.h"
#include "fuzz/memory_reader.h"

enum { STEP = 1, FREE, SYNCHRONIZE, HARDWARE };
enum { MHZ, PROCESS, GRID, GROUP, N_ARGS };

static const struct fsl_trace_word names[] = {
	{STEP, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
	{FREE, FSL_TRACE_WHOLE, "Free", NULL},
	{SYNCHRONIZE, FSL_TRACE_HEAD, "AscendCL@aclrtSynchronize", NULL},
};
static const struct fsl_trace_word categories[] = {{1, FSL_TRACE_WHOLE_ANY_CASE, "gc", NULL}};
static const struct fsl_trace_word processes[] = {
	{HARDWARE, FSL_TRACE_WHOLE, "Ascend Hardware", NULL},
};
static struct fsl_trace_words process_words;
static const struct fsl_trace_arg args[N_ARGS] = {
	[MHZ] = {"MHz", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[PROCESS] = {"name", 0, &process_words, FSL_TRACE_ARG_NUMBER},
	[GRID] = {"grid", 0, NULL, FSL_TRACE_ARG_SIZES},
	[GROUP] = {"group", 0, NULL, FSL_TRACE_ARG_TEXT},
};
static struct fsl_trace_vocabulary vocabulary = {.n_args = N_ARGS, .args = args};

/* Spelt as profilers do. */
static const char *const usual[] = {
	"{'ph': 'X', 'name': 'aten::empty', 'pid': 3096504, 'tid': 3096504, 'ts': "
	"'1736408883688177.930', 'dur': 145.57, 'cat': 'cpu_op', 'args': {'Sequence number': -1, "
	"'Input Dims': ';\\r\\n;', 'x': true, 'y': null}}",
	"{'name': 'process_name', 'pid': 7, 'tid': 0, 'args': {'name': 'Ascend Hardware'}, "
	"'ph': 'M'}",
	"{'name': 'AI Core Freq', 'ts': '1736408883573887.920', 'pid': 5, 'tid': 0, 'args': "
	"{'MHz': 1800}, 'ph': 'C'}",
	"{'name': 'HostToDevice936', 'ph': 'f', 'id': '936', 'ts': '1736408883700059.821', 'cat': "
	"'HostToDevice', 'pid': 3, 'tid': 2, 'bp': 'e'}",
	"{'ph':'s','bp':'e','name':'torch_to_npu','id':1736408883700059821,'pid':'ab','ts':"
	"1736408883694699.51,'cat':'async_npu'}",
	"{'ph': 'X', 'name': 'ProfilerStep#50', 'pid': 0, 'ts': 1e3, 'dur': 77.02712757357446}",
	"{'ph': 'X', 'name': 'Free', 'pid': -5, 'ts': 0.5, 'dur': 1E-2, 'ts': '12', 'args': {'a': "
	"0.0, 'MHz': '5'}, 'args': {'b': 'x\\\\\\/'}}",
	"{ 'ph':  'X',\n'ts': 1 }",
	"{\n  'ph': 'X', 'args': {\n 'grid': [132, 1, 1], 'group': 'tp0', 'Input Dims': [[1, 2], "
	"['a', []]]\n  }\n}",
	"{'ph': 'X', 'args': {'grid': [1,2,3,4], 'MHz': [5], 'group': [7]}}",
	"{'ph': 'X', 'args': {'grid': [1, 'x', 3], 'group': 12}}",
	"{'ph': 'X', 'args': {'grid': [1, 70000, 3]}}",
	"{'ph': 'X', 'args': {'grid': [[1, 4], 2, '3']}}",
	"{'ph': 'X', 'args': {'grid': [ 2147483647 , 65535 , 65535 ], 'group': ''}}",
	"{'ph': 'X', 'args': {}}",
	"{'ph': 'X', 'args': { }, 'tid': 'stream 7'}",
};

/* Valid, but for the tokenizer. */
static const char *const unusual[] = {
	"{}",
	"{'ph' : 'X'}",
	"{'ph': 'X', 'args': {'group': 'a\\nb'}}",
	"{'ph': 'X', 'args': {'d': [[[[[[[[[[1]]]]]]]]]]}}",
	"{'ph': 'X', 'args': {'a': {'b': 1}}}",
	"{'ph': 'X', 'args': 5}",
	"{'ph': 'X', 'dur': {'args': 1}}",
	"{'name': 'F\\u0072ee', 'ph': 'X'}",
	"{'name': 'a\\nb', 'ph': 'X'}",
	"{'n\\u0061me': 'Free', 'ph': 'X'}",
	"{'name': '\xc3\xa9', 'ph': 'X'}",
	"{'ph': 'X', 'name': 'Free', 'cat': 'GC', 'ts': false, 'dur': [1]}",
};

/* @text with quotes made right, and bytes behind it as in a file. */
static size_t prepare(char *out, size_t size, const char *text)
{
	static const char behind[] = ", {'ph': 'X', 'name': 'the next one of the file'}";
	(void)snprintf(out, size, "%s%s", text, behind);
	for (size_t i = 0; out[i] != '\0'; i++) {
		out[i] = out[i] == '\'' ? '"' : out[i];
	}
	return strlen(text);
}

/* One event by the tokenizer; its length, 0 when it is none. */
static size_t read_one(const char *text, size_t n_bytes, struct fsl_trace_event *event)
{
	struct fsl_json_value value;
	struct fsl_reader *reader = memory_reader(text, n_bytes);
	struct fsl_json *json = fsl_json_create(reader);
	assert_non_null(json);
	bool is_read = fsl_json_next(json, &value, NULL) == FSL_OK &&
		       value.token == FSL_JSON_OBJECT_BEGIN &&
		       fsl_trace_event_read(json, &vocabulary, event, NULL) == FSL_OK;
	size_t length = is_read ? (size_t)fsl_json_offset(json) + 1 : 0;
	fsl_json_destroy(json);
	fsl_reader_close(reader);
	return length;
}

static void assert_alike(const struct fsl_trace_event *a, const struct fsl_trace_event *b)
{
	assert_int_equal(a->phase, b->phase);
	assert_int_equal(a->name, b->name);
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->category, b->category);
	assert_int_equal(a->has_id, b->has_id);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->dur_ns, b->dur_ns);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->whole_name.length, b->whole_name.length);
	assert_memory_equal(a->whole_name.text, b->whole_name.text, a->whole_name.length);
	for (size_t i = 0; i < N_ARGS; i++) {
		assert_int_equal(a->args[i], b->args[i]);
		assert_int_equal(a->texts[i].length, b->texts[i].length);
		assert_memory_equal(a->texts[i].text, b->texts[i].text, a->texts[i].length);
	}
}

/* Checks that a scanned event equals the tokenizer's; true if it was scanned at all. */
static bool check(const char *text, size_t n_bytes)
{
	struct fsl_trace_event scanned, read;
	uint64_t n_newlines = 0;
	size_t length = fsl_trace_event_scan(text, n_bytes, &vocabulary, &scanned, &n_newlines);
	assert_true(length <= n_bytes);
	if (length > 0) {
		assert_int_equal(read_one(text, length, &read), length);
		assert_alike(&scanned, &read);
	}
	return length > 0;
}

static void usual_events_are_scanned(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) - 1; i++) {
		char text[1024];
		(void)prepare(text, sizeof(text), usual[i]);
		assert_true(check(text, strlen(text)));
	}
}

static void unusual_ones_are_left_to_the_tokenizer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unusual) / sizeof(unusual[0]); i++) {
		char text[1024];
		struct fsl_trace_event event;
		uint64_t n_newlines = 0;
		size_t length = prepare(text, sizeof(text), unusual[i]);
		assert_int_equal(
			fsl_trace_event_scan(text, strlen(text), &vocabulary, &event, &n_newlines),
			0);
		assert_int_equal(read_one(text, length, &event), length);
	}
}

static void every_changed_byte_is_read_alike(void **state)
{
	static const char bytes[] = "\"\\,:{}[] 0159.eE+-tfnuXsMx/\x01\n\xc3\xff";
	(void)state;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		char text[1024];
		size_t length = prepare(text, sizeof(text), usual[i]), n_bytes = strlen(text);
		for (size_t at = 0; at < length; at++) {
			char kept = text[at];
			for (size_t b = 0; b < sizeof(bytes); b++) {
				text[at] = bytes[b];
				(void)check(text, n_bytes);
			}
			text[at] = kept;
		}
	}
}

static void bytes_left_out_or_doubled_are_read_alike(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		char text[1024], changed[1024];
		size_t length = prepare(text, sizeof(text), usual[i]), n_bytes = strlen(text);
		for (size_t at = 0; at < length; at++) {
			memcpy(changed, text, at);
			memcpy(changed + at, text + at + 1, n_bytes - at - 1);
			(void)check(changed, n_bytes - 1);
			memcpy(changed, text, at + 1);
			memcpy(changed + at + 1, text + at, n_bytes - at);
			(void)check(changed, n_bytes + 1);
		}
	}
}

/* No byte behind the end is looked at: the block ends where the text does. */
static void a_cut_event_is_left_to_the_tokenizer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		char text[1024];
		size_t length = prepare(text, sizeof(text), usual[i]);
		for (size_t n = 0; n <= length; n++) {
			struct fsl_trace_event event;
			uint64_t n_newlines = 0;
			char *exact = malloc(n > 0 ? n : 1);
			assert_non_null(exact);
			memcpy(exact, text, n);
			assert_int_equal(n > 0 ? fsl_trace_event_scan(exact, n, &vocabulary, &event,
								      &n_newlines)
					       : 0,
					 0);
			free(exact);
		}
	}
}

int main(void)
{
	fsl_trace_words_init(&vocabulary.names, names, sizeof(names) / sizeof(names[0]));
	fsl_trace_words_init(&vocabulary.categories, categories, 1);
	fsl_trace_words_init(&process_words, processes, 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_events_are_scanned),
		cmocka_unit_test(unusual_ones_are_left_to_the_tokenizer),
		cmocka_unit_test(every_changed_byte_is_read_alike),
		cmocka_unit_test(bytes_left_out_or_doubled_are_read_alike),
		cmocka_unit_test(a_cut_event_is_left_to_the_tokenizer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
