/* Pages of an evaluation: its summary, the limits of a release, wrong jobs, and all jobs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/language.h"
#include "base/try.h"
#include "eval/eval_report.h"
#include "eval/families.h"

enum { LABELS_MAX = 64 };
static const double alarm_confidence = 0.95;

/* Writes one row of a table of scores. */
static enum fsl_status put_scores(struct fsl_page *page, const struct fsl_eval *eval, int answerer,
				  const char *label, const struct fsl_eval_subset *subset,
				  struct fsl_error *err)
{
	struct fsl_eval_figures figures;
	FSL_TRY(fsl_eval_figure(&figures, eval, answerer, subset, err));
	const struct fsl_eval_tally *tally = &figures.tally;
	struct fsl_eval_prf ranks = fsl_eval_rank_prf(tally);
	fsl_page_cell(page, "%s", label);
	fsl_page_cell(page, "%llu", (unsigned long long)tally->n_jobs);
	fsl_page_percent(
		page, fsl_eval_share(tally->n_alarms_right + tally->n_alarms_false, tally->n_jobs));
	fsl_page_percent(page, fsl_eval_share(tally->n_kind_right, tally->n_jobs));
	fsl_page_percent(page, ranks.precision);
	fsl_page_percent(page, ranks.recall);
	fsl_page_percent(page, ranks.f1);
	fsl_page_percent(page, fsl_eval_share(tally->n_exact, tally->n_jobs));
	fsl_page_percent(page, fsl_eval_share(tally->n_top1, tally->n_top1_asked));
	fsl_page_percent(page, fsl_eval_share(tally->n_cause_right, tally->n_cause_asked));
	fsl_page_cell(page, figures.n_onsets > 0 ? "%.0f" : "-", figures.onset_p95_steps);
	fsl_page_cell(page, "%llu", (unsigned long long)tally->n_insufficient);
	return FSL_OK;
}

static void begin_scores(struct fsl_page *page, const char *first)
{
	fsl_page_table_of(page, first,
			  "jobs|alarm|verdict|rank P|rank R|F1|exact|top-1|cause|onset|insuff.");
}

static enum fsl_status put_axis(struct fsl_page *page, const struct fsl_eval *eval,
				const struct fsl_eval_axis *axis, struct fsl_error *err)
{
	char labels[LABELS_MAX][FSL_EVAL_TEXT_MAX];
	char heading[80];
	size_t n = fsl_eval_labels(labels, LABELS_MAX, eval, axis);
	if (n == 0) {
		return FSL_OK;
	}
	snprintf(heading, sizeof(heading), "Jobs by %s", axis->name);
	fsl_page_heading(page, heading);
	begin_scores(page, axis->name);
	for (size_t i = 0; i < n; i++) {
		struct fsl_eval_subset subset = {axis, labels[i], 0};
		FSL_TRY(put_scores(page, eval, FSL_EVAL_ENGINE, labels[i], &subset, err));
	}
	fsl_page_table_end(page);
	return FSL_OK;
}

/* Writes the classes of strength, in the order of their weight. */
static enum fsl_status put_headline(struct fsl_page *page, const struct fsl_eval *eval,
				    struct fsl_error *err)
{
	static const char *const labels[FSL_EVAL_STRENGTHS_N] = {
		[FSL_EVAL_CLEAN] = "clean: no fault",
		[FSL_EVAL_STRONG] = N_("strong: >= 10 % for >= 50 steps"),
		[FSL_EVAL_MIDDLE] = N_("middle: 5 to 10 % for >= 50 steps"),
		[FSL_EVAL_WEAK] = N_("weak: < 5 % for >= 50 steps"),
		[FSL_EVAL_SHORT] = N_("short: < 50 steps"),
		[FSL_EVAL_STOP] = "stop: hang, missing",
	};
	struct fsl_told room;
	begin_scores(page, fsl_page_tell(page, N_("faults"), &room));
	for (size_t i = 0; i < FSL_EVAL_STRENGTHS_N; i++) {
		struct fsl_eval_subset subset = {NULL, NULL, UINT32_C(1) << i};
		FSL_TRY(put_scores(page, eval, FSL_EVAL_ENGINE,
				   fsl_page_tell(page, labels[i], &room), &subset, err));
	}
	struct fsl_eval_subset all = {NULL, NULL, 0};
	FSL_TRY(put_scores(page, eval, FSL_EVAL_ENGINE, fsl_page_tell(page, N_("all jobs"), &room),
			   &all, err));
	fsl_page_table_end(page);
	return FSL_OK;
}

static void put_alarms(struct fsl_page *page, const struct fsl_eval_tally *tally)
{
	if (tally->n_clean == 0) {
		return;
	}
	double upper = fsl_eval_poisson_upper(tally->n_alarms_false, alarm_confidence);
	fsl_page_printf(page,
			"False alarms: %llu in %llu clean jobs of %.1f job-days: %.3f a job-day "
			"(95 %% bound %.3f), %.2f per 1,000 ranks\n",
			(unsigned long long)tally->n_alarms_false,
			(unsigned long long)tally->n_clean, tally->clean_days,
			(double)tally->n_alarms_false / tally->clean_days,
			upper / tally->clean_days,
			1000.0 * (double)tally->n_alarms_false / (double)tally->n_clean_ranks);
}

/* A figure as text, for a sentence. */
struct figure {
	char text[32];
};

/* Text of a figure; "-" if no job asks for it. */
static struct figure figure(double value, int n_decimals)
{
	struct figure shown = {"-"};
	if (value == value) {
		(void)snprintf(shown.text, sizeof(shown.text), "%.*f", n_decimals, value);
	}
	return shown;
}

static enum fsl_status put_lines(struct fsl_page *page, const struct fsl_eval *eval,
				 struct fsl_error *err)
{
	struct fsl_eval_figures all, sized;
	struct fsl_eval_subset every = {NULL, NULL, 0};
	struct fsl_eval_subset measured = {
		NULL, NULL, UINT32_C(1) << FSL_EVAL_STRONG | UINT32_C(1) << FSL_EVAL_MIDDLE};
	FSL_TRY(fsl_eval_figure(&all, eval, FSL_EVAL_ENGINE, &every, err));
	FSL_TRY(fsl_eval_figure(&sized, eval, FSL_EVAL_ENGINE, &measured, err));
	struct fsl_eval_prf jobs = fsl_eval_job_prf(&all.tally);
	double least = fsl_eval_least_found(eval, FSL_EVAL_ENGINE);
	fsl_page_printf(page, "\nJobs told from clean ones: precision %s, recall %s, F1 %s\n",
			figure(jobs.precision, 3).text, figure(jobs.recall, 3).text,
			figure(jobs.f1, 3).text);
	put_alarms(page, &all.tally);
	fsl_page_printf(page, "Onset error: median %s, 95th percentile %s steps (%zu jobs)\n",
			figure(all.onset_median_steps, 0).text, figure(all.onset_p95_steps, 0).text,
			all.n_onsets);
	fsl_page_printf(page,
			"Slowdown error (strong and middle): median %s, 95th percentile %s "
			"(%zu jobs)\n",
			figure(sized.slowdown_median, 4).text, figure(sized.slowdown_p95, 4).text,
			sized.n_slowdowns);
	fsl_page_printf(page, "Macro F1 of causes (strong and middle): %s\n",
			figure(fsl_eval_causes_macro_f1(&sized.causes), 3).text);
	if (least == least) {
		fsl_page_printf(page, "Least slowdown found with a rank recall of 95 %%: %.0f %%\n",
				100.0 * least);
	}
	return FSL_OK;
}

static void put_causes(struct fsl_page *page, const struct fsl_eval_causes *causes)
{
	struct fsl_told room;
	const char *headings[FSL_EVAL_CAUSES_N + 1] = {fsl_page_tell(page, "true cause", &room)};
	for (size_t c = 0; c < FSL_EVAL_CAUSES_N; c++) {
		headings[c + 1] = fsl_eval_cause_text(c);
	}
	fsl_page_heading(page, "Causes, true by told (told none: nobody or a wrong rank first)");
	fsl_page_table(page, headings, FSL_EVAL_CAUSES_N + 1);
	for (size_t truly = 0; truly < FSL_EVAL_CAUSES_N; truly++) {
		fsl_page_cell(page, "%s", fsl_eval_cause_text(truly));
		for (size_t told = 0; told < FSL_EVAL_CAUSES_N; told++) {
			fsl_page_cell(page, "%llu", (unsigned long long)causes->n[truly][told]);
		}
	}
	fsl_page_table_end(page);
}

static void put_kinds(struct fsl_page *page, const struct fsl_eval_kinds *kinds)
{
	static const char *const shorts[FSL_VERDICTS_OF_JOBS_N] = {
		[FSL_VERDICT_NORMAL] = "normal",
		[FSL_VERDICT_SLOW_RANK] = "rank",
		[FSL_VERDICT_SLOW_HOST] = "host",
		[FSL_VERDICT_SLOW_LINK] = "link",
		[FSL_VERDICT_STAGE_IMBALANCE] = "stage",
		[FSL_VERDICT_WORK_IMBALANCE] = "work",
		[FSL_VERDICT_JOB_SLOWDOWN] = "job",
		[FSL_VERDICT_HOST_PAUSES] = "pauses",
		[FSL_VERDICT_STALLS] = "stalls",
		[FSL_VERDICT_HANG] = "hang",
		[FSL_VERDICT_INSUFFICIENT_EVIDENCE] = "insuff.",
	};
	struct fsl_told room;
	const char *headings[FSL_VERDICTS_OF_JOBS_N + 1] = {
		fsl_page_tell(page, "expected verdict", &room)};
	memcpy(headings + 1, shorts, sizeof(shorts));
	fsl_page_heading(page, "Verdicts, expected by told (an accepted one stands as expected)");
	fsl_page_table(page, headings, FSL_VERDICTS_OF_JOBS_N + 1);
	for (size_t truly = 0; truly < FSL_VERDICTS_OF_JOBS_N; truly++) {
		uint64_t n = 0;
		for (size_t told = 0; told < FSL_VERDICTS_OF_JOBS_N; told++) {
			n += kinds->n[truly][told];
		}
		if (n == 0) {
			continue;
		}
		fsl_page_cell(page, "%s", fsl_verdict_text((enum fsl_verdict_kind)truly));
		for (size_t told = 0; told < FSL_VERDICTS_OF_JOBS_N; told++) {
			fsl_page_cell(page, "%llu", (unsigned long long)kinds->n[truly][told]);
		}
	}
	fsl_page_table_end(page);
}

/* Writes the engine and the baselines, on the same jobs. */
static enum fsl_status put_baselines(struct fsl_page *page, const struct fsl_eval *eval,
				     struct fsl_error *err)
{
	if (eval->n_baselines == 0) {
		return FSL_OK;
	}
	fsl_page_heading(page, "Against baselines, on the same jobs");
	fsl_page_table_of(
		page, NULL,
		"method|rank P|rank R|F1|strong P|strong R|strong F1|top-1|exact|false alarms/day");
	for (int a = FSL_EVAL_ENGINE; a < (int)eval->n_baselines; a++) {
		struct fsl_eval_figures all, strong;
		struct fsl_eval_subset every = {NULL, NULL, 0};
		struct fsl_eval_subset hard = {NULL, NULL, UINT32_C(1) << FSL_EVAL_STRONG};
		FSL_TRY(fsl_eval_figure(&all, eval, a, &every, err));
		FSL_TRY(fsl_eval_figure(&strong, eval, a, &hard, err));
		struct fsl_eval_prf ranks = fsl_eval_rank_prf(&all.tally);
		struct fsl_eval_prf strongs = fsl_eval_rank_prf(&strong.tally);
		fsl_page_cell(page, "%s",
			      a == FSL_EVAL_ENGINE ? "failslow" : eval->baselines[a].name);
		fsl_page_percent(page, ranks.precision);
		fsl_page_percent(page, ranks.recall);
		fsl_page_percent(page, ranks.f1);
		fsl_page_percent(page, strongs.precision);
		fsl_page_percent(page, strongs.recall);
		fsl_page_percent(page, strongs.f1);
		fsl_page_percent(page,
				 fsl_eval_share(strong.tally.n_top1, strong.tally.n_top1_asked));
		fsl_page_percent(page, fsl_eval_share(strong.tally.n_exact, strong.tally.n_jobs));
		fsl_page_cell(page, all.tally.n_clean > 0 ? "%.2f" : "-",
			      (double)all.tally.n_alarms_false / all.tally.clean_days);
	}
	fsl_page_table_end(page);
	return FSL_OK;
}

static void put_opening(struct fsl_page *page, const struct fsl_eval *eval)
{
	if (page->is_markdown) {
		fsl_page_printf(page, "# Accuracy on simulated jobs\n\n");
	}
	fsl_page_printf(page, "%zu simulated jobs of preset %s", eval->n_done,
			eval->selection.preset);
	if (eval->selection.seed_to >= 0) {
		fsl_page_printf(page, ", seeds %lld to %lld", (long long)eval->selection.seed_from,
				(long long)eval->selection.seed_to);
	} else {
		fsl_page_printf(page, ", seeds from %lld", (long long)eval->selection.seed_from);
	}
	if (eval->n_done < eval->n_tasks) {
		fsl_page_printf(page, " (ended early: %zu of %zu jobs)", eval->n_done,
				eval->n_tasks);
	}
	fsl_page_printf(page, "\n");
}

enum fsl_status fsl_eval_summary(struct fsl_page *page, const struct fsl_eval *eval,
				 struct fsl_error *err)
{
	struct fsl_eval_figures all;
	struct fsl_eval_subset every = {NULL, NULL, 0};
	put_opening(page, eval);
	if (fsl_eval_has(eval, true)) {
		fsl_eval_put_families(page, eval);
	}
	if (!fsl_eval_has(eval, false)) {
		return FSL_OK;
	}
	fsl_page_printf(page, "\n");
	FSL_TRY(put_headline(page, eval, err));
	FSL_TRY(put_lines(page, eval, err));
	for (size_t i = 0; strcmp(fsl_eval_axes[i].name, "strength") != 0; i++) {
		FSL_TRY(put_axis(page, eval, &fsl_eval_axes[i], err));
	}
	FSL_TRY(fsl_eval_figure(&all, eval, FSL_EVAL_ENGINE, &every, err));
	put_kinds(page, &all.kinds);
	put_causes(page, &all.causes);
	return put_baselines(page, eval, err);
}

/* A limit on the figures of one class of strength. */
struct gate {
	const char *what;
	enum fsl_eval_strength strength;
	double (*measure)(const struct fsl_eval_figures *figures);
	bool is_ceiling; /* true: at most @limit; false: at least */
	double limit;
};

static double rank_precision(const struct fsl_eval_figures *figures)
{
	return fsl_eval_rank_prf(&figures->tally).precision;
}

static double rank_recall(const struct fsl_eval_figures *figures)
{
	return fsl_eval_rank_prf(&figures->tally).recall;
}

static double top1(const struct fsl_eval_figures *figures)
{
	return fsl_eval_share(figures->tally.n_top1, figures->tally.n_top1_asked);
}

static double cause(const struct fsl_eval_figures *figures)
{
	return fsl_eval_share(figures->tally.n_cause_right, figures->tally.n_cause_asked);
}

static double alarms_per_day(const struct fsl_eval_figures *figures)
{
	const struct fsl_eval_tally *tally = &figures->tally;
	return tally->clean_days > 0.0 ? (double)tally->n_alarms_false / tally->clean_days
				       : (double)NAN;
}

static const struct gate gates[] = {
	{"strong: rank precision", FSL_EVAL_STRONG, rank_precision, false, 0.98},
	{"strong: rank recall", FSL_EVAL_STRONG, rank_recall, false, 0.98},
	{"strong: first rank right", FSL_EVAL_STRONG, top1, false, 0.99},
	{"strong: cause right", FSL_EVAL_STRONG, cause, false, 0.95},
	{"middle: rank precision", FSL_EVAL_MIDDLE, rank_precision, false, 0.98},
	{"middle: rank recall", FSL_EVAL_MIDDLE, rank_recall, false, 0.80},
	{"clean: false alarms per job-day", FSL_EVAL_CLEAN, alarms_per_day, true, 0.05},
};

enum fsl_status fsl_eval_gates(struct fsl_page *page, const struct fsl_eval *eval, bool *passed,
			       struct fsl_error *err)
{
	struct fsl_told room;
	size_t n_measured = 0;
	bool are_kept = true;
	fsl_page_heading(page, N_("Gates"));
	fsl_page_table_of(page, NULL, N_("gate|limit|measured|result"));
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		const struct gate *gate = &gates[i];
		struct fsl_eval_figures figures;
		struct fsl_eval_subset subset = {NULL, NULL, UINT32_C(1) << gate->strength};
		FSL_TRY(fsl_eval_figure(&figures, eval, FSL_EVAL_ENGINE, &subset, err));
		double value = gate->measure(&figures);
		bool is_missed = gate->is_ceiling ? value > gate->limit : value < gate->limit;
		fsl_page_cell(page, "%s", fsl_page_tell(page, gate->what, &room));
		fsl_page_cell(page, gate->is_ceiling ? "<= %.2f" : ">= %.2f", gate->limit);
		fsl_page_cell(page, value == value ? "%.3f" : "-", value);
		const char *result =
			value != value ? "no such job" : (is_missed ? N_("MISSED") : N_("kept"));
		fsl_page_cell(page, "%s", fsl_page_tell(page, result, &room));
		are_kept = are_kept && !is_missed;
		n_measured += value == value;
	}
	fsl_page_table_end(page);
	if (n_measured == 0) {
		fsl_page_printf(page, "\nNo gate was checked: none of the jobs is of a kind that a "
				      "gate looks at.\n");
	}
	*passed = are_kept && n_measured > 0;
	return FSL_OK;
}

static void put_wrong(struct fsl_page *page, const struct fsl_eval_result *result)
{
	const struct fsl_eval_task *task = result->task;
	fsl_page_printf(page, "\njob %zu: %s, %s, %s, slowdown %.3f, %s%s\n", task->idx,
			task->scenario->name, task->topology->name,
			fsl_eval_strength_text(result->strength), result->truth.slowdown,
			fsl_eval_condition_text(task->condition),
			task->is_from_start ? ", from the first step" : "");
	fsl_page_printf(page, "  expected: %s, culprits [%s]\n",
			fsl_verdict_text(result->truth.kind), result->culprits);
	fsl_page_printf(
		page, "  told:     %s, named [%s], cause %s: %s\n",
		result->marks.has_failed ? "no answer" : fsl_verdict_text(result->marks.kind),
		result->named,
		result->marks.cause >= 0 ? fsl_cause_text((enum fsl_cause)result->marks.cause)
					 : "none",
		result->reason);
	fsl_page_printf(page, "  failslow simulate job-%zu %s\n", task->idx, result->parameters);
	fsl_page_printf(page, "  failslow detect --now %lld --output job-%zu-out job-%zu\n",
			(long long)result->now_ns, task->idx, task->idx);
}

void fsl_eval_list_wrong(struct fsl_page *page, const struct fsl_eval *eval)
{
	size_t n = 0;
	for (size_t i = 0; i < eval->n_tasks; i++) {
		n += eval->results[i].is_done && fsl_eval_is_wrong(&eval->results[i].marks);
	}
	fsl_page_heading(page, "Wrong jobs");
	fsl_page_printf(page, "%zu of %zu jobs\n", n, eval->n_done);
	for (size_t i = 0; i < eval->n_tasks; i++) {
		if (eval->results[i].is_done && fsl_eval_is_wrong(&eval->results[i].marks)) {
			put_wrong(page, &eval->results[i]);
		}
	}
}

/* Writes a number; empty if it is unknown. */
static void put_number(struct fsl_page *page, double value)
{
	if (value == value) {
		fsl_page_printf(page, "%.4f,", value);
	} else {
		fsl_page_printf(page, ",");
	}
}

static void put_job(struct fsl_page *page, const struct fsl_eval_result *result)
{
	const struct fsl_eval_task *task = result->task;
	const struct fsl_eval_marks *marks = &result->marks;
	fsl_page_printf(
		page, "%zu,%s,%s,%d,%d,%lld,%llu,%g,%d,%s,%s,%s,", task->idx, task->scenario->name,
		task->topology->name, (int)task->n_ranks, (int)task->n_steps, (long long)task->seed,
		(unsigned long long)task->random, 100.0 * task->magnitude,
		(int)task->duration_steps, task->is_from_start ? "true" : "false",
		fsl_eval_condition_text(task->condition), fsl_eval_strength_text(result->strength));
	put_number(page, result->truth.slowdown);
	put_number(page, result->slowdown_told);
	fsl_page_printf(page, "%s,%s,%s,%s,", fsl_verdict_text(result->truth.kind),
			fsl_verdict_text(marks->kind), result->culprits, result->named);
	fsl_page_printf(
		page, "%s,%s,",
		result->truth.cause >= 0 ? fsl_cause_text((enum fsl_cause)result->truth.cause) : "",
		marks->cause >= 0 ? fsl_cause_text((enum fsl_cause)marks->cause) : "");
	put_number(page, marks->onset_error_steps);
	fsl_page_printf(page, "%u,%u,%u,%d,%d,%d,%d,", marks->n_hit, marks->n_missed,
			marks->n_wrong, marks->is_alarm, marks->is_kind_right, marks->is_exact,
			marks->has_failed);
	put_number(page, result->confidence);
	fsl_page_printf(page, "\"%s\"\n", result->parameters);
}

void fsl_eval_jobs_csv(struct fsl_page *page, const struct fsl_eval *eval)
{
	fsl_page_printf(
		page, "job,fault,topology,ranks,steps,seed,random,magnitude_percent,duration,"
		      "from_start,condition,strength,slowdown,slowdown_told,verdict_expected,"
		      "verdict,culprits,named,cause_true,cause,onset_error_steps,hit,missed,wrong,"
		      "alarm,verdict_right,exact,failed,confidence,simulate\n");
	for (size_t i = 0; i < eval->n_tasks; i++) {
		if (eval->results[i].is_done) {
			put_job(page, &eval->results[i]);
		}
	}
}
