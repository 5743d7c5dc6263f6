/*
 * One job on its way through the pipeline: every noun of it, and the one call that makes each from
 * those before it.
 */
#ifndef FSL_ENGINE_JOB_H
#define FSL_ENGINE_JOB_H

#include "base/pack.h"
#include "blame/blame.h"
#include "blame/singles.h"
#include "blame/verify.h"
#include "config/config.h"
#include "engine/feed.h"
#include "match/match.h"
#include "match/own.h"
#include "model/chapter.h"
#include "model/progress.h"
#include "model/run.h"
#include "model/steps.h"
#include "model/topology.h"
#include "model/verdict.h"

/* One chapter of a long capture with its verdict. */
struct fsl_judged_chapter {
	struct fsl_chapter time;
	size_t n_steps;               /* that end in it */
	size_t n_ops;                 /* likewise */
	size_t n_before;              /* in the chapters before, where its own have no numbers */
	bool is_ordinal;              /* its steps have no numbers but their order */
	bool is_brief;                /* judged in brief: it cannot be told */
	struct fsl_progress progress; /* of them the newest, for perception */
	struct fsl_localisation verdict;
	struct fsl_singles singles; /* too few to be told of in the verdict */
	struct fsl_pack packed;     /* the verdict, to be kept; nothing for the newest chapter */
	struct fsl_pack matrices;   /* packed, likewise */
	bool is_known;              /* by an earlier run, which kept it */
	struct fsl_run *held;       /* its part of the run, to be judged in full; NULL: it is not
				       held */
};

/* As many chapters as are wanted, a half, or a quarter of that. */
enum { FSL_CHAPTER_LEVELS_N = 3 };

/* All chapters of a capture, oldest first; the newest is always judged anew. */
struct fsl_chapters {
	struct fsl_arena arena;
	struct fsl_chapter_rule rule;
	/* The lengths that chapters of such a capture should have; they have the first that holds
	 * steps enough. */
	int64_t wanted_ns[FSL_CHAPTER_LEVELS_N];
	bool has_ops_enough;            /* for chapters shorter than the longest */
	struct fsl_span span;           /* of the capture, about */
	int64_t begin_ns;               /* its begin, from all events of the first chapter */
	struct fsl_step_hint step_hint; /* of its begin; where chapters are short */
	struct fsl_judged_chapter *items;
	size_t n_items;
};
void fsl_chapter_fini(struct fsl_judged_chapter *chapter);
void fsl_chapters_fini(struct fsl_chapters *chapters);

/* In the order in which they come into being. */
struct fsl_job {
	struct fsl_run run;
	struct fsl_feed *feed; /* what fills the run, a few chapters at a time; NULL: it is full */
	int64_t until_ns; /* the end of the time range that is judged; INT64_MAX: it has none */
	/* Where the run is a chapter: its begin, INT64_MIN else, and the steps before it. */
	int64_t begin_ns;
	size_t n_steps_before;
	bool is_brief; /* as fsl_case: a chapter that is over and is not the one to be told */
	struct fsl_topology topology;
	double drift_max_ppm; /* that was taken out of the clocks */
	struct fsl_match match;
	struct fsl_steps steps;
	struct fsl_progress progress;
	struct fsl_perception perception;
	struct fsl_cuts cuts;
	struct fsl_own own;
	struct fsl_blame blame;
	struct fsl_verification verification;
	struct fsl_localisation classical;
	struct fsl_localisation localisation;
	struct fsl_chapters chapters; /* of a long capture, detect_chapters.h */
};

/* An empty job; fsl_job_fini is due also when it fails. */
enum fsl_status fsl_job_init(struct fsl_job *job, struct fsl_error *err);

/* job->steps of job->run; without numbers of their own they are counted on from earlier chapters.
 */
enum fsl_status fsl_job_find_steps(struct fsl_job *job, struct fsl_error *err);

/*
 * Everything from job->run, which the caller filled, to job->perception and job->localisation.
 * Reads @config and nothing else: no files, no clock. After a failure what was found so far stands.
 */
enum fsl_status fsl_job_analyse(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err);

/* What is known of the job up to its blame; borrows from both. */
struct fsl_case fsl_job_facts(const struct fsl_job *job, const struct fsl_config *config);

/* Whoever asked is to be told: a verdict other than normal, a perceived slowdown or hang, a rank
 * without data. */
bool fsl_job_is_anomaly(const struct fsl_job *job);

/* Takes back what was found: with_fail_slow is set and no slowdown was perceived, so that nobody
 * looked for slow ranks, and the verdict says so. */
void fsl_job_withhold(struct fsl_job *job);
/* A run that failed leaves a verdict, too, so that whoever polls the folder learns of it. What was
 * perceived before the failure (a hang, a slowdown) stands. @err must outlive @job. */
void fsl_job_note_failure(struct fsl_job *job, const struct fsl_error *err);

void fsl_job_fini(struct fsl_job *job);

#endif
