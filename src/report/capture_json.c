/* Captures in the case: what judges found, and what the profiler wrote. Every number has its unit
 * in its key. */
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "model/topology.h"
#include "report/document.h"
#include "report/reporter.h"
#include "report/words.h"

enum { DECIMALS_NS = 6 /* of ms: what the profiler writes is told to the last digit */ };

static void put_ns(struct fsl_document *document, cJSON *parent, const char *key, int64_t ns)
{
	if (ns < 0) {
		fsl_document_null(document, parent, key);
	} else {
		fsl_document_number(document, parent, key, (double)ns / (double)FSL_NS_PER_MS,
				    DECIMALS_NS);
	}
}

static void put_size(struct fsl_document *document, cJSON *parent, const char *key, int64_t size)
{
	fsl_document_index(document, parent, key, size > 0 ? size : -1);
}

static int64_t world_size(const struct fsl_profile *profile)
{
	int64_t world = 0;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		int64_t own = profile->ranks[i].info.world_size;
		world = own > world ? own : world;
	}
	return world;
}

static const char *writer_text(enum fsl_profile_writer writer)
{
	switch (writer) {
	case FSL_PROFILE_PYTORCH:
		return "pytorch";
	case FSL_PROFILE_MINDSPORE:
		return "mindspore";
	case FSL_PROFILE_MSPROF:
		return "msprof";
	case FSL_PROFILE_KINETO:
		return "kineto";
	case FSL_PROFILE_UNKNOWN:
		break;
	}
	return "";
}

static const char *source_text(enum fsl_profile_rank_source source)
{
	switch (source) {
	case FSL_PROFILE_RANK_INFO_NAME:
		return "profiler_info name";
	case FSL_PROFILE_RANK_INFO_CONTENT:
		return "profiler_info content";
	case FSL_PROFILE_RANK_DB_NAME:
		return "database name";
	case FSL_PROFILE_RANK_METADATA:
		return "metadata";
	case FSL_PROFILE_RANK_FOLDER_NAME:
		return "folder name";
	case FSL_PROFILE_RANK_NONE:
		break;
	}
	return "order of folders";
}

static void put_place(struct fsl_document *document, cJSON *entry,
		      const struct fsl_profile_cluster *cluster, size_t i)
{
	if (!cluster->has_places) {
		fsl_document_null(document, entry, "place");
		return;
	}
	const struct fsl_profile_place *place = &cluster->places[i];
	cJSON *object = fsl_document_object(document, entry, "place");
	fsl_document_index(document, object, "dp", place->dp);
	fsl_document_index(document, object, "pp", place->pp);
	fsl_document_index(document, object, "tp", place->tp);
	fsl_document_index(document, object, "cp", place->cp);
}

static void put_stage_of(struct fsl_document *document, cJSON *entry,
			 const struct fsl_profile_cluster *cluster, int32_t rank)
{
	size_t stage = fsl_profile_stage_of(cluster, rank);
	fsl_document_index(document, entry, "stage", stage == SIZE_MAX ? -1 : (int64_t)stage);
}

static void put_ranks(struct fsl_document *document, cJSON *root, const struct fsl_report *report)
{
	cJSON *list = fsl_document_array(document, root, "ranks");
	for (size_t i = 0; i < report->profile->n_ranks && !document->has_failed; i++) {
		const struct fsl_profile_rank *rank = &report->profile->ranks[i];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, entry, "rank", rank->rank);
		fsl_document_text(document, entry, "folder", rank->folder.path);
		fsl_document_text(document, entry, "rankSource",
				  source_text(rank->folder.rank_source));
		fsl_document_told(document, entry, "writer", writer_text(rank->folder.writer));
		fsl_document_told(document, entry, "dialect",
				  rank->trace.dialect != NULL ? rank->trace.dialect : "");
		fsl_document_told(document, entry, "level", rank->info.level);
		fsl_document_told(document, entry, "torchVersion", rank->info.torch_version);
		fsl_document_told(document, entry, "cannVersion", rank->info.cann_version);
		fsl_document_told(document, entry, "host", rank->info.host_uid);
		put_stage_of(document, entry, report->cluster, rank->rank);
		put_place(document, entry, report->cluster, i);
	}
}

static void put_step(struct fsl_document *document, cJSON *list, int32_t rank,
		     const struct fsl_profile_step *step, const char *source)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_integer(document, entry, "rank", rank);
	fsl_document_index(document, entry, "step", step->step);
	fsl_document_text(document, entry, "source", source);
	put_ns(document, entry, "wholeMs", fsl_profile_step_ns(step));
	put_ns(document, entry, "computingMs", step->computing_ns);
	put_ns(document, entry, "exposedMs", step->exposed_ns);
	put_ns(document, entry, "freeMs", step->free_ns);
	put_ns(document, entry, "overlappedMs", step->overlapped_ns);
	put_ns(document, entry, "communicationMs", step->communication_ns);
	put_ns(document, entry, "stageMs", step->stage_ns);
	put_ns(document, entry, "bubbleMs", step->bubble_ns);
	put_ns(document, entry, "exposedNotReceiveMs", step->exposed_not_receive_ns);
	put_ns(document, entry, "preparingMs", step->preparing_ns);
}

static void put_steps(struct fsl_document *document, cJSON *root, const struct fsl_profile *profile)
{
	cJSON *list = fsl_document_array(document, root, "steps");
	for (size_t i = 0; i < profile->n_ranks && !document->has_failed; i++) {
		const struct fsl_profile_rank *rank = &profile->ranks[i];
		for (size_t s = 0; s < rank->n_steps && !document->has_failed; s++) {
			put_step(document, list, rank->rank, &rank->steps[s], "step_trace_time");
		}
		size_t n_rebuilt = 0;
		const struct fsl_profile_step *rebuilt = fsl_profile_rebuilt_rows(rank, &n_rebuilt);
		for (size_t s = 0; s < n_rebuilt && !document->has_failed; s++) {
			put_step(document, list, rank->rank, &rebuilt[s], "kernel_details");
		}
	}
}

static void put_stages(struct fsl_document *document, cJSON *root,
		       const struct fsl_profile_cluster *cluster)
{
	cJSON *list = fsl_document_array(document, root, "stages");
	for (size_t s = 0; s < cluster->n_stages && !document->has_failed; s++) {
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_count(document, entry, "stage", s);
		fsl_document_ranks(document, entry, "ranks", cluster->stages[s].ranks,
				   cluster->stages[s].n_ranks);
	}
}

static void put_groups(struct fsl_document *document, cJSON *root,
		       const struct fsl_profile_cluster *cluster)
{
	cJSON *list = fsl_document_array(document, root, "groups");
	for (size_t g = 0; g < cluster->n_groups && !document->has_failed; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "hash", group->hash);
		fsl_document_told(document, entry, "id", group->id);
		fsl_document_told(document, entry, "name", group->name);
		fsl_document_bool(document, entry, "pointToPoint", group->is_p2p);
		fsl_document_ranks(document, entry, "ranks", group->ranks, group->n_ranks);
		fsl_document_count(document, entry, "ranksSeen", group->n_seen);
		fsl_document_count(document, entry, "ranksExpected", group->size);
	}
}

static void put_seen(struct fsl_document *document, cJSON *entry,
		     const struct fsl_profile_finding *finding)
{
	cJSON *list = fsl_document_array(document, entry, "seenSteps");
	for (size_t i = 0; i < finding->n_seen_steps && !document->has_failed; i++) {
		fsl_document_integer(document, list, NULL, finding->seen_steps[i]);
	}
	fsl_document_count(document, entry, "stepsJudged", finding->n_steps);
}

static void put_lines(struct fsl_document *document, cJSON *parent,
		      const struct fsl_profile_finding *finding)
{
	cJSON *list = fsl_document_array(document, parent, "table");
	for (size_t i = 0; i < finding->n_lines && !document->has_failed; i++) {
		const struct fsl_profile_line *line = &finding->lines[i];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "kind", line->kind);
		fsl_document_text(document, entry, "name", line->name);
		fsl_document_number(document, entry, "msPerStep", line->ms, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "callsPerStep", line->count, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "share", line->share, FSL_DECIMALS_RATIO);
	}
}

static void put_finding(struct fsl_document *document, cJSON *list,
			const struct fsl_profile_finding *finding)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_text(document, entry, "layer",
			  fsl_profile_layer_text(fsl_code_row(finding->code)->layer));
	fsl_document_text(document, entry, "code", fsl_code_text(finding->code));
	fsl_document_index(document, entry, "rank", finding->rank);
	fsl_document_index(document, entry, "peer", finding->peer);
	fsl_document_index(document, entry, "step", finding->step);
	fsl_document_number(document, entry, "gainMs", finding->gain_ms, FSL_DECIMALS_MS);
	fsl_document_text(document, entry, "what", finding->what);
	fsl_document_told(document, entry, "advice", finding->advice);
	if (finding->n_steps > 0) {
		put_seen(document, entry, finding);
	}
	cJSON *facts = fsl_document_object(document, entry, "facts");
	for (size_t i = 0; i < finding->n_facts; i++) {
		fsl_document_fact(document, facts, &finding->facts[i]);
	}
	if (finding->n_lines > 0) {
		put_lines(document, entry, finding);
	}
}

static void put_sentences(struct fsl_document *document, cJSON *root, const char *key,
			  const char *const *sentences, size_t n)
{
	cJSON *list = fsl_document_array(document, root, key);
	for (size_t i = 0; i < n && !document->has_failed; i++) {
		fsl_document_text(document, list, NULL, sentences[i]);
	}
}

static void put_file(struct fsl_document *document, cJSON *list, const struct fsl_file *file)
{
	uint64_t n_dropped = 0;
	for (size_t drop = 0; drop < FSL_DROPS_N; drop++) {
		n_dropped += file->n_dropped[drop];
	}
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_integer(document, entry, "rank", file->rank);
	fsl_document_text(document, entry, "path", file->path);
	fsl_document_text(document, entry, "state", fsl_file_state_text(file->state));
	fsl_document_told(document, entry, "message", file->message);
	fsl_document_count(document, entry, "sizeBytes", file->n_bytes);
	fsl_document_count(document, entry, "rowsRead", file->n_records);
	fsl_document_count(document, entry, "rowsDropped", n_dropped);
}

static void put_files(struct fsl_document *document, cJSON *root, const struct fsl_profile *profile)
{
	cJSON *list = fsl_document_array(document, root, "files");
	for (size_t i = 0; i < profile->n_ranks; i++) {
		const struct fsl_profile_rank *rank = &profile->ranks[i];
		for (size_t f = 0; f < rank->n_files && !document->has_failed; f++) {
			put_file(document, list, &rank->files[f]);
		}
	}
}

/* The code for a culprit of other sources than captures; FSL_CODES_N: there is none. */
static enum fsl_code code_of(const struct fsl_culprit *culprit)
{
	static const enum fsl_code codes[FSL_CAUSES_N] = {
		[FSL_CAUSE_COMPUTE] = FSL_CODE_SLOW_RANK_COMPUTE,
		[FSL_CAUSE_HOST] = FSL_CODE_SLOW_RANK_HOST,
		[FSL_CAUSE_DATALOADER] = FSL_CODE_DATA_LOADING,
		[FSL_CAUSE_STORAGE] = FSL_CODES_N,
		[FSL_CAUSE_NETWORK] = FSL_CODE_SLOW_RANK_NETWORK,
	};
	return culprit->peer >= 0 ? FSL_CODE_SLOW_LINK : codes[culprit->cause];
}

/* True if an earlier culprit is the other end of the same link. */
static bool is_other_end(const struct fsl_localisation *verdict, size_t i)
{
	const struct fsl_culprit *culprit = &verdict->culprits[i];
	for (size_t k = 0; k < i && culprit->peer >= 0; k++) {
		const struct fsl_culprit *other = &verdict->culprits[k];
		if (other->rank == culprit->peer && other->peer == culprit->rank) {
			return true;
		}
	}
	return false;
}

/* Uneven work is one finding about the job; else each culprit is one. */
static void put_verdict(struct fsl_document *document, cJSON *list, const struct fsl_report *report)
{
	const struct fsl_localisation *verdict = report->localisation;
	const bool is_stage = verdict->kind == FSL_VERDICT_STAGE_IMBALANCE;
	struct fsl_phrase next = {0};
	fsl_words_next(&next, report);
	if (is_stage || verdict->kind == FSL_VERDICT_WORK_IMBALANCE) {
		struct fsl_profile_finding uneven = fsl_profile_finding_of(
			is_stage ? FSL_CODE_STAGE_IMBALANCE : FSL_CODE_MORE_WORK);
		uneven.gain_ms = verdict->lost_ms_per_step;
		uneven.what = verdict->reason;
		uneven.advice = next.text;
		put_finding(document, list, &uneven);
		return;
	}
	for (size_t i = 0; i < verdict->n_culprits && !document->has_failed; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		enum fsl_code code = code_of(culprit);
		if (code == FSL_CODES_N || is_other_end(verdict, i)) {
			continue;
		}
		struct fsl_profile_finding finding = fsl_profile_finding_of(code);
		finding.rank = culprit->rank;
		finding.peer = culprit->peer;
		finding.gain_ms = culprit->lost_ms_per_step;
		finding.what = culprit->reason;
		finding.advice = i == 0 ? next.text : "";
		finding.n_facts = culprit->n_evidence;
		memcpy(finding.facts, culprit->evidence, sizeof(finding.facts));
		put_finding(document, list, &finding);
	}
}

void fsl_document_findings(struct fsl_document *document, cJSON *parent,
			   const struct fsl_report *report)
{
	const struct fsl_profile_findings *findings = report->findings;
	cJSON *list = fsl_document_array(document, parent, "findings");
	for (size_t i = 0; findings != NULL && i < findings->n_items && !document->has_failed;
	     i++) {
		put_finding(document, list, &findings->items[i]);
	}
	if (report->profile == NULL && report->localisation != NULL) {
		put_verdict(document, list, report);
	}
}

/* The kind by the name that the framework gave: "dp_cp" is data parallelism. */
static enum fsl_group_kind kind_of(const char *name)
{
	if (strcmp(name, "default_group") == 0) {
		return FSL_GROUP_WORLD;
	}
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		const char *text = fsl_group_kind_text((enum fsl_group_kind)kind);
		size_t length = strlen(text);
		if (strncmp(name, text, length) == 0 &&
		    (name[length] == '\0' || name[length] == '_')) {
			return (enum fsl_group_kind)kind;
		}
	}
	return FSL_GROUP_UNKNOWN;
}

static void put_named_group(struct fsl_document *document, cJSON *kinds,
			    const struct fsl_profile_group *group)
{
	const char *kind = fsl_group_kind_text(kind_of(group->name));
	const char *name = *group->name != '\0' ? group->name : group->id;
	cJSON *list = cJSON_GetObjectItem(kinds, kind);
	if (list == NULL) {
		list = fsl_document_array(document, kinds, kind);
	}
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_text(document, entry, "name", *name != '\0' ? name : group->hash);
	fsl_document_ranks(document, entry, "ranks", group->ranks, group->n_ranks);
	fsl_document_text(document, entry, "knownBy", "capture");
	fsl_document_text(document, entry, "why",
			  *group->name != '\0'
				  ? "named so in the metadata of the capture"
				  : "used in the capture, whose metadata do not name it");
}

void fsl_document_capture_topology(struct fsl_document *document, cJSON *parent,
				   const struct fsl_profile_cluster *cluster)
{
	size_t n_groups = 0;
	cJSON *object = fsl_document_object(document, parent, "topology");
	cJSON *kinds = fsl_document_object(document, NULL, NULL);
	for (size_t g = 0; g < cluster->n_groups && !document->has_failed; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		/* A group with both uses is listed twice there. */
		if (group->is_p2p &&
		    fsl_profile_group_find(cluster, group->hash, false) != SIZE_MAX) {
			continue;
		}
		if (n_groups++ < FSL_GROUPS_LISTED_MAX) {
			put_named_group(document, kinds, group);
		}
	}
	size_t n_listed = n_groups < FSL_GROUPS_LISTED_MAX ? n_groups : FSL_GROUPS_LISTED_MAX;
	fsl_document_count(document, object, "groupsTotal", n_groups);
	fsl_document_count(document, object, "groupsNotListed", n_groups - n_listed);
	fsl_document_item(document, object, "groups", kinds);
}

void fsl_document_capture(struct fsl_document *document, cJSON *parent,
			  const struct fsl_report *report)
{
	const struct fsl_profile *profile = report->profile;
	if (profile == NULL) {
		fsl_document_null(document, parent, "capture");
		return;
	}
	cJSON *object = fsl_document_object(document, parent, "capture");
	put_size(document, object, "worldSize", world_size(profile));
	put_ranks(document, object, report);
	put_steps(document, object, profile);
	put_stages(document, object, report->cluster);
	put_groups(document, object, report->cluster);
	fsl_document_capture_links(document, object, report);
	put_sentences(document, object, "missing", report->findings->missing,
		      report->findings->n_missing);
	put_sentences(document, object, "remarks", profile->remarks, profile->n_remarks);
	put_files(document, object, profile);
}
