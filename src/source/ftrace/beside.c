/* Files beside a trace: ranks.json, NAME.clocks.json, NAME.pid_mapping.json, and start_info of a
 * profile of Ascend. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "source/ftrace/find.h"
#include "source/ingest.h"
#include "text/small_json.h"

/* A clock that fits the times of a trace is at most so far from them: a recording of a day. */
static const int64_t CLOCK_FITS_NS = INT64_C(86400) * FSL_NS_PER_S;

static const struct {
	const char *trace_clock, *key, *minus_key;
} clocks[] = {
	{"mono_raw", "CLOCK_MONOTONIC_RAW", "realtime_minus_mono_raw_ns"},
	{"mono", "CLOCK_MONOTONIC", "realtime_minus_mono_ns"},
	{"boot", "CLOCK_BOOTTIME", "realtime_minus_boot_ns"},
	{"tai", "CLOCK_TAI", "realtime_minus_tai_ns"},
};
enum { CLOCKS_N = sizeof(clocks) / sizeof(clocks[0]) };

size_t fsl_ftrace_stem(const char *path)
{
	static const char *const suffixes[] = {".gz", ".zst", ".txt", ".ftrace", ".trace", ".dat"};
	size_t length = strlen(path);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i]);
		if (length > n && memcmp(path + length - n, suffixes[i], n) == 0) {
			length -= n;
		}
	}
	return length;
}

/* A small document. Its numbers of 19 digits are read from the text, since cJSON rounds them. */
struct document {
	cJSON *root; /* NULL: there is none, or none that can be used */
	char *text;
};

static void free_document(struct document *document)
{
	cJSON_Delete(document->root);
	fsl_free(document->text);
	*document = (struct document){0};
}

/* A document that cannot be used is told. */
static enum fsl_status read_document(const char *path, struct document *out, struct fsl_error *err)
{
	char fault[FSL_SMALL_JSON_FAULT_BYTES] = "";
	size_t length = 0;
	*out = (struct document){0};
	if (access(path, F_OK) != 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_small_json_read(path, &out->root, fault, err));
	if (out->root == NULL) {
		fsl_log(FSL_LOG_WARNING, "ftrace",
			"a file beside the trace cannot be used: file=\"%s\", reason=\"%s\"", path,
			fault);
		return FSL_OK;
	}
	enum fsl_status status = fsl_file_read_text(path, &out->text, &length, err);
	if (status != FSL_OK) {
		free_document(out);
	}
	return status;
}

/* The integer behind the first @key in @text, also one in quotes. No times, and no difference of
 * times, are beyond FSL_TIME_MAX_NS. */
static bool integer_of(const char *text, const char *key, int64_t *out)
{
	char quoted[64];
	int64_t value = 0;
	(void)snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	const char *at = text != NULL ? strstr(text, quoted) : NULL;
	if (at == NULL) {
		return false;
	}
	at += strlen(quoted);
	at += strspn(at, " \t\r\n:\"");
	size_t n = strspn(at, "-0123456789");
	bool is_told = n > 0 && fsl_parse_i64(at, n, &value) && value >= -FSL_TIME_MAX_NS &&
		       value <= FSL_TIME_MAX_NS;
	*out = is_told ? value : *out;
	return is_told;
}

/* A reading of a clock. */
static bool time_of(const char *text, const char *key, int64_t *out)
{
	return integer_of(text, key, out) && *out >= 0;
}

static enum fsl_status take_pids(const cJSON *root, struct fsl_ftrace_ranks *ranks,
				 struct fsl_error *err)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "pids"))
	{
		int64_t pid = 0, rank = 0;
		bool is_used = item->string != NULL &&
			       fsl_parse_i64(item->string, strlen(item->string), &pid) &&
			       fsl_small_json_i64(item, &rank) && pid > 0 && pid <= INT32_MAX &&
			       rank >= 0 && rank <= INT32_MAX;
		if (is_used &&
		    fsl_ftrace_ranks_get(ranks, (int32_t)rank, (int32_t)pid, err) == NULL) {
			return FSL_ERR_MEMORY;
		}
	}
	return FSL_OK;
}

/* A trace that names its clock (@own) has no other one. */
static void take_difference(const char *text, const char *own, struct fsl_ftrace_beside *beside)
{
	for (size_t i = 0; i < CLOCKS_N; i++) {
		bool is_other = own[0] != '\0' && strcmp(own, clocks[i].trace_clock) != 0;
		if (!is_other && integer_of(text, clocks[i].minus_key, &beside->offset_ns)) {
			beside->has_offset = beside->is_clock_told = true;
			beside->clock = clocks[i].trace_clock;
			return;
		}
	}
}

/* The clock that the document or the trace (@own) names, else the one nearest to the trace;
 * CLOCKS_N: none. */
static size_t choose_clock(const struct document *document, const char *own, int64_t first_ns,
			   bool *is_told)
{
	const char *name = fsl_small_json_text(document->root, "trace_clock");
	name = name[0] != '\0' ? name : own;
	size_t best = CLOCKS_N;
	int64_t best_ns = CLOCK_FITS_NS;
	*is_told = name[0] != '\0';
	for (size_t i = 0; i < CLOCKS_N; i++) {
		int64_t time_ns = 0;
		if (!time_of(document->text, clocks[i].key, &time_ns)) {
			continue;
		}
		if (*is_told) {
			best = strcmp(name, clocks[i].trace_clock) == 0 ? i : best;
		} else if (llabs(time_ns - first_ns) < best_ns) {
			best = i;
			best_ns = llabs(time_ns - first_ns);
		}
	}
	return best;
}

static bool clock_offset(const char *text, size_t clock, int64_t *offset_ns)
{
	int64_t utc_ns = 0, time_ns = 0;
	bool is_told = time_of(text, "CLOCK_REALTIME", &utc_ns) &&
		       time_of(text, clocks[clock].key, &time_ns);
	*offset_ns = is_told ? utc_ns - time_ns : *offset_ns;
	return is_told;
}

static void take_clocks(const struct document *document, const char *own, int64_t first_ns,
			struct fsl_ftrace_beside *beside)
{
	bool is_told = false;
	size_t clock = choose_clock(document, own, first_ns, &is_told);
	int64_t end_offset_ns = 0;
	if (clock >= CLOCKS_N || !clock_offset(document->text, clock, &beside->offset_ns)) {
		return;
	}
	beside->has_offset = true;
	beside->is_clock_told = is_told;
	beside->clock = clocks[clock].trace_clock;
	const char *end = strstr(document->text, "\"end\"");
	if (end == NULL || !clock_offset(end, clock, &end_offset_ns) ||
	    __builtin_sub_overflow(end_offset_ns, beside->offset_ns, &beside->drift_ns)) {
		beside->drift_ns = 0;
	}
}

void fsl_ftrace_beside_take(struct fsl_ftrace_beside *beside, const struct fsl_prof_clock *clock)
{
	beside->has_offset = beside->has_start_info = beside->is_clock_told = true;
	beside->offset_ns = clock->offset_ns;
	beside->drift_ns = clock->drift_ns;
	beside->clock = "mono_raw";
}

/* Clocks of a profile whose files were copied beside the trace. */
static enum fsl_status take_start_info(struct fsl_ftrace_beside *beside, const char *path,
				       struct fsl_error *err)
{
	char folder[PATH_MAX];
	struct fsl_prof_clocks profiles = {0};
	const char *slash = strrchr(path, '/');
	int length = slash != NULL ? (int)(slash - path) : 1;
	(void)snprintf(folder, sizeof(folder), "%.*s", length, slash != NULL ? path : ".");
	enum fsl_status status = fsl_prof_clocks_add(&profiles, folder, err);
	if (status == FSL_OK && profiles.n_items > 0) {
		fsl_ftrace_beside_take(beside, &profiles.items[0]);
	}
	fsl_prof_clocks_fini(&profiles);
	return status;
}

static int compare_told(const void *left, const void *right)
{
	const struct fsl_sched_told *a = left, *b = right;
	return FSL_ORDER(a->tid, b->tid);
}

/* A member of the entry of a thread; -1: none, or no number of a thread. */
static int32_t number_of(const cJSON *item, const char *key)
{
	int64_t number = 0;
	bool is_told = fsl_small_json_i64(cJSON_GetObjectItemCaseSensitive(item, key), &number) &&
		       number > 0 && number <= INT32_MAX;
	return is_told ? (int32_t)number : -1;
}

/* Threads with their process, and the numbers of processes in their containers. */
static enum fsl_status take_threads(const cJSON *root, struct fsl_ftrace_ranks *ranks,
				    struct fsl_error *err)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, root)
	{
		int64_t tid = 0;
		int32_t tgid = number_of(item, "Tgid"), inner = number_of(item, "NSpid");
		if (item->string == NULL || !cJSON_IsObject(item) || tgid < 0 ||
		    !fsl_parse_i64(item->string, strlen(item->string), &tid) || tid <= 0 ||
		    tid > INT32_MAX) {
			continue;
		}
		const struct fsl_sched_told told = {(int32_t)tid, tgid};
		FSL_TRY(FSL_APPEND(ranks, told, &told, err));
		if (tid == tgid && inner > 0) {
			const struct fsl_ftrace_inner process = {tgid, inner};
			FSL_TRY(FSL_APPEND(ranks, inner, &process, err));
		}
	}
	if (ranks->n_told > 1) {
		qsort(ranks->told, ranks->n_told, sizeof(*ranks->told), compare_told);
	}
	return FSL_OK;
}

/* The documents beside a trace. */
struct documents {
	struct document ranks, clocks, threads;
};

static enum fsl_status read_documents(struct documents *out, const char *path,
				      struct fsl_error *err)
{
	char name[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int folder = slash != NULL ? (int)(slash - path) + 1 : 0, stem = (int)fsl_ftrace_stem(path);
	(void)snprintf(name, sizeof(name), "%.*sranks.json", folder, path);
	FSL_TRY(read_document(name, &out->ranks, err));
	(void)snprintf(name, sizeof(name), "%.*s.clocks.json", stem, path);
	FSL_TRY(read_document(name, &out->clocks, err));
	(void)snprintf(name, sizeof(name), "%.*s.pid_mapping.json", stem, path);
	return read_document(name, &out->threads, err);
}

enum fsl_status fsl_ftrace_read_beside(struct fsl_ftrace_beside *beside,
				       struct fsl_ftrace_ranks *ranks, const char *path,
				       const char *clock, int64_t first_ns, struct fsl_error *err)
{
	struct documents documents = {0};
	*beside = (struct fsl_ftrace_beside){.clock = ""};
	enum fsl_status status = read_documents(&documents, path, err);
	FSL_THEN(status, take_pids(documents.ranks.root, ranks, err));
	FSL_THEN(status, take_threads(documents.threads.root, ranks, err));
	take_difference(documents.ranks.text, clock, beside);
	if (documents.clocks.root != NULL) {
		take_clocks(&documents.clocks, clock, first_ns, beside);
	}
	beside->is_not_raw = clock[0] != '\0' && strcmp(clock, "mono_raw") != 0;
	if (status == FSL_OK && !beside->has_offset && !beside->is_not_raw) {
		status = take_start_info(beside, path, err);
	}
	for (size_t i = 0; i < CLOCKS_N && !beside->is_clock_told; i++) {
		if (strcmp(clock, clocks[i].trace_clock) == 0) {
			beside->clock = clocks[i].trace_clock;
			beside->is_clock_told = true;
		}
	}
	free_document(&documents.ranks);
	free_document(&documents.clocks);
	free_document(&documents.threads);
	return status;
}
