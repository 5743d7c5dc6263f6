/* cluster: DBSCAN on a line, by the direct loop and by blocks of dgemm. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <failslow/stats.h>

#include "base/blas.h"
#include "base/mem.h"

/* Uniform in 0..1 (splitmix64). */
static double next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (double)(z >> 11) / 9007199254740992.0;
}

static bool is_near(const double *points, size_t dim, size_t i, size_t j, double eps)
{
	double sum = 0.0;
	for (size_t k = 0; k < dim; k++) {
		double d = points[i * dim + k] - points[j * dim + k];
		sum += d * d;
	}
	return sum <= eps * eps;
}

/* By the definition, O(n^3) at worst: grow each cluster until nothing is added. */
static void plain_dbscan(const double *points, size_t n, size_t dim, double eps, size_t min_samples,
			 int32_t *labels)
{
	bool *is_core = fsl_calloc(n, sizeof(*is_core));
	for (size_t i = 0; i < n; i++) {
		size_t count = 0;
		for (size_t j = 0; j < n; j++) {
			count += is_near(points, dim, i, j, eps) ? 1 : 0;
		}
		is_core[i] = count >= min_samples;
		labels[i] = -1;
	}
	int32_t n_clusters = 0;
	for (size_t seed = 0; seed < n; seed++) {
		if (!is_core[seed] || labels[seed] != -1) {
			continue;
		}
		labels[seed] = n_clusters;
		for (bool grew = true; grew;) {
			grew = false;
			for (size_t i = 0; i < n; i++) {
				for (size_t j = 0; labels[i] == n_clusters && is_core[i] && j < n;
				     j++) {
					if (labels[j] == -1 && is_near(points, dim, i, j, eps)) {
						labels[j] = n_clusters;
						grew = true;
					}
				}
			}
		}
		n_clusters++;
	}
	fsl_free(is_core);
}

static void check_against_definition(size_t n, size_t dim, double eps, size_t min_samples,
				     uint64_t seed)
{
	double *points = fsl_calloc(n * dim, sizeof(*points));
	int32_t *expected = fsl_calloc(n, sizeof(*expected));
	int32_t *labels = fsl_calloc(n, sizeof(*labels));
	for (size_t i = 0; i < n * dim; i++) {
		/* A grid, so that many distances are exactly eps. */
		points[i] = 1e6 + floor(next_random(&seed) * 40.0) * 0.25;
	}
	plain_dbscan(points, n, dim, eps, min_samples, expected);
	assert_true(fsl_dbscan(points, n, dim, eps, min_samples, labels));
	if (memcmp(labels, expected, n * sizeof(*labels)) != 0) {
		fail_msg("labels differ: n=%zu, dim=%zu, eps=%g, min_samples=%zu, seed=%llu", n,
			 dim, eps, min_samples, (unsigned long long)seed);
	}
	fsl_free(labels);
	fsl_free(expected);
	fsl_free(points);
}

static void line_and_space_follow_the_definition(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		size_t n = 1 + (size_t)seed;
		check_against_definition(n, 1, 0.25 * (double)(seed % 3), 1 + seed % 5, seed);
		check_against_definition(n, 2, 0.5 + 0.25 * (double)(seed % 8), 1 + seed % 5, seed);
	}
}

static void blocks_of_dgemm_follow_the_definition(void **state)
{
	(void)state;
	/* Above 1024 points, with values far from 0 and distances that are exactly eps. */
	check_against_definition(1100, 2, 0.25, 4, 7);
	check_against_definition(1025, 3, 1.0, 5, 8);
}

static void border_point_belongs_to_the_first_cluster_that_reaches_it(void **state)
{
	(void)state;
	/* 5 is within 2 of both clusters and no core point; the cluster at 8 comes first in input.
	 */
	static const double points[] = {8.0, 7.0, 9.0, 8.5, 5.0, 1.0, 2.0, 3.0, 1.5};
	static const int32_t expected[] = {0, 0, 0, 0, 0, 1, 1, 1, 1};
	int32_t labels[9];
	assert_true(fsl_dbscan(points, 9, 1, 2.0, 4, labels));
	assert_memory_equal(labels, expected, sizeof(expected));
}

static void point_at_eps_is_a_neighbour(void **state)
{
	(void)state;
	static const double points[] = {0.0, 1.0, 2.0 + 1e-12};
	int32_t labels[3];
	assert_true(fsl_dbscan(points, 3, 1, 1.0, 2, labels));
	assert_int_equal(labels[0], 0);
	assert_int_equal(labels[1], 0);
	assert_int_equal(labels[2], -1);
}

static void nothing_is_fine_and_one_point_is_noise_or_a_cluster(void **state)
{
	(void)state;
	static const double point[] = {3.0};
	int32_t label = 7;
	assert_true(fsl_dbscan(point, 0, 1, 1.0, 2, &label));
	assert_int_equal(label, 7);
	assert_true(fsl_dbscan(point, 1, 1, 1.0, 2, &label));
	assert_int_equal(label, -1);
	assert_true(fsl_dbscan(point, 1, 1, 1.0, 1, &label));
	assert_int_equal(label, 0);
}

static void hundred_thousand_points_on_a_line_need_no_square_of_memory(void **state)
{
	(void)state;
	enum { N = 100000 };
	double *points = fsl_calloc(N, sizeof(*points));
	int32_t *labels = fsl_calloc(N, sizeof(*labels));
	for (size_t i = 0; i < N; i++) {
		points[i] = i % 2 == 0 ? 100.0 : 0.0;
	}
	points[N - 1] = 50.0;
	assert_true(fsl_dbscan(points, N, 1, 1.0, 10, labels));
	assert_int_equal(labels[0], 0);
	assert_int_equal(labels[1], 1);
	assert_int_equal(labels[N - 1], -1);
	fsl_free(labels);
	fsl_free(points);
}

static void products_start_no_threads_of_their_own(void **state)
{
	(void)state;
	struct fsl_blas blas;
	assert_true(fsl_blas_open(&blas));
	__typeof__(openblas_get_num_threads) *n_threads = NULL;
	void *symbol = dlsym(blas.handle, "openblas_get_num_threads");
	memcpy(&n_threads, &symbol, sizeof(symbol));
	assert_int_equal(n_threads(), 1);
	fsl_blas_close(&blas);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	enum { N = 1100 };
	static double points[N * 2];
	static int32_t labels[N];
	static const struct {
		size_t n, dim;
		uint64_t n_allocations;
	} cases[] = {{8, 1, 3}, {8, 2, 3}, {N, 2, 6}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint64_t nth = 1; nth <= cases[i].n_allocations; nth++) {
			fsl_mem_fail_at(nth);
			bool ok = fsl_dbscan(points, cases[i].n, cases[i].dim, 1.0, 2, labels);
			fsl_mem_fail_at(0);
			assert_false(ok);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_and_space_follow_the_definition),
		cmocka_unit_test(blocks_of_dgemm_follow_the_definition),
		cmocka_unit_test(border_point_belongs_to_the_first_cluster_that_reaches_it),
		cmocka_unit_test(point_at_eps_is_a_neighbour),
		cmocka_unit_test(nothing_is_fine_and_one_point_is_noise_or_a_cluster),
		cmocka_unit_test(hundred_thousand_points_on_a_line_need_no_square_of_memory),
		cmocka_unit_test(products_start_no_threads_of_their_own),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
