/* Fused kernels are put side by side by sorting those of all ranks. */
#include "source/ascend/settle_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/comm_kernels.h"
#include "source/ascend/comms.h"

/* A call of a fused kernel. Ids of group and type are those of the settling's own pool. */
struct item {
	uint32_t group, type, rank_idx, call_idx;
	int64_t step, begin_ns;
	int64_t elapse_ns, wait_ns;
};

struct settling {
	struct fsl_profile *profile;
	struct fsl_profile_cluster cluster;
	struct fsl_strpool *names;
	struct item *items;
	size_t n_items, capacity;
};

static bool is_fused(const struct fsl_profile_call *call)
{
	return call->kernels_idx != FSL_STR_NONE;
}

static int compare_places(const struct item *a, const struct item *b)
{
	int order = FSL_ORDER(a->group, b->group);
	order = order != 0 ? order : FSL_ORDER(a->type, b->type);
	return order != 0 ? order : FSL_ORDER(a->step, b->step);
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = compare_places(a, b);
	order = order != 0 ? order : FSL_ORDER(a->rank_idx, b->rank_idx);
	order = order != 0 ? order : FSL_ORDER(a->begin_ns, b->begin_ns);
	return order != 0 ? order : FSL_ORDER(a->call_idx, b->call_idx);
}

static enum fsl_status list_rank(struct settling *s, size_t r, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &s->profile->ranks[r];
	for (size_t c = 0; c < rank->n_calls; c++) {
		const struct fsl_profile_call *call = &rank->calls[c];
		const char *type = fsl_strpool_text(rank->names, call->type_id);
		char group[FSL_CALL_GROUP_BYTES];
		struct item item = {.rank_idx = (uint32_t)r,
				    .call_idx = (uint32_t)c,
				    .step = call->step,
				    .begin_ns = call->begin_ns,
				    .elapse_ns = call->elapse_ns};
		if (!is_fused(call)) {
			continue;
		}
		fsl_profile_call_group(group, &s->cluster, rank, type);
		FSL_TRY(fsl_strpool_intern(s->names, group, strlen(group), &item.group, err));
		FSL_TRY(fsl_strpool_intern(s->names, type, strlen(type), &item.type, err));
		FSL_TRY(FSL_GROW(s->items, s->capacity, s->n_items + 1, err));
		s->items[s->n_items++] = item;
	}
	return FSL_OK;
}

/* Calls of one type in one step: of each rank the same number, rank by rank. */
static void meet(struct item *items, size_t n, size_t n_each)
{
	for (size_t i = 0; i < n_each; i++) {
		int64_t shortest_ns = INT64_MAX;
		for (size_t at = i; at < n; at += n_each) {
			int64_t ns = items[at].elapse_ns;
			shortest_ns = ns < shortest_ns ? ns : shortest_ns;
		}
		for (size_t at = i; at < n; at += n_each) {
			items[at].wait_ns = items[at].elapse_ns - shortest_ns;
		}
	}
}

/* Number of calls of each rank; 0 if ranks differ. */
static size_t count_each(const struct item *items, size_t n)
{
	size_t n_each = 0;
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		while (end < n && items[end].rank_idx == items[begin].rank_idx) {
			end++;
		}
		if (begin > 0 && end - begin != n_each) {
			return 0;
		}
		n_each = end - begin;
	}
	return n_each;
}

static void meet_all(struct settling *s)
{
	for (size_t begin = 0, end = 0; begin < s->n_items; begin = end) {
		while (end < s->n_items && compare_places(&s->items[begin], &s->items[end]) == 0) {
			end++;
		}
		size_t n_each = count_each(s->items + begin, end - begin);
		if (n_each > 0) {
			meet(s->items + begin, end - begin, n_each);
		}
	}
}

/* The row of a step; the only row if one side has no numbers. NULL: none. */
static struct fsl_profile_step *row_of(struct fsl_profile_step *rows, size_t n, int64_t step)
{
	for (size_t i = 0; i < n; i++) {
		bool is_only =
			n == 1 && (step == FSL_STEP_ABSENT || rows[i].step == FSL_STEP_ABSENT);
		if (rows[i].step == step || is_only) {
			return &rows[i];
		}
	}
	return NULL;
}

static void move(struct fsl_profile_step *row, int64_t ns)
{
	if (row != NULL && row->computing_ns >= 0) {
		row->moved_ns = fsl_sum_i64(row->moved_ns, ns);
		row->found_ns = fsl_sum_i64(row->found_ns, ns);
	}
}

static void take_wait(struct fsl_profile_rank *rank, const struct item *item)
{
	const struct fsl_profile_call *call = &rank->calls[item->call_idx];
	struct fsl_profile_kernels *kernels = &rank->kernels[call->kernels_idx];
	int64_t alone_ns = item->wait_ns < call->alone_ns ? item->wait_ns : call->alone_ns;
	kernels->total_ns -= item->wait_ns < kernels->total_ns ? item->wait_ns : kernels->total_ns;
	move(row_of(rank->steps, rank->n_steps, call->step), alone_ns);
	move(row_of(rank->traced, rank->n_traced, call->step), alone_ns);
	move(row_of(rank->rebuilt, rank->n_rebuilt, call->step), alone_ns);
}

static int64_t distance(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

/* Steps of the profiler, or of its trace, that count communication on AI CPUs as computing: their
 * computing is that of the kernels with it, rather than without. */
static void correct_told(const struct fsl_profile_rank *rank, struct fsl_profile_step *rows,
			 size_t n)
{
	for (size_t i = 0; i < rank->n_rebuilt; i++) {
		const struct fsl_profile_step *rebuilt = &rank->rebuilt[i];
		struct fsl_profile_step *told = row_of(rows, n, rebuilt->step);
		if (told == NULL || rebuilt->moved_ns == 0 || told->computing_ns < 0) {
			continue;
		}
		int64_t without_ns = rebuilt->computing_ns - rebuilt->moved_ns;
		if (distance(told->computing_ns, rebuilt->computing_ns) <
		    distance(told->computing_ns, without_ns)) {
			told->moved_ns = rebuilt->moved_ns;
			told->found_ns = rebuilt->found_ns;
		}
	}
}

static enum fsl_status make_operators(struct fsl_profile_rank *rank, struct fsl_error *err)
{
	bool has_operators = rank->n_comms > 0;
	for (size_t c = 0; c < rank->n_calls; c++) {
		const struct fsl_profile_call *call = &rank->calls[c];
		if (has_operators && !is_fused(call)) {
			continue;
		}
		FSL_TRY(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, err));
		rank->comms[rank->n_comms++] =
			(struct fsl_profile_comm){.step = call->step,
						  .name_id = call->type_id,
						  .group_id = FSL_STR_NONE,
						  .is_kernel = true,
						  .begin_ns = call->begin_ns,
						  .elapse_ns = call->elapse_ns,
						  .transit_ns = FSL_NS_ABSENT,
						  .wait_ns = FSL_NS_ABSENT,
						  .sync_ns = FSL_NS_ABSENT,
						  .idle_ns = FSL_NS_ABSENT};
	}
	if (rank->n_calls > 0) {
		fsl_profile_sort_comms(rank);
	}
	return FSL_OK;
}

static enum fsl_status settle(struct settling *s, struct fsl_error *err)
{
	struct fsl_profile *profile = s->profile;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		FSL_TRY(list_rank(s, r, err));
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		correct_told(rank, rank->steps, rank->n_steps);
		correct_told(rank, rank->traced, rank->n_traced);
	}
	if (s->n_items > 0) {
		qsort(s->items, s->n_items, sizeof(*s->items), compare_items);
		meet_all(s);
	}
	for (size_t i = 0; i < s->n_items; i++) {
		take_wait(&profile->ranks[s->items[i].rank_idx], &s->items[i]);
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		FSL_TRY(make_operators(&profile->ranks[r], err));
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_settle_calls(struct fsl_profile *profile, struct fsl_error *err)
{
	struct settling s = {.profile = profile};
	size_t n_moved = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_moved += profile->ranks[r].n_calls;
		for (size_t i = 0; i < profile->ranks[r].n_rebuilt; i++) {
			n_moved += profile->ranks[r].rebuilt[i].moved_ns > 0 ? 1 : 0;
		}
	}
	if (n_moved == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_profile_cluster_build(&s.cluster, profile, err));
	s.names = fsl_strpool_create();
	enum fsl_status status = s.names != NULL
					 ? settle(&s, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
						    profile->n_ranks);
	fsl_free(s.items);
	fsl_strpool_destroy(s.names);
	fsl_profile_cluster_fini(&s.cluster);
	return status;
}
