/*
 * The engine: from a run to verdicts, once. The pipeline of the whole program, one line per arrow,
 * is in fsl_job_analyse(); start reading there. A long capture is several jobs of it, one after the
 * other (chapters.c).
 */
#include "engine/job.h"

#include "account/stalls.h"
#include "base/log.h"
#include "base/try.h"
#include "blame/fuse.h"
#include "detect/classical.h"
#include "detect/perceive.h"
#include "match/restore.h"
#include "match/topology_build.h"
#include "text/phrase.h"

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
	fsl_feed_destroy(job->feed);
}

/* Makes the localisation from the classical points alone, as sysTrace does. */
static enum fsl_status conclude_classical(struct fsl_job *job, const struct fsl_case *facts,
					  struct fsl_error *err)
{
	struct fsl_localisation *out = &job->localisation;
	size_t n_slow = 0;
	FSL_TRY(fsl_classical_run(out, &job->run, &job->topology, facts->config, err));
	FSL_TRY(fsl_fuse_coverage(out, facts, err));
	for (size_t i = 0; i < out->n_abnormal; i++) {
		n_slow += out->abnormal[i].method != FSL_METHOD_LACK;
	}
	out->algorithm = "systrace";
	out->kind = n_slow > 0 ? FSL_VERDICT_SLOW_RANK : FSL_VERDICT_NORMAL;
	out->reason = n_slow > 0
			      ? "the classical observation points name the ranks in abnormalDetail"
			      : "no classical observation point names a rank";
	return FSL_OK;
}

/* Lateness and own time beside the classical points; the points only propose. */
static enum fsl_status conclude_failslow(struct fsl_job *job, struct fsl_case *facts,
					 struct fsl_error *err)
{
	struct fsl_coverage *coverage = &job->localisation.coverage;
	/* Run it before the graph of the replay is built, so that the two largest data are not in
	 * memory at once. */
	if (!job->is_brief) {
		FSL_TRY(fsl_classical_run(&job->classical, &job->run, &job->topology, facts->config,
					  err));
	}
	FSL_TRY(fsl_verify(&job->verification, facts, err));
	coverage->skipped = job->classical.coverage.skipped;
	coverage->n_skipped = job->classical.coverage.n_skipped;
	job->localisation.algorithm = "failslow";
	facts->verification = &job->verification;
	facts->classical = &job->classical;
	return fsl_fuse(&job->localisation, facts, err);
}

enum fsl_status fsl_job_find_steps(struct fsl_job *job, struct fsl_error *err)
{
	fsl_run_drop_reruns(&job->run);
	FSL_TRY(fsl_steps_build(&job->steps, &job->run, err));
	if (!job->steps.is_ordinal) {
		return FSL_OK;
	}
	size_t n_lead = fsl_steps_over(&job->steps, job->begin_ns);
	for (size_t s = 0; s < job->steps.n_items; s++) {
		job->steps.items[s].step += (int64_t)job->n_steps_before - (int64_t)n_lead;
	}
	return FSL_OK;
}

/* Matches the operators of groups over the ranks and finds one set of clocks: clocks that run at
 * different speeds are made to run alike. Clocks of ranks without matched operators stay as they
 * are. */
static enum fsl_status match(struct fsl_job *job, const struct fsl_config *config,
			     struct fsl_error *err)
{
	FSL_TRY(fsl_topology_build(&job->topology, &job->run, config, err));
	FSL_TRY(fsl_match_straightened(&job->match, &job->run, &job->topology, &job->drift_max_ppm,
				       err));
	if (job->drift_max_ppm > 0.0) {
		fsl_log(FSL_LOG_INFO, "match", "clocks drift apart, straightened: most_ppm=%.2f",
			job->drift_max_ppm);
	}
	return FSL_OK;
}

static enum fsl_status perceive(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err)
{
	FSL_TRY(fsl_job_find_steps(job, err));
	FSL_TRY(fsl_progress_build(&job->progress, &job->run, &job->steps, err));
	return fsl_perceive(&job->perception, &job->run, &job->progress, config, err);
}

/* Lost operators are put back before anything is made of the operators of a step. */
static enum fsl_status restore_lost(struct fsl_job *job, struct fsl_error *err)
{
	size_t n_restored = 0;
	FSL_TRY(fsl_restore_lost(&job->run, &job->match, &job->steps, &n_restored, err));
	if (n_restored > 0) {
		fsl_log(FSL_LOG_INFO, "match", "lost operators put back: operators=%zu",
			n_restored);
		job->topology.op_sets = NULL; /* counted without them */
	}
	return FSL_OK;
}

/* The operators of each step, and the time that each rank spent on its own in it. */
static enum fsl_status find_own(struct fsl_job *job, struct fsl_error *err)
{
	FSL_TRY(fsl_cuts_build(&job->cuts, &job->run, &job->steps, job->match.clock_ns, err));
	fsl_match_assign_steps(&job->match, &job->cuts);
	FSL_TRY(fsl_own_build(&job->own, &job->run, &job->steps, &job->cuts, err));
	return fsl_own_hide_lost(&job->own, &job->run, &job->match, &job->cuts, err);
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

static enum fsl_status find_stalls(struct fsl_job *job, const struct fsl_config *config,
				   struct fsl_error *err)
{
	const struct fsl_case facts = fsl_job_facts(job, config);
	return fsl_stalls_find(&job->perception, &job->progress, &facts, job->localisation.kind,
			       err);
}

enum fsl_status fsl_job_perceive_again(struct fsl_job *job, const struct fsl_config *config,
				       struct fsl_error *err)
{
	fsl_perception_fini(&job->perception);
	FSL_TRY(fsl_perceive(&job->perception, &job->run, &job->progress, config, err));
	return config->algorithm == FSL_ALGORITHM_SYSTRACE ? FSL_OK : find_stalls(job, config, err);
}

/*
 * run -> topology -> collectives, on straight clocks -> steps -> progress -> perception;
 * collectives, steps -> cuts -> own time -> blame -> replay -> verdict; who is not to blame for
 * steps that stand -> stalls.
 */
enum fsl_status fsl_job_analyse(struct fsl_job *job, const struct fsl_config *config,
				struct fsl_error *err)
{
	enum fsl_status matched = match(job, config, err);
	FSL_TRY(perceive(job, config, err)); /* a hang is told though ranks could not be matched */
	FSL_TRY(matched);
	FSL_TRY(restore_lost(job, err));
	FSL_TRY(find_own(job, err));
	struct fsl_case facts = fsl_job_facts(job, config);
	FSL_TRY(fsl_blame_build(&job->blame, &facts, err));
	if (config->algorithm == FSL_ALGORITHM_SYSTRACE) {
		return conclude_classical(job, &facts, err);
	}
	FSL_TRY(conclude_failslow(job, &facts, err));
	return find_stalls(job, config, err);
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

void fsl_job_withhold(struct fsl_job *job)
{
	clear_findings(
		&job->localisation, 200,
		"with_fail_slow is set and no slowdown was perceived: slow ranks were not looked for");
}

void fsl_job_note_failure(struct fsl_job *job, const struct fsl_error *err)
{
	const char *message = fsl_error_root(err);
	clear_findings(&job->localisation, 500, message);
	job->localisation.error_message = message;
	job->perception.error_message = message;
	if (fsl_text_or_empty(job->perception.reason)[0] == '\0') {
		job->perception.anomaly_type = "error";
		job->perception.reason = message;
	}
}

bool fsl_job_is_anomaly(const struct fsl_job *job)
{
	return !fsl_verdict_is_quiet(job->localisation.kind) || job->perception.is_anomaly ||
	       job->localisation.result_code == 201;
}
