/* Judges the chapters that are over, several at a time. */
#include "base/log.h"
#include "base/number.h"
#include "engine/chapters_parts.h"
#include "model/verdict_pack.h"

/* No more steps of a chapter are replayed: there are many chapters, and most are quiet. */
enum { REPLAY_STEPS_MAX = 24 };

struct fsl_config fsl_chapter_config(const struct fsl_config *config, int64_t now_ns)
{
	struct fsl_config present = *config;
	present.now_ns = now_ns;
	present.replay_steps_max = config->replay_steps_max < REPLAY_STEPS_MAX
					   ? config->replay_steps_max
					   : REPLAY_STEPS_MAX;
	return present;
}

/* Steps of the chapter and its lead that end before the chapter does. */
static size_t count_whole(const struct fsl_steps *steps, const struct fsl_chapter *chapter)
{
	size_t n = steps->n_items;
	bool is_cut = chapter->end_ns != INT64_MAX && steps->is_last_open && n > 0;
	size_t n_over = fsl_steps_over(steps, chapter->end_ns);
	n -= is_cut;
	return n_over < n ? n_over : n;
}

size_t fsl_chapter_count_steps(const struct fsl_steps *steps, const struct fsl_chapter *chapter)
{
	size_t n = count_whole(steps, chapter), n_lead = fsl_steps_over(steps, chapter->begin_ns);
	return n > n_lead ? n - n_lead : 0;
}

enum fsl_status fsl_chapter_find_singles(struct fsl_judged_chapter *chapter,
					 const struct fsl_job *judged,
					 const struct fsl_config *config, struct fsl_error *err)
{
	const struct fsl_case facts = fsl_job_facts(judged, config);
	size_t begin = fsl_steps_over(&judged->steps, chapter->time.begin_ns);
	size_t end = count_whole(&judged->steps, &chapter->time);
	return fsl_singles_find(&chapter->singles, &facts, begin, end, err);
}

/* Of a chapter that is not told others want who and how much: no words, no evidence. */
static void forget_words(struct fsl_localisation *verdict)
{
	struct fsl_localisation empty;
	fsl_localisation_init(&empty);
	verdict->coverage = empty.coverage;
	verdict->replay = empty.replay;
	verdict->reason = empty.reason;
	verdict->n_unconfirmed = 0;
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		verdict->culprits[i].reason = empty.reason;
		verdict->culprits[i].n_evidence = 0;
	}
}

/* What a later run would find of it; nothing hangs on the chapter's run any longer. */
static enum fsl_status note(struct fsl_judged_chapter *out, struct fsl_job *part,
			    const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_steps *steps = &out->progress.steps;
	out->progress = part->progress;
	part->progress = (struct fsl_progress){0};
	out->n_steps = fsl_chapter_count_steps(steps, &out->time);
	out->is_ordinal = steps->is_ordinal;
	steps->n_items = count_whole(steps, &out->time);
	fsl_progress_trim(&out->progress, out->time.begin_ns, fsl_chapter_steps_kept(config));
	if (out->is_brief) {
		forget_words(&part->localisation);
	}
	enum fsl_status status = fsl_localisation_pack(&part->localisation, &out->packed, err);
	return status == FSL_OK ? fsl_localisation_unpack(&out->verdict, out->packed.bytes,
							  out->packed.n_bytes, err)
				: status;
}

/* The present of a chapter that is over is its last event: the job went on behind it, so that a
 * silence up to its end is no hang. */
static int64_t last_event_ns(const struct fsl_run *run, int64_t end_ns)
{
	int64_t last_ns = FSL_NS_ABSENT;
	for (size_t r = 0; r < run->n_ranks; r++) {
		int64_t event_ns = run->ranks[r].last_event_ns;
		last_ns = event_ns > last_ns ? event_ns : last_ns;
	}
	return last_ns != FSL_NS_ABSENT && last_ns < end_ns ? last_ns : end_ns;
}

/* A job of its own for a chapter that is over; NULL when out of memory. End it with drop_part(). */
static struct fsl_job *take_part(const struct fsl_job *job, const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err)
{
	struct fsl_job *part = fsl_calloc(1, sizeof(*part));
	if (part == NULL) {
		(void)FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"chapter\"");
		return NULL;
	}
	enum fsl_status status = fsl_job_init(part, err);
	fsl_run_fini(&part->run);
	part->begin_ns = chapter->begin_ns;
	if (status == FSL_OK) {
		status = fsl_chapter_take(&part->run, &job->run, chapter, rule, err);
	}
	if (status != FSL_OK) {
		fsl_job_fini(part);
		fsl_free(part);
	}
	return status == FSL_OK ? part : NULL;
}

static void drop_part(struct fsl_job *part)
{
	part->run.files = NULL; /* of the job */
	fsl_job_fini(part);
	fsl_free(part);
}

static enum fsl_status judge_closed(struct fsl_judged_chapter *out, const struct fsl_job *job,
				    const struct fsl_config *config, bool is_brief,
				    struct fsl_error *err)
{
	struct fsl_job *part = take_part(job, &out->time, &job->chapters.rule, err);
	if (part == NULL) {
		return FSL_ERR_MEMORY;
	}
	fsl_chapter_fini(out); /* where it was judged before */
	fsl_localisation_init(&out->verdict);
	out->n_ops = fsl_run_count_ops(&part->run, out->time.begin_ns);
	const struct fsl_config present =
		fsl_chapter_config(config, last_event_ns(&part->run, out->time.end_ns));
	part->n_steps_before = out->n_before;
	part->is_brief = out->is_brief = is_brief;
	enum fsl_status status = fsl_job_analyse(part, &present, err);
	if (status == FSL_OK) {
		status = fsl_chapter_find_singles(out, part, &present, err);
	}
	if (status == FSL_OK) {
		status = note(out, part, config, err);
	}
	drop_part(part);
	return status;
}

/* The first thing that went wrong on some thread. */
struct fault {
	enum fsl_status status;
	struct fsl_error error;
};

static void note_fault(struct fault *fault, enum fsl_status status, const struct fsl_error *error)
{
#pragma omp critical(fsl_chapter_fault)
	if (status != FSL_OK && fault->status == FSL_OK) {
		*fault = (struct fault){status, *error};
	}
}

static enum fsl_status pass_on(const struct fault *fault, struct fsl_error *err)
{
	if (fault->status != FSL_OK && err != NULL) {
		*err = fault->error;
	}
	return fault->status;
}

enum fsl_status fsl_chapter_find_steps(struct fsl_steps *out, const struct fsl_job *job,
				       const struct fsl_chapter *chapter,
				       const struct fsl_chapter_rule *rule, struct fsl_error *err)
{
	struct fsl_job *part = take_part(job, chapter, rule, err);
	if (part == NULL) {
		return FSL_ERR_MEMORY;
	}
	enum fsl_status status = fsl_job_find_steps(part, err);
	*out = part->steps;
	part->steps = (struct fsl_steps){0};
	drop_part(part);
	return status;
}

/* What is to be done with chapters, each on a thread. */
struct round {
	struct fsl_job *job;
	const struct fsl_config *config;
	size_t n_known; /* chapters that were judged before */
};

typedef enum fsl_status (*fsl_visit_chapter)(const struct round *round, size_t k,
					     struct fsl_error *err);

/* Chapters [@begin, @end). */
static enum fsl_status visit_together(const struct round *round, size_t begin, size_t end,
				      fsl_visit_chapter visit, struct fsl_error *err)
{
	struct fault fault = {0};
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t k = begin; k < end; k++) {
		struct fsl_error error = {0};
		note_fault(&fault, visit(round, k, &error), &error);
	}
	return pass_on(&fault, err);
}

/* How many steps end in a chapter that was not judged yet. */
static enum fsl_status count_ahead(const struct round *round, size_t k, struct fsl_error *err)
{
	struct fsl_steps steps;
	struct fsl_chapters *chapters = &round->job->chapters;
	struct fsl_judged_chapter *chapter = &chapters->items[k];
	enum fsl_status status =
		fsl_chapter_find_steps(&steps, round->job, &chapter->time, &chapters->rule, err);
	if (status == FSL_OK) {
		chapter->n_steps = fsl_chapter_count_steps(&steps, &chapter->time);
		fsl_steps_fini(&steps);
	}
	return status;
}

/* Numbers that are an order want to know how many steps were before, of chapters [@begin, @end). */
static enum fsl_status count_together(struct fsl_job *job, size_t begin, size_t end,
				      struct fsl_error *err)
{
	const struct round round = {.job = job};
	struct fsl_chapters *chapters = &job->chapters;
	enum fsl_status status = visit_together(&round, begin, end, count_ahead, err);
	size_t n_before = 0;
	for (size_t k = 0; k < end; k++) {
		chapters->items[k].n_before = k < begin ? chapters->items[k].n_before : n_before;
		n_before += chapters->items[k].n_steps;
	}
	return status;
}

/* Most likely wrong, too, and the one to be told: the next behind one in which something is. */
static bool is_likely_told(const struct fsl_chapters *chapters, size_t k, size_t n_known)
{
	return k > 0 && k == n_known && k + 2 == chapters->n_items &&
	       !fsl_verdict_is_quiet(chapters->items[k - 1].verdict.kind);
}

static enum fsl_status judge_one(const struct round *round, size_t k, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &round->job->chapters;
	return judge_closed(&chapters->items[k], round->job, round->config,
			    !is_likely_told(chapters, k, round->n_known), err);
}

/* Chapters from @n_judged on that were numbered wrongly, because the steps of those before came
 * from other sources than theirs. */
static enum fsl_status renumber(struct fsl_job *job, const struct fsl_config *config,
				size_t n_judged, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	enum fsl_status status = FSL_OK;
	job->n_steps_before = 0;
	for (size_t k = 0; k + 1 < chapters->n_items && status == FSL_OK; k++) {
		struct fsl_judged_chapter *chapter = &chapters->items[k];
		bool is_wrong = chapter->is_ordinal && chapter->n_before != job->n_steps_before;
		if (k >= n_judged && is_wrong) {
			chapter->n_before = job->n_steps_before;
			status = judge_closed(chapter, job, config, chapter->is_brief, err);
		}
		job->n_steps_before += chapter->n_steps;
	}
	return status;
}

const struct fsl_judged_chapter *fsl_chapters_newest_wrong(const struct fsl_chapters *chapters,
							   size_t n)
{
	while (n > 0 && fsl_verdict_is_quiet(chapters->items[n - 1].verdict.kind)) {
		n--;
	}
	return n > 0 ? &chapters->items[n - 1] : NULL;
}

/*
 * In full what may be told, now or by a later run: of the chapters that are over the newest in
 * which something was wrong. The next run may judge the last of them again, so that one more is
 * kept in full.
 */
static enum fsl_status complete(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t n_past = chapters->n_items - 1, wanted[2] = {0}, n_wanted = 0;
	struct fault fault = {0};
	for (size_t n = n_past - 1; n <= n_past; n++) {
		const struct fsl_judged_chapter *wrong = fsl_chapters_newest_wrong(chapters, n);
		size_t k = wrong != NULL ? (size_t)(wrong - chapters->items) : 0;
		if (wrong != NULL && wrong->is_brief && (n_wanted == 0 || wanted[0] != k)) {
			wanted[n_wanted++] = k;
		}
	}
#pragma omp parallel for schedule(static, 1)
	for (size_t i = 0; i < n_wanted; i++) {
		struct fsl_error error = {0};
		note_fault(&fault,
			   judge_closed(&chapters->items[wanted[i]], job, config, false, &error),
			   &error);
	}
	return pass_on(&fault, err);
}

/* True for chapters that were not chosen by their steps. */
static bool are_longest(const struct fsl_job *job, const struct fsl_config *config)
{
	return job->chapters.rule.length_ns == fsl_job_chapter_rule(config).length_ns;
}

enum fsl_status fsl_chapters_judge_past(struct fsl_job *job, const struct fsl_config *config,
					size_t n_known, bool *is_short, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t n_past = chapters->n_items - 1, n_judged = n_known;
	enum fsl_status status = FSL_OK;
	*is_short = false;
	if (n_past == 0) {
		return FSL_OK;
	}
	if (n_known == 0 && are_longest(job, config)) {
		status = judge_closed(&chapters->items[0], job, config, true, err);
		*is_short = status == FSL_OK && chapters->items[0].n_steps < FSL_CHAPTER_STEPS_MIN;
		n_judged = 1;
	}
	if (status != FSL_OK || *is_short) {
		return status;
	}
	bool is_ordinal =
		n_judged > 0 ? chapters->items[0].is_ordinal : chapters->step_hint.n_ops > 0;
	if (is_ordinal) {
		status = count_together(job, n_judged, n_past, err);
	}
	if (status == FSL_OK) {
		const struct round round = {job, config, n_judged};
		status = visit_together(&round, n_judged, n_past, judge_one, err);
	}
	if (status == FSL_OK) {
		status = renumber(job, config, n_judged, err);
	}
	return status == FSL_OK ? complete(job, config, err) : status;
}
