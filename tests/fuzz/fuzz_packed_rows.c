/* Any numbers as packed rows and as frames: what is read is what was added, in order. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "capture/frames.h"
#include "capture/packed_rows.h"
#include "fuzz/fuzz.h"

enum {
	ROWS_MAX = 10000, /* more than two windows of rows, which one input in eight may have */
	ROWS_FEW = 600,
	SEQUENCE = 1, /* column that tells the order of adding */
	THREADS_MAX = 4,
};

struct feed {
	const uint8_t *at, *end;
};

static uint8_t take_byte(struct feed *feed)
{
	return feed->at < feed->end ? *feed->at++ : 0;
}

/* 0 to 8 bytes, with a sign. */
static int64_t take_number(struct feed *feed)
{
	unsigned n_bytes = take_byte(feed) % 9;
	uint64_t value = 0;
	for (unsigned i = 0; i < n_bytes; i++) {
		value |= (uint64_t)take_byte(feed) << (8 * i);
	}
	unsigned unused_bits = 64 - 8 * n_bytes;
	return n_bytes == 0 ? 0 : (int64_t)(value << unused_bits) >> unused_bits;
}

/* A search by the first cell finds the first of the rows that have it. */
static void check_search(const struct fsl_packed_rows *rows)
{
	enum { EVERY = 97 };
	struct fsl_packed_finder finder = {0};
	struct fsl_packed_reader reader = {.rows = rows};
	FSL_REQUIRE(fsl_packed_finder_begin(&finder, rows, NULL) == FSL_OK);
	for (size_t i = 0; i < rows->n; i += EVERY) {
		int64_t key = fsl_packed_at(&reader, i)->cells[0];
		size_t first = i;
		while (first > 0 && fsl_packed_at(&reader, first - 1)->cells[0] == key) {
			first--;
		}
		const struct fsl_packed_row *found = fsl_packed_find(&finder, key);
		const struct fsl_packed_row *wanted = fsl_packed_at(&reader, first);
		FSL_REQUIRE(found != NULL && found->cells[0] == key);
		FSL_REQUIRE(found->cells[SEQUENCE] == wanted->cells[SEQUENCE]);
	}
	fsl_packed_finder_end(&finder);
}

static size_t most_rows(uint8_t first)
{
	return (first & 0x38) == 0x38 ? ROWS_MAX : ROWS_FEW;
}

/* Each row is the one before and a step that is repeated, so that few bytes make many rows. */
static size_t add_rows(struct fsl_packed_rows *rows, struct fsl_packed_row *added, size_t n_max,
		       struct feed *feed)
{
	struct fsl_packed_row row = {{0}};
	size_t n = 0;
	while (feed->at < feed->end && n < n_max) {
		size_t n_repeats = 1 + (size_t)take_byte(feed) * take_byte(feed) / 8;
		int64_t steps[FSL_PACKED_COLUMNS_MAX];
		for (size_t c = 0; c < rows->n_columns; c++) {
			steps[c] = take_number(feed);
		}
		for (size_t i = 0; i < n_repeats && n < n_max; i++) {
			for (size_t c = 0; c < rows->n_columns; c++) {
				row.cells[c] =
					(int64_t)((uint64_t)row.cells[c] + (uint64_t)steps[c]);
			}
			row.cells[SEQUENCE] = (int64_t)n;
			added[n++] = row;
			FSL_REQUIRE(fsl_packed_add(rows, &row, NULL) == FSL_OK);
		}
	}
	return n;
}

static void check_rows(struct feed feed)
{
	struct fsl_packed_row *added = fsl_calloc(ROWS_MAX, sizeof(*added)), last = {{0}};
	uint8_t first = take_byte(&feed);
	struct fsl_spill spill = {.memory_max = FSL_SPILL_CHUNK};
	struct fsl_packed_rows rows = {.bytes.spill = (first & 0x40) != 0 ? &spill : NULL,
				       .n_columns = 2 + first % (FSL_PACKED_COLUMNS_MAX - 1),
				       .compare = (first & 0x80) != 0 ? fsl_packed_compare_first
								      : NULL};
	FSL_REQUIRE(added != NULL);
	size_t n = add_rows(&rows, added, most_rows(first), &feed);
	FSL_REQUIRE(fsl_packed_settle(&rows, NULL) == FSL_OK);
	FSL_REQUIRE(rows.n == n);
	struct fsl_packed_reader reader = {.rows = &rows};
	for (size_t i = 0; i < n; i++) {
		struct fsl_packed_row row = *fsl_packed_at(&reader, i);
		size_t sequence = (size_t)row.cells[SEQUENCE];
		FSL_REQUIRE(sequence < n && memcmp(&row, &added[sequence], sizeof(row)) == 0);
		/* Rows in order, and equal rows in that of adding, are all there if none is twice.
		 */
		int order =
			i > 0 && rows.compare != NULL ? fsl_packed_compare_first(&last, &row) : 0;
		FSL_REQUIRE(order <= 0);
		FSL_REQUIRE(i == 0 || order < 0 || last.cells[SEQUENCE] < row.cells[SEQUENCE]);
		added[sequence].cells[SEQUENCE] = -1; /* taken: it is like no other row */
		last = row;
	}
	if (rows.compare != NULL) {
		check_search(&rows);
	}
	fsl_packed_fini(&rows);
	fsl_spill_close(&spill);
	fsl_free(added);
}

static size_t add_frames(struct fsl_frames *frames, struct fsl_frame *added, size_t n_max,
			 struct feed *feed)
{
	int64_t begin_ns = 0;
	size_t n = 0;
	while (feed->at < feed->end && n < n_max) {
		uint8_t kind = take_byte(feed);
		size_t n_repeats = 1 + (size_t)take_byte(feed) * take_byte(feed) / 8;
		int64_t step_ns = take_number(feed) % INT32_MAX, dur_ns = take_number(feed);
		for (size_t i = 0; i < n_repeats && n < n_max; i++) {
			begin_ns += step_ns;
			added[n] = (struct fsl_frame){.begin_ns = begin_ns,
						      .dur_ns = dur_ns & INT64_MAX,
						      .name_id = (uint32_t)n,
						      .thread = kind / 4 % THREADS_MAX,
						      .kind = (enum fsl_frame_kind)(kind % 4)};
			FSL_REQUIRE(fsl_frames_add(frames, &added[n++], NULL) == FSL_OK);
		}
	}
	return n;
}

/* Callers before what they call, calls of the system last. */
static bool is_behind(const struct fsl_frame *a, const struct fsl_frame *b)
{
	if (a->begin_ns != b->begin_ns) {
		return a->begin_ns < b->begin_ns;
	}
	return a->dur_ns != b->dur_ns
		       ? a->dur_ns > b->dur_ns
		       : (a->kind == FSL_FRAME_SYSCALL) <= (b->kind == FSL_FRAME_SYSCALL);
}

/* All frames but those of kind @forgotten are read once, from their begin and @shift_ns on. */
static void check_threads(const struct fsl_frames *frames, const struct fsl_frame *added, size_t n,
			  unsigned forgotten)
{
	size_t n_read = 0, n_kept = 0;
	for (size_t i = 0; i < n; i++) {
		n_kept += (unsigned)added[i].kind != forgotten;
	}
	for (size_t t = 0; t < frames->n_threads; t++) {
		struct fsl_frame_cursor cursor = fsl_frames_read(frames, t);
		struct fsl_frame frame, last = {0};
		for (size_t i = 0; fsl_frame_next(&cursor, &frame); i++) {
			FSL_REQUIRE(frame.name_id < n);
			const struct fsl_frame *own = &added[frame.name_id];
			FSL_REQUIRE(frame.begin_ns == own->begin_ns + frames->shift_ns);
			FSL_REQUIRE(frame.dur_ns == own->dur_ns && frame.kind == own->kind);
			FSL_REQUIRE(frame.thread == own->thread || frames->keeps_order);
			FSL_REQUIRE(i == 0 || frames->keeps_order || is_behind(&last, &frame));
			FSL_REQUIRE(i == 0 || !frames->keeps_order || last.name_id < frame.name_id);
			last = frame;
			n_read++;
		}
	}
	FSL_REQUIRE(n_read == n_kept && frames->n == n_kept);
}

static void check_frames(struct feed feed)
{
	struct fsl_frame *added = fsl_calloc(ROWS_MAX, sizeof(*added));
	uint8_t first = take_byte(&feed);
	struct fsl_spill spill = {.memory_max = FSL_SPILL_CHUNK};
	struct fsl_frames frames = {.keeps_order = first % 8 == 0,
				    .window = first / 8,
				    .spill = (first & 0x40) != 0 ? &spill : NULL};
	FSL_REQUIRE(added != NULL);
	size_t n = add_frames(&frames, added, most_rows(first), &feed);
	FSL_REQUIRE(fsl_frames_settle(&frames, NULL) == FSL_OK);
	frames.shift_ns = first;
	check_threads(&frames, added, n, UINT32_MAX);
	FSL_REQUIRE(fsl_frames_forget(&frames, FSL_FRAME_OPERATOR, NULL) == FSL_OK);
	check_threads(&frames, added, n, FSL_FRAME_OPERATOR);
	fsl_frames_fini(&frames);
	fsl_spill_close(&spill);
	fsl_free(added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	check_rows((struct feed){data, data + n_bytes});
	check_frames((struct feed){data, data + n_bytes});
	return 0;
}
