/*
 * Runs jobs of a family. The host of a rank issues the calls of its program, some ahead of the
 * device; a device runs them on streams; an operator ends when the last of its members has begun it
 * plus the transfer, in a ring when the neighbours have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "base/number.h"
#include "base/sort.h"
#include "sim/lane.h"
#include "sim/program.h"

enum {
	QUEUE_MAX = 256,
	OPERATOR_US = 20, /* time to launch one operator */
	START_US = 30,    /* from the end of a launch to the begin on an idle device */
	EVALUATION_PASSES = 3,
	STREAM_LENGTHS = 100, /* purposes of random streams */
	STREAM_HOST = 102,
};
#define UNKNOWN INT64_MIN /* the members of an operator have not all begun it */

/* An asynchronous checkpoint first copies a part of its data, then slows launches while it writes.
 */
static const double COPIED_SHARE = 0.02;
static const double WRITING_FACTOR = 1.15;

/* One use of an operator by the ranks that meet in it. */
struct meeting {
	int32_t *members;
	int64_t *begin_ns; /* of each member; UNKNOWN: not begun */
	int32_t n_members, n_begun;
	int64_t dur_ns;
	bool is_ring;
	double ms;
};

/* Programs of all ranks, and the meetings in them. */
struct script {
	struct fsl_sim_program *programs; /* [n_ranks] */
	struct meeting *meetings;
	size_t n_meetings;
};

/* Times of one call in this step. */
struct times {
	int64_t host_begin_ns, host_end_ns, begin_ns;
	int64_t end_ns; /* own work */
};

struct actor {
	struct fsl_sim_lane *lane; /* lane->now_ns: time of the host */
	struct times *times;       /* [calls of the longer program] */
	size_t next;
	int32_t last[FSL_SIM_STREAMS_N]; /* newest call of each stream */
	int64_t device_ns;               /* all streams are free */
	int64_t queue_ns[QUEUE_MAX];     /* ends of own work, the last params->queue of them */
	uint64_t n_works;
	size_t pause_at, stall_at;
	gsl_rng *host; /* speed of its host, and tails of its work */
	double host_speed;
	int32_t writing_steps; /* of an asynchronous checkpoint, left */
};

struct job {
	const struct fsl_sim_params *params;
	const struct fsl_sim_sink *sink;
	struct fsl_sim_net net;
	struct fsl_sim_lane *lanes;
	struct actor *actors;
	struct script training, evaluation;
	double *lengths; /* [replica * micro_batches + micro-batch] */
	gsl_rng **streams;
	const char **groups; /* names by number */
	struct fsl_arena *names;
	int32_t n_ranks;
	int64_t last_ns;
	struct fsl_error *err;
};

static int64_t ns_of_ms(double ms)
{
	return (int64_t)(ms * FSL_NS_PER_MS);
}

/* One operator call, while meetings are put together. */
struct attendance {
	uint64_t group;
	int64_t use;
	int32_t rank;
	struct fsl_sim_call *call;
};

static int compare_attendances(const void *left, const void *right)
{
	const struct attendance *a = left, *b = right;
	FSL_ORDER_BY(a->group, b->group);
	FSL_ORDER_BY(a->use, b->use);
	return FSL_ORDER(a->rank, b->rank);
}

static bool is_same_meeting(const struct attendance *a, const struct attendance *b)
{
	return a->group == b->group && a->use == b->use;
}

/* Makes one meeting of @n attendances. */
static enum fsl_status add_meeting(struct script *script, struct job *job,
				   struct attendance *attendances, int32_t n,
				   struct fsl_arena *arena)
{
	const struct fsl_sim_call *call = attendances[0].call;
	struct meeting *meeting = &script->meetings[script->n_meetings];
	*meeting = (struct meeting){.n_members = n, .is_ring = call->is_ring, .ms = call->ms};
	if (n != fsl_sim_group_size(job->params, call->group)) {
		return FSL_FAIL(job->err, FSL_ERR_INTERNAL,
				"ranks of a group miss an operator: name=\"%s\", ranks=%d",
				call->name, (int)n);
	}
	FSL_TRY(FSL_ARENA_NEW(meeting->members, arena, (size_t)n, "members", job->err));
	FSL_TRY(FSL_ARENA_NEW(meeting->begin_ns, arena, (size_t)n, "members", job->err));
	for (int32_t i = 0; i < n; i++) {
		meeting->members[i] = attendances[i].rank;
		attendances[i].call->meet = script->n_meetings;
		attendances[i].call->place = (size_t)i;
	}
	script->n_meetings++;
	return FSL_OK;
}

/* Finds out which calls of the ranks are one operator. */
static enum fsl_status put_meetings(struct script *script, struct job *job, struct fsl_arena *arena)
{
	struct attendance *list = NULL;
	size_t n = 0;
	for (int32_t r = 0; r < job->n_ranks; r++) {
		n += script->programs[r].n_calls;
	}
	FSL_TRY(FSL_ARENA_NEW(list, arena, n, "calls", job->err));
	FSL_TRY(FSL_ARENA_NEW(script->meetings, arena, n, "calls", job->err));
	n = 0;
	for (int32_t r = 0; r < job->n_ranks; r++) {
		for (size_t i = 0; i < script->programs[r].n_calls; i++) {
			struct fsl_sim_call *call = &script->programs[r].calls[i];
			if (call->name != NULL) {
				list[n++] = (struct attendance){
					(uint64_t)call->group * (uint64_t)job->n_ranks +
						(uint64_t)call->group_idx,
					call->use, r, call};
			}
		}
	}
	qsort(list, n, sizeof(*list), compare_attendances);
	for (size_t first = 0, end = 0; first < n; first = end) {
		for (end = first + 1; end < n && is_same_meeting(&list[first], &list[end]); end++) {
		}
		FSL_TRY(add_meeting(script, job, &list[first], (int32_t)(end - first), arena));
	}
	return FSL_OK;
}

static enum fsl_status write_script(struct script *script, struct job *job,
				    const struct fsl_sim_plan *plans, bool is_evaluation,
				    struct fsl_arena *arena)
{
	int32_t width = job->params->tp * job->params->dp;
	FSL_TRY(FSL_ARENA_NEW(script->programs, arena, (size_t)job->n_ranks, "ranks", job->err));
	for (int32_t r = 0; r < job->n_ranks; r++) {
		struct fsl_sim_program *program = &script->programs[r];
		*program = (struct fsl_sim_program){.params = job->params,
						    .plan = &plans[r / width],
						    .rank = r,
						    .is_evaluation = is_evaluation,
						    .err = job->err};
		fsl_sim_program_build(program);
		FSL_TRY(program->status);
	}
	return put_meetings(script, job, arena);
}

static int64_t latest_begin(const struct meeting *meeting, size_t place)
{
	size_t n = (size_t)meeting->n_members;
	int64_t latest_ns = INT64_MIN;
	if (!meeting->is_ring && meeting->n_begun < meeting->n_members) {
		return UNKNOWN;
	}
	for (size_t i = 0; i < (meeting->is_ring ? 3 : n); i++) {
		int64_t begin_ns =
			meeting->begin_ns[meeting->is_ring ? (place + n + i - 1) % n : i];
		if (begin_ns == UNKNOWN) {
			return UNKNOWN;
		}
		latest_ns = fsl_sim_later(latest_ns, begin_ns);
	}
	return latest_ns;
}

/* End of call @idx of the rank; UNKNOWN: not yet known. */
static int64_t end_of(const struct job *job, const struct script *script, int32_t rank, int32_t idx)
{
	const struct fsl_sim_call *call = &script->programs[rank].calls[idx];
	if (call->name == NULL) {
		return job->actors[rank].times[idx].end_ns;
	}
	const struct meeting *meeting = &script->meetings[call->meet];
	int64_t begin_ns = latest_begin(meeting, call->place);
	return begin_ns == UNKNOWN ? UNKNOWN : fsl_sim_after(begin_ns, meeting->dur_ns);
}

/* Time at which the device may begin the call; UNKNOWN: an operator before it is not over. */
static int64_t free_at(const struct job *job, const struct script *script, int32_t rank,
		       const struct fsl_sim_call *call)
{
	const struct actor *actor = &job->actors[rank];
	bool is_ordered = call->stream != FSL_SIM_FREE;
	const int32_t befores[] = {call->after[0], call->after[1],
				   is_ordered ? actor->last[call->stream] : FSL_SIM_NO_CALL};
	int64_t free_ns = actor->device_ns;
	for (size_t i = 0; i < sizeof(befores) / sizeof(befores[0]); i++) {
		if (befores[i] == FSL_SIM_NO_CALL) {
			continue;
		}
		int64_t end_ns = end_of(job, script, rank, befores[i]);
		if (end_ns == UNKNOWN) {
			return UNKNOWN;
		}
		free_ns = fsl_sim_later(free_ns, end_ns);
	}
	return free_ns;
}

/* How long own work takes on the device, by the rank's noise, length and route. */
static int64_t draw_work(struct job *job, int32_t rank, const struct fsl_sim_call *call)
{
	static const double TAIL_MEAN = 0.2;
	const struct fsl_sim_params *params = job->params;
	const struct actor *actor = &job->actors[rank];
	struct fsl_sim_lane *lane = actor->lane;
	int32_t replica = rank / params->tp % params->dp;
	double factor = fsl_sim_warm_up(params, job->net.step);
	double tail = gsl_rng_uniform(actor->host), normal = 0.0;
	if (call->uneven != FSL_SIM_EVEN) {
		factor *= job->lengths[replica * params->micro_batches + call->micro_batch];
	}
	if (call->uneven == FSL_SIM_BY_ROUTE) {
		normal = gsl_ran_gaussian_ziggurat(lane->chance, params->routing_share);
		factor *= exp(normal - 0.5 * params->routing_share * params->routing_share);
	}
	if (tail < params->tail_share) {
		factor *= 1.0 - TAIL_MEAN * log((tail + 1e-12) / params->tail_share);
	}
	return fsl_sim_lane_draw(lane, params, call->ms, factor);
}

/* Launches own work: its kernels follow the host, so it ends after its last launch at the
 * earliest. */
static void run_work(struct job *job, int32_t rank, const struct fsl_sim_call *call,
		     int64_t free_ns)
{
	struct actor *actor = &job->actors[rank];
	struct fsl_sim_lane *lane = actor->lane;
	struct times *times = &actor->times[actor->next];
	size_t slot = actor->n_works % (size_t)job->params->queue;
	int64_t work_ns = draw_work(job, rank, call);
	if (actor->next == actor->pause_at) {
		lane->now_ns = fsl_sim_after(lane->now_ns,
					     ns_of_ms(lane->pause_ms[0] + lane->pause_ms[1]));
	}
	if (actor->next == actor->stall_at) {
		work_ns += ns_of_ms(lane->stall_ms);
	}
	/* The oldest piece in the queue must be over. */
	times->host_begin_ns = fsl_sim_later(lane->now_ns, actor->queue_ns[slot]);
	double launch_ms = call->ms * job->params->launch_share * actor->host_speed *
			   lane->host_factor * (actor->writing_steps > 0 ? WRITING_FACTOR : 1.0);
	double noise = 1.0 + job->params->noise_share * gsl_ran_gaussian(actor->host, 2.0);
	lane->now_ns = fsl_sim_after(times->host_begin_ns, ns_of_ms(launch_ms * fmax(0.5, noise)));
	times->host_end_ns = lane->now_ns;
	int64_t start_ns = fsl_sim_after(times->host_begin_ns, START_US * FSL_NS_PER_US);
	times->begin_ns = fsl_sim_later(free_ns, start_ns);
	times->end_ns = fsl_sim_later(fsl_sim_after(times->begin_ns, work_ns),
				      fsl_sim_after(lane->now_ns, START_US * FSL_NS_PER_US));
	actor->queue_ns[slot] = times->end_ns;
	actor->n_works++;
}

static void run_operator(struct job *job, struct script *script, int32_t rank,
			 const struct fsl_sim_call *call, int64_t free_ns)
{
	struct actor *actor = &job->actors[rank];
	struct times *times = &actor->times[actor->next];
	struct meeting *meeting = &script->meetings[call->meet];
	times->host_begin_ns = actor->lane->now_ns;
	actor->lane->now_ns = fsl_sim_after(actor->lane->now_ns, OPERATOR_US * FSL_NS_PER_US);
	times->host_end_ns = actor->lane->now_ns;
	times->begin_ns = fsl_sim_later(
		free_ns, fsl_sim_after(actor->lane->now_ns, START_US * FSL_NS_PER_US));
	meeting->begin_ns[call->place] = times->begin_ns;
	meeting->n_begun++;
}

/* Runs the calls of one rank as far as they are known; false: none. */
static bool advance(struct job *job, struct script *script, int32_t rank)
{
	const struct fsl_sim_program *program = &script->programs[rank];
	struct actor *actor = &job->actors[rank];
	size_t first = actor->next;
	for (; actor->next < program->n_calls; actor->next++) {
		const struct fsl_sim_call *call = &program->calls[actor->next];
		int64_t free_ns = free_at(job, script, rank, call);
		if (free_ns == UNKNOWN) {
			break;
		}
		if (call->name == NULL) {
			run_work(job, rank, call, free_ns);
		} else {
			run_operator(job, script, rank, call, free_ns);
		}
		actor->last[call->stream] = (int32_t)actor->next;
	}
	return actor->next > first;
}

static enum fsl_status set_group(struct job *job, struct fsl_sim_draft *draft,
				 const struct fsl_sim_call *call)
{
	static const char *const names[FSL_SIM_GROUPS_N] = {
		"world", "tp", "dp", "dpcp", "ep", "shard", "replicate", "pair", "pp"};
	draft->group_no =
		(uint32_t)call->group * (uint32_t)job->n_ranks + (uint32_t)call->group_idx;
	const char **name = &job->groups[draft->group_no];
	if (*name == NULL) {
		*name = fsl_arena_printf(job->names, "%s_%d", names[call->group],
					 (int)call->group_idx);
	}
	draft->group = *name;
	return *name != NULL ? FSL_OK
			     : FSL_FAIL(job->err, FSL_ERR_MEMORY, "out of memory: group=\"%s\"",
					names[call->group]);
}

/* Hands on what the rank did, and joins its streams. */
static enum fsl_status settle(struct job *job, const struct script *script, int32_t rank)
{
	const struct fsl_sim_program *program = &script->programs[rank];
	struct actor *actor = &job->actors[rank];
	for (size_t i = 0; i < program->n_calls; i++) {
		const struct fsl_sim_call *call = &program->calls[i];
		const struct times *times = &actor->times[i];
		int64_t end_ns = end_of(job, script, rank, (int32_t)i);
		actor->device_ns = fsl_sim_later(actor->device_ns, end_ns);
		if (call->name == NULL || times->begin_ns == FSL_SIM_NEVER) {
			continue;
		}
		struct fsl_sim_draft draft = {.name = call->name,
					      .n_elements = call->n_elements,
					      .begin_ns = times->begin_ns,
					      .end_ns = end_ns,
					      .host_begin_ns = times->host_begin_ns,
					      .host_end_ns = times->host_end_ns};
		if (job->sink == NULL) {
			actor->lane->n_ops++;
			continue;
		}
		FSL_TRY(set_group(job, &draft, call));
		FSL_TRY(fsl_sim_lane_put_op(actor->lane, &draft, job->err));
	}
	return FSL_OK;
}

static enum fsl_status run_script(struct job *job, struct script *script)
{
	for (size_t m = 0; m < script->n_meetings; m++) {
		struct meeting *meeting = &script->meetings[m];
		meeting->n_begun = 0;
		meeting->dur_ns =
			fsl_sim_transfer_ns(&job->net, job->lanes[meeting->members[0]].net,
					    meeting->members, meeting->n_members, meeting->ms);
		for (int32_t i = 0; i < meeting->n_members; i++) {
			meeting->begin_ns[i] = UNKNOWN;
		}
	}
	for (int32_t r = 0; r < job->n_ranks; r++) {
		job->actors[r].next = 0;
		for (size_t s = 0; s < FSL_SIM_STREAMS_N; s++) {
			job->actors[r].last[s] = FSL_SIM_NO_CALL;
		}
	}
	bool is_moving = true;
	while (is_moving) {
		is_moving = false;
		for (int32_t r = 0; r < job->n_ranks; r++) {
			is_moving = advance(job, script, r) || is_moving;
		}
	}
	for (int32_t r = 0; r < job->n_ranks; r++) {
		if (job->actors[r].next < script->programs[r].n_calls) {
			return FSL_FAIL(job->err, FSL_ERR_INTERNAL,
					"a program waits for itself: rank=%d, call=%zu", (int)r,
					job->actors[r].next);
		}
		FSL_TRY(settle(job, script, r));
	}
	return FSL_OK;
}

static enum fsl_status stage(struct job *job, int32_t rank, enum fsl_stage_kind kind,
			     int64_t begin_ns)
{
	return job->sink == NULL ? FSL_OK
				 : fsl_sim_lane_put_stage(&job->lanes[rank], job->net.step, kind,
							  begin_ns, job->err);
}

/* The host loads data; then its pauses of this step are known. */
static enum fsl_status begin_step(struct job *job, int32_t rank)
{
	struct actor *actor = &job->actors[rank];
	struct fsl_sim_lane *lane = actor->lane;
	size_t n_calls = job->training.programs[rank].n_calls;
	const struct fsl_sim_call *calls = job->training.programs[rank].calls;
	fsl_sim_lane_prepare(lane, job->params, rank, job->net.step,
			     job->net.active & job->net.struck[rank]);
	int64_t begin_ns = lane->now_ns;
	fsl_sim_lane_load(lane, job->params);
	FSL_TRY(stage(job, rank, FSL_STAGE_DATALOADER, begin_ns));
	actor->pause_at = (size_t)(lane->pause_where * (double)n_calls);
	while (actor->pause_at > 0 && calls[actor->pause_at].name != NULL) {
		actor->pause_at--;
	}
	while (calls[actor->pause_at].name != NULL) {
		actor->pause_at++;
	}
	actor->stall_at = actor->pause_at;
	actor->writing_steps -= actor->writing_steps > 0;
	return FSL_OK;
}

/* Checkpoint, and the wait of the host for its device. */
static enum fsl_status end_step(struct job *job, int32_t rank)
{
	const struct fsl_sim_params *params = job->params;
	struct actor *actor = &job->actors[rank];
	struct fsl_sim_lane *lane = actor->lane;
	int32_t n_done = job->net.step + 1;
	bool saves = params->ckpt_period > 0 && n_done % params->ckpt_period == 0;
	if (saves || (params->item_period > 0 && n_done % params->item_period == 0)) {
		lane->now_ns = fsl_sim_later(lane->now_ns, actor->device_ns);
	}
	if (!saves || lane->now_ns == FSL_SIM_NEVER) {
		return FSL_OK;
	}
	int64_t begin_ns = lane->now_ns;
	if (params->async_ckpt) {
		lane->now_ns += ns_of_ms(params->ckpt_ms * COPIED_SHARE);
		actor->writing_steps = 1 + (int32_t)(params->ckpt_ms / params->step_ms);
	} else {
		fsl_sim_lane_save(lane, params);
		actor->device_ns = lane->now_ns;
	}
	return stage(job, rank, FSL_STAGE_CKPT, begin_ns);
}

static enum fsl_status run_step(struct job *job)
{
	const struct fsl_sim_params *params = job->params;
	double sigma = fsl_sim_length_sigma(&job->net);
	bool evaluates = params->evaluation_period > 0 &&
			 (job->net.step + 1) % params->evaluation_period == 0;
	for (int32_t i = 0; i < params->dp * params->micro_batches; i++) {
		job->lengths[i] = fsl_sim_length(job->streams[i / params->micro_batches], sigma);
	}
	for (int32_t r = 0; r < job->n_ranks; r++) {
		FSL_TRY(begin_step(job, r));
	}
	FSL_TRY(run_script(job, &job->training));
	for (int32_t r = 0; r < job->n_ranks; r++) {
		job->actors[r].pause_at = job->actors[r].stall_at = SIZE_MAX;
	}
	for (int i = 0; evaluates && i < EVALUATION_PASSES; i++) {
		FSL_TRY(run_script(job, &job->evaluation));
	}
	for (int32_t r = 0; r < job->n_ranks; r++) {
		FSL_TRY(end_step(job, r));
		if (job->sink != NULL) {
			FSL_TRY(fsl_sim_lane_flush(&job->lanes[r], params, job->sink, r,
						   &job->last_ns, job->err));
		}
	}
	return FSL_OK;
}

static enum fsl_status actor_init(struct job *job, int32_t rank, struct fsl_arena *arena)
{
	struct actor *actor = &job->actors[rank];
	size_t n_training = job->training.programs[rank].n_calls;
	size_t n_evaluation = job->evaluation.programs[rank].n_calls;
	actor->host = fsl_sim_stream(job->params, rank, STREAM_HOST);
	if (actor->host == NULL) {
		return FSL_FAIL(job->err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank);
	}
	actor->lane = &job->lanes[rank];
	actor->device_ns = actor->lane->now_ns;
	actor->host_speed =
		fmax(0.5, 1.0 + gsl_ran_gaussian_ziggurat(actor->host, job->params->host_spread));
	for (size_t i = 0; i < QUEUE_MAX; i++) {
		actor->queue_ns[i] = INT64_MIN;
	}
	return FSL_ARENA_NEW(actor->times, arena,
			     n_training > n_evaluation ? n_training : n_evaluation, "calls",
			     job->err);
}

static enum fsl_status job_init(struct job *job, struct fsl_arena *arena)
{
	const struct fsl_sim_params *params = job->params;
	struct fsl_sim_plan *plans = NULL;
	size_t n = (size_t)job->n_ranks;
	FSL_TRY(fsl_sim_plans_build(&plans, params, arena, job->err));
	FSL_TRY(write_script(&job->training, job, plans, false, arena));
	FSL_TRY(write_script(&job->evaluation, job, plans, true, arena));
	FSL_TRY(FSL_ARENA_NEW(job->actors, arena, n, "ranks", job->err));
	FSL_TRY(FSL_ARENA_NEW(job->groups, arena, FSL_SIM_GROUPS_PER_RANK * n, "groups", job->err));
	FSL_TRY(FSL_ARENA_NEW(job->lengths, arena,
			      (size_t)params->dp * (size_t)params->micro_batches, "lengths",
			      job->err));
	FSL_TRY(FSL_ARENA_NEW(job->streams, arena, (size_t)params->dp, "replicas", job->err));
	for (int32_t r = 0; r < job->n_ranks; r++) {
		FSL_TRY(actor_init(job, r, arena));
	}
	for (int32_t d = 0; d < params->dp; d++) {
		job->streams[d] = fsl_sim_stream(params, d, STREAM_LENGTHS);
		if (job->streams[d] == NULL) {
			return FSL_FAIL(job->err, FSL_ERR_MEMORY, "out of memory: replica=%d",
					(int)d);
		}
	}
	return FSL_OK;
}

static void free_streams(struct job *job)
{
	for (int32_t r = 0; job->actors != NULL && r < job->n_ranks; r++) {
		gsl_rng_free(job->actors[r].host);
	}
	for (int32_t d = 0; job->streams != NULL && d < job->params->dp; d++) {
		gsl_rng_free(job->streams[d]);
	}
}

static void free_programs(struct script *script, int32_t n_ranks)
{
	for (int32_t r = 0; script->programs != NULL && r < n_ranks; r++) {
		fsl_free(script->programs[r].calls);
	}
}

enum fsl_status fsl_sim_run_streams(const struct fsl_sim_params *params, uint32_t active,
				    const struct fsl_sim_sink *sink, struct fsl_arena *arena,
				    struct fsl_sim_clock *out, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct job job = {.params = params,
			  .sink = sink,
			  .names = arena,
			  .n_ranks = fsl_sim_n_ranks(params),
			  .last_ns = FSL_NS_ABSENT,
			  .err = err};
	enum fsl_status status = fsl_sim_params_check(params, err);
	FSL_THEN(status, fsl_sim_clock_init(out, params, arena, err));
	FSL_THEN(status, fsl_sim_net_init(&job.net, params, active, &scratch, err));
	FSL_THEN(status, fsl_sim_lanes_create(&job.lanes, params, err));
	FSL_THEN(status, job_init(&job, &scratch));
	bool is_over = false;
	for (int32_t s = 0; s < params->steps && !is_over && status == FSL_OK; s++) {
		out->step_begin_ns[s] = job.actors[0].device_ns;
		job.net.step = s;
		status = run_step(&job);
		out->n_steps = s + 1;
		out->step_begin_ns[s + 1] = out->step_end_ns[s] = job.actors[0].device_ns;
		for (int32_t r = 0; r < job.n_ranks; r++) {
			is_over = is_over || job.actors[r].device_ns == FSL_SIM_NEVER;
		}
	}
	out->last_ns = job.last_ns;
	for (int32_t r = 0; r < job.n_ranks && status == FSL_OK; r++) {
		out->n_ops += job.lanes[r].n_ops;
	}
	free_streams(&job);
	free_programs(&job.training, job.n_ranks);
	free_programs(&job.evaluation, job.n_ranks);
	fsl_sim_lanes_destroy(job.lanes, job.n_ranks);
	fsl_arena_fini(&scratch);
	return status;
}
