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

/* Columns of launches and begins. */
enum { TIME, STREAM };

static int compare_changes(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	FSL_ORDER_BY(a->cells[TIME], b->cells[TIME]);
	return FSL_ORDER(a->cells[STREAM], b->cells[STREAM]);
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
	const struct fsl_packed_row launch = {.cells = {work->call_ns, (int64_t)at}};
	const struct fsl_packed_row begin = {.cells = {work->begin_ns, (int64_t)at}};
	const struct fsl_packed_row delay = {.cells = {delay_ns}};
	launches->count++;
	launches->call_ns = fsl_sum_i64(launches->call_ns, call_ns);
	launches->work_ns = fsl_sum_i64(launches->work_ns, work_ns);
	launches->delay_ns = fsl_sum_i64(launches->delay_ns, delay_ns);
	launches->n_short += work_ns < call_ns;
	launches->n_slow_calls += call_ns > FSL_LAUNCH_SLOW_CALL_NS;
	launches->n_long_delays += delay_ns > FSL_LAUNCH_LONG_DELAY_NS;
	FSL_TRY(fsl_packed_add(&streams->delays, &delay, err));
	FSL_TRY(fsl_packed_add(&streams->launches, &launch, err));
	return fsl_packed_add(&streams->begins, &begin, err);
}

static void begin_lists(struct fsl_streams *streams)
{
	const struct fsl_packed_rows changes = {.n_columns = 2, .bytes.spill = streams->spill};
	const struct fsl_packed_rows delays = {
		.n_columns = 1, .compare = fsl_packed_compare_first, .bytes.spill = streams->spill};
	streams->launches = streams->begins = changes;
	streams->launches.compare = compare_changes;
	streams->delays = delays;
}

enum fsl_status fsl_streams_add(struct fsl_streams *streams, const struct fsl_stream_work *work,
				struct fsl_error *err)
{
	size_t at = 0;
	if (streams->begins.n_columns == 0) {
		begin_lists(streams);
	}
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
static enum fsl_status measure_queues(struct fsl_streams *streams, struct fsl_error *err)
{
	struct {
		int64_t length, since_ns;
	} queues[FSL_STREAMS_MAX] = {{0, 0}};
	struct fsl_packed_reader *readers = NULL; /* of launches, of begins */
	size_t l = 0, b = 0;
	FSL_TRY(FSL_NEW(readers, 2, "streams", err));
	readers[0].rows = &streams->launches;
	readers[1].rows = &streams->begins;
	while (l < streams->launches.n || b < streams->begins.n) {
		const struct fsl_packed_row *launch =
			l < streams->launches.n ? fsl_packed_at(&readers[0], l) : NULL;
		const struct fsl_packed_row *begin =
			b < streams->begins.n ? fsl_packed_at(&readers[1], b) : NULL;
		bool is_launch = begin == NULL ||
				 (launch != NULL && launch->cells[TIME] <= begin->cells[TIME]);
		const int64_t *change = is_launch ? launch->cells : begin->cells;
		struct fsl_stream_figures *stream = &streams->figures->streams[change[STREAM]];
		int64_t *length = &queues[change[STREAM]].length;
		stream->full_ns += *length >= FSL_STREAM_QUEUE_FULL
					   ? change[TIME] - queues[change[STREAM]].since_ns
					   : 0;
		*length += is_launch ? 1 : -1;
		queues[change[STREAM]].since_ns = change[TIME];
		stream->n_lengths++;
		stream->length_sum += *length;
		stream->length_max = *length > stream->length_max ? *length : stream->length_max;
		l += is_launch ? 1 : 0;
		b += is_launch ? 0 : 1;
	}
	fsl_free(readers);
	return FSL_OK;
}

static int compare_streams(const void *left, const void *right)
{
	const struct fsl_stream_figures *a = left, *b = right;
	FSL_ORDER_BY(a->device, b->device);
	return FSL_ORDER(a->stream, b->stream);
}

enum fsl_status fsl_streams_settle(struct fsl_streams *streams, struct fsl_error *err)
{
	struct fsl_worker_figures *figures = streams->figures;
	struct fsl_launch_figures *launches = &figures->launches;
	struct fsl_packed_reader delays = {.rows = &streams->delays};
	size_t n = streams->delays.n;
	FSL_TRY(fsl_packed_settle(&streams->launches, err));
	FSL_TRY(fsl_packed_settle(&streams->begins, err));
	FSL_TRY(fsl_packed_settle(&streams->delays, err));
	FSL_TRY(measure_queues(streams, err));
	if (n > 0) {
		launches->delay_median_ns = fsl_packed_at(&delays, (n - 1) / 2)->cells[0];
		launches->delay_p95_ns = fsl_packed_at(&delays, (n - 1) * 95 / 100)->cells[0];
		launches->delay_max_ns = fsl_packed_at(&delays, n - 1)->cells[0];
	}
	if (figures->n_streams > 1) {
		qsort(figures->streams, figures->n_streams, sizeof(*figures->streams),
		      compare_streams);
	}
	return FSL_OK;
}

void fsl_streams_fini(struct fsl_streams *streams)
{
	fsl_packed_fini(&streams->launches);
	fsl_packed_fini(&streams->begins);
	fsl_packed_fini(&streams->delays);
}
