/* Records of device memory: reading, and the replay of allocations and frees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "fuzz/memory_reader.h"
#include "source/systrace/host_stack.h"
#include "source/systrace/memory_replay.h"

enum { N = 16 };

/* An event of a made-up process. n_bytes FSL_MEMORY_FREE: a free. */
struct event {
	uint64_t pointer;
	int64_t n_bytes;
	uint32_t step, path;
};

static struct fsl_memory_replay replayed(const struct event *events, size_t n)
{
	struct fsl_memory_record records[N];
	struct fsl_memory_replay replay;
	for (size_t i = 0; i < n; i++) {
		records[i] = (struct fsl_memory_record){.pointer = events[i].pointer,
							.n_bytes = events[i].n_bytes,
							.step = events[i].step,
							.path_id = events[i].path};
	}
	const struct fsl_memory_process process = {.records = records, .n_records = n};
	assert_int_equal(fsl_memory_replay(&replay, &process, NULL), FSL_OK);
	return replay;
}

static void expect_held(const struct event *events, const int64_t *held, size_t n)
{
	struct fsl_memory_replay replay = replayed(events, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(replay.held[i], held[i]);
	}
	fsl_memory_replay_fini(&replay);
}

static void frees_give_back_what_was_allocated(void **state)
{
	(void)state;
	const struct event events[] = {{1, 100, 0, 0}, {2, 50, 0, 0}, {1, -1, 1, 0},
				       {1, 7, 1, 0},   {2, -1, 2, 0}, {1, -1, 2, 0}};
	const int64_t held[] = {100, 150, 50, 57, 7, 0};
	expect_held(events, held, 6);
}

/* The recorder may write the free of another thread behind the next allocation. */
static void a_pointer_that_is_allocated_again_was_freed(void **state)
{
	(void)state;
	const struct event events[] = {
		{1, 100, 3, 0}, {1, 40, 3, 0}, {1, -1, 3, 0}, {2, 5, 4, 0}, {1, -1, 4, 0}};
	const int64_t held[] = {100, 40, 40, 45, 5};
	expect_held(events, held, 5);
}

/* The free of the first block got lost: a free of a later step is that of the second block. */
static void a_lost_free_makes_no_leak(void **state)
{
	(void)state;
	const struct event events[] = {{1, 100, 3, 0}, {1, 40, 5, 0}, {1, -1, 6, 0}};
	const int64_t held[] = {100, 40, 0};
	expect_held(events, held, 3);
}

static void a_free_in_front_of_its_allocation_counts(void **state)
{
	(void)state;
	const struct event events[] = {{9, -1, 4, 0}, {9, 100, 4, 0}, {8, -1, 2, 0}, {8, 30, 7, 0}};
	const int64_t held[] = {0, 0, 0, 30}; /* the free of 8 is of a block before the records */
	struct fsl_memory_replay replay = replayed(events, 4);
	assert_int_equal(replay.n_unknown_frees, 1);
	fsl_memory_replay_fini(&replay);
	expect_held(events, held, 4);
}

static void the_peak_has_its_holders(void **state)
{
	(void)state;
	for (int64_t scale = 1; scale <= 3; scale += 2) {
		const struct event events[] = {{1, 10 * scale, 0, 4},
					       {2, 30 * scale, 1, 5},
					       {3, 20 * scale, 1, 4},
					       {2, -1, 2, 0},
					       {4, 25 * scale, 2, 6}};
		struct fsl_memory_replay replay = replayed(events, 5);
		struct fsl_memory_holder *holders = NULL;
		size_t n = 0;
		assert_int_equal(replay.peak, 2);
		assert_int_equal(replay.peak_bytes, 60 * scale);
		assert_int_equal(
			fsl_memory_holders(&holders, &n, &replay, fsl_memory_is_at_peak, NULL),
			FSL_OK);
		assert_int_equal(n, 2);
		assert_int_equal(holders[0].n_bytes, 30 * scale);
		assert_int_equal(holders[1].n_bytes, 30 * scale);
		assert_int_equal(holders[0].path_id, 4);
		assert_int_equal(holders[0].n_blocks, 2);
		assert_int_equal(holders[0].n_steps, 2);
		fsl_free(holders);
		fsl_memory_replay_fini(&replay);
	}
}

static void blocks_of_the_last_steps_are_no_leak(void **state)
{
	(void)state;
	for (uint32_t last = 5; last <= 7; last++) {
		const struct event events[] = {
			{1, 10, 2, 4}, {2, 10, 3, 4}, {3, 10, last, 4}, {3, -1, last, 0}};
		struct fsl_memory_replay replay = replayed(events, 4);
		struct fsl_memory_holder *holders = NULL;
		size_t n = 0;
		assert_int_equal(
			fsl_memory_holders(&holders, &n, &replay, fsl_memory_may_leak, NULL),
			FSL_OK);
		assert_int_equal(n, last == 5 ? 0 : 1);
		assert_true(n == 0 || holders[0].n_blocks == last - 5);
		fsl_free(holders);
		fsl_memory_replay_fini(&replay);
	}
}

static void an_allocation_without_pointer_failed(void **state)
{
	(void)state;
	const struct event events[] = {{1, 10, 0, 4}, {0, 99, 1, 4}, {0, 98, 1, 4}, {0, 0, 2, 4}};
	struct fsl_memory_replay replay = replayed(events, 4);
	assert_int_equal(replay.n_failed, 2);
	assert_int_equal(replay.first_failed, 1);
	assert_int_equal(replay.failed_bytes, 99);
	assert_int_equal(replay.peak_bytes, 10);
	fsl_memory_replay_fini(&replay);
}

static void no_records_hold_nothing(void **state)
{
	(void)state;
	struct fsl_memory_replay replay = replayed(NULL, 0);
	struct fsl_memory_holder *holders = NULL;
	size_t n = 1;
	assert_int_equal(fsl_memory_holders(&holders, &n, &replay, fsl_memory_is_at_peak, NULL),
			 FSL_OK);
	assert_int_equal(n, 0);
	fsl_free(holders);
	fsl_memory_replay_fini(&replay);
}

/* Reads bytes as a file. */
static void read_bytes(struct fsl_memory *memory, const char *bytes, size_t n, const char *name)
{
	struct fsl_reader *reader = memory_reader(bytes, n);
	assert_non_null(reader);
	assert_int_equal(fsl_memory_init(memory, NULL), FSL_OK);
	assert_int_equal(fsl_memory_read(memory, reader, name, NULL), FSL_OK);
	fsl_reader_close(reader);
}

/* pointer 1 of 5 bytes in step 1 by b.so+0x2 and a.so+0x1; pointer 2 of 6 bytes in step 3; both are
 * freed, in steps 2 and 4; then pointer 1 of 7 bytes. */
static const char batch[] = "\x08\x04"
			    "\x12\x1a\x08\x01\x10\x01\x20\x05\x2a\x08\x08\x01\x12\x04"
			    "a.so"
			    "\x2a\x08\x08\x02\x12\x04"
			    "b.so"
			    "\x12\x06\x08\x02\x10\x03\x20\x06"
			    "\x1a\x04\x08\x01\x10\x02"
			    "\x1a\x04\x08\x02\x10\x04"
			    "\x12\x06\x08\x01\x10\x05\x20\x07";

static void a_batch_is_put_in_order_by_its_steps(void **state)
{
	(void)state;
	const int64_t expected[] = {5, FSL_MEMORY_FREE, 6, FSL_MEMORY_FREE, 7};
	struct fsl_memory memory;
	read_bytes(&memory, batch, sizeof(batch) - 1, "hbm_trace_x.pb");
	assert_int_equal(memory.n_items, 1);
	assert_int_equal(memory.items[0].rank, 4);
	assert_int_equal(memory.items[0].n_records, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(memory.items[0].records[i].n_bytes, expected[i]);
	}
	assert_string_equal(fsl_strpool_text(memory.paths, memory.items[0].records[0].path_id),
			    "b.so+0x2;a.so+0x1");
	assert_string_equal(fsl_strpool_text(memory.paths, memory.items[0].records[2].path_id),
			    "(no call path)");
	fsl_memory_fini(&memory);
}

static void every_cut_of_a_file_is_read_up_to_it(void **state)
{
	(void)state;
	size_t n_before = 0;
	for (size_t n = 0; n < sizeof(batch); n++) {
		struct fsl_memory memory;
		read_bytes(&memory, batch, n, "hbm_trace_trace_rank7_99.pb");
		assert_int_equal(memory.items[0].rank, 7);
		assert_true(memory.n_records >= n_before && memory.n_records <= n_before + 1);
		n_before = memory.n_records;
		fsl_memory_fini(&memory);
	}
	assert_int_equal(n_before, 5);
}

/* A path beyond the limit keeps its innermost frame. */
static void further_call_paths_keep_their_innermost_frame(void **state)
{
	(void)state;
	uint8_t name[] = "a.so";
	HostStackFrame innermost = HOST_STACK_FRAME__INIT, outermost = HOST_STACK_FRAME__INIT;
	HostStackFrame *frames[] = {&innermost, &outermost};
	struct fsl_strpool *paths = fsl_strpool_create();
	uint32_t id = 0;
	assert_non_null(paths);
	innermost.library = outermost.library = (ProtobufCBinaryData){sizeof(name) - 1, name};
	for (uint64_t i = 0; i < FSL_STACK_PATHS_MAX + 10; i++) {
		outermost.address = i;
		innermost.address = i % 2;
		assert_int_equal(fsl_host_stack_add(paths, frames, 2, &id, NULL), FSL_OK);
	}
	assert_string_equal(fsl_strpool_text(paths, id), "(further call paths);a.so+0x1");
	assert_int_equal(fsl_strpool_size(paths), FSL_STACK_PATHS_MAX + 2);
	outermost.address = 7;
	assert_int_equal(fsl_host_stack_add(paths, frames, 2, &id, NULL), FSL_OK);
	assert_string_equal(fsl_strpool_text(paths, id), "a.so+0x7;a.so+0x1");
	fsl_strpool_destroy(paths);
}

static void impossible_records_are_left_out(void **state)
{
	(void)state;
	static const char bytes[] =
		"\x12\x0b\x08\x01\x20\xff\xff\xff\xff\xff\xff\xff\x7f" /* too large */
		"\x12\x02\x08\x80"                                     /* no message */
		"\x12\x04\x08\x03\x20\x09";
	struct fsl_memory memory;
	read_bytes(&memory, bytes, sizeof(bytes) - 1, "hbm_trace_trace_rank0_1.pb");
	assert_int_equal(memory.n_dropped[FSL_DROP_MALFORMED], 2);
	assert_int_equal(memory.n_records, 1);
	fsl_memory_fini(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frees_give_back_what_was_allocated),
		cmocka_unit_test(a_pointer_that_is_allocated_again_was_freed),
		cmocka_unit_test(a_lost_free_makes_no_leak),
		cmocka_unit_test(a_free_in_front_of_its_allocation_counts),
		cmocka_unit_test(the_peak_has_its_holders),
		cmocka_unit_test(blocks_of_the_last_steps_are_no_leak),
		cmocka_unit_test(an_allocation_without_pointer_failed),
		cmocka_unit_test(no_records_hold_nothing),
		cmocka_unit_test(a_batch_is_put_in_order_by_its_steps),
		cmocka_unit_test(every_cut_of_a_file_is_read_up_to_it),
		cmocka_unit_test(further_call_paths_keep_their_innermost_frame),
		cmocka_unit_test(impossible_records_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
