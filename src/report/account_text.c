/* The account on the screen: one line on all parts, a table of the occasions. */
#include "report/account_text.h"

#include <inttypes.h>
#include <string.h>

#include "account/account.h"
#include "base/language.h"
#include "base/mem.h"
#include "text/phrase.h"

enum {
	COLUMN_LOST,
	COLUMN_SHARE,
	COLUMN_KIND,
	COLUMN_TIMES,
	COLUMN_EVERY,
	COLUMN_STEP,
	COLUMN_SINCE,
	COLUMN_RANKS,
	COLUMNS_N
};

static const char *const titles[] = {
	[COLUMN_LOST] = "lost",   [COLUMN_SHARE] = "share", [COLUMN_KIND] = "in",
	[COLUMN_TIMES] = "times", [COLUMN_EVERY] = "every", [COLUMN_STEP] = "step",
	[COLUMN_SINCE] = "since", [COLUMN_RANKS] = "ranks",
};

/* The loss by the only slow rank; NULL: there are several, or none. */
static const struct fsl_loss *loss_of_one(const struct fsl_account *account)
{
	const struct fsl_loss *found = NULL;
	for (size_t i = 0; i < account->n_losses; i++) {
		if (account->losses[i].part == FSL_SPENT_SLOW_RANK) {
			if (found != NULL) {
				return NULL;
			}
			found = &account->losses[i];
		}
	}
	return found != NULL && found->n_culprits == 1 ? found : NULL;
}

/* "rank 5 compute"; of other parts their name. */
static void add_part(struct fsl_phrase *phrase, enum fsl_spent part,
		     const struct fsl_account *account)
{
	static const char *const names[FSL_SPENTS_N] = {
		[FSL_SPENT_HANG] = "hang",
		[FSL_SPENT_RESTART] = "restarts",
		[FSL_SPENT_GAP] = "gaps between steps",
		[FSL_SPENT_CHECKPOINT] = "checkpoints",
		[FSL_SPENT_EVALUATION] = "evaluations",
		[FSL_SPENT_WARM_UP] = "warm-up",
		[FSL_SPENT_SLOW_RANK] = "slow ranks",
		[FSL_SPENT_SLOW_HOST] = "slow host",
		[FSL_SPENT_SLOW_LINK] = "slow link",
		[FSL_SPENT_STALLS] = "single long steps",
		[FSL_SPENT_HOST_PAUSES] = "pauses of hosts",
		[FSL_SPENT_STAGE_IMBALANCE] = "uneven stages",
		[FSL_SPENT_WORK_IMBALANCE] = "uneven work",
		[FSL_SPENT_JOB_SLOWDOWN] = "slower steps of all ranks",
		[FSL_SPENT_PRODUCTIVE] = "productive",
		[FSL_SPENT_COMPUTING] = "computing",
		[FSL_SPENT_EXPOSED] = "communication alone",
		[FSL_SPENT_EXPOSED_MEMORY] = "copies alone",
		[FSL_SPENT_FREE] = "idle",
		[FSL_SPENT_NOT_OBSERVED] = "outside of all steps",
	};
	const struct fsl_loss *loss = loss_of_one(account);
	if (part == FSL_SPENT_SLOW_RANK && loss != NULL) {
		fsl_phrase_add(phrase, "rank %d %s", (int)loss->culprits[0].rank,
			       fsl_cause_text(loss->culprits[0].cause));
		return;
	}
	fsl_phrase_add(phrase, "%s", names[part]);
}

/* One line tells the parts of the account, the longest first. */
static void print_time(const struct fsl_screen *screen, struct fsl_account account)
{
	enum { PARTS_SHOWN_MAX = 4 };
	const double shown_share = 0.01;
	struct fsl_phrase phrase = {0};
	for (size_t n = 0; n < PARTS_SHOWN_MAX; n++) {
		int most = 0;
		for (int part = 1; part < FSL_SPENTS_N; part++) {
			most = account.ns[part] > account.ns[most] ? part : most;
		}
		double share = (double)account.ns[most] / (double)account.span_ns;
		if (share < shown_share) {
			break;
		}
		fsl_phrase_add(&phrase, "%s", n == 0 ? "" : ", ");
		fsl_phrase_add_percent(&phrase, share);
		fsl_phrase_add(&phrase, " ");
		add_part(&phrase, (enum fsl_spent)most, &account);
		account.ns[most] = 0;
	}
	fsl_screen_field(screen, "time", phrase.text);
}

static void add_kind(struct fsl_phrase *phrase, const struct fsl_loss *loss)
{
	if (loss->stall != NULL && loss->stall->phase == FSL_STALL_UNKNOWN) {
		fsl_phrase_add(phrase, "long steps");
	} else if (loss->stall != NULL) {
		fsl_phrase_add(phrase, "%s", fsl_stall_phase_text(loss->stall->phase));
		if (loss->stall->frame != NULL) {
			fsl_phrase_add(phrase, ", ");
			fsl_phrase_add_frame(phrase, loss->stall->frame);
		}
	} else {
		fsl_phrase_add_words(phrase, fsl_spent_text(loss->part));
	}
	if (loss->part == FSL_SPENT_SLOW_RANK && loss->n_culprits > 0) {
		fsl_phrase_add(phrase, ", %s", fsl_cause_text(loss->culprits[0].cause));
	}
}

/* "3, 5", or "17 ranks" if that is long. */
static void add_ranks(struct fsl_phrase *phrase, const struct fsl_loss *loss)
{
	enum { RANGES_MAX = 4, LENGTH_MAX = 12 };
	size_t n = loss->stall != NULL ? loss->stall->n_ranks : loss->n_culprits;
	int32_t *ranks = n > 0 ? fsl_calloc(n, sizeof(*ranks)) : NULL;
	struct fsl_phrase all = {0};
	if (ranks != NULL) {
		for (size_t i = 0; i < n; i++) {
			ranks[i] = loss->stall != NULL ? loss->stall->ranks[i]
						       : loss->culprits[i].rank;
		}
		fsl_phrase_add_unsorted_ranks(&all, ranks, n, RANGES_MAX);
		const char *list = strchr(all.text, ' ') + 1; /* behind "ranks" */
		if (strlen(list) <= LENGTH_MAX) {
			fsl_phrase_add(phrase, "%s", list);
		} else {
			fsl_phrase_add_count(phrase, n, "rank");
		}
	}
	fsl_free(ranks);
}

/* The time of day; if the job ran for days, the day without its year, and minutes. */
static void add_since(struct fsl_phrase *phrase, const struct fsl_account *account, int64_t ns)
{
	enum { YEAR = 5, DAY = 11, MINUTES = 11 }; /* "2025-06-15 15:07:20" */
	struct fsl_phrase from = {0}, to = {0}, since = {0};
	if (ns == FSL_NS_ABSENT) {
		return;
	}
	fsl_phrase_add_time(&from, account->from_ns);
	fsl_phrase_add_time(&to, account->to_ns);
	fsl_phrase_add_time(&since, ns);
	if (since.length <= DAY) {
		return;
	}
	if (strncmp(from.text, to.text, DAY) == 0) {
		fsl_phrase_add(phrase, "%s", since.text + DAY);
	} else {
		fsl_phrase_add(phrase, "%.*s", MINUTES, since.text + YEAR);
	}
}

static void set_row(struct fsl_table *table, size_t row, const struct fsl_account *account,
		    const struct fsl_loss *loss)
{
	struct fsl_phrase cells[COLUMNS_N] = {0};
	fsl_phrase_add_length(&cells[COLUMN_LOST], loss->ns);
	fsl_phrase_add_percent(&cells[COLUMN_SHARE], (double)loss->ns / (double)account->span_ns);
	add_kind(&cells[COLUMN_KIND], loss);
	if (loss->stall != NULL) {
		fsl_phrase_add(&cells[COLUMN_TIMES], "%zu", loss->stall->n_times);
	}
	if (loss->stall != NULL && loss->stall->every_steps > 0) {
		fsl_phrase_add(&cells[COLUMN_EVERY], "%" PRId64, loss->stall->every_steps);
	}
	if (loss->since_step >= 0) {
		fsl_phrase_add(&cells[COLUMN_STEP], "%" PRId64, loss->since_step);
	}
	add_since(&cells[COLUMN_SINCE], account, loss->since_ns);
	add_ranks(&cells[COLUMN_RANKS], loss);
	for (size_t column = 0; column < COLUMNS_N; column++) {
		struct fsl_told told;
		const char *text = column == COLUMN_KIND ? fsl_tell(cells[column].text, &told)
							 : cells[column].text;
		(void)snprintf(table->cells[row][column], FSL_TABLE_CELL_MAX, "%.*s",
			       FSL_TABLE_CELL_MAX - 1, text);
	}
}

static bool is_told(const struct fsl_loss *loss)
{
	return loss->ns > 0 && fsl_spent_is_lost(loss->part);
}

/* Of more losses than fit, the last line tells the number. False if there are none. */
static bool print_losses(const struct fsl_screen *screen, const struct fsl_account *account)
{
	struct fsl_table table = {.n_columns = COLUMNS_N, .n_rows = 1, .shrinkable = COLUMN_KIND};
	size_t n = 0, n_shown = FSL_TABLE_ROWS_MAX - 1;
	for (size_t i = 0; i < account->n_losses; i++) {
		n += is_told(&account->losses[i]);
	}
	if (n == 0) {
		return false;
	}
	n_shown = n <= n_shown ? n : n_shown - 1;
	for (size_t column = 0; column < COLUMNS_N; column++) {
		struct fsl_told told;
		(void)snprintf(table.cells[0][column], FSL_TABLE_CELL_MAX, "%s",
			       fsl_tell(titles[column], &told));
		table.is_right_aligned[column] = column != COLUMN_KIND;
	}
	for (size_t i = 0; table.n_rows <= n_shown; i++) {
		if (is_told(&account->losses[i])) {
			set_row(&table, table.n_rows++, account, &account->losses[i]);
		}
	}
	fsl_screen_line(screen, "");
	fsl_screen_table(screen, &table);
	if (n > n_shown) {
		struct fsl_phrase more = {0};
		fsl_phrase_add(&more, "  and %zu more with --format json", n - n_shown);
		fsl_screen_line(screen, more.text);
	}
	return true;
}

void fsl_account_text(const struct fsl_screen *screen, const struct fsl_report *report)
{
	struct fsl_account account;
	const struct fsl_outcome job = fsl_report_outcome(report);
	fsl_account_make(&account, &job);
	if (account.ns[FSL_SPENT_NOT_OBSERVED] == account.span_ns) {
		return;
	}
	print_time(screen, account);
	bool is_table =
		report->is_long && report->profile == NULL && print_losses(screen, &account);
	if (is_table && (report->localisation == NULL || report->localisation->n_culprits == 0)) {
		fsl_screen_line(screen, ""); /* the table of culprits begins with it */
	}
}
