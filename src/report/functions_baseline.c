/* Functions that grew since the baseline: on the terminal, and as a member of the document. */
#include <math.h>
#include <string.h>

#include "report/document.h"
#include "report/functions.h"
#include "text/phrase.h"

enum { TOLD_MAX = 3, DECIMALS_RATIO = 9, DECIMALS_US = 3, DECIMALS_CALLS = 3 };
static const double NS_PER_US = 1e3, NS_PER_MS = 1e6;
/* A call that takes so much longer explains the growth; else the function is called more often. */
static const double CALL_RATIO_MIN = 1.05;

static bool tells(const struct fsl_functions_choice *choice, const struct fsl_grown_function *grown)
{
	bool is_section =
		choice->section < 0 || (enum fsl_function_class)choice->section == grown->class;
	return is_section &&
	       (choice->function == NULL || strstr(grown->name, choice->function) != NULL ||
		strstr(grown->shape, choice->function) != NULL);
}

static void print_grown(const struct fsl_grown_function *grown, const struct fsl_screen *screen)
{
	const struct fsl_function_row row = {
		.class = grown->class, .name = grown->name, .shape = grown->shape};
	char name[FSL_TABLE_CELL_MAX];
	struct fsl_phrase phrase = {0};
	fsl_functions_short_name(&row, name);
	double now_ms = grown->now_ns / NS_PER_MS, then_ms = grown->then_ns / NS_PER_MS;
	if (grown->is_of_one) {
		fsl_phrase_add(&phrase, "%s: on rank %d %.3g ms of a step more than before", name,
			       (int)grown->worst_rank, grown->worst_ns / NS_PER_MS);
	} else if (!(grown->then_calls > 0.0)) {
		fsl_phrase_add(&phrase, "%s: %.3g ms of a step, was not there", name, now_ms);
	} else if (grown->now_call_ns < CALL_RATIO_MIN * grown->then_call_ns) {
		fsl_phrase_add(&phrase,
			       "%s: %.3g ms of a step, was %.3g ms; called %.4g times, was %.4g",
			       name, now_ms, then_ms, grown->now_calls, grown->then_calls);
	} else {
		fsl_phrase_add(&phrase,
			       "%s: %.3g ms of a step, was %.3g ms; %.4g us a call, was %.4g us",
			       name, now_ms, then_ms, grown->now_call_ns / NS_PER_US,
			       grown->then_call_ns / NS_PER_US);
	}
	(void)fsl_screen_extra(screen, "", phrase.text);
}

static void add_window(struct fsl_phrase *phrase, const struct fsl_functions_baseline *found,
		       size_t n_grown)
{
	if (found->n_ranks == 0) {
		fsl_phrase_add(phrase, "not compared: no rank has functions in both captures");
	} else if (found->is_other_model) {
		fsl_phrase_add(phrase,
			       "not compared: it ran another model, %.0f %% of the time of kernels "
			       "is in kernels of both captures",
			       100.0 * found->model_share);
	} else if (!found->is_per_step) {
		fsl_phrase_add(phrase,
			       "%zu functions take longer; for want of steps (ProfilerStep) traces "
			       "of one length are compared",
			       n_grown);
	} else {
		fsl_phrase_add(phrase,
			       "a step takes %.3g ms, was %.3g ms; functions that take longer: %zu",
			       found->window_now_ns / NS_PER_MS, found->window_then_ns / NS_PER_MS,
			       n_grown);
	}
}

void fsl_functions_baseline_print(const struct fsl_functions_choice *choice,
				  const struct fsl_screen *screen)
{
	const struct fsl_functions_baseline *found = choice->baseline;
	struct fsl_phrase phrase = {0};
	size_t n = 0;
	if (found == NULL) {
		return;
	}
	for (size_t i = 0; i < found->n_items; i++) {
		n += tells(choice, &found->items[i]);
	}
	add_window(&phrase, found, n);
	fsl_screen_field(screen, "baseline", phrase.text);
	size_t n_left = screen->budget != NULL ? TOLD_MAX : n;
	for (size_t i = 0; i < found->n_items && n_left > 0; i++) {
		if (tells(choice, &found->items[i])) {
			print_grown(&found->items[i], screen);
			n_left--;
		}
	}
	if (screen->budget != NULL && n > TOLD_MAX) {
		screen->budget->n_dropped++;
	}
}

static void add_grown(struct fsl_document *document, cJSON *list,
		      const struct fsl_grown_function *grown)
{
	cJSON *object = fsl_document_object(document, list, NULL);
	fsl_document_text(document, object, "section", fsl_function_class_texts[grown->class]);
	fsl_document_text(document, object, "name", grown->name);
	fsl_document_told(document, object, "shape", grown->shape);
	fsl_document_number(document, object, "ms", grown->now_ns / NS_PER_MS, FSL_DECIMALS_MS + 3);
	fsl_document_number(document, object, "baselineMs", grown->then_ns / NS_PER_MS,
			    FSL_DECIMALS_MS + 3);
	fsl_document_number(document, object, "calls", grown->now_calls, DECIMALS_CALLS);
	fsl_document_number(document, object, "baselineCalls", grown->then_calls, DECIMALS_CALLS);
	fsl_document_number(document, object, "meanUs", grown->now_call_ns / NS_PER_US,
			    DECIMALS_US);
	fsl_document_number(document, object, "baselineMeanUs", grown->then_call_ns / NS_PER_US,
			    DECIMALS_US);
	fsl_document_bool(document, object, "isOfOneRank", grown->is_of_one);
	fsl_document_integer(document, object, "worstRank", grown->worst_rank);
	fsl_document_number(document, object, "worstGrowthMs", grown->worst_ns / NS_PER_MS,
			    FSL_DECIMALS_MS + 3);
}

cJSON *fsl_functions_baseline_json(const struct fsl_functions_choice *choice)
{
	struct fsl_document document = {false};
	const struct fsl_functions_baseline *found = choice->baseline;
	if (found == NULL) {
		return cJSON_CreateNull();
	}
	bool is_compared = found->n_ranks > 0 && !found->is_other_model;
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "path", choice->baseline_path);
	fsl_document_bool(&document, root, "isCompared", is_compared);
	fsl_document_bool(&document, root, "isOtherModel", found->is_other_model);
	fsl_document_number(&document, root, "sameKernelsRatio", found->model_share,
			    DECIMALS_RATIO);
	fsl_document_count(&document, root, "ranks", found->n_ranks);
	fsl_document_count(&document, root, "ranksOfOneCapture", found->n_unpaired);
	fsl_document_bool(&document, root, "isPerStep", found->is_per_step);
	fsl_document_number(&document, root, "windowMs",
			    is_compared ? found->window_now_ns / NS_PER_MS : (double)NAN,
			    FSL_DECIMALS_MS + 3);
	fsl_document_number(&document, root, "baselineWindowMs",
			    is_compared ? found->window_then_ns / NS_PER_MS : (double)NAN,
			    FSL_DECIMALS_MS + 3);
	cJSON *list = fsl_document_array(&document, root, "grown");
	for (size_t i = 0; i < found->n_items; i++) {
		if (tells(choice, &found->items[i])) {
			add_grown(&document, list, &found->items[i]);
		}
	}
	fsl_document_count(&document, root, "grownLeftOut", found->n_left_out);
	return fsl_document_finish(&document, root);
}
