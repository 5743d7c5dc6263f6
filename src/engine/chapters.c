/* Judges a long capture chapter by chapter, and tells one verdict of them all. */
#include "engine/chapters_parts.h"

#include <math.h>

#include "base/log.h"
#include "base/number.h"
#include "blame/fuse.h"
#include "detect/perceive.h"
#include "engine/recall.h"

/* With more chapters than this, a clock was not set, or chapters are far too short. */
enum { CHAPTERS_MAX = 1 << 15 };

void fsl_chapter_fini(struct fsl_judged_chapter *chapter)
{
	fsl_localisation_fini(&chapter->verdict);
	fsl_progress_fini(&chapter->progress);
	fsl_singles_fini(&chapter->singles);
	fsl_pack_fini(&chapter->packed);
	fsl_pack_fini(&chapter->matrices);
}

void fsl_chapter_let_go(struct fsl_judged_chapter *chapter)
{
	if (chapter->held != NULL) {
		fsl_chapter_drop(chapter->held);
		fsl_free(chapter->held);
		chapter->held = NULL;
	}
}

void fsl_chapters_fini(struct fsl_chapters *chapters)
{
	for (size_t k = 0; k < chapters->n_items; k++) {
		fsl_chapter_let_go(&chapters->items[k]);
		fsl_chapter_fini(&chapters->items[k]);
	}
	fsl_free(chapters->items);
	fsl_arena_fini(&chapters->arena);
	*chapters = (struct fsl_chapters){0};
}

size_t fsl_chapter_steps_kept(const struct fsl_config *config)
{
	return (size_t)(config->max_data_queue_steps + config->task_stable_step);
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

/* The newest chapter, as which the job goes on. */
static enum fsl_status judge_newest(struct fsl_job *job, const struct fsl_config *config,
				    struct fsl_error *err)
{
	const struct fsl_config present = fsl_chapter_config(config, config->now_ns);
	const struct fsl_chapters *chapters = &job->chapters;
	const struct fsl_chapter *newest = &chapters->items[chapters->n_items - 1].time;
	fsl_run_measure_ops(&job->run);
	enum fsl_status status = fsl_chapter_keep(&job->run, newest, &chapters->rule, err);
	job->begin_ns = newest->begin_ns;
	return status == FSL_OK ? fsl_job_analyse(job, &present, err) : status;
}

/* The newest chapter in which something was wrong; the newest of all when nothing was. */
static size_t choose_told(const struct fsl_chapters *chapters)
{
	const struct fsl_judged_chapter *wrong =
		fsl_chapters_newest_wrong(chapters, chapters->n_items);
	return wrong != NULL ? (size_t)(wrong - chapters->items) : chapters->n_items - 1;
}

/* The same culprit in an earlier chapter; NULL: none. A fault that comes and goes seems to be over
 * at the end of many chapters. */
static const struct fsl_culprit *find_earlier(const struct fsl_localisation *verdict,
					      const struct fsl_culprit *culprit)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit *earlier = &verdict->culprits[i];
		if (earlier->rank == culprit->rank && earlier->peer == culprit->peer &&
		    earlier->cause == culprit->cause) {
			return earlier;
		}
	}
	return NULL;
}

/* If a culprit was named in the chapters before, too, its fault began in the earliest of them. */
static void carry_onsets(struct fsl_localisation *out, const struct fsl_chapters *chapters,
			 size_t told)
{
	for (size_t i = 0; i < out->n_culprits; i++) {
		struct fsl_culprit *culprit = &out->culprits[i];
		for (size_t k = told; k-- > 0;) {
			const struct fsl_culprit *earlier =
				find_earlier(&chapters->items[k].verdict, culprit);
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

/* A chapter in which all steps are slow does not show by how much they rose. The last chapter
 * before it in which nothing was wrong shows it. */
static void bound_losses(struct fsl_localisation *told_verdict, struct fsl_chapters *chapters,
			 size_t told)
{
	enum { STEPS_MIN = 8 };
	double before_ms = NAN;
	for (size_t k = 0; k < chapters->n_items; k++) {
		struct fsl_judged_chapter *chapter = &chapters->items[k];
		struct fsl_localisation *verdict = k == told ? told_verdict : &chapter->verdict;
		if (verdict->kind != FSL_VERDICT_NORMAL) {
			fsl_fuse_bound_by_past(verdict, before_ms, chapter->time.begin_ns);
		} else if (chapter->n_steps >= STEPS_MIN && !isnan(verdict->step_ms)) {
			before_ms = verdict->step_ms;
		}
	}
}

/* Adds a note of every chapter to the told verdict. */
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
			.begin_ns = k == 0 ? chapters->begin_ns : chapter->time.begin_ns,
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

/* Forgets the steps of chapters that perception does not look back at, except their ends and their
 * saves. */
static void forget_steps(struct fsl_chapters *chapters, size_t n_steps_max)
{
	size_t n_steps = 0;
	for (size_t k = chapters->n_items - 1; k-- > 0;) {
		struct fsl_progress *progress = &chapters->items[k].progress;
		size_t n = progress->steps.n_items;
		if (n_steps >= n_steps_max) {
			fsl_progress_trim(progress, INT64_MIN, 1);
		}
		n_steps += n;
	}
}

/* A hang has the reason that perception has now. */
static enum fsl_status tell_hang(struct fsl_localisation *out,
				 const struct fsl_perception *perception, struct fsl_error *err)
{
	if (out->kind != FSL_VERDICT_HANG || perception->kind != FSL_VERDICT_HANG) {
		return FSL_OK;
	}
	const char *reason = fsl_arena_strdup(&out->arena, perception->reason);
	if (reason == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
	}
	out->reason = reason;
	return FSL_OK;
}

/* Perception looks back over chapters: when steps got slower is not a matter of one. */
static enum fsl_status perceive_again(struct fsl_job *job, const struct fsl_config *config,
				      struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t n_past = chapters->n_items - 1;
	const struct fsl_progress **past = fsl_calloc(n_past, sizeof(*past));
	if (past == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu", n_past);
	}
	for (size_t k = 0; k < n_past; k++) {
		past[k] = &chapters->items[k].progress;
	}
	struct fsl_judged_chapter *newest = &chapters->items[n_past];
	newest->n_steps = fsl_chapter_count_steps(&job->progress.steps, &newest->time);
	fsl_progress_trim(&job->progress, job->begin_ns, SIZE_MAX);
	enum fsl_status status = fsl_progress_extend(&job->progress, past, n_past,
						     fsl_chapter_steps_kept(config), err);
	fsl_free(past);
	forget_steps(chapters, fsl_chapter_steps_kept(config));
	if (status == FSL_OK) {
		status = fsl_job_perceive_again(job, config, err);
	}
	return status == FSL_OK ? tell_hang(&job->localisation, &job->perception, err) : status;
}

/* True for verdicts that name nobody: the single steps of several such chapters together may name a
 * culprit. */
static bool may_add_up(const struct fsl_localisation *verdict)
{
	return verdict->kind == FSL_VERDICT_NORMAL || verdict->kind == FSL_VERDICT_HOST_PAUSES ||
	       verdict->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE;
}

/* Looks at the single steps of all chapters together. *told becomes the newest chapter if they name
 * a culprit. */
static enum fsl_status tell_singles(size_t *told, struct fsl_job *job,
				    const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t n = chapters->n_items;
	bool is_found = false;
	struct fsl_judged_chapter *newest = &chapters->items[n - 1];
	const struct fsl_case facts = fsl_job_facts(job, config);
	if (!may_add_up(&chapters->items[*told].verdict) || !may_add_up(&newest->verdict)) {
		return FSL_OK;
	}
	const struct fsl_singles **singles = fsl_calloc(n, sizeof(*singles));
	if (singles == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu", n);
	}
	for (size_t k = 0; k < n; k++) {
		singles[k] = &chapters->items[k].singles;
	}
	enum fsl_status status =
		fsl_singles_tell(&newest->verdict, &facts, singles, n, &is_found, err);
	fsl_free(singles);
	*told = is_found ? n - 1 : *told;
	return status;
}

/* Makes one verdict: that of a chapter, with additions from the other chapters. */
static enum fsl_status conclude(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	size_t last = chapters->n_items - 1;
	struct fsl_judged_chapter *newest = &chapters->items[last];
	enum fsl_status status = fsl_chapter_find_singles(newest, job, config, err);
	swap_verdicts(&job->localisation, &newest->verdict);
	size_t told = choose_told(chapters);
	if (status == FSL_OK) {
		status = tell_singles(&told, job, config, err);
	}
	swap_verdicts(&job->localisation, &chapters->items[told].verdict);
	if (status != FSL_OK) {
		return status;
	}
	carry_onsets(&job->localisation, chapters, told);
	bound_losses(&job->localisation, chapters, told);
	fsl_coverage_count_files(&job->localisation.coverage, &job->run);
	fsl_log(FSL_LOG_INFO, "chapters", "judged in chapters: chapters=%zu, told=%zu",
		chapters->n_items, told + 1);
	return list_notes(&job->localisation, chapters, told, err);
}

/* Files go on behind the end of a time range, and with them their last events. */
static void end_with_range(struct fsl_span *span, int64_t until_ns)
{
	if (span->end_ns != FSL_NS_ABSENT && span->end_ns > until_ns) {
		span->end_ns = until_ns;
		span->begin_ns = span->begin_ns < until_ns ? span->begin_ns : until_ns;
	}
}

/* Ranks with files. Before the files are read, their names tell that: at least as many as there
 * are.
 */
static size_t count_ranks(const struct fsl_job *job)
{
	const struct fsl_feed *feed = job->feed;
	size_t n = 0;
	for (size_t i = 0; feed != NULL && i < feed->inputs.n_items; i++) {
		const struct fsl_file_name *name = &feed->inputs.items[i].told;
		n += name->kind == FSL_NAME_MARKERS && name->rank_state == FSL_NAME_HAS_RANK;
	}
	return feed != NULL ? n : fsl_ranks_seen(&job->run);
}

/* Clears the ranks of earlier runs if the files are of another start of the job, or show as many.
 */
static void weigh_seen_ranks(struct fsl_config *config, const struct fsl_job *job,
			     const struct fsl_span *span)
{
	if (count_ranks(job) >= config->seen_ranks.n ||
	    !fsl_seen_ranks_hold(&config->seen_ranks, span->begin_ns, span->end_ns,
				 config->hang_forget_hours)) {
		config->seen_ranks = (struct fsl_seen_ranks){0};
		return;
	}
	fsl_log(FSL_LOG_INFO, "detect", "an earlier run saw more ranks of the job: ranks=%zu",
		config->seen_ranks.n);
}

/* *n_known: chapters that need not be judged again. */
static enum fsl_status cut(struct fsl_job *job, struct fsl_config *config, size_t *n_known,
			   struct fsl_error *err)
{
	struct fsl_chapters *chapters = &job->chapters;
	struct fsl_span span;
	struct fsl_chapter_rule longest = fsl_job_chapter_rule(config);
	enum fsl_status status = job->feed != NULL ? fsl_feed_span(job->feed, &span, &longest, err)
						   : fsl_run_span(&span, &job->run, &longest, err);
	end_with_range(&span, job->until_ns);
	if (status == FSL_OK) {
		weigh_seen_ranks(config, job, &span);
	}
	if (status == FSL_OK && job->feed != NULL) {
		fsl_recall_load(job, config, &span);
	}
	bool is_known = chapters->n_items > 0;
	if (status == FSL_OK && !is_known) {
		status = fsl_chapters_choose_rule(job, config, &span, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	job->run.step_hint = chapters->step_hint;
	int64_t known_ns = is_known ? chapters->items[chapters->n_items - 1].time.end_ns : 0;
	chapters->span.begin_ns = is_known ? chapters->span.begin_ns : span.begin_ns;
	chapters->begin_ns = is_known ? chapters->begin_ns : span.begin_ns;
	chapters->span.end_ns = span.end_ns;
	int64_t length_ns = chapters->rule.length_ns;
	bool is_endless = length_ns > 0 && span.begin_ns != FSL_NS_ABSENT &&
			  (span.end_ns - span.begin_ns) / length_ns > CHAPTERS_MAX;
	chapters->span.is_torn = !is_known && (span.is_torn || is_endless);
	*n_known = chapters->n_items;
	status = list_chapters(chapters, err);
	if (status == FSL_OK && job->feed != NULL && chapters->n_items > 1) {
		status = fsl_feed_begin(job->feed, &chapters->rule, chapters->items[0].time.end_ns,
					chapters->n_items, is_known ? known_ns : INT64_MIN, err);
	}
	return status;
}

/* Reads the rest of the files. Only then the length of the capture is known. */
static enum fsl_status read_rest(struct fsl_job *job, const struct fsl_config *config,
				 struct fsl_error *err)
{
	struct fsl_span span;
	struct fsl_chapter_rule longest = fsl_job_chapter_rule(config);
	if (job->feed == NULL) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_feed_until(job->feed, &job->run, INT64_MAX, err);
	if (status == FSL_OK) {
		status = fsl_run_span(&span, &job->run, &longest, err);
	}
	if (status == FSL_OK) {
		job->chapters.span.end_ns = span.end_ns;
	}
	return status;
}

enum fsl_status fsl_job_judge(struct fsl_job *job, const struct fsl_config *config,
			      struct fsl_error *err)
{
	struct fsl_config here = *config; /* a shallow copy, which owns nothing */
	bool is_short = false;
	size_t n_known = 0;
	enum fsl_status status = cut(job, &here, &n_known, err);
	if (status == FSL_OK) {
		status = fsl_chapters_judge_past(job, &here, n_known, &is_short, err);
	}
	if (status == FSL_OK) {
		status = read_rest(job, &here, err);
	}
	if (status == FSL_OK && (is_short || job->chapters.n_items == 1)) {
		fsl_chapters_fini(&job->chapters);
		job->n_steps_before = 0;
		return fsl_job_analyse(job, &here, err);
	}
	if (status == FSL_OK) {
		status = judge_newest(job, &here, err);
	}
	if (status == FSL_OK) {
		status = perceive_again(job, &here, err);
	}
	if (status == FSL_OK) {
		status = conclude(job, &here, err);
	}
	if (status == FSL_OK && job->feed != NULL) {
		fsl_recall_save(job, &here);
	}
	return status;
}
