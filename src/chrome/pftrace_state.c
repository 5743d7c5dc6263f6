/* Tables of names and tracks, clocks of sequences. */
#include "chrome/pftrace_state.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "text/json_walk.h"

/* Fields. */
enum {
	INTERNED_ID = 1,
	INTERNED_TEXT = 2,
	CLOCKS_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	CLOCK_INCREMENTAL = 3,
	CLOCK_UNIT = 4,
};
static const uint64_t interned_fields[FSL_PF_USES_N] = {
	[FSL_PF_CATEGORY] = 1, [FSL_PF_NAME] = 2, [FSL_PF_KEY] = 3, [FSL_PF_TEXT] = 29};

enum { KEY_BYTES = 4 * sizeof(uint64_t), READINGS_MAX = 16 };

enum fsl_status fsl_pf_state_init(struct fsl_pf_state *state, struct fsl_error *err)
{
	*state = (struct fsl_pf_state){.keys = fsl_strpool_create(),
				       .tracks = fsl_strpool_create(),
				       .sequence_ids = fsl_strpool_create()};
	if (state->keys == NULL || state->tracks == NULL || state->sequence_ids == NULL) {
		fsl_pf_state_fini(state);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=0");
	}
	return FSL_OK;
}

void fsl_pf_state_fini(struct fsl_pf_state *state)
{
	fsl_strpool_destroy(state->keys);
	fsl_strpool_destroy(state->tracks);
	fsl_strpool_destroy(state->sequence_ids);
	fsl_free(state->texts);
	fsl_free(state->pids);
	fsl_free(state->sequences);
	fsl_arena_fini(&state->arena);
	*state = (struct fsl_pf_state){0};
}

enum fsl_status fsl_pf_find_sequence(struct fsl_pf_state *state, uint64_t id,
				     struct fsl_pf_sequence **sequence, struct fsl_error *err)
{
	const struct fsl_pf_sequence made = {.id = id};
	char key[sizeof(id)];
	uint32_t at = 0;
	if (state->last < state->n_sequences && state->sequences[state->last].id == id) {
		*sequence = &state->sequences[state->last];
		return FSL_OK;
	}
	memcpy(key, &id, sizeof(id));
	FSL_TRY(fsl_strpool_intern(state->sequence_ids, key, sizeof(key), &at, err));
	if (at >= FSL_PF_SEQUENCES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many sequences of packets: at_most=%d",
				FSL_PF_SEQUENCES_MAX);
	}
	if (at == state->n_sequences) {
		FSL_TRY(FSL_APPEND(state, sequences, &made, err));
	}
	state->last = at;
	*sequence = &state->sequences[at];
	return FSL_OK;
}

static void write_key(char key[KEY_BYTES], const struct fsl_pf_sequence *sequence,
		      enum fsl_pf_use use, uint64_t number)
{
	const uint64_t parts[] = {sequence->id, sequence->generation, (uint64_t)use, number};
	memcpy(key, parts, KEY_BYTES);
}

static enum fsl_status put_text(struct fsl_pf_state *state, const char key[KEY_BYTES],
				struct fsl_trace_text text, struct fsl_error *err)
{
	uint32_t id = 0;
	text.length = text.length < FSL_TRACE_NAME_MAX ? text.length : FSL_TRACE_NAME_MAX;
	state->text_bytes += text.length;
	if (state->n_texts >= FSL_PF_TEXTS_MAX || state->text_bytes > FSL_PF_TEXT_BYTES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many names: at_most=%d", FSL_PF_TEXTS_MAX);
	}
	FSL_TRY(fsl_strpool_intern(state->keys, key, KEY_BYTES, &id, err));
	text.text = fsl_arena_strndup(&state->arena, text.text, text.length);
	FSL_TRY(FSL_MADE(text.text, state->n_texts, "names", err));
	if (id < state->n_texts) {
		state->texts[id] = text;
		return FSL_OK;
	}
	return FSL_APPEND(state, texts, &text, err);
}

static const struct fsl_pf_sequence no_sequence = {.id = UINT64_MAX};

enum fsl_status fsl_pf_name_track(struct fsl_pf_state *state, uint64_t track,
				  struct fsl_trace_text name, struct fsl_error *err)
{
	char key[KEY_BYTES];
	write_key(key, &no_sequence, FSL_PF_TRACK_NAME, track);
	return name.length > 0 ? put_text(state, key, name, err) : FSL_OK;
}

struct fsl_trace_text fsl_pf_track_name(const struct fsl_pf_state *state, uint64_t track)
{
	return fsl_pf_text(state, &no_sequence, FSL_PF_TRACK_NAME, track);
}

static enum fsl_status keep_text(struct fsl_pf_state *state, const struct fsl_pf_sequence *sequence,
				 enum fsl_pf_use use, struct fsl_pf_message entry,
				 struct fsl_error *err)
{
	char key[KEY_BYTES];
	struct fsl_pf_field field;
	struct fsl_trace_text text = {"", 0};
	uint64_t number = 0;
	while (fsl_pf_next(&entry, &field)) {
		if (field.number == INTERNED_ID && field.wire == FSL_PF_VARINT) {
			number = field.value;
		} else if (field.number == INTERNED_TEXT && field.wire == FSL_PF_BYTES) {
			text = (struct fsl_trace_text){field.bytes.at, field.value};
		}
	}
	if (number == 0 || entry.is_bad) {
		return FSL_OK;
	}
	write_key(key, sequence, use, number);
	return put_text(state, key, text, err);
}

enum fsl_status fsl_pf_take_interned(struct fsl_pf_state *state,
				     const struct fsl_pf_sequence *sequence,
				     struct fsl_pf_message interned, struct fsl_error *err)
{
	struct fsl_pf_field field;
	while (fsl_pf_next(&interned, &field)) {
		for (int use = 0; use < FSL_PF_USES_N; use++) {
			if (field.wire == FSL_PF_BYTES && field.number == interned_fields[use]) {
				FSL_TRY(keep_text(state, sequence, (enum fsl_pf_use)use,
						  field.bytes, err));
			}
		}
	}
	return FSL_OK;
}

struct fsl_trace_text fsl_pf_text(const struct fsl_pf_state *state,
				  const struct fsl_pf_sequence *sequence, enum fsl_pf_use use,
				  uint64_t number)
{
	char key[KEY_BYTES];
	write_key(key, sequence, use, number);
	uint32_t id = fsl_strpool_find(state->keys, key, sizeof(key));
	return id != FSL_STR_NONE ? state->texts[id] : (struct fsl_trace_text){"", 0};
}

/* Times that are none stay within what can be added. */
static int64_t bounded(uint64_t time)
{
	return time <= (uint64_t)FSL_JSON_TIME_MAX_NS ? (int64_t)time : FSL_JSON_TIME_MAX_NS;
}

static struct fsl_pf_clock read_reading(struct fsl_pf_message reading)
{
	struct fsl_pf_clock clock = {.unit_ns = 1};
	struct fsl_pf_field field;
	while (fsl_pf_next(&reading, &field)) {
		if (field.wire != FSL_PF_VARINT) {
			continue;
		}
		if (field.number == CLOCK_ID) {
			clock.id = field.value;
		} else if (field.number == CLOCK_TIME) {
			clock.origin = clock.last = bounded(field.value);
		} else if (field.number == CLOCK_INCREMENTAL) {
			clock.is_incremental = field.value != 0;
		} else if (field.number == CLOCK_UNIT) {
			clock.unit_ns =
				field.value > 0 && field.value <= 1000000000 ? field.value : 1;
		}
	}
	return clock;
}

static void keep_clock(struct fsl_pf_sequence *sequence, const struct fsl_pf_clock *clock)
{
	size_t at = 0;
	while (at < sequence->n_clocks && sequence->clocks[at].id != clock->id) {
		at++;
	}
	if (at < FSL_PF_CLOCKS_MAX) {
		sequence->n_clocks = at == sequence->n_clocks ? at + 1 : sequence->n_clocks;
		sequence->clocks[at] = *clock;
	}
}

void fsl_pf_take_clocks(struct fsl_pf_state *state, struct fsl_pf_sequence *sequence,
			struct fsl_pf_message snapshot)
{
	struct fsl_pf_clock readings[READINGS_MAX];
	struct fsl_pf_field field;
	size_t n = 0;
	int64_t real_ns = FSL_NS_ABSENT, origin_ns = FSL_NS_ABSENT;
	while (n < READINGS_MAX && fsl_pf_next(&snapshot, &field)) {
		if (field.number == CLOCKS_CLOCK && field.wire == FSL_PF_BYTES) {
			readings[n++] = read_reading(field.bytes);
		}
	}
	for (size_t i = 0; i < n; i++) {
		real_ns = readings[i].id == FSL_PF_CLOCK_REALTIME ? readings[i].origin : real_ns;
	}
	for (size_t i = 0; i < n; i++) {
		if (readings[i].id >= FSL_PF_CLOCK_OWN) {
			continue;
		}
		if (real_ns != FSL_NS_ABSENT) {
			state->real_ns[readings[i].id] = real_ns - readings[i].origin;
		}
		if (origin_ns == FSL_NS_ABSENT || readings[i].id == FSL_PF_CLOCK_BOOTTIME) {
			origin_ns = readings[i].origin + state->real_ns[readings[i].id];
		}
	}
	for (size_t i = 0; i < n && origin_ns != FSL_NS_ABSENT; i++) {
		if (readings[i].id >= FSL_PF_CLOCK_OWN) {
			readings[i].origin_ns = origin_ns;
			keep_clock(sequence, &readings[i]);
		}
	}
}

/* Time of a clock of the sequence's own. */
static int64_t own_time(struct fsl_pf_sequence *sequence, uint64_t id, int64_t time)
{
	for (size_t i = 0; i < sequence->n_clocks; i++) {
		struct fsl_pf_clock *clock = &sequence->clocks[i];
		int64_t ns = 0;
		if (clock->id != id) {
			continue;
		}
		clock->last = clock->is_incremental
				      ? bounded((uint64_t)clock->last + (uint64_t)time)
				      : time;
		bool is_good = !__builtin_mul_overflow(clock->last - clock->origin,
						       (int64_t)clock->unit_ns, &ns) &&
			       !__builtin_add_overflow(ns, clock->origin_ns, &ns);
		return is_good ? ns : FSL_NS_ABSENT;
	}
	return FSL_NS_ABSENT;
}

int64_t fsl_pf_time(const struct fsl_pf_state *state, struct fsl_pf_sequence *sequence,
		    uint64_t clock, uint64_t time)
{
	clock = clock != 0 ? clock : sequence->clock;
	clock = clock != 0 ? clock : FSL_PF_CLOCK_BOOTTIME;
	int64_t ns = clock >= FSL_PF_CLOCK_OWN ? own_time(sequence, clock, bounded(time))
					       : bounded(time) + state->real_ns[clock];
	return ns >= 0 && ns < FSL_JSON_TIME_MAX_NS ? ns : FSL_NS_ABSENT;
}

enum fsl_status fsl_pf_set_pid(struct fsl_pf_state *state, uint64_t track, uint64_t pid,
			       struct fsl_error *err)
{
	char key[sizeof(track)];
	uint32_t id = 0;
	memcpy(key, &track, sizeof(track));
	if (state->n_pids >= FSL_PF_TRACKS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many tracks: at_most=%d",
				FSL_PF_TRACKS_MAX);
	}
	FSL_TRY(fsl_strpool_intern(state->tracks, key, sizeof(key), &id, err));
	if (id < state->n_pids) {
		state->pids[id] = pid;
		return FSL_OK;
	}
	return FSL_APPEND(state, pids, &pid, err);
}

uint64_t fsl_pf_pid(const struct fsl_pf_state *state, uint64_t track)
{
	char key[sizeof(track)];
	memcpy(key, &track, sizeof(track));
	uint32_t id = fsl_strpool_find(state->tracks, key, sizeof(key));
	return id != FSL_STR_NONE ? state->pids[id] : track;
}
