/* Shared by the parts of the classical localisation. */
#ifndef FSL_DETECT_CLASSICAL_PARTS_H
#define FSL_DETECT_CLASSICAL_PARTS_H

#include "config/config.h"
#include "detect/kpi_series.h"
#include "model/topology.h"
#include "model/verdict.h"

/* sysTrace's names of the operators that represent a whole tensor- or data-parallel group. */
#define FSL_CLASSICAL_TP_METRIC "HcclAllGather"
#define FSL_CLASSICAL_DP_METRIC "HcclAllReduce"

enum {
	FSL_CLASSICAL_SPELLINGS_MAX = 8, /* greatest number of spellings of one operator's name */
	FSL_CLASSICAL_COMM_FILES_MIN = 8 /* least number of rank files, and of ranks in a
					    pipeline, for a vote */
};

struct fsl_classical {
	const struct fsl_run *run;
	const struct fsl_topology *topology;
	const struct fsl_config *config;
	struct fsl_steps steps; /* empty unless a metric has windows of steps */
};

/* Number of threads, by the key "jobs". */
int fsl_classical_threads(const struct fsl_classical *classical);

/* A line of coverage.skipped: "subject: where and n_more more: why". */
struct fsl_note {
	const char *subject; /* detector or metric */
	const char *where;   /* metric and communicator; "" if there is none */
	const char *why;
	size_t n_more; /* number of further places with the same subject and reason */
};
/* Notes that one thread gathers. Start as {0}. */
struct fsl_notes {
	struct fsl_arena arena;
	struct fsl_note *items;
	size_t n_items, capacity;
};
enum fsl_status fsl_notes_add(struct fsl_notes *notes, struct fsl_error *err, const char *subject,
			      const char *where, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
enum fsl_status fsl_notes_merge(struct fsl_notes *into, const struct fsl_notes *from,
				struct fsl_error *err);
enum fsl_status fsl_notes_flush(struct fsl_localisation *out, const struct fsl_notes *notes,
				struct fsl_error *err);
void fsl_notes_fini(struct fsl_notes *notes);

/* One communicator to judge. */
struct fsl_target {
	const struct fsl_group *group; /* topology->groups */
	const char *label;             /* "tp [0,1,2,3]"; the targets' arena */
	bool is_consecutive;           /* no other rank with data lies between its ranks */
};
struct fsl_targets {
	struct fsl_arena arena;
	struct fsl_target *items;
	size_t n_items;
	enum fsl_group_kind kind; /* kind of the lists */
};
/*
 * Finds the communicators whose ranks are exactly those of a list of this kind (ranks without data
 * left out), in the order of the lists. If several communicators have the same ranks, the one with
 * most operators is taken. Start @out as {0}; release it in any case.
 */
enum fsl_status fsl_targets_find(struct fsl_targets *out, const struct fsl_classical *classical,
				 enum fsl_group_kind kind, struct fsl_error *err);
void fsl_targets_fini(struct fsl_targets *targets);
/* tp; dp if the first tp list has only one rank. */
enum fsl_group_kind fsl_targets_main_kind(const struct fsl_topology *topology);

/* One metric, and the ids of its operator's name. */
struct fsl_metric_source {
	const struct fsl_classical *classical;
	const struct fsl_metric_config *metric;
	uint32_t op_ids[FSL_CLASSICAL_SPELLINGS_MAX];
	size_t n_op_ids;
};
/* *is_found is false if the metric is not configured or has no aggregation; @notes says why. */
enum fsl_status fsl_metric_source_find(struct fsl_metric_source *out,
				       const struct fsl_classical *classical, const char *name,
				       struct fsl_notes *notes, bool *is_found,
				       struct fsl_error *err);

/* A metric on a communicator: one matrix per aggregation function. Start as {0}. */
struct fsl_series {
	struct fsl_windows windows[FSL_AGG_FUNCS_MAX];
	size_t n_funcs; /* 0: no sample; @notes has the reason */
};
enum fsl_status fsl_series_build(struct fsl_series *out, const struct fsl_metric_source *source,
				 const struct fsl_target *target, struct fsl_notes *notes,
				 struct fsl_error *err);
void fsl_series_fini(struct fsl_series *series);

/* One communicator: a unit of work; filled by one thread. Start as {0}. */
struct fsl_unit {
	struct fsl_series series;
	struct fsl_arena arena; /* of what is found in the series */
	struct fsl_notes notes;
	enum fsl_status status;
	struct fsl_error err;
};
/* Merges the notes of a unit into @notes, or fails as the unit did. */
enum fsl_status fsl_unit_take(const struct fsl_unit *unit, struct fsl_notes *notes,
			      struct fsl_error *err);
void fsl_unit_fini(struct fsl_unit *unit);

/* Labels of one unit of work, fused from its detectors. */
struct fsl_judgement {
	uint8_t *labels; /* n_members x n_windows as the windows; in the arena of the unit */
	enum fsl_method method;
	bool has_run; /* at least one detector ran */
};
/*
 * Runs the time and space detector of @metric on @windows. The notes of @unit list those that
 * could not run.
 */
enum fsl_status fsl_judge(struct fsl_judgement *out, struct fsl_unit *unit,
			  const struct fsl_metric_config *metric, const struct fsl_windows *windows,
			  const char *label, struct fsl_error *err);
/* Runs the time detector alone. */
enum fsl_status fsl_judge_time(struct fsl_judgement *out, struct fsl_unit *unit,
			       const struct fsl_metric_config *metric,
			       const struct fsl_windows *windows, const char *label,
			       struct fsl_error *err);
bool fsl_judgement_is_anomalous(const struct fsl_judgement *judgement,
				const struct fsl_windows *windows, size_t member);

/*
 * sysTrace's vote on the ranks of a pipeline, in their order. @scores: share of aggregation
 * functions that call a rank anomalous. taken[i] is set for every rank with score 1 that has a
 * direct neighbour with at least 0.5. If some of these ranks are in a slow group, only they stay.
 */
void fsl_vote(const double *scores, const bool *in_slow_group, size_t n_ranks, bool *taken);

/* Input for the verdict's entries of one judged unit. */
struct fsl_entries {
	const struct fsl_windows *windows; /* also the source of kpiData */
	const uint8_t *labels;             /* laid out as windows */
	const bool *is_anomalous;          /* by member */
	enum fsl_method method;
	const char *kpi_id;
	const char *type; /* "compute", "network", "storage" */
};
enum fsl_status fsl_entries_add(struct fsl_localisation *out, const struct fsl_classical *classical,
				const struct fsl_entries *entries, struct fsl_error *err);
/* Sets resultCode and the flag of a metric type. */
void fsl_entries_flag(struct fsl_localisation *out, const char *type);
const char *fsl_entries_host(const struct fsl_classical *classical, int32_t rank);

/* cal, op_launch: one metric on all targets. */
enum fsl_status fsl_classical_metric(struct fsl_localisation *out,
				     const struct fsl_classical *classical, const char *metric_name,
				     struct fsl_error *err);
/* comm: slow groups, then the vote on every pipeline. */
enum fsl_status fsl_classical_comm(struct fsl_localisation *out,
				   const struct fsl_classical *classical, struct fsl_error *err);

#endif
