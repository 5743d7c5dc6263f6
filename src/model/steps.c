/* Finds the steps of the job in step-time files, timelines and logs, else in the operators. */
#include "model/steps.h"

#include <stdlib.h>

#include <failslow/stats.h>

#include "base/sort.h"
#include "base/try.h"
#include "model/steps_parts.h"

struct interval {
	int64_t begin_ns, end_ns;
};

static int64_t max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int compare_items(const void *left, const void *right)
{
	const struct fsl_job_step *a = left, *b = right;
	int order = FSL_ORDER(a->step, b->step);
	return order != 0 ? order : FSL_ORDER(a->begin_ns, b->begin_ns);
}

void fsl_steps_make_unique(struct fsl_steps *steps)
{
	qsort(steps->items, steps->n_items, sizeof(*steps->items), compare_items);
	size_t n_kept = 0;
	for (size_t i = 0; i < steps->n_items; i++) {
		const struct fsl_job_step *last = n_kept > 0 ? &steps->items[n_kept - 1] : NULL;
		if (last != NULL && steps->items[i].step == last->step) {
			steps->n_duplicates++;
		} else if (last != NULL && steps->items[i].begin_ns <= last->begin_ns) {
			steps->n_disordered++;
		} else {
			steps->items[n_kept++] = steps->items[i];
		}
	}
	steps->n_items = n_kept;
}

static bool has_step_times(const struct fsl_rank *rank, bool is_log)
{
	for (size_t i = 0; i < rank->n_steps; i++) {
		if ((rank->steps[i].is_logged != 0) == is_log && rank->steps[i].dur_ns > 0) {
			return true;
		}
	}
	return false;
}

/* Median rise of the numbers: a log may tell every n-th step alone. */
static int64_t stride_of(const struct fsl_steps *steps)
{
	enum { LOOKED_AT = 64 };
	int64_t rises[LOOKED_AT] = {0};
	size_t n = 0;
	for (size_t i = 1; i < steps->n_items && n < LOOKED_AT; i++) {
		rises[n++] = steps->items[i].step - steps->items[i - 1].step;
	}
	qsort(rises, n, sizeof(*rises), fsl_compare_i64);
	return n > 0 ? rises[n / 2] : 1;
}

/* Steps of a log may have numbers or none, but not some of each. */
static enum fsl_status from_step_times(struct fsl_steps *steps, const struct fsl_rank *rank,
				       bool is_log, struct fsl_error *err)
{
	size_t n_numbered = 0, n = 0;
	FSL_TRY(FSL_NEW(steps->items, rank->n_steps, "steps", err));
	for (size_t i = 0; i < rank->n_steps; i++) {
		bool is_ours = (rank->steps[i].is_logged != 0) == is_log;
		n += is_ours;
		n_numbered += is_ours && rank->steps[i].step >= 0;
	}
	steps->is_ordinal = 2 * n_numbered < n;
	for (size_t i = 0; i < rank->n_steps; i++) {
		const struct fsl_step_time *time = &rank->steps[i];
		if ((time->is_logged != 0) != is_log || time->dur_ns <= 0 ||
		    (time->step >= 0) == steps->is_ordinal) {
			continue;
		}
		steps->items[steps->n_items] = (struct fsl_job_step){
			.step = steps->is_ordinal ? (int64_t)steps->n_items : time->step,
			.begin_ns = time->begin_ns,
			.dur_ns = time->dur_ns,
		};
		steps->n_items++;
	}
	fsl_steps_make_unique(steps);
	steps->source = is_log ? "training log" : "step-time file";
	steps->source_rank = rank->rank;
	steps->stride = is_log ? stride_of(steps) : 1;
	return FSL_OK;
}

static bool has_stage(const struct fsl_rank *rank, enum fsl_stage_kind kind)
{
	for (size_t i = 0; i < rank->n_stages; i++) {
		if (rank->stages[i].kind == kind) {
			return true;
		}
	}
	return false;
}

/* Stage ids count the steps if they never fall while time rises and are not all the same. */
static bool has_step_numbers(const struct fsl_rank *rank, enum fsl_stage_kind kind)
{
	int64_t first = -1;
	int64_t last = -1;
	size_t n_seen = 0;
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		if (stage->kind != kind) {
			continue;
		}
		if (stage->step < 0 || stage->step < last) {
			return false;
		}
		first = n_seen == 0 ? stage->step : first;
		last = stage->step;
		n_seen++;
	}
	return n_seen == 1 || last > first;
}

void fsl_steps_close(struct fsl_steps *steps)
{
	for (size_t i = 0; i < steps->n_items; i++) {
		struct fsl_job_step *item = &steps->items[i];
		bool is_closed = i + 1 < steps->n_items && item[1].step == item->step + 1;
		item->dur_ns = is_closed ? item[1].begin_ns - item->begin_ns : FSL_NS_ABSENT;
	}
}

/* Median of the closed steps, 0 if there is none. */
static enum fsl_status closed_median_ns(const struct fsl_steps *steps, double *median_ns,
					struct fsl_error *err)
{
	double *values = NULL;
	FSL_TRY(FSL_NEW(values, steps->n_items * 2, "steps", err));
	size_t n_closed = 0;
	for (size_t i = 0; i < steps->n_items; i++) {
		if (steps->items[i].dur_ns != FSL_NS_ABSENT) {
			values[n_closed++] = (double)steps->items[i].dur_ns;
		}
	}
	*median_ns = n_closed > 0 ? fsl_median(values, n_closed, values + steps->n_items) : 0.0;
	fsl_free(values);
	return FSL_OK;
}

enum fsl_status fsl_steps_end_open(struct fsl_steps *steps, const int64_t *ends,
				   struct fsl_error *err)
{
	double median_ns = 0.0;
	FSL_TRY(closed_median_ns(steps, &median_ns, err));
	size_t n_kept = 0;
	bool is_last_open = false;
	for (size_t i = 0; i < steps->n_items; i++) {
		struct fsl_job_step item = steps->items[i];
		bool is_open = item.dur_ns == FSL_NS_ABSENT;
		if (is_open) {
			item.dur_ns = ends[i] - item.begin_ns;
		}
		if (item.dur_ns > 0 && (!is_open || (double)item.dur_ns > median_ns / 2)) {
			is_last_open = is_open;
			steps->items[n_kept++] = item;
		}
	}
	steps->n_items = n_kept;
	steps->is_last_open = is_last_open;
	return FSL_OK;
}

/* Opens the steps after which the job restarted: those behind whose stages the most time is left,
 * at least a usual step. */
static void open_restarts(struct fsl_steps *steps, const int64_t *ends, uint32_t n_restarts,
			  double usual_ns)
{
	for (uint32_t k = 0; k < n_restarts; k++) {
		double most_ns = usual_ns;
		struct fsl_job_step *item = NULL;
		for (size_t i = 0; i + 1 < steps->n_items; i++) {
			double gap_ns = (double)(steps->items[i + 1].begin_ns - ends[i]);
			if (gap_ns > most_ns && steps->items[i].dur_ns != FSL_NS_ABSENT) {
				most_ns = gap_ns;
				item = &steps->items[i];
			}
		}
		if (item == NULL) {
			return;
		}
		item->dur_ns = FSL_NS_ABSENT;
	}
}

/* The latest end of the stages that begin within each step. */
static enum fsl_status end_by_stages(struct fsl_steps *steps, const struct fsl_rank *rank,
				     struct fsl_error *err)
{
	int64_t *ends = NULL;
	FSL_TRY(FSL_NEW(ends, steps->n_items, "steps", err));
	size_t next = 0; /* steps that have begun so far */
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		while (next < steps->n_items && steps->items[next].begin_ns <= stage->begin_ns) {
			ends[next] = steps->items[next].begin_ns;
			next++;
		}
		if (next > 0) {
			ends[next - 1] = max_i64(ends[next - 1], stage->end_ns);
		}
	}
	double usual_ns = 0.0;
	enum fsl_status status = closed_median_ns(steps, &usual_ns, err);
	if (status == FSL_OK) {
		open_restarts(steps, ends, rank->n_restarts, usual_ns);
		status = fsl_steps_end_open(steps, ends, err);
	}
	fsl_free(ends);
	return status;
}

static enum fsl_status from_stages(struct fsl_steps *steps, const struct fsl_rank *rank,
				   enum fsl_stage_kind kind, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(steps->items, rank->n_stages, "steps", err));
	steps->is_ordinal = !has_step_numbers(rank, kind);
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		if (stage->kind == kind) {
			steps->items[steps->n_items] = (struct fsl_job_step){
				.step = steps->is_ordinal ? (int64_t)steps->n_items : stage->step,
				.begin_ns = stage->begin_ns,
			};
			steps->n_items++;
		}
	}
	/* A step may call the data loader once per micro-batch. Such calls are no disorder, so
	 * count only odd times. */
	fsl_steps_make_unique(steps);
	steps->n_duplicates = 0;
	steps->source = "timeline";
	steps->source_rank = rank->rank;
	fsl_steps_close(steps);
	return end_by_stages(steps, rank, err);
}

static int compare_intervals(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;
	return FSL_ORDER(a->begin_ns, b->begin_ns);
}

/* Sorts intervals and joins those that overlap; returns the number left. */
static size_t join_intervals(struct interval *intervals, size_t n)
{
	qsort(intervals, n, sizeof(*intervals), compare_intervals);
	size_t n_joined = 0;
	for (size_t i = 0; i < n; i++) {
		if (n_joined > 0 && intervals[i].begin_ns <= intervals[n_joined - 1].end_ns) {
			struct interval *last = &intervals[n_joined - 1];
			last->end_ns = max_i64(last->end_ns, intervals[i].end_ns);
		} else {
			intervals[n_joined++] = intervals[i];
		}
	}
	return n_joined;
}

/* totals[i] = time of step i inside the sorted, disjoint intervals. */
static void overlap_with_steps(const struct fsl_steps *steps, const struct interval *intervals,
			       size_t n, int64_t *totals)
{
	size_t first = 0;
	for (size_t i = 0; i < steps->n_items; i++) {
		int64_t begin_ns = steps->items[i].begin_ns;
		int64_t end_ns = begin_ns + steps->items[i].dur_ns;
		totals[i] = 0;
		while (first < n && intervals[first].end_ns <= begin_ns) {
			first++;
		}
		for (size_t j = first; j < n && intervals[j].begin_ns < end_ns; j++) {
			totals[i] += min_i64(end_ns, intervals[j].end_ns) -
				     max_i64(begin_ns, intervals[j].begin_ns);
		}
	}
}

static size_t collect_stages(const struct fsl_rank *rank, enum fsl_stage_kind kind,
			     struct interval *out)
{
	size_t n = 0;
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		if (stage->kind == kind && stage->end_ns > stage->begin_ns) {
			out[n++] = (struct interval){stage->begin_ns, stage->end_ns};
		}
	}
	return n;
}

/* A checkpoint holds up the job whichever rank saves, so the union over all ranks counts. GC pauses
 * of several ranks run side by side, so the longest one counts. */
static enum fsl_status add_pauses(struct fsl_steps *steps, const struct fsl_run *run,
				  struct fsl_error *err)
{
	size_t n_stages = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n_stages += run->ranks[r].n_stages;
	}
	if (n_stages == 0 || steps->n_items == 0) {
		return FSL_OK;
	}
	struct interval *intervals = NULL;
	int64_t *totals = NULL;
	enum fsl_status status = FSL_NEW(intervals, n_stages, "stages", err);
	FSL_THEN(status, FSL_NEW(totals, steps->n_items, "steps", err));
	if (status != FSL_OK) {
		goto out;
	}
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n += collect_stages(&run->ranks[r], FSL_STAGE_CKPT, intervals + n);
	}
	overlap_with_steps(steps, intervals, join_intervals(intervals, n), totals);
	for (size_t i = 0; i < steps->n_items; i++) {
		steps->items[i].ckpt_ns = totals[i];
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		n = collect_stages(&run->ranks[r], FSL_STAGE_GC, intervals);
		overlap_with_steps(steps, intervals, join_intervals(intervals, n), totals);
		for (size_t i = 0; i < steps->n_items; i++) {
			steps->items[i].gc_ns = max_i64(steps->items[i].gc_ns, totals[i]);
		}
	}
out:
	fsl_free(totals);
	fsl_free(intervals);
	return status;
}

/* The first source whose steps cover this share of the operators' time is taken, else the source
 * that covers most: a timeline may have been cut, or recorded for a while only. */
static const double COVER_ENOUGH = 0.8;
/* Share of the time by which a later source must cover more: earlier sources tell steps better. */
static const double COVER_GAIN_MIN = 0.1;

enum source {
	SOURCE_STEP_TIMES,
	SOURCE_DATALOADER,
	SOURCE_FORWARD,
	SOURCE_LOG,
	SOURCE_OP_STEPS,
	SOURCE_OP_PERIOD,
	SOURCES_N
};

static bool has_source(const struct fsl_rank *rank, enum source source)
{
	switch (source) {
	case SOURCE_STEP_TIMES:
		return has_step_times(rank, false);
	case SOURCE_DATALOADER:
		return has_stage(rank, FSL_STAGE_DATALOADER);
	case SOURCE_FORWARD:
		return has_stage(rank, FSL_STAGE_FORWARD);
	case SOURCE_LOG:
		return has_step_times(rank, true);
	case SOURCE_OP_STEPS:
		return rank->n_ops > 0 && rank->ops[0].step >= 0;
	case SOURCE_OP_PERIOD:
		return rank->n_ops >= FSL_STEP_PERIODS_MIN;
	case SOURCES_N:
		break;
	}
	return false;
}

static enum fsl_status from_source(struct fsl_steps *steps, const struct fsl_run *run,
				   const struct fsl_rank *rank, enum source source,
				   struct fsl_error *err)
{
	size_t n_ops = run->step_hint.rank == rank->rank ? run->step_hint.n_ops : 0;
	switch (source) {
	case SOURCE_STEP_TIMES:
		return from_step_times(steps, rank, false, err);
	case SOURCE_DATALOADER:
		return from_stages(steps, rank, FSL_STAGE_DATALOADER, err);
	case SOURCE_FORWARD:
		return from_stages(steps, rank, FSL_STAGE_FORWARD, err);
	case SOURCE_LOG:
		return from_step_times(steps, rank, true, err);
	case SOURCE_OP_STEPS:
		return fsl_steps_from_op_steps(steps, rank, err);
	case SOURCE_OP_PERIOD:
		return fsl_steps_from_op_period(steps, rank, n_ops, err);
	case SOURCES_N:
		break;
	}
	return FSL_FAIL(err, FSL_ERR_INTERNAL, "unknown source of steps: source=%d", (int)source);
}

/* Share of the time of all operators that steps cover; 1 without operators. */
static double cover_of(const struct fsl_steps *steps, const struct fsl_run *run)
{
	int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (rank->n_ops > 0) {
			begin_ns = min_i64(begin_ns, fsl_op_begin_ns(&rank->ops[0]));
			end_ns = max_i64(end_ns, fsl_op_end_ns(&rank->ops[rank->n_ops - 1]));
		}
	}
	if (begin_ns >= end_ns) {
		return 1.0;
	}
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	int64_t first_ns = max_i64(steps->items[0].begin_ns, begin_ns);
	int64_t last_ns = min_i64(last->begin_ns + last->dur_ns, end_ns);
	return (double)(last_ns - first_ns) / (double)(end_ns - begin_ns);
}

/* Steps of a source, and the share of the time that they cover. */
struct choice {
	struct fsl_steps steps;
	double cover;
};

/*
 * True if @steps are only parts of the steps of another source. Layers repeat within steps: in a
 * time range of a few steps, cut steps at both ends leave much of the time uncovered, and the
 * layers would cover more. A timeline that was recorded only for a while says nothing about the
 * rest.
 */
static bool are_parts_of(const struct fsl_steps *steps, const struct choice *told)
{
	static const double COVER_MIN = 0.25;
	if (told->steps.n_items == 0 || told->cover < COVER_MIN) {
		return false;
	}
	int64_t shortest_ns = INT64_MAX;
	for (size_t i = 0; i < told->steps.n_items; i++) {
		shortest_ns = min_i64(shortest_ns, told->steps.items[i].dur_ns);
	}
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	int64_t span_ns = last->begin_ns + last->dur_ns - steps->items[0].begin_ns;
	return span_ns / (int64_t)steps->n_items < shortest_ns / 2;
}

/* Takes the steps of one source, from some of its ranks, if they cover more than @best. */
static enum fsl_status try_source(struct choice *best, const struct fsl_run *run,
				  enum source source, struct fsl_error *err)
{
	enum { RANKS_TRIED_MAX = 8 };
	enum fsl_status status = FSL_OK;
	for (size_t r = 0, n_tried = 0; r < run->n_ranks && n_tried < RANKS_TRIED_MAX &&
					best->cover < COVER_ENOUGH && status == FSL_OK;
	     r++) {
		struct fsl_steps steps = {.source_rank = FSL_RANK_UNKNOWN, .source = ""};
		if (!has_source(&run->ranks[r], source)) {
			continue;
		}
		n_tried++;
		status = from_source(&steps, run, &run->ranks[r], source, err);
		if (source == SOURCE_OP_PERIOD && steps.n_items > 0 && are_parts_of(&steps, best)) {
			fsl_steps_fini(&steps);
		}
		double cover = steps.n_items > 0 ? cover_of(&steps, run) : 0.0;
		if (steps.n_items > 0 &&
		    (best->steps.n_items == 0 || cover > best->cover + COVER_GAIN_MIN)) {
			fsl_steps_fini(&best->steps);
			*best = (struct choice){steps, cover};
		} else {
			fsl_steps_fini(&steps);
		}
	}
	return status;
}

enum fsl_status fsl_steps_build(struct fsl_steps *steps, const struct fsl_run *run,
				struct fsl_error *err)
{
	struct choice best = {.steps = {.source_rank = FSL_RANK_UNKNOWN, .source = ""}};
	enum fsl_status status = FSL_OK;
	for (int source = 0; source < SOURCES_N && status == FSL_OK; source++) {
		status = try_source(&best, run, (enum source)source, err);
	}
	*steps = best.steps;
	FSL_THEN(status, add_pauses(steps, run, err));
	if (status != FSL_OK) {
		fsl_steps_fini(steps);
	}
	return status;
}

void fsl_steps_fini(struct fsl_steps *steps)
{
	fsl_free(steps->items);
	*steps = (struct fsl_steps){.source_rank = FSL_RANK_UNKNOWN, .source = ""};
}

size_t fsl_steps_find(const struct fsl_steps *steps, int64_t time_ns)
{
	size_t next;
	FSL_LOWER_BOUND(next, steps->n_items, steps->items[next].begin_ns <= time_ns);
	if (next == 0) {
		return SIZE_MAX;
	}
	const struct fsl_job_step *item = &steps->items[next - 1];
	bool is_followed = next < steps->n_items && item[1].step == item->step + 1;
	return is_followed || time_ns - item->begin_ns < item->dur_ns ? next - 1 : SIZE_MAX;
}

int64_t fsl_steps_untold_ns(const struct fsl_steps *steps, size_t idx)
{
	static const double SPARE = 1.02; /* work between two steps */
	const struct fsl_job_step *item = &steps->items[idx];
	if (idx == 0 || steps->stride <= 1) {
		return 0;
	}
	int64_t since_ns = item->begin_ns - item[-1].begin_ns - item[-1].dur_ns;
	double ns = SPARE * (double)(item->step - item[-1].step - 1) * (double)item->dur_ns;
	return ns < (double)since_ns ? (int64_t)ns : max_i64(since_ns, 0);
}

double fsl_steps_usual_save_ns(const struct fsl_steps *steps, double *scratch, size_t *n_saves)
{
	static const int64_t SHARE_MIN = 10; /* the rest of a save is less than a tenth of it */
	size_t n = 0;
	for (size_t i = 0; i < steps->n_items; i++) {
		const struct fsl_job_step *item = &steps->items[i];
		int64_t beside_ns = i > 0 ? item[-1].ckpt_ns : 0;
		beside_ns =
			i + 1 < steps->n_items ? max_i64(beside_ns, item[1].ckpt_ns) : beside_ns;
		if (item->ckpt_ns > 0 && item->ckpt_ns >= beside_ns / SHARE_MIN) {
			scratch[n++] = (double)item->ckpt_ns;
		}
	}
	if (n_saves != NULL) {
		*n_saves = n;
	}
	/* The storage may be slow for most of the time. */
	return n > 0 ? fsl_percentile(scratch, n, 25.0, scratch + steps->n_items) : 0.0;
}

size_t fsl_steps_over(const struct fsl_steps *steps, int64_t time_ns)
{
	size_t n = 0;
	while (n < steps->n_items && steps->items[n].begin_ns + steps->items[n].dur_ns <= time_ns) {
		n++;
	}
	return n;
}

size_t fsl_steps_numbered(const struct fsl_steps *steps, int64_t number)
{
	size_t at;
	FSL_LOWER_BOUND(at, steps->n_items, steps->items[at].step < number);
	return at < steps->n_items && steps->items[at].step == number ? at : SIZE_MAX;
}
