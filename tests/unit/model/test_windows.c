/* windows: the matrix, the view that detectors see, and findings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "model/run.h"
#include "model/windows.h"

static void new_windows_are_empty(void **state)
{
	(void)state;
	struct fsl_windows windows;
	assert_int_equal(fsl_windows_init(&windows, FSL_METRIC_OWN, FSL_WINDOW_STEP, 2, 3, NULL),
			 FSL_OK);
	for (size_t i = 0; i < 6; i++) {
		assert_true(isnan(windows.values[i]));
		assert_int_equal(windows.n_samples[i], 0);
		assert_int_equal(windows.first_ns[i], FSL_NS_ABSENT);
	}
	fsl_windows_fini(&windows);
	assert_null(windows.values);
	fsl_windows_fini(&windows);
}

static void no_member_and_no_window_are_fine(void **state)
{
	(void)state;
	struct fsl_windows windows;
	assert_int_equal(fsl_windows_init(&windows, FSL_METRIC_OWN, FSL_WINDOW_STEP, 0, 0, NULL),
			 FSL_OK);
	fsl_windows_fini(&windows);
}

static void memory_errors_leave_nothing_behind(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth <= 4; nth++) {
		struct fsl_windows windows = {0};
		struct fsl_error err = {0};
		fsl_mem_fail_at(nth);
		enum fsl_status status =
			fsl_windows_init(&windows, FSL_METRIC_OWN, FSL_WINDOW_STEP, 2, 3, &err);
		fsl_mem_fail_at(0);
		assert_int_equal(status, FSL_ERR_MEMORY);
		assert_int_equal(err.n_causes, 1);
		assert_null(windows.values);
	}
	struct fsl_windows windows = {0};
	assert_int_equal(
		fsl_windows_init(&windows, FSL_METRIC_OWN, FSL_WINDOW_STEP, SIZE_MAX / 2, 4, NULL),
		FSL_ERR_MEMORY);
}

static void view_shows_one_member_at_a_time(void **state)
{
	(void)state;
	struct fsl_windows windows;
	struct fsl_arena scratch = {0};
	assert_int_equal(
		fsl_windows_init(&windows, FSL_METRIC_LAUNCH, FSL_WINDOW_INSTANCE, 2, 3, NULL),
		FSL_OK);
	windows.ranks[1] = 42;
	windows.values[1 * 3 + 2] = 7.5;
	windows.n_samples[1 * 3 + 2] = 9;
	windows.first_ns[1 * 3 + 2] = 123;
	struct fsl_view view = {&windows, &scratch};
	assert_int_equal(fsl_view_metric(&view), FSL_METRIC_LAUNCH);
	assert_int_equal(fsl_view_window_kind(&view), FSL_WINDOW_INSTANCE);
	assert_int_equal(fsl_view_n_members(&view), 2);
	assert_int_equal(fsl_view_n_windows(&view), 3);
	assert_int_equal(fsl_view_rank(&view, 1), 42);
	struct fsl_column column = fsl_view_column(&view, 1);
	assert_int_equal(column.n_windows, 3);
	assert_true(fabs(column.values[2] - 7.5) < 1e-12);
	assert_int_equal(column.n_samples[2], 9);
	assert_int_equal(fsl_view_window_ns(&view, 1, 2), 123);
	assert_int_equal(fsl_view_window_ns(&view, 0, 2), FSL_NS_ABSENT);
	unsigned char *bytes = fsl_view_scratch(&view, 100);
	assert_non_null(bytes);
	assert_int_equal(bytes[99], 0);
	fsl_arena_fini(&scratch);
	fsl_windows_fini(&windows);
}

enum { ITEMS_MAX = 1000, MEMBERS = 64, WINDOWS = 512 };

/* Visits of the items by the parts of a loop. */
struct visits {
	_Atomic int n_of[ITEMS_MAX];
	_Atomic int n_spoiled; /* parts in whose bench somebody else wrote */
};

static void visit(void *opaque, size_t begin, size_t end, void *bench)
{
	struct visits *visits = opaque;
	size_t *own = bench;
	own[0] = begin;
	own[1] = end;
	for (size_t i = begin; i < end; i++) {
		visits->n_of[i]++;
	}
	visits->n_spoiled += own[0] != begin || own[1] != end;
}

static void expect_each_once(const struct fsl_view *view, size_t n)
{
	struct visits visits = {.n_spoiled = 0};
	assert_int_equal(fsl_view_each(view, n, 2 * sizeof(size_t), visit, &visits, NULL), FSL_OK);
	for (size_t i = 0; i < ITEMS_MAX; i++) {
		assert_int_equal(visits.n_of[i], i < n ? 1 : 0);
	}
	assert_int_equal(visits.n_spoiled, 0);
}

/* A view that is worth threads; of its matrix only the shape is used. */
static const struct fsl_windows LARGE = {.n_members = MEMBERS, .n_windows = WINDOWS};
static const struct fsl_windows SMALL = {.n_members = 2, .n_windows = 2};

static void each_item_has_its_turn_once_for_any_number_of_threads(void **state)
{
	(void)state;
	static const size_t numbers[] = {0, 1, 2, 7, 16, 17, ITEMS_MAX};
	const struct fsl_view large = {.windows = &LARGE}, small = {.windows = &SMALL};
	int n_before = omp_get_max_threads();
	for (int n_threads = 1; n_threads <= 5; n_threads++) {
		omp_set_num_threads(n_threads);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
			expect_each_once(&large, numbers[k]);
			expect_each_once(&small, numbers[k]);
		}
	}
	omp_set_num_threads(n_before);
}

static void a_part_without_memory_is_an_error(void **state)
{
	(void)state;
	const struct fsl_view large = {.windows = &LARGE}, small = {.windows = &SMALL};
	for (int k = 0; k < 2; k++) {
		struct visits visits = {.n_spoiled = 0};
		struct fsl_error err = {0};
		fsl_mem_fail_at(1);
		enum fsl_status status = fsl_view_each(k == 0 ? &large : &small, ITEMS_MAX,
						       2 * sizeof(size_t), visit, &visits, &err);
		fsl_mem_fail_at(0);
		assert_int_equal(status, FSL_ERR_MEMORY);
		assert_int_equal(err.n_causes, 1);
	}
}

static void findings_are_copied_in(void **state)
{
	(void)state;
	struct fsl_findings findings = {0};
	for (int32_t i = 0; i < 100; i++) {
		struct fsl_finding finding = {.rank = i, .window_end = 1};
		assert_int_equal(fsl_findings_add(&findings, &finding, NULL), FSL_OK);
	}
	assert_int_equal(findings.n_items, 100);
	assert_int_equal(findings.items[99].rank, 99);
	fsl_findings_fini(&findings);
	assert_int_equal(findings.n_items, 0);
	struct fsl_error err = {0};
	fsl_mem_fail_at(1);
	struct fsl_finding finding = {0};
	assert_int_equal(fsl_findings_add(&findings, &finding, &err), FSL_ERR_MEMORY);
	fsl_mem_fail_at(0);
	assert_int_equal(findings.n_items, 0);
}

static void runs_of_labels_become_findings_with_their_effect(void **state)
{
	(void)state;
	static const uint8_t labels[] = {1, 1, 0, 1, 1, 1};
	static const double observed[] = {15.0, 25.0, 10.0, 20.0, NAN, 40.0};
	static const double expected[] = {10.0, 10.0, 10.0, 10.0, 10.0, 10.0};
	struct fsl_labelled series = {5, 6, labels, observed, expected};
	struct fsl_findings findings = {0};
	assert_int_equal(fsl_findings_add_runs(&findings, &series, NULL), FSL_OK);
	assert_int_equal(findings.n_items, 2);
	assert_int_equal(findings.items[0].rank, 5);
	assert_int_equal(findings.items[0].peer, -1);
	assert_int_equal(findings.items[0].window_begin, 0);
	assert_int_equal(findings.items[0].window_end, 2);
	assert_true(fabs(findings.items[0].slow_ratio - 2.0) < 1e-12);
	assert_true(fabs(findings.items[0].effect_ms - 10.0) < 1e-12);
	assert_true(fabs(findings.items[0].confidence - 0.75) < 1e-12);
	assert_int_equal(findings.items[1].window_end, 6);
	assert_true(fabs(findings.items[1].slow_ratio - 3.0) < 1e-12);
	fsl_findings_fini(&findings);
}

static void run_without_expectation_has_no_effect(void **state)
{
	(void)state;
	static const uint8_t labels[] = {1, 1};
	static const double observed[] = {15.0, 25.0};
	static const double unknown[] = {NAN, NAN};
	static const double zero[] = {0.0, 0.0};
	struct fsl_labelled series = {0, 2, labels, observed, unknown};
	struct fsl_findings findings = {0};
	assert_int_equal(fsl_findings_add_runs(&findings, &series, NULL), FSL_OK);
	assert_true(isnan(findings.items[0].slow_ratio));
	assert_true(isnan(findings.items[0].effect_ms));
	series.expected = zero;
	assert_int_equal(fsl_findings_add_runs(&findings, &series, NULL), FSL_OK);
	assert_true(isnan(findings.items[1].slow_ratio));
	assert_true(fabs(findings.items[1].effect_ms - 20.0) < 1e-12);
	fsl_findings_fini(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_windows_are_empty),
		cmocka_unit_test(no_member_and_no_window_are_fine),
		cmocka_unit_test(memory_errors_leave_nothing_behind),
		cmocka_unit_test(view_shows_one_member_at_a_time),
		cmocka_unit_test(each_item_has_its_turn_once_for_any_number_of_threads),
		cmocka_unit_test(a_part_without_memory_is_an_error),
		cmocka_unit_test(findings_are_copied_in),
		cmocka_unit_test(runs_of_labels_become_findings_with_their_effect),
		cmocka_unit_test(run_without_expectation_has_no_effect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
