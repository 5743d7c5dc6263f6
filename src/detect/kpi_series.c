/* Sorts operator times into windows, by the rules of sysTrace's reader. */
#include "detect/kpi_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"

/* The name of an operator without the prefix of its library: markers say "HcclAllGather" what
 * captures call "hcom_allGather". */
static const char *bare_name(const char *name)
{
	bool is_prefixed = strncasecmp(name, "hccl", 4) == 0 || strncasecmp(name, "hcom", 4) == 0;
	name += is_prefixed ? 4 : 0;
	return name + (is_prefixed && *name == '_');
}

size_t fsl_kpi_op_ids(const struct fsl_run *run, const char *op_name, uint32_t *op_ids,
		      size_t n_max)
{
	size_t n = 0;
	size_t n_names = fsl_strpool_size(run->names);
	for (size_t id = 0; id < n_names && n < n_max; id++) {
		const char *name = fsl_strpool_text(run->names, (uint32_t)id);
		if (strcasecmp(bare_name(name), bare_name(op_name)) == 0) {
			op_ids[n++] = (uint32_t)id;
		}
	}
	return n;
}

/* One use of the operator. */
struct sample {
	int64_t begin_ns;
	double value_ms;
	size_t window; /* SIZE_MAX: outside all windows. Before placing: step given by the input,
			  SIZE_MAX if absent */
};

/* Samples of one rank. */
struct samples {
	struct sample *items;
	size_t n_items, capacity;
	size_t n_windows; /* up to and including the last one that has a sample */
	size_t member;    /* index in the windows */
};

static bool is_wanted(const struct fsl_kpi_request *request, const struct fsl_op *op)
{
	if (op->group_id != request->group_id) {
		return false;
	}
	for (size_t i = 0; i < request->n_op_ids; i++) {
		if (op->op_id == request->op_ids[i]) {
			return true;
		}
	}
	return false;
}

/* False: a clock that the metric needs was not recorded. */
static bool sample_of_op(const struct fsl_metric_config *metric, const struct fsl_op *op,
			 struct sample *sample)
{
	int64_t begin_ns = metric->is_launch ? op->host_end_ns : op->dev_begin_ns;
	int64_t end_ns = metric->is_launch ? op->dev_begin_ns : op->dev_end_ns;
	if (begin_ns == FSL_NS_ABSENT || end_ns == FSL_NS_ABSENT || op->id == FSL_OP_ID_RESTORED) {
		return false;
	}
	/* A host that waits for the device ends after the device's begin: the distance counts. */
	int64_t dur_ns = begin_ns < end_ns ? end_ns - begin_ns : begin_ns - end_ns;
	sample->begin_ns = begin_ns < end_ns ? begin_ns : end_ns;
	sample->value_ms = (double)dur_ns / FSL_NS_PER_MS;
	sample->window = op->step >= 0 ? (size_t)op->step : SIZE_MAX;
	return true;
}

static int64_t window_length_ns(const struct fsl_metric_config *metric)
{
	double length_ns = metric->during_s * FSL_NS_PER_S;
	return length_ns >= 1.0 ? (int64_t)llround(length_ns) : 1;
}

/* Windows of time start at the rank's own first sample, so that clocks need not agree. */
static void place_by_time(struct samples *samples, const struct fsl_metric_config *metric)
{
	int64_t length_ns = window_length_ns(metric), first_ns = INT64_MAX;
	for (size_t i = 0; i < samples->n_items; i++) {
		int64_t begin_ns = samples->items[i].begin_ns;
		first_ns = begin_ns < first_ns ? begin_ns : first_ns;
	}
	for (size_t i = 0; i < samples->n_items; i++) {
		samples->items[i].window =
			(size_t)((samples->items[i].begin_ns - first_ns) / length_ns);
	}
}

/* Windows of steps are the same steps of the job for every rank: by number if the input has
 * numbers, else by time. */
static void place_by_step(struct samples *samples, const struct fsl_metric_config *metric,
			  const struct fsl_steps *steps)
{
	for (size_t i = 0; i < samples->n_items; i++) {
		struct sample *sample = &samples->items[i];
		size_t step = sample->window != SIZE_MAX
				      ? fsl_steps_numbered(steps, (int64_t)sample->window)
				      : fsl_steps_find(steps, sample->begin_ns);
		sample->window = step != SIZE_MAX ? step / (size_t)metric->during_steps : SIZE_MAX;
	}
}

/* Makes room for one more sample. Reserves room for all that will come at the rate of the first
 * @n_seen of @n_ops operators, so that samples hardly ever move. */
static enum fsl_status make_room(struct samples *samples, size_t n_seen, size_t n_ops)
{
	enum { SAMPLES_MIN = 256 };
	size_t n = samples->n_items + 1;
	if (n <= samples->capacity) {
		return FSL_OK;
	}
	double n_likely = (double)n / (double)(n_seen + 1) * (double)n_ops;
	n = (size_t)n_likely > n ? (size_t)n_likely : n;
	n = samples->capacity == 0 ? SAMPLES_MIN : n;
	return FSL_GROW(samples->items, samples->capacity, n, NULL);
}

/* Collects the samples of one rank in their windows, without the share at the start. */
static enum fsl_status collect(struct samples *samples, const struct fsl_kpi_request *request,
			       int32_t rank_number)
{
	const struct fsl_rank *rank = fsl_run_rank(request->run, rank_number);
	for (size_t i = 0; rank != NULL && i < rank->n_ops; i++) {
		struct sample sample;
		fsl_op_fetch_ahead(&rank->ops[i]);
		if (!is_wanted(request, &rank->ops[i]) ||
		    !sample_of_op(request->metric, &rank->ops[i], &sample)) {
			continue;
		}
		FSL_TRY(make_room(samples, i, rank->n_ops));
		samples->items[samples->n_items++] = sample;
	}
	size_t n_trimmed = (size_t)(request->trim_head_share * (double)samples->n_items);
	n_trimmed = n_trimmed < samples->n_items ? n_trimmed : samples->n_items;
	samples->n_items -= n_trimmed;
	if (n_trimmed > 0) {
		memmove(samples->items, samples->items + n_trimmed,
			samples->n_items * sizeof(*samples->items));
	}
	if (request->metric->during_steps > 0) {
		place_by_step(samples, request->metric, request->steps);
	} else {
		place_by_time(samples, request->metric);
	}
	for (size_t k = 0; k < samples->n_items; k++) {
		size_t window = samples->items[k].window;
		if (window != SIZE_MAX && window >= samples->n_windows) {
			samples->n_windows = window + 1;
		}
	}
	return FSL_OK;
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;
	FSL_ORDER_BY(a->window, b->window);
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	return FSL_ORDER(a->value_ms, b->value_ms);
}

/* Operators are sorted by begin, so their samples mostly are in order already. */
static void sort_samples(struct sample *samples, size_t n)
{
	size_t i = 1;
	while (i < n && compare_samples(&samples[i - 1], &samples[i]) <= 0) {
		i++;
	}
	if (i < n) {
		qsort(samples, n, sizeof(*samples), compare_samples);
	}
}

/* Greatest number of samples in one window; samples are sorted. */
static size_t longest_window(const struct sample *samples, size_t n)
{
	size_t longest = 0;
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		while (end < n && samples[end].window == samples[begin].window) {
			end++;
		}
		longest = end - begin > longest ? end - begin : longest;
	}
	return longest;
}

/* Aggregates samples (sorted here) to windows of @member; drops those outside all windows. */
static bool fill_member(struct fsl_windows *out, size_t member,
			const struct fsl_metric_config *metric, struct sample *samples,
			size_t n_samples)
{
	sort_samples(samples, n_samples);
	size_t n_most = longest_window(samples, n_samples);
	double *values = fsl_calloc(n_most, 2 * sizeof(*values));
	if (values == NULL) {
		return false;
	}
	for (size_t begin = 0, end = 0; begin < n_samples; begin = end) {
		size_t window = samples[begin].window;
		if (window >= out[0].n_windows) {
			break;
		}
		while (end < n_samples && samples[end].window == window) {
			values[end - begin] = samples[end].value_ms;
			end++;
		}
		size_t cell = member * out[0].n_windows + window;
		for (size_t f = 0; f < metric->n_funcs; f++) {
			out[f].values[cell] =
				fsl_agg_apply(metric->funcs[f].agg, metric->funcs[f].q, values,
					      end - begin, values + n_most);
			out[f].n_samples[cell] = (uint32_t)(end - begin);
			out[f].first_ns[cell] = samples[begin].begin_ns;
		}
	}
	fsl_free(values);
	return true;
}

static enum fsl_status init_windows(struct fsl_windows *out, const struct fsl_metric_config *metric,
				    size_t n_members, size_t n_windows, struct fsl_error *err)
{
	for (size_t f = 0; f < metric->n_funcs; f++) {
		enum fsl_status status = fsl_windows_init(
			&out[f], metric->is_launch ? FSL_METRIC_LAUNCH : FSL_METRIC_EXEC,
			metric->during_steps > 0 ? FSL_WINDOW_STEP : FSL_WINDOW_TIME, n_members,
			n_windows, err);
		if (status != FSL_OK) {
			while (f-- > 0) {
				fsl_windows_fini(&out[f]);
			}
			return status;
		}
	}
	return FSL_OK;
}

/* Counts members with samples, and windows for the longest of them within the limits. */
static void measure(const struct samples *samples, size_t n_ranks, size_t *n_members,
		    size_t *n_windows)
{
	*n_members = 0;
	*n_windows = 0;
	for (size_t i = 0; i < n_ranks; i++) {
		*n_members += samples[i].n_items > 0;
		*n_windows = samples[i].n_windows > *n_windows ? samples[i].n_windows : *n_windows;
	}
	size_t n_most = *n_members > 0 ? FSL_KPI_CELLS_MAX / *n_members : 0;
	n_most = n_most < FSL_KPI_WINDOWS_MAX ? n_most : FSL_KPI_WINDOWS_MAX;
	*n_windows = *n_windows < n_most ? *n_windows : n_most;
}

/* Number of samples of a filled member that have no window. */
static size_t count_outside(const struct fsl_windows *windows, size_t member, size_t n_samples)
{
	for (size_t w = 0; w < windows->n_windows; w++) {
		n_samples -= windows->n_samples[member * windows->n_windows + w];
	}
	return n_samples;
}

/* Collects the samples of all ranks; false: out of memory. */
static bool collect_all(struct samples *samples, const struct fsl_kpi_request *request)
{
	bool is_short = false;
#pragma omp parallel for schedule(static) reduction(|| : is_short)
	for (size_t i = 0; i < request->n_ranks; i++) { /* members of a group have similar
							   numbers */
		is_short |= collect(&samples[i], request, request->ranks[i]) != FSL_OK;
	}
	return !is_short;
}

/* Makes the ranks that have samples members. */
static bool fill_all(struct fsl_windows *out, const struct fsl_kpi_request *request,
		     struct samples *samples, size_t *n_outside)
{
	bool is_short = false;
	size_t n_left_out = 0, n_members = 0;
	for (size_t i = 0; i < request->n_ranks; i++) {
		samples[i].member = n_members;
		for (size_t f = 0; f < request->metric->n_funcs && samples[i].n_items > 0; f++) {
			out[f].ranks[n_members] = request->ranks[i];
		}
		n_members += samples[i].n_items > 0;
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : is_short) reduction(+ : n_left_out)
	for (size_t i = 0; i < request->n_ranks; i++) {
		const struct samples *own = &samples[i];
		if (own->n_items == 0) {
			continue;
		}
		bool is_filled =
			fill_member(out, own->member, request->metric, own->items, own->n_items);
		is_short |= !is_filled;
		n_left_out += is_filled ? count_outside(&out[0], own->member, own->n_items) : 0;
	}
	*n_outside = n_left_out;
	return !is_short;
}

enum fsl_status fsl_kpi_build(struct fsl_windows *out, const struct fsl_kpi_request *request,
			      size_t *n_outside, struct fsl_error *err)
{
	FSL_REQUIRE(request->metric->n_funcs > 0);
	size_t n_members, n_windows;
	struct samples *samples = fsl_calloc(request->n_ranks, sizeof(*samples));
	enum fsl_status status = FSL_OK;
	*n_outside = 0;
	if (samples == NULL || !collect_all(samples, request)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: samples");
		goto out;
	}
	measure(samples, request->n_ranks, &n_members, &n_windows);
	status = init_windows(out, request->metric, n_members, n_windows, err);
	if (status == FSL_OK && !fill_all(out, request, samples, n_outside)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: samples");
		for (size_t f = 0; f < request->metric->n_funcs; f++) {
			fsl_windows_fini(&out[f]);
		}
	}
out:
	for (size_t i = 0; i < request->n_ranks && samples != NULL; i++) {
		fsl_free(samples[i].items);
	}
	fsl_free(samples);
	return status;
}

size_t fsl_kpi_member_length(const struct fsl_windows *windows, size_t member)
{
	const double *values = windows->values + member * windows->n_windows;
	size_t length = windows->n_windows;
	while (length > 0 && isnan(values[length - 1])) {
		length--;
	}
	return length;
}
