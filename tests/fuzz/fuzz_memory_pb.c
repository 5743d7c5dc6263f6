/* Any bytes as records of device memory: no crash, no leak, and bytes are never less than none. */
#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/systrace/memory_replay.h"

static void replay(const struct fsl_memory *memory)
{
	for (size_t i = 0; i < memory->n_items; i++) {
		struct fsl_memory_replay replay = {0};
		struct fsl_memory_holder *holders = NULL;
		size_t n = 0;
		int64_t at_peak = 0;
		if (fsl_memory_replay(&replay, &memory->items[i], NULL) == FSL_OK &&
		    fsl_memory_holders(&holders, &n, &replay, fsl_memory_is_at_peak, NULL) ==
			    FSL_OK) {
			for (size_t h = 0; h < n; h++) {
				at_peak += holders[h].n_bytes;
			}
			FSL_REQUIRE(replay.n_records == 0 || at_peak == replay.peak_bytes);
			for (size_t r = 0; r < replay.n_records; r++) {
				FSL_REQUIRE(replay.held[r] >= 0);
			}
		}
		fsl_free(holders);
		fsl_memory_replay_fini(&replay);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_memory memory;
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	if (reader == NULL) {
		return 0;
	}
	if (fsl_memory_init(&memory, NULL) == FSL_OK) {
		(void)fsl_memory_read(&memory, reader, "hbm_trace_trace_rank3_7.pb", NULL);
		replay(&memory);
		fsl_memory_fini(&memory);
	}
	fsl_reader_close(reader);
	return 0;
}
