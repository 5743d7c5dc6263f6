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
enum fsl_status fsl_repairs_run(struct fsl_repairs *repairs, struct fsl_error *err);
void fsl_repairs_fini(struct fsl_repairs *repairs);

/* Mean of a repair's step times over the replayed steps in [begin, end); *n: how many there are. */
double fsl_repairs_mean(const struct fsl_replay *replay, const double *step_ms, size_t begin,
			size_t end, size_t *n);

/* Part of the loss that a repair brings back; NaN when nothing is lost. */
double fsl_share_of_loss(double was_ms, double repaired_ms, double ideal_ms);

/* Hosts, stages, replicas, parts of own time, transfer, and what share of the loss comes back. */
enum fsl_status fsl_whatifs_build(struct fsl_verification *out, const struct fsl_case *job,
				  struct fsl_error *err);

#endif
