/*
 * Causes that cost the job time although no device is at fault: a pipeline stage with more to do
 * than the others, work that moves between ranks, pauses of hosts. Looked for if nobody is named.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "blame/fuse_parts.h"
#include "match/topology_parts.h"

/* Cost of one kind of imbalance; lost_ms 0: none found. */
struct imbalance {
	enum fsl_verdict_kind kind;
	double lost_ms; /* per step */
	const char *reason;
	int32_t stage; /* STAGE only */
	double own_ms, peers_ms;
	int32_t rank; /* lowest of the stage */
	size_t n_ranks;
};

/* Median own time of a rank with its stage. */
struct place {
	int32_t stage;
	double ms;
	int32_t rank;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	FSL_ORDER_BY(x->stage, y->stage);
	FSL_ORDER_BY(x->ms, y->ms);
	return FSL_ORDER(x->rank, y->rank);
}

/* The stages, ascending: level (median) and least own time of their ranks. */
struct stage_level {
	int32_t stage, lowest_rank;
	double level_ms, least_ms;
	size_t n_ranks;
};

static size_t level_stages(struct stage_level *stages, struct place *places, size_t n)
{
	size_t n_stages = 0;
	qsort(places, n, sizeof(*places), compare_places);
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		int32_t lowest = places[begin].rank;
		while (end < n && places[end].stage == places[begin].stage) {
			lowest = places[end].rank < lowest ? places[end].rank : lowest;
			end++;
		}
		FSL_ASSERT(n_stages == 0 || stages[n_stages - 1].stage < places[begin].stage);
		stages[n_stages++] = (struct stage_level){places[begin].stage, lowest,
							  places[begin + (end - begin) / 2].ms,
							  places[begin].ms, end - begin};
	}
	return n_stages;
}

static const char *tell_stage(struct fsl_arena *arena, const struct stage_level *stage,
			      double others_ms, double lost_ms)
{
	enum { WHO_BYTES = 40 };
	char who[WHO_BYTES] = "the only rank seen";
	if (stage->n_ranks > 1) {
		(void)snprintf(who, sizeof(who), "all %zu ranks", stage->n_ranks);
	}
	return fsl_arena_printf(arena,
				"%s of pipeline stage %" PRId32
				" %s %.1f ms per step against %.1f ms of the other "
				"stages, since the first step: costs %.1f ms per step",
				who, stage->stage, stage->n_ranks > 1 ? "work" : "works",
				stage->level_ms, others_ms, lost_ms);
}

/*
 * Whether gaps between operators tell the work of stages, @sum_ms all together: not if most sends
 * and receives have no partner (rings), and not if receives are posted ahead, so that operators
 * begin while they run and work lies beneath them, on some stages more than on others. Stages that
 * sum to more than a step hide little.
 */
static bool stages_show_work(const struct fsl_case *facts, double sum_ms)
{
	const struct fsl_run *run = facts->run;
	size_t n_p2p = 0, n_ahead = 0, stride = run->n_ranks / FSL_STAGE_RANKS_ASKED_MAX + 1;
	/* The neighbours of a rank without data lack a partner, too. */
	size_t n_expected = facts->topology->n_expected_ranks;
	double unseen_share = 1.0 - (double)fsl_ranks_seen(run) / (double)n_expected;
	double paired_min = 0.5 * (1.0 - 2.0 * unseen_share);
	if ((double)facts->match->n_p2p_matched < paired_min * (double)facts->match->n_p2p) {
		return false;
	}
	for (size_t r = 0; r < run->n_ranks; r += stride) {
		const struct fsl_rank *rank = &run->ranks[r];
		for (size_t i = 0; i + 1 < rank->n_ops && i < FSL_STAGE_OPS_ASKED_MAX; i++) {
			const char *name = fsl_strpool_text(run->names, rank->ops[i].op_id);
			bool is_p2p = fsl_op_class_from_name(name) == FSL_OP_P2P;
			n_p2p += is_p2p;
			n_ahead += is_p2p && fsl_op_begin_ns(&rank->ops[i + 1]) <
						     fsl_op_end_ns(&rank->ops[i]);
		}
	}
	return sum_ms >= FSL_STAGES_SUM_AHEAD_MIN * facts->blame->step_ms ||
	       (double)n_ahead <= FSL_STAGE_AHEAD_SHARE_MAX * (double)n_p2p;
}

/*
 * The same stage is slow in all replicas and always was. With the work spread evenly every stage
 * would take the mean, so what lies above it is lost. @usual_ms: per rank, its median own time.
 */
static void find_stage(struct imbalance *out, const struct fsl_case *facts, struct fsl_arena *arena,
		       struct place *places, struct stage_level *stages, const double *usual_ms)
{
	const struct fsl_blame *blame = facts->blame;
	size_t n = 0, worst = 0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		if (!isnan(usual_ms[r])) {
			places[n++] = (struct place){blame->peers.stage_of[r], usual_ms[r],
						     facts->run->ranks[r].rank};
		}
	}
	size_t n_stages = level_stages(stages, places, n);
	double sum_ms = 0.0;
	for (size_t k = 0; k < n_stages; k++) {
		sum_ms += stages[k].level_ms;
		worst = stages[k].level_ms > stages[worst].level_ms ? k : worst;
	}
	if (n_stages < 2) {
		return;
	}
	const struct stage_level *stage = &stages[worst];
	double others_ms = (sum_ms - stage->level_ms) / (double)(n_stages - 1);
	double lost_ms = stage->level_ms - sum_ms / (double)n_stages;
	double stage_ms = stage->n_ranks < FSL_CLOUD_RANKS_MIN ? stage->least_ms : stage->level_ms;
	double more_ms = stage->level_ms - others_ms;
	/* Receives that are posted ahead hide work of some stages; a few ranks do not tell. */
	bool is_work = fsl_own_is_work(facts->own);
	double least_ratio = is_work ? FSL_STAGE_RATIO_MIN : FSL_STAGE_HIDDEN_RATIO_MIN;
	/* Nor do the others then show theirs; but a stage that holds up all others hardly waits. */
	bool may_wait = stage_ms < FSL_STAGE_BUSY_SHARE_MIN * blame->step_ms;
	if ((!is_work && (stage->n_ranks < FSL_CLOUD_RANKS_MIN || may_wait)) ||
	    stage->least_ms < others_ms + FSL_STAGE_RANK_SHARE_MIN * more_ms ||
	    stage_ms < least_ratio * others_ms ||
	    sum_ms < FSL_STAGES_SUM_SHARE_MIN * blame->step_ms ||
	    !stages_show_work(facts, sum_ms)) {
		return;
	}
	*out = (struct imbalance){.kind = FSL_VERDICT_STAGE_IMBALANCE,
				  .lost_ms = lost_ms,
				  .stage = stage->stage,
				  .own_ms = stage->level_ms,
				  .peers_ms = others_ms,
				  .rank = stage->lowest_rank,
				  .n_ranks = stage->n_ranks};
	out->reason = tell_stage(arena, stage, others_ms, lost_ms);
}

/* Own time of one class over its members, step by step. */
struct spread {
	double sum_ms;  /* over the steps: slowest above the median */
	size_t n_steps; /* seen by three peers or more */
	size_t n_most;  /* steps in which the rank that is slowest most often is slowest */
};

/* Scratch of all classes. */
struct spread_room {
	double *members;           /* 2 * ranks */
	double *steps;             /* 2 * steps */
	struct fsl_indexed *order; /* [steps seen]: slowest above the median, and the step */
	size_t *n_slowest;         /* [rank], zeroed */
};

/* @room->order: of the steps in turn. */
static void measure_spread(struct spread *out, const struct fsl_blame *blame, size_t k,
			   const double *usual_ms, const struct spread_room *room)
{
	const struct fsl_peers *peers = &blame->peers;
	size_t begin = peers->begin[k], n_members = peers->begin[k + 1] - begin;
	double *work = room->members;
	for (size_t m = 0; m < n_members; m++) {
		work[m] = usual_ms[peers->members[begin + m]];
	}
	double level_ms = fsl_median(work, n_members, work + n_members);
	double most_told_ms = FSL_WORK_SPREADS_MAX * blame->spread[k] * level_ms;
	for (size_t s = 0; s < blame->n_steps; s++) {
		double most_ms = -1.0;
		size_t n = 0, slowest = 0;
		for (size_t m = 0; m < n_members; m++) {
			size_t r = peers->members[begin + m];
			/* Work that a rank always has more than others does not move. */
			double ms = blame->own_ms[r * blame->n_steps + s] / usual_ms[r] * level_ms;
			if (!isnan(ms)) {
				work[n++] = ms;
				slowest = ms > most_ms ? r : slowest;
				most_ms = fmax(ms, most_ms);
			}
		}
		if (n < FSL_CLOUD_RANKS_MIN) {
			continue;
		}
		size_t *n_slowest = &room->n_slowest[slowest];
		double above_ms = most_ms - fsl_median(work, n, work + n_members);
		room->order[out->n_steps++] = (struct fsl_indexed){above_ms, (uint32_t)s};
		out->sum_ms += fmin(above_ms, most_told_ms);
		out->n_most = ++*n_slowest > out->n_most ? *n_slowest : out->n_most;
	}
}

/* Medians over the steps [begin, end) of room->order: slowest above the median, and step time. */
static void level_of_steps(double *above_ms, double *dur_ms, const struct fsl_blame *blame,
			   const struct spread_room *room, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		room->steps[i - begin] = blame->step_dur_ms[room->order[i].idx];
	}
	*dur_ms = fsl_median(room->steps, end - begin, room->steps + blame->n_steps);
	*above_ms = room->order[begin + (end - begin) / 2].value;
}

/*
 * Which part of the slowest rank's work above the median the steps become longer by, 0 to 1: the
 * third of the steps with most of it against the third with least. Gaps between operators that
 * overlap scatter more than work does, as a rank that waits beneath one operator has less left to
 * do behind it. 1 if that cannot be told.
 */
static double share_in_steps(const struct fsl_blame *blame, const struct spread *spread,
			     const struct spread_room *room)
{
	size_t n = spread->n_steps, third = n / 3;
	double low_ms = 0.0, low_dur_ms = 0.0, high_ms = 0.0, high_dur_ms = 0.0;
	if (n < FSL_WORK_STEPS_MIN) {
		return 1.0;
	}
	fsl_indexed_sort(room->order, n);
	level_of_steps(&low_ms, &low_dur_ms, blame, room, 0, third);
	level_of_steps(&high_ms, &high_dur_ms, blame, room, n - third, n);
	if (high_ms - low_ms < FSL_WORK_VARIES_MIN * high_ms) {
		return 1.0;
	}
	return fmax(0.0, fmin(1.0, (high_dur_ms - low_dur_ms) / (high_ms - low_ms)));
}

/* Another rank has most to do in each step. */
static void find_work(struct imbalance *out, const struct fsl_case *facts, struct fsl_arena *arena,
		      const double *usual_ms, const struct spread_room *room)
{
	const struct fsl_blame *blame = facts->blame;
	for (size_t k = 0; k < blame->peers.n_classes; k++) {
		struct spread spread = {.sum_ms = 0.0};
		measure_spread(&spread, blame, k, usual_ms, room);
		double n_steps = (double)spread.n_steps;
		double lost_ms = n_steps > 0.0 ? spread.sum_ms / n_steps : 0.0;
		if (!(blame->spread[k] >= FSL_WORK_TOLD_SPREAD_MIN) || lost_ms <= out->lost_ms ||
		    (double)spread.n_most > FSL_ONE_RANK_SHARE_MAX * n_steps) {
			continue;
		}
		lost_ms *= share_in_steps(blame, &spread, room);
		if (lost_ms <= out->lost_ms) {
			continue;
		}
		size_t n_ranks = blame->peers.begin[k + 1] - blame->peers.begin[k];
		*out = (struct imbalance){FSL_VERDICT_WORK_IMBALANCE, lost_ms, .n_ranks = n_ranks};
		out->reason = fsl_arena_printf(
			arena,
			"work moves between %zu ranks: own time differs by %.0f %% between them in "
			"a usual step, no rank is the slowest in more than %.0f %% of the steps, "
			"and the slowest costs %.1f ms per step",
			n_ranks, 100.0 * blame->spread[k], 100.0 * (double)spread.n_most / n_steps,
			lost_ms);
	}
}

/*
 * True if in this step and the next together most peers take as long: work at the border counts in
 * one step on some ranks and in the next on others. @excess_ms: of the rank in one of the two.
 */
static bool is_of_border(const struct fsl_blame *blame, size_t r, size_t s, double excess_ms)
{
	size_t n = 0, n_alike = 0;
	const double *own_ms = &blame->own_ms[r * blame->n_steps + s];
	for (size_t p = 0; p < blame->n_ranks && s + 1 < blame->n_steps; p++) {
		const double *peer_ms = &blame->own_ms[p * blame->n_steps + s];
		double below_ms = own_ms[0] + own_ms[1] - peer_ms[0] - peer_ms[1];
		if (p != r && blame->peers.class_of[p] == blame->peers.class_of[r] &&
		    isfinite(below_ms)) {
			n++;
			n_alike += below_ms < 0.5 * excess_ms;
		}
	}
	return 2 * n_alike > n;
}

/* The longest time in a step by which a rank exceeds its peers, and who. */
static double longest_excess(const struct fsl_blame *blame, size_t s, double least_ms, size_t *who)
{
	double most_ms = 0.0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		/* Whatever its ratio, no excess is above this one; nearly all of them are small. */
		if (!(fsl_blame_excess_ms(blame, r, s) > least_ms)) {
			continue;
		}
		double ratio = fmax(1.0, fmin(blame->healthy_ratio[r], FSL_UNEVEN_RATIO_MAX));
		size_t at = r * blame->n_steps + s;
		double excess_ms = blame->own_ms[at] - ratio * blame->reference_ms[at];
		/* A step may have several times the work; ranks then differ by as much more. */
		double times = fmax(1.0, blame->reference_ms[at] / blame->step_ms);
		double threshold_ms = times * fmax(least_ms, blame->charges[r].threshold_ms);
		if (excess_ms > threshold_ms && excess_ms > most_ms &&
		    !is_of_border(blame, r, s, excess_ms) &&
		    !(s > 0 && is_of_border(blame, r, s - 1, excess_ms))) {
			most_ms = excess_ms;
			*who = r;
		}
	}
	return most_ms;
}

/* Median time of the steps in which no rank pauses; of all steps if nearly all have a pause. */
static double step_without_pause(const struct fsl_blame *blame, double least_ms)
{
	size_t n = 0, who = 0;
	double *times = fsl_calloc(2 * blame->n_steps + 1, sizeof(*times));
	for (size_t s = 0; s < blame->n_steps && times != NULL; s++) {
		if (longest_excess(blame, s, least_ms, &who) <= 0.0) {
			times[n++] = blame->step_dur_ms[s];
		}
	}
	double usual_ms = n >= FSL_REST_STEPS_MIN ? fsl_median(times, n, times + blame->n_steps)
						  : blame->step_ms;
	fsl_free(times);
	return usual_ms;
}

/*
 * Pause of one step: the longest of all ranks, and who; at most what this step or the next one lies
 * above @usual_ms, as no pause costs more.
 */
static double pause_of_step(const struct fsl_blame *blame, size_t s, double least_ms,
			    double usual_ms, size_t *who)
{
	double next_ms = s + 1 < blame->n_steps ? blame->step_dur_ms[s + 1] : (double)NAN;
	double most_ms = fmax(blame->step_dur_ms[s], next_ms) - usual_ms; /* fmax ignores NaN */
	return fmax(0.0, fmin(most_ms, longest_excess(blame, s, least_ms, who)));
}

double fsl_fuse_pauses_ms(const struct fsl_case *facts)
{
	double sum_ms = 0.0, least_ms = fsl_least_loss_ms(facts->config, facts->blame->step_ms);
	size_t n_steps = facts->blame->n_steps, who = 0;
	double usual_ms = step_without_pause(facts->blame, least_ms);
	for (size_t s = 0; s < n_steps; s++) {
		sum_ms += pause_of_step(facts->blame, s, least_ms, usual_ms, &who);
	}
	return n_steps > 0 ? sum_ms / (double)n_steps : 0.0;
}

/* The pauses of one rank. */
struct pauses {
	size_t n;
	double ms;
};

/* Rare long times of different ranks in different steps. @pauses: per rank index, zeroed. */
static void find_pauses(struct imbalance *out, const struct fsl_case *facts,
			struct fsl_arena *arena, double least_ms, struct pauses *pauses)
{
	const struct fsl_blame *blame = facts->blame;
	size_t n_steps = 0, n_ranks = 0, n_most = 0;
	double sum_ms = 0.0, most_ms = 0.0, usual_ms = step_without_pause(blame, least_ms);
	double longest_ms[2] = {0.0, 0.0};
	for (size_t s = 0; s < blame->n_steps; s++) {
		size_t who = 0;
		double ms = pause_of_step(blame, s, least_ms, usual_ms, &who);
		if (ms > 0.0) {
			n_steps++;
			sum_ms += ms;
			longest_ms[1] = fmax(longest_ms[1], fmin(longest_ms[0], ms));
			longest_ms[0] = fmax(longest_ms[0], ms);
			n_ranks += pauses[who].n++ == 0;
			pauses[who].ms += ms;
			n_most = pauses[who].n > n_most ? pauses[who].n : n_most;
			most_ms = fmax(most_ms, pauses[who].ms);
		}
	}
	double share = (double)n_steps / (double)blame->n_steps;
	double rest_ms = sum_ms - longest_ms[0] - longest_ms[1];
	if (n_steps < FSL_REPEATED_STEPS_MIN || n_ranks < 2 ||
	    rest_ms < FSL_PAUSES_REST_MIN * sum_ms ||
	    (double)n_most > FSL_PAUSE_RANK_SHARE_MAX * (double)blame->n_steps ||
	    (double)n_most > FSL_ONE_RANK_SHARE_MAX * (double)n_steps ||
	    most_ms > FSL_ONE_RANK_COST_MAX * sum_ms) {
		return;
	}
	double lost_ms = sum_ms / (double)blame->n_steps;
	*out = (struct imbalance){FSL_VERDICT_HOST_PAUSES, lost_ms, .n_ranks = n_ranks};
	out->reason =
		fsl_arena_printf(arena,
				 "%zu ranks pause in turn: %.0f %% of the steps have one "
				 "rank that takes %.0f ms longer on average, which costs %.1f "
				 "ms per step",
				 n_ranks, 100.0 * share, sum_ms / (double)n_steps, lost_ms);
}

/* One entry stands for the whole stage. */
static enum fsl_status name_stage(struct fsl_localisation *out, const struct fsl_case *facts,
				  const struct imbalance *found, struct fsl_error *err)
{
	struct fsl_culprit culprit = fsl_culprit_of(found->rank);
	const struct fsl_rank *rank = fsl_run_rank(facts->run, found->rank);
	culprit.stage = found->stage;
	culprit.server_ip = rank != NULL ? rank->server_ip : "localhost";
	culprit.cause = FSL_CAUSE_COMPUTE;
	culprit.lost_ms_per_step = found->lost_ms;
	culprit.share_of_loss = 1.0;
	culprit.confidence = FSL_CONFIDENCE_IMBALANCE;
	culprit.reason = found->reason;
	fsl_culprit_add_fact(&culprit, "own", found->own_ms, "ms");
	fsl_culprit_add_fact(&culprit, "peers", found->peers_ms, "ms");
	fsl_culprit_add_known(&culprit, FSL_FACT_OWN_RATIO, found->own_ms / found->peers_ms);
	fsl_culprit_add_fact(&culprit, "ranks", (double)found->n_ranks, "count");
	return FSL_APPEND(out, culprits, &culprit, err);
}

/*
 * True if the step time rose by pauses alone: without them, the steps of every rise take as long as
 * the steps before it. @work: 2 * steps.
 */
static bool are_rises_pauses(const struct fsl_case *facts, double least_ms, double *work)
{
	const struct fsl_perception *perception = facts->perception;
	const struct fsl_blame *blame = facts->blame;
	double usual_ms = step_without_pause(blame, least_ms);
	for (size_t i = 0; i < perception->n_episodes; i++) {
		const struct fsl_step_episode *rise = &perception->episodes[i];
		size_t n = 0, who = 0;
		for (size_t s = 0; s < blame->n_steps; s++) {
			int64_t step = facts->steps->items[s].step;
			if (step >= rise->onset_step &&
			    (rise->until_step < 0 || step < rise->until_step)) {
				work[n++] = blame->step_dur_ms[s] -
					    pause_of_step(blame, s, least_ms, usual_ms, &who);
			}
		}
		if (!(fsl_median(work, n, work + n) < rise->before_ms + least_ms)) {
			return false;
		}
	}
	return true;
}

/* The step time that a loss is part of: a mean loss, of work that moves and of pauses, is part of
 * the mean, which these lengthen more than the usual one. */
static double step_of_loss_ms(const struct fsl_blame *blame, enum fsl_verdict_kind kind)
{
	double sum_ms = 0.0;
	if (kind == FSL_VERDICT_STAGE_IMBALANCE) {
		return blame->step_ms;
	}
	for (size_t s = 0; s < blame->n_steps; s++) {
		sum_ms += blame->step_dur_ms[s];
	}
	return sum_ms / (double)blame->n_steps;
}

enum fsl_status fsl_fuse_imbalance(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	size_t n_ranks = facts->blame->n_ranks, n_steps = facts->blame->n_steps;
	double least_ms = fsl_least_loss_ms(facts->config, facts->blame->step_ms);
	struct imbalance found[3] = {{.lost_ms = 0.0}}, *most = &found[0];
	struct fsl_arena scratch = {0};
	enum fsl_status status = FSL_OK;
	struct place *places = fsl_arena_alloc(&scratch, n_ranks * sizeof(*places));
	struct stage_level *stages = fsl_arena_alloc(&scratch, n_ranks * sizeof(*stages));
	struct spread_room room = {
		.members = fsl_arena_alloc(&scratch, 2 * n_ranks * sizeof(*room.members)),
		.steps = fsl_arena_alloc(&scratch, 2 * n_steps * sizeof(*room.steps)),
		.order = fsl_arena_alloc(&scratch, n_steps * sizeof(*room.order)),
		.n_slowest = fsl_arena_alloc(&scratch, n_ranks * sizeof(*room.n_slowest))};
	struct pauses *pauses = fsl_arena_alloc(&scratch, n_ranks * sizeof(*pauses));
	double *usual_ms = fsl_arena_alloc(&scratch, n_ranks * sizeof(*usual_ms));
	double *work = fsl_arena_alloc(&scratch, 2 * (n_steps + n_ranks) * sizeof(*work));
	if (places == NULL || stages == NULL || pauses == NULL || usual_ms == NULL ||
	    work == NULL || room.members == NULL || room.steps == NULL || room.order == NULL ||
	    room.n_slowest == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_ranks);
		goto out;
	}
	for (size_t r = 0; r < n_ranks; r++) {
		usual_ms[r] = fsl_median(facts->blame->own_ms + r * n_steps, n_steps, work);
	}
	find_stage(&found[0], facts, &out->arena, places, stages, usual_ms);
	find_work(&found[1], facts, &out->arena, usual_ms, &room);
	if (found[1].lost_ms < least_ms) { /* else the slowest of some steps looks like a pause */
		find_pauses(&found[2], facts, &out->arena, least_ms, pauses);
	}
	for (size_t i = 1; i < sizeof(found) / sizeof(found[0]); i++) {
		most = found[i].lost_ms > most->lost_ms ? &found[i] : most;
	}
	double step_ms = step_of_loss_ms(facts->blame, most->kind);
	bool is_found = most->lost_ms >= least_ms && most->lost_ms < step_ms;
	if (out->kind == FSL_VERDICT_JOB_SLOWDOWN) {
		is_found &= most->kind == FSL_VERDICT_HOST_PAUSES &&
			    are_rises_pauses(facts, least_ms, work);
	}
	if (is_found) {
		out->kind = most->kind;
		out->reason = most->reason;
		out->confidence = FSL_CONFIDENCE_IMBALANCE;
		out->lost_ms_per_step = most->lost_ms;
		out->step_ms = step_ms;
		FSL_ASSERT(most->lost_ms > 0.0 && most->reason != NULL);
		out->slowdown = step_ms / (step_ms - most->lost_ms);
		status = most->kind == FSL_VERDICT_STAGE_IMBALANCE
				 ? name_stage(out, facts, most, err)
				 : FSL_OK;
	}
out:
	fsl_arena_fini(&scratch);
	return status;
}
