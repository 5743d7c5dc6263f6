/* Single long steps of one chapter: found, and kept as bytes. */
#include "blame/singles.h"

#include <math.h>

#include "blame/cause.h"

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
static enum fsl_status find_cause(struct fsl_rank_singles *out, const struct look *look, size_t r,
				  const struct fsl_episode *episode, double least_ms,
				  struct fsl_error *err)
{
	static const double BELOW = 0.999; /* so that the least is above, too */
	struct fsl_cause_clues clues;
	struct fsl_charge charge = look->facts->blame->charges[r];
	charge.pattern = FSL_PATTERN_REPEATED;
	charge.episode = *episode;
	charge.threshold_ms = BELOW * least_ms;
	charge.own_ms = out->own_ms / (double)episode->n_high;
	charge.peers_ms = out->peers_ms / (double)episode->n_high;
	enum fsl_status status = fsl_cause_find(&clues, look->facts, r, &charge, err);
	out->cause = status == FSL_OK ? clues.cause : FSL_CAUSES_N;
	return status;
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

static enum fsl_status look_at_rank(struct fsl_rank_singles *out, const struct look *look, size_t r,
				    struct fsl_error *err)
{
	double least_ms = INFINITY, n_steps = (double)(look->end - look->begin);
	double counts_ms = fsl_least_loss_ms(look->facts->config, look->facts->blame->step_ms);
	struct fsl_episode all = add_steps(out, look, r, &least_ms);
	bool is_asked =
		all.n_high > 0 && out->lost_ms >= FSL_NOTED_LOSS_SHARE * counts_ms * n_steps;
	return is_asked ? find_cause(out, look, r, &all, least_ms, err) : FSL_OK;
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

/* Ranks of each stage that may have single steps, by stage; NULL: out of memory. Free with
 * fsl_free. */
static uint32_t *count_stages(const struct fsl_blame *blame)
{
	int32_t last = 0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		last = blame->peers.stage_of[r] > last ? blame->peers.stage_of[r] : last;
	}
	uint32_t *n_of = fsl_calloc((size_t)last + 1, sizeof(*n_of));
	for (size_t r = 0; r < blame->n_ranks && n_of != NULL; r++) {
		n_of[blame->peers.stage_of[r]] += has_singles(blame, r);
	}
	return n_of;
}

static enum fsl_status look_at_ranks(struct fsl_singles *out, const struct look *look,
				     struct fsl_error *err)
{
	const struct fsl_blame *blame = look->facts->blame;
	uint32_t *n_of = count_stages(blame);
	enum fsl_status status =
		n_of != NULL ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: stages");
	for (size_t r = 0; r < blame->n_ranks && status == FSL_OK; r++) {
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
		status = look_at_rank(&item, look, r, err);
		if (status != FSL_OK || item.first_ns == FSL_NS_ABSENT) {
			continue;
		}
		status = FSL_GROW(out->items, out->capacity, out->n_items + 1, err);
		if (status == FSL_OK) {
			out->items[out->n_items++] = item;
		}
	}
	fsl_free(n_of);
	return status;
}

enum fsl_status fsl_singles_find(struct fsl_singles *out, const struct fsl_case *facts,
				 size_t begin, size_t end, struct fsl_error *err)
{
	struct look look = {.facts = facts, .begin = begin, .end = end};
	*out = (struct fsl_singles){.n_steps = 0};
	if (begin >= end || !is_seen(facts)) {
		return FSL_OK;
	}
	look.pauses_ms = fsl_calloc(end - begin, sizeof(*look.pauses_ms));
	if (look.pauses_ms == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", end - begin);
	}
	enum fsl_status status = look_at_ranks(out, &look, err);
	out->n_steps = end - begin;
	for (size_t s = begin; s < end; s++) {
		double pause_ms = look.pauses_ms[s - begin];
		out->steps_ms += facts->blame->step_dur_ms[s];
		out->n_pauses += pause_ms > 0.0;
		out->pauses_ms += pause_ms;
	}
	fsl_free(look.pauses_ms);
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
