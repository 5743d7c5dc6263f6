/* Sorts the operators and links of all ranks in the order of the peer's files. */
#include "report/msprof/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

char *fsl_peer_ranks_text(const int32_t *ranks, size_t n_ranks, bool is_tuple)
{
	enum { RANK_BYTES_MAX = 16 };
	size_t size = n_ranks * RANK_BYTES_MAX + 4, length = 1;
	char *text = fsl_calloc(size, 1);
	if (text == NULL) {
		return NULL;
	}
	text[0] = '(';
	for (size_t i = 0; i < n_ranks; i++) {
		const char *separator = i == 0 ? "" : is_tuple ? ", " : ",";
		int n = snprintf(text + length, size - length, "%s%" PRId32, separator, ranks[i]);
		length += n > 0 ? (size_t)n : 0;
	}
	(void)snprintf(text + length, size - length, "%s)", is_tuple && n_ranks == 1 ? "," : "");
	return text;
}

static enum fsl_status name_set(struct fsl_peer_index *index, const struct fsl_profile_group *group,
				uint32_t *set, struct fsl_error *err)
{
	char *text = fsl_peer_ranks_text(group->seen, group->n_seen, true);
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", group->n_seen);
	}
	enum fsl_status status = fsl_strpool_intern(index->sets, text, strlen(text), set, err);
	fsl_free(text);
	return status;
}

static enum fsl_status name_sets(struct fsl_peer_index *index, uint32_t *sets,
				 struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t g = 0; g < index->cluster->n_groups && status == FSL_OK; g++) {
		status = name_set(index, &index->cluster->groups[g], &sets[g], err);
	}
	return status;
}

/* Fills hash, set and name, which operators and links share. @group: SIZE_MAX if there is none. */
static enum fsl_status place_entry(struct fsl_peer_index *index, const uint32_t *sets, size_t group,
				   struct fsl_peer_entry *entry, const char *name,
				   struct fsl_error *err)
{
	if (group == SIZE_MAX) {
		return FSL_OK;
	}
	const char *hash = index->cluster->groups[group].hash;
	entry->set = sets[group];
	entry->hash = fsl_strpool_find(index->cluster->hashes, hash, strlen(hash));
	return fsl_strpool_intern(index->names, name, strlen(name), &entry->name, err);
}

static enum fsl_status append(struct fsl_peer_entries *entries, const struct fsl_peer_entry *entry,
			      struct fsl_error *err)
{
	enum fsl_status status = FSL_GROW(entries->items, entries->capacity, entries->n + 1, err);
	if (status == FSL_OK) {
		entries->items[entries->n++] = *entry;
	}
	return status;
}

static enum fsl_status add_comms(struct fsl_peer_index *index, const uint32_t *sets, size_t r,
				 struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &index->profile->ranks[r];
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < rank->n_comms && status == FSL_OK; i++) {
		const struct fsl_profile_comm *comm = &rank->comms[i];
		struct fsl_peer_entry entry = {
			.step = comm->step, .rank = (uint32_t)r, .at = (uint32_t)i};
		size_t group = fsl_profile_group_find(index->cluster,
						      fsl_strpool_text(rank->names, comm->group_id),
						      comm->is_p2p);
		status = place_entry(index, sets, group, &entry,
				     fsl_strpool_text(rank->names, comm->name_id), err);
		if (status == FSL_OK && group != SIZE_MAX) {
			status = append(&index->comms, &entry, err);
		}
	}
	return status;
}

static enum fsl_status add_links(struct fsl_peer_index *index, const uint32_t *sets, size_t r,
				 struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &index->profile->ranks[r];
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < rank->n_links && status == FSL_OK; i++) {
		const struct fsl_profile_link *link = &rank->links[i];
		struct fsl_peer_entry entry = {
			.step = link->step, .rank = (uint32_t)r, .at = (uint32_t)i};
		size_t at = fsl_profile_group_find(index->cluster,
						   fsl_strpool_text(rank->names, link->group_id),
						   link->is_p2p);
		status = place_entry(index, sets, at, &entry,
				     fsl_strpool_text(rank->names, link->label_id), err);
		if (status != FSL_OK || at == SIZE_MAX) {
			continue;
		}
		const struct fsl_profile_group *group = &index->cluster->groups[at];
		entry.src = fsl_profile_group_rank(group, link->src);
		entry.dst = fsl_profile_group_rank(group, link->dst);
		if (entry.src < 0 || entry.dst < 0) {
			entry.src = entry.dst = -1;
		}
		status = append(&index->links, &entry, err);
	}
	return status;
}

static int compare_heads(const struct fsl_peer_entry *a, const struct fsl_peer_entry *b)
{
	int order = FSL_ORDER(a->set, b->set);
	return order != 0 ? order : FSL_ORDER(a->step, b->step);
}

static int compare_tails(const struct fsl_peer_entry *a, const struct fsl_peer_entry *b)
{
	int order = FSL_ORDER(a->src, b->src);
	order = order != 0 ? order : FSL_ORDER(a->dst, b->dst);
	return order != 0 ? order : FSL_ORDER(a->rank, b->rank);
}

static int compare_by_name(const void *left, const void *right)
{
	const struct fsl_peer_entry *a = left, *b = right;
	int order = compare_heads(a, b);
	order = order != 0 ? order : FSL_ORDER(a->name, b->name);
	order = order != 0 ? order : FSL_ORDER(a->hash, b->hash);
	order = order != 0 ? order : compare_tails(a, b);
	return order != 0 ? order : FSL_ORDER(a->at, b->at);
}

static int compare_by_group(const void *left, const void *right)
{
	const struct fsl_peer_entry *a = left, *b = right;
	int order = compare_heads(a, b);
	order = order != 0 ? order : FSL_ORDER(a->hash, b->hash);
	order = order != 0 ? order : compare_tails(a, b);
	order = order != 0 ? order : FSL_ORDER(a->name, b->name);
	return order != 0 ? order : FSL_ORDER(a->at, b->at);
}

static void sort(struct fsl_peer_entries *entries, int (*compare)(const void *, const void *))
{
	if (entries->n > 0) {
		qsort(entries->items, entries->n, sizeof(*entries->items), compare);
	}
}

/* Drops repeated keys, which would make the files unreadable; the first one stays. */
static void drop_repeated(struct fsl_peer_entries *comms)
{
	size_t n = 0;
	for (size_t i = 0; i < comms->n; i++) {
		struct fsl_peer_entry *last = n > 0 ? &comms->items[n - 1] : NULL;
		const struct fsl_peer_entry *entry = &comms->items[i];
		if (last == NULL || compare_heads(last, entry) != 0 || last->name != entry->name ||
		    last->hash != entry->hash || last->rank != entry->rank) {
			comms->items[n++] = *entry;
		}
	}
	comms->n = n;
}

/* True for "-top1", "-middle" and "-bottom1": one occurrence that "-total" contains, too. */
static bool is_sample(const char *label)
{
	bool has_sample = strstr(label, "top") != NULL || strstr(label, "middle") != NULL ||
			  strstr(label, "bottom") != NULL;
	return has_sample && strstr(label, "total") == NULL;
}

static enum fsl_status select_sums(struct fsl_peer_index *index, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < index->comms.n && status == FSL_OK; i++) {
		status = append(&index->comm_sums, &index->comms.items[i], err);
	}
	for (size_t i = 0; i < index->links.n && status == FSL_OK; i++) {
		const struct fsl_peer_entry *entry = &index->links.items[i];
		if (entry->src >= 0 && !is_sample(fsl_strpool_text(index->names, entry->name))) {
			status = append(&index->link_sums, entry, err);
		}
	}
	sort(&index->comm_sums, compare_by_group);
	sort(&index->link_sums, compare_by_group);
	return status;
}

enum fsl_status fsl_peer_index_init(struct fsl_peer_index *out, const struct fsl_profile *profile,
				    const struct fsl_profile_cluster *cluster,
				    struct fsl_error *err)
{
	*out = (struct fsl_peer_index){.profile = profile,
				       .cluster = cluster,
				       .names = fsl_strpool_create(),
				       .sets = fsl_strpool_create()};
	uint32_t *sets = fsl_calloc(cluster->n_groups + 1, sizeof(*sets));
	enum fsl_status status = out->names != NULL && out->sets != NULL && sets != NULL
					 ? name_sets(out, sets, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY,
						    "out of memory: groups=%zu", cluster->n_groups);
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		status = add_comms(out, sets, r, err);
		status = status == FSL_OK ? add_links(out, sets, r, err) : status;
	}
	fsl_free(sets);
	if (status == FSL_OK) {
		sort(&out->comms, compare_by_name);
		sort(&out->links, compare_by_name);
		drop_repeated(&out->comms);
		status = select_sums(out, err);
	}
	if (status != FSL_OK) {
		fsl_peer_index_fini(out);
	}
	return status;
}

void fsl_peer_index_fini(struct fsl_peer_index *index)
{
	fsl_strpool_destroy(index->names);
	fsl_strpool_destroy(index->sets);
	fsl_free(index->comms.items);
	fsl_free(index->links.items);
	fsl_free(index->comm_sums.items);
	fsl_free(index->link_sums.items);
	*index = (struct fsl_peer_index){0};
}

static bool is_same(const struct fsl_peer_entry *a, const struct fsl_peer_entry *b,
		    enum fsl_peer_run kind)
{
	switch (kind) {
	case FSL_PEER_RUN_SET:
		return a->set == b->set;
	case FSL_PEER_RUN_STEP:
		return a->step == b->step;
	case FSL_PEER_RUN_NAME:
		return a->name == b->name && a->hash == b->hash;
	case FSL_PEER_RUN_GROUP:
		return a->hash == b->hash;
	case FSL_PEER_RUN_LINK:
		return a->src == b->src && a->dst == b->dst;
	case FSL_PEER_RUN_RANK:
		return a->rank == b->rank;
	}
	return false;
}

size_t fsl_peer_run_end(const struct fsl_peer_entries *entries, size_t begin, size_t end,
			enum fsl_peer_run kind)
{
	size_t i = begin;
	while (i < end && is_same(&entries->items[i], &entries->items[begin], kind)) {
		i++;
	}
	return i;
}

const struct fsl_profile_comm *fsl_peer_comm(const struct fsl_peer_index *index,
					     const struct fsl_peer_entry *entry)
{
	return &index->profile->ranks[entry->rank].comms[entry->at];
}

const struct fsl_profile_link *fsl_peer_link(const struct fsl_peer_index *index,
					     const struct fsl_peer_entry *entry)
{
	return &index->profile->ranks[entry->rank].links[entry->at];
}

int32_t fsl_peer_rank(const struct fsl_peer_index *index, const struct fsl_peer_entry *entry)
{
	return index->profile->ranks[entry->rank].rank;
}

const char *fsl_peer_step_text(int64_t step, char *buffer, size_t size)
{
	if (step == FSL_STEP_ABSENT) {
		(void)snprintf(buffer, size, "step");
	} else {
		(void)snprintf(buffer, size, "step%" PRId64, step);
	}
	return buffer;
}
