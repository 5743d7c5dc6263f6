/* Shared by the files of the simulator; private to src/sim. */
#ifndef FSL_SIM_SIM_PARTS_H
#define FSL_SIM_SIM_PARTS_H

#include <gsl/gsl_rng.h>

#include "base/mem.h"
#include "sim/sim.h"

#define FSL_SIM_NEVER INT64_MAX /* time of an event that never comes */

enum { FSL_SIM_GROUPS_PER_RANK = 9 }; /* numbers of communicators */

/* One communication operator of one rank; times by the rank's clocks. */
struct fsl_sim_op {
	uint64_t id;
	const char *name;  /* static: "HcclAllGather" */
	const char *group; /* owned by the running job; equal numbers have equal text */
	uint32_t group_no; /* below FSL_SIM_GROUPS_PER_RANK * ranks + 1 */
	uint64_t n_elements;
	int64_t host_begin_ns, host_end_ns, dev_begin_ns;
	int64_t dev_end_ns; /* FSL_SIM_NEVER: the rank waits in it for ever */
};

struct fsl_sim_stage {
	int32_t step;
	enum fsl_stage_kind kind;
	int64_t begin_ns, end_ns;
};

/* Receiver of the operators and stages. Ranks are numbers of the model. A rank's operators come in
 * order of their device begin; ids count from 1. */
struct fsl_sim_sink {
	void *context;
	enum fsl_status (*op)(void *context, int32_t rank, const struct fsl_sim_op *op,
			      struct fsl_error *err);
	enum fsl_status (*stage)(void *context, int32_t rank, const struct fsl_sim_stage *stage,
				 struct fsl_error *err);
};

/* Begin of each step on rank 0 and the end of the last step, ns since the job began. */
struct fsl_sim_clock {
	int64_t *step_begin_ns; /* [n_steps + 1] */
	int64_t *step_end_ns; /* [n_steps]: the begin of the next, unless the job restarts there */
	int64_t *save_ns, *evaluation_ns; /* [n_steps]: part of the step; 0: none, or of a family */
	int32_t n_steps;                  /* number of steps that began */
	uint64_t n_ops;
	int64_t last_ns; /* last written event, FSL_NS_ABSENT without a sink */
};

/* An empty clock of the job's steps; arrays in @arena. FSL_ERR_MEMORY only. */
enum fsl_status fsl_sim_clock_init(struct fsl_sim_clock *clock, const struct fsl_sim_params *params,
				   struct fsl_arena *arena, struct fsl_error *err);

#define FSL_SIM_ALL_FAULTS UINT32_MAX

/* Runs the job with the faults of the bits in @active; 0: the healthy job. @sink NULL: nothing is
 * written. @out's array is in @arena. */
enum fsl_status fsl_sim_run(const struct fsl_sim_params *params, uint32_t active,
			    const struct fsl_sim_sink *sink, struct fsl_arena *arena,
			    struct fsl_sim_clock *out, struct fsl_error *err);

/* Builds the truth from a written run (@clock) and a healthy run, which this function makes. */
enum fsl_status fsl_sim_truth_build(struct fsl_sim_truth *out, const struct fsl_sim_params *params,
				    const struct fsl_sim_clock *clock, struct fsl_error *err);
/* Fills out->stops. */
enum fsl_status fsl_sim_stops_find(struct fsl_sim_truth *out, const struct fsl_sim_params *params,
				   const struct fsl_sim_clock *clock, struct fsl_error *err);
/* Writes truth.json below @dir. */
enum fsl_status fsl_sim_truth_write(const struct fsl_sim_truth *truth,
				    const struct fsl_sim_params *params, const char *dir,
				    struct fsl_error *err);

/* Time since the job began as it is written: times params->time_scale. */
int64_t fsl_sim_scaled_ns(const struct fsl_sim_params *params, int64_t job_ns);
/* The same as ns since 1970, by a clock without an offset. */
int64_t fsl_sim_written_ns(const struct fsl_sim_params *params, int64_t job_ns);
/* Strength of a fault in a step, 0..1. */
double fsl_sim_fault_size(const struct fsl_sim_fault *fault, int32_t step);
/* Number of the @step-th step that a job with the faults of @active runs. */
int32_t fsl_sim_step_number(const struct fsl_sim_params *params, uint32_t active, int32_t step);
/* True if @rank is one of the fault's ranks. */
bool fsl_sim_fault_strikes(const struct fsl_sim_fault *fault, int32_t rank);
/* True if the rank leaves no marker file, or (@is_header_only) one without rows. */
bool fsl_sim_is_lost(const struct fsl_sim_params *params, int32_t rank, bool *is_header_only);

/* Actions of a stage in a step. */
enum fsl_sim_action_kind {
	FSL_SIM_PASS_FORWARD,
	FSL_SIM_PASS_BACKWARD,
	FSL_SIM_EXCHANGE, /* rendezvous with stage @peer */
	FSL_SIM_SEND,     /* asynchronous, to @peer */
	FSL_SIM_RECEIVE,  /* from @peer */
};
struct fsl_sim_action {
	enum fsl_sim_action_kind kind;
	int32_t micro_batch, chunk; /* of the pass; for SEND and RECEIVE of the receiver */
	int32_t peer;
	bool is_backward;     /* SEND, RECEIVE: the message holds gradients */
	bool sends, receives; /* EXCHANGE */
};
struct fsl_sim_plan {
	struct fsl_sim_action *actions;
	size_t n_actions;
};
/* Builds one plan per stage, [params->pp], in @arena. */
enum fsl_status fsl_sim_plans_build(struct fsl_sim_plan **plans,
				    const struct fsl_sim_params *params, struct fsl_arena *arena,
				    struct fsl_error *err);

/* Random stream for @purpose of @rank; free with gsl_rng_free. NULL: out of memory. */
gsl_rng *fsl_sim_stream(const struct fsl_sim_params *params, int32_t rank, uint64_t purpose);

#endif
