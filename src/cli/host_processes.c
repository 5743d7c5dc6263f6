/* From judged kernel traces to culprits. */
#include "cli/host_processes.h"

#include <string.h>

#include "base/number.h"
#include "engine/hostbound.h"
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

static enum fsl_status set_process(struct fsl_culprit *culprit, struct fsl_arena *arena,
				   const struct fsl_hostbound_rank *rank, struct fsl_error *err)
{
	char text[FSL_PHRASE_MAX];
	struct fsl_culprit_process *process = fsl_arena_alloc(arena, sizeof(*process));
	fsl_hostbound_sentence(rank, text, sizeof(text));
	const char *kept = fsl_arena_strdup(arena, text);
	if (process == NULL || kept == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	*process = (struct fsl_culprit_process){.cpu = -1,
						.cause = fsl_hostbound_cause_texts[rank->cause],
						.waited_ms = rank->wait_ms,
						.text = kept};
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
				FSL_TRY(set_process(culprit, &verdict->arena, rank, err));
			}
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_host_processes_name(struct fsl_job *job, const char *const *paths,
					size_t n_paths, struct fsl_error *err)
{
	struct fsl_host_traces traces = {0};
	if (!has_host_culprit(&job->localisation)) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_host_traces_load(&traces, paths, n_paths, true, job, err);
	for (size_t i = 0; status == FSL_OK && i < traces.n_items; i++) {
		status = name_by(&job->localisation, &traces.items[i].judged, err);
	}
	fsl_host_traces_fini(&traces);
	return status == FSL_ERR_MEMORY ? status : FSL_OK;
}
