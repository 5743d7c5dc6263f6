/* From the document of functions to checked arrays. */
#include "report/page/functions_model.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/try.h"
#include "model/run.h"

enum {
	ITEMS_MAX = 100,     /* of a section: no more take 1 % of a trace each */
	CELLS_MAX = 4 << 20, /* functions times workers, 100 MB: 100 functions of 40,000 workers */
};

const char *const fsl_html_section_ids[FSL_HTML_SECTIONS_N] = {
	"compute", "memory", "communication", "runtime", "python",
};

bool fsl_html_is_functions(const cJSON *document)
{
	return strcmp(fsl_html_text(document, "schema"), "failslow.functions/1") == 0;
}

static bool is_true(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(fsl_html_at(object, key));
}

static double not_negative(double value)
{
	return value >= 0.0 && value < 1e15 ? value : (double)NAN;
}

static size_t length_of(const cJSON *list)
{
	size_t n = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		n++;
	}
	return n;
}

size_t fsl_html_worker_of(const struct fsl_html_functions *page, int64_t rank)
{
	size_t low = 0, high = page->n_workers;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (page->workers[middle].rank < rank) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < page->n_workers && page->workers[low].rank == rank ? low : SIZE_MAX;
}

static void take_worker(struct fsl_html_worker *out, const cJSON *item)
{
	static const char *const keys[FSL_HTML_SHARES_N] = {
		[FSL_HTML_SHARE_COMPUTE] = "computeMs",
		[FSL_HTML_SHARE_MEMORY] = "exposedMemoryMs",
		[FSL_HTML_SHARE_COMMUNICATION] = "exposedCommunicationMs",
		[FSL_HTML_SHARE_IDLE] = "idleMs",
	};
	const cJSON *breakdown = fsl_html_at(item, "breakdown");
	const char *state = fsl_html_text(item, "state");
	double whole_ms = fsl_html_number(breakdown, "windowMs");
	*out = (struct fsl_html_worker){
		.rank = fsl_html_index(item, "rank"),
		.host = fsl_html_text(item, "host"),
		.section = fsl_html_text(item, "excessSection"),
		.excess = not_negative(fsl_html_number(item, "excessRatio")),
		.relative_score = not_negative(fsl_html_number(item, "relativeScore")),
		.individual_score = not_negative(fsl_html_number(item, "individualScore")),
		.same_work = not_negative(fsl_html_number(item, "sameWorkRatio")),
		.window_ms = not_negative(fsl_html_number(item, "windowMs")),
		.is_culprit = strcmp(state, "culprit") == 0,
		.is_victim = strcmp(state, "victim") == 0,
		.is_straggler = is_true(item, "isStraggler"),
	};
	for (size_t s = 0; s < FSL_HTML_SHARES_N; s++) {
		double share = fsl_html_number(breakdown, keys[s]) / whole_ms;
		out->shares[s] = share >= 0.0 && share <= 1.0 ? share : (double)NAN;
	}
}

static enum fsl_status take_workers(struct fsl_html_functions *out, struct fsl_error *err)
{
	const cJSON *item = NULL, *list = fsl_html_at(out->root, "workers");
	size_t n = length_of(list);
	if (n > FSL_RANKS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the document has too many workers: workers=%zu, most=%d", n,
				FSL_RANKS_MAX);
	}
	FSL_TRY(FSL_ARENA_NEW(out->workers, &out->arena, n + 1, "workers", err));
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_worker *worker = &out->workers[out->n_workers];
		take_worker(worker, item);
		if (worker->rank < 0 || (out->n_workers > 0 && worker[-1].rank >= worker->rank)) {
			return FSL_FAIL(err, FSL_ERR_FORMAT,
					"the document lists workers out of order: rank=%lld",
					(long long)worker->rank);
		}
		out->n_culprits += worker->is_culprit;
		out->n_victims += worker->is_victim;
		out->n_stragglers += worker->is_straggler;
		out->n_workers++;
	}
	return FSL_OK;
}

/* Median of a member of cells, over workers that are no culprits, or over all. */
static double median_of(const struct fsl_html_functions *page,
			const struct fsl_html_function *function, double *scratch, bool is_ratio,
			bool has_culprits)
{
	size_t n = 0;
	for (size_t w = 0; w < page->n_workers; w++) {
		double value = is_ratio ? function->cells[w].ratio : function->cells[w].mean_us;
		if (isfinite(value) && (has_culprits || !page->workers[w].is_culprit)) {
			scratch[n++] = value;
		}
	}
	return n > 0 ? fsl_median(scratch, n, scratch + page->n_workers) : (double)NAN;
}

static enum fsl_status take_cells(struct fsl_html_functions *out,
				  struct fsl_html_function *function, const cJSON *item,
				  struct fsl_error *err)
{
	const cJSON *cell = NULL;
	double *scratch = NULL;
	FSL_TRY(FSL_ARENA_NEW(function->cells, &out->arena, out->n_workers + 1, "cells", err));
	for (size_t w = 0; w < out->n_workers; w++) {
		function->cells[w] = (struct fsl_html_cell){NAN, NAN, NAN, false};
	}
	cJSON_ArrayForEach(cell, fsl_html_at(item, "workers"))
	{
		size_t w = fsl_html_worker_of(out, fsl_html_index(cell, "rank"));
		if (w == SIZE_MAX) {
			continue;
		}
		struct fsl_html_cell *to = &function->cells[w];
		to->ratio = not_negative(fsl_html_number(cell, "ratio"));
		to->mean_us = not_negative(fsl_html_number(cell, "meanUs"));
		to->count = not_negative(fsl_html_number(cell, "count"));
		to->is_abnormal = is_true(cell, "isAbnormal");
		function->n_abnormal += to->is_abnormal;
		function->ratio_max = fmax(function->ratio_max, to->ratio);
		function->mean_us_max = fmax(function->mean_us_max, to->mean_us);
	}
	FSL_TRY(FSL_NEW(scratch, 2 * out->n_workers + 1, "workers", err));
	function->usual_ratio = median_of(out, function, scratch, true, false);
	if (!isfinite(function->call_us)) {
		function->call_us = median_of(out, function, scratch, false, true);
	}
	fsl_free(scratch);
	return FSL_OK;
}

/* The functions of one object of the document, {name: facts}. */
static enum fsl_status take_items(struct fsl_html_functions *out, enum fsl_html_section section,
				  const cJSON *object, const char *group, struct fsl_error *err)
{
	const cJSON *item = NULL;
	size_t n_before = out->n_items;
	cJSON_ArrayForEach(item, object)
	{
		bool has_room = out->n_items - n_before < ITEMS_MAX &&
				(out->n_items + 1) * (out->n_workers + 1) <= CELLS_MAX &&
				out->n_items < (size_t)FSL_HTML_SECTIONS_N * ITEMS_MAX;
		if (!cJSON_IsObject(item) || item->string == NULL) {
			continue;
		}
		if (!has_room) {
			out->n_cut[section]++;
			continue;
		}
		struct fsl_html_function *function = &out->items[out->n_items];
		const char *name = fsl_html_text(item, "name");
		bool is_kernel = section == FSL_HTML_COMPUTE;
		*function = (struct fsl_html_function){
			.section = section,
			.name = *name != '\0' ? name : item->string,
			.shape = fsl_html_text(item, "shape"),
			.group = group,
			.ratio = not_negative(fsl_html_number(item, is_kernel ? "bottleneckRatio"
									      : "averageRatio")),
			.call_us = not_negative(fsl_html_number(item, "medianCostUs")),
			.flops = not_negative(fsl_html_number(item, "flops")),
			.bytes = not_negative(fsl_html_number(item, "bytes")),
		};
		FSL_TRY(take_cells(out, function, item, err));
		out->n_items++;
	}
	return FSL_OK;
}

static enum fsl_status take_sections(struct fsl_html_functions *out, struct fsl_error *err)
{
	static const struct {
		enum fsl_html_section section;
		const char *key;
	} plain[] = {{FSL_HTML_RUNTIME, "cudaRuntime"}, {FSL_HTML_PYTHON, "python"}};
	const cJSON *root = out->root, *group = NULL;
	size_t n = (size_t)FSL_HTML_SECTIONS_N * ITEMS_MAX;
	FSL_TRY(FSL_ARENA_NEW(out->items, &out->arena, n + 1, "functions", err));
	FSL_TRY(take_items(out, FSL_HTML_COMPUTE,
			   fsl_html_at(fsl_html_at(root, "gpuCompute"), "majorKernels"), "", err));
	FSL_TRY(take_items(out, FSL_HTML_MEMORY, fsl_html_at(root, "gpuMemory"), "", err));
	cJSON_ArrayForEach(group, fsl_html_at(root, "communication"))
	{
		FSL_TRY(take_items(out, FSL_HTML_COMMUNICATION, group,
				   group->string != NULL ? group->string : "", err));
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		FSL_TRY(take_items(out, plain[i].section, fsl_html_at(root, plain[i].key), "",
				   err));
	}
	return FSL_OK;
}

/* The culprit with the greatest excess; without culprits the worker that waits least. */
static void find_worst(struct fsl_html_functions *out)
{
	double most = -1.0;
	out->worst = SIZE_MAX;
	for (size_t w = 0; w < out->n_workers; w++) {
		const struct fsl_html_worker *worker = &out->workers[w];
		double wait = worker->shares[FSL_HTML_SHARE_COMMUNICATION];
		double value = out->n_culprits > 0 ? worker->excess : 1.0 - wait;
		bool is_candidate = out->n_culprits == 0 || worker->is_culprit;
		if (is_candidate && (out->worst == SIZE_MAX || value > most)) {
			out->worst = w;
			most = isfinite(value) ? value : -1.0;
		}
	}
}

/* The function that the told worker has most beyond the usual, in the section of its excess; else
 * one in which somebody stands out; else the one with most time. */
static void find_told(struct fsl_html_functions *out)
{
	double most = -1.0;
	out->told = SIZE_MAX;
	for (size_t i = 0; i < out->n_items; i++) {
		const struct fsl_html_function *function = &out->items[i];
		double value = function->ratio_max;
		if (out->worst != SIZE_MAX) {
			const struct fsl_html_worker *worst = &out->workers[out->worst];
			const struct fsl_html_cell *cell = &function->cells[out->worst];
			const char *id = fsl_html_section_ids[function->section];
			bool is_why = worst->is_culprit && cell->is_abnormal &&
				      strcmp(id, worst->section) == 0;
			value = is_why ? 4.0 + cell->ratio - function->usual_ratio : value;
		}
		value += function->n_abnormal > 0 ? 2.0 : 0.0;
		if (out->told == SIZE_MAX || value > most) {
			out->told = i;
			most = isfinite(value) ? value : -1.0;
		}
	}
}

enum fsl_status fsl_html_functions_read(struct fsl_html_functions *out, const cJSON *document,
					struct fsl_error *err)
{
	*out = (struct fsl_html_functions){.root = document, .worst = SIZE_MAX, .told = SIZE_MAX};
	if (!fsl_html_is_functions(document)) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"the file is no document of functions: schema=\"%.40s\"",
				fsl_html_text(document, "schema"));
	}
	enum fsl_status status = take_workers(out, err);
	FSL_THEN(status, take_sections(out, err));
	if (status != FSL_OK) {
		fsl_html_functions_fini(out);
		return status;
	}
	find_worst(out);
	find_told(out);
	return FSL_OK;
}

void fsl_html_functions_fini(struct fsl_html_functions *page)
{
	fsl_arena_fini(&page->arena);
	*page = (struct fsl_html_functions){.worst = SIZE_MAX, .told = SIZE_MAX};
}
