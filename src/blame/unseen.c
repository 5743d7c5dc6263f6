/*
 * Ranks that left no data: whether they were late. Ranks that share a group with such a one, other
 * than the group in question, worked beside it; what held it up held them up too, and how late they
 * came to the same operator in groups of their own was seen.
 */
#include "blame/unseen.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "match/topology_parts.h"

enum fsl_status fsl_unseen_init(struct fsl_unseen *out, const struct fsl_case *facts,
				struct fsl_error *err)
{
	size_t n_cells = 0;
	*out = (struct fsl_unseen){.facts = facts, .op_id = FSL_STR_NONE};
	if (fsl_mul_size(facts->blame->n_ranks, facts->blame->n_steps, &n_cells)) {
		out->late_ms = fsl_calloc(n_cells + 1, sizeof(*out->late_ms));
		out->is_seen = fsl_calloc(facts->blame->n_ranks + 1, sizeof(*out->is_seen));
	}
	if (out->late_ms == NULL || out->is_seen == NULL) {
		fsl_unseen_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
				facts->blame->n_ranks);
	}
	return FSL_OK;
}

void fsl_unseen_fini(struct fsl_unseen *unseen)
{
	fsl_free(unseen->late_ms);
	fsl_free(unseen->is_seen);
	unseen->late_ms = NULL;
	unseen->is_seen = NULL;
}

static enum fsl_status add_channel(struct fsl_unseen *unseen, const struct fsl_channel *channel,
				   struct fsl_error *err)
{
	struct fsl_windows late = {0};
	size_t n_steps = unseen->facts->blame->n_steps;
	enum fsl_status status = fsl_channel_lateness(&late, channel, unseen->facts->run, err);
	for (size_t m = 0; m < channel->n_members; m++) {
		unseen->is_seen[channel->members[m]] = true;
	}
	for (size_t i = 0; i < channel->n_instances && status == FSL_OK; i++) {
		for (size_t m = 0; m < channel->n_members && channel->step_idx[i] < n_steps; m++) {
			FSL_ASSERT(channel->members[m] < unseen->facts->blame->n_ranks);
			size_t at = channel->members[m] * n_steps + channel->step_idx[i];
			double ms = late.values[m * late.n_windows + i];
			unseen->late_ms[at] += isnan(ms) ? 0.0 : ms;
		}
	}
	fsl_windows_fini(&late);
	return status;
}

/* Lateness of all ranks in one operator. */
static enum fsl_status set_late(struct fsl_unseen *unseen, uint32_t op_id, struct fsl_error *err)
{
	const struct fsl_blame *blame = unseen->facts->blame;
	const struct fsl_match *match = unseen->facts->match;
	enum fsl_status status = FSL_OK;
	memset(unseen->late_ms, 0, blame->n_ranks * blame->n_steps * sizeof(*unseen->late_ms));
	memset(unseen->is_seen, 0, blame->n_ranks * sizeof(*unseen->is_seen));
	for (size_t c = 0; c < match->n_channels && status == FSL_OK; c++) {
		if (match->channels[c].op_id == op_id && !match->channels[c].disagrees) {
			status = add_channel(unseen, &match->channels[c], err);
		}
	}
	unseen->op_id = status == FSL_OK ? op_id : FSL_STR_NONE;
	return status;
}

/* How late the rank came in the steps that are to be explained, ms per step; more than in the
 * others when the transfer is compared with those. */
static double lateness_of(const struct fsl_unseen *unseen, size_t r,
			  const struct fsl_unseen_wait *wait)
{
	size_t n_steps = unseen->facts->blame->n_steps, n_high = 0, n_rest = 0;
	double high_ms = 0.0, rest_ms = 0.0;
	for (size_t s = 0; s < n_steps; s++) {
		double late_ms = unseen->late_ms[r * n_steps + s];
		if (wait->excess_ms[s] > wait->threshold_ms) {
			high_ms += late_ms;
			n_high++;
		} else if (!isnan(wait->excess_ms[s])) {
			rest_ms += late_ms;
			n_rest++;
		}
	}
	return (n_high > 0 ? high_ms / (double)n_high : 0.0) -
	       (wait->is_rise && n_rest > 0 ? rest_ms / (double)n_rest : 0.0);
}

static bool shares_ranks(const struct fsl_group *a, const struct fsl_group *b)
{
	size_t i = 0, k = 0;
	while (i < a->n_ranks && k < b->n_ranks) {
		if (a->ranks[i] == b->ranks[k]) {
			return true;
		}
		a->ranks[i] < b->ranks[k] ? i++ : k++;
	}
	return false;
}

/* Point-to-point operators tie ranks of different stages, which do different work. */
static bool is_p2p(const struct fsl_run *run, const struct fsl_group *group)
{
	const struct fsl_rank *rank = fsl_run_rank(run, group->ranks[0]);
	for (size_t i = 0; rank != NULL && i < rank->n_ops; i++) {
		if (rank->ops[i].group_id == group->name_id) {
			const char *name = fsl_strpool_text(run->names, rank->ops[i].op_id);
			return fsl_op_class_from_name(name) == FSL_OP_P2P;
		}
	}
	return true;
}

/* Members of @group work beside a rank that left no data, which may be one of @asked: they wait for
 * it so often that it does not come to @asked later than they do to a group of theirs. */
static bool is_beside(const struct fsl_unseen *unseen, const struct fsl_group *group,
		      const struct fsl_group *asked)
{
	if (group->n_calls == 0 || asked->n_calls == 0 || shares_ranks(group, asked)) {
		return false;
	}
	double rate = (double)group->n_calls / (double)group->n_ranks;
	double asked_rate = (double)asked->n_calls / (double)asked->n_ranks;
	return rate >= FSL_RATE_RATIO * asked_rate && !is_p2p(unseen->facts->run, group);
}

/* True when some member was seen in the operator elsewhere and none of these came late. */
static bool came_in_time(const struct fsl_unseen *unseen, const struct fsl_group *group,
			 const struct fsl_unseen_wait *wait)
{
	bool is_seen = false;
	for (size_t m = 0; m < group->n_ranks; m++) {
		size_t r = fsl_run_rank_idx(unseen->facts->run, group->ranks[m]);
		if (r == SIZE_MAX || !unseen->is_seen[r]) {
			continue;
		}
		is_seen = true;
		if (lateness_of(unseen, r, wait) >= FSL_UNSEEN_LATE_SHARE * wait->mean_ms) {
			return false;
		}
	}
	return is_seen;
}

enum fsl_status fsl_unseen_in_time(struct fsl_unseen *unseen, size_t channel_idx,
				   const size_t *n_unseen_of, const struct fsl_unseen_wait *wait,
				   bool *is_in_time, struct fsl_error *err)
{
	const struct fsl_case *facts = unseen->facts;
	const struct fsl_channel *channel = &facts->match->channels[channel_idx];
	const struct fsl_group *asked = &facts->topology->groups[channel->group_idx];
	size_t n_seen = fsl_ranks_seen(facts->run), n_beside = 0;
	if (unseen->op_id != channel->op_id) {
		FSL_TRY(set_late(unseen, channel->op_id, err));
	}
	*is_in_time = true;
	for (size_t g = 0; g < facts->topology->n_groups && *is_in_time; g++) {
		const struct fsl_group *group = &facts->topology->groups[g];
		if (n_unseen_of[g] > 0 && is_beside(unseen, group, asked)) {
			n_beside += n_unseen_of[g];
			*is_in_time = came_in_time(unseen, group, wait);
		}
	}
	*is_in_time &= n_beside > 0 && n_seen + n_beside >= facts->topology->n_expected_ranks;
	return FSL_OK;
}
