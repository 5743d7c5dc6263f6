/*
 * Verification: the job replayed with suspects' own time and transfers put back to the level of
 * their peers. A charge says that a rank works too long; only a replay says what the job loses by
 * it: a pipeline's bubble hides work, and slow ranks of one group hide each other.
 *
 * cost(x): time per step that x alone costs, everybody else at their level. The gain of a repair of
 * x alone would not do: it is nothing for each of two slow ranks of one group, which have their
 * full cost each.
 */
#ifndef FSL_BLAME_VERIFY_H
#define FSL_BLAME_VERIFY_H

#include "blame/blame.h"
#include "blame/link.h"
#include "replay/replay.h"

/* The replay's word on one charged rank or one slow link, over the steps of its charge. */
struct fsl_proof {
	bool is_judged; /* false: too few of its steps were replayed, or too many candidates */
	double cost_ms;
};

struct fsl_verification {
	struct fsl_arena arena;
	struct fsl_replay replay;
	struct fsl_replay_summary summary;
	struct fsl_proof *ranks;       /* [rank_idx] */
	struct fsl_link *links;        /* slow links, most costly first */
	bool *is_wait;                 /* [n_channels] as fsl_transfers */
	struct fsl_proof *link_proofs; /* [n_links] */
	size_t n_links;
	bool has_links; /* they were looked for */
	/* [replay.n_steps]: with nothing changed, with everything at its level; NULL: not replayed.
	 */
	double *replayed_ms, *ideal_ms;
	/* The job that was replayed, and its parts that tell gains, until the graph is dropped. */
	struct fsl_repairs *repairs;
	struct fsl_whatifs *whatifs;
};

/*
 * Replays the job of @facts (with blame) and judges every charge and slow link. A job that cannot
 * be replayed faithfully is not trusted, with the reason; that is no failure. In brief, nothing is
 * replayed if the replay cannot change who is named. Fails with FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_verify(struct fsl_verification *out, const struct fsl_case *facts,
			   struct fsl_error *err);
void fsl_verification_fini(struct fsl_verification *verification);
/* Releases the graph, nearly all of the memory. Proofs, links and the summary stay; nothing can be
 * replayed any more. */
void fsl_verification_drop_graph(struct fsl_verification *verification);

/* The proof of a rank or link; NULL when there is no replay or no judgement to trust. */
const struct fsl_proof *fsl_proof_of_rank(const struct fsl_verification *verification,
					  size_t rank_idx);
const struct fsl_proof *fsl_proof_of_link(const struct fsl_verification *verification,
					  const struct fsl_link *link);

/*
 * Sets the cost of the named culprits of @out together: loss, slowdown, shares, the sources of the
 * loss and the summary of the replay. Over the replayed steps in [begin, end); nothing changes if
 * there is no replay to trust.
 */
enum fsl_status fsl_verify_loss(struct fsl_localisation *out, const struct fsl_case *facts,
				size_t begin, size_t end, struct fsl_error *err);

/*
 * Sets what a repair does: the parts of each rank's own time to the level of its peers, each
 * channel's transfer to that of its like. Only excess is removed; over the steps of a charge the
 * mean goes to the peers' mean and noise stays; outside of it likewise.
 */
enum fsl_status fsl_repair_levels(struct fsl_replay *replay, const struct fsl_case *facts,
				  const struct fsl_transfers *transfers,
				  const struct fsl_link *links, size_t n_links,
				  struct fsl_error *err);

#endif
