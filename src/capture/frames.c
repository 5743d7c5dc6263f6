/*
 * Packs frames: the difference to the begin before, the duration, name and kind, each as a number
 * of 7 bits a byte. A window of frames is sorted first; then each frame goes behind the latest of
 * some runs that it may follow, as in patience sorting. A frame that no run has a place for makes
 * the thread be unpacked and sorted as a whole in the end. Reading merges the runs.
 */
#include "capture/frames.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/varint.h"

enum {
	CHUNK_BYTES_FIRST = 256, /* of a thread: a trace may have thousands with a few frames */
	FRAME_BYTES_MAX = 10 + 10 + 5,
	KIND_BITS = 2,
	BUFFER_FIRST = 8, /* frames */
};

struct run {
	struct fsl_spill_list bytes;
	struct fsl_frame last; /* that is packed */
};

struct fsl_frame_thread {
	struct fsl_spill *spill;
	struct run *runs;
	size_t n_runs, runs_capacity;
	size_t n;                 /* frames that are packed */
	bool is_unsorted;         /* the newest run is not in order */
	struct fsl_frame *buffer; /* frames that are not packed yet */
	size_t n_buffer, buffer_capacity;
};

/* Callers before what they call. */
static int compare_frames(const void *left, const void *right)
{
	const struct fsl_frame *a = left, *b = right;
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	FSL_ORDER_BY(b->dur_ns, a->dur_ns);
	FSL_ORDER_BY(a->kind == FSL_FRAME_SYSCALL, b->kind == FSL_FRAME_SYSCALL);
	return FSL_ORDER(a->name_id, b->name_id);
}

static enum fsl_status pack(struct run *run, const struct fsl_frame *frame, struct fsl_error *err)
{
	struct fsl_spill_chunk *chunk = NULL;
	size_t capacity = run->bytes.n_chunks == 0 ? CHUNK_BYTES_FIRST : FSL_SPILL_CHUNK;
	FSL_TRY(fsl_spill_room(&run->bytes, FRAME_BYTES_MAX, capacity, &chunk, err));
	unsigned char *begin = chunk->bytes + chunk->n_bytes;
	/* Times of traces are far from the limits of their type. */
	unsigned char *at =
		fsl_varint_put(begin, fsl_varint_fold(frame->begin_ns - run->last.begin_ns));
	at = fsl_varint_put(at, (uint64_t)frame->dur_ns);
	at = fsl_varint_put(at, (uint64_t)frame->name_id << KIND_BITS | (uint64_t)frame->kind);
	chunk->n_bytes += (size_t)(at - begin);
	run->last = *frame;
	return FSL_OK;
}

/* The run that a frame may follow and that ends last; NULL: there is none. */
static struct run *find_run(const struct fsl_frame_thread *thread, const struct fsl_frame *frame)
{
	struct run *best = NULL;
	for (size_t i = 0; i < thread->n_runs; i++) {
		struct run *run = &thread->runs[i];
		if (compare_frames(&run->last, frame) <= 0 &&
		    (best == NULL || compare_frames(&best->last, &run->last) < 0)) {
			best = run;
		}
	}
	return best;
}

static enum fsl_status place(struct fsl_frame_thread *thread, const struct fsl_frame *frame,
			     struct fsl_error *err)
{
	const struct run none = {.bytes.spill = thread->spill};
	struct run *run = find_run(thread, frame);
	if (run == NULL) {
		thread->is_unsorted |= thread->n_runs == FSL_FRAME_RUNS_MAX;
		if (!thread->is_unsorted) {
			FSL_TRY(FSL_APPEND(thread, runs, &none, err));
		}
		run = &thread->runs[thread->n_runs - 1];
	}
	thread->n++;
	return pack(run, frame, err);
}

/* Sorts the buffer and packs the first @n frames of it. */
static enum fsl_status pack_buffer(struct fsl_frame_thread *thread, size_t n, struct fsl_error *err)
{
	fsl_sort_runs(thread->buffer, thread->n_buffer, sizeof(*thread->buffer), compare_frames);
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(place(thread, &thread->buffer[i], err));
	}
	thread->n_buffer -= n;
	memmove(thread->buffer, thread->buffer + n, thread->n_buffer * sizeof(*thread->buffer));
	return FSL_OK;
}

static enum fsl_status find_thread(struct fsl_frames *frames, size_t number,
				   struct fsl_frame_thread **out, struct fsl_error *err)
{
	if (number >= frames->n_threads) {
		FSL_TRY(FSL_GROW(frames->threads, frames->threads_capacity, number + 1, err));
		memset(frames->threads + frames->n_threads, 0,
		       (number + 1 - frames->n_threads) * sizeof(*frames->threads));
		frames->n_threads = number + 1;
	}
	*out = &frames->threads[number];
	(*out)->spill = frames->spill;
	return FSL_OK;
}

/* All frames go to one run, whatever their order. */
static enum fsl_status append(struct fsl_frame_thread *thread, const struct fsl_frame *frame,
			      struct fsl_error *err)
{
	const struct run none = {.bytes.spill = thread->spill};
	if (thread->n_runs == 0) {
		FSL_TRY(FSL_APPEND(thread, runs, &none, err));
	}
	thread->n++;
	return pack(&thread->runs[0], frame, err);
}

enum fsl_status fsl_frames_add(struct fsl_frames *frames, const struct fsl_frame *frame,
			       struct fsl_error *err)
{
	struct fsl_frame_thread *thread = NULL;
	size_t window = frames->window > 0 ? frames->window : FSL_FRAMES_WINDOW;
	FSL_TRY(find_thread(frames, frames->keeps_order ? 0 : frame->thread, &thread, err));
	frames->n++;
	if (frames->keeps_order) {
		return append(thread, frame, err);
	}
	if (thread->n_buffer == 2 * window) {
		FSL_TRY(pack_buffer(thread, window, err));
	}
	if (thread->n_buffer == 0) {
		FSL_TRY(FSL_GROW(thread->buffer, thread->buffer_capacity, BUFFER_FIRST, err));
	}
	return FSL_APPEND(thread, buffer, frame, err);
}

static void free_runs(struct fsl_frame_thread *thread)
{
	for (size_t i = 0; i < thread->n_runs; i++) {
		fsl_spill_fini(&thread->runs[i].bytes);
	}
	fsl_free(thread->runs);
}

/* Unpacks all frames of the thread, and packs them again in order. */
static enum fsl_status sort_thread(struct fsl_frames *frames, size_t number, struct fsl_error *err)
{
	struct fsl_frame *all = NULL;
	struct fsl_frame_thread *thread = &frames->threads[number];
	FSL_TRY(FSL_NEW(all, thread->n + 1, "frames", err));
	size_t n = 0;
	struct fsl_frame_cursor cursor = fsl_frames_read(frames, number);
	cursor.shift_ns = 0;
	while (fsl_frame_next(&cursor, &all[n])) {
		n++;
	}
	free_runs(thread);
	*thread = (struct fsl_frame_thread){.spill = frames->spill};
	fsl_sort_runs(all, n, sizeof(*all), compare_frames);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		status = append(thread, &all[i], err);
	}
	fsl_free(all);
	return status;
}

enum fsl_status fsl_frames_settle(struct fsl_frames *frames, struct fsl_error *err)
{
	for (size_t i = 0; i < frames->n_threads; i++) {
		struct fsl_frame_thread *thread = &frames->threads[i];
		if (thread->n_buffer > 0) {
			FSL_TRY(pack_buffer(thread, thread->n_buffer, err));
		}
		fsl_free(thread->buffer);
		thread->buffer = NULL;
		thread->buffer_capacity = 0;
		if (thread->is_unsorted) {
			FSL_TRY(sort_thread(frames, i, err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_frames_forget(struct fsl_frames *frames, enum fsl_frame_kind kind,
				  struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < frames->n_threads && status == FSL_OK; i++) {
		struct fsl_frame frame;
		struct fsl_frame_thread kept = {.spill = frames->spill};
		struct fsl_frame_cursor cursor = fsl_frames_read(frames, i);
		cursor.shift_ns = 0;
		while (status == FSL_OK && fsl_frame_next(&cursor, &frame)) {
			status = frame.kind != kind ? append(&kept, &frame, err) : FSL_OK;
		}
		frames->n -= frames->threads[i].n - kept.n;
		free_runs(&frames->threads[i]);
		frames->threads[i] = kept;
	}
	return status;
}

void fsl_frames_fini(struct fsl_frames *frames)
{
	for (size_t i = 0; i < frames->n_threads; i++) {
		free_runs(&frames->threads[i]);
		fsl_free(frames->threads[i].buffer);
	}
	fsl_free(frames->threads);
	*frames = (struct fsl_frames){0};
}

/* Unpacks the next frame of a run; false: there is none. */
static bool go_on(struct fsl_frame_head *head)
{
	uint64_t delta = 0, dur = 0, name = 0;
	if (head->chunk < head->bytes->n_chunks &&
	    head->at == head->bytes->chunks[head->chunk].n_bytes) {
		fsl_spill_rest(head->bytes, head->chunk++);
		head->at = 0;
	}
	if (head->chunk == head->bytes->n_chunks) {
		return false;
	}
	const unsigned char *bytes = head->bytes->chunks[head->chunk].bytes, *at = bytes + head->at;
	at = fsl_varint_take(at, &delta);
	at = fsl_varint_take(at, &dur);
	at = fsl_varint_take(at, &name);
	head->at = (size_t)(at - bytes);
	head->newest.begin_ns += fsl_varint_unfold(delta);
	head->newest.dur_ns = (int64_t)dur;
	head->newest.name_id = (uint32_t)(name >> KIND_BITS);
	head->newest.kind = (enum fsl_frame_kind)(name & ((1U << KIND_BITS) - 1));
	return true;
}

struct fsl_frame_cursor fsl_frames_read(const struct fsl_frames *frames, size_t number)
{
	const struct fsl_frame_thread *thread = &frames->threads[number];
	struct fsl_frame_cursor cursor = {.shift_ns = frames->shift_ns};
	for (size_t i = 0; i < thread->n_runs; i++) {
		struct fsl_frame_head *head = &cursor.heads[cursor.n_heads];
		*head = (struct fsl_frame_head){.bytes = &thread->runs[i].bytes};
		head->newest.thread = (uint32_t)number & ((1U << 30) - 1);
		cursor.n_heads += go_on(head) ? 1 : 0;
	}
	return cursor;
}

bool fsl_frame_next(struct fsl_frame_cursor *cursor, struct fsl_frame *frame)
{
	struct fsl_frame_head *first = &cursor->heads[0];
	if (cursor->n_heads == 0) {
		return false;
	}
	for (size_t i = 1; i < cursor->n_heads; i++) {
		struct fsl_frame_head *head = &cursor->heads[i];
		first = compare_frames(&head->newest, &first->newest) < 0 ? head : first;
	}
	*frame = first->newest;
	frame->begin_ns += cursor->shift_ns;
	if (!go_on(first)) {
		*first = cursor->heads[--cursor->n_heads];
	}
	return true;
}
