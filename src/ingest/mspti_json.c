/*
 * Communication markers as JSON: arrays of objects, one flush after the other, with or without a
 * newline between. Ids and times are taken from the text of the number, never through a double.
 */
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "ingest/json_fields.h"
#include "ingest/marker_pairs.h"

enum field { FLAG, ID, NAME, SOURCE_KIND, TIMESTAMP, FIELDS_N };

static const char *const keys[FIELDS_N] = {
	[FLAG] = "Flag",           [ID] = "Id", [NAME] = "Name", [SOURCE_KIND] = "SourceKind",
	[TIMESTAMP] = "Timestamp",
};

static int probe_head(const struct fsl_probe *probe)
{
	if (fsl_json_head_is(probe) && fsl_json_head_has(probe, "SourceKind") &&
	    fsl_json_head_has(probe, "Timestamp")) {
		return FSL_PROBE_CONTENT;
	}
	bool is_named = strncmp(probe->file_name, "hccl_activity", 13) == 0 &&
			strstr(probe->file_name, ".json") != NULL;
	return is_named ? FSL_PROBE_NAME : 0;
}

/* NULL when the object is a good marker, else what is wrong with it. */
static const char *parse_marker(const struct fsl_json_fields *record, struct fsl_marker *marker)
{
	uint64_t flag = 0, source = 0;
	if (!fsl_json_field_u64(&record->fields[ID], &marker->id)) {
		return "Id is missing or no number";
	}
	if (!fsl_json_field_u64(&record->fields[FLAG], &flag) || flag > UINT32_MAX) {
		return "Flag is missing or no number";
	}
	if (!fsl_json_field_u64(&record->fields[SOURCE_KIND], &source) || source > 1) {
		return "SourceKind is neither 0 (host) nor 1 (device)";
	}
	const struct fsl_json_field *time = &record->fields[TIMESTAMP];
	if (!time->is_seen || !fsl_parse_i64(time->text, time->length, &marker->time_ns) ||
	    marker->time_ns < 0 || marker->time_ns > FSL_TIME_MAX_NS) {
		return "Timestamp is missing or no time in ns";
	}
	const struct fsl_json_field *name = &record->fields[NAME];
	if (name->is_long || memchr(name->text, '\0', name->length) != NULL) {
		return "Name is too long or holds a NUL";
	}
	marker->flag = (uint32_t)flag;
	marker->is_device = source == 1;
	marker->name = name->text;
	marker->n_name = name->length;
	return NULL;
}

/* One object whose "{" is already read. */
static enum fsl_status read_object(struct fsl_json *json, struct fsl_json_fields *record,
				   struct fsl_marker_pairs *pairs, struct fsl_sink *sink,
				   struct fsl_error *err)
{
	uint64_t offset = fsl_json_offset(json), line = fsl_json_line(json);
	fsl_json_fields_clear(record);
	for (;;) {
		struct fsl_json_value value;
		enum fsl_status status = fsl_json_next(json, &value, err);
		if (status != FSL_OK) {
			return status;
		}
		if (value.token == FSL_JSON_OBJECT_END) {
			break;
		}
		status = fsl_json_fields_take(record, json, &value, err);
		if (status != FSL_OK) {
			return status;
		}
	}
	struct fsl_marker marker;
	const char *reason = parse_marker(record, &marker);
	sink->file->n_records++;
	if (reason != NULL) {
		fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
				    "objects that are no markers were left out, the first: "
				    "offset=%llu, line=%llu, reason=\"%s\"",
				    (unsigned long long)offset, (unsigned long long)line, reason);
		return FSL_OK;
	}
	return fsl_marker_pairs_add(pairs, &marker, err);
}

static enum fsl_status read_objects(struct fsl_json *json, struct fsl_json_fields *record,
				    struct fsl_marker_pairs *pairs, struct fsl_sink *sink,
				    struct fsl_error *err)
{
	for (;;) {
		struct fsl_json_value value;
		enum fsl_status status = fsl_json_next(json, &value, err);
		if (status != FSL_OK || value.token == FSL_JSON_END) {
			return status;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			status = read_object(json, record, pairs, sink, err);
		} else if (value.token != FSL_JSON_ARRAY_BEGIN &&
			   value.token != FSL_JSON_ARRAY_END) {
			sink->file->n_records++;
			fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
					    "values that are no objects were left out, the first: "
					    "offset=%llu, line=%llu",
					    (unsigned long long)fsl_json_offset(json),
					    (unsigned long long)fsl_json_line(json));
		}
		if (status != FSL_OK) {
			return status;
		}
	}
}

/* Moves the reader to the next "[{", where a flush begins; *found false at the end of the file. */
static enum fsl_status find_flush(struct fsl_reader *reader, bool *found, struct fsl_error *err)
{
	*found = false;
	for (;;) {
		const char *data = NULL;
		size_t n_bytes = 0;
		enum fsl_status status =
			fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &data, &n_bytes, err);
		if (status != FSL_OK || n_bytes < 2) {
			return status;
		}
		const char *flush = memmem(data, n_bytes, "[{", 2);
		if (flush != NULL) {
			fsl_reader_skip(reader, (size_t)(flush - data));
			*found = true;
			return FSL_OK;
		}
		fsl_reader_skip(reader, n_bytes - 1); /* the last byte may be the "[" */
	}
}

/*
 * A process that died in the middle of a flush leaves a broken array, and the restarted job appends
 * behind it: reading goes on at the next flush.
 */
static enum fsl_status read_flushes(struct fsl_reader *reader, struct fsl_json_fields *record,
				    struct fsl_marker_pairs *pairs, struct fsl_sink *sink,
				    struct fsl_error *err)
{
	bool found = true;
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && found) {
		struct fsl_json *json = fsl_json_create(reader);
		if (json == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
					sink->file->path);
		}
		status = read_objects(json, record, pairs, sink, err);
		bool is_broken = status != FSL_OK;
		status = fsl_json_fault(sink, status, err);
		fsl_json_destroy(json);
		found = false;
		if (is_broken && status == FSL_OK) {
			status = find_flush(reader, &found, err);
		}
	}
	return status;
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	struct fsl_marker_pairs *pairs = fsl_marker_pairs_create(sink);
	struct fsl_json_fields *record = fsl_calloc(1, sizeof(*record));
	enum fsl_status status = FSL_ERR_MEMORY;
	if (pairs == NULL || record == NULL) {
		(void)FSL_FAIL(err, status, "out of memory: path=\"%s\"", sink->file->path);
		goto out;
	}
	fsl_json_fields_init(record, keys, FIELDS_N);
	status = fsl_sink_fault(sink, read_flushes(reader, record, pairs, sink, err), err);
	if (status == FSL_OK) {
		status = fsl_sink_fault(sink, fsl_marker_pairs_finish(pairs, err), err);
	}
out:
	fsl_free(record);
	fsl_marker_pairs_destroy(pairs);
	return status;
}

const struct fsl_format fsl_format_mspti_json = {
	.name = "mspti_json",
	.summary = "communication markers of MSPTI as JSON (hccl_activity)",
	.kind = FSL_INPUT_MARKERS,
	.probe = probe_head,
	.read = read_file,
};
