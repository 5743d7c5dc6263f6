/* The parts of fusion; private to src/blame. */
#ifndef FSL_BLAME_FUSE_PARTS_H
#define FSL_BLAME_FUSE_PARTS_H

#include "blame/fuse.h"
#include "blame/link.h"
#include "blame/network.h"

/* Names the culprits: ranks by their charges, links by their transfer. Charges that are not enough
 * are unconfirmed. */
enum fsl_status fsl_fuse_culprits(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err);

/* Costliest first; equal costs by rank. */
void fsl_fuse_sort_culprits(struct fsl_localisation *out);

/* Kind, confidence, onset and reason of a verdict with culprits, costliest first. */
void fsl_fuse_conclude_named(struct fsl_localisation *out, const struct fsl_case *facts);

/*
 * Least cost of a rank that changed, if ranks work on beneath operators: the replay holds them up
 * too, so that too little comes back. The steps rose when the rank changed, by no more than its
 * work rose against its peers, and no other rank changed then: the rise is its cost. 0: not known.
 */
double fsl_fuse_least_loss(const struct fsl_case *facts, const struct fsl_charge *charge);
/* True if no replay proves the cost of a lasting charge, and steps took no longer while it lasted:
 * two witnesses are against it, as against a link. False if no other steps tell. */
bool fsl_fuse_is_costless_change(const struct fsl_case *facts, size_t r, double least_ms);
/* How much longer steps took, ms, while a lasting charge lasted whose cost no replay proves, if its
 * excess is a small part of that and no other rank's is larger: something else made them longer. 0:
 * no such rise. */
double fsl_fuse_unexplained_rise_ms(const struct fsl_case *facts, size_t r);

/*
 * @lost_ms per step, but no more than the steps rose by if the charge has an episode: no repair
 * makes a job faster than it was. The replay may say so if work goes on under operators that
 * nothing else shows to be asynchronous: a rank that waits in them shows less work than it does.
 */
double fsl_fuse_bound_loss(const struct fsl_blame *blame, const struct fsl_charge *charge,
			   double lost_ms);

/* True if the charge of a rank is not enough, whatever the replay says that it costs. */
bool fsl_fuse_is_doubted(const struct fsl_case *facts, size_t rank_idx);

/*
 * If the costliest culprit wants for host time or data, and the queues of all ranks of its host
 * shrank against those of other hosts: names these ranks, too. The slowest of them is waited for,
 * so that what the others cost does not show.
 */
enum fsl_status fsl_fuse_name_host(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err);

/* Sets shape and period of the culprits, whose losses and ends are known. */
void fsl_fuse_tell_rhythm(struct fsl_localisation *out, const struct fsl_steps *steps);

/* Tells, in the reason of the costliest culprit, which rank comes next and why it is not named. */
enum fsl_status fsl_fuse_runner_up(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err);

/*
 * If nobody is named: the costliest of stage imbalance, work imbalance and pauses of hosts, if it
 * costs what counts. Fills the verdict then, and leaves it as it is otherwise.
 */
enum fsl_status fsl_fuse_imbalance(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err);

/* Cost of long single steps, ms per step: of each step the longest of all ranks. */
double fsl_fuse_pauses_ms(const struct fsl_case *facts);

/* Lists victims and unconfirmed suspects: what ArrivalLateness and the classical points say of
 * ranks not named. */
enum fsl_status fsl_fuse_suspects(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err);

/* True when the rank has no data of the last steps of the job although it had some before. */
bool fsl_fuse_is_short(const struct fsl_case *facts, size_t rank_idx);

/* sysTrace's part: abnormalDetail, normalDetail, LACK, resultCode, flags. */
enum fsl_status fsl_fuse_details(struct fsl_localisation *out, const struct fsl_case *facts,
				 struct fsl_error *err);

/* One flag per rank index, in the verdict's arena: true for those that are named. */
enum fsl_status fsl_fuse_named(bool **is_named, struct fsl_localisation *out,
			       const struct fsl_run *run, struct fsl_error *err);

/* The costliest slow link of those for which nobody is named, as @network tells; NULL: none. */
enum fsl_status fsl_fuse_common_link(const struct fsl_link **link, struct fsl_network *network,
				     struct fsl_localisation *out, const struct fsl_case *facts,
				     struct fsl_error *err);

#endif
