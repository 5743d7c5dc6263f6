/* Timeline files of the job simulator: protobuf wire format by hand, or one JSON object a line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/sim_internal.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, MESSAGE_MAX = 512, NS_PER_US = 1000 };

struct sim_timeline {
	const struct sim_params *params;
	struct sim_out *out;
	int32_t rank; /* as written */
};

/* Bytes of one message while it is put together. */
struct message {
	uint8_t bytes[MESSAGE_MAX];
	size_t n_bytes;
};

static const char *stage_text(enum sim_stage_type type)
{
	switch (type) {
	case SIM_STAGE_DATALOADER:
		return "torch.utils.data.dataloader@_BaseDataLoaderIter@__next__";
	case SIM_STAGE_FORWARD:
		return "train@pipeline@forward_step";
	case SIM_STAGE_BACKWARD:
		return "train@pipeline@backward_step";
	case SIM_STAGE_OPTIMIZER:
		return "train@optimizer@step";
	case SIM_STAGE_CKPT:
		return "SaveCkpt";
	case SIM_STAGE_GC:
		return "GC";
	}
	return "";
}

enum fsl_status sim_timeline_open(struct sim_timeline **out, const struct sim_params *params,
				  const char *dir, int32_t rank, struct fsl_error *err)
{
	char path[SIM_PATH_MAX];
	int32_t label = sim_label(params, rank);
	(void)snprintf(path, sizeof(path), "%s/timeline/host%d--%05d.timeline", dir,
		       label / params->ranks_per_host, label);
	struct sim_timeline *self = fsl_calloc(1, sizeof(*self));
	if (self == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	enum fsl_status status = sim_out_open(&self->out, path, SIM_COMPRESSION_NONE, err);
	if (status != FSL_OK) {
		fsl_free(self);
		return status;
	}
	self->params = params;
	self->rank = label;
	*out = self;
	return FSL_OK;
}

static void put_varint(struct message *message, uint64_t value)
{
	while (value >= 0x80) {
		message->bytes[message->n_bytes++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	message->bytes[message->n_bytes++] = (uint8_t)value;
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
	put_varint(message, field << 3 | WIRE_VARINT);
	put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const void *data, size_t n_bytes)
{
	put_varint(message, field << 3 | WIRE_BYTES);
	put_varint(message, n_bytes);
	memcpy(message->bytes + message->n_bytes, data, n_bytes);
	message->n_bytes += n_bytes;
}

static void put_text(struct message *message, unsigned field, const char *text)
{
	put_bytes(message, field, text, strlen(text));
}

/* Field numbers: src/ingest/timeline.proto. */
static void put_stage_pb(struct sim_timeline *timeline, const struct sim_stage *stage)
{
	struct message inner = {.n_bytes = 0};
	put_number(&inner, 1, (uint64_t)stage->step);
	put_text(&inner, 2, stage_text(stage->type));
	put_number(&inner, 3, (uint64_t)(stage->begin_ns / NS_PER_US));
	put_number(&inner, 4, (uint64_t)(stage->end_ns / NS_PER_US));
	if (stage->type == SIM_STAGE_DATALOADER && stage->step == 0) {
		put_text(&inner, 5, "next_batch@loader.c:42");
	}
	if (stage->type == SIM_STAGE_GC) {
		struct message gc = {.n_bytes = 0};
		put_number(&gc, 1, 100 + (uint64_t)stage->step % 50);
		put_bytes(&inner, 6, gc.bytes, gc.n_bytes);
	}
	struct message outer = {.n_bytes = 0};
	put_bytes(&outer, 1, inner.bytes, inner.n_bytes);
	sim_out_bytes(timeline->out, outer.bytes, outer.n_bytes);
}

static void put_stage_json(struct sim_timeline *timeline, const struct sim_stage *stage)
{
	sim_out_printf(timeline->out,
		       "{\"rank\":%d,\"comm\":\"job0\",\"stage_id\":%d,\"stage_type\":\"%s\",",
		       timeline->rank, stage->step, stage_text(stage->type));
	sim_out_printf(timeline->out, "\"start_us\":%" PRId64 ",\"end_us\":%" PRId64 "}\n",
		       stage->begin_ns / NS_PER_US, stage->end_ns / NS_PER_US);
}

void sim_timeline_put(struct sim_timeline *timeline, const struct sim_stage *stage)
{
	if (timeline->params->timeline_json) {
		put_stage_json(timeline, stage);
	} else {
		put_stage_pb(timeline, stage);
	}
}

enum fsl_status sim_timeline_close(struct sim_timeline *timeline, struct fsl_error *err)
{
	if (timeline == NULL) {
		return FSL_OK;
	}
	if (!timeline->params->timeline_json) {
		struct message tail = {.n_bytes = 0};
		put_number(&tail, 2, (uint64_t)timeline->rank);
		put_number(&tail, 3, (uint64_t)timeline->params->steps);
		put_text(&tail, 4, "job0");
		sim_out_bytes(timeline->out, tail.bytes, tail.n_bytes);
	}
	enum fsl_status status = sim_out_close(timeline->out, err);
	fsl_free(timeline);
	return status;
}
