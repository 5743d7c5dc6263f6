/* GeneralizedESD: members that stand out in one window, and the vectors of the peer tool. */
#include "detectors/bench.h"

#include <stdlib.h>

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "GeneralizedESD", params);
	bench_shape(bench, FSL_METRIC_OWN, FSL_WINDOW_STEP, n_members, n_windows);
	bench_fill(bench, 100.0, 1.0);
}

static void fires_on_the_member_that_stands_out_in_its_window_alone(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 3);
	bench_add(&bench, 5, 1, 2, 50.0);
	bench_expect_one(&bench, 5, 1, 2);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.5) < 0.02);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 50.0) < 2.0);
	assert_true(bench_finding(&bench, 0)->confidence > 0.999);
	assert_int_equal(bench_finding(&bench, 0)->peer, -1);
	bench_expect_relabelled(&bench);
	bench_fini(&bench);
}

static void one_window_is_enough(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 6, 1);
	bench_add(&bench, 0, 0, 1, 50.0);
	bench_expect_one(&bench, 0, 0, 1);
	bench_fini(&bench);
}

static void outliers_do_not_hide_each_other(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 16, 1);
	bench_add(&bench, 3, 0, 1, 60.0);
	bench_add(&bench, 7, 0, 1, 50.0);
	bench_add(&bench, 8, 0, 1, 40.0);
	bench_add(&bench, 2, 0, 1, -200.0);
	assert_int_equal(bench_scan(&bench), 3);
	assert_int_equal(bench_finding(&bench, 0)->rank, 3);
	assert_int_equal(bench_finding(&bench, 1)->rank, 7);
	assert_int_equal(bench_finding(&bench, 2)->rank, 8);
	bench_fini(&bench);
}

static void one_far_below_the_others_is_not_told(void **state)
{
	(void)state;
	for (size_t n = 4; n <= 64; n *= 2) {
		struct bench bench;
		start(&bench, NULL, n, 4);
		bench_add(&bench, 1, 0, 4, -50.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

/* Nearly normal: the sum of twelve uniform numbers. */
static double normal_noise(struct bench *bench)
{
	double sum = 0.0;
	for (int i = 0; i < 12; i++) {
		sum += bench_noise(bench);
	}
	return sum;
}

/* Windows with a finding. */
static size_t n_alarmed(struct bench *bench)
{
	static uint8_t alarmed[4096];
	size_t n = 0;
	memset(alarmed, 0, sizeof(alarmed));
	for (size_t i = bench_scan(bench); i-- > 0;) {
		size_t w = bench_finding(bench, i)->window_begin;
		n += alarmed[w] == 0 ? 1 : 0;
		alarmed[w] = 1;
	}
	return n;
}

static void noise_alarms_less_than_one_of_a_hundred_windows(void **state)
{
	(void)state;
	static const size_t sizes[] = {4, 5, 6, 8, 16, 64};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bench bench;
		enum { WINDOWS = 4000 };
		start(&bench, NULL, sizes[i], WINDOWS);
		for (size_t k = 0; k < sizes[i] * WINDOWS; k++) {
			bench.windows.values[k] = 100.0 + normal_noise(&bench);
		}
		size_t n = n_alarmed(&bench);
		print_message("%zu members: %zu of %d\n", sizes[i], n, (int)WINDOWS);
		assert_true(n < WINDOWS / 100);
		bench_fini(&bench);
	}
}

static void lateness_has_no_ratio(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 1);
	bench.windows.metric = FSL_METRIC_LATENESS;
	bench_add(&bench, 5, 0, 1, 50.0);
	bench_expect_one(&bench, 5, 0, 1);
	assert_true(isnan(bench_finding(&bench, 0)->slow_ratio));
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 50.0) < 2.0);
	bench_fini(&bench);
}

static void less_than_the_clock_can_tell_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 1);
	bench_fill(&bench, 1.0, 0.0);
	bench_add(&bench, 3, 0, 1, 0.002);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 3, 0, 1, 0.5);
	bench_expect_one(&bench, 3, 0, 1);
	bench_fini(&bench);
	start(&bench, "{\"sigma_ms_min\": 0}", 8, 1);
	bench_fill(&bench, 1.0, 0.0);
	bench_add(&bench, 3, 0, 1, 0.002);
	bench_expect_one(&bench, 3, 0, 1);
	bench_fini(&bench);
}

static void spread_is_at_least_a_share_of_the_median(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"sigma_share_min\": 0.01}", 8, 1);
	bench_fill(&bench, 1000.0, 0.0);
	bench_add(&bench, 3, 0, 1, 40.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 3, 0, 1, 400.0);
	bench_expect_one(&bench, 3, 0, 1);
	bench_fini(&bench);
}

static void a_smaller_alpha_asks_for_more(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"alpha\": 1e-9}", 8, 1);
	bench_add(&bench, 3, 0, 1, 8.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
	start(&bench, NULL, 8, 1);
	bench_add(&bench, 3, 0, 1, 8.0);
	bench_expect_one(&bench, 3, 0, 1);
	bench_fini(&bench);
	start(&bench, "{\"alpha\": 0}", 8, 1);
	bench_add(&bench, 3, 0, 1, 1e6);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		struct bench bench;
		start(&bench, NULL, n, 2);
		bench_add(&bench, 0, 0, n > 0 ? 2 : 0, 500.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
	struct bench bench;
	start(&bench, NULL, 8, 0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void members_with_a_hole_take_no_part(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 2);
	bench_add(&bench, 5, 0, 2, 50.0);
	for (size_t m = 0; m < 8; m++) {
		*bench_at(&bench, m, 0) = m < 3 || m == 5 ? *bench_at(&bench, m, 0) : (double)NAN;
		*bench_at(&bench, m, 1) = m < 2 || m == 5 ? *bench_at(&bench, m, 1) : (double)NAN;
	}
	bench_expect_one(&bench, 5, 0, 1); /* four members; three are too few */
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"sigma_ms_min\": 0}", 8, 10);
	bench_fill(&bench, 100.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fill(&bench, 0.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static cJSON *read_vectors(void)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	char path[1024];
	(void)snprintf(path, sizeof(path), "%s/data/ascend/expected/judge_slow_rank_vectors.json",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR);
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		return NULL;
	}
	static char text[1 << 18];
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	assert_int_equal(fclose(file), 0);
	return cJSON_Parse(text);
}

/* Durations of one collective become lateness, as the engine has it. */
static void set_durations(struct bench *bench, const cJSON *durations)
{
	size_t m = 0, n = (size_t)cJSON_GetArraySize(durations);
	double longest_ns = 0.0;
	const cJSON *dur_ns = NULL;
	bench_shape(bench, FSL_METRIC_LATENESS, FSL_WINDOW_INSTANCE, n, 1);
	cJSON_ArrayForEach(dur_ns, durations)
	{
		longest_ns = fmax(longest_ns, dur_ns->valuedouble);
	}
	cJSON_ArrayForEach(dur_ns, durations)
	{
		*bench_at(bench, m++, 0) = (longest_ns - dur_ns->valuedouble) / 1e6;
	}
}

static void finds_the_late_rank_that_the_peer_finds_and_no_other(void **state)
{
	(void)state;
	cJSON *vectors = read_vectors();
	if (vectors == NULL) {
		skip();
	}
	assert_int_equal(cJSON_GetArraySize(vectors), 68);
	struct bench bench;
	bench_init(&bench, "GeneralizedESD", NULL);
	int n_late = 0;
	const cJSON *vector = NULL;
	cJSON_ArrayForEach(vector, vectors)
	{
		const cJSON *flagged = cJSON_GetObjectItem(vector, "flagged");
		const char *kind = cJSON_GetObjectItem(vector, "kind")->valuestring;
		set_durations(&bench, cJSON_GetObjectItem(vector, "durations_ns"));
		/* The peer's votes on noise and for one early rank are its mistakes. */
		if (strcmp(kind, "onelow") == 0 && cJSON_GetArraySize(flagged) > 0) {
			assert_int_equal(cJSON_GetArraySize(flagged), 1);
			bench_expect_one(&bench, cJSON_GetArrayItem(flagged, 0)->valueint, 0, 1);
			n_late++;
		} else {
			assert_int_equal(bench_scan(&bench), 0);
		}
	}
	assert_int_equal(n_late, 21);
	cJSON_Delete(vectors);
	bench_fini(&bench);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 3);
	bench_add(&bench, 2, 0, 3, 50.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_the_member_that_stands_out_in_its_window_alone),
		cmocka_unit_test(one_window_is_enough),
		cmocka_unit_test(outliers_do_not_hide_each_other),
		cmocka_unit_test(one_far_below_the_others_is_not_told),
		cmocka_unit_test(noise_alarms_less_than_one_of_a_hundred_windows),
		cmocka_unit_test(lateness_has_no_ratio),
		cmocka_unit_test(less_than_the_clock_can_tell_is_silent),
		cmocka_unit_test(spread_is_at_least_a_share_of_the_median),
		cmocka_unit_test(a_smaller_alpha_asks_for_more),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(members_with_a_hole_take_no_part),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(finds_the_late_rank_that_the_peer_finds_and_no_other),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
