/* A simulated job with at most one known fault, and with ranks without data. */
#include "support/known_job.h"

#include <inttypes.h>
#include <stdio.h>

void known_job_init(struct known_job *job)
{
	*job = (struct known_job){
		.fault = KNOWN_JOB_HEALTHY,
		.factor = 1.3,
		.extra_ms = 300.0,
		.until_step = -1,
		.lost_as = FSL_SIM_MISSING,
	};
	fsl_sim_params_init(&job->params);
	job->params.pairs = 1;
	job->params.step_ms = 960.0;
	job->params.hand_over_ms = 9.0;
	job->params.reduce_ms = 21.0;
	job->params.noise_share = 0.005;
	job->params.noise_memory = 0.0;
	job->params.hetero_share = 0.002;
	job->params.spike_share = 0.0;
	job->params.clock_offset_ms = 0.0;
	job->params.clock_drift_ppm = 0.0;
	job->params.p2p_groups = FSL_SIM_PIPELINE_GROUPS;
}

/* The parameters with the fault and the lost ranks; the ranks are those of @job. */
static struct fsl_sim_params params_of(struct known_job *job)
{
	struct fsl_sim_params params = job->params;
	if (job->fault != KNOWN_JOB_HEALTHY) {
		params.n_faults = 1;
		params.faults[0] = (struct fsl_sim_fault){
			.kind = (enum fsl_sim_fault_kind)job->fault,
			.ranks = job->culprits,
			.n_ranks = (size_t)job->n_culprits,
			.factor = job->factor,
			.extra_ms = job->extra_ms,
			.onset_step = job->onset_step,
			.until_step = job->until_step,
		};
	}
	if (job->n_lost > 0) {
		params.faults[params.n_faults++] =
			(struct fsl_sim_fault){.kind = (enum fsl_sim_fault_kind)job->lost_as,
					       .ranks = job->lost,
					       .n_ranks = (size_t)job->n_lost,
					       .until_step = -1};
	}
	return params;
}

enum fsl_status known_job_write(const struct known_job *job, const char *dir,
				struct fsl_sim_truth *truth, struct fsl_error *err)
{
	struct known_job copy = *job;
	struct fsl_sim_params params = params_of(&copy);
	return fsl_sim_write_tree(&params, dir, truth, err);
}

/* "ranks=1,2"; returns the length of @text. */
static size_t print_ranks(char *text, size_t size, size_t n, const int32_t *ranks, int32_t n_ranks)
{
	for (int32_t i = 0; i < n_ranks && n < size; i++) {
		n += (size_t)snprintf(text + n, size - n, "%s%d", i == 0 ? " ranks=" : ",",
				      (int)ranks[i]);
	}
	if (n < size) {
		n += (size_t)snprintf(text + n, size - n, "\"");
	}
	return n;
}

void known_job_print(const struct known_job *job, char *text, size_t size)
{
	static const char *const timelines[] = {"none", "first", "all"};
	static const char *const compressions[] = {"none", "gz", "zst"};
	const struct fsl_sim_params *params = &job->params;
	size_t n = (size_t)snprintf(
		text, size,
		"tp=%d dp=%d pp=%d steps=%d seed=%" PRIu64 " pairs=%d step_ms=%g hand_over_ms=%g "
		"reduce_ms=%g p2p_groups=%s noise=%g noise_memory=%g hetero=%g spikes=%g ckpt=%d drop=%g "
		"ranks_per_host=%d clock_ms=%g drift_ppm=%g relabel_by=%d start_ns=%" PRId64
		" scale=%g format=%s compression=%s timelines=%s timeline_json=%s",
		(int)params->tp, (int)params->dp, (int)params->pp, (int)params->steps, params->seed,
		(int)params->pairs, params->step_ms, params->hand_over_ms, params->reduce_ms,
		params->p2p_groups == FSL_SIM_PAIR_GROUPS ? "pairs" : "pipeline",
		params->noise_share, params->noise_memory, params->hetero_share,
		params->spike_share, (int)params->ckpt_period, params->drop_share,
		(int)params->ranks_per_host, params->clock_offset_ms, params->clock_drift_ppm,
		(int)params->relabel_by, params->start_ns, params->time_scale,
		params->format == FSL_SIM_JSON ? "json" : "csv", compressions[params->compression],
		timelines[params->timelines], params->timeline_json ? "true" : "false");
	if (job->fault != KNOWN_JOB_HEALTHY && n < size) {
		n += (size_t)snprintf(
			text + n, size - n, " fault=\"%s factor=%g extra_ms=%g onset=%d until=%d",
			fsl_sim_fault_text((enum fsl_sim_fault_kind)job->fault), job->factor,
			job->extra_ms, (int)job->onset_step, (int)job->until_step);
		n = print_ranks(text, size, n, job->culprits, job->n_culprits);
	}
	if (job->n_lost > 0 && n < size) {
		n += (size_t)snprintf(text + n, size - n, " fault=\"%s",
				      fsl_sim_fault_text((enum fsl_sim_fault_kind)job->lost_as));
		(void)print_ranks(text, size, n, job->lost, job->n_lost);
	}
}
