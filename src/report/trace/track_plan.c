/* Processes, tracks, and the merge of sorted streams. */
#include "report/trace/track_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"

/* A process with the number of its tracks. */
struct process {
	struct fsl_track_process shown;
	uint32_t n_tracks;
};

/* A stream with its next event. */
struct source {
	struct fsl_track_stream *stream;
	size_t turn; /* order of streams whose events are alike */
	struct fsl_track_event event;
};

struct fsl_track_plan {
	struct fsl_arena arena;
	struct fsl_strpool *texts;
	struct process *processes; /* sorted by pid */
	size_t n_processes, processes_capacity;
	struct fsl_track **tracks; /* in the order in which they were added; arena */
	size_t n_tracks, tracks_capacity;
	struct source *sources; /* that have an event */
	size_t n_sources, sources_capacity;
};

struct fsl_track_plan *fsl_track_plan_create(void)
{
	struct fsl_track_plan *plan = fsl_calloc(1, sizeof(*plan));
	if (plan != NULL) {
		plan->texts = fsl_strpool_create();
	}
	if (plan != NULL && plan->texts == NULL) {
		fsl_free(plan);
		plan = NULL;
	}
	return plan;
}

void fsl_track_plan_destroy(struct fsl_track_plan *plan)
{
	if (plan == NULL) {
		return;
	}
	for (size_t i = 0; i < plan->n_sources; i++) {
		plan->sources[i].stream->destroy(plan->sources[i].stream);
	}
	fsl_free(plan->sources);
	fsl_free(plan->tracks);
	fsl_free(plan->processes);
	fsl_strpool_destroy(plan->texts);
	fsl_arena_fini(&plan->arena);
	fsl_free(plan);
}

struct fsl_arena *fsl_track_plan_arena(struct fsl_track_plan *plan)
{
	return &plan->arena;
}

enum fsl_status fsl_track_plan_text(struct fsl_track_plan *plan, const char *text, uint32_t *id,
				    struct fsl_error *err)
{
	return fsl_strpool_intern(plan->texts, text, strlen(text), id, err);
}

/* Place of the first process whose pid is not below @pid. */
static size_t place_of(const struct fsl_track_plan *plan, uint32_t pid)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, plan->n_processes, plan->processes[at].shown.pid < pid);
	return at;
}

enum fsl_status fsl_track_plan_add_process(struct fsl_track_plan *plan, uint32_t pid,
					   const char *name, const char *label, int32_t place,
					   struct fsl_error *err)
{
	struct process added = {.shown = {.pid = pid, .label = FSL_STR_NONE, .place = place}};
	size_t at = place_of(plan, pid);
	if (at < plan->n_processes && plan->processes[at].shown.pid == pid) {
		return FSL_OK;
	}
	FSL_TRY(fsl_track_plan_text(plan, name, &added.shown.name, err));
	if (label != NULL) {
		FSL_TRY(fsl_track_plan_text(plan, label, &added.shown.label, err));
	}
	FSL_TRY(FSL_GROW(plan->processes, plan->processes_capacity, plan->n_processes + 1, err));
	memmove(&plan->processes[at + 1], &plan->processes[at],
		(plan->n_processes - at) * sizeof(added));
	plan->processes[at] = added;
	plan->n_processes++;
	return FSL_OK;
}

/* Adds @track to the process track->pid. */
static enum fsl_status add_track(struct fsl_track_plan *plan, struct fsl_track track,
				 const struct fsl_track **out, struct fsl_error *err)
{
	size_t at = place_of(plan, track.pid);
	FSL_REQUIRE(at < plan->n_processes && plan->processes[at].shown.pid == track.pid);
	struct process *process = &plan->processes[at];
	if (process->n_tracks >= FSL_TRACKS_OF_PROCESS_MAX - 1) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many tracks of one process: max=%d",
				FSL_TRACKS_OF_PROCESS_MAX - 1);
	}
	struct fsl_track *copy = fsl_arena_alloc(&plan->arena, sizeof(*copy));
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: tracks=%zu", plan->n_tracks);
	}
	FSL_TRY(FSL_GROW(plan->tracks, plan->tracks_capacity, plan->n_tracks + 1, err));
	track.number = (uint32_t)plan->n_tracks;
	track.place = (int32_t)process->n_tracks++;
	track.tid = track.pid * FSL_TRACKS_OF_PROCESS_MAX + process->n_tracks;
	*copy = track;
	plan->tracks[plan->n_tracks++] = copy;
	*out = copy;
	return FSL_OK;
}

enum fsl_status fsl_track_plan_add_lane(struct fsl_track_plan *plan, uint32_t pid, const char *name,
					const struct fsl_track **out, struct fsl_error *err)
{
	struct fsl_track track = {.pid = pid};
	FSL_TRY(fsl_track_plan_text(plan, name, &track.name, err));
	return add_track(plan, track, out, err);
}

enum fsl_status fsl_track_plan_add_counter(struct fsl_track_plan *plan, uint32_t pid,
					   const char *name, const char *unit, bool has_decimals,
					   const struct fsl_track **out, struct fsl_error *err)
{
	struct fsl_track track = {.pid = pid, .is_counter = true, .has_decimals = has_decimals};
	FSL_TRY(fsl_track_plan_text(plan, name, &track.name, err));
	FSL_TRY(fsl_track_plan_text(plan, unit, &track.unit, err));
	return add_track(plan, track, out, err);
}

enum fsl_status fsl_track_plan_add_stream(struct fsl_track_plan *plan,
					  struct fsl_track_stream *stream, struct fsl_error *err)
{
	struct source added = {.stream = stream, .turn = plan->n_sources};
	enum fsl_status status = FSL_OK;
	bool has_event = stream->next(stream, &added.event);
	if (has_event) {
		status = FSL_APPEND(plan, sources, &added, err);
	}
	if (!has_event || status != FSL_OK) {
		stream->destroy(stream);
	}
	return status;
}

int64_t fsl_track_plan_begin_ns(const struct fsl_track_plan *plan)
{
	int64_t begin_ns = FSL_NS_ABSENT;
	for (size_t i = 0; i < plan->n_sources; i++) {
		int64_t first_ns = plan->sources[i].event.begin_ns;
		if (i == 0 || first_ns < begin_ns) {
			begin_ns = first_ns;
		}
	}
	return begin_ns;
}

/* Streams as a heap, by their next events. */
struct merge {
	struct source **heap; /* [n]: the first is the next */
	size_t n;
};

static bool comes_before(const struct source *a, const struct source *b)
{
	if (a->event.begin_ns != b->event.begin_ns) {
		return a->event.begin_ns < b->event.begin_ns;
	}
	if (a->event.end_ns != b->event.end_ns) {
		return a->event.end_ns > b->event.end_ns;
	}
	return a->turn < b->turn;
}

/* Moves heap[at] down to its place. */
static void sift(struct merge *merge, size_t at)
{
	struct source *moved = merge->heap[at];
	for (size_t child = 2 * at + 1; child < merge->n; child = 2 * at + 1) {
		child += child + 1 < merge->n &&
			 comes_before(merge->heap[child + 1], merge->heap[child]);
		if (!comes_before(merge->heap[child], moved)) {
			break;
		}
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = moved;
}

static enum fsl_status merge_begin(struct merge *merge, struct fsl_track_plan *plan,
				   struct fsl_error *err)
{
	*merge = (struct merge){0};
	FSL_TRY(FSL_NEW(merge->heap, plan->n_sources + 1, "streams", err));
	while (merge->n < plan->n_sources) {
		merge->heap[merge->n] = &plan->sources[merge->n];
		merge->n++;
	}
	for (size_t i = merge->n / 2; i-- > 0;) {
		sift(merge, i);
	}
	return FSL_OK;
}

static void merge_step(struct merge *merge)
{
	struct source *source = merge->heap[0];
	if (!source->stream->next(source->stream, &source->event)) {
		merge->heap[0] = merge->heap[--merge->n];
	}
	if (merge->n > 0) {
		sift(merge, 0);
	}
}

static void merge_end(struct merge *merge)
{
	fsl_free(merge->heap);
}

static void count(struct fsl_track_counts *counts, const struct fsl_track_event *event)
{
	bool is_slice = !event->track->is_counter && event->end_ns > event->begin_ns;
	counts->n_values += event->track->is_counter;
	counts->n_slices += is_slice;
	counts->n_instants += !event->track->is_counter && !is_slice;
	counts->n_launches += is_slice && event->launch == FSL_FLOW_BEGINS;
	counts->n_meetings += is_slice && event->meeting == FSL_FLOW_BEGINS;
	counts->end_ns = event->end_ns > counts->end_ns ? event->end_ns : counts->end_ns;
}

static int compare_places(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	FSL_ORDER_BY(a->shown.place, b->shown.place);
	return FSL_ORDER(a->shown.pid, b->shown.pid);
}

/* Metadata stand in front of all events. */
static enum fsl_status write_tracks(struct fsl_track_plan *plan,
				    const struct fsl_track_writer *writer,
				    struct fsl_track_writing *writing, struct fsl_error *err)
{
	if (plan->n_processes > 0) {
		qsort(plan->processes, plan->n_processes, sizeof(*plan->processes), compare_places);
	}
	for (size_t i = 0; i < plan->n_processes; i++) {
		FSL_TRY(writer->process(writing, &plan->processes[i].shown, err));
	}
	for (size_t i = 0; i < plan->n_tracks; i++) {
		FSL_TRY(writer->track(writing, plan->tracks[i], err));
	}
	return FSL_OK;
}

static enum fsl_status write_all(struct fsl_track_plan *plan, const struct fsl_track_writer *writer,
				 struct fsl_track_writing *writing, struct merge *merge,
				 struct fsl_track_counts *counts, struct fsl_error *err)
{
	FSL_TRY(write_tracks(plan, writer, writing, err));
	while (merge->n > 0) {
		const struct fsl_track_event *event = &merge->heap[0]->event;
		count(counts, event);
		FSL_TRY(writer->event(writing, event, err));
		merge_step(merge);
	}
	return writer->finish(writing, err);
}

enum fsl_status fsl_track_plan_write(struct fsl_track_plan *plan,
				     const struct fsl_track_writer *writer,
				     struct fsl_track_output *output,
				     struct fsl_track_counts *counts, struct fsl_error *err)
{
	struct merge merge;
	struct fsl_track_writing *writing = NULL;
	*counts = (struct fsl_track_counts){.begin_ns = FSL_NS_ABSENT, .end_ns = FSL_NS_ABSENT};
	enum fsl_status status = merge_begin(&merge, plan, err);
	int64_t base_ns = 0;
	if (status == FSL_OK && merge.n > 0) {
		counts->begin_ns = merge.heap[0]->event.begin_ns;
		base_ns = counts->begin_ns - counts->begin_ns % FSL_NS_PER_S;
	}
	FSL_THEN(status, writer->begin(&writing, output, plan->texts, base_ns, err));
	FSL_THEN(status, write_all(plan, writer, writing, &merge, counts, err));
	if (status == FSL_OK) {
		fsl_track_output_finish(output);
	}
	writer->end(writing);
	merge_end(&merge);
	return status;
}
