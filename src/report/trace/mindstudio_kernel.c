/* Sums over the intervals of a kernel trace, by task and CPU. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "report/trace/mindstudio.h"
#include "report/trace/track_text.h"

/* A sum is added to the row of the same task that stands there already: of another host, or of an
 * earlier thread with this id. */
static const char schema[] =
	"CREATE TABLE IF NOT EXISTS trace_task_summary (comm TEXT NOT NULL, pid INTEGER NOT NULL,"
	" cpu_id INTEGER NOT NULL, running_ns INTEGER DEFAULT 0, sleeping_ns INTEGER DEFAULT 0,"
	" runnable_ns INTEGER DEFAULT 0, cs_count INTEGER DEFAULT 0,"
	" cs_involuntary_count INTEGER DEFAULT 0, soft_irq_count INTEGER DEFAULT 0,"
	" soft_irq_duration INTEGER DEFAULT 0, hard_irq_count INTEGER DEFAULT 0,"
	" hard_irq_duration INTEGER DEFAULT 0, PRIMARY KEY (comm, pid, cpu_id));"
	"CREATE TABLE IF NOT EXISTS trace_irq_detail (comm TEXT NOT NULL, pid INTEGER NOT NULL,"
	" cpu_id INTEGER NOT NULL, irq_type TEXT NOT NULL, irq_name TEXT NOT NULL,"
	" count INTEGER DEFAULT 0, time_ns INTEGER DEFAULT 0,"
	" PRIMARY KEY (comm, pid, cpu_id, irq_type, irq_name));";

static const char insert_task[] =
	"INSERT INTO trace_task_summary VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	" ON CONFLICT DO UPDATE SET running_ns = running_ns + excluded.running_ns,"
	" sleeping_ns = sleeping_ns + excluded.sleeping_ns,"
	" runnable_ns = runnable_ns + excluded.runnable_ns, cs_count = cs_count + excluded.cs_count,"
	" cs_involuntary_count = cs_involuntary_count + excluded.cs_involuntary_count,"
	" soft_irq_count = soft_irq_count + excluded.soft_irq_count,"
	" soft_irq_duration = soft_irq_duration + excluded.soft_irq_duration,"
	" hard_irq_count = hard_irq_count + excluded.hard_irq_count,"
	" hard_irq_duration = hard_irq_duration + excluded.hard_irq_duration";
static const char insert_irq[] = "INSERT INTO trace_irq_detail VALUES (?, ?, ?, ?, ?, ?, ?)"
				 " ON CONFLICT DO UPDATE SET count = count + excluded.count,"
				 " time_ns = time_ns + excluded.time_ns";

/* Numbers of a row of trace_task_summary behind its key, in the order of the columns. */
enum {
	RUNNING_NS,
	SLEEPING_NS,
	RUNNABLE_NS,
	SWITCHES,
	INVOLUNTARY,
	SOFT_IRQS,
	SOFT_IRQ_NS,
	HARD_IRQS,
	HARD_IRQ_NS,
	NUMBERS_N
};

/* The column of the time in a state; NUMBERS_N: the tables have none. */
static const int column_of[FSL_SCHED_STATES_N] = {
	[FSL_SCHED_RUN] = RUNNING_NS,         [FSL_SCHED_RQ_WAKE] = RUNNABLE_NS,
	[FSL_SCHED_RQ_PREEMPT] = RUNNABLE_NS, [FSL_SCHED_SLEEP] = SLEEPING_NS,
	[FSL_SCHED_DISK] = SLEEPING_NS,       [FSL_SCHED_IDLE] = NUMBERS_N,
	[FSL_SCHED_STOP] = NUMBERS_N,         [FSL_SCHED_UNKNOWN] = NUMBERS_N,
};

/* A part of a sum. */
struct part {
	int32_t thread, cpu;
	int number; /* column of the time, NUMBERS_N: an interrupt */
	uint32_t name_id;
	int64_t ns;
	bool is_counted; /* a switch, if it is a time */
};

struct parts {
	struct part *items;
	size_t n_items, capacity;
};

/* States of threads. A run that ends with the trace ends by no switch. */
static enum fsl_status take_states(struct parts *parts, const struct fsl_kernel_tracks *source,
				   struct fsl_error *err)
{
	const struct fsl_ftrace_list *list = &source->intervals->states;
	FSL_TRY(FSL_GROW(parts->items, parts->capacity, parts->n_items + list->n_items, err));
	for (size_t i = 0; i < list->n_items; i++) {
		const struct fsl_ftrace_interval *at = &list->items[i];
		const struct part part = {.thread = at->thread,
					  .cpu = at->cpu,
					  .number = column_of[at->state],
					  .name_id = FSL_STR_NONE,
					  .ns = at->end_ns - at->begin_ns,
					  .is_counted =
						  at->state == FSL_SCHED_RQ_PREEMPT ||
						  (at->state == FSL_SCHED_RUN &&
						   at->end_ns < source->intervals->sched.end_ns)};
		if (part.number < NUMBERS_N && fsl_kernel_tracks_draw(source, at->cpu)) {
			parts->items[parts->n_items++] = part;
		}
	}
	return FSL_OK;
}

/* Intervals of all CPUs in turn, by their begins. */
static int compare_intervals(const void *left, const void *right)
{
	const struct fsl_ftrace_interval *a = *(const struct fsl_ftrace_interval *const *)left;
	const struct fsl_ftrace_interval *b = *(const struct fsl_ftrace_interval *const *)right;
	FSL_ORDER_BY(a->cpu, b->cpu);
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	return FSL_ORDER(b->end_ns, a->end_ns);
}

static enum fsl_status sort_intervals(const struct fsl_ftrace_interval ***out,
				      const struct fsl_ftrace_list *list, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(*out, list->n_items + 1, "intervals", err));
	for (size_t i = 0; i < list->n_items; i++) {
		(*out)[i] = &list->items[i];
	}
	if (list->n_items > 0) {
		qsort((void *)*out, list->n_items, sizeof(**out), compare_intervals);
	}
	return FSL_OK;
}

/* Charges each interrupt to the task that held the CPU as it began; both lists are sorted. */
static void charge_irqs(struct parts *parts, const struct fsl_kernel_tracks *source,
			const struct fsl_ftrace_interval *const *irqs,
			const struct fsl_ftrace_interval *const *held)
{
	const struct fsl_ftrace_intervals *all = source->intervals;
	size_t h = 0;
	for (size_t i = 0; i < all->interrupts.n_items; i++) {
		const struct fsl_ftrace_interval *irq = irqs[i];
		while (h < all->held.n_items &&
		       (held[h]->cpu < irq->cpu ||
			(held[h]->cpu == irq->cpu && held[h]->end_ns <= irq->begin_ns))) {
			h++;
		}
		bool is_held = h < all->held.n_items && held[h]->cpu == irq->cpu &&
			       held[h]->begin_ns <= irq->begin_ns && held[h]->thread >= 0;
		if (is_held && fsl_kernel_tracks_draw(source, irq->cpu)) {
			parts->items[parts->n_items++] =
				(struct part){.thread = held[h]->thread,
					      .cpu = irq->cpu,
					      .number = NUMBERS_N,
					      .name_id = irq->name_id,
					      .ns = irq->end_ns - irq->begin_ns};
		}
	}
}

static enum fsl_status take_irqs(struct parts *parts, const struct fsl_kernel_tracks *source,
				 struct fsl_error *err)
{
	const struct fsl_ftrace_intervals *all = source->intervals;
	const struct fsl_ftrace_interval **irqs = NULL, **held = NULL;
	enum fsl_status status = sort_intervals(&irqs, &all->interrupts, err);
	FSL_THEN(status, sort_intervals(&held, &all->held, err));
	FSL_THEN(status, FSL_GROW(parts->items, parts->capacity,
				  parts->n_items + all->interrupts.n_items + 1, err));
	if (status == FSL_OK) {
		charge_irqs(parts, source, irqs, held);
	}
	fsl_free((void *)irqs);
	fsl_free((void *)held);
	return status;
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	FSL_ORDER_BY(a->thread, b->thread);
	FSL_ORDER_BY(a->cpu, b->cpu);
	FSL_ORDER_BY(a->number, b->number);
	return FSL_ORDER(a->name_id, b->name_id);
}

/* Names of interrupts are "irq 24 virtio0" and "softirq 1 TIMER". */
static bool is_soft(const char *name)
{
	return name[0] == 's';
}

/* The name behind the number; the number if there is none. */
static const char *name_of_irq(const char *name)
{
	const char *number = strchr(name, ' ');
	const char *text = number != NULL ? strchr(number + 1, ' ') : NULL;
	return text != NULL && text[1] != '\0' ? text + 1 : number != NULL ? number + 1 : name;
}

/* The statements, and what they are bound to. */
struct rows {
	struct fsl_track_writing *writing;
	const struct fsl_kernel_tracks *source;
	sqlite3_stmt *task, *irq;
};

static enum fsl_status step(struct rows *rows, sqlite3_stmt *row, struct fsl_error *err)
{
	if (fsl_mindstudio_has_failed(rows->writing)) {
		return FSL_OK;
	}
	int code = sqlite3_step(row);
	(void)sqlite3_reset(row);
	return fsl_mindstudio_check(rows->writing, code, err);
}

static void bind_key(sqlite3_stmt *row, const struct fsl_sched_thread *thread, int32_t cpu)
{
	char comm[FSL_TRACK_CLEAN_BYTES * FSL_SCHED_COMM_MAX + 1];
	int n = (int)fsl_track_text_clean(comm, thread->comm);
	(void)sqlite3_bind_text(row, 1, comm, n, SQLITE_TRANSIENT);
	(void)sqlite3_bind_int(row, 2, thread->tid);
	(void)sqlite3_bind_int(row, 3, cpu);
}

/* All interrupts of one name while a task held the CPU. */
static enum fsl_status add_irq(struct rows *rows, const struct part *parts, size_t n,
			       int64_t *numbers, struct fsl_error *err)
{
	const struct fsl_ftrace_intervals *all = rows->source->intervals;
	const char *name = fsl_strpool_text(all->names, parts->name_id);
	char clean[FSL_TRACK_CLEAN_BYTES * (FSL_SCHED_TEXT_MAX + 48)];
	int64_t sum_ns = 0;
	for (size_t i = 0; i < n; i++) {
		sum_ns += parts[i].ns;
	}
	numbers[is_soft(name) ? SOFT_IRQS : HARD_IRQS] += (int64_t)n;
	numbers[is_soft(name) ? SOFT_IRQ_NS : HARD_IRQ_NS] += sum_ns;
	int length = (int)fsl_track_text_clean(clean, name_of_irq(name));
	bind_key(rows->irq, &all->sched.threads[parts->thread], parts->cpu);
	(void)sqlite3_bind_text(rows->irq, 4, is_soft(name) ? "softirq" : "irq", -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(rows->irq, 5, clean, length, SQLITE_STATIC);
	(void)sqlite3_bind_int64(rows->irq, 6, (int64_t)n);
	(void)sqlite3_bind_int64(rows->irq, 7, sum_ns);
	return step(rows, rows->irq, err);
}

/* All parts of one task on one CPU. */
static enum fsl_status add_task(struct rows *rows, const struct part *parts, size_t n,
				struct fsl_error *err)
{
	int64_t numbers[NUMBERS_N] = {0};
	size_t i = 0;
	for (; i < n && parts[i].number < NUMBERS_N; i++) {
		numbers[parts[i].number] += parts[i].ns;
		numbers[parts[i].number == RUNNING_NS ? SWITCHES : INVOLUNTARY] +=
			parts[i].is_counted;
	}
	for (size_t end = i; i < n; i = end) {
		while (end < n && parts[end].name_id == parts[i].name_id) {
			end++;
		}
		FSL_TRY(add_irq(rows, parts + i, end - i, numbers, err));
	}
	bind_key(rows->task, &rows->source->intervals->sched.threads[parts->thread], parts->cpu);
	for (int k = 0; k < NUMBERS_N; k++) {
		(void)sqlite3_bind_int64(rows->task, 4 + k, numbers[k]);
	}
	return step(rows, rows->task, err);
}

static enum fsl_status add_all(struct rows *rows, struct parts *parts, struct fsl_error *err)
{
	sqlite3 *db = fsl_mindstudio_db(rows->writing);
	if (fsl_mindstudio_has_failed(rows->writing)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_mindstudio_check(rows->writing, sqlite3_exec(db, schema, NULL, NULL, NULL),
				     err));
	FSL_TRY(fsl_mindstudio_check(
		rows->writing, sqlite3_prepare_v2(db, insert_task, -1, &rows->task, NULL), err));
	FSL_TRY(fsl_mindstudio_check(
		rows->writing, sqlite3_prepare_v2(db, insert_irq, -1, &rows->irq, NULL), err));
	for (size_t i = 0, end = 0; i < parts->n_items && !fsl_mindstudio_has_failed(rows->writing);
	     i = end) {
		while (end < parts->n_items && parts->items[end].thread == parts->items[i].thread &&
		       parts->items[end].cpu == parts->items[i].cpu) {
			end++;
		}
		FSL_TRY(add_task(rows, parts->items + i, end - i, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_mindstudio_add_kernel(struct fsl_track_file *file,
					  const struct fsl_kernel_tracks *source,
					  struct fsl_error *err)
{
	struct parts parts = {0};
	struct rows rows = {.writing = file->writing, .source = source};
	enum fsl_status status = take_states(&parts, source, err);
	FSL_THEN(status, take_irqs(&parts, source, err));
	if (status == FSL_OK) {
		qsort(parts.items, parts.n_items, sizeof(*parts.items), compare_parts);
		status = add_all(&rows, &parts, err);
	}
	(void)sqlite3_finalize(rows.task);
	(void)sqlite3_finalize(rows.irq);
	fsl_free(parts.items);
	return status;
}
