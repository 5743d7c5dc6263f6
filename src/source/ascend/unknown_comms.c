/* Calls of all ranks are put side by side by sorting them; one type at a time is looked at. */
#include "source/ascend/unknown_comms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/comm_kernels.h"

/* A type that takes less of the kernels of every rank cannot hide a wait that counts. */
#define TYPE_SHARE_MIN 0.01
/* Ends are together if they are this much closer than begins. Ends of kernels that only compute are
 * at least as far apart as their begins, so anything far below 1 serves. */
#define ENDS_SHARE_MAX 0.1
/* Begins count as apart if the distances are this part of the calls' time. Below it the waits are
 * small, and noise of the durations could look alike. */
#define APART_SHARE_MIN 0.1
enum {
	CALLS_MIN = 4, /* fewer are no pattern */
	MARKS_MAX =
		64, /* collectives of a rank by which clocks are set; more make them no better */
	MARKS_MIN = 3
};

/* Groups in which the members of a call may be: the stage or all, then those that are told. */
static const char *const groups[] = {NULL, "tp", "e"};
enum { GROUPS_N = sizeof(groups) / sizeof(groups[0]) };

/* One call. Ids are those of the search's own pool; equal keys but for the rank: one call of all.
 */
struct item {
	uint32_t type, group, shape, nth, rank_idx;
	int64_t step, begin_ns, end_ns;
};

/* The end of a collective of a known name; ends of one collective are the same instant. */
struct mark {
	uint32_t name;
	int64_t step, end_ns;
};

struct marks {
	struct mark items[MARKS_MAX]; /* sorted by name, step */
	size_t n_items;
};

struct search {
	struct fsl_profile *profile;
	struct fsl_profile_cluster cluster;
	struct fsl_strpool *names;
	struct item *items;
	size_t n_items, capacity;
	struct marks *marks; /* [n_ranks] */
	uint32_t *group_of;  /* [n_ranks] */
	size_t *n_members;   /* [n_ranks]: of the rank's group */
};

static int compare_calls(const struct item *a, const struct item *b)
{
	int order = FSL_ORDER(a->shape, b->shape);
	order = order != 0 ? order : FSL_ORDER(a->step, b->step);
	return order != 0 ? order : FSL_ORDER(a->nth, b->nth);
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	FSL_ORDER_BY(a->type, b->type);
	FSL_ORDER_BY(a->group, b->group);
	int order = compare_calls(a, b);
	return order != 0 ? order : FSL_ORDER(a->rank_idx, b->rank_idx);
}

static int compare_marks(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;
	FSL_ORDER_BY(a->name, b->name);
	FSL_ORDER_BY(a->step, b->step);
	return FSL_ORDER(a->end_ns, b->end_ns);
}

static enum fsl_status own_id(struct search *search, const struct fsl_profile_rank *rank,
			      uint32_t id, uint32_t *out, struct fsl_error *err)
{
	const char *text = fsl_strpool_text(rank->names, id);
	return fsl_strpool_intern(search->names, text, strlen(text), out, err);
}

/* Lists the samples of a rank, of types that take enough of its kernels. */
static enum fsl_status list_rank(struct search *search, size_t r, double *of_type_ns,
				 uint32_t *n_seen, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &search->profile->ranks[r];
	double all_ns = 0.0;
	for (size_t k = 0; k < rank->n_kernels; k++) {
		of_type_ns[rank->kernels[k].type_id] += (double)rank->kernels[k].total_ns;
		all_ns += (double)rank->kernels[k].total_ns;
	}
	for (size_t i = 0; i < rank->n_samples; i++) {
		const struct fsl_profile_sample *sample = &rank->samples[i];
		const struct fsl_profile_kernels *kernels = &rank->kernels[sample->kernels_idx];
		const char *type = fsl_strpool_text(rank->names, kernels->type_id);
		if (of_type_ns[kernels->type_id] < TYPE_SHARE_MIN * all_ns ||
		    fsl_comm_kernel_of(NULL, type, strlen(type)) != FSL_COMM_KERNEL_NONE) {
			continue;
		}
		struct item item = {.rank_idx = (uint32_t)r,
				    .step = kernels->step,
				    .nth = n_seen[sample->kernels_idx]++,
				    .begin_ns = sample->begin_ns,
				    .end_ns = fsl_sum_i64(sample->begin_ns, sample->elapse_ns)};
		FSL_TRY(own_id(search, rank, kernels->type_id, &item.type, err));
		FSL_TRY(own_id(search, rank, kernels->shape_id, &item.shape, err));
		FSL_TRY(FSL_GROW(search->items, search->capacity, search->n_items + 1, err));
		search->items[search->n_items++] = item;
	}
	return FSL_OK;
}

static enum fsl_status list_marks(struct search *search, size_t r, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &search->profile->ranks[r];
	struct marks *marks = &search->marks[r];
	for (size_t c = 0; c < rank->n_comms && marks->n_items < MARKS_MAX; c++) {
		const struct fsl_profile_comm *comm = &rank->comms[c];
		struct mark mark = {.step = comm->step};
		if (comm->is_p2p || !fsl_profile_comm_is_timed(comm)) {
			continue;
		}
		mark.end_ns = fsl_sum_i64(comm->begin_ns, comm->elapse_ns);
		FSL_TRY(own_id(search, rank, comm->name_id, &mark.name, err));
		marks->items[marks->n_items++] = mark;
	}
	qsort(marks->items, marks->n_items, sizeof(marks->items[0]), compare_marks);
	return FSL_OK;
}

/* How far the clock of rank @b is ahead of that of rank @a, ns; NaN: they share no collective. */
static double clock_of(const struct search *search, size_t a, size_t b)
{
	const struct marks *left = &search->marks[a], *right = &search->marks[b];
	double ahead_ns[MARKS_MAX], scratch[MARKS_MAX];
	size_t n = 0;
	for (size_t i = 0, k = 0; i < left->n_items && k < right->n_items;) {
		const struct mark *x = &left->items[i], *y = &right->items[k];
		int order = FSL_ORDER(x->name, y->name);
		order = order != 0 ? order : FSL_ORDER(x->step, y->step);
		if (order == 0) {
			ahead_ns[n++] = (double)(y->end_ns - x->end_ns);
		}
		i += order <= 0;
		k += order >= 0;
	}
	return n > 0 ? fsl_median(ahead_ns, n, scratch) : NAN;
}

static enum fsl_status list_ranks(struct search *search, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t r = 0; r < search->profile->n_ranks && status == FSL_OK; r++) {
		const struct fsl_profile_rank *rank = &search->profile->ranks[r];
		double *of_type_ns = fsl_calloc(fsl_strpool_size(rank->names) + 1, sizeof(double));
		uint32_t *n_seen = fsl_calloc(rank->n_kernels + 1, sizeof(*n_seen));
		status = of_type_ns != NULL && n_seen != NULL
				 ? list_rank(search, r, of_type_ns, n_seen, err)
				 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: kernels=%zu",
					    rank->n_kernels);
		fsl_free(of_type_ns);
		fsl_free(n_seen);
		status = status == FSL_OK ? list_marks(search, r, err) : status;
	}
	return status;
}

/* Names of groups of calls are those of settle_calls.c, as if the type were known already. */
static enum fsl_status form_groups(struct search *search, const char *group, struct fsl_error *err)
{
	static const char any_type[] = "?";
	const struct fsl_profile *profile = search->profile;
	const struct fsl_profile_found_comms assumed = {
		.items = {{.type = any_type, .group = group}}, .n_items = 1};
	for (size_t r = 0; r < profile->n_ranks; r++) {
		struct fsl_profile_rank rank = profile->ranks[r];
		char text[FSL_CALL_GROUP_BYTES];
		rank.found = &assumed;
		fsl_profile_call_group(text, &search->cluster, &rank, any_type);
		FSL_TRY(fsl_strpool_intern(search->names, text, strlen(text), &search->group_of[r],
					   err));
	}
	uint32_t *n_of = fsl_calloc(fsl_strpool_size(search->names) + 1, sizeof(*n_of));
	if (n_of == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_of[search->group_of[r]]++;
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		search->n_members[r] = n_of[search->group_of[r]];
	}
	fsl_free(n_of);
	for (size_t i = 0; i < search->n_items; i++) {
		search->items[i].group = search->group_of[search->items[i].rank_idx];
	}
	return FSL_OK;
}

/* How far apart the calls of a type begin and end, over all groups. */
struct distances {
	double begins_ns, ends_ns, elapse_ns;
	double most_ns; /* of begins */
	size_t n_calls;
	double *ends;              /* [n_calls], of the type; room for all */
	double *offsets, *scratch; /* room for twice and once as many */
};

/* Number of items of the call that begins at @at: those of its group. */
static size_t count_call(const struct item *items, size_t at, size_t end)
{
	size_t n = 1;
	while (at + n < end && compare_calls(&items[at], &items[at + n]) == 0) {
		n++;
	}
	return n;
}

/* Clocks against that of the first member, of begins and of ends. */
struct clock {
	double begins_ns, ends_ns;
};

/*
 * The clock of member @m by collectives that both members know. Without any, begins and ends are
 * each fitted to their medians: what is always as late is not seen then, but a slow device, whose
 * ends are always as late, is not taken for a wait.
 */
static struct clock clock_of_member(const struct search *search, const struct distances *d,
				    const struct item *items, size_t n, size_t n_members, size_t m)
{
	struct clock clock = {0.0, 0.0};
	double *begins = d->offsets, *ends = d->offsets + n;
	size_t n_calls = 0;
	clock.begins_ns = clock.ends_ns =
		m == 0 ? 0.0 : clock_of(search, items[0].rank_idx, items[m].rank_idx);
	if (!isnan(clock.ends_ns)) {
		return clock;
	}
	for (size_t at = 0, n_call = 0; at < n; at += n_call) {
		n_call = count_call(items, at, n);
		if (n_call == n_members) {
			begins[n_calls] = (double)(items[at + m].begin_ns - items[at].begin_ns);
			ends[n_calls++] = (double)(items[at + m].end_ns - items[at].end_ns);
		}
	}
	return n_calls == 0 ? (struct clock){0.0, 0.0}
			    : (struct clock){.begins_ns = fsl_median(begins, n_calls, d->scratch),
					     .ends_ns = fsl_median(ends, n_calls, d->scratch)};
}

/* Adds a call of all members. */
static void add_call(struct distances *d, const struct item *call, const struct clock *clocks,
		     size_t n_members)
{
	double begins[2] = {INFINITY, -INFINITY}, ends[2] = {INFINITY, -INFINITY};
	double longest_ns = 0.0;
	for (size_t m = 0; m < n_members; m++) {
		double begin_ns = (double)(call[m].begin_ns - call[0].begin_ns);
		double end_ns = (double)(call[m].end_ns - call[0].end_ns);
		longest_ns = fmax(longest_ns, (double)(call[m].end_ns - call[m].begin_ns));
		begins[0] = fmin(begins[0], begin_ns - clocks[m].begins_ns);
		begins[1] = fmax(begins[1], begin_ns - clocks[m].begins_ns);
		ends[0] = fmin(ends[0], end_ns - clocks[m].ends_ns);
		ends[1] = fmax(ends[1], end_ns - clocks[m].ends_ns);
	}
	d->begins_ns += begins[1] - begins[0];
	d->most_ns = fmax(d->most_ns, begins[1] - begins[0]);
	d->ends[d->n_calls++] = ends[1] - ends[0];
	d->ends_ns += ends[1] - ends[0];
	d->elapse_ns += longest_ns;
}

/* Adds the calls of one group of @n_members ranks; false without memory. Calls that some member
 * lacks, or has with other shapes, do not count. */
static bool add_group(const struct search *search, struct distances *d, const struct item *items,
		      size_t n, size_t n_members)
{
	struct clock *clocks = fsl_calloc(n_members, sizeof(*clocks));
	size_t first = 0;
	if (clocks == NULL) {
		return false;
	}
	while (first < n && count_call(items, first, n) != n_members) {
		first += count_call(items, first, n);
	}
	for (size_t m = 0; m < n_members && first < n; m++) {
		clocks[m] = clock_of_member(search, d, items + first, n - first, n_members, m);
	}
	for (size_t at = first, n_call = 0; at < n; at += n_call) {
		n_call = count_call(items, at, n);
		if (n_call == n_members) {
			add_call(d, items + at, clocks, n_members);
		}
	}
	fsl_free(clocks);
	return true;
}

static enum fsl_status add_found(struct fsl_profile *profile, const char *type, const char *group,
				 const struct distances *d, struct fsl_error *err)
{
	const char *copy = fsl_arena_strdup(&profile->arena, type);
	if (profile->found == NULL) {
		profile->found = fsl_arena_alloc(&profile->arena, sizeof(*profile->found));
	}
	if (copy == NULL || profile->found == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: type=\"%s\"", type);
	}
	if (profile->found->n_items < FSL_FOUND_COMMS_MAX) {
		profile->found->items[profile->found->n_items++] = (struct fsl_profile_found_comm){
			.type = copy,
			.group = group,
			.apart_ns = (int64_t)d->most_ns,
			.ends_ns = (int64_t)fsl_median(d->ends, d->n_calls, d->scratch)};
	}
	return FSL_OK;
}

/* Looks at the calls of one type, @n items sorted by group and call. */
static enum fsl_status look_at(struct search *search, struct distances *d, size_t begin, size_t n,
			       const char *group, struct fsl_error *err)
{
	const struct item *items = search->items + begin;
	const char *type = fsl_strpool_text(search->names, items[0].type);
	*d = (struct distances){.ends = d->ends, .offsets = d->offsets, .scratch = d->scratch};
	if (fsl_comm_kernel_of(search->profile->found, type, strlen(type)) !=
	    FSL_COMM_KERNEL_NONE) {
		return FSL_OK;
	}
	for (size_t at = 0, end = 0; at < n; at = end) {
		while (end < n && items[end].group == items[at].group) {
			end++;
		}
		size_t n_members = search->n_members[items[at].rank_idx];
		if (n_members > 1 && !add_group(search, d, items + at, end - at, n_members)) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: calls=%zu", n);
		}
	}
	bool is_apart = d->begins_ns >= APART_SHARE_MIN * d->elapse_ns;
	bool is_together = d->ends_ns <= ENDS_SHARE_MAX * d->begins_ns;
	return d->n_calls >= CALLS_MIN && is_apart && is_together
		       ? add_found(search->profile, type, group, d, err)
		       : FSL_OK;
}

static enum fsl_status look(struct search *search, struct fsl_error *err)
{
	double *work = fsl_calloc(4 * search->n_items + 1, sizeof(*work));
	struct distances d = {.ends = work,
			      .offsets = work + search->n_items,
			      .scratch = work + 3 * search->n_items};
	enum fsl_status status = work != NULL
					 ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: calls=%zu",
						    search->n_items);
	for (size_t g = 0; g < GROUPS_N && status == FSL_OK; g++) {
		status = form_groups(search, groups[g], err);
		qsort(search->items, search->n_items, sizeof(*search->items), compare_items);
		for (size_t begin = 0, end = 0; begin < search->n_items && status == FSL_OK;
		     begin = end) {
			while (end < search->n_items &&
			       search->items[end].type == search->items[begin].type) {
				end++;
			}
			status = look_at(search, &d, begin, end - begin, groups[g], err);
		}
	}
	fsl_free(work);
	return status;
}

enum fsl_status fsl_profile_find_comms(struct fsl_profile *profile, struct fsl_error *err)
{
	struct search search = {.profile = profile};
	size_t n = profile->n_ranks;
	if (n < 2) {
		return FSL_OK;
	}
	FSL_TRY(fsl_profile_cluster_build(&search.cluster, profile, err));
	search.names = fsl_strpool_create();
	search.marks = fsl_calloc(n, sizeof(*search.marks));
	search.group_of = fsl_calloc(n, sizeof(*search.group_of));
	search.n_members = fsl_calloc(n, sizeof(*search.n_members));
	enum fsl_status status =
		search.names != NULL && search.marks != NULL && search.group_of != NULL &&
				search.n_members != NULL
			? list_ranks(&search, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	if (status == FSL_OK && search.n_items > 0) {
		status = look(&search, err);
	}
	for (size_t r = 0; r < n; r++) { /* they have served */
		fsl_free(profile->ranks[r].samples);
		profile->ranks[r].samples = NULL;
		profile->ranks[r].n_samples = profile->ranks[r].samples_capacity = 0;
	}
	fsl_free(search.items);
	fsl_free(search.marks);
	fsl_free(search.n_members);
	fsl_free(search.group_of);
	fsl_strpool_destroy(search.names);
	fsl_profile_cluster_fini(&search.cluster);
	return status;
}
