/* Steps of ranks on the clock of a kernel trace, from the job of the same hosts. */
#include "engine/hostbound.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "engine/hostbound_parts.h"
#include "engine/hostbound_picture.h"
#include "judge/limits.h"
#include "source/file_name.h"

enum {
	CALLS_MIN = 20,      /* fewer say nothing of the clock */
	CALLS_MAX = 1 << 20, /* of a rank: a bound on memory */
};

/* Ranks of the trace's host by the processes that their marker files tell. */
static enum fsl_status add_job_pids(struct fsl_host_trace *trace, const struct fsl_job *job,
				    struct fsl_error *err)
{
	struct fsl_rank_teller *tellers = NULL;
	size_t n = 0;
	if (trace->has_job_pids) {
		return FSL_OK;
	}
	trace->has_job_pids = true;
	FSL_TRY(FSL_NEW(tellers, job->run.n_files + 1, "files", err));
	for (size_t i = 0; i < job->run.n_files; i++) {
		const struct fsl_file *file = &job->run.files[i];
		const char *slash = strrchr(file->path, '/');
		if (file->rank >= 0 && strcmp(file->format, "mspti_csv") == 0) {
			struct fsl_file_name name =
				fsl_file_name_parse(slash != NULL ? slash + 1 : file->path);
			tellers[n++] = (struct fsl_rank_teller){.path = file->path,
								.host = name.host,
								.n_host = name.n_host,
								.rank = file->rank};
		}
	}
	enum fsl_status status = fsl_host_trace_add_pids(trace, tellers, n, err);
	fsl_free(tellers);
	return status;
}

/* Steps of a rank on its own clock, carried to the clock of the trace. */
static enum fsl_status take_steps(struct fsl_ftrace_rank *rank, const struct fsl_job *job, size_t r,
				  int64_t offset_ns, struct fsl_error *err)
{
	const struct fsl_cuts *cuts = &job->cuts;
	const int64_t *begin_ns = cuts->begin_ns + r * (cuts->n_steps + 1);
	for (size_t s = 0; s < cuts->n_steps; s++) {
		struct fsl_sched_step step = {.step = job->steps.items[s].step};
		bool is_whole = begin_ns[s + 1] > begin_ns[s] &&
				!__builtin_sub_overflow(begin_ns[s], offset_ns, &step.begin_ns) &&
				!__builtin_sub_overflow(begin_ns[s + 1], offset_ns, &step.end_ns);
		bool is_behind = rank->n_steps == 0 ||
				 step.begin_ns >= rank->steps[rank->n_steps - 1].end_ns;
		if (is_whole && is_behind) {
			FSL_TRY(FSL_APPEND(rank, steps, &step, err));
		}
	}
	return FSL_OK;
}

/* Begins of calls that launch operators, which the rank's thread makes while it runs. */
static enum fsl_status take_calls(struct fsl_ftrace_rank *rank, const struct fsl_rank *ops,
				  int64_t offset_ns, struct fsl_error *err)
{
	size_t n = ops->n_ops < CALLS_MAX ? ops->n_ops : CALLS_MAX;
	FSL_TRY(FSL_GROW(rank->calls_ns, rank->calls_ns_capacity, n + 1, err));
	rank->n_calls = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t time_ns = ops->ops[i].host_begin_ns;
		if (time_ns != FSL_NS_ABSENT &&
		    !__builtin_sub_overflow(time_ns, offset_ns, &rank->calls_ns[rank->n_calls])) {
			rank->n_calls++;
		}
	}
	qsort(rank->calls_ns, rank->n_calls, sizeof(*rank->calls_ns), fsl_compare_i64);
	return FSL_OK;
}

/* Share of the calls at which the rank's thread runs; NaN: there are too few. */
static double score_clock(const struct fsl_sched *sched)
{
	size_t n_seen = 0, n_running = 0;
	for (size_t r = 0; r < sched->n_ranks; r++) {
		n_seen += sched->ranks[r].n_calls_seen;
		n_running += sched->ranks[r].n_calls_running;
	}
	return n_seen >= CALLS_MIN ? (double)n_running / (double)n_seen : (double)NAN;
}

/* Calls of all ranks of the trace, carried by @offset_ns. */
static enum fsl_status take_all_calls(struct fsl_ftrace_ranks *ranks, const struct fsl_job *job,
				      int64_t offset_ns, struct fsl_error *err)
{
	for (size_t i = 0; i < ranks->n_items; i++) {
		for (size_t r = 0; r < job->run.n_ranks; r++) {
			if (job->run.ranks[r].rank == ranks->items[i].rank) {
				FSL_TRY(take_calls(&ranks->items[i], &job->run.ranks[r], offset_ns,
						   err));
			}
		}
	}
	return FSL_OK;
}

/* Nothing tells the clock: the offset with which ranks run at their calls. */
static enum fsl_status fit_clock(struct fsl_host_trace *trace, const struct fsl_job *job,
				 struct fsl_error *err)
{
	FSL_TRY(take_all_calls(&trace->ranks, job, 0, err));
	FSL_TRY(fsl_ftrace_fit_clock(&trace->fit, trace->files->paths, trace->files->n_paths,
				     &trace->ranks, err));
	trace->beside.has_offset = trace->fit.is_found;
	trace->beside.offset_ns = trace->fit.offset_ns;
	trace->lacks_clock = !trace->fit.is_found;
	for (size_t i = 0; i < trace->ranks.n_items; i++) {
		trace->ranks.items[i].n_calls = 0; /* in UTC */
	}
	return FSL_OK;
}

enum fsl_status fsl_host_trace_join(struct fsl_host_trace *trace, const struct fsl_job *job,
				    struct fsl_error *err)
{
	FSL_TRY(add_job_pids(trace, job, err));
	fsl_ftrace_ranks_resolve(&trace->ranks);
	if (!trace->beside.has_offset) {
		FSL_TRY(fit_clock(trace, job, err));
	}
	if (!trace->beside.has_offset) {
		return FSL_OK;
	}
	FSL_TRY(take_all_calls(&trace->ranks, job, trace->beside.offset_ns, err));
	if (job->cuts.n_ranks != job->run.n_ranks) {
		return FSL_OK; /* the job is not judged: it has no steps */
	}
	for (size_t i = 0; i < trace->ranks.n_items; i++) {
		struct fsl_ftrace_rank *rank = &trace->ranks.items[i];
		for (size_t r = 0; r < job->run.n_ranks; r++) {
			if (job->run.ranks[r].rank == rank->rank) {
				FSL_TRY(take_steps(rank, job, r, trace->beside.offset_ns, err));
			}
		}
		trace->n_job_ranks += rank->n_steps > 0;
	}
	return FSL_OK;
}

/* The places that may have clocks, and who asks. */
struct request {
	struct fsl_host_traces *out;
	const char *const *paths;
	size_t n_paths;
	const struct fsl_job *job;
};

/* The clock of the trace by profiles of its host, if nothing beside it tells one. */
static enum fsl_status find_clock(const struct request *request, struct fsl_host_trace *trace,
				  int64_t first_ns, struct fsl_error *err)
{
	struct fsl_host_traces *out = request->out;
	bool is_ambiguous = false;
	if (trace->beside.has_offset || trace->beside.is_not_raw ||
	    (request->job == NULL && out->capture == NULL && out->n_profiles == 0)) {
		return FSL_OK;
	}
	if (!out->has_looked) {
		out->has_looked = true;
		FSL_TRY(fsl_prof_clocks_find(
			&out->clocks, out->n_profiles > 0 ? out->profiles : request->paths,
			out->n_profiles > 0 ? out->n_profiles : request->n_paths, err));
	}
	const struct fsl_prof_clock *clock = fsl_prof_clocks_choose(
		&out->clocks, trace->files->paths[0], first_ns, &is_ambiguous);
	if (is_ambiguous) {
		fsl_log(FSL_LOG_WARNING, "ftrace",
			"profiles of several hosts tell clocks, and the trace does not tell its "
			"host: put the host's name into the trace's path: file=\"%s\", "
			"profiles=%zu",
			trace->files->paths[0], out->clocks.n_items);
	}
	if (clock != NULL) {
		fsl_ftrace_beside_take(&trace->beside, clock);
	}
	return FSL_OK;
}

/* A file that is no topology is told; one that the user named is an error. */
static enum fsl_status read_topology(struct fsl_host_trace *trace, const char *path, bool is_named,
				     struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	struct fsl_error own = {0};
	enum fsl_status status = fsl_file_read_text(path, &text, &length, &own);
	if (length > 0) { /* a host that tells nothing of its CPUs */
		FSL_THEN(status, fsl_sched_topology_parse(&trace->topology, text, length, &own));
	}
	fsl_free(text);
	if (status == FSL_OK) {
		return FSL_OK;
	}
	if (is_named || status == FSL_ERR_MEMORY) {
		*err = own;
		return FSL_CAUSE(err, status, "no topology: file=\"%s\"", path);
	}
	fsl_log(FSL_LOG_WARNING, "ftrace",
		"a file beside the trace cannot be used: file=\"%s\", reason=\"%s\"", path,
		fsl_error_root(&own));
	return FSL_OK;
}

static enum fsl_status find_topology(const struct fsl_host_traces *out,
				     struct fsl_host_trace *trace, struct fsl_error *err)
{
	char path[PATH_MAX];
	const char *trace_path = trace->files->paths[0], *slash = strrchr(trace_path, '/');
	int folder = slash != NULL ? (int)(slash - trace_path) + 1 : 0;
	if (out->topology != NULL) {
		FSL_TRY(read_topology(trace, out->topology, true, err));
	} else {
		(void)snprintf(path, sizeof(path), "%.*s.topology.txt",
			       (int)fsl_ftrace_stem(trace_path), trace_path);
		if (access(path, F_OK) != 0) {
			(void)snprintf(path, sizeof(path), "%.*stopology.txt", folder, trace_path);
		}
		if (access(path, F_OK) == 0) {
			FSL_TRY(read_topology(trace, path, false, err));
		}
	}
	trace->ranks.topology = trace->topology.n_cpus > 0 ? &trace->topology : NULL;
	return FSL_OK;
}

/* Puts steps of the job onto the clock of the trace, and reads the trace. */
static enum fsl_status join_and_read(const struct request *request, struct fsl_host_trace *trace,
				     struct fsl_error *err)
{
	for (size_t i = 0; i < trace->ranks.n_items; i++) {
		trace->ranks.items[i].n_steps = trace->ranks.items[i].n_calls = 0;
	}
	trace->n_job_ranks = 0;
	if (request->job != NULL) {
		FSL_TRY(fsl_host_trace_join(trace, request->job, err));
	}
	if (request->out->capture != NULL) {
		FSL_TRY(fsl_host_trace_join_capture(trace, request->out->capture, err));
	}
	fsl_ftrace_ranks_resolve(&trace->ranks);
	FSL_TRY(fsl_ftrace_load(&trace->sched, &trace->ranks, trace->files->paths,
				trace->files->n_paths, &trace->loaded, err));
	trace->clock_score = score_clock(&trace->sched);
	return FSL_OK;
}

/* If ranks do not run at their calls, and the trace does not name its clock, it has another one
 * than the nearest, or than a profile has: estimates it. */
static enum fsl_status doubt_clock(const struct request *request, struct fsl_host_trace *trace,
				   struct fsl_error *err)
{
	const struct fsl_ftrace_beside before = trace->beside;
	bool is_named = before.is_clock_told && !before.has_start_info;
	if (request->job == NULL || is_named || trace->fit.is_found ||
	    !(trace->clock_score < FSL_JUDGE_CLOCK_SCORE_MIN)) {
		return FSL_OK;
	}
	trace->beside = (struct fsl_ftrace_beside){.clock = ""};
	FSL_TRY(join_and_read(request, trace, err));
	if (!trace->fit.is_found) {
		trace->beside = before;
		trace->lacks_clock = false;
		FSL_TRY(join_and_read(request, trace, err));
	}
	return FSL_OK;
}

static enum fsl_status load_one(const struct request *request, struct fsl_host_trace *trace,
				const struct fsl_ftrace_trace *files, struct fsl_error *err)
{
	trace->files = files;
	trace->clock_score = NAN;
	if (files->refusal != NULL) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "%s: file=\"%s\"", files->refusal,
				files->paths[0]);
	}
	struct fsl_ftrace_facts facts;
	int64_t first_ns = fsl_ftrace_first_ns(files->paths[0], &facts);
	FSL_TRY(fsl_ftrace_read_beside(&trace->beside, &trace->ranks, files->paths[0], facts.clock,
				       first_ns, err));
	bool may_be_raw = facts.clock[0] == '\0' || strcmp(facts.clock, "mono_raw") == 0;
	if (may_be_raw) {
		FSL_TRY(find_clock(request, trace, first_ns, err));
	}
	FSL_TRY(find_topology(request->out, trace, err));
	FSL_TRY(join_and_read(request, trace, err));
	FSL_TRY(doubt_clock(request, trace, err));
	return fsl_hostbound_judge(&trace->judged, &trace->sched, err);
}

enum fsl_status fsl_host_traces_load(struct fsl_host_traces *out, const char *const *paths,
				     size_t n_paths, bool is_brief, const struct fsl_job *job,
				     struct fsl_error *err)
{
	const struct request request = {out, paths, n_paths, job};
	FSL_TRY(fsl_ftrace_find(&out->found, paths, n_paths, is_brief, err));
	if (out->found.n_items == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(out->items, out->found.n_items, "traces", err));
	for (size_t i = 0; i < out->found.n_items; i++) {
		struct fsl_host_trace *trace = &out->items[out->n_items++];
		struct fsl_error own = {0};
		enum fsl_status status = load_one(&request, trace, &out->found.items[i], &own);
		FSL_TRY(fsl_host_traces_settle(out, status, &own, is_brief, err));
	}
	return FSL_OK;
}

static void free_trace(struct fsl_host_trace *trace)
{
	if (trace->picture != NULL) {
		fsl_host_picture_fini(trace->picture);
		fsl_free(trace->picture);
	}
	fsl_hostbound_fini(&trace->judged);
	fsl_sched_fini(&trace->sched);
	fsl_ftrace_ranks_fini(&trace->ranks);
	fsl_sched_topology_fini(&trace->topology);
	*trace = (struct fsl_host_trace){0};
}

static void tell_left_out(const struct fsl_host_left_out *left_out)
{
	fsl_log(FSL_LOG_WARNING, "ftrace", "a kernel trace is not read: file=\"%s\", cause=\"%s\"",
		left_out->path, left_out->reason);
}

enum fsl_status fsl_host_traces_settle(struct fsl_host_traces *traces, enum fsl_status status,
				       const struct fsl_error *why, bool is_brief,
				       struct fsl_error *err)
{
	struct fsl_host_trace *trace = &traces->items[traces->n_items - 1];
	if (status == FSL_OK) {
		return FSL_OK;
	}
	if (status == FSL_ERR_MEMORY) {
		*err = *why;
		return status;
	}
	const struct fsl_host_left_out left_out = {
		.path = trace->files->paths[0],
		.reason = fsl_arena_strdup(&traces->found.arena, fsl_error_root(why)),
	};
	if (left_out.reason == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", left_out.path);
	}
	FSL_TRY(FSL_APPEND(traces, left_out, &left_out, err));
	if (is_brief || traces->n_left_out > 1) {
		tell_left_out(&left_out);
	} else {
		traces->failure = *why;
	}
	free_trace(trace);
	traces->n_items--;
	return FSL_OK;
}

enum fsl_status fsl_host_traces_check(struct fsl_host_traces *traces, struct fsl_error *err)
{
	if (traces->failure.n_causes == 0) {
		return FSL_OK;
	}
	if (traces->n_items == 0) {
		*err = traces->failure;
		return err->status;
	}
	tell_left_out(&traces->left_out[0]);
	fsl_error_clear(&traces->failure);
	return FSL_OK;
}

void fsl_host_traces_fini(struct fsl_host_traces *traces)
{
	for (size_t i = 0; i < traces->n_items; i++) {
		free_trace(&traces->items[i]);
	}
	fsl_free(traces->items);
	fsl_free(traces->left_out);
	fsl_ftrace_traces_fini(&traces->found);
	fsl_prof_clocks_fini(&traces->clocks);
	*traces = (struct fsl_host_traces){0};
}
