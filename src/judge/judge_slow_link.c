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
#include "judge/finding.h"
#include "judge/limits.h"
#include "judge/link_table.h"
#include "judge/standing.h"

enum { LINKS_TOLD_MAX = 8, TEXT_MAX = 640 };

/* A slow link and how it compares. */
struct slow {
	const struct fsl_link_row *row;
	double gb_per_s, usual_gb_per_s;
	double cost_ms; /* per step: its time beyond what like links would take */
	size_t n_alike;
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
		work->slow[work->n_slow++] = (struct slow){row, gb_per_s, usual, cost_ms, n};
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

static void compare_alike(struct work *work, size_t begin, size_t end)
{
	const struct fsl_link_row *rows = work->table.rows;
	double usual = NAN;
	size_t n_low = vote_on_links(work, begin, end, &usual);
	for (size_t i = 0; i < n_low; i++) {
		add_slow(work, &rows[work->votes[i].idx], usual, end - begin);
	}
	if (n_low > 0) {
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
		if (end - begin >= FSL_OUTLIERS_N_MIN &&
		    first->n_bytes / (int64_t)first->n_steps >= FSL_JUDGE_LINK_BYTES_MIN) {
			compare_alike(work, begin, end);
		}
	}
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
			ends.n_slow++;
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
			    const struct fsl_profile *profile, struct fsl_error *err)
{
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
	if (a->cost_ms != b->cost_ms) {
		return a->cost_ms > b->cost_ms ? -1 : 1;
	}
	return (a->row > b->row) - (a->row < b->row);
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
		if (work.n_slow > 1) {
			qsort(work.slow, work.n_slow, sizeof(*work.slow), compare_cost);
		}
		status = tell(findings, &work, facts->profile, err);
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
