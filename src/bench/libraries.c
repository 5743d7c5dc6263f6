/* The same work with the obvious libraries: libcsv and cJSON, which failslow uses for irregular CSV
 * and small JSON, and protobuf-c without failslow's own walk over the outer message. */
#include <string.h>

#include <cjson/cJSON.h>
#include <csv.h>

#include "base/digits.h"
#include "bench/bench_parts.h"
#include "timeline.pb-c.h"

/* The columns with numbers that failslow's reader takes from a marker row. */
static const char *const number_columns[] = {"Flag", "Id", "SourceKind", "Timestamp"};
enum { NUMBERS_N = sizeof(number_columns) / sizeof(number_columns[0]), COLUMNS_MAX = 64 };

struct csv_rows {
	struct csv_parser parser;
	bool is_number[COLUMNS_MAX];
	size_t column;
	bool is_in_header;
	uint64_t n_rows, n_wrong;
	uint64_t sum; /* of all numbers, so that the compiler cannot drop any */
};

static void take_field(void *text, size_t length, void *context)
{
	struct csv_rows *rows = context;
	size_t column = rows->column++;
	uint64_t number = 0;
	if (column >= COLUMNS_MAX) {
		return;
	}
	if (rows->is_in_header) {
		for (size_t i = 0; i < NUMBERS_N; i++) {
			rows->is_number[column] |= strlen(number_columns[i]) == length &&
						   memcmp(number_columns[i], text, length) == 0;
		}
	} else if (rows->is_number[column]) {
		/* libcsv's buffer has at least 128 bytes: words of 8 may be read. */
		rows->n_wrong += fsl_digits_parse_spare(text, length, &number) ? 0 : 1;
		rows->sum += number;
	}
}

static void take_row(int end, void *context)
{
	struct csv_rows *rows = context;
	(void)end;
	rows->n_rows += rows->is_in_header ? 0 : 1;
	rows->is_in_header = false;
	rows->column = 0;
}

static enum fsl_status parse_block(void *context, const char *block, size_t n_bytes,
				   struct fsl_error *err)
{
	struct csv_rows *rows = context;
	size_t n = csv_parse(&rows->parser, block, n_bytes, take_field, take_row, rows);
	return n == n_bytes ? FSL_OK
			    : FSL_FAIL(err, FSL_ERR_FORMAT, "libcsv stopped: reason=\"%s\"",
				       csv_strerror(csv_error(&rows->parser)));
}

enum fsl_status fsl_bench_libcsv(const struct fsl_bench_data *data, uint64_t *n_rows,
				 struct fsl_error *err)
{
	struct csv_rows rows = {.n_rows = 0};
	enum fsl_status status = FSL_OK;
	if (csv_init(&rows.parser, 0) != 0) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"libcsv\"");
	}
	for (size_t i = 0; i < data->n_paths && status == FSL_OK; i++) {
		rows.is_in_header = true;
		memset(rows.is_number, 0, sizeof(rows.is_number));
		status = fsl_bench_each_block(data->paths[i], parse_block, &rows, err);
		(void)csv_fini(&rows.parser, take_field, take_row, &rows);
	}
	csv_free(&rows.parser);
	if (status == FSL_OK && rows.n_wrong > 0) {
		status = FSL_FAIL(err, FSL_ERR_FORMAT, "fields that are no numbers: fields=%llu",
				  (unsigned long long)rows.n_wrong);
	}
	__asm__ volatile("" : : "r"(rows.sum));
	*n_rows = rows.n_rows;
	return status;
}

/* The arrays follow each other, as the collector writes them. */
enum fsl_status fsl_bench_cjson(const struct fsl_bench_data *data, uint64_t *n_rows,
				struct fsl_error *err)
{
	const char *at = data->bytes, *end = data->bytes + data->n_bytes;
	while (at < end && strspn(at, " \t\r\n") < (size_t)(end - at)) {
		const char *next = NULL;
		cJSON *array = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &next, false);
		if (array == NULL) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "cJSON stopped: offset=%zu",
					(size_t)(at - data->bytes));
		}
		*n_rows += (uint64_t)cJSON_GetArraySize(array);
		cJSON_Delete(array);
		at = next;
	}
	return FSL_OK;
}

/* Timelines in a row are one message by the rules of the wire format. */
enum fsl_status fsl_bench_protobuf(const struct fsl_bench_data *data, uint64_t *n_rows,
				   struct fsl_error *err)
{
	Timeline *timeline = timeline__unpack(NULL, data->n_bytes, (const uint8_t *)data->bytes);
	if (timeline == NULL) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "protobuf-c refuses the timelines");
	}
	*n_rows = timeline->n_stages;
	timeline__free_unpacked(timeline, NULL);
	return FSL_OK;
}
