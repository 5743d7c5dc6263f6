/* Marks steps that stand out of the steps around them, and asks why they do. */
#include "account/stalls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/limits.h"
#include "account/stalls_parts.h"
#include "base/number.h"
#include "base/sort.h"

enum { STALLS_MAX = 64, ASKED_MAX = 16 };

static void set_usual(struct fsl_stalls_look *look)
{
	const struct fsl_progress *progress = look->progress;
	double *values = look->work;
	look->usual_save_ns = fsl_steps_usual_save_ns(&progress->steps, values, NULL);
	for (size_t i = 0; i < look->n; i++) {
		values[i] = (double)progress->loading_ns[i];
	}
	/* Every second step may load for long. */
	look->usual_loading_ns = fsl_percentile(values, look->n, 25.0, values + look->n);
}

static enum fsl_status prepare(struct fsl_stalls_look *look, struct fsl_error *err)
{
	size_t n = look->n;
	FSL_TRY(FSL_ARENA_NEW(look->step_ms, &look->arena, n, "step_ms", err));
	FSL_TRY(FSL_ARENA_NEW(look->level_ms, &look->arena, n, "level_ms", err));
	FSL_TRY(FSL_ARENA_NEW(look->excess, &look->arena, n, "excess", err));
	FSL_TRY(FSL_ARENA_NEW(look->work, &look->arena, 2 * n, "work", err));
	FSL_TRY(FSL_ARENA_NEW(look->gap_ns, &look->arena, n, "gap_ns", err));
	FSL_TRY(FSL_ARENA_NEW(look->found, &look->arena, 2 * n, "found", err));
	set_usual(look);
	for (size_t i = 0; i < n; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		double save_ns = fmin((double)item->ckpt_ns, look->usual_save_ns);
		look->step_ms[i] = fmax((double)item->dur_ns - save_ns, 1.0) / FSL_NS_PER_MS;
	}
	return FSL_OK;
}

/* Lower quartile of the steps [begin, end); 0 if there are too few of them. */
static double quartile(const struct fsl_stalls_look *look, size_t begin, size_t end)
{
	double scratch[FSL_STALL_WINDOW];
	return end - begin >= FSL_STALL_WINDOW / 4
		       ? fsl_percentile(look->step_ms + begin, end - begin, 25.0, scratch)
		       : 0.0;
}

static void set_levels(struct fsl_stalls_look *look)
{
	double *after_ms = look->excess; /* until the excess takes its place, from the end on */
	for (size_t i = 0; i < look->n; i++) {
		size_t end = look->n - i > FSL_STALL_WINDOW ? i + 1 + FSL_STALL_WINDOW : look->n;
		after_ms[i] = quartile(look, i + 1, end);
	}
	for (size_t i = look->n; i-- > 0;) {
		/* The steps before this one are those after an earlier one. */
		double before_ms = i > FSL_STALL_WINDOW ? after_ms[i - FSL_STALL_WINDOW - 1]
							: quartile(look, 0, i);
		look->level_ms[i] = fmax(before_ms, after_ms[i]);
		look->excess[i] = log(look->step_ms[i] / look->level_ms[i]);
	}
}

/* The excess from which a step stands out. Its noise is that of the faster steps alone, and the
 * steps that do not stand out have to lie close together. */
static double threshold(const struct fsl_stalls_look *look)
{
	double *values = look->work, *scratch = look->work + look->n;
	size_t n = look->n, n_left = 0;
	memcpy(values, look->excess, n * sizeof(*values));
	double low = fsl_percentile(values, n, 5.0, scratch);
	double quarter = fsl_percentile(values, n, 25.0, scratch);
	/* Quantiles of the normal distribution: -1.645 and -0.674. */
	double sigma = (quarter - low) / 0.971;
	double least = log1p(FSL_STALL_SHARE_MIN);
	double first = quarter + 0.674 * sigma + fmax(least, FSL_STALL_SIGMAS * sigma);
	for (size_t i = 0; i < n; i++) {
		if (look->excess[i] <= first) {
			values[n_left++] = look->excess[i];
		}
	}
	double middle = fsl_stalls_median(values, n_left, scratch);
	double tail = fsl_percentile(values, n_left, 95.0, scratch) - middle;
	return fmax(first, middle + fmax(least, FSL_STALL_TAIL * tail));
}

static bool is_in_episode(const struct fsl_perception *perception, int64_t step)
{
	for (size_t i = 0; i < perception->n_episodes; i++) {
		const struct fsl_step_episode *episode = &perception->episodes[i];
		if (step >= episode->onset_step &&
		    (episode->until_step < 0 || step < episode->until_step)) {
			return true;
		}
	}
	return false;
}

static enum fsl_stall_phase phase_of(const struct fsl_stalls_look *look, size_t i, double lost_ns)
{
	const struct fsl_job_step *item = &look->progress->steps.items[i];
	double least_ns = FSL_STALL_EXPLAINED * lost_ns;
	if ((double)look->progress->loading_ns[i] - look->usual_loading_ns >= least_ns) {
		return FSL_STALL_LOADING;
	}
	if ((double)item->ckpt_ns - look->usual_save_ns >= least_ns) {
		return FSL_STALL_CHECKPOINT;
	}
	return (double)item->gc_ns >= least_ns ? FSL_STALL_COLLECTION : FSL_STALL_UNKNOWN;
}

/* A line of a log may stand for several steps, with their mean. */
static double steps_each(const struct fsl_stalls_look *look)
{
	int64_t stride = look->progress->steps.stride;
	return stride > 1 ? (double)stride : 1.0;
}

/* Steps from @first on that get shorter and are longer than those behind them usually are. From
 * here on they are as long as usual: what they took longer tells nothing of the steps around them.
 */
static void find_warm_up(struct fsl_stalls_look *look, size_t first)
{
	const struct fsl_job_step *items = look->progress->steps.items;
	double *ms = look->step_ms, last = INFINITY, scratch[FSL_STALL_WINDOW];
	struct fsl_stall warm = {.phase = FSL_STALL_WARM_UP,
				 .step = items[first].step,
				 .before_step = -1,
				 .begin_ns = items[first].begin_ns,
				 .every_steps = -1};
	if (first >= look->n) {
		return;
	}
	size_t n_warm = (look->n - first) / 2; /* short captures: of some steps half */
	size_t begin = first + (n_warm < FSL_STALL_WARM_STEPS ? n_warm : FSL_STALL_WARM_STEPS);
	size_t n = look->n - begin;
	n = n < FSL_STALL_WINDOW ? n : FSL_STALL_WINDOW;
	if (n < FSL_STALL_WINDOW / 4) {
		return;
	}
	double usual = fsl_percentile(ms + begin, n, 25.0, scratch);
	double spread = fsl_percentile(ms + begin, n, 75.0, scratch) - usual;
	double least =
		usual + fmax(FSL_STALL_WARM_SHARE_MIN * usual, FSL_STALL_WARM_SPREADS * spread);
	for (size_t i = first;
	     i < begin && ms[i] > least && ms[i] < last && items[i].dur_ns <= FSL_STALL_NS_MAX &&
	     !is_in_episode(look->out, items[i].step);
	     i++) {
		int64_t lost_ns = (int64_t)((ms[i] - usual) * FSL_NS_PER_MS * steps_each(look));
		warm.n_times++;
		warm.last_step = items[i].step;
		warm.end_ns = fsl_sum_i64(items[i].begin_ns, items[i].dur_ns);
		warm.lost_ns = fsl_sum_i64(warm.lost_ns, lost_ns);
		warm.most_ns = fsl_stalls_larger(warm.most_ns, lost_ns);
		last = (1.0 + FSL_STALL_SHARE_MIN) * ms[i];
		ms[i] = usual;
	}
	if (warm.n_times > 0) {
		look->found[look->n_found++] = warm;
	}
}

/* The first steps behind each restart. */
static void find_warm_ups(struct fsl_stalls_look *look)
{
	for (size_t i = look->n_found; i-- > 0;) {
		if (look->found[i].phase == FSL_STALL_RESTART) {
			find_warm_up(look, fsl_steps_numbered(&look->progress->steps,
							      look->found[i].step));
		}
	}
	set_levels(look);
}

/* The last step of a capture is cut. If it stands where the next evaluation is due and no longer
 * than these, it is one, though its operators do not show it. */
static bool is_next_evaluation(const struct fsl_stalls_look *look, size_t i, double lost_ns)
{
	const struct fsl_stall *last[2] = {NULL, NULL};
	int64_t step = look->progress->steps.items[i].step;
	for (size_t k = 0; k < look->n_found && i + 1 == look->n; k++) {
		if (look->found[k].phase == FSL_STALL_EVALUATION) {
			last[0] = last[1];
			last[1] = &look->found[k];
		}
	}
	return last[0] != NULL && step - last[1]->step == last[1]->step - last[0]->step &&
	       lost_ns <= FSL_STALL_EVEN_MAX * (double)last[1]->lost_ns;
}

static void find_long_steps(struct fsl_stalls_look *look)
{
	double least = threshold(look);
	double n_each = steps_each(look);
	for (size_t i = 0; i < look->n; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		bool is_long = look->excess[i] > least;
		bool is_clock_set = item->dur_ns > FSL_STALL_NS_MAX;
		/* Cut at an operator, the last step may hold an evaluation and no training. */
		bool is_rest = look->progress->steps.is_last_open &&
			       look->progress->steps.is_ordinal && i + 1 == look->n;
		if (!is_long || is_clock_set || is_rest || is_in_episode(look->out, item->step)) {
			continue;
		}
		double lost_ns = (look->step_ms[i] - look->level_ms[i]) * FSL_NS_PER_MS;
		bool is_evaluation = fsl_stalls_has_more_work(look, item->step, lost_ns) ||
				     is_next_evaluation(look, i, lost_ns);
		look->found[look->n_found++] = (struct fsl_stall){
			.phase = is_evaluation ? FSL_STALL_EVALUATION : phase_of(look, i, lost_ns),
			.step = item->step,
			.last_step = item->step,
			.before_step = -1,
			.begin_ns = item->begin_ns,
			.end_ns = fsl_sum_i64(item->begin_ns, item->dur_ns),
			.n_times = 1,
			.every_steps = -1,
			.lost_ns = (int64_t)(lost_ns * n_each),
			.most_ns = (int64_t)(lost_ns * n_each),
		};
	}
}

static size_t count_restarts(const struct fsl_run *run)
{
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n = run->ranks[r].n_restarts > n ? run->ranks[r].n_restarts : n;
	}
	return n;
}

/* Steps that end on whole seconds are of a clock of seconds; else 0. */
static double tick_ns(const struct fsl_stalls_look *look)
{
	size_t n_whole = 0;
	for (size_t i = 0; i < look->n; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		n_whole += fsl_sum_i64(item->begin_ns, item->dur_ns) % FSL_NS_PER_S == 0;
	}
	return n_whole >= FSL_STALL_WHOLE_MIN ? FSL_NS_PER_S : 0.0;
}

/* Time between two steps that neither holds, less that of steps with a number between theirs. */
static void find_gaps(struct fsl_stalls_look *look)
{
	const struct fsl_job_step *items = look->progress->steps.items;
	for (size_t i = 1; i < look->n; i++) {
		int64_t end_ns = fsl_sum_i64(items[i - 1].begin_ns, items[i - 1].dur_ns);
		double unseen_ns = (double)(items[i].step - items[i - 1].step - 1) *
				   look->level_ms[i] * FSL_NS_PER_MS;
		double gap_ns = (double)(items[i].begin_ns - end_ns) - fmax(unseen_ns, 0.0);
		look->gap_ns[i] = gap_ns > 0.0 ? (int64_t)gap_ns : 0;
		look->work[i] = (double)look->gap_ns[i];
	}
	double usual_ns = fsl_stalls_median(look->work + 1, look->n - 1, look->work + look->n);
	double least_ns = fmax(FSL_STALL_GAPS_MIN * usual_ns, FSL_STALL_TICKS_MIN * tick_ns(look));
	for (size_t i = 1; i < look->n; i++) {
		if (look->gap_ns[i] <= FSL_STALL_NS_MAX &&
		    fsl_stalls_ms(look->gap_ns[i]) > FSL_STALL_SHARE_MIN * look->level_ms[i] &&
		    (double)look->gap_ns[i] > least_ns) {
			look->found[look->n_found++] =
				(struct fsl_stall){.phase = FSL_STALL_GAP,
						   .step = items[i].step,
						   .last_step = items[i].step,
						   .before_step = items[i - 1].step,
						   .begin_ns = items[i].begin_ns - look->gap_ns[i],
						   .end_ns = items[i].begin_ns,
						   .n_times = 1,
						   .every_steps = -1,
						   .lost_ns = look->gap_ns[i],
						   .most_ns = look->gap_ns[i]};
		}
	}
}

static int compare_cost(const void *left, const void *right)
{
	const struct fsl_stall *a = left, *b = right;
	FSL_ORDER_BY(b->lost_ns, a->lost_ns);
	FSL_ORDER_BY(a->step, b->step);
	return FSL_ORDER((int)a->phase, (int)b->phase);
}

static void sort_by_cost(struct fsl_stalls_look *look)
{
	qsort(look->found, look->n_found, sizeof(*look->found), compare_cost);
}

/* The longest gaps are the restarts, as many as there were. */
static void name_restarts(struct fsl_stalls_look *look)
{
	size_t n = count_restarts(look->facts->run);
	sort_by_cost(look);
	for (size_t i = 0; i < look->n_found && n > 0; i++) {
		if (look->found[i].phase == FSL_STALL_GAP) {
			look->found[i].phase = FSL_STALL_RESTART;
			n--;
		}
	}
}

/* The longest stage that a stall holds. */
struct longest {
	const struct fsl_stage *stage; /* NULL: none */
	int64_t ns;                    /* of it, within the step */
};

/* Time of the step that the rank was in stages of a kind. Ranks begin a step at about one time. */
static double in_stages_ms(const struct fsl_rank *rank, enum fsl_stage_kind kind,
			   const struct fsl_job_step *item, struct longest *longest)
{
	int64_t sum_ns = 0, end_ns = fsl_sum_i64(item->begin_ns, item->dur_ns);
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		int64_t from_ns = fsl_stalls_larger(stage->begin_ns, item->begin_ns);
		int64_t to_ns = stage->end_ns < end_ns ? stage->end_ns : end_ns;
		if (stage->kind != kind || to_ns <= from_ns) {
			continue;
		}
		sum_ns += to_ns - from_ns;
		if (to_ns - from_ns > longest->ns) {
			*longest = (struct longest){stage, to_ns - from_ns};
		}
	}
	return fsl_stalls_ms(sum_ns);
}

/* How much longer the rank was busy in the step than usual, in the phase of the stall. */
static double more_ms(const struct fsl_stalls_look *look, size_t r, const struct fsl_stall *stall,
		      const struct fsl_job_step *item, struct longest *longest)
{
	static const enum fsl_stage_kind kinds[] = {[FSL_STALL_LOADING] = FSL_STAGE_DATALOADER,
						    [FSL_STALL_CHECKPOINT] = FSL_STAGE_CKPT,
						    [FSL_STALL_COLLECTION] = FSL_STAGE_GC};
	const struct fsl_own *own = look->facts->own;
	size_t s = fsl_steps_numbered(look->facts->steps, item->step);
	if (stall->phase != FSL_STALL_UNKNOWN) {
		return in_stages_ms(&look->facts->run->ranks[r], kinds[stall->phase], item,
				    longest);
	}
	if (own == NULL || s >= own->n_steps || r >= own->n_ranks) {
		return 0.0;
	}
	double *values = look->work, busy_ms = 0.0;
	size_t n = 0;
	for (size_t i = 0; i < own->n_steps && n < look->n; i++) {
		double ms = fsl_own_total_ms(own, r, i) + own->idle_ms[r * own->n_steps + i];
		busy_ms = i == s ? ms : busy_ms;
		if (!isnan(ms)) {
			values[n++] = ms;
		}
	}
	return n > 0 && !isnan(busy_ms)
		       ? busy_ms - fsl_stalls_median(values, n, look->work + look->n)
		       : 0.0;
}

/* Copies what the longest stage of a stall tells of itself. */
static enum fsl_status tell_stage(const struct fsl_stalls_look *look, struct fsl_stall *stall,
				  const struct fsl_stage *stage, struct fsl_error *err)
{
	if (stage == NULL) {
		return FSL_OK;
	}
	stall->n_collected = stage->n_collected;
	if (stage->frame > 0) {
		const char *frame = fsl_strpool_text(look->facts->run->names, stage->frame - 1);
		stall->frame = fsl_arena_strdup(&look->out->arena, frame);
	}
	return stage->frame > 0 && stall->frame == NULL
		       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"frame\"")
		       : FSL_OK;
}

/* The ranks that were last in most steps of a stall; none if most ranks were. */
static enum fsl_status find_last(const struct fsl_stalls_look *look, struct fsl_stall *stall,
				 struct fsl_error *err)
{
	const struct fsl_run *run = look->facts->run;
	const struct fsl_steps *steps = &look->progress->steps;
	size_t n_asked = 0, n = 0, first = fsl_steps_numbered(steps, stall->step);
	int32_t *ranks = NULL;
	uint32_t *times = NULL;
	int64_t every = stall->every_steps > 0 ? stall->every_steps : 1;
	double least_ms =
		FSL_STALL_EXPLAINED * fsl_stalls_ms(stall->lost_ns) / (double)stall->n_times;
	double shortest_ms = INFINITY, longest_ms = 0.0;
	struct longest longest = {NULL, 0};
	FSL_TRY(FSL_ARENA_NEW(ranks, &look->out->arena, run->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(times, &look->out->arena, run->n_ranks, "times", err));
	for (size_t s = first;
	     s < steps->n_items && n_asked < ASKED_MAX && steps->items[s].step <= stall->last_step;
	     s++) {
		double lost_ms = look->step_ms[s] - look->level_ms[s];
		bool is_longer = stall->every_steps > 0 &&
				 lost_ms * steps_each(look) > fsl_stalls_ms(stall->most_ns) + 1.0;
		if (is_longer || (steps->items[s].step - stall->step) % every != 0) {
			continue; /* a longer one is a stall of its own */
		}
		n_asked++;
		shortest_ms = fmin(shortest_ms, lost_ms);
		longest_ms = fmax(longest_ms, lost_ms);
		for (size_t r = 0; r < run->n_ranks; r++) {
			times[r] += more_ms(look, r, stall, &steps->items[s], &longest) >= least_ms;
		}
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (n_asked > 0 && 2 * times[r] > n_asked) {
			ranks[n++] = run->ranks[r].rank;
		}
	}
	stall->ranks = ranks;
	stall->n_ranks = 2 * n > run->n_ranks ? 0 : n;
	if (stall->phase == FSL_STALL_UNKNOWN && stall->every_steps > 0 && n == run->n_ranks &&
	    n > 0 && longest_ms <= FSL_STALL_EVEN_MAX * shortest_ms) {
		stall->phase = FSL_STALL_EVALUATION;
	}
	return tell_stage(look, stall, longest.stage, err);
}

/* *share: of the time, what they cost together. */
static bool do_count(const struct fsl_stalls_look *look, double *share)
{
	const struct fsl_job_step *items = look->progress->steps.items;
	const struct fsl_job_step *last = &items[look->n - 1];
	int64_t lost_ns = 0, longest_ns = 0;
	size_t n_times = 0;
	for (size_t i = 0; i < look->n_found; i++) {
		const struct fsl_stall *stall = &look->found[i];
		if (!fsl_stall_is_planned(stall->phase)) {
			lost_ns = fsl_sum_i64(lost_ns, stall->lost_ns);
			longest_ns = fsl_stalls_larger(longest_ns, stall->most_ns);
			n_times += stall->n_times;
		}
	}
	*share = (double)lost_ns /
		 (double)(fsl_sum_i64(last->begin_ns, last->dur_ns) - items[0].begin_ns);
	double step_ms = fsl_stalls_median(look->level_ms, look->n, look->work);
	bool is_stall = n_times >= FSL_STALL_PERIODIC_MIN || fsl_stalls_ms(longest_ns) >= step_ms;
	return longest_ns >= FSL_STALL_COUNTS_NS || (*share >= FSL_STALL_COUNTS_SHARE && is_stall);
}

/* Each stalled step is an anomaly of the step time. */
static enum fsl_status add_anomalies(const struct fsl_stalls_look *look, double least,
				     struct fsl_error *err)
{
	for (size_t i = 0; i < look->n; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		double step_ms = look->step_ms[i] + fsl_stalls_ms(look->gap_ns[i]);
		if (log(step_ms / look->level_ms[i]) <= least ||
		    step_ms > fsl_stalls_ms(FSL_STALL_NS_MAX)) {
			continue;
		}
		struct fsl_step_anomaly anomaly = {.step = item->step,
						   .begin_ns = item->begin_ns,
						   .degree = step_ms / look->level_ms[i] - 1.0,
						   .step_ms = step_ms,
						   .normal_ms = look->level_ms[i]};
		FSL_TRY(FSL_APPEND(look->out, anomalies, &anomaly, err));
	}
	return FSL_OK;
}

/* If ranks pause in turn, a long step is a stall only if it has a period. */
static void drop_pauses(struct fsl_stalls_look *look)
{
	size_t n_left = 0;
	for (size_t i = 0; i < look->n_found; i++) {
		if (look->found[i].every_steps > 0 || look->found[i].phase >= FSL_STALL_WARM_UP) {
			look->found[n_left++] = look->found[i];
		}
	}
	look->n_found = n_left;
}

/* Tells the stalls if they cost what counts; planned ones are told whatever they cost. */
static enum fsl_status conclude(struct fsl_stalls_look *look, bool is_told, struct fsl_error *err)
{
	struct fsl_perception *out = look->out;
	double share = 0.0;
	size_t n = look->n_found < STALLS_MAX ? look->n_found : STALLS_MAX;
	for (size_t i = 0; i < n; i++) {
		if (look->found[i].phase < FSL_STALL_EVALUATION) {
			FSL_TRY(find_last(look, &look->found[i], err));
		}
	}
	bool counts = n > 0 && do_count(look, &share);
	for (size_t i = 0; i < n; i++) {
		if (counts || fsl_stall_is_planned(look->found[i].phase)) {
			FSL_TRY(FSL_APPEND(out, stalls, &look->found[i], err));
		}
	}
	if (is_told || !counts ||
	    (out->kind != FSL_VERDICT_NORMAL && out->kind != FSL_VERDICT_INSUFFICIENT_EVIDENCE)) {
		return FSL_OK;
	}
	out->kind = FSL_VERDICT_STALLS;
	out->is_anomaly = true;
	out->anomaly_type = "failSlow";
	FSL_TRY(add_anomalies(look, threshold(look), err));
	return fsl_stalls_tell(out, share, err);
}

enum fsl_status fsl_stalls_find(struct fsl_perception *out, const struct fsl_progress *progress,
				const struct fsl_case *facts, enum fsl_verdict_kind told,
				struct fsl_error *err)
{
	bool are_pauses = told == FSL_VERDICT_HOST_PAUSES;
	/* A slowdown that no rise of the steps shows consists of single long steps. */
	bool is_of_steps = told == FSL_VERDICT_JOB_SLOWDOWN && out->kind == FSL_VERDICT_NORMAL;
	bool is_told = told != FSL_VERDICT_NORMAL && told != FSL_VERDICT_INSUFFICIENT_EVIDENCE &&
		       told != FSL_VERDICT_WORK_IMBALANCE && !is_of_steps;
	struct fsl_stalls_look look = {
		.out = out, .progress = progress, .facts = facts, .n = progress->steps.n_items};
	if (look.n < FSL_STALL_STEPS_MIN) {
		return FSL_OK;
	}
	enum fsl_status status = prepare(&look, err);
	if (status == FSL_OK) {
		fsl_stalls_set_usual_ops(&look);
		find_warm_up(&look, 0);
		set_levels(&look);
		find_gaps(&look);
		name_restarts(&look);
		fsl_stalls_find_restarts(&look);
		find_warm_ups(&look);
		if (!is_told || are_pauses) {
			find_long_steps(&look);
		}
		fsl_stalls_join(&look);
		sort_by_cost(&look);
		if (are_pauses) {
			drop_pauses(&look);
		}
		status = conclude(&look, is_told, err);
	}
	fsl_arena_fini(&look.arena);
	return status;
}
