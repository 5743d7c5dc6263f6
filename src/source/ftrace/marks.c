/* Marks of steps to ranks with steps. */
#include "source/ftrace/marks.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "source/ftrace/scan.h"

/* The number behind @key anywhere in the text. */
static bool find_number(const struct fsl_sched_text *text, const char *key, int64_t *out)
{
	const char *at = memmem(text->at, text->length, key, strlen(key));
	if (at == NULL) {
		return false;
	}
	struct fsl_ftrace_scan scan = {at + strlen(key), text->at + text->length};
	return fsl_ftrace_take_number(&scan, out);
}

static bool has_word(const struct fsl_sched_text *text, const char *word)
{
	return memmem(text->at, text->length, word, strlen(word)) != NULL;
}

enum fsl_status fsl_ftrace_marks_add(struct fsl_ftrace_marks *marks,
				     const struct fsl_sched_event *event, struct fsl_error *err)
{
	int64_t rank = 0, step = 0;
	bool is_end = has_word(&event->text, "step_end");
	if ((!is_end && !has_word(&event->text, "step_begin")) ||
	    !find_number(&event->text, "rank=", &rank) ||
	    !find_number(&event->text, "step=", &step) || rank > INT32_MAX ||
	    marks->n_items >= FSL_FTRACE_MARKS_MAX) {
		return FSL_OK;
	}
	const struct fsl_ftrace_mark mark = {.rank = (int32_t)rank,
					     .pid = event->tgid > 0 ? event->tgid : event->tid,
					     .step = step,
					     .time_ns = event->time_ns,
					     .number = marks->n_items,
					     .is_end = is_end};
	return FSL_APPEND(marks, items, &mark, err);
}

void fsl_ftrace_marks_fini(struct fsl_ftrace_marks *marks)
{
	fsl_free(marks->items);
	*marks = (struct fsl_ftrace_marks){0};
}

struct fsl_ftrace_rank *fsl_ftrace_ranks_get(struct fsl_ftrace_ranks *ranks, int32_t rank,
					     int32_t pid, struct fsl_error *err)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, ranks->n_items, ranks->items[at].rank < rank);
	if (at < ranks->n_items && ranks->items[at].rank == rank) {
		return &ranks->items[at];
	}
	if (FSL_GROW(ranks->items, ranks->items_capacity, ranks->n_items + 1, err) != FSL_OK) {
		return NULL;
	}
	memmove(&ranks->items[at + 1], &ranks->items[at],
		(ranks->n_items - at) * sizeof(*ranks->items));
	ranks->n_items++;
	ranks->items[at] = (struct fsl_ftrace_rank){.rank = rank, .pid = pid};
	return &ranks->items[at];
}

void fsl_ftrace_ranks_resolve(struct fsl_ftrace_ranks *ranks)
{
	for (size_t i = 0; i < ranks->n_items; i++) {
		int32_t found = -1;
		size_t n = 0;
		for (size_t k = 0; !ranks->items[i].is_resolved && k < ranks->n_inner; k++) {
			if (ranks->inner[k].inner == ranks->items[i].pid) {
				found = ranks->inner[k].pid;
				n++;
			}
		}
		ranks->items[i].is_resolved = true;
		if (n == 1) {
			ranks->items[i].pid = found;
		} else if (n > 1) {
			fsl_log(FSL_LOG_WARNING, "ftrace",
				"several containers have a process of this number, so that the "
				"rank's threads may be those of another one: rank=%d, pid=%d",
				(int)ranks->items[i].rank, (int)ranks->items[i].pid);
		}
	}
}

void fsl_ftrace_ranks_fini(struct fsl_ftrace_ranks *ranks)
{
	for (size_t i = 0; i < ranks->n_items; i++) {
		fsl_free(ranks->items[i].steps);
		fsl_free(ranks->items[i].calls_ns);
	}
	fsl_free(ranks->items);
	fsl_free(ranks->told);
	fsl_free(ranks->inner);
	*ranks = (struct fsl_ftrace_ranks){0};
}

/* The last step of the rank ends at the mark, unless it has ended. */
static void end_step(struct fsl_ftrace_rank *rank, int64_t time_ns)
{
	struct fsl_sched_step *last = rank->n_steps > 0 ? &rank->steps[rank->n_steps - 1] : NULL;
	if (last != NULL && last->end_ns == INT64_MAX) {
		last->end_ns = time_ns > last->begin_ns ? time_ns : last->begin_ns;
	}
}

static enum fsl_status add_mark(struct fsl_ftrace_rank *rank, const struct fsl_ftrace_mark *mark,
				struct fsl_error *err)
{
	end_step(rank, mark->time_ns);
	if (mark->is_end) {
		return FSL_OK;
	}
	const struct fsl_sched_step step = {mark->step, mark->time_ns, INT64_MAX};
	return FSL_APPEND(rank, steps, &step, err);
}

/* A step without an end is not judged: it may last. */
static void drop_open_step(struct fsl_ftrace_rank *rank)
{
	if (rank->n_steps > 0 && rank->steps[rank->n_steps - 1].end_ns == INT64_MAX) {
		rank->n_steps--;
	}
}

/* Marks of the same time stay as they came. */
static int compare_marks(const void *left, const void *right)
{
	const struct fsl_ftrace_mark *a = left, *b = right;
	return a->time_ns != b->time_ns ? FSL_ORDER(a->time_ns, b->time_ns)
					: FSL_ORDER(a->number, b->number);
}

enum fsl_status fsl_ftrace_marks_rank(struct fsl_ftrace_marks *marks,
				      struct fsl_ftrace_ranks *ranks, struct fsl_error *err)
{
	bool *keeps = NULL;
	size_t n_before = 0;
	if (marks->n_items > 1) {
		qsort(marks->items, marks->n_items, sizeof(*marks->items), compare_marks);
	}
	for (size_t i = 0; i < marks->n_items; i++) {
		const struct fsl_ftrace_mark *mark = &marks->items[i];
		if (fsl_ftrace_ranks_get(ranks, mark->rank, mark->pid, err) == NULL) {
			return FSL_ERR_MEMORY;
		}
	}
	n_before = ranks->n_items;
	if (n_before == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(keeps, n_before, "ranks", err));
	for (size_t i = 0; i < n_before; i++) {
		keeps[i] = ranks->items[i].n_steps > 0;
	}
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < marks->n_items; i++) {
		const struct fsl_ftrace_mark *mark = &marks->items[i];
		struct fsl_ftrace_rank *rank =
			fsl_ftrace_ranks_get(ranks, mark->rank, mark->pid, err);
		if (rank != NULL && !keeps[rank - ranks->items]) {
			status = add_mark(rank, mark, err);
		}
	}
	for (size_t i = 0; i < n_before; i++) {
		if (!keeps[i]) {
			drop_open_step(&ranks->items[i]);
		}
	}
	fsl_free(keeps);
	return status;
}
