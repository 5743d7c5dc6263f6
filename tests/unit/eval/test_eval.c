/* An evaluation through the engine: tiny jobs, the baselines, threads, and an end before the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "eval/eval.h"
#include "eval/eval_report.h"
#include "plugin/registry.h"

static struct fsl_registry *registry;
static struct fsl_config config;

static int set_up(void **state)
{
	(void)state;
	registry = fsl_registry_create();
	return registry == NULL || fsl_config_load(&config, NULL, registry, NULL) != FSL_OK;
}

static int tear_down(void **state)
{
	(void)state;
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return 0;
}

static void ignore_progress(void *context, size_t n_done, size_t n_tasks, double share_done)
{
	(void)context;
	assert_true(n_done <= n_tasks && share_done <= 1.0 + 1e-9);
}

/* Goes on for *context jobs. */
static bool count_down(void *context)
{
	size_t *n_left = context;
	bool result = *n_left > 0;
	*n_left -= result;
	return result;
}

static void run(struct fsl_eval *eval, const char *const *filters, size_t n_filters,
		const char *baselines, size_t n_jobs)
{
	struct fsl_eval_selection selection = {.preset = "quick",
					       .seed_from = 1,
					       .seed_to = 1,
					       .filters = filters,
					       .n_filters = n_filters};
	struct fsl_eval_progress progress = {ignore_progress, count_down, &n_jobs};
	assert_int_equal(fsl_eval_init(eval, &selection, baselines, &config, NULL), FSL_OK);
	assert_int_equal(fsl_eval_run(eval, &config, &progress, NULL), FSL_OK);
}

static const char *const one_slow_rank[] = {"fault=compute-one", "topology=tp4dp2",
					    "magnitude=20|50"};

static void one_slow_rank_is_named_by_the_engine_and_never_by_the_longest_operator(void **state)
{
	(void)state;
	struct fsl_eval eval;
	struct fsl_eval_figures engine, longest;
	struct fsl_eval_subset all = {NULL, NULL, 0};
	run(&eval, one_slow_rank, 3, "longest-collective,fixed-1.1x", SIZE_MAX);
	assert_int_equal(eval.n_done, 2);
	assert_int_equal(fsl_eval_figure(&engine, &eval, FSL_EVAL_ENGINE, &all, NULL), FSL_OK);
	assert_int_equal(fsl_eval_figure(&longest, &eval, 0, &all, NULL), FSL_OK);
	assert_true(fsl_eval_rank_prf(&engine.tally).f1 == 1.0);
	assert_true(engine.onset_p95_steps <= 5.0);
	assert_true(engine.slowdown_p95 < 0.1);
	assert_int_equal(longest.tally.n_hit, 0);
	assert_true(longest.tally.n_wrong > 0);
	fsl_eval_fini(&eval);
}

static void every_baseline_answers(void **state)
{
	(void)state;
	struct fsl_eval eval;
	run(&eval, one_slow_rank, 3, "all", SIZE_MAX);
	assert_true(eval.n_baselines >= 10);
	for (size_t i = 0; i < eval.n_tasks; i++) {
		for (size_t b = 0; b < eval.n_baselines; b++) {
			const struct fsl_eval_marks *marks =
				fsl_eval_marks_of(&eval.results[i], (int)b);
			assert_int_equal(marks->n_hit + marks->n_missed, 1);
			assert_false(marks->has_failed);
		}
	}
	fsl_eval_fini(&eval);
}

static void table_of_jobs_is_the_same_on_any_number_of_threads(void **state)
{
	(void)state;
	static const char *const filters[] = {"ranks=8", "magnitude=0|10"};
	char *texts[2] = {NULL, NULL};
	struct fsl_page pages[2];
	for (int i = 0; i < 2; i++) {
		struct fsl_eval eval;
		omp_set_num_threads(i + 1);
		run(&eval, filters, 2, "quick", SIZE_MAX);
		fsl_page_init(&pages[i], false);
		fsl_eval_jobs_csv(&pages[i], &eval);
		assert_int_equal(fsl_eval_summary(&pages[i], &eval, NULL), FSL_OK);
		fsl_eval_list_wrong(&pages[i], &eval);
		texts[i] = pages[i].text;
		fsl_eval_fini(&eval);
	}
	assert_string_equal(texts[0], texts[1]);
	fsl_page_fini(&pages[0]);
	fsl_page_fini(&pages[1]);
}

static void interrupted_run_tells_what_was_done(void **state)
{
	(void)state;
	static const char *const filters[] = {"ranks=8", "magnitude=0"};
	struct fsl_eval eval;
	struct fsl_page page;
	omp_set_num_threads(1);
	run(&eval, filters, 2, "none", 2);
	assert_int_equal(eval.n_done, 2);
	assert_true(eval.n_tasks > 2);
	fsl_page_init(&page, false);
	assert_int_equal(fsl_eval_summary(&page, &eval, NULL), FSL_OK);
	assert_non_null(strstr(page.text, "ended early: 2 of"));
	fsl_page_fini(&page);
	fsl_eval_fini(&eval);
}

static void gates_are_missed_by_wrong_answers_only(void **state)
{
	(void)state;
	struct fsl_eval eval;
	struct fsl_page page;
	bool passed = false;
	run(&eval, one_slow_rank, 3, "none", SIZE_MAX);
	fsl_page_init(&page, false);
	assert_int_equal(fsl_eval_gates(&page, &eval, &passed, NULL), FSL_OK);
	assert_true(passed);
	eval.results[0].marks.n_wrong = 1;
	assert_int_equal(fsl_eval_gates(&page, &eval, &passed, NULL), FSL_OK);
	assert_false(passed);
	fsl_page_fini(&page);
	fsl_eval_fini(&eval);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			one_slow_rank_is_named_by_the_engine_and_never_by_the_longest_operator),
		cmocka_unit_test(every_baseline_answers),
		cmocka_unit_test(table_of_jobs_is_the_same_on_any_number_of_threads),
		cmocka_unit_test(interrupted_run_tells_what_was_done),
		cmocka_unit_test(gates_are_missed_by_wrong_answers_only),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
