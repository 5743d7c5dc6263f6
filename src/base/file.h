/*
 * Streamed input. Reads plain, gzip and zstd files through one reader with a bounded buffer:
 * read(2) in blocks, no mmap, because a file may shrink while it is read. Writes output that
 * appears whole or not at all.
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
	FSL_FILE_HEAD_BYTES = 4 * 1024,    /* bytes that the probe of a format sees */
	FSL_LINE_BYTES_MAX =
		4 * 1024 * 1024, /* longer lines and JSON strings are dropped and counted */
	FSL_TEXT_BYTES_MAX =
		64 * 1024 * 1024, /* limit for files read as a whole (configuration, rank tables) */
	/* So many unpacked bytes may come from any compressed ones; behind them a file is a bomb if
	 * more than this many times its size came. Markers and logs of jobs unpack to 5 to 40
	 * times theirs; gzip can make 1,000 of one, zstd 30,000. */
	FSL_UNPACKED_BYTES_FREE = 64 * 1024 * 1024,
	FSL_UNPACKED_RATIO_MAX = 200,
};

/*
 * A file that is being written is called .failslow.<pid>.<n>.tmp, in the folder of its final name.
 */
#define FSL_FILE_TEMP_BEGIN ".failslow."
#define FSL_FILE_TEMP_END   ".tmp"

struct fsl_reader; /* opaque */

/*
 * Opens a file and detects compression by content (gzip 1f 8b, zstd 28 b5 2f fd). Refuses
 * everything but regular files; opens with O_NONBLOCK|O_CLOEXEC so that a FIFO cannot block a run.
 * *out is owned by the caller: fsl_reader_close.
 */
enum fsl_status fsl_reader_open(struct fsl_reader **out, const char *path, struct fsl_error *err);
/* The same for a file or pipe that is open already, read from its present position. @name is for
 * messages. The reader owns @fd from now on, also if the call fails. */
enum fsl_status fsl_reader_open_fd(struct fsl_reader **out, int fd, const char *name,
				   struct fsl_error *err);
void fsl_reader_close(struct fsl_reader *reader);

/*
 * Borrowed view of the unread decompressed bytes, valid until the next call. It has at least @want
 * bytes, or all that are left near the end of the file (0 at the end). @want <= FSL_LINE_BYTES_MAX,
 * and the view is never longer than that. A read or decompression that fails half way (FSL_ERR_IO,
 * FSL_ERR_FORMAT "compressed data is cut") is reported by the first peek after all bytes before the
 * failure have been skipped, and by every later peek.
 */
enum fsl_status fsl_reader_peek(struct fsl_reader *reader, size_t want, const char **data,
				size_t *n_bytes, struct fsl_error *err);
/* Consumes @n_bytes of the bytes that peek returned. */
void fsl_reader_skip(struct fsl_reader *reader, size_t n_bytes);
/* Decompressed offset of the next unread byte. */
uint64_t fsl_reader_offset(const struct fsl_reader *reader);
/* True if any place of the file can be read at once: the file is regular and not compressed. */
bool fsl_reader_can_seek(const struct fsl_reader *reader);
/* Goes on at @offset, also backwards. The reader must be able to seek. */
enum fsl_status fsl_reader_seek(struct fsl_reader *reader, uint64_t offset, struct fsl_error *err);
/* Reads up to @room bytes from @offset on without moving; fewer only at the end of the file. The
 * reader must be able to seek. */
enum fsl_status fsl_reader_sample(const struct fsl_reader *reader, uint64_t offset, char *to,
				  size_t room, size_t *n_read, struct fsl_error *err);
/* Reads up to @n_bytes at a time from now on, where not much is wanted. */
void fsl_reader_set_block(struct fsl_reader *reader, size_t n_bytes);
/* Size of the file on disk when it was opened, bytes. */
uint64_t fsl_reader_disk_bytes(const struct fsl_reader *reader);
const char *fsl_reader_path(const struct fsl_reader *reader);

/*
 * Next line without its "\n" or "\r\n", borrowed until the next call. *line = NULL at the end of
 * the file. A line over FSL_LINE_BYTES_MAX is skipped: *line is "" and *too_long is set.
 * *line_number counts lines from 1, long ones too.
 */
enum fsl_status fsl_reader_line(struct fsl_reader *reader, const char **line, size_t *length,
				uint64_t *line_number, bool *too_long, struct fsl_error *err);

/* Reads a whole small file, NUL-terminated; free with fsl_free. Limit: FSL_TEXT_BYTES_MAX. */
enum fsl_status fsl_file_read_text(const char *path, char **text, size_t *length,
				   struct fsl_error *err);

/*
 * Writes @text to @path so that readers see either the old file or the new one: temporary file in
 * the same directory, fsync, rename, fsync of the directory. The temporary file is removed on
 * failure.
 */
enum fsl_status fsl_file_write_atomic(const char *path, const char *text, size_t length,
				      struct fsl_error *err);
/* The same for a file that must not exist yet (link(2)). If it exists, *existed is set and nothing
 * is written. Call fsl_dir_sync to make the name survive a power cut. */
enum fsl_status fsl_file_write_new(const char *path, const char *text, size_t length, bool *existed,
				   struct fsl_error *err);
/* Makes the names of files in a directory survive a power cut. Does nothing if the file system
 * cannot do it or the directory cannot be read. */
enum fsl_status fsl_dir_sync(const char *path, struct fsl_error *err);
/* Removes temporary files of the user's that runs left in a folder as they were killed: none is
 * written for an hour. What cannot be removed stays. Returns how many it removed. */
size_t fsl_dir_sweep(const char *path);

/*
 * A file that has no name yet: for output that is too large for one text, or that a library writes.
 */
struct fsl_draft; /* opaque */
enum fsl_status fsl_draft_create(struct fsl_draft **out, const char *path, struct fsl_error *err);
/* Stream to write to until the draft is published; write errors are reported then. */
FILE *fsl_draft_stream(struct fsl_draft *draft);
/* Present path of the file, for a library that opens the file itself. The library must have closed
 * it before the draft is published. */
const char *fsl_draft_path(const struct fsl_draft *draft);
/* Gives the file its final name, as fsl_file_write_atomic does. Destroy the draft in any case. */
enum fsl_status fsl_draft_publish(struct fsl_draft *draft, struct fsl_error *err);
/* The failure of a draft for which a write failed: @code is the errno of that write, which a large
 * fwrite() does not leave in the stream. Destroy the draft then. */
enum fsl_status fsl_draft_fail(const struct fsl_draft *draft, int code, struct fsl_error *err);
/* Removes the file unless it was published. NULL is fine. */
void fsl_draft_destroy(struct fsl_draft *draft);

/* Creates a folder with all its parents, as mkdir -p. */
enum fsl_status fsl_dir_create(const char *path, struct fsl_error *err);
/* Sorted names of a directory (no "." and ".."), in one allocation freed with fsl_free. */
enum fsl_status fsl_dir_list(const char *path, char ***names, size_t *n_names,
			     struct fsl_error *err);
/* @base joined with @path unless @path is absolute; free with fsl_free; NULL if out of memory. */
char *fsl_path_join(const char *base, const char *path);

#endif
