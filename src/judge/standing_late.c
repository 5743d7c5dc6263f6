/*
 * Lateness of ranks: detectors look at the members of a class in the collectives of a channel, and
 * what they found is pooled over channels, by the rules of judge/votes.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "judge/ask.h"
#include "judge/limits.h"
#include "judge/standing_parts.h"
#include "judge/to_windows.h"
#include "judge/votes.h"

/* The members of one class in one channel. */
struct unit {
	const struct fsl_channel *channel;
	const uint32_t *members; /* places in the channel */
	size_t n_members, class_idx;
	const struct fsl_windows *windows;
	const uint32_t *n_present; /* per window: members that came */
};

/* The detectors, and the sums over all channels. */
struct hearing {
	struct fsl_profile_standings *out;
	struct fsl_detector_config outlier, last;
	struct fsl_findings findings; /* of one unit and detector */
	uint32_t *members;            /* of one channel, by class */
	uint32_t *n_present;          /* per window of one unit */
	uint8_t *has_last;            /* per window of one unit: somebody was clearly last */
	size_t present_capacity, last_capacity;
	uint32_t **n_peers;       /* per rank: members that came, where somebody was clearly last */
	size_t *n_peers_capacity; /* per rank */
	size_t *n_judged;         /* per class: windows in which an outlier could be told */
};

static enum fsl_status hear_outliers(struct hearing *hearing, const struct unit *unit,
				     struct fsl_error *err)
{
	enum fsl_status status =
		fsl_profile_ask(&hearing->findings, &hearing->outlier, unit->windows, err);
	for (size_t i = 0; i < hearing->findings.n_items && status == FSL_OK; i++) {
		hearing->out->items[hearing->findings.items[i].rank].n_votes++;
	}
	for (size_t w = 0; w < unit->windows->n_windows; w++) {
		bool is_judged = unit->n_present[w] >= FSL_OUTLIERS_N_MIN;
		hearing->n_judged[unit->class_idx] += is_judged ? 1 : 0;
	}
	return status;
}

/* Time at which the first member of the unit came. Other members may have come long before, as the
 * ranks of a stage with less work do. */
static double first_ms(const struct fsl_windows *windows, size_t window)
{
	double first = NAN;
	for (size_t m = 0; m < windows->n_members; m++) {
		first = fmin(first, windows->values[m * windows->n_windows + window]);
	}
	return first;
}

/* Member @m of the unit was the last in a window. */
static void count_last(struct hearing *hearing, const struct unit *unit, size_t m, size_t window)
{
	const struct fsl_windows *windows = unit->windows;
	struct fsl_profile_standing *own = &hearing->out->items[windows->ranks[m]];
	int64_t dur_ns = fsl_channel_duration_ns(unit->channel, window, unit->members[m]);
	bool is_signal = dur_ns < FSL_JUDGE_SIGNAL_NS;
	double late_ms = windows->values[m * windows->n_windows + window];
	own->n_last++;
	own->n_last_signals += is_signal ? 1 : 0;
	*(is_signal ? &own->late_signal_ms : &own->late_transfer_ms) += late_ms;
	own->late_to_peers_ms += late_ms - first_ms(windows, window);
	hearing->has_last[window] = 1;
}

/* Counts the peers that a member met in the windows in which somebody was clearly last. */
static enum fsl_status count_met(struct hearing *hearing, const struct unit *unit, size_t m,
				 struct fsl_error *err)
{
	size_t r = (size_t)unit->windows->ranks[m], n_windows = unit->windows->n_windows;
	size_t *n_met = &hearing->out->items[r].n_met;
	const double *values = unit->windows->values + m * n_windows;
	enum fsl_status status = FSL_GROW(hearing->n_peers[r], hearing->n_peers_capacity[r],
					  *n_met + n_windows, err);
	for (size_t w = 0; w < n_windows && status == FSL_OK; w++) {
		if (hearing->has_last[w] != 0 && !isnan(values[w])) {
			hearing->n_peers[r][(*n_met)++] = unit->n_present[w];
		}
	}
	return status;
}

static enum fsl_status hear_last(struct hearing *hearing, const struct unit *unit,
				 struct fsl_error *err)
{
	const struct fsl_windows *windows = unit->windows;
	enum fsl_status status = fsl_profile_ask(&hearing->findings, &hearing->last, windows, err);
	memset(hearing->has_last, 0, windows->n_windows);
	/* Findings and members both ascend by rank. */
	for (size_t i = 0, m = 0; i < hearing->findings.n_items && status == FSL_OK; i++) {
		const struct fsl_finding *finding = &hearing->findings.items[i];
		while (windows->ranks[m] != finding->rank) {
			m++;
		}
		count_last(hearing, unit, m, finding->window_begin);
	}
	for (size_t m = 0; m < windows->n_members && status == FSL_OK; m++) {
		status = count_met(hearing, unit, m, err);
	}
	return status;
}

/* @all: windows of the channel, of which the unit has some members or all. */
static enum fsl_status hear_unit(struct hearing *hearing, const struct unit *members,
				 const struct fsl_windows *all, struct fsl_error *err)
{
	struct fsl_windows picked = {0};
	bool is_part = members->n_members < all->n_members;
	struct unit unit = *members;
	enum fsl_status status =
		FSL_GROW(hearing->n_present, hearing->present_capacity, all->n_windows, err);
	if (status == FSL_OK) {
		status = FSL_GROW(hearing->has_last, hearing->last_capacity, all->n_windows, err);
	}
	if (status == FSL_OK && is_part) {
		status = fsl_profile_pick_windows(&picked, all, unit.members, unit.n_members, err);
	}
	if (status == FSL_OK) {
		unit.windows = is_part ? &picked : all;
		fsl_profile_count_members(unit.windows, hearing->n_present);
		unit.n_present = hearing->n_present;
		status = hear_outliers(hearing, &unit, err);
	}
	if (status == FSL_OK) {
		status = hear_last(hearing, &unit, err);
	}
	fsl_windows_fini(&picked);
	return status;
}

/* Context for sorting the members of a channel. */
struct order {
	const struct fsl_channel *channel;
	const uint32_t *class_of;
};

static uint32_t class_of(const struct order *order, uint32_t member)
{
	return order->class_of[order->channel->members[member]];
}

static int compare_classes(const void *left, const void *right, void *context)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int by_class = FSL_ORDER(class_of(context, a), class_of(context, b));
	return by_class != 0 ? by_class : FSL_ORDER(a, b);
}

static enum fsl_status hear_channel(struct hearing *hearing, const struct fsl_channel *channel,
				    const struct fsl_run *run, struct fsl_error *err)
{
	struct order order = {channel, hearing->out->class_of};
	uint32_t *members = hearing->members;
	size_t n = channel->n_members;
	struct fsl_windows all = {0};
	enum fsl_status status = fsl_channel_lateness(&all, channel, run, err);
	for (size_t m = 0; m < n; m++) {
		members[m] = (uint32_t)m;
	}
	qsort_r(members, n, sizeof(*members), compare_classes, &order);
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		uint32_t class_idx = class_of(&order, members[begin]);
		for (end = begin; end < n && class_of(&order, members[end]) == class_idx;) {
			end++;
		}
		struct unit unit = {.channel = channel,
				    .members = members + begin,
				    .n_members = end - begin,
				    .class_idx = class_idx};
		status = unit.n_members >= 2 ? hear_unit(hearing, &unit, &all, err) : FSL_OK;
	}
	fsl_windows_fini(&all);
	return status;
}

static enum fsl_status hearing_init(struct hearing *hearing, struct fsl_profile_standings *out,
				    struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n = out->n + 1;
	*hearing = (struct hearing){
		.out = out,
		.members = fsl_arena_alloc(arena, n * sizeof(*hearing->members)),
		.n_peers = fsl_arena_alloc(arena, n * sizeof(*hearing->n_peers)),
		.n_peers_capacity = fsl_arena_alloc(arena, n * sizeof(size_t)),
		.n_judged = fsl_arena_alloc(arena, out->n_classes * sizeof(size_t)),
	};
	if (hearing->members == NULL || hearing->n_peers == NULL ||
	    hearing->n_peers_capacity == NULL || hearing->n_judged == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	enum fsl_status status =
		fsl_profile_detector(&hearing->outlier, "GeneralizedESD", NULL, arena, err);
	return status == FSL_OK
		       ? fsl_profile_detector(&hearing->last, "LastArrival", NULL, arena, err)
		       : status;
}

static void hearing_fini(struct hearing *hearing)
{
	for (size_t r = 0; r < hearing->out->n && hearing->n_peers != NULL; r++) {
		fsl_free(hearing->n_peers[r]);
	}
	fsl_free(hearing->has_last);
	fsl_free(hearing->n_present);
	fsl_findings_fini(&hearing->findings);
}

/* Steps of which lateness could be heard: not those whose collectives were all left out, as others
 * did not capture them. */
static double n_heard_steps(const struct fsl_profile_rank *rank, const struct fsl_rank *heard)
{
	size_t n_had = 0, n_left = 0;
	int64_t step = FSL_STEP_ABSENT;
	for (size_t c = 0; c < rank->n_comms; c++) { /* sorted by step */
		if (!rank->comms[c].is_p2p && rank->comms[c].step != step) {
			step = rank->comms[c].step;
			n_had++;
		}
	}
	step = FSL_STEP_ABSENT;
	for (size_t i = 0; i < heard->n_ops; i++) { /* sorted by time */
		const struct fsl_profile_comm *comm = &rank->comms[heard->ops[i].id];
		if (!comm->is_p2p && comm->step != step) {
			step = comm->step;
			n_left++;
		}
	}
	size_t n_steps = fsl_profile_n_steps(rank), n_lost = n_had > n_left ? n_had - n_left : 0;
	return n_left > 0 && n_steps > n_lost ? (double)(n_steps - n_lost) : (double)n_steps;
}

/* Sums become means per step, counts become chances. */
static void pool(const struct hearing *hearing, const struct fsl_profile *profile,
		 const struct fsl_run *run)
{
	struct fsl_profile_standings *out = hearing->out;
	for (size_t r = 0; r < out->n; r++) {
		struct fsl_profile_standing *own = &out->items[r];
		double n_steps = n_heard_steps(&profile->ranks[r], &run->ranks[r]);
		own->late_signal_ms /= n_steps;
		own->late_transfer_ms /= n_steps;
		own->late_to_peers_ms /= n_steps;
		own->p_last = fmin(1.0, (double)out->n * fsl_last_p(hearing->n_peers[r], own->n_met,
								    own->n_last));
		own->p_votes = fsl_votes_p(hearing->n_judged[out->class_of[r]], own->n_votes);
	}
}

enum fsl_status fsl_standing_hear_lateness(struct fsl_profile_standings *out,
					   const struct fsl_profile *profile,
					   const struct fsl_profile_meetings *meetings,
					   struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct hearing hearing;
	enum fsl_status status = hearing_init(&hearing, out, &arena, err);
	for (size_t c = 0; c < meetings->match.n_channels && status == FSL_OK; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		if (channel->n_instances > 0 && fsl_meeting_tells_lateness(meetings, channel)) {
			status = hear_channel(&hearing, channel, &meetings->run, err);
		}
	}
	if (status == FSL_OK) {
		pool(&hearing, profile, &meetings->run);
	}
	hearing_fini(&hearing);
	fsl_arena_fini(&arena);
	return status;
}
