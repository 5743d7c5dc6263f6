/* Walks over a trace, and goes on behind faults. */
#include "chrome/trace_walk.h"

#include "base/block_scan.h"
#include "base/try.h"
#include "chrome/trace_shapes.h"
#include "text/json_walk.h"

enum {
	STRETCHES_MAX = 1000, /* after so many faults the file is no trace and not worth the time */
	LOOK_BYTES = FSL_FILE_HEAD_BYTES,
	SEPARATOR_MAX = 16,
};

/* The text between two events. */
struct separator {
	size_t length; /* 0: none was seen */
	uint64_t n_newlines;
	char text[SEPARATOR_MAX];
};

struct walk {
	const struct fsl_trace_listener *listener;
	struct fsl_trace_walked *out;
	struct fsl_reader *reader;
	struct fsl_json *json;
	struct fsl_trace_shapes *shapes;
	struct separator separator;
	int n_stretches; /* stretches of JSON after the first one */
};

static enum fsl_status drop(struct walk *walk, const char *reason, struct fsl_error *err)
{
	return walk->listener->drop(walk->listener->context, walk->json, reason, err);
}

static enum fsl_status add_event(struct walk *walk, const struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	walk->out->n_events++;
	return walk->listener->take(walk->listener->context, event, err);
}

/* The event at @text by comparing it with those before, else byte by byte; its length, 0: neither
 * can read it. */
static size_t scan_event(struct walk *walk, const char *text, size_t n_bytes,
			 struct fsl_trace_event *event, uint64_t *n_newlines)
{
	const struct fsl_trace_vocabulary *vocabulary = walk->listener->vocabulary;
	size_t length =
		fsl_trace_shapes_scan(walk->shapes, text, n_bytes, vocabulary, event, n_newlines);
	if (length > 0) {
		return length;
	}
	length = fsl_trace_event_scan(text, n_bytes, vocabulary, event, n_newlines);
	if (length > 0 && !event->has_counters) { /* their keys would be lost */
		fsl_trace_shapes_learn(walk->shapes, text, n_bytes, vocabulary);
	}
	return length;
}

/* Bytes of white space and a comma up to the "{" of the next event, of which the first must be the
 * comma; 0 if there are others, or more than fit. */
static size_t separator_length(const char *at, size_t n_bytes)
{
	size_t n = 1;
	if (n_bytes < SEPARATOR_MAX || at[0] != ',') {
		return 0;
	}
	while (n < SEPARATOR_MAX &&
	       (at[n] == ' ' || at[n] == '\n' || at[n] == '\t' || at[n] == '\r')) {
		n++;
	}
	return n < SEPARATOR_MAX && at[n] == '{' ? n : 0;
}

/* Goes from behind an event to the next one, *n_bytes away from the end; false if what is between
 * them is to be read by the tokenizer. Mostly the same is between all events. */
static bool next_event(struct separator *separator, const char **at, size_t *n_bytes,
		       uint64_t *n_newlines)
{
	bool is_same = separator->length > 0 && *n_bytes >= SEPARATOR_MAX &&
		       fsl_scan_is_alike(*at, separator->text, separator->length) &&
		       (*at)[separator->length] == '{';
	if (!is_same) {
		*separator = (struct separator){.length = separator_length(*at, *n_bytes)};
		for (size_t i = 0; i < separator->length; i++) {
			separator->text[i] = (*at)[i];
			separator->n_newlines += (*at)[i] == '\n' ? 1 : 0;
		}
	}
	*at += separator->length;
	*n_bytes -= separator->length;
	*n_newlines += separator->n_newlines;
	return separator->length > 0;
}

/* Scans events that follow each other in memory, as one value for the tokenizer; *is_end: the next
 * one needs the tokenizer. */
static enum fsl_status scan_run(struct walk *walk, struct fsl_trace_event *event, const char *text,
				size_t n_bytes, bool *is_end, struct fsl_error *err)
{
	const char *at = text;
	size_t n_taken = 0, n_left = n_bytes;
	uint64_t n_newlines = 0, n_newlines_taken = 0;
	bool is_in_array = fsl_json_depth(walk->json) > 0;
	do {
		uint64_t n_inside = 0;
		size_t length = scan_event(walk, at, n_left, event, &n_inside);
		*is_end = length == 0 || walk->listener->fault_of(event) != NULL;
		if (*is_end) {
			break;
		}
		FSL_TRY(add_event(walk, event, err)); /* its texts lie in the window */
		at += length;
		n_left -= length;
		n_newlines += n_inside;
		n_taken = (size_t)(at - text);
		n_newlines_taken = n_newlines;
	} while (is_in_array && next_event(&walk->separator, &at, &n_left, &n_newlines));
	if (n_taken > 0) {
		fsl_json_take_object(walk->json, n_taken, n_newlines_taken);
	}
	return FSL_OK;
}

/* Scans events up to the first one that needs the tokenizer. */
static enum fsl_status scan_events(struct walk *walk, struct fsl_error *err)
{
	struct fsl_trace_event event;
	const char *text = NULL;
	size_t n_bytes = 0;
	bool is_end = false;
	fsl_trace_event_clear(walk->listener->vocabulary, &event);
	while (!is_end && fsl_json_peek_object(walk->json, &text, &n_bytes)) {
		FSL_TRY(scan_run(walk, &event, text, n_bytes, &is_end, err));
	}
	return FSL_OK;
}

/* Reads the rest of an event that the tokenizer has begun. */
static enum fsl_status read_event(struct walk *walk, struct fsl_error *err)
{
	struct fsl_trace_event event;
	FSL_TRY(fsl_trace_event_read(walk->json, walk->listener->vocabulary, &event, err));
	const char *fault = walk->listener->fault_of(&event);
	if (fault == NULL) {
		return add_event(walk, &event, err);
	}
	return drop(walk, fault, err);
}

/* Reads events of an open array, up to its end. */
static enum fsl_status read_events(struct walk *walk, struct fsl_error *err)
{
	size_t depth = fsl_json_depth(walk->json);
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(scan_events(walk, err));
		FSL_TRY(fsl_json_next(walk->json, &value, err));
		if (fsl_json_depth(walk->json) < depth) {
			return FSL_OK;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			FSL_TRY(read_event(walk, err));
		} else {
			FSL_TRY(drop(walk, "a value that is no event", err));
			while (fsl_json_depth(walk->json) > depth) {
				FSL_TRY(fsl_json_next(walk->json, &value, err));
			}
		}
	}
}

static enum fsl_status read_member(struct walk *walk, const struct fsl_json_value *key,
				   struct fsl_error *err)
{
	const struct fsl_trace_listener *listener = walk->listener;
	return listener->member != NULL ? listener->member(listener->context, walk->json, key, err)
					: fsl_json_skip(walk->json, err);
}

/* Reads {"traceEvents": [...]}. */
static enum fsl_status read_object(struct walk *walk, struct fsl_error *err)
{
	bool is_more = true;
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		bool is_array = false;
		status = fsl_json_next_key(walk->json, &value, &is_more, err);
		if (status != FSL_OK || !is_more) {
			break;
		}
		if (!fsl_json_is(&value, "traceEvents")) {
			status = read_member(walk, &value, err);
			continue;
		}
		status = fsl_json_enter_array(walk->json, &is_array, err);
		if (status == FSL_OK && is_array) {
			status = read_events(walk, err);
		}
	}
	return status;
}

static enum fsl_status read_document(struct walk *walk, struct fsl_error *err)
{
	struct fsl_json_value value;
	FSL_TRY(fsl_json_next(walk->json, &value, err));
	if (value.token == FSL_JSON_ARRAY_BEGIN) {
		return read_events(walk, err);
	}
	return value.token == FSL_JSON_OBJECT_BEGIN ? read_object(walk, err) : FSL_OK;
}

/*
 * Index of the "{" of an object that follows a comma and has a key. A match inside a string is
 * impossible, because the key's quote would have a backslash there. @n_bytes if there is none; the
 * last *n_left bytes may then begin a match.
 */
static size_t find_item(const char *data, size_t n_bytes, size_t *n_left)
{
	enum { NOTHING, COMMA, BRACE } seen = NOTHING;
	size_t comma = 0, brace = 0;
	for (size_t i = 0; i < n_bytes; i++) {
		char c = data[i];
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

/* Moves the reader to the next item; *found false at the end of the file. */
static enum fsl_status seek_item(struct fsl_reader *reader, bool *found, struct fsl_error *err)
{
	*found = false;
	for (;;) {
		const char *data = NULL;
		size_t n_bytes = 0, n_left = 0;
		FSL_TRY(fsl_reader_peek(reader, LOOK_BYTES, &data, &n_bytes, err));
		if (n_bytes == 0) {
			return FSL_OK;
		}
		size_t at = find_item(data, n_bytes, &n_left);
		*found = at < n_bytes;
		bool is_last = n_bytes < LOOK_BYTES || n_left == n_bytes;
		fsl_reader_skip(reader, *found || is_last ? at : n_bytes - n_left);
		if (*found) {
			return FSL_OK;
		}
	}
}

/* Makes a tokenizer at the reader's position, before an item. */
static enum fsl_status go_on(struct walk *walk, struct fsl_error *err)
{
	struct fsl_reader *reader = walk->reader;
	const struct fsl_json_place place = {fsl_reader_offset(reader), 0, FSL_JSON_AT_ITEM};
	walk->json = fsl_json_create(reader);
	if (walk->json == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				fsl_reader_path(walk->reader));
	}
	fsl_json_go_on(walk->json, &place);
	return FSL_OK;
}

/* Makes walk->json go on with the next item behind the present place. NULL if there is none, or if
 * the bytes cannot be read, which was reported before. FSL_ERR_MEMORY only. */
static enum fsl_status recover(struct walk *walk, struct fsl_error *err)
{
	struct fsl_error own = {0};
	bool found = false;
	fsl_json_destroy(walk->json);
	walk->json = NULL;
	walk->n_stretches++;
	if (walk->n_stretches <= STRETCHES_MAX &&
	    seek_item(walk->reader, &found, &own) == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				fsl_reader_path(walk->reader));
	}
	return found ? go_on(walk, err) : FSL_OK;
}

/* Reads all further stretches of JSON after a fault (@status, in @own). The end of an array may be
 * that of an inner one, so items are searched for behind it, too. FSL_ERR_MEMORY only. */
static enum fsl_status read_rest(struct walk *walk, enum fsl_status status, struct fsl_error *own,
				 struct fsl_error *err)
{
	for (;;) {
		bool is_fault = status != FSL_OK;
		bool may_go_on = !is_fault || status == FSL_ERR_FORMAT || status == FSL_ERR_LIMIT;
		if (is_fault) {
			walk->out->has_faults = true;
			status = walk->listener->fault(walk->listener->context, status, own, err);
			if (status != FSL_OK) {
				return status;
			}
			fsl_error_clear(own);
		}
		if (may_go_on) {
			status = recover(walk, own);
		}
		if (status == FSL_OK && (!may_go_on || walk->json == NULL)) {
			walk->out->is_cut |= is_fault;
			return FSL_OK;
		}
		if (status == FSL_OK) {
			status = read_events(walk, own);
		}
	}
}

enum fsl_status fsl_trace_walk(struct fsl_trace_walked *out, struct fsl_reader *reader,
			       const struct fsl_trace_listener *listener, struct fsl_error *err)
{
	struct walk walk = {.listener = listener, .out = out, .reader = reader};
	struct fsl_error own = {0};
	*out = (struct fsl_trace_walked){0};
	walk.shapes = fsl_trace_shapes_create();
	walk.json = walk.shapes != NULL ? fsl_json_create(reader) : NULL;
	enum fsl_status status = FSL_OK;
	if (walk.json != NULL) {
		status = read_document(&walk, &own);
		status = status != FSL_OK ? read_rest(&walk, status, &own, err) : FSL_OK;
	} else {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				  fsl_reader_path(reader));
	}
	fsl_trace_shapes_destroy(walk.shapes);
	fsl_json_destroy(walk.json);
	return status;
}
