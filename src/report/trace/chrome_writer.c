/*
 * Chrome trace events: an object with an array, one event a line. Times are microseconds with three
 * decimals, made of integers, since the base time that stands at the head of the file. Both
 * Perfetto and chrome://tracing open it.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "report/trace/track_text.h"
#include "report/trace/track_writer.h"

enum {
	/* Bytes of an event without its texts: keys, and numbers of 20 digits. */
	EVENT_BYTES = 512 + 64 * FSL_TRACK_ARGS_MAX,
	/* Short pieces are copied with this many bytes, which takes no call; their sources have so
	 * much room, and so has the output by EVENT_BYTES. */
	COPIED_BYTES = 32,
	PAIRS = 100, /* of decimal digits */
	EIGHT_DIGITS = 100000000,
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
	char *bytes = fsl_arena_take(&w->arena, FSL_TRACK_JSON_BYTES * length + 2 + COPIED_BYTES);
	if (bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", length);
	}
	w->json[id] = (struct json_text){bytes, fsl_track_text_json(bytes, text)};
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

/*
 * The functions below write at @at, for which there is room, and return the place behind: with a
 * length in memory, each piece would wait for the store of the one before.
 */

/* Bytes behind which COPIED_BYTES can be read. */
static inline char *put_padded(char *at, const char *bytes, size_t n_bytes)
{
	if (n_bytes <= COPIED_BYTES) {
		memcpy(at, bytes, COPIED_BYTES);
	} else {
		memcpy(at, bytes, n_bytes);
	}
	return at + n_bytes;
}

static inline char *put_text(char *at, const struct fsl_track_writing *w, uint32_t id)
{
	return put_padded(at, w->json[id].bytes, w->json[id].n_bytes);
}

static inline char *put_bytes(char *at, const char *bytes, size_t n_bytes)
{
	memcpy(at, bytes, n_bytes);
	return at + n_bytes;
}

#define PUT(at, literal) put_bytes((at), (literal), sizeof(literal) - 1)

static inline size_t count_digits(uint32_t value)
{
	size_t n = 1;
	return n + (value >= 10) + (value >= 100) + (value >= 1000) + (value >= 10000) +
	       (value >= 100000) + (value >= 1000000) + (value >= 10000000);
}

/* The last @n digits of a number of at most eight, the last pair first. */
static inline char *put_digits(char *at, const struct fsl_track_writing *w, uint32_t value,
			       size_t n)
{
	char *behind = at + n;
	for (at = behind; n >= 2; n -= 2) {
		at -= 2;
		memcpy(at, w->pairs + 2 * (size_t)(value % PAIRS), 2);
		value /= PAIRS;
	}
	if (n == 1) {
		at[-1] = (char)('0' + value);
	}
	return behind;
}

/* Eight digits at a time, which fit 32 bits. */
static inline char *put_u64(char *at, const struct fsl_track_writing *w, uint64_t value)
{
	if (value < EIGHT_DIGITS) {
		return put_digits(at, w, (uint32_t)value, count_digits((uint32_t)value));
	}
	uint64_t high = value / EIGHT_DIGITS;
	if (high < EIGHT_DIGITS) {
		at = put_digits(at, w, (uint32_t)high, count_digits((uint32_t)high));
	} else {
		uint32_t highest = (uint32_t)(high / EIGHT_DIGITS);
		at = put_digits(at, w, highest, count_digits(highest));
		at = put_digits(at, w, (uint32_t)(high % EIGHT_DIGITS), 8);
	}
	return put_digits(at, w, (uint32_t)(value % EIGHT_DIGITS), 8);
}

static inline char *put_i64(char *at, const struct fsl_track_writing *w, int64_t value)
{
	if (value < 0) {
		*at++ = '-';
	}
	return put_u64(at, w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Thousandths as a number with three decimals. */
static inline char *put_scaled(char *at, const struct fsl_track_writing *w, int64_t thousandths)
{
	uint64_t value = thousandths < 0 ? 0 - (uint64_t)thousandths : (uint64_t)thousandths;
	if (thousandths < 0) {
		*at++ = '-';
	}
	at = put_u64(at, w, value / 1000);
	unsigned rest = (unsigned)(value % 1000);
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	return put_bytes(at, w->pairs + 2 * (size_t)(rest % PAIRS), 2);
}

/* As a text "0x2a": readers of bind_id expect one. */
static inline char *put_hex(char *at, uint64_t value)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = value != 0 ? (size_t)(67 - __builtin_clzll(value)) / 4 : 1;
	at = PUT(at, "\"0x");
	for (size_t i = n; i-- > 0;) {
		*at++ = hex[value >> (4 * i) & 15];
	}
	*at++ = '"';
	return at;
}

/* Room for an event, and where it begins. */
static enum fsl_status start(struct fsl_track_writing *w, size_t n_bytes, char **at,
			     struct fsl_error *err)
{
	FSL_TRY(fsl_track_output_reserve(w->output, n_bytes, err));
	*at = w->output->block + w->output->n;
	return FSL_OK;
}

static inline void stop(struct fsl_track_writing *w, const char *at)
{
	w->output->n = (size_t)(at - w->output->block);
}

static inline char *put_comma(char *at, struct fsl_track_writing *w)
{
	at = w->is_behind ? PUT(at, ",\n") : at;
	w->is_behind = true;
	return at;
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
	char *at = NULL;
	FSL_TRY(start(w, EVENT_BYTES, &at, err));
	at = PUT(at, "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
	at = put_i64(at, w, base_ns);
	at = PUT(at,
		 ",\"otherData\":{\"writer\":\"failslow " FSL_VERSION "\"},\"traceEvents\":[\n");
	stop(w, at);
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
	char *at = NULL;
	FSL_TRY(start(w, n_bytes, &at, err));
	at = put_comma(at, w);
	at = PUT(at, "{\"ph\":\"M\",\"pid\":");
	at = put_u64(at, w, data->pid);
	if (data->tid != 0) {
		at = PUT(at, ",\"tid\":");
		at = put_u64(at, w, data->tid);
	}
	at = PUT(at, ",\"name\":\"");
	at = put_bytes(at, data->name, strlen(data->name));
	at = PUT(at, "\",\"args\":{\"");
	at = put_bytes(at, data->key, strlen(data->key));
	at = PUT(at, "\":");
	at = data->is_text ? put_text(at, w, (uint32_t)data->value) : put_i64(at, w, data->value);
	at = PUT(at, "}}");
	stop(w, at);
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
	char *at = NULL;
	FSL_TRY(start(w, n_bytes, &at, err));
	at = put_comma(at, w);
	at = PUT(at, "{\"ph\":\"C\",\"pid\":");
	at = put_u64(at, w, event->track->pid);
	at = PUT(at, ",\"ts\":");
	at = put_scaled(at, w, event->begin_ns - w->base_ns);
	at = PUT(at, ",\"name\":");
	at = put_text(at, w, event->track->name);
	at = PUT(at, ",\"args\":{");
	at = put_text(at, w, event->track->unit);
	at = PUT(at, ":");
	at = event->track->has_decimals ? put_scaled(at, w, event->value)
					: put_i64(at, w, event->value);
	at = PUT(at, "}}");
	stop(w, at);
	return FSL_OK;
}

static inline char *put_args(char *at, const struct fsl_track_writing *w,
			     const struct fsl_track_event *event)
{
	at = PUT(at, ",\"args\":{");
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct fsl_track_arg *arg = &event->args[i];
		if (i > 0) {
			*at++ = ',';
		}
		at = put_text(at, w, arg->key);
		*at++ = ':';
		at = arg->text != FSL_STR_NONE ? put_text(at, w, arg->text)
					       : put_i64(at, w, arg->number);
	}
	*at++ = '}';
	return at;
}

/* Pid, tid and time of an event whose "ph" was put. */
static inline char *put_place(char *at, const struct fsl_track_writing *w,
			      const struct fsl_track_event *event)
{
	const struct json_text *place = &w->places[event->track->number];
	at = put_padded(at, place->bytes, place->n_bytes);
	return put_scaled(at, w, event->begin_ns - w->base_ns);
}

/* The flow through a collective is an event of its own: a slice has one bind_id. */
static char *put_meeting(char *at, struct fsl_track_writing *w, const struct fsl_track_event *event)
{
	at = put_comma(at, w);
	switch (event->meeting) {
	case FSL_FLOW_NONE:
	case FSL_FLOW_BEGINS:
		at = PUT(at, "{\"ph\":\"s\"");
		break;
	case FSL_FLOW_GOES_ON:
		at = PUT(at, "{\"ph\":\"t\",\"bp\":\"e\"");
		break;
	case FSL_FLOW_ENDS:
		at = PUT(at, "{\"ph\":\"f\",\"bp\":\"e\"");
		break;
	}
	at = put_place(at, w, event);
	at = PUT(at, ",\"id\":");
	at = put_u64(at, w, event->meeting_id);
	return PUT(at, ",\"name\":\"collective\",\"cat\":\"collective\"}");
}

static inline char *put_launch(char *at, const struct fsl_track_event *event)
{
	at = PUT(at, ",\"bind_id\":");
	at = put_hex(at, event->launch_id);
	return event->launch == FSL_FLOW_BEGINS ? PUT(at, ",\"flow_out\":true")
						: PUT(at, ",\"flow_in\":true");
}

/* Makes sure that all texts of a slice are there. */
static enum fsl_status need_all(struct fsl_track_writing *w, const struct fsl_track_event *event,
				size_t *n_bytes, struct fsl_error *err)
{
	FSL_TRY(need(w, event->name, n_bytes, err));
	FSL_TRY(need(w, event->category, n_bytes, err));
	for (uint32_t i = 0; i < event->n_args; i++) {
		FSL_TRY(need(w, event->args[i].key, n_bytes, err));
		if (event->args[i].text != FSL_STR_NONE) {
			FSL_TRY(need(w, event->args[i].text, n_bytes, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status put_slice(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	size_t n_bytes = 2 * EVENT_BYTES; /* with its flow */
	char *at = NULL;
	FSL_TRY(need_all(w, event, &n_bytes, err));
	FSL_TRY(start(w, n_bytes, &at, err));
	at = put_comma(at, w);
	bool is_slice = event->end_ns > event->begin_ns;
	at = is_slice ? PUT(at, "{\"ph\":\"X\"") : PUT(at, "{\"ph\":\"i\",\"s\":\"t\"");
	at = put_place(at, w, event);
	if (is_slice) {
		at = PUT(at, ",\"dur\":");
		at = put_scaled(at, w, event->end_ns - event->begin_ns);
	}
	at = PUT(at, ",\"name\":");
	at = put_text(at, w, event->name);
	at = PUT(at, ",\"cat\":");
	at = put_text(at, w, event->category);
	if (is_slice && event->launch != FSL_FLOW_NONE) {
		at = put_launch(at, event);
	}
	if (event->n_args > 0) {
		at = put_args(at, w, event);
	}
	*at++ = '}';
	if (is_slice && event->meeting != FSL_FLOW_NONE) {
		at = put_meeting(at, w, event);
	}
	stop(w, at);
	return FSL_OK;
}

static enum fsl_status event(struct fsl_track_writing *w, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	return event->track->is_counter ? put_counter(w, event, err) : put_slice(w, event, err);
}

static enum fsl_status finish(struct fsl_track_writing *w, struct fsl_error *err)
{
	char *at = NULL;
	FSL_TRY(start(w, EVENT_BYTES, &at, err));
	stop(w, PUT(at, "\n]}\n"));
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
