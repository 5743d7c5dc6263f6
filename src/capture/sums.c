/* Sums over the ranks of a set. */
#include "capture/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "capture/step_rows.h"

struct fsl_profile_step_mean fsl_profile_rank_mean(const struct fsl_profile_rank *rank)
{
	double step_ms = fsl_profile_step_ms(rank);
	if (isnan(step_ms)) {
		return (struct fsl_profile_step_mean){0};
	}
	return (struct fsl_profile_step_mean){
		.step_ms = step_ms,
		.computing_ms = fsl_profile_part_ms(rank, FSL_PART_COMPUTING),
		.exposed_ms = fsl_profile_part_ms(rank, FSL_PART_EXPOSED),
		.free_ms = fsl_profile_part_ms(rank, FSL_PART_FREE),
		.n_ranks = 1};
}

static int compare_names(const void *left, const void *right)
{
	const struct fsl_profile_sum *a = left, *b = right;
	return strcmp(a->name, b->name);
}

/* Joins equal names. Amounts are whole ns until here: their sum does not depend on the order. */
static void merge(struct fsl_profile_sums *sums, double n_shares)
{
	size_t n = 0;
	if (sums->n_items > 1) {
		qsort(sums->items, sums->n_items, sizeof(*sums->items), compare_names);
	}
	for (size_t i = 0; i < sums->n_items; i++) {
		if (n > 0 && strcmp(sums->items[n - 1].name, sums->items[i].name) == 0) {
			sums->items[n - 1].ms += sums->items[i].ms;
			sums->items[n - 1].count += sums->items[i].count;
		} else {
			sums->items[n++] = sums->items[i];
		}
	}
	n_shares = fmax(n_shares, 1.0); /* kernels without a step */
	for (size_t i = 0; i < n; i++) {
		sums->items[i].ms /= n_shares * FSL_NS_PER_MS;
		sums->items[i].count /= n_shares;
	}
	sums->n_items = n;
	for (size_t i = 1; i < n; i++) {
		FSL_ASSERT(compare_names(&sums->items[i - 1], &sums->items[i]) < 0);
	}
}

static enum fsl_status add(struct fsl_profile_sums *sums, const char *name, int64_t total_ns,
			   int64_t count, struct fsl_error *err)
{
	enum fsl_status status = FSL_GROW(sums->items, sums->capacity, sums->n_items + 1, err);
	if (status == FSL_OK && name == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"sums\"");
	}
	if (status == FSL_OK) {
		sums->items[sums->n_items++] =
			(struct fsl_profile_sum){name, (double)total_ns, (double)count};
	}
	return status;
}

/* "MatMulV2 8,8;8,8|FLOAT (AI_CORE)": without the parts that nothing tells. */
static const char *kernel_name(struct fsl_profile_sums *sums, const struct fsl_profile_rank *rank,
			       const struct fsl_profile_kernels *kernels)
{
	const char *shape = fsl_strpool_text(rank->names, kernels->shape_id);
	const char *core = fsl_strpool_text(rank->names, kernels->core_id);
	return fsl_arena_printf(&sums->arena, core[0] != '\0' ? "%s%s%s (%s)" : "%s%s%s",
				fsl_strpool_text(rank->names, kernels->type_id),
				shape[0] != '\0' ? " " : "", shape, core);
}

enum fsl_status fsl_profile_sum_kernels(struct fsl_profile_sums *sums,
					const struct fsl_profile *profile,
					const struct fsl_profile *beside, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	double n_shares = 0.0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		const struct fsl_profile_rank *other = fsl_profile_rank_of(beside, rank->rank);
		if (rank->n_kernels == 0 || other == NULL || other->n_kernels == 0) {
			continue;
		}
		n_shares += (double)fsl_profile_n_steps(rank);
		for (size_t k = 0; k < rank->n_kernels && status == FSL_OK; k++) {
			const struct fsl_profile_kernels *kernels = &rank->kernels[k];
			status = add(sums, kernel_name(sums, rank, kernels), kernels->total_ns,
				     kernels->count, err);
		}
	}
	merge(sums, n_shares);
	return status;
}

/* "hcom_allReduce__586_0_1" is an operator hcom_allReduce. */
static int kind_length(const char *name)
{
	const char *end = strstr(name, "__");
	return end != NULL ? (int)(end - name) : (int)strlen(name);
}

static const char *group_name(const struct fsl_profile_rank *rank, uint32_t group_id)
{
	const char *hash = fsl_strpool_text(rank->names, group_id);
	for (size_t g = 0; g < rank->info.n_groups; g++) {
		if (strcmp(rank->info.groups[g].hash, hash) == 0) {
			return rank->info.groups[g].name;
		}
	}
	return "";
}

enum fsl_status fsl_profile_sum_comms(struct fsl_profile_sums *sums,
				      const struct fsl_profile *profile,
				      const struct fsl_profile *beside, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	double n_shares = 0.0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		const struct fsl_profile_rank *other = fsl_profile_rank_of(beside, rank->rank);
		if (rank->n_comms == 0 || other == NULL || other->n_comms == 0) {
			continue;
		}
		n_shares += (double)fsl_profile_n_steps(rank);
		for (size_t c = 0; c < rank->n_comms && status == FSL_OK; c++) {
			const struct fsl_profile_comm *comm = &rank->comms[c];
			const char *op = fsl_strpool_text(rank->names, comm->name_id);
			const char *group = group_name(rank, comm->group_id);
			const char *name =
				fsl_arena_printf(&sums->arena, "%.*s%s%s", kind_length(op), op,
						 group[0] != '\0' ? " over " : "", group);
			status = add(sums, name, comm->elapse_ns, 1, err);
		}
	}
	merge(sums, n_shares);
	return status;
}

static bool has_kind(const struct fsl_profile_rank *rank, uint32_t kind_id)
{
	for (size_t i = 0; i < rank->n_api_statistics; i++) {
		if (rank->api_statistics[i].kind_id == kind_id) {
			return true;
		}
	}
	return false;
}

enum fsl_status fsl_profile_sum_calls(struct fsl_profile_sums *sums,
				      const struct fsl_profile *profile, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	double n_shares = 0.0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		uint32_t acl = fsl_strpool_find(rank->names, "acl", 3);
		bool is_all = acl == FSL_STR_NONE || !has_kind(rank, acl);
		for (size_t i = 0; i < rank->n_api_statistics && status == FSL_OK; i++) {
			const struct fsl_profile_statistic *api = &rank->api_statistics[i];
			if (is_all || api->kind_id == acl) {
				status = add(sums, fsl_strpool_text(rank->names, api->name_id),
					     api->total_ns, api->count, err);
			}
		}
		n_shares +=
			rank->n_api_statistics > 0 ? (double)fsl_profile_steps_captured(rank) : 0.0;
	}
	merge(sums, n_shares);
	return status;
}

enum fsl_status fsl_profile_sum_operators(struct fsl_profile_sums *sums,
					  const struct fsl_profile *profile, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	double n_shares = 0.0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		for (size_t i = 0; i < rank->n_operators && status == FSL_OK; i++) {
			const struct fsl_profile_operator *op = &rank->operators[i];
			if (op->host_self_ns != FSL_NS_ABSENT) {
				status = add(sums, fsl_strpool_text(rank->names, op->name_id),
					     op->host_self_ns, op->count, err);
			}
		}
		n_shares += rank->n_operators > 0 ? (double)fsl_profile_steps_captured(rank) : 0.0;
	}
	merge(sums, n_shares);
	return status;
}

static int compare_times(const void *left, const void *right)
{
	const struct fsl_profile_sum *a = left, *b = right;
	if (a->ms != b->ms) {
		return a->ms > b->ms ? -1 : 1;
	}
	return strcmp(a->name, b->name);
}

void fsl_profile_sums_rank(struct fsl_profile_sums *sums)
{
	if (sums->n_items > 1) {
		qsort(sums->items, sums->n_items, sizeof(*sums->items), compare_times);
	}
}

void fsl_profile_sums_fini(struct fsl_profile_sums *sums)
{
	fsl_free(sums->items);
	fsl_arena_fini(&sums->arena);
	*sums = (struct fsl_profile_sums){0};
}
