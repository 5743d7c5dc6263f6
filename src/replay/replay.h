/*
 * Replay: the job as a graph of its operators, run again with some ranks' own time or some
 * channels' transfer put at another level. How long the steps then take says what those ranks
 * and channels cost the job. Knows nothing of blame: the caller sets the levels.
 */
#ifndef FSL_REPLAY_REPLAY_H
#define FSL_REPLAY_REPLAY_H

#include "match/match.h"
#include "match/own.h"

/* Time that no record explains counts as one more part of own time if the caller says so. */
enum { FSL_REPLAY_IDLE = FSL_OWN_PARTS_N, FSL_REPLAY_PARTS_N };
#define FSL_REPLAY_PARTS_ALL ((UINT32_C(1) << FSL_REPLAY_PARTS_N) - 1)

/* The job; borrowed by fsl_replay_build only. */
struct fsl_replay_job {
	const struct fsl_run *run;
	const struct fsl_steps *steps;
	const struct fsl_match *match;
	const struct fsl_cuts *cuts;
	const struct fsl_own *own;
	bool counts_idle; /* what no stage explains is own work */
	/* A step lasts until the last rank ends it, not until they do on average: nothing follows
	 * in which the others would wait. */
	bool ends_with_last;
	/* Ranks that do the same work: members[class_begin[k] .. class_begin[k + 1]) are class k.
	 */
	const uint32_t *members;
	const size_t *class_begin;
	size_t n_classes;
	/* Per text of run->names: a member of this communicator left no data, so that an operator
	 * which meets nobody may wait for it. NULL: none. */
	const bool *misses_members;
	/* At most so many steps and about so many operators are replayed. */
	size_t steps_max, ops_max;
	/* Steps that should be among them, most wanted first. */
	const uint32_t *focus_steps;
	size_t n_focus;
};

/*
 * The place in a step at which a factor takes time off: throughout; in an episode, at the places
 * that take longer than in calm steps; in a single step, at the places that take longer there. A
 * pause sits in one place, a checkpoint too; a slow device is slow everywhere.
 */
enum fsl_replay_kind { FSL_REPLAY_CALM, FSL_REPLAY_EPISODE, FSL_REPLAY_SINGLE };

struct fsl_replay_graph;

struct fsl_replay {
	struct fsl_arena arena;
	struct fsl_replay_graph *graph; /* NULL: nothing to replay */
	size_t n_ranks, n_channels;
	/* The steps replayed, ascending indices into fsl_steps; runs of neighbours are windows. */
	size_t n_steps;
	uint32_t *step_idx;
	double *measured_ms; /* [n_steps]: from last end to last end, as recorded */
	/*
	 * The effect of a repair, set by the caller (all 1 at first), then fsl_replay_set_levels:
	 * factor on a rank's own time in a step by part, and on the transfer of a channel.
	 */
	double *own_factor;      /* [(rank_idx * n_steps + i) * FSL_REPLAY_PARTS_N + part] */
	uint8_t *kind;           /* [rank_idx * n_steps + i]: enum fsl_replay_kind */
	double *transfer_factor; /* [channel_idx * n_steps + i] */
	/* Contents of the graph. */
	size_t n_ops, n_meetings;
	size_t n_cut;           /* meetings left unmatched because they would wait for themselves */
	size_t n_odd;           /* instances left unmatched because their members end apart */
	size_t n_lost;          /* operators put back whose record was lost */
	size_t n_hidden;        /* waits that left no marker and were told from when they ended */
	double unmatched_share; /* of the time replayed, in operators that meet nobody although all
				   members left data; of the worst rank */
};

/*
 * Builds the graph. Nodes are operators. An operator begins after the one that ended last before it
 * on its rank, and after the rank's own time. Members of a matched instance meet: they end when the
 * last has arrived plus the instance's transfer, which is its shortest duration. All other
 * operators keep their duration, unless waits for the unseen are left out. A lost operator is put
 * back. Too many operators for a single step give an empty replay (graph NULL). About 170 bytes per
 * operator. Fails with FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_replay_build(struct fsl_replay *out, const struct fsl_replay_job *job,
				 struct fsl_error *err);
void fsl_replay_fini(struct fsl_replay *replay);

/* Takes over own_factor, kind and transfer_factor. */
enum fsl_status fsl_replay_set_levels(struct fsl_replay *replay, struct fsl_error *err);

/*
 * Sets the level of the own time before each operator of a rank: the measured time times @factor,
 * less @off_ns ([n_ops] of the rank; NULL: nothing), at least 0. The first operator comes earlier
 * than it was captured by off_ns[0], later if that is below 0. For replays of all operators in one
 * window, instead of fsl_replay_set_levels; parts have no levels then.
 */
void fsl_replay_set_rank_level(struct fsl_replay *replay, size_t rank_idx, double factor,
			       const int64_t *off_ns);
/* After the last of them: work beside operators then takes what the ranks of a class show at their
 * levels. FSL_ERR_MEMORY only. */
enum fsl_status fsl_replay_settle_rank_levels(struct fsl_replay *replay, struct fsl_error *err);

/* The ranks, channels and parts at their level; everything else stays as measured. */
struct fsl_repair {
	const bool *ranks;    /* [n_ranks]; NULL: none */
	const bool *channels; /* [n_channels]; NULL: none */
	uint32_t parts;       /* bit per part of own time */
	/* Operators that meet nobody because a member left no data take their least duration: who
	 * is not seen is taken to be in time. */
	bool skips_unseen;
};

/*
 * Time of every replayed step under each of @n repairs: step_ms[repair * n_steps + i]. Runs on all
 * threads; the result does not depend on their number. Each takes 64 bytes per operator of a
 * window.
 */
enum fsl_status fsl_replay_run(const struct fsl_replay *replay, const struct fsl_repair *repairs,
			       size_t n, double *step_ms, struct fsl_error *err);

#endif
