/* One record at a time; a batch is put in order when the next one begins. */
#include "source/systrace/memory_pb.h"

#include <string.h>

#include "base/file.h"
#include "host.pb-c.h"
#include "source/systrace/host_pb.h"
#include "source/systrace/host_stack.h"
#include "source/systrace/pb_memory.h"
#include "source/systrace/timeline_wire.h"

enum {
	RECORDS_MAX = 1 << 24,       /* of one conversion: 400 MB */
	PROCESSES_MAX = 1 << 14,     /* files of one conversion */
	ENTRY_BYTES_MAX = 64 * 1024, /* a record of the recorder has 32 frames of some 40 bytes */
	FIELD_RANK = 1,
	FIELD_ALLOC = 2,
	FIELD_FREE = 3,
};
/* Bytes of one allocation: more than a device has. The sum of all records fits into int64_t. */
static const uint64_t ALLOC_BYTES_MAX = UINT64_C(1) << 38;

struct reading {
	struct fsl_memory *memory;
	struct fsl_memory_process *process;
	size_t batch;   /* first record of the batch */
	size_t n_frees; /* of the batch, at its end */
	struct fsl_memory_record *scratch;
	size_t scratch_capacity;
};

enum fsl_status fsl_memory_init(struct fsl_memory *memory, struct fsl_error *err)
{
	*memory = (struct fsl_memory){.paths = fsl_strpool_create()};
	return memory->paths != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"call paths\"");
}

void fsl_memory_fini(struct fsl_memory *memory)
{
	for (size_t i = 0; i < memory->n_items; i++) {
		fsl_free(memory->items[i].records);
	}
	fsl_free(memory->items);
	fsl_strpool_destroy(memory->paths);
	*memory = (struct fsl_memory){0};
}

bool fsl_memory_knows(const char *name)
{
	return strncmp(name, "hbm_trace", strlen("hbm_trace")) == 0 && strstr(name, ".pb") != NULL;
}

/* Merges the allocations and the frees of the batch by their steps. */
static enum fsl_status end_batch(struct reading *r, struct fsl_error *err)
{
	struct fsl_memory_process *process = r->process;
	size_t n = process->n_records - r->batch, n_allocs = n - r->n_frees;
	size_t a = 0, f = n_allocs, i = 0;
	if (r->n_frees > 0 && n_allocs > 0) {
		struct fsl_memory_record *batch = process->records + r->batch;
		FSL_TRY(FSL_GROW(r->scratch, r->scratch_capacity, n, err));
		while (a < n_allocs || f < n) {
			bool is_free = a == n_allocs || (f < n && batch[f].step < batch[a].step);
			r->scratch[i++] = batch[is_free ? f++ : a++];
		}
		memcpy(batch, r->scratch, n * sizeof(*batch));
	}
	r->batch = process->n_records;
	r->n_frees = 0;
	return FSL_OK;
}

static enum fsl_status append(struct reading *r, const struct fsl_memory_record *record,
			      struct fsl_error *err)
{
	if (r->memory->n_records >= RECORDS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many records of memory: max=%d",
				RECORDS_MAX);
	}
	r->memory->n_records++;
	return FSL_APPEND(r->process, records, record, err);
}

static enum fsl_status add_alloc(struct reading *r, const HostMemoryAlloc *entry,
				 struct fsl_error *err)
{
	struct fsl_memory_record record = {
		.pointer = entry->pointer, .n_bytes = (int64_t)entry->n_bytes, .step = entry->step};
	if (entry->n_bytes > ALLOC_BYTES_MAX) {
		r->memory->n_dropped[FSL_DROP_MALFORMED]++;
		return FSL_OK;
	}
	if (r->n_frees > 0) {
		FSL_TRY(end_batch(r, err));
	}
	FSL_TRY(fsl_host_stack_add(r->memory->paths, entry->frames, entry->n_frames,
				   &record.path_id, err));
	return append(r, &record, err);
}

static enum fsl_status add_free(struct reading *r, const HostMemoryFree *entry,
				struct fsl_error *err)
{
	const struct fsl_memory_record record = {.pointer = entry->pointer,
						 .n_bytes = FSL_MEMORY_FREE,
						 .step = entry->step,
						 .path_id = FSL_STR_NONE};
	r->n_frees++;
	return append(r, &record, err);
}

static enum fsl_status add_entry(struct reading *r, const char *data,
				 const struct fsl_wire_field *field, struct fsl_error *err)
{
	bool is_short = false, is_alloc = field->number == FIELD_ALLOC;
	ProtobufCAllocator allocator = fsl_pb_allocator(&is_short);
	size_t n_bytes = (size_t)field->value;
	ProtobufCMessage *message = protobuf_c_message_unpack(
		is_alloc ? &host_memory_alloc__descriptor : &host_memory_free__descriptor,
		&allocator, n_bytes, (const uint8_t *)data + field->n_head);
	enum fsl_status status = FSL_OK;
	if (is_short) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", n_bytes);
	} else if (message == NULL) {
		r->memory->n_dropped[FSL_DROP_MALFORMED]++;
	} else {
		status = is_alloc ? add_alloc(r, (const HostMemoryAlloc *)message, err)
				  : add_free(r, (const HostMemoryFree *)message, err);
	}
	if (message != NULL) {
		protobuf_c_message_free_unpacked(message, &allocator);
	}
	return status;
}

/* True if the field is one of this format and its bytes are all there. */
static bool is_whole(const struct fsl_wire_field *field, size_t n_seen)
{
	if (field->number == FIELD_RANK) {
		return field->wire == FSL_WIRE_VARINT;
	}
	return (field->number == FIELD_ALLOC || field->number == FIELD_FREE) &&
	       field->wire == FSL_WIRE_BYTES && field->value <= ENTRY_BYTES_MAX &&
	       field->value <= n_seen - field->n_head;
}

/* Reads up to the end, or to bytes that are no record; *is_cut then. */
static enum fsl_status read_records(struct reading *r, struct fsl_reader *reader, bool *is_cut,
				    struct fsl_error *err)
{
	for (;;) {
		const char *data = NULL;
		size_t n_seen = 0, n_body = 0;
		struct fsl_wire_field field;
		FSL_TRY(fsl_reader_peek(reader, ENTRY_BYTES_MAX + FSL_WIRE_HEAD_BYTES_MAX, &data,
					&n_seen, err));
		if (n_seen == 0) {
			return FSL_OK;
		}
		if (!fsl_wire_field_parse(&field, data, n_seen) || !is_whole(&field, n_seen)) {
			r->memory->n_dropped[FSL_DROP_CUT]++;
			*is_cut = true;
			return FSL_OK;
		}
		if (field.number == FIELD_RANK) { /* a batch begins */
			if (r->process->rank == FSL_RANK_UNKNOWN && field.value < FSL_RANKS_MAX) {
				r->process->rank = (int32_t)field.value;
			}
			FSL_TRY(end_batch(r, err));
		} else {
			FSL_TRY(add_entry(r, data, &field, err));
			n_body = (size_t)field.value;
		}
		fsl_reader_skip(reader, field.n_head + n_body);
	}
}

enum fsl_status fsl_memory_read(struct fsl_memory *memory, struct fsl_reader *reader,
				const char *file_name, struct fsl_error *err)
{
	bool is_cut = false;
	struct fsl_error why = {0};
	const struct fsl_memory_process added = {.rank = fsl_host_rank_of_name(file_name)};
	if (memory->n_items >= PROCESSES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many files of memory records: max=%d",
				PROCESSES_MAX);
	}
	FSL_TRY(FSL_APPEND(memory, items, &added, err));
	struct reading r = {.memory = memory, .process = &memory->items[memory->n_items - 1]};
	enum fsl_status status = read_records(&r, reader, &is_cut, &why);
	if (status == FSL_ERR_IO || status == FSL_ERR_FORMAT) { /* records that came before stay */
		status = FSL_OK;
		is_cut = true;
	}
	FSL_THEN(status, end_batch(&r, &why));
	if (r.process->rank == FSL_RANK_UNKNOWN) {
		r.process->rank = 0;
	}
	memory->n_cut += is_cut;
	fsl_free(r.scratch);
	if (status != FSL_OK && err != NULL) {
		*err = why;
	}
	return status;
}
