/* Tells whether the job still moves, and if not, which rank stopped first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "detect/engine.h"
#include "detect/perceive_parts.h"

/* Ranks whose last events lie closer together than this (ms) stopped together. */
static const double TOGETHER_MS = 1000.0;
static const double MINUTES_PER_HOUR = 60.0;
/*
 * A silence of at least this many minutes and this many steps is reported, although it is no hang
 * yet. Shorter ones are normal: records are written in blocks, so the last records of a running job
 * are always a little old.
 */
static const double TOLD_MINS = 1.0;
static const double TOLD_STEPS = 10.0;

static enum fsl_status hang_detector(const struct fsl_config *config, struct fsl_arena *arena,
				     struct fsl_detector_config *out, struct fsl_error *err)
{
	cJSON *json = cJSON_CreateObject();
	bool is_made = json != NULL && cJSON_AddNumberToObject(json, "threshold_mins",
							       config->hang_times_mins_thr) != NULL;
	enum fsl_status status =
		is_made ? fsl_perceive_detector(config, "Hang", json, arena, out, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"Hang\"");
	cJSON_Delete(json);
	return status;
}

/* Makes one window with the age of the last event of each rank that has events. */
static enum fsl_status make_ages(struct fsl_windows *windows, const struct fsl_run *run,
				 size_t n_ranks, int64_t now_ns, struct fsl_error *err)
{
	FSL_TRY(fsl_windows_init(windows, FSL_METRIC_EVENT_AGE, FSL_WINDOW_TIME, n_ranks, 1, err));
	size_t m = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		int64_t last_ns = run->ranks[r].last_event_ns;
		if (last_ns == FSL_NS_ABSENT) {
			continue;
		}
		/* An event after now comes from a clock that runs ahead. */
		int64_t age_ns = last_ns < now_ns ? now_ns - last_ns : 0;
		windows->ranks[m] = run->ranks[r].rank;
		windows->values[m] = (double)age_ns / FSL_NS_PER_MS;
		windows->first_ns[m] = last_ns;
		m++;
	}
	return FSL_OK;
}

static enum fsl_status find_silent(struct fsl_silence *silence, const struct fsl_windows *ages,
				   const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct fsl_findings findings = {0};
	struct fsl_detector_config detector = {0};
	bool is_skipped = false;
	enum fsl_status status = hang_detector(config, &arena, &detector, err);
	if (status == FSL_OK) {
		status = fsl_engine_scan(&detector, ages, &findings, &is_skipped, err);
	}
	silence->n_silent = findings.n_items;
	silence->silent_rank = findings.n_items > 0 ? findings.items[0].rank : FSL_RANK_UNKNOWN;
	fsl_findings_fini(&findings);
	fsl_arena_fini(&arena);
	return status;
}

/* True if the rank has used one of the sorted @groups. */
static bool is_member_of(const struct fsl_rank *rank, const uint32_t *groups, size_t n_groups)
{
	for (size_t i = rank->n_ops; i-- > 0;) {
		if (bsearch(&rank->ops[i].group_id, groups, n_groups, sizeof(*groups),
			    fsl_compare_u32) != NULL) {
			return true;
		}
	}
	return false;
}

/*
 * Finds ranks that other ranks wait for: they are members of a communicator in which some rank
 * waits in an open operator, and have no open operator themselves. A rank that waits elsewhere is a
 * victim, too. If more ranks are awaited than wait, the last rows of most files were never written,
 * and nothing is found.
 */
static size_t find_awaited(const struct fsl_run *run, uint32_t *groups, int32_t *ranks)
{
	size_t n_groups = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (fsl_rank_waits(&run->ranks[r]) && run->ranks[r].open_group_id != FSL_STR_NONE) {
			groups[n_groups++] = run->ranks[r].open_group_id;
		}
	}
	qsort(groups, n_groups, sizeof(*groups), fsl_compare_u32);
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks && n_groups > 0; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (!fsl_rank_waits(rank) && is_member_of(rank, groups, n_groups)) {
			ranks[n++] = rank->rank;
		}
	}
	return n <= n_groups ? n : 0;
}

struct last_event {
	int64_t time_ns;
	int32_t rank;
};

static int compare_events(const void *left, const void *right)
{
	const struct last_event *a = left;
	const struct last_event *b = right;
	FSL_ORDER_BY(a->time_ns, b->time_ns);
	return FSL_ORDER(a->rank, b->rank);
}

/* Finds a minority whose last events lie more than a step before those of all other ranks. */
static size_t find_earlier(const struct fsl_windows *ages, double step_ms,
			   struct last_event *events, int32_t *ranks)
{
	for (size_t m = 0; m < ages->n_members; m++) {
		events[m] = (struct last_event){ages->first_ns[m], ages->ranks[m]};
	}
	qsort(events, ages->n_members, sizeof(*events), compare_events);
	double apart_ns = fmax(TOGETHER_MS, step_ms) * FSL_NS_PER_MS; /* fmax ignores NaN */
	for (size_t n = 1; 2 * n < ages->n_members; n++) {
		if ((double)(events[n].time_ns - events[n - 1].time_ns) > apart_ns) {
			for (size_t i = 0; i < n; i++) {
				ranks[i] = events[i].rank;
			}
			qsort(ranks, n, sizeof(*ranks), fsl_rank_compare);
			return n;
		}
	}
	return 0;
}

static enum fsl_status find_first(struct fsl_perception *out, const struct fsl_run *run,
				  const struct fsl_windows *ages, double step_ms,
				  struct fsl_error *err)
{
	uint32_t *groups = fsl_calloc(run->n_ranks, sizeof(*groups));
	int32_t *ranks = fsl_calloc(run->n_ranks, sizeof(*ranks));
	struct last_event *events = fsl_calloc(run->n_ranks, sizeof(*events));
	bool is_short = groups == NULL || ranks == NULL || events == NULL;
	if (!is_short) {
		size_t n = find_awaited(run, groups, ranks);
		n = n > 0 ? n : find_earlier(ages, step_ms, events, ranks);
		out->stopped_first = n > 0 ? fsl_ranks_copy(&out->arena, ranks, n) : NULL;
		out->n_stopped_first = out->stopped_first != NULL ? n : 0;
		is_short = n != out->n_stopped_first;
	}
	fsl_free(events);
	fsl_free(ranks);
	fsl_free(groups);
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", run->n_ranks)
			: FSL_OK;
}

static struct fsl_silence count_ranks(const struct fsl_run *run)
{
	struct fsl_silence silence = {.silent_rank = FSL_RANK_UNKNOWN, .waits_in = FSL_STR_NONE};
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		silence.n_ranks += rank->last_event_ns != FSL_NS_ABSENT ? 1 : 0;
		if (fsl_rank_waits(rank)) {
			silence.waits_in =
				silence.n_waiting == 0 ? rank->open_op_id : silence.waits_in;
			silence.n_waiting++;
		}
	}
	return silence;
}

/* True if the job may be about to hang: silent for a while, but not long enough for a hang. */
static bool is_stalled(const struct fsl_silence *silence, double silent_mins, double step_ms)
{
	double steps_mins = TOLD_STEPS * step_ms * FSL_NS_PER_MS / (60.0 * FSL_NS_PER_S);
	return !silence->is_over && silence->n_silent < silence->n_ranks &&
	       silent_mins >= fmax(TOLD_MINS, steps_mins); /* fmax ignores NaN */
}

enum fsl_status fsl_perceive_silence(struct fsl_perception *out, struct fsl_silence *silence,
				     const struct fsl_run *run, double step_ms,
				     const struct fsl_config *config, struct fsl_error *err)
{
	*silence = count_ranks(run);
	if (silence->n_ranks == 0) {
		return FSL_OK;
	}
	struct fsl_windows ages = {0};
	enum fsl_status status = make_ages(&ages, run, silence->n_ranks, config->now_ns, err);
	if (status != FSL_OK) {
		goto out;
	}
	size_t newest = 0;
	for (size_t m = 1; m < ages.n_members; m++) {
		newest = ages.first_ns[m] > ages.first_ns[newest] ? m : newest;
	}
	out->hang_mins = ages.values[newest] * FSL_NS_PER_MS / (60.0 * FSL_NS_PER_S);
	out->hang_since_ns = ages.first_ns[newest];
	silence->is_over = config->hang_forget_hours > 0.0 &&
			   out->hang_mins > MINUTES_PER_HOUR * config->hang_forget_hours;
	out->is_over = silence->is_over;
	if (silence->is_over) {
		goto out; /* the job ended long ago: nobody waits for it */
	}
	status = find_silent(silence, &ages, config, err);
	if (status == FSL_OK && silence->n_silent == silence->n_ranks) {
		status = find_first(out, run, &ages, step_ms, err);
	}
	out->n_stalled = is_stalled(silence, out->hang_mins, step_ms) ? silence->n_waiting : 0;
out:
	fsl_windows_fini(&ages);
	return status;
}
