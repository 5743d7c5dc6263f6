/* Merging files by time, and sorting events that come a little late. */
#include "source/ftrace/merge.h"

#include "base/mem.h"

/* One file and its next event. */
struct lane {
	struct fsl_ftrace_reader *reader;
	const struct fsl_sched_event *next; /* NULL: at its end */
};

/* A copy of an event, with its texts. */
struct slot {
	struct fsl_sched_event event;
	uint64_t number; /* order of arrival among equal times */
	char names[3][FSL_SCHED_COMM_MAX + 1];
	char text[FSL_SCHED_TEXT_MAX + 1];
};

struct fsl_ftrace_merge {
	struct lane *lanes;
	size_t n_lanes;
	size_t last; /* lane whose event was handed out; n_lanes: none */
	int64_t last_ns;
	uint64_t n_late;
	struct fsl_sched_event event; /* one that came late */
	/* Sorting: a heap of slots by time, and the slot that was handed out. */
	bool sorts;
	struct slot *slots;
	uint32_t *heap; /* indexes of slots, [n_heap] */
	size_t n_heap;
	uint32_t *unused; /* [n_unused] */
	size_t n_unused;
	uint32_t given; /* slot whose event was handed out; UINT32_MAX: none */
	uint64_t n_taken;
	bool is_drained;
};

static enum fsl_status prepare_sorting(struct fsl_ftrace_merge *merge, struct fsl_error *err)
{
	size_t n = FSL_FTRACE_SORTED_MAX;
	FSL_TRY(FSL_NEW(merge->slots, n, "events", err));
	FSL_TRY(FSL_NEW(merge->heap, n, "events", err));
	FSL_TRY(FSL_NEW(merge->unused, n, "events", err));
	for (size_t i = 0; i < n; i++) {
		merge->unused[merge->n_unused++] = (uint32_t)i;
	}
	return FSL_OK;
}

enum fsl_status fsl_ftrace_merge_open(struct fsl_ftrace_merge **out, const char *const *paths,
				      size_t n_paths, bool sorts, struct fsl_error *err)
{
	struct fsl_ftrace_merge *merge = NULL;
	if (n_paths > FSL_FTRACE_FILES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many files of kernel traces: files=%zu",
				n_paths);
	}
	FSL_TRY(FSL_NEW(merge, 1, "merges", err));
	*merge = (struct fsl_ftrace_merge){
		.sorts = sorts, .last_ns = INT64_MIN, .given = UINT32_MAX, .last = SIZE_MAX};
	enum fsl_status status = FSL_NEW(merge->lanes, n_paths, "files", err);
	for (size_t i = 0; status == FSL_OK && i < n_paths; i++) {
		struct lane *lane = &merge->lanes[i];
		status = fsl_ftrace_open(&lane->reader, paths[i], err);
		merge->n_lanes += status == FSL_OK;
		FSL_THEN(status, fsl_ftrace_next(lane->reader, &lane->next, err));
	}
	if (status == FSL_OK && sorts) {
		status = prepare_sorting(merge, err);
	}
	if (status != FSL_OK) {
		fsl_ftrace_merge_close(merge);
		return status;
	}
	*out = merge;
	return FSL_OK;
}

void fsl_ftrace_merge_close(struct fsl_ftrace_merge *merge)
{
	if (merge == NULL) {
		return;
	}
	for (size_t i = 0; i < merge->n_lanes; i++) {
		fsl_ftrace_close(merge->lanes[i].reader);
	}
	fsl_free(merge->lanes);
	fsl_free(merge->slots);
	fsl_free(merge->heap);
	fsl_free(merge->unused);
	fsl_free(merge);
}

/* The earliest of the files' next events; the event stays where it is until the next call. */
static enum fsl_status take(struct fsl_ftrace_merge *merge, const struct fsl_sched_event **event,
			    struct fsl_error *err)
{
	if (merge->last < merge->n_lanes) {
		struct lane *lane = &merge->lanes[merge->last];
		FSL_TRY(fsl_ftrace_next(lane->reader, &lane->next, err));
	}
	merge->last = 0;
	if (merge->n_lanes != 1) {
		merge->last = merge->n_lanes;
		for (size_t i = 0; i < merge->n_lanes; i++) {
			const struct fsl_sched_event *next = merge->lanes[i].next;
			if (next != NULL &&
			    (merge->last == merge->n_lanes ||
			     next->time_ns < merge->lanes[merge->last].next->time_ns)) {
				merge->last = i;
			}
		}
	}
	*event = merge->last < merge->n_lanes ? merge->lanes[merge->last].next : NULL;
	return FSL_OK;
}

static bool is_before(const struct slot *a, const struct slot *b)
{
	return a->event.time_ns != b->event.time_ns ? a->event.time_ns < b->event.time_ns
						    : a->number < b->number;
}

static void push(struct fsl_ftrace_merge *merge, uint32_t slot)
{
	size_t at = merge->n_heap++;
	while (at > 0) {
		size_t parent = (at - 1) / 2;
		if (!is_before(&merge->slots[slot], &merge->slots[merge->heap[parent]])) {
			break;
		}
		merge->heap[at] = merge->heap[parent];
		at = parent;
	}
	merge->heap[at] = slot;
}

static uint32_t pop(struct fsl_ftrace_merge *merge)
{
	uint32_t first = merge->heap[0], last = merge->heap[--merge->n_heap];
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= merge->n_heap) {
			break;
		}
		if (child + 1 < merge->n_heap && is_before(&merge->slots[merge->heap[child + 1]],
							   &merge->slots[merge->heap[child]])) {
			child++;
		}
		if (!is_before(&merge->slots[merge->heap[child]], &merge->slots[last])) {
			break;
		}
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = last;
	return first;
}

static void copy_text(struct fsl_sched_text *text, char *room, size_t max)
{
	text->length = text->length < max ? text->length : max;
	if (text->length > 0) {
		memcpy(room, text->at, text->length);
	}
	text->at = room;
}

static void fill_slot(struct slot *slot, const struct fsl_sched_event *event, uint64_t number)
{
	slot->event = *event;
	slot->number = number;
	bool has_task = event->kind != FSL_SCHED_OTHER && event->kind != FSL_SCHED_LOST &&
			event->kind != FSL_SCHED_MARK && event->kind < FSL_SCHED_IRQ_ENTRY;
	if (!has_task || event->kind == FSL_SCHED_EXEC) {
		slot->event.task.comm = (struct fsl_sched_text){"", 0};
	}
	if (event->kind != FSL_SCHED_SWITCH && event->kind != FSL_SCHED_FORK) {
		slot->event.other.comm = (struct fsl_sched_text){"", 0};
	}
	copy_text(&slot->event.comm, slot->names[0], FSL_SCHED_COMM_MAX);
	copy_text(&slot->event.task.comm, slot->names[1], FSL_SCHED_COMM_MAX);
	copy_text(&slot->event.other.comm, slot->names[2], FSL_SCHED_COMM_MAX);
	copy_text(&slot->event.text, slot->text, FSL_SCHED_TEXT_MAX);
}

/* Fills the heap, then takes its earliest event. */
static enum fsl_status take_sorted(struct fsl_ftrace_merge *merge,
				   const struct fsl_sched_event **event, struct fsl_error *err)
{
	if (merge->given != UINT32_MAX) {
		merge->unused[merge->n_unused++] = merge->given;
		merge->given = UINT32_MAX;
	}
	while (!merge->is_drained && merge->n_unused > 0) {
		const struct fsl_sched_event *next = NULL;
		FSL_TRY(take(merge, &next, err));
		merge->is_drained = next == NULL;
		if (next != NULL) {
			uint32_t slot = merge->unused[--merge->n_unused];
			fill_slot(&merge->slots[slot], next, merge->n_taken++);
			push(merge, slot);
		}
	}
	*event = NULL;
	if (merge->n_heap > 0) {
		merge->given = pop(merge);
		*event = &merge->slots[merge->given].event;
	}
	return FSL_OK;
}

enum fsl_status fsl_ftrace_merge_next(struct fsl_ftrace_merge *merge,
				      const struct fsl_sched_event **event, struct fsl_error *err)
{
	FSL_TRY(merge->sorts ? take_sorted(merge, event, err) : take(merge, event, err));
	if (*event == NULL) {
		return FSL_OK;
	}
	if ((*event)->time_ns < merge->last_ns) {
		merge->event = **event;
		merge->event.time_ns = merge->last_ns;
		merge->n_late++;
		*event = &merge->event;
	}
	merge->last_ns = (*event)->time_ns;
	return FSL_OK;
}

uint64_t fsl_ftrace_merge_late(const struct fsl_ftrace_merge *merge)
{
	return merge->n_late;
}

struct fsl_ftrace_facts fsl_ftrace_merge_facts(const struct fsl_ftrace_merge *merge)
{
	struct fsl_ftrace_facts sum = {0};
	for (size_t i = 0; i < merge->n_lanes; i++) {
		const struct fsl_ftrace_facts *facts = fsl_ftrace_facts(merge->lanes[i].reader);
		bool has_entries = facts->n_kept >= 0 && sum.n_kept >= 0;
		sum.n_kept = has_entries ? sum.n_kept + facts->n_kept : -1;
		sum.n_written = has_entries ? sum.n_written + facts->n_written : -1;
		sum.n_cpus = sum.n_cpus > facts->n_cpus ? sum.n_cpus : facts->n_cpus;
		sum.n_lines += facts->n_lines;
		sum.n_events += facts->n_events;
		sum.n_runtime += facts->n_runtime;
		sum.n_switches += facts->n_switches;
		sum.n_ignored += facts->n_ignored;
		sum.n_broken += facts->n_broken;
		sum.first_broken = sum.first_broken > 0 ? sum.first_broken : facts->first_broken;
		sum.n_lost += facts->n_lost;
		sum.n_losses += facts->n_losses;
		sum.n_started += facts->n_started;
		sum.stamp = facts->stamp > sum.stamp ? facts->stamp : sum.stamp;
	}
	return sum;
}
