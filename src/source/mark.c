/* Marks of files that were read, put together for the next run. */
#include "source/mark.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/mark_parts.h"

void fsl_marks_fini(struct fsl_marks *marks)
{
	for (size_t i = 0; i < marks->n_files; i++) {
		fsl_tail_fini(&marks->files[i].tail);
	}
	if (marks->has_tails) {
		(void)close(marks->tails_fd);
	}
	fsl_free(marks->files);
	fsl_arena_fini(&marks->arena);
	*marks = (struct fsl_marks){0};
}

static int compare_path(const void *path, const void *file)
{
	return strcmp(path, ((const struct fsl_file_marks *)file)->path);
}

const struct fsl_file_marks *fsl_marks_of(const struct fsl_marks *marks, const char *path)
{
	return marks->n_files > 0 ? bsearch(path, marks->files, marks->n_files,
					    sizeof(marks->files[0]), compare_path)
				  : NULL;
}

/* Copy of an array; not NULL when it is empty. */
static void *copy_of(struct fsl_arena *arena, const void *items, size_t n, size_t n_item_bytes)
{
	void *copy = fsl_arena_alloc(arena, n * n_item_bytes);
	if (copy != NULL && n > 0) {
		memcpy(copy, items, n * n_item_bytes);
	}
	return copy;
}

static bool copy_mark(struct fsl_arena *arena, struct fsl_mark *to, const struct fsl_mark *from)
{
	struct fsl_marker_state *pairs = &to->pairs;
	*to = *from;
	to->message = fsl_arena_strdup(arena, from->message);
	pairs->pending =
		copy_of(arena, from->pairs.pending, pairs->n_pending, sizeof(*pairs->pending));
	pairs->used = copy_of(arena, from->pairs.used, pairs->n_used, sizeof(*pairs->used));
	return to->message != NULL && pairs->pending != NULL && pairs->used != NULL;
}

static bool copy_marks(struct fsl_arena *arena, struct fsl_file_marks *to,
		       const struct fsl_mark_taker *from)
{
	to->n_names = from->n_names;
	to->n_marks = from->n_marks;
	to->names = fsl_arena_alloc(arena, from->n_names * sizeof(*to->names));
	to->marks = fsl_arena_alloc(arena, from->n_marks * sizeof(*to->marks));
	bool is_copied = to->names != NULL && to->marks != NULL;
	for (size_t i = 0; is_copied && i < to->n_names; i++) {
		to->names[i] = fsl_arena_strdup(arena, from->names[i]);
		is_copied = to->names[i] != NULL;
	}
	for (size_t i = 0; is_copied && i < to->n_marks; i++) {
		is_copied = copy_mark(arena, &to->marks[i], &from->marks[i]);
	}
	return is_copied;
}

/* A mark that was taken with a shorter lead stands far enough before later boundaries, and one with
 * a longer lead before earlier ones. */
static void settle(struct fsl_mark *mark, int64_t period_ns, int64_t lead_ns)
{
	int64_t first_ns = mark->first_ns + lead_ns - mark->lead_ns;
	int64_t boundary_ns = mark->boundary_ns;
	if (boundary_ns != INT64_MAX) {
		boundary_ns += lead_ns - mark->lead_ns;
		mark->boundary_ns = boundary_ns > 0 ? boundary_ns / period_ns * period_ns : 0;
	}
	mark->first_ns = first_ns > 0 ? (first_ns + period_ns - 1) / period_ns * period_ns : 0;
}

static void settle_file(struct fsl_file_marks *file, int64_t period_ns, int64_t lead_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < file->n_marks; i++) {
		struct fsl_mark mark = file->marks[i];
		settle(&mark, period_ns, lead_ns);
		while (n > 0 && file->marks[n - 1].first_ns >= mark.first_ns) {
			n--;
		}
		if (n > 0 && file->marks[n - 1].boundary_ns >= mark.first_ns) {
			file->marks[n - 1].boundary_ns = mark.first_ns - period_ns;
		}
		if (mark.boundary_ns < mark.first_ns) {
			mark.boundary_ns = mark.first_ns;
		}
		file->marks[n++] = mark;
	}
	size_t n_max = FSL_MARKS_KEPT;
	n_max += n > 0 && file->marks[n - 1].boundary_ns == INT64_MAX;
	size_t n_gone = n > n_max ? n - n_max : 0;
	file->n_marks = n - n_gone;
	file->marks += n_gone;
}

void fsl_marks_settle(struct fsl_marks *marks, int64_t period_ns, int64_t lead_ns)
{
	for (size_t i = 0; i < marks->n_files; i++) {
		settle_file(&marks->files[i], period_ns, lead_ns);
	}
	marks->period_ns = period_ns;
	marks->lead_ns = lead_ns;
}

static int64_t later_ns(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What was there before the mark at which reading began counts, too. */
static struct fsl_last_ends last_ends(const struct fsl_load *load)
{
	const struct fsl_mark_taker *taker = load->taker;
	const struct fsl_sink *sink = &load->sink;
	struct fsl_last_ends last = sink->last;
	if (taker->from != NULL) {
		last.device_ns = later_ns(last.device_ns, taker->old->last.device_ns);
		last.any_ns = later_ns(last.any_ns, taker->old->last.any_ns);
	}
	if (last.device_ns != FSL_NS_ABSENT) {
		bool is_queue =
			sink->queued_ns != FSL_NS_ABSENT && sink->queued_ns < last.device_ns;
		last.any_ns = is_queue ? sink->queued_ns : last.device_ns;
	}
	return last;
}

enum fsl_status fsl_marks_add(struct fsl_marks *marks, const struct fsl_load *load,
			      struct fsl_error *err)
{
	const struct fsl_input *input = load->input;
	const struct fsl_file *file = &load->file;
	struct fsl_file_marks added = {
		.path = fsl_arena_strdup(&marks->arena, input->path),
		.device = (uint64_t)input->device,
		.inode = (uint64_t)input->inode,
		.n_bytes = file->n_bytes,
		.head_fingerprint = load->taker->head_fingerprint,
		.kind = load->kind,
		.is_packed = load->taker->is_packed,
		.is_ignored = load->is_ignored,
		.is_bare = file->state == FSL_FILE_EMPTY || file->state == FSL_FILE_UNUSABLE,
		.format = file->format,
		.last = last_ends(load),
	};
	bool is_copied = added.path != NULL && copy_marks(&marks->arena, &added, load->taker);
	if (!is_copied ||
	    FSL_GROW(marks->files, marks->capacity, marks->n_files + 1, NULL) != FSL_OK) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	added.tail = load->taker->tail;
	load->taker->tail = (struct fsl_tail){.ops = NULL};
	marks->files[marks->n_files++] = added;
	return FSL_OK;
}
