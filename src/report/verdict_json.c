/* The localisation as JSON: sysTrace's keys first, in its types and order, then ours. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/strpool.h"
#include "report/document.h"
#include "report/report.h"

enum {
	SCHEMA_VERSION = 1,
	FACT_KEY_MAX = 96,
};

static const char *method_text(enum fsl_method method)
{
	switch (method) {
	case FSL_METHOD_SPACE:
		return "SPACE";
	case FSL_METHOD_TIME:
		return "TIME";
	case FSL_METHOD_LACK:
		return "LACK";
	}
	return "";
}

/* [{"<timestamp ms>": "<value>", "abnormal": label}], texts as Python's str(float). */
static void put_kpi(struct fsl_document *document, cJSON *parent, const struct fsl_detail *detail)
{
	cJSON *list = fsl_document_array(document, parent, "kpiData");
	for (size_t i = 0; i < detail->n_kpi && !document->has_failed; i++) {
		const struct fsl_kpi_point *point = &detail->kpi[i];
		char key[40];
		char value[40];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry,
				  fsl_python_float(point->timestamp_ms, key, sizeof(key)),
				  fsl_python_float(point->value, value, sizeof(value)));
		if (detail->is_abnormal) {
			fsl_document_integer(document, entry, "abnormal", point->abnormal);
		}
	}
}

static void put_detail(struct fsl_document *document, cJSON *list, const struct fsl_detail *detail)
{
	char object_id[16];
	char device[24];
	(void)snprintf(object_id, sizeof(object_id), "%d", detail->rank);
	(void)snprintf(device, sizeof(device), "rank_%d", detail->rank);
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_text(document, entry, "objectId", object_id);
	fsl_document_text(document, entry, "serverIp", detail->server_ip);
	fsl_document_text(document, entry, "deviceInfo", device);
	fsl_document_text(document, entry, "kpiId", detail->kpi_id);
	fsl_document_text(document, entry, "methodType", method_text(detail->method));
	put_kpi(document, entry, detail);
	fsl_document_ranks(document, entry, "relaIds", detail->rela_ranks, detail->n_rela_ranks);
	fsl_document_ranks(document, entry, "omittedDevices", detail->omitted_ranks,
			   detail->n_omitted_ranks);
}

static void put_details(struct fsl_document *document, cJSON *root, const char *key,
			const struct fsl_detail *details, size_t n_details)
{
	cJSON *list = fsl_document_array(document, root, key);
	for (size_t i = 0; i < n_details && !document->has_failed; i++) {
		put_detail(document, list, &details[i]);
	}
}

static void put_systrace(struct fsl_document *document, cJSON *root,
			 const struct fsl_localisation *localisation, int64_t now_ns)
{
	fsl_document_integer(document, root, "resultCode", localisation->result_code);
	fsl_document_bool(document, root, "compute", localisation->compute);
	fsl_document_bool(document, root, "network", localisation->network);
	fsl_document_bool(document, root, "storage", localisation->storage);
	put_details(document, root, "abnormalDetail", localisation->abnormal,
		    localisation->n_abnormal);
	put_details(document, root, "normalDetail", localisation->normal, localisation->n_normal);
	fsl_document_text(document, root, "errorMsg", localisation->error_message);
	fsl_document_integer(document, root, "timestamp", now_ns / FSL_NS_PER_S);
}

/* Appends "_peer_ms"-like @words to @key in camel case. */
static void append_camel(char *key, size_t size, const char *words)
{
	size_t length = strlen(key);
	bool is_upper = length > 0;
	for (const char *c = words; *c != '\0' && length + 1 < size; c++) {
		if (!isalnum((unsigned char)*c)) {
			is_upper = length > 0;
			continue;
		}
		key[length++] = (char)(is_upper ? toupper((unsigned char)*c) : *c);
		is_upper = false;
	}
	key[length] = '\0';
}

static bool ends_with_word(const char *name, const char *word)
{
	size_t n_name = strlen(name);
	size_t n_word = strlen(word);
	return n_name > n_word && name[n_name - n_word - 1] == '_' &&
	       strcmp(name + n_name - n_word, word) == 0;
}

/* {"own", 560.0, "ms"} is "ownMs": 560.0; {"slow_ratio", 1.2, "ratio"} is "slowRatio": 1.2. */
void fsl_document_fact(struct fsl_document *document, cJSON *evidence, const struct fsl_fact *fact)
{
	char key[FACT_KEY_MAX] = "";
	append_camel(key, sizeof(key), fact->name);
	if (!ends_with_word(fact->name, fact->unit)) {
		append_camel(key, sizeof(key), fact->unit);
	}
	if (strcmp(fact->unit, "ms") == 0) {
		fsl_document_number(document, evidence, key, fact->value, FSL_DECIMALS_MS);
	} else if (strcmp(fact->unit, "ratio") == 0 || strcmp(fact->unit, "share") == 0) {
		fsl_document_number(document, evidence, key, fact->value, FSL_DECIMALS_RATIO);
	} else {
		fsl_document_significant(document, evidence, key, fact->value, 6);
	}
}

void fsl_document_evidence(struct fsl_document *document, cJSON *parent,
			   const struct fsl_culprit *culprit)
{
	cJSON *evidence = fsl_document_object(document, parent, "evidence");
	for (size_t i = 0; i < culprit->n_evidence; i++) {
		fsl_document_fact(document, evidence, &culprit->evidence[i]);
	}
}

static void put_culprit(struct fsl_document *document, cJSON *list,
			const struct fsl_culprit *culprit)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_integer(document, entry, "rank", culprit->rank);
	fsl_document_text(document, entry, "serverIp", culprit->server_ip);
	fsl_document_text(document, entry, "cause", fsl_cause_text(culprit->cause));
	if (culprit->other_cause < FSL_CAUSES_N) {
		fsl_document_text(document, entry, "otherCause",
				  fsl_cause_text(culprit->other_cause));
	}
	fsl_document_number(document, entry, "lostMsPerStep", culprit->lost_ms_per_step,
			    FSL_DECIMALS_MS);
	fsl_document_number(document, entry, "shareOfLoss", culprit->share_of_loss,
			    FSL_DECIMALS_RATIO);
	fsl_document_index(document, entry, "onsetStep", culprit->onset_step);
	fsl_document_time(document, entry, "onsetTime", culprit->onset_ns);
	fsl_document_number(document, entry, "confidence", culprit->confidence, FSL_DECIMALS_RATIO);
	fsl_document_evidence(document, entry, culprit);
	if (culprit->peer >= 0) {
		fsl_document_integer(document, entry, "peer", culprit->peer);
	}
	if (culprit->stage >= 0) {
		fsl_document_integer(document, entry, "stage", culprit->stage);
	}
	if (culprit->until_step >= 0) {
		fsl_document_integer(document, entry, "untilStep", culprit->until_step);
	}
	fsl_document_text(document, entry, "reason", culprit->reason);
}

void fsl_document_suspects(struct fsl_document *document, cJSON *root, const char *key,
			   const struct fsl_suspect *suspects, size_t n_suspects)
{
	cJSON *list = fsl_document_array(document, root, key);
	for (size_t i = 0; i < n_suspects && !document->has_failed; i++) {
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, entry, "rank", suspects[i].rank);
		fsl_document_number(document, entry, "lateMsPerStep", suspects[i].late_ms_per_step,
				    FSL_DECIMALS_MS);
		fsl_document_text(document, entry, "detector", suspects[i].detector);
		fsl_document_text(document, entry, "reason", suspects[i].reason);
	}
}

static void put_group(struct fsl_document *document, cJSON *list, const struct fsl_group *group,
		      const struct fsl_run *run)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	if (group->name_id == FSL_STR_NONE || run == NULL) {
		fsl_document_null(document, entry, "name");
	} else {
		fsl_document_text(document, entry, "name",
				  fsl_strpool_text(run->names, group->name_id));
	}
	fsl_document_ranks(document, entry, "ranks", group->ranks, group->n_ranks);
	fsl_document_text(document, entry, "knownBy", fsl_known_by_text(group->known_by));
	fsl_document_text(document, entry, "why", group->why);
}

/* Groups are sorted by kind, so each kind is one run of them. */
void fsl_document_topology(struct fsl_document *document, cJSON *root,
			   const struct fsl_topology *topology, const struct fsl_run *run)
{
	size_t n_groups = topology != NULL ? topology->n_groups : 0;
	size_t n_listed = n_groups;
	if (n_listed > FSL_GROUPS_LISTED_MAX) {
		n_listed = FSL_GROUPS_LISTED_MAX;
	}
	cJSON *object = fsl_document_object(document, root, "topology");
	fsl_document_count(document, object, "groupsTotal", n_groups);
	fsl_document_count(document, object, "groupsNotListed", n_groups - n_listed);
	cJSON *kinds = fsl_document_object(document, object, "groups");
	cJSON *list = NULL;
	for (size_t i = 0; i < n_listed && !document->has_failed; i++) {
		const struct fsl_group *group = &topology->groups[i];
		if (i == 0 || group->kind != topology->groups[i - 1].kind) {
			list = fsl_document_array(document, kinds,
						  fsl_group_kind_text(group->kind));
		}
		put_group(document, list, group, run);
	}
}

static void put_whatif(struct fsl_document *document, cJSON *list, const struct fsl_whatif *whatif)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_text(document, entry, "kind", fsl_whatif_text(whatif->kind));
	fsl_document_text(document, entry, "name", whatif->name);
	fsl_document_number(document, entry, "gainMs", whatif->gain_ms, FSL_DECIMALS_MS);
	fsl_document_number(document, entry, "costMs", whatif->cost_ms, FSL_DECIMALS_MS);
}

/* null when the job was not replayed. */
void fsl_document_replay(struct fsl_document *document, cJSON *root,
			 const struct fsl_replay_summary *replay)
{
	if (!replay->is_on) {
		fsl_document_null(document, root, "replay");
		return;
	}
	cJSON *object = fsl_document_object(document, root, "replay");
	fsl_document_bool(document, object, "trusted", replay->is_trusted);
	fsl_document_text(document, object, "doubt", replay->doubt);
	fsl_document_count(document, object, "steps", replay->n_steps);
	fsl_document_number(document, object, "errorMedianShare", replay->error_median,
			    FSL_DECIMALS_RATIO);
	fsl_document_number(document, object, "errorP95Share", replay->error_p95,
			    FSL_DECIMALS_RATIO);
	fsl_document_number(document, object, "errorMeanShare", replay->error_mean,
			    FSL_DECIMALS_RATIO);
	fsl_document_number(document, object, "slowdownAll", replay->slowdown_all,
			    FSL_DECIMALS_RATIO);
	fsl_document_number(document, object, "culpritsShare", replay->culprits_share,
			    FSL_DECIMALS_RATIO);
	fsl_document_number(document, object, "worstRanksShare", replay->worst_ranks_share,
			    FSL_DECIMALS_RATIO);
	fsl_document_number(document, object, "lastStageShare", replay->last_stage_share,
			    FSL_DECIMALS_RATIO);
	cJSON *list = fsl_document_array(document, object, "whatIf");
	for (size_t i = 0; i < replay->n_whatifs && !document->has_failed; i++) {
		put_whatif(document, list, &replay->whatifs[i]);
	}
}

/* null where nothing was lost. */
void fsl_document_loss_source(struct fsl_document *document, cJSON *root,
			      const struct fsl_localisation *localisation)
{
	if (localisation->n_culprits == 0 || isnan(localisation->lost_ms_per_step)) {
		fsl_document_null(document, root, "lossSource");
		return;
	}
	fsl_document_text(document, root, "lossSource",
			  localisation->is_loss_replayed ? "replay" : "waits");
}

static void put_chapter(struct fsl_document *document, cJSON *list,
			const struct fsl_chapter_note *chapter)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_time(document, entry, "from", chapter->begin_ns);
	fsl_document_time(document, entry, "to", chapter->end_ns);
	fsl_document_bool(document, entry, "isTold", chapter->is_told);
	fsl_document_text(document, entry, "verdict", fsl_verdict_text(chapter->kind));
	fsl_document_count(document, entry, "steps", chapter->n_steps);
	fsl_document_number(document, entry, "stepMs", chapter->step_ms, FSL_DECIMALS_MS);
	fsl_document_number(document, entry, "slowdown", chapter->slowdown, FSL_DECIMALS_RATIO);
	fsl_document_number(document, entry, "lostMsPerStep", chapter->lost_ms_per_step,
			    FSL_DECIMALS_MS);
	cJSON *culprits = fsl_document_array(document, entry, "culprits");
	for (size_t i = 0; i < chapter->n_culprits && !document->has_failed; i++) {
		const struct fsl_culprit *culprit = &chapter->culprits[i];
		cJSON *object = fsl_document_object(document, culprits, NULL);
		fsl_document_integer(document, object, "rank", culprit->rank);
		fsl_document_index(document, object, "peer", culprit->peer);
		fsl_document_text(document, object, "cause", fsl_cause_text(culprit->cause));
		fsl_document_number(document, object, "lostMsPerStep", culprit->lost_ms_per_step,
				    FSL_DECIMALS_MS);
	}
}

/* Only captures that were judged in chapters have the key. */
void fsl_document_chapters(struct fsl_document *document, cJSON *root,
			   const struct fsl_localisation *localisation)
{
	cJSON *list = localisation->n_chapters > 0 ? fsl_document_array(document, root, "chapters")
						   : NULL;
	for (size_t k = 0; k < localisation->n_chapters && !document->has_failed; k++) {
		put_chapter(document, list, &localisation->chapters[k]);
	}
}

static void put_verdict(struct fsl_document *document, cJSON *root,
			const struct fsl_localisation *localisation)
{
	fsl_document_text(document, root, "verdict", fsl_verdict_text(localisation->kind));
	fsl_document_number(document, root, "confidence", localisation->confidence,
			    FSL_DECIMALS_RATIO);
	fsl_document_time(document, root, "faultTime", localisation->fault_ns);
	fsl_document_number(document, root, "slowdown", localisation->slowdown, FSL_DECIMALS_RATIO);
	fsl_document_number(document, root, "stepMs", localisation->step_ms, FSL_DECIMALS_MS);
	fsl_document_number(document, root, "lostMsPerStep", localisation->lost_ms_per_step,
			    FSL_DECIMALS_MS);
	fsl_document_loss_source(document, root, localisation);
	fsl_document_text(document, root, "reason", localisation->reason);
	cJSON *culprits = fsl_document_array(document, root, "culprits");
	for (size_t i = 0; i < localisation->n_culprits && !document->has_failed; i++) {
		put_culprit(document, culprits, &localisation->culprits[i]);
	}
	fsl_document_suspects(document, root, "victims", localisation->victims,
			      localisation->n_victims);
	fsl_document_suspects(document, root, "unconfirmed", localisation->unconfirmed,
			      localisation->n_unconfirmed);
	fsl_document_replay(document, root, &localisation->replay);
	fsl_document_chapters(document, root, localisation);
}

static void put_ours(struct fsl_document *document, cJSON *root,
		     const struct fsl_localisation *localisation,
		     const struct fsl_topology *topology, const struct fsl_run *run)
{
	fsl_document_integer(document, root, "schemaVersion", SCHEMA_VERSION);
	put_verdict(document, root, localisation);
	fsl_document_coverage(document, root, &localisation->coverage, run);
	fsl_document_topology(document, root, topology, run);
	fsl_document_bool(document, root, "suppressed", localisation->is_suppressed);
	fsl_document_time(document, root, "suppressedSince",
			  localisation->is_suppressed ? localisation->suppressed_since_ns
						      : FSL_NS_ABSENT);
	fsl_document_engine(document, root, localisation->algorithm);
}

cJSON *fsl_localisation_json(const struct fsl_localisation *localisation,
			     const struct fsl_topology *topology, const struct fsl_run *run,
			     const struct fsl_config *config)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	put_systrace(&document, root, localisation, config->now_ns);
	if (config->verdict_schema == FSL_SCHEMA_FAILSLOW) {
		put_ours(&document, root, localisation, topology, run);
	}
	return fsl_document_finish(&document, root);
}
