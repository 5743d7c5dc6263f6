/* A simulated job in memory: the run as ingest would leave it. */
#include "sim/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/strpool.h"

struct memory {
	const struct fsl_sim_params *params;
	struct fsl_run *run;
	struct fsl_sim_losses losses;
	struct fsl_rank **ranks; /* by rank of the model; NULL: leaves nothing */
	bool *has_markers;
	uint32_t dtype_id;
	const char *last_name; /* static texts: their ids are looked up once in a row */
	uint32_t last_name_id;
};

static enum fsl_status intern(struct memory *memory, const char *text, uint32_t *id,
			      struct fsl_error *err)
{
	return fsl_strpool_intern(memory->run->names, text, strlen(text), id, err);
}

static void see(struct fsl_rank *rank, int64_t time_ns)
{
	rank->last_event_ns = time_ns > rank->last_event_ns ? time_ns : rank->last_event_ns;
}

static enum fsl_status put_op(void *context, int32_t rank_of_model, const struct fsl_sim_op *op,
			      struct fsl_error *err)
{
	struct memory *memory = context;
	struct fsl_rank *rank = memory->ranks[rank_of_model];
	bool is_kept[FSL_SIM_ROWS_N];
	uint32_t group_id = FSL_STR_NONE;
	fsl_sim_losses_draw(&memory->losses, rank_of_model, op, is_kept);
	if (rank == NULL || !memory->has_markers[rank_of_model]) {
		return FSL_OK;
	}
	enum fsl_status status = FSL_OK;
	if (op->name != memory->last_name) {
		status = intern(memory, op->name, &memory->last_name_id, err);
		memory->last_name = op->name;
	}
	if (status == FSL_OK) {
		status = intern(memory, op->group, &group_id, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	see(rank, op->host_end_ns);
	see(rank, op->dev_begin_ns);
	if (op->dev_end_ns == FSL_SIM_NEVER) {
		rank->open_op_id = memory->last_name_id;
		rank->open_group_id = group_id;
		rank->open_begin_ns = op->dev_begin_ns;
		return FSL_OK;
	}
	see(rank, op->dev_end_ns);
	if (!is_kept[FSL_SIM_HOST_BEGIN] || !is_kept[FSL_SIM_DEV_BEGIN] ||
	    !is_kept[FSL_SIM_DEV_END]) {
		return FSL_OK;
	}
	status = FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, err);
	if (status == FSL_OK) {
		rank->ops[rank->n_ops++] = (struct fsl_op){
			.host_begin_ns = op->host_begin_ns,
			.host_end_ns = is_kept[FSL_SIM_HOST_END] ? op->host_end_ns : FSL_NS_ABSENT,
			.dev_begin_ns = op->dev_begin_ns,
			.dev_end_ns = op->dev_end_ns,
			.id = op->id,
			.n_elements = op->n_elements,
			.op_id = memory->last_name_id,
			.group_id = group_id,
			.dtype_id = memory->dtype_id,
			.step = -1};
	}
	return status;
}

static enum fsl_status put_stage(void *context, int32_t rank_of_model,
				 const struct fsl_sim_stage *stage, struct fsl_error *err)
{
	enum { NS_PER_US = 1000 };
	struct memory *memory = context;
	struct fsl_rank *rank = memory->ranks[rank_of_model];
	if (rank == NULL || !fsl_sim_has_timeline(memory->params, rank_of_model)) {
		return FSL_OK;
	}
	uint32_t type_id = FSL_STR_NONE;
	enum fsl_status status = intern(memory, fsl_sim_stage_text(stage->kind), &type_id, err);
	if (status == FSL_OK) {
		status = FSL_GROW(rank->stages, rank->stages_capacity, rank->n_stages + 1, err);
	}
	if (status == FSL_OK) {
		/* A timeline counts in microseconds. */
		rank->stages[rank->n_stages++] =
			(struct fsl_stage){.begin_ns = stage->begin_ns / NS_PER_US * NS_PER_US,
					   .end_ns = stage->end_ns / NS_PER_US * NS_PER_US,
					   .step = stage->step,
					   .type_id = type_id,
					   .kind = stage->kind};
		see(rank, stage->end_ns / NS_PER_US * NS_PER_US);
	}
	return status;
}

/* Every rank that leaves something, in order of its written number. */
static enum fsl_status add_ranks(struct memory *memory, struct fsl_error *err)
{
	const struct fsl_sim_params *params = memory->params;
	int32_t n_ranks = fsl_sim_n_ranks(params);
	int32_t *model_of = fsl_calloc((size_t)n_ranks, sizeof(*model_of));
	memory->ranks = fsl_calloc((size_t)n_ranks, sizeof(struct fsl_rank *));
	memory->has_markers = fsl_calloc((size_t)n_ranks, sizeof(*memory->has_markers));
	enum fsl_status status = FSL_OK;
	if (model_of == NULL || memory->ranks == NULL || memory->has_markers == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%d", (int)n_ranks);
	}
	for (int32_t r = 0; r < n_ranks && status == FSL_OK; r++) {
		model_of[fsl_sim_label(params, r)] = r;
	}
	for (int32_t label = 0; label < n_ranks && status == FSL_OK; label++) {
		char server_ip[32];
		int32_t r = model_of[label];
		bool is_header_only = false;
		bool is_lost = fsl_sim_is_lost(params, r, &is_header_only);
		memory->has_markers[r] = !is_lost && !is_header_only;
		if (is_lost && !fsl_sim_has_timeline(params, r)) {
			continue;
		}
		struct fsl_rank *rank = fsl_run_add_rank(memory->run, label, err);
		fsl_sim_server_ip(params, label, server_ip, sizeof(server_ip));
		if (is_lost) {
			/* Its timeline alone names the host. */
			(void)snprintf(server_ip, sizeof(server_ip), "host%d",
				       (int)(label / params->ranks_per_host));
		}
		const char *kept = fsl_arena_strdup(&memory->run->arena, server_ip);
		if (rank == NULL || kept == NULL) {
			status =
				FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)label);
			break;
		}
		rank->server_ip = kept;
		rank->has_markers_file = !is_lost;
	}
	/* Addresses hold from here on: no rank is added any more. */
	for (size_t i = 0; i < memory->run->n_ranks && status == FSL_OK; i++) {
		memory->ranks[model_of[memory->run->ranks[i].rank]] = &memory->run->ranks[i];
	}
	fsl_free(model_of);
	return status;
}

enum fsl_status fsl_sim_run_in_memory(const struct fsl_sim_params *params, struct fsl_run *run,
				      struct fsl_sim_truth *truth, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock clock = {0};
	struct memory memory = {.params = params, .run = run};
	struct fsl_sim_sink sink = {&memory, put_op, put_stage};
	enum fsl_status status = fsl_sim_params_check(params, err);
	if (status == FSL_OK) {
		status = intern(&memory, "bfp16", &memory.dtype_id, err);
	}
	if (status == FSL_OK) {
		status = fsl_sim_losses_init(&memory.losses, params, err);
	}
	if (status == FSL_OK) {
		status = add_ranks(&memory, err);
	}
	if (status == FSL_OK) {
		status = fsl_sim_run(params, false, &sink, &scratch, &clock, err);
	}
	for (size_t i = 0; i < run->n_ranks && status == FSL_OK; i++) {
		fsl_rank_normalise(&run->ranks[i]);
	}
	if (status == FSL_OK && truth != NULL) {
		status = fsl_sim_truth_build(truth, params, &clock, err);
	}
	if (memory.losses.streams != NULL) {
		fsl_sim_losses_fini(&memory.losses);
	}
	fsl_free(memory.ranks);
	fsl_free(memory.has_markers);
	fsl_arena_fini(&scratch);
	return status;
}
