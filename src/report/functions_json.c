/* The document: keys of the product's report, and what is added to them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "capture/shares.h"
#include "report/document.h"
#include "report/functions_parts.h"

enum { DECIMALS_RATIO = 9, DECIMALS_SCORE = 12, DECIMALS_US = 3, RANK_BYTES = 16 };
static const double NS_PER_US = 1000.0;

struct writer {
	struct fsl_document document;
	const struct fsl_functions_view *view;
	const struct fsl_functions_choice *choice;
};

static const char *rank_key(const struct writer *writer, size_t w, char text[RANK_BYTES])
{
	(void)snprintf(text, RANK_BYTES, "%d", (int)writer->view->workers[w].rank->rank);
	return text;
}

static bool tells_worker(const struct writer *writer, size_t w)
{
	return fsl_functions_tells_worker(writer->choice, writer->view->workers[w].rank->rank);
}

static void add_ms(struct writer *writer, cJSON *object, const char *key, int64_t ns)
{
	fsl_document_number(&writer->document, object, key, (double)ns / 1e6, FSL_DECIMALS_MS + 3);
}

static void add_shares(struct writer *writer, cJSON *parent, const char *key,
		       const struct fsl_profile_shares *shares)
{
	struct fsl_document *document = &writer->document;
	cJSON *object = fsl_document_object(document, parent, key);
	fsl_document_index(document, object, "step", shares->step);
	add_ms(writer, object, "windowMs", shares->window_ns);
	add_ms(writer, object, "computeMs", shares->compute_ns);
	add_ms(writer, object, "exposedCommunicationMs", shares->exposed_comm_ns);
	add_ms(writer, object, "exposedMemoryMs", shares->exposed_memory_ns);
	add_ms(writer, object, "idleMs", shares->idle_ns);
	add_ms(writer, object, "communicationMs", shares->comm_ns);
	double overlap = shares->comm_ns > 0
				 ? (double)shares->overlapped_ns / (double)shares->comm_ns
				 : (double)NAN;
	fsl_document_number(document, object, "overlapRatio", overlap, DECIMALS_RATIO);
}

static void add_worker(struct writer *writer, cJSON *list, const struct fsl_function_worker *worker)
{
	struct fsl_document *document = &writer->document;
	const struct fsl_profile_rank *rank = worker->rank;
	cJSON *object = fsl_document_object(document, list, NULL);
	const char *state = worker->is_culprit  ? "culprit"
			    : worker->is_victim ? "victim"
						: "normal";
	fsl_document_integer(document, object, "rank", rank->rank);
	fsl_document_told(document, object, "host", rank->info.host_name);
	fsl_document_told(document, object, "dialect",
			  rank->trace.dialect != NULL ? rank->trace.dialect : "");
	fsl_document_text(document, object, "state", state);
	fsl_document_number(document, object, "excessRatio", worker->excess, DECIMALS_RATIO);
	fsl_document_told(document, object, "excessSection",
			  worker->excess > 0.0 ? fsl_functions_class_text(worker->excess_class)
					       : NULL);
	fsl_document_number(document, object, "communicationRatio", worker->communication,
			    DECIMALS_RATIO);
	fsl_document_number(document, object, "idleRatio", worker->idle, DECIMALS_RATIO);
	fsl_document_number(document, object, "relativeScore", worker->relative_score,
			    DECIMALS_SCORE);
	fsl_document_number(document, object, "individualScore", worker->individual_score,
			    DECIMALS_SCORE);
	fsl_document_bool(document, object, "isStraggler", worker->is_straggler);
	fsl_document_number(document, object, "sameWorkRatio", worker->same_work_share,
			    DECIMALS_RATIO);
	add_ms(writer, object, "windowMs", worker->functions->window_ns);
	fsl_functions_worker_json(document, object, worker);
	cJSON *steps = NULL;
	if (rank->n_shares > 0) {
		add_shares(writer, object, "breakdown", &rank->shares[0]);
	} else {
		fsl_document_null(document, object, "breakdown");
	}
	steps = fsl_document_array(document, object, "steps");
	for (size_t i = 1; i < rank->n_shares; i++) {
		add_shares(writer, steps, NULL, &rank->shares[i]);
	}
}

/* Adds one function on one worker. */
static void add_features(struct writer *writer, cJSON *object, const struct fsl_function_cell *cell)
{
	struct fsl_document *document = &writer->document;
	const struct fsl_function *function = cell->function;
	fsl_document_number(document, object, "ratio", cell->ratio, DECIMALS_RATIO);
	fsl_document_number(document, object, "meanUs",
			    function != NULL ? function->mean_ns / NS_PER_US : (double)NAN,
			    DECIMALS_US);
	fsl_document_number(document, object, "spreadUs",
			    function != NULL ? function->spread_ns / NS_PER_US : (double)NAN,
			    DECIMALS_US);
	fsl_document_integer(document, object, "count", function != NULL ? function->count : 0);
}

static void add_cells(struct writer *writer, cJSON *parent, const struct fsl_function_row *row)
{
	struct fsl_document *document = &writer->document;
	cJSON *list = fsl_document_array(document, parent, "workers");
	for (size_t w = 0; w < writer->view->n_workers; w++) {
		const struct fsl_function_cell *cell = &row->cells[w];
		if (!tells_worker(writer, w)) {
			continue;
		}
		cJSON *object = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, object, "rank", writer->view->workers[w].rank->rank);
		add_features(writer, object, cell);
		fsl_document_index(document, object, "differentFromOtherWorkers",
				   cell->n_different);
		fsl_document_bool(document, object, "isAbnormal", cell->is_abnormal);
	}
}

/* {"5": 0.0312} of workers that stand out. */
static void add_abnormal(struct writer *writer, cJSON *parent, const char *key,
			 const struct fsl_function_row *row)
{
	char rank[RANK_BYTES];
	cJSON *object = fsl_document_object(&writer->document, parent, key);
	for (size_t w = 0; w < writer->view->n_workers; w++) {
		if (row->cells[w].is_abnormal) {
			fsl_document_number(&writer->document, object, rank_key(writer, w, rank),
					    row->cells[w].ratio, DECIMALS_RATIO);
		}
	}
}

/* The product tells a call path by the ratio of each worker that has it. */
static void add_ratios(struct writer *writer, cJSON *parent, const struct fsl_function_row *row)
{
	char rank[RANK_BYTES];
	cJSON *object = fsl_document_object(&writer->document, parent, "ratios");
	for (size_t w = 0; w < writer->view->n_workers; w++) {
		if (row->cells[w].function != NULL && tells_worker(writer, w)) {
			fsl_document_number(&writer->document, object, rank_key(writer, w, rank),
					    row->cells[w].ratio, DECIMALS_RATIO);
		}
	}
}

static int compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static void add_utilisation(struct writer *writer, cJSON *section)
{
	struct fsl_document *document = &writer->document;
	const struct fsl_functions_view *view = writer->view;
	char rank[RANK_BYTES];
	size_t n = view->n_workers;
	double *values = fsl_calloc(n + 1, sizeof(*values));
	if (values == NULL) {
		document->has_failed = true;
		return;
	}
	for (size_t w = 0; w < n; w++) {
		values[w] = view->workers[w].utilisation;
	}
	qsort(values, n, sizeof(*values), compare_numbers);
	cJSON *object = fsl_document_object(document, section, "utilization");
	fsl_document_number(document, object, "min", n > 0 ? values[0] : (double)NAN,
			    DECIMALS_RATIO);
	fsl_document_number(document, object, "median",
			    n > 0 ? (values[(n - 1) / 2] + values[n / 2]) / 2.0 : (double)NAN,
			    DECIMALS_RATIO);
	fsl_document_number(document, object, "max", n > 0 ? values[n - 1] : (double)NAN,
			    DECIMALS_RATIO);
	object = fsl_document_object(document, section, "abnormalUtilization");
	for (size_t w = 0; w < n; w++) {
		if (view->workers[w].is_utilisation_abnormal) {
			fsl_document_number(document, object, rank_key(writer, w, rank),
					    view->workers[w].utilisation, DECIMALS_RATIO);
		}
	}
	fsl_free(values);
}

/* The product's key: the name, and right behind it the shape. Broken UTF-8 reads "?". */
static char *key_of(const struct fsl_function_row *row)
{
	size_t n_name = strlen(row->name), n_shape = strlen(row->shape);
	char *key = fsl_calloc(n_name + n_shape + 1, 1);
	if (key == NULL) {
		return NULL;
	}
	memcpy(key, row->name, n_name);
	memcpy(key + n_name, row->shape, n_shape);
	for (char *at = key; *at != '\0';) {
		size_t n = fsl_utf8_sequence(at);
		*at = n == 0 ? '?' : *at;
		at += n == 0 ? 1 : n;
	}
	return key;
}

static cJSON *begin_row(struct writer *writer, cJSON *section, const struct fsl_function_row *row)
{
	char *key = key_of(row);
	cJSON *object = key != NULL ? fsl_document_object(&writer->document, section, key) : NULL;
	writer->document.has_failed |= key == NULL;
	fsl_free(key);
	return object;
}

/* How busy the cores are while the kernel runs: mean over the workers that tell it. */
static double cores_percent(const struct writer *writer, const struct fsl_function_row *row)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t w = 0; w < writer->view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		if (function != NULL && function->sampled == FSL_SAMPLED_CORES) {
			sum += fsl_functions_percent(writer->view, function, function->level);
			n++;
		}
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

static void add_kernel(struct writer *writer, cJSON *section, const struct fsl_function_row *row)
{
	struct fsl_document *document = &writer->document;
	cJSON *object = begin_row(writer, section, row);
	fsl_document_text(document, object, "name", row->name);
	fsl_document_told(document, object, "shape", row->shape);
	fsl_document_number(document, object, "medianCostUs", row->median_ns / NS_PER_US,
			    DECIMALS_US);
	fsl_document_number(document, object, "bottleneckRatio", row->mean_ratio, DECIMALS_RATIO);
	fsl_document_number(document, object, "averageCoresPercent", cores_percent(writer, row),
			    DECIMALS_US);
	fsl_functions_add_operations(document, object, writer->view, row);
	add_abnormal(writer, object, "abnormalWorkers", row);
	add_cells(writer, object, row);
}

static void add_function(struct writer *writer, cJSON *section, const struct fsl_function_row *row)
{
	struct fsl_document *document = &writer->document;
	const struct fsl_functions_view *view = writer->view;
	cJSON *object = begin_row(writer, section, row);
	double time_share = 0.0;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		time_share += function != NULL
				      ? (double)function->wall_ns /
						(double)view->workers[w].functions->window_ns
				      : 0.0;
	}
	fsl_document_number(document, object, "averageRatio", row->mean_ratio, DECIMALS_RATIO);
	fsl_document_number(document, object, "averageTimeRatio",
			    time_share / (double)view->n_workers, DECIMALS_RATIO);
	fsl_document_number(document, object, "systemCallRatio",
			    fsl_functions_syscall_share(view, row), DECIMALS_RATIO);
	add_abnormal(writer, object, "abnormalWorkers", row);
	if (row->class == FSL_FUNCTION_PYTHON) {
		add_ratios(writer, object, row);
	}
	add_cells(writer, object, row);
}

/* Features of a collective on a worker; what only counters of the link tell is null. */
static void add_link_features(struct writer *writer, cJSON *parent, const char *key,
			      const struct fsl_function_row *row, size_t w)
{
	struct fsl_document *document = &writer->document;
	cJSON *object = fsl_document_object(document, parent, key);
	fsl_document_integer(document, object, "worker", writer->view->workers[w].rank->rank);
	fsl_document_index(document, object, "differentFromOtherWorkers",
			   row->cells[w].n_different);
	add_features(writer, object, &row->cells[w]);
	const struct fsl_function *function = row->cells[w].function;
	fsl_document_number(document, object, "averageThroughputPercent",
			    fsl_functions_percent(writer->view, function,
						  function != NULL ? function->level : (double)NAN),
			    DECIMALS_US);
	fsl_document_number(
		document, object, "throughputStdPercent",
		fsl_functions_percent(writer->view, function,
				      function != NULL ? function->level_spread : (double)NAN),
		DECIMALS_US);
}

static void add_collective(struct writer *writer, cJSON *section,
			   const struct fsl_function_row *row)
{
	struct fsl_document *document = &writer->document;
	const struct fsl_functions_view *view = writer->view;
	char group[64];
	fsl_functions_group(view, row, group, sizeof(group));
	cJSON *of_group = cJSON_GetObjectItemCaseSensitive(section, group);
	of_group = of_group != NULL ? of_group : fsl_document_object(document, section, group);
	cJSON *object = begin_row(writer, of_group, row);
	size_t normal = SIZE_MAX;
	for (size_t w = 0; w < view->n_workers; w++) {
		bool is_better = !row->cells[w].is_abnormal && row->cells[w].function != NULL &&
				 (normal == SIZE_MAX ||
				  row->cells[w].n_different < row->cells[normal].n_different);
		normal = is_better ? w : normal;
	}
	fsl_document_number(document, object, "averageRatio", row->mean_ratio, DECIMALS_RATIO);
	enum fsl_sampled link = fsl_functions_link(view, row);
	char name[16] = "";
	if (link < FSL_SAMPLED_N) {
		size_t length = strcspn(fsl_sampled_texts[link], " ");
		(void)snprintf(name, sizeof(name), "%.*s", (int)length, fsl_sampled_texts[link]);
	}
	fsl_document_told(document, object, "link", name);
	if (normal != SIZE_MAX) {
		add_link_features(writer, object, "normalWorker", row, normal);
	} else {
		fsl_document_null(document, object, "normalWorker");
	}
	cJSON *abnormal = fsl_document_array(document, object, "abnormalWorkers");
	for (size_t w = 0; w < view->n_workers; w++) {
		if (row->cells[w].is_abnormal) {
			add_link_features(writer, abnormal, NULL, row, w);
		}
	}
	add_cells(writer, object, row);
}

/* Rows of a class, each through @add; *n counts them. */
static void add_rows(struct writer *writer, cJSON *section, enum fsl_function_class class,
		     void (*add)(struct writer *writer, cJSON *section,
				 const struct fsl_function_row *row))
{
	size_t n_before = 0;
	for (size_t i = 0; i < writer->view->n_rows && !writer->document.has_failed; i++) {
		const struct fsl_function_row *row = &writer->view->rows[i];
		if (row->class != class) {
			continue;
		}
		if (fsl_functions_tells_row(writer->view, writer->choice, row, n_before)) {
			add(writer, section, row);
		}
		n_before++;
	}
}

/* Kernels that take longer on a worker than on its peers. */
static void add_detail(struct writer *writer, cJSON *report, size_t w)
{
	struct fsl_document *document = &writer->document;
	char rank[RANK_BYTES];
	cJSON *list = fsl_document_array(document, report, rank_key(writer, w, rank));
	for (size_t i = 0; i < writer->view->n_rows && !document->has_failed; i++) {
		const struct fsl_function_row *row = &writer->view->rows[i];
		const struct fsl_function_cell *cell = &row->cells[w];
		if (row->class != FSL_FUNCTION_COMPUTE || !cell->is_abnormal ||
		    cell->excess <= 0.0 || cell->function == NULL) {
			continue;
		}
		double peers_ns = fsl_functions_peers_ns(writer->view, row, w);
		cJSON *object = fsl_document_object(document, list, NULL);
		char *key = key_of(row);
		document->has_failed |= key == NULL;
		fsl_document_text(document, object, "kernel", key);
		fsl_free(key);
		fsl_document_number(document, object, "meanUs", cell->function->mean_ns / NS_PER_US,
				    DECIMALS_US);
		fsl_document_number(document, object, "peersMeanUs", peers_ns / NS_PER_US,
				    DECIMALS_US);
		fsl_document_number(document, object, "slowRatio",
				    cell->function->mean_ns / peers_ns, FSL_DECIMALS_RATIO);
		fsl_document_number(document, object, "bottleneckRatio", cell->ratio,
				    DECIMALS_RATIO);
		fsl_document_number(document, object, "peersBottleneckRatio",
				    fsl_functions_peers_ratio(row, w), DECIMALS_RATIO);
	}
}

static bool has_slow_kernels(const struct fsl_functions_view *view, size_t w)
{
	const struct fsl_function_worker *worker = &view->workers[w];
	bool has = worker->is_utilisation_abnormal && worker->excess > 0.0 &&
		   worker->excess_class == FSL_FUNCTION_COMPUTE;
	for (size_t i = 0; i < view->n_rows && !has; i++) {
		const struct fsl_function_row *row = &view->rows[i];
		has = row->class == FSL_FUNCTION_COMPUTE && row->cells[w].is_abnormal &&
		      row->cells[w].excess > 0.0;
	}
	return has;
}

static void add_compute(struct writer *writer, cJSON *root)
{
	struct fsl_document *document = &writer->document;
	cJSON *section = fsl_document_object(document, root, "gpuCompute");
	add_utilisation(writer, section);
	cJSON *kernels = fsl_document_object(document, section, "majorKernels");
	add_rows(writer, kernels, FSL_FUNCTION_COMPUTE, add_kernel);
	cJSON *issues = fsl_document_array(document, section, "workersWithPotentialIssues");
	cJSON *report = fsl_document_object(document, section, "detailedReport");
	for (size_t w = 0; w < writer->view->n_workers; w++) {
		if (has_slow_kernels(writer->view, w)) {
			fsl_document_integer(document, issues, NULL,
					     writer->view->workers[w].rank->rank);
			add_detail(writer, report, w);
		}
	}
}

static void add_sections(struct writer *writer, cJSON *root)
{
	static const struct {
		const char *key;
		void (*add)(struct writer *writer, cJSON *section,
			    const struct fsl_function_row *row);
	} sections[FSL_FUNCTION_CLASSES_N] = {
		[FSL_FUNCTION_COMPUTE] = {"gpuCompute", NULL},
		[FSL_FUNCTION_MEMORY] = {"gpuMemory", add_function},
		[FSL_FUNCTION_COLLECTIVE] = {"communication", add_collective},
		[FSL_FUNCTION_RUNTIME] = {"cudaRuntime", add_function},
		[FSL_FUNCTION_PYTHON] = {"python", add_function},
	};
	for (size_t c = 0; c < FSL_FUNCTION_CLASSES_N; c++) {
		if (writer->choice->section >= 0 && (size_t)writer->choice->section != c) {
			fsl_document_null(&writer->document, root, sections[c].key);
		} else if (c == FSL_FUNCTION_COMPUTE) {
			add_compute(writer, root);
		} else {
			cJSON *section =
				fsl_document_object(&writer->document, root, sections[c].key);
			add_rows(writer, section, (enum fsl_function_class)c, sections[c].add);
		}
	}
}

/* Functions of small shares that no worker keeps apart. */
static void add_rest(struct writer *writer, cJSON *root)
{
	struct fsl_document *document = &writer->document;
	cJSON *rest = fsl_document_object(document, root, "others");
	for (size_t c = 0; c < FSL_FUNCTION_CLASSES_N; c++) {
		size_t n = 0;
		double ratio = 0.0;
		for (size_t w = 0; w < writer->view->n_workers; w++) {
			const struct fsl_functions *functions = writer->view->workers[w].functions;
			n += functions->rest[c].n;
			ratio += (double)functions->rest[c].exclusive_ns /
				 (double)functions->window_ns / (double)writer->view->n_workers;
		}
		cJSON *object = fsl_document_object(document, rest, fsl_function_class_texts[c]);
		fsl_document_count(document, object, "functions", n);
		fsl_document_number(document, object, "averageRatio", ratio, DECIMALS_RATIO);
	}
}

/* Keys that are null since no trace has the counters that tell them. */
static void add_unknown(struct writer *writer, cJSON *root)
{
	static const struct {
		const char *key;
		enum fsl_sampled begin, end; /* any of these counters tells it */
	} keys[] = {
		{"link", FSL_SAMPLED_NVLINK_SEND, FSL_SAMPLED_N},
		{"averageThroughputPercent", FSL_SAMPLED_NVLINK_SEND, FSL_SAMPLED_N},
		{"throughputStdPercent", FSL_SAMPLED_NVLINK_SEND, FSL_SAMPLED_N},
		{"averageCoresPercent", FSL_SAMPLED_CORES, FSL_SAMPLED_NVLINK_SEND},
	};
	cJSON *unknown = fsl_document_array(&writer->document, root, "unknown");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = 0;
		for (size_t k = keys[i].begin; k < (size_t)keys[i].end; k++) {
			n += writer->view->sampled[k].n;
		}
		if (n == 0) {
			fsl_document_text(&writer->document, unknown, NULL, keys[i].key);
		}
	}
}

cJSON *fsl_functions_json(const struct fsl_functions_view *view,
			  const struct fsl_functions_choice *choice)
{
	char headline[1024];
	struct writer writer = {.view = view, .choice = choice};
	struct fsl_document *document = &writer.document;
	cJSON *root = fsl_document_object(document, NULL, NULL);
	fsl_functions_headline(view, headline, sizeof(headline));
	fsl_document_text(document, root, "schema", "failslow.functions/1");
	fsl_document_text(document, root, "path", choice->path);
	cJSON *options = fsl_document_object(document, root, "options");
	fsl_document_number(document, options, "delta", view->options.delta, DECIMALS_RATIO);
	fsl_document_number(document, options, "k", view->options.k, DECIMALS_RATIO);
	fsl_document_count(document, options, "sample", view->options.sample);
	fsl_document_number(document, options, "ratioMin", view->options.ratio_min, DECIMALS_RATIO);
	fsl_document_text(document, root, "verdict", fsl_functions_verdict_texts[view->verdict]);
	fsl_document_text(document, root, "headline", headline);
	fsl_document_told(document, root, "reason", view->reason);
	fsl_document_told(document, root, "next", fsl_functions_next(view));
	fsl_functions_add_slice(document, root, view);
	cJSON *workers = fsl_document_array(document, root, "workers");
	for (size_t w = 0; w < view->n_workers && !document->has_failed; w++) {
		if (tells_worker(&writer, w)) {
			add_worker(&writer, workers, &view->workers[w]);
		}
	}
	add_sections(&writer, root);
	fsl_functions_add_tree(document, root, view, choice);
	add_rest(&writer, root);
	add_unknown(&writer, root);
	return fsl_document_finish(document, root);
}
