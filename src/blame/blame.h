/*
 * Blame: for every rank and step, how much longer its own work took than that of its peers (ranks
 * that do the same work), in which episode, and whether anybody waited for it. Everything the
 * verdict needs in numbers.
 */
#ifndef FSL_BLAME_BLAME_H
#define FSL_BLAME_BLAME_H

#include "blame/case.h"
#include "blame/charge.h"
#include "blame/limits.h"
#include "blame/peers.h"

struct fsl_blame {
	struct fsl_arena arena;
	size_t n_ranks, n_steps;
	struct fsl_peers peers;
	double step_ms;      /* median step time */
	double *step_dur_ms; /* [step] */
	/* [rank_idx * n_steps + step], ms; NaN if the step was not seen whole. */
	double *own_ms;
	double *reference_ms;  /* level of the peers */
	double *late_ms;       /* how long the others of its groups waited for the rank */
	double *wait_ms;       /* how long the rank waited for others in matched collectives */
	double *noise_ms;      /* per rank: robust sigma of the excess in its class */
	double *healthy_ratio; /* per rank: own time over its peers' while it was at its best */
	bool *stands_out;      /* per rank: apart from the cloud of its peers' own times */
	bool *is_outlier;      /* per rank: slower than so many healthy devices ever are */
	bool *is_far;          /* per rank: far from the middle of its peers' own times */
	bool *is_matched;      /* per rank: some operator of it was matched, lateness is known */
	struct fsl_chance *chances; /* per rank */
	double single_p_max;        /* greatest fsl_chance_p() of a charge in single steps */
	/* Per class: robust sigma of own time between its ranks over their median in a usual step,
	 * what a rank always has more left out; NaN with fewer than three. */
	double *spread;
	/* Per class: over these steps it was slow as a whole, against its own past and what the
	 * other classes did meanwhile; empty: it was not. */
	struct fsl_episode *shifts;
	bool counts_idle;           /* own time includes what no stage explains */
	struct fsl_charge *charges; /* per rank index */
};

/* Excess, lateness and charge of every rank. */
enum fsl_status fsl_blame_build(struct fsl_blame *out, const struct fsl_case *facts,
				struct fsl_error *err);
void fsl_blame_fini(struct fsl_blame *blame);

/* True when the rank is no slower than healthy devices of one kind may be. */
bool fsl_blame_is_uneven(const struct fsl_blame *blame, size_t rank_idx);

/*
 * How each rank and each class stands without a fault: healthy_ratio, stands_out, is_outlier and
 * the references of classes that slowed down as a whole put back to what they were. Own time and
 * references are set. @work: 3 * steps + 3 * ranks + 2.
 */
enum fsl_status fsl_standing_find(struct fsl_blame *out, const struct fsl_config *config,
				  double *work, struct fsl_error *err);

/* Excess of every step over the level of the peers times @ratio; @excess: steps. */
void fsl_blame_set_excess(const struct fsl_blame *blame, size_t rank_idx, double ratio,
			  double *excess);

/* Slower all along than so many healthy ranks differ by: far from the middle, or behind a gap. */
static inline bool fsl_blame_is_apart(const struct fsl_blame *blame, size_t rank_idx)
{
	return blame->is_far[rank_idx] || blame->stands_out[rank_idx];
}

static inline double fsl_blame_excess_ms(const struct fsl_blame *blame, size_t rank_idx,
					 size_t step)
{
	size_t at = rank_idx * blame->n_steps + step;
	return blame->own_ms[at] - blame->reference_ms[at];
}

/* Whether work may hide: beneath operators, or behind transfers whose other end was not found. */
bool fsl_blame_work_may_hide(const struct fsl_case *facts);

#endif
