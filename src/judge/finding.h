/*
 * What is worth telling about a capture: one finding each, with its evidence, what to do about it
 * and what that could win. Layers propose findings; the verdict names ranks from them.
 */
#ifndef FSL_JUDGE_FINDING_H
#define FSL_JUDGE_FINDING_H

#include "capture/cluster.h"
#include "judge/codes.h"

/* One line of a table behind a finding: an operator type, a call, with what it takes. */
struct fsl_profile_line {
	const char *kind; /* "operatorType"; static */
	const char *name;
	double ms, count; /* per step, mean of the ranks */
	double share;     /* of all of its kind */
};

struct fsl_profile_finding {
	enum fsl_code code;
	int32_t rank;       /* -1: the whole job */
	int32_t peer;       /* far end of a link; -1 */
	int64_t step;       /* FSL_STEP_ABSENT: all that were captured */
	double gain_ms;     /* mean per step of the capture that could be won; NaN: not told */
	const char *what;   /* one sentence with the figures; findings' arena */
	const char *advice; /* one sentence; findings' arena or static; "" none */
	bool is_overview;   /* no fault: where time goes and how fast things are */
	size_t n_facts;
	struct fsl_fact facts[FSL_FACTS_MAX];
	const struct fsl_profile_line *lines; /* findings' arena; NULL: none */
	size_t n_lines;
	/* Where steps were judged one by one: those that show it, ascending, of n_steps in which
	 * its rank was captured; n_steps 0: they were not. Arena of the findings. */
	const int64_t *seen_steps;
	size_t n_seen_steps, n_steps;
};

struct fsl_profile_findings {
	struct fsl_arena arena;
	struct fsl_profile_finding *items; /* sorted: gain, layer, text of the code, rank, step */
	size_t n_items, capacity;
	const char **missing; /* what could not be judged, and what would be needed for it */
	size_t n_missing, missing_capacity;
};

/* A finding of which nothing is known yet but these: about the whole job, gain unknown. */
struct fsl_profile_finding fsl_profile_finding_of(enum fsl_code code);
/* One number of the evidence; dropped (false) when FSL_FACTS_MAX are there already. @name, @unit:
 * static. */
bool fsl_profile_finding_add_fact(struct fsl_profile_finding *finding, const char *name,
				  double value, const char *unit);

/* The same of a fact that is looked up again. */
bool fsl_profile_finding_add_known(struct fsl_profile_finding *finding, enum fsl_fact_name name,
				   double value);

/* What the ranks of the set are: "captured", or "chosen" where others were captured, too. */
const char *fsl_profile_seen_text(const struct fsl_profile *profile);

/* Copies @finding with its texts. */
enum fsl_status fsl_profile_findings_add(struct fsl_profile_findings *findings,
					 const struct fsl_profile_finding *finding,
					 struct fsl_error *err);
/* A sentence on what could not be judged. */
enum fsl_status fsl_profile_findings_miss(struct fsl_profile_findings *findings,
					  struct fsl_error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of some ranks (ascending): "ranks 0-3: @words"; nothing when there are none. */
enum fsl_status fsl_profile_findings_miss_ranks(struct fsl_profile_findings *findings,
						const int32_t *ranks, size_t n_ranks,
						const char *words, struct fsl_error *err);
void fsl_profile_findings_sort(struct fsl_profile_findings *findings);
void fsl_profile_findings_fini(struct fsl_profile_findings *findings);

struct fsl_profile_meetings; /* judge/to_run.h */

/* For what a judge is asked. */
enum fsl_profile_look {
	FSL_LOOK_CAPTURE, /* what all steps together tell */
	FSL_LOOK_STEP,    /* what one step of several tells that need not show in all together */
	FSL_LOOK_AGAIN,   /* whether one step shows what all together told: proved it is already */
};

/* What judges look at. */
struct fsl_profile_case {
	const struct fsl_profile *profile;
	const struct fsl_profile_cluster *cluster;
	int n_threads;
	const struct fsl_profile *baseline; /* an earlier capture of the job; NULL: none */
	/* Collectives; made by fsl_profile_judge_all() for the judges. */
	const struct fsl_profile_meetings *meetings;
	/* Of single steps (by_step.h), profile is the view of one. */
	enum fsl_profile_look look;
	size_t n_looks; /* FSL_LOOK_STEP: steps that are judged, one after the other */
};

/*
 * The greatest probability to be by chance with which something is told, where @most holds for one
 * look: n looks find what is rare in each of them n times as often, so that each may take its n-th
 * part only (Bonferroni). Above 1 for FSL_LOOK_AGAIN.
 */
double fsl_profile_chance_max(const struct fsl_profile_case *facts, double most);
/*
 * The least effect, a share or an excess, from which on something is told whose chance is not
 * tested: twice @least in one step of several, as the largest of n looks is always larger than what
 * is usual, and half of it where the steps together gave it already, as steps scatter around their
 * mean.
 */
double fsl_profile_effect_min(const struct fsl_profile_case *facts, double least);
/* Likewise of an effect whose chance is tested: one step of several has the limits of all. */
double fsl_profile_tested_min(const struct fsl_profile_case *facts, double least);

/*
 * One judge per line of judges.def, in judge_<name>.c: adds findings, or what it misses. Fails only
 * when memory is short.
 */
typedef enum fsl_status (*fsl_profile_judge)(struct fsl_profile_findings *findings,
					     const struct fsl_profile_case *facts,
					     struct fsl_error *err);
#define PROFILE_JUDGE(name)                                                                        \
	enum fsl_status fsl_profile_judge_##name(struct fsl_profile_findings *findings,            \
						 const struct fsl_profile_case *facts,             \
						 struct fsl_error *err);
#include "judge/judges.def"
#undef PROFILE_JUDGE
extern const fsl_profile_judge fsl_profile_judges[FSL_JUDGES_N];

/* All judges, one after the other, then once more for each step (by_step.h); sorted. */
enum fsl_status fsl_profile_judge_all(struct fsl_profile_findings *findings,
				      const struct fsl_profile_case *facts, struct fsl_error *err);

#endif
