/* Snapshots of a sink and its pairs between two rows, and back. */
#include "source/mark_take.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"

enum {
	GUESS_BYTES_MIN = 1 << 17, /* what is smaller is read fast enough */
	/* So far back lies the begin of the newest chapter where it is eight times as long as the
	 * shortest that there may be. */
	REACH_PERIODS = 16,
};

void fsl_mark_taker_begin(struct fsl_mark_taker *taker, const struct fsl_ingest_options *options,
			  const struct fsl_file_marks *old)
{
	*taker = (struct fsl_mark_taker){
		.period_ns = options->mark_period_ns,
		.lead_ns = options->mark_lead_ns,
		.resume_ns = options->resume_ns,
		.old = old,
		.n_parts = options->mark_parts,
		.longest_ns = options->mark_period_ns,
		.began_ns = FSL_NS_ABSENT,
		.least_pace = INFINITY,
		.tails_fd = options->resume != NULL && options->resume->has_tails
				    ? options->resume->tails_fd
				    : -1,
	};
}

void fsl_mark_taker_begin_again(struct fsl_mark_taker *taker)
{
	struct fsl_mark_taker again = {
		.period_ns = taker->period_ns,
		.lead_ns = taker->lead_ns,
		.resume_ns = taker->resume_ns,
		.n_parts = taker->n_parts,
		.longest_ns = taker->longest_ns,
		.began_ns = FSL_NS_ABSENT,
		.least_pace = INFINITY,
		.tails_fd = -1,
		.tail_bytes_max = taker->tail_bytes_max,
		.is_forgetting = true,
	};
	fsl_mark_taker_fini(taker);
	*taker = again;
}

static void free_marks(struct fsl_mark_taker *taker)
{
	for (size_t i = 0; i < taker->n_marks; i++) {
		fsl_marker_state_fini(&taker->marks[i].pairs);
	}
	taker->n_marks = 0;
}

void fsl_mark_taker_fini(struct fsl_mark_taker *taker)
{
	free_marks(taker);
	fsl_tail_fini(&taker->tail);
	fsl_free(taker->names);
	fsl_arena_fini(&taker->arena);
	*taker = (struct fsl_mark_taker){0};
}

const struct fsl_mark *fsl_mark_find(const struct fsl_file_marks *marks, int64_t boundary_ns)
{
	size_t n = marks->n_marks;
	while (n > 0 && marks->marks[n - 1].first_ns > boundary_ns) {
		n--;
	}
	return n > 0 ? &marks->marks[n - 1] : NULL;
}

uint64_t fsl_mark_fingerprint(const char *bytes, size_t n_bytes)
{
	return fsl_hash_block(bytes, n_bytes);
}

size_t fsl_mark_sample_size(uint64_t offset)
{
	return offset < FSL_MARK_SAMPLE_BYTES ? (size_t)offset : FSL_MARK_SAMPLE_BYTES;
}

/* The fingerprint of what stands before @offset; false where that cannot be read. */
static bool sample(const struct fsl_reader *reader, uint64_t offset, uint64_t *fingerprint)
{
	char bytes[FSL_MARK_SAMPLE_BYTES];
	size_t n_read = 0, n_bytes = fsl_mark_sample_size(offset);
	enum fsl_status status =
		fsl_reader_sample(reader, offset - n_bytes, bytes, n_bytes, &n_read, NULL);
	*fingerprint = fsl_mark_fingerprint(bytes, n_read);
	return status == FSL_OK && n_read == n_bytes;
}

/* True when the head of the file is what it was; mostly it was looked at just now. */
static bool has_same_head(const struct fsl_mark_taker *taker, const struct fsl_reader *reader)
{
	const struct fsl_file_marks *old = taker->old;
	uint64_t fingerprint = taker->head_fingerprint;
	size_t n_old = fsl_mark_sample_size(old->n_bytes);
	bool is_known = n_old == fsl_mark_sample_size(fsl_reader_disk_bytes(reader));
	return (is_known || sample(reader, n_old, &fingerprint)) &&
	       fingerprint == old->head_fingerprint;
}

/* True when the file still has what the earlier run read before the mark. */
static bool is_same(const struct fsl_mark_taker *taker, const struct fsl_mark *mark,
		    const struct fsl_reader *reader, const char *format)
{
	uint64_t fingerprint = 0;
	return strcmp(taker->old->format, format) == 0 && has_same_head(taker, reader) &&
	       sample(reader, mark->place.offset, &fingerprint) && fingerprint == mark->fingerprint;
}

/* True when the same goes for the marks behind it, up to the last. */
static bool are_same_behind(const struct fsl_mark_taker *taker, const struct fsl_reader *reader)
{
	const struct fsl_file_marks *old = taker->old;
	bool is_same = true;
	for (const struct fsl_mark *mark = taker->from + 1;
	     is_same && mark < old->marks + old->n_marks; mark++) {
		uint64_t fingerprint = 0;
		is_same = sample(reader, mark->place.offset, &fingerprint) &&
			  fingerprint == mark->fingerprint;
	}
	return is_same;
}

void fsl_mark_look(struct fsl_mark_taker *taker, const struct fsl_reader *reader)
{
	taker->is_packed = !fsl_reader_can_seek(reader);
	if (!taker->is_packed) {
		(void)sample(reader, fsl_mark_sample_size(fsl_reader_disk_bytes(reader)),
			     &taker->head_fingerprint);
	}
}

void fsl_mark_arm(struct fsl_sink *sink, struct fsl_mark_taker *taker,
		  const struct fsl_reader *reader, const char *format)
{
	const struct fsl_file_marks *old = taker->old;
	const struct fsl_mark *from = old != NULL ? fsl_mark_find(old, taker->resume_ns) : NULL;
	if (taker->is_packed) {
		return;
	}
	if (from != NULL && !is_same(taker, from, reader, format)) {
		fsl_log(FSL_LOG_INFO, "ingest",
			"file has just changed and is read from the beginning: path=\"%s\"",
			sink->file->path);
		return;
	}
	taker->from = taker->at = from;
	taker->n_bytes = fsl_reader_disk_bytes(reader);
	if (from != NULL && fsl_tail_has(taker) && are_same_behind(taker, reader) &&
	    fsl_tail_load(sink, taker)) {
		taker->at = &old->marks[old->n_marks - 1];
	}
	taker->n_parts = taker->n_bytes >= GUESS_BYTES_MIN ? taker->n_parts : 0;
	/* The first mark stands for no boundary of the longest chapters that is still to come: the
	 * next is due long before that. */
	taker->lead_ns = taker->n_parts > 0 ? 0 : taker->lead_ns;
	sink->taker = taker;
	sink->mark_at_ns = INT64_MIN;
}

bool fsl_mark_is_resumed(const struct fsl_sink *sink, struct fsl_mark_place *place)
{
	if (sink->taker == NULL || sink->taker->from == NULL) {
		return false;
	}
	*place = sink->taker->at->place;
	return true;
}

/* Keeps copies of the names that are new since the last mark. */
static enum fsl_status take_names(struct fsl_mark_taker *taker, const struct fsl_strpool *texts,
				  struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(texts);
	enum fsl_status status = FSL_GROW(taker->names, taker->names_capacity, n_names, err);
	while (status == FSL_OK && taker->n_names < n_names) {
		const char *text = fsl_strpool_text(texts, (uint32_t)taker->n_names);
		char *copy = fsl_arena_strdup(&taker->arena, text);
		if (copy == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names);
		}
		taker->names[taker->n_names++] = copy;
	}
	return status;
}

static bool has_events(const struct fsl_sink *sink)
{
	const struct fsl_rank *events = &sink->events;
	return sink->has_events_before || events->n_ops > 0 || events->n_stages > 0 ||
	       events->n_steps > 0;
}

/*
 * Which mark is of least use once there is one for @newest_ns: the oldest, when the next reaches
 * back far enough, else that which leaves the smallest gap for its age. Chapters may be several
 * times as long as marks are apart, and any mark before their begin will do.
 */
static size_t least_of_use(const struct fsl_mark_taker *taker, int64_t newest_ns)
{
	const struct fsl_mark *marks = taker->marks;
	size_t least = 0;
	double least_gap = INFINITY;
	bool is_known = taker->n_parts == 0;
	if (is_known || newest_ns - marks[1].boundary_ns >= REACH_PERIODS * taker->period_ns) {
		return 0;
	}
	for (size_t i = 1; i + 1 < taker->n_marks; i++) {
		double age = (double)(newest_ns - marks[i + 1].boundary_ns);
		double gap = (double)(marks[i + 1].boundary_ns - marks[i - 1].boundary_ns) / age;
		least = gap < least_gap ? i : least;
		least_gap = fmin(least_gap, gap);
	}
	return least;
}

/* Puts a mark behind the others; one goes when there are too many. */
static void push(struct fsl_mark_taker *taker, const struct fsl_mark *mark)
{
	size_t n_max = taker->n_parts > 0 ? FSL_MARKS_TAKEN : FSL_MARKS_KEPT;
	if (taker->n_marks == n_max && mark->boundary_ns != INT64_MAX) {
		size_t i = least_of_use(taker, mark->boundary_ns);
		fsl_marker_state_fini(&taker->marks[i].pairs);
		memmove(&taker->marks[i], &taker->marks[i + 1],
			(n_max - 1 - i) * sizeof(taker->marks[0]));
		taker->n_marks--;
	}
	taker->marks[taker->n_marks++] = *mark;
}

static enum fsl_status take(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
			    struct fsl_mark *mark, struct fsl_error *err)
{
	struct fsl_mark_taker *taker = sink->taker;
	const struct fsl_strpool *texts =
		pairs != NULL ? fsl_marker_pairs_texts(pairs) : sink->names;
	bool is_saved = true;
	enum fsl_status status = take_names(taker, texts, err);
	if (status == FSL_OK && pairs != NULL) {
		status = fsl_marker_pairs_save(pairs, &mark->pairs, &is_saved, err);
	}
	if (status != FSL_OK || !is_saved) {
		return status;
	}
	const struct fsl_file *file = sink->file;
	mark->state = file->state;
	mark->message = file->message;
	mark->n_records = file->n_records;
	memcpy(mark->n_dropped, file->n_dropped, sizeof(mark->n_dropped));
	mark->last_event_ns = sink->events.last_event_ns;
	mark->rank = sink->events.rank;
	mark->is_restarted = sink->events.is_restarted;
	mark->has_events = has_events(sink);
	mark->n_names = fsl_strpool_size(texts);
	mark->events = fsl_sink_counts(sink);
	push(taker, mark);
	return FSL_OK;
}

/* What is there when the first mark for the boundary is reached. */
static void note_old(struct fsl_sink *sink, int64_t boundary_ns)
{
	struct fsl_mark_taker *taker = sink->taker;
	if (taker->is_forgetting && boundary_ns >= taker->resume_ns) {
		taker->n_old_ops = sink->events.n_ops;
		taker->n_old_remnants = sink->events.n_remnants;
		taker->n_old_stages = sink->events.n_stages;
		taker->is_forgetting = false;
	}
}

enum fsl_status fsl_mark_take(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
			      const struct fsl_mark_place *place, int64_t time_ns,
			      struct fsl_error *err)
{
	struct fsl_mark_taker *taker = sink->taker;
	int64_t boundary_ns = (time_ns + taker->lead_ns) / taker->period_ns * taker->period_ns;
	struct fsl_mark mark = {
		.first_ns = taker->next_ns, .boundary_ns = boundary_ns, .lead_ns = taker->lead_ns};
	taker->next_ns = boundary_ns + taker->period_ns;
	if (taker->n_parts > 0 && place != NULL) {
		fsl_mark_guess(taker, boundary_ns, place, time_ns);
	}
	sink->mark_at_ns = taker->next_ns - taker->lead_ns;
	note_old(sink, boundary_ns);
	if (place == NULL) {
		return FSL_OK;
	}
	mark.place = *place;
	return take(sink, pairs, &mark, err);
}

enum fsl_status fsl_mark_take_end(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
				  const struct fsl_mark_place *place, struct fsl_error *err)
{
	struct fsl_mark_taker *taker = sink->taker;
	if (taker == NULL || sink->mark_at_ns == INT64_MAX) {
		return FSL_OK;
	}
	struct fsl_mark mark = {
		.first_ns = taker->next_ns,
		.boundary_ns = INT64_MAX,
		.lead_ns = taker->lead_ns,
		.place = *place,
	};
	sink->mark_at_ns = INT64_MAX;
	note_old(sink, INT64_MAX);
	return take(sink, pairs, &mark, err);
}

static void *copy_of(const void *items, size_t n, size_t n_item_bytes)
{
	void *copy = fsl_calloc(n, n_item_bytes);
	if (copy != NULL && n > 0) {
		memcpy(copy, items, n * n_item_bytes);
	}
	return copy;
}

/* An old mark is one of this run, too. */
static enum fsl_status take_old(struct fsl_mark_taker *taker, const struct fsl_mark *old,
				struct fsl_error *err)
{
	struct fsl_mark mark = *old;
	struct fsl_marker_state *pairs = &mark.pairs;
	mark.lead_ns = taker->lead_ns;
	mark.events = fsl_counts_behind(old->events, taker->from->events);
	mark.is_in_tail = false;
	pairs->pending = copy_of(old->pairs.pending, pairs->n_pending, sizeof(*pairs->pending));
	pairs->used = copy_of(old->pairs.used, pairs->n_used, sizeof(*pairs->used));
	if (pairs->pending == NULL || pairs->used == NULL) {
		fsl_marker_state_fini(pairs);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu",
				old->pairs.n_pending);
	}
	push(taker, &mark);
	return FSL_OK;
}

/* All those between the one that was begun at and the end, behind which reading goes on. */
static enum fsl_status take_passed(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
				   struct fsl_error *err)
{
	struct fsl_mark_taker *taker = sink->taker;
	const struct fsl_strpool *texts =
		pairs != NULL ? fsl_marker_pairs_texts(pairs) : sink->names;
	enum fsl_status status = take_names(taker, texts, err);
	for (const struct fsl_mark *old = taker->from; status == FSL_OK && old < taker->at; old++) {
		status = take_old(taker, old, err);
	}
	taker->next_ns = taker->at->first_ns;
	sink->mark_at_ns = taker->next_ns - taker->lead_ns;
	return status;
}

/* The mark that was begun at is the first of this run, too. */
static enum fsl_status take_from(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
				 struct fsl_error *err)
{
	struct fsl_mark_taker *taker = sink->taker;
	const struct fsl_mark *from = taker->from;
	bool is_end = from->boundary_ns == INT64_MAX;
	struct fsl_mark mark = {
		.first_ns = from->first_ns,
		.boundary_ns = from->boundary_ns,
		.lead_ns = taker->lead_ns,
		.place = from->place,
	};
	taker->next_ns = is_end ? from->first_ns : from->boundary_ns + taker->period_ns;
	sink->mark_at_ns = taker->next_ns - taker->lead_ns;
	return is_end ? FSL_OK : take(sink, pairs, &mark, err);
}

static enum fsl_status restore_sink(struct fsl_sink *sink, const struct fsl_mark *at,
				    struct fsl_error *err)
{
	struct fsl_file *file = sink->file;
	file->state = at->state;
	file->n_records = at->n_records;
	memcpy(file->n_dropped, at->n_dropped, sizeof(file->n_dropped));
	file->message = fsl_arena_strdup(&sink->arena, at->message);
	if (file->message == NULL) {
		file->message = "out of memory";
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", file->path);
	}
	sink->events.last_event_ns = at->last_event_ns;
	sink->events.rank = at->rank;
	sink->events.is_restarted = at->is_restarted;
	sink->has_events_before = sink->taker->from->has_events;
	return FSL_OK;
}

/* Names of a format without pairs. */
static enum fsl_status restore_names(struct fsl_sink *sink, const char *const *names,
				     size_t n_names, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		uint32_t id = 0;
		status = fsl_sink_intern(sink, names[i], strlen(names[i]), &id, err);
		if (status == FSL_OK && id != i) {
			status = FSL_FAIL(err, FSL_ERR_FORMAT, "a name stands twice: name=%zu", i);
		}
	}
	return status;
}

enum fsl_status fsl_mark_restore(struct fsl_sink *sink, struct fsl_marker_pairs *pairs,
				 struct fsl_error *err)
{
	const struct fsl_mark *from = sink->taker->from, *at = sink->taker->at;
	const char *const *names = sink->taker->old->names;
	enum fsl_status status = restore_sink(sink, at, err);
	if (status == FSL_OK && pairs == NULL) {
		status = restore_names(sink, names, at->n_names, err);
	} else if (status == FSL_OK) {
		const struct fsl_marker_past past = {from->pairs.used, from->pairs.n_used,
						     from->last_event_ns};
		status =
			fsl_marker_pairs_restore(pairs, &at->pairs, &past, names, at->n_names, err);
	}
	if (status == FSL_OK && at != from && !fsl_tail_check(sink)) {
		status = FSL_FAIL(err, FSL_ERR_FORMAT, "a tail is broken: path=\"%s\"",
				  sink->file->path);
	}
	if (status == FSL_OK) {
		return at != from ? take_passed(sink, pairs, err) : take_from(sink, pairs, err);
	}
	sink->is_inexact = true; /* a broken mark: the file is read again without it */
	return status;
}

static void forget(void *items, size_t *n, size_t n_old, size_t n_item_bytes)
{
	*n -= n_old;
	memmove(items, (char *)items + n_old * n_item_bytes, *n * n_item_bytes);
}

static void forget_old(struct fsl_sink *sink)
{
	const struct fsl_mark_taker *taker = sink->taker;
	struct fsl_rank *events = &sink->events;
	bool has_any = has_events(sink);
	if (taker->n_old_ops > 0) {
		forget(events->ops, &events->n_ops, taker->n_old_ops, sizeof(*events->ops));
	}
	if (taker->n_old_remnants > 0) {
		forget(events->remnants, &events->n_remnants, taker->n_old_remnants,
		       sizeof(*events->remnants));
	}
	if (taker->n_old_stages > 0) {
		forget(events->stages, &events->n_stages, taker->n_old_stages,
		       sizeof(*events->stages));
	}
	sink->has_events_before = has_any;
}

/* The mark of the earlier run there, from the one that was begun at on; NULL: none. */
static const struct fsl_mark *find_old(const struct fsl_mark_taker *taker, uint64_t offset)
{
	const struct fsl_mark *end =
		taker->from != NULL ? taker->old->marks + taker->old->n_marks : NULL;
	for (const struct fsl_mark *mark = taker->from; mark < end; mark++) {
		if (mark->place.offset == offset && mark <= taker->at) {
			return mark;
		}
	}
	return NULL;
}

void fsl_mark_finish(struct fsl_sink *sink, const struct fsl_reader *reader)
{
	struct fsl_mark_taker *taker = sink->taker;
	bool is_sampled = true;
	for (size_t i = 0; i < taker->n_marks; i++) {
		struct fsl_mark *mark = &taker->marks[i];
		const struct fsl_mark *old = find_old(taker, mark->place.offset);
		mark->fingerprint = old != NULL ? old->fingerprint : 0;
		is_sampled = is_sampled && (old != NULL ||
					    sample(reader, mark->place.offset, &mark->fingerprint));
	}
	if (is_sampled) {
		fsl_tail_take(taker, sink);
	} else {
		free_marks(taker);
	}
	forget_old(sink);
}
