/* Joins what configuration, rank table and communicators say into one topology. */
#include "match/topology_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "match/topology_parts.h"

struct builder {
	struct fsl_topology *out;
	const struct fsl_run *run;
	const struct fsl_config *config;
	struct fsl_comms comms;
	bool is_configured;
	bool *is_shown; /* configured lists that a communicator shows, all kinds in a row */
	size_t n_lists;
	struct fsl_arena scratch;
};

struct sort_key {
	struct fsl_group group;
	const char *name;
};

static int compare_groups(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	FSL_ORDER_BY(a->group.kind, b->group.kind);
	int order = fsl_ranks_compare(a->group.ranks, a->group.n_ranks, b->group.ranks,
				      b->group.n_ranks);
	return order != 0 ? order : strcmp(a->name, b->name);
}

static enum fsl_status copy_sorted(struct fsl_group *group, struct fsl_arena *arena,
				   const int32_t *ranks, size_t n, struct fsl_error *err)
{
	int32_t *copy = NULL;
	FSL_TRY(FSL_ARENA_NEW(copy, arena, n, "copy", err));
	if (n > 0) {
		memcpy(copy, ranks, n * sizeof(*copy));
		qsort(copy, n, sizeof(*copy), fsl_rank_compare);
	}
	group->ranks = copy;
	group->n_ranks = n;
	return FSL_OK;
}

static enum fsl_status list_comms(struct builder *builder, struct sort_key *keys, size_t *n,
				  struct fsl_error *err)
{
	for (size_t c = 0; c < builder->comms.n_items; c++) {
		const struct fsl_comm *comm = &builder->comms.items[c];
		bool is_named = comm->why == fsl_why_configured;
		struct fsl_group group = {
			.name_id = comm->name_id,
			.kind = comm->kind,
			.known_by = is_named ? FSL_KNOWN_CONFIGURED : FSL_KNOWN_INFERRED,
			.why = comm->why,
			.n_op_kinds = comm->n_op_ids,
			.n_calls = comm->n_calls_all,
		};
		FSL_TRY(copy_sorted(&group, &builder->out->arena, comm->ranks, comm->n_ranks, err));
		keys[(*n)++] = (struct sort_key){.group = group, .name = comm->name};
	}
	return FSL_OK;
}

/* Configured groups of two and more ranks that no communicator shows. */
static enum fsl_status list_unseen(struct builder *builder, struct sort_key *keys, size_t *n,
				   struct fsl_error *err)
{
	size_t at = 0;
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		const struct fsl_domain *domain = &builder->config->hccl_domain[kind];
		for (size_t i = 0; i < domain->n_lists; i++, at++) {
			const struct fsl_rank_list *list = &domain->lists[i];
			if (builder->is_shown[at] || list->n_ranks < 2) {
				continue;
			}
			struct fsl_group group = {
				.name_id = FSL_STR_NONE,
				.kind = (enum fsl_group_kind)kind,
				.known_by = FSL_KNOWN_CONFIGURED,
				.why = "named by hccl_domain, no communicator shows it",
			};
			FSL_TRY(copy_sorted(&group, &builder->out->arena, list->ranks,
					    list->n_ranks, err));
			keys[(*n)++] = (struct sort_key){.group = group, .name = ""};
		}
	}
	return FSL_OK;
}

static enum fsl_status fill_groups(struct builder *builder, struct fsl_error *err)
{
	size_t n = 0;
	size_t n_max = builder->comms.n_items + builder->n_lists;
	struct fsl_topology *out = builder->out;
	struct sort_key *keys = NULL;
	FSL_TRY(FSL_ARENA_NEW(keys, &builder->scratch, n_max, "keys", err));
	FSL_TRY(FSL_ARENA_NEW(out->groups, &out->arena, n_max, "groups", err));
	FSL_TRY(list_comms(builder, keys, &n, err));
	if (builder->is_configured) {
		FSL_TRY(list_unseen(builder, keys, &n, err));
	}
	qsort(keys, n, sizeof(*keys), compare_groups);
	for (size_t i = 0; i < n; i++) {
		out->groups[i] = keys[i].group;
	}
	out->n_groups = n;
	return FSL_OK;
}

/*
 * The communicators that sysTrace's rule sees: one per set of ranks (more operators win, then more
 * calls), without barriers of all ranks, which it takes for a data-parallel group.
 */
static enum fsl_status domains_by_operators(struct builder *builder, const int32_t *ranks,
					    size_t n_ranks, struct fsl_error *err)
{
	struct fsl_comms view = {0};
	const struct fsl_comms *all = &builder->comms;
	FSL_TRY(FSL_ARENA_NEW(view.items, &builder->scratch, all->n_items, "items", err));
	for (size_t c = 0; c < all->n_items; c++) {
		const struct fsl_comm *comm = &all->items[c];
		struct fsl_comm *last = view.n_items > 0 ? &view.items[view.n_items - 1] : NULL;
		if (last == NULL || fsl_ranks_compare(last->ranks, last->n_ranks, comm->ranks,
						      comm->n_ranks) != 0) {
			view.items[view.n_items++] = *comm;
		} else if (comm->n_op_ids > last->n_op_ids ||
			   (comm->n_op_ids == last->n_op_ids &&
			    comm->n_calls_all > last->n_calls_all)) {
			*last = *comm;
		}
	}
	size_t n_kept = 0;
	for (size_t c = 0; c < view.n_items; c++) {
		const struct fsl_comm *comm = &view.items[c];
		bool is_barrier =
			comm->n_ranks == n_ranks &&
			comm->n_calls[FSL_OP_ALLREDUCE] + comm->n_calls[FSL_OP_BROADCAST] ==
				comm->n_calls_all;
		if (!is_barrier) {
			view.items[n_kept++] = *comm;
		}
	}
	view.n_items = n_kept;
	return fsl_domains_systrace(builder->out->domains, &builder->out->arena, &view, ranks,
				    n_ranks, err);
}

/* Lists of one kind from the groups; groups are sorted, so equal sets of ranks are neighbours. */
static enum fsl_status domain_of_groups(struct fsl_topology *out, enum fsl_group_kind kind,
					struct fsl_error *err)
{
	size_t capacity = 0;
	struct fsl_domain *domain = &out->domains[kind];
	for (size_t g = 0; g < out->n_groups; g++) {
		const struct fsl_group *group = &out->groups[g];
		if (group->kind != kind || group->n_ranks < 2) {
			continue;
		}
		const struct fsl_rank_list *last =
			domain->n_lists > 0 ? &domain->lists[domain->n_lists - 1] : NULL;
		if (last != NULL && fsl_ranks_compare(last->ranks, last->n_ranks, group->ranks,
						      group->n_ranks) == 0) {
			continue;
		}
		FSL_TRY(fsl_domain_add(domain, &capacity, &out->arena, group->ranks, group->n_ranks,
				       err));
	}
	return FSL_OK;
}

static enum fsl_status copy_configured(struct builder *builder, struct fsl_error *err)
{
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		size_t capacity = 0;
		const struct fsl_domain *from = &builder->config->hccl_domain[kind];
		for (size_t i = 0; i < from->n_lists; i++) {
			FSL_TRY(fsl_domain_add(&builder->out->domains[kind], &capacity,
					       &builder->out->arena, from->lists[i].ranks,
					       from->lists[i].n_ranks, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status fill_absent(struct fsl_topology *out, const int32_t *ranks, size_t n_ranks,
				   struct fsl_error *err)
{
	static const enum fsl_group_kind kinds[] = {FSL_GROUP_TP, FSL_GROUP_DP, FSL_GROUP_PP,
						    FSL_GROUP_EP};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (out->domains[kinds[i]].n_lists == 0) {
			FSL_TRY(fsl_domain_singletons(&out->domains[kinds[i]], &out->arena, ranks,
						      n_ranks, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status fill_domains(struct builder *builder, struct fsl_error *err)
{
	struct fsl_topology *out = builder->out;
	size_t n_ranks = 0;
	int32_t *ranks = NULL;
	FSL_TRY(FSL_ARENA_NEW(ranks, &builder->scratch, builder->run->n_ranks, "ranks", err));
	for (size_t r = 0; r < builder->run->n_ranks; r++) {
		if (builder->run->ranks[r].n_ops > 0) {
			ranks[n_ranks++] = builder->run->ranks[r].rank;
		}
	}
	if (builder->is_configured) {
		FSL_TRY(copy_configured(builder, err));
	} else if (builder->config->algorithm == FSL_ALGORITHM_SYSTRACE) {
		FSL_TRY(domains_by_operators(builder, ranks, n_ranks, err));
	} else {
		for (int kind = 0; kind < FSL_GROUP_UNKNOWN; kind++) {
			FSL_TRY(domain_of_groups(out, (enum fsl_group_kind)kind, err));
		}
	}
	return fill_absent(out, ranks, n_ranks, err);
}

static enum fsl_status apply_configured(struct builder *builder, struct fsl_error *err)
{
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		builder->n_lists += builder->config->hccl_domain[kind].n_lists;
	}
	FSL_TRY(FSL_ARENA_NEW(builder->is_shown, &builder->scratch, builder->n_lists, "is_shown",
			      err));
	return fsl_hccl_domain_apply(&builder->comms, builder->is_shown, &builder->scratch,
				     builder->run, builder->config, err);
}

/* The communicators, and on the way which operators the ranks use. */
static enum fsl_status collect_comms(struct builder *builder, struct fsl_error *err)
{
	uint64_t *op_sets = NULL;
	FSL_TRY(FSL_ARENA_NEW(op_sets, &builder->out->arena, builder->run->n_ranks, "op_sets",
			      err));
	FSL_TRY(fsl_comms_collect(&builder->comms, op_sets, builder->run, err));
	builder->out->op_sets = builder->comms.has_more_ops ? NULL : op_sets;
	return FSL_OK;
}

static enum fsl_status build(struct builder *builder, struct fsl_error *err)
{
	if (builder->is_configured) {
		FSL_TRY(fsl_hccl_domain_check(builder->config, err));
	}
	FSL_TRY(collect_comms(builder, err));
	FSL_TRY(fsl_comms_infer(&builder->comms, builder->run, err));
	if (builder->is_configured) {
		FSL_TRY(apply_configured(builder, err));
	}
	FSL_TRY(fill_groups(builder, err));
	FSL_TRY(fill_domains(builder, err));
	return fsl_topology_expect(builder->out, builder->run, builder->config, err);
}

enum fsl_status fsl_topology_build(struct fsl_topology *out, const struct fsl_run *run,
				   const struct fsl_config *config, struct fsl_error *err)
{
	struct builder builder = {
		.out = out,
		.run = run,
		.config = config,
		.is_configured = fsl_hccl_domain_is_set(config),
	};
	enum fsl_status status = build(&builder, err);
	fsl_arena_fini(&builder.scratch);
	fsl_comms_fini(&builder.comms);
	if (status != FSL_OK) {
		fsl_topology_fini(out);
	}
	return status;
}
