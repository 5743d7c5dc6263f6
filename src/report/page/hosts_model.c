/* From the document of hosts to checked arrays. */
#include "report/page/hosts_model.h"

#include <math.h>
#include <string.h>

#include "base/try.h"

enum {
	LANES_MAX = 16,
	CELLS_MAX = 480, /* of a lane */
	RANKS_MAX = 256,
	STEPS_MAX = 160,
	HOLDERS_MAX = 8,
};

static const struct {
	char letter;
	const char *key;
} classes[FSL_HTML_CLASSES_N] = {
	[FSL_HTML_TOLD] = {'t', "toldRankMs"},       [FSL_HTML_CULPRIT] = {'c', "culpritMs"},
	[FSL_HTML_LIKELY] = {'l', "likelyMs"},       [FSL_HTML_RANKS] = {'r', "otherRanksMs"},
	[FSL_HTML_PROCESSES] = {'p', "processesMs"}, [FSL_HTML_KERNEL] = {'k', "kernelMs"},
	[FSL_HTML_INTERRUPT] = {'i', "interruptMs"}, [FSL_HTML_IDLE] = {'n', "idleMs"},
	[FSL_HTML_UNHELD] = {'u', "unknownMs"},
};

static const char *const state_keys[FSL_HTML_STATES_N] = {
	[FSL_HTML_PREEMPTED] = "queuePreemptedMs",
	[FSL_HTML_WOKEN] = "queueAfterWakeupMs",
	[FSL_HTML_RUN] = "runMs",
	[FSL_HTML_IRQ] = "interruptMs",
	[FSL_HTML_DISK] = "diskMs",
	[FSL_HTML_STOP] = "stopMs",
	[FSL_HTML_NOT_KNOWN] = "unknownMs",
	[FSL_HTML_SLEEP] = "sleepMs",
};

bool fsl_html_is_hosts(const cJSON *document)
{
	return strcmp(fsl_html_text(document, "schema"), "failslow.hostbound/1") == 0;
}

enum fsl_html_class fsl_html_class_of(char letter)
{
	for (size_t c = 0; c < FSL_HTML_CLASSES_N; c++) {
		if (classes[c].letter == letter) {
			return (enum fsl_html_class)c;
		}
	}
	return FSL_HTML_UNHELD;
}

static bool is_true(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(fsl_html_at(object, key));
}

static double not_negative(const cJSON *object, const char *key)
{
	double value = fsl_html_number(object, key);
	return value >= 0.0 && value < 1e12 ? value : 0.0;
}

/* Length of a list, at most @n_most. */
static size_t length_of(const cJSON *list, size_t n_most)
{
	size_t n = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		n += n < n_most;
	}
	return n;
}

static enum fsl_status take_lanes(struct fsl_html_hosts *out, struct fsl_error *err)
{
	const cJSON *item = NULL, *list = fsl_html_at(out->picture, "lanes");
	size_t n = length_of(list, LANES_MAX);
	FSL_TRY(FSL_ARENA_NEW(out->lanes, &out->arena, n + 1, "lanes", err));
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_lane lane = {.cpu = fsl_html_index(item, "cpu"),
					     .holders = fsl_html_text(item, "holders"),
					     .waits = fsl_html_text(item, "waits"),
					     .wait_ms = not_negative(item, "waitMs")};
		lane.n = strlen(lane.holders);
		if (out->n_lanes == n || lane.cpu < 0 || lane.n == 0 || lane.n > CELLS_MAX ||
		    strlen(lane.waits) != lane.n) {
			continue;
		}
		for (size_t c = 0; c < FSL_HTML_CLASSES_N; c++) {
			lane.ms[c] = not_negative(item, classes[c].key);
		}
		out->lanes[out->n_lanes++] = lane;
	}
	return FSL_OK;
}

/* Items of a list of times; @number: the key of what they are of. */
static enum fsl_status take_times(struct fsl_html_hosts *out, struct fsl_html_times **times,
				  size_t *n_times, const char *key, const char *number,
				  size_t n_most, struct fsl_error *err)
{
	const cJSON *item = NULL, *list = fsl_html_at(out->picture, key);
	size_t n = length_of(list, n_most);
	FSL_TRY(FSL_ARENA_NEW(*times, &out->arena, n + 1, "times", err));
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_times own = {.number = fsl_html_index(item, number)};
		for (size_t s = 0; s < FSL_HTML_STATES_N; s++) {
			own.ms[s] = not_negative(item, state_keys[s]);
			own.whole_ms += own.ms[s];
		}
		if (*n_times < n && own.number >= 0 && own.whole_ms > 0.0) {
			(*times)[(*n_times)++] = own;
		}
	}
	return FSL_OK;
}

static enum fsl_status take_holders(struct fsl_html_hosts *out, struct fsl_error *err)
{
	const cJSON *item = NULL, *list = fsl_html_at(out->told, "holders");
	FSL_TRY(FSL_ARENA_NEW(out->holders, &out->arena, HOLDERS_MAX, "holders", err));
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_holder holder = {.kind = fsl_html_text(item, "kind"),
						 .name = fsl_html_text(item, "name"),
						 .rank = fsl_html_index(item, "rank"),
						 .cpu = fsl_html_index(item, "cpu"),
						 .pids = fsl_html_at(item, "pids"),
						 .has_more_pids = is_true(item, "hasMorePids"),
						 .seen_ms = not_negative(item, "seenMsPerStep"),
						 .likely_ms =
							 not_negative(item, "likelyMsPerStep")};
		bool is_somebody = strcmp(holder.kind, "process") == 0 ||
				   strcmp(holder.kind, "rank") == 0 ||
				   strcmp(holder.kind, "kernel") == 0;
		bool is_quota = strcmp(holder.kind, "quota") == 0;
		if (out->n_holders == HOLDERS_MAX) {
			break;
		}
		if (out->main_holder == SIZE_MAX && out->is_named &&
		    (out->is_quota ? is_quota : is_somebody)) {
			out->main_holder = out->n_holders;
		}
		out->holders[out->n_holders++] = holder;
	}
	return FSL_OK;
}

static void take_waits(struct fsl_html_waits *out, const cJSON *object)
{
	const cJSON *item = NULL;
	*out = (struct fsl_html_waits){
		.count = not_negative(object, "count"),
		.p50_ms = not_negative(object, "p50Ms"),
		.p95_ms = not_negative(object, "p95Ms"),
		.p99_ms = not_negative(object, "p99Ms"),
		.max_ms = not_negative(object, "maxMs"),
		.over_100us = not_negative(object, "over100Us"),
		.over_1ms = not_negative(object, "over1Ms"),
		.over_10ms = not_negative(object, "over10Ms"),
	};
	cJSON_ArrayForEach(item, fsl_html_at(object, "buckets"))
	{
		double below_ms = not_negative(item, "belowMs");
		size_t n = out->n_buckets;
		bool is_behind = n == 0 || below_ms > out->below_ms[n - 1];
		if (n < FSL_HTML_BUCKETS_MAX && below_ms > 0.0 && is_behind) {
			out->below_ms[n] = below_ms;
			out->counts[n] = not_negative(item, "count");
			out->n_buckets++;
		}
	}
	out->count = out->n_buckets > 0 ? out->count : 0.0;
}

static void find_told(struct fsl_html_hosts *out)
{
	const cJSON *item = NULL;
	out->rank = fsl_html_index(out->picture, "rank");
	cJSON_ArrayForEach(item, fsl_html_at(out->trace, "ranks"))
	{
		if (out->told == NULL &&
		    (out->rank < 0 || fsl_html_index(item, "rank") == out->rank)) {
			out->told = item;
		}
	}
	out->rank = fsl_html_index(out->told, "rank");
	out->is_named = is_true(out->told, "isNamed");
	out->is_quota = strcmp(fsl_html_text(out->told, "cause"), "quota") == 0;
}

enum fsl_status fsl_html_hosts_read_trace(struct fsl_html_hosts *out, const cJSON *trace,
					  struct fsl_error *err)
{
	*out = (struct fsl_html_hosts){
		.trace = trace, .picture = fsl_html_at(trace, "picture"), .main_holder = SIZE_MAX};
	const cJSON *woken = fsl_html_at(out->picture, "afterWakeup");
	const cJSON *preempted = fsl_html_at(out->picture, "preempted");
	find_told(out);
	out->step = fsl_html_index(out->picture, "step");
	out->length_ms = (fsl_html_number(out->picture, "endNs") -
			  fsl_html_number(out->picture, "beginNs")) /
			 1e6;
	enum fsl_status status =
		out->length_ms > 0.0 && out->length_ms < 1e12 ? take_lanes(out, err) : FSL_OK;
	FSL_THEN(status,
		 take_times(out, &out->ranks, &out->n_ranks, "ranks", "rank", RANKS_MAX, err));
	FSL_THEN(status,
		 take_times(out, &out->steps, &out->n_steps, "steps", "step", STEPS_MAX, err));
	FSL_THEN(status, take_holders(out, err));
	take_waits(&out->woken[0], fsl_html_at(woken, "toldRank"));
	take_waits(&out->woken[1], fsl_html_at(woken, "others"));
	take_waits(&out->preempted[0], fsl_html_at(preempted, "toldRank"));
	take_waits(&out->preempted[1], fsl_html_at(preempted, "others"));
	if (status != FSL_OK) {
		fsl_html_hosts_fini(out);
	}
	return status;
}

/* The trace whose first rank waited most; the first one if none waited. */
static const cJSON *worst_trace(const cJSON *document)
{
	const cJSON *item = NULL, *worst = NULL;
	double most_ms = -1.0;
	cJSON_ArrayForEach(item, fsl_html_at(document, "traces"))
	{
		const cJSON *ranks = fsl_html_at(item, "ranks");
		const cJSON *first = cJSON_IsArray(ranks) ? ranks->child : NULL;
		double wait_ms = is_true(first, "isNamed")
					 ? not_negative(first, "waitMsPerStep") *
						   not_negative(first, "highSteps")
					 : 0.0;
		if (wait_ms > most_ms) {
			most_ms = wait_ms;
			worst = item;
		}
	}
	return worst;
}

enum fsl_status fsl_html_hosts_read(struct fsl_html_hosts *out, const cJSON *document,
				    struct fsl_error *err)
{
	if (!fsl_html_is_hosts(document)) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"the file is no document of hosts: schema=\"%.40s\"",
				fsl_html_text(document, "schema"));
	}
	FSL_TRY(fsl_html_hosts_read_trace(out, worst_trace(document), err));
	out->root = document;
	return FSL_OK;
}

void fsl_html_hosts_fini(struct fsl_html_hosts *page)
{
	fsl_arena_fini(&page->arena);
	*page = (struct fsl_html_hosts){.main_holder = SIZE_MAX};
}
