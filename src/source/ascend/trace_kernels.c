/* Kernels of a trace, by the rows of op_statistic.csv. */
#include "source/ascend/trace_kernels.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "capture/comm_kernels.h"
#include "source/ascend/trace_names.h"

enum {
	ROWS_MAX = 1 << 12, /* real traces have about a hundred */
	END_BYTES_MAX = 96, /* of a name, which ends in its type */
};

static const char *const core_names[] = {
	[FSL_TRACE_CORE_CUBE] = "AI_CORE",     [FSL_TRACE_CORE_VECTOR] = "AI_VECTOR_CORE",
	[FSL_TRACE_CORE_MIX_CUBE] = "MIX_AIC", [FSL_TRACE_CORE_MIX_VECTOR] = "MIX_AIV",
	[FSL_TRACE_CORE_CPU] = "AI_CPU",       [FSL_TRACE_CORE_DSA] = "DSA_SQE",
};

enum { N_CORES = sizeof(core_names) / sizeof(core_names[0]) };

static bool begins(const char *text, size_t length, const char *head)
{
	size_t n = strlen(head);
	return length > n && memcmp(text, head, n) == 0;
}

/*
 * "aclnnAdd_AddAiCore_Add", "trans_TransData_12" and "Conv2D7" are an Add, a TransData and a
 * Conv2D. A "V2" at the end belongs to the type. Other names with a "_" are as the user wrote them.
 */
static const char *type_of(const char *name, size_t *length)
{
	bool is_cut = *length == END_BYTES_MAX; /* such long names are built of parts */
	bool is_built = is_cut || begins(name, *length, "aclnn") || begins(name, *length, "trans_");
	size_t n = *length;
	while (n > 1 && name[n - 1] >= '0' && name[n - 1] <= '9') {
		n--;
	}
	bool has_number = n < *length && name[n - 1] != 'V';
	if (is_built && has_number && name[n - 1] == '_') {
		*length = n = n - 1;
		has_number = false;
	}
	const char *mark = memrchr(name, '_', *length);
	if (is_built && mark != NULL) {
		*length -= (size_t)(mark + 1 - name);
		return mark + 1;
	}
	*length = mark == NULL && has_number ? n : *length;
	return name;
}

/* Row of the type and core; NULL if there are too many. */
static enum fsl_status find_row(struct fsl_trace_kernels *kernels, uint32_t type_id,
				uint32_t core_id, struct fsl_profile_statistic **out,
				struct fsl_error *err)
{
	struct fsl_profile_rank *rank = kernels->rank;
	const uint32_t key[] = {type_id, core_id};
	uint32_t at = fsl_strpool_find(kernels->keys, (const char *)key, sizeof(key));
	*out = NULL;
	if (at == FSL_STR_NONE) {
		const struct fsl_profile_statistic row = {
			.name_id = type_id, .kind_id = core_id, .min_ns = INT64_MAX};
		if (rank->n_op_statistics == ROWS_MAX) {
			return FSL_OK;
		}
		FSL_TRY(FSL_APPEND(rank, op_statistics, &row, err));
		FSL_TRY(fsl_strpool_intern(kernels->keys, (const char *)key, sizeof(key), &at,
					   err));
	}
	*out = &rank->op_statistics[at];
	return FSL_OK;
}

enum fsl_status fsl_trace_kernels_add(struct fsl_trace_kernels *kernels,
				      const struct fsl_trace_event *event, struct fsl_error *err)
{
	const char *core = event->args[FSL_TRACE_ARG_CORE] < N_CORES
				   ? core_names[event->args[FSL_TRACE_ARG_CORE]]
				   : NULL;
	const struct fsl_trace_text *name = &event->whole_name;
	size_t length = name->length < END_BYTES_MAX ? name->length : END_BYTES_MAX;
	if (kernels->keys == NULL || core == NULL || length == 0) {
		return FSL_OK;
	}
	const char *type = type_of(name->text + name->length - length, &length);
	enum fsl_comm_kernel kind = fsl_comm_kernel_of(NULL, type, length);
	if (kind != FSL_COMM_KERNEL_NONE && kind != FSL_COMM_KERNEL_FUSED) {
		return FSL_OK;
	}
	struct fsl_strpool *names = kernels->rank->names;
	struct fsl_profile_statistic *row = NULL;
	uint32_t type_id = 0, core_id = 0;
	FSL_TRY(fsl_strpool_intern(names, type, length, &type_id, err));
	FSL_TRY(fsl_strpool_intern(names, core, strlen(core), &core_id, err));
	FSL_TRY(find_row(kernels, type_id, core_id, &row, err));
	if (row != NULL) {
		row->count++;
		row->total_ns = fsl_sum_i64(row->total_ns, event->dur_ns);
		row->min_ns = event->dur_ns < row->min_ns ? event->dur_ns : row->min_ns;
		row->max_ns = event->dur_ns > row->max_ns ? event->dur_ns : row->max_ns;
		row->mean_ns = row->total_ns / row->count;
	}
	return FSL_OK;
}
