/* Finds the ranks that do the same work, and their common steps. */
#include "arcs/classes.h"

#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "match/channel.h"
#include "match/group_sizes.h"

/* Everything that classes are made from. */
struct search {
	struct fsl_classes *out;
	const struct fsl_run *run;
	const struct fsl_topology *topology;
	const int64_t *clock_ns;
	bool by_size;
	size_t n_names;
	uint64_t *group_tokens; /* [n_names]: what is alike in groups of other ranks */
	uint64_t *kinds;        /* [n_ranks]: of the operators of every step */
	size_t *n_kinds;        /* [n_ranks]: of all operators */
	uint64_t *anchors;      /* [n_ranks]: token; 0: none */
	struct fsl_arena scratch;
};

/* Spreads a number over all bits, so that different ones hardly meet (Stafford's mix 13). */
static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

static inline uint64_t token_of(const struct search *search, const struct fsl_op *op)
{
	uint64_t group = op->group_id < search->n_names ? search->group_tokens[op->group_id] : 0;
	uint64_t size = search->by_size ? op->n_elements * UINT64_C(0x9e3779b97f4a7c15) : 0;
	return mix((op->op_id + UINT64_C(1)) * UINT64_C(0xff51afd7ed558ccd) + group + size);
}

static int compare_launches(const void *a, const void *b)
{
	const int64_t *x = a, *y = b; /* time, operator */
	return x[0] != y[0] ? FSL_ORDER(x[0], y[0]) : FSL_ORDER(x[1], y[1]);
}

/* An operator that was put back, unless it was sent: of rings too many are. */
static bool is_made_up(const struct fsl_run *run, const struct fsl_op *op)
{
	return op->id == FSL_OP_ID_RESTORED &&
	       fsl_p2p_kind_from_name(fsl_strpool_text(run->names, op->op_id)) < FSL_P2P_KINDS_N;
}

/*
 * Orders the operators of a rank as they were launched: on several streams they begin in another
 * order in every step. One without a host time comes after the one that begins before it. False:
 * out of memory.
 */
static bool order_launches(struct fsl_launches *out, struct fsl_arena *arena,
			   const struct fsl_run *run, const struct fsl_rank *rank)
{
	int64_t last_ns = INT64_MIN;
	int64_t(*keys)[2] = fsl_calloc(rank->n_ops, sizeof(*keys));
	out->order = fsl_arena_take(arena, rank->n_ops * sizeof(*out->order));
	if (keys == NULL || out->order == NULL) {
		fsl_free(keys);
		return false;
	}
	out->n_places = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		int64_t host_ns = rank->ops[i].host_begin_ns;
		last_ns = host_ns != FSL_NS_ABSENT ? host_ns : last_ns;
		if (!is_made_up(run, &rank->ops[i])) {
			keys[out->n_places][0] = last_ns;
			keys[out->n_places++][1] = (int64_t)i;
		}
	}
	qsort(keys, out->n_places, sizeof(*keys), compare_launches);
	for (size_t i = 0; i < out->n_places; i++) {
		out->order[i] = (uint32_t)keys[i][1];
	}
	fsl_free(keys);
	return true;
}

static const struct fsl_op *op_at(const struct fsl_rank *rank, const struct fsl_launches *launches,
				  size_t place)
{
	FSL_ASSERT(place < launches->n_places);
	return &rank->ops[launches->order != NULL ? launches->order[place] : place];
}

static int64_t end_of(const struct fsl_op *op)
{
	int64_t end_ns = fsl_op_end_ns(op);
	return end_ns != FSL_NS_ABSENT ? end_ns : fsl_op_begin_ns(op);
}

/* Order and tokens of a rank's operators. False: out of memory. */
static bool read_rank(struct search *search, struct fsl_arena *arena, size_t r)
{
	const struct fsl_rank *rank = &search->run->ranks[r];
	struct fsl_launches *launches = &search->out->launches[r];
	int64_t last_ns = INT64_MIN;
	bool is_in_order = true;
	launches->n_places = rank->n_ops;
	launches->tokens = fsl_arena_take(arena, (rank->n_ops + 1) * sizeof(*launches->tokens));
	for (size_t i = 0; i < rank->n_ops && launches->tokens != NULL; i++) {
		const struct fsl_op *op = &rank->ops[i];
		int64_t host_ns = op->host_begin_ns != FSL_NS_ABSENT ? op->host_begin_ns : last_ns;
		fsl_op_fetch_ahead(op);
		launches->tokens[i] = token_of(search, op);
		is_in_order &= host_ns >= last_ns && !is_made_up(search->run, op);
		last_ns = host_ns;
	}
	if (is_in_order || launches->tokens == NULL) {
		return launches->tokens != NULL;
	}
	bool is_made = order_launches(launches, arena, search->run, rank);
	for (size_t i = 0; i < launches->n_places && is_made; i++) {
		launches->tokens[i] = token_of(search, op_at(rank, launches, i));
	}
	return is_made;
}

static bool set_kinds(struct search *search, struct fsl_arena *arena, size_t r)
{
	const struct fsl_launches *launches = &search->out->launches[r];
	return read_rank(search, arena, r) &&
	       fsl_sequence_kinds(&search->kinds[r], &search->n_kinds[r], launches->tokens,
				  launches->n_places < FSL_ARCS_FIRST_OPS ? launches->n_places
									  : FSL_ARCS_FIRST_OPS);
}

static bool set_steps(struct search *search, struct fsl_arena *arena, size_t r)
{
	return search->anchors[r] == 0 ||
	       fsl_sequence_steps(&search->out->launches[r], arena, search->anchors[r]);
}

/* The first operators of a rank, @n_max at most, with the quiet behind each. False: out of memory.
 */
static bool read_quiet(struct fsl_sequence *sequence, struct fsl_arena *arena,
		       const struct search *search, size_t r, size_t n_max)
{
	const struct fsl_rank *rank = &search->run->ranks[r];
	const struct fsl_launches *launches = &search->out->launches[r];
	int64_t last_ns = INT64_MIN;
	sequence->tokens = launches->tokens;
	sequence->n = launches->n_places < n_max ? launches->n_places : n_max;
	sequence->quiet_ns = fsl_arena_alloc(arena, (sequence->n + 1) * sizeof(int64_t));
	for (size_t i = 0; i < sequence->n && sequence->quiet_ns != NULL; i++) {
		const struct fsl_op *op = op_at(rank, launches, i);
		int64_t end_ns = end_of(op);
		if (i > 0) {
			sequence->quiet_ns[i - 1] = fsl_op_begin_ns(op) - last_ns;
		}
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	return sequence->quiet_ns != NULL;
}

/* Calls @visit for all ranks, on threads; arenas of threads go into one list. */
static bool visit_ranks(struct search *search,
			bool (*visit)(struct search *search, struct fsl_arena *arena, size_t r))
{
	bool is_short = false;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : is_short)
	for (size_t r = 0; r < search->run->n_ranks; r++) {
		is_short = !visit(search, &search->out->arenas[r], r) || is_short;
	}
	return !is_short;
}

/* A rank index with what ranks are sorted by. */
struct key {
	uint64_t value;
	uint32_t rank_idx;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	return x->value != y->value ? FSL_ORDER(x->value, y->value)
				    : FSL_ORDER(x->rank_idx, y->rank_idx);
}

/* Adds the quiet behind the anchors of another rank to those that both have. */
static size_t merge_anchors(struct fsl_anchor *anchors, size_t n, const struct fsl_anchor *others,
			    size_t n_others)
{
	size_t n_kept = 0;
	for (size_t i = 0, k = 0; i < n; i++) {
		while (k < n_others && others[k].token < anchors[i].token) {
			k++;
		}
		if (k < n_others && others[k].token == anchors[i].token) {
			anchors[n_kept] = anchors[i];
			anchors[n_kept++].quiet_ms += others[k].quiet_ms;
		}
	}
	return n_kept;
}

/* Chooses the anchor with the longest quiet behind it from the rarest ones; 0: there is none. */
static uint64_t choose_anchor(const struct fsl_anchor *anchors, size_t n)
{
	size_t least = SIZE_MAX, best = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		least = anchors[i].n_uses < least ? anchors[i].n_uses : least;
	}
	for (size_t i = 0; i < n; i++) {
		bool is_rare = (double)anchors[i].n_uses <= FSL_ARCS_RAREST_RATIO * (double)least;
		if (is_rare && (best == SIZE_MAX || anchors[i].quiet_ms > anchors[best].quiet_ms)) {
			best = i;
		}
	}
	return best != SIZE_MAX ? anchors[best].token : 0;
}

/* Anchors that some of the ranks have in common, in their first operators; 0: none. False: out of
 * memory. @anchors: 2 * FSL_ARCS_KINDS_MAX. */
static bool ask_ranks(uint64_t *token, struct fsl_anchor *anchors, const struct search *search,
		      const struct key *keys, size_t n, size_t n_ops)
{
	size_t n_asked = n < FSL_ARCS_ANCHOR_RANKS_MAX ? n : FSL_ARCS_ANCHOR_RANKS_MAX;
	size_t n_anchors = 0, n_others = 0;
	bool is_short = false;
	for (size_t i = 0; i < n_asked && !is_short; i++) {
		struct fsl_arena scratch = {0};
		struct fsl_sequence sequence = {0};
		struct fsl_anchor *others = anchors + FSL_ARCS_KINDS_MAX;
		is_short = !read_quiet(&sequence, &scratch, search, keys[i * n / n_asked].rank_idx,
				       n_ops) ||
			   !fsl_sequence_anchors(i == 0 ? anchors : others,
						 i == 0 ? &n_anchors : &n_others, &sequence);
		fsl_arena_fini(&scratch);
		if (i > 0 && !is_short) {
			n_anchors = merge_anchors(anchors, n_anchors, others, n_others);
		}
	}
	*token = choose_anchor(anchors, n_anchors);
	return !is_short;
}

/* The anchor of ranks that use the same operators. */
static enum fsl_status find_anchor(struct search *search, const struct key *keys, size_t n,
				   struct fsl_error *err)
{
	size_t n_most = 0;
	uint64_t token = 0;
	struct fsl_anchor *anchors = fsl_calloc(2 * FSL_ARCS_KINDS_MAX, sizeof(*anchors));
	bool is_short = anchors == NULL;
	for (size_t i = 0; i < n; i++) {
		size_t n_places = search->out->launches[keys[i].rank_idx].n_places;
		n_most = n_places > n_most ? n_places : n_most;
	}
	for (size_t n_ops = FSL_ARCS_FIRST_OPS, n_asked = 0;
	     n_asked < n_most && token == 0 && !is_short; n_ops *= 8) {
		n_asked = n_ops;
		is_short = !ask_ranks(&token, anchors, search, keys, n, n_ops);
	}
	for (size_t i = 0; i < n; i++) {
		search->anchors[keys[i].rank_idx] = token;
	}
	fsl_free(anchors);
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n) : FSL_OK;
}

/* Sorts the ranks by @values and calls @use for each run of equal ones but 0. */
static enum fsl_status group_ranks(struct search *search, const uint64_t *values,
				   enum fsl_status (*use)(struct search *search,
							  const struct key *keys, size_t n,
							  struct fsl_error *err),
				   struct fsl_error *err)
{
	size_t n = search->run->n_ranks;
	struct key *keys = fsl_calloc(n, sizeof(*keys));
	enum fsl_status status =
		keys != NULL ? FSL_OK
			     : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	for (size_t r = 0; r < n && status == FSL_OK; r++) {
		keys[r] = (struct key){values[r], (uint32_t)r};
	}
	if (status == FSL_OK) {
		qsort(keys, n, sizeof(*keys), compare_keys);
	}
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		while (end < n && keys[end].value == keys[begin].value) {
			end++;
		}
		if (keys[begin].value != 0) {
			status = use(search, keys + begin, end - begin, err);
		}
	}
	fsl_free(keys);
	return status;
}

/* Ends of the anchors before the usual steps of a rank, on the common clock. */
static int64_t anchor_ns(const struct fsl_equals *equals, size_t rank_idx, size_t i)
{
	const struct fsl_launches *launches = &equals->launches[rank_idx];
	const struct fsl_op *op =
		op_at(&equals->run->ranks[rank_idx], launches, launches->anchors[i]);
	return end_of(op) - equals->clock_ns[rank_idx];
}

/* Median distance of @n begins of steps, behind which @n values are scratch. */
static int64_t usual_step_ns(int64_t *begin_ns, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		begin_ns[n + i] = begin_ns[i] - begin_ns[i - 1];
	}
	return n > 1 ? fsl_select_i64(begin_ns + n + 1, n - 1, (n - 1) / 2) : 0;
}

/* Which step of a member is which of the class: their anchors end near to each other. */
static void align_member(struct fsl_equals *equals, size_t member, int64_t near_ns)
{
	size_t rank_idx = equals->ranks[member], s = 0, n_steps = equals->class.n_steps;
	const struct fsl_launches *launches = &equals->launches[rank_idx];
	uint32_t *anchors = equals->anchors + member * n_steps;
	memset(anchors, 0xff, n_steps * sizeof(*anchors));
	for (size_t i = 0; i < launches->n_steps && s < n_steps; i++) {
		int64_t at_ns = anchor_ns(equals, rank_idx, i);
		while (s < n_steps && equals->begin_ns[s] + near_ns < at_ns) {
			s++;
		}
		if (s < n_steps && at_ns >= equals->begin_ns[s] - near_ns) {
			anchors[s++] = launches->anchors[i];
		}
	}
}

/* Leaves out steps that most members lack. */
static void drop_steps(struct fsl_equals *equals, uint8_t *is_seen)
{
	size_t n_kept = 0, n_steps = equals->class.n_steps, n_ranks = equals->class.n_ranks;
	for (size_t s = 0; s < n_steps; s++) {
		size_t n_there = 0;
		for (size_t m = 0; m < n_ranks; m++) {
			n_there += equals->anchors[m * n_steps + s] != UINT32_MAX;
		}
		if (2 * n_there > n_ranks && n_there >= FSL_ARCS_RANKS_MIN) {
			for (size_t m = 0; m < n_ranks; m++) {
				equals->anchors[m * n_steps + n_kept] =
					equals->anchors[m * n_steps + s];
			}
			equals->numbers[n_kept] = equals->numbers[s];
			equals->begin_ns[n_kept++] = equals->begin_ns[s];
		}
	}
	for (size_t m = 0; m < n_ranks; m++) { /* rows close up; each moves down only */
		memmove(equals->anchors + m * n_kept, equals->anchors + m * n_steps,
			n_kept * sizeof(*equals->anchors));
	}
	equals->class.n_steps = n_kept;
	equals->class.numbers = equals->numbers;
	for (size_t i = 0; i < n_ranks * n_kept; i++) {
		is_seen[i] = equals->anchors[i] != UINT32_MAX;
	}
	equals->class.is_seen = is_seen;
}

static void fill(const void *source, size_t member, const uint32_t *steps, size_t n,
		 int64_t *begin_ns, int64_t *end_ns)
{
	const struct fsl_equals *equals = source;
	size_t r = equals->ranks[member];
	const struct fsl_rank *rank = &equals->run->ranks[r];
	int64_t clock_ns = equals->clock_ns[r];
	for (size_t i = 0; i < n; i++) {
		size_t anchor = equals->anchors[member * equals->class.n_steps + steps[i]];
		for (size_t k = 0; k <= equals->class.n_positions; k++) {
			const struct fsl_op *op = op_at(rank, &equals->launches[r], anchor + k);
			begin_ns[k * n + i] = fsl_op_begin_ns(op) - clock_ns;
			end_ns[k * n + i] = end_of(op) - clock_ns;
		}
	}
}

static void fill_launches(const void *source, size_t member, uint32_t step, int64_t *launch_ns)
{
	const struct fsl_equals *equals = source;
	size_t r = equals->ranks[member];
	size_t anchor = equals->anchors[member * equals->class.n_steps + step];
	for (size_t k = 0; k <= equals->class.n_positions; k++) {
		const struct fsl_op *op =
			op_at(&equals->run->ranks[r], &equals->launches[r], anchor + k);
		bool is_known =
			op->host_end_ns != FSL_NS_ABSENT && op->dev_begin_ns != FSL_NS_ABSENT;
		launch_ns[k] = is_known ? op->host_end_ns - equals->clock_ns[r] : FSL_NS_ABSENT;
	}
}

/* Aligns the steps of ranks that do the same work; adds them if they have enough. */
static enum fsl_status add_class(struct search *search, const uint32_t *ranks, size_t n,
				 struct fsl_error *err)
{
	struct fsl_classes *out = search->out;
	struct fsl_equals *equals = &out->items[out->n_items];
	size_t most = 0, n_all = 0;
	for (size_t m = 1; m < n; m++) {
		most = out->launches[ranks[m]].n_steps > out->launches[ranks[most]].n_steps ? m
											    : most;
	}
	const struct fsl_launches *launches = &out->launches[ranks[most]];
	if (n < FSL_ARCS_RANKS_MIN || launches->n_steps < FSL_ARCS_STEPS_MIN) {
		for (size_t m = 0; m < n; m++) {
			out->launches[ranks[m]].lack =
				n < FSL_ARCS_RANKS_MIN ? FSL_ARCS_LACK_RANKS : FSL_ARCS_LACK_STEPS;
		}
		return FSL_OK;
	}
	*equals = (struct fsl_equals){.class = {.n_ranks = n,
						.n_positions = launches->n_positions,
						.n_steps = launches->n_steps,
						.fill = fill,
						.fill_launches = fill_launches},
				      .run = search->run,
				      .clock_ns = search->clock_ns,
				      .launches = out->launches};
	uint8_t *is_seen = NULL;
	if (fsl_mul_size(n, launches->n_steps, &n_all)) {
		equals->ranks = fsl_arena_take(&out->arena, n * sizeof(*ranks));
		equals->anchors = fsl_arena_take(&out->arena, n_all * sizeof(*equals->anchors));
		equals->begin_ns = fsl_arena_take(&out->arena, 2 * launches->n_steps *
								       sizeof(*equals->begin_ns));
		equals->numbers =
			fsl_arena_take(&out->arena, launches->n_steps * sizeof(*equals->numbers));
		is_seen = fsl_arena_take(&out->arena, n_all);
	}
	if (equals->ranks == NULL || equals->anchors == NULL || equals->begin_ns == NULL ||
	    equals->numbers == NULL || is_seen == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	memcpy(equals->ranks, ranks, n * sizeof(*ranks));
	for (size_t s = 0; s < launches->n_steps; s++) {
		equals->begin_ns[s] = anchor_ns(equals, ranks[most], s);
		equals->numbers[s] = launches->numbers[s];
	}
	int64_t step_ns = usual_step_ns(equals->begin_ns, launches->n_steps);
	for (size_t m = 0; m < n; m++) {
		align_member(equals, m, (int64_t)(FSL_ARCS_STEP_NEAR_SHARE * (double)step_ns));
	}
	drop_steps(equals, is_seen);
	/* A fault may change the order of operators that run on several streams. */
	bool is_enough = equals->class.n_steps >= FSL_ARCS_STEPS_MIN &&
			 (double)equals->class.n_steps >=
				 FSL_ARCS_ANCHOR_SHARE_MIN * (double)(launches->n_uses - 2);
	for (size_t m = 0; m < n; m++) {
		out->launches[ranks[m]].lack =
			is_enough ? FSL_ARCS_LACK_NOTHING : FSL_ARCS_LACK_STEPS;
	}
	out->n_items += is_enough;
	return FSL_OK;
}

static uint32_t root_of(uint32_t *parents, uint32_t rank_idx)
{
	while (parents[rank_idx] != rank_idx) {
		parents[rank_idx] = parents[parents[rank_idx]];
		rank_idx = parents[rank_idx];
	}
	return rank_idx;
}

/*
 * Ties ranks together by groups all of whose members do the same work. Not by pipelines: two middle
 * stages run the same operators and not the same work.
 */
static void tie(struct search *search, const struct fsl_group *group, uint32_t *parents)
{
	uint64_t work = 0;
	uint32_t first = UINT32_MAX;
	for (size_t i = 0; i < group->n_ranks; i++) {
		size_t r = fsl_run_rank_idx(search->run, group->ranks[i]);
		if (r == SIZE_MAX || search->run->ranks[r].n_ops == 0) {
			continue; /* it left no data */
		}
		if (first != UINT32_MAX && search->out->launches[r].work != work) {
			return;
		}
		first = (uint32_t)r;
		work = search->out->launches[r].work;
	}
	for (size_t i = 0; i < group->n_ranks && first != UINT32_MAX && work != 0; i++) {
		size_t r = fsl_run_rank_idx(search->run, group->ranks[i]);
		if (r != SIZE_MAX && search->run->ranks[r].n_ops > 0) {
			parents[root_of(parents, (uint32_t)r)] = root_of(parents, first);
		}
	}
}

static enum fsl_status add_classes(struct search *search, const struct key *keys, size_t n,
				   struct fsl_error *err)
{
	uint32_t *ranks = fsl_calloc(n, sizeof(*ranks));
	enum fsl_status status =
		ranks != NULL ? FSL_OK
			      : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		ranks[i] = keys[i].rank_idx;
	}
	if (status == FSL_OK) {
		status = add_class(search, ranks, n, err);
	}
	fsl_free(ranks);
	return status;
}

/* Operators of a rank per time. */
static double rate_of(const struct fsl_rank *rank, size_t n_places)
{
	int64_t time_ns =
		fsl_op_begin_ns(&rank->ops[rank->n_ops - 1]) - fsl_op_begin_ns(&rank->ops[0]);
	return time_ns > 0 ? (double)n_places / (double)time_ns : 0.0;
}

/* Ranks of one sequence that use it at another rate work differently. */
static enum fsl_status split_by_rate(struct search *search, const struct key *keys, size_t n,
				     struct fsl_error *err)
{
	struct fsl_indexed *rates = fsl_calloc(n, sizeof(*rates));
	if (rates == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	for (size_t i = 0; i < n; i++) {
		rates[i].value = rate_of(&search->run->ranks[keys[i].rank_idx],
					 search->out->launches[keys[i].rank_idx].n_places);
		rates[i].idx = keys[i].rank_idx;
	}
	fsl_indexed_sort(rates, n);
	uint64_t work = keys[0].value;
	for (size_t i = 0; i < n; i++) {
		bool is_apart =
			i > 0 && rates[i].value > (1.0 + FSL_ARCS_RATE_APART) * rates[i - 1].value;
		work = is_apart ? mix(work) : work;
		search->out->launches[rates[i].idx].work = work;
	}
	fsl_free(rates);
	return FSL_OK;
}

/* Ranks that are tied together have one root; those of the same root are one class. */
static enum fsl_status tie_ranks(struct search *search, struct fsl_error *err)
{
	size_t n = search->run->n_ranks;
	uint32_t *parents = fsl_arena_take(&search->scratch, n * sizeof(*parents));
	uint64_t *roots = fsl_arena_take(&search->scratch, n * sizeof(*roots));
	if (parents == NULL || roots == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	for (size_t r = 0; r < n; r++) {
		parents[r] = (uint32_t)r;
		roots[r] = search->out->launches[r].work;
	}
	FSL_TRY(group_ranks(search, roots, split_by_rate, err));
	for (size_t g = 0; g < search->topology->n_groups; g++) {
		const struct fsl_group *group = &search->topology->groups[g];
		if (group->kind != FSL_GROUP_PP && group->n_calls > 0) {
			tie(search, group, parents);
		}
	}
	for (size_t r = 0; r < n; r++) {
		bool has_work = search->out->launches[r].work != 0;
		roots[r] = has_work ? root_of(parents, (uint32_t)r) + UINT64_C(1) : 0;
	}
	return group_ranks(search, roots, add_classes, err);
}

static bool alloc_search(struct search *search)
{
	struct fsl_classes *out = search->out;
	size_t n = search->run->n_ranks + 1;
	out->launches = fsl_arena_alloc(&out->arena, n * sizeof(*out->launches));
	out->arenas = fsl_arena_alloc(&out->arena, n * sizeof(*out->arenas));
	out->items = fsl_arena_alloc(&out->arena, n * sizeof(*out->items));
	search->kinds = fsl_arena_alloc(&search->scratch, n * sizeof(*search->kinds));
	search->n_kinds = fsl_arena_alloc(&search->scratch, n * sizeof(*search->n_kinds));
	search->anchors = fsl_arena_alloc(&search->scratch, n * sizeof(*search->anchors));
	search->group_tokens = fsl_arena_alloc(
		&search->scratch, (search->n_names + 1) * sizeof(*search->group_tokens));
	return out->launches != NULL && out->arenas != NULL && out->items != NULL &&
	       search->kinds != NULL && search->n_kinds != NULL && search->anchors != NULL &&
	       search->group_tokens != NULL;
}

/* Groups are alike by kind and size; members that left no data count. */
static void set_group_tokens(struct search *search)
{
	struct fsl_group_sizes sizes;
	fsl_group_sizes_find(&sizes, search->run, search->topology);
	for (size_t g = 0; g < search->topology->n_groups; g++) {
		const struct fsl_group *group = &search->topology->groups[g];
		size_t n = group->n_ranks;
		if (fsl_group_misses_members(&sizes, group)) {
			n = sizes.n_ranks[group->kind];
		}
		if (group->name_id < search->n_names) {
			search->group_tokens[group->name_id] = mix((uint64_t)group->kind + 1) + n;
		}
	}
}

static enum fsl_status find(struct search *search, struct fsl_error *err)
{
	struct fsl_classes *out = search->out;
	out->n_ranks = search->run->n_ranks;
	if (!alloc_search(search)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	set_group_tokens(search);
	for (size_t r = 0; r < out->n_ranks; r++) {
		out->launches[r].lack = FSL_ARCS_LACK_ANCHOR;
	}
	if (!visit_ranks(search, set_kinds)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	for (size_t r = 0; r < out->n_ranks; r++) {
		bool is_more = search->n_kinds[r] > out->n_kinds;
		out->n_kinds = is_more ? search->n_kinds[r] : out->n_kinds;
	}
	FSL_TRY(group_ranks(search, search->kinds, find_anchor, err));
	if (!visit_ranks(search, set_steps)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	FSL_TRY(tie_ranks(search, err));
	for (size_t i = 0; i < out->n_items; i++) {
		out->items[i].class.source = &out->items[i];
	}
	return FSL_OK;
}

enum fsl_status fsl_classes_find(struct fsl_classes *out, const struct fsl_run *run,
				 const struct fsl_topology *topology, const int64_t *clock_ns,
				 bool by_size, struct fsl_error *err)
{
	struct search search = {.out = out,
				.run = run,
				.topology = topology,
				.clock_ns = clock_ns,
				.by_size = by_size,
				.n_names = fsl_strpool_size(run->names)};
	*out = (struct fsl_classes){0};
	enum fsl_status status = find(&search, err);
	fsl_arena_fini(&search.scratch);
	if (status != FSL_OK) {
		fsl_classes_fini(out);
	}
	return status;
}

void fsl_classes_fini(struct fsl_classes *classes)
{
	for (size_t r = 0; r < classes->n_ranks && classes->arenas != NULL; r++) {
		fsl_arena_fini(&classes->arenas[r]);
	}
	fsl_arena_fini(&classes->arena);
	*classes = (struct fsl_classes){0};
}
