/* Reads inputs into a plan of tracks, writes the plan, tells what was written and left out. */
#include "cli/convert_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "cli/convert_parts.h"
#include "cli/operands.h"
#include "engine/threads.h"
#include "plugin/registry.h"
#include "report/trace/ftrace_bundles.h"
#include "report/trace/mindstudio.h"
#include "source/discover.h"
#include "text/phrase.h"

/* A kind of file that can be written, by the end of its name. */
struct form {
	const char *suffix;
	const struct fsl_track_writer *writer; /* NULL: no timeline */
	bool is_packed;
	fsl_stacks_writer *stacks; /* of device memory by call path */
	/* Writes what the form has of a kernel trace beside tracks; the writer of the tracks then.
	 */
	fsl_kernel_writer *kernel;
	const struct fsl_track_writer *with_kernel;
};
static const struct form forms[] = {
	{".speedscope.json", NULL, false, fsl_memory_write_speedscope, NULL, NULL},
	{".folded", NULL, false, fsl_memory_write_folded, NULL, NULL},
	{".json", &fsl_track_writer_chrome, false, NULL, NULL, NULL},
	{".json.gz", &fsl_track_writer_chrome, true, NULL, NULL, NULL},
	{".pftrace", &fsl_track_writer_pftrace, false, NULL, fsl_ftrace_bundles_add,
	 &fsl_track_writer_pftrace_with_kernel},
	{".db", &fsl_track_writer_mindstudio, false, NULL, fsl_mindstudio_add_kernel,
	 &fsl_track_writer_mindstudio},
};

static const struct form *form_of(const char *output)
{
	size_t length = strlen(output);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = strlen(forms[i].suffix);
		if (length > n && strcmp(output + length - n, forms[i].suffix) == 0) {
			return &forms[i];
		}
	}
	return NULL;
}

bool fsl_convert_knows(const char *output)
{
	return form_of(output) != NULL;
}

/* An input must not be replaced by the output. */
static enum fsl_status check_output(const struct fsl_inputs *inputs, const char *output,
				    struct fsl_error *err)
{
	struct stat facts;
	if (stat(output, &facts) != 0) {
		return FSL_OK;
	}
	for (size_t i = 0; i < inputs->n_items; i++) {
		const struct fsl_input *input = &inputs->items[i];
		if (input->inode == facts.st_ino && input->device == facts.st_dev &&
		    input->is_explicit) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"the output would replace an input, name another file: "
					"output=\"%s\"",
					output);
		}
	}
	return FSL_OK;
}

bool fsl_conversion_wants(const void *context, int64_t rank)
{
	const struct fsl_convert_run *run = context;
	bool is_found = run->n_ranks == 0;
	for (size_t i = 0; i < run->n_ranks && !is_found; i++) {
		is_found = run->ranks[i] == rank;
	}
	return is_found;
}

/* Files of ranks that are not wanted need not be read. */
static void drop_unwanted(struct fsl_inputs *inputs, const struct fsl_convert_run *run)
{
	size_t n = 0;
	for (size_t i = 0; i < inputs->n_items; i++) {
		const struct fsl_input *input = &inputs->items[i];
		if (input->told.rank_state != FSL_NAME_HAS_RANK ||
		    fsl_conversion_wants(run, input->told.rank)) {
			inputs->items[n++] = *input;
		}
	}
	inputs->n_items = n;
}

/* Reads one file of host events or of device memory; a file that cannot be opened is told in the
 * log. */
static enum fsl_status read_host_file(struct fsl_conversion *c, const struct fsl_input *input,
				      bool is_memory, struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	struct fsl_error why = {0};
	enum fsl_status status = fsl_reader_open(&reader, input->path, &why);
	if (status == FSL_OK) {
		status = is_memory ? fsl_memory_read(&c->memory, reader, input->name, err)
				   : fsl_host_read(&c->host, reader, input->name, err);
		fsl_reader_close(reader);
		return status;
	}
	if (status == FSL_ERR_MEMORY) {
		*err = why;
		return status;
	}
	fsl_log(FSL_LOG_WARNING, "convert", "%s", fsl_error_root(&why));
	return FSL_OK;
}

/* Takes the files of host events and of device memory out of the inputs. */
static enum fsl_status read_host(struct fsl_conversion *c, struct fsl_inputs *inputs,
				 struct fsl_error *err)
{
	size_t n = 0;
	FSL_TRY(fsl_host_events_init(&c->host, err));
	FSL_TRY(fsl_memory_init(&c->memory, err));
	for (size_t i = 0; i < inputs->n_items; i++) {
		const struct fsl_input *input = &inputs->items[i];
		bool is_memory = fsl_memory_knows(input->name);
		if (input->fault == NULL && (is_memory || fsl_host_knows(input->name))) {
			FSL_TRY(read_host_file(c, input, is_memory, err));
		} else {
			inputs->items[n++] = *input;
		}
	}
	inputs->n_items = n;
	return FSL_OK;
}

enum fsl_status fsl_conversion_mark_wanted(struct fsl_conversion *c, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(c->is_wanted, c->run.n_ranks + 1, "ranks", err));
	FSL_TRY(FSL_NEW(c->shown, c->run.n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < c->run.n_ranks; r++) {
		c->is_wanted[r] = fsl_conversion_wants(c->wanted, c->run.ranks[r].rank);
	}
	c->tracks.is_wanted = c->is_wanted;
	return FSL_OK;
}

/* Finds the inputs that are wanted, and reads those that are no markers, timelines or logs. */
static enum fsl_status find_inputs(struct fsl_conversion *c, struct fsl_inputs *inputs,
				   const struct fsl_ingest_options *options, struct fsl_error *err)
{
	FSL_TRY(fsl_inputs_find(inputs, options, err));
	FSL_TRY(check_output(inputs, c->wanted->output, err));
	drop_unwanted(inputs, c->wanted);
	FSL_TRY(read_host(c, inputs, err));
	FSL_TRY(fsl_conversion_find_kernel(c, inputs, err));
	FSL_TRY(fsl_conversion_name_frames(c, err));
	return fsl_conversion_replay_memory(c, err);
}

/* Reads the inputs, or gives them to c->feed if they are too long to be held in memory. Inputs of
 * no known format may lie beside a kernel trace. */
static enum fsl_status ingest(struct fsl_conversion *c, struct fsl_inputs *inputs,
			      const struct fsl_ingest_options *options, struct fsl_error *err)
{
	if (!fsl_conversion_is_long(inputs, options)) {
		struct fsl_error why = {0};
		enum fsl_status status = fsl_ingest_inputs(&c->run, inputs, options, &why);
		if (status == FSL_ERR_INPUT && fsl_conversion_has_kernel(c)) {
			return FSL_OK;
		}
		if (status != FSL_OK) {
			*err = why;
		}
		return status;
	}
	c->feed = fsl_feed_create(inputs, options);
	return c->feed != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", inputs->n_items);
}

/* Reads markers and timelines. */
static enum fsl_status read_run(struct fsl_conversion *c, struct fsl_error *err)
{
	struct fsl_ingest_options options = {.root_path = c->wanted->paths[0],
					     .more_paths = c->wanted->paths + 1,
					     .n_more_paths = c->wanted->n_paths - 1,
					     .log_patterns = c->config.log_patterns,
					     .n_log_patterns = c->config.n_log_patterns,
					     .from_ns = c->wanted->from_ns,
					     .to_ns = c->wanted->to_ns,
					     .is_range_for_stages = c->config.has_range,
					     .keeps_stacks = true};
	struct fsl_inputs inputs = {0};
	enum fsl_status status = find_inputs(c, &inputs, &options, err);
	if (status == FSL_OK &&
	    (inputs.n_items > 0 ||
	     (c->host.n_items + c->memory.n_records == 0 && !fsl_conversion_has_kernel(c)))) {
		options.n_threads =
			fsl_threads_worth(fsl_threads_most(), fsl_inputs_bytes(&inputs));
		options.n_threads = fsl_threads_start(c->wanted->n_jobs > 0 ? (int)c->wanted->n_jobs
									    : options.n_threads);
		status = ingest(c, &inputs, &options, err);
	}
	fsl_inputs_fini(&inputs);
	if (status == FSL_OK && c->config.has_range) {
		fsl_run_cut_steps(&c->run, c->wanted->from_ns, c->wanted->to_ns);
	}
	return status;
}

enum fsl_status fsl_conversion_match(struct fsl_conversion *c, struct fsl_error *err)
{
	fsl_match_fini(&c->match);
	fsl_topology_fini(&c->topology);
	FSL_TRY(fsl_topology_build(&c->topology, &c->run, &c->config, err));
	return fsl_match_build(&c->match, &c->run, &c->topology, err);
}

/* All at once. */
static enum fsl_status add_whole(struct fsl_conversion *c, struct fsl_error *err)
{
	FSL_TRY(fsl_conversion_mark_wanted(c, err));
	FSL_TRY(fsl_conversion_match(c, err));
	FSL_TRY(fsl_steps_build(&c->steps, &c->run, err));
	FSL_TRY(fsl_run_tracks_add(c->plan, &c->tracks, err));
	size_t rank_idx = fsl_run_rank_idx(&c->run, c->steps.source_rank);
	if (c->wanted->is_aligned && rank_idx != SIZE_MAX) {
		c->steps_shift_ns = c->match.clock_ns[rank_idx];
	}
	for (size_t r = 0; r < c->run.n_ranks; r++) {
		const struct fsl_rank *rank = &c->run.ranks[r];
		if (c->is_wanted[r] && rank->n_ops + rank->n_stages > 0) {
			c->shown[c->n_shown++] = rank->rank;
		}
	}
	FSL_TRY(fsl_host_tracks_add(c->plan, &c->host, fsl_conversion_wants, c->wanted,
				    &c->n_host_left_out, err));
	return fsl_conversion_add_kernel(c, err);
}

static enum fsl_status add_run(struct fsl_conversion *c, struct fsl_error *err)
{
	FSL_TRY(read_run(c, err));
	c->tracks = (struct fsl_run_tracks){.run = &c->run,
					    .topology = &c->topology,
					    .match = &c->match,
					    .is_aligned = c->wanted->is_aligned};
	return c->feed != NULL ? fsl_conversion_add_windows(c, err) : add_whole(c, err);
}

/* Steps and verdict stand on the clock of the rank that tells the steps. */
static enum fsl_status add_verdict(struct fsl_conversion *c, struct fsl_error *err)
{
	c->verdict = (struct fsl_verdict_tracks){
		.steps = &c->steps,
		.ranks = c->shown,
		.n_ranks = c->n_shown,
		.shift_ns = c->steps_shift_ns,
	};
	c->verdict.headline = c->headline.length > 0 ? c->headline.text : NULL;
	if (c->has_verdict) {
		FSL_TRY(fsl_conversion_fill_matrices(c, err));
		c->verdict.verdict = &c->job->localisation;
		c->verdict.matrices = c->matrices;
		c->verdict.n_matrices = c->n_matrices;
	}
	return fsl_verdict_tracks_add(c->plan, &c->verdict, err);
}

static enum fsl_status add_job(struct fsl_conversion *c, struct fsl_error *err)
{
	if (c->wanted->wants_verdict && c->n_judged > 0) {
		FSL_TRY(fsl_conversion_judge(c, err));
	}
	FSL_TRY(add_run(c, err));
	FSL_TRY(add_verdict(c, err));
	return fsl_conversion_add_memory(c, err);
}

/* Captures may lie beside the files of a job, or alone. */
static enum fsl_status add_all(struct fsl_conversion *c, struct fsl_error *err)
{
	FSL_TRY(fsl_conversion_look(c, err));
	if (c->has_captures) {
		FSL_TRY(fsl_conversion_add_captures(c, err));
	}
	if (!c->has_other) {
		return FSL_OK;
	}
	struct fsl_error why = {0};
	enum fsl_status status = add_job(c, &why);
	if (status == FSL_ERR_INPUT && c->has_captures) {
		return FSL_OK;
	}
	if (status == FSL_ERR_INPUT && c->refusal.n_causes > 0 && c->run.n_files <= 1) {
		why = c->refusal; /* it tells more than that the only file is of no known format */
	}
	if (status != FSL_OK) {
		*err = why;
	}
	return status;
}

enum fsl_status fsl_conversion_open(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct form *form = form_of(c->wanted->output);
	if (c->draft != NULL) {
		return FSL_OK;
	}
	FSL_TRY(fsl_draft_create(&c->draft, c->wanted->output, err));
	bool has_kernel = form->kernel != NULL && fsl_conversion_has_kernel(c);
	c->file = (struct fsl_track_file){.plan = c->plan,
					  .writer = has_kernel ? form->with_kernel : form->writer,
					  .output = &c->output};
	FSL_TRY(fsl_track_output_init(&c->output, fsl_draft_stream(c->draft), form->is_packed,
				      err));
	c->output.path = fsl_draft_path(c->draft);
	return FSL_OK;
}

static enum fsl_status finish_file(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct form *form = form_of(c->wanted->output);
	FSL_TRY(fsl_conversion_open(c, err));
	FSL_TRY(fsl_track_file_write(&c->file, INT64_MAX, err));
	if (form->kernel != NULL) {
		FSL_TRY(fsl_conversion_write_kernel(c, form->kernel, err));
	}
	FSL_TRY(fsl_track_file_finish(&c->file, err));
	return c->output.error != 0 ? fsl_draft_fail(c->draft, c->output.error, err)
				    : fsl_draft_publish(c->draft, err);
}

/* Device memory alone. */
static enum fsl_status convert_stacks(struct fsl_conversion *c, fsl_stacks_writer *write,
				      struct fsl_error *err)
{
	const struct fsl_ingest_options options = {.root_path = c->wanted->paths[0],
						   .more_paths = c->wanted->paths + 1,
						   .n_more_paths = c->wanted->n_paths - 1};
	struct fsl_inputs inputs = {0};
	enum fsl_status status = find_inputs(c, &inputs, &options, err);
	fsl_inputs_fini(&inputs);
	FSL_TRY(status);
	FSL_TRY(fsl_conversion_write_stacks(c, write, err));
	if (!c->wanted->is_quiet) {
		fsl_conversion_tell_stacks(c);
	}
	return FSL_OK;
}

static enum fsl_status convert(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct form *form = form_of(c->wanted->output);
	if (form->stacks != NULL) {
		return convert_stacks(c, form->stacks, err);
	}
	FSL_TRY(add_all(c, err));
	FSL_TRY(finish_file(c, err));
	return c->wanted->is_quiet ? FSL_OK : fsl_conversion_tell(c, err);
}

/* As detect has it, for a look that leaves nothing behind. */
static void apply(struct fsl_config *config, const struct fsl_convert_run *run)
{
	config->training_log = NULL;
	config->chapter_keep = false;
	config->is_look = true;
	config->lacks_present = run->now_ns == INT64_MIN && run->config_path == NULL;
	config->now_ns = run->now_ns != INT64_MIN ? run->now_ns : fsl_now_ns();
	if (run->from_ns != INT64_MIN || run->to_ns != INT64_MAX) {
		config->has_range = true;
		config->range_begin_ns = run->from_ns;
		config->range_end_ns = run->to_ns;
	}
	if (run->n_jobs >= 0) {
		config->jobs = run->n_jobs;
	}
}

/* Sets what is judged: detect would take records of the host and its devices for damaged files. */
static enum fsl_status choose_judged(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct fsl_convert_run *run = c->wanted;
	FSL_TRY(FSL_NEW(c->judged, run->n_paths, "paths", err));
	for (size_t i = 0; i < run->n_paths; i++) {
		const char *slash = strrchr(run->paths[i], '/');
		const char *name = slash != NULL ? slash + 1 : run->paths[i];
		if (!fsl_host_knows(name) && !fsl_memory_knows(name) &&
		    !fsl_conversion_is_kernel_trace(run->paths[i])) {
			c->judged[c->n_judged++] = run->paths[i];
		}
	}
	c->config.root_path = c->n_judged > 0 ? c->judged[0] : run->paths[0];
	c->config.more_paths = c->judged + 1;
	c->config.n_more_paths = c->n_judged > 0 ? c->n_judged - 1 : 0;
	return FSL_OK;
}

static enum fsl_status configure(struct fsl_conversion *c, struct fsl_registry *registry,
				 struct fsl_error *err)
{
	struct fsl_config_place place;
	const struct fsl_convert_run *run = c->wanted;
	const char *path = run->config_path;
	if (path == NULL && fsl_config_find_default(&place)) {
		path = place.path;
	}
	FSL_TRY(fsl_config_load(&c->config, path, registry, err));
	apply(&c->config, run);
	FSL_TRY(choose_judged(c, err));
	if (run->config_path == NULL) {
		FSL_TRY(fsl_operands_describe(&c->config, run->paths, run->n_paths, true, err));
	}
	return FSL_OK;
}

/* Inputs are read and the folder of the output is written, nothing else. */
static void confine(const struct fsl_conversion *c)
{
	const char *slash = strrchr(c->wanted->output, '/');
	char folder[PATH_MAX] = ".";
	size_t n = slash != NULL ? (size_t)(slash - c->wanted->output) : 0;
	if (slash != NULL && n < sizeof(folder)) {
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(n > 0 ? n : 1),
			       c->wanted->output);
	}
	const struct fsl_confined_run run = {.config = &c->config,
					     .paths = c->wanted->paths,
					     .n_paths = c->wanted->n_paths,
					     .output = folder,
					     .libraries = c->wanted->libraries};
	fsl_confined_begin(&run);
}

static void conversion_fini(struct fsl_conversion *c)
{
	if (c->file.writer != NULL) {
		fsl_track_file_fini(&c->file);
	}
	fsl_track_output_fini(&c->output);
	fsl_draft_destroy(c->draft);
	fsl_track_plan_destroy(c->plan);
	fsl_conversion_drop_windows(c);
	fsl_steps_fini(&c->steps);
	fsl_match_fini(&c->match);
	fsl_topology_fini(&c->topology);
	fsl_run_fini(&c->run);
	if (c->host.names != NULL) {
		fsl_host_events_fini(&c->host);
	}
	fsl_conversion_drop_kernel(c);
	fsl_conversion_drop_memory(c);
	fsl_free(c->is_wanted);
	fsl_free(c->shown);
	fsl_free((void *)c->judged);
	fsl_conversion_drop_verdict(c);
	fsl_conversion_drop_captures(c);
	fsl_config_fini(&c->config);
}

enum fsl_status fsl_convert_run(const struct fsl_convert_run *run, struct fsl_error *err)
{
	struct fsl_conversion c = {.wanted = run, .plan = fsl_track_plan_create()};
	struct fsl_registry *registry = fsl_registry_create();
	enum fsl_status status = FSL_OK;
	if (registry == NULL || c.plan == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"conversion\"");
	}
	FSL_THEN(status, fsl_run_init(&c.run, err));
	FSL_THEN(status, configure(&c, registry, err));
	if (status == FSL_OK) {
		confine(&c);
		status = convert(&c, err);
	}
	conversion_fini(&c);
	fsl_registry_destroy(registry);
	return status;
}
