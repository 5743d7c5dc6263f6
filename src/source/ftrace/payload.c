/*
 * Fields of events. The name of a task may hold "==>", "pid=", blanks or nothing. It has 15 bytes
 * at most, so its end is the last place within 15 bytes from which on all other fields can be read.
 */
#include "source/ftrace/payload.h"

#define SIZED(text) text, sizeof(text) - 1

enum { PLUGIN_COLUMN = 22 }; /* from the begin of the event's name to the fields, trace-cmd */

/* The number ends where another field or the line ends. */
static bool is_at_blank(const struct fsl_ftrace_scan *scan)
{
	return scan->at >= scan->end || *scan->at == ' ';
}

/* "27448", "-1", or "0x6b38 (27448)" with the option "fields". */
static bool take_value(struct fsl_ftrace_scan *scan, int64_t *out)
{
	if (FSL_FTRACE_TAKE(scan, "0x")) {
		while (scan->at < scan->end && *scan->at != ' ') {
			scan->at++;
		}
		bool is_negative = false;
		bool is_read = FSL_FTRACE_TAKE(scan, " (");
		is_negative = is_read && fsl_ftrace_take(scan, '-');
		is_read = is_read && fsl_ftrace_take_number(scan, out);
		*out = is_read && is_negative ? -*out : *out;
		return is_read && fsl_ftrace_take(scan, ')');
	}
	bool is_negative = fsl_ftrace_take(scan, '-');
	if (!fsl_ftrace_take_number(scan, out)) {
		return false;
	}
	*out = is_negative ? -*out : *out;
	return true;
}

static bool take_id_value(struct fsl_ftrace_scan *scan, int32_t *out)
{
	int64_t value = 0;
	if (!take_value(scan, &value) || value < 0 || value > INT32_MAX || !is_at_blank(scan)) {
		return false;
	}
	*out = (int32_t)value;
	return true;
}

/* Reads the rest behind a task's name and id. False: the name does not end there. */
typedef bool read_rest(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event);

/*
 * Takes a task's name, then @key with its id, then what @read takes. The longest name with which
 * all of that can be read is the name.
 */
static bool take_task(struct fsl_ftrace_scan *scan, const char *key, size_t key_length,
		      struct fsl_sched_task *task, read_rest *read, struct fsl_sched_event *event)
{
	const char *begin = scan->at;
	size_t n_left = (size_t)(scan->end - begin);
	if (n_left < key_length) {
		return false;
	}
	size_t length = n_left - key_length;
	length = length < FSL_SCHED_COMM_MAX ? length : FSL_SCHED_COMM_MAX;
	for (const char *at = begin + length; at >= begin; at--) {
		if (*at != *key || at[1] != key[1] || memcmp(at, key, key_length) != 0) {
			continue;
		}
		struct fsl_ftrace_scan rest = {at + key_length, scan->end};
		int32_t tid = 0;
		if (take_id_value(&rest, &tid) && read(&rest, event)) {
			*task = (struct fsl_sched_task){{begin, (size_t)(at - begin)}, tid};
			*scan = rest;
			return true;
		}
	}
	return false;
}

static bool read_nothing(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	(void)scan;
	(void)event;
	return true;
}

/* The letter of a state given as bits: the lowest bit tells why the task leaves. */
static char state_of_bits(int64_t bits)
{
	static const char letters[] = "SDTtXZPI";
	for (size_t i = 0; i + 1 < sizeof(letters); i++) {
		if ((bits >> i & 1) != 0) {
			return letters[i];
		}
	}
	return 'R';
}

/* "S", "R+", "D|K", or bits; up to a blank. */
static bool take_state(struct fsl_ftrace_scan *scan, char *state)
{
	int64_t bits = 0;
	if (scan->at < scan->end && fsl_ftrace_is_digit(*scan->at)) {
		bool is_read = take_value(scan, &bits) && is_at_blank(scan);
		*state = state_of_bits(bits);
		return is_read;
	}
	const char *begin = scan->at;
	while (scan->at < scan->end && *scan->at != ' ') {
		char c = *scan->at++;
		bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
		if (!is_letter && c != '|' && c != '+') {
			return false;
		}
	}
	*state = scan->at > begin ? *begin : 'R';
	return scan->at > begin;
}

/* A priority, -1 to 139. */
static bool take_prio(struct fsl_ftrace_scan *scan, int32_t *prio)
{
	int64_t value = 0;
	bool is_read = take_value(scan, &value);
	*prio = value >= INT32_MIN && value <= INT32_MAX ? (int32_t)value : 0;
	return is_read;
}

static bool read_next_prio(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return FSL_FTRACE_TAKE(scan, " next_prio=") && take_prio(scan, &event->other_prio);
}

static bool read_prev(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (!FSL_FTRACE_TAKE(scan, " prev_prio=") || !take_prio(scan, &event->prio) ||
	    !FSL_FTRACE_TAKE(scan, " prev_state=") || !take_state(scan, &event->state)) {
		return false;
	}
	(void)FSL_FTRACE_TAKE(scan, " ==>");
	return FSL_FTRACE_TAKE(scan, " next_comm=") &&
	       take_task(scan, SIZED(" next_pid="), &event->other, read_next_prio, event);
}

/* " [120]" of a plug-in of trace-cmd. */
static bool take_priority(struct fsl_ftrace_scan *scan, int32_t *prio)
{
	return FSL_FTRACE_TAKE(scan, " [") && take_prio(scan, prio) && fsl_ftrace_take(scan, ']');
}

static bool read_plugin_next(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return take_priority(scan, &event->other_prio) && is_at_blank(scan);
}

/* take_task() asks for two bytes of a key at least; a plug-in has only a colon. */
static bool take_plugin_task(struct fsl_ftrace_scan *scan, struct fsl_sched_task *task,
			     read_rest *read, struct fsl_sched_event *event)
{
	const char *begin = scan->at;
	size_t n_left = (size_t)(scan->end - begin);
	size_t length = n_left < FSL_SCHED_COMM_MAX ? n_left : FSL_SCHED_COMM_MAX;
	for (const char *at = begin + length; at >= begin; at--) {
		struct fsl_ftrace_scan rest = {at, scan->end};
		int32_t tid = 0;
		if (fsl_ftrace_take(&rest, ':') && take_id_value(&rest, &tid) &&
		    read(&rest, event)) {
			*task = (struct fsl_sched_task){{begin, (size_t)(at - begin)}, tid};
			*scan = rest;
			return true;
		}
	}
	return false;
}

static bool read_plugin_prev(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (!take_priority(scan, &event->prio) || !fsl_ftrace_take(scan, ' ') ||
	    !take_state(scan, &event->state) || !FSL_FTRACE_TAKE(scan, " ==> ")) {
		return false;
	}
	/* The plug-in has the letters of old kernels, in which W stood at the bit of idle tasks. */
	event->state = event->state == 'W' ? 'I' : event->state;
	return take_plugin_task(scan, &event->other, read_plugin_next, event);
}

static bool read_plugin_cpu(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (!take_priority(scan, &event->prio)) {
		return false;
	}
	event->value = 1;
	event->to_cpu = FSL_SCHED_ID_NONE;
	return !FSL_FTRACE_TAKE(scan, " CPU:") || fsl_ftrace_take_id(scan, &event->to_cpu);
}

static bool read_switch(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	struct fsl_ftrace_scan keys = *scan;
	fsl_ftrace_skip_blanks(&keys);
	if (FSL_FTRACE_TAKE(&keys, "prev_comm=")) {
		return take_task(&keys, SIZED(" prev_pid="), &event->task, read_prev, event);
	}
	return take_plugin_task(scan, &event->task, read_plugin_prev, event);
}

/* " prio=120 target_cpu=001", in old kernels with " success=1" between them. */
static bool read_target(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (!FSL_FTRACE_TAKE(scan, " prio=") || !take_prio(scan, &event->prio)) {
		return false;
	}
	event->value = 1;
	if (FSL_FTRACE_TAKE(scan, " success=") && !take_value(scan, &event->value)) {
		return false;
	}
	event->to_cpu = FSL_SCHED_ID_NONE;
	return !FSL_FTRACE_TAKE(scan, " target_cpu=") || take_id_value(scan, &event->to_cpu);
}

static bool read_wakeup(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	struct fsl_ftrace_scan keys = *scan;
	fsl_ftrace_skip_blanks(&keys);
	if (FSL_FTRACE_TAKE(&keys, "comm=") &&
	    take_task(&keys, SIZED(" pid="), &event->task, read_target, event)) {
		return event->to_cpu < FSL_SCHED_CPUS_MAX;
	}
	return take_plugin_task(scan, &event->task, read_plugin_cpu, event) &&
	       event->to_cpu < FSL_SCHED_CPUS_MAX;
}

static bool read_destination(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	int64_t prio = 0;
	int32_t from = 0;
	return FSL_FTRACE_TAKE(scan, " prio=") && take_value(scan, &prio) &&
	       FSL_FTRACE_TAKE(scan, " orig_cpu=") && take_id_value(scan, &from) &&
	       FSL_FTRACE_TAKE(scan, " dest_cpu=") && take_id_value(scan, &event->to_cpu) &&
	       event->to_cpu < FSL_SCHED_CPUS_MAX;
}

static bool read_migrate(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return FSL_FTRACE_TAKE(scan, "comm=") &&
	       take_task(scan, SIZED(" pid="), &event->task, read_destination, event);
}

static bool read_child(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return FSL_FTRACE_TAKE(scan, " child_comm=") &&
	       take_task(scan, SIZED(" child_pid="), &event->other, read_nothing, event);
}

static bool read_fork(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (FSL_FTRACE_TAKE(scan, "parent_comm=")) {
		return take_task(scan, SIZED(" parent_pid="), &event->task, read_child, event);
	}
	return FSL_FTRACE_TAKE(scan, "comm=") &&
	       take_task(scan, SIZED(" pid="), &event->task, read_child, event);
}

/* "filename=/usr/bin/bash pid=7 old_pid=7"; the name of the file may hold anything. */
static bool read_exec(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	static const char key[] = " pid=", old_key[] = " old_pid=";
	if (!FSL_FTRACE_TAKE(scan, "filename=")) {
		return false;
	}
	for (const char *at = scan->end - (sizeof(key) - 1); at >= scan->at; at--) {
		if (memcmp(at, key, sizeof(key) - 1) != 0) {
			continue;
		}
		struct fsl_ftrace_scan rest = {at + sizeof(key) - 1, scan->end};
		int32_t old = 0;
		if (take_id_value(&rest, &event->task.tid) &&
		    fsl_ftrace_take_text(&rest, old_key, sizeof(old_key) - 1) &&
		    take_id_value(&rest, &old)) {
			event->text = (struct fsl_sched_text){scan->at, (size_t)(at - scan->at)};
			return true;
		}
	}
	return false;
}

static bool read_exit_prio(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	int64_t prio = 0;
	(void)event;
	return FSL_FTRACE_TAKE(scan, " prio=") && take_value(scan, &prio);
}

static bool read_exit(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return FSL_FTRACE_TAKE(scan, "comm=") &&
	       take_task(scan, SIZED(" pid="), &event->task, read_exit_prio, event);
}

static bool read_runtime_value(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return FSL_FTRACE_TAKE(scan, " runtime=") && take_value(scan, &event->value) &&
	       event->value >= 0;
}

static bool read_runtime(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	return FSL_FTRACE_TAKE(scan, "comm=") &&
	       take_task(scan, SIZED(" pid="), &event->task, read_runtime_value, event);
}

/* Text up to the end of the line, or up to @stop. */
static void take_name(struct fsl_ftrace_scan *scan, char stop, struct fsl_sched_text *out)
{
	const char *end = memchr(scan->at, stop, (size_t)(scan->end - scan->at));
	end = end != NULL ? end : scan->end;
	*out = (struct fsl_sched_text){scan->at, (size_t)(end - scan->at)};
}

static bool read_irq(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (!FSL_FTRACE_TAKE(scan, "irq=") || !take_value(scan, &event->value)) {
		return false;
	}
	if (FSL_FTRACE_TAKE(scan, " name=")) {
		take_name(scan, '\n', &event->text);
	}
	return true;
}

static bool read_softirq(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	if (!FSL_FTRACE_TAKE(scan, "vec=") || !take_value(scan, &event->value)) {
		return false;
	}
	if (FSL_FTRACE_TAKE(scan, " [action=")) {
		take_name(scan, ']', &event->text);
	}
	return true;
}

static bool read_mark(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event)
{
	take_name(scan, '\n', &event->text);
	return true;
}

/* Events by name; the most frequent first. */
static const struct {
	const char *name;
	size_t length;
	enum fsl_sched_kind kind;
	bool (*read)(struct fsl_ftrace_scan *scan, struct fsl_sched_event *event);
} events[] = {
	{SIZED("sched_stat_runtime"), FSL_SCHED_RUNTIME, read_runtime},
	{SIZED("sched_switch"), FSL_SCHED_SWITCH, read_switch},
	{SIZED("sched_wakeup"), FSL_SCHED_WAKEUP, read_wakeup},
	{SIZED("sched_waking"), FSL_SCHED_WAKING, read_wakeup},
	{SIZED("softirq_entry"), FSL_SCHED_SOFTIRQ_ENTRY, read_softirq},
	{SIZED("softirq_exit"), FSL_SCHED_SOFTIRQ_EXIT, read_softirq},
	{SIZED("irq_handler_entry"), FSL_SCHED_IRQ_ENTRY, read_irq},
	{SIZED("irq_handler_exit"), FSL_SCHED_IRQ_EXIT, read_irq},
	{SIZED("sched_migrate_task"), FSL_SCHED_MIGRATE, read_migrate},
	{SIZED("sched_wakeup_new"), FSL_SCHED_WAKEUP_NEW, read_wakeup},
	{SIZED("sched_process_fork"), FSL_SCHED_FORK, read_fork},
	{SIZED("sched_process_exec"), FSL_SCHED_EXEC, read_exec},
	{SIZED("sched_process_exit"), FSL_SCHED_EXIT, read_exit},
	{SIZED("tracing_mark_write"), FSL_SCHED_MARK, read_mark},
	{SIZED("print"), FSL_SCHED_MARK, read_mark},
	{SIZED("0"), FSL_SCHED_MARK, read_mark},
};

/* Takes the name; perf writes the system before it: "sched:sched_switch:". */
static struct fsl_sched_text take_event_name(struct fsl_ftrace_scan *scan)
{
	struct fsl_sched_text name = {scan->at, 0};
	const char *colon = memchr(scan->at, ':', (size_t)(scan->end - scan->at));
	if (colon != NULL && colon + 1 < scan->end && colon[1] != ' ') {
		const char *next = memchr(colon + 1, ':', (size_t)(scan->end - colon - 1));
		const char *blank = memchr(colon + 1, ' ', (size_t)(scan->end - colon - 1));
		if (next != NULL && (blank == NULL || next < blank)) {
			name.at = colon + 1;
			colon = next;
		}
	}
	name.length = colon != NULL ? (size_t)(colon - name.at) : 0;
	scan->at = colon != NULL ? colon + 1 : scan->end;
	return name;
}

/* Names of tasks may begin with a blank: plug-ins of trace-cmd print them from one column on. */
static void skip_padding(struct fsl_ftrace_scan *scan, const char *name, enum fsl_sched_kind kind)
{
	bool has_plugin = kind == FSL_SCHED_SWITCH || kind == FSL_SCHED_WAKEUP ||
			  kind == FSL_SCHED_WAKEUP_NEW || kind == FSL_SCHED_WAKING;
	const char *stop = has_plugin ? name + PLUGIN_COLUMN : scan->end;
	if (kind == FSL_SCHED_MARK || (has_plugin && scan->at >= stop)) {
		scan->at += scan->at < scan->end && *scan->at == ' ';
		return;
	}
	while (scan->at < scan->end && scan->at < stop && *scan->at == ' ') {
		scan->at++;
	}
}

enum fsl_ftrace_payload fsl_ftrace_read_payload(struct fsl_ftrace_scan scan,
						struct fsl_sched_event *event)
{
	struct fsl_sched_text name = take_event_name(&scan);
	event->kind = FSL_SCHED_OTHER;
	event->text = (struct fsl_sched_text){"", 0};
	event->to_cpu = FSL_SCHED_ID_NONE;
	event->value = 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (name.length != events[i].length ||
		    memcmp(name.at, events[i].name, name.length) != 0) {
			continue;
		}
		skip_padding(&scan, name.at, events[i].kind);
		if (!events[i].read(&scan, event)) {
			return FSL_FTRACE_BROKEN;
		}
		event->kind = events[i].kind;
		return FSL_FTRACE_READ;
	}
	return FSL_FTRACE_IGNORED;
}
