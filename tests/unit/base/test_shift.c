/* shift: lasting changes of a level, and series without one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <failslow/stats.h>

#include "base/mem.h"
#include "base/shift.h"
#include "base/shift_parts.h"

enum { N = 200, CUT_N = 500 };

/* -1 .. 1, the same on every machine. */
static double noise(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 33) / (double)(1u << 30) - 1.0;
}

static void fill(double *values, size_t n, double level, double amplitude)
{
	uint64_t seed = 1;
	for (size_t i = 0; i < n; i++) {
		values[i] = level + amplitude * noise(&seed);
	}
}

static void add(double *values, size_t begin, size_t end, double amount)
{
	for (size_t i = begin; i < end; i++) {
		values[i] += amount;
	}
}

static struct fsl_shifts find(const double *values, size_t n,
			      const struct fsl_shift_options *options)
{
	struct fsl_shifts shifts = {0};
	assert_int_equal(fsl_shifts_find(&shifts, values, n, options, NULL), FSL_OK);
	return shifts;
}

static void expect(const double *values, size_t n, const struct fsl_shift_options *options,
		   size_t n_wanted, const size_t *wanted)
{
	struct fsl_shifts shifts = find(values, n, options);
	assert_int_equal(shifts.n, n_wanted);
	for (size_t i = 0; i < n_wanted; i++) {
		assert_int_equal(shifts.items[i].at, wanted[i]);
	}
	fsl_shifts_fini(&shifts);
}

static void steps_up_and_down_are_found_where_they_are(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	add(values, 80, 140, 10.0);
	expect(values, N, &fsl_shift_series, 2, (size_t[]){80, 140});
	expect(values, N, &fsl_shift_steps, 2, (size_t[]){80, 140});
	struct fsl_shifts shifts = find(values, N, &fsl_shift_steps);
	assert_true(fabs(shifts.items[0].before - 100.0) < 0.5);
	assert_true(fabs(shifts.items[0].after - 110.0) < 0.5);
	assert_true(fabs(shifts.items[1].after - 100.0) < 0.5);
	assert_true(shifts.items[0].p_value < 1e-9);
	fsl_shifts_fini(&shifts);
}

static void noise_is_no_change(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 5.0);
	expect(values, N, &fsl_shift_series, 0, NULL);
	expect(values, N, &fsl_shift_steps, 0, NULL);
}

static void spikes_are_capped_and_do_not_move_a_change(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	values[30] += 1000.0;
	add(values, 60, 62, 500.0);
	values[150] -= 90.0;
	struct fsl_shifts shifts = find(values, N, &fsl_shift_series);
	assert_int_equal(shifts.n, 0);
	assert_int_equal(shifts.n_spikes, 4);
	fsl_shifts_fini(&shifts);
	add(values, 100, N, 10.0);
	values[98] += 300.0;
	values[103] += 300.0;
	expect(values, N, &fsl_shift_series, 1, (size_t[]){100});
}

/* 105 steps with events of two periods; behind each event a short step follows. */
static size_t n_changes_among_events(size_t often, size_t seldom, double rise)
{
	double values[105];
	fill(values, 105, 1650.0, 25.0);
	for (size_t i = 0; i < 105; i++) {
		bool is_event = i % often == 7 || i % seldom == 15;
		bool is_behind = i % often == 8 || i % seldom == 16;
		values[i] *= i < 54 ? 1.0 : rise;
		values[i] *= is_event ? 1.75 : is_behind ? 0.25 : 1.0;
	}
	struct fsl_shifts shifts = find(values, 105, &fsl_shift_steps);
	size_t n = shifts.n;
	fsl_shifts_fini(&shifts);
	return n;
}

static void spikes_at_regular_distances_hide_no_change(void **state)
{
	(void)state;
	for (size_t often = 8; often <= 13; often++) {
		for (size_t seldom = 18; seldom <= 31; seldom += 4) {
			assert_int_equal(n_changes_among_events(often, seldom, 1.22), 1);
			assert_int_equal(n_changes_among_events(often, seldom, 1.15), 1);
			assert_int_equal(n_changes_among_events(often, seldom, 1.0), 0);
		}
	}
}

static void three_values_are_no_spike_and_no_lasting_change(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	add(values, 60, 63, 50.0);
	struct fsl_shifts shifts = find(values, N, &fsl_shift_series);
	assert_int_equal(shifts.n, 0);
	assert_int_equal(shifts.n_spikes, 0);
	fsl_shifts_fini(&shifts);
}

static void a_drift_is_a_change_only_where_that_is_asked_for(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	for (size_t i = 0; i < N; i++) {
		values[i] += 0.5 * (double)i;
	}
	expect(values, N, &fsl_shift_series, 0, NULL);
	struct fsl_shifts shifts = find(values, N, &fsl_shift_steps);
	assert_true(shifts.n > 0);
	fsl_shifts_fini(&shifts);
}

static void a_walk_is_no_change(void **state)
{
	(void)state;
	double values[N] = {100.0};
	uint64_t seed = 7;
	for (size_t i = 1; i < N; i++) {
		values[i] = 100.0 + 0.9 * (values[i - 1] - 100.0) + noise(&seed);
	}
	expect(values, N, &fsl_shift_series, 0, NULL);
}

static void size_decides(void **state)
{
	(void)state;
	double values[N];
	struct fsl_shift_options options = fsl_shift_steps;
	fill(values, N, 100.0, 0.1);
	add(values, 100, N, 4.0);
	expect(values, N, &options, 0, NULL);
	options.change_min = 0.03;
	expect(values, N, &options, 1, (size_t[]){100});
	/* A change that is small beside another one is left out of a general series. */
	fill(values, N, 100.0, 0.1);
	add(values, 50, N, 2.0);
	add(values, 120, N, 50.0);
	expect(values, N, &fsl_shift_series, 1, (size_t[]){120});
	options = fsl_shift_series;
	options.spread_min = options.penalty_spread = 0.0;
	expect(values, N, &options, 2, (size_t[]){50, 120});
}

/* Values of one variance whose neighbours correlate by @alike, and a level of 15 % at the end. */
static size_t n_changes(double alike, size_t n_before, uint64_t seed)
{
	double values[N], last = 0.0;
	for (size_t i = 0; i < 72; i++) {
		double fresh = noise(&seed) + noise(&seed) + noise(&seed); /* of variance 1 */
		last = alike * last + sqrt(1.0 - alike * alike) * fresh;
		values[i] = 100.0 * exp(0.06 * last) * (i < n_before ? 1.0 : 1.15);
	}
	struct fsl_shifts shifts = find(values, 72, &fsl_shift_steps);
	size_t n = shifts.n;
	fsl_shifts_fini(&shifts);
	return n;
}

static void neighbours_that_are_alike_make_a_level_need_more_values(void **state)
{
	(void)state;
	size_t n_fresh = 0, n_alike = 0, n_level = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		n_fresh += n_changes(0.0, 12, seed) == 1;
		n_alike += n_changes(0.7, 12, seed) == 1;
		n_level += n_changes(0.0, 0, seed) > 0 || n_changes(0.7, 0, seed) > 0;
	}
	assert_in_range(n_fresh, 50, 200);
	assert_in_range(n_alike, 0, n_fresh / 2);
	assert_in_range(n_level, 0, 4);
}

static void holes_are_left_out_and_positions_count_them(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	add(values, 100, N, 20.0);
	for (size_t i = 0; i < N; i += 3) {
		values[i] = (double)NAN;
	}
	values[1] = (double)INFINITY;
	values[2] = 1e300;
	struct fsl_shifts shifts = find(values, N, &fsl_shift_series);
	assert_int_equal(shifts.n, 1);
	assert_int_equal(shifts.items[0].at, 100);
	assert_int_equal(shifts.n_missing, 69);
	assert_int_equal(shifts.n_used, N - 69);
	fsl_shifts_fini(&shifts);
}

static void too_few_or_equal_values_are_no_change(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 0.0);
	expect(values, N, &fsl_shift_series, 0, NULL);
	expect(values, N, &fsl_shift_steps, 0, NULL);
	add(values, 10, N, 50.0);
	for (size_t n = 0; n < 13; n++) {
		expect(values, n, &fsl_shift_series, 0, NULL);
	}
	expect(values, 20, &fsl_shift_series, 1, (size_t[]){10});
	fill(values, N, (double)NAN, 0.0);
	struct fsl_shifts shifts = find(values, N, &fsl_shift_series);
	assert_int_equal(shifts.n, 0);
	assert_int_equal(shifts.n_missing, N);
	assert_true(isnan(shifts.sigma));
}

static void short_series_are_judged_as_far_as_ranks_can_tell(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	add(values, 6, N, 50.0);
	assert_int_equal(fsl_shift_values_min(&fsl_shift_series), 12);
	expect(values, 11, &fsl_shift_series, 0, NULL);
	expect(values, 12, &fsl_shift_series, 1, (size_t[]){6});
	struct fsl_shift_options options = fsl_shift_series;
	options.segment_share_max = 0.0;
	assert_int_equal(fsl_shift_values_min(&options), 20);
	options.p_max = 1e-9;
	assert_true(fsl_shift_values_min(&options) > 30);
	options.p_max = 0.0;
	assert_true(fsl_shift_values_min(&options) >= 2 * options.side_max);
	assert_true(fsl_shift_p_least(&options) > options.p_max);
}

static void a_clock_with_a_coarse_grain_has_noise(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 0.0);
	for (size_t i = 0; i < N; i += 7) {
		values[i] += 1.0;
	}
	expect(values, N, &fsl_shift_series, 0, NULL);
	add(values, 90, N, 10.0);
	expect(values, N, &fsl_shift_series, 1, (size_t[]){90});
}

static void scale_and_sign_change_nothing(void **state)
{
	(void)state;
	double values[N];
	for (int power = -140; power <= 140; power += 70) {
		for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
			fill(values, N, 3.0, 1.0);
			add(values, 70, N, 5.0);
			for (size_t i = 0; i < N; i++) {
				values[i] *= sign * pow(10.0, power);
			}
			expect(values, N, &fsl_shift_series, 1, (size_t[]){70});
		}
	}
}

/* Squared error of [begin, end) around its mean. */
static double error_of(const double *values, size_t begin, size_t end)
{
	double mean = 0.0, error = 0.0;
	for (size_t i = begin; i < end; i++) {
		mean += values[i] / (double)(end - begin);
	}
	for (size_t i = begin; i < end; i++) {
		error += (values[i] - mean) * (values[i] - mean);
	}
	return error;
}

/* Optimal cuts by trying all, each @penalty; returns how many. */
static size_t cut_by_hand(const double *values, size_t n, size_t segment_min, double penalty,
			  size_t *cuts)
{
	double best[CUT_N + 1];
	size_t last[CUT_N + 1], n_cuts = 0;
	best[0] = -penalty;
	for (size_t end = 1; end <= n; end++) {
		best[end] = INFINITY;
		for (size_t begin = 0; begin + segment_min <= end; begin++) {
			double cost = best[begin] + error_of(values, begin, end) + penalty;
			if (cost < best[end]) {
				best[end] = cost;
				last[end] = begin;
			}
		}
	}
	for (size_t at = last[n]; at > 0; at = last[at]) {
		cuts[n_cuts++] = at;
	}
	return n_cuts;
}

static void cuts_are_those_that_cost_least(void **state)
{
	(void)state;
	static const size_t shifts_every[] = {CUT_N, 300, 70, 31, 12, 6};
	struct fsl_shift_options options = {.penalty = 0.7, .segment_min = 5};
	double values[CUT_N];
	uint64_t seed = 7;
	for (size_t k = 0; k < sizeof(shifts_every) / sizeof(shifts_every[0]); k++) {
		double level = 0.0;
		for (size_t i = 0; i < CUT_N; i++) {
			level = i % shifts_every[k] == 0 ? 8.0 * noise(&seed) : level;
			values[i] = level + noise(&seed) + noise(&seed);
		}
		struct fsl_shift_work work = {.options = &options,
					      .n = CUT_N,
					      .segment_min = options.segment_min,
					      .capped = values,
					      .sigma = 1.0};
		struct fsl_shift_cut found[CUT_N];
		size_t wanted[CUT_N], n_found = 0;
		assert_int_equal(fsl_shift_segment(&work, found, &n_found, NULL), FSL_OK);
		size_t n = cut_by_hand(values, CUT_N, options.segment_min,
				       options.penalty * log((double)CUT_N), wanted);
		assert_int_equal(n_found, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(found[i].at, wanted[n - 1 - i]);
		}
	}
}

static void long_series_are_bounded_and_exact(void **state)
{
	(void)state;
	enum { MANY = 2000003 };
	double *values = fsl_calloc(MANY, sizeof(*values));
	assert_non_null(values);
	fill(values, MANY, 100.0, 1.0);
	add(values, 623457, 1400003, 5.0);
	expect(values, MANY, &fsl_shift_series, 2, (size_t[]){623457, 1400003});
	for (size_t i = 0; i < MANY; i++) {
		values[i] = (i / 50) % 2 == 0 ? 1.0 : 1e9;
	}
	struct fsl_shifts shifts = find(values, MANY, &fsl_shift_steps);
	assert_true(shifts.n <= fsl_shift_steps.changes_max);
	fsl_shifts_fini(&shifts);
	fsl_free(values);
}

static void too_long_series_are_refused(void **state)
{
	(void)state;
	struct fsl_shifts shifts = {0};
	struct fsl_error err = {0};
	double value = 1.0;
	assert_int_equal(fsl_shifts_find(&shifts, &value, FSL_SHIFT_VALUES_MAX + 1u,
					 &fsl_shift_series, &err),
			 FSL_ERR_LIMIT);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	double values[N];
	fill(values, N, 100.0, 1.0);
	add(values, 100, N, 20.0);
	size_t n_failed = 0;
	for (uint64_t nth = 1; nth < 40; nth++) {
		struct fsl_shifts shifts = {0};
		fsl_mem_fail_at(nth);
		enum fsl_status status =
			fsl_shifts_find(&shifts, values, N, &fsl_shift_series, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		n_failed += status == FSL_OK ? 0 : 1;
		fsl_shifts_fini(&shifts);
	}
	/* There are nine blocks. Without the block of the rank test there is no evidence of a
	 * change. */
	assert_int_equal(n_failed, 8);
}

static void p_limit_is_that_of_benjamini_and_hochberg(void **state)
{
	(void)state;
	/* The example of the paper, section 3.2: four of 15 at q = 0.05. */
	double p_values[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
			     0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
	assert_true(fabs(fsl_p_limit(p_values, 15, 0.05) - 0.0095) < 1e-15);
	double none[] = {0.2, 0.9};
	assert_true(fsl_p_limit(none, 2, 0.05) <= 0.0);
	assert_true(fsl_p_limit(NULL, 0, 0.05) <= 0.0);
}

/* Whether [begin, begin + length) is a spike, by medians of up to 5 values on both sides. */
static bool is_spike(const double *values, size_t n, size_t begin, size_t length, double sigma)
{
	double scratch[5];
	size_t end = begin + length, n_before = begin < 5 ? begin : 5;
	size_t n_after = n - end < 5 ? n - end : 5, n_above = 0, n_below = 0;
	if (n_before < 3 || n_after < 3) {
		return false;
	}
	double before = fsl_median(values + begin - n_before, n_before, scratch);
	double after = fsl_median(values + end, n_after, scratch);
	double low = fmin(before, after) - 5.0 * sigma, high = fmax(before, after) + 5.0 * sigma;
	for (size_t i = begin; i < end; i++) {
		n_above += values[i] > high;
		n_below += values[i] < low;
	}
	return (n_above == length && values[begin - 1] <= high && values[end] <= high) ||
	       (n_below == length && values[begin - 1] >= low && values[end] >= low);
}

static size_t count_spikes(const double *values, size_t n, double sigma)
{
	size_t n_spikes = 0;
	for (size_t length = 1; length <= 2; length++) {
		for (size_t i = 0; i + length <= n;) {
			bool is_one = is_spike(values, n, i, length, sigma);
			n_spikes += is_one ? length : 0;
			i += is_one ? length : 1;
		}
	}
	return n_spikes;
}

/* Series with many values a little and far off, so that neighbours of spikes are often off, too. */
static void spikes_are_what_lies_apart_from_the_medians_on_both_sides(void **state)
{
	(void)state;
	uint64_t seed = 7;
	size_t n_spikes = 0;
	for (int round = 0; round < 400; round++) {
		double values[N];
		for (size_t i = 0; i < N; i++) {
			double off = noise(&seed) > 0.4 ? 6.0 * noise(&seed) : 0.0;
			values[i] = 100.0 + noise(&seed) + off;
		}
		struct fsl_shifts shifts = find(values, N, &fsl_shift_series);
		assert_int_equal(shifts.n_spikes, count_spikes(values, N, shifts.sigma));
		n_spikes += shifts.n_spikes;
		fsl_shifts_fini(&shifts);
	}
	assert_true(n_spikes > 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spikes_are_what_lies_apart_from_the_medians_on_both_sides),
		cmocka_unit_test(steps_up_and_down_are_found_where_they_are),
		cmocka_unit_test(noise_is_no_change),
		cmocka_unit_test(spikes_are_capped_and_do_not_move_a_change),
		cmocka_unit_test(spikes_at_regular_distances_hide_no_change),
		cmocka_unit_test(three_values_are_no_spike_and_no_lasting_change),
		cmocka_unit_test(a_drift_is_a_change_only_where_that_is_asked_for),
		cmocka_unit_test(a_walk_is_no_change),
		cmocka_unit_test(size_decides),
		cmocka_unit_test(neighbours_that_are_alike_make_a_level_need_more_values),
		cmocka_unit_test(holes_are_left_out_and_positions_count_them),
		cmocka_unit_test(too_few_or_equal_values_are_no_change),
		cmocka_unit_test(short_series_are_judged_as_far_as_ranks_can_tell),
		cmocka_unit_test(a_clock_with_a_coarse_grain_has_noise),
		cmocka_unit_test(scale_and_sign_change_nothing),
		cmocka_unit_test(cuts_are_those_that_cost_least),
		cmocka_unit_test(long_series_are_bounded_and_exact),
		cmocka_unit_test(too_long_series_are_refused),
		cmocka_unit_test(memory_errors_are_reported),
		cmocka_unit_test(p_limit_is_that_of_benjamini_and_hochberg),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
