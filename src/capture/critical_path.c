/* The longest chain, in one pass over begins and ends in the order of time. Works and hosts come by
 * begin; a heap of open hosts has their ends in order. */
#include "capture/critical_path.h"

#include <string.h>

#include "base/heap.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

enum { SWEEP_MIN = 1024 /* places of works: cheap to look at, more than devices have queued */ };

/* The longest chain that ends at some point. */
struct chain {
	int64_t length_ns;
	int64_t parts_ns[FSL_PATH_PARTS_N];
};

struct thread {
	struct chain chain; /* up to its newest point */
	int64_t time_ns;    /* of that */
	uint32_t top;       /* place of the innermost open host; FSL_STR_NONE: none */
};

struct stream {
	int32_t device, stream;
	uint32_t launched, begun; /* places of the newest works; FSL_STR_NONE: none yet */
	uint32_t pending; /* of the work that the next launch waits for; FSL_STR_NONE: none */
	int64_t n_queued;
};

/* A work that was launched or has begun. It stays until nobody can ask for it. */
struct open_work {
	struct chain chain; /* at its launch; from its begin on at its end */
	int64_t call_ns;    /* of its launch */
	int64_t end_ns;
	uint32_t index;     /* of the work */
	uint32_t after;     /* place of the work that it waits for; FSL_STR_NONE: none */
	uint32_t next_free; /* of a free place; FSL_STR_NONE: none */
	bool is_launched, is_begun, was_empty, is_kept, is_free;
};

/* A host that has begun. It stays until hosts that began within it are over. */
struct open_host {
	struct fsl_path_host host;
	uint64_t number; /* in the order of begins */
	uint32_t outer;  /* place of the host around it; of a free place: the next free one */
	bool is_closed;
};

struct walk {
	const struct fsl_path_input *input;
	struct open_host *hosts; /* places */
	size_t n_hosts, hosts_capacity;
	uint32_t first_free; /* place; FSL_STR_NONE: none */
	uint64_t n_begun;
	uint32_t *open; /* heap of places of hosts that are not closed: the next to end first */
	size_t n_open, open_capacity;
	struct thread *threads;
	struct open_work *works; /* places */
	size_t n_works, works_capacity;
	uint32_t free_work; /* place; FSL_STR_NONE: none */
	size_t n_sweep;     /* places that may be taken before works are swept out */
	uint32_t *place_of; /* of each work; FSL_STR_NONE: none */
	size_t next_work;   /* works before it have begun */
	uint32_t *recorded; /* of each event: place of the work before it */
	struct stream streams[FSL_STREAMS_MAX];
	size_t n_streams;
	struct chain ended, ended_autograd; /* longest that end at no caller: of all threads, and of
					       those with backward passes */
	struct chain longest;
};

int fsl_path_host_compare(const void *left, const void *right)
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
	FSL_TRY(FSL_NEW(walk->threads, input->n_threads + 1, "threads", err));
	FSL_TRY(FSL_NEW(walk->place_of, input->n_works + 1, "works", err));
	FSL_TRY(FSL_NEW(walk->recorded, input->n_events + 1, "events", err));
	walk->first_free = FSL_STR_NONE;
	walk->free_work = FSL_STR_NONE;
	walk->n_sweep = input->n_events > SWEEP_MIN ? input->n_events : SWEEP_MIN;
	for (size_t i = 0; i < input->n_works; i++) {
		struct fsl_path_work work;
		walk->place_of[i] = FSL_STR_NONE;
		if (input->work(input->works, (uint32_t)i, &work)) {
			(void)stream_of(walk, work.device, work.stream);
		}
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
	fsl_free(walk->hosts);
	fsl_free(walk->works);
	fsl_free(walk->place_of);
	fsl_free(walk->recorded);
}

/* Time since the newest point belongs to the innermost open host. */
static void advance(struct walk *walk, struct thread *thread, int64_t now_ns)
{
	if (thread->top != FSL_STR_NONE) {
		const struct fsl_path_host *host = &walk->hosts[thread->top].host;
		if (!host->is_wait) {
			extend(&thread->chain, host->is_loading ? FSL_PATH_LOADING : FSL_PATH_HOST,
			       now_ns - thread->time_ns);
		}
	}
	thread->time_ns = now_ns;
}

static void keep_work(struct walk *walk, uint32_t place)
{
	if (place != FSL_STR_NONE) {
		walk->works[place].is_kept = true;
	}
}

/* Marks works that somebody may still ask for. */
static void mark_works(struct walk *walk)
{
	for (size_t i = 0; i < walk->n_works; i++) {
		struct open_work *work = &walk->works[i];
		if (!work->is_free && !work->is_begun) {
			work->is_kept = true;
			keep_work(walk, work->after);
		}
	}
	for (size_t i = 0; i < walk->n_streams; i++) {
		keep_work(walk, walk->streams[i].launched);
		keep_work(walk, walk->streams[i].begun);
		keep_work(walk, walk->streams[i].pending);
	}
	for (size_t i = 0; i < walk->input->n_events; i++) {
		keep_work(walk, walk->recorded[i]);
	}
	for (size_t i = 0; i < walk->n_open; i++) {
		const struct fsl_path_host *host = &walk->hosts[walk->open[i]].host;
		if (host->action == FSL_PATH_LAUNCHES && host->is_wait) {
			keep_work(walk, walk->place_of[host->detail]);
		}
	}
}

/* Frees the places of works that nobody can ask for. */
static void sweep_works(struct walk *walk)
{
	size_t n_kept = 0;
	mark_works(walk);
	for (size_t i = 0; i < walk->n_works; i++) {
		struct open_work *work = &walk->works[i];
		if (!work->is_kept && !work->is_free) {
			walk->place_of[work->index] = FSL_STR_NONE;
			*work = (struct open_work){.is_free = true, .next_free = walk->free_work};
			walk->free_work = (uint32_t)i;
		}
		n_kept += work->is_kept ? 1 : 0;
		work->is_kept = false;
	}
	walk->n_sweep = 2 * n_kept > walk->n_sweep ? 2 * n_kept : walk->n_sweep;
}

/* Gives a work a place. */
static enum fsl_status add_work(struct walk *walk, uint32_t index, uint32_t *place,
				struct fsl_error *err)
{
	const struct open_work open = {
		.index = index, .after = FSL_STR_NONE, .next_free = FSL_STR_NONE};
	if (walk->free_work == FSL_STR_NONE && walk->n_works >= walk->n_sweep) {
		sweep_works(walk);
	}
	*place = walk->free_work;
	if (*place == FSL_STR_NONE) {
		*place = (uint32_t)walk->n_works;
		FSL_TRY(FSL_APPEND(walk, works, &open, err));
	} else {
		walk->free_work = walk->works[*place].next_free;
		walk->works[*place] = open;
	}
	walk->place_of[index] = *place;
	return FSL_OK;
}

static enum fsl_status launch(struct walk *walk, uint32_t index, const struct thread *thread,
			      int64_t now_ns, struct fsl_error *err)
{
	struct fsl_path_work work;
	uint32_t at = 0;
	if (index < walk->next_work || walk->place_of[index] != FSL_STR_NONE ||
	    !walk->input->work(walk->input->works, index, &work)) {
		return FSL_OK;
	}
	uint32_t number = stream_of(walk, work.device, work.stream);
	if (number == FSL_STR_NONE) {
		return FSL_OK;
	}
	FSL_TRY(add_work(walk, index, &at, err));
	struct stream *stream = &walk->streams[number];
	struct open_work *open = &walk->works[at];
	open->is_launched = true;
	open->was_empty = stream->n_queued == 0;
	open->chain = thread->chain;
	open->call_ns = now_ns;
	open->end_ns = work.end_ns;
	open->after = stream->pending;
	stream->pending = FSL_STR_NONE;
	stream->launched = at;
	stream->n_queued++;
	return FSL_OK;
}

/* The work behind which an event was recorded; FSL_STR_NONE: not known. */
static uint32_t recorded_by(const struct walk *walk, const struct fsl_path_sync *sync)
{
	return sync->event != FSL_STR_NONE ? walk->recorded[sync->event] : FSL_STR_NONE;
}

/* Effects of calls on the device when they begin. */
static enum fsl_status act(struct walk *walk, const struct fsl_path_host *host,
			   const struct thread *thread, struct fsl_error *err)
{
	if (host->action == FSL_PATH_LAUNCHES) {
		return launch(walk, host->detail, thread, host->begin_ns, err);
	}
	if (host->action == FSL_PATH_RECORDS) {
		const struct fsl_path_event *event = &walk->input->events[host->detail];
		uint32_t at = stream_of(walk, event->device, event->stream);
		walk->recorded[host->detail] =
			at != FSL_STR_NONE ? walk->streams[at].launched : FSL_STR_NONE;
	} else if (host->action == FSL_PATH_STREAM_WAITS) {
		const struct fsl_path_sync *sync = &walk->input->syncs[host->detail];
		uint32_t at = stream_of(walk, sync->device, sync->stream);
		if (at != FSL_STR_NONE) {
			walk->streams[at].pending = recorded_by(walk, sync);
		}
	}
	return FSL_OK;
}

/* Inner hosts, which begin later, end first if times are equal. */
static bool ends_before(const void *context, uint32_t a, uint32_t b)
{
	const struct walk *walk = context;
	const struct open_host *left = &walk->hosts[a], *right = &walk->hosts[b];
	return left->host.end_ns != right->host.end_ns ? left->host.end_ns < right->host.end_ns
						       : left->number > right->number;
}

/* Gives the host a place. */
static enum fsl_status add_host(struct walk *walk, const struct fsl_path_host *host, uint32_t outer,
				uint32_t *at, struct fsl_error *err)
{
	const struct open_host open = {*host, walk->n_begun++, outer, false};
	*at = walk->first_free;
	if (*at == FSL_STR_NONE) {
		*at = (uint32_t)walk->n_hosts;
		return FSL_APPEND(walk, hosts, &open, err);
	}
	walk->first_free = walk->hosts[*at].outer;
	walk->hosts[*at] = open;
	return FSL_OK;
}

static enum fsl_status begin_host(struct walk *walk, const struct fsl_path_host *host,
				  struct fsl_error *err)
{
	struct thread *thread = &walk->threads[host->thread];
	uint32_t at = 0;
	advance(walk, thread, host->begin_ns);
	if (thread->top == FSL_STR_NONE) {
		/* A backward pass runs on a thread of its own while the caller waits. */
		bool has_autograd = walk->input->has_autograd[host->thread];
		take_longer(&thread->chain, has_autograd ? &walk->ended : &walk->ended_autograd);
	}
	FSL_TRY(add_host(walk, host, thread->top, &at, err));
	thread->top = at;
	FSL_TRY(act(walk, host, thread, err));
	FSL_TRY(FSL_GROW(walk->open, walk->open_capacity, walk->n_open + 1, err));
	fsl_heap_push(walk->open, walk->n_open++, at, ends_before, walk);
	return FSL_OK;
}

static void wait_for(const struct walk *walk, struct chain *chain, uint32_t place)
{
	if (place != FSL_STR_NONE && walk->works[place].is_begun) {
		take_longer(chain, &walk->works[place].chain);
	}
}

/* The newest work of each stream; if only ended ones count, until @end_ns. */
static void wait_for_streams(const struct walk *walk, struct chain *chain, int64_t end_ns)
{
	for (size_t i = 0; i < walk->n_streams; i++) {
		uint32_t place = walk->streams[i].begun;
		if (place != FSL_STR_NONE && walk->works[place].end_ns <= end_ns) {
			wait_for(walk, chain, place);
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
		at = host->is_wait ? walk->place_of[host->detail] : FSL_STR_NONE;
		wait_for(walk, chain, at);
		break;
	case FSL_PATH_NO_ACTION:
	case FSL_PATH_RECORDS:
	case FSL_PATH_STREAM_WAITS:
		break;
	}
}

/* Frees the places of hosts that are over, from the innermost one on. */
static void leave_closed(struct walk *walk, struct thread *thread)
{
	while (thread->top != FSL_STR_NONE && walk->hosts[thread->top].is_closed) {
		uint32_t at = thread->top;
		thread->top = walk->hosts[at].outer;
		walk->hosts[at].outer = walk->first_free;
		walk->first_free = at;
	}
}

static void end_host(struct walk *walk, uint32_t at)
{
	const struct fsl_path_host host = walk->hosts[at].host;
	struct thread *thread = &walk->threads[host.thread];
	advance(walk, thread, host.end_ns);
	wait_at_end(walk, &host, &thread->chain);
	take_longer(&walk->longest, &thread->chain);
	walk->hosts[at].is_closed = true;
	leave_closed(walk, thread);
	if (thread->top == FSL_STR_NONE) {
		take_longer(&walk->ended, &thread->chain);
		if (walk->input->has_autograd[host.thread]) {
			take_longer(&walk->ended_autograd, &thread->chain);
		}
	}
}

/* End of a work; a time before all if there is none. */
static int64_t end_of(const struct walk *walk, uint32_t place)
{
	return place != FSL_STR_NONE ? walk->works[place].end_ns : INT64_MIN;
}

/* The chain in front of a work that begins. */
static struct chain chain_before(const struct walk *walk, const struct stream *stream,
				 const struct open_work *open, int64_t begin_ns)
{
	struct chain chain = {0};
	int64_t before_ns = end_of(walk, stream->begun), after_ns = end_of(walk, open->after);
	bool follows_launch = open->is_launched && open->was_empty && before_ns < open->call_ns &&
			      after_ns < open->call_ns;
	bool follows_work = !follows_launch && stream->begun != FSL_STR_NONE &&
			    begin_ns - before_ns < FSL_PATH_BETWEEN_MAX_NS && after_ns < before_ns;
	if (follows_launch) {
		chain = open->chain;
		extend(&chain, FSL_PATH_LAUNCH, begin_ns - open->call_ns);
	} else if (follows_work) {
		chain = walk->works[stream->begun].chain;
		extend(&chain, FSL_PATH_BETWEEN, begin_ns - before_ns);
	} else if (open->is_launched && open->after == FSL_STR_NONE) {
		chain = open->chain; /* it waited for what nobody recorded */
	}
	wait_for(walk, &chain, open->after);
	return chain;
}

static enum fsl_status begin_work(struct walk *walk, uint32_t index,
				  const struct fsl_path_work *work, struct fsl_error *err)
{
	uint32_t number = stream_of(walk, work->device, work->stream);
	uint32_t at = walk->place_of[index];
	if (number == FSL_STR_NONE) {
		return FSL_OK;
	}
	if (at == FSL_STR_NONE) {
		FSL_TRY(add_work(walk, index, &at, err));
	}
	struct stream *stream = &walk->streams[number];
	struct open_work *open = &walk->works[at];
	stream->n_queued -= open->is_launched;
	struct chain chain = chain_before(walk, stream, open, work->begin_ns);
	extend(&chain, work->part, work->end_ns - work->begin_ns);
	take_longer(&walk->longest, &chain);
	open->chain = chain;
	open->end_ns = work->end_ns;
	open->is_begun = true;
	stream->begun = at;
	return FSL_OK;
}

/* Goes to the next work that is not left out; false: there is none. */
static bool find_work(const struct fsl_path_input *input, size_t *at, struct fsl_path_work *work)
{
	while (*at < input->n_works && !input->work(input->works, (uint32_t)*at, work)) {
		++*at;
	}
	return *at < input->n_works;
}

static void end_until(struct walk *walk, int64_t time_ns)
{
	while (walk->n_open > 0 && walk->hosts[walk->open[0]].host.end_ns <= time_ns) {
		end_host(walk, fsl_heap_pop(walk->open, walk->n_open--, ends_before, walk));
	}
}

/* If times are equal, hosts end, then begin; then works begin. Hosts without a duration are left
 * out. */
static enum fsl_status go(struct walk *walk, struct fsl_error *err)
{
	const struct fsl_path_input *input = walk->input;
	struct fsl_path_work work;
	struct fsl_path_host host;
	bool has_host = false, has_work = find_work(input, &walk->next_work, &work);
	FSL_TRY(input->next_host(input->hosts, &host, &has_host, err));
	while (has_host || has_work) {
		if (!has_host || (has_work && work.begin_ns < host.begin_ns)) {
			end_until(walk, work.begin_ns);
			FSL_TRY(begin_work(walk, (uint32_t)walk->next_work++, &work, err));
			has_work = find_work(input, &walk->next_work, &work);
			continue;
		}
		if (host.begin_ns < host.end_ns) {
			end_until(walk, host.begin_ns);
			FSL_TRY(begin_host(walk, &host, err));
		}
		FSL_TRY(input->next_host(input->hosts, &host, &has_host, err));
	}
	end_until(walk, INT64_MAX);
	return FSL_OK;
}

enum fsl_status fsl_critical_path_find(struct fsl_critical_path *path,
				       const struct fsl_path_input *input, struct fsl_error *err)
{
	struct walk *walk = NULL;
	if (input->n_works >= FSL_STR_NONE) {
		return FSL_OK; /* no path is told */
	}
	FSL_TRY(FSL_NEW(walk, 1, "walks", err));
	walk->input = input;
	enum fsl_status status = begin_walk(walk, err);
	FSL_THEN(status, go(walk, err));
	path->length_ns = walk->longest.length_ns;
	memcpy(path->parts_ns, walk->longest.parts_ns, sizeof(path->parts_ns));
	end_walk(walk);
	fsl_free(walk);
	return status;
}
