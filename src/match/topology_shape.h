/* Families: communicators whose ranks lie in the same pattern, and how two families nest. */
#ifndef FSL_MATCH_TOPOLOGY_SHAPE_H
#define FSL_MATCH_TOPOLOGY_SHAPE_H

#include "match/topology_parts.h"

/* The ranks; arrays are indexed by rank number. */
struct fsl_rank_facts {
	size_t n_numbers; /* greatest rank number + 1 */
	bool *has_ops;
	const char **host;
	size_t n_seen; /* ranks with operators */
};

/* Communicators with one pattern: @size ranks, each @stride after the one before. */
struct fsl_family {
	int64_t stride; /* 1: consecutive; 0: no pattern */
	size_t size;    /* with the ranks that are missing from the data */
	struct fsl_comm **comms;
	size_t n_comms;
	double rate;         /* operators per member, mean over the communicators */
	bool spans_hosts;    /* some communicator has members on two servers */
	bool only_allreduce; /* no other operator (broadcasts aside) */
};

/* Most regular first: stride 1, then rising strides, irregular last. */
struct fsl_families {
	struct fsl_family *items;
	size_t n_items;
};
/*
 * Groups @comms into families, in @arena. A rank missing from the data leaves its communicator in
 * the family of its neighbours. No rank is in two communicators of one family, unless they have the
 * same pattern.
 */
enum fsl_status fsl_families_build(struct fsl_families *out, struct fsl_arena *arena,
				   struct fsl_comm **comms, size_t n_comms,
				   const struct fsl_rank_facts *facts, struct fsl_error *err);

/* How the communicators of one family lie to those of another. */
enum fsl_relation {
	FSL_RELATION_APART,      /* no rank in common */
	FSL_RELATION_ORTHOGONAL, /* each shares at most one rank with each of the other family */
	FSL_RELATION_INSIDE,     /* each lies within one of the other family */
	FSL_RELATION_OUTSIDE,    /* each is made of whole ones of the other family */
	FSL_RELATION_MIXED,
};

/* Scratch for fsl_family_relate. */
struct fsl_owner_map {
	size_t *owner_of; /* by rank number; SIZE_MAX: none */
	size_t *n_hits;   /* by communicator of the base family; all 0 between calls */
};
enum fsl_status fsl_owner_map_init(struct fsl_owner_map *map, struct fsl_arena *arena,
				   size_t n_numbers, size_t n_comms, struct fsl_error *err);
enum fsl_relation fsl_family_relate(const struct fsl_family *base, const struct fsl_family *other,
				    const struct fsl_owner_map *map, size_t n_numbers);

#endif
