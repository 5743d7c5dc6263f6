/* Bisection on the times of a file's rows, which are nearly in order. */
#include "ingest/entry.h"

#include <string.h>

#include "base/number.h"

enum {
	SAMPLE_BYTES = 16 * 1024,
	WORTH_BYTES = 8 << 20, /* less is read as fast as it is searched */
	GRAIN_BYTES = 256 * 1024,
	CHECKS_N = 8, /* samples that must bear out what was found */
};

/* The times of the whole rows around one place. */
struct sample {
	int64_t oldest_ns, newest_ns;
	uint64_t row_offset; /* of the first whole row */
	bool is_known;
};

struct search {
	const struct fsl_reader *reader;
	const struct fsl_entry_rows *rows;
	char *buffer; /* SAMPLE_BYTES */
};

/* The rows that lie in a block as a whole. */
static enum fsl_status take_sample(const struct search *search, uint64_t offset,
				   struct sample *sample, struct fsl_error *err)
{
	size_t n = 0;
	*sample = (struct sample){.oldest_ns = INT64_MAX, .newest_ns = INT64_MIN};
	enum fsl_status status =
		fsl_reader_sample(search->reader, offset, search->buffer, SAMPLE_BYTES, &n, err);
	const char *at = search->buffer, *end = search->buffer + (status == FSL_OK ? n : 0);
	struct fsl_entry_row row;
	while (at < end && search->rows->next(search->rows->context, at, end, &row)) {
		if (!sample->is_known) {
			sample->row_offset = offset + (uint64_t)(row.begin - search->buffer);
			sample->is_known = true;
		}
		sample->oldest_ns =
			row.time_ns < sample->oldest_ns ? row.time_ns : sample->oldest_ns;
		sample->newest_ns =
			row.time_ns > sample->newest_ns ? row.time_ns : sample->newest_ns;
		at = row.end;
	}
	return status;
}

/* True when samples spread over [first, entry) are older than the limit, too. */
static enum fsl_status check(const struct search *search, uint64_t first, uint64_t entry,
			     int64_t limit_ns, bool *is_right, struct fsl_error *err)
{
	*is_right = true;
	for (uint64_t i = 0; i < CHECKS_N && *is_right; i++) {
		struct sample sample;
		uint64_t offset = first + (entry - first) / CHECKS_N * i;
		enum fsl_status status = take_sample(search, offset, &sample, err);
		if (status != FSL_OK) {
			return status;
		}
		*is_right = sample.is_known && sample.newest_ns < limit_ns;
	}
	return FSL_OK;
}

/* The last place that is known to be too old, @first when none is; not checked yet. */
static enum fsl_status bisect(const struct search *search, uint64_t first, uint64_t last,
			      int64_t limit_ns, uint64_t *entry, struct fsl_error *err)
{
	uint64_t low = first, high = last;
	*entry = first;
	while (high - low > GRAIN_BYTES) {
		struct sample sample;
		uint64_t middle = low + (high - low) / 2;
		enum fsl_status status = take_sample(search, middle, &sample, err);
		if (status != FSL_OK) {
			return status;
		}
		if (!sample.is_known) {
			*entry = first;
			return FSL_OK;
		}
		if (sample.newest_ns < limit_ns) {
			*entry = sample.row_offset;
			low = middle;
		} else {
			high = middle;
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_entry_find(const struct fsl_reader *reader, const struct fsl_entry_rows *rows,
			       int64_t from_ns, uint64_t first, uint64_t *entry,
			       struct fsl_error *err)
{
	const int64_t slack_ns = (int64_t)FSL_ENTRY_SLACK_S * FSL_NS_PER_S;
	uint64_t n_bytes = fsl_reader_disk_bytes(reader);
	bool is_right = false;
	*entry = first;
	if (from_ns < slack_ns || !fsl_reader_can_seek(reader) || n_bytes < WORTH_BYTES ||
	    first + FSL_ENTRY_TAIL_BYTES > n_bytes) {
		return FSL_OK;
	}
	struct search search = {reader, rows, fsl_calloc(SAMPLE_BYTES, 1)};
	if (search.buffer == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%d", SAMPLE_BYTES);
	}
	enum fsl_status status = bisect(&search, first, n_bytes - FSL_ENTRY_TAIL_BYTES,
					from_ns - slack_ns, entry, err);
	if (status == FSL_OK && *entry > first) {
		status = check(&search, first, *entry, from_ns - slack_ns, &is_right, err);
	}
	*entry = is_right ? *entry : first;
	fsl_free(search.buffer);
	return status;
}
