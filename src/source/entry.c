/* Bisection on the times of a file's rows, which are nearly in order. */
#include "source/entry.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"

enum {
	SAMPLE_BYTES = 16 * 1024,
	WORTH_BYTES = 8 << 20, /* less is read as fast as it is searched */
	GRAIN_BYTES = 256 * 1024,
	GAP_BYTES_MIN = 2 << 20, /* likewise */
	CHECKS_N = 8,            /* samples that must bear out what was found */
};

/* The times of the whole rows around one place. */
struct sample {
	int64_t oldest_ns, newest_ns;
	uint64_t row_offset; /* of the first whole row */
	bool is_known;
};

enum side { OLDER, NEWER };

struct search {
	const struct fsl_reader *reader;
	const struct fsl_entry_rows *rows;
	enum side side; /* side of the limit on which rows are left out */
	int64_t limit_ns;
};

/* True when a whole sample can be left out. */
static bool is_outside(const struct search *search, const struct sample *sample)
{
	return sample->is_known && (search->side == OLDER ? sample->newest_ns < search->limit_ns
							  : sample->oldest_ns > search->limit_ns);
}

/* The rows that lie in a block as a whole. */
static enum fsl_status take_sample(const struct search *search, uint64_t offset,
				   struct sample *sample, struct fsl_error *err)
{
	char buffer[SAMPLE_BYTES];
	size_t n = 0;
	*sample = (struct sample){.oldest_ns = INT64_MAX, .newest_ns = INT64_MIN};
	FSL_TRY(fsl_reader_sample(search->reader, offset, buffer, SAMPLE_BYTES, &n, err));
	const char *at = buffer, *end = buffer + n;
	struct fsl_entry_row row;
	while (at < end && search->rows->next(search->rows->context, at, end, &row)) {
		if (!sample->is_known) {
			sample->row_offset = offset + (uint64_t)(row.begin - buffer);
			sample->is_known = true;
		}
		sample->oldest_ns =
			row.time_ns < sample->oldest_ns ? row.time_ns : sample->oldest_ns;
		sample->newest_ns =
			row.time_ns > sample->newest_ns ? row.time_ns : sample->newest_ns;
		at = row.end;
	}
	return FSL_OK;
}

/* Sets *is_right if samples spread over [begin, end) can be left out, too. */
static enum fsl_status check(const struct search *search, uint64_t begin, uint64_t end,
			     bool *is_right, struct fsl_error *err)
{
	*is_right = true;
	for (uint64_t i = 0; i < CHECKS_N && *is_right; i++) {
		struct sample sample;
		uint64_t offset = begin + (end - begin) / CHECKS_N * i;
		FSL_TRY(take_sample(search, offset, &sample, err));
		*is_right = is_outside(search, &sample);
	}
	return FSL_OK;
}

/* Sets *row to the row in [low, high) that is nearest to the limit and known to be outside; to
 * @none if there is no such row, or if the rows cannot be understood. The result is not checked
 * yet. */
static enum fsl_status bisect(const struct search *search, uint64_t low, uint64_t high,
			      uint64_t none, uint64_t *row, struct fsl_error *err)
{
	*row = none;
	while (high - low > GRAIN_BYTES) {
		struct sample sample;
		uint64_t middle = low + (high - low) / 2;
		FSL_TRY(take_sample(search, middle, &sample, err));
		if (!sample.is_known) {
			*row = none;
			return FSL_OK;
		}
		bool is_out = is_outside(search, &sample);
		*row = is_out ? sample.row_offset : *row;
		*(is_out == (search->side == OLDER) ? &low : &high) = middle;
	}
	return FSL_OK;
}

static bool is_worth_a_search(const struct fsl_reader *reader, uint64_t first)
{
	uint64_t n_bytes = fsl_reader_disk_bytes(reader);
	return fsl_reader_can_seek(reader) && n_bytes >= WORTH_BYTES &&
	       first + FSL_ENTRY_TAIL_BYTES <= n_bytes;
}

/* The first row of the last few. */
static enum fsl_status find_end(const struct fsl_reader *reader, const struct fsl_entry_rows *rows,
				uint64_t first, uint64_t *entry, struct fsl_error *err)
{
	enum { END_BYTES = 64 * 1024 };
	const struct search search = {.reader = reader, .rows = rows};
	struct sample sample;
	uint64_t n_bytes = fsl_reader_disk_bytes(reader);
	if (!fsl_reader_can_seek(reader) || n_bytes < first + 4 * (uint64_t)END_BYTES) {
		return FSL_OK;
	}
	FSL_TRY(take_sample(&search, n_bytes - END_BYTES, &sample, err));
	*entry = sample.is_known ? sample.row_offset : first;
	return FSL_OK;
}

/* Sets *entry to a row up to @last such that all rows before it are older than @limit_ns; to @first
 * if the rows are not understood. */
static enum fsl_status find_older(const struct fsl_reader *reader,
				  const struct fsl_entry_rows *rows, int64_t limit_ns,
				  uint64_t first, uint64_t last, uint64_t *entry,
				  struct fsl_error *err)
{
	const struct search search = {reader, rows, OLDER, limit_ns};
	bool is_right = false;
	FSL_TRY(bisect(&search, first, last, first, entry, err));
	if (*entry > first) {
		FSL_TRY(check(&search, first, *entry, &is_right, err));
	}
	*entry = is_right && *entry <= last ? *entry : first;
	return FSL_OK;
}

static const int64_t slack_ns = (int64_t)FSL_ENTRY_SLACK_S * FSL_NS_PER_S;

enum fsl_status fsl_entry_find(const struct fsl_reader *reader, const struct fsl_entry_rows *rows,
			       int64_t from_ns, uint64_t first, uint64_t *entry,
			       struct fsl_error *err)
{
	*entry = first;
	if (from_ns == FSL_TIME_MAX_NS) {
		return find_end(reader, rows, first, entry, err);
	}
	if (from_ns < slack_ns || !is_worth_a_search(reader, first)) {
		return FSL_OK;
	}
	uint64_t last = fsl_reader_disk_bytes(reader) - FSL_ENTRY_TAIL_BYTES;
	return find_older(reader, rows, from_ns - slack_ns, first, last, entry, err);
}

enum fsl_status fsl_entry_find_before(const struct fsl_reader *reader,
				      const struct fsl_entry_rows *rows, int64_t from_ns,
				      uint64_t first, uint64_t most, uint64_t *entry,
				      struct fsl_error *err)
{
	*entry = first;
	if (!fsl_reader_can_seek(reader) || most < first + GRAIN_BYTES) {
		return FSL_OK;
	}
	return find_older(reader, rows, from_ns, first, most, entry, err);
}

/* The gap in front of the tail, which begins with the rows of @tail. */
static enum fsl_status find_gap(const struct search *search, uint64_t first,
				const struct sample *tail, struct fsl_entry_gap *gap,
				struct fsl_error *err)
{
	uint64_t row = UINT64_MAX, end = tail->row_offset;
	bool is_right = false;
	FSL_TRY(bisect(search, first, end, UINT64_MAX, &row, err));
	if (row >= end || end - row < FSL_ENTRY_MARGIN_BYTES + GAP_BYTES_MIN) {
		return FSL_OK;
	}
	FSL_TRY(check(search, row, end, &is_right, err));
	if (is_right) {
		*gap = (struct fsl_entry_gap){row + FSL_ENTRY_MARGIN_BYTES, end};
	}
	return FSL_OK;
}

enum fsl_status fsl_entry_find_gap(const struct fsl_reader *reader,
				   const struct fsl_entry_rows *rows, int64_t to_ns, uint64_t first,
				   struct fsl_entry_gap *gap, struct fsl_error *err)
{
	*gap = (struct fsl_entry_gap){UINT64_MAX, UINT64_MAX};
	if (to_ns > FSL_TIME_MAX_NS - slack_ns || !is_worth_a_search(reader, first)) {
		return FSL_OK;
	}
	const struct search search = {reader, rows, NEWER, to_ns + slack_ns};
	struct sample tail;
	FSL_TRY(take_sample(&search, fsl_reader_disk_bytes(reader) - FSL_ENTRY_TAIL_BYTES, &tail,
			    err));
	return is_outside(&search, &tail) ? find_gap(&search, first, &tail, gap, err) : FSL_OK;
}
