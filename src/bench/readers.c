/* failslow's readers alone, file by file, and the whole ingest. */
#include "bench/bench_parts.h"
#include "source/ingest.h"

static enum fsl_status read_file(const struct fsl_format *format, const char *path,
				 uint64_t *n_rows, struct fsl_error *err)
{
	struct fsl_file file = {.path = path, .format = format->name, .message = ""};
	struct fsl_sink sink = {0};
	struct fsl_reader *reader = NULL;
	enum fsl_status status = fsl_sink_init(&sink, &file, err);
	FSL_THEN(status, fsl_reader_open(&reader, path, err));
	FSL_THEN(status, format->read(reader, &sink, err));
	if (status == FSL_OK && file.message[0] != '\0') {
		status = FSL_FAIL(err, FSL_ERR_FORMAT, "%s: path=\"%s\"", file.message, path);
	}
	*n_rows += file.n_records;
	fsl_reader_close(reader);
	fsl_sink_fini(&sink);
	return status;
}

static enum fsl_status read_files(const char *name, const struct fsl_bench_data *data,
				  uint64_t *n_rows, struct fsl_error *err)
{
	const struct fsl_format *format = fsl_format_by_name(name);
	enum fsl_status status = FSL_OK;
	if (format == NULL) {
		return FSL_FAIL(err, FSL_ERR_INTERNAL, "no such format: name=\"%s\"", name);
	}
	for (size_t i = 0; i < data->n_paths && status == FSL_OK; i++) {
		status = read_file(format, data->paths[i], n_rows, err);
	}
	return status;
}

enum fsl_status fsl_bench_marker_csv(const struct fsl_bench_data *data, uint64_t *n_rows,
				     struct fsl_error *err)
{
	return read_files("mspti_csv", data, n_rows, err);
}

enum fsl_status fsl_bench_marker_json(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err)
{
	return read_files("mspti_json", data, n_rows, err);
}

enum fsl_status fsl_bench_timelines(const struct fsl_bench_data *data, uint64_t *n_rows,
				    struct fsl_error *err)
{
	return read_files("timeline_pb", data, n_rows, err);
}

/* Includes finding the files and merging them into one run. */
enum fsl_status fsl_bench_ingest(const struct fsl_bench_data *data, uint64_t *n_rows,
				 struct fsl_error *err)
{
	struct fsl_run run = {0};
	const struct fsl_ingest_options options = {.root_path = data->folder,
						   .from_ns = INT64_MIN,
						   .to_ns = INT64_MAX,
						   .n_threads = 1};
	enum fsl_status status = fsl_run_init(&run, err);
	FSL_THEN(status, fsl_ingest_run(&run, &options, err));
	for (size_t i = 0; i < run.n_files; i++) {
		*n_rows += run.files[i].n_records;
	}
	fsl_run_fini(&run);
	return status;
}
