/* The verdicts of perception and of localisation, one struct each. src/detect and src/blame fill
 * them, src/report prints them. Texts and arrays live in the verdict's arena. */
#ifndef FSL_MODEL_VERDICT_H
#define FSL_MODEL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "model/run.h"
#include "model/topology.h"

enum fsl_verdict_kind {
	FSL_VERDICT_NORMAL,
	FSL_VERDICT_SLOW_RANK,
	FSL_VERDICT_SLOW_HOST,
	FSL_VERDICT_SLOW_LINK,
	FSL_VERDICT_STAGE_IMBALANCE,
	FSL_VERDICT_WORK_IMBALANCE,
	FSL_VERDICT_JOB_SLOWDOWN,
	FSL_VERDICT_HOST_PAUSES,
	FSL_VERDICT_STALLS,
	FSL_VERDICT_HANG,
	FSL_VERDICT_INSUFFICIENT_EVIDENCE,
	/* Captures alone have these: nobody is at fault, and one part bounds the steps. */
	FSL_VERDICT_HOST_BOUND,
	FSL_VERDICT_COMPUTE_BOUND,
	FSL_VERDICT_COMMUNICATION_BOUND,
	FSL_VERDICTS_N,
	FSL_VERDICTS_OF_JOBS_N = FSL_VERDICT_HOST_BOUND
};
const char *fsl_verdict_text(enum fsl_verdict_kind kind); /* "slow_rank" */
/* True if nobody needs to be woken: nothing was found, or only a spread of work or what the steps
 * are made of, no fault of a node. */
bool fsl_verdict_is_quiet(enum fsl_verdict_kind kind);

enum fsl_cause {
	FSL_CAUSE_COMPUTE,
	FSL_CAUSE_HOST,
	FSL_CAUSE_DATALOADER,
	FSL_CAUSE_STORAGE,
	FSL_CAUSE_NETWORK,
	FSL_CAUSES_N
};
const char *fsl_cause_text(enum fsl_cause cause); /* "compute" */
int fsl_cause_from_text(const char *text);        /* -1: unknown */

/* How a culprit goes since its onset. */
enum fsl_shape {
	FSL_SHAPE_UNKNOWN,
	FSL_SHAPE_STEP,      /* slower at once */
	FSL_SHAPE_DRIFT,     /* ever slower */
	FSL_SHAPE_RECURRING, /* single steps again and again are long */
	FSL_SHAPES_N
};
const char *fsl_shape_text(enum fsl_shape shape); /* "drift"; NULL: unknown */

/* One number with its name and unit: {"own", 44800.0, "ms"} is printed as {"own_ms": 44800.0}. */
struct fsl_fact {
	const char *name; /* without unit; static */
	double value;
	const char *unit; /* "ms", "ratio", "steps", "share", "count"; static */
};
enum { FSL_FACTS_MAX = 16 };

/* Facts that are looked up again: the table of facts.def. */
enum fsl_fact_name {
#define FACT(fact, name, unit) FSL_FACT_##fact,
#include "model/facts.def"
#undef FACT
	FSL_FACT_NAMES_N
};
struct fsl_fact fsl_fact_of(enum fsl_fact_name name, double value);
bool fsl_fact_is(const struct fsl_fact *fact, enum fsl_fact_name name);
/* The last one of this name; NaN: none. */
double fsl_facts_value(const struct fsl_fact *facts, size_t n_facts, enum fsl_fact_name name);

/* Who took the CPU from a culprit whose cause is the host, by a trace of the kernel. */
struct fsl_culprit_process {
	const char *name;    /* NULL: nobody, or nobody that the trace names */
	const int32_t *pids; /* some of them */
	size_t n_pids;
	int32_t cpu;       /* that the rank waited for; -1: not told */
	const char *cause; /* "cpu", "quota"; static */
	double waited_ms,
		held_ms;    /* per high step: the rank's wait, and the process's part of it */
	const char *text;   /* one sentence */
	const char *advice; /* what to move or raise, one sentence; NULL: none */
};

struct fsl_culprit {
	int32_t rank;
	int32_t peer;   /* far end of a slow link; -1: none */
	int32_t stage;  /* pipeline stage of a stage imbalance; -1: none */
	bool is_uplink; /* not this rank's own link: all that leaves its host is slow */
	const char *server_ip;
	enum fsl_cause cause;
	enum fsl_cause other_cause; /* another possible cause by the records; FSL_CAUSES_N: none */
	double lost_ms_per_step;    /* time per step that this rank costs the job if all other
				       culprits were at their peers' level */
	double share_of_loss;       /* of all lost time, 0..1 */
	int64_t onset_step;         /* -1 unknown */
	int64_t onset_ns;           /* FSL_NS_ABSENT unknown */
	int64_t until_step;         /* first step after the episode; -1: it lasts */
	enum fsl_shape shape;
	int64_t every_steps; /* from one long step to the next; -1: they are not evenly apart */
	double confidence;   /* 0..1 */
	size_t n_evidence;
	struct fsl_fact evidence[FSL_FACTS_MAX];
	const char *reason; /* one clause: why this rank, and why not the next suspect */
	const struct fsl_culprit_process *process; /* NULL: no trace tells; arena of the verdict */
};

/* A rank that looked suspicious and is not a culprit: a victim of another rank, or unconfirmed. */
struct fsl_suspect {
	int32_t rank;
	double late_ms_per_step; /* mean lateness per step, ms */
	const char *detector;    /* name of the detector that suspected it; static */
	const char *reason;      /* one clause */
};

enum fsl_method { FSL_METHOD_SPACE, FSL_METHOD_TIME, FSL_METHOD_LACK };

/* Entry of kpiData: one window of a classical series. */
struct fsl_kpi_point {
	double timestamp_ms, value;
	uint8_t abnormal;
};

/* One entry of sysTrace's abnormalDetail or normalDetail. */
struct fsl_detail {
	int32_t rank;
	const char *server_ip;
	const char *kpi_id; /* metric name, with "!func" if a metric has several functions */
	enum fsl_method method;
	bool is_abnormal;
	int32_t *rela_ranks;
	size_t n_rela_ranks;
	int32_t *omitted_ranks;
	size_t n_omitted_ranks;
	struct fsl_kpi_point *kpi;
	size_t n_kpi;
};

/* Kind of the group that a what-if puts at its peers' level. */
enum fsl_whatif_kind {
	FSL_WHATIF_HOST,     /* all ranks of a server */
	FSL_WHATIF_STAGE,    /* all ranks of a pipeline stage */
	FSL_WHATIF_REPLICA,  /* all ranks of a data-parallel replica */
	FSL_WHATIF_WORK,     /* one part of the own time of all ranks */
	FSL_WHATIF_TRANSFER, /* the transfer of all communicators */
	FSL_WHATIF_ALL,      /* all ranks and communicators */
	FSL_WHATIFS_N
};
const char *fsl_whatif_text(enum fsl_whatif_kind kind); /* "host" */

struct fsl_whatif {
	enum fsl_whatif_kind kind;
	const char *name; /* "10.0.0.1", "2", "dataloader" */
	double gain_ms;   /* time per step that comes back if only this group is at its level */
	double cost_ms;   /* time per step that only this group costs, with all else at its level */
};

/* Summary of the replay of the job. Texts and arrays are borrowed from the replay. */
struct fsl_replay_summary {
	bool is_on;        /* verification is configured and at least one step was replayed */
	bool is_trusted;   /* the losses of the verdict come from the replay */
	const char *doubt; /* why the replay is not trusted; else "" */
	size_t n_steps;    /* number of replayed steps */
	/* Error of the replayed step times, as a share of the measured ones; NaN: unknown. */
	double error_median, error_p95; /* without sign */
	double error_mean;              /* with sign: above 0 the replay is slower */
	double slowdown_all; /* over all steps, against everything at its level; NaN: unknown */
	/*
	 * Shares of the time lost against that replay. Each is the part that comes back if the
	 * named ranks are at their level: the slowest 3 % of the ranks, the last pipeline stage,
	 * the culprits. NaN: unknown or nothing lost.
	 */
	double worst_ranks_share, last_stage_share, culprits_share;
	struct fsl_whatif *whatifs;
	size_t n_whatifs;
};

/* Summary of one chapter of a long capture. */
struct fsl_chapter_note {
	int64_t begin_ns, end_ns;
	size_t n_steps;
	enum fsl_verdict_kind kind;
	double step_ms, slowdown, lost_ms_per_step; /* as in the localisation */
	const struct fsl_culprit *culprits;         /* borrowed from the chapter's verdict */
	size_t n_culprits;
	bool is_told; /* the verdict of the run is that of this chapter */
};

/* True if both chapters tell the same: kind and ranks, whatever each rank costs. */
bool fsl_chapters_agree(const struct fsl_chapter_note *a, const struct fsl_chapter_note *b);

/* The data that a verdict is based on. */
struct fsl_coverage {
	size_t n_ranks_expected, n_ranks_seen;
	int32_t *missing_ranks; /* expected ranks without a usable marker file, or without an
				   operator in it */
	size_t n_missing_ranks;
	uint64_t n_files, n_files_unusable, n_files_partial;
	uint64_t n_bytes, n_records;
	uint64_t n_bytes_before; /* bytes of rows older than the time range, not read */
	uint64_t n_bytes_behind; /* bytes of rows newer than the time range, not read */
	uint64_t n_dropped[FSL_DROPS_N];
	int64_t begin_ns, end_ns; /* time covered; FSL_NS_ABSENT: none */
	size_t n_steps;
	const char *steps_source;          /* as fsl_steps.source */
	size_t n_groups, n_groups_matched; /* communicators with two or more members seen /
					      matched */
	/* Matched groups whose operators do not end together, and so are not used; and how far
	 * apart their ends are in the worst group (median of a channel), NaN: no such group. */
	size_t n_groups_disagreeing;
	double ends_disagree_ms;
	uint64_t n_instances, n_instances_matched;
	uint64_t n_p2p, n_p2p_matched; /* point-to-point operators / matched with their partner */
	double clock_offset_max_ms;    /* greatest host clock offset; NaN: not measured */
	double clock_residual_ms;      /* median difference of common ends, corrected; NaN:
					  unknown */
	/* Detectors that could not run, with the reason ("SlidingWindowDBSCAN: HcclAllGather tp
	 * [0,1]: 2 ranks, needs 4"). */
	const char **skipped;
	size_t n_skipped;
};

/* A unit of time other than ns. */
struct fsl_time_unit {
	const char *name; /* "microseconds" */
	int64_t ns;
};

/*
 * The unit in which the inputs' times may have been written instead of ns, NULL if there is no
 * doubt; static. It is doubted if times lie in January 1970 as ns, but between 2010 and 2050 in
 * that unit. A clock that counts from the start of a host looks the same for some days, so this is
 * only a doubt.
 */
const struct fsl_time_unit *fsl_coverage_doubted_unit(const struct fsl_coverage *coverage);

/* Copies *from to *out, except ranks seen, steps with their times and skipped detectors, which each
 * verdict has of its own: both verdicts of a run stand on the same files. Lists are borrowed. */
void fsl_coverage_share(struct fsl_coverage *out, const struct fsl_coverage *from);

struct fsl_localisation {
	struct fsl_arena arena;
	/* sysTrace's part of the verdict. */
	int result_code; /* 200 normal, 201 anomaly, 500 error */
	bool compute, network, storage;
	struct fsl_detail *abnormal;
	size_t n_abnormal, abnormal_capacity;
	struct fsl_detail *normal;
	size_t n_normal, normal_capacity;
	const char *error_message; /* "" if there is no error */
	/* failslow's part of the verdict. */
	enum fsl_verdict_kind kind;
	double confidence;
	int64_t fault_ns; /* FSL_NS_ABSENT: none */
	double slowdown;  /* measured step time / that with all ranks at peer level; NaN unknown */
	double step_ms;   /* median measured step time; NaN unknown */
	double lost_ms_per_step; /* NaN unknown */
	bool is_loss_replayed;   /* losses are from the replay; false: from excess and waiting
				    times */
	bool lacks_peers; /* INSUFFICIENT_EVIDENCE: no rank does the same work as a rank in doubt */
	struct fsl_replay_summary replay;
	const char *reason; /* one sentence for the terminal */
	struct fsl_culprit *culprits;
	size_t n_culprits, culprits_capacity;
	struct fsl_suspect *victims;
	size_t n_victims, victims_capacity;
	struct fsl_suspect *unconfirmed;
	size_t n_unconfirmed, unconfirmed_capacity;
	struct fsl_coverage coverage;
	struct fsl_chapter_note *chapters; /* oldest first; none: judged as a whole */
	size_t n_chapters;
	const char *algorithm; /* "failslow", "systrace"; static */
	bool is_suppressed;    /* the same culprits were alarmed within look_back: no new alarm */
	int64_t suppressed_since_ns;
	/* A kernel trace shows this of a culprit, as JSON: an item of "traces" of the document of
	 * hosts without its threads. In the arena; NULL: none. */
	const char *host_trace;
};

/* One alarmed step of perception. */
struct fsl_step_anomaly {
	int64_t step;
	int64_t begin_ns;
	double degree; /* step time / normal step time - 1 */
	double step_ms, normal_ms;
};

/* A lasting change of the step time. */
struct fsl_step_episode {
	int64_t onset_step, until_step; /* until -1: lasts to the end of the capture */
	int64_t onset_ns;
	double before_ms, after_ms; /* medians; means if the episode is about checkpoints */
	double p_value;
	size_t n_steps;
	bool is_of_saves; /* checkpoints take longer, other steps do not */
	bool is_drift;    /* steps grow steadily from before_ms to after_ms */
};

/* A long step with an explanation (checkpoint, GC), which is therefore no alarm. */
struct fsl_step_explained {
	int64_t step;
	int64_t begin_ns;
	double step_ms, normal_ms, explained_ms;
	const char *why; /* "checkpoint", "gc"; static */
};

/* The phase in which a step stood. */
enum fsl_stall_phase {
	FSL_STALL_UNKNOWN,
	FSL_STALL_LOADING,
	FSL_STALL_CHECKPOINT,
	FSL_STALL_COLLECTION,
	FSL_STALL_EVALUATION, /* work of all ranks alike, as an evaluation: it is no fault */
	FSL_STALL_WARM_UP,    /* first steps of the run or of an attempt: no fault either */
	FSL_STALL_GAP,        /* between two steps */
	FSL_STALL_RESTART,    /* likewise, and step numbers began again */
	FSL_STALL_PHASES_N
};
const char *fsl_stall_phase_text(enum fsl_stall_phase phase); /* "data loading" */
/* True for what belongs to each job, so that its time is not lost. */
static inline bool fsl_stall_is_planned(enum fsl_stall_phase phase)
{
	return phase == FSL_STALL_EVALUATION || phase == FSL_STALL_WARM_UP;
}

/* Long steps of one kind: once, or every so many steps. */
struct fsl_stall {
	enum fsl_stall_phase phase;
	int64_t step, last_step; /* the first and the last of them; of a gap the step behind it */
	int64_t before_step;     /* of a gap: the step in front of it; else -1 */
	int64_t begin_ns, end_ns;
	size_t n_times;
	int64_t every_steps;      /* -1: not periodic */
	int64_t lost_ns, most_ns; /* beyond the usual length, together and of the longest */
	const int32_t *ranks;     /* the ranks that were last; none: all alike, or unknown */
	size_t n_ranks;
	/* The innermost frame of the stack in the longest stage of the phase's kind, and how many
	 * objects garbage collection freed in it. */
	const char *frame;    /* NULL: not told */
	uint32_t n_collected; /* 0: not told */
};

struct fsl_perception {
	struct fsl_arena arena;
	/* sysTrace's part of the verdict. */
	bool is_anomaly;
	const char *anomaly_type; /* "normal", "failSlow", "hang"; static */
	struct fsl_step_anomaly *anomalies;
	size_t n_anomalies, anomalies_capacity;
	int64_t start_ns, end_ns; /* first and last step examined */
	const char *error_message;
	/* failslow's part of the verdict. */
	/* NORMAL, JOB_SLOWDOWN, STALLS, HANG, INSUFFICIENT_EVIDENCE */
	enum fsl_verdict_kind kind;
	const char *reason;
	struct fsl_step_episode *episodes;
	size_t n_episodes, episodes_capacity;
	struct fsl_step_explained *explained;
	size_t n_explained, explained_capacity;
	struct fsl_stall *stalls; /* costliest first */
	size_t n_stalls, stalls_capacity;
	struct fsl_step_anomaly
		*slow_dataloader; /* steps with long data loading (enable_dataloader) */
	size_t n_slow_dataloader, slow_dataloader_capacity;
	struct fsl_step_anomaly *slow_ckpt; /* long checkpoints (enable_ckpt) */
	size_t n_slow_ckpt, slow_ckpt_capacity;
	double hang_mins; /* now - last event of the job, minutes; NaN: no event */
	bool is_over;     /* the job has ended: a log says so, or hang_mins > hang_forget_hours */
	int64_t hang_since_ns;
	int32_t *stopped_first; /* ranks that stopped first; none: all stopped together */
	size_t n_stopped_first;
	/* Number of ranks in an operator that has not ended, if no rank has left an event for long
	 * enough to report it and not long enough to be a hang; else 0. */
	size_t n_stalled;
	struct fsl_coverage coverage;
};

/* Empty verdicts in which everything is unknown: NaN, -1, FSL_NS_ABSENT, "". */
void fsl_localisation_init(struct fsl_localisation *localisation);
void fsl_replay_summary_init(struct fsl_replay_summary *summary);
void fsl_perception_init(struct fsl_perception *perception);
void fsl_localisation_fini(struct fsl_localisation *localisation);
void fsl_perception_fini(struct fsl_perception *perception);

/* A culprit with a rank and no other facts. */
struct fsl_culprit fsl_culprit_of(int32_t rank);
/*
 * Adds one number. Drops it (false) if the culprit has FSL_FACTS_MAX already. @name, @unit: static.
 */
bool fsl_culprit_add_fact(struct fsl_culprit *culprit, const char *name, double value,
			  const char *unit);
/* The same with a fact of the table. */
bool fsl_culprit_add_known(struct fsl_culprit *culprit, enum fsl_fact_name name, double value);

/*
 * The other lists of a verdict grow by FSL_APPEND. Texts and arrays that an element points to are
 * borrowed: they live in the verdict's arena, in the run's, or are static.
 */

/* Adds to abnormalDetail or normalDetail, by detail->is_abnormal. */
enum fsl_status fsl_localisation_add_detail(struct fsl_localisation *localisation,
					    const struct fsl_detail *detail, struct fsl_error *err);

/* Prints one line of coverage->skipped into @arena, the arena of the coverage's verdict. */
enum fsl_status fsl_coverage_add_skipped(struct fsl_coverage *coverage, struct fsl_arena *arena,
					 struct fsl_error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Copy of @n_ranks rank numbers in @arena; NULL if out of memory. */
int32_t *fsl_ranks_copy(struct fsl_arena *arena, const int32_t *ranks, size_t n_ranks);

#endif
