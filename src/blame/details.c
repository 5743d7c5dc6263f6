/* sysTrace's part of the verdict: abnormalDetail, normalDetail, LACK, resultCode, flags. */
#include <math.h>

#include "base/number.h"
#include "blame/fuse_parts.h"

enum { RESULT_NORMAL = 200, RESULT_ANOMALY = 201 };

/* Observation point that a cause belongs to, and the flag that it raises. */
static const char *kpi_of(const struct fsl_config *config, enum fsl_cause cause)
{
	switch (cause) {
	case FSL_CAUSE_COMPUTE:
		return config->cal_slow;
	case FSL_CAUSE_HOST:
		return config->op_launch_slow;
	case FSL_CAUSE_DATALOADER:
		return config->dataloader_slow;
	case FSL_CAUSE_STORAGE:
		return config->ckpt_slow;
	case FSL_CAUSE_NETWORK:
		return config->comm_slow;
	case FSL_CAUSES_N:
		break;
	}
	return "";
}

static void raise_flag(struct fsl_localisation *out, enum fsl_cause cause)
{
	out->compute |= cause == FSL_CAUSE_COMPUTE || cause == FSL_CAUSE_HOST;
	out->storage |= cause == FSL_CAUSE_DATALOADER || cause == FSL_CAUSE_STORAGE;
	out->network |= cause == FSL_CAUSE_NETWORK;
}

/* Healthy peers of a culprit, rank numbers ascending; returns how many. */
static size_t list_peers(int32_t *peers, const struct fsl_localisation *out,
			 const struct fsl_case *job, int32_t rank)
{
	size_t r = fsl_run_rank_idx(job->run, rank), n = 0;
	const struct fsl_peers *classes = &job->blame->peers;
	uint32_t class_idx = classes->class_of[r];
	for (size_t k = classes->begin[class_idx]; k < classes->begin[class_idx + 1]; k++) {
		int32_t peer = job->run->ranks[classes->members[k]].rank;
		if (peer != rank && fsl_fuse_named(out, peer) == NULL) {
			peers[n++] = peer;
		}
	}
	return n;
}

/*
 * kpiData of a rank, when record_kpi asks for it: own time per step that was seen whole, 1 where it
 * is above what the charge calls high. NULL and 0 when out of memory: the series is an extra.
 */
static void add_series(struct fsl_detail *detail, struct fsl_localisation *out,
		       const struct fsl_case *job)
{
	const struct fsl_blame *blame = job->blame;
	size_t r = fsl_run_rank_idx(job->run, detail->rank);
	if (!job->config->record_kpi || r == SIZE_MAX) {
		return;
	}
	detail->kpi = fsl_arena_alloc(&out->arena, blame->n_steps * sizeof(*detail->kpi));
	for (size_t s = 0; s < blame->n_steps && detail->kpi != NULL; s++) {
		double own_ms = blame->own_ms[r * blame->n_steps + s];
		if (isnan(own_ms)) {
			continue;
		}
		bool is_high = fsl_blame_excess_ms(blame, r, s) > blame->charges[r].threshold_ms;
		detail->kpi[detail->n_kpi++] = (struct fsl_kpi_point){
			.timestamp_ms = (double)job->steps->items[s].begin_ns / FSL_NS_PER_MS,
			.value = own_ms,
			.abnormal = detail->is_abnormal && is_high};
	}
}

static enum fsl_status add_normal(struct fsl_localisation *out, const struct fsl_case *job,
				  const struct fsl_detail *abnormal, bool *is_listed,
				  struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < abnormal->n_rela_ranks && status == FSL_OK; i++) {
		size_t r = fsl_run_rank_idx(job->run, abnormal->rela_ranks[i]);
		if (is_listed[r]) {
			continue;
		}
		is_listed[r] = true;
		struct fsl_detail detail = {.rank = abnormal->rela_ranks[i],
					    .server_ip = job->run->ranks[r].server_ip,
					    .kpi_id = abnormal->kpi_id,
					    .method = FSL_METHOD_SPACE};
		add_series(&detail, out, job);
		status = fsl_localisation_add_detail(out, &detail, err);
	}
	return status;
}

static enum fsl_status add_culprit(struct fsl_localisation *out, const struct fsl_case *job,
				   const struct fsl_culprit *culprit, bool *is_listed,
				   struct fsl_error *err)
{
	int32_t *peers = fsl_arena_alloc(&out->arena, job->run->n_ranks * sizeof(*peers));
	if (peers == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", job->run->n_ranks);
	}
	size_t n_peers = list_peers(peers, out, job, culprit->rank);
	size_t n_max = (size_t)job->config->max_num_normal_results;
	size_t n_kept = n_peers < n_max ? n_peers : n_max;
	struct fsl_detail detail = {.rank = culprit->rank,
				    .server_ip = culprit->server_ip,
				    .kpi_id = kpi_of(job->config, culprit->cause),
				    .method = n_peers > 0 ? FSL_METHOD_SPACE : FSL_METHOD_TIME,
				    .is_abnormal = true,
				    .rela_ranks = peers,
				    .n_rela_ranks = n_kept,
				    .omitted_ranks = peers + n_kept,
				    .n_omitted_ranks = n_peers - n_kept};
	raise_flag(out, culprit->cause);
	add_series(&detail, out, job);
	enum fsl_status status = fsl_localisation_add_detail(out, &detail, err);
	if (status == FSL_OK) {
		status = add_normal(out, job, &detail, is_listed, err);
	}
	return status;
}

static enum fsl_status add_lack(struct fsl_localisation *out, const struct fsl_case *job,
				int32_t rank, struct fsl_error *err)
{
	const struct fsl_rank *seen = fsl_run_rank(job->run, rank);
	struct fsl_detail detail = {.rank = rank,
				    .server_ip = seen != NULL ? seen->server_ip : "localhost",
				    .kpi_id = job->config->cal_slow,
				    .method = FSL_METHOD_LACK,
				    .is_abnormal = true};
	return fsl_localisation_add_detail(out, &detail, err);
}

enum fsl_status fsl_fuse_details(struct fsl_localisation *out, const struct fsl_case *job,
				 struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	bool *is_listed = fsl_calloc(job->run->n_ranks, sizeof(*is_listed));
	if (is_listed == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", job->run->n_ranks);
	}
	for (size_t i = 0; i < out->n_culprits && status == FSL_OK; i++) {
		if (fsl_run_rank_idx(job->run, out->culprits[i].rank) != SIZE_MAX) {
			status = add_culprit(out, job, &out->culprits[i], is_listed, err);
		}
	}
	for (size_t i = 0; i < out->coverage.n_missing_ranks && status == FSL_OK; i++) {
		status = add_lack(out, job, out->coverage.missing_ranks[i], err);
	}
	fsl_free(is_listed);
	out->result_code = out->n_abnormal > 0 ? RESULT_ANOMALY : RESULT_NORMAL;
	return status;
}
