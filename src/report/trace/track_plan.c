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
	bool is_told; /* to the file */
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
	size_t n_tracks_told;   /* to the file */
	struct source *sources; /* that have an event */
	size_t n_sources, sources_capacity;
	size_t n_turns;   /* streams that were added */
	int64_t begin_ns; /* of the first event; FSL_NS_ABSENT: none was added */
};

struct fsl_track_plan *fsl_track_plan_create(void)
{
	struct fsl_track_plan *plan = fsl_calloc(1, sizeof(*plan));
	if (plan != NULL) {
		plan->begin_ns = FSL_NS_ABSENT;
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

void fsl_track_plan_reach(struct fsl_track_plan *plan, int64_t time_ns)
{
	if (plan->begin_ns == FSL_NS_ABSENT || time_ns < plan->begin_ns) {
		plan->begin_ns = time_ns;
	}
}

enum fsl_status fsl_track_plan_add_stream(struct fsl_track_plan *plan,
					  struct fsl_track_stream *stream, struct fsl_error *err)
{
	struct source added = {.stream = stream, .turn = plan->n_turns};
	enum fsl_status status = FSL_OK;
	bool has_event = stream->next(stream, &added.event);
	if (has_event) {
		fsl_track_plan_reach(plan, added.event.begin_ns);
		plan->n_turns++;
		status = FSL_APPEND(plan, sources, &added, err);
	}
	if (!has_event || status != FSL_OK) {
		stream->destroy(stream);
	}
	return status;
}

int64_t fsl_track_plan_begin_ns(const struct fsl_track_plan *plan)
{
	return plan->begin_ns;
}

/* A stream with the begin of its next event, which tells most streams apart. */
struct head {
	int64_t begin_ns;
	struct source *source;
};

/* Streams as a heap, by their next events. */
struct merge {
	struct head *heap; /* [n]: the first is the next */
	size_t n;
};

static inline struct head head_of(struct source *source)
{
	return (struct head){source->event.begin_ns, source};
}

static inline bool comes_before(const struct head *a, const struct head *b)
{
	if (a->begin_ns != b->begin_ns) {
		return a->begin_ns < b->begin_ns;
	}
	if (a->source->event.end_ns != b->source->event.end_ns) {
		return a->source->event.end_ns > b->source->event.end_ns;
	}
	return a->source->turn < b->source->turn;
}

/* Moves heap[at] down to its place. */
static void sift(struct merge *merge, size_t at)
{
	struct head moved = merge->heap[at];
	for (size_t child = 2 * at + 1; child < merge->n; child = 2 * at + 1) {
		child += child + 1 < merge->n &&
			 comes_before(&merge->heap[child + 1], &merge->heap[child]);
		if (!comes_before(&merge->heap[child], &moved)) {
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
		merge->heap[merge->n] = head_of(&plan->sources[merge->n]);
		merge->n++;
	}
	for (size_t i = merge->n / 2; i-- > 0;) {
		sift(merge, i);
	}
	return FSL_OK;
}

static void merge_step(struct merge *merge)
{
	struct source *source = merge->heap[0].source;
	if (source->stream->next(source->stream, &source->event)) {
		merge->heap[0] = head_of(source);
	} else {
		source->stream->destroy(source->stream);
		source->stream = NULL;
		merge->heap[0] = merge->heap[--merge->n];
	}
	if (merge->n > 0) {
		sift(merge, 0);
	}
}

/* Drops streams that have no more events. */
static void merge_end(struct merge *merge, struct fsl_track_plan *plan)
{
	size_t n = 0;
	for (size_t i = 0; i < plan->n_sources; i++) {
		if (plan->sources[i].stream != NULL) {
			plan->sources[n++] = plan->sources[i];
		}
	}
	plan->n_sources = n;
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
	counts->begin_ns = counts->begin_ns == FSL_NS_ABSENT || event->begin_ns < counts->begin_ns
				   ? event->begin_ns
				   : counts->begin_ns;
	counts->end_ns = event->end_ns > counts->end_ns ? event->end_ns : counts->end_ns;
}

static int compare_places(const void *left, const void *right)
{
	const struct process *a = *(struct process *const *)left;
	const struct process *b = *(struct process *const *)right;
	FSL_ORDER_BY(a->shown.place, b->shown.place);
	return FSL_ORDER(a->shown.pid, b->shown.pid);
}

static enum fsl_status tell_processes(struct fsl_track_file *file, struct fsl_error *err)
{
	struct fsl_track_plan *plan = file->plan;
	struct process **fresh = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(fresh, plan->n_processes + 1, "processes", err));
	for (size_t i = 0; i < plan->n_processes; i++) {
		if (!plan->processes[i].is_told) {
			fresh[n++] = &plan->processes[i];
		}
	}
	qsort(fresh, n, sizeof(struct process *), compare_places);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		status = file->writer->process(file->writing, &fresh[i]->shown, err);
		fresh[i]->is_told = true;
	}
	fsl_free(fresh);
	return status;
}

/* Metadata stand in front of the first events that need them. */
static enum fsl_status tell_tracks(struct fsl_track_file *file, struct fsl_error *err)
{
	struct fsl_track_plan *plan = file->plan;
	FSL_TRY(tell_processes(file, err));
	while (plan->n_tracks_told < plan->n_tracks) {
		FSL_TRY(file->writer->track(file->writing, plan->tracks[plan->n_tracks_told++],
					    err));
	}
	return FSL_OK;
}

/* The first event that is known then tells the base of all times. */
static enum fsl_status begin_file(struct fsl_track_file *file, struct fsl_error *err)
{
	int64_t begin_ns = file->plan->begin_ns;
	if (file->writing != NULL) {
		return FSL_OK;
	}
	file->counts =
		(struct fsl_track_counts){.begin_ns = FSL_NS_ABSENT, .end_ns = FSL_NS_ABSENT};
	file->base_ns = begin_ns != FSL_NS_ABSENT ? begin_ns - begin_ns % FSL_NS_PER_S : 0;
	return file->writer->begin(&file->writing, file->output, file->plan->texts, file->base_ns,
				   err);
}

enum fsl_status fsl_track_file_write(struct fsl_track_file *file, int64_t until_ns,
				     struct fsl_error *err)
{
	struct merge merge;
	FSL_TRY(begin_file(file, err));
	FSL_TRY(tell_tracks(file, err));
	enum fsl_status status = merge_begin(&merge, file->plan, err);
	while (status == FSL_OK && merge.n > 0 && merge.heap[0].begin_ns < until_ns) {
		const struct fsl_track_event *event = &merge.heap[0].source->event;
		count(&file->counts, event);
		status = file->writer->event(file->writing, event, err);
		merge_step(&merge);
	}
	merge_end(&merge, file->plan);
	return status;
}

enum fsl_status fsl_track_file_finish(struct fsl_track_file *file, struct fsl_error *err)
{
	FSL_TRY(fsl_track_file_write(file, INT64_MAX, err));
	FSL_TRY(file->writer->finish(file->writing, err));
	fsl_track_output_finish(file->output);
	return FSL_OK;
}

void fsl_track_file_fini(struct fsl_track_file *file)
{
	file->writer->end(file->writing);
	file->writing = NULL;
}

enum fsl_status fsl_track_plan_write(struct fsl_track_plan *plan,
				     const struct fsl_track_writer *writer,
				     struct fsl_track_output *output,
				     struct fsl_track_counts *counts, struct fsl_error *err)
{
	struct fsl_track_file file = {.plan = plan, .writer = writer, .output = output};
	enum fsl_status status = fsl_track_file_finish(&file, err);
	fsl_track_file_fini(&file);
	*counts = file.counts;
	return status;
}
