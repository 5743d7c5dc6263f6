/* "picture" of a trace in the document of hosts: what its page draws. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "engine/hostbound_picture.h"
#include "report/hostbound_parts.h"

enum {
	CELLS_MAX = 1920, /* of all lanes: a page stays below its budget */
	STEPS_MAX = 160,  /* of the told rank: a bar each, on half of a screen */
	RANKS_MAX = 256,
	LETTER_WAITS = 'w',
	DECIMALS = 6, /* of ms: whole ns */
	LETTER_NOTHING = '.',
};

static void add_ms(struct fsl_document *document, cJSON *object, const char *key, int64_t ns)
{
	fsl_document_number(document, object, key, (double)ns / FSL_NS_PER_MS, DECIMALS);
}

/* Letters of the classes in lanes, and keys of their sums. */
static const struct {
	char letter;
	const char *key;
} classes[FSL_HOST_CLASSES_N] = {
	[FSL_HOST_TOLD] = {'t', "toldRankMs"},       [FSL_HOST_CULPRIT] = {'c', "culpritMs"},
	[FSL_HOST_LIKELY] = {'l', "likelyMs"},       [FSL_HOST_RANK] = {'r', "otherRanksMs"},
	[FSL_HOST_PROCESS] = {'p', "processesMs"},   [FSL_HOST_KERNEL] = {'k', "kernelMs"},
	[FSL_HOST_INTERRUPT] = {'i', "interruptMs"}, [FSL_HOST_IDLE] = {'n', "idleMs"},
	[FSL_HOST_UNKNOWN] = {'u', "unknownMs"},
};

/* The class that has most of @n_merged cells; an interrupt that has half of them comes first. */
static enum fsl_host_class class_of(const struct fsl_host_cell *cells, size_t n_merged)
{
	uint64_t sums[FSL_HOST_CLASSES_N] = {0}, all = 0;
	enum fsl_host_class most = FSL_HOST_UNKNOWN;
	for (size_t i = 0; i < n_merged; i++) {
		for (size_t c = 0; c < FSL_HOST_CLASSES_N; c++) {
			sums[c] += cells[i].ns[c];
			all += c != FSL_HOST_INTERRUPT ? cells[i].ns[c] : 0;
		}
	}
	for (size_t c = 0; c < FSL_HOST_CLASSES_N; c++) {
		if (c != FSL_HOST_INTERRUPT && sums[c] > sums[most]) {
			most = (enum fsl_host_class)c;
		}
	}
	bool is_interrupt = all > 0 && 2 * sums[FSL_HOST_INTERRUPT] >= all;
	return is_interrupt ? FSL_HOST_INTERRUPT : most;
}

/* Whether the told thread waits in half of the cells. */
static bool waits_in(const struct fsl_host_cell *cells, size_t n_merged, double cell_ns)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n_merged; i++) {
		sum += cells[i].wait_ns;
	}
	return 2.0 * (double)sum >= cell_ns * (double)n_merged;
}

static void add_lane(struct fsl_document *document, cJSON *list,
		     const struct fsl_host_picture *picture, const struct fsl_host_lane *lane,
		     size_t n_merged)
{
	char holders[FSL_HOST_CELLS_N + 1], waits[FSL_HOST_CELLS_N + 1];
	double cell_ns = (double)(picture->end_ns - picture->begin_ns) / FSL_HOST_CELLS_N;
	size_t n = 0;
	for (size_t c = 0; c + n_merged <= FSL_HOST_CELLS_N; c += n_merged, n++) {
		holders[n] = classes[class_of(lane->cells + c, n_merged)].letter;
		waits[n] = waits_in(lane->cells + c, n_merged, cell_ns) ? LETTER_WAITS
									: LETTER_NOTHING;
	}
	holders[n] = waits[n] = '\0';
	cJSON *object = fsl_document_object(document, list, NULL);
	fsl_document_integer(document, object, "cpu", lane->cpu);
	fsl_document_text(document, object, "holders", holders);
	fsl_document_text(document, object, "waits", waits);
	add_ms(document, object, "waitMs", lane->wait_ns);
	for (size_t c = 0; c < FSL_HOST_CLASSES_N; c++) {
		add_ms(document, object, classes[c].key, lane->in_ns[c]);
	}
}

static void add_lanes(struct fsl_document *document, cJSON *parent,
		      const struct fsl_host_picture *picture)
{
	size_t n_merged = 1;
	while (picture->n_lanes * (FSL_HOST_CELLS_N / n_merged) > CELLS_MAX) {
		n_merged *= 2; /* divides the number of cells: at most 16 lanes */
	}
	cJSON *list = fsl_document_array(document, parent, "lanes");
	for (size_t i = 0; i < picture->n_lanes; i++) {
		add_lane(document, list, picture, &picture->lanes[i], n_merged);
	}
	fsl_document_count(document, parent, "moreCpus", picture->n_left_out);
}

/* Times of a thread in so many steps, as means; they sum to a step. */
static void add_times(struct fsl_document *document, cJSON *object,
		      const struct fsl_host_times *times, size_t n_steps)
{
	const int64_t *ns = times->in_ns;
	int64_t n = n_steps > 0 ? (int64_t)n_steps : 1;
	int64_t irq_ns = times->irq_ns < ns[FSL_SCHED_RUN] ? times->irq_ns : ns[FSL_SCHED_RUN];
	const struct {
		const char *key;
		int64_t ns;
	} parts[] = {
		{"runMs", ns[FSL_SCHED_RUN] - irq_ns},
		{"interruptMs", irq_ns},
		{"queueAfterWakeupMs", ns[FSL_SCHED_RQ_WAKE]},
		{"queuePreemptedMs", ns[FSL_SCHED_RQ_PREEMPT]},
		{"diskMs", ns[FSL_SCHED_DISK]},
		{"sleepMs", ns[FSL_SCHED_SLEEP]},
		{"stopMs", ns[FSL_SCHED_IDLE] + ns[FSL_SCHED_STOP]},
		{"unknownMs", ns[FSL_SCHED_UNKNOWN]},
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		add_ms(document, object, parts[i].key, parts[i].ns / n);
	}
}

static int64_t tid_of(const struct fsl_sched *sched, int32_t thread)
{
	return thread >= 0 ? sched->threads[thread].tid : -1;
}

static void add_ranks(struct fsl_document *document, cJSON *parent,
		      const struct fsl_host_trace *trace)
{
	const struct fsl_host_picture *picture = trace->picture;
	cJSON *list = fsl_document_array(document, parent, "ranks");
	for (size_t r = 0; r < trace->judged.n_ranks && r < RANKS_MAX; r++) {
		const struct fsl_host_rank_times *rank = &picture->ranks[r];
		cJSON *object = NULL;
		if (rank->n_steps == 0) {
			continue;
		}
		object = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, object, "rank", trace->judged.ranks[r].rank);
		fsl_document_index(document, object, "tid", tid_of(&trace->sched, rank->thread));
		fsl_document_count(document, object, "steps", rank->n_steps);
		add_times(document, object, &rank->sum, rank->n_steps);
	}
}

/* Of @every steps from @first on the one in which the thread waits longest; SIZE_MAX: none lies in
 * the window as a whole. */
static size_t longest_wait(const struct fsl_host_trace *trace, size_t first, size_t every)
{
	const struct fsl_host_picture *picture = trace->picture;
	const struct fsl_sched *sched = &trace->sched;
	const struct fsl_sched_step *steps = sched->ranks[trace->judged.ranks[0].index].steps;
	size_t best = SIZE_MAX;
	for (size_t s = first; s < first + every && s < picture->n_steps; s++) {
		bool is_whole =
			steps[s].begin_ns >= sched->begin_ns && steps[s].end_ns <= sched->end_ns;
		bool is_longer =
			best == SIZE_MAX || fsl_sched_waited_ns(picture->steps[s].in_ns) >
						    fsl_sched_waited_ns(picture->steps[best].in_ns);
		best = is_whole && is_longer ? s : best;
	}
	return best;
}

static void add_steps(struct fsl_document *document, cJSON *parent,
		      const struct fsl_host_trace *trace)
{
	const struct fsl_host_picture *picture = trace->picture;
	size_t every = (picture->n_steps + STEPS_MAX - 1) / STEPS_MAX;
	every = every > 0 ? every : 1;
	fsl_document_count(document, parent, "every", every);
	cJSON *list = fsl_document_array(document, parent, "steps");
	for (size_t first = 0; first < picture->n_steps; first += every) {
		size_t s = longest_wait(trace, first, every);
		if (s == SIZE_MAX) {
			continue;
		}
		const struct fsl_sched_step *step =
			&trace->sched.ranks[trace->judged.ranks[0].index].steps[s];
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, object, "step", step->step);
		add_ms(document, object, "stepMs", step->end_ns - step->begin_ns);
		add_times(document, object, &picture->steps[s], 1);
	}
}

/* Buckets of the powers of two, from the first to the last that has something. */
static void add_buckets(struct fsl_document *document, cJSON *parent,
			const struct fsl_latency *latency)
{
	enum { POWERS_N = FSL_LATENCY_POWER_MAX - FSL_LATENCY_POWER_MIN + 2 };
	uint64_t counts[POWERS_N] = {0};
	size_t first = POWERS_N, last = 0;
	for (size_t b = 0; b < FSL_LATENCY_BUCKETS_N; b++) {
		size_t power = b == 0 ? 0 : 1 + (b - 1) / FSL_LATENCY_PARTS;
		counts[power] += latency->buckets[b];
	}
	for (size_t p = 0; p < POWERS_N; p++) {
		first = counts[p] > 0 && first == POWERS_N ? p : first;
		last = counts[p] > 0 ? p : last;
	}
	cJSON *list = fsl_document_array(document, parent, "buckets");
	for (size_t p = first; p <= last; p++) {
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_number(document, object, "belowMs",
				    ldexp(1.0, (int)p + FSL_LATENCY_POWER_MIN) / FSL_NS_PER_MS,
				    DECIMALS);
		fsl_document_count(document, object, "count", counts[p]);
	}
}

static void add_waits(struct fsl_document *document, cJSON *parent, const char *key,
		      const struct fsl_latency *latency)
{
	if (latency->n == 0) {
		fsl_document_null(document, parent, key);
		return;
	}
	cJSON *object = fsl_document_object(document, parent, key);
	fsl_hostbound_put_latency(document, object, latency);
	add_buckets(document, object, latency);
}

/* How long waits for a CPU are, of all threads of the told rank and of other ranks. */
static void add_latencies(struct fsl_document *document, cJSON *parent,
			  const struct fsl_host_trace *trace)
{
	struct fsl_latency sums[2][2] = {0}; /* after a wakeup or preempted; told rank or others */
	const struct fsl_sched *sched = &trace->sched;
	int32_t told = trace->judged.n_ranks > 0 ? trace->judged.ranks[0].index : -1;
	for (size_t i = 0; i < sched->n_threads; i++) {
		const struct fsl_sched_thread *thread = &sched->threads[i];
		const struct fsl_latency *own[2] = {thread->wake, thread->preempt};
		bool is_other = told < 0 || thread->rank != told;
		for (size_t k = 0; k < 2 && (told < 0 || thread->rank >= 0); k++) {
			if (own[k] != NULL) {
				fsl_latency_merge(&sums[k][is_other], own[k]);
			}
		}
	}
	static const char *const keys[2] = {"afterWakeup", "preempted"};
	for (size_t k = 0; k < 2; k++) {
		cJSON *object = fsl_document_object(document, parent, keys[k]);
		add_waits(document, object, "toldRank", &sums[k][0]);
		add_waits(document, object, "others", &sums[k][1]);
	}
}

void fsl_hostbound_put_picture(struct fsl_document *document, cJSON *parent,
			       const struct fsl_host_trace *trace)
{
	const struct fsl_host_picture *picture = trace->picture;
	if (picture == NULL) {
		fsl_document_null(document, parent, "picture");
		return;
	}
	cJSON *object = fsl_document_object(document, parent, "picture");
	const struct fsl_hostbound *judged = &trace->judged;
	const struct fsl_sched_rank *told =
		judged->n_ranks > 0 ? &trace->sched.ranks[judged->ranks[0].index] : NULL;
	bool has_step = told != NULL && picture->step != SIZE_MAX;
	fsl_document_index(document, object, "rank", told != NULL ? told->rank : -1);
	fsl_document_index(document, object, "step",
			   has_step ? told->steps[picture->step].step : -1);
	fsl_document_index(document, object, "waiterTid", tid_of(&trace->sched, picture->waiter));
	fsl_document_integer(document, object, "beginNs", picture->begin_ns);
	fsl_document_integer(document, object, "endNs", picture->end_ns);
	add_lanes(document, object, picture);
	add_ranks(document, object, trace);
	add_steps(document, object, trace);
	add_latencies(document, object, trace);
}
