/* Measures a run that continues an earlier one, as under cron: the files are cut by a hundredth for
 * one run that is not measured, get their last bytes back, and are judged again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/os_error.h"
#include "bench/bench_parts.h"

enum { KEPT_PERCENT = 99 };

/* The end of a file while it is cut off. */
struct ending {
	int fd; /* -1: not open */
	char *bytes;
	size_t n_bytes;
	off_t at;
};

struct endings {
	struct ending *items;
	size_t n, capacity;
};

static enum fsl_status fail_file(const char *what, const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO, "cannot %s: path=\"%s\", reason=\"%s\"", what, path,
			fsl_os_error(errno).text);
}

static enum fsl_status cut_file(struct ending *out, const char *path, struct fsl_error *err)
{
	struct stat info;
	out->fd = open(path, O_RDWR | O_CLOEXEC);
	if (out->fd < 0 || fstat(out->fd, &info) != 0) {
		return fail_file("open", path, err);
	}
	out->at = info.st_size / 100 * KEPT_PERCENT;
	out->n_bytes = (size_t)(info.st_size - out->at);
	out->bytes = fsl_calloc(out->n_bytes, 1);
	if (out->bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", out->n_bytes);
	}
	if (pread(out->fd, out->bytes, out->n_bytes, out->at) != (ssize_t)out->n_bytes) {
		return fail_file("read", path, err);
	}
	return ftruncate(out->fd, out->at) == 0 ? FSL_OK : fail_file("cut", path, err);
}

static enum fsl_status cut_files(struct endings *out, const char *folder, struct fsl_error *err)
{
	char **names = NULL, path[2 * FSL_BENCH_PATH_BYTES];
	size_t n_names = 0;
	enum fsl_status status = fsl_dir_list(folder, &names, &n_names, err);
	FSL_THEN(status, FSL_GROW(out->items, out->capacity, out->n + n_names, err));
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		out->items[out->n] = (struct ending){.fd = -1};
		status = cut_file(&out->items[out->n++], path, err);
	}
	fsl_free(names);
	return status;
}

/* Cuts the markers, and the timelines if there are any. */
static enum fsl_status cut_tree(struct endings *out, const struct fsl_bench_tree *tree,
				struct fsl_error *err)
{
	static const char *const folders[] = {"mspti", "timeline"};
	char path[FSL_BENCH_PATH_BYTES];
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && status == FSL_OK; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", tree->path, folders[i]);
		if (access(path, F_OK) == 0) {
			status = cut_files(out, path, err);
		}
	}
	return status;
}

static enum fsl_status append(const struct endings *endings, const struct fsl_bench_tree *tree,
			      struct fsl_error *err)
{
	for (size_t i = 0; i < endings->n; i++) {
		const struct ending *ending = &endings->items[i];
		if (pwrite(ending->fd, ending->bytes, ending->n_bytes, ending->at) !=
		    (ssize_t)ending->n_bytes) {
			return fail_file("append to the files", tree->path, err);
		}
	}
	return FSL_OK;
}

static void release(struct endings *endings)
{
	for (size_t i = 0; i < endings->n; i++) {
		if (endings->items[i].fd >= 0) {
			(void)close(endings->items[i].fd);
		}
		fsl_free(endings->items[i].bytes);
	}
	fsl_free(endings->items);
}

enum fsl_status fsl_bench_measure_again(struct fsl_bench_sample *out, struct fsl_bench_place *place,
					const struct fsl_bench_tree *tree, struct fsl_error *err)
{
	struct endings endings = {0};
	const struct fsl_bench_detect anew = {.n_jobs = 1, .from_ns = INT64_MIN};
	const struct fsl_bench_detect again = {.n_jobs = 1, .from_ns = INT64_MIN, .goes_on = true};
	enum fsl_status status = cut_tree(&endings, tree, err);
	FSL_THEN(status, fsl_bench_measure_detect(out, place, tree, &anew, err));
	FSL_THEN(status, append(&endings, tree, err));
	FSL_THEN(status, fsl_bench_measure_detect(out, place, tree, &again, err));
	release(&endings);
	return status;
}
