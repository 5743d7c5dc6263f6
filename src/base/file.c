/* One bounded buffer in front of plain, gzip and zstd files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/confine.h"
#include "base/deadline.h"
#include "base/descriptors.h"
#include "base/gunzip.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os_error.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

enum { SMALL_BLOCK_BYTES = 8 * 1024 }; /* smallest block, for the many small files of a large job */

struct fsl_reader {
	char *path;
	int fd;
	int deadline_file; /* number of the file there */
	uint64_t disk_bytes;
	bool is_regular;
	size_t block_bytes; /* bytes read(2) or decompressed at once */
	uint64_t n_lines;   /* lines that fsl_reader_line has read */

	char *buffer; /* decompressed; [begin, end) is unread */
	size_t capacity, begin, end;
	uint64_t offset;          /* decompressed offset of buffer[begin] */
	bool is_drained;          /* nothing more will be added to the buffer */
	struct fsl_error failure; /* why no bytes will come, unless the file has ended */

	enum packing packing;
	char *packed; /* compressed; [packed_begin, packed_end) is unread */
	size_t packed_capacity, packed_begin, packed_end;
	uint64_t packed_bytes; /* read so far */
	bool is_inside;        /* a gzip member or zstd frame is open */
	struct fsl_gunzip *gunzip;
	ZSTD_DStream *zstd;
};

static enum fsl_status fail_read(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO, "cannot read the file: path=\"%s\", reason=\"%s\"", path,
			fsl_os_error(errno).text);
}

/* read(2) that goes on after signals; 0 bytes is the end of the file. */
static enum fsl_status read_some(const struct fsl_reader *reader, char *to, size_t room,
				 size_t *n_read, struct fsl_error *err)
{
	for (;;) {
		ssize_t n = read(reader->fd, to, room);
		if (n >= 0) {
			*n_read = (size_t)n;
			return FSL_OK;
		}
		if (errno != EINTR) {
			return fail_read(reader->path, err);
		}
	}
}

/* Reads compressed bytes. No unread byte is left in @packed. */
static enum fsl_status fill_packed(struct fsl_reader *reader, struct fsl_error *err)
{
	size_t n_read = 0;
	enum fsl_status status =
		read_some(reader, reader->packed, reader->packed_capacity, &n_read, err);
	reader->packed_begin = 0;
	reader->packed_end = n_read;
	reader->packed_bytes += n_read;
	return status;
}

static enum fsl_status fail_cut(const struct fsl_reader *reader, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_FORMAT,
			"compressed data is cut: path=\"%s\", remedy=\"copy the file again\"",
			reader->path);
}

static enum fsl_status fail_broken(const struct fsl_reader *reader, const char *reason,
				   struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_FORMAT,
			"compressed data is broken: path=\"%s\", reason=\"%s\", remedy=\"copy the "
			"file again\"",
			reader->path, reason);
}

/* True if only zero padding is left of this block behind the last gzip member. */
static bool is_padding(const struct fsl_reader *reader)
{
	for (size_t i = reader->packed_begin; i < reader->packed_end; i++) {
		if (reader->packed[i] != '\0') {
			return false;
		}
	}
	return true;
}

/* One step; sets *n_made, which may be 0 without being the end. */
static enum fsl_status gunzip_some(struct fsl_reader *reader, char *to, size_t room, size_t *n_made,
				   struct fsl_error *err)
{
	struct fsl_gunzip_step step = {.in = reader->packed + reader->packed_begin,
				       .n_in = reader->packed_end - reader->packed_begin,
				       .out = to,
				       .n_out = room};
	enum fsl_gunzip_result result = fsl_gunzip_run(reader->gunzip, &step);
	reader->packed_begin = reader->packed_end - step.n_in;
	*n_made = room - step.n_out;
	reader->is_inside = result != FSL_GUNZIP_MEMBER;
	if (result == FSL_GUNZIP_NO_MEMORY) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", reader->path);
	}
	return result == FSL_GUNZIP_BROKEN ? fail_broken(reader, step.reason, err) : FSL_OK;
}

static enum fsl_status unzstd_some(struct fsl_reader *reader, char *to, size_t room, size_t *n_made,
				   struct fsl_error *err)
{
	ZSTD_inBuffer in = {reader->packed, reader->packed_end, reader->packed_begin};
	ZSTD_outBuffer out = {to, room, 0};
	size_t code = ZSTD_decompressStream(reader->zstd, &out, &in);
	reader->packed_begin = in.pos;
	*n_made = out.pos;
	if (ZSTD_isError(code)) {
		return fail_broken(reader, ZSTD_getErrorName(code), err);
	}
	reader->is_inside = code != 0;
	return FSL_OK;
}

/* At least one decompressed byte, or *n_made = 0 at the end of the file. zstd may hold back output
 * if @room was too small, so it is called without input as long as a frame is open. */
static enum fsl_status unpack_some(struct fsl_reader *reader, char *to, size_t room, size_t *n_made,
				   struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	*n_made = 0;
	while (status == FSL_OK && *n_made == 0) {
		bool is_starved = false;
		if (reader->packed_begin == reader->packed_end) {
			status = fill_packed(reader, err);
			is_starved = reader->packed_end == 0;
		}
		if (status != FSL_OK || (is_starved && !reader->is_inside)) {
			break;
		}
		if (reader->packing == PACKING_GZIP) {
			if (!reader->is_inside && is_padding(reader)) {
				reader->packed_begin = reader->packed_end;
				continue;
			}
			status = gunzip_some(reader, to, room, n_made, err);
		} else {
			status = unzstd_some(reader, to, room, n_made, err);
		}
		if (status == FSL_OK && is_starved && *n_made == 0 && reader->is_inside) {
			status = fail_cut(reader, err);
		}
	}
	return status;
}

/* True if the file unpacks to more than data of jobs ever does. */
static bool is_bomb(const struct fsl_reader *reader)
{
	uint64_t n_unpacked = reader->offset + (reader->end - reader->begin);
	return n_unpacked > FSL_UNPACKED_BYTES_FREE &&
	       n_unpacked / FSL_UNPACKED_RATIO_MAX > reader->packed_bytes;
}

static enum fsl_status fail_bomb(const struct fsl_reader *reader, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_FORMAT,
			"compressed data grows to more than %d times its size: path=\"%s\", "
			"remedy=\"move the file away, no job wrote it\"",
			FSL_UNPACKED_RATIO_MAX, reader->path);
}

/* Adds at least one byte behind the unread ones, or marks the reader drained. There is room. */
static void fill_buffer(struct fsl_reader *reader)
{
	char *to = reader->buffer + reader->end;
	size_t room = reader->capacity - reader->end;
	size_t n_new = 0;
	enum fsl_status status = FSL_OK;
	/* The caller looks at the head of a large file first and often goes on elsewhere: read only
	 * a small block. */
	bool is_head = reader->packing == PACKING_NONE && reader->offset == 0 && reader->end == 0 &&
		       reader->disk_bytes >= FSL_FILE_BLOCK_BYTES;
	size_t n_most = is_head ? FSL_FILE_HEAD_BYTES : reader->block_bytes;
	if (room > n_most) {
		room = n_most;
	}
	if (reader->packing == PACKING_NONE) {
		status = read_some(reader, to, room, &n_new, &reader->failure);
	} else {
		status = unpack_some(reader, to, room, &n_new, &reader->failure);
	}
	reader->end += n_new;
	if (status == FSL_OK && reader->packing != PACKING_NONE && is_bomb(reader)) {
		status = fail_bomb(reader, &reader->failure);
	}
	reader->is_drained = status != FSL_OK || n_new == 0;
}

/* Moves the unread bytes to the front and grows, so that @want bytes and, if the limit allows, a
 * whole block fit. */
static enum fsl_status make_room(struct fsl_reader *reader, size_t want, struct fsl_error *err)
{
	size_t n_unread = reader->end - reader->begin;
	size_t n_wanted = n_unread + reader->block_bytes;
	if (n_wanted > FSL_LINE_BYTES_MAX) {
		n_wanted = FSL_LINE_BYTES_MAX;
	}
	if (n_wanted < want) {
		n_wanted = want;
	}
	if (reader->begin > 0) {
		memmove(reader->buffer, reader->buffer + reader->begin, n_unread);
		reader->begin = 0;
		reader->end = n_unread;
	}
	return FSL_GROW(reader->buffer, reader->capacity, n_wanted, err);
}

enum fsl_status fsl_reader_peek(struct fsl_reader *reader, size_t want, const char **data,
				size_t *n_bytes, struct fsl_error *err)
{
	FSL_REQUIRE(want <= FSL_LINE_BYTES_MAX);
	if (reader->end - reader->begin < want && !reader->is_drained) {
		FSL_TRY(make_room(reader, want, err));
		while (reader->end - reader->begin < want && !reader->is_drained) {
			fill_buffer(reader);
		}
	}
	*n_bytes = reader->end - reader->begin;
	*data = *n_bytes > 0 ? reader->buffer + reader->begin : "";
	if (*n_bytes == 0 && want > 0 && reader->failure.n_causes > 0) {
		return FSL_CAUSE(err, reader->failure.status, "%s",
				 fsl_error_root(&reader->failure));
	}
	return FSL_OK;
}

void fsl_reader_skip(struct fsl_reader *reader, size_t n_bytes)
{
	FSL_REQUIRE(n_bytes <= reader->end - reader->begin);
	reader->begin += n_bytes;
	reader->offset += n_bytes;
}

uint64_t fsl_reader_offset(const struct fsl_reader *reader)
{
	return reader->offset;
}

bool fsl_reader_can_seek(const struct fsl_reader *reader)
{
	return reader->is_regular && reader->packing == PACKING_NONE;
}

enum fsl_status fsl_reader_seek(struct fsl_reader *reader, uint64_t offset, struct fsl_error *err)
{
	FSL_REQUIRE(fsl_reader_can_seek(reader) && offset <= INT64_MAX);
	if (lseek(reader->fd, (off_t)offset, SEEK_SET) < 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot move in the file: path=\"%s\", reason=\"%s\"", reader->path,
				fsl_os_error(errno).text);
	}
	reader->begin = reader->end = 0;
	reader->offset = offset;
	reader->is_drained = false;
	return FSL_OK;
}

enum fsl_status fsl_reader_sample(const struct fsl_reader *reader, uint64_t offset, char *to,
				  size_t room, size_t *n_read, struct fsl_error *err)
{
	FSL_REQUIRE(fsl_reader_can_seek(reader) && offset <= INT64_MAX);
	*n_read = 0;
	while (*n_read < room) {
		ssize_t n =
			pread(reader->fd, to + *n_read, room - *n_read, (off_t)(offset + *n_read));
		if (n == 0) {
			break;
		}
		if (n < 0 && errno != EINTR) {
			return fail_read(reader->path, err);
		}
		*n_read += n > 0 ? (size_t)n : 0;
	}
	return FSL_OK;
}

uint64_t fsl_reader_disk_bytes(const struct fsl_reader *reader)
{
	return reader->disk_bytes;
}

const char *fsl_reader_path(const struct fsl_reader *reader)
{
	return reader->path;
}

static enum packing detect_packing(const char *head, size_t n_head)
{
	if (n_head >= 2 && memcmp(head, "\x1f\x8b", 2) == 0) {
		return PACKING_GZIP;
	}
	if (n_head >= 4 && memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0) {
		return PACKING_ZSTD;
	}
	return PACKING_NONE;
}

/* Turns the first block of the file, which is in the buffer, into input of a decompressor. */
static enum fsl_status start_unpacking(struct fsl_reader *reader, struct fsl_error *err)
{
	reader->packed = reader->buffer;
	reader->packed_capacity = reader->capacity;
	reader->packed_end = reader->end;
	reader->buffer = NULL;
	reader->capacity = 0;
	reader->end = 0;
	reader->is_drained = false;
	reader->block_bytes = FSL_FILE_BLOCK_BYTES;
	if (reader->packing == PACKING_GZIP) {
		reader->gunzip = fsl_gunzip_create(true);
	} else {
		reader->zstd = ZSTD_createDStream();
	}
	if (reader->gunzip == NULL && reader->zstd == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", reader->path);
	}
	return FSL_OK;
}

/* A small file gets a small buffer: one byte more than the file, so that one read sees its end. */
static size_t first_block_bytes(const struct stat *info)
{
	if (!S_ISREG(info->st_mode) || info->st_size >= FSL_FILE_BLOCK_BYTES) {
		return FSL_FILE_BLOCK_BYTES;
	}
	return info->st_size < SMALL_BLOCK_BYTES ? SMALL_BLOCK_BYTES : (size_t)info->st_size + 1;
}

enum fsl_status fsl_reader_open_fd(struct fsl_reader **out, int fd, const char *name,
				   struct fsl_error *err)
{
	struct fsl_reader *reader = fsl_calloc(1, sizeof(*reader));
	enum fsl_status status = FSL_OK;
	if (reader == NULL) {
		(void)close(fd);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", name);
	}
	reader->fd = fd;
	reader->deadline_file = fsl_deadline_file_begin(name);
	reader->path = fsl_path_join("", name);
	if (reader->path == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", name);
		goto out;
	}
	struct stat info;
	if (fstat(fd, &info) != 0) {
		status = fail_read(name, err);
		goto out;
	}
	reader->disk_bytes = info.st_size > 0 ? (uint64_t)info.st_size : 0;
	reader->is_regular = S_ISREG(info.st_mode);
	reader->block_bytes = first_block_bytes(&info);
	const char *head = NULL;
	size_t n_head = 0;
	status = fsl_reader_peek(reader, 4, &head, &n_head, err);
	if (status == FSL_OK) {
		reader->packing = detect_packing(head, n_head);
	}
	if (status == FSL_OK && reader->packing != PACKING_NONE) {
		status = start_unpacking(reader, err);
	}
out:
	if (status != FSL_OK) {
		fsl_reader_close(reader);
		return status;
	}
	*out = reader;
	return FSL_OK;
}

void fsl_reader_set_block(struct fsl_reader *reader, size_t n_bytes)
{
	size_t n_most = reader->block_bytes;
	if (reader->packing == PACKING_NONE && n_bytes < n_most) {
		reader->block_bytes = n_bytes > SMALL_BLOCK_BYTES ? n_bytes : SMALL_BLOCK_BYTES;
	}
}

enum fsl_status fsl_reader_open(struct fsl_reader **out, const char *path, struct fsl_error *err)
{
	int deadline_file = fsl_deadline_file_begin(path);
	int fd = -1, n_tries = 0;
	do {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	} while (fd < 0 && fsl_may_open_again(errno, &n_tries));
	int code = errno; /* the next call may change it */
	fsl_deadline_file_end(deadline_file);
	if (fd < 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot open the file: path=\"%s\", reason=\"%s\"",
				path, fsl_open_error(path, code).text);
	}
	struct stat info;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		(void)close(fd);
		return FSL_FAIL(err, FSL_ERR_IO, "not a regular file: path=\"%s\"", path);
	}
	return fsl_reader_open_fd(out, fd, path, err);
}

void fsl_reader_close(struct fsl_reader *reader)
{
	if (reader == NULL) {
		return;
	}
	fsl_gunzip_destroy(reader->gunzip);
	(void)ZSTD_freeDStream(reader->zstd);
	(void)close(reader->fd);
	fsl_deadline_file_end(reader->deadline_file);
	fsl_free(reader->packed);
	fsl_free(reader->buffer);
	fsl_free(reader->path);
	fsl_free(reader);
}

/* Drops everything up to and including the next "\n". */
static enum fsl_status skip_line(struct fsl_reader *reader, struct fsl_error *err)
{
	for (;;) {
		const char *data = NULL;
		size_t n_bytes = 0;
		enum fsl_status status = fsl_reader_peek(reader, 1, &data, &n_bytes, err);
		if (status != FSL_OK || n_bytes == 0) {
			return status;
		}
		const char *newline = memchr(data, '\n', n_bytes);
		if (newline != NULL) {
			fsl_reader_skip(reader, (size_t)(newline - data) + 1);
			return FSL_OK;
		}
		fsl_reader_skip(reader, n_bytes);
	}
}

enum fsl_status fsl_reader_line(struct fsl_reader *reader, const char **line, size_t *length,
				uint64_t *line_number, bool *too_long, struct fsl_error *err)
{
	const char *data = NULL;
	size_t n_bytes = 0, n_seen = 0;
	const char *newline = NULL;
	*too_long = false;
	*length = 0;
	while (newline == NULL) {
		size_t n_before = n_bytes;
		FSL_TRY(fsl_reader_peek(reader, n_seen + 1, &data, &n_bytes, err));
		if (n_bytes == 0) {
			*line = NULL;
			return FSL_OK;
		}
		newline = memchr(data + n_seen, '\n', n_bytes - n_seen);
		n_seen = n_bytes;
		if (newline == NULL && n_seen >= FSL_LINE_BYTES_MAX) {
			*too_long = true;
			*line = "";
			*line_number = ++reader->n_lines;
			return skip_line(reader, err);
		}
		if (n_bytes == n_before) {
			break; /* the last line has no newline */
		}
	}
	*line_number = ++reader->n_lines;
	*line = data;
	*length = newline != NULL ? (size_t)(newline - data) : n_bytes;
	fsl_reader_skip(reader, newline != NULL ? *length + 1 : *length);
	if (*length > 0 && data[*length - 1] == '\r') {
		--*length;
	}
	return FSL_OK;
}

enum fsl_status fsl_file_read_text(const char *path, char **text, size_t *length,
				   struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	char *copy = NULL;
	size_t capacity = 0, n_copied = 0;
	enum fsl_status status = fsl_reader_open(&reader, path, err);
	while (status == FSL_OK) {
		const char *data = NULL;
		size_t n_bytes = 0;
		status = fsl_reader_peek(reader, 1, &data, &n_bytes, err);
		if (status == FSL_OK && n_copied + n_bytes > FSL_TEXT_BYTES_MAX) {
			status = FSL_FAIL(err, FSL_ERR_LIMIT,
					  "file is too large: path=\"%s\", max_bytes=%d", path,
					  FSL_TEXT_BYTES_MAX);
		}
		FSL_THEN(status, FSL_GROW(copy, capacity, n_copied + n_bytes + 1, err));
		if (status != FSL_OK || n_bytes == 0) {
			break;
		}
		memcpy(copy + n_copied, data, n_bytes);
		n_copied += n_bytes;
		fsl_reader_skip(reader, n_bytes);
	}
	fsl_reader_close(reader);
	if (status != FSL_OK) {
		fsl_free(copy);
		return status;
	}
	copy[n_copied] = '\0';
	*text = copy;
	*length = n_copied;
	return FSL_OK;
}
