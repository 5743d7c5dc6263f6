/* The pipeline of cmd_detect.c as what an evaluation asks. */
#include "cli/eval_engine.h"

#include "base/mem.h"
#include "cli/detect_chapters.h"

static enum fsl_status judge(struct fsl_eval_judged *out, const struct fsl_config *config,
			     struct fsl_run *run, int64_t now_ns, struct fsl_error *err)
{
	struct fsl_config present = *config; /* shallow: the present is its own */
	present.now_ns = now_ns;
	present.jobs = 1;
	struct fsl_job *job = fsl_calloc(1, sizeof(*job));
	if (job == NULL) {
		fsl_run_fini(run);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"job\"");
	}
	out->job = job;
	enum fsl_status status = fsl_job_init(job, err);
	fsl_run_fini(&job->run);
	job->run = *run;
	if (status == FSL_OK) {
		status = fsl_job_judge(job, &present, err);
	}
	out->facts = fsl_job_facts(job, config);
	out->facts.classical = &job->classical;
	out->localisation = &job->localisation;
	out->perception = &job->perception;
	out->is_alarm = fsl_job_is_anomaly(job);
	return status;
}

static void release(struct fsl_eval_judged *judged)
{
	if (judged->job != NULL) {
		fsl_job_fini(judged->job);
		fsl_free(judged->job);
	}
}

struct fsl_eval_engine fsl_eval_engine_of(const struct fsl_config *config)
{
	return (struct fsl_eval_engine){.judge = judge, .release = release, .config = config};
}
