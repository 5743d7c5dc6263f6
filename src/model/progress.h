/*
 * How the job went on: its steps, what each spent loading data, and its checkpoints. All that
 * perception looks at of a stretch of time; a few bytes a step, so that it can be kept when the
 * events are gone.
 */
#ifndef FSL_MODEL_PROGRESS_H
#define FSL_MODEL_PROGRESS_H

#include "base/pack.h"
#include "model/steps.h"

/* One checkpoint of the job: saves of single ranks that overlap are one. */
struct fsl_save {
	int64_t step; /* number of the step that it began in */
	int64_t begin_ns, dur_ns;
};

struct fsl_progress {
	struct fsl_steps steps;
	int64_t *loading_ns; /* [steps.n_items]: in the data loader, of the rank that took longest;
				0: nothing was recorded */
	struct fsl_save *saves; /* by begin */
	size_t n_saves;
};

/* Saves of earlier chapters that are looked at. */
enum { FSL_PROGRESS_SAVES_MAX = 64 };

/* Fills @out (overwritten; free with fsl_progress_fini) from copies. FSL_ERR_MEMORY only. */
enum fsl_status fsl_progress_build(struct fsl_progress *out, const struct fsl_run *run,
				   const struct fsl_steps *steps, struct fsl_error *err);
void fsl_progress_fini(struct fsl_progress *progress);

/* Forgets steps that ended and saves that began before @from_ns, and of the rest all but the newest
 * @n_steps_max steps and FSL_PROGRESS_SAVES_MAX saves. */
void fsl_progress_trim(struct fsl_progress *progress, int64_t from_ns, size_t n_steps_max);

/*
 * Puts what went before in front of @progress: up to @n_steps_max steps of @earlier (oldest first)
 * that have the same source and that it goes on from, and as many saves as above. The last step of
 * each stretch ends where the next one begins.
 */
enum fsl_status fsl_progress_extend(struct fsl_progress *progress,
				    const struct fsl_progress *const *earlier, size_t n_earlier,
				    size_t n_steps_max, struct fsl_error *err);

/* Appends @progress to @pack; look at its is_failed. */
void fsl_progress_pack(const struct fsl_progress *progress, struct fsl_pack *pack);
/* Makes @out (overwritten) what was packed; the name of the source lives in @arena. Bytes that are
 * not sound: FSL_ERR_FORMAT, and @out is empty. */
enum fsl_status fsl_progress_unpack(struct fsl_progress *out, struct fsl_unpack *unpack,
				    struct fsl_arena *arena, struct fsl_error *err);

#endif
