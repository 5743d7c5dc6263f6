/* Lists the channels of a run: operators by communicator, operator name and member. */
#include "match/channel.h"

#include <omp.h>
#include <string.h>

#include "base/log.h"
#include "match/topology_parts.h"

/*
 * Slots of a run: each rank's operators sorted by communicator and operator name, in two passes
 * over the operators of a rank, the second while they are in the cache. Everything that matches
 * reads slots, which hold what it asks for side by side.
 */
#define NO_SLOT UINT32_MAX

/* The slots of one rank, in order of first use. */
struct rank_slots {
	struct fsl_slot *items;
	size_t n, capacity;
	uint32_t *op_idx; /* [n_ops], what the slots point into; likewise: */
	int64_t *end_ns, *dur_ns;
	bool is_short; /* of memory */
};

/* Tables of one thread that sorts the operators of a rank. */
struct sorter {
	const size_t *group_of; /* per name, SIZE_MAX: no group */
	size_t n_names;
	uint32_t *head; /* per group: first slot of the rank in it; NO_SLOT between two ranks */
	uint32_t *next; /* per slot: the next one of its group */
	size_t next_capacity;
	uint32_t *slot_of; /* per operator: its slot */
	size_t slot_of_capacity;
};

/* Communicator name -> group index; SIZE_MAX: the topology has none. */
static size_t *map_names(struct fsl_arena *arena, const struct fsl_run *run,
			 const struct fsl_topology *topology)
{
	size_t n_names = fsl_strpool_size(run->names);
	size_t *group_of = fsl_arena_alloc(arena, (n_names + 1) * sizeof(*group_of));
	if (group_of == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < n_names; i++) {
		group_of[i] = SIZE_MAX;
	}
	for (size_t g = topology->n_groups; g-- > 0;) {
		uint32_t name_id = topology->groups[g].name_id;
		if (name_id < n_names && topology->groups[g].n_ranks >= 2) {
			group_of[name_id] = g;
		}
	}
	return group_of;
}

/* Slot of the operator @op_id in group @g, a new one at its first use; NO_SLOT for one operator too
 * many or, with out->is_short, without memory. */
static uint32_t slot_of(struct sorter *sorter, struct rank_slots *out, size_t g, uint32_t op_id)
{
	size_t n_others = 0;
	uint32_t last = NO_SLOT;
	for (uint32_t k = sorter->head[g]; k != NO_SLOT; k = sorter->next[k]) {
		if (out->items[k].op_id == op_id) {
			return k;
		}
		last = k;
		n_others++;
	}
	if (n_others == FSL_OPS_PER_GROUP_MAX) {
		return NO_SLOT;
	}
	if (FSL_GROW(out->items, out->capacity, out->n + 1, NULL) != FSL_OK ||
	    FSL_GROW(sorter->next, sorter->next_capacity, out->n + 1, NULL) != FSL_OK) {
		out->is_short = true;
		return NO_SLOT;
	}
	uint32_t slot = (uint32_t)out->n++;
	*(last == NO_SLOT ? &sorter->head[g] : &sorter->next[last]) = slot;
	sorter->next[slot] = NO_SLOT;
	out->items[slot] = (struct fsl_slot){.group_idx = g, .op_id = op_id};
	return slot;
}

/*
 * Finds the slot of every operator of a rank. Only operators with device times count when
 * @needs_device. Returns how many have device times.
 */
static size_t find_slots(struct sorter *sorter, struct rank_slots *out, const struct fsl_rank *rank,
			 bool needs_device)
{
	size_t n_device = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		fsl_op_fetch_ahead(op);
		bool has_device = op->dev_begin_ns != FSL_NS_ABSENT;
		bool is_usable = (has_device || !needs_device) && op->group_id < sorter->n_names;
		size_t g = is_usable ? sorter->group_of[op->group_id] : SIZE_MAX;
		uint32_t slot = g != SIZE_MAX ? slot_of(sorter, out, g, op->op_id) : NO_SLOT;
		n_device += has_device;
		sorter->slot_of[i] = slot;
		if (slot != NO_SLOT) {
			out->items[slot].n++;
		}
	}
	return n_device;
}

static void forget_groups(struct sorter *sorter, const struct rank_slots *out)
{
	for (size_t k = 0; k < out->n; k++) {
		sorter->head[out->items[k].group_idx] = NO_SLOT;
	}
}

/* Appends an operator, with its times as slots hold them. */
static void add_op(struct fsl_slot *slot, const struct fsl_rank *rank, size_t op_idx)
{
	const struct fsl_op *op = &rank->ops[op_idx];
	FSL_ASSERT(slot->n == 0 || slot->op_idx[slot->n - 1] < op_idx);
	slot->op_idx[slot->n] = (uint32_t)op_idx;
	slot->end_ns[slot->n] = fsl_op_end_ns(op);
	slot->dur_ns[slot->n] = slot->end_ns[slot->n] - fsl_op_begin_ns(op);
	slot->n++;
}

/*
 * The slots of one rank. If most of its operators have device times, an operator that lost its own
 * is no better than lost: the host is far ahead of the device, so it seems to end too early.
 */
static void sort_rank(struct sorter *sorter, struct rank_slots *out, const struct fsl_rank *rank,
		      size_t rank_idx)
{
	size_t n_ops = rank->n_ops, n_before = 0;
	if (FSL_GROW(sorter->slot_of, sorter->slot_of_capacity, n_ops, NULL) != FSL_OK) {
		out->is_short = true;
		return;
	}
	size_t n_device = find_slots(sorter, out, rank, true);
	if (2 * n_device <= n_ops) {
		forget_groups(sorter, out);
		out->n = 0;
		(void)find_slots(sorter, out, rank, false);
	}
	for (size_t k = 0; k < out->n; k++) {
		struct fsl_slot *slot = &out->items[k];
		slot->rank_idx = (uint32_t)rank_idx;
		slot->op_idx = out->op_idx + n_before;
		slot->end_ns = out->end_ns + n_before;
		slot->dur_ns = out->dur_ns + n_before;
		n_before += slot->n;
		slot->n = 0;
	}
	FSL_ASSERT(n_before <= n_ops);
	for (size_t i = 0; i < n_ops; i++) {
		if (sorter->slot_of[i] != NO_SLOT) {
			add_op(&out->items[sorter->slot_of[i]], rank, i);
		}
	}
	forget_groups(sorter, out);
}

/* Ranks on threads; each fills its own place. */
static void sort_ranks(struct rank_slots *ranks, const struct fsl_run *run, const size_t *group_of,
		       size_t n_groups)
{
#pragma omp parallel
	{
		struct sorter sorter = {.group_of = group_of,
					.n_names = fsl_strpool_size(run->names),
					.head = fsl_calloc(n_groups + 1, sizeof(*sorter.head))};
		if (sorter.head != NULL) {
			memset(sorter.head, 0xff, n_groups * sizeof(*sorter.head));
		}
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t k = 0; k < run->n_ranks; k++) {
			size_t r = fsl_mem_turn(k, run->n_ranks, (size_t)omp_get_num_threads());
			ranks[r].is_short = sorter.head == NULL;
			if (!ranks[r].is_short) {
				sort_rank(&sorter, &ranks[r], &run->ranks[r], r);
			}
		}
		fsl_free(sorter.head);
		fsl_free(sorter.next);
		fsl_free(sorter.slot_of);
	}
}

/* Brings the slots of all ranks into order of group, rank, first use. */
static bool merge_ranks(struct fsl_listing *out, const struct rank_slots *ranks, size_t n_ranks)
{
	size_t n_slots = 0;
	bool is_short = false;
	for (size_t r = 0; r < n_ranks; r++) {
		n_slots += ranks[r].n;
		is_short |= ranks[r].is_short;
	}
	size_t n_places = out->n_groups + 2;
	out->slot_begin = fsl_arena_alloc(&out->arena, n_places * sizeof(*out->slot_begin));
	out->slots = fsl_arena_alloc(&out->arena, n_slots * sizeof(*out->slots));
	if (is_short || out->slot_begin == NULL || out->slots == NULL) {
		return false;
	}
	for (size_t r = 0; r < n_ranks; r++) {
		for (size_t k = 0; k < ranks[r].n; k++) {
			out->slot_begin[ranks[r].items[k].group_idx + 2]++;
		}
	}
	for (size_t g = 2; g < n_places; g++) {
		out->slot_begin[g] += out->slot_begin[g - 1];
	}
	for (size_t r = 0; r < n_ranks; r++) {
		for (size_t k = 0; k < ranks[r].n; k++) {
			const struct fsl_slot *slot = &ranks[r].items[k];
			out->slots[out->slot_begin[slot->group_idx + 1]++] = *slot;
		}
	}
	return true;
}

/* Fills slots, slot_begin and n_groups. */
static enum fsl_status build_slots(struct fsl_listing *out, const struct fsl_run *run,
				   const struct fsl_topology *topology, struct fsl_error *err)
{
	size_t n_ops = 0, n_before = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n_ops += run->ranks[r].n_ops;
	}
	out->n_groups = topology->n_groups;
	size_t *group_of = map_names(&out->arena, run, topology);
	/* One block: asking for memory touches a new large page behind it, on one thread. */
	int64_t *end_ns =
		fsl_arena_take(&out->arena, n_ops * (2 * sizeof(*end_ns) + sizeof(uint32_t)));
	int64_t *dur_ns = end_ns != NULL ? end_ns + n_ops : NULL;
	uint32_t *op_idx = end_ns != NULL ? (uint32_t *)(dur_ns + n_ops) : NULL;
	struct rank_slots *ranks = fsl_calloc(run->n_ranks, sizeof(*ranks));
	bool is_done = group_of != NULL && end_ns != NULL && ranks != NULL;
	for (size_t r = 0; r < run->n_ranks && is_done; r++) {
		ranks[r].op_idx = op_idx + n_before;
		ranks[r].end_ns = end_ns + n_before;
		ranks[r].dur_ns = dur_ns + n_before;
		n_before += run->ranks[r].n_ops;
	}
	if (is_done) {
		sort_ranks(ranks, run, group_of, topology->n_groups);
		is_done = merge_ranks(out, ranks, run->n_ranks);
	}
	for (size_t r = 0; r < run->n_ranks && ranks != NULL; r++) {
		fsl_free(ranks[r].items);
	}
	fsl_free(ranks);
	return is_done ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", n_ops);
}

void fsl_slots_read_times(struct fsl_listing *listing, const struct fsl_run *run)
{
	size_t n_slots = listing->slot_begin[listing->n_groups];
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t k = 0; k < n_slots; k++) {
		const struct fsl_slot *slot = &listing->slots[k];
		const struct fsl_op *ops = run->ranks[slot->rank_idx].ops;
		for (size_t i = 0; i < slot->n; i++) {
			const struct fsl_op *op = &ops[slot->op_idx[i]];
			slot->end_ns[i] = fsl_op_end_ns(op);
			slot->dur_ns[i] = slot->end_ns[i] - fsl_op_begin_ns(op);
		}
	}
}

enum fsl_p2p_kind fsl_p2p_kind_from_name(const char *op_name)
{
	if (fsl_op_class_from_name(op_name) != FSL_OP_P2P) {
		return FSL_P2P_KINDS_N;
	}
	if (strcasestr(op_name, "send") == NULL) {
		return FSL_P2P_RECEIVE;
	}
	return strcasestr(op_name, "recv") == NULL ? FSL_P2P_SEND : FSL_P2P_BOTH;
}

enum fsl_p2p_kind fsl_p2p_kind_that_meets(enum fsl_p2p_kind kind)
{
	static const enum fsl_p2p_kind meets[FSL_P2P_KINDS_N] = {
		[FSL_P2P_SEND] = FSL_P2P_RECEIVE,
		[FSL_P2P_RECEIVE] = FSL_P2P_SEND,
		[FSL_P2P_BOTH] = FSL_P2P_BOTH,
	};
	return meets[kind];
}

/* A group while its channels are listed. */
struct group_scan {
	const struct fsl_run *run;
	const struct fsl_slot *slots; /* of this group */
	size_t n_slots;
	size_t group_idx;
	size_t n_members;                       /* present ranks */
	uint32_t op_ids[FSL_OPS_PER_GROUP_MAX]; /* in order of first use */
	uint64_t n_uses_of[FSL_OPS_PER_GROUP_MAX];
	size_t n_op_ids;
};

static void scan_group(struct group_scan *scan)
{
	uint32_t last_rank = UINT32_MAX;
	for (size_t i = 0; i < scan->n_slots; i++) {
		const struct fsl_slot *slot = &scan->slots[i];
		size_t k = 0;
		scan->n_members += slot->rank_idx != last_rank;
		last_rank = slot->rank_idx;
		while (k < scan->n_op_ids && scan->op_ids[k] != slot->op_id) {
			k++;
		}
		if (k == scan->n_op_ids && k < FSL_OPS_PER_GROUP_MAX) {
			scan->op_ids[scan->n_op_ids++] = slot->op_id;
		}
		if (k < scan->n_op_ids) {
			scan->n_uses_of[k] += slot->n;
		}
	}
}

/* The operator that the other end of a pair uses: Receive for Send; the same for all others. */
static uint32_t far_op_id(const struct group_scan *scan, uint32_t op_id)
{
	const struct fsl_strpool *names = scan->run->names;
	enum fsl_p2p_kind kind = fsl_p2p_kind_from_name(fsl_strpool_text(names, op_id));
	for (size_t k = 0; kind < FSL_P2P_BOTH && k < scan->n_op_ids; k++) {
		const char *other = fsl_strpool_text(names, scan->op_ids[k]);
		if (fsl_p2p_kind_from_name(other) == fsl_p2p_kind_that_meets(kind)) {
			return scan->op_ids[k];
		}
	}
	return op_id;
}

/*
 * One channel for @op_id. In pairs the first member's Send meets the other's Receive; every member
 * of a larger group uses the same operator.
 */
static enum fsl_status add_channel(struct fsl_match *out, struct fsl_listing *listing,
				   const struct group_scan *scan, uint32_t op_id,
				   struct fsl_error *err)
{
	struct fsl_uses *uses = &listing->uses[out->n_channels];
	struct fsl_channel *channel = &out->channels[out->n_channels];
	*channel = (struct fsl_channel){.group_idx = scan->group_idx, .op_id = op_id};
	channel->is_p2p =
		fsl_p2p_kind_from_name(fsl_strpool_text(scan->run->names, op_id)) < FSL_P2P_KINDS_N;
	FSL_TRY(FSL_ARENA_NEW(channel->members, &out->arena, scan->n_members, "members", err));
	FSL_TRY(FSL_ARENA_NEW(uses->of, &listing->arena, scan->n_members, "of", err));
	FSL_ASSERT(scan->n_members >= 2);
	uint32_t far_id = channel->is_p2p ? far_op_id(scan, op_id) : op_id;
	for (size_t i = 0; i < scan->n_slots; i++) {
		const struct fsl_slot *slot = &scan->slots[i];
		bool is_first = slot->rank_idx == scan->slots[0].rank_idx;
		if (slot->op_id == (is_first ? op_id : far_id)) {
			channel->members[channel->n_members] = slot->rank_idx;
			FSL_ASSERT(channel->n_members == 0 ||
				   channel->members[channel->n_members - 1] < slot->rank_idx);
			uses->of[channel->n_members++] = slot;
		}
	}
	uses->n_members = channel->n_members;
	out->n_channels += channel->n_members >= 2;
	return FSL_OK;
}

/* Room for every channel that the groups may have. */
static enum fsl_status alloc_channels(struct fsl_match *out, struct fsl_listing *listing,
				      struct fsl_error *err)
{
	size_t n_max = 1;
	for (size_t g = 0; g < listing->n_groups; g++) {
		size_t n_slots = listing->slot_begin[g + 1] - listing->slot_begin[g];
		n_max += n_slots < FSL_OPS_PER_GROUP_MAX ? n_slots : FSL_OPS_PER_GROUP_MAX;
	}
	FSL_TRY(FSL_ARENA_NEW(out->channels, &out->arena, n_max, "channels", err));
	FSL_TRY(FSL_ARENA_NEW(listing->uses, &listing->arena, n_max, "uses", err));
	return FSL_OK;
}

static enum fsl_status list_couples(struct fsl_listing *listing, size_t n_channels,
				    struct fsl_error *err)
{
	size_t n = 0;
	for (size_t c = 0; c < n_channels; c++) {
		n += listing->uses[c].n_members - 1;
	}
	FSL_TRY(FSL_ARENA_NEW(listing->couples, &listing->arena, n, "couples", err));
	for (size_t c = 0; c < n_channels; c++) {
		struct fsl_uses *uses = &listing->uses[c];
		uses->couples = listing->couples + listing->n_couples;
		for (size_t m = 1; m < uses->n_members; m++) {
			listing->couples[listing->n_couples++] =
				(struct fsl_couple){uses->of[0], uses->of[m], FSL_NS_ABSENT};
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_channels_list(struct fsl_match *out, struct fsl_listing *listing,
				  const struct fsl_run *run, const struct fsl_topology *topology,
				  struct fsl_error *err)
{
	FSL_TRY(build_slots(listing, run, topology, err));
	FSL_TRY(alloc_channels(out, listing, err));
	for (size_t g = 0; g < topology->n_groups; g++) {
		struct group_scan scan = {.run = run,
					  .slots = listing->slots + listing->slot_begin[g],
					  .n_slots = listing->slot_begin[g + 1] -
						     listing->slot_begin[g],
					  .group_idx = g};
		scan_group(&scan);
		if (scan.n_members < 2) {
			continue;
		}
		out->n_groups++;
		for (size_t k = 0; k < scan.n_op_ids; k++) {
			const char *name = fsl_strpool_text(run->names, scan.op_ids[k]);
			bool is_p2p = fsl_p2p_kind_from_name(name) < FSL_P2P_KINDS_N;
			out->n_p2p += is_p2p ? scan.n_uses_of[k] : 0;
			if (scan.n_members == 2 || !is_p2p) {
				FSL_TRY(add_channel(out, listing, &scan, scan.op_ids[k], err));
			}
		}
	}
	return list_couples(listing, out->n_channels, err);
}
