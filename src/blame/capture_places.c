/* A capture as a question about places and links. */
#include "blame/capture_places.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/kernel_peers.h"
#include "blame/limits.h"
#include "capture/edges.h"
#include "capture/step_rows.h"

/* When the framework began the only step of the rank, ns on the rank's clock; FSL_NS_ABSENT: not
 * told, or there are several steps. */
static int64_t begin_of(const struct fsl_profile_rank *rank)
{
	size_t n_rows = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n_rows);
	for (size_t i = 0; i < rank->trace.n_ranges && n_rows == 1; i++) {
		if (rank->trace.ranges[i].step == rows[0].step && !rank->trace.has_iterations) {
			return rank->trace.ranges[i].begin_ns;
		}
	}
	return FSL_NS_ABSENT;
}

/* Sets @apart_ms [n_ranks]: how far from most ranks each began the only step of the capture; NaN:
 * not told, or by too few ranks; 0: there are several steps. */
static enum fsl_status compare_begins(double *apart_ms, struct fsl_arena *arena,
				      const struct fsl_profile *profile,
				      const struct fsl_profile_meetings *meetings,
				      struct fsl_error *err)
{
	double *begins_ms = NULL;
	int64_t first_ns = FSL_NS_ABSENT;
	size_t n_told = 0;
	FSL_TRY(FSL_ARENA_NEW(begins_ms, arena, 2 * profile->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		int64_t begin_ns = begin_of(&profile->ranks[r]);
		if (begin_ns != FSL_NS_ABSENT) {
			begin_ns = fsl_sum_i64(begin_ns, -meetings->match.clock_ns[r]);
			first_ns = first_ns == FSL_NS_ABSENT ? begin_ns : first_ns;
			n_told++;
			begins_ms[r] = ((double)begin_ns - (double)first_ns) / FSL_NS_PER_MS;
		} else {
			begins_ms[r] = NAN;
		}
	}
	double usual_ms = fsl_median(begins_ms, profile->n_ranks, begins_ms + profile->n_ranks);
	usual_ms = n_told >= FSL_OUTLIERS_N_MIN ? usual_ms : (double)NAN;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		bool is_one = fsl_profile_n_steps(&profile->ranks[r]) == 1;
		apart_ms[r] = is_one ? fabs(begins_ms[r] - usual_ms) : 0.0;
	}
	return FSL_OK;
}

/* NaN if no row tells. @longest_ms: the longest step of the set; @apart_ms: by compare_begins(). */
static double idle_ms(const struct fsl_profile_rank *rank, double longest_ms, double apart_ms)
{
	const struct fsl_profile_edges edges = fsl_profile_edges_of(rank);
	double lacking_ms = longest_ms - fsl_profile_step_ms(rank) - apart_ms;
	bool lacks = lacking_ms > FSL_STEP_LACKS_SHARE_MIN * longest_ms; /* false: not told */
	return fsl_profile_part_ms(rank, FSL_PART_FREE) - fsl_profile_edges_ms(&edges) +
	       (lacks ? lacking_ms : 0.0);
}

/* Communication of the ranks of a capture. */
struct waits {
	double *waited_ms; /* [n_ranks] */
	size_t *begin_of;  /* per rank: its first operator in is_met */
	bool *is_met;      /* per operator: it has partners */
	double untold_ns,
		all_ns; /* time in operators that meet nobody as their group is not told */
};

/* Adds to each member of an instance what it waited for the last of them, as far as no kernel hid
 * it: an operator cannot end sooner by more than that. */
static void add_waits(struct waits *waits, const struct fsl_channel *channel, size_t instance,
		      const struct fsl_profile *profile,
		      const struct fsl_profile_meetings *meetings)
{
	int64_t least_ns = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t dur_ns = fsl_channel_duration_ns(channel, instance, m);
		least_ns = dur_ns >= 0 && dur_ns < least_ns ? dur_ns : least_ns;
	}
	for (size_t m = 0; m < channel->n_members; m++) {
		const struct fsl_profile_comm *comm =
			fsl_meeting_comm(meetings, profile, channel, instance, m);
		if (comm != NULL) {
			size_t r = channel->members[m];
			int64_t ns = fsl_channel_duration_ns(channel, instance, m) - least_ns;
			waits->waited_ms[r] +=
				(double)(ns < comm->exposed_ns ? ns : comm->exposed_ns);
			waits->is_met[waits->begin_of[r] +
				      (size_t)(comm - profile->ranks[r].comms)] = true;
		}
	}
}

/* Nobody knows how much of an operator without partners is a wait: all of it counts as one. */
static void add_lonely(struct waits *waits, const struct fsl_profile_rank *rank, size_t r)
{
	for (size_t c = 0; c < rank->n_comms; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		bool is_lonely = !waits->is_met[waits->begin_of[r] + c];
		bool is_untold = comm->group_id == FSL_STR_NONE && !comm->is_kernel;
		waits->waited_ms[r] += is_lonely ? (double)comm->exposed_ns : 0.0;
		waits->untold_ns += is_lonely && is_untold ? (double)comm->elapse_ns : 0.0;
		waits->all_ns += (double)comm->elapse_ns;
	}
}

static enum fsl_status measure_waits(struct waits *waits, struct fsl_arena *arena,
				     const struct fsl_profile *profile,
				     const struct fsl_profile_meetings *meetings,
				     const size_t *n_steps, struct fsl_error *err)
{
	size_t n = 0;
	*waits = (struct waits){0};
	FSL_TRY(FSL_ARENA_NEW(waits->waited_ms, arena, profile->n_ranks + 1, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(waits->begin_of, arena, profile->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		waits->begin_of[r] = n;
		n += profile->ranks[r].n_comms;
	}
	FSL_TRY(FSL_ARENA_NEW(waits->is_met, arena, n + 1, "operators", err));
	for (size_t c = 0; c < meetings->match.n_channels; c++) {
		const struct fsl_channel *channel = &meetings->match.channels[c];
		for (size_t i = 0; i < channel->n_instances; i++) {
			add_waits(waits, channel, i, profile, meetings);
		}
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		add_lonely(waits, rank, r);
		waits->waited_ms[r] = rank->tells_exposed ? waits->waited_ms[r] / FSL_NS_PER_MS /
								    (double)n_steps[r]
							  : (double)NAN;
	}
	return FSL_OK;
}

static enum fsl_status find_bare(struct fsl_capture_places *out, const struct fsl_profile *profile,
				 struct fsl_error *err)
{
	int64_t **bare_ns = NULL;
	FSL_TRY(FSL_ARENA_NEW(bare_ns, &out->arena, profile->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_rank *rank = &out->job.run->ranks[r];
		if (!profile->ranks[r].tells_exposed) {
			continue;
		}
		FSL_TRY(FSL_ARENA_NEW(bare_ns[r], &out->arena, rank->n_ops + 1, "operators", err));
		for (size_t i = 0; i < rank->n_ops; i++) {
			bare_ns[r][i] = profile->ranks[r].comms[rank->ops[i].id].exposed_ns;
		}
	}
	out->job.bare_ns = (const int64_t *const *)bare_ns;
	return FSL_OK;
}

/* Share of the operators of a rank that all members of their groups have. */
static double left_share(const struct fsl_profile_meetings *meetings, size_t r)
{
	double n_left = (double)meetings->run.ranks[r].n_ops;
	return n_left > 0.0 ? n_left / (n_left + (double)meetings->n_torn_of[r]) : 1.0;
}

static enum fsl_status fill(struct fsl_capture_places *out, const struct fsl_profile *profile,
			    const struct fsl_profile_cluster *cluster,
			    const struct fsl_profile_meetings *meetings, struct fsl_error *err)
{
	size_t n = profile->n_ranks + 1, n_stages = cluster->n_stages;
	uint32_t *class_of = NULL;
	double *told = NULL, *computing = NULL, *own = NULL, *exposed = NULL;
	struct waits waits;
	size_t *n_steps = NULL;
	double *left = NULL, *apart = NULL;
	FSL_TRY(FSL_ARENA_NEW(left, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(apart, &out->arena, n, "ranks", err));
	FSL_TRY(compare_begins(apart, &out->arena, profile, meetings, err));
	FSL_TRY(FSL_ARENA_NEW(class_of, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(told, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(computing, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(own, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(exposed, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(n_steps, &out->arena, n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(out->idle_ms, &out->arena, n, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		size_t stage = fsl_profile_stage_of(cluster, rank->rank);
		out->idle_ms[r] = idle_ms(rank, out->job.step_ms, apart[r]);
		computing[r] = fsl_profile_part_ms(rank, FSL_PART_COMPUTING);
		own[r] = computing[r] + out->idle_ms[r];
		exposed[r] = fsl_profile_part_ms(rank, FSL_PART_EXPOSED);
		class_of[r] = (uint32_t)(stage != SIZE_MAX ? stage : n_stages);
		n_steps[r] = fsl_profile_n_steps(rank);
		left[r] = (double)n_steps[r] * left_share(meetings, r);
		told[r] = out->job.run->ranks[r].n_ops > 0 ? own[r] : computing[r];
	}
	out->job.class_of = class_of;
	out->job.n_classes = n_stages + 1;
	out->job.n_stages = n_stages;
	out->job.told_ms = told;
	out->job.computing_ms = computing;
	out->job.own_ms = own;
	out->job.exposed_ms = exposed;
	out->job.n_steps = left;
	FSL_TRY(measure_waits(&waits, &out->arena, profile, meetings, n_steps, err));
	out->job.waited_ms = waits.waited_ms;
	FSL_TRY(find_bare(out, profile, err));
	out->job.is_blind = waits.untold_ns > FSL_PLACES_UNTOLD_SHARE_MAX * waits.all_ns;
	return FSL_OK;
}

/* The limit of one look, at the chance that is left to each of several. */
static double least_z(const struct fsl_look *look, double z_min)
{
	double chance = fsl_look_chance_max(look, gsl_cdf_ugaussian_Q(z_min));
	return chance < 0.5 ? gsl_cdf_ugaussian_Qinv(chance) : 0.0;
}

/* A rank has fewer operators than others of its class, or lost some at the edges. */
static bool is_partial(const struct fsl_places_job *job,
		       const struct fsl_profile_meetings *meetings)
{
	for (size_t r = 0, last = SIZE_MAX; r < job->run->n_ranks; r++) {
		if (job->run->ranks[r].n_ops == 0) {
			continue; /* as if the rank was not captured */
		}
		if (last != SIZE_MAX && job->class_of[r] == job->class_of[last] &&
		    job->run->ranks[r].n_ops != job->run->ranks[last].n_ops) {
			return true;
		}
		last = r;
	}
	return meetings->n_torn + meetings->n_unusable > 0;
}

static enum fsl_status judge_links(struct fsl_capture_places *out,
				   const struct fsl_profile *profile,
				   const struct fsl_profile_cluster *cluster,
				   const struct fsl_look *look, struct fsl_error *err)
{
	const struct fsl_bandwidth_job job = {
		.table = &out->links,
		.capture = &out->job,
		.alpha = fmin(FSL_BANDWIDTH_ALPHA, fsl_look_chance_max(look, FSL_BANDWIDTH_ALPHA)),
		.lack_min = fsl_look_tested_min(look, FSL_BANDWIDTH_LACK_MIN),
		.cost_share_min = out->job.suspect_share_min,
		.named_share_min = FSL_CAPTURE_NAMED_SHARE_MIN};
	FSL_TRY(fsl_link_table_build(&out->links, profile, cluster, err));
	return fsl_bandwidths_judge(&out->bandwidths, &job, err);
}

/* Judges again without single long runs of kernels, if a suspect has some. */
static enum fsl_status forgive_long_runs(struct fsl_capture_places *out,
					 const struct fsl_profile *profile,
					 const struct fsl_profile_cluster *cluster,
					 const struct fsl_look *look, struct fsl_error *err)
{
	const struct fsl_kernels_job kernels = {
		.profile = profile, .cluster = cluster, .look = *look};
	double *ms = NULL;
	bool has_some = false;
	if (out->places.n_suspects == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(ms, &out->arena, profile->n_ranks + 1, "ranks", err));
	FSL_TRY(fsl_kernel_peers_find_long_runs(ms, &kernels, err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		has_some |= out->places.ranks[r].is_suspect && ms[r] > 0.0;
	}
	if (!has_some) {
		return FSL_OK;
	}
	out->job.long_runs_ms = ms;
	fsl_places_fini(&out->places);
	return fsl_places_judge(&out->places, &out->job, err);
}

enum fsl_status
fsl_capture_places_find(struct fsl_capture_places *out, const struct fsl_profile *profile,
			const struct fsl_profile_cluster *cluster, const struct fsl_look *look,
			struct fsl_profile_meetings *meetings, struct fsl_error *err)
{
	double step_ms = fsl_profile_longest_step_ms(profile);
	*out = (struct fsl_capture_places){
		.job = {.run = &meetings->run,
			.match = &meetings->match,
			.step_ms = isnan(step_ms) ? 0.0 : step_ms,
			.long_stage_min = fsl_look_effect_min(look, FSL_STAGE_EXCESS_MIN),
			.named_share_min = fsl_look_effect_min(look, FSL_CAPTURE_NAMED_SHARE_MIN),
			.suspect_share_min =
				fsl_look_tested_min(look, FSL_CAPTURE_MENTION_SHARE_MIN),
			.named_z_min = least_z(look, FSL_PLACES_NAMED_Z_MIN),
			.suspect_z_min = least_z(look, FSL_PLACES_SUSPECT_Z_MIN)}};
	enum fsl_status status = fill(out, profile, cluster, meetings, err);
	if (status == FSL_OK) {
		out->job.is_partial = is_partial(&out->job, meetings);
		status = fsl_places_judge(&out->places, &out->job, err);
	}
	FSL_THEN(status, forgive_long_runs(out, profile, cluster, look, err));
	FSL_THEN(status, judge_links(out, profile, cluster, look, err));
	if (status != FSL_OK) {
		fsl_capture_places_fini(out);
	}
	return status;
}

void fsl_capture_places_fini(struct fsl_capture_places *places)
{
	fsl_bandwidths_fini(&places->bandwidths);
	fsl_link_table_fini(&places->links);
	fsl_places_fini(&places->places);
	fsl_arena_fini(&places->arena);
	*places = (struct fsl_capture_places){0};
}
