/* Which steps are replayed. */
#include <string.h>

#include "base/log.h"
#include "replay/graph.h"

static size_t count_ops(const struct fsl_cuts *cuts)
{
	size_t n = 0;
	for (size_t r = 0; r < cuts->n_ranks; r++) {
		n += fsl_cuts_first(cuts, r, cuts->n_steps) - fsl_cuts_first(cuts, r, 0);
	}
	return n;
}

/* Steps that the budget allows; 0 when not even one fits. */
static size_t steps_allowed(const struct fsl_replay_job *job)
{
	size_t n_steps = job->cuts->n_steps, n_ops = count_ops(job->cuts);
	size_t n = job->steps_max < n_steps ? job->steps_max : n_steps;
	if (n_ops > job->ops_max) {
		double share = (double)job->ops_max / (double)n_ops;
		size_t n_fit = (size_t)((double)n_steps * share);
		n = n_fit < n ? n_fit : n;
	}
	return n;
}

/* Marks a window of at most @n_left steps around a step; returns how many were not marked yet. */
static size_t mark_window(uint8_t *is_taken, size_t n_steps, size_t centre, size_t n_left)
{
	size_t length = n_left < FSL_REPLAY_WINDOW_STEPS ? n_left : FSL_REPLAY_WINDOW_STEPS, n = 0;
	size_t begin = centre > length / 2 ? centre - length / 2 : 0;
	if (begin + length > n_steps) {
		begin = n_steps - length; /* there are more steps than may be taken */
	}
	for (size_t s = begin; s < begin + length; s++) {
		n += !is_taken[s];
		is_taken[s] = 1;
	}
	return n;
}

/* Focus gets up to half of the steps, what is left is spread evenly. */
static void mark_steps(uint8_t *is_taken, const struct fsl_replay_job *job, size_t n_allowed)
{
	size_t n_steps = job->cuts->n_steps, n_left = n_allowed;
	if (n_allowed >= n_steps) {
		memset(is_taken, 1, n_steps);
		return;
	}
	for (size_t i = 0; i < job->n_focus && n_left > n_allowed / 2; i++) {
		n_left -=
			mark_window(is_taken, n_steps, job->focus_steps[i], n_left - n_allowed / 2);
	}
	size_t n_windows = (n_left + FSL_REPLAY_WINDOW_STEPS - 1) / FSL_REPLAY_WINDOW_STEPS;
	for (size_t w = 0; w < n_windows; w++) {
		size_t centre = (2 * w + 1) * n_steps / (2 * n_windows);
		n_left -= mark_window(is_taken, n_steps, centre, n_left);
	}
}

static enum fsl_status list_steps(struct fsl_replay *out, struct fsl_replay_graph *graph,
				  const uint8_t *is_taken, struct fsl_error *err)
{
	size_t n_steps = graph->job->cuts->n_steps;
	for (size_t s = 0; s < n_steps; s++) {
		out->n_steps += is_taken[s];
	}
	FSL_TRY(FSL_NEW(&out->arena, out->step_idx, out->n_steps, err));
	FSL_TRY(FSL_NEW(&out->arena, graph->windows, out->n_steps, err));
	FSL_TRY(FSL_NEW(&out->arena, graph->window_of, n_steps, err));
	FSL_TRY(FSL_NEW(&out->arena, graph->step_of, n_steps, err));
	size_t n = 0;
	for (size_t s = 0; s < n_steps; s++) {
		graph->window_of[s] = graph->step_of[s] = FSL_NO_NODE;
		if (!is_taken[s]) {
			continue;
		}
		if (s == 0 || !is_taken[s - 1]) {
			graph->windows[graph->n_windows++] = (struct fsl_window){.begin = n};
		}
		graph->window_of[s] = (uint32_t)(graph->n_windows - 1);
		graph->step_of[s] = (uint32_t)n;
		FSL_ASSERT(n < out->n_steps);
		out->step_idx[n++] = (uint32_t)s;
		graph->windows[graph->n_windows - 1].end = n;
	}
	return FSL_OK;
}

enum fsl_status fsl_replay_sample(struct fsl_replay *out, struct fsl_replay_graph *graph,
				  struct fsl_error *err)
{
	size_t n_allowed = steps_allowed(graph->job);
	if (n_allowed == 0) {
		return FSL_OK;
	}
	uint8_t *is_taken = fsl_calloc(graph->job->cuts->n_steps, sizeof(*is_taken));
	if (is_taken == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu",
				graph->job->cuts->n_steps);
	}
	mark_steps(is_taken, graph->job, n_allowed);
	enum fsl_status status = list_steps(out, graph, is_taken, err);
	fsl_free(is_taken);
	return status;
}
