/* The summary of a profile: it fits the screen, and shows the important ones of many ranks. */
#include <stdlib.h>

#include "base/utf8.h"
#include "unit/ascend/small_capture.h"

static size_t count_lines(const char *text, const char *begin)
{
	size_t n = 0;
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
		n += strncmp(line, begin, strlen(begin)) == 0;
	}
	return n;
}

static void assert_fits(const char *text, size_t width)
{
	for (const char *line = text; *line != '\0';) {
		size_t length = strcspn(line, "\n");
		char copy[256];
		assert_true(length < sizeof(copy));
		memcpy(copy, line, length);
		copy[length] = '\0';
		assert_true(fsl_utf8_points(copy) <= width);
		line += length + 1;
	}
}

static void make(struct small_capture *small, size_t n_ranks)
{
	small_begin(small, n_ranks);
	for (size_t r = 0; r < n_ranks; r++) {
		/* Rank 7 computes longest, rank 9 is free longest. */
		small_step(small, r, 1, r == 7 ? 150.0 : 100.0, 50.0, r == 9 ? 30.0 : 1.0);
	}
}

static void add_finding(struct small_capture *small, enum fsl_code code, double gain_ms)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(code);
	finding.gain_ms = gain_ms;
	finding.what = "rank 7: one sentence that is long enough to be wrapped on any screen that "
		       "people use, with 12.5 ms in it";
	finding.advice = "do something about it that takes some words to say, and then some more";
	assert_int_equal(fsl_profile_findings_add(&small->findings, &finding, NULL), FSL_OK);
}

static void few_ranks_are_all_shown(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 11);
	char *text = small_text(&small, &verdict, 80);
	assert_null(strstr(text, "median"));
	assert_non_null(strstr(text, "\n     0  151 ms     100 ms  50.0 ms"));
	assert_non_null(strstr(text, "\n    10  151 ms"));
	assert_fits(text, 80);
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void of_many_ranks_the_median_and_those_that_stand_out_are_shown(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 1000);
	struct fsl_culprit culprit = fsl_culprit_of(999);
	assert_int_equal(FSL_APPEND(&verdict, culprits, &culprit, NULL), FSL_OK);
	verdict.kind = FSL_VERDICT_SLOW_RANK;
	char *text = small_text(&small, &verdict, 80);
	assert_non_null(strstr(text, "\n  median  151 ms"));
	assert_non_null(strstr(text, "\n       7  201 ms"));
	assert_non_null(strstr(text, "\n       9  180 ms"));
	assert_non_null(strstr(text, "\n     999  151 ms"));
	assert_non_null(strstr(text, "and 993 more with --format json"));
	assert_fits(text, 80);
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

/* The screen of a capture with these steps; the longest takes 40 ms more on rank 1. Free it. */
static char *text_of_steps(size_t n_steps, size_t longest, struct fsl_localisation *verdict)
{
	struct small_capture small;
	int64_t numbers[64];
	small_begin(&small, 3);
	for (size_t s = 0; s < n_steps; s++) {
		numbers[s] = 10 + (int64_t)s;
		for (size_t r = 0; r < 3; r++) {
			double more_ms = s == longest && r == 1 ? 40.0 : 0.0;
			small_step(&small, r, numbers[s], 100.0 + more_ms, 50.0, 10.0);
		}
	}
	small.cluster.steps = numbers;
	small.cluster.n_steps = n_steps;
	char *text = small_text(&small, verdict, 80);
	small.cluster.steps = NULL;
	small.cluster.n_steps = 0;
	assert_fits(text, 80);
	small_end(&small);
	return text;
}

static void steps_of_a_capture_are_bars_with_the_lengths_of_the_longest_rank(void **state)
{
	(void)state;
	static const struct {
		size_t n_steps, longest;
		const char *line; /* NULL: none */
	} cases[] = {
		{1, 0, NULL},
		{2, 1, "\n  steps        ~#  160 ms to 200 ms, the longest is step 11\n"},
		{5, 3, "\n  steps        ~~~#~  160 ms to 200 ms, the longest is step 13\n"},
		{30, 0,
		 "\n  steps        #~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n               160 ms to 200 ms, "
		 "the longest is step 10\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_localisation verdict;
		fsl_localisation_init(&verdict);
		char *text = text_of_steps(cases[i].n_steps, cases[i].longest, &verdict);
		if (cases[i].line != NULL) {
			assert_non_null(strstr(text, cases[i].line));
		} else {
			assert_null(strstr(text, "the longest is"));
		}
		free(text);
		fsl_localisation_fini(&verdict);
	}
}

static void a_slow_stretch_is_marked_below_the_steps_of_a_capture(void **state)
{
	(void)state;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	struct fsl_culprit culprit = fsl_culprit_of(1);
	culprit.onset_step = 12;
	culprit.until_step = 14;
	assert_int_equal(FSL_APPEND(&verdict, culprits, &culprit, NULL), FSL_OK);
	verdict.kind = FSL_VERDICT_SLOW_RANK;
	char *text = text_of_steps(6, 2, &verdict);
	assert_non_null(strstr(text, "\n  steps        ~~#~~~  160 ms"));
	assert_non_null(strstr(text, "\n                 ^~ step 12\n"));
	free(text);
	fsl_localisation_fini(&verdict);
}

static void ranks_of_a_capture_have_marks_by_host(void **state)
{
	(void)state;
	static double costs_ms[] = {0.0, 20.0, 4.7, NAN, 5.1, 0.0};
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	small_begin(&small, 6);
	for (size_t r = 0; r < 6; r++) {
		small.profile.ranks[r].info.host_name = r < 3 ? "node-a" : "";
		small.profile.ranks[r].info.host_uid = r < 3 ? "1" : "77";
	}
	small.findings.rank_costs_ms = costs_ms;
	verdict.step_ms = 160.0;
	char *text = small_text(&small, &verdict, 80);
	assert_non_null(strstr(text, "\n  ranks        node-a  0-2  . + .\n"
				     "               77      3-5  ? + .\n"));
	free(text);
	struct fsl_culprit culprit = fsl_culprit_of(1);
	assert_int_equal(FSL_APPEND(&verdict, culprits, &culprit, NULL), FSL_OK);
	verdict.kind = FSL_VERDICT_SLOW_RANK;
	text = small_text(&small, &verdict, 80);
	assert_non_null(strstr(text, "node-a  0-2  . # .\n"));
	assert_non_null(strstr(text, "# culprit; + costs 3 % of a step or more; . in line with"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void other_levels_and_versions_than_the_first_are_told(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	small_begin(&small, 3);
	small.profile.ranks[1].info.level = "Level0";
	small.profile.ranks[1].info.cann_version = "8.3.RC1";
	char *text = small_text(&small, &verdict, 80);
	assert_non_null(strstr(text, "Level1 and others, CANN 8.3.RC1\n"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void ranks_without_steps_leave_the_table_out(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	small_begin(&small, 40);
	char *text = small_text(&small, &verdict, 80);
	assert_null(strstr(text, "computing"));
	assert_non_null(strstr(text, "coverage     ranks 0-39, 0 steps, Level1"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void findings_come_with_gain_and_advice_and_the_rest_is_counted(void **state)
{
	(void)state;
	enum { CODES_N = FSL_CODE_HOST_WORK + 1 };
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 2);
	for (int i = 0; i < CODES_N; i++) {
		add_finding(&small, (enum fsl_code)i, i == 0 ? (double)NAN : (double)i);
	}
	fsl_profile_findings_sort(&small.findings);
	char *text = small_text(&small, &verdict, 72);
	assert_non_null(strstr(text, "\n  13.0 ms      host_work: rank 7: one"));
	assert_int_equal(count_lines(text, "               -> do something"), 12);
	assert_non_null(strstr(text, "and 2 more with --format json"));
	assert_fits(text, 72);
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void many_findings_of_a_kind_leave_room_for_others(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 2);
	for (int i = 0; i < 20; i++) {
		add_finding(&small, FSL_CODE_HOST_BOUND, 100.0 - i);
	}
	add_finding(&small, FSL_CODE_SLOW_LINK, 1.0);
	fsl_profile_findings_sort(&small.findings);
	char *text = small_text(&small, &verdict, 80);
	assert_int_equal(count_lines(text, "               -> do something"), 4);
	assert_non_null(strstr(text, "\n  98.0 ms      host_bound: rank 7"));
	assert_non_null(strstr(text, "\n  1.00 ms      slow_link: rank 7"));
	assert_non_null(strstr(text, "and 17 more with --format json"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void what_is_no_fault_comes_behind_what_is_and_without_advice(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 2);
	add_finding(&small, FSL_CODE_MEMORY_PEAK, (double)NAN);
	add_finding(&small, FSL_CODE_CORE_CLOCK, (double)NAN);
	small.findings.items[0].is_overview = small.findings.items[1].is_overview = true;
	char *alone = small_text(&small, &verdict, 80);
	assert_null(strstr(alone, "what could be won"));
	add_finding(&small, FSL_CODE_SLOW_KERNELS, (double)NAN);
	fsl_profile_findings_sort(&small.findings);
	char *text = small_text(&small, &verdict, 80);
	assert_non_null(strstr(text, "\n  -            slow_kernels: rank 7"));
	assert_null(strstr(strstr(text, "\n\n  overview     core_clock: rank 7"), "slow_kernels"));
	assert_non_null(strstr(text, "\n               memory_peak: rank 7"));
	assert_int_equal(count_lines(text, "               -> do something"), 1);
	free(text);
	free(alone);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_damaged_file_is_told_below_the_folder_that_was_given(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 1);
	struct fsl_profile_rank *rank = &small.profile.ranks[0];
	assert_int_equal(FSL_GROW(rank->files, rank->files_capacity, 1, NULL), FSL_OK);
	rank->files[rank->n_files++] = (struct fsl_file){.path = "captures/rank_0/a.csv",
							 .format = "a.csv",
							 .state = FSL_FILE_PARTIAL,
							 .n_bytes = 2500000,
							 .message = "line 3: cut"};
	char *text = small_text(&small, &verdict, 80);
	assert_non_null(strstr(text, "problem      rank_0/a.csv: line 3: cut\n"));
	assert_non_null(
		strstr(text, "files        1 file, 2.5 MB, 1 read in part, 0 not usable\n"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_short_screen_has_24_lines_whatever_there_is_to_say(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 8);
	for (int32_t rank = 0; rank < 6; rank++) {
		struct fsl_culprit culprit = fsl_culprit_of(rank);
		culprit.reason = "one reason that is long enough to need more lines than there are "
				 "on a short screen, which is what happens if a judge has much to "
				 "say about a rank, its peers, their kernels, their hosts, their "
				 "links and all the rest of it; and another clause";
		assert_int_equal(FSL_APPEND(&verdict, culprits, &culprit, NULL), FSL_OK);
	}
	verdict.kind = FSL_VERDICT_SLOW_RANK;
	for (int i = 0; i < 30; i++) {
		add_finding(&small, (enum fsl_code)(i % FSL_CODES_N), 30.0 - i);
	}
	const struct fsl_report report = {.profile = &small.profile,
					  .cluster = &small.cluster,
					  .findings = &small.findings,
					  .localisation = &verdict,
					  .now_ns = FSL_NS_ABSENT};
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	fsl_report_text(stream, &report);
	assert_int_equal(fclose(stream), 0);
	assert_fits(text, 80);
	assert_in_range(count_lines(text, ""), 20, 24);
	assert_non_null(strstr(text, "\n  more         with --long\n"));
	free(text);
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void what_the_verdict_tells_is_no_finding_once_more(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 8);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_MORE_WORK);
	finding.gain_ms = 3.0;
	finding.what = "rank 7 has more to do";
	finding.advice = "spread the work";
	assert_int_equal(fsl_profile_findings_add(&small.findings, &finding, NULL), FSL_OK);
	verdict.kind = FSL_VERDICT_WORK_IMBALANCE;
	verdict.reason = "rank 7 has more to do; seen in each step";
	for (int is_long = 0; is_long <= 1; is_long++) {
		const struct fsl_report report = {.profile = &small.profile,
						  .cluster = &small.cluster,
						  .findings = &small.findings,
						  .localisation = &verdict,
						  .is_long = is_long != 0,
						  .now_ns = FSL_NS_ABSENT};
		char *text = NULL;
		size_t length = 0;
		FILE *stream = open_memstream(&text, &length);
		assert_non_null(stream);
		fsl_report_text(stream, &report);
		assert_int_equal(fclose(stream), 0);
		assert_int_equal(strstr(text, "more_work: ") != NULL, is_long);
		assert_non_null(strstr(text, "\n  next         spread the work\n"));
		free(text);
	}
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

static void a_document_for_which_memory_is_short_is_not_printed(void **state)
{
	(void)state;
	struct small_capture small;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	make(&small, 2);
	add_finding(&small, FSL_CODE_SLOW_RANK_HOST, 1.0);
	const struct fsl_report report = {.profile = &small.profile,
					  .cluster = &small.cluster,
					  .findings = &small.findings,
					  .localisation = &verdict};
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		char *text = NULL;
		size_t length = 0;
		struct fsl_error err = {0};
		FILE *stream = open_memstream(&text, &length);
		assert_non_null(stream);
		fsl_mem_fail_at(nth);
		status = fsl_report_json(stream, &report, NULL, &err);
		fsl_mem_fail_at(0);
		assert_int_equal(fclose(stream), 0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true((length > 0) == (status == FSL_OK));
		free(text);
	}
	fsl_localisation_fini(&verdict);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_ranks_are_all_shown),
		cmocka_unit_test(of_many_ranks_the_median_and_those_that_stand_out_are_shown),
		cmocka_unit_test(steps_of_a_capture_are_bars_with_the_lengths_of_the_longest_rank),
		cmocka_unit_test(a_slow_stretch_is_marked_below_the_steps_of_a_capture),
		cmocka_unit_test(ranks_of_a_capture_have_marks_by_host),
		cmocka_unit_test(other_levels_and_versions_than_the_first_are_told),
		cmocka_unit_test(ranks_without_steps_leave_the_table_out),
		cmocka_unit_test(findings_come_with_gain_and_advice_and_the_rest_is_counted),
		cmocka_unit_test(many_findings_of_a_kind_leave_room_for_others),
		cmocka_unit_test(what_is_no_fault_comes_behind_what_is_and_without_advice),
		cmocka_unit_test(a_damaged_file_is_told_below_the_folder_that_was_given),
		cmocka_unit_test(a_short_screen_has_24_lines_whatever_there_is_to_say),
		cmocka_unit_test(what_the_verdict_tells_is_no_finding_once_more),
		cmocka_unit_test(a_document_for_which_memory_is_short_is_not_printed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
