/* Shared by places.c, which compares ranks, places_blocks.c, which says what can be compared, and
 * places_cost.c, which replays what it found. */
#ifndef FSL_BLAME_PLACES_PARTS_H
#define FSL_BLAME_PLACES_PARTS_H

#include "base/mem.h"
#include "blame/places.h"

/* One step of one rank: consecutive operators. */
struct fsl_place_block {
	uint64_t sequence; /* same value: same operators, each as often */
	uint32_t class_idx, rank_idx, first, n;
	int32_t step;
	bool follows_alike; /* the step before it has the same operators */
};

struct fsl_place_work {
	struct fsl_arena arena;
	const struct fsl_places_job *job;
	struct fsl_places *out;
	/* By class, operators, rank, time; and by class, operators, step, rank: steps that have the
	 * same operators have the same places in both. */
	struct fsl_place_block *blocks, *by_step;
	size_t n_blocks;
	/* Per rank and place: its operator. Operators of different streams may change their order:
	 * the n-th of a kind has the same place on all ranks. Times of work are by place. */
	uint32_t **order;
	bool **is_bare;    /* per rank and place: the others work next to nothing there */
	int64_t **late_ns; /* per rank and operator: how long the others of its instance waited */
	/* Per block of the blocks compared. */
	int64_t *reached_ns; /* latest of the earlier events plus the price from there on */
	bool *is_reached;
	int64_t *lag_ns;
	double *even_factor; /* per rank: of its work, if classes compute as long; NULL: no stage
				is long */
	double *error_ms;    /* per rank: standard error of its own work, from its places */
	double *lead_ms, *alone_ms; /* per suspect: fsl_places_measure_leads */
	double *kept;               /* per rank: share of its own work that other files confirm */
	double *values, *scratch;   /* per block, rank, or operator; scratch twice */
};

/* Sets blocks, by_step and the order of operators, for which room is there. FSL_ERR_MEMORY only. */
enum fsl_status fsl_places_list_blocks(struct fsl_place_work *work, struct fsl_error *err);

/* The end of the blocks that have the same operators as blocks[@begin]. */
size_t fsl_places_same_work_end(const struct fsl_place_work *work, size_t begin);

/* Transfers of a rank that nothing hides, beyond those of the rank of its class that has least, ms
 * per step: it launched them late, or has fewer kernels. 0: not told. */
double fsl_places_bare_ms(const struct fsl_places_job *job, size_t r);

/* Looks for a long stage: sets work->out->long_stage and work->even_factor. FSL_ERR_MEMORY only. */
enum fsl_status fsl_places_find_stage(struct fsl_place_work *work, struct fsl_error *err);

/* A change of a capture; NULL: as captured. */
struct fsl_gates_change {
	const double *rank_factor;     /* [n_ranks]: of own time */
	const double *transfer_factor; /* [n_channels]: of transfers */
	/* [n_ranks][n_ops]: own time less before each operator, ns; NULL: nothing of the rank. */
	const int64_t *const *off_ns;
	size_t but_rank; /* off_ns of this rank does not count; SIZE_MAX: that of all ranks does */
};

/*
 * Per step, the time that comes back by each of @changes [n], ms; below 0 the steps last longer.
 * NaN if some rank does not tell bare_ns, or nothing can be replayed. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_places_pass_gates(double *saved_ms, const struct fsl_places_job *job,
				      const struct fsl_gates_change *changes, size_t n,
				      struct fsl_error *err);

/* Sets is_in_ring of all ranks. FSL_ERR_MEMORY only. */
enum fsl_status fsl_places_find_rings(struct fsl_place_work *work, struct fsl_error *err);

/*
 * Sets work->lead_ms: how long the other members of a group waited for a suspect alone, in its
 * collectives of a step, ms. If it is in several groups, the one that waited least tells: in the
 * others its members only keep step with it. 0 if too few operators of the rank meet others: then
 * nobody knows. Infinity if it sends to ranks that do the same, which wait there. FSL_ERR_MEMORY
 * only. Sets work->alone_ms, too: the same wait, summed over all of its groups.
 */
enum fsl_status fsl_places_measure_leads(struct fsl_place_work *work, struct fsl_error *err);

/*
 * Replays the operators without the excess of suspects: sets what each costs, names those that cost
 * what counts, clears those that cost nothing, and sets what comes back with all named mended and
 * with even classes. work->out has excess_ns in the order of places; it is put in that of
 * operators. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_places_cost(struct fsl_place_work *work, struct fsl_error *err);

#endif
