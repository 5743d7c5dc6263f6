/*
 * Chrome trace events: an object with an array, one event a line. Times are microseconds with three
 * decimals, made of integers, since the base time that stands at the head of the file. Both
 * Perfetto and chrome://tracing open it.
 */
#include <endian.h>
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
	/* Keys and numbers of pid, tid and time, at most. A slice is longer than this before its
	 * flow begins. */
	PLACE_BYTES = 64,
	THOUSAND = 1000,
	DECIMALS_BYTES = 1 + FSL_TRACK_DECIMALS_N, /* ".042" */
	EIGHT_DIGITS = 100000000,
};

/* A text as JSON, with its quotes. */
struct json_text {
	char *bytes; /* arena */
	size_t n_bytes;
};

struct fsl_track_writing {
	struct fsl_track_output *output;
	const struct fsl_strpool *texts;
	struct json_text *json; /* by id, of all texts that were there at the last event */
	size_t n_json, json_capacity;
	struct json_text *places; /* begin of a slice up to its time, by number of a track */
	size_t n_places, places_capacity;
	struct fsl_arena arena;
	int64_t base_ns;
	bool is_behind; /* the array has an event */
	char decimals[THOUSAND][DECIMALS_BYTES];
};

/* Makes JSON of the texts that are new. */
static enum fsl_status make_json(struct fsl_track_writing *w, size_t n_texts, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(w->json, w->json_capacity, n_texts, err));
	for (; w->n_json < n_texts; w->n_json++) {
		const char *text = fsl_strpool_text(w->texts, (uint32_t)w->n_json);
		size_t length = strlen(text);
		char *bytes =
			fsl_arena_take(&w->arena, FSL_TRACK_JSON_BYTES * length + 2 + COPIED_BYTES);
		if (bytes == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", length);
		}
		w->json[w->n_json] = (struct json_text){bytes, fsl_track_text_json(bytes, text)};
		memset(bytes + w->json[w->n_json].n_bytes, 0, COPIED_BYTES);
	}
	return FSL_OK;
}

/* Call it before texts are written. */
static inline enum fsl_status update_json(struct fsl_track_writing *w, struct fsl_error *err)
{
	size_t n_texts = fsl_strpool_size(w->texts);
	return n_texts == w->n_json ? FSL_OK : make_json(w, n_texts, err);
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

/* The decimal digits of a number below EIGHT_DIGITS, 0 to 9, one in each byte, the first in the
 * lowest: the halves of four digits are divided at the same time, then the quarters of two. */
static inline uint64_t split_decimal(uint32_t value)
{
	const uint64_t tenths = UINT64_C(0x000f000f000f000f);
	const uint64_t hundredths = UINT64_C(0x0000007f0000007f);
	uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t high = halves * 10486 >> 20 & hundredths; /* / 100 of numbers below 10000 */
	uint64_t quarters = high | (halves - 100 * high) << 16;
	high = quarters * 103 >> 10 & tenths; /* / 10 of numbers below 100 */
	return high | (quarters - 10 * high) << 8;
}

/* The same for the digits of a hexadecimal number. */
static inline uint64_t split_hex(uint32_t value)
{
	uint64_t digits = value;
	digits = (digits << 16 | digits) & UINT64_C(0x0000ffff0000ffff);
	digits = (digits << 8 | digits) & UINT64_C(0x00ff00ff00ff00ff);
	digits = (digits << 4 | digits) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return __builtin_bswap64(digits);
}

/* Writes 8 bytes: characters from the first one that is not 0 on, at least one. */
static inline char *put_from_first(char *at, uint64_t digits, uint64_t characters)
{
	unsigned n_skipped = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
	characters = htole64(characters >> 8 * n_skipped);
	memcpy(at, &characters, sizeof(characters));
	return at + 8 - n_skipped;
}

static const uint64_t ASCII_ZEROS = UINT64_C(0x3030303030303030);

static inline char *put_below_eight_digits(char *at, uint32_t value)
{
	uint64_t digits = split_decimal(value);
	return put_from_first(at, digits, digits | ASCII_ZEROS);
}

static inline char *put_eight_digits(char *at, uint32_t value)
{
	uint64_t characters = htole64(split_decimal(value) | ASCII_ZEROS);
	memcpy(at, &characters, sizeof(characters));
	return at + sizeof(characters);
}

/* Eight digits at a time, which fit 32 bits. */
static inline char *put_u64(char *at, uint64_t value)
{
	if (value < EIGHT_DIGITS) {
		return put_below_eight_digits(at, (uint32_t)value);
	}
	uint64_t high = value / EIGHT_DIGITS;
	if (high < EIGHT_DIGITS) {
		at = put_below_eight_digits(at, (uint32_t)high);
	} else {
		at = put_below_eight_digits(at, (uint32_t)(high / EIGHT_DIGITS));
		at = put_eight_digits(at, (uint32_t)(high % EIGHT_DIGITS));
	}
	return put_eight_digits(at, (uint32_t)(value % EIGHT_DIGITS));
}

static inline char *put_i64(char *at, int64_t value)
{
	if (value < 0) {
		*at++ = '-';
	}
	return put_u64(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Thousandths as a number with three decimals. */
static inline char *put_scaled(char *at, const struct fsl_track_writing *w, int64_t thousandths)
{
	uint64_t value = thousandths < 0 ? 0 - (uint64_t)thousandths : (uint64_t)thousandths;
	if (thousandths < 0) {
		*at++ = '-';
	}
	at = put_u64(at, value / THOUSAND);
	return put_bytes(at, w->decimals[value % THOUSAND], DECIMALS_BYTES);
}

/* As a text "0x2a": readers of bind_id expect one. */
static inline char *put_hex(char *at, uint64_t value)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	at = PUT(at, "\"0x");
	for (unsigned is_low = value > UINT32_MAX ? 0 : 1; is_low <= 1; is_low++) {
		uint64_t digits = split_hex((uint32_t)(is_low ? value : value >> 32));
		uint64_t letters = (digits + 6 * ones) >> 4 & ones; /* 1: a to f */
		uint64_t first = is_low && value > UINT32_MAX ? 1 : digits;
		at = put_from_first(at, first, (digits | ASCII_ZEROS) + letters * ('a' - '9' - 1));
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
	for (size_t i = 0; i < THOUSAND; i++) {
		const char text[DECIMALS_BYTES] = {'.', (char)('0' + i / 100),
						   (char)('0' + i / 10 % 10), (char)('0' + i % 10)};
		memcpy(w->decimals[i], text, DECIMALS_BYTES);
	}
	*out = w;
	char *at = NULL;
	FSL_TRY(start(w, EVENT_BYTES, &at, err));
	at = PUT(at, "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
	at = put_i64(at, base_ns);
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
	FSL_TRY(update_json(w, err));
	if (data->is_text) {
		n_bytes += w->json[data->value].n_bytes;
	}
	char *at = NULL;
	FSL_TRY(start(w, n_bytes, &at, err));
	at = put_comma(at, w);
	at = PUT(at, "{\"ph\":\"M\",\"pid\":");
	at = put_u64(at, data->pid);
	if (data->tid != 0) {
		at = PUT(at, ",\"tid\":");
		at = put_u64(at, data->tid);
	}
	at = PUT(at, ",\"name\":\"");
	at = put_bytes(at, data->name, strlen(data->name));
	at = PUT(at, "\",\"args\":{\"");
	at = put_bytes(at, data->key, strlen(data->key));
	at = PUT(at, "\":");
	at = data->is_text ? put_text(at, w, (uint32_t)data->value) : put_i64(at, data->value);
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

/* Begin of a slice. Its metadata stand in front of it, hence the comma. */
#define SLICE_HEAD ",\n{\"ph\":\"X\""
enum { SLICE_HEAD_BYTES = sizeof(SLICE_HEAD) - 1 };

/* Keeps what stands in every slice of the track. */
static enum fsl_status keep_place(struct fsl_track_writing *w, const struct fsl_track *track,
				  struct fsl_error *err)
{
	char text[PLACE_BYTES] = {0};
	int n = snprintf(text, sizeof(text),
			 SLICE_HEAD ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":", track->pid,
			 track->tid);
	FSL_TRY(FSL_GROW(w->places, w->places_capacity, (size_t)track->number + 1, err));
	while (w->n_places <= track->number) {
		w->places[w->n_places++] = (struct json_text){0};
	}
	char *bytes = fsl_arena_take(&w->arena, SLICE_HEAD_BYTES + PLACE_BYTES);
	if (bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: tracks=%zu", w->n_places);
	}
	memset(bytes, 0, SLICE_HEAD_BYTES + PLACE_BYTES); /* copied from both places on */
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
	const struct fsl_track *counter = event->track;
	size_t n_texts = w->json[counter->name].n_bytes + w->json[counter->unit].n_bytes;
	char *at = NULL;
	FSL_TRY(start(w, EVENT_BYTES + n_texts, &at, err));
	at = put_comma(at, w);
	at = PUT(at, "{\"ph\":\"C\",\"pid\":");
	at = put_u64(at, counter->pid);
	at = PUT(at, ",\"ts\":");
	at = put_scaled(at, w, event->begin_ns - w->base_ns);
	at = PUT(at, ",\"name\":");
	at = put_text(at, w, counter->name);
	at = PUT(at, ",\"args\":{");
	at = put_text(at, w, counter->unit);
	at = PUT(at, ":");
	at = counter->has_decimals ? put_scaled(at, w, event->value) : put_i64(at, event->value);
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
					       : put_i64(at, arg->number);
	}
	*at++ = '}';
	return at;
}

/* Puts the begin of a slice or instant up to its time. *place: what stands behind its "ph". */
static inline char *put_place(char *at, const struct fsl_track_writing *w,
			      const struct fsl_track_event *event, char **place)
{
	const struct json_text *begin = &w->places[event->track->number];
	const char *bytes = begin->bytes;
	size_t n_bytes = begin->n_bytes;
	*place = at + SLICE_HEAD_BYTES;
	if (event->end_ns <= event->begin_ns) {
		*place = at = PUT(at, ",\n{\"ph\":\"i\",\"s\":\"t\"");
		bytes += SLICE_HEAD_BYTES;
		n_bytes -= SLICE_HEAD_BYTES;
	}
	memcpy(at, bytes, PLACE_BYTES);
	return put_scaled(at + n_bytes, w, event->begin_ns - w->base_ns);
}

/* The flow through a collective is an event of its own: a slice has one bind_id. Pid, tid and time
 * are those of the slice, [place, place + n_place). */
static inline char *put_meeting(char *at, const struct fsl_track_event *event, const char *place,
				size_t n_place)
{
	switch (event->meeting) {
	case FSL_FLOW_NONE:
	case FSL_FLOW_BEGINS:
		at = PUT(at, ",\n{\"ph\":\"s\"");
		break;
	case FSL_FLOW_GOES_ON:
		at = PUT(at, ",\n{\"ph\":\"t\",\"bp\":\"e\"");
		break;
	case FSL_FLOW_ENDS:
		at = PUT(at, ",\n{\"ph\":\"f\",\"bp\":\"e\"");
		break;
	}
	memcpy(at, place, PLACE_BYTES);
	at = PUT(at + n_place, ",\"id\":");
	at = put_u64(at, event->meeting_id);
	return PUT(at, ",\"name\":\"collective\",\"cat\":\"c\"}");
}

static inline char *put_launch(char *at, const struct fsl_track_event *event)
{
	at = PUT(at, ",\"bind_id\":");
	at = put_hex(at, event->launch_id);
	return event->launch == FSL_FLOW_BEGINS ? PUT(at, ",\"flow_out\":true")
						: PUT(at, ",\"flow_in\":true");
}

/* Bytes of all texts of a slice. */
static inline size_t count_text_bytes(const struct fsl_track_writing *w,
				      const struct fsl_track_event *event)
{
	size_t n = w->json[event->name].n_bytes + w->json[event->category].n_bytes;
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct fsl_track_arg *arg = &event->args[i];
		n += w->json[arg->key].n_bytes;
		n += arg->text != FSL_STR_NONE ? w->json[arg->text].n_bytes : 0;
	}
	return n;
}

static enum fsl_status put_slice(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	size_t n_bytes = 2 * EVENT_BYTES + count_text_bytes(w, event); /* with its flow */
	char *at = NULL;
	FSL_TRY(start(w, n_bytes, &at, err));
	bool is_slice = event->end_ns > event->begin_ns;
	char *place = NULL;
	at = put_place(at, w, event, &place);
	size_t n_place = (size_t)(at - place);
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
		at = put_meeting(at, event, place, n_place);
	}
	stop(w, at);
	return FSL_OK;
}

static enum fsl_status event(struct fsl_track_writing *w, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	FSL_TRY(update_json(w, err));
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
