/*
 * One job on its way through the pipeline: all its data, and the calls that make each part from the
 * parts before it.
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
	size_t n_steps;               /* steps that end in the chapter */
	size_t n_ops;                 /* operators that end in the chapter */
	size_t n_before;              /* steps in the chapters before, if its own have no numbers */
	bool is_ordinal;              /* its steps have no numbers but their order */
	bool is_brief;                /* judged in brief: it cannot be told */
	struct fsl_progress progress; /* the newest of its steps, for perception */
	struct fsl_localisation verdict;
	struct fsl_singles singles; /* slow single steps, too few for the verdict */
	struct fsl_pack packed;     /* the verdict, to be kept; empty for the newest chapter */
	struct fsl_pack matrices;   /* packed, likewise */
	bool is_known;              /* an earlier run judged and kept it */
	struct fsl_run *held;       /* its part of the run, to be judged in full; NULL: it is not
				       held */
};

/* Levels: the wanted number of chapters, a half of it, a quarter of it. */
enum { FSL_CHAPTER_LEVELS_N = 3 };

/* All chapters of a capture, oldest first; the newest is always judged anew. */
struct fsl_chapters {
	struct fsl_arena arena;
	struct fsl_chapter_rule rule;
	/* Wanted lengths of chapters. The first length is taken whose chapters hold enough
	 * steps. */
	int64_t wanted_ns[FSL_CHAPTER_LEVELS_N];
	bool has_ops_enough;            /* for chapters shorter than the longest */
	struct fsl_span span;           /* of the capture, estimated */
	int64_t begin_ns;               /* its begin, from all events of the first chapter */
	struct fsl_step_hint step_hint; /* from the begin of the capture, if chapters are short */
	struct fsl_judged_chapter *items;
	size_t n_items;
};
void fsl_chapter_fini(struct fsl_judged_chapter *chapter);
void fsl_chapters_fini(struct fsl_chapters *chapters);

/* Members stand in the order in which they are made. */
struct fsl_job {
	struct fsl_run run;
	struct fsl_feed *feed; /* fills run, a few chapters at a time; NULL: run is full */
	int64_t until_ns;      /* end of the time range that is judged; INT64_MAX: none */
	/* Begin of the run if it is a chapter, else INT64_MIN; and number of steps before it. */
	int64_t begin_ns;
	size_t n_steps_before;
	bool is_brief; /* as in fsl_case: a chapter that is over and will not be told */
	struct fsl_topology topology;
	double drift_max_ppm; /* largest drift that was taken out of the clocks */
	struct fsl_match match;
	struct fsl_steps steps;
	struct fsl_progress progress;
	struct fsl_perception perception;
	struct fsl_cuts cuts;
	struct fsl_own own;
	struct fsl_blame blame;
	struct fsl_localisation classical;
	struct fsl_verification verification;
	struct fsl_localisation localisation;
	struct fsl_chapters chapters; /* of a long capture: engine/chapters.h */
};

/* Makes an empty job. Call fsl_job_fini() also if it fails. */
enum fsl_status fsl_job_init(struct fsl_job *job, struct fsl_error *err);

/* Finds job->steps of job->run. Steps without numbers are counted on from earlier chapters. */
enum fsl_status fsl_job_find_steps(struct fsl_job *job, struct fsl_error *err);

/*
 * Makes all parts from job->run, which the caller filled, up to job->perception and
 * job->localisation. Reads @config and nothing else: no files, no clock. After a failure, results
 * found so far stay in @job.
 */
enum fsl_status fsl_job_analyse(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err);

/* Makes job->perception anew from job->progress, which the caller extended. */
enum fsl_status fsl_job_perceive_again(struct fsl_job *job, const struct fsl_config *config,
				       struct fsl_error *err);

/* The facts about the job from which detectors and verdicts are made. The result borrows from @job
 * and @config. */
struct fsl_case fsl_job_facts(const struct fsl_job *job, const struct fsl_config *config);

/* True if the result is an anomaly: a verdict other than normal, a perceived slowdown or hang, or a
 * rank without data. */
bool fsl_job_is_anomaly(const struct fsl_job *job);

/* Removes the findings of @job. Call it if with_fail_slow is set and no slowdown was perceived:
 * slow ranks were not looked for, and the verdict says so. */
void fsl_job_withhold(struct fsl_job *job);
/* Turns a failed run into a verdict, so that a program that polls the folder learns of it. A hang
 * or slowdown that was perceived before the failure stays. @err must outlive @job. */
void fsl_job_note_failure(struct fsl_job *job, const struct fsl_error *err);

void fsl_job_fini(struct fsl_job *job);

#endif
