/*
 * Tells why ranks are slow that the engine names: whether they compute longer, or their host hands
 * work to the device late; and which of them only have more to do.
 */
#include <math.h>
#include <stdio.h>

#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/limits.h"
#include "blame/own_parts.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "text/phrase.h"

enum { TEXT_MAX = 640, RANGES_SHOWN_MAX = 8 };

/* A rank that the engine suspects. */
struct suspicion {
	int32_t rank;
	const struct fsl_place_rank *place;
	const struct fsl_own_part *part;
	double step_ms, computing_ms; /* per step; NaN: not told */
	size_t n_late_steps;
};

struct work {
	struct fsl_profile_findings *findings;
	const struct fsl_profile_case *facts;
	const struct fsl_capture_places *places;
	struct fsl_own_parts parts;
};

/* "it computes as long as its peers (57.5 ms, +0.20 %) and is free 15.8 ms longer" */
static void describe_own(char *text, size_t size, const struct suspicion *s)
{
	double peers_ms = s->computing_ms - s->part->computing_more_ms;
	if (isnan(s->part->computing_more_ms) || isnan(s->part->idle_more_ms) || peers_ms <= 0.0) {
		(void)snprintf(text, size, "no file tells what it computes");
		return;
	}
	double more = s->computing_ms / peers_ms - 1.0;
	int n = snprintf(text, size, "it computes %s its peers (%.1f ms, %+.2f %%) and is free ",
			 fabs(more) < 0.01 ? "as long as"
			 : more > 0.0      ? "longer than"
					   : "less than",
			 s->computing_ms, 100.0 * more);
	if (n < 0 || (size_t)n >= size) {
		return;
	}
	if (fabs(s->part->idle_more_ms) < FSL_CAPTURE_MENTION_SHARE_MIN * s->step_ms) {
		(void)snprintf(text + n, size - (size_t)n, "as long");
		return;
	}
	(void)snprintf(text + n, size - (size_t)n, "%.1f ms %s", fabs(s->part->idle_more_ms),
		       s->part->idle_more_ms > 0.0 ? "longer" : "less");
}

static enum fsl_status add(const struct work *work, enum fsl_code code, const struct suspicion *s,
			   const char *what, const char *advice, struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(code);
	const struct fsl_fact facts[] = {
		fsl_fact_of(FSL_FACT_LATE, s->place->more_ms),
		{"step", s->step_ms, "ms"},
		{"computing", s->computing_ms, "ms"},
		{"computing_more", s->part->computing_more_ms, "ms"},
		{"free_more", s->part->idle_more_ms, "ms"},
		{"over_spread", s->place->z, "ratio"},
		{"peers", (double)s->place->n_peers, "count"},
	};
	if (s->place->is_named) {
		(void)fsl_profile_finding_add_known(&finding, FSL_FACT_TOGETHER,
						    work->places->places.cost_ms);
	}
	finding.rank = s->rank;
	finding.gain_ms = s->place->cost_ms;
	finding.n_late_steps = s->n_late_steps;
	finding.what = what;
	finding.advice = advice;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!isnan(facts[i].value)) {
			(void)fsl_profile_finding_add_fact(&finding, facts[i].name, facts[i].value,
							   facts[i].unit);
		}
	}
	return fsl_profile_findings_add(work->findings, &finding, err);
}

static const char *const look_at_host =
	"look at what its host does before these operators: it hands work to the device later than "
	"its peers' hosts (affinity, other processes, garbage collection, data loading)";
static const char *const look_at_device =
	"compare its kernels of the same shapes and the frequency of its cores with its peers'; "
	"with equal shapes test the device, with others spread the work evenly";

static enum fsl_status add_slow(const struct work *work, const struct suspicion *s,
				struct fsl_error *err)
{
	char own[TEXT_MAX], what[2 * TEXT_MAX];
	bool is_told = !isnan(s->part->computing_more_ms) && !isnan(s->part->idle_more_ms);
	describe_own(own, sizeof(own), s);
	if (work->places->places.is_replayed) {
		(void)snprintf(what, sizeof(what),
			       "rank %d holds %s up: it works %.1f ms of a step longer than its "
			       "peers before operators that they wait in; %s",
			       (int)s->rank, s->place->n_peers == 2 ? "its peer" : "its peers",
			       s->place->more_ms, own);
	} else {
		(void)snprintf(what, sizeof(what),
			       "rank %d is slow: %s; no collective with its peers was captured",
			       (int)s->rank, own);
	}
	enum fsl_code code = s->part->is_compute ? FSL_CODE_SLOW_RANK_COMPUTE
			     : is_told           ? FSL_CODE_SLOW_RANK_HOST
						 : FSL_CODE_SLOW_RANK_UNEXPLAINED;
	return add(work, code, s, what, s->part->is_compute ? look_at_device : look_at_host, err);
}

static enum fsl_status add_late(const struct work *work, const struct suspicion *s,
				struct fsl_error *err)
{
	char own[TEXT_MAX], what[2 * TEXT_MAX];
	describe_own(own, sizeof(own), s);
	(void)snprintf(what, sizeof(what),
		       "rank %d is slightly but consistently late: it works %.1f ms of a step "
		       "longer than its peers, which costs %.1f ms; %s",
		       (int)s->rank, s->place->more_ms, s->place->cost_ms, own);
	return add(work, FSL_CODE_CONSISTENTLY_LATE, s, what,
		   s->part->is_compute ? look_at_device : look_at_host, err);
}

/* Steps in which the rank has at least FSL_SHOWN_IN_STEP_MIN of the mean of what it works longer.
 */
static size_t count_late_steps(const struct work *work, size_t r)
{
	const struct fsl_capture_places *places = work->places;
	const struct fsl_rank *rank = &places->job.run->ranks[r];
	double least_ms = FSL_SHOWN_IN_STEP_MIN * places->places.ranks[r].more_ms;
	size_t n_late = 0;
	for (size_t begin = 0, end = 0; begin < rank->n_ops; begin = end) {
		double excess_ms = 0.0;
		for (end = begin; end < rank->n_ops && rank->ops[end].step == rank->ops[begin].step;
		     end++) {
			excess_ms += (double)places->places.ranks[r].excess_ns[end] / FSL_NS_PER_MS;
		}
		n_late += rank->ops[begin].step >= 0 && excess_ms >= least_ms;
	}
	return n_late;
}

static enum fsl_status judge_rank(const struct work *work, size_t r, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &work->facts->profile->ranks[r];
	struct suspicion s = {.rank = rank->rank,
			      .place = &work->places->places.ranks[r],
			      .part = &work->parts.ranks[r],
			      .step_ms = fsl_profile_step_ms(rank),
			      .computing_ms = fsl_profile_part_ms(rank, FSL_PART_COMPUTING)};
	if (s.part->has_more_work || (!s.place->is_named && !s.place->is_suspect)) {
		return FSL_OK;
	}
	s.n_late_steps = work->places->places.is_replayed ? count_late_steps(work, r) : 0;
	return s.place->is_named ? add_slow(work, &s, err) : add_late(work, &s, err);
}

/* All ranks with more to do are one imbalance. */
static enum fsl_status tell_more_work(struct work *work, struct fsl_error *err)
{
	const struct fsl_profile *profile = work->facts->profile;
	struct fsl_phrase what = {0};
	int32_t *ranks = NULL;
	size_t n = 0;
	if (work->parts.n_more_work == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(ranks, &work->parts.arena, work->parts.n_more_work, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (work->parts.ranks[r].has_more_work) {
			ranks[n++] = profile->ranks[r].rank;
		}
	}
	fsl_phrase_add_ranks(&what, ranks, n, RANGES_SHOWN_MAX);
	fsl_phrase_add(&what,
		       " %s more to do than %s peers: up to %.1f ms of a step, with kernels that "
		       "are as fast as theirs",
		       n == 1 ? "has" : "have", n == 1 ? "its" : "their", work->parts.more_work_ms);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_MORE_WORK);
	finding.rank = n == 1 ? ranks[0] : -1;
	finding.members = ranks;
	finding.n_members = n > 1 ? n : 0;
	finding.gain_ms = work->parts.more_work_ms;
	finding.what = what.text;
	finding.advice = "spread the work evenly (layers, experts, lengths of sequences); the "
			 "devices are not at fault";
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)n);
	return fsl_profile_findings_add(work->findings, &finding, err);
}

/* Tells why ranks cannot be compared, if they cannot. */
static enum fsl_status tell_missing(const struct work *work, struct fsl_error *err)
{
	if (work->places->places.n_compared > 0 || work->facts->look.kind != FSL_LOOK_CAPTURE) {
		return FSL_OK;
	}
	return fsl_profile_findings_miss(
		work->findings, err,
		work->facts->profile->n_ranks < 2
			? "slow ranks: one rank alone has no peers; capture the others, too"
			: "lateness of ranks: no collective was captured on two ranks that do the "
			  "same work; it needs communication.json (level 1 or higher)");
}

enum fsl_status fsl_profile_judge_slow_rank(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	struct work work = {.findings = findings, .facts = facts, .places = facts->places};
	const struct fsl_kernels_job kernels = {.profile = facts->profile,
						.cluster = facts->cluster,
						.places = &facts->places->places};
	const struct fsl_own_parts_job job = {.kernels = &kernels,
					      .class_of = facts->places->job.class_of,
					      .computing_ms = facts->places->job.computing_ms,
					      .idle_ms = facts->places->idle_ms};
	FSL_TRY(tell_missing(&work, err));
	FSL_TRY(fsl_own_parts_find(&work.parts, &job, err));
	enum fsl_status status = FSL_OK;
	for (size_t r = 0; r < facts->profile->n_ranks && status == FSL_OK; r++) {
		status = judge_rank(&work, r, err);
	}
	FSL_THEN(status, tell_more_work(&work, err));
	fsl_own_parts_fini(&work.parts);
	return status;
}
