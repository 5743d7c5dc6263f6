/* Why nobody is named: because all are alike, or because that cannot be told. */
#include "judge/conclude.h"

#include <math.h>

#include "blame/counts.h"
#include "capture/source_words.h"
#include "judge/by_step.h"
#include "match/meetings.h"

const struct fsl_profile_finding *fsl_conclude_first(const struct fsl_profile_findings *findings,
						     enum fsl_code code)
{
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		if (item->code == code && item->step == FSL_STEP_ABSENT) {
			return item;
		}
	}
	return NULL;
}

/* Ranks of which there is something to compare, and of what kind. */
struct comparable {
	size_t n, n_with_comms, n_with_steps;
};

static struct comparable count_comparable(const struct fsl_profile *profile)
{
	struct comparable ranks = {0};
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		bool has_steps = isfinite(fsl_profile_step_ms(rank));
		ranks.n += has_steps || rank->n_comms > 0 ? 1 : 0;
		ranks.n_with_comms += rank->n_comms > 0 ? 1 : 0;
		ranks.n_with_steps += has_steps ? 1 : 0;
	}
	return ranks;
}

/* Two captured ranks meet in @channel, and no file but the names of operators tells its group. */
static bool is_untold(const struct fsl_profile_case *facts, const struct fsl_channel *channel)
{
	const struct fsl_profile_meetings *meetings = facts->meetings;
	uint32_t name_id = meetings->topology.groups[channel->group_idx].name_id;
	const char *hash = fsl_strpool_text(meetings->run.names, name_id);
	return channel->n_instances > 0 && channel->n_members >= 2 && !channel->is_p2p &&
	       fsl_profile_group_find(facts->cluster, hash, false) == SIZE_MAX;
}

static bool meets_untold(const struct fsl_profile_case *facts)
{
	size_t n = facts->meetings != NULL ? facts->meetings->match.n_channels : 0;
	for (size_t c = 0; c < n; c++) {
		if (is_untold(facts, &facts->meetings->match.channels[c])) {
			return true;
		}
	}
	return false;
}

/* Two captured ranks use one group. */
static bool is_met(const struct fsl_profile_case *facts)
{
	for (size_t g = 0; g < facts->cluster->n_groups; g++) {
		if (facts->cluster->groups[g].n_seen >= 2) {
			return true;
		}
	}
	return meets_untold(facts);
}

bool fsl_conclude_may_lack_members(const struct fsl_profile_case *facts)
{
	for (size_t g = 0; g < facts->cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &facts->cluster->groups[g];
		if (!group->is_p2p && group->n_seen >= 2 && !group->is_size_known) {
			return true;
		}
	}
	return meets_untold(facts);
}

/* A collective that took so much of the capture that its name belongs beside "normal". NULL: none.
 */
static const struct fsl_profile_finding *costly_single(const struct fsl_localisation *out,
						       const struct fsl_profile_findings *findings)
{
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		if (item->code == FSL_CODE_SINGLE_LONG_COLLECTIVE &&
		    fsl_cost_counts(item->gain_ms, out->step_ms)) {
			return item;
		}
	}
	return NULL;
}

enum fsl_status fsl_conclude_nobody(struct fsl_localisation *out,
				    const struct fsl_profile_case *facts,
				    const struct fsl_profile_findings *findings,
				    struct fsl_error *err)
{
	const struct fsl_profile_finding *late =
		fsl_conclude_first(findings, FSL_CODE_CONSISTENTLY_LATE);
	const struct fsl_profile_finding *gone =
		fsl_conclude_first(findings, FSL_CODE_GROUP_INCOMPLETE);
	const struct fsl_profile_finding *single = costly_single(out, findings);
	struct comparable ranks = count_comparable(facts->profile);
	struct fsl_phrase steps = {0};
	if (facts->cluster->n_steps <= 1) {
		fsl_phrase_add(&steps,
			       "one step was captured, what comes and goes is not seen in it");
	}
	bool is_passing = fsl_by_step_add_passing(&steps, findings);
	const char *before = steps.length > 0 ? "; " : "";
	out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	if (ranks.n < 2) {
		out->reason = fsl_arena_printf(
			&out->arena, "fewer than two ranks were %s, so that nobody can be compared",
			fsl_profile_seen_text(facts->profile));
	} else if (ranks.n_with_comms < 2) {
		out->reason = fsl_profile_source_words(facts->profile)->no_comms;
	} else if (!is_met(facts) && fsl_profile_is_kineto(facts->profile)) {
		out->reason = fsl_arena_printf(
			&out->arena,
			"no two %s ranks are known to meet in a collective (the process groups of "
			"their kernels tell), so that nobody can be seen to be late",
			fsl_profile_seen_text(facts->profile));
	} else if (!is_met(facts)) {
		out->reason = fsl_arena_printf(
			&out->arena,
			"no two %s ranks are known to meet in a collective (communication.json, "
			"level 1, tells), so that nobody can be seen to be late",
			fsl_profile_seen_text(facts->profile));
	} else if (ranks.n_with_steps < 2) {
		out->reason = fsl_profile_source_words(facts->profile)->no_steps;
	} else if (gone != NULL) {
		out->reason = fsl_arena_printf(
			&out->arena, "nobody is slow%s among the %s ranks, but %s%s%s",
			is_passing ? " all the time" : "", fsl_profile_seen_text(facts->profile),
			gone->what, before, steps.text);
	} else if (fsl_conclude_may_lack_members(facts)) {
		out->reason = fsl_arena_printf(
			&out->arena,
			"nobody is slow%s among the %s ranks, but no file tells how many members "
			"their groups have (communication_matrix.json, profiler_metadata.json): all "
			"may wait for one that was not captured%s%s",
			is_passing ? " all the time" : "", fsl_profile_seen_text(facts->profile),
			before, steps.text);
	} else {
		out->kind = FSL_VERDICT_NORMAL;
		out->reason = fsl_arena_printf(
			&out->arena, "no rank, stage or link holds the others up%s%s%s%s%s%s%s",
			is_passing || single != NULL ? " all the time" : "",
			single != NULL ? "; once, " : "", single != NULL ? single->what : "",
			late != NULL ? "; " : "", late != NULL ? late->what : "", before,
			steps.text);
	}
	return out->reason != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
}
