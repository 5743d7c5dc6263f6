/* Packets of Perfetto as events: names, clocks, tracks, args, and what is broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "chrome/pftrace_walk.h"
#include "fuzz/memory_reader.h"
#include "fuzz/packing.h"

enum { STEP = 1, KERNEL, PROCESS_NAME, THREAD_NAME };
enum { CORRELATION, GRID, GROUP, LANE, N_ARGS };
static const struct fsl_trace_word names[] = {
	{STEP, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
	{PROCESS_NAME, FSL_TRACE_WHOLE, "process_name", NULL},
	{THREAD_NAME, FSL_TRACE_WHOLE, "thread_name", NULL},
};
static const struct fsl_trace_word categories[] = {{KERNEL, FSL_TRACE_WHOLE, "kernel", NULL}};
static const struct fsl_trace_arg args[N_ARGS] = {
	[CORRELATION] = {"correlation", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[GRID] = {"grid", 0, NULL, FSL_TRACE_ARG_SIZES},
	[GROUP] = {"group", 0, NULL, FSL_TRACE_ARG_TEXT},
	[LANE] = {"name", 0, NULL, FSL_TRACE_ARG_TEXT},
};
static struct fsl_trace_vocabulary vocabulary = {.n_args = N_ARGS, .args = args};

/* A message under construction. */
struct bytes {
	char data[4096];
	size_t n;
};

static void put_varint(struct bytes *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7) {
		to->data[to->n++] = (char)(value | 0x80);
	}
	to->data[to->n++] = (char)value;
}

static struct bytes *put(struct bytes *to, uint64_t field, uint64_t value)
{
	put_varint(to, field << 3);
	put_varint(to, value);
	return to;
}

static struct bytes *put_bytes(struct bytes *to, uint64_t field, const char *data, size_t n)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, n);
	memcpy(to->data + to->n, data, n);
	to->n += n;
	return to;
}

static struct bytes *put_text(struct bytes *to, uint64_t field, const char *text)
{
	return put_bytes(to, field, text, strlen(text));
}

static struct bytes *put_message(struct bytes *to, uint64_t field, const struct bytes *message)
{
	return put_bytes(to, field, message->data, message->n);
}

/* Adds a packet of a sequence with one message. */
static void put_packet_of(struct bytes *trace, uint64_t sequence, uint64_t time, uint64_t field,
			  const struct bytes *message)
{
	struct bytes packet = {.n = 0};
	put_message(put(put(&packet, 8, time), 10, sequence), field, message);
	put_message(trace, 1, &packet);
}

static void put_packet(struct bytes *trace, uint64_t time, uint64_t field,
		       const struct bytes *message)
{
	put_packet_of(trace, 7, time, field, message);
}

/* Result of reading a trace. */
struct taken {
	struct fsl_trace_event events[16];
	char names[16][32], groups[16][32];
	size_t n, n_dropped;
	bool has_fault;
};

static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	struct taken *taken = context;
	(void)err;
	assert_true(taken->n < 16);
	taken->events[taken->n] = *event;
	(void)snprintf(taken->names[taken->n], 32, "%.*s", (int)event->whole_name.length,
		       event->whole_name.text);
	(void)snprintf(taken->groups[taken->n], 32, "%.*s", (int)event->texts[GROUP].length,
		       event->texts[GROUP].text);
	taken->n++;
	return FSL_OK;
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	(void)reason;
	(void)err;
	assert_null(json);
	((struct taken *)context)->n_dropped++;
	return FSL_OK;
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	(void)own;
	(void)err;
	assert_int_not_equal(status, FSL_OK);
	((struct taken *)context)->has_fault = true;
	return FSL_OK;
}

static struct taken *walk_reader(struct fsl_reader *reader)
{
	static struct taken taken;
	struct fsl_trace_walked walked;
	const struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
						    .context = &taken,
						    .fault_of = fsl_trace_event_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault};
	memset(&taken, 0, sizeof(taken));
	fsl_trace_words_init(&vocabulary.names, names, 3);
	fsl_trace_words_init(&vocabulary.categories, categories, 1);
	assert_non_null(reader);
	assert_int_equal(fsl_pftrace_walk(&walked, reader, &listener, NULL), FSL_OK);
	assert_int_equal(walked.n_events, taken.n);
	assert_int_equal(walked.has_faults, taken.has_fault);
	fsl_reader_close(reader);
	return &taken;
}

static struct taken *walk(const struct bytes *trace)
{
	return walk_reader(memory_reader(trace->data, trace->n));
}

/* A slice's begin (1) or end (2) on a track. */
static struct bytes event_of(uint64_t type, uint64_t track)
{
	struct bytes event = {.n = 0};
	put(put(&event, 9, type), 11, track);
	return event;
}

static void slices_and_tracks_are_events(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, thread = {.n = 0}, track = {.n = 0};
	put_text(put(put(&thread, 1, 42), 2, 43), 5, "stream 7");
	put_message(put(&track, 1, 99), 4, &thread);
	put_packet(&trace, 0, 60, &track);
	struct bytes begin = event_of(1, 99), end = event_of(2, 99);
	put_text(put_text(&begin, 23, "ProfilerStep#12"), 22, "kernel");
	put_packet(&trace, 1000, 11, &begin);
	put_packet(&trace, 1500, 11, &end);
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 3);
	assert_int_equal(taken->events[0].phase, 'M');
	assert_int_equal(taken->events[0].name, THREAD_NAME);
	assert_int_equal(taken->events[0].texts[LANE].length, 8);
	assert_int_equal(taken->events[1].phase, 'B');
	assert_int_equal(taken->events[1].name, STEP);
	assert_int_equal(taken->events[1].number, 12);
	assert_int_equal(taken->events[1].category, KERNEL);
	assert_int_equal(taken->events[1].pid, 42);
	assert_int_equal(taken->events[1].tid, 99);
	assert_int_equal(taken->events[1].ts_ns, 1000);
	assert_int_equal(taken->events[2].phase, 'E');
	assert_int_equal(taken->events[2].ts_ns, 1500);
}

/* InternedData with one text. */
static struct bytes interned(uint64_t use, uint64_t id, const char *text)
{
	struct bytes entry = {.n = 0}, data = {.n = 0};
	put_text(put(&entry, 1, id), 2, text);
	put_message(&data, use, &entry);
	return data;
}

static void names_are_told_before_they_are_used_and_forgotten_when_cleared(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, event = event_of(1, 5), packet = {.n = 0};
	struct bytes name = interned(2, 3, "gemm");
	put(&event, 10, 3);
	/* The text may stand behind the event of its packet. */
	put_message(put_message(put(put(&packet, 8, 10), 10, 7), 11, &event), 12, &name);
	put_message(&trace, 1, &packet);
	put_packet(&trace, 20, 11, &event);
	packet.n = 0;
	put_message(put(put(put(&packet, 8, 30), 10, 7), 13, 1), 11, &event);
	put_message(&trace, 1, &packet);
	packet.n = 0; /* another sequence knows nothing of it */
	put_message(put(put(&packet, 8, 40), 10, 8), 11, &event);
	put_message(&trace, 1, &packet);
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 4);
	assert_string_equal(taken->names[0], "gemm");
	assert_string_equal(taken->names[1], "gemm");
	assert_string_equal(taken->names[2], "");
	assert_string_equal(taken->names[3], "");
}

static void args_come_alone_or_in_dictionaries(void **state)
{
	(void)state;
	for (int is_nested = 0; is_nested < 2; is_nested++) {
		struct bytes trace = {.n = 0}, event = event_of(1, 5), all = {.n = 0};
		struct bytes number = {.n = 0}, text = {.n = 0}, list = {.n = 0}, item = {.n = 0};
		put(put_text(&number, 10, "debug.correlation"), 4, 77);
		put_text(put_text(&text, 10, "group"), 6, "tp0");
		put_text(&list, 10, "grid");
		for (uint64_t size = 132; size >= 130; size--) {
			item.n = 0;
			put_message(&list, 12, put(&item, 4, size));
		}
		if (is_nested) {
			put_text(&all, 10, "args");
			put_message(put_message(put_message(&all, 11, &number), 11, &text), 11,
				    &list);
			put_message(&event, 4, &all);
		} else {
			put_message(put_message(put_message(&event, 4, &number), 4, &text), 4,
				    &list);
		}
		put_packet(&trace, 10, 11, &event);
		const struct taken *taken = walk(&trace);
		assert_int_equal(taken->events[0].args[CORRELATION], 77);
		assert_int_equal(taken->events[0].args[GRID], fsl_trace_sizes(132, 131, 130));
		assert_string_equal(taken->groups[0], "tp0");
	}
}

static struct bytes *put_reading(struct bytes *snapshot, uint64_t id, uint64_t time,
				 bool is_incremental, uint64_t unit)
{
	struct bytes reading = {.n = 0};
	put(put(put(put(&reading, 1, id), 2, time), 3, is_incremental), 4, unit);
	return put_message(snapshot, 1, &reading);
}

static void clocks_of_a_sequence_count_from_packet_to_packet(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, snapshot = {.n = 0}, defaults = {.n = 0}, packet = {.n = 0};
	put_reading(&snapshot, 6, 5000, false, 1);
	put_reading(&snapshot, 1, 1700000000000000000, false, 1);
	put_reading(&snapshot, 64, 10, true, 1000);
	put(&defaults, 58, 64);
	put_message(put_message(put(put(&packet, 10, 7), 13, 1), 6, &snapshot), 59, &defaults);
	put_message(&trace, 1, &packet);
	struct bytes event = event_of(3, 5);
	put_packet(&trace, 2, 11, &event);
	put_packet(&trace, 3, 11, &event);
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 2);
	assert_int_equal(taken->events[0].ts_ns, INT64_C(1700000000000002000));
	assert_int_equal(taken->events[1].ts_ns, INT64_C(1700000000000005000));
}

static void a_clock_that_nothing_relates_tells_no_time(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, packet = {.n = 0}, event = event_of(3, 5);
	put_message(put(put(put(&packet, 8, 9), 10, 7), 58, 64), 11, &event);
	put_message(&trace, 1, &packet);
	put_packet(&trace, UINT64_MAX, 11, &event); /* behind the year 2100 */
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 2);
	assert_int_equal(taken->events[0].ts_ns, FSL_NS_ABSENT);
	assert_int_equal(taken->events[1].ts_ns, FSL_NS_ABSENT);
}

static void broken_packets_are_dropped_and_others_are_read(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, event = event_of(1, 5);
	put_bytes(&trace, 1, "\x0a\x7f short", 8);
	put_packet(&trace, 10, 11, &event);
	put_text(&trace, 3, "no packet, but a field");
	put_packet(&trace, 20, 50, &event); /* as if it were compressed */
	put_packet(&trace, 30, 11, &event);
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 2);
	assert_int_equal(taken->n_dropped, 2);
	assert_false(taken->has_fault);
}

/* Adds a packet that holds all packets of @inner, in zlib's form or in gzip's. */
static void put_compressed(struct bytes *trace, const struct bytes *inner, bool is_gzip)
{
	struct bytes packed = {.n = 0}, packet = {.n = 0};
	z_stream zlib = {.next_in = (Bytef *)inner->data,
			 .avail_in = (uInt)inner->n,
			 .next_out = (Bytef *)packed.data,
			 .avail_out = sizeof(packed.data)};
	assert_int_equal(deflateInit2(&zlib, 9, Z_DEFLATED, MAX_WBITS + (is_gzip ? 16 : 0), 8,
				      Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	packed.n = zlib.total_out;
	assert_int_equal(deflateEnd(&zlib), Z_OK);
	put_message(&packet, 50, &packed);
	put_message(trace, 1, &packet);
}

/* Names that packets outside tell hold inside, and the other way round. */
static void compressed_packets_are_read_in_their_place(void **state)
{
	(void)state;
	for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
		struct bytes trace = {.n = 0}, inner = {.n = 0}, event = event_of(1, 5);
		struct bytes end = event_of(2, 5);
		put_packet(&trace, 10, 11, &event);
		put_packet(&inner, 20, 11, &end);
		put_packet(&inner, 30, 11, &event);
		put_compressed(&trace, &inner, is_gzip != 0);
		put_packet(&trace, 40, 11, &end);
		const struct taken *taken = walk(&trace);
		assert_int_equal(taken->n, 4);
		assert_int_equal(taken->n_dropped, 0);
		assert_false(taken->has_fault);
		for (size_t i = 0; i < 4; i++) {
			assert_int_equal(taken->events[i].ts_ns, 10 * (i + 1));
			assert_int_equal(taken->events[i].phase, "BEBE"[i]);
		}
	}
}

/* Each byte of the packed ones changed, or left out at the end: the events around are read. */
static void broken_compressed_packets_are_dropped(void **state)
{
	struct bytes trace = {.n = 0}, inner = {.n = 0}, nested = {.n = 0}, event = event_of(1, 5);
	(void)state;
	put_packet(&inner, 20, 11, &event);
	put_compressed(&nested, &inner, false);
	put_packet(&nested, 25, 11, &event);
	put_compressed(&trace, &nested, false); /* compressed ones in compressed ones */
	put_packet(&trace, 30, 11, &event);
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 2);
	assert_int_equal(taken->n_dropped, 1);
	trace.n = 0;
	put_compressed(&trace, &inner, false);
	size_t n = trace.n;
	put_packet(&trace, 30, 11, &event);
	for (size_t i = 6; i < n; i++) { /* behind the tags and lengths */
		trace.data[i] ^= 0x55;
		taken = walk(&trace);
		assert_true(taken->n >= 1 && taken->n + taken->n_dropped >= 2);
		assert_false(taken->has_fault);
		trace.data[i] ^= 0x55;
	}
}

/* A block of zeros that is too long is dropped, and a file of many such blocks is a bomb. */
static void blocks_that_unpack_without_bound_are_refused(void **state)
{
	enum { ZEROS = 17 << 20, ROOM = 128 * 1024 };
	static char zeros[ZEROS], packed[ROOM], trace[8 * ROOM];
	struct bytes field = {.n = 0}, tag = {.n = 0}, event = event_of(1, 5), last = {.n = 0};
	uLong n_packed = ROOM;
	(void)state;
	assert_int_equal(compress2((Bytef *)packed, &n_packed, (Bytef *)zeros, ZEROS, 9), Z_OK);
	put_varint(&field, 50 << 3 | 2);
	put_varint(&field, n_packed);
	put_varint(&tag, 1 << 3 | 2);
	put_varint(&tag, field.n + n_packed);
	put_packet(&last, 30, 11, &event);
	for (size_t n_blocks = 1; n_blocks <= 5; n_blocks += 4) {
		size_t n = 0;
		for (size_t i = 0; i < n_blocks; i++) {
			memcpy(trace + n, tag.data, tag.n);
			memcpy(trace + n + tag.n, field.data, field.n);
			memcpy(trace + n + tag.n + field.n, packed, n_packed);
			n += tag.n + field.n + n_packed;
		}
		memcpy(trace + n, last.data, last.n);
		const struct taken *taken = walk_reader(memory_reader(trace, n + last.n));
		assert_int_equal(taken->has_fault, n_blocks > 1);
		assert_int_equal(taken->n, n_blocks > 1 ? 0 : 1);
		assert_int_equal(taken->n_dropped, n_blocks > 1 ? 3 : 1);
	}
}

/* A small file of packed packets that are alike, packed once more: what comes out of both counts.
 */
static void packed_packets_in_a_packed_file_are_bounded_by_its_size(void **state)
{
	enum { BLOCK = 64 * 1024, ODD = 600, N_BLOCKS = 1050, ROOM = 1 << 20 };
	static char block[BLOCK], packed[BLOCK], trace[ROOM];
	struct bytes field = {.n = 0}, tag = {.n = 0};
	uLong n_packed = sizeof(packed);
	size_t n = 0;
	(void)state;
	for (size_t i = 0; i < ODD; i++) {
		block[i] = (char)(i * i * i * 31 % 251);
	}
	assert_int_equal(compress2((Bytef *)packed, &n_packed, (Bytef *)block, BLOCK, 9), Z_OK);
	assert_true(BLOCK / n_packed < FSL_UNPACKED_RATIO_MAX);
	put_varint(&field, 50 << 3 | 2);
	put_varint(&field, n_packed);
	put_varint(&tag, 1 << 3 | 2);
	put_varint(&tag, field.n + n_packed);
	for (size_t i = 0; i < N_BLOCKS; i++) {
		assert_true(n + tag.n + field.n + n_packed <= ROOM);
		memcpy(trace + n, tag.data, tag.n);
		memcpy(trace + n + tag.n, field.data, field.n);
		memcpy(trace + n + tag.n + field.n, packed, n_packed);
		n += tag.n + field.n + n_packed;
	}
	assert_true((size_t)N_BLOCKS * BLOCK / n < FSL_UNPACKED_RATIO_MAX); /* no bomb by itself */
	struct blob file = gzip_of(trace, n);
	assert_true(walk_reader(memory_reader(file.data, file.n_bytes))->has_fault);
	free(file.data);
}

static void sequences_that_take_turns_keep_their_names_apart(void **state)
{
	static const char *const texts[] = {"first", "second", "third"};
	struct bytes trace = {.n = 0};
	(void)state;
	for (uint64_t id = 0; id < 3; id++) {
		struct bytes names_of = interned(2, 7, texts[id]);
		put_packet_of(&trace, 1000 - id, 0, 12, &names_of);
	}
	for (uint64_t i = 0; i < 9; i++) {
		struct bytes event = event_of(1, 5);
		put_packet_of(&trace, 1000 - i * 2 % 3, 10 + i, 11, put(&event, 10, 7));
	}
	const struct taken *taken = walk(&trace);
	assert_int_equal(taken->n, 9);
	for (size_t i = 0; i < 9; i++) {
		assert_string_equal(taken->names[i], texts[i * 2 % 3]);
	}
}

/* Values of a track of counters, whole, real, and ones that are none. */
static void counters_have_the_name_of_their_track(void **state)
{
	static const double reals[] = {2.5, -1.0, 1e300, (double)NAN};
	struct bytes trace = {.n = 0}, track = {.n = 0};
	(void)state;
	put_text(put(&track, 1, 77), 2, "nvltx__bytes.sum");
	put_text(&track, 8, "");
	put_packet(&trace, 5, 60, &track);
	struct bytes whole = event_of(4, 77);
	put(&whole, 30, 12);
	put_packet(&trace, 10, 11, &whole);
	for (size_t i = 0; i < 4; i++) {
		struct bytes real = event_of(4, 77);
		put_varint(&real, 44 << 3 | 1);
		memcpy(real.data + real.n, &reals[i], sizeof(reals[i]));
		real.n += sizeof(reals[i]);
		put_packet(&trace, 20 + i, 11, &real);
	}
	vocabulary.wants_counters = true;
	const struct taken *taken = walk(&trace);
	vocabulary.wants_counters = false;
	assert_int_equal(taken->n, 6);
	for (size_t i = 1; i < 6; i++) {
		assert_int_equal(taken->events[i].phase, 'C');
		assert_string_equal(taken->names[i], "nvltx__bytes.sum");
		assert_int_equal(taken->events[i].n_counters, i < 3);
	}
	assert_int_equal(taken->events[1].counters[0].millionths, 12000000);
	assert_int_equal(taken->events[2].counters[0].millionths, 2500000);
}

static void a_cut_trace_tells_its_events_and_a_fault(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, event = event_of(1, 5);
	put_packet(&trace, 10, 11, &event);
	size_t n_first = trace.n;
	put_packet(&trace, 20, 11, &event);
	size_t n = trace.n;
	for (trace.n = n_first; trace.n <= n; trace.n++) {
		const struct taken *taken = walk(&trace);
		bool is_whole = trace.n == n_first || trace.n == n;
		assert_int_equal(taken->n, trace.n == n ? 2 : 1);
		assert_int_equal(taken->has_fault, !is_whole);
	}
}

static void traces_are_told_from_json_and_text(void **state)
{
	(void)state;
	struct bytes trace = {.n = 0}, event = event_of(1, 5);
	put_packet(&trace, 10, 11, &event);
	put_packet(&trace, 20, 11, &event);
	assert_true(fsl_pftrace_is(trace.data, trace.n));
	assert_true(fsl_pftrace_is(trace.data, trace.n - 3));
	assert_false(
		fsl_pftrace_is("\n{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a long name of "
			       "an event that fills the bytes of a packet\", \"ts\": 1, "
			       "\"dur\": 2, \"pid\": 3}, {\"ph\"",
			       160));
	assert_false(fsl_pftrace_is("{}", 2));
	assert_false(fsl_pftrace_is("", 0));
	assert_false(fsl_pftrace_is("\n", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_and_tracks_are_events),
		cmocka_unit_test(names_are_told_before_they_are_used_and_forgotten_when_cleared),
		cmocka_unit_test(args_come_alone_or_in_dictionaries),
		cmocka_unit_test(clocks_of_a_sequence_count_from_packet_to_packet),
		cmocka_unit_test(a_clock_that_nothing_relates_tells_no_time),
		cmocka_unit_test(broken_packets_are_dropped_and_others_are_read),
		cmocka_unit_test(compressed_packets_are_read_in_their_place),
		cmocka_unit_test(broken_compressed_packets_are_dropped),
		cmocka_unit_test(blocks_that_unpack_without_bound_are_refused),
		cmocka_unit_test(packed_packets_in_a_packed_file_are_bounded_by_its_size),
		cmocka_unit_test(sequences_that_take_turns_keep_their_names_apart),
		cmocka_unit_test(counters_have_the_name_of_their_track),
		cmocka_unit_test(a_cut_trace_tells_its_events_and_a_fault),
		cmocka_unit_test(traces_are_told_from_json_and_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
