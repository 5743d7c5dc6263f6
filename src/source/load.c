/* Reads one input from open to close. Every fault of a file ends in a state and a message. */
#include "source/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/try.h"

/* Kind of input by its name, for files whose content does not tell it. */
static enum fsl_input_kind kind_of_name(enum fsl_name_kind kind)
{
	switch (kind) {
	case FSL_NAME_TIMELINE:
		return FSL_INPUT_TIMELINE;
	case FSL_NAME_STEPS:
		return FSL_INPUT_STEPS;
	case FSL_NAME_LOG:
		return FSL_INPUT_LOG;
	case FSL_NAME_MARKERS:
	case FSL_NAME_UNKNOWN:
	case FSL_NAME_RESULT:
		break;
	}
	return FSL_INPUT_MARKERS;
}

static bool is_named(const struct fsl_input *input)
{
	return input->told.kind == FSL_NAME_MARKERS || input->told.kind == FSL_NAME_TIMELINE ||
	       input->told.kind == FSL_NAME_STEPS;
}

/* Highest probe; NULL when none fits, or when two formats claim the content equally. */
static const struct fsl_format *choose_format(struct fsl_load *load, const struct fsl_probe *probe)
{
	const struct fsl_format *best = NULL, *rival = NULL;
	int weight = 0;
	for (size_t i = 0; i < fsl_formats_size(); i++) {
		const struct fsl_format *format = fsl_formats_at(i);
		int vote = format->probe(probe);
		if (vote > weight) {
			best = format;
			rival = NULL;
			weight = vote;
		} else if (vote > 0 && vote == weight) {
			rival = format;
		}
	}
	bool is_text = probe->n_head > 0 && memchr(probe->head, '\0', probe->n_head) == NULL;
	load->is_guess = load->input->is_explicit && weight == 0 && is_text &&
			 !fsl_file_name_is_table(load->input->name);
	if (load->is_guess || (load->input->is_log && weight < FSL_PROBE_CONTENT)) {
		return fsl_format_by_name("training_log");
	}
	if (rival != NULL && weight > FSL_PROBE_NAME) {
		fsl_sink_unusable(&load->sink,
				  "content fits two formats, remove one of them from the file: "
				  "formats=\"%s, %s\"",
				  best->name, rival->name);
		return NULL;
	}
	return best;
}

static void refuse(struct fsl_load *load)
{
	fsl_sink_unusable(&load->sink, "content is in no known format (see `failslow list "
				       "formats`), move it away or collect it again: offset=0");
}

/* The first bytes decide; a file that nobody knows and nobody asked for is left alone. */
static enum fsl_status detect(struct fsl_load *load, struct fsl_reader *reader,
			      const struct fsl_format **format, struct fsl_error *err)
{
	const struct fsl_input *input = load->input;
	char name[FSL_CAUSE_MESSAGE_MAX]; /* file systems allow 255 bytes */
	(void)snprintf(name, sizeof(name), "%.*s", (int)fsl_file_name_plain(input->name),
		       input->name);
	struct fsl_probe probe = {.file_name = name};
	*format = NULL;
	FSL_TRY(fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &probe.head, &probe.n_head, err));
	probe.n_head = probe.n_head < FSL_FILE_HEAD_BYTES ? probe.n_head : FSL_FILE_HEAD_BYTES;
	*format = choose_format(load, &probe);
	if (*format == NULL && load->file.state == FSL_FILE_READ && probe.n_head > 0) {
		refuse(load);
	}
	return FSL_OK;
}

/* Bytes that were there when the file was found or opened and are gone. */
static void check_shrunk(struct fsl_load *load)
{
	struct stat facts;
	uint64_t n_before = load->file.n_bytes > load->input->n_bytes ? load->file.n_bytes
								      : load->input->n_bytes;
	if (stat(load->input->path, &facts) != 0) {
		fsl_log(FSL_LOG_INFO, "ingest", "file was removed after it was read: path=\"%s\"",
			load->input->path);
	} else if (facts.st_size >= 0 && (uint64_t)facts.st_size < n_before) {
		fsl_sink_partial(&load->sink,
				 "file shrank while it was read, run again when its writer is "
				 "done: bytes_before=%llu, bytes_now=%lld",
				 (unsigned long long)n_before, (long long)facts.st_size);
	}
}

static bool has_events(const struct fsl_sink *sink)
{
	const struct fsl_rank *events = &sink->events;
	return sink->has_given || events->n_ops > 0 || events->n_stages > 0 ||
	       events->n_steps > 0 || events->open_op_id != FSL_STR_NONE;
}

/* A file that was read without a fault may still hold nothing that can be used. */
static void judge(struct fsl_load *load)
{
	struct fsl_file *file = &load->file;
	if (file->state != FSL_FILE_READ && file->state != FSL_FILE_PARTIAL) {
		return;
	}
	uint64_t n_broken = file->n_dropped[FSL_DROP_MALFORMED] +
			    file->n_dropped[FSL_DROP_TOO_LONG] + file->n_dropped[FSL_DROP_CUT];
	if (file->n_records == 0 && file->state == FSL_FILE_READ) {
		file->state = FSL_FILE_EMPTY;
		file->message = load->kind == FSL_INPUT_LOG && file->n_bytes > 0
					? "no line of this log tells a step: is it that of the "
					  "process that prints the steps?"
				: file->n_bytes == 0
					? "file is empty: the collector wrote nothing, look at its "
					  "log and the disk on that host"
					: "file holds no record: the collector wrote nothing, "
					  "look at its log on that host";
	} else if (n_broken > 0 && n_broken == file->n_records && !has_events(&load->sink)) {
		file->state = FSL_FILE_UNUSABLE;
	}
}

/*
 * Makes room for the operators of a marker file before they come, so that their array neither moves
 * nor doubles. Unused room is freed later. The room is limited, as perhaps only a part of a large
 * file is wanted.
 */
static enum fsl_status reserve_ops(struct fsl_load *load, struct fsl_error *err)
{
	enum {
		OPS_MAX = 1 << 20,
		OP_BYTES = 224, /* four rows of about 56 bytes */
	};
	struct fsl_rank *events = &load->sink.events;
	uint64_t n_bytes = load->kind == FSL_INPUT_MARKERS ? load->file.n_bytes : 0;
	uint64_t n_ops = n_bytes / OP_BYTES;
	return FSL_GROW(events->ops, events->ops_capacity, n_ops < OPS_MAX ? n_ops : OPS_MAX, err);
}

/* Reads the file, or its next piece. */
static enum fsl_status read_as(struct fsl_load *load, struct fsl_reader *reader,
			       struct fsl_error *err)
{
	struct fsl_sink *sink = &load->sink;
	enum fsl_status status = load->pieces == NULL ? reserve_ops(load, err) : FSL_OK;
	sink->is_paused = false;
	if (status == FSL_OK) {
		status = load->format->read(reader, sink, err);
	}
	if (load->pieces == NULL) {
		FSL_FIT(sink->events.ops, sink->events.ops_capacity, sink->events.n_ops);
	}
	load->is_done = !sink->is_paused;
	if (load->is_guess && load->file.n_records == 0 && load->file.state == FSL_FILE_READ) {
		refuse(load);
	}
	if (status == FSL_OK && load->is_done) {
		check_shrunk(load);
	}
	return status;
}

static enum fsl_status read_with(struct fsl_load *load, struct fsl_reader *reader,
				 struct fsl_error *err)
{
	const struct fsl_format *format = NULL;
	load->file.n_bytes = fsl_reader_disk_bytes(reader);
	load->is_packed = !fsl_reader_can_seek(reader);
	load->sink.resume = load->is_packed ? NULL : load->sink.resume;
	FSL_TRY(detect(load, reader, &format, err));
	if (format == NULL) {
		return FSL_OK;
	}
	load->kind = format->kind;
	load->file.format = format->name;
	if ((load->input->kinds & (1U << format->kind)) == 0) {
		load->is_ignored = true;
		return FSL_OK;
	}
	load->format = format;
	return read_as(load, reader, err);
}

/* Nobody asked for this file and it turned out not to be one of ours. */
static bool is_foreign(const struct fsl_load *load)
{
	return !load->input->is_explicit && !is_named(load->input) &&
	       (load->file.state == FSL_FILE_UNUSABLE || load->file.state == FSL_FILE_EMPTY);
}

static enum fsl_status begin(struct fsl_load *load, struct fsl_error *err)
{
	const struct fsl_input *input = load->input;
	load->kind = kind_of_name(input->told.kind);
	load->file = (struct fsl_file){
		.path = input->path,
		.format = "",
		.rank = FSL_RANK_UNKNOWN,
		.n_bytes = input->n_bytes,
		.message = "",
	};
	return fsl_sink_init(&load->sink, &load->file, err);
}

/* Limits the block of the reader, so that little more than a piece is read. */
static void set_block(const struct fsl_load *load, struct fsl_reader *reader)
{
	if (load->pieces != NULL) {
		fsl_reader_set_block(reader, load->piece_bytes / 2);
	}
}

/* Records the state of the file, or keeps what the next piece needs. */
static enum fsl_status end_piece(struct fsl_load *load, struct fsl_reader *reader,
				 enum fsl_status status, const struct fsl_error *cause,
				 struct fsl_error *err)
{
	bool goes_on = status == FSL_OK && !load->is_done;
	if (goes_on && !fsl_reader_can_seek(reader)) {
		load->reader = reader;
	} else {
		fsl_reader_close(reader);
	}
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "%s", fsl_error_root(cause));
	}
	if (status != FSL_OK) {
		fsl_sink_unusable(&load->sink, "%s; check that it exists and may be read",
				  fsl_error_root(cause));
	}
	if (!goes_on) {
		judge(load);
		load->is_ignored |= is_foreign(load);
	}
	return FSL_OK;
}

static enum fsl_status read_first(struct fsl_load *load, int64_t from_ns, int64_t to_ns,
				  struct fsl_error *err)
{
	const struct fsl_input *input = load->input;
	struct fsl_reader *reader = NULL;
	enum fsl_status status = begin(load, err);
	if (status != FSL_OK) {
		return status;
	}
	load->sink.from_ns = from_ns;
	load->sink.to_ns = to_ns;
	load->sink.log_patterns = load->log_patterns;
	load->sink.n_log_patterns = load->n_log_patterns;
	load->sink.keeps_stacks = load->keeps_stacks;
	load->sink.is_range_for_stages =
		load->is_range_for_stages && input->told.rank_state == FSL_NAME_HAS_RANK;
	load->is_done = true;
	if (load->pieces != NULL && input->told.rank_state == FSL_NAME_HAS_RANK) {
		fsl_sink_set_pieces(&load->sink, load->pieces);
		load->sink.resume = load->resume;
		load->sink.enter_ns = load->enter_ns;
		load->sink.forget_ns = load->forget_ns;
	}
	if (input->fault != NULL) {
		fsl_sink_unusable(&load->sink, "%s", input->fault);
		return FSL_OK;
	}
	struct fsl_error cause = {0};
	status = strcmp(input->path, FSL_STDIN) == 0
			 ? fsl_reader_open_fd(&reader, dup(STDIN_FILENO), FSL_STDIN, &cause)
			 : fsl_reader_open(&reader, input->path, &cause);
	if (status == FSL_OK) {
		set_block(load, reader);
		status = read_with(load, reader, &cause);
	}
	return end_piece(load, reader, status, &cause, err);
}

/* Reads the next piece of a file that was paused. */
static enum fsl_status read_next(struct fsl_load *load, struct fsl_error *err)
{
	struct fsl_error cause = {0};
	struct fsl_reader *reader = load->reader;
	enum fsl_status status = FSL_OK;
	load->reader = NULL;
	load->is_done = true;
	if (reader == NULL) {
		status = fsl_reader_open(&reader, load->input->path, &cause);
		if (status == FSL_OK) {
			set_block(load, reader);
			status = fsl_reader_seek(reader, load->sink.place.offset, &cause);
		}
	}
	if (status == FSL_OK) {
		status = read_as(load, reader, &cause);
	}
	return end_piece(load, reader, status, &cause, err);
}

enum fsl_status fsl_load_read(struct fsl_load *load, int64_t from_ns, int64_t to_ns,
			      struct fsl_error *err)
{
	if (load->is_done) {
		return FSL_OK;
	}
	return load->format != NULL ? read_next(load, err) : read_first(load, from_ns, to_ns, err);
}

void fsl_load_fini(struct fsl_load *load)
{
	fsl_reader_close(load->reader);
	fsl_sink_fini(&load->sink);
	load->reader = NULL;
}
