/* Puts the verdicts of a job together: which one matters most, and who has to act. */
#include "account/outcome.h"

#include "base/number.h"

/* Work that moves between ranks is told beside stalls: true if these cost more. */
static bool do_stalls_outweigh(const struct fsl_outcome *job)
{
	const struct fsl_perception *perception = job->perception;
	if (job->localisation->kind != FSL_VERDICT_WORK_IMBALANCE || perception == NULL ||
	    perception->kind != FSL_VERDICT_STALLS || job->steps == NULL) {
		return false;
	}
	double stalls_ms = 0.0;
	for (size_t i = 0; i < perception->n_stalls; i++) {
		const struct fsl_stall *stall = &perception->stalls[i];
		bool is_planned = fsl_stall_is_planned(stall->phase);
		stalls_ms += is_planned ? 0.0 : (double)stall->lost_ns / FSL_NS_PER_MS;
	}
	return stalls_ms > job->localisation->lost_ms_per_step * (double)job->steps->n_items;
}

enum fsl_verdict_kind fsl_outcome_kind(const struct fsl_outcome *job)
{
	const struct fsl_perception *perception = job->perception;
	const struct fsl_localisation *localisation = job->localisation;
	if (perception != NULL && perception->kind == FSL_VERDICT_HANG) {
		return FSL_VERDICT_HANG;
	}
	if (localisation == NULL) {
		return perception != NULL ? perception->kind : FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	}
	bool has_culprit = localisation->kind != FSL_VERDICT_NORMAL &&
			   localisation->kind != FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	bool is_of_steps = perception != NULL && (perception->kind == FSL_VERDICT_JOB_SLOWDOWN ||
						  perception->kind == FSL_VERDICT_STALLS);
	bool is_told = has_culprit && !do_stalls_outweigh(job);
	return !is_told && is_of_steps ? perception->kind : localisation->kind;
}

bool fsl_localisation_has_failed(const struct fsl_localisation *localisation)
{
	enum { RESULT_ERROR = 500 };
	return localisation != NULL && localisation->result_code == RESULT_ERROR;
}

const struct fsl_step_episode *fsl_longest_episode(const struct fsl_perception *perception)
{
	const struct fsl_step_episode *longest = NULL;
	for (size_t i = 0; perception != NULL && i < perception->n_episodes; i++) {
		const struct fsl_step_episode *episode = &perception->episodes[i];
		if (longest == NULL || episode->n_steps > longest->n_steps) {
			longest = episode;
		}
	}
	return longest;
}

bool fsl_outcome_has_healed(const struct fsl_outcome *job)
{
	const struct fsl_localisation *verdict = job->localisation;
	const struct fsl_step_episode *episode = fsl_longest_episode(job->perception);
	if (fsl_outcome_kind(job) == FSL_VERDICT_JOB_SLOWDOWN && episode != NULL) {
		return episode->until_step >= 0;
	}
	if (verdict == NULL) {
		return false;
	}
	if (verdict->n_chapters > 0 && !verdict->chapters[verdict->n_chapters - 1].is_told) {
		return true;
	}
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		if (verdict->culprits[i].until_step < 0) {
			return false;
		}
	}
	return verdict->n_culprits > 0;
}

bool fsl_outcome_has_ended(const struct fsl_outcome *job)
{
	return job->now_ns != FSL_NS_ABSENT && job->perception != NULL && job->perception->is_over;
}

/* Periodic ones, of which the last is younger than two periods. */
static bool do_stalls_recur(const struct fsl_outcome *job)
{
	const struct fsl_perception *perception = job->perception;
	const struct fsl_steps *steps = job->steps;
	int64_t last =
		steps != NULL && steps->n_items > 0 ? steps->items[steps->n_items - 1].step : 0;
	for (size_t i = 0; i < perception->n_stalls; i++) {
		const struct fsl_stall *stall = &perception->stalls[i];
		if (!fsl_stall_is_planned(stall->phase) && stall->every_steps > 0 &&
		    last - stall->last_step < 2 * stall->every_steps) {
			return true;
		}
	}
	return false;
}

enum fsl_job_state fsl_outcome_state(const struct fsl_outcome *job)
{
	enum fsl_verdict_kind kind = fsl_outcome_kind(job);
	if (fsl_localisation_has_failed(job->localisation)) {
		return FSL_STATE_UNKNOWN;
	}
	if (fsl_outcome_has_ended(job)) {
		return FSL_STATE_OVER;
	}
	if (kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE) {
		return FSL_STATE_UNKNOWN;
	}
	if (kind == FSL_VERDICT_STAGE_IMBALANCE || fsl_verdict_is_quiet(kind)) {
		return FSL_STATE_CLEAR;
	}
	if (kind == FSL_VERDICT_STALLS) {
		return do_stalls_recur(job) ? FSL_STATE_ACTIVE : FSL_STATE_OVER;
	}
	return kind != FSL_VERDICT_HANG && fsl_outcome_has_healed(job) ? FSL_STATE_OVER
								       : FSL_STATE_ACTIVE;
}
