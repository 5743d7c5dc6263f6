/* Ranks that are slow in different steps: their cost together. */
#include "judge/conclude.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/try.h"

/* One rank in one step. */
struct shown {
	int64_t step;
	double ms;
};

static int compare_steps(const void *left, const void *right)
{
	const struct shown *a = left, *b = right;
	FSL_ORDER_BY(a->step, b->step);
	return FSL_ORDER(b->ms, a->ms); /* the costliest first */
}

enum fsl_status fsl_conclude_together(double *ms, const struct fsl_profile_finding *const *named,
				      size_t n_named, struct fsl_error *err)
{
	struct shown *shown = NULL;
	size_t n = 0, n_steps = 0, n_max = 1;
	bool is_in_turn = false;
	double sum_ms = 0.0;
	*ms = NAN;
	for (size_t i = 0; i < n_named; i++) {
		n_max += named[i]->seen_ms != NULL ? named[i]->n_seen_steps : 0;
		n_steps = named[i]->n_steps > n_steps ? named[i]->n_steps : n_steps;
		is_in_turn |= named[i]->n_seen_steps < named[i]->n_steps;
	}
	if (n_named < 2 || !is_in_turn) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(shown, n_max, "steps", err));
	for (size_t i = 0; i < n_named; i++) {
		for (size_t s = 0; named[i]->seen_ms != NULL && s < named[i]->n_seen_steps; s++) {
			shown[n++] = (struct shown){named[i]->seen_steps[s], named[i]->seen_ms[s]};
		}
	}
	qsort(shown, n, sizeof(*shown), compare_steps);
	for (size_t i = 0; i < n; i++) {
		sum_ms += i == 0 || shown[i].step != shown[i - 1].step ? shown[i].ms : 0.0;
	}
	*ms = sum_ms / (double)n_steps;
	fsl_free(shown);
	return FSL_OK;
}
