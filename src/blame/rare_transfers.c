/* Single long steps that transfers explain. */
#include "blame/rare_transfers.h"

#include <math.h>

#include <failslow/stats.h>

#include "blame/blame.h"
#include "blame/limits.h"
#include "match/match.h"

/* The long steps that transfers explain. */
struct found {
	size_t n_steps, n_long;
	size_t first, channel_idx; /* the first of them; the channel that grew most in one */
	double least_ms, most_ms;  /* how much longer than usual they took */
	double lost_ms;            /* per step, over all steps */
};

static double excess_ms(const struct fsl_case *facts, size_t step)
{
	double ms = facts->blame->step_dur_ms[step] - facts->blame->step_ms;
	return ms > facts->config->anomaly_degree_thr * facts->blame->step_ms ? ms : 0.0;
}

static size_t count_long(const struct fsl_case *facts)
{
	size_t n = 0;
	for (size_t s = 0; s < facts->blame->n_steps; s++) {
		n += excess_ms(facts, s) > 0.0;
	}
	return n;
}

/* From when the last member had begun until the last one ended, ms; NaN: a member is absent. Pairs
 * have no common end: what is sent may lie in a buffer while the receiver waits. */
static double span_ms(const struct fsl_case *facts, const struct fsl_channel *channel,
		      size_t instance)
{
	int64_t begin_ns = INT64_MIN, end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t at = channel->op_idx[instance * channel->n_members + m];
		uint32_t r = channel->members[m];
		if (at == FSL_NO_OP) {
			return NAN;
		}
		const struct fsl_op *op = &facts->run->ranks[r].ops[at];
		int64_t begun_ns = fsl_op_begin_ns(op) - facts->match->clock_ns[r];
		int64_t ended_ns = fsl_op_end_ns(op) - facts->match->clock_ns[r];
		begin_ns = begun_ns > begin_ns ? begun_ns : begin_ns;
		end_ns = ended_ns > end_ns ? ended_ns : end_ns;
	}
	return (double)(end_ns - begin_ns) / FSL_NS_PER_MS;
}

/* Raises the entries of @grown_ms, per step, to what the channel's transfers take longer than they
 * usually do, and sets @channel_of where it does. */
static enum fsl_status look_at_channel(double *grown_ms, size_t *channel_of,
				       const struct fsl_case *facts, size_t channel_idx,
				       struct fsl_error *err)
{
	const struct fsl_channel *channel = &facts->match->channels[channel_idx];
	struct fsl_arena scratch = {0};
	double *spans = NULL, *work = NULL;
	enum fsl_status status = FSL_ARENA_NEW(spans, &scratch, channel->n_instances, "spans", err);
	if (status == FSL_OK) {
		status = FSL_ARENA_NEW(work, &scratch, channel->n_instances, "spans", err);
	}
	for (size_t i = 0; i < channel->n_instances && status == FSL_OK; i++) {
		spans[i] = span_ms(facts, channel, i);
	}
	double usual_ms =
		status == FSL_OK ? fsl_median(spans, channel->n_instances, work) : (double)NAN;
	for (size_t i = 0; i < channel->n_instances && status == FSL_OK; i++) {
		size_t step = channel->step_idx[i];
		if (step < facts->blame->n_steps && spans[i] - usual_ms > grown_ms[step]) {
			grown_ms[step] = spans[i] - usual_ms;
			channel_of[step] = channel_idx;
		}
	}
	fsl_arena_fini(&scratch);
	return status;
}

static enum fsl_status look_at_steps(struct found *found, const struct fsl_case *facts,
				     struct fsl_arena *scratch, struct fsl_error *err)
{
	size_t n_steps = facts->blame->n_steps, *channel_of = NULL;
	double most_grown_ms = 0.0, *grown_ms = NULL;
	FSL_TRY(FSL_ARENA_NEW(grown_ms, scratch, n_steps, "steps", err));
	FSL_TRY(FSL_ARENA_NEW(channel_of, scratch, n_steps, "steps", err));
	for (size_t c = 0; c < facts->match->n_channels; c++) {
		if (!facts->match->channels[c].disagrees) {
			FSL_TRY(look_at_channel(grown_ms, channel_of, facts, c, err));
		}
	}
	for (size_t s = 0; s < n_steps; s++) {
		double more_ms = excess_ms(facts, s);
		if (!(more_ms > 0.0) || grown_ms[s] < FSL_EXPLAINED_SHARE_MIN * more_ms) {
			continue;
		}
		bool is_first = found->n_steps++ == 0;
		found->first = is_first ? s : found->first;
		found->least_ms = is_first ? more_ms : fmin(found->least_ms, more_ms);
		found->most_ms = fmax(found->most_ms, more_ms);
		found->lost_ms += more_ms / (double)n_steps;
		found->channel_idx =
			grown_ms[s] > most_grown_ms ? channel_of[s] : found->channel_idx;
		most_grown_ms = fmax(most_grown_ms, grown_ms[s]);
	}
	return FSL_OK;
}

static void tell(struct fsl_localisation *out, const struct fsl_case *facts,
		 const struct found *found)
{
	const struct fsl_channel *channel = &facts->match->channels[found->channel_idx];
	double seen = (double)out->coverage.n_ranks_seen / (double)out->coverage.n_ranks_expected;
	out->kind = FSL_VERDICT_JOB_SLOWDOWN;
	out->confidence = FSL_CONFIDENCE_SLOWDOWN * seen;
	out->fault_ns = facts->steps->items[found->first].begin_ns;
	out->reason = fsl_arena_printf(
		&out->arena,
		"%zu single steps take %.1f to %.1f ms longer inside a transfer (the worst in %s), "
		"and nobody is late in it: look for lost packets on the network, and for pauses of "
		"the processes that serve it",
		found->n_steps, found->least_ms, found->most_ms,
		fsl_strpool_text(facts->run->names, channel->op_id));
}

enum fsl_status fsl_rare_transfers_tell(struct fsl_localisation *out, const struct fsl_case *facts,
					struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct found found = {.n_long = count_long(facts)};
	if (found.n_long < FSL_TIME_OUTS_MIN || out->coverage.n_missing_ranks > 0) {
		return FSL_OK; /* others may have waited for a rank that was not seen */
	}
	enum fsl_status status = look_at_steps(&found, facts, &scratch, err);
	fsl_arena_fini(&scratch);
	if (found.n_steps >= FSL_TIME_OUTS_MIN &&
	    FSL_TIME_OUTS_SHARE * found.n_steps >= found.n_long &&
	    found.lost_ms >= fsl_least_loss_ms(facts->config, facts->blame->step_ms)) {
		tell(out, facts, &found);
	}
	return status;
}
