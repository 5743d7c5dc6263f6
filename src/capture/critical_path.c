/* The longest chain, in one pass over begins and ends in the order of time. Works come by begin,
 * and so do hosts once they are sorted; a heap of open hosts has their ends in order. */
#include "capture/critical_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

/* The longest chain that ends at some point. */
struct chain {
	int64_t length_ns;
	int64_t parts_ns[FSL_PATH_PARTS_N];
};

struct thread {
	struct chain chain; /* up to its newest point */
	int64_t time_ns;    /* of that */
	uint32_t top;       /* innermost open host; FSL_STR_NONE: none */
	bool has_begun, has_autograd;
};

struct stream {
	int32_t device, stream;
	uint32_t launched, begun; /* newest works; FSL_STR_NONE: none yet */
	uint32_t pending;         /* work that the next launch waits for; FSL_STR_NONE: none */
	int64_t n_queued;
};

struct work_state {
	struct chain chain; /* at its launch; from its begin on at its end */
	int64_t call_ns;    /* of its launch */
	uint32_t after;     /* work that it waits for; FSL_STR_NONE: none */
	uint32_t stream;    /* index */
	bool is_launched, is_begun, was_empty;
};

struct walk {
	const struct fsl_path_input *input;
	uint32_t *open; /* heap of hosts that have begun: the next to end first */
	size_t n_open;
	struct thread *threads;
	uint32_t *outer; /* of each host: the one around it */
	bool *is_closed; /* of each host */
	struct work_state *works;
	uint32_t *recorded; /* of each event: the work before it */
	struct stream streams[FSL_STREAMS_MAX];
	size_t n_streams;
	struct chain ended, ended_autograd; /* longest that end at no caller: of all threads, and of
					       those with backward passes */
	struct chain longest;
};

static int compare_hosts(const void *left, const void *right)
{
	const struct fsl_path_host *a = left, *b = right;
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	FSL_ORDER_BY(b->end_ns, a->end_ns);
	FSL_ORDER_BY(a->thread, b->thread);
	return FSL_ORDER(a->detail, b->detail);
}

static void take_longer(struct chain *chain, const struct chain *other)
{
	if (other->length_ns > chain->length_ns) {
		*chain = *other;
	}
}

static void extend(struct chain *chain, enum fsl_path_part part, int64_t ns)
{
	if (ns > 0) {
		chain->length_ns = fsl_sum_i64(chain->length_ns, ns);
		chain->parts_ns[part] = fsl_sum_i64(chain->parts_ns[part], ns);
	}
}

/* Index of a stream; FSL_STR_NONE: too many. */
static uint32_t stream_of(struct walk *walk, int32_t device, int32_t number)
{
	for (size_t i = 0; i < walk->n_streams; i++) {
		if (walk->streams[i].stream == number && walk->streams[i].device == device) {
			return (uint32_t)i;
		}
	}
	if (walk->n_streams == FSL_STREAMS_MAX) {
		return FSL_STR_NONE;
	}
	walk->streams[walk->n_streams] = (struct stream){.device = device,
							 .stream = number,
							 .launched = FSL_STR_NONE,
							 .begun = FSL_STR_NONE,
							 .pending = FSL_STR_NONE};
	return (uint32_t)walk->n_streams++;
}

static enum fsl_status begin_walk(struct walk *walk, struct fsl_error *err)
{
	const struct fsl_path_input *input = walk->input;
	FSL_TRY(FSL_NEW(walk->open, input->n_hosts + 1, "calls", err));
	FSL_TRY(FSL_NEW(walk->threads, input->n_threads + 1, "threads", err));
	FSL_TRY(FSL_NEW(walk->outer, input->n_hosts + 1, "calls", err));
	FSL_TRY(FSL_NEW(walk->is_closed, input->n_hosts + 1, "calls", err));
	FSL_TRY(FSL_NEW(walk->works, input->n_works + 1, "works", err));
	FSL_TRY(FSL_NEW(walk->recorded, input->n_events + 1, "events", err));
	fsl_sort_runs(input->hosts, input->n_hosts, sizeof(*input->hosts), compare_hosts);
	for (size_t i = 0; i < input->n_hosts; i++) {
		const struct fsl_path_host *host = &input->hosts[i];
		walk->threads[host->thread].has_autograd |= host->is_autograd;
	}
	for (size_t i = 0; i < input->n_works; i++) {
		walk->works[i].after = FSL_STR_NONE;
		walk->works[i].stream =
			stream_of(walk, input->works[i].device, input->works[i].stream);
	}
	for (size_t i = 0; i < input->n_threads; i++) {
		walk->threads[i].top = FSL_STR_NONE;
	}
	for (size_t i = 0; i < input->n_events; i++) {
		walk->recorded[i] = FSL_STR_NONE;
	}
	return FSL_OK;
}

static void end_walk(struct walk *walk)
{
	fsl_free(walk->open);
	fsl_free(walk->threads);
	fsl_free(walk->outer);
	fsl_free(walk->is_closed);
	fsl_free(walk->works);
	fsl_free(walk->recorded);
}

/* Time since the newest point belongs to the innermost open host. */
static void advance(struct walk *walk, struct thread *thread, int64_t now_ns)
{
	if (thread->top != FSL_STR_NONE) {
		const struct fsl_path_host *host = &walk->input->hosts[thread->top];
		if (!host->is_wait) {
			extend(&thread->chain, host->is_loading ? FSL_PATH_LOADING : FSL_PATH_HOST,
			       now_ns - thread->time_ns);
		}
	}
	thread->time_ns = now_ns;
}

static void launch(struct walk *walk, uint32_t index, const struct thread *thread, int64_t now_ns)
{
	struct work_state *work = &walk->works[index];
	if (work->is_launched || work->is_begun || work->stream == FSL_STR_NONE) {
		return;
	}
	struct stream *stream = &walk->streams[work->stream];
	work->is_launched = true;
	work->was_empty = stream->n_queued == 0;
	work->chain = thread->chain;
	work->call_ns = now_ns;
	work->after = stream->pending;
	stream->pending = FSL_STR_NONE;
	stream->launched = index;
	stream->n_queued++;
}

/* The work behind which an event was recorded; FSL_STR_NONE: not known. */
static uint32_t recorded_by(const struct walk *walk, const struct fsl_path_sync *sync)
{
	return sync->event != FSL_STR_NONE ? walk->recorded[sync->event] : FSL_STR_NONE;
}

/* Effects of calls on the device when they begin. */
static void act(struct walk *walk, const struct fsl_path_host *host, const struct thread *thread)
{
	uint32_t at = FSL_STR_NONE;
	if (host->action == FSL_PATH_LAUNCHES) {
		launch(walk, host->detail, thread, host->begin_ns);
	} else if (host->action == FSL_PATH_RECORDS) {
		const struct fsl_path_event *event = &walk->input->events[host->detail];
		at = stream_of(walk, event->device, event->stream);
		walk->recorded[host->detail] =
			at != FSL_STR_NONE ? walk->streams[at].launched : FSL_STR_NONE;
	} else if (host->action == FSL_PATH_STREAM_WAITS) {
		const struct fsl_path_sync *sync = &walk->input->syncs[host->detail];
		at = stream_of(walk, sync->device, sync->stream);
		if (at != FSL_STR_NONE) {
			walk->streams[at].pending = recorded_by(walk, sync);
		}
	}
}

static void begin_host(struct walk *walk, uint32_t index)
{
	const struct fsl_path_host *host = &walk->input->hosts[index];
	struct thread *thread = &walk->threads[host->thread];
	advance(walk, thread, host->begin_ns);
	if (thread->top == FSL_STR_NONE) {
		/* A backward pass runs on a thread of its own while the caller waits. */
		take_longer(&thread->chain,
			    thread->has_autograd ? &walk->ended : &walk->ended_autograd);
	}
	thread->has_begun = true;
	walk->outer[index] = thread->top;
	thread->top = index;
	act(walk, host, thread);
}

static void wait_for(const struct walk *walk, struct chain *chain, uint32_t work)
{
	if (work != FSL_STR_NONE && walk->works[work].is_begun) {
		take_longer(chain, &walk->works[work].chain);
	}
}

/* The newest work of each stream; if only ended ones count, until @end_ns. */
static void wait_for_streams(const struct walk *walk, struct chain *chain, int64_t end_ns)
{
	for (size_t i = 0; i < walk->n_streams; i++) {
		uint32_t work = walk->streams[i].begun;
		if (work != FSL_STR_NONE && walk->input->works[work].end_ns <= end_ns) {
			wait_for(walk, chain, work);
		}
	}
}

static void wait_at_end(struct walk *walk, const struct fsl_path_host *host, struct chain *chain)
{
	uint32_t at = FSL_STR_NONE;
	const struct fsl_path_sync *sync = NULL;
	switch (host->action) {
	case FSL_PATH_EVENT_WAIT:
		wait_for(walk, chain, recorded_by(walk, &walk->input->syncs[host->detail]));
		break;
	case FSL_PATH_STREAM_WAIT:
		sync = &walk->input->syncs[host->detail];
		at = stream_of(walk, sync->device, sync->stream);
		wait_for(walk, chain, at != FSL_STR_NONE ? walk->streams[at].begun : at);
		break;
	case FSL_PATH_DEVICE_WAIT:
		wait_for_streams(walk, chain, INT64_MAX);
		break;
	case FSL_PATH_OTHER_WAIT:
		wait_for_streams(walk, chain, host->end_ns);
		break;
	case FSL_PATH_LAUNCHES: /* a copy that returns once it is done */
		wait_for(walk, chain, host->is_wait ? host->detail : FSL_STR_NONE);
		break;
	case FSL_PATH_NO_ACTION:
	case FSL_PATH_RECORDS:
	case FSL_PATH_STREAM_WAITS:
		break;
	}
}

static void end_host(struct walk *walk, uint32_t index)
{
	const struct fsl_path_host *host = &walk->input->hosts[index];
	struct thread *thread = &walk->threads[host->thread];
	advance(walk, thread, host->end_ns);
	wait_at_end(walk, host, &thread->chain);
	take_longer(&walk->longest, &thread->chain);
	walk->is_closed[index] = true;
	while (thread->top != FSL_STR_NONE && walk->is_closed[thread->top]) {
		thread->top = walk->outer[thread->top];
	}
	if (thread->top == FSL_STR_NONE) {
		take_longer(&walk->ended, &thread->chain);
		if (thread->has_autograd) {
			take_longer(&walk->ended_autograd, &thread->chain);
		}
	}
}

/* End of a work that has begun; a time before all if there is none. */
static int64_t end_of(const struct walk *walk, uint32_t work)
{
	return work != FSL_STR_NONE ? walk->input->works[work].end_ns : INT64_MIN;
}

static void begin_work(struct walk *walk, uint32_t index)
{
	const struct fsl_path_work *work = &walk->input->works[index];
	struct work_state *state = &walk->works[index];
	struct chain chain = {0};
	if (state->stream == FSL_STR_NONE) {
		return;
	}
	struct stream *stream = &walk->streams[state->stream];
	int64_t before_ns = end_of(walk, stream->begun), after_ns = end_of(walk, state->after);
	stream->n_queued -= state->is_launched;
	bool follows_launch = state->is_launched && state->was_empty &&
			      before_ns < state->call_ns && after_ns < state->call_ns;
	bool follows_work = !follows_launch && stream->begun != FSL_STR_NONE &&
			    work->begin_ns - before_ns < FSL_PATH_BETWEEN_MAX_NS &&
			    after_ns < before_ns;
	if (follows_launch) {
		chain = state->chain;
		extend(&chain, FSL_PATH_LAUNCH, work->begin_ns - state->call_ns);
	} else if (follows_work) {
		chain = walk->works[stream->begun].chain;
		extend(&chain, FSL_PATH_BETWEEN, work->begin_ns - before_ns);
	} else if (state->is_launched && state->after == FSL_STR_NONE) {
		chain = state->chain; /* it waited for what nobody recorded */
	}
	wait_for(walk, &chain, state->after);
	extend(&chain, work->part, work->end_ns - work->begin_ns);
	take_longer(&walk->longest, &chain);
	state->chain = chain;
	state->is_begun = true;
	stream->begun = index;
}

/* Inner hosts, which stand behind, end first if times are equal. */
static bool ends_before(const struct walk *walk, uint32_t a, uint32_t b)
{
	const struct fsl_path_host *hosts = walk->input->hosts;
	return hosts[a].end_ns != hosts[b].end_ns ? hosts[a].end_ns < hosts[b].end_ns : a > b;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t kept = *a;
	*a = *b;
	*b = kept;
}

static void push_open(struct walk *walk, uint32_t host)
{
	size_t at = walk->n_open++;
	walk->open[at] = host;
	for (; at > 0 && ends_before(walk, walk->open[at], walk->open[(at - 1) / 2]);
	     at = (at - 1) / 2) {
		swap(&walk->open[at], &walk->open[(at - 1) / 2]);
	}
}

static uint32_t pop_open(struct walk *walk)
{
	uint32_t host = walk->open[0];
	walk->open[0] = walk->open[--walk->n_open];
	for (size_t at = 0, next = 1; next < walk->n_open; at = next, next = 2 * at + 1) {
		if (next + 1 < walk->n_open &&
		    ends_before(walk, walk->open[next + 1], walk->open[next])) {
			next++;
		}
		if (!ends_before(walk, walk->open[next], walk->open[at])) {
			break;
		}
		swap(&walk->open[next], &walk->open[at]);
	}
	return host;
}

static void end_until(struct walk *walk, int64_t time_ns)
{
	while (walk->n_open > 0 && walk->input->hosts[walk->open[0]].end_ns <= time_ns) {
		end_host(walk, pop_open(walk));
	}
}

/* If times are equal, hosts end, then begin; then works begin. Hosts without a duration are left
 * out. */
static void go(struct walk *walk)
{
	const struct fsl_path_input *input = walk->input;
	size_t h = 0, w = 0;
	while (h < input->n_hosts || w < input->n_works) {
		bool is_host = w == input->n_works ||
			       (h < input->n_hosts &&
				input->hosts[h].begin_ns <= input->works[w].begin_ns);
		if (!is_host) {
			end_until(walk, input->works[w].begin_ns);
			begin_work(walk, (uint32_t)w++);
			continue;
		}
		if (input->hosts[h].begin_ns < input->hosts[h].end_ns) {
			end_until(walk, input->hosts[h].begin_ns);
			begin_host(walk, (uint32_t)h);
			push_open(walk, (uint32_t)h);
		}
		h++;
	}
	end_until(walk, INT64_MAX);
}

enum fsl_status fsl_critical_path_find(struct fsl_critical_path *path,
				       const struct fsl_path_input *input, struct fsl_error *err)
{
	struct walk *walk = NULL;
	if (input->n_hosts >= FSL_STR_NONE || input->n_works >= FSL_STR_NONE) {
		return FSL_OK; /* no path is told */
	}
	FSL_TRY(FSL_NEW(walk, 1, "walks", err));
	walk->input = input;
	enum fsl_status status = begin_walk(walk, err);
	if (status == FSL_OK) {
		go(walk);
	}
	path->length_ns = walk->longest.length_ns;
	memcpy(path->parts_ns, walk->longest.parts_ns, sizeof(path->parts_ns));
	end_walk(walk);
	fsl_free(walk);
	return status;
}
