/* Links of all ranks in one table. */
#include "capture/link_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/step_rows.h"

/* Whose number inside a group it is. */
struct place {
	const char *group;
	int32_t number, rank;
};

struct places {
	struct place *items; /* sorted by group, number, rank */
	size_t n;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	FSL_ORDER_BY(strcmp(a->group, b->group), 0);
	FSL_ORDER_BY(a->number, b->number);
	return FSL_ORDER(a->rank, b->rank);
}

/* Each operator of each step tells a rank's place again. */
static void drop_repeated(struct places *places)
{
	size_t n = 0;
	for (size_t i = 0; i < places->n; i++) {
		if (n == 0 || compare_places(&places->items[n - 1], &places->items[i]) != 0) {
			places->items[n++] = places->items[i];
		}
	}
	places->n = n;
}

static enum fsl_status find_places(struct places *places, struct fsl_arena *arena,
				   const struct fsl_profile *profile, struct fsl_error *err)
{
	size_t n_max = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_max += profile->ranks[r].n_links;
	}
	FSL_TRY(FSL_ARENA_NEW(places->items, arena, n_max + 1, "links", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		for (size_t l = 0; l < rank->n_links; l++) {
			const struct fsl_profile_link *link = &rank->links[l];
			if (link->src == link->dst && link->group_id != FSL_STR_NONE) {
				places->items[places->n++] = (struct place){
					fsl_strpool_text(rank->names, link->group_id), link->src,
					rank->rank};
			}
		}
	}
	qsort(places->items, places->n, sizeof(*places->items), compare_places);
	drop_repeated(places);
	return FSL_OK;
}

/* The only rank that has this number; -1: none or several. */
static int32_t rank_of_place(const struct places *places, const char *group, int32_t number)
{
	const struct place wanted = {group, number, INT32_MIN};
	size_t low = 0;
	int32_t found = -1;
	FSL_LOWER_BOUND(low, places->n, compare_places(&places->items[low], &wanted) < 0);
	for (; low < places->n && places->items[low].number == number &&
	       strcmp(places->items[low].group, group) == 0;
	     low++) {
		if (found >= 0 && found != places->items[low].rank) {
			return -1;
		}
		found = places->items[low].rank;
	}
	return found;
}

static int32_t rank_of_number(const struct places *places,
			      const struct fsl_profile_cluster *cluster, const char *group,
			      int32_t number)
{
	int32_t rank = rank_of_place(places, group, number);
	for (size_t g = 0; g < cluster->n_groups && rank < 0; g++) {
		const struct fsl_profile_group *told = &cluster->groups[g];
		if (told->n_ranks == told->size && number >= 0 && (size_t)number < told->n_ranks &&
		    strcmp(told->hash, group) == 0) {
			rank = told->ranks[number];
		}
	}
	return rank;
}

/* Length of the type in a label that stands for all operators of a type or for one; 0: for the
 * best, the worst and so on of them. */
static size_t type_in_label(const char *label)
{
	const char *dash = strrchr(label, '-');
	if (dash == NULL) {
		return fsl_profile_type_length(label);
	}
	return strcmp(dash, "-total") == 0 ? (size_t)(dash - label) : 0;
}

static bool is_usable(const struct fsl_profile_link *link)
{
	const int64_t most = INT64_C(1) << 50; /* sums over steps do not overflow */
	return link->src != link->dst && link->n_bytes > 0 && link->n_bytes <= most &&
	       link->time_ns > 0 && link->time_ns <= most &&
	       link->transport != FSL_TRANSPORT_LOCAL && link->transport != FSL_TRANSPORT_SDMA &&
	       link->group_id != FSL_STR_NONE && link->label_id != FSL_STR_NONE;
}

static enum fsl_status add_rows(struct fsl_link_table *out, const struct places *places,
				const struct fsl_profile *profile, size_t src_idx,
				const struct fsl_profile_cluster *cluster, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &profile->ranks[src_idx];
	size_t n_steps = fsl_profile_n_steps(rank);
	for (size_t l = 0; l < rank->n_links; l++) {
		const struct fsl_profile_link *link = &rank->links[l];
		const char *label = fsl_strpool_text(rank->names, link->label_id);
		size_t n_type = is_usable(link) ? type_in_label(label) : 0;
		if (n_type == 0) {
			continue;
		}
		const char *group = fsl_strpool_text(rank->names, link->group_id);
		struct fsl_link_row row = {
			.src = rank->rank,
			.dst = rank_of_number(places, cluster, group, link->dst),
			.dst_number = link->dst,
			.src_idx = src_idx,
			.group = group,
			.type = fsl_arena_strndup(&out->arena, label, n_type),
			.transport = link->transport,
			.n_bytes = link->n_bytes,
			.time_ns = link->time_ns,
			.n_steps = n_steps,
		};
		if (row.type == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: links=%zu",
					rank->n_links);
		}
		const struct fsl_profile_rank *far = fsl_profile_rank_of(profile, row.dst);
		row.dst_idx = far != NULL ? (size_t)(far - profile->ranks) : SIZE_MAX;
		out->rows[out->n_rows++] = row;
	}
	return FSL_OK;
}

static int size_class_of(const struct fsl_link_row *row)
{
	return (int)lround(log2((double)row->n_bytes / (double)row->n_steps));
}

double fsl_link_gb_per_s(const struct fsl_link_row *row)
{
	return (double)row->n_bytes / (double)row->time_ns;
}

int fsl_link_compare_kind(const struct fsl_link_row *a, const struct fsl_link_row *b)
{
	FSL_ORDER_BY(a->transport, b->transport);
	FSL_ORDER_BY(strcmp(a->type, b->type), 0);
	return FSL_ORDER(a->size_class, b->size_class);
}

static int compare_ends(const struct fsl_link_row *a, const struct fsl_link_row *b)
{
	FSL_ORDER_BY(strcmp(a->group, b->group), 0);
	FSL_ORDER_BY(a->src, b->src);
	return FSL_ORDER(a->dst_number, b->dst_number);
}

static int compare_links(const void *left, const void *right)
{
	const struct fsl_link_row *a = left, *b = right;
	FSL_ORDER_BY(a->transport, b->transport);
	FSL_ORDER_BY(strcmp(a->type, b->type), 0);
	return compare_ends(a, b);
}

static int compare_rows(const void *left, const void *right)
{
	int order = fsl_link_compare_kind(left, right);
	return order != 0 ? order : compare_ends(left, right);
}

/* Steps of the same link become one row. */
static void merge_steps(struct fsl_link_table *table)
{
	size_t n = 0;
	qsort(table->rows, table->n_rows, sizeof(*table->rows), compare_links);
	for (size_t i = 0; i < table->n_rows; i++) {
		if (n > 0 && compare_links(&table->rows[n - 1], &table->rows[i]) == 0) {
			struct fsl_link_row *sum = &table->rows[n - 1];
			sum->n_bytes = fsl_sum_i64(sum->n_bytes, table->rows[i].n_bytes);
			sum->time_ns = fsl_sum_i64(sum->time_ns, table->rows[i].time_ns);
		} else {
			table->rows[n++] = table->rows[i];
		}
	}
	table->n_rows = n;
	for (size_t i = 0; i < n; i++) {
		table->rows[i].size_class = size_class_of(&table->rows[i]);
	}
	qsort(table->rows, table->n_rows, sizeof(*table->rows), compare_rows);
}

enum fsl_status fsl_link_table_build(struct fsl_link_table *out, const struct fsl_profile *profile,
				     const struct fsl_profile_cluster *cluster,
				     struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct places places = {0};
	size_t n_max = 0;
	*out = (struct fsl_link_table){0};
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_max += profile->ranks[r].n_links;
	}
	enum fsl_status status = FSL_ARENA_NEW(out->rows, &out->arena, n_max + 1, "links", err);
	FSL_THEN(status, find_places(&places, &scratch, profile, err));
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		status = add_rows(out, &places, profile, r, cluster, err);
	}
	fsl_arena_fini(&scratch);
	if (status != FSL_OK) {
		fsl_link_table_fini(out);
		return status;
	}
	merge_steps(out);
	return FSL_OK;
}

void fsl_link_table_fini(struct fsl_link_table *table)
{
	fsl_arena_fini(&table->arena);
	*table = (struct fsl_link_table){0};
}
