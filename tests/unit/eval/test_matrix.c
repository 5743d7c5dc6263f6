/* The matrix: what the presets cover, and that jobs can be asked for again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "eval/matrix.h"

struct made {
	struct fsl_arena arena;
	struct fsl_eval_task *tasks;
	size_t n;
};

static enum fsl_status make(struct made *made, const struct fsl_eval_selection *selection)
{
	*made = (struct made){0};
	return fsl_eval_matrix(&made->tasks, &made->n, selection, &made->arena, NULL);
}

static struct fsl_eval_selection selection_of(const char *preset)
{
	return (struct fsl_eval_selection){
		.preset = preset, .seed_from = FSL_EVAL_SEED_TUNE, .seed_to = -1};
}

static void full_covers_every_fault_and_condition(void **state)
{
	(void)state;
	const struct fsl_eval_scenario *scenarios = NULL;
	size_t n_scenarios = fsl_eval_scenarios(&scenarios);
	struct fsl_eval_selection selection = selection_of("full");
	struct made made;
	size_t n_clean = 0;
	uint32_t conditions = 0;
	assert_int_equal(make(&made, &selection), FSL_OK);
	for (size_t s = 0; s < n_scenarios; s++) {
		bool is_there = false;
		for (size_t i = 0; i < made.n; i++) {
			is_there = is_there || made.tasks[i].scenario == &scenarios[s];
		}
		assert_true(is_there);
	}
	for (size_t i = 0; i < made.n; i++) {
		n_clean += strcmp(made.tasks[i].scenario->name, "clean") == 0;
		conditions |= UINT32_C(1) << made.tasks[i].condition;
		assert_true(made.tasks[i].duration_steps < made.tasks[i].n_steps);
	}
	assert_true(n_clean >= 200);
	assert_int_equal(conditions, (UINT32_C(1) << FSL_EVAL_CONDITIONS_N) - 1);
	fsl_arena_fini(&made.arena);
}

static void halves_have_no_job_in_common(void **state)
{
	(void)state;
	struct fsl_eval_selection tune = selection_of("quick"), test = selection_of("quick");
	struct made tuned, tested;
	test.seed_from = FSL_EVAL_SEED_TEST;
	assert_int_equal(make(&tuned, &tune), FSL_OK);
	assert_int_equal(make(&tested, &test), FSL_OK);
	assert_int_equal(tuned.n, tested.n);
	for (size_t i = 0; i < tuned.n; i++) {
		for (size_t k = 0; k < tested.n; k++) {
			assert_true(tuned.tasks[i].random != tested.tasks[k].random);
		}
	}
	fsl_arena_fini(&tuned.arena);
	fsl_arena_fini(&tested.arena);
}

static void filtered_job_is_the_same_as_in_the_whole_matrix(void **state)
{
	(void)state;
	static const char *const filters[] = {"fault=link|host", "ranks=8"};
	struct fsl_eval_selection all = selection_of("quick"), some = selection_of("quick");
	struct made whole, part;
	some.filters = filters;
	some.n_filters = 2;
	assert_int_equal(make(&whole, &all), FSL_OK);
	assert_int_equal(make(&part, &some), FSL_OK);
	assert_true(part.n > 0 && part.n < whole.n);
	for (size_t i = 0; i < part.n; i++) {
		const struct fsl_eval_task *task = &part.tasks[i];
		const struct fsl_eval_task *same = &whole.tasks[task->idx];
		assert_true(task->random == same->random && task->scenario == same->scenario);
		assert_true(task->condition == same->condition && task->n_ranks == 8);
	}
	fsl_arena_fini(&whole.arena);
	fsl_arena_fini(&part.arena);
}

static void limit_spreads_over_the_matrix(void **state)
{
	(void)state;
	struct fsl_eval_selection selection = selection_of("quick");
	struct made made, few;
	assert_int_equal(make(&made, &selection), FSL_OK);
	selection.limit = 4;
	assert_int_equal(make(&few, &selection), FSL_OK);
	assert_int_equal(few.n, 4);
	assert_int_equal(few.tasks[0].idx, 0);
	assert_true(few.tasks[3].idx >= made.n / 2);
	fsl_arena_fini(&made.arena);
	fsl_arena_fini(&few.arena);
}

static void range_of_seeds_replaces_the_number_of_the_preset(void **state)
{
	(void)state;
	struct fsl_eval_selection selection = selection_of("quick");
	struct made made;
	selection.seed_from = selection.seed_to = 42;
	assert_int_equal(make(&made, &selection), FSL_OK);
	for (size_t i = 0; i < made.n; i++) {
		assert_int_equal(made.tasks[i].seed, 42);
	}
	fsl_arena_fini(&made.arena);
}

static void families_are_the_part_of_full_that_stands_for_itself(void **state)
{
	(void)state;
	struct fsl_eval_selection all = selection_of("full"), own = selection_of("families");
	struct made full, families;
	size_t n = 0;
	assert_int_equal(make(&full, &all), FSL_OK);
	assert_int_equal(make(&families, &own), FSL_OK);
	for (size_t i = 0; i < full.n; i++) {
		if (fsl_eval_is_family(full.tasks[i].topology)) {
			assert_true(n < families.n);
			assert_true(full.tasks[i].random == families.tasks[n].random);
			/* Few ranks and steps: a capture takes a moment. */
			assert_in_range(full.tasks[i].n_ranks, 8, 16);
			assert_in_range(full.tasks[i].n_steps, 60, 90);
			n++;
		}
	}
	assert_int_equal(n, families.n);
	fsl_arena_fini(&full.arena);
	fsl_arena_fini(&families.arena);
}

static void unknown_preset_and_filter_are_refused(void **state)
{
	(void)state;
	static const char *const filters[] = {"colour=red"};
	struct fsl_eval_selection selection = selection_of("huge");
	struct made made;
	assert_int_equal(make(&made, &selection), FSL_ERR_USAGE);
	fsl_arena_fini(&made.arena);
	selection = selection_of("quick");
	selection.filters = filters;
	selection.n_filters = 1;
	assert_int_equal(make(&made, &selection), FSL_ERR_USAGE);
	fsl_arena_fini(&made.arena);
}

/* The one filter is refused, and the message says @wanted. */
static void check_refused(const char *filter, const char *wanted)
{
	struct fsl_eval_selection selection = selection_of("quick");
	struct fsl_error err = {0};
	struct made made = {0};
	selection.filters = &filter;
	selection.n_filters = 1;
	assert_int_equal(fsl_eval_matrix(&made.tasks, &made.n, &selection, &made.arena, &err),
			 FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), wanted));
	fsl_arena_fini(&made.arena);
}

static void value_that_no_job_has_is_refused(void **state)
{
	(void)state;
	check_refused("fault=nope",
		      "filter=\"fault\", value=\"nope\", allowed=\"clean, compute-one, ");
	check_refused("fault=link|compute-on",
		      "value=\"compute-on\", did_you_mean=\"compute-one\"");
	check_refused("fault=link|", "value=\"\", allowed=");
	check_refused("fault=", "value=\"\", allowed=");
	check_refused("topology=tp8dp64pp8", "value=\"tp8dp64pp8\"");
	check_refused("ranks=640", "value=\"640\"");
	check_refused("magnitude=0.2", "value=\"0.2\"");
	check_refused("condition=relabeled", "did_you_mean=\"relabelled\"");
}

static void filters_that_no_job_fits_are_refused(void **state)
{
	(void)state;
	static const char *const filters[] = {"fault=hang", "magnitude=20"};
	struct fsl_eval_selection selection = selection_of("quick");
	struct made made;
	selection.filters = filters;
	selection.n_filters = 2;
	assert_int_equal(make(&made, &selection), FSL_ERR_USAGE);
	fsl_arena_fini(&made.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_covers_every_fault_and_condition),
		cmocka_unit_test(halves_have_no_job_in_common),
		cmocka_unit_test(filtered_job_is_the_same_as_in_the_whole_matrix),
		cmocka_unit_test(limit_spreads_over_the_matrix),
		cmocka_unit_test(range_of_seeds_replaces_the_number_of_the_preset),
		cmocka_unit_test(families_are_the_part_of_full_that_stands_for_itself),
		cmocka_unit_test(unknown_preset_and_filter_are_refused),
		cmocka_unit_test(value_that_no_job_has_is_refused),
		cmocka_unit_test(filters_that_no_job_fits_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
