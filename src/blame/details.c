/* sysTrace's part of the verdict: abnormalDetail, normalDetail, LACK, resultCode, flags. */
#include <math.h>

#include "base/number.h"
#include "blame/fuse_parts.h"

enum {
	RESULT_NORMAL = 200,
	RESULT_ANOMALY = 201,
};

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

/* Shared by the lists of details: the healthy ranks of a class are the peers of each of its
 * culprits. */
struct listing {
	bool *is_named;    /* per rank index */
	bool *is_listed;   /* per rank index: has an entry in normalDetail */
	int32_t **healthy; /* per class: rank numbers, ascending; NULL until asked for */
	size_t *n_healthy;
};

static enum fsl_status listing_init(struct listing *listing, struct fsl_localisation *out,
				    const struct fsl_case *facts, struct fsl_error *err)
{
	size_t n_classes = facts->blame->peers.n_classes;
	FSL_TRY(fsl_fuse_named(&listing->is_named, out, facts->run, err));
	FSL_TRY(FSL_ARENA_NEW(listing->is_listed, &out->arena, facts->run->n_ranks, "is_listed",
			      err));
	FSL_TRY(FSL_ARENA_NEW(listing->healthy, &out->arena, n_classes, "healthy", err));
	return FSL_ARENA_NEW(listing->n_healthy, &out->arena, n_classes, "n_healthy", err);
}

/* Healthy ranks of a class, made at the first call; in the verdict's arena. */
static enum fsl_status list_healthy(struct listing *listing, struct fsl_localisation *out,
				    const struct fsl_case *facts, uint32_t class_idx,
				    struct fsl_error *err)
{
	const struct fsl_peers *peers = &facts->blame->peers;
	size_t begin = peers->begin[class_idx], end = peers->begin[class_idx + 1], n = 0;
	if (listing->healthy[class_idx] != NULL) {
		return FSL_OK;
	}
	int32_t *ranks = NULL;
	FSL_TRY(FSL_ARENA_NEW(ranks, &out->arena, end - begin, "ranks", err));
	for (size_t k = begin; k < end; k++) {
		if (!listing->is_named[peers->members[k]]) {
			ranks[n++] = facts->run->ranks[peers->members[k]].rank;
		}
	}
	listing->healthy[class_idx] = ranks;
	listing->n_healthy[class_idx] = n;
	return FSL_OK;
}

/*
 * kpiData of a rank, if record_kpi asks for it: own time per step that was seen whole, 1 if it is
 * above what the charge calls high. NULL and 0 when out of memory: the series is an extra.
 */
static void add_series(struct fsl_detail *detail, struct fsl_localisation *out,
		       const struct fsl_case *facts)
{
	const struct fsl_blame *blame = facts->blame;
	size_t r = fsl_run_rank_idx(facts->run, detail->rank);
	if (!facts->config->record_kpi || r == SIZE_MAX) {
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
			.timestamp_ms = (double)facts->steps->items[s].begin_ns / FSL_NS_PER_MS,
			.value = own_ms,
			.abnormal = detail->is_abnormal && is_high};
	}
}

static enum fsl_status add_normal(struct fsl_localisation *out, const struct fsl_case *facts,
				  const struct fsl_detail *abnormal, struct listing *listing,
				  struct fsl_error *err)
{
	for (size_t i = 0; i < abnormal->n_rela_ranks; i++) {
		size_t r = fsl_run_rank_idx(facts->run, abnormal->rela_ranks[i]);
		if (listing->is_listed[r]) {
			continue;
		}
		listing->is_listed[r] = true;
		struct fsl_detail detail = {.rank = abnormal->rela_ranks[i],
					    .server_ip = facts->run->ranks[r].server_ip,
					    .kpi_id = abnormal->kpi_id,
					    .method = FSL_METHOD_SPACE};
		add_series(&detail, out, facts);
		FSL_TRY(fsl_localisation_add_detail(out, &detail, err));
	}
	return FSL_OK;
}

static enum fsl_status add_culprit(struct fsl_localisation *out, const struct fsl_case *facts,
				   const struct fsl_culprit *culprit, struct listing *listing,
				   struct fsl_error *err)
{
	uint32_t class_idx =
		facts->blame->peers.class_of[fsl_run_rank_idx(facts->run, culprit->rank)];
	struct fsl_detail detail = {.rank = culprit->rank,
				    .server_ip = culprit->server_ip,
				    .kpi_id = kpi_of(facts->config, culprit->cause),
				    .method = FSL_METHOD_TIME,
				    .is_abnormal = true};
	if (class_idx != FSL_NO_CLASS) {
		FSL_TRY(list_healthy(listing, out, facts, class_idx, err));
	}
	if (class_idx != FSL_NO_CLASS && listing->n_healthy[class_idx] > 0) {
		size_t n = listing->n_healthy[class_idx];
		size_t n_max = (size_t)facts->config->max_num_normal_results;
		detail.method = FSL_METHOD_SPACE;
		detail.rela_ranks = listing->healthy[class_idx];
		detail.n_rela_ranks = n < n_max ? n : n_max;
		detail.omitted_ranks = detail.rela_ranks + detail.n_rela_ranks;
		n -= detail.n_rela_ranks;
		detail.n_omitted_ranks = n < FSL_OMITTED_RANKS_MAX ? n : FSL_OMITTED_RANKS_MAX;
	}
	raise_flag(out, culprit->cause);
	add_series(&detail, out, facts);
	FSL_TRY(fsl_localisation_add_detail(out, &detail, err));
	return add_normal(out, facts, &detail, listing, err);
}

static enum fsl_status add_lack(struct fsl_localisation *out, const struct fsl_case *facts,
				int32_t rank, struct fsl_error *err)
{
	const struct fsl_rank *seen = fsl_run_rank(facts->run, rank);
	struct fsl_detail detail = {.rank = rank,
				    .server_ip = seen != NULL ? seen->server_ip : "localhost",
				    .kpi_id = facts->config->cal_slow,
				    .method = FSL_METHOD_LACK,
				    .is_abnormal = true};
	return fsl_localisation_add_detail(out, &detail, err);
}

enum fsl_status fsl_fuse_details(struct fsl_localisation *out, const struct fsl_case *facts,
				 struct fsl_error *err)
{
	struct listing listing = {0};
	FSL_TRY(listing_init(&listing, out, facts, err));
	/* A stage with more to do is no abnormal node. */
	size_t n_abnormal = out->kind == FSL_VERDICT_STAGE_IMBALANCE ? 0 : out->n_culprits;
	for (size_t i = 0; i < n_abnormal; i++) {
		if (fsl_run_rank_idx(facts->run, out->culprits[i].rank) != SIZE_MAX) {
			FSL_TRY(add_culprit(out, facts, &out->culprits[i], &listing, err));
		}
	}
	/* If nobody has data, as in a time range behind the end of the job, no rank lacks any. */
	size_t n_lacking = out->coverage.n_ranks_seen > 0 ? out->coverage.n_missing_ranks : 0;
	for (size_t i = 0; i < n_lacking; i++) {
		FSL_TRY(add_lack(out, facts, out->coverage.missing_ranks[i], err));
	}
	out->result_code = out->n_abnormal > 0 ? RESULT_ANOMALY : RESULT_NORMAL;
	return FSL_OK;
}
