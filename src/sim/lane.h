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
	int64_t host_begin_ns, host_end_ns; /* both 0: far ahead of the device, or just ahead if it
					       is the host that is slow */
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
	double host_factor; /* of families: on the time that a launch takes */
	bool is_host_bound;
	double loader_extra_ms, ckpt_extra_ms;
	double stand_ms;    /* behind the data, with all other ranks */
	double pause_ms[2]; /* of this step; [1] is a recorded garbage collection */
	double stall_ms;    /* of this step, on the device */
	double pause_where; /* 0..1: part of the step before which the rank pauses */
	uint32_t pause_at;  /* the same as a pass of the step */
	uint32_t n_passes;  /* passes so far in this step */
	/* Writing. */
	int64_t clock_ns;
	double drift; /* ns per ns */
	int64_t host_free_ns;
	uint64_t n_ops, n_ops_before; /* n_ops_before: of the processes before a restart */
	struct fsl_sim_draft *drafts;
	size_t n_drafts, drafts_capacity;
	struct fsl_sim_stage *stages;
	size_t n_stages, stages_capacity;
};

enum fsl_status fsl_sim_lanes_create(struct fsl_sim_lane **lanes,
				     const struct fsl_sim_params *params, struct fsl_error *err);
void fsl_sim_lanes_destroy(struct fsl_sim_lane *lanes, int32_t n_lanes);

/* Sets this step's faults and draws its chances. @struck: bits of the faults that strike the rank.
 */
void fsl_sim_lane_prepare(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
			  int32_t rank, int32_t step, uint32_t struck);
/* Draws how long own work of @ms takes, ns; @factor: from the micro-batch, the step and the job. */
int64_t fsl_sim_lane_draw(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, double ms,
			  double factor);
/* Adds such work. */
void fsl_sim_lane_work(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, double ms,
		       double factor);

/* Waits for the data of a step, and saves a checkpoint. */
void fsl_sim_lane_load(struct fsl_sim_lane *lane, const struct fsl_sim_params *params);
void fsl_sim_lane_save(struct fsl_sim_lane *lane, const struct fsl_sim_params *params);

enum fsl_status fsl_sim_lane_put_op(struct fsl_sim_lane *lane, const struct fsl_sim_draft *draft,
				    struct fsl_error *err);
enum fsl_status fsl_sim_lane_put_stage(struct fsl_sim_lane *lane, int32_t step,
				       enum fsl_stage_kind kind, int64_t begin_ns,
				       struct fsl_error *err);
/* Writes the operators of the step in order of begin, by the rank's clocks; raises *last_ns. */
enum fsl_status fsl_sim_lane_flush(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
				   const struct fsl_sim_sink *sink, int32_t rank, int64_t *last_ns,
				   struct fsl_error *err);

/* Faults that strike, and the ranks that each reaches. Arrays belong to an arena. */
struct fsl_sim_net {
	const struct fsl_sim_params *params;
	uint32_t active;             /* bits of the faults of this run */
	uint32_t *struck, *on_hosts; /* [rank]: bits of the faults that strike the rank, or a rank
					of its host */
	int32_t step;
};
enum fsl_status fsl_sim_net_init(struct fsl_sim_net *net, const struct fsl_sim_params *params,
				 uint32_t active, struct fsl_arena *arena, struct fsl_error *err);
/* Time of a transfer between these ranks in net->step, ns; takes one number from @stream. */
int64_t fsl_sim_transfer_ns(const struct fsl_sim_net *net, gsl_rng *stream, const int32_t *members,
			    int32_t n_members, double transfer_ms);

/* Factor on the work of a step while the job warms up. */
double fsl_sim_warm_up(const struct fsl_sim_params *params, int32_t step);
/* Spread of the lengths of micro-batches in net->step (log-normal sigma), and the work of one. */
double fsl_sim_length_sigma(const struct fsl_sim_net *net);
double fsl_sim_length(gsl_rng *stream, double sigma);

/* The later of two times, and a time plus a duration; FSL_SIM_NEVER stays. */
int64_t fsl_sim_later(int64_t a, int64_t b);
int64_t fsl_sim_after(int64_t begin_ns, int64_t dur_ns);

#endif
