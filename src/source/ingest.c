/*
 * A run directory to a run: files are read on threads in batches, merged in order of path, so that
 * name ids and results do not depend on the number of threads, and handed to their ranks.
 */
#include "source/ingest.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "source/assign.h"
#include "source/batch.h"
#include "source/discover.h"
#include "source/share.h"
#include "team/team.h"

enum { WARNINGS_MAX = 5 }; /* files named in the log; all of them stand in the verdict */

struct parts {
	struct fsl_part *items;
	size_t n_items, capacity;
};

static void parts_fini(struct parts *parts)
{
	for (size_t i = 0; i < parts->n_items; i++) {
		fsl_part_free_events(&parts->items[i]);
	}
	fsl_free(parts->items);
}

static int thread_count(const struct fsl_ingest_options *options)
{
	return options->n_threads > 0 ? options->n_threads : omp_get_num_procs();
}

/* While others read, too, the cores of the host are divided. */
static int reader_count(const struct fsl_ingest_options *options)
{
	int n_share = fsl_team_threads();
	return options->n_threads > 0 || n_share == 0 ? thread_count(options) : n_share;
}

/* Reads the inputs of @loads, here and elsewhere. */
static enum fsl_status read_batch(struct fsl_share *share, struct fsl_load *loads, size_t n_loads,
				  const struct fsl_ingest_options *options, struct fsl_error *err)
{
	enum fsl_status status = fsl_share_deal(share, loads, n_loads, err);
	if (status == FSL_OK) {
		status = fsl_batch_read(loads, n_loads, options->from_ns, options->to_ns,
					reader_count(options), err);
	}
	if (status == FSL_OK) {
		status = fsl_share_gather(loads, n_loads, thread_count(options), err);
	}
	return status;
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
		events->stages[i].type_id = map_id(map, events->stages[i].type_id);
	}
	events->open_op_id = map_id(map, events->open_op_id);
	events->open_group_id = map_id(map, events->open_group_id);
}

/* Names of one file become names of the run: *map_out, free with fsl_free; NULL where they are the
 * same already, as ranks of one job use the same names in the same order. */
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

/* Makes one read file part of the run. */
static enum fsl_status merge_load(struct fsl_run *run, struct parts *parts, struct fsl_load *load,
				  struct fsl_error *err)
{
	struct fsl_error cause = {0};
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
	parts->items[parts->n_items++] = (struct fsl_part){
		.events = load->sink.events,
		.input = load->input,
		.kind = load->kind,
		.file_idx = run->n_files,
	};
	load->sink.events = (struct fsl_rank){0};
	run->files[run->n_files++] = file;
	return FSL_OK;
}

/* The next inputs, ready to be read. */
static void fill_batch(struct fsl_load *loads, const struct fsl_input *inputs, size_t n_inputs,
		       const struct fsl_ingest_options *options)
{
	for (size_t i = 0; i < n_inputs; i++) {
		loads[i] = (struct fsl_load){.input = &inputs[i],
					     .is_range_for_stages = options->is_range_for_stages};
	}
}

/* Makes a batch that was read part of the run. */
static enum fsl_status merge_batch(struct fsl_run *run, struct parts *parts, struct fsl_load *loads,
				   size_t n_loads, const struct fsl_ingest_options *options,
				   struct fsl_error *err)
{
	enum fsl_status status = rename_loads(run, loads, n_loads, thread_count(options), err);
	for (size_t i = 0; i < n_loads && status == FSL_OK; i++) {
		status = merge_load(run, parts, &loads[i], err);
	}
	return status;
}

static enum fsl_status read_inputs(struct fsl_run *run, const struct fsl_inputs *inputs,
				   const struct fsl_ingest_options *options, struct parts *parts,
				   struct fsl_error *err)
{
	size_t n = inputs->n_items;
	size_t n_room = n < FSL_BATCH_FILES ? n : FSL_BATCH_FILES;
	struct fsl_load *loads = fsl_calloc(n_room, sizeof(*loads));
	struct fsl_share share = {0};
	if (loads == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", n_room);
	}
	enum fsl_status status = fsl_share_begin(&share, options, inputs, err);
	for (size_t begin = 0; status == FSL_OK && begin < n; begin += FSL_BATCH_FILES) {
		size_t n_loads = n - begin < FSL_BATCH_FILES ? n - begin : FSL_BATCH_FILES;
		fill_batch(loads, &inputs->items[begin], n_loads, options);
		status = read_batch(&share, loads, n_loads, options, err);
		if (status == FSL_OK) {
			status = merge_batch(run, parts, loads, n_loads, options, err);
		}
		for (size_t i = 0; i < n_loads; i++) {
			fsl_sink_fini(&loads[i].sink);
		}
	}
	fsl_share_fini(&share);
	fsl_free(loads);
	return status;
}

static void normalise_ranks(struct fsl_run *run, const struct fsl_ingest_options *options)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(thread_count(options))
	for (size_t i = 0; i < run->n_ranks; i++) {
		fsl_rank_normalise(&run->ranks[i]);
	}
}

static bool is_used(const struct fsl_file *file)
{
	return file->state == FSL_FILE_READ || file->state == FSL_FILE_PARTIAL;
}

static void log_files(const struct fsl_run *run)
{
	size_t n_warned = 0, n_more = 0;
	for (size_t i = 0; i < run->n_files; i++) {
		const struct fsl_file *file = &run->files[i];
		if (file->state == FSL_FILE_READ) {
			continue;
		}
		if (n_warned == WARNINGS_MAX) {
			n_more++;
			continue;
		}
		n_warned++;
		fsl_log(FSL_LOG_WARNING, "ingest", "%s: file=\"%s\", state=\"%s\"", file->message,
			file->path, fsl_file_state_text(file->state));
	}
	if (n_more > 0) {
		fsl_log(FSL_LOG_WARNING, "ingest",
			"more files are not fully usable, the verdict's coverage counts them: "
			"files=%zu",
			n_more);
	}
	fsl_log(FSL_LOG_INFO, "ingest", "inputs read: files=%zu, ranks=%zu", run->n_files,
		run->n_ranks);
}

/* FSL_ERR_INPUT when not one file could be used. */
static enum fsl_status check_usable(const struct fsl_run *run,
				    const struct fsl_ingest_options *options, struct fsl_error *err)
{
	const char *first = "", *path = options->root_path;
	for (size_t i = 0; i < run->n_files; i++) {
		if (is_used(&run->files[i])) {
			return FSL_OK;
		}
		first = first[0] == '\0' ? run->files[i].message : first;
	}
	path = path != NULL && path[0] != '\0' ? path : options->training_log;
	path = path != NULL ? path : "";
	if (run->n_files == 0) {
		return FSL_FAIL(
			err, FSL_ERR_INPUT,
			"no input found, point DIR or root_path at the folder with the marker "
			"files (hccl_activity-<ip>-.<rank>.csv) or at the tree above it: "
			"path=\"%s\"",
			path);
	}
	return FSL_FAIL(err, FSL_ERR_INPUT,
			"no input could be used: path=\"%s\", files=%zu, first=\"%s\"", path,
			run->n_files, first);
}

enum fsl_status fsl_ingest_inputs(struct fsl_run *run, const struct fsl_inputs *inputs,
				  const struct fsl_ingest_options *options, struct fsl_error *err)
{
	struct parts parts = {0};
	enum fsl_status status = read_inputs(run, inputs, options, &parts, err);
	if (status == FSL_OK) {
		status = fsl_parts_assign(run, parts.items, parts.n_items, err);
	}
	parts_fini(&parts);
	if (status != FSL_OK) {
		return status;
	}
	normalise_ranks(run, options);
	log_files(run);
	return check_usable(run, options, err);
}

enum fsl_status fsl_ingest_run(struct fsl_run *run, const struct fsl_ingest_options *options,
			       struct fsl_error *err)
{
	struct fsl_inputs inputs = {0};
	enum fsl_status status = fsl_inputs_find(&inputs, options, err);
	if (status == FSL_OK) {
		status = fsl_ingest_inputs(run, &inputs, options, err);
	}
	fsl_inputs_fini(&inputs);
	return status;
}
