/* Sweeps over the work of the device: once over all of it, once over that of steps. */
#include "source/kineto/shares.h"

#include <string.h>

#include "base/try.h"

enum fsl_device_work fsl_kineto_kind_of(const struct fsl_kineto_events *events,
					const struct fsl_kineto_work *work)
{
	if (work->category == FSL_KINETO_COPY) {
		return FSL_DEVICE_MEMORY;
	}
	/* Some writers have copies among kernels. */
	const char *name = fsl_strpool_text(events->rank->names, work->name_id);
	bool is_copy = strncmp(name, "Memcpy", 6) == 0 || strncmp(name, "Memset", 6) == 0;
	return work->is_collective ? FSL_DEVICE_COMMUNICATION
	       : is_copy           ? FSL_DEVICE_MEMORY
				   : FSL_DEVICE_COMPUTE;
}

static enum fsl_status add(struct fsl_profile_rank *rank, struct fsl_shares_sweep *sweep,
			   int64_t step, bool is_last, struct fsl_error *err)
{
	struct fsl_profile_shares shares = fsl_shares_tell(sweep, is_last);
	shares.step = step;
	return FSL_APPEND(rank, shares, &shares, err);
}

static enum fsl_status tell_whole(struct fsl_kineto_events *events, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_bare_works_begin(&works, events);
	struct fsl_shares_sweep sweep = {0};
	for (size_t i = 0; i < events->works.n; i++) {
		const struct fsl_kineto_work work = fsl_kineto_work_at(&works, i);
		fsl_shares_add(&sweep, work.begin_ns, work.dur_ns,
			       fsl_kineto_kind_of(events, &work));
	}
	return add(events->rank, &sweep, FSL_STEP_ABSENT, true, err);
}

/* A step lasts until the first work of a later one. */
static enum fsl_status tell_steps(struct fsl_kineto_events *events,
				  const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_kineto_works works;
	fsl_kineto_works_begin(&works, events);
	struct fsl_shares_sweep sweep = {0};
	int64_t step = FSL_STEP_ABSENT;
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i <= events->works.n && status == FSL_OK; i++) {
		bool is_last = i == events->works.n;
		struct fsl_kineto_work work = {0};
		if (!is_last) {
			work = fsl_kineto_work_at(&works, i);
		}
		if (!is_last && work.step == FSL_STEP_ABSENT) {
			continue;
		}
		if (is_last || work.step > step) {
			if (!is_last && sweep.has_begun) {
				fsl_shares_advance(&sweep, work.begin_ns);
			}
			if (step != FSL_STEP_ABSENT && fsl_profile_wants_step(input, step)) {
				status = add(events->rank, &sweep, step, is_last, err);
			} else {
				(void)fsl_shares_tell(&sweep, is_last); /* not wanted */
			}
			step = is_last ? step : work.step;
		}
		if (!is_last) {
			fsl_shares_add(&sweep, work.begin_ns, work.dur_ns,
				       fsl_kineto_kind_of(events, &work));
		}
	}
	return status;
}

enum fsl_status fsl_kineto_tell_shares(struct fsl_kineto_events *events,
				       const struct fsl_profile_input *input, struct fsl_error *err)
{
	if (events->works.n == 0) {
		return FSL_OK;
	}
	FSL_TRY(tell_whole(events, err));
	return tell_steps(events, input, err);
}
