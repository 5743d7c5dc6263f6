/*
 * Who and how much, from few steps: the places of a step are the samples. A place is the n-th
 * communication operator of a step, and ranks that run the same operators are compared at each.
 *
 * An operator begins when the latest of a few earlier events of its rank is over and the rank has
 * worked for a while. The least time that a compared rank usually takes from such an event to the
 * place is the price of the place; what a rank takes beyond it is its own work. A rank that
 * waited in an earlier operator begins when that ends, so waits are never taken for work.
 */
#ifndef FSL_BLAME_PLACES_H
#define FSL_BLAME_PLACES_H

#include "match/match.h"
#include "model/run.h"

/* Input; borrowed during the call. */
struct fsl_places_job {
	const struct fsl_run *run; /* its operators carry step numbers, or -1 each */
	struct fsl_match *match;   /* its instances are assigned to the one step that is replayed */
	/* [n_ranks]: ranks of a class do the same work. Operators still have to be the same for
	 * ranks to be compared. */
	const uint32_t *class_of;
	size_t n_classes;
	/* [n_ranks]: steps captured, above 0; without the share of them whose operators were left
	 * out, as other ranks lack them. */
	const double *n_steps;
	/* [n_ranks]: all own time of a step, ms, as other files tell it; NaN: not told. Bounds what
	 * the places tell, and stands in for them before the first operator of the capture and for
	 * ranks without operators. */
	const double *told_ms;
	/* [n_ranks]: what a rank computes in a step, and that with its idle time, ms; NaN: not
	 * told. Stages of a pipeline are compared by these. */
	const double *computing_ms, *own_ms;
	/* [n_ranks]: communication of a step that nothing hides, ms; NaN: not told. A rank whose
	 * peers have more of it than itself is waited for, and by so much. */
	const double *exposed_ms;
	/* [n_ranks]: of it, what the rank waited for others, ms; NaN: not told. The rest are
	 * transfers. A rank that launches operators late leaves its own transfers without kernels
	 * that would hide them, so they count as its own time. */
	const double *waited_ms;
	/* [n_ranks][n_ops]: stretch before the end of an operator in which no kernel ran, ns; above
	 * 0, a kernel waited for the operator. NULL: not told. */
	const int64_t *const *bare_ns;
	/* [n_ranks]: time of a step in single long runs of kernels, ms, which makes no rank slow.
	 * NULL: not told. */
	const double *long_runs_ms;
	size_t n_stages; /* the first classes are stages */
	/* A stage is long that computes longer than the others by this share. */
	double long_stage_min;
	double step_ms; /* length of a step */
	/* Operators of some ranks are missing: who waited for them passes for working in a replay,
	 * so that costs are at least what others were seen to wait. */
	bool is_partial;
	/* Nobody knows whom much of the communication was with, so that no rank is a suspect. */
	bool is_blind;
	/* Least own work, and least loss, of a rank that is named and of one that is a suspect, as
	 * shares of a step; and the least z of each. */
	double named_share_min, suspect_share_min, named_z_min, suspect_z_min;
};

struct fsl_place_rank {
	int64_t *more_ns; /* [n_ops], in the order of places: own work beyond the price, ns */
	/* [n_ops], in the order of operators: of it, what ranks do not take that are no suspects.
	 * Set if places were replayed. */
	int64_t *excess_ns;
	double work_ms; /* per step: time between its operators */
	double more_ms; /* per step: sum of more_ns beyond the usual of the ranks compared with it
			 */
	double z;       /* more_ms over the spread of healthy ranks */
	size_t n_peers; /* ranks compared with it, itself too; below 2: it is not compared */
	/* Meets two others of its like in sends and receives: they wait there, and not in
	 * collectives. Two stages of a pipeline may look alike, but each meets one such stage. */
	bool is_in_ring;
	bool is_suspect; /* it stands out, and costs suspect_share_min */
	bool is_named;   /* it stands out, and costs named_share_min */
	/* Time of a step that a suspect costs if all other suspects are mended. */
	double cost_ms;
};

/* A stage that computes longer than the others, as do all of its ranks. */
struct fsl_long_stage {
	size_t stage;                   /* SIZE_MAX: none */
	size_t n_stages;                /* stages that tell what they compute */
	size_t n_ranks;                 /* ranks of this one that do */
	double computing_ms, others_ms; /* mean of its ranks; mean of the other stages */
	double spread; /* largest difference inside of a stage, as share of its mean */
};

struct fsl_places {
	struct fsl_arena arena;
	struct fsl_place_rank *ranks; /* [n_ranks] */
	size_t n_ranks, n_named;
	size_t n_suspects; /* ranks that stand out, also those that cost too little */
	size_t n_compared; /* ranks that could be compared */
	double cost_ms;    /* per step: comes back if all that are named are mended */
	struct fsl_long_stage long_stage;
	/* Per step: comes back if all classes compute as long as they do on average; NaN: no stage
	 * is long, or nothing was replayed. */
	double even_ms;
	/* False: there are no operators, and costs are the excess itself; or nobody is a suspect
	 * and no stage is long. */
	bool is_replayed;
};

/*
 * Compares the ranks of each class, finds those whose work stands out, and names those of them that
 * cost what counts, by a replay of the operators without their excess. Fails with FSL_ERR_MEMORY
 * only; @out is then empty.
 */
enum fsl_status fsl_places_judge(struct fsl_places *out, const struct fsl_places_job *job,
				 struct fsl_error *err);
void fsl_places_fini(struct fsl_places *places);

/*
 * Time of a step that comes back if transfers of channels are shorter: @factor [n_channels], 1 for
 * those that stay. NaN if nothing can be replayed. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_places_mend_channels(double *saved_ms, const struct fsl_places_job *job,
					 const double *factor, struct fsl_error *err);

/*
 * Replays the capture with all own work of ranks longer or shorter: @factor [n_ranks], 1 for those
 * that stay. Per step: *together_ms comes back, NaN if nothing can be replayed. @cost_ms [n_ranks],
 * unless it is NULL, is set to what each of the others costs while the rest of them has its factor;
 * it stays if nothing can be replayed, and for ranks beyond FSL_JUDGED_RANKS_MAX. FSL_ERR_MEMORY
 * only.
 */
enum fsl_status fsl_places_scale(double *together_ms, double *cost_ms,
				 const struct fsl_places_job *job, const struct fsl_places *places,
				 const double *factor, struct fsl_error *err);

/*
 * The same with own work taken off, or added below 0, before single operators: @off_ns [n_ranks]
 * [n_ops], in their order; NULL for ranks that stay.
 */
enum fsl_status fsl_places_take_off(double *together_ms, const struct fsl_places_job *job,
				    const struct fsl_places *places, int64_t *const *off_ns,
				    struct fsl_error *err);

#endif
