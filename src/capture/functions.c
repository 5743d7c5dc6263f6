/* Sums times by function: first by function and begin, then one pass over each. */
#include "capture/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

const char *const fsl_function_class_texts[] = {"compute", "memory", "communication",
						"runtime", "python", NULL};

void fsl_functions_destroy(struct fsl_functions *functions)
{
	if (functions != NULL) {
		fsl_free(functions->items);
		fsl_free(functions->levels);
		fsl_free(functions);
	}
}

enum fsl_status fsl_busy_add(struct fsl_busy *busy, int64_t begin_ns, int64_t end_ns,
			     struct fsl_error *err)
{
	struct fsl_busy_span *last = busy->n_spans > 0 ? &busy->spans[busy->n_spans - 1] : NULL;
	if (last != NULL && begin_ns <= last->end_ns) {
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return FSL_OK;
	}
	struct fsl_busy_span span = {begin_ns, end_ns,
				     last != NULL ? last->before_ns + last->end_ns - last->begin_ns
						  : 0};
	return FSL_APPEND(busy, spans, &span, err);
}

int64_t fsl_busy_next(const struct fsl_busy *busy, size_t *from, int64_t time_ns)
{
	size_t at = *from, n_step = 1, last = busy->n_spans;
	while (at < last && busy->spans[at].begin_ns < time_ns) {
		at += n_step;
		n_step *= 2;
	}
	/* The last step but one was before the place. */
	last = at < last ? at : last;
	at = n_step > 1 ? at - n_step / 2 + 1 : at;
	FSL_BISECT(at, last, i, busy->spans[i].begin_ns < time_ns);
	*from = at;
	if (at == 0) {
		return 0;
	}
	const struct fsl_busy_span *span = &busy->spans[at - 1];
	int64_t end_ns = time_ns < span->end_ns ? time_ns : span->end_ns;
	return span->before_ns + end_ns - span->begin_ns;
}

int64_t fsl_busy_until(const struct fsl_busy *busy, int64_t time_ns)
{
	size_t at = 0;
	return fsl_busy_next(busy, &at, time_ns);
}

enum fsl_status fsl_function_times_init(struct fsl_function_times *times, struct fsl_error *err)
{
	*times = (struct fsl_function_times){.keys = fsl_strpool_create()};
	return times->keys != NULL ? FSL_OK
				   : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: functions=0");
}

static void forget_durations(struct fsl_function_times *times)
{
	fsl_free(times->durations);
	fsl_free(times->ends);
	times->durations = NULL;
	times->ends = NULL;
}

void fsl_function_times_fini(struct fsl_function_times *times)
{
	fsl_strpool_destroy(times->keys);
	fsl_free(times->built);
	forget_durations(times);
	*times = (struct fsl_function_times){0};
}

enum fsl_status fsl_function_find(struct fsl_function_times *times, enum fsl_function_class class,
				  uint32_t name_id, uint32_t shape_id, uint32_t caller,
				  uint32_t *id, struct fsl_error *err)
{
	const uint32_t key[] = {(uint32_t) class, name_id, shape_id, caller};
	char bytes[sizeof(key)];
	memcpy(bytes, key, sizeof(key));
	if (caller != FSL_STR_NONE && times->n_built >= FSL_FUNCTION_PATHS_MAX) {
		uint32_t known = fsl_strpool_find(times->keys, bytes, sizeof(bytes));
		*id = known != FSL_STR_NONE ? known : caller;
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(times->keys, bytes, sizeof(bytes), id, err));
	if (*id < times->n_built) {
		return FSL_OK;
	}
	const struct fsl_function_built built = {.function = {.class = class,
							      .sampled = FSL_SAMPLED_N,
							      .level = (double)NAN,
							      .level_spread = (double)NAN,
							      .median_ns = (double)NAN},
						 .name_id = name_id,
						 .shape_id = shape_id,
						 .caller = caller,
						 .until_ns = INT64_MIN};
	return FSL_APPEND(times, built, &built, err);
}

void fsl_function_add_time(struct fsl_function_times *times, uint32_t id, int64_t begin_ns,
			   int64_t end_ns, const struct fsl_busy *above)
{
	struct fsl_function_built *built = &times->built[id];
	begin_ns = begin_ns > built->until_ns ? begin_ns : built->until_ns;
	if (begin_ns >= end_ns) {
		return;
	}
	int64_t own_ns = end_ns - begin_ns;
	built->function.wall_ns += own_ns;
	built->function.exclusive_ns += own_ns;
	built->until_ns = end_ns;
	if (above != NULL) {
		int64_t before_ns = fsl_busy_next(above, &built->above_at, begin_ns);
		built->function.exclusive_ns -=
			fsl_busy_next(above, &built->above_at, end_ns) - before_ns;
	}
}

void fsl_function_count(struct fsl_function_times *times, uint32_t id, int64_t dur_ns)
{
	struct fsl_function_built *built = &times->built[id];
	struct fsl_function *function = &built->function;
	function->count++;
	function->total_ns = fsl_sum_i64(function->total_ns, dur_ns);
	/* Welford's update: no difference of large numbers. */
	double distance = (double)dur_ns - function->mean_ns;
	function->mean_ns += distance / (double)function->count;
	built->squares += distance * ((double)dur_ns - function->mean_ns);
}

/* Calls of Python are too many. */
static bool has_median(const struct fsl_function_built *built)
{
	return built->function.class != FSL_FUNCTION_PYTHON;
}

enum fsl_status fsl_function_medians_begin(struct fsl_function_times *times, struct fsl_error *err)
{
	size_t n = 0;
	FSL_TRY(FSL_NEW(times->ends, times->n_built + 1, "functions", err));
	for (size_t f = 0; f < times->n_built; f++) {
		times->ends[f] = n;
		n += has_median(&times->built[f]) ? (size_t)times->built[f].function.count : 0;
	}
	return FSL_NEW(times->durations, n + 1, "calls", err);
}

void fsl_function_medians_add(struct fsl_function_times *times, uint32_t function, int64_t dur_ns)
{
	times->durations[times->ends[function]++] = dur_ns;
}

void fsl_function_medians_tell(struct fsl_function_times *times)
{
	for (size_t f = 0, begin = 0; f < times->n_built; begin = times->ends[f++]) {
		size_t n = times->ends[f] - begin;
		if (n > 0) {
			int64_t *durations = times->durations + begin;
			times->built[f].function.median_ns =
				(double)(fsl_select_i64(durations, n, (n - 1) / 2) +
					 fsl_select_i64(durations, n, n / 2)) /
				2.0;
		}
	}
	forget_durations(times);
}

static void settle_one(struct fsl_function_built *built)
{
	struct fsl_function *function = &built->function;
	/* A frame may begin within a system call of its caller. */
	function->syscall_ns = function->syscall_ns < function->total_ns ? function->syscall_ns
									 : function->total_ns;
	function->spread_ns =
		function->count > 0 ? sqrt(built->squares / (double)function->count) : 0.0;
}

/* @context: the functions, passed by qsort_r. */
static int compare_built(const void *left, const void *right, void *context)
{
	const struct fsl_function_built *built = context;
	size_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct fsl_function *a = &built[i].function, *b = &built[k].function;
	FSL_ORDER_BY(a->class, b->class);
	FSL_ORDER_BY(b->exclusive_ns, a->exclusive_ns);
	FSL_ORDER_BY(b->total_ns, a->total_ns);
	return FSL_ORDER(i, k);
}

/* "outermost|...|innermost"; of a path that is too long the innermost frames behind "...". */
static const char *path_of(const struct fsl_function_times *times, uint32_t id,
			   struct fsl_profile_rank *rank)
{
	static const char cut[] = "...|";
	size_t length = 0, n_frames = 0;
	uint32_t f = id;
	for (; f != FSL_STR_NONE && (n_frames == 0 || length < FSL_FUNCTION_NAME_MAX);
	     f = times->built[f].caller) {
		length += strlen(fsl_strpool_text(rank->names, times->built[f].name_id)) + 1;
		n_frames++;
	}
	bool is_cut = f != FSL_STR_NONE;
	length += is_cut ? strlen(cut) : 0;
	char *text = fsl_arena_take(&rank->arena, length);
	if (text == NULL) {
		return NULL;
	}
	text[--length] = '\0';
	f = id;
	for (size_t i = 0; i < n_frames; i++, f = times->built[f].caller) {
		const char *name = fsl_strpool_text(rank->names, times->built[f].name_id);
		size_t n = strlen(name);
		length -= n;
		memcpy(text + length, name, n);
		if (length > 0) {
			text[--length] = '|';
		}
	}
	memcpy(text, cut, is_cut ? strlen(cut) : 0);
	return text;
}

static enum fsl_status keep(const struct fsl_function_times *times, uint32_t id, size_t n_kept,
			    struct fsl_profile_rank *rank, struct fsl_error *err)
{
	struct fsl_functions *functions = rank->functions;
	const struct fsl_function_built *built = &times->built[id];
	struct fsl_function function = built->function;
	struct fsl_functions_rest *rest = &functions->rest[function.class];
	if (n_kept >= FSL_FUNCTIONS_KEPT_MAX) {
		rest->n++;
		rest->count += function.count;
		rest->total_ns = fsl_sum_i64(rest->total_ns, function.total_ns);
		rest->exclusive_ns = fsl_sum_i64(rest->exclusive_ns, function.exclusive_ns);
		return FSL_OK;
	}
	function.name = path_of(times, id, rank);
	function.shape = built->shape_id != FSL_STR_NONE
				 ? fsl_strpool_text(rank->names, built->shape_id)
				 : "";
	if (function.name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: functions=%zu",
				functions->n_items);
	}
	return FSL_APPEND(functions, items, &function, err);
}

static enum fsl_status keep_all(const struct fsl_function_times *times,
				struct fsl_profile_rank *rank, struct fsl_error *err)
{
	uint32_t *order = NULL;
	size_t n = 0, n_kept[FSL_FUNCTION_CLASSES_N] = {0};
	FSL_TRY(FSL_NEW(order, times->n_built + 1, "functions", err));
	for (size_t f = 0; f < times->n_built; f++) {
		if (times->built[f].function.count > 0) {
			order[n++] = (uint32_t)f;
		}
	}
	if (n > 1) {
		qsort_r(order, n, sizeof(*order), compare_built, times->built);
	}
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		enum fsl_function_class class = times->built[order[i]].function.class;
		status = keep(times, order[i], n_kept[class]++, rank, err);
	}
	fsl_free(order);
	return status;
}

enum fsl_status fsl_functions_settle(struct fsl_function_times *times,
				     struct fsl_profile_rank *rank, struct fsl_error *err)
{
	for (size_t f = 0; f < times->n_built; f++) {
		settle_one(&times->built[f]);
	}
	return keep_all(times, rank, err);
}
