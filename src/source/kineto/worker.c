/* Makes works, calls and operators of a trace what figures of workers are computed from. */
#include "source/kineto/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/kineto/hosts.h"
#include "source/kineto/shares.h"

enum fsl_status fsl_kineto_add_copy(struct fsl_kineto_events *events,
				    const struct fsl_trace_event *event, uint32_t *at,
				    struct fsl_error *err)
{
	const struct fsl_kineto_copy copy = {event->args[FSL_KINETO_BYTES],
					     event->args[FSL_KINETO_BANDWIDTH]};
	if (event->category != FSL_KINETO_COPY) {
		return FSL_OK;
	}
	*at = (uint32_t)events->n_copies;
	return FSL_APPEND(events, copies, &copy, err);
}

enum fsl_status fsl_kineto_add_sync(struct fsl_kineto_events *events,
				    const struct fsl_trace_event *event, struct fsl_error *err)
{
	const struct fsl_kineto_sync sync = {
		.correlation = event->args[FSL_KINETO_CORRELATION],
		.event = event->args[FSL_KINETO_WAIT_EVENT],
		.device = (int32_t)event->args[FSL_KINETO_DEVICE],
		.stream = (int32_t)event->args[FSL_KINETO_STREAM],
		.event_stream = (int32_t)event->args[FSL_KINETO_WAIT_STREAM],
		.kind = (enum fsl_kineto_name)event->name,
	};
	bool is_known = sync.kind >= FSL_KINETO_STREAM_SYNC && sync.kind <= FSL_KINETO_STREAM_WAIT;
	return events->rank->functions != NULL && is_known && sync.correlation >= 0
		       ? FSL_APPEND(events, syncs, &sync, err)
		       : FSL_OK;
}

/* A number with its place in another list. */
struct place {
	int64_t correlation;
	uint32_t index;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	FSL_ORDER_BY(a->correlation, b->correlation);
	return FSL_ORDER(a->index, b->index);
}

/* Correlations mostly rise with time. */
static void sort_places(struct place *places, size_t n)
{
	fsl_sort_runs(places, n, sizeof(*places), compare_places);
}

/* Index of the first item of the correlation; FSL_STR_NONE: there is none. */
static uint32_t find(const struct place *places, size_t n, int64_t correlation)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, n, places[at].correlation < correlation);
	return at < n && correlation >= 0 && places[at].correlation == correlation
		       ? places[at].index
		       : FSL_STR_NONE;
}

/* The time that a path is looked for in. */
struct window {
	int64_t begin_ns, end_ns;
};

static struct window window_of(const struct fsl_kineto_events *events)
{
	const struct fsl_profile_trace *trace = &events->rank->trace;
	struct window window = {INT64_MIN, INT64_MAX};
	for (size_t i = 0; i < trace->n_ranges; i++) {
		int64_t end_ns = trace->ranges[i].end_ns;
		window.begin_ns = i == 0 ? trace->ranges[i].begin_ns : window.begin_ns;
		window.end_ns = i == 0 || end_ns > window.end_ns ? end_ns : window.end_ns;
	}
	return window;
}

static bool holds(const struct window *window, int64_t time_ns)
{
	return time_ns >= window->begin_ns && time_ns <= window->end_ns;
}

/* Some blocks of works at a time: the path asks for works in their order and, ahead of them, for
 * those that calls launch. */
struct readers {
	struct fsl_kineto_works of[4];
	size_t oldest;
};

static struct fsl_kineto_work read_work(struct readers *readers, size_t i)
{
	enum { N = sizeof(readers->of) / sizeof(readers->of[0]) };
	for (size_t k = 0; k < N; k++) {
		if (i - readers->of[k].works.first < readers->of[k].works.n) {
			return fsl_kineto_work_at(&readers->of[k], i);
		}
	}
	size_t oldest = readers->oldest;
	readers->oldest = (oldest + 1) % N;
	return fsl_kineto_work_at(&readers->of[oldest], i);
}

/* The input of the path, with the room that it takes. */
struct builder {
	struct fsl_kineto_events *events;
	struct window window;
	struct fsl_path_input input;
	struct fsl_kineto_hosts hosts;
	struct fsl_path_sync *syncs;
	struct fsl_path_event *path_events;
	struct place *sync_places, *event_places; /* by correlation */
	struct fsl_packed_rows work_places;       /* likewise: correlation, index of the work */
	struct fsl_packed_finder *finder;         /* of them */
	struct readers *readers;
	bool *is_wait; /* of each name */
};

static void end_builder(struct builder *builder)
{
	fsl_kineto_hosts_end(&builder->hosts);
	fsl_free(builder->syncs);
	fsl_free(builder->path_events);
	if (builder->finder != NULL) {
		fsl_packed_finder_end(builder->finder);
	}
	fsl_free(builder->finder);
	fsl_packed_fini(&builder->work_places);
	fsl_free(builder->readers);
	fsl_free(builder->sync_places);
	fsl_free(builder->event_places);
	fsl_free(builder->is_wait);
}

/* Calls that only wait. */
static bool is_wait(const char *name)
{
	static const char *const whole[] = {"cudaEventQuery", "cudaMemcpy", "hipEventQuery",
					    "hipMemcpy"};
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		if (strcmp(name, whole[i]) == 0) {
			return true;
		}
	}
	static const char end[] = "Synchronize";
	size_t length = strlen(name);
	return length >= sizeof(end) - 1 && strcmp(name + length - sizeof(end) + 1, end) == 0;
}

static enum fsl_status begin_builder(struct builder *builder, struct fsl_error *err)
{
	const struct fsl_kineto_events *events = builder->events;
	size_t n_syncs = events->n_syncs;
	FSL_TRY(FSL_NEW(builder->syncs, n_syncs + 1, "waits", err));
	FSL_TRY(FSL_NEW(builder->path_events, n_syncs + 1, "waits", err));
	FSL_TRY(FSL_NEW(builder->finder, 1, "works", err));
	FSL_TRY(FSL_NEW(builder->readers, 1, "works", err));
	for (size_t i = 0; i < sizeof(builder->readers->of) / sizeof(builder->readers->of[0]);
	     i++) {
		fsl_kineto_works_begin(&builder->readers->of[i], events);
	}
	FSL_TRY(FSL_NEW(builder->sync_places, n_syncs + 1, "waits", err));
	FSL_TRY(FSL_NEW(builder->event_places, n_syncs + 1, "waits", err));
	return FSL_NEW(builder->is_wait, fsl_strpool_size(events->rank->names) + 1, "names", err);
}

/* A work belongs to the window of its launch. */
static bool tell_work(const void *context, uint32_t index, struct fsl_path_work *out)
{
	static const enum fsl_path_part parts[FSL_DEVICE_WORK_N] = {
		[FSL_DEVICE_COMPUTE] = FSL_PATH_COMPUTE,
		[FSL_DEVICE_COMMUNICATION] = FSL_PATH_COMMUNICATION,
		[FSL_DEVICE_MEMORY] = FSL_PATH_MEMORY,
	};
	const struct builder *builder = context;
	const struct fsl_kineto_work work = read_work(builder->readers, index);
	bool has_launch = work.launch_ns != FSL_NS_ABSENT;
	if (!holds(&builder->window, has_launch ? work.launch_ns : work.begin_ns)) {
		return false;
	}
	*out = (struct fsl_path_work){
		.begin_ns = work.begin_ns,
		.end_ns = work.begin_ns + work.dur_ns,
		.device = work.device,
		.stream = work.stream,
		.part = parts[fsl_kineto_kind_of(builder->events, &work)],
	};
	return true;
}

/* Works of equal correlations are found by the first of them. */
static enum fsl_status add_works(struct builder *builder, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	struct fsl_kineto_events *events = builder->events;
	struct fsl_packed_rows *places = &builder->work_places;
	*places = (struct fsl_packed_rows){
		.n_columns = 2, .compare = fsl_packed_compare_first, .bytes.spill = &events->spill};
	fsl_kineto_works_begin(&works, events);
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		const struct fsl_packed_row row = {.cells = {work.correlation, (int64_t)i}};
		if (work.launch_ns != FSL_NS_ABSENT && holds(&builder->window, work.launch_ns)) {
			FSL_TRY(fsl_packed_add(places, &row, err));
		}
	}
	builder->input.work = tell_work;
	builder->input.works = builder;
	builder->input.n_works = events->works.n;
	FSL_TRY(fsl_packed_settle(places, err));
	return fsl_packed_finder_begin(builder->finder, places, err);
}

/* Each event once, whoever waits for it. */
static void add_syncs(struct builder *builder)
{
	const struct fsl_kineto_events *events = builder->events;
	struct fsl_path_input *input = &builder->input;
	for (size_t i = 0; i < events->n_syncs; i++) {
		builder->event_places[i] = (struct place){events->syncs[i].event, (uint32_t)i};
		builder->sync_places[i] = (struct place){events->syncs[i].correlation, (uint32_t)i};
	}
	sort_places(builder->event_places, events->n_syncs);
	sort_places(builder->sync_places, events->n_syncs);
	for (size_t i = 0; i < events->n_syncs; i++) {
		const struct fsl_kineto_sync *sync = &events->syncs[i];
		builder->path_events[i] = (struct fsl_path_event){sync->device, sync->event_stream};
		builder->syncs[i] = (struct fsl_path_sync){
			.device = sync->device,
			.stream = sync->stream,
			.event = find(builder->event_places, events->n_syncs, sync->event),
		};
	}
	input->syncs = builder->syncs;
	input->events = builder->path_events;
	input->n_syncs = input->n_events = events->n_syncs;
}

static enum fsl_path_action action_of(enum fsl_kineto_name kind)
{
	return kind == FSL_KINETO_STREAM_SYNC    ? FSL_PATH_STREAM_WAIT
	       : kind == FSL_KINETO_CONTEXT_SYNC ? FSL_PATH_DEVICE_WAIT
	       : kind == FSL_KINETO_EVENT_SYNC   ? FSL_PATH_EVENT_WAIT
						 : FSL_PATH_STREAM_WAITS;
}

/* Effect of the call on the device, by its correlation. */
static void set_action(const void *context, const struct fsl_kineto_call *call,
		       struct fsl_path_host *host)
{
	const struct builder *builder = context;
	const struct fsl_kineto_events *events = builder->events;
	int64_t correlation = call->correlation;
	uint32_t sync = find(builder->sync_places, events->n_syncs, correlation);
	uint32_t event = find(builder->event_places, events->n_syncs, correlation);
	const struct fsl_packed_row *work =
		correlation >= 0 ? fsl_packed_find(builder->finder, correlation) : NULL;
	host->action = FSL_PATH_NO_ACTION;
	host->is_wait = builder->is_wait[call->name_id];
	if (work != NULL) {
		host->action = FSL_PATH_LAUNCHES;
		host->detail = (uint32_t)work->cells[1];
	} else if (sync != FSL_STR_NONE) {
		host->action = action_of(events->syncs[sync].kind);
		host->detail = sync;
	} else if (event != FSL_STR_NONE) {
		host->action = FSL_PATH_RECORDS;
		host->detail = event;
	} else if (host->is_wait) {
		host->action = FSL_PATH_OTHER_WAIT;
	}
}

static enum fsl_status add_hosts(struct builder *builder, struct fsl_error *err)
{
	struct fsl_path_input *input = &builder->input;
	builder->hosts = (struct fsl_kineto_hosts){.events = builder->events,
						   .begin_ns = builder->window.begin_ns,
						   .end_ns = builder->window.end_ns,
						   .set_action = set_action,
						   .context = builder};
	FSL_TRY(fsl_kineto_hosts_begin(&builder->hosts, err));
	input->next_host = fsl_kineto_hosts_next;
	input->hosts = &builder->hosts;
	input->has_autograd = builder->hosts.has_autograd;
	input->n_threads = builder->hosts.n_threads;
	return FSL_OK;
}

static enum fsl_status tell_path(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_critical_path *path = &events->rank->figures->path;
	struct builder builder = {.events = events, .window = window_of(events)};
	enum fsl_status status = begin_builder(&builder, err);
	if (status == FSL_OK) {
		const struct fsl_strpool *names = events->rank->names;
		for (uint32_t id = 0; id < fsl_strpool_size(names); id++) {
			builder.is_wait[id] = is_wait(fsl_strpool_text(names, id));
		}
		add_syncs(&builder);
		status = add_works(&builder, err);
		FSL_THEN(status, add_hosts(&builder, err));
		path->window_ns = events->rank->trace.n_ranges > 0
					  ? builder.window.end_ns - builder.window.begin_ns
					  : events->end_ns - events->begin_ns;
		FSL_THEN(status, fsl_critical_path_find(path, &builder.input, err));
	}
	end_builder(&builder);
	return status;
}

static void count_copy(const struct fsl_kineto_events *events, const struct fsl_kineto_work *work)
{
	if (work->category == FSL_KINETO_COPY && work->facts != FSL_STR_NONE) {
		const struct fsl_kineto_copy *copy = &events->copies[work->facts];
		const char *name = fsl_strpool_text(events->rank->names, work->name_id);
		enum fsl_copy_kind kind = fsl_copy_kind_of(name, strlen(name));
		fsl_copy_count(&events->rank->figures->copies[kind], work->dur_ns, copy->n_bytes,
			       copy->bytes_per_s);
	}
}

static enum fsl_status tell_streams(struct fsl_kineto_events *events,
				    const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_streams *streams = NULL;
	FSL_TRY(FSL_NEW(streams, 1, "streams", err));
	streams->figures = events->rank->figures;
	streams->spill = &events->spill;
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < events->works.n && status == FSL_OK; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		bool has_call = work.launch_ns != FSL_NS_ABSENT;
		const struct fsl_stream_work taken = {
			.begin_ns = work.begin_ns,
			.end_ns = work.begin_ns + work.dur_ns,
			.call_ns = work.launch_ns,
			.call_end_ns =
				has_call ? work.launch_ns + work.launch_dur_ns : FSL_NS_ABSENT,
			.device = work.device,
			.stream = work.stream,
		};
		if (fsl_profile_wants_step(input, work.step)) {
			count_copy(events, &work);
			status = fsl_streams_add(streams, &taken, err);
		}
	}
	FSL_THEN(status, fsl_streams_settle(streams, err));
	fsl_streams_fini(streams);
	fsl_free(streams);
	return status;
}

enum fsl_status fsl_kineto_tell_worker(struct fsl_kineto_events *events,
				       const struct fsl_profile_input *input, struct fsl_error *err)
{
	if (events->rank->figures == NULL) {
		return FSL_OK;
	}
	FSL_TRY(tell_streams(events, input, err));
	return tell_path(events, err);
}
