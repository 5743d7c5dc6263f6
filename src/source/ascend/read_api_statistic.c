/* api_statistic.csv: host calls of the whole capture, by level and name. Levels are nested: a call
 * of one level counts again in the levels below. */
#include "source/ascend/statistics.h"

static const struct fsl_table_column columns[FSL_STATISTICS_COLUMNS_N] = {
	[FSL_STATISTICS_NAME] = {{"API Name"}, true},
	[FSL_STATISTICS_KIND] = {{"Level"}, false},
	[FSL_STATISTICS_COUNT] = {{"Count"}, true},
	[FSL_STATISTICS_TOTAL] = {{"Time(us)", "Total Time(us)"}, true},
	[FSL_STATISTICS_MIN] = {{"Min(us)"}, false},
	[FSL_STATISTICS_MEAN] = {{"Avg(us)"}, false},
	[FSL_STATISTICS_MAX] = {{"Max(us)"}, false},
};

enum fsl_status fsl_profile_read_api_statistic(struct fsl_profile_rank *rank,
					       const struct fsl_profile_input *input,
					       struct fsl_error *err)
{
	struct fsl_statistics out = {&rank->api_statistics, &rank->n_api_statistics,
				     &rank->api_statistics_capacity};
	return fsl_statistics_read(&out, rank, input, columns, err);
}
