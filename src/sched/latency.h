/* Latencies in a histogram of constant size: percentiles within 1/8 of the value, the greatest one
 * and counts beyond limits exact. */
#ifndef FSL_SCHED_LATENCY_H
#define FSL_SCHED_LATENCY_H

#include <stdint.h>

enum {
	FSL_LATENCY_PARTS = 8,      /* buckets for each power of two */
	FSL_LATENCY_POWER_MIN = 7,  /* shorter than 128 ns: one bucket */
	FSL_LATENCY_POWER_MAX = 37, /* 137 s and longer: one bucket */
	FSL_LATENCY_BUCKETS_N =
		(FSL_LATENCY_POWER_MAX - FSL_LATENCY_POWER_MIN) * FSL_LATENCY_PARTS + 2,
	FSL_LATENCY_LIMITS_N = 3,
};

/* 100 us, 1 ms and 10 ms. */
extern const int64_t fsl_latency_limits_ns[FSL_LATENCY_LIMITS_N];

/* Start as {0}. */
struct fsl_latency {
	uint64_t n;
	int64_t sum_ns, max_ns;
	uint64_t n_over[FSL_LATENCY_LIMITS_N]; /* longer than each limit */
	uint32_t buckets[FSL_LATENCY_BUCKETS_N];
};

void fsl_latency_add(struct fsl_latency *latency, int64_t ns);
void fsl_latency_merge(struct fsl_latency *into, const struct fsl_latency *from);
/* Upper edge of the bucket in which the share @q (0 to 1) of the latencies is reached, never above
 * the greatest one; 0 if there is none. */
int64_t fsl_latency_quantile(const struct fsl_latency *latency, double q);

#endif
