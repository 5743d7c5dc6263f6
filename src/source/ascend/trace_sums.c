/* Sums over the events of a trace. The metadata that names the process of an event may stand
 * anywhere, so sums are kept per process id. */
#include "source/ascend/trace_sums.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/try.h"
#include "chrome/trace_flows.h"
#include "source/ascend/signal_waits.h"
#include "source/ascend/trace_activity.h"
#include "source/ascend/trace_kernels.h"
#include "source/ascend/trace_names.h"
#include "source/ascend/trace_steps.h"

enum {
	PROCESSES_MAX = 256, /* of one rank; about twelve are usual, further ones are ignored */
	SLICERS_MAX = 4,     /* processes with slices of an Overlap Analysis; one is usual */
	RANGES_MAX = 4096,
};

/* Rounded times of kernels exceed those of the trace by less than this. */
static const double WHOLE_SHARE_MIN = 0.999;

struct process {
	uint64_t pid;
	enum fsl_trace_process kind;
	int64_t begin_ns, end_ns; /* range of its X events; FSL_NS_ABSENT: none */
	int slicer; /* its slices are in sums->slicers[slicer]; -1: none, or too many processes */
};

/* The clock of the cores. */
struct clock {
	uint64_t pid; /* of the first device; users of the result do not distinguish others */
	int32_t mhz;  /* present frequency; -1: unknown */
	int64_t since_ns;
	size_t n_seen; /* ascending, with the time at each */
	int32_t seen_mhz[FSL_PROFILE_FREQS_MAX];
	int64_t seen_ns[FSL_PROFILE_FREQS_MAX];
};

struct fsl_trace_sums {
	struct fsl_profile_rank *rank;
	bool has_rebuilt; /* the kernels gave the steps already */
	struct fsl_trace_flows *flows;
	struct process processes[PROCESSES_MAX];
	size_t n_processes, last_process;
	struct fsl_trace_steps slicers[SLICERS_MAX];
	size_t n_slicers;
	struct fsl_trace_steps receives;
	struct clock clock;
	struct fsl_trace_activity activity;
	struct fsl_signal_waits waits;
	struct fsl_trace_kernels kernels;
	struct fsl_spans copies;
};

struct fsl_trace_sums *fsl_trace_sums_create(struct fsl_profile_rank *rank)
{
	struct fsl_trace_sums *sums = fsl_calloc(1, sizeof(*sums));
	struct fsl_trace_flows *flows = fsl_trace_flows_create(FSL_TRACE_FLOWS_N);
	bool has_kernels = rank->n_kernels + rank->n_op_statistics > 0;
	struct fsl_strpool *keys = has_kernels ? NULL : fsl_strpool_create();
	if (sums == NULL || flows == NULL || (keys == NULL && !has_kernels)) {
		fsl_strpool_destroy(keys);
		fsl_trace_flows_destroy(flows);
		fsl_free(sums);
		return NULL;
	}
	sums->rank = rank;
	sums->has_rebuilt = rank->n_rebuilt > 0;
	sums->flows = flows;
	sums->clock.mhz = -1;
	sums->waits.rank = rank;
	sums->kernels = (struct fsl_trace_kernels){rank, keys};
	return sums;
}

void fsl_trace_sums_destroy(struct fsl_trace_sums *sums)
{
	if (sums == NULL) {
		return;
	}
	for (size_t s = 0; s < sums->n_slicers; s++) {
		fsl_trace_steps_fini(&sums->slicers[s]);
	}
	fsl_trace_steps_fini(&sums->receives);
	fsl_signal_waits_fini(&sums->waits);
	fsl_strpool_destroy(sums->kernels.keys);
	fsl_spans_fini(&sums->copies);
	fsl_trace_flows_destroy(sums->flows);
	fsl_free(sums);
}

/* Entry of a process; NULL if there are too many. */
static struct process *find_process(struct fsl_trace_sums *sums, uint64_t pid)
{
	size_t i = sums->last_process;
	if (i < sums->n_processes && sums->processes[i].pid == pid) {
		return &sums->processes[i];
	}
	for (i = 0; i < sums->n_processes && sums->processes[i].pid != pid; i++) {
	}
	if (i == PROCESSES_MAX) {
		return NULL;
	}
	if (i == sums->n_processes) {
		sums->processes[sums->n_processes++] = (struct process){.pid = pid,
									.begin_ns = FSL_NS_ABSENT,
									.end_ns = FSL_NS_ABSENT,
									.slicer = -1};
	}
	sums->last_process = i;
	return &sums->processes[i];
}

/* Adds a range sorted by begin; of two ranges of one step the first stays. */
static enum fsl_status add_range(struct fsl_trace_sums *sums, const struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	struct fsl_profile_trace *trace = &sums->rank->trace;
	if (event->number < 0 || trace->n_ranges == RANGES_MAX || trace->has_iterations) {
		return FSL_OK;
	}
	size_t i = trace->n_ranges;
	for (size_t k = 0; k < trace->n_ranges; k++) {
		if (trace->ranges[k].step == event->number) {
			return FSL_OK;
		}
	}
	FSL_TRY(FSL_GROW(trace->ranges, trace->ranges_capacity, trace->n_ranges + 1, err));
	for (; i > 0 && trace->ranges[i - 1].begin_ns > event->ts_ns; i--) {
		trace->ranges[i] = trace->ranges[i - 1];
	}
	trace->ranges[i] = (struct fsl_profile_range){event->number, event->ts_ns,
						      event->ts_ns + event->dur_ns};
	trace->n_ranges++;
	return FSL_OK;
}

static enum fsl_status add_slice(struct fsl_trace_sums *sums, struct process *process,
				 const struct fsl_trace_event *event, struct fsl_error *err)
{
	if (process == NULL || (process->slicer < 0 && sums->n_slicers == SLICERS_MAX)) {
		return FSL_OK;
	}
	if (process->slicer < 0) {
		process->slicer = (int)sums->n_slicers++;
	}
	return fsl_trace_steps_add(&sums->slicers[process->slicer],
				   fsl_trace_step_at(&sums->rank->trace, event->ts_ns), event, err);
}

/* A kernel, a copy, or nothing of both. */
static enum fsl_status add_task(struct fsl_trace_sums *sums, const struct fsl_trace_event *event,
				struct fsl_error *err)
{
	return event->args[FSL_TRACE_ARG_CORE] == FSL_TRACE_CORE_COPY
		       ? fsl_spans_add(&sums->copies, event->ts_ns, event->ts_ns + event->dur_ns,
				       FSL_STEP_ABSENT, err)
		       : fsl_trace_kernels_add(&sums->kernels, event, err);
}

/* Adds the wait for a signal whose sender is told. */
static enum fsl_status add_signal(struct fsl_trace_sums *sums, const struct fsl_trace_event *event,
				  struct fsl_error *err)
{
	int64_t peer = event->args[FSL_TRACE_ARG_PEER];
	if (peer < 0) {
		return FSL_OK;
	}
	uint32_t group_id = fsl_signal_waits_group_at(sums->rank, event->ts_ns);
	return fsl_signal_waits_add(&sums->waits, group_id, peer, event->dur_ns, err);
}

/* Takes a complete event by its name. */
static enum fsl_status add_named(struct fsl_trace_sums *sums, struct process *process,
				 const struct fsl_trace_event *event, struct fsl_error *err)
{
	switch ((enum fsl_trace_name)event->name) {
	case FSL_TRACE_NAME_STEP:
		return add_range(sums, event, err);
	case FSL_TRACE_NAME_DATALOADER:
		if (event->category != FSL_TRACE_CATEGORY_PYTHON) {
			fsl_trace_count_call(&sums->rank->trace, FSL_HOST_DATALOADER,
					     event->dur_ns);
		}
		break;
	case FSL_TRACE_NAME_SYNCHRONIZE:
		fsl_trace_count_call(&sums->rank->trace, FSL_HOST_SYNCHRONIZE, event->dur_ns);
		fsl_trace_activity_add(&sums->activity, event->ts_ns, event->dur_ns);
		break;
	case FSL_TRACE_NAME_COMPILE:
		fsl_trace_count_call(&sums->rank->trace, FSL_HOST_COMPILE, event->dur_ns);
		fsl_trace_activity_add(&sums->activity, event->ts_ns, event->dur_ns);
		break;
	case FSL_TRACE_NAME_ACL:
		fsl_trace_activity_add(&sums->activity, event->ts_ns, event->dur_ns);
		break;
	case FSL_TRACE_NAME_LAUNCH:
		fsl_trace_count_call(&sums->rank->trace, FSL_HOST_LAUNCH, event->dur_ns);
		break;
	case FSL_TRACE_NAME_RECEIVE:
		return fsl_trace_steps_add(&sums->receives,
					   fsl_trace_step_at(&sums->rank->trace, event->ts_ns),
					   event, err);
	case FSL_TRACE_NAME_SIGNAL:
		return add_signal(sums, event, err);
	case FSL_TRACE_NAME_COMPUTING:
	case FSL_TRACE_NAME_COMMUNICATION:
	case FSL_TRACE_NAME_EXPOSED:
	case FSL_TRACE_NAME_FREE:
		return add_slice(sums, process, event, err);
	case FSL_TRACE_NAME_OTHER:
		return add_task(sums, event, err);
	case FSL_TRACE_NAME_FREQ:
	case FSL_TRACE_NAME_PROCESS:
		break;
	}
	return FSL_OK;
}

static enum fsl_status add_complete(struct fsl_trace_sums *sums,
				    const struct fsl_trace_event *event, struct fsl_error *err)
{
	struct process *process = find_process(sums, event->pid);
	if (process != NULL) {
		int64_t end_ns = event->ts_ns + event->dur_ns;
		bool is_first = process->begin_ns == FSL_NS_ABSENT;
		process->begin_ns = is_first || event->ts_ns < process->begin_ns
					    ? event->ts_ns
					    : process->begin_ns;
		process->end_ns = end_ns > process->end_ns ? end_ns : process->end_ns;
	}
	if (event->category == FSL_TRACE_CATEGORY_GC) {
		fsl_trace_count_call(&sums->rank->trace, FSL_HOST_GC, event->dur_ns);
	}
	return add_named(sums, process, event, err);
}

/* Kinds of flows by category; FSL_TRACE_FLOWS_N: a category of no flows. */
static const enum fsl_trace_flow flow_of[] = {
	[FSL_TRACE_CATEGORY_NONE] = FSL_TRACE_FLOWS_N,
	[FSL_TRACE_CATEGORY_HOST_TO_DEVICE] = FSL_TRACE_FLOW_LAUNCH,
	[FSL_TRACE_CATEGORY_TORCH] = FSL_TRACE_FLOW_TORCH,
	[FSL_TRACE_CATEGORY_QUEUE] = FSL_TRACE_FLOW_QUEUE,
	[FSL_TRACE_CATEGORY_PYTHON] = FSL_TRACE_FLOWS_N,
	[FSL_TRACE_CATEGORY_GC] = FSL_TRACE_FLOWS_N,
};

/* A pair may tell how the task behind a stretch of idleness was launched. */
static void add_flow(struct fsl_trace_sums *sums, const struct fsl_trace_event *event)
{
	int64_t end_ns = 0, lag_ns = 0;
	enum fsl_trace_flow kind = flow_of[event->category];
	if (kind == FSL_TRACE_FLOWS_N ||
	    !fsl_trace_flows_add(sums->flows, kind, event, &end_ns, &lag_ns) ||
	    kind == FSL_TRACE_FLOW_QUEUE) {
		return;
	}
	for (size_t s = 0; s < sums->n_slicers; s++) {
		for (size_t i = 0; i < sums->slicers[s].n_idle; i++) {
			struct fsl_profile_idle *idle = &sums->slicers[s].idle[i];
			if (idle->begin_ns + idle->dur_ns != end_ns) {
				continue;
			}
			if (kind == FSL_TRACE_FLOW_TORCH) {
				idle->torch_lag_ns = lag_ns;
			} else {
				idle->launch_lag_ns = lag_ns;
			}
		}
	}
}

/* Index of the nearest known frequency, or of a new one. */
static size_t find_freq(struct clock *clock, int32_t mhz)
{
	size_t nearest = 0;
	for (size_t i = 0; i < clock->n_seen; i++) {
		int64_t off = llabs((int64_t)clock->seen_mhz[i] - mhz);
		if (off < llabs((int64_t)clock->seen_mhz[nearest] - mhz)) {
			nearest = i;
		}
	}
	bool is_known = clock->n_seen > 0 && clock->seen_mhz[nearest] == mhz;
	if (is_known || clock->n_seen == FSL_PROFILE_FREQS_MAX) {
		return nearest;
	}
	size_t i = clock->n_seen++;
	for (; i > 0 && clock->seen_mhz[i - 1] > mhz; i--) {
		clock->seen_mhz[i] = clock->seen_mhz[i - 1];
		clock->seen_ns[i] = clock->seen_ns[i - 1];
	}
	clock->seen_mhz[i] = mhz;
	clock->seen_ns[i] = 0;
	return i;
}

/* Counts the time until now for the last frequency. */
static void hold_freq(struct clock *clock, int64_t until_ns)
{
	if (clock->mhz >= 0 && until_ns > clock->since_ns) {
		clock->seen_ns[find_freq(clock, clock->mhz)] += until_ns - clock->since_ns;
	}
}

static void add_freq(struct fsl_trace_sums *sums, const struct fsl_trace_event *event)
{
	struct clock *clock = &sums->clock;
	bool is_first = clock->mhz < 0;
	if (is_first || (clock->pid == event->pid && event->ts_ns >= clock->since_ns)) {
		hold_freq(clock, event->ts_ns);
		clock->pid = event->pid;
		clock->mhz = (int32_t)event->args[FSL_TRACE_ARG_MHZ];
		clock->since_ns = event->ts_ns;
		(void)find_freq(clock, clock->mhz);
	}
}

static void add_process(struct fsl_trace_sums *sums, const struct fsl_trace_event *event)
{
	struct process *process = find_process(sums, event->pid);
	if (process != NULL) {
		process->kind = (enum fsl_trace_process)event->args[FSL_TRACE_ARG_PROCESS];
	}
}

enum fsl_status fsl_trace_sums_add(struct fsl_trace_sums *sums, const struct fsl_trace_event *event,
				   struct fsl_error *err)
{
	sums->rank->trace.n_events++;
	if (event->phase == 'X') {
		return add_complete(sums, event, err);
	}
	if (event->phase == 's' || event->phase == 'f') {
		add_flow(sums, event);
	} else if (event->phase == 'C' && event->name == FSL_TRACE_NAME_FREQ) {
		add_freq(sums, event);
	} else if (event->phase == 'M' && event->name == FSL_TRACE_NAME_PROCESS) {
		add_process(sums, event);
	}
	return FSL_OK;
}

/* Sets the range of the device's time, from its own tasks or from communication. */
static void finish_range(struct fsl_trace_sums *sums)
{
	struct fsl_profile_trace *trace = &sums->rank->trace;
	for (size_t i = 0; i < sums->n_processes; i++) {
		const struct process *process = &sums->processes[i];
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
}

static void finish_freqs(struct fsl_trace_sums *sums)
{
	struct fsl_profile_trace *trace = &sums->rank->trace;
	struct clock clock = sums->clock;
	hold_freq(&clock, trace->end_ns);
	trace->n_freqs = clock.n_seen;
	for (size_t i = 0; i < clock.n_seen; i++) {
		trace->freqs_mhz[i] = clock.seen_mhz[i];
		trace->freq_ns[i] = clock.seen_ns[i];
	}
}

/* Slices of the Overlap Analysis. Other processes may have slices of the same names by chance. */
static struct fsl_trace_steps *overlap_steps(struct fsl_trace_sums *sums)
{
	for (size_t i = 0; i < sums->n_processes; i++) {
		const struct process *process = &sums->processes[i];
		if (process->kind == FSL_TRACE_PROCESS_OVERLAP && process->slicer >= 0) {
			return &sums->slicers[process->slicer];
		}
	}
	return NULL;
}

/* Rows of the trace and of the kernels change places. */
static void swap_rows(struct fsl_profile_rank *rank)
{
	const struct fsl_profile_rank old = *rank;
	rank->rebuilt = old.traced;
	rank->n_rebuilt = old.n_traced;
	rank->rebuilt_capacity = old.traced_capacity;
	rank->traced = old.rebuilt;
	rank->n_traced = old.n_rebuilt;
	rank->traced_capacity = old.rebuilt_capacity;
}

/* The trace has all steps of the kernels, with as much work: else a part of it is missing. Its rows
 * take the device from the kernels. Without numbers of steps it also has idle time before the first
 * kernel and behind the last, which is none of a step. */
static bool is_whole(const struct fsl_profile_rank *rank)
{
	size_t t = 0;
	bool is_whole = !rank->trace.is_cut;
	for (size_t i = 0; i < rank->n_rebuilt && is_whole; i++) {
		const struct fsl_profile_step *row = &rank->rebuilt[i];
		while (t < rank->n_traced && rank->traced[t].step < row->step) {
			t++;
		}
		struct fsl_profile_step *traced = t < rank->n_traced ? &rank->traced[t] : NULL;
		is_whole = traced != NULL && traced->step == row->step &&
			   row->step != FSL_STEP_ABSENT &&
			   (double)(traced->computing_ns + traced->exposed_ns) >=
				   WHOLE_SHARE_MIN * (double)(row->computing_ns + row->exposed_ns);
		if (is_whole) {
			traced->device_id = row->device_id;
		}
	}
	return is_whole;
}

static enum fsl_status finish_steps(struct fsl_trace_sums *sums,
				    const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = sums->rank;
	struct fsl_profile_trace *trace = &rank->trace;
	struct fsl_trace_steps *steps = overlap_steps(sums);
	if (steps == NULL) {
		return FSL_OK;
	}
	trace->n_idle = steps->n_idle;
	for (size_t i = 0; i < steps->n_idle; i++) {
		struct fsl_profile_idle *idle = &trace->idle[i];
		*idle = steps->idle[i];
		fsl_trace_activity_ask(&sums->activity, idle->begin_ns,
				       idle->begin_ns + idle->dur_ns, &idle->n_acl, &idle->acl_ns);
	}
	FSL_TRY(fsl_copies_tell(&sums->copies, &steps->free, rank, err));
	for (size_t r = 0; r < sums->receives.n_items; r++) {
		for (size_t i = 0; i < steps->n_items; i++) {
			if (steps->items[i].step == sums->receives.items[r].step) {
				steps->items[i].receive_ns = sums->receives.items[r].receive_ns;
			}
		}
	}
	if (sums->has_rebuilt) {
		swap_rows(rank);
	}
	rank->n_rebuilt = 0; /* replaces the rows of the earlier slices */
	enum fsl_status status = fsl_trace_steps_finish(steps, rank, input, err);
	if (sums->has_rebuilt) {
		swap_rows(rank);
		rank->n_traced = is_whole(rank) ? rank->n_traced : 0;
	}
	return status;
}

static void finish_lags(struct fsl_trace_sums *sums)
{
	struct fsl_profile_trace *trace = &sums->rank->trace;
	struct fsl_trace_lag lag = fsl_trace_flows_lag(sums->flows, FSL_TRACE_FLOW_LAUNCH);
	trace->n_launches = lag.n;
	trace->lag_median_ns = lag.median_ns;
	trace->lag_p95_ns = lag.p95_ns;
	trace->lag_max_ns = lag.max_ns;
	trace->torch_lag = fsl_trace_flows_lag(sums->flows, FSL_TRACE_FLOW_TORCH);
	trace->queue_lag = fsl_trace_flows_lag(sums->flows, FSL_TRACE_FLOW_QUEUE);
}

enum fsl_status fsl_trace_sums_tell(struct fsl_trace_sums *sums,
				    const struct fsl_profile_input *input, struct fsl_error *err)
{
	sums->rank->has_trace = sums->rank->trace.n_events > 0;
	finish_range(sums);
	finish_freqs(sums);
	finish_lags(sums);
	if (fsl_trace_flows_is_short(sums->flows)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	return finish_steps(sums, input, err);
}
