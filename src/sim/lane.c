/* One rank: its random streams, its own work, and its output. */
#include "sim/lane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "base/number.h"

enum purpose { PURPOSE_WORK, PURPOSE_CHANCE, PURPOSE_NET, PURPOSE_SHADOW, PURPOSE_HOST };

enum {
	QUEUE_MS = 600, /* ms by which the host runs ahead of the device */
	QUEUE_JITTER_MS = 15,
	HOST_OP_US = 20,    /* time to launch one operator */
	HOST_BOUND_US = 30, /* delay of the device begin after the host end if nothing is queued */
	START_SKEW_MS = 15,
	JITTER_US = 20, /* greatest difference between recorded ends of a collective */
};
/* Devices of one kind rarely differ by more (Sinha et al., SC22: 8 % on average between extremes).
 */
static const double HETERO_MAX = 0.08;
static const double SPIKE_OF_STEP = 0.1;
static const double NOISE_SIGMAS_MAX = 6.0;

/* Finaliser of splitmix64: neighbouring ranks get unrelated seeds. */
static uint64_t mix(uint64_t z)
{
	z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

gsl_rng *fsl_sim_stream(const struct fsl_sim_params *params, int32_t rank, uint64_t purpose)
{
	gsl_rng *stream = gsl_rng_alloc(gsl_rng_taus2);
	if (stream != NULL) {
		uint64_t seed = mix(mix(params->seed) ^ mix((uint64_t)rank << 8 | purpose));
		gsl_rng_set(stream, (unsigned long)(seed & UINT32_MAX));
	}
	return stream;
}

static double bounded_normal(gsl_rng *stream)
{
	double x = gsl_ran_gaussian_ziggurat(stream, 1.0);
	return fmax(-NOISE_SIGMAS_MAX, fmin(NOISE_SIGMAS_MAX, x));
}

static int64_t ns_of_ms(double ms)
{
	return (int64_t)(ms * FSL_NS_PER_MS);
}

/* Sets the clock of the rank's host, which all ranks of the host share. */
static bool set_clock(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, int32_t rank)
{
	gsl_rng *host = fsl_sim_stream(params, rank / params->ranks_per_host, PURPOSE_HOST);
	if (host == NULL) {
		return false;
	}
	lane->clock_ns = ns_of_ms((2.0 * gsl_rng_uniform(host) - 1.0) * params->clock_offset_ms);
	lane->drift = (2.0 * gsl_rng_uniform(host) - 1.0) * params->clock_drift_ppm * 1e-6;
	gsl_rng_free(host);
	return true;
}

static bool lane_init(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, int32_t rank)
{
	lane->work = fsl_sim_stream(params, rank, PURPOSE_WORK);
	lane->chance = fsl_sim_stream(params, rank, PURPOSE_CHANCE);
	lane->net = fsl_sim_stream(params, rank, PURPOSE_NET);
	lane->shadow = fsl_sim_stream(params, rank, PURPOSE_SHADOW);
	if (lane->work == NULL || lane->chance == NULL || lane->net == NULL ||
	    lane->shadow == NULL || !set_clock(lane, params, rank)) {
		return false;
	}
	double deviation = params->hetero_share * bounded_normal(lane->work);
	lane->speed = 1.0 + fmax(-HETERO_MAX, fmin(HETERO_MAX, deviation));
	lane->ar = bounded_normal(lane->work);
	lane->now_ns = -ns_of_ms(START_SKEW_MS * gsl_rng_uniform(lane->work));
	lane->host_free_ns = -ns_of_ms(2.0 * QUEUE_MS);
	return true;
}

void fsl_sim_lanes_destroy(struct fsl_sim_lane *lanes, int32_t n_lanes)
{
	for (int32_t r = 0; lanes != NULL && r < n_lanes; r++) {
		gsl_rng *streams[] = {lanes[r].work, lanes[r].chance, lanes[r].net,
				      lanes[r].shadow};
		for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
			if (streams[i] != NULL) {
				gsl_rng_free(streams[i]);
			}
		}
		fsl_free(lanes[r].drafts);
		fsl_free(lanes[r].stages);
	}
	fsl_free(lanes);
}

enum fsl_status fsl_sim_lanes_create(struct fsl_sim_lane **lanes,
				     const struct fsl_sim_params *params, struct fsl_error *err)
{
	int32_t n_lanes = fsl_sim_n_ranks(params);
	struct fsl_sim_lane *out = fsl_calloc((size_t)n_lanes, sizeof(*out));
	bool is_complete = out != NULL;
	for (int32_t r = 0; r < n_lanes && is_complete; r++) {
		is_complete = lane_init(&out[r], params, r);
	}
	if (!is_complete) {
		fsl_sim_lanes_destroy(out, n_lanes);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%d", (int)n_lanes);
	}
	*lanes = out;
	return FSL_OK;
}

/* The faults that pause a rank in a step. */
struct pauses {
	struct {
		double share, ms;
		double *sum_ms; /* of the host or of the device */
	} items[FSL_SIM_FAULTS_MAX];
	size_t n_items;
};

/*
 * Draws the pauses of this step. The number of draws is always the same, so that a fault shifts no
 * other random number. If several faults pause the rank, each uses the same number, turned by
 * another part of the circle.
 */
static void draw_chances(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
			 const struct pauses *pauses)
{
	static const double GOLDEN = 0.6180339887498949;
	double spike = gsl_rng_uniform(lane->chance), by_fault = gsl_rng_uniform(lane->chance);
	double where = gsl_rng_uniform(lane->chance), size = gsl_rng_uniform(lane->chance);
	uint32_t n_passes = 2 * (uint32_t)params->micro_batches * (uint32_t)params->chunks;
	if (spike < params->spike_share) {
		lane->pause_ms[0] += SPIKE_OF_STEP * params->step_ms * (0.5 + size);
	}
	for (size_t i = 0; i < pauses->n_items; i++) {
		double chance = by_fault + (double)i * GOLDEN;
		if (chance - floor(chance) < pauses->items[i].share) {
			*pauses->items[i].sum_ms += pauses->items[i].ms * (0.5 + size);
		}
	}
	lane->pause_where = where;
	lane->pause_at = (uint32_t)(where * n_passes);
}

/* True if the step is a spike of the rank: once, or in each period of another rank. */
static bool does_spike(const struct fsl_sim_fault *fault, int32_t rank, int32_t step)
{
	int32_t turn =
		fault->period_steps > 0 ? (step - fault->onset_step) / fault->period_steps : 0;
	bool is_due = fault->period_steps > 0 || step == fault->onset_step;
	return is_due &&
	       (fault->n_ranks == 0 || fault->ranks[(size_t)turn % fault->n_ranks] == rank);
}

/* Spikes that recur differ in length, by 0.5 to 1.5 times, on all ranks alike. */
static double spike_length(const struct fsl_sim_params *params, const struct fsl_sim_fault *fault,
			   int32_t step)
{
	double share = (double)(mix(params->seed ^ mix((uint64_t)step)) >> 11) / 9007199254740992.0;
	return fault->period_steps > 0 ? 0.5 + share : 1.0;
}

void fsl_sim_lane_prepare(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
			  int32_t rank, int32_t step, uint32_t struck)
{
	struct pauses pauses = {.n_items = 0};
	lane->factor = 1.0;
	lane->host_factor = 1.0;
	lane->is_host_bound = false;
	lane->loader_extra_ms = lane->ckpt_extra_ms = lane->stand_ms = 0.0;
	lane->pause_ms[0] = lane->pause_ms[1] = lane->stall_ms = 0.0;
	lane->n_passes = 0;
	for (size_t i = 0; i < params->n_faults; i++) {
		const struct fsl_sim_fault *fault = &params->faults[i];
		double size = fsl_sim_fault_size(fault, step);
		if (size == 0.0 || (struck >> i & 1) == 0) {
			continue;
		}
		bool is_first = fault->n_ranks > 0 && fault->ranks[0] == rank;
		if (fault->kind == FSL_SIM_HOST && params->family != FSL_SIM_SYNCHRONOUS) {
			lane->host_factor *= 1.0 + (fault->factor - 1.0) * size;
		} else if (fault->kind == FSL_SIM_COMPUTE || fault->kind == FSL_SIM_HOST ||
			   fault->kind == FSL_SIM_JOB_SLOW || fault->kind == FSL_SIM_STAGE) {
			lane->factor *= 1.0 + (fault->factor - 1.0) * size;
			lane->is_host_bound |= fault->kind == FSL_SIM_HOST;
		} else if (fault->kind == FSL_SIM_DATALOADER) {
			lane->loader_extra_ms += fault->extra_ms * size;
		} else if (fault->kind == FSL_SIM_STORAGE) {
			lane->ckpt_extra_ms += fault->extra_ms * size;
		} else if (fault->kind == FSL_SIM_GC || fault->kind == FSL_SIM_PAUSES ||
			   fault->kind == FSL_SIM_ECC) {
			pauses.items[pauses.n_items].share = fault->factor;
			pauses.items[pauses.n_items].sum_ms =
				fault->kind == FSL_SIM_ECC ? &lane->stall_ms : &lane->pause_ms[0];
			pauses.items[pauses.n_items++].ms = fault->extra_ms * size;
		} else if (fault->kind == FSL_SIM_SPIKE && does_spike(fault, rank, step)) {
			double *ms = fault->n_ranks > 0 ? &lane->pause_ms[0] : &lane->stand_ms;
			*ms += fault->extra_ms * size * spike_length(params, fault, step);
		} else if (fault->kind == FSL_SIM_HANG && is_first) {
			lane->now_ns = FSL_SIM_NEVER;
		}
	}
	draw_chances(lane, params, &pauses);
	if (params->gc_period > 0 && step % params->gc_period == rank % params->gc_period) {
		lane->pause_ms[1] = params->gc_ms;
	}
}

int64_t fsl_sim_lane_draw(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, double ms,
			  double factor)
{
	double rho = params->noise_memory;
	lane->ar = rho * lane->ar + sqrt(1.0 - rho * rho) * bounded_normal(lane->work);
	double share = fmax(0.1, 1.0 + params->noise_share * lane->ar);
	return ns_of_ms(ms * lane->speed * share * factor * lane->factor);
}

void fsl_sim_lane_work(struct fsl_sim_lane *lane, const struct fsl_sim_params *params, double ms,
		       double factor)
{
	lane->now_ns = fsl_sim_after(lane->now_ns, fsl_sim_lane_draw(lane, params, ms, factor));
}

void fsl_sim_lane_load(struct fsl_sim_lane *lane, const struct fsl_sim_params *params)
{
	if (lane->now_ns == FSL_SIM_NEVER) {
		return;
	}
	double ms = params->loader_ms * (1.0 + 0.1 * gsl_rng_uniform(lane->chance));
	lane->now_ns += ns_of_ms(ms + lane->loader_extra_ms);
}

void fsl_sim_lane_save(struct fsl_sim_lane *lane, const struct fsl_sim_params *params)
{
	double ms = params->ckpt_ms * (1.0 + 0.02 * gsl_rng_uniform(lane->chance));
	lane->now_ns += ns_of_ms(ms + lane->ckpt_extra_ms);
}

double fsl_sim_warm_up(const struct fsl_sim_params *params, int32_t step)
{
	enum { WARM_UP_STEPS = 5 };
	return step < WARM_UP_STEPS
		       ? 1.0 + params->warm_up_share * (1.0 - (double)step / WARM_UP_STEPS)
		       : 1.0;
}

double fsl_sim_length_sigma(const struct fsl_sim_net *net)
{
	double sigma = net->params->sequence_share;
	for (size_t f = 0; f < net->params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &net->params->faults[f];
		bool is_on = fault->kind == FSL_SIM_SEQUENCE && (net->active >> f & 1) != 0;
		double size = is_on ? fsl_sim_fault_size(fault, net->step) : 0.0;
		sigma = size > 0.0 ? fmax(sigma, fault->factor * size) : sigma;
	}
	return sigma;
}

/* Two thirds of the work grow with the length, one third with its square. */
double fsl_sim_length(gsl_rng *stream, double sigma)
{
	static const double SQUARE_SHARE = 1.0 / 3.0;
	double normal = gsl_ran_gaussian_ziggurat(stream, 1.0);
	double length = exp(sigma * normal - 0.5 * sigma * sigma);
	double square = length * length / exp(sigma * sigma);
	return (1.0 - SQUARE_SHARE) * length + SQUARE_SHARE * square;
}

enum fsl_status fsl_sim_lane_put_op(struct fsl_sim_lane *lane, const struct fsl_sim_draft *draft,
				    struct fsl_error *err)
{
	if (lane->n_drafts == lane->drafts_capacity &&
	    FSL_GROW(lane->drafts, lane->drafts_capacity, lane->n_drafts + 1, err) != FSL_OK) {
		return FSL_ERR_MEMORY;
	}
	lane->drafts[lane->n_drafts++] = *draft;
	return FSL_OK;
}

enum fsl_status fsl_sim_lane_put_stage(struct fsl_sim_lane *lane, int32_t step,
				       enum fsl_stage_kind kind, int64_t begin_ns,
				       struct fsl_error *err)
{
	if (lane->now_ns == FSL_SIM_NEVER || begin_ns == FSL_SIM_NEVER) {
		return FSL_OK;
	}
	enum fsl_status status =
		FSL_GROW(lane->stages, lane->stages_capacity, lane->n_stages + 1, err);
	if (status == FSL_OK) {
		lane->stages[lane->n_stages++] =
			(struct fsl_sim_stage){step, kind, begin_ns, lane->now_ns};
	}
	return status;
}

/* Job time as the rank's clock shows it. */
static int64_t written_ns(const struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
			  int64_t job_ns, int64_t *last_ns)
{
	if (job_ns == FSL_SIM_NEVER) {
		return FSL_SIM_NEVER;
	}
	job_ns = fsl_sim_scaled_ns(params, job_ns);
	int64_t drift_ns = (int64_t)((double)job_ns * lane->drift);
	int64_t time_ns = params->start_ns + job_ns + drift_ns + lane->clock_ns;
	*last_ns = time_ns > *last_ns ? time_ns : *last_ns;
	return time_ns;
}

/* Host times of an operator, job time: far ahead of the device, or just ahead if it is the host
 * that is slow. */
static void set_host_times(struct fsl_sim_lane *lane, int64_t begin_ns, struct fsl_sim_op *op)
{
	double jitter_ms = QUEUE_JITTER_MS * bounded_normal(lane->shadow);
	double share = 1.0 + 0.05 * bounded_normal(lane->shadow);
	int64_t call_ns = (int64_t)(HOST_OP_US * FSL_NS_PER_US * share);
	int64_t latest_end_ns = begin_ns - (int64_t)HOST_BOUND_US * FSL_NS_PER_US;
	int64_t host_ns = begin_ns - ns_of_ms(QUEUE_MS + jitter_ms);
	if (lane->is_host_bound) {
		host_ns = latest_end_ns - call_ns;
	}
	host_ns = host_ns < lane->host_free_ns ? lane->host_free_ns : host_ns;
	int64_t end_ns = host_ns + call_ns < latest_end_ns ? host_ns + call_ns : latest_end_ns;
	op->host_begin_ns = host_ns < end_ns ? host_ns : end_ns;
	op->host_end_ns = end_ns;
	lane->host_free_ns = end_ns;
}

/* Order by begin. Equal begins stay in the order of the schedule, smaller operators first. */
static bool is_before(const struct fsl_sim_draft *a, const struct fsl_sim_draft *b)
{
	return a->begin_ns < b->begin_ns ||
	       (a->begin_ns == b->begin_ns && a->n_elements < b->n_elements);
}

/* Insertion sort: only overlapped operators are out of order, by a few places. */
static void sort_drafts(struct fsl_sim_draft *drafts, size_t n_drafts)
{
	for (size_t i = 1; i < n_drafts; i++) {
		struct fsl_sim_draft draft = drafts[i];
		size_t to = i;
		for (; to > 0 && is_before(&draft, &drafts[to - 1]); to--) {
			drafts[to] = drafts[to - 1];
		}
		drafts[to] = draft;
	}
}

static enum fsl_status flush_op(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
				const struct fsl_sim_sink *sink, int32_t rank,
				const struct fsl_sim_draft *draft, int64_t *last_ns,
				struct fsl_error *err)
{
	struct fsl_sim_op op = {.id = ++lane->n_ops - lane->n_ops_before,
				.name = draft->name,
				.group = draft->group,
				.group_no = draft->group_no,
				.n_elements = draft->n_elements};
	if (draft->host_end_ns != draft->host_begin_ns) {
		op.host_begin_ns = draft->host_begin_ns;
		op.host_end_ns = draft->host_end_ns;
	} else {
		set_host_times(lane, draft->begin_ns, &op);
	}
	int64_t end_ns = draft->end_ns;
	double jitter = gsl_rng_uniform(lane->shadow);
	if (end_ns != FSL_SIM_NEVER) {
		int64_t most_ns = (end_ns - draft->begin_ns) / 10;
		int64_t jitter_ns = (int64_t)(JITTER_US * FSL_NS_PER_US * jitter);
		end_ns -= jitter_ns < most_ns ? jitter_ns : most_ns;
	}
	op.host_begin_ns = written_ns(lane, params, op.host_begin_ns, last_ns);
	op.host_end_ns = written_ns(lane, params, op.host_end_ns, last_ns);
	op.dev_begin_ns = written_ns(lane, params, draft->begin_ns, last_ns);
	op.dev_end_ns = written_ns(lane, params, end_ns, last_ns);
	return sink->op(sink->context, rank, &op, err);
}

enum fsl_status fsl_sim_lane_flush(struct fsl_sim_lane *lane, const struct fsl_sim_params *params,
				   const struct fsl_sim_sink *sink, int32_t rank, int64_t *last_ns,
				   struct fsl_error *err)
{
	sort_drafts(lane->drafts, lane->n_drafts);
	for (size_t i = 0; i < lane->n_drafts; i++) {
		FSL_TRY(flush_op(lane, params, sink, rank, &lane->drafts[i], last_ns, err));
	}
	for (size_t i = 0; i < lane->n_stages; i++) {
		struct fsl_sim_stage stage = lane->stages[i];
		stage.begin_ns = written_ns(lane, params, stage.begin_ns, last_ns);
		stage.end_ns = written_ns(lane, params, stage.end_ns, last_ns);
		FSL_TRY(sink->stage(sink->context, rank, &stage, err));
	}
	lane->n_drafts = lane->n_stages = 0;
	return FSL_OK;
}
