/* "pictures" of the case: series and matrices from which charts are drawn, and nothing else. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/strpool.h"
#include "blame/blame.h"
#include "match/own.h"
#include "model/matrices.h"
#include "model/progress.h"
#include "report/case_parts.h"
#include "report/pictures.h"
#include "text/base64.h"
#include "text/json_tree.h"
#include "text/phrase.h"

enum {
	POINTS_MAX = 2000, /* of the series of steps: more than pixels of a screen */
	PARTS_MAX = FSL_OWN_PARTS_N,
};

static const char *const part_texts[] = {
	[FSL_OWN_HEAD] = "head",       [FSL_OWN_BODY] = "body",
	[FSL_OWN_COMPUTE] = "compute", [FSL_OWN_DATALOADER] = "dataloader",
	[FSL_OWN_CKPT] = "checkpoint", [FSL_OWN_GC] = "collection",
};

/* Mean over the stretch; NaN if nothing was seen. @stride: values of one step. */
static double mean_of(const double *values, size_t stride, const struct fsl_stretch *stretch)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = stretch->begin; s < stretch->end; s++) {
		double value = values[s * stride];
		sum += isnan(value) ? 0.0 : value;
		n += isnan(value) ? 0 : 1;
	}
	return n > 0 ? sum / (double)n : NAN;
}

static void put_number(struct fsl_document *document, cJSON *list, double value)
{
	fsl_document_number(document, list, NULL, value, FSL_DECIMALS_MS);
}

/* Names of hosts once each, and the place of each rank's host among them. */
static void put_hosts(struct fsl_document *document, cJSON *ranks, const char *const *hosts,
		      size_t n)
{
	struct fsl_strpool *pool = fsl_strpool_create();
	cJSON *names = fsl_document_array(document, ranks, "hosts");
	cJSON *list = fsl_document_array(document, ranks, "host");
	uint32_t first = FSL_STR_NONE; /* the pool counts on from there */
	document->has_failed |= pool == NULL;
	for (size_t r = 0; r < n && !document->has_failed; r++) {
		const char *host = fsl_text_or_empty(hosts[r]);
		uint32_t id = 0;
		if (*host == '\0') {
			fsl_document_index(document, list, NULL, -1);
			continue;
		}
		bool is_new = fsl_strpool_find(pool, host, strlen(host)) == FSL_STR_NONE;
		document->has_failed |=
			fsl_strpool_intern(pool, host, strlen(host), &id, NULL) != FSL_OK;
		first = first == FSL_STR_NONE ? id : first;
		if (is_new) {
			fsl_document_text(document, names, NULL, host);
		}
		fsl_document_index(document, list, NULL, (int64_t)id - first);
	}
	fsl_strpool_destroy(pool);
}

static void put_means(struct fsl_document *document, cJSON *ranks, const char *key,
		      const double *values, const struct fsl_blame *blame,
		      const struct fsl_stretch *stretch)
{
	cJSON *list = fsl_document_array(document, ranks, key);
	for (size_t r = 0; r < blame->n_ranks; r++) {
		put_number(document, list, mean_of(values + r * blame->n_steps, 1, stretch));
	}
}

static void put_costs(struct fsl_document *document, cJSON *ranks, const struct fsl_report *report,
		      const struct fsl_stretch *stretch)
{
	const struct fsl_blame *blame = report->blame;
	double *cost_ms = fsl_calloc(blame->n_ranks, sizeof(*cost_ms));
	cJSON *list = fsl_document_array(document, ranks, "costMs");
	document->has_failed |=
		cost_ms == NULL || fsl_pictures_costs(cost_ms, report, stretch, NULL) != FSL_OK;
	for (size_t r = 0; r < blame->n_ranks && !document->has_failed; r++) {
		put_number(document, list, cost_ms[r]);
	}
	fsl_free(cost_ms);
}

/* The parts of own time: one list of ranks for each part that some rank has. */
static void put_own_parts(struct fsl_document *document, cJSON *ranks, const struct fsl_own *own,
			  const struct fsl_stretch *stretch)
{
	cJSON *list = fsl_document_array(document, ranks, "parts");
	bool is_ours = own != NULL && own->n_steps >= stretch->end;
	for (size_t part = 0; is_ours && part < PARTS_MAX; part++) {
		double most = 0.0;
		for (size_t r = 0; r < own->n_ranks; r++) {
			const double *values =
				own->part_ms + r * own->n_steps * FSL_OWN_PARTS_N + part;
			most = fmax(most, mean_of(values, FSL_OWN_PARTS_N, stretch));
		}
		if (!(most > 0.0)) {
			continue;
		}
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "part", part_texts[part]);
		cJSON *ms = fsl_document_array(document, entry, "ms");
		for (size_t r = 0; r < own->n_ranks; r++) {
			const double *values =
				own->part_ms + r * own->n_steps * FSL_OWN_PARTS_N + part;
			put_number(document, ms, mean_of(values, FSL_OWN_PARTS_N, stretch));
		}
	}
}

static void put_blamed(struct fsl_document *document, cJSON *ranks, const struct fsl_report *report,
		       const struct fsl_stretch *stretch)
{
	const struct fsl_blame *blame = report->blame;
	cJSON *stage = fsl_document_array(document, ranks, "stage");
	cJSON *peers = fsl_document_array(document, ranks, "peers");
	for (size_t r = 0; r < blame->n_ranks; r++) {
		uint32_t class = blame->peers.class_of[r];
		fsl_document_integer(document, stage, NULL, blame->peers.stage_of[r]);
		fsl_document_index(document, peers, NULL,
				   class != FSL_NO_CLASS ? (int64_t) class : -1);
	}
	put_costs(document, ranks, report, stretch);
	put_means(document, ranks, "ownMs", blame->own_ms, blame, stretch);
	put_means(document, ranks, "peersMs", blame->reference_ms, blame, stretch);
	put_means(document, ranks, "lateMs", blame->late_ms, blame, stretch);
	put_means(document, ranks, "waitMs", blame->wait_ms, blame, stretch);
	put_own_parts(document, ranks, report->own, stretch);
}

/* Keys of ranks that only a job with operators fills. */
static void put_unknown(struct fsl_document *document, cJSON *ranks, size_t n)
{
	static const char *const keys[] = {"stage",   "peers",  "costMs", "ownMs",
					   "peersMs", "lateMs", "waitMs", "parts"};
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		cJSON *list = fsl_document_array(document, ranks, keys[k]);
		for (size_t r = 0; k + 1 < sizeof(keys) / sizeof(keys[0]) && r < n; r++) {
			fsl_document_null(document, list, NULL);
		}
	}
}

static void put_ranks_of_run(struct fsl_document *document, cJSON *pictures,
			     const struct fsl_report *report)
{
	const struct fsl_run *run = report->run;
	struct fsl_stretch stretch = fsl_pictures_stretch(report);
	const char **hosts = fsl_calloc(run->n_ranks, sizeof(*hosts));
	cJSON *ranks = fsl_document_object(document, pictures, "ranks");
	fsl_document_index(document, ranks, "sinceStep", stretch.since_step);
	fsl_document_index(document, ranks, "untilStep", stretch.until_step);
	cJSON *numbers = fsl_document_array(document, ranks, "rank");
	cJSON *last = fsl_document_array(document, ranks, "lastEvent");
	document->has_failed |= hosts == NULL && run->n_ranks > 0;
	for (size_t r = 0; r < run->n_ranks && !document->has_failed; r++) {
		hosts[r] = run->ranks[r].server_ip;
		fsl_document_integer(document, numbers, NULL, run->ranks[r].rank);
		fsl_document_time(document, last, NULL, run->ranks[r].last_event_ns);
	}
	if (!document->has_failed) {
		put_hosts(document, ranks, hosts, run->n_ranks);
	}
	fsl_free(hosts);
	if (fsl_pictures_have_blame(report)) {
		put_blamed(document, ranks, report, &stretch);
	} else {
		put_unknown(document, ranks, run->n_ranks);
	}
}

static void put_series(struct fsl_document *document, cJSON *pictures,
		       const struct fsl_steps *steps)
{
	size_t every = steps->n_items / POINTS_MAX + (steps->n_items % POINTS_MAX != 0);
	cJSON *series = fsl_document_object(document, pictures, "steps");
	int64_t from_ns = steps->items[0].begin_ns;
	fsl_document_integer(document, series, "fromNs", from_ns);
	fsl_document_count(document, series, "every", every);
	cJSON *numbers = fsl_document_array(document, series, "step");
	cJSON *begins = fsl_document_array(document, series, "atMs");
	cJSON *lengths = fsl_document_array(document, series, "ms");
	cJSON *saves = fsl_document_array(document, series, "checkpoints");
	for (size_t i = 0; i < steps->n_items; i += every) {
		const struct fsl_job_step *longest = &steps->items[i];
		for (size_t k = i; k < i + every && k < steps->n_items; k++) {
			const struct fsl_job_step *step = &steps->items[k];
			longest = step->dur_ns > longest->dur_ns ? step : longest;
		}
		fsl_document_integer(document, numbers, NULL, longest->step);
		put_number(document, begins, (double)(longest->begin_ns - from_ns) / FSL_NS_PER_MS);
		put_number(document, lengths, (double)longest->dur_ns / FSL_NS_PER_MS);
		if (longest->ckpt_ns > 0) {
			fsl_document_integer(document, saves, NULL, longest->step);
		}
	}
}

/* Stretches of slow steps, and single long steps, to be shaded and marked in the series. */
static void put_episodes(struct fsl_document *document, cJSON *pictures,
			 const struct fsl_perception *perception)
{
	enum { MARKS_MAX = 256 };
	cJSON *episodes = fsl_document_array(document, pictures, "episodes");
	cJSON *stalls = fsl_document_array(document, pictures, "stalls");
	size_t n_episodes = perception != NULL ? perception->n_episodes : 0;
	size_t n_stalls = perception != NULL ? perception->n_stalls : 0;
	for (size_t i = 0; i < n_episodes && i < MARKS_MAX; i++) {
		const struct fsl_step_episode *episode = &perception->episodes[i];
		cJSON *entry = fsl_document_object(document, episodes, NULL);
		fsl_document_index(document, entry, "sinceStep", episode->onset_step);
		fsl_document_index(document, entry, "untilStep", episode->until_step);
		fsl_document_number(document, entry, "beforeMs", episode->before_ms,
				    FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "afterMs", episode->after_ms, FSL_DECIMALS_MS);
	}
	for (size_t i = 0; i < n_stalls && i < MARKS_MAX; i++) {
		const struct fsl_stall *stall = &perception->stalls[i];
		cJSON *entry = fsl_document_object(document, stalls, NULL);
		fsl_document_index(document, entry, "step", stall->step);
		fsl_document_index(document, entry, "everySteps", stall->every_steps);
		fsl_document_count(document, entry, "times", stall->n_times);
		fsl_document_told(document, entry, "phase", fsl_stall_phase_text(stall->phase));
		fsl_document_number(document, entry, "lostMs",
				    (double)stall->lost_ns / FSL_NS_PER_MS, FSL_DECIMALS_MS);
	}
}

/* A matrix as codes of its values, packed by zlib, as text. */
static void put_matrix(struct fsl_document *document, cJSON *over_time, const char *key,
		       const float *ms, size_t n)
{
	uLongf n_packed = compressBound(n);
	uint8_t *codes = fsl_calloc(n, 1), *packed = fsl_calloc(n_packed, 1);
	char *text = NULL;
	for (size_t i = 0; codes != NULL && i < n; i++) {
		codes[i] = fsl_matrix_code(ms[i]);
	}
	if (codes != NULL && packed != NULL &&
	    compress2(packed, &n_packed, codes, n, Z_DEFAULT_COMPRESSION) == Z_OK) {
		text = fsl_base64_encode(packed, n_packed);
	}
	document->has_failed |= text == NULL;
	fsl_document_text(document, over_time, key, text);
	fsl_free(text);
	fsl_free(codes);
	fsl_free(packed);
}

static void put_over_time(struct fsl_document *document, cJSON *pictures,
			  const struct fsl_report *report)
{
	static const char *const keys[FSL_MATRICES_N] = {
		[FSL_MATRIX_OWN] = "own", [FSL_MATRIX_LATE] = "late", [FSL_MATRIX_LOSS] = "loss"};
	struct fsl_matrices matrices = {0};
	if (fsl_pictures_matrices(&matrices, report, FSL_MATRIX_COLUMNS_MAX, NULL) != FSL_OK) {
		document->has_failed = true;
		return;
	}
	cJSON *over_time = fsl_document_object(document, pictures, "overTime");
	fsl_document_integer(document, over_time, "fromNs", matrices.begin_ns);
	fsl_document_integer(document, over_time, "toNs", matrices.end_ns);
	fsl_document_count(document, over_time, "columns", matrices.n_columns);
	fsl_document_number(document, over_time, "leastMs", FSL_MATRIX_LEAST_MS, FSL_DECIMALS_MS);
	fsl_document_number(document, over_time, "mostMs", FSL_MATRIX_MOST_MS, FSL_DECIMALS_MS);
	for (size_t m = 0; m < FSL_MATRICES_N && !document->has_failed; m++) {
		put_matrix(document, over_time, keys[m], matrices.ms[m],
			   matrices.n_ranks * matrices.n_columns);
	}
	fsl_matrices_fini(&matrices);
}

/* "host": what a kernel trace shows of a culprit. */
static void put_host(struct fsl_document *document, cJSON *pictures,
		     const struct fsl_localisation *verdict)
{
	if (verdict == NULL || verdict->host_trace == NULL) {
		fsl_document_null(document, pictures, "host");
		return;
	}
	const char *text = verdict->host_trace;
	bool is_short = false;
	fsl_document_item(document, pictures, "host",
			  fsl_json_tree(text, strlen(text) + 1, NULL, &is_short));
}

void fsl_case_put_pictures(const struct fsl_case_parts *parts, cJSON *root)
{
	struct fsl_document *document = parts->document;
	const struct fsl_report *report = parts->report;
	const struct fsl_steps *series = fsl_pictures_steps(report);
	if (report->profile != NULL || report->run == NULL) {
		fsl_document_null(document, root, "pictures"); /* captures list their steps */
		return;
	}
	cJSON *pictures = fsl_document_object(document, root, "pictures");
	if (series != NULL) {
		put_series(document, pictures, series);
	} else {
		fsl_document_null(document, pictures, "steps");
	}
	put_episodes(document, pictures, report->perception);
	put_ranks_of_run(document, pictures, report);
	if (fsl_pictures_have_blame(report)) {
		struct fsl_stretch stretch = fsl_pictures_stretch(report);
		put_over_time(document, pictures, report);
		fsl_case_put_links(parts, pictures, stretch.begin, stretch.end);
	} else {
		fsl_document_null(document, pictures, "overTime");
		fsl_document_null(document, pictures, "links");
	}
	put_host(document, pictures, report->localisation);
}
