/* Standing of the ranks: classes of equal work, lateness in collectives, own time. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "judge/ask.h"
#include "judge/standing_parts.h"
#include "judge/to_windows.h"

/* Parts of the steps of devices that are alike differ by this share anyway. */
static const char *const of_parts = "{\"sigma_ms_min\": 0, \"sigma_share_min\": 0.002}";

double fsl_profile_longest_step_ms(const struct fsl_profile *profile)
{
	double step_ms = NAN;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		step_ms = fmax(step_ms, fsl_profile_step_ms(&profile->ranks[r]));
	}
	return step_ms;
}

size_t fsl_profile_most_steps(const struct fsl_profile *profile)
{
	size_t most = 1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n = fsl_profile_n_steps(&profile->ranks[r]);
		most = n > most ? n : most;
	}
	return most;
}

double fsl_profile_p2p_ms(const struct fsl_profile_rank *rank)
{
	double sum_ns = 0.0;
	for (size_t c = 0; c < rank->n_comms; c++) {
		bool is_counted = rank->comms[c].is_p2p && rank->comms[c].elapse_ns > 0;
		sum_ns += is_counted ? (double)rank->comms[c].elapse_ns : 0.0;
	}
	return rank->n_comms > 0 ? sum_ns / FSL_NS_PER_MS / (double)fsl_profile_n_steps(rank) : NAN;
}

/* Stages are classes; ranks of none of them are one more. */
static enum fsl_status classify(struct fsl_profile_standings *out,
				const struct fsl_profile *profile,
				const struct fsl_profile_cluster *cluster, struct fsl_error *err)
{
	size_t n = profile->n_ranks, at = 0;
	out->n_classes = cluster->n_stages + 1;
	out->members = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->members));
	out->class_of = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->class_of));
	out->begin = fsl_arena_alloc(&out->arena, (out->n_classes + 1) * sizeof(*out->begin));
	out->items = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->items));
	if (out->members == NULL || out->class_of == NULL || out->begin == NULL ||
	    out->items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	out->n = n;
	for (size_t r = 0; r < n; r++) {
		size_t stage = fsl_profile_stage_of(cluster, profile->ranks[r].rank);
		out->class_of[r] = (uint32_t)(stage != SIZE_MAX ? stage : cluster->n_stages);
	}
	for (size_t k = 0; k < out->n_classes; k++) {
		out->begin[k] = at;
		for (size_t r = 0; r < n; r++) {
			if (out->class_of[r] == k) {
				out->members[at++] = (uint32_t)r;
			}
		}
	}
	out->begin[out->n_classes] = at;
	FSL_ASSERT(at == n); /* each rank is in one class */
	return FSL_OK;
}

/* Median of few values but one. */
static double median_of_others(const double *values, size_t n, size_t but, double *scratch)
{
	double rest[FSL_OUTLIERS_N_MIN];
	size_t n_rest = 0;
	for (size_t i = 0; i < n; i++) {
		if (i != but) {
			rest[n_rest++] = values[i];
		}
	}
	return n_rest > 0 ? fsl_median(rest, n_rest, scratch) : (double)NAN;
}

/* How much more each member of a class has than its peers: than their median without itself where
 * they are few, than that of all else. @values per member; @more likewise. */
static void compare_members(double *more, const double *values, size_t n, double *scratch)
{
	double median = fsl_median(values, n, scratch);
	for (size_t i = 0; i < n; i++) {
		bool is_small = n < FSL_OUTLIERS_N_MIN;
		more[i] = values[i] - (is_small ? median_of_others(values, n, i, scratch) : median);
	}
}

/* The two largest of the members of a class; NaN: so few have a value. */
struct top {
	double first, second;
};

static struct top find_top(const double *values, size_t n)
{
	struct top top = {NAN, NAN};
	for (size_t i = 0; i < n; i++) {
		if (values[i] > top.first || isnan(top.first)) {
			top = (struct top){fmax(values[i], top.first), top.first};
		} else {
			top.second = fmax(top.second, values[i]);
		}
	}
	return top;
}

/* How much more a member with this value has than the largest of the others. */
static double above_largest(double value, const struct top *top)
{
	return value - (value < top->first ? top->first : top->second);
}

/* Scratch for the members of one class, and who is asked about them. */
struct measuring {
	struct fsl_arena arena;
	double *values, *more, *exposed, *scratch; /* per member */
	struct fsl_detector_config outlier;
	struct fsl_findings findings;
};

/* A part of the step of the members of one class, in work->values and work->more, and who stands
 * out, in work->findings. */
static enum fsl_status measure_part(struct measuring *work, const struct fsl_profile *profile,
				    const uint32_t *members, size_t n, enum fsl_profile_part part,
				    struct fsl_error *err)
{
	struct fsl_windows own = {0};
	enum fsl_status status = fsl_profile_part_windows(&own, profile, members, n, part, err);
	if (status == FSL_OK) {
		memcpy(work->values, own.values, n * sizeof(*work->values));
		compare_members(work->more, work->values, n, work->scratch);
		status = fsl_profile_ask(&work->findings, &work->outlier, &own, err);
	}
	fsl_windows_fini(&own);
	return status;
}

static enum fsl_status measure_computing(struct fsl_profile_standings *out,
					 const struct fsl_profile *profile, const uint32_t *members,
					 size_t n, struct measuring *work, struct fsl_error *err)
{
	FSL_TRY(measure_part(work, profile, members, n, FSL_PART_COMPUTING, err));
	double median = fsl_median(work->values, n, work->scratch);
	const struct top top = find_top(work->values, n);
	for (size_t i = 0; i < n; i++) {
		struct fsl_profile_standing *to = &out->items[members[i]];
		to->n_peers = n;
		to->computing_ms = work->values[i];
		to->computing_more_ms = work->more[i];
		to->computing_above_ms = above_largest(work->values[i], &top);
		to->computing_median_ms = median;
	}
	for (size_t i = 0; i < work->findings.n_items; i++) {
		out->items[work->findings.items[i].rank].is_computing_outlier = true;
	}
	return FSL_OK;
}

static enum fsl_status measure_free(struct fsl_profile_standings *out,
				    const struct fsl_profile *profile, const uint32_t *members,
				    size_t n, struct measuring *work, struct fsl_error *err)
{
	FSL_TRY(measure_part(work, profile, members, n, FSL_PART_FREE, err));
	const struct top top = find_top(work->values, n);
	for (size_t i = 0; i < n; i++) {
		out->items[members[i]].free_more_ms = work->more[i];
		out->items[members[i]].free_above_ms = above_largest(work->values[i], &top);
	}
	for (size_t i = 0; i < work->findings.n_items; i++) {
		out->items[work->findings.items[i].rank].is_free_outlier = true;
	}
	return FSL_OK;
}

/* Their steps, the sends and receives in these, and what nothing overlaps. */
static void measure_others(struct fsl_profile_standings *out, const struct fsl_profile *profile,
			   const uint32_t *members, size_t n, const struct measuring *work)
{
	for (size_t i = 0; i < n; i++) {
		out->items[members[i]].step_ms = fsl_profile_step_ms(&profile->ranks[members[i]]);
		work->values[i] = fsl_profile_p2p_ms(&profile->ranks[members[i]]);
		work->exposed[i] =
			fsl_profile_part_ms(&profile->ranks[members[i]], FSL_PART_EXPOSED);
	}
	double exposed_ms = fsl_median(work->exposed, n, work->scratch);
	compare_members(work->more, work->values, n, work->scratch);
	for (size_t i = 0; i < n; i++) {
		out->items[members[i]].p2p_more_ms = work->more[i];
		out->items[members[i]].exposed_median_ms = exposed_ms;
	}
}

static enum fsl_status measure_own(struct fsl_profile_standings *out,
				   const struct fsl_profile *profile, struct fsl_error *err)
{
	struct measuring work = {0};
	size_t n = out->n + 1;
	work.values = fsl_arena_alloc(&work.arena, n * sizeof(*work.values));
	work.more = fsl_arena_alloc(&work.arena, n * sizeof(*work.more));
	work.exposed = fsl_arena_alloc(&work.arena, n * sizeof(*work.exposed));
	work.scratch = fsl_arena_alloc(&work.arena, n * sizeof(*work.scratch));
	bool is_short = work.values == NULL || work.more == NULL || work.exposed == NULL ||
			work.scratch == NULL;
	enum fsl_status status =
		is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n)
			 : fsl_profile_detector(&work.outlier, "GeneralizedESD", of_parts,
						&work.arena, err);
	for (size_t k = 0; k < out->n_classes && status == FSL_OK; k++) {
		const uint32_t *members = out->members + out->begin[k];
		size_t n_members = out->begin[k + 1] - out->begin[k];
		status = measure_computing(out, profile, members, n_members, &work, err);
		if (status == FSL_OK) {
			status = measure_free(out, profile, members, n_members, &work, err);
		}
		measure_others(out, profile, members, n_members, &work);
	}
	fsl_findings_fini(&work.findings);
	fsl_arena_fini(&work.arena);
	return status;
}

enum fsl_status fsl_profile_stand(struct fsl_profile_standings *out,
				  const struct fsl_profile *profile,
				  const struct fsl_profile_cluster *cluster,
				  const struct fsl_profile_meetings *meetings,
				  struct fsl_error *err)
{
	*out = (struct fsl_profile_standings){0};
	enum fsl_status status = classify(out, profile, cluster, err);
	if (status == FSL_OK) {
		status = measure_own(out, profile, err);
	}
	if (status == FSL_OK) {
		status = fsl_standing_hear_lateness(out, profile, meetings, err);
	}
	if (status != FSL_OK) {
		fsl_profile_standings_fini(out);
	}
	return status;
}

void fsl_profile_standings_fini(struct fsl_profile_standings *standings)
{
	fsl_arena_fini(&standings->arena);
	*standings = (struct fsl_profile_standings){0};
}
