/* Any bytes as a series, CSV or JSON: as many values as it says, missing ones counted. */
#include <math.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/series/series_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static const char *const columns[] = {NULL, "a", "2"};
	for (size_t k = 0; k < 3; k++) {
		struct fsl_reader *reader = fuzz_reader(data, n_bytes);
		struct fsl_series_file file = {0};
		size_t n_missing = 0;
		if (reader != NULL &&
		    fsl_series_file_read(&file, reader, columns[k], NULL) == FSL_OK) {
			for (size_t i = 0; i < file.n; i++) {
				n_missing += isnan(file.values[i]) ? 1 : 0;
				FSL_REQUIRE(!isinf(file.values[i]));
				FSL_REQUIRE(file.times == NULL || file.times[i] != NULL);
			}
			FSL_REQUIRE(n_missing == file.n_missing && file.n > n_missing);
		}
		fsl_series_file_fini(&file);
		fsl_reader_close(reader);
	}
	return 0;
}
