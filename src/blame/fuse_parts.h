/* The parts of fusion; private to src/blame. */
#ifndef FSL_BLAME_FUSE_PARTS_H
#define FSL_BLAME_FUSE_PARTS_H

#include "blame/fuse.h"

/* Who suspects a rank whose own work speaks against it: the detector of its fsl_suspect. */
#define FSL_OWN_TIME_DETECTOR "own_time"

/* Names the culprits: ranks by their charges, links by their transfer. Charges that are not enough
 * are unconfirmed. */
enum fsl_status fsl_fuse_culprits(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err);

/* Costliest first; equal costs by rank. */
void fsl_fuse_sort_culprits(struct fsl_localisation *out);

/* Kind, confidence, onset and reason of a verdict with culprits, costliest first. */
void fsl_fuse_conclude_named(struct fsl_localisation *out, const struct fsl_case *facts);

/* Cost of a charged rank per step, ms: as replayed, or at least as fsl_fuse_least_loss; else as
 * charged. */
double fsl_fuse_loss_of_rank(const struct fsl_case *facts, size_t rank_idx);

/*
 * Least cost of a rank that changed, if ranks work on beneath operators: the replay holds them up
 * too, so that too little comes back. The steps rose when the rank changed, by no more than its
 * work rose against its peers, and no other rank changed then: the rise is its cost. 0: not known.
 */
double fsl_fuse_least_loss(const struct fsl_case *facts, const struct fsl_charge *charge);

/*
 * @lost_ms per step, but no more than the steps rose by if the charge has an episode: no repair
 * makes a job faster than it was. The replay may say so if work goes on under operators that
 * nothing else shows to be asynchronous: a rank that waits in them shows less work than it does.
 */
double fsl_fuse_bound_loss(const struct fsl_blame *blame, const struct fsl_charge *charge,
			   double lost_ms);

/*
 * Why the charge of a rank is not enough to name it, in one clause in the verdict's arena; NULL
 * when it is. @least_ms: the loss per step that counts; @pauses_ms: fsl_fuse_pauses_ms().
 */
const char *fsl_fuse_doubt(struct fsl_localisation *out, const struct fsl_case *facts,
			   size_t rank_idx, double least_ms, double pauses_ms);

/* True if the charge of a rank is not enough, whatever the replay says that it costs. */
bool fsl_fuse_is_doubted(const struct fsl_case *facts, size_t rank_idx);

/* Tells, in the reason of the costliest culprit, which rank comes next and why it is not named. */
enum fsl_status fsl_fuse_runner_up(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err);

/*
 * If nobody is named: the costliest of stage imbalance, work imbalance and pauses of hosts, if it
 * costs what counts. Fills the verdict then; *is_found is false otherwise.
 */
enum fsl_status fsl_fuse_imbalance(struct fsl_localisation *out, const struct fsl_case *facts,
				   bool *is_found, struct fsl_error *err);

/* Cost of long single steps, ms per step: of each step the longest of all ranks. */
double fsl_fuse_pauses_ms(const struct fsl_case *facts);

/* Lists victims and unconfirmed suspects: what ArrivalLateness and the classical points say of
 * ranks not named. */
enum fsl_status fsl_fuse_suspects(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err);

/* Some two ranks do the same work, so that they could be compared. */
bool fsl_fuse_has_peers(const struct fsl_peers *peers);

/*
 * Why a job without culprits cannot be called normal: no two ranks do the same work, or others wait
 * for a rank that can be compared with nobody, by what counts more than for any other of its stage.
 * In the verdict's arena or static; NULL when it can.
 */
const char *fsl_fuse_alone(struct fsl_localisation *out, const struct fsl_case *facts);

/* Tells in the coverage how many ranks were compared with their own past only. */
enum fsl_status fsl_fuse_note_alone(struct fsl_localisation *out, const struct fsl_case *facts,
				    struct fsl_error *err);

/* True when the rank has no data of the last steps of the job although it had some before. */
bool fsl_fuse_is_short(const struct fsl_case *facts, size_t rank_idx);
/* How many ranks have no data of the last steps of the job; *first: the lowest of them, untouched
 * without any. */
size_t fsl_fuse_count_short(const struct fsl_case *facts, size_t *first);

/* Tells them in the coverage. */
enum fsl_status fsl_fuse_note_short(struct fsl_localisation *out, const struct fsl_case *facts,
				    struct fsl_error *err);

/* Why a job without culprits cannot be called normal: its steps are known for a part of the time
 * only. In the verdict's arena; NULL when they are known to the end. */
const char *fsl_fuse_unjudged(struct fsl_localisation *out, const struct fsl_case *facts);

/* sysTrace's part: abnormalDetail, normalDetail, LACK, resultCode, flags. */
enum fsl_status fsl_fuse_details(struct fsl_localisation *out, const struct fsl_case *facts,
				 struct fsl_error *err);

/* One flag per rank index: true for those that are named. Free with fsl_free; NULL when out of
 * memory. */
bool *fsl_fuse_named(const struct fsl_localisation *out, const struct fsl_run *run);

#endif
