/* Folders are read to ranks, these are put beside each other, judges propose findings, a verdict is
 * made of them. */
#include "cli/profile_run.h"

#include <string.h>

#include "base/deadline.h"
#include "base/language.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "cli/host_processes.h"
#include "cli/operands.h"
#include "cli/turn.h"
#include "engine/threads.h"
#include "judge/conclude.h"
#include "judge/observe.h"
#include "plugin/registry.h"
#include "source/ascend/find/discover.h"
#include "source/discover.h"

static enum fsl_status tell(const struct fsl_profile_run *run, const struct fsl_config *config,
			    const struct fsl_profile_case *facts,
			    const struct fsl_profile_findings *findings,
			    struct fsl_localisation *verdict, int *exit_code, struct fsl_error *err)
{
	char root[PATH_MAX];
	struct fsl_report report = {
		.root = fsl_operands_root(run->paths, run->n_paths, root),
		.job_name = config->job_name,
		.described_by = config->described_by,
		.localisation = verdict,
		.is_anomaly = !fsl_verdict_is_quiet(verdict->kind),
		.profile = facts->profile,
		.cluster = facts->cluster,
		.findings = findings,
		.now_ns = FSL_NS_ABSENT,
		.output = run->output,
		.page_path = run->page,
		.is_beside = run->is_beside,
		.is_long = run->is_long,
		.wants_msprof = run->wants_msprof,
		.print = run->print,
		.stream = stdout,
		.colours = run->has_colours,
		.has_blocks = fsl_terminal_has_blocks(),
		.width = fsl_terminal_width(),
	};
	*exit_code = fsl_verdict_exit_code(run->exit_mode, &report, report.is_anomaly);
	return fsl_report_tell(&report, NULL, err);
}

/* The same ranks of the earlier capture, and all of its steps: they have other numbers. */
static enum fsl_status read_baseline(struct fsl_profile *baseline,
				     const struct fsl_profile_run *run,
				     const struct fsl_profile_options *input, struct fsl_error *err)
{
	struct fsl_profile_options options = *input;
	options.n_more_paths = 0;
	options.path = run->baseline;
	options.n_steps = 0;
	return run->baseline != NULL ? fsl_profile_read(baseline, &options, err) : FSL_OK;
}

/* The verdict stands before detectors are heard: they propose, and it has decided. */
static enum fsl_status judge(struct fsl_localisation *verdict,
			     struct fsl_profile_findings *findings,
			     const struct fsl_profile_case *facts, const struct fsl_config *config,
			     struct fsl_error *err)
{
	struct fsl_profile_meetings meetings;
	FSL_TRY(fsl_profile_meet(&meetings, facts->profile, facts->cluster, err));
	enum fsl_status status = fsl_profile_judge_all(findings, facts, &meetings, err);
	struct fsl_profile_case met = *facts;
	met.meetings = &meetings;
	FSL_THEN(status, fsl_profile_conclude(verdict, &met, findings, err));
	FSL_THEN(status, fsl_profile_observe(verdict, facts, &meetings, config, err));
	fsl_profile_meetings_fini(&meetings);
	return status;
}

/* Folders -> ranks -> cluster -> findings -> verdict -> reporters. */
static enum fsl_status run_as_configured(const struct fsl_profile_run *run,
					 const struct fsl_config *config, int *exit_code,
					 struct fsl_error *err)
{
	struct fsl_profile profile, baseline = {0};
	struct fsl_profile_cluster cluster = {0};
	struct fsl_profile_findings findings = {0};
	struct fsl_localisation verdict;
	struct fsl_profile_options input = run->input;
	input.n_threads = fsl_threads_start(run->n_jobs);
	const struct fsl_profile_case facts = {
		.profile = &profile,
		.cluster = &cluster,
		.n_threads = input.n_threads,
		.baseline = run->baseline != NULL ? &baseline : NULL,
		.device_bytes = run->device_bytes,
	};
	fsl_localisation_init(&verdict);
	input.path = run->paths[0];
	input.more_paths = run->paths + 1;
	input.n_more_paths = run->n_paths - 1;
	fsl_deadline_stage("reading");
	enum fsl_status status = fsl_profile_read(&profile, &input, err);
	if (status != FSL_OK) {
		goto out;
	}
	status = read_baseline(&baseline, run, &input, err);
	fsl_deadline_stage("judging");
	FSL_THEN(status, fsl_profile_cluster_build(&cluster, &profile, err));
	FSL_THEN(status, judge(&verdict, &findings, &facts, config, err));
	const struct fsl_host_question question = {.verdict = &verdict,
						   .capture = &profile,
						   .paths = run->paths,
						   .n_paths = run->n_paths};
	FSL_THEN(status, fsl_host_processes_name(&question, err));
	fsl_deadline_end(); /* results are written whole */
	if (status == FSL_OK) {
		status = tell(run, config, &facts, &findings, &verdict, exit_code, err);
	}
out:
	fsl_localisation_fini(&verdict);
	fsl_profile_findings_fini(&findings);
	fsl_profile_cluster_fini(&cluster);
	fsl_profile_fini(&baseline);
	fsl_profile_fini(&profile);
	return status;
}

/* The lock lies where `detect` with this output has its own. */
static enum fsl_status take_turn(struct fsl_job_lock *lock, struct fsl_config *config,
				 const struct fsl_profile_run *run, bool *is_busy,
				 struct fsl_error *err)
{
	char root[PATH_MAX];
	if (run->output == NULL) {
		return FSL_OK;
	}
	const struct fsl_lock_request request = {
		.state_path = fsl_arena_printf(&config->arena, "%s/" FSL_STATE_FILE, run->output),
		.job = fsl_operands_root(run->paths, run->n_paths, root),
		.wait_s = run->lock_wait_s >= 0 ? (double)run->lock_wait_s : config->lock_wait_s,
	};
	if (request.state_path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: option=\"output\"");
	}
	return fsl_turn_take(lock, &request, "profile", is_busy, err);
}

static void confine(const struct fsl_profile_run *run, const struct fsl_config *config)
{
	const struct fsl_confined_run confined = {
		.config = config,
		.paths = run->paths,
		.n_paths = run->n_paths,
		.baseline = run->baseline,
		.output = run->output,
		.page = run->page,
	};
	fsl_confined_begin(&confined); /* threads start later, and are confined, too */
}

enum fsl_status fsl_profile_run(const struct fsl_profile_run *run, int *exit_code,
				struct fsl_error *err)
{
	struct fsl_job_lock lock = {.fd = -1};
	bool is_busy = false;
	*exit_code = FSL_EXIT_DONE;
	struct fsl_config config = {0};
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	struct fsl_config_place place;
	const char *path = run->config_path;
	if (path == NULL && fsl_config_find_default(&place)) {
		path = place.path;
	}
	enum fsl_status status = fsl_config_load(&config, path, registry, err);
	if (status == FSL_OK && run->config_path == NULL) {
		status = fsl_operands_describe(&config, run->paths, run->n_paths, !run->is_warned,
					       err);
	}
	FSL_THEN(status, take_turn(&lock, &config, run, &is_busy, err));
	if (status == FSL_OK && !is_busy) {
		if (run->page != NULL) {
			fsl_language_add("zh_CN"); /* pages hold both */
		}
		confine(run, &config);
		fsl_deadline_begin(run->output != NULL ? config.max_run_minutes : 0.0,
				   FSL_EXIT_INTERNAL);
		status = run_as_configured(run, &config, exit_code, err);
	}
	fsl_deadline_end();
	fsl_job_lock_release(&lock);
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	return status;
}

/* True if the file lies in one of the folders. */
static bool is_inside(const struct fsl_strpool *folders, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		if (fsl_strpool_find(folders, path, (size_t)(slash - path)) != FSL_STR_NONE) {
			return true;
		}
	}
	return false;
}

static enum fsl_status find_other(bool *has_other, const struct fsl_profile *profile,
				  struct fsl_strpool *folders, const char *path,
				  struct fsl_error *err)
{
	struct fsl_inputs inputs = {0};
	const struct fsl_ingest_options options = {.root_path = path};
	enum fsl_status status = fsl_inputs_find(&inputs, &options, err);
	for (size_t f = 0; f < profile->n_folders && status == FSL_OK; f++) {
		const char *folder = profile->folders[f].path;
		uint32_t id = 0;
		status = fsl_strpool_intern(folders, folder, strlen(folder), &id, err);
	}
	for (size_t i = 0; i < inputs.n_items && status == FSL_OK; i++) {
		*has_other |= !is_inside(folders, inputs.items[i].path);
	}
	fsl_inputs_fini(&inputs);
	return status;
}

/* Adds what lies below one path. */
static enum fsl_status look_at(const char *path, bool *is_there, bool *has_other,
			       struct fsl_error *refusal, struct fsl_error *err)
{
	struct fsl_profile profile = {0};
	struct fsl_strpool *folders = fsl_strpool_create();
	bool is_capture =
		fsl_profile_discover(&profile, path, refusal) == FSL_OK && profile.n_folders > 0;
	*is_there |= is_capture;
	*has_other |= !is_capture;
	bool is_file = is_capture && profile.folders[0].file != NULL;
	enum fsl_status status = FSL_OK;
	if (folders == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	} else if (is_capture && !is_file) {
		status = find_other(has_other, &profile, folders, path, err);
	}
	fsl_strpool_destroy(folders);
	fsl_profile_fini(&profile);
	return status;
}

enum fsl_status fsl_profile_look(const char *const *paths, size_t n_paths, bool *is_there,
				 bool *has_other, struct fsl_error *refusal, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	*is_there = *has_other = false;
	for (size_t i = 0; i < n_paths && status == FSL_OK; i++) {
		*refusal = (struct fsl_error){0};
		status = look_at(paths[i], is_there, has_other, refusal, err);
	}
	if (n_paths != 1 || refusal->n_causes < 2) { /* one alone: nothing of a profiler is there */
		*refusal = (struct fsl_error){0};
	}
	return status;
}
