/* Any bytes as communication_matrix.json: as a whole and in pieces alike. */
#include "fuzz/fuzz_profile_ways.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	fuzz_profile_ways(fsl_profile_read_communication_matrix, data, n_bytes);
	return fuzz_profile(fsl_profile_read_communication_matrix, data, n_bytes);
}
