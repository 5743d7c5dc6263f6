/* Sums of operators and links, as the peer computes them, and its rounded quotients. */
#ifndef FSL_REPORT_MSPROF_SUMS_H
#define FSL_REPORT_MSPROF_SUMS_H

#include "report/msprof/index.h"

/* Packets of one size over one kind of link; n_bytes 0: traffic without packet sizes. */
struct fsl_peer_packets {
	enum fsl_profile_transport transport;
	int64_t n_bytes, count, time_ps;
};

/* Times and traffic of operators, in ps, because ns are too coarse for the shortest. */
struct fsl_peer_sum {
	int64_t elapse_ps, transit_ps, wait_ps, sync_ps, idle_ps;
	struct {
		bool is_used;
		int64_t n_bytes, time_ps;
	} traffic[FSL_TRANSPORTS_N];
	struct fsl_peer_packets *packets; /* sorted by size */
	size_t n_packets, packets_capacity;
};

/* Sums the entries from @begin to @end. @sum is started as {0} and may be reused; its packets are
 * ascending. FSL_ERR_MEMORY only. */
enum fsl_status fsl_peer_sum_comms(struct fsl_peer_sum *sum, const struct fsl_peer_index *index,
				   const struct fsl_peer_entries *entries, size_t begin, size_t end,
				   struct fsl_error *err);
void fsl_peer_sum_fini(struct fsl_peer_sum *sum);

/* Links of several ranks or labels joined to one; kind and operator are those of the last link. */
struct fsl_peer_link_sum {
	enum fsl_profile_transport transport;
	const char *op_name; /* "" in totals */
	int64_t n_bytes, time_ps;
	double gb_per_s; /* four decimals: as read for a single link, else computed from the sums */
};
struct fsl_peer_link_sum fsl_peer_sum_links(const struct fsl_peer_index *index,
					    const struct fsl_peer_entries *entries, size_t begin,
					    size_t end);

/* part / (part + rest), four decimals; 0 if both are 0. */
double fsl_peer_share(int64_t part_ps, int64_t rest_ps);
/* GB/s, not rounded; 0 if the time is 0. */
double fsl_peer_bandwidth(int64_t n_bytes, int64_t time_ps);
/* @value rounded to four decimals. */
double fsl_peer_round(double value);

#endif
