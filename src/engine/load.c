/* Reads the files of a job. */
#include "engine/load.h"

#include "base/deadline.h"
#include "base/log.h"
#include "base/memory_left.h"
#include "engine/feed.h"
#include "engine/memory_short.h"
#include "engine/threads.h"
#include "source/discover.h"
#include "source/ingest.h"
#include "team/team.h"

/* Warns if memory is short. With a time range it does not: how much of the files is read is not
 * known yet. */
static void warn_of_memory(uint64_t n_bytes, const struct fsl_ingest_options *options)
{
	enum { WORTH_LOOKING = 1 << 28 };
	bool is_whole = options->from_ns == INT64_MIN && options->to_ns == INT64_MAX;
	if (is_whole && fsl_team_size() == 1 && n_bytes >= WORTH_LOOKING) {
		fsl_memory_warn(n_bytes, fsl_memory_left(""));
	}
}

/* Starts threads for the bytes that there are to read. Each process of a team starts all threads
 * that it may. */
static void start_threads(struct fsl_ingest_options *options, int64_t n_jobs, uint64_t n_bytes)
{
	int n_most = fsl_threads_most();
	options->n_threads = (int)n_jobs;
	if (n_jobs == 0 && fsl_team_size() == 1) {
		options->n_threads = fsl_threads_worth(n_most, n_bytes);
	}
	options->n_threads = fsl_threads_start(options->n_threads);
}

/* Reads the files, or gives them to job->feed if they are too long to be held in memory. */
static enum fsl_status read_inputs(struct fsl_job *job, struct fsl_inputs *inputs,
				   const struct fsl_ingest_options *options,
				   const struct fsl_config *config, struct fsl_error *err)
{
	if (!fsl_feed_is_worth_it(inputs, options, config)) {
		warn_of_memory(fsl_inputs_bytes(inputs), options);
		return fsl_ingest_inputs(&job->run, inputs, options, err);
	}
	job->feed = fsl_feed_create(inputs, options);
	return job->feed != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", inputs->n_items);
}

enum fsl_status fsl_job_load(struct fsl_job *job, const struct fsl_config *config,
			     const struct fsl_time_range *range, struct fsl_error *err)
{
	struct fsl_inputs inputs = {0};
	struct fsl_ingest_options options = {.root_path = config->root_path,
					     .more_paths = config->more_paths,
					     .n_more_paths = config->n_more_paths,
					     .training_log = config->training_log,
					     .log_type_is_log = config->log_type_is_log,
					     .log_patterns = config->log_patterns,
					     .n_log_patterns = config->n_log_patterns,
					     .from_ns = range->from_ns,
					     .to_ns = range->to_ns,
					     .is_range_for_stages = range->holds_for_steps};
	fsl_log(FSL_LOG_INFO, "detect", "reading: root_path=\"%s\", range=\"%s\"",
		config->root_path, range->source);
	fsl_deadline_stage("finding the files");
	enum fsl_status status = fsl_inputs_find(&inputs, &options, err);
	uint64_t n_bytes = status == FSL_OK ? fsl_inputs_bytes(&inputs) : 0;
	start_threads(&options, config->jobs, n_bytes);
	if (status == FSL_OK) {
		fsl_log(FSL_LOG_INFO, "detect", "inputs found: files=%zu, bytes=%llu, threads=%d",
			inputs.n_items, (unsigned long long)n_bytes, options.n_threads);
		fsl_deadline_stage("reading");
		status = read_inputs(job, &inputs, &options, config, err);
	}
	fsl_inputs_fini(&inputs);
	job->until_ns = range->to_ns;
	if (status == FSL_OK && range->holds_for_steps) {
		fsl_run_cut_steps(&job->run, range->from_ns, range->to_ns);
	}
	return status;
}
