/* The running model; shared by the files that move it, private to src/sim. */
#ifndef FSL_SIM_JOB_H
#define FSL_SIM_JOB_H

#include "sim/lane.h"

enum { FSL_SIM_GROUPS_PER_RANK = 5 }; /* numbers of communicators: four kinds, pairs have two */

/* Ranks that run in lock step: one stage of the replicas that share experts. */
struct fsl_sim_cell {
	int32_t stage, block; /* replicas block * ep .. block * ep + ep - 1 */
	size_t next;          /* next action of the plan */
	/* Interleaved schedule: time at which each rank's message was ready, [(direction * chunks +
	 * chunk) * micro_batches + micro-batch] * width; -1: not sent. */
	int64_t *mail_ns;
};

struct fsl_sim_job {
	const struct fsl_sim_params *params;
	const struct fsl_sim_sink *sink; /* NULL: nothing is written */
	bool is_healthy;
	int32_t n_ranks, step;
	struct fsl_sim_lane *lanes;
	struct fsl_sim_plan *plans;
	struct fsl_sim_cell *cells; /* [block * pp + stage] */
	int32_t n_blocks, width;    /* width: number of ranks of a cell */
	double *lengths;         /* [replica * micro_batches + micro-batch], factor on the work */
	gsl_rng **streams;       /* random streams of the lengths, one per replica */
	const char **groups;     /* names of communicators by number; NULL: not used so far */
	struct fsl_arena *names; /* arena of these names */
	uint32_t *struck, *on_hosts; /* [rank]: bits of the faults that strike the rank, or a
					rank of its host */
	int32_t *members;            /* scratch, as many as the largest group */
	int64_t *ready_ns;           /* [rank * buckets + bucket]: time at which overlapped
					gradients are ready */
	int64_t last_ns;
	struct fsl_error *err;
	enum fsl_status status; /* first failure; all later calls do nothing */
};

/* The @i-th rank of a cell, by replica, then shard. */
int32_t fsl_sim_cell_rank(const struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
			  int32_t i);
/* The cell that takes part in @action with this one. */
struct fsl_sim_cell *fsl_sim_peer_of(const struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
				     const struct fsl_sim_action *action);
/* Keeps the first failure. */
void fsl_sim_note(struct fsl_sim_job *job, enum fsl_status status);

/* The first operator of a job: all ranks meet. */
void fsl_sim_meet_all(struct fsl_sim_job *job);
/* Runs one collective of the tensor-parallel ranks in each replica of a cell. */
void fsl_sim_meet_shards(struct fsl_sim_job *job, const struct fsl_sim_cell *cell, const char *name,
			 uint64_t n_elements);
/* Sends tokens to the experts and back: each shard meets its like in the block's other replicas. */
void fsl_sim_meet_experts(struct fsl_sim_job *job, const struct fsl_sim_cell *cell);
/* A rendezvous between the ranks of two neighbouring cells. */
void fsl_sim_exchange(struct fsl_sim_job *job, const struct fsl_sim_cell *a,
		      const struct fsl_sim_cell *b, const struct fsl_sim_action *action);
/* Asynchronous send: the sender does not wait for the message. */
void fsl_sim_send_mail(struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
		       const struct fsl_sim_action *action);
/* Receives a message; false if it has not been sent yet. */
bool fsl_sim_receive_mail(struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
			  const struct fsl_sim_action *action);
/* Allreduce of all buckets over the replicas. */
void fsl_sim_reduce_gradients(struct fsl_sim_job *job);

#endif
