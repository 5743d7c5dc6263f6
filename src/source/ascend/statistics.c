/* Tables of statistics. */
#include "source/ascend/statistics.h"

#include "base/number.h"
#include "base/try.h"

enum { ROWS_MAX = 1 << 16 }; /* real tables have about a hundred */

static int64_t time_ns(const struct fsl_table *table, size_t column)
{
	return fsl_table_amount(table, column, FSL_NS_PER_US, FSL_NS_ABSENT);
}

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	const struct fsl_statistics *out = context;
	struct fsl_profile_statistic row = {
		.count = fsl_table_amount(table, FSL_STATISTICS_COUNT, 1, -1),
		.total_ns = time_ns(table, FSL_STATISTICS_TOTAL),
		.min_ns = time_ns(table, FSL_STATISTICS_MIN),
		.mean_ns = time_ns(table, FSL_STATISTICS_MEAN),
		.max_ns = time_ns(table, FSL_STATISTICS_MAX),
	};
	if (row.count < 0 || row.total_ns == FSL_NS_ABSENT) {
		fsl_table_drop(table, "the count or the time is missing or no number");
		return FSL_OK;
	}
	if (*out->n == ROWS_MAX) {
		fsl_table_tell(table, "more than 65536 rows; further ones are left out");
		return FSL_OK;
	}
	FSL_TRY(fsl_table_intern(table, FSL_STATISTICS_NAME, &row.name_id, err));
	FSL_TRY(fsl_table_intern(table, FSL_STATISTICS_KIND, &row.kind_id, err));
	FSL_TRY(FSL_GROW(*out->rows, *out->capacity, *out->n + 1, err));
	(*out->rows)[(*out->n)++] = row;
	return FSL_OK;
}

enum fsl_status fsl_statistics_read(struct fsl_statistics *out, struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input,
				    const struct fsl_table_column *columns, struct fsl_error *err)
{
	return fsl_table_read(rank, input, columns, FSL_STATISTICS_COLUMNS_N, add, out, err);
}
