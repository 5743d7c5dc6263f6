/*
 * The job simulator: a causal discrete-event model of a training job with known faults. It writes
 * the files that such a job would leave on disk (a sysTrace tree), or makes the same run in memory.
 * It also gives the truth: the ranks at fault, the onset, and the step time without the faults.
 *
 * rank = (stage * dp + replica) * tp + shard. A step of a rank has these parts: data loading, the
 * passes of its micro-batches in the order of the schedule (compute, AllGather, compute,
 * ReduceScatter, ..., expert all-to-all), hand-overs between neighbouring stages, Allreduce of the
 * gradients over the replicas, optimizer, sometimes a checkpoint. A collective ends on all members
 * one transfer after the last has arrived. A hand-over is a rendezvous; under the interleaved
 * schedule it is an asynchronous send.
 *
 * That is a synchronous job. In a family of jobs (families.c) communication runs beside the
 * computation: program.h and streams.c.
 *
 * Random numbers come from GSL, one stream per rank and purpose. Faults never take numbers away
 * from each other, so that the same job without its faults is its counterfactual.
 */
#ifndef FSL_SIM_SIM_H
#define FSL_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <failslow/error.h>

#include "model/run.h"
#include "model/verdict.h"

enum {
	FSL_SIM_RANKS_MAX = 16384,
	FSL_SIM_FAULTS_MAX = 16,
};

enum fsl_sim_fault_kind {
	FSL_SIM_COMPUTE,    /* ranks compute @factor times as long */
	FSL_SIM_HOST,       /* as COMPUTE, because the host cannot feed the device in time */
	FSL_SIM_GC,         /* ranks pause @extra_ms in a share @factor of their steps */
	FSL_SIM_DATALOADER, /* ranks wait @extra_ms longer for data in each step */
	FSL_SIM_STORAGE,    /* ranks save each checkpoint @extra_ms longer */
	FSL_SIM_LINK, /* each transfer in which the first two ranks take part is @extra_ms longer */
	FSL_SIM_SWITCH,   /* each transfer that leaves the hosts of the ranks is @extra_ms longer */
	FSL_SIM_SEQUENCE, /* sequence lengths of micro-batches spread by @factor (log-normal sigma)
			   */
	FSL_SIM_STAGE,    /* stage ranks[0] computes @factor times as long, in all replicas */
	FSL_SIM_JOB_SLOW, /* all ranks compute @factor times as long */
	FSL_SIM_PAUSES,   /* any rank pauses @extra_ms, in a share @factor of its steps */
	FSL_SIM_SPIKE, /* the onset step and, with a period, each first step of one takes @extra_ms
			  longer: on one of the ranks in turn, without ranks on all at once */
	FSL_SIM_HANG,  /* the first rank stops in the onset step; all other ranks wait for it */
	FSL_SIM_MISSING, /* ranks have no marker file */
	FSL_SIM_EMPTY,   /* the marker files of ranks hold only their header */
	FSL_SIM_ECC,     /* devices of ranks stall @extra_ms in a share @factor of their steps */
	FSL_SIM_NIC,     /* each transfer that leaves the hosts of the ranks takes @factor times as
			    long */
	FSL_SIM_CONGESTION, /* each transfer of one rank takes @factor times as long, of another
			       rank every 4 steps */
	FSL_SIM_RESTART,    /* the job stands @extra_ms before the onset step, and its step numbers
			       go back by @back_steps */
	FSL_SIM_FAULT_KINDS_N
};
const char *fsl_sim_fault_text(enum fsl_sim_fault_kind kind); /* "compute" */

struct fsl_sim_fault {
	enum fsl_sim_fault_kind kind;
	int32_t *ranks; /* numbers of the model; params->arena */
	size_t n_ranks;
	double factor;
	double extra_ms;
	int32_t onset_step, until_step; /* [onset, until); until -1: lasts */
	int32_t ramp_steps;             /* steps in which it grows to its full size; 0: at once */
	int32_t period_steps, on_steps; /* active in the first @on_steps of a period; 0: always */
	int32_t back_steps;             /* of a restart: steps that run again */
};

enum fsl_sim_schedule { FSL_SIM_GPIPE, FSL_SIM_1F1B, FSL_SIM_INTERLEAVED };
enum fsl_sim_p2p { FSL_SIM_BATCHED, FSL_SIM_SEND_RECEIVE };
enum fsl_sim_p2p_groups { FSL_SIM_PAIR_GROUPS, FSL_SIM_PIPELINE_GROUPS };
enum fsl_sim_format { FSL_SIM_CSV, FSL_SIM_JSON };
enum fsl_sim_compression { FSL_SIM_PLAIN, FSL_SIM_GZIP, FSL_SIM_ZSTD };
enum fsl_sim_output { FSL_SIM_MARKERS, FSL_SIM_STEP_TIMES, FSL_SIM_LOG };
enum fsl_sim_timelines { FSL_SIM_TIMELINES_NONE, FSL_SIM_TIMELINES_FIRST, FSL_SIM_TIMELINES_ALL };

enum { FSL_SIM_SYNCHRONOUS = 0 }; /* params->family of a job without a family */

struct fsl_sim_params {
	struct fsl_arena arena;        /* holds the ranks of the faults */
	int32_t tp, dp, pp, ep;        /* ep divides dp: experts are spread over ep replicas */
	int32_t micro_batches, chunks; /* chunks: virtual stages of the interleaved schedule */
	int32_t pairs;                 /* AllGather + ReduceScatter pairs in a pass */
	int32_t buckets;               /* Allreduce operators of the gradients */
	int32_t steps;
	uint64_t seed;
	int schedule, p2p, p2p_groups; /* values of the enums above */
	bool overlap; /* gradients are reduced on a second stream, under the backward passes */

	/* Families: src/sim/families.c. */
	int family;     /* index in its table; FSL_SIM_SYNCHRONOUS: the keys below are unused */
	int32_t layers; /* units of the model that compute and communicate in turn */
	int32_t queue;  /* pieces of work that the host launches ahead of the device, at most */
	int32_t item_period;  /* the host waits for the device every so many steps; 0: never */
	bool async_ckpt;      /* checkpoints are written while the job goes on */
	double launch_share;  /* time to launch a piece of work, as a share of the work */
	double host_spread;   /* standard deviation of a host thread's lasting speed, share */
	double tail_share;    /* share of the pieces of work with a long tail */
	double routing_share; /* spread of the work of experts, sigma; each step anew */

	double step_ms;        /* compute of one rank in a step, without waits */
	double transfer_ms;    /* of a tensor-parallel collective */
	double hand_over_ms;   /* between stages */
	double reduce_ms;      /* Allreduce of the gradients */
	double noise_share;    /* standard deviation of each piece of work, as a share */
	double noise_memory;   /* 0..1: how much of a deviation the next piece has, too (AR(1)) */
	double hetero_share;   /* standard deviation of a rank's lasting speed; clipped at 8 % */
	double sequence_share; /* log-normal sigma of the lengths of micro-batches */
	double spike_share;    /* share of a rank's steps with a spike of a tenth of the step */
	double warm_up_share;  /* by this share the first step is longer; fades over 5 steps */
	double loader_ms, optimizer_ms, ckpt_ms, gc_ms;
	double evaluation_ms; /* one evaluation; of a family it follows from the work */
	int32_t ckpt_period, gc_period, evaluation_period; /* steps; 0: never */

	int32_t ranks_per_host;
	double clock_offset_ms; /* greatest offset of a host's clock, either side */
	double clock_drift_ppm; /* greatest drift, either side */
	double drop_share;      /* share of marker rows that get lost */
	int32_t lost_period;    /* one rank in so many has no file (never one at fault); 0: none */
	int32_t relabel_by; /* rank r is written as r * relabel_by mod ranks; coprime to ranks */
	int64_t start_ns;   /* ns since 1970 */
	double time_scale;  /* factor on all durations, written and in the truth */
	int format, compression, timelines; /* values of the enums above; the first two are of
					       the marker files */
	int output;                         /* enum fsl_sim_output: what a tree tells of the job */
	bool log_us;                        /* time stamps of the log have microseconds */
	bool timeline_json;                 /* timelines are lines of JSON, not protobuf */

	struct fsl_sim_fault faults[FSL_SIM_FAULTS_MAX];
	size_t n_faults;
};

/* Time of the job that no healthy step takes. */
struct fsl_sim_stop {
	const char *part; /* of the account: "stalls"; static */
	int32_t first_step, last_step, n_times;
	int32_t every_steps;       /* -1: not periodic */
	int64_t first_ns, last_ns; /* begin of the first and of the last of these steps */
	int64_t lost_ns;           /* all together */
};

/* The truth about the job. Arrays in @arena; ranks as written. */
struct fsl_sim_truth {
	struct fsl_arena arena;
	enum fsl_verdict_kind kind; /* the right verdict of localisation for the first fault */
	const char *perception;     /* "normal", "failSlow" or "hang"; static */
	int cause;                  /* enum fsl_cause; -1: none */
	int32_t *culprits;          /* ascending; all faults */
	size_t n_culprits;
	int32_t onset_step, until_step;     /* of the first fault; -1: none */
	int64_t start_ns, end_ns, onset_ns; /* of the job; FSL_NS_ABSENT: none */
	int64_t now_ns;                     /* time at which the job is judged */
	double step_ms;                     /* mean over the job */
	double healthy_step_ms;             /* mean of the same steps without any fault */
	double fault_step_ms;    /* mean over the steps in which the first fault was active */
	double fault_healthy_ms; /* mean of those steps without any fault */
	double slowdown;         /* fault_step_ms / fault_healthy_ms; 1 without a fault */
	/* Jobs of a family: per fault, what it costs per step since its onset if it is alone, and
	 * beside the other faults; ms. NULL: another job, or no fault. */
	double *alone_ms, *beside_ms;
	struct fsl_sim_stop *stops; /* stalls, restarts, drift, checkpoints, evaluations */
	size_t n_stops;
	uint64_t n_ops;
};

/* Sets a healthy job of 8 ranks: tp 4, dp 2, 60 steps of about a second. Release with
 * fsl_sim_params_fini. */
void fsl_sim_params_init(struct fsl_sim_params *params);
void fsl_sim_params_fini(struct fsl_sim_params *params);

/* One preset: a kind of job with its parallelism, as "key=value" words. */
struct fsl_sim_preset {
	const char *name, *summary, *settings;
};
const struct fsl_sim_preset *fsl_sim_presets(size_t *n_presets);
/* The @idx-th family of jobs and the settings that family= brings; NULL: there are fewer. */
const struct fsl_sim_preset *fsl_sim_family(int idx);
/* Applies a preset. FSL_ERR_USAGE: no such preset; the message lists them. */
enum fsl_status fsl_sim_params_preset(struct fsl_sim_params *params, const char *name,
				      struct fsl_error *err);

/* Sets dp so that the job has @n_ranks ranks. FSL_ERR_USAGE: tp, pp and ep do not divide that
 * number. */
enum fsl_status fsl_sim_params_fit_ranks(struct fsl_sim_params *params, int32_t n_ranks,
					 struct fsl_error *err);

/* One key of the parameters. */
struct fsl_sim_key {
	const char *name;
	int type;      /* private to params.c */
	size_t offset; /* in struct fsl_sim_params */
	const char *const *choices;
	double min, max;
	const char *fallback; /* NULL: 0, false, the first choice */
	const char *help;     /* with the unit */
};
const struct fsl_sim_key *fsl_sim_keys(size_t *n_keys);
/* Sets "key=value". FSL_ERR_USAGE: unknown key (names the nearest), or value out of range. */
enum fsl_status fsl_sim_params_set(struct fsl_sim_params *params, const char *setting,
				   struct fsl_error *err);
/*
 * Adds a fault from text: a kind, then words: ranks=3,7-9 (or all), host=2 (all ranks of that
 * host), factor=, extra_ms=, onset=, until=, ramp=, period=, on=, back=.
 */
enum fsl_status fsl_sim_params_add_fault(struct fsl_sim_params *params, const char *text,
					 struct fsl_error *err);
/* Checks the combination of parameters. FSL_ERR_USAGE with a remedy if they make no job. */
enum fsl_status fsl_sim_params_check(const struct fsl_sim_params *params, struct fsl_error *err);

int32_t fsl_sim_n_ranks(const struct fsl_sim_params *params);
/* Number as which rank @rank of the model is written. */
int32_t fsl_sim_label(const struct fsl_sim_params *params, int32_t rank);

/*
 * Writes the tree below @dir (created if missing): mspti/ and timeline/, or steps/, or log/, as
 * params->output says; truth.json, model_config.json. @dir must be empty or hold a simulated job
 * (truth.json), whose files are removed. @truth may be NULL; release it with fsl_sim_truth_fini.
 */
enum fsl_status fsl_sim_write_tree(const struct fsl_sim_params *params, const char *dir,
				   struct fsl_sim_truth *truth, struct fsl_error *err);
/* Makes the run of the same job as the readers would; @run is initialised by fsl_run_init. */
enum fsl_status fsl_sim_run_in_memory(const struct fsl_sim_params *params, struct fsl_run *run,
				      struct fsl_sim_truth *truth, struct fsl_error *err);
/* Computes only the truth and writes nothing. */
enum fsl_status fsl_sim_foresee(const struct fsl_sim_params *params, struct fsl_sim_truth *truth,
				struct fsl_error *err);
void fsl_sim_truth_fini(struct fsl_sim_truth *truth);

#endif
