/* Moves operators from the run into windows, and forgets them when they were written. */
#include "report/trace/run_windows.h"

#include <string.h>

#include "base/log.h"
#include "report/trace/run_tracks_parts.h"

/* A rank with the operators of the window, and those of which a part begins later. */
struct shown_rank {
	struct fsl_rank_view view;
	struct fsl_rank_lanes lanes;
	struct fsl_op *ops; /* [view.n_ops] */
	size_t ops_capacity;
	struct fsl_op_mark *marks; /* [view.n_ops] */
	size_t marks_capacity;
	bool is_wanted, has_process;
};

struct fsl_run_windows {
	struct fsl_track_plan *plan;
	struct fsl_run_tracks *source;
	struct fsl_run *run;
	struct fsl_run_words words;
	struct fsl_run_names names;
	struct shown_rank *ranks; /* [n_ranks] */
	size_t n_ranks;
	uint64_t n_launches;
	uint32_t n_meetings;
	int64_t until_ns; /* of the window that was added last */
};

enum fsl_status fsl_run_windows_create(struct fsl_run_windows **out, struct fsl_track_plan *plan,
				       struct fsl_run_tracks *source, struct fsl_run *run,
				       struct fsl_error *err)
{
	struct fsl_run_windows *windows = NULL;
	FSL_TRY(FSL_NEW(windows, 1, "windows", err));
	*out = windows;
	windows->plan = plan;
	windows->source = source;
	windows->run = run;
	FSL_TRY(fsl_run_words_find(&windows->words, plan, err));
	FSL_TRY(FSL_NEW(windows->ranks, run->n_ranks + 1, "ranks", err));
	windows->n_ranks = run->n_ranks;
	for (size_t r = 0; r < windows->n_ranks; r++) {
		windows->ranks[r].view = fsl_rank_view_of(source, r, &windows->words);
		windows->ranks[r].is_wanted = source->is_wanted == NULL || source->is_wanted[r];
	}
	return FSL_OK;
}

void fsl_run_windows_destroy(struct fsl_run_windows *windows)
{
	for (size_t r = 0; windows != NULL && r < windows->n_ranks; r++) {
		struct shown_rank *shown = &windows->ranks[r];
		fsl_slice_lanes_fini(&shown->lanes.stages);
		fsl_slice_lanes_fini(&shown->lanes.host);
		fsl_slice_lanes_fini(&shown->lanes.device);
		fsl_free(shown->ops);
		fsl_free(shown->marks);
	}
	if (windows != NULL) {
		fsl_run_names_fini(&windows->names);
		fsl_free(windows->ranks);
	}
	fsl_free(windows);
}

int64_t fsl_run_windows_shift_ns(const struct fsl_run_windows *windows, size_t rank_idx)
{
	return windows->ranks[rank_idx].view.shift_ns;
}

bool fsl_run_windows_has_events(const struct fsl_run_windows *windows, size_t rank_idx)
{
	return windows->ranks[rank_idx].has_process;
}

/* Marks of the operators that the run has, one array for all ranks, with a view for each. */
struct marking {
	struct fsl_rank_view *views;
	struct fsl_op_mark *marks;
};

static void marking_end(struct marking *marking)
{
	fsl_free(marking->views);
	fsl_free(marking->marks);
}

static enum fsl_status marking_begin(struct marking *marking, const struct fsl_run_windows *windows,
				     struct fsl_error *err)
{
	size_t n = 0;
	*marking = (struct marking){0};
	for (size_t r = 0; r < windows->n_ranks; r++) {
		n += windows->run->ranks[r].n_ops;
	}
	FSL_TRY(FSL_NEW(marking->views, windows->n_ranks + 1, "ranks", err));
	FSL_TRY(FSL_NEW(marking->marks, n + 1, "operators", err));
	n = 0;
	for (size_t r = 0; r < windows->n_ranks; r++) {
		const struct fsl_rank *rank = &windows->run->ranks[r];
		marking->views[r] = windows->ranks[r].view;
		marking->views[r].ops = rank->ops;
		marking->views[r].n_ops = rank->n_ops;
		marking->views[r].marks = windows->ranks[r].is_wanted ? marking->marks + n : NULL;
		n += rank->n_ops;
	}
	return FSL_OK;
}

/* Moves the operators of a rank that begin before @until_ns, and those of collectives of which
 * another member does. */
static enum fsl_status take_ops(struct fsl_run_windows *windows, size_t r,
				const struct fsl_op_mark *marks, int64_t until_ns,
				struct fsl_error *err)
{
	struct fsl_rank *rank = &windows->run->ranks[r];
	struct shown_rank *shown = &windows->ranks[r];
	struct fsl_rank_view *view = &shown->view;
	size_t n_left = 0, n_most = view->n_ops + rank->n_ops;
	if (shown->is_wanted) {
		FSL_TRY(FSL_GROW(shown->ops, shown->ops_capacity, n_most, err));
		FSL_TRY(FSL_GROW(shown->marks, shown->marks_capacity, n_most, err));
	}
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		bool is_linked = marks != NULL && marks[i].meeting != 0;
		if (!is_linked && !fsl_rank_view_begins_before(view, op, until_ns)) {
			rank->ops[n_left++] = *op;
			continue;
		}
		if (shown->is_wanted) {
			windows->source->n_no_device += op->dev_begin_ns == FSL_NS_ABSENT;
			shown->ops[view->n_ops] = *op;
			shown->marks[view->n_ops] = marks[i];
			shown->marks[view->n_ops++].launch = ++windows->n_launches;
		}
	}
	rank->n_ops = n_left;
	rank->n_remnants = 0;
	view->ops = shown->ops;
	view->marks = shown->marks;
	return FSL_OK;
}

static enum fsl_status take_all(struct fsl_run_windows *windows, int64_t until_ns,
				struct fsl_error *err)
{
	struct marking marking = {0};
	enum fsl_status status = marking_begin(&marking, windows, err);
	FSL_THEN(status, fsl_run_link_members(marking.views, windows->source->match, until_ns,
					      &windows->n_meetings, err));
	for (size_t r = 0; status == FSL_OK && r < windows->n_ranks; r++) {
		status = take_ops(windows, r, marking.views[r].marks, until_ns, err);
	}
	marking_end(&marking);
	return status;
}

static enum fsl_status add_rank(struct fsl_run_windows *windows, struct shown_rank *shown,
				int64_t until_ns, struct fsl_error *err)
{
	struct fsl_rank_view *view = &shown->view;
	view->names = windows->names.texts;
	view->kind_of = windows->names.kind_of;
	if (view->n_ops + view->rank->n_stages > 0 && !shown->has_process) {
		FSL_TRY(fsl_track_add_rank(windows->plan, view->rank->rank, view->rank->server_ip,
					   err));
		shown->has_process = true;
	}
	if (shown->has_process) {
		FSL_TRY(fsl_rank_view_add(windows->plan, view, &shown->lanes, until_ns,
					  windows->source, err));
	}
	return shown->has_process && until_ns == INT64_MAX
		       ? fsl_rank_view_add_open(windows->plan, view, windows->source, err)
		       : FSL_OK;
}

enum fsl_status fsl_run_windows_add(struct fsl_run_windows *windows, int64_t until_ns,
				    struct fsl_error *err)
{
	windows->until_ns = until_ns;
	FSL_REQUIRE(windows->run->n_ranks == windows->n_ranks);
	FSL_TRY(fsl_run_names_update(&windows->names, windows->plan, windows->source, err));
	FSL_TRY(take_all(windows, until_ns, err));
	for (size_t r = 0; r < windows->n_ranks; r++) {
		struct shown_rank *shown = &windows->ranks[r];
		shown->view.rank = &windows->run->ranks[r];
		if (shown->is_wanted) {
			FSL_TRY(add_rank(windows, shown, until_ns, err));
		}
	}
	return FSL_OK;
}

/* True if a part of the operator is still to be shown. */
static bool is_needed(const struct fsl_rank_view *view, size_t i)
{
	const struct fsl_op *op = &view->ops[i];
	const struct fsl_op_mark *mark = &view->marks[i];
	return (op->host_begin_ns != FSL_NS_ABSENT && !mark->is_host_shown) ||
	       (fsl_rank_view_has_device(view, op) && !mark->is_device_shown);
}

static void forget_stages(struct fsl_rank *rank, int64_t before_ns)
{
	size_t n = 0;
	while (n < rank->n_stages && rank->stages[n].begin_ns < before_ns) {
		n++;
	}
	rank->n_stages -= n;
	if (n > 0) {
		memmove(rank->stages, rank->stages + n, rank->n_stages * sizeof(*rank->stages));
	}
}

void fsl_run_windows_forget(struct fsl_run_windows *windows)
{
	for (size_t r = 0; r < windows->n_ranks; r++) {
		struct shown_rank *shown = &windows->ranks[r];
		struct fsl_rank_view *view = &shown->view;
		size_t n = 0;
		for (size_t i = 0; i < view->n_ops; i++) {
			if (is_needed(view, i)) {
				shown->ops[n] = shown->ops[i];
				shown->marks[n++] = shown->marks[i];
			}
		}
		view->n_ops = n;
		forget_stages(&windows->run->ranks[r], windows->until_ns < INT64_MAX
							       ? windows->until_ns + view->shift_ns
							       : INT64_MAX);
	}
}
