/* Merges the frames of each thread, which are in order, with the calls of all threads. */
#include "source/kineto/hosts.h"

#include <string.h>

#include "base/heap.h"
#include "base/sort.h"
#include "base/try.h"

static bool is_wanted(const struct fsl_kineto_hosts *hosts, int64_t begin_ns)
{
	return begin_ns >= hosts->begin_ns && begin_ns <= hosts->end_ns;
}

/* Goes to the next frame of the thread that is a host; false: there is none. */
static bool go_on(const struct fsl_kineto_hosts *hosts, struct fsl_kineto_host_thread *thread)
{
	struct fsl_frame frame;
	while (fsl_frame_next(&thread->cursor, &frame)) {
		if (frame.kind == FSL_FRAME_PYTHON || !is_wanted(hosts, frame.begin_ns)) {
			continue;
		}
		const char *name = fsl_strpool_text(hosts->events->rank->names, frame.name_id);
		thread->newest = (struct fsl_path_host){
			.begin_ns = frame.begin_ns,
			.end_ns = frame.begin_ns + frame.dur_ns,
			.thread = frame.thread,
			.is_loading = frame.kind == FSL_FRAME_LOADING,
			.is_autograd = strncmp(name, "autograd", 8) == 0,
		};
		return true;
	}
	return false;
}

/* Order of threads by their newest hosts. */
static bool is_before(const void *context, uint32_t a, uint32_t b)
{
	const struct fsl_kineto_hosts *hosts = context;
	return fsl_path_host_compare(&hosts->threads[a].newest, &hosts->threads[b].newest) < 0;
}

/* Whether a thread has backward passes is to be known before its first host. */
static void find_autograd(struct fsl_kineto_hosts *hosts, size_t number)
{
	struct fsl_kineto_host_thread thread = {
		.cursor = fsl_frames_read(&hosts->events->frames, number)};
	while (!hosts->has_autograd[number] && go_on(hosts, &thread)) {
		hosts->has_autograd[number] = thread.newest.is_autograd;
	}
}

enum fsl_status fsl_kineto_hosts_begin(struct fsl_kineto_hosts *hosts, struct fsl_error *err)
{
	const struct fsl_kineto_events *events = hosts->events;
	size_t n = events->threads != NULL ? fsl_strpool_size(events->threads) : 0;
	size_t n_frames = events->frames.n_threads;
	hosts->n_threads = n;
	fsl_kineto_calls_begin(&hosts->calls, events);
	FSL_TRY(FSL_NEW(hosts->threads, n_frames + 1, "threads", err));
	FSL_TRY(FSL_NEW(hosts->heap, n_frames + 1, "threads", err));
	FSL_TRY(FSL_NEW(hosts->has_autograd, n + n_frames + 1, "threads", err));
	for (size_t i = 0; i < n_frames; i++) {
		find_autograd(hosts, i);
		hosts->threads[i].cursor = fsl_frames_read(&events->frames, i);
		if (go_on(hosts, &hosts->threads[i])) {
			fsl_heap_push(hosts->heap, hosts->n_heap++, (uint32_t)i, is_before, hosts);
		}
	}
	return FSL_OK;
}

/* Gathers the next calls that begin at one time. */
static enum fsl_status gather_ties(struct fsl_kineto_hosts *hosts, struct fsl_error *err)
{
	const struct fsl_kineto_events *events = hosts->events;
	hosts->n_ties = hosts->next_tie = 0;
	for (; hosts->next_call < events->calls.n; hosts->next_call++) {
		const struct fsl_kineto_call call =
			fsl_kineto_call_at(&hosts->calls, hosts->next_call);
		struct fsl_path_host host = {.begin_ns = call.begin_ns,
					     .end_ns = call.begin_ns + call.dur_ns,
					     .thread = call.thread};
		if (hosts->n_ties > 0 && hosts->ties[0].begin_ns != call.begin_ns) {
			break;
		}
		if (is_wanted(hosts, call.begin_ns)) {
			hosts->set_action(hosts->context, &call, &host);
			FSL_TRY(FSL_APPEND(hosts, ties, &host, err));
		}
	}
	fsl_sort_runs(hosts->ties, hosts->n_ties, sizeof(*hosts->ties), fsl_path_host_compare);
	return FSL_OK;
}

enum fsl_status fsl_kineto_hosts_next(void *context, struct fsl_path_host *host, bool *has,
				      struct fsl_error *err)
{
	struct fsl_kineto_hosts *hosts = context;
	if (hosts->next_tie == hosts->n_ties) {
		FSL_TRY(gather_ties(hosts, err));
	}
	bool has_call = hosts->next_tie < hosts->n_ties;
	*has = has_call || hosts->n_heap > 0;
	if (!*has) {
		return FSL_OK;
	}
	struct fsl_kineto_host_thread *thread =
		hosts->n_heap > 0 ? &hosts->threads[hosts->heap[0]] : NULL;
	if (thread == NULL || (has_call && fsl_path_host_compare(&hosts->ties[hosts->next_tie],
								 &thread->newest) < 0)) {
		*host = hosts->ties[hosts->next_tie++];
		return FSL_OK;
	}
	*host = thread->newest;
	if (!go_on(hosts, thread)) {
		hosts->heap[0] = hosts->heap[--hosts->n_heap];
	}
	fsl_heap_sink(hosts->heap, hosts->n_heap, 0, is_before, hosts);
	return FSL_OK;
}

void fsl_kineto_hosts_end(struct fsl_kineto_hosts *hosts)
{
	fsl_free(hosts->threads);
	fsl_free(hosts->heap);
	fsl_free(hosts->has_autograd);
	fsl_free(hosts->ties);
}
