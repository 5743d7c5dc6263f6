/* The vote on a pipeline: neighbours that agree that the link between them is slow. */
#include "detect/classical_parts.h"

/* Scores are k / n with small n: half of the functions, and all of them. */
#define SCORE_NEIGHBOUR 0.5
#define SCORE_SURE      1.0

void fsl_vote(const double *scores, const bool *in_slow_group, size_t n_ranks, bool *taken)
{
	bool has_slow = false;
	for (size_t i = 0; i < n_ranks; i++) {
		bool has_neighbour = (i > 0 && scores[i - 1] >= SCORE_NEIGHBOUR) ||
				     (i + 1 < n_ranks && scores[i + 1] >= SCORE_NEIGHBOUR);
		taken[i] = scores[i] >= SCORE_SURE && has_neighbour;
		has_slow = has_slow || (taken[i] && in_slow_group[i]);
	}
	for (size_t i = 0; i < n_ranks && has_slow; i++) {
		taken[i] = taken[i] && in_slow_group[i];
	}
}
