/* What the files that read the profiler's own databases share. */
#ifndef FSL_SOURCE_ASCEND_READ_PROFILER_PARTS_H
#define FSL_SOURCE_ASCEND_READ_PROFILER_PARTS_H

#include "source/ascend/databases.h"

/* A step as the host saw it. */
struct fsl_profiler_step {
	int64_t step, begin_ns, end_ns;
};

/* Texts are numbers into STRING_IDS, looked up once each. */
struct fsl_profiler_names {
	struct fsl_db_rows *lookup; /* NULL: no such table */
	struct fsl_profiler_name *slots;
	size_t n_slots, n_used; /* power of two, at most half full */
};

struct fsl_profiler {
	struct fsl_profile_rank *rank;
	struct fsl_db *db;
	const struct fsl_profile_input *input;
	struct fsl_profiler_names names;
	struct fsl_profiler_step *steps; /* sorted by begin; none: the capture has no steps */
	size_t n_steps, steps_capacity;
	int64_t device_id; /* whose rows are used; -1: not known yet */
};

/* Id in rank->names of text @id; FSL_STR_NONE for numbers without text and for "N/A". */
enum fsl_status fsl_profiler_name(struct fsl_profiler *profiler, int64_t id, uint32_t *name_id,
				  struct fsl_error *err);
/* The same for a column that holds the number. */
enum fsl_status fsl_profiler_column_name(struct fsl_profiler *profiler,
					 const struct fsl_db_rows *rows, size_t column,
					 uint32_t *name_id, struct fsl_error *err);
/* Of a column that holds the number of a group's id: what the JSON files have behind "@". */
enum fsl_status fsl_profiler_group(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				   size_t column, uint32_t *group_id, struct fsl_error *err);
void fsl_profiler_names_fini(struct fsl_profiler_names *names);

/* Step in which @time_ns lies; false outside of all, FSL_STEP_ABSENT when there are no steps. */
bool fsl_profiler_step_at(const struct fsl_profiler *profiler, int64_t time_ns, int64_t *step);
/* Begin and end of a row; false when they are missing, no times, or the wrong way round. */
bool fsl_profiler_times(const struct fsl_db_rows *rows, size_t begin, size_t end, int64_t *begin_ns,
			int64_t *end_ns);
/* True for rows of the device that is read: the first seen, where nothing else tells. */
bool fsl_profiler_is_own(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
			 size_t column);

/* COMMUNICATION_OP to rank->comms; TASK with COMPUTE_TASK_INFO to kernels, gaps and rebuilt. */
enum fsl_status fsl_profiler_read_tasks(struct fsl_profiler *profiler, struct fsl_error *err);
/* COMMUNICATION_TASK_INFO with TASK to rank->links and rank->waits, where nothing else told them.
 */
enum fsl_status fsl_profiler_read_links(struct fsl_profiler *profiler, struct fsl_error *err);
/* OVERLAP_ANALYSIS to rank->steps, or as a check of these. */
enum fsl_status fsl_profiler_read_overlap(struct fsl_profiler *profiler, struct fsl_error *err);
/* CANN_API to rank->api_statistics. */
enum fsl_status fsl_profiler_read_calls(struct fsl_profiler *profiler, struct fsl_error *err);
/* Launches of tasks, and the host's part in the longest gaps, to rank->trace. */
enum fsl_status fsl_profiler_read_launches(struct fsl_profiler *profiler, struct fsl_error *err);
/* MEMORY_RECORD, OP_MEMORY and NPU_MEM to rank->memory, where no file of text told it. */
enum fsl_status fsl_profiler_read_memory(struct fsl_profiler *profiler, struct fsl_error *err);
/* AICORE_FREQ to rank->trace. */
enum fsl_status fsl_profiler_read_freqs(struct fsl_profiler *profiler, struct fsl_error *err);
/* HOST_INFO and META_DATA to rank->info, where that does not know them. */
enum fsl_status fsl_profiler_read_info(struct fsl_profiler *profiler, struct fsl_error *err);

#endif
