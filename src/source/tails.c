/* The file in which the tails of all files of a run stand. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_error.h"
#include "source/mark.h"
#include "source/mark_take.h"
#include "source/tail_parts.h"

enum { WASTE_MAX = 2 }; /* so many times longer than what is of use in it may it get */

/* None of the file's marks is in a tail any longer. */
static void drop_tail(struct fsl_file_marks *file)
{
	fsl_tail_fini(&file->tail);
	for (size_t i = 0; i < file->n_marks; i++) {
		file->marks[i].is_in_tail = false;
		file->marks[i].events = (struct fsl_event_counts){0, 0, 0};
	}
}

static void drop_tails(struct fsl_marks *marks)
{
	for (size_t i = 0; i < marks->n_files; i++) {
		drop_tail(&marks->files[i]);
	}
}

/* Leaves out what stands in front of the mark for the boundary, and the tail where the mark is not
 * in it. */
static void trim(struct fsl_file_marks *file, int64_t boundary_ns)
{
	const struct fsl_mark *begin = fsl_mark_find(file, boundary_ns);
	if (begin == NULL || !begin->is_in_tail || begin->boundary_ns == INT64_MAX) {
		drop_tail(file);
		return;
	}
	const struct fsl_event_counts n = begin->events;
	if (!fsl_tail_pass(&file->tail, n)) {
		drop_tail(file);
		return;
	}
	for (size_t i = 0; i < file->n_marks; i++) {
		struct fsl_mark *mark = &file->marks[i];
		mark->is_in_tail = mark >= begin;
		mark->events = mark->is_in_tail ? fsl_counts_behind(mark->events, n)
						: (struct fsl_event_counts){0, 0, 0};
	}
}

/* Where the next segment goes: behind those that earlier runs wrote. */
static uint64_t end_of(const struct fsl_marks *marks)
{
	uint64_t end = 0;
	for (size_t i = 0; i < marks->n_files; i++) {
		const struct fsl_tail *tail = &marks->files[i].tail;
		for (size_t k = 0; k < tail->n_written; k++) {
			const struct fsl_tail_segment *segment = &tail->segments[k];
			uint64_t behind = segment->offset + fsl_counts_bytes(segment->n);
			end = behind > end ? behind : end;
		}
	}
	return end;
}

/* Items at *offset, which moves on. */
static bool write_items(int fd, uint64_t *offset, const void *items, uint64_t n,
			size_t n_item_bytes)
{
	size_t n_bytes = (size_t)n * n_item_bytes, n_written = 0;
	while (n_written < n_bytes) {
		ssize_t put = pwrite(fd, (const char *)items + n_written, n_bytes - n_written,
				     (off_t)(*offset + n_written));
		if (put == 0 || (put < 0 && errno != EINTR)) {
			errno = put == 0 ? ENOSPC : errno;
			return false;
		}
		n_written += put > 0 ? (size_t)put : 0;
	}
	*offset += n_bytes;
	return true;
}

static bool write_segment(int fd, uint64_t *offset, struct fsl_tail *tail,
			  struct fsl_tail_segment *segment)
{
	const struct fsl_event_counts n = segment->n;
	const struct fsl_op *ops = FSL_BEHIND(tail->ops, tail->n_passed.n_ops);
	const struct fsl_op *remnants = FSL_BEHIND(tail->remnants, tail->n_passed.n_remnants);
	const struct fsl_stage *stages = FSL_BEHIND(tail->stages, tail->n_passed.n_stages);
	segment->offset = *offset;
	segment->checksum = fsl_events_checksum(ops, remnants, stages, n);
	tail->n_passed = fsl_counts_sum(tail->n_passed, n);
	tail->n_written++;
	return write_items(fd, offset, ops, n.n_ops, sizeof(*ops)) &&
	       write_items(fd, offset, remnants, n.n_remnants, sizeof(*remnants)) &&
	       write_items(fd, offset, stages, n.n_stages, sizeof(*stages));
}

static bool write_segments(int fd, uint64_t offset, struct fsl_marks *marks)
{
	bool is_written = true;
	for (size_t i = 0; i < marks->n_files; i++) {
		struct fsl_tail *tail = &marks->files[i].tail;
		for (size_t k = tail->n_written; k < tail->n_segments && is_written; k++) {
			is_written = write_segment(fd, &offset, tail, &tail->segments[k]);
		}
	}
	return is_written;
}

static enum fsl_status fail_write(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO, "cannot write the file: path=\"%s\", reason=\"%s\"", path,
			fsl_os_error(errno).text);
}

/* In the place of what has the name; others may still read that. There is no temporary file: what
 * is half written has no checksum that fits. */
static enum fsl_status write_anew(struct fsl_marks *marks, const char *path, struct fsl_error *err)
{
	(void)unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		return fail_write(path, err);
	}
	enum fsl_status status = write_segments(fd, 0, marks) ? FSL_OK : fail_write(path, err);
	if (close(fd) != 0 && status == FSL_OK) {
		status = fail_write(path, err);
	}
	if (status != FSL_OK) {
		(void)unlink(path); /* what is kept wants the room */
	}
	return status;
}

/* Bytes of all tails, and of the segments that this run made. */
static size_t count_bytes(const struct fsl_marks *marks, size_t *n_new)
{
	size_t n = 0;
	*n_new = 0;
	for (size_t i = 0; i < marks->n_files; i++) {
		const struct fsl_tail *tail = &marks->files[i].tail;
		n += fsl_counts_bytes(tail->n);
		for (size_t k = tail->n_written; k < tail->n_segments; k++) {
			*n_new += fsl_counts_bytes(tail->segments[k].n);
		}
	}
	return n;
}

/* Tails that go on go where the others, begun anew behind them, would have the file grow too long:
 * the next run begins them anew, too. */
static void drop_old(struct fsl_marks *marks)
{
	size_t n_new = 0, n_bytes = count_bytes(marks, &n_new);
	if (end_of(marks) + n_new <= WASTE_MAX * (uint64_t)n_bytes) {
		return;
	}
	for (size_t i = 0; i < marks->n_files; i++) {
		if (marks->files[i].tail.n_written > 0) {
			drop_tail(&marks->files[i]);
		}
	}
}

enum fsl_status fsl_tails_write(struct fsl_marks *marks, const struct fsl_marks *old,
				const char *path, int64_t boundary_ns, bool *is_anew,
				struct fsl_error *err)
{
	size_t n_new = 0;
	enum fsl_status status = FSL_OK;
	*is_anew = false;
	for (size_t i = 0; i < marks->n_files; i++) {
		trim(&marks->files[i], boundary_ns);
	}
	drop_old(marks);
	uint64_t end = end_of(marks);
	if (count_bytes(marks, &n_new) == 0) {
		(void)unlink(path);
		drop_tails(marks);
	} else if (end == 0) {
		*is_anew = true;
		status = write_anew(marks, path, err);
	} else if (!write_segments(old->tails_fd, end, marks)) {
		status = fail_write(path, err);
	}
	if (status != FSL_OK) {
		drop_tails(marks);
	}
	return status;
}

void fsl_tails_open(struct fsl_marks *marks, const char *path)
{
	struct stat facts;
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* One that has another name, too, may be somebody else's. */
	bool is_ours =
		fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 1;
	if (fd >= 0 && !is_ours) {
		(void)close(fd);
	}
	marks->has_tails = is_ours;
	marks->tails_fd = is_ours ? fd : -1;
}
