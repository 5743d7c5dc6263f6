/* Buckets: PARTS equal ones between each power of two and the next. */
#include "sched/latency.h"

#include <stddef.h>

const int64_t fsl_latency_limits_ns[FSL_LATENCY_LIMITS_N] = {100000, 1000000, 10000000};

static size_t bucket_of(int64_t ns)
{
	if (ns < INT64_C(1) << FSL_LATENCY_POWER_MIN) {
		return 0;
	}
	int power = 63 - __builtin_clzll((unsigned long long)ns);
	if (power >= FSL_LATENCY_POWER_MAX) {
		return FSL_LATENCY_BUCKETS_N - 1;
	}
	int64_t part = (ns >> (power - 3)) - FSL_LATENCY_PARTS; /* three bits behind the first */
	return 1 + (size_t)(power - FSL_LATENCY_POWER_MIN) * FSL_LATENCY_PARTS + (size_t)part;
}

/* First ns behind the bucket. */
static int64_t edge_of(size_t bucket)
{
	if (bucket == 0) {
		return INT64_C(1) << FSL_LATENCY_POWER_MIN;
	}
	size_t power = (bucket - 1) / FSL_LATENCY_PARTS + FSL_LATENCY_POWER_MIN;
	size_t part = (bucket - 1) % FSL_LATENCY_PARTS;
	return (int64_t)(FSL_LATENCY_PARTS + part + 1) << (power - 3);
}

void fsl_latency_add(struct fsl_latency *latency, int64_t ns)
{
	uint32_t *bucket = &latency->buckets[bucket_of(ns)];
	latency->n++;
	latency->sum_ns += ns;
	latency->max_ns = ns > latency->max_ns ? ns : latency->max_ns;
	*bucket += *bucket < UINT32_MAX;
	for (size_t i = 0; i < FSL_LATENCY_LIMITS_N; i++) {
		latency->n_over[i] += ns > fsl_latency_limits_ns[i];
	}
}

void fsl_latency_merge(struct fsl_latency *into, const struct fsl_latency *from)
{
	into->n += from->n;
	into->sum_ns += from->sum_ns;
	into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
	for (size_t i = 0; i < FSL_LATENCY_LIMITS_N; i++) {
		into->n_over[i] += from->n_over[i];
	}
	for (size_t i = 0; i < FSL_LATENCY_BUCKETS_N; i++) {
		uint32_t room = UINT32_MAX - into->buckets[i];
		into->buckets[i] += from->buckets[i] < room ? from->buckets[i] : room;
	}
}

int64_t fsl_latency_quantile(const struct fsl_latency *latency, double q)
{
	double wanted = q * (double)latency->n;
	uint64_t n = 0;
	if (latency->n == 0) {
		return 0;
	}
	for (size_t i = 0; i + 1 < FSL_LATENCY_BUCKETS_N; i++) {
		n += latency->buckets[i];
		if (latency->buckets[i] > 0 && (double)n >= wanted) {
			int64_t edge = edge_of(i);
			return edge < latency->max_ns ? edge : latency->max_ns;
		}
	}
	return latency->max_ns;
}
