/*
 * Shows one step of a capture as if it were the whole capture, for judges that run step by step.
 * Nothing is read again, and rows that are in the order of steps already are not moved. Viewing all
 * steps costs about as much as scanning all rows once.
 */
#ifndef FSL_CAPTURE_STEP_VIEW_H
#define FSL_CAPTURE_STEP_VIEW_H

#include "capture/capture.h"

struct fsl_step_view {
	struct fsl_arena arena;
	struct fsl_profile_rank *rows; /* one per rank of the profile: each kind sorted by step */
	/* The step that was shown last. Its ranks are those of the profile, even without a row in
	 * the step. Never free it: everything is borrowed from the profile and from this struct. */
	struct fsl_profile profile;
};

/*
 * Fills @out (overwritten); @profile must outlive it. A rank of the view has the rows that carry a
 * step number (steps of both kinds, communication operators, links, kernels, gaps), and the rank's
 * names, traffic and metadata, and the ranges of all steps. A view has no sums over the capture
 * (statistics, framework operators, memory, the trace) and no rows without a number. If all rows
 * are numbered, a view equals a capture read with that step as the only wanted one, except for
 * these sums. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_step_view_init(struct fsl_step_view *out, const struct fsl_profile *profile,
				   struct fsl_error *err);
/* Makes a view for another thread. @of must outlive it; the shown step is its own. */
enum fsl_status fsl_step_view_share(struct fsl_step_view *out, const struct fsl_step_view *of,
				    struct fsl_error *err);
/* Sets view->profile to the step numbered @step. */
void fsl_step_view_show(struct fsl_step_view *view, int64_t step);
/* True if rank @r (an index in profile->ranks) has a step or operator row in the shown step. */
bool fsl_step_view_has(const struct fsl_step_view *view, size_t r);
void fsl_step_view_fini(struct fsl_step_view *view);

#endif
