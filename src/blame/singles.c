/* Single long steps: found in a chapter, kept as bytes, told of many chapters. */
#include "blame/singles.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/log.h"
#include "base/sort.h"
#include "blame/cause.h"
#include "blame/fuse_parts.h"

enum {
	STEPS_MAX = 1 << 24,
	RANK_BYTES = 90, /* packed, at least */
};

static const struct fsl_pack_field SIZE_SHAPE = {sizeof(uint32_t), sizeof(uint32_t)};

size_t fsl_single_size(double ms)
{
	size_t size = 0;
	while (size + 1 < FSL_SINGLE_SIZES_N && ms >= ldexp(1.0, (int)size + 1)) {
		size++;
	}
	return size;
}

uint32_t fsl_singles_count(const struct fsl_rank_singles *singles, size_t size)
{
	uint32_t n = 0;
	for (size_t k = size; k < FSL_SINGLE_SIZES_N; k++) {
		n += singles->n_by_size[k];
	}
	return n;
}

/* The steps of a chapter while they are looked at. */
struct look {
	const struct fsl_case *facts;
	size_t begin, end;
	double *pauses_ms; /* [end - begin]: the longest of all ranks */
};

static bool has_singles(const struct fsl_blame *blame, size_t r)
{
	uint32_t class_idx = blame->peers.class_of[r];
	return fsl_peers_n(&blame->peers, r) > 1 &&
	       !(blame->spread[class_idx] >= FSL_WORK_SPREAD_MIN);
}

/* Steps in a row that are high are one: what holds a rank up at the end of a step may count in the
 * next one, too. */
struct row {
	size_t begin, end;
	double excess_ms;
};

/* How long others waited for the rank in the row or, for work at its very end, in the next step; if
 * no wait could be seen, as long as it was too slow. */
static double waited_ms(const struct fsl_blame *blame, size_t r, const struct row *row)
{
	double sum_ms = blame->is_matched[r] ? 0.0 : row->excess_ms;
	for (size_t s = row->begin; s <= row->end && s < blame->n_steps; s++) {
		sum_ms += blame->late_ms[r * blame->n_steps + s];
	}
	return sum_ms;
}

/* How much longer these steps took than usual: several groups wait for one rank, but the job loses
 * the time once. */
static double risen_ms(const struct fsl_blame *blame, const struct row *row)
{
	double sum_ms = 0.0;
	for (size_t s = row->begin; s <= row->end && s < blame->n_steps; s++) {
		sum_ms += fmax(0.0, blame->step_dur_ms[s] - blame->step_ms);
	}
	return sum_ms;
}

static void add_row(struct fsl_rank_singles *out, const struct look *look, size_t r,
		    const struct row *row)
{
	const struct fsl_blame *blame = look->facts->blame;
	const struct fsl_job_step *first = &look->facts->steps->items[row->begin];
	double late_ms = waited_ms(blame, r, row);
	double lost_ms = fmin(fmin(row->excess_ms, late_ms), risen_ms(blame, row));
	double *pause_ms = &look->pauses_ms[row->begin - look->begin];
	if (out->first_ns == FSL_NS_ABSENT) {
		out->first_step = first->step;
		out->first_ns = first->begin_ns;
	}
	out->last_step = look->facts->steps->items[row->end - 1].step;
	out->n_by_size[fsl_single_size(lost_ms)]++;
	out->n_waited += late_ms >= FSL_WAITED_PART_MIN * blame->charges[r].threshold_ms;
	out->lost_ms += lost_ms;
	out->most_ms = fmax(out->most_ms, lost_ms);
	for (size_t s = row->begin; s < row->end; s++) {
		out->own_ms += blame->own_ms[r * blame->n_steps + s];
		out->peers_ms += blame->reference_ms[r * blame->n_steps + s];
	}
	*pause_ms = fmax(*pause_ms, lost_ms);
}

/* The cause of the single steps, as of a charge that consists of them. @least_ms: the least of them
 * above the peers. */
static enum fsl_cause cause_of_steps(const struct fsl_rank_singles *item, const struct look *look,
				     size_t r, const struct fsl_episode *episode, double least_ms)
{
	static const double BELOW = 0.999; /* so that the least is above, too */
	struct fsl_charge charge = look->facts->blame->charges[r];
	charge.pattern = FSL_PATTERN_REPEATED;
	charge.episode = *episode;
	charge.threshold_ms = BELOW * least_ms;
	charge.own_ms = item->own_ms / (double)episode->n_high;
	charge.peers_ms = item->peers_ms / (double)episode->n_high;
	return fsl_cause_find(look->facts, r, &charge).cause;
}

/* Excess of the rank over its healthy level. The reference of a rank that changed, or has repeated
 * steps, is that level already. */
static double excess_ms(const struct fsl_blame *blame, size_t r, size_t s)
{
	const struct fsl_charge *charge = &blame->charges[r];
	bool is_level = charge->is_change || charge->pattern == FSL_PATTERN_REPEATED;
	double ratio = is_level ? 1.0 : fsl_uneven_ratio(blame->healthy_ratio[r]);
	size_t at = r * blame->n_steps + s;
	return blame->own_ms[at] - ratio * blame->reference_ms[at];
}

/* The next row of high steps from @begin on; empty: there is none. */
static struct row next_row(const struct look *look, size_t r, size_t begin)
{
	const struct fsl_blame *blame = look->facts->blame;
	double threshold_ms = blame->charges[r].threshold_ms;
	struct row row = {begin, begin, 0.0};
	while (row.begin < look->end && !(excess_ms(blame, r, row.begin) > threshold_ms)) {
		row.begin++;
	}
	row.end = row.begin;
	while (row.end < look->end && excess_ms(blame, r, row.end) > threshold_ms) {
		row.excess_ms += excess_ms(blame, r, row.end++);
	}
	return row;
}

/* Adds the rank's single steps. *least_ms: the least of them above the peers. */
static struct fsl_episode add_steps(struct fsl_rank_singles *out, const struct look *look, size_t r,
				    double *least_ms)
{
	struct fsl_episode all = {.n_high = 0};
	struct row row = next_row(look, r, look->begin);
	for (; row.begin < row.end; row = next_row(look, r, row.end)) {
		if (row.end - row.begin >= FSL_LASTING_STEPS_MIN) {
			continue;
		}
		add_row(out, look, r, &row);
		all.begin = all.n_high == 0 ? row.begin : all.begin;
		all.end = row.end;
		all.n_high += row.end - row.begin;
		for (size_t s = row.begin; s < row.end; s++) {
			*least_ms = fmin(*least_ms, fsl_blame_excess_ms(look->facts->blame, r, s));
		}
	}
	if (all.n_high > 0) {
		all.persistence = (double)all.n_high / (double)(all.end - all.begin);
	}
	return all;
}

static void look_at_rank(struct fsl_rank_singles *out, const struct look *look, size_t r)
{
	double least_ms = INFINITY, n_steps = (double)(look->end - look->begin);
	double counts_ms = fsl_least_loss_ms(look->facts->config, look->facts->blame->step_ms);
	struct fsl_episode all = add_steps(out, look, r, &least_ms);
	if (all.n_high > 0 && out->lost_ms >= FSL_NOTED_LOSS_SHARE * counts_ms * n_steps) {
		out->cause = cause_of_steps(out, look, r, &all, least_ms);
	}
}

/* False: too few ranks left data to tell anything. */
static bool is_seen(const struct fsl_case *facts)
{
	size_t n_seen = 0;
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		n_seen += facts->run->ranks[r].n_ops > 0;
	}
	return (double)n_seen >=
	       facts->config->rank_coverage_min * (double)facts->topology->n_expected_ranks;
}

/* Ranks of each stage that may have single steps, by stage. */
static enum fsl_status count_stages(uint32_t **n_of, struct fsl_arena *scratch,
				    const struct fsl_blame *blame, struct fsl_error *err)
{
	int32_t last = 0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		last = blame->peers.stage_of[r] > last ? blame->peers.stage_of[r] : last;
	}
	FSL_TRY(FSL_ARENA_NEW(*n_of, scratch, (size_t)last + 1, "n_of", err));
	for (size_t r = 0; r < blame->n_ranks; r++) {
		(*n_of)[blame->peers.stage_of[r]] += has_singles(blame, r);
	}
	return FSL_OK;
}

static enum fsl_status look_at_ranks(struct fsl_singles *out, struct look *look,
				     struct fsl_arena *scratch, struct fsl_error *err)
{
	const struct fsl_blame *blame = look->facts->blame;
	uint32_t *n_of = NULL;
	FSL_TRY(FSL_ARENA_NEW(look->pauses_ms, scratch, look->end - look->begin, "pauses_ms", err));
	FSL_TRY(count_stages(&n_of, scratch, blame, err));
	for (size_t r = 0; r < blame->n_ranks; r++) {
		struct fsl_rank_singles item = {
			.rank = look->facts->run->ranks[r].rank,
			.stage = blame->peers.stage_of[r],
			.n_stage = n_of[blame->peers.stage_of[r]],
			.cause = FSL_CAUSES_N,
			.first_ns = FSL_NS_ABSENT,
		};
		if (!has_singles(blame, r)) {
			continue;
		}
		look_at_rank(&item, look, r);
		if (item.first_ns != FSL_NS_ABSENT) {
			FSL_TRY(FSL_GROW(out->items, out->capacity, out->n_items + 1, err));
			out->items[out->n_items++] = item;
		}
	}
	out->n_steps = look->end - look->begin;
	for (size_t s = look->begin; s < look->end; s++) {
		double pause_ms = look->pauses_ms[s - look->begin];
		out->steps_ms += blame->step_dur_ms[s];
		out->n_pauses += pause_ms > 0.0;
		out->pauses_ms += pause_ms;
	}
	return FSL_OK;
}

enum fsl_status fsl_singles_find(struct fsl_singles *out, const struct fsl_case *facts,
				 size_t begin, size_t end, struct fsl_error *err)
{
	struct look look = {.facts = facts, .begin = begin, .end = end};
	struct fsl_arena scratch = {0};
	*out = (struct fsl_singles){.n_steps = 0};
	if (begin >= end || !is_seen(facts)) {
		return FSL_OK;
	}
	enum fsl_status status = look_at_ranks(out, &look, &scratch, err);
	fsl_arena_fini(&scratch);
	if (status != FSL_OK) {
		fsl_singles_fini(out);
	}
	return status;
}

void fsl_singles_fini(struct fsl_singles *singles)
{
	fsl_free(singles->items);
	*singles = (struct fsl_singles){.n_steps = 0};
}

void fsl_singles_pack(const struct fsl_singles *singles, struct fsl_pack *pack)
{
	fsl_pack_u64(pack, singles->n_steps);
	fsl_pack_f64(pack, singles->steps_ms);
	fsl_pack_u64(pack, singles->n_pauses);
	fsl_pack_f64(pack, singles->pauses_ms);
	fsl_pack_u64(pack, singles->n_items);
	for (size_t i = 0; i < singles->n_items; i++) {
		const struct fsl_rank_singles *item = &singles->items[i];
		fsl_pack_u32(pack, (uint32_t)item->rank);
		fsl_pack_u32(pack, (uint32_t)item->stage);
		fsl_pack_u32(pack, item->n_stage);
		fsl_pack_u32(pack, item->n_waited);
		fsl_pack_column(pack, item->n_by_size, SIZE_SHAPE, FSL_SINGLE_SIZES_N);
		fsl_pack_u8(pack, (uint8_t)item->cause);
		fsl_pack_f64(pack, item->lost_ms);
		fsl_pack_f64(pack, item->most_ms);
		fsl_pack_f64(pack, item->own_ms);
		fsl_pack_f64(pack, item->peers_ms);
		fsl_pack_u64(pack, (uint64_t)item->first_step);
		fsl_pack_u64(pack, (uint64_t)item->last_step);
		fsl_pack_u64(pack, (uint64_t)item->first_ns);
	}
}

/* The fields in the order in which they were packed. */
static struct fsl_rank_singles unpack_rank(struct fsl_unpack *unpack)
{
	struct fsl_rank_singles item;
	item.rank = (int32_t)fsl_unpack_u32(unpack);
	item.stage = (int32_t)fsl_unpack_u32(unpack);
	item.n_stage = fsl_unpack_u32(unpack);
	item.n_waited = fsl_unpack_u32(unpack);
	fsl_unpack_column(unpack, item.n_by_size, SIZE_SHAPE, FSL_SINGLE_SIZES_N);
	item.cause = (enum fsl_cause)fsl_unpack_u8(unpack);
	item.lost_ms = fsl_unpack_f64(unpack);
	item.most_ms = fsl_unpack_f64(unpack);
	item.own_ms = fsl_unpack_f64(unpack);
	item.peers_ms = fsl_unpack_f64(unpack);
	item.first_step = (int64_t)fsl_unpack_u64(unpack);
	item.last_step = (int64_t)fsl_unpack_u64(unpack);
	item.first_ns = (int64_t)fsl_unpack_u64(unpack);
	return item;
}

static bool is_time_ms(double ms)
{
	return ms >= 0.0 && isfinite(ms);
}

static bool is_sound(const struct fsl_singles *singles, const struct fsl_rank_singles *item)
{
	uint64_t n_high = 0;
	for (size_t k = 0; k < FSL_SINGLE_SIZES_N; k++) {
		n_high += item->n_by_size[k];
	}
	return item->stage >= 0 && item->n_stage > 1 && item->n_stage <= FSL_RANKS_MAX &&
	       n_high > 0 && n_high <= singles->n_steps && item->n_waited <= n_high &&
	       item->cause <= FSL_CAUSES_N && is_time_ms(item->lost_ms) &&
	       is_time_ms(item->most_ms) && is_time_ms(item->own_ms) &&
	       is_time_ms(item->peers_ms) && item->first_step <= item->last_step;
}

enum fsl_status fsl_singles_unpack(struct fsl_singles *out, struct fsl_unpack *unpack,
				   struct fsl_error *err)
{
	*out = (struct fsl_singles){.n_steps = (size_t)fsl_unpack_u64(unpack)};
	out->steps_ms = fsl_unpack_f64(unpack);
	out->n_pauses = (size_t)fsl_unpack_u64(unpack);
	out->pauses_ms = fsl_unpack_f64(unpack);
	size_t n = fsl_unpack_count(unpack, FSL_RANKS_MAX, RANK_BYTES);
	bool is_bad = unpack->is_bad || out->n_steps > STEPS_MAX || out->n_pauses > out->n_steps ||
		      !is_time_ms(out->steps_ms) || !is_time_ms(out->pauses_ms);
	enum fsl_status status = is_bad ? FSL_OK : FSL_GROW(out->items, out->capacity, n + 1, err);
	for (size_t i = 0; i < n && status == FSL_OK && !is_bad; i++) {
		out->items[i] = unpack_rank(unpack);
		is_bad = unpack->is_bad || !is_sound(out, &out->items[i]) ||
			 (i > 0 && out->items[i].rank <= out->items[i - 1].rank);
		out->n_items++;
	}
	if (status == FSL_OK && is_bad) {
		status = FSL_FAIL(err, FSL_ERR_FORMAT, "kept single steps are damaged");
	}
	if (status != FSL_OK) {
		fsl_singles_fini(out);
	}
	return status;
}

/* Single long steps of many chapters, told together. */

/* The single steps of a rank in a chapter. */
struct entry {
	uint32_t chapter;
	const struct fsl_rank_singles *item;
};

/* The single steps of all ranks of a stage in all chapters. */
struct stage_total {
	int32_t stage;
	size_t n_by_size[FSL_SINGLE_SIZES_N];
};

/* Everything that is told together. The sums are over the chapters before: [n_chapters + 1]. */
struct pool {
	const struct fsl_case *facts;
	const struct fsl_singles *const *chapters;
	size_t n_chapters;
	double *counts_ms; /* a loss that counts */
	double *steps_ms, *pauses_ms;
	size_t *n_steps, *n_pauses;
	struct entry *by_rank, *by_stage; /* by rank or stage, then chapter */
	size_t n_entries;
	double *stage_lost_ms;      /* [n_entries + 1]: of by_stage, those before */
	struct stage_total *totals; /* by stage */
	size_t n_totals;
};

/* Half-open range of chapters. */
struct range {
	size_t begin, end;
};

/* Single steps of a rank over a range of chapters. */
struct record {
	const struct fsl_rank_singles *first, *last;
	size_t n_high, n_waited, n_chapters;
	size_t n_by_size[FSL_SINGLE_SIZES_N];
	size_t n_all_by_size[FSL_SINGLE_SIZES_N]; /* in all chapters */
	bool has_moved;                           /* of one stage here, of another there */
	double lost_ms, most_ms, own_ms, peers_ms;
	double cause_ms[FSL_CAUSES_N]; /* lost, by cause */
};

static int compare_by_rank(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return x->item->rank != y->item->rank ? FSL_ORDER(x->item->rank, y->item->rank)
					      : FSL_ORDER(x->chapter, y->chapter);
}

static int compare_by_stage(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->item->stage != y->item->stage) {
		return FSL_ORDER(x->item->stage, y->item->stage);
	}
	return x->chapter != y->chapter ? FSL_ORDER(x->chapter, y->chapter)
					: FSL_ORDER(x->item->rank, y->item->rank);
}

static enum fsl_status alloc_pool(struct pool *pool, struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n_sums = pool->n_chapters + 1, n_stage_sums = pool->n_entries + 1;
	FSL_TRY(FSL_ARENA_NEW(pool->counts_ms, arena, n_sums, "counts_ms", err));
	FSL_TRY(FSL_ARENA_NEW(pool->steps_ms, arena, n_sums, "steps_ms", err));
	FSL_TRY(FSL_ARENA_NEW(pool->pauses_ms, arena, n_sums, "pauses_ms", err));
	FSL_TRY(FSL_ARENA_NEW(pool->n_steps, arena, n_sums, "n_steps", err));
	FSL_TRY(FSL_ARENA_NEW(pool->n_pauses, arena, n_sums, "n_pauses", err));
	FSL_TRY(FSL_ARENA_NEW(pool->by_rank, arena, n_stage_sums, "by_rank", err));
	FSL_TRY(FSL_ARENA_NEW(pool->by_stage, arena, n_stage_sums, "by_stage", err));
	FSL_TRY(FSL_ARENA_NEW(pool->stage_lost_ms, arena, n_stage_sums, "stage_lost_ms", err));
	return FSL_ARENA_NEW(pool->totals, arena, n_stage_sums, "totals", err);
}

static void add_sizes(size_t n_by_size[FSL_SINGLE_SIZES_N], const struct fsl_rank_singles *item)
{
	for (size_t k = 0; k < FSL_SINGLE_SIZES_N; k++) {
		n_by_size[k] += item->n_by_size[k];
	}
}

/* Entry @i of by_stage. */
static void add_to_stage(struct pool *pool, size_t i)
{
	const struct fsl_rank_singles *item = pool->by_stage[i].item;
	pool->stage_lost_ms[i + 1] = pool->stage_lost_ms[i] + item->lost_ms;
	if (pool->n_totals == 0 || pool->totals[pool->n_totals - 1].stage != item->stage) {
		pool->totals[pool->n_totals++].stage = item->stage;
	}
	add_sizes(pool->totals[pool->n_totals - 1].n_by_size, item);
}

static void sum_up(struct pool *pool)
{
	size_t n = 0;
	for (size_t c = 0; c < pool->n_chapters; c++) {
		const struct fsl_singles *chapter = pool->chapters[c];
		pool->counts_ms[c + 1] = pool->counts_ms[c] +
					 fsl_least_loss_ms(pool->facts->config, chapter->steps_ms);
		pool->steps_ms[c + 1] = pool->steps_ms[c] + chapter->steps_ms;
		pool->pauses_ms[c + 1] = pool->pauses_ms[c] + chapter->pauses_ms;
		pool->n_steps[c + 1] = pool->n_steps[c] + chapter->n_steps;
		pool->n_pauses[c + 1] = pool->n_pauses[c] + chapter->n_pauses;
		for (size_t i = 0; i < chapter->n_items; i++) {
			pool->by_rank[n++] = (struct entry){(uint32_t)c, &chapter->items[i]};
		}
	}
	FSL_ASSERT(n == pool->n_entries);
	memcpy(pool->by_stage, pool->by_rank, n * sizeof(*pool->by_stage));
	qsort(pool->by_rank, n, sizeof(*pool->by_rank), compare_by_rank);
	qsort(pool->by_stage, n, sizeof(*pool->by_stage), compare_by_stage);
	for (size_t i = 0; i < n; i++) {
		add_to_stage(pool, i);
	}
}

static enum fsl_status pool_init(struct pool *pool, struct fsl_arena *arena, struct fsl_error *err)
{
	for (size_t c = 0; c < pool->n_chapters; c++) {
		pool->n_entries += pool->chapters[c]->n_items;
	}
	FSL_TRY(alloc_pool(pool, arena, err));
	sum_up(pool);
	return FSL_OK;
}

static bool is_before(const struct entry *entry, int32_t stage, size_t chapter)
{
	return entry->item->stage != stage ? entry->item->stage < stage : entry->chapter < chapter;
}

/* The first entry of a stage that is not before the chapter. */
static size_t find_stage(const struct pool *pool, int32_t stage, size_t chapter)
{
	size_t low = 0;
	FSL_BISECT(low, pool->n_entries, i, is_before(&pool->by_stage[i], stage, chapter));
	return low;
}

/* The chapters over which the entries of a rank cost most above what counts (Kadane). */
static struct range find_range(const struct pool *pool, const struct entry *entries, size_t n)
{
	struct range best = {0, 0};
	double sum_ms = 0.0, most_ms = 0.0;
	size_t first = 0;
	for (size_t i = 0; i < n; i++) {
		size_t c = entries[i].chapter, seen = i > 0 ? entries[i - 1].chapter + 1 : c;
		sum_ms -= pool->counts_ms[c] - pool->counts_ms[seen];
		if (sum_ms <= 0.0) {
			sum_ms = 0.0;
			first = c;
		}
		sum_ms += entries[i].item->lost_ms;
		sum_ms -= pool->counts_ms[c + 1] - pool->counts_ms[c];
		if (sum_ms > most_ms) {
			most_ms = sum_ms;
			best = (struct range){first, c + 1};
		}
	}
	return best;
}

static void add_item(struct record *out, const struct fsl_rank_singles *item)
{
	out->first = out->first == NULL ? item : out->first;
	out->last = item;
	out->n_chapters++;
	out->n_high += fsl_singles_count(item, 0);
	add_sizes(out->n_by_size, item);
	out->n_waited += item->n_waited;
	out->lost_ms += item->lost_ms;
	out->most_ms = fmax(out->most_ms, item->most_ms);
	out->own_ms += item->own_ms;
	out->peers_ms += item->peers_ms;
	if (item->cause < FSL_CAUSES_N) {
		out->cause_ms[item->cause] += item->lost_ms;
	}
}

/* Sums up all entries of a rank. */
static struct record record_of(const struct entry *entries, size_t n, const struct range *range)
{
	struct record out = {.first = NULL};
	for (size_t i = 0; i < n; i++) {
		const struct fsl_rank_singles *item = entries[i].item;
		add_sizes(out.n_all_by_size, item);
		out.has_moved |= item->stage != entries[0].item->stage;
		if (entries[i].chapter >= range->begin && entries[i].chapter < range->end) {
			add_item(&out, item);
		}
	}
	return out;
}

static int compare_total(const void *key, const void *total)
{
	return FSL_ORDER(*(const int32_t *)key, ((const struct stage_total *)total)->stage);
}

/*
 * More often than the others of its stage in all chapters, by more than chance. A single step
 * counts if it costs half of what is usual for the rank: the others may have many short ones.
 */
static bool is_beyond_chance(const struct pool *pool, const struct record *record,
			     const struct range *range)
{
	const struct fsl_rank_singles *item = record->first;
	const struct stage_total *total = bsearch(&item->stage, pool->totals, pool->n_totals,
						  sizeof(*pool->totals), compare_total);
	size_t n_high = 0, n_others_high = 0;
	for (size_t k = fsl_single_size(FSL_CLEAR_SHARE * record->lost_ms / (double)record->n_high);
	     k < FSL_SINGLE_SIZES_N; k++) {
		n_high += record->n_by_size[k];
		n_others_high += total->n_by_size[k] - record->n_all_by_size[k];
	}
	FSL_ASSERT(total != NULL && item->n_stage > 1 && n_high <= record->n_high);
	double n_seen = (double)(item->n_stage - 1) * (double)pool->n_steps[pool->n_chapters];
	double rate = ((double)n_others_high + FSL_UNSEEN_STEPS) / n_seen;
	double n_steps = (double)(pool->n_steps[range->end] - pool->n_steps[range->begin]);
	double n_looks = (double)pool->n_chapters * (double)pool->facts->run->n_ranks;
	return n_high >= FSL_REPEATED_STEPS_MIN &&
	       n_looks * gsl_cdf_poisson_Q((unsigned int)(n_high - 1), rate * n_steps) <=
		       FSL_CHANCE_MAX;
}

/* Mean loss of another rank of its stage over the range. */
static double others_lost_ms(const struct pool *pool, const struct record *record,
			     const struct range *range)
{
	const struct fsl_rank_singles *item = record->first;
	size_t begin = find_stage(pool, item->stage, range->begin);
	size_t end = find_stage(pool, item->stage, range->end);
	double all_ms = pool->stage_lost_ms[end] - pool->stage_lost_ms[begin];
	return fmax(0.0, all_ms - record->lost_ms) / (double)(item->n_stage - 1);
}

static bool is_culprit(const struct pool *pool, const struct record *record,
		       const struct range *range)
{
	double pauses_ms = pool->pauses_ms[range->end] - pool->pauses_ms[range->begin];
	return !record->has_moved && record->most_ms <= FSL_ONE_STEP_COST_MAX * record->lost_ms &&
	       (double)record->n_waited >= FSL_WAITED_SHARE_MIN * (double)record->n_high &&
	       record->lost_ms >= FSL_PAUSES_COST_MIN * pauses_ms &&
	       record->lost_ms > FSL_REPEATED_MULTIPLE * others_lost_ms(pool, record, range) &&
	       is_beyond_chance(pool, record, range);
}

/* The cause of most of the loss; if none was asked for, that of pauses. */
static enum fsl_cause cause_of(const struct record *record)
{
	enum fsl_cause cause = FSL_CAUSE_HOST;
	for (int k = 0; k < FSL_CAUSES_N; k++) {
		cause = record->cause_ms[k] > record->cause_ms[cause] ? (enum fsl_cause)k : cause;
	}
	return cause;
}

/* The first step after the last single one, when the next should have come since; else -1. */
static int64_t until_step(const struct pool *pool, const struct record *record,
			  const struct range *range)
{
	size_t n_left = pool->n_steps[pool->n_chapters] - pool->n_steps[range->end];
	size_t n_range = pool->n_steps[range->end] - pool->n_steps[range->begin];
	bool is_over = n_left * (record->n_high - 1) > FSL_REPEATS_MISSED * n_range;
	return is_over ? record->last->last_step + 1 : -1;
}

static void add_facts(struct fsl_culprit *culprit, const struct record *record)
{
	double n_high = (double)record->n_high;
	fsl_culprit_add_fact(culprit, "own", record->own_ms / n_high, "ms");
	fsl_culprit_add_fact(culprit, "peers", record->peers_ms / n_high, "ms");
	fsl_culprit_add_known(culprit, FSL_FACT_OWN_RATIO, record->own_ms / record->peers_ms);
	fsl_culprit_add_fact(culprit, "high_steps", n_high, "count");
	fsl_culprit_add_fact(culprit, "waited_for", (double)record->n_waited / n_high, "share");
}

static enum fsl_status name(struct fsl_localisation *out, const struct pool *pool,
			    const struct record *record, const struct range *range,
			    struct fsl_error *err)
{
	const struct fsl_rank *rank = fsl_run_rank(pool->facts->run, record->first->rank);
	struct fsl_culprit culprit = fsl_culprit_of(record->first->rank);
	size_t n_steps = pool->n_steps[range->end] - pool->n_steps[range->begin];
	culprit.cause = cause_of(record);
	if (rank == NULL || (pool->facts->config->causes & (UINT32_C(1) << culprit.cause)) == 0) {
		return FSL_OK;
	}
	culprit.server_ip = rank->server_ip;
	culprit.lost_ms_per_step = record->lost_ms / (double)n_steps;
	culprit.onset_step = record->first->first_step;
	culprit.onset_ns = record->first->first_ns;
	culprit.until_step = until_step(pool, record, range);
	culprit.confidence =
		FSL_CONFIDENCE_REPEATED * (double)record->n_waited / (double)record->n_high;
	culprit.reason = fsl_arena_printf(
		&out->arena,
		"own work takes %.1f ms against %.1f ms of its peers in %zu single steps of %zu "
		"chapters%s",
		record->own_ms / (double)record->n_high, record->peers_ms / (double)record->n_high,
		record->n_high, record->n_chapters,
		culprit.cause == FSL_CAUSE_STORAGE ? ", where checkpoints are written" : "");
	add_facts(&culprit, record);
	return FSL_APPEND(out, culprits, &culprit, err);
}

/* *costliest: the chapters over which the costliest of them was found. */
static enum fsl_status name_ranks(struct fsl_localisation *out, const struct pool *pool,
				  struct range *costliest, struct fsl_error *err)
{
	double most_ms = 0.0;
	for (size_t begin = 0, end = 0; begin < pool->n_entries; begin = end) {
		const struct entry *entries = &pool->by_rank[begin];
		while (end < pool->n_entries &&
		       pool->by_rank[end].item->rank == entries->item->rank) {
			end++;
		}
		struct range range = find_range(pool, entries, end - begin);
		struct record record = record_of(entries, end - begin, &range);
		if (record.first == NULL || !is_culprit(pool, &record, &range)) {
			continue;
		}
		size_t n_before = out->n_culprits;
		FSL_TRY(name(out, pool, &record, &range, err));
		if (out->n_culprits > n_before &&
		    out->culprits[n_before].lost_ms_per_step > most_ms) {
			most_ms = out->culprits[n_before].lost_ms_per_step;
			*costliest = range;
		}
	}
	return FSL_OK;
}

/* Loss of the job per step over a range, and its steps without it. */
static void set_loss(struct fsl_localisation *out, const struct pool *pool,
		     const struct range *range, double lost_ms)
{
	size_t n_steps = pool->n_steps[range->end] - pool->n_steps[range->begin];
	out->step_ms =
		(pool->steps_ms[range->end] - pool->steps_ms[range->begin]) / (double)n_steps;
	out->lost_ms_per_step = fmin(lost_ms, FSL_LOST_SHARE_MAX * out->step_ms);
	out->slowdown = out->step_ms / (out->step_ms - out->lost_ms_per_step);
	out->is_loss_replayed = false;
}

/* A rank that is named is no suspect any longer. */
static void drop_suspects(struct fsl_localisation *out)
{
	size_t n = 0;
	for (size_t i = 0; i < out->n_unconfirmed; i++) {
		bool is_named = false;
		for (size_t k = 0; k < out->n_culprits && !is_named; k++) {
			is_named = out->culprits[k].rank == out->unconfirmed[i].rank;
		}
		if (!is_named) {
			out->unconfirmed[n++] = out->unconfirmed[i];
		}
	}
	out->n_unconfirmed = n;
}

static enum fsl_status conclude_ranks(struct fsl_localisation *out, const struct pool *pool,
				      const struct range *range, struct fsl_error *err)
{
	fsl_fuse_sort_culprits(out);
	double lost_ms = out->culprits[0].lost_ms_per_step;
	for (size_t i = 0; i < out->n_culprits; i++) {
		out->culprits[i].share_of_loss = out->culprits[i].lost_ms_per_step / lost_ms;
	}
	set_loss(out, pool, range, lost_ms);
	drop_suspects(out);
	fsl_fuse_conclude_named(out, pool->facts);
	out->n_abnormal = out->n_normal = 0;
	return fsl_fuse_details(out, pool->facts, err);
}

/* The chapters over which single steps of all ranks cost most above what counts. */
static struct range find_pauses(const struct pool *pool)
{
	struct range best = {0, 0};
	double sum_ms = 0.0, most_ms = 0.0;
	size_t first = 0;
	for (size_t c = 0; c < pool->n_chapters; c++) {
		if (sum_ms <= 0.0) {
			sum_ms = 0.0;
			first = c;
		}
		sum_ms += pool->chapters[c]->pauses_ms;
		sum_ms -= pool->counts_ms[c + 1] - pool->counts_ms[c];
		if (sum_ms > most_ms) {
			most_ms = sum_ms;
			best = (struct range){first, c + 1};
		}
	}
	return best;
}

/* How many ranks pause in a range; 0 if one of them does most of it. */
static size_t count_pausing(const struct pool *pool, const struct range *range)
{
	size_t n_ranks = 0, n_high = 0, n_most = 0;
	double lost_ms = 0.0, most_ms = 0.0;
	for (size_t begin = 0, end = 0; begin < pool->n_entries; begin = end) {
		const struct entry *entries = &pool->by_rank[begin];
		while (end < pool->n_entries &&
		       pool->by_rank[end].item->rank == entries->item->rank) {
			end++;
		}
		struct record record = record_of(entries, end - begin, range);
		n_ranks += record.n_high > 0;
		n_high += record.n_high;
		lost_ms += record.lost_ms;
		n_most = record.n_high > n_most ? record.n_high : n_most;
		most_ms = fmax(most_ms, record.lost_ms);
	}
	bool is_one = (double)n_most > FSL_ONE_RANK_SHARE_MAX * (double)n_high ||
		      most_ms > FSL_ONE_RANK_COST_MAX * lost_ms;
	return is_one ? 0 : n_ranks;
}

static void tell_pauses(struct fsl_localisation *out, const struct pool *pool, bool *is_found)
{
	struct range range = find_pauses(pool);
	size_t n_steps = pool->n_steps[range.end] - pool->n_steps[range.begin];
	size_t n_pauses = pool->n_pauses[range.end] - pool->n_pauses[range.begin];
	size_t n_ranks = count_pausing(pool, &range);
	double n_least = FSL_PAUSES_STEPS_SHARE_MIN * (double)pool->n_steps[pool->n_chapters];
	if (n_ranks < 2 || n_pauses < FSL_REPEATED_STEPS_MIN || (double)n_steps < n_least) {
		return;
	}
	double sum_ms = pool->pauses_ms[range.end] - pool->pauses_ms[range.begin];
	double lost_ms = sum_ms / (double)n_steps;
	*is_found = true;
	set_loss(out, pool, &range, lost_ms);
	out->kind = FSL_VERDICT_HOST_PAUSES;
	out->confidence = FSL_CONFIDENCE_IMBALANCE;
	out->reason = fsl_arena_printf(
		&out->arena,
		"%zu ranks pause in turn: %.1f %% of the steps of %zu chapters have one rank that "
		"takes %.0f ms longer on average, which costs %.1f ms per step",
		n_ranks, 100.0 * (double)n_pauses / (double)n_steps, range.end - range.begin,
		sum_ms / (double)n_pauses, lost_ms);
}

enum fsl_status fsl_singles_tell(struct fsl_localisation *out, const struct fsl_case *facts,
				 const struct fsl_singles *const *chapters, size_t n_chapters,
				 bool *is_found, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct range costliest = {0, 0};
	struct pool pool = {.facts = facts, .chapters = chapters, .n_chapters = n_chapters};
	bool has_pauses = out->kind == FSL_VERDICT_HOST_PAUSES;
	enum fsl_status status = pool_init(&pool, &scratch, err);
	*is_found = false;
	if (status == FSL_OK) {
		status = name_ranks(out, &pool, &costliest, err);
	}
	if (status == FSL_OK && out->n_culprits > 0) {
		*is_found = true;
		status = conclude_ranks(out, &pool, &costliest, err);
	} else if (status == FSL_OK && !has_pauses) {
		tell_pauses(out, &pool, is_found);
	}
	fsl_arena_fini(&scratch);
	return status;
}
