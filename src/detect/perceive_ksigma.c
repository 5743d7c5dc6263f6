/*
 * The reference's k-sigma on step times, by the detector StepKSigma, and the short rises it finds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/sort.h"
#include "detect/engine.h"
#include "detect/perceive_parts.h"
#include "plugin/registry.h"

enum {
	LONG_STEPS_MIN = 3, /* a rise has at least two long steps and one that confirms the last */
	SCANS_MAX = 100,    /* each scan may find steps that the previous one uncovered */
};

static const struct fsl_detector_config *configured(const struct fsl_config *config,
						    const char *name)
{
	for (size_t i = 0; i < config->n_detectors; i++) {
		if (strcmp(config->detectors[i].name, name) == 0) {
			return &config->detectors[i];
		}
	}
	return NULL;
}

/* Puts the section of @name into @json, where it overrides the model's keys. */
static bool put_given(const struct fsl_config *config, const char *name, cJSON *json)
{
	bool is_put = true;
	for (size_t i = 0; i < config->n_values && is_put; i++) {
		const struct fsl_config_value *value = &config->values[i];
		const char *key = strrchr(value->key, '.');
		size_t n_name = strlen(name);
		bool is_given = value->file[0] != '\0' && key != NULL &&
				strncmp(value->key, "detectors.", 10) == 0 &&
				strncmp(value->key + 10, name, n_name) == 0 &&
				value->key + 10 + n_name == key;
		if (is_given) {
			cJSON_DeleteItemFromObjectCaseSensitive(json, key + 1);
			is_put = cJSON_AddItemToObject(json, key + 1, cJSON_Parse(value->value));
		}
	}
	return is_put;
}

static enum fsl_status built_in(struct fsl_detector_config *out,
				const struct fsl_detector *detector, const cJSON *json,
				struct fsl_arena *arena, struct fsl_error *err)
{
	const void *params = NULL;
	FSL_TRY(fsl_registry_params(detector, json, "model_config.json", arena, &params, err));
	*out = (struct fsl_detector_config){
		.detector = detector, .params = params, .name = detector->name, .enabled = true};
	return FSL_OK;
}

static enum fsl_status choose(struct fsl_detector_config *out, const struct fsl_config *config,
			      const char *name, cJSON *json, struct fsl_arena *arena,
			      struct fsl_error *err)
{
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name);
	}
	const struct fsl_detector *detector = fsl_registry_find(registry, name);
	const struct fsl_detector_config *listed = configured(config, name);
	enum fsl_status status = FSL_OK;
	if (listed != NULL && (!listed->enabled || listed->detector != detector)) {
		*out = *listed;
		out->detector =
			listed->enabled ? listed->detector : NULL; /* the engine skips NULL */
	} else if (detector == NULL) {
		status = FSL_FAIL(err, FSL_ERR_INTERNAL, "no such detector: name=\"%s\"", name);
	} else if (listed != NULL && !put_given(config, name, json)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name);
	} else {
		status = built_in(out, detector, json, arena, err);
	}
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_perceive_detector(struct fsl_detector_config *out,
				      const struct fsl_config *config, const char *name,
				      const struct fsl_perceive_key *keys, struct fsl_arena *arena,
				      struct fsl_error *err)
{
	cJSON *json = cJSON_CreateObject();
	bool is_made = json != NULL;
	for (; keys->name != NULL && is_made; keys++) {
		is_made = cJSON_AddNumberToObject(json, keys->name, keys->value) != NULL;
	}
	enum fsl_status status =
		is_made ? choose(out, config, name, json, arena, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name);
	cJSON_Delete(json);
	return status;
}

static enum fsl_status scan(const struct fsl_detector_config *detector,
			    const struct fsl_windows *windows, uint8_t *labels,
			    struct fsl_error *err)
{
	struct fsl_findings findings = {0};
	bool is_skipped = false;
	enum fsl_status status = fsl_engine_scan(detector, windows, &findings, &is_skipped, err);
	if (status == FSL_OK) {
		fsl_findings_to_labels(&findings, windows, labels);
	}
	fsl_findings_fini(&findings);
	return status;
}

enum fsl_status fsl_step_alarms_init(struct fsl_step_alarms *alarms, struct fsl_arena *arena,
				     size_t n_max, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(arena, alarms->values, n_max, err));
	FSL_TRY(FSL_NEW(arena, alarms->labels, n_max, err));
	return FSL_NEW(arena, alarms->normal_ms, n_max, err);
}

/* Takes over the alarms of one scan; false if none is new. With @leave_out an alarmed step gets the
 * value of the step one window earlier, so that every window holds the latest normal steps. */
static bool take_found(struct fsl_step_alarms *alarms, struct fsl_windows *windows,
		       const uint8_t *found, size_t n_window, bool leave_out)
{
	double *values = windows->values;
	bool is_new = false;
	for (size_t i = n_window; i < alarms->n; i++) {
		if (found[i] == 0 || alarms->labels[i] != 0) {
			continue;
		}
		alarms->labels[i] = 1;
		alarms->normal_ms[i] = fsl_mean(values + i - n_window, n_window);
		values[i] = leave_out ? values[i - n_window] : values[i];
		is_new = true;
	}
	return is_new;
}

static enum fsl_status scan_repeatedly(struct fsl_step_alarms *alarms, struct fsl_windows *windows,
				       const struct fsl_config *config, bool leave_out,
				       struct fsl_error *err)
{
	const struct fsl_perceive_key keys[] = {
		{"steps_window_size", (double)config->steps_window_size},
		{"k_sigma", config->k_sigma},
		{"anomaly_degree_thr", config->anomaly_degree_thr},
		{0},
	};
	struct fsl_arena arena = {0};
	struct fsl_detector_config detector = {0};
	size_t n_window = (size_t)config->steps_window_size;
	uint8_t *found = NULL;
	enum fsl_status status = FSL_NEW(&arena, found, alarms->n, err);
	if (status == FSL_OK) {
		status = fsl_perceive_detector(&detector, config, "StepKSigma", keys, &arena, err);
	}
	bool is_new = true;
	for (int i = 0; i < SCANS_MAX && is_new && status == FSL_OK; i++) {
		status = scan(&detector, windows, found, err);
		is_new =
			status == FSL_OK && take_found(alarms, windows, found, n_window, leave_out);
	}
	fsl_arena_fini(&arena);
	return status;
}

enum fsl_status fsl_step_alarms_find(struct fsl_step_alarms *alarms, bool leave_out,
				     const struct fsl_config *config, struct fsl_error *err)
{
	if (config->steps_window_size < 1 || alarms->n <= (size_t)config->steps_window_size) {
		return FSL_OK;
	}
	struct fsl_windows windows = {0};
	enum fsl_status status = fsl_windows_init(&windows, FSL_METRIC_STEP_TIME, FSL_WINDOW_STEP,
						  1, alarms->n, err);
	if (status == FSL_OK) {
		windows.ranks[0] = -1;
		memcpy(windows.values, alarms->values, alarms->n * sizeof(*alarms->values));
		status = scan_repeatedly(alarms, &windows, config, leave_out, err);
	}
	fsl_windows_fini(&windows);
	return status;
}

static int compare_rises(const void *left, const void *right)
{
	const struct fsl_step_rise *a = left;
	const struct fsl_step_rise *b = right;
	return FSL_ORDER(a->begin, b->begin);
}

/* Search for short rises among the steps that belong to no known rise. */
struct search {
	const struct fsl_step_series *series;
	const struct fsl_config *config;
	const struct fsl_step_rise *known;
	size_t n_known;
	struct fsl_step_alarms alarms; /* room for series->n */
	size_t *positions;             /* position in the series of each entry of alarms.values */
	double *scratch;
};

static bool is_known(const struct search *search, size_t begin, size_t end)
{
	for (size_t r = 0; r < search->n_known; r++) {
		if (begin < search->known[r].until && search->known[r].begin < end) {
			return true;
		}
	}
	return false;
}

/* Makes the steps before @end that belong to no known rise the series of the alarms. */
static void collect_rest(struct search *search, size_t end)
{
	search->alarms.n = 0;
	for (size_t i = 0; i < end; i++) {
		if (!is_known(search, i, i + 1)) {
			search->positions[search->alarms.n] = i;
			search->alarms.values[search->alarms.n++] = search->series->clear_ms[i];
		}
	}
}

/* Sets labels and normal_ms by position in the series. */
static enum fsl_status label_rest(struct search *search, struct fsl_error *err)
{
	struct fsl_step_alarms *alarms = &search->alarms;
	collect_rest(search, search->series->n);
	FSL_TRY(fsl_step_alarms_find(alarms, true, search->config, err));
	/* From the end, because positions[i] >= i. */
	for (size_t i = alarms->n; i-- > 0;) {
		uint8_t label = alarms->labels[i];
		alarms->labels[i] = 0;
		alarms->labels[search->positions[i]] = label;
		alarms->normal_ms[search->positions[i]] = alarms->normal_ms[i];
	}
	return FSL_OK;
}

/* Makes the run [begin, end) a rise over the normal level before it. */
static struct fsl_step_rise make_rise(struct search *search, size_t begin, size_t end)
{
	const double *clear_ms = search->series->clear_ms;
	/* A window of ten steps forgets that the job had this step time before. */
	collect_rest(search, begin);
	double base_ms = fmax(search->alarms.normal_ms[begin],
			      fsl_median(search->alarms.values, search->alarms.n, search->scratch));
	size_t n_before = begin < 2 * (size_t)LONG_STEPS_MIN ? begin : 2 * (size_t)LONG_STEPS_MIN;
	return (struct fsl_step_rise){
		.begin = begin,
		.until = end,
		.base_ms = base_ms,
		.before_ms = base_ms,
		.after_ms = fsl_median(clear_ms + begin, end - begin, search->scratch),
		.p_value = fsl_mann_whitney_p(clear_ms + begin - n_before, n_before,
					      clear_ms + begin, end - begin),
	};
}

/* Collects runs of alarmed steps, each with the step that confirms its last. */
static void collect_runs(struct search *search, struct fsl_step_rise *rises, size_t *n_rises)
{
	const struct fsl_step_series *series = search->series;
	for (size_t begin = 0; begin < series->n && *n_rises < FSL_STEP_RISES_MAX;) {
		size_t end = begin;
		while (end < series->n && search->alarms.labels[end] != 0) {
			end++;
		}
		if (end == begin) {
			begin++;
			continue;
		}
		end = end < series->n ? end + 1 : end;
		if (end - begin >= LONG_STEPS_MIN && !is_known(search, begin, end)) {
			struct fsl_step_rise rise = make_rise(search, begin, end);
			/* In so short a run every step must be long: two spikes are no rise. */
			double least_ms = fsl_agg_apply(FSL_AGG_MIN, 0.0, series->clear_ms + begin,
							end - begin, search->scratch);
			bool is_rise = fsl_step_series_is_rise(series, rise.base_ms, least_ms,
							       end - begin, series->degree_thr);
			rises[*n_rises] = rise;
			*n_rises += is_rise ? 1 : 0;
		}
		begin = end;
	}
}

enum fsl_status fsl_step_series_runs(struct fsl_step_series *series,
				     const struct fsl_config *config, struct fsl_step_rise *rises,
				     size_t *n_rises, struct fsl_error *err)
{
	struct fsl_step_rise known[FSL_STEP_RISES_MAX];
	memcpy(known, rises, *n_rises * sizeof(*rises));
	struct search search = {
		.series = series,
		.config = config,
		.known = known,
		.n_known = *n_rises,
	};
	FSL_TRY(FSL_NEW(&series->arena, search.positions, series->n, err));
	FSL_TRY(FSL_NEW(&series->arena, search.scratch, series->n, err));
	FSL_TRY(fsl_step_alarms_init(&search.alarms, &series->arena, series->n, err));
	FSL_TRY(label_rest(&search, err));
	collect_runs(&search, rises, n_rises);
	qsort(rises, *n_rises, sizeof(*rises), compare_rises);
	return FSL_OK;
}
