/* A view of one step equals a capture that was read with that step as the only wanted one. */
#include "unit/ascend/whole_set.h"

#include <omp.h>

#include "blame/capture_places.h"
#include "capture/step_view.h"
#include "judge/finding.h"

/* Judges whose findings must not depend on how the step was chosen. */
static const struct {
	const char *name;
	fsl_profile_judge judge;
} judges[] = {
	{"slow_rank", fsl_profile_judge_slow_rank},
	{"stage_imbalance", fsl_profile_judge_stage_imbalance},
	{"slow_link", fsl_profile_judge_slow_link},
	{"compute", fsl_profile_judge_compute},
	{"dispatch", fsl_profile_judge_dispatch},
};
enum { JUDGES_N = sizeof(judges) / sizeof(judges[0]) };

static void ask(struct fsl_profile_findings *out, fsl_profile_judge judge,
		const struct fsl_profile *profile, const struct fsl_profile_cluster *cluster)
{
	struct fsl_error err = {0};
	struct fsl_profile_meetings meetings;
	assert_int_equal(fsl_profile_meet(&meetings, profile, cluster, &err), FSL_OK);
	struct fsl_capture_places places;
	struct fsl_profile_case facts = {
		.profile = profile, .cluster = cluster, .n_threads = 1, .meetings = &meetings};
	assert_int_equal(
		fsl_capture_places_find(&places, profile, cluster, &facts.look, &meetings, &err),
		FSL_OK);
	facts.places = &places;
	assert_int_equal(judge(out, &facts, &err), FSL_OK);
	fsl_capture_places_fini(&places);
	fsl_profile_meetings_fini(&meetings);
	fsl_profile_findings_sort(out);
}

static void assert_equal_findings(const struct fsl_profile_findings *a,
				  const struct fsl_profile_findings *b)
{
	assert_int_equal(a->n_items, b->n_items);
	for (size_t i = 0; i < a->n_items; i++) {
		const struct fsl_profile_finding *left = &a->items[i], *right = &b->items[i];
		assert_int_equal(left->code, right->code);
		assert_string_equal(left->what, right->what);
		assert_string_equal(left->advice, right->advice);
		assert_int_equal(left->rank, right->rank);
		assert_int_equal(left->peer, right->peer);
		assert_true(left->gain_ms == right->gain_ms ||
			    (isnan(left->gain_ms) && isnan(right->gain_ms)));
		assert_int_equal(left->n_facts, right->n_facts);
		for (size_t f = 0; f < left->n_facts; f++) {
			assert_string_equal(left->facts[f].name, right->facts[f].name);
			assert_true(left->facts[f].value == right->facts[f].value);
		}
	}
}

/* All judges on both; returns how many findings there were. */
static size_t compare(const struct fsl_profile *a, const struct fsl_profile_cluster *cluster_a,
		      const struct fsl_profile *b, const struct fsl_profile_cluster *cluster_b)
{
	size_t n = 0;
	for (size_t j = 0; j < JUDGES_N; j++) {
		struct fsl_profile_findings of_a = {0}, of_b = {0};
		ask(&of_a, judges[j].judge, a, cluster_a);
		ask(&of_b, judges[j].judge, b, cluster_b);
		assert_equal_findings(&of_a, &of_b);
		n += of_a.n_items;
		fsl_profile_findings_fini(&of_a);
		fsl_profile_findings_fini(&of_b);
	}
	return n;
}

static void a_view_of_the_bundled_set_equals_reading_that_step_alone(void **state)
{
	(void)state;
	static const char path[] = FSL_SOURCE_DIR "/datasets/profile/slow_rank";
	struct fsl_error err = {0};
	struct whole_set set;
	struct fsl_step_view view;
	whole_set_begin(&set, path);
	assert_int_equal(set.cluster.n_steps, 3);
	assert_int_equal(fsl_step_view_init(&view, &set.profile, &err), FSL_OK);
	for (size_t s = 0; s < set.cluster.n_steps; s++) {
		struct whole_set alone = {0};
		const struct fsl_profile_options options = {
			.path = path, .steps = &set.cluster.steps[s], .n_steps = 1, .n_threads = 1};
		assert_int_equal(fsl_profile_read(&alone.profile, &options, &err), FSL_OK);
		assert_int_equal(fsl_profile_cluster_build(&alone.cluster, &alone.profile, &err),
				 FSL_OK);
		fsl_step_view_show(&view, set.cluster.steps[s]);
		assert_true(compare(&view.profile, &set.cluster, &alone.profile, &alone.cluster) >
			    3);
		whole_set_end(&alone);
	}
	fsl_step_view_fini(&view);
	whole_set_end(&set);
}

enum { STEPS = 5, RANKS = 6 };

/* Adds the rows of a rank in one step. In each step another rank is slow, another is idle for long,
 * and another has links. */
static void add_step(struct small_capture *small, size_t r, int64_t step)
{
	char name[64];
	bool is_slow = (int64_t)r == step, is_free = (int64_t)r == (step + 1) % RANKS;
	bool has_slow_link = (int64_t)r == (step + 2) % RANKS;
	small_step(small, r, step, (is_slow ? 490.0 : 400.0) + 0.01 * (double)r, 100.0,
		   is_free ? 120.0 : 3.0);
	for (int i = 0; i < 4; i++) {
		(void)snprintf(name, sizeof(name), "hcom_allReduce__586_%d_1", (int)(step * 4 + i));
		small_comm(small, r, step, name, "586", 1000.0 * (double)step + 100.0 * i,
			   is_slow ? 0.5 : 20.0 + 0.01 * (double)r);
	}
	small_link(small, r, step, "allreduce-total", "586", (int32_t)r, (int32_t)r, 1.0, 1.0);
	for (int32_t to = 0; to < RANKS; to++) {
		if (to != (int32_t)r) {
			small_link(small, r, step, "allreduce-total", "586", (int32_t)r, to,
				   10000.0, has_slow_link && to < 2 ? 20.0 : 100.0);
		}
	}
}

/* @step FSL_STEP_ABSENT: all of them, some ranks' in disorder; rank 4 lacks step 3. */
static void begin(struct small_capture *small, int64_t step)
{
	small_begin(small, RANKS);
	for (size_t r = 0; r < RANKS; r++) {
		for (int64_t s = 0; s < STEPS; s++) {
			int64_t own = r % 2 == 0 ? STEPS - 1 - s : s;
			if ((step == FSL_STEP_ABSENT || own == step) && !(r == 4 && own == 3)) {
				add_step(small, r, own);
			}
		}
	}
}

static void a_view_of_rows_in_any_order_equals_a_capture_of_that_step(void **state)
{
	(void)state;
	struct small_capture all;
	struct fsl_step_view view;
	size_t n = 0;
	begin(&all, FSL_STEP_ABSENT);
	assert_int_equal(fsl_step_view_init(&view, &all.profile, NULL), FSL_OK);
	for (int64_t step = 0; step < STEPS; step++) {
		struct small_capture one;
		begin(&one, step);
		fsl_step_view_show(&view, step);
		n += compare(&view.profile, &all.cluster, &one.profile, &one.cluster);
		small_end(&one);
	}
	print_message("%zu findings\n", n);
	assert_true(n > 10);
	fsl_step_view_fini(&view);
	small_end(&all);
}

static void ranks_without_the_step_are_there_and_have_nothing(void **state)
{
	(void)state;
	struct small_capture all;
	struct fsl_step_view view;
	begin(&all, FSL_STEP_ABSENT);
	assert_int_equal(fsl_step_view_init(&view, &all.profile, NULL), FSL_OK);
	fsl_step_view_show(&view, 3);
	assert_int_equal(view.profile.n_ranks, RANKS);
	assert_true(fsl_step_view_has(&view, 3));
	assert_false(fsl_step_view_has(&view, 4));
	fsl_step_view_show(&view, INT64_MAX);
	assert_false(fsl_step_view_has(&view, 3));
	fsl_step_view_fini(&view);
	small_end(&all);
}

static void rows_without_a_number_and_sums_are_in_no_view(void **state)
{
	(void)state;
	struct small_capture all;
	struct fsl_step_view view;
	small_begin(&all, 1);
	small_step(&all, 0, FSL_STEP_ABSENT, 1.0, 1.0, 1.0);
	small_step(&all, 0, 4, 2.0, 1.0, 1.0);
	small_comm(&all, 0, FSL_STEP_ABSENT, "hcom_allReduce__586_0_1", "586", 0.0, 1.0);
	all.profile.ranks[0].has_trace = true;
	all.profile.ranks[0].trace.n_freqs = 1;
	assert_int_equal(fsl_step_view_init(&view, &all.profile, NULL), FSL_OK);
	fsl_step_view_show(&view, 4);
	const struct fsl_profile_rank *rank = &view.profile.ranks[0];
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].computing_ns, small_ns(2.0));
	assert_int_equal(rank->n_comms, 0);
	assert_false(rank->has_trace);
	assert_int_equal(rank->trace.n_freqs, 0);
	fsl_step_view_fini(&view);
	small_end(&all);
}

static void a_view_for_which_memory_is_short_is_empty(void **state)
{
	(void)state;
	struct small_capture all;
	enum fsl_status status = FSL_ERR_MEMORY;
	begin(&all, FSL_STEP_ABSENT);
	uint64_t n = 0;
	while (status != FSL_OK) {
		struct fsl_error err = {0};
		struct fsl_step_view view;
		fsl_mem_fail_at(++n);
		status = fsl_step_view_init(&view, &all.profile, &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true((view.rows != NULL) == (status == FSL_OK));
		fsl_step_view_fini(&view);
	}
	assert_true(n > 3);
	small_end(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_of_the_bundled_set_equals_reading_that_step_alone),
		cmocka_unit_test(a_view_of_rows_in_any_order_equals_a_capture_of_that_step),
		cmocka_unit_test(ranks_without_the_step_are_there_and_have_nothing),
		cmocka_unit_test(rows_without_a_number_and_sums_are_in_no_view),
		cmocka_unit_test(a_view_for_which_memory_is_short_is_empty),
	};
	omp_set_num_threads(1); /* small jobs: threads would wait for each other */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
