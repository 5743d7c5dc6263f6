/* What the steps of a capture are made of. */
#include "account/account.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/number.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

enum { PARTS_N = 4 };

/* Memory is a part of free time in the rows of a step, and has a part of its own here. */
static const struct {
	enum fsl_spent spent;
	enum fsl_profile_part part;
} parts[PARTS_N] = {
	{FSL_SPENT_EXPOSED, FSL_PART_EXPOSED},
	{FSL_SPENT_COMPUTING, FSL_PART_COMPUTING},
	{FSL_SPENT_FREE, FSL_PART_FREE},
	{FSL_SPENT_EXPOSED_MEMORY, FSL_PARTS_N},
};
enum { FREE = 2, MEMORY = 3 };

struct steps {
	const struct fsl_profile_rank *rank;
	const struct fsl_profile_step *rows;
	size_t n_rows;
	double *lengths; /* room for 2 per row; NULL: memory is short, no step warms up */
};

/* Parts of a row; false if it does not tell all of them. */
static bool split(const struct steps *steps, size_t s, int64_t ns[PARTS_N])
{
	const struct fsl_profile_step *row = &steps->rows[s];
	for (size_t p = 0; p < MEMORY; p++) {
		int64_t own_ns = fsl_profile_part_ns(row, parts[p].part);
		ns[p] = own_ns > 0 ? own_ns : 0;
	}
	ns[MEMORY] = 0;
	for (size_t i = 0; i < steps->rank->n_copies; i++) {
		const struct fsl_profile_copies *copies = &steps->rank->copies[i];
		ns[MEMORY] = copies->step == row->step ? copies->exposed_ns : ns[MEMORY];
	}
	ns[MEMORY] = ns[MEMORY] < ns[FREE] ? ns[MEMORY] : ns[FREE];
	ns[FREE] -= ns[MEMORY];
	return fsl_profile_step_ns(row) != FSL_NS_ABSENT;
}

/* Number of steps at the begin that are long, and how long the others usually are. Half of the
 * steps at least are the others; steps without numbers have no order. */
static size_t count_warm(const struct steps *steps, double *usual_ns)
{
	size_t n = steps->n_rows, n_others = n - n / 2, n_warm = 0;
	if (n < FSL_USUAL_STEPS_MIN || steps->lengths == NULL) {
		return 0;
	}
	for (size_t s = 0; s < n; s++) {
		const struct fsl_profile_step *row = &steps->rows[s];
		bool is_next = s == 0 || row->step > steps->rows[s - 1].step;
		if (row->step == FSL_STEP_ABSENT || !is_next ||
		    fsl_profile_step_ns(row) == FSL_NS_ABSENT) {
			return 0;
		}
		steps->lengths[s] = (double)fsl_profile_step_ns(row);
	}
	*usual_ns = fsl_median(steps->lengths + n - n_others, n_others, steps->lengths + n);
	while (n_warm < n / 2 && (double)fsl_profile_step_ns(&steps->rows[n_warm]) >
					 FSL_LONG_STEP_RATIO * *usual_ns) {
		n_warm++;
	}
	return n_warm;
}

/* Adds to @warm_ns what each part of the first steps takes longer than in the others, as far as
 * the steps are longer. */
static void add_warm(const struct steps *steps, size_t n_warm, double usual_ns,
		     int64_t warm_ns[PARTS_N])
{
	double mean_ns[PARTS_N] = {0.0};
	int64_t ns[PARTS_N];
	for (size_t s = n_warm; s < steps->n_rows; s++) {
		(void)split(steps, s, ns);
		for (size_t p = 0; p < PARTS_N; p++) {
			mean_ns[p] += (double)ns[p] / (double)(steps->n_rows - n_warm);
		}
	}
	for (size_t s = 0; s < n_warm; s++) {
		double more_ns = (double)fsl_profile_step_ns(&steps->rows[s]) - usual_ns;
		double grown_ns = 0.0;
		(void)split(steps, s, ns);
		for (size_t p = 0; p < PARTS_N; p++) {
			grown_ns += fmax((double)ns[p] - mean_ns[p], 0.0);
		}
		for (size_t p = 0; p < PARTS_N && grown_ns > 0.0; p++) {
			double own_ns = fmax((double)ns[p] - mean_ns[p], 0.0);
			warm_ns[p] += (int64_t)(own_ns * fmin(1.0, more_ns / grown_ns));
		}
	}
}

void fsl_account_sum_capture(struct fsl_account *out, const struct fsl_profile *profile)
{
	int64_t sums_ns[PARTS_N] = {0}, warm_ns[PARTS_N] = {0}, n_ranks = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		struct steps steps = {.rank = &profile->ranks[r]};
		int64_t ns[PARTS_N];
		double usual_ns = 0.0;
		n_ranks += isfinite(fsl_profile_step_ms(steps.rank));
		steps.rows = fsl_profile_step_rows(steps.rank, &steps.n_rows);
		for (size_t s = 0; s < steps.n_rows; s++) {
			bool is_whole = split(&steps, s, ns);
			for (size_t p = 0; p < PARTS_N && is_whole; p++) {
				sums_ns[p] = fsl_sum_i64(sums_ns[p], ns[p]);
			}
		}
		steps.lengths = fsl_calloc(2 * steps.n_rows + 1, sizeof(*steps.lengths));
		size_t n_warm = count_warm(&steps, &usual_ns);
		add_warm(&steps, n_warm, usual_ns, warm_ns);
		out->n_times[FSL_SPENT_WARM_UP] = n_warm > out->n_times[FSL_SPENT_WARM_UP]
							  ? n_warm
							  : out->n_times[FSL_SPENT_WARM_UP];
		fsl_free(steps.lengths);
	}
	for (size_t p = 0; p < PARTS_N && n_ranks > 0; p++) {
		int64_t own_warm_ns = warm_ns[p] / n_ranks;
		out->ns[parts[p].spent] = sums_ns[p] / n_ranks - own_warm_ns;
		out->ns[FSL_SPENT_WARM_UP] += own_warm_ns;
		out->span_ns += sums_ns[p] / n_ranks;
	}
}
