/* What the case says beside the verdict: what was ruled out and why, and what could be won. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blame/fuse.h"
#include "blame/limits.h"
#include "judge/finding.h"
#include "report/case_parts.h"
#include "text/phrase.h"

enum { NAMED_MAX = 8 /* ranks or links of one what-if */ };

/* Loss of a step from which on somebody is named; NaN if the length of a step is unknown. */
static double least_ms(const struct fsl_case_parts *parts)
{
	double step_ms = parts->verdict->step_ms;
	return parts->config != NULL ? fsl_least_loss_ms(parts->config, step_ms)
				     : FSL_CAPTURE_NAMED_SHARE_MIN * step_ms;
}

/* @rank, @peer -1 and @cause NULL: not about one. */
static void put_ruled_out(struct fsl_document *document, cJSON *list, int32_t rank, int32_t peer,
			  const char *cause, double excess_ms, const char *why)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_index(document, entry, "rank", rank);
	fsl_document_index(document, entry, "peer", peer);
	fsl_document_told(document, entry, "cause", cause);
	fsl_document_number(document, entry, "excessMs", excess_ms, FSL_DECIMALS_MS);
	fsl_document_text(document, entry, "why", why);
}

static void put_suspects(const struct fsl_case_parts *parts, cJSON *list,
			 const struct fsl_suspect *suspects, size_t n, double half_ms)
{
	for (size_t i = 0; i < n && !parts->document->has_failed; i++) {
		const struct fsl_suspect *suspect = &suspects[i];
		/* Suspects for their own work are above half of what counts by that. */
		if (suspect->late_ms_per_step >= half_ms ||
		    strcmp(fsl_text_or_empty(suspect->detector), FSL_OWN_TIME_DETECTOR) == 0) {
			put_ruled_out(parts->document, list, suspect->rank, -1, NULL,
				      suspect->late_ms_per_step, suspect->reason);
		}
	}
}

/* True if a what-if is about something that the verdict names. */
static bool is_named(const struct fsl_localisation *verdict, const struct fsl_whatif *whatif)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		bool is_network = culprit->cause == FSL_CAUSE_NETWORK;
		if (whatif->kind == FSL_WHATIF_TRANSFER ? is_network : !is_network) {
			return true;
		}
	}
	return false;
}

/* Parts of all ranks' work and transfer that the replay finds costly beside what is named. */
static void put_causes(const struct fsl_case_parts *parts, cJSON *list, double half_ms)
{
	const struct fsl_replay_summary *replay = &parts->verdict->replay;
	for (size_t i = 0; i < replay->n_whatifs && !parts->document->has_failed; i++) {
		const struct fsl_whatif *whatif = &replay->whatifs[i];
		bool is_cause =
			whatif->kind == FSL_WHATIF_WORK || whatif->kind == FSL_WHATIF_TRANSFER;
		struct fsl_phrase why = {0};
		if (!is_cause || !(whatif->cost_ms >= half_ms) ||
		    is_named(parts->verdict, whatif)) {
			continue;
		}
		fsl_phrase_add(&why, "replayed, the job loses %.1f ms per step by it; ",
			       whatif->cost_ms);
		if (whatif->cost_ms < 2.0 * half_ms) {
			fsl_phrase_add(&why, "%.1f ms count", 2.0 * half_ms);
		} else {
			fsl_phrase_add(&why,
				       "it is spread over the job, and no rank or link stands "
				       "out by it");
		}
		put_ruled_out(parts->document, list, -1, -1, whatif->name, whatif->cost_ms,
			      why.text);
	}
}

/* Findings that would name somebody, and do not in this verdict. */
static void put_findings(const struct fsl_case_parts *parts, cJSON *list, double half_ms)
{
	const struct fsl_profile_findings *findings = parts->report->findings;
	const struct fsl_localisation *verdict = parts->verdict;
	for (size_t i = 0; findings != NULL && i < findings->n_items; i++) {
		const struct fsl_profile_finding *finding = &findings->items[i];
		enum fsl_code_names names = fsl_code_row(finding->code)->names;
		bool is_told = names == FSL_NAMES_LINK
				       ? verdict->kind == FSL_VERDICT_SLOW_LINK
				       : verdict->kind == FSL_VERDICT_STAGE_IMBALANCE;
		if ((names != FSL_NAMES_LINK && names != FSL_NAMES_STAGE) || is_told ||
		    finding->step >= 0 || !(finding->gain_ms >= half_ms) ||
		    parts->document->has_failed) {
			continue;
		}
		struct fsl_phrase why = {0};
		fsl_phrase_add(&why,
			       finding->gain_ms < 2.0 * half_ms
				       ? "costs less than the %.1f ms per step that count: %s"
				       : "costs %.1f ms or more, but what the verdict names "
					 "goes before it: %s",
			       2.0 * half_ms, finding->what);
		put_ruled_out(parts->document, list, finding->rank, finding->peer,
			      fsl_code_text(finding->code), finding->gain_ms, why.text);
	}
}

void fsl_case_put_ruled_out(const struct fsl_case_parts *parts, cJSON *root)
{
	cJSON *list = fsl_document_array(parts->document, root, "ruledOut");
	const struct fsl_localisation *verdict = parts->verdict;
	double half_ms = 0.5 * least_ms(parts);
	put_suspects(parts, list, verdict->unconfirmed, verdict->n_unconfirmed, half_ms);
	put_suspects(parts, list, verdict->victims, verdict->n_victims, half_ms);
	put_causes(parts, list, half_ms);
	put_findings(parts, list, half_ms);
}

static void put_gain(const struct fsl_case_parts *parts, cJSON *list, const char *kind,
		     const char *name, double ms)
{
	struct fsl_document *document = parts->document;
	if (!isfinite(ms)) {
		return;
	}
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_text(document, entry, "kind", kind);
	fsl_document_text(document, entry, "name", name);
	fsl_document_number(document, entry, "ms", ms, FSL_DECIMALS_MS);
	fsl_document_number(document, entry, "share", ms / parts->verdict->step_ms,
			    FSL_DECIMALS_RATIO);
}

/* "3" or, of a link, "2-6". */
static void put_gain_of(const struct fsl_case_parts *parts, cJSON *list,
			const struct fsl_profile_finding *finding)
{
	struct fsl_phrase name = {0};
	bool is_link = finding->code == FSL_CODE_SLOW_LINK;
	for (size_t m = 0; m < finding->n_members && m < NAMED_MAX; m++) {
		fsl_phrase_add(&name, "%s%" PRId32, m > 0 ? ", " : "", finding->members[m]);
	}
	fsl_phrase_add(&name, "%s", finding->n_members > NAMED_MAX ? ", …" : "");
	if (finding->n_members == 0) {
		fsl_phrase_add(&name, "%" PRId32, finding->rank);
	}
	if (finding->peer >= 0) {
		fsl_phrase_add(&name, "-%" PRId32, finding->peer);
	}
	put_gain(parts, list,
		 is_link                  ? "link"
		 : finding->n_members > 0 ? "ranks"
					  : "rank",
		 name.text, finding->gain_ms);
}

static void put_gain_of_stage(const struct fsl_case_parts *parts, cJSON *list,
			      const struct fsl_profile_finding *finding)
{
	char name[32] = "";
	for (size_t f = 0; f < finding->n_facts; f++) {
		if (strcmp(finding->facts[f].name, "stage") == 0) {
			(void)snprintf(name, sizeof(name), "%.0f", finding->facts[f].value);
		}
	}
	put_gain(parts, list, "stage", name, finding->gain_ms);
}

/* Who the verdict names, all culprits together. */
struct named {
	const char *kind; /* of a what-if; NULL: nobody */
	struct fsl_phrase name;
};

static bool is_on_one_host(const struct fsl_localisation *verdict)
{
	const char *host = fsl_text_or_empty(verdict->culprits[0].server_ip);
	for (size_t i = 1; i < verdict->n_culprits; i++) {
		if (strcmp(fsl_text_or_empty(verdict->culprits[i].server_ip), host) != 0) {
			return false;
		}
	}
	return *host != '\0';
}

/* "8, 9" of ranks, "2-6, 3-7" of links. */
static void add_names(struct named *named, const struct fsl_localisation *verdict)
{
	size_t n = 0;
	bool is_link = verdict->kind == FSL_VERDICT_SLOW_LINK;
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		bool is_far_end = culprit->peer >= 0 && culprit->rank > culprit->peer;
		if (is_far_end || n++ >= NAMED_MAX) {
			continue;
		}
		fsl_phrase_add(&named->name, "%s%" PRId32, n > 1 ? ", " : "", culprit->rank);
		if (culprit->peer >= 0) {
			fsl_phrase_add(&named->name, "-%" PRId32, culprit->peer);
		}
	}
	fsl_phrase_add(&named->name, "%s", n > NAMED_MAX ? ", …" : "");
	named->kind = is_link ? "link" : n > 1 ? "ranks" : "rank";
}

static struct named who_is_named(const struct fsl_localisation *verdict)
{
	struct named named = {.kind = NULL};
	const struct fsl_culprit *first = verdict->culprits;
	if (verdict->n_culprits == 0) {
		return named;
	}
	if (verdict->kind == FSL_VERDICT_SLOW_HOST && is_on_one_host(verdict)) {
		named.kind = "host";
		fsl_phrase_add(&named.name, "%s", first->server_ip);
	} else if (verdict->kind == FSL_VERDICT_STAGE_IMBALANCE && first->stage >= 0) {
		named.kind = "stage";
		fsl_phrase_add(&named.name, "%" PRId32, first->stage);
	} else {
		add_names(&named, verdict);
	}
	return named;
}

/* Adds gains that the replay tells, but for those whom the verdict names: they would come twice. */
static void put_replayed(const struct fsl_case_parts *parts, cJSON *list, const struct named *named)
{
	const struct fsl_replay_summary *replay = &parts->verdict->replay;
	for (size_t i = 0; i < replay->n_whatifs && !parts->document->has_failed; i++) {
		const struct fsl_whatif *whatif = &replay->whatifs[i];
		bool is_cause =
			whatif->kind == FSL_WHATIF_WORK || whatif->kind == FSL_WHATIF_TRANSFER;
		const char *kind = is_cause ? "cause" : fsl_whatif_text(whatif->kind);
		if (named->kind == NULL || strcmp(kind, named->kind) != 0 ||
		    strcmp(whatif->name, named->name.text) != 0) {
			put_gain(parts, list, kind, whatif->name, whatif->gain_ms);
		}
	}
}

void fsl_case_put_whatif(const struct fsl_case_parts *parts, cJSON *root)
{
	const struct fsl_localisation *verdict = parts->verdict;
	const struct fsl_profile_findings *findings = parts->report->findings;
	bool is_link = verdict->kind == FSL_VERDICT_SLOW_LINK;
	const struct named named = who_is_named(verdict);
	cJSON *list = fsl_document_array(parts->document, root, "whatIf");
	if (named.kind != NULL) {
		put_gain(parts, list, named.kind, named.name.text, verdict->lost_ms_per_step);
	}
	put_replayed(parts, list, &named);
	for (size_t i = 0; findings != NULL && i < findings->n_items; i++) {
		const struct fsl_profile_finding *finding = &findings->items[i];
		if (finding->step >= 0 || parts->document->has_failed) {
			continue;
		}
		if (finding->code == FSL_CODE_MORE_WORK ||
		    (finding->code == FSL_CODE_SLOW_LINK && !is_link)) {
			put_gain_of(parts, list, finding);
		} else if (finding->code == FSL_CODE_STAGE_IMBALANCE) {
			put_gain_of_stage(parts, list, finding);
		}
	}
}
