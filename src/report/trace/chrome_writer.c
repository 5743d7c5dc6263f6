/*
 * Chrome trace events: an object with an array, one event a line. Times are microseconds with three
 * decimals, made of integers, since the base time that stands at the head of the file. Both
 * Perfetto and chrome://tracing open it.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/trace/track_writer.h"

enum {
	/* Bytes of an event without its texts: keys, and numbers of 20 digits. */
	EVENT_BYTES = 512 + 64 * FSL_TRACK_ARGS_MAX,
	/* Short pieces are copied with this many bytes, which takes no call; their sources have so
	 * much room, and so has the output by EVENT_BYTES. */
	COPIED_BYTES = 32,
	ESCAPED_BYTES = 6, /* of one byte of a text, at most: \u001f */
	HEX_DIGITS_MAX = 16,
	PAIRS = 100, /* of decimal digits */
};

/* A text as JSON, with its quotes. */
struct json_text {
	char *bytes; /* NULL: not made yet; arena */
	size_t n_bytes;
};

struct fsl_track_writing {
	struct fsl_track_output *output;
	const struct fsl_strpool *texts;
	struct json_text *json; /* by id */
	size_t n_json, json_capacity;
	struct json_text *places; /* pid and tid, by number of a track */
	size_t n_places, places_capacity;
	struct fsl_arena arena;
	int64_t base_ns;
	bool is_behind; /* the array has an event */
	char pairs[2 * PAIRS];
};

static size_t escape(char *out, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	char *at = out;
	*at++ = '"';
	while (*text != '\0') {
		size_t n = fsl_utf8_sequence(text);
		unsigned char byte = (unsigned char)*text;
		if (n == 0) { /* broken: U+FFFD */
			memcpy(at, "\xef\xbf\xbd", 3);
			at += 3;
			n = 1;
		} else if (byte < ' ' || byte == 0x7f) {
			memcpy(at, "\\u00", 4);
			at[4] = hex[byte >> 4];
			at[5] = hex[byte & 15];
			at += 6;
		} else {
			if (byte == '"' || byte == '\\') {
				*at++ = '\\';
			}
			memcpy(at, text, n);
			at += n;
		}
		text += n;
	}
	*at++ = '"';
	return (size_t)(at - out);
}

static enum fsl_status make_json(struct fsl_track_writing *w, uint32_t id, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(w->json, w->json_capacity, (size_t)id + 1, err));
	while (w->n_json <= id) {
		w->json[w->n_json++] = (struct json_text){0};
	}
	const char *text = fsl_strpool_text(w->texts, id);
	size_t length = strlen(text);
	if (w->json[id].bytes != NULL) {
		return FSL_OK;
	}
	char *bytes = fsl_arena_take(&w->arena, ESCAPED_BYTES * length + 2 + COPIED_BYTES);
	if (bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", length);
	}
	w->json[id] = (struct json_text){bytes, escape(bytes, text)};
	memset(bytes + w->json[id].n_bytes, 0, COPIED_BYTES);
	return FSL_OK;
}

/* Makes sure that the text is there as JSON, and adds its length to *n_bytes. */
static inline enum fsl_status need(struct fsl_track_writing *w, uint32_t id, size_t *n_bytes,
				   struct fsl_error *err)
{
	if (id >= w->n_json || w->json[id].bytes == NULL) {
		FSL_TRY(make_json(w, id, err));
	}
	*n_bytes += w->json[id].n_bytes;
	return FSL_OK;
}

/* Appends bytes behind which COPIED_BYTES can be read. */
static inline void put_padded(struct fsl_track_writing *w, const char *bytes, size_t n_bytes)
{
	struct fsl_track_output *output = w->output;
	if (n_bytes <= COPIED_BYTES) {
		memcpy(output->block + output->n, bytes, COPIED_BYTES);
		output->n += n_bytes;
	} else {
		fsl_track_output_put(output, bytes, n_bytes);
	}
}

static inline void put_text(struct fsl_track_writing *w, uint32_t id)
{
	put_padded(w, w->json[id].bytes, w->json[id].n_bytes);
}

#define PUT(w, literal) fsl_track_output_put((w)->output, (literal), sizeof(literal) - 1)

static size_t count_digits(uint64_t value)
{
	size_t n = 1;
	while (value >= 10000) {
		value /= 10000;
		n += 4;
	}
	return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes the digits where they stay, the last pair first. */
static inline void put_u64(struct fsl_track_writing *w, uint64_t value)
{
	struct fsl_track_output *output = w->output;
	size_t n = count_digits(value);
	char *at = output->block + output->n + n;
	output->n += n;
	while (value >= PAIRS) {
		at -= 2;
		memcpy(at, w->pairs + 2 * (value % PAIRS), 2);
		value /= PAIRS;
	}
	if (value >= 10) {
		memcpy(at - 2, w->pairs + 2 * value, 2);
	} else {
		at[-1] = (char)('0' + value);
	}
}

static void put_i64(struct fsl_track_writing *w, int64_t value)
{
	if (value < 0) {
		PUT(w, "-");
	}
	put_u64(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Thousandths as a number with three decimals. */
static void put_scaled(struct fsl_track_writing *w, int64_t thousandths)
{
	if (thousandths < 0) {
		PUT(w, "-");
	}
	uint64_t value = thousandths < 0 ? 0 - (uint64_t)thousandths : (uint64_t)thousandths;
	put_u64(w, value / 1000);
	unsigned rest = (unsigned)(value % 1000);
	char decimals[4] = {'.', (char)('0' + rest / 100)};
	memcpy(decimals + 2, w->pairs + 2 * (size_t)(rest % PAIRS), 2);
	fsl_track_output_put(w->output, decimals, sizeof(decimals));
}

/* As a text "0x2a": readers of bind_id expect one. */
static void put_hex(struct fsl_track_writing *w, uint64_t value)
{
	static const char hex[] = "0123456789abcdef";
	struct fsl_track_output *output = w->output;
	size_t n = 1;
	while (n < HEX_DIGITS_MAX && value >> (4 * n) != 0) {
		n++;
	}
	PUT(w, "\"0x");
	for (size_t i = n; i-- > 0;) {
		output->block[output->n++] = hex[value >> (4 * i) & 15];
	}
	PUT(w, "\"");
}

static void put_comma(struct fsl_track_writing *w)
{
	if (w->is_behind) {
		PUT(w, ",\n");
	}
	w->is_behind = true;
}

static enum fsl_status begin(struct fsl_track_writing **out, struct fsl_track_output *output,
			     const struct fsl_strpool *texts, int64_t base_ns,
			     struct fsl_error *err)
{
	struct fsl_track_writing *w = NULL;
	FSL_TRY(FSL_NEW(w, 1, "writers", err));
	*w = (struct fsl_track_writing){.output = output, .texts = texts, .base_ns = base_ns};
	for (size_t i = 0; i < PAIRS; i++) {
		w->pairs[2 * i] = (char)('0' + i / 10);
		w->pairs[2 * i + 1] = (char)('0' + i % 10);
	}
	*out = w;
	FSL_TRY(fsl_track_output_reserve(output, EVENT_BYTES, err));
	PUT(w, "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
	put_i64(w, base_ns);
	PUT(w, ",\"otherData\":{\"writer\":\"failslow " FSL_VERSION "\"},\"traceEvents\":[\n");
	return FSL_OK;
}

/* One line of metadata. @value: id of a text if @is_text, else a number. */
struct metadata {
	const char *name, *key;
	uint32_t pid, tid; /* tid 0: of a process */
	bool is_text;
	int64_t value;
};

static enum fsl_status put_metadata(struct fsl_track_writing *w, const struct metadata *data,
				    struct fsl_error *err)
{
	size_t n_bytes = EVENT_BYTES;
	if (data->is_text) {
		FSL_TRY(need(w, (uint32_t)data->value, &n_bytes, err));
	}
	FSL_TRY(fsl_track_output_reserve(w->output, n_bytes, err));
	put_comma(w);
	PUT(w, "{\"ph\":\"M\",\"pid\":");
	put_u64(w, data->pid);
	if (data->tid != 0) {
		PUT(w, ",\"tid\":");
		put_u64(w, data->tid);
	}
	PUT(w, ",\"name\":\"");
	fsl_track_output_put(w->output, data->name, strlen(data->name));
	PUT(w, "\",\"args\":{\"");
	fsl_track_output_put(w->output, data->key, strlen(data->key));
	PUT(w, "\":");
	if (data->is_text) {
		put_text(w, (uint32_t)data->value);
	} else {
		put_i64(w, data->value);
	}
	PUT(w, "}}");
	return FSL_OK;
}

static enum fsl_status process(struct fsl_track_writing *w, const struct fsl_track_process *process,
			       struct fsl_error *err)
{
	const struct metadata name = {"process_name", "name", process->pid, 0, true, process->name};
	const struct metadata label = {"process_labels", "labels", process->pid, 0, true,
				       process->label};
	const struct metadata place = {"process_sort_index", "sort_index", process->pid, 0, false,
				       process->place};
	FSL_TRY(put_metadata(w, &name, err));
	if (process->label != FSL_STR_NONE) {
		FSL_TRY(put_metadata(w, &label, err));
	}
	return put_metadata(w, &place, err);
}

/* Keeps what stands in every event of the track. */
static enum fsl_status keep_place(struct fsl_track_writing *w, const struct fsl_track *track,
				  struct fsl_error *err)
{
	char text[64];
	int n = snprintf(text, sizeof(text),
			 ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":", track->pid,
			 track->tid);
	FSL_TRY(FSL_GROW(w->places, w->places_capacity, (size_t)track->number + 1, err));
	while (w->n_places <= track->number) {
		w->places[w->n_places++] = (struct json_text){0};
	}
	char *bytes = fsl_arena_calloc(&w->arena, 1, (size_t)n + COPIED_BYTES);
	if (bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: tracks=%zu", w->n_places);
	}
	memcpy(bytes, text, (size_t)n);
	w->places[track->number] = (struct json_text){bytes, (size_t)n};
	return FSL_OK;
}

/* Counters need no metadata: they are told apart by their names. */
static enum fsl_status track(struct fsl_track_writing *w, const struct fsl_track *track,
			     struct fsl_error *err)
{
	const struct metadata name = {"thread_name", "name", track->pid,
				      track->tid,    true,   track->name};
	const struct metadata place = {"thread_sort_index", "sort_index", track->pid,
				       track->tid,          false,        track->place};
	if (track->is_counter) {
		return FSL_OK;
	}
	FSL_TRY(keep_place(w, track, err));
	FSL_TRY(put_metadata(w, &name, err));
	return put_metadata(w, &place, err);
}

static enum fsl_status put_counter(struct fsl_track_writing *w, const struct fsl_track_event *event,
				   struct fsl_error *err)
{
	size_t n_bytes = EVENT_BYTES;
	FSL_TRY(need(w, event->track->name, &n_bytes, err));
	FSL_TRY(need(w, event->track->unit, &n_bytes, err));
	FSL_TRY(fsl_track_output_reserve(w->output, n_bytes, err));
	put_comma(w);
	PUT(w, "{\"ph\":\"C\",\"pid\":");
	put_u64(w, event->track->pid);
	PUT(w, ",\"ts\":");
	put_scaled(w, event->begin_ns - w->base_ns);
	PUT(w, ",\"name\":");
	put_text(w, event->track->name);
	PUT(w, ",\"args\":{");
	put_text(w, event->track->unit);
	PUT(w, ":");
	if (event->track->has_decimals) {
		put_scaled(w, event->value);
	} else {
		put_i64(w, event->value);
	}
	PUT(w, "}}");
	return FSL_OK;
}

static void put_args(struct fsl_track_writing *w, const struct fsl_track_event *event)
{
	PUT(w, ",\"args\":{");
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct fsl_track_arg *arg = &event->args[i];
		if (i > 0) {
			PUT(w, ",");
		}
		put_text(w, arg->key);
		PUT(w, ":");
		if (arg->text != FSL_STR_NONE) {
			put_text(w, arg->text);
		} else {
			put_i64(w, arg->number);
		}
	}
	PUT(w, "}");
}

/* Pid, tid and time of an event whose "ph" was put. */
static void put_place(struct fsl_track_writing *w, const struct fsl_track_event *event)
{
	const struct json_text *place = &w->places[event->track->number];
	put_padded(w, place->bytes, place->n_bytes);
	put_scaled(w, event->begin_ns - w->base_ns);
}

/* The flow through a collective is an event of its own: a slice has one bind_id. */
static void put_meeting(struct fsl_track_writing *w, const struct fsl_track_event *event)
{
	put_comma(w);
	switch (event->meeting) {
	case FSL_FLOW_NONE:
	case FSL_FLOW_BEGINS:
		PUT(w, "{\"ph\":\"s\"");
		break;
	case FSL_FLOW_GOES_ON:
		PUT(w, "{\"ph\":\"t\",\"bp\":\"e\"");
		break;
	case FSL_FLOW_ENDS:
		PUT(w, "{\"ph\":\"f\",\"bp\":\"e\"");
		break;
	}
	put_place(w, event);
	PUT(w, ",\"id\":");
	put_u64(w, event->meeting_id);
	PUT(w, ",\"name\":\"collective\",\"cat\":\"collective\"}");
}

static enum fsl_status put_slice(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	size_t n_bytes = 2 * EVENT_BYTES; /* with its flow */
	FSL_TRY(need(w, event->name, &n_bytes, err));
	FSL_TRY(need(w, event->category, &n_bytes, err));
	for (uint32_t i = 0; i < event->n_args; i++) {
		FSL_TRY(need(w, event->args[i].key, &n_bytes, err));
		if (event->args[i].text != FSL_STR_NONE) {
			FSL_TRY(need(w, event->args[i].text, &n_bytes, err));
		}
	}
	FSL_TRY(fsl_track_output_reserve(w->output, n_bytes, err));
	put_comma(w);
	bool is_slice = event->end_ns > event->begin_ns;
	if (is_slice) {
		PUT(w, "{\"ph\":\"X\"");
	} else {
		PUT(w, "{\"ph\":\"i\",\"s\":\"t\"");
	}
	put_place(w, event);
	if (is_slice) {
		PUT(w, ",\"dur\":");
		put_scaled(w, event->end_ns - event->begin_ns);
	}
	PUT(w, ",\"name\":");
	put_text(w, event->name);
	PUT(w, ",\"cat\":");
	put_text(w, event->category);
	if (is_slice && event->launch != FSL_FLOW_NONE) {
		PUT(w, ",\"bind_id\":");
		put_hex(w, event->launch_id);
		if (event->launch == FSL_FLOW_BEGINS) {
			PUT(w, ",\"flow_out\":true");
		} else {
			PUT(w, ",\"flow_in\":true");
		}
	}
	if (event->n_args > 0) {
		put_args(w, event);
	}
	PUT(w, "}");
	if (is_slice && event->meeting != FSL_FLOW_NONE) {
		put_meeting(w, event);
	}
	return FSL_OK;
}

static enum fsl_status event(struct fsl_track_writing *w, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	return event->track->is_counter ? put_counter(w, event, err) : put_slice(w, event, err);
}

static enum fsl_status finish(struct fsl_track_writing *w, struct fsl_error *err)
{
	FSL_TRY(fsl_track_output_reserve(w->output, EVENT_BYTES, err));
	PUT(w, "\n]}\n");
	return FSL_OK;
}

static void end(struct fsl_track_writing *w)
{
	if (w != NULL) {
		fsl_arena_fini(&w->arena);
		fsl_free(w->json);
		fsl_free(w->places);
	}
	fsl_free(w);
}

const struct fsl_track_writer fsl_track_writer_chrome = {
	.name = "chrome",
	.begin = begin,
	.process = process,
	.track = track,
	.event = event,
	.finish = finish,
	.end = end,
};
