/* Ascend rank tables, version 1.0 and 1.2: which ranks a job has and on which server each runs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/topology_parts.h"

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
	cJSON *root = cJSON_ParseWithLength(text, length);
	if (root == NULL) {
		(void)snprintf(table->fault, sizeof(table->fault), "it is no JSON document");
		status = FSL_OK;
	} else {
		status = read_servers(table, root, arena, err);
	}
	cJSON_Delete(root);
	fsl_free(text);
	return status;
}

enum fsl_status fsl_rank_table_read(const char *path, struct fsl_arena *arena,
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
		size_t n_bytes = table.n_items * sizeof(*out->items);
		out->items = fsl_arena_alloc(arena, n_bytes);
		if (out->items == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
					  table.n_items);
		} else {
			memcpy(out->items, table.items, n_bytes);
			out->n_items = table.n_items;
		}
	}
	fsl_free(table.items);
	return status;
}
