/* Packets to events. */
#include "chrome/pftrace_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "chrome/inflate.h"
#include "chrome/pftrace_state.h"

/* Fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	DEFAULTS_EVENT = 11,
	DEFAULTS_CLOCK_ID = 58,
	EVENT_DEFAULTS_TRACK = 11,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_NAME = 5,
	EVENT_CATEGORY_ID = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_VALUE = 30,
	EVENT_REAL_VALUE = 44,
	ANNOTATION_KEY_ID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UNSIGNED = 3,
	ANNOTATION_SIGNED = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_KEY = 10,
	ANNOTATION_ENTRIES = 11,
	ANNOTATION_ITEMS = 12,
	ANNOTATION_TEXT_ID = 17,
};

enum {
	FLAG_CLEARED = 1,
	NESTED_MAX = 4, /* dictionaries in each other */
	PACKET_BYTES_MAX = FSL_LINE_BYTES_MAX - FSL_PF_HEAD_MAX,
	/* A packet may hold so much, unpacked; Perfetto puts 0.5 MB together. */
	UNPACKED_BYTES_MAX = 16 * 1024 * 1024,
};

static const double COUNTER_MAX = 9e12; /* times 10^6 fits an integer */

struct walk {
	const struct fsl_trace_listener *listener;
	struct fsl_trace_walked *out;
	struct fsl_reader *reader;
	struct fsl_pf_state state;
	struct fsl_trace_event event;
	struct fsl_inflated block; /* packets that were compressed */
	uint64_t n_packed, n_unpacked;
};

/* The parts of a packet. */
struct packet {
	uint64_t sequence, flags, clock, time;
	bool has_time, is_bad;
	struct fsl_pf_message event, interned, clocks, defaults, track, compressed;
};

static struct packet parse_packet(struct fsl_pf_message message)
{
	struct packet packet = {0};
	struct fsl_pf_field field;
	while (fsl_pf_next(&message, &field)) {
		switch (field.number) {
		case PACKET_TIME:
			packet.time = field.value;
			packet.has_time = field.wire == FSL_PF_VARINT;
			break;
		case PACKET_SEQUENCE:
			packet.sequence = field.value;
			break;
		case PACKET_FLAGS:
			packet.flags = field.value;
			break;
		case PACKET_CLOCK_ID:
			packet.clock = field.value;
			break;
		case PACKET_CLOCKS:
			packet.clocks = field.bytes;
			break;
		case PACKET_EVENT:
			packet.event = field.bytes;
			break;
		case PACKET_INTERNED:
			packet.interned = field.bytes;
			break;
		case PACKET_DEFAULTS:
			packet.defaults = field.bytes;
			break;
		case PACKET_TRACK:
			packet.track = field.bytes;
			break;
		case PACKET_COMPRESSED:
			packet.compressed = field.bytes;
			break;
		default:
			break;
		}
	}
	packet.is_bad = message.is_bad;
	return packet;
}

static void take_defaults(struct fsl_pf_sequence *sequence, struct fsl_pf_message defaults)
{
	struct fsl_pf_field field, inner;
	while (fsl_pf_next(&defaults, &field)) {
		if (field.number == DEFAULTS_CLOCK_ID && field.wire == FSL_PF_VARINT) {
			sequence->clock = field.value;
		}
		while (field.number == DEFAULTS_EVENT && fsl_pf_next(&field.bytes, &inner)) {
			if (inner.number == EVENT_DEFAULTS_TRACK) {
				sequence->track = inner.value;
			}
		}
	}
}

static enum fsl_status give(struct walk *walk, struct fsl_error *err)
{
	const struct fsl_trace_listener *listener = walk->listener;
	const char *fault = listener->fault_of(&walk->event);
	if (fault != NULL) {
		return listener->drop(listener->context, NULL, fault, err);
	}
	walk->out->n_events++;
	return listener->take(listener->context, &walk->event, err);
}

static struct fsl_json_value text_value(struct fsl_trace_text text)
{
	return (struct fsl_json_value){FSL_JSON_STRING, text.text, text.length};
}

/* Tells the name of a process or thread as Chrome's metadata does. */
static enum fsl_status give_name(struct walk *walk, const char *kind, uint64_t pid, uint64_t tid,
				 struct fsl_trace_text name, struct fsl_error *err)
{
	struct fsl_trace_event *event = &walk->event;
	const struct fsl_trace_vocabulary *vocabulary = walk->listener->vocabulary;
	const struct fsl_json_value value = text_value(name);
	const struct fsl_json_value kind_value = {FSL_JSON_STRING, kind, strlen(kind)};
	if (name.length == 0) {
		return FSL_OK;
	}
	fsl_trace_event_clear(vocabulary, event);
	event->phase = 'M';
	event->pid = pid;
	event->tid = tid;
	fsl_trace_event_take(vocabulary, event, FSL_TRACE_KEY_NAME, &kind_value);
	fsl_trace_event_take_arg(vocabulary, event, fsl_trace_arg_find(vocabulary, "name", 4),
				 &value);
	fsl_trace_event_end(vocabulary, event);
	return give(walk, err);
}

static struct fsl_trace_text text_of(const struct fsl_pf_field *field)
{
	return field->wire == FSL_PF_BYTES ? (struct fsl_trace_text){field->bytes.at, field->value}
					   : (struct fsl_trace_text){"", 0};
}

/* Number and name of a process or thread, by their fields. */
static void read_place(struct fsl_pf_message message, uint64_t pid_field, uint64_t name_field,
		       uint64_t *pid, struct fsl_trace_text *name)
{
	struct fsl_pf_field field;
	while (fsl_pf_next(&message, &field)) {
		if (field.number == pid_field && field.wire == FSL_PF_VARINT) {
			*pid = field.value;
		} else if (field.number == name_field) {
			*name = text_of(&field);
		}
	}
}

static enum fsl_status take_track(struct walk *walk, struct fsl_pf_message track,
				  struct fsl_error *err)
{
	uint64_t uuid = 0, parent = 0, pid = 0;
	bool is_process = false, is_thread = false, is_counter = false;
	struct fsl_trace_text name = {"", 0};
	struct fsl_pf_field field;
	while (fsl_pf_next(&track, &field)) {
		uuid = field.number == TRACK_UUID ? field.value : uuid;
		parent = field.number == TRACK_PARENT ? field.value : parent;
		is_counter |= field.number == TRACK_COUNTER;
		if (field.number == TRACK_NAME && name.length == 0) {
			name = text_of(&field);
		} else if (field.number == TRACK_PROCESS) {
			is_process = true;
			read_place(field.bytes, PROCESS_PID, PROCESS_NAME, &pid, &name);
		} else if (field.number == TRACK_THREAD) {
			is_thread = true;
			read_place(field.bytes, THREAD_PID, THREAD_NAME, &pid, &name);
		}
	}
	if (!is_process && !is_thread) {
		pid = fsl_pf_pid(&walk->state, parent != 0 ? parent : uuid);
	}
	FSL_TRY(fsl_pf_set_pid(&walk->state, uuid, pid, err));
	if (is_counter) {
		FSL_TRY(fsl_pf_name_track(&walk->state, uuid, name, err));
	}
	return give_name(walk, is_process && !is_thread ? "process_name" : "thread_name", pid, uuid,
			 name, err);
}

/* The first three numbers of a list. */
static void take_list(struct walk *walk, size_t arg, struct fsl_pf_message annotation)
{
	int64_t sizes[3] = {-1, -1, -1};
	struct fsl_pf_field field, inner;
	size_t n = 0;
	while (fsl_pf_next(&annotation, &field)) {
		bool is_item = field.number == ANNOTATION_ITEMS && field.wire == FSL_PF_BYTES;
		while (is_item && fsl_pf_next(&field.bytes, &inner)) {
			bool is_number = (inner.number == ANNOTATION_SIGNED ||
					  inner.number == ANNOTATION_UNSIGNED) &&
					 inner.value <= INT32_MAX;
			if (is_number && n < 3) {
				sizes[n] = (int64_t)inner.value;
			}
		}
		n += is_item;
	}
	fsl_trace_event_take_sizes(&walk->event, arg, sizes, n);
}

/* The value of an annotation, for an arg that somebody asks for. */
static void take_value(struct walk *walk, const struct fsl_pf_sequence *sequence, size_t arg,
		       struct fsl_pf_message annotation)
{
	const struct fsl_trace_vocabulary *vocabulary = walk->listener->vocabulary;
	char digits[24];
	struct fsl_pf_field field;
	if (vocabulary->args[arg].kind == FSL_TRACE_ARG_SIZES) {
		take_list(walk, arg, annotation);
		return;
	}
	while (fsl_pf_next(&annotation, &field)) {
		struct fsl_json_value value = {FSL_JSON_NULL, "", 0};
		if (field.number == ANNOTATION_SIGNED || field.number == ANNOTATION_UNSIGNED) {
			int n = snprintf(digits, sizeof(digits),
					 field.number == ANNOTATION_SIGNED ? "%" PRId64
									   : "%" PRIu64,
					 field.value);
			value = (struct fsl_json_value){FSL_JSON_NUMBER, digits, (size_t)n};
		} else if (field.number == ANNOTATION_TEXT) {
			value = text_value(text_of(&field));
		} else if (field.number == ANNOTATION_TEXT_ID) {
			value = text_value(
				fsl_pf_text(&walk->state, sequence, FSL_PF_TEXT, field.value));
		} else {
			continue;
		}
		fsl_trace_event_take_arg(vocabulary, &walk->event, arg, &value);
	}
}

/* An annotation, or a dictionary of them: its entries count as if they stood alone. */
static void take_annotation(struct walk *walk, const struct fsl_pf_sequence *sequence,
			    struct fsl_pf_message annotation, unsigned depth)
{
	static const char debug[] = "debug.";
	const struct fsl_trace_vocabulary *vocabulary = walk->listener->vocabulary;
	struct fsl_pf_message rest = annotation;
	struct fsl_pf_field field;
	struct fsl_trace_text key = {"", 0};
	while (fsl_pf_next(&rest, &field)) {
		if (field.number == ANNOTATION_KEY) {
			key = text_of(&field);
		} else if (field.number == ANNOTATION_KEY_ID) {
			key = fsl_pf_text(&walk->state, sequence, FSL_PF_KEY, field.value);
		} else if (field.number == ANNOTATION_ENTRIES && depth < NESTED_MAX) {
			take_annotation(walk, sequence, field.bytes, depth + 1);
		}
	}
	if (key.length >= sizeof(debug) && memcmp(key.text, debug, sizeof(debug) - 1) == 0) {
		key.text += sizeof(debug) - 1;
		key.length -= sizeof(debug) - 1;
	}
	size_t arg = fsl_trace_arg_find(vocabulary, key.text, key.length);
	if (arg < vocabulary->n_args) {
		take_value(walk, sequence, arg, annotation);
	}
}

/* A text of the event itself, or one that was told before. */
static void take_text(struct walk *walk, const struct fsl_pf_sequence *sequence,
		      const struct fsl_pf_field *field, enum fsl_trace_key key)
{
	bool is_id = field->wire == FSL_PF_VARINT;
	enum fsl_pf_use use = key == FSL_TRACE_KEY_NAME ? FSL_PF_NAME : FSL_PF_CATEGORY;
	const struct fsl_json_value value = text_value(
		is_id ? fsl_pf_text(&walk->state, sequence, use, field->value) : text_of(field));
	fsl_trace_event_take(walk->listener->vocabulary, &walk->event, key, &value);
}

/* The value of a counter, which is that of its track, as one without a key. */
static void take_counter(struct walk *walk, const struct fsl_pf_field *field)
{
	struct fsl_trace_event *event = &walk->event;
	double value = (double)(int64_t)field->value;
	if (field->wire == FSL_PF_FIXED64) {
		memcpy(&value, &field->value, sizeof(value));
	}
	bool is_good = value >= 0.0 && value <= COUNTER_MAX; /* NaN is not */
	if (is_good && walk->listener->vocabulary->wants_counters) {
		event->has_counters = true;
		event->n_counters = 1;
		event->counters[0] =
			(struct fsl_trace_counter){{"", 0}, (int64_t)(value * 1e6 + 0.5)};
	}
}

static enum fsl_status take_event(struct walk *walk, struct fsl_pf_sequence *sequence,
				  const struct packet *packet, int64_t time_ns,
				  struct fsl_error *err)
{
	static const char phases[] = {'\0', 'B', 'E', 'i', 'C'};
	struct fsl_trace_event *event = &walk->event;
	struct fsl_pf_message message = packet->event;
	struct fsl_pf_field field;
	fsl_trace_event_clear(walk->listener->vocabulary, event);
	event->ts_ns = time_ns;
	event->tid = sequence->track;
	while (fsl_pf_next(&message, &field)) {
		switch (field.number) {
		case EVENT_TYPE:
			event->phase = field.value < sizeof(phases) ? phases[field.value] : '\0';
			break;
		case EVENT_TRACK:
			event->tid = field.value;
			break;
		case EVENT_NAME:
		case EVENT_NAME_ID:
			take_text(walk, sequence, &field, FSL_TRACE_KEY_NAME);
			break;
		case EVENT_CATEGORY:
		case EVENT_CATEGORY_ID:
			if (event->whole_category.length == 0) { /* it may have several */
				take_text(walk, sequence, &field, FSL_TRACE_KEY_CATEGORY);
			}
			break;
		case EVENT_VALUE:
		case EVENT_REAL_VALUE:
			take_counter(walk, &field);
			break;
		case EVENT_ANNOTATION:
			take_annotation(walk, sequence, field.bytes, 0);
			break;
		default:
			break;
		}
	}
	event->pid = fsl_pf_pid(&walk->state, event->tid);
	if (event->phase == 'C' && event->whole_name.length == 0) {
		event->whole_name = fsl_pf_track_name(&walk->state, event->tid);
	}
	fsl_trace_event_end(walk->listener->vocabulary, event);
	return give(walk, err);
}

static enum fsl_status drop(struct walk *walk, const char *reason, struct fsl_error *err)
{
	return walk->listener->drop(walk->listener->context, NULL, reason, err);
}

static enum fsl_status take_parts(struct walk *walk, const struct packet *packet,
				  struct fsl_error *err)
{
	struct fsl_pf_sequence *sequence = NULL;
	FSL_TRY(fsl_pf_find_sequence(&walk->state, packet->sequence, &sequence, err));
	if ((packet->flags & FLAG_CLEARED) != 0) {
		sequence->generation++;
		sequence->track = sequence->clock = 0;
	}
	take_defaults(sequence, packet->defaults);
	if (packet->clocks.at != NULL) {
		fsl_pf_take_clocks(&walk->state, sequence, packet->clocks);
	}
	FSL_TRY(fsl_pf_take_interned(&walk->state, sequence, packet->interned, err));
	int64_t time_ns = packet->has_time
				  ? fsl_pf_time(&walk->state, sequence, packet->clock, packet->time)
				  : FSL_NS_ABSENT;
	if (packet->track.at != NULL) {
		FSL_TRY(take_track(walk, packet->track, err));
	}
	return packet->event.at != NULL ? take_event(walk, sequence, packet, time_ns, err) : FSL_OK;
}

/* True if the file's packets unpack to more than data of jobs ever does: the file may be compressed
 * itself, but packed bytes do not become much less. A pipe has no size. */
static bool is_bomb(const struct walk *walk)
{
	uint64_t n_disk = fsl_reader_disk_bytes(walk->reader), n_packed = walk->n_packed;
	n_packed = n_disk > 0 && n_disk < n_packed ? n_disk : n_packed;
	return walk->n_unpacked > FSL_UNPACKED_BYTES_FREE &&
	       walk->n_unpacked / FSL_UNPACKED_RATIO_MAX > n_packed;
}

/* Packets as they stand in a file, of which the block is a part. */
static enum fsl_status take_unpacked(struct walk *walk, struct fsl_error *err)
{
	struct fsl_pf_message packets = {walk->block.data, walk->block.data + walk->block.n_data,
					 false};
	struct fsl_pf_field field;
	while (fsl_pf_next(&packets, &field)) {
		if (field.number != TRACE_PACKET || field.wire != FSL_PF_BYTES) {
			continue;
		}
		const struct packet packet = parse_packet(field.bytes);
		if (packet.is_bad || packet.compressed.at != NULL) {
			FSL_TRY(drop(walk, "a broken packet", err));
		} else {
			FSL_TRY(take_parts(walk, &packet, err));
		}
	}
	return packets.is_bad ? drop(walk, "a broken packet", err) : FSL_OK;
}

/* A packet that holds others, packed by zlib. */
static enum fsl_status take_compressed(struct walk *walk, struct fsl_pf_message compressed,
				       struct fsl_error *err)
{
	struct fsl_error own = {0};
	size_t n_packed = (size_t)(compressed.end - compressed.at);
	enum fsl_status status =
		fsl_inflate(&walk->block, compressed.at, n_packed, UNPACKED_BYTES_MAX, &own);
	walk->n_packed += n_packed;
	walk->n_unpacked += walk->block.n_data;
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: compressed=%zu", n_packed);
	}
	if (is_bomb(walk)) {
		return FSL_FAIL(
			err, FSL_ERR_FORMAT,
			"compressed data grows to more than %d times its size: path=\"%s\", "
			"remedy=\"move the file away, no job wrote it\"",
			FSL_UNPACKED_RATIO_MAX, fsl_reader_path(walk->reader));
	}
	if (status != FSL_OK) {
		return drop(walk,
			    status == FSL_ERR_LIMIT ? "compressed packets that are too long"
						    : "broken compressed packets",
			    err);
	}
	return take_unpacked(walk, err);
}

static enum fsl_status take_packet(struct walk *walk, struct fsl_pf_message message,
				   struct fsl_error *err)
{
	const struct packet packet = parse_packet(message);
	if (packet.is_bad) {
		return drop(walk, "a broken packet", err);
	}
	return packet.compressed.at != NULL ? take_compressed(walk, packet.compressed, err)
					    : take_parts(walk, &packet, err);
}

/* Passes over @n_bytes of the file; false at its end. */
static enum fsl_status skip(struct walk *walk, uint64_t n_bytes, bool *is_there,
			    struct fsl_error *err)
{
	*is_there = true;
	while (n_bytes > 0) {
		const char *data = NULL;
		size_t n = 0;
		FSL_TRY(fsl_reader_peek(walk->reader, 1, &data, &n, err));
		if (n == 0) {
			*is_there = false;
			return FSL_OK;
		}
		n = n < n_bytes ? n : (size_t)n_bytes;
		fsl_reader_skip(walk->reader, n);
		n_bytes -= n;
	}
	return FSL_OK;
}

static enum fsl_status fail_cut(const struct walk *walk, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_FORMAT, "a packet is cut: path=\"%s\", offset=%" PRIu64,
			fsl_reader_path(walk->reader), fsl_reader_offset(walk->reader));
}

/* A field that is no packet, or a packet that is too long: passes over it. */
static enum fsl_status pass_over(struct walk *walk, const struct fsl_pf_field *field, size_t n_head,
				 struct fsl_error *err)
{
	bool is_there = false;
	uint64_t n_bytes = field->wire == FSL_PF_BYTES ? field->value : 0;
	if (field->number == TRACE_PACKET) {
		FSL_TRY(drop(walk, "a packet that is too long", err));
	}
	fsl_reader_skip(walk->reader, n_head);
	FSL_TRY(skip(walk, n_bytes, &is_there, err));
	return is_there ? FSL_OK : fail_cut(walk, err);
}

/* Takes the next packet. *is_more false at the end of the file. */
static enum fsl_status next_packet(struct walk *walk, bool *is_more, struct fsl_error *err)
{
	const char *data = NULL;
	size_t n_bytes = 0;
	struct fsl_pf_field field;
	FSL_TRY(fsl_reader_peek(walk->reader, FSL_PF_HEAD_MAX, &data, &n_bytes, err));
	*is_more = n_bytes > 0;
	if (n_bytes == 0) {
		return FSL_OK;
	}
	struct fsl_pf_message head = {data, data + n_bytes, false};
	if (!fsl_pf_head(&head, &field)) {
		return n_bytes < FSL_PF_HEAD_MAX
			       ? fail_cut(walk, err)
			       : FSL_FAIL(err, FSL_ERR_FORMAT,
					  "no packet of a trace: path=\"%s\", offset=%" PRIu64,
					  fsl_reader_path(walk->reader),
					  fsl_reader_offset(walk->reader));
	}
	size_t n_head = (size_t)(head.at - data);
	if (field.number != TRACE_PACKET || field.wire != FSL_PF_BYTES ||
	    field.value > PACKET_BYTES_MAX) {
		return pass_over(walk, &field, n_head, err);
	}
	if (field.value == 0) { /* of packed files that have nothing else there may be millions */
		fsl_reader_skip(walk->reader, n_head);
		return FSL_OK;
	}
	size_t n_whole = n_head + (size_t)field.value;
	FSL_TRY(fsl_reader_peek(walk->reader, n_whole, &data, &n_bytes, err));
	if (n_bytes < n_whole) {
		return fail_cut(walk, err);
	}
	FSL_TRY(take_packet(walk, (struct fsl_pf_message){data + n_head, data + n_whole, false},
			    err));
	fsl_reader_skip(walk->reader, n_whole);
	return FSL_OK;
}

bool fsl_pftrace_is(const char *data, size_t n_bytes)
{
	struct fsl_pf_message trace = {data, data + n_bytes, false};
	struct fsl_pf_field field;
	if (!fsl_pf_head(&trace, &field) || field.number != TRACE_PACKET ||
	    field.wire != FSL_PF_BYTES || field.value == 0) {
		return false;
	}
	size_t n_left = (size_t)(trace.end - trace.at);
	bool is_whole = field.value <= n_left;
	const char *end = trace.at + (is_whole ? (size_t)field.value : n_left);
	struct fsl_pf_message packet = {trace.at, end, false};
	/* A text that begins with a newline reads as a tag, too; its letters are no fields. */
	while (fsl_pf_next(&packet, &field)) {
	}
	bool is_followed =
		!is_whole || end == trace.end || *end == (TRACE_PACKET << 3 | FSL_PF_BYTES);
	return (!packet.is_bad || !is_whole) && is_followed;
}

enum fsl_status fsl_pftrace_walk(struct fsl_trace_walked *out, struct fsl_reader *reader,
				 const struct fsl_trace_listener *listener, struct fsl_error *err)
{
	struct walk walk;
	struct fsl_error own = {0};
	bool is_more = true;
	walk = (struct walk){.listener = listener, .out = out, .reader = reader};
	*out = (struct fsl_trace_walked){0};
	FSL_TRY(fsl_pf_state_init(&walk.state, err));
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && is_more) {
		status = next_packet(&walk, &is_more, &own);
	}
	fsl_pf_state_fini(&walk.state);
	fsl_inflated_fini(&walk.block);
	if (status != FSL_OK) {
		out->has_faults = out->is_cut = true;
		status = listener->fault(listener->context, status, &own, err);
	}
	return status;
}
