/* Runs the enabled classical observation points and lists the ranks without data. */
#include "detect/classical.h"

#include <omp.h>

#include "detect/classical_parts.h"

int fsl_classical_threads(const struct fsl_classical *classical)
{
	int most = omp_get_max_threads();
	int64_t jobs = classical->config->jobs;
	return jobs > 0 && jobs < most ? (int)jobs : most;
}

static bool has_device_times(const struct fsl_rank *rank)
{
	for (size_t i = 0; i < rank->n_ops; i++) {
		if (rank->ops[i].dev_begin_ns != FSL_NS_ABSENT) {
			return true;
		}
	}
	return false;
}

/* True if any rank has device times: a rank without them has then lost them. */
static bool any_device_times(const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (has_device_times(&run->ranks[r])) {
			return true;
		}
	}
	return false;
}

/* Metric name of LACK entries: that of the first enabled observation point. */
static const char *first_metric(const struct fsl_config *config)
{
	if (!config->enable_cal && config->enable_op_launch) {
		return config->op_launch_slow;
	}
	if (!config->enable_cal && config->enable_comm) {
		return config->comm_slow;
	}
	return config->cal_slow;
}

static enum fsl_status add_lack(struct fsl_localisation *out, const struct fsl_classical *classical,
				int32_t rank, struct fsl_error *err)
{
	const char *name = first_metric(classical->config);
	const struct fsl_metric_config *metric = fsl_config_metric(classical->config, name);
	struct fsl_detail detail = {
		.rank = rank,
		.server_ip = fsl_arena_strdup(&out->arena, fsl_entries_host(classical, rank)),
		.kpi_id = fsl_arena_strdup(&out->arena, name),
		.method = FSL_METHOD_LACK,
		.is_abnormal = true,
	};
	if (detail.server_ip == NULL || detail.kpi_id == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
	}
	fsl_entries_flag(out, metric != NULL ? metric->type : "compute");
	return fsl_localisation_add_detail(out, &detail, err);
}

static bool has_data(const struct fsl_rank *rank, bool wants_device)
{
	return rank != NULL && (wants_device ? has_device_times(rank) : rank->n_ops > 0);
}

/* Lists every expected rank without operators once. If no rank has operators, no rank is listed. */
static enum fsl_status list_lacking(struct fsl_localisation *out,
				    const struct fsl_classical *classical, struct fsl_error *err)
{
	const struct fsl_run *run = classical->run;
	const struct fsl_topology *topology = classical->topology;
	bool wants_device = any_device_times(run), is_any_seen = false;
	for (size_t i = 0; i < run->n_ranks; i++) {
		is_any_seen = is_any_seen || has_data(&run->ranks[i], wants_device);
	}
	for (size_t i = 0; i < topology->n_expected_ranks && is_any_seen; i++) {
		int32_t rank = topology->expected_ranks[i];
		if (has_data(fsl_run_rank(run, rank), wants_device)) {
			continue;
		}
		FSL_TRY(add_lack(out, classical, rank, err));
	}
	return FSL_OK;
}

static bool wants_steps(const struct fsl_config *config)
{
	for (size_t i = 0; i < config->n_metrics; i++) {
		if (config->metrics[i].during_steps > 0) {
			return true;
		}
	}
	return false;
}

/* Runs the enabled observation points, one after the other. */
static enum fsl_status run_points(struct fsl_localisation *out,
				  const struct fsl_classical *classical, struct fsl_error *err)
{
	const struct fsl_config *config = classical->config;
	if (config->enable_cal) {
		FSL_TRY(fsl_classical_metric(out, classical, config->cal_slow, err));
	}
	if (config->enable_op_launch) {
		FSL_TRY(fsl_classical_metric(out, classical, config->op_launch_slow, err));
	}
	if (config->enable_comm) {
		FSL_TRY(fsl_classical_comm(out, classical, err));
	}
	if (config->enable_dataloader) {
		FSL_TRY(fsl_classical_stages(out, classical, FSL_STAGE_DATALOADER,
					     config->dataloader_slow, err));
	}
	if (config->enable_ckpt) {
		FSL_TRY(fsl_classical_stages(out, classical, FSL_STAGE_CKPT, config->ckpt_slow,
					     err));
	}
	return list_lacking(out, classical, err);
}

enum fsl_status fsl_classical_run(struct fsl_localisation *out, const struct fsl_run *run,
				  const struct fsl_topology *topology,
				  const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_classical classical = {.run = run, .topology = topology, .config = config};
	enum fsl_status status =
		wants_steps(config) ? fsl_steps_build(&classical.steps, run, err) : FSL_OK;
	out->result_code = 200;
	if (status == FSL_OK) {
		status = run_points(out, &classical, err);
	}
	fsl_steps_fini(&classical.steps);
	return status;
}
