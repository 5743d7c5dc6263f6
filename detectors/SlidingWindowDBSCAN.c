/*
 * Members against each other, block by block. In a block of windows the distances between all pairs
 * of series make one row per member. DBSCAN of these rows finds the members that are unlike the
 * others. The rules are those of sysTrace's space detector. Windows in which no member has a sample
 * (a pause of the job) are left out. A block with another hole is never alarmed, because its spread
 * is unknown.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>
#include <string.h>

struct params {
	int dist_metric;
	double eps, cv_threshold;
	int64_t min_samples, window_size;
	bool scaling, smooth;
	int64_t smooth_window, members_min, members_max;
};

static const char *const dist_metric_choices[] = {"euclidean", NULL};

static const struct fsl_param param_table[] = {
	{"dist_metric", FSL_PARAM_CHOICE, offsetof(struct params, dist_metric), 0, 0, 0,
	 .choices = dist_metric_choices, .help = "Distance of two series in a block."},
	{"eps", FSL_PARAM_REAL, offsetof(struct params, eps), 0.4, 0, 1e12,
	 .help = "Neighbourhood of two rows of distances, in the metric's unit."},
	{"cv_threshold", FSL_PARAM_REAL, offsetof(struct params, cv_threshold), 0.03, -1, 1e6,
	 .help = "Blocks whose range is no more than this share of twice the median are usual."},
	{"min_samples", FSL_PARAM_INT, offsetof(struct params, min_samples), 2, 1, 1e6,
	 .help = "Least members in a neighbourhood, itself included, that make a cluster."},
	{"window_size", FSL_PARAM_INT, offsetof(struct params, window_size), 22, 1, 1e6,
	 .help = "Windows per block; fewer windows than this are not judged."},
	{"scaling", FSL_PARAM_BOOL, offsetof(struct params, scaling), 0, 0, 0,
	 .help = "Divide by a power of ten so that the greatest value is in 10..100."},
	{"smooth", FSL_PARAM_BOOL, offsetof(struct params, smooth), 0, 0, 0,
	 .help = "Smooth each series with a centred mean of window_size first."},
	{"smooth_window", FSL_PARAM_INT, offsetof(struct params, smooth_window), 0, 0, 1e6,
	 .help = "Accepted for sysTrace's files; window_size is used instead, as there."},
	{"members_min", FSL_PARAM_INT, offsetof(struct params, members_min), 4, 1, 1e6,
	 .help = "Groups with fewer members are not judged."},
	{"members_max", FSL_PARAM_INT, offsetof(struct params, members_max), 2048, 1, 1e6,
	 .help = "Nor are groups with more: distances take 8 bytes times members squared."},
	{.key = NULL},
};

/* Distances are rounded to this many parts of a unit, as the reference does. */
#define DISTANCE_PARTS 1e6

/* n_windows counts the windows that are not left out. */
struct work {
	size_t n_members, n_windows;
	double *matrix;  /* member major: [m * n_windows + w] */
	double *rows;    /* distances, n_members x n_members */
	double *scratch; /* n_members * window_size, at least n_windows */
	int32_t *clusters;
	uint8_t *labels;   /* as matrix */
	size_t *positions; /* n_windows entries: position of each window in the view */
	uint8_t *placed;   /* labels of all members, with the left-out windows put back */
	double *expected;  /* one entry for each window of the view */
};

/* Centred mean that takes zeros beyond both ends (numpy.convolve, mode "same"). */
static void smooth_column(double *values, size_t n, size_t size, double *scratch)
{
	size_t ahead = (size - 1) / 2;
	for (size_t w = 0; w < n; w++) {
		/* Output w of "same" is output w + ahead of the full convolution. */
		size_t last = w + ahead;
		size_t begin = last + 1 > size ? last + 1 - size : 0;
		size_t end = last + 1 < n ? last + 1 : n;
		double sum = 0.0;
		for (size_t k = begin; k < end; k++) {
			sum += values[k];
		}
		scratch[w] = sum / (double)size;
	}
	memcpy(values, scratch, n * sizeof(*values));
}

static void scale_matrix(double *matrix, size_t n)
{
	double greatest = -HUGE_VAL;
	for (size_t i = 0; i < n; i++) {
		greatest = matrix[i] > greatest ? matrix[i] : greatest;
	}
	if (!(greatest > 100.0 || (greatest > 0.0 && greatest < 1.0))) {
		return;
	}
	double divisor = pow(10.0, ceil(log10(greatest / 100.0)));
	for (size_t i = 0; i < n; i++) {
		matrix[i] /= divisor;
	}
}

static double pair_distance(const double *restrict a, const double *restrict b, size_t size)
{
	double sum = 0.0;
	for (size_t t = 0; t < size; t++) {
		sum += (a[t] - b[t]) * (a[t] - b[t]);
	}
	return rint(sqrt(sum) / (double)size * DISTANCE_PARTS) / DISTANCE_PARTS;
}

static void measure_rows(struct work *work, size_t begin, size_t size)
{
	size_t n = work->n_members;
	for (size_t p = 0; p < n; p++) {
		const double *a = work->matrix + p * work->n_windows + begin;
		for (size_t q = p + 1; q < n; q++) {
			const double *b = work->matrix + q * work->n_windows + begin;
			work->rows[p * n + q] = pair_distance(a, b, size);
			work->rows[q * n + p] = work->rows[p * n + q];
		}
	}
}

/* True if the values of the block spread enough to be worth a look; false if a value is missing. */
static bool is_spread(struct work *work, size_t begin, size_t size, double cv_threshold)
{
	double least = HUGE_VAL;
	double greatest = -HUGE_VAL;
	size_t n = 0;
	for (size_t m = 0; m < work->n_members; m++) {
		const double *values = work->matrix + m * work->n_windows + begin;
		for (size_t t = 0; t < size; t++) {
			if (isnan(values[t])) {
				return false;
			}
			least = values[t] < least ? values[t] : least;
			greatest = values[t] > greatest ? values[t] : greatest;
			work->rows[n++] = values[t];
		}
	}
	double middle = 2.0 * fabs(fsl_median(work->rows, n, work->scratch));
	return (greatest - least) / (middle > 1e-8 ? middle : 1e-8) > cv_threshold;
}

/* Labels windows [begin, begin + window_size) of all members and overwrites earlier labels. */
static bool label_block(const struct params *params, struct work *work, size_t begin)
{
	size_t size = (size_t)params->window_size;
	size_t n = work->n_members;
	bool is_judged = is_spread(work, begin, size, params->cv_threshold);
	int32_t usual = -1;
	if (is_judged) {
		memset(work->rows, 0, n * n * sizeof(*work->rows));
		measure_rows(work, begin, size);
		if (!fsl_dbscan(work->rows, n, n, params->eps, (size_t)params->min_samples,
				work->clusters)) {
			return false;
		}
		usual = fsl_labels_mode(work->clusters, n, false);
	}
	for (size_t m = 0; m < n; m++) {
		bool is_odd = is_judged && work->clusters[m] != usual;
		memset(work->labels + m * work->n_windows + begin, is_odd ? 1 : 0, size);
	}
	return true;
}

/* Blocks are counted from the end. The first block overlaps its neighbour. */
static bool label_matrix(const struct params *params, struct work *work)
{
	size_t size = (size_t)params->window_size;
	if (work->n_windows < size) {
		return true;
	}
	for (size_t m = 0; params->smooth && m < work->n_members; m++) {
		smooth_column(work->matrix + m * work->n_windows, work->n_windows, size,
			      work->scratch);
	}
	if (params->scaling) {
		scale_matrix(work->matrix, work->n_members * work->n_windows);
	}
	for (size_t end = work->n_windows;; end -= size) {
		size_t begin = end > size ? end - size : 0;
		if (!label_block(params, work, begin)) {
			return false;
		}
		if (end <= size) {
			return true;
		}
	}
}

/* The peers' level: median of the members that are not labelled in the window. */
static void find_expected(const struct fsl_view *view, const struct work *work)
{
	size_t n_windows = fsl_view_n_windows(view);
	for (size_t w = 0; w < n_windows; w++) {
		size_t n_peers = 0;
		for (size_t m = 0; m < work->n_members; m++) {
			if (work->placed[m * n_windows + w] == 0) {
				work->rows[n_peers++] = fsl_view_column(view, m).values[w];
			}
		}
		bool is_labelled = n_peers < work->n_members;
		work->expected[w] =
			is_labelled ? fsl_median(work->rows, n_peers, work->scratch) : (double)NAN;
	}
}

static enum fsl_status report_member(const struct fsl_view *view, size_t member,
				     const struct work *work, struct fsl_findings *out,
				     struct fsl_error *err)
{
	size_t n_windows = fsl_view_n_windows(view);
	struct fsl_labelled series = {fsl_view_rank(view, member), n_windows,
				      work->placed + member * n_windows,
				      fsl_view_column(view, member).values, work->expected};
	return fsl_findings_add_runs(out, &series, err);
}

/* Finds the windows in which at least one member has a sample, and copies them. */
static void fill_matrix(const struct fsl_view *view, struct work *work)
{
	work->n_windows = 0;
	for (size_t w = 0; w < fsl_view_n_windows(view); w++) {
		bool is_empty = true;
		for (size_t m = 0; m < work->n_members && is_empty; m++) {
			is_empty = isnan(fsl_view_column(view, m).values[w]);
		}
		if (!is_empty) {
			work->positions[work->n_windows++] = w;
		}
	}
	for (size_t m = 0; m < work->n_members; m++) {
		const double *values = fsl_view_column(view, m).values;
		for (size_t w = 0; w < work->n_windows; w++) {
			work->matrix[m * work->n_windows + w] = values[work->positions[w]];
		}
	}
}

static bool prepare(const struct fsl_view *view, const struct params *params, struct work *work)
{
	size_t n = fsl_view_n_members(view);
	size_t n_windows = fsl_view_n_windows(view);
	size_t size =
		(size_t)params->window_size < n_windows ? (size_t)params->window_size : n_windows;
	size_t n_rows = n > size ? n * n : n * size; /* also holds the values of a block */
	size_t n_scratch = n * size > n_windows ? n * size : n_windows;
	work->n_members = n;
	work->matrix = fsl_view_scratch(view, n * n_windows * sizeof(double));
	work->rows = fsl_view_scratch(view, n_rows * sizeof(double));
	work->scratch = fsl_view_scratch(view, n_scratch * sizeof(double));
	work->clusters = fsl_view_scratch(view, n * sizeof(*work->clusters));
	work->labels = fsl_view_scratch(view, n * n_windows);
	work->positions = fsl_view_scratch(view, n_windows * sizeof(*work->positions));
	work->placed = fsl_view_scratch(view, n * n_windows);
	work->expected = fsl_view_scratch(view, n_windows * sizeof(double));
	return work->matrix != NULL && work->rows != NULL && work->scratch != NULL &&
	       work->clusters != NULL && work->labels != NULL && work->positions != NULL &&
	       work->placed != NULL && work->expected != NULL;
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n = fsl_view_n_members(view);
	size_t n_windows = fsl_view_n_windows(view);
	if (n < (size_t)params->members_min || n > (size_t)params->members_max || n_windows == 0) {
		return FSL_OK;
	}
	struct work work = {0};
	if (!prepare(view, params, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	fill_matrix(view, &work);
	if (!label_matrix(params, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	for (size_t m = 0; m < n; m++) {
		fsl_unpack_labels(work.labels + m * work.n_windows, work.positions, work.n_windows,
				  work.placed + m * n_windows, n_windows);
	}
	find_expected(view, &work);
	for (size_t m = 0; m < n; m++) {
		FSL_TRY(report_member(view, m, &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_SlidingWindowDBSCAN = {
	.abi = FSL_DETECTOR_ABI,
	.name = "SlidingWindowDBSCAN",
	.summary = "a member's series is unlike its peers' in a block of windows",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_GROUP,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};
