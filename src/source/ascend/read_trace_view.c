/* trace_view.json: all events of host and device as a Chrome trace. Files have gigabytes, so there
 * is one pass and only sums are kept. */
#include "base/try.h"
#include "capture/json_file.h"
#include "chrome/trace_walk.h"
#include "source/ascend/trace_names.h"
#include "source/ascend/trace_sums.h"

static const char remedy[] =
	"no events in the file: an empty capture, or written to another folder; parse it again";

/* State while one file is read. */
struct view {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_trace_sums *sums;
	struct fsl_trace_names names;
};

static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	struct view *view = context;
	view->input->file->n_records++;
	return fsl_trace_sums_add(view->sums, event, err);
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	struct view *view = context;
	view->input->file->n_records++;
	return fsl_json_file_drop(view->rank, view->input, json, reason, err);
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	struct view *view = context;
	return fsl_json_file_fault(view->rank, view->input, status, own, err);
}

static enum fsl_status read_file(struct view *view, struct fsl_error *err)
{
	struct fsl_error own = {0};
	struct fsl_trace_walked walked;
	const struct fsl_trace_listener listener = {.vocabulary = &view->names.vocabulary,
						    .context = view,
						    .fault_of = fsl_trace_names_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault};
	FSL_TRY(fsl_trace_walk(&walked, view->input->reader, &listener, err));
	view->rank->trace.is_cut |= walked.is_cut;
	if (walked.has_faults) {
		view->input->file->state =
			walked.n_events == 0 ? FSL_FILE_UNUSABLE : view->input->file->state;
		return FSL_OK;
	}
	return fsl_json_file_end(view->rank, view->input, FSL_OK, &own, remedy, err);
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
	enum fsl_status status = FSL_ERR_MEMORY;
	if (view.sums == NULL) {
		(void)FSL_FAIL(err, status, "out of memory: path=\"%s\"", input->path);
	} else {
		status = read_file(&view, err);
	}
	if (status == FSL_OK) {
		status = fsl_trace_sums_tell(view.sums, input, err);
	}
	if (status == FSL_OK && input->has_next) {
		rank->trace.sums = view.sums;
	} else {
		fsl_trace_sums_destroy(view.sums);
	}
	return status;
}
