/* Any bytes as a plain, gzip or zstd file read by lines; unpacking stops at a bound. */
#include <string.h>

#include "base/log.h"
#include "fuzz/fuzz.h"

enum { UNPACKED_BYTES_MAX = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	const char *line = "";
	uint64_t last_number = 0;
	while (reader != NULL && line != NULL && fsl_reader_offset(reader) < UNPACKED_BYTES_MAX) {
		size_t length = 0;
		uint64_t number = 0;
		bool too_long = false;
		if (fsl_reader_line(reader, &line, &length, &number, &too_long, NULL) != FSL_OK) {
			break;
		}
		if (line != NULL) {
			FSL_REQUIRE(number == last_number + 1 &&
				    memchr(line, '\n', length) == NULL);
			last_number = number;
		}
	}
	fsl_reader_close(reader);
	return 0;
}
