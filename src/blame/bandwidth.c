/*
 * Compares links that move the same amounts for the same operators over the same kind of
 * connection. Finds the links that are slower than chance allows, and replays their cost. Times of
 * links are transfers without waits.
 */
#include "blame/bandwidth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/limits.h"

struct work {
	const struct fsl_bandwidth_job *job;
	struct fsl_bandwidths *out;
	struct fsl_indexed *votes; /* per row */
	double *values;            /* 2 per row */
};

static void add_slow(struct work *work, const struct fsl_link_row *row, double usual, size_t n)
{
	double gb_per_s = fsl_link_gb_per_s(row);
	double more_ns = (double)row->time_ns - (double)row->n_bytes / usual;
	double cost_ms = more_ns / FSL_NS_PER_MS / (double)row->n_steps;
	if (gb_per_s <= (1.0 - work->job->lack_min) * usual &&
	    cost_ms >= work->job->cost_share_min * work->job->capture->step_ms) {
		work->out->links[work->out->n_links++] =
			(struct fsl_slow_link){row, gb_per_s, usual, cost_ms, n, 1, false};
	}
}

/* Links [begin, end) of the table are alike: one vote each. */
static size_t vote_on_links(struct work *work, size_t begin, size_t end, double *usual)
{
	size_t n = end - begin;
	for (size_t i = 0; i < n; i++) {
		double gb_per_s = fsl_link_gb_per_s(&work->job->table->rows[begin + i]);
		work->votes[i] = (struct fsl_indexed){log(gb_per_s), (uint32_t)(begin + i)};
		work->values[i] = gb_per_s;
	}
	*usual = fsl_median(work->values, n, work->values + n);
	fsl_indexed_sort(work->votes, n);
	return fsl_outliers_low(work->votes, n, work->job->alpha, FSL_BANDWIDTH_SIGMA_MIN, NULL);
}

/* Likewise, one vote for all that a rank sends over in a group: of few ranks the links of one bad
 * port are half of all and hide each other. idx: the first row of the rank. */
static size_t vote_on_senders(struct work *work, size_t begin, size_t end, double *usual)
{
	const struct fsl_link_row *rows = work->job->table->rows;
	size_t n = 0;
	for (size_t i = begin, next = begin; i < end; i = next) {
		while (next < end && rows[next].src == rows[i].src &&
		       strcmp(rows[next].group, rows[i].group) == 0) {
			work->values[next - i] = fsl_link_gb_per_s(&rows[next]);
			next++;
		}
		double gb_per_s = fsl_median(work->values, next - i, work->values + (next - i));
		work->votes[n++] = (struct fsl_indexed){log(gb_per_s), (uint32_t)i};
	}
	fsl_indexed_sort(work->votes, n);
	size_t n_low =
		fsl_outliers_low(work->votes, n, work->job->alpha, FSL_BANDWIDTH_SIGMA_MIN, NULL);
	*usual = n > 0 ? exp(work->votes[n / 2].value) : NAN;
	return n_low;
}

/* Links of the same two ends are one: -1, 0, 1. */
static int compare_ends(const struct fsl_link_row *a, const struct fsl_link_row *b)
{
	int32_t least_a = a->src < a->dst ? a->src : a->dst, most_a = a->src + a->dst - least_a;
	int32_t least_b = b->src < b->dst ? b->src : b->dst, most_b = b->src + b->dst - least_b;
	FSL_ORDER_BY(least_a, least_b);
	return FSL_ORDER(most_a, most_b);
}

/*
 * A test for outliers finds nothing among few links, as those that are slow widen the spread. Then
 * links are slow if they are a minority and even the fastest of them lacks much of the slowest
 * other.
 */
static size_t split_few(struct work *work, size_t begin, size_t end, double *usual)
{
	size_t n = end - begin, n_low = 0;
	for (size_t i = 1; 2 * i <= n; i++) {
		double ratio = exp(work->votes[i - 1].value - work->votes[i].value);
		n_low = ratio <= FSL_BANDWIDTH_FEW_RATIO_MAX ? i : n_low;
	}
	*usual = exp(work->votes[n_low + (n - n_low) / 2].value);
	return n_low;
}

static void compare_alike(struct work *work, size_t begin, size_t end)
{
	const struct fsl_link_row *rows = work->job->table->rows;
	double usual = NAN;
	size_t n_low = vote_on_links(work, begin, end, &usual);
	if (n_low == 0) {
		n_low = split_few(work, begin, end, &usual);
	}
	for (size_t i = 0; i < n_low; i++) {
		add_slow(work, &rows[work->votes[i].idx], usual, end - begin);
	}
	n_low = n_low > 0 ? 0 : vote_on_senders(work, begin, end, &usual);
	for (size_t i = 0; i < n_low; i++) {
		const struct fsl_link_row *first = &rows[work->votes[i].idx], *row = first;
		for (; row < rows + end && row->src == first->src &&
		       strcmp(row->group, first->group) == 0;
		     row++) {
			add_slow(work, row, usual, end - begin);
		}
	}
}

static void find_slow(struct work *work)
{
	for (size_t begin = 0, end = 0; begin < work->job->table->n_rows; begin = end) {
		const struct fsl_link_row *first = &work->job->table->rows[begin];
		end = begin;
		while (end < work->job->table->n_rows &&
		       fsl_link_compare_kind(first, &work->job->table->rows[end]) == 0) {
			end++;
		}
		if (end - begin >= FSL_BANDWIDTH_ALIKE_MIN &&
		    first->n_bytes / (int64_t)first->n_steps >= FSL_BANDWIDTH_BYTES_MIN) {
			compare_alike(work, begin, end);
		}
	}
}

static int compare_cost(const void *left, const void *right)
{
	const struct fsl_slow_link *a = left, *b = right;
	FSL_ORDER_BY(b->cost_ms, a->cost_ms);
	return FSL_ORDER(a->row, b->row);
}

static int compare_slow(const void *left, const void *right)
{
	const struct fsl_slow_link *a = left, *b = right;
	int order = compare_ends(a->row, b->row);
	return order != 0 ? order : compare_cost(left, right);
}

/* Directions and kinds of operators between the same two ends add up. */
static void merge_ends(struct fsl_bandwidths *out)
{
	size_t n = 0;
	qsort(out->links, out->n_links, sizeof(*out->links), compare_slow);
	for (size_t i = 0; i < out->n_links; i++) {
		if (n > 0 && out->links[i].row->dst >= 0 &&
		    compare_ends(out->links[n - 1].row, out->links[i].row) == 0) {
			out->links[n - 1].cost_ms += out->links[i].cost_ms;
			out->links[n - 1].n_rows++;
		} else {
			out->links[n++] = out->links[i];
		}
	}
	out->n_links = n;
	qsort(out->links, n, sizeof(*out->links), compare_cost);
}

static bool has_end(const struct fsl_link_row *row, size_t rank_idx)
{
	return row->src_idx == rank_idx || row->dst_idx == rank_idx;
}

/* Both ends of the link are members of the channel. */
static bool holds_ends(const struct fsl_channel *channel, const struct fsl_link_row *row)
{
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		n += has_end(row, channel->members[m]);
	}
	return n == 2;
}

static bool is_slow(const struct fsl_bandwidths *out, const struct fsl_link_row *row)
{
	for (size_t i = 0; i < out->n_links; i++) {
		if (compare_ends(out->links[i].row, row) == 0) {
			return true;
		}
	}
	return false;
}

/* The share of a transfer that is left if the link is as fast as those like it. Other links bound
 * it: a transfer takes no less than on the slowest healthy link of the same operators. */
static double left_of(const struct work *work, const struct fsl_slow_link *slow)
{
	const struct fsl_link_row *row = slow->row;
	double left = slow->gb_per_s / slow->usual_gb_per_s;
	for (size_t i = 0; i < work->job->table->n_rows; i++) {
		const struct fsl_link_row *other = &work->job->table->rows[i];
		double share = (double)other->time_ns / (double)row->time_ns;
		if (share > left && strcmp(other->group, row->group) == 0 &&
		    strcmp(other->type, row->type) == 0 && !is_slow(work->out, other)) {
			left = share;
		}
	}
	return fmin(1.0, left);
}

/* Sets @cost_ms to the time that a replay wins if slow links are as fast as those like them: @n of
 * them, those of one rank alone unless it is SIZE_MAX. Without a replay @cost_ms stays. */
static enum fsl_status replay(const struct work *work, const struct fsl_slow_link *links, size_t n,
			      size_t rank_idx, double *cost_ms, struct fsl_error *err)
{
	const struct fsl_match *match = work->job->capture->match;
	double *factor = NULL, saved_ms = NAN;
	bool is_used = false;
	FSL_TRY(FSL_ARENA_NEW(factor, &work->out->arena, match->n_channels, "channels", err));
	for (size_t c = 0; c < match->n_channels; c++) {
		factor[c] = 1.0;
		for (size_t i = 0; i < n; i++) {
			bool is_asked = rank_idx == SIZE_MAX || has_end(links[i].row, rank_idx);
			if (is_asked && holds_ends(&match->channels[c], links[i].row)) {
				factor[c] = fmin(factor[c], left_of(work, &links[i]));
				is_used = true;
			}
		}
	}
	if (is_used) {
		FSL_TRY(fsl_places_mend_channels(&saved_ms, work->job->capture, factor, err));
	}
	*cost_ms = isnan(saved_ms) ? *cost_ms : saved_ms;
	return FSL_OK;
}

/* Names a rank if most of its links are slow. */
static enum fsl_status judge_port(const struct work *work, size_t rank_idx, struct fsl_error *err)
{
	struct fsl_bandwidths *out = work->out;
	struct fsl_slow_port *port = &out->ports[out->n_ports];
	double step_ms = work->job->capture->step_ms;
	*port = (struct fsl_slow_port){.rank_idx = rank_idx};
	for (size_t i = 0; i < work->job->table->n_rows; i++) {
		port->n_links += has_end(&work->job->table->rows[i], rank_idx);
	}
	for (size_t i = 0; i < out->n_links; i++) {
		if (has_end(out->links[i].row, rank_idx)) {
			port->n_slow += out->links[i].n_rows;
			port->cost_ms = fmax(port->cost_ms, out->links[i].cost_ms);
		}
	}
	if (port->n_slow < FSL_PORT_LINKS_MIN ||
	    (double)port->n_slow < FSL_PORT_LINKS_SHARE_MIN * (double)port->n_links) {
		return FSL_OK;
	}
	out->n_ports++;
	for (size_t i = 0; i < out->n_links; i++) {
		out->links[i].is_of_port |= has_end(out->links[i].row, rank_idx);
	}
	FSL_TRY(replay(work, out->links, out->n_links, rank_idx, &port->cost_ms, err));
	port->is_named = step_ms > 0.0 && port->cost_ms >= work->job->named_share_min * step_ms;
	return FSL_OK;
}

/* The costliest links are replayed, the others keep the sum of their times. */
static enum fsl_status cost_links(const struct work *work, struct fsl_error *err)
{
	struct fsl_bandwidths *out = work->out;
	size_t n_ranks = work->job->capture->run->n_ranks;
	for (size_t i = 0; i < out->n_links && i < FSL_JUDGED_LINKS_MAX; i++) {
		struct fsl_slow_link *link = &out->links[i];
		FSL_TRY(replay(work, link, 1, SIZE_MAX, &link->cost_ms, err));
	}
	qsort(out->links, out->n_links, sizeof(*out->links), compare_cost);
	FSL_TRY(FSL_ARENA_NEW(out->ports, &out->arena, n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < n_ranks; r++) {
		FSL_TRY(judge_port(work, r, err));
	}
	return FSL_OK;
}

static enum fsl_status judge(struct work *work, struct fsl_error *err)
{
	size_t n = work->job->table->n_rows + 1;
	struct fsl_arena *arena = &work->out->arena;
	FSL_TRY(FSL_ARENA_NEW(work->votes, arena, n, "links", err));
	FSL_TRY(FSL_ARENA_NEW(work->values, arena, 2 * n, "links", err));
	FSL_TRY(FSL_ARENA_NEW(work->out->links, arena, n, "links", err));
	find_slow(work);
	merge_ends(work->out);
	return work->out->n_links > 0 ? cost_links(work, err) : FSL_OK;
}

enum fsl_status fsl_bandwidths_judge(struct fsl_bandwidths *out,
				     const struct fsl_bandwidth_job *job, struct fsl_error *err)
{
	struct work work = {.job = job, .out = out};
	*out = (struct fsl_bandwidths){0};
	enum fsl_status status = judge(&work, err);
	if (status != FSL_OK) {
		fsl_bandwidths_fini(out);
	}
	return status;
}

void fsl_bandwidths_fini(struct fsl_bandwidths *bandwidths)
{
	fsl_arena_fini(&bandwidths->arena);
	*bandwidths = (struct fsl_bandwidths){0};
}
