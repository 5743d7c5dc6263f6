/* The inputs: jobs of the simulator. They are written by another process, so that this one stays
 * small: a process starts with the peak memory of its parent. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/try.h"
#include "bench/bench_parts.h"
#include "sim/sim.h"

enum {
	SETTINGS_MAX = 16,
	SETTING_BYTES = 96,
	OP_BYTES = 227, /* average bytes of an operator, which has four rows of marker CSV */
	STEPS_MIN = 8,  /* a job of fewer steps says nothing */
	PROBE_STEPS = 8,
	PAIRS = 8,
	TIMELINE_STEPS_FACTOR = 8, /* timelines are small: their job has so many times the steps */
};

/* Keys of the simulator. */
struct settings {
	char texts[SETTINGS_MAX][SETTING_BYTES];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct settings *settings, const char *format,
						      ...);
static void add(struct settings *settings, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	(void)vsnprintf(settings->texts[settings->n++], SETTING_BYTES, format, args);
	va_end(args);
}

/* Describes a job of steps of a few operators each, tensor-parallel as far as the ranks allow. */
static enum fsl_status describe(struct settings *settings, const struct fsl_bench_job *job,
				struct fsl_error *err)
{
	int64_t tp = job->n_shards;
	for (int64_t shards = 8; tp == 0 && shards > 1; shards /= 2) {
		tp = job->n_ranks % shards == 0 ? shards : 0;
	}
	if (tp == 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"an even number of ranks is needed: ranks=%" PRId64, job->n_ranks);
	}
	add(settings, "tp=%" PRId64, tp);
	add(settings, "dp=%" PRId64, job->n_ranks / tp);
	add(settings, "pairs=%" PRId64, job->n_pairs > 0 ? job->n_pairs : PAIRS);
	add(settings, "step_ms=72");
	add(settings, "transfer_ms=0.1");
	if (job->input == FSL_BENCH_JSON) {
		add(settings, "format=json");
	}
	if (job->input == FSL_BENCH_TIMELINES) {
		add(settings, "timelines=all");
	}
	return FSL_OK;
}

/* Number of operators of all ranks in one step, counted in a small job of the same kind. */
static enum fsl_status ops_per_step(double *out, const struct settings *settings, int64_t n_ranks,
				    struct fsl_error *err)
{
	struct fsl_sim_params params;
	struct fsl_sim_truth truth = {0};
	enum fsl_status status = FSL_OK;
	fsl_sim_params_init(&params);
	for (size_t i = 0; i < settings->n && status == FSL_OK; i++) {
		status = fsl_sim_params_set(&params, settings->texts[i], err);
	}
	params.dp = params.dp > 2 ? 2 : params.dp;
	params.steps = PROBE_STEPS;
	FSL_THEN(status, fsl_sim_params_check(&params, err));
	FSL_THEN(status, fsl_sim_foresee(&params, &truth, err));
	if (status == FSL_OK) {
		double per_rank = (double)truth.n_ops / PROBE_STEPS / fsl_sim_n_ranks(&params);
		*out = per_rank * (double)n_ranks;
	}
	fsl_sim_truth_fini(&truth);
	fsl_sim_params_fini(&params);
	return status;
}

/* Adds a rank that slows down half way, so that there is something to judge. A tree of timelines
 * has only timelines. */
static enum fsl_status add_steps(struct settings *settings, const struct fsl_bench_job *job,
				 struct fsl_error *err)
{
	double n_ops = 1.0;
	FSL_TRY(ops_per_step(&n_ops, settings, job->n_ranks, err));
	int64_t n_steps = (int64_t)((double)job->n_bytes / OP_BYTES / n_ops);
	if (n_steps < STEPS_MIN) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"so few bytes make no job of so many ranks, give more with --size: "
				"ranks=%" PRId64 ", megabytes=%.1f, least=%.1f",
				job->n_ranks, (double)job->n_bytes / 1e6,
				n_ops * OP_BYTES * STEPS_MIN / 1e6);
	}
	if (job->input == FSL_BENCH_TIMELINES) {
		add(settings, "steps=%" PRId64, n_steps * TIMELINE_STEPS_FACTOR);
		add(settings, "fault=empty ranks=all");
	} else {
		add(settings, "steps=%" PRId64, n_steps);
		add(settings, "fault=compute ranks=%" PRId64 " factor=1.3 onset=%" PRId64,
		    job->n_ranks / 2, n_steps / 2);
	}
	return FSL_OK;
}

static enum fsl_status simulate(const struct fsl_bench_tree *tree, struct fsl_bench_place *place,
				const struct settings *settings, struct fsl_error *err)
{
	const char *argv[FSL_BENCH_ARGS_MAX] = {place->program, "simulate", tree->path};
	struct fsl_bench_usage usage;
	for (size_t i = 0; i < settings->n; i++) {
		argv[3 + i] = settings->texts[i];
	}
	FSL_TRY(fsl_bench_spawn(place, argv, NULL, NULL, &usage, err));
	if (usage.exit_code != 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"the inputs could not be written: folder=\"%s\", exit_code=%d",
				tree->path, usage.exit_code);
	}
	return FSL_OK;
}

/* Reads a time in ns from the text of truth.json, because its numbers are too long for a double. */
static enum fsl_status read_times(struct fsl_bench_tree *tree, struct fsl_error *err)
{
	char path[FSL_BENCH_PATH_BYTES];
	char *text = NULL;
	size_t length = 0;
	(void)snprintf(path, sizeof(path), "%s/truth.json", tree->path);
	enum fsl_status status = fsl_file_read_text(path, &text, &length, err);
	if (status != FSL_OK) {
		return status;
	}
	const struct {
		const char *key;
		int64_t *time_ns;
	} times[] = {{"\"now_ns\":", &tree->now_ns},
		     {"\"job_start_ns\":", &tree->begin_ns},
		     {"\"job_end_ns\":", &tree->end_ns}};
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const char *at = strstr(text, times[i].key);
		if (at == NULL || !fsl_bench_number(at + strlen(times[i].key), times[i].time_ns)) {
			status = FSL_FAIL(err, FSL_ERR_INTERNAL, "no time: path=\"%s\", key=%s",
					  path, times[i].key);
		}
	}
	fsl_free(text);
	return status;
}

static enum fsl_status add_sizes(struct fsl_bench_tree *tree, struct fsl_error *err)
{
	char folder[FSL_BENCH_PATH_BYTES], path[FSL_BENCH_PATH_BYTES + 512];
	char **names = NULL;
	size_t n_names = 0;
	struct stat info;
	fsl_bench_tree_folder(tree, folder);
	enum fsl_status status = fsl_dir_list(folder, &names, &n_names, err);
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (stat(path, &info) == 0) {
			tree->size.n_bytes += (uint64_t)info.st_size;
			tree->size.n_files++;
		}
	}
	fsl_free(names);
	return status;
}

void fsl_bench_tree_folder(const struct fsl_bench_tree *tree, char folder[FSL_BENCH_PATH_BYTES])
{
	static const char *const names[FSL_BENCH_INPUTS_N] = {[FSL_BENCH_CSV] = "mspti",
							      [FSL_BENCH_JSON] = "mspti",
							      [FSL_BENCH_TIMELINES] = "timeline",
							      [FSL_BENCH_TRACES] = "traces"};
	(void)snprintf(folder, FSL_BENCH_PATH_BYTES, "%s/%s", tree->path, names[tree->input]);
}

enum fsl_status fsl_bench_tree_write(struct fsl_bench_tree *out, struct fsl_bench_place *place,
				     const struct fsl_bench_job *job, struct fsl_error *err)
{
	struct settings settings = {.n = 0};
	*out = (struct fsl_bench_tree){.input = job->input};
	(void)snprintf(out->path, sizeof(out->path), "%s/%s", place->path, job->name);
	if (job->input == FSL_BENCH_TRACES) {
		FSL_TRY(fsl_bench_traces_write(out, job, err));
		return add_sizes(out, err);
	}
	FSL_TRY(describe(&settings, job, err));
	FSL_TRY(add_steps(&settings, job, err));
	FSL_TRY(simulate(out, place, &settings, err));
	FSL_TRY(read_times(out, err));
	return add_sizes(out, err);
}
