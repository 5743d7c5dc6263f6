/* Lists the channels of a run: operators by communicator, operator name and member. */
#include "match/channel.h"

#include <string.h>

#include "match/topology_parts.h"

/* Different operators of one communicator that are told apart; more is no training job. */
enum { OPS_PER_GROUP_MAX = 64 };

/* One operator of a group, in order of rank, then begin. */
struct use {
	uint32_t rank_idx, op_idx;
};

static bool is_p2p(const char *op_name)
{
	return fsl_op_class_from_name(op_name) == FSL_OP_P2P;
}

static bool is_send_only(const char *op_name)
{
	return strcasestr(op_name, "send") != NULL && strcasestr(op_name, "recv") == NULL;
}

static bool is_receive_only(const char *op_name)
{
	return strcasestr(op_name, "send") == NULL && is_p2p(op_name);
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

static size_t group_of_op(const struct fsl_op *op, const size_t *group_of, size_t n_names)
{
	return op->group_id < n_names ? group_of[op->group_id] : SIZE_MAX;
}

/* All uses by group; begin[g] .. begin[g + 1] are those of group g. */
struct grouped {
	size_t *begin;
	struct use *uses;
};

/* Counting sort: stable, so uses of a group stay in order of rank, then begin. */
static enum fsl_status sort_by_group(struct grouped *out, struct fsl_arena *arena,
				     const struct fsl_run *run, const size_t *group_of,
				     size_t n_groups, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names), n_uses = 0;
	size_t *begin = fsl_arena_alloc(arena, (n_groups + 2) * sizeof(*begin));
	if (begin == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", n_groups);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			size_t g = group_of_op(&run->ranks[r].ops[i], group_of, n_names);
			if (g != SIZE_MAX) {
				begin[g + 2]++;
				n_uses++;
			}
		}
	}
	for (size_t g = 2; g < n_groups + 2; g++) {
		begin[g] += begin[g - 1];
	}
	struct use *uses = fsl_arena_alloc(arena, n_uses * sizeof(*uses));
	if (uses == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", n_uses);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			size_t g = group_of_op(&run->ranks[r].ops[i], group_of, n_names);
			if (g != SIZE_MAX) {
				uses[begin[g + 1]++] = (struct use){(uint32_t)r, (uint32_t)i};
			}
		}
	}
	*out = (struct grouped){begin, uses};
	return FSL_OK;
}

/* One rank's uses in a group. */
struct rank_uses {
	const struct use *uses;
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
	const struct use *uses; /* of this group */
	size_t n_uses;
	size_t group_idx;
	size_t n_members;                   /* present ranks */
	uint32_t op_ids[OPS_PER_GROUP_MAX]; /* in order of first use */
	size_t n_op_ids;
};

static void scan_group(struct group_scan *scan)
{
	uint32_t last_rank = UINT32_MAX;
	for (size_t i = 0; i < scan->n_uses; i++) {
		const struct use *use = &scan->uses[i];
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
	}
}

/* The operator that the other end of a pair uses: Receive for Send; the same for all others. */
static uint32_t far_op_id(const struct group_scan *scan, uint32_t op_id)
{
	const char *name = fsl_strpool_text(scan->run->names, op_id);
	bool is_send = is_send_only(name), is_receive = is_receive_only(name);
	for (size_t k = 0; (is_send || is_receive) && k < scan->n_op_ids; k++) {
		const char *other = fsl_strpool_text(scan->run->names, scan->op_ids[k]);
		if ((is_send && is_receive_only(other)) || (is_receive && is_send_only(other))) {
			return scan->op_ids[k];
		}
	}
	return op_id;
}

/*
 * One channel for @op_id. In pairs the first member's Send meets the other's Receive; every member
 * of a larger group uses the same operator. The uses of a rank are consecutive in scan->uses.
 */
static enum fsl_status add_channel(struct fsl_match *out, struct fsl_uses *lists,
				   const struct group_scan *scan, uint32_t op_id,
				   struct fsl_error *err)
{
	struct fsl_channel *channel = &out->channels[out->n_channels];
	*channel = (struct fsl_channel){.group_idx = scan->group_idx, .op_id = op_id};
	channel->is_p2p = is_p2p(fsl_strpool_text(scan->run->names, op_id));
	channel->members =
		fsl_arena_alloc(&out->arena, scan->n_members * sizeof(*channel->members));
	lists->op_idx = fsl_arena_alloc(&out->arena, scan->n_members * sizeof(*lists->op_idx));
	lists->n_uses = fsl_arena_alloc(&out->arena, scan->n_members * sizeof(*lists->n_uses));
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
		if (!add_member(channel, lists, &out->arena, scan->run, &own, wanted)) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: uses=%zu",
					end - begin);
		}
		begin = end;
	}
	out->n_channels += channel->n_members >= 2;
	return FSL_OK;
}

enum fsl_status fsl_channels_list(struct fsl_match *out, struct fsl_uses **uses,
				  const struct fsl_run *run, const struct fsl_topology *topology,
				  struct fsl_error *err)
{
	struct grouped grouped = {0};
	struct fsl_uses *lists = NULL;
	struct fsl_arena scratch = {0};
	size_t n_max = 0;
	enum fsl_status status = FSL_OK;
	size_t *group_of = map_names(&scratch, run, topology);
	if (group_of == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names");
		goto out;
	}
	status = sort_by_group(&grouped, &scratch, run, group_of, topology->n_groups, err);
	if (status != FSL_OK) {
		goto out;
	}
	n_max = topology->n_groups * OPS_PER_GROUP_MAX;
	for (size_t g = 0, n_needed = 0; g < topology->n_groups; g++) {
		size_t n_uses = grouped.begin[g + 1] - grouped.begin[g];
		n_needed += n_uses < OPS_PER_GROUP_MAX ? n_uses : OPS_PER_GROUP_MAX;
		n_max = n_needed + 1;
	}
	out->channels = fsl_arena_alloc(&out->arena, n_max * sizeof(*out->channels));
	lists = fsl_arena_alloc(&out->arena, n_max * sizeof(*lists));
	if (out->channels == NULL || lists == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channels=%zu", n_max);
		goto out;
	}
	for (size_t g = 0; g < topology->n_groups && status == FSL_OK; g++) {
		struct group_scan scan = {.run = run,
					  .uses = grouped.uses + grouped.begin[g],
					  .n_uses = grouped.begin[g + 1] - grouped.begin[g],
					  .group_idx = g};
		scan_group(&scan);
		if (scan.n_members < 2) {
			continue;
		}
		out->n_groups++;
		for (size_t k = 0; k < scan.n_op_ids && status == FSL_OK; k++) {
			const char *name = fsl_strpool_text(run->names, scan.op_ids[k]);
			if (is_p2p(name) && scan.n_members > 2) {
				continue;
			}
			status = add_channel(out, &lists[out->n_channels], &scan, scan.op_ids[k],
					     err);
		}
	}
	*uses = lists;
out:
	fsl_arena_fini(&scratch);
	return status;
}
