/*
 * Findings about a capture. Each has its evidence, an advice and the gain that the advice could
 * bring. Judges of the layers make findings; the verdict names ranks from them.
 */
#ifndef FSL_JUDGE_FINDING_H
#define FSL_JUDGE_FINDING_H

#include "blame/counts.h"
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
	/* Ranks that it is about together: of a group whose link is slow, with more work than
	 * others. n_members 0: rank and peer tell. */
	const int32_t *members;
	size_t n_members;
	const struct fsl_profile_line *lines; /* findings' arena; NULL: none */
	size_t n_lines;
	/* If steps were judged one by one: the steps that show it, ascending, of n_steps steps in
	 * which its rank was captured. n_steps 0: steps were not judged. Arena of the findings. */
	const int64_t *seen_steps;
	const double *seen_ms; /* [n_seen_steps]: gain in each of these steps; NULL: not told */
	size_t n_seen_steps, n_steps;
	/* Steps in which a slow rank works longer than its peers, whatever that costs in each of
	 * them. 0: not told, or fewer steps. */
	size_t n_late_steps;
};

struct fsl_profile_findings {
	struct fsl_arena arena;
	struct fsl_profile_finding *items; /* sorted: gain, layer, text of the code, rank, step */
	size_t n_items, capacity;
	const char **missing; /* sentences: a judgement that was not possible, and the data that it
				 needs */
	size_t n_missing, missing_capacity;
	/* By rank of the profile, arena: what each costs in a step, ms, while the other suspects
	 * are mended; 0: no suspect; NaN: it was not compared. NULL: nothing was judged. */
	double *rank_costs_ms;
};

/* A new finding with this code: about the whole job, gain unknown. */
struct fsl_profile_finding fsl_profile_finding_of(enum fsl_code code);
/* Adds one number to the evidence. False, and not added, if there are FSL_FACTS_MAX already. @name,
 * @unit: static texts. */
bool fsl_profile_finding_add_fact(struct fsl_profile_finding *finding, const char *name,
				  double value, const char *unit);

/* The same with a fact of the table, which other code looks up by its name. */
bool fsl_profile_finding_add_known(struct fsl_profile_finding *finding, enum fsl_fact_name name,
				   double value);

/* Word for the ranks of the set: "captured", or "chosen" if other ranks were captured, too. */
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

struct fsl_profile_meetings; /* match/meetings.h */
struct fsl_capture_places;   /* blame/capture_places.h */

/* Input of judges. */
struct fsl_profile_case {
	const struct fsl_profile *profile;
	const struct fsl_profile_cluster *cluster;
	int n_threads;
	const struct fsl_profile *baseline; /* an earlier capture of the job; NULL: none */
	int64_t device_bytes;               /* memory of a device; 0: not known */
	/* Collectives; set by fsl_profile_judge_all() for the judges. The verdict asks them if they
	 * are set. */
	const struct fsl_profile_meetings *meetings;
	const struct fsl_capture_places *places; /* who is slow, likewise */
	/* If single steps are judged (by_step.h), profile is the view of one step. */
	struct fsl_look look;
};

/*
 * One judge per line of judges.def, in judge_<name>.c: adds findings, or sentences about missing
 * data. Fails only when memory is short.
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

/* All judges, one after the other, then once more for each step (by_step.h); sorted. @meetings: of
 * facts->profile. */
enum fsl_status fsl_profile_judge_all(struct fsl_profile_findings *findings,
				      const struct fsl_profile_case *facts,
				      struct fsl_profile_meetings *meetings, struct fsl_error *err);

#endif
