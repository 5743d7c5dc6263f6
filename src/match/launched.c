/* Which operators are launched ahead of what their rank does next. */
#include "match/launched.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "match/channel.h"

/* The n-th use of an operator in a step: both times, and in how many steps either of them changed
 * less than the other since the step before. */
struct turn {
	int64_t from_others_ns, from_end_ns;
	uint32_t n, n_others, n_end;
};

struct kind {
	uint32_t op_id, group_id;
	size_t step, n_turns; /* uses in that step so far */
	struct turn turns[FSL_LAUNCHED_TURNS_MAX];
};

/* One communicator of the rank, while its operators pass by in order. */
struct stream {
	uint32_t group_id;
	int64_t last_end_ns; /* of its operators so far */
};

/* A use that waits for the next operator of another communicator. */
struct open_use {
	struct turn *turn;
	uint32_t group_id;
	int64_t end_ns, others_end_ns;
};

/* Scratch of one thread. */
struct bench {
	struct kind kinds[FSL_OP_KINDS_MAX];
	size_t n_kinds;
	struct stream streams[FSL_LAUNCHED_STREAMS_MAX];
	size_t n_streams;
	struct open_use open[FSL_LAUNCHED_OPEN_MAX];
	size_t n_open;
	bool has_p2p;
};

/* One rank's vote on one operator: which of its uses nobody waits for, and which hold the rank. */
struct vote {
	uint32_t op_id, group_id;
	uint64_t is_free, is_held;
	size_t n_turns; /* in most steps */
};

struct votes {
	struct vote *items;
	size_t n, capacity;
};

static void add(struct turn *turn, int64_t from_others_ns, int64_t from_end_ns)
{
	if (turn->n++ > 0) {
		int64_t others_ns = llabs(from_others_ns - turn->from_others_ns);
		int64_t end_ns = llabs(from_end_ns - turn->from_end_ns);
		turn->n_others += others_ns < end_ns;
		turn->n_end += end_ns < others_ns;
	}
	turn->from_others_ns = from_others_ns;
	turn->from_end_ns = from_end_ns;
}

static struct kind *kind_of(struct bench *bench, const struct fsl_run *run, const struct fsl_op *op)
{
	for (size_t k = 0; k < bench->n_kinds; k++) {
		struct kind *kind = &bench->kinds[k];
		if (kind->op_id == op->op_id && kind->group_id == op->group_id) {
			return kind;
		}
	}
	if (bench->n_kinds == FSL_OP_KINDS_MAX) {
		return NULL;
	}
	struct kind *kind = &bench->kinds[bench->n_kinds++];
	const char *name = fsl_strpool_text(run->names, op->op_id);
	bench->has_p2p |= fsl_p2p_kind_from_name(name) < FSL_P2P_KINDS_N;
	*kind = (struct kind){.op_id = op->op_id, .group_id = op->group_id, .step = SIZE_MAX};
	return kind;
}

static struct stream *stream_of(struct bench *bench, uint32_t group_id)
{
	for (size_t i = 0; i < bench->n_streams; i++) {
		if (bench->streams[i].group_id == group_id) {
			return &bench->streams[i];
		}
	}
	if (bench->n_streams == FSL_LAUNCHED_STREAMS_MAX) {
		return NULL;
	}
	bench->streams[bench->n_streams] = (struct stream){group_id, FSL_NS_ABSENT};
	return &bench->streams[bench->n_streams++];
}

/* NULL for a use that is not judged. */
static struct turn *next_turn(struct kind *kind, size_t step)
{
	kind->n_turns = step == kind->step ? kind->n_turns : 0;
	kind->step = step;
	return kind->n_turns < FSL_LAUNCHED_TURNS_MAX ? &kind->turns[kind->n_turns++] : NULL;
}

/* Last end of the operators of all other communicators; FSL_NS_ABSENT: none. */
static int64_t end_of_others(const struct bench *bench, const struct stream *stream)
{
	int64_t last_ns = FSL_NS_ABSENT;
	for (size_t i = 0; i < bench->n_streams; i++) {
		int64_t end_ns = bench->streams[i].last_end_ns;
		if (&bench->streams[i] != stream && end_ns > last_ns) {
			last_ns = end_ns;
		}
	}
	return last_ns;
}

/* Closes the uses of other communicators than @group_id: the rank's next operator begins. */
static void close_uses(struct bench *bench, uint32_t group_id, int64_t next_begin_ns)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < bench->n_open; i++) {
		struct open_use *use = &bench->open[i];
		if (use->group_id == group_id) {
			bench->open[n_kept++] = *use;
			continue;
		}
		add(use->turn, next_begin_ns - use->others_end_ns, next_begin_ns - use->end_ns);
	}
	bench->n_open = n_kept;
}

static void pass_op(struct bench *bench, struct kind *kind, const struct fsl_op *op, size_t step)
{
	struct stream *stream = stream_of(bench, op->group_id);
	struct turn *turn = kind != NULL ? next_turn(kind, step) : NULL;
	close_uses(bench, op->group_id, fsl_op_begin_ns(op));
	if (stream == NULL) {
		return;
	}
	int64_t end_ns = fsl_op_end_ns(op), others_end_ns = end_of_others(bench, stream);
	stream->last_end_ns = end_ns > stream->last_end_ns ? end_ns : stream->last_end_ns;
	/* If another operator still runs, that one goes on beneath, and not this one. */
	bool is_alone = others_end_ns != FSL_NS_ABSENT && others_end_ns <= fsl_op_begin_ns(op);
	if (turn != NULL && is_alone && bench->n_open < FSL_LAUNCHED_OPEN_MAX) {
		bench->open[bench->n_open++] =
			(struct open_use){turn, op->group_id, end_ns, others_end_ns};
	}
}

static struct vote vote_on(const struct kind *kind)
{
	struct vote vote = {.op_id = kind->op_id, .group_id = kind->group_id};
	for (size_t t = 0; t < FSL_LAUNCHED_TURNS_MAX; t++) {
		const struct turn *turn = &kind->turns[t];
		vote.n_turns += 2 * turn->n > kind->turns[0].n;
		if (turn->n >= FSL_SPAN_STEPS_MIN) {
			double least = FSL_LAUNCHED_STEADY_SHARE * (double)(turn->n - 1);
			vote.is_free |= (uint64_t)((double)turn->n_others > least) << t;
			vote.is_held |= (uint64_t)((double)turn->n_end > least) << t;
		}
	}
	return vote;
}

/* Lets the operators of a rank pass by, as many as tell. False: it has one communicator, or sends.
 */
static bool pass_ops(struct bench *bench, const struct fsl_run *run, const struct fsl_cuts *cuts,
		     size_t r)
{
	const struct fsl_rank *rank = &run->ranks[r];
	size_t step = SIZE_MAX, last_step = SIZE_MAX, n_steps = 0;
	bench->n_kinds = bench->n_streams = bench->n_open = 0;
	bench->has_p2p = false;
	for (size_t i = 0; i < rank->n_ops && n_steps <= FSL_LAUNCHED_STEPS_MAX && !bench->has_p2p;
	     i++) {
		const struct fsl_op *op = &rank->ops[i];
		fsl_op_fetch_ahead(op);
		step = fsl_cuts_step_after(cuts, r, i, step);
		n_steps += step != last_step;
		last_step = step;
		if (n_steps > FSL_LAUNCHED_STEPS_OF_ONE && bench->n_streams < 2) {
			return false;
		}
		pass_op(bench, kind_of(bench, run, op), op, step);
	}
	return bench->n_streams > 1 && !bench->has_p2p;
}

static enum fsl_status judge_rank(struct votes *votes, struct bench *bench,
				  const struct fsl_run *run, const struct fsl_cuts *cuts, size_t r)
{
	if (!pass_ops(bench, run, cuts, r)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(votes->items, votes->capacity, bench->n_kinds, NULL));
	for (size_t k = 0; k < bench->n_kinds; k++) {
		votes->items[votes->n++] = vote_on(&bench->kinds[k]);
	}
	return FSL_OK;
}

static int compare_ids(uint32_t group_a, uint32_t op_a, uint32_t group_b, uint32_t op_b)
{
	FSL_ORDER_BY(group_a, group_b);
	return FSL_ORDER(op_a, op_b);
}

static int compare_votes(const void *left, const void *right)
{
	const struct vote *a = left, *b = right;
	return compare_ids(a->group_id, a->op_id, b->group_id, b->op_id);
}

static int compare_kinds(const void *left, const void *right)
{
	const struct fsl_launched_kind *a = left, *b = right;
	return compare_ids(a->group_id, a->op_id, b->group_id, b->op_id);
}

/* The vote of most of the @n ranks that can tell about one operator. Without a free turn, it is not
 * launched ahead. */
static struct fsl_launched_kind elect(const struct vote *votes, size_t n)
{
	struct fsl_launched_kind kind = {.op_id = votes->op_id, .group_id = votes->group_id};
	size_t n_free_turns = 0, n_held_turns = 0;
	for (size_t i = 0; i < n; i++) {
		kind.n_turns = votes[i].n_turns > kind.n_turns ? votes[i].n_turns : kind.n_turns;
	}
	for (size_t t = 0; t < kind.n_turns; t++) {
		size_t n_free = 0, n_held = 0;
		for (size_t i = 0; i < n; i++) {
			n_free += votes[i].is_free >> t & 1;
			n_held += votes[i].is_held >> t & 1;
		}
		bool is_free = n_free > n_held && FSL_LAUNCHED_QUORUM * n_free > n;
		kind.free_turns |= (uint64_t)is_free << t;
		n_free_turns += is_free;
		n_held_turns += n_held > 0 && n_held >= n_free;
	}
	if (n_held_turns > FSL_LAUNCHED_HELD_MAX * n_free_turns) {
		kind.free_turns = 0;
	}
	return kind;
}

/* @votes: all of them, sorted by operator. */
static enum fsl_status count_votes(struct fsl_launched *out, const struct vote *votes, size_t n,
				   struct fsl_error *err)
{
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		while (end < n && compare_votes(&votes[begin], &votes[end]) == 0) {
			end++;
		}
		struct fsl_launched_kind kind = elect(votes + begin, end - begin);
		FSL_ASSERT(kind.n_turns <= FSL_LAUNCHED_TURNS_MAX);
		if (kind.free_turns == 0) {
			continue;
		}
		FSL_TRY(FSL_GROW(out->kinds, out->capacity, out->n_kinds + 1, err));
		FSL_ASSERT(out->n_kinds == 0 ||
			   compare_kinds(&out->kinds[out->n_kinds - 1], &kind) < 0);
		out->kinds[out->n_kinds++] = kind;
	}
	return FSL_OK;
}

/* All votes, sorted by operator. */
static enum fsl_status gather(struct fsl_launched *out, const struct votes *votes, size_t n_ranks,
			      struct fsl_error *err)
{
	struct vote *all = NULL;
	size_t n = 0, capacity = 0;
	for (size_t r = 0; r < n_ranks; r++) {
		n += votes[r].n;
	}
	enum fsl_status status = FSL_GROW(all, capacity, n, err);
	if (status == FSL_OK && n > 0) {
		n = 0;
		for (size_t r = 0; r < n_ranks; r++) {
			for (size_t i = 0; i < votes[r].n; i++) {
				all[n++] = votes[r].items[i];
			}
		}
		qsort(all, n, sizeof(*all), compare_votes);
		status = count_votes(out, all, n, err);
	}
	fsl_free(all);
	return status;
}

enum fsl_status fsl_launched_find(struct fsl_launched *out, const struct fsl_run *run,
				  const struct fsl_cuts *cuts, struct fsl_error *err)
{
	*out = (struct fsl_launched){.kinds = NULL};
	struct votes *votes = fsl_calloc(run->n_ranks + 1, sizeof(*votes));
	bool is_short = votes == NULL;
#pragma omp parallel reduction(|| : is_short)
	{
		struct fsl_arena arena = {0};
		struct bench *bench = fsl_arena_take(&arena, sizeof(*bench));
		is_short = bench == NULL || votes == NULL; /* of this thread */
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t r = 0; r < run->n_ranks; r++) {
			is_short = is_short || judge_rank(&votes[r], bench, run, cuts, r) != FSL_OK;
		}
		fsl_arena_fini(&arena);
	}
	enum fsl_status status =
		is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", run->n_ranks)
			 : gather(out, votes, run->n_ranks, err);
	for (size_t r = 0; r < run->n_ranks && votes != NULL; r++) {
		fsl_free(votes[r].items);
	}
	fsl_free(votes);
	return status;
}

const struct fsl_launched_kind *fsl_launched_of(const struct fsl_launched *launched, uint32_t op_id,
						uint32_t group_id)
{
	const struct fsl_launched_kind kind = {.op_id = op_id, .group_id = group_id};
	return launched->n_kinds > 0 ? bsearch(&kind, launched->kinds, launched->n_kinds,
					       sizeof(*launched->kinds), compare_kinds)
				     : NULL;
}

bool fsl_launched_is_free(const struct fsl_launched_kind *kind, size_t turn, size_t n_uses)
{
	size_t n_lost = n_uses < kind->n_turns ? kind->n_turns - n_uses : 0;
	bool is_free = turn + n_lost < FSL_LAUNCHED_TURNS_MAX;
	for (size_t t = turn; t <= turn + n_lost && is_free; t++) {
		is_free = (kind->free_turns >> t & 1) != 0;
	}
	return is_free;
}

void fsl_launched_fini(struct fsl_launched *launched)
{
	fsl_free(launched->kinds);
	*launched = (struct fsl_launched){.kinds = NULL};
}
