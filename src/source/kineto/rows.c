/* Works and calls as rows of numbers. Launch and step of a work are known when all was read, so
 * they are rows of their own. */
#include "source/kineto/rows.h"

#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "source/kineto/events.h"

/* Columns; the first ones are the order. */
enum {
	WORK_BEGIN,
	WORK_DUR,
	WORK_CORRELATION,
	WORK_NAME,
	WORK_SHAPE,
	WORK_FACTS,
	WORK_EXTERNAL,
	WORK_WHOLE,
	WORK_DEVICE,
	WORK_STREAM,
	WORK_KIND,
	WORK_COLUMNS
};
enum { LAUNCH_BEGIN, LAUNCH_DUR, LAUNCH_STEP, LAUNCH_IS_KNOWN, LAUNCH_COLUMNS };
enum { CALL_BEGIN, CALL_CORRELATION, CALL_DUR, CALL_NAME, CALL_THREAD, CALL_COLUMNS };

static int compare_works(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	FSL_ORDER_BY(a->cells[WORK_BEGIN], b->cells[WORK_BEGIN]);
	FSL_ORDER_BY(a->cells[WORK_DUR], b->cells[WORK_DUR]);
	FSL_ORDER_BY(a->cells[WORK_CORRELATION], b->cells[WORK_CORRELATION]);
	return FSL_ORDER(a->cells[WORK_NAME], b->cells[WORK_NAME]);
}

static int compare_calls(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	FSL_ORDER_BY(a->cells[CALL_BEGIN], b->cells[CALL_BEGIN]);
	return FSL_ORDER(a->cells[CALL_CORRELATION], b->cells[CALL_CORRELATION]);
}

/* FSL_STR_NONE becomes 0, near to the ids. */
static int64_t cell_of(uint32_t id)
{
	return (int64_t)(uint32_t)(id + 1);
}

static uint32_t id_of(int64_t cell)
{
	return (uint32_t)cell - 1;
}

enum fsl_status fsl_kineto_keep_work(struct fsl_kineto_events *events,
				     const struct fsl_kineto_work *work, struct fsl_error *err)
{
	const struct fsl_packed_row row = {
		.cells = {[WORK_BEGIN] = work->begin_ns,
			  [WORK_DUR] = work->dur_ns,
			  [WORK_CORRELATION] = work->correlation,
			  [WORK_NAME] = (int64_t)work->name_id,
			  [WORK_SHAPE] = cell_of(work->shape_id),
			  [WORK_FACTS] = cell_of(work->facts),
			  [WORK_EXTERNAL] = (int64_t)work->external,
			  [WORK_WHOLE] = cell_of(work->whole_id),
			  [WORK_DEVICE] = (int64_t)work->device,
			  [WORK_STREAM] = (int64_t)work->stream,
			  [WORK_KIND] = 2 * (int64_t)work->category + work->is_collective}};
	if (events->works.n == 0) {
		events->works.n_columns = WORK_COLUMNS;
		events->works.compare = compare_works;
		events->works.bytes.spill = &events->spill;
		events->first_work_ns = work->begin_ns;
	}
	return fsl_packed_add(&events->works, &row, err);
}

enum fsl_status fsl_kineto_keep_launch(struct fsl_packed_rows *launches,
				       const struct fsl_kineto_work *work, struct fsl_error *err)
{
	bool is_known = work->launch_ns != FSL_NS_ABSENT;
	const struct fsl_packed_row row = {
		.cells = {[LAUNCH_BEGIN] = is_known ? work->launch_ns : work->begin_ns,
			  [LAUNCH_DUR] = work->launch_dur_ns,
			  [LAUNCH_STEP] = work->step,
			  [LAUNCH_IS_KNOWN] = is_known}};
	launches->n_columns = LAUNCH_COLUMNS;
	return fsl_packed_add(launches, &row, err);
}

enum fsl_status fsl_kineto_keep_call(struct fsl_kineto_events *events,
				     const struct fsl_kineto_call *call, struct fsl_error *err)
{
	const struct fsl_packed_row row = {.cells = {[CALL_BEGIN] = call->begin_ns,
						     [CALL_CORRELATION] = call->correlation,
						     [CALL_DUR] = call->dur_ns,
						     [CALL_NAME] = (int64_t)call->name_id,
						     [CALL_THREAD] = (int64_t)call->thread}};
	events->calls.n_columns = CALL_COLUMNS;
	events->calls.compare = compare_calls;
	events->calls.bytes.spill = &events->spill;
	return fsl_packed_add(&events->calls, &row, err);
}

void fsl_kineto_works_begin(struct fsl_kineto_works *works, const struct fsl_kineto_events *events)
{
	works->events = events;
	works->works.rows = &events->works;
	works->launches.rows = &events->launches;
	works->works.n = works->launches.n = 0;
	works->works.first = works->launches.first = 0;
}

void fsl_kineto_bare_works_begin(struct fsl_kineto_works *works,
				 const struct fsl_kineto_events *events)
{
	fsl_kineto_works_begin(works, events);
	works->launches.rows = NULL;
}

void fsl_kineto_calls_begin(struct fsl_kineto_calls *calls, const struct fsl_kineto_events *events)
{
	calls->events = events;
	calls->calls.rows = &events->calls;
	calls->calls.n = calls->calls.first = 0;
}

struct fsl_kineto_work fsl_kineto_work_at(struct fsl_kineto_works *works, size_t i)
{
	const int64_t *cells = fsl_packed_at(&works->works, i)->cells;
	struct fsl_kineto_work work = {
		.begin_ns = cells[WORK_BEGIN] + works->events->shift_ns,
		.dur_ns = cells[WORK_DUR],
		.correlation = cells[WORK_CORRELATION],
		.launch_ns = FSL_NS_ABSENT,
		.step = FSL_STEP_ABSENT,
		.name_id = (uint32_t)cells[WORK_NAME],
		.shape_id = id_of(cells[WORK_SHAPE]),
		.facts = id_of(cells[WORK_FACTS]),
		.external = (uint32_t)cells[WORK_EXTERNAL],
		.whole_id = id_of(cells[WORK_WHOLE]),
		.device = (int32_t)cells[WORK_DEVICE],
		.stream = (int32_t)cells[WORK_STREAM],
		.category = (enum fsl_kineto_category)(cells[WORK_KIND] / 2),
		.is_collective = cells[WORK_KIND] % 2 != 0,
	};
	if (works->launches.rows != NULL && i < works->launches.rows->n) {
		cells = fsl_packed_at(&works->launches, i)->cells;
		work.launch_ns = cells[LAUNCH_IS_KNOWN] != 0 ? cells[LAUNCH_BEGIN] : FSL_NS_ABSENT;
		work.launch_dur_ns = cells[LAUNCH_DUR];
		work.step = cells[LAUNCH_STEP];
	}
	return work;
}

struct fsl_kineto_call fsl_kineto_call_at(struct fsl_kineto_calls *calls, size_t i)
{
	const int64_t *cells = fsl_packed_at(&calls->calls, i)->cells;
	return (struct fsl_kineto_call){.begin_ns = cells[CALL_BEGIN] + calls->events->shift_ns,
					.correlation = cells[CALL_CORRELATION],
					.dur_ns = cells[CALL_DUR],
					.name_id = (uint32_t)cells[CALL_NAME],
					.thread = (uint32_t)cells[CALL_THREAD]};
}
