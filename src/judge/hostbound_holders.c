/* Who held the CPUs that a rank waited for, by process name. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "judge/hostbound_parts.h"
#include "judge/limits.h"

const char *const fsl_holder_kind_texts[FSL_HOLDER_KINDS_N] = {
	[FSL_HOLDER_PROCESS] = "process", [FSL_HOLDER_RANK] = "rank",   [FSL_HOLDER_OWN] = "own",
	[FSL_HOLDER_KERNEL] = "kernel",   [FSL_HOLDER_QUOTA] = "quota", [FSL_HOLDER_IDLE] = "idle",
	[FSL_HOLDER_UNKNOWN] = "unknown",
};

enum { GROUPS_MAX = 1024 };

struct groups {
	const struct fsl_sched *sched;
	int32_t rank; /* victim, index */
	struct fsl_hostbound_holder *items;
	size_t n_items, items_capacity;
	bool leaves_out; /* the trace does not have all switches */
};

/* Loses the CPU more often than it gives it away. */
static bool is_hungry(const struct fsl_sched_thread *thread)
{
	double n = (double)(thread->n_voluntary + thread->n_involuntary);
	return (double)thread->n_involuntary >= FSL_JUDGE_HUNGRY_SHARE_MIN * n && n > 0.0;
}

static enum fsl_holder_kind kind_of(const struct fsl_sched *sched, int32_t rank, int32_t holder)
{
	if (holder == FSL_SCHED_HOLDER_IDLE) {
		return FSL_HOLDER_IDLE;
	}
	if (holder == FSL_SCHED_HOLDER_QUOTA) {
		return FSL_HOLDER_QUOTA;
	}
	if (holder < 0) {
		return FSL_HOLDER_UNKNOWN;
	}
	const struct fsl_sched_thread *thread = &sched->threads[holder];
	if (rank >= 0 && thread->rank == rank) {
		return FSL_HOLDER_OWN;
	}
	return thread->rank >= 0   ? FSL_HOLDER_RANK
	       : thread->is_kernel ? FSL_HOLDER_KERNEL
				   : FSL_HOLDER_PROCESS;
}

/* Own threads are one holder, whatever their processes are called. */
static bool is_it(const struct fsl_hostbound_holder *holder, enum fsl_holder_kind kind,
		  int32_t rank, const char *name)
{
	return holder->kind == kind && holder->rank == rank &&
	       (kind == FSL_HOLDER_OWN || strcmp(holder->name, name) == 0);
}

/* The group of a holder; groups beyond GROUPS_MAX are unknown. */
static enum fsl_status group_of(struct groups *groups, int32_t holder,
				struct fsl_hostbound_holder **out, struct fsl_error *err)
{
	const struct fsl_sched *sched = groups->sched;
	enum fsl_holder_kind kind = kind_of(sched, groups->rank, holder);
	const struct fsl_sched_thread *leader =
		holder >= 0 ? &sched->threads[sched->threads[holder].process] : NULL;
	int32_t rank =
		kind == FSL_HOLDER_RANK ? sched->ranks[sched->threads[holder].rank].rank : -1;
	const char *name = leader == NULL ? "" : leader->comm;
	for (size_t i = 0; i < groups->n_items; i++) {
		struct fsl_hostbound_holder *item = &groups->items[i];
		if (is_it(item, kind, rank, name)) {
			*out = item;
			return FSL_OK;
		}
	}
	if (groups->n_items >= GROUPS_MAX) {
		return group_of(groups, FSL_SCHED_HOLDER_UNKNOWN, out, err);
	}
	const struct fsl_hostbound_holder fresh = {
		.kind = kind, .rank = rank, .name = name, .cpu = -1};
	FSL_TRY(FSL_APPEND(groups, items, &fresh, err));
	*out = &groups->items[groups->n_items - 1];
	return FSL_OK;
}

/* The process that the holder belongs to is named once. */
static void add_tid(struct fsl_hostbound_holder *item, const struct fsl_sched *sched,
		    int32_t holder)
{
	int32_t tid = sched->threads[sched->threads[holder].process].tid;
	for (size_t i = 0; i < item->n_tids; i++) {
		if (item->tids[i] == tid) {
			return;
		}
	}
	if (item->n_tids < FSL_HOSTBOUND_TIDS_MAX) {
		item->tids[item->n_tids++] = tid;
	} else {
		item->has_more_tids = true;
	}
}

static bool leaves_out_switches(const struct fsl_sched *sched)
{
	return (double)sched->n_breaks > FSL_JUDGE_LEFT_OUT_SHARE_MIN * (double)sched->n_switches;
}

/* If switches are left out, only threads that compute as long as they may are believed to have held
 * the CPU from one switch of theirs to the next. */
static int32_t believed(const struct fsl_sched *sched, bool leaves_out, int32_t holder)
{
	bool is_doubted = leaves_out && holder >= 0 && sched->threads[holder].rank < 0 &&
			  !is_hungry(&sched->threads[holder]);
	return is_doubted ? FSL_SCHED_HOLDER_UNKNOWN : holder;
}

static enum fsl_status add_seen(struct groups *groups, const struct fsl_sched_pair *pair,
				struct fsl_error *err)
{
	struct fsl_hostbound_holder *item = NULL;
	int32_t holder = believed(groups->sched, groups->leaves_out, pair->holder);
	FSL_TRY(group_of(groups, holder, &item, err));
	item->seen_ns += pair->ns;
	if (holder >= 0) {
		add_tid(item, groups->sched, holder);
	}
	if (pair->ns > item->cpu_ns) {
		item->cpu = pair->cpu;
		item->cpu_ns = pair->ns;
	}
	return FSL_OK;
}

/* A gap whose end is a thread that computes as long as it may was mostly that thread's, or that of
 * others with its name. That thread; FSL_SCHED_HOLDER_UNKNOWN: there is none. */
static int32_t likely_of(const struct fsl_sched *sched, int32_t rank, int32_t from, int32_t to)
{
	int32_t ends[2] = {to, from};
	for (size_t i = 0; i < 2; i++) {
		const struct fsl_sched_thread *end = ends[i] >= 0 ? &sched->threads[ends[i]] : NULL;
		bool is_own = end != NULL && rank >= 0 && end->rank == rank;
		if (end != NULL && !is_own && !end->is_kernel && is_hungry(end)) {
			return ends[i];
		}
	}
	return FSL_SCHED_HOLDER_UNKNOWN;
}

static enum fsl_status add_likely(struct groups *groups, const struct fsl_sched_pair *pair,
				  struct fsl_error *err)
{
	const struct fsl_sched *sched = groups->sched;
	struct fsl_hostbound_holder *item = NULL, *unknown = NULL;
	int32_t holder = likely_of(sched, groups->rank, pair->cpu, pair->holder);
	if (holder < 0) {
		return FSL_OK;
	}
	FSL_TRY(group_of(groups, holder, &item, err));
	item->likely_ns += pair->ns;
	add_tid(item, sched, holder);
	FSL_TRY(group_of(groups, FSL_SCHED_HOLDER_UNKNOWN, &unknown, err));
	unknown->seen_ns -= pair->ns;
	return FSL_OK;
}

static int compare_holders(const void *left, const void *right)
{
	const struct fsl_hostbound_holder *a = left, *b = right;
	FSL_ORDER_BY(b->seen_ns + b->likely_ns, a->seen_ns + a->likely_ns);
	FSL_ORDER_BY(a->kind, b->kind);
	return strcmp(a->name, b->name);
}

/* Whether the pair is of the thread that waited longest in a step that counts. */
static bool is_counted_pair(const struct fsl_sched_pair *pair, const struct fsl_sched *sched,
			    int32_t rank, const bool *is_counted)
{
	return sched->threads[pair->victim].rank == rank && pair->step >= 0 &&
	       is_counted[pair->step] &&
	       sched->ranks[rank].cells[pair->step].longest_waiter == pair->victim;
}

static enum fsl_status collect(struct groups *groups, const bool *is_counted, int64_t *sum_ns,
			       struct fsl_error *err)
{
	const struct fsl_sched *sched = groups->sched;
	for (size_t i = 0; i < sched->step_pairs.n_items; i++) {
		const struct fsl_sched_pair *pair = &sched->step_pairs.items[i];
		if (is_counted_pair(pair, sched, groups->rank, is_counted)) {
			*sum_ns += pair->ns;
			FSL_TRY(add_seen(groups, pair, err));
		}
	}
	for (size_t i = 0; i < sched->gaps.n_items; i++) {
		const struct fsl_sched_pair *pair = &sched->gaps.items[i];
		if (is_counted_pair(pair, sched, groups->rank, is_counted)) {
			FSL_TRY(add_likely(groups, pair, err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_hostbound_find_holders(struct fsl_hostbound_rank *rank,
					   const struct fsl_sched *sched, const bool *is_counted,
					   struct fsl_error *err)
{
	struct groups groups = {.sched = sched, .rank = rank->index};
	groups.leaves_out = leaves_out_switches(sched);
	rank->high_wait_ns = 0;
	enum fsl_status status = collect(&groups, is_counted, &rank->high_wait_ns, err);
	if (status == FSL_OK && groups.n_items > 0) {
		qsort(groups.items, groups.n_items, sizeof(*groups.items), compare_holders);
		rank->n_holders = groups.n_items < FSL_HOSTBOUND_HOLDERS_MAX
					  ? groups.n_items
					  : FSL_HOSTBOUND_HOLDERS_MAX;
		memcpy(rank->holders, groups.items, rank->n_holders * sizeof(*rank->holders));
	}
	fsl_free(groups.items);
	return status;
}

const struct fsl_hostbound_holder *fsl_hostbound_main_holder(const struct fsl_hostbound_rank *rank)
{
	for (size_t i = 0; i < rank->n_holders; i++) {
		enum fsl_holder_kind kind = rank->holders[i].kind;
		if (kind == FSL_HOLDER_PROCESS || kind == FSL_HOLDER_RANK ||
		    kind == FSL_HOLDER_KERNEL) {
			return &rank->holders[i];
		}
	}
	return NULL;
}

int32_t fsl_hostbound_holder_of(const struct fsl_sched *sched, int32_t rank,
				const struct fsl_hostbound_slice *slice, bool *is_likely)
{
	*is_likely = false;
	if (slice->holder != FSL_SCHED_HOLDER_UNKNOWN) {
		return believed(sched, leaves_out_switches(sched), slice->holder);
	}
	if (slice->gap_to == FSL_SCHED_HOLDER_UNKNOWN) {
		return FSL_SCHED_HOLDER_UNKNOWN;
	}
	int32_t holder = likely_of(sched, rank, slice->gap_from, slice->gap_to);
	*is_likely = holder >= 0;
	return holder;
}

bool fsl_hostbound_holds(const struct fsl_hostbound_holder *holder, const struct fsl_sched *sched,
			 int32_t rank, int32_t thread)
{
	enum fsl_holder_kind kind = kind_of(sched, rank, thread);
	const struct fsl_sched_thread *own = &sched->threads[thread];
	int32_t number = kind == FSL_HOLDER_RANK ? sched->ranks[own->rank].rank : -1;
	return is_it(holder, kind, number, sched->threads[own->process].comm);
}
