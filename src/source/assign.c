/* Files to ranks: one marker file and one log a rank, all its timelines and step-time files. */
#include "source/assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/try.h"

void fsl_part_free_events(struct fsl_part *part)
{
	struct fsl_rank *events = &part->events;
	fsl_free(events->ops);
	fsl_free(events->remnants);
	fsl_free(events->stages);
	fsl_free(events->steps);
	*events = (struct fsl_rank){
		.rank = events->rank,
		.last_event_ns = FSL_NS_ABSENT,
		.open_op_id = FSL_STR_NONE,
		.open_group_id = FSL_STR_NONE,
		.open_begin_ns = FSL_NS_ABSENT,
	};
}

static bool has_events(const struct fsl_part *part)
{
	const struct fsl_rank *events = &part->events;
	return events->n_ops > 0 || events->n_stages > 0 || events->n_steps > 0;
}

static bool is_usable(const struct fsl_file *file)
{
	return file->state == FSL_FILE_READ || file->state == FSL_FILE_PARTIAL;
}

/* A broken marker file counts, too: the rank exists and its data are lost. */
static bool speaks_for_rank(const struct fsl_part *part, const struct fsl_file *file)
{
	return part->kind == FSL_INPUT_MARKERS || is_usable(file);
}

static const char *message(struct fsl_run *run, const char *text)
{
	return text != NULL ? text : fsl_arena_strdup(&run->arena, "out of memory");
}

/* The rank that the name of the file tells, else the rank that its content tells. */
static int32_t told_rank(const struct fsl_part *part)
{
	const struct fsl_file_name *told = &part->input->told;
	return told->rank_state == FSL_NAME_HAS_RANK ? told->rank : part->events.rank;
}

/*
 * A file may tell no rank: the launcher set none, or the collector wrote -1. The only marker file
 * then belongs to rank 0. The only other file of its kind belongs to the lowest rank that has
 * markers, and so does every log, which the job prints once.
 */
static void resolve_ranks(struct fsl_run *run, const struct fsl_part *parts, size_t n_parts)
{
	size_t n_kind[FSL_INPUT_LOG + 1] = {0};
	int32_t lowest = FSL_RANKS_MAX;
	for (size_t i = 0; i < n_parts; i++) {
		struct fsl_file *file = &run->files[parts[i].file_idx];
		int32_t rank = told_rank(&parts[i]);
		n_kind[parts[i].kind] += rank != FSL_RANK_UNKNOWN || is_usable(file) ? 1 : 0;
		file->rank = rank;
		if (parts[i].kind == FSL_INPUT_MARKERS && rank >= 0 && rank < lowest) {
			lowest = rank;
		}
	}
	int32_t only = lowest < FSL_RANKS_MAX ? lowest : 0;
	for (size_t i = 0; i < n_parts; i++) {
		struct fsl_file *file = &run->files[parts[i].file_idx];
		if (file->rank != FSL_RANK_UNKNOWN || !is_usable(file)) {
			continue;
		}
		if (n_kind[parts[i].kind] == 1 || parts[i].kind == FSL_INPUT_LOG) {
			file->rank = only;
		} else {
			file->state = FSL_FILE_UNUSABLE;
			file->message =
				"neither name nor content tells the rank (-1, or too large): "
				"put it into the name, as in hccl_activity-<ip>-.<rank>.csv";
		}
	}
}

/* A part as it is sorted. */
struct candidate {
	struct fsl_part *part;
	struct fsl_file *file;
};

/* By rank, then kind; within them the best first: usable, largest, first by path. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = (a->file->rank > b->file->rank) - (a->file->rank < b->file->rank);
	order = order != 0 ? order
			   : (a->part->kind > b->part->kind) - (a->part->kind < b->part->kind);
	order = order != 0 ? order : (int)has_events(b->part) - (int)has_events(a->part);
	order = order != 0 ? order
			   : (a->file->n_bytes < b->file->n_bytes) -
				     (a->file->n_bytes > b->file->n_bytes);
	return order != 0 ? order
			  : (a->part->file_idx > b->part->file_idx) -
				    (a->part->file_idx < b->part->file_idx);
}

static bool excludes_others(enum fsl_input_kind kind)
{
	return kind == FSL_INPUT_MARKERS || kind == FSL_INPUT_LOG;
}

/* Only the best marker file and log of a rank is used. @items are sorted. */
static void settle_duplicates(struct fsl_run *run, struct candidate *items, size_t n_items)
{
	const struct candidate *best = NULL;
	for (size_t i = 0; i < n_items; i++) {
		struct candidate *item = &items[i];
		if (best == NULL || item->file->rank == FSL_RANK_UNKNOWN ||
		    best->file->rank != item->file->rank || best->part->kind != item->part->kind ||
		    !excludes_others(item->part->kind)) {
			best = item;
			continue;
		}
		fsl_part_free_events(item->part);
		if (item->file->state == FSL_FILE_UNUSABLE || item->file->state == FSL_FILE_EMPTY) {
			continue; /* its own message says more */
		}
		item->file->state = FSL_FILE_DUPLICATE;
		item->file->message = message(
			run, fsl_arena_printf(&run->arena,
					      "another file of the same rank is used; move one of "
					      "them away: rank=%d, used=\"%s\"",
					      item->file->rank, best->file->path));
	}
}

/* An array of a rank. */
struct list {
	void **items;
	size_t *n, *capacity, item_bytes;
};

#define LIST(rank, field)                                                                          \
	((struct list){(void **)&(rank)->field, &(rank)->n_##field, &(rank)->field##_capacity,     \
		       sizeof(*(rank)->field)})

/* Moves an array to its rank, or its elements behind those of an earlier file. */
static enum fsl_status take(struct list to, struct list from, struct fsl_error *err)
{
	if (*to.n == 0) {
		fsl_free(*to.items);
		*to.items = *from.items;
		*to.n = *from.n;
		*to.capacity = *from.capacity;
		*from.items = NULL;
		return FSL_OK;
	}
	FSL_TRY(fsl_reserve(to.items, to.capacity, *to.n + *from.n, to.item_bytes, err));
	if (*from.n > 0) {
		memcpy((char *)*to.items + *to.n * to.item_bytes, *from.items,
		       *from.n * to.item_bytes);
		*to.n += *from.n;
	}
	return FSL_OK;
}

/* The markers know the address, timelines only the host's name: items come in order of kind. */
static enum fsl_status take_host(struct fsl_run *run, struct fsl_rank *rank,
				 const struct fsl_input *input, bool *has_host,
				 struct fsl_error *err)
{
	if (*has_host || input->told.n_host == 0) {
		return FSL_OK;
	}
	const char *host = fsl_arena_strndup(&run->arena, input->told.host, input->told.n_host);
	if (host == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	rank->server_ip = host;
	*has_host = true;
	return FSL_OK;
}

enum fsl_status fsl_part_take(struct fsl_rank *rank, struct fsl_part *part, struct fsl_error *err)
{
	struct fsl_rank *events = &part->events;
	rank->has_markers_file |= part->kind == FSL_INPUT_MARKERS;
	rank->is_restarted |= events->is_restarted;
	if (events->last_event_ns > rank->last_event_ns) {
		rank->last_event_ns = events->last_event_ns;
	}
	if (events->open_op_id != FSL_STR_NONE) {
		rank->open_op_id = events->open_op_id;
		rank->open_group_id = events->open_group_id;
		rank->open_begin_ns = events->open_begin_ns;
	}
	if (events->n_ops > 0) {
		rank->is_rising = rank->n_ops == 0 && events->is_rising;
	}
	FSL_TRY(take(LIST(rank, ops), LIST(events, ops), err));
	FSL_TRY(take(LIST(rank, remnants), LIST(events, remnants), err));
	FSL_TRY(take(LIST(rank, stages), LIST(events, stages), err));
	FSL_TRY(take(LIST(rank, steps), LIST(events, steps), err));
	fsl_part_free_events(part);
	return FSL_OK;
}

/* Ranks are added in rising order, which costs nothing per rank. */
static enum fsl_status fill_ranks(struct fsl_run *run, const struct candidate *items,
				  size_t n_items, struct fsl_error *err)
{
	int32_t last = FSL_RANK_UNKNOWN;
	bool has_host = false;
	for (size_t i = 0; i < n_items; i++) {
		struct fsl_part *part = items[i].part;
		const struct fsl_file *file = items[i].file;
		if (file->rank == FSL_RANK_UNKNOWN || file->state == FSL_FILE_DUPLICATE ||
		    !speaks_for_rank(part, file)) {
			fsl_part_free_events(part);
			continue;
		}
		struct fsl_rank *rank = fsl_run_add_rank(run, file->rank, err);
		if (rank == NULL) {
			return FSL_ERR_MEMORY;
		}
		has_host = has_host && file->rank == last;
		last = file->rank;
		FSL_TRY(take_host(run, rank, part->input, &has_host, err));
		FSL_TRY(fsl_part_take(rank, part, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_parts_assign(struct fsl_run *run, struct fsl_part *parts, size_t n_parts,
				 struct fsl_error *err)
{
	struct candidate *items = fsl_calloc(n_parts, sizeof(*items));
	if (items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", n_parts);
	}
	resolve_ranks(run, parts, n_parts);
	for (size_t i = 0; i < n_parts; i++) {
		items[i] = (struct candidate){&parts[i], &run->files[parts[i].file_idx]};
	}
	qsort(items, n_parts, sizeof(*items), compare_candidates);
	settle_duplicates(run, items, n_parts);
	enum fsl_status status = fill_ranks(run, items, n_parts, err);
	fsl_free(items);
	return status;
}
