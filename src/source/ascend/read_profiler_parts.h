/* Shared by the files that read the profiler's own databases. */
#ifndef FSL_SOURCE_ASCEND_READ_PROFILER_PARTS_H
#define FSL_SOURCE_ASCEND_READ_PROFILER_PARTS_H

#include "source/ascend/databases.h"

/* Texts are numbers into STRING_IDS; each is looked up once. */
struct fsl_profiler_names {
	struct fsl_db_rows *lookup;  /* NULL: no such table */
	struct fsl_strpool *numbers; /* seen so far, as bytes */
	uint32_t *ids;               /* in rank->names, of each number */
	size_t n_ids, capacity;
};

/* A kernel of the rank, for its counters. */
struct fsl_profiler_task {
	int64_t id;           /* globalTaskId */
	uint32_t kernels_idx; /* in rank->kernels */
	float dur_ns;
	float ratios[FSL_PIPES_N]; /* of its time, in which the unit worked */
};

struct fsl_profiler {
	struct fsl_profile_rank *rank;
	struct fsl_db *db;
	const struct fsl_profile_input *input;
	struct fsl_profiler_names names;
	/* On the host, sorted by begin; none: the capture has no steps. */
	struct fsl_profile_range *steps;
	size_t n_steps, steps_capacity;
	struct fsl_profiler_task *tasks; /* kernels that are counted */
	size_t n_tasks, tasks_capacity;
	int64_t device_id; /* device whose rows are used; -1: unknown yet */
};

/* Id in rank->names of the text whose number the column holds; FSL_STR_NONE for a number without
 * text and for "N/A". */
enum fsl_status fsl_profiler_column_name(struct fsl_profiler *profiler,
					 const struct fsl_db_rows *rows, size_t column,
					 uint32_t *name_id, struct fsl_error *err);
/*
 * Group of a column that holds the number of a group's id: the text behind "@" in the JSON files.
 */
enum fsl_status fsl_profiler_group(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				   size_t column, uint32_t *group_id, struct fsl_error *err);

/* Step at @time_ns; false outside all steps. FSL_STEP_ABSENT if there are no steps. */
bool fsl_profiler_step_at(const struct fsl_profiler *profiler, int64_t time_ns, int64_t *step);
/* Begin and end of a row; false if they are missing, no times, or in the wrong order. */
bool fsl_profiler_times(const struct fsl_db_rows *rows, size_t begin, size_t end, int64_t *begin_ns,
			int64_t *end_ns);
/* True for rows of the rank's device: the first one seen, unless it is known. */
bool fsl_profiler_is_own(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
			 size_t column);

/* Reads COMMUNICATION_OP to rank->comms, TASK with COMPUTE_TASK_INFO to kernels, gaps, rebuilt. */
enum fsl_status fsl_profiler_read_tasks(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads TASK_PMU_INFO to the kernels of profiler->tasks, which it sorts. */
enum fsl_status fsl_profiler_read_pmu(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads COMMUNICATION_TASK_INFO with TASK to rank->links and rank->waits, unless files had them. */
enum fsl_status fsl_profiler_read_links(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads OVERLAP_ANALYSIS to rank->steps, or checks them. */
enum fsl_status fsl_profiler_read_overlap(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads CANN_API to rank->api_statistics. */
enum fsl_status fsl_profiler_read_calls(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads launches of tasks, and the host's part in the longest gaps, to rank->trace. */
enum fsl_status fsl_profiler_read_launches(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads MEMORY_RECORD, OP_MEMORY and NPU_MEM to rank->memory, if no text file had them. */
enum fsl_status fsl_profiler_read_memory(struct fsl_profiler *profiler, struct fsl_error *err);
/* Reads AICORE_FREQ to rank->trace. */
enum fsl_status fsl_profiler_read_freqs(struct fsl_profiler *profiler, struct fsl_error *err);

#endif
