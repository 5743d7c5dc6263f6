/* A rank that holds the others up in every so many steps, as work that differs in every step hides
 * from the levels of blocks. */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include <failslow/stats.h>

#include "arcs/arcs.h"

/* Every so many steps to the end, by their numbers. */
struct rhythm {
	uint32_t every, place;
	size_t member;      /* SIZE_MAX: none */
	size_t n_votes;     /* for the member */
	size_t onset;       /* the first step of it */
	size_t n_on, n_won; /* its steps, and those in which the member was the costliest */
	double p;           /* that this is chance */
};

/* How far a rhythm is told while its steps are counted from the end on. */
struct count {
	size_t n_on, n_won;
	double best;
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

/* Sets the member of the rhythm of each place that was the costliest in most of its steps. Votes as
 * of Boyer and Moore: later steps count more. */
static void set_members(struct rhythm *rhythms, uint32_t every, const size_t *costliest,
			const struct fsl_arcs_case *c)
{
	for (uint32_t place = 0; place < every; place++) {
		rhythms[place] = (struct rhythm){
			.every = every, .place = place, .member = SIZE_MAX, .p = 1.0};
	}
	for (size_t s = 0; s < c->n_steps; s++) {
		struct rhythm *rhythm = &rhythms[c->numbers[s] % every];
		rhythm->member = rhythm->n_votes == 0 ? costliest[s] : rhythm->member;
		rhythm->n_votes += costliest[s] == rhythm->member ? 1 : SIZE_MAX;
	}
}

/* Sets the onset of each to where the steps from it to the end are most clearly the member's. */
static void set_onsets(struct rhythm *rhythms, uint32_t every, const size_t *costliest,
		       const struct fsl_arcs_case *c)
{
	struct count counts[FSL_ARCS_RHYTHM_EVERY_MAX] = {{0}};
	for (size_t s = c->n_steps; s-- > 0;) {
		struct rhythm *rhythm = &rhythms[c->numbers[s] % every];
		struct count *count = &counts[rhythm->place];
		bool is_won = rhythm->member != SIZE_MAX && costliest[s] == rhythm->member;
		count->n_on++;
		count->n_won += is_won;
		double score =
			(double)count->n_won - FSL_ARCS_RHYTHM_SHARE_MIN * (double)count->n_on;
		if (is_won && score > count->best) {
			count->best = score;
			rhythm->onset = s;
			rhythm->n_on = count->n_on;
			rhythm->n_won = count->n_won;
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
	struct rhythm best = {.p = 1.0}, rhythms[FSL_ARCS_RHYTHM_EVERY_MAX];
	for (uint32_t every = 2; every <= FSL_ARCS_RHYTHM_EVERY_MAX; every++) {
		set_members(rhythms, every, costliest, c);
		set_onsets(rhythms, every, costliest, c);
		for (uint32_t place = 0; place < every; place++) {
			struct rhythm *rhythm = &rhythms[place];
			if (rhythm->n_won >= FSL_ARCS_RHYTHM_TIMES_MIN) {
				rhythm->p = chance_of(rhythm, costliest, c);
				best = rhythm->p < best.p ? *rhythm : best;
			}
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

/* False if no member is the costliest often enough for a rhythm, or one is in most steps of the
 * second half: slow in each of them. Spares the search, which most classes do not need. */
static bool may_have_rhythm(const size_t *costliest, const struct fsl_arcs_case *c)
{
	size_t usual = SIZE_MAX, n_votes = 0, n_costly = 0, n_usual = 0, half = c->n_steps / 2;
	for (size_t s = 0; s < c->n_steps; s++) {
		n_costly += costliest[s] != SIZE_MAX;
	}
	for (size_t s = half; s < c->n_steps; s++) {
		usual = n_votes == 0 ? costliest[s] : usual;
		n_votes += costliest[s] == usual ? 1 : SIZE_MAX;
	}
	for (size_t s = half; s < c->n_steps; s++) {
		n_usual += usual != SIZE_MAX && costliest[s] == usual;
	}
	return n_costly >= FSL_ARCS_RHYTHM_TIMES_MIN && 3 * n_usual < 2 * (c->n_steps - half);
}

bool fsl_arcs_name_rhythm(struct fsl_arcs_case *c, struct fsl_arena *arena)
{
	size_t n = c->n_steps, *costliest = fsl_arena_take(arena, n * sizeof(*costliest));
	double *work = fsl_arena_take(arena, 2 * n * sizeof(*work));
	if (costliest == NULL || work == NULL) {
		return false;
	}
	find_costliest(costliest, c);
	if (!may_have_rhythm(costliest, c)) {
		return true;
	}
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
