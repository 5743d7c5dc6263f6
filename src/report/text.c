/* The terminal summary: one screen, verdict first. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/language.h"
#include "base/mem.h"
#include "report/account_text.h"
#include "report/capture_text.h"
#include "report/chapters_text.h"
#include "report/coverage_text.h"
#include "report/report.h"
#include "report/screen.h"
#include "report/terminal.h"
#include "report/words.h"
#include "text/phrase.h"

enum {
	CULPRITS_SHOWN_MAX = 5, /* on a short screen; FSL_TABLE_ROWS_MAX on a long one */
	FACTS_SHOWN_MAX = 6,    /* those that matter most come first; the file has them all */
	RANGES_SHOWN_MAX = 8,
};

/* Columns of the table of culprits. */
enum {
	COLUMN_RANK,
	COLUMN_HOST,
	COLUMN_CAUSE,
	COLUMN_LOST,
	COLUMN_SHARE,
	COLUMN_STEPS,
	COLUMN_SINCE,
	COLUMN_SURE,
	COLUMNS_N
};

static const char *const column_titles[] = {
	[COLUMN_RANK] = "rank",      [COLUMN_HOST] = "host",   [COLUMN_CAUSE] = "cause",
	[COLUMN_LOST] = "lost/step", [COLUMN_SHARE] = "share", [COLUMN_STEPS] = "steps",
	[COLUMN_SINCE] = "since",    [COLUMN_SURE] = "conf.",
};

static void set_cell(struct fsl_table *table, size_t row, size_t column, const char *text)
{
	(void)snprintf(table->cells[row][column], FSL_TABLE_CELL_MAX, "%.*s",
		       FSL_TABLE_CELL_MAX - 1, text);
}

/* Unknown numbers leave their cell empty. */
static void set_cell_ms(struct fsl_table *table, size_t row, size_t column, double ms)
{
	struct fsl_phrase phrase = {0};
	if (isfinite(ms)) {
		fsl_phrase_add_ms(&phrase, ms);
		set_cell(table, row, column, phrase.text);
	}
}

static void set_cell_percent(struct fsl_table *table, size_t row, size_t column, double share)
{
	struct fsl_phrase phrase = {0};
	if (isfinite(share)) {
		fsl_phrase_add_percent(&phrase, share);
		set_cell(table, row, column, phrase.text);
	}
}

/* "from 60" or, for an episode that is over, "60-79". */
static void set_cell_steps(struct fsl_table *table, size_t row, const struct fsl_culprit *culprit)
{
	struct fsl_phrase phrase = {0};
	if (culprit->onset_step < 0) {
		return;
	}
	if (culprit->until_step == culprit->onset_step + 1) {
		fsl_phrase_add(&phrase, "%" PRId64, culprit->onset_step);
	} else if (culprit->until_step >= 0) {
		fsl_phrase_add(&phrase, "%" PRId64 "-%" PRId64, culprit->onset_step,
			       culprit->until_step - 1);
	} else {
		fsl_phrase_add(&phrase, "from %" PRId64, culprit->onset_step);
	}
	struct fsl_told told;
	set_cell(table, row, COLUMN_STEPS, fsl_tell(phrase.text, &told));
}

/* "compute", or "compute?" where it may be another cause. */
static void set_cell_cause(struct fsl_table *table, size_t row, const struct fsl_culprit *culprit)
{
	struct fsl_phrase phrase = {0};
	struct fsl_told told;
	fsl_phrase_add(&phrase, "%s%s", fsl_tell(fsl_cause_text(culprit->cause), &told),
		       culprit->other_cause < FSL_CAUSES_N ? "?" : "");
	set_cell(table, row, COLUMN_CAUSE, phrase.text);
}

static void set_row(struct fsl_table *table, size_t row, const struct fsl_culprit *culprit)
{
	enum { YEAR_LENGTH = 5 }; /* "2025-": the time covered shows the year */
	struct fsl_phrase phrase = {0};
	fsl_phrase_add(&phrase, "%d", culprit->rank);
	set_cell(table, row, COLUMN_RANK, phrase.text);
	set_cell(table, row, COLUMN_HOST, fsl_text_or_empty(culprit->server_ip));
	set_cell_cause(table, row, culprit);
	set_cell_ms(table, row, COLUMN_LOST, culprit->lost_ms_per_step);
	set_cell_percent(table, row, COLUMN_SHARE, culprit->share_of_loss);
	set_cell_steps(table, row, culprit);
	if (culprit->onset_ns != FSL_NS_ABSENT) {
		struct fsl_phrase since = {0};
		fsl_phrase_add_time(&since, culprit->onset_ns);
		set_cell(table, row, COLUMN_SINCE,
			 since.length > YEAR_LENGTH ? since.text + YEAR_LENGTH : since.text);
	}
	set_cell_percent(table, row, COLUMN_SURE, culprit->confidence);
}

/* @is_fault: they are at fault, and not just where work is uneven. */
static void print_culprits(const struct fsl_screen *screen,
			   const struct fsl_localisation *localisation, bool is_fault)
{
	size_t n = localisation->n_culprits;
	if (n == 0) {
		return;
	}
	bool is_long = screen->budget == NULL;
	size_t n_shown = n, n_most = is_long ? FSL_TABLE_ROWS_MAX - 1 : CULPRITS_SHOWN_MAX;
	if (n_shown > n_most) {
		n_shown = n_most;
	}
	struct fsl_table table = {.n_columns = COLUMNS_N,
				  .n_rows = n_shown + 1,
				  .shrinkable = COLUMN_HOST,
				  .row_colour = is_fault ? FSL_COLOUR_RED_ROW : FSL_COLOUR_NONE};
	for (size_t column = 0; column < COLUMNS_N; column++) {
		struct fsl_told told;
		set_cell(&table, 0, column, fsl_tell(column_titles[column], &told));
		table.is_right_aligned[column] = column != COLUMN_HOST && column != COLUMN_CAUSE;
	}
	for (size_t i = 0; i < n_shown; i++) {
		set_row(&table, i + 1, &localisation->culprits[i]);
	}
	fsl_screen_line(screen, "");
	fsl_screen_table(screen, &table);
	if (n > n_shown) {
		struct fsl_phrase more = {0};
		fsl_phrase_add(&more,
			       !is_long && n < FSL_TABLE_ROWS_MAX
				       ? "  and %zu more with --long"
				       : "  and %zu more with --format json",
			       n - n_shown);
		fsl_screen_line(screen, more.text);
	}
	fsl_screen_line(screen, "");
}

/* The reason of the first culprit, else of the verdict, unless the headline gave it already. */
static void print_why(const struct fsl_screen *screen, const struct fsl_report *report,
		      const char *headline)
{
	const struct fsl_localisation *localisation = report->localisation;
	const char *why = fsl_text_or_empty(localisation->reason);
	if (report->perception != NULL && fsl_words_kind(report) == FSL_VERDICT_STALLS) {
		why = fsl_text_or_empty(report->perception->reason);
	} else if (localisation->n_culprits > 0 &&
		   *fsl_text_or_empty(localisation->culprits[0].reason) != '\0') {
		why = localisation->culprits[0].reason;
	}
	fsl_screen_field(screen, "why", strstr(headline, why) == NULL ? why : "");
}

/* Who took the CPU from culprits, by a trace of the kernel. */
static void print_processes(const struct fsl_screen *screen, const struct fsl_localisation *verdict)
{
	const char *label = N_("host");
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit_process *process = verdict->culprits[i].process;
		if (process != NULL && fsl_screen_extra(screen, label, process->text)) {
			label = "";
		}
	}
}

/* "own 560 ms", "own ratio 1.20 x", "78 high steps". */
static void add_fact(struct fsl_phrase *phrase, const struct fsl_fact *fact)
{
	if (strcmp(fact->unit, "count") == 0 && isfinite(fact->value)) {
		fsl_phrase_add(phrase, "%.10g ", fact->value);
		fsl_phrase_add_words(phrase, fact->name);
		return;
	}
	fsl_phrase_add_words(phrase, fact->name);
	fsl_phrase_add(phrase, " ");
	if (!isfinite(fact->value)) {
		fsl_phrase_add(phrase, "unknown");
	} else if (strcmp(fact->unit, "ms") == 0) {
		fsl_phrase_add_ms(phrase, fact->value);
	} else if (strcmp(fact->unit, "share") == 0) {
		fsl_phrase_add_percent(phrase, fact->value);
	} else if (strcmp(fact->unit, "ratio") == 0) {
		fsl_phrase_add(phrase, "%.2f x", fact->value);
	} else {
		fsl_phrase_add(phrase, "%.6g %s", fact->value, fact->unit);
	}
}

static void print_evidence(const struct fsl_screen *screen,
			   const struct fsl_localisation *localisation)
{
	if (localisation->n_culprits == 0) {
		return;
	}
	const struct fsl_culprit *first = &localisation->culprits[0];
	struct fsl_phrase phrase = {0};
	if (localisation->n_culprits > 1 && first->n_evidence > 0) {
		fsl_phrase_add(&phrase, "rank %d: ", first->rank);
	}
	for (size_t i = 0; i < first->n_evidence && i < FACTS_SHOWN_MAX; i++) {
		fsl_phrase_add(&phrase, "%s", i == 0 ? "" : ", ");
		add_fact(&phrase, &first->evidence[i]);
	}
	(void)fsl_screen_extra(screen, "evidence", phrase.text);
}

/* Prints how the losses were computed. */
static void print_replay(const struct fsl_screen *screen,
			 const struct fsl_localisation *localisation)
{
	const struct fsl_replay_summary *replay = &localisation->replay;
	struct fsl_phrase phrase = {0};
	if (!replay->is_on || localisation->n_culprits == 0) {
		return;
	}
	if (localisation->is_loss_replayed) {
		fsl_phrase_add_count(&phrase, replay->n_steps, "step");
		fsl_phrase_add(&phrase, " within ");
		fsl_phrase_add_percent(&phrase, replay->error_p95);
		fsl_phrase_add(&phrase, " of the measured");
		if (isfinite(replay->culprits_share)) {
			fsl_phrase_add(&phrase, "; with the culprits at their peers' level ");
			fsl_phrase_add_percent(&phrase, replay->culprits_share);
			fsl_phrase_add(&phrase, " of all lost time comes back");
		}
	} else if (!replay->is_trusted) {
		fsl_phrase_add(&phrase, "not trusted, losses are told from waits: %s",
			       fsl_text_or_empty(replay->doubt));
	} else {
		return; /* a hang, or a stage with more to do: nothing was asked of it */
	}
	(void)fsl_screen_extra(screen, "replay", phrase.text);
}

/* Only their number when memory is short. */
static void add_suspects(struct fsl_phrase *phrase, const struct fsl_suspect *suspects, size_t n)
{
	int32_t *ranks = fsl_calloc(n, sizeof(*ranks));
	if (ranks == NULL) {
		fsl_phrase_add_count(phrase, n, "rank");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		ranks[i] = suspects[i].rank;
	}
	fsl_phrase_add_unsorted_ranks(phrase, ranks, n, RANGES_SHOWN_MAX);
	fsl_free(ranks);
}

/* " (HcclAllGather): <reason>", after several ranks with the rank that it is about. */
static void add_suspicion(struct fsl_phrase *phrase, const struct fsl_localisation *localisation)
{
	const struct fsl_suspect *first = &localisation->unconfirmed[0];
	if (localisation->n_unconfirmed > 1) {
		fsl_phrase_add(phrase, "; rank %d", first->rank);
	}
	if (*fsl_text_or_empty(first->detector) != '\0') {
		fsl_phrase_add(phrase, " (%s)", first->detector);
	}
	if (*fsl_text_or_empty(first->reason) != '\0') {
		fsl_phrase_add(phrase, ": %s", first->reason);
	}
}

static void print_suspects(const struct fsl_screen *screen,
			   const struct fsl_localisation *localisation)
{
	struct fsl_phrase victims = {0};
	if (localisation->n_victims > 0) {
		add_suspects(&victims, localisation->victims, localisation->n_victims);
		fsl_phrase_add(&victims, ": late because of %s, not at fault",
			       localisation->n_culprits > 0 ? "the culprit" : "others");
	}
	(void)fsl_screen_extra(screen, "victims", victims.text);
	struct fsl_phrase unconfirmed = {0};
	if (localisation->n_unconfirmed > 0) {
		add_suspects(&unconfirmed, localisation->unconfirmed, localisation->n_unconfirmed);
		add_suspicion(&unconfirmed, localisation);
	}
	(void)fsl_screen_extra(screen, "unconfirmed", unconfirmed.text);
}

static void add_separator(struct fsl_phrase *phrase)
{
	if (phrase->length > 0) {
		fsl_phrase_add(phrase, "; ");
	}
}

static void add_episode(struct fsl_phrase *phrase, const struct fsl_step_episode *episode)
{
	fsl_phrase_add(phrase, "since step %" PRId64, episode->onset_step);
	if (episode->onset_ns != FSL_NS_ABSENT) {
		fsl_phrase_add(phrase, " (");
		fsl_phrase_add_time(phrase, episode->onset_ns);
		fsl_phrase_add(phrase, ")");
	}
	fsl_phrase_add(phrase, " ");
	fsl_phrase_add_ms(phrase, episode->after_ms);
	fsl_phrase_add(phrase, " instead of ");
	fsl_phrase_add_ms(phrase, episode->before_ms);
	if (episode->is_of_saves) {
		fsl_phrase_add(phrase, ", with the checkpoints, on average");
	}
	if (episode->until_step >= 0) {
		fsl_phrase_add(phrase, ", over at step %" PRId64, episode->until_step);
	}
}

/* "3 steps <what>" when there are any. */
static void add_steps(struct fsl_phrase *phrase, size_t n, const char *what)
{
	if (n > 0) {
		add_separator(phrase);
		fsl_phrase_add_count(phrase, n, "step");
		fsl_phrase_add(phrase, " %s", what);
	}
}

static void print_steps(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	struct fsl_phrase phrase = {0};
	const struct fsl_step_episode *episode = fsl_longest_episode(perception);
	if (episode != NULL) {
		add_episode(&phrase, episode);
	} else {
		add_steps(&phrase, perception->n_anomalies, "longer than normal");
	}
	if (perception->n_episodes > 1) {
		add_separator(&phrase);
		fsl_phrase_add_count(&phrase, perception->n_episodes - 1, "more slow episode");
	}
	add_steps(&phrase, perception->n_explained, "long because of a checkpoint or GC");
	add_steps(&phrase, perception->n_slow_dataloader, "with slow data loading");
	add_steps(&phrase, perception->n_slow_ckpt, "with a slow checkpoint");
	if (phrase.length == 0 && perception->kind == FSL_VERDICT_NORMAL) {
		fsl_phrase_add(&phrase, "no significant rise in step time");
	} else if (phrase.length == 0 && perception->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE) {
		fsl_phrase_add(&phrase, "%s", fsl_text_or_empty(perception->reason));
	}
	fsl_terminal_strip(screen, report, phrase.text);
}

/* Who waits in which operator: the newest one begun and never ended. */
static void print_stopped(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	struct fsl_phrase waiting = {0};
	if (perception != NULL && perception->kind == FSL_VERDICT_HANG) {
		fsl_words_waiting(&waiting, report);
	}
	(void)fsl_screen_extra(screen, "waiting", waiting.text);
	if (report->run == NULL || perception == NULL || perception->kind != FSL_VERDICT_HANG ||
	    perception->n_stopped_first == 0) {
		return;
	}
	const struct fsl_rank *rank = fsl_run_rank(report->run, perception->stopped_first[0]);
	if (rank == NULL || rank->last_event_ns == FSL_NS_ABSENT) {
		return;
	}
	struct fsl_phrase phrase = {0};
	fsl_phrase_add(&phrase, "last event of rank %d ", rank->rank);
	fsl_phrase_add_time(&phrase, rank->last_event_ns);
	if (fsl_rank_waits(rank)) {
		fsl_phrase_add(&phrase, ", begun and never ended: %s",
			       fsl_strpool_text(report->run->names, rank->open_op_id));
	}
	fsl_screen_field(screen, "stopped", phrase.text);
}

/* The operator of the first rank that waits; "" when none does. */
static const char *awaited_op(const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (fsl_rank_waits(&run->ranks[r])) {
			return fsl_strpool_text(run->names, run->ranks[r].open_op_id);
		}
	}
	return "";
}

/* Prints that ranks wait at the end of files of which nobody knows how old they are. */
static void print_open_end(const struct fsl_screen *screen, const struct fsl_report *report)
{
	struct fsl_phrase phrase = {0};
	size_t n = 0;
	if (report->run == NULL || report->now_ns != FSL_NS_ABSENT || report->profile != NULL ||
	    fsl_words_kind(report) != FSL_VERDICT_NORMAL) {
		return;
	}
	for (size_t r = 0; r < report->run->n_ranks; r++) {
		n += fsl_rank_waits(&report->run->ranks[r]);
	}
	if (n > 0) {
		fsl_phrase_add(&phrase, "the files end with %zu of ", n);
		fsl_phrase_add_count(&phrase, report->run->n_ranks, "rank");
		fsl_phrase_add(&phrase,
			       " in an operator that has not ended (%s); --now TIME tells whether "
			       "the job hangs",
			       awaited_op(report->run));
		fsl_screen_field(screen, "silence", phrase.text);
	}
}

/* Prints a silence that may become a hang: the verdict covers the time before it. */
static void print_silence(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	struct fsl_phrase phrase = {0};
	print_open_end(screen, report);
	if (perception == NULL || perception->n_stalled == 0 || report->run == NULL) {
		return;
	}
	fsl_phrase_add(&phrase, "no event for %.1f minutes, since ", perception->hang_mins);
	fsl_phrase_add_time(&phrase, perception->hang_since_ns);
	fsl_phrase_add(&phrase, "; %zu of ", perception->n_stalled);
	fsl_phrase_add_count(&phrase, perception->coverage.n_ranks_seen, "rank");
	fsl_phrase_add(&phrase, " in an operator that has not ended (%s); not taken for a hang yet",
		       awaited_op(report->run));
	fsl_screen_field(screen, "silence", phrase.text);
}

static void print_alarm(const struct fsl_screen *screen,
			const struct fsl_localisation *localisation)
{
	struct fsl_phrase phrase = {0};
	if (localisation->is_suppressed) {
		fsl_phrase_add(&phrase, "not sent again, the same culprits were reported");
		if (localisation->suppressed_since_ns != FSL_NS_ABSENT) {
			fsl_phrase_add(&phrase, " at ");
			fsl_phrase_add_time(&phrase, localisation->suppressed_since_ns);
		}
	}
	fsl_screen_field(screen, "alarm", phrase.text);
}

static void print_errors(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	const struct fsl_perception *perception = report->perception;
	if (fsl_localisation_has_failed(report->localisation)) {
		return; /* it is the headline */
	}
	if (localisation != NULL) {
		print_alarm(screen, localisation);
		fsl_screen_field(screen, "error", fsl_text_or_empty(localisation->error_message));
	}
	if (perception != NULL) {
		fsl_screen_field(screen, "error", fsl_text_or_empty(perception->error_message));
	}
}

/* What the verdict rests on, and what is missing from it. */
static void print_basis(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_coverage *coverage = NULL;
	if (report->profile != NULL) {
		fsl_capture_coverage_text(screen, report);
		return;
	}
	if (report->localisation != NULL) {
		coverage = &report->localisation->coverage;
	} else if (report->perception != NULL) {
		coverage = &report->perception->coverage;
	}
	if (coverage != NULL) {
		fsl_coverage_text(screen, coverage, report->run, report->described_by);
	}
	fsl_problems_text(screen, report->run);
}

/* Details, most telling first, as far as they fit. */
static void print_details(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	if (report->perception != NULL && !fsl_localisation_has_failed(report->localisation)) {
		print_steps(screen, report);
	}
	if (report->profile != NULL && localisation != NULL) {
		fsl_terminal_capture_strip(screen, report);
	}
	/* Without a culprit the grid says least; what grew since a baseline says more. */
	bool is_grid_first = fsl_terminal_names_anyone(report) &&
			     (report->profile == NULL || !fsl_capture_is_compared(report));
	if (is_grid_first) {
		fsl_terminal_grid(screen, report);
	}
	if (report->is_long) {
		fsl_terminal_raster(screen, report);
	}
	if (localisation != NULL && (report->profile == NULL || report->is_long)) {
		print_evidence(screen, localisation);
	}
	if (report->profile != NULL) {
		fsl_capture_details_text(screen, report);
	}
	if (localisation != NULL) {
		print_suspects(screen, localisation);
		print_replay(screen, localisation);
	}
	if (!is_grid_first) {
		fsl_terminal_grid(screen, report);
	}
	if (report->profile == NULL && localisation != NULL) {
		fsl_coverage_details_text(screen, &localisation->coverage);
	}
	if (screen->budget != NULL && screen->budget->n_dropped > 0) {
		fsl_screen_field(screen, "more", "with --long");
	}
}

void fsl_report_text(FILE *stream, const struct fsl_report *report)
{
	/* One line is kept for what is left out. */
	struct fsl_screen_budget budget = {
		FSL_SCREEN_LINES_MAX - 1 - (report->has_beside ? FSL_SCREEN_BESIDE_LINES : 0), 0};
	struct fsl_screen screen = fsl_screen_of(stream, report->width, report->colours);
	struct fsl_phrase headline = {0}, next = {0};
	screen.budget = report->is_long ? NULL : &budget;
	screen.has_blocks = report->has_blocks;
	fsl_words_headline(&headline, report);
	fsl_words_next(&next, report);
	enum fsl_colour colour = fsl_words_colour(fsl_words_kind(report));
	fsl_screen_headline(&screen, colour, headline.text);
	if (report->is_beside && !report->is_long) {
		fsl_screen_field(&screen, "more", "with --long, or `failslow profile`");
		return;
	}
	fsl_account_text(&screen, report);
	if (report->localisation != NULL) {
		print_culprits(&screen, report->localisation, colour == FSL_COLOUR_RED);
		print_why(&screen, report, headline.text);
		print_processes(&screen, report->localisation);
		fsl_chapters_text(&screen, report->localisation);
	}
	print_stopped(&screen, report);
	print_silence(&screen, report);
	fsl_screen_field(&screen, "next", next.text);
	print_basis(&screen, report);
	print_errors(&screen, report);
	fsl_screen_field(&screen, "verdict", fsl_text_or_empty(report->localisation_path));
	fsl_screen_field(&screen, "perception", fsl_text_or_empty(report->perception_path));
	print_details(&screen, report);
}
