/* Which verdict files of earlier runs are too old, or too many. */
#include "report/retention.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"

#define SECONDS_PER_DAY 86400.0

static const char fail_slow[] = "fail_slow_perception_result_failSlow_";
/* Beginnings of names; the seconds of the run and ".json" follow. */
static const char *const stems[][5] = {
	[FSL_RESULT_PERCEPTION] = {"fail_slow_perception_result_normal_", fail_slow,
				   "fail_slow_perception_result_hang_",
				   "fail_slow_perception_result_error_", NULL},
	[FSL_RESULT_LOCALISATION] = {"slow_node_result_", NULL},
};

struct result {
	char *name;        /* owned */
	int64_t written_s; /* when it was written */
	int64_t second;    /* in its name */
	bool is_fail_slow;
};

struct results {
	struct result *items;
	size_t n_items, capacity;
};

/* The digits of @text before ".json" at its end. */
static bool has_second(const char *text, int64_t *second)
{
	size_t n_digits = strspn(text, "0123456789");
	return n_digits > 0 && strcmp(text + n_digits, ".json") == 0 &&
	       fsl_parse_i64(text, n_digits, second);
}

static bool is_result(const char *name, enum fsl_result_kind kind, struct result *out)
{
	for (size_t i = 0; stems[kind][i] != NULL; i++) {
		size_t length = strlen(stems[kind][i]);
		if (strncmp(name, stems[kind][i], length) == 0 &&
		    has_second(name + length, &out->second)) {
			out->is_fail_slow = stems[kind][i] == fail_slow;
			return true;
		}
	}
	return false;
}

/* Short memory ends the list early: some old files stay for the next run. */
static void list_results(DIR *folder, enum fsl_result_kind kind, struct results *list)
{
	const struct dirent *entry = NULL;
	while ((entry = readdir(folder)) != NULL) {
		struct result found = {0};
		struct stat facts;
		if (!is_result(entry->d_name, kind, &found) ||
		    fstatat(dirfd(folder), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(facts.st_mode) || facts.st_uid != geteuid()) {
			continue;
		}
		size_t size = strlen(entry->d_name) + 1;
		found.written_s = facts.st_mtime;
		found.name = fsl_calloc(size, 1);
		if (found.name == NULL ||
		    FSL_GROW(list->items, list->capacity, list->n_items + 1, NULL) != FSL_OK) {
			fsl_free(found.name);
			return;
		}
		memcpy(found.name, entry->d_name, size);
		list->items[list->n_items++] = found;
	}
}

/* Newest first; of files that were written in the same second, by their names. */
static int compare_results(const void *left, const void *right)
{
	const struct result *a = left, *b = right;
	FSL_ORDER_BY(b->written_s, a->written_s);
	FSL_ORDER_BY(b->second, a->second);
	return strcmp(a->name, b->name);
}

/* Index of the failSlow file that with_fail_slow would read; n_items if there is none. */
static size_t last_fail_slow(const struct results *list)
{
	size_t last = list->n_items;
	for (size_t i = 0; i < list->n_items; i++) {
		const struct result *item = &list->items[i];
		if (item->is_fail_slow &&
		    (last == list->n_items || item->second > list->items[last].second)) {
			last = i;
		}
	}
	return last;
}

static size_t remove_old(int folder, const struct results *list, const struct fsl_retention *rule,
			 int64_t now_s)
{
	size_t n_removed = 0, kept = last_fail_slow(list);
	for (size_t i = 0; i < list->n_items; i++) {
		double age_s = (double)now_s - (double)list->items[i].written_s;
		bool is_old = rule->days > 0.0 && age_s > rule->days * SECONDS_PER_DAY;
		bool is_beyond = rule->files > 0 && i >= (size_t)rule->files;
		if (i != kept && (is_old || is_beyond)) {
			n_removed += unlinkat(folder, list->items[i].name, 0) == 0;
		}
	}
	return n_removed;
}

size_t fsl_retention_sweep(const char *path, enum fsl_result_kind kind,
			   const struct fsl_retention *rule, int64_t now_s)
{
	struct results list = {0};
	size_t n_removed = 0;
	bool keeps_all = !(rule->days > 0.0) && rule->files <= 0;
	DIR *folder = keeps_all ? NULL : opendir(path);
	if (folder == NULL) {
		return 0;
	}
	list_results(folder, kind, &list);
	if (list.n_items > 0) {
		qsort(list.items, list.n_items, sizeof(*list.items), compare_results);
		n_removed = remove_old(dirfd(folder), &list, rule, now_s);
	}
	for (size_t i = 0; i < list.n_items; i++) {
		fsl_free(list.items[i].name);
	}
	fsl_free(list.items);
	(void)closedir(folder);
	return n_removed;
}
