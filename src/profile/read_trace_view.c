/*
 * trace_view.json: everything that host and device did, as a Chrome trace: an array of events, or
 * an object with such an array as "traceEvents". Files have gigabytes: one pass, nothing kept but
 * sums.
 */
#include "profile/json_file.h"
#include "profile/trace_sums.h"

static const char remedy[] =
	"no events in the file: an empty capture, or written to another folder; parse it again";

/* What one file is read with. */
struct view {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_json *json;
	struct fsl_trace_sums *sums;
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
	return fsl_trace_sums_add(view->sums, event, err);
}

/* Events up to the first one that the tokenizer has to read. */
static enum fsl_status scan_events(struct view *view, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	struct fsl_trace_event event;
	const char *text = NULL;
	size_t n_bytes = 0;
	while (status == FSL_OK && fsl_json_peek_object(view->json, &text, &n_bytes)) {
		size_t length = fsl_trace_event_scan(text, n_bytes, &event);
		if (length == 0 || fsl_trace_event_fault(&event) != NULL) {
			break;
		}
		fsl_json_take_object(view->json, length, 0);
		status = add_event(view, &event, err);
	}
	return status;
}

/* The rest of an event that the tokenizer has begun. */
static enum fsl_status read_event(struct view *view, struct fsl_error *err)
{
	struct fsl_trace_event event;
	enum fsl_status status = fsl_trace_event_read(view->json, &event, err);
	if (status != FSL_OK) {
		return status;
	}
	const char *fault = fsl_trace_event_fault(&event);
	if (fault == NULL) {
		return add_event(view, &event, err);
	}
	return drop(view, fault, err);
}

/* Events of an open array, up to its end. */
static enum fsl_status read_events(struct view *view, struct fsl_error *err)
{
	size_t depth = fsl_json_depth(view->json);
	for (;;) {
		struct fsl_json_value value;
		enum fsl_status status = scan_events(view, err);
		if (status == FSL_OK) {
			status = fsl_json_next(view->json, &value, err);
		}
		if (status != FSL_OK || fsl_json_depth(view->json) < depth) {
			return status;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			status = read_event(view, err);
		} else {
			status = drop(view, "a value that is no event", err);
			while (status == FSL_OK && fsl_json_depth(view->json) > depth) {
				status = fsl_json_next(view->json, &value, err);
			}
		}
		if (status != FSL_OK) {
			return status;
		}
	}
}

/* {"traceEvents": [...]} */
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
	enum fsl_status status = fsl_json_next(view->json, &value, err);
	if (status != FSL_OK) {
		return status;
	}
	if (value.token == FSL_JSON_ARRAY_BEGIN) {
		return read_events(view, err);
	}
	return value.token == FSL_JSON_OBJECT_BEGIN ? read_object(view, err) : FSL_OK;
}

/* Between slices the sums stay with the rank. */
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
	struct fsl_error own = {0};
	struct view view = {.rank = rank, .input = input};
	view.sums = take_sums(rank);
	view.json = fsl_json_create(input->reader);
	if (view.sums == NULL || view.json == NULL) {
		fsl_json_destroy(view.json);
		fsl_trace_sums_destroy(view.sums);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	enum fsl_status status = read_document(&view, &own);
	rank->trace.is_cut = rank->trace.is_cut || status != FSL_OK;
	status = fsl_json_file_end(rank, input, status, &own, remedy, err);
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
