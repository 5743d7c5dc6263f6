/* Collectives and steps become windows. */
#include "judge/to_windows.h"

#include <math.h>
#include <string.h>

enum fsl_status fsl_profile_pick_windows(struct fsl_windows *out, const struct fsl_windows *all,
					 const uint32_t *members, size_t n, struct fsl_error *err)
{
	const struct fsl_view view = {.windows = all};
	size_t n_windows = all->n_windows;
	enum fsl_status status = fsl_windows_init(out, all->metric, all->kind, n, n_windows, err);
	for (size_t m = 0; m < n && status == FSL_OK; m++) {
		struct fsl_column column = fsl_view_column(&view, members[m]);
		out->ranks[m] = all->ranks[members[m]];
		memcpy(out->values + m * n_windows, column.values, n_windows * sizeof(double));
		for (size_t w = 0; w < n_windows; w++) {
			size_t at = m * n_windows + w;
			out->first_ns[at] = fsl_view_window_ns(&view, members[m], w);
			out->n_samples[at] = isnan(column.values[w]) ? 0U : 1U;
			if (column.n_samples != NULL) {
				out->n_samples[at] = column.n_samples[w];
			}
		}
	}
	return status;
}

enum fsl_status fsl_profile_part_windows(struct fsl_windows *out, const struct fsl_profile *profile,
					 const uint32_t *ranks, size_t n,
					 enum fsl_profile_part part, struct fsl_error *err)
{
	enum fsl_status status = fsl_windows_init(out, FSL_METRIC_OWN, FSL_WINDOW_STEP, n, 1, err);
	for (size_t m = 0; m < n && status == FSL_OK; m++) {
		const struct fsl_profile_rank *rank = &profile->ranks[ranks[m]];
		size_t n_rows = 0;
		(void)fsl_profile_step_rows(rank, &n_rows);
		out->ranks[m] = (int32_t)ranks[m];
		out->values[m] = fsl_profile_part_ms(rank, part);
		out->n_samples[m] = isnan(out->values[m]) ? 0 : (uint32_t)n_rows;
	}
	return status;
}

void fsl_profile_count_members(const struct fsl_windows *windows, uint32_t *out)
{
	memset(out, 0, windows->n_windows * sizeof(*out));
	for (size_t m = 0; m < windows->n_members; m++) {
		const double *values = windows->values + m * windows->n_windows;
		for (size_t w = 0; w < windows->n_windows; w++) {
			out[w] += isnan(values[w]) ? 0U : 1U;
		}
	}
}
