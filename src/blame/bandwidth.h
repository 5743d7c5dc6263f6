/* Slow links of a capture, by the bandwidth that it tells of each: which, of whom, how much. */
#ifndef FSL_BLAME_BANDWIDTH_H
#define FSL_BLAME_BANDWIDTH_H

#include "blame/places.h"
#include "capture/link_table.h"

/* Input; borrowed during the call, the table for as long as the answer. */
struct fsl_bandwidth_job {
	const struct fsl_link_table *table;
	const struct fsl_places_job *capture; /* of the same ranks; replayed */
	double alpha;                         /* level of the test for outliers among links alike */
	double lack_min; /* share of the usual bandwidth that a slow link lacks */
	/* Least costs of a slow link, and of a rank that is named, as shares of a step. */
	double cost_share_min, named_share_min;
};

/* A slow link beside those like it. Directions, and kinds of operators, between the same two ends
 * are one link. */
struct fsl_slow_link {
	const struct fsl_link_row *row; /* the costliest of them */
	double gb_per_s, usual_gb_per_s;
	/* Per step: what comes back if all that its two ends move together were as fast as on like
	 * links; without a replay, the sum of its times beyond that. */
	double cost_ms;
	size_t n_alike, n_rows; /* links like @row; directions and kinds between its ends */
	bool is_of_port;        /* an end of it is one of the slow ports */
};

/* A rank of which most links are slow: it is at fault, not they. */
struct fsl_slow_port {
	size_t rank_idx;
	size_t n_links, n_slow;
	double cost_ms; /* of all its slow links, as of one */
	bool is_named;  /* it costs named_share_min */
};

struct fsl_bandwidths {
	struct fsl_arena arena;
	struct fsl_slow_link *links; /* costliest first */
	struct fsl_slow_port *ports; /* ascending */
	size_t n_links, n_ports;
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_bandwidths_judge(struct fsl_bandwidths *out,
				     const struct fsl_bandwidth_job *job, struct fsl_error *err);
void fsl_bandwidths_fini(struct fsl_bandwidths *bandwidths);

#endif
