/*
 * One step of what was read, as if it were all that was captured: for judges that are asked step by
 * step. Nothing is read again and no row is moved that lies in the order of steps already, so that
 * looking at all steps costs about as much as looking at all rows once.
 */
#ifndef FSL_CAPTURE_STEP_VIEW_H
#define FSL_CAPTURE_STEP_VIEW_H

#include "capture/capture.h"

struct fsl_step_view {
	struct fsl_arena arena;
	struct fsl_profile_rank *rows; /* per rank of the profile: each kind sorted by step */
	/*
	 * The step that was shown last. Its ranks are those of the profile, also those that have no
	 * row of the step. Never to be freed: all is borrowed from the profile and from here.
	 */
	struct fsl_profile profile;
};

/*
 * Fills @out (overwritten); @profile has to outlive it. A rank of the view has the rows that carry
 * a step (steps of both kinds, communication operators, links, kernels, gaps) and names, traffic
 * and metadata of the rank; sums over the capture (statistics, operators of the framework, memory,
 * the trace) are in no view, and neither are rows without a number. Where all rows are numbered, a
 * view equals what is read with that step as the only one wanted, but for these sums. Fails only
 * when memory is short.
 */
enum fsl_status fsl_step_view_init(struct fsl_step_view *out, const struct fsl_profile *profile,
				   struct fsl_error *err);
/* The same for another thread: @of has to outlive it, and what it shows is its own. */
enum fsl_status fsl_step_view_share(struct fsl_step_view *out, const struct fsl_step_view *of,
				    struct fsl_error *err);
/* Makes view->profile that of @step, a number. */
void fsl_step_view_show(struct fsl_step_view *view, int64_t step);
/* True when rank @r (a place in profile->ranks) has a row in its steps or operators now. */
bool fsl_step_view_has(const struct fsl_step_view *view, size_t r);
void fsl_step_view_fini(struct fsl_step_view *view);

#endif
