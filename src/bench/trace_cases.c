/* The cases that read traces of PyTorch's profiler. */
#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/strpool.h"
#include "base/try.h"
#include "bench/bench_parts.h"
#include "chrome/trace_walk.h"
#include "source/kineto/names.h"
#include "source/kineto/read.h"

enum fsl_status fsl_bench_parse_traces(const struct fsl_bench_data *data, uint64_t *n_rows,
				       struct fsl_error *err)
{
	const char *at = data->bytes, *end = data->bytes + data->n_bytes;
	for (size_t i = 0; i < data->n_paths; i++) {
		const char *next = NULL;
		cJSON *root = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &next, false);
		if (root == NULL) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "cJSON stopped: offset=%zu",
					(size_t)(at - data->bytes));
		}
		const cJSON *events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
		*n_rows += (uint64_t)cJSON_GetArraySize(events);
		cJSON_Delete(root);
		at = next;
	}
	return FSL_OK;
}

/* Nothing is made of the events. */
static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	uint64_t *sum = context;
	(void)err;
	*sum += (uint64_t)event->ts_ns;
	return FSL_OK;
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	(void)context;
	return FSL_FAIL(err, FSL_ERR_FORMAT, "%s: offset=%llu", reason,
			(unsigned long long)fsl_json_offset(json));
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	(void)context;
	return FSL_FAIL(err, status, "%s", fsl_error_root(own));
}

enum fsl_status fsl_bench_walk_traces(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err)
{
	uint64_t sum = 0;
	struct fsl_kineto_names names;
	fsl_kineto_names_init(&names);
	const struct fsl_trace_listener listener = {.vocabulary = &names.vocabulary,
						    .context = &sum,
						    .fault_of = fsl_trace_event_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault};
	for (size_t i = 0; i < data->n_paths; i++) {
		struct fsl_reader *reader = NULL;
		struct fsl_trace_walked walked = {.n_events = 0};
		FSL_TRY(fsl_reader_open(&reader, data->paths[i], err));
		enum fsl_status status = fsl_trace_walk(&walked, reader, &listener, err);
		fsl_reader_close(reader);
		if (status != FSL_OK) {
			return status;
		}
		*n_rows += walked.n_events;
	}
	__asm__ volatile("" : : "r"(sum)); /* so that the compiler cannot drop it */
	return FSL_OK;
}

static enum fsl_status read_rank(struct fsl_profile_rank *rank, struct fsl_file *file,
				 struct fsl_error *err)
{
	struct fsl_profile_input input = {.path = file->path, .file = file};
	FSL_TRY(fsl_reader_open(&input.reader, file->path, err));
	enum fsl_status status = fsl_kineto_read_file(rank, &input, err);
	fsl_reader_close(input.reader);
	if (status == FSL_OK && file->message[0] != '\0') {
		status =
			FSL_FAIL(err, FSL_ERR_FORMAT, "%s: path=\"%s\"", file->message, file->path);
	}
	return status;
}

enum fsl_status fsl_bench_read_traces(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < data->n_paths && status == FSL_OK; i++) {
		struct fsl_profile profile = {.n_ranks = 1};
		struct fsl_file file = {.path = data->paths[i], .message = ""};
		FSL_TRY(FSL_NEW(profile.ranks, 1, "ranks", err));
		profile.ranks->names = fsl_strpool_create();
		profile.ranks->info.host_name = "";
		status = profile.ranks->names != NULL
				 ? read_rank(profile.ranks, &file, err)
				 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=1");
		*n_rows += file.n_records;
		fsl_profile_fini(&profile);
	}
	return status;
}
