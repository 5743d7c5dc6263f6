/*
 * Reads input files into a run: on threads, in batches, and assigns them to ranks. Files are merged
 * in order of path, so that name ids and results do not depend on the number of threads.
 */
#include "source/stream.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/try.h"
#include "source/batch.h"
#include "source/share.h"
#include "team/team.h"

/* One file whose names are already names of the run. */
struct part {
	struct fsl_rank events; /* owned; emptied when a rank takes it */
	const struct fsl_input *input;
	enum fsl_input_kind kind;
	size_t file_idx; /* its place in run->files */
};

struct parts {
	struct part *items;
	size_t n_items, capacity;
};

static void free_events(struct part *part)
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

static bool has_events(const struct part *part)
{
	const struct fsl_rank *events = &part->events;
	return events->n_ops > 0 || events->n_stages > 0 || events->n_steps > 0;
}

static bool is_usable(const struct fsl_file *file)
{
	return file->state == FSL_FILE_READ || file->state == FSL_FILE_PARTIAL;
}

/* A broken marker file counts, too: the rank exists and its data are lost. */
static bool speaks_for_rank(const struct part *part, const struct fsl_file *file)
{
	return part->kind == FSL_INPUT_MARKERS || is_usable(file);
}

static const char *message(struct fsl_run *run, const char *text)
{
	return text != NULL ? text : fsl_arena_strdup(&run->arena, "out of memory");
}

/* The rank that the name of the file tells, else the rank that its content tells. */
static int32_t told_rank(const struct part *part)
{
	const struct fsl_file_name *told = &part->input->told;
	return told->rank_state == FSL_NAME_HAS_RANK ? told->rank : part->events.rank;
}

/*
 * A file may tell no rank: the launcher set none, or the collector wrote -1. The only marker file
 * then belongs to rank 0. The only other file of its kind belongs to the lowest rank that has
 * markers, and so does every log, which the job prints once.
 */
static void resolve_ranks(struct fsl_run *run, const struct part *parts, size_t n_parts)
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
	struct part *part;
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
		free_events(item->part);
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

/* Moves the events of a file, or of one more piece of it, to its rank. */
static enum fsl_status take_part(struct fsl_rank *rank, struct part *part, struct fsl_error *err)
{
	struct fsl_rank *events = &part->events;
	rank->has_markers_file |= part->kind == FSL_INPUT_MARKERS;
	rank->is_restarted |= events->is_restarted;
	rank->n_restarts =
		events->n_restarts > rank->n_restarts ? events->n_restarts : rank->n_restarts;
	rank->finished_ns =
		events->finished_ns > rank->finished_ns ? events->finished_ns : rank->finished_ns;
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
	free_events(part);
	return FSL_OK;
}

/* Ranks are added in rising order, which costs nothing per rank. */
static enum fsl_status fill_ranks(struct fsl_run *run, const struct candidate *items,
				  size_t n_items, struct fsl_error *err)
{
	int32_t last = FSL_RANK_UNKNOWN;
	bool has_host = false;
	for (size_t i = 0; i < n_items; i++) {
		struct part *part = items[i].part;
		const struct fsl_file *file = items[i].file;
		if (file->rank == FSL_RANK_UNKNOWN || file->state == FSL_FILE_DUPLICATE ||
		    !speaks_for_rank(part, file)) {
			free_events(part);
			continue;
		}
		struct fsl_rank *rank = fsl_run_add_rank(run, file->rank, err);
		if (rank == NULL) {
			return FSL_ERR_MEMORY;
		}
		has_host = has_host && file->rank == last;
		last = file->rank;
		FSL_TRY(take_host(run, rank, part->input, &has_host, err));
		FSL_TRY(take_part(rank, part, err));
	}
	return FSL_OK;
}

/* Fills run->ranks from @parts, which come in order of path: one marker file and one log a rank,
 * all its timelines and step-time files. Reorders and empties @parts. A duplicate that is not used
 * gets FSL_FILE_DUPLICATE and a message in run->files. */
static enum fsl_status assign_parts(struct fsl_run *run, struct part *parts, size_t n_parts,
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

static void parts_fini(struct parts *parts)
{
	for (size_t i = 0; i < parts->n_items; i++) {
		free_events(&parts->items[i]);
	}
	fsl_free(parts->items);
}

static int thread_count(const struct fsl_ingest_options *options)
{
	return options->n_threads > 0 ? options->n_threads : omp_get_num_procs();
}

/* If other processes of this host read, too, they share its cores. */
static int reader_count(const struct fsl_ingest_options *options)
{
	int n_share = fsl_team_threads();
	return options->n_threads > 0 || n_share == 0 ? thread_count(options) : n_share;
}

/* Reads the inputs of @loads, in this process and in others. */
static enum fsl_status read_batch(struct fsl_share *share, struct fsl_load *loads, size_t n_loads,
				  const struct fsl_ingest_options *options, struct fsl_error *err)
{
	FSL_TRY(fsl_share_deal(share, loads, n_loads, err));
	FSL_TRY(fsl_batch_read(loads, n_loads, options->from_ns, options->to_ns,
			       reader_count(options), err));
	return fsl_share_gather(loads, n_loads, thread_count(options), err);
}

static uint32_t map_id(const uint32_t *map, uint32_t id)
{
	return id != FSL_STR_NONE ? map[id] : FSL_STR_NONE;
}

static void rename_ops(struct fsl_op *ops, size_t n, const uint32_t *map)
{
	for (size_t i = 0; i < n; i++) {
		ops[i].op_id = map_id(map, ops[i].op_id);
		ops[i].group_id = map_id(map, ops[i].group_id);
		ops[i].dtype_id = map_id(map, ops[i].dtype_id);
	}
}

static void rename_events(struct fsl_rank *events, const uint32_t *map)
{
	rename_ops(events->ops, events->n_ops, map);
	rename_ops(events->remnants, events->n_remnants, map);
	for (size_t i = 0; i < events->n_stages; i++) {
		struct fsl_stage *stage = &events->stages[i];
		stage->type_id = map_id(map, stage->type_id);
		stage->frame = map_id(map, stage->frame - 1) + 1; /* 0 stays 0 */
		stage->stack = map_id(map, stage->stack - 1) + 1;
	}
	events->open_op_id = map_id(map, events->open_op_id);
	events->open_group_id = map_id(map, events->open_group_id);
}

/* Adds the names of one file to the run. *map_out: id in the run for each id of the file; free it
 * with fsl_free. NULL if the ids are equal already, as ranks of one job use the same names in the
 * same order. */
static enum fsl_status map_names(struct fsl_run *run, const struct fsl_sink *sink,
				 uint32_t **map_out, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(sink->names);
	uint32_t *map = fsl_calloc(n_names, sizeof(*map));
	if (map == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names);
	}
	enum fsl_status status = FSL_OK;
	bool is_same = true;
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		const char *text = fsl_strpool_text(sink->names, (uint32_t)i);
		status = fsl_strpool_intern(run->names, text, strlen(text), &map[i], err);
		is_same = is_same && map[i] == i;
	}
	bool is_needed = status == FSL_OK && !is_same;
	*map_out = is_needed ? map : NULL;
	if (!is_needed) {
		fsl_free(map);
	}
	return status;
}

/* As map_names; a file with names too many for the run becomes unusable. */
static enum fsl_status map_load(struct fsl_run *run, struct fsl_load *load, uint32_t **map_out,
				struct fsl_error *err)
{
	struct fsl_error cause = {0};
	enum fsl_status status = map_names(run, &load->sink, map_out, &cause);
	if (status == FSL_ERR_LIMIT) {
		fsl_sink_unusable(&load->sink, "%s; point root_path at one job",
				  fsl_error_root(&cause));
		load->sink.events.n_ops = load->sink.events.n_stages = 0;
		load->sink.events.n_remnants = 0;
		load->sink.events.open_op_id = load->sink.events.open_group_id = FSL_STR_NONE;
		return FSL_OK;
	}
	return status == FSL_OK
		       ? FSL_OK
		       : FSL_FAIL(err, status, "out of memory: path=\"%s\"", load->input->path);
}

/* Gives the names of a batch their ids in the run: ids in order of path, operators on threads. */
static enum fsl_status rename_loads(struct fsl_run *run, struct fsl_load *loads, size_t n_loads,
				    int n_threads, struct fsl_error *err)
{
	uint32_t *maps[FSL_BATCH_FILES] = {NULL};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n_loads && status == FSL_OK; i++) {
		if (!loads[i].is_ignored) {
			status = map_load(run, &loads[i], &maps[i], err);
		}
	}
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
	for (size_t i = 0; i < n_loads; i++) {
		if (maps[i] != NULL) {
			rename_events(&loads[i].sink.events, maps[i]);
			fsl_free(maps[i]);
		}
	}
	return status;
}

/* Takes the events that were read so far out of a sink, which goes on without. */
static struct fsl_rank give_events(struct fsl_sink *sink)
{
	struct fsl_rank *events = &sink->events, given = *events;
	sink->has_given |= given.n_ops > 0 || given.n_stages > 0 || given.n_steps > 0;
	*events = (struct fsl_rank){
		.rank = given.rank,
		.last_event_ns = given.last_event_ns,
		.is_restarted = given.is_restarted,
		.n_restarts = given.n_restarts,
		.open_op_id = FSL_STR_NONE,
		.open_group_id = FSL_STR_NONE,
		.open_begin_ns = FSL_NS_ABSENT,
	};
	return given;
}

/* Makes one read file part of the run. */
static enum fsl_status merge_load(struct fsl_run *run, struct parts *parts, struct fsl_load *load,
				  size_t *file_of, struct fsl_error *err)
{
	struct fsl_error cause = {0};
	*file_of = SIZE_MAX;
	if (load->is_ignored && load->file.state == FSL_FILE_UNUSABLE && run->unknown_log == NULL &&
	    load->kind == FSL_INPUT_LOG) {
		run->unknown_log = fsl_arena_printf(&run->arena, "%s, file=\"%s\"",
						    load->file.message, load->file.path);
	}
	if (load->is_ignored) {
		fsl_log(FSL_LOG_DEBUG, "ingest", "no input, left alone: path=\"%s\"",
			load->input->path);
		return FSL_OK;
	}
	enum fsl_status status =
		FSL_GROW(run->files, run->files_capacity, run->n_files + 1, &cause);
	if (status == FSL_OK) {
		status = FSL_GROW(parts->items, parts->capacity, parts->n_items + 1, &cause);
	}
	struct fsl_file file = load->file;
	if (status == FSL_OK) {
		file.path = fsl_arena_strdup(&run->arena, load->file.path);
		file.message = fsl_arena_strdup(&run->arena, load->file.message);
		status = file.path != NULL && file.message != NULL ? FSL_OK : FSL_ERR_MEMORY;
	}
	if (status != FSL_OK) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", load->input->path);
	}
	parts->items[parts->n_items++] = (struct part){
		.events = give_events(&load->sink),
		.input = load->input,
		.kind = load->kind,
		.file_idx = run->n_files,
	};
	*file_of = run->n_files;
	run->files[run->n_files++] = file;
	return FSL_OK;
}

struct fsl_stream {
	const struct fsl_inputs *inputs;
	struct fsl_ingest_options options;
	struct fsl_pieces pieces;
	struct fsl_load *loads; /* one for each input */
	size_t *file_of;        /* index in run->files for each load; SIZE_MAX: none */
	struct fsl_file_past *pasts;
	struct fsl_arena arena; /* messages of notes */
	bool is_begun;
};

/* Lets a file go on from its newest note that does not lie behind the boundary. */
static void resume_file(struct fsl_load *load, const struct fsl_file_past *past,
			const struct fsl_resume *resume)
{
	load->forget_ns = resume->boundary_ns - resume->lead_ns;
	for (size_t k = past->n_notes; k-- > 0 && load->resume == NULL;) {
		const struct fsl_note *note = &past->notes[k];
		if (note->boundary_ns <= resume->boundary_ns) {
			load->resume = note;
			load->enter_ns = note->boundary_ns - resume->lead_ns - resume->slack_ns;
		}
	}
}

const struct fsl_file_past *fsl_stream_files(const struct fsl_stream *stream)
{
	return stream->pasts;
}

enum fsl_status fsl_stream_open(struct fsl_stream **out, const struct fsl_inputs *inputs,
				const struct fsl_ingest_options *options,
				const struct fsl_pieces *pieces, double n_pieces,
				const struct fsl_resume *resume, struct fsl_error *err)
{
	size_t n = inputs->n_items;
	struct fsl_stream *stream = fsl_calloc(1, sizeof(*stream));
	struct fsl_load *loads = fsl_calloc(n, sizeof(*loads));
	size_t *file_of = fsl_calloc(n, sizeof(*file_of));
	struct fsl_file_past *pasts = fsl_calloc(n, sizeof(*pasts));
	if (stream == NULL || loads == NULL || file_of == NULL || pasts == NULL) {
		fsl_free(stream);
		fsl_free(loads);
		fsl_free(file_of);
		fsl_free(pasts);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", n);
	}
	*stream = (struct fsl_stream){.inputs = inputs,
				      .options = *options,
				      .loads = loads,
				      .file_of = file_of,
				      .pasts = pasts};
	for (size_t i = 0; i < n; i++) {
		const struct fsl_input *input = &inputs->items[i];
		loads[i] = (struct fsl_load){
			.input = input,
			.is_range_for_stages = options->is_range_for_stages,
			.keeps_stacks = options->keeps_stacks,
			.log_patterns = options->log_patterns,
			.n_log_patterns = options->n_log_patterns,
			.pieces = pieces != NULL ? &stream->pieces : NULL,
			.forget_ns = INT64_MIN,
			.piece_bytes = (size_t)((double)input->n_bytes / fmax(1.0, n_pieces))};
		if (resume != NULL) {
			resume_file(&loads[i], &resume->files[i], resume);
		}
		pasts[i] = (struct fsl_file_past){.path = input->path,
						  .device = (uint64_t)input->device,
						  .inode = (uint64_t)input->inode,
						  .last_event_ns = FSL_NS_ABSENT};
	}
	if (pieces != NULL) {
		stream->pieces = *pieces;
	}
	*out = stream;
	return FSL_OK;
}

void fsl_stream_close(struct fsl_stream *stream)
{
	if (stream == NULL) {
		return;
	}
	for (size_t i = 0; i < stream->inputs->n_items; i++) {
		fsl_load_fini(&stream->loads[i]);
	}
	fsl_free(stream->loads);
	fsl_free(stream->file_of);
	fsl_free(stream->pasts);
	fsl_arena_fini(&stream->arena);
	fsl_free(stream);
}

/* Notes for a later run the facts about a file that was read to its end. */
static enum fsl_status note_past(struct fsl_stream *stream, size_t idx, struct fsl_error *err)
{
	const struct fsl_sink *sink = &stream->loads[idx].sink;
	struct fsl_file_past *past = &stream->pasts[idx];
	past->n_bytes = stream->loads[idx].file.n_bytes;
	past->last_event_ns = sink->events.last_event_ns;
	past->n_notes = stream->loads[idx].is_packed ? 0 : sink->n_notes;
	for (size_t k = 0; k < past->n_notes; k++) {
		past->notes[k] = sink->notes[k];
		past->notes[k].message = fsl_arena_strdup(&stream->arena, sink->notes[k].message);
		if (past->notes[k].message == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
					past->path);
		}
	}
	return FSL_OK;
}

/* Updates the record of a file in the run with all that was read so far. */
static enum fsl_status update_file(struct fsl_run *run, struct fsl_file *file,
				   const struct fsl_load *load, struct fsl_error *err)
{
	const struct fsl_file *now = &load->file;
	memcpy(file->n_dropped, now->n_dropped, sizeof(file->n_dropped));
	file->n_records = now->n_records;
	bool is_settled = file->state != FSL_FILE_READ && file->state != FSL_FILE_PARTIAL;
	if (now->state == FSL_FILE_READ || is_settled ||
	    (now->state == file->state && strcmp(now->message, file->message) == 0)) {
		return FSL_OK;
	}
	file->state = now->state;
	file->message = fsl_arena_strdup(&run->arena, now->message);
	return file->message != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", file->path);
}

/* Gives the next piece of a file to its rank. */
static enum fsl_status append_load(struct fsl_run *run, struct fsl_load *load, size_t file_idx,
				   struct fsl_error *err)
{
	if (file_idx == SIZE_MAX) {
		return FSL_OK;
	}
	struct fsl_file *file = &run->files[file_idx];
	struct part part = {.events = give_events(&load->sink),
			    .input = load->input,
			    .kind = load->kind,
			    .file_idx = file_idx};
	enum fsl_status status = update_file(run, file, load, err);
	bool is_used = status == FSL_OK && file->rank != FSL_RANK_UNKNOWN &&
		       file->state != FSL_FILE_DUPLICATE;
	struct fsl_rank *rank = is_used ? fsl_run_add_rank(run, file->rank, err) : NULL;
	if (rank != NULL) {
		status = take_part(rank, &part, err);
	} else if (is_used) {
		status = FSL_ERR_MEMORY;
	}
	free_events(&part);
	return status;
}

/* Makes a batch that was read part of the run. */
static enum fsl_status merge_batch(struct fsl_stream *stream, struct fsl_run *run,
				   struct parts *parts, size_t begin, size_t n_loads,
				   const bool *was_done, struct fsl_error *err)
{
	struct fsl_load *loads = &stream->loads[begin];
	enum fsl_status status =
		rename_loads(run, loads, n_loads, thread_count(&stream->options), err);
	for (size_t i = 0; i < n_loads && status == FSL_OK; i++) {
		size_t *file_of = &stream->file_of[begin + i];
		if (!stream->is_begun) {
			status = merge_load(run, parts, &loads[i], file_of, err);
		} else if (!was_done[i]) {
			status = append_load(run, &loads[i], *file_of, err);
		}
		bool is_over = loads[i].is_done || loads[i].place != 0;
		if (status == FSL_OK && is_over && !was_done[i]) {
			status = note_past(stream, begin + i, err);
		}
		if (is_over) {
			fsl_load_fini(&loads[i]);
			loads[i].is_done = true;
			loads[i].is_ignored = true; /* it has no names any more */
		}
	}
	return status;
}

static enum fsl_status read_pieces(struct fsl_stream *stream, struct fsl_run *run,
				   struct parts *parts, int64_t until_ns, struct fsl_error *err)
{
	size_t n = stream->inputs->n_items;
	struct fsl_share share = {0};
	enum fsl_status status = fsl_share_begin(&share, &stream->options, stream->inputs, err);
	stream->pieces.pause_ns = until_ns;
	for (size_t begin = 0; status == FSL_OK && begin < n; begin += FSL_BATCH_FILES) {
		size_t n_loads = n - begin < FSL_BATCH_FILES ? n - begin : FSL_BATCH_FILES;
		struct fsl_load *loads = &stream->loads[begin];
		bool was_done[FSL_BATCH_FILES] = {false};
		for (size_t i = 0; i < n_loads; i++) {
			was_done[i] = loads[i].is_done;
			loads[i].sink.pieces.pause_ns = until_ns;
		}
		status = read_batch(&share, loads, n_loads, &stream->options, err);
		if (status == FSL_OK) {
			status = merge_batch(stream, run, parts, begin, n_loads, was_done, err);
		}
	}
	fsl_share_fini(&share);
	return status;
}

static void normalise_ranks(struct fsl_run *run, const struct fsl_ingest_options *options)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(thread_count(options))
	for (size_t i = 0; i < run->n_ranks; i++) {
		fsl_rank_normalise(&run->ranks[i]);
	}
}

enum fsl_status fsl_stream_read(struct fsl_stream *stream, struct fsl_run *run, int64_t until_ns,
				struct fsl_error *err)
{
	struct parts parts = {0};
	enum fsl_status status = read_pieces(stream, run, &parts, until_ns, err);
	if (status == FSL_OK && !stream->is_begun) {
		status = assign_parts(run, parts.items, parts.n_items, err);
	}
	stream->is_begun = true;
	parts_fini(&parts);
	if (status == FSL_OK) {
		normalise_ranks(run, &stream->options);
	}
	return status;
}
