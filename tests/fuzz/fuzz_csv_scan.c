/* Any bytes as CSV: no read out of bounds, rows in order. */
#include "base/csv_scan.h"
#include "base/log.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	struct fsl_csv *csv = reader != NULL ? fsl_csv_create(reader) : NULL;
	struct fsl_csv_row row = {.state = FSL_CSV_END};
	uint64_t next_offset = 0, next_line = 1;
	volatile unsigned char last = 0; /* the reads stay in */
	while (csv != NULL && fsl_csv_next(csv, &row, NULL) == FSL_OK && row.state != FSL_CSV_END) {
		FSL_REQUIRE(row.offset >= next_offset && row.line >= next_line);
		next_offset = row.offset + 1;
		next_line = row.line + 1;
		FSL_REQUIRE((row.state == FSL_CSV_ROW) == (row.n_fields > 0));
		for (size_t i = 0; i < row.n_fields; i++) {
			for (size_t k = 0; k < row.fields[i].length; k++) {
				last = (unsigned char)row.fields[i].text[k];
			}
		}
	}
	(void)last;
	fsl_csv_destroy(csv);
	fsl_reader_close(reader);
	return 0;
}
