/* model_config.json: the rows of the key table, unknown keys, and keys with their own structure. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "config/config_load.h"
#include "model/run.h"
#include "model/verdict.h"
#include "plugin/registry.h"

enum { KEYS_MAX = 128 };
/* 1973 as ms since 1970: a smaller number is in seconds, not ms. */
#define LEAST_PLAUSIBLE_MS 1e11
/* A greater number of ms does not fit into ns; it is in us or ns. */
#define GREATEST_MS 9.2e12

/* True if @key is a row of the model file, or an object that holds rows ("enable_detect_type"). */
static bool is_model_key(const char *key, bool *is_holder)
{
	size_t n_keys = 0, length = strlen(key);
	const struct fsl_config_key *rows = fsl_config_keys(&n_keys);
	*is_holder = false;
	for (size_t i = 0; i < n_keys; i++) {
		if (rows[i].file != FSL_CONFIG_MODEL || strncmp(rows[i].key, key, length) != 0) {
			continue;
		}
		if (rows[i].key[length] == '\0') {
			return true; /* "detectors" is a row with a function of its own */
		}
		*is_holder = *is_holder || rows[i].key[length] == '.';
	}
	return *is_holder;
}

/* Last part of a dotted path. */
static const char *leaf(const char *path)
{
	const char *dot = strrchr(path, '.');
	return dot != NULL ? dot + 1 : path;
}

/*
 * Reports the member @name of the object that @prefix names ("", "replay."). For a key at the wrong
 * level ("enable_cal" at the top) the nearest key is the row with the same name in another object.
 */
static enum fsl_status report_unknown(struct fsl_config_loader *loader, const char *prefix,
				      const char *name)
{
	const char *known[KEYS_MAX];
	size_t n_keys = 0, n_known = 0, n_prefix = strlen(prefix);
	const struct fsl_config_key *rows = fsl_config_keys(&n_keys);
	for (size_t i = 0; i < n_keys; i++) {
		if (rows[i].file != FSL_CONFIG_MODEL || strchr(rows[i].key, '<') != NULL) {
			continue;
		}
		if (strcmp(leaf(rows[i].key), name) == 0) {
			return fsl_config_problem(
				loader, FSL_LOG_WARNING,
				"unknown key: file=\"%s\", key=\"%s%s\", did_you_mean=\"%s\"",
				loader->file, prefix, name, rows[i].key);
		}
		if (n_known < KEYS_MAX && strncmp(rows[i].key, prefix, n_prefix) == 0) {
			known[n_known++] = rows[i].key + n_prefix;
		}
	}
	return fsl_config_unknown(loader, prefix, name, known, n_known);
}

/* Checks the members of "enable_detect_type" and "fail_slow_ops". */
static enum fsl_status check_holder(struct fsl_config_loader *loader, const cJSON *holder)
{
	if (!cJSON_IsObject(holder)) {
		return fsl_config_wrong(loader, holder->string, holder, "object");
	}
	const char *prefix = fsl_config_path(loader, "%s.", holder->string);
	for (const cJSON *item = holder->child; item != NULL; item = item->next) {
		bool is_holder = false;
		if (!is_model_key(fsl_config_path(loader, "%s%s", prefix, item->string),
				  &is_holder)) {
			FSL_TRY(report_unknown(loader, prefix, item->string));
		}
	}
	return FSL_OK;
}

/* True if the file is a metric file given as model file: its members look like metrics. */
static bool is_metric_file(const cJSON *root)
{
	for (const cJSON *item = root->child; item != NULL; item = item->next) {
		if (cJSON_HasObjectItem(item, "aggregation") ||
		    cJSON_HasObjectItem(item, "time_detector") ||
		    cJSON_HasObjectItem(item, "space_detector")) {
			return true;
		}
	}
	return false;
}

/* Counts a key of the file, or notes that it has no effect. */
static void note_key(struct fsl_config_loader *loader, const char *key)
{
	size_t n_keys = 0;
	const struct fsl_config_key *rows = fsl_config_keys(&n_keys);
	for (size_t i = 0; i < n_keys; i++) {
		if (rows[i].file != FSL_CONFIG_MODEL || strcmp(rows[i].key, key) != 0 ||
		    rows[i].kind != FSL_KIND_UNUSED) {
			continue;
		}
		if (!rows[i].is_ours) { /* "$schema" and "_comment" are for people and editors */
			fsl_config_name(loader, &loader->idle, key);
		}
		return;
	}
	loader->config->n_known_keys++;
}

static enum fsl_status check_keys(struct fsl_config_loader *loader, const cJSON *root)
{
	if (is_metric_file(root)) {
		return fsl_config_problem(loader, FSL_LOG_ERROR,
					  "this is a metric configuration, give the model "
					  "configuration beside it: file=\"%s\"",
					  loader->file);
	}
	for (const cJSON *item = root->child; item != NULL; item = item->next) {
		bool is_holder = false;
		/* A member whose name has a dot is no row, although rows are written with dots. */
		if (strchr(item->string, '.') != NULL || !is_model_key(item->string, &is_holder)) {
			FSL_TRY(report_unknown(loader, "", item->string));
			continue;
		}
		if (is_holder) {
			FSL_TRY(check_holder(loader, item));
		}
		note_key(loader, item->string);
	}
	return fsl_config_tell_names(loader);
}

/* One end of the range: ms since 1970 as a number, or a text as on the command line. */
static bool range_end(const cJSON *item, int64_t *out_ns)
{
	if (cJSON_IsString(item)) {
		return fsl_parse_time(item->valuestring, out_ns);
	}
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > GREATEST_MS) {
		return false;
	}
	/* Whole and fractional ms apart, so that no digit is lost. */
	int64_t whole = (int64_t)item->valuedouble;
	double part = item->valuedouble - (double)whole;
	*out_ns = whole * FSL_NS_PER_MS + (int64_t)(part * FSL_NS_PER_MS + 0.5);
	return true;
}

static enum fsl_status load_range(struct fsl_config_loader *loader, const cJSON *root)
{
	static const char key[] = "slow_node_detection_range_times";
	static const char allowed[] = "[] or [begin, end], each epoch in ms or ISO 8601 text, "
				      "begin not after end";
	struct fsl_config *config = loader->config;
	const cJSON *item = fsl_config_item(root, key);
	bool is_empty =
		item == NULL || cJSON_IsNull(item) || (cJSON_IsArray(item) && item->child == NULL);
	if (is_empty) {
		return fsl_config_record(loader, key, "[]", item == NULL);
	}
	int64_t begin_ns = 0, end_ns = 0;
	if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 ||
	    !range_end(item->child, &begin_ns) || !range_end(item->child->next, &end_ns) ||
	    begin_ns > end_ns) {
		return fsl_config_wrong(loader, key, item, allowed);
	}
	config->has_range = true;
	config->range_begin_ns = begin_ns;
	config->range_end_ns = end_ns;
	if (cJSON_IsNumber(item->child->next) &&
	    item->child->next->valuedouble < LEAST_PLAUSIBLE_MS) {
		FSL_TRY(fsl_config_problem(loader, FSL_LOG_WARNING,
					   "range lies before 1973, are these seconds in the place "
					   "of ms: file=\"%s\", key=\"%s\"",
					   loader->file, key));
	}
	return fsl_config_record_json(loader, key, item, false);
}

static enum fsl_status load_causes(struct fsl_config_loader *loader, const cJSON *root)
{
	static const char key[] = "causes";
	const cJSON *item = fsl_config_item(root, key);
	uint32_t causes = 0;
	loader->config->causes = (UINT32_C(1) << FSL_CAUSES_N) - 1;
	if (item == NULL) {
		return fsl_config_record(loader, key, fsl_config_row(key)->fallback, true);
	}
	bool is_known = true;
	for (const cJSON *name = item->child; name != NULL; name = name->next) {
		int cause = cJSON_IsString(name) ? fsl_cause_from_text(name->valuestring) : -1;
		is_known = is_known && cause >= 0;
		causes |= cause >= 0 ? UINT32_C(1) << cause : 0;
	}
	if (!cJSON_IsArray(item) || !is_known || causes == 0) {
		return fsl_config_wrong(loader, key, item,
					"list of compute, host, dataloader, storage, network, "
					"at least one");
	}
	loader->config->causes = causes;
	return fsl_config_record_json(loader, key, item, false);
}

/* True for an expression with a group that tells a time. */
static bool is_log_pattern(const cJSON *item)
{
	static const char *const times[] = {"(?<time>", "(?<rate>", "(?<span>", "(?<elapsed>"};
	bool has_time = false;
	if (!cJSON_IsString(item)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		has_time = has_time || strstr(item->valuestring, times[i]) != NULL;
	}
	int code = 0;
	PCRE2_SIZE at = 0;
	pcre2_code *compiled =
		pcre2_compile((PCRE2_SPTR)item->valuestring, PCRE2_ZERO_TERMINATED,
			      PCRE2_DUPNAMES | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
	pcre2_code_free(compiled);
	return has_time && compiled != NULL;
}

/* A list of texts. */
struct text_list {
	const char *key, *allowed; /* what is told of a wrong one */
	size_t n_max;
	bool (*is_good)(const cJSON *item);
};

static enum fsl_status load_texts(struct fsl_config_loader *loader, const cJSON *root,
				  const struct text_list *list, const char ***texts,
				  size_t *n_texts)
{
	struct fsl_arena *arena = &loader->config->arena;
	const cJSON *item = fsl_config_item(root, list->key);
	if (item == NULL) {
		return fsl_config_record(loader, list->key, fsl_config_row(list->key)->fallback,
					 true);
	}
	size_t n = cJSON_IsArray(item) ? (size_t)cJSON_GetArraySize(item) : 0, n_good = 0;
	bool is_good = cJSON_IsArray(item) && n <= list->n_max;
	const char **copies = fsl_arena_alloc(arena, (n + 1) * sizeof(*copies));
	if (copies == NULL) {
		return fsl_config_no_memory(loader);
	}
	for (const cJSON *one = item->child; is_good && one != NULL; one = one->next) {
		is_good = list->is_good(one);
		const char *copy = is_good ? fsl_arena_strdup(arena, one->valuestring) : "";
		if (copy == NULL) {
			return fsl_config_no_memory(loader);
		}
		copies[n_good++] = copy;
	}
	if (!is_good) {
		return fsl_config_wrong(loader, list->key, item, list->allowed);
	}
	copies[n] = NULL;
	*texts = copies;
	*n_texts = n;
	return fsl_config_record_json(loader, list->key, item, false);
}

static enum fsl_status load_log_patterns(struct fsl_config_loader *loader, const cJSON *root)
{
	static const struct text_list list = {
		.key = "log_patterns",
		.allowed =
			"list of at most 64 regular expressions (PCRE2), each with a group time, "
			"rate, span or elapsed, as in "
			"step (?<step>\\d+) took (?<time>\\d+) (?<unit>ms)",
		.n_max = 64,
		.is_good = is_log_pattern,
	};
	return load_texts(loader, root, &list, &loader->config->log_patterns,
			  &loader->config->n_log_patterns);
}

static bool is_word(const cJSON *item)
{
	return cJSON_IsString(item);
}

static enum fsl_status load_command_hook(struct fsl_config_loader *loader, const cJSON *root)
{
	static const struct text_list list = {
		.key = "command_hook",
		.allowed = "list of at most 64 texts: a program, then its arguments; no shell "
			   "reads them",
		.n_max = 64,
		.is_good = is_word,
	};
	return load_texts(loader, root, &list, &loader->config->command_hook,
			  &loader->config->n_command_hook);
}

/* Reads one list of ranks, in the order of the file. *ok: it is a list of different ranks. */
static enum fsl_status read_rank_list(struct fsl_config_loader *loader, const cJSON *item,
				      struct fsl_rank_list *out, bool *ok)
{
	size_t n = cJSON_IsArray(item) ? (size_t)cJSON_GetArraySize(item) : 0;
	/* The second half holds a sorted copy, which shows equal ranks. */
	int32_t *ranks = fsl_arena_alloc(&loader->config->arena, 2 * n * sizeof(*ranks));
	if (ranks == NULL) {
		return fsl_config_no_memory(loader);
	}
	*ok = n > 0;
	size_t idx = 0;
	for (const cJSON *rank = item->child; *ok && rank != NULL; rank = rank->next) {
		*ok = fsl_config_is_integer(rank, 0, FSL_RANKS_MAX - 1);
		ranks[idx++] = *ok ? (int32_t)rank->valuedouble : 0;
	}
	if (*ok) {
		memcpy(ranks + n, ranks, n * sizeof(*ranks));
		qsort(ranks + n, n, sizeof(*ranks), fsl_rank_compare);
	}
	for (size_t i = 1; *ok && i < n; i++) {
		*ok = ranks[n + i - 1] != ranks[n + i];
	}
	*out = (struct fsl_rank_list){ranks, n};
	return FSL_OK;
}

/* "tp": [[0, 1], [2, 3]]. */
static enum fsl_status read_domain(struct fsl_config_loader *loader, const cJSON *item,
				   struct fsl_domain *out)
{
	const char *path = fsl_config_path(loader, "hccl_domain.%s", item->string);
	size_t n = cJSON_IsArray(item) ? (size_t)cJSON_GetArraySize(item) : 0;
	struct fsl_rank_list *lists = fsl_arena_alloc(&loader->config->arena, n * sizeof(*lists));
	if (lists == NULL) {
		return fsl_config_no_memory(loader);
	}
	if (!cJSON_IsArray(item)) {
		return fsl_config_wrong(loader, path, item, "list of lists of ranks");
	}
	size_t idx = 0;
	for (const cJSON *list = item->child; list != NULL; list = list->next) {
		bool ok = false;
		FSL_TRY(read_rank_list(loader, list, &lists[idx++], &ok));
		if (!ok) {
			return fsl_config_wrong(
				loader, path, list,
				"list of different ranks from 0 to 1048575, at least one");
		}
	}
	*out = (struct fsl_domain){lists, n};
	return FSL_OK;
}

/* True if both lists have the same ranks; each list has a sorted copy behind it. */
static bool is_same_list(const struct fsl_rank_list *a, const struct fsl_rank_list *b)
{
	return a->n_ranks == b->n_ranks && memcmp(a->ranks + a->n_ranks, b->ranks + b->n_ranks,
						  a->n_ranks * sizeof(*a->ranks)) == 0;
}

/* Takes lists of several ranks out of @domain that @earlier has, too. Returns how many. */
static size_t drop_lists(struct fsl_domain *domain, const struct fsl_domain *earlier)
{
	size_t n_kept = 0, n_before = domain->n_lists;
	for (size_t i = 0; i < n_before; i++) {
		bool is_twice = false;
		for (size_t k = 0; k < earlier->n_lists; k++) {
			is_twice =
				is_twice || (domain->lists[i].n_ranks > 1 &&
					     is_same_list(&domain->lists[i], &earlier->lists[k]));
		}
		if (!is_twice) {
			domain->lists[n_kept++] = domain->lists[i];
		}
	}
	domain->n_lists = n_kept;
	return n_before - n_kept;
}

/*
 * A file of sysTrace gives tp and dp the same lists. Two groups of these kinds share one rank at
 * most, so the group counts once.
 */
static enum fsl_status drop_lists_named_twice(struct fsl_config_loader *loader)
{
	static const enum fsl_group_kind kinds[] = {FSL_GROUP_TP, FSL_GROUP_DP, FSL_GROUP_PP};
	struct fsl_domain *domains = loader->config->hccl_domain;
	for (size_t later = 1; later < sizeof(kinds) / sizeof(kinds[0]); later++) {
		for (size_t earlier = 0; earlier < later; earlier++) {
			if (drop_lists(&domains[kinds[later]], &domains[kinds[earlier]]) == 0) {
				continue;
			}
			FSL_TRY(fsl_config_problem(
				loader, FSL_LOG_WARNING,
				"the same group under two kinds, only the first counts; leave the "
				"wrong one out: file=\"%s\", key=\"hccl_domain.%s\", "
				"other=\"hccl_domain.%s\"",
				loader->file, fsl_group_kind_text(kinds[earlier]),
				fsl_group_kind_text(kinds[later])));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_config_load_domains(struct fsl_config_loader *loader, const cJSON *root)
{
	static const char key[] = "hccl_domain";
	const cJSON *item = fsl_config_item(root, key);
	if (item == NULL || cJSON_IsNull(item)) {
		return fsl_config_record(loader, key, "{}", item == NULL);
	}
	if (!cJSON_IsObject(item)) {
		return fsl_config_wrong(loader, key, item, "object with lists of ranks per kind");
	}
	const char *kinds[FSL_GROUP_KINDS_N];
	size_t n_kinds = 0;
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		if (kind != FSL_GROUP_UNKNOWN) {
			kinds[n_kinds++] = fsl_group_kind_text((enum fsl_group_kind)kind);
		}
	}
	for (const cJSON *domain = item->child; domain != NULL; domain = domain->next) {
		int kind = FSL_GROUP_KINDS_N - 1;
		while (kind >= 0 && (kind == FSL_GROUP_UNKNOWN ||
				     strcmp(fsl_group_kind_text((enum fsl_group_kind)kind),
					    domain->string) != 0)) {
			kind--;
		}
		FSL_TRY(kind < 0 ? fsl_config_unknown(loader, "hccl_domain.", domain->string, kinds,
						      n_kinds)
				 : read_domain(loader, domain, &loader->config->hccl_domain[kind]));
	}
	FSL_TRY(drop_lists_named_twice(loader));
	return fsl_config_record_json(loader, key, item, false);
}

/* Path of the state for look_back; beside the verdicts unless it is named. */
static enum fsl_status complete_state_path(struct fsl_config_loader *loader)
{
	struct fsl_config *config = loader->config;
	if (config->state_path != NULL) {
		return FSL_OK;
	}
	config->state_path = fsl_arena_printf(&config->arena, "%s/" FSL_STATE_FILE,
					      config->slow_node_detection_path);
	return config->state_path != NULL
		       ? fsl_config_amend(loader, "state_path", config->state_path)
		       : fsl_config_no_memory(loader);
}

enum fsl_status fsl_config_load_model(struct fsl_config_loader *loader, const cJSON *root)
{
	size_t n_keys = 0;
	const struct fsl_config_key *rows = fsl_config_keys(&n_keys);
	FSL_TRY(root != NULL ? check_keys(loader, root) : FSL_OK);
	for (size_t i = 0; i < n_keys; i++) {
		if (rows[i].file == FSL_CONFIG_MODEL && rows[i].kind != FSL_KIND_OTHER &&
		    rows[i].kind != FSL_KIND_UNUSED) {
			FSL_TRY(fsl_config_store(loader, &rows[i],
						 fsl_config_item(root, rows[i].key), rows[i].key,
						 loader->config));
		}
	}
	FSL_TRY(load_range(loader, root));
	FSL_TRY(fsl_config_load_domains(loader, root));
	FSL_TRY(load_causes(loader, root));
	FSL_TRY(load_log_patterns(loader, root));
	FSL_TRY(load_command_hook(loader, root));
	return complete_state_path(loader);
}
