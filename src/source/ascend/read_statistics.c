/* op_statistic.csv: kernels of the whole capture, by type and core. api_statistic.csv: host calls,
 * by name and level. Levels are nested: a call of one level counts again in the levels below. */
#include "base/number.h"
#include "base/try.h"
#include "source/ascend/table.h"

enum column { NAME, KIND, COUNT, TOTAL, MIN, MEAN, MAX, COLUMNS_N };

static const struct fsl_table_column op_columns[COLUMNS_N] = {
	[NAME] = {{"OP Type", "Op Type"}, true},
	[KIND] = {{"Core Type"}, false},
	[COUNT] = {{"Count"}, true},
	[TOTAL] = {{"Total Time(us)"}, true},
	[MIN] = {{"Min Time(us)"}, false},
	[MEAN] = {{"Avg Time(us)"}, false},
	[MAX] = {{"Max Time(us)"}, false},
};

static const struct fsl_table_column api_columns[COLUMNS_N] = {
	[NAME] = {{"API Name"}, true}, [KIND] = {{"Level"}, false},
	[COUNT] = {{"Count"}, true},   [TOTAL] = {{"Time(us)", "Total Time(us)"}, true},
	[MIN] = {{"Min(us)"}, false},  [MEAN] = {{"Avg(us)"}, false},
	[MAX] = {{"Max(us)"}, false},
};

/* Target of the rows. */
struct statistics {
	struct fsl_profile_statistic **rows;
	size_t *n, *capacity;
};

enum { ROWS_MAX = 1 << 16 }; /* real tables have about a hundred */

static int64_t time_ns(const struct fsl_table *table, size_t column)
{
	return fsl_table_amount(table, column, FSL_NS_PER_US, FSL_NS_ABSENT);
}

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	const struct statistics *out = context;
	struct fsl_profile_statistic row = {
		.count = fsl_table_amount(table, COUNT, 1, -1),
		.total_ns = time_ns(table, TOTAL),
		.min_ns = time_ns(table, MIN),
		.mean_ns = time_ns(table, MEAN),
		.max_ns = time_ns(table, MAX),
	};
	if (row.count < 0 || row.total_ns == FSL_NS_ABSENT) {
		fsl_table_drop(table, "the count or the time is missing or no number");
		return FSL_OK;
	}
	if (*out->n == ROWS_MAX) {
		fsl_table_tell(table, "more than 65536 rows; further ones are left out");
		return FSL_OK;
	}
	FSL_TRY(fsl_table_intern(table, NAME, &row.name_id, err));
	FSL_TRY(fsl_table_intern(table, KIND, &row.kind_id, err));
	FSL_TRY(FSL_GROW(*out->rows, *out->capacity, *out->n + 1, err));
	(*out->rows)[(*out->n)++] = row;
	return FSL_OK;
}

enum fsl_status fsl_profile_read_op_statistic(struct fsl_profile_rank *rank,
					      const struct fsl_profile_input *input,
					      struct fsl_error *err)
{
	struct statistics out = {&rank->op_statistics, &rank->n_op_statistics,
				 &rank->op_statistics_capacity};
	return fsl_table_read(rank, input, op_columns, COLUMNS_N, add, &out, err);
}

enum fsl_status fsl_profile_read_api_statistic(struct fsl_profile_rank *rank,
					       const struct fsl_profile_input *input,
					       struct fsl_error *err)
{
	struct statistics out = {&rank->api_statistics, &rank->n_api_statistics,
				 &rank->api_statistics_capacity};
	return fsl_table_read(rank, input, api_columns, COLUMNS_N, add, &out, err);
}
