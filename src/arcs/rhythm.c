/* A rank that holds the others up in every so many steps, as work that differs in every step hides
 * from the levels of blocks. */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include <failslow/stats.h>

#include "arcs/arcs.h"

/* Every so many steps to the end, by their numbers. */
struct rhythm {
	size_t member, every, place;
	size_t onset;       /* the first step of it */
	size_t n_on, n_won; /* its steps, and those in which the member was the costliest */
	double p;           /* that this is chance */
};

/* The member that the others waited for most in each step; SIZE_MAX: for nobody long enough. */
static void find_costliest(size_t *costliest, const struct fsl_arcs_case *c)
{
	for (size_t s = 0; s < c->n_steps; s++) {
		double most_ms = FSL_ARCS_FAR_COST_MIN * c->sums.step_ms;
		costliest[s] = SIZE_MAX;
		for (size_t m = 0; m < c->n_ranks; m++) {
			if (c->sums.costly_ms[m * c->n_steps + s] > most_ms) {
				most_ms = c->sums.costly_ms[m * c->n_steps + s];
				costliest[s] = m;
			}
		}
	}
}

static bool is_on(const struct rhythm *rhythm, const struct fsl_arcs_case *c, size_t s)
{
	return c->numbers[s] % rhythm->every == rhythm->place;
}

/* Sets the member that was the costliest in most steps. Votes as of Boyer and Moore: later steps
 * count more. */
static void set_member(struct rhythm *rhythm, const size_t *costliest,
		       const struct fsl_arcs_case *c)
{
	size_t n_votes = 0;
	rhythm->member = SIZE_MAX;
	for (size_t s = 0; s < c->n_steps; s++) {
		if (is_on(rhythm, c, s)) {
			rhythm->member = n_votes == 0 ? costliest[s] : rhythm->member;
			n_votes += costliest[s] == rhythm->member ? 1 : SIZE_MAX;
		}
	}
}

/* Sets the onset to where the steps from it to the end are most clearly the member's. */
static void set_onset(struct rhythm *rhythm, const size_t *costliest, const struct fsl_arcs_case *c)
{
	size_t n_on = 0, n_won = 0;
	double best = 0.0;
	for (size_t s = c->n_steps; s-- > 0;) {
		if (!is_on(rhythm, c, s)) {
			continue;
		}
		n_on++;
		n_won += costliest[s] == rhythm->member;
		double score = (double)n_won - FSL_ARCS_RHYTHM_SHARE_MIN * (double)n_on;
		if (score > best && costliest[s] == rhythm->member) {
			best = score;
			rhythm->onset = s;
			rhythm->n_on = n_on;
			rhythm->n_won = n_won;
		}
	}
}

/* Chance that the member is the costliest in so many steps of the rhythm if it is so no more often
 * in them than between them. */
static double chance_of(const struct rhythm *rhythm, const size_t *costliest,
			const struct fsl_arcs_case *c)
{
	size_t n_off = 0, n_won = 0;
	for (size_t s = rhythm->onset; s < c->n_steps; s++) {
		n_off += !is_on(rhythm, c, s);
		n_won += !is_on(rhythm, c, s) && costliest[s] == rhythm->member;
	}
	double share = ((double)n_won + 1.0) / ((double)n_off + 2.0);
	share = fmax(share, 1.0 / (double)c->n_ranks);
	return gsl_cdf_binomial_Q((unsigned int)rhythm->n_won - 1, share,
				  (unsigned int)rhythm->n_on);
}

/* The rhythm that is least likely chance; its p counts all that were looked at. */
static struct rhythm find_rhythm(const size_t *costliest, const struct fsl_arcs_case *c)
{
	struct rhythm best = {.p = 1.0};
	for (size_t every = 2; every <= FSL_ARCS_RHYTHM_EVERY_MAX; every++) {
		for (size_t place = 0; place < every; place++) {
			struct rhythm rhythm = {.every = every, .place = place};
			set_member(&rhythm, costliest, c);
			if (rhythm.member == SIZE_MAX) {
				continue;
			}
			set_onset(&rhythm, costliest, c);
			if (rhythm.n_won < FSL_ARCS_RHYTHM_TIMES_MIN) {
				continue;
			}
			rhythm.p = chance_of(&rhythm, costliest, c);
			best = rhythm.p < best.p ? rhythm : best;
		}
	}
	/* Each step may be the first of a rhythm of each length. */
	best.p *= (double)c->n_steps * (FSL_ARCS_RHYTHM_EVERY_MAX - 1) * (double)c->n_ranks;
	return best;
}

/* How much larger @values, [step], usually are in the steps of the rhythm than between them.
 * @work: 2 * n_steps. */
static double gain_of(const struct rhythm *rhythm, const struct fsl_arcs_case *c,
		      const double *values, double *work)
{
	double usual[2];
	for (size_t side = 0; side < 2; side++) {
		size_t n = 0;
		for (size_t s = rhythm->onset; s < c->n_steps; s++) {
			if (is_on(rhythm, c, s) == (side == 1)) {
				work[n++] = values[s];
			}
		}
		usual[side] = n > 0 ? fsl_median(work, n, work + c->n_steps) : NAN;
	}
	return usual[1] - usual[0];
}

bool fsl_arcs_name_rhythm(struct fsl_arcs_case *c, struct fsl_arena *arena)
{
	size_t n = c->n_steps, *costliest = fsl_arena_take(arena, n * sizeof(*costliest));
	double *work = fsl_arena_take(arena, 2 * n * sizeof(*work));
	if (costliest == NULL || work == NULL) {
		return false;
	}
	find_costliest(costliest, c);
	struct rhythm rhythm = find_rhythm(costliest, c);
	if (rhythm.p > FSL_ARCS_RHYTHM_P_MAX) {
		return true;
	}
	double rise_ms = gain_of(&rhythm, c, c->sums.dur_ms, work);
	double cost_ms = gain_of(&rhythm, c, c->sums.costly_ms + rhythm.member * n, work);
	double excess_ms = gain_of(&rhythm, c, c->sums.excess_ms + rhythm.member * n, work);
	double cost = fmin(cost_ms, rise_ms) / c->sums.step_ms / (double)rhythm.every;
	if (cost > FSL_ARCS_COST_MIN && rise_ms > FSL_ARCS_GROWTH_PART * cost_ms) {
		c->verdicts[rhythm.member] =
			(struct fsl_arcs_verdict){.word = FSL_ARCS_RECURS,
						  .cost = cost,
						  .excess = excess_ms / c->sums.step_ms,
						  .z = NAN,
						  .onset = rhythm.onset,
						  .every = rhythm.every};
	}
	return true;
}
