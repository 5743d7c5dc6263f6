/* How long the chapters of a capture are. */
#include "engine/chapters_parts.h"

enum {
	SHORT_STEPS_MIN =
		32, /* steps that a chapter needs to be shorter than the longest chapters */
	/* The first chapter tells how many steps a chapter holds. If steps are found from
	 * operators, the first 1/FIRST_PARTS of all chapters tell it together. */
	FIRST_PARTS = 4,
	/* The most bytes of a capture for each of its chapters, whose operators are in memory: with
	 * them, 1.6 GB and more take the same memory. */
	CHAPTER_BYTES_MAX = 1 << 25,
};

struct fsl_chapter_rule fsl_job_chapter_rule(const struct fsl_config *config)
{
	bool is_whole = config->algorithm == FSL_ALGORITHM_SYSTRACE;
	return fsl_chapter_rule_of(is_whole ? 0.0 : config->chapter_hours);
}

/* How many chapters a level wants: all, a half, a quarter. One: chapters by hours alone. */
static int64_t parts_of(const struct fsl_job *job, const struct fsl_config *config, size_t level)
{
	int64_t n = config->chapter_parts;
	int64_t n_small = job->feed != NULL ? (int64_t)(job->feed->n_bytes / CHAPTER_BYTES_MAX) : 0;
	return (n > 1 && n_small > n ? n_small : n) >> level;
}

void fsl_job_wanted_lengths(int64_t wanted_ns[FSL_CHAPTER_LEVELS_N], const struct fsl_job *job,
			    const struct fsl_config *config, const struct fsl_span *span)
{
	struct fsl_chapter_rule longest = fsl_job_chapter_rule(config);
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
		int64_t n_parts = parts_of(job, config, level),
			span_ns = span->end_ns - span->begin_ns;
		wanted_ns[level] = 0;
		if (longest.length_ns == 0 || span->begin_ns == FSL_NS_ABSENT || n_parts == 0) {
			continue;
		}
		struct fsl_chapter_rule finer = fsl_chapter_rule_finer(&longest, span_ns, n_parts);
		if (span_ns / finer.length_ns >= n_parts) {
			wanted_ns[level] = finer.length_ns;
		}
	}
}

/* Facts about the steps of the job, taken from its first chapters. */
struct look {
	size_t n_steps;
	double n_lengths; /* length of these chapters together, in chapters */
	struct fsl_step_hint step_hint;
};

/* Finds the steps of the first chapters, from @rank alone (FSL_RANK_UNKNOWN: from all ranks) if the
 * run is read from files. */
static enum fsl_status find_steps(struct fsl_steps *out, const struct fsl_job *job,
				  const struct fsl_chapter *first,
				  const struct fsl_chapter_rule *rule, int32_t rank,
				  struct fsl_error *err)
{
	if (job->feed == NULL) {
		return fsl_chapter_find_steps(out, job, first, rule, err);
	}
	struct fsl_job *look = fsl_calloc(1, sizeof(*look));
	if (look == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"chapter\"");
	}
	enum fsl_status status = fsl_job_init(look, err);
	if (status == FSL_OK) {
		status = fsl_feed_look(job->feed, &look->run, first->end_ns, rule, rank, err);
	}
	if (status == FSL_OK) {
		status = fsl_chapter_find_steps(out, look, first, rule, err);
	}
	fsl_job_fini(look);
	fsl_free(look);
	return status;
}

static enum fsl_status look_at_begin(struct look *out, const struct fsl_job *job,
				     const struct fsl_span *span,
				     const struct fsl_chapter_rule *rule, size_t n_chapters,
				     int32_t rank, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct fsl_chapter *items = NULL;
	size_t n_items = 0;
	*out = (struct look){.n_lengths = 0.0};
	enum fsl_status status = fsl_chapters_list(&items, &n_items, &arena, span, rule, err);
	if (status == FSL_OK && n_items > n_chapters) {
		struct fsl_chapter first = {INT64_MIN, items[n_chapters - 1].end_ns};
		struct fsl_steps steps = {0};
		status = find_steps(&steps, job, &first, rule, rank, err);
		out->n_steps = fsl_chapter_count_steps(&steps, &first);
		out->n_lengths = (double)(first.end_ns - span->begin_ns) / (double)rule->length_ns;
		if (steps.is_ordinal) {
			out->step_hint = (struct fsl_step_hint){steps.source_rank, steps.n_ops};
		}
		fsl_steps_fini(&steps);
	}
	fsl_arena_fini(&arena);
	return status;
}

/* Takes the rule of a level if its chapters hold enough steps and begin alike on all ranks, or if
 * they are the longest chapters. The first chapters tell how the steps of all chapters are
 * found. */
static enum fsl_status try_level(bool *is_taken, struct fsl_job *job,
				 const struct fsl_config *config, const struct fsl_span *span,
				 size_t level, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	struct fsl_chapter_rule rule = fsl_chapter_rule_for(chapters->wanted_ns[level]);
	bool is_longest = rule.length_ns == fsl_job_chapter_rule(config).length_ns;
	struct look look;
	if (rule.length_ns == 0 ||
	    (!is_longest && (span->apart_ns > rule.lead_ns || !chapters->has_ops_enough))) {
		return FSL_OK;
	}
	enum fsl_status status = look_at_begin(&look, job, span, &rule, 1, FSL_RANK_UNKNOWN, err);
	if (status == FSL_OK && look.step_hint.n_ops > 0) {
		size_t n_parts = (size_t)parts_of(job, config, level);
		status = look_at_begin(&look, job, span, &rule,
				       (n_parts + FIRST_PARTS - 1) / FIRST_PARTS,
				       look.step_hint.rank, err);
	}
	bool is_enough =
		look.n_steps > 0 && (double)look.n_steps >= look.n_lengths * SHORT_STEPS_MIN;
	*is_taken = status == FSL_OK && (is_enough || is_longest);
	if (*is_taken) {
		chapters->rule = rule;
		chapters->step_hint = look.step_hint;
	}
	return status;
}

enum fsl_status fsl_chapters_choose_rule(struct fsl_job *job, const struct fsl_config *config,
					 const struct fsl_span *span, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	enum fsl_status status = FSL_OK;
	chapters->rule = fsl_job_chapter_rule(config);
	fsl_job_wanted_lengths(chapters->wanted_ns, job, config, span);
	/* A small capture takes less time as a whole than in chapters, and little time when it is
	 * judged again. */
	chapters->has_ops_enough =
		job->feed != NULL ||
		fsl_run_count_ops(&job->run, INT64_MIN) >= (size_t)config->chapter_operators_min;
	bool is_taken = span->is_torn;
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N && !is_taken && status == FSL_OK;
	     level++) {
		status = try_level(&is_taken, job, config, span, level, err);
	}
	return status;
}
