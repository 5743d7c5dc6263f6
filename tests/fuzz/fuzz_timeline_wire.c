/* Any bytes as the middle of a timeline: stages in order, each within the bytes and with a time. */
#include "base/log.h"
#include "base/number.h"
#include "fuzz/fuzz.h"
#include "source/systrace/timeline_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	const char *at = (const char *)data, *end = at + n_bytes;
	struct fsl_entry_row row;
	while (at < end && fsl_wire_next_stage(NULL, at, end, &row)) {
		FSL_REQUIRE(row.begin >= at && row.begin < row.end && row.end <= end);
		FSL_REQUIRE(row.time_ns > 0 && row.time_ns <= FSL_TIME_MAX_NS);
		at = row.end;
	}
	return 0;
}
