/*
 * Packets of Perfetto with the kernel's events, some for each CPU. Numbers of fields are those of
 * perfetto_trace.proto and ftrace_event.proto. Bundles have no clock of their own, so their times
 * are those of the file.
 */
#include "report/trace/ftrace_bundles.h"

#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "report/trace/protobuf_put.h"
#include "report/trace/track_text.h"
#include "source/ftrace/merge.h"

/* Fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_BUNDLE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_SEQUENCE = 10,
	PACKET_MACHINE = 98,
	CLOCKS_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_LOST = 3,
	EVENT_TIME = 1,
	EVENT_PID = 2,
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID = 2,
	SWITCH_PREV_PRIO = 3,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_COMM = 5,
	SWITCH_NEXT_PID = 6,
	SWITCH_NEXT_PRIO = 7,
	WAKEUP_COMM = 1,
	WAKEUP_PID = 2,
	WAKEUP_PRIO = 3,
	WAKEUP_SUCCESS = 4,
	WAKEUP_CPU = 5,
	IRQ_NUMBER = 1,
	IRQ_NAME = 2,
	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	PROCESS_PID = 1,
	PROCESS_NAME = 3,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_PROCESS = 3,
};

enum {
	SEQUENCE = 2,           /* the tracks are the packets of sequence 1 */
	BUNDLE_BYTES = 1 << 13, /* a bundle with so much is written */
	/* An event takes less: three texts, each with its bytes replaced, and ten numbers. */
	EVENT_BYTES = 1 << 10,
	HEAD_BYTES = 64, /* in front of a bundle and behind it */
	CPUS_MAX = 1024, /* of a host; viewers refuse the whole file if it has a greater number */
	CLOCK_REALTIME = 1,
	CLOCK_BOOTTIME = 6,
};
_Static_assert((int)FSL_TRACK_CLEAN_BYTES *((int)FSL_SCHED_TEXT_MAX + 1) + (int)HEAD_BYTES +
			       20 * (int)VARINT_MAX <
		       (int)EVENT_BYTES,
	       "an event fits");

/* Field of an event that holds its message; 0: the event is left out. */
static const uint32_t event_fields[FSL_SCHED_KINDS_N] = {
	[FSL_SCHED_SWITCH] = 4,         [FSL_SCHED_WAKEUP] = 17,       [FSL_SCHED_WAKING] = 20,
	[FSL_SCHED_WAKEUP_NEW] = 114,   [FSL_SCHED_IRQ_ENTRY] = 36,    [FSL_SCHED_IRQ_EXIT] = 37,
	[FSL_SCHED_SOFTIRQ_ENTRY] = 24, [FSL_SCHED_SOFTIRQ_EXIT] = 25,
};

/* Why a task left its CPU, as bits. Readers take those of Linux 4.4 if a file does not tell its
 * kernel. R is 0. */
static const struct {
	char letter;
	uint32_t bits;
} states[] = {
	{'S', 0x1},  {'D', 0x2},   {'T', 0x4},   {'t', 0x8}, {'X', 0x10},
	{'Z', 0x20}, {'P', 0x200}, {'I', 0x402}, /* idle: uninterruptible, and no load */
};

/* Events of a CPU that are not written yet. */
struct bundle {
	char *bytes; /* owned; NULL: there was none yet */
	size_t n, capacity;
	bool is_lost; /* events before the first one are */
};

struct bundles {
	struct fsl_track_output *output;
	const struct fsl_kernel_tracks *source;
	int64_t base_ns;
	struct bundle *items; /* [n_items], by CPU */
	size_t n_items, capacity;
};

static char *write_text(char *at, uint32_t field, const char *text)
{
	char clean[FSL_TRACK_CLEAN_BYTES * (FSL_SCHED_TEXT_MAX + 1)];
	size_t n = fsl_track_text_clean(clean, text);
	at = write_tag(at, field, WIRE_BYTES);
	at += make_varint(at, n);
	memcpy(at, clean, n);
	return at + n;
}

/* A text of the trace, with a bound and without an end. */
static char *write_bounded(char *at, uint32_t field, const struct fsl_sched_text *text)
{
	char ended[FSL_SCHED_TEXT_MAX + 1];
	(void)snprintf(ended, sizeof(ended), "%.*s", (int)text->length, text->at);
	return write_text(at, field, ended);
}

/* Numbers below 0 take ten bytes, as int32 has it. */
static char *write_int(char *at, uint32_t field, int64_t value)
{
	return write_varint(at, field, (uint64_t)value);
}

static char *write_switch(char *at, const struct fsl_sched_event *event)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		bits |= states[i].letter == event->state ? states[i].bits : 0;
	}
	at = write_bounded(at, SWITCH_PREV_COMM, &event->task.comm);
	at = write_int(at, SWITCH_PREV_PID, event->task.tid);
	at = write_int(at, SWITCH_PREV_PRIO, event->prio);
	at = write_int(at, SWITCH_PREV_STATE, bits);
	at = write_bounded(at, SWITCH_NEXT_COMM, &event->other.comm);
	at = write_int(at, SWITCH_NEXT_PID, event->other.tid);
	return write_int(at, SWITCH_NEXT_PRIO, event->other_prio);
}

static char *write_wakeup(char *at, const struct fsl_sched_event *event)
{
	at = write_bounded(at, WAKEUP_COMM, &event->task.comm);
	at = write_int(at, WAKEUP_PID, event->task.tid);
	at = write_int(at, WAKEUP_PRIO, event->prio);
	at = write_int(at, WAKEUP_SUCCESS, 1);
	return event->to_cpu >= 0 ? write_int(at, WAKEUP_CPU, event->to_cpu) : at;
}

static char *write_irq(char *at, const struct fsl_sched_event *event)
{
	at = write_int(at, IRQ_NUMBER, event->value);
	return event->kind == FSL_SCHED_IRQ_ENTRY ? write_bounded(at, IRQ_NAME, &event->text) : at;
}

static char *write_payload(char *at, const struct fsl_sched_event *event)
{
	return event->kind == FSL_SCHED_SWITCH     ? write_switch(at, event)
	       : event->kind < FSL_SCHED_IRQ_ENTRY ? write_wakeup(at, event)
						   : write_irq(at, event);
}

/* Writes a packet with one message. */
static enum fsl_status put_packet(struct bundles *b, uint32_t field, const char *bytes, size_t n,
				  struct fsl_error *err)
{
	char head[HEAD_BYTES];
	char *at = write_varint(head, PACKET_SEQUENCE, SEQUENCE);
	if (b->source->number > 0) {
		at = write_varint(at, PACKET_MACHINE, b->source->number);
	}
	at = write_tag(at, field, WIRE_BYTES);
	at += make_varint(at, n);
	size_t n_head = (size_t)(at - head);
	FSL_TRY(fsl_track_output_reserve(b->output, HEAD_BYTES + n_head + n, err));
	char *out = write_tag(b->output->block + b->output->n, TRACE_PACKET, WIRE_BYTES);
	out += make_varint(out, n_head + n);
	b->output->n = (size_t)(out - b->output->block);
	fsl_track_output_put(b->output, head, n_head);
	fsl_track_output_put(b->output, bytes, n);
	return FSL_OK;
}

/* The clock of a further machine is that of the file: both have the same time of day. */
static enum fsl_status put_clocks(struct bundles *b, struct fsl_error *err)
{
	const uint64_t clocks[][2] = {{CLOCK_BOOTTIME, 1},
				      {CLOCK_REALTIME, (uint64_t)b->base_ns + 1}};
	char message[HEAD_BYTES], clock[HEAD_BYTES / 2];
	char *at = message;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		char *end = write_varint(clock, CLOCK_ID, clocks[i][0]);
		end = write_varint(end, CLOCK_TIME, clocks[i][1]);
		at = write_tag(at, CLOCKS_CLOCK, WIRE_BYTES);
		at += make_varint(at, (size_t)(end - clock));
		memcpy(at, clock, (size_t)(end - clock));
		at += end - clock;
	}
	return put_packet(b, PACKET_CLOCKS, message, (size_t)(at - message), err);
}

/* Writes the events of a CPU, and begins anew. */
static enum fsl_status flush(struct bundles *b, size_t cpu, struct fsl_error *err)
{
	struct bundle *bundle = &b->items[cpu];
	if (bundle->n == 0) {
		return FSL_OK;
	}
	char *at = write_varint(bundle->bytes + bundle->n, BUNDLE_CPU, cpu);
	if (bundle->is_lost) {
		at = write_varint(at, BUNDLE_LOST, 1);
	}
	size_t n = (size_t)(at - bundle->bytes);
	bundle->n = 0;
	bundle->is_lost = false;
	return put_packet(b, PACKET_BUNDLE, bundle->bytes, n, err);
}

static enum fsl_status add_event(struct bundles *b, const struct fsl_sched_event *event,
				 uint64_t time_ns, struct fsl_error *err)
{
	char payload[EVENT_BYTES], message[EVENT_BYTES + HEAD_BYTES];
	size_t n_payload = (size_t)(write_payload(payload, event) - payload);
	char *at = write_varint(message, EVENT_TIME, time_ns);
	at = write_int(at, EVENT_PID, event->tid);
	at = write_tag(at, event_fields[event->kind], WIRE_BYTES);
	at += make_varint(at, n_payload);
	memcpy(at, payload, n_payload);
	size_t n = (size_t)(at - message) + n_payload;
	struct bundle *bundle = &b->items[event->cpu];
	FSL_TRY(FSL_GROW(bundle->bytes, bundle->capacity, bundle->n + n + 2 * HEAD_BYTES, err));
	at = write_tag(bundle->bytes + bundle->n, BUNDLE_EVENT, WIRE_BYTES);
	at += make_varint(at, n);
	memcpy(at, message, n);
	bundle->n = (size_t)(at - bundle->bytes) + n;
	return bundle->n >= BUNDLE_BYTES ? flush(b, (size_t)event->cpu, err) : FSL_OK;
}

/* Whether the tracks show the time; *out counts from the begin of the file. */
static bool is_shown(const struct bundles *b, int64_t time_ns, uint64_t *out)
{
	const struct fsl_kernel_tracks *source = b->source;
	int64_t since_ns = 0;
	bool is_inside = time_ns >= source->begin_ns && time_ns <= source->end_ns;
	if (!is_inside || __builtin_add_overflow(time_ns, source->offset_ns, &since_ns) ||
	    __builtin_sub_overflow(since_ns, b->base_ns, &since_ns) || since_ns < 0) {
		return false;
	}
	*out = (uint64_t)since_ns;
	return true;
}

static enum fsl_status take(struct bundles *b, const struct fsl_sched_event *event,
			    struct fsl_error *err)
{
	uint64_t time_ns = 0;
	if (event->cpu < 0 || event->cpu >= CPUS_MAX ||
	    !fsl_kernel_tracks_draw(b->source, event->cpu)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(b->items, b->capacity, (size_t)event->cpu + 1, err));
	while (b->n_items <= (size_t)event->cpu) {
		b->items[b->n_items++] = (struct bundle){0};
	}
	if (event->kind == FSL_SCHED_LOST) {
		FSL_TRY(flush(b, (size_t)event->cpu, err));
		b->items[event->cpu].is_lost = true;
		return FSL_OK;
	}
	return event_fields[event->kind] != 0 && is_shown(b, event->time_ns, &time_ns)
		       ? add_event(b, event, time_ns, err)
		       : FSL_OK;
}

static enum fsl_status take_all(struct bundles *b, struct fsl_error *err)
{
	struct fsl_ftrace_merge *merge = NULL;
	const struct fsl_sched_event *event = NULL;
	FSL_TRY(fsl_ftrace_merge_open(&merge, b->source->paths, b->source->n_paths,
				      b->source->sorts, err));
	enum fsl_status status = fsl_ftrace_merge_next(merge, &event, err);
	while (status == FSL_OK && event != NULL && b->output->error == 0) {
		status = take(b, event, err);
		if (status == FSL_OK) {
			status = fsl_ftrace_merge_next(merge, &event, err);
		}
	}
	fsl_ftrace_merge_close(merge);
	for (size_t cpu = 0; cpu < b->n_items && status == FSL_OK; cpu++) {
		status = flush(b, cpu, err);
	}
	return status;
}

/* Process of a thread, if the trace tells it or if it is that of a rank; else negative. */
static int32_t process_of(const struct fsl_sched *sched, const struct fsl_sched_thread *thread)
{
	return thread->tgid >= 0 || thread->rank < 0 ? thread->tgid
						     : sched->ranks[thread->rank].pid;
}

/* The thread, and its process if it is the main thread of one. */
static char *write_thread(char *at, const struct fsl_sched *sched,
			  const struct fsl_sched_thread *thread)
{
	char message[EVENT_BYTES], name[64];
	int32_t process = process_of(sched, thread);
	if (process == thread->tid) {
		int n = snprintf(name, sizeof(name), "%s", thread->comm);
		if (thread->rank >= 0) {
			(void)snprintf(name + n, sizeof(name) - (size_t)n, " (rank %d)",
				       (int)sched->ranks[thread->rank].rank);
		}
		char *end = write_int(message, PROCESS_PID, process);
		end = write_text(end, PROCESS_NAME, name);
		at = write_tag(at, TREE_PROCESS, WIRE_BYTES);
		at += make_varint(at, (size_t)(end - message));
		memcpy(at, message, (size_t)(end - message));
		at += end - message;
	}
	char *end = write_int(message, THREAD_TID, thread->tid);
	end = write_text(end, THREAD_NAME, thread->comm);
	end = process >= 0 ? write_int(end, THREAD_PROCESS, process) : end;
	at = write_tag(at, TREE_THREAD, WIRE_BYTES);
	at += make_varint(at, (size_t)(end - message));
	memcpy(at, message, (size_t)(end - message));
	return at + (end - message);
}

static enum fsl_status put_threads(struct bundles *b, struct fsl_error *err)
{
	char tree[BUNDLE_BYTES + 2 * EVENT_BYTES];
	const struct fsl_sched *sched = &b->source->intervals->sched;
	char *at = tree;
	for (size_t i = 0; i < sched->n_threads; i++) {
		if (sched->threads[i].tid > 0) {
			at = write_thread(at, sched, &sched->threads[i]);
		}
		if (at - tree >= BUNDLE_BYTES || (i + 1 == sched->n_threads && at > tree)) {
			FSL_TRY(put_packet(b, PACKET_PROCESS_TREE, tree, (size_t)(at - tree), err));
			at = tree;
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_ftrace_bundles_add(struct fsl_track_file *file,
				       const struct fsl_kernel_tracks *source,
				       struct fsl_error *err)
{
	struct bundles b = {.output = file->output, .source = source, .base_ns = file->base_ns};
	enum fsl_status status = source->number > 0 ? put_clocks(&b, err) : FSL_OK;
	FSL_THEN(status, take_all(&b, err));
	FSL_THEN(status, put_threads(&b, err));
	for (size_t cpu = 0; cpu < b.n_items; cpu++) {
		fsl_free(b.items[cpu].bytes);
	}
	fsl_free(b.items);
	return status;
}
