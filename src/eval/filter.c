/* KEY=VALUE|VALUE: compares jobs with filters, and collects the values that exist. */
#include "eval/filter.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"

enum { ALLOWED_BYTES = 300 };

static bool value_matches(const char *wanted, const char *value)
{
	size_t length = strlen(value);
	while (*wanted != '\0') {
		size_t n = strcspn(wanted, "|");
		if (n == length && strncmp(wanted, value, n) == 0) {
			return true;
		}
		wanted += n + (wanted[n] == '|');
	}
	return false;
}

static void fault_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%s", task->scenario->name);
}

static void topology_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%s", task->topology->name);
}

static void ranks_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%d", (int)task->n_ranks);
}

static void steps_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%d", (int)task->n_steps);
}

static void magnitude_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%g", 100.0 * task->magnitude);
}

static void duration_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%d", (int)task->duration_steps);
}

static void condition_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%s", fsl_eval_condition_text(task->condition));
}

static void devices_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%s", task->devices->name);
}

static void timelines_of(char *out, size_t size, const struct fsl_eval_task *task)
{
	snprintf(out, size, "%s", task->timelines->name);
}

static const struct {
	const char *key;
	void (*value)(char *out, size_t size, const struct fsl_eval_task *task);
} filter_keys[] = {
	{"fault", fault_of},         {"topology", topology_of},   {"ranks", ranks_of},
	{"steps", steps_of},         {"magnitude", magnitude_of}, {"duration", duration_of},
	{"condition", condition_of}, {"devices", devices_of},     {"timelines", timelines_of},
};
enum { FILTER_KEYS_N = sizeof(filter_keys) / sizeof(filter_keys[0]) };

/* Index of the filter's key, FILTER_KEYS_N if there is none. */
static size_t find_key(const char *filter)
{
	for (size_t k = 0; k < FILTER_KEYS_N; k++) {
		size_t length = strlen(filter_keys[k].key);
		if (strncmp(filter, filter_keys[k].key, length) == 0 && filter[length] == '=') {
			return k;
		}
	}
	return FILTER_KEYS_N;
}

enum fsl_status fsl_eval_filters_read(struct fsl_eval_filter **out,
				      const struct fsl_eval_selection *selection,
				      struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n_filters = selection->n_filters;
	struct fsl_eval_filter *filters = NULL;
	FSL_TRY(FSL_ARENA_NEW(filters, arena, n_filters, "filters", err));
	for (size_t i = 0; i < n_filters; i++) {
		const char *text = selection->filters[i];
		size_t key = find_key(text);
		if (key == FILTER_KEYS_N) {
			return FSL_FAIL(
				err, FSL_ERR_USAGE,
				"a filter is KEY=VALUE, with fault, topology, ranks, "
				"steps, magnitude, duration, condition, devices or timelines: filter=\"%s\"",
				text);
		}
		filters[i].wanted = text + strlen(filter_keys[key].key) + 1;
		filters[i].key_idx = key;
	}
	*out = filters;
	return FSL_OK;
}

static void note(struct fsl_eval_filter *filter, const char *value)
{
	for (size_t i = 0; i < filter->n_values; i++) {
		if (strcmp(filter->values[i], value) == 0) {
			return;
		}
	}
	FSL_REQUIRE(filter->n_values < FSL_EVAL_FILTER_VALUES_MAX);
	(void)snprintf(filter->values[filter->n_values++], FSL_EVAL_TEXT_MAX, "%s", value);
}

bool fsl_eval_filters_pass(struct fsl_eval_filter *filters, size_t n_filters,
			   const struct fsl_eval_task *task)
{
	bool passes = true;
	for (size_t i = 0; i < n_filters; i++) {
		char value[FSL_EVAL_TEXT_MAX];
		filter_keys[filters[i].key_idx].value(value, sizeof(value), task);
		note(&filters[i], value);
		passes = value_matches(filters[i].wanted, value) && passes;
	}
	return passes;
}

/* "8, 16, 64", cut if it does not fit. */
static void join_values(char out[ALLOWED_BYTES], const struct fsl_eval_filter *filter)
{
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; i < filter->n_values && n < ALLOWED_BYTES - 1; i++) {
		int added = snprintf(out + n, ALLOWED_BYTES - n, "%s%s", i > 0 ? ", " : "",
				     filter->values[i]);
		n += added > 0 ? (size_t)added : 0;
	}
}

static enum fsl_status fail_value(const struct fsl_eval_filter *filter, const char *value,
				  size_t length, struct fsl_error *err)
{
	const char *names[FSL_EVAL_FILTER_VALUES_MAX];
	const char *key = filter_keys[filter->key_idx].key;
	char allowed[ALLOWED_BYTES];
	for (size_t i = 0; i < filter->n_values; i++) {
		names[i] = filter->values[i];
	}
	const char *meant = fsl_nearest_name(value, length, names, filter->n_values);
	if (meant != NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no job of the preset has this value: filter=\"%s\", "
				"value=\"%.*s\", did_you_mean=\"%s\"",
				key, (int)length, value, meant);
	}
	join_values(allowed, filter);
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"no job of the preset has this value: filter=\"%s\", value=\"%.*s\", "
			"allowed=\"%s\"",
			key, (int)length, value, allowed);
}

/* True if some job has the value, one of "compute-one|host". */
static bool is_known(const struct fsl_eval_filter *filter, const char *value, size_t length)
{
	for (size_t i = 0; i < filter->n_values; i++) {
		if (strlen(filter->values[i]) == length &&
		    strncmp(filter->values[i], value, length) == 0) {
			return true;
		}
	}
	return false;
}

enum fsl_status fsl_eval_filters_check(const struct fsl_eval_filter *filters, size_t n_filters,
				       struct fsl_error *err)
{
	for (size_t i = 0; i < n_filters; i++) {
		const char *value = filters[i].wanted;
		for (;;) {
			size_t length = strcspn(value, "|");
			if (!is_known(&filters[i], value, length)) {
				return fail_value(&filters[i], value, length, err);
			}
			if (value[length] == '\0') {
				break;
			}
			value += length + 1;
		}
	}
	return FSL_OK;
}
