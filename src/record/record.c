/*
 * One recording. The text of trace_pipe is written as it comes: it may last hours in constant
 * memory, is merged over the CPUs by time, and tells itself where events were lost. The other ways
 * are worse here: "trace" at the end holds what the buffer had room for, and the raw pages of each
 * CPU need a program that knows the kernel's formats.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"
#include "record/clocks.h"
#include "record/cpu_places.h"
#include "record/pid_map.h"
#include "text/json_write.h"

enum {
	BLOCK_BYTES = 256 * 1024, /* written at once */
	PATH_BYTES = 4096,
	/* Between two looks at the buffer. A wait for each event would wake the recorder thousands
	 * of times a second, and show in the trace. */
	LOOK_MS = 100,
	LOOKS_PER_SPACE = 10,  /* the disk is asked once a second */
	DRAIN_BLOCKS_MAX = 64, /* read in one look before signals are asked again */
};

struct recorder {
	const struct fsl_record_plan *plan;
	struct fsl_record_result *result;
	struct fsl_trace_buffer buffer;
	struct fsl_record_clocks begin, end;
	struct fsl_pid_map pids;
	sigset_t outer_signals;
	cpu_set_t outer_cpus;
	bool has_outer_cpus;
	int signals, pipe, output;
	char part[PATH_BYTES]; /* the trace, as long as it is not whole */
	uint64_t n_whole;      /* bytes up to the end of the last line */
	char *block;           /* [BLOCK_BYTES]; owned */
};

static double seconds_since(const struct fsl_record_clocks *begin)
{
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t now_ns = (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
	return (double)(now_ns - begin->ns[1]) / (double)FSL_NS_PER_S;
}

static bool is_space_short(const struct recorder *r)
{
	struct statvfs disk;
	if (fstatvfs(r->output, &disk) != 0) {
		return false;
	}
	return (double)disk.f_bavail * (double)disk.f_frsize < (double)r->plan->keep_free_bytes;
}

/* Path of a file beside the trace: without the suffix of the trace, with @suffix. */
static enum fsl_status beside(char path[PATH_BYTES], const char *trace, const char *suffix,
			      struct fsl_error *err)
{
	const char *name = strrchr(trace, '/'), *dot = strrchr(trace, '.');
	name = name != NULL ? name + 1 : trace;
	int length = dot != NULL && dot > name ? (int)(dot - trace) : (int)strlen(trace);
	if (snprintf(path, PATH_BYTES, "%.*s%s", length, trace, suffix) >= PATH_BYTES) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "the path is too long: path=\"%s\"", trace);
	}
	return FSL_OK;
}

/* The folder of the trace is made, the trace must not be there. */
static enum fsl_status open_output(struct recorder *r, struct fsl_error *err)
{
	const char *path = r->plan->path, *slash = strrchr(path, '/');
	char folder[PATH_BYTES];
	if (strlen(path) + strlen(".pid_mapping.json") >= PATH_BYTES) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "the path is too long: path=\"%s\"", path);
	}
	if (slash != NULL && slash > path) {
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		FSL_TRY(fsl_dir_create(folder, err));
	}
	if (access(path, F_OK) == 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"the file is there already, name another one: option=\"--output\", "
				"file=\"%s\"",
				path);
	}
	(void)snprintf(r->part, sizeof(r->part), "%s.part", path);
	r->output = open(r->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (r->output < 0 && errno == EEXIST) {
		return FSL_FAIL(
			err, FSL_ERR_IO,
			"the file is left from a recording that was killed, rename or remove it: "
			"file=\"%s\"",
			r->part);
	}
	if (r->output < 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot write the file: file=\"%s\", reason=\"%s\"", r->part,
				fsl_os_error(errno).text);
	}
	if (is_space_short(r)) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"the disk has too little free space to begin: file=\"%s\", "
				"option=\"--keep-free\"",
				path);
	}
	return FSL_OK;
}

static enum fsl_status block_signals(struct recorder *r, struct fsl_error *err)
{
	sigset_t signals;
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &signals, &r->outer_signals);
	r->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signals >= 0 ? FSL_OK
			       : FSL_FAIL(err, FSL_ERR_IO, "cannot wait for signals: reason=\"%s\"",
					  fsl_os_error(errno).text);
}

/* The recorder keeps off the CPUs that it records, if it may run on others. */
static void keep_off(struct recorder *r)
{
	cpu_set_t cpus;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) {
		return; /* more CPUs than the set has room for */
	}
	r->outer_cpus = cpus;
	r->has_outer_cpus = true;
	for (size_t i = 0; i < r->buffer.n_cpus; i++) {
		if (r->buffer.cpus[i] < CPU_SETSIZE) {
			CPU_CLR((size_t)r->buffer.cpus[i], &cpus);
		}
	}
	if (CPU_COUNT(&cpus) > 0) {
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	}
}

/* Writes all of it, and counts lines. A full disk is no failure: *is_full. */
static enum fsl_status put(struct recorder *r, const char *bytes, size_t n_bytes, bool *is_full,
			   struct fsl_error *err)
{
	while (n_bytes > 0) {
		ssize_t n = write(r->output, bytes, n_bytes);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
			*is_full = true;
			return FSL_OK;
		}
		if (n < 0) {
			return FSL_FAIL(err, FSL_ERR_IO,
					"cannot write the file: file=\"%s\", reason=\"%s\"",
					r->part, fsl_os_error(errno).text);
		}
		for (const char *at = bytes, *end = bytes + n;
		     (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
			r->result->n_lines++;
			r->n_whole = r->result->n_bytes + (uint64_t)(at + 1 - bytes);
		}
		r->result->n_bytes += (uint64_t)n;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return FSL_OK;
}

/* Reads up to a block. Sets *n_bytes = 0 if there is nothing now. */
static enum fsl_status fill_block(struct recorder *r, size_t *n_bytes, struct fsl_error *err)
{
	*n_bytes = 0;
	while (*n_bytes < BLOCK_BYTES) {
		ssize_t n = read(r->pipe, r->block + *n_bytes, BLOCK_BYTES - *n_bytes);
		if (n > 0) {
			*n_bytes += (size_t)n;
		} else if (n == 0 || errno == EAGAIN) {
			return FSL_OK;
		} else if (errno != EINTR) {
			return FSL_FAIL(
				err, FSL_ERR_IO,
				"cannot read the trace: path=\"%s/trace_pipe\", reason=\"%s\"",
				r->buffer.root, fsl_os_error(errno).text);
		}
	}
	return FSL_OK;
}

/* Writes what the buffer holds; at most @n_blocks_max blocks. */
static enum fsl_status drain(struct recorder *r, int n_blocks_max, bool *is_full,
			     struct fsl_error *err)
{
	size_t n_bytes = BLOCK_BYTES;
	for (int i = 0; i < n_blocks_max && n_bytes == BLOCK_BYTES && !*is_full; i++) {
		FSL_TRY(fill_block(r, &n_bytes, err));
		FSL_TRY(put(r, r->block, n_bytes, is_full, err));
	}
	return FSL_OK;
}

/* The heading of the kernel's traces, which trace_pipe lacks: it names the columns. The number of
 * entries is not known yet and is left out. */
static enum fsl_status put_heading(struct recorder *r, struct fsl_error *err)
{
	char text[FSL_TRACEFS_TEXT_MAX];
	bool is_full = false;
	FSL_TRY(fsl_tracefs_read(r->buffer.root, "trace", text, err));
	for (char *line = text; *line == '#';) {
		size_t length = strcspn(line, "\n");
		bool is_last = line[length] == '\0';
		line[length] = '\n';
		if (strncmp(line, "# entries-", strlen("# entries-")) != 0) {
			FSL_TRY(put(r, line, length + 1, &is_full, err));
		}
		if (is_last) {
			break;
		}
		line += length + 1;
	}
	r->result->n_lines = 0; /* of events */
	return FSL_OK;
}

static enum fsl_status begin(struct recorder *r, struct fsl_error *err)
{
	char tracefs[FSL_TRACEFS_PATH_MAX], path[FSL_TRACEFS_PATH_MAX + 16];
	FSL_TRY(block_signals(r, err));
	FSL_TRY(fsl_tracefs_find(tracefs, r->plan->tracefs, err));
	FSL_TRY(open_output(r, err));
	FSL_TRY(FSL_NEW(r->block, (size_t)BLOCK_BYTES + 1, "bytes", err));
	FSL_TRY(fsl_trace_buffer_open(&r->buffer, tracefs, &r->plan->trace, err));
	r->result->n_cpus = r->buffer.n_cpus;
	FSL_TRY(fsl_pid_map_add_present(&r->pids, "/proc", err));
	FSL_TRY(put_heading(r, err));
	(void)snprintf(path, sizeof(path), "%s/trace_pipe", r->buffer.root);
	r->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->pipe < 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot read the trace: path=\"%s\", reason=\"%s\"", path,
				fsl_os_error(errno).text);
	}
	keep_off(r);
	r->begin = fsl_record_clocks_now();
	FSL_TRY(fsl_trace_buffer_switch(&r->buffer, true, err));
	return r->plan->begun != NULL ? r->plan->begun(r->plan->context, err) : FSL_OK;
}

static enum fsl_status stream(struct recorder *r, struct fsl_error *err)
{
	struct pollfd source = {.fd = r->signals, .events = POLLIN};
	bool is_full = false;
	for (int look = 1;; look++) {
		double left_s = r->plan->seconds - seconds_since(&r->begin);
		if (r->plan->seconds > 0.0 && left_s <= 0.0) {
			r->result->end = FSL_RECORD_TIME;
			break;
		}
		bool is_soon = r->plan->seconds > 0.0 && left_s * 1000.0 < LOOK_MS;
		if (poll(&source, 1, is_soon ? (int)(left_s * 1000.0) + 1 : LOOK_MS) > 0) {
			r->result->end = FSL_RECORD_STOPPED;
			break;
		}
		FSL_TRY(drain(r, DRAIN_BLOCKS_MAX, &is_full, err));
		if (is_full || (look % LOOKS_PER_SPACE == 0 && is_space_short(r))) {
			r->result->end = FSL_RECORD_NO_SPACE;
			break;
		}
	}
	FSL_TRY(fsl_trace_buffer_switch(&r->buffer, false, err));
	r->end = fsl_record_clocks_now();
	r->result->seconds = (double)(r->end.ns[1] - r->begin.ns[1]) / (double)FSL_NS_PER_S;
	FSL_TRY(drain(r, INT32_MAX, &is_full, err));
	r->result->n_lost = fsl_trace_buffer_n_lost(&r->buffer);
	r->result->end = is_full ? FSL_RECORD_NO_SPACE : r->result->end;
	return FSL_OK;
}

static void write_facts(const struct recorder *r, FILE *stream)
{
	struct fsl_json_writer json = {.stream = stream};
	fsl_json_write_open(&json, NULL, '{');
	fsl_record_clocks_write(&json, &r->begin);
	fsl_json_write_open(&json, "end", '{');
	fsl_record_clocks_write(&json, &r->end);
	fsl_json_write_close(&json, '}');
	fsl_json_write_text(&json, "trace_clock", r->plan->trace.clock);
	fsl_json_write_text(&json, "host", r->plan->host);
	fsl_json_write_open(&json, "cpus", '[');
	for (size_t i = 0; i < r->buffer.n_cpus; i++) {
		fsl_json_write_integer(&json, NULL, r->buffer.cpus[i]);
	}
	fsl_json_write_close(&json, ']');
	fsl_json_write_integer(&json, "lost_events", (int64_t)r->result->n_lost);
	fsl_json_write_close(&json, '}');
	(void)fputc('\n', stream);
}

static void write_pids(const struct recorder *r, FILE *stream)
{
	fsl_pid_map_write(&r->pids, stream);
}

static void write_places(const struct recorder *r, FILE *stream)
{
	(void)r;
	(void)fsl_record_cpu_places_write("/sys/devices/system/cpu", stream);
}

static enum fsl_status write_beside(const struct recorder *r, const char *suffix,
				    void (*write_it)(const struct recorder *r, FILE *stream),
				    struct fsl_error *err)
{
	char path[PATH_BYTES];
	struct fsl_draft *draft = NULL;
	FSL_TRY(beside(path, r->plan->path, suffix, err));
	FSL_TRY(fsl_draft_create(&draft, path, err));
	write_it(r, fsl_draft_stream(draft));
	enum fsl_status status = fsl_draft_publish(draft, err);
	fsl_draft_destroy(draft);
	return status;
}

/* The trace ends with a whole line and gets its name; files beside it come first, so that whoever
 * sees the trace finds them. */
static enum fsl_status finish(struct recorder *r, struct fsl_error *err)
{
	(void)fsl_pid_map_add_present(&r->pids, "/proc", NULL);
	if (r->n_whole < r->result->n_bytes && ftruncate(r->output, (off_t)r->n_whole) == 0) {
		r->result->n_bytes = r->n_whole;
	}
	FSL_TRY(write_beside(r, ".clocks.json", write_facts, err));
	FSL_TRY(write_beside(r, ".pid_mapping.json", write_pids, err));
	FSL_TRY(write_beside(r, ".topology.txt", write_places, err));
	if (fsync(r->output) != 0 || rename(r->part, r->plan->path) != 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot write the file: file=\"%s\", reason=\"%s\"", r->plan->path,
				fsl_os_error(errno).text);
	}
	return FSL_OK;
}

static void close_file(int file)
{
	if (file >= 0) {
		(void)close(file);
	}
}

/* Puts everything back. The trace buffer can only be removed when its files are closed. */
static enum fsl_status give_back(struct recorder *r, struct fsl_error *err)
{
	close_file(r->pipe);
	r->pipe = -1;
	if (r->has_outer_cpus) {
		(void)sched_setaffinity(0, sizeof(r->outer_cpus), &r->outer_cpus);
	}
	return fsl_trace_buffer_close(&r->buffer, err);
}

/* Takes the signals that have come: they were meant for the recording, which has ended. */
static void take_signals(const struct recorder *r)
{
	struct signalfd_siginfo info;
	while (r->signals >= 0 && read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
	}
	close_file(r->signals);
}

enum fsl_status fsl_record_run(const struct fsl_record_plan *plan, struct fsl_record_result *result,
			       struct fsl_error *err)
{
	struct recorder r = {.plan = plan,
			     .result = result,
			     .signals = -1,
			     .pipe = -1,
			     .output = -1,
			     .buffer = {.lock = -1, .guard = {.alive = -1, .done = -1}}};
	*result = (struct fsl_record_result){0};
	enum fsl_status status = begin(&r, err);
	bool has_begun = status == FSL_OK;
	FSL_THEN(status, stream(&r, err));
	FSL_THEN(status, finish(&r, err));
	struct fsl_error why = {0};
	if (give_back(&r, &why) != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "record",
			"the kernel's tracer is not as before: cause=\"%s\"", fsl_error_root(&why));
	}
	if (!has_begun && r.part[0] != '\0' && r.output >= 0) {
		(void)unlink(r.part);
	}
	close_file(r.output);
	take_signals(&r);
	(void)sigprocmask(SIG_SETMASK, &r.outer_signals, NULL);
	fsl_pid_map_fini(&r.pids);
	fsl_free(r.block);
	return status;
}
