/* Turns findings into a verdict, by the rules of the engine: who is named, with which cause, why,
 * and with how much confidence. */
#include "judge/conclude.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/try.h"
#include "blame/counts.h"
#include "judge/by_step.h"
#include "judge/limits.h"

enum { CULPRITS_MAX = 64 };

struct conclusion {
	struct fsl_localisation *out;
	const struct fsl_profile_case *facts;
	const struct fsl_profile_findings *findings;
	struct fsl_error *err;
};

static bool is_of_one_step(const struct fsl_profile_finding *finding)
{
	return finding->step != FSL_STEP_ABSENT;
}

static double fact_of(const struct fsl_profile_finding *finding, enum fsl_fact_name name)
{
	return fsl_facts_value(finding->facts, finding->n_facts, name);
}

/* NaN if there is no such finding. */
static double gain_of(const struct fsl_profile_finding *finding)
{
	return finding != NULL ? finding->gain_ms : (double)NAN;
}

static enum fsl_status no_memory(const struct conclusion *c)
{
	return FSL_FAIL(c->err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
}

/* Name of the host of a rank, "" when no file tells. */
static const char *host_of(const struct conclusion *c, int32_t rank)
{
	const struct fsl_profile_rank *found = fsl_profile_rank_of(c->facts->profile, rank);
	return found != NULL ? found->info.host_uid : "";
}

/* A culprit with the finding's evidence; texts are copied. */
static enum fsl_status name_culprit(const struct conclusion *c,
				    const struct fsl_profile_finding *finding, int32_t rank,
				    enum fsl_cause cause, double confidence, double share)
{
	struct fsl_culprit culprit = fsl_culprit_of(rank);
	culprit.peer = finding->peer;
	culprit.server_ip = fsl_arena_strdup(&c->out->arena, host_of(c, rank));
	culprit.cause = cause;
	culprit.lost_ms_per_step = finding->gain_ms;
	culprit.share_of_loss = share;
	culprit.confidence = confidence;
	culprit.reason = fsl_arena_strdup(&c->out->arena, finding->what);
	for (size_t f = 0; f < finding->n_facts; f++) {
		const struct fsl_fact *fact = &finding->facts[f];
		(void)fsl_culprit_add_fact(&culprit, fact->name, fact->value, fact->unit);
	}
	fsl_conclude_add_steps(&culprit, finding, c->facts->cluster);
	if (culprit.reason == NULL || culprit.server_ip == NULL) {
		return no_memory(c);
	}
	c->out->compute = c->out->compute || cause == FSL_CAUSE_COMPUTE;
	c->out->network = c->out->network || cause == FSL_CAUSE_NETWORK;
	return FSL_APPEND(c->out, culprits, &culprit, c->err);
}

static bool is_about_rank(const struct fsl_profile_finding *finding)
{
	return fsl_code_row(finding->code)->names == FSL_NAMES_RANK;
}

/* Any host pauses now and then, for a collection of garbage or a checkpoint: one such step of
 * several tells nothing about the host. */
static bool is_one_pause(const struct fsl_profile_finding *finding)
{
	return finding->n_late_steps <= 1 && finding->code == FSL_CODE_SLOW_RANK_HOST &&
	       finding->n_seen_steps == 1 && finding->n_steps >= FSL_JUDGE_PAUSE_STEPS_MIN;
}

/* A rank that works longer in most steps does not come and go, even if few of them wait for it. */
static bool is_nameable(const struct conclusion *c, const struct fsl_profile_finding *finding)
{
	bool is_passing =
		fsl_by_step_is_passing(finding) &&
		fsl_is_passing(is_of_one_step(finding), finding->n_late_steps, finding->n_steps);
	return !is_one_pause(finding) &&
	       fsl_slow_is_named(finding->gain_ms, c->out->step_ms, is_passing);
}

static bool names_rank(const struct conclusion *c, const struct fsl_profile_finding *finding)
{
	return is_about_rank(finding) && is_nameable(c, finding);
}

/* Ranks that are slow in turn cost what they cost one after the other: the replay of all steps
 * knows no kernels, and may see the greater of them alone. */
static enum fsl_status sum_named(const struct conclusion *c, struct fsl_named_costs *costs)
{
	const struct fsl_profile_finding **named = NULL;
	double together_ms = NAN;
	*costs = (struct fsl_named_costs){0};
	FSL_TRY(FSL_NEW(named, c->findings->n_items + 1, "findings", c->err));
	for (size_t i = 0; i < c->findings->n_items; i++) {
		const struct fsl_profile_finding *finding = &c->findings->items[i];
		if (names_rank(c, finding)) {
			named[costs->n] = finding;
			fsl_named_costs_add(costs, finding->gain_ms,
					    is_of_one_step(finding)
						    ? (double)NAN
						    : fact_of(finding, FSL_FACT_TOGETHER));
		}
	}
	enum fsl_status status = fsl_conclude_together(&together_ms, named, costs->n, c->err);
	fsl_free(named);
	if (together_ms > costs->together_ms) { /* false if it is not told */
		costs->together_ms = fmin(together_ms, costs->sum_ms);
	}
	return status;
}

static enum fsl_status name_ranks(const struct conclusion *c, const struct fsl_named_costs *costs)
{
	for (size_t i = 0; i < c->findings->n_items; i++) {
		const struct fsl_profile_finding *finding = &c->findings->items[i];
		if (names_rank(c, finding) && c->out->n_culprits < CULPRITS_MAX) {
			bool is_explained = finding->code != FSL_CODE_SLOW_RANK_UNEXPLAINED;
			FSL_TRY(name_culprit(
				c, finding, finding->rank, fsl_code_row(finding->code)->cause,
				is_explained ? fsl_conclude_confidence(c->facts, finding)
					     : FSL_JUDGE_CONFIDENCE_UNEXPLAINED,
				finding->gain_ms / costs->sum_ms));
		}
	}
	c->out->kind = fsl_culprits_are_host(c->out, c->facts->profile) ? FSL_VERDICT_SLOW_HOST
									: FSL_VERDICT_SLOW_RANK;
	c->out->lost_ms_per_step = costs->together_ms;
	c->out->reason = c->out->culprits[0].reason;
	return FSL_OK;
}

/* The slow link that costs most, over all steps or in single steps: both have the same limit of
 * cost. NULL: none. */
static const struct fsl_profile_finding *costliest_link(const struct conclusion *c)
{
	for (size_t i = 0; i < c->findings->n_items; i++) {
		if (c->findings->items[i].code == FSL_CODE_SLOW_LINK) {
			return &c->findings->items[i];
		}
	}
	return NULL;
}

/* Nobody knows between which members of a group the way is slow: all of them are named. */
static enum fsl_status name_members(const struct conclusion *c,
				    const struct fsl_profile_finding *finding, double confidence)
{
	for (size_t m = 0; m < finding->n_members && m < CULPRITS_MAX; m++) {
		FSL_TRY(name_culprit(c, finding, finding->members[m], FSL_CAUSE_NETWORK, confidence,
				     1.0));
		c->out->culprits[m].peer = -1;
	}
	return FSL_OK;
}

static enum fsl_status name_link(const struct conclusion *c)
{
	const struct fsl_profile_finding *finding = costliest_link(c);
	double confidence = fsl_conclude_confidence(c->facts, finding);
	if (finding->n_members > 0) {
		FSL_TRY(name_members(c, finding, confidence));
		c->out->kind = FSL_VERDICT_SLOW_LINK;
		c->out->lost_ms_per_step = finding->gain_ms;
		c->out->reason = c->out->culprits[0].reason;
		return FSL_OK;
	}
	FSL_TRY(name_culprit(c, finding, finding->rank, FSL_CAUSE_NETWORK, confidence, 1.0));
	if (finding->peer >= 0) {
		FSL_TRY(name_culprit(c, finding, finding->peer, FSL_CAUSE_NETWORK, confidence,
				     1.0));
		c->out->culprits[1].peer = finding->rank;
	}
	c->out->kind = FSL_VERDICT_SLOW_LINK;
	c->out->lost_ms_per_step = finding->gain_ms;
	c->out->reason = c->out->culprits[0].reason;
	return FSL_OK;
}

/* "works 13.1 ms of a 810.2 ms step longer than its peers" */
static const char *lateness_of(const struct conclusion *c, const struct fsl_profile_finding *late)
{
	return fsl_arena_printf(&c->out->arena,
				"works %.1f ms of a step of %.1f ms longer than its peers",
				fact_of(late, FSL_FACT_LATE), c->out->step_ms);
}

/* How work is cut is no fault of a rank: nobody is named. */
static enum fsl_status tell_stage(const struct conclusion *c)
{
	const struct fsl_profile_finding *finding =
		fsl_conclude_first(c->findings, FSL_CODE_STAGE_IMBALANCE);
	c->out->kind = FSL_VERDICT_STAGE_IMBALANCE;
	c->out->lost_ms_per_step = finding->gain_ms;
	c->out->reason = fsl_arena_strdup(&c->out->arena, finding->what);
	return c->out->reason != NULL ? FSL_OK : no_memory(c);
}

/* A rank has more to do than those who wait for it. */
static enum fsl_status tell_work(const struct conclusion *c)
{
	const struct fsl_profile_finding *finding =
		fsl_conclude_first(c->findings, FSL_CODE_MORE_WORK);
	const struct fsl_profile_finding *experts =
		fsl_conclude_first(c->findings, FSL_CODE_EXPERT_IMBALANCE);
	bool is_router = experts != NULL && experts->rank == finding->rank;
	c->out->kind = FSL_VERDICT_WORK_IMBALANCE;
	c->out->lost_ms_per_step = finding->gain_ms;
	c->out->reason = fsl_arena_printf(&c->out->arena, "%s%s%s", finding->what,
					  is_router ? "; " : "", is_router ? experts->what : "");
	return c->out->reason != NULL ? FSL_OK : no_memory(c);
}

/* A verdict about all ranks; @what: a sentence about the part that the steps are made of, @detail:
 * what more is known, or NULL. */
static enum fsl_status bind(const struct conclusion *c, enum fsl_verdict_kind kind, double lost_ms,
			    const char *what, const struct fsl_profile_finding *detail)
{
	bool is_alone = c->facts->profile->n_ranks < 2;
	c->out->kind = kind;
	c->out->lost_ms_per_step = lost_ms;
	c->out->reason = fsl_arena_printf(
		&c->out->arena, "%s%s%s%s", what, detail != NULL ? "; " : "",
		detail != NULL ? detail->what : "",
		is_alone ? "; one rank was captured, so that nobody can be compared" : "");
	return c->out->reason != NULL ? FSL_OK : no_memory(c);
}

/* All ranks alike, and slower than in the baseline. */
static enum fsl_status tell_baseline(const struct conclusion *c)
{
	const struct fsl_profile_finding *slower =
		fsl_conclude_first(c->findings, FSL_CODE_SLOWER_THAN_BASELINE);
	const struct fsl_profile_finding *grown =
		fsl_conclude_first(c->findings, FSL_CODE_KERNEL_GREW);
	return bind(c, FSL_VERDICT_JOB_SLOWDOWN, slower->gain_ms, slower->what, grown);
}

/* Lists the ranks that wait for a rank that was not captured, and tells why nobody is named. */
static enum fsl_status tell_outside(const struct conclusion *c)
{
	const struct fsl_profile_finding *outside =
		fsl_conclude_first(c->findings, FSL_CODE_CAUSE_OUTSIDE);
	c->out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	c->out->reason = fsl_arena_printf(
		&c->out->arena, "a group is incomplete, %.0f of its %.0f ranks were %s, and %s",
		fact_of(outside, FSL_FACT_SEEN), fact_of(outside, FSL_FACT_MEMBERS),
		fsl_profile_seen_text(c->facts->profile), outside->what);
	return c->out->reason != NULL ? FSL_OK : no_memory(c);
}

static enum fsl_status add_suspect(const struct conclusion *c,
				   const struct fsl_profile_finding *finding, int32_t rank,
				   double late_ms, bool is_victim)
{
	const struct fsl_suspect suspect = {
		.rank = rank,
		.late_ms_per_step = late_ms,
		.detector = fsl_code_text(finding->code),
		.reason = finding->rank == rank && !is_of_one_step(finding)
				  ? lateness_of(c, finding)
				  : fsl_arena_strdup(&c->out->arena, finding->what),
	};
	if (suspect.reason == NULL) {
		return no_memory(c);
	}
	return is_victim ? FSL_APPEND(c->out, victims, &suspect, c->err)
			 : FSL_APPEND(c->out, unconfirmed, &suspect, c->err);
}

/* Late ranks that are no culprits, those that are slow in too few steps, and all who wait for
 * somebody who was not captured. */
static enum fsl_status list_suspects(const struct conclusion *c)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < c->findings->n_items && status == FSL_OK; i++) {
		const struct fsl_profile_finding *finding = &c->findings->items[i];
		if (finding->code == FSL_CODE_CONSISTENTLY_LATE) {
			status = add_suspect(c, finding, finding->rank,
					     fact_of(finding, FSL_FACT_LATE), false);
		} else if (is_about_rank(finding) && !is_nameable(c, finding)) {
			status = add_suspect(c, finding, finding->rank, finding->gain_ms, false);
		}
	}
	const struct fsl_profile *profile = c->facts->profile;
	const struct fsl_profile_finding *outside =
		fsl_conclude_first(c->findings, FSL_CODE_CAUSE_OUTSIDE);
	for (size_t r = 0; r < profile->n_ranks && outside != NULL && status == FSL_OK; r++) {
		int32_t rank = profile->ranks[r].rank;
		status = fsl_lacks_mates(c->facts->cluster, rank)
				 ? add_suspect(c, outside, rank, outside->gain_ms, true)
				 : FSL_OK;
	}
	return status;
}

static struct fsl_bound bound_of(const struct conclusion *c)
{
	const struct fsl_profile_finding *host =
		fsl_conclude_first(c->findings, FSL_CODE_HOST_BOUND);
	bool is_whole = fsl_conclude_first(c->findings, FSL_CODE_GROUP_INCOMPLETE) == NULL &&
			!fsl_conclude_may_lack_members(c->facts);
	return fsl_bound_find(c->facts->profile, c->out->step_ms, gain_of(host), is_whole);
}

/* Tells which part bounds the steps. */
static enum fsl_status tell_bound(const struct conclusion *c, const struct fsl_bound *bound)
{
	double step_ms = c->out->step_ms;
	bool is_computing = bound->kind == FSL_VERDICT_COMPUTE_BOUND;
	char what[128];
	if (bound->kind == FSL_VERDICT_HOST_BOUND) {
		return bind(c, bound->kind, bound->ms,
			    fsl_conclude_first(c->findings, FSL_CODE_HOST_BOUND)->what, NULL);
	}
	(void)snprintf(what, sizeof(what), "%s takes %.0f %% of a step of %.1f ms",
		       is_computing ? "computing" : "communication beside which no kernel runs",
		       100.0 * bound->ms / step_ms, step_ms);
	return bind(c, bound->kind, NAN, what,
		    fsl_conclude_first(c->findings, is_computing ? FSL_CODE_TOP_OPERATORS
								 : FSL_CODE_COMMUNICATION_SPLIT));
}

static enum fsl_status tell(const struct conclusion *c)
{
	const struct fsl_profile_findings *findings = c->findings;
	struct fsl_named_costs named;
	FSL_TRY(sum_named(c, &named));
	const struct fsl_capture_costs costs = {
		.n_named = named.n,
		.link_ms = gain_of(costliest_link(c)),
		.is_outside = fsl_conclude_first(findings, FSL_CODE_CAUSE_OUTSIDE) != NULL,
		.has_more_work = fsl_conclude_first(findings, FSL_CODE_MORE_WORK) != NULL,
		.stage_ms = gain_of(fsl_conclude_first(findings, FSL_CODE_STAGE_IMBALANCE)),
		.baseline_ms = gain_of(fsl_conclude_first(findings, FSL_CODE_SLOWER_THAN_BASELINE)),
		.bound = bound_of(c)};
	switch (fsl_capture_topic_of(&costs, c->out->step_ms)) {
	case FSL_TOPIC_RANKS:
		return name_ranks(c, &named);
	case FSL_TOPIC_LINK:
		return name_link(c);
	case FSL_TOPIC_OUTSIDE:
		return tell_outside(c);
	case FSL_TOPIC_STAGE:
		return tell_stage(c);
	case FSL_TOPIC_MORE_WORK:
		return tell_work(c);
	case FSL_TOPIC_BASELINE:
		return tell_baseline(c);
	case FSL_TOPIC_BOUND:
		return tell_bound(c, &costs.bound);
	case FSL_TOPIC_NOBODY:
		break;
	}
	return fsl_conclude_nobody(c->out, c->facts, findings, c->err);
}

enum fsl_status fsl_profile_conclude(struct fsl_localisation *out,
				     const struct fsl_profile_case *facts,
				     const struct fsl_profile_findings *findings,
				     struct fsl_error *err)
{
	const struct conclusion c = {out, facts, findings, err};
	out->algorithm = "failslow";
	out->step_ms = fsl_usual_part_ms(facts->profile, FSL_PARTS_N);
	enum fsl_status status = fsl_profile_cover(out, facts, findings, err);
	if (status == FSL_OK) {
		status = tell(&c);
	}
	if (status == FSL_OK) {
		status = list_suspects(&c);
	}
	if (out->lost_ms_per_step < out->step_ms) {
		out->slowdown = out->step_ms / (out->step_ms - out->lost_ms_per_step);
	}
	struct fsl_phrase passing = {0};
	double sure = fsl_by_step_add_passing(&passing, findings) ? FSL_JUDGE_CONFIDENCE_PASSING
								  : FSL_JUDGE_CONFIDENCE_ONE_STEP;
	out->confidence = out->n_culprits > 0 ? out->culprits[0].confidence
			  : out->kind == FSL_VERDICT_NORMAL || out->kind >= FSL_VERDICTS_OF_JOBS_N
				  ? sure
				  : 0.0;
	out->result_code = fsl_verdict_is_quiet(out->kind) ? 200 : 201;
	return status;
}
