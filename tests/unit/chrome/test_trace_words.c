/* Texts of events against the words that a caller knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "chrome/trace_event.h"

static int64_t number;

static int find(const struct fsl_trace_word *items, size_t n_items, const char *text)
{
	struct fsl_trace_words words;
	fsl_trace_words_init(&words, items, n_items);
	number = 77;
	return fsl_trace_words_find(&words, text, strlen(text), &number);
}

static void a_whole_word_is_nothing_longer_and_nothing_shorter(void **state)
{
	static const struct fsl_trace_word items[] = {{3, FSL_TRACE_WHOLE, "Free", NULL},
						      {4, FSL_TRACE_WHOLE, "Freed", NULL}};
	(void)state;
	assert_int_equal(find(items, 2, "Free"), 3);
	assert_int_equal(find(items, 2, "Freed"), 4);
	assert_int_equal(find(items, 2, "Fre"), 0);
	assert_int_equal(find(items, 2, "Freedo"), 0);
	assert_int_equal(find(items, 2, "free"), 0);
	assert_int_equal(find(items, 2, ""), 0);
}

static void any_case_is_told_to_be(void **state)
{
	static const struct fsl_trace_word items[] = {
		{1, FSL_TRACE_WHOLE_ANY_CASE, "gc", NULL},
		{2, FSL_TRACE_ANYWHERE, "dataloader", NULL},
	};
	(void)state;
	assert_int_equal(find(items, 2, "gc"), 1);
	assert_int_equal(find(items, 2, "GC"), 1);
	assert_int_equal(find(items, 2, "Gc"), 1);
	assert_int_equal(find(items, 2, "gcc"), 0);
	assert_int_equal(find(items, 2, "DataLoader"), 2);
	assert_int_equal(find(items, 2, "enumerate(DataLoader)#_Next"), 2);
	assert_int_equal(find(items, 2, "my dataloade"), 0);
}

static void the_number_behind_a_head_is_told(void **state)
{
	static const struct fsl_trace_word items[] = {
		{5, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
		{6, FSL_TRACE_HEAD, "hcom_", NULL},
	};
	(void)state;
	assert_int_equal(find(items, 2, "ProfilerStep#50"), 5);
	assert_int_equal(number, 50);
	assert_int_equal(find(items, 2, "ProfilerStep#"), 5);
	assert_int_equal(number, -1);
	assert_int_equal(find(items, 2, "ProfilerStep#-5"), 5);
	assert_int_equal(number, -1);
	assert_int_equal(find(items, 2, "ProfilerStep#99999999999999999999"), 5);
	assert_int_equal(number, -1);
	assert_int_equal(find(items, 2, "hcom_7"), 6);
	assert_int_equal(number, 77);
}

static void head_and_tail_do_not_overlap(void **state)
{
	static const struct fsl_trace_word items[] = {
		{1, FSL_TRACE_HEAD_AND_TAIL, "aba", "ab"},
	};
	(void)state;
	assert_int_equal(find(items, 1, "abaab"), 1);
	assert_int_equal(find(items, 1, "aba and ab"), 1);
	assert_int_equal(find(items, 1, "abab"), 0);
	assert_int_equal(find(items, 1, "abaaba"), 0);
}

static void the_first_word_of_the_table_counts(void **state)
{
	static const struct fsl_trace_word items[] = {
		{1, FSL_TRACE_WHOLE, "Acl@b", NULL},
		{2, FSL_TRACE_HEAD, "Acl@", NULL},
		{3, FSL_TRACE_ANYWHERE, "acl", NULL},
	};
	(void)state;
	assert_int_equal(find(items, 3, "Acl@b"), 1);
	assert_int_equal(find(items, 3, "Acl@c"), 2);
	assert_int_equal(find(items, 3, "an acl"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_word_is_nothing_longer_and_nothing_shorter),
		cmocka_unit_test(any_case_is_told_to_be),
		cmocka_unit_test(the_number_behind_a_head_is_told),
		cmocka_unit_test(head_and_tail_do_not_overlap),
		cmocka_unit_test(the_first_word_of_the_table_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
