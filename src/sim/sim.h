/*
 * The job simulator: a causal training job with known faults, written as a sysTrace tree or put
 * into a fsl_run, with its truth. Same parameters, same bytes, on any number of threads.
 *
 * A step of one rank is: data loader, forward and backward of its micro-batches in the order of the
 * schedule (compute and tensor-parallel collectives in turn, hand-over to the neighbouring stages),
 * reduction of gradients over the data-parallel group, optimizer. A collective ends on all members
 * when the last has arrived plus its transfer, a hand-over likewise on its two ends.
 * rank = (stage * dp + replica) * tp + shard.
 *
 * Every random number is drawn whether or not a fault is on, from streams of its own per rank, so
 * that the job with a fault and the job without it differ by nothing but the fault. Both are run at
 * once: the truth tells what the job would have taken.
 */
#ifndef FSL_SIM_SIM_H
#define FSL_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "base/mem.h"
#include "series/run.h"
#include "series/verdict.h"

enum {
	FSL_SIM_RANKS_MAX = 16384,
	FSL_SIM_FAULTS_MAX = 8,
	FSL_SIM_OPS_MAX = 1 << 30, /* of one job, all ranks */
};

enum fsl_sim_fault_kind {
	FSL_SIM_NONE,       /* no fault: the slot is free */
	FSL_SIM_COMPUTE,    /* ranks compute @factor times as long */
	FSL_SIM_HOST,       /* likewise, because the host launches too late */
	FSL_SIM_GC,         /* a pause of @extra_ms on the ranks, in @share of their steps */
	FSL_SIM_DATALOADER, /* ranks wait @extra_ms longer for data */
	FSL_SIM_STORAGE,    /* ranks save each checkpoint @extra_ms longer */
	FSL_SIM_LINK,       /* operators that have both of two ranks take @extra_ms longer */
	FSL_SIM_SWITCH,     /* operators with members on both sides of the ranks' border likewise */
	FSL_SIM_SEQUENCE,   /* lengths of micro-batches get a heavy tail of deviation @share */
	FSL_SIM_STAGE,      /* a pipeline stage computes @factor times as long, in all replicas */
	FSL_SIM_RAMP,       /* as compute, growing over @ramp_steps */
	FSL_SIM_JOB,        /* all ranks compute @factor times as long */
	FSL_SIM_PAUSES,     /* any rank: a pause of @extra_ms in @share of all its steps */
	FSL_SIM_SPIKE,      /* the step @onset_step takes the ranks @extra_ms longer, once */
	FSL_SIM_HANG,       /* ranks stop in @onset_step, all others wait for them */
	FSL_SIM_MISSING,    /* ranks have no marker file */
	FSL_SIM_EMPTY,      /* the marker file of the ranks holds only its header */
	FSL_SIM_TRUNCATED,  /* the marker file of the ranks ends inside @onset_step */
	FSL_SIM_FAULTS_N
};

/* One fault. What a kind does not use is ignored. */
struct fsl_sim_fault {
	enum fsl_sim_fault_kind kind;
	/* Ranks that are struck, before relabelling; bit r % 64 of ranks[r / 64]. Link: two. Job,
	 * pauses and sequence need none and strike all. */
	uint64_t ranks[FSL_SIM_RANKS_MAX / 64];
	int32_t onset_step;
	int32_t until_step; /* first healthy step after it; -1: lasts */
	double factor;      /* 1.3: 30 % longer */
	double extra_ms;    /* delay of one occurrence, ms */
	double share;       /* of steps, 0..1; sequence: deviation of the length's logarithm */
	int32_t ramp_steps; /* grows from nothing to full strength over so many steps; 0: at once */
	int32_t period_steps; /* intermittent: on in the first @on_steps of every @period_steps */
	int32_t on_steps;     /* 0: always on */
};

enum fsl_sim_schedule { FSL_SIM_GPIPE, FSL_SIM_1F1B, FSL_SIM_INTERLEAVED };
enum fsl_sim_p2p { FSL_SIM_P2P_BATCH, FSL_SIM_P2P_SEND_RECEIVE };
enum fsl_sim_p2p_groups {
	FSL_SIM_P2P_PIPELINE, /* one communicator for all ranks of a pipeline */
	FSL_SIM_P2P_PAIRS,    /* one for every two neighbours */
};
enum fsl_sim_noise { FSL_SIM_NORMAL, FSL_SIM_LOGNORMAL };
enum fsl_sim_format { FSL_SIM_CSV, FSL_SIM_JSON };
enum fsl_sim_compression { FSL_SIM_PLAIN, FSL_SIM_GZ, FSL_SIM_ZST };
enum fsl_sim_timelines { FSL_SIM_TIMELINES_NONE, FSL_SIM_TIMELINES_FIRST, FSL_SIM_TIMELINES_ALL };

/* A job. Plain values: may be copied. Each field is a key of `failslow simulate --set`. */
struct fsl_sim_params {
	/* Shape. */
	int32_t tp, dp, pp;
	int32_t ep; /* replicas that exchange tokens, divides dp; 1: no experts */
	enum fsl_sim_schedule schedule;
	int32_t micro_batches;
	int32_t chunks; /* virtual stages per rank of the interleaved schedule */
	int32_t steps;
	int32_t pairs; /* tensor-parallel AllGather + ReduceScatter pairs of one forward pass (of a
			  chunk), and again of its backward pass */
	enum fsl_sim_p2p p2p;
	enum fsl_sim_p2p_groups p2p_groups;
	int32_t buckets;            /* asynchronous gradient operators of a step; 0: one that is
				       waited for, at the end */
	bool distributed_optimizer; /* ReduceScatter and AllGather instead of Allreduce */
	int32_t ranks_per_host;
	/* Work. */
	double segment_ms;  /* compute before each forward operator; backward takes twice that */
	double transfer_ms; /* of AllGather and ReduceScatter; 3 times that for a hand-over, 7 times
			       for the whole gradient, 2 times for an expert exchange */
	double dataloader_ms, optimizer_ms, checkpoint_ms;
	int32_t ckpt_period; /* steps between checkpoints; 0: none */
	int32_t gc_period;   /* steps between garbage collections of a rank; 0: none */
	double gc_ms;
	/* Noise. */
	uint64_t seed;
	double noise_share; /* deviation of each segment, as share of it */
	enum fsl_sim_noise noise_form;
	double noise_rho;     /* correlation of a rank's successive segments, 0..<1 */
	double hetero_share;  /* deviation of a rank's lasting speed, as share; clipped at 8 % */
	double spike_share;   /* share of segments that take up to 5 times as long */
	double length_sigma;  /* deviation of the logarithm of micro-batches' lengths; 0: all equal
			       */
	int32_t warmup_steps; /* first steps, from twice the time down to the usual */
	/* Records. */
	double clock_offset_ms; /* greatest offset of a host's clock, either side */
	double clock_drift_ppm; /* greatest drift of a host's clock, either way */
	double drop_share;      /* share of marker rows that get lost */
	int64_t start_ns;       /* first device event, ns since 1970 */
	double time_scale;      /* all durations times this */
	bool relabel;           /* write rank r as rank (r * relabel_by) mod ranks */
	int32_t relabel_by;     /* coprime to the number of ranks */
	/* Files; without effect on a run in memory but timelines. */
	enum fsl_sim_format format;
	enum fsl_sim_compression compression;
	enum fsl_sim_timelines timelines; /* which ranks have stages */
	bool timeline_json;
	bool config_files; /* also model_config.json and metric_config.json */
	/* What goes wrong; slots of kind FSL_SIM_NONE are free, wherever they stand. */
	struct fsl_sim_fault faults[FSL_SIM_FAULTS_MAX];
};

/* A healthy job of 8 ranks: tp 4, dp 2, 60 steps of about a second. */
void fsl_sim_params_init(struct fsl_sim_params *params);
/*
 * Sets shape and work to those of a preset ("gpt-7b"), or the shape alone from its text
 * ("tp4dp8pp2", each part at most once, what is not named is 1). FSL_ERR_USAGE names the nearest.
 */
enum fsl_status fsl_sim_params_preset(struct fsl_sim_params *params, const char *name,
				      struct fsl_error *err);
/* Number of replicas so that the job has @n_ranks; FSL_ERR_USAGE unless tp * pp divides it. */
enum fsl_status fsl_sim_params_set_ranks(struct fsl_sim_params *params, int32_t n_ranks,
					 struct fsl_error *err);
/* "key=value"; FSL_ERR_USAGE says what is wrong with it and what is right. */
enum fsl_status fsl_sim_params_set(struct fsl_sim_params *params, const char *text,
				   struct fsl_error *err);
/* The value of a key as fsl_sim_params_set takes it; false: unknown key. */
bool fsl_sim_params_get(const struct fsl_sim_params *params, const char *key, char *buffer,
			size_t size);
/*
 * Adds "compute ranks=3,8-11 factor=1.3 onset=60" to the first free slot. Ranks may be told as
 * ranks=, hosts=, stages=, replicas= or half=R (every second rank of the data-parallel group of R),
 * in the shape that the job has then. Other words: onset, until, factor, extra_ms, share, ramp,
 * period, on.
 */
enum fsl_status fsl_sim_params_add_fault(struct fsl_sim_params *params, const char *text,
					 struct fsl_error *err);
/* FSL_ERR_USAGE when no such job can run, with the remedy. Called by everything that runs one. */
enum fsl_status fsl_sim_params_check(const struct fsl_sim_params *params, struct fsl_error *err);
/*
 * The arguments of `failslow simulate` that give this job again: "--set key=value" for what differs
 * from the defaults, "--fault ..." per fault. In @arena; NULL: out of memory.
 */
char *fsl_sim_params_text(const struct fsl_sim_params *params, struct fsl_arena *arena);

int32_t fsl_sim_n_ranks(const struct fsl_sim_params *params);
/* The number under which rank @rank of the model is written. */
int32_t fsl_sim_label(const struct fsl_sim_params *params, int32_t rank);

/* A fault of this kind with its usual strength, from step 0 on, that strikes nobody yet. */
void fsl_sim_fault_init(struct fsl_sim_fault *fault, enum fsl_sim_fault_kind kind);
void fsl_sim_fault_strike(struct fsl_sim_fault *fault, int32_t rank);
bool fsl_sim_fault_strikes(const struct fsl_sim_fault *fault, int32_t rank);
/* False: what is wrong, if anything, is wrong with the files, not with the job. */
bool fsl_sim_fault_has_onset(enum fsl_sim_fault_kind kind);
const char *fsl_sim_fault_text(enum fsl_sim_fault_kind kind); /* "compute" */
int fsl_sim_fault_from_text(const char *text);                /* -1: unknown */

/* Tables for --help and manual. */
struct fsl_sim_key_info {
	const char *name, *section, *help;
	const char *const *choices; /* NULL-terminated; NULL: a number or true|false */
};
size_t fsl_sim_key_infos(const struct fsl_sim_key_info **out);
struct fsl_sim_preset_info {
	const char *name, *help;
};
size_t fsl_sim_preset_infos(const struct fsl_sim_preset_info **out);
struct fsl_sim_fault_info {
	const char *name, *help;
	const char *uses; /* words that it takes besides ranks, onset and until */
};
/* Indexed by enum fsl_sim_fault_kind. */
const struct fsl_sim_fault_info *fsl_sim_fault_infos(void);

/* A rank that is at fault. */
struct fsl_sim_culprit {
	int32_t rank; /* as written */
	int32_t peer; /* other end of a link; -1: none */
	int cause;    /* enum fsl_cause; -1: none is to be named */
	size_t fault; /* index in params->faults */
};

/* What one fault did. */
struct fsl_sim_fault_truth {
	enum fsl_sim_fault_kind kind; /* FSL_SIM_NONE: the slot is free */
	enum fsl_verdict_kind verdict;
	int cause;                      /* enum fsl_cause; -1: none */
	int32_t onset_step, until_step; /* -1: no onset; lasts */
	/* Step time with this fault alone over that without any, mean of the steps in which it is
	 * on; 1 when it costs nothing, infinite for a hang. */
	double slowdown;
};

/* What really happened; written to truth.json as well. */
struct fsl_sim_truth {
	struct fsl_arena arena;
	enum fsl_verdict_kind verdict; /* of the fault that costs most; hang before all others */
	int cause;                     /* its cause, enum fsl_cause; -1: none */
	struct fsl_sim_fault_truth faults[FSL_SIM_FAULTS_MAX];
	struct fsl_sim_culprit *culprits; /* of faults with a cause, by rank, then fault */
	size_t n_culprits;
	int32_t *missing_ranks; /* no file, or no operator in it; as written, ascending */
	size_t n_missing_ranks;
	int32_t onset_step, until_step; /* of the earliest fault; -1: none; of the last: lasts */
	int64_t start_ns, end_ns;       /* of the job */
	int64_t now_ns;                 /* the present to judge it at; an hour after a hang */
	int64_t onset_ns;               /* begin of the onset step; FSL_NS_ABSENT: none */
	/* Step by step, on rank 0 of the model: real, and as it would have been without faults. */
	double *step_ms, *clean_step_ms; /* [n_steps] */
	int32_t n_steps;                 /* that were finished: fewer than asked for after a hang */
	double mean_ms, clean_mean_ms;   /* over all finished steps; NaN: none */
	/* Mean step time before the onset, in [onset, until), and there without faults; NaN: none
	 */
	double before_ms, after_ms, clean_after_ms;
	double slowdown; /* after_ms over clean_after_ms; 1 without a fault, infinite after a hang
			  */
	uint64_t n_ops, n_stages; /* records of operators and stages, before any got lost */
};
void fsl_sim_truth_fini(struct fsl_sim_truth *truth);

/*
 * Runs the job into @run, which is initialised here and released by the caller with fsl_run_fini
 * (after a failure as well): what fsl_ingest_run leaves of the tree that fsl_sim_write_tree writes,
 * field by field, but for the ids of names and for run->files, which tell no path, bytes or
 * messages. Uses one thread. @truth may be NULL; else fsl_sim_truth_fini.
 */
enum fsl_status fsl_sim_run_in_memory(const struct fsl_sim_params *params, struct fsl_run *run,
				      struct fsl_sim_truth *truth, struct fsl_error *err);
/* Runs the job without keeping any record: its truth alone. */
enum fsl_status fsl_sim_run_truth(const struct fsl_sim_params *params, struct fsl_sim_truth *truth,
				  struct fsl_error *err);

/*
 * Runs the job and writes its tree below @dir (made when missing): mspti/, timeline/, truth.json
 * and the configuration. Files of an earlier simulation are replaced; any other folder that is not
 * empty is refused with FSL_ERR_USAGE. @n_threads 0: one per core. @truth may be NULL.
 */
enum fsl_status fsl_sim_write_tree(const struct fsl_sim_params *params, const char *dir,
				   int n_threads, struct fsl_sim_truth *truth,
				   struct fsl_error *err);

#endif
