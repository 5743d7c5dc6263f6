/* Any bytes as nccl_csv: no crash, no leak, no read out of bounds. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	return fuzz_format("nccl_csv", data, n_bytes);
}
