/* Marks travel from one run to the next as bytes, and broken bytes are refused. */
#include "tree.h"

#include "base/mem.h"
#include "fuzz/random_text.h"
#include "source/mark.h"

enum { ROUNDS = 4000 };

/* Marks with something in every field. */
static void fill(struct fsl_marks *marks)
{
	static const char *names[] = {"comm:HcclSend!g!int8!1", ""};
	static struct fsl_marker_pending pending[] = {
		{7, {1000, -1}, {-1, -1}, 0, true, false, false},
		{9, {-1, -1}, {-1, 2000}, UINT32_MAX, true, true, false},
	};
	static struct fsl_id_run used[] = {{1, 6}, {8, 8}, {UINT64_MAX - 3, UINT64_MAX}};
	static struct fsl_mark mark[2];
	static struct fsl_file_marks files[2];
	mark[0] = (struct fsl_mark){
		.first_ns = 0,
		.boundary_ns = 5000,
		.place = {UINT64_C(1) << 40, 77, 3},
		.fingerprint = 99,
		.state = FSL_FILE_PARTIAL,
		.message = "broken rows were left out",
		.n_records = 12,
		.n_dropped = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		.last_event_ns = 4321,
		.rank = 3,
		.is_restarted = true,
		.has_events = true,
		.n_names = 2,
		.pairs = {pending, 2, 256, used, 3, 1234, 9, true, true},
	};
	mark[1] = (struct fsl_mark){
		.first_ns = 6000, .boundary_ns = INT64_MAX, .message = "", .rank = -1};
	mark[0].is_in_tail = mark[1].is_in_tail = true;
	mark[0].events = (struct fsl_event_counts){1, 0, 2};
	mark[1].events = (struct fsl_event_counts){7, 3, 2};
	files[0] = (struct fsl_file_marks){
		.path = "a/b",
		.device = 5,
		.inode = 6,
		.n_bytes = 7,
		.head_fingerprint = 8,
		.kind = FSL_INPUT_TIMELINE,
		.is_ignored = true,
		.is_bare = true,
		.is_packed = true,
		.format = "mspti_csv",
		.last = {5432, 6543},
		.names = names,
		.n_names = 2,
		.marks = mark,
		.n_marks = 2,
		.tail = {.n = {7, 3, 2},
			 .segments = {{{4, 3, 2}, 4096, 11}, {{3, 0, 0}, 12345, 12}},
			 .n_segments = 2}};
	files[1] = (struct fsl_file_marks){.path = "a/c", .format = ""};
	*marks =
		(struct fsl_marks){.files = files, .n_files = 2, .period_ns = 1000, .lead_ns = 300};
}

static struct fsl_pack pack_of(const struct fsl_marks *marks)
{
	struct fsl_pack pack = {0};
	fsl_marks_pack(marks, &pack);
	assert_false(pack.is_failed);
	return pack;
}

static void every_field_travels(void **state)
{
	(void)state;
	struct fsl_marks marks, again = {0};
	fill(&marks);
	struct fsl_pack pack = pack_of(&marks);
	assert_int_equal(fsl_marks_unpack(&again, pack.bytes, pack.n_bytes, NULL), FSL_OK);
	const struct fsl_mark *mark = &again.files[0].marks[0];
	assert_int_equal(again.files[0].kind, FSL_INPUT_TIMELINE);
	assert_string_equal(mark->message, "broken rows were left out");
	assert_int_equal(mark->pairs.pending[1].end_ns[1], 2000);
	assert_true(mark->pairs.pending[1].is_backwards && mark->pairs.pending[1].is_used);
	assert_int_equal(mark->n_dropped[FSL_DROPS_N - 1], 10);
	assert_true(mark[1].is_in_tail && mark[1].events.n_ops == 7);
	assert_int_equal(again.files[0].tail.segments[1].checksum, 12);
	assert_int_equal(again.files[0].tail.n.n_remnants, 3);
	struct fsl_pack twice = pack_of(&again);
	assert_int_equal(twice.n_bytes, pack.n_bytes);
	assert_memory_equal(twice.bytes, pack.bytes, pack.n_bytes);
	fsl_pack_fini(&twice);
	fsl_pack_fini(&pack);
	fsl_marks_fini(&again);
}

/* Refused, and nothing is left; or sound, and packed to as many bytes. */
static void unpack_spoilt(const unsigned char *bytes, size_t n_bytes)
{
	struct fsl_marks marks = {0};
	unsigned char *exact = malloc(n_bytes > 0 ? n_bytes : 1);
	assert_non_null(exact);
	memcpy(exact, bytes, n_bytes);
	enum fsl_status status = fsl_marks_unpack(&marks, exact, n_bytes, NULL);
	free(exact);
	assert_true(status == FSL_OK || status == FSL_ERR_FORMAT);
	if (status == FSL_OK) {
		struct fsl_pack pack = pack_of(&marks);
		fsl_pack_fini(&pack);
	} else {
		assert_true(marks.files == NULL && marks.n_files == 0);
	}
	fsl_marks_fini(&marks);
}

static void cut_bytes_are_refused(void **state)
{
	(void)state;
	struct fsl_marks marks;
	fill(&marks);
	struct fsl_pack pack = pack_of(&marks);
	for (size_t n = 0; n < pack.n_bytes; n++) {
		struct fsl_marks again = {0};
		assert_int_equal(fsl_marks_unpack(&again, pack.bytes, n, NULL), FSL_ERR_FORMAT);
		unpack_spoilt(pack.bytes, n);
	}
	fsl_pack_fini(&pack);
}

static void spoilt_bytes_are_refused_or_sound(void **state)
{
	(void)state;
	struct fsl_marks marks;
	uint64_t random = 1;
	fill(&marks);
	struct fsl_pack pack = pack_of(&marks);
	unsigned char *copy = malloc(pack.n_bytes);
	assert_non_null(copy);
	for (size_t i = 0; i < pack.n_bytes; i++) {
		for (unsigned value = 0; value < 256; value += 15) { /* 0, 15 .. 255 */
			memcpy(copy, pack.bytes, pack.n_bytes);
			copy[i] = (unsigned char)value;
			unpack_spoilt(copy, pack.n_bytes);
		}
	}
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(copy, pack.bytes, pack.n_bytes);
		for (size_t n = 1 + random_below(&random, 8); n > 0; n--) {
			copy[random_below(&random, pack.n_bytes)] =
				(unsigned char)random_next(&random);
		}
		unpack_spoilt(copy, pack.n_bytes);
	}
	free(copy);
	fsl_pack_fini(&pack);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct fsl_marks marks;
	fill(&marks);
	struct fsl_pack pack = pack_of(&marks);
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		struct fsl_marks again = {0};
		fsl_mem_fail_at(nth);
		status = fsl_marks_unpack(&again, pack.bytes, pack.n_bytes, NULL);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		fsl_marks_fini(&again);
	}
	fsl_pack_fini(&pack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_travels),
		cmocka_unit_test(cut_bytes_are_refused),
		cmocka_unit_test(spoilt_bytes_are_refused_or_sound),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
