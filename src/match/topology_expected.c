/* Which ranks a job should have, and on which servers. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/limits.h"
#include "match/topology_parts.h"
#include "text/json_tree.h"

/* Ascend rank tables, version 1.0 and 1.2: which ranks a job has and on which server each runs. */

static int compare_table_ranks(const void *left, const void *right)
{
	const struct fsl_table_rank *a = left, *b = right;
	FSL_ORDER_BY(a->rank, b->rank);
	return strcmp(a->host, b->host);
}

/* Ranks are written as text ("rank_id": "3"); numbers are accepted. */
static bool rank_from_json(const cJSON *json, int32_t *out)
{
	int64_t rank = -1;
	if (cJSON_IsString(json)) {
		if (!fsl_parse_i64(json->valuestring, strlen(json->valuestring), &rank)) {
			return false;
		}
	} else if (cJSON_IsNumber(json)) {
		rank = json->valueint;
	}
	*out = (int32_t)rank;
	return rank >= 0 && rank < FSL_RANKS_MAX;
}

/* Growing list of table ranks, and what is wrong with the table ("" while nothing is). */
struct table {
	struct fsl_table_rank *items;
	size_t n_items, capacity;
	char fault[160];
};

static enum fsl_status read_server(struct table *table, const cJSON *server, size_t server_idx,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(server, "server_id");
	const cJSON *devices = cJSON_GetObjectItemCaseSensitive(server, "device");
	if (!cJSON_IsString(id) || !cJSON_IsArray(devices)) {
		(void)snprintf(table->fault, sizeof(table->fault),
			       "server_list[%zu] needs a text server_id and an array device",
			       server_idx);
		return FSL_OK;
	}
	const char *host = fsl_arena_strdup(arena, id->valuestring);
	if (host == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"rank table\"");
	}
	const cJSON *device;
	cJSON_ArrayForEach(device, devices)
	{
		int32_t rank;
		if (!rank_from_json(cJSON_GetObjectItemCaseSensitive(device, "rank_id"), &rank)) {
			(void)snprintf(table->fault, sizeof(table->fault),
				       "server_list[%zu].device needs a rank_id from 0 to %d",
				       server_idx, FSL_RANKS_MAX - 1);
			return FSL_OK;
		}
		FSL_TRY(FSL_GROW(table->items, table->capacity, table->n_items + 1, err));
		table->items[table->n_items++] =
			(struct fsl_table_rank){.rank = rank, .host = host};
	}
	return FSL_OK;
}

static enum fsl_status read_servers(struct table *table, const cJSON *root, struct fsl_arena *arena,
				    struct fsl_error *err)
{
	const cJSON *servers = cJSON_GetObjectItemCaseSensitive(root, "server_list");
	if (!cJSON_IsArray(servers)) {
		(void)snprintf(table->fault, sizeof(table->fault), "it has no array server_list");
		return FSL_OK;
	}
	size_t server_idx = 0;
	const cJSON *server;
	cJSON_ArrayForEach(server, servers)
	{
		enum fsl_status status = read_server(table, server, server_idx++, arena, err);
		if (status != FSL_OK || table->fault[0] != '\0') {
			return status;
		}
	}
	if (table->n_items > 1) {
		qsort(table->items, table->n_items, sizeof(*table->items), compare_table_ranks);
	}
	for (size_t i = 1; i < table->n_items; i++) {
		if (table->items[i].rank == table->items[i - 1].rank) {
			(void)snprintf(table->fault, sizeof(table->fault), "rank %d occurs twice",
				       table->items[i].rank);
			return FSL_OK;
		}
	}
	if (table->n_items == 0) {
		(void)snprintf(table->fault, sizeof(table->fault), "it lists no rank");
	}
	return FSL_OK;
}

static enum fsl_status parse_table(struct table *table, const char *path, struct fsl_arena *arena,
				   struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	struct fsl_error read_err = {0};
	enum fsl_status status = fsl_file_read_text(path, &text, &length, &read_err);
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	if (status != FSL_OK) {
		(void)snprintf(table->fault, sizeof(table->fault), "%.150s",
			       fsl_error_root(&read_err));
		return FSL_OK;
	}
	bool is_short = false;
	cJSON *root = fsl_json_tree(text, length, NULL, &is_short);
	if (is_short) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	} else if (root == NULL) {
		(void)snprintf(table->fault, sizeof(table->fault), "it is no JSON document");
		status = FSL_OK;
	} else {
		status = read_servers(table, root, arena, err);
	}
	cJSON_Delete(root);
	fsl_free(text);
	return status;
}

/*
 * Reads server_list[].device[].rank_id of a rank table, version 1.0 or 1.2. A file that is absent
 * gives none, one that cannot be used gives none and a warning.
 */
static enum fsl_status read_rank_table(const char *path, struct fsl_arena *arena,
				       struct fsl_rank_table *out, struct fsl_error *err)
{
	struct stat info;
	struct table table = {0};
	/* sysTrace's default names a file that most jobs do not have. */
	if (path == NULL || path[0] == '\0' || stat(path, &info) != 0) {
		return FSL_OK;
	}
	enum fsl_status status = parse_table(&table, path, arena, err);
	if (status == FSL_OK && table.fault[0] != '\0') {
		fsl_log(FSL_LOG_WARNING, "topology",
			"rank table not used, mend or remove it: path=\"%s\", why=\"%s\"", path,
			table.fault);
	} else if (status == FSL_OK && table.n_items > 0) {
		status = FSL_ARENA_NEW(out->items, arena, table.n_items, "items", err);
		if (status == FSL_OK) {
			memcpy(out->items, table.items, table.n_items * sizeof(*out->items));
			out->n_items = table.n_items;
		}
	}
	fsl_free(table.items);
	return status;
}

struct rank_set {
	int32_t *items;
	size_t n_items, capacity;
};

static enum fsl_status add_rank(struct rank_set *set, int32_t rank, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(set->items, set->capacity, set->n_items + 1, err));
	set->items[set->n_items++] = rank;
	return FSL_OK;
}

static enum fsl_status add_configured(struct rank_set *set, const struct fsl_config *config,
				      struct fsl_error *err)
{
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		const struct fsl_domain *domain = &config->hccl_domain[kind];
		for (size_t i = 0; i < domain->n_lists; i++) {
			const struct fsl_rank_list *list = &domain->lists[i];
			for (size_t k = 0; k < list->n_ranks; k++) {
				FSL_TRY(add_rank(set, list->ranks[k], err));
			}
		}
	}
	return FSL_OK;
}

/*
 * True when one rank behind the @n_seen that left operators is missing: some communicator was used
 * by one rank alone, and the largest groups share out a job of one more rank, and not this one.
 * Unless most ranks have such a communicator: then a part of the job was collected, or its groups
 * have one member.
 */
static bool lacks_last_rank(const struct fsl_topology *topology, size_t n_seen)
{
	size_t n_alone = 0, n_largest = 1;
	int32_t before = -1; /* groups are sorted by their ranks */
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->n_ranks == 1 && group->n_calls > 0) {
			n_alone += group->ranks[0] != before;
			before = group->ranks[0];
		}
		if (group->n_ranks > n_largest && group->n_ranks < n_seen) {
			n_largest = group->n_ranks;
		}
	}
	bool is_uneven = n_seen % n_largest != 0 && (n_seen + 1) % n_largest == 0;
	return is_uneven && n_alone > 0 && 2 * n_alone <= n_seen + 1;
}

/*
 * 0 to the greatest rank seen: holes are missing ranks, unless most of the numbers are holes. The
 * first @n_before numbers are those of an earlier run, which saw so many ranks. Without holes, the
 * next number may be missing as well.
 */
static enum fsl_status add_numbers(struct rank_set *set, const struct fsl_topology *topology,
				   const struct fsl_run *run, size_t n_before,
				   struct fsl_error *err)
{
	int32_t greatest = run->n_ranks > 0 ? run->ranks[run->n_ranks - 1].rank : -1;
	size_t n_seen = fsl_ranks_seen(run);
	bool has_holes = (size_t)greatest + 1 != n_seen;
	if (greatest / FSL_SAMPLED_SHARE >= (int64_t)run->n_ranks) {
		fsl_log(FSL_LOG_INFO, "topology",
			"few ranks have files, the others are not taken for missing: "
			"ranks=%zu, greatest_rank=%d",
			run->n_ranks, greatest);
		return FSL_OK;
	}
	if (!has_holes && lacks_last_rank(topology, n_seen)) {
		FSL_TRY(add_rank(set, greatest + 1, err));
	}
	for (int32_t rank = 0; rank <= greatest || (size_t)rank < n_before; rank++) {
		FSL_TRY(add_rank(set, rank, err));
	}
	return FSL_OK;
}

static enum fsl_status add_all(struct rank_set *set, const struct fsl_topology *topology,
			       const struct fsl_run *run, const struct fsl_config *config,
			       const struct fsl_rank_table *table, struct fsl_error *err)
{
	if (fsl_hccl_domain_is_set(config)) {
		FSL_TRY(add_configured(set, config, err));
	} else if (table->n_items > 0) {
		for (size_t i = 0; i < table->n_items; i++) {
			FSL_TRY(add_rank(set, table->items[i].rank, err));
		}
	} else {
		FSL_TRY(add_numbers(set, topology, run, config->seen_ranks.n, err));
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		FSL_TRY(add_rank(set, run->ranks[r].rank, err));
	}
	return FSL_OK;
}

/* Server of a rank: from its file name, else from the rank table; NULL: unknown. */
static const char *host_of(const struct fsl_run *run, int32_t rank,
			   const struct fsl_rank_table *table)
{
	const struct fsl_rank *seen = fsl_run_rank(run, rank);
	if (seen != NULL && strcmp(seen->server_ip, "localhost") != 0) {
		return seen->server_ip;
	}
	size_t begin = 0;
	FSL_BISECT(begin, table->n_items, middle, table->items[middle].rank < rank);
	bool is_listed = begin < table->n_items && table->items[begin].rank == rank;
	return is_listed ? table->items[begin].host : NULL;
}

/* Sorted, each rank once, with its server. */
static enum fsl_status fill(struct fsl_topology *out, struct rank_set *set,
			    const struct fsl_run *run, const struct fsl_rank_table *table,
			    struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(out->expected_ranks, &out->arena, set->n_items, "expected_ranks",
			      err));
	FSL_TRY(FSL_ARENA_NEW(out->expected_hosts, &out->arena, set->n_items, "expected_hosts",
			      err));
	if (set->n_items > 1) {
		qsort(set->items, set->n_items, sizeof(*set->items), fsl_rank_compare);
	}
	for (size_t i = 0; i < set->n_items; i++) {
		if (i > 0 && set->items[i] == set->items[i - 1]) {
			continue;
		}
		const char *host = host_of(run, set->items[i], table);
		const char *copy = host != NULL ? fsl_arena_strdup(&out->arena, host) : NULL;
		if (host != NULL && copy == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"servers\"");
		}
		FSL_ASSERT(i == 0 || set->items[i - 1] < set->items[i]);
		out->expected_hosts[out->n_expected_ranks] = copy;
		out->expected_ranks[out->n_expected_ranks++] = set->items[i];
	}
	return FSL_OK;
}

enum fsl_status fsl_topology_expect(struct fsl_topology *out, const struct fsl_run *run,
				    const struct fsl_config *config, struct fsl_error *err)
{
	struct rank_set set = {0};
	struct fsl_rank_table table = {0};
	enum fsl_status status = read_rank_table(config->rank_table_json, &out->arena, &table, err);
	if (status == FSL_OK) {
		status = add_all(&set, out, run, config, &table, err);
	}
	if (status == FSL_OK) {
		status = fill(out, &set, run, &table, err);
	}
	fsl_free(set.items);
	return status;
}
