/* Launches, streams, copies and the critical path of a worker in the document. */
#include <math.h>

#include "report/functions_parts.h"

enum { DECIMALS_US = 3, DECIMALS_MS = 6, DECIMALS_RATIO = 9 };

static void add_ms(struct fsl_document *document, cJSON *object, const char *key, int64_t ns)
{
	fsl_document_number(document, object, key, (double)ns / 1e6, DECIMALS_MS);
}

static void add_us(struct fsl_document *document, cJSON *object, const char *key, double ns)
{
	fsl_document_number(document, object, key, ns / 1e3, DECIMALS_US);
}

static double ratio(double part, int64_t whole)
{
	return whole > 0 ? part / (double)whole : (double)NAN;
}

static void add_launches(struct fsl_document *document, cJSON *parent,
			 const struct fsl_launch_figures *launches)
{
	if (launches->count == 0) {
		fsl_document_null(document, parent, "launches");
		return;
	}
	cJSON *object = fsl_document_object(document, parent, "launches");
	fsl_document_integer(document, object, "count", launches->count);
	add_us(document, object, "averageCallUs",
	       ratio((double)launches->call_ns, launches->count));
	add_us(document, object, "averageWorkUs",
	       ratio((double)launches->work_ns, launches->count));
	add_us(document, object, "averageDelayUs",
	       ratio((double)launches->delay_ns, launches->count));
	add_us(document, object, "medianDelayUs", (double)launches->delay_median_ns);
	add_us(document, object, "p95DelayUs", (double)launches->delay_p95_ns);
	add_us(document, object, "maxDelayUs", (double)launches->delay_max_ns);
	fsl_document_integer(document, object, "shorterThanCall", launches->n_short);
	fsl_document_integer(document, object, "slowCalls", launches->n_slow_calls);
	fsl_document_integer(document, object, "longDelays", launches->n_long_delays);
}

static void add_streams(struct fsl_document *document, cJSON *parent,
			const struct fsl_worker_figures *figures)
{
	static const char *const keys[FSL_STREAM_WAITS_N][2] = {
		[FSL_STREAM_HOST_WAIT] = {"hostWaitMs", "hostWaits"},
		[FSL_STREAM_KERNEL_WAIT] = {"kernelWaitMs", "kernelWaits"},
		[FSL_STREAM_OTHER_WAIT] = {"otherWaitMs", "otherWaits"},
	};
	cJSON *list = fsl_document_array(document, parent, "streams");
	for (size_t i = 0; i < figures->n_streams; i++) {
		const struct fsl_stream_figures *stream = &figures->streams[i];
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_index(document, object, "device", stream->device);
		fsl_document_index(document, object, "stream", stream->stream);
		fsl_document_integer(document, object, "count", stream->count);
		add_ms(document, object, "busyMs", stream->busy_ns);
		for (size_t k = 0; k < FSL_STREAM_WAITS_N; k++) {
			add_ms(document, object, keys[k][0], stream->wait_ns[k]);
			fsl_document_integer(document, object, keys[k][1], stream->n_waits[k]);
		}
		fsl_document_number(document, object, "averageQueue",
				    ratio((double)stream->length_sum, stream->n_lengths),
				    DECIMALS_RATIO);
		fsl_document_integer(document, object, "maxQueue", stream->length_max);
		add_ms(document, object, "fullQueueMs", stream->full_ns);
	}
}

static void add_copies(struct fsl_document *document, cJSON *parent,
		       const struct fsl_worker_figures *figures)
{
	static const char *const keys[FSL_COPY_KINDS_N] = {
		[FSL_COPY_TO_DEVICE] = "toDevice", [FSL_COPY_TO_HOST] = "toHost",
		[FSL_COPY_ON_DEVICE] = "onDevice", [FSL_COPY_TO_PEER] = "toPeer",
		[FSL_COPY_FILL] = "fill",          [FSL_COPY_OTHER] = "other",
	};
	cJSON *list = fsl_document_object(document, parent, "copies");
	for (size_t i = 0; i < FSL_COPY_KINDS_N; i++) {
		const struct fsl_copy_figures *copies = &figures->copies[i];
		if (copies->count == 0) {
			continue;
		}
		cJSON *object = fsl_document_object(document, list, keys[i]);
		fsl_document_integer(document, object, "count", copies->count);
		fsl_document_integer(document, object, "bytes", copies->n_bytes);
		add_ms(document, object, "timeMs", copies->time_ns);
		fsl_document_number(document, object, "averageGbPerS",
				    ratio(copies->bandwidth_sum, copies->n_told), DECIMALS_RATIO);
		fsl_document_number(document, object, "maxGbPerS",
				    copies->n_told > 0 ? copies->bandwidth_max : (double)NAN,
				    DECIMALS_RATIO);
	}
}

static void add_path(struct fsl_document *document, cJSON *parent,
		     const struct fsl_critical_path *path)
{
	static const char *const keys[FSL_PATH_PARTS_N] = {
		[FSL_PATH_HOST] = "hostMs",       [FSL_PATH_LOADING] = "loadingMs",
		[FSL_PATH_COMPUTE] = "computeMs", [FSL_PATH_COMMUNICATION] = "communicationMs",
		[FSL_PATH_MEMORY] = "memoryMs",   [FSL_PATH_LAUNCH] = "launchMs",
		[FSL_PATH_BETWEEN] = "betweenMs",
	};
	if (path->length_ns == 0) {
		fsl_document_null(document, parent, "criticalPath");
		return;
	}
	cJSON *object = fsl_document_object(document, parent, "criticalPath");
	add_ms(document, object, "windowMs", path->window_ns);
	add_ms(document, object, "lengthMs", path->length_ns);
	for (size_t i = 0; i < FSL_PATH_PARTS_N; i++) {
		add_ms(document, object, keys[i], path->parts_ns[i]);
	}
}

static void add_figures(struct fsl_document *document, cJSON *parent,
			const struct fsl_function_worker *worker)
{
	static const char *const keys[FSL_WORKER_FIGURES_N] = {
		[FSL_FIGURE_HOST_WAIT] = "hostWaitRatio",
		[FSL_FIGURE_LAUNCH_DELAY] = "launchDelayUs",
		[FSL_FIGURE_SHORT_WORK] = "shortWorkRatio",
		[FSL_FIGURE_QUEUE] = "averageQueue",
		[FSL_FIGURE_HOST_LINK] = "hostLinkGbPerS",
		[FSL_FIGURE_PATH_HOST] = "pathHostRatio",
	};
	cJSON *object = fsl_document_object(document, parent, "figures");
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		fsl_document_number(document, object, keys[i], worker->figures[i], DECIMALS_RATIO);
	}
	cJSON *list = fsl_document_array(document, parent, "unusualFigures");
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		if (worker->is_unusual[i]) {
			fsl_document_text(document, list, NULL, keys[i]);
		}
	}
}

void fsl_functions_worker_json(struct fsl_document *document, cJSON *object,
			       const struct fsl_function_worker *worker)
{
	static const struct fsl_worker_figures nothing = {0};
	const struct fsl_worker_figures *figures =
		worker->rank->figures != NULL ? worker->rank->figures : &nothing;
	add_launches(document, object, &figures->launches);
	add_streams(document, object, figures);
	add_copies(document, object, figures);
	add_path(document, object, &figures->path);
	add_figures(document, object, worker);
}
