/*
 * Samples of hardware counters in a trace: how busy cores and links are while a function runs. As
 * in PerfTracker (arXiv 2506.08528): mean and spread of the samples of each run, weighted by its
 * duration.
 */
#ifndef FSL_CAPTURE_LINK_SAMPLES_H
#define FSL_CAPTURE_LINK_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum fsl_sampled {
	FSL_SAMPLED_CORES, /* of the device */
	FSL_SAMPLED_NVLINK_SEND,
	FSL_SAMPLED_NVLINK_RECEIVE,
	FSL_SAMPLED_PCIE_SEND,
	FSL_SAMPLED_PCIE_RECEIVE,
	FSL_SAMPLED_NIC_SEND,
	FSL_SAMPLED_NIC_RECEIVE,
	FSL_SAMPLED_N
};
/* "cores", "nvlink send"... */
extern const char *const fsl_sampled_texts[FSL_SAMPLED_N];

enum { FSL_SAMPLES_OF_RUN_MIN = 3 }; /* fewer are replaced by the ends of the run */

/* A name under which a trace has samples. */
struct fsl_link_source {
	uint64_t name_hash;
	bool is_percent; /* else a rate */
	uint8_t order;   /* of sources of one counter the least one is the best */
	double max;      /* of the samples that count, once they are settled */
};
/* Counter that a name stands for, and what is known of it; FSL_SAMPLED_N: none of these. */
enum fsl_sampled fsl_sampled_of(const char *name, size_t length, struct fsl_link_source *source);

struct fsl_link_sample {
	int64_t time_ns;
	double value;
	int32_t device;  /* that was counted on; -1: not told, or the host */
	uint32_t source; /* fsl_link_counters_add() fills it in */
};
enum { FSL_LINK_SOURCES_MAX = 64 }; /* of a counter: links of a host; others are left out */
/* Samples of one counter. Start as {0}. */
struct fsl_link_samples {
	struct fsl_link_sample *items;
	size_t n_items, items_capacity;
	struct fsl_link_source *sources;
	size_t n_sources, sources_capacity;
	bool is_percent; /* the last two once they are settled */
	double max;
};
struct fsl_link_counters {
	struct fsl_link_samples of[FSL_SAMPLED_N];
};
/* FSL_ERR_MEMORY only. */
enum fsl_status fsl_link_counters_add(struct fsl_link_counters *counters, enum fsl_sampled counter,
				      const struct fsl_link_source *source,
				      const struct fsl_link_sample *sample, struct fsl_error *err);
/*
 * Leaves the samples of one device and those of none, in the order of time. Of several names of a
 * counter one is left, as units differ: percent before rates, then the better name, then the one
 * with the greatest sample (the link that is used).
 */
void fsl_link_counters_settle(struct fsl_link_counters *counters, int32_t device);
void fsl_link_counters_fini(struct fsl_link_counters *counters);

/* Mean and population standard deviation of the samples from begin to end; of fewer than
 * FSL_SAMPLES_OF_RUN_MIN: of the two values that lie on lines between samples at begin and end.
 * False if there are no samples around the run. */
bool fsl_link_samples_over(const struct fsl_link_samples *samples, int64_t begin_ns, int64_t end_ns,
			   double *mean, double *std);

/* Level of a counter while a function runs; start as {0}. */
struct fsl_link_level {
	double weight_ns, mean_sum, variance_sum;
};
void fsl_link_level_add(struct fsl_link_level *level, double mean, double std, int64_t dur_ns);
/* NaN without runs. */
double fsl_link_level_mean(const struct fsl_link_level *level);
double fsl_link_level_std(const struct fsl_link_level *level);

#endif
