/*
 * Marker rows that are spelt as collectors spell them take a fast way, all others a way that allows
 * quotes, blanks and signs. The same rows in both spellings give the same operators, counts and
 * reasons, whatever is wrong with them.
 */
#include "tree.h"

#include "fuzz/memory_reader.h"
#include "fuzz/random_text.h"

enum { DOCUMENTS_N = 2000, ROWS_N = 30, TEXT_BYTES_MAX = 16 * 1024 };

struct reading {
	struct fsl_file file;
	struct fsl_sink sink;
};

/* One document in two spellings. */
struct pair {
	char usual[TEXT_BYTES_MAX], unusual[TEXT_BYTES_MAX];
	size_t n_usual, n_unusual;
};

static void add(char *text, size_t *length, const char *piece)
{
	size_t n = strlen(piece);
	assert_true(*length + n < TEXT_BYTES_MAX);
	memcpy(text + *length, piece, n + 1);
	*length += n;
}

static void add_both(struct pair *pair, const char *piece)
{
	add(pair->usual, &pair->n_usual, piece);
	add(pair->unusual, &pair->n_unusual, piece);
}

static void add_number(struct pair *pair, const char *number, uint64_t *random)
{
	static const char *const fronts[] = {" ", "\t", "\"", "\" ", "  "};
	static const char *const backs[] = {"", " ", "\"", "\t\"", "\t"};
	size_t i = random_below(random, sizeof(fronts) / sizeof(fronts[0]));
	add(pair->usual, &pair->n_usual, number);
	add(pair->unusual, &pair->n_unusual, fronts[i]);
	add(pair->unusual, &pair->n_unusual, number);
	add(pair->unusual, &pair->n_unusual, backs[i]);
	add_both(pair, ",");
}

/* @right, or now and then what only a careful reader tells from it. */
static const char *or_wrong(const char *right, uint64_t *random)
{
	static const char *const wrong[] = {
		"",
		"x",
		"1x",
		"x1",
		"-1",
		"+2",
		"-0",
		"2.0",
		"1 6",
		"0016",
		"2",
		"4294967295",
		"4294967296",
		"12345678",
		"1234567/",
		"123456:8",
		"1234567\xb1",
		"1750000000000000x00",
		"7258118400000000000",
		"7258118400000000001",
		"9223372036854775808",
		"9999999999999999999",
		"18446744073709551615",
		"18446744073709551616",
		"000000000000000000000000016",
		"100000000000000000000000000",
	};
	return random_below(random, 40) > 0
		       ? right
		       : wrong[random_below(random, sizeof(wrong) / sizeof(wrong[0]))];
}

static void add_row(struct pair *pair, size_t id, size_t what, uint64_t *random)
{
	static const char *const names[] = {"comm:A!g!f!1", "comm:HcclAllGather!t0_0!bfp16!4096",
					    "", "step:12", "A"};
	static const char *const flags[2][2] = {{"16", "32"}, {"2", "4"}};
	char number[32];
	add_number(pair, or_wrong(flags[random_below(random, 2)][what % 2], random), random);
	(void)snprintf(number, sizeof(number), "%zu", id * 37);
	add_number(pair, or_wrong(number, random), random);
	add_both(pair, "1,");
	const char *name = names[random_below(random, 20) > 0 ? 1 : random_below(random, 5)];
	add_both(pair, what == 0 ? name : "");
	add_both(pair, ",");
	add_number(pair, or_wrong(what < 2 ? "0" : "1", random), random);
	(void)snprintf(number, sizeof(number), "175000000000%zu",
		       id * 1000 + what * 100 + random_below(random, 3));
	add_number(pair, or_wrong(number, random), random);
	add_both(pair, random_below(random, 30) > 0 ? "7,7,7,7\n" : "7,7,7\n");
}

static void generate(struct pair *pair, uint64_t seed)
{
	uint64_t random = seed;
	pair->n_usual = pair->n_unusual = 0;
	add_both(pair, MARKER_HEADER);
	for (size_t i = 0; i < ROWS_N; i++) {
		add_row(pair, 1 + i / 4 + random_below(&random, 2), i % 4, &random);
	}
	add_both(pair, MARKER_HEADER); /* also: the end of the window is far */
	add_both(pair, MARKER_HEADER);
}

static void read_text(struct reading *reading, const char *text, size_t length)
{
	*reading = (struct reading){.file = {.path = "spelling", .message = ""}};
	struct fsl_reader *reader = memory_reader(text, length);
	assert_non_null(reader);
	assert_int_equal(fsl_sink_init(&reading->sink, &reading->file, NULL), FSL_OK);
	assert_int_equal(fsl_format_by_name("mspti_csv")->read(reader, &reading->sink, NULL),
			 FSL_OK);
	fsl_reader_close(reader);
}

/* The message without the offset, which spelling moves. */
static void message_of(const struct reading *reading, char *out, size_t size)
{
	const char *message = reading->file.message;
	const char *offset = strstr(message, "offset=");
	const char *rest = offset != NULL ? strchr(offset, ',') : NULL;
	int n_front = (int)(rest != NULL ? (size_t)(offset - message) : strlen(message));
	(void)snprintf(out, size, "%.*s%s", n_front, message, rest != NULL ? rest : "");
}

static void assert_alike(const struct reading *a, const struct reading *b, uint64_t seed)
{
	char messages[2][1024];
	const struct fsl_rank *left = &a->sink.events, *right = &b->sink.events;
	message_of(a, messages[0], sizeof(messages[0]));
	message_of(b, messages[1], sizeof(messages[1]));
	if (strcmp(messages[0], messages[1]) != 0 ||
	    memcmp(a->file.n_dropped, b->file.n_dropped, sizeof(a->file.n_dropped)) != 0) {
		fail_msg("seed=%llu: \"%s\" instead of \"%s\"", (unsigned long long)seed,
			 messages[0], messages[1]);
	}
	assert_int_equal(a->file.n_records, b->file.n_records);
	assert_int_equal(left->n_ops, right->n_ops);
	assert_int_equal(left->n_remnants, right->n_remnants);
	assert_int_equal(left->last_event_ns, right->last_event_ns);
	assert_int_equal(left->open_op_id, right->open_op_id);
	assert_int_equal(left->is_restarted, right->is_restarted);
	if (left->n_ops > 0) {
		assert_memory_equal(left->ops, right->ops, left->n_ops * sizeof(*left->ops));
	}
}

static void rows_are_read_alike_in_the_usual_spelling_and_in_others(void **state)
{
	(void)state;
	static struct pair pair;
	size_t n_ops = 0, n_malformed = 0;
	for (uint64_t seed = 1; seed <= DOCUMENTS_N; seed++) {
		struct reading usual, unusual;
		generate(&pair, seed);
		read_text(&usual, pair.usual, pair.n_usual);
		read_text(&unusual, pair.unusual, pair.n_unusual);
		assert_alike(&usual, &unusual, seed);
		n_ops += usual.sink.events.n_ops;
		n_malformed += usual.file.n_dropped[FSL_DROP_MALFORMED];
		fsl_sink_fini(&usual.sink);
		fsl_sink_fini(&unusual.sink);
	}
	assert_true(n_ops > DOCUMENTS_N && n_malformed > DOCUMENTS_N); /* both were there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_alike_in_the_usual_spelling_and_in_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
