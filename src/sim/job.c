/* The model of the job: which ranks compute, and which wait for which, step after step. */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "base/number.h"
#include "sim/job.h"

enum { WARM_UP_STEPS = 5, STREAM_LENGTHS = 100, FORWARD_PARTS = 1, BACKWARD_PARTS = 2 };

static void stage(struct fsl_sim_job *job, int32_t rank, enum fsl_stage_kind kind, int64_t begin_ns)
{
	if (job->sink != NULL) {
		fsl_sim_note(job, fsl_sim_lane_put_stage(&job->lanes[rank], job->step, kind,
							 begin_ns, job->err));
	}
}

/* Takes the pauses that are due before this pass. */
static void pause_lanes(struct fsl_sim_job *job, const struct fsl_sim_cell *cell)
{
	for (int32_t i = 0; i < job->width; i++) {
		int32_t rank = fsl_sim_cell_rank(job, cell, i);
		struct fsl_sim_lane *lane = &job->lanes[rank];
		if (lane->n_passes++ != lane->pause_at || lane->now_ns == FSL_SIM_NEVER) {
			continue;
		}
		lane->now_ns += (int64_t)(lane->pause_ms[0] * FSL_NS_PER_MS);
		int64_t begin_ns = lane->now_ns;
		lane->now_ns += (int64_t)(lane->pause_ms[1] * FSL_NS_PER_MS);
		if (lane->now_ns > begin_ns) {
			stage(job, rank, FSL_STAGE_GC, begin_ns);
		}
	}
}

static void work_cell(struct fsl_sim_job *job, const struct fsl_sim_cell *cell, double ms,
		      int32_t micro_batch)
{
	const struct fsl_sim_params *params = job->params;
	double warm =
		job->step < WARM_UP_STEPS
			? 1.0 + params->warm_up_share * (1.0 - (double)job->step / WARM_UP_STEPS)
			: 1.0;
	for (int32_t i = 0; i < job->width; i++) {
		int32_t replica = cell->block * params->ep + i / params->tp;
		double length = job->lengths[replica * params->micro_batches + micro_batch];
		fsl_sim_lane_work(&job->lanes[fsl_sim_cell_rank(job, cell, i)], params, ms,
				  warm * length);
	}
}

/* Under overlap the gradients of bucket b are ready when the last backward pass has done that
 * bucket's share of its layers, and at least one layer. */
static void mark_ready(struct fsl_sim_job *job, const struct fsl_sim_cell *cell, int32_t n_done,
		       int32_t n_all)
{
	const struct fsl_sim_params *params = job->params;
	for (int32_t b = 0; b < params->buckets; b++) {
		int32_t share = (b + 1) * n_all / params->buckets, due = share > 1 ? share : 1;
		for (int32_t i = 0; i < job->width && due == n_done; i++) {
			int32_t rank = fsl_sim_cell_rank(job, cell, i);
			job->ready_ns[(int64_t)rank * params->buckets + b] =
				job->lanes[rank].now_ns;
		}
	}
}

static void pass(struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
		 const struct fsl_sim_action *action)
{
	const struct fsl_sim_params *params = job->params;
	bool is_forward = action->kind == FSL_SIM_PASS_FORWARD;
	int32_t n_pieces = 2 * params->pairs;
	double share = (is_forward ? FORWARD_PARTS : BACKWARD_PARTS) /
		       (double)(FORWARD_PARTS + BACKWARD_PARTS);
	double piece_ms =
		params->step_ms * share / params->micro_batches / params->chunks / n_pieces;
	bool is_last = !is_forward && action->micro_batch == params->micro_batches - 1 &&
		       action->chunk == 0;
	for (int32_t i = 0; i < job->width; i++) {
		struct fsl_sim_lane *lane = &job->lanes[fsl_sim_cell_rank(job, cell, i)];
		lane->pass_begin_ns = lane->now_ns;
	}
	pause_lanes(job, cell);
	for (int32_t k = 0; k < n_pieces; k++) {
		work_cell(job, cell, piece_ms, action->micro_batch);
		bool is_gather = k % 2 == 0;
		fsl_sim_meet_shards(job, cell, is_gather ? "HcclAllGather" : "HcclReduceScatter",
				    is_gather ? 4194304 : 33554432);
		if (!is_gather) {
			fsl_sim_meet_experts(job, cell);
		}
		if (is_last) {
			mark_ready(job, cell, k + 1, n_pieces);
		}
	}
	for (int32_t i = 0; i < job->width; i++) {
		int32_t rank = fsl_sim_cell_rank(job, cell, i);
		stage(job, rank, is_forward ? FSL_STAGE_FORWARD : FSL_STAGE_BACKWARD,
		      job->lanes[rank].pass_begin_ns);
	}
}

/* Takes one action if it is possible now; false: the cell waits for another cell. */
static bool act(struct fsl_sim_job *job, struct fsl_sim_cell *cell)
{
	const struct fsl_sim_plan *plan = &job->plans[cell->stage];
	const struct fsl_sim_action *action = &plan->actions[cell->next];
	struct fsl_sim_cell *peer = NULL;
	switch (action->kind) {
	case FSL_SIM_PASS_FORWARD:
	case FSL_SIM_PASS_BACKWARD:
		pass(job, cell, action);
		break;
	case FSL_SIM_EXCHANGE: {
		peer = fsl_sim_peer_of(job, cell, action);
		const struct fsl_sim_plan *theirs = &job->plans[peer->stage];
		bool is_there = peer->next < theirs->n_actions &&
				theirs->actions[peer->next].kind == FSL_SIM_EXCHANGE &&
				theirs->actions[peer->next].peer == cell->stage;
		if (!is_there) {
			return false;
		}
		fsl_sim_exchange(job, cell, peer, action);
		peer->next++;
		break;
	}
	case FSL_SIM_SEND:
		fsl_sim_send_mail(job, cell, action);
		break;
	case FSL_SIM_RECEIVE:
		if (!fsl_sim_receive_mail(job, cell, action)) {
			return false;
		}
		break;
	}
	cell->next++;
	return true;
}

/* Runs all stages of one block of replicas, each as far as possible, until all are done. */
static void run_block(struct fsl_sim_job *job, int32_t block)
{
	const struct fsl_sim_params *params = job->params;
	struct fsl_sim_cell *cells = &job->cells[block * params->pp];
	bool is_moving = true;
	for (int32_t s = 0; s < params->pp; s++) {
		cells[s].next = 0;
	}
	while (is_moving && job->status == FSL_OK) {
		is_moving = false;
		for (int32_t s = 0; s < params->pp; s++) {
			while (cells[s].next < job->plans[s].n_actions && act(job, &cells[s])) {
				is_moving = true;
			}
		}
	}
	for (int32_t s = 0; s < params->pp; s++) {
		if (cells[s].next < job->plans[s].n_actions && job->status == FSL_OK) {
			fsl_sim_note(job,
				     FSL_FAIL(job->err, FSL_ERR_INTERNAL,
					      "the schedule waits for itself: stage=%d, action=%zu",
					      (int)s, cells[s].next));
		}
	}
}

/* Draws the lengths of this step's micro-batches. Two thirds of the work grow with the length, one
 * third with its square. */
static void draw_lengths(struct fsl_sim_job *job)
{
	static const double SQUARE_SHARE = 1.0 / 3.0;
	const struct fsl_sim_params *params = job->params;
	double sigma = params->sequence_share;
	for (size_t f = 0; f < params->n_faults && !job->is_healthy; f++) {
		const struct fsl_sim_fault *fault = &params->faults[f];
		double size = fault->kind == FSL_SIM_SEQUENCE ? fsl_sim_fault_size(fault, job->step)
							      : 0.0;
		sigma = size > 0.0 ? fmax(sigma, fault->factor * size) : sigma;
	}
	for (int32_t d = 0; d < params->dp; d++) {
		for (int32_t m = 0; m < params->micro_batches; m++) {
			double normal = gsl_ran_gaussian_ziggurat(job->streams[d], 1.0);
			double length = exp(sigma * normal - 0.5 * sigma * sigma);
			double square = length * length / exp(sigma * sigma);
			job->lengths[d * params->micro_batches + m] =
				(1.0 - SQUARE_SHARE) * length + SQUARE_SHARE * square;
		}
	}
}

static void load_data(struct fsl_sim_job *job, int32_t rank)
{
	struct fsl_sim_lane *lane = &job->lanes[rank];
	int64_t begin_ns = lane->now_ns;
	if (begin_ns == FSL_SIM_NEVER) {
		return;
	}
	double ms = job->params->loader_ms * (1.0 + 0.1 * gsl_rng_uniform(lane->chance));
	lane->now_ns += (int64_t)((ms + lane->loader_extra_ms) * FSL_NS_PER_MS);
	stage(job, rank, FSL_STAGE_DATALOADER, begin_ns);
}

static void finish_step(struct fsl_sim_job *job, int32_t rank)
{
	const struct fsl_sim_params *params = job->params;
	struct fsl_sim_lane *lane = &job->lanes[rank];
	int64_t begin_ns = lane->now_ns;
	fsl_sim_lane_work(lane, params, params->optimizer_ms, 1.0);
	stage(job, rank, FSL_STAGE_OPTIMIZER, begin_ns);
	bool is_ckpt = params->ckpt_period > 0 && (job->step + 1) % params->ckpt_period == 0;
	if (is_ckpt && lane->now_ns != FSL_SIM_NEVER) {
		begin_ns = lane->now_ns;
		double ms = params->ckpt_ms * (1.0 + 0.02 * gsl_rng_uniform(lane->chance));
		lane->now_ns += (int64_t)((ms + lane->ckpt_extra_ms) * FSL_NS_PER_MS);
		stage(job, rank, FSL_STAGE_CKPT, begin_ns);
	}
}

static void flush(struct fsl_sim_job *job)
{
	for (int32_t r = 0; r < job->n_ranks && job->sink != NULL && job->status == FSL_OK; r++) {
		fsl_sim_note(job, fsl_sim_lane_flush(&job->lanes[r], job->params, job->sink, r,
						     &job->last_ns, job->err));
	}
}

static void run_step(struct fsl_sim_job *job)
{
	for (int32_t r = 0; r < job->n_ranks; r++) {
		fsl_sim_lane_prepare(&job->lanes[r], job->params, r, job->step,
				     job->is_healthy ? NULL : &job->struck[r]);
		load_data(job, r);
	}
	draw_lengths(job);
	for (int32_t b = 0; b < job->n_blocks; b++) {
		run_block(job, b);
	}
	fsl_sim_reduce_gradients(job);
	for (int32_t r = 0; r < job->n_ranks; r++) {
		finish_step(job, r);
	}
	flush(job);
}

static bool has_hung(const struct fsl_sim_job *job)
{
	for (int32_t r = 0; r < job->n_ranks; r++) {
		if (job->lanes[r].now_ns == FSL_SIM_NEVER) {
			return true;
		}
	}
	return false;
}

/* Looks up once which ranks each fault strikes. */
static void note_struck(struct fsl_sim_job *job)
{
	const struct fsl_sim_params *params = job->params;
	for (size_t f = 0; f < params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &params->faults[f];
		for (size_t i = 0; i < fault->n_ranks && fault->kind != FSL_SIM_STAGE; i++) {
			int32_t first = fault->ranks[i] / params->ranks_per_host;
			first *= params->ranks_per_host;
			job->struck[fault->ranks[i]] |= UINT32_C(1) << f;
			for (int32_t k = 0; k < params->ranks_per_host; k++) {
				if (first + k < job->n_ranks) {
					job->on_hosts[first + k] |= UINT32_C(1) << f;
				}
			}
		}
	}
}

static enum fsl_status job_init(struct fsl_sim_job *job, struct fsl_arena *arena)
{
	const struct fsl_sim_params *params = job->params;
	job->n_ranks = fsl_sim_n_ranks(params);
	job->n_blocks = params->dp / params->ep;
	job->width = params->ep * params->tp;
	size_t n = (size_t)job->n_ranks, n_cells = (size_t)job->n_blocks * (size_t)params->pp;
	size_t n_mail =
		2 * (size_t)params->chunks * (size_t)params->micro_batches * (size_t)job->width;
	job->cells = fsl_arena_alloc(arena, n_cells * sizeof(*job->cells));
	job->lengths = fsl_arena_alloc(arena, (size_t)params->dp * (size_t)params->micro_batches *
						      sizeof(*job->lengths));
	job->streams = fsl_arena_alloc(arena, (size_t)params->dp * sizeof(gsl_rng *));
	job->members = fsl_arena_alloc(arena, n * sizeof(*job->members));
	job->ready_ns =
		fsl_arena_alloc(arena, n * (size_t)params->buckets * sizeof(*job->ready_ns));
	job->groups = fsl_arena_alloc(arena, FSL_SIM_GROUPS_PER_RANK * n * sizeof(char *));
	job->struck = fsl_arena_alloc(arena, n * sizeof(*job->struck));
	job->on_hosts = fsl_arena_alloc(arena, n * sizeof(*job->on_hosts));
	bool is_complete = job->cells != NULL && job->lengths != NULL && job->streams != NULL &&
			   job->members != NULL && job->ready_ns != NULL && job->groups != NULL &&
			   job->struck != NULL && job->on_hosts != NULL;
	if (is_complete) {
		note_struck(job);
	}
	for (size_t c = 0; c < n_cells && is_complete; c++) {
		job->cells[c].stage = (int32_t)(c % (size_t)params->pp);
		job->cells[c].block = (int32_t)(c / (size_t)params->pp);
		if (params->schedule == FSL_SIM_INTERLEAVED) {
			job->cells[c].mail_ns =
				fsl_arena_alloc(arena, n_mail * sizeof(*job->cells[c].mail_ns));
			is_complete = job->cells[c].mail_ns != NULL;
			for (size_t i = 0; i < n_mail && is_complete; i++) {
				job->cells[c].mail_ns[i] = -1;
			}
		}
	}
	for (int32_t d = 0; d < params->dp && is_complete; d++) {
		job->streams[d] = fsl_sim_stream(params, d, STREAM_LENGTHS);
		is_complete = job->streams[d] != NULL;
	}
	return is_complete ? FSL_OK
			   : FSL_FAIL(job->err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
}

enum fsl_status fsl_sim_run(const struct fsl_sim_params *params, bool is_healthy,
			    const struct fsl_sim_sink *sink, struct fsl_arena *arena,
			    struct fsl_sim_clock *out, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_job job = {.params = params,
				  .sink = sink,
				  .is_healthy = is_healthy,
				  .names = arena,
				  .last_ns = FSL_NS_ABSENT,
				  .err = err};
	size_t n_begins = (size_t)params->steps + 1;
	*out = (struct fsl_sim_clock){
		.step_begin_ns = fsl_arena_alloc(arena, n_begins * sizeof(*out->step_begin_ns))};
	enum fsl_status status = fsl_sim_params_check(params, err);
	if (status == FSL_OK && out->step_begin_ns == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n_begins);
	}
	FSL_THEN(status, job_init(&job, &scratch));
	FSL_THEN(status, fsl_sim_plans_build(&job.plans, params, &scratch, err));
	FSL_THEN(status, fsl_sim_lanes_create(&job.lanes, params, err));
	if (status != FSL_OK) {
		goto out;
	}
	fsl_sim_meet_all(&job);
	flush(&job);
	bool is_over = false;
	for (job.step = 0; job.step < params->steps && !is_over && job.status == FSL_OK;
	     job.step++) {
		out->step_begin_ns[job.step] = job.lanes[0].now_ns;
		run_step(&job);
		out->n_steps = job.step + 1;
		is_over = has_hung(&job);
	}
	out->step_begin_ns[out->n_steps] = job.lanes[0].now_ns;
	out->last_ns = job.last_ns;
	for (int32_t r = 0; r < job.n_ranks; r++) {
		out->n_ops += job.lanes[r].n_ops;
	}
	status = job.status;
out:
	for (int32_t d = 0; job.streams != NULL && d < params->dp; d++) {
		if (job.streams[d] != NULL) {
			gsl_rng_free(job.streams[d]);
		}
	}
	fsl_sim_lanes_destroy(job.lanes, job.n_ranks);
	fsl_arena_fini(&scratch);
	return status;
}
