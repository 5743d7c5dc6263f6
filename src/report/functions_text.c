/* The sections on the terminal, or tables of the functions that were asked for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/language.h"
#include "judge/limits.h"
#include "report/functions_parts.h"
#include "text/phrase.h"

enum {
	NAME_MAX_SHOWN = 48,
	TOLD_MAX = 2, /* functions of a section on a short screen */
	TOLD_LONG_MAX = 20,
	REASONS_MAX = 2, /* culprits with their reasons on a short screen */
	TABLES_MAX = 3,  /* functions that were asked for */
	RANGES_MAX = 8,
	RANKS_MAX = 4096,
};
static const double NS_PER_US = 1e3;
/* From here on a call takes longer than on peers; below, the function is called more often. */
static const double MEAN_RATIO_MIN = 1.1;
/* Shares of the trace that are less apart read the same. */
static const double SPREAD_TOLD_MIN = 0.01;
/* Less of its own time in system calls is not told. */
static const double SYSCALL_TOLD_MIN = 0.05;

/* One unit for all functions: three digits, or all before the point. */
static void add_us(struct fsl_phrase *phrase, double ns)
{
	double us = ns / NS_PER_US;
	if (isnan(us)) {
		fsl_phrase_add(phrase, "-");
		return;
	}
	fsl_phrase_add(phrase, us >= 100.0 ? "%.0f us" : "%.3g us", us);
}

/* A kernel without its arguments and templates, or the last two frames of a call path. */
void fsl_functions_short_name(const struct fsl_function_row *row, char text[FSL_TABLE_CELL_MAX])
{
	const char *name = row->name;
	if (row->class == FSL_FUNCTION_PYTHON) {
		size_t n_bars = 0;
		for (const char *at = name + strlen(name); at > name && n_bars < 2; at--) {
			n_bars += at[-1] == '|';
			name = n_bars == 2 ? at : name;
		}
		size_t length = strlen(name);
		bool is_long = length > NAME_MAX_SHOWN;
		(void)snprintf(text, FSL_TABLE_CELL_MAX, "%s%s",
			       is_long || name != row->name ? "..." : "",
			       is_long ? name + length - NAME_MAX_SHOWN : name);
		return;
	}
	bool is_kernel =
		row->class == FSL_FUNCTION_COMPUTE || row->class == FSL_FUNCTION_COLLECTIVE;
	name += is_kernel && strncmp(name, "void ", 5) == 0 ? 5 : 0;
	size_t length = is_kernel ? strcspn(name, "<(") : strlen(name);
	length = length > 0 ? length : strlen(name);
	(void)snprintf(
		text, FSL_TABLE_CELL_MAX, "%.*s%s%s%s",
		(int)(length < NAME_MAX_SHOWN / 2 || !is_kernel ? length : NAME_MAX_SHOWN / 2),
		name, is_kernel && length > NAME_MAX_SHOWN / 2 ? "..." : "",
		row->shape[0] != '\0' ? " " : "", row->shape);
}

/* Ranks of workers for which @is_one holds. */
static void add_ranks(struct fsl_phrase *phrase, const struct fsl_functions_view *view,
		      bool (*is_one)(const struct fsl_function_worker *worker))
{
	int32_t ranks[RANKS_MAX];
	size_t n = 0;
	for (size_t w = 0; w < view->n_workers && n < RANKS_MAX; w++) {
		if (is_one(&view->workers[w])) {
			ranks[n++] = view->workers[w].rank->rank;
		}
	}
	if (n > 0) {
		fsl_phrase_add_ranks(phrase, ranks, n, RANGES_MAX);
	}
}

static bool is_victim(const struct fsl_function_worker *worker)
{
	return worker->is_victim;
}

static bool is_straggler(const struct fsl_function_worker *worker)
{
	return worker->is_straggler;
}

static bool has_other_work(const struct fsl_function_worker *worker)
{
	return worker->is_straggler && worker->has_other_work;
}

/* ", stands out: rank 5 (12 %), rank 6 (13 %)"; of many workers the first. */
struct outliers {
	struct fsl_phrase *phrase;
	size_t n;
};
enum { OUTLIERS_NAMED_MAX = 4 };

static void add_outlier(struct outliers *outliers, const struct fsl_function_worker *worker,
			double share)
{
	if (outliers->n++ >= OUTLIERS_NAMED_MAX) {
		return;
	}
	fsl_phrase_add(outliers->phrase,
		       outliers->n == 1 ? ", stands out: rank %d (" : ", rank %d (",
		       (int)worker->rank->rank);
	fsl_phrase_add_percent(outliers->phrase, share);
	fsl_phrase_add(outliers->phrase, ")");
}

static void end_outliers(struct outliers *outliers)
{
	if (outliers->n > OUTLIERS_NAMED_MAX) {
		fsl_phrase_add(outliers->phrase, " and %zu more", outliers->n - OUTLIERS_NAMED_MAX);
	}
}

/* A list of functions is read back as no whole, so its parts are translated here. */
static void add_abnormal(struct fsl_phrase *phrase, const struct fsl_functions_view *view,
			 const struct fsl_function_row *row)
{
	struct fsl_phrase named = {0};
	struct fsl_told told;
	struct outliers outliers = {&named, 0};
	for (size_t w = 0; w < view->n_workers; w++) {
		if (row->cells[w].is_abnormal) {
			add_outlier(&outliers, &view->workers[w], row->cells[w].ratio);
		}
	}
	end_outliers(&outliers);
	if (named.length > 0) {
		fsl_phrase_add(phrase, "%s", fsl_tell(named.text, &told));
	}
}

/* ", nvlink send 94 %": the counter of a collective, and its mean over the workers. */
static void add_link(struct fsl_phrase *phrase, const struct fsl_functions_view *view,
		     const struct fsl_function_row *row)
{
	enum fsl_sampled link = fsl_functions_link(view, row);
	double sum = 0.0;
	size_t n = 0;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		if (function != NULL && function->sampled == link) {
			sum += fsl_functions_percent(view, function, function->level);
			n++;
		}
	}
	if (row->class == FSL_FUNCTION_COLLECTIVE && link < FSL_SAMPLED_N && n > 0) {
		fsl_phrase_add(phrase, ", %s ", fsl_sampled_texts[link]);
		fsl_phrase_add_percent(phrase, sum / (double)n / 100.0);
	}
}

static void add_row(struct fsl_phrase *phrase, const struct fsl_functions_view *view,
		    const struct fsl_function_row *row)
{
	char name[FSL_TABLE_CELL_MAX];
	fsl_functions_short_name(row, name);
	fsl_phrase_add(phrase, "%s%s: ", phrase->length > 0 ? "; " : "", name);
	fsl_phrase_add_percent(phrase, row->mean_ratio);
	if (row->class == FSL_FUNCTION_COMPUTE && isfinite(row->median_ns)) {
		fsl_phrase_add(phrase, ", ");
		add_us(phrase, row->median_ns);
	}
	add_link(phrase, view, row);
	double syscall_share = fsl_functions_syscall_share(view, row);
	if (syscall_share >= SYSCALL_TOLD_MIN) {
		struct fsl_phrase share = {0};
		fsl_phrase_add_percent(&share, syscall_share);
		fsl_phrase_add(phrase, " (%s of it in system calls)", share.text);
	}
	add_abnormal(phrase, view, row);
}

static int compare_places(const struct fsl_function_row *a, const struct fsl_function_row *b)
{
	bool has_a = a->n_abnormal > 0, has_b = b->n_abnormal > 0;
	return (int)has_b - (int)has_a;
}

/* Rows that are told of a section, those in which somebody stands out first. Returns how many. */
static size_t choose(const struct fsl_functions_view *view,
		     const struct fsl_functions_choice *choice, enum fsl_function_class class,
		     const struct fsl_function_row *chosen[TOLD_LONG_MAX])
{
	size_t n = 0, n_before = 0;
	for (size_t i = 0; i < view->n_rows; i++) {
		const struct fsl_function_row *row = &view->rows[i];
		if (row->class != class) {
			continue;
		}
		if (fsl_functions_tells_row(view, choice, row, n_before++)) {
			size_t at = n < TOLD_LONG_MAX ? n++ : n - 1;
			if (at == TOLD_LONG_MAX - 1 && n == TOLD_LONG_MAX && chosen[at] != NULL &&
			    compare_places(row, chosen[at]) >= 0) {
				continue;
			}
			while (at > 0 && compare_places(row, chosen[at - 1]) < 0) {
				chosen[at] = chosen[at - 1];
				at--;
			}
			chosen[at] = row;
		}
	}
	return n;
}

static void print_utilisation(const struct fsl_functions_view *view,
			      const struct fsl_screen *screen)
{
	struct fsl_phrase phrase = {0};
	double least = INFINITY, greatest = 0.0;
	for (size_t w = 0; w < view->n_workers; w++) {
		least = fmin(least, view->workers[w].utilisation);
		greatest = fmax(greatest, view->workers[w].utilisation);
	}
	if (view->n_workers == 0) {
		return;
	}
	if (greatest - least >= SPREAD_TOLD_MIN) {
		fsl_phrase_add(&phrase, "from ");
		fsl_phrase_add_percent(&phrase, least);
		fsl_phrase_add(&phrase, " to ");
	}
	fsl_phrase_add_percent(&phrase, greatest);
	fsl_phrase_add(&phrase, " of the trace");
	struct outliers outliers = {&phrase, 0};
	for (size_t w = 0; w < view->n_workers; w++) {
		if (view->workers[w].is_utilisation_abnormal) {
			add_outlier(&outliers, &view->workers[w], view->workers[w].utilisation);
		}
	}
	end_outliers(&outliers);
	(void)fsl_screen_extra(screen, "computing", phrase.text);
}

/* One field of a section; on a long screen one for each function. */
static void print_section(const struct fsl_functions_view *view,
			  const struct fsl_functions_choice *choice, enum fsl_function_class class,
			  const struct fsl_screen *screen)
{
	static const char *const labels[FSL_FUNCTION_CLASSES_N] = {
		[FSL_FUNCTION_COMPUTE] = N_("kernels"),
		[FSL_FUNCTION_MEMORY] = N_("memory"),
		[FSL_FUNCTION_COLLECTIVE] = N_("collectives"),
		[FSL_FUNCTION_RUNTIME] = N_("runtime"),
		[FSL_FUNCTION_PYTHON] = N_("Python"),
	};
	const struct fsl_function_row *chosen[TOLD_LONG_MAX] = {NULL};
	struct fsl_phrase phrase = {0};
	bool is_short = screen->budget != NULL;
	size_t n = choose(view, choice, class, chosen);
	const char *label = labels[class];
	for (size_t i = 0; i < n && i < (is_short ? TOLD_MAX : TOLD_LONG_MAX); i++) {
		add_row(&phrase, view, chosen[i]);
		if (!is_short) {
			(void)fsl_screen_extra(screen, label, phrase.text);
			phrase = (struct fsl_phrase){0};
			label = "";
		}
	}
	(void)fsl_screen_extra(screen, label, phrase.text);
}

/* Why a culprit is one: the function that takes most of it. */
static void print_reason(const struct fsl_functions_view *view, size_t w,
			 const struct fsl_screen *screen)
{
	const struct fsl_function_row *worst = NULL;
	char name[FSL_TABLE_CELL_MAX];
	struct fsl_phrase phrase = {0};
	for (size_t i = 0; i < view->n_rows; i++) {
		const struct fsl_function_row *row = &view->rows[i];
		bool is_own = row->class == view->workers[w].excess_class && !row->is_wait &&
			      row->cells[w].is_abnormal && row->cells[w].function != NULL;
		if (is_own && (worst == NULL || row->cells[w].excess > worst->cells[w].excess)) {
			worst = row;
		}
	}
	if (worst == NULL) {
		return;
	}
	fsl_functions_short_name(worst, name);
	const struct fsl_function *own = worst->cells[w].function;
	double peers_ns = fsl_functions_peers_ns(view, worst, w);
	double peers_calls = fsl_functions_peers_calls(view, worst, w);
	int rank = (int)view->workers[w].rank->rank;
	if (own->mean_ns < MEAN_RATIO_MIN * peers_ns && (double)own->count > peers_calls) {
		fsl_phrase_add(&phrase, "rank %d: %s is called %lld times, on its peers %.0f times",
			       rank, name, (long long)own->count, peers_calls);
	} else {
		fsl_phrase_add(&phrase, "rank %d: %s takes ", rank, name);
		add_us(&phrase, own->mean_ns);
		fsl_phrase_add(&phrase, " a call, on its peers ");
		add_us(&phrase, peers_ns);
	}
	fsl_screen_field(screen, "why", phrase.text);
}

static void print_scores(const struct fsl_functions_view *view, const struct fsl_screen *screen)
{
	struct fsl_phrase phrase = {0}, other = {0};
	double least = INFINITY;
	int slowest = 0;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		double score = fmin(worker->relative_score, worker->individual_score);
		slowest = score < least ? (int)worker->rank->rank : slowest;
		least = fmin(least, score);
	}
	add_ranks(&other, view, is_straggler);
	if (other.length > 0) {
		fsl_phrase_add(&phrase, "least %.3f, kernels are slow on %s", least, other.text);
		other = (struct fsl_phrase){0};
		add_ranks(&other, view, has_other_work);
	} else if (isfinite(least)) {
		fsl_phrase_add(&phrase, "least %.3f of rank %d, a straggler has less than %.2f",
			       least, slowest, FSL_JUDGE_SCORE_MIN);
	}
	(void)fsl_screen_extra(screen, "scores", phrase.text);
	if (other.length > 0) {
		struct fsl_phrase hint = {0};
		fsl_phrase_add(&hint, "kernels have other shapes on %s: perhaps it has other work",
			       other.text);
		(void)fsl_screen_extra(screen, "", hint.text);
	}
}

/* Functions in which a worker stands out, as they come in the sections. */
static void add_own_rows(struct fsl_phrase *phrase, const struct fsl_functions_view *view, size_t w)
{
	enum { NAMED_MAX = 3 };
	size_t n = 0;
	for (size_t i = 0; i < view->n_rows; i++) {
		const struct fsl_function_row *row = &view->rows[i];
		char name[FSL_TABLE_CELL_MAX];
		if (!row->cells[w].is_abnormal || n++ >= NAMED_MAX) {
			continue;
		}
		fsl_functions_short_name(row, name);
		fsl_phrase_add(phrase, "; %s ", name);
		fsl_phrase_add_percent(phrase, row->cells[w].ratio);
		fsl_phrase_add(phrase, " (peers ");
		fsl_phrase_add_percent(phrase, fsl_functions_peers_ratio(row, w));
		fsl_phrase_add(phrase, ")");
	}
	if (n > NAMED_MAX) {
		fsl_phrase_add(phrase, " and %zu more", n - NAMED_MAX);
	}
}

/* Workers that were asked for: what their time went to, and where they stand out. */
static void print_workers(const struct fsl_functions_view *view,
			  const struct fsl_functions_choice *choice,
			  const struct fsl_screen *screen)
{
	for (size_t w = 0; w < view->n_workers && choice->n_ranks > 0; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		struct fsl_phrase phrase = {0};
		char label[24];
		if (!fsl_functions_tells_worker(choice, worker->rank->rank) ||
		    !fsl_screen_has_room(screen, FSL_SCREEN_EXTRA_LINES_MAX)) {
			continue;
		}
		(void)snprintf(label, sizeof(label), "rank %d", (int)worker->rank->rank);
		fsl_phrase_add(&phrase, "computing ");
		fsl_phrase_add_percent(&phrase, worker->utilisation);
		fsl_phrase_add(&phrase, ", communication ");
		fsl_phrase_add_percent(&phrase, worker->communication);
		fsl_phrase_add(&phrase, ", idle ");
		fsl_phrase_add_percent(&phrase, worker->idle);
		add_own_rows(&phrase, view, w);
		(void)fsl_screen_extra(screen, label, phrase.text);
		fsl_functions_worker_print(worker, screen);
	}
}

static void set_cells(struct fsl_table *table, size_t at, const struct fsl_functions_view *view,
		      const struct fsl_function_row *row, size_t w)
{
	const struct fsl_function_cell *cell = &row->cells[w];
	char(*cells)[FSL_TABLE_CELL_MAX] = table->cells[at];
	struct fsl_phrase ratio = {0}, mean = {0}, spread = {0};
	fsl_phrase_add_percent(&ratio, cell->ratio);
	if (cell->function != NULL) {
		add_us(&mean, cell->function->mean_ns);
		add_us(&spread, cell->function->spread_ns);
	}
	(void)snprintf(cells[0], FSL_TABLE_CELL_MAX, "%d", (int)view->workers[w].rank->rank);
	(void)snprintf(cells[1], FSL_TABLE_CELL_MAX, "%.40s", ratio.text);
	(void)snprintf(cells[2], FSL_TABLE_CELL_MAX, "%.40s", mean.text);
	(void)snprintf(cells[3], FSL_TABLE_CELL_MAX, "%.40s", spread.text);
	(void)snprintf(cells[4], FSL_TABLE_CELL_MAX, "%lld",
		       cell->function != NULL ? (long long)cell->function->count : 0LL);
	if (cell->n_different >= 0) {
		(void)snprintf(cells[5], FSL_TABLE_CELL_MAX, "%d%s", (int)cell->n_different,
			       cell->is_abnormal ? " *" : "");
	} else {
		cells[5][0] = '\0';
	}
}

/* A function over the workers; workers that stand out come first. */
static void print_table(const struct fsl_functions_view *view,
			const struct fsl_functions_choice *choice,
			const struct fsl_function_row *row, const struct fsl_screen *screen)
{
	static const char *const titles[] = {N_("rank"),   N_("share"), N_("mean"),
					     N_("spread"), N_("calls"), N_("differs")};
	struct fsl_table table = {.n_columns = 6, .n_rows = 1};
	char name[FSL_TABLE_CELL_MAX];
	fsl_functions_short_name(row, name);
	fsl_screen_field(screen, "function", name);
	for (size_t c = 0; c < table.n_columns; c++) {
		table.is_right_aligned[c] = true;
		struct fsl_told told;
		(void)snprintf(table.cells[0][c], FSL_TABLE_CELL_MAX, "%.*s",
			       FSL_TABLE_CELL_MAX - 1, fsl_tell(titles[c], &told));
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t w = 0; w < view->n_workers && table.n_rows < FSL_TABLE_ROWS_MAX; w++) {
			if (row->cells[w].is_abnormal == (pass == 0) &&
			    fsl_functions_tells_worker(choice, view->workers[w].rank->rank)) {
				set_cells(&table, table.n_rows++, view, row, w);
			}
		}
	}
	if (fsl_screen_has_room(screen, table.n_rows + 1)) {
		fsl_screen_table(screen, &table);
	}
}

static void print_tables(const struct fsl_functions_view *view,
			 const struct fsl_functions_choice *choice, const struct fsl_screen *screen)
{
	size_t n = 0, n_before = 0, n_left_out = 0;
	for (size_t i = 0; i < view->n_rows; i++) {
		const struct fsl_function_row *row = &view->rows[i];
		n_before = i > 0 && view->rows[i - 1].class == row->class ? n_before + 1 : 0;
		if (!fsl_functions_tells_row(view, choice, row, n_before)) {
			continue;
		}
		if (n < TABLES_MAX) {
			print_table(view, choice, row, screen);
			n++;
		} else {
			n_left_out++;
		}
	}
	struct fsl_phrase phrase = {0};
	if (n == 0) {
		fsl_phrase_add(&phrase, "no function has this text in its name");
	} else if (n_left_out > 0) {
		fsl_phrase_add(&phrase, "%zu more functions have it, --format json has all",
			       n_left_out);
	}
	fsl_screen_field(screen, "", phrase.text);
}

static bool has_links(const struct fsl_functions_view *view)
{
	size_t n = 0;
	for (size_t i = FSL_SAMPLED_NVLINK_SEND; i < FSL_SAMPLED_N; i++) {
		n += view->sampled[i].n;
	}
	return n > 0;
}

void fsl_functions_print(const struct fsl_functions_view *view,
			 const struct fsl_functions_choice *choice, const struct fsl_screen *screen)
{
	static const enum fsl_colour colours[] = {
		[FSL_FUNCTIONS_NONE] = FSL_COLOUR_GREEN,
		[FSL_FUNCTIONS_CULPRITS] = FSL_COLOUR_RED,
		[FSL_FUNCTIONS_INSUFFICIENT] = FSL_COLOUR_YELLOW,
	};
	char headline[FSL_PHRASE_MAX];
	struct fsl_phrase victims = {0};
	fsl_functions_headline(view, headline, sizeof(headline));
	fsl_screen_headline(screen, colours[view->verdict], headline);
	size_t n_left = screen->budget != NULL ? REASONS_MAX : view->n_workers;
	for (size_t w = 0; w < view->n_workers && n_left > 0; w++) {
		if (view->workers[w].is_culprit) {
			print_reason(view, w, screen);
			n_left--;
		}
	}
	add_ranks(&victims, view, is_victim);
	fsl_screen_field(screen, "victims", victims.text);
	const char *next = fsl_functions_next(view);
	fsl_screen_field(screen, "next", next != NULL ? next : "");
	fsl_functions_baseline_print(choice, screen);
	fsl_functions_print_remarks(choice, screen);
	print_workers(view, choice, screen);
	if (choice->function != NULL) {
		print_tables(view, choice, screen);
		return;
	}
	if (choice->section == FSL_FUNCTIONS_WORKERS) {
		fsl_functions_workers_print(view, choice, screen);
	}
	if (choice->section < 0 || choice->section == FSL_FUNCTION_COMPUTE) {
		print_utilisation(view, screen);
	}
	for (size_t c = 0; c < FSL_FUNCTION_CLASSES_N; c++) {
		print_section(view, choice, (enum fsl_function_class)c, screen);
	}
	if (choice->section < 0) {
		fsl_functions_unusual_print(view, screen);
		print_scores(view, screen);
	}
	if (screen->budget == NULL && !has_links(view) &&
	    (choice->section < 0 || choice->section == FSL_FUNCTION_COLLECTIVE)) {
		fsl_screen_field(screen, "unknown",
				 "class and throughput of links: the traces have no counters");
	}
	if (screen->budget != NULL && screen->budget->n_dropped > 0) {
		fsl_screen_field(screen, "more", "with --long");
	}
}
