/* Passes over a kernel trace. */
#include "source/ftrace/load.h"

#include "base/try.h"

/* How one pass reads. */
struct pass {
	const char *const *paths;
	size_t n_paths;
	bool sorts;
	int64_t begin_ns, end_ns; /* what is counted */
};

/* Marks of steps: ranks must be known before the first event. */
static enum fsl_status read_marks(struct fsl_ftrace_marks *marks, const char *path,
				  struct fsl_error *err)
{
	struct fsl_ftrace_reader *reader = NULL;
	const struct fsl_sched_event *event = NULL;
	FSL_TRY(fsl_ftrace_open(&reader, path, err));
	enum fsl_status status = fsl_ftrace_next_mark(reader, &event, err);
	while (status == FSL_OK && event != NULL) {
		status = fsl_ftrace_marks_add(marks, event, err);
		FSL_THEN(status, fsl_ftrace_next_mark(reader, &event, err));
	}
	fsl_ftrace_close(reader);
	return status;
}

/* Marks or ranks.json that are those of a whole job. */
static enum fsl_status check_ranks(const struct fsl_ftrace_ranks *ranks, const char *path,
				   struct fsl_error *err)
{
	return ranks->n_items <= FSL_SCHED_RANKS_MAX
		       ? FSL_OK
		       : FSL_FAIL(
				 err, FSL_ERR_LIMIT,
				 "marks or ranks.json tell more ranks than a host has: "
				 "file=\"%s\", ranks=%zu, max=%d, remedy=\"keep only the ranks of "
				 "the trace's host in ranks.json, record each host in a file of its "
				 "own\"",
				 path, ranks->n_items, FSL_SCHED_RANKS_MAX);
}

static enum fsl_status feed_all(struct fsl_sched *sched, struct fsl_ftrace_merge *merge,
				struct fsl_error *err)
{
	for (;;) {
		const struct fsl_sched_event *event = NULL;
		FSL_TRY(fsl_ftrace_merge_next(merge, &event, err));
		if (event == NULL) {
			return fsl_sched_finish(sched, err);
		}
		FSL_TRY(fsl_sched_feed(sched, event, err));
	}
}

static enum fsl_status read_once(struct fsl_sched *sched, const struct fsl_ftrace_ranks *ranks,
				 const struct pass *pass, struct fsl_ftrace_loaded *loaded,
				 struct fsl_error *err)
{
	struct fsl_ftrace_merge *merge = NULL;
	fsl_sched_fini(sched);
	fsl_sched_init(sched, pass->begin_ns, pass->end_ns);
	sched->told = ranks->told;
	sched->n_told = ranks->n_told;
	sched->topology = ranks->topology;
	for (size_t i = 0; i < ranks->n_items; i++) {
		const struct fsl_ftrace_rank *rank = &ranks->items[i];
		FSL_TRY(fsl_sched_add_rank(sched, rank->rank, rank->pid, rank->steps, rank->n_steps,
					   err));
		sched->ranks[sched->n_ranks - 1].calls_ns = rank->calls_ns;
		sched->ranks[sched->n_ranks - 1].n_calls = rank->n_calls;
	}
	FSL_TRY(fsl_ftrace_merge_open(&merge, pass->paths, pass->n_paths, pass->sorts, err));
	enum fsl_status status = feed_all(sched, merge, err);
	loaded->facts = fsl_ftrace_merge_facts(merge);
	loaded->n_misplaced = fsl_ftrace_merge_late(merge);
	fsl_ftrace_merge_close(merge);
	return status;
}

/* The part of the trace that all CPUs have: the oldest events of each CPU are overwritten. False:
 * there is no such part. */
static bool common_window(const struct fsl_sched *sched, struct pass *pass)
{
	int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
	for (size_t c = 0; c < sched->n_cpus; c++) {
		const struct fsl_sched_cpu *cpu = &sched->cpus[c];
		if (cpu->is_seen) {
			begin_ns = cpu->first_ns > begin_ns ? cpu->first_ns : begin_ns;
			end_ns = cpu->last_ns < end_ns ? cpu->last_ns : end_ns;
		}
	}
	if (begin_ns >= end_ns) {
		return false;
	}
	pass->begin_ns = begin_ns;
	pass->end_ns = end_ns;
	return true;
}

enum fsl_status fsl_ftrace_load(struct fsl_sched *sched, struct fsl_ftrace_ranks *ranks,
				const char *const *paths, size_t n_paths,
				struct fsl_ftrace_loaded *loaded, struct fsl_error *err)
{
	struct fsl_ftrace_marks marks = {0};
	struct pass pass = {paths, n_paths, false, INT64_MIN, INT64_MAX};
	enum fsl_status status = FSL_OK;
	*loaded = (struct fsl_ftrace_loaded){0};
	for (size_t i = 0; status == FSL_OK && i < n_paths; i++) {
		status = read_marks(&marks, paths[i], err);
	}
	FSL_THEN(status, fsl_ftrace_marks_rank(&marks, ranks, err));
	FSL_THEN(status, check_ranks(ranks, paths[0], err));
	FSL_THEN(status, read_once(sched, ranks, &pass, loaded, err));
	const struct fsl_ftrace_facts facts = loaded->facts;
	loaded->n_late = loaded->n_misplaced;
	loaded->n_marks = marks.n_items;
	loaded->is_lossy = facts.n_losses > 0 || facts.n_started > 0 ||
			   (facts.n_kept >= 0 && facts.n_kept < facts.n_written);
	if (status == FSL_OK && loaded->is_lossy) {
		loaded->has_window = common_window(sched, &pass);
	}
	pass.sorts = loaded->n_late > 0;
	if (pass.sorts || loaded->has_window) {
		FSL_THEN(status, read_once(sched, ranks, &pass, loaded, err));
	}
	fsl_ftrace_marks_fini(&marks);
	return status;
}
