/* Reads an event the cheapest way, and goes to the next one. */
#include "chrome/trace_scanner.h"

#include <string.h>

#include "base/block_scan.h"

bool fsl_trace_scanner_init(struct fsl_trace_scanner *scanner,
			    const struct fsl_trace_vocabulary *vocabulary)
{
	*scanner = (struct fsl_trace_scanner){.vocabulary = vocabulary};
	scanner->shapes = fsl_trace_shapes_create();
	return scanner->shapes != NULL;
}

void fsl_trace_scanner_fini(struct fsl_trace_scanner *scanner)
{
	fsl_trace_shapes_destroy(scanner->shapes);
	*scanner = (struct fsl_trace_scanner){0};
}

size_t fsl_trace_scanner_event(struct fsl_trace_scanner *scanner, const char *text, size_t n_bytes,
			       struct fsl_trace_event *event, uint64_t *n_newlines)
{
	const struct fsl_trace_vocabulary *vocabulary = scanner->vocabulary;
	size_t length = fsl_trace_shapes_scan(scanner->shapes, text, n_bytes, vocabulary, event,
					      n_newlines);
	if (length > 0) {
		return length;
	}
	length = fsl_trace_event_scan(text, n_bytes, vocabulary, event, n_newlines);
	if (length > 0 && !event->has_counters) { /* their keys would be lost */
		fsl_trace_shapes_learn(scanner->shapes, text, n_bytes, vocabulary);
	}
	return length;
}

/* Bytes of white space and a comma up to the "{" of the next event, of which the first must be the
 * comma; 0 if there are others, or more than fit. */
static size_t separator_length(const char *at, size_t n_bytes)
{
	size_t n = 1;
	if (n_bytes < FSL_TRACE_SEPARATOR_MAX || at[0] != ',') {
		return 0;
	}
	while (n < FSL_TRACE_SEPARATOR_MAX &&
	       (at[n] == ' ' || at[n] == '\n' || at[n] == '\t' || at[n] == '\r')) {
		n++;
	}
	return n < FSL_TRACE_SEPARATOR_MAX && at[n] == '{' ? n : 0;
}

/* Mostly the same is between all events. */
bool fsl_trace_scanner_next(struct fsl_trace_scanner *scanner, const char *text, size_t n_bytes)
{
	struct fsl_trace_separator *separator = &scanner->separator;
	bool is_same = separator->length > 0 && n_bytes >= FSL_TRACE_SEPARATOR_MAX &&
		       fsl_scan_is_alike(text, separator->text, separator->length) &&
		       text[separator->length] == '{';
	if (!is_same) {
		*separator =
			(struct fsl_trace_separator){.length = separator_length(text, n_bytes)};
		for (size_t i = 0; i < separator->length; i++) {
			separator->text[i] = text[i];
			separator->n_newlines += text[i] == '\n' ? 1 : 0;
		}
	}
	return separator->length > 0;
}

size_t fsl_trace_find_item(const char *data, size_t n_bytes, size_t *n_left)
{
	enum { NOTHING, COMMA, BRACE } seen = NOTHING;
	size_t comma = 0, brace = 0;
	for (size_t i = 0; i < n_bytes; i++) {
		char c = data[i];
		if (seen == NOTHING && c != ',') { /* long texts have few commas */
			const char *next = memchr(data + i, ',', n_bytes - i);
			if (next == NULL) {
				break;
			}
			i = (size_t)(next - data);
			c = ',';
		}
		if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
			continue;
		}
		if (c == '"' && seen == BRACE) {
			return brace;
		}
		if (c == ',') {
			seen = COMMA;
			comma = i;
		} else if (c == '{' && seen == COMMA) {
			seen = BRACE;
			brace = i;
		} else {
			seen = NOTHING;
		}
	}
	*n_left = seen != NOTHING ? n_bytes - comma : 0;
	return n_bytes;
}
