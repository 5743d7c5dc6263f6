/* A capture as detectors see it: windows of operators, and of each rank's own time per step. */
#include "judge/observe.h"

#include <math.h>

#include "base/mem.h"
#include "base/try.h"
#include "blame/suspects.h"
#include "capture/step_rows.h"
#include "detect/classical.h"
#include "match/topology_build.h"

/* All that detectors are shown of one capture. */
struct exhibit {
	struct fsl_arena arena;
	const struct fsl_profile_case *facts;
	struct fsl_run *run;
	struct fsl_topology topology;
	struct fsl_localisation classical;
	struct fsl_steps steps;
	struct fsl_peers peers;
	double *own_ms;
};

/* Ranks of a run may have any numbers, as long as they rise; those of a capture do. */
static void number_ranks(const struct exhibit *exhibit)
{
	for (size_t r = 0; r < exhibit->run->n_ranks; r++) {
		exhibit->run->ranks[r].rank = exhibit->facts->profile->ranks[r].rank;
	}
}

/* The steps of the set, each from the first operator of the first rank on. */
static enum fsl_status list_steps(struct exhibit *exhibit, struct fsl_error *err)
{
	const struct fsl_profile_cluster *cluster = exhibit->facts->cluster;
	struct fsl_steps *steps = &exhibit->steps;
	FSL_TRY(FSL_ARENA_NEW(steps->items, &exhibit->arena, cluster->n_steps, "steps", err));
	steps->source = "profiler";
	steps->n_items = cluster->n_steps;
	for (size_t s = 0; s < cluster->n_steps; s++) {
		steps->items[s] =
			(struct fsl_job_step){.step = cluster->steps[s], .begin_ns = FSL_NS_ABSENT};
	}
	const struct fsl_rank *first = exhibit->run->ranks;
	for (size_t i = exhibit->run->n_ranks > 0 ? first->n_ops : 0; i-- > 0;) {
		size_t s = fsl_steps_numbered(steps, first->ops[i].step);
		if (s != SIZE_MAX) {
			steps->items[s].begin_ns = fsl_op_begin_ns(&first->ops[i]);
		}
	}
	return FSL_OK;
}

/* Own time of a step: what a rank computes and stands idle in it. */
static enum fsl_status list_own(struct exhibit *exhibit, struct fsl_error *err)
{
	const struct fsl_profile *profile = exhibit->facts->profile;
	size_t n_steps = exhibit->steps.n_items, n = profile->n_ranks * n_steps;
	FSL_TRY(FSL_ARENA_NEW(exhibit->own_ms, &exhibit->arena, n, "own_ms", err));
	for (size_t i = 0; i < n; i++) {
		exhibit->own_ms[i] = NAN;
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n_rows = 0;
		const struct fsl_profile_step *rows =
			fsl_profile_step_rows(&profile->ranks[r], &n_rows);
		for (size_t i = 0; i < n_rows; i++) {
			int64_t computing_ns = fsl_profile_part_ns(&rows[i], FSL_PART_COMPUTING);
			int64_t free_ns = fsl_profile_part_ns(&rows[i], FSL_PART_FREE);
			size_t s = fsl_steps_numbered(&exhibit->steps, rows[i].step);
			if (s != SIZE_MAX && computing_ns != FSL_NS_ABSENT &&
			    free_ns != FSL_NS_ABSENT) {
				exhibit->own_ms[r * n_steps + s] =
					(double)(computing_ns + free_ns) / FSL_NS_PER_MS;
			}
		}
	}
	return FSL_OK;
}

/* Ranks of a stage are peers, and so are ranks without a known stage. */
static enum fsl_status list_peers(struct exhibit *exhibit, struct fsl_error *err)
{
	const struct fsl_profile_cluster *cluster = exhibit->facts->cluster;
	struct fsl_peers *peers = &exhibit->peers;
	size_t n_ranks = exhibit->run->n_ranks, n = 0;
	peers->n_classes = cluster->n_stages + 1;
	FSL_TRY(FSL_ARENA_NEW(peers->members, &exhibit->arena, n_ranks, "members", err));
	FSL_TRY(FSL_ARENA_NEW(peers->begin, &exhibit->arena, peers->n_classes + 1, "begin", err));
	for (size_t k = 0; k < peers->n_classes; k++) {
		for (size_t r = 0; r < n_ranks; r++) {
			size_t stage = fsl_profile_stage_of(cluster, exhibit->run->ranks[r].rank);
			if ((stage != SIZE_MAX ? stage : cluster->n_stages) == k) {
				peers->members[n++] = (uint32_t)r;
			}
		}
		peers->begin[k + 1] = n;
	}
	return FSL_OK;
}

static enum fsl_status prepare(struct exhibit *exhibit, const struct fsl_config *config,
			       struct fsl_error *err)
{
	number_ranks(exhibit);
	FSL_TRY(list_steps(exhibit, err));
	FSL_TRY(list_own(exhibit, err));
	FSL_TRY(list_peers(exhibit, err));
	FSL_TRY(fsl_topology_build(&exhibit->topology, exhibit->run, config, err));
	return fsl_classical_run(&exhibit->classical, exhibit->run, &exhibit->topology, config,
				 err);
}

static bool is_named(const struct fsl_localisation *verdict, int32_t rank)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		if (verdict->culprits[i].rank == rank) {
			return true;
		}
	}
	return false;
}

static enum fsl_status add_suspects(struct fsl_localisation *verdict, const struct fsl_run *run,
				    const struct fsl_proposal *proposals, struct fsl_error *err)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_suspect suspect = {
			.rank = run->ranks[r].rank,
			.late_ms_per_step = NAN,
			.detector = proposals[r].detector,
			.reason = "its own work, compared with its peers', costs less than counts"};
		if (suspect.detector != NULL && !is_named(verdict, suspect.rank)) {
			FSL_TRY(FSL_APPEND(verdict, unconfirmed, &suspect, err));
		}
	}
	return FSL_OK;
}

/* Detectors of a job's step times and silence have nothing to look at. */
static enum fsl_status tell_left_out(struct fsl_localisation *verdict,
				     const struct fsl_localisation *classical,
				     struct fsl_error *err)
{
	for (size_t i = 0; i < classical->coverage.n_skipped; i++) {
		FSL_TRY(fsl_coverage_add_skipped(&verdict->coverage, &verdict->arena, err, "%s",
						 classical->coverage.skipped[i]));
	}
	return fsl_coverage_add_skipped(
		&verdict->coverage, &verdict->arena, err,
		"StepKSigma, BoxPlot, Hang: a capture is a few steps and has no present; marker "
		"files, logs and step times have");
}

enum fsl_status fsl_profile_observe(struct fsl_localisation *verdict,
				    const struct fsl_profile_case *facts,
				    struct fsl_profile_meetings *meetings,
				    const struct fsl_config *config, struct fsl_error *err)
{
	struct exhibit exhibit = {.facts = facts, .run = &meetings->run};
	struct fsl_proposal *proposals = NULL;
	fsl_localisation_init(&exhibit.classical);
	enum fsl_status status = prepare(&exhibit, config, err);
	const struct fsl_shown shown = {.config = config,
					.run = exhibit.run,
					.steps = &exhibit.steps,
					.match = &meetings->match,
					.peers = &exhibit.peers,
					.own_ms = exhibit.own_ms,
					.classical = &exhibit.classical};
	FSL_THEN(status, fsl_hear_detectors(&proposals, verdict, &shown, err));
	FSL_THEN(status, add_suspects(verdict, exhibit.run, proposals, err));
	FSL_THEN(status, tell_left_out(verdict, &exhibit.classical, err));
	fsl_localisation_fini(&exhibit.classical);
	fsl_topology_fini(&exhibit.topology);
	fsl_arena_fini(&exhibit.arena);
	return status;
}
