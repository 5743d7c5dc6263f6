/*
 * Tells why ranks are slow that the engine names: whether they compute longer, with slower kernels
 * or with more of them, or whether their host hands work to the device late.
 */
#include <math.h>
#include <stdio.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "blame/kernel_peers.h"
#include "capture/step_rows.h"
#include "judge/limits.h"
#include "judge/operator_types.h"
#include "judge/to_places.h"
#include "text/phrase.h"

enum { TEXT_MAX = 640, RANGES_SHOWN_MAX = 8 };

/* One rank beside those of its class that are not suspected. */
struct suspicion {
	int32_t rank;
	const struct fsl_place_rank *place;
	double step_ms;
	/* Per step, and how much more than the median of the others; NaN: not told. */
	double computing_ms, computing_more_ms, free_more_ms;
	bool is_compute;
};

struct work {
	struct fsl_profile_findings *findings;
	const struct fsl_profile_case *facts;
	const struct fsl_capture_places *places;
	struct fsl_arena arena;
	struct fsl_kernel_peers *kernels; /* per rank */
	double *values;                   /* 2 per rank */
	int32_t *more_work;               /* ranks that have more to do, ascending */
	size_t n_more_work;
	double more_work_ms; /* largest of their costs */
};

static enum fsl_status no_memory(size_t n_ranks, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_ranks);
}

/* Per step; idle time for FSL_PART_FREE. */
static double part_of(const struct work *work, size_t r, enum fsl_profile_part part)
{
	return part == FSL_PART_FREE ? work->places->idle_ms[r]
				     : fsl_profile_part_ms(&work->facts->profile->ranks[r], part);
}

/* How much more of a part the rank has than the others of its class, median. */
static double more_of(const struct work *work, size_t r, enum fsl_profile_part part)
{
	const struct fsl_profile *profile = work->facts->profile;
	const uint32_t *class_of = work->places->job.class_of;
	size_t n = 0;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		double ms = part_of(work, i, part);
		bool is_other = i != r && class_of[i] == class_of[r] &&
				!work->places->places.ranks[i].is_suspect;
		if (is_other && !isnan(ms)) {
			work->values[n++] = ms;
		}
	}
	return part_of(work, r, part) -
	       (n > 0 ? fsl_median(work->values, n, work->values + n) : (double)NAN);
}

static struct suspicion suspect(const struct work *work, size_t r)
{
	const struct fsl_profile_rank *rank = &work->facts->profile->ranks[r];
	struct suspicion s = {.rank = rank->rank,
			      .place = &work->places->places.ranks[r],
			      .step_ms = fsl_profile_step_ms(rank),
			      .computing_ms = fsl_profile_part_ms(rank, FSL_PART_COMPUTING),
			      .computing_more_ms = more_of(work, r, FSL_PART_COMPUTING),
			      .free_more_ms = more_of(work, r, FSL_PART_FREE)};
	s.is_compute = s.computing_more_ms >= FSL_JUDGE_EXPLAINED_SHARE_MIN * s.place->more_ms;
	return s;
}

/* "it computes as long as its peers (57.5 ms, +0.20 %) and is free 15.8 ms longer" */
static void describe_own(char *text, size_t size, const struct suspicion *s)
{
	double peers_ms = s->computing_ms - s->computing_more_ms;
	if (isnan(s->computing_more_ms) || isnan(s->free_more_ms) || peers_ms <= 0.0) {
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
	if (fabs(s->free_more_ms) < FSL_JUDGE_MENTION_SHARE_MIN * s->step_ms) {
		(void)snprintf(text + n, size - (size_t)n, "as long");
		return;
	}
	(void)snprintf(text + n, size - (size_t)n, "%.1f ms %s", fabs(s->free_more_ms),
		       s->free_more_ms > 0.0 ? "longer" : "less");
}

static enum fsl_status add(const struct work *work, enum fsl_code code, const struct suspicion *s,
			   const char *what, const char *advice, struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(code);
	const struct fsl_fact facts[] = {
		fsl_fact_of(FSL_FACT_LATE, s->place->more_ms),
		{"step", s->step_ms, "ms"},
		{"computing", s->computing_ms, "ms"},
		{"computing_more", s->computing_more_ms, "ms"},
		{"free_more", s->free_more_ms, "ms"},
		{"over_spread", s->place->z, "ratio"},
		{"peers", (double)s->place->n_peers, "count"},
	};
	if (s->place->is_named) {
		(void)fsl_profile_finding_add_known(&finding, FSL_FACT_TOGETHER,
						    work->places->places.cost_ms);
	}
	finding.rank = s->rank;
	finding.gain_ms = s->place->cost_ms;
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
	bool is_told = !isnan(s->computing_more_ms) && !isnan(s->free_more_ms);
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
	enum fsl_code code = s->is_compute ? FSL_CODE_SLOW_RANK_COMPUTE
			     : is_told     ? FSL_CODE_SLOW_RANK_HOST
					   : FSL_CODE_SLOW_RANK_UNEXPLAINED;
	return add(work, code, s, what, s->is_compute ? look_at_device : look_at_host, err);
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
		   s->is_compute ? look_at_device : look_at_host, err);
}

/* The same kernels explain little of what it computes longer: it has more of them, or larger ones.
 * The table of its kernels may be cut: then it tells nothing. */
static bool has_more_work(const struct work *work, size_t r, const struct suspicion *s)
{
	const struct fsl_profile_rank *rank = &work->facts->profile->ranks[r];
	return s->is_compute && rank->n_kernels > 0 && !fsl_operator_types_are_cut(rank) &&
	       work->kernels[r].excess_ms < FSL_JUDGE_EXPLAINED_SHARE_MIN * s->computing_more_ms;
}

static enum fsl_status judge_rank(struct work *work, size_t r, struct fsl_error *err)
{
	struct suspicion s = suspect(work, r);
	if (!s.place->is_named) {
		return add_late(work, &s, err);
	}
	if (!has_more_work(work, r, &s)) {
		return add_slow(work, &s, err);
	}
	work->more_work[work->n_more_work++] = s.rank;
	work->more_work_ms = fmax(work->more_work_ms, s.place->cost_ms);
	return FSL_OK;
}

/* All ranks with more to do are one imbalance. */
static enum fsl_status tell_more_work(const struct work *work, struct fsl_error *err)
{
	struct fsl_phrase what = {0};
	if (work->n_more_work == 0) {
		return FSL_OK;
	}
	bool is_one = work->n_more_work == 1;
	double gain_ms = work->n_more_work == work->places->places.n_named
				 ? work->places->places.cost_ms
				 : work->more_work_ms;
	fsl_phrase_add_ranks(&what, work->more_work, work->n_more_work, RANGES_SHOWN_MAX);
	fsl_phrase_add(&what,
		       " %s more to do than %s peers: up to %.1f ms of a step, with kernels that "
		       "are as fast as theirs",
		       is_one ? "has" : "have", is_one ? "its" : "their", gain_ms);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_MORE_WORK);
	finding.rank = is_one ? work->more_work[0] : -1;
	finding.gain_ms = gain_ms;
	finding.what = what.text;
	finding.advice = "spread the work evenly (layers, experts, lengths of sequences); the "
			 "devices are not at fault";
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)work->n_more_work);
	return fsl_profile_findings_add(work->findings, &finding, err);
}

/* Tells why ranks cannot be compared, if they cannot. */
static enum fsl_status tell_missing(const struct work *work, struct fsl_error *err)
{
	if (work->places->places.n_compared > 0 || work->facts->look != FSL_LOOK_CAPTURE) {
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
	size_t n = facts->profile->n_ranks;
	struct work work = {.findings = findings, .facts = facts, .places = facts->places};
	const struct fsl_kernels_job kernels = {.profile = facts->profile,
						.cluster = facts->cluster,
						.places = &facts->places->places};
	enum fsl_status status = tell_missing(&work, err);
	work.kernels = fsl_arena_alloc(&work.arena, (n + 1) * sizeof(*work.kernels));
	work.values = fsl_arena_alloc(&work.arena, 2 * (n + 1) * sizeof(*work.values));
	work.more_work = fsl_arena_alloc(&work.arena, (n + 1) * sizeof(*work.more_work));
	if (work.kernels == NULL || work.values == NULL || work.more_work == NULL) {
		status = no_memory(n, err);
	}
	if (status == FSL_OK && facts->places->places.n_named > 0) {
		status = fsl_kernel_peers_compare(work.kernels, &kernels, err);
	}
	for (size_t r = 0; r < n && status == FSL_OK; r++) {
		const struct fsl_place_rank *place = &facts->places->places.ranks[r];
		status = place->is_named || place->is_suspect ? judge_rank(&work, r, err) : FSL_OK;
	}
	if (status == FSL_OK) {
		status = tell_more_work(&work, err);
	}
	fsl_arena_fini(&work.arena);
	return status;
}
