/* A ring of blocks: the second thread scans them, and so does the first when it has to wait. */
#include "chrome/trace_ahead.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/try.h"
#include "chrome/trace_scanner.h"

enum {
	SLOTS_N = 16, /* a thread that sleeps wakes late: many blocks, so that none has to */
	BLOCK_BYTES = 256 * 1024,  /* with its events it stays in a second-level cache */
	FILE_BYTES_MIN = 16 << 20, /* a smaller one takes less than a thread costs */
	/* Read behind a block, for its last event; a longer one is left to the walk. */
	OVERLAP_BYTES = 8 * 1024,
	OVERLAP_BYTES_MIN = 4 * 1024,
	/* The thread is given up if after so many blocks less than a quarter of the bytes could be
	 * taken: most events of the file are then for the tokenizer. */
	TRIAL_BLOCKS = 16,
	USEFUL_MIN = 4,
};

/* An event without its texts, which stay in the block. */
struct packed {
	uint64_t pid, tid, id;
	int64_t ts_ns, dur_ns, number;
	uint32_t at, length; /* in the text of the block */
	uint32_t n_newlines;
	uint32_t first_value; /* of its args, then its counters */
	uint32_t name_at, args_set;
	const char *category_text; /* in the block, or of the shapes, which keep it */
	uint16_t name_length, category_length;
	int16_t name, category;
	uint8_t separator_length, n_newlines_between, n_counters;
	char phase;
	bool has_id, has_nested_args, has_counters;
};

enum slot_state { SLOT_FREE, SLOT_SCANNING, SLOT_READY };

struct slot {
	enum slot_state state;
	uint64_t block; /* index of the block */
	uint64_t text_offset;
	char *text;
	size_t n_text;
	struct packed *events; /* by @at */
	size_t n_events, events_capacity;
	int64_t *values; /* numbers; texts as their place and length */
	size_t n_values, values_capacity;
};

/* A thread scans with this. */
struct hand {
	struct fsl_trace_scanner scanner;
	struct fsl_trace_event event;
};

struct fsl_trace_ahead {
	const struct fsl_reader *reader;
	const struct fsl_trace_listener *listener;
	size_t block_bytes, overlap_bytes;
	uint64_t n_blocks;
	struct slot slots[SLOTS_N]; /* block b is in slot b % SLOTS_N */
	struct hand hands[2];       /* of the walk, of the second thread */
	size_t cursor;              /* the event that the walk comes to next, in its block */
	bool is_begun, has_thread;
	uint64_t begin_block, n_taken_bytes;
	pthread_t thread;
	pthread_mutex_t mutex;   /* for all below, and the slots' states */
	pthread_cond_t changed;  /* one of them */
	uint64_t first, to_scan; /* the walk's block, and the next one that nobody scans yet */
	bool is_over;
};

static int64_t pack_text(const struct slot *slot, const struct fsl_trace_text *text)
{
	uint64_t at = text->length > 0 ? (uint64_t)(text->text - slot->text) : 0;
	return (int64_t)(at << 32 | text->length);
}

static struct fsl_trace_text unpack_text(const struct slot *slot, int64_t packed)
{
	size_t length = (uint64_t)packed & UINT32_MAX;
	return (struct fsl_trace_text){length > 0 ? slot->text + ((uint64_t)packed >> 32) : "",
				       length};
}

static bool is_text(const struct fsl_trace_vocabulary *vocabulary, size_t arg)
{
	return vocabulary->args[arg].kind == FSL_TRACE_ARG_TEXT;
}

/* Adds args and counters; there is room. */
static void pack_values(struct slot *slot, const struct fsl_trace_vocabulary *vocabulary,
			const struct fsl_trace_event *event)
{
	for (uint32_t left = event->args_set; left != 0; left &= left - 1) {
		size_t arg = (size_t)__builtin_ctz(left);
		slot->values[slot->n_values++] = is_text(vocabulary, arg)
							 ? pack_text(slot, &event->texts[arg])
							 : event->args[arg];
	}
	for (size_t i = 0; i < event->n_counters; i++) {
		slot->values[slot->n_values++] = pack_text(slot, &event->counters[i].key);
		slot->values[slot->n_values++] = event->counters[i].millionths;
	}
}

/* Adds the event of @length bytes at @at of the block. FSL_ERR_MEMORY. */
static enum fsl_status pack(struct slot *slot, const struct fsl_trace_vocabulary *vocabulary,
			    const struct fsl_trace_event *event, size_t at, size_t length,
			    uint64_t n_newlines)
{
	enum { VALUES_MAX = FSL_TRACE_ARGS_MAX + 2 * FSL_TRACE_COUNTERS_MAX };
	FSL_TRY(FSL_GROW(slot->events, slot->events_capacity, slot->n_events + 1, NULL));
	FSL_TRY(FSL_GROW(slot->values, slot->values_capacity, slot->n_values + VALUES_MAX, NULL));
	slot->events[slot->n_events++] = (struct packed){
		.pid = event->pid,
		.tid = event->tid,
		.id = event->id,
		.ts_ns = event->ts_ns,
		.dur_ns = event->dur_ns,
		.number = event->number,
		.at = (uint32_t)at,
		.length = (uint32_t)length,
		.n_newlines = (uint32_t)n_newlines,
		.first_value = (uint32_t)slot->n_values,
		.name_at = (uint32_t)(pack_text(slot, &event->whole_name) >> 32),
		.category_text = event->whole_category.text,
		.args_set = event->args_set,
		.name_length = (uint16_t)event->whole_name.length,
		.category_length = (uint16_t)event->whole_category.length,
		.name = (int16_t)event->name,
		.category = (int16_t)event->category,
		.n_counters = (uint8_t)event->n_counters,
		.phase = event->phase,
		.has_id = event->has_id,
		.has_nested_args = event->has_nested_args,
		.has_counters = event->has_counters,
	};
	pack_values(slot, vocabulary, event);
	return FSL_OK;
}

static void unpack(const struct slot *slot, const struct packed *packed,
		   const struct fsl_trace_vocabulary *vocabulary, struct fsl_trace_event *event)
{
	const int64_t *value = slot->values + packed->first_value;
	fsl_trace_event_clear_set(vocabulary, event);
	event->phase = packed->phase;
	event->name = packed->name;
	event->category = packed->category;
	event->number = packed->number;
	event->has_id = packed->has_id;
	event->pid = packed->pid;
	event->tid = packed->tid;
	event->id = packed->id;
	event->ts_ns = packed->ts_ns;
	event->dur_ns = packed->dur_ns;
	event->has_nested_args = packed->has_nested_args;
	event->has_counters = packed->has_counters;
	event->n_counters = packed->n_counters;
	event->args_set = packed->args_set;
	if (packed->name_length > 0) {
		event->whole_name =
			(struct fsl_trace_text){slot->text + packed->name_at, packed->name_length};
	}
	event->whole_category =
		(struct fsl_trace_text){packed->category_text, packed->category_length};
	for (uint32_t left = packed->args_set; left != 0; left &= left - 1) {
		size_t arg = (size_t)__builtin_ctz(left);
		if (is_text(vocabulary, arg)) {
			event->texts[arg] = unpack_text(slot, *value++);
		} else {
			event->args[arg] = *value++;
		}
	}
	for (size_t i = 0; i < event->n_counters; i++, value += 2) {
		event->counters[i] =
			(struct fsl_trace_counter){unpack_text(slot, value[0]), value[1]};
		event->n_key_bytes += event->counters[i].key.length;
	}
}

/* Scans events that follow each other from *at on, up to @end; *at goes to where the search for
 * another one is to begin. */
static enum fsl_status scan_run(const struct fsl_trace_ahead *ahead, struct hand *hand,
				struct slot *slot, size_t *at, size_t end)
{
	const struct fsl_trace_listener *listener = ahead->listener;
	bool is_more = true;
	while (is_more && *at < end) {
		uint64_t n_newlines = 0;
		size_t length =
			fsl_trace_scanner_event(&hand->scanner, slot->text + *at,
						slot->n_text - *at, &hand->event, &n_newlines);
		bool is_good = length > 0 && listener->fault_of(&hand->event) == NULL;
		if (is_good) {
			FSL_TRY(pack(slot, listener->vocabulary, &hand->event, *at, length,
				     n_newlines));
		}
		*at += length > 0 ? length : 1;
		is_more = length > 0 && fsl_trace_scanner_next(&hand->scanner, slot->text + *at,
							       slot->n_text - *at);
		if (is_more) {
			const struct fsl_trace_separator *between = &hand->scanner.separator;
			*at += between->length;
			if (is_good) {
				struct packed *last = &slot->events[slot->n_events - 1];
				last->separator_length = (uint8_t)between->length;
				last->n_newlines_between = (uint8_t)between->n_newlines;
			}
		}
	}
	return FSL_OK;
}

/* Reads and scans the block of a slot. If that fails, the walk does it, and reports the failure. */
static void scan_block(const struct fsl_trace_ahead *ahead, struct hand *hand, struct slot *slot)
{
	uint64_t begin = slot->block * ahead->block_bytes;
	uint64_t n_before = begin > 0 ? FSL_TRACE_SEPARATOR_MAX : 0;
	size_t end = n_before + ahead->block_bytes, at = 0, n_left = 0;
	slot->text_offset = begin - n_before;
	slot->n_events = slot->n_values = slot->n_text = 0;
	if (fsl_reader_sample(ahead->reader, slot->text_offset, slot->text,
			      end + ahead->overlap_bytes, &slot->n_text, NULL) != FSL_OK) {
		return;
	}
	end = end < slot->n_text ? end : slot->n_text;
	do {
		at += fsl_trace_find_item(slot->text + at, slot->n_text - at, &n_left);
	} while (at < end && scan_run(ahead, hand, slot, &at, end) == FSL_OK);
}

/* Takes the next block that nobody scans yet; NULL: none, or its slot is still in use. Locked. */
static struct slot *claim(struct fsl_trace_ahead *ahead)
{
	struct slot *slot = &ahead->slots[ahead->to_scan % SLOTS_N];
	if (ahead->to_scan >= ahead->n_blocks || ahead->to_scan - ahead->first >= SLOTS_N ||
	    slot->state == SLOT_SCANNING) {
		return NULL;
	}
	slot->state = SLOT_SCANNING;
	slot->block = ahead->to_scan++;
	return slot;
}

/* Scans the block of a slot that was claimed. Locked before and afterwards. */
static void scan_claimed(struct fsl_trace_ahead *ahead, struct hand *hand, struct slot *slot)
{
	(void)pthread_mutex_unlock(&ahead->mutex);
	scan_block(ahead, hand, slot);
	(void)pthread_mutex_lock(&ahead->mutex);
	slot->state = SLOT_READY;
	(void)pthread_cond_broadcast(&ahead->changed);
}

static void *run_thread(void *context)
{
	struct fsl_trace_ahead *ahead = context;
	(void)pthread_mutex_lock(&ahead->mutex);
	while (!ahead->is_over) {
		struct slot *slot = claim(ahead);
		if (slot != NULL) {
			scan_claimed(ahead, &ahead->hands[1], slot);
		} else {
			(void)pthread_cond_wait(&ahead->changed, &ahead->mutex);
		}
	}
	(void)pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

/* Goes to @block and waits until it was scanned. */
static const struct slot *go(struct fsl_trace_ahead *ahead, uint64_t block)
{
	struct slot *slot = &ahead->slots[block % SLOTS_N];
	(void)pthread_mutex_lock(&ahead->mutex);
	ahead->first = block;
	ahead->to_scan = ahead->to_scan > block ? ahead->to_scan : block;
	ahead->cursor = 0;
	(void)pthread_cond_broadcast(&ahead->changed);
	while (slot->state != SLOT_READY || slot->block != block) {
		struct slot *other = claim(ahead);
		if (other != NULL) {
			scan_claimed(ahead, &ahead->hands[0], other);
		} else {
			(void)pthread_cond_wait(&ahead->changed, &ahead->mutex);
		}
	}
	(void)pthread_mutex_unlock(&ahead->mutex);
	return slot;
}

static bool begin_thread(struct fsl_trace_ahead *ahead, uint64_t block)
{
	ahead->is_begun = true;
	ahead->first = ahead->to_scan = ahead->begin_block = block;
	ahead->has_thread = pthread_create(&ahead->thread, NULL, run_thread, ahead) == 0;
	return ahead->has_thread;
}

static void end_thread(struct fsl_trace_ahead *ahead)
{
	if (ahead->has_thread) {
		(void)pthread_mutex_lock(&ahead->mutex);
		ahead->is_over = true;
		(void)pthread_cond_broadcast(&ahead->changed);
		(void)pthread_mutex_unlock(&ahead->mutex);
		(void)pthread_join(ahead->thread, NULL);
		ahead->has_thread = false;
	}
}

static bool is_useless(const struct fsl_trace_ahead *ahead, uint64_t block)
{
	uint64_t n = block - ahead->begin_block;
	return n >= TRIAL_BLOCKS && ahead->n_taken_bytes / ahead->block_bytes < n / USEFUL_MIN;
}

bool fsl_trace_ahead_is_on(const struct fsl_trace_ahead *ahead)
{
	return ahead != NULL && (ahead->has_thread || !ahead->is_begun);
}

bool fsl_trace_ahead_find(struct fsl_trace_ahead *ahead, uint64_t offset,
			  struct fsl_trace_event *event, struct fsl_trace_scanned *scanned)
{
	uint64_t block = offset / ahead->block_bytes;
	bool is_new = !ahead->is_begun;
	if (block >= ahead->n_blocks || (is_new && !begin_thread(ahead, block)) ||
	    !ahead->has_thread || block < ahead->first) {
		return false;
	}
	if (block > ahead->first && is_useless(ahead, block)) {
		end_thread(ahead);
		return false;
	}
	const struct slot *slot =
		is_new || block > ahead->first ? go(ahead, block) : &ahead->slots[block % SLOTS_N];
	while (ahead->cursor < slot->n_events &&
	       slot->text_offset + slot->events[ahead->cursor].at < offset) {
		ahead->cursor++;
	}
	if (ahead->cursor == slot->n_events) { /* of a block without events they are NULL */
		return false;
	}
	const struct packed *packed = &slot->events[ahead->cursor];
	if (slot->text_offset + packed->at != offset) {
		return false;
	}
	unpack(slot, packed, ahead->listener->vocabulary, event);
	ahead->n_taken_bytes += packed->length;
	*scanned = (struct fsl_trace_scanned){.end_offset = offset + packed->length,
					      .n_newlines = packed->n_newlines,
					      .n_newlines_between = packed->n_newlines_between};
	if (packed->separator_length > 0) {
		scanned->next_offset = scanned->end_offset + packed->separator_length;
	}
	return true;
}

static bool init(struct fsl_trace_ahead *ahead)
{
	bool is_good = true;
	for (size_t i = 0; i < SLOTS_N; i++) {
		ahead->slots[i].text = fsl_calloc(1, FSL_TRACE_SEPARATOR_MAX + ahead->block_bytes +
							     ahead->overlap_bytes);
		is_good = is_good && ahead->slots[i].text != NULL;
	}
	for (size_t i = 0; i < 2; i++) {
		struct hand *hand = &ahead->hands[i];
		is_good = fsl_trace_scanner_init(&hand->scanner, ahead->listener->vocabulary) &&
			  is_good;
		fsl_trace_event_clear(ahead->listener->vocabulary, &hand->event);
	}
	return is_good;
}

struct fsl_trace_ahead *fsl_trace_ahead_create(const struct fsl_reader *reader,
					       const struct fsl_trace_listener *listener)
{
	bool is_told = listener->block_bytes > 0;
	size_t block_bytes = is_told ? listener->block_bytes : BLOCK_BYTES;
	uint64_t n_bytes = fsl_reader_disk_bytes(reader);
	if (!listener->has_second_thread || !fsl_reader_can_seek(reader) ||
	    (!is_told && n_bytes < FILE_BYTES_MIN)) {
		return NULL;
	}
	struct fsl_trace_ahead *ahead = fsl_calloc(1, sizeof(*ahead));
	if (ahead == NULL) {
		return NULL;
	}
	ahead->reader = reader;
	ahead->listener = listener;
	ahead->block_bytes = block_bytes;
	ahead->overlap_bytes = is_told ? OVERLAP_BYTES_MIN : OVERLAP_BYTES;
	ahead->n_blocks = (n_bytes + block_bytes - 1) / block_bytes;
	bool has_locks = pthread_mutex_init(&ahead->mutex, NULL) == 0 &&
			 pthread_cond_init(&ahead->changed, NULL) == 0;
	if (!init(ahead) || !has_locks) {
		fsl_trace_ahead_destroy(ahead);
		return NULL;
	}
	return ahead;
}

void fsl_trace_ahead_destroy(struct fsl_trace_ahead *ahead)
{
	if (ahead == NULL) {
		return;
	}
	end_thread(ahead);
	for (size_t i = 0; i < SLOTS_N; i++) {
		fsl_free(ahead->slots[i].text);
		fsl_free(ahead->slots[i].events);
		fsl_free(ahead->slots[i].values);
	}
	fsl_trace_scanner_fini(&ahead->hands[0].scanner);
	fsl_trace_scanner_fini(&ahead->hands[1].scanner);
	(void)pthread_cond_destroy(&ahead->changed);
	(void)pthread_mutex_destroy(&ahead->mutex);
	fsl_free(ahead);
}
