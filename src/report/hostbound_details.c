/* Sentences about chains of wakes, interrupts and migrations of a rank. */
#include <stdio.h>

#include "base/language.h"
#include "base/number.h"
#include "judge/limits.h"
#include "report/hostbound_parts.h"

/* A word in the language of the screen. */
static const char *word(const char *text, bool is_screen, struct fsl_told *told)
{
	return is_screen ? fsl_tell(text, told) : text;
}

static void add_time(struct fsl_phrase *phrase, int64_t ns)
{
	fsl_phrase_add_ms(phrase, (double)ns / FSL_NS_PER_MS);
}

/* Who woke a link that no thread woke. */
static void add_origin(struct fsl_phrase *phrase, const struct fsl_sched_link *link,
		       const struct fsl_sched *sched, bool is_screen)
{
	struct fsl_told told;
	if (link->interrupt >= 0 && link->waker < 0) {
		const struct fsl_sched_interrupt *interrupt = &sched->interrupts[link->interrupt];
		fsl_phrase_add(phrase, "%s %d (%s) > ",
			       word(interrupt->is_soft ? N_("softirq") : N_("interrupt"), is_screen,
				    &told),
			       (int)interrupt->number, interrupt->name);
	} else if (link->waker == FSL_SCHED_WAKER_INTERRUPT) {
		fsl_phrase_add(phrase, "%s > ", word(N_("an interrupt"), is_screen, &told));
	} else if (link->waker == FSL_SCHED_WAKER_UNKNOWN) {
		fsl_phrase_add(phrase, "? > ");
	}
}

static void add_link(struct fsl_phrase *phrase, const struct fsl_sched_link *link,
		     const struct fsl_sched *sched, bool is_screen)
{
	struct fsl_told told;
	const struct fsl_sched_thread *thread = &sched->threads[link->thread];
	add_origin(phrase, link, sched, is_screen);
	fsl_phrase_add(phrase, "%s (%d) ", thread->comm[0] != '\0' ? thread->comm : "?",
		       (int)thread->tid);
	if ((double)link->slept_ns >= FSL_JUDGE_TOLD_MS_MIN * FSL_NS_PER_MS) {
		fsl_phrase_add(phrase, "%s ", word(N_("asleep"), is_screen, &told));
		add_time(phrase, link->slept_ns);
		fsl_phrase_add(phrase, ", ");
	}
	fsl_phrase_add(phrase, "%s ", word(N_("awake"), is_screen, &told));
	add_time(phrase, link->awake_ns);
	if ((double)link->queued_ns >= FSL_JUDGE_TOLD_MS_MIN * FSL_NS_PER_MS) {
		fsl_phrase_add(phrase, " (%s ", word(N_("waiting for a CPU"), is_screen, &told));
		add_time(phrase, link->queued_ns);
		fsl_phrase_add(phrase, ")");
	}
}

void fsl_hostbound_add_chain(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank,
			     const struct fsl_sched *sched, bool is_screen)
{
	struct fsl_told told;
	const struct fsl_sched_rank *own = &sched->ranks[rank->index];
	const struct fsl_sched_chain *chain = &own->chain;
	if (chain->step < 0 || chain->n_links == 0) {
		return;
	}
	fsl_phrase_add(phrase, "%s %lld: ", word(N_("step"), is_screen, &told),
		       (long long)own->steps[chain->step].step);
	fsl_phrase_add(phrase, "%s", chain->is_cut ? "... > " : "");
	for (size_t i = chain->n_links; i > 0; i--) {
		add_link(phrase, &chain->links[i - 1], sched, is_screen);
		fsl_phrase_add(phrase, "%s", i > 1 ? " > " : "");
	}
}

void fsl_hostbound_add_interrupts(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank)
{
	double n = (double)rank->n_steps * FSL_NS_PER_MS;
	for (size_t i = 0; i < rank->n_interrupts && rank->n_steps > 0; i++) {
		const struct fsl_hostbound_interrupt *item = &rank->interrupts[i];
		if ((double)item->taken_ns / n < FSL_JUDGE_TOLD_MS_MIN) {
			break;
		}
		fsl_phrase_add(phrase, "%s%s (%s %d) on CPU %d ", i > 0 ? "; " : "",
			       item->interrupt->name, item->interrupt->is_soft ? "softirq" : "irq",
			       (int)item->interrupt->number, (int)item->cpu);
		fsl_phrase_add_ms(phrase, (double)item->taken_ns / n);
	}
}

/* Sums over the threads of a rank. */
struct moves {
	uint64_t all, far[FSL_SCHED_FAR_N];
};

static struct moves moves_of(const struct fsl_sched *sched, int32_t rank)
{
	struct moves sum = {0};
	for (size_t t = 0; t < sched->n_threads; t++) {
		const struct fsl_sched_thread *thread = &sched->threads[t];
		if (thread->rank != rank) {
			continue;
		}
		sum.all += fsl_sched_moves(sched, thread);
		for (size_t f = 0; f < FSL_SCHED_FAR_N; f++) {
			sum.far[f] += fsl_sched_far_moves(sched, thread, (enum fsl_sched_far)f);
		}
	}
	return sum;
}

void fsl_hostbound_add_moves(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank,
			     const struct fsl_sched *sched)
{
	struct moves moves = moves_of(sched, rank->index);
	if (sched->topology != NULL && moves.all > 0) {
		fsl_phrase_add(phrase,
			       "its threads went to another CPU %llu times, to another cache %llu "
			       "times, to another NUMA node %llu times",
			       (unsigned long long)moves.all,
			       (unsigned long long)moves.far[FSL_SCHED_FAR_CACHE],
			       (unsigned long long)moves.far[FSL_SCHED_FAR_NODE]);
	}
}

static void put_ms(struct fsl_document *document, cJSON *object, const char *key, int64_t ns)
{
	fsl_document_number(document, object, key, (double)ns / FSL_NS_PER_MS, FSL_DECIMALS_MS);
}

/* CPU time of the rank by NUMA node. */
static void put_nodes(struct fsl_document *document, cJSON *object, const struct fsl_sched *sched,
		      const struct fsl_sched_rank *rank)
{
	cJSON *list = fsl_document_array(document, object, "nodes");
	int32_t last = -1;
	for (;;) {
		int32_t next = INT32_MAX;
		int64_t sum_ns = 0;
		for (size_t c = 0; c < sched->n_cpus; c++) {
			int32_t node = fsl_sched_place_of(sched->topology, (int32_t)c).node;
			bool is_before = node > last && node < next && rank->cpu_ns[c] > 0;
			sum_ns = is_before ? 0 : sum_ns;
			next = is_before ? node : next;
			sum_ns += node == next ? rank->cpu_ns[c] : 0;
		}
		if (next == INT32_MAX || document->has_failed) {
			return;
		}
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, entry, "node", next);
		put_ms(document, entry, "runMs", sum_ns);
		last = next;
	}
}

static void put_interrupts(struct fsl_document *document, cJSON *object,
			   const struct fsl_hostbound_rank *rank)
{
	cJSON *list = fsl_document_array(document, object, "interrupts");
	int64_t n = rank->n_steps > 0 ? (int64_t)rank->n_steps : 1;
	for (size_t i = 0; i < rank->n_interrupts; i++) {
		const struct fsl_hostbound_interrupt *item = &rank->interrupts[i];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "kind",
				  item->interrupt->is_soft ? "softirq" : "irq");
		fsl_document_integer(document, entry, "number", item->interrupt->number);
		fsl_document_told(document, entry, "name", item->interrupt->name);
		fsl_document_integer(document, entry, "cpu", item->cpu);
		put_ms(document, entry, "msPerStep", item->taken_ns / n);
		put_ms(document, entry, "onCpuMs", item->cpu_ns);
	}
}

static void put_links(struct fsl_document *document, cJSON *object, const struct fsl_sched *sched,
		      const struct fsl_sched_chain *chain)
{
	cJSON *list = fsl_document_array(document, object, "links");
	for (size_t i = 0; i < chain->n_links; i++) {
		const struct fsl_sched_link *link = &chain->links[i];
		const struct fsl_sched_thread *thread = &sched->threads[link->thread];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "name", thread->comm);
		fsl_document_integer(document, entry, "tid", thread->tid);
		fsl_document_index(document, entry, "rank",
				   thread->rank >= 0 ? sched->ranks[thread->rank].rank : -1);
		put_ms(document, entry, "awakeMs", link->awake_ns);
		put_ms(document, entry, "queuedMs", link->queued_ns);
		put_ms(document, entry, "asleepMs", link->slept_ns);
		fsl_document_text(document, entry, "wokenBy",
				  link->waker >= 0                           ? "thread"
				  : link->waker == FSL_SCHED_WAKER_INTERRUPT ? "interrupt"
				  : link->waker == FSL_SCHED_WAKER_NONE      ? "nobody"
									     : "unknown");
		fsl_document_told(document, entry, "interrupt",
				  link->waker < 0 && link->interrupt >= 0
					  ? sched->interrupts[link->interrupt].name
					  : NULL);
	}
}

static void put_chain(struct fsl_document *document, cJSON *object,
		      const struct fsl_hostbound_rank *rank, const struct fsl_sched *sched)
{
	const struct fsl_sched_rank *own = &sched->ranks[rank->index];
	const struct fsl_sched_chain *chain = &own->chain;
	struct fsl_phrase phrase = {0};
	if (chain->step < 0 || chain->n_links == 0) {
		fsl_document_null(document, object, "chain");
		return;
	}
	const struct fsl_sched_step *step = &own->steps[chain->step];
	cJSON *entry = fsl_document_object(document, object, "chain");
	fsl_document_integer(document, entry, "step", step->step);
	put_ms(document, entry, "stepMs", step->end_ns - step->begin_ns);
	fsl_document_bool(document, entry, "isCut", chain->is_cut);
	fsl_hostbound_add_chain(&phrase, rank, sched, false);
	fsl_document_text(document, entry, "text", phrase.text);
	put_links(document, entry, sched, chain);
}

void fsl_hostbound_put_details(struct fsl_document *document, cJSON *object,
			       const struct fsl_hostbound_rank *rank, const struct fsl_sched *sched)
{
	struct moves moves = moves_of(sched, rank->index);
	bool is_told = sched->topology != NULL;
	fsl_document_count(document, object, "migrations", moves.all);
	fsl_document_index(document, object, "cacheMigrations",
			   is_told ? (int64_t)moves.far[FSL_SCHED_FAR_CACHE] : -1);
	fsl_document_index(document, object, "nodeMigrations",
			   is_told ? (int64_t)moves.far[FSL_SCHED_FAR_NODE] : -1);
	put_nodes(document, object, sched, &sched->ranks[rank->index]);
	put_interrupts(document, object, rank);
	put_chain(document, object, rank, sched);
}
