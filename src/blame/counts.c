/* Thresholds of findings on a capture, and the choice of its verdict. */
#include "blame/counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/sort.h"
#include "blame/limits.h"

double fsl_look_chance_max(const struct fsl_look *look, double most)
{
	return look->kind == FSL_LOOK_STEP    ? most / (double)look->n_looks
	       : look->kind == FSL_LOOK_AGAIN ? (double)INFINITY
					      : most;
}

double fsl_look_effect_min(const struct fsl_look *look, double least)
{
	static const double factors[] = {[FSL_LOOK_CAPTURE] = 1.0,
					 [FSL_LOOK_STEP] = FSL_LOOK_EFFECT_IN_STEP,
					 [FSL_LOOK_AGAIN] = FSL_LOOK_EFFECT_AGAIN};
	return factors[look->kind] * least;
}

double fsl_look_tested_min(const struct fsl_look *look, double least)
{
	return look->kind == FSL_LOOK_AGAIN ? fsl_look_effect_min(look, least) : least;
}

bool fsl_cost_counts(double cost_ms, double step_ms)
{
	return cost_ms >= FSL_CAPTURE_NAMED_SHARE_MIN * step_ms;
}

bool fsl_slow_is_named(double cost_ms, double step_ms, bool is_passing)
{
	return !is_passing || cost_ms >= FSL_CAPTURE_PASSING_SHARE_MIN * step_ms;
}

bool fsl_is_passing(bool is_of_single_steps, size_t n_seen, size_t n_steps)
{
	return is_of_single_steps || (n_steps > 0 && 2 * n_seen <= n_steps);
}

bool fsl_step_shows(double cost_ms, double mean_ms)
{
	return cost_ms >= FSL_SHOWN_IN_STEP_MIN * mean_ms;
}

double fsl_single_steps_cost(double sum_ms, size_t n_steps, double step_ms)
{
	double cost_ms = sum_ms / (double)n_steps;
	bool is_little = n_steps < 2 || cost_ms < FSL_CAPTURE_COST_SHARE_MIN * step_ms;
	return is_little ? (double)NAN : cost_ms;
}

double fsl_cost_beyond(double cost_ms, double wait_ms)
{
	return cost_ms > wait_ms ? cost_ms - wait_ms : (double)NAN;
}

void fsl_named_costs_add(struct fsl_named_costs *costs, double cost_ms, double together_ms)
{
	costs->n++;
	costs->sum_ms += cost_ms;
	costs->together_ms = fmax(costs->together_ms, isnan(together_ms) ? cost_ms : together_ms);
}

bool fsl_culprits_are_host(const struct fsl_localisation *verdict,
			   const struct fsl_profile *profile)
{
	size_t n_on_host = 0;
	if (verdict->n_culprits < 2 || *verdict->culprits[0].server_ip == '\0') {
		return false;
	}
	const char *host = verdict->culprits[0].server_ip;
	for (size_t i = 1; i < verdict->n_culprits; i++) {
		if (strcmp(verdict->culprits[i].server_ip, host) != 0) {
			return false;
		}
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_on_host += strcmp(profile->ranks[r].info.host_uid, host) == 0;
	}
	return n_on_host == verdict->n_culprits && n_on_host < profile->n_ranks;
}

/* @part FSL_PARTS_N: the whole step; @is_p2p: sends and receives instead. */
static double median_of(const struct fsl_profile *profile, enum fsl_profile_part part, bool is_p2p)
{
	double *values = fsl_calloc(2 * profile->n_ranks, sizeof(*values));
	double usual_ms = NAN;
	for (size_t r = 0; r < profile->n_ranks && values != NULL; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		values[r] = is_p2p                ? fsl_profile_p2p_ms(rank)
			    : part == FSL_PARTS_N ? fsl_profile_step_ms(rank)
						  : fsl_profile_part_ms(rank, part);
	}
	if (values != NULL) {
		usual_ms = fsl_median(values, profile->n_ranks, values + profile->n_ranks);
	}
	fsl_free(values);
	return usual_ms;
}

double fsl_usual_part_ms(const struct fsl_profile *profile, enum fsl_profile_part part)
{
	return median_of(profile, part, false);
}

struct fsl_bound fsl_bound_find(const struct fsl_profile *profile, double step_ms, double host_ms,
				bool is_whole)
{
	double computing_ms = fsl_usual_part_ms(profile, FSL_PART_COMPUTING);
	double p2p_ms = median_of(profile, FSL_PARTS_N, true);
	double exposed_ms =
		fsl_usual_part_ms(profile, FSL_PART_EXPOSED) - (isnan(p2p_ms) ? 0.0 : p2p_ms);
	bool is_alone = profile->n_ranks < 2;
	bool is_exposed = is_whole && exposed_ms > 0.0 &&
			  exposed_ms >= FSL_CAPTURE_EXPOSED_SHARE_MIN * step_ms;
	/* If members may be missing, what ranks do most may be to wait for these. */
	double more_ms = is_exposed || (!is_whole && !is_alone) ? exposed_ms : 0.0;
	host_ms =
		isfinite(host_ms) ? fmin(host_ms, fsl_usual_part_ms(profile, FSL_PART_FREE)) : 0.0;
	if (host_ms >= FSL_CAPTURE_FREE_SHARE_MIN * step_ms && host_ms > more_ms) {
		return (struct fsl_bound){FSL_VERDICT_HOST_BOUND, host_ms};
	}
	if (is_exposed) {
		return (struct fsl_bound){FSL_VERDICT_COMMUNICATION_BOUND, exposed_ms};
	}
	if (is_alone && computing_ms >= FSL_CAPTURE_COMPUTING_SHARE_MIN * step_ms) {
		return (struct fsl_bound){FSL_VERDICT_COMPUTE_BOUND, computing_ms};
	}
	return (struct fsl_bound){FSL_VERDICT_NORMAL, NAN};
}

enum fsl_capture_topic fsl_capture_topic_of(const struct fsl_capture_costs *costs, double step_ms)
{
	const bool is_found[FSL_TOPIC_NOBODY + 1] = {
		[FSL_TOPIC_RANKS] = costs->n_named > 0,
		[FSL_TOPIC_LINK] = fsl_cost_counts(costs->link_ms, step_ms),
		[FSL_TOPIC_OUTSIDE] = costs->is_outside,
		[FSL_TOPIC_STAGE] = fsl_cost_counts(costs->stage_ms, step_ms),
		[FSL_TOPIC_MORE_WORK] = costs->has_more_work,
		[FSL_TOPIC_BASELINE] = fsl_cost_counts(costs->baseline_ms, step_ms),
		[FSL_TOPIC_BOUND] = costs->bound.kind != FSL_VERDICT_NORMAL,
		[FSL_TOPIC_NOBODY] = true,
	};
	size_t topic = 0;
	while (!is_found[topic]) {
		topic++;
	}
	return (enum fsl_capture_topic)topic;
}

bool fsl_lacks_mates(const struct fsl_profile_cluster *cluster, int32_t rank)
{
	for (size_t g = 0; g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		if (!group->is_p2p && group->n_seen < group->size &&
		    bsearch(&rank, group->seen, group->n_seen, sizeof(rank), fsl_compare_i32) !=
			    NULL) {
			return true;
		}
	}
	return false;
}
