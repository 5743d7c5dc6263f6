/* Sums the time of a job up. Costs are those that the engine found; nothing is judged here. */
#include "account/account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "account/limits.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "model/steps.h"

static const struct {
	const char *text;
	bool is_lost;
} parts[FSL_SPENTS_N] = {
	[FSL_SPENT_HANG] = {"hang", true},
	[FSL_SPENT_RESTART] = {"restart", true},
	[FSL_SPENT_GAP] = {"gap", true},
	[FSL_SPENT_CHECKPOINT] = {"checkpoint", false},
	[FSL_SPENT_EVALUATION] = {"evaluation", false},
	[FSL_SPENT_WARM_UP] = {"warm_up", false},
	[FSL_SPENT_SLOW_RANK] = {"slow_rank", true},
	[FSL_SPENT_SLOW_HOST] = {"slow_host", true},
	[FSL_SPENT_SLOW_LINK] = {"slow_link", true},
	[FSL_SPENT_STALLS] = {"stalls", true},
	[FSL_SPENT_HOST_PAUSES] = {"host_pauses", true},
	[FSL_SPENT_STAGE_IMBALANCE] = {"stage_imbalance", true},
	[FSL_SPENT_WORK_IMBALANCE] = {"work_imbalance", true},
	[FSL_SPENT_JOB_SLOWDOWN] = {"job_slowdown", true},
	[FSL_SPENT_PRODUCTIVE] = {"productive", false},
	[FSL_SPENT_COMPUTING] = {"computing", false},
	[FSL_SPENT_EXPOSED] = {"exposedCommunication", false},
	[FSL_SPENT_EXPOSED_MEMORY] = {"exposedMemory", false},
	[FSL_SPENT_FREE] = {"free", false},
	[FSL_SPENT_NOT_OBSERVED] = {"notObserved", false},
};

const char *fsl_spent_text(enum fsl_spent part)
{
	return parts[part].text;
}

bool fsl_spent_is_lost(enum fsl_spent part)
{
	return parts[part].is_lost;
}

/* The part of what a verdict of this kind costs; FSL_SPENTS_N: it costs nothing by itself. */
static enum fsl_spent part_of(enum fsl_verdict_kind kind)
{
	switch (kind) {
	case FSL_VERDICT_SLOW_RANK:
		return FSL_SPENT_SLOW_RANK;
	case FSL_VERDICT_SLOW_HOST:
		return FSL_SPENT_SLOW_HOST;
	case FSL_VERDICT_SLOW_LINK:
		return FSL_SPENT_SLOW_LINK;
	case FSL_VERDICT_STAGE_IMBALANCE:
		return FSL_SPENT_STAGE_IMBALANCE;
	case FSL_VERDICT_WORK_IMBALANCE:
		return FSL_SPENT_WORK_IMBALANCE;
	case FSL_VERDICT_HOST_PAUSES:
		return FSL_SPENT_HOST_PAUSES;
	case FSL_VERDICT_JOB_SLOWDOWN:
		return FSL_SPENT_JOB_SLOWDOWN;
	case FSL_VERDICT_STALLS: /* perception tells them */
	case FSL_VERDICT_NORMAL:
	case FSL_VERDICT_HANG:
	case FSL_VERDICT_INSUFFICIENT_EVIDENCE:
	case FSL_VERDICT_HOST_BOUND:
	case FSL_VERDICT_COMPUTE_BOUND:
	case FSL_VERDICT_COMMUNICATION_BOUND:
	case FSL_VERDICTS_N:
		break;
	}
	return FSL_SPENTS_N;
}

/* @ms of each of @n steps; 0 if unknown or nonsense. */
static int64_t ns_of(double ms, double n)
{
	double ns = ms * n * FSL_NS_PER_MS;
	return ns > 0.0 && ns < (double)(INT64_MAX / 4) ? llround(ns) : 0;
}

static void widen(struct fsl_account *out, int64_t begin_ns, int64_t end_ns)
{
	if (begin_ns == FSL_NS_ABSENT || end_ns == FSL_NS_ABSENT || end_ns < begin_ns) {
		return;
	}
	out->from_ns =
		out->from_ns == FSL_NS_ABSENT || begin_ns < out->from_ns ? begin_ns : out->from_ns;
	out->to_ns = end_ns > out->to_ns ? end_ns : out->to_ns;
}

/* Adds an occasion; parts that are measured from the steps are not summed up here. Every occasion
 * counts in its part, if there is room for it in the list or not. */
static void add_loss(struct fsl_account *out, const struct fsl_loss *loss)
{
	if (loss->part >= FSL_SPENTS_N) {
		return;
	}
	if (loss->part >= FSL_SPENT_CHECKPOINT) {
		out->ns[loss->part] = fsl_sum_i64(out->ns[loss->part], loss->ns);
		out->n_times[loss->part] += loss->stall != NULL ? loss->stall->n_times : 1;
	}
	if (out->n_losses < FSL_LOSSES_MAX) {
		out->losses[out->n_losses++] = *loss;
	}
}

static struct fsl_loss loss_of(enum fsl_spent part, int64_t ns)
{
	return (struct fsl_loss){.part = part,
				 .ns = ns,
				 .since_step = -1,
				 .until_step = -1,
				 .since_ns = FSL_NS_ABSENT,
				 .until_ns = FSL_NS_ABSENT};
}

/* Number of steps in [since, until); -1: from the first, to the last. */
static size_t count_steps(const struct fsl_outcome *job, int64_t since, int64_t until)
{
	const struct fsl_steps *steps = job->steps;
	size_t n = 0;
	if (steps == NULL || steps->n_items == 0) {
		return job->localisation->coverage.n_steps;
	}
	for (size_t s = 0; s < steps->n_items; s++) {
		int64_t step = steps->items[s].step;
		n += step >= since && (until < 0 || step < until);
	}
	return n;
}

int64_t fsl_account_step_begin(const struct fsl_outcome *job, int64_t number)
{
	const struct fsl_steps *steps = job->steps;
	size_t s = steps != NULL && number >= 0 ? fsl_steps_numbered(steps, number) : SIZE_MAX;
	return s != SIZE_MAX ? steps->items[s].begin_ns : FSL_NS_ABSENT;
}

static int64_t left_of(int64_t ns, int64_t taken_ns)
{
	return ns > taken_ns ? ns - taken_ns : 0;
}

/* Time in stalls of steps. */
static int64_t stalled_ns(const struct fsl_perception *perception)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; perception != NULL && i < perception->n_stalls; i++) {
		const struct fsl_stall *stall = &perception->stalls[i];
		sum_ns += stall->phase < FSL_STALL_EVALUATION ? stall->lost_ns : 0;
	}
	return sum_ns;
}

/* The cost of all culprits of the verdict together, from the first onset to the last end. */
static void add_verdict(struct fsl_account *out, const struct fsl_outcome *job)
{
	const struct fsl_localisation *verdict = job->localisation;
	struct fsl_loss loss = loss_of(part_of(verdict->kind), 0);
	if (verdict->kind == FSL_VERDICT_JOB_SLOWDOWN) {
		return; /* perception tells its steps */
	}
	loss.culprits = verdict->culprits;
	loss.n_culprits = verdict->n_culprits;
	loss.since_ns = verdict->fault_ns;
	loss.is_over = verdict->n_culprits > 0;
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		bool is_first = i == 0 || culprit->onset_step < loss.since_step;
		loss.since_step = is_first ? culprit->onset_step : loss.since_step;
		loss.is_over = loss.is_over && culprit->until_step >= 0;
		loss.until_step = culprit->until_step > loss.until_step ? culprit->until_step
									: loss.until_step;
	}
	loss.until_step = loss.is_over ? loss.until_step : -1;
	loss.until_ns = fsl_account_step_begin(job, loss.until_step);
	loss.ns = ns_of(verdict->lost_ms_per_step,
			(double)count_steps(job, loss.since_step, loss.until_step));
	if (verdict->kind == FSL_VERDICT_HOST_PAUSES) { /* those with a period are stalls */
		loss.ns = left_of(loss.ns, stalled_ns(job->perception));
	}
	add_loss(out, &loss);
}

/* The same of each chapter of a long capture. Chapters that follow each other and blame the same
 * ranks are one occasion. */
static void add_chapters(struct fsl_account *out, const struct fsl_localisation *verdict)
{
	struct fsl_loss loss;
	for (size_t k = 0; k < verdict->n_chapters; k++) {
		const struct fsl_chapter_note *chapter = &verdict->chapters[k];
		int64_t ns = ns_of(chapter->lost_ms_per_step, (double)chapter->n_steps);
		bool is_last = k + 1 == verdict->n_chapters;
		if (k > 0 && fsl_chapters_agree(chapter - 1, chapter)) {
			loss.ns = fsl_sum_i64(loss.ns, ns);
		} else {
			loss = loss_of(part_of(chapter->kind), ns);
			loss.since_ns = chapter->begin_ns;
		}
		loss.is_over = !is_last;
		loss.until_ns = is_last ? FSL_NS_ABSENT : chapter->end_ns;
		loss.culprits = chapter->culprits;
		loss.n_culprits = chapter->n_culprits;
		if (is_last || !fsl_chapters_agree(chapter, chapter + 1)) {
			add_loss(out, &loss);
		}
	}
}

/* Steps that rose and that nobody is named for. */
static void add_episodes(struct fsl_account *out, const struct fsl_outcome *job)
{
	const struct fsl_perception *perception = job->perception;
	for (size_t i = 0; i < perception->n_episodes; i++) {
		const struct fsl_step_episode *episode = &perception->episodes[i];
		double more_ms = episode->after_ms - episode->before_ms;
		more_ms *= episode->is_drift ? 0.5 : 1.0; /* the mean of a slope */
		struct fsl_loss loss =
			loss_of(FSL_SPENT_JOB_SLOWDOWN, ns_of(more_ms, (double)episode->n_steps));
		loss.since_step = episode->onset_step;
		loss.since_ns = episode->onset_ns;
		loss.until_step = episode->until_step;
		loss.until_ns = fsl_account_step_begin(job, episode->until_step);
		loss.is_over = episode->until_step >= 0;
		add_loss(out, &loss);
	}
}

/* Returns the time of a restart that lies in steps: markers tell no gap between them. */
static int64_t add_stall(struct fsl_account *out, const struct fsl_stall *stall)
{
	static const enum fsl_spent parts_of[] = {[FSL_STALL_UNKNOWN] = FSL_SPENT_STALLS,
						  [FSL_STALL_LOADING] = FSL_SPENT_STALLS,
						  [FSL_STALL_CHECKPOINT] = FSL_SPENT_STALLS,
						  [FSL_STALL_COLLECTION] = FSL_SPENT_STALLS,
						  [FSL_STALL_EVALUATION] = FSL_SPENT_EVALUATION,
						  [FSL_STALL_WARM_UP] = FSL_SPENT_WARM_UP,
						  [FSL_STALL_GAP] = FSL_SPENT_GAP,
						  [FSL_STALL_RESTART] = FSL_SPENT_RESTART};
	struct fsl_loss loss = loss_of(parts_of[stall->phase], stall->lost_ns);
	loss.since_step = stall->step;
	loss.since_ns = stall->begin_ns;
	loss.until_step = stall->last_step + (stall->phase < FSL_STALL_GAP);
	loss.until_ns = stall->end_ns;
	loss.is_over = true;
	loss.stall = stall;
	add_loss(out, &loss);
	if (stall->phase != FSL_STALL_RESTART) {
		return 0;
	}
	/* counted as a gap before */
	int64_t ns =
		stall->lost_ns < out->ns[FSL_SPENT_GAP] ? stall->lost_ns : out->ns[FSL_SPENT_GAP];
	out->ns[FSL_SPENT_GAP] -= ns;
	out->ns[FSL_SPENT_RESTART] += ns;
	out->n_times[FSL_SPENT_GAP] -= ns > 0 && out->n_times[FSL_SPENT_GAP] > 0;
	out->n_times[FSL_SPENT_RESTART]++;
	return stall->lost_ns - ns;
}

/* Steps from one checkpoint to the next if most are so far apart; else -1. @scratch: 2 * n_items.
 */
static int64_t period_of_saves(const struct fsl_steps *steps, double usual_ns, double *scratch)
{
	int64_t last = -1;
	size_t n = 0, n_alike = 0;
	for (size_t s = 0; s < steps->n_items; s++) {
		if (2.0 * (double)steps->items[s].ckpt_ns >= usual_ns) {
			scratch[n] = (double)(steps->items[s].step - last);
			n += last >= 0;
			last = steps->items[s].step;
		}
	}
	double usual = n > 0 ? fsl_median(scratch, n, scratch + steps->n_items) : 0.0;
	for (size_t i = 0; i < n; i++) {
		n_alike += scratch[i] == usual;
	}
	return n >= FSL_SAVE_DISTANCES_MIN &&
			       (double)n_alike >= FSL_SAVE_DISTANCES_ALIKE_MIN * (double)n
		       ? (int64_t)usual
		       : -1;
}

/* Time in checkpoints at their usual length. */
static int64_t usual_saves_ns(struct fsl_account *out, const struct fsl_steps *steps)
{
	double *scratch = fsl_calloc(2 * steps->n_items + 1, sizeof(*scratch));
	int64_t sum_ns = 0;
	if (scratch == NULL) {
		return 0;
	}
	double usual_ns =
		fsl_steps_usual_save_ns(steps, scratch, &out->n_times[FSL_SPENT_CHECKPOINT]);
	for (size_t s = 0; s < steps->n_items; s++) {
		sum_ns += (int64_t)fmin((double)steps->items[s].ckpt_ns, usual_ns);
	}
	if (usual_ns > 0.0) {
		out->save_every_steps = period_of_saves(steps, usual_ns, scratch);
	}
	fsl_free(scratch);
	return sum_ns;
}

/* Splits the span into time in steps (returned), gaps, hang and what no step holds. */
static int64_t split_span(struct fsl_account *out, const struct fsl_outcome *job,
			  int64_t hang_since_ns)
{
	const struct fsl_steps *steps = job->steps;
	int64_t last_ns = hang_since_ns != FSL_NS_ABSENT ? hang_since_ns : out->to_ns;
	int64_t in_steps_ns = 0, at_ns = out->from_ns;
	out->ns[FSL_SPENT_HANG] = out->to_ns - last_ns;
	if (job->localisation != NULL && job->localisation->n_chapters > 0) {
		return last_ns - out->from_ns; /* the steps of chapters that are over are gone */
	}
	for (size_t s = 0; steps != NULL && s < steps->n_items; s++) {
		int64_t begin_ns = steps->items[s].begin_ns;
		int64_t end_ns = fsl_sum_i64(begin_ns, steps->items[s].dur_ns);
		begin_ns = begin_ns < at_ns ? at_ns : begin_ns > last_ns ? last_ns : begin_ns;
		end_ns = end_ns < begin_ns ? begin_ns : end_ns > last_ns ? last_ns : end_ns;
		begin_ns -= fsl_steps_untold_ns(steps, s);
		begin_ns = begin_ns < at_ns ? at_ns : begin_ns;
		if (s > 0 && begin_ns > at_ns) {
			out->ns[FSL_SPENT_GAP] += begin_ns - at_ns;
			out->n_times[FSL_SPENT_GAP]++;
		}
		in_steps_ns += end_ns - begin_ns;
		at_ns = end_ns;
	}
	return in_steps_ns;
}

static int compare_losses(const void *a, const void *b)
{
	const struct fsl_loss *x = a, *y = b;
	FSL_ORDER_BY(y->ns, x->ns);
	FSL_ORDER_BY(x->since_ns, y->since_ns);
	return FSL_ORDER((int)x->part, (int)y->part);
}

/* Parts claim time in their order, as far as @left_ns goes. */
static void claim_losses(struct fsl_account *out, int64_t *left_ns)
{
	for (int part = FSL_SPENT_CHECKPOINT; part < FSL_SPENT_PRODUCTIVE; part++) {
		out->ns[part] = out->ns[part] < *left_ns ? out->ns[part] : *left_ns;
		*left_ns -= out->ns[part];
	}
}

/* From the first event to the last, or to the present of a job that hangs since *hang_since_ns. */
static void measure_span(struct fsl_account *out, const struct fsl_outcome *job,
			 int64_t *hang_since_ns)
{
	const struct fsl_perception *perception = job->perception;
	const struct fsl_steps *steps = job->steps;
	if (job->localisation != NULL) {
		const struct fsl_coverage *coverage = &job->localisation->coverage;
		widen(out, coverage->begin_ns, coverage->end_ns);
	}
	for (size_t k = 0; job->localisation != NULL && k < job->localisation->n_chapters;
	     k++) { /* the verdict is that of one chapter */
		const struct fsl_chapter_note *chapter = &job->localisation->chapters[k];
		widen(out, chapter->begin_ns, chapter->end_ns);
	}
	if (steps != NULL && steps->n_items > 0) {
		const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
		widen(out, steps->items[0].begin_ns, fsl_sum_i64(last->begin_ns, last->dur_ns));
	}
	if (out->from_ns != FSL_NS_ABSENT && fsl_outcome_kind(job) == FSL_VERDICT_HANG &&
	    perception != NULL && perception->hang_since_ns >= out->from_ns) {
		widen(out, perception->hang_since_ns, job->now_ns);
		*hang_since_ns = perception->hang_since_ns < out->to_ns ? perception->hang_since_ns
									: out->to_ns;
	}
	out->span_ns = out->to_ns - out->from_ns;
}

static void account_for_job(struct fsl_account *out, const struct fsl_outcome *job)
{
	const struct fsl_localisation *verdict = job->localisation;
	const struct fsl_perception *perception = job->perception;
	const struct fsl_steps *steps = job->steps;
	int64_t since_ns = FSL_NS_ABSENT;
	measure_span(out, job, &since_ns);
	if (out->from_ns == FSL_NS_ABSENT) {
		return;
	}
	int64_t left_ns = split_span(out, job, since_ns);
	if (since_ns != FSL_NS_ABSENT) {
		struct fsl_loss hang = loss_of(FSL_SPENT_HANG, out->ns[FSL_SPENT_HANG]);
		hang.since_ns = since_ns;
		out->n_times[FSL_SPENT_HANG] = 1;
		add_loss(out, &hang);
	}
	if (steps != NULL && (verdict == NULL || verdict->n_chapters == 0)) {
		out->ns[FSL_SPENT_CHECKPOINT] = usual_saves_ns(out, steps);
	}
	if (verdict != NULL && verdict->n_chapters > 0) {
		add_chapters(out, verdict);
	} else if (verdict != NULL) {
		add_verdict(out, job);
	}
	for (size_t i = 0; perception != NULL && i < perception->n_stalls; i++) {
		int64_t ns = add_stall(out, &perception->stalls[i]);
		ns = ns < left_ns ? ns : left_ns;
		out->ns[FSL_SPENT_RESTART] += ns;
		left_ns -= ns;
	}
	if (perception != NULL && fsl_outcome_kind(job) == FSL_VERDICT_JOB_SLOWDOWN) {
		add_episodes(out, job);
	}
	claim_losses(out, &left_ns);
	out->ns[FSL_SPENT_PRODUCTIVE] = left_ns;
	out->ns[FSL_SPENT_NOT_OBSERVED] = out->span_ns;
	for (int part = 0; part < FSL_SPENT_NOT_OBSERVED; part++) {
		out->ns[FSL_SPENT_NOT_OBSERVED] -= out->ns[part];
	}
}

/* The steps of a capture. Ranks that wait for one at fault wait in exposed communication, so its
 * cost is taken from there first. */
static void account_for_capture(struct fsl_account *out, const struct fsl_outcome *job)
{
	static const enum fsl_spent made_of[] = {FSL_SPENT_EXPOSED, FSL_SPENT_FREE,
						 FSL_SPENT_EXPOSED_MEMORY, FSL_SPENT_COMPUTING};
	widen(out, job->localisation->coverage.begin_ns, job->localisation->coverage.end_ns);
	fsl_account_sum_capture(out, job->profile);
	add_verdict(out, job);
	int64_t left_ns = out->span_ns;
	claim_losses(out, &left_ns);
	int64_t lost_ns = out->span_ns - left_ns - out->ns[FSL_SPENT_WARM_UP];
	for (size_t i = 0; i < sizeof(made_of) / sizeof(made_of[0]); i++) {
		int64_t *ns = &out->ns[made_of[i]];
		int64_t taken = lost_ns < *ns ? lost_ns : *ns;
		*ns -= taken;
		lost_ns -= taken;
	}
}

void fsl_account_make(struct fsl_account *out, const struct fsl_outcome *job)
{
	int64_t lost_ns = 0;
	*out = (struct fsl_account){.from_ns = FSL_NS_ABSENT,
				    .to_ns = FSL_NS_ABSENT,
				    .save_every_steps = -1,
				    .lost_share = NAN};
	if (job->profile != NULL) {
		account_for_capture(out, job);
	} else {
		account_for_job(out, job);
	}
	for (int part = 0; part < FSL_SPENTS_N; part++) {
		lost_ns += parts[part].is_lost ? out->ns[part] : 0;
	}
	if (out->span_ns > 0) {
		out->lost_share = (double)lost_ns / (double)out->span_ns;
	}
	qsort(out->losses, out->n_losses, sizeof(*out->losses), compare_losses);
}
