/* Results for programs; docs/bench.schema.json describes them. */
#include <math.h>

#include "bench/bench.h"
#include "report/document.h"

enum { SCHEMA_VERSION = 1, DIGITS = 6 };

static void put_count_or_null(struct fsl_document *document, cJSON *parent, const char *key,
			      uint64_t count)
{
	if (count > 0) {
		fsl_document_count(document, parent, key, count);
	} else {
		fsl_document_null(document, parent, key);
	}
}

static void put_sample(struct fsl_document *document, cJSON *object,
		       const struct fsl_bench_sample *sample)
{
	fsl_document_count(document, object, "bytes", sample->n_bytes);
	put_count_or_null(document, object, "rows", sample->n_rows);
	fsl_document_integer(document, object, "cpuNs", sample->cpu_ns);
	fsl_document_integer(document, object, "wallNs", sample->wall_ns);
	fsl_document_count(document, object, "peakBytes", sample->peak_bytes);
}

static void put_all_cpu(struct fsl_document *document, cJSON *object,
			const struct fsl_bench_sample *samples, int64_t n)
{
	cJSON *list = fsl_document_array(document, object, "cpuNsOfRuns");
	for (int64_t i = 0; i < n; i++) {
		fsl_document_integer(document, list, NULL, samples[i].cpu_ns);
	}
}

static void put_result(struct fsl_document *document, cJSON *list,
		       const struct fsl_bench_result *result, int64_t n_runs)
{
	const struct fsl_bench_sample *median = &result->median;
	double cpu_s = (double)median->cpu_ns / 1e9;
	cJSON *object = fsl_document_object(document, list, NULL);
	fsl_document_text(document, object, "name", result->item->name);
	fsl_document_text(document, object, "summary", result->item->summary);
	fsl_document_text(document, object, "role", fsl_bench_role_text(result->item->role));
	fsl_document_text(document, object, "input", fsl_bench_input_text(result->item->input));
	put_sample(document, object, median);
	put_all_cpu(document, object, result->samples, n_runs);
	fsl_document_significant(document, object, "bytesPerCpuSecond",
				 (double)median->n_bytes / cpu_s, DIGITS);
	fsl_document_significant(document, object, "rowsPerCpuSecond",
				 median->n_rows > 0 ? (double)median->n_rows / cpu_s : (double)NAN,
				 DIGITS);
	fsl_document_significant(document, object, "instructionsPerByte",
				 result->instructions_per_byte, DIGITS);
	fsl_document_significant(document, object, "speedup", result->speedup, DIGITS);
	fsl_document_significant(document, object, "cpuShareOfAnew", result->share, DIGITS);
	cJSON *ratios = fsl_document_object(document, object, "cpuPerByteOver");
	for (int base = 0; base < FSL_BENCH_BASES_N; base++) {
		fsl_document_significant(document, ratios,
					 fsl_bench_base_text((enum fsl_bench_base)base),
					 result->ratios[base], DIGITS);
	}
}

static void put_report(struct fsl_document *document, cJSON *root,
		       const struct fsl_bench_report *report)
{
	cJSON *object = fsl_document_object(document, root, "comparison");
	fsl_document_integer(document, object, "runs", report->n_runs);
	fsl_document_integer(document, object, "ranks", report->n_ranks);
	fsl_document_integer(document, object, "jobs", report->n_jobs);
	fsl_document_integer(document, object, "cores", report->n_cores);
	cJSON *inputs = fsl_document_object(document, object, "inputs");
	for (int input = 0; input < FSL_BENCH_INPUTS_N; input++) {
		cJSON *size = fsl_document_object(
			document, inputs, fsl_bench_input_text((enum fsl_bench_input)input));
		fsl_document_count(document, size, "bytes", report->inputs[input].n_bytes);
		fsl_document_count(document, size, "files", report->inputs[input].n_files);
	}
	cJSON *list = fsl_document_array(document, object, "cases");
	for (size_t i = 0; i < report->n_results; i++) {
		put_result(document, list, &report->results[i], report->n_runs);
	}
	if (report->note != NULL) {
		fsl_document_text(document, object, "instructionsNote", report->note);
	} else {
		fsl_document_null(document, object, "instructionsNote");
	}
}

static void put_growth(struct fsl_document *document, cJSON *root,
		       const struct fsl_bench_growth *growth)
{
	cJSON *object = fsl_document_object(document, root, "growth");
	fsl_document_text(document, object, "scale", growth->scale->name);
	fsl_document_text(document, object, "summary", growth->scale->summary);
	fsl_document_text(document, object, "unit", growth->scale->unit);
	fsl_document_integer(document, object, "runs", growth->n_runs);
	fsl_document_integer(document, object, "startUpCpuNs", growth->start_up.cpu_ns);
	fsl_document_count(document, object, "startUpPeakBytes", growth->start_up.peak_bytes);
	cJSON *list = fsl_document_array(document, object, "points");
	for (size_t i = 0; i < growth->n_points; i++) {
		cJSON *point = fsl_document_object(document, list, NULL);
		fsl_document_text(document, point, "label", growth->points[i].label);
		fsl_document_significant(document, point, "x", growth->points[i].x, DIGITS);
		put_sample(document, point, &growth->points[i].median);
		put_all_cpu(document, point, growth->points[i].samples, growth->n_runs);
	}
	fsl_document_significant(document, object, "cpuExponent", growth->cpu_exponent, DIGITS);
	fsl_document_significant(document, object, "memoryExponent", growth->memory_exponent,
				 DIGITS);
}

cJSON *fsl_bench_json(const struct fsl_bench_report *report, const struct fsl_bench_growth *growth)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_document_integer(&document, root, "schemaVersion", SCHEMA_VERSION);
	fsl_document_engine(&document, root, "failslow");
	if (report != NULL) {
		put_report(&document, root, report);
	} else {
		fsl_document_null(&document, root, "comparison");
	}
	if (growth != NULL) {
		put_growth(&document, root, growth);
	} else {
		fsl_document_null(&document, root, "growth");
	}
	return fsl_document_finish(&document, root);
}
