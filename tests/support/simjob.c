/* The model of the job simulator: who computes, who waits for whom, and what the fault changes. */
#include "support/simjob.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/sim_internal.h"

/* Healthy devices hardly differ by more. */
static const double HETERO_MAX = 0.08;

enum {
	NS_PER_MS = 1000000,
	QUEUE_MS = 600, /* how far the host runs ahead of the device */
	QUEUE_JITTER_MS = 15,
	HOST_OP_US = 20,    /* time to hand one operator to the device */
	HOST_BOUND_US = 30, /* device begin after host end when nothing is queued */
	END_JITTER_US = 20, /* members of a collective do not see its end at the same ns */
	DATALOADER_MS = 2,
	OPTIMIZER_MS = 8,
	CKPT_MS = 400,
	GC_MS = 3,
	START_SKEW_MS = 15,
	HANG_NOW_S = 3600,
};

struct rank_state {
	struct sim_random noise;
	double speed;         /* lasting factor on its compute */
	int64_t clock_ns;     /* added to all of its times when written */
	int64_t now_ns;       /* device time since the start; SIM_ABSENT: it stopped */
	int64_t host_free_ns; /* end of the last host call */
	uint64_t n_ops;
	struct sim_markers *markers;   /* NULL: not written */
	struct sim_timeline *timeline; /* NULL: not written */
};

struct job {
	const struct sim_params *params;
	struct rank_state *ranks;
	int32_t n_ranks;
	int32_t step;
	struct sim_random network; /* noise of transfers */
	struct sim_truth truth;
	int64_t last_event_ns;            /* as written; greatest so far */
	int64_t onset_at_ns, until_at_ns; /* begin of these steps, job time */
};

static int64_t ns_of_ms(double ms)
{
	return (int64_t)(ms * NS_PER_MS);
}

static int32_t rank_at(const struct sim_params *params, int32_t stage, int32_t replica,
		       int32_t shard)
{
	return (stage * params->dp + replica) * params->tp + shard;
}

static bool is_culprit(const struct job *job, int32_t rank)
{
	for (int32_t i = 0; i < job->params->n_culprits; i++) {
		if (job->params->culprits[i] == rank) {
			return true;
		}
	}
	return false;
}

static bool is_fault_on(const struct job *job)
{
	const struct sim_params *params = job->params;
	return job->step >= params->onset_step &&
	       (params->until_step < 0 || job->step < params->until_step);
}

static bool suffers(const struct job *job, int32_t rank, enum sim_fault fault)
{
	return job->params->fault == fault && is_fault_on(job) && is_culprit(job, rank);
}

/* Time of the job to time as rank @rank's clock writes it. */
static int64_t written_ns(struct job *job, int32_t rank, int64_t job_ns)
{
	if (job_ns == SIM_ABSENT) {
		return SIM_ABSENT;
	}
	const struct sim_params *params = job->params;
	int64_t scaled =
		params->time_scale == 1.0 ? job_ns : (int64_t)((double)job_ns * params->time_scale);
	int64_t time_ns = params->start_ns + scaled + job->ranks[rank].clock_ns;
	job->last_event_ns = time_ns > job->last_event_ns ? time_ns : job->last_event_ns;
	return time_ns;
}

static void put_stage(struct job *job, int32_t rank, enum sim_stage_type type, int64_t begin_ns)
{
	struct rank_state *state = &job->ranks[rank];
	if (state->timeline == NULL || state->now_ns == SIM_ABSENT) {
		return;
	}
	struct sim_stage stage = {job->step, type, written_ns(job, rank, begin_ns),
				  written_ns(job, rank, state->now_ns)};
	sim_timeline_put(state->timeline, &stage);
}

/* Host times of an operator that begins on the device at @op->dev_begin_ns (job time). */
static void set_host_times(struct job *job, int32_t rank, struct sim_op *op)
{
	struct rank_state *state = &job->ranks[rank];
	double jitter_ms = QUEUE_JITTER_MS * sim_random_normal(&state->noise);
	double us = 1.0 + 0.05 * sim_random_normal(&state->noise);
	int64_t call_ns = (int64_t)(HOST_OP_US * 1000 * us);
	int64_t latest_end_ns = op->dev_begin_ns - (int64_t)HOST_BOUND_US * 1000;
	int64_t begin_ns = op->dev_begin_ns - ns_of_ms(QUEUE_MS + jitter_ms);
	if (suffers(job, rank, SIM_FAULT_HOST)) {
		begin_ns = latest_end_ns - call_ns;
	}
	begin_ns = begin_ns < state->host_free_ns ? state->host_free_ns : begin_ns;
	op->host_begin_ns = begin_ns;
	op->host_end_ns = begin_ns + call_ns < latest_end_ns ? begin_ns + call_ns : latest_end_ns;
	state->host_free_ns = op->host_end_ns;
}

/* One operator of one rank, from its arrival to @end_ns (job time). */
static void put_op(struct job *job, int32_t rank, struct sim_op op, int64_t end_ns)
{
	struct rank_state *state = &job->ranks[rank];
	if (state->now_ns == SIM_ABSENT) {
		return;
	}
	op.id = ++state->n_ops;
	op.dev_begin_ns = state->now_ns;
	set_host_times(job, rank, &op);
	op.host_begin_ns = written_ns(job, rank, op.host_begin_ns);
	op.host_end_ns = written_ns(job, rank, op.host_end_ns);
	op.dev_begin_ns = written_ns(job, rank, op.dev_begin_ns);
	op.dev_end_ns = written_ns(job, rank, end_ns);
	job->truth.n_ops++;
	if (state->markers != NULL) {
		sim_markers_put(state->markers, &op);
	}
	state->now_ns = end_ns;
}

/* Own compute of one rank. */
static void compute(struct job *job, int32_t rank, double ms)
{
	struct rank_state *state = &job->ranks[rank];
	double share = 1.0 + job->params->noise_share * sim_random_normal(&state->noise);
	double factor = 1.0;
	if (suffers(job, rank, SIM_FAULT_COMPUTE) || suffers(job, rank, SIM_FAULT_HOST) ||
	    (job->params->fault == SIM_FAULT_JOB_SLOW && is_fault_on(job))) {
		factor = job->params->factor;
	}
	if (state->now_ns != SIM_ABSENT) {
		state->now_ns += ns_of_ms(ms * state->speed * share * factor);
	}
}

/* An operator that ends on all @n_members when the last has arrived and the data is through. */
static void communicate(struct job *job, const int32_t *members, int32_t n_members,
			const struct sim_op *op, double transfer_ms)
{
	int64_t last_ns = 0;
	bool has_culprits[2] = {false, false};
	for (int32_t i = 0; i < n_members; i++) {
		int64_t arrival_ns = job->ranks[members[i]].now_ns;
		last_ns = arrival_ns > last_ns ? arrival_ns : last_ns; /* SIM_ABSENT is greatest */
		for (int32_t k = 0; k < 2 && k < job->params->n_culprits; k++) {
			has_culprits[k] |= members[i] == job->params->culprits[k];
		}
	}
	transfer_ms *= 1.0 + 0.03 * fabs(sim_random_normal(&job->network));
	if (job->params->fault == SIM_FAULT_LINK && is_fault_on(job) && has_culprits[0] &&
	    has_culprits[1]) {
		transfer_ms += job->params->extra_ms;
	}
	for (int32_t i = 0; i < n_members; i++) {
		struct sim_random *noise = &job->ranks[members[i]].noise;
		int64_t jitter_ns = (int64_t)(END_JITTER_US * 1000 * sim_random_uniform(noise));
		int64_t end_ns = last_ns == SIM_ABSENT
					 ? SIM_ABSENT
					 : last_ns + ns_of_ms(transfer_ms) + jitter_ns;
		put_op(job, members[i], *op, end_ns);
	}
}

static struct sim_op make_op(const char *name, uint64_t n_elements, char kind, int32_t a, int32_t b)
{
	struct sim_op op = {.name = name, .n_elements = n_elements};
	(void)snprintf(op.group, sizeof(op.group), "%c%d_%d", kind, a, b);
	return op;
}

/* Compute and one tensor-parallel collective, for all shards of one replica of one stage. */
static void segment(struct job *job, int32_t stage, int32_t replica, double ms, const char *name)
{
	const struct sim_params *params = job->params;
	int32_t members[SIM_RANKS_MAX];
	for (int32_t shard = 0; shard < params->tp; shard++) {
		members[shard] = rank_at(params, stage, replica, shard);
		compute(job, members[shard], ms);
	}
	if (params->tp > 1) {
		bool is_gather = strcmp(name, "HcclAllGather") == 0;
		struct sim_op op =
			make_op(name, is_gather ? 4194304 : 33554432, 't', stage, replica);
		communicate(job, members, params->tp, &op, params->transfer_ms);
	}
}

/* What happens to single ranks at the begin of a forward pass. */
static void forward_incidents(struct job *job, int32_t rank)
{
	const struct sim_params *params = job->params;
	struct rank_state *state = &job->ranks[rank];
	if (state->now_ns == SIM_ABSENT) {
		return;
	}
	bool is_first = params->n_culprits > 0 && params->culprits[0] == rank;
	if (is_first && job->step == params->onset_step) {
		if (params->fault == SIM_FAULT_HANG) {
			state->now_ns = SIM_ABSENT;
			return;
		}
		if (params->fault == SIM_FAULT_SPIKE) {
			state->now_ns += ns_of_ms(params->extra_ms);
		}
	}
	if (params->gc_period > 0 && job->step % params->gc_period == rank % params->gc_period) {
		int64_t begin_ns = state->now_ns;
		state->now_ns += (int64_t)GC_MS * NS_PER_MS;
		put_stage(job, rank, SIM_STAGE_GC, begin_ns);
	}
}

/* Forward or backward of one replica of one stage. */
static void pass(struct job *job, int32_t stage, int32_t replica, bool is_forward)
{
	const struct sim_params *params = job->params;
	int64_t begin_ns[SIM_RANKS_MAX];
	double ms = params->segment_ms * (is_forward ? 1.0 : 2.0);
	for (int32_t shard = 0; shard < params->tp; shard++) {
		int32_t rank = rank_at(params, stage, replica, shard);
		begin_ns[shard] = job->ranks[rank].now_ns;
		if (is_forward) {
			forward_incidents(job, rank);
		}
	}
	for (int32_t pair = 0; pair < params->pairs; pair++) {
		segment(job, stage, replica, ms, "HcclAllGather");
		segment(job, stage, replica, ms, "HcclReduceScatter");
	}
	for (int32_t shard = 0; shard < params->tp; shard++) {
		put_stage(job, rank_at(params, stage, replica, shard),
			  is_forward ? SIM_STAGE_FORWARD : SIM_STAGE_BACKWARD, begin_ns[shard]);
	}
}

/* Rendezvous of neighbouring stages. */
static void hand_over(struct job *job, int32_t from_stage, int32_t to_stage, int32_t replica)
{
	const struct sim_params *params = job->params;
	for (int32_t shard = 0; shard < params->tp; shard++) {
		int32_t members[] = {rank_at(params, from_stage, replica, shard),
				     rank_at(params, to_stage, replica, shard)};
		struct sim_op op = make_op("HcclBatchSendRecv", 8388608, 'p', replica, shard);
		communicate(job, members, 2, &op, 3.0 * params->transfer_ms);
	}
}

static void load_data(struct job *job, int32_t rank)
{
	struct rank_state *state = &job->ranks[rank];
	int64_t begin_ns = state->now_ns;
	double ms = DATALOADER_MS * (1.0 + 0.1 * fabs(sim_random_normal(&state->noise)));
	if (suffers(job, rank, SIM_FAULT_DATALOADER)) {
		ms += job->params->extra_ms;
	}
	state->now_ns += ns_of_ms(ms);
	put_stage(job, rank, SIM_STAGE_DATALOADER, begin_ns);
}

static void optimise(struct job *job, int32_t rank)
{
	int64_t begin_ns = job->ranks[rank].now_ns;
	compute(job, rank, OPTIMIZER_MS);
	put_stage(job, rank, SIM_STAGE_OPTIMIZER, begin_ns);
}

static void save_checkpoint(struct job *job, int32_t rank)
{
	struct rank_state *state = &job->ranks[rank];
	int64_t begin_ns = state->now_ns;
	double ms = CKPT_MS * (1.0 + 0.02 * sim_random_normal(&state->noise));
	if (suffers(job, rank, SIM_FAULT_STORAGE)) {
		ms += job->params->extra_ms;
	}
	if (begin_ns != SIM_ABSENT) {
		state->now_ns += ns_of_ms(ms);
		put_stage(job, rank, SIM_STAGE_CKPT, begin_ns);
	}
}

static void reduce_gradients(struct job *job, int32_t stage, int32_t shard)
{
	const struct sim_params *params = job->params;
	int32_t members[SIM_RANKS_MAX];
	for (int32_t replica = 0; replica < params->dp; replica++) {
		members[replica] = rank_at(params, stage, replica, shard);
	}
	struct sim_op op = make_op("HcclAllreduce", 1048576, 'd', stage, shard);
	communicate(job, members, params->dp, &op, 7.0 * params->transfer_ms);
}

/* Forward through the stages, backward the other way: each stage after the one that feeds it. */
static void run_pipelines(struct job *job)
{
	const struct sim_params *params = job->params;
	for (int32_t replica = 0; replica < params->dp; replica++) {
		for (int32_t stage = 0; stage < params->pp; stage++) {
			if (stage > 0) {
				hand_over(job, stage - 1, stage, replica);
			}
			pass(job, stage, replica, true);
		}
		for (int32_t stage = params->pp - 1; stage >= 0; stage--) {
			if (stage < params->pp - 1) {
				hand_over(job, stage + 1, stage, replica);
			}
			pass(job, stage, replica, false);
		}
	}
}

static void run_step(struct job *job)
{
	const struct sim_params *params = job->params;
	if (job->step == params->onset_step) {
		job->onset_at_ns = job->ranks[0].now_ns;
	}
	if (job->step == params->until_step) {
		job->until_at_ns = job->ranks[0].now_ns;
	}
	for (int32_t rank = 0; rank < job->n_ranks; rank++) {
		load_data(job, rank);
	}
	run_pipelines(job);
	for (int32_t stage = 0; params->dp > 1 && stage < params->pp; stage++) {
		for (int32_t shard = 0; shard < params->tp; shard++) {
			reduce_gradients(job, stage, shard);
		}
	}
	bool is_ckpt = params->ckpt_period > 0 && (job->step + 1) % params->ckpt_period == 0;
	for (int32_t rank = 0; rank < job->n_ranks; rank++) {
		optimise(job, rank);
		if (is_ckpt) {
			save_checkpoint(job, rank);
		}
	}
}

/* The first operator of a job: everybody meets. */
static void meet(struct job *job)
{
	int32_t members[SIM_RANKS_MAX];
	for (int32_t rank = 0; rank < job->n_ranks; rank++) {
		members[rank] = rank;
	}
	struct sim_op op = {.name = "HcclAllreduce", .group = "w0", .n_elements = 1048576};
	communicate(job, members, job->n_ranks, &op, 0.5);
}

static void run(struct job *job)
{
	const struct sim_params *params = job->params;
	job->step = -1; /* no fault before the first step */
	meet(job);
	bool has_hung = false;
	for (job->step = 0; job->step < params->steps && !has_hung; job->step++) {
		run_step(job);
		has_hung = params->fault == SIM_FAULT_HANG && job->step == params->onset_step;
	}
}

/* The next uniform of @random as a clock offset of at most @limit_ms either side. */
static int64_t draw_clock(struct sim_random *random, double limit_ms)
{
	return ns_of_ms((2.0 * sim_random_uniform(random) - 1.0) * limit_ms);
}

static void seed_ranks(struct job *job)
{
	const struct sim_params *params = job->params;
	struct sim_random seeds;
	sim_random_seed(&seeds, params->seed);
	sim_random_seed(&job->network, sim_random_next(&seeds));
	int64_t clock_ns = 0;
	for (int32_t rank = 0; rank < job->n_ranks; rank++) {
		struct rank_state *state = &job->ranks[rank];
		if (rank % params->ranks_per_host == 0) {
			clock_ns = draw_clock(&seeds, params->clock_offset_ms);
		}
		sim_random_seed(&state->noise, sim_random_next(&seeds));
		double lasting = params->hetero_share * sim_random_normal(&state->noise);
		state->speed = 1.0 + fmin(fmax(lasting, -HETERO_MAX), HETERO_MAX);
		state->clock_ns = clock_ns;
		state->now_ns = ns_of_ms(-START_SKEW_MS * sim_random_uniform(&state->noise));
		state->host_free_ns = -ns_of_ms(2.0 * QUEUE_MS);
	}
}

static bool has_marker_file(const struct job *job, int32_t rank)
{
	return !(job->params->fault == SIM_FAULT_MISSING && is_culprit(job, rank));
}

static enum fsl_status open_files(struct job *job, const char *dir, struct fsl_error *err)
{
	const struct sim_params *params = job->params;
	for (int32_t rank = 0; rank < job->n_ranks; rank++) {
		struct rank_state *state = &job->ranks[rank];
		enum fsl_status status = FSL_OK;
		if (has_marker_file(job, rank)) {
			status = sim_markers_open(&state->markers, params, dir, rank, err);
		}
		bool has_timeline = params->timelines == SIM_TIMELINES_ALL ||
				    (params->timelines == SIM_TIMELINES_FIRST && rank == 0);
		if (status == FSL_OK && has_timeline) {
			status = sim_timeline_open(&state->timeline, params, dir, rank, err);
		}
		if (status == FSL_OK && params->fault == SIM_FAULT_EMPTY && is_culprit(job, rank)) {
			status = sim_markers_close(state->markers, err);
			state->markers = NULL;
		}
		if (status != FSL_OK) {
			return status;
		}
	}
	return FSL_OK;
}

static enum fsl_status close_files(struct job *job, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (int32_t rank = 0; rank < job->n_ranks; rank++) {
		enum fsl_status one = sim_markers_close(job->ranks[rank].markers, err);
		enum fsl_status two = sim_timeline_close(job->ranks[rank].timeline, err);
		status = status != FSL_OK ? status : one != FSL_OK ? one : two;
	}
	return status;
}

static double mean_step_ms(const struct sim_params *params, int64_t span_ns, int32_t n_steps)
{
	return n_steps > 0 ? (double)span_ns * params->time_scale / NS_PER_MS / n_steps : NAN;
}

static void set_truth(struct job *job)
{
	const struct sim_params *params = job->params;
	struct sim_truth *truth = &job->truth;
	truth->start_ns = params->start_ns;
	truth->end_ns = job->last_event_ns;
	truth->now_ns = truth->end_ns;
	truth->onset_ns = -1;
	truth->step_ms_before = truth->step_ms_after = NAN;
	if (params->fault == SIM_FAULT_HANG) {
		truth->now_ns += (int64_t)HANG_NOW_S * 1000 * NS_PER_MS;
	}
	int64_t end_ns = job->ranks[0].now_ns;
	if (!sim_fault_has_onset(params->fault)) {
		truth->step_ms_before = mean_step_ms(params, end_ns, params->steps);
		return;
	}
	truth->onset_ns =
		params->start_ns + (int64_t)((double)job->onset_at_ns * params->time_scale);
	truth->step_ms_before = mean_step_ms(params, job->onset_at_ns, params->onset_step);
	if (end_ns != SIM_ABSENT) {
		bool lasts = params->until_step < 0;
		int32_t until = lasts ? params->steps : params->until_step;
		int64_t until_ns = lasts ? end_ns : job->until_at_ns;
		truth->step_ms_after = mean_step_ms(params, until_ns - job->onset_at_ns,
						    until - params->onset_step);
	}
}

static enum fsl_status create_dirs(const char *dir, struct fsl_error *err)
{
	char path[SIM_PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/mspti", dir);
	enum fsl_status status = fsl_dir_create(path, err);
	if (status == FSL_OK) {
		(void)snprintf(path, sizeof(path), "%s/timeline", dir);
		status = fsl_dir_create(path, err);
	}
	return status;
}

enum fsl_status sim_write(const struct sim_params *params, const char *dir, struct sim_truth *truth,
			  struct fsl_error *err)
{
	struct job job = {.params = params, .n_ranks = sim_n_ranks(params)};
	if (job.n_ranks < 1 || job.n_ranks > SIM_RANKS_MAX) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "too many ranks or none: ranks=%d, most=%d",
				job.n_ranks, SIM_RANKS_MAX);
	}
	job.ranks = fsl_calloc((size_t)job.n_ranks, sizeof(*job.ranks));
	if (job.ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%d", job.n_ranks);
	}
	seed_ranks(&job);
	enum fsl_status status = create_dirs(dir, err);
	if (status == FSL_OK) {
		status = open_files(&job, dir, err);
	}
	if (status == FSL_OK) {
		run(&job);
	}
	enum fsl_status closed = close_files(&job, err);
	status = status != FSL_OK ? status : closed;
	if (status == FSL_OK) {
		set_truth(&job);
		status = sim_truth_write(params, &job.truth, dir, err);
	}
	if (status == FSL_OK && params->config_files) {
		status = sim_config_write(params, dir, err);
	}
	fsl_free(job.ranks);
	if (status == FSL_OK && truth != NULL) {
		*truth = job.truth;
	}
	return status;
}
