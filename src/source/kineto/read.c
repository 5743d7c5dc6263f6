/* One trace: its events in one pass, then what is made of them. */
#include "source/kineto/read.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/try.h"
#include "capture/json_file.h"
#include "chrome/pftrace_walk.h"
#include "source/kineto/dialect.h"
#include "source/kineto/groups.h"
#include "source/kineto/intake.h"
#include "source/kineto/nsys.h"

enum { DATABASE_PROBE_BYTES = 64 * 1024 /* pages of the schema */ };

static const char remedy[] = "no events in the file: an empty capture; record it again";

struct pass {
	struct fsl_kineto_events events;
	struct fsl_kineto_intake intake;
	const struct fsl_profile_input *input;
	struct fsl_kineto_names names;
};

/* The form is told by the first bytes: JSON, or packets of Perfetto. */
static enum fsl_status walk(struct fsl_trace_walked *walked, struct fsl_reader *reader,
			    const struct fsl_trace_listener *listener, struct fsl_error *err)
{
	const char *data = NULL;
	size_t n_bytes = 0;
	bool is_packets =
		fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &data, &n_bytes, NULL) == FSL_OK &&
		fsl_pftrace_is(data, n_bytes);
	return is_packets ? fsl_pftrace_walk(walked, reader, listener, err)
			  : fsl_trace_walk(walked, reader, listener, err);
}

static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	struct pass *pass = context;
	pass->input->file->n_records++;
	return fsl_kineto_intake_take(&pass->intake, event, err);
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	struct pass *pass = context;
	pass->input->file->n_records++;
	return fsl_json_file_drop(pass->events.rank, pass->input, json, reason, err);
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	struct pass *pass = context;
	return fsl_json_file_fault(pass->events.rank, pass->input, status, own, err);
}

static enum fsl_status member(void *context, struct fsl_json *json,
			      const struct fsl_json_value *key, struct fsl_error *err)
{
	struct pass *pass = context;
	return fsl_kineto_read_member(&pass->events, json, key, err);
}

/* Names of traces are as many as kernels have templates; a file with more is told. */
static enum fsl_status read_events(struct pass *pass, struct fsl_error *err)
{
	struct fsl_error own = {0};
	struct fsl_trace_walked walked;
	struct fsl_profile_rank *rank = pass->events.rank;
	const struct fsl_trace_listener listener = {.vocabulary = &pass->names.vocabulary,
						    .context = pass,
						    .has_second_thread =
							    pass->input->has_second_thread,
						    .fault_of = fsl_kineto_event_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault,
						    .member = member};
	enum fsl_status status = walk(&walked, pass->input->reader, &listener, &own);
	rank->trace.is_cut |= walked.is_cut;
	if (status != FSL_OK || walked.has_faults) {
		bool is_empty = pass->input->file->n_records == 0;
		status = status != FSL_OK
				 ? fsl_json_file_fault(rank, pass->input, status, &own, err)
				 : FSL_OK;
		pass->input->file->state = is_empty ? FSL_FILE_UNUSABLE : pass->input->file->state;
		return status;
	}
	return fsl_json_file_end(rank, pass->input, FSL_OK, &own, remedy, err);
}

/* A database instead of a stream of events. */
static enum fsl_status read_database(struct pass *pass, struct fsl_error *err)
{
	struct fsl_error own = {0};
	enum fsl_status status =
		fsl_nsys_read(&pass->events, &pass->names.vocabulary, pass->input, &own);
	return status != FSL_OK
		       ? fsl_json_file_fault(pass->events.rank, pass->input, status, &own, err)
		       : FSL_OK;
}

static bool is_database(const struct fsl_profile_input *input)
{
	const char *data = NULL;
	size_t n_bytes = 0;
	return fsl_reader_peek(input->reader, DATABASE_PROBE_BYTES, &data, &n_bytes, NULL) ==
		       FSL_OK &&
	       fsl_nsys_is(data, n_bytes);
}

static enum fsl_status learn(void *context, const struct fsl_trace_event *event,
			     struct fsl_error *err)
{
	struct pass *pass = context;
	return fsl_kineto_intake_learn(&pass->intake, event, err);
}

static enum fsl_status ignore_drop(void *context, const struct fsl_json *json, const char *reason,
				   struct fsl_error *err)
{
	(void)context;
	(void)json;
	(void)reason;
	(void)err;
	return FSL_OK;
}

static enum fsl_status ignore_fault(void *context, enum fsl_status status,
				    const struct fsl_error *own, struct fsl_error *err)
{
	(void)context;
	return status == FSL_ERR_MEMORY
		       ? FSL_FAIL(err, status, "out of memory: names, %s", fsl_error_root(own))
		       : FSL_OK;
}

/* Reads the names of processes and threads, which may stand behind all events; only a user's rules
 * ask for them. Faults are told when the events are read. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
static enum fsl_status learn_lanes(struct pass *pass, struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	struct fsl_trace_walked walked;
	const struct fsl_trace_listener listener = {.vocabulary = &pass->names.vocabulary,
						    .context = pass,
						    .has_second_thread =
							    pass->input->has_second_thread,
						    .fault_of = fsl_kineto_event_fault,
						    .take = learn,
						    .drop = ignore_drop,
						    .fault = ignore_fault};
	if (pass->input->lanes == NULL ||
	    fsl_reader_open(&reader, pass->input->path, NULL) != FSL_OK) {
		return FSL_OK;
	}
	enum fsl_status status = walk(&walked, reader, &listener, err);
	fsl_reader_close(reader);
	return status == FSL_ERR_MEMORY || status == FSL_ERR_LIMIT ? status : FSL_OK;
}

/* Begins without an end are no events: their time is not known. */
static enum fsl_status tell_intake(struct pass *pass, struct fsl_error *err)
{
	struct fsl_file *file = pass->input->file;
	struct fsl_profile_rank *rank = pass->events.rank;
	uint64_t n = fsl_kineto_intake_unmatched(&pass->intake);
	rank->trace.is_unverified = pass->intake.has_unknown_forms || pass->input->lanes != NULL;
	file->n_dropped[FSL_DROP_MALFORMED] += n;
	if (n == 0 || file->message[0] != '\0') {
		return FSL_OK;
	}
	file->state = file->state == FSL_FILE_READ ? FSL_FILE_PARTIAL : file->state;
	file->message = fsl_arena_printf(&rank->arena,
					 "begins (B) without ends (E), or ends without "
					 "begins, were left out: events=%" PRIu64,
					 n);
	return FSL_MADE(file->message, n, "events", err);
}

enum fsl_status fsl_kineto_read_file(struct fsl_profile_rank *rank,
				     const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct pass pass = {.events = {.rank = rank,
				       .frames = {.keeps_order = rank->functions == NULL},
				       .allocated_bytes = -1,
				       .reserved_bytes = -1},
			    .input = input};
	pass.events.frames.spill = &pass.events.spill;
	fsl_kineto_names_init(&pass.names);
	FSL_TRY(fsl_kineto_intake_init(&pass.intake, &pass.events, input->lanes, err));
	enum fsl_status status = FSL_OK;
	if (is_database(input)) {
		status = read_database(&pass, err);
	} else {
		status = learn_lanes(&pass, err);
		FSL_THEN(status, read_events(&pass, err));
	}
	FSL_THEN(status, tell_intake(&pass, err));
	if (status == FSL_OK) {
		struct fsl_error own = {0};
		status = fsl_kineto_list_groups(&pass.events, &own);
		FSL_THEN(status, fsl_kineto_settle(&pass.events, input, &own));
		status = status != FSL_OK ? fsl_json_file_fault(rank, input, status, &own, err)
					  : FSL_OK;
	}
	rank->trace.dialect = fsl_kineto_dialect(&pass.events, &pass.intake, input);
	rank->has_trace = rank->has_text = input->file->state != FSL_FILE_UNUSABLE;
	fsl_kineto_intake_fini(&pass.intake);
	fsl_kineto_events_fini(&pass.events);
	return status;
}

enum fsl_status fsl_kineto_read_rank(struct fsl_profile_rank *rank,
				     const struct fsl_profile_options *options,
				     struct fsl_error *err)
{
	struct fsl_file *file = NULL;
	struct fsl_error own = {0};
	struct fsl_reader *reader = NULL;
	FSL_TRY(fsl_profile_add_file(rank, rank->folder.output_path, rank->folder.file, "kineto",
				     &file, err));
	enum fsl_status status = fsl_reader_open(&reader, file->path, &own);
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", file->path);
	}
	if (status != FSL_OK) {
		file->state = FSL_FILE_UNUSABLE;
		file->message = fsl_arena_strdup(&rank->arena, fsl_error_root(&own));
		file->message = file->message != NULL ? file->message : "cannot be opened";
		return FSL_OK;
	}
	file->n_bytes = fsl_reader_disk_bytes(reader);
	const struct fsl_profile_input input = {.reader = reader,
						.path = file->path,
						.file = file,
						.lanes = options->lanes,
						.has_second_thread = options->n_threads > 1,
						.folder = &rank->folder,
						.steps = options->steps,
						.n_steps = options->n_steps};
	status = fsl_kineto_read_file(rank, &input, err);
	fsl_reader_close(reader);
	return status;
}
