/* Sentences about threads of hosts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "report/hostbound_parts.h"
#include "text/phrase.h"

enum { MS_BYTES = 32, NAME_BYTES = 160, TIDS_NAMED = 2 };

static const char *ms_text(double ms, char *text)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_ms(&phrase, ms);
	(void)snprintf(text, MS_BYTES, "%.31s", phrase.text);
	return text;
}

/* "hog (3828, 3830 and more)". */
static void process_text(const struct fsl_hostbound_holder *holder, char *text, size_t size)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add(&phrase, "%s", holder->name[0] != '\0' ? holder->name : "?");
	for (size_t i = 0; i < holder->n_tids && i < TIDS_NAMED; i++) {
		fsl_phrase_add(&phrase, i == 0 ? " (%d" : ", %d", (int)holder->tids[i]);
	}
	if (holder->n_tids > TIDS_NAMED) {
		fsl_phrase_add(&phrase, ", ...");
	}
	(void)snprintf(text, size, "%s%s", phrase.text, holder->n_tids > 0 ? ")" : "");
}

void fsl_hostbound_holder_text(const struct fsl_hostbound_holder *holder, char *text, size_t size)
{
	struct fsl_phrase phrase = {0};
	char process[NAME_BYTES];
	switch (holder->kind) {
	case FSL_HOLDER_PROCESS:
	case FSL_HOLDER_KERNEL:
		process_text(holder, text, size);
		return;
	case FSL_HOLDER_RANK:
		process_text(holder, process, sizeof(process));
		fsl_phrase_add(&phrase, "rank %d %s", (int)holder->rank, process);
		break;
	case FSL_HOLDER_OWN:
		fsl_phrase_add(&phrase, "its own threads");
		break;
	case FSL_HOLDER_QUOTA:
		fsl_phrase_add(&phrase, "nobody (quota)");
		break;
	case FSL_HOLDER_IDLE:
		fsl_phrase_add(&phrase, "nobody (idle)");
		break;
	case FSL_HOLDER_UNKNOWN:
	case FSL_HOLDER_KINDS_N:
		fsl_phrase_add(&phrase, "unknown tasks");
		break;
	}
	(void)snprintf(text, size, "%s", phrase.text);
}

void fsl_hostbound_sentence(const struct fsl_hostbound_rank *rank, char *text, size_t size)
{
	char wait[MS_BYTES], step[MS_BYTES], holder[NAME_BYTES];
	struct fsl_phrase phrase = {0};
	const struct fsl_hostbound_holder *most = fsl_hostbound_main_holder(rank);
	(void)ms_text(rank->wait_ms, wait);
	(void)ms_text(rank->high_step_ms, step);
	if (rank->cause == FSL_HOSTBOUND_QUOTA) {
		fsl_phrase_add(&phrase,
			       "rank %d (%s %d) waited %s of each %s step because its CPU quota "
			       "was used up",
			       (int)rank->rank, rank->name, (int)rank->pid, wait, step);
	} else if (most == NULL) {
		fsl_phrase_add(&phrase,
			       "rank %d (%s %d) waited %s of each %s step for a CPU, held by "
			       "unknown tasks",
			       (int)rank->rank, rank->name, (int)rank->pid, wait, step);
	} else if (most->cpu < 0) {
		fsl_hostbound_holder_text(most, holder, sizeof(holder));
		fsl_phrase_add(&phrase,
			       "rank %d (%s %d) waited %s of each %s step for a CPU, held by %s",
			       (int)rank->rank, rank->name, (int)rank->pid, wait, step, holder);
	} else {
		fsl_hostbound_holder_text(most, holder, sizeof(holder));
		fsl_phrase_add(&phrase,
			       "rank %d (%s %d) waited %s of each %s step for CPU %d, held by %s",
			       (int)rank->rank, rank->name, (int)rank->pid, wait, step,
			       (int)most->cpu, holder);
	}
	(void)snprintf(text, size, "%s", phrase.text);
}

void fsl_hostbound_headline(const struct fsl_host_trace *trace, char *text, size_t size)
{
	const struct fsl_hostbound *judged = &trace->judged;
	char sentence[FSL_PHRASE_MAX];
	struct fsl_phrase phrase = {0};
	switch (judged->verdict) {
	case FSL_HOSTBOUND_FOUND:
		fsl_hostbound_sentence(&judged->ranks[0], sentence, sizeof(sentence));
		fsl_phrase_add(&phrase, "HOST-BOUND: %s", sentence);
		break;
	case FSL_HOSTBOUND_NORMAL:
		fsl_phrase_add(&phrase, "NORMAL: no rank waited for a CPU longer than usual");
		break;
	case FSL_HOSTBOUND_NO_STEPS:
		fsl_phrase_add(&phrase, "NO STEPS: nothing tells the steps of ranks in the trace, "
					"so that only its threads can be told");
		break;
	case FSL_HOSTBOUND_INSUFFICIENT:
	case FSL_HOSTBOUND_VERDICTS_N:
		fsl_phrase_add(&phrase, "INSUFFICIENT EVIDENCE: %s", judged->reason);
		break;
	}
	(void)snprintf(text, size, "%s", phrase.text);
}

static void add_interrupt_advice(struct fsl_phrase *phrase,
				 const struct fsl_hostbound_advice *advice, const char *ms)
{
	int number = (int)advice->interrupt->number;
	if (advice->interrupt->is_soft) {
		fsl_phrase_add(phrase,
			       "keep softirq %d (%s) off CPU %d (move the interrupts that raise "
			       "it, or RPS): it took %s of each step of rank %d",
			       number, advice->interrupt->name, (int)advice->cpu, ms,
			       (int)advice->rank);
		return;
	}
	if (advice->first_cpu >= 0) {
		fsl_phrase_add(phrase,
			       "move interrupt %d (%s) from CPU %d to CPU %d, on which no rank "
			       "runs (/proc/irq/%d/smp_affinity_list): it took %s of each step of "
			       "rank %d",
			       number, advice->interrupt->name, (int)advice->cpu,
			       (int)advice->first_cpu, number, ms, (int)advice->rank);
		return;
	}
	fsl_phrase_add(phrase,
		       "move interrupt %d (%s) off CPU %d (/proc/irq/%d/smp_affinity_list): it "
		       "took %s of each step of rank %d",
		       number, advice->interrupt->name, (int)advice->cpu, number, ms,
		       (int)advice->rank);
}

/* On which cores and nodes ranks should run. */
static void add_place_advice(struct fsl_phrase *phrase, const struct fsl_hostbound_advice *advice)
{
	struct fsl_phrase share = {0}, other = {0};
	fsl_phrase_add_percent(&share, advice->share);
	if (advice->kind == FSL_ADVICE_BIND_NODE) {
		fsl_phrase_add(phrase,
			       "bind rank %d to NUMA node %d (numactl): it had %s of its CPU time "
			       "on other nodes, its threads changed nodes %llu times",
			       (int)advice->rank, (int)advice->node, share.text,
			       (unsigned long long)advice->n_moves);
		return;
	}
	fsl_phrase_add_percent(&other, advice->other_share);
	fsl_phrase_add(phrase,
		       "give rank %d and rank %d cores of their own: CPU %d and CPU %d are one "
		       "core, on which they had %s and %s of their CPU time",
		       (int)advice->rank, (int)advice->other_rank, (int)advice->cpu,
		       (int)advice->other_cpu, share.text, other.text);
}

void fsl_hostbound_advice_text(const struct fsl_hostbound_advice *advice, char *text, size_t size)
{
	struct fsl_phrase phrase = {0};
	char ms[MS_BYTES], holder[NAME_BYTES];
	(void)ms_text(advice->ms_per_step, ms);
	switch (advice->kind) {
	case FSL_ADVICE_MOVE_PROCESS:
		fsl_hostbound_holder_text(advice->holder, holder, sizeof(holder));
		if (advice->cpu < 0) {
			fsl_phrase_add(&phrase,
				       "keep %s off the CPUs of rank %d (taskset, cpuset): it had "
				       "one for %s of each step",
				       holder, (int)advice->rank, ms);
			break;
		}
		fsl_phrase_add(
			&phrase,
			"keep %s off CPU %d (taskset, cpuset): it had the CPU for %s of each "
			"step of rank %d",
			holder, (int)advice->cpu, ms, (int)advice->rank);
		break;
	case FSL_ADVICE_PART_RANKS:
		fsl_phrase_add(&phrase,
			       "give rank %d and rank %d CPUs of their own: they share CPU %d and "
			       "wait %s of each step for each other",
			       (int)advice->rank, (int)advice->other_rank, (int)advice->cpu, ms);
		break;
	case FSL_ADVICE_RAISE_QUOTA:
		fsl_phrase_add(&phrase,
			       "raise the CPU quota of the control group of rank %d (cpu.max): it "
			       "was stopped for %s of each step",
			       (int)advice->rank, ms);
		break;
	case FSL_ADVICE_MOVE_INTERRUPT:
		add_interrupt_advice(&phrase, advice, ms);
		break;
	case FSL_ADVICE_USE_IDLE_CPUS:
		fsl_phrase_add(&phrase, "use idle CPUs: %zu of them were idle, the first is CPU %d",
			       advice->n_cpus, (int)advice->first_cpu);
		break;
	case FSL_ADVICE_BIND_NODE:
	case FSL_ADVICE_PART_CORES:
		add_place_advice(&phrase, advice);
		break;
	case FSL_ADVICE_KINDS_N:
		break;
	}
	(void)snprintf(text, size, "%s", phrase.text);
}

/* True if both part ranks that share one CPU. */
static bool part_alike(const struct fsl_hostbound_advice *a, const struct fsl_hostbound_advice *b)
{
	return a->kind == FSL_ADVICE_PART_RANKS && b->kind == FSL_ADVICE_PART_RANKS &&
	       a->cpu == b->cpu;
}

bool fsl_hostbound_is_told(const struct fsl_hostbound *judged, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (part_alike(&judged->advice[i], &judged->advice[at])) {
			return true;
		}
	}
	return false;
}

/* Adds @rank to ranks[*n] if it is not there. */
static void add_once(int32_t *ranks, size_t *n, int32_t rank)
{
	for (size_t i = 0; i < *n; i++) {
		if (ranks[i] == rank) {
			return;
		}
	}
	ranks[(*n)++] = rank;
}

size_t fsl_hostbound_parted(const struct fsl_hostbound *judged, size_t at,
			    int32_t ranks[FSL_HOSTBOUND_PARTED_MAX])
{
	size_t n = 0;
	for (size_t i = at; i < judged->n_advice && n + 2 <= FSL_HOSTBOUND_PARTED_MAX; i++) {
		if (part_alike(&judged->advice[at], &judged->advice[i])) {
			add_once(ranks, &n, judged->advice[i].rank);
			add_once(ranks, &n, judged->advice[i].other_rank);
		}
	}
	return n;
}

void fsl_hostbound_advice_for_all(const struct fsl_hostbound *judged, size_t at, char *text,
				  size_t size)
{
	enum { RANGES_MAX = 8 };
	const struct fsl_hostbound_advice *first = &judged->advice[at];
	int32_t ranks[FSL_HOSTBOUND_PARTED_MAX];
	struct fsl_phrase phrase = {0};
	char most[MS_BYTES];
	double ms = first->ms_per_step;
	size_t n = fsl_hostbound_parted(judged, at, ranks);
	if (n < 3) {
		fsl_hostbound_advice_text(first, text, size);
		return;
	}
	for (size_t i = at; i < judged->n_advice; i++) {
		bool is_more =
			part_alike(first, &judged->advice[i]) && judged->advice[i].ms_per_step > ms;
		ms = is_more ? judged->advice[i].ms_per_step : ms;
	}
	fsl_phrase_add(&phrase, "give ");
	fsl_phrase_add_unsorted_ranks(&phrase, ranks, n, RANGES_MAX);
	fsl_phrase_add(&phrase,
		       " CPUs of their own: they share CPU %d and wait up to %s of each step for "
		       "each other",
		       (int)first->cpu, ms_text(ms, most));
	(void)snprintf(text, size, "%s", phrase.text);
}

/* A thread's place in tables. */
struct place {
	bool is_of_rank;
	int64_t waited_ns, ran_ns;
	size_t thread;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	FSL_ORDER_BY(b->is_of_rank, a->is_of_rank);
	if (a->is_of_rank) {
		FSL_ORDER_BY(b->waited_ns, a->waited_ns);
	}
	FSL_ORDER_BY(b->ran_ns, a->ran_ns);
	return FSL_ORDER(a->thread, b->thread);
}

enum fsl_status fsl_hostbound_order_threads(const struct fsl_sched *sched, size_t **order,
					    struct fsl_error *err)
{
	struct place *places = NULL;
	enum fsl_status status = FSL_NEW(*order, sched->n_threads + 1, "threads", err);
	FSL_THEN(status, FSL_NEW(places, sched->n_threads + 1, "threads", err));
	if (status == FSL_OK) {
		for (size_t t = 0; t < sched->n_threads; t++) {
			const struct fsl_sched_thread *thread = &sched->threads[t];
			places[t] = (struct place){thread->rank >= 0,
						   fsl_sched_waited_ns(thread->in_ns),
						   fsl_sched_ran_ns(thread), t};
		}
		qsort(places, sched->n_threads, sizeof(*places), compare_places);
		for (size_t t = 0; t < sched->n_threads; t++) {
			(*order)[t] = places[t].thread;
		}
	}
	fsl_free(places);
	return status;
}
