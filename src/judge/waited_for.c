/* Waits for signals of the members of a group, put together over its captured ranks. */
#include "judge/waited_for.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "capture/step_rows.h"
#include "judge/limits.h"

static const struct fsl_waited nobody = {.place = -1, .rank = -1, .share = NAN, .ms = NAN};

/* The longest wait of one rank, and the member that it waited for. */
struct most {
	int32_t place; /* -1: too few members to tell */
	double ms;     /* per step */
};

/* Adds what @rank waited for each member to @sums [group->size], ms per step. */
static struct most add_rank(double *sums, const struct fsl_profile_rank *rank,
			    const struct fsl_profile_group *group)
{
	uint32_t id = fsl_strpool_find(rank->names, group->hash, strlen(group->hash));
	double per_ms = (double)FSL_NS_PER_MS * (double)fsl_profile_n_steps(rank);
	struct most most = {.place = -1};
	size_t n = 0;
	for (size_t i = 0; id != FSL_STR_NONE && i < rank->n_waits; i++) {
		const struct fsl_profile_signal_wait *wait = &rank->waits[i];
		if (wait->group_id != id || (size_t)wait->place >= group->size) {
			continue;
		}
		double ms = (double)wait->wait_ns / per_ms;
		n++;
		sums[wait->place] += ms;
		if (ms > most.ms) {
			most = (struct most){wait->place, ms};
		}
	}
	return n >= FSL_JUDGE_WAITED_FOR_MEMBERS_MIN ? most : (struct most){.place = -1};
}

/* @sums: [group->size], 0. */
static struct fsl_waited find(const struct fsl_profile *profile,
			      const struct fsl_profile_group *group, double *sums)
{
	struct fsl_waited waited = nobody;
	double sum_ms = 0.0;
	for (size_t i = 0; i < group->n_seen; i++) {
		const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, group->seen[i]);
		struct most most =
			rank != NULL ? add_rank(sums, rank, group) : (struct most){.place = -1};
		if (most.place < 0 || (i > 0 && most.place != waited.place)) {
			return nobody;
		}
		waited.place = most.place;
		waited.ms = fmin(waited.ms, most.ms); /* the number of the two, at first */
	}
	for (size_t k = 0; k < group->size; k++) {
		sum_ms += sums[k];
	}
	if (waited.place < 0 || !(sums[waited.place] >= FSL_JUDGE_WAITED_FOR_SHARE_MIN * sum_ms)) {
		return nobody;
	}
	waited.share = sums[waited.place] / sum_ms;
	waited.rank = fsl_profile_group_rank(group, waited.place);
	bool is_captured = waited.rank >= 0 && fsl_profile_rank_of(profile, waited.rank) != NULL;
	return is_captured ? nobody : waited;
}

enum fsl_status fsl_waited_find(struct fsl_waited *out, const struct fsl_profile *profile,
				const struct fsl_profile_group *group, struct fsl_error *err)
{
	double *sums = fsl_calloc(group->size + 1, sizeof(*sums));
	if (sums == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", group->size);
	}
	*out = find(profile, group, sums);
	fsl_free(sums);
	return FSL_OK;
}
