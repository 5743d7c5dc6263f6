/* A run directory to a run, in one go; what is said of its files; the table of formats. */
#include "source/ingest.h"

#include <string.h>

#include "base/log.h"
#include "source/discover.h"
#include "source/stream.h"

#define FORMAT(name) extern const struct fsl_format fsl_format_##name;
#include "source/formats.def"
#undef FORMAT

static const struct fsl_format *const formats[] = {
#define FORMAT(name) &fsl_format_##name,
#include "source/formats.def"
#undef FORMAT
};

size_t fsl_formats_size(void)
{
	return sizeof(formats) / sizeof(formats[0]);
}

const struct fsl_format *fsl_formats_at(size_t idx)
{
	return idx < fsl_formats_size() ? formats[idx] : NULL;
}

const struct fsl_format *fsl_format_by_name(const char *name)
{
	for (size_t i = 0; i < fsl_formats_size(); i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			return formats[i];
		}
	}
	return NULL;
}

enum { WARNINGS_MAX = 5 }; /* files named in the log; all of them stand in the verdict */

static bool is_used(const struct fsl_file *file)
{
	return file->state == FSL_FILE_READ || file->state == FSL_FILE_PARTIAL;
}

static void log_files(const struct fsl_run *run)
{
	size_t n_warned = 0, n_more = 0;
	for (size_t i = 0; i < run->n_files; i++) {
		const struct fsl_file *file = &run->files[i];
		if (file->state == FSL_FILE_READ) {
			continue;
		}
		if (n_warned == WARNINGS_MAX) {
			n_more++;
			continue;
		}
		n_warned++;
		fsl_log(FSL_LOG_WARNING, "ingest", "%s: file=\"%s\", state=\"%s\"", file->message,
			file->path, fsl_file_state_text(file->state));
	}
	if (n_more > 0) {
		fsl_log(FSL_LOG_WARNING, "ingest",
			"more files are not fully usable, the verdict's coverage counts them: "
			"files=%zu",
			n_more);
	}
	fsl_log(FSL_LOG_INFO, "ingest", "inputs read: files=%zu, ranks=%zu", run->n_files,
		run->n_ranks);
}

/* FSL_ERR_INPUT when not one file could be used. */
static enum fsl_status check_usable(const struct fsl_run *run,
				    const struct fsl_ingest_options *options, struct fsl_error *err)
{
	const char *first = "", *path = options->root_path;
	for (size_t i = 0; i < run->n_files; i++) {
		if (is_used(&run->files[i])) {
			return FSL_OK;
		}
		first = first[0] == '\0' ? run->files[i].message : first;
	}
	path = path != NULL && path[0] != '\0' ? path : options->training_log;
	path = path != NULL ? path : "";
	if (run->n_files == 0 && run->unknown_log != NULL) {
		return FSL_FAIL(err, FSL_ERR_INPUT, "%s", run->unknown_log);
	}
	if (run->n_files == 0) {
		return FSL_FAIL(
			err, FSL_ERR_INPUT,
			"no input found, point DIR or root_path at the folder with the marker "
			"files (hccl_activity-<ip>-.<rank>.csv) or at the tree above it: "
			"path=\"%s\"",
			path);
	}
	return FSL_FAIL(err, FSL_ERR_INPUT,
			"no input could be used: path=\"%s\", files=%zu, first=\"%s\"", path,
			run->n_files, first);
}

enum fsl_status fsl_ingest_check(const struct fsl_run *run,
				 const struct fsl_ingest_options *options, struct fsl_error *err)
{
	log_files(run);
	return check_usable(run, options, err);
}

enum fsl_status fsl_ingest_inputs(struct fsl_run *run, const struct fsl_inputs *inputs,
				  const struct fsl_ingest_options *options, struct fsl_error *err)
{
	struct fsl_stream *stream = NULL;
	enum fsl_status status = fsl_stream_open(&stream, inputs, options, NULL, 1.0, NULL, err);
	if (status == FSL_OK) {
		status = fsl_stream_read(stream, run, INT64_MAX, err);
	}
	fsl_stream_close(stream);
	return status == FSL_OK ? fsl_ingest_check(run, options, err) : status;
}

enum fsl_status fsl_ingest_run(struct fsl_run *run, const struct fsl_ingest_options *options,
			       struct fsl_error *err)
{
	struct fsl_inputs inputs = {0};
	enum fsl_status status = fsl_inputs_find(&inputs, options, err);
	if (status == FSL_OK) {
		status = fsl_ingest_inputs(run, &inputs, options, err);
	}
	fsl_inputs_fini(&inputs);
	return status;
}
