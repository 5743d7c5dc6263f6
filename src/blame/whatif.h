/* Repairs that run side by side; private to src/blame. */
#ifndef FSL_BLAME_WHATIF_H
#define FSL_BLAME_WHATIF_H

#include "blame/verify.h"

/* Start it as {.arena = ..., .replay = ...}; flags live in the arena. */
struct fsl_repairs {
	struct fsl_arena *arena;
	const struct fsl_replay *replay;
	struct fsl_repair *items;
	size_t n_items, capacity;
	bool has_failed; /* out of memory */
	double *step_ms; /* [item * replay->n_steps + i], after fsl_repairs_run */
};

/* Flags of a new repair of all parts, none set; NULL when out of memory. */
struct fsl_repair_flags {
	bool *ranks, *channels;
	size_t idx; /* of the repair */
};
struct fsl_repair_flags fsl_repairs_add(struct fsl_repairs *repairs);
/* Nobody waits for ranks that left no data. */
void fsl_repairs_skip_unseen(struct fsl_repairs *repairs, const struct fsl_repair_flags *flags,
			     const struct fsl_verification *verification);
/* The channels of a slow link: @link_idx into verification->links. */
void fsl_repair_flag_link(struct fsl_repair_flags flags,
			  const struct fsl_verification *verification,
			  const struct fsl_match *match, size_t link_idx);
enum fsl_status fsl_repairs_run(struct fsl_repairs *repairs, struct fsl_error *err);
/* Step times of a repair that changes the same as @repair; NULL: none was run. */
const double *fsl_repairs_find(const struct fsl_repairs *repairs, const struct fsl_repair *repair);
void fsl_repairs_fini(struct fsl_repairs *repairs);

/*
 * Weights [replay->n_steps] of the replayed steps for means over [begin, end). If some of these
 * were not replayed, the high steps of a charge in single steps stand for all of its high steps and
 * the others for all others. @rank_idx: SIZE_MAX for a link. False if too few were replayed to
 * tell.
 */
bool fsl_weigh_steps(double *weights, const struct fsl_replay *replay,
		     const struct fsl_blame *blame, size_t rank_idx, size_t begin, size_t end);

/* Weighted mean of a repair's step times; @weights NULL: of all replayed steps. */
double fsl_repairs_mean(const struct fsl_replay *replay, const double *step_ms,
			const double *weights);

/* Part of the loss that a repair brings back; NaN when nothing is lost. */
double fsl_share_of_loss(double was_ms, double repaired_ms, double ideal_ms);

/*
 * The job at its best, its worst ranks, its last stage; unless it is asked in brief, also hosts,
 * stages, replicas, parts of own time, transfer; and what share of the loss comes back: asks for
 * repairs, and reads them into out->summary once they have run. In repairs->arena.
 */
struct fsl_whatifs;
enum fsl_status fsl_whatifs_ask(struct fsl_whatifs **out, struct fsl_repairs *repairs,
				struct fsl_verification *verification, const struct fsl_case *facts,
				struct fsl_error *err);
enum fsl_status fsl_whatifs_answer(const struct fsl_whatifs *whatifs, struct fsl_error *err);
/* Sets gains and costs of a copy of that summary anew, as means over the steps with weights; they
 * are means over all replayed steps before. Until the repairs are released. */
void fsl_whatifs_weigh(const struct fsl_whatifs *whatifs, struct fsl_replay_summary *summary,
		       const double *weights);

#endif
