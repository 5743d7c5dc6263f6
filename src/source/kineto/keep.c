/* Work, calls and frames as rows. */
#include "source/kineto/keep.h"

#include "base/try.h"
#include "capture/kept_rows.h"

enum fsl_status fsl_kineto_keep_rows(const struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_kineto_calls calls;
	fsl_kineto_calls_begin(&calls, events);
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_kept_kernel row = {.step = FSL_STEP_ABSENT, .core_id = FSL_STR_NONE};
	if (events->rank->kept == NULL) {
		return FSL_OK;
	}
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		row.begin_ns = work.begin_ns;
		row.end_ns = work.begin_ns + work.dur_ns;
		row.step = work.step;
		row.name_id = work.name_id;
		row.kind = FSL_KEPT_KERNEL;
		FSL_TRY(fsl_keep_kernel(events->rank, &row, err));
	}
	row.step = FSL_STEP_ABSENT;
	for (size_t i = 0; i < events->calls.n; i++) {
		const struct fsl_kineto_call call = fsl_kineto_call_at(&calls, i);
		row.begin_ns = call.begin_ns;
		row.end_ns = call.begin_ns + call.dur_ns;
		row.name_id = call.name_id;
		row.kind = FSL_KEPT_CALL;
		FSL_TRY(fsl_keep_kernel(events->rank, &row, err));
	}
	row.kind = FSL_KEPT_FUNCTION;
	for (size_t i = 0; i < events->frames.n_threads; i++) {
		struct fsl_frame frame;
		struct fsl_frame_cursor cursor = fsl_frames_read(&events->frames, i);
		while (fsl_frame_next(&cursor, &frame)) {
			row.begin_ns = frame.begin_ns;
			row.end_ns = frame.begin_ns + frame.dur_ns;
			row.name_id = frame.name_id;
			FSL_TRY(fsl_keep_kernel(events->rank, &row, err));
		}
	}
	return FSL_OK;
}
