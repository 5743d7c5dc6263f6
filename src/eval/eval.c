/* Runs the matrix on threads. */
#include "eval/eval.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/sort.h"
#include "engine/chapters.h"

static enum fsl_status choose_baselines(struct fsl_eval *eval, const char *names,
					const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_eval_baseline known[FSL_EVAL_BASELINES_MAX];
	const char *known_names[FSL_EVAL_BASELINES_MAX];
	size_t n_known = fsl_eval_baselines(known, config);
	bool takes_all = strcmp(names, "all") == 0, takes_quick = strcmp(names, "quick") == 0;
	eval->n_baselines = 0;
	for (size_t i = 0; i < n_known; i++) {
		known_names[i] = known[i].name;
		if (takes_all || (takes_quick && known[i].is_quick)) {
			eval->baselines[eval->n_baselines++] = known[i];
		}
	}
	if (takes_all || takes_quick || strcmp(names, "none") == 0) {
		return FSL_OK;
	}
	for (const char *name = names; *name != '\0';) {
		size_t length = strcspn(name, ","), i = 0;
		while (i < n_known && (strlen(known[i].name) != length ||
				       strncmp(known[i].name, name, length) != 0)) {
			i++;
		}
		if (i == n_known) {
			const char *near = fsl_nearest_name(name, length, known_names, n_known);
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"unknown baseline, \"all\" takes every one: "
					"name=\"%.*s\"%s%s%s",
					(int)length, name, near != NULL ? ", did_you_mean=\"" : "",
					near != NULL ? near : "", near != NULL ? "\"" : "");
		}
		if (eval->n_baselines < FSL_EVAL_BASELINES_MAX) {
			eval->baselines[eval->n_baselines++] = known[i];
		}
		name += length + (name[length] == ',');
	}
	return FSL_OK;
}

enum fsl_status fsl_eval_init(struct fsl_eval *eval, const struct fsl_eval_selection *selection,
			      const char *names, const struct fsl_config *config,
			      struct fsl_error *err)
{
	*eval = (struct fsl_eval){.selection = *selection};
	FSL_TRY(choose_baselines(eval, names, config, err));
	FSL_TRY(fsl_eval_matrix(&eval->tasks, &eval->n_tasks, selection, &eval->arena, err));
	FSL_TRY(FSL_ARENA_NEW(eval->results, &eval->arena, eval->n_tasks, "jobs", err));
	for (size_t i = 0; i < eval->n_tasks; i++) {
		eval->results[i].task = &eval->tasks[i];
	}
	return FSL_OK;
}

void fsl_eval_fini(struct fsl_eval *eval)
{
	for (size_t i = 0; eval->results != NULL && i < eval->n_tasks; i++) {
		fsl_arena_fini(&eval->results[i].arena);
	}
	fsl_arena_fini(&eval->arena);
	*eval = (struct fsl_eval){0};
}

/* "3 7 12 ...": as many as fit. */
static void list_ranks(char *out, size_t size, const int32_t *ranks, size_t n)
{
	size_t length = 0;
	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (length + 16 > size) {
			snprintf(out + length, size - length, " ...");
			return;
		}
		length += (size_t)snprintf(out + length, size - length, i > 0 ? " %d" : "%d",
					   (int)ranks[i]);
	}
}

/* Adds @rank unless it is in the list; returns the new number. */
static size_t add_once(int32_t *ranks, size_t n, int32_t rank)
{
	for (size_t i = 0; i < n; i++) {
		if (ranks[i] == rank) {
			return n;
		}
	}
	ranks[n] = rank;
	return n + 1;
}

/* Every rank that the verdict names, each once, in its order. */
static int32_t *named_ranks(size_t *n_named, const struct fsl_localisation *found,
			    struct fsl_arena *arena)
{
	int32_t *named = fsl_arena_alloc(arena, (2 * found->n_culprits + 1) * sizeof(*named));
	*n_named = 0;
	for (size_t i = 0; named != NULL && i < found->n_culprits; i++) {
		*n_named = add_once(named, *n_named, found->culprits[i].rank);
		if (found->culprits[i].peer >= 0) {
			*n_named = add_once(named, *n_named, found->culprits[i].peer);
		}
	}
	return named;
}

/* Cause of the first culprit; without culprits the flags of the verdict tell it. */
static int cause_of(const struct fsl_localisation *found)
{
	if (found->n_culprits > 0) {
		return (int)found->culprits[0].cause;
	}
	return found->kind == FSL_VERDICT_SLOW_LINK ? (int)FSL_CAUSE_NETWORK : -1;
}

static int64_t onset_of(const struct fsl_job *judged)
{
	const struct fsl_localisation *found = &judged->localisation;
	const struct fsl_perception *perception = &judged->perception;
	if (found->n_culprits > 0) {
		return found->culprits[0].onset_ns;
	}
	return perception->n_episodes > 0 ? perception->episodes[0].onset_ns : FSL_NS_ABSENT;
}

/* Stalls are the verdict if nobody is at fault. */
static enum fsl_verdict_kind kind_of(const struct fsl_job *judged)
{
	bool is_stalled = judged->perception.kind == FSL_VERDICT_STALLS;
	return is_stalled ? FSL_VERDICT_STALLS : judged->localisation.kind;
}

/* If ranks were lost on purpose, a report that they are missing is no alarm about the job. */
static bool is_alarm(const struct fsl_eval_result *result, const struct fsl_job *judged)
{
	enum fsl_verdict_kind kind = judged->localisation.kind;
	bool is_quiet = (kind == FSL_VERDICT_NORMAL || kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE) &&
			!judged->perception.is_anomaly;
	return fsl_job_is_anomaly(judged) &&
	       !(is_quiet && result->task->condition == FSL_EVAL_LOST);
}

static enum fsl_status mark_engine(struct fsl_eval_result *result, const struct fsl_job *judged,
				   struct fsl_error *err)
{
	const struct fsl_localisation *found = &judged->localisation;
	size_t n_named = 0;
	int32_t *named = named_ranks(&n_named, found, &result->arena);
	if (named == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: culprits=%zu",
				found->n_culprits);
	}
	struct fsl_eval_answer answer = {
		.kind = kind_of(judged),
		.is_alarm = is_alarm(result, judged),
		.named = named,
		.n_named = n_named,
		.cause = cause_of(found),
		.onset_ns = onset_of(judged),
		.slowdown = found->slowdown,
	};
	result->marks = fsl_eval_mark(&result->truth, &answer);
	result->slowdown_told = found->slowdown;
	result->confidence = found->confidence;
	list_ranks(result->named, sizeof(result->named), named, n_named);
	snprintf(result->reason, sizeof(result->reason), "%s", found->reason);
	return FSL_OK;
}

static enum fsl_status mark_baselines(struct fsl_eval_result *result, const struct fsl_eval *eval,
				      const struct fsl_job *judged, const struct fsl_config *config,
				      struct fsl_error *err)
{
	struct fsl_case facts = fsl_job_facts(judged, config);
	facts.classical = &judged->classical;
	FSL_TRY(FSL_ARENA_NEW(result->baselines, &result->arena, eval->n_baselines, "baselines",
			      err));
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < eval->n_baselines; i++) {
		struct fsl_arena scratch = {0};
		struct fsl_eval_answer answer = {0};
		status = fsl_eval_baseline_ask(&answer, &eval->baselines[i], &facts, &scratch, err);
		if (status == FSL_OK) {
			result->baselines[i] = fsl_eval_mark(&result->truth, &answer);
		}
		fsl_arena_fini(&scratch);
	}
	return status;
}

/* Marks a job without an answer: all its culprits are missed. */
static void mark_failure(struct fsl_eval_result *result, const struct fsl_eval *eval,
			 const struct fsl_error *err)
{
	struct fsl_eval_answer none = {.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE,
				       .has_failed = true,
				       .cause = -1,
				       .onset_ns = FSL_NS_ABSENT,
				       .slowdown = NAN};
	result->marks = fsl_eval_mark(&result->truth, &none);
	result->slowdown_told = result->confidence = NAN;
	snprintf(result->reason, sizeof(result->reason), "%s", fsl_error_root(err));
	result->baselines = fsl_arena_alloc(&result->arena,
					    (eval->n_baselines + 1) * sizeof(*result->baselines));
	for (size_t i = 0; result->baselines != NULL && i < eval->n_baselines; i++) {
		result->baselines[i] = result->marks;
	}
}

/* Judges @run, which becomes the job's. A failure is an answer, too. */
static enum fsl_status judge(struct fsl_job *job, struct fsl_run *run,
			     const struct fsl_config *config, int64_t now_ns, struct fsl_error *err)
{
	struct fsl_config present = *config; /* shallow copy with its own present */
	present.now_ns = now_ns;
	present.jobs = 1;
	enum fsl_status status = fsl_job_init(job, err);
	fsl_run_fini(&job->run);
	job->run = *run;
	return status == FSL_OK ? fsl_job_judge(job, &present, err) : status;
}

static enum fsl_status run_one(struct fsl_eval *eval, struct fsl_eval_result *result,
			       const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_run run = {0};
	enum fsl_status status = fsl_eval_stage(result, &run, err);
	struct fsl_job *job = fsl_calloc(1, sizeof(*job));
	if (status != FSL_OK || job == NULL) {
		fsl_run_fini(&run);
		fsl_free(job);
		return status != FSL_OK
			       ? FSL_CAUSE(err, status, "a job could not be simulated: %s",
					   result->parameters)
			       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"job\"");
	}
	list_ranks(result->culprits, sizeof(result->culprits), result->truth.culprits,
		   result->truth.n_culprits);
	struct fsl_error trouble = {0};
	enum fsl_status found = judge(job, &run, config, result->now_ns, &trouble);
	if (found == FSL_ERR_MEMORY) {
		*err = trouble;
		status = found;
	} else if (found != FSL_OK) {
		mark_failure(result, eval, &trouble);
	} else {
		status = mark_engine(result, job, err);
		FSL_THEN(status, mark_baselines(result, eval, job, config, err));
	}
	fsl_job_fini(job);
	fsl_free(job);
	result->is_done = status == FSL_OK;
	return status;
}

static double cost_of(const struct fsl_eval_task *task)
{
	return (double)task->n_ranks * (double)task->n_steps;
}

struct turn {
	double cost;
	size_t idx;
};

/* Orders costly jobs first, so that no thread is left alone with one at the end. */
static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;
	int order = FSL_ORDER(b->cost, a->cost);
	return order != 0 ? order : FSL_ORDER(a->idx, b->idx);
}

/* State that the threads share. */
struct crew {
	struct fsl_eval *eval;
	const struct fsl_config *config;
	const struct fsl_eval_progress *progress;
	struct turn *turns;
	double cost_all, cost_done;
	enum fsl_status status;
	size_t failed_turn; /* the lowest, so that the reported error is always the same */
	struct fsl_error *err;
};

static void work(struct crew *crew, size_t turn)
{
	struct fsl_eval *eval = crew->eval;
	struct fsl_error err = {0};
	enum fsl_status status =
		run_one(eval, &eval->results[crew->turns[turn].idx], crew->config, &err);
#pragma omp critical(fsl_eval_crew)
	{
		if (status != FSL_OK && turn < crew->failed_turn) {
			crew->status = status;
			crew->failed_turn = turn;
			*crew->err = err;
		}
		crew->cost_done += crew->turns[turn].cost;
		eval->n_done += status == FSL_OK;
		crew->progress->report(crew->progress->context, eval->n_done, eval->n_tasks,
				       crew->cost_done / crew->cost_all);
	}
}

static bool goes_on(struct crew *crew)
{
	bool result;
#pragma omp critical(fsl_eval_crew)
	result = crew->status == FSL_OK && crew->progress->goes_on(crew->progress->context);
	return result;
}

enum fsl_status fsl_eval_run(struct fsl_eval *eval, const struct fsl_config *config,
			     const struct fsl_eval_progress *progress, struct fsl_error *err)
{
	struct crew crew = {.eval = eval,
			    .config = config,
			    .progress = progress,
			    .status = FSL_OK,
			    .failed_turn = SIZE_MAX,
			    .err = err};
	FSL_TRY(FSL_NEW(crew.turns, eval->n_tasks, "jobs", err));
	for (size_t i = 0; i < eval->n_tasks; i++) {
		crew.turns[i] = (struct turn){cost_of(&eval->tasks[i]), i};
		crew.cost_all += crew.turns[i].cost;
	}
	qsort(crew.turns, eval->n_tasks, sizeof(*crew.turns), compare_turns);
	/* One thread per job: a job itself runs on one thread. */
	int levels = omp_get_max_active_levels();
	omp_set_max_active_levels(1);
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t turn = 0; turn < eval->n_tasks; turn++) {
		if (goes_on(&crew)) {
			work(&crew, turn);
		}
	}
	omp_set_max_active_levels(levels);
	fsl_free(crew.turns);
	return crew.status;
}
