/* Marks steps that stand out of the steps around them, asks why they do, and joins those of a kind.
 */
#include "account/stalls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "account/limits.h"
#include "account/stalls_parts.h"
#include "base/number.h"
#include "base/sort.h"

enum { STALLS_MAX = 64, PERIODS_MAX = 32, ASKED_MAX = 16 };

struct look {
	struct fsl_perception *out;
	const struct fsl_progress *progress;
	const struct fsl_case *facts;
	struct fsl_arena arena;
	size_t n;
	double *step_ms;         /* without a checkpoint of usual length */
	double *level_ms;        /* usual length at that place */
	double *excess;          /* log(step_ms / level_ms) */
	double *work;            /* 2 n */
	int64_t *gap_ns;         /* in front of the step */
	struct fsl_stall *found; /* one for each stalled step and gap, then joined */
	size_t n_found;
	double usual_save_ns, usual_loading_ns, usual_ops, most_ops;
};

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static double ms_of(int64_t ns)
{
	return (double)ns / FSL_NS_PER_MS;
}

static double median_of(double *values, size_t n, double *scratch)
{
	return n > 0 ? fsl_median(values, n, scratch) : 0.0;
}

static void set_usual(struct look *look)
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

static enum fsl_status prepare(struct look *look, struct fsl_error *err)
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
static double quartile(const struct look *look, size_t begin, size_t end)
{
	double scratch[FSL_STALL_WINDOW];
	return end - begin >= FSL_STALL_WINDOW / 4
		       ? fsl_percentile(look->step_ms + begin, end - begin, 25.0, scratch)
		       : 0.0;
}

static void set_levels(struct look *look)
{
	for (size_t i = 0; i < look->n; i++) {
		size_t begin = i > FSL_STALL_WINDOW ? i - FSL_STALL_WINDOW : 0;
		size_t end = look->n - i > FSL_STALL_WINDOW ? i + 1 + FSL_STALL_WINDOW : look->n;
		look->level_ms[i] = fmax(quartile(look, begin, i), quartile(look, i + 1, end));
		look->excess[i] = log(look->step_ms[i] / look->level_ms[i]);
	}
}

/* The excess from which a step stands out. Its noise is that of the faster steps alone, and the
 * steps that do not stand out have to lie close together. */
static double threshold(const struct look *look)
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
	double middle = median_of(values, n_left, scratch);
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

/* The longest time of a step in which an operator of the first rank neither began nor ended. */
static double longest_rest_ns(const struct look *look, size_t s)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	const struct fsl_op *ops = look->facts->run->ranks[0].ops;
	int64_t last_ns = cuts->begin_ns[s], longest_ns = 0;
	for (size_t i = cuts->first_op[s]; i < cuts->first_op[s + 1]; i++) {
		int64_t begin_ns = fsl_op_begin_ns(&ops[i]), end_ns = fsl_op_end_ns(&ops[i]);
		longest_ns = larger(longest_ns, larger(begin_ns - last_ns, end_ns - begin_ns));
		last_ns = larger(last_ns, end_ns);
	}
	return (double)larger(longest_ns, cuts->begin_ns[s + 1] - last_ns);
}

/*
 * An evaluation is a step with more operators than others. If it has few more, as a step of many
 * micro-batches, they have to divide its time: a step that stands does so at one place.
 */
static bool has_more_work(const struct look *look, int64_t step, double lost_ns)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	size_t s = fsl_steps_numbered(look->facts->steps, step);
	if (look->usual_ops <= 0.0 || s >= cuts->n_steps) {
		return false;
	}
	double n_ops = (double)(cuts->first_op[s + 1] - cuts->first_op[s]);
	return n_ops >= FSL_STALL_WORK_MIN * look->usual_ops ||
	       (n_ops > look->most_ops && longest_rest_ns(look, s) < FSL_STALL_EXPLAINED * lost_ns);
}

static void set_usual_ops(struct look *look)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	size_t n = cuts != NULL && cuts->n_ranks > 0 ? cuts->n_steps : 0;
	n = n < look->n ? n : look->n;
	for (size_t s = 0; s < n; s++) {
		look->work[s] = (double)(cuts->first_op[s + 1] - cuts->first_op[s]);
	}
	if (n > 0) {
		double *scratch = look->work + look->n;
		double low = fsl_percentile(look->work, n, 25.0, scratch);
		double high = fsl_percentile(look->work, n, 75.0, scratch);
		look->usual_ops = median_of(look->work, n, scratch);
		look->most_ops = look->usual_ops + FSL_STALL_WORK_SPREADS * (high - low);
	}
}

static enum fsl_stall_phase phase_of(const struct look *look, size_t i, double lost_ns)
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
static double steps_each(const struct look *look)
{
	int64_t stride = look->progress->steps.stride;
	return stride > 1 ? (double)stride : 1.0;
}

/* Steps from @first on that get shorter and are longer than those behind them usually are. From
 * here on they are as long as usual: what they took longer tells nothing of the steps around them.
 */
static void find_warm_up(struct look *look, size_t first)
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
		warm.most_ns = larger(warm.most_ns, lost_ns);
		last = (1.0 + FSL_STALL_SHARE_MIN) * ms[i];
		ms[i] = usual;
	}
	if (warm.n_times > 0) {
		look->found[look->n_found++] = warm;
	}
}

/* The first steps behind each restart. */
static void find_warm_ups(struct look *look)
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
static bool is_next_evaluation(const struct look *look, size_t i, double lost_ns)
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

static void find_long_steps(struct look *look)
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
		bool is_evaluation = has_more_work(look, item->step, lost_ns) ||
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
static double tick_ns(const struct look *look)
{
	size_t n_whole = 0;
	for (size_t i = 0; i < look->n; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		n_whole += fsl_sum_i64(item->begin_ns, item->dur_ns) % FSL_NS_PER_S == 0;
	}
	return n_whole >= FSL_STALL_WHOLE_MIN ? FSL_NS_PER_S : 0.0;
}

/* Time between two steps that neither holds, less that of steps with a number between theirs. */
static void find_gaps(struct look *look)
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
	double usual_ns = median_of(look->work + 1, look->n - 1, look->work + look->n);
	double least_ns = fmax(FSL_STALL_GAPS_MIN * usual_ns, FSL_STALL_TICKS_MIN * tick_ns(look));
	for (size_t i = 1; i < look->n; i++) {
		if (look->gap_ns[i] <= FSL_STALL_NS_MAX &&
		    ms_of(look->gap_ns[i]) > FSL_STALL_SHARE_MIN * look->level_ms[i] &&
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

static int compare_phase(const void *left, const void *right)
{
	const struct fsl_stall *a = left, *b = right;
	FSL_ORDER_BY((int)a->phase, (int)b->phase);
	return FSL_ORDER(a->step, b->step);
}

/* The longest gaps are the restarts, as many as there were. */
static void name_restarts(struct look *look)
{
	size_t n = count_restarts(look->facts->run);
	qsort(look->found, look->n_found, sizeof(*look->found), compare_cost);
	for (size_t i = 0; i < look->n_found && n > 0; i++) {
		if (look->found[i].phase == FSL_STALL_GAP) {
			look->found[i].phase = FSL_STALL_RESTART;
			n--;
		}
	}
}

/*
 * Index of the first operator of a new process in step @s of a rank, or behind the step: ids begin
 * again there, after at least @least_ns without an operator. Threads that take turns go back by a
 * few ids only. SIZE_MAX: none.
 */
static size_t ids_begin_again(const struct look *look, size_t r, size_t s, double least_ns)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	const struct fsl_rank *rank = &look->facts->run->ranks[r];
	const struct fsl_op *ops = rank->ops;
	size_t begin = fsl_cuts_first(cuts, r, s), end = fsl_cuts_first(cuts, r, s + 1);
	for (size_t i = begin > 0 ? begin : 1; i <= end && i < rank->n_ops; i++) {
		uint64_t id = ops[i].id, last = ops[i - 1].id;
		double rest_ns = (double)(fsl_op_begin_ns(&ops[i]) - fsl_op_end_ns(&ops[i - 1]));
		if (rest_ns >= least_ns && last != FSL_OP_ID_RESTORED && id < last &&
		    (double)(last - id) >= look->usual_ops &&
		    (last <= ops[0].id || last - id > (last - ops[0].id) / 2)) {
			return i;
		}
	}
	return SIZE_MAX;
}

/* Index of the first operator of the first rank, or SIZE_MAX, if most ranks began again there. */
static size_t most_begin_again(const struct look *look, size_t s, double least_ns)
{
	const struct fsl_run *run = look->facts->run;
	size_t n = 0, n_again = 0;
	for (size_t r = 0; r < run->n_ranks && r < look->facts->cuts->n_ranks; r++) {
		n += run->ranks[r].n_ops > 0;
		n_again += ids_begin_again(look, r, s, least_ns) != SIZE_MAX;
	}
	return 2 * n_again > n ? ids_begin_again(look, 0, s, least_ns) : SIZE_MAX;
}

/* Markers have no step numbers. A long step in which the ids of most ranks begin again holds a
 * restart, and from here on it is as long as usual. */
static void find_restarts(struct look *look)
{
	const struct fsl_case *facts = look->facts;
	for (size_t i = 0; i < look->n && look->usual_ops > 0.0; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		double lost_ns = (look->step_ms[i] - look->level_ms[i]) * FSL_NS_PER_MS;
		size_t s = fsl_steps_numbered(facts->steps, item->step), first = SIZE_MAX;
		if (look->excess[i] > log1p(FSL_STALL_SHARE_MIN) && s < facts->cuts->n_steps &&
		    item->dur_ns <= FSL_STALL_NS_MAX) {
			first = most_begin_again(look, s, FSL_STALL_EXPLAINED * lost_ns);
		}
		if (first == SIZE_MAX) {
			continue;
		}
		const struct fsl_op *op = &facts->run->ranks[0].ops[first];
		size_t behind = i + (first >= facts->cuts->first_op[s + 1] && i + 1 < look->n);
		look->found[look->n_found++] =
			(struct fsl_stall){.phase = FSL_STALL_RESTART,
					   .step = look->progress->steps.items[behind].step,
					   .last_step = look->progress->steps.items[behind].step,
					   .before_step = item->step,
					   .begin_ns = fsl_op_end_ns(op - 1),
					   .end_ns = fsl_op_begin_ns(op),
					   .n_times = 1,
					   .every_steps = -1,
					   .lost_ns = (int64_t)lost_ns,
					   .most_ns = (int64_t)lost_ns};
		look->step_ms[i] = look->level_ms[i];
		look->gap_ns[behind] = fsl_sum_i64(look->gap_ns[behind], (int64_t)lost_ns);
	}
}

/* Stalls of one phase at one distance. */
struct rhythm {
	int64_t every, place;
	size_t n;        /* that are alike */
	double usual_ns; /* median cost of those on the places */
};

static bool is_on_place(const struct rhythm *rhythm, const struct fsl_stall *stall)
{
	return stall->step % rhythm->every == rhythm->place;
}

/* True if @stall is much longer than those of the rhythm, on a place of it or not: one of its own.
 */
static bool is_other(const struct rhythm *rhythm, double lost_ns)
{
	return lost_ns > FSL_STALL_ALIKE_MAX * rhythm->usual_ns;
}

/* Sets the median cost of the stalls on the places of @rhythm, and how many are alike. Returns how
 * many there are. */
static size_t weigh(const struct look *look, struct rhythm *rhythm, const struct fsl_stall *stalls,
		    size_t n)
{
	size_t n_on_place = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_on_place(rhythm, &stalls[i])) {
			look->work[n_on_place++] = (double)stalls[i].lost_ns;
		}
	}
	rhythm->usual_ns = median_of(look->work, n_on_place, look->work + look->n);
	for (size_t i = 0; i < n_on_place; i++) {
		rhythm->n += !is_other(rhythm, look->work[i]);
	}
	return n_on_place;
}

/* True if most of what the stalls cost lies on the places, and most places hold one. A long stall
 * neither makes a period nor hides one: it counts as if it were as long as those on the places. */
static bool is_periodic(const struct rhythm *rhythm, size_t n_on_place,
			const struct fsl_stall *stalls, size_t n)
{
	int64_t first = -1, last = -1;
	double on_ns = 0.0, off_ns = 0.0;
	for (size_t i = 0; i < n; i++) {
		double lost_ns = (double)stalls[i].lost_ns;
		if (is_on_place(rhythm, &stalls[i])) {
			first = first < 0 ? stalls[i].step : first;
			last = stalls[i].step;
			on_ns += is_other(rhythm, lost_ns) ? rhythm->usual_ns : lost_ns;
		} else {
			off_ns += fmin(lost_ns, rhythm->usual_ns);
		}
	}
	double n_places = (double)((last - first) / rhythm->every + 1);
	return rhythm->n >= FSL_STALL_PERIODIC_MIN &&
	       on_ns >= FSL_STALL_ON_PLACE_MIN * (on_ns + off_ns) &&
	       (double)n_on_place >= FSL_STALL_OCCUPIED_MIN * n_places;
}

/* How many stalls lie at a distance, from the place that holds most of them. */
static struct rhythm rhythm_of(const struct look *look, const struct fsl_stall *stalls, size_t n,
			       int64_t every)
{
	struct rhythm best = {.every = every};
	for (size_t k = 0; k < n && k < FSL_STALL_PERIODIC_MIN; k++) {
		struct rhythm rhythm = {.every = every, .place = stalls[k].step % every};
		size_t n_on_place = weigh(look, &rhythm, stalls, n);
		bool is_better = rhythm.n > best.n && is_periodic(&rhythm, n_on_place, stalls, n);
		best = is_better ? rhythm : best;
	}
	return best;
}

static struct rhythm find_rhythm(const struct look *look, const struct fsl_stall *stalls, size_t n)
{
	struct rhythm best = {.n = 0};
	int64_t tried[PERIODS_MAX];
	size_t n_tried = 0;
	/* To the next one and, if a stray lies between, to the one behind. */
	for (size_t i = 2; i < 2 * n && n_tried < PERIODS_MAX; i++) {
		size_t lag = 1 + i % 2;
		int64_t every = i / 2 >= lag ? stalls[i / 2].step - stalls[i / 2 - lag].step : 0;
		bool is_new = every >= 2;
		for (size_t k = 0; k < n_tried && is_new; k++) {
			is_new = tried[k] != every;
		}
		if (is_new) {
			tried[n_tried++] = every;
			struct rhythm rhythm = rhythm_of(look, stalls, n, every);
			bool is_better = rhythm.n > best.n ||
					 (rhythm.n == best.n && rhythm.every > best.every);
			best = rhythm.n > 0 && is_better ? rhythm : best;
		}
	}
	return best;
}

/* Up to the usual length a much longer stall is one of the rhythm. Beyond, it is one of its own,
 * and no evaluation. */
static void split(struct look *look, const struct rhythm *rhythm, struct fsl_stall *stall)
{
	struct fsl_stall rest = *stall;
	if (!is_other(rhythm, (double)stall->lost_ns) || look->n_found >= 2 * look->n) {
		return;
	}
	stall->lost_ns = stall->most_ns = (int64_t)rhythm->usual_ns;
	rest.lost_ns = rest.most_ns = rest.lost_ns - stall->lost_ns;
	rest.phase = rest.phase == FSL_STALL_EVALUATION ? FSL_STALL_UNKNOWN : rest.phase;
	look->found[look->n_found++] = rest;
}

/* Adds the next one to a rhythm. */
static void add_to(struct fsl_stall *joined, const struct fsl_stall *stall)
{
	joined->n_times++;
	joined->lost_ns += stall->lost_ns;
	joined->most_ns = larger(joined->most_ns, stall->most_ns);
	joined->last_step = stall->last_step;
	joined->end_ns = stall->end_ns;
}

/* Joins what lies at one distance to the first of it; returns how many stalls are left. */
static size_t join(struct look *look, struct fsl_stall *stalls, size_t n)
{
	struct rhythm rhythm = find_rhythm(look, stalls, n);
	struct fsl_stall *joined = NULL;
	size_t n_left = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_of_it = rhythm.n > 0 && is_on_place(&rhythm, &stalls[i]);
		if (is_of_it) {
			split(look, &rhythm, &stalls[i]);
		}
		if (is_of_it && joined != NULL) {
			add_to(joined, &stalls[i]);
			continue;
		}
		stalls[n_left] = stalls[i];
		if (is_of_it) {
			joined = &stalls[n_left];
			joined->every_steps = rhythm.every;
		}
		n_left++;
	}
	return n_left;
}

/* Joins stalls of each phase; restarts and warm-ups stay as they are. What join() splits off comes
 * behind all others. */
static void join_periodic(struct look *look)
{
	size_t n_left = 0;
	qsort(look->found, look->n_found, sizeof(*look->found), compare_phase);
	for (size_t begin = 0, end; begin < look->n_found; begin = end) {
		enum fsl_stall_phase phase = look->found[begin].phase;
		for (end = begin; end < look->n_found && look->found[end].phase == phase; end++) {
		}
		bool is_single = phase == FSL_STALL_RESTART || phase == FSL_STALL_WARM_UP;
		size_t n = is_single ? end - begin : join(look, look->found + begin, end - begin);
		memmove(look->found + n_left, look->found + begin, n * sizeof(*look->found));
		n_left += n;
	}
	look->n_found = n_left;
	qsort(look->found, look->n_found, sizeof(*look->found), compare_cost);
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
		int64_t from_ns = larger(stage->begin_ns, item->begin_ns);
		int64_t to_ns = stage->end_ns < end_ns ? stage->end_ns : end_ns;
		if (stage->kind != kind || to_ns <= from_ns) {
			continue;
		}
		sum_ns += to_ns - from_ns;
		if (to_ns - from_ns > longest->ns) {
			*longest = (struct longest){stage, to_ns - from_ns};
		}
	}
	return ms_of(sum_ns);
}

/* How much longer the rank was busy in the step than usual, in the phase of the stall. */
static double more_ms(const struct look *look, size_t r, const struct fsl_stall *stall,
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
	return n > 0 && !isnan(busy_ms) ? busy_ms - median_of(values, n, look->work + look->n)
					: 0.0;
}

/* Copies what the longest stage of a stall tells of itself. */
static enum fsl_status tell_stage(const struct look *look, struct fsl_stall *stall,
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
static enum fsl_status find_last(const struct look *look, struct fsl_stall *stall,
				 struct fsl_error *err)
{
	const struct fsl_run *run = look->facts->run;
	const struct fsl_steps *steps = &look->progress->steps;
	size_t n_asked = 0, n = 0, first = fsl_steps_numbered(steps, stall->step);
	int32_t *ranks = NULL;
	uint32_t *times = NULL;
	int64_t every = stall->every_steps > 0 ? stall->every_steps : 1;
	double least_ms = FSL_STALL_EXPLAINED * ms_of(stall->lost_ns) / (double)stall->n_times;
	double shortest_ms = INFINITY, longest_ms = 0.0;
	struct longest longest = {NULL, 0};
	FSL_TRY(FSL_ARENA_NEW(ranks, &look->out->arena, run->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(times, &look->out->arena, run->n_ranks, "times", err));
	for (size_t s = first;
	     s < steps->n_items && n_asked < ASKED_MAX && steps->items[s].step <= stall->last_step;
	     s++) {
		double lost_ms = look->step_ms[s] - look->level_ms[s];
		bool is_longer = stall->every_steps > 0 &&
				 lost_ms * steps_each(look) > ms_of(stall->most_ns) + 1.0;
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

static bool do_count(const struct look *look, double *share)
{
	const struct fsl_job_step *items = look->progress->steps.items;
	const struct fsl_job_step *last = &items[look->n - 1];
	int64_t lost_ns = 0, longest_ns = 0;
	for (size_t i = 0; i < look->n_found; i++) {
		const struct fsl_stall *stall = &look->found[i];
		if (!fsl_stall_is_planned(stall->phase)) {
			lost_ns = fsl_sum_i64(lost_ns, stall->lost_ns);
			longest_ns = larger(longest_ns, stall->most_ns);
		}
	}
	*share = (double)lost_ns /
		 (double)(fsl_sum_i64(last->begin_ns, last->dur_ns) - items[0].begin_ns);
	return longest_ns >= FSL_STALL_COUNTS_NS || *share >= FSL_STALL_COUNTS_SHARE;
}

/* Each stalled step is an anomaly of the step time. */
static enum fsl_status add_anomalies(const struct look *look, double least, struct fsl_error *err)
{
	for (size_t i = 0; i < look->n; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		double step_ms = look->step_ms[i] + ms_of(look->gap_ns[i]);
		if (log(step_ms / look->level_ms[i]) <= least ||
		    step_ms > ms_of(FSL_STALL_NS_MAX)) {
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
static void drop_pauses(struct look *look)
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
static enum fsl_status conclude(struct look *look, bool is_told, struct fsl_error *err)
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
	bool is_told = told != FSL_VERDICT_NORMAL && told != FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	struct look look = {
		.out = out, .progress = progress, .facts = facts, .n = progress->steps.n_items};
	if (look.n < FSL_STALL_STEPS_MIN) {
		return FSL_OK;
	}
	enum fsl_status status = prepare(&look, err);
	if (status == FSL_OK) {
		set_usual_ops(&look);
		find_warm_up(&look, 0);
		set_levels(&look);
		find_gaps(&look);
		name_restarts(&look);
		find_restarts(&look);
		find_warm_ups(&look);
		if (!is_told || are_pauses) {
			find_long_steps(&look);
		}
		join_periodic(&look);
		if (are_pauses) {
			drop_pauses(&look);
		}
		status = conclude(&look, is_told, err);
	}
	fsl_arena_fini(&look.arena);
	return status;
}
