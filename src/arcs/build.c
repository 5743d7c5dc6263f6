/* Arcs of a class, and own work beyond them. */
#include "arcs/arcs.h"

#include <omp.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"

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
		bool is_seen =
			class->is_seen == NULL || class->is_seen[member * class->n_steps + s] != 0;
		if (is_seen && n_seen++ % stride == 0) {
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

/* Of @n times behind a candidate the one that few are below, or @least_ns if that is less. Most
 * ranks only count. @values: n, scratch. */
static int64_t soonest(const int64_t *arrival_ns, const int64_t *event_ns, size_t n,
		       int64_t least_ns, int64_t *values)
{
	size_t n_below = 0, k = (size_t)(FSL_ARCS_SOON * (double)(n - 1)), n_kept = 0;
	for (size_t i = 0; i < n; i++) {
		values[i] = arrival_ns[i] - event_ns[i];
		n_below += values[i] < least_ns;
	}
	if (n_below <= k) {
		return least_ns;
	}
	/* The k + 1 least so far, ascending. */
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
	struct sheet sheet;
	/* [position * FSL_ARCS_BLOCK_STEPS + step][FSL_ARCS_USUAL_RANKS_MAX]: arrivals of some
	 * ranks; then their quantile. */
	int64_t (*arrivals_ns)[FSL_ARCS_USUAL_RANKS_MAX];
	double *usual_ns; /* [position * FSL_ARCS_BLOCK_STEPS + step] */
	double (*durations_ms)[FSL_ARCS_USUAL_RANKS_MAX];
	size_t n_told[FSL_ARCS_BLOCK_STEPS]; /* ranks seen in each step */
	double *values;                      /* [2 * n_ranks] */
};

static bool desk_init(struct desk *desk, struct fsl_arena *arena,
		      const struct fsl_arcs_class *class)
{
	size_t n = class->n_positions * FSL_ARCS_BLOCK_STEPS;
	desk->arrivals_ns = fsl_arena_take(arena, n * sizeof(*desk->arrivals_ns));
	desk->usual_ns = fsl_arena_take(arena, n * sizeof(*desk->usual_ns));
	desk->durations_ms =
		fsl_arena_take(arena, FSL_ARCS_BLOCK_STEPS * sizeof(*desk->durations_ms));
	desk->values = fsl_arena_take(arena, 2 * class->n_ranks * sizeof(*desk->values));
	return desk->arrivals_ns != NULL && desk->usual_ns != NULL && desk->durations_ms != NULL &&
	       desk->values != NULL && sheet_init(&desk->sheet, arena, class, FSL_ARCS_BLOCK_STEPS);
}

/* Quantile of @n arrivals by linear interpolation; sorts them. */
static double usual_of(int64_t *arrivals_ns, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t value = arrivals_ns[i];
		size_t at = i;
		for (; at > 0 && arrivals_ns[at - 1] > value; at--) {
			arrivals_ns[at] = arrivals_ns[at - 1];
		}
		arrivals_ns[at] = value;
	}
	double place = FSL_ARCS_LATE * (double)(n - 1);
	size_t k = (size_t)place, next = k + 1 < n ? k + 1 : k;
	/* Times of one step lie close together: the difference is exact. */
	return (place - (double)k) * (double)(arrivals_ns[next] - arrivals_ns[k]) +
	       (double)(arrivals_ns[k] - arrivals_ns[0]);
}

/*
 * Usual arrivals in the steps [first, first + n), from some of the ranks, as the least of them (in
 * arrivals_ns) and what lies above it.
 */
static void find_usual(struct desk *desk, struct fsl_arcs_sums *out,
		       const struct fsl_arcs_class *class, size_t first, size_t n)
{
	size_t n_ranks = class->n_ranks < FSL_ARCS_USUAL_RANKS_MAX ? class->n_ranks
								   : FSL_ARCS_USUAL_RANKS_MAX;
	struct sheet *sheet = &desk->sheet;
	for (size_t i = 0; i < n; i++) {
		desk->n_told[i] = 0;
	}
	for (size_t q = 0; q < n_ranks; q++) {
		fill(sheet, class, q * class->n_ranks / n_ranks, first, n, 1);
		for (size_t i = 0; i < sheet->n; i++) {
			size_t s = sheet->steps[i] - first, at = desk->n_told[s]++;
			for (size_t k = 0; k < class->n_positions; k++) {
				desk->arrivals_ns[k * FSL_ARCS_BLOCK_STEPS + s][at] =
					sheet->begin_ns[(k + 1) * sheet->n + i];
			}
			int64_t last_ns = sheet->end_ns[class->n_positions * sheet->n + i];
			desk->durations_ms[s][at] =
				(double)(last_ns - sheet->end_ns[i]) / FSL_NS_PER_MS;
		}
	}
	for (size_t s = 0; s < n; s++) {
		double scratch[FSL_ARCS_USUAL_RANKS_MAX];
		out->dur_ms[first + s] =
			fsl_median(desk->durations_ms[s], desk->n_told[s], scratch);
		for (size_t k = 0; k < class->n_positions && desk->n_told[s] > 0; k++) {
			size_t at = k * FSL_ARCS_BLOCK_STEPS + s;
			desk->usual_ns[at] = usual_of(desk->arrivals_ns[at], desk->n_told[s]);
		}
	}
}

static void sum_member(struct desk *desk, struct fsl_arcs_sums *out,
		       const struct fsl_arcs_class *class, const int64_t *arcs_ns, size_t member,
		       size_t first)
{
	const struct sheet *sheet = &desk->sheet;
	double excess_ns[FSL_ARCS_BLOCK_STEPS] = {0}, costly_ns[FSL_ARCS_BLOCK_STEPS] = {0};
	for (size_t k = 0; k < class->n_positions && sheet->n > 0; k++) {
		fsl_arcs_explain(sheet->values, arcs_ns, k, sheet->begin_ns, sheet->end_ns,
				 sheet->n);
		for (size_t i = 0; i < sheet->n; i++) {
			size_t at = k * FSL_ARCS_BLOCK_STEPS + sheet->steps[i] - first;
			double own_ns = (double)sheet->values[i];
			double late_ns = (double)(sheet->begin_ns[(k + 1) * sheet->n + i] -
						  desk->arrivals_ns[at][0]) -
					 desk->usual_ns[at];
			double both_ns = own_ns < late_ns ? own_ns : late_ns;
			excess_ns[i] += own_ns;
			costly_ns[i] += both_ns > 0.0 ? both_ns : 0.0;
		}
	}
	for (size_t i = 0; i < sheet->n; i++) {
		size_t at = member * class->n_steps + sheet->steps[i];
		out->excess_ms[at] = excess_ns[i] / FSL_NS_PER_MS;
		out->costly_ms[at] = costly_ns[i] / FSL_NS_PER_MS;
	}
}

/* Takes the level of the faster ranks off the values of a step, as half of all may be slow; unseen
 * ranks are at the level. */
static void level(double *rows, const struct fsl_arcs_class *class, size_t step, double *values)
{
	size_t n = 0;
	for (size_t m = 0; m < class->n_ranks; m++) {
		size_t at = m * class->n_steps + step;
		if (class->is_seen == NULL || class->is_seen[at] != 0) {
			values[n++] = rows[at];
		}
	}
	double level_ms =
		fsl_percentile(values, n, FSL_ARCS_LEVEL_PERCENT, values + class->n_ranks);
	for (size_t m = 0; m < class->n_ranks; m++) {
		size_t at = m * class->n_steps + step;
		bool is_seen = class->is_seen == NULL || class->is_seen[at] != 0;
		rows[at] = is_seen ? rows[at] - level_ms : 0.0;
	}
}

static void sum_block(struct desk *desk, struct fsl_arcs_sums *out,
		      const struct fsl_arcs_class *class, const int64_t *arcs_ns, size_t first)
{
	size_t n = class->n_steps - first;
	n = n < FSL_ARCS_BLOCK_STEPS ? n : FSL_ARCS_BLOCK_STEPS;
	find_usual(desk, out, class, first, n);
	for (size_t m = 0; m < class->n_ranks; m++) {
		fill(&desk->sheet, class, m, first, n, 1);
		sum_member(desk, out, class, arcs_ns, m, first);
	}
	for (size_t s = first; s < first + n; s++) {
		level(out->excess_ms, class, s, desk->values);
		level(out->costly_ms, class, s, desk->values);
	}
}

enum fsl_status fsl_arcs_sum(struct fsl_arcs_sums *out, struct fsl_arena *arena,
			     const struct fsl_arcs_class *class, const int64_t *arcs_ns,
			     struct fsl_error *err)
{
	size_t n_all = 0;
	*out = (struct fsl_arcs_sums){0};
	if (fsl_mul_size(class->n_ranks, class->n_steps * sizeof(*out->excess_ms), &n_all)) {
		out->excess_ms = fsl_arena_take(arena, n_all);
		out->costly_ms = fsl_arena_take(arena, n_all);
		out->dur_ms = fsl_arena_take(arena, 2 * class->n_steps * sizeof(*out->dur_ms));
	}
	bool is_short = out->excess_ms == NULL || out->costly_ms == NULL || out->dur_ms == NULL;
	if (is_short) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", class->n_steps);
	}
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
