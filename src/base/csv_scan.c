/*
 * Rows over the reader's own buffer. A bit index holds the bytes that end fields; nothing is copied
 * unless a quoted field holds doubled quotes. The usual row is read as a whole, from marks that are
 * made at its first byte. Rows are a little shorter than a few blocks: an index that began
 * elsewhere would cost a branch misprediction for each row. All other rows go field by field.
 */
#include "base/csv_scan.h"

#include <string.h>

#include "base/block_scan.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/try.h"

/* Commas, newlines and quotes of the block of the window that is being read. */
struct marks {
	size_t base;   /* index of the block's first byte in the window */
	uint64_t bits; /* bit i: byte base + i is a comma, newline or quote */
};

struct fsl_csv {
	struct fsl_reader *reader; /* NULL: all input is in the window */
	const char *data; /* window: the reader's unread bytes; borrowed until the next refill */
	size_t n_data;
	size_t n_plain;      /* bytes from which plain rows may be read: up to the fence */
	size_t at;           /* index of the next row's first byte */
	uint64_t row_offset; /* file offset of that byte */
	uint64_t fence;
	uint64_t line;   /* its line, from 1 */
	bool has_jumped; /* line numbers are unknown */
	bool is_begun;   /* the byte order mark has been checked */
	bool is_last;    /* no input follows this window */
	struct marks marks;
	char *scratch; /* holds fields that had doubled quotes */
	size_t scratch_capacity;
};

_Static_assert(FSL_CSV_PLAIN_BYTES_MAX % FSL_SCAN_CSV_BYTES == 0, "plain rows are whole blocks");

enum outcome {
	OUTCOME_ROW,
	OUTCOME_EMPTY, /* a line with nothing on it */
	OUTCOME_BAD,
	OUTCOME_CUT,
	OUTCOME_MORE, /* the window ends inside the row */
};

/* State of a row while it is read. */
struct progress {
	struct fsl_csv_row *row;
	size_t end;          /* index of the next row's first byte */
	uint64_t n_newlines; /* also newlines inside quoted fields */
	uint64_t doubled;    /* bit i: field i holds doubled quotes */
};

_Static_assert(FSL_CSV_FIELDS_MAX == 64,
	       "one bit of progress.doubled per field; a message says 64");

struct fsl_csv *fsl_csv_create(struct fsl_reader *reader)
{
	struct fsl_csv *csv = fsl_calloc(1, sizeof(*csv));
	if (csv != NULL) {
		csv->reader = reader;
		csv->line = 1;
		csv->fence = UINT64_MAX;
	}
	return csv;
}

struct fsl_csv *fsl_csv_create_over(const char *text, size_t n_bytes)
{
	struct fsl_csv *csv = fsl_csv_create(NULL);
	if (csv != NULL) {
		csv->data = text;
		csv->n_data = csv->n_plain = n_bytes;
	}
	return csv;
}

void fsl_csv_destroy(struct fsl_csv *csv)
{
	if (csv == NULL) {
		return;
	}
	if (csv->reader != NULL) {
		fsl_reader_skip(csv->reader, csv->at);
	}
	fsl_free(csv->scratch);
	fsl_free(csv);
}

/* Call after every change of the window or the fence. */
static void set_plain(struct fsl_csv *csv)
{
	uint64_t window_offset = csv->row_offset - csv->at;
	uint64_t n_free = csv->fence > window_offset ? csv->fence - window_offset : 0;
	csv->n_plain = n_free < csv->n_data ? (size_t)n_free : csv->n_data;
}

void fsl_csv_set_fence(struct fsl_csv *csv, uint64_t offset)
{
	csv->fence = offset;
	set_plain(csv);
}

enum fsl_status fsl_csv_jump(struct fsl_csv *csv, uint64_t offset, uint64_t line,
			     struct fsl_error *err)
{
	csv->data = "";
	csv->n_data = csv->n_plain = csv->at = 0;
	csv->marks = (struct marks){0, 0};
	csv->row_offset = offset;
	csv->has_jumped = line == 0;
	csv->line = line;
	csv->is_last = false;
	return fsl_reader_seek(csv->reader, offset, err);
}

void fsl_csv_go_on(struct fsl_csv *csv, uint64_t line)
{
	csv->row_offset = fsl_reader_offset(csv->reader);
	csv->has_jumped = line == 0;
	csv->line = line;
	csv->is_begun = true;
}

uint64_t fsl_csv_offset(const struct fsl_csv *csv)
{
	return csv->row_offset;
}

uint64_t fsl_csv_line(const struct fsl_csv *csv)
{
	return csv->has_jumped ? 0 : csv->line;
}

static uint64_t scan_block(const struct fsl_csv *csv, size_t base)
{
	char tail[FSL_SCAN_CSV_BYTES] = {0};
	const char *bytes = csv->data + base;
	size_t n_left = csv->n_data - base;
	if (n_left < FSL_SCAN_CSV_BYTES) {
		memcpy(tail, bytes, n_left);
		bytes = tail;
	}
	struct fsl_scan_csv marks = fsl_scan_csv(bytes);
	return marks.commas | marks.stops;
}

/* Index of the first comma or newline from @pos on; n_data if the window has none. */
static inline size_t next_mark(struct fsl_csv *csv, size_t pos)
{
	struct marks *marks = &csv->marks;
	for (;;) {
		size_t shift = pos - marks->base;
		if (shift < FSL_SCAN_CSV_BYTES) {
			uint64_t bits = marks->bits >> shift;
			if (bits != 0) {
				pos += (size_t)__builtin_ctzll(bits);
				if (csv->data[pos] != '"') {
					return pos;
				}
				pos++;
				continue;
			}
			pos = marks->base + FSL_SCAN_CSV_BYTES;
		}
		if (pos >= csv->n_data) {
			return csv->n_data;
		}
		marks->base = pos;
		marks->bits = scan_block(csv, pos);
	}
}

/* Makes the window hold at least @want bytes from the first byte of the next row on. */
static enum fsl_status refill(struct fsl_csv *csv, size_t want, struct fsl_error *err)
{
	fsl_reader_skip(csv->reader, csv->at);
	csv->at = 0;
	csv->n_data = csv->n_plain = 0;
	enum fsl_status status = fsl_reader_peek(csv->reader, want, &csv->data, &csv->n_data, err);
	if (status != FSL_OK) {
		csv->n_data = 0;
		return status;
	}
	csv->is_last = csv->n_data < want;
	csv->marks = (struct marks){0, scan_block(csv, 0)};
	set_plain(csv);
	return FSL_OK;
}

/* Doubles the window for a row that ends outside of it; *is_too_long if the limit is reached. */
static enum fsl_status widen(struct fsl_csv *csv, bool *is_too_long, struct fsl_error *err)
{
	size_t n_known = csv->n_data - csv->at;
	*is_too_long = n_known >= FSL_LINE_BYTES_MAX;
	if (*is_too_long) {
		return FSL_OK;
	}
	size_t want = n_known < FSL_LINE_BYTES_MAX / 2 ? n_known * 2 : FSL_LINE_BYTES_MAX;
	return refill(csv, want, err);
}

static void advance(struct fsl_csv *csv, size_t pos, uint64_t n_lines)
{
	csv->row_offset += pos - csv->at;
	csv->at = pos;
	csv->line += n_lines;
}

/* Drops everything up to and including the next newline; *found is false at the end of the file. */
static enum fsl_status skip_line(struct fsl_csv *csv, bool *found, struct fsl_error *err)
{
	*found = false;
	for (;;) {
		const char *begin = csv->data + csv->at;
		const char *newline =
			csv->n_data > csv->at ? memchr(begin, '\n', csv->n_data - csv->at) : NULL;
		if (newline != NULL) {
			*found = true;
			advance(csv, (size_t)(newline - csv->data) + 1, 1);
			return FSL_OK;
		}
		advance(csv, csv->n_data, 0);
		enum fsl_status status = refill(csv, 1, err);
		if (status != FSL_OK || csv->n_data == 0) {
			return status;
		}
	}
}

static uint64_t count_newlines(const char *text, size_t length)
{
	uint64_t n = 0;
	const char *end = text + length;
	while (text < end && (text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
		n++;
		text++;
	}
	return n;
}

/*
 * The field whose first byte is the quote at *at: sets its raw text (quotes may still be doubled)
 * and moves *at behind it, to the comma, the newline or the end of the file.
 */
static enum outcome read_quoted(const struct fsl_csv *csv, struct progress *progress, size_t *at,
				size_t field_idx)
{
	const char *data = csv->data;
	size_t n_data = csv->n_data;
	size_t begin = *at + 1;
	size_t pos = begin;
	bool has_doubled = false;
	for (;;) {
		const char *quote = pos < n_data ? memchr(data + pos, '"', n_data - pos) : NULL;
		if (quote == NULL) {
			return csv->is_last ? OUTCOME_CUT : OUTCOME_MORE;
		}
		pos = (size_t)(quote - data) + 1;
		if (pos == n_data || data[pos] != '"') {
			break;
		}
		has_doubled = true;
		pos++;
	}
	if (n_data - pos < 2 && !csv->is_last) {
		return OUTCOME_MORE; /* "\r\n" or a second quote may follow */
	}
	size_t length = pos - 1 - begin;
	progress->row->fields[field_idx] = (struct fsl_csv_field){data + begin, length};
	progress->doubled |= (uint64_t)has_doubled << field_idx;
	progress->n_newlines += count_newlines(data + begin, length);
	if (pos < n_data && data[pos] == '\r' && (pos + 1 == n_data || data[pos + 1] == '\n')) {
		pos++;
	}
	*at = pos;
	bool is_ended = pos == n_data || data[pos] == ',' || data[pos] == '\n';
	return is_ended ? OUTCOME_ROW : OUTCOME_BAD;
}

/* Reads one row from csv->at on; csv itself does not move. */
static enum outcome read_row(struct fsl_csv *csv, struct progress *progress)
{
	struct fsl_csv_row *row = progress->row;
	const char *data = csv->data;
	size_t n_data = csv->n_data;
	size_t pos = csv->at, n_fields = 0;
	bool is_quoted = false;
	for (;; pos++) {
		if (n_fields == FSL_CSV_FIELDS_MAX) {
			row->reason = "more than 64 columns";
			return OUTCOME_BAD;
		}
		size_t begin = pos;
		is_quoted = pos < n_data && data[pos] == '"';
		if (is_quoted) {
			row->reason = "text after a closing quote";
			enum outcome outcome = read_quoted(csv, progress, &pos, n_fields);
			if (outcome != OUTCOME_ROW) {
				return outcome;
			}
		} else {
			pos = next_mark(csv, pos);
			row->fields[n_fields] = (struct fsl_csv_field){data + begin, pos - begin};
		}
		n_fields++;
		if (pos == n_data || data[pos] == '\n') {
			break;
		}
	}
	if (pos == n_data && !csv->is_last) {
		return OUTCOME_MORE;
	}
	struct fsl_csv_field *last = &row->fields[n_fields - 1];
	if (!is_quoted && last->length > 0 && last->text[last->length - 1] == '\r') {
		last->length--;
	}
	row->n_fields = n_fields;
	row->has_newline = pos < n_data;
	progress->end = pos + row->has_newline;
	progress->n_newlines += row->has_newline;
	bool is_empty = n_fields == 1 && last->length == 0 && !is_quoted;
	return is_empty ? OUTCOME_EMPTY : OUTCOME_ROW;
}

/* Copies fields with doubled quotes to the scratch buffer and halves the quotes there. */
static enum fsl_status undouble(struct fsl_csv *csv, const struct progress *progress,
				struct fsl_error *err)
{
	struct fsl_csv_row *row = progress->row;
	size_t n_bytes = 0;
	for (size_t i = 0; i < row->n_fields; i++) {
		n_bytes += (progress->doubled >> i) & 1 ? row->fields[i].length : 0;
	}
	FSL_TRY(FSL_GROW(csv->scratch, csv->scratch_capacity, n_bytes, err));
	char *to = csv->scratch;
	for (size_t i = 0; i < row->n_fields; i++) {
		if (((progress->doubled >> i) & 1) == 0) {
			continue;
		}
		struct fsl_csv_field *field = &row->fields[i];
		const char *from = field->text;
		const char *end = from + field->length;
		field->text = to;
		while (from < end) {
			from += *from == '"'; /* keeps the first quote of two */
			*to++ = *from++;
		}
		field->length = (size_t)(to - field->text);
	}
	return FSL_OK;
}

/* Skips a byte order mark before the first row. */
static enum fsl_status begin(struct fsl_csv *csv, struct fsl_error *err)
{
	enum fsl_status status = refill(csv, 3, err);
	if (status == FSL_OK) {
		csv->is_begun = true;
		csv->row_offset = fsl_reader_offset(csv->reader);
		if (csv->n_data >= 3 && memcmp(csv->data, "\xef\xbb\xbf", 3) == 0) {
			advance(csv, 3, 0);
		}
	}
	return status;
}

/* Reads until the outcome no longer depends on bytes outside the window. */
static enum fsl_status read_whole_row(struct fsl_csv *csv, struct progress *progress,
				      enum outcome *outcome, struct fsl_error *err)
{
	struct fsl_csv_row *row = progress->row;
	for (;;) {
		*progress = (struct progress){.row = row};
		*outcome = read_row(csv, progress);
		if (*outcome != OUTCOME_MORE) {
			return FSL_OK;
		}
		bool is_too_long = false;
		FSL_TRY(widen(csv, &is_too_long, err));
		if (is_too_long) {
			row->reason = "row longer than 4 MiB";
			*outcome = OUTCOME_BAD;
			return FSL_OK;
		}
	}
}

/* Turns an outcome into the row's state and moves behind the row. */
static enum fsl_status finish_row(struct fsl_csv *csv, const struct progress *progress,
				  enum outcome outcome, struct fsl_error *err)
{
	struct fsl_csv_row *row = progress->row;
	switch (outcome) {
	case OUTCOME_BAD:
		row->state = FSL_CSV_BAD_ROW;
		row->n_fields = 0;
		return skip_line(csv, &row->has_newline, err);
	case OUTCOME_CUT: /* a quote that nothing closes costs one line if there are more */
		row->reason = "the file ends inside a quoted field";
		row->n_fields = 0;
		FSL_TRY(skip_line(csv, &row->has_newline, err));
		row->state = row->has_newline ? FSL_CSV_BAD_ROW : FSL_CSV_CUT_ROW;
		return FSL_OK;
	case OUTCOME_ROW:
	case OUTCOME_EMPTY:
		row->state = FSL_CSV_ROW;
		row->reason = NULL;
		advance(csv, progress->end, progress->n_newlines);
		return progress->doubled != 0 ? undouble(csv, progress, err) : FSL_OK;
	case OUTCOME_MORE:
		break;
	}
	FSL_REQUIRE(outcome != OUTCOME_MORE);
	return FSL_ERR_INTERNAL;
}

static enum fsl_status next_row(struct fsl_csv *csv, struct fsl_csv_row *row, struct fsl_error *err)
{
	enum fsl_status status = csv->is_begun ? FSL_OK : begin(csv, err);
	enum outcome outcome = OUTCOME_EMPTY;
	while (status == FSL_OK && outcome == OUTCOME_EMPTY) {
		struct progress progress = {.row = row};
		if (csv->at == csv->n_data) {
			status = refill(csv, 1, err);
			if (status != FSL_OK) {
				break;
			}
		}
		row->line = csv->has_jumped ? 0 : csv->line;
		row->offset = csv->row_offset;
		if (csv->n_data == 0) {
			row->state = FSL_CSV_END;
			row->reason = NULL;
			row->has_newline = false;
			row->n_fields = 0;
			break;
		}
		status = read_whole_row(csv, &progress, &outcome, err);
		FSL_THEN(status, finish_row(csv, &progress, outcome, err));
	}
	return status;
}

/* Ends the row at @stop, where its last field ends; false for an empty line or a quote. */
static inline bool finish_plain(struct fsl_csv *csv, struct fsl_csv_plain *row, uint32_t stop,
				uint32_t *end)
{
	const char *text = csv->data + csv->at;
	bool has_return = stop > end[-1] && text[stop - 1] == '\r';
	*end = stop + (has_return ? 0 : 1);
	if (text[stop] != '\n' || *end == 1) {
		return false;
	}
	row->text = text;
	row->n_bytes = stop + 1;
	row->n_fields = (size_t)(end - row->at);
	advance(csv, csv->at + row->n_bytes, 1);
	return true;
}

bool fsl_csv_next_plain(struct fsl_csv *csv, struct fsl_csv_plain *row)
{
	if (csv->at + FSL_CSV_PLAIN_REACH_BYTES > csv->n_plain) {
		return false;
	}
	const char *text = csv->data + csv->at;
	uint32_t *end = row->at;
	*end++ = 0;
	for (uint32_t block = 0; block < FSL_CSV_PLAIN_BYTES_MAX; block += FSL_SCAN_CSV_BYTES) {
		struct fsl_scan_csv marks = fsl_scan_csv(text + block);
		uint64_t stop = marks.stops & (0 - marks.stops);
		uint64_t commas = marks.commas & (stop - 1); /* if there is no stop: all commas */
		uint32_t behind = block + 1; /* the first byte of the block is a comma */
		for (; commas != 0; commas &= commas - 1) {
			*end++ = behind + (uint32_t)__builtin_ctzll(commas);
		}
		if (stop != 0) {
			return finish_plain(csv, row, block + (uint32_t)__builtin_ctzll(stop), end);
		}
	}
	return false;
}

void fsl_csv_put_back(struct fsl_csv *csv, const struct fsl_csv_plain *row)
{
	csv->at -= row->n_bytes;
	csv->row_offset -= row->n_bytes;
	csv->line--;
}

enum fsl_status fsl_csv_next(struct fsl_csv *csv, struct fsl_csv_row *row, struct fsl_error *err)
{
	struct fsl_csv_plain plain;
	row->line = csv->has_jumped ? 0 : csv->line;
	row->offset = csv->row_offset;
	if (!fsl_csv_next_plain(csv, &plain)) {
		return next_row(csv, row, err);
	}
	if (plain.n_fields > FSL_CSV_FIELDS_MAX) {
		fsl_csv_put_back(csv, &plain);
		return next_row(csv, row, err);
	}
	for (size_t i = 0; i < plain.n_fields; i++) {
		row->fields[i] = fsl_csv_plain_field(&plain, i);
	}
	row->state = FSL_CSV_ROW;
	row->reason = NULL;
	row->has_newline = true;
	row->n_fields = plain.n_fields;
	return FSL_OK;
}

size_t fsl_csv_column(const struct fsl_csv_row *header, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < header->n_fields; i++) {
		const struct fsl_csv_field *field = &header->fields[i];
		if (field->length == length && memcmp(field->text, name, length) == 0) {
			return i;
		}
	}
	return SIZE_MAX;
}
