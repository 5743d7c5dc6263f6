/* Rows of the profiler become operators, groups and collectives. */
#include "match/meetings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "capture/comm_kernels.h"
#include "match/topology_parts.h"

enum fsl_group_kind fsl_profile_group_kind(const char *name)
{
	static const struct {
		const char *begin;
		enum fsl_group_kind kind;
	} kinds[] = {
		{"default_group", FSL_GROUP_WORLD},
		{"dp", FSL_GROUP_DP},
		{"tp", FSL_GROUP_TP},
		{"pp", FSL_GROUP_PP},
		{"cp", FSL_GROUP_CP},
		{"exp", FSL_GROUP_EP},
		{"ep", FSL_GROUP_EP},
	};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (strncmp(name, kinds[k].begin, strlen(kinds[k].begin)) == 0) {
			return kinds[k].kind;
		}
	}
	return FSL_GROUP_UNKNOWN;
}

/* Text that tells the group of an operator; empty if there is none. */
static size_t group_text(const struct fsl_profile_rank *rank, const struct fsl_profile_comm *comm,
			 const char **text)
{
	if (comm->group_id != FSL_STR_NONE) {
		*text = fsl_strpool_text(rank->names, comm->group_id);
		return strlen(*text);
	}
	const char *mark = fsl_profile_name_mark(fsl_strpool_text(rank->names, comm->name_id));
	*text = mark != NULL ? mark : "";
	return mark != NULL ? 2 + strcspn(mark + 2, "_") : 0;
}

/* False when the operator cannot be placed. */
static bool is_usable(const struct fsl_profile_comm *comm)
{
	return comm->name_id != FSL_STR_NONE && fsl_profile_comm_is_timed(comm);
}

static enum fsl_status add_op(struct fsl_profile_meetings *out, struct fsl_rank *to,
			      const struct fsl_profile_cluster *cluster,
			      const struct fsl_profile_rank *from, size_t c, struct fsl_error *err)
{
	const struct fsl_profile_comm *comm = &from->comms[c];
	char own[FSL_CALL_GROUP_BYTES] = "";
	const char *group = own;
	size_t n_group = 0;
	if (is_usable(comm) && comm->is_kernel) {
		fsl_profile_call_group(own, cluster, from,
				       fsl_strpool_text(from->names, comm->name_id));
		n_group = strlen(own);
	} else if (is_usable(comm)) {
		n_group = group_text(from, comm, &group);
	}
	if (n_group == 0) {
		out->n_unusable++;
		return FSL_OK;
	}
	const char *name = fsl_strpool_text(from->names, comm->name_id);
	struct fsl_op op = {
		.host_begin_ns = FSL_NS_ABSENT,
		.host_end_ns = FSL_NS_ABSENT,
		.dev_begin_ns = comm->begin_ns,
		.dev_end_ns = fsl_sum_i64(comm->begin_ns, comm->elapse_ns),
		.id = c,
		.dtype_id = FSL_STR_NONE,
		.step = comm->step >= 0 && comm->step <= INT32_MAX ? (int32_t)comm->step : -1,
	};
	enum fsl_status status = fsl_strpool_intern(out->run.names, name,
						    fsl_profile_type_length(name), &op.op_id, err);
	if (status == FSL_OK) {
		status = fsl_strpool_intern(out->run.names, group, n_group, &op.group_id, err);
	}
	if (status == FSL_OK) {
		status = FSL_GROW(to->ops, to->ops_capacity, to->n_ops + 1, err);
	}
	if (status == FSL_OK) {
		to->ops[to->n_ops++] = op;
		to->last_event_ns =
			op.dev_end_ns > to->last_event_ns ? op.dev_end_ns : to->last_event_ns;
	}
	return status;
}

static enum fsl_status add_ranks(struct fsl_profile_meetings *out,
				 const struct fsl_profile_cluster *cluster,
				 const struct fsl_profile *profile, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		struct fsl_rank *to = fsl_run_add_rank(&out->run, (int32_t)r, err);
		if (to == NULL) {
			return FSL_ERR_MEMORY;
		}
		const struct fsl_profile_rank *from = &profile->ranks[r];
		for (size_t c = 0; c < from->n_comms && status == FSL_OK; c++) {
			status = add_op(out, to, cluster, from, c, err);
		}
		fsl_rank_normalise(to);
	}
	return status;
}

/* Name that the framework gave the group; "" when not told. */
static const char *told_name(const struct fsl_profile_cluster *cluster, const char *hash)
{
	for (size_t g = 0; g < cluster->n_groups; g++) {
		if (strcmp(cluster->groups[g].hash, hash) == 0) {
			return cluster->groups[g].name;
		}
	}
	return "";
}

/* Counts one use of a group by a rank; ranks come in ascending order. */
static void count_use(struct fsl_group *group, int32_t rank)
{
	group->n_calls++;
	if (group->n_ranks == 0 || group->ranks[group->n_ranks - 1] != rank) {
		group->ranks[group->n_ranks++] = rank;
	}
}

static int compare_groups(const void *left, const void *right)
{
	const struct fsl_group *a = left, *b = right;
	if (a->kind != b->kind) {
		return a->kind < b->kind ? -1 : 1;
	}
	int order = fsl_ranks_compare(a->ranks, a->n_ranks, b->ranks, b->n_ranks);
	return order != 0 ? order : (a->name_id > b->name_id) - (a->name_id < b->name_id);
}

/* Makes a group for each name of the run that operators use as a group. @n_members: ranks that use
 * the name, per name. */
static enum fsl_status add_groups(struct fsl_profile_meetings *out, const uint32_t *n_members,
				  size_t n_names, const struct fsl_profile_cluster *cluster,
				  struct fsl_error *err)
{
	struct fsl_topology *topology = &out->topology;
	topology->groups =
		fsl_arena_alloc(&topology->arena, (n_names + 1) * sizeof(struct fsl_group));
	bool is_short = topology->groups == NULL;
	for (size_t n = 0; n < n_names && !is_short; n++) {
		if (n_members[n] == 0) {
			continue;
		}
		struct fsl_group *group = &topology->groups[topology->n_groups++];
		const char *name =
			told_name(cluster, fsl_strpool_text(out->run.names, (uint32_t)n));
		*group = (struct fsl_group){
			.name_id = (uint32_t)n,
			.kind = fsl_profile_group_kind(name),
			.known_by = FSL_KNOWN_INFERRED,
			.why = *name != '\0' ? "named by the framework" : "seen in operators",
			.ranks = fsl_arena_alloc(&topology->arena,
						 n_members[n] * sizeof(*group->ranks))};
		is_short = group->ranks == NULL;
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names)
			: FSL_OK;
}

/* Counts per name of the run, needed while groups are made. */
struct counts {
	uint32_t *n_members;
	uint32_t *last; /* rank that was counted last, + 1 */
	struct fsl_group **group;
	uint64_t *n_whole; /* operators that all members have */
};

static void count_members(struct counts *counts, const struct fsl_run *run)
{
	for (uint32_t r = 0; r < run->n_ranks; r++) {
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			uint32_t id = run->ranks[r].ops[i].group_id;
			counts->n_members[id] += counts->last[id] != r + 1 ? 1 : 0;
			counts->last[id] = r + 1;
		}
	}
}

/* How often each operator occurs: same group, full name and step. */
struct twins {
	struct fsl_strpool *keys;
	uint32_t **key_of; /* [rank][place in comms] */
	uint32_t *n;       /* per key */
	size_t n_capacity;
};

static enum fsl_status count_twin(struct twins *twins, const struct fsl_profile_meetings *meetings,
				  const struct fsl_profile_rank *from, const struct fsl_op *op,
				  uint32_t *key, struct fsl_error *err)
{
	char text[512];
	const struct fsl_profile_comm *comm = &from->comms[op->id];
	size_t n_before = fsl_strpool_size(twins->keys);
	int length = snprintf(text, sizeof(text), "%" PRId64 " %s@%s", comm->step,
			      fsl_strpool_text(from->names, comm->name_id),
			      fsl_strpool_text(meetings->run.names, op->group_id));
	size_t n_text = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
	enum fsl_status status = fsl_strpool_intern(twins->keys, text, n_text, key, err);
	if (status == FSL_OK) {
		status = FSL_GROW(twins->n, twins->n_capacity, (size_t)*key + 1, err);
	}
	if (status == FSL_OK) {
		twins->n[*key] = *key < n_before ? twins->n[*key] + 1 : 1;
	}
	return status;
}

static enum fsl_status count_twins(struct twins *twins, struct fsl_arena *scratch,
				   const struct fsl_profile_meetings *meetings,
				   const struct fsl_profile *profile, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	twins->key_of = fsl_arena_alloc(scratch, (profile->n_ranks + 1) * sizeof(*twins->key_of));
	twins->keys = fsl_strpool_create();
	bool is_short = twins->key_of == NULL || twins->keys == NULL;
	for (size_t r = 0; r < profile->n_ranks && !is_short && status == FSL_OK; r++) {
		const struct fsl_profile_rank *from = &profile->ranks[r];
		const struct fsl_rank *rank = &meetings->run.ranks[r];
		uint32_t *keys = fsl_arena_alloc(scratch, (from->n_comms + 1) * sizeof(*keys));
		twins->key_of[r] = keys;
		is_short = keys == NULL;
		for (size_t i = 0; i < rank->n_ops && !is_short && status == FSL_OK; i++) {
			status = count_twin(twins, meetings, from, &rank->ops[i],
					    &keys[rank->ops[i].id], err);
		}
	}
	return is_short
		       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks)
		       : status;
}

static bool is_whole(const struct twins *twins, const struct counts *counts,
		     const struct fsl_run *run, size_t r, const struct fsl_op *op)
{
	const char *type = fsl_strpool_text(run->names, op->op_id);
	return twins->n[twins->key_of[r][op->id]] % counts->n_members[op->group_id] == 0 ||
	       fsl_op_class_from_name(type) == FSL_OP_P2P;
}

/*
 * At the edges of a capture some members lack an operator that the others have: it is left out, and
 * all others match by their order. A group of which nothing would be left keeps all, for the
 * engine to match by time.
 */
static void drop_torn(struct fsl_profile_meetings *meetings, const struct counts *counts,
		      const struct twins *twins)
{
	struct fsl_run *run = &meetings->run;
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			const struct fsl_op *op = &run->ranks[r].ops[i];
			counts->n_whole[op->group_id] +=
				is_whole(twins, counts, run, r, op) ? 1 : 0;
		}
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_rank *rank = &run->ranks[r];
		size_t n = 0;
		for (size_t i = 0; i < rank->n_ops; i++) {
			const struct fsl_op *op = &rank->ops[i];
			if (counts->n_whole[op->group_id] == 0 ||
			    is_whole(twins, counts, run, r, op)) {
				rank->ops[n++] = *op;
			}
		}
		meetings->n_torn_of[r] = rank->n_ops - n;
		meetings->n_torn += rank->n_ops - n;
		rank->n_ops = n;
	}
}

static void fill_groups(struct counts *counts, struct fsl_topology *topology,
			const struct fsl_run *run)
{
	for (size_t g = 0; g < topology->n_groups; g++) {
		counts->group[topology->groups[g].name_id] = &topology->groups[g];
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t i = 0; i < run->ranks[r].n_ops; i++) {
			count_use(counts->group[run->ranks[r].ops[i].group_id], (int32_t)r);
		}
	}
	if (topology->n_groups > 1) {
		qsort(topology->groups, topology->n_groups, sizeof(*topology->groups),
		      compare_groups);
	}
}

static enum fsl_status build_topology(struct fsl_profile_meetings *out,
				      const struct fsl_profile *profile,
				      const struct fsl_profile_cluster *cluster,
				      struct fsl_error *err)
{
	size_t n = fsl_strpool_size(out->run.names);
	struct fsl_arena scratch = {0};
	struct twins twins = {0};
	struct counts counts = {fsl_arena_alloc(&scratch, (n + 1) * sizeof(*counts.n_members)),
				fsl_arena_alloc(&scratch, (n + 1) * sizeof(*counts.last)),
				fsl_arena_alloc(&scratch, (n + 1) * sizeof(struct fsl_group *)),
				fsl_arena_alloc(&scratch, (n + 1) * sizeof(*counts.n_whole))};
	bool is_short = counts.n_members == NULL || counts.last == NULL || counts.group == NULL ||
			counts.n_whole == NULL;
	enum fsl_status status =
		is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n)
			 : count_twins(&twins, &scratch, out, profile, err);
	if (status == FSL_OK) {
		count_members(&counts, &out->run);
		drop_torn(out, &counts, &twins);
		status = add_groups(out, counts.n_members, n, cluster, err);
	}
	if (status == FSL_OK) {
		fill_groups(&counts, &out->topology, &out->run);
	}
	fsl_strpool_destroy(twins.keys);
	fsl_free(twins.n);
	fsl_arena_fini(&scratch);
	return status;
}

enum fsl_status fsl_profile_meet(struct fsl_profile_meetings *out,
				 const struct fsl_profile *profile,
				 const struct fsl_profile_cluster *cluster, struct fsl_error *err)
{
	*out = (struct fsl_profile_meetings){0};
	enum fsl_status status = fsl_run_init(&out->run, err);
	if (status == FSL_OK) {
		status = add_ranks(out, cluster, profile, err);
	}
	FSL_THEN(status, FSL_NEW(out->n_torn_of, profile->n_ranks + 1, "ranks", err));
	if (status == FSL_OK) {
		status = build_topology(out, profile, cluster, err);
	}
	if (status == FSL_OK) {
		status = fsl_match_build(&out->match, &out->run, &out->topology, err);
	}
	if (status != FSL_OK) {
		fsl_profile_meetings_fini(out);
	}
	return status;
}

void fsl_profile_meetings_fini(struct fsl_profile_meetings *meetings)
{
	fsl_match_fini(&meetings->match);
	fsl_topology_fini(&meetings->topology);
	fsl_run_fini(&meetings->run);
	fsl_free(meetings->n_torn_of);
	*meetings = (struct fsl_profile_meetings){0};
}

const struct fsl_profile_comm *fsl_meeting_comm(const struct fsl_profile_meetings *meetings,
						const struct fsl_profile *profile,
						const struct fsl_channel *channel, size_t instance,
						size_t member)
{
	FSL_ASSERT(instance < channel->n_instances && member < channel->n_members);
	uint32_t op_idx = channel->op_idx[instance * channel->n_members + member];
	uint32_t r = channel->members[member];
	FSL_ASSERT(r < profile->n_ranks && r < meetings->run.n_ranks);
	FSL_ASSERT(op_idx == FSL_NO_OP ||
		   (op_idx < meetings->run.ranks[r].n_ops &&
		    meetings->run.ranks[r].ops[op_idx].id < profile->ranks[r].n_comms));
	return op_idx != FSL_NO_OP ? &profile->ranks[r].comms[meetings->run.ranks[r].ops[op_idx].id]
				   : NULL;
}

bool fsl_meeting_tells_lateness(const struct fsl_profile_meetings *meetings,
				const struct fsl_channel *channel)
{
	switch (fsl_op_class_from_name(fsl_strpool_text(meetings->run.names, channel->op_id))) {
	case FSL_OP_ALLTOALL:
	case FSL_OP_REDUCESCATTER:
	case FSL_OP_ALLGATHER:
	case FSL_OP_ALLREDUCE:
		return !channel->disagrees;
	case FSL_OP_P2P:
	case FSL_OP_BROADCAST:
	case FSL_OP_OTHER:
	case FSL_OP_CLASSES_N:
		break;
	}
	return false;
}
