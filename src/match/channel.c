/* Lists the channels of a run: operators by communicator, operator name and member. */
#include "match/channel.h"

#include <string.h>

#include "base/log.h"
#include "match/topology_parts.h"

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
	FSL_TRY(FSL_NEW(&out->arena, channel->members, scan->n_members, err));
	FSL_TRY(FSL_NEW(&listing->arena, uses->of, scan->n_members, err));
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
	FSL_TRY(FSL_NEW(&out->arena, out->channels, n_max, err));
	FSL_TRY(FSL_NEW(&listing->arena, listing->uses, n_max, err));
	return FSL_OK;
}

static enum fsl_status list_couples(struct fsl_listing *listing, size_t n_channels,
				    struct fsl_error *err)
{
	size_t n = 0;
	for (size_t c = 0; c < n_channels; c++) {
		n += listing->uses[c].n_members - 1;
	}
	FSL_TRY(FSL_NEW(&listing->arena, listing->couples, n, err));
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
	FSL_TRY(fsl_slots_build(listing, run, topology, err));
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
