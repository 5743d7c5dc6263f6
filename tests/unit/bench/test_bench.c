/* The benchmark: its table of cases, equal counts of all readers, and its clean-up. No time is
 * asserted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "bench/bench.h"
#include "bench/bench_parts.h"
#include "support/program.h"

static char scratch[1024];

static struct fsl_bench_options tiny(const char *only)
{
	return (struct fsl_bench_options){.program = FSL_PROGRAM,
					  .dir = scratch,
					  .only = only,
					  .n_mb = 1,
					  .n_ranks = 2,
					  .n_runs = FSL_TEST_COST > 1 ? 1 : 2,
					  .n_jobs = 2};
}

static void assert_nothing_is_left(void)
{
	char **names = NULL;
	size_t n_names = 0;
	assert_int_equal(fsl_dir_list(scratch, &names, &n_names, NULL), FSL_OK);
	assert_int_equal(n_names, 0);
	fsl_free(names);
}

static void table_names_each_case_once_and_its_library(void **state)
{
	const struct fsl_bench_case *found = NULL;
	size_t n = 0;
	(void)state;
	for (const struct fsl_bench_case *item = fsl_bench_cases; item->name != NULL; item++, n++) {
		assert_int_equal(fsl_bench_case_find(&found, item->name, NULL), FSL_OK);
		assert_ptr_equal(found, item);
		assert_true(strlen(item->summary) > 0);
		if (item->library != NULL) {
			assert_int_equal(fsl_bench_case_find(&found, item->library, NULL), FSL_OK);
			assert_int_equal(found->role, FSL_BENCH_LIBRARY);
		}
		if (item->alone != NULL) {
			assert_int_equal(fsl_bench_case_find(&found, item->alone, NULL), FSL_OK);
			assert_null(found->alone);
		}
		if (item->anew != NULL) {
			assert_int_equal(fsl_bench_case_find(&found, item->anew, NULL), FSL_OK);
			assert_null(found->anew);
		}
	}
	assert_true(n <= FSL_BENCH_CASES_MAX);
}

static void all_readers_count_the_same_rows(void **state)
{
	struct fsl_bench_report report;
	struct fsl_bench_options options = tiny(NULL);
	uint64_t n_markers = 0, n_stages = 0, n_events = 0;
	(void)state;
	assert_int_equal(fsl_bench_run(&report, &options, NULL), FSL_OK);
	size_t n = 0;
	for (; fsl_bench_cases[n].name != NULL; n++) {
		const struct fsl_bench_result *result = &report.results[n];
		const char *row = result->item->row != NULL ? result->item->row : "";
		uint64_t *count = strcmp(row, "marker") == 0  ? &n_markers
				  : strcmp(row, "event") == 0 ? &n_events
							      : &n_stages;
		assert_ptr_equal(result->item, &fsl_bench_cases[n]);
		assert_true(result->median.n_bytes > 0 && result->median.cpu_ns > 0);
		assert_true(result->median.peak_bytes > 0);
		if (strcmp(row, "marker") == 0 || strcmp(row, "stage") == 0 ||
		    strcmp(row, "event") == 0) {
			*count = *count > 0 ? *count : result->median.n_rows;
			assert_int_equal(result->median.n_rows, *count);
		}
	}
	assert_int_equal(report.n_results, n);
	assert_true(n_markers > 10000 && n_stages > 1000 && n_events > 1000);
	assert_int_equal(report.interrupted, 0);
	fsl_bench_report_fini(&report);
	assert_nothing_is_left();
}

static void ratios_are_those_to_cases_of_the_same_rounds(void **state)
{
	struct fsl_bench_report report;
	struct fsl_bench_options options = tiny("csv,memcpy");
	(void)state;
	assert_int_equal(fsl_bench_run(&report, &options, NULL), FSL_OK);
	assert_int_equal(report.n_results, 2);
	assert_string_equal(report.results[0].item->name, "memcpy");
	assert_true(report.results[0].ratios[FSL_BENCH_TO_MEMCPY] == 1.0);
	assert_true(report.results[1].ratios[FSL_BENCH_TO_MEMCPY] > 0.0);
	/* libcsv was not run. */
	double to_library = report.results[1].ratios[FSL_BENCH_TO_LIBRARY];
	assert_true(to_library != to_library);
	fsl_bench_report_fini(&report);
}

static void threads_are_compared_with_one_thread_in_the_same_rounds(void **state)
{
	struct fsl_bench_report report;
	struct fsl_bench_options options = tiny("cache-all,cache");
	(void)state;
	options.n_runs = 1;
	assert_int_equal(fsl_bench_run(&report, &options, NULL), FSL_OK);
	const struct fsl_bench_result *alone = &report.results[0], *all = &report.results[1];
	assert_string_equal(all->item->name, "cache-all");
	assert_string_equal(all->item->alone, alone->item->name);
	assert_true(isnan(alone->speedup));
	assert_true(all->speedup ==
		    (double)alone->samples[0].wall_ns / (double)all->samples[0].wall_ns);
	fsl_bench_report_fini(&report);
	options.only = "cache-all";
	assert_int_equal(fsl_bench_run(&report, &options, NULL), FSL_OK);
	assert_true(isnan(report.results[0].speedup));
	fsl_bench_report_fini(&report);
}

/* Each run finds whole files, cuts them, and leaves them whole again. */
static void a_run_that_goes_on_sees_what_one_sees_that_reads_everything(void **state)
{
	struct fsl_bench_report report;
	struct fsl_bench_options options = tiny("detect,detect-again");
	(void)state;
	assert_int_equal(fsl_bench_run(&report, &options, NULL), FSL_OK);
	const struct fsl_bench_result *anew = &report.results[0], *again = &report.results[1];
	assert_string_equal(again->item->anew, anew->item->name);
	for (int64_t run = 0; run < report.n_runs; run++) {
		assert_int_equal(again->samples[run].n_rows, anew->samples[run].n_rows);
		assert_int_equal(again->samples[run].n_bytes, anew->samples[run].n_bytes);
	}
	assert_true(again->share > 0.0);
	assert_true(isnan(anew->share));
	fsl_bench_report_fini(&report);
	options.only = "detect-again";
	assert_int_equal(fsl_bench_run(&report, &options, NULL), FSL_OK);
	assert_true(isnan(report.results[0].share));
	fsl_bench_report_fini(&report);
	assert_nothing_is_left();
}

static void growth_has_every_point_and_exponents(void **state)
{
	(void)state;
	for (const struct fsl_bench_scale *scale = fsl_bench_scales; scale->name != NULL; scale++) {
		struct fsl_bench_growth growth;
		struct fsl_bench_options options = tiny(NULL);
		/* A thousand ranks are no job for a unit test. */
		if (strcmp(scale->name, "ranks") == 0 || strcmp(scale->name, "groups") == 0) {
			continue;
		}
		assert_int_equal(fsl_bench_grow(&growth, scale, &options, NULL), FSL_OK);
		assert_int_equal(growth.n_points, 4);
		for (size_t i = 0; i < growth.n_points; i++) {
			assert_true(growth.points[i].x > 0.0);
			assert_true(growth.points[i].median.n_rows > 0);
		}
		assert_true(growth.cpu_exponent == growth.cpu_exponent);
		assert_true(growth.memory_exponent == growth.memory_exponent);
		fsl_bench_growth_fini(&growth);
		assert_nothing_is_left();
	}
}

static void failed_run_leaves_nothing(void **state)
{
	struct fsl_bench_report report;
	struct fsl_bench_options options = tiny("csv");
	struct fsl_error err = {0};
	(void)state;
	options.n_ranks = 1024;
	assert_int_equal(fsl_bench_run(&report, &options, &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "--size"));
	fsl_bench_report_fini(&report);
	assert_nothing_is_left();
	fsl_error_clear(&err);
	options.n_ranks = 2;
	options.program = "/bin/false";
	assert_int_equal(fsl_bench_run(&report, &options, &err), FSL_ERR_IO);
	fsl_bench_report_fini(&report);
	assert_nothing_is_left();
}

static void unknown_case_is_refused_with_the_known_ones(void **state)
{
	struct fsl_bench_report report;
	struct fsl_bench_options options = tiny("csv,jsn");
	struct fsl_error err = {0};
	(void)state;
	assert_int_equal(fsl_bench_run(&report, &options, &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "did_you_mean=\"json\""));
	assert_non_null(strstr(fsl_error_root(&err), "detect-all"));
	fsl_bench_report_fini(&report);
}

static void case_without_files_is_refused(void **state)
{
	const struct fsl_bench_case *item = NULL;
	struct fsl_bench_sample sample;
	(void)state;
	assert_int_equal(fsl_bench_case_find(&item, "csv", NULL), FSL_OK);
	assert_int_equal(fsl_bench_case_run(item, scratch, 1, &sample, NULL), FSL_ERR_INPUT);
	assert_int_equal(fsl_bench_case_find(&item, "detect", NULL), FSL_OK);
	assert_int_equal(fsl_bench_case_run(item, scratch, 1, &sample, NULL), FSL_ERR_USAGE);
}

/* Libraries allocate by themselves; everything else of a case is ours. */
static void failed_allocation_is_told_by_each_case(void **state)
{
	static const char *const names[] = {"memcpy", "read", "newlines", "csv", "ingest"};
	char job[2048], folder[2100], simulate[] = "simulate", steps[] = "steps=8";
	char program[] = FSL_PROGRAM;
	struct program_run made;
	(void)state;
	(void)snprintf(job, sizeof(job), "%s/job", scratch);
	(void)snprintf(folder, sizeof(folder), "%s/mspti", job);
	char *argv[] = {program, simulate, job, steps, NULL};
	assert_true(program_run(&made, NULL, argv) && made.exit_code == 0);
	program_run_fini(&made);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct fsl_bench_case *item = NULL;
		enum fsl_status status = FSL_ERR_MEMORY;
		assert_int_equal(fsl_bench_case_find(&item, names[i], NULL), FSL_OK);
		for (uint64_t nth = 1; status != FSL_OK; nth++) {
			struct fsl_bench_sample sample;
			fsl_mem_fail_at(nth);
			status = fsl_bench_case_run(item, folder, 2, &sample, NULL);
			fsl_mem_fail_at(0);
			assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		}
	}
	scratch_remove(job);
}

static void sample_is_read_from_its_line_alone(void **state)
{
	struct fsl_bench_sample sample = {0};
	(void)state;
	assert_true(fsl_bench_sample_parse(&sample, "bytes=12 rows=3 cpu_ns=45 wall_ns=67\n"));
	assert_int_equal(sample.n_bytes, 12);
	assert_int_equal(sample.n_rows, 3);
	assert_int_equal(sample.cpu_ns, 45);
	assert_int_equal(sample.wall_ns, 67);
	assert_false(fsl_bench_sample_parse(&sample, "bytes=1 rows=1 cpu_ns= wall_ns=1\n"));
	assert_false(fsl_bench_sample_parse(&sample, ""));
	assert_int_equal(sample.n_bytes, 12);
}

static void median_is_that_of_each_figure(void **state)
{
	const struct fsl_bench_sample samples[] = {
		{.n_bytes = 7, .n_rows = 2, .cpu_ns = 30, .wall_ns = 10, .peak_bytes = 5},
		{.n_bytes = 7, .n_rows = 2, .cpu_ns = 10, .wall_ns = 30, .peak_bytes = 6},
		{.n_bytes = 7, .n_rows = 2, .cpu_ns = 20, .wall_ns = 20, .peak_bytes = 4},
	};
	struct fsl_bench_sample median = fsl_bench_median(samples, 3);
	(void)state;
	assert_int_equal(median.cpu_ns, 20);
	assert_int_equal(median.wall_ns, 20);
	assert_int_equal(median.peak_bytes, 5);
	assert_int_equal(median.n_bytes, 7);
	assert_int_equal(median.n_rows, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_names_each_case_once_and_its_library),
		cmocka_unit_test(all_readers_count_the_same_rows),
		cmocka_unit_test(ratios_are_those_to_cases_of_the_same_rounds),
		cmocka_unit_test(threads_are_compared_with_one_thread_in_the_same_rounds),
		cmocka_unit_test(a_run_that_goes_on_sees_what_one_sees_that_reads_everything),
		cmocka_unit_test(growth_has_every_point_and_exponents),
		cmocka_unit_test(failed_run_leaves_nothing),
		cmocka_unit_test(unknown_case_is_refused_with_the_known_ones),
		cmocka_unit_test(case_without_files_is_refused),
		cmocka_unit_test(failed_allocation_is_told_by_each_case),
		cmocka_unit_test(sample_is_read_from_its_line_alone),
		cmocka_unit_test(median_is_that_of_each_figure),
	};
	if (!scratch_create(FSL_BUILD_DIR, "test_bench", scratch, sizeof(scratch))) {
		return 1;
	}
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_remove(scratch);
	return n_failed;
}
