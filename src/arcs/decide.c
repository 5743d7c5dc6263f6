/* Who is slow: the excess of each rank against that of its class, in time and in cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "arcs/arcs.h"
#include "base/log.h"
#include "base/mem.h"

enum { N = FSL_ARCS_BLOCK_N };

/* A case in blocks of steps, the last of which ends with the capture; and how its ranks stand in
 * the blocks from @first on. All as shares of the step. */
struct view {
	const struct fsl_arcs_case *c;
	size_t n_blocks, first;
	bool is_cut;           /* there are enough steps behind @first */
	double *excess, *cost; /* [member * n_blocks + block], means */
	/* [member]: medians over the blocks; excess less the median of the class. */
	double *usual_excess, *usual_cost;
	size_t n_costly;           /* ranks that may be named */
	double *steady_share;      /* [member], of blocks in which it was slow */
	double spread;             /* of the excess of the ranks */
	struct fsl_indexed *order; /* [member], largest excess first */
	bool *is_named;            /* [member] */
	double *scratch;           /* shared: 4 * (n_ranks + n_steps) of all cases */
};

static double mean_of(const double *values, size_t n)
{
	double sum = 0.0;
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
	}
	return sum / (double)n;
}

/* Standard error of the median of @n values, as of normal ones that are as wide between their
 * 16 % and 84 % quantiles: single long blocks, with an evaluation say, widen nothing. */
static double error_of(const double *values, size_t n, double *scratch)
{
	double width = fsl_percentile(values, n, 84.13, scratch) -
		       fsl_percentile(values, n, 15.87, scratch);
	return 1.25 * 0.5 * width / sqrt((double)n);
}

static bool view_init(struct view *v, struct fsl_arena *arena, const struct fsl_arcs_case *c,
		      double *scratch)
{
	size_t n_blocks = c->n_steps / N, n = c->n_ranks * n_blocks;
	double *rows = fsl_arena_take(arena, (2 * n + 3 * c->n_ranks) * sizeof(*rows));
	*v = (struct view){.c = c, .n_blocks = n_blocks, .scratch = scratch};
	v->order = fsl_arena_take(arena, c->n_ranks * sizeof(*v->order));
	v->is_named = fsl_arena_take(arena, c->n_ranks * sizeof(*v->is_named));
	if (rows == NULL || v->order == NULL || v->is_named == NULL) {
		return false;
	}
	v->excess = rows;
	v->cost = rows + n;
	v->usual_excess = v->cost + n;
	v->usual_cost = v->usual_excess + c->n_ranks;
	v->steady_share = v->usual_cost + c->n_ranks;
	for (size_t i = 0; i < n; i++) {
		size_t at = i / n_blocks * c->n_steps + c->n_steps % N + i % n_blocks * N;
		v->excess[i] = mean_of(c->sums.excess_ms + at, N) / c->sums.step_ms;
		v->cost[i] = mean_of(c->sums.costly_ms + at, N) / c->sums.step_ms;
	}
	return true;
}

static size_t first_step(const struct view *v)
{
	return v->c->n_steps % N + N * v->first;
}

/* Looks at what ranks cost in the steps behind a share of them; false: too few steps. */
static bool view_costs(struct view *v, double share)
{
	size_t n_steps = v->c->n_steps, begin = (size_t)(share * (double)n_steps);
	size_t n = (n_steps - begin) / N;
	v->n_costly = 0;
	if (n_steps - begin < FSL_ARCS_STEPS_MIN) {
		return false;
	}
	v->first = v->n_blocks - n;
	for (size_t m = 0; m < v->c->n_ranks; m++) {
		const double *cost = v->cost + m * v->n_blocks + v->first;
		size_t n_slow = 0;
		for (size_t b = 0; b < n; b++) {
			n_slow += cost[b] > FSL_ARCS_COST_PART * FSL_ARCS_COST_MIN;
		}
		/* With fewer than half of the blocks above it, the median is below. */
		bool is_costly = 2 * n_slow >= n;
		v->usual_cost[m] = is_costly ? fsl_median(cost, n, v->scratch) : 0.0;
		v->steady_share[m] = (double)n_slow / (double)n;
		v->n_costly += is_costly;
	}
	return true;
}

/* How ranks stand in the same steps. */
static void view_excess(struct view *v)
{
	size_t n = v->n_blocks - v->first;
	for (size_t m = 0; m < v->c->n_ranks && v->is_cut; m++) {
		const double *excess = v->excess + m * v->n_blocks + v->first;
		v->usual_excess[m] = fsl_median(excess, n, v->scratch);
	}
	double median = fsl_median(v->usual_excess, v->c->n_ranks, v->scratch);
	for (size_t m = 0; m < v->c->n_ranks && v->is_cut; m++) {
		v->usual_excess[m] -= median;
	}
}

/* Spread of healthy ranks: of the faster side, where no culprit is, if that is larger. A small
 * class has too few: those of all classes tell. */
static void set_spread(struct view *v, const struct view *views, size_t n_views)
{
	double *pool = v->scratch;
	size_t n = 0, n_low = 0;
	for (size_t i = 0; i < n_views; i++) {
		const struct view *other = &views[i];
		bool is_pooled = v->c->n_ranks < FSL_ARCS_POOLED_RANKS && other->is_cut;
		for (size_t m = 0; m < other->c->n_ranks && (other == v || is_pooled); m++) {
			pool[n++] = other->usual_excess[m];
		}
	}
	v->spread = fsl_mad_sigma(pool, n, 0.0, pool + n);
	for (size_t i = 0; i < n; i++) {
		if (pool[i] <= 0.0) {
			pool[n_low++] = -pool[i];
		}
	}
	if (n_low > 2) {
		v->spread = fmax(v->spread, fsl_percentile(pool, n_low, 100.0 * FSL_ARCS_LOWER_SIDE,
							   pool + n_low));
	}
}

static double z_of(const struct view *v, size_t m)
{
	double error = error_of(v->excess + m * v->n_blocks + v->first, v->n_blocks - v->first,
				v->scratch);
	return v->usual_excess[m] / sqrt(error * error + v->spread * v->spread +
					 FSL_ARCS_SPREAD_MIN * FSL_ARCS_SPREAD_MIN);
}

static void sort_by_excess(struct view *v)
{
	size_t n = v->c->n_ranks;
	for (size_t m = 0; m < n; m++) {
		v->order[m] = (struct fsl_indexed){-v->usual_excess[m], (uint32_t)m};
		v->is_named[m] = false;
	}
	fsl_indexed_sort(v->order, n);
}

/* Largest excess of a costly rank that is not marked in @is_named. */
static double next_excess(const struct view *v)
{
	double most = 0.0;
	for (size_t m = 0; m < v->c->n_ranks; m++) {
		bool is_costly = v->usual_cost[m] > FSL_ARCS_COST_PART * FSL_ARCS_COST_MIN;
		if (!v->is_named[m] && is_costly) {
			most = fmax(most, v->usual_excess[m]);
		}
	}
	return most;
}

/* Names the largest set of candidates that stands out from all others; returns how many, the first
 * of @order. */
static size_t name_apart(struct view *v)
{
	size_t n_marked = 0, n_named = 0;
	sort_by_excess(v);
	for (size_t i = 0; i < v->c->n_ranks && n_marked < v->c->n_ranks / 2; i++) {
		size_t m = v->order[i].idx;
		if (v->usual_cost[m] > FSL_ARCS_COST_MIN &&
		    v->usual_excess[m] > FSL_ARCS_EXCESS_MIN && z_of(v, m) > FSL_ARCS_Z_MIN &&
		    v->steady_share[m] >= FSL_ARCS_BLOCKS_SHARE_MIN) {
			v->is_named[m] = true;
			v->order[n_marked++].idx = (uint32_t)m;
			if (next_excess(v) <= FSL_ARCS_GAP_MAX * v->usual_excess[m]) {
				n_named = n_marked;
			}
		}
	}
	for (size_t i = n_named; i < n_marked; i++) {
		v->is_named[v->order[i].idx] = false;
	}
	return n_named;
}

/* True if a member was as slow before. */
static bool was_slow_before(const struct view *v, size_t m)
{
	double before_ms =
		fsl_median(v->c->sums.excess_ms + m * v->c->n_steps, first_step(v), v->scratch);
	return before_ms / v->c->sums.step_ms > FSL_ARCS_BEFORE_PART * v->usual_excess[m];
}

/* True if what began with the window made the steps longer, or if it began earlier, or beneath a
 * culprit as large that did. */
static bool has_cost(const struct view *v, size_t m, size_t n_named)
{
	if (first_step(v) < FSL_ARCS_CHANGE_STEPS_MIN || was_slow_before(v, m)) {
		return true;
	}
	const double *dur_ms = v->c->sums.dur_ms;
	double rise_ms =
		fsl_median(dur_ms + first_step(v), v->c->n_steps - first_step(v), v->scratch) -
		fsl_median(dur_ms, first_step(v), v->scratch);
	double least = fmin(FSL_ARCS_GROWTH_PART * v->usual_cost[m], FSL_ARCS_GROWTH_MIN);
	bool is_beneath = false;
	for (size_t i = 0; i < n_named; i++) {
		size_t k = v->order[i].idx;
		is_beneath |= k != m && v->usual_cost[k] > 0.7 * v->usual_cost[m] &&
			      was_slow_before(v, k);
	}
	return rise_ms > least * v->c->sums.step_ms || is_beneath;
}

/* Step from which on a rank was slow to the end: what lies above half of its excess, added up from
 * the end, is most there. */
static size_t onset_of(const struct view *v, size_t m, double excess)
{
	size_t n = v->c->n_steps, best = n - 1;
	double sum = 0.0, most = 0.0, half = FSL_ARCS_BEFORE_PART * excess;
	for (size_t s = n; s-- > 0;) {
		sum += fmin(v->c->sums.excess_ms[m * n + s] / v->c->sums.step_ms - half, half);
		if (sum > most) {
			most = sum;
			best = s;
		}
	}
	return best;
}

static void name_lasting(struct view *v)
{
	size_t n_named = name_apart(v);
	for (size_t i = 0; i < n_named; i++) {
		size_t m = v->order[i].idx;
		struct fsl_arcs_verdict *verdict = &v->c->verdicts[m];
		bool is_better =
			!fsl_arcs_is_slow(verdict->word) ||
			(verdict->word == FSL_ARCS_LASTING && v->usual_cost[m] > verdict->cost);
		if (is_better && has_cost(v, m, n_named)) {
			*verdict = (struct fsl_arcs_verdict){
				.word = FSL_ARCS_LASTING,
				.cost = v->usual_cost[m],
				.excess = v->usual_excess[m],
				.z = z_of(v, m),
				.onset = onset_of(v, m, v->usual_excess[m])};
		}
	}
}

/* Spread of the ranks in each block, [n_blocks]; takes their medians off the excess. */
static void set_sigmas(struct view *v, double *sigmas)
{
	size_t n = v->c->n_ranks;
	double *column = v->scratch, *scratch = column + n;
	for (size_t b = 0; b < v->n_blocks; b++) {
		for (size_t m = 0; m < n; m++) {
			column[m] = v->excess[m * v->n_blocks + b];
		}
		double median = fsl_median(column, n, scratch);
		sigmas[b] = fsl_mad_sigma(column, n, median, scratch);
		for (size_t m = 0; m < n; m++) {
			v->excess[m * v->n_blocks + b] -= median;
		}
	}
	double usual = fsl_median(sigmas, v->n_blocks, v->scratch);
	for (size_t b = 0; b < v->n_blocks; b++) {
		sigmas[b] = hypot(fmax(sigmas[b], usual), FSL_ARCS_SPREAD_MIN);
	}
}

/* True if a rank is far from the others in a block, at a cost. */
static bool is_far(const struct view *v, const double *sigmas, size_t m, size_t b)
{
	return v->excess[m * v->n_blocks + b] > FSL_ARCS_FAR_SIGMAS * sigmas[b] &&
	       v->cost[m * v->n_blocks + b] > FSL_ARCS_FAR_COST_MIN;
}

/* Whether the cost of a member that is not named may make it far in enough blocks. */
static bool may_come(const struct view *v)
{
	for (size_t m = 0; m < v->c->n_ranks; m++) {
		size_t n = 0;
		for (size_t b = 0; b < v->n_blocks; b++) {
			n += v->cost[m * v->n_blocks + b] > FSL_ARCS_FAR_COST_MIN;
		}
		if (n >= FSL_ARCS_FAR_BLOCKS_MIN && !fsl_arcs_is_slow(v->c->verdicts[m].word)) {
			return true;
		}
	}
	return false;
}

/* The member that is far in most blocks, of those not named; none if others are far as well. */
static size_t find_far(const struct view *v, const double *sigmas)
{
	size_t first = SIZE_MAX, n_first = 0, n_second = 0;
	for (size_t m = 0; m < v->c->n_ranks; m++) {
		size_t n = 0;
		for (size_t b = 0; b < v->n_blocks; b++) {
			n += is_far(v, sigmas, m, b);
		}
		if (fsl_arcs_is_slow(v->c->verdicts[m].word)) {
			continue;
		}
		n_second = n > n_first ? n_first : n > n_second ? n : n_second;
		first = n > n_first ? m : first;
		n_first = n > n_first ? n : n_first;
	}
	bool is_alone = n_first >= FSL_ARCS_FAR_BLOCKS_MIN &&
			(double)n_second <= FSL_ARCS_FAR_OTHERS_PART * (double)n_first;
	return is_alone ? first : SIZE_MAX;
}

/* True if the steps of the blocks in which a member is far are longer than others; *onset: the
 * first of them. */
static bool has_far_cost(const struct view *v, const double *sigmas, size_t m, size_t *onset)
{
	size_t n_far = 0, n_rest = 0, first = v->c->n_steps % N;
	double far_ms = 0.0, *rest_ms = v->scratch, *cost = rest_ms + v->n_blocks,
	       *scratch = cost + v->n_blocks;
	for (size_t b = v->n_blocks; b-- > 0;) {
		double dur_ms = mean_of(v->c->sums.dur_ms + first + N * b, N);
		if (is_far(v, sigmas, m, b)) {
			*onset = first + N * b;
			far_ms += dur_ms;
			cost[n_far++] = v->cost[m * v->n_blocks + b];
		} else {
			rest_ms[n_rest++] = dur_ms;
		}
	}
	double rise_ms = far_ms / (double)n_far - fsl_median(rest_ms, n_rest, scratch);
	double cost_ms = fsl_median(cost, n_far, scratch) * v->c->sums.step_ms;
	return n_rest < 2 || rise_ms > FSL_ARCS_GROWTH_PART * cost_ms;
}

/* Names a rank that is far out in several blocks while nobody else is. @sigmas: scratch. */
static void name_coming(struct view *v, double *sigmas)
{
	if (v->n_blocks < FSL_ARCS_FAR_BLOCKS_SEEN || !may_come(v)) {
		return;
	}
	set_sigmas(v, sigmas);
	size_t m = find_far(v, sigmas), onset = 0;
	double cost = m != SIZE_MAX ? mean_of(v->cost + m * v->n_blocks, v->n_blocks) : 0.0;
	if (cost > FSL_ARCS_COST_PART * FSL_ARCS_COST_MIN && has_far_cost(v, sigmas, m, &onset)) {
		double excess = mean_of(v->excess + m * v->n_blocks, v->n_blocks);
		v->c->verdicts[m] = (struct fsl_arcs_verdict){.word = FSL_ARCS_COMES,
							      .cost = cost,
							      .excess = excess,
							      .z = NAN,
							      .onset = onset};
	}
}

/* Values of the ranks of a host, and of the others behind them; returns how many are of the host.
 * Values lie @stride apart. */
static size_t part_host(double *parts, const struct view *v, uint32_t host, const double *values,
			size_t stride)
{
	size_t n_in = 0, n_out = 0, n = v->c->n_ranks;
	for (size_t m = 0; m < n; m++) {
		n_in += v->c->host_of[m] == host;
	}
	for (size_t m = 0, at = 0; m < n; m++) {
		bool is_in = v->c->host_of[m] == host;
		parts[is_in ? at++ : n_in + n_out++] = values[m * stride];
	}
	return n_in;
}

/* How far a host lies above all others; 0 if its ranks and theirs overlap, or by chance. */
static double host_excess(const struct view *v, uint32_t host)
{
	size_t n = v->c->n_ranks, n_blocks = v->n_blocks - v->first, n_slow = 0;
	double *parts = v->scratch, *above = parts + n, *scratch = above + n_blocks;
	size_t n_in = part_host(parts, v, host, v->usual_excess, 1), n_out = n - n_in;
	if (n_in < FSL_ARCS_HOST_RANKS_MIN || n_out < FSL_ARCS_HOST_RANKS_MIN ||
	    fsl_agg_apply(FSL_AGG_MIN, 0.0, parts, n_in, scratch) <=
		    fsl_agg_apply(FSL_AGG_MAX, 0.0, parts + n_in, n_out, scratch)) {
		return 0.0;
	}
	double level = fsl_median(parts + n_in, n_out, scratch);
	double sigma = fsl_mad_sigma(parts + n_in, n_out, level, scratch);
	double excess = fsl_median(parts, n_in, scratch) - level;
	for (size_t b = 0; b < n_blocks; b++) {
		(void)part_host(parts, v, host, v->excess + v->first + b, v->n_blocks);
		above[b] =
			fsl_median(parts, n_in, scratch) - fsl_median(parts + n_in, n_out, scratch);
		n_slow += above[b] > FSL_ARCS_COST_PART * FSL_ARCS_COST_MIN;
	}
	double error = hypot(error_of(above, n_blocks, scratch), FSL_ARCS_SPREAD_MIN);
	bool is_clear = excess > FSL_ARCS_COST_MIN && excess > FSL_ARCS_HOST_SIGMAS * sigma &&
			excess > FSL_ARCS_Z_MIN * error &&
			(double)n_slow >= FSL_ARCS_BLOCKS_SHARE_MIN * (double)n_blocks;
	return is_clear ? excess : 0.0;
}

/* True if some host may be compared with others. */
static bool has_hosts(const struct view *v)
{
	double *n_of = v->scratch; /* a host has the number of its first rank */
	bool is_found = false;
	memset(n_of, 0, v->c->n_ranks * sizeof(*n_of));
	for (size_t m = 0; m < v->c->n_ranks; m++) {
		n_of[v->c->host_of[m]]++;
	}
	for (size_t m = 0; m < v->c->n_ranks; m++) {
		is_found |= n_of[m] >= FSL_ARCS_HOST_RANKS_MIN &&
			    (double)v->c->n_ranks - n_of[m] >= FSL_ARCS_HOST_RANKS_MIN;
	}
	return is_found;
}

/* Names all ranks of one host if it lies apart from all others. */
static void name_host(struct view *v)
{
	uint32_t named = UINT32_MAX;
	double excess = 0.0;
	const uint32_t *host_of = v->c->host_of;
	for (size_t m = 0; m < v->c->n_ranks; m++) { /* a host has the number of its first rank */
		double found = host_of[m] == m ? host_excess(v, host_of[m]) : 0.0;
		if (found > 0.0 && named != UINT32_MAX) {
			return;
		}
		named = found > 0.0 ? host_of[m] : named;
		excess = found > 0.0 ? found : excess;
	}
	for (size_t m = 0; m < v->c->n_ranks && named != UINT32_MAX; m++) {
		if (host_of[m] == named) {
			v->c->verdicts[m] =
				(struct fsl_arcs_verdict){.word = FSL_ARCS_HOST,
							  .cost = excess,
							  .excess = excess,
							  .z = NAN,
							  .onset = onset_of(v, m, excess)};
		}
	}
}

/* Cost of the costliest rank that is named. */
static double largest_cost(const struct fsl_arcs_case *cases, size_t n_cases)
{
	double most = 0.0;
	for (size_t i = 0; i < n_cases; i++) {
		for (size_t m = 0; m < cases[i].n_ranks; m++) {
			const struct fsl_arcs_verdict *verdict = &cases[i].verdicts[m];
			most = fsl_arcs_is_slow(verdict->word) ? fmax(most, verdict->cost) : most;
		}
	}
	return most;
}

/* Drops partners of a strong culprit. */
static void tidy(struct fsl_arcs_case *cases, size_t n_cases)
{
	double most = largest_cost(cases, n_cases);
	for (size_t i = 0; i < n_cases; i++) {
		for (size_t m = 0; m < cases[i].n_ranks; m++) {
			struct fsl_arcs_verdict *verdict = &cases[i].verdicts[m];
			if (verdict->word == FSL_ARCS_LASTING &&
			    verdict->cost < FSL_ARCS_TIDY_PART * most) {
				verdict->word = FSL_ARCS_INNOCENT;
			}
		}
	}
}

/* Single ranks; whole hosts if nobody is named. @sigmas: scratch. */
static void decide(struct view *views, size_t n, double *sigmas)
{
	static const double shares[] = {0.0, 0.25, 0.5, 0.62}, of_hosts[] = {0.0, 1.0 / 3, 0.5};
	bool is_named = false;
	for (size_t k = 0; k < 4; k++) {
		size_t n_costly = 0;
		for (size_t i = 0; i < n; i++) {
			views[i].is_cut = view_costs(&views[i], shares[k]);
			n_costly += views[i].n_costly;
		}
		for (size_t i = 0; i < n && n_costly > 0; i++) {
			view_excess(&views[i]);
		}
		for (size_t i = 0; i < n && n_costly > 0; i++) {
			if (views[i].n_costly > 0) {
				set_spread(&views[i], views, n);
				name_lasting(&views[i]);
			}
		}
	}
	for (size_t i = 0; i < n; i++) {
		name_coming(&views[i], sigmas);
		is_named |= largest_cost(views[i].c, 1) > 0.0;
	}
	for (size_t i = 0; i < n && !is_named; i++) {
		for (size_t k = 0; k < 3 && has_hosts(&views[i]); k++) {
			views[i].is_cut = view_costs(&views[i], of_hosts[k]);
			if (views[i].is_cut) {
				view_excess(&views[i]);
				name_host(&views[i]);
			}
		}
	}
}

enum fsl_status fsl_arcs_decide(struct fsl_arcs_case *cases, size_t n_cases, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	size_t n_scratch = 0, n_blocks = 0;
	for (size_t i = 0; i < n_cases; i++) {
		FSL_ASSERT(cases[i].n_steps >= FSL_ARCS_STEPS_MIN);
		n_scratch += 4 * (cases[i].n_ranks + cases[i].n_steps);
		n_blocks += cases[i].n_steps / N;
		for (size_t m = 0; m < cases[i].n_ranks; m++) {
			cases[i].verdicts[m] =
				(struct fsl_arcs_verdict){.word = FSL_ARCS_INNOCENT, .z = NAN};
		}
	}
	double *scratch = fsl_arena_take(&arena, (n_scratch + n_blocks + 1) * sizeof(*scratch));
	struct view *views = fsl_arena_alloc(&arena, (n_cases + 1) * sizeof(*views));
	bool is_short = scratch == NULL || views == NULL;
	for (size_t i = 0; i < n_cases && !is_short; i++) {
		is_short = !view_init(&views[i], &arena, &cases[i], scratch);
	}
	for (size_t i = 0; i < n_cases && !is_short; i++) {
		is_short = !fsl_arcs_name_rhythm(&cases[i], &arena);
	}
	if (!is_short) {
		decide(views, n_cases, scratch + n_scratch);
		tidy(cases, n_cases);
	}
	fsl_arena_fini(&arena);
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: classes=%zu", n_cases)
			: FSL_OK;
}
