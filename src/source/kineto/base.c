/* Moves the times of ranks whose trace lost its base. */
#include "source/kineto/base.h"

#include "capture/kept_rows.h"

/* The base that all ranks with one share; 0: they have none, or several. */
static int64_t common_base(const struct fsl_profile *profile)
{
	int64_t base_ns = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		int64_t own_ns = profile->ranks[r].trace.base_ns;
		if (own_ns != 0 && base_ns != 0 && own_ns != base_ns) {
			return 0;
		}
		base_ns = own_ns != 0 ? own_ns : base_ns;
	}
	return base_ns;
}

static void move(struct fsl_profile_rank *rank, int64_t by_ns)
{
	struct fsl_profile_trace *trace = &rank->trace;
	for (size_t i = 0; i < rank->n_comms; i++) {
		rank->comms[i].begin_ns += by_ns;
	}
	for (size_t i = 0; i < rank->n_gaps; i++) {
		rank->gaps[i].begin_ns += by_ns;
	}
	for (size_t i = 0; i < rank->n_samples; i++) {
		rank->samples[i].begin_ns += by_ns;
	}
	for (size_t i = 0; i < trace->n_ranges; i++) {
		trace->ranges[i].begin_ns += by_ns;
		trace->ranges[i].end_ns += by_ns;
	}
	for (size_t i = 0; i < trace->n_idle; i++) {
		trace->idle[i].begin_ns += by_ns;
	}
	for (size_t i = 0; rank->kept != NULL && i < rank->kept->n_kernels; i++) {
		rank->kept->kernels[i].begin_ns += by_ns;
		rank->kept->kernels[i].end_ns += by_ns;
	}
	trace->begin_ns += by_ns;
	trace->end_ns += by_ns;
	trace->base_ns = by_ns;
}

void fsl_kineto_share_base(struct fsl_profile *profile)
{
	int64_t base_ns = common_base(profile);
	for (size_t r = 0; r < profile->n_ranks && base_ns != 0; r++) {
		struct fsl_profile_rank *rank = &profile->ranks[r];
		bool lacks = rank->folder.writer == FSL_PROFILE_KINETO && rank->trace.base_ns == 0;
		if (lacks && rank->trace.begin_ns != FSL_NS_ABSENT &&
		    rank->trace.end_ns < FSL_KINETO_SINCE_1970_MIN_NS) {
			move(rank, base_ns);
		}
	}
}
