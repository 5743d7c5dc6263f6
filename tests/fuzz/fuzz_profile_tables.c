/* Any bytes as one of the profiler's tables, told by the upper half of the first byte. */
#include "fuzz/fuzz_profile.h"

static const fsl_profile_reader readers[] = {
	fsl_profile_read_kernel_details, fsl_profile_read_step_trace_time,
	fsl_profile_read_op_statistic,   fsl_profile_read_api_statistic,
	fsl_profile_read_memory_record,  fsl_profile_read_operator_details,
	fsl_profile_read_npu_module_mem, fsl_profile_read_operator_memory,
	fsl_profile_read_step_trace,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	size_t which = n_bytes > 0 ? data[0] / 16 % (sizeof(readers) / sizeof(readers[0])) : 0;
	return fuzz_profile(readers[which], data, n_bytes);
}
