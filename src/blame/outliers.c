/*
 * Outliers: devices that are slower all along than so many healthy ones ever are. Rosner's test for
 * several outliers (Technometrics 25, 1983), upwards only, over all classes together: devices of a
 * job are of one kind, so what they differ by in one class tells what they may in another.
 */
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "blame/blame.h"

/* One rank: logarithm of its usual own time over that of its class, so that classes compare. */
struct mark {
	double value;
	uint32_t rank_idx;
};

/* One class while its slowest are taken out one by one. */
struct cloud {
	struct mark *marks; /* ascending */
	size_t n, n_left, n_stay;
	double sum, sum_squares; /* of those left */
};

/* Everything that is left. */
struct sample {
	struct cloud *clouds;
	size_t n_clouds;
	double squares; /* around the means of the clouds */
	size_t freedom;
};

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	FSL_ORDER_BY(x->value, y->value);
	return FSL_ORDER(x->rank_idx, y->rank_idx);
}

static double squares_of(const struct cloud *cloud)
{
	double n = (double)cloud->n_left;
	return cloud->n_left > 0 ? cloud->sum_squares - cloud->sum * cloud->sum / n : 0.0;
}

/* The cloud without its slowest. */
static struct cloud without_top(const struct cloud *cloud)
{
	struct cloud rest = *cloud;
	double top = cloud->marks[--rest.n_left].value;
	rest.sum -= top;
	rest.sum_squares -= top * top;
	return rest;
}

/* How far the slowest of a cloud lies above the rest of it, in sigmas of everything else. */
static double deviate_of(const struct sample *sample, const struct cloud *cloud)
{
	struct cloud rest = without_top(cloud);
	double n = (double)rest.n_left;
	double squares = sample->squares - squares_of(cloud) + squares_of(&rest);
	double sigma = sqrt(fmax(0.0, squares) / (double)(sample->freedom - 1));
	double above = cloud->marks[rest.n_left].value - rest.sum / n;
	return above / (fmax(sigma, FSL_OUTLIER_SIGMA_MIN) * sqrt(1.0 + 1.0 / n));
}

/* The cloud whose slowest lies farthest above the rest; NULL when none may be taken out. */
static struct cloud *farthest(const struct sample *sample, double *deviate)
{
	struct cloud *found = NULL;
	for (size_t k = 0; k < sample->n_clouds && sample->freedom > FSL_OUTLIER_FREEDOM_MIN; k++) {
		struct cloud *cloud = &sample->clouds[k];
		if (cloud->n_left <= cloud->n_stay) {
			continue;
		}
		double here = deviate_of(sample, cloud);
		if (found == NULL || here > *deviate) {
			*deviate = here;
			found = cloud;
		}
	}
	return found;
}

static void take_top(struct sample *sample, struct cloud *cloud)
{
	double before = squares_of(cloud);
	*cloud = without_top(cloud);
	sample->squares += squares_of(cloud) - before;
	sample->freedom--;
}

/* Limit that the slowest of @n healthy ranks hardly exceeds. */
static double limit_of(size_t n, size_t freedom)
{
	return gsl_cdf_tdist_Qinv(FSL_OUTLIER_ALPHA / (double)n, (double)freedom);
}

/* Takes the slowest out one by one; the last of them that is too far out, and all before it, are
 * outliers, as several hide each other. @taken: as many as there are marks. */
static size_t take_outliers(struct sample *sample, uint32_t *taken, size_t n_marks)
{
	size_t n_taken = 0, n_outliers = 0;
	double deviate = 0.0;
	for (struct cloud *cloud = farthest(sample, &deviate); cloud != NULL;
	     cloud = farthest(sample, &deviate)) {
		taken[n_taken] = cloud->marks[cloud->n_left - 1].rank_idx;
		take_top(sample, cloud);
		FSL_ASSERT(n_taken < n_marks && cloud->n_left >= cloud->n_stay);
		n_taken++;
		if (deviate > limit_of(n_marks - n_taken + 1, sample->freedom)) {
			n_outliers = n_taken;
		}
	}
	return n_outliers;
}

/* Fills a cloud from the members of a class; their marks are around the lowest. */
static void fill(struct cloud *cloud, struct mark *marks, const struct fsl_blame *blame, size_t k,
		 const double *usual_ms)
{
	*cloud = (struct cloud){.marks = marks};
	for (size_t i = blame->peers.begin[k]; i < blame->peers.begin[k + 1]; i++) {
		uint32_t r = blame->peers.members[i];
		if (usual_ms[r] > 0.0) {
			marks[cloud->n++] = (struct mark){log(usual_ms[r]), r};
		}
	}
	qsort(marks, cloud->n, sizeof(*marks), compare_marks);
	double origin = cloud->n > 0 ? marks[0].value : 0.0;
	for (size_t i = 0; i < cloud->n; i++) {
		marks[i].value -= origin;
		cloud->sum += marks[i].value;
		cloud->sum_squares += marks[i].value * marks[i].value;
	}
	cloud->n_left = cloud->n;
	cloud->n_stay = (cloud->n + 1) / 2 > FSL_OUTLIER_LEFT_MIN ? (cloud->n + 1) / 2
								  : FSL_OUTLIER_LEFT_MIN;
}

enum fsl_status fsl_outliers_find(bool *is_outlier, const struct fsl_blame *blame,
				  const double *usual_ms, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	size_t n_marks = 0;
	struct mark *marks = fsl_arena_alloc(&arena, blame->n_ranks * sizeof(*marks));
	uint32_t *taken = fsl_arena_alloc(&arena, blame->n_ranks * sizeof(*taken));
	struct sample sample = {
		.clouds = fsl_arena_alloc(&arena, blame->peers.n_classes * sizeof(struct cloud))};
	if (marks == NULL || taken == NULL || sample.clouds == NULL) {
		fsl_arena_fini(&arena);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", blame->n_ranks);
	}
	for (size_t k = 0; k < blame->peers.n_classes; k++) {
		struct cloud *cloud = &sample.clouds[sample.n_clouds++];
		fill(cloud, marks + n_marks, blame, k, usual_ms);
		n_marks += cloud->n;
		sample.squares += squares_of(cloud);
		sample.freedom += cloud->n > 0 ? cloud->n - 1 : 0;
	}
	for (size_t r = 0; r < blame->n_ranks; r++) {
		is_outlier[r] = false;
	}
	size_t n_outliers = take_outliers(&sample, taken, n_marks);
	for (size_t i = 0; i < n_outliers; i++) {
		is_outlier[taken[i]] = true;
	}
	fsl_arena_fini(&arena);
	return FSL_OK;
}
