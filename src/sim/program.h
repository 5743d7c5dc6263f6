/*
 * One step of a rank as a program: the calls that its host issues, in order, onto the streams of
 * its device. Families of jobs (families.c) build the programs, streams.c runs them.
 */
#ifndef FSL_SIM_PROGRAM_H
#define FSL_SIM_PROGRAM_H

#include "sim/sim_parts.h"

/* A stream runs its calls one after the other. Calls on FSL_SIM_FREE wait for no stream. */
enum fsl_sim_stream {
	FSL_SIM_MAIN, /* own work */
	FSL_SIM_SIDE,
	FSL_SIM_SIDE_2,
	FSL_SIM_SIDE_3,
	FSL_SIM_FREE,
	FSL_SIM_STREAMS_N
};

/* Ranks that meet in an operator. */
enum fsl_sim_group {
	FSL_SIM_WORLD,
	FSL_SIM_TENSOR,   /* shards of one replica and stage; the ring of family cp */
	FSL_SIM_DATA,     /* equal shards of the replicas of a stage */
	FSL_SIM_REPLICAS, /* all ranks of a stage */
	FSL_SIM_EXPERTS,  /* ep neighbouring replicas */
	FSL_SIM_HOST_RANKS,
	FSL_SIM_ACROSS,   /* one rank of each host */
	FSL_SIM_PAIR,     /* two neighbouring stages */
	FSL_SIM_PIPELINE, /* all stages of a shard and replica */
	FSL_SIM_GROUPS_N
};
_Static_assert((int)FSL_SIM_GROUPS_N <= (int)FSL_SIM_GROUPS_PER_RANK, "numbers of communicators");

enum { FSL_SIM_NO_CALL = -1 };

/* How the time of own work differs between ranks and steps. */
enum fsl_sim_uneven { FSL_SIM_EVEN, FSL_SIM_BY_LENGTH, FSL_SIM_BY_ROUTE };

struct fsl_sim_call {
	const char *name; /* of an operator, static; NULL: own work */
	enum fsl_sim_stream stream;
	int32_t after[2]; /* calls that end before this one begins; FSL_SIM_NO_CALL */
	double ms;        /* of the work, or of the transfer */
	/* Own work. */
	enum fsl_sim_uneven uneven;
	int32_t micro_batch;
	/* Operators. */
	enum fsl_sim_group group;
	int32_t group_idx; /* below the number of ranks */
	bool is_ring;      /* ends with the neighbours of the rank, not with all members */
	int64_t use;       /* equal for the members that meet */
	uint64_t n_elements;
	size_t meet, place; /* set by streams.c: the meeting, and the rank's place in it */
};

struct fsl_sim_program {
	const struct fsl_sim_params *params;
	const struct fsl_sim_plan *plan; /* of the rank's stage; NULL: no pipeline */
	int32_t rank;
	bool is_evaluation; /* forward passes alone */
	struct fsl_sim_call *calls;
	size_t n_calls, calls_capacity;
	int64_t n_uses[FSL_SIM_GROUPS_N]; /* so far */
	int64_t n_exchanges[2];           /* with the stage before and behind, so far */
	enum fsl_status status;           /* first failure */
	struct fsl_error *err;
};

/* Builds the program of a rank for the family of params->family. */
void fsl_sim_program_build(struct fsl_sim_program *program);

/* Number of ranks that meet in an operator of this group. */
int32_t fsl_sim_group_size(const struct fsl_sim_params *params, enum fsl_sim_group group);

/* Runs a job of a family; arguments as fsl_sim_run. */
enum fsl_status fsl_sim_run_streams(const struct fsl_sim_params *params, uint32_t active,
				    const struct fsl_sim_sink *sink, struct fsl_arena *arena,
				    struct fsl_sim_clock *out, struct fsl_error *err);

#endif
