/* Communication of the model: collectives, hand-overs between stages, gradients. */
#include <math.h>
#include <stdio.h>

#include <gsl/gsl_randist.h>

#include "base/number.h"
#include "sim/job.h"

static const double TRANSFER_NOISE = 0.03;

/* Facts about one operator. */
struct traffic {
	const char *name;
	uint64_t n_elements;
	double transfer_ms;
	const char *group;
	uint32_t group_no;
};

/* Kinds of communicators. Each kind has its own numbers, n_ranks of them, pairs twice as many. */
enum group_kind { GROUP_TENSOR, GROUP_DATA, GROUP_EXPERTS, GROUP_PAIRS, GROUP_KINDS_N };
_Static_assert(GROUP_KINDS_N + 1 == FSL_SIM_GROUPS_PER_RANK, "numbers of communicators");

static int32_t rank_at(const struct fsl_sim_params *params, int32_t stage, int32_t replica,
		       int32_t shard)
{
	return (stage * params->dp + replica) * params->tp + shard;
}

int32_t fsl_sim_cell_rank(const struct fsl_sim_job *job, const struct fsl_sim_cell *cell, int32_t i)
{
	const struct fsl_sim_params *params = job->params;
	int32_t replica = cell->block * params->ep + i / params->tp;
	return rank_at(params, cell->stage, replica, i % params->tp);
}

void fsl_sim_note(struct fsl_sim_job *job, enum fsl_status status)
{
	job->status = job->status == FSL_OK ? status : job->status;
}

static void draft(struct fsl_sim_job *job, int32_t rank, const struct traffic *traffic,
		  int64_t begin_ns, int64_t end_ns)
{
	struct fsl_sim_lane *lane = &job->lanes[rank];
	if (job->sink == NULL || begin_ns == FSL_SIM_NEVER) {
		lane->n_ops += begin_ns != FSL_SIM_NEVER;
		return;
	}
	struct fsl_sim_draft op = {.name = traffic->name,
				   .group = traffic->group,
				   .group_no = traffic->group_no,
				   .n_elements = traffic->n_elements,
				   .begin_ns = begin_ns,
				   .end_ns = end_ns};
	fsl_sim_note(job, fsl_sim_lane_put_op(lane, &op, job->err));
}

/* Sets communicator number @idx of its kind, named from @a, @b and, if @c >= 0, @c. */
static void set_group(struct fsl_sim_job *job, struct traffic *traffic, enum group_kind kind,
		      int32_t idx, int32_t a, int32_t b, int32_t c)
{
	static const char *const letters[GROUP_KINDS_N] = {"t", "d", "e", "p"};
	uint32_t no = (uint32_t)kind * (uint32_t)job->n_ranks + (uint32_t)idx;
	if (job->groups[no] == NULL && job->sink != NULL) {
		job->groups[no] = c >= 0 ? fsl_arena_printf(job->names, "%s%d_%d_%d", letters[kind],
							    (int)a, (int)b, (int)c)
				  : a >= 0 ? fsl_arena_printf(job->names, "%s%d_%d", letters[kind],
							      (int)a, (int)b)
					   : fsl_arena_printf(job->names, "pp_%d", (int)b);
		if (job->groups[no] == NULL) {
			fsl_sim_note(job, FSL_FAIL(job->err, FSL_ERR_MEMORY,
						   "out of memory: group=%u", (unsigned)no));
		}
	}
	traffic->group = job->groups[no];
	traffic->group_no = no;
}

/* Time that faults of the network add to a transfer between these ranks. */
static double network_extra_ms(const struct fsl_sim_job *job, const int32_t *members,
			       int32_t n_members)
{
	double extra_ms = 0.0;
	for (size_t f = 0; f < job->params->n_faults && !job->is_healthy; f++) {
		const struct fsl_sim_fault *fault = &job->params->faults[f];
		bool is_link = fault->kind == FSL_SIM_LINK,
		     is_switch = fault->kind == FSL_SIM_SWITCH;
		double size = is_link || is_switch ? fsl_sim_fault_size(fault, job->step) : 0.0;
		bool seen[2] = {false, false};
		for (int32_t i = 0; i < n_members && size > 0.0; i++) {
			if (is_link) {
				seen[0] |= members[i] == fault->ranks[0];
				seen[1] |= members[i] == fault->ranks[1];
			} else {
				seen[job->on_hosts[members[i]] >> f & 1] = true;
			}
		}
		extra_ms += seen[0] && seen[1] ? size * fault->extra_ms : 0.0;
	}
	return extra_ms;
}

static int64_t transfer_ns(struct fsl_sim_job *job, const int32_t *members, int32_t n_members,
			   double transfer_ms)
{
	gsl_rng *net = job->lanes[members[0]].net;
	double noise = fabs(gsl_ran_gaussian_ziggurat(net, TRANSFER_NOISE));
	double ms = transfer_ms * (1.0 + noise) + network_extra_ms(job, members, n_members);
	return (int64_t)(ms * FSL_NS_PER_MS);
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b; /* FSL_SIM_NEVER is the latest */
}

static int64_t after(int64_t begin_ns, int64_t dur_ns)
{
	return begin_ns == FSL_SIM_NEVER ? FSL_SIM_NEVER : begin_ns + dur_ns;
}

/*
 * Runs an operator, which ends on all members when the last has arrived and the transfer is done.
 */
static void communicate(struct fsl_sim_job *job, const int32_t *members, int32_t n_members,
			const struct traffic *traffic)
{
	int64_t arrived_ns = INT64_MIN;
	for (int32_t i = 0; i < n_members; i++) {
		arrived_ns = later(arrived_ns, job->lanes[members[i]].now_ns);
	}
	int64_t dur_ns = transfer_ns(job, members, n_members, traffic->transfer_ms);
	int64_t end_ns = after(arrived_ns, dur_ns);
	for (int32_t i = 0; i < n_members; i++) {
		draft(job, members[i], traffic, job->lanes[members[i]].now_ns, end_ns);
		job->lanes[members[i]].now_ns = end_ns;
	}
}

static struct traffic make_traffic(const char *name, uint64_t n_elements, double transfer_ms)
{
	return (struct traffic){.name = name, .n_elements = n_elements, .transfer_ms = transfer_ms};
}

/* Sets the communicator of two neighbours, or of their whole pipeline. */
static void set_p2p_group(struct fsl_sim_job *job, struct traffic *traffic, int32_t a, int32_t b)
{
	const struct fsl_sim_params *params = job->params;
	int32_t width = params->dp * params->tp, low = a < b ? a : b, high = a < b ? b : a;
	if (params->p2p_groups == FSL_SIM_PIPELINE_GROUPS) {
		set_group(job, traffic, GROUP_PAIRS, 2 * (low % width), -1, low % width, -1);
	} else {
		bool is_round = high - low != width; /* from the last stage to the first */
		set_group(job, traffic, GROUP_PAIRS, 2 * low + is_round, low, high, -1);
	}
}

static const char *p2p_name(const struct fsl_sim_job *job, bool sends)
{
	if (job->params->p2p == FSL_SIM_BATCHED) {
		return "HcclBatchSendRecv";
	}
	return sends ? "HcclSend" : "HcclReceive";
}

void fsl_sim_exchange(struct fsl_sim_job *job, const struct fsl_sim_cell *a,
		      const struct fsl_sim_cell *b, const struct fsl_sim_action *action)
{
	for (int32_t i = 0; i < job->width; i++) {
		int32_t pair[2] = {fsl_sim_cell_rank(job, a, i), fsl_sim_cell_rank(job, b, i)};
		struct traffic traffic = make_traffic("", 8388608, job->params->hand_over_ms);
		set_p2p_group(job, &traffic, pair[0], pair[1]);
		int64_t begin_ns[2] = {job->lanes[pair[0]].now_ns, job->lanes[pair[1]].now_ns};
		int64_t dur_ns = transfer_ns(job, pair, 2, traffic.transfer_ms);
		int64_t end_ns = after(later(begin_ns[0], begin_ns[1]), dur_ns);
		bool is_both = action->sends && action->receives;
		for (int k = 0; k < 2; k++) {
			bool sends = (k == 0) == action->sends || is_both;
			traffic.name = p2p_name(job, sends);
			draft(job, pair[k], &traffic, begin_ns[k], end_ns);
			if (is_both && job->params->p2p == FSL_SIM_SEND_RECEIVE) {
				traffic.name = p2p_name(job, false);
				draft(job, pair[k], &traffic, begin_ns[k], end_ns);
			}
			job->lanes[pair[k]].now_ns = end_ns;
		}
	}
}

static int64_t *mail_of(const struct fsl_sim_job *job, const struct fsl_sim_cell *receiver,
			const struct fsl_sim_action *action)
{
	const struct fsl_sim_params *params = job->params;
	int32_t slot = ((action->is_backward ? params->chunks : 0) + action->chunk) *
			       params->micro_batches +
		       action->micro_batch;
	return receiver->mail_ns + (int64_t)slot * job->width;
}

struct fsl_sim_cell *fsl_sim_peer_of(const struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
				     const struct fsl_sim_action *action)
{
	return &job->cells[cell->block * job->params->pp + action->peer];
}

void fsl_sim_send_mail(struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
		       const struct fsl_sim_action *action)
{
	int64_t *mail_ns = mail_of(job, fsl_sim_peer_of(job, cell, action), action);
	for (int32_t i = 0; i < job->width; i++) {
		mail_ns[i] = job->lanes[fsl_sim_cell_rank(job, cell, i)].now_ns;
	}
}

bool fsl_sim_receive_mail(struct fsl_sim_job *job, const struct fsl_sim_cell *cell,
			  const struct fsl_sim_action *action)
{
	int64_t *mail_ns = mail_of(job, cell, action);
	if (mail_ns[0] < 0) {
		return false;
	}
	const struct fsl_sim_cell *sender = fsl_sim_peer_of(job, cell, action);
	for (int32_t i = 0; i < job->width; i++) {
		int32_t pair[2] = {fsl_sim_cell_rank(job, sender, i),
				   fsl_sim_cell_rank(job, cell, i)};
		struct traffic traffic = make_traffic("", 8388608, job->params->hand_over_ms);
		set_p2p_group(job, &traffic, pair[0], pair[1]);
		int64_t dur_ns = transfer_ns(job, pair, 2, traffic.transfer_ms);
		int64_t begin_ns = job->lanes[pair[1]].now_ns;
		int64_t end_ns = after(later(mail_ns[i], begin_ns), dur_ns);
		/* Asynchronous messages are single operators: in a batch both sides post. */
		traffic.name = "HcclSend";
		draft(job, pair[0], &traffic, mail_ns[i], end_ns);
		traffic.name = "HcclReceive";
		draft(job, pair[1], &traffic, begin_ns, end_ns);
		job->lanes[pair[1]].now_ns = end_ns;
		mail_ns[i] = -1;
	}
	return true;
}

void fsl_sim_meet_shards(struct fsl_sim_job *job, const struct fsl_sim_cell *cell, const char *name,
			 uint64_t n_elements)
{
	const struct fsl_sim_params *params = job->params;
	struct traffic traffic = make_traffic(name, n_elements, params->transfer_ms);
	for (int32_t e = 0; e < params->ep && params->tp > 1; e++) {
		int32_t replica = cell->block * params->ep + e;
		for (int32_t t = 0; t < params->tp; t++) {
			job->members[t] = rank_at(params, cell->stage, replica, t);
		}
		set_group(job, &traffic, GROUP_TENSOR, cell->stage * params->dp + replica,
			  cell->stage, replica, -1);
		communicate(job, job->members, params->tp, &traffic);
	}
}

void fsl_sim_meet_experts(struct fsl_sim_job *job, const struct fsl_sim_cell *cell)
{
	const struct fsl_sim_params *params = job->params;
	struct traffic traffic = make_traffic("HcclAlltoAllV", 16777216, 2.0 * params->transfer_ms);
	for (int32_t t = 0; t < params->tp && params->ep > 1; t++) {
		for (int32_t e = 0; e < params->ep; e++) {
			job->members[e] =
				rank_at(params, cell->stage, cell->block * params->ep + e, t);
		}
		set_group(job, &traffic, GROUP_EXPERTS,
			  (cell->stage * job->n_blocks + cell->block) * params->tp + t, cell->stage,
			  cell->block, t);
		communicate(job, job->members, params->ep, &traffic);
	}
}

/* Allreduce of one bucket over the replicas; under overlap it runs beside the backward passes. */
static void reduce(struct fsl_sim_job *job, int32_t stage_idx, int32_t shard, int32_t bucket)
{
	const struct fsl_sim_params *params = job->params;
	struct traffic traffic = make_traffic("HcclAllreduce", 1048576 + (uint64_t)bucket,
					      params->reduce_ms / params->buckets);
	set_group(job, &traffic, GROUP_DATA, stage_idx * params->tp + shard, stage_idx, shard, -1);
	for (int32_t d = 0; d < params->dp; d++) {
		job->members[d] = rank_at(params, stage_idx, d, shard);
	}
	if (!params->overlap) {
		communicate(job, job->members, params->dp, &traffic);
		return;
	}
	/*
	 * A stream runs its operators one after the other, so a bucket waits for the one before it.
	 */
	int64_t begin_ns = INT64_MIN;
	for (int32_t d = 0; d < params->dp; d++) {
		int64_t *ready_ns = &job->ready_ns[(int64_t)job->members[d] * params->buckets];
		if (bucket > 0) {
			ready_ns[bucket] = later(ready_ns[bucket], ready_ns[bucket - 1]);
		}
		begin_ns = later(begin_ns, ready_ns[bucket]);
	}
	int64_t dur_ns = transfer_ns(job, job->members, params->dp, traffic.transfer_ms);
	int64_t end_ns = after(begin_ns, dur_ns);
	for (int32_t d = 0; d < params->dp; d++) {
		struct fsl_sim_lane *lane = &job->lanes[job->members[d]];
		int64_t *ready_ns = &job->ready_ns[(int64_t)job->members[d] * params->buckets];
		draft(job, job->members[d], &traffic, ready_ns[bucket], end_ns);
		ready_ns[bucket] = end_ns;
		if (bucket == params->buckets - 1) {
			lane->now_ns = later(lane->now_ns, end_ns);
		}
	}
}

void fsl_sim_reduce_gradients(struct fsl_sim_job *job)
{
	const struct fsl_sim_params *params = job->params;
	for (int32_t s = 0; s < params->pp && params->dp > 1; s++) {
		for (int32_t t = 0; t < params->tp; t++) {
			for (int32_t b = 0; b < params->buckets; b++) {
				reduce(job, s, t, b);
			}
		}
	}
}

void fsl_sim_meet_all(struct fsl_sim_job *job)
{
	struct traffic traffic = make_traffic("HcclAllreduce", 1024, 0.5);
	traffic.group = "world";
	traffic.group_no = (GROUP_KINDS_N + 1) * (uint32_t)job->n_ranks;
	for (int32_t r = 0; r < job->n_ranks; r++) {
		job->members[r] = r;
	}
	job->step = -1; /* no fault before the first step */
	communicate(job, job->members, job->n_ranks, &traffic);
}
