/* Slow links are put side by side: by their members, their time and the hosts of both ends. */
#include "blame/network.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/try.h"
#include "blame/blame.h"
#include "match/match.h"

struct look {
	const struct fsl_case *facts;
	const struct fsl_link *links;
	const bool *counts;
	size_t n_links;
	bool *is_member; /* [n_ranks] scratch */
};

static const struct fsl_channel *channel_of(const struct look *look, size_t i)
{
	return &look->facts->match->channels[look->links[i].channel_idx];
}

/* Transfers of a group of more than two: a collective. */
static bool is_group(const struct look *look, size_t i)
{
	return channel_of(look, i)->n_members > 2;
}

static bool holds_all(const struct look *look)
{
	size_t n_members = 0, n_groups = 0;
	memset(look->is_member, 0, look->facts->run->n_ranks * sizeof(*look->is_member));
	for (size_t i = 0; i < look->n_links; i++) {
		const struct fsl_channel *channel = channel_of(look, i);
		if (!look->counts[i] || !is_group(look, i)) {
			continue;
		}
		n_groups++;
		for (size_t m = 0; m < channel->n_members; m++) {
			n_members += !look->is_member[channel->members[m]];
			look->is_member[channel->members[m]] = true;
		}
	}
	return n_groups > 1 && n_members == fsl_ranks_seen(look->facts->run);
}

static bool share_members(const struct look *look, size_t a, size_t b)
{
	const struct fsl_channel *x = channel_of(look, a), *y = channel_of(look, b);
	memset(look->is_member, 0, look->facts->run->n_ranks * sizeof(*look->is_member));
	for (size_t m = 0; m < x->n_members; m++) {
		look->is_member[x->members[m]] = true;
	}
	for (size_t m = 0; m < y->n_members; m++) {
		if (look->is_member[y->members[m]]) {
			return true;
		}
	}
	return false;
}

static bool is_over(const struct look *look, size_t i)
{
	return look->links[i].episode.end < look->facts->blame->n_steps;
}

/* True if steps stay long behind the end of a slow link, by what counts and by half of what it took
 * away with it: something else goes on. */
static bool goes_on(const struct look *look, size_t i)
{
	const struct fsl_blame *blame = look->facts->blame;
	const struct fsl_episode *episode = &look->links[i].episode;
	size_t n_inside = episode->end - episode->begin, n_left = blame->n_steps - episode->end;
	size_t n_after = n_left < n_inside ? n_left : n_inside;
	double *scratch = n_after >= FSL_REST_STEPS_MIN
				  ? fsl_calloc(blame->n_steps + 1, sizeof(*scratch))
				  : NULL;
	if (scratch == NULL) {
		return false;
	}
	double inside_ms = fsl_median(blame->step_dur_ms + episode->begin, n_inside, scratch);
	double after_ms = fsl_median(blame->step_dur_ms + episode->end, n_after, scratch);
	double stays_ms = after_ms - fsl_best_level(blame->step_dur_ms, blame->n_steps, scratch);
	fsl_free(scratch);
	return stays_ms >= FSL_NOTED_LOSS_SHARE *
				   fsl_least_loss_ms(look->facts->config, blame->step_ms) &&
	       stays_ms >= FSL_EXPLAINED_SHARE_MIN * (inside_ms - after_ms);
}

/* All groups that are slow are over, and another one without a common rank is slow for a while as
 * well, or steps stay long: no link mends itself while another one fails. */
static bool moves(const struct look *look)
{
	size_t first = SIZE_MAX;
	for (size_t i = 0; i < look->n_links; i++) {
		bool is_told = look->counts[i];
		if (is_told && (!is_group(look, i) || !is_over(look, i))) {
			return false;
		}
		first = is_told && first == SIZE_MAX ? i : first;
	}
	bool is_found = first != SIZE_MAX && goes_on(look, first);
	for (size_t i = 0; i < look->n_links && !is_found && first != SIZE_MAX; i++) {
		const struct fsl_episode *one = &look->links[first].episode,
					 *other = &look->links[i].episode;
		bool is_apart = other->begin >= one->end || other->end <= one->begin;
		is_found = i != first && is_group(look, i) && !share_members(look, first, i) &&
			   (is_apart || is_over(look, i));
	}
	return is_found;
}

/* True if each link that counts has an end on the host, and one elsewhere. */
static bool all_leave(const struct look *look, const char *server_ip)
{
	for (size_t i = 0; i < look->n_links; i++) {
		const struct fsl_channel *channel = channel_of(look, i);
		size_t n_inside = 0;
		for (size_t m = 0; m < channel->n_members; m++) {
			const char *own = look->facts->run->ranks[channel->members[m]].server_ip;
			n_inside += strcmp(own, server_ip) == 0;
		}
		if (look->counts[i] && (n_inside == 0 || n_inside == channel->n_members)) {
			return false;
		}
	}
	return true;
}

/* Which of two hosts a channel has members on, and whether it has any elsewhere. */
struct reach {
	bool on[2], elsewhere;
};

static struct reach reach_of(const struct look *look, size_t channel_idx, const char *const *ends)
{
	const struct fsl_channel *channel = &look->facts->match->channels[channel_idx];
	struct reach reach = {{false, false}, false};
	for (size_t m = 0; m < channel->n_members; m++) {
		const char *own = look->facts->run->ranks[channel->members[m]].server_ip;
		bool is_first = strcmp(own, ends[0]) == 0, is_second = strcmp(own, ends[1]) == 0;
		reach.on[0] |= is_first;
		reach.on[1] |= is_second;
		reach.elsewhere |= !is_first && !is_second;
	}
	return reach;
}

/* How many times longer the transfers of a channel take since the onset, against its own past, or
 * against like channels if there is no past; NaN: not known. */
static double growth_of(const struct fsl_transfers *transfers, size_t channel_idx, size_t onset)
{
	const double *row = transfers->transfer_ms + channel_idx * transfers->n_steps;
	const double *like = transfers->reference_ms + channel_idx * transfers->n_steps;
	bool has_past = onset >= FSL_NETWORK_PAST_STEPS_MIN;
	double now_ms = 0.0, usual_ms = 0.0;
	size_t n_now = 0, n_usual = 0;
	for (size_t s = 0; s < transfers->n_steps; s++) {
		const double *usual = has_past ? row : like;
		bool is_usual = has_past ? s < onset : s >= onset;
		if (s >= onset && !isnan(row[s])) {
			now_ms += row[s];
			n_now++;
		}
		if (is_usual && !isnan(usual[s])) {
			usual_ms += usual[s];
			n_usual++;
		}
	}
	return n_now > 0 && n_usual > 0 && usual_ms > 0.0
		       ? now_ms / (double)n_now / (usual_ms / (double)n_usual)
		       : NAN;
}

/*
 * All links that count lie between two hosts: it is the one whose other channels are slow, too, if
 * those of the far one are not. If some pair between the hosts is as fast as ever, or if nothing
 * else leaves them, each link stands for itself.
 */
static void choose_host(struct fsl_network *out, const struct look *look,
			const struct fsl_transfers *transfers, const char *const *ends,
			size_t onset)
{
	size_t n_slow[2] = {0, 0}, n_others[2] = {0, 0};
	for (size_t c = 0; c < transfers->n_channels; c++) {
		const struct reach reach = reach_of(look, c, ends);
		double growth = growth_of(transfers, c, onset);
		bool is_slow = growth >= FSL_NETWORK_GROWTH_MIN;
		if (isnan(growth)) {
			continue;
		}
		if (reach.on[0] && reach.on[1] && !reach.elsewhere && !is_slow) {
			return;
		}
		for (size_t e = 0; e < 2; e++) {
			bool is_own = reach.on[e] && !reach.on[1 - e] && reach.elsewhere;
			n_others[e] += is_own;
			n_slow[e] += is_own && is_slow;
		}
	}
	for (size_t e = 0; e < 2; e++) {
		if (n_slow[e] > 0 && 2 * n_slow[e] >= n_others[e] && n_slow[1 - e] == 0) {
			*out = (struct fsl_network){FSL_NETWORK_HOST, ends[e]};
		}
	}
}

/* Pairs between hosts: the host that all of them have an end on. */
static enum fsl_status look_at_hosts(struct fsl_network *out, const struct look *look,
				     struct fsl_error *err)
{
	size_t n_told = 0, first = SIZE_MAX;
	for (size_t i = 0; i < look->n_links; i++) {
		if (look->counts[i] && is_group(look, i)) {
			return FSL_OK; /* it is on many hosts: each may be the slow one */
		}
		n_told += look->counts[i];
		first = look->counts[i] && first == SIZE_MAX ? i : first;
	}
	if (n_told < 2) {
		return FSL_OK;
	}
	const struct fsl_channel *channel = channel_of(look, first);
	const char *ends[2];
	for (size_t m = 0; m < 2; m++) {
		ends[m] = look->facts->run->ranks[channel->members[m]].server_ip;
	}
	bool leaves[2] = {all_leave(look, ends[0]), all_leave(look, ends[1])};
	if (leaves[0] && leaves[1]) {
		struct fsl_transfers transfers;
		FSL_TRY(fsl_transfers_build(&transfers, look->facts, err));
		choose_host(out, look, &transfers, ends, look->links[first].episode.begin);
		fsl_transfers_fini(&transfers);
	} else if (leaves[0] || leaves[1]) {
		*out = (struct fsl_network){FSL_NETWORK_HOST, ends[leaves[0] ? 0 : 1]};
	}
	return FSL_OK;
}

enum fsl_status fsl_network_look(struct fsl_network *out, const struct fsl_case *facts,
				 const struct fsl_link *links, const bool *counts, size_t n_links,
				 struct fsl_error *err)
{
	struct look look = {facts, links, counts, n_links,
			    fsl_calloc(facts->run->n_ranks + 1, sizeof(bool))};
	enum fsl_status status = FSL_OK;
	*out = (struct fsl_network){FSL_NETWORK_LINKS, NULL};
	if (look.is_member == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
				facts->run->n_ranks);
	}
	if (holds_all(&look)) {
		out->kind = FSL_NETWORK_ALL;
	} else if (moves(&look)) {
		out->kind = FSL_NETWORK_MOVES;
	} else {
		status = look_at_hosts(out, &look, err);
	}
	fsl_free(look.is_member);
	return status;
}
