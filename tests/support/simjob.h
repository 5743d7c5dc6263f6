/*
 * A small causal simulator of a training job: writes the sysTrace tree that such a job would leave
 * on disk, with a known fault and its truth. Used by tests, data sets and the benchmark.
 *
 * A step of one rank is: data loader, forward (compute, AllGather, compute, ReduceScatter, ...),
 * pipeline hand-over, backward, Allreduce over the data-parallel group, optimizer. A collective
 * ends on all members when the last has arrived plus its transfer; a hand-over is a rendezvous.
 * rank = (stage * dp + replica) * tp + shard.
 */
#ifndef TESTS_SUPPORT_SIMJOB_H
#define TESTS_SUPPORT_SIMJOB_H

#include <stdbool.h>
#include <stdint.h>

#include <failslow/error.h>

enum { SIM_CULPRITS_MAX = 16, SIM_RANKS_MAX = 512 };

enum sim_fault {
	SIM_FAULT_NONE,
	SIM_FAULT_COMPUTE,    /* culprits compute @factor times as long */
	SIM_FAULT_HOST,       /* likewise, because the host cannot feed the device in time */
	SIM_FAULT_DATALOADER, /* culprits wait @extra_ms longer for data */
	SIM_FAULT_STORAGE,    /* culprits save each checkpoint @extra_ms longer */
	SIM_FAULT_LINK,       /* traffic between the first two culprits takes @extra_ms longer */
	SIM_FAULT_JOB_SLOW,   /* all ranks compute @factor times as long */
	SIM_FAULT_SPIKE,      /* @onset_step takes @extra_ms longer on the first culprit, once */
	SIM_FAULT_HANG,       /* the first culprit stops in @onset_step, all others wait for it */
	SIM_FAULT_MISSING,    /* culprits have no marker file */
	SIM_FAULT_EMPTY,      /* the marker file of culprits holds only its header */
	SIM_FAULTS_N
};

enum sim_format { SIM_FORMAT_CSV, SIM_FORMAT_JSON };
enum sim_compression { SIM_COMPRESSION_NONE, SIM_COMPRESSION_GZ, SIM_COMPRESSION_ZST };
enum sim_timelines { SIM_TIMELINES_NONE, SIM_TIMELINES_FIRST, SIM_TIMELINES_ALL };

struct sim_params {
	int32_t tp, dp, pp;
	int32_t steps;
	int32_t pairs; /* AllGather + ReduceScatter pairs of forward, and again of backward */
	uint64_t seed;

	double segment_ms;   /* compute before each forward operator; backward takes twice that */
	double noise_share;  /* deviation of each segment, as share of it */
	double hetero_share; /* deviation of a rank's lasting speed, as share; 0.08 at most */
	double transfer_ms; /* of AllGather and ReduceScatter; 3 times that for a hand-over, 7 times
			       for Allreduce */

	enum sim_fault fault;
	int32_t culprits[SIM_CULPRITS_MAX];
	int32_t n_culprits;
	double factor;   /* 1.3: a segment takes 30 % longer */
	double extra_ms; /* delay of one occurrence */
	int32_t onset_step;
	int32_t until_step; /* first healthy step after the fault; -1: lasts */

	int32_t ranks_per_host;
	double clock_offset_ms; /* greatest offset of a host's clock, either side */
	double drop_share;      /* share of marker rows that get lost */
	int32_t ckpt_period;    /* steps between checkpoints; 0: none */
	int32_t gc_period;      /* steps between garbage collections of a rank; 0: none */

	int64_t start_ns;   /* first device event, ns since 1970 */
	double time_scale;  /* all durations times this */
	bool relabel;       /* write rank r as rank (r * relabel_by) mod ranks */
	int32_t relabel_by; /* coprime to the number of ranks */
	enum sim_format format;
	enum sim_compression compression;
	enum sim_timelines timelines;
	bool timeline_json;
	bool config_files; /* also model_config.json and metric_config.json */
};

/* What really happened; written to truth.json as well. */
struct sim_truth {
	int64_t start_ns, end_ns; /* of the job */
	int64_t now_ns;           /* the present to judge it at; an hour after a hang */
	int64_t onset_ns;         /* begin of the onset step; -1: no fault */
	double step_ms_before;    /* mean step time before the onset, and from it on; NaN: none */
	double step_ms_after;
	uint64_t n_ops;
};

/* A healthy job of 8 ranks: tp 4, dp 2, 60 steps of about a second. */
void sim_params_init(struct sim_params *params);
int sim_fault_from_text(const char *text); /* -1: unknown */
const char *sim_fault_text(enum sim_fault fault);
/* False: what is wrong, if anything, is wrong with the files, not with the job. */
bool sim_fault_has_onset(enum sim_fault fault);
int32_t sim_n_ranks(const struct sim_params *params);
/* The number under which rank @rank of the model is written. */
int32_t sim_label(const struct sim_params *params, int32_t rank);

/*
 * Runs the job and writes its tree below @dir (made when missing): mspti/, timeline/, truth.json
 * and the configuration. Same parameters, same bytes. @truth may be NULL.
 */
enum fsl_status sim_write(const struct sim_params *params, const char *dir, struct sim_truth *truth,
			  struct fsl_error *err);

#endif
