/* The verdict in words that a person understands at 3 a.m. */
#include "report/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "judge/by_step.h"
#include "report/words_parts.h"

enum { RANGES_IN_HEADLINE = 6, RANGES_IN_HANG = 4 };

/* Title, colour and the sentence around the culprits: before, then for one and for many. */
static const struct words {
	const char *title;
	enum fsl_colour colour;
	const char *before, *one, *many;
} words[] = {
	[FSL_VERDICT_NORMAL] = {"NORMAL", FSL_COLOUR_GREEN, "", "", ""},
	[FSL_VERDICT_SLOW_RANK] = {"SLOW RANK", FSL_COLOUR_RED, "", "slows", "slow"},
	[FSL_VERDICT_SLOW_HOST] = {"SLOW HOST", FSL_COLOUR_RED, "host ", "slows", "slow"},
	[FSL_VERDICT_SLOW_LINK] = {"SLOW LINK", FSL_COLOUR_RED, "", "slows", "slow"},
	[FSL_VERDICT_STAGE_IMBALANCE] = {"STAGE IMBALANCE", FSL_COLOUR_YELLOW, "pipeline stage ",
					 "takes longer than the other stages and slows",
					 "takes longer than the other stages and slows"},
	[FSL_VERDICT_WORK_IMBALANCE] = {"WORK IMBALANCE", FSL_COLOUR_YELLOW, "",
					"has more work than its peers and slows",
					"have more work than their peers and slow"},
	[FSL_VERDICT_JOB_SLOWDOWN] = {"JOB SLOWDOWN", FSL_COLOUR_RED, "", "", ""},
	[FSL_VERDICT_HOST_PAUSES] = {"HOST PAUSES", FSL_COLOUR_RED, "pauses of host ", "slow",
				     "slow"},
	[FSL_VERDICT_STALLS] = {"STALLS", FSL_COLOUR_RED, "", "", ""},
	[FSL_VERDICT_HANG] = {"HANG", FSL_COLOUR_RED, "", "", ""},
	[FSL_VERDICT_INSUFFICIENT_EVIDENCE] = {"INSUFFICIENT EVIDENCE", FSL_COLOUR_YELLOW, "", "",
					       ""},
	[FSL_VERDICT_HOST_BOUND] = {"HOST BOUND", FSL_COLOUR_YELLOW, "", "", ""},
	[FSL_VERDICT_COMPUTE_BOUND] = {"COMPUTE BOUND", FSL_COLOUR_YELLOW, "", "", ""},
	[FSL_VERDICT_COMMUNICATION_BOUND] = {"COMMUNICATION BOUND", FSL_COLOUR_YELLOW, "", "", ""},
};
_Static_assert(sizeof(words) / sizeof(words[0]) == FSL_VERDICTS_N, "every verdict has words");

enum fsl_verdict_kind fsl_words_kind(const struct fsl_report *report)
{
	const struct fsl_outcome job = fsl_report_outcome(report);
	return fsl_outcome_kind(&job);
}

enum fsl_colour fsl_words_colour(enum fsl_verdict_kind kind)
{
	return words[kind].colour;
}

/* NULL: unknown. */
static const char *host_of(const struct fsl_report *report, int32_t rank)
{
	const struct fsl_rank *seen = NULL;
	if (report->run != NULL) {
		seen = fsl_run_rank(report->run, rank);
	}
	if (seen != NULL) {
		return seen->server_ip;
	}
	const struct fsl_localisation *localisation = report->localisation;
	for (size_t i = 0; localisation != NULL && i < localisation->n_culprits; i++) {
		if (localisation->culprits[i].rank == rank) {
			return localisation->culprits[i].server_ip;
		}
	}
	return NULL;
}

void fsl_words_add_rank(struct fsl_phrase *phrase, const struct fsl_report *report, int32_t rank)
{
	const char *host = host_of(report, rank);
	fsl_phrase_add(phrase, "rank %d", rank);
	if (host != NULL && *host != '\0') {
		fsl_phrase_add(phrase, " (%s)", host);
	}
}

/* "ranks 0-7"; only their number when memory is short. */
static void add_culprit_ranks(struct fsl_phrase *phrase,
			      const struct fsl_localisation *localisation)
{
	size_t n = localisation->n_culprits;
	int32_t *ranks = fsl_calloc(n, sizeof(*ranks));
	if (ranks == NULL) {
		fsl_phrase_add_count(phrase, n, "rank");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		ranks[i] = localisation->culprits[i].rank;
	}
	fsl_phrase_add_unsorted_ranks(phrase, ranks, n, RANGES_IN_HEADLINE);
	fsl_free(ranks);
}

static bool has_several_hosts(const struct fsl_localisation *localisation)
{
	const char *first = fsl_text_or_empty(localisation->culprits[0].server_ip);
	for (size_t i = 1; i < localisation->n_culprits; i++) {
		if (strcmp(first, fsl_text_or_empty(localisation->culprits[i].server_ip)) != 0) {
			return true;
		}
	}
	return false;
}

/* Both ends of a link are culprits. A link of more than two ranks has no peers: it is one. */
static size_t count_links(const struct fsl_localisation *localisation)
{
	size_t n = 0;
	for (size_t i = 0; i < localisation->n_culprits; i++) {
		n += localisation->culprits[i].peer > localisation->culprits[i].rank;
	}
	return n > 0 ? n : 1;
}

static bool joins(const struct fsl_report *report, const struct fsl_culprit *end, const char *one,
		  const char *other)
{
	const char *host = fsl_text_or_empty(host_of(report, end->rank));
	const char *far = fsl_text_or_empty(host_of(report, end->peer));
	return end->peer >= 0 && *one != '\0' && *other != '\0' && strcmp(one, other) != 0 &&
	       ((strcmp(host, one) == 0 && strcmp(far, other) == 0) ||
		(strcmp(host, other) == 0 && strcmp(far, one) == 0));
}

bool fsl_words_add_joined_hosts(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	const struct fsl_culprit *first = &localisation->culprits[0];
	const char *one = fsl_text_or_empty(host_of(report, first->rank));
	const char *other = fsl_text_or_empty(host_of(report, first->peer));
	for (size_t i = 0; i < localisation->n_culprits; i++) {
		if (!joins(report, &localisation->culprits[i], one, other)) {
			return false;
		}
	}
	if (count_links(localisation) < 2) {
		return false;
	}
	fsl_phrase_add(phrase, "hosts %s and %s", one, other);
	return true;
}

/* Both ends, with their hosts; a host that they share once. */
static void add_link(struct fsl_phrase *phrase, const struct fsl_report *report,
		     const struct fsl_culprit *end)
{
	const char *host = fsl_text_or_empty(host_of(report, end->rank));
	if (*host != '\0' && strcmp(host, fsl_text_or_empty(host_of(report, end->peer))) == 0) {
		fsl_phrase_add(phrase, "ranks %d and %d (%s)", (int)end->rank, (int)end->peer,
			       host);
	} else {
		fsl_words_add_rank(phrase, report, end->rank);
		fsl_phrase_add(phrase, " and ");
		fsl_words_add_rank(phrase, report, end->peer);
	}
}

/* "the link between ranks 2 and 6", "4 links between hosts a and b". */
static void add_links(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	const struct fsl_culprit *first = &localisation->culprits[0];
	struct fsl_phrase hosts = {0};
	size_t n = count_links(localisation);
	if (first->peer < 0) {
		fsl_phrase_add(phrase, "the link between ");
		add_culprit_ranks(phrase, localisation);
	} else if (n == 1) {
		fsl_phrase_add(phrase, "the link between ");
		add_link(phrase, report, first);
	} else if (fsl_words_add_joined_hosts(&hosts, report)) {
		fsl_phrase_add(phrase, "%zu links between %s", n, hosts.text);
	} else {
		fsl_phrase_add(phrase, "%zu links, first between ", n);
		add_link(phrase, report, first);
		fsl_phrase_add(phrase, ",");
	}
}

static void add_subject(struct fsl_phrase *phrase, enum fsl_verdict_kind kind,
			const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	const struct fsl_culprit *first = &localisation->culprits[0];
	if (kind == FSL_VERDICT_SLOW_LINK) {
		add_links(phrase, report);
	} else if (kind == FSL_VERDICT_SLOW_HOST || kind == FSL_VERDICT_HOST_PAUSES) {
		fsl_phrase_add(phrase, "%s", fsl_text_or_empty(first->server_ip));
		if (has_several_hosts(localisation)) {
			fsl_phrase_add(phrase, " and others");
		}
		fsl_phrase_add(phrase, " (");
		add_culprit_ranks(phrase, localisation);
		fsl_phrase_add(phrase, ")");
	} else if (kind == FSL_VERDICT_STAGE_IMBALANCE && first->stage >= 0) {
		fsl_phrase_add(phrase, "%d (", first->stage);
		add_culprit_ranks(phrase, localisation);
		fsl_phrase_add(phrase, ")");
	} else if (localisation->n_culprits == 1) {
		fsl_words_add_rank(phrase, report, first->rank);
	} else {
		add_culprit_ranks(phrase, localisation);
	}
}

/* "from step 40 to 79", from the first onset to the last end; "to the end" if the job ended first.
 */
static void add_range(struct fsl_phrase *phrase, const struct fsl_localisation *localisation)
{
	int64_t since = INT64_MAX, until = -1;
	bool is_to_end = false;
	for (size_t i = 0; i < localisation->n_culprits; i++) {
		const struct fsl_culprit *culprit = &localisation->culprits[i];
		since = culprit->onset_step < since ? culprit->onset_step : since;
		until = culprit->until_step > until ? culprit->until_step : until;
		is_to_end = is_to_end || culprit->until_step < 0;
	}
	if (since >= 0 && is_to_end) {
		fsl_phrase_add(phrase, " from step %" PRId64 " to the end", since);
	} else if (since >= 0 && until > since) {
		fsl_phrase_add(phrase, " from step %" PRId64 " to %" PRId64, since, until - 1);
	}
}

/* " every 4th step and", if all culprits keep one period. */
static void add_period(struct fsl_phrase *phrase, const struct fsl_localisation *localisation)
{
	int64_t every = localisation->culprits[0].every_steps;
	for (size_t i = 1; i < localisation->n_culprits; i++) {
		every = localisation->culprits[i].every_steps == every ? every : -1;
	}
	if (every > 0) {
		fsl_phrase_add(phrase, " every ");
		fsl_phrase_add_ordinal(phrase, every);
		fsl_phrase_add(phrase, " step and");
	}
}

/* " the job by 20 %, which costs 195 ms of every 1168 ms step"; parts that are unknown are left
 * out. */
static void add_cost(struct fsl_phrase *phrase, const struct fsl_localisation *localisation,
		     bool is_over)
{
	fsl_phrase_add(phrase, " the job");
	if (isfinite(localisation->slowdown)) {
		fsl_phrase_add(phrase, " by ");
		fsl_phrase_add_percent(phrase, localisation->slowdown - 1.0);
	}
	if (is_over) {
		add_range(phrase, localisation);
	}
	if (!isfinite(localisation->lost_ms_per_step)) {
		return;
	}
	fsl_phrase_add(phrase, is_over ? ", which cost " : ", which costs ");
	fsl_phrase_add_ms(phrase, localisation->lost_ms_per_step);
	if (isfinite(localisation->step_ms)) {
		fsl_phrase_add(phrase, " of every ");
		fsl_phrase_add_ms(phrase, localisation->step_ms);
		fsl_phrase_add(phrase, " step");
	} else {
		fsl_phrase_add(phrase, " per step");
	}
}

const char *fsl_words_reason(const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	const struct fsl_localisation *localisation = report->localisation;
	bool is_localised = localisation != NULL && localisation->kind == fsl_words_kind(report);
	if (is_localised || perception == NULL) {
		return localisation != NULL ? fsl_text_or_empty(localisation->reason) : "";
	}
	return fsl_text_or_empty(perception->reason);
}

/* Classical points name ranks and metrics only. False when there are none. */
static bool add_classical(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	const struct fsl_detail *first = NULL;
	size_t n = 0;
	bool is_one = true; /* one rank, whatever the number of its metrics */
	int32_t *ranks = fsl_calloc(localisation->n_abnormal, sizeof(*ranks));
	for (size_t i = 0; ranks != NULL && i < localisation->n_abnormal; i++) {
		const struct fsl_detail *detail = &localisation->abnormal[i];
		if (detail->method != FSL_METHOD_LACK) {
			first = first == NULL ? detail : first;
			is_one = is_one && detail->rank == first->rank;
			ranks[n++] = detail->rank;
		}
	}
	if (first != NULL) {
		fsl_phrase_add_unsorted_ranks(phrase, ranks, n, RANGES_IN_HEADLINE);
		fsl_phrase_add(phrase, " %s out, first in %s", is_one ? "stands" : "stand",
			       fsl_text_or_empty(first->kpi_id));
	}
	fsl_free(ranks);
	return first != NULL;
}

static void add_culprit_sentence(struct fsl_phrase *phrase, enum fsl_verdict_kind kind,
				 const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	if (localisation != NULL && localisation->n_culprits == 0 &&
	    add_classical(phrase, report)) {
		return;
	}
	if (localisation == NULL || localisation->n_culprits == 0) {
		const char *reason = fsl_words_reason(report);
		fsl_phrase_add(phrase, "%s", *reason != '\0' ? reason : "see the verdict file");
		return;
	}
	fsl_phrase_add(phrase, "%s", words[kind].before);
	add_subject(phrase, kind, report);
	bool is_one = kind == FSL_VERDICT_SLOW_HOST   ? !has_several_hosts(localisation)
		      : kind == FSL_VERDICT_SLOW_LINK ? count_links(localisation) == 1
						      : localisation->n_culprits == 1;
	/* Uneven work is there all along, and single steps of a capture say no end. */
	const struct fsl_outcome job = fsl_report_outcome(report);
	bool is_over = kind != FSL_VERDICT_STAGE_IMBALANCE && kind != FSL_VERDICT_WORK_IMBALANCE &&
		       report->profile == NULL &&
		       (fsl_outcome_has_healed(&job) || fsl_outcome_has_ended(&job));
	fsl_phrase_add(phrase, " %s",
		       is_over  ? "slowed"
		       : is_one ? words[kind].one
				: words[kind].many);
	add_period(phrase, localisation);
	add_cost(phrase, localisation, is_over);
}

static void add_normal(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	size_t n_missing = localisation != NULL ? localisation->coverage.n_missing_ranks : 0;
	if (n_missing > 0) {
		fsl_phrase_add(phrase, "%zu of %zu ranks left no data; of the others, ", n_missing,
			       localisation->coverage.n_ranks_expected);
	}
	const struct fsl_outcome job = fsl_report_outcome(report);
	bool has_ended = fsl_outcome_has_ended(&job);
	if (localisation == NULL ||
	    (report->profile == NULL && localisation->coverage.n_ranks_seen == 0)) {
		fsl_phrase_add(phrase, "the steps %s as long as before",
			       has_ended ? "took" : "take");
	} else {
		fsl_phrase_add(phrase, "no rank %s the job", has_ended ? "slowed" : "slows");
	}
	if (localisation != NULL && isfinite(localisation->step_ms)) {
		fsl_phrase_add(phrase, ", a step %s ", has_ended ? "took" : "takes");
		fsl_phrase_add_ms(phrase, localisation->step_ms);
	}
}

static void add_insufficient(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const char *reason = fsl_words_reason(report);
	fsl_phrase_add(phrase, "%s",
		       *reason != '\0' ? reason : "cannot tell whether a rank is slow");
}

bool fsl_words_lack_ranks(const struct fsl_report *report)
{
	return report->localisation != NULL && report->localisation->coverage.n_missing_ranks > 0 &&
	       report->localisation->coverage.n_ranks_seen > 0;
}

/* The rank with the lowest number that waits in an operator which other members of its group have
 * not entered; NULL: none. */
static const struct fsl_rank *waiting_rank(const struct fsl_report *report)
{
	for (size_t r = 0; report->run != NULL && r < report->run->n_ranks; r++) {
		const struct fsl_rank *rank = &report->run->ranks[r];
		if (fsl_rank_waits(rank) && rank->open_group_id != FSL_STR_NONE) {
			return rank;
		}
	}
	return NULL;
}

/* Adds the members of the group of @waiting that wait with it, or those that do not; false: there
 * are none. */
static bool add_members(struct fsl_phrase *phrase, const struct fsl_report *report,
			const struct fsl_rank *waiting, bool do_wait)
{
	const struct fsl_topology *topology = report->topology;
	size_t g = 0, n = 0;
	while (topology != NULL && g < topology->n_groups &&
	       topology->groups[g].name_id != waiting->open_group_id) {
		g++;
	}
	if (topology == NULL || g == topology->n_groups) {
		return false;
	}
	const struct fsl_group *group = &topology->groups[g];
	int32_t *ranks = fsl_calloc(group->n_ranks, sizeof(*ranks));
	for (size_t i = 0; ranks != NULL && i < group->n_ranks; i++) {
		const struct fsl_rank *rank = fsl_run_rank(report->run, group->ranks[i]);
		bool waits = rank != NULL && fsl_rank_waits(rank) &&
			     rank->open_group_id == waiting->open_group_id;
		if (waits == do_wait) {
			ranks[n++] = group->ranks[i];
		}
	}
	if (n > 0) {
		fsl_phrase_add_unsorted_ranks(phrase, ranks, n, RANGES_IN_HANG);
	}
	fsl_free(ranks);
	return n > 0;
}

void fsl_words_waiting(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_rank *waiting = waiting_rank(report);
	struct fsl_phrase missing = {0};
	if (waiting == NULL || !add_members(&missing, report, waiting, false) ||
	    !add_members(phrase, report, waiting, true)) {
		return;
	}
	fsl_phrase_add(phrase, " in %s; not seen in it: %s",
		       fsl_strpool_text(report->run->names, waiting->open_op_id), missing.text);
}

void fsl_words_add_missing_ranks(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_coverage *coverage = &report->localisation->coverage;
	fsl_phrase_add_ranks(phrase, coverage->missing_ranks, coverage->n_missing_ranks,
			     RANGES_IN_HANG);
}

/* Nobody is known to have stopped first. */
static void add_together(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	struct fsl_phrase waiting = {0};
	fsl_words_waiting(&waiting, report);
	if (waiting.length > 0) {
		fsl_phrase_add(phrase, "; ");
		(void)add_members(phrase, report, waiting_rank(report), true);
		fsl_phrase_add(
			phrase, " wait for others in %s",
			fsl_strpool_text(report->run->names, waiting_rank(report)->open_op_id));
	} else if (report->localisation != NULL &&
		   report->localisation->coverage.n_ranks_seen == 0) {
		fsl_phrase_add(phrase, "; step times do not tell which rank stopped first");
	} else {
		fsl_phrase_add(phrase, "; all ranks stopped together");
	}
}

static void add_hang(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	if (perception == NULL || !isfinite(perception->hang_mins)) {
		fsl_phrase_add(phrase, "the job has made no progress");
	} else {
		fsl_phrase_add(phrase, "no event for %.1f minutes", perception->hang_mins);
	}
	if (perception == NULL) {
		return;
	}
	if (perception->hang_since_ns != FSL_NS_ABSENT) {
		fsl_phrase_add(phrase, ", since ");
		fsl_phrase_add_time(phrase, perception->hang_since_ns);
	}
	if (perception->n_stopped_first == 0 && fsl_words_lack_ranks(report)) {
		fsl_phrase_add(phrase, "; ");
		fsl_words_add_missing_ranks(phrase, report);
		fsl_phrase_add(phrase, " left no data, all others stopped together");
	} else if (perception->n_stopped_first == 0) {
		add_together(phrase, report);
	} else if (perception->n_stopped_first == 1) {
		fsl_phrase_add(phrase, "; ");
		fsl_words_add_rank(phrase, report, perception->stopped_first[0]);
		fsl_phrase_add(phrase, " stopped first");
	} else {
		fsl_phrase_add(phrase, "; ");
		fsl_phrase_add_ranks(phrase, perception->stopped_first, perception->n_stopped_first,
				     RANGES_IN_HANG);
		fsl_phrase_add(phrase, " stopped first");
	}
}

/* "since step 30 every step takes 26 % longer" */
static void add_rise(struct fsl_phrase *phrase, const struct fsl_step_episode *episode,
		     bool has_ended)
{
	if (episode->is_of_saves && episode->until_step >= 0) {
		fsl_phrase_add(phrase,
			       "checkpoints took longer from step %" PRId64 " to %" PRId64
			       ", steps on average ",
			       episode->onset_step, episode->until_step - 1);
	} else if (episode->is_of_saves) {
		fsl_phrase_add(phrase,
			       has_ended ? "checkpoints took longer from step %" PRId64
					   " to the end, steps on average "
					 : "checkpoints take longer since step %" PRId64
					   ", steps on average ",
			       episode->onset_step);
	} else if (episode->is_drift) {
		fsl_phrase_add(phrase,
			       has_ended ? "steps grew steadily from step %" PRId64 " to the end: "
					 : "steps grow steadily since step %" PRId64 ": ",
			       episode->onset_step);
		fsl_phrase_add_ms(phrase, episode->before_ms);
		fsl_phrase_add(phrase, " to ");
		fsl_phrase_add_ms(phrase, episode->after_ms);
		fsl_phrase_add(phrase, ", %.2f times", episode->after_ms / episode->before_ms);
		return;
	} else if (episode->until_step >= 0) {
		fsl_phrase_add(phrase, "steps %" PRId64 " to %" PRId64 " took ",
			       episode->onset_step, episode->until_step - 1);
	} else {
		fsl_phrase_add(phrase,
			       has_ended ? "from step %" PRId64 " to the end every step took "
					 : "since step %" PRId64 " every step takes ",
			       episode->onset_step);
	}
	fsl_phrase_add_percent(phrase, episode->after_ms / episode->before_ms - 1.0);
	fsl_phrase_add(phrase, " longer (");
	fsl_phrase_add_ms(phrase, episode->after_ms);
	fsl_phrase_add(phrase, " instead of ");
	fsl_phrase_add_ms(phrase, episode->before_ms);
	fsl_phrase_add(phrase, ")");
}

static void add_job_slowdown(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_step_episode *episode = fsl_longest_episode(report->perception);
	if (episode == NULL) {
		const char *reason = fsl_words_reason(report);
		fsl_phrase_add(phrase, "%s", *reason != '\0' ? reason : "steps take longer");
		return;
	}
	const struct fsl_outcome job = fsl_report_outcome(report);
	add_rise(phrase, episode, fsl_outcome_has_ended(&job));
	if (report->localisation == NULL) {
		return;
	}
	fsl_phrase_add(phrase, report->localisation->kind != FSL_VERDICT_INSUFFICIENT_EVIDENCE
				       ? "; no single rank explains it"
				       : "; who is to blame is unknown");
}

static void add_headline(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	enum fsl_verdict_kind kind = fsl_words_kind(report);
	if (fsl_localisation_has_failed(report->localisation)) {
		fsl_phrase_add(phrase, "FAILED: there is no verdict: %s",
			       fsl_text_or_empty(report->localisation->error_message));
		return;
	}
	fsl_phrase_add(phrase, "%s: ", words[kind].title);
	switch (kind) {
	case FSL_VERDICT_NORMAL:
		add_normal(phrase, report);
		break;
	case FSL_VERDICT_JOB_SLOWDOWN:
		add_job_slowdown(phrase, report);
		break;
	case FSL_VERDICT_HANG:
		add_hang(phrase, report);
		break;
	case FSL_VERDICT_INSUFFICIENT_EVIDENCE:
		add_insufficient(phrase, report);
		break;
	case FSL_VERDICT_STALLS:
		fsl_phrase_add(phrase, "%s", fsl_words_reason(report));
		break;
	case FSL_VERDICT_SLOW_RANK:
	case FSL_VERDICT_SLOW_HOST:
	case FSL_VERDICT_SLOW_LINK:
	case FSL_VERDICT_STAGE_IMBALANCE:
	case FSL_VERDICT_WORK_IMBALANCE:
	case FSL_VERDICT_HOST_PAUSES:
	case FSL_VERDICT_HOST_BOUND:
	case FSL_VERDICT_COMPUTE_BOUND:
	case FSL_VERDICT_COMMUNICATION_BOUND:
		add_culprit_sentence(phrase, kind, report);
		break;
	case FSL_VERDICTS_N:
		break;
	}
}

/* True if a sentence may end before @at. Behind any other comma may stand what changes its sense.
 * A sentence that ends so must be one of src/base/po/forms.txt. */
static bool is_end(const char *text, const char *at)
{
	static const char *const begins[] = {
		";",
		", which cost",
		", at frame ",
		", and nobody is late in it",
		", for a while in one group",
		", no rank is the slowest",
		", with kernels that are as fast",
		", with the same shapes",
		", so that nobody can be seen",
		": all ",
		": the captured rank",
		", point DIR or root_path",
		": path=",
	};
	int n_open = 0;
	bool is_begin = false;
	for (const char *c = text; c < at; c++) {
		n_open += (*c == '(') - (*c == ')');
	}
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		is_begin = is_begin || strncmp(at, begins[i], strlen(begins[i])) == 0;
	}
	return n_open <= 0 && is_begin;
}

/* Leaves out what stands behind the last clause that fits; "why" on the screen and "reason" in the
 * case hold the whole reason. */
static void shorten(struct fsl_phrase *phrase)
{
	enum { SENTENCE_MIN = 40 };
	static const char dots[] = "...";
	char *end = phrase->text, *last = NULL, *blank = phrase->text;
	for (size_t n = 0; *end != '\0' && n < FSL_HEADLINE_MAX; n++) {
		if (n >= SENTENCE_MIN && is_end(phrase->text, end)) {
			last = end;
		}
		blank = *end == ' ' && n + sizeof(dots) <= FSL_HEADLINE_MAX ? end : blank;
		size_t n_bytes = fsl_utf8_sequence(end);
		end += n_bytes > 0 ? n_bytes : 1;
	}
	if (*end == '\0') {
		return;
	}
	phrase->length = (size_t)((last != NULL ? last : blank) - phrase->text);
	phrase->text[phrase->length] = '\0';
	if (last == NULL) {
		fsl_phrase_add(phrase, " %s", dots);
	}
}

/* "seen in 2 of 5 steps", of the first of @n_culprits. */
static void add_when_of(struct fsl_phrase *headline, const struct fsl_culprit *first,
			size_t n_culprits)
{
	double n_seen = fsl_facts_value(first->evidence, first->n_evidence, FSL_FACT_STEPS_SEEN);
	double n_judged =
		fsl_facts_value(first->evidence, first->n_evidence, FSL_FACT_STEPS_JUDGED);
	if (!(n_seen < n_judged)) {
		return;
	}
	fsl_phrase_add(headline, "; ");
	if (n_culprits > 1 && first->peer < 0) {
		fsl_phrase_add(headline, "rank %d ", (int)first->rank);
	}
	if (n_seen > 0.0) {
		fsl_phrase_add(headline, "seen in %.0f of %.0f steps", n_seen, n_judged);
	} else {
		fsl_phrase_add(headline, "named by all %.0f steps together, by none of them alone",
			       n_judged);
	}
}

/* Who is slow in some steps must not read like one that always is. */
static void add_when(struct fsl_phrase *headline, const struct fsl_report *report)
{
	const struct fsl_localisation *verdict = report->localisation;
	if (verdict->n_culprits > 0) {
		add_when_of(headline, &verdict->culprits[0], verdict->n_culprits);
	}
	if (verdict->kind == FSL_VERDICT_NORMAL) {
		struct fsl_phrase passing = {0};
		if (fsl_by_step_add_passing(&passing, report->findings)) {
			fsl_phrase_add(headline, "; %s", passing.text);
		}
	}
}

void fsl_words_headline(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	add_headline(phrase, report);
	if (report->findings != NULL) {
		add_when(phrase, report);
	}
	for (char *c = phrase->text; *c != '\0'; c++) {
		*c = *c == '\n' || *c == '\r' ? '?' : *c; /* of a name */
	}
	shorten(phrase);
}
