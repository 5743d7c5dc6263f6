/* Judges the chapters that are over, several at a time. */
#include <omp.h>

#include "base/log.h"
#include "base/number.h"
#include "engine/chapters_parts.h"
#include "model/matrices.h"
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

/* Drops the words and the evidence of a chapter that is not told: only who and how much is
 * needed. */
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

/* Keeps the verdict as a later run would read it, so that it borrows nothing from the chapter's
 * run. */
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

/* The time at which a chapter that is over is judged is its last event. The job went on behind it,
 * so a silence up to its end is no hang. */
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

/* Makes a job for the chapter from the part of the run that was held for it, else from the run. */
static struct fsl_job *part_for(struct fsl_judged_chapter *chapter, const struct fsl_job *job,
				struct fsl_error *err)
{
	struct fsl_job *part = chapter->held == NULL ? NULL : fsl_calloc(1, sizeof(*part));
	if (chapter->held == NULL) {
		return take_part(job, &chapter->time, &job->chapters.rule, err);
	}
	if (part == NULL || fsl_job_init(part, err) != FSL_OK) {
		fsl_free(part);
		(void)FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"chapter\"");
		return NULL;
	}
	fsl_run_fini(&part->run);
	part->begin_ns = chapter->time.begin_ns;
	part->run = *chapter->held;
	fsl_free(chapter->held);
	chapter->held = NULL;
	return part;
}

/* Keeps the matrices from which the chapter is drawn. */
static enum fsl_status note_matrices(struct fsl_judged_chapter *out, const struct fsl_job *part,
				     size_t n_chapters, struct fsl_error *err)
{
	struct fsl_matrices matrices;
	const struct fsl_blame *blame = &part->blame;
	const struct fsl_steps *steps = &part->steps;
	size_t n = blame->n_ranks * blame->n_steps, n_columns = FSL_MATRIX_COLUMNS_MAX / n_chapters;
	if (n == 0 || blame->n_steps != steps->n_items || blame->n_ranks != part->run.n_ranks) {
		return FSL_OK;
	}
	int64_t begin_ns =
		out->time.begin_ns != INT64_MIN ? out->time.begin_ns : steps->items[0].begin_ns;
	enum fsl_status status =
		fsl_matrices_init(&matrices, blame->n_ranks, n_columns > 0 ? n_columns : 1,
				  begin_ns, out->time.end_ns, err);
	double *loss_ms = fsl_calloc(n, sizeof(*loss_ms));
	if (status == FSL_OK && loss_ms == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"matrices\"");
	}
	for (size_t i = 0; status == FSL_OK && i < n; i++) {
		loss_ms[i] = blame->own_ms[i] - blame->reference_ms[i];
	}
	for (size_t r = 0; status == FSL_OK && r < blame->n_ranks; r++) {
		matrices.ranks[r] = part->run.ranks[r].rank;
	}
	if (status == FSL_OK) {
		fsl_matrices_fill(&matrices, FSL_MATRIX_OWN, blame->own_ms, steps);
		fsl_matrices_fill(&matrices, FSL_MATRIX_LATE, blame->late_ms, steps);
		fsl_matrices_fill(&matrices, FSL_MATRIX_LOSS, loss_ms, steps);
		fsl_matrices_pack(&matrices, &out->matrices);
		status = !out->matrices.is_failed ? FSL_OK
						  : FSL_FAIL(err, FSL_ERR_MEMORY,
							     "out of memory: what=\"matrices\"");
	}
	fsl_free(loss_ms);
	fsl_matrices_fini(&matrices);
	return status;
}

static enum fsl_status judge_closed(struct fsl_judged_chapter *out, const struct fsl_job *job,
				    const struct fsl_config *config, bool is_brief,
				    struct fsl_error *err)
{
	struct fsl_job *part = part_for(out, job, err);
	if (part == NULL) {
		return FSL_ERR_MEMORY;
	}
	fsl_chapter_fini(out); /* where it was judged before */
	out->is_known = false;
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
	if (status == FSL_OK && job->feed != NULL) {
		status = note_matrices(out, part, job->chapters.n_items, err);
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

/* Work on several chapters, each on a thread. */
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

/* Steps without numbers of their own are counted on: counts the steps of chapters [@begin,
 * @end). */
static enum fsl_status count_together(const struct round *round, size_t begin, size_t end,
				      struct fsl_error *err)
{
	struct fsl_chapters *chapters = &round->job->chapters;
	enum fsl_status status = visit_together(round, begin, end, count_ahead, err);
	size_t n_before = round->job->n_steps_before;
	for (size_t k = begin; k < end; k++) {
		chapters->items[k].n_before = n_before;
		n_before += chapters->items[k].n_steps;
	}
	return status;
}

/* True for the last chapter that is over if something was wrong in the one before it: most likely
 * something is wrong in it, too, and it will be told. */
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

/* Judges again the chapters of [@begin, @end) whose steps were numbered wrongly, because the steps
 * of earlier chapters came from another source. */
static enum fsl_status renumber(const struct round *round, size_t begin, size_t end,
				struct fsl_error *err)
{
	struct fsl_job *job = round->job;
	enum fsl_status status = FSL_OK;
	for (size_t k = begin; k < end && status == FSL_OK; k++) {
		struct fsl_judged_chapter *chapter = &job->chapters.items[k];
		if (chapter->is_ordinal && chapter->n_before != job->n_steps_before) {
			chapter->n_before = job->n_steps_before;
			status = judge_closed(chapter, job, round->config, chapter->is_brief, err);
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
 * Judges in full the chapters that this run or a later one may tell: of the chapters that are over,
 * the newest in which something was wrong. The next run may judge the last chapter again, so one
 * more is kept in full.
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
		bool is_there = wrong != NULL && (job->feed == NULL || wrong->held != NULL);
		if (is_there && wrong->is_brief && (n_wanted == 0 || wanted[0] != k)) {
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

/* True if the chapters have the longest length: then they were not chosen by their steps. */
static bool are_longest(const struct fsl_job *job, const struct fsl_config *config)
{
	return job->chapters.rule.length_ns == fsl_job_chapter_rule(config).length_ns;
}

/* The run forgets a chapter before it is known which chapter will be told. So the parts of the run
 * are held for the two newest chapters before @end in which something was wrong. */
static enum fsl_status hold_wrong(struct fsl_job *job, size_t end, struct fsl_error *err)
{
	enum { HELD = 2 };
	struct fsl_chapters *chapters = &job->chapters;
	enum fsl_status status = FSL_OK;
	size_t n_wrong = 0;
	for (size_t k = end; k-- > 0 && status == FSL_OK;) {
		struct fsl_judged_chapter *chapter = &chapters->items[k];
		bool is_wrong = !fsl_verdict_is_quiet(chapter->verdict.kind);
		n_wrong += is_wrong;
		if (is_wrong && n_wrong > HELD) {
			fsl_chapter_let_go(chapter);
			continue;
		}
		if (!is_wrong || !chapter->is_brief || chapter->held != NULL) {
			continue;
		}
		struct fsl_run *held = fsl_calloc(1, sizeof(*held));
		status = held != NULL
				 ? fsl_chapter_take(held, &job->run, &chapter->time,
						    &chapters->rule, err)
				 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"chapter\"");
		chapter->held = status == FSL_OK ? held : NULL;
		if (status != FSL_OK) {
			fsl_free(held);
		}
	}
	return status;
}

/* Chapters [@begin, @end), whose operators the run has. */
static enum fsl_status judge_group(const struct round *round, size_t begin, size_t end,
				   struct fsl_error *err)
{
	struct fsl_job *job = round->job;
	struct fsl_chapters *chapters = &job->chapters;
	enum fsl_status status = FSL_OK;
	bool is_ordinal = begin > 0 ? chapters->items[0].is_ordinal : chapters->step_hint.n_ops > 0;
	if (is_ordinal) {
		status = count_together(round, begin, end, err);
	}
	if (status == FSL_OK) {
		status = visit_together(round, begin, end, judge_one, err);
	}
	return status == FSL_OK ? renumber(round, begin, end, err) : status;
}

/* How many chapters are read and judged together: one for each thread, and some more where they
 * are small, as each of many files has to be opened again for each group. */
static size_t group_size(const struct fsl_job *job)
{
	enum { GROUP_BYTES = 40 << 20, MOST = 16 };
	size_t n_threads = (size_t)omp_get_max_threads(), n_items = job->chapters.n_items;
	if (job->feed == NULL) {
		return n_items;
	}
	size_t n = (size_t)(GROUP_BYTES / (job->feed->n_bytes / n_items + 1));
	n = n < MOST ? n : MOST;
	return n > n_threads ? n : n_threads;
}

/* Finds the begin of the capture from all events of its first chapter. */
static enum fsl_status note_begin(struct fsl_job *job, struct fsl_error *err)
{
	struct fsl_span span;
	enum fsl_status status = fsl_run_span(&span, &job->run, &job->chapters.rule, err);
	if (status == FSL_OK && span.begin_ns != FSL_NS_ABSENT) {
		job->chapters.begin_ns = span.begin_ns;
	}
	return status;
}

/* Reads the chapters up to @end, if they are not there yet. */
static enum fsl_status feed(struct fsl_job *job, size_t end, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	enum fsl_status status = FSL_OK;
	if (job->feed != NULL) {
		status = fsl_feed_until(job->feed, &job->run, chapters->items[end - 1].time.end_ns,
					err);
	}
	if (status == FSL_OK && job->feed != NULL && !chapters->items[0].is_known &&
	    chapters->items[0].n_ops == 0) {
		status = note_begin(job, err);
	}
	fsl_run_measure_ops(&job->run);
	return status;
}

/* Forgets the part of the run that the chapters from @begin on do not need. */
static enum fsl_status release(struct fsl_job *job, size_t begin, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	const struct fsl_chapters *chapters = &job->chapters;
	if (job->feed != NULL) {
		status = hold_wrong(job, begin, err);
		fsl_run_forget(&job->run,
			       chapters->items[begin].time.begin_ns - chapters->rule.lead_ns);
	}
	return status;
}

/* Judges the first chapter. If it has too few steps, the others have too few, too. */
static enum fsl_status judge_first(const struct round *round, bool *is_short, struct fsl_error *err)
{
	struct fsl_job *job = round->job;
	struct fsl_judged_chapter *first = &job->chapters.items[0];
	enum fsl_status status = feed(job, 1, err);
	if (status == FSL_OK) {
		status = judge_closed(first, job, round->config, true, err);
	}
	*is_short = status == FSL_OK && first->n_steps < FSL_CHAPTER_STEPS_MIN;
	job->n_steps_before = first->n_steps;
	return status == FSL_OK && !*is_short ? release(job, 1, err) : status;
}

enum fsl_status fsl_chapters_judge_past(struct fsl_job *job, const struct fsl_config *config,
					size_t n_known, bool *is_short, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t n_past = chapters->n_items - 1, begin = n_known;
	struct round round = {job, config, n_known};
	enum fsl_status status = FSL_OK;
	*is_short = false;
	if (n_past == 0) {
		return FSL_OK;
	}
	for (size_t k = 0; k < n_known; k++) {
		job->n_steps_before += chapters->items[k].n_steps;
	}
	if (n_known == 0 && are_longest(job, config)) {
		status = judge_first(&round, is_short, err);
		begin = round.n_known = 1;
	}
	for (size_t n = group_size(job); status == FSL_OK && !*is_short && begin < n_past;) {
		size_t end = n < n_past - begin ? begin + n : n_past;
		status = feed(job, end, err);
		if (status == FSL_OK) {
			status = judge_group(&round, begin, end, err);
		}
		if (status == FSL_OK) {
			status = release(job, end, err);
		}
		begin = end;
	}
	return status == FSL_OK && !*is_short ? complete(job, config, err) : status;
}
