/* Marks to bytes and back. Each field has its line here, and the asserts fail when one is added. */
#include <string.h>

#include "base/json_stream.h"
#include "source/mark.h"

enum {
	MARKS_MAGIC = 0x334d5346, /* "FSM3"; another number when anything changes */
	TEXT_BYTES_MAX = 1 << 16, /* paths and messages */
	FILES_MAX = 1 << 24,
	/* Bytes that a file or a mark takes at least, so that short messages do not ask for much
	 * memory. */
	FILE_BYTES_MIN = 64,
	MARK_BYTES_MIN = 64,
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_marker_pending) == 48, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_marker_state) == 64, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_mark) == 200 + FSL_DROPS_N * 8,
	       "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_file_marks) == 672, "fields travel");

/* One field of a struct as a column. */
struct column {
	size_t offset, n_bytes;
};

#define COLUMN(type, field)                                                                        \
	{                                                                                          \
		offsetof(struct type, field), sizeof(((struct type *)0)->field)                    \
	}

static const struct column pending_columns[] = {
	COLUMN(fsl_marker_pending, id),          COLUMN(fsl_marker_pending, begin_ns[0]),
	COLUMN(fsl_marker_pending, begin_ns[1]), COLUMN(fsl_marker_pending, end_ns[0]),
	COLUMN(fsl_marker_pending, end_ns[1]),   COLUMN(fsl_marker_pending, name),
};
static const struct column run_columns[] = {COLUMN(fsl_id_run, first), COLUMN(fsl_id_run, last)};

enum {
	PENDING_COLUMNS_N = sizeof(pending_columns) / sizeof(pending_columns[0]),
	RUN_COLUMNS_N = sizeof(run_columns) / sizeof(run_columns[0]),
};

static void pack_pending(struct fsl_pack *pack, const struct fsl_marker_state *pairs)
{
	const struct fsl_marker_pending *pending = pairs->pending;
	fsl_pack_u64(pack, pairs->n_pending);
	for (size_t i = 0; i < PENDING_COLUMNS_N && pairs->n_pending > 0; i++) {
		const struct fsl_pack_field shape = {pending_columns[i].n_bytes, sizeof(*pending)};
		fsl_pack_column(pack, (const char *)pending + pending_columns[i].offset, shape,
				pairs->n_pending);
	}
	for (size_t i = 0; i < pairs->n_pending; i++) {
		fsl_pack_u8(pack, pending[i].is_backwards);
	}
}

static void pack_pairs(struct fsl_pack *pack, const struct fsl_marker_state *pairs)
{
	fsl_pack_u64(pack, pairs->n_slots);
	fsl_pack_u64(pack, (uint64_t)pairs->last_device_launch_ns);
	fsl_pack_u64(pack, pairs->last_host_id);
	fsl_pack_u8(pack, pairs->has_host_id);
	fsl_pack_u8(pack, pairs->has_id_fallen);
	pack_pending(pack, pairs);
	fsl_pack_u64(pack, pairs->n_used);
	for (size_t i = 0; i < RUN_COLUMNS_N && pairs->n_used > 0; i++) {
		const struct fsl_pack_field shape = {run_columns[i].n_bytes, sizeof(*pairs->used)};
		fsl_pack_column(pack, (const char *)pairs->used + run_columns[i].offset, shape,
				pairs->n_used);
	}
}

static void pack_counts(struct fsl_pack *pack, const struct fsl_event_counts *counts)
{
	fsl_pack_u64(pack, counts->n_ops);
	fsl_pack_u64(pack, counts->n_remnants);
	fsl_pack_u64(pack, counts->n_stages);
}

/* What the marks say of a tail, and where it stands; the tail itself is elsewhere. */
static void pack_tail(struct fsl_pack *pack, const struct fsl_file_marks *file)
{
	for (size_t i = 0; i < file->n_marks; i++) {
		fsl_pack_u8(pack, file->marks[i].is_in_tail);
		if (file->marks[i].is_in_tail) {
			pack_counts(pack, &file->marks[i].events);
		}
	}
	fsl_pack_u8(pack, (uint8_t)file->tail.n_segments);
	for (size_t i = 0; i < file->tail.n_segments; i++) {
		const struct fsl_tail_segment *segment = &file->tail.segments[i];
		pack_counts(pack, &segment->n);
		fsl_pack_u64(pack, segment->offset);
		fsl_pack_u64(pack, segment->checksum);
	}
}

static void pack_mark(struct fsl_pack *pack, const struct fsl_mark *mark)
{
	fsl_pack_u64(pack, (uint64_t)mark->first_ns);
	fsl_pack_u64(pack, (uint64_t)mark->boundary_ns);
	fsl_pack_u64(pack, mark->place.offset);
	fsl_pack_u64(pack, mark->place.line);
	fsl_pack_u8(pack, mark->place.json_state);
	fsl_pack_u64(pack, mark->fingerprint);
	fsl_pack_u8(pack, (uint8_t)mark->state);
	fsl_pack_text(pack, mark->message);
	fsl_pack_u64(pack, mark->n_records);
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		fsl_pack_u64(pack, mark->n_dropped[i]);
	}
	fsl_pack_u64(pack, (uint64_t)mark->last_event_ns);
	fsl_pack_u32(pack, (uint32_t)mark->rank);
	fsl_pack_u8(pack, mark->is_restarted);
	fsl_pack_u8(pack, mark->has_events);
	fsl_pack_u64(pack, mark->n_names);
	pack_pairs(pack, &mark->pairs);
}

static void pack_file(struct fsl_pack *pack, const struct fsl_file_marks *file)
{
	fsl_pack_text(pack, file->path);
	fsl_pack_u64(pack, file->device);
	fsl_pack_u64(pack, file->inode);
	fsl_pack_u64(pack, file->n_bytes);
	fsl_pack_u64(pack, file->head_fingerprint);
	fsl_pack_u8(pack, (uint8_t)file->kind);
	fsl_pack_u8(pack, file->is_packed);
	fsl_pack_u8(pack, file->is_ignored);
	fsl_pack_u8(pack, file->is_bare);
	fsl_pack_text(pack, file->format);
	fsl_pack_u64(pack, (uint64_t)file->last.device_ns);
	fsl_pack_u64(pack, (uint64_t)file->last.any_ns);
	fsl_pack_u64(pack, file->n_names);
	for (size_t i = 0; i < file->n_names; i++) {
		fsl_pack_text(pack, file->names[i]);
	}
	fsl_pack_u64(pack, file->n_marks);
	for (size_t i = 0; i < file->n_marks; i++) {
		pack_mark(pack, &file->marks[i]);
	}
	pack_tail(pack, file);
}

void fsl_marks_pack(const struct fsl_marks *marks, struct fsl_pack *pack)
{
	fsl_pack_u32(pack, MARKS_MAGIC);
	fsl_pack_u64(pack, (uint64_t)marks->period_ns);
	fsl_pack_u64(pack, (uint64_t)marks->lead_ns);
	fsl_pack_u64(pack, marks->n_files);
	for (size_t i = 0; i < marks->n_files; i++) {
		pack_file(pack, &marks->files[i]);
	}
}

/* What is being read, and what it becomes. */
struct unpacking {
	struct fsl_unpack bytes;
	struct fsl_marks *marks;
	bool is_short; /* of memory */
};

static void expect(struct unpacking *from, bool is_sound)
{
	from->bytes.is_bad = from->bytes.is_bad || !is_sound;
}

/* NULL when something was bad before, or memory is short. */
static void *room_for(struct unpacking *from, size_t n, size_t n_item_bytes)
{
	void *room = from->bytes.is_bad || from->is_short
			     ? NULL
			     : fsl_arena_alloc(&from->marks->arena, n * n_item_bytes);
	from->is_short = from->is_short || (room == NULL && !from->bytes.is_bad);
	return room;
}

static bool unpack_bool(struct unpacking *from)
{
	uint8_t value = fsl_unpack_u8(&from->bytes);
	expect(from, value < 2);
	return value == 1;
}

static uint8_t unpack_below(struct unpacking *from, uint8_t n)
{
	uint8_t value = fsl_unpack_u8(&from->bytes);
	expect(from, value < n);
	return value;
}

static bool is_time_or_absent(int64_t time_ns)
{
	return time_ns >= FSL_NS_ABSENT && time_ns <= FSL_TIME_MAX_NS;
}

static int64_t unpack_time(struct unpacking *from)
{
	int64_t time_ns = (int64_t)fsl_unpack_u64(&from->bytes);
	expect(from, is_time_or_absent(time_ns));
	return time_ns;
}

static const char *unpack_text(struct unpacking *from, size_t n_max)
{
	size_t n = 0;
	const char *text = fsl_unpack_text(&from->bytes, n_max, &n);
	char *copy = room_for(from, n + 1, 1);
	if (copy != NULL && n > 0) {
		memcpy(copy, text, n);
	}
	return copy != NULL ? copy : "";
}

/* A count of things of @n_item_bytes each at least. */
static size_t unpack_count(struct unpacking *from, size_t n_max, size_t n_item_bytes)
{
	uint64_t n = fsl_unpack_u64(&from->bytes);
	expect(from, n <= n_max && n <= from->bytes.n_left / n_item_bytes);
	return from->bytes.is_bad ? 0 : (size_t)n;
}

static bool is_pending_sound(const struct fsl_marker_pending *entry, size_t n_names)
{
	return is_time_or_absent(entry->begin_ns[0]) && is_time_or_absent(entry->begin_ns[1]) &&
	       is_time_or_absent(entry->end_ns[0]) && is_time_or_absent(entry->end_ns[1]) &&
	       (entry->name < n_names || entry->name == UINT32_MAX);
}

static void unpack_pending(struct unpacking *from, struct fsl_marker_state *pairs, size_t n_names)
{
	size_t n = fsl_unpack_count(&from->bytes, pairs->n_slots / 2, PENDING_COLUMNS_N);
	struct fsl_marker_pending *pending = room_for(from, n, sizeof(*pending));
	if (pending == NULL) {
		return;
	}
	for (size_t i = 0; i < PENDING_COLUMNS_N && n > 0; i++) {
		const struct fsl_pack_field shape = {pending_columns[i].n_bytes, sizeof(*pending)};
		fsl_unpack_column(&from->bytes, (char *)pending + pending_columns[i].offset, shape,
				  n);
	}
	for (size_t i = 0; i < n; i++) {
		pending[i].is_backwards = unpack_bool(from);
		pending[i].is_used = true;
		expect(from, is_pending_sound(&pending[i], n_names));
	}
	pairs->pending = pending;
	pairs->n_pending = n;
}

static void unpack_used(struct unpacking *from, struct fsl_marker_state *pairs)
{
	size_t n = fsl_unpack_count(&from->bytes, FSL_MARKER_STATE_RUNS_MAX, RUN_COLUMNS_N);
	struct fsl_id_run *used = room_for(from, n, sizeof(*used));
	if (used == NULL) {
		return;
	}
	for (size_t i = 0; i < RUN_COLUMNS_N && n > 0; i++) {
		const struct fsl_pack_field shape = {run_columns[i].n_bytes, sizeof(*used)};
		fsl_unpack_column(&from->bytes, (char *)used + run_columns[i].offset, shape, n);
	}
	for (size_t i = 0; i < n; i++) {
		expect(from, used[i].first <= used[i].last);
		expect(from, i == 0 || used[i].first > used[i - 1].last);
	}
	pairs->used = used;
	pairs->n_used = n;
}

/* A format without pairs has none of it, not even slots. */
static void unpack_pairs(struct unpacking *from, struct fsl_marker_state *pairs, size_t n_names)
{
	uint64_t n_slots = fsl_unpack_u64(&from->bytes);
	expect(from, n_slots <= FSL_MARKER_STATE_SLOTS_MAX && (n_slots & (n_slots - 1)) == 0);
	expect(from, n_slots == 0 || n_slots >= FSL_MARKER_SLOTS_MIN);
	pairs->n_slots = from->bytes.is_bad ? 0 : (size_t)n_slots;
	pairs->last_device_launch_ns = unpack_time(from);
	pairs->last_host_id = fsl_unpack_u64(&from->bytes);
	pairs->has_host_id = unpack_bool(from);
	pairs->has_id_fallen = unpack_bool(from);
	unpack_pending(from, pairs, n_names);
	unpack_used(from, pairs);
}

static void unpack_place(struct unpacking *from, struct fsl_mark_place *place)
{
	place->offset = fsl_unpack_u64(&from->bytes);
	place->line = fsl_unpack_u64(&from->bytes);
	place->json_state = unpack_below(from, FSL_JSON_PLACES_N);
	expect(from, place->offset <= INT64_MAX && place->line <= INT64_MAX);
}

static void unpack_counters(struct unpacking *from, struct fsl_mark *mark)
{
	mark->state = (enum fsl_file_state)unpack_below(from, FSL_FILE_DUPLICATE + 1);
	mark->message = unpack_text(from, TEXT_BYTES_MAX);
	mark->n_records = fsl_unpack_u64(&from->bytes);
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		mark->n_dropped[i] = fsl_unpack_u64(&from->bytes);
	}
	mark->last_event_ns = unpack_time(from);
	mark->rank = (int32_t)fsl_unpack_u32(&from->bytes);
	expect(from, mark->rank >= FSL_RANK_UNKNOWN && mark->rank < FSL_RANKS_MAX);
	mark->is_restarted = unpack_bool(from);
	mark->has_events = unpack_bool(from);
}

static bool is_boundary(const struct fsl_marks *marks, int64_t time_ns)
{
	return time_ns >= 0 && time_ns <= FSL_TIME_MAX_NS + 2 * FSL_MARK_SPAN_MAX_NS &&
	       time_ns % marks->period_ns == 0;
}

/* The boundaries of one mark follow those of the one before. */
static void unpack_mark(struct unpacking *from, struct fsl_mark *mark, const struct fsl_mark *last,
			size_t n_names)
{
	mark->first_ns = (int64_t)fsl_unpack_u64(&from->bytes);
	mark->boundary_ns = (int64_t)fsl_unpack_u64(&from->bytes);
	expect(from, is_boundary(from->marks, mark->first_ns) &&
			     (mark->boundary_ns == INT64_MAX ||
			      is_boundary(from->marks, mark->boundary_ns)) &&
			     mark->first_ns <= mark->boundary_ns);
	expect(from, last == NULL || last->boundary_ns < mark->first_ns);
	unpack_place(from, &mark->place);
	mark->fingerprint = fsl_unpack_u64(&from->bytes);
	unpack_counters(from, mark);
	uint64_t n_own = fsl_unpack_u64(&from->bytes);
	expect(from, n_own <= n_names);
	mark->n_names = from->bytes.is_bad ? 0 : (size_t)n_own;
	unpack_pairs(from, &mark->pairs, mark->n_names);
}

static void unpack_names(struct unpacking *from, struct fsl_file_marks *file)
{
	size_t n = unpack_count(from, FSL_SINK_NAMES_MAX, sizeof(uint32_t));
	const char **names = room_for(from, n, sizeof(*names));
	for (size_t i = 0; names != NULL && i < n; i++) {
		names[i] = unpack_text(from, FSL_NAME_BYTES_MAX);
	}
	file->names = names;
	file->n_names = n;
}

static void unpack_marks(struct unpacking *from, struct fsl_file_marks *file)
{
	size_t n = unpack_count(from, FSL_MARKS_KEPT + 1, MARK_BYTES_MIN);
	struct fsl_mark *marks = room_for(from, n, sizeof(*marks));
	for (size_t i = 0; marks != NULL && i < n && !from->bytes.is_bad; i++) {
		unpack_mark(from, &marks[i], i > 0 ? &marks[i - 1] : NULL, file->n_names);
	}
	file->marks = marks;
	file->n_marks = n;
}

static bool are_ordered(const struct fsl_event_counts *a, const struct fsl_event_counts *b)
{
	return a->n_ops <= b->n_ops && a->n_remnants <= b->n_remnants && a->n_stages <= b->n_stages;
}

static struct fsl_event_counts unpack_counts(struct unpacking *from)
{
	struct fsl_event_counts counts = {0, 0, 0};
	counts.n_ops = fsl_unpack_u64(&from->bytes);
	counts.n_remnants = fsl_unpack_u64(&from->bytes);
	counts.n_stages = fsl_unpack_u64(&from->bytes);
	expect(from, counts.n_ops <= FSL_SINK_OPS_MAX && counts.n_remnants <= FSL_SINK_OPS_MAX &&
			     counts.n_stages <= FSL_SINK_STAGES_MAX &&
			     fsl_counts_bytes(counts) <= FSL_TAILS_BYTES_MAX);
	return counts;
}

/* A tail begins at a mark and goes on to the last. */
static void unpack_tail(struct unpacking *from, struct fsl_file_marks *file)
{
	bool is_in_tail = false;
	struct fsl_event_counts last = {0, 0, 0};
	for (size_t i = 0; i < file->n_marks && !from->bytes.is_bad; i++) {
		struct fsl_mark *mark = &file->marks[i];
		mark->is_in_tail = unpack_bool(from);
		expect(from, mark->is_in_tail || !is_in_tail);
		is_in_tail = mark->is_in_tail;
		if (is_in_tail) {
			mark->events = unpack_counts(from);
			expect(from, are_ordered(&last, &mark->events));
			last = mark->events;
		}
	}
	struct fsl_tail *tail = &file->tail;
	tail->n_segments = tail->n_written = unpack_below(from, FSL_TAIL_SEGMENTS_MAX + 1);
	for (size_t i = 0; i < tail->n_segments && !from->bytes.is_bad; i++) {
		struct fsl_tail_segment *segment = &tail->segments[i];
		segment->n = unpack_counts(from);
		segment->offset = fsl_unpack_u64(&from->bytes);
		segment->checksum = fsl_unpack_u64(&from->bytes);
		expect(from, segment->offset <= INT64_MAX / 2);
		tail->n = fsl_counts_sum(tail->n, segment->n);
	}
	expect(from, fsl_counts_bytes(tail->n) <= 2 * FSL_TAILS_BYTES_MAX);
	expect(from, are_ordered(&last, &tail->n) && are_ordered(&tail->n, &last));
}

static void unpack_file(struct unpacking *from, struct fsl_file_marks *file)
{
	file->path = unpack_text(from, TEXT_BYTES_MAX);
	file->device = fsl_unpack_u64(&from->bytes);
	file->inode = fsl_unpack_u64(&from->bytes);
	file->n_bytes = fsl_unpack_u64(&from->bytes);
	file->head_fingerprint = fsl_unpack_u64(&from->bytes);
	file->kind = (enum fsl_input_kind)unpack_below(from, FSL_INPUT_LOG + 1);
	file->is_packed = unpack_bool(from);
	file->is_ignored = unpack_bool(from);
	file->is_bare = unpack_bool(from);
	file->format = unpack_text(from, TEXT_BYTES_MAX);
	file->last.device_ns = unpack_time(from);
	file->last.any_ns = unpack_time(from);
	unpack_names(from, file);
	unpack_marks(from, file);
	unpack_tail(from, file);
}

static void unpack_all(struct unpacking *from)
{
	struct fsl_marks *marks = from->marks;
	expect(from, fsl_unpack_u32(&from->bytes) == MARKS_MAGIC);
	marks->period_ns = (int64_t)fsl_unpack_u64(&from->bytes);
	marks->lead_ns = (int64_t)fsl_unpack_u64(&from->bytes);
	expect(from, marks->period_ns > 0 && marks->period_ns <= FSL_MARK_SPAN_MAX_NS);
	expect(from, marks->lead_ns >= 0 && marks->lead_ns <= FSL_MARK_SPAN_MAX_NS);
	size_t n = unpack_count(from, FILES_MAX, FILE_BYTES_MIN);
	if (FSL_GROW(marks->files, marks->capacity, n, NULL) != FSL_OK) {
		from->is_short = true;
		return;
	}
	while (marks->n_files < n && !from->bytes.is_bad && !from->is_short) {
		struct fsl_file_marks *file = &marks->files[marks->n_files++];
		*file = (struct fsl_file_marks){.path = ""};
		unpack_file(from, file);
		expect(from, marks->n_files < 2 || strcmp(file[-1].path, file->path) < 0);
	}
}

enum fsl_status fsl_marks_unpack(struct fsl_marks *marks, const void *bytes, size_t n_bytes,
				 struct fsl_error *err)
{
	struct unpacking from = {.bytes = {.at = bytes, .n_left = n_bytes}, .marks = marks};
	unpack_all(&from);
	if (!from.is_short && fsl_unpack_is_done(&from.bytes)) {
		return FSL_OK;
	}
	fsl_marks_fini(marks);
	return from.is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", n_bytes)
			     : FSL_FAIL(err, FSL_ERR_FORMAT,
					"what an earlier run left of its reading is broken: "
					"bytes=%zu",
					n_bytes);
}
