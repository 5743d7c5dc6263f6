/* Compares transfers of groups that are alike. */
#include "blame/floors.h"

#include <stdlib.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/limits.h"

/* A channel as it is compared. */
struct floor {
	const struct fsl_channel *channel;
	uint64_t n_elements; /* of all instances, per member; 0: not told */
	double ms;           /* per step */
};

static bool is_alike(const struct floor *a, const struct floor *b)
{
	return a->channel->op_id == b->channel->op_id &&
	       a->channel->n_members == b->channel->n_members &&
	       a->channel->n_instances == b->channel->n_instances && a->n_elements == b->n_elements;
}

static int compare_kinds(const void *left, const void *right)
{
	const struct floor *a = left, *b = right;
	int order = FSL_ORDER(a->channel->op_id, b->channel->op_id);
	order = order != 0 ? order : FSL_ORDER(a->channel->n_members, b->channel->n_members);
	order = order != 0 ? order : FSL_ORDER(a->channel->n_instances, b->channel->n_instances);
	order = order != 0 ? order : FSL_ORDER(a->n_elements, b->n_elements);
	order = order != 0 ? order : FSL_ORDER(b->ms, a->ms); /* slowest first */
	return order != 0 ? order : FSL_ORDER(a->channel->group_idx, b->channel->group_idx);
}

static int compare_costs(const void *left, const void *right)
{
	const struct fsl_slow_floor *a = left, *b = right;
	int order = FSL_ORDER(b->cost_ms, a->cost_ms);
	return order != 0 ? order : FSL_ORDER(a->channel->group_idx, b->channel->group_idx);
}

/* False if the channel tells no transfer: a member lacks an operator, ends disagree, sizes are not
 * told. */
static bool measure(struct floor *out, const struct fsl_channel *channel,
		    const struct fsl_profile_meetings *meetings, const struct fsl_profile *profile,
		    size_t n_steps)
{
	*out = (struct floor){.channel = channel};
	/* A send and its receive end together, too: the later of both to come has the transfer. */
	bool is_good = channel->n_members > 1 &&
		       (channel->is_p2p || fsl_meeting_tells_lateness(meetings, channel));
	for (size_t i = 0; i < channel->n_instances && is_good; i++) {
		int64_t least_ns = INT64_MAX;
		for (size_t m = 0; m < channel->n_members && is_good; m++) {
			const struct fsl_profile_comm *comm =
				fsl_meeting_comm(meetings, profile, channel, i, m);
			is_good = comm != NULL && comm->n_elements > 0;
			if (is_good && comm->elapse_ns < least_ns) {
				least_ns = comm->elapse_ns;
			}
			out->n_elements += is_good && m == 0 ? (uint64_t)comm->n_elements : 0;
		}
		out->ms += is_good ? (double)least_ns / (double)FSL_NS_PER_MS : 0.0;
	}
	out->ms /= (double)n_steps;
	return is_good && channel->n_instances > 0;
}

/* Members of the group that were captured are all that it has, or all that meet. */
static bool is_whole(const struct fsl_channel *channel, const struct fsl_profile_meetings *meetings,
		     const struct fsl_profile_cluster *cluster)
{
	const struct fsl_group *group = &meetings->topology.groups[channel->group_idx];
	const char *name = fsl_strpool_text(meetings->run.names, group->name_id);
	size_t at = fsl_profile_group_find(cluster, name, false);
	return channel->is_p2p || (at != SIZE_MAX && cluster->groups[at].is_size_known &&
				   cluster->groups[at].size == channel->n_members);
}

/* Floors alike, slowest first: those before the first that is usual are slow. */
static enum fsl_status compare(struct fsl_slow_floor *out, size_t *n_out, const struct floor *alike,
			       size_t n, struct fsl_error *err)
{
	double *work = NULL;
	FSL_TRY(FSL_NEW(work, 2 * n + 2, "groups", err));
	for (size_t i = 0; 2 * (i + 1) <= n; i++) {
		size_t n_others = n - i - 1; /* those that are slower are no measure */
		for (size_t k = 0; k < n_others; k++) {
			work[k] = alike[i + 1 + k].ms;
		}
		double usual_ms = fsl_median(work, n_others, work + n_others);
		double least = n == 2 ? FSL_FLOOR_RATIO_OF_TWO_MIN : FSL_FLOOR_RATIO_MIN;
		if (!(usual_ms > 0.0) || alike[i].ms < least * usual_ms) {
			break;
		}
		out[(*n_out)++] = (struct fsl_slow_floor){.channel = alike[i].channel,
							  .floor_ms = alike[i].ms,
							  .usual_ms = usual_ms,
							  .cost_ms = alike[i].ms - usual_ms,
							  .n_alike = n_others};
	}
	fsl_free(work);
	return FSL_OK;
}

static bool is_same_pair(const struct fsl_channel *a, const struct fsl_channel *b)
{
	return a->is_p2p && b->is_p2p && a->members[0] == b->members[0] &&
	       a->members[1] == b->members[1];
}

/* Both directions of a pair are one link. @found: costliest first; returns how many are left. */
static size_t join_directions(struct fsl_slow_floor *found, size_t n)
{
	size_t n_left = 0;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < n_left && !is_same_pair(found[k].channel, found[i].channel)) {
			k++;
		}
		if (k == n_left) {
			found[n_left++] = found[i];
		} else if (found[k].back == NULL) {
			found[k].back = found[i].channel;
			found[k].floor_ms += found[i].floor_ms;
			found[k].usual_ms += found[i].usual_ms;
			found[k].cost_ms += found[i].cost_ms;
		}
	}
	return n_left;
}

enum fsl_status fsl_slow_floors_find(struct fsl_slow_floor **out, size_t *n_out, size_t *n_compared,
				     struct fsl_arena *arena,
				     const struct fsl_profile_meetings *meetings,
				     const struct fsl_profile *profile,
				     const struct fsl_profile_cluster *cluster,
				     struct fsl_error *err)
{
	const struct fsl_match *match = &meetings->match;
	size_t n = 0, n_steps = cluster->n_steps > 0 ? cluster->n_steps : 1;
	struct floor *floors = NULL;
	*n_out = *n_compared = 0;
	FSL_TRY(FSL_ARENA_NEW(*out, arena, match->n_channels + 1, "groups", err));
	FSL_TRY(FSL_NEW(floors, match->n_channels + 1, "groups", err));
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		n += is_whole(channel, meetings, cluster) &&
				     measure(&floors[n], channel, meetings, profile, n_steps)
			     ? 1
			     : 0;
	}
	if (n > 1) {
		qsort(floors, n, sizeof(*floors), compare_kinds);
	}
	enum fsl_status status = FSL_OK;
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		while (end < n && is_alike(&floors[begin], &floors[end])) {
			end++;
		}
		*n_compared += end - begin > 1 ? end - begin : 0;
		status = compare(*out, n_out, floors + begin, end - begin, err);
	}
	if (*n_out > 1) {
		qsort(*out, *n_out, sizeof(**out), compare_costs);
		*n_out = join_directions(*out, *n_out);
	}
	fsl_free(floors);
	return status;
}
