/* Records of the host among the inputs of a conversion: who waited for a processor, and who had it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/language.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"
#include "cli/convert_parts.h"
#include "source/systrace/host_table.h"
#include "text/phrase.h"

enum {
	RANKS_TOLD_MAX = 8,
	/* A thread that waits for less of its time is told by the timeline alone, percent. */
	SHARE_MIN_PERCENT = 1,
};

static struct fsl_phrase length_of(int64_t ns)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_length(&phrase, ns);
	return phrase;
}

/* "stress-ng 9182" */
static struct fsl_phrase task_of(const struct fsl_conversion *c, uint32_t name_id, uint32_t pid)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add(&phrase, "%s %" PRIu32,
		       name_id != FSL_STR_NONE ? fsl_strpool_text(c->host.names, name_id) : "?",
		       pid);
	fsl_log_make_plain(phrase.text);
	return phrase;
}

/* The step in which the rank waited longest; NULL: no step is known. */
static const struct fsl_host_cell *worst_step(const struct fsl_host_table *table, int32_t rank)
{
	const struct fsl_host_cell *worst = NULL;
	for (size_t i = 0; i < table->n_cells; i++) {
		const struct fsl_host_cell *cell = &table->cells[i];
		if (cell->rank == rank &&
		    (worst == NULL || cell->sum.queue_ns > worst->sum.queue_ns)) {
			worst = cell;
		}
	}
	return worst != NULL && worst->sum.queue_ns > 0 ? worst : NULL;
}

static void tell_thread(const struct fsl_conversion *c, const struct fsl_host_table *table,
			const struct fsl_host_thread *thread)
{
	const struct fsl_host_occupant *occupant = &table->occupants[thread->first_occupant];
	const struct fsl_host_cell *worst = worst_step(table, thread->rank);
	(void)fsl_tell_print(
		stdout,
		"rank %d: %s waited for a processor for %s of %s, for %s of it after %s "
		"took its own\n",
		(int)thread->rank, task_of(c, thread->name_id, thread->tid).text,
		length_of(thread->sum.queue_ns).text,
		length_of(thread->end_ns - thread->begin_ns).text,
		length_of(occupant->sum.queue_ns).text,
		task_of(c, occupant->name_id, occupant->pid).text);
	if (worst != NULL) {
		occupant = &table->occupants[worst->occupant];
		(void)fsl_tell_print(stdout,
				     "  longest in step %" PRId64
				     ": %s over all threads, for %s after "
				     "%s came\n",
				     worst->step, length_of(worst->sum.queue_ns).text,
				     length_of(worst->occupant_ns).text,
				     task_of(c, occupant->name_id, occupant->pid).text);
	}
}

static int compare_threads(const void *left, const void *right)
{
	const struct fsl_host_thread *a = *(const struct fsl_host_thread *const *)left;
	const struct fsl_host_thread *b = *(const struct fsl_host_thread *const *)right;
	FSL_ORDER_BY(b->sum.queue_ns, a->sum.queue_ns);
	return FSL_ORDER(a->rank, b->rank);
}

/* The thread of each rank that waited longest, if that is worth telling. @worst: room for all. */
static size_t choose_threads(const struct fsl_conversion *c, const struct fsl_host_table *table,
			     const struct fsl_host_thread **worst)
{
	size_t n = 0, n_kept = 0;
	for (size_t i = 0; i < table->n_threads; i++) {
		const struct fsl_host_thread *thread = &table->threads[i];
		if (!fsl_conversion_wants(c->wanted, thread->rank)) {
			continue;
		}
		if (n == 0 || worst[n - 1]->rank != thread->rank) {
			worst[n++] = thread;
		} else if (thread->sum.queue_ns > worst[n - 1]->sum.queue_ns) {
			worst[n - 1] = thread;
		}
	}
	for (size_t i = 0; i < n; i++) {
		int64_t length_ns = worst[i]->end_ns - worst[i]->begin_ns;
		if (worst[i]->sum.queue_ns > length_ns / 100 * SHARE_MIN_PERCENT &&
		    worst[i]->n_occupants > 0) {
			worst[n_kept++] = worst[i];
		}
	}
	if (n_kept > 0) {
		qsort(worst, n_kept, sizeof(const struct fsl_host_thread *), compare_threads);
	}
	return n_kept;
}

static enum fsl_status tell_waits(const struct fsl_conversion *c,
				  const struct fsl_host_table *table, struct fsl_error *err)
{
	const struct fsl_host_thread **worst = NULL;
	FSL_TRY(FSL_NEW(worst, table->n_threads + 1, "threads", err));
	size_t n = choose_threads(c, table, worst);
	for (size_t i = 0; i < n && i < RANKS_TOLD_MAX; i++) {
		tell_thread(c, table, worst[i]);
	}
	if (n > RANKS_TOLD_MAX) {
		(void)fsl_tell_print(stdout,
				     "waits for processors of %zu more ranks: in the file\n",
				     n - RANKS_TOLD_MAX);
	}
	fsl_free(worst);
	return FSL_OK;
}

/* Memory management of all hosts, kind by kind. */
static void tell_stalls(const struct fsl_host_table *table)
{
	static const struct {
		enum fsl_host_kind kind;
		const char *name;
	} kinds[] = {
		{FSL_HOST_SWAP, N_("swapping")},
		{FSL_HOST_COMPACTION, N_("compaction of memory")},
		{FSL_HOST_RECLAIM, N_("reclaim of memory")},
	};
	struct fsl_told room;
	uint64_t n_overlapping = 0;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct fsl_host_stall all = {0};
		for (size_t i = 0; i < table->n_stalls; i++) {
			if (table->stalls[i].kind == kinds[k].kind) {
				all.n += table->stalls[i].n;
				all.sum_ns += table->stalls[i].sum_ns;
				n_overlapping += table->stalls[i].n_overlapping;
			}
		}
		if (all.n > 0) {
			(void)fsl_tell_print(stdout, "hosts: %s took %s, events: %" PRIu64 "\n",
					     fsl_tell(kinds[k].name, &room),
					     length_of(all.sum_ns).text, all.n);
		}
	}
	if (n_overlapping > 0) {
		(void)fsl_tell_print(stdout,
				     "  %" PRIu64
				     " of them last impossibly long, and are cut where the next "
				     "one of the processor begins\n",
				     n_overlapping);
	}
}

enum fsl_status fsl_conversion_tell_host(const struct fsl_conversion *c, struct fsl_error *err)
{
	struct fsl_host_table table = {0};
	if (c->host.n_items == 0) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_host_table_build(&table, &c->host, &c->steps, err);
	FSL_THEN(status, tell_waits(c, &table, err));
	if (status == FSL_OK) {
		tell_stalls(&table);
	}
	fsl_host_table_fini(&table);
	return status;
}
