/* Runs the time and the space detector on one unit of work, and fuses their labels. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "detect/classical_parts.h"
#include "detect/engine.h"

/*
 * Reasons why detectors could not run. Equal reasons of many groups become one line of the verdict.
 */

enum { WHY_BYTES = 256, NOTES_COMPARED_MAX = 64 };

/* The recent note with this subject and reason; NULL: none. Older notes are not searched, so that
 * many different reasons do not cost a comparison with each other. */
static struct fsl_note *find_note(struct fsl_notes *notes, const char *subject, const char *why)
{
	size_t n = notes->n_items;
	for (size_t i = 0; i < n && i < NOTES_COMPARED_MAX; i++) {
		struct fsl_note *note = &notes->items[n - 1 - i];
		if (strcmp(note->subject, subject) == 0 && strcmp(note->why, why) == 0) {
			return note;
		}
	}
	return NULL;
}

static enum fsl_status add_note(struct fsl_notes *notes, const struct fsl_note *added,
				struct fsl_error *err)
{
	struct fsl_note *known = find_note(notes, added->subject, added->why);
	if (known != NULL) {
		known->n_more += added->n_more + 1;
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(notes->items, notes->capacity, notes->n_items + 1, err));
	struct fsl_note note = {
		.subject = fsl_arena_strdup(&notes->arena, added->subject),
		.where = fsl_arena_strdup(&notes->arena, added->where),
		.why = fsl_arena_strdup(&notes->arena, added->why),
		.n_more = added->n_more,
	};
	if (note.subject == NULL || note.where == NULL || note.why == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"notes\"");
	}
	notes->items[notes->n_items++] = note;
	return FSL_OK;
}

enum fsl_status fsl_notes_add(struct fsl_notes *notes, struct fsl_error *err, const char *subject,
			      const char *where, const char *format, ...)
{
	char why[WHY_BYTES];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	struct fsl_note note = {.subject = subject, .where = where, .why = why};
	return add_note(notes, &note, err);
}

enum fsl_status fsl_notes_merge(struct fsl_notes *into, const struct fsl_notes *from,
				struct fsl_error *err)
{
	for (size_t i = 0; i < from->n_items; i++) {
		FSL_TRY(add_note(into, &from->items[i], err));
	}
	return FSL_OK;
}

static enum fsl_status flush_note(struct fsl_localisation *out, const struct fsl_note *note,
				  struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	struct fsl_arena *arena = &out->arena;
	if (note->where[0] == '\0') {
		return fsl_coverage_add_skipped(coverage, arena, err, "%s: %s", note->subject,
						note->why);
	}
	if (note->n_more == 0) {
		return fsl_coverage_add_skipped(coverage, arena, err, "%s: %s: %s", note->subject,
						note->where, note->why);
	}
	return fsl_coverage_add_skipped(coverage, arena, err, "%s: %s and %zu more: %s",
					note->subject, note->where, note->n_more, note->why);
}

enum fsl_status fsl_notes_flush(struct fsl_localisation *out, const struct fsl_notes *notes,
				struct fsl_error *err)
{
	for (size_t i = 0; i < notes->n_items; i++) {
		FSL_TRY(flush_note(out, &notes->items[i], err));
	}
	return FSL_OK;
}

void fsl_notes_fini(struct fsl_notes *notes)
{
	fsl_free(notes->items);
	fsl_arena_fini(&notes->arena);
	*notes = (struct fsl_notes){0};
}

/* Value of an integer parameter, @fallback if the detector has none of this name. */
static int64_t param_int(const struct fsl_detector_config *config, const char *key,
			 int64_t fallback)
{
	const struct fsl_param *param = config->detector->params;
	for (; param != NULL && param->key != NULL; param++) {
		if (strcmp(param->key, key) == 0 && param->type == FSL_PARAM_INT) {
			int64_t value;
			memcpy(&value, (const char *)config->params + param->offset, sizeof(value));
			return value;
		}
	}
	return fallback;
}

static bool is_wanted(const struct fsl_detector_config *config)
{
	return config->detector != NULL && config->enabled;
}

/* Runs one scan; labels are laid out as the windows. */
static enum fsl_status scan(const struct fsl_detector_config *config,
			    const struct fsl_windows *windows, uint8_t *labels, bool *has_run,
			    struct fsl_error *err)
{
	struct fsl_findings findings = {0};
	bool is_skipped = false;
	enum fsl_status status = fsl_engine_scan(config, windows, &findings, &is_skipped, err);
	if (status == FSL_OK && !is_skipped) {
		fsl_findings_to_labels(&findings, windows, labels);
	}
	*has_run = !is_skipped;
	fsl_findings_fini(&findings);
	return status;
}

static enum fsl_status run_time(struct fsl_judgement *out, struct fsl_unit *unit,
				const struct fsl_metric_config *metric,
				const struct fsl_windows *windows, const char *label,
				struct fsl_error *err)
{
	const struct fsl_detector_config *config = &metric->time_detector;
	if (!is_wanted(config)) {
		return FSL_OK;
	}
	int64_t needed = param_int(config, "n_sigma_method.min_update_window_size", 0);
	if ((int64_t)windows->n_windows < needed) {
		return fsl_notes_add(&unit->notes, err, config->name, label,
				     "%zu windows, needs %lld", windows->n_windows,
				     (long long)needed);
	}
	bool has_run = false;
	FSL_TRY(scan(config, windows, out->labels, &has_run, err));
	if (!has_run) {
		return fsl_notes_add(&unit->notes, err, config->name, label,
				     "not made for this metric");
	}
	out->has_run = has_run;
	return FSL_OK;
}

/* Copies the first @n_windows windows of every member. */
static enum fsl_status head_of(struct fsl_windows *out, const struct fsl_windows *windows,
			       size_t n_windows, struct fsl_error *err)
{
	FSL_TRY(fsl_windows_init(out, windows->metric, windows->kind, windows->n_members, n_windows,
				 err));
	for (size_t m = 0; m < windows->n_members; m++) {
		size_t from = m * windows->n_windows, to = m * n_windows;
		out->ranks[m] = windows->ranks[m];
		memcpy(out->values + to, windows->values + from, n_windows * sizeof(*out->values));
		memcpy(out->n_samples + to, windows->n_samples + from,
		       n_windows * sizeof(*out->n_samples));
		memcpy(out->first_ns + to, windows->first_ns + from,
		       n_windows * sizeof(*out->first_ns));
	}
	return FSL_OK;
}

/* Why the space detector cannot judge this unit; "" if it can. @text is of @size bytes. */
static const char *obstacle(const struct fsl_detector_config *config,
			    const struct fsl_windows *windows, size_t n_windows, char *text,
			    size_t size)
{
	int64_t n_members_min = param_int(config, "members_min", 4);
	int64_t n_members_max = param_int(config, "members_max", INT64_MAX);
	int64_t n_windows_min = param_int(config, "window_size", 1);
	text[0] = '\0';
	if ((int64_t)windows->n_members < n_members_min) {
		(void)snprintf(text, size, "%zu ranks, needs %lld", windows->n_members,
			       (long long)n_members_min);
	} else if ((int64_t)windows->n_members > n_members_max) {
		(void)snprintf(text, size, "%zu ranks, judges at most %lld", windows->n_members,
			       (long long)n_members_max);
	} else if ((int64_t)n_windows < n_windows_min) {
		(void)snprintf(text, size, "%zu windows, needs %lld", n_windows,
			       (long long)n_windows_min);
	}
	return text;
}

/*
 * As in the reference, the matrix has as many windows as the first member: longer members are cut,
 * shorter ones end in holes. If the space detector ran, its labels replace the labels of the time
 * detector.
 */
static enum fsl_status run_space(struct fsl_judgement *out, struct fsl_unit *unit,
				 const struct fsl_metric_config *metric,
				 const struct fsl_windows *windows, const char *label,
				 struct fsl_error *err)
{
	const struct fsl_detector_config *config = &metric->space_detector;
	if (!is_wanted(config)) {
		return FSL_OK;
	}
	char text[64];
	size_t n_windows = fsl_kpi_member_length(windows, 0);
	if (obstacle(config, windows, n_windows, text, sizeof(text))[0] != '\0') {
		return fsl_notes_add(&unit->notes, err, config->name, label, "%s", text);
	}
	struct fsl_windows head = {0};
	uint8_t *labels = NULL;
	bool has_run = false;
	FSL_TRY(FSL_ARENA_NEW(labels, &unit->arena, windows->n_members * n_windows, "labels", err));
	FSL_TRY(head_of(&head, windows, n_windows, err));
	enum fsl_status status = scan(config, &head, labels, &has_run, err);
	fsl_windows_fini(&head);
	if (status == FSL_OK && !has_run) {
		return fsl_notes_add(&unit->notes, err, config->name, label,
				     "not made for this metric");
	}
	if (status != FSL_OK) {
		return status;
	}
	memset(out->labels, 0, windows->n_members * windows->n_windows);
	for (size_t m = 0; m < windows->n_members; m++) {
		memcpy(out->labels + m * windows->n_windows, labels + m * n_windows, n_windows);
	}
	out->has_run = true;
	out->method = FSL_METHOD_SPACE;
	return FSL_OK;
}

enum fsl_status fsl_judge_time(struct fsl_judgement *out, struct fsl_unit *unit,
			       const struct fsl_metric_config *metric,
			       const struct fsl_windows *windows, const char *label,
			       struct fsl_error *err)
{
	*out = (struct fsl_judgement){.method = FSL_METHOD_TIME};
	FSL_TRY(FSL_ARENA_NEW(out->labels, &unit->arena, windows->n_members * windows->n_windows,
			      "labels", err));
	return run_time(out, unit, metric, windows, label, err);
}

enum fsl_status fsl_judge(struct fsl_judgement *out, struct fsl_unit *unit,
			  const struct fsl_metric_config *metric, const struct fsl_windows *windows,
			  const char *label, struct fsl_error *err)
{
	FSL_TRY(fsl_judge_time(out, unit, metric, windows, label, err));
	return run_space(out, unit, metric, windows, label, err);
}

bool fsl_judgement_is_anomalous(const struct fsl_judgement *judgement,
				const struct fsl_windows *windows, size_t member)
{
	return memchr(judgement->labels + member * windows->n_windows, 1, windows->n_windows) !=
	       NULL;
}
