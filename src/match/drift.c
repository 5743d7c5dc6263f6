/* Takes different speeds of the hosts' clocks out of a run. */
#include "match/drift.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"

enum {
	USES_MIN = 24,     /* fewer common ends tell no speed */
	SAMPLES_MAX = 512, /* ends looked at on either side of the capture */
	PARTS = 4,         /* the first and the last of so many parts are compared */
};

/* Nine of ten ends must lie this close to the line: what belongs together ends together. */
static const double TAIL_MAX_MS = 1.0;
/* No clock is as bad; more is a wrong match. */
static const double DRIFT_MAX = 500e-6;

/* "The clock of @to gains @drift ns per ns on that of @from." */
struct measured {
	uint32_t from, to;
	double drift, tail_ms;
};

/* Ends of a channel's member 0 and of another, use by use. */
struct couple {
	const struct fsl_rank *first, *other;
	const uint32_t *first_uses, *other_uses;
	size_t n;
};

static int64_t difference_ns(const struct couple *couple, size_t i)
{
	return fsl_op_end_ns(&couple->other->ops[couple->other_uses[i]]) -
	       fsl_op_end_ns(&couple->first->ops[couple->first_uses[i]]);
}

static int64_t time_ns(const struct couple *couple, size_t i)
{
	return fsl_op_end_ns(&couple->first->ops[couple->first_uses[i]]);
}

/* Median difference of the ends over [begin, end), at most SAMPLES_MAX of them. */
static int64_t median_ns(const struct couple *couple, size_t begin, size_t end, int64_t *work)
{
	size_t n = 0, stride = (end - begin) / SAMPLES_MAX + 1;
	for (size_t i = begin; i < end && n < SAMPLES_MAX; i += stride) {
		work[n++] = difference_ns(couple, i);
	}
	qsort(work, n, sizeof(*work), fsl_compare_i64);
	return work[n / 2];
}

/* A line through the differences at the begin and at the end of the capture; false when the uses
 * do not belong together or are too few. */
static bool measure(struct measured *out, const struct couple *couple)
{
	int64_t work[SAMPLES_MAX];
	size_t n = couple->n, part = n / PARTS, count = 0, stride = n / SAMPLES_MAX + 1;
	if (n < USES_MIN) {
		return false;
	}
	int64_t early_ns = median_ns(couple, 0, part, work);
	int64_t late_ns = median_ns(couple, n - part, n, work);
	int64_t from_ns = time_ns(couple, part / 2), to_ns = time_ns(couple, n - 1 - part / 2);
	if (to_ns <= from_ns) {
		return false;
	}
	out->drift = (double)(late_ns - early_ns) / (double)(to_ns - from_ns);
	for (size_t i = 0; i < n && count < SAMPLES_MAX; i += stride) {
		double line_ns = out->drift * (double)(time_ns(couple, i) - from_ns);
		work[count++] = llabs(difference_ns(couple, i) - early_ns - (int64_t)line_ns);
	}
	qsort(work, count, sizeof(*work), fsl_compare_i64);
	out->tail_ms = (double)work[count * 9 / 10] / FSL_NS_PER_MS;
	return fabs(out->drift) <= DRIFT_MAX && out->tail_ms <= TAIL_MAX_MS;
}

static int compare_measured(const void *a, const void *b)
{
	const struct measured *x = a, *y = b;
	if (x->tail_ms != y->tail_ms) {
		return x->tail_ms < y->tail_ms ? -1 : 1;
	}
	return x->from != y->from ? FSL_ORDER(x->from, y->from) : FSL_ORDER(x->to, y->to);
}

static size_t measure_all(struct measured *items, const struct fsl_match *match,
			  const struct fsl_listing *listing, const struct fsl_run *run)
{
	size_t n = 0;
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		const struct fsl_uses *uses = &listing->uses[c];
		for (size_t m = 1; m < channel->n_members; m++) {
			struct couple couple = {&run->ranks[channel->members[0]],
						&run->ranks[channel->members[m]], uses->op_idx[0],
						uses->op_idx[m], uses->n_uses[0]};
			items[n].from = channel->members[0];
			items[n].to = channel->members[m];
			n += uses->n_uses[m] == uses->n_uses[0] && measure(&items[n], &couple);
		}
	}
	return n;
}

/* Speeds relative to a root, which is the lowest rank of its component. */
struct forest {
	uint32_t *parent;
	double *to_parent; /* drift against the parent */
};

static uint32_t find_root(const struct forest *forest, uint32_t rank_idx, double *drift)
{
	*drift = 0.0;
	while (forest->parent[rank_idx] != rank_idx) {
		*drift += forest->to_parent[rank_idx];
		rank_idx = forest->parent[rank_idx];
	}
	return rank_idx;
}

/* What was joined before stays: best measurements come first. */
static void join(struct forest *forest, const struct measured *item)
{
	double from = 0.0, to = 0.0;
	uint32_t a = find_root(forest, item->from, &from), b = find_root(forest, item->to, &to);
	double b_minus_a = from + item->drift - to;
	if (a < b) {
		forest->parent[b] = a;
		forest->to_parent[b] = b_minus_a;
	} else if (b < a) {
		forest->parent[a] = b;
		forest->to_parent[a] = -b_minus_a;
	}
}

static void straighten(int64_t *time_ns, int64_t origin_ns, double drift)
{
	if (*time_ns != FSL_NS_ABSENT) {
		*time_ns -= llround(drift * (double)(*time_ns - origin_ns));
	}
}

static void straighten_rank(struct fsl_rank *rank, int64_t origin_ns, double drift)
{
	for (size_t i = 0; i < rank->n_ops; i++) {
		int64_t *times[] = {&rank->ops[i].host_begin_ns, &rank->ops[i].host_end_ns,
				    &rank->ops[i].dev_begin_ns, &rank->ops[i].dev_end_ns};
		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
			straighten(times[k], origin_ns, drift);
		}
	}
	for (size_t i = 0; i < rank->n_stages; i++) {
		straighten(&rank->stages[i].begin_ns, origin_ns, drift);
		straighten(&rank->stages[i].end_ns, origin_ns, drift);
	}
	for (size_t i = 0; i < rank->n_steps; i++) {
		straighten(&rank->steps[i].begin_ns, origin_ns, drift);
	}
	straighten(&rank->last_event_ns, origin_ns, drift);
	straighten(&rank->open_begin_ns, origin_ns, drift);
}

/* First event of the run, where all clocks keep their time, and how long it lasts. */
static int64_t origin_of(const struct fsl_run *run, int64_t *span_ns)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (rank->n_ops > 0) {
			int64_t begin_ns = fsl_op_begin_ns(&rank->ops[0]);
			int64_t end_ns = fsl_op_end_ns(&rank->ops[rank->n_ops - 1]);
			first_ns = begin_ns < first_ns ? begin_ns : first_ns;
			last_ns = end_ns > last_ns ? end_ns : last_ns;
		}
	}
	*span_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	return first_ns;
}

static void straighten_run(struct fsl_run *run, const struct forest *forest, double *drift_max_ppm)
{
	int64_t span_ns = 0, origin_ns = origin_of(run, &span_ns);
	double greatest = 0.0, drift = 0.0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		(void)find_root(forest, (uint32_t)r, &drift);
		greatest = fmax(greatest, fabs(drift));
	}
	if (greatest * (double)span_ns < FSL_DRIFT_MATTERS_MS * FSL_NS_PER_MS) {
		return;
	}
	*drift_max_ppm = greatest * 1e6;
	for (size_t r = 0; r < run->n_ranks; r++) {
		(void)find_root(forest, (uint32_t)r, &drift);
		if (drift != 0.0) {
			straighten_rank(&run->ranks[r], origin_ns, drift);
		}
	}
}

enum fsl_status fsl_drift_remove(struct fsl_run *run, const struct fsl_topology *topology,
				 double *drift_max_ppm, struct fsl_error *err)
{
	struct fsl_match match = {.n_channels = 0};
	struct fsl_listing listing = {0};
	struct fsl_arena scratch = {0};
	size_t n_items = 1;
	*drift_max_ppm = 0.0;
	enum fsl_status status = fsl_channels_list(&match, &listing, run, topology, err);
	for (size_t c = 0; c < match.n_channels && status == FSL_OK; c++) {
		n_items += match.channels[c].n_members;
	}
	if (status == FSL_OK) {
		struct forest forest = {
			fsl_arena_alloc(&scratch, (run->n_ranks + 1) * sizeof(uint32_t)),
			fsl_arena_alloc(&scratch, (run->n_ranks + 1) * sizeof(double))};
		struct measured *items = fsl_arena_alloc(&scratch, n_items * sizeof(*items));
		if (forest.parent == NULL || forest.to_parent == NULL || items == NULL) {
			status =
				FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: clocks=%zu", n_items);
			goto out;
		}
		for (size_t r = 0; r < run->n_ranks; r++) {
			forest.parent[r] = (uint32_t)r;
		}
		size_t n = measure_all(items, &match, &listing, run);
		qsort(items, n, sizeof(*items), compare_measured);
		for (size_t i = 0; i < n; i++) {
			join(&forest, &items[i]);
		}
		straighten_run(run, &forest, drift_max_ppm);
	}
out:
	fsl_arena_fini(&scratch);
	fsl_arena_fini(&listing.arena);
	fsl_match_fini(&match);
	return status;
}
