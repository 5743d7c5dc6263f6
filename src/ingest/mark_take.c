/* Snapshots of a sink and its pairs between two rows, and back. */
#include "ingest/mark_take.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "series/chapter.h"

enum {
	GUESS_BYTES_MIN = 1 << 17, /* what is smaller is read fast enough */
	GUESS_BYTES = 1 << 15,     /* of a file that tell how it goes on */
	GUESS_ERROR = 10,          /* one part in so many */
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
	taker->from = from;
	taker->n_bytes = fsl_reader_disk_bytes(reader);
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
	*place = sink->taker->from->place;
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
	push(taker, mark);
	return FSL_OK;
}

/* How long the rest of the file is when it goes on at @pace, ns a byte. */
static int64_t rest_of(const struct fsl_mark_taker *taker, uint64_t offset, double pace)
{
	double rest_ns = offset < taker->n_bytes ? pace * (double)(taker->n_bytes - offset) : 0.0;
	return rest_ns < (double)FSL_MARK_SPAN_MAX_NS ? (int64_t)rest_ns : FSL_MARK_SPAN_MAX_NS;
}

/* Learns how quickly the file goes on; *least_ns and *usual_ns: the rest of it, at the quickest
 * that it ever was since one guess, and on average. */
static void guess_rest(struct fsl_mark_taker *taker, uint64_t offset, int64_t passed_ns,
		       int64_t *least_ns, int64_t *usual_ns)
{
	if (offset < GUESS_BYTES) {
		*least_ns = *usual_ns = passed_ns;
		return;
	}
	double usual = (double)passed_ns / (double)offset;
	if (offset - taker->guessed_offset >= GUESS_BYTES) {
		double pace = (double)(passed_ns - taker->guessed_ns) /
			      (double)(offset - taker->guessed_offset);
		taker->least_pace = fmin(taker->least_pace, fmax(pace, 0.0));
		taker->guessed_ns = passed_ns;
		taker->guessed_offset = offset;
	}
	*least_ns = rest_of(taker, offset, fmin(usual, taker->least_pace));
	*usual_ns = rest_of(taker, offset, usual);
}

/*
 * Period and lead that the whole file will want, the finer and the longer of what may be, also
 * where chapters are twice as long because they hold too few steps (four times: a mark for an
 * earlier boundary will do); and where the next mark is due. Far from the end none is of use but to
 * guess again, and a guess too many costs little: it is due before as much time has passed again,
 * as the first steps of a job are slow, and say that the file goes on for longer than it does.
 */
static void guess(struct fsl_mark_taker *taker, int64_t boundary_ns,
		  const struct fsl_mark_place *place, int64_t time_ns)
{
	const struct fsl_chapter_rule longest = fsl_chapter_rule_for(taker->longest_ns);
	taker->began_ns = taker->began_ns == FSL_NS_ABSENT ? time_ns : taker->began_ns;
	int64_t passed_ns = time_ns > taker->began_ns ? time_ns - taker->began_ns : 0;
	int64_t least_ns = 0, usual_ns = 0;
	guess_rest(taker, place->offset, passed_ns, &least_ns, &usual_ns);
	int64_t short_ns = passed_ns + least_ns, long_ns = passed_ns + usual_ns;
	struct fsl_chapter_rule finer =
		fsl_chapter_rule_finer(&longest, short_ns - short_ns / GUESS_ERROR, taker->n_parts);
	struct fsl_chapter_rule coarser = fsl_chapter_rule_finer(
		&longest, long_ns + long_ns / GUESS_ERROR, taker->n_parts / 2);
	taker->period_ns = finer.length_ns;
	taker->lead_ns = coarser.lead_ns + coarser.slack_ns;
	int64_t due_ns = time_ns + taker->lead_ns;
	int64_t unused_ns = least_ns - FSL_MARKS_KEPT * coarser.length_ns;
	if (place->offset < GUESS_BYTES) {
		due_ns += passed_ns;
	} else if (unused_ns > 0) {
		int64_t skipped_ns = unused_ns < least_ns / 3 ? unused_ns : least_ns / 3;
		due_ns += skipped_ns < passed_ns ? skipped_ns : passed_ns;
	}
	due_ns = due_ns > boundary_ns ? due_ns : boundary_ns;
	taker->next_ns = (due_ns / finer.length_ns + 1) * finer.length_ns;
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
		guess(taker, boundary_ns, place, time_ns);
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

static enum fsl_status restore_sink(struct fsl_sink *sink, const struct fsl_mark *from,
				    struct fsl_error *err)
{
	struct fsl_file *file = sink->file;
	file->state = from->state;
	file->n_records = from->n_records;
	memcpy(file->n_dropped, from->n_dropped, sizeof(file->n_dropped));
	file->message = fsl_arena_strdup(&sink->arena, from->message);
	if (file->message == NULL) {
		file->message = "out of memory";
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", file->path);
	}
	sink->events.last_event_ns = from->last_event_ns;
	sink->events.rank = from->rank;
	sink->events.is_restarted = from->is_restarted;
	sink->has_events_before = from->has_events;
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
	const struct fsl_mark *from = sink->taker->from;
	const char *const *names = sink->taker->old->names;
	enum fsl_status status = restore_sink(sink, from, err);
	if (status == FSL_OK && pairs == NULL) {
		status = restore_names(sink, names, from->n_names, err);
	} else if (status == FSL_OK) {
		status = fsl_marker_pairs_restore(pairs, &from->pairs, names, from->n_names,
						  from->last_event_ns, err);
	}
	if (status == FSL_OK) {
		return take_from(sink, pairs, err);
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

void fsl_mark_finish(struct fsl_sink *sink, const struct fsl_reader *reader)
{
	struct fsl_mark_taker *taker = sink->taker;
	bool is_sampled = true;
	forget_old(sink);
	for (size_t i = 0; i < taker->n_marks; i++) {
		struct fsl_mark *mark = &taker->marks[i];
		const struct fsl_mark *from = taker->from;
		bool is_from = from != NULL && mark->place.offset == from->place.offset;
		mark->fingerprint = is_from ? from->fingerprint : 0;
		is_sampled = is_sampled &&
			     (is_from || sample(reader, mark->place.offset, &mark->fingerprint));
	}
	if (!is_sampled) {
		free_marks(taker);
	}
}
