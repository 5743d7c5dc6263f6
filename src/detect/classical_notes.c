/*
 * Reasons why detectors could not run. Equal reasons of many groups become one line of the verdict.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "detect/classical_parts.h"

enum { WHY_BYTES = 256, NOTES_COMPARED_MAX = 64 };

/* The recent note with this subject and reason; NULL: none. Older notes are not searched, so that
 * many different reasons do not cost a comparison with each other. */
static struct fsl_note *find_note(struct fsl_notes *notes, const char *subject, const char *why)
{
	size_t n = notes->n_items;
	for (size_t i = 0; i < n && i < NOTES_COMPARED_MAX; i++) {
		struct fsl_note *note = &notes->items[n - 1 - i];
		if (strcmp(note->subject, subject) == 0 && strcmp(note->why, why) == 0) {
			return note;
		}
	}
	return NULL;
}

static enum fsl_status add_note(struct fsl_notes *notes, const struct fsl_note *added,
				struct fsl_error *err)
{
	struct fsl_note *known = find_note(notes, added->subject, added->why);
	if (known != NULL) {
		known->n_more += added->n_more + 1;
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(notes->items, notes->capacity, notes->n_items + 1, err));
	struct fsl_note note = {
		.subject = fsl_arena_strdup(&notes->arena, added->subject),
		.where = fsl_arena_strdup(&notes->arena, added->where),
		.why = fsl_arena_strdup(&notes->arena, added->why),
		.n_more = added->n_more,
	};
	if (note.subject == NULL || note.where == NULL || note.why == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"notes\"");
	}
	notes->items[notes->n_items++] = note;
	return FSL_OK;
}

enum fsl_status fsl_notes_add(struct fsl_notes *notes, struct fsl_error *err, const char *subject,
			      const char *where, const char *format, ...)
{
	char why[WHY_BYTES];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	struct fsl_note note = {.subject = subject, .where = where, .why = why};
	return add_note(notes, &note, err);
}

enum fsl_status fsl_notes_merge(struct fsl_notes *into, const struct fsl_notes *from,
				struct fsl_error *err)
{
	for (size_t i = 0; i < from->n_items; i++) {
		FSL_TRY(add_note(into, &from->items[i], err));
	}
	return FSL_OK;
}

static enum fsl_status flush_note(struct fsl_localisation *out, const struct fsl_note *note,
				  struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	struct fsl_arena *arena = &out->arena;
	if (note->where[0] == '\0') {
		return fsl_coverage_add_skipped(coverage, arena, err, "%s: %s", note->subject,
						note->why);
	}
	if (note->n_more == 0) {
		return fsl_coverage_add_skipped(coverage, arena, err, "%s: %s: %s", note->subject,
						note->where, note->why);
	}
	return fsl_coverage_add_skipped(coverage, arena, err, "%s: %s and %zu more: %s",
					note->subject, note->where, note->n_more, note->why);
}

enum fsl_status fsl_notes_flush(struct fsl_localisation *out, const struct fsl_notes *notes,
				struct fsl_error *err)
{
	for (size_t i = 0; i < notes->n_items; i++) {
		FSL_TRY(flush_note(out, &notes->items[i], err));
	}
	return FSL_OK;
}

void fsl_notes_fini(struct fsl_notes *notes)
{
	fsl_free(notes->items);
	fsl_arena_fini(&notes->arena);
	*notes = (struct fsl_notes){0};
}
