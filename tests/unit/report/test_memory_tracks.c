/* Device memory as tracks and as call paths: what is written, and want of memory at every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "fuzz/memory_reader.h"
#include "report/trace/memory_stacks.h"
#include "report/trace/memory_tracks.h"

/* Pointer 1 of 5 bytes in step 1 by b.so+0x2 and a.so+0x1, pointer 2 of 6 bytes in step 3 by a
 * library whose name needs escapes; pointer 1 is freed in step 4. */
static const char records[] = "\x12\x1a\x08\x01\x10\x01\x20\x05\x2a\x08\x08\x01\x12\x04"
			      "a.so"
			      "\x2a\x08\x08\x02\x12\x04"
			      "b.so"
			      "\x12\x10\x08\x02\x10\x03\x20\x06\x2a\x08\x08\x0a\x12\x04"
			      "\"\x01;\xff"
			      "\x1a\x04\x08\x01\x10\x04";

static bool is_wanted(const void *context, int64_t rank)
{
	return rank == *(const int64_t *)context;
}

/* The texts of both forms of call paths, and a plan with the tracks. */
struct made {
	struct fsl_memory memory;
	struct fsl_memory_replay replays[2];
	char *folded, *speedscope;
	size_t n_folded, n_speedscope;
	struct fsl_track_plan *plan;
};

static enum fsl_status fill(struct made *made, int64_t rank)
{
	const struct fsl_memory_stacks stacks = {&made->memory, made->replays, is_wanted, &rank};
	const struct fsl_memory_tracks tracks = {
		.memory = &made->memory, .replays = made->replays, .begin_ns = 0};
	FILE *folded = open_memstream(&made->folded, &made->n_folded);
	FILE *speedscope = open_memstream(&made->speedscope, &made->n_speedscope);
	assert_non_null(folded);
	assert_non_null(speedscope);
	enum fsl_status status = fsl_memory_write_folded(folded, &stacks, NULL);
	FSL_THEN(status, fsl_memory_write_speedscope(speedscope, &stacks, NULL));
	FSL_THEN(status, fsl_memory_tracks_add(made->plan, &tracks, stacks.is_wanted, &rank, NULL));
	assert_int_equal(fclose(folded), 0);
	assert_int_equal(fclose(speedscope), 0);
	return status;
}

/* Two processes of rank 3. */
static enum fsl_status make(struct made *made, int64_t rank)
{
	struct fsl_reader *readers[2];
	*made = (struct made){.plan = fsl_track_plan_create()};
	for (int i = 0; i < 2; i++) {
		readers[i] = memory_reader(records, sizeof(records) - 1);
	}
	enum fsl_status status = made->plan != NULL && readers[0] != NULL && readers[1] != NULL
					 ? fsl_memory_init(&made->memory, NULL)
					 : FSL_ERR_MEMORY;
	for (int i = 0; i < 2; i++) {
		FSL_THEN(status, fsl_memory_read(&made->memory, readers[i],
						 "hbm_trace_trace_rank3_7.pb", NULL));
		FSL_THEN(status,
			 fsl_memory_replay(&made->replays[i], &made->memory.items[i], NULL));
		if (readers[i] != NULL) {
			fsl_reader_close(readers[i]);
		}
	}
	FSL_THEN(status, fill(made, rank));
	return status;
}

static void drop(struct made *made)
{
	for (int i = 0; i < 2; i++) {
		fsl_memory_replay_fini(&made->replays[i]);
	}
	fsl_memory_fini(&made->memory);
	fsl_track_plan_destroy(made->plan);
	free(made->folded);
	free(made->speedscope);
}

static void call_paths_hold_their_bytes(void **state)
{
	(void)state;
	struct made made;
	assert_int_equal(make(&made, 3), FSL_OK);
	assert_string_equal(made.folded, "rank 3;\"?:\xff+0xa 6\nrank 3;b.so+0x2;a.so+0x1 5\n"
					 "rank 3;\"?:\xff+0xa 6\nrank 3;b.so+0x2;a.so+0x1 5\n");
	assert_non_null(strstr(made.speedscope, "{\"name\":\"\\\"?:\xef\xbf\xbd+0xa\"}"));
	assert_non_null(strstr(made.speedscope,
			       "\"rank 3: held at the peak\",\"unit\":\"bytes\",\"samples\":[[2],"
			       "[0,1]],\"weights\":[6,5],\"startValue\":0,\"endValue\":11}"));
	assert_non_null(strstr(made.speedscope,
			       "\"rank 3: never freed\",\"unit\":\"bytes\",\"samples\":[[2]],"
			       "\"weights\":[6],\"startValue\":0,\"endValue\":6}"));
	assert_int_equal(fsl_track_plan_begin_ns(made.plan), 0);
	drop(&made);
}

static void other_ranks_are_left_out(void **state)
{
	(void)state;
	struct made made;
	assert_int_equal(make(&made, 4), FSL_OK);
	assert_string_equal(made.folded, "");
	assert_null(strstr(made.speedscope, "\"type\""));
	assert_int_equal(fsl_track_plan_begin_ns(made.plan), FSL_NS_ABSENT);
	drop(&made);
}

static void want_of_memory_is_told_at_every_place(void **state)
{
	(void)state;
	enum { PLACES_MAX = 2000 };
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 0;
	while (status != FSL_OK && nth < PLACES_MAX) {
		struct made made;
		fsl_mem_fail_at(++nth);
		status = make(&made, 3);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		drop(&made);
	}
	assert_in_range(nth, 20, PLACES_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_paths_hold_their_bytes),
		cmocka_unit_test(other_ranks_are_left_out),
		cmocka_unit_test(want_of_memory_is_told_at_every_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
