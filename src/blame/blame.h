/*
 * Blame: for every rank and step, how much longer its own work took than that of its peers (ranks
 * that do the same work), in which episode, and whether anybody waited for it. Everything the
 * verdict needs in numbers.
 */
#ifndef FSL_BLAME_BLAME_H
#define FSL_BLAME_BLAME_H

#include <math.h>

#include "config/config.h"
#include "match/match.h"
#include "match/own.h"
#include "model/steps.h"
#include "model/topology.h"
#include "model/verdict.h"

#define FSL_NO_CLASS UINT32_MAX

struct fsl_blame;
struct fsl_verification;

/*
 * Healthy devices of one kind differ by 8 % on average and by 22 % at most (Sinha et al., SC22). A
 * rank that is so much slower than its peers all along is slow; less where it stands apart from
 * them. What a rank was before it changed is taken for healthy up to the last of these.
 */
#define FSL_SLOW_RATIO_MIN   1.20
#define FSL_APART_RATIO_MIN  1.12
#define FSL_UNEVEN_RATIO_MAX 1.15
/* Work is uneven where the spread of a class is this large (ByteDance's traces: 18-27 % with uneven
 * sequences, 1.5-3.1 % without). */
#define FSL_WORK_SPREAD_MIN 0.08

/*
 * Everything that is known about the job, filled from left to right as it becomes known; all
 * borrowed. Blame needs what stands before it.
 */
struct fsl_case {
	const struct fsl_config *config;
	const struct fsl_run *run;
	const struct fsl_topology *topology;
	const struct fsl_steps *steps;
	const struct fsl_match *match;
	const struct fsl_cuts *cuts;
	const struct fsl_own *own;
	const struct fsl_perception *perception;
	const struct fsl_blame *blame;
	struct fsl_verification *verification;    /* NULL: no replay, blame's word as it is */
	const struct fsl_localisation *classical; /* what the classical points propose */
	/* Who and how much is asked, and nothing that only a verdict tells: no suspects, what-ifs,
	 * details. */
	bool is_brief;
};

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

/* Half-open range of steps in which a series is high; empty when begin == end. */
struct fsl_episode {
	size_t begin, end;
	size_t n_high;      /* steps above the threshold inside */
	double persistence; /* n_high / (end - begin) */
	double mean_ms;     /* mean excess over the range */
};

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
	/* Mean lateness per step over the episode; over all steps without one. */
	double late_ms_per_step;
};

/* What happens to a rank's peers without a fault, and how often the rank itself has it. */
struct fsl_chance {
	double share;   /* of steps that are high; level of the peers */
	double lost_ms; /* per step, in high steps above each one's healthy level; likewise */
	/* Steps seen, and those above the healthy level by more than @clear_ms: of the rank, and of
	 * all its peers together. */
	double clear_ms;
	size_t n_seen, n_high, n_seen_peers, n_high_peers;
};

struct fsl_blame {
	struct fsl_arena arena;
	size_t n_ranks, n_steps;
	struct fsl_peers peers;
	double step_ms;      /* median step time */
	double *step_dur_ms; /* [step] */
	/* [rank_idx * n_steps + step], ms; NaN where the step was not seen whole. */
	double *own_ms;
	double *reference_ms;  /* level of the peers */
	double *late_ms;       /* how long the others of its groups waited for the rank */
	double *wait_ms;       /* how long the rank waited for others in matched collectives */
	double *noise_ms;      /* per rank: robust sigma of the excess in its class */
	double *healthy_ratio; /* per rank: own time over its peers' while it was at its best */
	bool *stands_out;      /* per rank: apart from the cloud of its peers' own times */
	bool *is_outlier;      /* per rank: slower than so many healthy devices ever are */
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

/*
 * Reference level of n values: median of their lower half. With up to about two thirds of the peers
 * slow it is still the level of the healthy ones. NaN-aware; NaN when nothing is left. @scratch: n.
 */
double fsl_peer_level(const double *values, size_t n, double *scratch);

/*
 * For each of n values the level of all others: a value never is part of what it is compared with,
 * so noise alone is as often below its level as above, also between two. NaN where the value is or
 * has no others. @scratch: n.
 */
void fsl_peer_levels(const double *values, size_t n, double *levels, double *scratch);

/*
 * Level of a series at its best: least median of windows of a tenth of it. A fault that left but a
 * few steps healthy does not reach it. NaN where no window has five values. @scratch: n.
 */
double fsl_best_level(const double *values, size_t n, double *scratch);

/*
 * The range that maximises the sum of +1 for values above @threshold and -1 for the others
 * (Kadane): where a series is high most of the time. NaN values count nothing.
 */
struct fsl_episode fsl_episode_find(const double *values, size_t n, double threshold);

/* Fills n_high, persistence and mean_ms of the range [begin, end). */
void fsl_episode_measure(struct fsl_episode *episode, const double *values, double threshold);

/* From the first value above @threshold to the last one; mean_ms is that of the high values. */
struct fsl_episode fsl_episode_all(const double *values, size_t n, double threshold,
				   size_t *n_seen);

/*
 * How far an episode lies above the rest of a series (medians); NaN where the rest is too short to
 * compare with. *n_least: values seen on the shorter side. @work: 2 * n.
 */
double fsl_episode_rise(const struct fsl_episode *episode, const double *values, size_t n,
			size_t *n_least, double *work);

enum fsl_status fsl_peers_build(struct fsl_peers *out, struct fsl_arena *arena,
				const struct fsl_run *run, const struct fsl_topology *topology,
				struct fsl_error *err);

/* Excess, lateness and charge of every rank. */
enum fsl_status fsl_blame_build(struct fsl_blame *out, const struct fsl_case *job,
				struct fsl_error *err);
void fsl_blame_fini(struct fsl_blame *blame);

/* True when the rank is no slower than healthy devices of one kind may be. */
bool fsl_blame_is_uneven(const struct fsl_blame *blame, size_t rank_idx);

/*
 * Steps that a charge's loss is the mean over. LASTING: its episode. REPEATED: from the first high
 * step on, to the last one or, where the next would still be to come, to the end; half of all steps
 * at least, so that a few steps by chance beside each other do not pass for many.
 */
void fsl_charge_range(const struct fsl_charge *charge, size_t n_steps, size_t *begin, size_t *end);

/* Empty charges with their thresholds, and the share of high steps among the peers of every rank,
 * while references are still those of the peers. @work as below. */
void fsl_chance_find(struct fsl_blame *out, const struct fsl_config *config, double *work);

/* The rest of the chances and what they may be (false discovery rate over the ranks), once it is
 * known how ranks stand. @work as below. */
enum fsl_status fsl_chance_find_singles(struct fsl_blame *out, double *work, struct fsl_error *err);

/* Probability of as many clear high steps as the rank has, or more, where they come as often as
 * among its peers (Poisson). */
double fsl_chance_p(const struct fsl_chance *chance);

/*
 * Ranks that are slower all along than the slowest of so many healthy devices, as far as the others
 * differ. @usual_ms: per rank, its usual own time.
 */
enum fsl_status fsl_outliers_find(bool *is_outlier, const struct fsl_blame *blame,
				  const double *usual_ms, struct fsl_error *err);

/*
 * Where the level of a rank that became slower changes, near the begin of its episode or, where it
 * was slow from the first step on, near the end. Moves the begin there, five steps at most; what
 * else @episode holds is then out of date (fsl_episode_measure).
 */
enum fsl_status fsl_onset_find(struct fsl_onset *onset, struct fsl_episode *episode,
			       const struct fsl_blame *blame, size_t rank_idx,
			       struct fsl_error *err);

/*
 * True when the rank's excess rose by @rise_ms over the episode because the rank changed, and not
 * those it is compared with: its own time rose by half of that, or by @least_ms and the steps as
 * much, but for a factor of two. Peers that work on beneath an operator while they wait in it for
 * the rank seem to work less than before, by more than what the rank works longer. @work: 2 *
 * steps.
 */
bool fsl_change_is_own(const struct fsl_blame *blame, size_t rank_idx,
		       const struct fsl_episode *episode, double rise_ms, double least_ms,
		       double *work);

/*
 * Takes the charge from ranks that seem to have become slow in steps in which others did: their own
 * time is what it was, and that of their peers, who wait for those others, seems to be less.
 */
enum fsl_status fsl_changes_leave_own(struct fsl_blame *blame, struct fsl_error *err);

/*
 * Onsets of all ranks are known: those that do not stand at a false discovery rate over the ranks
 * become unknown (Benjamini and Hochberg). @work: ranks.
 */
void fsl_onsets_accept(struct fsl_blame *blame, double *work);

/*
 * How each rank and each class stands without a fault: healthy_ratio, stands_out, is_outlier and
 * the references of classes that slowed down as a whole put back to what they were. Own time and
 * references are set. @work: 3 * steps + 3 * ranks + 2.
 */
enum fsl_status fsl_standing_find(struct fsl_blame *out, const struct fsl_config *config,
				  double *work, struct fsl_error *err);

/*
 * Charges of all ranks from own, reference, late, wait and noise. Episodes and repeated steps that
 * come as often by chance in the class are no charge. References of ranks that changed become
 * their own healthy level. @work: 3 * steps + 3 * ranks + 2.
 */
enum fsl_status fsl_charge_ranks(struct fsl_blame *out, const struct fsl_config *config,
				 double *work, struct fsl_error *err);

/* Least loss per step that counts: what makes steps of @step_ms longer by slow_ratio_min. */
static inline double fsl_least_loss_ms(const struct fsl_config *config, double step_ms)
{
	return (1.0 - 1.0 / config->slow_ratio_min) * step_ms;
}

/* Part of the healthy ratio that is no fault: slower than peers by as much as devices may be. */
static inline double fsl_uneven_ratio(double healthy_ratio)
{
	return isnan(healthy_ratio) ? 1.0 : fmin(fmax(healthy_ratio, 1.0), FSL_UNEVEN_RATIO_MAX);
}

/* Excess of every step over the level of the peers times @ratio; @excess: steps. */
void fsl_blame_set_excess(const struct fsl_blame *blame, size_t rank_idx, double ratio,
			  double *excess);

static inline double fsl_blame_excess_ms(const struct fsl_blame *blame, size_t rank_idx,
					 size_t step)
{
	size_t at = rank_idx * blame->n_steps + step;
	return blame->own_ms[at] - blame->reference_ms[at];
}

/* What a slow communicator costs: its shortest duration (nobody is late in that) against like
 * communicators. */
struct fsl_link {
	size_t channel_idx; /* the channel that loses most; match->channels */
	size_t group_idx;
	struct fsl_episode episode;
	double lost_ms_per_step;
	double transfer_ms, peers_ms; /* per step, mean over the episode */
	size_t n_peers;               /* like communicators compared with; 0: own past */
};

/* Transfer time of every channel against that of like channels (same operator, size and stages of
 * the members). */
struct fsl_transfers {
	struct fsl_arena arena;
	size_t n_channels, n_steps;
	/* [channel_idx * n_steps + step], ms per step; NaN where no instance is complete. */
	double *transfer_ms, *reference_ms;
	size_t *n_alike; /* per channel, itself included; 1: the reference is its own past */
	/* Per channel: a member left no data and perhaps came late, so that what looks like
	 * transfer may be a wait for it. Compared with like ones that were seen whole, else with
	 * its own past; a link only where the unseen came in time. */
	bool *is_wait;
};
enum fsl_status fsl_transfers_build(struct fsl_transfers *out, const struct fsl_case *job,
				    struct fsl_error *err);
void fsl_transfers_fini(struct fsl_transfers *transfers);

/* Slow links, most costly first; in @arena. */
enum fsl_status fsl_links_judge(struct fsl_link **links, size_t *n_links, struct fsl_arena *arena,
				const struct fsl_case *job, const struct fsl_transfers *transfers,
				struct fsl_error *err);
/* True for the channels that a link stands for. */
bool fsl_link_has_channel(const struct fsl_link *link, const struct fsl_match *match,
			  size_t channel_idx);
/* Groups with a member that left no data, so that their transfer cannot be told from a wait. */
size_t fsl_links_count_unjudged(const struct fsl_case *job);
/* Per text of run->names: a member of the communicator of this name left no data. Free with
 * fsl_free; NULL when out of memory. */
bool *fsl_links_unseen(const struct fsl_case *job);
/* Both at once. */
enum fsl_status fsl_links_find(struct fsl_link **links, size_t *n_links, struct fsl_arena *arena,
			       const struct fsl_case *job, struct fsl_error *err);

#endif
