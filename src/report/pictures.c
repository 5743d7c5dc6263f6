/* From a report to the numbers that its pictures show. */
#include "report/pictures.h"

#include <math.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/try.h"
#include "blame/blame.h"
#include "model/verdict.h"

struct fsl_stretch fsl_pictures_stretch(const struct fsl_report *report)
{
	const struct fsl_localisation *verdict = report->localisation;
	const struct fsl_steps *steps = report->steps;
	size_t n = steps != NULL ? steps->n_items : 0;
	struct fsl_stretch out = {-1, -1, 0, n};
	if (verdict == NULL || verdict->n_culprits == 0 || verdict->culprits[0].onset_step < 0) {
		return out;
	}
	const struct fsl_culprit *worst = &verdict->culprits[0];
	size_t begin = 0, end = n;
	while (begin < n && steps->items[begin].step < worst->onset_step) {
		begin++;
	}
	while (worst->until_step >= 0 && end > begin &&
	       steps->items[end - 1].step >= worst->until_step) {
		end--;
	}
	/* Nothing is left if the culprit was slow in an earlier chapter alone. */
	return begin < end ? (struct fsl_stretch){worst->onset_step, worst->until_step, begin, end}
			   : out;
}

const struct fsl_steps *fsl_pictures_steps(const struct fsl_report *report)
{
	bool has_series = report->series != NULL && report->series->n_items > 0;
	const struct fsl_steps *steps = has_series ? report->series : report->steps;
	return steps != NULL && steps->n_items > 0 ? steps : NULL;
}

bool fsl_pictures_have_blame(const struct fsl_report *report)
{
	const struct fsl_blame *blame = report->blame;
	return blame != NULL && blame->n_steps > 0 && report->steps != NULL &&
	       blame->n_steps == report->steps->n_items && report->run != NULL &&
	       blame->n_ranks == report->run->n_ranks && blame->n_ranks > 0;
}

/* Cost of a rank by the verdict; NaN: it is no culprit. */
static double cost_of_culprit(const struct fsl_localisation *verdict, int32_t rank)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		if (verdict->culprits[i].rank == rank) {
			return verdict->culprits[i].lost_ms_per_step;
		}
	}
	return NAN;
}

/* Middle excess over the peers, at least 0: a rank whose single steps differ costs nothing.
 * @scratch: 2 * steps. */
static double cost_of_other(const struct fsl_blame *blame, size_t r,
			    const struct fsl_stretch *stretch, double *scratch)
{
	size_t n = stretch->end - stretch->begin;
	double excess = NAN;
	for (size_t i = 0; i < n; i++) {
		scratch[i] = fsl_blame_excess_ms(blame, r, stretch->begin + i);
	}
	if (n > 0) {
		excess = fsl_median(scratch, n, scratch + n);
	}
	return isnan(excess) ? excess : fmax(excess, 0.0);
}

enum fsl_status fsl_pictures_costs(double *cost_ms, const struct fsl_report *report,
				   const struct fsl_stretch *stretch, struct fsl_error *err)
{
	const struct fsl_blame *blame = report->blame;
	double *scratch = NULL;
	FSL_TRY(FSL_NEW(scratch, 2 * blame->n_steps, "costs", err));
	for (size_t r = 0; r < blame->n_ranks; r++) {
		cost_ms[r] = cost_of_culprit(report->localisation, report->run->ranks[r].rank);
		if (isnan(cost_ms[r])) {
			cost_ms[r] = cost_of_other(blame, r, stretch, scratch);
		}
	}
	fsl_free(scratch);
	return FSL_OK;
}

/* Fills a matrix of the excess over the peers. */
static enum fsl_status fill_excess(struct fsl_matrices *matrices, const struct fsl_report *report,
				   struct fsl_error *err)
{
	const struct fsl_blame *blame = report->blame;
	size_t n = blame->n_ranks * blame->n_steps;
	double *excess = NULL;
	FSL_TRY(FSL_NEW(excess, n, "excess", err));
	for (size_t i = 0; i < n; i++) {
		excess[i] = blame->own_ms[i] - blame->reference_ms[i];
	}
	fsl_matrices_fill_most(matrices, FSL_MATRIX_LOSS, excess, report->steps);
	fsl_free(excess);
	return FSL_OK;
}

enum fsl_status fsl_pictures_matrices(struct fsl_matrices *out, const struct fsl_report *report,
				      size_t n_columns_max, struct fsl_error *err)
{
	const struct fsl_blame *blame = report->blame;
	const struct fsl_steps *steps = report->steps;
	size_t n_columns = steps->n_items < n_columns_max ? steps->n_items : n_columns_max;
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	int64_t begin_ns = steps->items[0].begin_ns, end_ns = last->begin_ns + last->dur_ns;
	if (end_ns <= last->begin_ns) {
		end_ns = last->begin_ns + 1;
	}
	FSL_TRY(fsl_matrices_init(out, blame->n_ranks, n_columns, begin_ns, end_ns, err));
	enum fsl_status status = fill_excess(out, report, err);
	if (status != FSL_OK) {
		fsl_matrices_fini(out);
		return status;
	}
	fsl_matrices_fill_most(out, FSL_MATRIX_OWN, blame->own_ms, steps);
	fsl_matrices_fill_most(out, FSL_MATRIX_LATE, blame->late_ms, steps);
	return FSL_OK;
}
