/*
 * `failslow detect`: from files to verdicts, once. The pipeline of the whole program, one line per
 * arrow, is in fsl_job_analyse(); start reading there. A long capture is several jobs of it, one
 * after the other (detect_chapters.c).
 */
#include "base/log.h"
#include "base/memory_left.h"
#include "blame/blame.h"
#include "blame/fuse.h"
#include "cli/command.h"
#include "cli/detect_chapters.h"
#include "cli/detect_job.h"
#include "cli/detect_kept.h"
#include "cli/detect_options.h"
#include "cli/detect_tell.h"
#include "cli/memory_short.h"
#include "cli/threads.h"
#include "cli/time_range.h"
#include "config/config.h"
#include "detect/classical.h"
#include "detect/perceive.h"
#include "detect/registry.h"
#include "ingest/discover.h"
#include "ingest/ingest.h"
#include "match/restore.h"
#include "match/topology_build.h"
#include "team/team.h"

enum fsl_status fsl_job_init(struct fsl_job *job, struct fsl_error *err)
{
	*job = (struct fsl_job){.until_ns = INT64_MAX, .begin_ns = INT64_MIN};
	fsl_perception_init(&job->perception);
	fsl_localisation_init(&job->classical);
	fsl_localisation_init(&job->localisation);
	return fsl_run_init(&job->run, err);
}

void fsl_job_fini(struct fsl_job *job)
{
	fsl_chapters_fini(&job->chapters);
	fsl_localisation_fini(&job->localisation);
	fsl_localisation_fini(&job->classical);
	fsl_verification_fini(&job->verification);
	fsl_blame_fini(&job->blame);
	fsl_own_fini(&job->own);
	fsl_cuts_fini(&job->cuts);
	fsl_match_fini(&job->match);
	fsl_topology_fini(&job->topology);
	fsl_perception_fini(&job->perception);
	fsl_progress_fini(&job->progress);
	fsl_steps_fini(&job->steps);
	fsl_run_fini(&job->run);
}

/* Of a range no more is read than it holds, and how much that is nobody knows yet. */
static void warn_of_memory(uint64_t n_bytes, const struct fsl_ingest_options *options)
{
	enum { WORTH_LOOKING = 1 << 28 };
	bool is_whole = options->from_ns == INT64_MIN && options->to_ns == INT64_MAX;
	if (is_whole && fsl_team_size() == 1 && n_bytes >= WORTH_LOOKING) {
		fsl_memory_warn(n_bytes, fsl_memory_left(""));
	}
}

/* With threads for what there is to read; a team's processes each have all that they may. */
static enum fsl_status read_run(struct fsl_run *run, int64_t n_jobs, int n_most,
				struct fsl_ingest_options *options, struct fsl_error *err)
{
	struct fsl_inputs inputs = {0};
	enum fsl_status status = fsl_inputs_find(&inputs, options, err);
	uint64_t n_bytes = status == FSL_OK ? fsl_inputs_bytes(&inputs, options) : 0;
	options->n_threads = (int)n_jobs;
	if (n_jobs == 0 && fsl_team_size() == 1) {
		options->n_threads = fsl_threads_worth(n_most, n_bytes);
	}
	fsl_threads_start(options->n_threads);
	if (status == FSL_OK) {
		fsl_log(FSL_LOG_INFO, "detect", "inputs found: files=%zu, bytes=%llu, threads=%d",
			inputs.n_items, (unsigned long long)n_bytes, options->n_threads);
		warn_of_memory(n_bytes, options);
		status = fsl_ingest_inputs(run, &inputs, options, err);
	}
	fsl_inputs_fini(&inputs);
	return status;
}

/* Of a capture that the last run read, only what is new. */
static enum fsl_status ingest(struct fsl_job *job, struct fsl_kept *kept,
			      const struct fsl_config *config, const struct fsl_time_range *range,
			      struct fsl_error *err)
{
	struct fsl_ingest_options options = {.root_path = config->root_path,
					     .training_log = config->training_log,
					     .log_type_is_log = config->log_type_is_log,
					     .from_ns = range->from_ns,
					     .to_ns = range->to_ns,
					     .is_range_for_stages = range->holds_for_steps};
	fsl_log(FSL_LOG_INFO, "detect", "reading: root_path=\"%s\", range=\"%s\"",
		config->root_path, range->source);
	int n_most = fsl_threads_most();
	fsl_kept_load(kept, config, &options);
	enum fsl_status status = read_run(&job->run, config->jobs, n_most, &options, err);
	if (status == FSL_OK && fsl_kept_is_outdated(kept, config, &job->run)) {
		fsl_kept_forget(kept, &options);
		fsl_run_fini(&job->run);
		status = fsl_run_init(&job->run, err);
		if (status == FSL_OK) {
			status = read_run(&job->run, config->jobs, n_most, &options, err);
		}
	}
	fsl_kept_give(kept, job);
	job->until_ns = range->to_ns;
	if (status == FSL_OK && range->holds_for_steps) {
		fsl_run_cut_steps(&job->run, range->from_ns, range->to_ns);
	}
	return status;
}

/* The verdict of localisation from the classical points alone, sysTrace's way. */
static enum fsl_status conclude_classical(struct fsl_job *job, const struct fsl_case *facts,
					  struct fsl_error *err)
{
	struct fsl_localisation *out = &job->localisation;
	size_t n_slow = 0;
	enum fsl_status status =
		fsl_classical_run(out, &job->run, &job->topology, facts->config, err);
	if (status == FSL_OK) {
		status = fsl_fuse_coverage(out, facts, err);
	}
	for (size_t i = 0; i < out->n_abnormal; i++) {
		n_slow += out->abnormal[i].method != FSL_METHOD_LACK;
	}
	out->algorithm = "systrace";
	out->kind = n_slow > 0 ? FSL_VERDICT_SLOW_RANK : FSL_VERDICT_NORMAL;
	out->reason = n_slow > 0
			      ? "the classical observation points name the ranks in abnormalDetail"
			      : "no classical observation point names a rank";
	return status;
}

/* Lateness and own time beside the classical points; the points only propose. */
static enum fsl_status conclude_failslow(struct fsl_job *job, struct fsl_case *facts,
					 struct fsl_error *err)
{
	struct fsl_coverage *coverage = &job->localisation.coverage;
	coverage->skipped = job->classical.coverage.skipped;
	coverage->n_skipped = job->classical.coverage.n_skipped;
	job->localisation.algorithm = "failslow";
	facts->classical = &job->classical;
	return fsl_fuse(&job->localisation, facts, err);
}

enum fsl_status fsl_job_find_steps(struct fsl_job *job, struct fsl_error *err)
{
	enum fsl_status status = fsl_steps_build(&job->steps, &job->run, err);
	if (status != FSL_OK || !job->steps.is_ordinal) {
		return status;
	}
	size_t n_lead = fsl_steps_over(&job->steps, job->begin_ns);
	for (size_t s = 0; s < job->steps.n_items; s++) {
		job->steps.items[s].step += (int64_t)job->n_steps_before - (int64_t)n_lead;
	}
	return FSL_OK;
}

/* Operators over the ranks. Clocks that run at different speeds are made to run alike on the way,
 * and the steps follow. */
static enum fsl_status match(struct fsl_job *job, struct fsl_error *err)
{
	enum fsl_status status = fsl_match_straightened(&job->match, &job->run, &job->topology,
							&job->drift_max_ppm, err);
	if (status == FSL_OK && job->drift_max_ppm > 0.0) {
		fsl_log(FSL_LOG_INFO, "match", "clocks drift apart, straightened: most_ppm=%.2f",
			job->drift_max_ppm);
		fsl_steps_fini(&job->steps);
		status = fsl_job_find_steps(job, err);
	}
	return status;
}

/* Lost operators are put back; the cuts follow. */
static enum fsl_status restore_lost(struct fsl_job *job, struct fsl_error *err)
{
	size_t n_restored = 0;
	enum fsl_status status =
		fsl_restore_lost(&job->run, &job->match, job->cuts.n_steps, &n_restored, err);
	if (status == FSL_OK && n_restored > 0) {
		fsl_log(FSL_LOG_INFO, "match", "lost operators put back: operators=%zu",
			n_restored);
		job->topology.op_sets = NULL; /* counted without them */
		fsl_cuts_fini(&job->cuts);
		status = fsl_cuts_build(&job->cuts, &job->run, &job->steps, job->match.clock_ns,
					err);
	}
	if (status == FSL_OK && n_restored > 0) {
		fsl_match_assign_steps(&job->match, &job->cuts);
	}
	return status;
}

struct fsl_case fsl_job_facts(const struct fsl_job *job, const struct fsl_config *config)
{
	return (struct fsl_case){.config = config,
				 .run = &job->run,
				 .topology = &job->topology,
				 .steps = &job->steps,
				 .match = &job->match,
				 .cuts = &job->cuts,
				 .own = &job->own,
				 .perception = &job->perception,
				 .blame = &job->blame,
				 .is_brief = job->is_brief};
}

/* events -> steps -> progress -> perception; events -> collectives -> own time -> blame -> verdict.
 */
enum fsl_status fsl_job_analyse(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err)
{
	enum fsl_status status = fsl_job_find_steps(job, err);
	if (status == FSL_OK) {
		status = fsl_progress_build(&job->progress, &job->run, &job->steps, err);
	}
	if (status == FSL_OK) {
		status = fsl_perceive(&job->perception, &job->run, &job->progress, config, err);
	}
	if (status == FSL_OK) {
		status = fsl_topology_build(&job->topology, &job->run, config, err);
	}
	if (status == FSL_OK) {
		status = match(job, err);
	}
	if (status == FSL_OK) {
		status = fsl_cuts_build(&job->cuts, &job->run, &job->steps, job->match.clock_ns,
					err);
	}
	if (status != FSL_OK) {
		return status;
	}
	fsl_match_assign_steps(&job->match, &job->cuts);
	status = restore_lost(job, err);
	if (status == FSL_OK) {
		status = fsl_own_build(&job->own, &job->run, &job->steps, &job->cuts, err);
	}
	struct fsl_case facts = fsl_job_facts(job, config);
	if (status == FSL_OK) {
		status = fsl_own_hide_lost(&job->own, &job->run, &job->match, &job->cuts, err);
	}
	if (status == FSL_OK) {
		status = fsl_blame_build(&job->blame, &facts, err);
	}
	/* Before the graph of the replay stands, so that the largest things do not stand at once.
	 */
	if (status == FSL_OK && config->algorithm == FSL_ALGORITHM_FAILSLOW && !job->is_brief) {
		status = fsl_classical_run(&job->classical, &job->run, &job->topology, config, err);
	}
	if (status == FSL_OK && config->algorithm == FSL_ALGORITHM_FAILSLOW) {
		status = fsl_verify(&job->verification, &facts, err);
		facts.verification = &job->verification;
	}
	if (status == FSL_OK) {
		status = config->algorithm == FSL_ALGORITHM_SYSTRACE
				 ? conclude_classical(job, &facts, err)
				 : conclude_failslow(job, &facts, err);
	}
	return status;
}

/* Takes back whatever was found: a localisation that names nobody. */
static void clear_findings(struct fsl_localisation *out, int result_code, const char *reason)
{
	out->n_culprits = out->n_victims = out->n_unconfirmed = 0;
	out->n_abnormal = out->n_normal = 0;
	out->n_chapters = 0;
	out->compute = out->network = out->storage = false;
	out->lacks_peers = false;
	out->result_code = result_code;
	out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	out->reason = reason;
}

/* with_fail_slow without a failSlow result, old or new: nothing was looked for, and the verdict
 * says so. */
static void withhold_verdict(struct fsl_job *job)
{
	clear_findings(
		&job->localisation, 200,
		"with_fail_slow is set and no slowdown was perceived: slow ranks were not looked for");
}

/* A run that failed leaves a verdict too, so that whoever polls the folder learns of it. What was
 * perceived before the failure (a hang, a slowdown) stands: every judgement has a reason. */
static void note_failure(struct fsl_job *job, const struct fsl_error *err)
{
	const char *message = fsl_error_root(err);
	clear_findings(&job->localisation, 500, message);
	job->localisation.error_message = message;
	job->perception.error_message = message;
	if (job->perception.reason[0] == '\0') {
		job->perception.anomaly_type = "error";
		job->perception.reason = message;
	}
}

bool fsl_job_is_anomaly(const struct fsl_job *job)
{
	return !fsl_verdict_is_quiet(job->localisation.kind) || job->perception.is_anomaly ||
	       job->localisation.result_code == 201;
}

static enum fsl_status detect(const struct fsl_config *config,
			      const struct fsl_detect_options *options, int *exit_code,
			      struct fsl_error *err)
{
	struct fsl_job job;
	struct fsl_kept kept = {0};
	struct fsl_time_range range = fsl_time_range_of(config);
	enum fsl_status found = fsl_job_init(&job, err);
	if (found == FSL_OK) {
		found = ingest(&job, &kept, config, &range, err);
	}
	if (found == FSL_OK) {
		found = fsl_job_judge(&job, config, err);
	}
	if (found != FSL_OK) {
		note_failure(&job, err);
	} else if (range.is_waiting_for_fail_slow && !job.perception.is_anomaly) {
		withhold_verdict(&job);
	}
	fsl_coverage_share(&job.perception.coverage, &job.localisation.coverage);
	enum fsl_status status =
		fsl_job_tell(&job, config, options, found == FSL_OK ? &kept : NULL, err);
	bool is_new = fsl_job_is_anomaly(&job) && !job.localisation.is_suppressed;
	*exit_code = options->wants_exit_code && is_new ? FSL_EXIT_ANOMALY : FSL_EXIT_DONE;
	fsl_kept_fini(&kept);
	fsl_job_fini(&job);
	return found != FSL_OK ? found : status;
}

enum fsl_status fsl_cmd_detect(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct fsl_detect_options options;
	struct fsl_config config = {0};
	struct fsl_registry *registry = NULL;
	enum fsl_status status = fsl_detect_options_parse(&options, argc, argv, err);
	if (status != FSL_OK || options.wants_help) {
		if (status == FSL_OK) {
			fsl_detect_options_help();
		}
		return status;
	}
	registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	const char *path = options.config_path;
	if (path == NULL) {
		path = fsl_config_find_default();
	}
	status = fsl_config_load(&config, path, registry, err);
	if (status == FSL_OK) {
		status = fsl_detect_options_apply(&options, &config, err);
	}
	if (status == FSL_OK) {
		status = detect(&config, &options, exit_code, err);
	}
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return status;
}
