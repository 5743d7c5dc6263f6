/* From judged kernel traces to culprits. */
#include "cli/host_processes.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "engine/hostbound_picture.h"
#include "judge/limits.h"
#include "report/hostbound.h"
#include "text/phrase.h"

static bool has_host_culprit(const struct fsl_localisation *verdict)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		if (verdict->culprits[i].cause == FSL_CAUSE_HOST) {
			return true;
		}
	}
	return false;
}

static enum fsl_status set_holder(struct fsl_culprit_process *process, struct fsl_arena *arena,
				  const struct fsl_hostbound_rank *rank, struct fsl_error *err)
{
	const struct fsl_hostbound_holder *holder =
		rank->cause == FSL_HOSTBOUND_CPU ? fsl_hostbound_main_holder(rank) : NULL;
	if (holder == NULL) {
		return FSL_OK;
	}
	int32_t *pids = fsl_arena_calloc(arena, holder->n_tids + 1, sizeof(*pids));
	process->name = fsl_arena_strdup(arena, holder->name);
	if (pids == NULL || process->name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: pids=%zu", holder->n_tids);
	}
	memcpy(pids, holder->tids, holder->n_tids * sizeof(*pids));
	process->pids = pids;
	process->n_pids = holder->n_tids;
	process->cpu = holder->cpu;
	process->held_ms = (double)(holder->seen_ns + holder->likely_ns) / FSL_NS_PER_MS /
			   (double)rank->n_high;
	return FSL_OK;
}

/* The first advice that frees the rank from who has its CPU; NULL: none. */
static const struct fsl_hostbound_advice *advice_for(const struct fsl_hostbound *judged,
						     int32_t rank)
{
	for (size_t i = 0; i < judged->n_advice; i++) {
		const struct fsl_hostbound_advice *advice = &judged->advice[i];
		bool is_parting = advice->kind == FSL_ADVICE_PART_RANKS;
		bool is_about = advice->kind == FSL_ADVICE_MOVE_PROCESS ||
				advice->kind == FSL_ADVICE_RAISE_QUOTA || is_parting;
		if (is_about &&
		    (advice->rank == rank || (is_parting && advice->other_rank == rank))) {
			return advice;
		}
	}
	return NULL;
}

static enum fsl_status set_process(struct fsl_culprit *culprit, struct fsl_arena *arena,
				   const struct fsl_hostbound *judged,
				   const struct fsl_hostbound_rank *rank, struct fsl_error *err)
{
	char text[FSL_PHRASE_MAX] = "";
	struct fsl_culprit_process *process = fsl_arena_alloc(arena, sizeof(*process));
	const struct fsl_hostbound_advice *advice = advice_for(judged, rank->rank);
	if (advice != NULL) {
		fsl_hostbound_advice_text(advice, text, sizeof(text));
	}
	const char *advised = fsl_arena_strdup(arena, text);
	fsl_hostbound_sentence(rank, text, sizeof(text));
	const char *kept = fsl_arena_strdup(arena, text);
	if (process == NULL || kept == NULL || advised == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	*process = (struct fsl_culprit_process){.cpu = -1,
						.cause = fsl_hostbound_cause_texts[rank->cause],
						.waited_ms = rank->wait_ms,
						.text = kept,
						.advice = advice != NULL ? advised : NULL};
	FSL_TRY(set_holder(process, arena, rank, err));
	culprit->process = process;
	return FSL_OK;
}

/* Culprits that the trace shows waiting for CPUs. */
static enum fsl_status name_by(struct fsl_localisation *verdict, const struct fsl_hostbound *judged,
			       struct fsl_error *err)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		struct fsl_culprit *culprit = &verdict->culprits[i];
		for (size_t r = 0; r < judged->n_ranks; r++) {
			const struct fsl_hostbound_rank *rank = &judged->ranks[r];
			if (culprit->cause == FSL_CAUSE_HOST && culprit->process == NULL &&
			    rank->is_named && rank->rank == culprit->rank) {
				FSL_TRY(set_process(culprit, &verdict->arena, judged, rank, err));
			}
		}
	}
	return FSL_OK;
}

static size_t n_named(const struct fsl_localisation *verdict)
{
	size_t n = 0;
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		n += verdict->culprits[i].process != NULL;
	}
	return n;
}

/* Keeps what the page draws of the trace. */
static enum fsl_status keep_picture(struct fsl_localisation *verdict, struct fsl_host_trace *trace,
				    struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(trace->picture, 1, "pictures", err));
	FSL_TRY(fsl_host_picture_make(trace->picture, trace, err));
	cJSON *root = fsl_hostbound_trace_json(trace);
	char *text = root != NULL ? cJSON_PrintUnformatted(root) : NULL;
	verdict->host_trace = text != NULL ? fsl_arena_strdup(&verdict->arena, text) : NULL;
	cJSON_free(text);
	cJSON_Delete(root);
	return verdict->host_trace != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"hostbound\"");
}

/* Names culprits by one trace; the first trace that names one is kept for the page. */
static enum fsl_status name_by_trace(struct fsl_localisation *verdict, struct fsl_host_trace *trace,
				     struct fsl_error *err)
{
	size_t n_before = n_named(verdict);
	struct fsl_error own = {0};
	FSL_TRY(name_by(verdict, &trace->judged, err));
	if (verdict->host_trace != NULL || n_named(verdict) == n_before) {
		return FSL_OK;
	}
	enum fsl_status status = keep_picture(verdict, trace, &own);
	if (status == FSL_ERR_MEMORY) {
		*err = own;
		return status;
	}
	if (status != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "ftrace", "a kernel trace is not drawn: cause=\"%s\"",
			fsl_error_root(&own));
	}
	return FSL_OK;
}

/* Kernel traces below @paths, and sysTrace's records of a job, as far as they can be read. */
static enum fsl_status load(struct fsl_host_traces *traces, const struct fsl_job *job,
			    const char *const *paths, size_t n_paths, struct fsl_error *err)
{
	struct fsl_error own = {0};
	FSL_TRY(fsl_host_traces_load(traces, paths, n_paths, true, job, err));
	enum fsl_status status =
		job != NULL ? fsl_host_traces_add_records(traces, paths, n_paths, job, &own)
			    : FSL_OK;
	if (status == FSL_ERR_MEMORY) {
		*err = own;
		return status;
	}
	FSL_THEN(status, fsl_host_traces_check(traces, &own));
	if (status != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "ftrace", "records of a host are not read: cause=\"%s\"",
			fsl_error_root(&own));
	}
	return FSL_OK;
}

/* @must_fit: a trace whose clock cannot be checked is left out, too. */
static enum fsl_status name_below(const struct fsl_host_question *question,
				  const char *const *paths, size_t n_paths, bool must_fit,
				  struct fsl_error *err)
{
	struct fsl_host_traces traces = {.capture = question->capture};
	enum fsl_status status = load(&traces, question->job, paths, n_paths, err);
	for (size_t i = 0; status == FSL_OK && i < traces.n_items; i++) {
		struct fsl_host_trace *trace = &traces.items[i];
		bool is_other = trace->clock_score < FSL_JUDGE_CLOCK_SCORE_MIN;
		if (is_other && !must_fit) {
			fsl_log(FSL_LOG_WARNING, "ftrace",
				"clock mismatch: ranks do not run in a kernel trace at the calls in "
				"their files, so it is not used: file=\"%s\", share=%.2f",
				trace->files->paths[0], trace->clock_score);
		}
		if (is_other || (must_fit && isnan(trace->clock_score))) {
			continue; /* the steps are those of another time */
		}
		status = name_by_trace(question->verdict, trace, err);
	}
	fsl_host_traces_fini(&traces);
	return status == FSL_ERR_MEMORY ? status : FSL_OK;
}

const char *fsl_host_processes_beside(const char *path, char *buffer)
{
	static const char name[] = "/ftrace";
	struct stat facts;
	char *slash = realpath(path, buffer) != NULL ? strrchr(buffer, '/') : NULL;
	if (slash == NULL || strcmp(slash, name) == 0 ||
	    (size_t)(slash - buffer) + sizeof(name) > PATH_MAX) {
		return NULL;
	}
	memcpy(slash, name, sizeof(name));
	return stat(buffer, &facts) == 0 && S_ISDIR(facts.st_mode) ? buffer : NULL;
}

enum fsl_status fsl_host_processes_name(const struct fsl_host_question *question,
					struct fsl_error *err)
{
	char buffer[PATH_MAX];
	const char *const *paths = question->paths;
	if (question->n_paths == 0 || !has_host_culprit(question->verdict)) {
		return FSL_OK;
	}
	enum fsl_status status = name_below(question, paths, question->n_paths, false, err);
	for (size_t i = 0; status == FSL_OK && i < question->n_paths; i++) {
		const char *beside = fsl_host_processes_beside(paths[i], buffer);
		status = beside != NULL ? name_below(question, &beside, 1, true, err) : FSL_OK;
	}
	return status;
}
