/* Ranks that do the same work, and the level of a value among others. */
#ifndef FSL_BLAME_PEERS_H
#define FSL_BLAME_PEERS_H

#include "base/mem.h"
#include "model/run.h"
#include "model/topology.h"

#define FSL_NO_CLASS UINT32_MAX

/* Ranks that do the same work: same pipeline stage, same set of operators. */
struct fsl_peers {
	uint32_t *class_of; /* per rank index; FSL_NO_CLASS: no operators */
	uint32_t *members;  /* rank indices, sorted by class, then rank */
	size_t *begin;      /* [n_classes + 1] into members */
	size_t n_classes;
	int32_t *stage_of; /* per rank index: pipeline stage, 0 when there are none */
};

/* Ranks that do the same work as @rank_idx, itself included; 0 without operators. */
static inline size_t fsl_peers_n(const struct fsl_peers *peers, size_t rank_idx)
{
	uint32_t k = peers->class_of[rank_idx];
	return k != FSL_NO_CLASS ? peers->begin[k + 1] - peers->begin[k] : 0;
}

/* Pipeline stage of each rank index, told by who hands over to whom: all 0 before, and without
 * pipelines. Scratch in @arena, as below. */
enum fsl_status fsl_stages_find(int32_t *stage_of, struct fsl_arena *arena,
				const struct fsl_run *run, const struct fsl_topology *topology,
				struct fsl_error *err);

/* Root of @i in a forest of parents; halves the path on its way. */
static inline uint32_t fsl_forest_root(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

enum fsl_status fsl_peers_build(struct fsl_peers *out, struct fsl_arena *arena,
				const struct fsl_run *run, const struct fsl_topology *topology,
				struct fsl_error *err);

/*
 * Reference level of n values: median of their lower half. With up to about two thirds of the peers
 * slow it is still the level of the healthy ones. NaN-aware; NaN when nothing is left. @scratch: n.
 */
double fsl_peer_level(const double *values, size_t n, double *scratch);

/*
 * For each of n values the level of all others: a value never is part of the level that it is
 * compared with, so noise alone is as often below its level as above, also between two. NaN if the
 * value is NaN or has no others. @scratch: n.
 */
void fsl_peer_levels(const double *values, size_t n, double *levels, double *scratch);

/*
 * Level of a series at its best: least median of windows of a tenth of it. A fault that left but a
 * few steps healthy does not reach it. NaN if no window has five values. @scratch: n.
 */
double fsl_best_level(const double *values, size_t n, double *scratch);

#endif
