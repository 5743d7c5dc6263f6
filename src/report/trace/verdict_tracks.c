/* Culprits, steps, and counters of matrices. */
#include "report/trace/verdict_tracks.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "report/trace/track_slices.h"
#include "text/phrase.h"

enum { ARGS_N = 4 };

/* A slice with its texts. */
struct shown {
	int64_t begin_ns, end_ns;
	uint32_t name;
	uint32_t n_args;
	struct fsl_track_arg args[ARGS_N];
};

/* Slices of one lane family, in the arena of the plan. */
struct shown_list {
	uint32_t category;
	struct shown *items;
};

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct shown_list *list = context;
	*begin_ns = list->items[idx].begin_ns;
	*end_ns = list->items[idx].end_ns;
}

static void fill(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct shown_list *list = context;
	const struct shown *shown = &list->items[idx];
	event->name = shown->name;
	event->category = list->category;
	for (uint32_t i = 0; i < shown->n_args; i++) {
		event->args[event->n_args++] = shown->args[i];
	}
}

static const char *const verdict_lanes[] = {"verdict"};
static const char *const step_lanes[] = {"steps"};

/* Adds items [first, first + n) of the list to a process. */
static enum fsl_status add_slices(struct fsl_track_plan *plan, uint32_t pid,
				  const char *const *lanes, const struct shown_list *list,
				  size_t first, size_t n, struct fsl_error *err)
{
	const struct fsl_slice_source source = {
		.context = list, .times = times_of, .fill = fill, .families = lanes};
	uint64_t n_left_out = 0;
	uint32_t *order = NULL;
	FSL_TRY(FSL_NEW(order, n + 1, "slices", err));
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)(first + i);
	}
	return fsl_slices_add(plan, pid, &source, order, n, &n_left_out, err);
}

static enum fsl_status new_list(struct shown_list **out, struct fsl_track_plan *plan,
				const char *category, size_t n, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	FSL_TRY(FSL_ARENA_NEW(*out, arena, 1, "lists", err));
	FSL_TRY(FSL_ARENA_NEW((*out)->items, arena, n + 1, "slices", err));
	return fsl_track_plan_text(plan, category, &(*out)->category, err);
}

static enum fsl_status add_number(struct shown *shown, struct fsl_track_plan *plan, const char *key,
				  int64_t number, struct fsl_error *err)
{
	struct fsl_track_arg *arg = &shown->args[shown->n_args++];
	*arg = (struct fsl_track_arg){.text = FSL_STR_NONE, .number = number};
	return fsl_track_plan_text(plan, key, &arg->key, err);
}

static enum fsl_status add_text(struct shown *shown, struct fsl_track_plan *plan, const char *key,
				const char *text, struct fsl_error *err)
{
	struct fsl_track_arg *arg = &shown->args[shown->n_args++];
	*arg = (struct fsl_track_arg){0};
	FSL_TRY(fsl_track_plan_text(plan, key, &arg->key, err));
	return fsl_track_plan_text(plan, text, &arg->text, err);
}

/* From the onset to the end of the episode, or of the data. */
static void set_times(struct shown *shown, const struct fsl_culprit *culprit,
		      const struct fsl_verdict_tracks *source)
{
	const struct fsl_coverage *coverage = &source->verdict->coverage;
	int64_t begin_ns = culprit->onset_ns, end_ns = coverage->end_ns;
	size_t until = culprit->until_step >= 0
			       ? fsl_steps_numbered(source->steps, culprit->until_step)
			       : SIZE_MAX;
	if (begin_ns == FSL_NS_ABSENT) {
		begin_ns = coverage->begin_ns;
	}
	if (until != SIZE_MAX) {
		end_ns = source->steps->items[until].begin_ns;
	}
	shown->begin_ns = begin_ns - source->shift_ns;
	shown->end_ns = (end_ns > begin_ns ? end_ns : begin_ns) - source->shift_ns;
}

static enum fsl_status fill_culprit(struct shown *shown, struct fsl_track_plan *plan,
				    const struct fsl_culprit *culprit,
				    const struct fsl_verdict_tracks *source, struct fsl_error *err)
{
	struct fsl_phrase name = {0};
	fsl_phrase_add_words(&name, fsl_verdict_text(source->verdict->kind));
	fsl_phrase_add(&name, ": rank %d", culprit->rank);
	if (culprit->peer >= 0) {
		fsl_phrase_add(&name, " to %d", culprit->peer);
	}
	fsl_phrase_add(&name, ", %s", fsl_cause_text(culprit->cause));
	set_times(shown, culprit, source);
	FSL_TRY(fsl_track_plan_text(plan, name.text, &shown->name, err));
	if (culprit->onset_step >= 0) {
		FSL_TRY(add_number(shown, plan, "onset_step", culprit->onset_step, err));
	}
	if (isfinite(culprit->lost_ms_per_step)) {
		FSL_TRY(add_number(shown, plan, "lost_us_per_step",
				   llround(culprit->lost_ms_per_step * 1000.0), err));
	}
	return culprit->reason != NULL ? add_text(shown, plan, "reason", culprit->reason, err)
				       : FSL_OK;
}

static bool is_shown(const struct fsl_verdict_tracks *source, int32_t rank)
{
	return bsearch(&rank, source->ranks, source->n_ranks, sizeof(rank), fsl_compare_i32) !=
	       NULL;
}

static enum fsl_status add_culprits(struct fsl_track_plan *plan,
				    const struct fsl_verdict_tracks *source, struct fsl_error *err)
{
	const struct fsl_localisation *verdict = source->verdict;
	struct shown_list *list = NULL;
	if (verdict->coverage.begin_ns == FSL_NS_ABSENT) {
		return FSL_OK;
	}
	FSL_TRY(new_list(&list, plan, "verdict", verdict->n_culprits, err));
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		FSL_TRY(fill_culprit(&list->items[i], plan, &verdict->culprits[i], source, err));
		if (is_shown(source, verdict->culprits[i].rank)) {
			uint32_t pid = fsl_track_pid_of_rank(verdict->culprits[i].rank);
			FSL_TRY(add_slices(plan, pid, verdict_lanes, list, i, 1, err));
		}
	}
	return add_slices(plan, FSL_TRACK_PID_JOB, verdict_lanes, list, 0, verdict->n_culprits,
			  err);
}

static enum fsl_status add_steps(struct fsl_track_plan *plan,
				 const struct fsl_verdict_tracks *source, struct fsl_error *err)
{
	const struct fsl_steps *steps = source->steps;
	struct shown_list *list = NULL;
	FSL_TRY(new_list(&list, plan, "step", steps->n_items, err));
	for (size_t s = 0; s < steps->n_items; s++) {
		const struct fsl_job_step *step = &steps->items[s];
		struct shown *shown = &list->items[s];
		struct fsl_phrase name = {0};
		fsl_phrase_add(&name, "step %lld", (long long)step->step);
		shown->begin_ns = step->begin_ns - source->shift_ns;
		shown->end_ns = shown->begin_ns + (step->dur_ns > 0 ? step->dur_ns : 0);
		FSL_TRY(fsl_track_plan_text(plan, name.text, &shown->name, err));
		FSL_TRY(add_number(shown, plan, "step", step->step, err));
	}
	return add_slices(plan, FSL_TRACK_PID_JOB, step_lanes, list, 0, steps->n_items, err);
}

/* One counter of one rank, over all matrices. */
struct counter {
	struct fsl_track_stream stream; /* first: the stream is this struct */
	const struct fsl_verdict_tracks *source;
	const struct fsl_track *track;
	enum fsl_matrix which;
	int32_t rank;
	size_t matrix, column; /* the next value */
};

/* Values of the rank in a matrix; NULL: it is not in it. */
static const float *row_of(const struct counter *counter, const struct fsl_matrices *matrices)
{
	const int32_t *found = bsearch(&counter->rank, matrices->ranks, matrices->n_ranks,
				       sizeof(counter->rank), fsl_compare_i32);
	return found != NULL ? matrices->ms[counter->which] +
				       (size_t)(found - matrices->ranks) * matrices->n_columns
			     : NULL;
}

static int64_t column_ns(const struct fsl_matrices *matrices, size_t column)
{
	int64_t length_ns = matrices->end_ns - matrices->begin_ns;
	return matrices->begin_ns +
	       (int64_t)((double)length_ns * (double)column / (double)matrices->n_columns);
}

static bool next_value(struct fsl_track_stream *stream, struct fsl_track_event *event)
{
	struct counter *counter = (struct counter *)stream;
	const struct fsl_verdict_tracks *source = counter->source;
	for (; counter->matrix < source->n_matrices; counter->matrix++, counter->column = 0) {
		const struct fsl_matrices *matrices = &source->matrices[counter->matrix];
		const float *row = row_of(counter, matrices);
		while (row != NULL && counter->column < matrices->n_columns &&
		       !isfinite(row[counter->column])) {
			counter->column++;
		}
		if (row != NULL && counter->column < matrices->n_columns) {
			int64_t time_ns = column_ns(matrices, counter->column) - source->shift_ns;
			*event = (struct fsl_track_event){
				.track = counter->track,
				.begin_ns = time_ns,
				.end_ns = time_ns,
				.value = llround((double)row[counter->column] * 1000.0)};
			counter->column++;
			return true;
		}
	}
	return false;
}

static void destroy_counter(struct fsl_track_stream *stream)
{
	fsl_free(stream);
}

static enum fsl_status add_counters(struct fsl_track_plan *plan,
				    const struct fsl_verdict_tracks *source, int32_t rank,
				    struct fsl_error *err)
{
	static const char *const names[FSL_MATRICES_N] = {"own time", "lateness", "loss"};
	for (int which = 0; which < FSL_MATRICES_N; which++) {
		struct counter *counter = NULL;
		const struct fsl_track *track = NULL;
		FSL_TRY(fsl_track_plan_add_counter(plan, fsl_track_pid_of_rank(rank), names[which],
						   "ms", true, &track, err));
		FSL_TRY(FSL_NEW(counter, 1, "counters", err));
		*counter = (struct counter){.stream = {next_value, destroy_counter},
					    .source = source,
					    .track = track,
					    .which = (enum fsl_matrix)which,
					    .rank = rank};
		FSL_TRY(fsl_track_plan_add_stream(plan, &counter->stream, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_verdict_tracks_add(struct fsl_track_plan *plan,
				       const struct fsl_verdict_tracks *source,
				       struct fsl_error *err)
{
	if (source->headline == NULL && source->verdict == NULL && source->steps->n_items == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_track_plan_add_process(plan, FSL_TRACK_PID_JOB, "job", source->headline, -1,
					   err));
	FSL_TRY(add_steps(plan, source, err));
	if (source->verdict == NULL) {
		return FSL_OK;
	}
	for (size_t r = 0; r < source->n_ranks && source->n_matrices > 0; r++) {
		FSL_TRY(add_counters(plan, source, source->ranks[r], err));
	}
	return add_culprits(plan, source, err);
}
