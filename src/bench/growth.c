/* Growth of the cost of `failslow detect` with one quantity at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_fit.h>

#include "bench/bench_parts.h"

enum { BYTES_PER_MB = 1000000, GROUPS_RANKS = 64, FEW_PAIRS = 2 };

/* One point of a table. */
struct point {
	const char *label;
	double x;
	double size_share; /* share of --size */
	int64_t n_ranks;   /* 0: as wanted */
	int64_t n_shards;  /* 0: as fits */
	double last_share; /* share of the job's time that is judged; 1: all */
};

static const struct point bytes_points[] = {
	{"1/8", 0.125, 0.125, 0, 0, 1},
	{"1/4", 0.25, 0.25, 0, 0, 1},
	{"1/2", 0.5, 0.5, 0, 0, 1},
	{"1", 1, 1, 0, 0, 1},
};
static const struct point ranks_points[] = {
	{"8", 8, 8 / 1024.0, 8, 0, 1},
	{"64", 64, 64 / 1024.0, 64, 0, 1},
	{"256", 256, 256 / 1024.0, 256, 0, 1},
	{"1024", 1024, 1, 1024, 0, 1},
};
static const struct point groups_points[] = {
	{"2", 2, 1, GROUPS_RANKS, 32, 1},  {"4", 4, 1, GROUPS_RANKS, 16, 1},
	{"8", 8, 1, GROUPS_RANKS, 8, 1},   {"16", 16, 1, GROUPS_RANKS, 4, 1},
	{"32", 32, 1, GROUPS_RANKS, 2, 1},
};
static const struct point window_points[] = {
	{"last 1/8", 0.125, 1, 0, 0, 0.125},
	{"last 1/4", 0.25, 1, 0, 0, 0.25},
	{"last 1/2", 0.5, 1, 0, 0, 0.5},
	{"all", 1, 1, 0, 0, 1},
};

const struct fsl_bench_scale fsl_bench_scales[] = {
	{"bytes", "more steps of the same ranks", "share of --size", "MB", false},
	{"ranks", "more ranks, as many bytes for each", "ranks", "rank", true},
	{"groups", "64 ranks in more and smaller tensor-parallel groups, as many bytes", "groups",
	 "MB", false},
	{"window", "a longer time range of the same files", "share of the time", "MB", false},
	{.name = NULL},
};

#define POINTS(table)                                                                              \
	{                                                                                          \
		table, sizeof(table) / sizeof((table)[0])                                          \
	}
static const struct {
	const struct point *points;
	size_t n;
} tables[] = {POINTS(bytes_points), POINTS(ranks_points), POINTS(groups_points),
	      POINTS(window_points)};

struct grow {
	struct fsl_bench_growth *growth;
	const struct fsl_bench_options *options;
	const struct point *points;
	struct fsl_bench_place place;
	struct fsl_bench_tree trees[FSL_BENCH_POINTS_MAX];
	size_t n_done, n_all;
};

static void tell(struct grow *grow)
{
	if (grow->options->progress != NULL) {
		grow->options->progress(grow->n_done, grow->n_all);
	}
	grow->n_done++;
}

static bool has_same_tree(const struct point *a, const struct point *b)
{
	return a->size_share == b->size_share && a->n_ranks == b->n_ranks &&
	       a->n_shards == b->n_shards;
}

/* Writes one tree for each point, or one for all if only the judged range differs. */
static enum fsl_status write_trees(struct grow *grow, struct fsl_error *err)
{
	double n_bytes = (double)grow->options->n_mb * BYTES_PER_MB;
	for (size_t i = 0; i < grow->growth->n_points; i++) {
		char name[32];
		const struct point *point = &grow->points[i];
		tell(grow);
		if (i > 0 && has_same_tree(point, point - 1)) {
			grow->trees[i] = grow->trees[i - 1];
			continue;
		}
		(void)snprintf(name, sizeof(name), "point-%zu", i);
		const struct fsl_bench_job job = {
			.name = name,
			.input = FSL_BENCH_CSV,
			.n_bytes = (int64_t)(n_bytes * point->size_share),
			.n_ranks = point->n_ranks > 0 ? point->n_ranks : grow->options->n_ranks,
			.n_shards = point->n_shards,
			/* Few operators per step, so that a thousand ranks have enough steps. */
			.n_pairs = point->n_ranks > 0 ? FEW_PAIRS : 0,
		};
		FSL_TRY(fsl_bench_tree_write(&grow->trees[i], &grow->place, &job, err));
	}
	return FSL_OK;
}

static int64_t begin_of(const struct fsl_bench_tree *tree, double last_share)
{
	double dur_ns = (double)(tree->end_ns - tree->begin_ns);
	return last_share < 1.0 ? tree->end_ns - (int64_t)(dur_ns * last_share) : INT64_MIN;
}

static enum fsl_status run_rounds(struct grow *grow, struct fsl_error *err)
{
	struct fsl_bench_growth *growth = grow->growth;
	struct fsl_bench_sample start_ups[FSL_BENCH_RUNS_MAX];
	enum fsl_status status = FSL_OK;
	for (size_t run = 0; run < (size_t)growth->n_runs && status == FSL_OK; run++) {
		status = fsl_bench_measure_start_up(&start_ups[run], &grow->place, err);
		for (size_t i = 0; i < growth->n_points && status == FSL_OK; i++) {
			const struct fsl_bench_tree *tree = &grow->trees[i];
			const struct fsl_bench_detect how = {
				.n_jobs = 1, .from_ns = begin_of(tree, grow->points[i].last_share)};
			tell(grow);
			status = fsl_bench_measure_detect(&growth->points[i].samples[run],
							  &grow->place, tree, &how, err);
		}
	}
	if (status == FSL_OK) {
		growth->start_up = fsl_bench_median(start_ups, (size_t)growth->n_runs);
	}
	return status;
}

static double at_least_one(double value)
{
	return value > 1.0 ? value : 1.0;
}

/* Fits straight lines through the logarithms, without the constant cost of starting the program. */
static void fit(struct fsl_bench_growth *growth)
{
	double xs[FSL_BENCH_POINTS_MAX], cpu[FSL_BENCH_POINTS_MAX], peak[FSL_BENCH_POINTS_MAX];
	double begin, cov00, cov01, cov11, sum_squares;
	const struct fsl_bench_sample *nothing = &growth->start_up;
	for (size_t i = 0; i < growth->n_points; i++) {
		struct fsl_bench_point *point = &growth->points[i];
		point->median = fsl_bench_median(point->samples, (size_t)growth->n_runs);
		xs[i] = log(point->x);
		cpu[i] = log(at_least_one((double)(point->median.cpu_ns - nothing->cpu_ns)));
		peak[i] = log(at_least_one((double)point->median.peak_bytes -
					   (double)nothing->peak_bytes));
	}
	(void)gsl_fit_linear(xs, 1, cpu, 1, growth->n_points, &begin, &growth->cpu_exponent, &cov00,
			     &cov01, &cov11, &sum_squares);
	(void)gsl_fit_linear(xs, 1, peak, 1, growth->n_points, &begin, &growth->memory_exponent,
			     &cov00, &cov01, &cov11, &sum_squares);
}

static enum fsl_status lay_out(struct grow *grow, size_t which, struct fsl_error *err)
{
	struct fsl_bench_growth *growth = grow->growth;
	grow->points = tables[which].points;
	growth->n_points = tables[which].n;
	for (size_t i = 0; i < growth->n_points; i++) {
		struct fsl_bench_point *point = &growth->points[i];
		point->x = grow->points[i].x;
		point->label = grow->points[i].label;
		FSL_TRY(FSL_ARENA_NEW(point->samples, &growth->arena, (size_t)growth->n_runs,
				      "points", err));
	}
	grow->n_all = growth->n_points * ((size_t)growth->n_runs + 1);
	return FSL_OK;
}

enum fsl_status fsl_bench_grow(struct fsl_bench_growth *out, const struct fsl_bench_scale *scale,
			       const struct fsl_bench_options *options, struct fsl_error *err)
{
	struct grow grow = {.growth = out, .options = options};
	*out = (struct fsl_bench_growth){.scale = scale, .n_runs = options->n_runs};
	FSL_TRY(lay_out(&grow, (size_t)(scale - fsl_bench_scales), err));
	enum fsl_status status =
		fsl_bench_place_open(&grow.place, options->program, options->dir, err);
	FSL_THEN(status, write_trees(&grow, err));
	FSL_THEN(status, run_rounds(&grow, err));
	fsl_bench_place_close(&grow.place);
	out->interrupted = grow.place.interrupted;
	if (status == FSL_OK) {
		fit(out);
	}
	return status;
}

void fsl_bench_growth_fini(struct fsl_bench_growth *growth)
{
	fsl_arena_fini(&growth->arena);
	*growth = (struct fsl_bench_growth){0};
}
