/*
 * Pipelines: a stage that the engine found to compute longer than the others, which is how the work
 * is cut and no fault of a rank; and the time that ranks spend in sends and receives, their waits
 * for each other.
 */
#include <math.h>
#include <stdio.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/limits.h"
#include "capture/step_rows.h"
#include "judge/finding.h"

enum { TEXT_MAX = 1024, RANKS_TOLD_MAX = 8 };

/* Least, mean and greatest of the ranks of a stage, ms per step; n 0: no rank tells. */
struct level {
	double least_ms, mean_ms, most_ms;
	size_t n;
};

static void add_to_level(struct level *level, double ms)
{
	if (isnan(ms)) {
		return;
	}
	level->least_ms = level->n == 0 ? ms : fmin(level->least_ms, ms);
	level->most_ms = level->n == 0 ? ms : fmax(level->most_ms, ms);
	level->n++;
	level->mean_ms += (ms - level->mean_ms) / (double)level->n;
}

/* "2, 3" or "2 to 65 (64 ranks)" */
static void list_ranks(char *text, size_t size, const struct fsl_profile_stage *stage)
{
	size_t at = 0;
	if (stage->n_ranks > RANKS_TOLD_MAX) {
		(void)snprintf(text, size, "%d to %d, %zu ranks", (int)stage->ranks[0],
			       (int)stage->ranks[stage->n_ranks - 1], stage->n_ranks);
		return;
	}
	for (size_t i = 0; i < stage->n_ranks && at < size; i++) {
		int n = snprintf(text + at, size - at, "%s%d", i > 0 ? ", " : "",
				 (int)stage->ranks[i]);
		at += n > 0 ? (size_t)n : 0;
	}
}

static enum fsl_status judge_computing(struct fsl_profile_findings *findings,
				       const struct fsl_profile_case *facts, struct fsl_error *err)
{
	const struct fsl_long_stage *found = &facts->places->places.long_stage;
	if (found->stage == SIZE_MAX) {
		return FSL_OK;
	}
	char ranks[TEXT_MAX / 4], inside[TEXT_MAX / 4], saves[TEXT_MAX / 8] = "", what[TEXT_MAX];
	list_ranks(ranks, sizeof(ranks), &facts->cluster->stages[found->stage]);
	(void)snprintf(inside, sizeof(inside), "inside the stages ranks differ by %.2f %% at most",
		       100.0 * found->spread);
	if (found->n_ranks == 1) {
		(void)snprintf(inside, sizeof(inside),
			       "as one rank of the stage was captured, a slow device would look "
			       "the same");
	}
	double even_ms = facts->places->places.even_ms;
	if (!isnan(even_ms)) {
		(void)snprintf(saves, sizeof(saves), "even stages would save %.1f ms of a step; ",
			       even_ms);
	}
	(void)snprintf(what, sizeof(what),
		       "pipeline stage %zu (ranks %s) computes %.1f ms a step, %s %.1f ms: %.2f "
		       "times as much; %s%s",
		       found->stage, ranks, found->computing_ms,
		       found->n_stages == 2 ? "the other stage" : "the other stages on average",
		       found->others_ms, found->computing_ms / found->others_ms, saves, inside);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_STAGE_IMBALANCE);
	finding.gain_ms = even_ms;
	finding.what = what;
	finding.advice =
		"move layers (or the embedding and the loss) from this stage to the others";
	(void)fsl_profile_finding_add_fact(&finding, "stage", (double)found->stage, "count");
	(void)fsl_profile_finding_add_fact(&finding, "computing", found->computing_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "others", found->others_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "times_the_others",
					   found->computing_ms / found->others_ms, "ratio");
	(void)fsl_profile_finding_add_fact(&finding, "spread_in_stages", found->spread, "share");
	(void)fsl_profile_finding_add_known(&finding, FSL_FACT_RANKS, (double)found->n_ranks);
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Time in sends and receives of all ranks, or per stage. */
struct p2p {
	struct level all;
	double step_ms; /* greatest of the ranks */
	double told_ms; /* greatest that the profiler calls bubble; NaN: it tells none */
	const char *separator;
	size_t n_text;
	char text[TEXT_MAX];
};

static double told_bubble_ms(const struct fsl_profile_rank *rank)
{
	size_t n = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n);
	double sum_ms = 0.0;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].bubble_ns == FSL_NS_ABSENT) {
			return NAN;
		}
		sum_ms += (double)rows[i].bubble_ns / FSL_NS_PER_MS;
	}
	return n > 0 ? sum_ms / (double)n : NAN;
}

static void add_p2p_text(struct p2p *p2p, const char *whose, size_t number,
			 const struct level *level)
{
	if (p2p->n_text >= sizeof(p2p->text) || level->n == 0) {
		return;
	}
	int n = level->n == 1 ? snprintf(p2p->text + p2p->n_text, sizeof(p2p->text) - p2p->n_text,
					 "%s%s %zu %.1f ms", p2p->separator, whose, number,
					 level->mean_ms)
			      : snprintf(p2p->text + p2p->n_text, sizeof(p2p->text) - p2p->n_text,
					 "%s%s %zu %.1f to %.1f ms", p2p->separator, whose, number,
					 level->least_ms, level->most_ms);
	p2p->n_text += n > 0 ? (size_t)n : 0;
	p2p->separator = ", ";
}

/* Time in sends and receives of a rank, ms per step; NaN: not told. Ranks of a ring wait for each
 * other in them, and for no stage. */
static double stage_p2p_ms(const struct fsl_profile_case *facts,
			   const struct fsl_profile_rank *rank)
{
	const struct fsl_places *places = &facts->places->places;
	size_t r = (size_t)(rank - facts->profile->ranks);
	return r < places->n_ranks && places->ranks[r].is_in_ring ? (double)NAN
								  : fsl_profile_p2p_ms(rank);
}

static void measure_p2p(struct p2p *p2p, const struct fsl_profile_case *facts)
{
	const struct fsl_profile *profile = facts->profile;
	bool is_short = profile->n_ranks <= RANKS_TOLD_MAX;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		struct level own = {0};
		add_to_level(&own, stage_p2p_ms(facts, &profile->ranks[r]));
		add_to_level(&p2p->all, stage_p2p_ms(facts, &profile->ranks[r]));
		p2p->step_ms = fmax(p2p->step_ms, fsl_profile_step_ms(&profile->ranks[r]));
		p2p->told_ms = fmax(p2p->told_ms, told_bubble_ms(&profile->ranks[r]));
		if (is_short && own.n > 0) {
			add_p2p_text(p2p, "rank", (size_t)profile->ranks[r].rank, &own);
		}
	}
	for (size_t s = 0; s < facts->cluster->n_stages && !is_short; s++) {
		const struct fsl_profile_stage *stage = &facts->cluster->stages[s];
		struct level level = {0};
		for (size_t i = 0; i < stage->n_ranks; i++) {
			const struct fsl_profile_rank *rank =
				fsl_profile_rank_of(profile, stage->ranks[i]);
			add_to_level(&level, rank != NULL ? stage_p2p_ms(facts, rank) : NAN);
		}
		add_p2p_text(p2p, "stage", s, &level);
	}
}

static enum fsl_status judge_p2p(struct fsl_profile_findings *findings,
				 const struct fsl_profile_case *facts, struct fsl_error *err)
{
	struct p2p p2p = {.told_ms = NAN, .separator = ""};
	measure_p2p(&p2p, facts);
	if (p2p.all.n == 0 || p2p.all.most_ms <= 0.0 ||
	    p2p.all.most_ms < fsl_look_effect_min(&facts->look, FSL_CAPTURE_TRANSFER_SHARE_MIN) *
				      p2p.step_ms) {
		return FSL_OK;
	}
	char of_step[64] = "", told[128] = "", what[TEXT_MAX + 256];
	if (p2p.step_ms > 0.0) {
		(void)snprintf(of_step, sizeof(of_step), " of %.1f ms a step", p2p.step_ms);
	}
	if (p2p.told_ms < FSL_CAPTURE_TRANSFER_SHARE_MIN * p2p.all.most_ms) {
		(void)snprintf(told, sizeof(told),
			       "; the profiler's Bubble says %.1f ms, it leaves batched ones out",
			       p2p.told_ms);
	}
	(void)snprintf(what, sizeof(what), "time in pipeline sends and receives%s: %s%s", of_step,
		       p2p.n_text > 0 ? p2p.text : "up to the longest step", told);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_PIPELINE_BUBBLE);
	finding.what = what;
	finding.advice = "more micro-batches, or stages of equal length, shorten these waits";
	(void)fsl_profile_finding_add_fact(&finding, "p2p_longest", p2p.all.most_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "p2p_mean", p2p.all.mean_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "p2p_shortest", p2p.all.least_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "step", p2p.step_ms, "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_stage_imbalance(struct fsl_profile_findings *findings,
						  const struct fsl_profile_case *facts,
						  struct fsl_error *err)
{
	FSL_TRY(judge_computing(findings, facts, err));
	return judge_p2p(findings, facts, err);
}
