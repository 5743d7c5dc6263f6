/* Captures of the Ascend profiler among the inputs of a conversion. */
#include "cli/convert_parts.h"
#include "cli/profile_run.h"
#include "engine/threads.h"

enum fsl_status fsl_conversion_look(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct fsl_convert_run *wanted = c->wanted;
	return fsl_profile_look(wanted->paths, wanted->n_paths, &c->has_captures, &c->has_other,
				&c->refusal, err);
}

enum fsl_status fsl_conversion_add_captures(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct fsl_convert_run *wanted = c->wanted;
	int32_t *ranks = NULL;
	FSL_TRY(FSL_NEW(ranks, wanted->n_ranks + 1, "ranks", err));
	for (size_t i = 0; i < wanted->n_ranks; i++) {
		ranks[i] = (int32_t)wanted->ranks[i];
	}
	const struct fsl_profile_options options = {
		.path = c->n_judged > 0 ? c->judged[0] : wanted->paths[0],
		.more_paths = c->judged + 1,
		.n_more_paths = c->n_judged > 0 ? c->n_judged - 1 : 0,
		.ranks = ranks,
		.n_ranks = wanted->n_ranks,
		.keeps_rows = true,
		.n_threads = fsl_threads_start(wanted->n_jobs > 0 ? (int)wanted->n_jobs : 0)};
	enum fsl_status status = fsl_profile_read(&c->profile, &options, err);
	fsl_free(ranks);
	FSL_TRY(status);
	FSL_TRY(fsl_profile_cluster_build(&c->cluster, &c->profile, err));
	FSL_TRY(fsl_profile_meet(&c->meetings, &c->profile, &c->cluster, err));
	const struct fsl_capture_source source = {.profile = &c->profile,
						  .meetings = &c->meetings,
						  .is_aligned = wanted->is_aligned,
						  .from_ns = wanted->from_ns,
						  .to_ns = wanted->to_ns};
	return fsl_capture_tracks_add(c->plan, &source, &c->captured, err);
}

void fsl_conversion_drop_captures(struct fsl_conversion *c)
{
	fsl_profile_meetings_fini(&c->meetings);
	fsl_profile_cluster_fini(&c->cluster);
	fsl_profile_fini(&c->profile);
}
