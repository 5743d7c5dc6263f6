/* The file in which the tails of all files of a run stand. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os_error.h"
#include "ingest/mark.h"
#include "ingest/mark_take.h"
#include "ingest/tail_parts.h"

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

/* Leaves out what stands in front of the mark for the boundary, of a tail that has one segment, and
 * the tail where the mark is not in it. */
static void trim(struct fsl_file_marks *file, int64_t boundary_ns)
{
	const struct fsl_mark *begin = fsl_mark_find(file, boundary_ns);
	struct fsl_tail *tail = &file->tail;
	if (begin == NULL || !begin->is_in_tail || begin->boundary_ns == INT64_MAX) {
		drop_tail(file);
		return;
	}
	if (tail->n_segments != 1) {
		return;
	}
	const struct fsl_event_counts n = begin->events;
	for (size_t i = 0; i < file->n_marks; i++) {
		struct fsl_mark *mark = &file->marks[i];
		mark->is_in_tail = mark >= begin;
		mark->events = mark->is_in_tail ? fsl_counts_behind(mark->events, n)
						: (struct fsl_event_counts){0, 0, 0};
	}
	tail->n = tail->segments[0].n = fsl_counts_behind(tail->n, n);
	tail->n_passed = n;
}

/* Where the next segment goes: behind those that earlier runs wrote. */
static uint64_t end_of(const struct fsl_marks *marks)
{
	uint64_t end = 0;
	for (size_t i = 0; i < marks->n_files; i++) {
		const struct fsl_tail *tail = &marks->files[i].tail;
		for (size_t k = 0; k + 1 < tail->n_segments; k++) {
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
		if (put < 0 && errno != EINTR) {
			return false;
		}
		n_written += put > 0 ? (size_t)put : 0;
	}
	*offset += n_bytes;
	return true;
}

/* The last segment of a tail; NULL arrays where it is empty. */
static bool write_segment(int fd, uint64_t *offset, struct fsl_tail *tail)
{
	struct fsl_tail_segment *segment = &tail->segments[tail->n_segments - 1];
	const struct fsl_event_counts n = segment->n, passed = tail->n_passed;
	const struct fsl_op *ops = n.n_ops > 0 ? tail->ops + passed.n_ops : NULL;
	const struct fsl_op *remnants =
		n.n_remnants > 0 ? tail->remnants + passed.n_remnants : NULL;
	const struct fsl_stage *stages = n.n_stages > 0 ? tail->stages + passed.n_stages : NULL;
	segment->offset = *offset;
	segment->checksum = fsl_events_checksum(ops, remnants, stages, n);
	return write_items(fd, offset, ops, n.n_ops, sizeof(*ops)) &&
	       write_items(fd, offset, remnants, n.n_remnants, sizeof(*remnants)) &&
	       write_items(fd, offset, stages, n.n_stages, sizeof(*stages));
}

static bool write_segments(int fd, uint64_t offset, struct fsl_marks *marks)
{
	bool is_written = true;
	for (size_t i = 0; i < marks->n_files && is_written; i++) {
		struct fsl_tail *tail = &marks->files[i].tail;
		is_written = tail->n_segments == 0 || write_segment(fd, &offset, tail);
	}
	return is_written;
}

static enum fsl_status fail_write(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO, "cannot write the file: path=\"%s\", reason=\"%s\"", path,
			fsl_os_error(errno).text);
}

static enum fsl_status append(struct fsl_marks *marks, const char *path, uint64_t offset,
			      struct fsl_error *err)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	enum fsl_status status =
		fd >= 0 && write_segments(fd, offset, marks) ? FSL_OK : fail_write(path, err);
	if (fd >= 0 && close(fd) != 0 && status == FSL_OK) {
		status = fail_write(path, err);
	}
	return status;
}

static enum fsl_status write_anew(struct fsl_marks *marks, const char *path, struct fsl_error *err)
{
	struct fsl_draft *draft = NULL;
	enum fsl_status status = fsl_draft_create(&draft, path, err);
	if (status == FSL_OK && !write_segments(fileno(fsl_draft_stream(draft)), 0, marks)) {
		status = fail_write(path, err);
	}
	if (status == FSL_OK) {
		status = fsl_draft_publish_unsynced(draft, err);
	}
	fsl_draft_destroy(draft);
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
		if (tail->n_segments > 0) {
			*n_new += fsl_counts_bytes(tail->segments[tail->n_segments - 1].n);
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
		if (marks->files[i].tail.n_segments > 1) {
			drop_tail(&marks->files[i]);
		}
	}
}

enum fsl_status fsl_tails_write(struct fsl_marks *marks, const char *path, int64_t boundary_ns,
				struct fsl_error *err)
{
	size_t n_new = 0;
	for (size_t i = 0; i < marks->n_files; i++) {
		trim(&marks->files[i], boundary_ns);
	}
	drop_old(marks);
	if (count_bytes(marks, &n_new) == 0) {
		drop_tails(marks);
		(void)unlink(path);
		return FSL_OK;
	}
	uint64_t end = end_of(marks);
	enum fsl_status status =
		end > 0 ? append(marks, path, end, err) : write_anew(marks, path, err);
	if (status != FSL_OK) {
		drop_tails(marks);
	}
	return status;
}

void fsl_tails_open(struct fsl_marks *marks, const char *path)
{
	marks->tails_fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	marks->has_tails = marks->tails_fd >= 0;
}
