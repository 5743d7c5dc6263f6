/* The operators of a capture are those of its run; its steps are ranges of the framework. */
#include "report/trace/capture_tracks.h"

#include "report/trace/capture_rows.h"
#include "report/trace/track_slices.h"
#include "text/phrase.h"

/* The steps of one rank. */
struct ranges {
	const struct fsl_profile_range *items;
	const uint32_t *names; /* text of each */
	uint32_t category;
	int64_t shift_ns;
};

static const char *const step_lanes[] = {"steps"};

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct ranges *ranges = context;
	const struct fsl_profile_range *range = &ranges->items[idx];
	*begin_ns = range->begin_ns - ranges->shift_ns;
	*end_ns = (range->end_ns > range->begin_ns ? range->end_ns : range->begin_ns) -
		  ranges->shift_ns;
}

static void fill(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct ranges *ranges = context;
	event->name = ranges->names[idx];
	event->category = ranges->category;
}

static enum fsl_status add_ranges(struct fsl_track_plan *plan,
				  const struct fsl_capture_source *source_of,
				  const struct fsl_profile_rank *rank, int64_t shift_ns,
				  uint64_t *n_left_out, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	size_t n = rank->trace.n_ranges, n_shown = 0;
	struct ranges *ranges = NULL;
	uint32_t *names = NULL, *order = NULL;
	FSL_TRY(FSL_ARENA_NEW(ranges, arena, 1, "steps", err));
	FSL_TRY(FSL_ARENA_NEW(names, arena, n + 1, "steps", err));
	*ranges =
		(struct ranges){.items = rank->trace.ranges, .names = names, .shift_ns = shift_ns};
	FSL_TRY(fsl_track_plan_text(plan, "step", &ranges->category, err));
	for (size_t i = 0; i < n; i++) {
		struct fsl_phrase name = {0};
		fsl_phrase_add(&name, "step %lld", (long long)rank->trace.ranges[i].step);
		FSL_TRY(fsl_track_plan_text(plan, name.text, &names[i], err));
	}
	const struct fsl_slice_source source = {
		.context = ranges, .times = times_of, .fill = fill, .families = step_lanes};
	FSL_TRY(FSL_NEW(order, n + 1, "steps", err));
	for (size_t i = 0; i < n; i++) {
		int64_t end_ns = rank->trace.ranges[i].end_ns;
		order[n_shown] = (uint32_t)i;
		n_shown += end_ns >= source_of->from_ns && end_ns <= source_of->to_ns;
	}
	return fsl_slices_add(plan, fsl_track_pid_of_rank(rank->rank), &source, order, n_shown,
			      n_left_out, err);
}

enum fsl_status fsl_capture_tracks_add(struct fsl_track_plan *plan,
				       const struct fsl_capture_source *source,
				       struct fsl_run_tracks *operators, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const struct fsl_profile *profile = source->profile;
	const struct fsl_profile_meetings *meetings = source->meetings;
	int32_t *numbers = NULL;
	uint64_t n_left_out = 0;
	FSL_TRY(FSL_ARENA_NEW(numbers, arena, profile->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		if (rank->rank < 0 || rank->rank >= FSL_RANKS_MAX) {
			return FSL_FAIL(err, FSL_ERR_INPUT,
					"the number of a captured rank is too large, rename its "
					"folder: rank=%d, max=%d",
					rank->rank, FSL_RANKS_MAX - 1);
		}
		numbers[r] = rank->rank;
		FSL_TRY(fsl_track_add_rank(plan, rank->rank, NULL, err));
		int64_t shift_ns = source->is_aligned ? meetings->match.clock_ns[r] : 0;
		FSL_TRY(add_ranges(plan, source, rank, shift_ns, &n_left_out, err));
		FSL_TRY(fsl_capture_rows_add(plan, source, rank, shift_ns, &n_left_out, err));
	}
	*operators = (struct fsl_run_tracks){.run = &meetings->run,
					     .topology = &meetings->topology,
					     .match = &meetings->match,
					     .is_aligned = source->is_aligned,
					     .has_range = true,
					     .from_ns = source->from_ns,
					     .to_ns = source->to_ns,
					     .numbers = numbers,
					     .n_left_out = n_left_out};
	return fsl_run_tracks_add(plan, operators, err);
}
