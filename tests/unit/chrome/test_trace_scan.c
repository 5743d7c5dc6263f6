/* Events that are read by scanning, or by comparing them with others, are those that the tokenizer
 * reads, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/trace_shapes.h"
#include "fuzz/memory_reader.h"

enum { STEP = 1, FREE, SYNCHRONIZE, HARDWARE };
enum { BEHIND_BYTES = 160 /* so many are looked at in comparing */ };
enum { MHZ, PROCESS, GRID, GROUP, NESTED, N_ARGS };

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
	[NESTED] = {"nested", 0, NULL, FSL_TRACE_ARG_NESTED},
};
static struct fsl_trace_vocabulary vocabulary = {
	.wants_counters = true, .n_args = N_ARGS, .args = args};

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
	"{'ph': 'C', 'name': 'sm__cycles_active.avg', 'pid': 'GPU 0 Counters', 'ts': 5.5, 'args': {\n"
	"'': 1.25\n}}",
	"{'ph': 'C', 'ts': 1, 'args': {'tx': 2e11, 'MHz': 7, 'rx': -1, 'on': true, 'name': 'x', 'free': "
	"0, 'list': [1], 'text': '5'}}",
	"{'args': {'tx': 5}, 'ph': 'C'}",
	"{'args': {'tx': 5}, 'ph': 'X'}",
	"{'ph': 'C', 'args': {'tx': 5}, 'args': {'rx': 6}}",
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
	(void)snprintf(out, size, "%s%s%*s", text, behind, BEHIND_BYTES, "");
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
	assert_int_equal(a->whole_category.length, b->whole_category.length);
	assert_memory_equal(a->whole_category.text, b->whole_category.text,
			    a->whole_category.length);
	assert_int_equal(a->has_nested_args, b->has_nested_args);
	assert_int_equal(a->has_counters, b->has_counters);
	assert_int_equal(a->n_counters, b->n_counters);
	for (size_t i = 0; i < a->n_counters; i++) {
		assert_int_equal(a->counters[i].millionths, b->counters[i].millionths);
		assert_int_equal(a->counters[i].key.length, b->counters[i].key.length);
		assert_memory_equal(a->counters[i].key.text, b->counters[i].key.text,
				    a->counters[i].key.length);
	}
	for (size_t i = 0; i < N_ARGS; i++) {
		assert_int_equal(a->args[i], b->args[i]);
		assert_int_equal(a->texts[i].length, b->texts[i].length);
		assert_memory_equal(a->texts[i].text, b->texts[i].text, a->texts[i].length);
	}
}

/* State of a walk: shapes that were learnt, and the event that was read last. */
struct walk {
	struct fsl_trace_shapes *shapes;
	struct fsl_trace_event event;
	uint64_t n_newlines;
};

static void begin(struct walk *walk)
{
	walk->shapes = fsl_trace_shapes_create();
	assert_non_null(walk->shapes);
	fsl_trace_event_clear(&vocabulary, &walk->event);
}

/* Length of the event if it is spelt as one that was learnt. */
static size_t compare(struct walk *walk, const char *text, size_t n_bytes)
{
	return fsl_trace_shapes_scan(walk->shapes, text, n_bytes, &vocabulary, &walk->event,
				     &walk->n_newlines);
}

/* Checks that an event that is scanned, or compared before and after it was learnt, equals the
 * tokenizer's; true if it was scanned at all. */
static bool check(struct walk *walk, const char *text, size_t n_bytes)
{
	struct fsl_trace_event scanned, read;
	uint64_t n_newlines = 0;
	size_t compared = compare(walk, text, n_bytes);
	size_t length = fsl_trace_event_scan(text, n_bytes, &vocabulary, &scanned, &n_newlines);
	assert_true(length <= n_bytes);
	if (length == 0) {
		assert_int_equal(compared, 0);
		return false;
	}
	assert_int_equal(read_one(text, length, &read), length);
	assert_alike(&scanned, &read);
	for (int round = 0; round < 2; round++) {
		if (compared > 0) {
			assert_int_equal(compared, length);
			assert_int_equal(walk->n_newlines, n_newlines);
			assert_alike(&walk->event, &read);
		}
		if (!read.has_counters) {
			fsl_trace_shapes_learn(walk->shapes, text, n_bytes, &vocabulary);
		}
		compared = compare(walk, text, n_bytes);
	}
	return true;
}

static void usual_events_are_scanned(void **state)
{
	(void)state;
	struct walk walk;
	begin(&walk);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) - 1; i++) {
		char text[1024];
		(void)prepare(text, sizeof(text), usual[i]);
		assert_true(check(&walk, text, strlen(text)));
	}
	fsl_trace_shapes_destroy(walk.shapes);
}

/* Values of counters have a key of any name, or none; of other events they are not wanted. */
static void counters_are_told_under_keys_that_nobody_asks_for(void **state)
{
	static const struct {
		const char *text, *keys[2];
		int64_t millionths[2];
		size_t n;
	} cases[] = {
		{"{'ph': 'C', 'ts': 1, 'args': {'': 1.25}}", {""}, {1250000}, 1},
		{"{'ph': 'C', 'args': {'tx': 2e11, 'MHz': 7, 'a': -1, 'rx': 0}}",
		 {"tx", "rx"},
		 {INT64_C(200000000000000000), 0},
		 2},
		{"{'args': {'tx': 5}, 'ph': 'C'}", {"tx"}, {5000000}, 1},
		{"{'args': {'tx': 5}, 'ph': 'X'}", {NULL}, {0}, 0},
		{"{'ph': 'C', 'args': {'tx': '5', 'b': [5], 'c': null}}", {NULL}, {0}, 0},
		{"{'ph': 'C', 'args': {'tx': 5}, 'args': {'rx': 6}}", {"rx"}, {6000000}, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct fsl_trace_event event;
		size_t length = prepare(text, sizeof(text), cases[i].text);
		assert_int_equal(read_one(text, length, &event), length);
		assert_int_equal(event.n_counters, cases[i].n);
		for (size_t k = 0; k < event.n_counters; k++) {
			const struct fsl_trace_text *key = &event.counters[k].key;
			assert_int_equal(key->length, strlen(cases[i].keys[k]));
			assert_memory_equal(key->text, cases[i].keys[k], key->length);
			assert_int_equal(event.counters[k].millionths, cases[i].millionths[k]);
		}
	}
}

/* An event has room for so many; the others are left out. */
static void counters_of_one_event_are_bounded(void **state)
{
	char text[4096], *at = text;
	struct fsl_trace_event event, scanned;
	uint64_t n_newlines = 0;
	(void)state;
	at += snprintf(text, sizeof(text), "{'ph': 'C', 'args': {'%01100d': 1", 0);
	for (int i = 0; i < FSL_TRACE_COUNTERS_MAX + 8; i++) {
		at += snprintf(at, (size_t)(text + sizeof(text) - at), ", 'c%d': %d", i, i);
	}
	(void)snprintf(at, (size_t)(text + sizeof(text) - at), "}}%*s", BEHIND_BYTES, "");
	for (at = text; *at != '\0'; at++) {
		*at = *at == '\'' ? '"' : *at;
	}
	assert_true(read_one(text, strlen(text), &event) > 0);
	assert_true(fsl_trace_event_scan(text, strlen(text), &vocabulary, &scanned, &n_newlines) >
		    0);
	assert_int_equal(event.n_counters, FSL_TRACE_COUNTERS_MAX);
	assert_int_equal(event.counters[0].key.length, 2);
	assert_alike(&event, &scanned);
}

/* Two events in turn, of which the second is compared with the first: other values, the same event;
 * another spelling, none. */
static void events_are_compared_with_those_before(void **state)
{
	static const struct {
		const char *before, *after;
		bool is_alike;
	} cases[] = {
		{"{'ph': 'X', 'name': 'aten::mm', 'ts': 17.5, 'args': {'MHz': 12}}",
		 "{'ph': 'X', 'name': 'a much longer name of an operator', 'ts': 2, 'args': "
		 "{'MHz': 0}}",
		 true},
		{"{'ph': 'X', 'ts': 1, 'args': {'grid': [1, 2, 3], 'group': 'a'}}",
		 "{'ph': 'X', 'ts': -1.5e3, 'args': {'grid': [132, 65535, 1], 'group': ''}}", true},
		{"{'ph': 'X', 'ts': 1, 'args': {'d': [[1, 2], ['x']]}}",
		 "{'ph': 'X', 'ts': 0.001, 'args': {'d': []}}", true},
		{"{'ph': 'X', 'ts': 1}", "{'ph': 'X', 'ts': 01}", false},
		{"{'ph': 'X', 'ts': 1}", "{'ph': 'X', 'ts': 1.}", false},
		{"{'ph': 'X', 'ts': 1}", "{'ph': 'X', 'ts': '1'}", false},
		{"{'ph': 'X', 'ts': 1}", "{'ph': 'X',  'ts': 1}", false},
		{"{'ph': 'X', 'ts': 1}", "{'ph': 'X', 'ts': 1, 'dur': 2}", false},
		{"{'ph': 'X', 'name': 'a'}", "{'ph': 'X', 'name': '\xc3\xa9'}", false},
		{"{'ph': 'X', 'name': 'a'}", "{'ph': 'X', 'name': 'a\\n'}", false},
		{"{'ph': 'X', 'cat': 'gc'}", "{'ph': 'X', 'cat': 'GC'}", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct walk walk;
		begin(&walk);
		(void)prepare(text, sizeof(text), cases[i].before);
		assert_true(check(&walk, text, strlen(text)));
		assert_true(compare(&walk, text, strlen(text)) > 0);
		(void)prepare(text, sizeof(text), cases[i].after);
		assert_int_equal(compare(&walk, text, strlen(text)) > 0, cases[i].is_alike);
		(void)check(&walk, text, strlen(text));
		fsl_trace_shapes_destroy(walk.shapes);
	}
}

/* The same with the category in front of the name and behind it. */
static void names_are_looked_up_in_categories_that_want_them(void **state)
{
	static const struct {
		const char *event;
		int name;
	} cases[] = {
		{"{'ph': 'X', 'cat': 'gc', 'name': 'Free', 'ts': 1}", 0},
		{"{'ph': 'X', 'name': 'Free', 'ts': 1, 'cat': 'GC'}", 0},
		{"{'ph': 'X', 'cat': 'cpu_op', 'name': 'Free', 'ts': 1}", FREE},
		{"{'ph': 'X', 'name': 'Free', 'ts': 1, 'cat': ''}", FREE},
		{"{'ph': 'X', 'name': 'Free', 'ts': 1}", FREE},
	};
	struct walk walk;
	(void)state;
	begin(&walk);
	vocabulary.nameless = UINT32_C(1) << 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		(void)prepare(text, sizeof(text), cases[i].event);
		assert_true(check(&walk, text, strlen(text)));
		assert_true(compare(&walk, text, strlen(text)) > 0);
		assert_int_equal(walk.event.name, cases[i].name);
	}
	vocabulary.nameless = 0;
	fsl_trace_shapes_destroy(walk.shapes);
}

/* A file of events that are all spelt otherwise is read all the same. */
static void a_full_tree_leaves_events_to_the_others(void **state)
{
	struct walk walk;
	(void)state;
	begin(&walk);
	for (int i = 0; i < 6000; i++) {
		char event[256], text[1024];
		(void)snprintf(event, sizeof(event),
			       "{'ph': 'X', 'key %d': %d, 'ts': %d, 'args': {'MHz': %d}}", i, i, i,
			       i);
		(void)prepare(text, sizeof(text), event);
		assert_true(check(&walk, text, strlen(text)));
	}
	fsl_trace_shapes_destroy(walk.shapes);
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
		struct walk walk;
		begin(&walk);
		size_t length = prepare(text, sizeof(text), usual[i]), n_bytes = strlen(text);
		for (size_t at = 0; at < length; at++) {
			char kept = text[at];
			for (size_t b = 0; b < sizeof(bytes); b++) {
				text[at] = bytes[b];
				(void)check(&walk, text, n_bytes);
			}
			text[at] = kept;
		}
		fsl_trace_shapes_destroy(walk.shapes);
	}
}

static void bytes_left_out_or_doubled_are_read_alike(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		char text[1024], changed[1024];
		struct walk walk;
		begin(&walk);
		size_t length = prepare(text, sizeof(text), usual[i]), n_bytes = strlen(text);
		for (size_t at = 0; at < length; at++) {
			memcpy(changed, text, at);
			memcpy(changed + at, text + at + 1, n_bytes - at - 1);
			(void)check(&walk, changed, n_bytes - 1);
			memcpy(changed, text, at + 1);
			memcpy(changed + at + 1, text + at, n_bytes - at);
			(void)check(&walk, changed, n_bytes + 1);
		}
		fsl_trace_shapes_destroy(walk.shapes);
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

/* Reads {"ph":"X","args":{"MHz":7,"nested":"@nested"}} with escaped quotes. */
static struct fsl_trace_event read_nested(const char *nested)
{
	static struct fsl_trace_event event;
	char text[16384];
	size_t n = 0;
	n += (size_t)snprintf(text, sizeof(text),
			      "{\"ph\":\"X\",\"args\":{\"MHz\":7,\"nested\":\"");
	for (const char *at = nested; *at != '\0'; at++) {
		if (*at == '\'') {
			text[n++] = '\\';
		}
		text[n++] = *at == '\'' ? '"' : *at;
	}
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\"}}");
	assert_int_equal(read_one(text, n, &event), n);
	return event;
}

static void args_in_a_text_are_taken_in(void **state)
{
	(void)state;
	struct fsl_trace_event event =
		read_nested("{'group': 'tp0', 'MHz': 1800, 'grid': [132, 1, 1], 'other': []}");
	assert_true(event.has_nested_args);
	assert_int_equal(event.args[MHZ], 1800);
	assert_int_equal(event.args[GRID], fsl_trace_sizes(132, 1, 1));
	assert_int_equal(event.texts[GROUP].length, 3);
	event = read_nested("{'group': 'a'}");
	assert_int_equal(event.args[MHZ], 7);
	assert_int_equal(event.texts[GROUP].length, 1);
}

static void texts_that_are_no_args_change_nothing(void **state)
{
	(void)state;
	static const char *const texts[] = {"",     "{",        "{'group': 'a'",   "['group']",
					    "nope", "{'a'}}}}", "{'group': 'a'}}", "{'MHz': 1,}"};
	static char longest[8300];
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct fsl_trace_event event = read_nested(texts[i]);
		assert_int_equal(event.args[MHZ], 7);
		assert_int_equal(event.texts[GROUP].length, 0);
	}
	memset(longest, ' ', sizeof(longest) - 1);
	memcpy(longest, "{'MHz': 1, 'x': '", 17);
	assert_int_equal(read_nested(longest).args[MHZ], 7);
}

int main(void)
{
	fsl_trace_words_init(&vocabulary.names, names, sizeof(names) / sizeof(names[0]));
	fsl_trace_words_init(&vocabulary.categories, categories, 1);
	fsl_trace_words_init(&process_words, processes, 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(args_in_a_text_are_taken_in),
		cmocka_unit_test(texts_that_are_no_args_change_nothing),
		cmocka_unit_test(usual_events_are_scanned),
		cmocka_unit_test(counters_are_told_under_keys_that_nobody_asks_for),
		cmocka_unit_test(counters_of_one_event_are_bounded),
		cmocka_unit_test(events_are_compared_with_those_before),
		cmocka_unit_test(names_are_looked_up_in_categories_that_want_them),
		cmocka_unit_test(a_full_tree_leaves_events_to_the_others),
		cmocka_unit_test(unusual_ones_are_left_to_the_tokenizer),
		cmocka_unit_test(every_changed_byte_is_read_alike),
		cmocka_unit_test(bytes_left_out_or_doubled_are_read_alike),
		cmocka_unit_test(a_cut_event_is_left_to_the_tokenizer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
