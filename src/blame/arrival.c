/* Charges in the light of arrival arcs: where these can judge, they decide who is slow. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "arcs/find.h"
#include "base/log.h"
#include "base/number.h"
#include "blame/blame.h"

/* Excess and costly work of one rank in each step of the job, ms, as its arcs tell them; 0: they
 * tell nothing. */
struct arrivals {
	const struct fsl_arcs *arcs;
	double *excess_ms, *costly_ms;
	bool *is_told;
	double *else_ms;     /* [step]: the greatest excess of the ranks that arcs name */
	double *work;        /* 2 * steps + 1 */
	double *told_ms;     /* [rank_idx]: what arcs say of a rank that they do not name; NaN */
	bool *is_level_slow; /* [rank_idx]: the whole class is charged, on one host */
};

/* Step of the job at a part of a step of the class, SIZE_MAX: none. */
static size_t step_at(const struct fsl_case *facts, const struct fsl_arcs_rank *rank, size_t s,
		      double part)
{
	size_t source = fsl_run_rank_idx(facts->run, facts->steps->source_rank);
	int64_t part_ns = (int64_t)(part * rank->dur_ms[s] * FSL_NS_PER_MS);
	int64_t ahead_ns = source != SIZE_MAX ? facts->match->clock_ns[source] : 0;
	return fsl_steps_find(facts->steps, rank->begin_ns[s] + part_ns + ahead_ns);
}

/* Step of the job in whose time a step of the class lies. */
static size_t step_of(const struct fsl_case *facts, const struct fsl_arcs_rank *rank, size_t s)
{
	return step_at(facts, rank, s, 0.5);
}

/* The longest of the job's steps that a slow step of the class overlaps: the rank made it long. */
static size_t slow_step_of(const struct fsl_case *facts, const struct fsl_arcs_rank *rank, size_t s)
{
	static const double parts[] = {0.0, 1.0};
	const struct fsl_job_step *items = facts->steps->items;
	size_t best = step_of(facts, rank, s);
	for (size_t i = 0; i < 2; i++) {
		size_t at = step_at(facts, rank, s, parts[i]);
		bool is_longer = at < facts->steps->n_items && best < facts->steps->n_items &&
				 items[at].dur_ns > items[best].dur_ns;
		best = is_longer ? at : best;
	}
	return best;
}

/* If a rank recurs, its slow steps count and no others. */
static void set_arrivals(struct arrivals *out, const struct fsl_case *facts,
			 const struct fsl_arcs_rank *rank)
{
	size_t n_steps = facts->steps->n_items;
	bool recurs = rank->verdict.word == FSL_ARCS_RECURS;
	for (size_t s = 0; s < n_steps; s++) {
		out->excess_ms[s] = out->costly_ms[s] = 0.0;
		out->is_told[s] = false;
	}
	for (size_t s = 0; s < rank->n_steps; s++) {
		size_t at = recurs ? slow_step_of(facts, rank, s) : step_of(facts, rank, s);
		if (at < n_steps &&
		    (!recurs || fsl_arcs_recurs_at(&rank->verdict, rank->numbers, s))) {
			out->excess_ms[at] += rank->excess_ms[s];
			out->costly_ms[at] += rank->costly_ms[s];
			out->is_told[at] = true;
		}
	}
}

/* The part of the excess that others waited for, told with care, over [begin, end). */
static double cost_of(const struct arrivals *arrivals, size_t begin, size_t end)
{
	double excess_ms = 0.0, costly_ms = 0.0;
	for (size_t s = begin; s < end; s++) {
		excess_ms += arrivals->excess_ms[s];
		costly_ms += arrivals->costly_ms[s];
	}
	double sum_ms = fmax(0.0, fmin(excess_ms, costly_ms));
	return end > begin ? FSL_ARRIVAL_COST_SHARE * sum_ms / (double)(end - begin) : 0.0;
}

/* A charge of a rank from its arcs alone. References become what lies below its excess. */
static void charge(struct fsl_blame *out, const struct fsl_case *facts, size_t r,
		   const struct arrivals *arrivals)
{
	struct fsl_charge *charge = &out->charges[r];
	const struct fsl_arcs_rank *rank = &arrivals->arcs->ranks[r];
	size_t n = out->n_steps, n_seen = 0, onset = step_of(facts, rank, rank->verdict.onset);
	double own_ms = 0.0, peers_ms = 0.0, high_ms = 0.0;
	bool recurs = rank->verdict.word == FSL_ARCS_RECURS;
	bool is_lasting = rank->verdict.word != FSL_ARCS_COMES && !recurs;
	for (size_t s = 0; s < n; s++) {
		out->reference_ms[r * n + s] = out->own_ms[r * n + s] - arrivals->excess_ms[s];
	}
	high_ms = FSL_ARRIVAL_HIGH_SHARE * rank->verdict.excess * rank->step_ms;
	if (!is_lasting) {
		high_ms = fmax(high_ms, 0.5 * FSL_ARCS_FAR_COST_MIN * rank->step_ms);
	}
	charge->threshold_ms = high_ms;
	charge->episode = fsl_episode_find(arrivals->excess_ms, n, high_ms);
	if (is_lasting && onset < n) {
		charge->episode.begin = onset;
		charge->episode.end = n;
		fsl_episode_measure(&charge->episode, arrivals->excess_ms, high_ms);
	}
	charge->pattern = FSL_PATTERN_LASTING;
	if (recurs || charge->episode.persistence < facts->config->persistence_min) {
		charge->pattern = FSL_PATTERN_REPEATED;
		charge->episode = fsl_episode_all(arrivals->excess_ms, n, high_ms, &n_seen);
	}
	for (size_t s = charge->episode.begin; s < charge->episode.end; s++) {
		if (arrivals->excess_ms[s] > high_ms) {
			own_ms += out->own_ms[r * n + s];
			peers_ms += out->reference_ms[r * n + s];
		}
	}
	charge->own_ms = own_ms / (double)charge->episode.n_high;
	charge->peers_ms = peers_ms / (double)charge->episode.n_high;
	charge->is_change = charge->pattern == FSL_PATTERN_LASTING &&
			    charge->episode.begin >= FSL_LASTING_STEPS_MIN;
	charge->last_share = NAN;
}

/* A rank that is slower still hides what this one costs. */
static bool is_hidden_at(const struct fsl_blame *blame, size_t r, const struct arrivals *arrivals,
			 size_t s)
{
	double excess_ms = fsl_blame_excess_ms(blame, r, s);
	return arrivals->else_ms[s] > 0.0 && arrivals->else_ms[s] >= excess_ms;
}

/* Whether enough steps of a lasting charge are left without those that a slower rank hides. */
static bool are_seen(const struct fsl_blame *blame, size_t r, const struct arrivals *arrivals)
{
	const struct fsl_charge *charge = &blame->charges[r];
	size_t n = 0;
	for (size_t s = charge->episode.begin; s < charge->episode.end; s++) {
		n += is_hidden_at(blame, r, arrivals, s) ? 0 : 1;
	}
	return charge->pattern == FSL_PATTERN_LASTING && n >= FSL_SEEN_STEPS_MIN;
}

/* Sums over the steps that a charge is about, and over all others. */
struct sides {
	double excess_ms[2], costly_ms[2]; /* [is_inside] */
	size_t n_told[2], n[2];
};

/* Steps of a class may begin elsewhere than those of the job: a single step may be the one beside.
 */
static double largest_beside(const double *values, size_t s, size_t n)
{
	double most = values[s];
	most = s > 0 ? fmax(most, values[s - 1]) : most;
	return s + 1 < n ? fmax(most, values[s + 1]) : most;
}

static struct sides sum_sides(const struct fsl_blame *blame, size_t r,
			      const struct arrivals *arrivals)
{
	const struct fsl_charge *charge = &blame->charges[r];
	struct sides sides = {.n = {0}};
	bool leaves_hidden = are_seen(blame, r, arrivals);
	for (size_t s = 0; s < blame->n_steps; s++) {
		if (leaves_hidden && is_hidden_at(blame, r, arrivals, s)) {
			continue;
		}
		bool is_inside = s >= charge->episode.begin && s < charge->episode.end &&
				 (charge->pattern == FSL_PATTERN_LASTING ||
				  fsl_blame_excess_ms(blame, r, s) > charge->threshold_ms);
		bool is_single = is_inside && charge->pattern == FSL_PATTERN_REPEATED;
		sides.excess_ms[is_inside] +=
			is_single ? largest_beside(arrivals->excess_ms, s, blame->n_steps)
				  : arrivals->excess_ms[s];
		sides.costly_ms[is_inside] +=
			is_single ? largest_beside(arrivals->costly_ms, s, blame->n_steps)
				  : arrivals->costly_ms[s];
		sides.n_told[is_inside] += arrivals->is_told[s];
		sides.n[is_inside]++;
	}
	return sides;
}

/* Whether a rank that was slow all along is, although the arcs name nobody: peers that always
 * waited for it hide a part of its work. */
static bool is_level_confirmed(const struct fsl_blame *blame, const struct fsl_case *facts,
			       struct arrivals *arrivals, size_t r, const struct sides *sides)
{
	const struct fsl_charge *charge = &blame->charges[r];
	double told_ms = fmin(sides->excess_ms[1], sides->costly_ms[1]) / (double)sides->n_told[1];
	bool is_plain =
		blame->stands_out[r] &&
		(facts->own->has_stages || blame->healthy_ratio[r] >= FSL_ARRIVAL_PLAIN_RATIO_MIN);
	bool is_told = told_ms >= FSL_EXPLAINED_SHARE_MIN * (charge->own_ms - charge->peers_ms);
	arrivals->told_ms[r] = told_ms;
	return arrivals->arcs->n_slow == 0 && (is_plain || (is_told && blame->is_far[r]));
}

/* Whether a rank that was another before worked longer by what its charge says, or by what the
 * steps took longer. If arcs name somebody else, others must have waited for this one, too. @work:
 * 2 * steps + 1. */
static bool is_change_confirmed(const struct fsl_blame *blame, size_t r, const struct sides *sides,
				bool is_else, double *work)
{
	const struct fsl_charge *charge = &blame->charges[r];
	double n_in = (double)sides->n_told[1], n_out = (double)sides->n_told[0];
	double excess_ms = charge->own_ms - charge->peers_ms;
	double beyond_ms = sides->excess_ms[1] / n_in - sides->excess_ms[0] / n_out;
	double costly_ms = sides->costly_ms[1] / n_in - sides->costly_ms[0] / n_out;
	double told_ms = is_else ? costly_ms : fmax(beyond_ms, costly_ms);
	size_t n_least = 0;
	double rise_ms = fsl_episode_rise(&charge->episode, blame->step_dur_ms, blame->n_steps,
					  &n_least, work);
	bool is_rise = n_least >= FSL_RISE_STEPS_MIN &&
		       told_ms >= FSL_EXPLAINED_SHARE_MIN * rise_ms &&
		       rise_ms >= FSL_EXPLAINED_SHARE_MIN * told_ms &&
		       told_ms >= FSL_ARRIVAL_RISE_SHARE_MIN * excess_ms;
	return is_rise || told_ms >= FSL_EXPLAINED_SHARE_MIN * excess_ms;
}

/* True if the arcs do not speak against the charge of a rank that they do not name: they know too
 * few of its steps, or they tell its excess as well. */
static bool is_confirmed(const struct fsl_blame *blame, const struct fsl_case *facts, size_t r,
			 struct arrivals *arrivals)
{
	const struct fsl_charge *charge = &blame->charges[r];
	struct sides sides = sum_sides(blame, r, arrivals);
	if ((double)sides.n_told[1] < FSL_ARRIVAL_TOLD_SHARE_MIN * (double)sides.n[1]) {
		return true;
	}
	if (charge->pattern == FSL_PATTERN_LASTING && !charge->is_change) {
		return is_level_confirmed(blame, facts, arrivals, r, &sides);
	}
	return sides.n_told[0] > 0 &&
	       is_change_confirmed(blame, r, &sides, arrivals->arcs->n_slow > 0, arrivals->work);
}

static void drop_charge(struct fsl_charge *charge)
{
	charge->pattern = FSL_PATTERN_NONE;
	charge->is_change = false;
}

/* Ranks that wait for another one in a group seem to work as long as it does. Of the ranks that
 * were confirmed all along, those that arcs tell far less of are dropped. If the level of a class
 * is slow, arcs tell next to nothing of anybody, and nobody is dropped. */
static void drop_waiters(struct fsl_blame *out, const struct arrivals *arrivals)
{
	double most_ms = 0.0;
	for (size_t r = 0; r < out->n_ranks; r++) {
		const struct fsl_charge *charge = &out->charges[r];
		bool is_told = charge->pattern != FSL_PATTERN_NONE &&
			       arrivals->told_ms[r] >= FSL_ARRIVAL_TELLS_SHARE_MIN *
							       (charge->own_ms - charge->peers_ms);
		most_ms = is_told ? fmax(most_ms, arrivals->told_ms[r]) : most_ms;
	}
	for (size_t r = 0; r < out->n_ranks && most_ms > 0.0; r++) {
		if (arrivals->told_ms[r] < FSL_ARRIVAL_WAITER_SHARE * most_ms) {
			drop_charge(&out->charges[r]);
		}
	}
}

/* Ranks of a class, by its first rank. */
struct class_sum {
	size_t n, n_charged;
	bool spans_hosts, has_slow; /* by its arcs */
};

/* Marks the ranks of a class that one host holds if arcs name nobody in it and so many of them are
 * charged that the level of the class, which arcs take off, is slow too. */
static enum fsl_status mark_slow_levels(struct arrivals *arrivals, struct fsl_blame *out,
					const struct fsl_run *run, struct fsl_error *err)
{
	const struct fsl_arcs_rank *ranks = arrivals->arcs->ranks;
	struct class_sum *classes = NULL;
	FSL_TRY(FSL_ARENA_NEW(classes, &out->arena, out->n_ranks, "classes", err));
	FSL_TRY(FSL_ARENA_NEW(arrivals->is_level_slow, &out->arena, out->n_ranks, "levels", err));
	for (size_t r = 0; r < out->n_ranks; r++) {
		size_t first = ranks[r].first_rank;
		if (ranks[r].n_steps > 0) {
			classes[first].n++;
			classes[first].n_charged += out->charges[r].pattern != FSL_PATTERN_NONE;
			classes[first].spans_hosts |=
				strcmp(run->ranks[r].server_ip, run->ranks[first].server_ip) != 0;
			classes[first].has_slow |= fsl_arcs_is_slow(ranks[r].verdict.word);
		}
	}
	for (size_t r = 0; r < out->n_ranks; r++) {
		const struct class_sum *class = &classes[ranks[r].first_rank];
		double least = (1.0 - FSL_ARCS_LEVEL) * (double)class->n;
		arrivals->is_level_slow[r] = ranks[r].n_steps > 0 && !class->spans_hosts &&
					     !class->has_slow && (double)class->n_charged > least;
	}
	return FSL_OK;
}

static void find_else(struct arrivals *out, const struct fsl_case *facts)
{
	const struct fsl_arcs *arcs = out->arcs;
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		if (!fsl_arcs_is_slow(arcs->ranks[r].verdict.word)) {
			continue;
		}
		set_arrivals(out, facts, &arcs->ranks[r]);
		for (size_t s = 0; s < facts->steps->n_items; s++) {
			out->else_ms[s] = fmax(out->else_ms[s], out->excess_ms[s]);
		}
	}
}

static void judge(struct fsl_blame *out, const struct fsl_case *facts, size_t r,
		  struct arrivals *arrivals)
{
	struct fsl_charge *mine = &out->charges[r];
	const struct fsl_arcs_rank *rank = &arrivals->arcs->ranks[r];
	size_t begin = 0, end = out->n_steps;
	bool is_slow = fsl_arcs_is_slow(rank->verdict.word);
	if (rank->verdict.word == FSL_ARCS_UNTOLD ||
	    (!is_slow && mine->pattern == FSL_PATTERN_NONE)) {
		return;
	}
	set_arrivals(arrivals, facts, rank);
	if (!is_slow) {
		if (!arrivals->is_level_slow[r] && !is_confirmed(out, facts, r, arrivals)) {
			drop_charge(mine);
		}
		return;
	}
	if (mine->pattern == FSL_PATTERN_NONE) {
		charge(out, facts, r, arrivals);
	}
	if (mine->episode.n_high == 0) {
		mine->pattern = FSL_PATTERN_NONE;
		return;
	}
	fsl_charge_range(mine, out->n_steps, &begin, &end);
	mine->is_certain = true;
	mine->arrival_ms = cost_of(arrivals, begin, end);
	mine->arrival_head = rank->clues.head_share;
	mine->arrival_host = rank->clues.host_share;
	mine->lost_ms_per_step = fmax(mine->lost_ms_per_step, mine->arrival_ms);
}

static enum fsl_status judge_all(struct fsl_blame *out, const struct fsl_case *facts,
				 const struct fsl_arcs *arcs, struct fsl_error *err)
{
	size_t n_steps = out->n_steps;
	struct arrivals arrivals = {.arcs = arcs};
	FSL_TRY(FSL_ARENA_NEW(arrivals.excess_ms, &out->arena, n_steps, "excess_ms", err));
	FSL_TRY(FSL_ARENA_NEW(arrivals.costly_ms, &out->arena, n_steps, "costly_ms", err));
	FSL_TRY(FSL_ARENA_NEW(arrivals.is_told, &out->arena, n_steps, "is_told", err));
	FSL_TRY(FSL_ARENA_NEW(arrivals.work, &out->arena, 2 * n_steps + 1, "work", err));
	FSL_TRY(FSL_ARENA_NEW(arrivals.told_ms, &out->arena, out->n_ranks, "told_ms", err));
	FSL_TRY(FSL_ARENA_NEW(arrivals.else_ms, &out->arena, n_steps, "else_ms", err));
	FSL_TRY(mark_slow_levels(&arrivals, out, facts->run, err));
	find_else(&arrivals, facts);
	for (size_t r = 0; r < out->n_ranks; r++) {
		arrivals.told_ms[r] = NAN;
		judge(out, facts, r, &arrivals);
	}
	drop_waiters(out, &arrivals);
	return FSL_OK;
}

/* Whether arcs may change what is known: somebody is charged, or work may hide. */
static bool are_asked(const struct fsl_blame *blame, const struct fsl_case *facts)
{
	bool is_asked = fsl_blame_work_may_hide(facts);
	for (size_t r = 0; r < blame->n_ranks && !is_asked; r++) {
		is_asked = blame->charges[r].pattern != FSL_PATTERN_NONE;
	}
	return is_asked;
}

enum fsl_status fsl_arrivals_judge(struct fsl_blame *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	struct fsl_arcs arcs = {.ranks = NULL};
	if (!are_asked(out, facts)) {
		return FSL_OK;
	}
	enum fsl_status status =
		fsl_arcs_find(&arcs, facts->run, facts->topology, facts->match->clock_ns, err);
	if (arcs.n_judged > 0) {
		FSL_THEN(status, judge_all(out, facts, &arcs, err));
	}
	fsl_arcs_fini(&arcs);
	return status;
}
