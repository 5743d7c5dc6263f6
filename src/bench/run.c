/* The comparison: all cases in turn, round after round, and their costs relative to each other. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <failslow/stats.h>

#include "bench/bench_parts.h"

enum { BYTES_PER_MB = 1000000, COUNTED_MB = 4 };

struct bench {
	struct fsl_bench_report *report;
	const struct fsl_bench_options *options;
	struct fsl_bench_place place;
	struct fsl_bench_tree trees[FSL_BENCH_INPUTS_N];
	size_t n_done, n_all; /* steps done and planned, for progress */
};

const char *fsl_bench_base_text(enum fsl_bench_base base)
{
	static const char *const texts[] = {"memcpy", "read", "newlines", "library"};
	return texts[base];
}

static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strcspn(at, ",") == length && memcmp(at, name, length) == 0) {
			return true;
		}
	}
	return false;
}

static enum fsl_status check_names(const char *list, struct fsl_error *err)
{
	enum { NAME_BYTES = 64 };
	char name[NAME_BYTES];
	const struct fsl_bench_case *item = NULL;
	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
		FSL_TRY(fsl_bench_case_find(&item, name, err));
	}
	return FSL_OK;
}

/* Chooses the wanted cases, in the order of the table. */
static enum fsl_status choose(struct fsl_bench_report *report, const char *only,
			      struct fsl_error *err)
{
	FSL_TRY(check_names(only, err));
	for (const struct fsl_bench_case *item = fsl_bench_cases; item->name != NULL; item++) {
		if (only != NULL && !is_listed(only, item->name)) {
			continue;
		}
		struct fsl_bench_result *result = &report->results[report->n_results++];
		*result = (struct fsl_bench_result){.item = item,
						    .instructions_per_byte = (double)NAN};
		FSL_TRY(FSL_ARENA_NEW(result->samples, &report->arena, (size_t)report->n_runs,
				      "runs", err));
	}
	return FSL_OK;
}

static void tell(struct bench *bench)
{
	if (bench->options->progress != NULL) {
		bench->options->progress(bench->n_done, bench->n_all);
	}
	bench->n_done++;
}

/* Writes the trees that the chosen cases read; @prefix starts their names. */
static enum fsl_status write_trees(struct bench *bench, const char *prefix, int64_t n_bytes,
				   struct fsl_bench_tree trees[FSL_BENCH_INPUTS_N],
				   struct fsl_error *err)
{
	for (int input = 0; input < FSL_BENCH_INPUTS_N; input++) {
		char name[64];
		bool is_needed = false;
		for (size_t i = 0; i < bench->report->n_results; i++) {
			is_needed |= (int)bench->report->results[i].item->input == input;
		}
		if (!is_needed) {
			continue;
		}
		(void)snprintf(name, sizeof(name), "%s%s", prefix,
			       fsl_bench_input_text((enum fsl_bench_input)input));
		const struct fsl_bench_job job = {.name = name,
						  .input = (enum fsl_bench_input)input,
						  .n_bytes = n_bytes,
						  .n_ranks = bench->report->n_ranks};
		tell(bench);
		FSL_TRY(fsl_bench_tree_write(&trees[input], &bench->place, &job, err));
	}
	return FSL_OK;
}

/* Runs the whole program once before it is measured. Its files are then in the cache. A hypervisor
 * also takes back unused memory, and getting it again would cost as much as all the work. */
static enum fsl_status measure_warm(struct bench *bench, const struct fsl_bench_case *item,
				    struct fsl_bench_sample *out, struct fsl_error *err)
{
	const struct fsl_bench_tree *tree = &bench->trees[item->input];
	int64_t n_jobs = bench->report->n_jobs;
	if (item->work == NULL && item->anew == NULL) { /* a case with @anew contains such a run */
		FSL_TRY(fsl_bench_measure(out, &bench->place, item, tree, n_jobs, err));
	}
	return fsl_bench_measure(out, &bench->place, item, tree, n_jobs, err);
}

static enum fsl_status run_rounds(struct bench *bench, struct fsl_error *err)
{
	struct fsl_bench_report *report = bench->report;
	for (size_t run = 0; run < (size_t)report->n_runs; run++) {
		for (size_t i = 0; i < report->n_results; i++) {
			struct fsl_bench_result *result = &report->results[i];
			tell(bench);
			FSL_TRY(measure_warm(bench, result->item, &result->samples[run], err));
		}
	}
	return FSL_OK;
}

static const struct fsl_bench_result *find_result(const struct fsl_bench_report *report,
						  const char *name)
{
	for (size_t i = 0; name != NULL && i < report->n_results; i++) {
		if (strcmp(report->results[i].item->name, name) == 0) {
			return &report->results[i];
		}
	}
	return NULL;
}

static double cpu_per_byte(const struct fsl_bench_sample *sample)
{
	return (double)sample->cpu_ns / (double)sample->n_bytes;
}

static double cpu(const struct fsl_bench_sample *sample)
{
	return (double)sample->cpu_ns;
}

static double wall(const struct fsl_bench_sample *sample)
{
	return (double)sample->wall_ns;
}

/* Median of the ratios of each round: a slow phase of the machine affects both values of a pair.
 * NaN if the case @base_name was not run. */
static double ratio(const struct fsl_bench_report *report, const struct fsl_bench_result *result,
		    const char *base_name, double (*cost)(const struct fsl_bench_sample *))
{
	double ratios[FSL_BENCH_RUNS_MAX], scratch[FSL_BENCH_RUNS_MAX];
	const struct fsl_bench_result *base = find_result(report, base_name);
	if (base == NULL) {
		return (double)NAN;
	}
	for (size_t run = 0; run < (size_t)report->n_runs; run++) {
		ratios[run] = cost(&result->samples[run]) / cost(&base->samples[run]);
	}
	return fsl_median(ratios, (size_t)report->n_runs, scratch);
}

static void summarise(struct fsl_bench_report *report)
{
	for (size_t i = 0; i < report->n_results; i++) {
		struct fsl_bench_result *result = &report->results[i];
		const char *const bases[FSL_BENCH_BASES_N] = {"memcpy", "read", "newlines",
							      result->item->library};
		result->median = fsl_bench_median(result->samples, (size_t)report->n_runs);
		for (size_t base = 0; base < FSL_BENCH_BASES_N; base++) {
			result->ratios[base] = ratio(report, result, bases[base], cpu_per_byte);
		}
		const struct fsl_bench_result *alone = find_result(report, result->item->alone);
		result->speedup = alone != NULL ? ratio(report, alone, result->item->name, wall)
						: (double)NAN;
		result->share = ratio(report, result, result->item->anew, cpu);
	}
}

/* If readers of the same rows count different numbers, one is wrong and its speed meaningless. */
static enum fsl_status check_counts(const struct fsl_bench_report *report, struct fsl_error *err)
{
	for (size_t i = 0; i < report->n_results; i++) {
		const struct fsl_bench_result *a = &report->results[i];
		for (size_t k = 0; k < report->n_results; k++) {
			const struct fsl_bench_result *b = &report->results[k];
			if (a->item->row == NULL || b->item->row == NULL ||
			    strcmp(a->item->row, b->item->row) != 0 ||
			    a->median.n_rows == b->median.n_rows) {
				continue;
			}
			return FSL_FAIL(err, FSL_ERR_INTERNAL,
					"two cases count the same %ss differently: %s=%llu, "
					"%s=%llu",
					a->item->row, a->item->name,
					(unsigned long long)a->median.n_rows, b->item->name,
					(unsigned long long)b->median.n_rows);
		}
	}
	return FSL_OK;
}

/* Uses smaller inputs: callgrind takes fifty times as long, and the counts do not vary. */
static enum fsl_status count_instructions(struct bench *bench, struct fsl_error *err)
{
	struct fsl_bench_report *report = bench->report;
	struct fsl_bench_tree trees[FSL_BENCH_INPUTS_N];
	int64_t n_mb = bench->options->n_mb < COUNTED_MB ? bench->options->n_mb : COUNTED_MB;
	FSL_TRY(write_trees(bench, "counted-", n_mb * BYTES_PER_MB, trees, err));
	for (size_t i = 0; i < report->n_results && report->note == NULL; i++) {
		double n = (double)NAN;
		struct fsl_bench_result *result = &report->results[i];
		const struct fsl_bench_tree *tree = &trees[result->item->input];
		tell(bench);
		FSL_TRY(fsl_bench_count_instructions(&n, &report->note, &bench->place, result->item,
						     tree, err));
		result->instructions_per_byte = n / (double)tree->size.n_bytes;
	}
	return FSL_OK;
}

static enum fsl_status measure_all(struct bench *bench, struct fsl_error *err)
{
	struct fsl_bench_report *report = bench->report;
	enum fsl_status status =
		write_trees(bench, "", bench->options->n_mb * BYTES_PER_MB, bench->trees, err);
	for (size_t input = 0; input < FSL_BENCH_INPUTS_N && status == FSL_OK; input++) {
		report->inputs[input] = bench->trees[input].size;
	}
	FSL_THEN(status, run_rounds(bench, err));
	if (status == FSL_OK) {
		summarise(report);
		status = check_counts(report, err);
	}
	if (status == FSL_OK && bench->options->wants_instructions) {
		status = count_instructions(bench, err);
	}
	return status;
}

enum fsl_status fsl_bench_run(struct fsl_bench_report *out, const struct fsl_bench_options *options,
			      struct fsl_error *err)
{
	struct bench bench = {.report = out, .options = options};
	*out = (struct fsl_bench_report){.n_ranks = options->n_ranks,
					 .n_runs = options->n_runs,
					 .n_jobs = options->n_jobs,
					 .n_cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
	FSL_TRY(choose(out, options->only, err));
	bench.n_all = FSL_BENCH_INPUTS_N + out->n_results * (size_t)out->n_runs;
	bench.n_all += options->wants_instructions ? FSL_BENCH_INPUTS_N + out->n_results : 0;
	enum fsl_status status =
		fsl_bench_place_open(&bench.place, options->program, options->dir, err);
	FSL_THEN(status, measure_all(&bench, err));
	fsl_bench_place_close(&bench.place);
	out->interrupted = bench.place.interrupted;
	return status;
}

void fsl_bench_report_fini(struct fsl_bench_report *report)
{
	fsl_arena_fini(&report->arena);
	*report = (struct fsl_bench_report){0};
}
