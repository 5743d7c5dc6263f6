/*
 * Records of libtracecmd to lines. The fields are taken from the records by name; the formats by
 * which the kernel prints events are not evaluated. A build without the headers knows no library.
 */
#include "source/ftrace/trace_dat_lines.h"

#ifdef FSL_HAVE_TRACECMD

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace-cmd.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/number.h"
#include "sched/event.h"

enum {
	PARTS_MAX = 7,              /* fields of one event that are written */
	IDS_N = 1 << 16,            /* ids of events have 16 bits */
	TEXT_MAX = 4096,            /* bytes of one field, as many as a path has */
	OUT_BYTES = 64 * 1024,      /* written at a time */
	LINE_BYTES_MAX = 16 * 1024, /* PARTS_MAX texts of which two are long at most, and numbers */
	IN_HARD_IRQ = 0x08,         /* bits of common_flags */
	IN_SOFT_IRQ = 0x10,
};

/* Functions of libtracecmd 1.0 and libtraceevent 1.5 and later, once they are loaded. */
static struct {
	__typeof__(tracecmd_open) *open;
	__typeof__(tracecmd_close) *close;
	__typeof__(tracecmd_get_tep) *tep;
	__typeof__(tracecmd_buffer_instances) *n_instances;
	__typeof__(tracecmd_buffer_instance_name) *instance_name;
	__typeof__(tracecmd_buffer_instance_handle) *instance;
	__typeof__(tracecmd_iterate_events_multi) *iterate;
	__typeof__(tracecmd_set_loglevel) *set_loglevel;
} tracecmd;
/* Not in its header, but in the library. NULL: not there. */
static struct {
	const char *(*clock)(struct tracecmd_input *handle);
	const char *(*stats)(struct tracecmd_input *handle);
} hidden;
static struct {
	__typeof__(tep_data_type) *type;
	__typeof__(tep_data_pid) *pid;
	__typeof__(tep_data_flags) *flags;
	__typeof__(tep_data_comm_from_pid) *comm;
	__typeof__(tep_find_event) *find;
	__typeof__(tep_find_any_field) *field;
	__typeof__(tep_read_number) *number;
	__typeof__(tep_get_cpus) *n_cpus;
} tep;

bool fsl_trace_dat_load(void)
{
	const struct fsl_symbol of_tracecmd[] = {
		{"tracecmd_open", &tracecmd.open},
		{"tracecmd_close", &tracecmd.close},
		{"tracecmd_get_tep", &tracecmd.tep},
		{"tracecmd_buffer_instances", &tracecmd.n_instances},
		{"tracecmd_buffer_instance_name", &tracecmd.instance_name},
		{"tracecmd_buffer_instance_handle", &tracecmd.instance},
		{"tracecmd_iterate_events_multi", &tracecmd.iterate},
		{"tracecmd_set_loglevel", &tracecmd.set_loglevel},
	};
	const struct fsl_symbol of_hidden[] = {
		{"tracecmd_get_trace_clock", &hidden.clock},
		{"tracecmd_get_cpustats", &hidden.stats},
	};
	const struct fsl_symbol of_tep[] = {
		{"tep_data_type", &tep.type},     {"tep_data_pid", &tep.pid},
		{"tep_data_flags", &tep.flags},   {"tep_data_comm_from_pid", &tep.comm},
		{"tep_find_event", &tep.find},    {"tep_find_any_field", &tep.field},
		{"tep_read_number", &tep.number}, {"tep_get_cpus", &tep.n_cpus},
	};
	static const char name[] = "libtracecmd.so.1";
	if (tep.n_cpus != NULL) {
		return true;
	}
	if (!fsl_library_load(name, of_tracecmd, sizeof(of_tracecmd) / sizeof(of_tracecmd[0])) ||
	    !fsl_library_load("libtraceevent.so.1", of_tep, sizeof(of_tep) / sizeof(of_tep[0]))) {
		return false;
	}
	(void)fsl_library_load(name, of_hidden, sizeof(of_hidden) / sizeof(of_hidden[0]));
	return true;
}

/* Text, then the field behind it; parts whose field is not there are left out. */
struct part {
	const char *text, *field;
};

/* The names that the kernel prints for numbers of soft interrupts, which are fixed. */
static const char *const actions[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
				      "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
enum { ACTIONS_N = sizeof(actions) / sizeof(actions[0]) };

static const struct row {
	const char *name;
	struct part parts[PARTS_MAX + 1];
} rows[] = {
	{"sched_switch",
	 {{"prev_comm=", "prev_comm"},
	  {" prev_pid=", "prev_pid"},
	  {" prev_prio=", "prev_prio"},
	  {" prev_state=", "prev_state"},
	  {" ==> next_comm=", "next_comm"},
	  {" next_pid=", "next_pid"},
	  {" next_prio=", "next_prio"}}},
	{"sched_stat_runtime", {{"comm=", "comm"}, {" pid=", "pid"}, {" runtime=", "runtime"}}},
	{"sched_waking",
	 {{"comm=", "comm"}, {" pid=", "pid"}, {" prio=", "prio"}, {" target_cpu=", "target_cpu"}}},
	{"sched_wakeup",
	 {{"comm=", "comm"},
	  {" pid=", "pid"},
	  {" prio=", "prio"},
	  {" success=", "success"},
	  {" target_cpu=", "target_cpu"}}},
	{"sched_wakeup_new",
	 {{"comm=", "comm"},
	  {" pid=", "pid"},
	  {" prio=", "prio"},
	  {" success=", "success"},
	  {" target_cpu=", "target_cpu"}}},
	{"sched_migrate_task",
	 {{"comm=", "comm"},
	  {" pid=", "pid"},
	  {" prio=", "prio"},
	  {" orig_cpu=", "orig_cpu"},
	  {" dest_cpu=", "dest_cpu"}}},
	{"sched_process_fork",
	 {{"comm=", "parent_comm"},
	  {" pid=", "parent_pid"},
	  {" child_comm=", "child_comm"},
	  {" child_pid=", "child_pid"}}},
	{"sched_process_exec",
	 {{"filename=", "filename"}, {" pid=", "pid"}, {" old_pid=", "old_pid"}}},
	{"sched_process_exit", {{"comm=", "comm"}, {" pid=", "pid"}, {" prio=", "prio"}}},
	{"irq_handler_entry", {{"irq=", "irq"}, {" name=", "name"}}},
	{"irq_handler_exit", {{"irq=", "irq"}}},
	{"softirq_entry", {{"vec=", "vec"}}},
	{"softirq_exit", {{"vec=", "vec"}}},
	{"print", {{"", "buf"}}},
};
enum { ROWS_N = sizeof(rows) / sizeof(rows[0]) };

/* An event of the file; its fields are looked up with its first record. */
struct kind {
	bool is_known, has_action; /* its field is the number of a soft interrupt */
	const char *name;
	const struct row *row; /* NULL: an event that is not needed */
	const struct tep_format_field *fields[PARTS_MAX];
};

struct writer {
	int fd;
	bool is_unwanted; /* nobody reads */
	bool counts;      /* the clock is no time */
	struct kind *kinds[IDS_N];
	size_t n_bytes;
	char bytes[OUT_BYTES + LINE_BYTES_MAX];
};

static void flush(struct writer *writer)
{
	size_t n_done = 0;
	while (n_done < writer->n_bytes && !writer->is_unwanted) {
		ssize_t n = write(writer->fd, writer->bytes + n_done, writer->n_bytes - n_done);
		writer->is_unwanted = n < 0 && errno != EINTR;
		n_done += n > 0 ? (size_t)n : 0;
	}
	writer->n_bytes = 0;
}

/* A line is a line, whatever the name of a task holds. */
static void put(struct writer *writer, const char *text, size_t length)
{
	char *to = writer->bytes + writer->n_bytes;
	size_t room = sizeof(writer->bytes) - writer->n_bytes;
	length = length < room ? length : room;
	for (size_t i = 0; i < length; i++) {
		to[i] = text[i] == '\n' || text[i] == '\r' ? '?' : text[i];
	}
	writer->n_bytes += length;
}

static void put_text(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

static void put_digits(struct writer *writer, uint64_t value, size_t n_least)
{
	char digits[24];
	size_t at = sizeof(digits);
	while (value > 0 || sizeof(digits) - at < n_least) {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	}
	put(writer, digits + at, sizeof(digits) - at);
}

static void put_number(struct writer *writer, int64_t value)
{
	if (value < 0) {
		put(writer, "-", 1);
	}
	put_digits(writer, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
}

static void end_line(struct writer *writer)
{
	if (writer->n_bytes < sizeof(writer->bytes)) {
		writer->bytes[writer->n_bytes++] = '\n';
	}
	if (writer->n_bytes >= OUT_BYTES) {
		flush(writer);
	}
}

/* Bytes [*at, *at + *length) of the record in which the text of the field lies; false: they are
 * not in the record. */
static bool find_text(const struct tep_format_field *field, const struct tep_record *record,
		      size_t *at, size_t *length)
{
	size_t size = (size_t)record->size;
	*at = (size_t)field->offset;
	*length = (size_t)field->size;
	if ((field->flags & TEP_FIELD_IS_DYNAMIC) != 0) {
		if (field->size != 4 || *at + 4 > size) {
			return false;
		}
		uint64_t where = tep.number(field->event->tep, (char *)record->data + *at, 4);
		bool is_relative = (field->flags & TEP_FIELD_IS_RELATIVE) != 0;
		*at = (size_t)(where & 0xffff) + (is_relative ? *at + 4 : 0);
		*length = (size_t)(where >> 16 & 0xffff);
	} else if (field->size == 0) { /* up to the end of the record */
		*length = *at < size ? size - *at : 0;
	}
	return *at <= size && *length <= size - *at;
}

/* Value of a field that is a number; false: it is not in the record. */
static bool number_of(const struct tep_format_field *field, const struct tep_record *record,
		      int64_t *out)
{
	bool is_number =
		field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8;
	if (!is_number || field->offset < 0 ||
	    (size_t)field->offset + (size_t)field->size > (size_t)record->size) {
		return false;
	}
	uint64_t value =
		tep.number(field->event->tep, (char *)record->data + field->offset, field->size);
	unsigned unused_bits = 64 - 8 * (unsigned)field->size;
	*out = (field->flags & TEP_FIELD_IS_SIGNED) != 0
		       ? (int64_t)(value << unused_bits) >> unused_bits
		       : (int64_t)(value & INT64_MAX);
	return true;
}

static void put_field(struct writer *writer, const struct part *part,
		      const struct tep_format_field *field, const struct tep_record *record)
{
	size_t at = 0, length = 0;
	if (field->offset < 0 || field->size < 0) {
		return;
	}
	if ((field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC)) !=
	    0) {
		if (find_text(field, record, &at, &length)) {
			const char *text = (const char *)record->data + at;
			length = strnlen(text, length < TEXT_MAX ? length : TEXT_MAX);
			/* Programs end a mark as a line. */
			length -= length > 0 && text[length - 1] == '\n';
			put_text(writer, part->text);
			put(writer, text, length);
		}
		return;
	}
	int64_t value = 0;
	if (number_of(field, record, &value)) {
		put_text(writer, part->text);
		put_number(writer, value);
	}
}

static void put_action(struct writer *writer, const struct tep_format_field *field,
		       const struct tep_record *record)
{
	int64_t number = 0;
	if (field != NULL && number_of(field, record, &number) && number >= 0 &&
	    number < ACTIONS_N) {
		put_text(writer, " [action=");
		put_text(writer, actions[number]);
		put(writer, "]", 1);
	}
}

static struct kind *kind_of(struct writer *writer, struct tep_handle *handle, int id)
{
	static struct kind none;
	if (id < 0 || id >= IDS_N) {
		return &none;
	}
	struct kind *kind = writer->kinds[id];
	if (kind != NULL) {
		return kind;
	}
	struct tep_event *event = tep.find(handle, id);
	kind = event != NULL ? fsl_calloc(1, sizeof(*kind)) : NULL;
	if (kind == NULL) {
		return &none;
	}
	kind->is_known = true;
	kind->name = event->name;
	kind->has_action = strcmp(event->name, "softirq_entry") == 0;
	for (size_t i = 0; i < ROWS_N; i++) {
		if (strcmp(rows[i].name, event->name) != 0) {
			continue;
		}
		kind->row = &rows[i];
		for (size_t p = 0; rows[i].parts[p].text != NULL; p++) {
			kind->fields[p] = tep.field(event, rows[i].parts[p].field);
		}
	}
	writer->kinds[id] = kind;
	return kind;
}

static void put_stamp(struct writer *writer, uint64_t time_ns)
{
	if (writer->counts) {
		put_digits(writer, time_ns, 1);
		return;
	}
	put_digits(writer, time_ns / FSL_NS_PER_S, 1);
	put(writer, ".", 1);
	put_digits(writer, time_ns % FSL_NS_PER_S, 9);
}

/* "            bash-27252 [001] ..h.. 1328.545317202: " */
static void put_begin(struct writer *writer, struct tep_handle *handle, struct tep_record *record)
{
	static const char blanks[] = "                "; /* the kernel aligns names so */
	int tid = tep.pid(handle, record), flags = tep.flags(handle, record);
	const char *comm = tid == 0 ? "<idle>" : tep.comm(handle, tid);
	size_t length = comm != NULL ? strnlen(comm, FSL_SCHED_COMM_MAX) : 0;
	put(writer, blanks, sizeof(blanks) - 1 - length);
	put(writer, comm, length);
	put(writer, "-", 1);
	put_number(writer, tid);
	put_text(writer, " [");
	put_digits(writer, (uint64_t)record->cpu, 3);
	put_text(writer, (flags & IN_HARD_IRQ) != 0   ? "] ..h.. "
			 : (flags & IN_SOFT_IRQ) != 0 ? "] ..s.. "
						      : "] ..... ");
	put_stamp(writer, record->ts);
	put_text(writer, ": ");
}

static int write_record(struct tracecmd_input *input, struct tep_record *record, int cpu,
			void *context)
{
	struct writer *writer = context;
	struct tep_handle *handle = tracecmd.tep(input);
	(void)cpu;
	if (record->missed_events != 0) {
		put_text(writer, "CPU:");
		put_number(writer, record->cpu);
		put_text(writer, " [LOST ");
		if (record->missed_events > 0) {
			put_number(writer, record->missed_events);
			put(writer, " ", 1);
		}
		put_text(writer, "EVENTS]");
		end_line(writer);
	}
	const struct kind *kind = kind_of(writer, handle, tep.type(handle, record));
	if (record->size < 0 || !kind->is_known) {
		return 0;
	}
	put_begin(writer, handle, record);
	put_text(writer, kind->name);
	put(writer, ": ", 2);
	for (size_t p = 0; kind->row != NULL && kind->row->parts[p].text != NULL; p++) {
		if (kind->fields[p] != NULL) {
			put_field(writer, &kind->row->parts[p], kind->fields[p], record);
		}
	}
	if (kind->has_action) {
		put_action(writer, kind->fields[0], record);
	}
	end_line(writer);
	return writer->is_unwanted;
}

/* Ends the look with the first switch. */
static int find_switch(struct tracecmd_input *input, struct tep_record *record, int cpu,
		       void *context)
{
	struct tep_handle *handle = tracecmd.tep(input);
	const struct tep_event *event = tep.find(handle, tep.type(handle, record));
	bool *has_switches = context;
	(void)cpu;
	*has_switches = event != NULL && strcmp(event->name, "sched_switch") == 0;
	return *has_switches;
}

/* The first buffer with switches: -1, the main one, or the number of an instance. The buffers are
 * read up to there. */
static int choose_buffer(struct tracecmd_input *main)
{
	int n = tracecmd.n_instances(main);
	bool has_switches = false;
	for (int i = -1; i < n; i++) {
		struct tracecmd_input *own = i < 0 ? main : tracecmd.instance(main, i);
		if (own != NULL) {
			(void)tracecmd.iterate(&own, 1, find_switch, &has_switches);
		}
		if (has_switches) {
			return i;
		}
	}
	return -1;
}

/* Sum of the numbers behind "KEY: " at begins of lines in [@text, @end). */
static uint64_t sum_of(const char *text, const char *end, const char *key)
{
	size_t length = strlen(key);
	uint64_t sum = 0;
	while (text < end) {
		if ((size_t)(end - text) > length && memcmp(text, key, length) == 0) {
			sum += strtoull(text + length, NULL, 10);
		}
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		text = stop != NULL ? stop + 1 : end;
	}
	return sum;
}

/* The part of the statistics that is about the buffer: "Buffer: NAME" begins one. */
static void write_entries(struct writer *writer, struct tracecmd_input *main, const char *name)
{
	static const char heading[] = "\nBuffer: ";
	const char *stats = hidden.stats != NULL ? hidden.stats(main) : NULL;
	while (stats != NULL && name != NULL) {
		stats = strstr(stats, heading);
		stats = stats != NULL ? stats + sizeof(heading) - 1 : NULL;
		size_t length = strlen(name);
		if (stats != NULL && strncmp(stats, name, length) == 0 && stats[length] == '\n') {
			break;
		}
	}
	put_text(writer, "#");
	if (stats != NULL) {
		const char *next = strstr(stats, heading);
		const char *end = next != NULL ? next + 1 : stats + strlen(stats);
		uint64_t n_kept =
			sum_of(stats, end, "entries: ") + sum_of(stats, end, "read events: ");
		uint64_t n_lost = sum_of(stats, end, "overrun: ") +
				  sum_of(stats, end, "commit overrun: ") +
				  sum_of(stats, end, "dropped events: ");
		put_text(writer, " entries-in-buffer/entries-written: ");
		put_digits(writer, n_kept, 1);
		put(writer, "/", 1);
		put_digits(writer, n_kept + n_lost, 1);
	}
	put_text(writer, " #P:");
	put_number(writer, tep.n_cpus(tracecmd.tep(main)));
	end_line(writer);
}

/* The library knows the clock of the main buffer alone. */
static void write_header(struct writer *writer, struct tracecmd_input *main, const char *name)
{
	static const char *const no_times[] = {"counter", "uptime", "x86-tsc", "ppc-tb"};
	const char *clock = hidden.clock != NULL && name == NULL ? hidden.clock(main) : NULL;
	put_text(writer, "# tracer: nop");
	end_line(writer);
	if (clock != NULL) {
		put_text(writer, "# clock: ");
		put(writer, clock, strnlen(clock, TEXT_MAX));
		end_line(writer);
	}
	for (size_t i = 0; clock != NULL && i < sizeof(no_times) / sizeof(no_times[0]); i++) {
		writer->counts |= strcmp(clock, no_times[i]) == 0;
	}
	write_entries(writer, main, name);
}

/* Opens the file anew if the choice of a buffer has read of it. NULL: the library refuses. */
static struct tracecmd_input *open_file(const char *path, int *buffer)
{
	struct tracecmd_input *main = tracecmd.open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	*buffer = -1;
	if (main != NULL && tracecmd.n_instances(main) > 0) {
		*buffer = choose_buffer(main);
		tracecmd.close(main);
		main = tracecmd.open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	}
	return main;
}

enum fsl_trace_dat_end fsl_trace_dat_write(const char *path, int fd)
{
	static struct writer writer;
	int buffer = -1;
	writer.fd = fd;
	tracecmd.set_loglevel(TEP_LOG_NONE);
	struct tracecmd_input *main = open_file(path, &buffer), *own = main;
	if (main != NULL && buffer >= 0) {
		own = tracecmd.instance(main, buffer);
	}
	if (own == NULL) {
		return FSL_TRACE_DAT_REFUSED;
	}
	write_header(&writer, main, buffer >= 0 ? tracecmd.instance_name(main, buffer) : NULL);
	int code = tracecmd.iterate(&own, 1, write_record, &writer);
	flush(&writer);
	if (writer.is_unwanted) {
		return FSL_TRACE_DAT_UNWANTED;
	}
	return code < 0 ? FSL_TRACE_DAT_REFUSED : FSL_TRACE_DAT_DONE;
}

#else

bool fsl_trace_dat_load(void)
{
	return false;
}

enum fsl_trace_dat_end fsl_trace_dat_write(const char *path, int fd)
{
	(void)path;
	(void)fd;
	return FSL_TRACE_DAT_REFUSED;
}

#endif
