/* Slowdowns by worker, stage and type of operation. */
#include "report/what_if.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/language.h"
#include "replay/limits.h"
#include "report/document.h"
#include "text/phrase.h"

/* Share of the lost time from which a part of the job explains it. */
static const double SHARE_MIN = 0.5;
/* Parts that slow the job less are not told on the terminal. */
static const double TOLD_MIN = 1.01;

enum { DECIMALS = 9, PARTS_MAX = 4, WORKERS_MAX = 64, KEY_BYTES = 16 };

bool fsl_what_if_names_worker(const struct fsl_what_if *what_if)
{
	return what_if->slowest_share >= SHARE_MIN;
}

static void tell_headline(const struct fsl_what_if *what_if, struct fsl_phrase *phrase)
{
	double step_ms = 1e3 * what_if->step_s, ideal_ms = 1e3 * what_if->ideal_s;
	if (what_if->slowdown < FSL_WHAT_IF_SLOWDOWN_MIN) {
		fsl_phrase_add(phrase, "no stragglers: a step takes ");
		fsl_phrase_add_ms(phrase, step_ms);
		fsl_phrase_add(phrase, ", without them ");
		fsl_phrase_add_ms(phrase, ideal_ms);
		return;
	}
	fsl_phrase_add(phrase, "stragglers make a step %.2f times as long: ", what_if->slowdown);
	fsl_phrase_add_ms(phrase, step_ms);
	fsl_phrase_add(phrase, " instead of ");
	fsl_phrase_add_ms(phrase, ideal_ms);
	if (fsl_what_if_names_worker(what_if)) {
		fsl_phrase_add(phrase, "; most by rank %d", (int)what_if->workers[0].rank);
	} else if (what_if->last_stage_share >= SHARE_MIN) {
		fsl_phrase_add(phrase, "; most by the last stage");
	}
}

static void add_by_number(struct fsl_document *document, cJSON *parent, const char *name,
			  const double *slowdowns, size_t n)
{
	cJSON *object = fsl_document_object(document, parent, name);
	for (size_t i = 0; i < n && !document->has_failed; i++) {
		char key[KEY_BYTES];
		(void)snprintf(key, sizeof(key), "%u", (unsigned)i);
		fsl_document_number(document, object, key, slowdowns[i], DECIMALS);
	}
}

static void add_workers(struct fsl_document *document, cJSON *root,
			const struct fsl_what_if *what_if)
{
	cJSON *list = fsl_document_array(document, root, "workers");
	for (size_t i = 0; i < what_if->n_workers && !document->has_failed; i++) {
		const struct fsl_what_if_worker *worker = &what_if->workers[i];
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_index(document, object, "rank", worker->rank);
		fsl_document_integer(document, object, "replica", worker->dp);
		fsl_document_integer(document, object, "stage", worker->stage);
		fsl_document_number(document, object, "slowdown", worker->slowdown, DECIMALS);
		fsl_document_bool(document, object, "isSlowest",
				  isfinite(worker->slowdown) && i < what_if->n_slowest);
	}
}

cJSON *fsl_what_if_json(const struct fsl_what_if *what_if, const struct fsl_op_table *table,
			const char *path)
{
	struct fsl_document document = {0};
	struct fsl_phrase headline = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	tell_headline(what_if, &headline);
	fsl_document_text(&document, root, "schema", "failslow.what_if/1");
	fsl_document_text(&document, root, "path", path);
	fsl_document_text(&document, root, "headline", headline.text);
	fsl_document_count(&document, root, "operations", what_if->n_operations);
	fsl_document_count(&document, root, "rowsDropped", table->n_dropped);
	fsl_document_count(&document, root, "replicas", what_if->n_replicas);
	fsl_document_count(&document, root, "stages", what_if->n_stages);
	fsl_document_number(&document, root, "stepMs", 1e3 * what_if->step_s, FSL_DECIMALS_MS + 3);
	fsl_document_number(&document, root, "idealStepMs", 1e3 * what_if->ideal_s,
			    FSL_DECIMALS_MS + 3);
	fsl_document_number(&document, root, "slowdown", what_if->slowdown, DECIMALS);
	fsl_document_number(&document, root, "wastedRatio", 1.0 - 1.0 / what_if->slowdown,
			    DECIMALS);
	fsl_document_number(&document, root, "slowestWorkersShare", what_if->slowest_share,
			    DECIMALS);
	fsl_document_number(&document, root, "lastStageShare", what_if->last_stage_share, DECIMALS);
	add_workers(&document, root, what_if);
	add_by_number(&document, root, "byReplica", what_if->by_replica, what_if->n_replicas);
	add_by_number(&document, root, "byStage", what_if->by_stage, what_if->n_stages);
	cJSON *types = fsl_document_object(&document, root, "byType");
	for (size_t i = 0; i < FSL_OP_CLASSES_N; i++) {
		fsl_document_number(&document, types, fsl_op_class_text(i), what_if->by_class[i],
				    DECIMALS);
	}
	cJSON *steps = fsl_document_object(&document, root, "byStep");
	for (size_t i = 0; i < what_if->n_steps && !document.has_failed; i++) {
		char key[KEY_BYTES];
		(void)snprintf(key, sizeof(key), "%d", (int)what_if->steps[i]);
		fsl_document_number(&document, steps, key, what_if->by_step[i], DECIMALS);
	}
	return fsl_document_finish(&document, root);
}

static bool is_told(const size_t *told, size_t n, size_t part)
{
	for (size_t i = 0; i < n; i++) {
		if (told[i] == part) {
			return true;
		}
	}
	return false;
}

/* The parts that slow the job most, as "stage 3 1.23, stage 1 1.02". */
static void print_parts(const struct fsl_screen *screen, const char *label, const char *noun,
			const double *slowdowns, size_t n)
{
	struct fsl_phrase phrase = {0};
	size_t told[PARTS_MAX];
	for (size_t k = 0; k < PARTS_MAX; k++) {
		size_t best = SIZE_MAX;
		for (size_t i = 0; i < n; i++) {
			bool is_next = slowdowns[i] >= TOLD_MIN && !is_told(told, k, i) &&
				       (best == SIZE_MAX || slowdowns[i] > slowdowns[best]);
			best = is_next ? i : best;
		}
		if (best == SIZE_MAX) {
			break;
		}
		told[k] = best;
		fsl_phrase_add(&phrase, "%s", phrase.length > 0 ? ", " : "");
		if (noun != NULL) {
			fsl_phrase_add(&phrase, "%s %zu %.2f", noun, best, slowdowns[best]);
		} else {
			fsl_phrase_add(&phrase, "%s %.2f", fsl_op_class_text(best),
				       slowdowns[best]);
		}
	}
	fsl_screen_field(screen, label, phrase.text);
}

/* A number that rounds to nothing has no sign. */
static void add_share(struct fsl_phrase *phrase, double share)
{
	fsl_phrase_add_percent(phrase, fabs(share) < 5e-4 ? 0.0 : share);
}

static void print_shares(const struct fsl_what_if *what_if, const struct fsl_screen *screen)
{
	struct fsl_phrase phrase = {0};
	int32_t ranks[WORKERS_MAX];
	size_t n = what_if->n_slowest < WORKERS_MAX ? what_if->n_slowest : WORKERS_MAX;
	for (size_t i = 0; i < n; i++) {
		ranks[i] = what_if->workers[i].rank;
	}
	if (isfinite(what_if->slowest_share)) {
		add_share(&phrase, what_if->slowest_share);
		fsl_phrase_add(&phrase, " of the lost time if ");
		fsl_phrase_add_unsorted_ranks(&phrase, ranks, n, PARTS_MAX);
		fsl_phrase_add(&phrase,
			       n == 1 ? " is like the others, " : " are like the others, ");
		add_share(&phrase, what_if->last_stage_share);
		fsl_phrase_add(&phrase, " if the last stage is");
	}
	fsl_screen_field(screen, "gain", phrase.text);
}

void fsl_what_if_print(const struct fsl_what_if *what_if, const struct fsl_op_table *table,
		       const struct fsl_screen *screen)
{
	struct fsl_phrase headline = {0}, workers = {0}, covered = {0};
	bool is_slow = what_if->slowdown >= FSL_WHAT_IF_SLOWDOWN_MIN;
	tell_headline(what_if, &headline);
	fsl_screen_headline(screen, is_slow ? FSL_COLOUR_RED : FSL_COLOUR_GREEN, headline.text);
	print_shares(what_if, screen);
	for (size_t i = 0; is_slow && i < PARTS_MAX && i < what_if->n_workers; i++) {
		const struct fsl_what_if_worker *worker = &what_if->workers[i];
		if (worker->slowdown >= TOLD_MIN) {
			fsl_phrase_add(&workers, "%srank %d %.2f", workers.length > 0 ? ", " : "",
				       (int)worker->rank, worker->slowdown);
		}
	}
	fsl_screen_field(screen, "workers", workers.text);
	print_parts(screen, N_("replicas"), "replica", what_if->by_replica, what_if->n_replicas);
	print_parts(screen, N_("stages"), "stage", what_if->by_stage, what_if->n_stages);
	print_parts(screen, N_("types"), NULL, what_if->by_class, FSL_OP_CLASSES_N);
	fsl_phrase_add(&covered, "%zu operations, %zu steps, %zu replicas of %zu stages",
		       what_if->n_operations, what_if->n_steps, what_if->n_replicas,
		       what_if->n_stages);
	if (table->n_dropped > 0) {
		fsl_phrase_add(&covered, "; %zu rows left out, the first: line %llu",
			       table->n_dropped, (unsigned long long)table->dropped_line);
	}
	fsl_screen_field(screen, "table", covered.text);
}
