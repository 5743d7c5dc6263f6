/*
 * Streamed input: plain, gzip and zstd files through one reader with a bounded buffer (read(2) in
 * blocks, no mmap: a file may shrink while it is read). Output that appears whole or not at all.
 */
#ifndef FSL_BASE_FILE_H
#define FSL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <failslow/error.h>

enum {
	FSL_FILE_BLOCK_BYTES = 256 * 1024, /* measured optimum of read(2) */
	FSL_FILE_HEAD_BYTES = 4 * 1024,    /* what a format's probe sees */
	FSL_LINE_BYTES_MAX =
		4 * 1024 * 1024, /* longer lines and JSON strings are dropped, counted */
	FSL_TEXT_BYTES_MAX =
		64 * 1024 * 1024, /* files read as a whole (configuration, rank tables) */
};

/* Files that are being written: .failslow.<pid>.<n>.tmp, in the folder of what they become. */
#define FSL_FILE_TEMP_BEGIN ".failslow."
#define FSL_FILE_TEMP_END   ".tmp"

struct fsl_reader; /* opaque */

/* Opens and detects compression by content (gzip 1f 8b, zstd 28 b5 2f fd). Only regular files:
 * everything else is refused; opened O_NONBLOCK|O_CLOEXEC so that a FIFO cannot block a run. */
enum fsl_status fsl_reader_open(struct fsl_reader **out, const char *path, struct fsl_error *err);
/* The same over a file or pipe that is open already, read from where it stands; @name is for
 * messages. @fd then belongs to the reader, also when the call fails. */
enum fsl_status fsl_reader_open_fd(struct fsl_reader **out, int fd, const char *name,
				   struct fsl_error *err);
void fsl_reader_close(struct fsl_reader *reader);

/*
 * Borrowed view of the unread decompressed bytes: at least @want of them unless the end of the file
 * is near, then all that is left (0 at the end). @want <= FSL_LINE_BYTES_MAX, and never more bytes
 * than that come back. Valid until the next call. A read or decompression that fails half way
 * (FSL_ERR_IO, FSL_ERR_FORMAT "compressed data is cut") is reported by the first peek after
 * everything before it has been skipped, and by every later one.
 */
enum fsl_status fsl_reader_peek(struct fsl_reader *reader, size_t want, const char **data,
				size_t *n_bytes, struct fsl_error *err);
/* Forgets @n_bytes of what peek returned. */
void fsl_reader_skip(struct fsl_reader *reader, size_t n_bytes);
/* True when no unread byte is left (after a peek that returned 0 bytes). */
bool fsl_reader_at_end(const struct fsl_reader *reader);
/* Decompressed offset of the next unread byte. */
uint64_t fsl_reader_offset(const struct fsl_reader *reader);
/* True when any place of the file can be read at once: it is regular and not compressed. */
bool fsl_reader_can_seek(const struct fsl_reader *reader);
/* Goes on at @offset, also backwards. The reader can seek. */
enum fsl_status fsl_reader_seek(struct fsl_reader *reader, uint64_t offset, struct fsl_error *err);
/* Up to @room bytes from @offset on, without moving; fewer only at the end of the file. The reader
 * can seek. */
enum fsl_status fsl_reader_sample(const struct fsl_reader *reader, uint64_t offset, char *to,
				  size_t room, size_t *n_read, struct fsl_error *err);
/* Size of the file on disk when it was opened, bytes. */
uint64_t fsl_reader_disk_bytes(const struct fsl_reader *reader);
const char *fsl_reader_path(const struct fsl_reader *reader);

/*
 * Next line without its "\n" or "\r\n", borrowed until the next call. *line = NULL at the end of
 * the file. A line over FSL_LINE_BYTES_MAX is skipped and *too_long set (*line is then ""). Lines
 * are counted from 1 in *line_number, long ones too.
 */
enum fsl_status fsl_reader_line(struct fsl_reader *reader, const char **line, size_t *length,
				uint64_t *line_number, bool *too_long, struct fsl_error *err);

/* Whole small file, NUL-terminated; free with fsl_free. Limit FSL_TEXT_BYTES_MAX. */
enum fsl_status fsl_file_read_text(const char *path, char **text, size_t *length,
				   struct fsl_error *err);

/*
 * Writes @text to @path so that readers see the old file or the new one: temporary file in the same
 * directory, fsync, rename, fsync of the directory. The temporary file is removed on failure.
 */
enum fsl_status fsl_file_write_atomic(const char *path, const char *text, size_t length,
				      struct fsl_error *err);
/* The same for a file that is not there yet (link(2)): where it is, *existed is set and nothing is
 * written. That the name survives a power cut is left to fsl_dir_sync. */
enum fsl_status fsl_file_write_new(const char *path, const char *text, size_t length, bool *existed,
				   struct fsl_error *err);
/* Makes the names of files in a directory survive a power cut. Where the file system cannot do it,
 * or the directory cannot be read, nothing is done. */
enum fsl_status fsl_dir_sync(const char *path, struct fsl_error *err);
/* fsl_file_write_atomic in the place of what is there, for what the program alone reads: written by
 * nobody else than the owner, and without waiting for the disk. After a power cut the file may be
 * empty or cut, so that its content has to tell whether it is whole. */
enum fsl_status fsl_file_replace(const char *path, const void *bytes, size_t n_bytes,
				 struct fsl_error *err);

/*
 * The same for what is too large to be held as one text, or is written by somebody else: a file
 * that has no name yet.
 */
struct fsl_draft; /* opaque */
enum fsl_status fsl_draft_create(struct fsl_draft **out, const char *path, struct fsl_error *err);
/* Where to write, until it is published; errors are told then. */
FILE *fsl_draft_stream(struct fsl_draft *draft);
/* Its present name, for a library that opens the file itself (and has closed it when it is
 * published). */
const char *fsl_draft_path(const struct fsl_draft *draft);
/* Gives it its name, as fsl_file_write_atomic does. Destroy it in any case. */
enum fsl_status fsl_draft_publish(struct fsl_draft *draft, struct fsl_error *err);
/* Removes what was not published. NULL is fine. */
void fsl_draft_destroy(struct fsl_draft *draft);

/* mkdir -p. */
enum fsl_status fsl_dir_create(const char *path, struct fsl_error *err);
/* Sorted names of a directory (no "." and ".."), in one allocation freed with fsl_free. */
enum fsl_status fsl_dir_list(const char *path, char ***names, size_t *n_names,
			     struct fsl_error *err);
/* @base joined with @path unless @path is absolute; heap, free with fsl_free; NULL when out of
 * memory. */
char *fsl_path_join(const char *base, const char *path);

#endif
