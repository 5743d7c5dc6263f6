/*
 * Progress of the job: its steps, the data loading of each step, and its checkpoints. Perception
 * needs nothing else of a stretch of time. Progress takes a few bytes a step, so that it can be
 * kept after the events are gone.
 */
#ifndef FSL_MODEL_PROGRESS_H
#define FSL_MODEL_PROGRESS_H

#include "base/pack.h"
#include "model/steps.h"

/* One checkpoint of the job. Overlapping saves of single ranks count as one. */
struct fsl_save {
	int64_t step; /* number of the step in which it began */
	int64_t begin_ns, dur_ns;
};

struct fsl_progress {
	struct fsl_steps steps;
	int64_t *loading_ns;    /* [steps.n_items]: time in the data loader, of the slowest rank; 0:
				   nothing was recorded */
	struct fsl_save *saves; /* by begin */
	size_t n_saves;
};

/* Number of saves of earlier chapters that are kept. */
enum { FSL_PROGRESS_SAVES_MAX = 64 };

/* Fills @out (overwritten; free with fsl_progress_fini) from copies. FSL_ERR_MEMORY only. */
enum fsl_status fsl_progress_build(struct fsl_progress *out, const struct fsl_run *run,
				   const struct fsl_steps *steps, struct fsl_error *err);
void fsl_progress_fini(struct fsl_progress *progress);

/* Drops steps that ended and saves that began before @from_ns. Keeps at most the newest
 * @n_steps_max steps and FSL_PROGRESS_SAVES_MAX saves of the rest. */
void fsl_progress_trim(struct fsl_progress *progress, int64_t from_ns, size_t n_steps_max);

/*
 * Puts earlier progress in front of @progress: up to @n_steps_max steps of @earlier (oldest first),
 * if they have the same source and @progress continues them, and up to FSL_PROGRESS_SAVES_MAX
 * saves. The last step of each stretch is ended at the begin of the next stretch. FSL_ERR_MEMORY
 * only.
 */
enum fsl_status fsl_progress_extend(struct fsl_progress *progress,
				    const struct fsl_progress *const *earlier, size_t n_earlier,
				    size_t n_steps_max, struct fsl_error *err);

/* Appends @progress to @pack; the caller checks pack->is_failed. */
void fsl_progress_pack(const struct fsl_progress *progress, struct fsl_pack *pack);
/* Reads packed progress to @out (overwritten). The name of the source lives in @arena.
 * FSL_ERR_FORMAT for unsound bytes; @out is then empty. */
enum fsl_status fsl_progress_unpack(struct fsl_progress *out, struct fsl_unpack *unpack,
				    struct fsl_arena *arena, struct fsl_error *err);

#endif
