/*
 * trace_view.json: everything that host and device did, as a Chrome trace: an array of events, or
 * an object with such an array as "traceEvents". Files have gigabytes: one pass, nothing kept but
 * sums. Which process an event is of is told by metadata that may stand anywhere, so that sums are
 * made per process id.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/number.h"
#include "profile/json_file.h"
#include "profile/trace_activity.h"
#include "profile/trace_flows.h"
#include "profile/trace_steps.h"

enum {
	PROCESSES_MAX = 256, /* of one rank; about twelve are usual, all further ones are ignored */
	SLICERS_MAX = 4,     /* processes with slices of an Overlap Analysis; one is usual */
	RANGES_MAX = 4096,
};

/* Calls of these kinds count as long from here on. */
static const int64_t long_ns[FSL_HOST_CALLS_N] = {
	[FSL_HOST_DATALOADER] = 10 * FSL_NS_PER_MS, [FSL_HOST_GC] = FSL_NS_PER_MS,
	[FSL_HOST_SYNCHRONIZE] = FSL_NS_PER_MS,     [FSL_HOST_COMPILE] = FSL_NS_PER_MS,
	[FSL_HOST_LAUNCH] = FSL_NS_PER_MS,
};

static const char remedy[] =
	"no events in the file: an empty capture, or written to another folder; parse it again";

struct process {
	uint64_t pid;
	enum fsl_trace_process kind;
	int64_t begin_ns, end_ns; /* of its X events; FSL_NS_ABSENT: none */
	/* Its slices and receives are in view->steps[slicer]; -1: none, or too many processes. */
	int slicer;
};

/* The clock of the cores so far. */
struct clock {
	uint64_t pid; /* of the first device; others are not told apart by readers of the result */
	int32_t mhz;  /* now; -1: not yet known */
	int64_t since_ns;
};

/* What one file is read with. */
struct view {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_json *json;
	struct fsl_trace_flows *flows;
	struct process processes[PROCESSES_MAX];
	size_t n_processes, last_process;
	struct fsl_trace_steps slicers[SLICERS_MAX];
	size_t n_slicers;
	struct fsl_trace_steps receives;
	struct clock clock;
	struct fsl_trace_activity activity;
};

/* NULL when there are too many. */
static struct process *find_process(struct view *view, uint64_t pid)
{
	size_t i = view->last_process;
	if (i < view->n_processes && view->processes[i].pid == pid) {
		return &view->processes[i];
	}
	for (i = 0; i < view->n_processes && view->processes[i].pid != pid; i++) {
	}
	if (i == PROCESSES_MAX) {
		return NULL;
	}
	if (i == view->n_processes) {
		view->processes[view->n_processes++] = (struct process){.pid = pid,
									.begin_ns = FSL_NS_ABSENT,
									.end_ns = FSL_NS_ABSENT,
									.slicer = -1};
	}
	view->last_process = i;
	return &view->processes[i];
}

static enum fsl_status drop(struct view *view, const char *reason, struct fsl_error *err)
{
	return fsl_json_file_drop(view->rank, view->input, view->json, reason, err);
}

/* Ranges are kept sorted by begin; of the same step again the first one stays. */
static enum fsl_status add_range(struct view *view, const struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	struct fsl_profile_trace *trace = &view->rank->trace;
	if (event->step == FSL_STEP_ABSENT || trace->n_ranges == RANGES_MAX) {
		return FSL_OK;
	}
	size_t i = trace->n_ranges;
	for (size_t k = 0; k < trace->n_ranges; k++) {
		if (trace->ranges[k].step == event->step) {
			return FSL_OK;
		}
	}
	enum fsl_status status =
		FSL_GROW(trace->ranges, trace->ranges_capacity, trace->n_ranges + 1, err);
	if (status != FSL_OK) {
		return status;
	}
	for (; i > 0 && trace->ranges[i - 1].begin_ns > event->ts_ns; i--) {
		trace->ranges[i] = trace->ranges[i - 1];
	}
	trace->ranges[i] =
		(struct fsl_profile_range){event->step, event->ts_ns, event->ts_ns + event->dur_ns};
	trace->n_ranges++;
	return FSL_OK;
}

static void add_call(struct view *view, enum fsl_profile_host_call kind, int64_t dur_ns)
{
	struct fsl_profile_host_calls *calls = &view->rank->trace.calls[kind];
	calls->n++;
	calls->total_ns += dur_ns;
	calls->max_ns = dur_ns > calls->max_ns ? dur_ns : calls->max_ns;
	if (dur_ns > long_ns[kind]) {
		calls->n_long++;
		calls->long_ns += dur_ns;
	}
}

static enum fsl_status add_slice(struct view *view, struct process *process,
				 const struct fsl_trace_event *event, struct fsl_error *err)
{
	if (process == NULL || (process->slicer < 0 && view->n_slicers == SLICERS_MAX)) {
		return FSL_OK;
	}
	if (process->slicer < 0) {
		process->slicer = (int)view->n_slicers++;
	}
	return fsl_trace_steps_add(&view->slicers[process->slicer],
				   fsl_trace_step_at(&view->rank->trace, event->ts_ns), event, err);
}

/* What the name of a complete event stands for. */
static enum fsl_status add_named(struct view *view, struct process *process,
				 const struct fsl_trace_event *event, struct fsl_error *err)
{
	switch (event->name) {
	case FSL_TRACE_NAME_STEP:
		return add_range(view, event, err);
	case FSL_TRACE_NAME_DATALOADER:
		if (event->category != FSL_TRACE_CATEGORY_PYTHON) {
			add_call(view, FSL_HOST_DATALOADER, event->dur_ns);
		}
		break;
	case FSL_TRACE_NAME_SYNCHRONIZE:
		add_call(view, FSL_HOST_SYNCHRONIZE, event->dur_ns);
		fsl_trace_activity_add(&view->activity, event->ts_ns, event->dur_ns);
		break;
	case FSL_TRACE_NAME_COMPILE:
		add_call(view, FSL_HOST_COMPILE, event->dur_ns);
		fsl_trace_activity_add(&view->activity, event->ts_ns, event->dur_ns);
		break;
	case FSL_TRACE_NAME_ACL:
		fsl_trace_activity_add(&view->activity, event->ts_ns, event->dur_ns);
		break;
	case FSL_TRACE_NAME_LAUNCH:
		add_call(view, FSL_HOST_LAUNCH, event->dur_ns);
		break;
	case FSL_TRACE_NAME_RECEIVE:
		return fsl_trace_steps_add(&view->receives,
					   fsl_trace_step_at(&view->rank->trace, event->ts_ns),
					   event, err);
	case FSL_TRACE_NAME_COMPUTING:
	case FSL_TRACE_NAME_COMMUNICATION:
	case FSL_TRACE_NAME_EXPOSED:
	case FSL_TRACE_NAME_FREE:
		return add_slice(view, process, event, err);
	case FSL_TRACE_NAME_OTHER:
	case FSL_TRACE_NAME_FREQ:
	case FSL_TRACE_NAME_PROCESS:
		break;
	}
	return FSL_OK;
}

static enum fsl_status add_complete(struct view *view, const struct fsl_trace_event *event,
				    struct fsl_error *err)
{
	struct process *process = find_process(view, event->pid);
	if (process != NULL) {
		int64_t end_ns = event->ts_ns + event->dur_ns;
		bool is_first = process->begin_ns == FSL_NS_ABSENT;
		process->begin_ns = is_first || event->ts_ns < process->begin_ns
					    ? event->ts_ns
					    : process->begin_ns;
		process->end_ns = end_ns > process->end_ns ? end_ns : process->end_ns;
	}
	if (event->category == FSL_TRACE_CATEGORY_GC) {
		add_call(view, FSL_HOST_GC, event->dur_ns);
	}
	return add_named(view, process, event, err);
}

/* A pair may tell how the task behind a stretch of idleness was launched. */
static void add_flow(struct view *view, const struct fsl_trace_event *event)
{
	int64_t end_ns = 0, lag_ns = 0;
	if (!fsl_trace_flows_add(view->flows, event, &end_ns, &lag_ns) ||
	    event->category == FSL_TRACE_CATEGORY_QUEUE) {
		return;
	}
	for (size_t s = 0; s < view->n_slicers; s++) {
		for (size_t i = 0; i < view->slicers[s].n_idle; i++) {
			struct fsl_profile_idle *idle = &view->slicers[s].idle[i];
			if (idle->begin_ns + idle->dur_ns != end_ns) {
				continue;
			}
			if (event->category == FSL_TRACE_CATEGORY_TORCH) {
				idle->torch_lag_ns = lag_ns;
			} else {
				idle->launch_lag_ns = lag_ns;
			}
		}
	}
}

/* The nearest known frequency, or a new one. */
static size_t find_freq(struct fsl_profile_trace *trace, int32_t mhz)
{
	size_t nearest = 0;
	for (size_t i = 0; i < trace->n_freqs; i++) {
		int64_t off = llabs((int64_t)trace->freqs_mhz[i] - mhz);
		if (off < llabs((int64_t)trace->freqs_mhz[nearest] - mhz)) {
			nearest = i;
		}
	}
	bool is_known = trace->n_freqs > 0 && trace->freqs_mhz[nearest] == mhz;
	if (is_known || trace->n_freqs == FSL_PROFILE_FREQS_MAX) {
		return nearest;
	}
	size_t i = trace->n_freqs++;
	for (; i > 0 && trace->freqs_mhz[i - 1] > mhz; i--) {
		trace->freqs_mhz[i] = trace->freqs_mhz[i - 1];
		trace->freq_ns[i] = trace->freq_ns[i - 1];
	}
	trace->freqs_mhz[i] = mhz;
	trace->freq_ns[i] = 0;
	return i;
}

/* Until now the cores had the frequency told last. */
static void hold_freq(struct view *view, int64_t until_ns)
{
	struct clock *clock = &view->clock;
	if (clock->mhz >= 0 && until_ns > clock->since_ns) {
		struct fsl_profile_trace *trace = &view->rank->trace;
		trace->freq_ns[find_freq(trace, clock->mhz)] += until_ns - clock->since_ns;
	}
}

static void add_freq(struct view *view, const struct fsl_trace_event *event)
{
	struct clock *clock = &view->clock;
	bool is_first = clock->mhz < 0;
	if (is_first || (clock->pid == event->pid && event->ts_ns >= clock->since_ns)) {
		hold_freq(view, event->ts_ns);
		*clock = (struct clock){event->pid, event->mhz, event->ts_ns};
		(void)find_freq(&view->rank->trace, event->mhz);
	}
}

static void add_process(struct view *view, const struct fsl_trace_event *event)
{
	struct process *process = find_process(view, event->pid);
	if (process != NULL) {
		process->kind = event->process;
	}
}

static enum fsl_status add_event(struct view *view, const struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	view->input->file->n_records++;
	view->rank->trace.n_events++;
	if (event->phase == 'X') {
		return add_complete(view, event, err);
	}
	if (event->phase == 's' || event->phase == 'f') {
		add_flow(view, event);
	} else if (event->phase == 'C' && event->name == FSL_TRACE_NAME_FREQ) {
		add_freq(view, event);
	} else if (event->phase == 'M' && event->name == FSL_TRACE_NAME_PROCESS) {
		add_process(view, event);
	}
	return FSL_OK;
}

/* Events up to the first one that the tokenizer has to read. */
static enum fsl_status scan_events(struct view *view, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	struct fsl_trace_event event;
	const char *text = NULL;
	size_t n_bytes = 0;
	while (status == FSL_OK && fsl_json_peek_object(view->json, &text, &n_bytes)) {
		size_t length = fsl_trace_event_scan(text, n_bytes, &event);
		if (length == 0 || fsl_trace_event_fault(&event) != NULL) {
			break;
		}
		fsl_json_take_object(view->json, length, 0);
		status = add_event(view, &event, err);
	}
	return status;
}

/* The rest of an event that the tokenizer has begun. */
static enum fsl_status read_event(struct view *view, struct fsl_error *err)
{
	struct fsl_trace_event event;
	enum fsl_status status = fsl_trace_event_read(view->json, &event, err);
	if (status != FSL_OK) {
		return status;
	}
	const char *fault = fsl_trace_event_fault(&event);
	if (fault == NULL) {
		return add_event(view, &event, err);
	}
	view->input->file->n_records++;
	return drop(view, fault, err);
}

/* Events of an open array, up to its end. */
static enum fsl_status read_events(struct view *view, struct fsl_error *err)
{
	size_t depth = fsl_json_depth(view->json);
	for (;;) {
		struct fsl_json_value value;
		enum fsl_status status = scan_events(view, err);
		if (status == FSL_OK) {
			status = fsl_json_next(view->json, &value, err);
		}
		if (status != FSL_OK || fsl_json_depth(view->json) < depth) {
			return status;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			status = read_event(view, err);
		} else {
			view->input->file->n_records++;
			status = drop(view, "a value that is no event", err);
			while (status == FSL_OK && fsl_json_depth(view->json) > depth) {
				status = fsl_json_next(view->json, &value, err);
			}
		}
		if (status != FSL_OK) {
			return status;
		}
	}
}

/* {"traceEvents": [...]} */
static enum fsl_status read_object(struct view *view, struct fsl_error *err)
{
	bool is_more = true;
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		bool is_array = false;
		status = fsl_json_next_key(view->json, &value, &is_more, err);
		if (status != FSL_OK || !is_more) {
			break;
		}
		if (!fsl_json_is(&value, "traceEvents")) {
			status = fsl_json_take_scalar(view->json, &value, err);
			continue;
		}
		status = fsl_json_enter_array(view->json, &is_array, err);
		if (status == FSL_OK && is_array) {
			status = read_events(view, err);
		}
	}
	return status;
}

static enum fsl_status read_document(struct view *view, struct fsl_error *err)
{
	struct fsl_json_value value;
	enum fsl_status status = fsl_json_next(view->json, &value, err);
	if (status != FSL_OK) {
		return status;
	}
	if (value.token == FSL_JSON_ARRAY_BEGIN) {
		return read_events(view, err);
	}
	return value.token == FSL_JSON_OBJECT_BEGIN ? read_object(view, err) : FSL_OK;
}

/* The device's time: from its own tasks, or those of communication alone. */
static void finish_range(struct view *view)
{
	struct fsl_profile_trace *trace = &view->rank->trace;
	for (size_t i = 0; i < view->n_processes; i++) {
		const struct process *process = &view->processes[i];
		bool is_device = process->kind == FSL_TRACE_PROCESS_DEVICE ||
				 process->kind == FSL_TRACE_PROCESS_COMMUNICATION;
		if (!is_device || process->begin_ns == FSL_NS_ABSENT) {
			continue;
		}
		if (trace->begin_ns == FSL_NS_ABSENT || process->begin_ns < trace->begin_ns) {
			trace->begin_ns = process->begin_ns;
		}
		trace->end_ns = process->end_ns > trace->end_ns ? process->end_ns : trace->end_ns;
	}
	hold_freq(view, trace->end_ns);
}

/* The slices of the Overlap Analysis; those of other processes are called so by chance. */
static struct fsl_trace_steps *overlap_steps(struct view *view)
{
	for (size_t i = 0; i < view->n_processes; i++) {
		const struct process *process = &view->processes[i];
		if (process->kind == FSL_TRACE_PROCESS_OVERLAP && process->slicer >= 0) {
			return &view->slicers[process->slicer];
		}
	}
	return NULL;
}

static enum fsl_status finish_steps(struct view *view, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = view->rank;
	struct fsl_profile_trace *trace = &rank->trace;
	struct fsl_trace_steps *steps = overlap_steps(view);
	if (steps == NULL) {
		return FSL_OK;
	}
	trace->n_idle = steps->n_idle;
	for (size_t i = 0; i < steps->n_idle; i++) {
		struct fsl_profile_idle *idle = &trace->idle[i];
		*idle = steps->idle[i];
		fsl_trace_activity_ask(&view->activity, idle->begin_ns,
				       idle->begin_ns + idle->dur_ns, &idle->n_acl, &idle->acl_ns);
	}
	if (rank->n_rebuilt > 0) {
		return FSL_OK;
	}
	for (size_t r = 0; r < view->receives.n_items; r++) {
		for (size_t i = 0; i < steps->n_items; i++) {
			if (steps->items[i].step == view->receives.items[r].step) {
				steps->items[i].receive_ns = view->receives.items[r].receive_ns;
			}
		}
	}
	return fsl_trace_steps_finish(steps, rank, view->input, err);
}

static void finish_lags(struct view *view)
{
	struct fsl_profile_trace *trace = &view->rank->trace;
	struct fsl_profile_lag lag =
		fsl_trace_flows_lag(view->flows, FSL_TRACE_CATEGORY_HOST_TO_DEVICE);
	trace->n_launches = lag.n;
	trace->lag_median_ns = lag.median_ns;
	trace->lag_p95_ns = lag.p95_ns;
	trace->lag_max_ns = lag.max_ns;
	trace->torch_lag = fsl_trace_flows_lag(view->flows, FSL_TRACE_CATEGORY_TORCH);
	trace->queue_lag = fsl_trace_flows_lag(view->flows, FSL_TRACE_CATEGORY_QUEUE);
}

static enum fsl_status finish(struct view *view, enum fsl_status status,
			      const struct fsl_error *own, struct fsl_error *err)
{
	view->rank->trace.is_cut = status != FSL_OK;
	view->rank->has_trace = view->rank->trace.n_events > 0;
	finish_range(view);
	finish_lags(view);
	enum fsl_status finished = finish_steps(view, err);
	enum fsl_status told = fsl_json_file_end(view->rank, view->input, status, own, remedy, err);
	return finished != FSL_OK ? finished : told;
}

enum fsl_status fsl_profile_read_trace_view(struct fsl_profile_rank *rank,
					    const struct fsl_profile_input *input,
					    struct fsl_error *err)
{
	struct fsl_error own = {0};
	struct view *view = fsl_calloc(1, sizeof(*view));
	struct fsl_trace_flows *flows = fsl_trace_flows_create();
	struct fsl_json *json = fsl_json_create(input->reader);
	enum fsl_status status = FSL_ERR_MEMORY;
	if (view == NULL || flows == NULL || json == NULL) {
		(void)FSL_FAIL(err, status, "out of memory: path=\"%s\"", input->path);
		goto out;
	}
	view->rank = rank;
	view->input = input;
	view->json = json;
	view->flows = flows;
	view->clock.mhz = -1;
	status = finish(view, read_document(view, &own), &own, err);
	for (size_t s = 0; s < view->n_slicers; s++) {
		fsl_trace_steps_fini(&view->slicers[s]);
	}
	fsl_trace_steps_fini(&view->receives);
out:
	fsl_json_destroy(json);
	fsl_trace_flows_destroy(flows);
	fsl_free(view);
	return status;
}
