/* Catalogs of messages, and sentences read back against them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/catalog.h"
#include "base/columns.h"
#include "base/mem.h"

enum { HEADER_WORDS = 7, MESSAGES_N = 12, BYTES = 1024 };

static const char *const pairs[MESSAGES_N][2] = {
	{"%s; next: rank %d, %s", "%1$s；其次是 rank %2$s，%3$s"},
	{"%s waits for %s", "%2$s让 %1$s 等待"},
	{"below %.1f ms", "低于 %s ms"},
	{"cannot read", "无法读取"},
	{"since %d", "自 %s 起"},
	{"host", "主机"},
	{"group %s", "通信组 %s"},
	{"costs 3 % of a step", "损失为 step 的 3 %"},
	{"%d %% of the time", "占时间的 %s %%"},
	{"HANG: %s", "卡死：%s"},
	{"rank %d holds %s up: it is longer at work; %s", "rank %1$s 拖慢 %2$s：工作更久；%3$s"},
	{"group %s is not complete, %d ranks", "通信组 %s 不完整，%s 个 rank"},
};

/* The bytes of a .mo file; a NUL follows. */
static char *make(size_t *length)
{
	char *bytes = fsl_calloc(BYTES, 1);
	assert_non_null(bytes);
	uint32_t header[HEADER_WORDS] = {0x950412de, 0, MESSAGES_N, 28, 28 + 8 * MESSAGES_N};
	size_t at = 28 + 16 * MESSAGES_N;
	memcpy(bytes, header, sizeof(header));
	for (size_t table = 0; table < 2; table++) {
		for (size_t i = 0; i < MESSAGES_N; i++) {
			uint32_t entry[2] = {(uint32_t)strlen(pairs[i][table]), (uint32_t)at};
			memcpy(bytes + 28 + 8 * (table * MESSAGES_N + i), entry, sizeof(entry));
			memcpy(bytes + at, pairs[i][table], entry[0] + 1);
			at += entry[0] + 1;
		}
	}
	*length = at;
	return bytes;
}

static void check(const char *english, const char *wanted)
{
	struct fsl_catalog catalog;
	char out[256];
	size_t length = 0;
	char *bytes = make(&length);
	assert_int_equal(fsl_catalog_parse(&catalog, bytes, length, NULL), FSL_OK);
	bool is_told = fsl_catalog_tell(&catalog, english, out, sizeof(out));
	assert_int_equal(is_told, wanted != NULL);
	if (wanted != NULL) {
		assert_string_equal(out, wanted);
	}
	fsl_catalog_fini(&catalog);
}

static void numbers_and_names_of_a_sentence_are_kept(void **state)
{
	(void)state;
	check("below 34.5 ms", "低于 34.5 ms");
	check("below 7.0 ms", "低于 7.0 ms");
	check("a1 waits for b2", "b2让 a1 等待");
}

static void sentences_within_sentences_are_translated(void **state)
{
	(void)state;
	check("host; next: rank 3, below 1.5 ms", "主机；其次是 rank 3，低于 1.5 ms");
}

static void message_that_says_more_goes_before_one_that_takes_all(void **state)
{
	(void)state;
	check("group a1", "通信组 a1");
	check("group a1 is not complete, 3 ranks; below 2.5 ms",
	      "通信组 a1 不完整，3 个 rank；低于 2.5 ms");
	check("x: group b2 is not complete, 14 ranks", "x：通信组 b2 不完整，14 个 rank");
}

static void percent_signs_of_texts_and_of_formats_are_told_apart(void **state)
{
	(void)state;
	check("+ costs 3 % of a step; host", "+ 损失为 step 的 3 %；主机");
	check("12 % of the time", "占时间的 12 %");
	check("7.5 % of the time, below 2.0 ms", "占时间的 7.5 %，低于 2.0 ms");
}

static void names_that_hold_a_message_stay_as_they_are(void **state)
{
	(void)state;
	check("host/a.json: below 5.5 ms", "host/a.json：低于 5.5 ms");
	check("host-1, host.b: host", "host-1，host.b：主机");
	/* A number that goes on as a date or with a unit is another name. */
	check("host; since 2025", "主机；自 2025 起");
	check("host; since 2025-06-15", NULL);
	check("host; since 12x", NULL);
}

static void title_goes_before_a_sentence_that_begins_with_any_text(void **state)
{
	(void)state;
	check("HANG: a1 waits for b2", "卡死：b2让 a1 等待");
	check("HANG: host", "卡死：主机");
}

static void rest_of_a_sentence_behind_a_name_is_one_message(void **state)
{
	(void)state;
	check("slow_rank: rank 3 holds a1 up: it is longer at work; below 4.0 ms, x2",
	      "slow_rank：rank 3 拖慢 a1：工作更久；低于 4.0 ms，x2");
	check("x: rank 11 holds b2 up: it is longer at work; host",
	      "x：rank 11 拖慢 b2：工作更久；主机");
}

static void marks_between_clauses_are_wide_and_those_of_lists_of_numbers_stay(void **state)
{
	(void)state;
	check("host a1 4, 5, below 3.0 ms; host", "主机 a1 4, 5，低于 3.0 ms；主机");
	check("aten::empty 7, below 2.0 ms", "aten::empty 7，低于 2.0 ms");
}

static void begin_of_a_sentence_that_was_cut_is_left_out(void **state)
{
	(void)state;
	check("group a1 is not ...", "通信组 ...");
	check("cannot read: n=2, reason=\"below the lowest ...", "无法读取: n=2, reason=\"...");
	check("cannot read: n=31, file=\"one two ...", "无法读取: n=31, file=\"one two ...");
}

static void facts_stay_as_they_are(void **state)
{
	(void)state;
	check("cannot read: host=\"host\", n=2", "无法读取: host=\"host\", n=2");
}

static void reasons_among_facts_are_translated(void **state)
{
	(void)state;
	check("cannot read: n=2, reason=\"below 3.5 ms\", file=\"below 1.0 ms\"",
	      "无法读取: n=2, reason=\"低于 3.5 ms\", file=\"below 1.0 ms\"");
	check("cannot read: first=\"cannot read: host=\"host\", n=1\"",
	      "无法读取: first=\"无法读取: host=\"host\", n=1\"");
	check("cannot read: allowed=below 4.5 ms", "无法读取: allowed=低于 4.5 ms");
	check("cannot read: cause=\"host\"", "无法读取: cause=\"host\"");
	check("cannot read: cause=\"open", "无法读取: cause=\"open");
	check("cannot read: cause=\"not known\"", "无法读取: cause=\"not known\"");
}

static void sentence_behind_facts_is_translated(void **state)
{
	(void)state;
	check("cannot read: line=7; below 3.5 ms", "无法读取: line=7；低于 3.5 ms");
	check("cannot read: file=\"a; b\"; below 1.0 ms", "无法读取: file=\"a; b\"；低于 1.0 ms");
	check("cannot read: line=7; not known", "无法读取: line=7; not known");
}

static void sentence_with_an_unknown_word_stays_english(void **state)
{
	(void)state;
	check("cannot read anything", NULL);
	check("", NULL);
}

static void broken_catalogs_are_refused(void **state)
{
	(void)state;
	size_t length = 0;
	fsl_free(make(&length));
	for (size_t cut = 0; cut < length; cut += 3) {
		struct fsl_catalog catalog;
		size_t n = 0;
		char *bytes = make(&n);
		bytes[cut] = '\0';
		assert_int_equal(fsl_catalog_parse(&catalog, bytes, cut, NULL), FSL_ERR_FORMAT);
	}
}

static void wide_characters_take_two_columns(void **state)
{
	(void)state;
	assert_int_equal(fsl_columns("rank 慢卡", strlen("rank 慢卡")), 9);
	assert_int_equal(fsl_columns("rank", 4), 4);
	assert_int_equal(fsl_unbroken("慢，卡"), strlen("慢，"));
	assert_int_equal(fsl_unbroken("slow rank"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_names_of_a_sentence_are_kept),
		cmocka_unit_test(sentences_within_sentences_are_translated),
		cmocka_unit_test(message_that_says_more_goes_before_one_that_takes_all),
		cmocka_unit_test(percent_signs_of_texts_and_of_formats_are_told_apart),
		cmocka_unit_test(names_that_hold_a_message_stay_as_they_are),
		cmocka_unit_test(title_goes_before_a_sentence_that_begins_with_any_text),
		cmocka_unit_test(rest_of_a_sentence_behind_a_name_is_one_message),
		cmocka_unit_test(marks_between_clauses_are_wide_and_those_of_lists_of_numbers_stay),
		cmocka_unit_test(begin_of_a_sentence_that_was_cut_is_left_out),
		cmocka_unit_test(facts_stay_as_they_are),
		cmocka_unit_test(reasons_among_facts_are_translated),
		cmocka_unit_test(sentence_behind_facts_is_translated),
		cmocka_unit_test(sentence_with_an_unknown_word_stays_english),
		cmocka_unit_test(broken_catalogs_are_refused),
		cmocka_unit_test(wide_characters_take_two_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
