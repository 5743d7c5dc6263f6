/*
 * Pairs: who talks to whom in a communicator of more than two ranks. Send and receive of one
 * message end together, so two ranks that exchange messages have a good part of their
 * point-to-point ends in common, under one offset of their clocks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/offset.h"

/* Point-to-point operators of one rank in one group, by what they do. */
struct p2p_uses {
	int64_t *end_ns;  /* ascending, on the rank's clock */
	uint32_t *op_idx; /* into the rank's ops */
	size_t n;
	uint32_t op_id; /* run->names, of the first */
};

/* One rank of a group. */
struct p2p_side {
	uint32_t rank_idx;
	struct p2p_uses kinds[FSL_P2P_KINDS_N];
	size_t n_uses;
	int64_t interval_ns; /* usual time between two uses of one kind */
	int64_t first_ns, last_ns;
};

/* Two ranks that have ends in common. */
struct p2p_pair {
	uint32_t a, b;          /* sides, a < b */
	int64_t offset_ns;      /* clock of b minus clock of a, from their own ends */
	int64_t tolerance_ns;   /* ends farther apart are strangers */
	double relative_jitter; /* change from one common end to the next over the time between uses
				 */
};

/* One group while its operators are paired; arrays in the arena of whoever fills it. */
struct p2p_group {
	size_t group_idx;
	struct p2p_side *sides; /* ascending rank */
	size_t n_sides;
	struct p2p_pair *pairs;
	size_t n_pairs;
};

/*
 * Gives every point-to-point operator of a group to the pair of ranks whose other operator ends
 * with it, closest first, and makes a channel of each pair and direction.
 */
enum {
	CONTEXT = 4,      /* labels around an operator that tell its neighbour */
	LABELS = 4,       /* none and three neighbours; a stage of a pipeline has two */
	CONTEXTS_N = 256, /* LABELS to the power of CONTEXT */
};

/* Two operators that end together. */
struct bond {
	int64_t gap_ns;
	uint32_t channel; /* pair * FSL_P2P_KINDS_N + kind of side a */
	uint32_t use[2];  /* of side a and b, into the lists of their kinds */
};

/* One direction of one pair. */
struct direction {
	uint32_t pair;
	enum fsl_p2p_kind kinds[2]; /* of side a, b */
	bool is_open;
	size_t n_bonds;
	int64_t gap_ns;   /* usual distance of the ends */
	uint8_t label[2]; /* number among the neighbours of side a, b; 0: none left */
};

struct assignment {
	const struct p2p_group *group;
	struct direction *directions; /* [pair * FSL_P2P_KINDS_N + kind] */
	size_t n_directions;
	struct bond *bonds;
	size_t n_bonds;
	/* [side * FSL_P2P_KINDS_N + kind][use]: bond + 1 that holds it; 0: free. */
	uint32_t **held_by;
	bool *is_doubted; /* [bond] */
	int64_t *work;    /* [n_bonds] */
	struct fsl_arena arena;
};

static const struct p2p_uses *uses_of(const struct assignment *job,
				      const struct direction *direction, size_t end)
{
	const struct p2p_pair *pair = &job->group->pairs[direction->pair];
	return &job->group->sides[end == 0 ? pair->a : pair->b].kinds[direction->kinds[end]];
}

static uint32_t *holders_of(const struct assignment *job, const struct direction *direction,
			    size_t end)
{
	const struct p2p_pair *pair = &job->group->pairs[direction->pair];
	size_t side = end == 0 ? pair->a : pair->b;
	return job->held_by[side * FSL_P2P_KINDS_N + direction->kinds[end]];
}

/* Index of the end closest to @time_ns, at or after @from. */
static size_t closest(const struct p2p_uses *uses, int64_t time_ns, size_t from)
{
	while (from + 1 < uses->n &&
	       llabs(uses->end_ns[from + 1] - time_ns) <= llabs(uses->end_ns[from] - time_ns)) {
		from++;
	}
	return from;
}

/* Adds the operators of both sides that are closest to each other. */
static void list_bonds(struct assignment *job, uint32_t channel)
{
	const struct direction *direction = &job->directions[channel];
	const struct p2p_pair *pair = &job->group->pairs[direction->pair];
	const struct p2p_uses *a = uses_of(job, direction, 0), *b = uses_of(job, direction, 1);
	for (size_t i = 0, k = 0; i < a->n && b->n > 0; i++) {
		k = closest(b, a->end_ns[i] + pair->offset_ns, k);
		int64_t gap_ns = llabs(b->end_ns[k] - pair->offset_ns - a->end_ns[i]);
		int64_t back_ns = b->end_ns[k] - pair->offset_ns;
		bool is_mutual = (i == 0 || llabs(a->end_ns[i - 1] - back_ns) > gap_ns) &&
				 (i + 1 == a->n || llabs(a->end_ns[i + 1] - back_ns) >= gap_ns);
		if (is_mutual && gap_ns <= pair->tolerance_ns) {
			job->bonds[job->n_bonds++] =
				(struct bond){gap_ns, channel, {(uint32_t)i, (uint32_t)k}};
		}
	}
}

static int compare_bonds(const void *left, const void *right)
{
	const struct bond *x = left, *y = right;
	if (x->gap_ns != y->gap_ns) {
		return FSL_ORDER(x->gap_ns, y->gap_ns);
	}
	return x->channel != y->channel ? FSL_ORDER(x->channel, y->channel)
					: FSL_ORDER(x->use[0], y->use[0]);
}

static void free_all(struct assignment *job)
{
	for (size_t s = 0; s < job->group->n_sides; s++) {
		for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
			memset(job->held_by[s * FSL_P2P_KINDS_N + k], 0,
			       job->group->sides[s].kinds[k].n * sizeof(uint32_t));
		}
	}
	memset(job->is_doubted, 0, job->n_bonds * sizeof(*job->is_doubted));
}

/* Doubts the bond that holds one end if @bond, whose other end is free, fits nearly as well. */
static void doubt(struct assignment *job, const struct bond *bond, uint32_t holder)
{
	const struct bond *first = &job->bonds[holder - 1];
	int64_t usual_ns = job->directions[first->channel].gap_ns;
	int64_t gap_ns = first->gap_ns > usual_ns ? first->gap_ns : usual_ns;
	job->is_doubted[holder - 1] |= bond->gap_ns <= FSL_PAIR_DOUBT_RATIO * gap_ns;
}

/* Closest first; every operator has one partner. */
static void bind(struct assignment *job)
{
	free_all(job);
	for (size_t i = 0; i < job->n_bonds; i++) {
		const struct bond *bond = &job->bonds[i];
		const struct direction *direction = &job->directions[bond->channel];
		if (!direction->is_open) {
			continue;
		}
		uint32_t *a = &holders_of(job, direction, 0)[bond->use[0]];
		uint32_t *b = &holders_of(job, direction, 1)[bond->use[1]];
		if (*a == 0 && *b == 0) {
			*a = *b = (uint32_t)i + 1;
		} else if (*a == 0 || *b == 0) {
			doubt(job, bond, *a == 0 ? *b : *a);
		}
	}
}

static bool is_held(const struct assignment *job, size_t i)
{
	const struct bond *bond = &job->bonds[i];
	const struct direction *direction = &job->directions[bond->channel];
	return direction->is_open && !job->is_doubted[i] &&
	       holders_of(job, direction, 0)[bond->use[0]] == i + 1;
}

/* Counts and measures the bonds of each direction; @work holds their distances. */
static void measure(struct assignment *job)
{
	for (size_t d = 0; d < job->n_directions; d++) {
		job->directions[d].n_bonds = 0;
		job->directions[d].gap_ns = 0;
	}
	for (size_t i = 0; i < job->n_bonds; i++) {
		job->directions[job->bonds[i].channel].n_bonds += is_held(job, i);
	}
	/* Bonds are sorted by distance: the one that half of the others lie below is the median. */
	for (size_t d = 0; d < job->n_directions; d++) {
		job->work[d] = 0;
	}
	for (size_t i = 0; i < job->n_bonds; i++) {
		struct direction *direction = &job->directions[job->bonds[i].channel];
		int64_t *n_seen = &job->work[job->bonds[i].channel];
		if (is_held(job, i) && (size_t)(*n_seen)++ == direction->n_bonds / 2) {
			direction->gap_ns = job->bonds[i].gap_ns;
		}
	}
}

/* Closes the directions that get too few operators. */
static void close_rare(struct assignment *job)
{
	for (size_t d = 0; d < job->n_directions; d++) {
		struct direction *direction = &job->directions[d];
		size_t n_a = uses_of(job, direction, 0)->n, n_b = uses_of(job, direction, 1)->n;
		size_t n_least = n_a < n_b ? n_a : n_b;
		direction->is_open &=
			direction->n_bonds >= FSL_PAIR_BONDS_MIN &&
			(double)direction->n_bonds >= FSL_PAIR_COMMON_SHARE_MIN * (double)n_least;
	}
}

static bool is_stranger(const struct assignment *job, const struct bond *bond)
{
	const struct direction *direction = &job->directions[bond->channel];
	double interval_ns =
		(double)job->group->pairs[direction->pair].tolerance_ns / FSL_END_APART_SHARE_MAX;
	int64_t usual_ns =
		direction->gap_ns > FSL_END_JITTER_NS ? direction->gap_ns : FSL_END_JITTER_NS;
	return bond->gap_ns > FSL_STRANGER_RATIO * usual_ns &&
	       (double)bond->gap_ns > FSL_STRANGER_SHARE * interval_ns;
}

/* Frees the operators of closed directions, doubted ones, and those whose end is far away. */
static void drop_strangers(struct assignment *job)
{
	for (size_t i = 0; i < job->n_bonds; i++) {
		const struct bond *bond = &job->bonds[i];
		const struct direction *direction = &job->directions[bond->channel];
		uint32_t *holder = &holders_of(job, direction, 0)[bond->use[0]];
		if (*holder == i + 1 && (!is_held(job, i) || is_stranger(job, bond))) {
			*holder = 0;
			holders_of(job, direction, 1)[bond->use[1]] = 0;
		}
	}
}

static enum fsl_status alloc_assignment(struct assignment *job, struct fsl_error *err)
{
	const struct p2p_group *group = job->group;
	size_t n_uses = 0, n_lists = group->n_sides * FSL_P2P_KINDS_N;
	job->n_directions = group->n_pairs * FSL_P2P_KINDS_N;
	for (size_t p = 0; p < group->n_pairs; p++) {
		n_uses += group->sides[group->pairs[p].a].n_uses;
	}
	FSL_TRY(FSL_ARENA_NEW(job->directions, &job->arena, job->n_directions, "directions", err));
	FSL_TRY(FSL_ARENA_NEW(job->bonds, &job->arena, n_uses, "bonds", err));
	FSL_TRY(FSL_ARENA_NEW(job->is_doubted, &job->arena, n_uses, "is_doubted", err));
	FSL_TRY(FSL_ARENA_NEW(job->work, &job->arena, job->n_directions, "work", err));
	FSL_TRY(FSL_ARENA_NEW(job->held_by, &job->arena, n_lists, "held_by", err));
	for (size_t i = 0; i < n_lists; i++) {
		size_t n = group->sides[i / FSL_P2P_KINDS_N].kinds[i % FSL_P2P_KINDS_N].n;
		FSL_TRY(FSL_ARENA_NEW(job->held_by[i], &job->arena, n, "i", err));
	}
	return FSL_OK;
}

static void open_directions(struct assignment *job)
{
	for (size_t d = 0; d < job->n_directions; d++) {
		enum fsl_p2p_kind kind = (enum fsl_p2p_kind)(d % FSL_P2P_KINDS_N);
		job->directions[d] =
			(struct direction){.pair = (uint32_t)(d / FSL_P2P_KINDS_N),
					   .kinds = {kind, fsl_p2p_kind_that_meets(kind)},
					   .is_open = true};
		list_bonds(job, (uint32_t)d);
	}
	qsort(job->bonds, job->n_bonds, sizeof(*job->bonds), compare_bonds);
	for (size_t i = 0; i < job->n_bonds; i++) {
		FSL_ASSERT(job->bonds[i].channel < job->n_directions && job->bonds[i].gap_ns >= 0);
	}
}

/* Numbers the neighbours of each list of operators, from 1. */
static void number_neighbours(struct assignment *job, uint8_t *n_neighbours)
{
	for (size_t d = 0; d < job->n_directions; d++) {
		struct direction *direction = &job->directions[d];
		const struct p2p_pair *pair = &job->group->pairs[direction->pair];
		for (size_t end = 0; end < 2 && direction->is_open; end++) {
			size_t side = end == 0 ? pair->a : pair->b;
			uint8_t *n = &n_neighbours[side * FSL_P2P_KINDS_N + direction->kinds[end]];
			*n = (uint8_t)(*n < UINT8_MAX ? *n + 1 : *n);
			direction->label[end] = *n;
		}
	}
}

/* Which of the labels two before and two behind an operator are looked at. */
static const bool views[][CONTEXT] = {
	{true, true, true, true},   /* all */
	{true, true, false, false}, /* before */
	{false, false, true, true}, /* behind */
};
enum { VIEWS_N = sizeof(views) / sizeof(views[0]) };

/* Labels around an operator as one number; 0: one that is looked at is not known. */
static size_t context_of(const uint8_t *labels, size_t n, size_t i, const bool *view)
{
	size_t context = 0;
	for (size_t k = 0; k < CONTEXT; k++) {
		size_t at = i + k - CONTEXT / 2 + (k >= CONTEXT / 2); /* wraps below 0: >= n */
		uint8_t label = view[k] && at < n ? labels[at] : 0;
		if (view[k] && label == 0) {
			return 0;
		}
		context = context * LABELS + label;
	}
	return context;
}

/* Neighbour of most operators with these labels around them; 0: not clear. */
static uint8_t usual_label(const uint32_t *seen)
{
	size_t best = 1, n_all = 0;
	for (size_t k = 1; k < LABELS; k++) {
		n_all += seen[k];
		best = seen[k] > seen[best] ? k : best;
	}
	bool is_clear = seen[best] >= FSL_PAIR_EXAMPLES_MIN &&
			(double)seen[best] >= FSL_PAIR_LABEL_SHARE_MIN * (double)n_all;
	return is_clear ? (uint8_t)best : 0;
}

/*
 * A schedule repeats itself: an operator whose partner lost its record went to the same neighbour
 * as other operators at its place in the schedule. @told gets the labels, guessed ones included.
 */
static void guess_labels(uint8_t *told, const uint8_t *labels, size_t n, size_t n_neighbours,
			 uint32_t (*counts)[LABELS])
{
	memcpy(told, labels, n);
	if (n_neighbours == 0 || n_neighbours >= LABELS) {
		return;
	}
	for (size_t v = 0; v < VIEWS_N && n_neighbours > 1; v++) {
		memset(counts, 0, CONTEXTS_N * sizeof(*counts));
		for (size_t i = 0; i < n; i++) {
			counts[context_of(labels, n, i, views[v])][labels[i]] += labels[i] > 0;
		}
		for (size_t i = 0; i < n; i++) {
			size_t context = context_of(labels, n, i, views[v]);
			if (told[i] == 0 && context > 0) {
				told[i] = usual_label(counts[context]);
			}
		}
	}
	for (size_t i = 0; i < n && n_neighbours == 1; i++) {
		told[i] = 1;
	}
}

/* Neighbour of each operator of each list. */
static enum fsl_status label_all(uint8_t ***out, struct assignment *job, struct fsl_error *err)
{
	size_t n_lists = job->group->n_sides * FSL_P2P_KINDS_N;
	uint8_t *n_neighbours = NULL, **told = NULL;
	uint32_t(*counts)[LABELS] = NULL;
	FSL_TRY(FSL_ARENA_NEW(n_neighbours, &job->arena, n_lists, "n_neighbours", err));
	FSL_TRY(FSL_ARENA_NEW(told, &job->arena, n_lists, "told", err));
	FSL_TRY(FSL_ARENA_NEW(counts, &job->arena, CONTEXTS_N, "counts", err));
	number_neighbours(job, n_neighbours);
	for (size_t i = 0; i < n_lists; i++) {
		const struct p2p_uses *uses =
			&job->group->sides[i / FSL_P2P_KINDS_N].kinds[i % FSL_P2P_KINDS_N];
		uint8_t *labels = NULL;
		FSL_TRY(FSL_ARENA_NEW(labels, &job->arena, uses->n, "labels", err));
		FSL_TRY(FSL_ARENA_NEW(told[i], &job->arena, uses->n, "i", err));
		for (size_t u = 0; u < uses->n && n_neighbours[i] < LABELS; u++) {
			uint32_t holder = job->held_by[i][u];
			if (holder == 0) {
				continue;
			}
			const struct direction *direction =
				&job->directions[job->bonds[holder - 1].channel];
			size_t side = job->group->pairs[direction->pair].a;
			bool is_first = side * FSL_P2P_KINDS_N + direction->kinds[0] == i;
			labels[u] = direction->label[is_first ? 0 : 1];
		}
		guess_labels(told[i], labels, uses->n, n_neighbours[i], counts);
	}
	*out = told;
	return FSL_OK;
}

/* One instance of a direction on the clock of side a. */
struct row {
	int64_t end_ns;
	uint32_t op_idx[2];
};

static int compare_rows(const void *left, const void *right)
{
	const struct row *x = left, *y = right;
	if (x->end_ns != y->end_ns) {
		return FSL_ORDER(x->end_ns, y->end_ns);
	}
	return x->op_idx[0] != y->op_idx[0] ? FSL_ORDER(x->op_idx[0], y->op_idx[0])
					    : FSL_ORDER(x->op_idx[1], y->op_idx[1]);
}

/* The time that both sides of a pair cover, on the clock of side a. */
static void common_time(const struct assignment *job, const struct p2p_pair *pair,
			int64_t *begin_ns, int64_t *end_ns)
{
	const struct p2p_side *a = &job->group->sides[pair->a];
	const struct p2p_side *b = &job->group->sides[pair->b];
	int64_t b_first_ns = b->first_ns - pair->offset_ns,
		b_last_ns = b->last_ns - pair->offset_ns;
	*begin_ns = a->first_ns > b_first_ns ? a->first_ns : b_first_ns;
	*end_ns = a->last_ns < b_last_ns ? a->last_ns : b_last_ns;
}

/* Operators of one side that went to this direction and have no partner. */
static size_t add_singles(struct row *rows, const struct assignment *job,
			  const struct direction *direction, size_t end, uint8_t **told)
{
	const struct p2p_pair *pair = &job->group->pairs[direction->pair];
	const struct p2p_uses *uses = uses_of(job, direction, end);
	const uint32_t *holders = holders_of(job, direction, end);
	size_t side = end == 0 ? pair->a : pair->b, n = 0;
	const uint8_t *labels = told[side * FSL_P2P_KINDS_N + direction->kinds[end]];
	int64_t begin_ns = 0, last_ns = 0;
	common_time(job, pair, &begin_ns, &last_ns);
	for (size_t u = 0; u < uses->n; u++) {
		int64_t end_ns = uses->end_ns[u] - (end == 0 ? 0 : pair->offset_ns);
		if (holders[u] == 0 && labels[u] == direction->label[end] && end_ns >= begin_ns &&
		    end_ns <= last_ns) {
			rows[n] = (struct row){end_ns, {FSL_NO_OP, FSL_NO_OP}};
			rows[n++].op_idx[end] = uses->op_idx[u];
		}
	}
	return n;
}

/* Rows of one direction; returns how many. */
static size_t list_rows(struct row *rows, const struct assignment *job,
			const struct direction *direction, uint8_t **told)
{
	const struct p2p_uses *a = uses_of(job, direction, 0), *b = uses_of(job, direction, 1);
	const uint32_t *holders = holders_of(job, direction, 0);
	size_t n = 0;
	for (size_t u = 0; u < a->n; u++) {
		if (holders[u] == 0) {
			continue;
		}
		const struct bond *bond = &job->bonds[holders[u] - 1];
		if (&job->directions[bond->channel] == direction) {
			rows[n++] =
				(struct row){a->end_ns[u], {a->op_idx[u], b->op_idx[bond->use[1]]}};
		}
	}
	n += add_singles(rows + n, job, direction, 0, told);
	n += add_singles(rows + n, job, direction, 1, told);
	FSL_ASSERT(n <= a->n + b->n);
	qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}

static enum fsl_status add_channel(struct fsl_channel_list *out, struct fsl_match *match,
				   struct assignment *job, const struct direction *direction,
				   uint8_t **told, struct fsl_error *err)
{
	const struct p2p_pair *pair = &job->group->pairs[direction->pair];
	size_t n_max = uses_of(job, direction, 0)->n + uses_of(job, direction, 1)->n;
	struct row *rows = NULL;
	FSL_TRY(FSL_ARENA_NEW(rows, &job->arena, n_max, "rows", err));
	FSL_TRY(FSL_GROW(out->items, out->capacity, out->n + 1, err));
	struct fsl_channel channel = {.group_idx = job->group->group_idx,
				      .op_id = uses_of(job, direction, 0)->op_id,
				      .is_p2p = true,
				      .n_members = 2,
				      .n_instances = list_rows(rows, job, direction, told)};
	size_t n = channel.n_instances;
	FSL_TRY(FSL_ARENA_NEW(channel.members, &match->arena, 2, "members", err));
	FSL_TRY(FSL_ARENA_NEW(channel.op_idx, &match->arena, 2 * n, "op_idx", err));
	FSL_TRY(FSL_ARENA_NEW(channel.step_idx, &match->arena, n, "step_idx", err));
	channel.members[0] = job->group->sides[pair->a].rank_idx;
	channel.members[1] = job->group->sides[pair->b].rank_idx;
	for (size_t i = 0; i < n; i++) {
		memcpy(channel.op_idx + 2 * i, rows[i].op_idx, sizeof(rows[i].op_idx));
		channel.step_idx[i] = UINT32_MAX;
	}
	out->items[out->n++] = channel;
	return FSL_OK;
}

static enum fsl_status assign(struct fsl_channel_list *out, struct fsl_match *match,
			      struct assignment *job, struct fsl_error *err)
{
	uint8_t **told = NULL;
	FSL_TRY(alloc_assignment(job, err));
	open_directions(job);
	/* First without doubts, to see who is whose neighbour; then among neighbours alone. */
	bind(job);
	memset(job->is_doubted, 0, job->n_bonds * sizeof(*job->is_doubted));
	measure(job);
	close_rare(job);
	bind(job);
	measure(job);
	close_rare(job);
	drop_strangers(job);
	FSL_TRY(label_all(&told, job, err));
	for (size_t d = 0; d < job->n_directions; d++) {
		if (job->directions[d].is_open) {
			FSL_TRY(add_channel(out, match, job, &job->directions[d], told, err));
		}
	}
	return FSL_OK;
}

/* Gives every operator of the group to the pair whose other operator ends with it. */
static enum fsl_status assign_pairs(struct fsl_channel_list *out, struct fsl_match *match,
				    const struct p2p_group *group, struct fsl_error *err)
{
	struct assignment job = {.group = group};
	enum fsl_status status = assign(out, match, &job, err);
	fsl_arena_fini(&job.arena);
	return status;
}

struct end {
	int64_t end_ns;
	uint32_t op_idx;
};

static int compare_ends(const void *left, const void *right)
{
	const struct end *a = left, *b = right;
	int order = FSL_ORDER(a->end_ns, b->end_ns);
	return order != 0 ? order : FSL_ORDER(a->op_idx, b->op_idx);
}

/* Sorts the ends of one kind into the side. @ends: room for all uses. */
static enum fsl_status fill_kind(struct p2p_side *side, enum fsl_p2p_kind kind,
				 struct fsl_arena *arena, struct end *ends, size_t n,
				 struct fsl_error *err)
{
	struct p2p_uses *uses = &side->kinds[kind];
	FSL_TRY(FSL_ARENA_NEW(uses->end_ns, arena, n, "end_ns", err));
	FSL_TRY(FSL_ARENA_NEW(uses->op_idx, arena, n, "op_idx", err));
	qsort(ends, n, sizeof(*ends), compare_ends);
	for (size_t i = 0; i < n; i++) {
		uses->end_ns[i] = ends[i].end_ns;
		uses->op_idx[i] = ends[i].op_idx;
	}
	uses->n = n;
	FSL_ASSERT(fsl_ends_ascend((struct fsl_ends){uses->end_ns, n}));
	return FSL_OK;
}

static void measure_side(struct p2p_side *side, int64_t *work)
{
	for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
		const struct p2p_uses *uses = &side->kinds[k];
		if (uses->n == 0) {
			continue;
		}
		int64_t first_ns = uses->end_ns[0], last_ns = uses->end_ns[uses->n - 1];
		side->first_ns =
			side->n_uses == 0 || first_ns < side->first_ns ? first_ns : side->first_ns;
		side->last_ns =
			side->n_uses == 0 || last_ns > side->last_ns ? last_ns : side->last_ns;
		side->n_uses += uses->n;
		int64_t interval_ns =
			fsl_usual_interval_ns((struct fsl_ends){uses->end_ns, uses->n}, work);
		bool is_less = side->interval_ns == 0 || interval_ns < side->interval_ns;
		side->interval_ns = interval_ns > 0 && is_less ? interval_ns : side->interval_ns;
	}
}

/* Tables and scratch of the listing of sides. */
struct lister {
	const uint8_t *kind_of; /* per name */
	struct fsl_arena *arena;
	int64_t *work;
};

static enum fsl_p2p_kind kind_of(const struct lister *lister, const struct fsl_slot *slot)
{
	return (enum fsl_p2p_kind)lister->kind_of[slot->op_id];
}

/* Adds the rank of slots[0 .. n) when it has point-to-point operators. */
static enum fsl_status add_side(struct p2p_group *group, const struct lister *lister,
				const struct fsl_slot *slots, size_t n, struct end *ends,
				struct fsl_error *err)
{
	struct p2p_side *side = &group->sides[group->n_sides];
	*side = (struct p2p_side){.rank_idx = slots[0].rank_idx};
	for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
		size_t n_ends = 0;
		for (size_t i = 0; i < n; i++) {
			if (kind_of(lister, &slots[i]) != (enum fsl_p2p_kind)k) {
				continue;
			}
			side->kinds[k].op_id = n_ends == 0 ? slots[i].op_id : side->kinds[k].op_id;
			for (size_t u = 0; u < slots[i].n; u++) {
				ends[n_ends++] =
					(struct end){slots[i].end_ns[u], slots[i].op_idx[u]};
			}
		}
		FSL_TRY(fill_kind(side, (enum fsl_p2p_kind)k, lister->arena, ends, n_ends, err));
	}
	measure_side(side, lister->work);
	group->n_sides += side->n_uses > 0;
	return FSL_OK;
}

/* Ranks with point-to-point operators among the slots of a group, and uses of all slots. */
static size_t count_sides(const struct lister *lister, const struct fsl_slot *slots, size_t n_slots,
			  size_t *n_uses)
{
	size_t n = 0;
	uint32_t last = UINT32_MAX;
	*n_uses = 0;
	for (size_t i = 0; i < n_slots; i++) {
		*n_uses += slots[i].n;
		if (slots[i].rank_idx != last && kind_of(lister, &slots[i]) < FSL_P2P_KINDS_N) {
			last = slots[i].rank_idx;
			n++;
		}
	}
	return n;
}

/* Lists the ranks of a group with their point-to-point operators; none when they are no pipeline.
 */
static enum fsl_status list_sides(struct p2p_group *group, const struct lister *lister,
				  const struct fsl_slot *slots, size_t n_slots,
				  struct fsl_error *err)
{
	size_t n_uses = 0, n = count_sides(lister, slots, n_slots, &n_uses);
	if (n < 3 || n > FSL_PAIR_SIDES_MAX) { /* groups of two are channels already */
		return FSL_OK;
	}
	struct end *ends = NULL;
	/* One more than there are: a rank without such operators is filled and left. */
	FSL_TRY(FSL_ARENA_NEW(group->sides, lister->arena, n + 1, "sides", err));
	FSL_TRY(FSL_ARENA_NEW(group->pairs, lister->arena, n * n / 2, "pairs", err));
	FSL_TRY(FSL_ARENA_NEW(ends, lister->arena, n_uses, "ends", err));
	for (size_t begin = 0, end = 0; begin < n_slots; begin = end) {
		while (end < n_slots && slots[end].rank_idx == slots[begin].rank_idx) {
			end++;
		}
		FSL_TRY(add_side(group, lister, slots + begin, end - begin, ends, err));
	}
	return FSL_OK;
}

/* Scratch of a search: FSL_DIFFERENCES_MAX of each. */
struct bench {
	struct fsl_difference *items, *hits;
	int64_t *work;
};

/* True when a good part of the ends of the two sides differ by one offset inside @range. */
static bool search(struct p2p_pair *pair, const struct p2p_group *group,
		   struct fsl_offset_range range, const struct bench *bench)
{
	const struct p2p_side *a = &group->sides[pair->a], *b = &group->sides[pair->b];
	struct fsl_differences differences = {.items = bench->items, .n_max = FSL_DIFFERENCES_MAX};
	struct fsl_offset found;
	/* The side with fewer operators is asked: all of them may go to the other one. */
	bool is_swapped = b->n_uses < a->n_uses;
	const struct p2p_side *asked = is_swapped ? b : a, *other = is_swapped ? a : b;
	range.around_ns = is_swapped ? -range.around_ns : range.around_ns;
	for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
		const struct p2p_uses *from = &asked->kinds[k];
		const struct p2p_uses *to =
			&other->kinds[fsl_p2p_kind_that_meets((enum fsl_p2p_kind)k)];
		fsl_differences_add(&differences, (struct fsl_ends){from->end_ns, from->n},
				    (struct fsl_ends){to->end_ns, to->n}, range, FSL_PAIR_ENDS);
	}
	size_t n_wanted = (size_t)(FSL_PAIR_COMMON_SHARE_MIN * (double)differences.n_asked) + 1;
	n_wanted = n_wanted > FSL_PAIR_USES_MIN ? n_wanted : FSL_PAIR_USES_MIN;
	int64_t interval_ns = a->interval_ns < b->interval_ns ? a->interval_ns : b->interval_ns;
	if (interval_ns <= 0 ||
	    !fsl_offset_find(&found, &differences, n_wanted, bench->hits, bench->work)) {
		return false;
	}
	pair->offset_ns = is_swapped ? -found.offset_ns : found.offset_ns;
	pair->relative_jitter = (double)found.jitter_ns / (double)interval_ns;
	pair->tolerance_ns = (int64_t)(FSL_END_APART_SHARE_MAX * (double)interval_ns);
	return (double)found.width_ns <= FSL_PAIR_WIDTH_SHARE_MAX * (double)interval_ns;
}

/* Range in which the offset of a pair must lie. */
static struct fsl_offset_range range_of(const struct p2p_pair *pair, const struct p2p_group *group,
					const struct fsl_clocks *clocks, bool *is_known)
{
	struct fsl_offset_range range = {0, FSL_CLOCK_REACH_NS};
	*is_known = fsl_clocks_offset(clocks, group->sides[pair->a].rank_idx,
				      group->sides[pair->b].rank_idx, &range.around_ns);
	range.reach_ns = *is_known ? FSL_CLOCK_KNOWN_REACH_NS : FSL_CLOCK_REACH_NS;
	return range;
}

/* Steadiest first. */
static int compare_pairs(const void *left, const void *right)
{
	const struct p2p_pair *x = left, *y = right;
	FSL_ORDER_BY(x->relative_jitter, y->relative_jitter);
	return x->a != y->a ? FSL_ORDER(x->a, y->a) : FSL_ORDER(x->b, y->b);
}

/*
 * Pairs with common ends. If clocks are not known, ranks two hops apart may seem to fit under an
 * offset of the work between their ends; but work varies and ends do not, so the steadiest pairs
 * connect the clocks first, and the others must fit them.
 */
static void find_pairs(struct p2p_group *group, struct fsl_clocks *clocks,
		       const struct bench *bench)
{
	bool is_known = false;
	for (size_t a = 0; a < group->n_sides; a++) {
		for (size_t b = a + 1; b < group->n_sides; b++) {
			struct p2p_pair *pair = &group->pairs[group->n_pairs];
			*pair = (struct p2p_pair){.a = (uint32_t)a, .b = (uint32_t)b};
			struct fsl_offset_range range = range_of(pair, group, clocks, &is_known);
			group->n_pairs += search(pair, group, range, bench);
		}
	}
	qsort(group->pairs, group->n_pairs, sizeof(*group->pairs), compare_pairs);
	size_t n_kept = 0;
	for (size_t p = 0; p < group->n_pairs; p++) {
		struct p2p_pair pair = group->pairs[p];
		struct fsl_offset_range range = range_of(&pair, group, clocks, &is_known);
		if (is_known && llabs(pair.offset_ns - range.around_ns) > range.reach_ns &&
		    !search(&pair, group, range, bench)) {
			continue;
		}
		fsl_clocks_join(clocks, group->sides[pair.a].rank_idx,
				group->sides[pair.b].rank_idx, pair.offset_ns);
		group->pairs[n_kept++] = pair;
	}
	FSL_ASSERT(n_kept <= group->n_pairs);
	group->n_pairs = n_kept;
}

/* Kinds of all names, and of how many operators go from one rank to another. */
static size_t set_kinds(uint8_t *kinds, const struct fsl_strpool *names)
{
	size_t n = fsl_strpool_size(names), n_p2p = 0;
	for (size_t i = 0; i < n; i++) {
		kinds[i] = (uint8_t)fsl_p2p_kind_from_name(fsl_strpool_text(names, (uint32_t)i));
		n_p2p += kinds[i] < FSL_P2P_KINDS_N;
	}
	return n_p2p;
}

static enum fsl_status match_groups(struct fsl_channel_list *out, struct fsl_match *match,
				    struct fsl_clocks *clocks, const struct fsl_listing *listing,
				    const uint8_t *kinds, struct fsl_error *err)
{
	struct bench bench = {.items = fsl_calloc(FSL_DIFFERENCES_MAX, sizeof(*bench.items)),
			      .hits = fsl_calloc(FSL_DIFFERENCES_MAX, sizeof(*bench.hits)),
			      .work = fsl_calloc(FSL_DIFFERENCES_MAX, sizeof(*bench.work))};
	enum fsl_status status = FSL_OK;
	if (bench.items == NULL || bench.hits == NULL || bench.work == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: differences=%d",
				  FSL_DIFFERENCES_MAX);
	}
	for (size_t g = 0; g < listing->n_groups && status == FSL_OK; g++) {
		struct fsl_arena scratch = {0};
		struct p2p_group group = {.group_idx = g};
		size_t begin = listing->slot_begin[g], end = listing->slot_begin[g + 1];
		struct lister lister = {kinds, &scratch, bench.work};
		status = list_sides(&group, &lister, listing->slots + begin, end - begin, err);
		if (status == FSL_OK && group.n_sides > 0) {
			find_pairs(&group, clocks, &bench);
			status = assign_pairs(out, match, &group, err);
		}
		fsl_arena_fini(&scratch);
	}
	fsl_free(bench.work);
	fsl_free(bench.hits);
	fsl_free(bench.items);
	return status;
}

/* Most jobs name no such operator, and then nothing is looked at. */
enum fsl_status fsl_pairs_match(struct fsl_channel_list *out, struct fsl_match *match,
				struct fsl_clocks *clocks, const struct fsl_listing *listing,
				const struct fsl_run *run, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names);
	uint8_t *kinds = fsl_calloc(n_names + 1, sizeof(*kinds));
	if (kinds == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names);
	}
	enum fsl_status status = FSL_OK;
	if (set_kinds(kinds, run->names) > 0) {
		status = match_groups(out, match, clocks, listing, kinds, err);
	}
	fsl_free(kinds);
	return status;
}
