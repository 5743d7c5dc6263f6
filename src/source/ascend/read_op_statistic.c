/* op_statistic.csv: kernels of the whole capture, by type and core. */
#include "source/ascend/statistics.h"

static const struct fsl_table_column columns[FSL_STATISTICS_COLUMNS_N] = {
	[FSL_STATISTICS_NAME] = {{"OP Type", "Op Type"}, true},
	[FSL_STATISTICS_KIND] = {{"Core Type"}, false},
	[FSL_STATISTICS_COUNT] = {{"Count"}, true},
	[FSL_STATISTICS_TOTAL] = {{"Total Time(us)"}, true},
	[FSL_STATISTICS_MIN] = {{"Min Time(us)"}, false},
	[FSL_STATISTICS_MEAN] = {{"Avg Time(us)"}, false},
	[FSL_STATISTICS_MAX] = {{"Max Time(us)"}, false},
};

enum fsl_status fsl_profile_read_op_statistic(struct fsl_profile_rank *rank,
					      const struct fsl_profile_input *input,
					      struct fsl_error *err)
{
	struct fsl_statistics out = {&rank->op_statistics, &rank->n_op_statistics,
				     &rank->op_statistics_capacity};
	return fsl_statistics_read(&out, rank, input, columns, err);
}
