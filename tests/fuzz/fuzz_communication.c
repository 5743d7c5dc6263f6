/* Any bytes as communication.json: as a whole and in pieces alike. */
#include "fuzz/fuzz_profile_ways.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	fuzz_profile_ways(fsl_profile_read_communication, data, n_bytes);
	return fuzz_profile(fsl_profile_read_communication, data, n_bytes);
}
