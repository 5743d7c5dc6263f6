/* One entry at a time. */
#include "source/systrace/host_pb.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "host.pb-c.h"
#include "source/ingest.h"
#include "source/systrace/host_stack.h"
#include "source/systrace/pb_memory.h"
#include "source/systrace/timeline_wire.h"

enum {
	EVENTS_MAX = 1 << 26,        /* of one conversion */
	ENTRY_BYTES_MAX = 64 * 1024, /* names are cut at 256 bytes or are those of files */
	THREADS_MAX = 1 << 10,       /* of one file, whose delays are followed */
	ENTRIES_FIELD = 1,
};

/* The newest event of a thread: its delay is known when the thread comes again. */
struct thread {
	uint32_t key;
	uint64_t run_delay_ns;
	size_t event;
};

struct reading;

/* A kind of file, by the begin of its name. */
struct form {
	const char *prefix;
	const ProtobufCMessageDescriptor *entry;
	enum fsl_status (*add)(struct reading *r, const void *entry, struct fsl_error *err);
};

struct reading {
	struct fsl_host_events *events;
	const struct form *form;
	int32_t rank; /* of the name; FSL_RANK_UNKNOWN: entries tell it */
	struct thread threads[THREADS_MAX];
	size_t n_threads;
};

enum fsl_status fsl_host_events_init(struct fsl_host_events *events, struct fsl_error *err)
{
	*events = (struct fsl_host_events){.names = fsl_strpool_create()};
	return events->names != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"names\"");
}

void fsl_host_events_fini(struct fsl_host_events *events)
{
	fsl_strpool_destroy(events->names);
	fsl_free(events->items);
	*events = (struct fsl_host_events){0};
}

int32_t fsl_host_rank_of_name(const char *name)
{
	const char *at = strstr(name, "rank");
	int64_t rank = 0;
	if (at == NULL) {
		return FSL_RANK_UNKNOWN;
	}
	at += strlen("rank");
	at += *at == '_';
	size_t n = strspn(at, "0123456789");
	return fsl_parse_i64(at, n, &rank) && rank < FSL_RANKS_MAX ? (int32_t)rank
								   : FSL_RANK_UNKNOWN;
}

static void drop(struct fsl_host_events *events, enum fsl_drop why)
{
	events->n_dropped[why]++;
}

/*
 * Notes the delay of a thread at this event. The recorder tells the sum of all delays at the moment
 * when the thread leaves its processor, so that the growth up to the next time belongs to the
 * interval before.
 */
static void follow(struct reading *r, uint32_t key, uint64_t run_delay_ns)
{
	struct fsl_host_events *events = r->events;
	size_t t = 0;
	while (t < r->n_threads && r->threads[t].key != key) {
		t++;
	}
	if (t == THREADS_MAX) {
		return;
	}
	if (t < r->n_threads && run_delay_ns >= r->threads[t].run_delay_ns &&
	    run_delay_ns - r->threads[t].run_delay_ns <= (uint64_t)FSL_TIME_MAX_NS) {
		events->items[r->threads[t].event].run_delay_ns =
			(int64_t)(run_delay_ns - r->threads[t].run_delay_ns);
	}
	r->n_threads += t == r->n_threads;
	r->threads[t] = (struct thread){key, run_delay_ns, events->n_items - 1};
}

/* Sets times; false if they cannot be true. */
static bool set_times(struct fsl_host_event *event, uint64_t start_us, uint64_t dur_us)
{
	const uint64_t most_us = (uint64_t)FSL_TIME_MAX_NS / FSL_NS_PER_US;
	if (start_us == 0 || start_us > most_us || dur_us > most_us - start_us) {
		return false;
	}
	event->begin_ns = (int64_t)start_us * FSL_NS_PER_US;
	event->end_ns = (int64_t)(start_us + dur_us) * FSL_NS_PER_US;
	return true;
}

static int32_t choose_rank(const struct reading *r, uint32_t told)
{
	int32_t rank = told < FSL_RANKS_MAX ? (int32_t)told : 0;
	return r->rank != FSL_RANK_UNKNOWN ? r->rank : rank;
}

static enum fsl_status append(struct reading *r, const struct fsl_host_event *event,
			      struct fsl_error *err)
{
	if (r->events->n_items >= EVENTS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many events of hosts: max=%d", EVENTS_MAX);
	}
	FSL_TRY(FSL_APPEND(r->events, items, event, err));
	r->events->items[r->events->n_items - 1].file = (uint32_t)r->events->n_files;
	return FSL_OK;
}

static enum fsl_status add_cpu(struct reading *r, const void *message, struct fsl_error *err)
{
	const HostCpuEntry *entry = message;
	struct fsl_host_event event = {.run_delay_ns = -1,
				       .step = -1,
				       .key = entry->key,
				       .next_pid = entry->next_pid,
				       .next_id = FSL_STR_NONE,
				       .path_id = FSL_STR_NONE,
				       .rank = choose_rank(r, entry->rank)};
	if (entry->type > FSL_HOST_OFF_CPU || !set_times(&event, entry->start_us, entry->dur_us)) {
		drop(r->events, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	event.kind = (enum fsl_host_kind)entry->type;
	FSL_TRY(fsl_strpool_intern(r->events->names, entry->name, strlen(entry->name),
				   &event.name_id, err));
	if (entry->next_name[0] != '\0') {
		FSL_TRY(fsl_strpool_intern(r->events->names, entry->next_name,
					   strlen(entry->next_name), &event.next_id, err));
	}
	FSL_TRY(append(r, &event, err));
	if (event.kind == FSL_HOST_OFF_CPU) {
		follow(r, entry->key, entry->run_delay_ns);
	}
	return FSL_OK;
}

static enum fsl_status add_io(struct reading *r, const void *message, struct fsl_error *err)
{
	const HostIoEntry *entry = message;
	struct fsl_host_event event = {.run_delay_ns = -1,
				       .step = entry->step,
				       .key = entry->type,
				       .next_id = FSL_STR_NONE,
				       .path_id = FSL_STR_NONE,
				       .kind = FSL_HOST_IO,
				       .rank = choose_rank(r, entry->rank)};
	if (!set_times(&event, entry->start_us, entry->dur_us) ||
	    (entry->file.len > 0 && memchr(entry->file.data, '\0', entry->file.len) != NULL)) {
		drop(r->events, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(r->events->names,
				   entry->file.len > 0 ? (const char *)entry->file.data : "",
				   entry->file.len, &event.name_id, err));
	return append(r, &event, err);
}

/* The caller of the lock is the innermost frame. Entries have no rank: the name of the file has. */
static enum fsl_status add_mutex(struct reading *r, const void *message, struct fsl_error *err)
{
	const HostMutexEntry *entry = message;
	struct fsl_host_event event = {.run_delay_ns = -1,
				       .step = entry->step,
				       .next_id = FSL_STR_NONE,
				       .kind = FSL_HOST_MUTEX,
				       .rank = choose_rank(r, 0)};
	if (!set_times(&event, entry->start_us, entry->dur_us)) {
		drop(r->events, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	FSL_TRY(fsl_host_frame_add(r->events->names, entry->frames, entry->n_frames, &event.name_id,
				   err));
	FSL_TRY(fsl_host_stack_add(r->events->names, entry->frames, entry->n_frames, &event.path_id,
				   err));
	return append(r, &event, err);
}

static const struct form forms[] = {
	{"os_trace", &host_cpu_entry__descriptor, add_cpu},
	{"io_trace", &host_io_entry__descriptor, add_io},
	{"mutex_trace", &host_mutex_entry__descriptor, add_mutex},
};

/* NULL: a file of another kind. */
static const struct form *form_of(const char *name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strncmp(name, forms[i].prefix, strlen(forms[i].prefix)) == 0) {
			return &forms[i];
		}
	}
	return NULL;
}

bool fsl_host_knows(const char *name)
{
	return form_of(name) != NULL && strstr(name, ".pb") != NULL;
}

static enum fsl_status read_entry(struct reading *r, const char *data, size_t n_bytes,
				  struct fsl_error *err)
{
	bool is_short = false;
	enum fsl_status status = FSL_OK;
	ProtobufCAllocator allocator = fsl_pb_allocator(&is_short);
	ProtobufCMessage *message = protobuf_c_message_unpack(r->form->entry, &allocator, n_bytes,
							      (const uint8_t *)data);
	if (is_short) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", n_bytes);
	} else if (message == NULL) {
		drop(r->events, FSL_DROP_MALFORMED);
	} else {
		status = r->form->add(r, message, err);
	}
	if (message != NULL) {
		protobuf_c_message_free_unpacked(message, &allocator);
	}
	return status;
}

/* Reads up to the end, or to bytes that are no entry; *is_cut then. */
static enum fsl_status read_entries(struct reading *r, struct fsl_reader *reader, bool *is_cut,
				    struct fsl_error *err)
{
	for (;;) {
		const char *data = NULL;
		size_t n_seen = 0;
		struct fsl_wire_field field;
		FSL_TRY(fsl_reader_peek(reader, ENTRY_BYTES_MAX + FSL_WIRE_HEAD_BYTES_MAX, &data,
					&n_seen, err));
		if (n_seen == 0) {
			return FSL_OK;
		}
		if (!fsl_wire_field_parse(&field, data, n_seen) || field.number != ENTRIES_FIELD ||
		    field.wire != FSL_WIRE_BYTES || field.value > ENTRY_BYTES_MAX ||
		    field.value > n_seen - field.n_head) {
			drop(r->events, FSL_DROP_CUT);
			*is_cut = true;
			return FSL_OK;
		}
		FSL_TRY(read_entry(r, data + field.n_head, (size_t)field.value, err));
		fsl_reader_skip(reader, field.n_head + (size_t)field.value);
	}
}

enum fsl_status fsl_host_read(struct fsl_host_events *events, struct fsl_reader *reader,
			      const char *file_name, struct fsl_error *err)
{
	bool is_cut = false;
	struct reading *r = NULL;
	struct fsl_error why = {0};
	const struct form *form = form_of(file_name);
	FSL_REQUIRE(form != NULL);
	FSL_TRY(FSL_NEW(r, 1, "readings", err));
	r->events = events;
	r->form = form;
	r->rank = fsl_host_rank_of_name(file_name);
	enum fsl_status status = read_entries(r, reader, &is_cut, &why);
	if (status == FSL_ERR_IO || status == FSL_ERR_FORMAT) { /* what came before stays */
		status = FSL_OK;
		is_cut = true;
	}
	events->n_files++;
	events->n_cut += is_cut;
	fsl_free(r);
	if (status != FSL_OK && err != NULL) {
		*err = why;
	}
	return status;
}
