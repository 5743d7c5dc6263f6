/* Exposed time of operators: one pass over them in the order of their ends. */
#include "capture/exposed.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

/* A kernel that waits for an operator begins at its end; profilers tell times of both that differ
 * by a few us. */
enum { FSL_EXPOSED_SLACK_NS = 20000 };

enum fsl_status fsl_exposed_add_kernel(struct fsl_spans *kernels, int64_t begin_ns, int64_t end_ns,
				       struct fsl_error *err)
{
	struct fsl_span *last = kernels->n_items > 0 ? &kernels->items[kernels->n_items - 1] : NULL;
	if (last == NULL || begin_ns > last->end_ns) {
		return fsl_spans_add(kernels, begin_ns, end_ns, FSL_STEP_ABSENT, err);
	}
	last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
	return FSL_OK;
}

/* An operator, by its end. */
struct ending {
	int64_t end_ns;
	uint32_t comm;
};

static int compare_ends(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;
	FSL_ORDER_BY(a->end_ns, b->end_ns);
	return FSL_ORDER(a->comm, b->comm);
}

/* Gives the stretch [begin_ns, end_ns) to the operators of @endings [first, n) that end in it. */
static void share_out(struct fsl_profile_rank *rank, const struct ending *endings, size_t first,
		      size_t n, int64_t begin_ns, int64_t end_ns)
{
	for (size_t i = n; i-- > first && end_ns > begin_ns;) {
		struct fsl_profile_comm *comm = &rank->comms[endings[i].comm];
		int64_t until_ns = endings[i].end_ns < end_ns ? endings[i].end_ns : end_ns;
		int64_t since_ns = comm->begin_ns > begin_ns ? comm->begin_ns : begin_ns;
		if (until_ns > since_ns) {
			comm->exposed_ns += until_ns - since_ns;
			end_ns = since_ns;
		}
	}
}

/* @endings [n], sorted. */
static void walk(struct fsl_profile_rank *rank, const struct ending *endings, size_t n,
		 const struct fsl_spans *kernels)
{
	size_t first = 0, end = 0;
	for (size_t k = 0; k <= kernels->n_items; k++) {
		bool is_last = k == kernels->n_items;
		int64_t begin_ns = k > 0 ? kernels->items[k - 1].end_ns : INT64_MIN;
		int64_t end_ns = is_last ? INT64_MAX : kernels->items[k].begin_ns;
		while (first < n && endings[first].end_ns <= begin_ns) {
			first++;
		}
		end = first > end ? first : end;
		while (end < n &&
		       (is_last || endings[end].end_ns <= end_ns + FSL_EXPOSED_SLACK_NS)) {
			end++;
		}
		share_out(rank, endings, first, end, begin_ns, end_ns);
	}
}

enum fsl_status fsl_exposed_tell(struct fsl_profile_rank *rank, const struct fsl_spans *kernels,
				 struct fsl_error *err)
{
	struct ending *endings = NULL;
	size_t n = 0;
	if (kernels->is_full) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(endings, rank->n_comms + 1, "operators", err));
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		rank->comms[c].exposed_ns = 0;
		if (fsl_profile_comm_is_timed(comm)) {
			endings[n++] =
				(struct ending){comm->begin_ns + comm->elapse_ns, (uint32_t)c};
		}
	}
	fsl_sort_runs(endings, n, sizeof(*endings), compare_ends);
	walk(rank, endings, n, kernels);
	fsl_free(endings);
	rank->tells_exposed = true;
	return FSL_OK;
}
