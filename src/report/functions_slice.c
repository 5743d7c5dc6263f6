/* The stretch of a trace that shows the verdict best. */
#include "capture/shares.h"
#include "report/functions.h"

enum {
	MARGIN_DIVISOR = 10,      /* of the length of a step: its work on the device ends later */
	SLICE_MAX_NS = 500000000, /* of a trace without steps: a viewer opens it at once */
	MS_NS = 1000000,          /* times are written in ms, and rounded outwards */
};

const struct fsl_function_worker *fsl_functions_slowest(const struct fsl_functions_view *view)
{
	const struct fsl_function_worker *slowest = NULL;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		if (slowest == NULL || worker->is_culprit != slowest->is_culprit) {
			bool is_first = slowest == NULL || worker->is_culprit;
			slowest = is_first ? worker : slowest;
			continue;
		}
		bool is_slower = worker->is_culprit
					 ? worker->excess > slowest->excess
					 : worker->communication < slowest->communication;
		slowest = is_slower ? worker : slowest;
	}
	return slowest;
}

/* A worker that does the same work and is not slow. */
static const struct fsl_function_worker *peer_of(const struct fsl_functions_view *view,
						 const struct fsl_function_worker *worst)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		if (!worker->is_culprit && worker->stage == worst->stage) {
			return worker;
		}
	}
	return NULL;
}

/* The step in which the rank waits least for others, as share of all that it does. */
static const struct fsl_profile_range *longest_of(const struct fsl_profile_rank *rank)
{
	const struct fsl_profile_range *longest = NULL;
	int64_t most_ns = -1;
	for (size_t i = 1; i < rank->n_shares; i++) {
		const struct fsl_profile_shares *shares = &rank->shares[i];
		int64_t own_ns = shares->window_ns - shares->exposed_comm_ns;
		for (size_t k = 0; k < rank->trace.n_ranges && own_ns > most_ns; k++) {
			if (rank->trace.ranges[k].step == shares->step) {
				longest = &rank->trace.ranges[k];
				most_ns = own_ns;
			}
		}
	}
	return longest;
}

void fsl_functions_add_slice(struct fsl_document *document, cJSON *root,
			     const struct fsl_functions_view *view)
{
	const struct fsl_function_worker *worst = fsl_functions_slowest(view);
	if (worst == NULL || !worst->is_culprit) {
		fsl_document_null(document, root, "slice");
		return;
	}
	const struct fsl_profile_trace *trace = &worst->rank->trace;
	const struct fsl_function_worker *peer = peer_of(view, worst);
	const struct fsl_profile_range *range = longest_of(worst->rank);
	int64_t from_ns = trace->begin_ns, to_ns = trace->end_ns;
	if (range != NULL) {
		int64_t margin_ns = (range->end_ns - range->begin_ns) / MARGIN_DIVISOR;
		from_ns = range->begin_ns - margin_ns;
		to_ns = range->end_ns + margin_ns;
	} else if (to_ns - from_ns > SLICE_MAX_NS) {
		to_ns = from_ns + SLICE_MAX_NS;
	}
	cJSON *slice = fsl_document_object(document, root, "slice");
	fsl_document_integer(document, slice, "rank", worst->rank->rank);
	fsl_document_index(document, slice, "peer", peer != NULL ? peer->rank->rank : -1);
	fsl_document_index(document, slice, "step", range != NULL ? range->step : -1);
	fsl_document_time(document, slice, "from", from_ns > 0 ? from_ns : 0);
	fsl_document_time(document, slice, "to", to_ns + MS_NS);
}
