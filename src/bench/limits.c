/* Limits of the machine for the same bytes: copying, reading, scanning each byte; and its cores. */
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os_error.h"
#include "bench/bench_parts.h"

enum fsl_status fsl_bench_memcpy(const struct fsl_bench_data *data, uint64_t *n_rows,
				 struct fsl_error *err)
{
	(void)n_rows;
	(void)err;
	memcpy(data->spare, data->bytes, data->n_bytes);
	/* Uses the copy, so that the compiler cannot drop it. */
	__asm__ volatile("" : : "r"(data->spare) : "memory");
	return FSL_OK;
}

enum fsl_status fsl_bench_each_block(const char *path,
				     enum fsl_status (*take)(void *context, const char *block,
							     size_t n_bytes, struct fsl_error *err),
				     void *context, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	ssize_t n = 1;
	char *block = fsl_calloc(FSL_FILE_BLOCK_BYTES, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		status = FSL_FAIL(err, FSL_ERR_IO, "cannot open: path=\"%s\", reason=\"%s\"", path,
				  fsl_os_error(errno).text);
		goto out;
	}
	if (block == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	while (status == FSL_OK && n > 0) {
		n = read(fd, block, FSL_FILE_BLOCK_BYTES);
		if (n < 0) {
			status =
				FSL_FAIL(err, FSL_ERR_IO, "cannot read: path=\"%s\", reason=\"%s\"",
					 path, fsl_os_error(errno).text);
		} else if (take != NULL) {
			status = take(context, block, (size_t)n, err);
		}
	}
	(void)close(fd);
out:
	fsl_free(block);
	return status;
}

enum fsl_status fsl_bench_read(const struct fsl_bench_data *data, uint64_t *n_rows,
			       struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	(void)n_rows;
	for (size_t i = 0; i < data->n_paths && status == FSL_OK; i++) {
		status = fsl_bench_each_block(data->paths[i], NULL, NULL, err);
	}
	return status;
}

/* One line of each file is its header. */
enum fsl_status fsl_bench_newlines(const struct fsl_bench_data *data, uint64_t *n_rows,
				   struct fsl_error *err)
{
	const char *end = data->bytes + data->n_bytes;
	uint64_t n_lines = 0;
	(void)err;
	for (const char *at = data->bytes; at < end; n_lines++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (newline == NULL) {
			break;
		}
		at = newline + 1;
	}
	*n_rows = n_lines - data->n_paths;
	return FSL_OK;
}

/* Adds up the bytes of a block. The block stays in the first-level cache; the compiler must treat
 * it as new each time. */
static uint64_t add_up(const unsigned char *block, size_t n_bytes)
{
	uint64_t sum = 0;
	__asm__ volatile("" : "+r"(block) : : "memory");
	for (size_t i = 0; i < n_bytes; i++) {
		sum += block[i];
	}
	return sum;
}

static enum fsl_status add_up_all(const struct fsl_bench_data *data, int n_threads)
{
	enum { BLOCK_BYTES = 16 * 1024 };
	uint64_t sum = 0;
#pragma omp parallel num_threads(n_threads) reduction(+ : sum)
	{
		unsigned char block[BLOCK_BYTES];
		memset(block, 1, sizeof(block));
#pragma omp for schedule(static)
		for (size_t at = 0; at < data->n_bytes; at += BLOCK_BYTES) {
			sum += add_up(block, sizeof(block));
		}
	}
	__asm__ volatile("" : : "r"(sum));
	return FSL_OK;
}

enum fsl_status fsl_bench_cache(const struct fsl_bench_data *data, uint64_t *n_rows,
				struct fsl_error *err)
{
	(void)n_rows;
	(void)err;
	return add_up_all(data, 1);
}

enum fsl_status fsl_bench_cache_all(const struct fsl_bench_data *data, uint64_t *n_rows,
				    struct fsl_error *err)
{
	(void)n_rows;
	(void)err;
	return add_up_all(data, data->n_jobs > 0 ? (int)data->n_jobs : omp_get_max_threads());
}
