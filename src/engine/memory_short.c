/* Compares what a run will take with what there is. */
#include "engine/memory_short.h"

#include "base/log.h"

/* Bytes of input for a byte of memory, at most. A byte of input takes 0.2 (JSON markers), 0.3 (CSV
 * markers) to 0.9 bytes and more (jobs of many ranks) of memory. */
enum { INPUT_PER_MEMORY = 5 };

void fsl_memory_warn(uint64_t n_bytes, uint64_t n_left)
{
	static const double BYTES_PER_GB = 1e9;
	uint64_t n_needed = n_bytes / INPUT_PER_MEMORY;
	if (n_needed > n_left) {
		fsl_log(FSL_LOG_WARNING, "detect",
			"memory is short, the system may end this run: needed=\"%.2f GB or more\", "
			"available=\"%.2f GB\", remedy=\"judge a part (--from, --to), or share the "
			"files among hosts (docs/operations/cluster.md)\"",
			(double)n_needed / BYTES_PER_GB, (double)n_left / BYTES_PER_GB);
	}
}
