/* Which ranks each fault strikes, and how long a transfer between ranks takes. */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "base/number.h"
#include "sim/lane.h"

enum { CONGESTION_STEPS = 4 }; /* steps after which congestion moves to another rank */
static const double TRANSFER_NOISE = 0.03;

static bool is_everywhere(const struct fsl_sim_fault *fault)
{
	return fault->kind == FSL_SIM_JOB_SLOW || fault->kind == FSL_SIM_PAUSES ||
	       (fault->kind == FSL_SIM_SPIKE && fault->n_ranks == 0);
}

static bool is_struck(const struct fsl_sim_params *params, const struct fsl_sim_fault *fault,
		      int32_t rank)
{
	int32_t stage = rank / (params->dp * params->tp);
	return fault->kind == FSL_SIM_STAGE
		       ? fault->ranks[0] == stage
		       : is_everywhere(fault) || fsl_sim_fault_strikes(fault, rank);
}

enum fsl_status fsl_sim_net_init(struct fsl_sim_net *net, const struct fsl_sim_params *params,
				 uint32_t active, struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n = (size_t)fsl_sim_n_ranks(params);
	*net = (struct fsl_sim_net){.params = params, .active = active};
	FSL_TRY(FSL_ARENA_NEW(net->struck, arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(net->on_hosts, arena, n, "ranks", err));
	for (size_t r = 0; r < n * params->n_faults; r++) {
		size_t rank = r % n, f = r / n;
		net->struck[rank] |= (uint32_t)is_struck(params, &params->faults[f], (int32_t)rank)
				     << f;
	}
	size_t per_host = (size_t)params->ranks_per_host;
	for (size_t r = 0; r < n; r++) {
		size_t first = r / per_host * per_host;
		for (size_t k = first; k < first + per_host && k < n; k++) {
			net->on_hosts[k] |= net->struck[r];
		}
	}
	return FSL_OK;
}

/* True if the transfer passes what fault @f slows. */
static bool is_in_the_way(const struct fsl_sim_net *net, size_t f, const int32_t *members,
			  int32_t n_members)
{
	const struct fsl_sim_fault *fault = &net->params->faults[f];
	int32_t moving = net->step / CONGESTION_STEPS * 7 % fsl_sim_n_ranks(net->params);
	bool seen[2] = {false, false};
	for (int32_t i = 0; i < n_members; i++) {
		if (fault->kind == FSL_SIM_LINK) {
			seen[0] |= members[i] == fault->ranks[0];
			seen[1] |= members[i] == fault->ranks[1];
		} else if (fault->kind == FSL_SIM_CONGESTION) {
			seen[0] |= members[i] == moving;
			seen[1] = seen[0];
		} else {
			seen[net->on_hosts[members[i]] >> f & 1] = true;
		}
	}
	return seen[0] && seen[1];
}

/* Time that faults of the network add to a transfer of @ms between these ranks. */
static double extra_ms(const struct fsl_sim_net *net, const int32_t *members, int32_t n_members,
		       double ms)
{
	double sum_ms = 0.0;
	for (size_t f = 0; f < net->params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &net->params->faults[f];
		bool is_longer = fault->kind == FSL_SIM_LINK || fault->kind == FSL_SIM_SWITCH;
		bool is_thinner = fault->kind == FSL_SIM_NIC || fault->kind == FSL_SIM_CONGESTION;
		double size = is_longer || is_thinner ? fsl_sim_fault_size(fault, net->step) : 0.0;
		if (size > 0.0 && (net->active >> f & 1) != 0 &&
		    is_in_the_way(net, f, members, n_members)) {
			sum_ms += size * (is_longer ? fault->extra_ms : (fault->factor - 1.0) * ms);
		}
	}
	return sum_ms;
}

int64_t fsl_sim_transfer_ns(const struct fsl_sim_net *net, gsl_rng *stream, const int32_t *members,
			    int32_t n_members, double transfer_ms)
{
	double noise = fabs(gsl_ran_gaussian_ziggurat(stream, TRANSFER_NOISE));
	double ms = transfer_ms * (1.0 + noise) + extra_ms(net, members, n_members, transfer_ms);
	return (int64_t)(ms * FSL_NS_PER_MS);
}

int64_t fsl_sim_later(int64_t a, int64_t b)
{
	return a > b ? a : b; /* FSL_SIM_NEVER is the latest */
}

int64_t fsl_sim_after(int64_t begin_ns, int64_t dur_ns)
{
	return begin_ns == FSL_SIM_NEVER ? FSL_SIM_NEVER : begin_ns + dur_ns;
}
