/* Counters of each rank beside the median of the others. */
#include "blame/counters.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/try.h"
#include "blame/limits.h"

/* How a counter stands out. */
static const struct {
	double least;   /* difference to the peers, in the counter's unit */
	double ratio;   /* the same, as a share of the peers' value */
	double from;    /* lower values are no fault */
	bool is_sound0; /* sound devices have 0; else the peers alone tell what is usual */
	bool is_less;   /* less is worse */
} kinds[FSL_COUNTERS_N] = {
	[FSL_COUNTER_NIC_ERRORS] = {FSL_PACKETS_LOST_MIN, 1.0, 0.0, true, false},
	[FSL_COUNTER_NIC_DROPS] = {FSL_PACKETS_LOST_MIN, 1.0, 0.0, true, false},
	[FSL_COUNTER_NIC_USED] = {FSL_PORT_MORE_MIN, 0.0, FSL_PORT_FULL, false, false},
	[FSL_COUNTER_ROCE_ERRORS] = {FSL_PACKETS_LOST_MIN, 1.0, 0.0, true, false},
	[FSL_COUNTER_ROCE_DROPS] = {FSL_PACKETS_LOST_MIN, 1.0, 0.0, true, false},
	[FSL_COUNTER_ROCE_USED] = {FSL_PORT_MORE_MIN, 0.0, FSL_PORT_FULL, false, false},
	[FSL_COUNTER_CACHE_HITS] = {FSL_CACHE_HITS_LACK_MIN, 0.0, 0.0, false, true},
	[FSL_COUNTER_HCCS_PEAK] = {0.0, FSL_BANDWIDTH_LACK_MIN, 0.0, false, true},
	[FSL_COUNTER_PCIE_LATENCY] = {0.0, FSL_PCIE_MORE_MIN, 0.0, false, false},
};

static double value_of(const struct fsl_profile_rank *rank, size_t c)
{
	const struct fsl_profile_reading *reading = &rank->counters[c];
	return reading->n > 0 ? reading->sum / (double)reading->n : (double)NAN;
}

/* Hits in the cache can be compared if the same kernels ran. */
static bool is_peer(const struct fsl_profile_rank *a, const struct fsl_profile_rank *b, size_t c)
{
	return a != b && !isnan(value_of(b, c)) &&
	       (c != FSL_COUNTER_CACHE_HITS ||
		(a->cached_kernels == b->cached_kernels && a->counters[c].n == b->counters[c].n));
}

/* @scratch: 2 per rank. */
static bool stands_out(struct fsl_counter_outlier *out, const struct fsl_profile *profile,
		       const struct fsl_profile_rank *rank, size_t c, double *scratch)
{
	*out = (struct fsl_counter_outlier){.counter = (enum fsl_profile_counter)c,
					    .rank = rank->rank,
					    .value = value_of(rank, c),
					    .peers_value = kinds[c].is_sound0 ? 0.0 : (double)NAN};
	for (size_t i = 0; i < profile->n_ranks; i++) {
		if (is_peer(rank, &profile->ranks[i], c)) {
			scratch[out->n_peers++] = value_of(&profile->ranks[i], c);
		}
	}
	if (out->n_peers > 0) {
		out->peers_value = fsl_median(scratch, out->n_peers, scratch + out->n_peers);
	}
	out->is_sure = out->n_peers >= FSL_COUNTER_PEERS_MIN || kinds[c].is_sound0;
	double more =
		kinds[c].is_less ? out->peers_value - out->value : out->value - out->peers_value;
	return out->value >= kinds[c].from && more > 0.0 && more >= kinds[c].least &&
	       more >= kinds[c].ratio * out->peers_value;
}

static enum fsl_status compare(struct fsl_counter_outliers *out, const struct fsl_profile *profile,
			       struct fsl_error *err)
{
	size_t n = profile->n_ranks * FSL_COUNTERS_N;
	double *scratch = NULL;
	FSL_TRY(FSL_ARENA_NEW(scratch, &out->arena, 2 * profile->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(out->items, &out->arena, n + 1, "counters", err));
	for (size_t i = 0; i < n; i++) {
		out->n_items += stands_out(&out->items[out->n_items], profile,
					   &profile->ranks[i / FSL_COUNTERS_N], i % FSL_COUNTERS_N,
					   scratch);
	}
	return FSL_OK;
}

enum fsl_status fsl_counters_compare(struct fsl_counter_outliers *out,
				     const struct fsl_profile *profile, struct fsl_error *err)
{
	*out = (struct fsl_counter_outliers){0};
	enum fsl_status status = compare(out, profile, err);
	if (status != FSL_OK) {
		fsl_counter_outliers_fini(out);
	}
	return status;
}

void fsl_counter_outliers_fini(struct fsl_counter_outliers *outliers)
{
	fsl_arena_fini(&outliers->arena);
	*outliers = (struct fsl_counter_outliers){0};
}
