/* Standing of the ranks: classes of equal work, lateness in collectives, own time. */
#include "profile/standing.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "profile/step_rows.h"
#include "profile/votes.h"

/* Collectives that are over so soon move next to nothing. */
static const int64_t SIGNAL_NS = INT64_C(1000000);
/* Two that come closer together than this come at the same time. */
static const int64_t TIE_NS = INT64_C(1000);
/* Spread of durations that clocks and the engine of the device make. */
static const double LEAST_SIGMA_NS = 10000.0;
/* Spread of compute time between devices that are alike, as a share. */
static const double LEAST_COMPUTING_SIGMA = 0.002;

/* What is needed while collectives are gone through. */
struct tally {
	const struct fsl_profile_meetings *meetings;
	struct fsl_profile_standings *out;
	struct fsl_indexed *votes; /* [n ranks] members of one class in one collective */
	uint32_t **n_peers;        /* per rank: size of each class that it met in */
	size_t *n_peers_capacity;  /* per rank */
	size_t *n_voted_on;        /* per class */
};

double fsl_profile_longest_step_ms(const struct fsl_profile *profile)
{
	double step_ms = NAN;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		step_ms = fmax(step_ms, fsl_profile_step_ms(&profile->ranks[r]));
	}
	return step_ms;
}

size_t fsl_profile_most_steps(const struct fsl_profile *profile)
{
	size_t most = 1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n = fsl_profile_n_steps(&profile->ranks[r]);
		most = n > most ? n : most;
	}
	return most;
}

double fsl_profile_p2p_ms(const struct fsl_profile_rank *rank)
{
	double sum_ns = 0.0;
	for (size_t c = 0; c < rank->n_comms; c++) {
		bool is_counted = rank->comms[c].is_p2p && rank->comms[c].elapse_ns > 0;
		sum_ns += is_counted ? (double)rank->comms[c].elapse_ns : 0.0;
	}
	return rank->n_comms > 0 ? sum_ns / FSL_NS_PER_MS / (double)fsl_profile_n_steps(rank) : NAN;
}

/* Stages are classes; ranks of none of them are one more. */
static enum fsl_status classify(struct fsl_profile_standings *out,
				const struct fsl_profile *profile,
				const struct fsl_profile_cluster *cluster, struct fsl_error *err)
{
	size_t n = profile->n_ranks, at = 0;
	out->n_classes = cluster->n_stages + 1;
	out->members = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->members));
	out->class_of = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->class_of));
	out->begin = fsl_arena_alloc(&out->arena, (out->n_classes + 1) * sizeof(*out->begin));
	out->items = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->items));
	if (out->members == NULL || out->class_of == NULL || out->begin == NULL ||
	    out->items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	out->n = n;
	for (size_t r = 0; r < n; r++) {
		size_t stage = fsl_profile_stage_of(cluster, profile->ranks[r].rank);
		out->class_of[r] = (uint32_t)(stage != SIZE_MAX ? stage : cluster->n_stages);
	}
	for (size_t k = 0; k < out->n_classes; k++) {
		out->begin[k] = at;
		for (size_t r = 0; r < n; r++) {
			if (out->class_of[r] == k) {
				out->members[at++] = (uint32_t)r;
			}
		}
	}
	out->begin[out->n_classes] = at;
	return FSL_OK;
}

/* One class in one collective: tally->votes[0, n) sorted by duration, shortest (last) first. */
static enum fsl_status tally_class(struct tally *tally, size_t n, int64_t longest_ns,
				   struct fsl_error *err)
{
	const struct fsl_indexed *votes = tally->votes;
	uint32_t last = votes[0].idx;
	if (votes[1].value - votes[0].value < (double)TIE_NS) {
		return FSL_OK;
	}
	for (size_t i = 0; i < n; i++) {
		struct fsl_profile_standing *peer = &tally->out->items[votes[i].idx];
		uint32_t **sizes = &tally->n_peers[votes[i].idx];
		size_t *capacity = &tally->n_peers_capacity[votes[i].idx];
		enum fsl_status status = FSL_GROW(*sizes, *capacity, peer->n_met + 1, err);
		if (status != FSL_OK) {
			return status;
		}
		(*sizes)[peer->n_met++] = (uint32_t)n;
	}
	struct fsl_profile_standing *own = &tally->out->items[last];
	bool is_signal = votes[0].value < (double)SIGNAL_NS;
	double late_ms = ((double)longest_ns - votes[0].value) / FSL_NS_PER_MS;
	own->n_last++;
	own->n_last_signals += is_signal ? 1 : 0;
	*(is_signal ? &own->late_signal_ms : &own->late_transfer_ms) += late_ms;
	return FSL_OK;
}

/* The members of an instance that are of class @k; returns how many. */
static size_t gather(const struct tally *tally, const struct fsl_channel *channel, size_t instance,
		     size_t k)
{
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		if (dur_ns >= 0 && tally->out->class_of[channel->members[m]] == k) {
			tally->votes[n++] =
				(struct fsl_indexed){(double)dur_ns, channel->members[m]};
		}
	}
	return n;
}

static enum fsl_status tally_instance(struct tally *tally, const struct fsl_channel *channel,
				      size_t instance, struct fsl_error *err)
{
	struct fsl_profile_standings *out = tally->out;
	enum fsl_status status = FSL_OK;
	int64_t longest_ns = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		longest_ns = dur_ns > longest_ns ? dur_ns : longest_ns;
	}
	for (size_t k = 0; k < out->n_classes && status == FSL_OK; k++) {
		size_t n = gather(tally, channel, instance, k);
		fsl_indexed_sort(tally->votes, n);
		size_t n_votes =
			fsl_outliers_low(tally->votes, n, FSL_VOTES_ALPHA, LEAST_SIGMA_NS, NULL);
		tally->n_voted_on[k] += n >= FSL_OUTLIERS_N_MIN ? 1 : 0;
		for (size_t i = 0; i < n_votes; i++) {
			out->items[tally->votes[i].idx].n_votes++;
		}
		if (n >= 2) {
			status = tally_class(tally, n, longest_ns, err);
		}
	}
	return status;
}

static void finish_lateness(const struct tally *tally, const struct fsl_profile *profile)
{
	struct fsl_profile_standings *out = tally->out;
	for (size_t r = 0; r < out->n; r++) {
		struct fsl_profile_standing *own = &out->items[r];
		double n_steps = (double)fsl_profile_n_steps(&profile->ranks[r]);
		own->late_signal_ms /= n_steps;
		own->late_transfer_ms /= n_steps;
		own->p_last = fmin(1.0, (double)out->n * fsl_last_p(tally->n_peers[r], own->n_met,
								    own->n_last));
		own->p_votes = fsl_votes_p(tally->n_voted_on[out->class_of[r]], own->n_votes);
	}
}

static enum fsl_status measure_lateness(struct fsl_profile_standings *out,
					const struct fsl_profile *profile,
					const struct fsl_profile_meetings *meetings,
					struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n = out->n + 1;
	struct tally tally = {.meetings = meetings,
			      .out = out,
			      .votes = fsl_arena_alloc(&scratch, n * sizeof(*tally.votes)),
			      .n_peers = fsl_arena_alloc(&scratch, n * sizeof(*tally.n_peers)),
			      .n_peers_capacity = fsl_arena_alloc(&scratch, n * sizeof(size_t)),
			      .n_voted_on =
				      fsl_arena_alloc(&scratch, out->n_classes * sizeof(size_t))};
	bool is_short = tally.votes == NULL || tally.n_peers == NULL ||
			tally.n_peers_capacity == NULL || tally.n_voted_on == NULL;
	enum fsl_status status =
		is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n) : FSL_OK;
	for (size_t c = 0; c < meetings->match.n_channels && status == FSL_OK; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		size_t n_instances =
			fsl_meeting_tells_lateness(meetings, channel) ? channel->n_instances : 0;
		for (size_t i = 0; i < n_instances && status == FSL_OK; i++) {
			status = tally_instance(&tally, channel, i, err);
		}
	}
	if (status == FSL_OK) {
		finish_lateness(&tally, profile);
	}
	for (size_t r = 0; r < out->n && tally.n_peers != NULL; r++) {
		fsl_free(tally.n_peers[r]);
	}
	fsl_arena_fini(&scratch);
	return status;
}

/* How much more each member of a class has than its peers: than their median without itself where
 * they are few, than that of all else. @values per member; @more likewise. */
static void compare_members(double *more, const double *values, size_t n, double *scratch)
{
	double median = fsl_median(values, n, scratch);
	for (size_t i = 0; i < n; i++) {
		double others = median;
		if (n < FSL_OUTLIERS_N_MIN) {
			double rest[FSL_OUTLIERS_N_MIN];
			size_t n_rest = 0;
			for (size_t j = 0; j < n; j++) {
				if (j != i) {
					rest[n_rest++] = values[j];
				}
			}
			others = n_rest > 0 ? fsl_median(rest, n_rest, scratch) : NAN;
		}
		more[i] = values[i] - others;
	}
}

/* Members that compute longer than so many alike ever do. */
static void mark_outliers(struct fsl_profile_standings *out, const uint32_t *members, size_t n,
			  struct fsl_indexed *votes)
{
	size_t n_known = 0;
	double median = 0.0;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_profile_standing *own = &out->items[members[i]];
		if (!isnan(own->computing_ms)) {
			/* Low outliers are looked for. */
			votes[n_known++] = (struct fsl_indexed){-own->computing_ms, members[i]};
			median = own->computing_median_ms;
		}
	}
	fsl_indexed_sort(votes, n_known);
	size_t n_late = fsl_outliers_low(votes, n_known, FSL_VOTES_ALPHA,
					 fmax(LEAST_COMPUTING_SIGMA * median, 1e-9), NULL);
	for (size_t i = 0; i < n_late; i++) {
		out->items[votes[i].idx].is_computing_outlier = true;
	}
}

/* Own time of the members of one class; @work: 3 per member. */
static void measure_class(struct fsl_profile_standings *out, const struct fsl_profile *profile,
			  size_t k, double *work, struct fsl_indexed *votes)
{
	const uint32_t *members = out->members + out->begin[k];
	size_t n = out->begin[k + 1] - out->begin[k];
	double *values = work, *more = work + n, *scratch = work + 2 * n;
	for (size_t i = 0; i < n; i++) {
		struct fsl_profile_standing *own = &out->items[members[i]];
		own->step_ms = fsl_profile_step_ms(&profile->ranks[members[i]]);
		own->computing_ms =
			fsl_profile_part_ms(&profile->ranks[members[i]], FSL_PART_COMPUTING);
		own->n_peers = n;
		values[i] = own->computing_ms;
	}
	double median = n > 0 ? fsl_median(values, n, scratch) : NAN;
	compare_members(more, values, n, scratch);
	for (size_t i = 0; i < n; i++) {
		out->items[members[i]].computing_more_ms = more[i];
		out->items[members[i]].computing_median_ms = median;
		values[i] = fsl_profile_part_ms(&profile->ranks[members[i]], FSL_PART_FREE);
	}
	compare_members(more, values, n, scratch);
	for (size_t i = 0; i < n; i++) {
		out->items[members[i]].free_more_ms = more[i];
		values[i] = fsl_profile_p2p_ms(&profile->ranks[members[i]]);
	}
	compare_members(more, values, n, scratch);
	for (size_t i = 0; i < n; i++) {
		out->items[members[i]].p2p_more_ms = more[i];
	}
	mark_outliers(out, members, n, votes);
}

static enum fsl_status measure_own(struct fsl_profile_standings *out,
				   const struct fsl_profile *profile, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	double *work = fsl_arena_alloc(&scratch, 3 * (out->n + 1) * sizeof(*work));
	struct fsl_indexed *votes = fsl_arena_alloc(&scratch, (out->n + 1) * sizeof(*votes));
	if (work == NULL || votes == NULL) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n);
	}
	for (size_t k = 0; k < out->n_classes; k++) {
		measure_class(out, profile, k, work, votes);
	}
	fsl_arena_fini(&scratch);
	return FSL_OK;
}

enum fsl_status fsl_profile_stand(struct fsl_profile_standings *out,
				  const struct fsl_profile *profile,
				  const struct fsl_profile_cluster *cluster,
				  const struct fsl_profile_meetings *meetings,
				  struct fsl_error *err)
{
	*out = (struct fsl_profile_standings){0};
	enum fsl_status status = classify(out, profile, cluster, err);
	if (status == FSL_OK) {
		status = measure_own(out, profile, err);
	}
	if (status == FSL_OK) {
		status = measure_lateness(out, profile, meetings, err);
	}
	if (status != FSL_OK) {
		fsl_profile_standings_fini(out);
	}
	return status;
}

void fsl_profile_standings_fini(struct fsl_profile_standings *standings)
{
	fsl_arena_fini(&standings->arena);
	*standings = (struct fsl_profile_standings){0};
}
