/* Gaps that have nearly all work behind or before them are edges. */
#include "capture/edges.h"

#include <math.h>

#include "base/number.h"
#include "capture/step_rows.h"

/* Rebuilt and told steps of one capture are busy alike, up to this share. */
static const double BUSY_DIFFERENCE_MAX = 0.01;

static const struct fsl_profile_edges no_edges = {0, 0, INT64_MIN, INT64_MAX};

static bool is_one_step(const struct fsl_profile_rank *rank)
{
	return rank->n_rebuilt == 1 && rank->n_steps <= 1 && rank->info.n_active_steps <= 1 &&
	       fsl_profile_steps_captured(rank) == 1;
}

/* Computing and exposed communication. */
static double busy_of(const struct fsl_profile_step *row)
{
	return (double)row->computing_ns + (double)row->exposed_ns;
}

static bool holds_all_kernels(const struct fsl_profile_rank *rank)
{
	double told_ns = rank->n_steps > 0 ? busy_of(&rank->steps[0]) : 0.0;
	double busy_ns = busy_of(&rank->rebuilt[0]);
	return rank->n_steps == 0 || fabs(told_ns - busy_ns) <= BUSY_DIFFERENCE_MAX * busy_ns;
}

static void add_gap(struct fsl_profile_edges *edges, const struct fsl_profile_gap *gap,
		    double busy_ns)
{
	int64_t end_ns = fsl_sum_i64(gap->begin_ns, gap->dur_ns);
	if ((double)gap->busy_ns <= FSL_EDGES_BUSY_SHARE_MAX * busy_ns) {
		edges->before_ns = fsl_sum_i64(edges->before_ns, gap->dur_ns);
		edges->begin_ns = end_ns > edges->begin_ns ? end_ns : edges->begin_ns;
	} else if ((double)gap->busy_ns >= (1.0 - FSL_EDGES_BUSY_SHARE_MAX) * busy_ns) {
		edges->after_ns = fsl_sum_i64(edges->after_ns, gap->dur_ns);
		edges->end_ns = gap->begin_ns < edges->end_ns ? gap->begin_ns : edges->end_ns;
	}
}

struct fsl_profile_edges fsl_profile_edges_of(const struct fsl_profile_rank *rank)
{
	struct fsl_profile_edges edges = no_edges;
	size_t n_rows = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n_rows);
	if (!is_one_step(rank) || n_rows != 1 || !holds_all_kernels(rank)) {
		return no_edges;
	}
	for (size_t g = 0; g < rank->n_gaps; g++) {
		add_gap(&edges, &rank->gaps[g], busy_of(&rank->rebuilt[0]));
	}
	double least_ns = FSL_EDGES_SHARE_MIN * (double)fsl_profile_step_ns(&rows[0]);
	bool is_felt = (double)edges.before_ns + (double)edges.after_ns > least_ns;
	return is_felt ? edges : no_edges;
}

double fsl_profile_edges_ms(const struct fsl_profile_edges *edges)
{
	return ((double)edges->before_ns + (double)edges->after_ns) / (double)FSL_NS_PER_MS;
}

bool fsl_profile_is_edge(const struct fsl_profile_edges *edges, int64_t begin_ns)
{
	return begin_ns < edges->begin_ns || begin_ns >= edges->end_ns;
}
