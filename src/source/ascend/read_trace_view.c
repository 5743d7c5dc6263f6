/*
 * trace_view.json: all events of host and device as a Chrome trace, which is an array of events, or
 * an object with such an array as "traceEvents". Files have gigabytes, so there is one pass and
 * only sums are kept. After broken JSON (two writers, a name in another encoding) reading goes on
 * with the next event.
 */
#include "base/try.h"
#include "capture/json_file.h"
#include "source/ascend/trace_names.h"
#include "source/ascend/trace_sums.h"

static const char remedy[] =
	"no events in the file: an empty capture, or written to another folder; parse it again";

enum {
	STRETCHES_MAX = 1000, /* after so many faults the file is no trace and not worth the time */
	LOOK_BYTES = FSL_FILE_HEAD_BYTES,
};

/* State while one file is read. */
struct view {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_json *json;
	struct fsl_trace_sums *sums;
	struct fsl_trace_names names;
	uint64_t n_events;
	int n_stretches; /* stretches of JSON after the first one */
};

static enum fsl_status drop(struct view *view, const char *reason, struct fsl_error *err)
{
	view->input->file->n_records++;
	return fsl_json_file_drop(view->rank, view->input, view->json, reason, err);
}

static enum fsl_status add_event(struct view *view, const struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	view->input->file->n_records++;
	view->n_events++;
	return fsl_trace_sums_add(view->sums, event, err);
}

/* Scans events up to the first one that needs the tokenizer. */
static enum fsl_status scan_events(struct view *view, struct fsl_error *err)
{
	struct fsl_trace_event event;
	const char *text = NULL;
	size_t n_bytes = 0;
	while (fsl_json_peek_object(view->json, &text, &n_bytes)) {
		size_t length =
			fsl_trace_event_scan(text, n_bytes, &view->names.vocabulary, &event);
		if (length == 0 || fsl_trace_names_fault(&event) != NULL) {
			break;
		}
		fsl_json_take_object(view->json, length, 0);
		FSL_TRY(add_event(view, &event, err));
	}
	return FSL_OK;
}

/* Reads the rest of an event that the tokenizer has begun. */
static enum fsl_status read_event(struct view *view, struct fsl_error *err)
{
	struct fsl_trace_event event;
	FSL_TRY(fsl_trace_event_read(view->json, &view->names.vocabulary, &event, err));
	const char *fault = fsl_trace_names_fault(&event);
	if (fault == NULL) {
		return add_event(view, &event, err);
	}
	return drop(view, fault, err);
}

/* Reads events of an open array, up to its end. */
static enum fsl_status read_events(struct view *view, struct fsl_error *err)
{
	size_t depth = fsl_json_depth(view->json);
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(scan_events(view, err));
		FSL_TRY(fsl_json_next(view->json, &value, err));
		if (fsl_json_depth(view->json) < depth) {
			return FSL_OK;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			FSL_TRY(read_event(view, err));
		} else {
			FSL_TRY(drop(view, "a value that is no event", err));
			while (fsl_json_depth(view->json) > depth) {
				FSL_TRY(fsl_json_next(view->json, &value, err));
			}
		}
	}
}

/* Reads {"traceEvents": [...]}. */
static enum fsl_status read_object(struct view *view, struct fsl_error *err)
{
	bool is_more = true;
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		bool is_array = false;
		status = fsl_json_next_key(view->json, &value, &is_more, err);
		if (status != FSL_OK || !is_more) {
			break;
		}
		if (!fsl_json_is(&value, "traceEvents")) {
			status = fsl_json_take_scalar(view->json, &value, err);
			continue;
		}
		status = fsl_json_enter_array(view->json, &is_array, err);
		if (status == FSL_OK && is_array) {
			status = read_events(view, err);
		}
	}
	return status;
}

static enum fsl_status read_document(struct view *view, struct fsl_error *err)
{
	struct fsl_json_value value;
	FSL_TRY(fsl_json_next(view->json, &value, err));
	if (value.token == FSL_JSON_ARRAY_BEGIN) {
		return read_events(view, err);
	}
	return value.token == FSL_JSON_OBJECT_BEGIN ? read_object(view, err) : FSL_OK;
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
static enum fsl_status go_on(struct view *view, struct fsl_error *err)
{
	struct fsl_reader *reader = view->input->reader;
	const struct fsl_json_place place = {fsl_reader_offset(reader), 0, FSL_JSON_AT_ITEM};
	view->json = fsl_json_create(reader);
	if (view->json == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				view->input->path);
	}
	fsl_json_go_on(view->json, &place);
	return FSL_OK;
}

/* Makes view->json go on with the next item behind the present place. NULL if there is none, or if
 * the bytes cannot be read, which was reported before. FSL_ERR_MEMORY only. */
static enum fsl_status recover(struct view *view, struct fsl_error *err)
{
	struct fsl_error own = {0};
	bool found = false;
	fsl_json_destroy(view->json);
	view->json = NULL;
	view->n_stretches++;
	if (view->n_stretches <= STRETCHES_MAX &&
	    seek_item(view->input->reader, &found, &own) == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				view->input->path);
	}
	return found ? go_on(view, err) : FSL_OK;
}

/* Reads all further stretches of JSON after a fault (@status, in @own). The end of an array may be
 * that of an inner one, so items are searched for behind it, too. FSL_ERR_MEMORY only. */
static enum fsl_status read_rest(struct view *view, enum fsl_status status, struct fsl_error *own,
				 struct fsl_error *err)
{
	for (;;) {
		bool is_fault = status != FSL_OK;
		bool may_go_on = !is_fault || status == FSL_ERR_FORMAT || status == FSL_ERR_LIMIT;
		if (is_fault) {
			status = fsl_json_file_fault(view->rank, view->input, status, own, err);
			if (status != FSL_OK) {
				return status;
			}
			fsl_error_clear(own);
		}
		if (may_go_on) {
			status = recover(view, own);
		}
		if (status == FSL_OK && (!may_go_on || view->json == NULL)) {
			view->rank->trace.is_cut |= is_fault;
			return FSL_OK;
		}
		if (status == FSL_OK) {
			status = read_events(view, own);
		}
	}
}

static enum fsl_status read_file(struct view *view, struct fsl_error *err)
{
	struct fsl_error own = {0};
	enum fsl_status status = read_document(view, &own);
	if (status != FSL_OK) {
		status = read_rest(view, status, &own, err);
		if (view->n_events == 0) {
			view->input->file->state = FSL_FILE_UNUSABLE;
		}
	}
	return status != FSL_OK
		       ? status
		       : fsl_json_file_end(view->rank, view->input, FSL_OK, &own, remedy, err);
}

/* Takes the sums from the rank, which keeps them between slices. */
static struct fsl_trace_sums *take_sums(struct fsl_profile_rank *rank)
{
	struct fsl_trace_sums *sums = rank->trace.sums;
	rank->trace.sums = NULL;
	return sums != NULL ? sums : fsl_trace_sums_create(rank);
}

enum fsl_status fsl_profile_read_trace_view(struct fsl_profile_rank *rank,
					    const struct fsl_profile_input *input,
					    struct fsl_error *err)
{
	struct view view = {.rank = rank, .input = input};
	fsl_trace_names_init(&view.names);
	view.sums = take_sums(rank);
	view.json = fsl_json_create(input->reader);
	enum fsl_status status = FSL_ERR_MEMORY;
	if (view.sums == NULL || view.json == NULL) {
		(void)FSL_FAIL(err, status, "out of memory: path=\"%s\"", input->path);
	} else {
		status = read_file(&view, err);
	}
	if (status == FSL_OK) {
		status = fsl_trace_sums_tell(view.sums, input, err);
	}
	fsl_json_destroy(view.json);
	if (status == FSL_OK && input->has_next) {
		rank->trace.sums = view.sums;
	} else {
		fsl_trace_sums_destroy(view.sums);
	}
	return status;
}
