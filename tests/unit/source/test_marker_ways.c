/*
 * Markers that are whole in memory and spelt as usual take a fast way, all others a careful one.
 * Fed in pieces of a few bytes, no record is ever whole in memory. So the same document gives the
 * same operators, counts and messages as a whole and in pieces, whatever is wrong with it.
 */
#include "tree.h"

#include "fuzz/memory_reader.h"
#include "fuzz/random_text.h"
#include "fuzz/two_ways.h"

enum { DOCUMENTS_N = 4000 / FSL_TEST_COST, PIECE_BYTES = 21 };

/* Counts over all documents, so that a test can see that it tested something. */
struct totals {
	size_t n_ops, n_broken;
};

static void check(const char *format, const struct document *document, uint64_t seed,
		  struct totals *totals)
{
	struct reading whole, pieces;
	assert_true(reading_begin(&whole, format, memory_reader(document->text, document->length)));
	assert_true(reading_begin(&pieces, format,
				  chunked_reader(document->text, document->length, PIECE_BYTES)));
	if (!reading_is_alike(&whole, &pieces)) {
		fail_msg("seed=%llu: \"%s\" instead of \"%s\" for\n%s", (unsigned long long)seed,
			 whole.file.message, pieces.file.message, document->text);
	}
	totals->n_ops += whole.sink.events.n_ops;
	totals->n_broken += whole.file.state != FSL_FILE_READ;
	reading_end(&whole);
	reading_end(&pieces);
}

static void check_totals(const struct totals *totals)
{
	assert_true(totals->n_ops > 3 * DOCUMENTS_N);
	assert_true(totals->n_broken > DOCUMENTS_N / 2 && totals->n_broken < DOCUMENTS_N);
}

/* @usual, or now and then something else. */
static const char *or_else(const char *usual, const char *const *others, size_t n_others,
			   uint64_t *random)
{
	return random_below(random, 120) > 0 ? usual : others[random_below(random, n_others)];
}

static const char *or_wrong(const char *usual, uint64_t *random)
{
	static const char *const others[] = {"",
					     "x",
					     "-1",
					     "+2",
					     "-0",
					     "1.5",
					     "1e3",
					     "016",
					     "2",
					     "4294967296",
					     "1234567/",
					     "\"16\"",
					     "\"2\"",
					     "null",
					     "7258118400000000000",
					     "7258118400000000001",
					     "18446744073709551615",
					     "18446744073709551616",
					     "100000000000000000000000000",
					     "{}",
					     "[1]",
					     "1 "};
	return or_else(usual, others, sizeof(others) / sizeof(others[0]), random);
}

struct row {
	char id[32], time[32];
	const char *flag, *source, *name;
};

static struct row random_row(size_t idx, uint64_t *random)
{
	static const char *const names[] = {"comm:A!g!f!1", "",     "step:12", "a\\\"b", "\\u0041",
					    "\xc3\xa9",     "\xff", "a\tb",    "A!b!c!2"};
	static const char *const flags[2][2] = {{"16", "32"}, {"2", "4"}};
	size_t what = idx % 4;
	struct row row = {
		.flag = or_wrong(flags[random_below(random, 2)][what % 2], random),
		.source = or_wrong(what < 2 ? "0" : "1", random),
		.name = what > 0 ? ""
				 : or_else("comm:HcclAllGather!t0_0!bfp16!4096", names,
					   sizeof(names) / sizeof(names[0]), random),
	};
	char number[32];
	(void)snprintf(number, sizeof(number), "%zu",
		       1 + idx / 4 + (random_below(random, 20) == 0));
	(void)snprintf(row.id, sizeof(row.id), "%s", or_wrong(number, random));
	(void)snprintf(number, sizeof(number), "175000000000%zu", 1000 + idx * 100);
	(void)snprintf(row.time, sizeof(row.time), "%s", or_wrong(number, random));
	return row;
}

static void add_csv(struct document *document, const struct row *row, uint64_t *random)
{
	static const char *const ends[] = {"7,7,7,7\r\n",   "7,7,7\n",     "7,7,7,7,7\n",    "\n",
					   "7,\"7\",7,7\n", "7,7,7,\"7\n", "7,7,7,7\n\n\r\n"};
	char text[512];
	(void)snprintf(text, sizeof(text), "%s,%s,1,%s,%s,%s,%s", row->flag, row->id, row->name,
		       row->source, row->time,
		       or_else("7,7,7,7\n", ends, sizeof(ends) / sizeof(ends[0]), random));
	document_add(document, text);
}

static void csv_is_read_alike_as_a_whole_and_in_pieces(void **state)
{
	(void)state;
	static struct document document;
	struct totals totals = {0, 0};
	for (uint64_t seed = 1; seed <= DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		document.length = 0;
		document_add(&document, MARKER_HEADER);
		for (size_t i = 0; i < 40; i++) {
			struct row row = random_row(i, &random);
			add_csv(&document, &row, &random);
		}
		if (seed % 2 == 0) {
			document_mutate(&document, "\"\",,\n\r a1", &random);
		}
		check("mspti_csv", &document, seed, &totals);
	}
	check_totals(&totals);
}

enum { SHAPES_N = 7 };

static void add_json(struct document *document, const struct row *row, size_t usual,
		     uint64_t *random)
{
	/* Text around flag, id, name, source and time. */
	static const char *const shapes[SHAPES_N][6] = {
		{"{\"Flag\": ", ",\"Id\":", ",\"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":", ",\"p\":{\"t\":7}}"},
		{"{\"Flag\": ", ",\"Id\":", ",\"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":", ",\"p\":{\"t\":-7}}"},
		{"{\"Flag\":", ",\n\"Id\":", ",\"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":", "}"},
		{"{\"Flag\":", ",\"Id\":", ",\"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":", ",\"Id\":8}"},
		{"{\"Flag\":", ",\"\\u0049d\":", ",\"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":", "}"},
		{"{\"Flag\":", ",\"Id\":", ",\"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":", ",\"p\":[0,\"x\",true,null]}"},
		{"{\"p\":{\"Id\":3,\"t\":null},\"Flag\":\"", "\",\"Id\":", ", \"Name\":\"",
		 "\",\"SourceKind\":", ",\"Timestamp\":\"", "\"\r\n}"},
	};
	static const char *const ends[] = {"", ",\n", "\n,", "]\n[", "][", ",,", "]", " ,  "};
	const char *const values[] = {row->flag, row->id, row->name, row->source, row->time};
	size_t shape = random_below(random, 30) > 0 ? usual : random_below(random, SHAPES_N);
	if (document->length > 1) {
		document_add(document, or_else(",", ends, sizeof(ends) / sizeof(ends[0]), random));
	}
	for (size_t i = 0; i < 5; i++) {
		document_add(document, shapes[shape][i]);
		document_add(document, values[i]);
	}
	document_add(document, shapes[shape][5]);
}

static void json_is_read_alike_as_a_whole_and_in_pieces(void **state)
{
	(void)state;
	static struct document document;
	struct totals totals = {0, 0};
	for (uint64_t seed = 1; seed <= DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		document.length = 0;
		document_add(&document, "[");
		for (size_t i = 0; i < 28; i++) {
			struct row row = random_row(i, &random);
			add_json(&document, &row, seed % SHAPES_N, &random);
		}
		document_add(&document, "]");
		if (seed / SHAPES_N % 2 == 0) {
			document_mutate(&document, "\"\\{}[]:,\n 01x", &random);
		}
		check("mspti_json", &document, seed, &totals);
	}
	check_totals(&totals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_is_read_alike_as_a_whole_and_in_pieces),
		cmocka_unit_test(json_is_read_alike_as_a_whole_and_in_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
