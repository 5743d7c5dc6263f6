/* A walk with a second thread tells what a walk without tells, in the same order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/trace_ahead.h"
#include "fuzz/memory_reader.h"

enum { STREAM, GRID, GROUP, N_ARGS };
enum { N_EVENTS = 1500 };

static const struct fsl_trace_word names[] = {
	{1, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
};
static const struct fsl_trace_word categories[] = {
	{1, FSL_TRACE_WHOLE, "kernel", NULL},
	{2, FSL_TRACE_WHOLE, "cpu_op", NULL},
};
static const struct fsl_trace_arg args[N_ARGS] = {
	[STREAM] = {"stream", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[GRID] = {"grid", 0, NULL, FSL_TRACE_ARG_SIZES},
	[GROUP] = {"group", 0, NULL, FSL_TRACE_ARG_TEXT},
};
static struct fsl_trace_vocabulary vocabulary = {
	.wants_counters = true, .n_args = N_ARGS, .args = args};

/* A document, or what a walk told. */
struct text {
	char *data;
	size_t length, capacity;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
	va_list list;
	if (text->capacity - text->length < 16384) {
		text->capacity = 2 * text->capacity + 65536;
		text->data = realloc(text->data, text->capacity);
		assert_non_null(text->data);
	}
	va_start(list, format);
	int n = vsnprintf(text->data + text->length, text->capacity - text->length, format, list);
	va_end(list);
	assert_true(n >= 0 && (size_t)n < text->capacity - text->length);
	text->length += (size_t)n;
}

static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	struct text *told = context;
	(void)err;
	add(told,
	    "%c %d %d %" PRId64 " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64,
	    event->phase, event->name, event->category, event->number, event->has_id, event->pid,
	    event->tid, event->id, event->ts_ns, event->dur_ns);
	add(told, " %.*s %.*s", (int)event->whole_name.length, event->whole_name.text,
	    (int)event->whole_category.length, event->whole_category.text);
	for (size_t i = 0; i < N_ARGS; i++) {
		add(told, " %" PRId64 " %.*s", event->args[i], (int)event->texts[i].length,
		    event->texts[i].text);
	}
	for (size_t i = 0; i < event->n_counters; i++) {
		add(told, " %.*s=%" PRId64, (int)event->counters[i].key.length,
		    event->counters[i].key.text, event->counters[i].millionths);
	}
	add(told, " %d %zu\n", event->has_counters, event->n_key_bytes);
	return FSL_OK;
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	(void)err;
	add(context, "drop %" PRIu64 " line %" PRIu64 " %s\n", fsl_json_offset(json),
	    fsl_json_line(json), reason);
	return FSL_OK;
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	(void)err;
	add(context, "fault %d %s\n", status, fsl_error_root(own));
	return FSL_OK;
}

static struct text walk(const struct text *document, size_t block_bytes)
{
	struct text told = {0};
	struct fsl_trace_walked walked = {0};
	struct fsl_reader *reader = memory_reader(document->data, document->length);
	const struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
						    .context = &told,
						    .has_second_thread = block_bytes > 0,
						    .block_bytes = block_bytes,
						    .fault_of = fsl_trace_event_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault};
	assert_non_null(reader);
	assert_int_equal(fsl_trace_walk(&walked, reader, &listener, NULL), FSL_OK);
	fsl_reader_close(reader);
	add(&told, "events %" PRIu64 " cut %d faults %d\n", walked.n_events, walked.is_cut,
	    walked.has_faults);
	return told;
}

static void expect_alike(const struct text *document)
{
	static const size_t sizes[] = {1 << 10, 64 << 10, 1 << 20};
	struct text alone = walk(document, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct text told = walk(document, sizes[i]);
		assert_string_equal(told.data, alone.data);
		free(told.data);
	}
	free(alone.data);
}

/* Most events are spelt as profilers do; others are for the tokenizer, or have faults. */
static void add_event(struct text *text, int i, const char *between)
{
	static const char *const odd[] = {
		"{\"ph\": \"X\", \"name\": \"},{\\\"ph\\\": \\\"X\\\"},{\", \"ts\": 1, \"dur\": 2}",
		"{\"ph\": \"X\", \"name\": \"\xc3\xa9\", \"ts\": 3, \"dur\": 2}",
		"{\"ph\": \"X\", \"ts\": 3, \"dur\": 2, \"args\": {\"list\": [{\"ph\": \"X\"}], \"rank\": 4}}",
		"{\"name\": \"no phase\"}",
		"{\"ph\": \"C\", \"name\": \"rate\", \"ts\": 9, \"args\": {\"tx\": 5.5, \"rx\": 7}}",
		"[1, {\"ph\": \"X\"}, {\"ph\": \"M\", \"name\": \"in a list\"}]",
		"{}",
		"{\"ph\": \"M\", \"name\": \"process_name\", \"args\": {\"group\": \"},{\"}}",
	};
	if (i > 0) {
		add(text, "%s", between);
	}
	if (i % 7 == 3) {
		add(text, "%s", odd[(size_t)i / 7 % (sizeof(odd) / sizeof(odd[0]))]);
	} else if (i % 300 == 50) { /* longer than a block, and than what is read behind it */
		add(text, "{\"ph\": \"X\", \"name\": \"%*d\", \"ts\": 5, \"dur\": 1}", 6000, i);
	} else if (i % 100 == 0) {
		add(text,
		    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"ProfilerStep#%d\", "
		    "\"pid\": 1, \"tid\": 2, \"ts\": %d.25, \"dur\": 0.5}",
		    i, i);
	} else {
		add(text,
		    "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"},{ k%d\", \"pid\": %d, \"tid\": "
		    "\"t%d\",\n\"ts\": %d.125, \"dur\": %d, \"id\": %d, \"args\": {\"grid\": [%d, 1, "
		    "1], \"stream\": %d, \"group\": \"g%d\", \"other\": [1, [2, 3]]}}",
		    i % 3 == 0 ? "kernel" : "other", i, i % 4, i % 5, 1000 + i, i % 9, i, i % 64,
		    i % 11, i % 13);
	}
}

static struct text make(const char *head, const char *between, const char *tail)
{
	struct text text = {0};
	add(&text, "%s", head);
	for (int i = 0; i < N_EVENTS; i++) {
		add_event(&text, i, between);
	}
	add(&text, "%s", tail);
	return text;
}

static void names_like_boundaries_and_other_spellings_change_nothing(void **state)
{
	static const struct {
		const char *head, *between, *tail;
	} ways[] = {
		{"[", ",", "]"},
		{"{\"devices\": [{\"ph\": \"X\"}, {\"ph\": \"M\"}],\n\"traceEvents\": [\n", ",\n  ",
		 "\n], \"more\": [1, {\"ph\": \"M\"}, {\"ph\": \"M\"}]}"},
		{"[", " ,", "]"},
		{"[", ",\n                         ", "]\n[{\"ph\": \"M\"}, {\"ph\": \"M\"}]"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct text text = make(ways[i].head, ways[i].between, ways[i].tail);
		expect_alike(&text);
		free(text.data);
	}
}

static void cut_and_broken_files_tell_the_same(void **state)
{
	static const char breaks[] = {'\x01', '"', '{', '}', ']', '\xff'};
	(void)state;
	struct text text = make("{\"traceEvents\": [\n", ",\n", "]}");
	size_t length = text.length;
	for (size_t i = 0; i < 4; i++) {
		text.length = length * (2 * i + 1) / 8 + i;
		expect_alike(&text);
	}
	text.length = length;
	for (size_t i = 0; i < sizeof(breaks); i++) {
		size_t at = length * (i + 1) / (sizeof(breaks) + 2);
		char before = text.data[at];
		text.data[at] = breaks[i];
		expect_alike(&text);
		text.data[at] = i % 2 == 0 ? before : breaks[i]; /* some stay for the next round */
	}
	free(text.data);
}

static void files_that_are_mostly_for_the_tokenizer_tell_the_same(void **state)
{
	static const int n_odd[] = {300, 1000};
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct text text = {0};
		add(&text, "[{\"ph\": \"M\"}");
		for (int i = 0; i < 1200; i++) {
			add(&text,
			    ",\n{\"ph\": \"X\", \"name\": \"%s %d\", \"ts\": %d, \"dur\": 1}",
			    i < n_odd[k] ? "\\\"},{\\\"" : "plain", i, i);
		}
		add(&text, "]");
		expect_alike(&text);
		free(text.data);
	}
}

/* Walks over a document of @n events alone by asking for one after the other. */
static void expect_found(int n, size_t block_bytes)
{
	struct text text = {0}, told = {0}, expected = {0};
	struct fsl_trace_event event;
	struct fsl_trace_scanned scanned = {0};
	const struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
						    .has_second_thread = true,
						    .block_bytes = block_bytes,
						    .fault_of = fsl_trace_event_fault};
	add(&text, "[0");
	for (int i = 0; i < n; i++) {
		add(&text, ", {\"ph\": \"X\", \"name\": \"k%d\", \"ts\": %d, \"dur\": 1}", i, i);
		add(&expected, "k%d ", i);
	}
	add(&text, "]                                ");
	struct fsl_reader *reader = memory_reader(text.data, text.length);
	assert_non_null(reader);
	struct fsl_trace_ahead *ahead = fsl_trace_ahead_create(reader, &listener);
	assert_non_null(ahead);
	fsl_trace_event_clear(&vocabulary, &event);
	assert_false(fsl_trace_ahead_find(ahead, 1, &event, &scanned));
	scanned.next_offset = 4;
	while (scanned.next_offset > 0) {
		assert_true(fsl_trace_ahead_find(ahead, scanned.next_offset, &event, &scanned));
		add(&told, "%.*s ", (int)event.whole_name.length, event.whole_name.text);
	}
	assert_string_equal(told.data, expected.data);
	assert_int_equal(scanned.end_offset, text.length - 33);
	assert_false(fsl_trace_ahead_find(ahead, scanned.end_offset, &event, &scanned));
	assert_true(fsl_trace_ahead_is_on(ahead));
	fsl_trace_ahead_destroy(ahead);
	fsl_reader_close(reader);
	free(text.data);
	free(told.data);
	free(expected.data);
}

static void all_events_of_a_plain_file_are_scanned_ahead(void **state)
{
	(void)state;
	expect_found(1000, 1 << 10);
	expect_found(333, 500);
	expect_found(20, 64 << 10);
}

static void small_files_and_listeners_without_a_thread_have_none(void **state)
{
	struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
					      .fault_of = fsl_trace_event_fault};
	struct fsl_reader *reader = memory_reader("[{}]", 4);
	(void)state;
	assert_non_null(reader);
	assert_null(fsl_trace_ahead_create(reader, &listener));
	listener.has_second_thread = true;
	assert_null(fsl_trace_ahead_create(reader, &listener));
	fsl_reader_close(reader);
}

struct counts {
	size_t n_taken, n_dropped, n_faults;
};

static enum fsl_status count_taken(void *context, const struct fsl_trace_event *event,
				   struct fsl_error *err)
{
	(void)event;
	(void)err;
	((struct counts *)context)->n_taken++;
	return FSL_OK;
}

static enum fsl_status count_dropped(void *context, const struct fsl_json *json, const char *reason,
				     struct fsl_error *err)
{
	(void)json;
	(void)reason;
	(void)err;
	((struct counts *)context)->n_dropped++;
	return FSL_OK;
}

static enum fsl_status count_fault(void *context, enum fsl_status status,
				   const struct fsl_error *own, struct fsl_error *err)
{
	(void)err;
	assert_int_equal(status, FSL_ERR_FORMAT);
	assert_non_null(strstr(fsl_error_root(own), "no event among"));
	((struct counts *)context)->n_faults++;
	return FSL_OK;
}

/* Walks over @n values that are no events between two events; one more event may stand in their
 * middle. */
static struct counts count(size_t n, const char *value, bool has_middle)
{
	static const char event[] = "{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 2}";
	struct counts counts = {0};
	struct fsl_trace_walked walked = {0};
	struct text document = {0};
	add(&document, "[%s", event);
	for (size_t i = 0; i < n; i++) {
		add(&document, ",%s", has_middle && i == n / 2 ? event : value);
	}
	add(&document, ",%s]", event);
	struct fsl_reader *reader = memory_reader(document.data, document.length);
	const struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
						    .context = &counts,
						    .fault_of = fsl_trace_event_fault,
						    .take = count_taken,
						    .drop = count_dropped,
						    .fault = count_fault};
	assert_non_null(reader);
	assert_int_equal(fsl_trace_walk(&walked, reader, &listener, NULL), FSL_OK);
	assert_int_equal(walked.is_cut, counts.n_faults > 0);
	fsl_reader_close(reader);
	free(document.data);
	return counts;
}

static void many_values_without_an_event_end_the_walk(void **state)
{
	enum { N_MAX = 1 << 18 };
	static const char *const values[] = {"{}", "7"};
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct counts counts = count(N_MAX + 5, values[i], false);
		assert_int_equal(counts.n_taken, 1);
		assert_int_equal(counts.n_dropped, N_MAX);
		assert_int_equal(counts.n_faults, 1);
	}
	struct counts counts = count(N_MAX + 5, "{}", true);
	assert_int_equal(counts.n_taken, 3);
	assert_int_equal(counts.n_dropped, N_MAX + 4);
	assert_int_equal(counts.n_faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_like_boundaries_and_other_spellings_change_nothing),
		cmocka_unit_test(cut_and_broken_files_tell_the_same),
		cmocka_unit_test(files_that_are_mostly_for_the_tokenizer_tell_the_same),
		cmocka_unit_test(all_events_of_a_plain_file_are_scanned_ahead),
		cmocka_unit_test(small_files_and_listeners_without_a_thread_have_none),
		cmocka_unit_test(many_values_without_an_event_end_the_walk),
	};
	fsl_trace_words_init(&vocabulary.names, names, sizeof(names) / sizeof(names[0]));
	fsl_trace_words_init(&vocabulary.categories, categories,
			     sizeof(categories) / sizeof(categories[0]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
