/* Classes of equal work of a run: who may be compared with whom, and in which steps. */
#ifndef FSL_ARCS_CLASSES_H
#define FSL_ARCS_CLASSES_H

#include "arcs/arcs.h"
#include "model/run.h"
#include "model/topology.h"

/* Why ranks are not judged. */
enum fsl_arcs_lack {
	FSL_ARCS_LACK_NOTHING,
	FSL_ARCS_LACK_ANCHOR, /* no operator after which the same sequence follows */
	FSL_ARCS_LACK_RANKS,  /* too few do the same work */
	FSL_ARCS_LACK_STEPS,  /* too few of the same sequence */
};

/* One rank's operators in the order in which they were launched. */
struct fsl_launches {
	uint32_t *order;  /* operator of each place; NULL: as they are */
	uint64_t *tokens; /* [n_places]: equal for equal operators */
	size_t n_places;
	size_t n_positions; /* operators of a usual step */
	uint64_t work;      /* hash of their sequence; 0: none */
	uint32_t *anchors;  /* places of the anchors before usual steps, ascending */
	uint32_t *numbers;  /* of these among all anchors */
	size_t n_steps;
	size_t n_uses; /* of the anchor */
	enum fsl_arcs_lack lack;
};

/* Ranks with the same sequence of operators, tied by groups that lie inside the class. */
struct fsl_equals {
	struct fsl_arcs_class class; /* its source is this struct */
	const struct fsl_run *run;
	const int64_t *clock_ns;
	const struct fsl_launches *launches; /* [rank_idx] */
	uint32_t *ranks;                     /* [n_ranks], indices, ascending */
	uint32_t *anchors; /* [member * n_steps + step]: place; UINT32_MAX: not seen */
	int64_t *begin_ns; /* [step], ends of the anchors on the common clock */
	uint32_t *numbers; /* [step], of the anchors of one member */
};

struct fsl_classes {
	struct fsl_arena arena;
	struct fsl_launches *launches; /* [n_ranks] */
	struct fsl_arena *arenas;      /* [n_ranks]: threads fill them */
	size_t n_ranks;
	size_t n_kinds;           /* different operators of a rank, at most */
	struct fsl_equals *items; /* of FSL_ARCS_RANKS_MIN ranks and FSL_ARCS_STEPS_MIN steps */
	size_t n_items;
};

/*
 * Finds the classes of @run, on clocks that are @clock_ns ahead of the common one. Operators are
 * the same if name, kind of group and, with @by_size, size are. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_classes_find(struct fsl_classes *out, const struct fsl_run *run,
				 const struct fsl_topology *topology, const int64_t *clock_ns,
				 bool by_size, struct fsl_error *err);
void fsl_classes_fini(struct fsl_classes *classes);

/* A sequence of operators of one rank; equal tokens are equal operators. */
struct fsl_sequence {
	const uint64_t *tokens; /* [n], borrowed */
	int64_t *quiet_ns;      /* [n]: from the last end so far to the next begin */
	size_t n;
};
/* An operator that may be the anchor. */
struct fsl_anchor {
	uint64_t token;
	size_t n_uses;
	double quiet_ms; /* median behind it */
};
/* Hash of the operators that come more than once, 0: none; and how many different ones there are in
 * all, FSL_ARCS_KINDS_MAX + 1: more than can be told apart. False: out of memory. */
bool fsl_sequence_kinds(uint64_t *hash, size_t *n_kinds, const uint64_t *tokens, size_t n);
/* Anchors of one sequence, sorted by token; *n: FSL_ARCS_KINDS_MAX at most. False: out of memory.
 */
bool fsl_sequence_anchors(struct fsl_anchor *anchors, size_t *n,
			  const struct fsl_sequence *sequence);
/* The usual sequence between two uses of @token, and the uses before it, without the first. False:
 * out of memory. */
bool fsl_sequence_steps(struct fsl_launches *out, struct fsl_arena *arena, uint64_t token);

#endif
