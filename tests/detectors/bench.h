/*
 * Test bench of detectors: a matrix to fill, a scan through the engine with parameters from JSON
 * text, and the findings to look at. Noise comes from a fixed generator, so that runs repeat.
 */
#ifndef TESTS_DETECTORS_BENCH_H
#define TESTS_DETECTORS_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "detect/engine.h"
#include "plugin/registry.h"

struct bench {
	struct fsl_registry *registry;
	struct fsl_detector_config config;
	struct fsl_arena arena; /* params */
	struct fsl_windows windows;
	struct fsl_findings findings;
	uint64_t seed;
};

/* Ranks are 0, 1, 2...; values NaN until set. @params is JSON text, NULL for the defaults. */
static inline void bench_init(struct bench *bench, const char *detector, const char *params)
{
	*bench = (struct bench){.registry = fsl_registry_create(), .seed = 1};
	bench->config.detector = fsl_registry_find(bench->registry, detector);
	assert_non_null(bench->config.detector);
	cJSON *json = params != NULL ? cJSON_Parse(params) : NULL;
	assert_true(params == NULL || json != NULL);
	struct fsl_error err = {0};
	if (fsl_registry_params(bench->config.detector, json, "test", &bench->arena,
				&bench->config.params, &err) != FSL_OK) {
		fail_msg("%s", fsl_error_root(&err));
	}
	cJSON_Delete(json);
}

static inline void bench_shape(struct bench *bench, enum fsl_metric metric,
			       enum fsl_window_kind kind, size_t n_members, size_t n_windows)
{
	fsl_windows_fini(&bench->windows);
	assert_int_equal(
		fsl_windows_init(&bench->windows, metric, kind, n_members, n_windows, NULL),
		FSL_OK);
	for (size_t m = 0; m < n_members; m++) {
		bench->windows.ranks[m] = (int32_t)m;
	}
}

static inline double *bench_at(struct bench *bench, size_t member, size_t window)
{
	return &bench->windows.values[member * bench->windows.n_windows + window];
}

/* Uniform in -1..1 (splitmix64). */
static inline double bench_noise(struct bench *bench)
{
	uint64_t z = bench->seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (double)(z >> 11) / 4503599627370496.0 - 1.0;
}

/* level +- jitter everywhere. */
static inline void bench_fill(struct bench *bench, double level, double jitter)
{
	size_t n = bench->windows.n_members * bench->windows.n_windows;
	for (size_t i = 0; i < n; i++) {
		bench->windows.values[i] = level + jitter * bench_noise(bench);
	}
}

/* Adds @delta to windows [begin, end) of a member. */
static inline void bench_add(struct bench *bench, size_t member, size_t begin, size_t end,
			     double delta)
{
	for (size_t w = begin; w < end; w++) {
		*bench_at(bench, member, w) += delta;
	}
}

static inline void bench_set(struct bench *bench, size_t member, const double *values, size_t n)
{
	memcpy(bench_at(bench, member, 0), values, n * sizeof(*values));
}

/* The detector does not look at these windows. */
static inline void bench_expect_skipped(struct bench *bench)
{
	bool skipped = false;
	assert_int_equal(
		fsl_engine_scan(&bench->config, &bench->windows, &bench->findings, &skipped, NULL),
		FSL_OK);
	assert_true(skipped);
}

/* Scans anew; returns the number of findings. */
static inline size_t bench_scan(struct bench *bench)
{
	bool skipped = false;
	struct fsl_error err = {0};
	bench->findings.n_items = 0;
	if (fsl_engine_scan(&bench->config, &bench->windows, &bench->findings, &skipped, &err) !=
	    FSL_OK) {
		fail_msg("%s", fsl_error_root(&err));
	}
	assert_false(skipped);
	for (size_t i = 0; i < bench->findings.n_items; i++) {
		double confidence = bench->findings.items[i].confidence;
		assert_true(confidence >= 0.0 && confidence <= 1.0);
	}
	return bench->findings.n_items;
}

static inline const struct fsl_finding *bench_finding(const struct bench *bench, size_t idx)
{
	assert_true(idx < bench->findings.n_items);
	return &bench->findings.items[idx];
}

static inline void bench_expect_one(struct bench *bench, int32_t rank, size_t begin, size_t end)
{
	assert_int_equal(bench_scan(bench), 1);
	assert_int_equal(bench_finding(bench, 0)->rank, rank);
	assert_int_equal(bench_finding(bench, 0)->window_begin, begin);
	assert_int_equal(bench_finding(bench, 0)->window_end, end);
}

static inline bool bench_same_real(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

/* Members in reverse order under other rank numbers: the same findings under the new numbers. */
static inline void bench_expect_relabelled(struct bench *bench)
{
	enum { RENAME = 1000 };
	assert_true(bench_scan(bench) > 0);
	struct bench other = *bench;
	other.windows = (struct fsl_windows){0};
	other.findings = (struct fsl_findings){0};
	size_t n = bench->windows.n_members;
	bench_shape(&other, bench->windows.metric, bench->windows.kind, n,
		    bench->windows.n_windows);
	for (size_t m = 0; m < n; m++) {
		other.windows.ranks[n - 1 - m] = RENAME - bench->windows.ranks[m];
		bench_set(&other, n - 1 - m, bench_at(bench, m, 0), bench->windows.n_windows);
	}
	assert_int_equal(bench_scan(&other), bench->findings.n_items);
	for (size_t i = 0; i < bench->findings.n_items; i++) {
		const struct fsl_finding *a = &bench->findings.items[i];
		size_t n_same = 0;
		for (size_t k = 0; k < other.findings.n_items; k++) {
			const struct fsl_finding *b = &other.findings.items[k];
			n_same += b->rank == RENAME - a->rank &&
						  b->window_begin == a->window_begin &&
						  b->window_end == a->window_end &&
						  bench_same_real(a->slow_ratio, b->slow_ratio) &&
						  bench_same_real(a->effect_ms, b->effect_ms)
					  ? 1
					  : 0;
		}
		assert_int_equal(n_same, 1);
	}
	fsl_findings_fini(&other.findings);
	fsl_windows_fini(&other.windows);
}

/* Every allocation fails once, from the first on: the scan reports it or does not need it. */
static inline void bench_expect_memory_errors(struct bench *bench)
{
	bool skipped = false;
	for (uint64_t nth = 1; nth < 1000; nth++) {
		struct fsl_error err = {0};
		bench->findings.n_items = 0;
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_engine_scan(&bench->config, &bench->windows,
							 &bench->findings, &skipped, &err);
		fsl_mem_fail_at(0);
		if (status == FSL_OK) {
			assert_true(nth > 1);
			return;
		}
		assert_int_equal(status, FSL_ERR_MEMORY);
		assert_int_equal(bench->findings.n_items, 0);
		fsl_findings_fini(&bench->findings);
	}
	fail_msg("the scan never succeeds");
}

static inline void bench_fini(struct bench *bench)
{
	fsl_findings_fini(&bench->findings);
	fsl_windows_fini(&bench->windows);
	fsl_arena_fini(&bench->arena);
	fsl_registry_destroy(bench->registry);
}

#endif
