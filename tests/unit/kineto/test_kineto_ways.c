/*
 * Events that are whole in memory and spelt as those before are compared with them; others are
 * scanned, and all that is unusual is left to the tokenizer. Fed in pieces of a few bytes, no event
 * is ever whole in memory. So the same trace gives the same ranks, counts and messages as a whole
 * and in pieces, whatever is wrong with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/functions.h"
#include "fuzz/fuzz_profile_ways.h"
#include "fuzz/random_text.h"
#include "source/kineto/read.h"

enum { DOCUMENTS_N = 1500 / FSL_TEST_COST, PIECE_BYTES = 19, BEHIND_BYTES = 300 };

static enum fsl_status read_trace(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, struct fsl_error *err)
{
	rank->info.host_name = "";
	rank->functions = fsl_calloc(1, sizeof(*rank->functions));
	return rank->functions != NULL ? fsl_kineto_read_file(rank, input, err) : FSL_ERR_MEMORY;
}

static bool functions_are_alike(const struct fsl_functions *a, const struct fsl_functions *b)
{
	bool is_alike = a->n_items == b->n_items && a->window_ns == b->window_ns &&
			a->compute_ns == b->compute_ns && a->busy_ns == b->busy_ns;
	for (size_t i = 0; i < a->n_items && is_alike; i++) {
		const struct fsl_function *x = &a->items[i], *y = &b->items[i];
		is_alike = x->class == y->class && x->count == y->count &&
			   x->total_ns == y->total_ns && x->exclusive_ns == y->exclusive_ns &&
			   strcmp(x->name, y->name) == 0 && strcmp(x->shape, y->shape) == 0;
	}
	return is_alike;
}

struct totals {
	uint64_t n_events, n_comms, n_functions, n_broken;
};

static void check(const struct document *document, uint64_t seed, struct totals *totals)
{
	struct fuzz_way whole, pieces;
	assert_true(fuzz_way_begin(&whole, read_trace,
				   memory_reader(document->text, document->length)));
	assert_true(fuzz_way_begin(&pieces, read_trace,
				   chunked_reader(document->text, document->length, PIECE_BYTES)));
	if (!fuzz_ways_are_alike(&whole, &pieces) ||
	    !functions_are_alike(whole.profile.ranks->functions, pieces.profile.ranks->functions)) {
		fail_msg("seed=%" PRIu64 ": \"%s\" instead of \"%s\" for\n%s", seed,
			 whole.file.message, pieces.file.message, document->text);
	}
	totals->n_events += whole.profile.ranks->trace.n_events;
	totals->n_comms += whole.profile.ranks->n_comms;
	totals->n_functions += whole.profile.ranks->functions->n_items;
	totals->n_broken += whole.file.state != FSL_FILE_READ;
	fsl_profile_fini(&whole.profile);
	fsl_profile_fini(&pieces.profile);
}

/* Events as the profiler spells them; "#" is a number, "@" a whole one, "~" white space. */
static const char *const templates[] = {
	"{~'ph': 'X', 'cat': 'kernel', 'name': 'gemm<float>(int)', 'pid': 0, 'tid': 7,~'ts': #, "
	"'dur': #,~'args': {~'External id': @, 'stream': 7, 'correlation': @, 'warps': #,~'grid': "
	"[@, 1, 8], 'block': [128, 1, 1]~}~}",
	"{~'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce(int)', 'pid': 0, 'tid': "
	"9,~'ts': #, 'dur': #,~'args': {~'stream': 9, 'correlation': @, 'Collective name': "
	"'allreduce', 'In msg nelems': @, 'Process Group Name': '0', 'Seq': @~}~}",
	"{~'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 3, 'tid': @,~'ts': "
	"#, 'dur': #,~'args': {~'cbid': 211, 'correlation': @~}~}",
	"{~'ph': 'X', 'cat': 'python_function', 'name': 'module.py(@): call', 'pid': 3, 'tid': "
	"3,~'ts': #, 'dur': #,~'args': {~'Python id': @, 'Python parent id': null~}~}",
	"{~'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 3, 'tid': 3,~'ts': #, 'dur': "
	"#,~'args': {~'Input Dims': [[@, 4], [], 'x'], 'Ev Idx': @~}~}",
	"{~'ph': 's', 'id': @, 'pid': 3, 'tid': 3, 'ts': #,~'cat': 'ac2g', 'name': 'ac2g'~}",
	"{~'ph': 'i', 'cat': 'cpu_instant_event', 's': 't', 'name': '[memory]', 'ts': #,~'args': "
	"{~'Bytes': -@, 'Total Allocated': @, 'Total Reserved': @~}~}",
	"{~'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#@', 'pid': 3, 'tid': "
	"3,~'ts': #, 'dur': #~}",
};

/* A number, or now and then something else. */
static void add_number(struct document *document, bool is_whole, uint64_t *random)
{
	static const char *const others[] = {"",
					     "-1",
					     "+2",
					     "01",
					     "1.",
					     ".5",
					     "1e3",
					     "1E-2",
					     "-0",
					     "0.0",
					     "'12'",
					     "'12.5'",
					     "null",
					     "true",
					     "[1]",
					     "{}",
					     "1 2",
					     "4102444800000000",
					     "99999999999999999999",
					     "1.2345",
					     "'x\\n'",
					     "12.5e1",
					     "'\\u0031'"};
	char text[48];
	uint64_t number = random_next(random);
	number >>= 40 + random_below(random, 22);
	if (random_below(random, 60) == 0) {
		document_add(document,
			     others[random_below(random, sizeof(others) / sizeof(*others))]);
		return;
	}
	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	document_add(document, text);
	if (!is_whole && random_below(random, 4) > 0) {
		(void)snprintf(text, sizeof(text), ".%03d", (int)random_below(random, 1000));
		document_add(document, random_below(random, 40) > 0 ? text : ".25");
	}
}

static void add_event(struct document *document, const char *from, uint64_t *random)
{
	static const char *const spaces[] = {"", " ", "\n", "\n  ", "\t"};
	size_t usual = random_below(random, 40) > 0 ? 2 : random_below(random, 5);
	for (; *from != '\0'; from++) {
		char letter[2] = {*from == '\'' ? '"' : *from, '\0'};
		if (*from == '#' && from[1] != '@') {
			add_number(document, false, random);
		} else if (*from == '@') {
			add_number(document, true, random);
		} else if (*from == '~') {
			document_add(document, spaces[usual]);
		} else {
			document_add(document, letter);
		}
	}
}

static void make(struct document *document, uint64_t *random)
{
	static const char *const separators[] = {",\n  ", ",", ", ", "\n,",
						 ",\n                    "};
	*document = (struct document){.length = 0};
	document_add(document, "{\"schemaVersion\": 1, \"traceEvents\": [");
	size_t n = 2 + random_below(random, 14);
	for (size_t i = 0; i < n; i++) {
		size_t usual = random_below(random, 8) > 0 ? 0 : random_below(random, 5);
		document_add(document, i > 0 ? separators[usual] : "\n  ");
		add_event(document,
			  templates[random_below(random, sizeof(templates) / sizeof(*templates))],
			  random);
	}
	document_add(document, "], \"baseTimeNanoseconds\": 1767189312000000000}");
	size_t n_room = DOCUMENT_BYTES_MAX - document->length;
	for (size_t i = 0; i < BEHIND_BYTES && i < n_room; i++) {
		document_add(document, " ");
	}
}

static void check_totals(const struct totals *totals)
{
	assert_true(totals->n_events > 3 * DOCUMENTS_N);
	assert_true(totals->n_comms > DOCUMENTS_N / 4);
	assert_true(totals->n_functions > DOCUMENTS_N);
	assert_true(totals->n_broken > DOCUMENTS_N / 8);
	assert_true(totals->n_broken < DOCUMENTS_N * 9 / 10);
}

static void traces_are_read_alike_as_a_whole_and_in_pieces(void **state)
{
	struct totals totals = {0};
	(void)state;
	for (uint64_t seed = 1; seed <= DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		struct document document;
		make(&document, &random);
		check(&document, seed, &totals);
	}
	check_totals(&totals);
}

static void so_are_traces_with_a_byte_that_was_changed(void **state)
{
	static const char bytes[] = "\"\\,:{}[] 09.e-\n\x01\xc3";
	struct totals totals = {0};
	(void)state;
	for (uint64_t seed = 1; seed <= DOCUMENTS_N; seed++) {
		uint64_t random = seed * 77;
		struct document document;
		make(&document, &random);
		document.text[random_below(&random, document.length)] =
			bytes[random_below(&random, sizeof(bytes) - 1)];
		check(&document, seed, &totals);
	}
	assert_true(totals.n_broken > DOCUMENTS_N / 4);
}

enum { EVENT_BYTES = 200 };

/* An event on a thread of its own. */
static int write_on_thread(char *text, size_t i)
{
	return snprintf(text, EVENT_BYTES,
			"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"a\",\"pid\":1,"
			"\"tid\":%zu,\"ts\":%zu,\"dur\":1}",
			i, i);
}

/* A collective of a group of its own. */
static int write_of_group(char *text, size_t i)
{
	return snprintf(text, EVENT_BYTES,
			"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"pid\":1,"
			"\"tid\":7,\"ts\":%zu,\"dur\":1,\"args\":{\"Collective name\":"
			"\"allreduce\",\"Process Group Name\":\"%zu\"}}",
			i, i);
}

/* @limit events are read, and one more is told with @message. */
static void expect_limit(size_t limit, int (*write)(char *text, size_t i), const char *message)
{
	for (size_t n = limit; n <= limit + 1; n++) {
		char *text = fsl_calloc(n + 2, EVENT_BYTES);
		size_t length = 0;
		struct fuzz_way way;
		assert_non_null(text);
		for (size_t i = 0; i < n; i++) {
			text[length++] = i > 0 ? ',' : '[';
			length += (size_t)write(text + length, i);
		}
		text[length++] = ']';
		assert_true(fuzz_way_begin(&way, read_trace, memory_reader(text, length)));
		assert_int_equal(way.profile.ranks->trace.n_events, n);
		assert_int_equal(way.file.state, n > limit ? FSL_FILE_PARTIAL : FSL_FILE_READ);
		assert_int_equal(strstr(way.file.message, message) != NULL, n > limit);
		fsl_profile_fini(&way.profile);
		fsl_free(text);
	}
}

static void threads_and_groups_beyond_a_limit_are_told(void **state)
{
	(void)state;
	expect_limit(1 << 14, write_on_thread, "too many threads");
	expect_limit(1 << 10, write_of_group, "too many process groups");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces_are_read_alike_as_a_whole_and_in_pieces),
		cmocka_unit_test(so_are_traces_with_a_byte_that_was_changed),
		cmocka_unit_test(threads_and_groups_beyond_a_limit_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
