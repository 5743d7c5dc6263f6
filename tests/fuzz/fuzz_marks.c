/* Any bytes as what an earlier run left: no crash, and what is accepted is packed and accepted
 * again, and can be begun at. */
#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/mark_take.h"

/* Begins at each mark of a file, in an empty one, or @is_behind all of what a tail has. */
static void restore(const struct fsl_file_marks *file, bool is_behind)
{
	for (size_t i = 0; i < file->n_marks; i++) {
		struct fsl_file read = {.path = "fuzz", .message = ""};
		struct fsl_sink sink;
		const struct fsl_mark *from = &file->marks[i];
		const struct fsl_mark *end = &file->marks[file->n_marks - 1];
		struct fsl_mark_taker taker = {.period_ns = 1, .old = file, .from = from};
		taker.at = is_behind && from->is_in_tail ? end : from;
		FSL_REQUIRE(fsl_sink_init(&sink, &read, NULL) == FSL_OK);
		struct fsl_marker_pairs *pairs = fsl_marker_pairs_create(&sink);
		sink.taker = &taker;
		if (pairs != NULL && fsl_mark_restore(&sink, pairs, NULL) == FSL_OK) {
			(void)fsl_marker_pairs_finish(pairs, NULL);
		}
		fsl_marker_pairs_destroy(pairs);
		fsl_sink_fini(&sink);
		fsl_mark_taker_fini(&taker);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_marks marks = {0}, again = {0};
	struct fsl_pack pack = {0};
	if (fsl_marks_unpack(&marks, data, n_bytes, NULL) != FSL_OK) {
		FSL_REQUIRE(marks.files == NULL && marks.n_files == 0);
		return 0;
	}
	fsl_marks_pack(&marks, &pack);
	FSL_REQUIRE(!pack.is_failed);
	FSL_REQUIRE(fsl_marks_unpack(&again, pack.bytes, pack.n_bytes, NULL) == FSL_OK);
	for (size_t i = 0; i < marks.n_files; i++) {
		restore(&marks.files[i], false);
		restore(&marks.files[i], true);
	}
	fsl_marks_fini(&again);
	fsl_marks_fini(&marks);
	fsl_pack_fini(&pack);
	return 0;
}
