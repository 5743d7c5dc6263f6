/*
 * What a run keeps of a long capture for the next one: the verdicts of chapters that are over, and
 * where in each file the reader may go on. The next run reads and judges the newest chapter only,
 * and tells what it would tell had it read everything.
 */
#ifndef FSL_ENGINE_KEPT_H
#define FSL_ENGINE_KEPT_H

#include "engine/job.h"
#include "source/ingest.h"
#include "source/mark.h"

/* One rank when the earlier run read it: its last operator and its last stage that had ended, on
 * the device where there is one; FSL_NS_ABSENT: none had. */
struct fsl_kept_rank {
	int32_t rank;
	int64_t last_op_ns, last_stage_ns;
};

struct fsl_kept {
	struct fsl_arena arena;
	bool is_wanted; /* the run is one that may keep something and go on from what was kept */
	struct fsl_chapter_rule longest; /* of the configuration */
	int64_t n_parts;
	struct fsl_chapters chapters; /* those that are over */
	struct fsl_kept_rank *ranks;  /* sorted by rank */
	size_t n_ranks;
	struct fsl_marks before, now; /* of the earlier run and of this one */
	int64_t resume_ns;            /* readers go on from there; FSL_NS_ABSENT: all is read */
};

/*
 * Looks up what was kept of the job that @options would read. Only whole captures are kept, and
 * only where config->chapter_keep is set. Never fails: what cannot be read or does not fit is not
 * there, and a run without it takes longer. End with fsl_kept_fini().
 */
void fsl_kept_load(struct fsl_kept *kept, const struct fsl_config *config,
		   struct fsl_ingest_options *options);

/*
 * True when what was kept is of no use for what was read, and everything has to be read
 * (fsl_kept_forget): the capture got so long, or its operators so many, that its chapters are
 * others, or some operator or stage that began in a kept chapter ended after the earlier run, which
 * judged it without.
 */
bool fsl_kept_is_outdated(const struct fsl_kept *kept, const struct fsl_config *config,
			  const struct fsl_run *run);
void fsl_kept_forget(struct fsl_kept *kept, struct fsl_ingest_options *options);

/* Hands the chapters that need not be judged again to @job. */
void fsl_kept_give(struct fsl_kept *kept, struct fsl_job *job);

/* Keeps the chapters of @job, where it has some that are over. A warning when that fails. */
void fsl_kept_save(struct fsl_kept *kept, const struct fsl_job *job,
		   const struct fsl_config *config);

void fsl_kept_fini(struct fsl_kept *kept);

#endif
