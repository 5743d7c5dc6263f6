/* operator_details.csv: framework operators, one row per call, without times and steps, so that
 * only sums by name are useful. Call stacks fill most of the file. */
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ascend/table.h"

enum { OPERATORS_MAX = 1 << 16 }; /* names; a framework has some thousand */

enum column { NAME, HOST_SELF, DEVICE_SELF, DEVICE_CORE, COLUMNS_N };

static const struct fsl_table_column columns[COLUMNS_N] = {
	[NAME] = {{"Name"}, true},
	[HOST_SELF] = {{"Host Self Duration(us)"}, true},
	[DEVICE_SELF] = {{"Device Self Duration(us)"}, false},
	[DEVICE_CORE] = {{"Device Self Duration With AICore(us)"}, false},
};

/* Index of each name in rank->operators. */
struct index {
	uint32_t *at; /* by name: index + 1; 0: none */
	size_t n, capacity;
};

/* Entry of a name; NULL if there are too many names. */
static enum fsl_status find(struct index *index, struct fsl_table *table, uint32_t name_id,
			    struct fsl_profile_operator **out, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = table->rank;
	*out = NULL;
	FSL_TRY(FSL_GROW(index->at, index->capacity, (size_t)name_id + 1, err));
	FSL_TRY(FSL_GROW(rank->operators, rank->operators_capacity, rank->n_operators + 1, err));
	while (index->n <= name_id) {
		index->at[index->n++] = 0;
	}
	if (index->at[name_id] == 0) {
		if (rank->n_operators == OPERATORS_MAX) {
			fsl_table_tell(table, "more than 65536 names of operators; further ones "
					      "are left out");
			return FSL_OK;
		}
		rank->operators[rank->n_operators++] =
			(struct fsl_profile_operator){.name_id = name_id,
						      .host_self_ns = FSL_NS_ABSENT,
						      .device_self_ns = FSL_NS_ABSENT,
						      .device_core_ns = FSL_NS_ABSENT};
		index->at[name_id] = (uint32_t)rank->n_operators;
	}
	*out = &rank->operators[index->at[name_id] - 1];
	return FSL_OK;
}

/* Adds to a sum. A sum without values stays absent. */
static void sum_up(const struct fsl_table *table, size_t column, int64_t *sum)
{
	int64_t value = fsl_table_amount(table, column, FSL_NS_PER_US, FSL_NS_ABSENT);
	if (value == FSL_NS_ABSENT) {
		return;
	}
	*sum = fsl_sum_i64(*sum == FSL_NS_ABSENT ? 0 : *sum, value);
}

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	uint32_t name_id = FSL_STR_NONE;
	struct fsl_profile_operator *sums = NULL;
	FSL_TRY(fsl_table_intern(table, NAME, &name_id, err));
	if (name_id == FSL_STR_NONE) {
		fsl_table_drop(table, "an operator without a name");
		return FSL_OK;
	}
	FSL_TRY(find(context, table, name_id, &sums, err));
	if (sums != NULL) {
		sums->count++;
		sum_up(table, HOST_SELF, &sums->host_self_ns);
		sum_up(table, DEVICE_SELF, &sums->device_self_ns);
		sum_up(table, DEVICE_CORE, &sums->device_core_ns);
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_read_operator_details(struct fsl_profile_rank *rank,
						  const struct fsl_profile_input *input,
						  struct fsl_error *err)
{
	struct index index = {0};
	enum fsl_status status = fsl_table_read(rank, input, columns, COLUMNS_N, add, &index, err);
	fsl_free(index.at);
	return status;
}
