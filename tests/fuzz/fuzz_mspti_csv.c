/* Any bytes as mspti_csv: no crash, no leak, no read out of bounds. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	return fuzz_format("mspti_csv", data, n_bytes);
}
