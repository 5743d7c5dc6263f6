/* Taking, setting and giving back a trace buffer of the kernel. */
#include "record/trace_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"

#define INSTANCE "instances/failslow"

enum {
	CPUS_MAX = 4096, /* more than any kernel is built for, and what a setting has room for */
	CPUS_PER_GROUP = 32,
	SMALL_KIB = 8,       /* of CPUs that are not recorded */
	REMOVE_TRIES = 200,  /* a killed recorder's files close a moment after its pipe */
	REMOVE_WAIT_MS = 10, /* between two tries */
	LOST_FIELDS = 2,
};

/* The events. Without the needed one no question is answered. */
static const struct event {
	const char *name;
	bool is_needed, is_runtime;
} events[] = {
	{"events/sched/sched_switch/enable", true, false},
	{"events/sched/sched_wakeup/enable", false, false},
	{"events/sched/sched_wakeup_new/enable", false, false},
	{"events/sched/sched_waking/enable", false, false},
	{"events/sched/sched_migrate_task/enable", false, false},
	{"events/sched/sched_process_fork/enable", false, false},
	{"events/sched/sched_process_exec/enable", false, false},
	{"events/sched/sched_process_exit/enable", false, false},
	{"events/sched/sched_stat_runtime/enable", false, true},
	{"events/irq/irq_handler_entry/enable", false, false},
	{"events/irq/irq_handler_exit/enable", false, false},
	{"events/irq/softirq_entry/enable", false, false},
	{"events/irq/softirq_exit/enable", false, false},
	{"events/irq/softirq_raise/enable", false, false},
};

/* The form of lines. An instance begins with the settings of the global buffer, so all are set. */
static const struct option {
	const char *name, *value;
} options[] = {
	{"options/context-info", "1"}, {"options/irq-info", "1"},
	{"options/record-cmd", "1"},   {"options/overwrite", "1"},
	{"options/markers", "1"},      {"options/latency-format", "0"},
	{"options/raw", "0"},          {"options/hex", "0"},
	{"options/bin", "0"},          {"options/fields", "0"},
	{"options/verbose", "0"},      {"options/block", "0"},
	{"options/stacktrace", "0"},   {"options/userstacktrace", "0"},
	{"options/record-tgid", "0"},
};

enum {
	EVENTS_N = sizeof(events) / sizeof(events[0]),
	OPTIONS_N = sizeof(options) / sizeof(options[0])
};

static enum fsl_status lock_tracefs(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	buffer->lock = open(buffer->tracefs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (buffer->lock >= 0 && flock(buffer->lock, LOCK_EX | LOCK_NB) == 0) {
		return FSL_OK;
	}
	int code = errno;
	if (buffer->lock >= 0 && code == EWOULDBLOCK) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"another recording goes on on this host, stop it first: "
				"path=\"%s\", remedy=\"failslow record stop\"",
				buffer->tracefs);
	}
	return FSL_FAIL(err, FSL_ERR_IO,
			"cannot lock the kernel's tracer: path=\"%s\", reason=\"%s\"",
			buffer->tracefs, fsl_os_error(code).text);
}

static int compare_cpus(const void *a, const void *b)
{
	int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
	return (first > second) - (first < second);
}

/* All CPUs that tracefs knows, in order. */
static enum fsl_status find_cpus(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	char path[FSL_TRACEFS_PATH_MAX + 16];
	char **names = NULL;
	size_t n_names = 0;
	(void)snprintf(path, sizeof(path), "%s/per_cpu", buffer->tracefs);
	FSL_TRY(fsl_dir_list(path, &names, &n_names, err));
	enum fsl_status status = FSL_NEW(buffer->cpus, n_names + 1, "CPUs", err);
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		int64_t cpu = 0;
		if (strncmp(names[i], "cpu", 3) == 0 &&
		    fsl_parse_i64(names[i] + 3, strlen(names[i] + 3), &cpu) && cpu >= 0 &&
		    cpu < CPUS_MAX) {
			buffer->cpus[buffer->n_cpus++] = cpu;
		}
	}
	fsl_free(names);
	if (status == FSL_OK) {
		qsort(buffer->cpus, buffer->n_cpus, sizeof(*buffer->cpus), compare_cpus);
	}
	return status;
}

static bool is_among(const int64_t *items, size_t n_items, int64_t item)
{
	for (size_t i = 0; i < n_items; i++) {
		if (items[i] == item) {
			return true;
		}
	}
	return false;
}

/* Keeps the CPUs of the plan. *all_are_kept: the plan names all that there are. */
static enum fsl_status choose_cpus(struct fsl_trace_buffer *buffer,
				   const struct fsl_trace_plan *plan, bool *all_are_kept,
				   struct fsl_error *err)
{
	size_t n_all = buffer->n_cpus, n_kept = 0;
	for (size_t i = 0; i < plan->n_cpus; i++) {
		if (!is_among(buffer->cpus, n_all, plan->cpus[i])) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"this host has no such CPU: option=\"--cpu\", cpu=%" PRId64
					", cpus=%zu",
					plan->cpus[i], n_all);
		}
	}
	for (size_t i = 0; i < n_all; i++) {
		if (plan->n_cpus == 0 || is_among(plan->cpus, plan->n_cpus, buffer->cpus[i])) {
			buffer->cpus[n_kept++] = buffer->cpus[i];
		}
	}
	buffer->n_cpus = n_kept;
	*all_are_kept = n_kept == n_all;
	return FSL_OK;
}

static enum fsl_status keep(struct fsl_trace_buffer *buffer, const char *name, const char *value,
			    struct fsl_error *err)
{
	struct fsl_trace_setting setting;
	(void)snprintf(setting.name, sizeof(setting.name), "%s", name);
	(void)snprintf(setting.value, sizeof(setting.value), "%s", value);
	return FSL_APPEND(buffer, before, &setting, err);
}

/* Keeps the present value of a setting; nothing if there is no such file. */
static enum fsl_status keep_present(struct fsl_trace_buffer *buffer, const char *name,
				    struct fsl_error *err)
{
	char value[FSL_TRACEFS_TEXT_MAX];
	if (!fsl_tracefs_has(buffer->root, name)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_tracefs_read(buffer->root, name, value, err));
	return keep(buffer, name, value, err);
}

/* Does what is asked to the filter of each event that has one. A filter stays when the one who set
 * it no longer traces. */
static enum fsl_status each_filter(struct fsl_trace_buffer *buffer, const char *value,
				   struct fsl_error *err)
{
	char name[FSL_TRACE_NAME_BYTES], present[FSL_TRACEFS_TEXT_MAX];
	for (size_t i = 0; i < EVENTS_N; i++) {
		int length = (int)(strrchr(events[i].name, '/') - events[i].name);
		(void)snprintf(name, sizeof(name), "%.*s/filter", length, events[i].name);
		if (!fsl_tracefs_has(buffer->root, name)) {
			continue;
		}
		FSL_TRY(fsl_tracefs_read(buffer->root, name, present, err));
		if (strcmp(present, "none") != 0) {
			FSL_TRY(value == NULL ? keep(buffer, name, present, err)
					      : fsl_tracefs_write(buffer->root, name, value, err));
		}
	}
	return FSL_OK;
}

/* trace_clock lists all clocks, the present one in brackets. */
static enum fsl_status keep_clock(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	char value[FSL_TRACEFS_TEXT_MAX];
	FSL_TRY(fsl_tracefs_read(buffer->root, "trace_clock", value, err));
	char *begin = strchr(value, '['), *end = begin != NULL ? strchr(begin, ']') : NULL;
	if (end == NULL) {
		return FSL_FAIL(
			err, FSL_ERR_FORMAT,
			"the clock of the kernel's tracer is unknown: path=\"%s/trace_clock\"",
			buffer->root);
	}
	*end = '\0';
	return keep(buffer, "trace_clock", begin + 1, err);
}

/* buffer_size_kb is a number, "7 (expanded: 1408)" if nobody has traced yet, or "X" if CPUs differ.
 */
static enum fsl_status keep_size(struct fsl_trace_buffer *buffer, const char *name,
				 struct fsl_error *err)
{
	char value[FSL_TRACEFS_TEXT_MAX];
	FSL_TRY(fsl_tracefs_read(buffer->root, name, value, err));
	value[strcspn(value, " ")] = '\0';
	return strcmp(value, "X") != 0 ? keep(buffer, name, value, err) : FSL_OK;
}

static enum fsl_status keep_sizes(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	char name[96];
	FSL_TRY(keep_size(buffer, "buffer_size_kb", err));
	for (size_t i = 0; i < buffer->n_cpus; i++) {
		(void)snprintf(name, sizeof(name), "per_cpu/cpu%" PRId64 "/buffer_size_kb",
			       buffer->cpus[i]);
		FSL_TRY(keep_size(buffer, name, err));
	}
	return FSL_OK;
}

/* Refuses the global buffer if somebody traces, or has left a trace in it. */
static enum fsl_status refuse_if_used(const struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	static const struct {
		const char *name, *unused;
	} signs[] = {{"current_tracer", "nop"}, {"set_event", ""}, {"set_event_pid", ""}};
	char value[FSL_TRACEFS_TEXT_MAX];
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!fsl_tracefs_has(buffer->root, signs[i].name)) {
			continue;
		}
		FSL_TRY(fsl_tracefs_read(buffer->root, signs[i].name, value, err));
		if (strcmp(value, signs[i].unused) != 0) {
			value[strcspn(value, "\n")] = '\0';
			return FSL_FAIL(err, FSL_ERR_IO,
					"somebody else traces on this host, and the kernel has no "
					"second buffer: file=\"%s\", value=\"%.100s\"",
					signs[i].name, value);
		}
	}
	static const char entries[] = "entries-in-buffer/entries-written: ";
	FSL_TRY(fsl_tracefs_read(buffer->root, "trace", value, err));
	const char *at = strstr(value, entries);
	if (at != NULL && at[strlen(entries)] != '0') {
		return FSL_FAIL(err, FSL_ERR_IO,
				"the kernel's only buffer holds a trace of somebody else, save and "
				"empty it first: file=\"%s/trace\"",
				buffer->root);
	}
	return FSL_OK;
}

/* Keeps all that setting the global buffer changes, in the order in which it is put back. */
static enum fsl_status keep_all(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	FSL_TRY(keep(buffer, "tracing_on", "0", err));
	for (size_t i = 0; i < EVENTS_N; i++) {
		FSL_TRY(keep_present(buffer, events[i].name, err));
	}
	FSL_TRY(each_filter(buffer, NULL, err)); /* kept */
	FSL_TRY(keep_present(buffer, "options/event-fork", err));
	for (size_t i = 0; i < OPTIONS_N; i++) {
		FSL_TRY(keep_present(buffer, options[i].name, err));
	}
	if (fsl_tracefs_has(buffer->root, "set_event_pid")) {
		FSL_TRY(keep(buffer, "set_event_pid", "", err));
	}
	FSL_TRY(keep_clock(buffer, err));
	FSL_TRY(keep_sizes(buffer, err));
	FSL_TRY(keep_present(buffer, "tracing_cpumask", err));
	return keep_present(buffer, "tracing_on", err);
}

/* Ends the instance. Its files may still be open for a moment in a recorder that was killed. */
static enum fsl_status remove_instance(const struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	const struct timespec wait = {.tv_nsec = REMOVE_WAIT_MS * FSL_NS_PER_MS};
	int code = EBUSY;
	for (int i = 0; i < REMOVE_TRIES && code == EBUSY; i++) {
		(void)fsl_tracefs_write(buffer->root, "tracing_on", "0", NULL);
		code = rmdir(buffer->root) == 0 || errno == ENOENT ? 0 : errno;
		if (code == EBUSY) {
			(void)nanosleep(&wait, NULL);
		}
	}
	return code == 0 ? FSL_OK
			 : FSL_FAIL(err, FSL_ERR_IO,
				    "cannot remove the trace buffer: path=\"%s\", reason=\"%s\"",
				    buffer->root, fsl_os_error(code).text);
}

/* The guard puts settings back. It goes on after a failure: the more is put back, the better. */
static enum fsl_status put_back(void *context, struct fsl_error *err)
{
	const struct fsl_trace_buffer *buffer = context;
	enum fsl_status status = FSL_OK;
	if (buffer->is_own) {
		return remove_instance(buffer, err);
	}
	for (size_t i = 0; i < buffer->n_before; i++) {
		enum fsl_status one =
			fsl_tracefs_write(buffer->root, buffer->before[i].name,
					  buffer->before[i].value, status == FSL_OK ? err : NULL);
		status = status == FSL_OK ? one : status;
	}
	return status;
}

/* An instance, or the global buffer. From here on a guard puts back what was before. */
static enum fsl_status take(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	buffer->is_own = fsl_tracefs_has(buffer->tracefs, "instances");
	int length = snprintf(buffer->root, sizeof(buffer->root), "%s%s", buffer->tracefs,
			      buffer->is_own ? "/" INSTANCE : "");
	if (length < 0 || length >= (int)sizeof(buffer->root)) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "the path is too long: path=\"%s\"",
				buffer->tracefs);
	}
	if (!buffer->is_own) {
		FSL_TRY(refuse_if_used(buffer, err));
		FSL_TRY(keep_all(buffer, err));
		return fsl_guard_begin(&buffer->guard, put_back, buffer, buffer->lock, err);
	}
	/* We hold the lock, so an instance that is there was left by a recorder whose guard was
	 * killed, too. */
	FSL_TRY(remove_instance(buffer, err));
	FSL_TRY(fsl_guard_begin(&buffer->guard, put_back, buffer, buffer->lock, err));
	if (mkdir(buffer->root, 0700) != 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot make a trace buffer: path=\"%s\", reason=\"%s\"",
				buffer->root, fsl_os_error(errno).text);
	}
	return FSL_OK;
}

/* The mask of the CPUs: groups of 32 in hexadecimal, the highest first. */
static void make_mask(const struct fsl_trace_buffer *buffer, char *mask, size_t size)
{
	uint32_t groups[CPUS_MAX / CPUS_PER_GROUP] = {0};
	size_t n_groups = 1, n_text = 0;
	for (size_t i = 0; i < buffer->n_cpus; i++) {
		size_t group = (size_t)buffer->cpus[i] / CPUS_PER_GROUP;
		groups[group] |= UINT32_C(1) << (buffer->cpus[i] % CPUS_PER_GROUP);
		n_groups = group + 1 > n_groups ? group + 1 : n_groups;
	}
	for (size_t i = n_groups; i > 0; i--) {
		n_text += (size_t)snprintf(mask + n_text, size - n_text, "%08" PRIx32 "%s",
					   groups[i - 1], i > 1 ? "," : "");
	}
}

static enum fsl_status set_sizes(const struct fsl_trace_buffer *buffer, int64_t kib,
				 bool all_are_kept, struct fsl_error *err)
{
	char value[32], name[96];
	(void)snprintf(value, sizeof(value), "%" PRId64, all_are_kept ? kib : SMALL_KIB);
	FSL_TRY(fsl_tracefs_write(buffer->root, "buffer_size_kb", value, err));
	(void)snprintf(value, sizeof(value), "%" PRId64, kib);
	for (size_t i = 0; i < buffer->n_cpus && !all_are_kept; i++) {
		(void)snprintf(name, sizeof(name), "per_cpu/cpu%" PRId64 "/buffer_size_kb",
			       buffer->cpus[i]);
		FSL_TRY(fsl_tracefs_write(buffer->root, name, value, err));
	}
	return FSL_OK;
}

static enum fsl_status set_pids(const struct fsl_trace_buffer *buffer,
				const struct fsl_trace_plan *plan, struct fsl_error *err)
{
	if (plan->n_pids == 0) {
		return FSL_OK;
	}
	size_t size = plan->n_pids * 24 + 1, n_text = 0;
	char *text = NULL;
	FSL_TRY(FSL_NEW(text, size, "bytes", err));
	for (size_t i = 0; i < plan->n_pids; i++) {
		n_text += (size_t)snprintf(text + n_text, size - n_text, "%" PRId64 " ",
					   plan->pids[i]);
	}
	enum fsl_status status = fsl_tracefs_write(buffer->root, "set_event_pid", text, err);
	fsl_free(text);
	FSL_TRY(status);
	return fsl_tracefs_write(buffer->root, "options/event-fork", "1", err);
}

static enum fsl_status set_events(const struct fsl_trace_buffer *buffer,
				  const struct fsl_trace_plan *plan, struct fsl_error *err)
{
	for (size_t i = 0; i < EVENTS_N; i++) {
		if (events[i].is_runtime && !plan->has_runtime) {
			continue;
		}
		if (events[i].is_needed || fsl_tracefs_has(buffer->root, events[i].name)) {
			FSL_TRY(fsl_tracefs_write(buffer->root, events[i].name, "1", err));
		} else {
			fsl_log(FSL_LOG_INFO, "record", "the kernel has no such event: file=\"%s\"",
				events[i].name);
		}
	}
	return FSL_OK;
}

static enum fsl_status set_clock(const struct fsl_trace_buffer *buffer, const char *clock,
				 struct fsl_error *err)
{
	struct fsl_error why = {0};
	if (fsl_tracefs_write(buffer->root, "trace_clock", clock, &why) == FSL_OK) {
		return FSL_OK;
	}
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"the kernel's tracer has no such clock: option=\"--clock\", clock=\"%s\"",
			clock);
}

static enum fsl_status set(struct fsl_trace_buffer *buffer, const struct fsl_trace_plan *plan,
			   bool all_are_kept, struct fsl_error *err)
{
	char mask[FSL_TRACEFS_TEXT_MAX];
	FSL_TRY(fsl_tracefs_write(buffer->root, "tracing_on", "0", err));
	FSL_TRY(set_clock(buffer, plan->clock, err));
	FSL_TRY(set_sizes(buffer, plan->buffer_kib, all_are_kept, err));
	make_mask(buffer, mask, sizeof(mask));
	FSL_TRY(fsl_tracefs_write(buffer->root, "tracing_cpumask", mask, err));
	for (size_t i = 0; i < OPTIONS_N; i++) {
		if (fsl_tracefs_has(buffer->root, options[i].name)) {
			FSL_TRY(fsl_tracefs_write(buffer->root, options[i].name, options[i].value,
						  err));
		}
	}
	/* Marks that jobs write into the global buffer come into ours (Linux 6.17). */
	if (buffer->is_own && fsl_tracefs_has(buffer->root, "options/copy_trace_marker")) {
		FSL_TRY(fsl_tracefs_write(buffer->root, "options/copy_trace_marker", "1", err));
	}
	FSL_TRY(each_filter(buffer, "0", err)); /* none */
	FSL_TRY(set_pids(buffer, plan, err));
	return set_events(buffer, plan, err);
}

enum fsl_status fsl_trace_buffer_open(struct fsl_trace_buffer *buffer, const char *tracefs,
				      const struct fsl_trace_plan *plan, struct fsl_error *err)
{
	bool all_are_kept = false;
	*buffer = (struct fsl_trace_buffer){.lock = -1, .guard = {.alive = -1, .done = -1}};
	(void)snprintf(buffer->tracefs, sizeof(buffer->tracefs), "%s", tracefs);
	enum fsl_status status = lock_tracefs(buffer, err);
	FSL_THEN(status, find_cpus(buffer, err));
	FSL_THEN(status, take(buffer, err));
	FSL_THEN(status, choose_cpus(buffer, plan, &all_are_kept, err));
	FSL_THEN(status, set(buffer, plan, all_are_kept, err));
	if (status != FSL_OK) {
		(void)fsl_trace_buffer_close(buffer, NULL);
	}
	return status;
}

enum fsl_status fsl_trace_buffer_switch(const struct fsl_trace_buffer *buffer, bool is_on,
					struct fsl_error *err)
{
	return fsl_tracefs_write(buffer->root, "tracing_on", is_on ? "1" : "0", err);
}

uint64_t fsl_trace_buffer_n_lost(const struct fsl_trace_buffer *buffer)
{
	static const char *const fields[LOST_FIELDS] = {"\noverrun", "\ndropped"};
	uint64_t n_lost = 0;
	for (size_t i = 0; i < buffer->n_cpus; i++) {
		char name[96], text[FSL_TRACEFS_TEXT_MAX];
		(void)snprintf(name, sizeof(name), "per_cpu/cpu%" PRId64 "/stats", buffer->cpus[i]);
		if (fsl_tracefs_read(buffer->root, name, text, NULL) != FSL_OK) {
			continue;
		}
		for (size_t k = 0; k < LOST_FIELDS; k++) {
			const char *at = strstr(text, fields[k]);
			const char *colon = at != NULL ? strchr(at, ':') : NULL;
			const char *digits = colon != NULL ? colon + 1 : "";
			uint64_t n = 0;
			if (fsl_parse_u64(digits, strcspn(digits, "\n"), &n)) {
				n_lost += n;
			}
		}
	}
	return n_lost;
}

enum fsl_status fsl_trace_buffer_close(struct fsl_trace_buffer *buffer, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	if (buffer->guard.alive >= 0) {
		status = fsl_guard_end(&buffer->guard, err);
	}
	if (buffer->lock >= 0) {
		(void)close(buffer->lock);
		buffer->lock = -1;
	}
	fsl_free(buffer->before);
	fsl_free(buffer->cpus);
	buffer->before = NULL;
	buffer->cpus = NULL;
	return status;
}
