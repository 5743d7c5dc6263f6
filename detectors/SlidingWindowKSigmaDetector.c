/*
 * Each member against its own recent past: mean +- k sigma of a sliding training window, with
 * expert bounds. Points that a DBSCAN of the whole series calls unusual never enter the first
 * window. Alarmed points never enter it later. The rules are those of sysTrace's time detector.
 * Windows without a sample are left out, so "recent" counts samples, not hours.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>
#include <string.h>

enum detect_type { LOWER_BOUND, UPPER_BOUND, BI_BOUND };

/* With at least so many values, the least and the greatest count in neither mean nor sigma. */
enum { TRIM_VALUES_MIN = 10 };

struct params {
	double preprocess_eps;
	int64_t preprocess_min_samples;
	int64_t alarm_filter_window_size;
	int method;
	int64_t training_window_size, min_update_window_size;
	double min_std_val, bias, abs_bias, nsigma_coefficient;
	int detect_type;
	double min_expert_lower, max_expert_lower, min_expert_upper, max_expert_upper;
};

static const char *const method_choices[] = {"SlidingWindowNSigma", NULL};
static const char *const detect_type_choices[] = {"lower_bound", "upper_bound", "bi_bound", NULL};

static const struct fsl_param param_table[] = {
	{"preprocess_eps", FSL_PARAM_REAL, offsetof(struct params, preprocess_eps), 0.1, 0, 1e6,
	 .help = "Neighbourhood of the noise mask, on the series scaled to 0..1."},
	{"preprocess_min_samples", FSL_PARAM_INT, offsetof(struct params, preprocess_min_samples),
	 10, 1, 1e6, .help = "Least neighbours, itself included, of a usual point."},
	{"alarm_filter_window_size", FSL_PARAM_INT,
	 offsetof(struct params, alarm_filter_window_size), 5, 0, 1e6,
	 .help = "Runs of fewer alarmed windows than this are dropped."},
	{"n_sigma_method.type", FSL_PARAM_CHOICE, offsetof(struct params, method), 0, 0, 0,
	 .choices = method_choices, .help = "Method; there is only this one."},
	{"n_sigma_method.training_window_size", FSL_PARAM_INT,
	 offsetof(struct params, training_window_size), 20, 1, 1e6,
	 .help = "Most values that mean and sigma are taken from."},
	{"n_sigma_method.min_update_window_size", FSL_PARAM_INT,
	 offsetof(struct params, min_update_window_size), 10, 1, 1e6,
	 .help = "Least values before the first window is judged."},
	{"n_sigma_method.min_std_val", FSL_PARAM_REAL, offsetof(struct params, min_std_val), 1e-4,
	 0, 1e9, .help = "Sigma of a training window of equal values, in the metric's unit."},
	{"n_sigma_method.bias", FSL_PARAM_REAL, offsetof(struct params, bias), 0.1, -1e3, 1e3,
	 .help = "Share of the bound by which it is moved outwards."},
	{"n_sigma_method.abs_bias", FSL_PARAM_REAL, offsetof(struct params, abs_bias), NAN, -1e12,
	 1e12, .nullable = true,
	 .help = "Least move of the bound in the metric's unit; null or 0: only the share."},
	{"n_sigma_method.nsigma_coefficient", FSL_PARAM_REAL,
	 offsetof(struct params, nsigma_coefficient), 4, 0, 1e6,
	 .help = "Distance of the bounds from the mean in sigmas."},
	{"n_sigma_method.detect_type", FSL_PARAM_CHOICE, offsetof(struct params, detect_type),
	 UPPER_BOUND, 0, 0, .choices = detect_type_choices, .help = "Which bound is watched."},
	{"n_sigma_method.min_expert_lower_bound", FSL_PARAM_REAL,
	 offsetof(struct params, min_expert_lower), NAN, -1e12, 1e12, .nullable = true,
	 .help = "The lower bound is at least this."},
	{"n_sigma_method.max_expert_lower_bound", FSL_PARAM_REAL,
	 offsetof(struct params, max_expert_lower), NAN, -1e12, 1e12, .nullable = true,
	 .help = "The lower bound is at most this."},
	{"n_sigma_method.min_expert_upper_bound", FSL_PARAM_REAL,
	 offsetof(struct params, min_expert_upper), NAN, -1e12, 1e12, .nullable = true,
	 .help = "The upper bound is at least this."},
	{"n_sigma_method.max_expert_upper_bound", FSL_PARAM_REAL,
	 offsetof(struct params, max_expert_upper), NAN, -1e12, 1e12, .nullable = true,
	 .help = "The upper bound is at most this."},
	{.key = NULL},
};

/* The training window: a ring that fills up, and room to sort it. */
struct training {
	double *values; /* training_window_size entries */
	double *sorted; /* likewise */
	size_t n, capacity;
	size_t cursor; /* number of values while the ring fills, then the slot written last */
};

struct bounds {
	double lower, upper;
};

/* Working memory for one member's series of n_windows values. */
struct work {
	double *packed, *scaled, *expected, *scratch;
	size_t *positions;
	int32_t *clusters;
	uint8_t *noise, *labels, *placed;
	struct training training;
};

/* The ring is overwritten from slot 1 on and slot 0 comes last in the round, as in the reference.
 * The order of the values matters only for the rounding of their sum. */
static void training_add(struct training *training, double value)
{
	if (training->n < training->capacity) {
		training->values[training->n++] = value;
		training->cursor++;
		return;
	}
	training->cursor = (training->cursor + 1) % training->capacity;
	training->values[training->cursor] = value;
}

static double raise_to(double bound, double least)
{
	return !isnan(least) && least > bound ? least : bound;
}

static double lower_to(double bound, double most)
{
	return !isnan(most) && most < bound ? most : bound;
}

static struct bounds training_bounds(struct training *training, const struct params *params)
{
	const double *values = training->values;
	size_t n = training->n;
	if (n >= TRIM_VALUES_MIN) {
		memcpy(training->sorted, values, n * sizeof(*values));
		fsl_sort(training->sorted, n);
		values = training->sorted + 1;
		n -= 2;
	}
	double mean = fsl_mean(values, n);
	double sigma = fsl_std(values, n, mean);
	sigma = sigma > 0.0 ? sigma : params->min_std_val;
	double upper = mean + params->nsigma_coefficient * sigma;
	double lower = mean - params->nsigma_coefficient * sigma;
	double upper_bias = params->bias * upper;
	double lower_bias = params->bias * lower;
	if (!isnan(params->abs_bias) && fabs(params->abs_bias) > 0.0) {
		upper_bias = upper_bias > params->abs_bias ? upper_bias : params->abs_bias;
		lower_bias = lower_bias > params->abs_bias ? lower_bias : params->abs_bias;
	}
	upper += upper_bias;
	lower -= lower_bias;
	return (struct bounds){
		.lower = raise_to(lower_to(lower, params->max_expert_lower),
				  params->min_expert_lower),
		.upper = lower_to(raise_to(upper, params->min_expert_upper),
				  params->max_expert_upper),
	};
}

static bool is_outside(enum detect_type type, const struct bounds *bounds, double value)
{
	switch (type) {
	case LOWER_BOUND:
		return value < bounds->lower;
	case UPPER_BOUND:
		return value >= bounds->upper;
	case BI_BOUND:
		return value > bounds->upper || value < bounds->lower;
	}
	return false;
}

/* Judges one value and learns from it; *bounds is NaN while the window is too short. */
static bool judge_online(struct training *training, const struct params *params, double value,
			 bool is_noisy, struct bounds *bounds)
{
	if (training->n < (size_t)params->min_update_window_size) {
		*bounds = (struct bounds){NAN, NAN};
		if (!is_noisy) {
			training_add(training, value);
		}
		return false;
	}
	*bounds = training_bounds(training, params);
	bool is_alarmed = is_outside((enum detect_type)params->detect_type, bounds, value);
	if (!is_alarmed) {
		training_add(training, value);
	}
	return is_alarmed;
}

/* Scales to 0..1; a constant series becomes 0. */
static void scale_min_max(const double *values, size_t n, double *scaled)
{
	double least = values[0];
	double greatest = values[0];
	for (size_t i = 1; i < n; i++) {
		least = values[i] < least ? values[i] : least;
		greatest = values[i] > greatest ? values[i] : greatest;
	}
	double range = greatest > least ? greatest - least : 1.0;
	for (size_t i = 0; i < n; i++) {
		scaled[i] = (values[i] - least) / range;
	}
}

/* 1: not in the largest cluster of the series. Noise counts as a cluster of its own. */
static bool mask_noise(const struct params *params, const double *values, size_t n,
		       struct work *work)
{
	scale_min_max(values, n, work->scaled);
	if (!fsl_dbscan(work->scaled, n, 1, params->preprocess_eps,
			(size_t)params->preprocess_min_samples, work->clusters)) {
		return false;
	}
	int32_t usual = fsl_labels_mode(work->clusters, n, true);
	for (size_t i = 0; i < n; i++) {
		work->noise[i] = work->clusters[i] != usual ? 1 : 0;
	}
	return true;
}

static void label_series(const struct params *params, size_t n, struct work *work)
{
	struct training *training = &work->training;
	training->n = 0;
	training->cursor = 0;
	for (size_t i = 0; i < n; i++) {
		struct bounds bounds;
		bool is_alarmed = judge_online(training, params, work->packed[i],
					       work->noise[i] != 0, &bounds);
		work->labels[i] = is_alarmed ? 1 : 0;
	}
}

/* The level that alarmed windows are compared with: the median of all others. */
static double usual_level(const struct work *work, size_t n)
{
	size_t n_usual = 0;
	for (size_t i = 0; i < n; i++) {
		if (work->labels[i] == 0) {
			work->scaled[n_usual++] = work->packed[i];
		}
	}
	return fsl_median(work->scaled, n_usual, work->scratch);
}

static enum fsl_status scan_member(const struct fsl_view *view, size_t member,
				   const struct params *params, struct work *work,
				   struct fsl_findings *out, struct fsl_error *err)
{
	struct fsl_column column = fsl_view_column(view, member);
	size_t n = fsl_pack(column.values, column.n_windows, work->packed, work->positions);
	if (n < (size_t)params->min_update_window_size) {
		return FSL_OK;
	}
	if (!mask_noise(params, work->packed, n, work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu", n);
	}
	label_series(params, n, work);
	fsl_filter_runs(work->labels, n, (size_t)params->alarm_filter_window_size, work->labels);
	fsl_unpack_labels(work->labels, work->positions, n, work->placed, column.n_windows);
	double level = usual_level(work, n);
	for (size_t w = 0; w < column.n_windows; w++) {
		work->expected[w] = level;
	}
	struct fsl_labelled series = {fsl_view_rank(view, member), column.n_windows, work->placed,
				      column.values, work->expected};
	return fsl_findings_add_runs(out, &series, err);
}

static bool prepare(const struct fsl_view *view, const struct params *params, struct work *work)
{
	size_t n = fsl_view_n_windows(view);
	/* A series never fills a training window that is longer than the series. */
	size_t wanted = (size_t)params->training_window_size;
	size_t capacity = wanted < n + 1 ? wanted : n + 1;
	double *reals = fsl_view_scratch(view, (4 * n + 2 * capacity) * sizeof(*reals));
	uint8_t *bytes = fsl_view_scratch(view, 3 * n);
	work->positions = fsl_view_scratch(view, n * sizeof(*work->positions));
	work->clusters = fsl_view_scratch(view, n * sizeof(*work->clusters));
	if (reals == NULL || bytes == NULL || work->positions == NULL || work->clusters == NULL) {
		return false;
	}
	work->packed = reals;
	work->scaled = reals + n;
	work->expected = reals + 2 * n;
	work->scratch = reals + 3 * n;
	work->training = (struct training){
		.values = reals + 4 * n, .sorted = reals + 4 * n + capacity, .capacity = capacity};
	work->noise = bytes;
	work->labels = bytes + n;
	work->placed = bytes + 2 * n;
	return true;
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	struct work work = {0};
	if (!prepare(view, params, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu",
				fsl_view_n_windows(view));
	}
	for (size_t member = 0; member < fsl_view_n_members(view); member++) {
		FSL_TRY(scan_member(view, member, params, &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_SlidingWindowKSigmaDetector = {
	.abi = FSL_DETECTOR_ABI,
	.name = "SlidingWindowKSigmaDetector",
	.summary = "a member leaves mean +- k sigma of its own recent past",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_RANK,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};
