/* What is kept of a long capture as bytes. */
#include <string.h>

#include "engine/kept_parts.h"
#include "model/verdict_pack.h"

enum {
	KEPT_MAGIC = 0x424b5346, /* "FSKB"; another number when the bytes change */
	CHAPTERS_MAX = 1 << 20,
	CHAPTER_BYTES_MIN = 110, /* times, steps, progress, singles, length of the verdict */
};

static void pack_chapter(struct fsl_pack *pack, const struct fsl_judged_chapter *chapter)
{
	fsl_pack_u64(pack, (uint64_t)chapter->time.begin_ns);
	fsl_pack_u64(pack, (uint64_t)chapter->time.end_ns);
	fsl_pack_u64(pack, chapter->n_steps);
	fsl_pack_u64(pack, chapter->n_ops);
	fsl_pack_u64(pack, chapter->n_before);
	fsl_pack_u8(pack, chapter->is_ordinal);
	fsl_pack_u8(pack, chapter->is_brief);
	fsl_progress_pack(&chapter->progress, pack);
	fsl_singles_pack(&chapter->singles, pack);
	fsl_pack_bytes(pack, chapter->packed.bytes, chapter->packed.n_bytes);
}

enum fsl_status fsl_kept_pack(const struct fsl_kept *kept, const struct fsl_chapters *chapters,
			      struct fsl_pack *pack, struct fsl_error *err)
{
	struct fsl_pack marks = {0};
	size_t n_closed = chapters->n_items - 1;
	enum fsl_status status = FSL_OK;
	fsl_marks_pack(&kept->now, &marks);
	fsl_pack_u32(pack, KEPT_MAGIC);
	fsl_pack_u64(pack, (uint64_t)chapters->rule.length_ns);
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
		fsl_pack_u64(pack, (uint64_t)chapters->wanted_ns[level]);
	}
	fsl_pack_u8(pack, chapters->has_ops_enough);
	fsl_pack_u32(pack, (uint32_t)chapters->step_hint.rank);
	fsl_pack_u64(pack, chapters->step_hint.n_ops);
	fsl_pack_u64(pack, (uint64_t)chapters->span.begin_ns);
	fsl_pack_u64(pack, n_closed);
	for (size_t k = 0; k < n_closed; k++) {
		pack_chapter(pack, &chapters->items[k]);
	}
	fsl_pack_u64(pack, kept->n_ranks);
	for (size_t r = 0; r < kept->n_ranks; r++) {
		fsl_pack_u32(pack, (uint32_t)kept->ranks[r].rank);
		fsl_pack_u64(pack, (uint64_t)kept->ranks[r].last_op_ns);
		fsl_pack_u64(pack, (uint64_t)kept->ranks[r].last_stage_ns);
	}
	fsl_pack_bytes(pack, marks.bytes, marks.n_bytes);
	if (pack->is_failed || marks.is_failed) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu", n_closed);
	}
	fsl_pack_fini(&marks);
	return status;
}

static enum fsl_status unpack_chapter(struct fsl_judged_chapter *out, struct fsl_arena *arena,
				      struct fsl_unpack *unpack, struct fsl_error *err)
{
	size_t n_bytes = 0;
	out->time.begin_ns = (int64_t)fsl_unpack_u64(unpack);
	out->time.end_ns = (int64_t)fsl_unpack_u64(unpack);
	out->n_steps = (size_t)fsl_unpack_u64(unpack);
	out->n_ops = (size_t)fsl_unpack_u64(unpack);
	out->n_before = (size_t)fsl_unpack_u64(unpack);
	out->is_ordinal = fsl_unpack_u8(unpack) != 0;
	out->is_brief = fsl_unpack_u8(unpack) != 0;
	enum fsl_status status = fsl_progress_unpack(&out->progress, unpack, arena, err);
	if (status == FSL_OK) {
		status = fsl_singles_unpack(&out->singles, unpack, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	const void *bytes = fsl_unpack_bytes(unpack, &n_bytes);
	if (unpack->is_bad || out->time.begin_ns >= out->time.end_ns) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "kept chapter is damaged");
	}
	fsl_pack_packed(&out->packed, bytes, n_bytes);
	return out->packed.is_failed
		       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", n_bytes)
		       : fsl_localisation_unpack(&out->verdict, bytes, n_bytes, err);
}

static enum fsl_status unpack_chapters(struct fsl_chapters *out, struct fsl_unpack *unpack,
				       struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	out->rule = fsl_chapter_rule_for((int64_t)fsl_unpack_u64(unpack));
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
		out->wanted_ns[level] = (int64_t)fsl_unpack_u64(unpack);
	}
	out->has_ops_enough = fsl_unpack_u8(unpack) != 0;
	out->step_hint.rank = (int32_t)fsl_unpack_u32(unpack);
	out->step_hint.n_ops = (size_t)fsl_unpack_u64(unpack);
	out->span.begin_ns = (int64_t)fsl_unpack_u64(unpack);
	size_t n = fsl_unpack_count(unpack, CHAPTERS_MAX, CHAPTER_BYTES_MIN);
	if (unpack->is_bad || out->rule.length_ns <= 0) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "kept chapters are damaged");
	}
	out->items = fsl_calloc(n, sizeof(*out->items));
	if (out->items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu", n);
	}
	for (size_t k = 0; k < n && status == FSL_OK; k++) {
		fsl_localisation_init(&out->items[k].verdict);
		out->n_items++;
		status = unpack_chapter(&out->items[k], &out->arena, unpack, err);
		bool is_next =
			k == 0 || out->items[k].time.begin_ns == out->items[k - 1].time.end_ns;
		if (status == FSL_OK && !is_next) {
			status = FSL_FAIL(err, FSL_ERR_FORMAT, "kept chapters are out of order");
		}
	}
	return status;
}

static bool is_time_or_absent(int64_t time_ns)
{
	return time_ns >= FSL_NS_ABSENT && time_ns <= FSL_TIME_MAX_NS;
}

static enum fsl_status unpack_ranks(struct fsl_kept *out, struct fsl_unpack *unpack,
				    struct fsl_error *err)
{
	enum { RANK_BYTES = 20 };
	size_t n = fsl_unpack_count(unpack, FSL_RANKS_MAX, RANK_BYTES);
	if (unpack->is_bad) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "kept ranks are damaged");
	}
	out->ranks = fsl_arena_alloc(&out->arena, n * sizeof(*out->ranks));
	if (out->ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	out->n_ranks = n;
	for (size_t r = 0; r < n; r++) {
		out->ranks[r].rank = (int32_t)fsl_unpack_u32(unpack);
		out->ranks[r].last_op_ns = (int64_t)fsl_unpack_u64(unpack);
		out->ranks[r].last_stage_ns = (int64_t)fsl_unpack_u64(unpack);
		if (!is_time_or_absent(out->ranks[r].last_op_ns) ||
		    !is_time_or_absent(out->ranks[r].last_stage_ns)) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "kept ranks have no such time");
		}
		if (r > 0 && out->ranks[r].rank <= out->ranks[r - 1].rank) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "kept ranks are out of order");
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_kept_unpack(struct fsl_kept *out, const void *bytes, size_t n_bytes,
				struct fsl_error *err)
{
	struct fsl_unpack unpack = {.at = bytes, .n_left = n_bytes};
	size_t n_marks = 0;
	if (fsl_unpack_u32(&unpack) != KEPT_MAGIC) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "nothing that this version kept");
	}
	enum fsl_status status = unpack_chapters(&out->chapters, &unpack, err);
	if (status == FSL_OK) {
		status = unpack_ranks(out, &unpack, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	const void *marks = fsl_unpack_bytes(&unpack, &n_marks);
	if (!fsl_unpack_is_done(&unpack)) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "kept marks are damaged");
	}
	return fsl_marks_unpack(&out->before, marks, n_marks, err);
}
