/* Kernel traces among the inputs of a conversion. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/language.h"
#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "cli/convert_parts.h"
#include "engine/hostbound.h"
#include "judge/limits.h"
#include "report/trace/kernel_tracks.h"
#include "source/ftrace/form.h"

enum { TRACES_MAX = 64 }; /* hosts of one timeline */

/* One host. */
struct kernel_trace {
	struct fsl_host_traces loaded; /* of this trace alone */
	struct fsl_ftrace_intervals intervals;
	struct fsl_kernel_tracks tracks;
};

struct fsl_conversion_kernel {
	struct fsl_ftrace_traces found;
	struct kernel_trace *items; /* [n_items] */
	size_t n_items;
};

/* Finds the traces, and leaves out files that the user named and that are something else. */
static enum fsl_status find(struct fsl_ftrace_traces *found, const char *const *paths,
			    size_t n_paths, struct fsl_error *err)
{
	const char *other = fsl_ftrace_refusal(FSL_FTRACE_NO_TRACE);
	size_t n = 0;
	FSL_TRY(fsl_ftrace_find(found, paths, n_paths, false, err));
	for (size_t i = 0; i < found->n_items; i++) {
		const char *refusal = found->items[i].refusal;
		if (refusal == NULL || strcmp(refusal, other) != 0) {
			found->items[n++] = found->items[i];
		}
	}
	found->n_items = n;
	return FSL_OK;
}

bool fsl_conversion_is_kernel_trace(const char *path)
{
	struct fsl_ftrace_traces found = {0};
	struct stat facts;
	bool is_trace = stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
			find(&found, &path, 1, NULL) == FSL_OK && found.n_items > 0;
	fsl_ftrace_traces_fini(&found);
	return is_trace;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n_text = strlen(text), n_end = strlen(end);
	return n_text >= n_end && strcmp(text + n_text - n_end, end) == 0;
}

/* True if both files lie in one folder. */
static bool are_beside(const char *path, const char *other)
{
	const char *slash = strrchr(path, '/'), *other_slash = strrchr(other, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;
	size_t other_length = other_slash != NULL ? (size_t)(other_slash - other) : 0;
	return length == other_length && memcmp(path, other, length) == 0;
}

/* Whether such a file lies beside traces: clocks, threads, ranks. */
static bool has_name_beside(const char *name)
{
	return ends_with(name, ".clocks.json") || ends_with(name, ".pid_mapping.json") ||
	       strcmp(name, "ranks.json") == 0 || strcmp(name, "start_info") == 0;
}

/* True if the input is a file of one of the traces, or tells of it beside it. */
static bool is_of_trace(const struct fsl_conversion_kernel *kernel, const struct fsl_input *input)
{
	struct stat facts;
	for (size_t i = 0; i < kernel->found.n_items; i++) {
		const struct fsl_ftrace_trace *trace = &kernel->found.items[i];
		if (has_name_beside(input->name) && are_beside(input->path, trace->paths[0])) {
			return true;
		}
		for (size_t k = 0; k < trace->n_paths; k++) {
			if (stat(trace->paths[k], &facts) == 0 && facts.st_ino == input->inode &&
			    facts.st_dev == input->device) {
				return true;
			}
		}
	}
	return false;
}

enum fsl_status fsl_conversion_find_kernel(struct fsl_conversion *c, struct fsl_inputs *inputs,
					   struct fsl_error *err)
{
	struct fsl_conversion_kernel *kernel = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(c->kernel, 1, "traces", err));
	kernel = c->kernel;
	FSL_TRY(find(&kernel->found, c->wanted->paths, c->wanted->n_paths, err));
	if (kernel->found.n_items == 0) {
		return FSL_OK;
	}
	for (size_t i = 0; i < inputs->n_items; i++) {
		if (!is_of_trace(kernel, &inputs->items[i])) {
			inputs->items[n++] = inputs->items[i];
		}
	}
	inputs->n_items = n;
	return FSL_OK;
}

bool fsl_conversion_has_kernel(const struct fsl_conversion *c)
{
	return c->kernel != NULL && c->kernel->found.n_items > 0;
}

/* @time_ns of the command line on the clock of the trace. */
static int64_t on_trace(int64_t time_ns, int64_t offset_ns)
{
	bool is_open = time_ns == INT64_MIN || time_ns == INT64_MAX;
	return is_open ? time_ns : fsl_sum_i64(time_ns, -offset_ns);
}

static enum fsl_status read_intervals(struct kernel_trace *trace, const struct fsl_conversion *c,
				      struct fsl_error *err)
{
	const struct fsl_host_trace *host = &trace->loaded.items[0];
	int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
	if (host->loaded.has_window) {
		begin_ns = host->sched.begin_ns;
		end_ns = host->sched.end_ns;
	}
	int64_t offset_ns = host->beside.has_offset ? host->beside.offset_ns : 0;
	trace->intervals.from_ns = on_trace(c->wanted->from_ns, offset_ns);
	trace->intervals.to_ns = on_trace(c->wanted->to_ns, offset_ns);
	return fsl_ftrace_intervals_read(&trace->intervals, &host->ranks, host->files->paths,
					 host->files->n_paths, &host->loaded, begin_ns, end_ns,
					 err);
}

/* Times that are shown: those of the model, cut to the part that is wanted. */
static int64_t first_of(const struct kernel_trace *trace)
{
	const struct fsl_ftrace_intervals *intervals = &trace->intervals;
	int64_t begin_ns = intervals->sched.begin_ns;
	return intervals->from_ns > begin_ns ? intervals->from_ns : begin_ns;
}

static int64_t last_of(const struct kernel_trace *trace)
{
	const struct fsl_ftrace_intervals *intervals = &trace->intervals;
	int64_t end_ns = intervals->sched.end_ns;
	return intervals->to_ns < end_ns ? intervals->to_ns : end_ns;
}

static void free_trace(struct kernel_trace *trace)
{
	fsl_ftrace_intervals_fini(&trace->intervals);
	fsl_host_traces_fini(&trace->loaded);
	*trace = (struct kernel_trace){0};
}

static const char *name_of(const struct fsl_ftrace_trace *files)
{
	const char *slash = strrchr(files->paths[0], '/');
	return slash != NULL ? slash + 1 : files->paths[0];
}

/* Loads a trace with the operators that are shown, whose calls tell whether the clocks fit. Of a
 * run that is read in windows the analysis knows more. */
static enum fsl_status load(struct fsl_conversion *c, struct fsl_host_traces *loaded,
			    const struct fsl_ftrace_trace *files, struct fsl_error *err)
{
	struct fsl_job *shown = NULL;
	FSL_TRY(FSL_NEW(shown, 1, "jobs", err));
	shown->run = c->run;
	loaded->capture = c->has_captures ? &c->profile : NULL;
	loaded->profiles = c->wanted->paths;
	loaded->n_profiles = c->wanted->n_paths;
	const struct fsl_job *job = c->feed != NULL && c->has_verdict ? c->job
				    : c->run.n_ranks > 0              ? shown
								      : NULL;
	enum fsl_status status = fsl_host_traces_load(loaded, (const char *const *)files->paths,
						      files->n_paths, false, job, err);
	fsl_free(shown);
	FSL_THEN(status, fsl_host_traces_check(loaded, err));
	return status;
}

/* Taken off the times of the host's ranks to put all ranks on one clock. Ranks of a job are known
 * by their processes: those of other hosts are not in the trace. */
static int64_t shift_of(const struct fsl_conversion *c, const struct fsl_host_trace *host)
{
	for (size_t i = 0; i < host->ranks.n_items && c->wanted->is_aligned; i++) {
		size_t r = fsl_run_rank_idx(&c->run, host->ranks.items[i].rank);
		if (fsl_sched_find(&host->sched, host->ranks.items[i].pid) == NULL) {
			continue;
		}
		if (r != SIZE_MAX) {
			return c->windows != NULL ? fsl_run_windows_shift_ns(c->windows, r)
						  : c->match.clock_ns[r];
		}
		for (r = 0; r < c->profile.n_ranks; r++) {
			if (c->profile.ranks[r].rank == host->ranks.items[i].rank) {
				return c->meetings.match.clock_ns[r];
			}
		}
	}
	return 0;
}

static struct fsl_kernel_clock clock_of(const struct fsl_conversion *c,
					const struct fsl_host_trace *host)
{
	const struct fsl_ftrace_beside *beside = &host->beside;
	return (struct fsl_kernel_clock){
		.name = beside->clock,
		.is_known = beside->has_offset,
		.is_estimated = host->fit.is_found,
		.is_profile = beside->has_start_info,
		.score = host->fit.is_found ? host->fit.score : host->clock_score,
		.shift_ns = beside->has_offset ? shift_of(c, host) : 0,
	};
}

static void warn_of_clock(const struct fsl_kernel_clock *clock, const char *path)
{
	if (clock->score < FSL_JUDGE_CLOCK_SCORE_MIN) {
		struct fsl_phrase share = {0};
		fsl_phrase_add_percent(&share, clock->score);
		fsl_log(FSL_LOG_WARNING, "convert",
			"the clock of the kernel trace does not fit the job: ranks run at only %s "
			"of their calls: file=\"%s\", clock=\"%s\"",
			share.text, path, clock->name);
	}
}

static enum fsl_status read_trace(struct fsl_conversion *c, struct kernel_trace *trace,
				  const struct fsl_ftrace_trace *files, struct fsl_error *err)
{
	if (files->refusal != NULL) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "%s: file=\"%s\"", files->refusal,
				files->paths[0]);
	}
	FSL_TRY(load(c, &trace->loaded, files, err));
	if (trace->loaded.n_items != 1) {
		return FSL_FAIL(err, FSL_ERR_INPUT, "not a kernel trace: file=\"%s\"",
				files->paths[0]);
	}
	return read_intervals(trace, c, err);
}

static enum fsl_status add_trace(struct fsl_conversion *c, struct kernel_trace *trace,
				 const struct fsl_ftrace_trace *files, struct fsl_error *err)
{
	const struct fsl_host_trace *host = &trace->loaded.items[0];
	struct fsl_kernel_clock clock = clock_of(c, host);
	warn_of_clock(&clock, files->paths[0]);
	trace->tracks = (struct fsl_kernel_tracks){
		.intervals = &trace->intervals,
		.host = name_of(files),
		.number = (uint32_t)c->kernel->n_items - 1,
		.offset_ns =
			clock.is_known ? fsl_sum_i64(host->beside.offset_ns, -clock.shift_ns) : 0,
		.clock = clock,
		.cpus = c->wanted->cpus,
		.n_cpus = c->wanted->n_cpus,
		.is_wanted = fsl_conversion_wants,
		.context = c->wanted,
		.paths = (const char *const *)host->files->paths,
		.n_paths = host->files->n_paths,
		.sorts = host->loaded.n_late > 0,
		.begin_ns = first_of(trace),
		.end_ns = last_of(trace),
	};
	if (trace->intervals.sched.is_begun && trace->tracks.begin_ns <= trace->tracks.end_ns) {
		fsl_track_plan_reach(c->plan,
				     fsl_sum_i64(trace->tracks.begin_ns, trace->tracks.offset_ns));
	}
	return fsl_kernel_tracks_add(c->plan, &trace->tracks, err);
}

/* Reads and draws a trace. One that cannot be read is left out, since it is one host of many;
 * *why tells it. */
static enum fsl_status take_trace(struct fsl_conversion *c, const struct fsl_ftrace_trace *files,
				  struct fsl_error *why, struct fsl_error *err)
{
	struct kernel_trace *trace = &c->kernel->items[c->kernel->n_items++];
	enum fsl_status status = read_trace(c, trace, files, why);
	if (status == FSL_OK) {
		return add_trace(c, trace, files, err);
	}
	if (status == FSL_ERR_MEMORY) {
		*err = *why;
		return status;
	}
	free_trace(trace);
	c->kernel->n_items--;
	return FSL_OK;
}

/* True if the timeline has something without kernel traces. */
static bool has_more(const struct fsl_conversion *c)
{
	return c->run.n_ranks > 0 || c->feed != NULL || c->has_captures ||
	       c->host.n_items + c->memory.n_records > 0;
}

static void tell_left_out(const struct fsl_ftrace_trace *files, const struct fsl_error *why)
{
	if (files->refusal != NULL) {
		fsl_log(FSL_LOG_WARNING, "convert", "%s: file=\"%s\"", files->refusal,
			files->paths[0]);
		return;
	}
	fsl_log(FSL_LOG_WARNING, "convert", "a kernel trace is not read: file=\"%s\", cause=\"%s\"",
		files->paths[0], fsl_error_root(why));
}

enum fsl_status fsl_conversion_add_kernel(struct fsl_conversion *c, struct fsl_error *err)
{
	if (!fsl_conversion_has_kernel(c)) {
		return FSL_OK;
	}
	struct fsl_conversion_kernel *kernel = c->kernel;
	if (kernel->found.n_items > TRACES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many kernel traces: traces=%zu, max=%d",
				kernel->found.n_items, TRACES_MAX);
	}
	struct fsl_error first = {0};
	const struct fsl_ftrace_trace *first_files = NULL;
	FSL_TRY(FSL_NEW(kernel->items, kernel->found.n_items, "traces", err));
	for (size_t i = 0; i < kernel->found.n_items; i++) {
		const struct fsl_ftrace_trace *files = &kernel->found.items[i];
		struct fsl_error why = {0};
		FSL_TRY(take_trace(c, files, &why, err));
		if (why.n_causes > 0 && first_files != NULL) {
			tell_left_out(files, &why);
		} else if (why.n_causes > 0) {
			first = why;
			first_files = files;
		}
	}
	if (first_files == NULL) {
		return FSL_OK;
	}
	if (kernel->n_items == 0 && !has_more(c)) {
		*err = first;
		return first.status;
	}
	tell_left_out(first_files, &first);
	return FSL_OK;
}

enum fsl_status fsl_conversion_write_kernel(struct fsl_conversion *c, fsl_kernel_writer *write,
					    struct fsl_error *err)
{
	for (size_t i = 0; c->kernel != NULL && i < c->kernel->n_items; i++) {
		FSL_TRY(write(&c->file, &c->kernel->items[i].tracks, err));
	}
	return FSL_OK;
}

void fsl_conversion_tell_kernel(const struct fsl_conversion *c)
{
	for (size_t i = 0; c->kernel != NULL && i < c->kernel->n_items; i++) {
		const struct kernel_trace *trace = &c->kernel->items[i];
		const struct fsl_kernel_tracks *tracks = &trace->tracks;
		const struct fsl_host_trace *host = &trace->loaded.items[0];
		(void)fsl_tell_print(stdout, "kernel trace %s: switches %" PRIu64 ", threads %zu\n",
				     tracks->host, trace->intervals.sched.n_switches,
				     tracks->n_threads);
		if (!host->beside.has_offset) {
			(void)fsl_tell_print(stdout, "  its clock is not known: it stands at its "
						     "own times, apart from other events\n");
		}
		if (host->fit.is_found) {
			struct fsl_phrase share = {0};
			fsl_phrase_add_percent(&share, host->fit.score);
			(void)fsl_tell_print(
				stdout,
				"  its clock is estimated: ranks run at %s of their calls\n",
				share.text);
		}
		if (host->loaded.is_lossy) {
			(void)fsl_tell_print(stdout, "  events were lost: only times that all of "
						     "its CPUs have are shown\n");
		}
		if (tracks->n_threads_left_out > 0) {
			(void)fsl_tell_print(stdout,
					     "left out: %zu threads, reason: others ran "
					     "longer\n",
					     tracks->n_threads_left_out);
		}
		if (tracks->n_cpus_left_out > 0) {
			(void)fsl_tell_print(stdout,
					     "left out: %zu CPUs, reason: too many, name "
					     "some with --cpus\n",
					     tracks->n_cpus_left_out);
		}
	}
}

uint64_t fsl_conversion_kernel_left_out(const struct fsl_conversion *c)
{
	uint64_t n = 0;
	for (size_t i = 0; c->kernel != NULL && i < c->kernel->n_items; i++) {
		n += c->kernel->items[i].tracks.n_left_out;
	}
	return n;
}

void fsl_conversion_drop_kernel(struct fsl_conversion *c)
{
	if (c->kernel == NULL) {
		return;
	}
	for (size_t i = 0; i < c->kernel->n_items; i++) {
		free_trace(&c->kernel->items[i]);
	}
	fsl_free(c->kernel->items);
	fsl_ftrace_traces_fini(&c->kernel->found);
	fsl_free(c->kernel);
}
