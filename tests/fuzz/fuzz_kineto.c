/* Any bytes as a trace of Kineto. */
#include "fuzz/fuzz_profile.h"
#include "source/kineto/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	return fuzz_profile(fsl_kineto_read_file, data, n_bytes);
}
