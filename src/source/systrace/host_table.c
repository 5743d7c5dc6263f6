/* Sums over the records of a host, thread by thread and step by step. */
#include "source/systrace/host_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

struct building {
	struct fsl_host_table *table;
	const struct fsl_host_events *events;
	const struct fsl_steps *steps;
	uint32_t *order; /* [n]: events of the present kinds; owned */
	size_t n;
	/* Parts of times off a processor that fall into steps. */
	struct part {
		size_t occupant, step;
		int32_t rank;
		struct fsl_off_cpu sum;
	} * parts;
	size_t n_parts, parts_capacity;
};

static bool is_of_thread(enum fsl_host_kind kind)
{
	return kind == FSL_HOST_OFF_CPU || kind == FSL_HOST_PAGE_FAULT;
}

static int compare_thread_events(const void *left, const void *right, void *context)
{
	const struct fsl_host_event *items = ((const struct fsl_host_events *)context)->items;
	const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct fsl_host_event *a = &items[i], *b = &items[k];
	FSL_ORDER_BY(a->rank, b->rank);
	FSL_ORDER_BY(a->key, b->key);
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	return FSL_ORDER(i, k);
}

/* Rows of one thread, by who took its processor, then by time. */
static int compare_by_next(const void *left, const void *right, void *context)
{
	const struct fsl_host_event *items = ((const struct fsl_host_events *)context)->items;
	const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct fsl_host_event *a = &items[i], *b = &items[k];
	FSL_ORDER_BY(a->kind, b->kind);
	FSL_ORDER_BY(a->next_pid, b->next_pid);
	FSL_ORDER_BY(a->next_id, b->next_id);
	return FSL_ORDER(i, k);
}

static int compare_node_events(const void *left, const void *right, void *context)
{
	const struct fsl_host_event *items = ((const struct fsl_host_events *)context)->items;
	const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct fsl_host_event *a = &items[i], *b = &items[k];
	FSL_ORDER_BY(a->file, b->file);
	FSL_ORDER_BY(a->kind, b->kind);
	FSL_ORDER_BY(a->key, b->key);
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	return FSL_ORDER(i, k);
}

/* Time in which the thread was ready to run: at the end, as it waits for something else before. The
 * recorder cuts durations to us, so that the growth of the delay may exceed them. */
static int64_t queue_ns(const struct fsl_host_event *event)
{
	int64_t off_ns = event->end_ns - event->begin_ns;
	int64_t told_ns = event->run_delay_ns > 0 ? event->run_delay_ns : 0;
	return told_ns < off_ns ? told_ns : off_ns;
}

static void add(struct fsl_off_cpu *sum, uint64_t n, int64_t off_ns, int64_t queued_ns)
{
	sum->n += n;
	sum->off_ns = fsl_sum_i64(sum->off_ns, off_ns);
	sum->queue_ns = fsl_sum_i64(sum->queue_ns, queued_ns);
}

static int64_t overlap_ns(int64_t begin_ns, int64_t end_ns, const struct fsl_job_step *step)
{
	int64_t from_ns = begin_ns > step->begin_ns ? begin_ns : step->begin_ns;
	int64_t step_end_ns = fsl_sum_i64(step->begin_ns, step->dur_ns);
	int64_t to_ns = end_ns < step_end_ns ? end_ns : step_end_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Adds the parts of one time off a processor that fall into steps. */
static enum fsl_status add_parts(struct building *b, const struct fsl_host_event *event,
				 size_t occupant, struct fsl_error *err)
{
	size_t s = 0, n_steps = b->steps != NULL ? b->steps->n_items : 0;
	const struct fsl_job_step *steps = n_steps > 0 ? b->steps->items : NULL;
	FSL_BISECT(s, n_steps, i,
		   fsl_sum_i64(steps[i].begin_ns, steps[i].dur_ns) <= event->begin_ns);
	for (; s < n_steps && steps[s].begin_ns < event->end_ns; s++) {
		struct part part = {.occupant = occupant, .step = s, .rank = event->rank};
		add(&part.sum, 1, overlap_ns(event->begin_ns, event->end_ns, &steps[s]),
		    overlap_ns(event->end_ns - queue_ns(event), event->end_ns, &steps[s]));
		FSL_TRY(FSL_APPEND(b, parts, &part, err));
	}
	return FSL_OK;
}

static int compare_occupants(const void *left, const void *right)
{
	const struct fsl_host_occupant *a = left, *b = right;
	FSL_ORDER_BY(b->sum.queue_ns, a->sum.queue_ns);
	FSL_ORDER_BY(b->sum.off_ns, a->sum.off_ns);
	FSL_ORDER_BY(a->pid, b->pid);
	return FSL_ORDER(a->name_id, b->name_id);
}

/* Occupants of one thread, whose events are order[0 .. n). */
static enum fsl_status add_occupants(struct building *b, uint32_t *order, size_t n,
				     struct fsl_error *err)
{
	struct fsl_host_table *table = b->table;
	struct fsl_host_thread *thread = &table->threads[table->n_threads - 1];
	const struct fsl_host_event *items = b->events->items, *last = NULL;
	thread->first_occupant = table->n_occupants;
	qsort_r(order, n, sizeof(*order), compare_by_next, (void *)(uintptr_t)b->events);
	for (size_t i = 0; i < n; i++) {
		const struct fsl_host_event *event = &items[order[i]];
		if (event->kind != FSL_HOST_OFF_CPU) {
			continue;
		}
		if (last == NULL || last->next_pid != event->next_pid ||
		    last->next_id != event->next_id) {
			struct fsl_host_occupant occupant = {.thread = table->n_threads - 1,
							     .name_id = event->next_id,
							     .pid = event->next_pid};
			FSL_TRY(FSL_APPEND(table, occupants, &occupant, err));
		}
		last = event;
		add(&table->occupants[table->n_occupants - 1].sum, 1,
		    event->end_ns - event->begin_ns, queue_ns(event));
	}
	thread->n_occupants = table->n_occupants - thread->first_occupant;
	if (thread->n_occupants > 0) {
		qsort(table->occupants + thread->first_occupant, thread->n_occupants,
		      sizeof(*table->occupants), compare_occupants);
	}
	return FSL_OK;
}

/* Parts of one thread in steps, when its occupants have their places. */
static enum fsl_status add_thread_parts(struct building *b, const uint32_t *order, size_t n,
					struct fsl_error *err)
{
	const struct fsl_host_table *table = b->table;
	const struct fsl_host_thread *thread = &table->threads[table->n_threads - 1];
	const struct fsl_host_event *last = NULL;
	size_t o = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_host_event *event = &b->events->items[order[i]];
		if (event->kind != FSL_HOST_OFF_CPU) {
			continue;
		}
		if (last == NULL || last->next_pid != event->next_pid ||
		    last->next_id != event->next_id) {
			o = thread->first_occupant; /* they follow each other by occupant */
		}
		last = event;
		while (table->occupants[o].pid != event->next_pid ||
		       table->occupants[o].name_id != event->next_id) {
			o++;
		}
		FSL_TRY(add_parts(b, event, o, err));
	}
	return FSL_OK;
}

/* One thread, whose events are order[0 .. n), sorted by time. */
static enum fsl_status add_thread(struct building *b, uint32_t *order, size_t n,
				  struct fsl_error *err)
{
	const struct fsl_host_event *first = &b->events->items[order[0]];
	struct fsl_host_thread thread = {.rank = first->rank,
					 .tid = first->key,
					 .begin_ns = first->begin_ns,
					 .end_ns = first->end_ns};
	for (size_t i = 0; i < n; i++) {
		const struct fsl_host_event *event = &b->events->items[order[i]];
		int64_t off_ns = event->end_ns - event->begin_ns;
		thread.name_id = event->name_id;
		thread.end_ns = event->end_ns > thread.end_ns ? event->end_ns : thread.end_ns;
		if (event->kind == FSL_HOST_OFF_CPU) {
			add(&thread.sum, 1, off_ns, queue_ns(event));
			thread.n_untold += event->run_delay_ns < 0;
		} else {
			thread.n_faults++;
			thread.fault_ns = fsl_sum_i64(thread.fault_ns, off_ns);
		}
	}
	FSL_TRY(FSL_APPEND(b->table, threads, &thread, err));
	FSL_TRY(add_occupants(b, order, n, err));
	return add_thread_parts(b, order, n, err);
}

/* Puts the events of some kinds into an order. */
static void choose(struct building *b, bool (*is_wanted)(enum fsl_host_kind kind),
		   int (*compare)(const void *left, const void *right, void *context))
{
	b->n = 0;
	for (size_t i = 0; i < b->events->n_items; i++) {
		if (is_wanted(b->events->items[i].kind)) {
			b->order[b->n++] = (uint32_t)i;
		}
	}
	if (b->n > 0) {
		qsort_r(b->order, b->n, sizeof(*b->order), compare, (void *)(uintptr_t)b->events);
	}
}

static enum fsl_status add_threads(struct building *b, struct fsl_error *err)
{
	const struct fsl_host_event *items = b->events->items;
	choose(b, is_of_thread, compare_thread_events);
	for (size_t i = 0, end = 0; i < b->n; i = end) {
		const struct fsl_host_event *first = &items[b->order[i]];
		for (end = i + 1; end < b->n && items[b->order[end]].rank == first->rank &&
				  items[b->order[end]].key == first->key;) {
			end++;
		}
		FSL_TRY(add_thread(b, b->order + i, end - i, err));
	}
	return FSL_OK;
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	FSL_ORDER_BY(a->rank, b->rank);
	FSL_ORDER_BY(a->step, b->step);
	return FSL_ORDER(a->occupant, b->occupant);
}

/* Sums parts[0 .. n), which are those of one rank in one step, sorted by occupant. */
static enum fsl_status add_cell(struct building *b, const struct part *parts, size_t n,
				struct fsl_error *err)
{
	struct fsl_host_cell cell = {.rank = parts[0].rank,
				     .step = b->steps->items[parts[0].step].step,
				     .occupant = parts[0].occupant,
				     .occupant_ns = -1};
	int64_t of_occupant_ns = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_other = i == 0 || parts[i].occupant != parts[i - 1].occupant;
		of_occupant_ns = (is_other ? 0 : of_occupant_ns) + parts[i].sum.queue_ns;
		add(&cell.sum, parts[i].sum.n, parts[i].sum.off_ns, parts[i].sum.queue_ns);
		if (of_occupant_ns > cell.occupant_ns) {
			cell.occupant_ns = of_occupant_ns;
			cell.occupant = parts[i].occupant;
		}
	}
	return FSL_APPEND(b->table, cells, &cell, err);
}

static enum fsl_status add_cells(struct building *b, struct fsl_error *err)
{
	if (b->n_parts == 0) {
		return FSL_OK;
	}
	qsort(b->parts, b->n_parts, sizeof(*b->parts), compare_parts);
	for (size_t i = 0, end = 0; i < b->n_parts; i = end) {
		for (end = i + 1; end < b->n_parts && b->parts[end].rank == b->parts[i].rank &&
				  b->parts[end].step == b->parts[i].step;) {
			end++;
		}
		FSL_TRY(add_cell(b, b->parts + i, end - i, err));
	}
	return FSL_OK;
}

static enum fsl_status add_stalls(struct building *b, struct fsl_error *err)
{
	struct fsl_host_table *table = b->table;
	const struct fsl_host_event *last = NULL;
	choose(b, fsl_host_is_of_node, compare_node_events);
	for (size_t i = 0; i < b->n; i++) {
		const struct fsl_host_event *event = &b->events->items[b->order[i]];
		bool is_other = last == NULL || last->file != event->file ||
				last->kind != event->kind || last->key != event->key;
		if (is_other) {
			struct fsl_host_stall stall = {
				.file = event->file, .cpu = event->key, .kind = event->kind};
			FSL_TRY(FSL_APPEND(table, stalls, &stall, err));
		}
		struct fsl_host_stall *stall = &table->stalls[table->n_stalls - 1];
		if (!is_other && last->end_ns > event->begin_ns) {
			stall->n_overlapping++;
			stall->sum_ns -= last->end_ns - event->begin_ns;
		}
		stall->n++;
		stall->sum_ns = fsl_sum_i64(stall->sum_ns, event->end_ns - event->begin_ns);
		last = event;
	}
	return FSL_OK;
}

enum fsl_status fsl_host_table_build(struct fsl_host_table *table,
				     const struct fsl_host_events *events,
				     const struct fsl_steps *steps, struct fsl_error *err)
{
	struct building b = {.table = table, .events = events, .steps = steps};
	enum fsl_status status = FSL_NEW(b.order, events->n_items + 1, "events", err);
	FSL_THEN(status, add_threads(&b, err));
	FSL_THEN(status, add_cells(&b, err));
	FSL_THEN(status, add_stalls(&b, err));
	fsl_free(b.parts);
	fsl_free(b.order);
	return status;
}

void fsl_host_table_fini(struct fsl_host_table *table)
{
	fsl_free(table->threads);
	fsl_free(table->occupants);
	fsl_free(table->cells);
	fsl_free(table->stalls);
	*table = (struct fsl_host_table){0};
}
