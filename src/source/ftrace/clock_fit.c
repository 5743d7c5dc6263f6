/* Search for an offset, coarse to fine. */
#include "source/ftrace/clock_fit.h"

#include "base/sort.h"
#include "source/ftrace/merge.h"

enum {
	RANKS_MAX = 4,         /* ranks that are looked at */
	SLICES_MAX = 1 << 18,  /* of a rank: a bound on memory */
	CALLS_LOOKED_AT = 100, /* of a rank, evenly */
	CALLS_MIN = 20,        /* fewer say nothing */
	PEAKS_MAX = 12,        /* coarse offsets that are refined */
	STEPS_MAX = 400000,    /* of the coarse search: 200 s of trace and job */
	COARSE_NS = 500000,    /* slices are widened by as much */
	COARSE_STRIDE = 4,     /* of calls in the coarse search: a bound on time */
	FINE_NS = 20000,
	APART_NS = 2000000, /* offsets nearer than this are one */
};
static const double SCORE_MIN = 0.9;        /* by the experience with recorded jobs: 1.0 */
static const double SECOND_SHARE_MAX = 0.8; /* of the best score */

struct slice {
	int64_t begin_ns, end_ns;
};

/* One rank: when its main thread ran, and a sample of its calls. */
struct lane {
	int32_t pid;
	struct slice *slices;
	size_t n_slices, slices_capacity;
	bool runs;
	int64_t calls_ns[CALLS_LOOKED_AT];
	size_t n_calls;
};

struct fit {
	struct lane lanes[RANKS_MAX];
	size_t n_lanes;
	int64_t begin_ns, end_ns; /* of the trace */
};

static void choose_lanes(struct fit *fit, const struct fsl_ftrace_ranks *ranks)
{
	for (size_t i = 0; i < ranks->n_items && fit->n_lanes < RANKS_MAX; i++) {
		const struct fsl_ftrace_rank *rank = &ranks->items[i];
		struct lane *lane = &fit->lanes[fit->n_lanes];
		if (rank->n_calls < CALLS_MIN) {
			continue;
		}
		lane->pid = rank->pid;
		lane->n_calls = rank->n_calls < CALLS_LOOKED_AT ? rank->n_calls : CALLS_LOOKED_AT;
		for (size_t k = 0; k < lane->n_calls; k++) {
			lane->calls_ns[k] = rank->calls_ns[k * rank->n_calls / lane->n_calls];
		}
		fit->n_lanes++;
	}
}

/* A slice ends, or begins with an end that is not known yet. */
static enum fsl_status note_switch(struct fit *fit, const struct fsl_sched_event *event,
				   struct fsl_error *err)
{
	for (size_t i = 0; i < fit->n_lanes; i++) {
		struct lane *lane = &fit->lanes[i];
		if (event->task.tid == lane->pid && lane->runs) {
			lane->slices[lane->n_slices - 1].end_ns = event->time_ns;
			lane->runs = false;
		}
		if (event->other.tid == lane->pid && !lane->runs && lane->n_slices < SLICES_MAX) {
			const struct slice slice = {event->time_ns, event->time_ns};
			FSL_TRY(FSL_APPEND(lane, slices, &slice, err));
			lane->runs = true;
		}
	}
	return FSL_OK;
}

static enum fsl_status read_slices(struct fit *fit, const char *const *paths, size_t n_paths,
				   struct fsl_error *err)
{
	struct fsl_ftrace_merge *merge = NULL;
	const struct fsl_sched_event *event = NULL;
	fit->begin_ns = INT64_MAX;
	FSL_TRY(fsl_ftrace_merge_open(&merge, paths, n_paths, false, err));
	enum fsl_status status = fsl_ftrace_merge_next(merge, &event, err);
	while (status == FSL_OK && event != NULL) {
		fit->begin_ns = event->time_ns < fit->begin_ns ? event->time_ns : fit->begin_ns;
		fit->end_ns = event->time_ns;
		if (event->kind == FSL_SCHED_SWITCH) {
			status = note_switch(fit, event, err);
		}
		FSL_THEN(status, fsl_ftrace_merge_next(merge, &event, err));
	}
	fsl_ftrace_merge_close(merge);
	return status;
}

static bool runs_at(const struct lane *lane, int64_t time_ns, int64_t widened_ns)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, lane->n_slices, lane->slices[at].end_ns + widened_ns < time_ns);
	return at < lane->n_slices && lane->slices[at].begin_ns - widened_ns <= time_ns;
}

/* Share of the calls, every @stride-th of them, at which their thread runs. */
static double score_of(const struct fit *fit, int64_t offset_ns, int64_t widened_ns, size_t stride)
{
	size_t n = 0, n_calls = 0;
	for (size_t i = 0; i < fit->n_lanes; i++) {
		const struct lane *lane = &fit->lanes[i];
		for (size_t k = 0; k < lane->n_calls; k += stride) {
			n_calls++;
			n += runs_at(lane, lane->calls_ns[k] - offset_ns, widened_ns);
		}
	}
	return (double)n / (double)n_calls;
}

struct peak {
	int64_t offset_ns;
	double score;
};

/* Keeps the best peaks, best first; of two that are near each other the better one. */
static void keep(struct peak *peaks, size_t *n, struct peak peak)
{
	for (size_t i = 0; i < *n; i++) {
		int64_t apart_ns = peaks[i].offset_ns - peak.offset_ns;
		if (apart_ns > -APART_NS && apart_ns < APART_NS) {
			if (peaks[i].score >= peak.score) {
				return;
			}
			memmove(&peaks[i], &peaks[i + 1], (*n - i - 1) * sizeof(*peaks));
			(*n)--;
			break;
		}
	}
	size_t at = *n;
	while (at > 0 && peaks[at - 1].score < peak.score) {
		at--;
	}
	if (at == PEAKS_MAX) {
		return;
	}
	size_t n_kept = *n < PEAKS_MAX ? *n : PEAKS_MAX - 1;
	memmove(&peaks[at + 1], &peaks[at], (n_kept - at) * sizeof(*peaks));
	peaks[at] = peak;
	*n = n_kept + 1;
}

static void refine(const struct fit *fit, struct peak *peak)
{
	struct peak best = {peak->offset_ns, -1.0};
	for (int64_t o = peak->offset_ns - COARSE_NS; o <= peak->offset_ns + COARSE_NS;
	     o += FINE_NS) {
		double score = score_of(fit, o, 0, 1);
		best = score > best.score ? (struct peak){o, score} : best;
	}
	/* The middle of all offsets that are as good. */
	int64_t first_ns = best.offset_ns;
	while (best.offset_ns - first_ns < APART_NS &&
	       score_of(fit, first_ns - FINE_NS, 0, 1) >= best.score) {
		first_ns -= FINE_NS;
	}
	int64_t last_ns = best.offset_ns;
	while (last_ns - best.offset_ns < APART_NS &&
	       score_of(fit, last_ns + FINE_NS, 0, 1) >= best.score) {
		last_ns += FINE_NS;
	}
	*peak = (struct peak){first_ns + (last_ns - first_ns) / 2, best.score};
}

static void search(const struct fit *fit, int64_t first_ns, int64_t last_ns,
		   struct fsl_clock_fit *out)
{
	struct peak peaks[PEAKS_MAX], best = {0, -1.0}, second = {0, 0.0};
	size_t n = 0;
	for (int64_t o = first_ns; o <= last_ns; o += COARSE_NS) {
		keep(peaks, &n, (struct peak){o, score_of(fit, o, COARSE_NS, COARSE_STRIDE)});
	}
	for (size_t i = 0; i < n; i++) {
		refine(fit, &peaks[i]);
		best = peaks[i].score > best.score ? peaks[i] : best;
	}
	for (size_t i = 0; i < n; i++) {
		int64_t apart_ns = peaks[i].offset_ns - best.offset_ns;
		bool is_other = apart_ns <= -APART_NS || apart_ns >= APART_NS;
		second = is_other && peaks[i].score > second.score ? peaks[i] : second;
	}
	out->offset_ns = best.offset_ns;
	out->score = best.score;
	out->second = second.score;
	out->is_found = best.score >= SCORE_MIN && out->second < SECOND_SHARE_MAX * best.score;
}

enum fsl_status fsl_ftrace_fit_clock(struct fsl_clock_fit *out, const char *const *paths,
				     size_t n_paths, const struct fsl_ftrace_ranks *ranks,
				     struct fsl_error *err)
{
	struct fit fit = {0};
	*out = (struct fsl_clock_fit){0};
	choose_lanes(&fit, ranks);
	if (fit.n_lanes == 0) {
		return FSL_OK;
	}
	enum fsl_status status = read_slices(&fit, paths, n_paths, err);
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t i = 0; i < fit.n_lanes; i++) {
		const struct lane *lane = &fit.lanes[i];
		int64_t end_ns = lane->calls_ns[lane->n_calls - 1];
		first_ns = lane->calls_ns[0] < first_ns ? lane->calls_ns[0] : first_ns;
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	/* Half of the calls at least must lie in the trace, or nothing is worth the score. */
	if (status == FSL_OK && fit.begin_ns < fit.end_ns) {
		int64_t half_ns = (last_ns - first_ns) / 2;
		int64_t low_ns = first_ns + half_ns - fit.end_ns;
		int64_t high_ns = last_ns - half_ns - fit.begin_ns;
		if (high_ns > low_ns && (high_ns - low_ns) / COARSE_NS < STEPS_MAX) {
			search(&fit, low_ns, high_ns, out);
		}
	}
	for (size_t i = 0; i < fit.n_lanes; i++) {
		fsl_free(fit.lanes[i].slices);
	}
	return status;
}
