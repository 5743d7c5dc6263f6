/* Marker files of the job simulator: mspti CSV and JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "support/sim_internal.h"

enum { PENDING_MAX = 32, STREAM = 2, PROCESS_FIRST = 4000, FLAG_BEGIN = 16, FLAG_END = 32 };

struct sim_markers {
	const struct sim_params *params;
	struct sim_out *out;
	struct sim_random drops; /* of its own: a lost row must not shift the noise */
	int32_t rank;            /* as written */
	size_t n_pending;
	struct sim_op pending[PENDING_MAX]; /* their device rows are still due */
	size_t n_rows_in_array;             /* JSON: rows of the array that is open */
};

static const char csv_header[] =
	"Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,msptiObjectId_Ds_StreamId,"
	"msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId\n";

static const char *compression_suffix(enum sim_compression compression)
{
	switch (compression) {
	case SIM_COMPRESSION_NONE:
		return "";
	case SIM_COMPRESSION_GZ:
		return ".gz";
	case SIM_COMPRESSION_ZST:
		return ".zst";
	}
	return "";
}

enum fsl_status sim_markers_open(struct sim_markers **out, const struct sim_params *params,
				 const char *dir, int32_t rank, struct fsl_error *err)
{
	char path[SIM_PATH_MAX];
	int32_t label = sim_label(params, rank);
	bool is_json = params->format == SIM_FORMAT_JSON;
	(void)snprintf(path, sizeof(path), "%s/mspti/hccl_activity-10.1.0.%d-.%d.%s%s", dir,
		       label / params->ranks_per_host + 1, label, is_json ? "json" : "csv",
		       compression_suffix(params->compression));
	struct sim_markers *self = fsl_calloc(1, sizeof(*self));
	if (self == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	enum fsl_status status = sim_out_open(&self->out, path, params->compression, err);
	if (status != FSL_OK) {
		fsl_free(self);
		return status;
	}
	self->params = params;
	self->rank = label;
	sim_random_seed(&self->drops, params->seed ^ (UINT64_C(0xd509) << 32) ^ (uint64_t)rank);
	if (!is_json) {
		sim_out_printf(self->out, "%s", csv_header);
	}
	*out = self;
	return FSL_OK;
}

/* One row of a marker file. */
struct row {
	const struct sim_op *op;
	bool is_device;
	int flag;
	int64_t time_ns;
};

/* Host rows repeat process and thread, device rows device and stream in the object columns. */
static int32_t object_first(const struct sim_markers *markers, const struct row *row)
{
	return row->is_device ? markers->rank % markers->params->ranks_per_host
			      : PROCESS_FIRST + markers->rank;
}

static int32_t object_second(const struct sim_markers *markers, const struct row *row)
{
	return row->is_device ? STREAM : PROCESS_FIRST + markers->rank;
}

/* Only the host start row carries the name. */
static bool has_name(const struct row *row)
{
	return !row->is_device && row->flag == FLAG_BEGIN;
}

static void put_csv_row(struct sim_markers *markers, const struct row *row)
{
	int32_t first = object_first(markers, row);
	int32_t second = object_second(markers, row);
	sim_out_printf(markers->out, "%d,%" PRIu64 ",1,", row->flag, row->op->id);
	if (has_name(row)) {
		sim_out_printf(markers->out, "comm:%s!%s!bfp16!%" PRIu64, row->op->name,
			       row->op->group, row->op->n_elements);
	}
	sim_out_printf(markers->out, ",%d,%" PRId64 ",%d,%d,%d,%d\n", row->is_device ? 1 : 0,
		       row->time_ns, first, second, first, second);
}

static void put_json_row(struct sim_markers *markers, const struct row *row)
{
	struct sim_out *out = markers->out;
	int32_t first = object_first(markers, row);
	int32_t second = object_second(markers, row);
	sim_out_printf(out, "%s{\"Domain\":\"\",\"Flag\":%d,\"Id\":%" PRIu64 ",\"Kind\":1,",
		       markers->n_rows_in_array > 0 ? "," : "[", row->flag, row->op->id);
	sim_out_printf(out, "\"Name\":\"");
	if (has_name(row)) {
		sim_out_printf(out, "comm:%s,%s,bfp16,%" PRIu64, row->op->name, row->op->group,
			       row->op->n_elements);
	}
	sim_out_printf(out, "\",\"SourceKind\":%d,\"Timestamp\":%" PRId64 ",",
		       row->is_device ? 1 : 0, row->time_ns);
	sim_out_printf(out, "\"msptiObjectId\":{\"Ds\":{\"DeviceId\":%d,\"StreamId\":%d},", first,
		       second);
	sim_out_printf(out, "\"Pt\":{\"ProcessId\":%d,\"ThreadId\":%d}}}", first, second);
	markers->n_rows_in_array++;
}

static void put_row(struct sim_markers *markers, const struct row *row)
{
	bool is_lost = sim_random_uniform(&markers->drops) < markers->params->drop_share;
	if (row->time_ns == SIM_ABSENT || is_lost) {
		return;
	}
	if (markers->params->format == SIM_FORMAT_JSON) {
		put_json_row(markers, row);
	} else {
		put_csv_row(markers, row);
	}
}

static void put_host_rows(struct sim_markers *markers, const struct sim_op *op)
{
	put_row(markers, &(struct row){op, false, FLAG_BEGIN, op->host_begin_ns});
	put_row(markers, &(struct row){op, false, FLAG_END, op->host_end_ns});
}

static void flush_pending(struct sim_markers *markers)
{
	for (size_t i = 0; i < markers->n_pending; i++) {
		const struct sim_op *op = &markers->pending[i];
		put_row(markers, &(struct row){op, true, FLAG_BEGIN, op->dev_begin_ns});
		put_row(markers, &(struct row){op, true, FLAG_END, op->dev_end_ns});
	}
	markers->n_pending = 0;
	/* A JSON file is one array per flush, the next following the last without a comma. */
	if (markers->n_rows_in_array > 0) {
		sim_out_printf(markers->out, "]\n");
		markers->n_rows_in_array = 0;
	}
}

void sim_markers_put(struct sim_markers *markers, const struct sim_op *op)
{
	put_host_rows(markers, op);
	markers->pending[markers->n_pending++] = *op;
	if (markers->n_pending == PENDING_MAX) {
		flush_pending(markers);
	}
}

enum fsl_status sim_markers_close(struct sim_markers *markers, struct fsl_error *err)
{
	if (markers == NULL) {
		return FSL_OK;
	}
	flush_pending(markers);
	enum fsl_status status = sim_out_close(markers->out, err);
	fsl_free(markers);
	return status;
}
