/* Lines of a kernel trace: header, losses, events. */
#include "source/ftrace/read.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "source/ftrace/form.h"
#include "source/ftrace/payload.h"
#include "source/ftrace/trace_dat.h"

enum {
	/* Lines behind each other that hold no event: headers have 12, a stack of the kernel 64.
	 * Each takes 20 ns, and packed ones are a bomb of a few bytes. */
	LINES_WITHOUT_EVENT_MAX = 1 << 20,
};

struct fsl_ftrace_reader {
	struct fsl_reader *file;   /* lines */
	struct fsl_trace_dat *dat; /* where they come from; NULL: the file has them */
	struct fsl_ftrace_facts facts;
	struct fsl_sched_event event;
};

/* Form of the file; FSL_ERR_FORMAT if it is not read. */
static enum fsl_status find_form(struct fsl_reader *file, enum fsl_ftrace_form *form,
				 struct fsl_error *err)
{
	const char *head = NULL;
	size_t length = 0;
	FSL_TRY(fsl_reader_peek(file, FSL_FILE_HEAD_BYTES, &head, &length, err));
	length = length < FSL_FILE_HEAD_BYTES ? length : FSL_FILE_HEAD_BYTES;
	*form = fsl_ftrace_form_of(head, length);
	const char *refusal = fsl_ftrace_refusal(*form);
	return refusal == NULL ? FSL_OK
			       : FSL_FAIL(err, FSL_ERR_FORMAT, "%s: file=\"%s\"", refusal,
					  fsl_reader_path(file));
}

enum fsl_status fsl_ftrace_adopt(struct fsl_ftrace_reader **out, struct fsl_reader *file,
				 struct fsl_error *err)
{
	struct fsl_ftrace_reader *reader = NULL;
	enum fsl_ftrace_form form = FSL_FTRACE_NO_TRACE;
	enum fsl_status status = find_form(file, &form, err);
	FSL_THEN(status, FSL_NEW(reader, 1, "readers", err));
	if (status == FSL_OK && form == FSL_FTRACE_DAT) {
		struct fsl_reader *lines = NULL;
		status = fsl_trace_dat_open(&reader->dat, &lines, fsl_reader_path(file), err);
		fsl_reader_close(file);
		file = lines;
	}
	if (status != FSL_OK) {
		fsl_reader_close(file);
		fsl_free(reader);
		return status;
	}
	reader->file = file;
	reader->facts.n_kept = reader->facts.n_written = -1;
	*out = reader;
	return FSL_OK;
}

enum fsl_status fsl_ftrace_open(struct fsl_ftrace_reader **out, const char *path,
				struct fsl_error *err)
{
	struct fsl_reader *file = NULL;
	FSL_TRY(fsl_reader_open(&file, path, err));
	return fsl_ftrace_adopt(out, file, err);
}

void fsl_ftrace_close(struct fsl_ftrace_reader *reader)
{
	if (reader != NULL) {
		fsl_trace_dat_close(reader->dat);
		fsl_reader_close(reader->file);
		fsl_free(reader);
	}
}

const struct fsl_ftrace_facts *fsl_ftrace_facts(const struct fsl_ftrace_reader *reader)
{
	return &reader->facts;
}

const char *fsl_ftrace_path(const struct fsl_ftrace_reader *reader)
{
	return fsl_reader_path(reader->file);
}

/* "# clock: mono_raw", of a trace.dat. */
static void read_clock(struct fsl_ftrace_facts *facts, struct fsl_ftrace_scan scan)
{
	size_t length = (size_t)(scan.end - scan.at);
	if (length < sizeof(facts->clock)) {
		memcpy(facts->clock, scan.at, length);
		facts->clock[length] = '\0';
	}
}

/* "# entries-in-buffer/entries-written: 123/450910   #P:2", or "latency: 0 us, #2021/2021, ...
 * #P:2" of latency formats. */
static void read_comment(struct fsl_ftrace_facts *facts, struct fsl_ftrace_scan scan)
{
	static const char written[] = "entries-written: ", latency[] = " us, #", cpus[] = "#P:";
	const char *end = scan.end;
	if (FSL_FTRACE_TAKE(&scan, "# clock: ")) {
		read_clock(facts, scan);
		return;
	}
	for (; scan.at < end; scan.at++) {
		struct fsl_ftrace_scan number = scan;
		int64_t kept = 0, all = 0;
		if (fsl_ftrace_take_text(&number, written, sizeof(written) - 1) ||
		    fsl_ftrace_take_text(&number, latency, sizeof(latency) - 1)) {
			if (fsl_ftrace_take_number(&number, &kept) &&
			    fsl_ftrace_take(&number, '/') &&
			    fsl_ftrace_take_number(&number, &all)) {
				facts->n_kept = kept;
				facts->n_written = all;
			}
		} else if (fsl_ftrace_take_text(&number, cpus, sizeof(cpus) - 1)) {
			(void)fsl_ftrace_take_id(&number, &facts->n_cpus);
		}
	}
}

/* "CPU:1 [LOST 94 EVENTS]", "CPU:1 [LOST EVENTS]" of the kernel, "      CPU:1 [94 EVENTS DROPPED]"
 * and "      CPU:1 [EVENTS DROPPED]" of trace-cmd. */
static bool read_loss(struct fsl_ftrace_reader *reader, struct fsl_ftrace_scan scan)
{
	struct fsl_sched_event *event = &reader->event;
	int32_t cpu = 0;
	int64_t n_lost = 0;
	fsl_ftrace_skip_blanks(&scan);
	if (!FSL_FTRACE_TAKE(&scan, "CPU:") || !fsl_ftrace_take_id(&scan, &cpu) ||
	    !FSL_FTRACE_TAKE(&scan, " [") || cpu >= FSL_SCHED_CPUS_MAX) {
		return false;
	}
	bool is_lost = FSL_FTRACE_TAKE(&scan, "LOST ");
	if (fsl_ftrace_take_number(&scan, &n_lost)) {
		fsl_ftrace_skip_blanks(&scan);
	}
	if (!FSL_FTRACE_TAKE(&scan, "EVENTS") ||
	    (!is_lost && !FSL_FTRACE_TAKE(&scan, " DROPPED"))) {
		return false;
	}
	*event = (struct fsl_sched_event){.kind = FSL_SCHED_LOST,
					  .cpu = cpu,
					  .time_ns = event->time_ns,
					  .tid = FSL_SCHED_ID_NONE,
					  .tgid = FSL_SCHED_ID_NONE,
					  .to_cpu = FSL_SCHED_ID_NONE,
					  .value = n_lost,
					  .comm = {"", 0},
					  .text = {"", 0}};
	reader->facts.n_losses++;
	reader->facts.n_lost += (uint64_t)n_lost;
	return true;
}

/* Lines that trace-cmd and the kernel write between events. */
static bool is_note(struct fsl_ftrace_facts *facts, struct fsl_ftrace_scan scan)
{
	if (FSL_FTRACE_TAKE(&scan, "cpus=")) {
		(void)fsl_ftrace_take_id(&scan, &facts->n_cpus);
		return true;
	}
	return FSL_FTRACE_TAKE(&scan, "version = ") || FSL_FTRACE_TAKE(&scan, "CPU ");
}

/* The line is no event of the model: a header, a note, or a line that cannot be read. */
static void read_other(struct fsl_ftrace_reader *reader, const char *line, size_t length,
		       uint64_t number)
{
	struct fsl_ftrace_facts *facts = &reader->facts;
	struct fsl_ftrace_scan scan = {line, line + length};
	if (length == 0 || is_note(facts, scan)) {
		return;
	}
	if (FSL_FTRACE_TAKE(&scan, "##### CPU ")) {
		facts->n_started++;
		return;
	}
	if (*line == '#') {
		read_comment(facts, scan);
		return;
	}
	facts->first_broken = facts->n_broken++ == 0 ? number : facts->first_broken;
}

/* A line in the form of an event. False: it is none, or one that cannot be read. */
static bool read_event(struct fsl_ftrace_reader *reader, const char *line, size_t length)
{
	struct fsl_sched_event *event = &reader->event;
	struct fsl_ftrace_facts *facts = &reader->facts;
	struct fsl_ftrace_prefix prefix;
	struct fsl_ftrace_scan rest;
	if (!fsl_ftrace_read_prefix(line, length, &prefix, &rest)) {
		return false;
	}
	enum fsl_ftrace_payload payload = fsl_ftrace_read_payload(rest, event);
	if (payload == FSL_FTRACE_BROKEN) {
		return false;
	}
	facts->stamp = prefix.stamp;
	facts->n_events++;
	facts->n_ignored += payload == FSL_FTRACE_IGNORED;
	facts->n_runtime += event->kind == FSL_SCHED_RUNTIME;
	facts->n_switches += event->kind == FSL_SCHED_SWITCH;
	event->time_ns = prefix.time_ns;
	event->cpu = prefix.cpu;
	event->tid = prefix.tid;
	event->tgid = prefix.tgid;
	event->comm = prefix.comm;
	event->is_in_interrupt = prefix.is_in_interrupt;
	return true;
}

static enum fsl_status fail_without_event(const struct fsl_ftrace_reader *reader,
					  struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_FORMAT,
			"no event among %d lines, record the trace again: file=\"%s\", line=%llu",
			LINES_WITHOUT_EVENT_MAX, fsl_reader_path(reader->file),
			(unsigned long long)reader->facts.n_lines);
}

enum fsl_status fsl_ftrace_next(struct fsl_ftrace_reader *reader,
				const struct fsl_sched_event **event, struct fsl_error *err)
{
	struct fsl_ftrace_facts *facts = &reader->facts;
	for (int n = 0;; n++) {
		const char *line = NULL;
		size_t length = 0;
		uint64_t number = 0;
		bool is_too_long = false;
		if (n == LINES_WITHOUT_EVENT_MAX) {
			return fail_without_event(reader, err);
		}
		FSL_TRY(fsl_reader_line(reader->file, &line, &length, &number, &is_too_long, err));
		*event = line != NULL ? &reader->event : NULL;
		if (line == NULL) {
			return reader->dat != NULL ? fsl_trace_dat_finish(reader->dat, err)
						   : FSL_OK;
		}
		facts->n_lines++;
		if (is_too_long) {
			facts->first_broken = facts->n_broken++ == 0 ? number : facts->first_broken;
		} else if (length > 0 && *line != '#' &&
			   (read_event(reader, line, length) ||
			    read_loss(reader, (struct fsl_ftrace_scan){line, line + length}))) {
			break;
		} else {
			read_other(reader, line, length, number);
		}
	}
	if (facts->stamp == FSL_FTRACE_COUNTS) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"the clock of the trace counts events, ticks or cycles, not time: "
				"record it with `echo mono_raw > trace_clock`: file=\"%s\", "
				"line=%llu",
				fsl_reader_path(reader->file), (unsigned long long)facts->n_lines);
	}
	return FSL_OK;
}

/* The first "p_" of "step_" in [@at, @end); NULL: none. It is rare, and looked for in many bytes at
 * once: memmem() takes seven times as long. */
static const char *find_step(const char *at, const char *end)
{
	enum { BYTES = 64 };
	for (; end - at > BYTES; at += BYTES) {
		unsigned char any = 0;
		for (size_t i = 0; i < BYTES; i++) {
			any |= (unsigned char)((at[i] == 'p') & (at[i + 1] == '_'));
		}
		for (size_t i = 0; any != 0 && i < BYTES; i++) {
			if (at[i] == 'p' && at[i + 1] == '_') {
				return at + i;
			}
		}
	}
	return memmem(at, (size_t)(end - at), "p_", 2);
}

/* Skips to the begin of the first line that may hold "step_"; false: it skipped all there was. */
static bool skip_to_step(struct fsl_reader *file, const char *data, size_t n_bytes, bool is_last)
{
	const char *found = find_step(data, data + n_bytes);
	/* The last line may be cut: it is looked at again, with its rest. */
	const char *end = found != NULL ? found : data + n_bytes;
	const char *newline = memrchr(data, '\n', (size_t)(end - data));
	size_t n_passed = newline != NULL ? (size_t)(newline + 1 - data) : 0;
	if (found == NULL && (newline == NULL || is_last)) {
		n_passed = n_bytes;
	}
	fsl_reader_skip(file, n_passed);
	return found != NULL;
}

enum fsl_status fsl_ftrace_next_mark(struct fsl_ftrace_reader *reader,
				     const struct fsl_sched_event **event, struct fsl_error *err)
{
	for (;;) {
		const char *data = NULL;
		size_t n_bytes = 0;
		FSL_TRY(fsl_reader_peek(reader->file, FSL_FILE_BLOCK_BYTES, &data, &n_bytes, err));
		*event = NULL;
		if (n_bytes == 0) {
			return reader->dat != NULL ? fsl_trace_dat_finish(reader->dat, err)
						   : FSL_OK;
		}
		if (!skip_to_step(reader->file, data, n_bytes, n_bytes < FSL_FILE_BLOCK_BYTES)) {
			continue;
		}
		const char *line = NULL;
		size_t length = 0;
		uint64_t number = 0;
		bool is_too_long = false;
		FSL_TRY(fsl_reader_line(reader->file, &line, &length, &number, &is_too_long, err));
		if (line != NULL && memmem(line, length, "step_", 5) != NULL &&
		    read_event(reader, line, length) && reader->event.kind == FSL_SCHED_MARK) {
			*event = &reader->event;
			return FSL_OK;
		}
	}
}

int64_t fsl_ftrace_first_ns(const char *path, struct fsl_ftrace_facts *facts)
{
	struct fsl_ftrace_reader *reader = NULL;
	const struct fsl_sched_event *event = NULL;
	int64_t time_ns = FSL_NS_ABSENT;
	*facts = (struct fsl_ftrace_facts){0};
	if (fsl_ftrace_open(&reader, path, NULL) == FSL_OK) {
		if (fsl_ftrace_next(reader, &event, NULL) == FSL_OK && event != NULL) {
			time_ns = event->time_ns;
		}
		*facts = reader->facts;
	}
	fsl_ftrace_close(reader);
	return time_ns;
}
