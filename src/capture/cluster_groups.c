/* Communication groups: joined over ranks by the hash behind "@", with metadata and links. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/cluster_parts.h"
#include "capture/comm_kernels.h"

/* A group while it is collected; on the heap, freed after it is copied. */
struct draft {
	uint32_t hash_id;
	bool is_p2p;
	int32_t *seen; /* ascending, because ranks come in order */
	size_t n_seen, seen_capacity;
	struct fsl_profile_member
		*members; /* ranks whose files hold a link from the rank to itself */
	size_t n_members, members_capacity;
	int32_t place_max; /* -1: no link */
	const struct fsl_profile_parallel_group *told;
};

struct collection {
	struct fsl_strpool *hashes;
	size_t *by_hash; /* draft at hash id * 2 + is_p2p; SIZE_MAX none */
	size_t by_hash_capacity, n_by_hash;
	struct draft *drafts; /* in the order of first use */
	size_t n_drafts, capacity;
};

static enum fsl_status add_draft(struct collection *all, uint32_t hash_id, bool is_p2p,
				 size_t *slot, struct fsl_error *err)
{
	enum fsl_status status = FSL_GROW(all->drafts, all->capacity, all->n_drafts + 1, err);
	if (status == FSL_OK) {
		*slot = all->n_drafts;
		all->drafts[all->n_drafts++] =
			(struct draft){.hash_id = hash_id, .is_p2p = is_p2p, .place_max = -1};
	}
	return status;
}

/* The draft of a hash; a new one at its first use. */
static enum fsl_status find_draft(struct collection *all, const char *hash, bool is_p2p,
				  struct draft **out, struct fsl_error *err)
{
	uint32_t id = 0;
	enum fsl_status status = fsl_strpool_intern(all->hashes, hash, strlen(hash), &id, err);
	if (status != FSL_OK) {
		return status;
	}
	size_t n_wanted = (size_t)id * 2 + 2;
	status = FSL_GROW(all->by_hash, all->by_hash_capacity, n_wanted, err);
	if (status != FSL_OK) {
		return status;
	}
	FSL_REQUIRE(all->by_hash != NULL);
	while (all->n_by_hash < n_wanted) {
		all->by_hash[all->n_by_hash++] = SIZE_MAX;
	}
	size_t *slot = &all->by_hash[(size_t)id * 2 + is_p2p];
	status = *slot == SIZE_MAX ? add_draft(all, id, is_p2p, slot, err) : FSL_OK;
	if (status == FSL_OK) {
		*out = &all->drafts[*slot];
	}
	return status;
}

/* Places come from files: a number that no group can have is ignored. */
static bool is_place(int32_t place)
{
	return place >= 0 && place < FSL_PROFILE_RANKS_MAX;
}

static enum fsl_status add_rank(struct draft *draft, int32_t rank, struct fsl_error *err)
{
	if (draft->n_seen > 0 && draft->seen[draft->n_seen - 1] == rank) {
		return FSL_OK;
	}
	enum fsl_status status =
		FSL_GROW(draft->seen, draft->seen_capacity, draft->n_seen + 1, err);
	if (status == FSL_OK) {
		draft->seen[draft->n_seen++] = rank;
	}
	return status;
}

/* Searches from the end: ranks come in order, and each has many links to itself. */
static bool has_member(const struct draft *draft, int32_t place, int32_t rank)
{
	for (size_t i = draft->n_members; i-- > 0;) {
		if (draft->members[i].place == place || draft->members[i].rank == rank) {
			return true;
		}
	}
	return false;
}

/* If two ranks claim one place, the first gets it. */
static enum fsl_status add_member(struct draft *draft, int32_t place, int32_t rank,
				  struct fsl_error *err)
{
	if (has_member(draft, place, rank)) {
		return FSL_OK;
	}
	enum fsl_status status =
		FSL_GROW(draft->members, draft->members_capacity, draft->n_members + 1, err);
	if (status == FSL_OK) {
		draft->members[draft->n_members++] = (struct fsl_profile_member){place, rank};
	}
	return status;
}

static enum fsl_status collect_link(struct draft *draft, const struct fsl_profile_link *link,
				    int32_t rank, struct fsl_error *err)
{
	if (!is_place(link->src) || !is_place(link->dst)) {
		return FSL_OK;
	}
	int32_t greater = link->src > link->dst ? link->src : link->dst;
	draft->place_max = greater > draft->place_max ? greater : draft->place_max;
	return link->src == link->dst ? add_member(draft, link->src, rank, err) : FSL_OK;
}

static enum fsl_status collect_rank(struct collection *all, const struct fsl_profile_rank *rank,
				    struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	struct draft *draft = NULL;
	for (size_t i = 0; i < rank->n_comms && status == FSL_OK; i++) {
		const struct fsl_profile_comm *comm = &rank->comms[i];
		if (comm->group_id != FSL_STR_NONE) {
			status = find_draft(all, fsl_strpool_text(rank->names, comm->group_id),
					    comm->is_p2p, &draft, err);
			status = status == FSL_OK ? add_rank(draft, rank->rank, err) : status;
		}
	}
	for (size_t i = 0; i < rank->n_links && status == FSL_OK; i++) {
		const struct fsl_profile_link *link = &rank->links[i];
		if (link->group_id != FSL_STR_NONE) {
			status = find_draft(all, fsl_strpool_text(rank->names, link->group_id),
					    link->is_p2p, &draft, err);
			status = status == FSL_OK ? add_rank(draft, rank->rank, err) : status;
			status = status == FSL_OK ? collect_link(draft, link, rank->rank, err)
						  : status;
		}
	}
	return status;
}

/* A rank waited for the signal of a member, so that there is one at that place. */
static void collect_waits(struct collection *all, const struct fsl_profile_rank *rank)
{
	for (size_t i = 0; i < rank->n_waits; i++) {
		const struct fsl_profile_signal_wait *wait = &rank->waits[i];
		const char *hash = wait->group_id != FSL_STR_NONE
					   ? fsl_strpool_text(rank->names, wait->group_id)
					   : "";
		uint32_t id = fsl_strpool_find(all->hashes, hash, strlen(hash));
		size_t slot = id != FSL_STR_NONE ? all->by_hash[(size_t)id * 2] : SIZE_MAX;
		if (slot != SIZE_MAX && is_place(wait->place)) {
			int32_t *most = &all->drafts[slot].place_max;
			*most = wait->place > *most ? wait->place : *most;
		}
	}
}

static void tell(struct collection *all, const char *text,
		 const struct fsl_profile_parallel_group *told)
{
	uint32_t id = fsl_strpool_find(all->hashes, text, strlen(text));
	if (id == FSL_STR_NONE) {
		return;
	}
	for (size_t kind = 0; kind < 2; kind++) {
		size_t at = all->by_hash[(size_t)id * 2 + kind];
		if (at != SIZE_MAX && all->drafts[at].told == NULL) {
			all->drafts[at].told = told;
		}
	}
}

/* In older captures the id itself follows "@". */
static void tell_all(struct collection *all, const struct fsl_profile *profile)
{
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_info *info = &profile->ranks[r].info;
		for (size_t g = 0; g < info->n_groups; g++) {
			tell(all, info->groups[g].hash, &info->groups[g]);
			tell(all, info->groups[g].id, &info->groups[g]);
		}
	}
}

static enum fsl_status add_told_members(struct draft *draft, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	size_t n = draft->told != NULL ? draft->told->n_ranks : 0;
	for (size_t i = 0; i < n && status == FSL_OK && is_place((int32_t)i); i++) {
		status = add_member(draft, (int32_t)i, draft->told->ranks[i], err);
	}
	return status;
}

static int compare_places(const void *left, const void *right)
{
	const struct fsl_profile_member *a = left, *b = right;
	return FSL_ORDER(a->place, b->place);
}

/* Merges the members from metadata and those seen, ascending, each once. */
static size_t merge_ranks(const struct draft *draft, int32_t *ranks)
{
	size_t n = draft->n_seen, n_kept = 0;
	memcpy(ranks, draft->seen, n * sizeof(*ranks));
	if (draft->told != NULL && draft->told->n_ranks > 0) {
		memcpy(ranks + n, draft->told->ranks, draft->told->n_ranks * sizeof(*ranks));
		n += draft->told->n_ranks;
	}
	qsort(ranks, n, sizeof(*ranks), fsl_compare_i32);
	for (size_t i = 0; i < n; i++) {
		if (n_kept == 0 || ranks[n_kept - 1] != ranks[i]) {
			ranks[n_kept++] = ranks[i];
		}
	}
	return n_kept;
}

/* Appends a group. */
static enum fsl_status copy_group(struct fsl_profile_cluster *out, struct draft *draft,
				  struct fsl_error *err)
{
	struct fsl_profile_group *group = &out->groups[out->n_groups];
	FSL_TRY(add_told_members(draft, err));
	const struct fsl_profile_parallel_group *told = draft->told;
	size_t n_told = told != NULL ? told->n_ranks : 0;
	*group = (struct fsl_profile_group){
		.hash = fsl_arena_strdup(&out->arena,
					 fsl_strpool_text(out->hashes, draft->hash_id)),
		.id = fsl_arena_strdup(&out->arena, told != NULL ? told->id : ""),
		.name = fsl_arena_strdup(&out->arena, told != NULL ? told->name : ""),
		.is_p2p = draft->is_p2p,
		.ranks = fsl_arena_take(&out->arena, (draft->n_seen + n_told) * sizeof(int32_t)),
		.seen = fsl_arena_take(&out->arena, draft->n_seen * sizeof(int32_t)),
		.n_seen = draft->n_seen,
		.members = fsl_arena_take(&out->arena,
					  (draft->n_members + 1) * sizeof(*group->members)),
		.n_members = draft->n_members};
	if (group->hash == NULL || group->id == NULL || group->name == NULL ||
	    group->ranks == NULL || group->seen == NULL || group->members == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", out->n_groups);
	}
	memcpy(group->seen, draft->seen, draft->n_seen * sizeof(*group->seen));
	group->n_ranks = merge_ranks(draft, group->ranks);
	size_t n_proved = draft->place_max >= 0 ? (size_t)draft->place_max + 1 : 0;
	group->size = group->n_ranks > n_proved ? group->n_ranks : n_proved;
	group->is_size_known =
		told != NULL || n_proved > 0 || fsl_profile_is_call_group(group->hash);
	if (draft->n_members > 0) {
		qsort(draft->members, draft->n_members, sizeof(*draft->members), compare_places);
		memcpy(group->members, draft->members, draft->n_members * sizeof(*group->members));
	}
	out->by_hash[(size_t)draft->hash_id * 2 + draft->is_p2p] = out->n_groups++;
	return FSL_OK;
}

/* Copies collective groups first. */
static enum fsl_status copy_groups(struct fsl_profile_cluster *out, struct collection *all,
				   struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	out->groups = fsl_arena_alloc(&out->arena, (all->n_drafts + 1) * sizeof(*out->groups));
	out->by_hash = fsl_arena_take(&out->arena, (all->n_by_hash + 1) * sizeof(*out->by_hash));
	if (out->groups == NULL || out->by_hash == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", all->n_drafts);
	}
	for (size_t i = 0; i < all->n_by_hash; i++) {
		out->by_hash[i] = SIZE_MAX;
	}
	for (size_t i = 0; i < all->n_drafts && status == FSL_OK; i++) {
		status = all->drafts[i].is_p2p ? FSL_OK : copy_group(out, &all->drafts[i], err);
	}
	for (size_t i = 0; i < all->n_drafts && status == FSL_OK; i++) {
		status = all->drafts[i].is_p2p ? copy_group(out, &all->drafts[i], err) : FSL_OK;
	}
	return status;
}

/* True if all ranks that the job has were captured. */
static bool has_all_ranks(const struct fsl_profile *profile)
{
	int64_t world = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		int64_t own = profile->ranks[r].info.world_size;
		world = own > world ? own : world;
	}
	return world > 0 && profile->n_ranks >= (size_t)world;
}

enum fsl_status fsl_cluster_find_groups(struct fsl_profile_cluster *out,
					const struct fsl_profile *profile, struct fsl_error *err)
{
	struct collection all = {.hashes = fsl_strpool_create()};
	out->hashes = all.hashes;
	enum fsl_status status =
		all.hashes != NULL ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		status = collect_rank(&all, &profile->ranks[r], err);
	}
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		collect_waits(&all, &profile->ranks[r]);
	}
	if (status == FSL_OK) {
		tell_all(&all, profile);
		status = copy_groups(out, &all, err);
	}
	for (size_t g = 0; g < out->n_groups && has_all_ranks(profile); g++) {
		out->groups[g].is_size_known = true;
	}
	for (size_t i = 0; i < all.n_drafts; i++) {
		fsl_free(all.drafts[i].seen);
		fsl_free(all.drafts[i].members);
	}
	fsl_free(all.drafts);
	fsl_free(all.by_hash);
	return status;
}

size_t fsl_profile_group_find(const struct fsl_profile_cluster *cluster, const char *hash,
			      bool is_p2p)
{
	uint32_t id = cluster->hashes != NULL
			      ? fsl_strpool_find(cluster->hashes, hash, strlen(hash))
			      : FSL_STR_NONE;
	return id != FSL_STR_NONE ? cluster->by_hash[(size_t)id * 2 + is_p2p] : SIZE_MAX;
}

int32_t fsl_profile_group_rank(const struct fsl_profile_group *group, int32_t place)
{
	const struct fsl_profile_member key = {.place = place};
	const struct fsl_profile_member *member =
		group->n_members > 0 ? bsearch(&key, group->members, group->n_members,
					       sizeof(*group->members), compare_places)
				     : NULL;
	return member != NULL ? member->rank : -1;
}
