/*
 * Step times from a training log: lines with a local time stamp, the end of the step, and
 * `per_step_time: <n>ms`.
 */
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ingest.h"

static const char marker[] = "per_step_time:";

enum {
	STAMP_BYTES = 19,  /* YYYY-MM-DD hh:mm:ss */
	NUMBER_BYTES = 32, /* longer texts are no duration */
};

static bool ends_with_log(const char *name)
{
	size_t length = strlen(name);
	return length >= 4 && strcmp(name + length - 4, ".log") == 0;
}

/* The first lines of a log often hold no step. A text file named .log then counts as a log. */
static int probe_head(const struct fsl_probe *probe)
{
	if (probe->n_head == 0) {
		return 0;
	}
	if (memmem(probe->head, probe->n_head, marker, sizeof(marker) - 1) != NULL) {
		return FSL_PROBE_CONTENT;
	}
	bool is_text = memchr(probe->head, '\0', probe->n_head) == NULL;
	return is_text && ends_with_log(probe->file_name) ? FSL_PROBE_NAME : 0;
}

/* True if @text looks like @shape, where 0 stands for any digit. */
static bool has_shape(const char *text, const char *shape)
{
	for (; *shape != '\0'; text++, shape++) {
		bool fits = *shape == '0' ? *text >= '0' && *text <= '9' : *text == *shape;
		if (!fits) {
			return false;
		}
	}
	return true;
}

/* First time stamp of the line, `YYYY-MM-DD hh:mm:ss` with or without `,mmm`. */
static bool find_stamp(const char *line, size_t length, int64_t *time_ns)
{
	for (size_t i = 0; i + STAMP_BYTES <= length; i++) {
		if (!has_shape(line + i, "0000-00-00 00:00:00")) {
			continue;
		}
		char text[STAMP_BYTES + 5] = {0};
		memcpy(text, line + i, STAMP_BYTES);
		size_t left = length - i - STAMP_BYTES;
		const char *fraction = line + i + STAMP_BYTES;
		if (left >= 4 && (has_shape(fraction, ",000") || has_shape(fraction, ".000"))) {
			memcpy(text + STAMP_BYTES, fraction, 4);
			text[STAMP_BYTES] = '.';
		}
		return fsl_parse_time(text, time_ns);
	}
	return false;
}

/* Parses the number behind the marker, in ms, to ns. */
static bool parse_duration(const char *text, const char *end, int64_t *dur_ns)
{
	while (text < end && *text == ' ') {
		text++;
	}
	const char *unit = text;
	while (unit < end && ((*unit >= '0' && *unit <= '9') || *unit == '.')) {
		unit++;
	}
	size_t length = (size_t)(unit - text);
	while (unit < end && *unit == ' ') {
		unit++;
	}
	return length > 0 && length <= NUMBER_BYTES && end - unit >= 2 && unit[0] == 'm' &&
	       unit[1] == 's' && fsl_parse_scaled(text, length, FSL_NS_PER_MS, dur_ns);
}

/* False if the line has the marker but no step. */
static bool parse_step(const char *line, size_t length, const char *hit, struct fsl_step_time *step)
{
	int64_t end_ns = 0;
	if (!find_stamp(line, length, &end_ns) ||
	    !parse_duration(hit + sizeof(marker) - 1, line + length, &step->dur_ns) ||
	    step->dur_ns > end_ns) {
		return false;
	}
	step->step = -1;
	step->begin_ns = end_ns - step->dur_ns;
	return true;
}

static enum fsl_status read_lines(struct fsl_reader *reader, struct fsl_sink *sink,
				  struct fsl_error *err)
{
	for (;;) {
		const char *line = NULL;
		size_t length = 0;
		uint64_t line_number = 0;
		bool is_too_long = false;
		FSL_TRY(fsl_reader_line(reader, &line, &length, &line_number, &is_too_long, err));
		if (line == NULL) {
			return FSL_OK;
		}
		if (is_too_long) {
			sink->file->n_records++;
			fsl_sink_bad_record(sink, FSL_DROP_TOO_LONG,
					    "lines over the limit were left out, the first: "
					    "line=%llu, max_bytes=%d",
					    (unsigned long long)line_number, FSL_LINE_BYTES_MAX);
			continue;
		}
		const char *hit = memmem(line, length, marker, sizeof(marker) - 1);
		if (hit == NULL) {
			continue;
		}
		struct fsl_step_time step;
		sink->file->n_records++;
		if (parse_step(line, length, hit, &step)) {
			FSL_TRY(fsl_sink_add_step(sink, &step, err));
		} else {
			fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
					    "lines with per_step_time but without a time stamp or "
					    "a number of ms were left out, the first: line=%llu",
					    (unsigned long long)line_number);
		}
	}
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	return fsl_sink_fault(sink, read_lines(reader, sink, err), err);
}

const struct fsl_format fsl_format_training_log = {
	.name = "training_log",
	.summary = "training log with per_step_time: <n>ms and a local time stamp a line",
	.kind = FSL_INPUT_LOG,
	.probe = probe_head,
	.read = read_file,
};
