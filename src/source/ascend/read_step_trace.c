/*
 * step_trace_*.csv of msprof: iterations of the graphs that the device ran, one row each with end
 * and duration. They are the steps of a capture if its other tables have none. "Iteration ID"
 * counts per graph ("Model ID"), so only the graph with the most time counts. Columns: the
 * reference of profile data files (docs/en/user_guide of github.com/Ascend/msprof, "step_trace").
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/table.h"

enum { ITERATIONS_MAX = 4096 }; /* as many as the steps of a breakdown */

enum column { DEVICE, ITERATION, END, DURATION, MODEL, COLUMNS_N };

static const struct fsl_table_column columns[COLUMNS_N] = {
	[DEVICE] = {{"Device_id", "Device Id"}, false},
	[ITERATION] = {{"Iteration ID"}, true},
	[END] = {{"Iteration End(us)"}, true},
	[DURATION] = {{"Iteration Time(us)"}, true},
	[MODEL] = {{"Model ID"}, false},
};

struct iteration {
	int64_t model;
	struct fsl_profile_range range;
};

struct iterations {
	struct iteration *items;
	size_t n_items, capacity;
	int64_t device_id; /* first device in the rows; -1: none yet */
};

/* Reads a row; returns NULL, or what is wrong with it. */
static const char *parse(const struct fsl_table *table, struct iterations *iterations,
			 struct iteration *out)
{
	struct fsl_profile_range *range = &out->range;
	int64_t dur_ns = 0, device_id = fsl_table_amount(table, DEVICE, 1, -1);
	out->model = fsl_table_amount(table, MODEL, 1, -1);
	if (!fsl_table_scaled(table, ITERATION, 1, &range->step) || range->step < 0) {
		return "the iteration is no number";
	}
	if (!fsl_table_scaled(table, END, FSL_NS_PER_US, &range->end_ns) ||
	    !fsl_table_scaled(table, DURATION, FSL_NS_PER_US, &dur_ns) || dur_ns <= 0 ||
	    range->end_ns < dur_ns) {
		return "end or duration are missing or no times";
	}
	range->begin_ns = range->end_ns - dur_ns;
	iterations->device_id = iterations->device_id < 0 ? device_id : iterations->device_id;
	return device_id == iterations->device_id ? NULL : fsl_profile_other_device;
}

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	struct iterations *iterations = context;
	struct iteration iteration;
	const char *fault = parse(table, iterations, &iteration);
	if (fault != NULL) {
		fsl_table_drop(table, fault);
		return FSL_OK;
	}
	if (iterations->n_items == ITERATIONS_MAX) {
		fsl_table_tell(table, "more than 4096 iterations; further ones are left out");
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(iterations->items, iterations->capacity, iterations->n_items + 1, err));
	iterations->items[iterations->n_items++] = iteration;
	return FSL_OK;
}

static int compare(const void *left, const void *right)
{
	const struct iteration *a = left, *b = right;
	int order = FSL_ORDER(a->model, b->model);
	order = order != 0 ? order : FSL_ORDER(a->range.begin_ns, b->range.begin_ns);
	order = order != 0 ? order : FSL_ORDER(a->range.end_ns, b->range.end_ns);
	return order != 0 ? order : FSL_ORDER(a->range.step, b->range.step);
}

/* Finds [*begin, *end) of the sorted items: the graph that ran longest. */
static void find_longest(const struct iterations *iterations, size_t *begin, size_t *end)
{
	const struct iteration *items = iterations->items;
	double most_ns = -1.0;
	for (size_t first = 0, behind = 0; first < iterations->n_items; first = behind) {
		double sum_ns = 0.0;
		while (behind < iterations->n_items && items[behind].model == items[first].model) {
			const struct fsl_profile_range *range = &items[behind++].range;
			sum_ns += (double)(range->end_ns - range->begin_ns);
		}
		if (sum_ns > most_ns) {
			most_ns = sum_ns;
			*begin = first;
			*end = behind;
		}
	}
}

/* Writes the iterations as ranges. If two overlap, the common time belongs to the first. */
static enum fsl_status give(struct fsl_profile_rank *rank, struct iterations *iterations,
			    struct fsl_error *err)
{
	struct fsl_profile_trace *trace = &rank->trace;
	size_t begin = 0, end = 0;
	qsort(iterations->items, iterations->n_items, sizeof(*iterations->items), compare);
	find_longest(iterations, &begin, &end);
	FSL_TRY(FSL_GROW(trace->ranges, trace->ranges_capacity, end - begin, err));
	for (size_t i = begin; i < end; i++) {
		struct fsl_profile_range range = iterations->items[i].range;
		int64_t last_ns = trace->n_ranges > 0 ? trace->ranges[trace->n_ranges - 1].end_ns
						      : range.begin_ns;
		range.begin_ns = range.begin_ns > last_ns ? range.begin_ns : last_ns;
		if (range.begin_ns < range.end_ns) {
			trace->ranges[trace->n_ranges++] = range;
		}
	}
	trace->has_iterations = trace->n_ranges > 0;
	rank->n_steps_captured = trace->n_ranges;
	return FSL_OK;
}

enum fsl_status fsl_profile_read_step_trace(struct fsl_profile_rank *rank,
					    const struct fsl_profile_input *input,
					    struct fsl_error *err)
{
	struct iterations iterations = {.device_id = -1};
	enum fsl_status status =
		fsl_table_read(rank, input, columns, COLUMNS_N, add, &iterations, err);
	/* Skipped if another file has steps, and after the first slice. */
	bool is_wanted = rank->n_steps_captured == 0 && rank->trace.n_ranges == 0;
	if (status == FSL_OK && is_wanted && iterations.n_items > 0) {
		status = give(rank, &iterations, err);
	}
	fsl_free(iterations.items);
	return status;
}
