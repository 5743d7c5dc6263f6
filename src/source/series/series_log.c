/* Reads the step times of a training log as a series, with the reader of src/source/log. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ingest.h"
#include "source/series/series_parts.h"

static const char *const column_names[] = {"step_ms", "data_ms"};

bool fsl_series_is_log(const struct fsl_reader *reader, const char *head, size_t n_head)
{
	const struct fsl_format *format = fsl_format_by_name("training_log");
	const char *path = fsl_reader_path(reader);
	size_t length = strlen(path);
	const struct fsl_probe probe = {
		"", head, n_head < FSL_FILE_HEAD_BYTES ? n_head : FSL_FILE_HEAD_BYTES};
	return format->probe(&probe) >= FSL_PROBE_LOG ||
	       (length > 4 && strcmp(path + length - 4, ".log") == 0);
}

static enum fsl_status add_steps(struct fsl_series_file *out, const struct fsl_rank *events,
				 bool is_data, struct fsl_error *err)
{
	size_t n_times = 0;
	for (size_t i = 0; i < events->n_steps; i++) {
		const struct fsl_step_time *step = &events->steps[i];
		char text[40];
		FSL_TRY(fsl_series_add(
			out, (double)(is_data ? step->data_ns : step->dur_ns) / FSL_NS_PER_MS,
			err));
		(void)snprintf(text, sizeof(text), step->step >= 0 ? "step %lld" : "-",
			       (long long)step->step);
		FSL_TRY(fsl_series_add_time(out, &n_times, text, strlen(text), err));
	}
	return FSL_OK;
}

enum fsl_status fsl_series_read_log(struct fsl_series_file *out, struct fsl_reader *reader,
				    const char *column, struct fsl_error *err)
{
	const char *path = fsl_reader_path(reader);
	struct fsl_file file = {.path = path, .message = ""};
	struct fsl_sink sink;
	bool is_data = column != NULL && strcmp(column, column_names[1]) == 0;
	if (column != NULL && !is_data && strcmp(column, column_names[0]) != 0) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"no such column: path=\"%s\", column=\"%s\", columns=\"%s, %s\"",
				path, column, column_names[0], column_names[1]);
	}
	FSL_TRY(fsl_sink_init(&sink, &file, err));
	enum fsl_status status = fsl_format_by_name("training_log")->read(reader, &sink, err);
	out->column = column_names[is_data ? 1 : 0];
	FSL_THEN(status, add_steps(out, &sink.events, is_data, err));
	if (status == FSL_OK && sink.events.n_steps == 0) {
		status = FSL_FAIL(
			err, FSL_ERR_INPUT, "%s: path=\"%s\"",
			file.message[0] != '\0' ? file.message : "no step times in this log", path);
	}
	fsl_sink_fini(&sink);
	return status;
}
