/* Chooses between rows of two sources and checks that both agree. */
#include "source/ascend/merge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"

enum { VALUES_MAX = 4 };

/* Allowed difference by rounding: text of older profilers has us with up to three decimals. */
#define ROUNDING_RATIO  1e-6
#define ROUNDING_AMOUNT 1000.0 /* ns or bytes */

/* Rows of one kind, and the values whose sums must agree: NaN for a value that a row lacks. */
struct kind {
	const char *rows;
	size_t size;
	const char *names[VALUES_MAX];
	int64_t (*get)(const void *row, double *values); /* returns the step */
};

/* Sums over the rows of one step: of the earlier source, and of the database. */
struct total {
	int64_t step;
	size_t n[2];
	double sums[2][VALUES_MAX];
};

static double amount(int64_t value)
{
	return value != FSL_NS_ABSENT ? (double)value : NAN;
}

static int64_t get_step(const void *row, double *values)
{
	const struct fsl_profile_step *step = row;
	values[0] = amount(step->computing_ns);
	values[1] = amount(step->exposed_ns);
	values[2] = amount(step->free_ns);
	values[3] = amount(step->stage_ns);
	return step->step;
}

static int64_t get_comm(const void *row, double *values)
{
	const struct fsl_profile_comm *comm = row;
	values[0] = amount(comm->elapse_ns);
	values[1] = amount(comm->transit_ns);
	values[2] = amount(comm->wait_ns);
	values[3] = amount(comm->idle_ns);
	return comm->step;
}

static int64_t get_link(const void *row, double *values)
{
	const struct fsl_profile_link *link = row;
	values[0] = amount(link->time_ns);
	values[1] = amount(link->n_bytes);
	return link->step;
}

static const struct kind step_kind = {"steps",
				      sizeof(struct fsl_profile_step),
				      {"computing", "exposed", "free", "stage"},
				      get_step};
static const struct kind comm_kind = {"communication operators",
				      sizeof(struct fsl_profile_comm),
				      {"elapsed", "transit", "wait", "idle"},
				      get_comm};
static const struct kind link_kind = {
	"links", sizeof(struct fsl_profile_link), {"transit", "bytes"}, get_link};

static int compare_totals(const void *left, const void *right)
{
	const struct total *a = left, *b = right;
	return FSL_ORDER(a->step, b->step);
}

/* Total of @step. If one side has no step numbers, there is one total for all steps. */
static struct total *find_total(struct total *totals, size_t n, int64_t step)
{
	const struct total key = {.step = step};
	if (totals[0].step == FSL_STEP_ABSENT || step == FSL_STEP_ABSENT) {
		return &totals[0];
	}
	return bsearch(&key, totals, n, sizeof(*totals), compare_totals);
}

/* Makes one total per step of the first @n rows, sorted. */
static struct total *list_totals(const struct kind *kind, const char *rows, size_t n,
				 size_t *n_totals)
{
	double values[VALUES_MAX];
	struct total *totals = fsl_calloc(n, sizeof(*totals));
	if (totals == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		totals[i].step = kind->get(rows + i * kind->size, values);
	}
	qsort(totals, n, sizeof(*totals), compare_totals);
	*n_totals = 1;
	for (size_t i = 1; i < n; i++) {
		if (totals[i].step != totals[*n_totals - 1].step) {
			totals[(*n_totals)++] = totals[i];
		}
	}
	return totals;
}

static void add_up(struct total *total, size_t side, const double *values)
{
	total->n[side]++;
	for (size_t v = 0; v < VALUES_MAX; v++) {
		total->sums[side][v] += values[v];
	}
}

static enum fsl_status tell(const struct kind *kind, const struct total *total, size_t v,
			    struct fsl_db *db, struct fsl_error *err)
{
	bool is_count = v == VALUES_MAX;
	return fsl_db_tell(db, FSL_FILE_PARTIAL, err,
			   "differs from what was read before, which is used: rows=\"%s\", "
			   "step=%" PRId64 ", value=\"%s\", before=%.9g, here=%.9g",
			   kind->rows, total->step, is_count ? "number" : kind->names[v],
			   is_count ? (double)total->n[0] : total->sums[0][v],
			   is_count ? (double)total->n[1] : total->sums[1][v]);
}

static enum fsl_status compare_sides(const struct kind *kind, const struct total *total,
				     struct fsl_db *db, struct fsl_error *err)
{
	if (total->n[1] == 0) {
		return FSL_OK;
	}
	for (size_t v = 0; v < VALUES_MAX && kind->names[v] != NULL; v++) {
		double a = total->sums[0][v], b = total->sums[1][v];
		if (fabs(a - b) > ROUNDING_AMOUNT + ROUNDING_RATIO * fmax(fabs(a), fabs(b))) {
			return tell(kind, total, v, db, err);
		}
	}
	return total->n[0] != total->n[1] ? tell(kind, total, VALUES_MAX, db, err) : FSL_OK;
}

static enum fsl_status merge(const struct kind *kind, void *array, size_t *n, size_t n_before,
			     struct fsl_db *db, struct fsl_error *err)
{
	char *rows = array;
	size_t n_totals = 0, n_kept = n_before;
	if (n_before == 0 || *n == n_before) {
		return FSL_OK;
	}
	struct total *totals = list_totals(kind, rows, n_before, &n_totals);
	if (totals == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rows=%zu", n_before);
	}
	for (size_t i = 0; i < *n; i++) {
		double values[VALUES_MAX] = {0};
		int64_t step = kind->get(rows + i * kind->size, values);
		struct total *total = find_total(totals, n_totals, step);
		if (total != NULL) {
			add_up(total, i >= n_before, values);
		} else {
			memmove(rows + n_kept++ * kind->size, rows + i * kind->size, kind->size);
		}
	}
	*n = n_kept;
	enum fsl_status status = FSL_OK;
	for (size_t t = 0; t < n_totals && status == FSL_OK; t++) {
		status = compare_sides(kind, &totals[t], db, err);
	}
	fsl_free(totals);
	return status;
}

enum fsl_status fsl_profile_merge_steps(struct fsl_profile_rank *rank, size_t n_before,
					struct fsl_db *db, struct fsl_error *err)
{
	return merge(&step_kind, rank->steps, &rank->n_steps, n_before, db, err);
}

static bool has_groups(const struct fsl_profile_comm *comms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (comms[i].group_id != FSL_STR_NONE) {
			return true;
		}
	}
	return false;
}

/* Moves the last @n operators to the front. */
static enum fsl_status bring_forward(struct fsl_profile_rank *rank, size_t n, struct fsl_error *err)
{
	size_t n_others = rank->n_comms - n;
	struct fsl_profile_comm *others = fsl_calloc(n_others, sizeof(*others));
	if (others == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", n_others);
	}
	memcpy(others, rank->comms, n_others * sizeof(*others));
	memmove(rank->comms, rank->comms + n_others, n * sizeof(*others));
	memcpy(rank->comms + n, others, n_others * sizeof(*others));
	fsl_free(others);
	return FSL_OK;
}

enum fsl_status fsl_profile_merge_comms(struct fsl_profile_rank *rank, size_t *first,
					struct fsl_db *db, struct fsl_error *err)
{
	size_t n_new = rank->n_comms - *first;
	bool gives_way = *first > 0 && !has_groups(rank->comms, *first) &&
			 has_groups(rank->comms + *first, n_new);
	if (!gives_way) {
		return merge(&comm_kind, rank->comms, &rank->n_comms, *first, db, err);
	}
	*first = 0;
	FSL_TRY(bring_forward(rank, n_new, err));
	return merge(&comm_kind, rank->comms, &rank->n_comms, n_new, db, err);
}

enum fsl_status fsl_profile_merge_links(struct fsl_profile_rank *rank, size_t n_before,
					struct fsl_db *db, struct fsl_error *err)
{
	return merge(&link_kind, rank->links, &rank->n_links, n_before, db, err);
}
