/* The document of hosts: verdicts, ranks, holders, advice, threads, CPUs, interrupts. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "report/document.h"
#include "report/hostbound_parts.h"

enum { DECIMALS = 6, DECIMALS_SCORE = 3, THREADS_MAX = 4096, RANKS_OF_CASE_MAX = 64 };

static void add_ms(struct fsl_document *document, cJSON *object, const char *key, int64_t ns)
{
	fsl_document_number(document, object, key, (double)ns / FSL_NS_PER_MS, DECIMALS);
}

static void add_holder(struct fsl_document *document, cJSON *list,
		       const struct fsl_hostbound_holder *holder, size_t n_steps)
{
	cJSON *object = fsl_document_object(document, list, NULL);
	cJSON *pids = NULL;
	int64_t n = n_steps > 0 ? (int64_t)n_steps : 1;
	fsl_document_text(document, object, "kind", fsl_holder_kind_texts[holder->kind]);
	fsl_document_told(document, object, "name", holder->name);
	fsl_document_index(document, object, "rank", holder->rank);
	pids = fsl_document_array(document, object, "pids");
	for (size_t i = 0; i < holder->n_tids; i++) {
		fsl_document_integer(document, pids, NULL, holder->tids[i]);
	}
	fsl_document_bool(document, object, "hasMorePids", holder->has_more_tids);
	fsl_document_index(document, object, "cpu", holder->cpu);
	add_ms(document, object, "seenMsPerStep", holder->seen_ns / n);
	add_ms(document, object, "likelyMsPerStep", holder->likely_ns / n);
}

static void add_rank(struct fsl_document *document, cJSON *list,
		     const struct fsl_hostbound_rank *rank, const struct fsl_sched *sched)
{
	cJSON *object = fsl_document_object(document, list, NULL);
	const struct fsl_sched_rank *own = &sched->ranks[rank->index];
	bool has_high = rank->n_high > 0;
	fsl_document_integer(document, object, "rank", rank->rank);
	fsl_document_integer(document, object, "pid", rank->pid);
	fsl_document_text(document, object, "name", rank->name);
	fsl_document_bool(document, object, "isNamed", rank->is_named);
	fsl_document_text(document, object, "cause", fsl_hostbound_cause_texts[rank->cause]);
	fsl_document_count(document, object, "steps", rank->n_steps);
	fsl_document_count(document, object, "highSteps", rank->n_high);
	fsl_document_index(document, object, "firstStep", rank->first_step);
	fsl_document_index(document, object, "lastStep", rank->last_step);
	fsl_document_bool(document, object, "isStretch", rank->is_stretch);
	fsl_document_number(document, object, "stepMs",
			    rank->n_steps > 0 ? rank->step_ms : (double)NAN, DECIMALS);
	fsl_document_number(document, object, "highStepMs",
			    has_high ? rank->high_step_ms : (double)NAN, DECIMALS);
	fsl_document_number(document, object, "waitMsPerStep",
			    has_high ? rank->wait_ms : (double)NAN, DECIMALS);
	fsl_document_number(document, object, "usualMsPerStep",
			    has_high ? rank->usual_ms : (double)NAN, DECIMALS);
	fsl_document_number(document, object, "unknownRatio", rank->unknown_share, DECIMALS);
	fsl_document_index(document, object, "waiterTid",
			   rank->waiter >= 0 ? sched->threads[rank->waiter].tid : -1);
	add_ms(document, object, "runMs", own->whole.in_ns[FSL_SCHED_RUN]);
	add_ms(document, object, "queueMs", fsl_sched_waited_ns(own->whole.in_ns));
	add_ms(document, object, "diskMs", own->whole.in_ns[FSL_SCHED_DISK]);
	add_ms(document, object, "interruptMs", own->whole.irq_ns);
	cJSON *holders = fsl_document_array(document, object, "holders");
	for (size_t i = 0; i < rank->n_holders; i++) {
		add_holder(document, holders, &rank->holders[i], rank->n_high);
	}
	fsl_hostbound_put_details(document, object, rank, sched);
}

/* Adds the advice at @at; advice that repeats it for other pairs of ranks is left out. */
static void add_advice(struct fsl_document *document, cJSON *list,
		       const struct fsl_hostbound *judged, size_t at)
{
	char text[FSL_PHRASE_MAX];
	int32_t ranks[FSL_HOSTBOUND_PARTED_MAX];
	const struct fsl_hostbound_advice *advice = &judged->advice[at];
	if (fsl_hostbound_is_told(judged, at)) {
		return;
	}
	cJSON *object = fsl_document_object(document, list, NULL), *parted = NULL;
	fsl_hostbound_advice_for_all(judged, at, text, sizeof(text));
	fsl_document_text(document, object, "kind", fsl_advice_kind_texts[advice->kind]);
	fsl_document_index(document, object, "rank", advice->rank);
	fsl_document_index(document, object, "otherRank", advice->other_rank);
	fsl_document_index(document, object, "cpu",
			   advice->cpu >= 0 ? advice->cpu : advice->first_cpu);
	fsl_document_index(document, object, "toCpu",
			   advice->kind == FSL_ADVICE_MOVE_INTERRUPT ? advice->first_cpu : -1);
	fsl_document_number(document, object, "msPerStep", advice->ms_per_step, DECIMALS);
	parted = fsl_document_array(document, object, "ranks");
	size_t n = fsl_hostbound_parted(judged, at, ranks);
	for (size_t i = 0; i < n; i++) {
		fsl_document_integer(document, parted, NULL, ranks[i]);
	}
	fsl_document_text(document, object, "text", text);
}

void fsl_hostbound_put_latency(struct fsl_document *document, cJSON *object,
			       const struct fsl_latency *latency)
{
	fsl_document_count(document, object, "count", latency->n);
	add_ms(document, object, "p50Ms", fsl_latency_quantile(latency, 0.5));
	add_ms(document, object, "p95Ms", fsl_latency_quantile(latency, 0.95));
	add_ms(document, object, "p99Ms", fsl_latency_quantile(latency, 0.99));
	add_ms(document, object, "maxMs", latency->max_ns);
	fsl_document_count(document, object, "over100Us", latency->n_over[0]);
	fsl_document_count(document, object, "over1Ms", latency->n_over[1]);
	fsl_document_count(document, object, "over10Ms", latency->n_over[2]);
}

/* Percentiles of a latency; null if there is none. */
static void add_latency(struct fsl_document *document, cJSON *parent, const char *key,
			const struct fsl_latency *latency)
{
	if (latency == NULL || latency->n == 0) {
		fsl_document_null(document, parent, key);
	} else {
		fsl_hostbound_put_latency(document, fsl_document_object(document, parent, key),
					  latency);
	}
}

static void add_states(struct fsl_document *document, cJSON *parent,
		       const int64_t in_ns[FSL_SCHED_STATES_N])
{
	static const char *const keys[FSL_SCHED_STATES_N] = {
		[FSL_SCHED_RUN] = "runMs",
		[FSL_SCHED_RQ_WAKE] = "queueAfterWakeupMs",
		[FSL_SCHED_RQ_PREEMPT] = "queuePreemptedMs",
		[FSL_SCHED_SLEEP] = "sleepMs",
		[FSL_SCHED_DISK] = "diskMs",
		[FSL_SCHED_IDLE] = "idleMs",
		[FSL_SCHED_STOP] = "stopMs",
		[FSL_SCHED_UNKNOWN] = "unknownMs",
	};
	for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
		add_ms(document, parent, keys[i], in_ns[i]);
	}
}

/* Far ones are null without a topology. */
static void add_migrations(struct fsl_document *document, cJSON *object,
			   const struct fsl_sched *sched, const struct fsl_sched_thread *thread)
{
	static const char *const keys[FSL_SCHED_FAR_N] = {"cacheMigrations", "nodeMigrations"};
	fsl_document_count(document, object, "migrations", fsl_sched_moves(sched, thread));
	for (size_t f = 0; f < FSL_SCHED_FAR_N; f++) {
		uint64_t n = fsl_sched_far_moves(sched, thread, (enum fsl_sched_far)f);
		fsl_document_index(document, object, keys[f],
				   sched->topology != NULL ? (int64_t)n : -1);
	}
}

static void add_thread(struct fsl_document *document, cJSON *list, const struct fsl_sched *sched,
		       const struct fsl_sched_thread *thread)
{
	cJSON *object = fsl_document_object(document, list, NULL);
	fsl_document_text(document, object, "name", thread->comm);
	fsl_document_integer(document, object, "tid", thread->tid);
	fsl_document_integer(document, object, "pid",
			     thread->tgid >= 0 ? thread->tgid
					       : sched->threads[thread->process].tid);
	fsl_document_index(document, object, "rank",
			   thread->rank >= 0 ? sched->ranks[thread->rank].rank : -1);
	add_ms(document, object, "windowMs", fsl_sched_lived_ns(sched, thread));
	add_states(document, object, thread->in_ns);
	fsl_document_number(document, object, "cpuTimeMs",
			    thread->n_runtime > 0 ? (double)thread->runtime_ns / FSL_NS_PER_MS
						  : (double)NAN,
			    DECIMALS);
	fsl_document_count(document, object, "voluntarySwitches", thread->n_voluntary);
	fsl_document_count(document, object, "involuntarySwitches", thread->n_involuntary);
	fsl_document_count(document, object, "switchesWithinProcess", thread->n_yields);
	fsl_document_count(document, object, "throttled", thread->n_throttled);
	add_migrations(document, object, sched, thread);
	add_ms(document, object, "irqMs", thread->irq_ns);
	add_ms(document, object, "softirqMs", thread->softirq_ns);
	add_latency(document, object, "wakeupLatency", thread->wake);
	add_latency(document, object, "wakingLatency", thread->waking);
	add_latency(document, object, "preemptedLatency", thread->preempt);
}

static void add_threads(struct fsl_document *document, cJSON *parent, const struct fsl_sched *sched)
{
	size_t *order = NULL;
	cJSON *list = fsl_document_array(document, parent, "threads");
	if (fsl_hostbound_order_threads(sched, &order, NULL) != FSL_OK) {
		document->has_failed = true;
	}
	for (size_t i = 0; i < sched->n_threads && i < THREADS_MAX && !document->has_failed; i++) {
		if (fsl_sched_lived_ns(sched, &sched->threads[order[i]]) > 0) {
			add_thread(document, list, sched, &sched->threads[order[i]]);
		}
	}
	fsl_free(order);
}

static void add_cpus(struct fsl_document *document, cJSON *parent, const struct fsl_sched *sched)
{
	cJSON *list = fsl_document_array(document, parent, "cpus");
	for (size_t c = 0; c < sched->n_cpus; c++) {
		const struct fsl_sched_cpu *cpu = &sched->cpus[c];
		if (!cpu->is_seen) {
			continue;
		}
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_count(document, object, "cpu", c);
		add_ms(document, object, "busyMs", cpu->busy_ns);
		add_ms(document, object, "idleMs", cpu->idle_ns);
		add_ms(document, object, "unknownMs", cpu->unknown_ns);
		fsl_document_count(document, object, "brokenChains", cpu->n_breaks);
	}
}

static void add_interrupts(struct fsl_document *document, cJSON *parent,
			   const struct fsl_sched *sched)
{
	cJSON *list = fsl_document_array(document, parent, "interrupts");
	for (size_t i = 0; i < sched->n_interrupts; i++) {
		const struct fsl_sched_interrupt *interrupt = &sched->interrupts[i];
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_text(document, object, "kind", interrupt->is_soft ? "softirq" : "irq");
		fsl_document_integer(document, object, "number", interrupt->number);
		fsl_document_told(document, object, "name", interrupt->name);
		fsl_document_count(document, object, "count", interrupt->n);
		add_ms(document, object, "selfMs", interrupt->self_ns);
		add_ms(document, object, "stolenFromRanksMs", interrupt->stolen_ns);
	}
}

static void add_coverage(struct fsl_document *document, cJSON *parent,
			 const struct fsl_host_trace *trace)
{
	const struct fsl_ftrace_loaded *loaded = &trace->loaded;
	cJSON *object = fsl_document_object(document, parent, "coverage");
	fsl_document_integer(document, object, "windowBeginNs", trace->sched.begin_ns);
	fsl_document_integer(document, object, "windowEndNs", trace->sched.end_ns);
	fsl_document_count(document, object, "lines", loaded->facts.n_lines);
	fsl_document_count(document, object, "events", loaded->facts.n_events);
	fsl_document_count(document, object, "switches", trace->sched.n_switches);
	fsl_document_count(document, object, "brokenChains", trace->sched.n_breaks);
	fsl_document_count(document, object, "unreadableLines", loaded->facts.n_broken);
	fsl_document_index(document, object, "entriesKept", loaded->facts.n_kept);
	fsl_document_index(document, object, "entriesWritten", loaded->facts.n_written);
	fsl_document_count(document, object, "lostEvents", loaded->facts.n_lost);
	fsl_document_count(document, object, "eventsOutOfOrder", loaded->n_late);
	fsl_document_bool(document, object, "isLossy", loaded->is_lossy);
	fsl_document_bool(document, object, "isCutToCommonWindow", loaded->has_window);
	fsl_document_count(document, object, "stepMarks", loaded->n_marks);
	fsl_document_count(document, object, "ranksWithStepsOfJob", trace->n_job_ranks);
}

static void add_clock(struct fsl_document *document, cJSON *parent,
		      const struct fsl_host_trace *trace)
{
	const struct fsl_ftrace_beside *beside = &trace->beside;
	cJSON *object = fsl_document_object(document, parent, "clock");
	fsl_document_told(document, object, "name", beside->clock);
	fsl_document_bool(document, object, "isTold", beside->is_clock_told);
	fsl_document_bool(document, object, "isEstimated", trace->fit.is_found);
	if (beside->has_offset) {
		fsl_document_integer(document, object, "utcMinusClockNs", beside->offset_ns);
	} else {
		fsl_document_null(document, object, "utcMinusClockNs");
	}
	fsl_document_number(document, object, "score", trace->clock_score, DECIMALS_SCORE);
	fsl_document_number(document, object, "secondScore",
			    trace->fit.score > 0.0 ? trace->fit.second : (double)NAN,
			    DECIMALS_SCORE);
}

/* Files, verdict, ranks (at most @n_ranks_max), advice and picture; @is_whole: coverage and clock,
 * too. */
static void fill_trace(struct fsl_document *document, cJSON *object,
		       const struct fsl_host_trace *trace, size_t n_ranks_max, bool is_whole)
{
	char headline[FSL_PHRASE_MAX];
	const struct fsl_hostbound *judged = &trace->judged;
	cJSON *files = fsl_document_array(document, object, "files");
	for (size_t i = 0; i < trace->files->n_paths; i++) {
		fsl_document_text(document, files, NULL, trace->files->paths[i]);
	}
	fsl_hostbound_headline(trace, headline, sizeof(headline));
	fsl_document_text(document, object, "verdict",
			  fsl_hostbound_verdict_texts[judged->verdict]);
	fsl_document_text(document, object, "headline", headline);
	if (is_whole) {
		add_coverage(document, object, trace);
		add_clock(document, object, trace);
	}
	cJSON *ranks = fsl_document_array(document, object, "ranks");
	for (size_t r = 0; r < judged->n_ranks && r < n_ranks_max; r++) {
		add_rank(document, ranks, &judged->ranks[r], &trace->sched);
	}
	cJSON *advice = fsl_document_array(document, object, "advice");
	for (size_t i = 0; i < judged->n_advice; i++) {
		add_advice(document, advice, judged, i);
	}
	fsl_hostbound_put_picture(document, object, trace);
}

static void add_trace(struct fsl_document *document, cJSON *list,
		      const struct fsl_host_trace *trace)
{
	cJSON *object = fsl_document_object(document, list, NULL);
	fill_trace(document, object, trace, SIZE_MAX, true);
	add_threads(document, object, &trace->sched);
	add_cpus(document, object, &trace->sched);
	add_interrupts(document, object, &trace->sched);
}

cJSON *fsl_hostbound_trace_json(const struct fsl_host_trace *trace)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fill_trace(&document, root, trace, RANKS_OF_CASE_MAX, false);
	return fsl_document_finish(&document, root);
}

cJSON *fsl_hostbound_json(const struct fsl_host_traces *traces)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_text(&document, root, "schema", "failslow.hostbound/1");
	cJSON *list = fsl_document_array(&document, root, "traces");
	for (size_t i = 0; i < traces->n_items && !document.has_failed; i++) {
		add_trace(&document, list, &traces->items[i]);
	}
	cJSON *not_read = fsl_document_array(&document, root, "notRead");
	for (size_t i = 0; i < traces->n_left_out && !document.has_failed; i++) {
		cJSON *object = fsl_document_object(&document, not_read, NULL);
		fsl_document_text(&document, object, "file", traces->left_out[i].path);
		fsl_document_text(&document, object, "reason", traces->left_out[i].reason);
	}
	return fsl_document_finish(&document, root);
}
