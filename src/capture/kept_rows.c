/* Rows of one rank; ranks are read on threads of their own. */
#include "capture/kept_rows.h"

#include "base/mem.h"

enum fsl_status fsl_keep_kernel(struct fsl_profile_rank *rank, const struct fsl_kept_kernel *kernel,
				struct fsl_error *err)
{
	struct fsl_kept_rows *kept = rank->kept;
	if (kept == NULL) {
		return FSL_OK;
	}
	if (kept->n_kernels == FSL_KEPT_KERNELS_MAX) {
		kept->n_left_out++;
		return FSL_OK;
	}
	return FSL_APPEND(kept, kernels, kernel, err);
}

enum fsl_status fsl_keep_level(struct fsl_profile_rank *rank, const struct fsl_kept_level *level,
			       struct fsl_error *err)
{
	struct fsl_kept_rows *kept = rank->kept;
	if (kept == NULL) {
		return FSL_OK;
	}
	if (kept->n_levels == FSL_KEPT_LEVELS_MAX) {
		kept->n_left_out++;
		return FSL_OK;
	}
	return FSL_APPEND(kept, levels, level, err);
}

void fsl_forget_kernels(struct fsl_profile_rank *rank)
{
	if (rank->kept != NULL) {
		rank->kept->n_kernels = 0;
	}
}

void fsl_kept_rows_destroy(struct fsl_kept_rows *kept)
{
	if (kept != NULL) {
		fsl_free(kept->kernels);
		fsl_free(kept->levels);
		fsl_free(kept);
	}
}
