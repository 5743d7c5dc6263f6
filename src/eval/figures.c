/* Selects results, sums their marks, and takes medians of their errors. */
#include "eval/eval_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

static const double found_recall = 0.95;

/* A result counts for the nearest magnitude by its true slowdown; limits are geometric means. */
static const double magnitudes[] = {0.02, 0.05, 0.10, 0.20, 0.50, 1.00};
enum { MAGNITUDES_N = 6 };

const struct fsl_eval_marks *fsl_eval_marks_of(const struct fsl_eval_result *result, int answerer)
{
	return answerer == FSL_EVAL_ENGINE ? &result->marks : &result->baselines[answerer];
}

static void label_duration(char *out, size_t size, const struct fsl_eval_result *result)
{
	const struct fsl_eval_task *task = result->task;
	if (!result->truth.has_fault) {
		snprintf(out, size, "none");
	} else if (task->duration_steps > 0) {
		snprintf(out, size, "%d steps", (int)task->duration_steps);
	} else {
		snprintf(out, size, "%s", task->is_from_start ? "from the first step" : "lasting");
	}
}

/* Labels by the real cost of the fault. */
static void label_magnitude(char *out, size_t size, const struct fsl_eval_result *result)
{
	double share = result->truth.slowdown - 1.0;
	if (!result->truth.has_fault || result->strength == FSL_EVAL_STOP) {
		snprintf(out, size, "none");
		return;
	}
	size_t i = 0;
	while (i + 1 < MAGNITUDES_N && share > sqrt(magnitudes[i] * magnitudes[i + 1])) {
		i++;
	}
	snprintf(out, size, "%.0f %%", 100.0 * magnitudes[i]);
}

static void label_strength(char *out, size_t size, const struct fsl_eval_result *result)
{
	snprintf(out, size, "%s", fsl_eval_strength_text(result->strength));
}

const struct fsl_eval_axis fsl_eval_axes[] = {
	{"fault", FSL_EVAL_BY_FAULT, NULL},
	{"magnitude", FSL_EVAL_BY_MAGNITUDE, label_magnitude},
	{"ranks", FSL_EVAL_BY_RANKS, NULL},
	{"topology", FSL_EVAL_BY_TOPOLOGY, NULL},
	{"condition", FSL_EVAL_BY_CONDITION, NULL},
	{"duration", FSL_EVAL_BY_DURATION, label_duration},
	{"devices", FSL_EVAL_BY_DEVICES, NULL},
	{"timelines", FSL_EVAL_BY_TIMELINES, NULL},
	{"strength", FSL_EVAL_PROPERTIES_N, label_strength},
	{NULL, FSL_EVAL_PROPERTIES_N, NULL},
};

static void put_label(char label[FSL_EVAL_TEXT_MAX], const struct fsl_eval_axis *axis,
		      const struct fsl_eval_result *result)
{
	if (axis->label != NULL) {
		axis->label(label, FSL_EVAL_TEXT_MAX, result);
	} else {
		fsl_eval_task_put(label, FSL_EVAL_TEXT_MAX, result->task, axis->property);
	}
}

static bool is_in(const struct fsl_eval_result *result, const struct fsl_eval_subset *subset)
{
	char label[FSL_EVAL_TEXT_MAX];
	if (!result->is_done || fsl_eval_is_family(result->task->topology) ||
	    (subset->strengths != 0 && (subset->strengths >> result->strength & 1U) == 0)) {
		return false;
	}
	if (subset->label == NULL) {
		return true;
	}
	put_label(label, subset->axis, result);
	return strcmp(label, subset->label) == 0;
}

static void add(struct fsl_eval_figures *out, const struct fsl_eval_result *result, int answerer,
		double *onsets, double *slowdowns)
{
	const struct fsl_eval_marks *marks = fsl_eval_marks_of(result, answerer);
	fsl_eval_tally_add(&out->tally, &result->truth, marks, result->days, result->task->n_ranks);
	fsl_eval_causes_add(&out->causes, &result->truth, marks);
	fsl_eval_kinds_add(&out->kinds, &result->truth, marks);
	if (marks->onset_error_steps == marks->onset_error_steps) {
		onsets[out->n_onsets++] = fabs(marks->onset_error_steps);
	}
	if (marks->slowdown_error == marks->slowdown_error && result->truth.has_fault) {
		slowdowns[out->n_slowdowns++] = fabs(marks->slowdown_error);
	}
}

enum fsl_status fsl_eval_figure(struct fsl_eval_figures *out, const struct fsl_eval *eval,
				int answerer, const struct fsl_eval_subset *subset,
				struct fsl_error *err)
{
	size_t n = eval->n_tasks;
	double *values = NULL;
	*out = (struct fsl_eval_figures){0};
	FSL_TRY(FSL_NEW(values, 3 * n, "values", err));
	double *onsets = values, *slowdowns = values + n, *scratch = values + 2 * n;
	for (size_t i = 0; i < n; i++) {
		if (is_in(&eval->results[i], subset)) {
			add(out, &eval->results[i], answerer, onsets, slowdowns);
		}
	}
	out->onset_median_steps = fsl_percentile(onsets, out->n_onsets, 50.0, scratch);
	out->onset_p95_steps = fsl_percentile(onsets, out->n_onsets, 95.0, scratch);
	out->slowdown_median = fsl_percentile(slowdowns, out->n_slowdowns, 50.0, scratch);
	out->slowdown_p95 = fsl_percentile(slowdowns, out->n_slowdowns, 95.0, scratch);
	fsl_free(values);
	return FSL_OK;
}

/* Orders by the leading number if both have one. Labels without one come first, unsorted. */
static bool comes_before(const char *a, const char *b)
{
	char *a_end = NULL, *b_end = NULL;
	double a_number = strtod(a, &a_end), b_number = strtod(b, &b_end);
	bool a_is_number = a_end != a, b_is_number = b_end != b;
	return a_is_number && b_is_number ? a_number < b_number : !a_is_number && b_is_number;
}

/* Moves the last of @n labels to its place. */
static void sink_label(char (*labels)[FSL_EVAL_TEXT_MAX], size_t n)
{
	char label[FSL_EVAL_TEXT_MAX];
	memcpy(label, labels[n - 1], sizeof(label));
	size_t at = n - 1;
	for (; at > 0 && comes_before(label, labels[at - 1]); at--) {
		memcpy(labels[at], labels[at - 1], sizeof(label));
	}
	memcpy(labels[at], label, sizeof(label));
}

size_t fsl_eval_labels(char (*labels)[FSL_EVAL_TEXT_MAX], size_t max, const struct fsl_eval *eval,
		       const struct fsl_eval_axis *axis)
{
	size_t n = 0;
	for (size_t i = 0; i < eval->n_tasks; i++) {
		char label[FSL_EVAL_TEXT_MAX];
		size_t known = 0;
		if (!eval->results[i].is_done ||
		    fsl_eval_is_family(eval->results[i].task->topology)) {
			continue;
		}
		put_label(label, axis, &eval->results[i]);
		while (known < n && strcmp(labels[known], label) != 0) {
			known++;
		}
		if (known == n && n < max) {
			memcpy(labels[n++], label, sizeof(label));
			sink_label(labels, n);
		}
	}
	return n;
}

double fsl_eval_least_found(const struct fsl_eval *eval, int answerer)
{
	double least = (double)NAN;
	const struct fsl_eval_axis axis = {"magnitude", FSL_EVAL_BY_MAGNITUDE, label_magnitude};
	for (size_t i = MAGNITUDES_N; i-- > 0;) {
		struct fsl_eval_tally tally = {0};
		char wanted[FSL_EVAL_TEXT_MAX];
		snprintf(wanted, sizeof(wanted), "%.0f %%", 100.0 * magnitudes[i]);
		struct fsl_eval_subset subset = {&axis, wanted,
						 UINT32_C(1) << FSL_EVAL_STRONG |
							 UINT32_C(1) << FSL_EVAL_MIDDLE |
							 UINT32_C(1) << FSL_EVAL_WEAK};
		for (size_t r = 0; r < eval->n_tasks; r++) {
			const struct fsl_eval_result *result = &eval->results[r];
			if (is_in(result, &subset)) {
				fsl_eval_tally_add(&tally, &result->truth,
						   fsl_eval_marks_of(result, answerer), 0.0, 0);
			}
		}
		double recall = fsl_eval_rank_prf(&tally).recall;
		if (recall < found_recall) {
			break;
		}
		least = recall == recall ? magnitudes[i] : least;
	}
	return least;
}
