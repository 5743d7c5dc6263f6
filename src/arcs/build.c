/* Arcs of a class, and own work beyond them. */
#include "arcs/arcs.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"

/* Times of one member in a few steps, and scratch. */
struct sheet {
	uint32_t *steps; /* those that were seen */
	size_t n;
	int64_t *begin_ns, *end_ns; /* as filled */
	int64_t *values;            /* [n_max] */
	size_t n_max;
};

static bool sheet_init(struct sheet *sheet, struct fsl_arena *arena,
		       const struct fsl_arcs_class *class, size_t n_max)
{
	size_t n = 0;
	*sheet = (struct sheet){.n_max = n_max};
	if (!fsl_mul_size((class->n_positions + 1) * sizeof(*sheet->begin_ns), n_max, &n)) {
		return false;
	}
	sheet->steps = fsl_arena_take(arena, n_max * sizeof(*sheet->steps));
	sheet->values = fsl_arena_take(arena, n_max * sizeof(*sheet->values));
	sheet->begin_ns = fsl_arena_take(arena, n);
	sheet->end_ns = fsl_arena_take(arena, n);
	return sheet->steps != NULL && sheet->values != NULL && sheet->begin_ns != NULL &&
	       sheet->end_ns != NULL;
}

/* Fills the sheet with the seen ones of @n steps from @first on, every @stride-th of them. */
static void fill(struct sheet *sheet, const struct fsl_arcs_class *class, size_t member,
		 size_t first, size_t n, size_t stride)
{
	size_t n_seen = 0;
	sheet->n = 0;
	for (size_t s = first; s < first + n; s++) {
		if (fsl_arcs_is_seen(class, member, s) && n_seen++ % stride == 0) {
			FSL_REQUIRE(sheet->n < sheet->n_max);
			sheet->steps[sheet->n++] = (uint32_t)s;
		}
	}
	if (sheet->n > 0) {
		class->fill(class->source, member, sheet->steps, sheet->n, sheet->begin_ns,
			    sheet->end_ns);
	}
}

/* Times of a candidate at place @place, NULL if the anchor lies between. */
static const int64_t *candidate_of(const int64_t *begin_ns, const int64_t *end_ns, size_t place,
				   size_t c, size_t n)
{
	if (c < FSL_ARCS_ENDS_BACK) {
		return c < place ? end_ns + (place - c - 1) * n : NULL;
	}
	size_t back = c - FSL_ARCS_ENDS_BACK + 1;
	return back < place ? begin_ns + (place - back) * n : NULL;
}

/* The @k-th least of @n values, which it overwrites. Among the first of many it keeps only these;
 * few are sorted without a branch, which takes half the time. */
static int64_t kth_of(int64_t *values, size_t n, size_t k)
{
	size_t n_kept = 0;
	if (k > FSL_ARCS_KEPT_MAX || n <= FSL_ARCS_FEW_VALUES) {
		return fsl_select_i64(values, n, k);
	}
	for (size_t i = 0; i < n; i++) {
		int64_t value = values[i];
		if (n_kept > k && value >= values[k]) {
			continue;
		}
		size_t at = n_kept > k ? k : n_kept++;
		for (; at > 0 && values[at - 1] > value; at--) {
			values[at] = values[at - 1];
		}
		values[at] = value;
	}
	return values[k];
}

/* Of @n times behind a candidate the one that few are below, or @least_ns if that is less. Most
 * ranks only count. @values: n, scratch. */
static int64_t soonest(const int64_t *arrival_ns, const int64_t *event_ns, size_t n,
		       int64_t least_ns, int64_t *values)
{
	size_t n_below = 0, k = (size_t)(FSL_ARCS_SOON * (double)(n - 1));
	for (size_t i = 0; i < n; i++) {
		values[i] = arrival_ns[i] - event_ns[i];
		n_below += values[i] < least_ns;
	}
	if (n_below <= k) {
		return least_ns;
	}
	return kth_of(values, n, k);
}

static void learn(int64_t *arcs_ns, const struct fsl_arcs_class *class, struct sheet *sheet)
{
	size_t n = sheet->n;
	for (size_t k = 0; k < class->n_positions && n > 0; k++) {
		const int64_t *arrival_ns = sheet->begin_ns + (k + 1) * n;
		for (size_t c = 0; c < FSL_ARCS_CANDIDATES_N; c++) {
			const int64_t *event_ns =
				candidate_of(sheet->begin_ns, sheet->end_ns, k + 1, c, n);
			int64_t *arc_ns = &arcs_ns[k * FSL_ARCS_CANDIDATES_N + c];
			if (event_ns != NULL) {
				*arc_ns = soonest(arrival_ns, event_ns, n, *arc_ns, sheet->values);
			}
		}
	}
}

enum fsl_status fsl_arcs_build(int64_t *arcs_ns, const struct fsl_arcs_class *class,
			       struct fsl_error *err)
{
	size_t n_arcs = class->n_positions * FSL_ARCS_CANDIDATES_N;
	size_t stride =
		(class->n_steps + FSL_ARCS_LEARNED_STEPS_MAX - 1) / FSL_ARCS_LEARNED_STEPS_MAX;
	bool is_short = false;
	for (size_t i = 0; i < n_arcs; i++) {
		arcs_ns[i] = INT64_MAX;
	}
#pragma omp parallel reduction(|| : is_short)
	{
		struct fsl_arena arena = {0};
		struct sheet sheet;
		int64_t *mine_ns = fsl_arena_take(&arena, n_arcs * sizeof(*mine_ns));
		is_short = !sheet_init(&sheet, &arena, class, FSL_ARCS_LEARNED_STEPS_MAX) ||
			   mine_ns == NULL;
		for (size_t i = 0; i < n_arcs && !is_short; i++) {
			mine_ns[i] = INT64_MAX;
		}
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t m = 0; m < class->n_ranks; m++) {
			if (!is_short) {
				fill(&sheet, class, m, 0, class->n_steps, stride);
				learn(mine_ns, class, &sheet);
			}
		}
#pragma omp critical(arcs)
		for (size_t i = 0; i < n_arcs && !is_short; i++) {
			arcs_ns[i] = mine_ns[i] < arcs_ns[i] ? mine_ns[i] : arcs_ns[i];
		}
		fsl_arena_fini(&arena);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", class->n_ranks)
			: FSL_OK;
}

void fsl_arcs_explain(int64_t *own_ns, const int64_t *arcs_ns, size_t k, const int64_t *begin_ns,
		      const int64_t *end_ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		own_ns[i] = INT64_MIN;
	}
	for (size_t c = 0; c < FSL_ARCS_CANDIDATES_N; c++) {
		const int64_t *event_ns = candidate_of(begin_ns, end_ns, k + 1, c, n);
		int64_t arc_ns = arcs_ns[k * FSL_ARCS_CANDIDATES_N + c];
		for (size_t i = 0; i < n && event_ns != NULL; i++) {
			int64_t at_ns = event_ns[i] + arc_ns;
			own_ns[i] = at_ns > own_ns[i] ? at_ns : own_ns[i];
		}
	}
	for (size_t i = 0; i < n; i++) {
		own_ns[i] = begin_ns[(k + 1) * n + i] - own_ns[i];
	}
}

/* Scratch of one thread for a few steps: all that is summed over positions. */
struct desk {
	struct sheet sheets[FSL_ARCS_USUAL_RANKS_MAX],
		other; /* of the ranks that tell; of one more */
	size_t n_sheets;
	int64_t *usual_ns; /* [position * FSL_ARCS_BLOCK_STEPS + step]: arrivals of the late */
	/* [step * n_ranks + member], ns */
	int64_t *excess_ns, *costly_ns, *values;
	uint32_t *members; /* [n_ranks], scratch */
};

static bool desk_init(struct desk *desk, struct fsl_arena *arena,
		      const struct fsl_arcs_class *class)
{
	size_t n = class->n_ranks * FSL_ARCS_BLOCK_STEPS;
	desk->n_sheets = class->n_ranks < FSL_ARCS_USUAL_RANKS_MAX ? class->n_ranks
								   : FSL_ARCS_USUAL_RANKS_MAX;
	desk->usual_ns = fsl_arena_calloc(arena, class->n_positions,
					  FSL_ARCS_BLOCK_STEPS * sizeof(*desk->usual_ns));
	desk->excess_ns = fsl_arena_calloc(arena, n, sizeof(*desk->excess_ns));
	desk->costly_ns = fsl_arena_calloc(arena, n, sizeof(*desk->costly_ns));
	desk->values = fsl_arena_calloc(arena, class->n_ranks, sizeof(*desk->values));
	desk->members = fsl_arena_calloc(arena, class->n_ranks, sizeof(*desk->members));
	bool is_made = desk->members != NULL && desk->usual_ns != NULL && desk->excess_ns != NULL &&
		       desk->costly_ns != NULL && desk->values != NULL &&
		       sheet_init(&desk->other, arena, class, FSL_ARCS_BLOCK_STEPS);
	for (size_t q = 0; q < desk->n_sheets && is_made; q++) {
		is_made = sheet_init(&desk->sheets[q], arena, class, FSL_ARCS_BLOCK_STEPS);
	}
	return is_made;
}

/* The value that a share of @n > 0 values lies below; reorders them. */
static int64_t at_share(int64_t *values, size_t n, double share)
{
	return kth_of(values, n, (size_t)(share * (double)(n - 1) + 0.5));
}

/* The arrival behind which a rank is late; of few the last but one. Reorders them. */
static int64_t late_of(int64_t *values, size_t n)
{
	size_t k = (size_t)(FSL_ARCS_LATE * (double)(n - 1) + 0.5);
	return kth_of(values, n, k > 0 && k == n - 1 ? k - 1 : k);
}

/* Usual arrivals and durations in the steps [first, first + n), from some of the ranks. */
static void find_usual(struct desk *desk, struct fsl_arcs_sums *out,
		       const struct fsl_arcs_class *class, size_t first, size_t n)
{
	int64_t values[FSL_ARCS_USUAL_RANKS_MAX];
	size_t next[FSL_ARCS_USUAL_RANKS_MAX] = {0}, at[FSL_ARCS_USUAL_RANKS_MAX];
	for (size_t s = 0; s < n; s++) {
		size_t n_told = 0;
		const struct sheet *told[FSL_ARCS_USUAL_RANKS_MAX];
		for (size_t q = 0; q < desk->n_sheets; q++) {
			const struct sheet *sheet = &desk->sheets[q];
			if (next[q] < sheet->n && sheet->steps[next[q]] == first + s) {
				told[n_told] = sheet;
				at[n_told++] = next[q]++;
			}
		}
		for (size_t i = 0; i < n_told; i++) {
			size_t last = class->n_positions * told[i]->n + at[i];
			values[i] = told[i]->end_ns[last] - told[i]->end_ns[at[i]];
		}
		out->dur_ms[first + s] =
			n_told > 0 ? (double)at_share(values, n_told, 0.5) / FSL_NS_PER_MS
				   : (double)NAN;
		for (size_t k = 0; k < class->n_positions && n_told > 0; k++) {
			for (size_t i = 0; i < n_told; i++) {
				values[i] = told[i]->begin_ns[(k + 1) * told[i]->n + at[i]];
			}
			desk->usual_ns[k * FSL_ARCS_BLOCK_STEPS + s] = late_of(values, n_told);
		}
	}
}

static void sum_member(struct desk *desk, const struct sheet *sheet,
		       const struct fsl_arcs_class *class, const int64_t *arcs_ns, size_t member,
		       size_t first)
{
	int64_t excess_ns[FSL_ARCS_BLOCK_STEPS] = {0}, costly_ns[FSL_ARCS_BLOCK_STEPS] = {0};
	for (size_t k = 0; k < class->n_positions && sheet->n > 0; k++) {
		const int64_t *usual_ns = desk->usual_ns + k * FSL_ARCS_BLOCK_STEPS;
		fsl_arcs_explain(sheet->values, arcs_ns, k, sheet->begin_ns, sheet->end_ns,
				 sheet->n);
		for (size_t i = 0; i < sheet->n; i++) {
			int64_t own_ns = sheet->values[i];
			int64_t late_ns = sheet->begin_ns[(k + 1) * sheet->n + i] -
					  usual_ns[sheet->steps[i] - first];
			int64_t both_ns = own_ns < late_ns ? own_ns : late_ns;
			excess_ns[i] += own_ns;
			costly_ns[i] += both_ns > 0 ? both_ns : 0;
		}
	}
	for (size_t i = 0; i < sheet->n; i++) {
		size_t at = (sheet->steps[i] - first) * class->n_ranks + member;
		desk->excess_ns[at] = excess_ns[i];
		desk->costly_ns[at] = costly_ns[i];
	}
}

/* Takes the level of the faster ranks off the values of a step, as half of all may be slow; unseen
 * ranks are at the level. @members: the @n seen ones. */
static void level(double *rows_ms, const int64_t *row_ns, const struct fsl_arcs_class *class,
		  size_t step, const uint32_t *members, size_t n, int64_t *values)
{
	for (size_t i = 0; i < n; i++) {
		values[i] = row_ns[members[i]];
	}
	int64_t level_ns = n > 0 ? at_share(values, n, FSL_ARCS_LEVEL) : 0;
	for (size_t i = 0; i < n; i++) {
		rows_ms[members[i] * class->n_steps + step] =
			(double)(row_ns[members[i]] - level_ns) / FSL_NS_PER_MS;
	}
}

static void sum_block(struct desk *desk, struct fsl_arcs_sums *out,
		      const struct fsl_arcs_class *class, const int64_t *arcs_ns, size_t first)
{
	size_t n = class->n_steps - first, q = 0;
	n = n < FSL_ARCS_BLOCK_STEPS ? n : FSL_ARCS_BLOCK_STEPS;
	for (size_t k = 0; k < desk->n_sheets; k++) {
		fill(&desk->sheets[k], class, k * class->n_ranks / desk->n_sheets, first, n, 1);
	}
	find_usual(desk, out, class, first, n);
	for (size_t m = 0; m < class->n_ranks; m++) {
		bool is_told = q < desk->n_sheets && m == q * class->n_ranks / desk->n_sheets;
		struct sheet *sheet = is_told ? &desk->sheets[q++] : &desk->other;
		if (!is_told) {
			fill(sheet, class, m, first, n, 1);
		}
		sum_member(desk, sheet, class, arcs_ns, m, first);
	}
	for (size_t s = 0; s < n; s++) {
		size_t at = s * class->n_ranks;
		size_t n_seen = 0;
		for (size_t m = 0; m < class->n_ranks; m++) {
			desk->members[n_seen] = (uint32_t)m;
			n_seen += fsl_arcs_is_seen(class, m, first + s);
		}
		level(out->excess_ms, desk->excess_ns + at, class, first + s, desk->members, n_seen,
		      desk->values);
		level(out->costly_ms, desk->costly_ns + at, class, first + s, desk->members, n_seen,
		      desk->values);
	}
}

enum fsl_status fsl_arcs_sum(struct fsl_arcs_sums *out, struct fsl_arena *arena,
			     const struct fsl_arcs_class *class, const int64_t *arcs_ns,
			     struct fsl_error *err)
{
	size_t n_steps = class->n_steps, n_all = 0;
	bool is_short = false;
	*out = (struct fsl_arcs_sums){0};
	n_all = fsl_mul_size(class->n_ranks, n_steps, &n_all) ? n_all : SIZE_MAX;
	FSL_TRY(FSL_ARENA_NEW(out->excess_ms, arena, n_all, "excess_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->costly_ms, arena, n_all, "costly_ms", err));
	FSL_TRY(FSL_ARENA_NEW(out->dur_ms, arena, 2 * n_steps, "dur_ms", err));
#pragma omp parallel reduction(|| : is_short)
	{
		struct fsl_arena scratch = {0};
		struct desk desk;
		is_short = !desk_init(&desk, &scratch, class);
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t first = 0; first < class->n_steps; first += FSL_ARCS_BLOCK_STEPS) {
			if (!is_short) {
				sum_block(&desk, out, class, arcs_ns, first);
			}
		}
		fsl_arena_fini(&scratch);
	}
	if (is_short) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", class->n_steps);
	}
	out->step_ms = fsl_median(out->dur_ms, class->n_steps, out->dur_ms + class->n_steps);
	return FSL_OK;
}
