/* Words by profiler. */
#include "capture/source_words.h"

static const struct fsl_source_words ascend_words = {
	.steps = "where the time of a step goes, for want of step_trace_time.csv, "
		 "kernel_details.csv or a database",
	.statistics = "what the host does in free time, for want of api_statistic.csv "
		      "(Level1 or Level2) or the profiler's database",
	.gaps = "when the device is free, for want of kernel_details.csv or the "
		"profiler's database",
	.kernels = "whether kernels are slower than on other ranks, for want of "
		   "kernel_details.csv or "
		   "the profiler's database of at least two ranks of the stage",
	.types = "which operators take the time, for want of kernel_details.csv, "
		 "op_statistic.csv or the profiler's database",
	.clock = "at which clock the cores work, for want of trace_view.json with AI Core "
		 "Freq (Level1 or Level2), or AICORE_FREQ of a database",
	.links = "slow links: no communication_matrix.json, or database, with links between ranks",
	.no_comms = "without collectives on two ranks (communication.json, level 1) nobody "
		    "can be seen to be late",
	.no_steps = "without times of steps (step_trace_time.csv or kernel_details.csv) "
		    "nobody can be seen to spend more than others",
	.single_pauses =
		"capture kernel_details.csv (Level1) to tell single pauses from slow "
		"launches; then look at the host: data loading, synchronisation, CPU cores",
	.capture_comms = "capture all ranks at level 1 or higher: some tell no operators of "
			 "communication (communication.json)",
	.capture_again = "capture all ranks of the job in the same steps, at Level1 "
			 "or higher",
};

static const struct fsl_source_words kineto_words = {
	.steps = "where the time of a step goes, for want of kernels in its trace "
		 "(ProfilerActivity.CUDA)",
	.statistics = "what the host does in free time, for want of calls of the runtime in its "
		      "trace (ProfilerActivity.CUDA)",
	.gaps = "when the device is free, for want of kernels in its trace "
		"(ProfilerActivity.CUDA)",
	.kernels = "whether kernels are slower than on other ranks, for want of kernels in the "
		   "traces of at least two ranks of the stage",
	.types = "which operators take the time, for want of kernels in the traces "
		 "(ProfilerActivity.CUDA)",
	.links = "slow links: no two groups of as many ranks move as much, and traces have no "
		 "bandwidths",
	.no_comms = "without collectives on two ranks (kernels of NCCL, RCCL or HCCL with the "
		    "names of their process groups) nobody can be seen to be late",
	.no_steps = "without kernels in the traces of two ranks (ProfilerActivity.CUDA) nobody "
		    "can be seen to spend more than others",
	.single_pauses =
		"capture kernels (ProfilerActivity.CUDA) to tell single pauses from slow "
		"launches; then look at the host: data loading, synchronisation, CPU cores",
	.capture_comms = "capture all ranks with activities of CUDA, and whole files: some tell no "
			 "collectives",
	.capture_again = "capture all ranks of the job in the same steps, with activities of CPU "
			 "and CUDA",
};

bool fsl_profile_is_kineto(const struct fsl_profile *profile)
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n += profile->ranks[r].folder.writer == FSL_PROFILE_KINETO ? 1 : 0;
	}
	return 2 * n > profile->n_ranks;
}

const struct fsl_source_words *fsl_profile_rank_words(const struct fsl_profile_rank *rank)
{
	return rank->folder.writer == FSL_PROFILE_KINETO ? &kineto_words : &ascend_words;
}

const struct fsl_source_words *fsl_profile_source_words(const struct fsl_profile *profile)
{
	return fsl_profile_is_kineto(profile) ? &kineto_words : &ascend_words;
}
