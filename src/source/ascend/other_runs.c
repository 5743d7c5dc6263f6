/* Captures of other runs in one set: told by their times. */
#include "source/ascend/other_runs.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

/* Clocks of hosts differ by less than this, however badly they are kept, and a profiler that is
 * switched on for a job reaches all of its ranks in less. */
static const int64_t RUNS_APART_NS = INT64_C(600) * FSL_NS_PER_S;

/* Time of a rank's capture. */
struct span {
	int64_t begin_ns, end_ns;
	size_t rank_idx;
};

static void widen(int64_t *begin_ns, int64_t *end_ns, int64_t from_ns, int64_t to_ns)
{
	*begin_ns = from_ns < *begin_ns ? from_ns : *begin_ns;
	*end_ns = to_ns > *end_ns ? to_ns : *end_ns;
}

bool fsl_profile_find_span(const struct fsl_profile_rank *rank, int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = INT64_MAX;
	*end_ns = INT64_MIN;
	for (size_t c = 0; c < rank->n_comms; c++) {
		if (rank->comms[c].begin_ns > 0) {
			widen(begin_ns, end_ns, rank->comms[c].begin_ns, rank->comms[c].begin_ns);
		}
	}
	if (*end_ns == INT64_MIN && rank->trace.begin_ns > 0) {
		widen(begin_ns, end_ns, rank->trace.begin_ns, rank->trace.end_ns);
	}
	for (size_t g = 0; *end_ns == INT64_MIN && g < rank->n_gaps; g++) {
		const struct fsl_profile_gap *gap = &rank->gaps[g];
		widen(begin_ns, end_ns, gap->begin_ns, fsl_sum_i64(gap->begin_ns, gap->dur_ns));
	}
	return *end_ns >= *begin_ns;
}

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	int order = FSL_ORDER(a->begin_ns, b->begin_ns);
	return order != 0 ? order : FSL_ORDER(a->rank_idx, b->rank_idx);
}

/* The spans of one run are neighbours. *n_run: those of the run with most ranks, from the one on
 * that is returned; of equal runs the newest. */
static size_t find_run(const struct span *spans, size_t n, size_t *n_run)
{
	size_t first = 0;
	*n_run = 0;
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		int64_t until_ns = spans[begin].end_ns;
		for (end = begin; end < n && spans[end].begin_ns - until_ns < RUNS_APART_NS;
		     end++) {
			until_ns = spans[end].end_ns > until_ns ? spans[end].end_ns : until_ns;
		}
		if (end - begin >= *n_run) {
			first = begin;
			*n_run = end - begin;
		}
	}
	return first;
}

/* @is_other: per rank. */
static enum fsl_status tell_runs(struct fsl_profile *profile, const bool *is_other,
				 int64_t apart_ns, struct fsl_error *err)
{
	size_t n = 0;
	const struct fsl_profile_rank *first = NULL;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		first = is_other[r] && first == NULL ? &profile->ranks[r] : first;
		n += is_other[r] ? 1 : 0;
	}
	if (first == NULL) {
		return FSL_OK;
	}
	const char *path = first->folder.path;
	if (first->folder.file != NULL) {
		path = fsl_arena_printf(&profile->arena, "%s/%s", path, first->folder.file);
		FSL_TRY(FSL_MADE(path, 1, "paths", err));
	}
	double minutes = (double)apart_ns / (60.0 * FSL_NS_PER_S);
	bool is_days = minutes >= 2880.0;
	return fsl_profile_remark(
		profile, err,
		"%zu of %zu captures are of another run, at least %.0f %s apart, and are left out: "
		"\"%s\" is the first of them; give the folder of one job",
		n, profile->n_ranks, is_days ? minutes / 1440.0 : minutes,
		is_days ? "days" : "minutes", path);
}

static void forget(struct fsl_profile *profile, const bool *is_other)
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (is_other[r]) {
			fsl_profile_rank_fini(&profile->ranks[r]);
			continue;
		}
		profile->folders[n] = profile->folders[r];
		profile->ranks[n++] = profile->ranks[r];
	}
	profile->n_ranks = profile->n_folders = n;
}

/* Marks the captures of other runs. @spans: of the ranks that tell their time. */
static enum fsl_status mark_runs(struct fsl_profile *profile, struct span *spans, size_t n,
				 bool *is_other, struct fsl_error *err)
{
	size_t n_run = 0;
	int64_t apart_ns = INT64_MAX;
	qsort(spans, n, sizeof(*spans), compare_spans);
	size_t first = find_run(spans, n, &n_run);
	for (size_t i = 0; i < n; i++) {
		bool is_run = i >= first && i < first + n_run;
		int64_t ns = i < first ? spans[first].begin_ns - spans[i].end_ns
				       : spans[i].begin_ns - spans[first].end_ns;
		apart_ns = !is_run && ns < apart_ns ? ns : apart_ns;
		is_other[spans[i].rank_idx] = !is_run;
	}
	return n_run < n ? tell_runs(profile, is_other, apart_ns, err) : FSL_OK;
}

/* Marks captures that tell neither rank nor time, beside others that tell both. */
static enum fsl_status mark_strangers(struct fsl_profile *profile, const bool *is_placed,
				      bool *is_other, struct fsl_error *err)
{
	size_t n = 0;
	const struct fsl_profile_rank *first = NULL;
	bool has_ranks = false;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		has_ranks |=
			is_placed[r] && profile->folders[r].rank_source != FSL_PROFILE_RANK_NONE;
	}
	for (size_t r = 0; r < profile->n_ranks && has_ranks; r++) {
		if (!is_placed[r] && profile->folders[r].rank_source == FSL_PROFILE_RANK_NONE) {
			first = first == NULL ? &profile->ranks[r] : first;
			is_other[r] = true;
			n++;
		}
	}
	return n == 0 ? FSL_OK
		      : fsl_profile_remark(profile, err,
					   "%zu of %zu captures tell neither their rank nor when "
					   "they were taken, and are left out: \"%s\" is the first "
					   "of them",
					   n, profile->n_ranks, first->folder.path);
}

enum fsl_status fsl_profile_leave_out_runs(struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n = 0, n_ranks = profile->n_ranks;
	struct span *spans = fsl_calloc(n_ranks + 1, sizeof(*spans));
	bool *is_other = fsl_calloc(2 * n_ranks + 1, sizeof(*is_other));
	enum fsl_status status =
		spans != NULL && is_other != NULL
			? FSL_OK
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n_ranks);
	for (size_t r = 0; r < n_ranks && status == FSL_OK; r++) {
		struct span *span = &spans[n];
		span->rank_idx = r;
		bool *is_placed = &is_other[n_ranks + r];
		*is_placed =
			fsl_profile_find_span(&profile->ranks[r], &span->begin_ns, &span->end_ns);
		n += *is_placed ? 1 : 0;
	}
	if (status == FSL_OK && n > 0) {
		status = mark_runs(profile, spans, n, is_other, err);
	}
	if (status == FSL_OK && n > 0) {
		status = mark_strangers(profile, is_other + n_ranks, is_other, err);
	}
	if (status == FSL_OK && n > 0) {
		forget(profile, is_other);
	}
	fsl_free(is_other);
	fsl_free(spans);
	return status;
}
