/* Remarks on contradictions inside a set. */
#include "source/ascend/cross_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/step_rows.h"
#include "source/ascend/other_runs.h"

/* Greatest difference as a share of the step. A slice across the end of a step may be credited
 * differently; a greater difference means another step or half a file. */
static const double PART_SHARE_MAX = 0.01;

/* Clocks of hosts differ by less than this; captures further apart are of different runs. */
static const int64_t APART_NS = INT64_C(60) * FSL_NS_PER_S;

/* Parts of a step that both sources have. */
static const enum fsl_profile_part compared[] = {FSL_PART_COMPUTING, FSL_PART_EXPOSED,
						 FSL_PART_FREE};

/* The greatest difference in a set, and the number of ranks with a difference. */
struct difference {
	size_t n_ranks;
	double share; /* as a share of the step */
	int32_t rank;
	int64_t step;
	enum fsl_profile_part part;
	int64_t told_ns, rebuilt_ns;
};

/* " 13"; "" if steps have no numbers. */
static const char *step_text(char *text, size_t size, int64_t step)
{
	text[0] = '\0';
	if (step != FSL_STEP_ABSENT) {
		(void)snprintf(text, size, " %" PRId64, step);
	}
	return text;
}

static int compare_steps(const void *left, const void *right)
{
	const struct fsl_profile_step *a = left, *b = right;
	return FSL_ORDER(a->step, b->step);
}

/* Copy sorted by step number; NULL if memory is short. Free it. */
static struct fsl_profile_step *sort_rows(const struct fsl_profile_step *rows, size_t n)
{
	struct fsl_profile_step *sorted = fsl_calloc(n + 1, sizeof(*sorted));
	if (sorted != NULL && n > 0) {
		memcpy(sorted, rows, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), compare_steps);
	}
	return sorted;
}

/* True if @told and @rebuilt differ; keeps the greatest difference. */
static bool compare_rows(struct difference *most, int32_t rank, const struct fsl_profile_step *told,
			 const struct fsl_profile_step *rebuilt)
{
	double whole_ns = (double)fsl_profile_step_ns(told);
	bool is_other = false;
	for (size_t k = 0; k < sizeof(compared) / sizeof(compared[0]); k++) {
		int64_t a_ns = fsl_profile_part_ns(told, compared[k]);
		int64_t b_ns = fsl_profile_part_ns(rebuilt, compared[k]);
		double share = fabs((double)a_ns - (double)b_ns) / whole_ns;
		if (a_ns < 0 || b_ns < 0 || !(share > PART_SHARE_MAX)) {
			continue;
		}
		is_other = true;
		if (share > most->share) {
			*most = (struct difference){most->n_ranks, share, rank, told->step,
						    compared[k],   a_ns,  b_ns};
		}
	}
	return is_other;
}

/* Compares rows with equal numbers, or the only row of each. */
static enum fsl_status compare_rank(struct difference *most, const struct fsl_profile_rank *rank,
				    struct fsl_error *err)
{
	struct fsl_profile_step *told = sort_rows(rank->steps, rank->n_steps);
	struct fsl_profile_step *rebuilt = sort_rows(rank->rebuilt, rank->n_rebuilt);
	bool is_only = rank->n_steps == 1 && rank->n_rebuilt == 1, is_other = false;
	enum fsl_status status = told != NULL && rebuilt != NULL
					 ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu",
						    rank->n_steps + rank->n_rebuilt);
	for (size_t t = 0, r = 0; status == FSL_OK && t < rank->n_steps && r < rank->n_rebuilt;) {
		int order = is_only ? 0 : compare_steps(&told[t], &rebuilt[r]);
		if (order == 0) {
			is_other |= compare_rows(most, rank->rank, &told[t], &rebuilt[r]);
		}
		t += order <= 0 ? 1 : 0;
		r += order >= 0 ? 1 : 0;
	}
	most->n_ranks += is_other ? 1 : 0;
	fsl_free(rebuilt);
	fsl_free(told);
	return status;
}

static enum fsl_status check_parts(struct fsl_profile *profile, struct fsl_error *err)
{
	struct difference most = {0};
	char step[32];
	for (size_t r = 0; r < profile->n_ranks; r++) {
		FSL_TRY(compare_rank(&most, &profile->ranks[r], err));
	}
	if (most.n_ranks == 0) {
		return FSL_OK;
	}
	return fsl_profile_remark(
		profile, err,
		"the profiler's steps and its kernels do not agree on %zu of %zu ranks, least on "
		"rank %d: %s in step%s is %.1f ms, by the kernels %.1f ms; the former is used, a "
		"file may hold a part of the capture",
		most.n_ranks, profile->n_ranks, (int)most.rank, fsl_profile_part_text(most.part),
		step_text(step, sizeof(step), most.step),
		(double)most.told_ns / (double)FSL_NS_PER_MS,
		(double)most.rebuilt_ns / (double)FSL_NS_PER_MS);
}

/*
 * Lists all step numbers of the set, ascending, each once. @steps: room for the rows of all ranks.
 */
static size_t list_steps(const struct fsl_profile *profile, int64_t *steps)
{
	size_t n_all = 0, n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n_rows = 0;
		const struct fsl_profile_step *rows =
			fsl_profile_step_rows(&profile->ranks[r], &n_rows);
		for (size_t i = 0; i < n_rows; i++) {
			if (rows[i].step != FSL_STEP_ABSENT) {
				steps[n_all++] = rows[i].step;
			}
		}
	}
	qsort(steps, n_all, sizeof(*steps), fsl_compare_i64);
	for (size_t i = 0; i < n_all; i++) {
		if (n == 0 || steps[n - 1] != steps[i]) {
			steps[n++] = steps[i];
		}
	}
	return n;
}

/* The first of @steps (ascending) that the rank lacks; FSL_STEP_ABSENT: none. */
static enum fsl_status find_lacking(int64_t *lacking, const struct fsl_profile_rank *rank,
				    const int64_t *steps, size_t n, struct fsl_error *err)
{
	size_t n_rows = 0, s = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n_rows);
	struct fsl_profile_step *own = sort_rows(rows, n_rows);
	*lacking = FSL_STEP_ABSENT;
	if (own == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n_rows);
	}
	for (size_t i = 0; i < n_rows && s < n; i++) {
		s += own[i].step == steps[s] ? 1 : 0;
	}
	if (n_rows > 0 && s < n) { /* another remark reports ranks without any steps */
		*lacking = steps[s];
	}
	fsl_free(own);
	return FSL_OK;
}

static enum fsl_status tell_lacking(struct fsl_profile *profile, const int64_t *steps, size_t n,
				    struct fsl_error *err)
{
	size_t n_lacking = 0;
	int32_t first_rank = -1;
	int64_t first_step = FSL_STEP_ABSENT, step = FSL_STEP_ABSENT;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		FSL_TRY(find_lacking(&step, &profile->ranks[r], steps, n, err));
		if (step != FSL_STEP_ABSENT) {
			first_step = n_lacking == 0 ? step : first_step;
			first_rank = n_lacking == 0 ? profile->ranks[r].rank : first_rank;
			n_lacking++;
		}
	}
	return n_lacking == 0
		       ? FSL_OK
		       : fsl_profile_remark(profile, err,
					    "%zu of %zu ranks lack steps that others have, rank %d "
					    "lacks step %" PRId64 ": means are over what each has",
					    n_lacking, profile->n_ranks, (int)first_rank,
					    first_step);
}

static enum fsl_status check_steps(struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n_max = 1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n_rows = 0;
		(void)fsl_profile_step_rows(&profile->ranks[r], &n_rows);
		n_max += n_rows;
	}
	int64_t *steps = fsl_calloc(n_max, sizeof(*steps));
	if (steps == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n_max);
	}
	enum fsl_status status = tell_lacking(profile, steps, list_steps(profile, steps), err);
	fsl_free(steps);
	return status;
}

/* Allows for missing steps at the edges: they get lost, and jobs end before their schedule. */
static enum fsl_status check_schedule(struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n_short = 0, n_least = SIZE_MAX;
	int64_t n_asked = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		size_t n = fsl_profile_n_steps(rank);
		bool is_short = rank->n_steps + rank->n_rebuilt > 0 &&
				rank->info.n_active_steps > (int64_t)n;
		n_short += is_short ? 1 : 0;
		if (is_short && n < n_least) {
			n_least = n;
			n_asked = rank->info.n_active_steps;
		}
	}
	return n_short == 0 ? FSL_OK
			    : fsl_profile_remark(profile, err,
						 "%zu of the %" PRId64
						 " steps that the profiler's schedule asked for "
						 "were captured, on %zu of %zu ranks",
						 n_least, n_asked, n_short, profile->n_ranks);
}

/* Finds folders of several runs that were put together, one under each rank. */
static enum fsl_status check_times(struct fsl_profile *profile, struct fsl_error *err)
{
	int64_t first_end_ns = INT64_MAX, last_begin_ns = INT64_MIN;
	int32_t first = -1, last = -1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		int64_t begin_ns = 0, end_ns = 0;
		if (!fsl_profile_find_span(&profile->ranks[r], &begin_ns, &end_ns)) {
			continue;
		}
		if (end_ns < first_end_ns) {
			first_end_ns = end_ns;
			first = profile->ranks[r].rank;
		}
		if (begin_ns > last_begin_ns) {
			last_begin_ns = begin_ns;
			last = profile->ranks[r].rank;
		}
	}
	if (first < 0 || last_begin_ns < first_end_ns || last_begin_ns - first_end_ns < APART_NS) {
		return FSL_OK;
	}
	return fsl_profile_remark(profile, err,
				  "the ranks may be of several runs: rank %d was captured %" PRId64
				  " s after rank %d",
				  (int)last, (last_begin_ns - first_end_ns) / FSL_NS_PER_S,
				  (int)first);
}

static enum fsl_status tell_bare_times(struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n += profile->ranks[r].has_bare_times ? 1 : 0;
	}
	return n == 0 ? FSL_OK
		      : fsl_profile_remark(
				profile, err,
				"\"Task Start Time\" has no unit in op_summary of %zu of "
				"%zu ranks: read as us, the unit of msprof",
				n, profile->n_ranks);
}

enum fsl_status fsl_profile_cross_check(struct fsl_profile *profile, bool has_choice,
					struct fsl_error *err)
{
	FSL_TRY(check_parts(profile, err));
	FSL_TRY(check_steps(profile, err));
	FSL_TRY(check_times(profile, err));
	FSL_TRY(tell_bare_times(profile, err));
	return !has_choice ? check_schedule(profile, err) : FSL_OK;
}
