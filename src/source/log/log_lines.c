/* Windows of whole lines, an exact search for the wanted bytes in them, and lines around hits. */
#include "source/log/log_lines.h"

#include <string.h>

#include "base/try.h"

static const char *last_break(const char *data, size_t n)
{
	const char *newline = memrchr(data, '\n', n);
	size_t n_left = newline != NULL ? (size_t)(newline - data) : 0;
	const char *returned = memrchr(data + n_left, '\r', n - n_left);
	return returned != NULL ? returned : newline;
}

static const char *first_break(const char *data, size_t n)
{
	const char *newline = memchr(data, '\n', n);
	size_t n_line = newline != NULL ? (size_t)(newline - data) : n;
	const char *returned = memchr(data, '\r', n_line);
	return returned != NULL ? returned : newline;
}

/* Skips the rest of a line that is left out. */
static void skip_cut(struct fsl_log_lines *lines)
{
	const char *end = lines->is_cut ? first_break(lines->data, lines->n) : NULL;
	if (end != NULL) {
		lines->at = (size_t)(end - lines->data) + 1;
		lines->is_cut = false;
	}
}

/* Moves to the next window; lines->n is 0 at the end of the file. */
static enum fsl_status next_window(struct fsl_log_lines *lines, struct fsl_error *err)
{
	size_t want = FSL_FILE_BLOCK_BYTES;
	fsl_reader_skip(lines->reader, lines->n);
	lines->n = lines->at = 0;
	while (!lines->is_last) {
		size_t n = 0;
		FSL_TRY(fsl_reader_peek(lines->reader, want, &lines->data, &n, err));
		const char *end = n > 0 ? last_break(lines->data, n) : NULL;
		lines->is_last = n < want;
		if (lines->is_last) {
			lines->n = n;
		} else if (end != NULL) {
			lines->n = (size_t)(end - lines->data) + 1;
		} else if (n < FSL_LOG_LINE_BYTES_MAX) {
			want = n + 1 > 2 * want ? n + 1 : 2 * want;
			continue;
		} else {
			lines->n_too_long += !lines->is_cut;
			lines->is_cut = true;
			fsl_reader_skip(lines->reader, n);
			continue;
		}
		skip_cut(lines);
		lines->at = lines->is_cut ? lines->n : lines->at;
		return FSL_OK;
	}
	return FSL_OK;
}

/* Copies a line without the escape sequences of colours. */
static size_t strip(char *out, const char *text, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] != '\033') {
			out[n++] = text[i];
			continue;
		}
		size_t end = i + 1 < length && text[i + 1] == '[' ? i + 2 : i + 1;
		while (end < length && strchr("0123456789;?", text[end]) != NULL &&
		       text[end] != '\0') {
			end++;
		}
		i = end < length ? end : length;
	}
	return n;
}

/* Sets @line to the line around [hit, hit + n_hit), at most FSL_LOG_LINE_BYTES of it. */
static void set_line(struct fsl_log_lines *lines, const char *hit, size_t n_hit,
		     struct fsl_log_line *line)
{
	const char *window_end = lines->data + lines->n, *from = lines->data + lines->at;
	const char *before = last_break(from, (size_t)(hit - from));
	const char *begin = before != NULL ? before + 1 : from;
	const char *after = first_break(hit + n_hit, (size_t)(window_end - hit) - n_hit);
	const char *end = after != NULL ? after : window_end;
	lines->at = (size_t)(end - lines->data) + (after != NULL ? 1 : 0);
	*line = (struct fsl_log_line){
		.text = begin,
		.length = (size_t)(end - begin),
		.offset = fsl_reader_offset(lines->reader) + (size_t)(begin - lines->data),
		.is_terminated = after != NULL,
	};
	if (line->length > FSL_LOG_LINE_BYTES) {
		size_t n_before = (size_t)(hit - begin);
		size_t n_skip =
			n_before > FSL_LOG_LINE_BYTES / 2 ? n_before - FSL_LOG_LINE_BYTES / 2 : 0;
		line->text += n_skip;
		line->length -= n_skip;
		line->length =
			line->length < FSL_LOG_LINE_BYTES ? line->length : FSL_LOG_LINE_BYTES;
	}
	if (memchr(line->text, '\033', line->length) != NULL) {
		line->length = strip(lines->clean, line->text, line->length);
		line->text = lines->clean;
	}
}

enum fsl_status fsl_log_lines_next(struct fsl_log_lines *lines, const char *anchor, size_t n_anchor,
				   struct fsl_log_line *line, struct fsl_error *err)
{
	*line = (struct fsl_log_line){.text = NULL};
	for (;;) {
		const char *from = lines->data != NULL ? lines->data + lines->at : NULL;
		size_t n_left = lines->n - lines->at;
		const char *hit = n_left > 0 ? from : NULL;
		while (n_anchor == 0 && n_left > 0 && (*hit == '\n' || *hit == '\r')) {
			lines->at++;
			n_left--;
			hit = n_left > 0 ? hit + 1 : NULL;
		}
		if (n_anchor > 0 && n_left > 0) {
			hit = memmem(from, n_left, anchor, n_anchor);
		}
		if (hit != NULL) {
			set_line(lines, hit, n_anchor, line);
			return FSL_OK;
		}
		if (lines->is_last) {
			return FSL_OK;
		}
		FSL_TRY(next_window(lines, err));
	}
}

enum fsl_status fsl_log_lines_tail(struct fsl_log_lines *lines, uint64_t offset, const char **tail,
				   size_t *n_tail, struct fsl_error *err)
{
	uint64_t begin = fsl_reader_offset(lines->reader), end = begin + lines->n;
	uint64_t from = end > FSL_LOG_TAIL_BYTES ? end - FSL_LOG_TAIL_BYTES : 0;
	from = offset > from ? offset : from;
	if (from < begin && fsl_reader_can_seek(lines->reader)) {
		FSL_TRY(fsl_reader_seek(lines->reader, from, err));
		return fsl_reader_peek(lines->reader, (size_t)(end - from), tail, n_tail, err);
	}
	from = from > begin ? from : begin;
	*tail = lines->data + (from - begin);
	*n_tail = (size_t)(end - from);
	return FSL_OK;
}
