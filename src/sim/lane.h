/* One rank while the job runs: its clock, its random streams, and its unwritten operators. */
#ifndef FSL_SIM_LANE_H
#define FSL_SIM_LANE_H

#include "sim/sim_parts.h"

/* One operator of a step, not yet written; in job time. */
struct fsl_sim_draft {
	const char *name;
	const char *group;
	uint32_t group_no;
	uint64_t n_elements;
	int64_t begin_ns, end_ns;
};

struct fsl_sim_lane {
	gsl_rng *work;   /* noise of its own work */
	gsl_rng *chance; /* pauses and spikes; the number of draws per step never changes */
	gsl_rng *net;    /* noise of the transfers that this rank leads */
	gsl_rng *shadow; /* host times and end jitter; never affects the model */
	double ar;       /* state of the AR(1) noise */
	double speed;    /* lasting factor on the rank's work */
	int64_t now_ns;  /* FSL_SIM_NEVER: the rank has stopped */
	int64_t pass_begin_ns;
	/* Effects of this step's faults. */
	double factor;
	bool is_host_bound;
	double loader_extra_ms, ckpt_extra_ms;
	double pause_ms[2]; /* of this step; [1] is a recorded garbage collection */
	uint32_t pause_at;  /* the rank pauses before this pass of the step */
	uint32_t n_passes;  /* passes so far in this step */
	/* Writing. */
	int64_t clock_ns;
	double drift; /* ns per ns */
	int64_t host_free_ns;
	uint64_t n_ops;
	struct fsl_sim_draft *drafts;
	size_t n_drafts, drafts_capacity;
	struct fsl_sim_stage *stages;
	size_t n_stages, stages_capacity;
};

enum fsl_status fsl_sim_lanes_create(struct fsl_sim_lane **lanes,
				     const struct fsl_sim_params *params, struct fsl_error *err);
void fsl_sim_lanes_destroy(struct fsl_sim_lane *lanes, int32_t n_lanes);

/* Sets this step's faults and draws its chances. @struck: bits of the faults that strike the rank;
 * NULL: a healthy job. */
void fsl_sim_lane_prepare(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
			  int32_t rank, int32_t step, const uint32_t *struck);
/* Adds own work of @ms; @factor: from the micro-batch, the step and the job. */
void fsl_sim_lane_work(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, double ms,
		       double factor);

enum fsl_status fsl_sim_lane_put_op(struct fsl_sim_lane *lane, const struct fsl_sim_draft *draft,
				    struct fsl_error *err);
enum fsl_status fsl_sim_lane_put_stage(struct fsl_sim_lane *lane, int32_t step,
				       enum fsl_stage_kind kind, int64_t begin_ns,
				       struct fsl_error *err);
/* Writes the operators of the step in order of begin, by the rank's clocks; raises *last_ns. */
enum fsl_status fsl_sim_lane_flush(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
				   const struct fsl_sim_sink *sink, int32_t rank, int64_t *last_ns,
				   struct fsl_error *err);

#endif
