/* Lists the channels of a run: operators by communicator, operator name and member. */
#include "match/channel.h"

#include <string.h>

#include "match/topology_parts.h"

/* Different operators of one communicator that are told apart; more is no training job. */
enum { OPS_PER_GROUP_MAX = 64 };

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

/* Communicator name -> group index, SIZE_MAX where the topology has none. */
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

/* True when most operators of the rank have device times. */
static bool has_device_times(const struct fsl_rank *rank)
{
	size_t n = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		n += rank->ops[i].dev_begin_ns != FSL_NS_ABSENT;
	}
	return 2 * n > rank->n_ops;
}

/*
 * Group of an operator, SIZE_MAX for none. Where a rank has device times, an operator that lost its
 * own is no better than lost: the host is far ahead of the device, so it seems to end too early.
 */
static size_t group_of_op(const struct fsl_op *op, const size_t *group_of, size_t n_names,
			  bool needs_device)
{
	bool is_usable = !needs_device || op->dev_begin_ns != FSL_NS_ABSENT;
	return is_usable && op->group_id < n_names ? group_of[op->group_id] : SIZE_MAX;
}

/* Counting sort: stable, so uses of a group stay in order of rank, then begin. */
static enum fsl_status sort_by_group(struct fsl_grouped *out, struct fsl_arena *arena,
				     const struct fsl_run *run, const size_t *group_of,
				     size_t n_groups, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names), n_uses = 0;
	size_t *begin = fsl_arena_alloc(arena, (n_groups + 2) * sizeof(*begin));
	if (begin == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", n_groups);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		bool needs_device = has_device_times(&run->ranks[r]);
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			size_t g =
				group_of_op(&run->ranks[r].ops[i], group_of, n_names, needs_device);
			if (g != SIZE_MAX) {
				begin[g + 2]++;
				n_uses++;
			}
		}
	}
	for (size_t g = 2; g < n_groups + 2; g++) {
		begin[g] += begin[g - 1];
	}
	struct fsl_use *uses = fsl_arena_alloc(arena, n_uses * sizeof(*uses));
	if (uses == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", n_uses);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		bool needs_device = has_device_times(&run->ranks[r]);
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			size_t g =
				group_of_op(&run->ranks[r].ops[i], group_of, n_names, needs_device);
			if (g != SIZE_MAX) {
				uses[begin[g + 1]++] = (struct fsl_use){(uint32_t)r, (uint32_t)i};
			}
		}
	}
	*out = (struct fsl_grouped){begin, uses};
	return FSL_OK;
}

/* One rank's uses in a group. */
struct rank_uses {
	const struct fsl_use *uses;
	size_t n_uses;
};

/* Appends the uses with @op_id of one rank as a member; nothing when it has none. False: out of
 * memory. */
static bool add_member(struct fsl_channel *channel, struct fsl_uses *lists, struct fsl_arena *arena,
		       const struct fsl_run *run, const struct rank_uses *own, uint32_t op_id)
{
	const struct fsl_op *ops = run->ranks[own->uses[0].rank_idx].ops;
	size_t n = 0, k = 0;
	for (size_t i = 0; i < own->n_uses; i++) {
		n += ops[own->uses[i].op_idx].op_id == op_id;
	}
	if (n == 0) {
		return true;
	}
	uint32_t *list = fsl_arena_alloc(arena, n * sizeof(*list));
	if (list == NULL) {
		return false;
	}
	for (size_t i = 0; i < own->n_uses; i++) {
		if (ops[own->uses[i].op_idx].op_id == op_id) {
			list[k++] = own->uses[i].op_idx;
		}
	}
	size_t m = channel->n_members++;
	channel->members[m] = own->uses[0].rank_idx;
	lists->op_idx[m] = list;
	lists->n_uses[m] = n;
	lists->n_members = channel->n_members;
	return true;
}

/* What one group is made of while its channels are listed. */
struct group_scan {
	const struct fsl_run *run;
	const struct fsl_use *uses; /* of this group */
	size_t n_uses;
	size_t group_idx;
	size_t n_members;                   /* present ranks */
	uint32_t op_ids[OPS_PER_GROUP_MAX]; /* in order of first use */
	uint64_t n_uses_of[OPS_PER_GROUP_MAX];
	size_t n_op_ids;
};

static void scan_group(struct group_scan *scan)
{
	uint32_t last_rank = UINT32_MAX;
	for (size_t i = 0; i < scan->n_uses; i++) {
		const struct fsl_use *use = &scan->uses[i];
		scan->n_members += use->rank_idx != last_rank;
		last_rank = use->rank_idx;
		uint32_t op_id = scan->run->ranks[use->rank_idx].ops[use->op_idx].op_id;
		size_t k = 0;
		while (k < scan->n_op_ids && scan->op_ids[k] != op_id) {
			k++;
		}
		if (k == scan->n_op_ids && k < OPS_PER_GROUP_MAX) {
			scan->op_ids[scan->n_op_ids++] = op_id;
		}
		if (k < scan->n_op_ids) {
			scan->n_uses_of[k]++;
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
 * of a larger group uses the same operator. The uses of a rank are consecutive in scan->uses.
 */
static enum fsl_status add_channel(struct fsl_match *out, struct fsl_listing *listing,
				   const struct group_scan *scan, uint32_t op_id,
				   struct fsl_error *err)
{
	struct fsl_uses *lists = &listing->uses[out->n_channels];
	struct fsl_channel *channel = &out->channels[out->n_channels];
	*channel = (struct fsl_channel){.group_idx = scan->group_idx, .op_id = op_id};
	channel->is_p2p =
		fsl_p2p_kind_from_name(fsl_strpool_text(scan->run->names, op_id)) < FSL_P2P_KINDS_N;
	channel->members =
		fsl_arena_alloc(&out->arena, scan->n_members * sizeof(*channel->members));
	lists->op_idx = fsl_arena_alloc(&listing->arena, scan->n_members * sizeof(*lists->op_idx));
	lists->n_uses = fsl_arena_alloc(&listing->arena, scan->n_members * sizeof(*lists->n_uses));
	if (channel->members == NULL || lists->op_idx == NULL || lists->n_uses == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", scan->n_members);
	}
	uint32_t far_id = channel->is_p2p ? far_op_id(scan, op_id) : op_id;
	for (size_t begin = 0; begin < scan->n_uses;) {
		uint32_t rank_idx = scan->uses[begin].rank_idx;
		size_t end = begin;
		while (end < scan->n_uses && scan->uses[end].rank_idx == rank_idx) {
			end++;
		}
		uint32_t wanted = begin == 0 ? op_id : far_id;
		struct rank_uses own = {scan->uses + begin, end - begin};
		if (!add_member(channel, lists, &listing->arena, scan->run, &own, wanted)) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: uses=%zu",
					end - begin);
		}
		begin = end;
	}
	out->n_channels += channel->n_members >= 2;
	return FSL_OK;
}

/* Room for every channel that the groups may have. */
static enum fsl_status alloc_channels(struct fsl_match *out, struct fsl_listing *listing,
				      size_t n_groups, struct fsl_error *err)
{
	size_t n_max = 1;
	for (size_t g = 0; g < n_groups; g++) {
		size_t n_uses = listing->grouped.begin[g + 1] - listing->grouped.begin[g];
		n_max += n_uses < OPS_PER_GROUP_MAX ? n_uses : OPS_PER_GROUP_MAX;
	}
	out->channels = fsl_arena_alloc(&out->arena, n_max * sizeof(*out->channels));
	listing->uses = fsl_arena_alloc(&listing->arena, n_max * sizeof(*listing->uses));
	if (out->channels == NULL || listing->uses == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu", n_max);
	}
	return FSL_OK;
}

enum fsl_status fsl_channels_list(struct fsl_match *out, struct fsl_listing *listing,
				  const struct fsl_run *run, const struct fsl_topology *topology,
				  struct fsl_error *err)
{
	size_t *group_of = map_names(&listing->arena, run, topology);
	if (group_of == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names");
	}
	enum fsl_status status = sort_by_group(&listing->grouped, &listing->arena, run, group_of,
					       topology->n_groups, err);
	if (status == FSL_OK) {
		status = alloc_channels(out, listing, topology->n_groups, err);
	}
	for (size_t g = 0; g < topology->n_groups && status == FSL_OK; g++) {
		size_t begin = listing->grouped.begin[g], end = listing->grouped.begin[g + 1];
		struct group_scan scan = {.run = run,
					  .uses = listing->grouped.uses + begin,
					  .n_uses = end - begin,
					  .group_idx = g};
		scan_group(&scan);
		if (scan.n_members < 2) {
			continue;
		}
		out->n_groups++;
		for (size_t k = 0; k < scan.n_op_ids && status == FSL_OK; k++) {
			const char *name = fsl_strpool_text(run->names, scan.op_ids[k]);
			bool is_p2p = fsl_p2p_kind_from_name(name) < FSL_P2P_KINDS_N;
			out->n_p2p += is_p2p ? scan.n_uses_of[k] : 0;
			if (scan.n_members == 2 || !is_p2p) {
				status = add_channel(out, listing, &scan, scan.op_ids[k], err);
			}
		}
	}
	return status;
}
