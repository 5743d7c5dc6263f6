/*
 * step_trace_time.csv: the parts of a step's time, one row per device and step, in us. The writers
 * for PyTorch and MindSpore define Bubble and Stage differently: MindSpore counts sends as bubble,
 * too, and its stage is the span of communication alone. MindSpore does not measure Preparing and
 * writes 0. It also writes 0 as the step of a capture without steps.
 */
#include "base/number.h"
#include "base/try.h"
#include "source/ascend/table.h"

enum column {
	STEP,
	DEVICE,
	COMPUTING,
	EXPOSED,
	OVERLAPPED,
	COMMUNICATION,
	FREE,
	STAGE,
	BUBBLE,
	NOT_RECEIVE,
	PREPARING,
	COLUMNS_N
};

static const struct fsl_table_column columns[COLUMNS_N] = {
	[STEP] = {{"Step", "Step Id"}, false},
	[DEVICE] = {{"Device_id", "Device Id"}, false},
	[COMPUTING] = {{"Computing"}, true},
	[EXPOSED] = {{"Communication(Not Overlapped)"}, true},
	[OVERLAPPED] = {{"Overlapped"}, false},
	[COMMUNICATION] = {{"Communication"}, false},
	[FREE] = {{"Free"}, true},
	[STAGE] = {{"Stage"}, false},
	[BUBBLE] = {{"Bubble"}, false},
	[NOT_RECEIVE] = {{"Communication(Not Overlapped and Exclude Receive)"}, false},
	[PREPARING] = {{"Preparing"}, false},
};

/* Sums of floats leave noise, also below 0 instead of 0; it disappears in whole ns. */
static int64_t time_ns(const struct fsl_table *table, size_t column)
{
	return fsl_table_amount(table, column, FSL_NS_PER_US, FSL_NS_ABSENT);
}

static struct fsl_profile_step parse(const struct fsl_table *table, int64_t step)
{
	struct fsl_profile_step row = {
		.step = step,
		.device_id = fsl_table_amount(table, DEVICE, 1, -1),
		.computing_ns = time_ns(table, COMPUTING),
		.exposed_ns = time_ns(table, EXPOSED),
		.overlapped_ns = time_ns(table, OVERLAPPED),
		.communication_ns = time_ns(table, COMMUNICATION),
		.free_ns = time_ns(table, FREE),
		.stage_ns = time_ns(table, STAGE),
		.bubble_ns = time_ns(table, BUBBLE),
		.exposed_not_receive_ns = time_ns(table, NOT_RECEIVE),
		.preparing_ns = time_ns(table, PREPARING),
	};
	if (table->rank->folder.writer == FSL_PROFILE_MINDSPORE && row.preparing_ns == 0) {
		row.preparing_ns = FSL_NS_ABSENT;
	}
	return row;
}

const char fsl_profile_other_device[] = "a second device; only the first one's rows are used";

bool fsl_profile_is_other_device(const struct fsl_profile_rank *rank,
				 const struct fsl_profile_step *row)
{
	int64_t first = rank->n_steps > 0 ? rank->steps[0].device_id : -1;
	return first >= 0 && row->device_id >= 0 && row->device_id != first;
}

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	(void)context;
	struct fsl_profile_rank *rank = table->rank;
	int64_t step = FSL_STEP_ABSENT;
	if (fsl_table_field(table, STEP).length > 0 && !fsl_table_scaled(table, STEP, 1, &step)) {
		fsl_table_drop(table, "the step is no number");
		return FSL_OK;
	}
	struct fsl_profile_step row = parse(table, step);
	if (row.computing_ns == FSL_NS_ABSENT || row.exposed_ns == FSL_NS_ABSENT ||
	    row.free_ns == FSL_NS_ABSENT) {
		fsl_table_drop(table, "a time is missing or no number");
		return FSL_OK;
	}
	if (fsl_profile_is_other_device(rank, &row)) {
		fsl_table_drop(table, fsl_profile_other_device);
		return FSL_OK;
	}
	rank->n_steps_captured++;
	if (!fsl_profile_wants_step(table->input, step)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->steps, rank->steps_capacity, rank->n_steps + 1, err));
	rank->steps[rank->n_steps++] = row;
	return FSL_OK;
}

enum fsl_status fsl_profile_read_step_trace_time(struct fsl_profile_rank *rank,
						 const struct fsl_profile_input *input,
						 struct fsl_error *err)
{
	return fsl_table_read(rank, input, columns, COLUMNS_N, add, NULL, err);
}
