/* Shared by op_statistic.csv and api_statistic.csv: rows of count, sum, least, mean, greatest. */
#ifndef FSL_SOURCE_ASCEND_STATISTICS_H
#define FSL_SOURCE_ASCEND_STATISTICS_H

#include "source/ascend/table.h"

enum fsl_statistics_column {
	FSL_STATISTICS_NAME,
	FSL_STATISTICS_KIND,
	FSL_STATISTICS_COUNT,
	FSL_STATISTICS_TOTAL,
	FSL_STATISTICS_MIN,
	FSL_STATISTICS_MEAN,
	FSL_STATISTICS_MAX,
	FSL_STATISTICS_COLUMNS_N
};

/* Target of the rows. */
struct fsl_statistics {
	struct fsl_profile_statistic **rows;
	size_t *n, *capacity;
};

/* Reads a file with these FSL_STATISTICS_COLUMNS_N columns, times in us. */
enum fsl_status fsl_statistics_read(struct fsl_statistics *out, struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input,
				    const struct fsl_table_column *columns, struct fsl_error *err);

#endif
