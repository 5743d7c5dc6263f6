/* Launches, idle time and queues in one pass over works; lengths of queues in one over changes. */
#include "capture/worker_figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

const char *const fsl_copy_kind_texts[] = {"to_device", "to_host", "on_device", "to_peer",
					   "fill",      "other",   NULL};
const char *const fsl_path_part_texts[] = {"host",   "loading", "compute", "communication",
					   "memory", "launch",  "between", NULL};

void fsl_worker_figures_destroy(struct fsl_worker_figures *figures)
{
	if (figures != NULL) {
		fsl_free(figures->streams);
		fsl_free(figures);
	}
}

enum fsl_copy_kind fsl_copy_kind_of(const char *name, size_t length)
{
	static const struct {
		const char *in_name;
		enum fsl_copy_kind kind;
	} words[] = {
		{"HtoD", FSL_COPY_TO_DEVICE},       {"DtoH", FSL_COPY_TO_HOST},
		{"DtoD", FSL_COPY_ON_DEVICE},       {"PtoP", FSL_COPY_TO_PEER},
		{"Memset", FSL_COPY_FILL},          {"HostToDevice", FSL_COPY_TO_DEVICE},
		{"DeviceToHost", FSL_COPY_TO_HOST}, {"DeviceToDevice", FSL_COPY_ON_DEVICE},
		{"PeerToPeer", FSL_COPY_TO_PEER},   {"FillBuffer", FSL_COPY_FILL},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (memmem(name, length, words[i].in_name, strlen(words[i].in_name)) != NULL) {
			return words[i].kind;
		}
	}
	return FSL_COPY_OTHER;
}

void fsl_copy_count(struct fsl_copy_figures *copies, int64_t dur_ns, int64_t bytes,
		    int64_t bytes_per_s)
{
	copies->count++;
	copies->time_ns = fsl_sum_i64(copies->time_ns, dur_ns);
	copies->n_bytes = fsl_sum_i64(copies->n_bytes, bytes > 0 ? bytes : 0);
	double gb_per_s = bytes_per_s > 0           ? (double)bytes_per_s / 1e9
			  : bytes > 0 && dur_ns > 0 ? (double)bytes / (double)dur_ns
						    : 0.0;
	if (gb_per_s > 0.0) {
		copies->n_told++;
		copies->bandwidth_sum += gb_per_s;
		copies->bandwidth_max =
			gb_per_s > copies->bandwidth_max ? gb_per_s : copies->bandwidth_max;
	}
}

static bool is_stream(const struct fsl_stream_figures *figures, const struct fsl_stream_work *work)
{
	return figures->stream == work->stream && figures->device == work->device;
}

/* Works of one stream mostly follow each other. The last place is for all streams beyond. */
static enum fsl_status find_stream(struct fsl_streams *streams, const struct fsl_stream_work *work,
				   size_t *at, struct fsl_error *err)
{
	struct fsl_worker_figures *figures = streams->figures;
	*at = streams->last;
	if (*at < figures->n_streams && is_stream(&figures->streams[*at], work)) {
		return FSL_OK;
	}
	for (*at = 0; *at < figures->n_streams; ++*at) {
		if (is_stream(&figures->streams[*at], work)) {
			return FSL_OK;
		}
	}
	if (*at == FSL_STREAMS_MAX) {
		--*at;
		return FSL_OK;
	}
	bool is_last = *at == FSL_STREAMS_MAX - 1;
	const struct fsl_stream_figures made = {.device = is_last ? -1 : work->device,
						.stream = is_last ? -1 : work->stream};
	streams->last_end_ns[*at] = FSL_NS_ABSENT;
	return FSL_APPEND(figures, streams, &made, err);
}

static void count_wait(struct fsl_stream_figures *stream, const struct fsl_stream_work *work,
		       int64_t last_end_ns)
{
	int64_t gap_ns = work->begin_ns - last_end_ns;
	enum fsl_stream_wait why = work->call_ns != FSL_NS_ABSENT && work->call_ns > last_end_ns
					   ? FSL_STREAM_HOST_WAIT
				   : gap_ns < FSL_STREAM_KERNEL_WAIT_NS ? FSL_STREAM_KERNEL_WAIT
									: FSL_STREAM_OTHER_WAIT;
	stream->n_waits[why]++;
	stream->wait_ns[why] = fsl_sum_i64(stream->wait_ns[why], gap_ns);
}

static enum fsl_status count_launch(struct fsl_streams *streams, const struct fsl_stream_work *work,
				    size_t at, struct fsl_error *err)
{
	struct fsl_launch_figures *launches = &streams->figures->launches;
	int64_t call_ns = work->call_end_ns - work->call_ns;
	int64_t work_ns = work->end_ns - work->begin_ns;
	int64_t delay_ns =
		work->begin_ns > work->call_end_ns ? work->begin_ns - work->call_end_ns : 0;
	const struct fsl_stream_change launch = {work->call_ns, (uint32_t)at, 1};
	const struct fsl_stream_change begin = {work->begin_ns, (uint32_t)at, -1};
	launches->count++;
	launches->call_ns = fsl_sum_i64(launches->call_ns, call_ns);
	launches->work_ns = fsl_sum_i64(launches->work_ns, work_ns);
	launches->delay_ns = fsl_sum_i64(launches->delay_ns, delay_ns);
	launches->n_short += work_ns < call_ns;
	launches->n_slow_calls += call_ns > FSL_LAUNCH_SLOW_CALL_NS;
	launches->n_long_delays += delay_ns > FSL_LAUNCH_LONG_DELAY_NS;
	FSL_TRY(FSL_APPEND(streams, delays, &delay_ns, err));
	FSL_TRY(FSL_APPEND(streams, launches, &launch, err));
	return FSL_APPEND(streams, begins, &begin, err);
}

enum fsl_status fsl_streams_reserve(struct fsl_streams *streams, size_t n_works,
				    struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(streams->launches, streams->launches_capacity, n_works, err));
	FSL_TRY(FSL_GROW(streams->begins, streams->begins_capacity, n_works, err));
	return FSL_GROW(streams->delays, streams->delays_capacity, n_works, err);
}

enum fsl_status fsl_streams_add(struct fsl_streams *streams, const struct fsl_stream_work *work,
				struct fsl_error *err)
{
	size_t at = 0;
	FSL_TRY(find_stream(streams, work, &at, err));
	struct fsl_stream_figures *stream = &streams->figures->streams[at];
	streams->last = at;
	stream->count++;
	stream->busy_ns = fsl_sum_i64(stream->busy_ns, work->end_ns - work->begin_ns);
	if (streams->last_end_ns[at] != FSL_NS_ABSENT) {
		count_wait(stream, work, streams->last_end_ns[at]);
	}
	streams->last_end_ns[at] = work->end_ns;
	return work->call_ns != FSL_NS_ABSENT ? count_launch(streams, work, at, err) : FSL_OK;
}

/* If times are equal, launches come first: a work begins after its launch. */
static int compare_changes(const void *left, const void *right)
{
	const struct fsl_stream_change *a = left, *b = right;
	FSL_ORDER_BY(a->time_ns, b->time_ns);
	FSL_ORDER_BY(b->by, a->by);
	return FSL_ORDER(a->stream, b->stream);
}

static void measure_queues(struct fsl_streams *streams)
{
	struct {
		int64_t length, since_ns;
	} queues[FSL_STREAMS_MAX] = {{0, 0}};
	fsl_sort_runs(streams->launches, streams->n_launches, sizeof(*streams->launches),
		      compare_changes);
	size_t l = 0, b = 0;
	while (l < streams->n_launches || b < streams->n_begins) {
		bool is_launch = b == streams->n_begins ||
				 (l < streams->n_launches &&
				  compare_changes(&streams->launches[l], &streams->begins[b]) < 0);
		const struct fsl_stream_change *change =
			is_launch ? &streams->launches[l++] : &streams->begins[b++];
		struct fsl_stream_figures *stream = &streams->figures->streams[change->stream];
		int64_t *length = &queues[change->stream].length;
		stream->full_ns += *length >= FSL_STREAM_QUEUE_FULL
					   ? change->time_ns - queues[change->stream].since_ns
					   : 0;
		*length += change->by;
		queues[change->stream].since_ns = change->time_ns;
		stream->n_lengths++;
		stream->length_sum += *length;
		stream->length_max = *length > stream->length_max ? *length : stream->length_max;
	}
}

static int compare_streams(const void *left, const void *right)
{
	const struct fsl_stream_figures *a = left, *b = right;
	FSL_ORDER_BY(a->device, b->device);
	return FSL_ORDER(a->stream, b->stream);
}

void fsl_streams_settle(struct fsl_streams *streams)
{
	struct fsl_worker_figures *figures = streams->figures;
	struct fsl_launch_figures *launches = &figures->launches;
	size_t n = streams->n_delays;
	measure_queues(streams);
	if (n > 0) {
		launches->delay_median_ns = fsl_select_i64(streams->delays, n, (n - 1) / 2);
		launches->delay_p95_ns = fsl_select_i64(streams->delays, n, (n - 1) * 95 / 100);
		launches->delay_max_ns = fsl_select_i64(streams->delays, n, n - 1);
	}
	if (figures->n_streams > 1) {
		qsort(figures->streams, figures->n_streams, sizeof(*figures->streams),
		      compare_streams);
	}
}

void fsl_streams_fini(struct fsl_streams *streams)
{
	fsl_free(streams->launches);
	fsl_free(streams->begins);
	fsl_free(streams->delays);
	streams->launches = streams->begins = NULL;
	streams->delays = NULL;
}
