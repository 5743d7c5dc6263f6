/* Any bytes as a file of host events: no crash, no leak, no read out of bounds. */
#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/systrace/host_pb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static const char *const names[] = {"os_trace_x_rank_3_7.pb", "io_trace_rank0_7.pb",
					    "os_trace.pb", "mutex_trace_rank1_7.pb"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fsl_host_events events;
		struct fsl_reader *reader = fuzz_reader(data, n_bytes);
		if (reader == NULL) {
			return 0;
		}
		if (fsl_host_events_init(&events, NULL) == FSL_OK) {
			(void)fsl_host_read(&events, reader, names[i], NULL);
			for (size_t e = 0; e < events.n_items; e++) {
				FSL_REQUIRE(events.items[e].begin_ns <= events.items[e].end_ns);
			}
			fsl_host_events_fini(&events);
		}
		fsl_reader_close(reader);
	}
	return 0;
}
