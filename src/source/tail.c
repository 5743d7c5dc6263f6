/* Tails between the sink and memory. */
#include "source/tail.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "model/chapter.h"
#include "source/load_pack.h"
#include "source/mark_take.h"
#include "source/tail_parts.h"

enum {
	PARTS_OF_FILE = 4,    /* no tail is longer than one of them */
	ENDS_APART_PARTS = 8, /* of a chapter: so much later than others a file may end */
	TIMES_AS_LONG = 4,    /* chapters may be where they hold few steps */
};

struct fsl_event_counts fsl_sink_counts(const struct fsl_sink *sink)
{
	const struct fsl_rank *events = &sink->events;
	return (struct fsl_event_counts){events->n_ops, events->n_remnants, events->n_stages};
}

struct fsl_event_counts fsl_counts_behind(struct fsl_event_counts a, struct fsl_event_counts b)
{
	return (struct fsl_event_counts){a.n_ops - b.n_ops, a.n_remnants - b.n_remnants,
					 a.n_stages - b.n_stages};
}

size_t fsl_counts_bytes(struct fsl_event_counts counts)
{
	return (size_t)(counts.n_ops + counts.n_remnants) * sizeof(struct fsl_op) +
	       (size_t)counts.n_stages * sizeof(struct fsl_stage);
}

struct fsl_event_counts fsl_counts_sum(struct fsl_event_counts a, struct fsl_event_counts b)
{
	return (struct fsl_event_counts){a.n_ops + b.n_ops, a.n_remnants + b.n_remnants,
					 a.n_stages + b.n_stages};
}

uint64_t fsl_events_checksum(const struct fsl_op *ops, const struct fsl_op *remnants,
			     const struct fsl_stage *stages, struct fsl_event_counts n)
{
	const uint64_t parts[] = {
		fsl_hash_large(ops, (size_t)n.n_ops * sizeof(*ops)),
		fsl_hash_large(remnants, (size_t)n.n_remnants * sizeof(*remnants)),
		fsl_hash_large(stages, (size_t)n.n_stages * sizeof(*stages)),
	};
	return fsl_hash_block(parts, sizeof(parts));
}

void fsl_tail_fini(struct fsl_tail *tail)
{
	fsl_free(tail->ops);
	fsl_free(tail->remnants);
	fsl_free(tail->stages);
	*tail = (struct fsl_tail){.ops = NULL};
}

bool fsl_tail_pass(struct fsl_tail *tail, struct fsl_event_counts n)
{
	struct fsl_event_counts passed = {0, 0, 0};
	size_t k = 0;
	while (k < tail->n_segments && fsl_counts_bytes(passed) < fsl_counts_bytes(n)) {
		passed = fsl_counts_sum(passed, tail->segments[k].n);
		if (k++ >= tail->n_written) {
			tail->n_passed = fsl_counts_sum(tail->n_passed, tail->segments[k - 1].n);
		}
	}
	memmove(tail->segments, tail->segments + k,
		(tail->n_segments - k) * sizeof(tail->segments[0]));
	tail->n_segments -= k;
	tail->n_written -= k < tail->n_written ? k : tail->n_written;
	tail->n = fsl_counts_behind(tail->n, passed);
	return memcmp(&passed, &n, sizeof(n)) == 0;
}

static bool fits(const struct fsl_mark_taker *taker, const struct fsl_mark *from,
		 const struct fsl_mark *end)
{
	uint64_t n_bytes = end->place.offset - from->place.offset;
	return n_bytes <= taker->n_bytes / PARTS_OF_FILE &&
	       fsl_counts_bytes(fsl_counts_behind(end->events, from->events)) <=
		       taker->tail_bytes_max;
}

/* The last mark that stands early enough for the newest chapter, which is half its length long at
 * least; or the first behind it that leaves no more than there may be. Where the length was
 * guessed, for the longest that chapters may have. */
static const struct fsl_mark *find_begin(const struct fsl_mark_taker *taker,
					 const struct fsl_mark *end, int64_t last_ns)
{
	int64_t n_times = taker->n_parts > 0 ? TIMES_AS_LONG : 1;
	const struct fsl_chapter_rule rule = fsl_chapter_rule_for(n_times * taker->period_ns);
	int64_t least_ns = rule.length_ns / 2 + rule.length_ns / ENDS_APART_PARTS;
	int64_t newest_ns = (last_ns - least_ns) / rule.length_ns * rule.length_ns;
	int64_t lead_ns = taker->n_parts > 0 ? rule.lead_ns + rule.slack_ns : taker->lead_ns;
	const struct fsl_mark *mark = end;
	while (mark > taker->marks && mark->first_ns + lead_ns - mark->lead_ns > newest_ns) {
		mark--;
	}
	while (mark < end && !fits(taker, mark, end)) {
		mark++;
	}
	return mark;
}

/* A copy of items [@begin, @begin + @n); *is_copied false when out of memory. */
static void *copy_of(const void *items, uint64_t begin, uint64_t n, size_t n_item_bytes,
		     bool *is_copied)
{
	void *copy = NULL;
	size_t capacity = 0;
	bool is_short =
		n > 0 && fsl_grow(&copy, &capacity, (size_t)n, n_item_bytes, NULL) != FSL_OK;
	if (n > 0 && !is_short) {
		memcpy(copy, (const char *)items + (size_t)begin * n_item_bytes,
		       (size_t)n * n_item_bytes);
	}
	*is_copied = *is_copied && !is_short;
	return copy;
}

/* Copies the events of the sink in [@begin, @end) behind the tail; it would save time, no more, so
 * that nobody fails for it. */
static bool copy_events(struct fsl_tail *tail, const struct fsl_rank *events,
			struct fsl_event_counts begin, struct fsl_event_counts end)
{
	const struct fsl_event_counts n = fsl_counts_behind(end, begin);
	bool is_copied = true;
	tail->ops = copy_of(events->ops, begin.n_ops, n.n_ops, sizeof(*tail->ops), &is_copied);
	tail->remnants = copy_of(events->remnants, begin.n_remnants, n.n_remnants,
				 sizeof(*tail->remnants), &is_copied);
	tail->stages = copy_of(events->stages, begin.n_stages, n.n_stages, sizeof(*tail->stages),
			       &is_copied);
	if (!is_copied) {
		fsl_tail_fini(tail);
	}
	return is_copied;
}

/* A segment up to each mark behind @begin of the sink's events; false when there is no room. */
static bool add_segments(struct fsl_tail *tail, const struct fsl_mark_taker *taker,
			 struct fsl_event_counts begin)
{
	for (size_t i = 0; i < taker->n_marks; i++) {
		const struct fsl_event_counts end = taker->marks[i].events;
		if (fsl_counts_bytes(end) <= fsl_counts_bytes(begin)) {
			continue;
		}
		if (tail->n_segments == FSL_TAIL_SEGMENTS_MAX) {
			return false;
		}
		const struct fsl_event_counts n = fsl_counts_behind(end, begin);
		tail->segments[tail->n_segments++].n = n;
		tail->n = fsl_counts_sum(tail->n, n);
		begin = end;
	}
	return true;
}

/* The tail that was begun with, if there is one that can go on. */
static bool go_on(struct fsl_tail *tail, const struct fsl_mark_taker *taker)
{
	if (taker->at == taker->from) {
		return false;
	}
	*tail = taker->old->tail;
	bool is_passed = fsl_tail_pass(tail, taker->from->events);
	tail->n_passed = (struct fsl_event_counts){0, 0, 0}; /* of arrays that are not there */
	return is_passed && add_segments(tail, taker, tail->n) &&
	       fsl_counts_bytes(tail->n) <= taker->tail_bytes_max;
}

void fsl_tail_take(struct fsl_mark_taker *taker, const struct fsl_sink *sink)
{
	const struct fsl_rank *events = &sink->events;
	if (taker->tail_bytes_max == 0 || taker->n_marks == 0 ||
	    taker->marks[taker->n_marks - 1].boundary_ns != INT64_MAX) {
		return;
	}
	const struct fsl_mark *end = &taker->marks[taker->n_marks - 1], *from = taker->marks;
	struct fsl_tail tail = {.n_segments = 0};
	/* Of the sink: in front of the tail, and in front of its new segments. */
	struct fsl_event_counts begin = {0, 0, 0}, n_old = begin;
	if (go_on(&tail, taker)) {
		n_old = fsl_counts_behind(taker->at->events, taker->from->events);
	} else {
		from = find_begin(taker, end, events->last_event_ns);
		begin = n_old = from->events;
		tail = (struct fsl_tail){.n_segments = 0};
		if (!add_segments(&tail, taker, n_old)) {
			return;
		}
	}
	if (!copy_events(&tail, events, n_old, end->events)) {
		return;
	}
	for (size_t i = (size_t)(from - taker->marks); i < taker->n_marks; i++) {
		taker->marks[i].events = fsl_counts_behind(taker->marks[i].events, begin);
		taker->marks[i].is_in_tail = true;
	}
	taker->tail = tail;
}

/* Items of the file of tails; moves *offset on. */
static bool read_items(int fd, uint64_t *offset, void *items, uint64_t n, size_t n_item_bytes)
{
	size_t n_bytes = (size_t)n * n_item_bytes, n_read = 0;
	while (n_read < n_bytes) {
		ssize_t got = pread(fd, (char *)items + n_read, n_bytes - n_read,
				    (off_t)(*offset + n_read));
		if (got == 0 || (got < 0 && errno != EINTR)) {
			return false;
		}
		n_read += got > 0 ? (size_t)got : 0;
	}
	*offset += n_bytes;
	return true;
}

/* One segment, to behind the events that are there. */
static bool read_segment(struct fsl_rank *events, const struct fsl_tail_segment *segment, int fd)
{
	const struct fsl_event_counts n = segment->n;
	struct fsl_op *ops = FSL_BEHIND(events->ops, events->n_ops);
	struct fsl_op *remnants = FSL_BEHIND(events->remnants, events->n_remnants);
	struct fsl_stage *stages = FSL_BEHIND(events->stages, events->n_stages);
	uint64_t offset = segment->offset;
	events->n_ops += (size_t)n.n_ops;
	events->n_remnants += (size_t)n.n_remnants;
	events->n_stages += (size_t)n.n_stages;
	return read_items(fd, &offset, ops, n.n_ops, sizeof(*ops)) &&
	       read_items(fd, &offset, remnants, n.n_remnants, sizeof(*remnants)) &&
	       read_items(fd, &offset, stages, n.n_stages, sizeof(*stages)) &&
	       fsl_events_checksum(ops, remnants, stages, n) == segment->checksum;
}

static bool read_tail(struct fsl_rank *events, const struct fsl_tail *tail, int fd)
{
	bool is_read = true;
	for (size_t i = 0; i < tail->n_segments && is_read; i++) {
		is_read = read_segment(events, &tail->segments[i], fd);
	}
	if (!is_read) {
		events->n_ops = events->n_remnants = events->n_stages = 0;
	}
	return is_read;
}

/* Room for the tail, and for the operators that may come behind it in so many bytes of markers. */
static bool make_room(struct fsl_rank *events, const struct fsl_event_counts *n, uint64_t n_behind)
{
	size_t n_ops = (size_t)n->n_ops + (size_t)(n_behind / FSL_MARKER_OP_BYTES);
	return FSL_GROW(events->ops, events->ops_capacity, n_ops, NULL) == FSL_OK &&
	       FSL_GROW(events->remnants, events->remnants_capacity, (size_t)n->n_remnants, NULL) ==
		       FSL_OK &&
	       FSL_GROW(events->stages, events->stages_capacity, (size_t)n->n_stages, NULL) ==
		       FSL_OK;
}

/* True when rows between the marks were broken: where writers and readers share a folder over the
 * network, such rows may be whole by now. */
static bool is_broken_between(const struct fsl_mark *from, const struct fsl_mark *end)
{
	static const enum fsl_drop kinds[] = {FSL_DROP_MALFORMED, FSL_DROP_TOO_LONG, FSL_DROP_CUT};
	bool is_broken = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		is_broken = is_broken || from->n_dropped[kinds[i]] != end->n_dropped[kinds[i]];
	}
	return is_broken;
}

bool fsl_tail_has(const struct fsl_mark_taker *taker)
{
	const struct fsl_mark *end = &taker->old->marks[taker->old->n_marks - 1];
	return taker->tails_fd >= 0 && taker->from->is_in_tail && end->is_in_tail &&
	       taker->from != end && !is_broken_between(taker->from, end);
}

bool fsl_tail_load(struct fsl_sink *sink, const struct fsl_mark_taker *taker)
{
	const struct fsl_file_marks *old = taker->old;
	const struct fsl_mark *end = &old->marks[old->n_marks - 1];
	struct fsl_rank *events = &sink->events;
	struct fsl_tail tail = old->tail;
	uint64_t n_behind = old->kind == FSL_INPUT_MARKERS ? taker->n_bytes - end->place.offset : 0;
	if (!fsl_tail_pass(&tail, taker->from->events) ||
	    !make_room(events, &tail.n, n_behind < FSL_TAILS_BYTES_MAX ? n_behind : 0)) {
		return false;
	}
	if (!read_tail(events, &tail, taker->tails_fd)) {
		fsl_log(FSL_LOG_INFO, "ingest",
			"what was kept of the newest rows is damaged, they are read again: "
			"path=\"%s\"",
			sink->file->path);
		return false;
	}
	return true;
}

bool fsl_tail_check(struct fsl_sink *sink)
{
	struct fsl_rank *events = &sink->events;
	bool is_rising = events->n_ops > 0;
	for (size_t i = 1; i < events->n_ops; i++) {
		is_rising = is_rising &&
			    fsl_op_begin_ns(&events->ops[i - 1]) < fsl_op_begin_ns(&events->ops[i]);
	}
	events->is_rising = is_rising;
	return fsl_load_are_events_sound(events, fsl_strpool_size(sink->names));
}
