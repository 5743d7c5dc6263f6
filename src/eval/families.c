/* Sums and tables of the jobs of families. */
#include "eval/families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/eval_report.h"

/* A fault counts if it costs this share of the step. */
static const double counted_cost = 0.035;
static const double confidence_from[FSL_EVAL_CONFIDENCES_N] = {0.0, 0.5, 0.7, 0.9};

enum fsl_eval_outcome fsl_eval_outcome_of(const struct fsl_eval_result *result)
{
	const struct fsl_eval_marks *marks = &result->marks;
	bool names_wrong = marks->n_wrong > 0 && !fsl_verdict_is_quiet(marks->kind);
	if (!result->truth.has_fault) {
		return names_wrong                                  ? FSL_EVAL_NAMED
		       : marks->is_alarm                            ? FSL_EVAL_ALARMED
		       : marks->kind == FSL_VERDICT_STAGE_IMBALANCE ? FSL_EVAL_STAGED
								    : FSL_EVAL_QUIET;
	}
	if (result->truth.slowdown < 1.0 + counted_cost || result->strength == FSL_EVAL_SHORT) {
		return FSL_EVAL_UNCOUNTED;
	}
	if (names_wrong) {
		return FSL_EVAL_WRONG;
	}
	if (marks->has_failed || marks->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE) {
		return FSL_EVAL_ABSTAINED;
	}
	if (marks->is_kind_right && marks->is_exact) {
		return FSL_EVAL_RIGHT;
	}
	return marks->n_hit > 0 ? FSL_EVAL_PARTLY : FSL_EVAL_UNSEEN;
}

static void add(struct fsl_eval_family *family, const struct fsl_eval_result *result)
{
	enum fsl_eval_outcome outcome = fsl_eval_outcome_of(result);
	size_t class = FSL_EVAL_CONFIDENCES_N - 1;
	family->n[outcome]++;
	if (outcome == FSL_EVAL_UNCOUNTED || result->marks.has_failed ||
	    result->marks.kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE) {
		return;
	}
	while (class > 0 && result->confidence < confidence_from[class]) {
		class --;
	}
	family->n_told[class]++;
	family->n_true[class] += outcome == FSL_EVAL_QUIET || outcome == FSL_EVAL_RIGHT;
}

struct fsl_eval_family fsl_eval_family_sum(const struct fsl_eval *eval, const char *name,
					   bool is_fault)
{
	struct fsl_eval_family sum = {0};
	for (size_t i = 0; i < eval->n_tasks; i++) {
		const struct fsl_eval_result *result = &eval->results[i];
		const struct fsl_eval_task *task = result->task;
		const char *own = is_fault ? task->scenario->name : task->topology->name;
		if (result->is_done && fsl_eval_is_family(task->topology) &&
		    (name == NULL || strcmp(own, name) == 0)) {
			add(&sum, result);
		}
	}
	return sum;
}

bool fsl_eval_has(const struct fsl_eval *eval, bool is_family)
{
	for (size_t i = 0; i < eval->n_tasks; i++) {
		if (fsl_eval_is_family(eval->results[i].task->topology) == is_family) {
			return true;
		}
	}
	return false;
}

static uint64_t sum_of(const struct fsl_eval_family *family, int first, int last)
{
	uint64_t n = 0;
	for (int i = first; i <= last; i++) {
		n += family->n[i];
	}
	return n;
}

uint64_t fsl_eval_family_healthy(const struct fsl_eval_family *family)
{
	return sum_of(family, FSL_EVAL_QUIET, FSL_EVAL_NAMED);
}

uint64_t fsl_eval_family_faulty(const struct fsl_eval_family *family)
{
	return sum_of(family, FSL_EVAL_RIGHT, FSL_EVAL_WRONG);
}

static void put_count(struct fsl_page *page, uint64_t n)
{
	fsl_page_cell(page, "%llu", (unsigned long long)n);
}

static void put_row(struct fsl_page *page, const char *label, const struct fsl_eval_family *family)
{
	fsl_page_cell(page, "%s", label);
	put_count(page, fsl_eval_family_healthy(family));
	put_count(page, family->n[FSL_EVAL_NAMED]);
	put_count(page, family->n[FSL_EVAL_NAMED] + family->n[FSL_EVAL_ALARMED]);
	put_count(page, family->n[FSL_EVAL_STAGED]);
	put_count(page, fsl_eval_family_faulty(family));
	for (int i = FSL_EVAL_RIGHT; i <= FSL_EVAL_WRONG; i++) {
		put_count(page, family->n[i]);
	}
	fsl_page_percent(page,
			 fsl_eval_share(family->n[FSL_EVAL_RIGHT], fsl_eval_family_faulty(family)));
}

/* The family or fault of a task if it is the first of it; NULL: it is not, or of no family. */
static const char *new_name(const struct fsl_eval *eval, size_t i, bool is_fault)
{
	const struct fsl_eval_task *task = &eval->tasks[i];
	const char *name = is_fault ? task->scenario->name : task->topology->name;
	bool is_known = !fsl_eval_is_family(task->topology);
	for (size_t k = 0; k < i && !is_known; k++) {
		const struct fsl_eval_task *other = &eval->tasks[k];
		is_known =
			fsl_eval_is_family(other->topology) &&
			strcmp(is_fault ? other->scenario->name : other->topology->name, name) == 0;
	}
	return is_known ? NULL : name;
}

/* One row for each family or fault that occurs, then all. */
static void put_table(struct fsl_page *page, const struct fsl_eval *eval, bool is_fault)
{
	struct fsl_told room;
	fsl_page_table_of(page, is_fault ? "fault" : "family",
			  "healthy|named|alarm|stage|faulty|right|partly|abstained|unseen|wrong|"
			  "right %");
	for (size_t i = 0; i < eval->n_tasks; i++) {
		const char *name = new_name(eval, i, is_fault);
		if (name != NULL) {
			struct fsl_eval_family family = fsl_eval_family_sum(eval, name, is_fault);
			put_row(page, name, &family);
		}
	}
	struct fsl_eval_family all = fsl_eval_family_sum(eval, NULL, false);
	put_row(page, fsl_page_tell(page, N_("all jobs"), &room), &all);
	fsl_page_table_end(page);
}

static void put_calibration(struct fsl_page *page, const struct fsl_eval_family *all)
{
	fsl_page_table_of(page, NULL, "confidence told|answers|right|share");
	for (size_t i = 0; i < FSL_EVAL_CONFIDENCES_N; i++) {
		double to = i + 1 < FSL_EVAL_CONFIDENCES_N ? confidence_from[i + 1] : 1.0;
		fsl_page_cell(page, "%.1f - %.1f", confidence_from[i], to);
		put_count(page, all->n_told[i]);
		put_count(page, all->n_true[i]);
		fsl_page_percent(page, fsl_eval_share(all->n_true[i], all->n_told[i]));
	}
	fsl_page_table_end(page);
}

/* The share of its answers that would be right if each class of confidence were as often right as
 * in all other families. */
static double share_by_others(const struct fsl_eval_family *family,
			      const struct fsl_eval_family *all)
{
	double sum = 0.0;
	uint64_t n_told = 0;
	for (size_t i = 0; i < FSL_EVAL_CONFIDENCES_N; i++) {
		uint64_t n_others = all->n_told[i] - family->n_told[i];
		if (n_others > 0) {
			n_told += family->n_told[i];
			sum += (double)family->n_told[i] *
			       (double)(all->n_true[i] - family->n_true[i]) / (double)n_others;
		}
	}
	return n_told > 0 ? sum / (double)n_told : (double)NAN;
}

static void put_left_out(struct fsl_page *page, const struct fsl_eval *eval,
			 const struct fsl_eval_family *all)
{
	enum { SURE = FSL_EVAL_CONFIDENCES_N - 1 };
	fsl_page_table_of(page, NULL,
			  "family left out|answers|right|by the others|told 0.9|right of these");
	for (size_t i = 0; i < eval->n_tasks; i++) {
		const char *name = new_name(eval, i, false);
		if (name == NULL) {
			continue;
		}
		struct fsl_eval_family family = fsl_eval_family_sum(eval, name, false);
		uint64_t n_told = 0, n_true = 0;
		for (size_t k = 0; k < FSL_EVAL_CONFIDENCES_N; k++) {
			n_told += family.n_told[k];
			n_true += family.n_true[k];
		}
		fsl_page_cell(page, "%s", name);
		put_count(page, n_told);
		fsl_page_percent(page, fsl_eval_share(n_true, n_told));
		fsl_page_percent(page, share_by_others(&family, all));
		put_count(page, family.n_told[SURE]);
		fsl_page_percent(page, fsl_eval_share(family.n_true[SURE], family.n_told[SURE]));
	}
	fsl_page_table_end(page);
}

void fsl_eval_put_families(struct fsl_page *page, const struct fsl_eval *eval)
{
	struct fsl_eval_family all = fsl_eval_family_sum(eval, NULL, false);
	fsl_page_heading(page, "Families of jobs whose communication overlaps, by capture");
	put_table(page, eval, false);
	fsl_page_printf(page,
			"Faulty: costs at least %.1f %% for at least 50 steps; %llu faults "
			"cost or last less\n",
			100.0 * counted_cost, (unsigned long long)all.n[FSL_EVAL_UNCOUNTED]);
	fsl_page_heading(page, "Families, by fault");
	put_table(page, eval, true);
	fsl_page_heading(page, "Families, calibration of the confidence");
	put_calibration(page, &all);
	fsl_page_heading(page, "Families, confidence of one by that of the others");
	put_left_out(page, eval, &all);
}
