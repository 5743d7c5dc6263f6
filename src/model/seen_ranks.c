/* How many ranks earlier runs saw of a job. */
#include "model/seen_ranks.h"

#include "base/number.h"

bool fsl_seen_ranks_hold(const struct fsl_seen_ranks *seen, int64_t begin_ns, int64_t end_ns,
			 double forget_hours)
{
	double forget_ns = forget_hours * 3600.0 * (double)FSL_NS_PER_S;
	return seen->n > 0 && begin_ns != FSL_NS_ABSENT && end_ns != FSL_NS_ABSENT &&
	       begin_ns <= seen->until_ns && (double)(end_ns - seen->until_ns) <= forget_ns;
}

struct fsl_seen_ranks fsl_seen_ranks_with(const struct fsl_seen_ranks *seen,
					  const struct fsl_seen_ranks *now, int64_t begin_ns,
					  double forget_hours)
{
	if (now->n == 0 || now->until_ns == FSL_NS_ABSENT) {
		return *seen; /* it could not read the data */
	}
	if (!fsl_seen_ranks_hold(seen, begin_ns, now->until_ns, forget_hours)) {
		return *now;
	}
	bool is_newer = now->n > seen->n || (now->n == seen->n && now->until_ns > seen->until_ns);
	return is_newer ? *now : *seen;
}
