/* Any bytes as training_log: no crash, no leak, no read out of bounds. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	return fuzz_format("training_log", data, n_bytes);
}
