/* Judges every rank of a run by its arrival arcs. */
#ifndef FSL_ARCS_FIND_H
#define FSL_ARCS_FIND_H

#include "arcs/arcs.h"
#include "model/run.h"
#include "model/topology.h"

/* One rank's word. */
struct fsl_arcs_rank {
	struct fsl_arcs_verdict verdict;
	struct fsl_arcs_clues clues; /* if it is slow */
	double step_ms;              /* median step of its class */
	size_t first_rank;           /* index of the first rank of its class */
	size_t n_steps;              /* of its class; 0: not judged */
	int64_t *begin_ns;           /* [n_steps], on the common clock; shared by the class */
	uint32_t *numbers;           /* [n_steps], of the steps; shared by the class */
	double *excess_ms;           /* [n_steps], own work beyond its class */
	double *costly_ms;           /* [n_steps], the part of it that the others waited for */
	double *dur_ms;              /* [n_steps], shared by the class */
	const char *lack;            /* why it was not judged, one clause; NULL: it was. Static. */
};

struct fsl_arcs {
	struct fsl_arena arena;
	struct fsl_arcs_rank *ranks; /* [n_ranks] */
	size_t n_ranks;
	size_t n_judged, n_slow; /* ranks */
};

/*
 * Judges the ranks of @run, whose clocks are @clock_ns ahead of the common one. Ranks with fewer
 * than two ranks of equal work, without an anchor or with few steps stay untold. FSL_ERR_MEMORY
 * only.
 */
enum fsl_status fsl_arcs_find(struct fsl_arcs *out, const struct fsl_run *run,
			      const struct fsl_topology *topology, const int64_t *clock_ns,
			      struct fsl_error *err);
void fsl_arcs_fini(struct fsl_arcs *arcs);

#endif
