/* Any bytes as mspti_csv: no crash, no leak, no read out of bounds; as a whole and in pieces alike.
 */
#include "fuzz/fuzz_format.h"
#include "fuzz/fuzz_two_ways.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	fuzz_two_ways("mspti_csv", data, n_bytes);
	return fuzz_format("mspti_csv", data, n_bytes);
}
