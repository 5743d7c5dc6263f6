/* Ranks that nobody else can be compared with: no other of their stage uses the same operators. */
#include <inttypes.h>
#include <math.h>

#include "blame/fuse_parts.h"

static bool is_alone(const struct fsl_blame *blame, size_t r)
{
	return fsl_peers_n(&blame->peers, r) == 1;
}

/* How long the others of its groups waited for the latest rank of its stage besides @r, ms per
 * step; NaN if @r is the only one. */
static double latest_of_stage_ms(const struct fsl_blame *blame, size_t r)
{
	double latest_ms = NAN;
	for (size_t k = 0; k < blame->n_ranks; k++) {
		if (k != r && fsl_peers_n(&blame->peers, k) > 0 &&
		    blame->peers.stage_of[k] == blame->peers.stage_of[r]) {
			latest_ms = fmax(latest_ms, blame->charges[k].late_ms_per_step);
		}
	}
	return latest_ms;
}

bool fsl_fuse_has_peers(const struct fsl_peers *peers)
{
	for (size_t k = 0; k < peers->n_classes; k++) {
		if (peers->begin[k + 1] - peers->begin[k] > 1) {
			return true;
		}
	}
	return false;
}

const char *fsl_fuse_alone(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_blame *blame = facts->blame;
	double worst_ms = 0.0;
	size_t worst = SIZE_MAX;
	if (!fsl_fuse_has_peers(&blame->peers)) {
		return "no two ranks do the same work: each was compared with its own past only, "
		       "where nothing changed for good";
	}
	for (size_t r = 0; r < blame->n_ranks; r++) {
		if (!is_alone(blame, r)) {
			continue;
		}
		double more_ms = blame->charges[r].late_ms_per_step - latest_of_stage_ms(blame, r);
		if (more_ms >= fsl_least_loss_ms(facts->config, blame->step_ms) &&
		    more_ms > worst_ms) {
			worst_ms = more_ms;
			worst = r;
		}
	}
	if (worst == SIZE_MAX) {
		return NULL;
	}
	return fsl_arena_printf(
		&out->arena,
		"the others wait %.1f ms per step longer for rank %" PRId32
		" than for any other of its stage, and none of these uses the same operators: "
		"whether it is slow or has more to do cannot be told",
		worst_ms, facts->run->ranks[worst].rank);
}

enum fsl_status fsl_fuse_note_alone(struct fsl_localisation *out, const struct fsl_case *facts,
				    struct fsl_error *err)
{
	size_t n_alone = 0, first = 0;
	for (size_t r = facts->blame->n_ranks; r-- > 0;) {
		if (is_alone(facts->blame, r)) {
			n_alone++;
			first = r;
		}
	}
	if (n_alone == 0) {
		return FSL_OK;
	}
	return fsl_coverage_add_skipped(
		&out->coverage, &out->arena, err,
		"own_time: %zu of %zu ranks use operators that no other of their stage uses, "
		"compared with their own past only: the lowest is rank %" PRId32,
		n_alone, out->coverage.n_ranks_seen, facts->run->ranks[first].rank);
}
