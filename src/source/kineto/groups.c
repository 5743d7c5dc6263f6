/* Members of the trace's object, and process groups by their names. */
#include "source/kineto/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/try.h"
#include "text/json_walk.h"

enum {
	GROUPS_MAX = 4096, /* jobs have tens */
	RANKS_TEXT_MAX = 160,
};

/* The names that the engine has for kinds of groups, by words that frameworks describe them with.
 */
static const char *kind_of(const char *description)
{
	static const struct {
		const char *word, *kind;
	} kinds[] = {
		{"default_pg", "default_group"},
		{"tensor_and_data", "tp_dp"},
		{"tensor", "tp"},
		{"mesh_tp", "tp"},
		{"pipeline", "pp"},
		{"mesh_pp", "pp"},
		{"context", "cp"},
		{"mesh_cp", "cp"},
		{"expert", "exp"},
		{"mesh_ep", "exp"},
		{"data", "dp"},
		{"mesh_dp", "dp"},
		{"mesh_fsdp", "dp"},
		{"mesh_shard", "dp"},
		{"mesh_replicate", "dp"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcasestr(description, kinds[i].word) != NULL) {
			return kinds[i].kind;
		}
	}
	return description;
}

/* One entry of pg_config. */
struct entry {
	char name[FSL_TRACE_TEXT_MAX], description[FSL_TRACE_TEXT_MAX];
	int32_t *ranks;
	size_t n_ranks, capacity;
};

static void take_text(char to[FSL_TRACE_TEXT_MAX], const struct fsl_json_value *value)
{
	bool is_text = value->token == FSL_JSON_STRING || value->token == FSL_JSON_NUMBER;
	(void)snprintf(to, FSL_TRACE_TEXT_MAX, "%.*s", is_text ? (int)value->length : 0,
		       value->text);
}

static enum fsl_status read_ranks(struct entry *entry, struct fsl_json *json, struct fsl_error *err)
{
	bool is_list = false;
	FSL_TRY(fsl_json_enter_array(json, &is_list, err));
	size_t depth = fsl_json_depth(json);
	while (is_list) {
		struct fsl_json_value value;
		int64_t rank = 0;
		FSL_TRY(fsl_json_next(json, &value, err));
		if (fsl_json_depth(json) < depth) {
			break;
		}
		if (!fsl_json_scaled(&value, 1, FSL_PROFILE_RANKS_MAX - 1, &rank) ||
		    entry->n_ranks == FSL_PROFILE_RANKS_MAX) {
			continue;
		}
		FSL_TRY(FSL_GROW(entry->ranks, entry->capacity, entry->n_ranks + 1, err));
		entry->ranks[entry->n_ranks++] = (int32_t)rank;
	}
	return FSL_OK;
}

static enum fsl_status read_entry(struct entry *entry, struct fsl_json *json, struct fsl_error *err)
{
	for (;;) {
		struct fsl_json_value key;
		bool has_key = false;
		FSL_TRY(fsl_json_next_key(json, &key, &has_key, err));
		if (!has_key) {
			return FSL_OK;
		}
		bool is_name = fsl_json_is(&key, "pg_name");
		if (fsl_json_is(&key, "ranks")) {
			FSL_TRY(read_ranks(entry, json, err));
		} else if (is_name || fsl_json_is(&key, "pg_desc")) {
			FSL_TRY(fsl_json_take_scalar(json, &key, err));
			take_text(is_name ? entry->name : entry->description, &key);
		} else {
			FSL_TRY(fsl_json_skip(json, err));
		}
	}
}

/* "name [0, 1, 2]"; of many ranks the first, how many there are, and a sum of all. */
static void write_group(char *text, size_t size, const char *name, const int32_t *ranks, size_t n)
{
	int length = snprintf(text, size, "%s [", name);
	uint64_t sum = 0;
	bool is_cut = false;
	for (size_t i = 0; i < n; i++) {
		sum = sum * 31 + (uint64_t)ranks[i];
		is_cut |= length > RANKS_TEXT_MAX;
		if (!is_cut && (size_t)length < size) {
			length += snprintf(text + length, size - (size_t)length, "%s%d",
					   i > 0 ? ", " : "", (int)ranks[i]);
		}
	}
	if ((size_t)length < size) {
		(void)snprintf(text + length, size - (size_t)length,
			       is_cut ? ", ... %zu ranks, %016" PRIx64 "]" : "]", n, sum);
	}
}

static enum fsl_status add_group(struct fsl_profile_rank *rank, struct entry *entry,
				 struct fsl_error *err)
{
	char text[2 * FSL_TRACE_TEXT_MAX];
	struct fsl_profile_info *info = &rank->info;
	if (entry->name[0] == '\0' || info->n_groups == GROUPS_MAX) {
		return FSL_OK;
	}
	write_group(text, sizeof(text), entry->name, entry->ranks, entry->n_ranks);
	struct fsl_profile_parallel_group group = {
		.id = fsl_arena_strdup(&rank->arena, text),
		.name = fsl_arena_strdup(&rank->arena, kind_of(entry->description)),
		.ranks = entry->ranks,
		.n_ranks = entry->n_ranks,
	};
	if (group.id == NULL || group.name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=%zu", info->n_groups);
	}
	FSL_TRY(FSL_GROW(info->groups, info->groups_capacity, info->n_groups + 1, err));
	info->groups[info->n_groups++] = group;
	entry->ranks = NULL; /* the group's from now on */
	return FSL_OK;
}

static enum fsl_status read_groups(struct fsl_profile_rank *rank, struct fsl_json *json,
				   struct fsl_error *err)
{
	bool is_list = false;
	FSL_TRY(fsl_json_enter_array(json, &is_list, err));
	size_t depth = fsl_json_depth(json);
	while (is_list) {
		struct fsl_json_value value;
		struct entry entry = {.name = "", .description = ""};
		FSL_TRY(fsl_json_next(json, &value, err));
		if (fsl_json_depth(json) < depth) {
			break;
		}
		if (value.token != FSL_JSON_OBJECT_BEGIN) {
			continue; /* a list inside ends in a later round */
		}
		enum fsl_status status = read_entry(&entry, json, err);
		FSL_THEN(status, add_group(rank, &entry, err));
		fsl_free(entry.ranks);
		FSL_TRY(status);
	}
	return FSL_OK;
}

static enum fsl_status read_distributed(struct fsl_profile_rank *rank, struct fsl_json *json,
					struct fsl_error *err)
{
	bool is_entered = false;
	FSL_TRY(fsl_json_enter_object(json, &is_entered, err));
	while (is_entered) {
		struct fsl_json_value key;
		bool has_key = false;
		FSL_TRY(fsl_json_next_key(json, &key, &has_key, err));
		if (!has_key) {
			break;
		}
		if (fsl_json_is(&key, "pg_config")) {
			FSL_TRY(read_groups(rank, json, err));
		} else if (fsl_json_is(&key, "world_size")) {
			FSL_TRY(fsl_json_take_scalar(json, &key, err));
			(void)fsl_json_scaled(&key, 1, FSL_RANKS_MAX, &rank->info.world_size);
		} else {
			FSL_TRY(fsl_json_skip(json, err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_kineto_read_member(struct fsl_kineto_events *events, struct fsl_json *json,
				       const struct fsl_json_value *key, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = events->rank;
	struct fsl_json_value value;
	if (fsl_json_is(key, "distributedInfo")) {
		return read_distributed(rank, json, err);
	}
	bool is_base = fsl_json_is(key, "baseTimeNanoseconds");
	if (!is_base && !fsl_json_is(key, "host_name")) {
		return fsl_json_skip(json, err);
	}
	FSL_TRY(fsl_json_take_scalar(json, &value, err));
	if (is_base) {
		(void)fsl_json_scaled(&value, 1, FSL_JSON_TIME_MAX_NS, &events->base_ns);
	} else if (value.token == FSL_JSON_STRING) {
		rank->info.host_name =
			fsl_arena_printf(&rank->arena, "%.*s", (int)value.length, value.text);
	}
	return rank->info.host_name != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
}

/* The told group of this name; NULL: none. */
static const struct fsl_profile_parallel_group *find_group(const struct fsl_profile_info *info,
							   const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < info->n_groups; i++) {
		if (strncmp(info->groups[i].id, name, length) == 0 &&
		    strncmp(info->groups[i].id + length, " [", 2) == 0) {
			return &info->groups[i];
		}
	}
	return NULL;
}

/* Ranks of "[0, 1, 2]"; none if the text was cut. */
static enum fsl_status parse_ranks(struct entry *entry, const char *text, struct fsl_error *err)
{
	size_t length = strlen(text);
	if (length < 2 || text[0] != '[' || text[length - 1] != ']') {
		return FSL_OK;
	}
	for (const char *at = text + 1; *at != '\0';) {
		int64_t rank = 0;
		size_t n = strspn(at, "0123456789");
		if (n > 0 && fsl_parse_i64(at, n, &rank) && rank < FSL_PROFILE_RANKS_MAX) {
			FSL_TRY(FSL_GROW(entry->ranks, entry->capacity, entry->n_ranks + 1, err));
			entry->ranks[entry->n_ranks++] = (int32_t)rank;
		}
		at += n > 0 ? n : 1;
	}
	return FSL_OK;
}

enum fsl_status fsl_kineto_list_groups(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = events->rank;
	uint32_t last_id = FSL_STR_NONE;
	if (rank->info.n_groups > 0) {
		return FSL_OK;
	}
	for (size_t i = 0; i < events->n_facts; i++) {
		const struct fsl_kineto_facts *facts = &events->facts[i];
		const char *name = fsl_strpool_text(rank->names, facts->group_id);
		struct entry entry = {.name = "", .description = ""};
		if (facts->group_id == last_id || facts->ranks_id == FSL_STR_NONE ||
		    find_group(&rank->info, name) != NULL) {
			continue;
		}
		last_id = facts->group_id;
		(void)snprintf(entry.name, sizeof(entry.name), "%s", name);
		const char *about = facts->about_id != FSL_STR_NONE
					    ? fsl_strpool_text(rank->names, facts->about_id)
					    : name;
		(void)snprintf(entry.description, sizeof(entry.description), "%s", about);
		enum fsl_status status =
			parse_ranks(&entry, fsl_strpool_text(rank->names, facts->ranks_id), err);
		if (status == FSL_OK && entry.n_ranks > 0) {
			status = add_group(rank, &entry, err);
		}
		fsl_free(entry.ranks);
		FSL_TRY(status);
	}
	return FSL_OK;
}

enum fsl_status fsl_kineto_group_of(struct fsl_profile_rank *rank,
				    const struct fsl_kineto_facts *facts, uint32_t *id,
				    struct fsl_error *err)
{
	char text[2 * FSL_TRACE_TEXT_MAX];
	const struct fsl_profile_info *info = &rank->info;
	bool has_name = facts != NULL && facts->group_id != FSL_STR_NONE;
	const struct fsl_profile_parallel_group *group =
		has_name ? find_group(info, fsl_strpool_text(rank->names, facts->group_id)) : NULL;
	if (group == NULL && info->n_groups == 1) {
		group = &info->groups[0]; /* one group alone needs no name */
	}
	*id = FSL_STR_NONE;
	if (group == NULL && !has_name) {
		return FSL_OK;
	}
	if (group == NULL) {
		bool has_ranks = facts->ranks_id != FSL_STR_NONE;
		(void)snprintf(text, sizeof(text), "%s%s%s",
			       fsl_strpool_text(rank->names, facts->group_id), has_ranks ? " " : "",
			       has_ranks ? fsl_strpool_text(rank->names, facts->ranks_id) : "");
	}
	const char *name = group != NULL ? group->id : text;
	return fsl_strpool_intern(rank->names, name, strlen(name), id, err);
}
