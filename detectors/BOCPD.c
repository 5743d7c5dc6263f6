/*
 * Bayesian online change point detection (Adams and MacKay, 2007, arXiv:0710.3742) with a normal
 * model of unknown mean and variance, so that the prediction is Student's t. Each hypothesis keeps
 * the position at which its run began, so that dropping an unlikely one cannot move a change point.
 * First the series is standardised by its median and the robust scale of its differences, so that
 * the result does not depend on the unit. A rise of the level is reported until the level is back.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>

/* Prior of a run in standardised units. The mean is 0, known as well as PRIOR_KAPPA values would
 * tell it; the variance is near 1. */
#define PRIOR_KAPPA 0.01
#define PRIOR_ALPHA 1.0
#define PRIOR_BETA  1.0

/* Hypotheses below this share of the best one are dropped. The run that explains the data is the
 * best one, so it stays. */
#define PRUNE_SHARE 1e-8

#define LOG_PI           1.1447298858494002
#define LOG_HALF_ROOT_PI (-0.12078223763524522) /* log(sqrt(pi) / 2) = lgamma(1.5) - lgamma(1) */

/*
 * Scale of a series whose neighbours are equal, as a share of its level. Keeps the scale above 0.
 */
#define SCALE_FLOOR 1e-3

struct params {
	double hazard, ratio_min;
	int64_t min_consecutive, values_min;
};

static const struct fsl_param param_table[] = {
	{"hazard", FSL_PARAM_REAL, offsetof(struct params, hazard), 1.0 / 500, 1e-9, 0.5,
	 .help = "Chance of a change at any window, before looking at it."},
	{"ratio_min", FSL_PARAM_REAL, offsetof(struct params, ratio_min), 1.05, 1, 1e6,
	 .help = "Least ratio of the level after a change to the usual level."},
	{"min_consecutive", FSL_PARAM_INT, offsetof(struct params, min_consecutive), 3, 1, 1e6,
	 .help = "Windows in a row in which the same change must be the most likely one."},
	{"values_min", FSL_PARAM_INT, offsetof(struct params, values_min), 10, 4, 1e9,
	 .help = "Series of fewer values than this are not judged."},
	{.key = NULL},
};

/* The hypothesis that the present run began at @begin, with mean and variance from its values. */
struct run {
	size_t begin;
	double log_weight;
	double mean, kappa, alpha, beta;
	double log_gamma_ratio; /* lgamma(alpha + 1/2) - lgamma(alpha) */
};

/* The level of values [begin, end) between two changes. */
struct segment {
	size_t begin, end;
	double median;
	double confidence; /* confidence that the segment begins with a change */
};

struct work {
	double *packed, *standard, *scratch;
	size_t *positions;
	struct run *runs; /* one more than values */
	size_t n_runs;
	struct segment *segments;
	size_t n_segments;
};

static struct run new_run(size_t begin, double log_weight)
{
	return (struct run){begin,      log_weight,      0.0, PRIOR_KAPPA, PRIOR_ALPHA,
			    PRIOR_BETA, LOG_HALF_ROOT_PI};
}

/* Log density of Student's t with 2 alpha degrees of freedom. */
static double log_predict(const struct run *run, double value)
{
	/* Degrees of freedom times squared scale. */
	double spread = 2.0 * run->beta * (run->kappa + 1.0) / run->kappa;
	double distance = value - run->mean;
	return run->log_gamma_ratio - 0.5 * (LOG_PI + log(spread)) -
	       (run->alpha + 0.5) * log1p(distance * distance / spread);
}

static void learn(struct run *run, double value)
{
	double distance = value - run->mean;
	run->beta += 0.5 * run->kappa * distance * distance / (run->kappa + 1.0);
	run->mean += distance / (run->kappa + 1.0);
	run->kappa += 1.0;
	/* lgamma(a + 1) - lgamma(a + 1/2) = log(a) - (lgamma(a + 1/2) - lgamma(a)). */
	run->log_gamma_ratio = log(run->alpha) - run->log_gamma_ratio;
	run->alpha += 0.5;
}

/* Drops runs that are too unlikely and makes the weights sum to 1. */
static void normalise(struct work *work)
{
	double best = -HUGE_VAL;
	for (size_t i = 0; i < work->n_runs; i++) {
		best = fmax(best, work->runs[i].log_weight);
	}
	double sum = 0.0;
	size_t n_kept = 0;
	for (size_t i = 0; i < work->n_runs; i++) {
		double share = exp(work->runs[i].log_weight - best);
		if (share >= PRUNE_SHARE) {
			sum += share;
			work->runs[n_kept++] = work->runs[i];
		}
	}
	work->n_runs = n_kept;
	for (size_t i = 0; i < n_kept; i++) {
		work->runs[i].log_weight -= best + log(sum);
	}
}

/* Takes in value @i: every run goes on, or a new run begins behind the value. */
static void observe(struct work *work, size_t i, double hazard)
{
	double total = 0.0;
	for (size_t k = 0; k < work->n_runs; k++) {
		struct run *run = &work->runs[k];
		run->log_weight += log_predict(run, work->standard[i]);
		learn(run, work->standard[i]);
	}
	normalise(work);
	for (size_t k = 0; k < work->n_runs; k++) {
		total += exp(work->runs[k].log_weight);
		work->runs[k].log_weight += log1p(-hazard);
	}
	work->runs[work->n_runs++] = new_run(i + 1, log(hazard * total));
}

static const struct run *likeliest(const struct work *work)
{
	const struct run *best = &work->runs[0];
	for (size_t i = 1; i < work->n_runs; i++) {
		best = work->runs[i].log_weight > best->log_weight ? &work->runs[i] : best;
	}
	return best;
}

/* Drops runs that began before @begin; returns the weight of the others. */
static double restart_at(struct work *work, size_t begin)
{
	double weight = 0.0;
	size_t n_kept = 0;
	for (size_t i = 0; i < work->n_runs; i++) {
		if (work->runs[i].begin >= begin) {
			weight += exp(work->runs[i].log_weight);
			work->runs[n_kept++] = work->runs[i];
		}
	}
	work->n_runs = n_kept;
	normalise(work);
	return weight;
}

static void standardise(struct work *work, size_t n)
{
	double median = fsl_median(work->packed, n, work->scratch);
	double scale = fsl_diff_sigma(work->packed, n, work->scratch);
	scale = fmax(scale, SCALE_FLOOR * fabs(median));
	scale = scale > 0.0 ? scale : 1.0;
	for (size_t i = 0; i < n; i++) {
		work->standard[i] = (work->packed[i] - median) / scale;
	}
}

/* Cuts the series at its confirmed changes. */
static void find_segments(const struct params *params, struct work *work, size_t n)
{
	size_t begin = 0;
	size_t suspect = 0;
	int64_t n_same = 0;
	work->runs[0] = new_run(0, 0.0);
	work->n_runs = 1;
	work->n_segments = 0;
	work->segments[work->n_segments++] = (struct segment){.begin = 0, .confidence = 1.0};
	for (size_t i = 0; i < n; i++) {
		observe(work, i, params->hazard);
		size_t present = likeliest(work)->begin;
		n_same = present == suspect ? n_same + 1 : 1;
		suspect = present;
		if (present > begin && n_same >= params->min_consecutive) {
			double weight = restart_at(work, present);
			begin = present;
			work->segments[work->n_segments++] =
				(struct segment){.begin = begin, .confidence = fmin(1.0, weight)};
		}
	}
	for (size_t i = 0; i < work->n_segments; i++) {
		struct segment *segment = &work->segments[i];
		segment->end = i + 1 < work->n_segments ? work->segments[i + 1].begin : n;
		segment->median = fsl_median(work->packed + segment->begin,
					     segment->end - segment->begin, work->scratch);
	}
}

static bool is_raised(const struct params *params, const struct segment *segment, double usual)
{
	return segment->median > usual && segment->median >= params->ratio_min * usual;
}

/* An episode: segments [first, last) above the level @usual. */
struct episode {
	size_t first, last;
	double usual;
};

static enum fsl_status report_episode(int32_t rank, const struct work *work,
				      const struct episode *episode, struct fsl_findings *out,
				      struct fsl_error *err)
{
	size_t begin = work->segments[episode->first].begin;
	size_t end = work->segments[episode->last - 1].end;
	double level = fsl_median(work->packed + begin, end - begin, work->scratch);
	struct fsl_finding finding = {
		.rank = rank,
		.peer = -1,
		.window_begin = work->positions[begin],
		.window_end = work->positions[end - 1] + 1,
		.slow_ratio = episode->usual > 0.0 ? level / episode->usual : (double)NAN,
		.effect_ms = level - episode->usual,
		.confidence = work->segments[episode->first].confidence,
	};
	return fsl_findings_add(out, &finding, err);
}

static enum fsl_status report_rises(const struct params *params, int32_t rank,
				    const struct work *work, struct fsl_findings *out,
				    struct fsl_error *err)
{
	double usual = work->segments[0].median;
	for (size_t i = 1; i < work->n_segments;) {
		size_t last = i;
		while (last < work->n_segments && is_raised(params, &work->segments[last], usual)) {
			last++;
		}
		if (last == i) {
			usual = work->segments[i++].median;
			continue;
		}
		struct episode episode = {i, last, usual};
		FSL_TRY(report_episode(rank, work, &episode, out, err));
		i = last;
	}
	return FSL_OK;
}

static bool prepare(const struct fsl_view *view, struct work *work)
{
	size_t n = fsl_view_n_windows(view);
	work->packed = fsl_view_scratch(view, n * sizeof(double));
	work->standard = fsl_view_scratch(view, n * sizeof(double));
	work->scratch = fsl_view_scratch(view, n * sizeof(double));
	work->positions = fsl_view_scratch(view, n * sizeof(*work->positions));
	work->runs = fsl_view_scratch(view, (n + 1) * sizeof(*work->runs));
	work->segments = fsl_view_scratch(view, (n + 1) * sizeof(*work->segments));
	return work->packed != NULL && work->standard != NULL && work->scratch != NULL &&
	       work->positions != NULL && work->runs != NULL && work->segments != NULL;
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	struct work work = {0};
	if (!prepare(view, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu",
				fsl_view_n_windows(view));
	}
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		struct fsl_column column = fsl_view_column(view, m);
		size_t n = fsl_pack(column.values, column.n_windows, work.packed, work.positions);
		if (n < (size_t)params->values_min) {
			continue;
		}
		standardise(&work, n);
		find_segments(params, &work, n);
		FSL_TRY(report_rises(params, fsl_view_rank(view, m), &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_BOCPD = {
	.abi = FSL_DETECTOR_ABI,
	.name = "BOCPD",
	.summary = "a series' level rises and stays (Bayesian change points)",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_RANK,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};
