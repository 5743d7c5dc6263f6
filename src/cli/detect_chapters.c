/* Judges a long capture chapter by chapter, and tells one verdict of them all. */
#include "cli/detect_chapters.h"

#include "base/log.h"
#include "base/number.h"
#include "blame/fuse.h"
#include "series/verdict_pack.h"

/* Where the first chapter has fewer steps, the job's steps are too long for chapters. */
enum { FIRST_STEPS_MIN = 64 };
/* Where there would be more chapters, a clock was not set, or chapters are far too short. */
enum { CHAPTERS_MAX = 1 << 15 };

void fsl_chapters_fini(struct fsl_chapters *chapters)
{
	for (size_t k = 0; k < chapters->n_items; k++) {
		fsl_localisation_fini(&chapters->items[k].verdict);
		fsl_pack_fini(&chapters->items[k].packed);
	}
	fsl_free(chapters->items);
	fsl_arena_fini(&chapters->arena);
	*chapters = (struct fsl_chapters){0};
}

/* Steps that begin in the chapter itself and not in its lead. */
static size_t count_steps(const struct fsl_steps *steps, int64_t begin_ns)
{
	size_t n = 0;
	for (size_t s = 0; s < steps->n_items; s++) {
		n += steps->items[s].begin_ns >= begin_ns;
	}
	return n;
}

/* The verdict as a later run would find it; texts no longer hang on the chapter's run. */
static enum fsl_status note_verdict(struct fsl_judged_chapter *out, const struct fsl_job *part,
				    struct fsl_error *err)
{
	out->n_steps = count_steps(&part->steps, out->time.begin_ns);
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

static enum fsl_status judge_closed(struct fsl_judged_chapter *out, const struct fsl_job *job,
				    const struct fsl_chapter_rule *rule, size_t n_steps_before,
				    const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_config present = *config; /* shallow: the present is its own */
	struct fsl_job *part = fsl_calloc(1, sizeof(*part));
	if (part == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"chapter\"");
	}
	enum fsl_status status = fsl_job_init(part, err);
	fsl_run_fini(&part->run);
	if (status == FSL_OK) {
		status = fsl_chapter_take(&part->run, &job->run, &out->time, rule, err);
	}
	present.now_ns = last_event_ns(&part->run, out->time.end_ns);
	part->begin_ns = out->time.begin_ns;
	part->n_steps_before = n_steps_before;
	if (status == FSL_OK) {
		status = fsl_job_analyse(part, &present, err);
	}
	if (status == FSL_OK) {
		status = note_verdict(out, part, err);
	}
	part->run.files = NULL; /* of the job */
	fsl_job_fini(part);
	fsl_free(part);
	return status;
}

/* Lists the chapters that are still to be judged behind those that are. */
static enum fsl_status list_chapters(struct fsl_chapters *out, struct fsl_error *err)
{
	struct fsl_chapter *items = NULL;
	size_t n_items = 0, n_known = out->n_items;
	enum fsl_status status =
		fsl_chapters_list(&items, &n_items, &out->arena, &out->span, &out->rule, err);
	if (status != FSL_OK) {
		return status;
	}
	struct fsl_judged_chapter *all = fsl_calloc(n_items, sizeof(*all));
	if (all == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu", n_items);
	}
	for (size_t k = 0; k < n_items; k++) {
		if (k < n_known) {
			all[k] = out->items[k];
			continue;
		}
		all[k].time = items[k];
		fsl_localisation_init(&all[k].verdict);
	}
	fsl_free(out->items);
	out->items = all;
	out->n_items = n_items;
	return FSL_OK;
}

/* Chapters that are over and not known yet. *is_short: the first has too few steps to be judged,
 * and so will others. */
static enum fsl_status judge_past(struct fsl_job *job, const struct fsl_config *config,
				  size_t n_known, bool *is_short, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t n_steps = 0;
	enum fsl_status status = FSL_OK;
	*is_short = false;
	for (size_t k = 0; k + 1 < chapters->n_items && !*is_short && status == FSL_OK; k++) {
		if (k >= n_known) {
			status = judge_closed(&chapters->items[k], job, &chapters->rule, n_steps,
					      config, err);
		}
		n_steps += chapters->items[k].n_steps;
		*is_short = n_steps < FIRST_STEPS_MIN;
	}
	job->n_steps_before = n_steps;
	return status;
}

/* The newest chapter, as which the job goes on. */
static enum fsl_status judge_newest(struct fsl_job *job, const struct fsl_config *config,
				    struct fsl_error *err)
{
	const struct fsl_chapters *chapters = &job->chapters;
	const struct fsl_chapter *newest = &chapters->items[chapters->n_items - 1].time;
	enum fsl_status status = fsl_chapter_keep(&job->run, newest, &chapters->rule, err);
	job->begin_ns = newest->begin_ns;
	return status == FSL_OK ? fsl_job_analyse(job, config, err) : status;
}

/* The newest chapter in which something was wrong; the newest of all when nothing was. */
static size_t choose_told(const struct fsl_chapters *chapters)
{
	for (size_t k = chapters->n_items; k-- > 0;) {
		if (!fsl_verdict_is_quiet(chapters->items[k].verdict.kind)) {
			return k;
		}
	}
	return chapters->n_items - 1;
}

/* The same culprit in an earlier chapter, which it did not recover in; NULL: none. */
static const struct fsl_culprit *find_lasting(const struct fsl_localisation *verdict,
					      const struct fsl_culprit *culprit)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit *earlier = &verdict->culprits[i];
		if (earlier->rank == culprit->rank && earlier->peer == culprit->peer &&
		    earlier->cause == culprit->cause && earlier->until_step < 0) {
			return earlier;
		}
	}
	return NULL;
}

/* What goes on since an earlier chapter began there. */
static void carry_onsets(struct fsl_localisation *out, const struct fsl_chapters *chapters,
			 size_t told)
{
	for (size_t i = 0; i < out->n_culprits; i++) {
		struct fsl_culprit *culprit = &out->culprits[i];
		for (size_t k = told; k-- > 0;) {
			const struct fsl_culprit *earlier =
				find_lasting(&chapters->items[k].verdict, culprit);
			if (earlier == NULL) {
				break;
			}
			culprit->onset_step = earlier->onset_step;
			culprit->onset_ns = earlier->onset_ns;
		}
		bool is_earlier =
			culprit->onset_ns != FSL_NS_ABSENT &&
			(out->fault_ns == FSL_NS_ABSENT || culprit->onset_ns < out->fault_ns);
		out->fault_ns = is_earlier ? culprit->onset_ns : out->fault_ns;
	}
}

/* Beside the told verdict, what every chapter said. */
static enum fsl_status list_notes(struct fsl_localisation *out, const struct fsl_chapters *chapters,
				  size_t told, struct fsl_error *err)
{
	size_t n = chapters->n_items;
	out->chapters = fsl_arena_alloc(&out->arena, n * sizeof(*out->chapters));
	if (out->chapters == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu", n);
	}
	out->n_chapters = n;
	for (size_t k = 0; k < n; k++) {
		const struct fsl_judged_chapter *chapter = &chapters->items[k];
		const struct fsl_localisation *verdict = k == told ? out : &chapter->verdict;
		out->chapters[k] = (struct fsl_chapter_note){
			.begin_ns = k == 0 ? chapters->span.begin_ns : chapter->time.begin_ns,
			.end_ns = k + 1 == n ? chapters->span.end_ns : chapter->time.end_ns,
			.n_steps = chapter->n_steps,
			.kind = verdict->kind,
			.step_ms = verdict->step_ms,
			.slowdown = verdict->slowdown,
			.lost_ms_per_step = verdict->lost_ms_per_step,
			.culprits = verdict->culprits,
			.n_culprits = verdict->n_culprits,
			.is_told = k == told,
		};
	}
	return FSL_OK;
}

static void swap_verdicts(struct fsl_localisation *a, struct fsl_localisation *b)
{
	struct fsl_localisation kept = *a;
	*a = *b;
	*b = kept;
}

/* One verdict: that of a chapter, with what the others add. */
static enum fsl_status conclude(struct fsl_job *job, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t last = chapters->n_items - 1;
	struct fsl_judged_chapter *newest = &chapters->items[last];
	newest->n_steps = count_steps(&job->steps, newest->time.begin_ns);
	swap_verdicts(&job->localisation, &newest->verdict);
	size_t told = choose_told(chapters);
	swap_verdicts(&job->localisation, &chapters->items[told].verdict);
	carry_onsets(&job->localisation, chapters, told);
	fsl_coverage_count_files(&job->localisation.coverage, &job->run);
	fsl_log(FSL_LOG_INFO, "chapters", "judged in chapters: chapters=%zu, told=%zu",
		chapters->n_items, told + 1);
	return list_notes(&job->localisation, chapters, told, err);
}

struct fsl_chapter_rule fsl_job_chapter_rule(const struct fsl_config *config)
{
	bool is_whole = config->algorithm == FSL_ALGORITHM_SYSTRACE;
	return fsl_chapter_rule_of(is_whole ? 0.0 : config->chapter_hours);
}

static enum fsl_status cut(struct fsl_job *job, const struct fsl_config *config,
			   struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	struct fsl_span span;
	bool is_known = chapters->n_items > 0;
	chapters->rule = fsl_job_chapter_rule(config);
	enum fsl_status status = fsl_run_span(&span, &job->run, &chapters->rule, err);
	if (status != FSL_OK) {
		return status;
	}
	chapters->span.begin_ns = is_known ? chapters->span.begin_ns : span.begin_ns;
	chapters->span.end_ns = span.end_ns;
	int64_t length_ns = chapters->rule.length_ns;
	bool is_endless = length_ns > 0 && span.begin_ns != FSL_NS_ABSENT &&
			  (span.end_ns - span.begin_ns) / length_ns > CHAPTERS_MAX;
	chapters->span.is_torn = !is_known && (span.is_torn || is_endless);
	return list_chapters(chapters, err);
}

enum fsl_status fsl_job_judge(struct fsl_job *job, const struct fsl_config *config,
			      struct fsl_error *err)
{
	bool is_short = false;
	size_t n_known = job->chapters.n_items;
	enum fsl_status status = cut(job, config, err);
	if (status == FSL_OK) {
		status = judge_past(job, config, n_known, &is_short, err);
	}
	if (status == FSL_OK && (is_short || job->chapters.n_items == 1)) {
		fsl_chapters_fini(&job->chapters);
		job->n_steps_before = 0;
		return fsl_job_analyse(job, config, err);
	}
	if (status == FSL_OK) {
		status = judge_newest(job, config, err);
	}
	return status == FSL_OK ? conclude(job, err) : status;
}
