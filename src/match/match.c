/* Matches the uses of every communicator over its ranks. */
#include "match/match.h"

#include <math.h>

#include "match/channel.h"

/* Counts what was matched; a group counts when one of its channels has complete instances. */
static void count_matched(struct fsl_match *match)
{
	size_t last_group = SIZE_MAX;
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		uint64_t n_complete = 0;
		for (size_t i = 0; i < channel->n_instances; i++) {
			size_t n_present = 0;
			for (size_t m = 0; m < channel->n_members; m++) {
				n_present +=
					channel->op_idx[i * channel->n_members + m] != FSL_NO_OP;
			}
			n_complete += n_present == channel->n_members;
		}
		match->n_instances += channel->n_instances;
		match->n_instances_matched += n_complete;
		if (n_complete > 0 && channel->group_idx != last_group) {
			match->n_groups_matched++;
			last_group = channel->group_idx;
		}
	}
}

enum fsl_status fsl_match(struct fsl_match *out, const struct fsl_run *run,
			  const struct fsl_topology *topology, struct fsl_error *err)
{
	struct fsl_uses *uses = NULL;
	*out = (struct fsl_match){.offset_max_ms = NAN, .residual_ms = NAN};
	enum fsl_status status = fsl_channels_list(out, &uses, run, topology, err);
	if (status == FSL_OK) {
		status = fsl_clocks_estimate(out, uses, run, err);
	}
	for (size_t c = 0; c < out->n_channels && status == FSL_OK; c++) {
		status = fsl_channel_match(out, &out->channels[c], &uses[c], run, err);
	}
	if (status != FSL_OK) {
		fsl_match_fini(out);
		return status;
	}
	count_matched(out);
	return FSL_OK;
}

void fsl_match_fini(struct fsl_match *match)
{
	fsl_arena_fini(&match->arena);
	*match = (struct fsl_match){0};
}

void fsl_match_assign_steps(struct fsl_match *match, const struct fsl_cuts *cuts)
{
	for (size_t c = 0; c < match->n_channels; c++) {
		struct fsl_channel *channel = &match->channels[c];
		for (size_t i = 0; i < channel->n_instances; i++) {
			size_t m = 0;
			const uint32_t *row = channel->op_idx + i * channel->n_members;
			while (m + 1 < channel->n_members && row[m] == FSL_NO_OP) {
				m++;
			}
			size_t step = fsl_cuts_step_of(cuts, channel->members[m], row[m]);
			channel->step_idx[i] = step == SIZE_MAX ? UINT32_MAX : (uint32_t)step;
		}
	}
}
