/* The sweep: time up to the next work is cut where kinds of work end. */
#include "capture/shares.h"

#include <string.h>

void fsl_shares_advance(struct fsl_shares_sweep *sweep, int64_t to_ns)
{
	while (sweep->now_ns < to_ns) {
		int64_t next_ns = to_ns;
		size_t running = 0;
		for (size_t k = 0; k < FSL_DEVICE_WORK_N; k++) {
			int64_t until_ns = sweep->until_ns[k];
			if (until_ns > sweep->now_ns) {
				running |= (size_t)1 << k;
				next_ns = until_ns < next_ns ? until_ns : next_ns;
			}
		}
		sweep->sums_ns[running] += next_ns - sweep->now_ns;
		sweep->now_ns = next_ns;
	}
}

void fsl_shares_add(struct fsl_shares_sweep *sweep, int64_t begin_ns, int64_t dur_ns,
		    enum fsl_device_work kind)
{
	int64_t end_ns = begin_ns + dur_ns;
	if (!sweep->has_begun) {
		*sweep = (struct fsl_shares_sweep){.has_begun = true, .now_ns = begin_ns};
		for (size_t k = 0; k < FSL_DEVICE_WORK_N; k++) {
			sweep->until_ns[k] = begin_ns;
		}
	}
	fsl_shares_advance(sweep, begin_ns);
	sweep->until_ns[kind] = end_ns > sweep->until_ns[kind] ? end_ns : sweep->until_ns[kind];
}

struct fsl_profile_shares fsl_shares_tell(struct fsl_shares_sweep *sweep, bool is_last)
{
	enum {
		COMPUTE = 1 << FSL_DEVICE_COMPUTE,
		COMMUNICATION = 1 << FSL_DEVICE_COMMUNICATION,
		MEMORY = 1 << FSL_DEVICE_MEMORY,
	};
	struct fsl_profile_shares shares = {.step = FSL_STEP_ABSENT};
	for (size_t k = 0; k < FSL_DEVICE_WORK_N && is_last; k++) {
		fsl_shares_advance(sweep, sweep->until_ns[k]);
	}
	for (size_t running = 0; running < 1 << FSL_DEVICE_WORK_N; running++) {
		int64_t ns = sweep->sums_ns[running];
		shares.window_ns += ns;
		shares.comm_ns += (running & COMMUNICATION) != 0 ? ns : 0;
		if ((running & COMPUTE) != 0) {
			shares.compute_ns += ns;
			shares.overlapped_ns += (running & COMMUNICATION) != 0 ? ns : 0;
		} else if ((running & COMMUNICATION) != 0) {
			shares.exposed_comm_ns += ns;
		} else if ((running & MEMORY) != 0) {
			shares.exposed_memory_ns += ns;
		} else {
			shares.idle_ns += ns;
		}
	}
	memset(sweep->sums_ns, 0, sizeof(sweep->sums_ns));
	return shares;
}
