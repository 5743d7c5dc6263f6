/* Readers over bytes in memory, for all tests that read. */
#ifndef FSL_TESTS_FUZZ_MEMORY_READER_H
#define FSL_TESTS_FUZZ_MEMORY_READER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <failslow/error.h>

#include "base/file.h"

static inline bool write_fully(int fd, const void *data, size_t n_bytes)
{
	const char *from = data;
	while (n_bytes > 0) {
		ssize_t n = write(fd, from, n_bytes);
		if (n <= 0) {
			return false;
		}
		from += n;
		n_bytes -= (size_t)n;
	}
	return true;
}

/* Reader over a copy of @data; NULL when it cannot be made. */
static inline struct fsl_reader *memory_reader(const void *data, size_t n_bytes)
{
	struct fsl_reader *reader = NULL;
	int fd = memfd_create("failslow-test", MFD_CLOEXEC);
	if (fd < 0) {
		return NULL;
	}
	if (!write_fully(fd, data, n_bytes) || lseek(fd, 0, SEEK_SET) != 0) {
		(void)close(fd);
		return NULL;
	}
	return fsl_reader_open_fd(&reader, fd, "memory", NULL) == FSL_OK ? reader : NULL;
}

/*
 * The same, also by its name, through a pipe that gives @n_chunk bytes per read(2), so that every
 * token is cut somewhere. A pipe holds about 200 such pieces: NULL when @data has more.
 */
static inline struct fsl_reader *chunked_reader(const void *data, size_t n_bytes, size_t n_chunk)
{
	struct fsl_reader *reader = NULL;
	int ends[2];
	/* O_DIRECT: packets; read(2) never joins two writes. */
	if (n_bytes / n_chunk > 200 || pipe2(ends, O_CLOEXEC | O_DIRECT) != 0) {
		return NULL;
	}
	if (n_bytes / n_chunk > 14) { /* a pipe of the usual size holds 16 packets */
		(void)fcntl(ends[1], F_SETPIPE_SZ, 1024 * 1024);
	}
	bool is_written = true;
	for (size_t at = 0; at < n_bytes && is_written; at += n_chunk) {
		size_t n = n_bytes - at < n_chunk ? n_bytes - at : n_chunk;
		is_written = write_fully(ends[1], (const char *)data + at, n);
	}
	(void)close(ends[1]);
	if (!is_written) {
		(void)close(ends[0]);
		return NULL;
	}
	return fsl_reader_open_fd(&reader, ends[0], "memory", NULL) == FSL_OK ? reader : NULL;
}

#endif
