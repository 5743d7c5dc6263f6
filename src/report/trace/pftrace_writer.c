/*
 * Perfetto's own form: a sequence of TracePacket messages of track events. Numbers of fields are
 * those of perfetto_trace.proto. Names are interned: a text stands in the file once for each of its
 * uses (name, category, key, value). Packets stand in the order of their times, so the end of a
 * slice waits in a heap until events that are earlier have been written.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "report/trace/track_writer.h"

/* Fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	CLOCKS_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	PROCESS_LABELS = 8,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT_NAME = 6,
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_VALUE = 30,
	EVENT_DOUBLE_VALUE = 44,
	EVENT_FLOW = 47,
	EVENT_LAST_FLOW = 48,
	ANNOTATION_KEY = 1,
	ANNOTATION_NUMBER = 4,
	ANNOTATION_TEXT = 17,
	INTERNED_ID = 1,
	INTERNED_TEXT = 2,
};

/* Values of fields. */
enum {
	SEQUENCE = 1, /* all packets come from one writer */
	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	CLOCK_REALTIME = 1,
	CLOCK_BOOTTIME = 6, /* the clock that viewers count in */
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

/* Uses of a text, each with ids of its own. */
enum use { USE_CATEGORY, USE_NAME, USE_KEY, USE_VALUE, USES_N };
static const uint32_t interned_fields[USES_N] = {1, 2, 3, 29};

enum { VARINT_MAX = 10, MESSAGE_BYTES = 1 << 10, REPLACEMENT_BYTES = 3 };

/* A message under construction. */
struct message {
	char *bytes;
	size_t n, capacity;
};

/* The end of a slice that has begun. */
struct pending {
	int64_t end_ns;
	uint64_t turn; /* later slices on a lane lie inside earlier ones, and end first */
	uint32_t tid;
};

struct fsl_track_writing {
	struct fsl_track_output *output;
	const struct fsl_strpool *texts;
	uint8_t *is_told; /* by id of a text: one bit for each use */
	size_t n_told, told_capacity;
	struct message event, interned, nested;
	struct pending *heap;
	size_t n_heap, heap_capacity;
	uint64_t turn;
	int64_t base_ns;
	bool has_begun; /* the first event carries a flag */
};

static inline uint64_t process_uuid(uint32_t pid)
{
	return 2 * (uint64_t)pid + 1;
}

static inline uint64_t track_uuid(uint32_t tid)
{
	return 2 * (uint64_t)tid;
}

static inline size_t make_varint(char *out, uint64_t value)
{
	size_t n = 0;
	while (value >= 0x80) {
		out[n++] = (char)(value | 0x80);
		value >>= 7;
	}
	out[n++] = (char)value;
	return n;
}

static enum fsl_status reserve(struct message *message, size_t n_bytes, struct fsl_error *err)
{
	return FSL_GROW(message->bytes, message->capacity, message->n + n_bytes, err);
}

/* The functions below need room for 2 * VARINT_MAX bytes, and the text. */
static inline void add_varint(struct message *message, uint32_t field, uint64_t value)
{
	message->n += make_varint(message->bytes + message->n, field << 3 | WIRE_VARINT);
	message->n += make_varint(message->bytes + message->n, value);
}

static inline void add_fixed64(struct message *message, uint32_t field, uint64_t value)
{
	message->n += make_varint(message->bytes + message->n, field << 3 | WIRE_FIXED64);
	for (unsigned i = 0; i < 8; i++) {
		message->bytes[message->n++] = (char)(value >> 8 * i);
	}
}

static inline void add_bytes(struct message *message, uint32_t field, const char *bytes,
			     size_t n_bytes)
{
	message->n += make_varint(message->bytes + message->n, field << 3 | WIRE_BYTES);
	message->n += make_varint(message->bytes + message->n, n_bytes);
	if (n_bytes > 0) {
		memcpy(message->bytes + message->n, bytes, n_bytes);
		message->n += n_bytes;
	}
}

/* A text; U+FFFD stands for broken bytes. Makes room. */
static enum fsl_status add_text(struct message *message, uint32_t field, const char *text,
				struct fsl_error *err)
{
	size_t length = strlen(text), n_broken = 0;
	for (const char *at = text; *at != '\0';) {
		size_t n = fsl_utf8_sequence(at);
		n_broken += n == 0;
		at += n > 0 ? n : 1;
	}
	size_t n_bytes = length + (REPLACEMENT_BYTES - 1) * n_broken;
	FSL_TRY(reserve(message, 2 * VARINT_MAX + n_bytes, err));
	message->n += make_varint(message->bytes + message->n, field << 3 | WIRE_BYTES);
	message->n += make_varint(message->bytes + message->n, n_bytes);
	while (*text != '\0') {
		size_t n = fsl_utf8_sequence(text);
		size_t n_put = n > 0 ? n : REPLACEMENT_BYTES;
		memcpy(message->bytes + message->n, n > 0 ? text : "\xef\xbf\xbd", n_put);
		message->n += n_put;
		text += n > 0 ? n : 1;
	}
	return FSL_OK;
}

/* Notes the text for the packet that uses it first. */
static enum fsl_status intern(struct fsl_track_writing *w, enum use use, uint32_t id,
			      struct fsl_error *err)
{
	if (id < w->n_told && (w->is_told[id] & 1u << use) != 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(w->is_told, w->told_capacity, (size_t)id + 1, err));
	while (w->n_told <= id) {
		w->is_told[w->n_told++] = 0;
	}
	w->nested.n = 0;
	FSL_TRY(reserve(&w->nested, 2 * VARINT_MAX, err));
	add_varint(&w->nested, INTERNED_ID, (uint64_t)id + 1);
	FSL_TRY(add_text(&w->nested, INTERNED_TEXT, fsl_strpool_text(w->texts, id), err));
	FSL_TRY(reserve(&w->interned, 2 * VARINT_MAX + w->nested.n, err));
	add_bytes(&w->interned, interned_fields[use], w->nested.bytes, w->nested.n);
	w->is_told[id] |= (uint8_t)(1u << use);
	return FSL_OK;
}

/* Writes a packet with one message, w->event as the field @field. @time_ns: -1 for none. */
static enum fsl_status put_packet(struct fsl_track_writing *w, uint32_t field, int64_t time_ns,
				  struct fsl_error *err)
{
	char head[8 * VARINT_MAX];
	struct message front = {.bytes = head, .capacity = sizeof(head)};
	struct fsl_track_output *output = w->output;
	size_t n_most = w->event.n + w->interned.n + sizeof(head) + 4 * VARINT_MAX;
	FSL_TRY(fsl_track_output_reserve(output, n_most, err));
	if (time_ns >= 0) {
		add_varint(&front, PACKET_TIME, (uint64_t)time_ns);
	}
	add_varint(&front, PACKET_SEQUENCE, SEQUENCE);
	if (field == PACKET_EVENT) {
		add_varint(&front, PACKET_FLAGS,
			   w->has_begun ? FLAG_NEEDS_STATE : FLAG_CLEARED | FLAG_NEEDS_STATE);
		w->has_begun = true;
	}
	front.n += make_varint(front.bytes + front.n, field << 3 | WIRE_BYTES);
	front.n += make_varint(front.bytes + front.n, w->event.n);
	char behind[2 * VARINT_MAX];
	size_t n_behind = 0;
	if (w->interned.n > 0) {
		n_behind = make_varint(behind, PACKET_INTERNED << 3 | WIRE_BYTES);
		n_behind += make_varint(behind + n_behind, w->interned.n);
	}
	char outer[2 * VARINT_MAX];
	size_t n_outer = make_varint(outer, TRACE_PACKET << 3 | WIRE_BYTES);
	n_outer += make_varint(outer + n_outer, front.n + w->event.n + n_behind + w->interned.n);
	fsl_track_output_put(output, outer, n_outer);
	fsl_track_output_put(output, front.bytes, front.n);
	fsl_track_output_put(output, w->event.bytes, w->event.n);
	if (w->interned.n > 0) {
		fsl_track_output_put(output, behind, n_behind);
		fsl_track_output_put(output, w->interned.bytes, w->interned.n);
	}
	w->event.n = w->interned.n = 0;
	return FSL_OK;
}

/* One reading of two clocks: viewers then show the time of day. Neither reading is 0. */
static enum fsl_status put_clocks(struct fsl_track_writing *w, struct fsl_error *err)
{
	const uint64_t clocks[][2] = {{CLOCK_BOOTTIME, 1},
				      {CLOCK_REALTIME, (uint64_t)w->base_ns + 1}};
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		w->nested.n = 0;
		add_varint(&w->nested, CLOCK_ID, clocks[i][0]);
		add_varint(&w->nested, CLOCK_TIME, clocks[i][1]);
		add_bytes(&w->event, CLOCKS_CLOCK, w->nested.bytes, w->nested.n);
	}
	return put_packet(w, PACKET_CLOCKS, 1, err);
}

static enum fsl_status begin(struct fsl_track_writing **out, struct fsl_track_output *output,
			     const struct fsl_strpool *texts, int64_t base_ns,
			     struct fsl_error *err)
{
	struct fsl_track_writing *w = NULL;
	FSL_TRY(FSL_NEW(w, 1, "writers", err));
	*w = (struct fsl_track_writing){.output = output, .texts = texts, .base_ns = base_ns};
	*out = w;
	FSL_TRY(reserve(&w->event, MESSAGE_BYTES, err));
	FSL_TRY(reserve(&w->nested, MESSAGE_BYTES, err));
	return put_clocks(w, err);
}

static enum fsl_status process(struct fsl_track_writing *w, const struct fsl_track_process *process,
			       struct fsl_error *err)
{
	struct message *nested = &w->nested;
	nested->n = 0;
	add_varint(nested, PROCESS_PID, process->pid);
	FSL_TRY(add_text(nested, PROCESS_NAME, fsl_strpool_text(w->texts, process->name), err));
	if (process->label != FSL_STR_NONE) {
		FSL_TRY(add_text(nested, PROCESS_LABELS, fsl_strpool_text(w->texts, process->label),
				 err));
	}
	FSL_TRY(reserve(&w->event, 4 * VARINT_MAX + nested->n, err));
	add_varint(&w->event, TRACK_UUID, process_uuid(process->pid));
	add_bytes(&w->event, TRACK_PROCESS, nested->bytes, nested->n);
	return put_packet(w, PACKET_TRACK, -1, err);
}

static enum fsl_status track(struct fsl_track_writing *w, const struct fsl_track *track,
			     struct fsl_error *err)
{
	struct message *nested = &w->nested;
	const char *name = fsl_strpool_text(w->texts, track->name);
	nested->n = 0;
	if (track->is_counter) {
		FSL_TRY(add_text(nested, COUNTER_UNIT_NAME, fsl_strpool_text(w->texts, track->unit),
				 err));
		FSL_TRY(add_text(&w->event, TRACK_NAME, name, err));
	} else {
		add_varint(nested, THREAD_PID, track->pid);
		add_varint(nested, THREAD_TID, track->tid);
		FSL_TRY(add_text(nested, THREAD_NAME, name, err));
	}
	FSL_TRY(reserve(&w->event, 6 * VARINT_MAX + nested->n, err));
	add_varint(&w->event, TRACK_UUID, track_uuid(track->tid));
	add_varint(&w->event, TRACK_PARENT, process_uuid(track->pid));
	add_bytes(&w->event, track->is_counter ? TRACK_COUNTER : TRACK_THREAD, nested->bytes,
		  nested->n);
	return put_packet(w, PACKET_TRACK, -1, err);
}

static bool ends_before(const struct pending *a, const struct pending *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->turn > b->turn;
}

static enum fsl_status push(struct fsl_track_writing *w, const struct pending *added,
			    struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(w->heap, w->heap_capacity, w->n_heap + 1, err));
	size_t at = w->n_heap++;
	while (at > 0 && ends_before(added, &w->heap[(at - 1) / 2])) {
		w->heap[at] = w->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	w->heap[at] = *added;
	return FSL_OK;
}

static struct pending pop(struct fsl_track_writing *w)
{
	struct pending first = w->heap[0], moved = w->heap[--w->n_heap];
	size_t at = 0;
	for (size_t child = 1; child < w->n_heap; child = 2 * at + 1) {
		child += child + 1 < w->n_heap && ends_before(&w->heap[child + 1], &w->heap[child]);
		if (!ends_before(&w->heap[child], &moved)) {
			break;
		}
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = moved;
	return first;
}

/* Ends the slices that are over by @until_ns. */
static enum fsl_status put_ends(struct fsl_track_writing *w, int64_t until_ns,
				struct fsl_error *err)
{
	while (w->n_heap > 0 && w->heap[0].end_ns <= until_ns) {
		struct pending ended = pop(w);
		add_varint(&w->event, EVENT_TYPE, TYPE_END);
		add_varint(&w->event, EVENT_TRACK, track_uuid(ended.tid));
		FSL_TRY(put_packet(w, PACKET_EVENT, ended.end_ns - w->base_ns, err));
	}
	return FSL_OK;
}

static void add_counter(struct message *message, const struct fsl_track_event *event)
{
	add_varint(message, EVENT_TYPE, TYPE_COUNTER);
	add_varint(message, EVENT_TRACK, track_uuid(event->track->tid));
	if (event->track->has_decimals) {
		double value = (double)event->value / 1000.0;
		uint64_t bits = 0;
		memcpy(&bits, &value, sizeof(bits));
		add_fixed64(message, EVENT_DOUBLE_VALUE, bits);
	} else {
		add_varint(message, EVENT_VALUE, (uint64_t)event->value);
	}
}

static enum fsl_status add_arg(struct fsl_track_writing *w, const struct fsl_track_arg *arg,
			       struct fsl_error *err)
{
	char bytes[4 * VARINT_MAX];
	struct message annotation = {.bytes = bytes, .capacity = sizeof(bytes)};
	FSL_TRY(intern(w, USE_KEY, arg->key, err));
	add_varint(&annotation, ANNOTATION_KEY, (uint64_t)arg->key + 1);
	if (arg->text != FSL_STR_NONE) {
		FSL_TRY(intern(w, USE_VALUE, arg->text, err));
		add_varint(&annotation, ANNOTATION_TEXT, (uint64_t)arg->text + 1);
	} else {
		add_varint(&annotation, ANNOTATION_NUMBER, (uint64_t)arg->number);
	}
	add_bytes(&w->event, EVENT_ANNOTATION, annotation.bytes, annotation.n);
	return FSL_OK;
}

static void add_flow(struct message *message, enum fsl_track_flow flow, uint64_t id)
{
	if (flow != FSL_FLOW_NONE) {
		add_fixed64(message, flow == FSL_FLOW_ENDS ? EVENT_LAST_FLOW : EVENT_FLOW, id);
	}
}

/* The texts, arguments and flows of a slice or instant. */
static enum fsl_status add_slice(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	bool is_slice = event->end_ns > event->begin_ns;
	FSL_TRY(intern(w, USE_NAME, event->name, err));
	FSL_TRY(intern(w, USE_CATEGORY, event->category, err));
	add_varint(&w->event, EVENT_TYPE, is_slice ? TYPE_BEGIN : TYPE_INSTANT);
	add_varint(&w->event, EVENT_TRACK, track_uuid(event->track->tid));
	add_varint(&w->event, EVENT_NAME, (uint64_t)event->name + 1);
	add_varint(&w->event, EVENT_CATEGORY, (uint64_t)event->category + 1);
	for (uint32_t i = 0; i < event->n_args; i++) {
		FSL_TRY(add_arg(w, &event->args[i], err));
	}
	if (is_slice) {
		add_flow(&w->event, event->launch, event->launch_id);
		add_flow(&w->event, event->meeting, event->meeting_id);
	}
	return FSL_OK;
}

static enum fsl_status event(struct fsl_track_writing *w, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	FSL_TRY(put_ends(w, event->begin_ns, err));
	FSL_TRY(reserve(&w->event, MESSAGE_BYTES, err));
	if (event->track->is_counter) {
		add_counter(&w->event, event);
		return put_packet(w, PACKET_EVENT, event->begin_ns - w->base_ns, err);
	}
	FSL_TRY(add_slice(w, event, err));
	FSL_TRY(put_packet(w, PACKET_EVENT, event->begin_ns - w->base_ns, err));
	const struct pending added = {event->end_ns, w->turn++, event->track->tid};
	return event->end_ns > event->begin_ns ? push(w, &added, err) : FSL_OK;
}

static enum fsl_status finish(struct fsl_track_writing *w, struct fsl_error *err)
{
	return put_ends(w, INT64_MAX, err);
}

static void end(struct fsl_track_writing *w)
{
	if (w != NULL) {
		fsl_free(w->event.bytes);
		fsl_free(w->interned.bytes);
		fsl_free(w->nested.bytes);
		fsl_free(w->is_told);
		fsl_free(w->heap);
	}
	fsl_free(w);
}

const struct fsl_track_writer fsl_track_writer_pftrace = {
	.name = "pftrace",
	.begin = begin,
	.process = process,
	.track = track,
	.event = event,
	.finish = finish,
	.end = end,
};
