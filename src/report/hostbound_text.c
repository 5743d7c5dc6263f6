/* Hosts on the terminal: the verdict, who held the CPU, what to do, threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/language.h"
#include "base/number.h"
#include "judge/limits.h"
#include "report/hostbound_parts.h"

enum {
	RANKS_TOLD = 2,
	HOLDERS_TOLD = 4,
	ADVICE_TOLD = 3,
	LEFT_OUT_TOLD = 3,
	THREADS_TOLD = 6, /* on a short screen; FSL_TABLE_ROWS_MAX on a long one */
	THREADS_BETWEEN_TITLES = FSL_TABLE_ROWS_MAX - 1,
	THREADS_LONG_MAX = 5 * THREADS_BETWEEN_TITLES,
};

static void add_steps(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank)
{
	struct fsl_phrase usual = {0};
	fsl_phrase_add_ms(&usual, rank->usual_ms);
	bool come_again =
		(double)rank->n_stretch > (double)rank->last_step - (double)rank->first_step + 1.0;
	if (rank->is_stretch) {
		fsl_phrase_add(phrase, "in steps %lld to %lld; usual are %s",
			       (long long)rank->first_step, (long long)rank->last_step, usual.text);
	} else if (come_again) {
		fsl_phrase_add(phrase,
			       "in %zu of %zu steps, whose numbers come several times (the first "
			       "is %lld, the last %lld); usual are %s",
			       rank->n_high, rank->n_stretch, (long long)rank->first_step,
			       (long long)rank->last_step, usual.text);
	} else {
		fsl_phrase_add(phrase, "in %zu of the %zu steps from %lld to %lld; usual are %s",
			       rank->n_high, rank->n_stretch, (long long)rank->first_step,
			       (long long)rank->last_step, usual.text);
	}
}

/* "hog (3828, 3830) 129 ms, of which 125 ms likely; unknown tasks 113 ms". A list is read back as
 * no whole, so its parts are translated here. */
static void add_holders(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank)
{
	double n = (double)rank->n_high * FSL_NS_PER_MS;
	for (size_t i = 0; i < rank->n_holders && i < HOLDERS_TOLD; i++) {
		const struct fsl_hostbound_holder *holder = &rank->holders[i];
		struct fsl_told told;
		char name[200];
		double ms = (double)(holder->seen_ns + holder->likely_ns) / n;
		double likely_ms = (double)holder->likely_ns / n;
		if (ms < FSL_JUDGE_TOLD_MS_MIN) {
			break;
		}
		fsl_hostbound_holder_text(holder, name, sizeof(name));
		fsl_phrase_add(phrase, i > 0 ? "; %s " : "%s ", fsl_tell(name, &told));
		fsl_phrase_add_ms(phrase, ms);
		if (likely_ms >= FSL_JUDGE_TOLD_MS_MIN) {
			fsl_phrase_add(phrase, ", %s ", fsl_tell(N_("likely"), &told));
			fsl_phrase_add_ms(phrase, likely_ms);
		}
	}
}

/* Interrupts, migrations and the chain of wakes of a rank. */
static void print_details(const struct fsl_hostbound_rank *rank, const struct fsl_sched *sched,
			  const struct fsl_screen *screen)
{
	struct fsl_phrase interrupts = {0}, moves = {0}, chain = {0};
	fsl_hostbound_add_chain(&chain, rank, sched, true);
	(void)fsl_screen_extra(screen, "chain", chain.text);
	fsl_hostbound_add_interrupts(&interrupts, rank);
	(void)fsl_screen_extra(screen, "interrupts", interrupts.text);
	fsl_hostbound_add_moves(&moves, rank, sched);
	(void)fsl_screen_extra(screen, "moves", moves.text);
}

static void print_rank(const struct fsl_hostbound_rank *rank, const struct fsl_sched *sched,
		       bool is_first, const struct fsl_screen *screen)
{
	char sentence[FSL_PHRASE_MAX];
	struct fsl_phrase steps = {0}, holders = {0};
	if (!is_first) {
		fsl_hostbound_sentence(rank, sentence, sizeof(sentence));
		fsl_screen_field(screen, "also", sentence);
	}
	add_steps(&steps, rank);
	fsl_screen_field(screen, "steps", steps.text);
	add_holders(&holders, rank);
	fsl_screen_field(screen, "held by", holders.text);
	print_details(rank, sched, screen);
	if (rank->unknown_share > FSL_JUDGE_UNKNOWN_SHARE_MAX) {
		struct fsl_phrase unknown = {0};
		fsl_phrase_add_percent(&unknown, rank->unknown_share);
		struct fsl_phrase doubt = {0};
		fsl_phrase_add(&doubt,
			       "the trace does not tell what its main thread did in %s of the "
			       "time, because switches are missing",
			       unknown.text);
		(void)fsl_screen_extra(screen, "doubt", doubt.text);
	}
}

static void set_time(char *cell, int64_t ns)
{
	struct fsl_phrase phrase = {0};
	if (ns > 0) {
		fsl_phrase_add_ms(&phrase, (double)ns / FSL_NS_PER_MS);
	}
	(void)snprintf(cell, FSL_TABLE_CELL_MAX, "%.40s", phrase.text);
}

static void set_row(struct fsl_table *table, const struct fsl_sched *sched,
		    const struct fsl_sched_thread *thread)
{
	char(*cells)[FSL_TABLE_CELL_MAX] = table->cells[table->n_rows++];
	(void)snprintf(cells[0], FSL_TABLE_CELL_MAX, "%s", thread->comm);
	(void)snprintf(cells[1], FSL_TABLE_CELL_MAX, "%d", (int)thread->tid);
	cells[2][0] = '\0';
	if (thread->rank >= 0) {
		(void)snprintf(cells[2], FSL_TABLE_CELL_MAX, "%d",
			       (int)sched->ranks[thread->rank].rank);
	}
	set_time(cells[3], fsl_sched_ran_ns(thread));
	set_time(cells[4], fsl_sched_waited_ns(thread->in_ns));
	set_time(cells[5], thread->wake != NULL ? fsl_latency_quantile(thread->wake, 0.99) : 0);
	set_time(cells[6], thread->irq_ns + thread->softirq_ns);
	set_time(cells[7], thread->in_ns[FSL_SCHED_UNKNOWN]);
}

static void begin_table(struct fsl_table *table)
{
	static const char *const titles[] = {N_("thread"),     N_("tid"),    N_("rank"),
					     N_("CPU"),        N_("waited"), N_("wake p99"),
					     N_("interrupts"), N_("unknown")};
	*table = (struct fsl_table){.n_columns = 8, .n_rows = 1};
	for (size_t c = 0; c < table->n_columns; c++) {
		struct fsl_told told;
		table->is_right_aligned[c] = c > 0;
		(void)snprintf(table->cells[0][c], FSL_TABLE_CELL_MAX, "%.*s",
			       FSL_TABLE_CELL_MAX - 1, fsl_tell(titles[c], &told));
	}
}

static enum fsl_status print_threads(const struct fsl_sched *sched, const struct fsl_screen *screen,
				     struct fsl_error *err)
{
	size_t *order = NULL, n_told = 0;
	struct fsl_table table;
	size_t n_max = screen->budget != NULL ? THREADS_TOLD : THREADS_LONG_MAX;
	FSL_TRY(fsl_hostbound_order_threads(sched, &order, err));
	begin_table(&table);
	for (size_t i = 0; i < sched->n_threads && n_told < n_max; i++) {
		const struct fsl_sched_thread *thread = &sched->threads[order[i]];
		if (fsl_sched_ran_ns(thread) + fsl_sched_waited_ns(thread->in_ns) == 0) {
			break;
		}
		set_row(&table, sched, thread);
		n_told++;
		if (table.n_rows == FSL_TABLE_ROWS_MAX) {
			fsl_screen_table(screen, &table);
			begin_table(&table);
		}
	}
	if (table.n_rows > 1 && fsl_screen_has_room(screen, table.n_rows)) {
		fsl_screen_table(screen, &table);
	}
	fsl_free(order);
	return FSL_OK;
}

/* Coverage of the trace, and its losses. */
static void print_coverage(const struct fsl_host_trace *trace, const struct fsl_screen *screen)
{
	const struct fsl_ftrace_loaded *loaded = &trace->loaded;
	const struct fsl_sched *sched = &trace->sched;
	struct fsl_phrase phrase = {0}, length = {0};
	size_t n_cpus = 0;
	for (size_t c = 0; c < sched->n_cpus; c++) {
		n_cpus += sched->cpus[c].is_seen;
	}
	fsl_phrase_add_length(&length, sched->end_ns - sched->begin_ns);
	if (n_cpus > 0) {
		fsl_phrase_add(&phrase, "%llu events of %zu CPUs, %s, %zu threads, %zu ranks",
			       (unsigned long long)loaded->facts.n_events, n_cpus, length.text,
			       sched->n_threads, sched->n_ranks);
	} else {
		fsl_phrase_add(&phrase,
			       "%llu records of threads off their CPU, %s, %zu threads, %zu ranks",
			       (unsigned long long)loaded->facts.n_events, length.text,
			       sched->n_threads, sched->n_ranks);
	}
	fsl_screen_field(screen, "coverage", phrase.text);
	phrase = (struct fsl_phrase){0};
	if (loaded->has_window) {
		fsl_phrase_add(&phrase, "events were overwritten or lost: only the part that all "
					"CPUs have is counted");
	} else if (loaded->is_lossy) {
		fsl_phrase_add(&phrase, "events were overwritten or lost, and no part of the trace "
					"has all CPUs: record with larger buffers");
	} else if ((double)sched->n_breaks >
		   FSL_JUDGE_LEFT_OUT_SHARE_MIN * (double)sched->n_switches) {
		fsl_phrase_add(&phrase, "the trace leaves out switches (a filter), so that holders "
					"are told by the tasks at the ends of gaps");
	}
	(void)fsl_screen_extra(screen, "losses", phrase.text);
	phrase = (struct fsl_phrase){0};
	if (loaded->facts.n_broken > 0) {
		fsl_phrase_add(&phrase, "%llu lines cannot be read, the first is line %llu",
			       (unsigned long long)loaded->facts.n_broken,
			       (unsigned long long)loaded->facts.first_broken);
	}
	(void)fsl_screen_extra(screen, "lines", phrase.text);
}

static void print_clock(const struct fsl_host_trace *trace, const struct fsl_screen *screen)
{
	struct fsl_phrase phrase = {0}, share = {0}, second = {0};
	if (trace->lacks_clock) {
		fsl_screen_field(
			screen, "clock",
			"nothing tells the clock of the trace, so that the steps of the job "
			"are not used: NAME.clocks.json beside NAME.txt, as `failslow "
			"record` writes it");
		return;
	}
	if (trace->fit.is_found) {
		fsl_phrase_add_percent(&share, trace->fit.score);
		fsl_phrase_add_percent(&second, trace->fit.second);
		fsl_phrase_add(&phrase,
			       "nothing tells the clock of the trace: with the estimated one ranks "
			       "ran at %s of their calls, with the next best at %s",
			       share.text, second.text);
		(void)fsl_screen_extra(screen, "clock", phrase.text);
		return;
	}
	if (isnan(trace->clock_score)) {
		return;
	}
	fsl_phrase_add_percent(&share, trace->clock_score);
	if (trace->clock_score < FSL_JUDGE_CLOCK_SCORE_MIN) {
		fsl_phrase_add(&phrase,
			       "clock mismatch: ranks ran at only %s of the calls in their files, "
			       "so the steps may be shifted",
			       share.text);
	} else if (screen->budget == NULL) {
		fsl_phrase_add(&phrase, "checked: ranks ran at %s of the calls in their files",
			       share.text);
	}
	(void)fsl_screen_extra(screen, "clock", phrase.text);
}

/* Prints what to do, most telling first; on a long screen all of it. */
static void print_advice(const struct fsl_host_trace *trace, const struct fsl_screen *screen)
{
	char text[FSL_PHRASE_MAX];
	const struct fsl_hostbound *judged = &trace->judged;
	size_t n = 0, n_max = screen->budget != NULL ? ADVICE_TOLD : judged->n_advice;
	if (judged->verdict == FSL_HOSTBOUND_NO_STEPS && !trace->lacks_clock) {
		fsl_screen_field(
			screen, N_("next"),
			trace->has_job_pids
				? "the processes of the job's ranks are not known in the trace: "
				  "name its host in its path, or list them in ranks.json beside it"
				: "name the folder of the job's markers or captures, too (--markers "
				  "DIR), or let ranks write their steps into trace_marker");
	}
	for (size_t i = 0; i < judged->n_advice && n < n_max; i++) {
		if (fsl_hostbound_is_told(judged, i)) {
			continue;
		}
		fsl_hostbound_advice_for_all(judged, i, text, sizeof(text));
		fsl_screen_field(screen, n++ == 0 ? N_("next") : "", text);
	}
}

static enum fsl_status print_trace(const struct fsl_host_trace *trace,
				   const struct fsl_screen *screen, struct fsl_error *err)
{
	static const enum fsl_colour colours[FSL_HOSTBOUND_VERDICTS_N] = {
		[FSL_HOSTBOUND_NORMAL] = FSL_COLOUR_GREEN,
		[FSL_HOSTBOUND_FOUND] = FSL_COLOUR_RED,
		[FSL_HOSTBOUND_NO_STEPS] = FSL_COLOUR_YELLOW,
		[FSL_HOSTBOUND_INSUFFICIENT] = FSL_COLOUR_YELLOW,
	};
	char text[FSL_PHRASE_MAX];
	const struct fsl_hostbound *judged = &trace->judged;
	fsl_hostbound_headline(trace, text, sizeof(text));
	fsl_screen_headline(screen, colours[judged->verdict], text);
	size_t n_ranks = screen->budget != NULL ? RANKS_TOLD : judged->n_ranks;
	for (size_t r = 0; r < judged->n_ranks && r < n_ranks && judged->ranks[r].is_named; r++) {
		print_rank(&judged->ranks[r], &trace->sched, r == 0, screen);
	}
	print_advice(trace, screen);
	print_clock(trace, screen);
	print_coverage(trace, screen);
	return print_threads(&trace->sched, screen, err);
}

/* A host whose trace is left out may be the one that matters. */
static void print_left_out(const struct fsl_host_traces *traces, const struct fsl_screen *screen)
{
	size_t n_max = screen->budget != NULL ? LEFT_OUT_TOLD : traces->n_left_out;
	for (size_t i = 0; i < traces->n_left_out && i < n_max; i++) {
		const struct fsl_host_left_out *item = &traces->left_out[i];
		struct fsl_phrase phrase = {0};
		struct fsl_told told;
		bool is_named = strstr(item->reason, item->path) != NULL;
		fsl_phrase_add(&phrase, "%s%s%s", is_named ? "" : item->path, is_named ? "" : ": ",
			       fsl_tell(item->reason, &told));
		fsl_screen_field(screen, i == 0 ? N_("left out") : "", phrase.text);
	}
	if (traces->n_left_out > n_max) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add(&phrase, "and %zu more with --long", traces->n_left_out - n_max);
		fsl_screen_field(screen, "", phrase.text);
	}
}

enum fsl_status fsl_hostbound_print(const struct fsl_host_traces *traces,
				    const struct fsl_screen *screen, struct fsl_error *err)
{
	for (size_t i = 0; i < traces->n_items; i++) {
		if (traces->n_items > 1) {
			fsl_screen_line(screen, traces->items[i].files->paths[0]);
		}
		FSL_TRY(print_trace(&traces->items[i], screen, err));
	}
	print_left_out(traces, screen);
	if (screen->budget != NULL) {
		fsl_screen_field(screen, "more", "with --long");
	}
	return FSL_OK;
}
