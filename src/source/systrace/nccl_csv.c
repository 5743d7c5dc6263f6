/* NCCL operators as CSV: kernel,t1,t2,t3,t4[,step], times in microseconds, one operator a row. */
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/csv_rows.h"

enum column { KERNEL, T1, T2, T3, T4, STEP, COLUMNS_N };

static const struct fsl_csv_column_spec columns[FSL_CSV_COLUMNS_MAX] = {
	[KERNEL] = {"kernel", true}, [T1] = {"t1", true}, [T2] = {"t2", false},
	[T3] = {"t3", true},         [T4] = {"t4", true}, [STEP] = {"step", false},
};

static int probe_head(const struct fsl_probe *probe)
{
	for (size_t i = 0; i < COLUMNS_N; i++) {
		if (columns[i].is_needed && !fsl_csv_head_has(probe, columns[i].name)) {
			return 0;
		}
	}
	return FSL_PROBE_CONTENT;
}

/* A time in us, possibly with a fraction, to ns; an empty field is FSL_NS_ABSENT. */
static bool parse_time(struct fsl_csv_field field, int64_t *time_ns)
{
	*time_ns = FSL_NS_ABSENT;
	if (field.length == 0) {
		return true;
	}
	return fsl_parse_scaled(field.text, field.length, FSL_NS_PER_US, time_ns) &&
	       *time_ns >= 0 && *time_ns <= FSL_TIME_MAX_NS;
}

/* "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)" without arguments. */
static struct fsl_csv_field operator_name(struct fsl_csv_field kernel)
{
	const char *arguments = memchr(kernel.text, '(', kernel.length);
	if (arguments != NULL) {
		kernel.length = (size_t)(arguments - kernel.text);
	}
	while (kernel.length > 0 && kernel.text[0] == ' ') {
		kernel.text++;
		kernel.length--;
	}
	while (kernel.length > 0 && kernel.text[kernel.length - 1] == ' ') {
		kernel.length--;
	}
	return kernel;
}

/* NULL when the row is a good operator, else what is wrong with it. */
static const char *parse_row(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			     char *buffer, struct fsl_op *op, struct fsl_csv_field *name)
{
	int64_t step = -1;
	if (row->n_fields < layout->n_fields) {
		return "fewer fields than the header";
	}
	if (!parse_time(fsl_csv_layout_field(layout, row, T1), &op->host_begin_ns) ||
	    !parse_time(fsl_csv_layout_field(layout, row, T2), &op->host_end_ns) ||
	    !parse_time(fsl_csv_layout_field(layout, row, T3), &op->dev_begin_ns) ||
	    !parse_time(fsl_csv_layout_field(layout, row, T4), &op->dev_end_ns)) {
		return "t1 to t4 are no times in us";
	}
	bool has_device = op->dev_begin_ns != FSL_NS_ABSENT && op->dev_end_ns != FSL_NS_ABSENT;
	bool has_host = op->host_begin_ns != FSL_NS_ABSENT && op->host_end_ns != FSL_NS_ABSENT;
	bool is_half = (op->dev_begin_ns == FSL_NS_ABSENT) != (op->dev_end_ns == FSL_NS_ABSENT);
	if (is_half || (!has_device && !has_host)) {
		return "neither t3 and t4 nor t1 and t2 are given";
	}
	struct fsl_csv_field text = fsl_csv_layout_field(layout, row, STEP);
	if (text.length > 0 &&
	    (!fsl_parse_i64(text.text, text.length, &step) || step < 0 || step > INT32_MAX)) {
		return "step is no step number";
	}
	op->step = (int32_t)step;
	if (!fsl_csv_layout_text(layout, row, buffer, name)) {
		return "kernel is too long or holds a NUL";
	}
	*name = operator_name(*name);
	return NULL;
}

static enum fsl_status read_row(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
				struct fsl_sink *sink, struct fsl_error *err)
{
	char buffer[FSL_NAME_BYTES_MAX];
	struct fsl_csv_field name = {"", 0};
	if (fsl_csv_layout_is_header(layout, row, columns, KERNEL)) {
		return FSL_OK;
	}
	/* The number of the row stands for the id that the format lacks. */
	struct fsl_op op = {
		.id = sink->file->n_records,
		.group_id = FSL_STR_NONE,
		.dtype_id = FSL_STR_NONE,
	};
	bool is_row = row->state == FSL_CSV_ROW;
	bool is_cut = is_row && !row->has_newline && row->n_fields < layout->n_fields;
	const char *reason = is_row && !is_cut ? parse_row(layout, row, buffer, &op, &name) : NULL;
	sink->file->n_records++;
	if (!is_row || is_cut || reason != NULL) {
		enum fsl_drop why = is_cut ? FSL_DROP_CUT : FSL_DROP_MALFORMED;
		fsl_csv_bad_row(sink, row, is_row ? why : fsl_csv_row_drop(row), reason);
		return FSL_OK;
	}
	if (name.length == 0) {
		fsl_sink_drop(sink, FSL_DROP_NO_NAME);
		return FSL_OK;
	}
	FSL_TRY(fsl_sink_intern(sink, name.text, name.length, &op.op_id, err));
	return fsl_sink_add_op(sink, &op, err);
}

static enum fsl_status read_rows(struct fsl_csv *csv, const struct fsl_csv_layout *layout,
				 struct fsl_sink *sink, struct fsl_error *err)
{
	while (!sink->is_paused) {
		struct fsl_csv_row row;
		const struct fsl_place place = {.offset = fsl_csv_offset(csv),
						.line = fsl_csv_line(csv)};
		if (sink->is_stopped) {
			fsl_sink_pass(sink, &place);
			continue;
		}
		FSL_TRY(fsl_csv_next(csv, &row, err));
		if (row.state == FSL_CSV_END) {
			return FSL_OK;
		}
		FSL_TRY(read_row(layout, &row, sink, err));
	}
	return FSL_OK;
}

/* The header, and then the rows. */
static enum fsl_status read_table(struct fsl_csv *csv, struct fsl_csv_layout *layout,
				  struct fsl_sink *sink, struct fsl_error *err)
{
	struct fsl_csv_row row;
	FSL_TRY(fsl_csv_next(csv, &row, err));
	if (row.state == FSL_CSV_END ||
	    !fsl_csv_layout_find(layout, &row, columns, KERNEL, "an NCCL operator CSV", sink)) {
		return FSL_OK;
	}
	return read_rows(csv, layout, sink, err);
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	bool goes_on = sink->kept != NULL;
	struct fsl_csv *csv = fsl_csv_create(reader);
	struct fsl_csv_layout *layout = goes_on ? sink->kept : fsl_calloc(1, sizeof(*layout));
	sink->kept = layout;
	sink->drop_kept = fsl_free;
	if (csv == NULL || layout == NULL) {
		fsl_csv_destroy(csv);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				sink->file->path);
	}
	enum fsl_status status = FSL_OK;
	if (goes_on) {
		fsl_csv_go_on(csv, sink->place.line);
		status = read_rows(csv, layout, sink, err);
	} else {
		status = read_table(csv, layout, sink, err);
	}
	fsl_csv_destroy(csv);
	return fsl_sink_fault(sink, status, err);
}

const struct fsl_format fsl_format_nccl_csv = {
	.name = "nccl_csv",
	.summary = "NCCL operators as CSV (kernel,t1,t2,t3,t4[,step] in microseconds)",
	.kind = FSL_INPUT_MARKERS,
	.probe = probe_head,
	.read = read_file,
};
