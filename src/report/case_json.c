/* The case as JSON: docs/case.schema.json. Every key is there for every source; null if unknown. */
#include "report/case_json.h"

#include <math.h>
#include <string.h>

#include "account/account.h"
#include "base/number.h"
#include "base/strpool.h"
#include "capture/cluster.h"
#include "judge/finding.h"
#include "model/steps.h"
#include "report/case_parts.h"
#include "report/report.h"
#include "report/words.h"

enum { SOURCES_MAX = 32 };

static const char *const state_texts[] = {
	[FSL_STATE_CLEAR] = "clear",
	[FSL_STATE_ACTIVE] = "active",
	[FSL_STATE_OVER] = "over",
	[FSL_STATE_UNKNOWN] = "unknown",
};

static const char *phase_of(const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	bool is_silent = perception != NULL &&
			 (perception->n_stalled > 0 || fsl_words_kind(report) == FSL_VERDICT_HANG);
	const struct fsl_outcome job = fsl_report_outcome(report);
	return fsl_outcome_has_ended(&job) ? "ended" : is_silent ? "silent" : "running";
}

static const char *host_of_rank(const struct fsl_report *report, size_t r)
{
	return report->profile != NULL ? report->profile->ranks[r].info.host_uid
				       : report->run->ranks[r].server_ip;
}

/* Number of hosts that the files tell; 0: none. */
static size_t count_hosts(const struct fsl_report *report)
{
	size_t n_hosts = 0, n = report->profile != NULL ? report->profile->n_ranks
				: report->run != NULL   ? report->run->n_ranks
							: 0;
	struct fsl_strpool *hosts = fsl_strpool_create();
	for (size_t r = 0; hosts != NULL && r < n; r++) {
		const char *host = fsl_text_or_empty(host_of_rank(report, r));
		uint32_t id = 0;
		if (*host != '\0' && fsl_strpool_find(hosts, host, strlen(host)) == FSL_STR_NONE &&
		    fsl_strpool_intern(hosts, host, strlen(host), &id, NULL) == FSL_OK) {
			n_hosts++;
		}
	}
	fsl_strpool_destroy(hosts);
	return n_hosts;
}

struct source {
	const char *kind;
	uint64_t n_files, n_bytes;
};

static void count_file(struct source *sources, size_t *n, const char *kind, uint64_t n_bytes)
{
	size_t i = 0;
	while (i < *n && strcmp(sources[i].kind, kind) != 0) {
		i++;
	}
	if (i == SOURCES_MAX) {
		return;
	}
	*n += i == *n;
	sources[i].kind = kind;
	sources[i].n_files++;
	sources[i].n_bytes += n_bytes;
}

/* Files by their format, in the order of the files; those without a format are "other". */
static void put_sources(struct fsl_document *document, cJSON *job, const struct fsl_report *report)
{
	struct source sources[SOURCES_MAX] = {{0}};
	size_t n = 0;
	for (size_t f = 0; report->run != NULL && f < report->run->n_files; f++) {
		const struct fsl_file *file = &report->run->files[f];
		const char *format = fsl_text_or_empty(file->format);
		count_file(sources, &n, *format != '\0' ? format : "other", file->n_bytes);
	}
	for (size_t r = 0; report->profile != NULL && r < report->profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &report->profile->ranks[r];
		for (size_t f = 0; f < rank->n_files; f++) {
			count_file(sources, &n, "profiler", rank->files[f].n_bytes);
		}
	}
	cJSON *list = fsl_document_array(document, job, "sources");
	for (size_t i = 0; i < n && !document->has_failed; i++) {
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "kind", sources[i].kind);
		fsl_document_count(document, entry, "files", sources[i].n_files);
		fsl_document_count(document, entry, "bytes", sources[i].n_bytes);
	}
}

/* Steps of all chapters, or of the run. */
static uint64_t count_steps(const struct fsl_localisation *verdict)
{
	uint64_t n = verdict->n_chapters == 0 ? verdict->coverage.n_steps : 0;
	for (size_t k = 0; k < verdict->n_chapters; k++) {
		n += verdict->chapters[k].n_steps;
	}
	return n;
}

static void put_job(const struct fsl_case_parts *parts, cJSON *root, const char *path)
{
	struct fsl_document *document = parts->document;
	const struct fsl_account *account = parts->account;
	struct fsl_job_identity identity = fsl_report_job(parts->report, parts->config);
	const struct fsl_coverage *coverage = &parts->verdict->coverage;
	int64_t now_ns =
		parts->report->now_ns != FSL_NS_ABSENT ? parts->report->now_ns : account->to_ns;
	size_t n_hosts = count_hosts(parts->report);
	cJSON *job = fsl_document_object(document, root, "job");
	fsl_document_text(document, job, "name", identity.name);
	fsl_document_text(document, job, "id", identity.id);
	fsl_document_told(document, job, "root", path);
	fsl_document_index(document, job, "hosts", n_hosts > 0 ? (int64_t)n_hosts : -1);
	fsl_document_count(document, job, "ranks", coverage->n_ranks_seen);
	fsl_document_count(document, job, "steps", count_steps(parts->verdict));
	fsl_document_time(document, job, "from", account->from_ns);
	fsl_document_time(document, job, "to", account->to_ns);
	fsl_document_time(document, job, "now", now_ns);
	fsl_document_index(document, job, "fromNs", account->from_ns);
	fsl_document_index(document, job, "toNs", account->to_ns);
	fsl_document_index(document, job, "nowNs", now_ns);
	fsl_document_integer(document, job, "spanNs", account->span_ns);
	fsl_document_text(document, job, "phase", phase_of(parts->report));
	if (parts->config != NULL && parts->config->every_mins > 0.0) {
		fsl_document_significant(document, job, "everyMins", parts->config->every_mins, 6);
	}
	put_sources(document, job, parts->report);
}

/* Device of a rank on its host; -1: unknown. */
static int64_t device_of(const struct fsl_report *report, int32_t rank)
{
	const struct fsl_profile_rank *captured =
		report->profile != NULL ? fsl_profile_rank_of(report->profile, rank) : NULL;
	int64_t device = -1;
	for (size_t i = 0; captured != NULL && i < captured->n_steps; i++) {
		if (i > 0 && captured->steps[i].device_id != device) {
			return -1; /* they are not all of one device */
		}
		device = captured->steps[i].device_id;
	}
	return device;
}

static void put_process(struct fsl_document *document, cJSON *entry,
			const struct fsl_culprit_process *process)
{
	if (process == NULL) {
		fsl_document_null(document, entry, "process");
		return;
	}
	cJSON *object = fsl_document_object(document, entry, "process");
	fsl_document_told(document, object, "name", process->name);
	cJSON *pids = fsl_document_array(document, object, "pids");
	for (size_t i = 0; i < process->n_pids; i++) {
		fsl_document_integer(document, pids, NULL, process->pids[i]);
	}
	fsl_document_index(document, object, "cpu", process->cpu);
	fsl_document_text(document, object, "cause", process->cause);
	fsl_document_number(document, object, "waitedMsPerStep", process->waited_ms,
			    FSL_DECIMALS_MS);
	fsl_document_number(document, object, "heldMsPerStep", process->held_ms, FSL_DECIMALS_MS);
	fsl_document_text(document, object, "text", process->text);
	fsl_document_told(document, object, "advice", process->advice);
}

static void put_culprit(const struct fsl_case_parts *parts, cJSON *list,
			const struct fsl_culprit *culprit)
{
	struct fsl_document *document = parts->document;
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_integer(document, entry, "rank", culprit->rank);
	fsl_document_told(document, entry, "host", culprit->server_ip);
	fsl_document_index(document, entry, "device", device_of(parts->report, culprit->rank));
	fsl_document_text(document, entry, "cause", fsl_cause_text(culprit->cause));
	fsl_document_told(document, entry, "otherCause",
			  culprit->other_cause < FSL_CAUSES_N ? fsl_cause_text(culprit->other_cause)
							      : NULL);
	fsl_document_number(document, entry, "lostMsPerStep", culprit->lost_ms_per_step,
			    FSL_DECIMALS_MS);
	fsl_document_number(document, entry, "share", culprit->share_of_loss, FSL_DECIMALS_RATIO);
	fsl_document_told(document, entry, "shape", fsl_shape_text(culprit->shape));
	fsl_document_index(document, entry, "everySteps", culprit->every_steps);
	fsl_document_index(document, entry, "onsetStep", culprit->onset_step);
	fsl_document_time(document, entry, "onsetTime", culprit->onset_ns);
	fsl_document_index(document, entry, "untilStep", culprit->until_step);
	fsl_document_time(document, entry, "untilTime",
			  fsl_account_step_begin(parts->job, culprit->until_step));
	fsl_document_evidence(document, entry, culprit);
	fsl_document_number(document, entry, "confidence", culprit->confidence, FSL_DECIMALS_RATIO);
	fsl_document_index(document, entry, "peer", culprit->peer);
	put_process(document, entry, culprit->process);
	fsl_document_text(document, entry, "reason", culprit->reason);
}

/* How work is cut is nobody's fault. */
static bool has_fault(enum fsl_verdict_kind kind)
{
	return kind != FSL_VERDICT_STAGE_IMBALANCE && kind != FSL_VERDICT_WORK_IMBALANCE;
}

static void put_culprits(const struct fsl_case_parts *parts, cJSON *root)
{
	const struct fsl_localisation *verdict = parts->verdict;
	cJSON *list = fsl_document_array(parts->document, root, "culprits");
	for (size_t i = 0; has_fault(verdict->kind) && i < verdict->n_culprits; i++) {
		if (!parts->document->has_failed) {
			put_culprit(parts, list, &verdict->culprits[i]);
		}
	}
}

/* Step time without what is lost; NaN if that is unknown. */
static double normal_step_ms(const struct fsl_case_parts *parts)
{
	const struct fsl_localisation *verdict = parts->verdict;
	const struct fsl_step_episode *episode = fsl_longest_episode(parts->report->perception);
	if (fsl_words_kind(parts->report) == FSL_VERDICT_JOB_SLOWDOWN && episode != NULL) {
		return episode->before_ms;
	}
	if (verdict->kind == FSL_VERDICT_NORMAL) {
		return verdict->step_ms;
	}
	return verdict->step_ms - verdict->lost_ms_per_step;
}

static void put_cost(const struct fsl_case_parts *parts, cJSON *root)
{
	struct fsl_document *document = parts->document;
	const struct fsl_localisation *verdict = parts->verdict;
	fsl_document_number(document, root, "lostMsPerStep", verdict->lost_ms_per_step,
			    FSL_DECIMALS_MS);
	fsl_document_loss_source(document, root, verdict);
	fsl_document_number(document, root, "slowdown", verdict->slowdown, FSL_DECIMALS_RATIO);
	fsl_document_number(document, root, "stepMs", verdict->step_ms, FSL_DECIMALS_MS);
	fsl_document_number(document, root, "normalStepMs", normal_step_ms(parts), FSL_DECIMALS_MS);
	fsl_document_number(document, root, "lostShare", parts->account->lost_share,
			    FSL_DECIMALS_RATIO);
}

/* Ranks of the culprits of a loss; none if @loss is NULL. */
static void put_ranks(struct fsl_document *document, cJSON *entry, const struct fsl_loss *loss)
{
	cJSON *list = fsl_document_array(document, entry, "ranks");
	for (size_t i = 0; loss != NULL && i < loss->n_culprits; i++) {
		fsl_document_integer(document, list, NULL, loss->culprits[i].rank);
	}
	for (size_t i = 0; loss != NULL && loss->stall != NULL && i < loss->stall->n_ranks; i++) {
		fsl_document_integer(document, list, NULL, loss->stall->ranks[i]);
	}
}

/* The costliest loss of a part; NULL: none. */
static const struct fsl_loss *worst_of(const struct fsl_account *account, enum fsl_spent part)
{
	for (size_t i = 0; i < account->n_losses; i++) {
		if (account->losses[i].part == part) {
			return &account->losses[i];
		}
	}
	return NULL;
}

/* -1: it is not periodic. */
static int64_t period_of_loss(const struct fsl_case_parts *parts, const struct fsl_loss *loss)
{
	if (loss->stall != NULL) {
		return loss->stall->every_steps;
	}
	return loss->n_culprits > 0 && has_fault(parts->verdict->kind)
		       ? loss->culprits[0].every_steps
		       : -1;
}

static void put_parts_of_time(const struct fsl_case_parts *parts, cJSON *root)
{
	struct fsl_document *document = parts->document;
	const struct fsl_account *account = parts->account;
	cJSON *list = fsl_document_array(document, root, "account");
	for (int part = 0; part < FSL_SPENTS_N && !document->has_failed; part++) {
		if (account->ns[part] == 0) {
			continue;
		}
		double ns = (double)account->ns[part];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "part", fsl_spent_text((enum fsl_spent)part));
		fsl_document_integer(document, entry, "ns", account->ns[part]);
		fsl_document_number(document, entry, "ms", ns / FSL_NS_PER_MS, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "share", ns / (double)account->span_ns,
				    FSL_DECIMALS_RATIO);
		fsl_document_index(document, entry, "count",
				   account->n_times[part] > 0 ? (int64_t)account->n_times[part]
							      : -1);
		const struct fsl_loss *loss = worst_of(account, (enum fsl_spent)part);
		fsl_document_index(document, entry, "everySteps",
				   part == FSL_SPENT_CHECKPOINT ? account->save_every_steps
				   : loss != NULL               ? period_of_loss(parts, loss)
								: -1);
		put_ranks(document, entry, loss);
		fsl_document_told(document, entry, "cause",
				  loss != NULL && loss->n_culprits > 0
					  ? fsl_cause_text(loss->culprits[0].cause)
					  : NULL);
	}
}

/* Hosts of the culprits of a loss, each once. */
static void put_hosts(struct fsl_document *document, cJSON *entry, const struct fsl_loss *loss)
{
	cJSON *list = fsl_document_array(document, entry, "hosts");
	for (size_t i = 0; i < loss->n_culprits; i++) {
		const char *host = fsl_text_or_empty(loss->culprits[i].server_ip);
		bool is_new = *host != '\0';
		for (size_t k = 0; k < i && is_new; k++) {
			is_new = strcmp(host, fsl_text_or_empty(loss->culprits[k].server_ip)) != 0;
		}
		if (is_new) {
			fsl_document_text(document, list, NULL, host);
		}
	}
}

/* The cause of a loss; NULL: none is known. */
static const char *cause_of(const struct fsl_case_parts *parts, const struct fsl_loss *loss)
{
	static const enum fsl_cause causes[FSL_STALL_PHASES_N] = {
		[FSL_STALL_UNKNOWN] = FSL_CAUSES_N,
		[FSL_STALL_LOADING] = FSL_CAUSE_DATALOADER,
		[FSL_STALL_CHECKPOINT] = FSL_CAUSE_STORAGE,
		[FSL_STALL_COLLECTION] = FSL_CAUSE_HOST,
		[FSL_STALL_EVALUATION] = FSL_CAUSES_N,
		[FSL_STALL_WARM_UP] = FSL_CAUSES_N,
		[FSL_STALL_GAP] = FSL_CAUSES_N,
		[FSL_STALL_RESTART] = FSL_CAUSES_N,
	};
	enum fsl_cause cause = FSL_CAUSES_N;
	if (loss->stall != NULL) {
		cause = causes[loss->stall->phase];
	} else if (loss->n_culprits > 0 && has_fault(parts->verdict->kind)) {
		cause = loss->culprits[0].cause;
	}
	return cause < FSL_CAUSES_N ? fsl_cause_text(cause) : NULL;
}

static void put_losses(const struct fsl_case_parts *parts, cJSON *root)
{
	struct fsl_document *document = parts->document;
	const struct fsl_account *account = parts->account;
	cJSON *list = fsl_document_array(document, root, "losses");
	for (size_t i = 0; i < account->n_losses && !document->has_failed; i++) {
		const struct fsl_loss *loss = &account->losses[i];
		double ns = (double)loss->ns;
		if (!fsl_spent_is_lost(loss->part)) {
			continue;
		}
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "kind", fsl_spent_text(loss->part));
		fsl_document_number(document, entry, "ms", ns / FSL_NS_PER_MS, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "share",
				    account->span_ns > 0 ? fmin(ns / (double)account->span_ns, 1.0)
							 : NAN,
				    FSL_DECIMALS_RATIO);
		fsl_document_index(document, entry, "sinceStep", loss->since_step);
		fsl_document_index(document, entry, "untilStep", loss->until_step);
		fsl_document_time(document, entry, "since", loss->since_ns);
		fsl_document_time(document, entry, "until", loss->until_ns);
		fsl_document_index(document, entry, "everySteps", period_of_loss(parts, loss));
		put_ranks(document, entry, loss);
		put_hosts(document, entry, loss);
		fsl_document_index(document, entry, "stage",
				   loss->n_culprits > 0 ? loss->culprits[0].stage : -1);
		fsl_document_told(document, entry, "cause", cause_of(parts, loss));
		fsl_document_told(document, entry, "frame",
				  loss->stall != NULL ? loss->stall->frame : NULL);
		bool is_counted = loss->stall != NULL && loss->stall->n_collected > 0;
		fsl_document_index(document, entry, "collectedObjects",
				   is_counted ? (int64_t)loss->stall->n_collected : -1);
		fsl_document_text(document, entry, "state",
				  loss->is_over ? "over" : state_texts[parts->state]);
	}
}

/* Members of the group of a waiting rank that do not wait in its operator. */
static void put_missing(struct fsl_document *document, cJSON *hang, const struct fsl_report *report,
			const struct fsl_rank *waiting)
{
	const struct fsl_topology *topology = report->topology;
	cJSON *list = fsl_document_array(document, hang, "missing");
	for (size_t g = 0; topology != NULL && waiting != NULL && g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->name_id == FSL_STR_NONE || group->name_id != waiting->open_group_id) {
			continue;
		}
		for (size_t i = 0; i < group->n_ranks; i++) {
			const struct fsl_rank *rank = fsl_run_rank(report->run, group->ranks[i]);
			if (rank == NULL || !fsl_rank_waits(rank)) {
				fsl_document_integer(document, list, NULL, group->ranks[i]);
			}
		}
	}
}

static void put_hang(const struct fsl_case_parts *parts, cJSON *root)
{
	struct fsl_document *document = parts->document;
	const struct fsl_report *report = parts->report;
	const struct fsl_perception *perception = report->perception;
	const struct fsl_steps *steps = report->steps;
	const struct fsl_rank *first = NULL;
	if (fsl_words_kind(report) != FSL_VERDICT_HANG) {
		fsl_document_null(document, root, "hang");
		return;
	}
	cJSON *hang = fsl_document_object(document, root, "hang");
	fsl_document_time(document, hang, "since", perception->hang_since_ns);
	fsl_document_index(
		document, hang, "lastStep",
		steps != NULL && steps->n_items > 0 ? steps->items[steps->n_items - 1].step : -1);
	fsl_document_ranks(document, hang, "stopped", perception->stopped_first,
			   perception->n_stopped_first);
	cJSON *waiting = fsl_document_array(document, hang, "waiting");
	for (size_t r = 0; report->run != NULL && r < report->run->n_ranks; r++) {
		const struct fsl_rank *rank = &report->run->ranks[r];
		if (fsl_rank_waits(rank)) {
			first = first == NULL ? rank : first;
			fsl_document_integer(document, waiting, NULL, rank->rank);
		}
	}
	put_missing(document, hang, report, first);
	fsl_document_told(document, hang, "operation",
			  first != NULL ? fsl_strpool_text(report->run->names, first->open_op_id)
					: NULL);
	fsl_document_told(document, hang, "group",
			  first != NULL && first->open_group_id != FSL_STR_NONE
				  ? fsl_strpool_text(report->run->names, first->open_group_id)
				  : NULL);
	fsl_document_ranks(document, hang, "noData", parts->verdict->coverage.missing_ranks,
			   parts->verdict->coverage.n_missing_ranks);
}

/* The contents of sysTrace's files, which captures and runs without a configuration do not have. */
static void put_files(const struct fsl_case_parts *parts, cJSON *root,
		      const struct fsl_config *config)
{
	const struct fsl_report *report = parts->report;
	bool has_files = config != NULL && report->profile == NULL;
	if (has_files && report->perception_document != NULL) {
		fsl_document_item(parts->document, root, "perception",
				  cJSON_CreateObjectReference(report->perception_document->child));
	} else if (has_files && report->perception != NULL) {
		fsl_document_item(parts->document, root, "perception",
				  fsl_perception_json(report->perception, config));
	} else {
		fsl_document_null(parts->document, root, "perception");
	}
	if (has_files && report->localisation != NULL) {
		fsl_document_item(parts->document, root, "localisation",
				  fsl_localisation_json(report->localisation, report->topology,
							report->run, config));
	} else {
		fsl_document_null(parts->document, root, "localisation");
	}
}

static void put_answer(const struct fsl_case_parts *parts, cJSON *root)
{
	struct fsl_document *document = parts->document;
	const struct fsl_localisation *verdict = parts->verdict;
	struct fsl_phrase headline = {0};
	fsl_words_headline(&headline, parts->report);
	fsl_document_text(document, root, "state", state_texts[parts->state]);
	fsl_document_text(document, root, "verdict",
			  fsl_verdict_text(fsl_words_kind(parts->report)));
	fsl_document_text(document, root, "headline", headline.text);
	fsl_document_text(document, root, "reason", verdict->reason);
	fsl_document_number(document, root, "confidence", verdict->confidence, FSL_DECIMALS_RATIO);
	fsl_document_time(document, root, "faultTime", verdict->fault_ns);
	put_culprits(parts, root);
	fsl_document_suspects(document, root, "victims", verdict->victims, verdict->n_victims);
	fsl_document_suspects(document, root, "unconfirmed", verdict->unconfirmed,
			      verdict->n_unconfirmed);
	fsl_case_put_ruled_out(parts, root);
	put_cost(parts, root);
	put_parts_of_time(parts, root);
	put_losses(parts, root);
	put_hang(parts, root);
	fsl_document_findings(document, root, parts->report);
	fsl_case_put_whatif(parts, root);
}

cJSON *fsl_case_json(const struct fsl_report *report, const struct fsl_config *config)
{
	struct fsl_document document = {0};
	struct fsl_localisation nothing;
	struct fsl_account account;
	fsl_localisation_init(&nothing);
	const struct fsl_outcome job = fsl_report_outcome(report);
	fsl_account_make(&account, &job);
	const struct fsl_localisation *verdict =
		report->localisation != NULL ? report->localisation : &nothing;
	const struct fsl_case_parts parts = {
		&document, report, &job, verdict, &account, config, fsl_outcome_state(&job)};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "schema", "failslow.case/2");
	put_job(&parts, root, fsl_report_root(report, config));
	put_answer(&parts, root);
	fsl_document_coverage(&document, root, &verdict->coverage, report->run);
	if (report->described_by != NULL) {
		fsl_document_text(&document, cJSON_GetObjectItem(root, "coverage"), "describedBy",
				  report->described_by);
	}
	if (report->topology != NULL) {
		fsl_document_topology(&document, root, report->topology, report->run);
	} else if (report->cluster != NULL) {
		fsl_document_capture_topology(&document, root, report->cluster);
	} else {
		fsl_document_null(&document, root, "topology");
	}
	fsl_document_replay(&document, root, &verdict->replay);
	if (verdict->n_chapters > 0) {
		fsl_document_chapters(&document, root, verdict);
	} else {
		fsl_document_null(&document, root, "chapters");
	}
	fsl_document_bool(&document, root, "suppressed", verdict->is_suppressed);
	fsl_document_engine(&document, root, verdict->algorithm);
	fsl_document_told(&document, root, "error", verdict->error_message);
	fsl_document_capture(&document, root, report);
	fsl_case_put_pictures(&parts, root);
	put_files(&parts, root, config);
	return fsl_document_finish(&document, root);
}
