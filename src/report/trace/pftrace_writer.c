/*
 * Perfetto's own form: a sequence of TracePacket messages of track events. Numbers of fields are
 * those of perfetto_trace.proto. Names are interned: a text stands in the file once for each of its
 * uses (name, category, key, value). Packets stand in the order of their times, so the end of a
 * slice waits in a heap until events that are earlier have been written.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "report/trace/protobuf_put.h"
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
	CLOCKS_PRIMARY = 2,
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
	/* Added to ids of processes and threads: Linux has fewer than 2^22, a plan at most 2^30 and
	 * some, and viewers have 31 bits. */
	BEYOND_TASKS = 1 << 29,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

/* Uses of a text, each with ids of its own. */
enum use { USE_CATEGORY, USE_NAME, USE_KEY, USE_VALUE, USES_N };
static const uint32_t interned_fields[USES_N] = {1, 2, 3, 29};

enum {
	MESSAGE_BYTES = 1 << 10, /* a slice with all its arguments and flows takes less */
	REPLACEMENT_BYTES = 3,
	/* A message up to this length is copied with so many bytes, which takes no call; its
	 * buffer and the output have the room. */
	COPIED_BYTES = 96,
	HEAD_BYTES = 32, /* of a packet in front of its message, at most */
};
_Static_assert((int)COPIED_BYTES <= (int)MESSAGE_BYTES, "short messages are copied as a whole");

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
	uint32_t id_shift; /* of processes and threads */
	bool has_begun;    /* the first event carries a flag */
};

static inline uint64_t process_uuid(uint32_t pid)
{
	return 2 * (uint64_t)pid + 1;
}

static inline uint64_t track_uuid(uint32_t tid)
{
	return 2 * (uint64_t)tid;
}

/* Copies a message that is not empty; up to COPIED_BYTES can be read and written. */
static inline char *write_copy(char *at, const char *bytes, size_t n_bytes)
{
	if (n_bytes <= COPIED_BYTES) {
		memcpy(at, bytes, COPIED_BYTES);
	} else {
		memcpy(at, bytes, n_bytes);
	}
	return at + n_bytes;
}

static enum fsl_status reserve(struct message *message, size_t n_bytes, struct fsl_error *err)
{
	return FSL_GROW(message->bytes, message->capacity, message->n + n_bytes, err);
}

/* The functions below need room for 2 * VARINT_MAX bytes, and the text. */
static inline void add_varint(struct message *message, uint32_t field, uint64_t value)
{
	char *at = message->bytes + message->n;
	message->n += (size_t)(write_varint(at, field, value) - at);
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
static enum fsl_status tell(struct fsl_track_writing *w, enum use use, uint32_t id,
			    struct fsl_error *err)
{
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

static inline enum fsl_status intern(struct fsl_track_writing *w, enum use use, uint32_t id,
				     struct fsl_error *err)
{
	bool is_told = id < w->n_told && (w->is_told[id] & 1u << use) != 0;
	return is_told ? FSL_OK : tell(w, use, id, err);
}

/* Writes a packet with one message, w->event as the field @field. @time_ns: -1 for none. */
static enum fsl_status put_packet(struct fsl_track_writing *w, uint32_t field, int64_t time_ns,
				  struct fsl_error *err)
{
	struct fsl_track_output *output = w->output;
	size_t n_event = w->event.n, n_interned = w->interned.n;
	FSL_TRY(fsl_track_output_reserve(
		output, n_event + n_interned + 2 * HEAD_BYTES + COPIED_BYTES, err));
	char head[HEAD_BYTES] = {0};
	char *at = head;
	if (time_ns >= 0) {
		at = write_varint(at, PACKET_TIME, (uint64_t)time_ns);
	}
	at = write_varint(at, PACKET_SEQUENCE, SEQUENCE);
	if (field == PACKET_EVENT) {
		at = write_varint(at, PACKET_FLAGS,
				  w->has_begun ? FLAG_NEEDS_STATE
					       : FLAG_CLEARED | FLAG_NEEDS_STATE);
		w->has_begun = true;
	}
	at = write_tag(at, field, WIRE_BYTES);
	at += make_varint(at, n_event);
	size_t n_head = (size_t)(at - head);
	size_t n_behind = n_interned > 0 ? 1 + varint_bytes(n_interned) + n_interned : 0;
	char *out = write_tag(output->block + output->n, TRACE_PACKET, WIRE_BYTES);
	out += make_varint(out, n_head + n_event + n_behind);
	memcpy(out, head, HEAD_BYTES);
	out += n_head;
	out = write_copy(out, w->event.bytes, n_event);
	if (n_interned > 0) {
		out = write_tag(out, PACKET_INTERNED, WIRE_BYTES);
		out += make_varint(out, n_interned);
		memcpy(out, w->interned.bytes, n_interned);
		out += n_interned;
	}
	output->n = (size_t)(out - output->block);
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
	add_varint(&w->event, CLOCKS_PRIMARY, CLOCK_BOOTTIME);
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

static enum fsl_status begin_with_kernel(struct fsl_track_writing **out,
					 struct fsl_track_output *output,
					 const struct fsl_strpool *texts, int64_t base_ns,
					 struct fsl_error *err)
{
	FSL_TRY(begin(out, output, texts, base_ns, err));
	(*out)->id_shift = BEYOND_TASKS;
	return FSL_OK;
}

static enum fsl_status process(struct fsl_track_writing *w, const struct fsl_track_process *process,
			       struct fsl_error *err)
{
	struct message *nested = &w->nested;
	nested->n = 0;
	add_varint(nested, PROCESS_PID, process->pid + w->id_shift);
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
		add_varint(nested, THREAD_PID, track->pid + w->id_shift);
		add_varint(nested, THREAD_TID, track->tid + w->id_shift);
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
		char *at = write_varint(w->event.bytes, EVENT_TYPE, TYPE_END);
		at = write_varint(at, EVENT_TRACK, track_uuid(ended.tid));
		w->event.n = (size_t)(at - w->event.bytes);
		FSL_TRY(put_packet(w, PACKET_EVENT, ended.end_ns - w->base_ns, err));
	}
	return FSL_OK;
}

static void add_counter(struct message *message, const struct fsl_track_event *event)
{
	char *at = message->bytes;
	at = write_varint(at, EVENT_TYPE, TYPE_COUNTER);
	at = write_varint(at, EVENT_TRACK, track_uuid(event->track->tid));
	if (event->track->has_decimals) {
		double value = (double)event->value / 1000.0;
		uint64_t bits = 0;
		memcpy(&bits, &value, sizeof(bits));
		at = write_fixed64(at, EVENT_DOUBLE_VALUE, bits);
	} else {
		at = write_varint(at, EVENT_VALUE, (uint64_t)event->value);
	}
	message->n = (size_t)(at - message->bytes);
}

static inline char *write_arg(char *at, const struct fsl_track_arg *arg)
{
	bool is_text = arg->text != FSL_STR_NONE;
	uint64_t key = (uint64_t)arg->key + 1;
	uint64_t value = is_text ? (uint64_t)arg->text + 1 : (uint64_t)arg->number;
	at = write_tag(at, EVENT_ANNOTATION, WIRE_BYTES);
	*at++ = (char)(1 + varint_bytes(key) + (is_text ? 2 : 1) + varint_bytes(value));
	at = write_varint(at, ANNOTATION_KEY, key);
	return is_text ? write_varint(at, ANNOTATION_TEXT, value)
		       : write_varint(at, ANNOTATION_NUMBER, value);
}

static inline char *write_flow(char *at, enum fsl_track_flow flow, uint64_t id)
{
	if (flow == FSL_FLOW_NONE) {
		return at;
	}
	return flow == FSL_FLOW_ENDS ? write_fixed64(at, EVENT_LAST_FLOW, id)
				     : write_fixed64(at, EVENT_FLOW, id);
}

static enum fsl_status intern_all(struct fsl_track_writing *w, const struct fsl_track_event *event,
				  struct fsl_error *err)
{
	FSL_TRY(intern(w, USE_NAME, event->name, err));
	FSL_TRY(intern(w, USE_CATEGORY, event->category, err));
	for (uint32_t i = 0; i < event->n_args; i++) {
		FSL_TRY(intern(w, USE_KEY, event->args[i].key, err));
		if (event->args[i].text != FSL_STR_NONE) {
			FSL_TRY(intern(w, USE_VALUE, event->args[i].text, err));
		}
	}
	return FSL_OK;
}

/* The texts, arguments and flows of a slice or instant. */
static enum fsl_status add_slice(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	bool is_slice = event->end_ns > event->begin_ns;
	FSL_TRY(intern_all(w, event, err));
	char *at = w->event.bytes;
	at = write_varint(at, EVENT_TYPE, is_slice ? TYPE_BEGIN : TYPE_INSTANT);
	at = write_varint(at, EVENT_TRACK, track_uuid(event->track->tid));
	at = write_varint(at, EVENT_NAME, (uint64_t)event->name + 1);
	at = write_varint(at, EVENT_CATEGORY, (uint64_t)event->category + 1);
	for (uint32_t i = 0; i < event->n_args; i++) {
		at = write_arg(at, &event->args[i]);
	}
	if (is_slice) {
		at = write_flow(at, event->launch, event->launch_id);
		at = write_flow(at, event->meeting, event->meeting_id);
	}
	w->event.n = (size_t)(at - w->event.bytes);
	return FSL_OK;
}

static enum fsl_status event(struct fsl_track_writing *w, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	FSL_TRY(put_ends(w, event->begin_ns, err));
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

const struct fsl_track_writer fsl_track_writer_pftrace_with_kernel = {
	.name = "pftrace",
	.begin = begin_with_kernel,
	.process = process,
	.track = track,
	.event = event,
	.finish = finish,
	.end = end,
};
