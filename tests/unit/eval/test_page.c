/* Pages: tables fit their cells, on a terminal and as Markdown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "eval/page.h"

static void fill(struct fsl_page *page)
{
	static const char *const headings[] = {"name", "jobs"};
	fsl_page_table(page, headings, 2);
	fsl_page_cell(page, "a long name");
	fsl_page_cell(page, "%d", 7);
	fsl_page_cell(page, "b");
	fsl_page_percent(page, 0.5);
	fsl_page_table_end(page);
}

static void terminal_table_aligns_texts_left_and_numbers_right(void **state)
{
	(void)state;
	struct fsl_page page;
	fsl_page_init(&page, false);
	fill(&page);
	assert_string_equal(page.text, "  name         jobs\n"
				       "  a long name       7\n"
				       "  b            50.0 %\n");
	fsl_page_fini(&page);
}

static void headings_may_be_one_text_behind_a_name(void **state)
{
	(void)state;
	static const struct {
		const char *first, *others, *wanted;
	} cases[] = {
		{NULL, "name|wide", "  name  wide\n  任务     7\n"},
		{"ranks", "F1", "  ranks  F1\n  任务    7\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_page page;
		fsl_page_init(&page, false);
		fsl_page_table_of(&page, cases[i].first, cases[i].others);
		fsl_page_cell(&page, "任务");
		fsl_page_cell(&page, "7");
		fsl_page_table_end(&page);
		assert_string_equal(page.text, cases[i].wanted);
		fsl_page_fini(&page);
	}
}

/* A table of four columns on a page of that width. */
static void check_width(int width, const char *wanted)
{
	static const char *const headings[] = {"name", "jobs", "right", "wrong"};
	struct fsl_page page;
	fsl_page_init(&page, false);
	page.width = width;
	fsl_page_table(&page, headings, 4);
	for (int i = 0; i < 4; i++) {
		fsl_page_cell(&page, i == 0 ? "job%d" : "%d", i);
	}
	fsl_page_table_end(&page);
	assert_string_equal(page.text, wanted);
	fsl_page_fini(&page);
}

static void columns_that_do_not_fit_follow_below_the_first_again(void **state)
{
	(void)state;
	check_width(0, "  name  jobs  right  wrong\n"
		       "  job0     1      2      3\n");
	check_width(26, "  name  jobs  right  wrong\n"
			"  job0     1      2      3\n");
	for (int width = 19; width < 26; width++) {
		check_width(width, "  name  jobs  right\n"
				   "  job0     1      2\n"
				   "\n"
				   "  name  wrong\n"
				   "  job0      3\n");
	}
	check_width(1, "  name  jobs\n"
		       "  job0     1\n"
		       "\n"
		       "  name  right\n"
		       "  job0      2\n"
		       "\n"
		       "  name  wrong\n"
		       "  job0      3\n");
}

static void markdown_table_has_a_ruler(void **state)
{
	(void)state;
	struct fsl_page page;
	fsl_page_init(&page, true);
	fill(&page);
	assert_string_equal(page.text, "| name        | jobs   |\n"
				       "|---|---|\n"
				       "| a long name |      7 |\n"
				       "| b           | 50.0 % |\n");
	fsl_page_fini(&page);
}

static void unknown_share_is_a_dash(void **state)
{
	(void)state;
	static const char *const headings[] = {"share"};
	struct fsl_page page;
	fsl_page_init(&page, false);
	fsl_page_table(&page, headings, 1);
	fsl_page_percent(&page, (double)NAN);
	fsl_page_table_end(&page);
	assert_string_equal(page.text, "  share\n      -\n");
	fsl_page_fini(&page);
}

static void rows_beyond_the_limit_are_counted(void **state)
{
	(void)state;
	static const char *const headings[] = {"n"};
	struct fsl_page page;
	fsl_page_init(&page, false);
	fsl_page_table(&page, headings, 1);
	for (int i = 1; i < FSL_PAGE_ROWS_MAX + 3; i++) {
		fsl_page_cell(&page, "%d", i);
	}
	fsl_page_table_end(&page);
	assert_non_null(strstr(page.text, "  127\n(3 more)\n"));
	fsl_page_fini(&page);
}

static void memory_errors_leave_a_failed_page(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth <= 2; nth++) {
		struct fsl_page page;
		fsl_mem_fail_at(nth);
		fsl_page_init(&page, false);
		fill(&page);
		fsl_mem_fail_at(0);
		assert_true(page.has_failed);
		fsl_page_fini(&page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminal_table_aligns_texts_left_and_numbers_right),
		cmocka_unit_test(headings_may_be_one_text_behind_a_name),
		cmocka_unit_test(columns_that_do_not_fit_follow_below_the_first_again),
		cmocka_unit_test(markdown_table_has_a_ruler),
		cmocka_unit_test(unknown_share_is_a_dash),
		cmocka_unit_test(rows_beyond_the_limit_are_counted),
		cmocka_unit_test(memory_errors_leave_a_failed_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
