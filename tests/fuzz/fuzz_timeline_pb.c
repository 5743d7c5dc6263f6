/* Any bytes as timeline_pb: no crash, no leak, no read out of bounds. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	return fuzz_format("timeline_pb", data, n_bytes);
}
