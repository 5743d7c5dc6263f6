/* A simulated job in memory: the run as the readers would return it. */
#include "sim/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/strpool.h"

enum { OPS_MAX = 16 }; /* greatest number of names of operators in the model */

/*
 * Class of an operator that never ended, in the order of marker_pairs.c; a rank waits in the best.
 */
enum open_class { OPEN_ON_DEVICE, OPEN_ON_HOST, OPEN_QUEUED, OPEN_NONE };

/* An operator that was launched and has no device row, so it may be queued. */
struct launched {
	uint64_t id;
	uint32_t op_id, group_id;
	int64_t begin_ns;
};

/* State of one rank until its end. */
struct source {
	struct fsl_rank *rank; /* NULL: the rank leaves no files */
	bool has_markers;
	enum open_class open;
	uint64_t open_id;
	int64_t last_launch_ns; /* newest host begin of an operator with device rows */
	struct launched *launched;
	size_t n_launched, launched_capacity;
};

struct memory {
	const struct fsl_sim_params *params;
	struct fsl_run *run;
	struct fsl_sim_losses losses;
	struct source *sources; /* by rank of the model */
	uint32_t dtype_id;
	struct {
		const char *text; /* static */
		uint32_t id;
	} ops[OPS_MAX];
	size_t n_ops;
	uint32_t *group_ids; /* by number; FSL_STR_NONE: not seen */
	size_t n_group_ids;
};

static enum fsl_status intern(struct memory *memory, const char *text, uint32_t *id,
			      struct fsl_error *err)
{
	return fsl_strpool_intern(memory->run->names, text, strlen(text), id, err);
}

static enum fsl_status op_id_of(struct memory *memory, const char *name, uint32_t *id,
				struct fsl_error *err)
{
	size_t i = 0;
	while (i < memory->n_ops && memory->ops[i].text != name) {
		i++;
	}
	if (i == memory->n_ops) {
		FSL_REQUIRE(i < OPS_MAX);
		FSL_TRY(intern(memory, name, &memory->ops[i].id, err));
		memory->ops[i].text = name;
		memory->n_ops++;
	}
	*id = memory->ops[i].id;
	return FSL_OK;
}

static void see(struct fsl_rank *rank, int64_t time_ns)
{
	rank->last_event_ns = time_ns > rank->last_event_ns ? time_ns : rank->last_event_ns;
}

static void note_open(struct source *source, enum open_class class, const struct launched *op)
{
	struct fsl_rank *rank = source->rank;
	bool is_better = class < source->open;
	if (class == source->open) {
		bool is_later = op->begin_ns != rank->open_begin_ns
					? op->begin_ns > rank->open_begin_ns
					: op->id > source->open_id;
		is_better = is_later != (class == OPEN_QUEUED);
	}
	if (is_better) {
		source->open = class;
		source->open_id = op->id;
		rank->open_op_id = op->op_id;
		rank->open_group_id = op->group_id;
		rank->open_begin_ns = op->begin_ns;
	}
}

/* The operator with the times that were kept. @ids: NULL if its name is lost. */
static struct fsl_op op_of(const struct memory *memory, const struct fsl_sim_op *op,
			   const struct launched *ids, const bool is_kept[FSL_SIM_ROWS_N])
{
	return (struct fsl_op){
		.host_begin_ns = is_kept[FSL_SIM_HOST_BEGIN] ? op->host_begin_ns : FSL_NS_ABSENT,
		.host_end_ns = is_kept[FSL_SIM_HOST_END] ? op->host_end_ns : FSL_NS_ABSENT,
		.dev_begin_ns = is_kept[FSL_SIM_DEV_BEGIN] ? op->dev_begin_ns : FSL_NS_ABSENT,
		.dev_end_ns = is_kept[FSL_SIM_DEV_END] ? op->dev_end_ns : FSL_NS_ABSENT,
		.id = op->id,
		.n_elements = ids != NULL ? op->n_elements : 0,
		.op_id = ids != NULL ? ids->op_id : FSL_STR_NONE,
		.group_id = ids != NULL ? ids->group_id : FSL_STR_NONE,
		.dtype_id = ids != NULL ? memory->dtype_id : FSL_STR_NONE,
		.step = -1};
}

/* Adds an operator with both device rows or none. */
static enum fsl_status push(struct memory *memory, struct source *source,
			    const struct fsl_sim_op *op, const struct launched *ids,
			    const bool is_kept[FSL_SIM_ROWS_N], struct fsl_error *err)
{
	struct fsl_rank *rank = source->rank;
	FSL_TRY(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + 1, err));
	rank->ops[rank->n_ops++] = op_of(memory, op, ids, is_kept);
	if (is_kept[FSL_SIM_DEV_END] && op->host_begin_ns > source->last_launch_ns) {
		source->last_launch_ns = op->host_begin_ns;
	}
	return FSL_OK;
}

/* Keeps the remnant of an operator, if a device row is left. @ids: NULL if its name is lost. */
static enum fsl_status keep_remnant(struct memory *memory, struct source *source,
				    const struct fsl_sim_op *op, const struct launched *ids,
				    const bool is_kept[FSL_SIM_ROWS_N], struct fsl_error *err)
{
	struct fsl_op remnant = op_of(memory, op, ids, is_kept);
	bool has_device = is_kept[FSL_SIM_DEV_BEGIN] || is_kept[FSL_SIM_DEV_END];
	return has_device ? FSL_APPEND(source->rank, remnants, &remnant, err) : FSL_OK;
}

/*
 * Converts the remaining rows of an operator as a reader does: src/source/systrace/marker_pairs.c.
 */
static enum fsl_status settle(struct memory *memory, struct source *source,
			      const struct fsl_sim_op *op, struct launched *ids,
			      const bool is_kept[FSL_SIM_ROWS_N], struct fsl_error *err)
{
	if (is_kept[FSL_SIM_DEV_BEGIN] && is_kept[FSL_SIM_DEV_END]) {
		return push(memory, source, op, ids, is_kept, err);
	}
	if (is_kept[FSL_SIM_DEV_BEGIN]) {
		ids->begin_ns = op->dev_begin_ns;
		note_open(source, OPEN_ON_DEVICE, ids);
		return keep_remnant(memory, source, op, ids, is_kept, err);
	}
	if (is_kept[FSL_SIM_DEV_END]) {
		return keep_remnant(memory, source, op, ids, is_kept, err);
	}
	ids->begin_ns = op->host_begin_ns;
	if (!is_kept[FSL_SIM_HOST_END]) {
		note_open(source, OPEN_ON_HOST, ids);
		return FSL_OK;
	}
	FSL_TRY(push(memory, source, op, ids, is_kept, err));
	return FSL_APPEND(source, launched, ids, err);
}

static enum fsl_status put_op(void *context, int32_t rank_of_model, const struct fsl_sim_op *op,
			      struct fsl_error *err)
{
	struct memory *memory = context;
	struct source *source = &memory->sources[rank_of_model];
	bool is_kept[FSL_SIM_ROWS_N];
	if (source->rank == NULL || !source->has_markers) {
		return FSL_OK;
	}
	fsl_sim_losses_draw(&memory->losses, rank_of_model, op, is_kept);
	const int64_t times_ns[FSL_SIM_ROWS_N] = {op->host_begin_ns, op->host_end_ns,
						  op->dev_begin_ns, op->dev_end_ns};
	for (int row = 0; row < FSL_SIM_ROWS_N; row++) {
		if (is_kept[row]) {
			see(source->rank, times_ns[row]);
		}
	}
	if (!is_kept[FSL_SIM_HOST_BEGIN]) {
		return keep_remnant(memory, source, op, NULL, is_kept, err);
	}
	struct launched ids = {.id = op->id};
	FSL_TRY(op_id_of(memory, op->name, &ids.op_id, err));
	FSL_REQUIRE(op->group_no < memory->n_group_ids);
	uint32_t *group_id = &memory->group_ids[op->group_no];
	if (*group_id == FSL_STR_NONE) {
		FSL_TRY(intern(memory, op->group, group_id, err));
	}
	ids.group_id = *group_id;
	return settle(memory, source, op, &ids, is_kept, err);
}

static enum fsl_status put_stage(void *context, int32_t rank_of_model,
				 const struct fsl_sim_stage *stage, struct fsl_error *err)
{
	enum { NS_PER_US = 1000 };
	struct memory *memory = context;
	struct fsl_rank *rank = memory->sources[rank_of_model].rank;
	if (rank == NULL || !fsl_sim_has_timeline(memory->params, rank_of_model)) {
		return FSL_OK;
	}
	/* A timeline counts in microseconds. */
	struct fsl_stage kept = {.begin_ns = stage->begin_ns / NS_PER_US * NS_PER_US,
				 .end_ns = stage->end_ns / NS_PER_US * NS_PER_US,
				 .step = stage->step,
				 .kind = stage->kind};
	FSL_TRY(intern(memory, fsl_sim_stage_text(stage->kind), &kept.type_id, err));
	see(rank, kept.end_ns);
	return FSL_APPEND(rank, stages, &kept, err);
}

/* Adds every rank that leaves files, in order of its written number. */
static enum fsl_status add_ranks(struct memory *memory, struct fsl_error *err)
{
	const struct fsl_sim_params *params = memory->params;
	int32_t n_ranks = fsl_sim_n_ranks(params);
	int32_t *model_of = NULL;
	memory->n_group_ids = FSL_SIM_GROUPS_PER_RANK * (size_t)n_ranks + 1;
	enum fsl_status status = FSL_NEW(model_of, (size_t)n_ranks, "ranks", err);
	FSL_THEN(status, FSL_NEW(memory->sources, (size_t)n_ranks, "ranks", err));
	FSL_THEN(status, FSL_NEW(memory->group_ids, memory->n_group_ids, "groups", err));
	for (int32_t r = 0; r < n_ranks && status == FSL_OK; r++) {
		model_of[fsl_sim_label(params, r)] = r;
		memory->sources[r].open = OPEN_NONE;
		memory->sources[r].last_launch_ns = FSL_NS_ABSENT;
	}
	for (size_t i = 0; i < memory->n_group_ids && status == FSL_OK; i++) {
		memory->group_ids[i] = FSL_STR_NONE;
	}
	for (int32_t label = 0; label < n_ranks && status == FSL_OK; label++) {
		char server_ip[32];
		int32_t r = model_of[label];
		bool is_header_only = false;
		bool is_lost = fsl_sim_is_lost(params, r, &is_header_only);
		memory->sources[r].has_markers = !is_lost && !is_header_only;
		if (is_lost && !fsl_sim_has_timeline(params, r)) {
			continue;
		}
		struct fsl_rank *rank = fsl_run_add_rank(memory->run, label, err);
		fsl_sim_server_ip(params, r, server_ip, sizeof(server_ip));
		if (is_lost) {
			/* Only its timeline names the host. */
			(void)snprintf(server_ip, sizeof(server_ip), "host%d",
				       (int)(r / params->ranks_per_host));
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
	/* Addresses of ranks are stable from here on: no rank is added any more. */
	for (size_t i = 0; i < memory->run->n_ranks && status == FSL_OK; i++) {
		memory->sources[model_of[memory->run->ranks[i].rank]].rank = &memory->run->ranks[i];
	}
	fsl_free(model_of);
	return status;
}

/*
 * Operators without device rows count as queued if they were launched after the last one that ran.
 */
static void settle_launched(struct source *source)
{
	for (size_t i = 0; i < source->n_launched; i++) {
		const struct launched *op = &source->launched[i];
		if (source->last_launch_ns != FSL_NS_ABSENT &&
		    op->begin_ns > source->last_launch_ns) {
			note_open(source, OPEN_QUEUED, op);
		}
	}
}

enum fsl_status fsl_sim_run_in_memory(const struct fsl_sim_params *params, struct fsl_run *run,
				      struct fsl_sim_truth *truth, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock clock = {0};
	struct memory memory = {.params = params, .run = run};
	struct fsl_sim_sink sink = {&memory, put_op, put_stage};
	enum fsl_status status = fsl_sim_params_check(params, err);
	FSL_THEN(status, intern(&memory, "bfp16", &memory.dtype_id, err));
	FSL_THEN(status, fsl_sim_losses_init(&memory.losses, params, err));
	FSL_THEN(status, add_ranks(&memory, err));
	FSL_THEN(status, fsl_sim_run(params, FSL_SIM_ALL_FAULTS, &sink, &scratch, &clock, err));
	for (int32_t r = 0; r < fsl_sim_n_ranks(params) && status == FSL_OK; r++) {
		settle_launched(&memory.sources[r]);
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
	for (int32_t r = 0; memory.sources != NULL && r < fsl_sim_n_ranks(params); r++) {
		fsl_free(memory.sources[r].launched);
	}
	fsl_free(memory.sources);
	fsl_free(memory.group_ids);
	fsl_arena_fini(&scratch);
	return status;
}
