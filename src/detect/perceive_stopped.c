/* Tells which ranks stopped first when a job hangs. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "detect/perceive_parts.h"

/* Ranks whose last events lie closer together than this (ms) stopped together. */
static const double TOGETHER_MS = 1000.0;

bool fsl_perceive_holds_steps_alone(const struct fsl_run *run)
{
	size_t n_steps = 0, n_others = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n_steps += run->ranks[r].n_steps;
		n_others += run->ranks[r].n_ops + run->ranks[r].n_stages;
	}
	return n_steps > 0 && n_others == 0;
}

/* True if the rank has used one of the sorted @groups. */
static bool is_member_of(const struct fsl_rank *rank, const uint32_t *groups, size_t n_groups)
{
	for (size_t i = rank->n_ops; i-- > 0;) {
		if (bsearch(&rank->ops[i].group_id, groups, n_groups, sizeof(*groups),
			    fsl_compare_u32) != NULL) {
			return true;
		}
	}
	return false;
}

/*
 * Finds ranks that other ranks wait for: they are members of a communicator in which some rank
 * waits in an open operator, and have no open operator themselves. A rank that waits elsewhere is a
 * victim, too. If more ranks are awaited than wait, the last rows of most files were never written,
 * and nothing is found.
 */
static size_t find_awaited(const struct fsl_run *run, uint32_t *groups, int32_t *ranks)
{
	size_t n_groups = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (fsl_rank_waits(&run->ranks[r]) && run->ranks[r].open_group_id != FSL_STR_NONE) {
			groups[n_groups++] = run->ranks[r].open_group_id;
		}
	}
	qsort(groups, n_groups, sizeof(*groups), fsl_compare_u32);
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks && n_groups > 0; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (!fsl_rank_waits(rank) && is_member_of(rank, groups, n_groups)) {
			ranks[n++] = rank->rank;
		}
	}
	return n <= n_groups ? n : 0;
}

/* How many operators the members of a communicator ended, of those that ended any. */
struct ended {
	uint32_t least, second; /* UINT32_MAX: nobody's */
	size_t least_rank;
};

/* The communicators in which ranks wait, each with a slot. */
struct waited {
	uint32_t *slot_of;   /* by name; 0: nobody waits in it */
	uint32_t *n_ended;   /* by slot, of one rank at a time; 0 between ranks */
	uint32_t *n_mine;    /* by rank: in the communicator that it waits in */
	struct ended *ended; /* by slot */
	size_t n_slots;      /* slot 0 too */
};

static enum fsl_status make_waited(struct waited *waited, const struct fsl_run *run,
				   struct fsl_arena *scratch, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names);
	FSL_TRY(FSL_ARENA_NEW(waited->slot_of, scratch, n_names, "groups", err));
	FSL_TRY(FSL_ARENA_NEW(waited->n_ended, scratch, run->n_ranks + 1, "groups", err));
	FSL_TRY(FSL_ARENA_NEW(waited->n_mine, scratch, run->n_ranks, "groups", err));
	FSL_TRY(FSL_ARENA_NEW(waited->ended, scratch, run->n_ranks + 1, "groups", err));
	waited->n_slots = 1;
	for (size_t r = 0; r < run->n_ranks; r++) {
		uint32_t group_id = run->ranks[r].open_group_id;
		if (fsl_rank_waits(&run->ranks[r]) && group_id != FSL_STR_NONE &&
		    waited->slot_of[group_id] == 0) {
			waited->ended[waited->n_slots] =
				(struct ended){UINT32_MAX, UINT32_MAX, SIZE_MAX};
			waited->slot_of[group_id] = (uint32_t)waited->n_slots++;
		}
	}
	return FSL_OK;
}

static void add_ended(struct ended *ended, size_t r, uint32_t n)
{
	if (n < ended->least) {
		ended->second = ended->least;
		ended->least = n;
		ended->least_rank = r;
	} else if (n < ended->second) {
		ended->second = n;
	}
}

/* Counts the operators that ended on the device of a rank. */
static void count_ended(struct waited *waited, const struct fsl_run *run, size_t r)
{
	const struct fsl_rank *rank = &run->ranks[r];
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		uint32_t slot = op->group_id != FSL_STR_NONE ? waited->slot_of[op->group_id] : 0;
		waited->n_ended[slot] += op->dev_begin_ns != FSL_NS_ABSENT;
	}
	if (rank->open_group_id != FSL_STR_NONE) {
		waited->n_mine[r] = waited->n_ended[waited->slot_of[rank->open_group_id]];
	}
	for (size_t i = 0; i < rank->n_ops; i++) {
		uint32_t group_id = rank->ops[i].group_id;
		uint32_t slot = group_id != FSL_STR_NONE ? waited->slot_of[group_id] : 0;
		if (slot > 0 && waited->n_ended[slot] > 0) {
			add_ended(&waited->ended[slot], r, waited->n_ended[slot]);
		}
		waited->n_ended[slot] = 0;
	}
}

/*
 * Finds a minority that seems to wait, in an operator that it launched ahead: the communicator
 * ended more operators on all other members.
 */
static enum fsl_status find_behind(size_t *n_found, int32_t *ranks, const struct fsl_run *run,
				   struct fsl_arena *scratch, struct fsl_error *err)
{
	struct waited waited = {0};
	size_t n = 0;
	*n_found = 0;
	FSL_TRY(make_waited(&waited, run, scratch, err));
	for (size_t r = 0; r < run->n_ranks && waited.n_slots > 1; r++) {
		count_ended(&waited, run, r);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (!fsl_rank_waits(rank) || rank->open_group_id == FSL_STR_NONE) {
			continue;
		}
		const struct ended *ended = &waited.ended[waited.slot_of[rank->open_group_id]];
		uint32_t others = ended->least_rank == r ? ended->second : ended->least;
		if (others != UINT32_MAX && others > waited.n_mine[r]) {
			ranks[n++] = rank->rank;
		}
	}
	*n_found = 2 * n < run->n_ranks ? n : 0;
	return FSL_OK;
}

struct last_event {
	int64_t time_ns;
	int32_t rank;
};

static int compare_events(const void *left, const void *right)
{
	const struct last_event *a = left;
	const struct last_event *b = right;
	FSL_ORDER_BY(a->time_ns, b->time_ns);
	return FSL_ORDER(a->rank, b->rank);
}

/* Finds a minority whose last events lie more than a step before those of all other ranks. */
static size_t find_earlier(const struct fsl_windows *ages, double step_ms,
			   struct last_event *events, int32_t *ranks)
{
	for (size_t m = 0; m < ages->n_members; m++) {
		events[m] = (struct last_event){ages->first_ns[m], ages->ranks[m]};
	}
	qsort(events, ages->n_members, sizeof(*events), compare_events);
	double apart_ns = fmax(TOGETHER_MS, step_ms) * FSL_NS_PER_MS; /* fmax ignores NaN */
	for (size_t n = 1; 2 * n < ages->n_members; n++) {
		if ((double)(events[n].time_ns - events[n - 1].time_ns) > apart_ns) {
			for (size_t i = 0; i < n; i++) {
				ranks[i] = events[i].rank;
			}
			qsort(ranks, n, sizeof(*ranks), fsl_rank_compare);
			return n;
		}
	}
	return 0;
}

enum fsl_status fsl_perceive_stopped_first(struct fsl_perception *out, const struct fsl_run *run,
					   const struct fsl_windows *ages, double step_ms,
					   struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	uint32_t *groups = NULL;
	struct last_event *events = NULL;
	FSL_TRY(FSL_ARENA_NEW(groups, &out->arena, run->n_ranks, "groups", err));
	FSL_TRY(FSL_ARENA_NEW(events, &out->arena, run->n_ranks, "events", err));
	FSL_TRY(FSL_ARENA_NEW(out->stopped_first, &out->arena, run->n_ranks, "stopped_first", err));
	enum fsl_status status = FSL_OK;
	size_t n = find_awaited(run, groups, out->stopped_first);
	if (n == 0) {
		status = find_behind(&n, out->stopped_first, run, &scratch, err);
	}
	if (n == 0 && status == FSL_OK && !fsl_perceive_holds_steps_alone(run)) {
		n = find_earlier(ages, step_ms, events, out->stopped_first);
	}
	out->n_stopped_first = n;
	fsl_arena_fini(&scratch);
	return status;
}
