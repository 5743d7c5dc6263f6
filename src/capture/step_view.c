/* Views of the ranks in one step. */
#include "capture/step_view.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "capture/step_rows.h"

/* Kinds of rows that carry a step: their place in a rank, and the place of the step in a row. */
static const struct kind {
	size_t rows, n_rows; /* offsets in struct fsl_profile_rank */
	size_t step;         /* offset in a row */
	size_t size;         /* size of a row */
} kinds[] = {
#define KIND(type, rows, n_rows)                                                                   \
	{                                                                                          \
		offsetof(struct fsl_profile_rank, rows),                                           \
			offsetof(struct fsl_profile_rank, n_rows), offsetof(struct type, step),    \
			sizeof(struct type)                                                        \
	}
	KIND(fsl_profile_step, steps, n_steps),   KIND(fsl_profile_step, rebuilt, n_rebuilt),
	KIND(fsl_profile_comm, comms, n_comms),   KIND(fsl_profile_link, links, n_links),
	KIND(fsl_profile_step, traced, n_traced), KIND(fsl_profile_kernels, kernels, n_kernels),
	KIND(fsl_profile_gap, gaps, n_gaps),
#undef KIND
};
enum { KINDS_N = sizeof(kinds) / sizeof(kinds[0]) };

/* Rows of one kind, of any type. */
struct rows {
	char *at;
	size_t n;
};

static struct rows rows_of(const struct fsl_profile_rank *rank, const struct kind *kind)
{
	struct rows rows = {0};
	memcpy(&rows.at, (const char *)rank + kind->rows, sizeof(rows.at));
	memcpy(&rows.n, (const char *)rank + kind->n_rows, sizeof(rows.n));
	return rows;
}

static void set_rows(struct fsl_profile_rank *rank, const struct kind *kind, struct rows rows)
{
	memcpy((char *)rank + kind->rows, &rows.at, sizeof(rows.at));
	memcpy((char *)rank + kind->n_rows, &rows.n, sizeof(rows.n));
}

static int64_t step_of(const struct rows *rows, const struct kind *kind, size_t i)
{
	int64_t step = 0;
	memcpy(&step, rows->at + i * kind->size + kind->step, sizeof(step));
	return step;
}

/* Old position of a row, and its step. */
struct place {
	int64_t step;
	size_t i;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = FSL_ORDER(a->step, b->step);
	return order != 0 ? order : FSL_ORDER(a->i, b->i);
}

static bool is_sorted(const struct rows *rows, const struct kind *kind)
{
	for (size_t i = 1; i < rows->n; i++) {
		if (step_of(rows, kind, i) < step_of(rows, kind, i - 1)) {
			return false;
		}
	}
	return true;
}

/* Copies rows sorted by step; rows of one step keep their order. */
static enum fsl_status sort_rows(struct fsl_step_view *view, struct rows *rows,
				 const struct kind *kind, struct fsl_error *err)
{
	struct place *places = fsl_calloc(rows->n, sizeof(*places));
	char *sorted = fsl_arena_take(&view->arena, rows->n * kind->size);
	if (places == NULL || sorted == NULL) {
		fsl_free(places);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rows=%zu", rows->n);
	}
	for (size_t i = 0; i < rows->n; i++) {
		places[i] = (struct place){step_of(rows, kind, i), i};
	}
	qsort(places, rows->n, sizeof(*places), compare_places);
	for (size_t i = 0; i < rows->n; i++) {
		memcpy(sorted + i * kind->size, rows->at + places[i].i * kind->size, kind->size);
	}
	fsl_free(places);
	rows->at = sorted;
	return FSL_OK;
}

/* The rank without sums over the capture, and without memory that only its owner may free. */
static struct fsl_profile_rank borrow(const struct fsl_profile_rank *rank)
{
	struct fsl_profile_rank own = {
		.folder = rank->folder,
		.rank = rank->rank,
		.names = rank->names,
		.info = rank->info,
		.traffic = rank->traffic,
		.n_traffic = rank->n_traffic,
		.packets = rank->packets,
		.n_packets = rank->n_packets,
		.n_steps_captured = fsl_profile_steps_captured(rank),
		.trace = {.begin_ns = FSL_NS_ABSENT,
			  .end_ns = FSL_NS_ABSENT,
			  .has_iterations = rank->trace.has_iterations,
			  .ranges = rank->trace.ranges,
			  .n_ranges = rank->trace.n_ranges},
		.tells_exposed = rank->tells_exposed,
		.has_text = rank->has_text,
		.has_db = rank->has_db,
	};
	return own;
}

static enum fsl_status sort_rank(struct fsl_step_view *view, struct fsl_profile_rank *own,
				 const struct fsl_profile_rank *rank, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	*own = borrow(rank);
	for (size_t k = 0; k < KINDS_N && status == FSL_OK; k++) {
		struct rows rows = rows_of(rank, &kinds[k]);
		if (!is_sorted(&rows, &kinds[k])) {
			status = sort_rows(view, &rows, &kinds[k], err);
			FSL_ASSERT(status != FSL_OK || is_sorted(&rows, &kinds[k]));
		}
		set_rows(own, &kinds[k], rows);
	}
	return status;
}

enum fsl_status fsl_step_view_init(struct fsl_step_view *out, const struct fsl_profile *profile,
				   struct fsl_error *err)
{
	size_t n = profile->n_ranks;
	*out = (struct fsl_step_view){
		.profile = {.root = profile->root, .has_choice = profile->has_choice}};
	out->rows = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->rows));
	out->profile.ranks = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->profile.ranks));
	enum fsl_status status =
		out->rows != NULL && out->profile.ranks != NULL
			? FSL_OK
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	for (size_t r = 0; r < n && status == FSL_OK; r++) {
		status = sort_rank(out, &out->rows[r], &profile->ranks[r], err);
		out->profile.ranks[r] = out->rows[r];
	}
	out->profile.n_ranks = n;
	if (status != FSL_OK) {
		fsl_step_view_fini(out);
	}
	return status;
}

enum fsl_status fsl_step_view_share(struct fsl_step_view *out, const struct fsl_step_view *of,
				    struct fsl_error *err)
{
	size_t n = of->profile.n_ranks;
	*out = (struct fsl_step_view){.rows = of->rows, .profile = of->profile};
	out->profile.ranks = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->profile.ranks));
	if (out->profile.ranks == NULL) {
		fsl_step_view_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	memcpy(out->profile.ranks, of->rows, n * sizeof(*of->rows));
	return FSL_OK;
}

/* Number of rows of steps before @step; with @is_with also of @step itself. */
static size_t count_until(const struct rows *rows, const struct kind *kind, int64_t step,
			  bool is_with)
{
	size_t low = 0, high = rows->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int64_t own = step_of(rows, kind, middle);
		if (own < step || (is_with && own == step)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

void fsl_step_view_show(struct fsl_step_view *view, int64_t step)
{
	FSL_REQUIRE(step != FSL_STEP_ABSENT);
	for (size_t r = 0; r < view->profile.n_ranks; r++) {
		for (size_t k = 0; k < KINDS_N; k++) {
			struct rows rows = rows_of(&view->rows[r], &kinds[k]);
			size_t begin = count_until(&rows, &kinds[k], step, false);
			size_t end = count_until(&rows, &kinds[k], step, true);
			FSL_ASSERT(begin <= end && end <= rows.n);
			struct rows shown = {.n = end - begin};
			if (shown.n > 0) {
				shown.at = rows.at + begin * kinds[k].size;
			}
			set_rows(&view->profile.ranks[r], &kinds[k], shown);
		}
	}
}

bool fsl_step_view_has(const struct fsl_step_view *view, size_t r)
{
	const struct fsl_profile_rank *rank = &view->profile.ranks[r];
	return rank->n_steps + rank->n_rebuilt + rank->n_comms > 0;
}

void fsl_step_view_fini(struct fsl_step_view *view)
{
	fsl_arena_fini(&view->arena);
	*view = (struct fsl_step_view){0};
}
