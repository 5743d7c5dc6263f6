/*
 * Compares links that move the same amounts for the same operators over the same kind of
 * connection. Tells the links that are slower than chance allows, and their cost. Times of links
 * are transfers without waits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/step_rows.h"
#include "judge/limits.h"
#include "judge/link_table.h"
#include "judge/to_places.h"

enum { LINKS_TOLD_MAX = 8, TEXT_MAX = 640 };

/* A slow link and how it compares. */
struct slow {
	const struct fsl_link_row *row;
	double gb_per_s, usual_gb_per_s;
	/* Per step: what comes back if all that its two ends move together were as fast as on like
	 * links; without a replay, the sum of its times beyond that. */
	double cost_ms;
	size_t n_alike, n_rows; /* directions and kinds of operators between its ends */
};

/* Sums over the links of one rank. */
struct ends {
	size_t n_links, n_slow;
	double cost_ms; /* largest of its slow links */
};

struct work {
	struct fsl_link_table table;
	struct fsl_arena arena;
	struct fsl_indexed *votes; /* per row */
	double *values;            /* 2 per row */
	struct slow *slow;         /* per row */
	size_t n_slow;
	double step_ms;
	double alpha, ratio_max, cost_share_min; /* limits of this look */
};

static void add_slow(struct work *work, const struct fsl_link_row *row, double usual, size_t n)
{
	double gb_per_s = fsl_link_gb_per_s(row);
	double more_ns = (double)row->time_ns - (double)row->n_bytes / usual;
	double cost_ms = more_ns / FSL_NS_PER_MS / (double)row->n_steps;
	if (gb_per_s <= work->ratio_max * usual &&
	    !(cost_ms < work->cost_share_min * work->step_ms)) {
		work->slow[work->n_slow++] = (struct slow){row, gb_per_s, usual, cost_ms, n, 1};
	}
}

/* Links [begin, end) of the table are alike: one vote each. */
static size_t vote_on_links(struct work *work, size_t begin, size_t end, double *usual)
{
	size_t n = end - begin;
	for (size_t i = 0; i < n; i++) {
		double gb_per_s = fsl_link_gb_per_s(&work->table.rows[begin + i]);
		work->votes[i] = (struct fsl_indexed){log(gb_per_s), (uint32_t)(begin + i)};
		work->values[i] = gb_per_s;
	}
	*usual = fsl_median(work->values, n, work->values + n);
	fsl_indexed_sort(work->votes, n);
	return fsl_outliers_low(work->votes, n, work->alpha, FSL_JUDGE_LINK_SIGMA_MIN, NULL);
}

/* Likewise, one vote for all that a rank sends over in a group: of few ranks the links of one bad
 * port are half of all and hide each other. idx: the first row of the rank. */
static size_t vote_on_senders(struct work *work, size_t begin, size_t end, double *usual)
{
	const struct fsl_link_row *rows = work->table.rows;
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
		fsl_outliers_low(work->votes, n, work->alpha, FSL_JUDGE_LINK_SIGMA_MIN, NULL);
	*usual = n > 0 ? exp(work->votes[n / 2].value) : NAN;
	return n_low;
}

/* Links of the same two ends are one: -1, 0, 1. */
static int compare_ends(const struct fsl_link_row *a, const struct fsl_link_row *b)
{
	int32_t least_a = a->src < a->dst ? a->src : a->dst, most_a = a->src + a->dst - least_a;
	int32_t least_b = b->src < b->dst ? b->src : b->dst, most_b = b->src + b->dst - least_b;
	int order = FSL_ORDER(least_a, least_b);
	return order != 0 ? order : FSL_ORDER(most_a, most_b);
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
		n_low = ratio <= FSL_JUDGE_FEW_LINKS_RATIO_MAX ? i : n_low;
	}
	*usual = exp(work->votes[n_low + (n - n_low) / 2].value);
	return n_low;
}

static void add_low(struct work *work, size_t begin, size_t end, size_t n_low, double usual)
{
	for (size_t i = 0; i < n_low; i++) {
		add_slow(work, &work->table.rows[work->votes[i].idx], usual, end - begin);
	}
}

static void compare_alike(struct work *work, size_t begin, size_t end)
{
	const struct fsl_link_row *rows = work->table.rows;
	double usual = NAN;
	size_t n_low = vote_on_links(work, begin, end, &usual);
	if (n_low == 0) {
		n_low = split_few(work, begin, end, &usual);
	}
	if (n_low > 0) {
		add_low(work, begin, end, n_low, usual);
		return;
	}
	n_low = vote_on_senders(work, begin, end, &usual);
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
	for (size_t begin = 0, end = 0; begin < work->table.n_rows; begin = end) {
		const struct fsl_link_row *first = &work->table.rows[begin];
		end = begin;
		while (end < work->table.n_rows &&
		       fsl_link_compare_kind(first, &work->table.rows[end]) == 0) {
			end++;
		}
		if (end - begin >= FSL_JUDGE_FEW_LINKS_MIN &&
		    first->n_bytes / (int64_t)first->n_steps >= FSL_JUDGE_LINK_BYTES_MIN) {
			compare_alike(work, begin, end);
		}
	}
}

static int compare_slow(const void *left, const void *right)
{
	const struct slow *a = left, *b = right;
	int order = compare_ends(a->row, b->row);
	order = order != 0 ? order : FSL_ORDER(b->cost_ms, a->cost_ms);
	return order != 0 ? order : FSL_ORDER(a->row, b->row);
}

/* Directions and kinds of operators between the same two ends add up. */
static void merge_ends(struct work *work)
{
	size_t n = 0;
	qsort(work->slow, work->n_slow, sizeof(*work->slow), compare_slow);
	for (size_t i = 0; i < work->n_slow; i++) {
		if (n > 0 && work->slow[i].row->dst >= 0 &&
		    compare_ends(work->slow[n - 1].row, work->slow[i].row) == 0) {
			work->slow[n - 1].cost_ms += work->slow[i].cost_ms;
			work->slow[n - 1].n_rows++;
		} else {
			work->slow[n++] = work->slow[i];
		}
	}
	work->n_slow = n;
}

/* Both ends of the link are members of the channel. */
static bool holds_ends(const struct fsl_channel *channel, const struct fsl_profile *profile,
		       const struct fsl_link_row *row)
{
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		int32_t rank = profile->ranks[channel->members[m]].rank;
		n += rank == row->src || rank == row->dst;
	}
	return n == 2;
}

static bool is_slow(const struct work *work, const struct fsl_link_row *row)
{
	for (size_t i = 0; i < work->n_slow; i++) {
		if (compare_ends(work->slow[i].row, row) == 0) {
			return true;
		}
	}
	return false;
}

/* The share of a transfer that is left if the link is as fast as those like it. Other links bound
 * it: a transfer takes no less than on the slowest healthy link of the same operators. */
static double left_of(const struct work *work, const struct slow *slow)
{
	const struct fsl_link_row *row = slow->row;
	double left = slow->gb_per_s / slow->usual_gb_per_s;
	for (size_t i = 0; i < work->table.n_rows; i++) {
		const struct fsl_link_row *other = &work->table.rows[i];
		double share = (double)other->time_ns / (double)row->time_ns;
		if (share > left && strcmp(other->group, row->group) == 0 &&
		    strcmp(other->type, row->type) == 0 && !is_slow(work, other)) {
			left = share;
		}
	}
	return fmin(1.0, left);
}

/* Sets @cost_ms to the time that a replay wins if one slow link, or all those of @rank, are as fast
 * as those like them. Without a replay @cost_ms stays. */
static enum fsl_status replay_links(struct work *work, const struct slow *slow, size_t n,
				    int32_t rank, const struct fsl_profile_case *facts,
				    double *cost_ms, struct fsl_error *err)
{
	const struct fsl_match *match = facts->places->job.match;
	double *factor = fsl_arena_alloc(&work->arena, (match->n_channels + 1) * sizeof(*factor));
	double saved_ms = NAN;
	bool is_used = false;
	if (factor == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu",
				match->n_channels);
	}
	for (size_t c = 0; c < match->n_channels; c++) {
		factor[c] = 1.0;
		for (size_t i = 0; i < n; i++) {
			bool is_asked =
				rank < 0 || slow[i].row->src == rank || slow[i].row->dst == rank;
			if (is_asked &&
			    holds_ends(&match->channels[c], facts->profile, slow[i].row)) {
				factor[c] = fmin(factor[c], left_of(work, &slow[i]));
				is_used = true;
			}
		}
	}
	if (is_used) {
		FSL_TRY(fsl_places_mend_channels(&saved_ms, &facts->places->job, factor, err));
	}
	*cost_ms = isnan(saved_ms) ? *cost_ms : saved_ms;
	return FSL_OK;
}

static struct ends ends_of(const struct work *work, int32_t rank)
{
	struct ends ends = {0};
	for (size_t i = 0; i < work->table.n_rows; i++) {
		ends.n_links += work->table.rows[i].src == rank || work->table.rows[i].dst == rank;
	}
	for (size_t i = 0; i < work->n_slow; i++) {
		const struct fsl_link_row *row = work->slow[i].row;
		if (row->src == rank || row->dst == rank) {
			ends.n_slow += work->slow[i].n_rows;
			ends.cost_ms = fmax(ends.cost_ms, work->slow[i].cost_ms);
		}
	}
	return ends;
}

static bool is_all_slow(const struct ends *ends)
{
	return ends->n_slow >= FSL_JUDGE_RANK_LINKS_MIN &&
	       (double)ends->n_slow >= FSL_JUDGE_RANK_LINKS_SHARE_MIN * (double)ends->n_links;
}

static enum fsl_status add_rank(struct fsl_profile_findings *findings, const struct work *work,
				int32_t rank, const struct ends *ends, struct fsl_error *err)
{
	char what[TEXT_MAX];
	bool is_culprit = ends->cost_ms >= FSL_JUDGE_NAMED_SHARE_MIN * work->step_ms;
	struct fsl_profile_finding finding = fsl_profile_finding_of(
		is_culprit ? FSL_CODE_SLOW_RANK_NETWORK : FSL_CODE_SLOW_LINKS);
	(void)snprintf(what, sizeof(what),
		       "%zu of %zu links of rank %d are slower than links like them, which costs "
		       "up to %.1f ms a step",
		       ends->n_slow, ends->n_links, (int)rank, ends->cost_ms);
	finding.rank = rank;
	finding.gain_ms = ends->cost_ms;
	finding.what = what;
	finding.advice = "look at the network port of this device (speed, errors, retransmissions) "
			 "and at what else uses it";
	(void)fsl_profile_finding_add_fact(&finding, "slow_links", (double)ends->n_slow, "count");
	(void)fsl_profile_finding_add_fact(&finding, "links", (double)ends->n_links, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status add_link(struct fsl_profile_findings *findings, const struct slow *slow,
				struct fsl_error *err)
{
	char what[TEXT_MAX], far[64];
	const struct fsl_link_row *row = slow->row;
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_SLOW_LINK);
	(void)snprintf(far, sizeof(far), row->dst >= 0 ? "rank %d" : "member %d of its group",
		       (int)(row->dst >= 0 ? row->dst : row->dst_number));
	(void)snprintf(what, sizeof(what),
		       "the %s link from rank %d to %s moves %.2f GB/s in %s, %.0f %% of the %.2f "
		       "GB/s of %zu links like it, which costs %.1f ms a step",
		       fsl_profile_transport_text(row->transport), (int)row->src, far,
		       slow->gb_per_s, row->type, 100.0 * slow->gb_per_s / slow->usual_gb_per_s,
		       slow->usual_gb_per_s, slow->n_alike, slow->cost_ms);
	finding.rank = row->src;
	finding.peer = row->dst;
	finding.gain_ms = slow->cost_ms;
	finding.what = what;
	finding.advice = "look at both ends and the cable or switch between them (errors, "
			 "retransmissions, reduced width), and at what else uses them";
	(void)fsl_profile_finding_add_fact(&finding, "bandwidth", slow->gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "links_like_it", slow->usual_gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "n_like_it", (double)slow->n_alike, "count");
	(void)fsl_profile_finding_add_fact(&finding, "moved", (double)row->n_bytes / 1e6, "MB");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Told already as a rank of which most links are slow. */
static bool is_told(const uint8_t *is_slow, const struct fsl_profile *profile, int32_t number)
{
	const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, number);
	return rank != NULL && is_slow[rank - profile->ranks] != 0;
}

/* Ranks of which most links are slow, then the links of others. */
static enum fsl_status tell(struct fsl_profile_findings *findings, struct work *work,
			    const struct fsl_profile_case *facts, struct fsl_error *err)
{
	const struct fsl_profile *profile = facts->profile;
	enum fsl_status status = FSL_OK;
	size_t n_told = 0;
	uint8_t *is_slow = fsl_arena_alloc(&work->arena, profile->n_ranks + 1);
	if (is_slow == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK && work->n_slow > 0; r++) {
		struct ends ends = ends_of(work, profile->ranks[r].rank);
		if (is_all_slow(&ends)) {
			is_slow[r] = 1;
			FSL_TRY(replay_links(work, work->slow, work->n_slow,
					     facts->profile->ranks[r].rank, facts, &ends.cost_ms,
					     err));
			status = add_rank(findings, work, profile->ranks[r].rank, &ends, err);
		}
	}
	for (size_t i = 0; i < work->n_slow && status == FSL_OK && n_told < LINKS_TOLD_MAX; i++) {
		const struct fsl_link_row *row = work->slow[i].row;
		if (!is_told(is_slow, profile, row->src) && !is_told(is_slow, profile, row->dst)) {
			status = add_link(findings, &work->slow[i], err);
			n_told++;
		}
	}
	return status;
}

static int compare_cost(const void *left, const void *right)
{
	const struct slow *a = left, *b = right;
	int order = FSL_ORDER(b->cost_ms, a->cost_ms);
	return order != 0 ? order : FSL_ORDER(a->row, b->row);
}

/* The costliest of them are replayed; the others are not told. */
static enum fsl_status cost_links(struct work *work, const struct fsl_profile_case *facts,
				  struct fsl_error *err)
{
	if (work->n_slow == 0) {
		return FSL_OK;
	}
	merge_ends(work);
	qsort(work->slow, work->n_slow, sizeof(*work->slow), compare_cost);
	for (size_t i = 0; i < work->n_slow && i < 2 * LINKS_TOLD_MAX; i++) {
		FSL_TRY(replay_links(work, &work->slow[i], 1, -1, facts, &work->slow[i].cost_ms,
				     err));
	}
	qsort(work->slow, work->n_slow, sizeof(*work->slow), compare_cost);
	return FSL_OK;
}

static enum fsl_status alloc_work(struct work *work, struct fsl_error *err)
{
	size_t n = work->table.n_rows + 1;
	work->votes = fsl_arena_alloc(&work->arena, n * sizeof(*work->votes));
	work->values = fsl_arena_alloc(&work->arena, 2 * n * sizeof(*work->values));
	work->slow = fsl_arena_alloc(&work->arena, n * sizeof(*work->slow));
	return work->votes != NULL && work->values != NULL && work->slow != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: links=%zu", n);
}

enum fsl_status fsl_profile_judge_slow_link(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	struct work work = {
		.step_ms = fsl_profile_longest_step_ms(facts->profile),
		.alpha = fmin(FSL_JUDGE_LINK_ALPHA,
			      fsl_profile_chance_max(facts, FSL_JUDGE_LINK_ALPHA)),
		.ratio_max = 1.0 - fsl_profile_tested_min(facts, FSL_JUDGE_LINK_LACK_MIN),
		.cost_share_min = fsl_profile_tested_min(facts, FSL_JUDGE_MENTION_SHARE_MIN)};
	enum fsl_status status =
		fsl_link_table_build(&work.table, facts->profile, facts->cluster, err);
	if (status == FSL_OK) {
		status = alloc_work(&work, err);
	}
	if (status == FSL_OK) {
		find_slow(&work);
		status = cost_links(&work, facts, err);
	}
	if (status == FSL_OK) {
		status = tell(findings, &work, facts, err);
	}
	if (status == FSL_OK && work.table.n_rows == 0) {
		status = fsl_profile_findings_miss(
			findings, err,
			"slow links: no communication_matrix.json, or database, with links between "
			"ranks");
	}
	fsl_arena_fini(&work.arena);
	fsl_link_table_fini(&work.table);
	return status;
}
