/* Steps from tasks: compared with a naive count ns by ns, in any order, with any window. */
#include "capture/breakdown.h"

#include "reading.h"

enum { TASKS_MAX = 40, TIME_MAX = 160, STEPS_N = 4, RUNS_N = 4000 };

static struct fsl_profile_rank rank;
static const struct fsl_profile_input input;

static int teardown(void **state)
{
	(void)state;
	fsl_free(rank.rebuilt);
	fsl_free(rank.gaps);
	rank = (struct fsl_profile_rank){0};
	return 0;
}

static bool count(const struct fsl_task *tasks, size_t n, size_t window)
{
	bool is_late = false, is_whole = false;
	struct fsl_breakdown *breakdown = fsl_breakdown_create(window);
	assert_non_null(breakdown);
	(void)teardown(NULL);
	for (size_t i = 0; i < n && !is_late; i++) {
		assert_int_equal(fsl_breakdown_add(breakdown, &tasks[i], &is_late, NULL), FSL_OK);
	}
	if (!is_late) {
		assert_int_equal(
			fsl_breakdown_finish(breakdown, &rank, &input, -1, &is_whole, NULL),
			FSL_OK);
		assert_true(is_whole);
	}
	fsl_breakdown_destroy(breakdown);
	return !is_late;
}

/* State of one ns. */
struct instant {
	int computing, communication; /* slice; -1: none */
	size_t latest;                /* task that began last, also at this instant */
	bool is_begin;                /* a task begins here */
};

static int open_slices(const struct fsl_task *tasks, size_t n, bool is_compute, int64_t at)
{
	int slice = -1;
	int64_t end_ns = -1;
	for (size_t i = 0; i < n && tasks[i].begin_ns <= at; i++) {
		if ((tasks[i].kind == FSL_TASK_COMPUTE) != is_compute) {
			continue;
		}
		slice = tasks[i].begin_ns >= end_ns ? (int)i : slice;
		end_ns = tasks[i].end_ns > end_ns ? tasks[i].end_ns : end_ns;
	}
	return at < end_ns ? slice : -1;
}

static struct instant look(const struct fsl_task *tasks, size_t n, int64_t at)
{
	struct instant now = {open_slices(tasks, n, true, at), open_slices(tasks, n, false, at), 0,
			      false};
	for (size_t i = 0; i < n && tasks[i].begin_ns <= at; i++) {
		now.latest = i;
		now.is_begin = tasks[i].begin_ns == at;
	}
	return now;
}

/* Sums by step, @tasks in order. */
static void count_naively(const struct fsl_task *tasks, size_t n,
			  struct fsl_profile_step sums[STEPS_N])
{
	int64_t end_ns = 0, exposed_step = -1, free_step = -1;
	int exposed_slice = -1;
	memset(sums, 0, STEPS_N * sizeof(*sums));
	for (size_t i = 0; i < n; i++) {
		end_ns = tasks[i].end_ns > end_ns ? tasks[i].end_ns : end_ns;
		sums[tasks[i].step].bubble_ns +=
			tasks[i].kind == FSL_TASK_RECEIVE ? tasks[i].end_ns - tasks[i].begin_ns : 0;
	}
	for (int64_t at = tasks[0].begin_ns; at < end_ns; at++) {
		struct instant now = look(tasks, n, at);
		bool is_exposed = now.communication >= 0 && now.computing < 0;
		bool is_free = now.communication < 0 && now.computing < 0;
		if (now.computing >= 0) {
			sums[tasks[now.computing].step].computing_ns++;
		}
		if (now.communication >= 0) {
			sums[tasks[now.communication].step].communication_ns++;
		}
		if (is_exposed) {
			if (exposed_slice != now.communication) {
				exposed_step = tasks[now.latest].step;
			}
			sums[exposed_step].exposed_ns++;
		}
		exposed_slice = is_exposed ? now.communication : -1;
		if (is_free) {
			if (free_step < 0 || now.is_begin) {
				free_step = tasks[now.latest].step;
			}
			sums[free_step].free_ns++;
		}
		free_step = is_free ? free_step : -1;
	}
}

static uint32_t dice(uint64_t *state, uint32_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % n);
}

static int compare(const void *left, const void *right)
{
	const struct fsl_task *a = left, *b = right;
	int64_t order = a->begin_ns - b->begin_ns;
	order = order != 0 ? order : a->end_ns - b->end_ns;
	order = order != 0 ? order : (int64_t)a->kind - (int64_t)b->kind;
	order = order != 0 ? order : a->step - b->step;
	order = order != 0 ? order : (int64_t)a->name_id - (int64_t)b->name_id;
	return (order > 0) - (order < 0);
}

static size_t throw_tasks(struct fsl_task *tasks, uint64_t *state)
{
	size_t n = 1 + dice(state, TASKS_MAX);
	for (size_t i = 0; i < n; i++) {
		int64_t begin_ns = dice(state, TIME_MAX);
		tasks[i] = (struct fsl_task){.begin_ns = begin_ns,
					     .end_ns = begin_ns + dice(state, 12),
					     .step = dice(state, STEPS_N),
					     .name_id = (uint32_t)i,
					     .kind = (enum fsl_task_kind)dice(state, 3)};
	}
	return n;
}

static void assert_sums(const struct fsl_profile_step sums[STEPS_N])
{
	for (size_t i = 0; i < rank.n_rebuilt; i++) {
		const struct fsl_profile_step *step = &rank.rebuilt[i];
		const struct fsl_profile_step *told = &sums[step->step];
		assert_true(i == 0 || step[-1].step < step->step);
		assert_int_equal(step->computing_ns, told->computing_ns);
		assert_int_equal(step->communication_ns, told->communication_ns);
		assert_int_equal(step->exposed_ns, told->exposed_ns);
		assert_int_equal(step->free_ns, told->free_ns);
		assert_int_equal(step->bubble_ns, told->bubble_ns);
	}
}

static void sums_are_those_of_a_naive_count(void **state)
{
	(void)state;
	struct fsl_task tasks[TASKS_MAX], sorted[TASKS_MAX];
	struct fsl_profile_step sums[STEPS_N];
	uint64_t dices = 1;
	size_t n_windows = 0;
	for (int run = 0; run < RUNS_N; run++) {
		size_t n = throw_tasks(tasks, &dices);
		memcpy(sorted, tasks, n * sizeof(*tasks));
		qsort(sorted, n, sizeof(*sorted), compare);
		count_naively(sorted, n, sums);
		assert_true(count(tasks, n, SIZE_MAX));
		assert_sums(sums);
		assert_true(count(sorted, n, 2));
		assert_sums(sums);
		if (count(tasks, n, 24)) {
			assert_sums(sums);
			n_windows += n >= 24;
		}
	}
	assert_true(n_windows > RUNS_N / 1000);
}

static void a_slice_counts_for_the_step_of_its_begin(void **state)
{
	(void)state;
	const struct fsl_task tasks[] = {
		{0, 10, 1, 0, FSL_TASK_COMPUTE, 0},
		{12, 30, 1, 1, FSL_TASK_COMMUNICATION, 0},
		{20, 24, 2, 2, FSL_TASK_COMPUTE, 0},
		{22, 26, 1, 3, FSL_TASK_COMPUTE, 0},
		{30, 31, 2, 4, FSL_TASK_COMMUNICATION, 0},
	};
	assert_true(count(tasks, 5, FSL_BREAKDOWN_WINDOW));
	const struct fsl_profile_step *steps = rank.rebuilt;
	assert_int_equal(rank.n_rebuilt, 2);
	assert_int_equal(steps[0].computing_ns, 10);
	assert_int_equal(steps[0].free_ns, 2);
	assert_int_equal(steps[0].communication_ns, 18);
	assert_int_equal(steps[0].exposed_ns, 8 + 4); /* behind a task of step 1 */
	assert_int_equal(steps[0].stage_ns, 30);
	assert_int_equal(steps[1].computing_ns, 6);
	assert_int_equal(steps[1].communication_ns, 1);
	assert_int_equal(steps[1].stage_ns, 11);
}

static void tasks_outside_of_all_steps_are_left_out(void **state)
{
	(void)state;
	const struct fsl_task tasks[] = {
		{0, 10, FSL_STEP_ABSENT, 0, FSL_TASK_COMPUTE, 0},
		{12, 15, 7, 1, FSL_TASK_COMPUTE, 0},
		{20, 24, FSL_STEP_ABSENT, 2, FSL_TASK_COMPUTE, 0},
	};
	assert_true(count(tasks, 3, FSL_BREAKDOWN_WINDOW));
	assert_int_equal(rank.n_rebuilt, 1);
	assert_int_equal(rank.rebuilt[0].step, 7);
	assert_int_equal(rank.rebuilt[0].computing_ns, 3);
	assert_int_equal(rank.rebuilt[0].free_ns, 5);
	assert_int_equal(rank.n_gaps, 1);
	assert_true(count(tasks, 1, FSL_BREAKDOWN_WINDOW));
	assert_int_equal(rank.n_rebuilt, 1);
	assert_int_equal(rank.rebuilt[0].step, FSL_STEP_ABSENT);
}

static void the_longest_gaps_are_kept_in_order(void **state)
{
	(void)state;
	enum { N = 3 * FSL_PROFILE_GAPS_MAX };
	struct fsl_task tasks[N];
	int64_t at = 0;
	for (size_t i = 0; i < N; i++) {
		tasks[i] = (struct fsl_task){at, at + 1, 0, (uint32_t)i, FSL_TASK_COMPUTE, 0};
		at += 1 + (int64_t)((i * 7) % N + 1) / 2;
	}
	assert_true(count(tasks, N, FSL_BREAKDOWN_WINDOW));
	assert_int_equal(rank.n_gaps, FSL_PROFILE_GAPS_MAX);
	for (size_t i = 0; i < rank.n_gaps; i++) {
		const struct fsl_profile_gap *gap = &rank.gaps[i];
		assert_int_equal(gap->before_id + 1, gap->after_id);
		assert_int_equal(gap->begin_ns, tasks[gap->before_id].end_ns);
		assert_int_equal(gap->begin_ns + gap->dur_ns, tasks[gap->after_id].begin_ns);
		assert_true(i == 0 || gap[-1].dur_ns > gap->dur_ns ||
			    (gap[-1].dur_ns == gap->dur_ns && gap[-1].begin_ns < gap->begin_ns));
		assert_true(gap->dur_ns >= (N - FSL_PROFILE_GAPS_MAX) / 2);
	}
}

static void times_at_the_end_of_the_scale_do_not_overflow(void **state)
{
	(void)state;
	const struct fsl_task tasks[] = {
		{0, INT64_MAX, 0, 0, FSL_TASK_RECEIVE, 0},
		{0, INT64_MAX, 0, 1, FSL_TASK_RECEIVE, 0},
		{INT64_MAX, INT64_MAX, 0, 2, FSL_TASK_COMPUTE, 0},
	};
	assert_true(count(tasks, 3, FSL_BREAKDOWN_WINDOW));
	assert_int_equal(rank.rebuilt[0].bubble_ns, INT64_MAX);
	assert_int_equal(rank.rebuilt[0].communication_ns, INT64_MAX);
	assert_int_equal(rank.rebuilt[0].stage_ns, 0);
}

static void too_many_steps_are_told(void **state)
{
	(void)state;
	bool is_late = false, is_whole = true;
	struct fsl_breakdown *breakdown = fsl_breakdown_create(64);
	assert_non_null(breakdown);
	for (int64_t i = 0; i <= FSL_BREAKDOWN_STEPS_MAX; i++) {
		const struct fsl_task task = {i, i + 1, i, 0, FSL_TASK_COMPUTE, 0};
		assert_int_equal(fsl_breakdown_add(breakdown, &task, &is_late, NULL), FSL_OK);
	}
	assert_int_equal(fsl_breakdown_finish(breakdown, &rank, &input, -1, &is_whole, NULL),
			 FSL_OK);
	assert_false(is_whole);
	assert_int_equal(rank.n_rebuilt, FSL_BREAKDOWN_STEPS_MAX);
	fsl_breakdown_destroy(breakdown);
}

static void nothing_makes_no_step(void **state)
{
	(void)state;
	assert_true(count(NULL, 0, FSL_BREAKDOWN_WINDOW));
	assert_int_equal(rank.n_rebuilt, 0);
	assert_int_equal(rank.n_gaps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sums_are_those_of_a_naive_count, teardown),
		cmocka_unit_test_teardown(a_slice_counts_for_the_step_of_its_begin, teardown),
		cmocka_unit_test_teardown(tasks_outside_of_all_steps_are_left_out, teardown),
		cmocka_unit_test_teardown(the_longest_gaps_are_kept_in_order, teardown),
		cmocka_unit_test_teardown(times_at_the_end_of_the_scale_do_not_overflow, teardown),
		cmocka_unit_test_teardown(too_many_steps_are_told, teardown),
		cmocka_unit_test_teardown(nothing_makes_no_step, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
