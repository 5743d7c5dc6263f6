/* Walks over a trace, and goes on behind faults. */
#include "chrome/trace_walk.h"

#include <inttypes.h>

#include "base/try.h"
#include "chrome/trace_ahead.h"
#include "chrome/trace_scanner.h"
#include "text/json_walk.h"

enum {
	STRETCHES_MAX = 1000, /* after so many faults the file is no trace and not worth the time */
	/* So many values behind each other of which none is an event: a bomb. Each is read by the
	 * tokenizer and takes 0.2 us; writers spoil some events at most. */
	DROPS_MAX = 1 << 18,
	LOOK_BYTES = FSL_FILE_HEAD_BYTES,
};

struct walk {
	const struct fsl_trace_listener *listener;
	struct fsl_trace_walked *out;
	struct fsl_reader *reader;
	struct fsl_json *json;
	struct fsl_trace_scanner scanner;
	struct fsl_trace_ahead *ahead; /* NULL: no second thread scans */
	int n_stretches;               /* stretches of JSON after the first one */
	int n_drops;                   /* values behind the last event that are no events */
};

/* FSL_ERR_FORMAT: no event comes any more. */
static enum fsl_status drop(struct walk *walk, const char *reason, struct fsl_error *err)
{
	FSL_TRY(walk->listener->drop(walk->listener->context, walk->json, reason, err));
	if (++walk->n_drops < DROPS_MAX) {
		return FSL_OK;
	}
	walk->n_stretches = STRETCHES_MAX; /* the rest is not worth the time */
	return FSL_FAIL(err, FSL_ERR_FORMAT,
			"no event among %d values: path=\"%s\", offset=%" PRIu64, DROPS_MAX,
			fsl_reader_path(walk->reader), fsl_json_offset(walk->json));
}

static enum fsl_status add_event(struct walk *walk, const struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	walk->out->n_events++;
	walk->n_drops = 0;
	return walk->listener->take(walk->listener->context, event, err);
}

/* Goes to the next event behind the one that ended at *at, *n_bytes away from the end; false if
 * what is between them is to be read by the tokenizer. */
static bool next_event(struct fsl_trace_scanner *scanner, const char **at, size_t *n_bytes,
		       uint64_t *n_newlines)
{
	bool has_next = fsl_trace_scanner_next(scanner, *at, *n_bytes);
	*at += scanner->separator.length;
	*n_bytes -= scanner->separator.length;
	*n_newlines += scanner->separator.n_newlines;
	return has_next;
}

/* Scans events that follow each other in memory, as one value for the tokenizer; *is_end: the next
 * one needs the tokenizer. With a second thread it scans one: that thread may have the next. */
static enum fsl_status scan_run(struct walk *walk, struct fsl_trace_event *event, const char *text,
				size_t n_bytes, bool *is_end, struct fsl_error *err)
{
	const char *at = text;
	size_t n_taken = 0, n_left = n_bytes;
	uint64_t n_newlines = 0, n_newlines_taken = 0;
	bool may_go_on = fsl_json_depth(walk->json) > 0 && !fsl_trace_ahead_is_on(walk->ahead);
	enum fsl_status status = FSL_OK;
	do {
		uint64_t n_inside = 0;
		size_t length =
			fsl_trace_scanner_event(&walk->scanner, at, n_left, event, &n_inside);
		*is_end = length == 0 || walk->listener->fault_of(event) != NULL;
		if (*is_end) {
			break;
		}
		status = add_event(walk, event, err); /* its texts lie in the window */
		at += length;
		n_left -= length;
		n_newlines += n_inside;
		n_taken = (size_t)(at - text);
		n_newlines_taken = n_newlines;
	} while (status == FSL_OK && may_go_on &&
		 next_event(&walk->scanner, &at, &n_left, &n_newlines));
	if (n_taken > 0) {
		fsl_json_take_object(walk->json, n_taken, n_newlines_taken);
	}
	return status;
}

/* Takes events that were scanned ahead, from the tokenizer's place on. *is_any: there were some. */
static enum fsl_status take_ahead(struct walk *walk, struct fsl_trace_event *event, bool *is_any,
				  struct fsl_error *err)
{
	uint64_t begin = fsl_json_next_offset(walk->json), end = begin;
	uint64_t n_newlines = 0, n_between = 0;
	struct fsl_trace_scanned scanned = {.next_offset = begin};
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && (end == begin || scanned.next_offset > 0) &&
	       fsl_trace_ahead_find(walk->ahead, scanned.next_offset, event, &scanned)) {
		status = add_event(walk, event, err);
		end = scanned.end_offset;
		n_newlines += n_between + scanned.n_newlines;
		n_between = scanned.n_newlines_between;
	}
	*is_any = end > begin;
	if (*is_any) {
		struct fsl_error own = {0};
		enum fsl_status moved =
			fsl_json_take_objects(walk->json, end - begin, n_newlines, &own);
		status = status != FSL_OK  ? status
			 : moved != FSL_OK ? FSL_CAUSE(err, moved, "%s", fsl_error_root(&own))
					   : FSL_OK;
	}
	return status;
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
		bool is_ahead = false;
		if (fsl_trace_ahead_is_on(walk->ahead) && fsl_json_depth(walk->json) > 0) {
			FSL_TRY(take_ahead(walk, &event, &is_ahead, err));
		}
		if (!is_ahead) {
			FSL_TRY(scan_run(walk, &event, text, n_bytes, &is_end, err));
		}
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
		size_t at = fsl_trace_find_item(data, n_bytes, &n_left);
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
	walk.json = fsl_trace_scanner_init(&walk.scanner, listener->vocabulary)
			    ? fsl_json_create(reader)
			    : NULL;
	walk.ahead = walk.json != NULL ? fsl_trace_ahead_create(reader, listener) : NULL;
	enum fsl_status status = FSL_OK;
	if (walk.json != NULL) {
		status = read_document(&walk, &own);
		status = status != FSL_OK ? read_rest(&walk, status, &own, err) : FSL_OK;
	} else {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				  fsl_reader_path(reader));
	}
	fsl_trace_ahead_destroy(walk.ahead);
	fsl_trace_scanner_fini(&walk.scanner);
	fsl_json_destroy(walk.json);
	return status;
}
