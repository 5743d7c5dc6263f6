/* Perception as JSON: sysTrace's keys first, in its types and order, then ours. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "report/document.h"
#include "report/report.h"

enum { SCHEMA_VERSION = 1 };

/* Eleven days; longer is no step, and would not fit into ns for ever. */
#define STEP_MS_MAX 1e9

static bool is_hang(const struct fsl_perception *perception)
{
	return perception->anomaly_type != NULL && strcmp(perception->anomaly_type, "hang") == 0;
}

/* "1459ms"; the reference measures steps in whole milliseconds, and so has its text no ".0". */
static void put_step_time(struct fsl_document *document, cJSON *parent, double step_ms)
{
	char text[400]; /* the largest double has 309 digits */
	if (step_ms == floor(step_ms)) {
		(void)snprintf(text, sizeof(text), "%.0fms", step_ms);
	} else {
		char number[40];
		(void)snprintf(text, sizeof(text), "%sms",
			       fsl_python_float(step_ms, number, sizeof(number)));
	}
	fsl_document_text(document, parent, "anomaly_training_time", text);
}

/* "977.1ms", "977.0ms". */
static void put_normal_time(struct fsl_document *document, cJSON *parent, double normal_ms)
{
	char text[64];
	char number[40];
	(void)snprintf(text, sizeof(text), "%sms",
		       fsl_python_float(normal_ms, number, sizeof(number)));
	fsl_document_text(document, parent, "normal_training_time", text);
}

/* Local time of the end of the step: the reference dates a step when the next one begins. */
static void put_local_time(struct fsl_document *document, cJSON *parent,
			   const struct fsl_step_anomaly *anomaly)
{
	char text[40];
	if (anomaly->begin_ns == FSL_NS_ABSENT || !(fabs(anomaly->step_ms) < STEP_MS_MAX)) {
		fsl_document_null(document, parent, "anomaly_time");
		return;
	}
	int64_t end_ns = anomaly->begin_ns + llround(anomaly->step_ms * FSL_NS_PER_MS);
	fsl_document_text(document, parent, "anomaly_time",
			  fsl_format_local(end_ns, text, sizeof(text)));
}

static void put_anomaly(struct fsl_document *document, cJSON *list,
			const struct fsl_step_anomaly *anomaly)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	fsl_document_integer(document, entry, "training_step", anomaly->step);
	put_local_time(document, entry, anomaly);
	fsl_document_number(document, entry, "anomaly_degree", anomaly->degree, 3);
	if (isfinite(anomaly->step_ms)) {
		put_step_time(document, entry, anomaly->step_ms);
	} else {
		fsl_document_null(document, entry, "anomaly_training_time");
	}
	if (isfinite(anomaly->normal_ms)) {
		put_normal_time(document, entry, anomaly->normal_ms);
	} else {
		fsl_document_null(document, entry, "normal_training_time");
	}
}

/* "2025-06-15 15:07:20 +0000": local time with its offset from UTC. */
static void put_zoned_time(struct fsl_document *document, cJSON *list, int64_t time_ns)
{
	char text[64] = "";
	struct tm local = {0};
	time_t seconds = (time_t)(time_ns / FSL_NS_PER_S);
	if (localtime_r(&seconds, &local) != NULL) {
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local);
	}
	fsl_document_text(document, list, NULL, text);
}

/* The reference lists its polls from the first that saw the job at rest; here: rest began, now. */
static void put_hang_point(struct fsl_document *document, cJSON *list,
			   const struct fsl_perception *perception, int64_t now_ns)
{
	cJSON *entry = fsl_document_object(document, list, NULL);
	cJSON *points = fsl_document_array(document, entry, "detect_point");
	if (perception->hang_since_ns != FSL_NS_ABSENT) {
		put_zoned_time(document, points, perception->hang_since_ns);
	}
	put_zoned_time(document, points, now_ns);
	fsl_document_number(document, entry, "hang_minutes", perception->hang_mins,
			    FSL_DECIMALS_MINUTES);
}

static void put_time_ms(struct fsl_document *document, cJSON *root, const char *key,
			int64_t time_ns)
{
	fsl_document_index(document, root, key, time_ns >= 0 ? time_ns / FSL_NS_PER_MS : -1);
}

static void put_systrace(struct fsl_document *document, cJSON *root,
			 const struct fsl_perception *perception, int64_t now_ns)
{
	bool hangs = is_hang(perception);
	fsl_document_bool(document, root, "is_anomaly", perception->is_anomaly);
	fsl_document_count(document, root, "anomaly_count_times",
			   hangs ? 1 : perception->n_anomalies);
	cJSON *list = fsl_document_array(document, root, "anomaly_info");
	if (hangs) {
		put_hang_point(document, list, perception, now_ns);
	}
	for (size_t i = 0; i < perception->n_anomalies && !hangs && !document->has_failed; i++) {
		put_anomaly(document, list, &perception->anomalies[i]);
	}
	fsl_document_text(document, root, "anomaly_type", perception->anomaly_type);
	bool has_rest = hangs && perception->hang_since_ns != FSL_NS_ABSENT;
	put_time_ms(document, root, "start_time",
		    has_rest ? perception->hang_since_ns : perception->start_ns);
	put_time_ms(document, root, "end_time", has_rest ? now_ns : perception->end_ns);
}

static void put_episodes(struct fsl_document *document, cJSON *root,
			 const struct fsl_perception *perception)
{
	cJSON *list = fsl_document_array(document, root, "episodes");
	for (size_t i = 0; i < perception->n_episodes && !document->has_failed; i++) {
		const struct fsl_step_episode *episode = &perception->episodes[i];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, entry, "onsetStep", episode->onset_step);
		fsl_document_time(document, entry, "onsetTime", episode->onset_ns);
		fsl_document_index(document, entry, "untilStep", episode->until_step);
		fsl_document_count(document, entry, "steps", episode->n_steps);
		fsl_document_number(document, entry, "beforeMs", episode->before_ms,
				    FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "afterMs", episode->after_ms, FSL_DECIMALS_MS);
		fsl_document_significant(document, entry, "pValue", episode->p_value, 4);
		fsl_document_text(document, entry, "of",
				  episode->is_of_saves ? "checkpoints" : "steps");
	}
}

static void put_explained(struct fsl_document *document, cJSON *root,
			  const struct fsl_perception *perception)
{
	cJSON *list = fsl_document_array(document, root, "explained");
	for (size_t i = 0; i < perception->n_explained && !document->has_failed; i++) {
		const struct fsl_step_explained *step = &perception->explained[i];
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, entry, "step", step->step);
		fsl_document_time(document, entry, "time", step->begin_ns);
		fsl_document_number(document, entry, "stepMs", step->step_ms, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "normalMs", step->normal_ms, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "explainedMs", step->explained_ms,
				    FSL_DECIMALS_MS);
		fsl_document_text(document, entry, "why", step->why);
	}
}

static void put_slow_stages(struct fsl_document *document, cJSON *root, const char *key,
			    const struct fsl_step_anomaly *slow, size_t n_slow)
{
	cJSON *list = fsl_document_array(document, root, key);
	for (size_t i = 0; i < n_slow && !document->has_failed; i++) {
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, entry, "step", slow[i].step);
		fsl_document_time(document, entry, "time", slow[i].begin_ns);
		fsl_document_number(document, entry, "durationMs", slow[i].step_ms,
				    FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "normalMs", slow[i].normal_ms,
				    FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "degree", slow[i].degree, FSL_DECIMALS_RATIO);
	}
}

static void put_rest(struct fsl_document *document, cJSON *root,
		     const struct fsl_perception *perception)
{
	cJSON *rest = fsl_document_object(document, root, "hang");
	fsl_document_bool(document, rest, "isHanging", is_hang(perception));
	fsl_document_number(document, rest, "silentMinutes", perception->hang_mins,
			    FSL_DECIMALS_MINUTES);
	fsl_document_time(document, rest, "since", perception->hang_since_ns);
	fsl_document_ranks(document, rest, "stoppedFirst", perception->stopped_first,
			   perception->n_stopped_first);
}

static void put_ours(struct fsl_document *document, cJSON *root,
		     const struct fsl_perception *perception)
{
	fsl_document_integer(document, root, "schemaVersion", SCHEMA_VERSION);
	fsl_document_text(document, root, "verdict", fsl_verdict_text(perception->kind));
	fsl_document_text(document, root, "reason", perception->reason);
	put_episodes(document, root, perception);
	put_explained(document, root, perception);
	put_slow_stages(document, root, "slowDataloader", perception->slow_dataloader,
			perception->n_slow_dataloader);
	put_slow_stages(document, root, "slowCheckpoints", perception->slow_ckpt,
			perception->n_slow_ckpt);
	put_rest(document, root, perception);
	fsl_document_coverage(document, root, &perception->coverage, NULL);
	fsl_document_engine(document, root, NULL);
	fsl_document_text(document, root, "errorMsg", perception->error_message);
}

cJSON *fsl_perception_json(const struct fsl_perception *perception, const struct fsl_config *config)
{
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	put_systrace(&document, root, perception, config->now_ns);
	if (config->verdict_schema == FSL_SCHEMA_FAILSLOW) {
		put_ours(&document, root, perception);
	}
	return fsl_document_finish(&document, root);
}
