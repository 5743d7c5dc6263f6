/* Own work at the places of a step, and who stands out by it. */
#include "blame/places_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/limits.h"
#include "match/own.h"
#include "replay/replay.h"

static enum fsl_status no_memory(const struct fsl_places_job *job, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", job->run->n_ranks);
}

/* The longest operator of an instance minus the own, as all members end together. To its neighbour
 * in a pipeline a rank is late all the time, by work that is no fault: only add_heads() asks. */
static void set_lateness(struct fsl_place_work *work)
{
	const struct fsl_match *match = work->job->match;
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		for (size_t i = 0; i < channel->n_instances; i++) {
			const int64_t *dur_ns = channel->dur_ns + i * channel->n_members;
			int64_t longest_ns = 0;
			for (size_t m = 0; m < channel->n_members; m++) {
				longest_ns = dur_ns[m] > longest_ns ? dur_ns[m] : longest_ns;
			}
			for (size_t m = 0; m < channel->n_members; m++) {
				size_t r = channel->members[m];
				uint32_t op = channel->op_idx[i * channel->n_members + m];
				if (dur_ns[m] >= 0 &&
				    (!channel->is_p2p || op == work->order[r][0])) {
					work->late_ns[r][op] = longest_ns - dur_ns[m];
				}
			}
		}
	}
}

static enum fsl_status alloc_all(struct fsl_place_work *work, struct fsl_error *err)
{
	const struct fsl_run *run = work->job->run;
	struct fsl_places *out = work->out;
	bool is_short = false;
	out->n_ranks = run->n_ranks;
	out->ranks = fsl_arena_alloc(&out->arena, (run->n_ranks + 1) * sizeof(*out->ranks));
	work->late_ns = fsl_arena_alloc(&work->arena, (run->n_ranks + 1) * sizeof(int64_t *));
	work->order = fsl_arena_alloc(&work->arena, (run->n_ranks + 1) * sizeof(uint32_t *));
	work->is_bare = fsl_arena_alloc(&work->arena, (run->n_ranks + 1) * sizeof(bool *));
	if (out->ranks == NULL || work->late_ns == NULL || work->order == NULL ||
	    work->is_bare == NULL) {
		return no_memory(work->job, err);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		size_t size = (run->ranks[r].n_ops + 1) * sizeof(int64_t);
		out->ranks[r].more_ns = fsl_arena_alloc(&out->arena, size);
		out->ranks[r].excess_ns = fsl_arena_alloc(&out->arena, size);
		work->late_ns[r] = fsl_arena_alloc(&work->arena, size);
		work->order[r] = fsl_arena_alloc(&work->arena, size);
		work->is_bare[r] = fsl_arena_alloc(&work->arena, size);
		is_short |= out->ranks[r].more_ns == NULL || out->ranks[r].excess_ns == NULL ||
			    work->late_ns[r] == NULL || work->order[r] == NULL ||
			    work->is_bare[r] == NULL;
	}
	FSL_TRY(is_short ? no_memory(work->job, err) : fsl_places_list_blocks(work, err));
	size_t n = work->n_blocks + run->n_ranks + 1;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n = run->ranks[r].n_ops > n ? run->ranks[r].n_ops : n;
	}
	work->reached_ns = fsl_arena_alloc(&work->arena, n * sizeof(*work->reached_ns));
	work->is_reached = fsl_arena_alloc(&work->arena, n * sizeof(*work->is_reached));
	work->lag_ns = fsl_arena_alloc(&work->arena, n * sizeof(*work->lag_ns));
	work->error_ms = fsl_arena_alloc(&work->arena, n * sizeof(*work->error_ms));
	work->kept = fsl_arena_alloc(&work->arena, n * sizeof(*work->kept));
	work->values = fsl_arena_alloc(&work->arena, n * sizeof(*work->values));
	work->scratch = fsl_arena_alloc(&work->arena, 2 * n * sizeof(*work->scratch));
	return work->reached_ns != NULL && work->is_reached != NULL && work->lag_ns != NULL &&
			       work->error_ms != NULL && work->kept != NULL &&
			       work->values != NULL && work->scratch != NULL
		       ? FSL_OK
		       : no_memory(work->job, err);
}

/* Time between the operators of a rank that hold it, ns; longest: from first begin to last end. */
static void measure_work(const struct fsl_place_work *work)
{
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		const struct fsl_rank *rank = &work->job->run->ranks[r];
		int64_t last_ns = INT64_MIN;
		double sum_ns = 0.0;
		for (size_t i = 0; i < rank->n_ops; i++) {
			int64_t begin_ns = fsl_op_begin_ns(&rank->ops[i]);
			int64_t end_ns = fsl_op_end_ns(&rank->ops[i]);
			sum_ns += i > 0 && begin_ns > last_ns ? (double)(begin_ns - last_ns) : 0.0;
			last_ns = end_ns > last_ns ? end_ns : last_ns;
		}
		work->out->ranks[r].work_ms = sum_ns / FSL_NS_PER_MS / work->job->n_steps[r];
	}
}

/* An earlier event of a place: the end of the operator so many before it, its begin, or the latest
 * of all these ends. */
struct event {
	size_t back;
	enum { AT_END, AT_BEGIN, AT_LATEST_END } at;
};

static const struct fsl_op *op_at(const struct fsl_place_work *work, size_t r, size_t place)
{
	return &work->job->run->ranks[r].ops[work->order[r][place]];
}

static const struct fsl_op *op_before(const struct fsl_place_work *work,
				      const struct fsl_place_block *block, size_t place,
				      size_t back)
{
	bool is_alike = back <= place || (block->follows_alike && back <= place + (size_t)block->n);
	return is_alike ? op_at(work, block->rank_idx, block->first + place - back) : NULL;
}

/* When the event was; false: it was not captured, or belongs to other work. */
static bool find_event(const struct fsl_place_work *work, const struct fsl_place_block *block,
		       size_t place, struct event event, int64_t *at_ns)
{
	size_t most = event.at == AT_LATEST_END ? FSL_PLACES_ENDS : event.back;
	bool is_found = false;
	for (size_t back = event.back; back <= most; back++) {
		const struct fsl_op *op = op_before(work, block, place, back);
		if (op != NULL) {
			int64_t ns = event.at == AT_BEGIN ? fsl_op_begin_ns(op) : fsl_op_end_ns(op);
			*at_ns = !is_found || ns > *at_ns ? ns : *at_ns;
			is_found = true;
		}
	}
	return is_found;
}

static int64_t arrival_ns(const struct fsl_place_work *work, const struct fsl_place_block *block,
			  size_t place)
{
	return fsl_op_begin_ns(op_at(work, block->rank_idx, block->first + place));
}

/* How soon after the event one rank came to the place: the least, and with many steps the value
 * below which a tenth lies, as one glitch must not set the price. */
static int64_t soonest(int64_t *lag_ns, size_t n)
{
	size_t rank = n / FSL_PLACES_GLITCH_ONE_IN;
	if (rank > 0) {
		qsort(lag_ns, n, sizeof(*lag_ns), fsl_compare_i64);
		return lag_ns[rank];
	}
	int64_t least_ns = lag_ns[0];
	for (size_t i = 1; i < n; i++) {
		least_ns = lag_ns[i] < least_ns ? lag_ns[i] : least_ns;
	}
	return least_ns;
}

/* The price of a place after an event: the least of the ranks; false: fewer than two tell. */
static bool find_price(const struct fsl_place_work *work, size_t begin, size_t end, size_t place,
		       struct event event, int64_t *price_ns)
{
	size_t n_ranks = 0;
	for (size_t b = begin, next = begin; b < end; b = next) {
		size_t n = 0;
		for (; next < end && work->blocks[next].rank_idx == work->blocks[b].rank_idx;
		     next++) {
			int64_t at_ns = 0;
			if (find_event(work, &work->blocks[next], place, event, &at_ns)) {
				work->lag_ns[n++] =
					arrival_ns(work, &work->blocks[next], place) - at_ns;
			}
		}
		if (n > 0) {
			int64_t own_ns = soonest(work->lag_ns, n);
			*price_ns = n_ranks == 0 || own_ns < *price_ns ? own_ns : *price_ns;
			n_ranks++;
		}
	}
	return n_ranks >= 2;
}

/* Returns the price; INT64_MAX: there is none. */
static int64_t follow_event(const struct fsl_place_work *work, size_t begin, size_t end,
			    size_t place, struct event event)
{
	int64_t price_ns = 0;
	if (!find_price(work, begin, end, place, event, &price_ns)) {
		return INT64_MAX;
	}
	for (size_t b = begin; b < end; b++) {
		int64_t at_ns = 0;
		if (find_event(work, &work->blocks[b], place, event, &at_ns)) {
			int64_t ns = at_ns + price_ns;
			bool is_later = !work->is_reached[b] || ns > work->reached_ns[b];
			work->reached_ns[b] = is_later ? ns : work->reached_ns[b];
			work->is_reached[b] = true;
		}
	}
	return price_ns;
}

/* On some rank the operator begins before the event: it was launched earlier and does not wait. */
static bool begins_beside(const struct fsl_place_work *work, size_t begin, size_t end, size_t place,
			  struct event event)
{
	for (size_t b = begin; b < end; b++) {
		int64_t at_ns = 0;
		if (find_event(work, &work->blocks[b], place, event, &at_ns) &&
		    arrival_ns(work, &work->blocks[b], place) < at_ns) {
			return true;
		}
	}
	return false;
}

/* Steps [begin, end) of one class have the same operators. If none of them begins this one while
 * another runs, it follows the last end and nothing else. */
static void compare_place(const struct fsl_place_work *work, size_t begin, size_t end, size_t place)
{
	const struct event latest = {1, AT_LATEST_END};
	int64_t price_ns = INT64_MAX;
	memset(work->is_reached + begin, 0, (end - begin) * sizeof(*work->is_reached));
	if (!begins_beside(work, begin, end, place, latest)) {
		price_ns = follow_event(work, begin, end, place, latest);
	} else {
		for (size_t back = 1; back <= FSL_PLACES_ENDS; back++) {
			(void)follow_event(work, begin, end, place, (struct event){back, AT_END});
		}
		for (size_t back = 1; back <= FSL_PLACES_BEGINS && back <= place; back++) {
			if (begins_beside(work, begin, end, place, (struct event){back, AT_END})) {
				(void)follow_event(work, begin, end, place,
						   (struct event){back, AT_BEGIN});
			}
		}
	}
	for (size_t b = begin; b < end; b++) {
		const struct fsl_place_block *block = &work->blocks[b];
		int64_t more_ns = work->is_reached[b]
					  ? arrival_ns(work, block, place) - work->reached_ns[b]
					  : 0;
		work->out->ranks[block->rank_idx].more_ns[block->first + place] =
			more_ns > 0 ? more_ns : 0;
		work->is_bare[block->rank_idx][block->first + place] =
			more_ns / FSL_PLACES_BARE_RATIO > price_ns;
	}
}

/* Own time of all steps that other files tell and the places do not account for, ns. */
static double untold_ns(const struct fsl_place_work *work, size_t r)
{
	const struct fsl_place_rank *rank = &work->out->ranks[r];
	double sum_ns = work->job->told_ms[r] * FSL_NS_PER_MS * work->job->n_steps[r];
	for (size_t i = 0; i < work->job->run->ranks[r].n_ops; i++) {
		sum_ns -= (double)rank->more_ns[i];
	}
	return sum_ns;
}

/*
 * Before the first operator of the capture no event was captured. Who was later to it than the
 * others, and has more own time by other files than the places account for, had it there. Steps
 * [begin, end) have the same operators.
 */
static void add_heads(const struct fsl_place_work *work, size_t begin, size_t end)
{
	double least_ns = INFINITY, least_late_ns = INFINITY;
	for (size_t b = begin; b < end; b++) {
		size_t r = work->blocks[b].rank_idx;
		if (work->blocks[b].first == 0) {
			double late_ns = (double)work->late_ns[r][work->order[r][0]];
			least_ns = fmin(least_ns, untold_ns(work, r));
			least_late_ns = fmin(least_late_ns, late_ns);
		}
	}
	for (size_t b = begin; b < end; b++) {
		size_t r = work->blocks[b].rank_idx;
		double rest_ns = untold_ns(work, r) - least_ns;
		double late_ns = (double)work->late_ns[r][work->order[r][0]] - least_late_ns;
		if (work->blocks[b].first == 0 && !isnan(rest_ns)) {
			work->out->ranks[r].more_ns[0] = (int64_t)fmax(0.0, fmin(rest_ns, late_ns));
		}
	}
}

static size_t count_ranks(const struct fsl_place_work *work, size_t begin, size_t end)
{
	size_t n_ranks = 1;
	for (size_t b = begin + 1; b < end; b++) {
		n_ranks += work->blocks[b].rank_idx != work->blocks[b - 1].rank_idx;
	}
	return n_ranks;
}

/* The end of the ranks that ran the same step as by_step[begin]. */
static size_t step_end(const struct fsl_place_work *work, size_t begin, size_t end)
{
	size_t next = begin;
	while (next < end && work->by_step[next].step == work->by_step[begin].step) {
		next++;
	}
	return next;
}

/* Work beyond the price of the place, median of the ranks by_step[begin, end) of one step, ns;
 * @is_rest: of those that are no suspects. NaN: there are none. The values stay in work->values. */
static double usual_at(const struct fsl_place_work *work, size_t begin, size_t end, size_t place,
		       bool is_rest)
{
	const struct fsl_place_block *block = work->by_step + begin;
	size_t n = 0;
	for (; block < work->by_step + end; block++) {
		const struct fsl_place_rank *rank = &work->out->ranks[block->rank_idx];
		if (!is_rest || !rank->is_suspect) {
			work->values[n++] = (double)rank->more_ns[block->first + place];
		}
	}
	return n > 0 ? fsl_median(work->values, n, work->scratch) : (double)NAN;
}

/* Scatter of the healthy among @values (sorted here), be they the lower half of them or all but a
 * quarter that is lower: the closer of both quartiles to the median. */
static double scatter_of(double *values, size_t n)
{
	fsl_sort(values, n);
	double median = values[(n - 1) / 2];
	return FSL_PLACES_SCATTER_FACTOR *
	       fmin(median - values[(n - 1) / 4], values[(3 * (n - 1) + 3) / 4] - median);
}

/*
 * Adds to the error of each rank (squared, ns) how far the ranks of a step scatter at each place:
 * robustly, so that slow ranks do not count. Leaves in excess_ns how far each rank is from the
 * usual.
 */
static void add_scatter(const struct fsl_place_work *work, size_t begin, size_t end)
{
	for (size_t place = 0; place < work->by_step[begin].n && end - begin >= 2; place++) {
		double usual_ns = usual_at(work, begin, end, place, false);
		double scatter_ns = scatter_of(work->values, end - begin);
		for (size_t b = begin; b < end; b++) {
			const struct fsl_place_block *block = &work->by_step[b];
			struct fsl_place_rank *rank = &work->out->ranks[block->rank_idx];
			size_t op = block->first + place;
			rank->excess_ns[op] = rank->more_ns[op] - (int64_t)usual_ns;
			work->error_ms[block->rank_idx] += scatter_ns * scatter_ns;
		}
	}
}

/* From the excess at the places of a rank in work->values: standard error of their sum, ns. */
static double error_of(const struct fsl_place_work *work, size_t n_ops)
{
	double median_ns = fsl_median(work->values, n_ops, work->scratch);
	return sqrt((double)n_ops) * fsl_mad_sigma(work->values, n_ops, median_ns, work->scratch);
}

/* Likewise, if the rank is slower by the same share at all places: only what differs from that is
 * chance. */
static double error_of_slower(const struct fsl_place_work *work, size_t r)
{
	const struct fsl_rank *rank = &work->job->run->ranks[r];
	const int64_t *excess_ns = work->out->ranks[r].excess_ns;
	double excess_sum_ns = 0.0, work_sum_ns = 0.0;
	for (size_t pass = 0; pass < 2; pass++) {
		int64_t last_ns = rank->n_ops > 0 ? fsl_op_begin_ns(&rank->ops[0]) : 0;
		for (size_t i = 0; i < rank->n_ops; i++) {
			const struct fsl_op *op = op_at(work, r, i);
			int64_t gap_ns = fsl_op_begin_ns(op) - last_ns;
			double work_ns = gap_ns > 0 ? (double)gap_ns : 0.0;
			last_ns = fsl_op_end_ns(op) > last_ns ? fsl_op_end_ns(op) : last_ns;
			if (pass == 0) {
				excess_sum_ns += i > 0 ? (double)excess_ns[i] : 0.0;
				work_sum_ns += work_ns;
			} else {
				work->values[i] = (double)excess_ns[i] -
						  work_ns * excess_sum_ns / fmax(1.0, work_sum_ns);
			}
		}
	}
	return error_of(work, rank->n_ops);
}

/* The sum over the places of a rank, and its error. One of two ranks is judged by how far its lead
 * or lag changes between places, which a rank that is slow everywhere does not make larger. */
static void sum_places(const struct fsl_place_work *work, size_t r)
{
	struct fsl_place_rank *rank = &work->out->ranks[r];
	size_t n_ops = work->job->run->ranks[r].n_ops;
	double sum_ns = 0.0, n_steps = work->job->n_steps[r], error_ns = 0.0;
	for (size_t i = 0; i < n_ops; i++) {
		sum_ns += (double)rank->excess_ns[i];
		work->values[i] = (double)rank->excess_ns[i];
	}
	if (rank->n_peers == 2) { /* each is half of the way from the usual to the other */
		error_ns = 2.0 * error_of(work, n_ops);
		error_ns = fmin(error_ns, 2.0 * error_of_slower(work, r));
	} else {
		error_ns = sqrt(work->error_ms[r]);
	}
	rank->more_ms = sum_ns / FSL_NS_PER_MS / n_steps;
	work->error_ms[r] = error_ns / FSL_NS_PER_MS / n_steps;
}

/* Takes @more_ms a step that is too much off the places at which the others do not work: the rank
 * may have launched these operators as its kernels went on, and they ran beside. Returns what was
 * taken off. */
static double cut_bare(const struct fsl_place_work *work, size_t r, double more_ms)
{
	struct fsl_place_rank *rank = &work->out->ranks[r];
	size_t n_ops = work->job->run->ranks[r].n_ops;
	double bare_ns = 0.0, n_steps = work->job->n_steps[r];
	for (size_t i = 0; i < n_ops; i++) {
		bare_ns += work->is_bare[r][i] ? (double)rank->more_ns[i] : 0.0;
	}
	double cut_ns = fmin(bare_ns, more_ms * FSL_NS_PER_MS * n_steps);
	for (size_t i = 0; i < n_ops && cut_ns > 0.0; i++) {
		if (work->is_bare[r][i]) {
			double left = 1.0 - cut_ns / bare_ns;
			rank->more_ns[i] = (int64_t)((double)rank->more_ns[i] * left);
		}
	}
	return cut_ns / FSL_NS_PER_MS / n_steps;
}

/* Transfers that nothing hides, ms per step; NaN: not told. */
static double transfers_ms(const struct fsl_places_job *job, size_t r)
{
	return job->waited_ms != NULL ? job->exposed_ms[r] - job->waited_ms[r] : (double)NAN;
}

double fsl_places_bare_ms(const struct fsl_places_job *job, size_t r)
{
	double least_ms = transfers_ms(job, r), own_ms = least_ms;
	for (size_t i = 0; i < job->run->n_ranks; i++) {
		bool is_like = job->class_of[i] == job->class_of[r];
		least_ms = is_like ? fmin(least_ms, transfers_ms(job, i)) : least_ms;
	}
	return isnan(own_ms) ? 0.0 : own_ms - least_ms;
}

/* Time that kernels hide holds nobody up: no rank has more own work than the time by which it
 * computes, is free, and lacks kernels that hide its transfers, longer than the others. */
static void bound_by_told(const struct fsl_place_work *work, size_t class_idx)
{
	double least_told_ms = INFINITY, least_ms = INFINITY;
	size_t n = 0;
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		const struct fsl_place_rank *rank = &work->out->ranks[r];
		if (work->job->class_of[r] == class_idx && rank->n_peers >= 2 &&
		    !isnan(work->job->told_ms[r])) {
			n++;
			least_told_ms = fmin(least_told_ms, work->job->told_ms[r]);
			least_ms = fmin(least_ms, rank->more_ms);
		}
	}
	for (size_t r = 0; r < work->out->n_ranks && n >= 2; r++) {
		struct fsl_place_rank *rank = &work->out->ranks[r];
		double most_ms = work->job->told_ms[r] - least_told_ms;
		if (work->job->class_of[r] != class_idx) {
			continue;
		}
		most_ms +=
			rank->more_ms - least_ms > most_ms ? fsl_places_bare_ms(work->job, r) : 0.0;
		if (rank->more_ms - least_ms > most_ms) {
			rank->more_ms -= cut_bare(work, r, rank->more_ms - least_ms - most_ms);
		}
		if (rank->more_ms - least_ms > most_ms) {
			work->kept[r] = most_ms / (rank->more_ms - least_ms);
			rank->more_ms = least_ms + most_ms;
		}
	}
}

static void compare_ranks(const struct fsl_place_work *work)
{
	for (size_t begin = 0, end = 0; begin < work->n_blocks; begin = end) {
		end = fsl_places_same_work_end(work, begin);
		size_t n_ranks = count_ranks(work, begin, end);
		for (size_t place = 0; place < work->blocks[begin].n && n_ranks >= 2; place++) {
			compare_place(work, begin, end, place);
		}
		for (size_t b = begin; b < end; b++) {
			struct fsl_place_rank *rank = &work->out->ranks[work->blocks[b].rank_idx];
			rank->n_peers = n_ranks > rank->n_peers ? n_ranks : rank->n_peers;
		}
	}
	for (size_t begin = 0, end = 0; begin < work->n_blocks; begin = end) {
		end = fsl_places_same_work_end(work, begin);
		add_heads(work, begin, end);
		for (size_t b = begin, next = begin; b < end; b = next) {
			next = step_end(work, b, end);
			add_scatter(work, b, next);
		}
	}
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		sum_places(work, r);
		work->kept[r] = 1.0;
		work->out->n_compared += work->out->ranks[r].n_peers >= 2;
	}
	for (size_t k = 0; k < work->job->n_classes; k++) {
		bound_by_told(work, k);
	}
}

/* Without operators other files alone tell of own time. Nobody can be seen to wait, so that one of
 * several ranks has to stand out. */
static void compare_told(const struct fsl_place_work *work)
{
	for (size_t k = 0; k < work->job->n_classes; k++) {
		double least_ms = INFINITY;
		size_t n = 0;
		for (size_t r = 0; r < work->out->n_ranks; r++) {
			bool is_in = work->job->class_of[r] == k &&
				     work->job->run->ranks[r].n_ops == 0 &&
				     !isnan(work->job->told_ms[r]);
			n += is_in;
			least_ms = is_in ? fmin(least_ms, work->job->told_ms[r]) : least_ms;
		}
		for (size_t r = 0; r < work->out->n_ranks && n >= FSL_OUTLIERS_N_MIN; r++) {
			if (work->job->class_of[r] == k && work->job->run->ranks[r].n_ops == 0 &&
			    !isnan(work->job->told_ms[r])) {
				struct fsl_place_rank *rank = &work->out->ranks[r];
				rank->n_peers = n;
				rank->work_ms = work->job->told_ms[r];
				rank->cost_ms = rank->more_ms = rank->work_ms - least_ms;
			}
		}
	}
}

/* Takes off what no rank is suspected for. */
static void forgive_long_runs(const struct fsl_place_work *work)
{
	for (size_t r = 0; r < work->out->n_ranks && work->job->long_runs_ms != NULL; r++) {
		struct fsl_place_rank *rank = &work->out->ranks[r];
		rank->more_ms -= fmin(work->job->long_runs_ms[r], fmax(0.0, rank->more_ms));
	}
}

/* Ranks of one class, by own work, most first. */
struct standing {
	uint32_t *ranks;
	size_t n;
};

static int compare_more(const void *left, const void *right, void *context)
{
	const struct fsl_places *places = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = FSL_ORDER(places->ranks[b].more_ms, places->ranks[a].more_ms);
	return order != 0 ? order : FSL_ORDER(a, b);
}

static double more_at(const struct fsl_place_work *work, const struct standing *class, size_t i)
{
	return work->out->ranks[class->ranks[i]].more_ms;
}

/* A device is never that much faster than its like: then the others are slow, even if they are
 * three of four. */
static bool is_minority_healthy(const struct fsl_place_work *work, const struct standing *class,
				size_t n_slow)
{
	double slow_ms = INFINITY, rest_ms = 0.0;
	for (size_t i = 0; i < class->n; i++) {
		double ms = work->out->ranks[class->ranks[i]].work_ms;
		slow_ms = i < n_slow ? fmin(slow_ms, ms) : slow_ms;
		rest_ms = i < n_slow ? rest_ms : fmax(rest_ms, ms);
	}
	return 4 * n_slow <= 3 * class->n && slow_ms >= FSL_PLACES_FASTER_MAX * rest_ms;
}

/* How the first @n_slow of the class stand: what the last of them has beyond the usual of the rest,
 * how far the rest lies below it, and the spread of the rest. */
struct stand {
	double usual_ms, least_ms, next_ms, spread_ms;
	bool is_sure; /* so many stand out of so many that it is no chance at single places */
};

static struct stand stand_of(const struct fsl_place_work *work, const struct standing *class,
			     size_t n_slow)
{
	size_t n_rest = class->n - n_slow;
	for (size_t i = 0; i < n_rest; i++) {
		work->values[i] = more_at(work, class, n_slow + i);
	}
	double usual_ms = fsl_median(work->values, n_rest, work->scratch);
	double mad_ms = fsl_mad_sigma(work->values, n_rest, usual_ms, work->scratch);
	double floor_ms = FSL_PLACES_SPREAD_SHARE_MIN * work->job->step_ms;
	return (struct stand){.usual_ms = usual_ms,
			      .least_ms = more_at(work, class, n_slow - 1) - usual_ms,
			      .next_ms = more_at(work, class, n_slow) - usual_ms,
			      .spread_ms = hypot(mad_ms, floor_ms),
			      .is_sure = n_slow >= FSL_PLACES_SURE_SLOW_MIN &&
					 n_rest >= FSL_PLACES_SURE_REST_MIN};
}

/* How many times the spread of the rest, and its own error unless many stand out, the rank lies
 * above the usual. */
static double z_of(const struct fsl_place_work *work, uint32_t r, double more_ms,
		   const struct stand *stand)
{
	double error_ms = stand->is_sure ? 0.0 : work->error_ms[r];
	return more_ms / hypot(stand->spread_ms, error_ms);
}

/* The first @n_slow of the class stand out of the rest, each by @share of a step at least. */
static bool stand_out(const struct fsl_place_work *work, const struct standing *class,
		      size_t n_slow, double share, double z_min)
{
	struct stand stand = stand_of(work, class, n_slow);
	double least_z = INFINITY;
	for (size_t i = 0; i < n_slow; i++) {
		least_z = fmin(least_z, z_of(work, class->ranks[i],
					     more_at(work, class, i) - stand.usual_ms, &stand));
	}
	return stand.least_ms >= share * work->job->step_ms && least_z >= z_min &&
	       stand.next_ms <= FSL_PLACES_NEXT_SHARE_MAX * stand.least_ms &&
	       (2 * n_slow <= class->n || is_minority_healthy(work, class, n_slow));
}

/* The largest set of ranks of a class that stands out of the rest, be it by what counts or by
 * less. */
static void suspect_in_class(const struct fsl_place_work *work, const struct standing *class)
{
	const struct fsl_places_job *job = work->job;
	size_t n_slow = 0;
	for (size_t n = 1; n < class->n && !job->is_blind; n++) {
		if (stand_out(work, class, n, job->named_share_min, job->named_z_min) ||
		    stand_out(work, class, n, job->suspect_share_min, job->suspect_z_min)) {
			n_slow = n;
		}
	}
	struct stand stand = stand_of(work, class, n_slow > 0 ? n_slow : 1);
	for (size_t i = 0; i < class->n; i++) {
		struct fsl_place_rank *rank = &work->out->ranks[class->ranks[i]];
		rank->more_ms -= stand.usual_ms;
		rank->z = z_of(work, class->ranks[i], rank->more_ms, &stand);
		rank->is_suspect = i < n_slow;
		work->out->n_suspects += i < n_slow;
	}
}

static enum fsl_status find_suspects(struct fsl_place_work *work, struct fsl_error *err)
{
	struct standing class = {
		fsl_arena_alloc(&work->arena, (work->out->n_ranks + 1) * sizeof(*class.ranks)), 0};
	if (class.ranks == NULL) {
		return no_memory(work->job, err);
	}
	for (size_t k = 0; k < work->job->n_classes; k++) {
		class.n = 0;
		for (size_t r = 0; r < work->out->n_ranks; r++) {
			if (work->job->class_of[r] == k && work->out->ranks[r].n_peers >= 2) {
				class.ranks[class.n++] = (uint32_t)r;
			}
		}
		if (class.n >= 2) {
			qsort_r(class.ranks, class.n, sizeof(*class.ranks), compare_more,
				work->out);
			suspect_in_class(work, &class);
		}
	}
	return FSL_OK;
}

static void set_excess_of_step(const struct fsl_place_work *work, size_t begin, size_t end)
{
	for (size_t place = 0; place < work->by_step[begin].n; place++) {
		double usual_ns = usual_at(work, begin, end, place, true);
		const struct fsl_place_block *block = work->by_step + begin;
		for (; block < work->by_step + end; block++) {
			struct fsl_place_rank *rank = &work->out->ranks[block->rank_idx];
			size_t op = block->first + place;
			double more_ns = ((double)rank->more_ns[op] - usual_ns) *
					 work->kept[block->rank_idx];
			rank->excess_ns[op] =
				rank->is_suspect && more_ns > 0.0 ? (int64_t)more_ns : 0;
		}
	}
}

static void set_excess(const struct fsl_place_work *work)
{
	for (size_t begin = 0, end = 0; begin < work->n_blocks; begin = end) {
		size_t same_end = fsl_places_same_work_end(work, begin);
		for (end = begin; end < same_end;) {
			size_t next = step_end(work, end, same_end);
			set_excess_of_step(work, end, next);
			end = next;
		}
	}
}

enum fsl_status fsl_places_judge(struct fsl_places *out, const struct fsl_places_job *job,
				 struct fsl_error *err)
{
	*out = (struct fsl_places){.even_ms = NAN};
	struct fsl_place_work work = {.job = job, .out = out};
	enum fsl_status status = alloc_all(&work, err);
	if (status == FSL_OK) {
		set_lateness(&work);
		measure_work(&work);
		compare_ranks(&work);
		compare_told(&work);
		forgive_long_runs(&work);
		status = fsl_places_find_rings(&work, err);
	}
	FSL_THEN(status, find_suspects(&work, err));
	if (status == FSL_OK) {
		set_excess(&work);
		status = fsl_places_find_stage(&work, err);
	}
	FSL_THEN(status, fsl_places_cost(&work, err));
	fsl_arena_fini(&work.arena);
	if (status != FSL_OK) {
		fsl_places_fini(out);
	}
	return status;
}

void fsl_places_fini(struct fsl_places *places)
{
	fsl_arena_fini(&places->arena);
	*places = (struct fsl_places){0};
}
