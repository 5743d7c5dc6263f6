/* Threads by id, their names, processes and ranks. */
#include <string.h>

#include "base/sort.h"
#include "sched/sched_parts.h"

enum { SLOTS_MIN = 1024 };

static size_t slot_of(const struct fsl_sched *sched, int32_t tid)
{
	size_t at = ((uint32_t)tid * UINT32_C(2654435769)) & (sched->n_slots - 1);
	while (sched->slots[at].thread >= 0 && sched->slots[at].tid != tid) {
		at = (at + 1) & (sched->n_slots - 1);
	}
	return at;
}

static enum fsl_status widen(struct fsl_sched *sched, struct fsl_error *err)
{
	size_t n = sched->n_slots > 0 ? sched->n_slots * 2 : SLOTS_MIN;
	struct fsl_sched_slot *slots = NULL;
	FSL_TRY(FSL_NEW(slots, n, "slots", err));
	for (size_t i = 0; i < n; i++) {
		slots[i].thread = -1;
	}
	fsl_free(sched->slots);
	sched->slots = slots;
	sched->n_slots = n;
	for (size_t i = 0; i < sched->n_threads; i++) {
		int32_t tid = sched->threads[i].tid;
		slots[slot_of(sched, tid)] = (struct fsl_sched_slot){tid, (int32_t)i};
	}
	return FSL_OK;
}

/* Threads of the kernel begin with these. */
static bool is_kernel_name(const char *comm)
{
	static const char *const begins[] = {
		"kworker/",    "migration/", "ksoftirqd/", "rcu_",       "rcuc/",        "rcuo",
		"kthreadd",    "kswapd",     "kcompactd",  "khugepaged", "kdamond.",     "cpuhp/",
		"irq/",        "jbd2/",      "watchdog/",  "kauditd",    "idle_inject/", "kblockd",
		"kintegrityd", "khungtaskd", "oom_reaper", "ksmd",
	};
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (strncmp(comm, begins[i], strlen(begins[i])) == 0) {
			return true;
		}
	}
	return false;
}

static void set_name(struct fsl_sched_thread *thread, const struct fsl_sched_text *comm)
{
	size_t length = comm->length < FSL_SCHED_COMM_MAX ? comm->length : FSL_SCHED_COMM_MAX;
	if (memcmp(thread->comm, comm->at, length) == 0 && thread->comm[length] == '\0') {
		return;
	}
	memcpy(thread->comm, comm->at, length);
	memset(thread->comm + length, 0, sizeof(thread->comm) - length);
	thread->is_kernel = is_kernel_name(thread->comm);
}

static int32_t rank_of_pid(const struct fsl_sched *sched, int32_t pid)
{
	for (size_t i = 0; i < sched->n_ranks; i++) {
		if (sched->ranks[i].pid == pid) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* Process of the thread by what was told beside the trace; FSL_SCHED_ID_NONE: nothing. */
static int32_t told_process(const struct fsl_sched *sched, int32_t tid)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, sched->n_told, sched->told[at].tid < tid);
	return at < sched->n_told && sched->told[at].tid == tid ? sched->told[at].tgid
								: FSL_SCHED_ID_NONE;
}

static enum fsl_status make(struct fsl_sched *sched, int32_t tid, int32_t *out,
			    struct fsl_error *err)
{
	if (sched->n_threads >= FSL_SCHED_THREADS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"too many threads in a kernel trace: threads=%zu",
				sched->n_threads);
	}
	if (2 * (sched->n_threads + 1) > sched->n_slots) {
		FSL_TRY(widen(sched, err));
	}
	size_t slot = slot_of(sched, tid);
	int32_t rank = rank_of_pid(sched, tid), tgid = told_process(sched, tid);
	bool is_main = rank >= 0;
	const struct fsl_sched_thread *leader = tgid >= 0 ? fsl_sched_find(sched, tgid) : NULL;
	rank = rank < 0 && tgid >= 0 ? rank_of_pid(sched, tgid) : rank;
	struct fsl_sched_thread fresh = {.tid = tid,
					 .tgid = tgid,
					 .process = leader != NULL
							    ? (int32_t)(leader - sched->threads)
							    : (int32_t)sched->n_threads,
					 .rank = rank,
					 .is_main = is_main,
					 .state = FSL_SCHED_UNKNOWN,
					 .cpu = FSL_SCHED_ID_NONE,
					 .since_ns = sched->now_ns,
					 .waking_ns = -1,
					 .waker = FSL_SCHED_WAKER_UNKNOWN,
					 .waker_interrupt = -1,
					 .first_ns = sched->now_ns,
					 .end_ns = INT64_MAX};
	FSL_TRY(FSL_APPEND(sched, threads, &fresh, err));
	*out = (int32_t)sched->n_threads - 1;
	sched->slots[slot] = (struct fsl_sched_slot){tid, *out};
	return FSL_OK;
}

/* The kernel writes "<...>" for tasks whose name it has forgotten. */
static bool is_no_name(const struct fsl_sched_text *comm)
{
	return comm->length == 0 || (comm->length == 5 && memcmp(comm->at, "<...>", 5) == 0);
}

enum fsl_status fsl_sched_thread_of(struct fsl_sched *sched, int32_t tid,
				    const struct fsl_sched_text *comm, bool is_own, int32_t *out,
				    struct fsl_error *err)
{
	int32_t found = sched->n_slots > 0 ? sched->slots[slot_of(sched, tid)].thread : -1;
	if (found < 0) {
		FSL_TRY(make(sched, tid, &found, err));
	}
	struct fsl_sched_thread *thread = &sched->threads[found];
	if (is_own || (!thread->is_named && !is_no_name(comm))) {
		set_name(thread, comm);
		thread->is_named |= is_own;
	}
	*out = found;
	return FSL_OK;
}

enum fsl_status fsl_sched_thread_again(struct fsl_sched *sched, int32_t tid,
				       const struct fsl_sched_text *comm, int32_t *out,
				       struct fsl_error *err)
{
	FSL_TRY(make(sched, tid, out, err));
	set_name(&sched->threads[*out], comm);
	sched->threads[*out].is_named = true;
	return FSL_OK;
}

void fsl_sched_thread_inherit(struct fsl_sched *sched, int32_t thread, int32_t parent)
{
	struct fsl_sched_thread *child = &sched->threads[thread];
	if (!child->is_main) {
		child->rank = sched->threads[parent].rank;
		child->process = sched->threads[parent].process;
	}
}

void fsl_sched_thread_part(struct fsl_sched *sched, int32_t thread)
{
	struct fsl_sched_thread *own = &sched->threads[thread];
	own->process = thread;
	if (!own->is_main && own->tgid == FSL_SCHED_ID_NONE) {
		own->rank = -1;
	}
}

enum fsl_status fsl_sched_thread_set_process(struct fsl_sched *sched, int32_t thread, int32_t tgid,
					     struct fsl_error *err)
{
	static const struct fsl_sched_text unnamed = {"", 0};
	int32_t leader = thread;
	sched->threads[thread].tgid = tgid;
	sched->has_tgids = true;
	if (sched->threads[thread].tid != tgid) {
		const struct fsl_sched_thread *known = fsl_sched_find(sched, tgid);
		if (known == NULL) {
			FSL_TRY(fsl_sched_thread_of(sched, tgid, &unnamed, false, &leader, err));
		} else {
			leader = (int32_t)(known - sched->threads);
		}
	}
	struct fsl_sched_thread *own = &sched->threads[thread];
	own->process = leader;
	int32_t rank = rank_of_pid(sched, tgid);
	own->rank = rank >= 0 ? rank : own->rank;
	return FSL_OK;
}

const struct fsl_sched_thread *fsl_sched_find(const struct fsl_sched *sched, int32_t tid)
{
	int32_t found = sched->n_slots > 0 ? sched->slots[slot_of(sched, tid)].thread : -1;
	return found >= 0 ? &sched->threads[found] : NULL;
}

const char *fsl_sched_holder_name(const struct fsl_sched *sched, int32_t holder)
{
	switch (holder) {
	case FSL_SCHED_HOLDER_IDLE:
		return "idle";
	case FSL_SCHED_HOLDER_UNKNOWN:
		return "unknown";
	case FSL_SCHED_HOLDER_QUOTA:
		return "quota";
	case FSL_SCHED_HOLDER_OTHERS:
		return "others";
	default:
		return sched->threads[holder].comm;
	}
}

int64_t fsl_sched_ran_ns(const struct fsl_sched_thread *thread)
{
	return thread->n_runtime > 0 ? thread->runtime_ns : thread->in_ns[FSL_SCHED_RUN];
}

int64_t fsl_sched_lived_ns(const struct fsl_sched *sched, const struct fsl_sched_thread *thread)
{
	int64_t begin = thread->first_ns > sched->begin_ns ? thread->first_ns : sched->begin_ns;
	int64_t end = thread->end_ns < sched->end_ns ? thread->end_ns : sched->end_ns;
	return end > begin ? end - begin : 0;
}
