/* Steps over the job as bars, with marks below. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/sort.h"
#include "capture/cluster.h"
#include "capture/step_rows.h"
#include "model/steps.h"
#include "model/verdict.h"
#include "report/pictures.h"
#include "report/terminal.h"
#include "text/phrase.h"
#include "text/spark.h"

enum {
	STEPS_MIN = 8, /* fewer are no series */
	CAPTURED_STEPS_MIN = 2,
};

/* The line below the bars. */
struct marks {
	char text[FSL_SPARK_COLUMNS_MAX + 1];
	size_t n_columns;
	int64_t onset; /* the first one, which the label names; -1: none */
	size_t onset_column;
	bool has_checkpoint, has_stall, has_warm_up, has_evaluation;
};

/* Index of a step with a number, or of the first behind it. */
static size_t index_of(const struct fsl_steps *steps, int64_t number)
{
	size_t i = 0;
	while (i < steps->n_items && steps->items[i].step < number) {
		i++;
	}
	return i;
}

static size_t column_of(const struct fsl_spark *spark, const struct fsl_steps *steps,
			int64_t number)
{
	return fsl_spark_column(spark, index_of(steps, number));
}

/* @until_step -1: to the end. */
static void mark_stretch(struct marks *marks, const struct fsl_spark *spark,
			 const struct fsl_steps *steps, int64_t since_step, int64_t until_step)
{
	size_t begin = column_of(spark, steps, since_step);
	size_t end = until_step >= 0 ? column_of(spark, steps, until_step) : spark->n_columns;
	if (since_step < 0) {
		return;
	}
	for (size_t c = begin + 1; c < end; c++) {
		marks->text[c] = marks->text[c] == '^' ? '^' : '~';
	}
	marks->text[begin] = '^';
	if (marks->onset < 0 || begin < marks->onset_column) {
		marks->onset = since_step;
		marks->onset_column = begin;
	}
}

static void mark_checkpoints(struct marks *marks, const struct fsl_spark *spark,
			     const struct fsl_steps *steps)
{
	for (size_t i = 0; i < steps->n_items; i++) {
		char *mark = &marks->text[fsl_spark_column(spark, i)];
		if (steps->items[i].ckpt_ns > 0 && *mark != '^') {
			*mark = 'c';
			marks->has_checkpoint = true;
		}
	}
}

/* Marks long steps by what they are: some belong to a job that is well. */
static void mark_stalls(struct marks *marks, const struct fsl_spark *spark,
			const struct fsl_steps *steps, const struct fsl_perception *perception)
{
	for (size_t i = 0; i < perception->n_stalls; i++) {
		enum fsl_stall_phase phase = perception->stalls[i].phase;
		char *mark = &marks->text[column_of(spark, steps, perception->stalls[i].step)];
		if (*mark == '^') {
			continue;
		}
		*mark = phase == FSL_STALL_WARM_UP      ? 'w'
			: phase == FSL_STALL_EVALUATION ? 'e'
							: '!';
		marks->has_warm_up |= *mark == 'w';
		marks->has_evaluation |= *mark == 'e';
		marks->has_stall |= *mark == '!';
	}
}

static void mark_all(struct marks *marks, const struct fsl_spark *spark,
		     const struct fsl_steps *steps, const struct fsl_report *report)
{
	const struct fsl_localisation *verdict = report->localisation;
	const struct fsl_perception *perception = report->perception;
	memset(marks->text, ' ', spark->n_columns);
	marks->n_columns = spark->n_columns;
	marks->onset = -1;
	if (verdict != NULL && verdict->n_culprits > 0) {
		mark_stretch(marks, spark, steps, verdict->culprits[0].onset_step,
			     verdict->culprits[0].until_step);
	}
	for (size_t i = 0; perception != NULL && i < perception->n_episodes; i++) {
		mark_stretch(marks, spark, steps, perception->episodes[i].onset_step,
			     perception->episodes[i].until_step);
	}
	mark_checkpoints(marks, spark, steps);
	if (perception != NULL) {
		mark_stalls(marks, spark, steps, perception);
	}
	while (marks->n_columns > 0 && marks->text[marks->n_columns - 1] == ' ') {
		marks->n_columns--;
	}
	marks->text[marks->n_columns] = '\0';
}

/* True if the columns are free for a label with a blank on either side. */
static bool is_free(const struct marks *marks, size_t begin, size_t n)
{
	for (size_t c = begin; c < begin + n && c < marks->n_columns; c++) {
		if (marks->text[c] != ' ') {
			return false;
		}
	}
	return true;
}

/* The label stands left of the onset, or behind all marks, or is left out. */
static void print_marks(const struct fsl_screen *screen, const struct marks *marks)
{
	char label[64];
	struct fsl_told told;
	struct fsl_phrase line = {0};
	(void)snprintf(label, sizeof(label), "step %" PRId64, marks->onset);
	const char *text = fsl_tell(label, &told);
	size_t n = (size_t)fsl_columns(text, strlen(text)) + 1;
	fsl_screen_begin(screen, "");
	size_t at = marks->onset_column >= n ? marks->onset_column - n : SIZE_MAX;
	if (marks->onset >= 0 && at != SIZE_MAX &&
	    is_free(marks, at > 0 ? at - 1 : at, at > 0 ? n + 1 : n)) {
		fsl_phrase_add(&line, "%.*s%s %s", (int)at, marks->text, text,
			       marks->text + marks->onset_column);
	} else {
		bool has_room = marks->n_columns + n <= (size_t)fsl_screen_room(screen);
		fsl_phrase_add(&line, "%s", marks->text);
		if (marks->onset >= 0 && has_room) {
			fsl_phrase_add(&line, " %s", text);
		}
	}
	fsl_screen_put(screen, FSL_COLOUR_NONE, line.text);
	fsl_screen_end(screen);
}

static void add_meaning(struct fsl_phrase *legend, char mark, const char *meaning)
{
	fsl_phrase_add(legend, "%s%c %s", legend->length > 0 ? "; " : "", mark, meaning);
}

static void print_legend(const struct fsl_screen *screen, const struct marks *marks)
{
	struct fsl_phrase legend = {0};
	if (marks->has_checkpoint) {
		add_meaning(&legend, 'c', N_("checkpoint"));
	}
	if (marks->has_evaluation) {
		add_meaning(&legend, 'e', N_("evaluation"));
	}
	if (marks->has_warm_up) {
		add_meaning(&legend, 'w', N_("warm-up"));
	}
	if (marks->has_stall) {
		add_meaning(&legend, '!', N_("stall"));
	}
	(void)fsl_screen_extra(screen, "", legend.text);
}

/* False if no length is known. */
static bool make_bars(struct fsl_spark *spark, const struct fsl_steps *steps, size_t room)
{
	fsl_spark_begin(spark, steps->n_items, room);
	for (size_t i = 0; i < steps->n_items; i++) {
		fsl_spark_add(spark, i, (double)steps->items[i].dur_ns / FSL_NS_PER_MS);
	}
	return fsl_spark_frame(spark);
}

/* Bars of the steps with their marks and @words. @may_join: on the line of the bars, if they fit.
 */
static void draw(const struct fsl_screen *screen, const struct fsl_report *report,
		 const struct fsl_steps *steps, const char *words, bool may_join)
{
	struct fsl_spark spark;
	struct fsl_told told;
	struct marks marks = {.n_columns = 0};
	struct fsl_phrase bars = {0};
	size_t room = (size_t)fsl_screen_room(screen);
	if (steps == NULL || !make_bars(&spark, steps, room)) {
		(void)fsl_screen_extra(screen, "steps", words);
		return;
	}
	mark_all(&marks, &spark, steps, report);
	const char *text = fsl_tell(words, &told);
	bool is_joined =
		may_join && spark.n_columns + 2 + (size_t)fsl_columns(text, strlen(text)) <= room;
	bool has_legend = marks.has_checkpoint || marks.has_stall || marks.has_warm_up ||
			  marks.has_evaluation;
	size_t n_lines = 2U - is_joined + (marks.n_columns > 0) + has_legend;
	if (!fsl_screen_has_room(screen, n_lines)) {
		(void)fsl_screen_extra(screen, "steps", words);
		return;
	}
	fsl_spark_draw(&bars, &spark, 0, 1, screen->has_blocks);
	fsl_phrase_add(&bars, "%s%s", is_joined ? "  " : "", is_joined ? text : "");
	fsl_screen_begin(screen, "steps");
	fsl_screen_put(screen, FSL_COLOUR_NONE, bars.text);
	fsl_screen_end(screen);
	if (marks.n_columns > 0) {
		print_marks(screen, &marks);
	}
	(void)fsl_screen_extra(screen, "", is_joined ? "" : words);
	print_legend(screen, &marks);
}

void fsl_terminal_strip(const struct fsl_screen *screen, const struct fsl_report *report,
			const char *words)
{
	const struct fsl_steps *steps = fsl_pictures_steps(report);
	draw(screen, report, steps != NULL && steps->n_items >= STEPS_MIN ? steps : NULL, words,
	     false);
}

static int compare_number(const void *number, const void *step)
{
	return FSL_ORDER(*(const int64_t *)number, ((const struct fsl_job_step *)step)->step);
}

/* Raises the lengths of steps to those of the rank: a step of a capture is as long as that of its
 * longest rank, as ranks wait for each other. @items: sorted by number. */
static void add_rank(struct fsl_job_step *items, size_t n_items,
		     const struct fsl_profile_rank *rank)
{
	size_t n = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n);
	for (size_t i = 0; i < n; i++) {
		struct fsl_job_step *step =
			bsearch(&rows[i].step, items, n_items, sizeof(*items), compare_number);
		int64_t dur_ns = fsl_profile_step_ns(&rows[i]);
		if (step != NULL && dur_ns > step->dur_ns) {
			step->dur_ns = dur_ns;
		}
	}
}

/* Leaves out steps whose length no rank tells. */
static size_t drop_unknown(struct fsl_job_step *items, size_t n)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (items[i].dur_ns > 0 && items[i].step != FSL_STEP_ABSENT) {
			items[n_kept++] = items[i];
		}
	}
	return n_kept;
}

/* "205 ms to 210 ms, the longest is step 12" */
static void add_range(struct fsl_phrase *words, const struct fsl_job_step *steps, size_t n)
{
	struct fsl_phrase low = {0}, high = {0};
	const struct fsl_job_step *shortest = &steps[0], *longest = &steps[0];
	for (size_t i = 1; i < n; i++) {
		shortest = steps[i].dur_ns < shortest->dur_ns ? &steps[i] : shortest;
		longest = steps[i].dur_ns > longest->dur_ns ? &steps[i] : longest;
	}
	fsl_phrase_add_ms(&low, (double)shortest->dur_ns / FSL_NS_PER_MS);
	fsl_phrase_add_ms(&high, (double)longest->dur_ns / FSL_NS_PER_MS);
	fsl_phrase_add(words, "%s to %s, the longest is step %" PRId64, low.text, high.text,
		       longest->step);
}

void fsl_terminal_capture_strip(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_profile_cluster *cluster = report->cluster;
	struct fsl_job_step *items = fsl_calloc(cluster->n_steps + 1, sizeof(*items));
	struct fsl_steps steps = {.items = items};
	struct fsl_phrase words = {0};
	if (items == NULL) {
		return; /* the document tells */
	}
	for (size_t s = 0; s < cluster->n_steps; s++) {
		items[s].step = cluster->steps[s];
	}
	for (size_t r = 0; r < report->profile->n_ranks; r++) {
		add_rank(items, cluster->n_steps, &report->profile->ranks[r]);
	}
	steps.n_items = drop_unknown(items, cluster->n_steps);
	if (steps.n_items >= CAPTURED_STEPS_MIN) {
		add_range(&words, items, steps.n_items);
		draw(screen, report, &steps, words.text, true);
	}
	fsl_free(items);
}
