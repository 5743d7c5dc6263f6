/* Tells the links that the engine found slower than those like them, and what they cost. */
#include <math.h>
#include <stdio.h>

#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/floors.h"
#include "blame/limits.h"
#include "capture/source_words.h"
#include "judge/finding.h"

enum { LINKS_TOLD_MAX = 8, MEMBERS_MAX = 64, TEXT_MAX = 640 };

static enum fsl_status add_rank(struct fsl_profile_findings *findings,
				const struct fsl_slow_port *port, int32_t rank,
				struct fsl_error *err)
{
	char what[TEXT_MAX];
	struct fsl_profile_finding finding = fsl_profile_finding_of(
		port->is_named ? FSL_CODE_SLOW_RANK_NETWORK : FSL_CODE_SLOW_LINKS);
	(void)snprintf(what, sizeof(what),
		       "%zu of %zu links of rank %d are slower than links like them, which costs "
		       "up to %.1f ms a step",
		       port->n_slow, port->n_links, (int)rank, port->cost_ms);
	finding.rank = rank;
	finding.gain_ms = port->cost_ms;
	finding.what = what;
	finding.advice = "look at the network port of this device (speed, errors, retransmissions) "
			 "and at what else uses it";
	(void)fsl_profile_finding_add_fact(&finding, "slow_links", (double)port->n_slow, "count");
	(void)fsl_profile_finding_add_fact(&finding, "links", (double)port->n_links, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status add_link(struct fsl_profile_findings *findings,
				const struct fsl_slow_link *slow, struct fsl_error *err)
{
	char what[TEXT_MAX], far[64];
	const struct fsl_link_row *row = slow->row;
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_SLOW_LINK);
	(void)snprintf(far, sizeof(far), row->dst >= 0 ? "rank %d" : "member %d of its group",
		       (int)(row->dst >= 0 ? row->dst : row->dst_number));
	(void)snprintf(what, sizeof(what),
		       "the %s link from rank %d to %s moves %.2f GB/s in %s, %.0f %% of the %.2f "
		       "GB/s of %zu links like it, which costs %.1f ms a step",
		       fsl_profile_transport_text(row->transport), (int)row->src, far,
		       slow->gb_per_s, row->type, 100.0 * slow->gb_per_s / slow->usual_gb_per_s,
		       slow->usual_gb_per_s, slow->n_alike, slow->cost_ms);
	finding.rank = row->src;
	finding.peer = row->dst;
	finding.gain_ms = slow->cost_ms;
	finding.what = what;
	finding.advice = "look at both ends and the cable or switch between them (errors, "
			 "retransmissions, reduced width), and at what else uses them";
	(void)fsl_profile_finding_add_fact(&finding, "bandwidth", slow->gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "links_like_it", slow->usual_gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "n_like_it", (double)slow->n_alike, "count");
	(void)fsl_profile_finding_add_fact(&finding, "moved", (double)row->n_bytes / 1e6, "MB");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status add_group(struct fsl_profile_findings *findings,
				 const struct fsl_profile_case *facts,
				 const struct fsl_slow_floor *slow, struct fsl_error *err)
{
	char what[TEXT_MAX];
	const struct fsl_channel *channel = slow->channel;
	const struct fsl_run *run = &facts->meetings->run;
	const struct fsl_group *group = &facts->meetings->topology.groups[channel->group_idx];
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_SLOW_LINK);
	int32_t members[MEMBERS_MAX];
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members && m < MEMBERS_MAX; m++) {
		members[n++] = facts->profile->ranks[channel->members[m]].rank;
	}
	const char *type = fsl_strpool_text(run->names, channel->op_id);
	const char *name = fsl_strpool_text(run->names, group->name_id);
	if (slow->n_alike == 1) {
		(void)snprintf(what, sizeof(what),
			       "%s of group \"%.80s\" takes %.2f ms of a step although nobody is "
			       "late, and %.2f ms in the other group that moves as much",
			       type, name, slow->floor_ms, slow->usual_ms);
	} else {
		(void)snprintf(what, sizeof(what),
			       "%s of group \"%.80s\" takes %.2f ms of a step although nobody is "
			       "late, and %.2f ms in %zu groups that move as much",
			       type, name, slow->floor_ms, slow->usual_ms, slow->n_alike);
	}
	finding.rank = members[0];
	finding.peer = n == 2 ? members[1] : -1;
	finding.members = n == 2 ? NULL : members;
	finding.n_members = n == 2 ? 0 : n;
	finding.gain_ms = slow->cost_ms;
	finding.what = what;
	finding.advice = "look at the ports of these ranks and the way between them (errors, "
			 "retransmissions, reduced width), and at what else uses them";
	(void)fsl_profile_finding_add_fact(&finding, "transfer", slow->floor_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "usual_transfer", slow->usual_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "n_like_it", (double)slow->n_alike, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Communication that nothing hides, of the rank that has least: nobody loses more by a link. */
static double least_exposed_ms(const struct fsl_profile_case *facts)
{
	const double *exposed_ms = facts->places->job.exposed_ms;
	double least_ms = INFINITY;
	for (size_t r = 0; r < facts->profile->n_ranks; r++) {
		least_ms = fmin(least_ms, exposed_ms[r]);
	}
	return least_ms;
}

/* Time that comes back if the group is as fast as its like: transfers beside kernels, or that
 * others wait for anyway, cost less than they take. The replay knows no kernels, and may lose
 * transfers of a ring. */
static enum fsl_status cost_of(double *ms, const struct fsl_profile_case *facts,
			       const struct fsl_slow_floor *slow, struct fsl_error *err)
{
	const struct fsl_places_job *job = &facts->places->job;
	const struct fsl_channel *first = job->match->channels;
	double *factor = NULL, saved_ms = 0.0;
	FSL_TRY(FSL_NEW(factor, job->match->n_channels, "links", err));
	for (size_t c = 0; c < job->match->n_channels; c++) {
		factor[c] = 1.0;
	}
	factor[slow->channel - first] = slow->usual_ms / slow->floor_ms;
	if (slow->back != NULL) {
		factor[slow->back - first] = slow->usual_ms / slow->floor_ms;
	}
	enum fsl_status status = fsl_places_mend_channels(&saved_ms, job, factor, err);
	double most_ms = fmin(slow->cost_ms, least_exposed_ms(facts));
	bool is_lost = isnan(saved_ms) || saved_ms < FSL_FLOOR_REPLAYED_SHARE_MIN * most_ms;
	*ms = is_lost ? most_ms : fmin(saved_ms, slow->cost_ms);
	fsl_free(factor);
	return status;
}

/* Groups that take longer than those that move as much, as far as captures without bandwidths
 * tell. */
static enum fsl_status add_groups(struct fsl_profile_findings *findings,
				  const struct fsl_profile_case *facts, bool *is_told,
				  struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct fsl_slow_floor *floors = NULL;
	size_t n = 0, n_compared = 0;
	enum fsl_status status =
		fsl_slow_floors_find(&floors, &n, &n_compared, &arena, facts->meetings,
				     facts->profile, facts->cluster, err);
	double least_ms = fsl_look_effect_min(&facts->look, FSL_CAPTURE_NAMED_SHARE_MIN) *
			  facts->places->job.step_ms;
	*is_told = n_compared > 0;
	for (size_t i = 0; i < n && i < LINKS_TOLD_MAX && status == FSL_OK; i++) {
		status = cost_of(&floors[i].cost_ms, facts, &floors[i], err);
		if (status == FSL_OK && floors[i].cost_ms >= least_ms) {
			status = add_group(findings, facts, &floors[i], err);
		}
	}
	fsl_arena_fini(&arena);
	return status;
}

/* Ranks of which most links are slow, then the links of others. */
enum fsl_status fsl_profile_judge_slow_link(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	const struct fsl_bandwidths *found = &facts->places->bandwidths;
	size_t n_told = 0;
	for (size_t p = 0; p < found->n_ports; p++) {
		const struct fsl_slow_port *port = &found->ports[p];
		FSL_TRY(add_rank(findings, port, facts->profile->ranks[port->rank_idx].rank, err));
	}
	for (size_t i = 0; i < found->n_links && n_told < LINKS_TOLD_MAX; i++) {
		if (!found->links[i].is_of_port) {
			FSL_TRY(add_link(findings, &found->links[i], err));
			n_told++;
		}
	}
	if (facts->places->links.n_rows > 0) {
		return FSL_OK;
	}
	bool is_told = false;
	FSL_TRY(add_groups(findings, facts, &is_told, err));
	const char *links = fsl_profile_source_words(facts->profile)->links;
	return is_told ? FSL_OK : fsl_profile_findings_miss(findings, err, "%s", links);
}
