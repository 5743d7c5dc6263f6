/* Pairs marker rows by (id, source) in order of the file; ids may begin again after a restart. */
#include "source/systrace/marker_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"

enum {
	SLOTS_MIN = 256, /* holds what is in flight; grows when rows come late or never */
	PENDING_MAX = FSL_SINK_OPS_MAX,
	HOST_AHEAD_MAX = 1024, /* operators in front of the device when a job begins */
	HOST = 0,
	DEVICE = 1,
	FLAG_STARTS = 2 | 16, /* range start without and with a stream */
	FLAG_ENDS = 4 | 32,
};
#define NAME_NONE UINT32_MAX

/* One operator that still lacks a row. Times are FSL_NS_ABSENT until seen. */
struct pending {
	uint64_t id;
	int64_t begin_ns[2], end_ns[2]; /* [host], [device] */
	uint32_t name;                  /* of the whole name; UINT32_MAX: not seen */
	bool is_used;                   /* the slot of the hash is taken */
	bool is_backwards;
	bool is_doubtful; /* fsl_marker_pairs_doubt() */
};

/* A name once parsed; every operator with the same text shares it. */
struct parsed_name {
	uint32_t op_id, group_id, dtype_id; /* op_id FSL_STR_NONE: no communication operator */
	uint32_t next; /* name that followed the last time; NAME_NONE: none yet */
	uint64_t n_elements;
	const char *text; /* whole; texts' */
	size_t n_text;
};

/* Which of the operators that never ended a hung rank waits in, best first. */
enum open_class {
	OPEN_ON_DEVICE, /* began on the device: the newest */
	OPEN_ON_HOST,   /* the host never came back from launching it: the newest */
	OPEN_QUEUED,    /* launched, not begun on the device: the oldest blocks the others */
	OPEN_NONE,
};

struct fsl_marker_pairs {
	struct fsl_sink *sink;
	struct pending *slots;
	size_t n_slots, n_pending; /* n_slots is a power of two, at most half full */
	struct fsl_strpool *texts; /* whole names; the id is the index of names[] */
	struct parsed_name *names;
	size_t n_names, names_capacity;
	uint32_t last_name;            /* index of names[], NAME_NONE */
	int64_t last_device_launch_ns; /* newest host begin of an operator with device rows */
	uint64_t last_host_id;
	bool has_host_id;
	bool has_device;    /* else operators are complete when the host is done */
	bool has_id_fallen; /* host ids did not only rise: perhaps a restart */
	enum open_class open;
	uint64_t open_id;
};

struct fsl_marker_pairs *fsl_marker_pairs_create(struct fsl_sink *sink)
{
	struct fsl_marker_pairs *pairs = fsl_calloc(1, sizeof(*pairs));
	if (pairs == NULL) {
		return NULL;
	}
	pairs->sink = sink;
	pairs->last_device_launch_ns = FSL_NS_ABSENT;
	pairs->open = OPEN_NONE;
	pairs->last_name = NAME_NONE;
	pairs->n_slots = SLOTS_MIN;
	pairs->slots = fsl_calloc(pairs->n_slots, sizeof(*pairs->slots));
	pairs->texts = fsl_strpool_create();
	if (pairs->slots == NULL || pairs->texts == NULL) {
		fsl_marker_pairs_destroy(pairs);
		return NULL;
	}
	return pairs;
}

void fsl_marker_pairs_destroy(struct fsl_marker_pairs *pairs)
{
	if (pairs == NULL) {
		return;
	}
	fsl_free(pairs->slots);
	fsl_strpool_destroy(pairs->texts);
	fsl_free(pairs->names);
	fsl_free(pairs);
}

/* Splits at @separator from both ends: first part op, last two dtype and count, group between. */
static bool split_name(struct fsl_marker_name *out, const char *text, size_t length, char separator)
{
	const char *end = text + length;
	const char *op_end = memchr(text, separator, length);
	const char *count = memrchr(text, separator, length);
	if (op_end == NULL || count <= op_end) {
		return false;
	}
	const char *dtype = memrchr(text, separator, (size_t)(count - text));
	if (dtype <= op_end) {
		return false;
	}
	const char *prefix = memrchr(text, ':', (size_t)(op_end - text));
	const char *op = prefix != NULL ? prefix + 1 : text;
	*out = (struct fsl_marker_name){
		.op = op,
		.group = op_end + 1,
		.dtype = dtype + 1,
		.n_op = (size_t)(op_end - op),
		.n_group = (size_t)(dtype - op_end - 1),
		.n_dtype = (size_t)(count - dtype - 1),
	};
	return out->n_op > 0 && out->n_group > 0 && out->n_dtype > 0 &&
	       fsl_parse_u64(count + 1, (size_t)(end - count - 1), &out->n_elements);
}

bool fsl_marker_name_parse(struct fsl_marker_name *out, const char *text, size_t length)
{
	if (length > FSL_NAME_BYTES_MAX || memchr(text, '\0', length) != NULL) {
		return false;
	}
	return split_name(out, text, length, '!') || split_name(out, text, length, ',');
}

static enum fsl_status parse_name(struct fsl_marker_pairs *pairs, const char *text, size_t length,
				  struct parsed_name *parsed, struct fsl_error *err)
{
	struct fsl_marker_name name;
	*parsed = (struct parsed_name){.op_id = FSL_STR_NONE, .next = NAME_NONE};
	if (!fsl_marker_name_parse(&name, text, length)) {
		return FSL_OK;
	}
	parsed->n_elements = name.n_elements;
	FSL_TRY(fsl_sink_intern(pairs->sink, name.op, name.n_op, &parsed->op_id, err));
	FSL_TRY(fsl_sink_intern(pairs->sink, name.group, name.n_group, &parsed->group_id, err));
	return fsl_sink_intern(pairs->sink, name.dtype, name.n_dtype, &parsed->dtype_id, err);
}

/* Index of names[] for a whole name, parsed when it is new. */
static enum fsl_status intern_name(struct fsl_marker_pairs *pairs, const struct fsl_marker *marker,
				   size_t length, uint32_t *name, struct fsl_error *err)
{
	FSL_TRY(fsl_strpool_intern(pairs->texts, marker->name, length, name, err));
	if (*name < pairs->n_names) {
		return FSL_OK;
	}
	FSL_REQUIRE(*name == pairs->n_names);
	FSL_TRY(FSL_GROW(pairs->names, pairs->names_capacity, pairs->n_names + 1, err));
	struct parsed_name *parsed = &pairs->names[pairs->n_names];
	FSL_TRY(parse_name(pairs, marker->name, marker->n_name, parsed, err));
	parsed->text = fsl_strpool_text(pairs->texts, *name);
	parsed->n_text = length;
	pairs->n_names++;
	return FSL_OK;
}

/* The same, with a look first at the name that followed the last one before: steps repeat. */
static enum fsl_status find_name(struct fsl_marker_pairs *pairs, const struct fsl_marker *marker,
				 uint32_t *name, struct fsl_error *err)
{
	if (pairs->n_names >= FSL_SINK_NAMES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"too many different operator names, the rest is not read: max=%d",
				FSL_SINK_NAMES_MAX);
	}
	size_t length = marker->n_name < FSL_NAME_BYTES_MAX ? marker->n_name : FSL_NAME_BYTES_MAX;
	uint32_t last = pairs->last_name;
	uint32_t guess = last != NAME_NONE ? pairs->names[last].next : NAME_NONE;
	if (guess != NAME_NONE && pairs->names[guess].n_text == length &&
	    memcmp(pairs->names[guess].text, marker->name, length) == 0) {
		*name = pairs->last_name = guess;
		return FSL_OK;
	}
	FSL_TRY(intern_name(pairs, marker, length, name, err));
	if (last != NAME_NONE) {
		pairs->names[last].next = *name;
	}
	pairs->last_name = *name;
	return FSL_OK;
}

/* Fibonacci hashing: ids are consecutive numbers. */
static size_t home_slot(const struct fsl_marker_pairs *pairs, uint64_t id)
{
	return (size_t)((id * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (pairs->n_slots - 1);
}

/* The operator's slot, or the free one where it belongs. */
static inline struct pending *find_slot(const struct fsl_marker_pairs *pairs, uint64_t id)
{
	size_t mask = pairs->n_slots - 1;
	size_t slot = home_slot(pairs, id);
	while (pairs->slots[slot].is_used && pairs->slots[slot].id != id) {
		slot = (slot + 1) & mask;
	}
	return &pairs->slots[slot];
}

/* Field by field: a copy of a struct on the stack would wait for the stores that made it. */
static inline void begin_entry(struct pending *entry, uint64_t id)
{
	entry->id = id;
	entry->begin_ns[HOST] = entry->begin_ns[DEVICE] = FSL_NS_ABSENT;
	entry->end_ns[HOST] = entry->end_ns[DEVICE] = FSL_NS_ABSENT;
	entry->name = NAME_NONE;
	entry->is_used = true;
	entry->is_backwards = false;
	entry->is_doubtful = false;
}

static enum fsl_status grow_slots(struct fsl_marker_pairs *pairs, struct fsl_error *err)
{
	if (pairs->n_pending >= PENDING_MAX) {
		return FSL_FAIL(
			err, FSL_ERR_LIMIT,
			"too many incomplete operators, the rest is not read; split the file "
			"by time: max=%d",
			PENDING_MAX);
	}
	struct pending *old = pairs->slots;
	size_t n_old = pairs->n_slots;
	struct pending *slots = fsl_calloc(n_old * 2, sizeof(*slots));
	if (slots == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: incomplete_operators=%zu",
				pairs->n_pending);
	}
	pairs->slots = slots;
	pairs->n_slots = n_old * 2;
	for (size_t i = 0; i < n_old; i++) {
		if (old[i].is_used) {
			*find_slot(pairs, old[i].id) = old[i];
		}
	}
	fsl_free(old);
	return FSL_OK;
}

/* Frees a slot and moves its followers up, so that no chain is broken and no tombstone is left. */
static inline void remove_slot(struct fsl_marker_pairs *pairs, struct pending *entry)
{
	size_t mask = pairs->n_slots - 1;
	size_t hole = (size_t)(entry - pairs->slots);
	for (size_t slot = (hole + 1) & mask; pairs->slots[slot].is_used;
	     slot = (slot + 1) & mask) {
		size_t home = home_slot(pairs, pairs->slots[slot].id);
		if (((slot - home) & mask) >= ((slot - hole) & mask)) {
			pairs->slots[hole] = pairs->slots[slot];
			hole = slot;
		}
	}
	pairs->slots[hole].is_used = false;
	pairs->n_pending--;
}

static bool is_complete(const struct pending *entry, int source)
{
	return entry->begin_ns[source] != FSL_NS_ABSENT && entry->end_ns[source] != FSL_NS_ABSENT;
}

static struct fsl_op op_of(const struct pending *entry, const struct parsed_name *name)
{
	return (struct fsl_op){
		.host_begin_ns = entry->begin_ns[HOST],
		.host_end_ns = entry->end_ns[HOST],
		.dev_begin_ns = entry->begin_ns[DEVICE],
		.dev_end_ns = entry->end_ns[DEVICE],
		.id = entry->id,
		.n_elements = name->n_elements,
		.op_id = name->op_id,
		.group_id = name->group_id,
		.dtype_id = name->dtype_id,
		.step = -1,
	};
}

/* Pushes the operator; an end without its start is left out. */
static enum fsl_status push(struct fsl_marker_pairs *pairs, const struct pending *entry,
			    struct fsl_error *err)
{
	struct fsl_op op = op_of(entry, &pairs->names[entry->name]);
	bool has_device = is_complete(entry, DEVICE);
	if (!has_device) {
		op.dev_begin_ns = op.dev_end_ns = FSL_NS_ABSENT;
	}
	if (has_device && op.host_begin_ns > pairs->last_device_launch_ns) {
		pairs->last_device_launch_ns = op.host_begin_ns;
	}
	return fsl_sink_add_op(pairs->sink, &op, err);
}

/* Keeps an operator that lacks rows: its remaining device times help to restore it. */
static enum fsl_status keep_remnant(struct fsl_marker_pairs *pairs, const struct pending *entry,
				    struct fsl_error *err)
{
	static const struct parsed_name unknown = {
		.op_id = FSL_STR_NONE, .group_id = FSL_STR_NONE, .dtype_id = FSL_STR_NONE};
	const struct parsed_name *name =
		entry->name == NAME_NONE ? &unknown : &pairs->names[entry->name];
	bool has_time =
		entry->begin_ns[DEVICE] != FSL_NS_ABSENT || entry->end_ns[DEVICE] != FSL_NS_ABSENT;
	bool is_other = entry->name != NAME_NONE && name->op_id == FSL_STR_NONE;
	if (!has_time || is_other || entry->is_backwards) {
		return FSL_OK;
	}
	struct fsl_op op = op_of(entry, name);
	return fsl_sink_add_remnant(pairs->sink, &op, err);
}

/* Offers an operator that never ended as the one in which the rank waits. If two operators began at
 * the same time, the one that was launched last counts; if both still queue, the one that was
 * launched first. */
static void note_open(struct fsl_marker_pairs *pairs, const struct pending *entry,
		      enum open_class class, int64_t begin_ns)
{
	struct fsl_rank *events = &pairs->sink->events;
	bool is_better = class < pairs->open;
	if (entry->is_doubtful) {
		return;
	}
	if (class == pairs->open) {
		bool is_later = begin_ns != events->open_begin_ns ? begin_ns > events->open_begin_ns
								  : entry->id > pairs->open_id;
		is_better = is_later != (class == OPEN_QUEUED);
	}
	if (is_better) {
		pairs->open = class;
		pairs->open_id = entry->id;
		events->open_op_id = pairs->names[entry->name].op_id;
		events->open_group_id = pairs->names[entry->name].group_id;
		events->open_begin_ns = begin_ns;
	}
}

/* The fault that makes an entry useless whatever rows it has; FSL_DROPS_N: none. */
static enum fsl_drop entry_fault(const struct fsl_marker_pairs *pairs, const struct pending *entry)
{
	if (entry->name == NAME_NONE) {
		bool is_end_only = entry->begin_ns[HOST] == FSL_NS_ABSENT &&
				   entry->begin_ns[DEVICE] == FSL_NS_ABSENT;
		return is_end_only ? FSL_DROP_NO_START : FSL_DROP_NO_NAME;
	}
	if (pairs->names[entry->name].op_id == FSL_STR_NONE) {
		return FSL_DROP_BAD_NAME;
	}
	return entry->is_backwards ? FSL_DROP_BACKWARDS : FSL_DROPS_N;
}

static int64_t newest_row_ns(const struct pending *entry)
{
	int64_t newest_ns = FSL_NS_ABSENT;
	for (int source = HOST; source <= DEVICE; source++) {
		newest_ns =
			entry->begin_ns[source] > newest_ns ? entry->begin_ns[source] : newest_ns;
		newest_ns = entry->end_ns[source] > newest_ns ? entry->end_ns[source] : newest_ns;
	}
	return newest_ns;
}

/* Counts an entry that lacks rows. If all its rows are older than the range, it may have begun
 * before the place at which reading began; if its newest row is behind the range, it counts in no
 * case. */
static void drop(struct fsl_marker_pairs *pairs, const struct pending *entry, enum fsl_drop why)
{
	int64_t newest_ns = newest_row_ns(entry);
	bool is_outside = newest_ns < pairs->sink->from_ns || newest_ns > pairs->sink->to_ns;
	fsl_sink_drop(pairs->sink, is_outside ? FSL_DROP_OUT_OF_RANGE : why);
}

/*
 * The entry gets no more rows: the file ends, or (@at_end false) its id begins again. Device times
 * decide; an operator without any device row is kept with its host times.
 */
static enum fsl_status settle(struct fsl_marker_pairs *pairs, const struct pending *entry,
			      bool at_end, struct fsl_error *err)
{
	enum fsl_drop fault = entry_fault(pairs, entry);
	if (fault != FSL_DROPS_N) {
		drop(pairs, entry, fault);
		return keep_remnant(pairs, entry, err);
	}
	if (is_complete(entry, DEVICE)) {
		return push(pairs, entry, err);
	}
	if (entry->begin_ns[DEVICE] != FSL_NS_ABSENT) {
		drop(pairs, entry, FSL_DROP_NO_END);
		if (at_end) {
			note_open(pairs, entry, OPEN_ON_DEVICE, entry->begin_ns[DEVICE]);
		}
		return keep_remnant(pairs, entry, err);
	}
	if (entry->end_ns[DEVICE] != FSL_NS_ABSENT || entry->begin_ns[HOST] == FSL_NS_ABSENT) {
		drop(pairs, entry, FSL_DROP_NO_START);
		return keep_remnant(pairs, entry, err);
	}
	if (is_complete(entry, HOST)) {
		return push(pairs, entry, err);
	}
	drop(pairs, entry, FSL_DROP_NO_END);
	if (at_end) {
		note_open(pairs, entry, OPEN_ON_HOST, entry->begin_ns[HOST]);
	}
	return FSL_OK;
}

/*
 * A start row. A second start of the same source is a repeated row (same time) or a new generation
 * of ids. An end that was read before its start belongs to it when it is not earlier.
 */
static enum fsl_status add_start(struct fsl_marker_pairs *pairs, struct pending *entry,
				 const struct fsl_marker *marker, struct fsl_error *err)
{
	int source = marker->is_device ? DEVICE : HOST;
	if (entry->begin_ns[source] == marker->time_ns) {
		fsl_sink_drop(pairs->sink, FSL_DROP_DUPLICATE);
		return FSL_OK;
	}
	if (entry->begin_ns[source] != FSL_NS_ABSENT) {
		FSL_TRY(settle(pairs, entry, false, err));
		pairs->sink->events.is_restarted = true;
		begin_entry(entry, marker->id);
	}
	if (entry->end_ns[source] != FSL_NS_ABSENT && entry->end_ns[source] < marker->time_ns) {
		fsl_sink_drop(pairs->sink, FSL_DROP_NO_START);
		entry->end_ns[source] = FSL_NS_ABSENT;
	}
	entry->begin_ns[source] = marker->time_ns;
	if (source == HOST) {
		pairs->has_id_fallen |= pairs->has_host_id && marker->id <= pairs->last_host_id;
		pairs->has_host_id = true;
		pairs->last_host_id = marker->id;
	}
	return FSL_OK;
}

static void add_end(struct fsl_marker_pairs *pairs, struct pending *entry,
		    const struct fsl_marker *marker)
{
	int source = marker->is_device ? DEVICE : HOST;
	if (entry->end_ns[source] != FSL_NS_ABSENT) {
		fsl_sink_drop(pairs->sink, entry->end_ns[source] == marker->time_ns
						   ? FSL_DROP_DUPLICATE
						   : FSL_DROP_NO_START);
		return;
	}
	entry->end_ns[source] = marker->time_ns;
	if (!pairs->has_device && pairs->n_pending > HOST_AHEAD_MAX) {
		fsl_sink_note_end(pairs->sink, marker->time_ns);
	}
	entry->is_backwards |= entry->begin_ns[source] != FSL_NS_ABSENT &&
			       entry->begin_ns[source] > marker->time_ns;
}

enum fsl_status fsl_marker_pairs_add(struct fsl_marker_pairs *pairs,
				     const struct fsl_marker *marker, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	bool is_start = (marker->flag & FLAG_STARTS) != 0;
	pairs->has_device |= marker->is_device;
	fsl_sink_seen(pairs->sink, marker->time_ns);
	if (is_start == ((marker->flag & FLAG_ENDS) != 0)) {
		/* A mark in time (flags 1, 8), no range. */
		fsl_sink_drop(pairs->sink, FSL_DROP_BAD_NAME);
		return FSL_OK;
	}
	struct pending *entry = find_slot(pairs, marker->id);
	if (!entry->is_used) {
		if ((pairs->n_pending + 1) * 2 > pairs->n_slots) {
			status = grow_slots(pairs, err);
			if (status != FSL_OK) {
				return status;
			}
			entry = find_slot(pairs, marker->id);
		}
		begin_entry(entry, marker->id);
		pairs->n_pending++;
	}
	if (is_start) {
		status = add_start(pairs, entry, marker, err);
	} else {
		add_end(pairs, entry, marker);
	}
	if (status == FSL_OK && marker->n_name > 0) {
		status = find_name(pairs, marker, &entry->name, err);
	}
	if (status == FSL_OK && is_complete(entry, HOST) && is_complete(entry, DEVICE) &&
	    entry->name != NAME_NONE) {
		bool is_good = entry_fault(pairs, entry) == FSL_DROPS_N; /* nearly all are */
		status = is_good ? push(pairs, entry, err) : settle(pairs, entry, false, err);
		remove_slot(pairs, entry);
	}
	return status;
}

/* True if the operator was launched on the host, has no device row, and was launched after the last
 * operator that ran: it waits. If it was launched before that operator, its rows were lost. */
static bool is_queued(const struct fsl_marker_pairs *pairs, const struct pending *entry)
{
	return pairs->last_device_launch_ns != FSL_NS_ABSENT &&
	       entry_fault(pairs, entry) == FSL_DROPS_N && is_complete(entry, HOST) &&
	       entry->begin_ns[DEVICE] == FSL_NS_ABSENT && entry->end_ns[DEVICE] == FSL_NS_ABSENT &&
	       entry->begin_ns[HOST] > pairs->last_device_launch_ns;
}

enum fsl_status fsl_marker_pairs_skip(struct fsl_marker_pairs *pairs, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < pairs->n_slots; i++) {
		if (pairs->slots[i].is_used) {
			status = settle(pairs, &pairs->slots[i], false, err);
			pairs->slots[i].is_used = false;
		}
	}
	pairs->n_pending = 0;
	return status;
}

static bool is_running(const struct pending *entry)
{
	return (entry->begin_ns[HOST] != FSL_NS_ABSENT && entry->end_ns[HOST] == FSL_NS_ABSENT) ||
	       (entry->begin_ns[DEVICE] != FSL_NS_ABSENT && entry->end_ns[DEVICE] == FSL_NS_ABSENT);
}

enum fsl_status fsl_marker_pairs_settle(struct fsl_marker_pairs *pairs, int64_t before_ns,
					struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < pairs->n_slots;) {
		struct pending *entry = &pairs->slots[i];
		bool is_kept = pairs->sink->pieces.keeps_running && is_running(entry);
		if (entry->is_used && newest_row_ns(entry) < before_ns && !is_kept) {
			status = settle(pairs, entry, false, err);
			remove_slot(pairs, entry); /* another may stand there now */
		} else {
			i++;
		}
	}
	return status;
}

void fsl_marker_pairs_doubt(struct fsl_marker_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n_slots; i++) {
		struct pending *entry = &pairs->slots[i];
		for (int source = HOST; source <= DEVICE && entry->is_used; source++) {
			entry->is_doubtful |= entry->begin_ns[source] != FSL_NS_ABSENT &&
					      entry->end_ns[source] == FSL_NS_ABSENT;
		}
	}
}

struct id_use {
	uint64_t id;
	int64_t begin_ns;
};

static int compare_id_uses(const void *left, const void *right)
{
	const struct id_use *a = left, *b = right;
	int order = (a->id > b->id) - (a->id < b->id);
	return order != 0 ? order : (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Call it if host ids did not only rise. The cause is threads that take turns, rows written twice,
 * or a restart, which uses ids again at another time. Notes a restart in the events of the sink. */
static enum fsl_status find_restart(struct fsl_marker_pairs *pairs, struct fsl_error *err)
{
	struct fsl_rank *events = &pairs->sink->events;
	struct id_use *uses = fsl_calloc(events->n_ops, sizeof(*uses));
	if (uses == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", events->n_ops);
	}
	for (size_t i = 0; i < events->n_ops; i++) {
		const struct fsl_op *op = &events->ops[i];
		uses[i] = (struct id_use){op->id, fsl_op_begin_ns(op)};
	}
	qsort(uses, events->n_ops, sizeof(*uses), compare_id_uses);
	for (size_t i = 1; i < events->n_ops && !events->is_restarted; i++) {
		events->is_restarted =
			uses[i].id == uses[i - 1].id && uses[i].begin_ns != uses[i - 1].begin_ns;
	}
	fsl_free(uses);
	return FSL_OK;
}

enum fsl_status fsl_marker_pairs_finish(struct fsl_marker_pairs *pairs, struct fsl_error *err)
{
	for (size_t i = 0; i < pairs->n_slots; i++) {
		if (pairs->slots[i].is_used) {
			FSL_TRY(settle(pairs, &pairs->slots[i], true, err));
		}
	}
	for (size_t i = 0; i < pairs->n_slots; i++) {
		const struct pending *entry = &pairs->slots[i];
		if (entry->is_used && is_queued(pairs, entry)) {
			note_open(pairs, entry, OPEN_QUEUED, entry->begin_ns[HOST]);
		}
	}
	return pairs->has_id_fallen && !pairs->sink->events.is_restarted ? find_restart(pairs, err)
									 : FSL_OK;
}
