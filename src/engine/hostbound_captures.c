/* Steps of ranks on the clock of a kernel trace, from a capture of the same job. */
#include <string.h>

#include "base/number.h"
#include "capture/capture.h"
#include "engine/hostbound_parts.h"

/* Times before this are no UTC: the year 2001. */
static const int64_t UTC_NS_MIN = INT64_C(1000000000) * FSL_NS_PER_S;

/* The number that ends at @end behind '_'; -1: there is none. */
static int64_t number_before(const char *begin, const char *end)
{
	const char *at = end;
	int64_t number = -1;
	while (at > begin && at[-1] >= '0' && at[-1] <= '9') {
		at--;
	}
	bool is_told = at < end && at > begin && at[-1] == '_' &&
		       fsl_parse_i64(at, (size_t)(end - at), &number);
	return is_told ? number : -1;
}

/* Leaves out digits before @end, and @mark before these. */
static const char *without_number(const char *begin, const char *end, char mark)
{
	const char *at = end;
	while (at > begin && at[-1] >= '0' && at[-1] <= '9') {
		at--;
	}
	return at < end && at > begin && at[-1] == mark ? at - 1 : end;
}

/* Process of a rank and its host: PyTorch's profilers name "<host>_<pid>_<time>_ascend_pt" and
 * "<host>_<pid>.<time>.pt.trace.json". False: the name is another one. */
static bool take_name(const struct fsl_profile_folder *folder, struct fsl_rank_teller *teller)
{
	static const char ascend[] = "_ascend_pt", kineto[] = ".pt.trace.json";
	const char *path = folder->file != NULL ? folder->file : folder->path;
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *end = strstr(name, folder->file != NULL ? kineto : ascend);
	if (end == NULL) {
		return false;
	}
	end = without_number(name, end, folder->file != NULL ? '.' : '_');
	int64_t pid = number_before(name, end);
	teller->pid = pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0;
	teller->host = name;
	teller->n_host = (size_t)(without_number(name, end, '_') - name);
	return teller->pid > 0;
}

static bool is_used(const struct fsl_profile_rank *captured)
{
	const struct fsl_profile_trace *trace = &captured->trace;
	return trace->n_ranges > 0 && !trace->has_iterations &&
	       trace->ranges[0].begin_ns >= UTC_NS_MIN;
}

/* Steps, and their begins as calls, at which the framework's thread runs. */
static enum fsl_status take_ranges(struct fsl_ftrace_rank *rank,
				   const struct fsl_profile_rank *captured, int64_t offset_ns,
				   struct fsl_error *err)
{
	const struct fsl_profile_trace *trace = &captured->trace;
	FSL_TRY(FSL_GROW(rank->calls_ns, rank->calls_ns_capacity, trace->n_ranges, err));
	rank->n_calls = 0;
	for (size_t i = 0; i < trace->n_ranges; i++) {
		const struct fsl_profile_range *range = &trace->ranges[i];
		struct fsl_sched_step step = {.step = range->step};
		if (__builtin_sub_overflow(range->begin_ns, offset_ns, &step.begin_ns) ||
		    __builtin_sub_overflow(range->end_ns, offset_ns, &step.end_ns)) {
			continue;
		}
		int64_t end_ns =
			rank->n_steps > 0 ? rank->steps[rank->n_steps - 1].end_ns : INT64_MIN;
		if (step.begin_ns >= end_ns && step.end_ns > step.begin_ns) {
			FSL_TRY(FSL_APPEND(rank, steps, &step, err));
			rank->calls_ns[rank->n_calls++] = step.begin_ns;
		}
	}
	return FSL_OK;
}

/* Ranks of the trace's host by the processes that names of captures tell. */
static enum fsl_status add_pids(struct fsl_host_trace *trace, const struct fsl_profile *capture,
				struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct fsl_rank_teller *tellers = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(tellers, capture->n_ranks + 1, "ranks", err));
	for (size_t i = 0; i < capture->n_ranks; i++) {
		const struct fsl_profile_folder *folder = &capture->ranks[i].folder;
		struct fsl_rank_teller teller = {.rank = capture->ranks[i].rank};
		if (!is_used(&capture->ranks[i]) || !take_name(folder, &teller)) {
			continue;
		}
		teller.path = folder->file != NULL ? fsl_arena_printf(&arena, "%s/%s", folder->path,
								      folder->file)
						   : folder->path;
		if (teller.path != NULL) {
			tellers[n++] = teller;
		}
	}
	enum fsl_status status = fsl_host_trace_add_pids(trace, tellers, n, err);
	fsl_free(tellers);
	fsl_arena_fini(&arena);
	return status;
}

enum fsl_status fsl_host_trace_join_capture(struct fsl_host_trace *trace,
					    const struct fsl_profile *capture,
					    struct fsl_error *err)
{
	FSL_TRY(add_pids(trace, capture, err));
	trace->lacks_clock |= !trace->beside.has_offset;
	for (size_t i = 0; i < trace->ranks.n_items && trace->beside.has_offset; i++) {
		struct fsl_ftrace_rank *rank = &trace->ranks.items[i];
		const struct fsl_profile_rank *captured = fsl_profile_rank_of(capture, rank->rank);
		if (rank->n_steps == 0 && captured != NULL && is_used(captured)) {
			FSL_TRY(take_ranges(rank, captured, trace->beside.offset_ns, err));
			trace->n_job_ranks += rank->n_steps > 0;
		}
	}
	return FSL_OK;
}
