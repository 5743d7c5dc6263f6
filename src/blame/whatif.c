/* Gains: hosts, stages, replicas, parts of own time and transfer at their level. */
#include "blame/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "blame/link.h"

/* Weights of the replayed steps if only some of a charge's steps were replayed. */

/* Steps of one kind: all, and those replayed. */
struct kind {
	size_t n_all, n_replayed;
};

static bool is_single(const struct fsl_blame *blame, size_t rank_idx, size_t step)
{
	const struct fsl_charge *charge = &blame->charges[rank_idx];
	return charge->pattern == FSL_PATTERN_REPEATED &&
	       fsl_blame_excess_ms(blame, rank_idx, step) > charge->threshold_ms;
}

bool fsl_weigh_steps(double *weights, const struct fsl_replay *replay,
		     const struct fsl_blame *blame, size_t rank_idx, size_t begin, size_t end)
{
	struct kind kinds[2] = {{0}, {0}};
	for (size_t s = begin; s < end; s++) {
		kinds[rank_idx != SIZE_MAX && is_single(blame, rank_idx, s)].n_all++;
	}
	for (size_t i = 0; i < replay->n_steps; i++) {
		size_t s = replay->step_idx[i];
		if (s >= begin && s < end) {
			kinds[rank_idx != SIZE_MAX && is_single(blame, rank_idx, s)].n_replayed++;
		}
	}
	for (size_t i = 0; i < replay->n_steps; i++) {
		size_t s = replay->step_idx[i];
		const struct kind *kind =
			&kinds[rank_idx != SIZE_MAX && is_single(blame, rank_idx, s)];
		bool is_inside = s >= begin && s < end;
		FSL_ASSERT(!is_inside || kind->n_replayed > 0);
		weights[i] = is_inside ? (double)kind->n_all / (double)kind->n_replayed : 0.0;
	}
	for (size_t k = 0; k < 2; k++) {
		if (kinds[k].n_replayed < FSL_WEIGHED_STEPS_MIN &&
		    kinds[k].n_replayed < kinds[k].n_all) {
			return false;
		}
	}
	return kinds[0].n_replayed + kinds[1].n_replayed >= FSL_WEIGHED_STEPS_MIN;
}

double fsl_repairs_mean(const struct fsl_replay *replay, const double *step_ms,
			const double *weights)
{
	double sum_ms = 0.0, weight = 0.0;
	for (size_t i = 0; i < replay->n_steps; i++) {
		double w = weights != NULL ? weights[i] : 1.0;
		sum_ms += w * step_ms[i];
		weight += w;
	}
	return weight > 0.0 ? sum_ms / weight : NAN;
}

struct fsl_repair_flags fsl_repairs_add(struct fsl_repairs *repairs)
{
	const struct fsl_replay *replay = repairs->replay;
	struct fsl_repair_flags flags = {
		fsl_arena_alloc(repairs->arena, replay->n_ranks * sizeof(bool)),
		fsl_arena_alloc(repairs->arena, replay->n_channels * sizeof(bool)),
		repairs->n_items};
	bool has_room =
		FSL_GROW(repairs->items, repairs->capacity, repairs->n_items + 1, NULL) == FSL_OK;
	if (flags.ranks == NULL || flags.channels == NULL || !has_room) {
		repairs->has_failed = true;
		return (struct fsl_repair_flags){0};
	}
	repairs->items[repairs->n_items++] =
		(struct fsl_repair){flags.ranks, flags.channels, FSL_REPLAY_PARTS_ALL, false};
	return flags;
}

void fsl_repairs_skip_unseen(struct fsl_repairs *repairs, const struct fsl_repair_flags *flags,
			     const struct fsl_verification *verification)
{
	if (verification->replay.n_channels > 0) {
		memcpy(flags->channels, verification->is_wait,
		       verification->replay.n_channels * sizeof(bool));
	}
	repairs->items[flags->idx].skips_unseen = true;
}

void fsl_repair_flag_link(struct fsl_repair_flags flags,
			  const struct fsl_verification *verification,
			  const struct fsl_match *match, size_t link_idx)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		if (fsl_link_has_channel(&verification->links[link_idx], match, c)) {
			flags.channels[c] = true;
		}
	}
}

enum fsl_status fsl_repairs_run(struct fsl_repairs *repairs, struct fsl_error *err)
{
	size_t n = 0;
	if (!repairs->has_failed && fsl_mul_size(repairs->n_items, repairs->replay->n_steps, &n)) {
		repairs->step_ms = fsl_calloc(n, sizeof(*repairs->step_ms));
	}
	if (repairs->step_ms == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: repairs=%zu",
				repairs->n_items);
	}
	return fsl_replay_run(repairs->replay, repairs->items, repairs->n_items, repairs->step_ms,
			      err);
}

static bool is_alike(const bool *a, const bool *b, size_t n)
{
	return n == 0 || memcmp(a, b, n * sizeof(*a)) == 0;
}

const double *fsl_repairs_find(const struct fsl_repairs *repairs, const struct fsl_repair *repair)
{
	const struct fsl_replay *replay = repairs->replay;
	for (size_t k = 0; k < repairs->n_items && repairs->step_ms != NULL; k++) {
		const struct fsl_repair *item = &repairs->items[k];
		if (item->parts == repair->parts && item->skips_unseen == repair->skips_unseen &&
		    is_alike(item->ranks, repair->ranks, replay->n_ranks) &&
		    is_alike(item->channels, repair->channels, replay->n_channels)) {
			return repairs->step_ms + k * replay->n_steps;
		}
	}
	return NULL;
}

void fsl_repairs_fini(struct fsl_repairs *repairs)
{
	fsl_free(repairs->items);
	fsl_free(repairs->step_ms);
	*repairs = (struct fsl_repairs){0};
}

/* One what-if while its repairs are run. */
struct asked {
	struct fsl_whatif whatif;
	size_t only_idx, without_idx; /* without_idx SIZE_MAX: the job as it was */
};

/* Ranks that share something. */
struct share {
	uint32_t id;
	double excess_ms;
	uint32_t first_rank;
};

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	FSL_ORDER_BY(y->excess_ms, x->excess_ms);
	return FSL_ORDER(x->id, y->id);
}

/* The search for what would come back. */
struct fsl_whatifs {
	struct fsl_verification *out;
	const struct fsl_case *facts;
	struct fsl_repairs *repairs;
	struct asked asked[3 * FSL_WHATIF_LISTED_MAX + FSL_REPLAY_PARTS_N + 2];
	size_t n_asked;
	double *excess_ms;    /* per rank: mean over the replayed steps */
	uint32_t *id;         /* per rank: what it shares */
	struct share *shares; /* per id */
	size_t ideal_idx, worst_idx, last_stage_idx;
};

static struct asked *ask(struct fsl_whatifs *q, enum fsl_whatif_kind kind, const char *name,
			 struct fsl_repair_flags *only, struct fsl_repair_flags *without)
{
	*only = fsl_repairs_add(q->repairs);
	*without = fsl_repairs_add(q->repairs);
	q->repairs->has_failed |= name == NULL;
	if (q->repairs->has_failed) {
		return NULL;
	}
	FSL_REQUIRE(q->n_asked < sizeof(q->asked) / sizeof(q->asked[0]));
	struct asked *asked = &q->asked[q->n_asked++];
	*asked = (struct asked){{kind, name, NAN, NAN}, only->idx, without->idx};
	return asked;
}

static void ask_share(struct fsl_whatifs *q, enum fsl_whatif_kind kind, const char *name,
		      uint32_t id)
{
	struct fsl_repair_flags only, without;
	if (ask(q, kind, name, &only, &without) == NULL) {
		return;
	}
	memset(without.channels, true, q->out->replay.n_channels * sizeof(bool));
	for (size_t r = 0; r < q->out->replay.n_ranks; r++) {
		only.ranks[r] = q->id[r] == id;
		without.ranks[r] = q->id[r] != id;
	}
}

static const char *name_of(struct fsl_whatifs *q, enum fsl_whatif_kind kind,
			   const struct share *share)
{
	return kind == FSL_WHATIF_HOST ? q->facts->run->ranks[share->first_rank].server_ip
				       : fsl_arena_printf(&q->out->arena, "%" PRIu32, share->id);
}

/* Asks for those of @n_ids that have the largest excess; nothing to tell with only one. */
static void ask_shares(struct fsl_whatifs *q, enum fsl_whatif_kind kind, size_t n_ids)
{
	for (size_t k = 0; k < n_ids; k++) {
		q->shares[k] = (struct share){(uint32_t)k, 0.0, UINT32_MAX};
	}
	for (size_t r = 0; r < q->out->replay.n_ranks; r++) {
		FSL_ASSERT(q->id[r] < n_ids);
		struct share *share = &q->shares[q->id[r]];
		share->excess_ms += q->excess_ms[r];
		share->first_rank = share->first_rank < r ? share->first_rank : (uint32_t)r;
	}
	qsort(q->shares, n_ids, sizeof(*q->shares), compare_shares);
	for (size_t k = 0; k < n_ids && k < FSL_WHATIF_LISTED_MAX && n_ids > 1; k++) {
		ask_share(q, kind, name_of(q, kind, &q->shares[k]), q->shares[k].id);
	}
}

/* A server of the run, to number them. */
struct tenant {
	const char *server_ip;
	uint32_t rank_idx;
};

static int compare_tenants(const void *a, const void *b)
{
	const struct tenant *x = a, *y = b;
	int order = strcmp(x->server_ip, y->server_ip);
	return order != 0 ? order : (x->rank_idx > y->rank_idx) - (x->rank_idx < y->rank_idx);
}

static void ask_hosts(struct fsl_whatifs *q)
{
	size_t n = q->out->replay.n_ranks, n_hosts = 0;
	struct tenant *tenants = fsl_arena_alloc(q->repairs->arena, n * sizeof(*tenants));
	if (tenants == NULL) {
		q->repairs->has_failed = true;
		return;
	}
	for (size_t r = 0; r < n; r++) {
		tenants[r] = (struct tenant){q->facts->run->ranks[r].server_ip, (uint32_t)r};
	}
	qsort(tenants, n, sizeof(*tenants), compare_tenants);
	for (size_t k = 0; k < n; k++) {
		bool is_new = k == 0 || strcmp(tenants[k].server_ip, tenants[k - 1].server_ip) != 0;
		n_hosts += is_new;
		q->id[tenants[k].rank_idx] = (uint32_t)(n_hosts - 1);
	}
	ask_shares(q, FSL_WHATIF_HOST, n_hosts);
}

static int32_t last_stage(const struct fsl_whatifs *q)
{
	const int32_t *stage_of = q->facts->blame->peers.stage_of;
	int32_t last = 0;
	for (size_t r = 0; r < q->out->replay.n_ranks; r++) {
		last = stage_of[r] > last ? stage_of[r] : last;
	}
	return last;
}

static void ask_stages(struct fsl_whatifs *q)
{
	const int32_t *stage_of = q->facts->blame->peers.stage_of;
	for (size_t r = 0; r < q->out->replay.n_ranks; r++) {
		q->id[r] = (uint32_t)stage_of[r];
	}
	ask_shares(q, FSL_WHATIF_STAGE, (size_t)last_stage(q) + 1);
}

/* A replica is what tensor, context and pipeline groups join. */
static void ask_replicas(struct fsl_whatifs *q)
{
	const struct fsl_topology *topology = q->facts->topology;
	size_t n = q->out->replay.n_ranks, n_replicas = 0;
	uint32_t *parent = fsl_arena_alloc(q->repairs->arena, n * sizeof(*parent));
	if (parent == NULL) {
		q->repairs->has_failed = true;
		return;
	}
	for (size_t r = 0; r < n; r++) {
		parent[r] = (uint32_t)r;
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		bool is_inside = group->kind == FSL_GROUP_TP || group->kind == FSL_GROUP_CP ||
				 group->kind == FSL_GROUP_PP;
		size_t first = SIZE_MAX;
		for (size_t m = 0; m < group->n_ranks && is_inside; m++) {
			size_t r = fsl_run_rank_idx(q->facts->run, group->ranks[m]);
			first = first == SIZE_MAX ? r : first;
			if (r != SIZE_MAX && first != SIZE_MAX) {
				uint32_t a = fsl_forest_root(parent, (uint32_t)first);
				uint32_t b = fsl_forest_root(parent, (uint32_t)r);
				parent[a > b ? a : b] = a > b ? b : a;
			}
		}
	}
	for (size_t r = 0; r < n; r++) {
		uint32_t root = fsl_forest_root(parent, (uint32_t)r);
		q->id[r] = root == r ? (uint32_t)n_replicas++ : q->id[root];
	}
	/* If nothing joins ranks, a replica is a rank, and ranks are judged elsewhere. */
	if (n_replicas < n) {
		ask_shares(q, FSL_WHATIF_REPLICA, n_replicas);
	}
}

static void ask_parts(struct fsl_whatifs *q)
{
	static const char *const names[FSL_REPLAY_PARTS_N] = {
		[FSL_OWN_HEAD] = "step_head",      [FSL_OWN_BODY] = "step_body",
		[FSL_OWN_COMPUTE] = "compute",     [FSL_OWN_DATALOADER] = "dataloader",
		[FSL_OWN_CKPT] = "checkpoint",     [FSL_OWN_GC] = "gc",
		[FSL_REPLAY_IDLE] = "unexplained",
	};
	bool has_stages = q->facts->own->has_stages;
	struct fsl_repair_flags only, without;
	for (uint32_t p = 0; p < FSL_REPLAY_PARTS_N; p++) {
		bool is_gap = p == FSL_OWN_HEAD || p == FSL_OWN_BODY;
		bool is_used =
			p == FSL_REPLAY_IDLE ? q->facts->blame->counts_idle : is_gap != has_stages;
		if (is_used && ask(q, FSL_WHATIF_WORK, names[p], &only, &without) != NULL) {
			memset(only.ranks, true, q->out->replay.n_ranks * sizeof(bool));
			memset(without.ranks, true, q->out->replay.n_ranks * sizeof(bool));
			memset(without.channels, true, q->out->replay.n_channels * sizeof(bool));
			q->repairs->items[only.idx].parts = UINT32_C(1) << p;
			q->repairs->items[without.idx].parts =
				FSL_REPLAY_PARTS_ALL & ~(UINT32_C(1) << p);
		}
	}
	if (ask(q, FSL_WHATIF_TRANSFER, "transfer", &only, &without) != NULL) {
		memset(only.channels, true, q->out->replay.n_channels * sizeof(bool));
		memset(without.ranks, true, q->out->replay.n_ranks * sizeof(bool));
	}
}

static void ask_last_stage(struct fsl_whatifs *q)
{
	const int32_t *stage_of = q->facts->blame->peers.stage_of;
	int32_t last = last_stage(q);
	struct fsl_repair_flags flags = fsl_repairs_add(q->repairs);
	q->last_stage_idx = flags.idx;
	for (size_t r = 0; r < q->out->replay.n_ranks && flags.ranks != NULL; r++) {
		flags.ranks[r] = last > 0 && stage_of[r] == last;
	}
}

/* Everything at its level; and the worst ranks alone. */
static void ask_whole(struct fsl_whatifs *q)
{
	size_t n = q->out->replay.n_ranks;
	size_t n_worst = (size_t)ceil(FSL_WORST_RANKS_SHARE * (double)n);
	struct fsl_repair_flags ideal = fsl_repairs_add(q->repairs);
	struct fsl_repair_flags worst = fsl_repairs_add(q->repairs);
	if (q->repairs->has_failed) {
		return;
	}
	q->ideal_idx = ideal.idx;
	q->worst_idx = worst.idx;
	memset(ideal.ranks, true, n * sizeof(bool));
	memset(ideal.channels, true, q->out->replay.n_channels * sizeof(bool));
	for (size_t r = 0; r < n; r++) {
		q->shares[r] = (struct share){(uint32_t)r, q->excess_ms[r], 0};
	}
	qsort(q->shares, n, sizeof(*q->shares), compare_shares);
	for (size_t k = 0; k < n_worst; k++) {
		worst.ranks[q->shares[k].id] = true;
	}
}

static void set_excess(struct fsl_whatifs *q)
{
	const struct fsl_replay *replay = &q->out->replay;
	for (size_t r = 0; r < replay->n_ranks; r++) {
		for (size_t i = 0; i < replay->n_steps; i++) {
			double ms = fsl_blame_excess_ms(q->facts->blame, r, replay->step_idx[i]);
			q->excess_ms[r] += isnan(ms) ? 0.0 : ms / (double)replay->n_steps;
		}
	}
}

double fsl_share_of_loss(double was_ms, double repaired_ms, double ideal_ms)
{
	return was_ms - ideal_ms > FSL_SHARED_LOSS_MIN * was_ms
		       ? (was_ms - repaired_ms) / (was_ms - ideal_ms)
		       : NAN;
}

void fsl_whatifs_weigh(const struct fsl_whatifs *q, struct fsl_replay_summary *summary,
		       const double *weights)
{
	const struct fsl_replay *replay = &q->out->replay;
	const double *step_ms = q->repairs->step_ms;
	double was_ms = fsl_repairs_mean(replay, q->out->replayed_ms, weights);
	double ideal_ms = fsl_repairs_mean(replay, q->out->ideal_ms, weights);
	for (size_t k = 0; k < summary->n_whatifs; k++) {
		const struct asked *asked = &q->asked[k];
		const double *only = step_ms + asked->only_idx * replay->n_steps;
		const double *without = asked->without_idx != SIZE_MAX
						? step_ms + asked->without_idx * replay->n_steps
						: q->out->replayed_ms;
		summary->whatifs[k].gain_ms = was_ms - fsl_repairs_mean(replay, only, weights);
		summary->whatifs[k].cost_ms = fsl_repairs_mean(replay, without, weights) - ideal_ms;
	}
}

enum fsl_status fsl_whatifs_answer(const struct fsl_whatifs *q, struct fsl_error *err)
{
	struct fsl_verification *out = q->out;
	const struct fsl_replay *replay = &out->replay;
	const double *step_ms = q->repairs->step_ms;
	double was_ms = fsl_repairs_mean(replay, out->replayed_ms, NULL);
	double ideal_ms = fsl_repairs_mean(replay, step_ms + q->ideal_idx * replay->n_steps, NULL);
	double worst_ms = fsl_repairs_mean(replay, step_ms + q->worst_idx * replay->n_steps, NULL);
	double last_ms =
		fsl_repairs_mean(replay, step_ms + q->last_stage_idx * replay->n_steps, NULL);
	struct fsl_replay_summary *summary = &out->summary;
	summary->slowdown_all = ideal_ms > 0.0 ? was_ms / ideal_ms : NAN;
	summary->worst_ranks_share = fsl_share_of_loss(was_ms, worst_ms, ideal_ms);
	summary->last_stage_share = fsl_share_of_loss(was_ms, last_ms, ideal_ms);
	FSL_TRY(FSL_ARENA_NEW(summary->whatifs, &out->arena, q->n_asked, "whatifs", err));
	FSL_TRY(FSL_ARENA_NEW(out->ideal_ms, &out->arena, replay->n_steps, "ideal_ms", err));
	memcpy(out->ideal_ms, step_ms + q->ideal_idx * replay->n_steps,
	       replay->n_steps * sizeof(*out->ideal_ms));
	for (size_t k = 0; k < q->n_asked; k++) {
		summary->whatifs[k] = q->asked[k].whatif;
	}
	summary->n_whatifs = q->n_asked;
	fsl_whatifs_weigh(q, summary, NULL);
	return FSL_OK;
}

enum fsl_status fsl_whatifs_ask(struct fsl_whatifs **out, struct fsl_repairs *repairs,
				struct fsl_verification *verification, const struct fsl_case *facts,
				struct fsl_error *err)
{
	size_t n = verification->replay.n_ranks;
	struct fsl_whatifs *q = NULL;
	FSL_TRY(FSL_ARENA_NEW(q, repairs->arena, 1, "q", err));
	q->out = verification;
	q->facts = facts;
	q->repairs = repairs;
	FSL_TRY(FSL_ARENA_NEW(q->excess_ms, repairs->arena, n, "excess_ms", err));
	FSL_TRY(FSL_ARENA_NEW(q->id, repairs->arena, n, "id", err));
	FSL_TRY(FSL_ARENA_NEW(q->shares, repairs->arena, n + 1, "shares", err));
	set_excess(q);
	ask_whole(q);
	ask_last_stage(q);
	if (!facts->is_brief) {
		ask_hosts(q);
		ask_stages(q);
		ask_replicas(q);
		ask_parts(q);
		FSL_REQUIRE(q->n_asked < sizeof(q->asked) / sizeof(q->asked[0]));
		q->asked[q->n_asked++] =
			(struct asked){{FSL_WHATIF_ALL, "all", NAN, NAN}, q->ideal_idx, SIZE_MAX};
	}
	*out = q;
	return FSL_OK;
}
