/*
 * Finds ranks that hold other ranks up. A slow rank, compared with the ranks that do the same work,
 * is late in their collectives and has more own time. A rank that is late and has no own time that
 * explains it waits for another rank.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <failslow/stats.h>

#include "judge/finding.h"
#include "judge/kernel_peers.h"
#include "judge/limits.h"
#include "judge/standing.h"

enum { TEXT_MAX = 640 };

/* Facts about one rank. */
struct suspicion {
	const struct fsl_profile_standing *own;
	double late_ms;     /* per step */
	double own_more_ms; /* computing and free beyond its peers; NaN: not told */
	double cost_ms;     /* per step, as far as own time explains it */
	bool is_proved;     /* not by chance */
};

static struct suspicion suspect(const struct fsl_profile_case *facts,
				const struct fsl_profile_standing *own)
{
	struct suspicion s = {.own = own, .late_ms = own->late_signal_ms + own->late_transfer_ms};
	s.own_more_ms = own->computing_more_ms + own->free_more_ms;
	s.cost_ms = isnan(s.own_more_ms) ? s.late_ms : fmax(0.0, fmin(s.late_ms, s.own_more_ms));
	s.is_proved = own->p_last < fsl_profile_chance_max(facts, FSL_JUDGE_LAST_P_MAX) ||
		      own->p_votes < fsl_profile_chance_max(facts, FSL_JUDGE_VOTES_P_MAX);
	return s;
}

/* Among few peers: it has this much more than the longest of the others. Two or three are compared
 * with their median alone. */
static bool stands_alone(const struct fsl_profile_standing *own, double above_ms, double least_ms)
{
	return own->n_peers < FSL_OUTLIERS_N_MIN ||
	       (own->n_peers < FSL_JUDGE_FEW_PEERS && above_ms >= least_ms);
}

/* True if the rank computes longer than its peers and they wait for it. If no collective shows that
 * they belong to one job and wait, only an outlier among several ranks counts. */
static bool computes_longer(const struct fsl_profile_case *facts, const struct suspicion *s)
{
	const struct fsl_profile_standing *own = s->own;
	double peers_ms = own->computing_ms - own->computing_more_ms;
	double more_min_ms = fsl_profile_effect_min(facts, FSL_JUDGE_COMPUTING_MORE_MIN) * peers_ms;
	bool is_alone = stands_alone(own, own->computing_above_ms, more_min_ms);
	bool is_outlier = own->is_computing_outlier || (is_alone && own->n_met > 0) ||
			  facts->look == FSL_LOOK_AGAIN;
	bool is_late = own->n_met == 0 ||
		       s->late_ms >= FSL_JUDGE_SHOWN_AS_LATE_MIN * own->computing_more_ms;
	bool is_free_for_it = s->own_more_ms < FSL_JUDGE_SHOWN_AS_LATE_MIN * own->computing_more_ms;
	return own->n_peers >= 2 && is_outlier && is_late && !is_free_for_it &&
	       own->computing_more_ms >=
		       fsl_profile_effect_min(facts, FSL_JUDGE_NAMED_SHARE_MIN) * own->step_ms &&
	       own->computing_more_ms >= more_min_ms;
}

/* True if the rank is free longer than its peers and they wait for it: its host holds them up, even
 * if only in one collective of a step. */
static bool idles_longer(const struct fsl_profile_case *facts, const struct suspicion *s)
{
	const struct fsl_profile_standing *own = s->own;
	double more_min_ms = fsl_profile_effect_min(facts, FSL_JUDGE_FREE_MORE_MIN) * own->step_ms;
	bool is_alone = stands_alone(own, own->free_above_ms, more_min_ms);
	bool is_outlier = own->is_free_outlier || is_alone || facts->look == FSL_LOOK_AGAIN;
	return own->n_peers >= 2 && own->n_met > 0 && is_outlier &&
	       own->late_to_peers_ms >= FSL_JUDGE_EXPLAINED_SHARE_MIN * own->free_more_ms &&
	       fmin(own->free_more_ms, s->own_more_ms) >= more_min_ms;
}

/* How long its peers wait for it: lateness to collectives beside kernels is counted in each of
 * them, but holds nobody up until all kernels are done. */
static double waited_for_ms(const struct fsl_profile_standing *own)
{
	return fmin(own->late_to_peers_ms, own->exposed_median_ms);
}

static void add_evidence(struct fsl_profile_finding *finding, const struct suspicion *s)
{
	const struct fsl_profile_standing *own = s->own;
	const struct fsl_fact facts[] = {
		fsl_fact_of(FSL_FACT_LATE, s->late_ms),
		fsl_fact_of(FSL_FACT_LATE_TO_SIGNALS, own->late_signal_ms),
		{"late_to_transfers", own->late_transfer_ms, "ms"},
		{"step", own->step_ms, "ms"},
		fsl_fact_of(FSL_FACT_LAST, (double)own->n_last),
		fsl_fact_of(FSL_FACT_COLLECTIVES, (double)own->n_met),
		{"chance_to_be_last", own->p_last, "share"},
		{"votes", (double)own->n_votes, "count"},
		{"computing", own->computing_ms, "ms"},
		{"computing_more", own->computing_more_ms, "ms"},
		{"free_more", own->free_more_ms, "ms"},
		{"p2p_more", own->p2p_more_ms, "ms"},
		{"peers", (double)own->n_peers, "count"},
	};
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!isnan(facts[i].value)) {
			(void)fsl_profile_finding_add_fact(finding, facts[i].name, facts[i].value,
							   facts[i].unit);
		}
	}
}

/* "its compute time is the same (57.5 ms, +0.20 %), its idle time 15.8 ms longer" */
static void describe_own(char *text, size_t size, const struct fsl_profile_standing *own)
{
	double peers_ms = own->computing_ms - own->computing_more_ms;
	if (isnan(own->computing_more_ms) || isnan(own->free_more_ms) || peers_ms <= 0.0) {
		(void)snprintf(text, size, "nothing tells what it does on its own");
		return;
	}
	double more = own->computing_ms / peers_ms - 1.0;
	const char *compared = fabs(more) < 0.01 ? "the same" : more > 0.0 ? "longer" : "shorter";
	int n = snprintf(text, size, "its compute time is %s (%.1f ms, %+.2f %%), its idle time ",
			 compared, own->computing_ms, 100.0 * more);
	if (n < 0 || (size_t)n >= size) {
		return;
	}
	if (fabs(own->free_more_ms) < FSL_JUDGE_MENTION_SHARE_MIN * own->step_ms) {
		(void)snprintf(text + n, size - (size_t)n, "the same");
		return;
	}
	(void)snprintf(text + n, size - (size_t)n, "%.1f ms %s", fabs(own->free_more_ms),
		       own->free_more_ms > 0.0 ? "longer" : "shorter");
}

static const char *const look_at_host =
	"look at what its host does before these collectives: it hands work to the device later "
	"than its peers' hosts (affinity, other processes, garbage collection, data loading)";
static const char *const look_at_device =
	"compare its kernels of the same shapes and the frequency of its cores with its peers'; "
	"with equal shapes test the device, with others spread the work evenly";
static const char *const look_at_work =
	"spread the work evenly (layers, experts, lengths of sequences); the device is not at fault";
static const char *const look_elsewhere =
	"no own time explains it: look at whom it waits for, and at its links";

static const char *advice_for(const struct suspicion *s)
{
	if (isnan(s->own_more_ms) || s->own_more_ms < FSL_JUDGE_EXPLAINED_SHARE_MIN * s->late_ms) {
		return look_elsewhere;
	}
	return s->own->computing_more_ms >= s->own->free_more_ms ? look_at_device : look_at_host;
}

static enum fsl_status add(struct fsl_profile_findings *findings, enum fsl_code code, int32_t rank,
			   const struct suspicion *s, double gain_ms, const char *what,
			   const char *advice, struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(code);
	finding.rank = rank;
	finding.gain_ms = gain_ms;
	finding.what = what;
	finding.advice = advice;
	add_evidence(&finding, s);
	return fsl_profile_findings_add(findings, &finding, err);
}

/* "in 9 of 9 collectives, 13.1 ms of 810.2 ms a step (1.6 %), and 6.6 ms before transfers" */
static void describe_lateness(char *text, size_t size, const struct fsl_profile_standing *own)
{
	bool has_signals = own->late_signal_ms > 0.0;
	double first_ms = has_signals ? own->late_signal_ms : own->late_transfer_ms;
	int n = snprintf(text, size, "in %zu of %zu collectives, %.1f ms", own->n_last, own->n_met,
			 first_ms);
	if (!isnan(own->step_ms) && own->step_ms > 0.0 && n > 0 && (size_t)n < size) {
		n += snprintf(text + n, size - (size_t)n, " of %.1f ms a step (%.1f %%)",
			      own->step_ms, 100.0 * first_ms / own->step_ms);
	}
	if (has_signals && own->late_transfer_ms > 0.0 && n > 0 && (size_t)n < size) {
		(void)snprintf(text + n, size - (size_t)n, " and %.1f ms before transfers",
			       own->late_transfer_ms);
	}
}

static enum fsl_status add_slow(struct fsl_profile_findings *findings, int32_t rank,
				const struct suspicion *s, bool is_compute, struct fsl_error *err)
{
	char own_text[TEXT_MAX], late_text[TEXT_MAX], what[3 * TEXT_MAX];
	enum fsl_code code = FSL_CODE_SLOW_RANK_HOST;
	if (is_compute) {
		code = FSL_CODE_SLOW_RANK_COMPUTE;
	} else if (isnan(s->own_more_ms)) {
		code = FSL_CODE_SLOW_RANK_UNEXPLAINED;
	}
	describe_own(own_text, sizeof(own_text), s->own);
	describe_lateness(late_text, sizeof(late_text), s->own);
	double gain_ms = s->cost_ms;
	if (s->own->n_met == 0) {
		gain_ms = s->own->computing_more_ms;
		(void)snprintf(what, sizeof(what),
			       "rank %d is slow: %s; no collective with its peers "
			       "was captured",
			       (int)rank, own_text);
	} else {
		(void)snprintf(what, sizeof(what), "rank %d holds its %zu peers up: last %s; %s",
			       (int)rank, s->own->n_peers - 1, late_text, own_text);
	}
	return add(findings, code, rank, s, gain_ms, what,
		   is_compute ? look_at_device : advice_for(s), err);
}

static enum fsl_status add_late(struct fsl_profile_findings *findings, int32_t rank,
				const struct suspicion *s, struct fsl_error *err)
{
	char own_text[TEXT_MAX], late_text[TEXT_MAX], what[3 * TEXT_MAX];
	describe_own(own_text, sizeof(own_text), s->own);
	describe_lateness(late_text, sizeof(late_text), s->own);
	(void)snprintf(what, sizeof(what), "rank %d is slightly but consistently late: last %s; %s",
		       (int)rank, late_text, own_text);
	double signal_ms = s->own->late_signal_ms;
	return add(findings, FSL_CODE_CONSISTENTLY_LATE, rank, s,
		   signal_ms > 0.0 ? fmin(signal_ms, s->cost_ms) : s->cost_ms, what, advice_for(s),
		   err);
}

static enum fsl_status add_victim(struct fsl_profile_findings *findings, int32_t rank,
				  const struct suspicion *s, struct fsl_error *err)
{
	char own_text[TEXT_MAX], late_text[TEXT_MAX], what[3 * TEXT_MAX];
	bool waits = s->own->p2p_more_ms >= FSL_JUDGE_EXPLAINED_SHARE_MIN * s->late_ms;
	describe_own(own_text, sizeof(own_text), s->own);
	describe_lateness(late_text, sizeof(late_text), s->own);
	(void)snprintf(what, sizeof(what), "rank %d is late, not slow: last %s, but %s%s",
		       (int)rank, late_text, own_text,
		       waits ? "; it waits for its neighbour in the pipeline" : "");
	return add(findings, FSL_CODE_LATE_VICTIM, rank, s, (double)NAN, what, look_elsewhere, err);
}

static enum fsl_status add_work(struct fsl_profile_findings *findings, int32_t rank,
				const struct suspicion *s, struct fsl_error *err)
{
	char own_text[TEXT_MAX], late_text[TEXT_MAX], what[3 * TEXT_MAX];
	describe_own(own_text, sizeof(own_text), s->own);
	describe_lateness(late_text, sizeof(late_text), s->own);
	(void)snprintf(what, sizeof(what),
		       "rank %d has more to do than its %zu peers: %s; its kernels are as fast as "
		       "theirs; last %s",
		       (int)rank, s->own->n_peers - 1, own_text, late_text);
	return add(findings, FSL_CODE_MORE_WORK, rank, s,
		   s->own->n_met > 0 ? s->cost_ms : s->own->computing_more_ms, what, look_at_work,
		   err);
}

/* Same kernels explain little of what it computes longer: it has more of them, or larger ones.
 * @peers: made for the first rank that asks, and owned by the caller. */
static enum fsl_status compare_work(bool *has_more, struct fsl_kernel_peers **peers,
				    const struct fsl_profile_case *facts, size_t r,
				    const struct fsl_profile_standing *own, struct fsl_error *err)
{
	if (*peers == NULL) {
		size_t n = facts->profile->n_ranks;
		*peers = fsl_calloc(n, sizeof(**peers));
		enum fsl_status status =
			*peers != NULL
				? fsl_kernel_peers_compare(*peers, facts->profile, facts->cluster,
							   err)
				: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
		if (status != FSL_OK) {
			return status;
		}
	}
	const struct fsl_kernel_peers *kernels = &(*peers)[r];
	*has_more = kernels->compared_ms >= FSL_JUDGE_COMPARED_SHARE_MIN * own->computing_ms &&
		    kernels->excess_ms < FSL_JUDGE_EXPLAINED_SHARE_MIN * own->computing_more_ms;
	return FSL_OK;
}

static enum fsl_status judge_rank(struct fsl_profile_findings *findings,
				  struct fsl_kernel_peers **peers,
				  const struct fsl_profile_case *facts, size_t r,
				  const struct fsl_profile_standing *own, struct fsl_error *err)
{
	struct suspicion s = suspect(facts, own);
	int32_t rank = facts->profile->ranks[r].rank;
	double slow_share = fsl_profile_tested_min(facts, FSL_JUDGE_NAMED_SHARE_MIN);
	double step_ms = isnan(own->step_ms) ? INFINITY : own->step_ms;
	bool is_compute = computes_longer(facts, &s);
	if (is_compute || idles_longer(facts, &s) ||
	    (s.is_proved && s.cost_ms >= slow_share * step_ms)) {
		bool has_more = false;
		is_compute = is_compute || own->computing_more_ms >= own->free_more_ms;
		enum fsl_status status =
			is_compute ? compare_work(&has_more, peers, facts, r, own, err) : FSL_OK;
		if (status != FSL_OK) {
			return status;
		}
		return has_more ? add_work(findings, rank, &s, err)
				: add_slow(findings, rank, &s, is_compute, err);
	}
	double waited_ms = waited_for_ms(own);
	if (s.is_proved && waited_ms >= slow_share * step_ms &&
	    s.own_more_ms < FSL_JUDGE_EXPLAINED_SHARE_MIN * waited_ms) {
		return add_victim(findings, rank, &s, err);
	}
	if (s.is_proved &&
	    s.cost_ms >= fsl_profile_tested_min(facts, FSL_JUDGE_MENTION_SHARE_MIN) * step_ms) {
		return add_late(findings, rank, &s, err);
	}
	return FSL_OK;
}

/* Two members of the channel do the same work. */
static bool has_peers(const struct fsl_profile_standings *standings,
		      const struct fsl_channel *channel)
{
	for (size_t m = 1; m < channel->n_members; m++) {
		for (size_t k = 0; k < m; k++) {
			if (standings->class_of[channel->members[m]] ==
			    standings->class_of[channel->members[k]]) {
				return true;
			}
		}
	}
	return false;
}

/* Whether anybody could be seen to be late, be it that nobody was. */
static bool is_lateness_told(const struct fsl_profile_standings *standings,
			     const struct fsl_profile_meetings *meetings)
{
	for (size_t c = 0; c < meetings->match.n_channels; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		if (channel->n_instances > 0 && fsl_meeting_tells_lateness(meetings, channel) &&
		    has_peers(standings, channel)) {
			return true;
		}
	}
	return false;
}

/* Tells why the lateness of ranks cannot be judged, if it cannot. */
static enum fsl_status tell_missing(struct fsl_profile_findings *findings,
				    const struct fsl_profile_standings *standings,
				    const struct fsl_profile_meetings *meetings,
				    struct fsl_error *err)
{
	if (is_lateness_told(standings, meetings)) {
		return FSL_OK;
	}
	return standings->n < 2
		       ? fsl_profile_findings_miss(
				 findings, err,
				 "slow ranks: one rank alone has no peers; capture the others, too")
		       : fsl_profile_findings_miss(
				 findings, err,
				 "lateness of ranks: no collective was captured on two ranks that do "
				 "the same work; it needs communication.json (level 1 or higher)");
}

enum fsl_status fsl_profile_judge_slow_rank(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	struct fsl_profile_standings standings;
	struct fsl_kernel_peers *peers = NULL;
	enum fsl_status status =
		fsl_profile_stand(&standings, facts->profile, facts->cluster, facts->meetings, err);
	if (status != FSL_OK) {
		return status;
	}
	for (size_t r = 0; r < standings.n && status == FSL_OK; r++) {
		status = judge_rank(findings, &peers, facts, r, &standings.items[r], err);
	}
	if (status == FSL_OK) {
		status = tell_missing(findings, &standings, facts->meetings, err);
	}
	fsl_free(peers);
	fsl_profile_standings_fini(&standings);
	return status;
}
