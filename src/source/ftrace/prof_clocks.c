/* start_info has clockMonotonicRaw (ns) as collectionTimeBegin (us, UTC) was taken; end_info has
 * the same for the end. */
#include "source/ftrace/prof_clocks.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "text/small_json.h"

enum {
	DEPTH_MAX = 8,
	FOLDERS_MAX = 100000,
	CLOCKS_MAX = 65536,
};
/* A trace that began so long before a profile is of another time: a recording of a day. */
static const int64_t BEFORE_NS_MAX = INT64_C(86400) * FSL_NS_PER_S;
/* Profiles of one host agree about UTC within this; hosts that booted apart do not. */
static const int64_t APART_NS_MAX = FSL_NS_PER_S;
/* Times are less, so that differences of their differences are numbers: the year 2116. */
static const int64_t TIME_NS_MAX = INT64_C(1) << 62;

/* A document of the folder; *root NULL: there is none, or none that can be used, which is told. */
static enum fsl_status read_document(cJSON **root, const char *folder, const char *name,
				     struct fsl_error *err)
{
	char path[PATH_MAX], fault[FSL_SMALL_JSON_FAULT_BYTES] = "";
	*root = NULL;
	int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof(path) || access(path, F_OK) != 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_small_json_read(path, root, fault, err));
	if (*root == NULL) {
		fsl_log(FSL_LOG_WARNING, "ftrace",
			"a file beside the trace cannot be used: file=\"%s\", reason=\"%s\"", path,
			fault);
	}
	return FSL_OK;
}

/* One moment: CLOCK_MONOTONIC_RAW, and UTC by the member @utc_key in us. */
static bool take_moment(const cJSON *root, const char *utc_key, int64_t *raw_ns, int64_t *offset_ns)
{
	int64_t utc_us = 0, utc_ns = 0;
	bool is_told =
		fsl_small_json_i64(cJSON_GetObjectItemCaseSensitive(root, "clockMonotonicRaw"),
				   raw_ns) &&
		fsl_small_json_i64(cJSON_GetObjectItemCaseSensitive(root, utc_key), &utc_us);
	if (!is_told || *raw_ns <= 0 || *raw_ns >= TIME_NS_MAX || utc_us <= 0 ||
	    __builtin_mul_overflow(utc_us, (int64_t)FSL_NS_PER_US, &utc_ns) ||
	    utc_ns >= TIME_NS_MAX) {
		return false;
	}
	*offset_ns = utc_ns - *raw_ns;
	return true;
}

static enum fsl_status take_host(struct fsl_prof_clocks *clocks, struct fsl_prof_clock *clock,
				 struct fsl_error *err)
{
	cJSON *root = NULL;
	FSL_TRY(read_document(&root, clock->folder, "info.json", err));
	const char *name = fsl_small_json_text(root, "hostname");
	name = name[0] != '\0' ? name : fsl_small_json_text(root, "hostUid");
	clock->host = fsl_arena_strdup(&clocks->arena, name);
	cJSON_Delete(root);
	return clock->host != NULL ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: hosts");
}

enum fsl_status fsl_prof_clocks_add(struct fsl_prof_clocks *clocks, const char *folder,
				    struct fsl_error *err)
{
	cJSON *start = NULL, *end = NULL;
	struct fsl_prof_clock clock = {.end_ns = INT64_MAX};
	int64_t end_offset_ns = 0, end_ns = 0;
	FSL_TRY(read_document(&start, folder, "start_info", err));
	bool is_told = take_moment(start, "collectionTimeBegin", &clock.begin_ns, &clock.offset_ns);
	cJSON_Delete(start);
	if (!is_told || clocks->n_items >= CLOCKS_MAX) {
		return FSL_OK;
	}
	FSL_TRY(read_document(&end, folder, "end_info", err));
	if (take_moment(end, "collectionTimeEnd", &end_ns, &end_offset_ns) &&
	    end_ns > clock.begin_ns) {
		clock.drift_ns = end_offset_ns - clock.offset_ns;
		clock.end_ns = end_ns;
	}
	cJSON_Delete(end);
	clock.folder = fsl_arena_strdup(&clocks->arena, folder);
	if (clock.folder == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folders");
	}
	FSL_TRY(take_host(clocks, &clock, err));
	return FSL_APPEND(clocks, items, &clock, err);
}

/* Folders that are to be looked at. */
struct walk {
	struct fsl_prof_clocks *clocks;
	struct place {
		const char *path; /* arena of the clocks */
		int depth;
	} * places;
	size_t n_places, places_capacity;
	size_t n_visited;
};

static bool is_folder(const char *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static enum fsl_status visit(struct walk *walk, const struct place *place, const char *name,
			     struct fsl_error *err)
{
	struct fsl_arena *arena = &walk->clocks->arena;
	bool is_profile = strncmp(name, "PROF_", 5) == 0;
	const char *path =
		fsl_arena_printf(arena, is_profile ? "%s/%s/host" : "%s/%s", place->path, name);
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folders");
	}
	if (name[0] == '.' || !is_folder(path)) {
		return FSL_OK;
	}
	if (is_profile) {
		return fsl_prof_clocks_add(walk->clocks, path, err);
	}
	const struct place inner = {path, place->depth + 1};
	return inner.depth <= DEPTH_MAX ? FSL_APPEND(walk, places, &inner, err) : FSL_OK;
}

static enum fsl_status list(struct walk *walk, const struct place *place, struct fsl_error *err)
{
	char **names = NULL;
	size_t n_names = 0;
	enum fsl_status status = fsl_dir_list(place->path, &names, &n_names, NULL);
	if (status != FSL_OK) {
		return status == FSL_ERR_MEMORY
			       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names")
			       : FSL_OK;
	}
	for (size_t i = 0; status == FSL_OK && i < n_names; i++) {
		status = visit(walk, place, names[i], err);
	}
	fsl_free(names);
	return status;
}

static int compare_clocks(const void *left, const void *right)
{
	const struct fsl_prof_clock *a = left, *b = right;
	return strcmp(a->folder, b->folder);
}

enum fsl_status fsl_prof_clocks_find(struct fsl_prof_clocks *clocks, const char *const *paths,
				     size_t n_paths, struct fsl_error *err)
{
	struct walk walk = {.clocks = clocks};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < n_paths; i++) {
		struct place place = {paths[i], 0};
		if (is_folder(place.path)) {
			status = FSL_APPEND(&walk, places, &place, err);
		}
		while (status == FSL_OK && walk.n_places > 0 && walk.n_visited++ < FOLDERS_MAX) {
			place = walk.places[--walk.n_places];
			status = list(&walk, &place, err);
		}
		walk.n_places = 0;
	}
	fsl_free(walk.places);
	if (clocks->n_items > 1) {
		qsort(clocks->items, clocks->n_items, sizeof(*clocks->items), compare_clocks);
	}
	return status;
}

void fsl_prof_clocks_fini(struct fsl_prof_clocks *clocks)
{
	fsl_free(clocks->items);
	fsl_arena_fini(&clocks->arena);
	*clocks = (struct fsl_prof_clocks){0};
}

static bool is_of_name(char letter)
{
	return isalnum((unsigned char)letter) != 0 || letter == '-';
}

/* Whether @host stands in @path as a word. */
static bool names_host(const char *path, const char *host)
{
	size_t length = strlen(host);
	for (const char *at = length > 0 ? strstr(path, host) : NULL; at != NULL;
	     at = strstr(at + 1, host)) {
		if ((at == path || !is_of_name(at[-1])) && !is_of_name(at[length])) {
			return true;
		}
	}
	return false;
}

static bool is_of_time(const struct fsl_prof_clock *clock, int64_t first_ns)
{
	return first_ns < clock->end_ns && clock->begin_ns - first_ns < BEFORE_NS_MAX;
}

static bool are_of_one_host(const struct fsl_prof_clock *a, const struct fsl_prof_clock *b)
{
	int64_t apart_ns = a->offset_ns - b->offset_ns;
	return strcmp(a->host, b->host) == 0 &&
	       (a->host[0] != '\0' || (apart_ns < APART_NS_MAX && apart_ns > -APART_NS_MAX));
}

/* The clock that began last before @first_ns, else first. */
static bool is_nearer(const struct fsl_prof_clock *clock, const struct fsl_prof_clock *best,
		      int64_t first_ns)
{
	if (best == NULL) {
		return true;
	}
	bool is_before = clock->begin_ns <= first_ns, is_best_before = best->begin_ns <= first_ns;
	return is_before != is_best_before ? is_before
	       : is_before                 ? clock->begin_ns > best->begin_ns
					   : clock->begin_ns < best->begin_ns;
}

/* @named: only profiles whose host stands in @path. */
static const struct fsl_prof_clock *choose(const struct fsl_prof_clocks *clocks, const char *path,
					   int64_t first_ns, bool named, bool *is_ambiguous)
{
	const struct fsl_prof_clock *best = NULL;
	*is_ambiguous = false;
	for (size_t i = 0; i < clocks->n_items; i++) {
		const struct fsl_prof_clock *clock = &clocks->items[i];
		if (!is_of_time(clock, first_ns) || (named && !names_host(path, clock->host))) {
			continue;
		}
		*is_ambiguous |= best != NULL && !are_of_one_host(clock, best);
		best = is_nearer(clock, best, first_ns) ? clock : best;
	}
	return best;
}

const struct fsl_prof_clock *fsl_prof_clocks_choose(const struct fsl_prof_clocks *clocks,
						    const char *path, int64_t first_ns,
						    bool *is_ambiguous)
{
	bool is_still = false;
	*is_ambiguous = false;
	if (first_ns < 0) {
		return NULL; /* the trace has no event */
	}
	const struct fsl_prof_clock *best = choose(clocks, path, first_ns, false, is_ambiguous);
	if (!*is_ambiguous) {
		return best;
	}
	best = choose(clocks, path, first_ns, true, &is_still);
	*is_ambiguous = best == NULL || is_still;
	return *is_ambiguous ? NULL : best;
}
