/* The case against one rank: pattern, onset, loss, and how likely chance makes the same. */
#ifndef FSL_BLAME_CHARGE_H
#define FSL_BLAME_CHARGE_H

#include <failslow/error.h>

#include "blame/episode.h"
#include "config/config.h"

struct fsl_blame; /* blame/blame.h */
struct fsl_case;  /* blame/case.h */

/* How a rank differs from its peers. */
enum fsl_pattern {
	FSL_PATTERN_NONE,
	FSL_PATTERN_LASTING,  /* most steps of an episode */
	FSL_PATTERN_REPEATED, /* single steps again and again (checkpoints, pauses) */
};

/* The edge of a lasting change: a step of the rank's level. */
struct fsl_onset {
	bool is_known;                    /* false: no step of the level is there, as in a ramp */
	double healthy_ratio, slow_ratio; /* own time over the reference: medians on either side */
	double p_value;                   /* of such a step by chance (Mann-Whitney) */
};

/* One rank's case. */
struct fsl_charge {
	enum fsl_pattern pattern;
	struct fsl_episode episode; /* LASTING: the episode; REPEATED: first to last high step */
	double lost_ms_per_step;    /* mean over fsl_charge_range() */
	double own_ms, peers_ms;    /* mean own time and reference over the high steps */
	double threshold_ms;        /* a step is high above this */
	double last_share; /* share of the high steps in which others waited for this rank; NaN: not
			      seen */
	bool is_change;    /* LASTING: the rank was faster before or after by what counts */
	struct fsl_onset onset; /* of a change */
	bool is_certain;        /* its arrival arcs name it */
	/* Told by its arcs if they name it: its least cost per step, ms; the share of its costly
	 * work at the head of the step; and the share before the host launched the next operator,
	 * NaN if no launch is known. */
	double arrival_ms, arrival_head, arrival_host;
	/* Mean lateness per step over the episode; over all steps without one. */
	double late_ms_per_step;
};

/* High steps of a rank's peers without a fault, and those of the rank itself. */
struct fsl_chance {
	double share;   /* of steps that are high; level of the peers */
	double lost_ms; /* per step, in high steps above each one's healthy level; likewise */
	/* Steps seen, and those above the healthy level by more than @clear_ms: of the rank, and of
	 * all its peers together. */
	double clear_ms;
	size_t n_seen, n_high, n_seen_peers, n_high_peers;
};

/*
 * Steps that a charge's loss is the mean over. LASTING: its episode. REPEATED: from the first high
 * step to the last one, or to the end if the next one would still be to come; half of all steps at
 * least, so that a few steps by chance beside each other do not pass for many.
 */
void fsl_charge_range(const struct fsl_charge *charge, size_t n_steps, size_t *begin, size_t *end);

/* Empty charges with their thresholds, and the share of high steps among the peers of every rank,
 * while references are still those of the peers. @work as below. */
void fsl_chance_find(struct fsl_blame *out, const struct fsl_config *config, double *work);

/* Probability of as many clear high steps as the rank has, or more, if they come as often as among
 * its peers (Poisson). */
double fsl_chance_p(const struct fsl_chance *chance);

/*
 * True if the rank's excess rose by @rise_ms over the episode because the rank changed, and not the
 * ranks it is compared with: its own time rose by half of that, or by @least_ms and the steps as
 * much, but for a factor of two. Peers that work on beneath an operator while they wait in it for
 * the rank seem to work less than before, by more than what the rank works longer. @work: 2 *
 * steps.
 */
bool fsl_change_is_own(const struct fsl_blame *blame, size_t rank_idx,
		       const struct fsl_episode *episode, double rise_ms, double least_ms,
		       double *work);

/*
 * Onsets of all ranks are known: those that do not stand at a false discovery rate over the ranks
 * become unknown (Benjamini and Hochberg). @work: ranks.
 */
void fsl_onsets_accept(struct fsl_blame *blame, double *work);

/*
 * Charges in the light of arrival arcs: of the ranks that these could judge, those that they do not
 * name have no charge, and those that they name have one.
 */
enum fsl_status fsl_arrivals_judge(struct fsl_blame *out, const struct fsl_case *facts,
				   struct fsl_error *err);

/*
 * Charges of all ranks from own, reference, late, wait and noise. Episodes and repeated steps that
 * come as often by chance in the class are no charge. References of ranks that changed become
 * their own healthy level. @work: 3 * steps + 3 * ranks + 2.
 */
enum fsl_status fsl_charge_ranks(struct fsl_blame *out, const struct fsl_config *config,
				 double *work, struct fsl_error *err);

#endif
