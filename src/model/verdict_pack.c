/* Packing of verdicts. Each field of the structs has a line in a table here, which is used in both
 * directions. The asserts fail if a field is added without a line. */
#include "model/verdict_pack.h"

#include <string.h>

#include "base/log.h"

enum {
	VERDICT_MAGIC = 0x34565346, /* "FSV4"; changes with the layout of the bytes */
	TEXT_BYTES_MAX = 1 << 26,   /* a list of FSL_RANKS_MAX ranks in words takes 8 MB */
	ROWS_MAX = 1 << 26,         /* of one list: some metrics of each of FSL_RANKS_MAX ranks */
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_localisation) == 568 + FSL_DROPS_N * 8,
	       "fields of a verdict travel, but for the notes of chapters and the kernel trace");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_replay_summary) == 96, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_coverage) == 216 + FSL_DROPS_N * 8,
	       "fields of a coverage travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_detail) == 80, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_kpi_point) == 24, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_culprit) == 120 + FSL_FACTS_MAX * 24,
	       "fields of a culprit travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_fact) == 24, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_suspect) == 32, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_whatif) == 32, "fields travel");

enum kind {
	KIND_RANK,  /* int32_t: -1 or a rank, or a count that ranks bound */
	KIND_BELOW, /* an enum or int in [0, field.n_values) */
	KIND_BOOL,  /* one byte, 0 or 1 */
	KIND_SIZE,  /* size_t */
	KIND_BITS,  /* 64 bits of any meaning: a double keeps its NaN */
	KIND_TEXT,
	KIND_TEXT_OR_NULL,
};

static const size_t n_bytes_min[] = {
	[KIND_RANK] = 4, [KIND_BELOW] = 4, [KIND_BOOL] = 1,         [KIND_SIZE] = 8,
	[KIND_BITS] = 8, [KIND_TEXT] = 4,  [KIND_TEXT_OR_NULL] = 1,
};

/* One field of a struct. */
struct field {
	size_t offset, n_bytes;
	enum kind kind;
	uint32_t n_values;
};

#define BELOW(type, member, n_values)                                                              \
	{                                                                                          \
		offsetof(struct type, member), sizeof(((struct type *)0)->member), KIND_BELOW,     \
			(n_values)                                                                 \
	}
#define FIELD(type, member, kind)                                                                  \
	{                                                                                          \
		offsetof(struct type, member), sizeof(((struct type *)0)->member), kind, 0         \
	}

static const struct field verdict_fields[] = {
	BELOW(fsl_localisation, result_code, 501), /* is_result checks the value further */
	FIELD(fsl_localisation, compute, KIND_BOOL),
	FIELD(fsl_localisation, network, KIND_BOOL),
	FIELD(fsl_localisation, storage, KIND_BOOL),
	FIELD(fsl_localisation, error_message, KIND_TEXT_OR_NULL),
	BELOW(fsl_localisation, kind, FSL_VERDICTS_N),
	FIELD(fsl_localisation, confidence, KIND_BITS),
	FIELD(fsl_localisation, fault_ns, KIND_BITS),
	FIELD(fsl_localisation, slowdown, KIND_BITS),
	FIELD(fsl_localisation, step_ms, KIND_BITS),
	FIELD(fsl_localisation, lost_ms_per_step, KIND_BITS),
	FIELD(fsl_localisation, is_loss_replayed, KIND_BOOL),
	FIELD(fsl_localisation, lacks_peers, KIND_BOOL),
	FIELD(fsl_localisation, reason, KIND_TEXT_OR_NULL),
	FIELD(fsl_localisation, algorithm, KIND_TEXT_OR_NULL),
	FIELD(fsl_localisation, is_suppressed, KIND_BOOL),
	FIELD(fsl_localisation, suppressed_since_ns, KIND_BITS),
};
static const struct field detail_fields[] = {
	FIELD(fsl_detail, rank, KIND_RANK),
	FIELD(fsl_detail, server_ip, KIND_TEXT_OR_NULL),
	FIELD(fsl_detail, kpi_id, KIND_TEXT_OR_NULL),
	BELOW(fsl_detail, method, FSL_METHOD_LACK + 1),
	FIELD(fsl_detail, is_abnormal, KIND_BOOL),
};
static const struct field kpi_fields[] = {
	FIELD(fsl_kpi_point, timestamp_ms, KIND_BITS),
	FIELD(fsl_kpi_point, value, KIND_BITS),
	FIELD(fsl_kpi_point, abnormal, KIND_BOOL),
};
static const struct field culprit_fields[] = {
	FIELD(fsl_culprit, rank, KIND_RANK),
	FIELD(fsl_culprit, peer, KIND_RANK),
	FIELD(fsl_culprit, is_uplink, KIND_BOOL),
	FIELD(fsl_culprit, stage, KIND_RANK),
	FIELD(fsl_culprit, server_ip, KIND_TEXT_OR_NULL),
	BELOW(fsl_culprit, cause, FSL_CAUSES_N),
	BELOW(fsl_culprit, other_cause, FSL_CAUSES_N + 1),
	FIELD(fsl_culprit, lost_ms_per_step, KIND_BITS),
	FIELD(fsl_culprit, share_of_loss, KIND_BITS),
	FIELD(fsl_culprit, onset_step, KIND_BITS),
	FIELD(fsl_culprit, onset_ns, KIND_BITS),
	FIELD(fsl_culprit, until_step, KIND_BITS),
	BELOW(fsl_culprit, shape, FSL_SHAPES_N),
	FIELD(fsl_culprit, every_steps, KIND_BITS),
	FIELD(fsl_culprit, confidence, KIND_BITS),
	FIELD(fsl_culprit, reason, KIND_TEXT_OR_NULL),
};
static const struct field fact_fields[] = {
	FIELD(fsl_fact, name, KIND_TEXT),
	FIELD(fsl_fact, value, KIND_BITS),
	FIELD(fsl_fact, unit, KIND_TEXT),
};
static const struct field suspect_fields[] = {
	FIELD(fsl_suspect, rank, KIND_RANK),
	FIELD(fsl_suspect, late_ms_per_step, KIND_BITS),
	FIELD(fsl_suspect, detector, KIND_TEXT_OR_NULL),
	FIELD(fsl_suspect, reason, KIND_TEXT_OR_NULL),
};
static const struct field replay_fields[] = {
	FIELD(fsl_replay_summary, is_on, KIND_BOOL),
	FIELD(fsl_replay_summary, is_trusted, KIND_BOOL),
	FIELD(fsl_replay_summary, doubt, KIND_TEXT_OR_NULL),
	FIELD(fsl_replay_summary, n_steps, KIND_SIZE),
	FIELD(fsl_replay_summary, error_median, KIND_BITS),
	FIELD(fsl_replay_summary, error_p95, KIND_BITS),
	FIELD(fsl_replay_summary, error_mean, KIND_BITS),
	FIELD(fsl_replay_summary, slowdown_all, KIND_BITS),
	FIELD(fsl_replay_summary, worst_ranks_share, KIND_BITS),
	FIELD(fsl_replay_summary, last_stage_share, KIND_BITS),
	FIELD(fsl_replay_summary, culprits_share, KIND_BITS),
};
static const struct field whatif_fields[] = {
	BELOW(fsl_whatif, kind, FSL_WHATIFS_N),
	FIELD(fsl_whatif, name, KIND_TEXT_OR_NULL),
	FIELD(fsl_whatif, gain_ms, KIND_BITS),
	FIELD(fsl_whatif, cost_ms, KIND_BITS),
};
static const struct field coverage_fields[] = {
	FIELD(fsl_coverage, n_ranks_expected, KIND_SIZE),
	FIELD(fsl_coverage, n_ranks_seen, KIND_SIZE),
	FIELD(fsl_coverage, n_files, KIND_BITS),
	FIELD(fsl_coverage, n_files_unusable, KIND_BITS),
	FIELD(fsl_coverage, n_files_partial, KIND_BITS),
	FIELD(fsl_coverage, n_bytes, KIND_BITS),
	FIELD(fsl_coverage, n_records, KIND_BITS),
	FIELD(fsl_coverage, n_bytes_before, KIND_BITS),
	FIELD(fsl_coverage, n_bytes_behind, KIND_BITS),
	FIELD(fsl_coverage, begin_ns, KIND_BITS),
	FIELD(fsl_coverage, end_ns, KIND_BITS),
	FIELD(fsl_coverage, n_steps, KIND_SIZE),
	FIELD(fsl_coverage, steps_source, KIND_TEXT_OR_NULL),
	FIELD(fsl_coverage, n_groups, KIND_SIZE),
	FIELD(fsl_coverage, n_groups_matched, KIND_SIZE),
	FIELD(fsl_coverage, n_groups_disagreeing, KIND_SIZE),
	FIELD(fsl_coverage, ends_disagree_ms, KIND_BITS),
	FIELD(fsl_coverage, n_instances, KIND_BITS),
	FIELD(fsl_coverage, n_instances_matched, KIND_BITS),
	FIELD(fsl_coverage, n_p2p, KIND_BITS),
	FIELD(fsl_coverage, n_p2p_matched, KIND_BITS),
	FIELD(fsl_coverage, clock_offset_max_ms, KIND_BITS),
	FIELD(fsl_coverage, clock_residual_ms, KIND_BITS),
};

/* The fields of one struct, without its arrays. */
struct table {
	const struct field *fields;
	size_t n_fields, n_row_bytes;
};

#define TABLE(list, type)                                                                          \
	{                                                                                          \
		list, sizeof(list) / sizeof((list)[0]), sizeof(struct type)                        \
	}

static const struct table verdict_table = TABLE(verdict_fields, fsl_localisation);
static const struct table detail_table = TABLE(detail_fields, fsl_detail);
static const struct table kpi_table = TABLE(kpi_fields, fsl_kpi_point);
static const struct table culprit_table = TABLE(culprit_fields, fsl_culprit);
static const struct table fact_table = TABLE(fact_fields, fsl_fact);
static const struct table suspect_table = TABLE(suspect_fields, fsl_suspect);
static const struct table replay_table = TABLE(replay_fields, fsl_replay_summary);
static const struct table whatif_table = TABLE(whatif_fields, fsl_whatif);
static const struct table coverage_table = TABLE(coverage_fields, fsl_coverage);

static const struct fsl_pack_field RANK_SHAPE = {sizeof(int32_t), sizeof(int32_t)};
static const struct fsl_pack_field DROP_SHAPE = {sizeof(uint64_t), sizeof(uint64_t)};

static void pack_text_or_null(struct fsl_pack *pack, const char *text)
{
	fsl_pack_u8(pack, text != NULL);
	if (text != NULL) {
		fsl_pack_text(pack, text);
	}
}

/* The field at @at in its own width; @at may be unaligned. */
union value {
	uint8_t byte;
	uint32_t word;
	size_t size;
	uint64_t bits;
	const char *text;
};

static void pack_field(struct fsl_pack *pack, const struct field *field, const char *row)
{
	union value value = {0};
	FSL_REQUIRE(field->n_bytes <= sizeof(value));
	memcpy(&value, row + field->offset, field->n_bytes);
	switch (field->kind) {
	case KIND_RANK:
	case KIND_BELOW:
		fsl_pack_u32(pack, value.word);
		break;
	case KIND_BOOL:
		fsl_pack_u8(pack, value.byte);
		break;
	case KIND_SIZE:
		fsl_pack_u64(pack, value.size);
		break;
	case KIND_BITS:
		fsl_pack_u64(pack, value.bits);
		break;
	case KIND_TEXT:
		fsl_pack_text(pack, value.text);
		break;
	case KIND_TEXT_OR_NULL:
		pack_text_or_null(pack, value.text);
		break;
	}
}

static void pack_row(struct fsl_pack *pack, const struct table *table, const void *row)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		pack_field(pack, &table->fields[i], row);
	}
}

static void pack_rows(struct fsl_pack *pack, const struct table *table, const void *rows, size_t n)
{
	fsl_pack_u64(pack, n);
	for (size_t i = 0; i < n; i++) {
		pack_row(pack, table, (const char *)rows + i * table->n_row_bytes);
	}
}

static void pack_ranks(struct fsl_pack *pack, const int32_t *ranks, size_t n)
{
	fsl_pack_u64(pack, n);
	fsl_pack_column(pack, ranks, RANK_SHAPE, n);
}

static void pack_details(struct fsl_pack *pack, const struct fsl_detail *details, size_t n)
{
	pack_rows(pack, &detail_table, details, n);
	for (size_t i = 0; i < n; i++) {
		const struct fsl_detail *detail = &details[i];
		pack_ranks(pack, detail->rela_ranks, detail->n_rela_ranks);
		pack_ranks(pack, detail->omitted_ranks, detail->n_omitted_ranks);
		pack_rows(pack, &kpi_table, detail->kpi, detail->n_kpi);
	}
}

static void pack_culprits(struct fsl_pack *pack, const struct fsl_culprit *culprits, size_t n)
{
	pack_rows(pack, &culprit_table, culprits, n);
	for (size_t i = 0; i < n; i++) {
		pack_rows(pack, &fact_table, culprits[i].evidence, culprits[i].n_evidence);
	}
}

static void pack_coverage(struct fsl_pack *pack, const struct fsl_coverage *coverage)
{
	pack_row(pack, &coverage_table, coverage);
	fsl_pack_column(pack, coverage->n_dropped, DROP_SHAPE, FSL_DROPS_N);
	pack_ranks(pack, coverage->missing_ranks, coverage->n_missing_ranks);
	fsl_pack_u64(pack, coverage->n_skipped);
	for (size_t i = 0; i < coverage->n_skipped; i++) {
		fsl_pack_text(pack, coverage->skipped[i]);
	}
}

enum fsl_status fsl_localisation_pack(const struct fsl_localisation *localisation,
				      struct fsl_pack *pack, struct fsl_error *err)
{
	const struct fsl_replay_summary *replay = &localisation->replay;
	fsl_pack_u32(pack, VERDICT_MAGIC);
	pack_row(pack, &verdict_table, localisation);
	pack_details(pack, localisation->abnormal, localisation->n_abnormal);
	pack_details(pack, localisation->normal, localisation->n_normal);
	pack_culprits(pack, localisation->culprits, localisation->n_culprits);
	pack_rows(pack, &suspect_table, localisation->victims, localisation->n_victims);
	pack_rows(pack, &suspect_table, localisation->unconfirmed, localisation->n_unconfirmed);
	pack_row(pack, &replay_table, replay);
	pack_rows(pack, &whatif_table, replay->whatifs, replay->n_whatifs);
	pack_coverage(pack, &localisation->coverage);
	if (pack->is_failed) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: packed_bytes=%zu",
				pack->n_bytes);
	}
	return FSL_OK;
}

/* The bytes, and the arena for their texts and arrays. If memory is short, the bytes are marked
 * bad, too, so that all reading stops; the caller checks once, at the end. */
struct source {
	struct fsl_unpack unpack;
	struct fsl_arena *arena;
	bool is_short;
};

static void refuse_unless(struct source *source, bool is_sound)
{
	source->unpack.is_bad = source->unpack.is_bad || !is_sound;
}

/* Returns @memory and marks the source bad if an allocation failed. */
static void *have(struct source *source, void *memory)
{
	source->is_short = source->is_short || memory == NULL;
	refuse_unless(source, memory != NULL);
	return memory;
}

static const char *unpack_text(struct source *source)
{
	size_t n = 0;
	const char *text = fsl_unpack_text(&source->unpack, TEXT_BYTES_MAX, &n);
	return source->unpack.is_bad ? NULL
				     : have(source, fsl_arena_strndup(source->arena, text, n));
}

/* Reads a byte that must be 0 or 1. */
static bool unpack_bool(struct source *source)
{
	uint8_t value = fsl_unpack_u8(&source->unpack);
	refuse_unless(source, value <= 1);
	return value == 1;
}

static bool is_rank(int32_t rank)
{
	return rank >= FSL_RANK_UNKNOWN && rank < FSL_RANKS_MAX;
}

static void unpack_field(struct source *source, const struct field *field, char *row)
{
	union value value = {0};
	uint64_t bits = 0;
	switch (field->kind) {
	case KIND_RANK:
		value.word = fsl_unpack_u32(&source->unpack);
		refuse_unless(source, is_rank((int32_t)value.word));
		break;
	case KIND_BELOW:
		value.word = fsl_unpack_u32(&source->unpack);
		refuse_unless(source, value.word < field->n_values);
		break;
	case KIND_BOOL:
		value.byte = unpack_bool(source);
		break;
	case KIND_SIZE:
		bits = fsl_unpack_u64(&source->unpack);
		refuse_unless(source, bits <= SIZE_MAX);
		value.size = (size_t)bits;
		break;
	case KIND_BITS:
		value.bits = fsl_unpack_u64(&source->unpack);
		break;
	case KIND_TEXT:
		value.text = unpack_text(source);
		break;
	case KIND_TEXT_OR_NULL:
		value.text = unpack_bool(source) ? unpack_text(source) : NULL;
		break;
	}
	if (!source->unpack.is_bad) {
		memcpy(row + field->offset, &value, field->n_bytes);
	}
}

static void unpack_row(struct source *source, const struct table *table, void *row)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		unpack_field(source, &table->fields[i], row);
	}
}

/* Reads the @n rows after a count into zeroed memory. */
static void unpack_rows(struct source *source, const struct table *table, void *rows, size_t n)
{
	for (size_t i = 0; i < n && !source->unpack.is_bad; i++) {
		unpack_row(source, table, (char *)rows + i * table->n_row_bytes);
	}
}

static size_t unpack_count(struct source *source, const struct table *table, size_t n_max)
{
	size_t n_bytes = 0;
	for (size_t i = 0; i < table->n_fields; i++) {
		n_bytes += n_bytes_min[table->fields[i].kind];
	}
	return fsl_unpack_count(&source->unpack, n_max, n_bytes);
}

/* Arena memory for @n elements; NULL for none. */
static void *allocate(struct source *source, size_t n, size_t size)
{
	return n > 0 ? have(source, fsl_arena_calloc(source->arena, n, size)) : NULL;
}

/* Reads an array into the arena. */
static void *unpack_array(struct source *source, const struct table *table, size_t *n_rows)
{
	size_t n = unpack_count(source, table, ROWS_MAX);
	void *rows = allocate(source, n, table->n_row_bytes);
	if (rows != NULL) {
		unpack_rows(source, table, rows, n);
		*n_rows = n;
	}
	return rows;
}

/* One of the growing arrays of the verdict. */
struct list {
	void **items;
	size_t *n, *capacity;
};

#define LIST(owner, field)                                                                         \
	((struct list){(void **)&(owner)->field, &(owner)->n_##field, &(owner)->field##_capacity})

static void unpack_list(struct source *source, const struct table *table, struct list list)
{
	size_t n = unpack_count(source, table, ROWS_MAX);
	if (n == 0) {
		return;
	}
	if (fsl_reserve(list.items, list.capacity, n, table->n_row_bytes, NULL) != FSL_OK) {
		(void)have(source, NULL);
		return;
	}
	memset(*list.items, 0, n * table->n_row_bytes);
	unpack_rows(source, table, *list.items, n);
	*list.n = n;
}

static int32_t *unpack_ranks(struct source *source, size_t *n_ranks)
{
	size_t n = fsl_unpack_count(&source->unpack, FSL_RANKS_MAX, 1);
	int32_t *ranks = allocate(source, n, sizeof(*ranks));
	if (ranks == NULL) {
		return NULL;
	}
	fsl_unpack_column(&source->unpack, ranks, RANK_SHAPE, n);
	for (size_t i = 0; i < n; i++) {
		refuse_unless(source, is_rank(ranks[i]));
	}
	*n_ranks = n;
	return ranks;
}

static void unpack_details(struct source *source, struct list list)
{
	unpack_list(source, &detail_table, list);
	struct fsl_detail *details = *list.items;
	for (size_t i = 0; i < *list.n && !source->unpack.is_bad; i++) {
		struct fsl_detail *detail = &details[i];
		detail->rela_ranks = unpack_ranks(source, &detail->n_rela_ranks);
		detail->omitted_ranks = unpack_ranks(source, &detail->n_omitted_ranks);
		detail->kpi = unpack_array(source, &kpi_table, &detail->n_kpi);
	}
}

static void unpack_culprits(struct source *source, struct fsl_localisation *out)
{
	unpack_list(source, &culprit_table, LIST(out, culprits));
	for (size_t i = 0; i < out->n_culprits && !source->unpack.is_bad; i++) {
		struct fsl_culprit *culprit = &out->culprits[i];
		culprit->n_evidence = unpack_count(source, &fact_table, FSL_FACTS_MAX);
		unpack_rows(source, &fact_table, culprit->evidence, culprit->n_evidence);
	}
}

/* Adds one by one, so that the array has the capacity that a later addition expects. */
static void unpack_skipped(struct source *source, struct fsl_coverage *coverage)
{
	size_t n_skipped = fsl_unpack_count(&source->unpack, ROWS_MAX, sizeof(uint32_t));
	for (size_t i = 0; i < n_skipped && !source->unpack.is_bad; i++) {
		size_t n = 0;
		const char *text = fsl_unpack_text(&source->unpack, TEXT_BYTES_MAX, &n);
		if (fsl_coverage_add_skipped(coverage, source->arena, NULL, "%.*s", (int)n, text) !=
		    FSL_OK) {
			(void)have(source, NULL);
		}
	}
}

static void unpack_coverage(struct source *source, struct fsl_coverage *coverage)
{
	unpack_row(source, &coverage_table, coverage);
	fsl_unpack_column(&source->unpack, coverage->n_dropped, DROP_SHAPE, FSL_DROPS_N);
	coverage->missing_ranks = unpack_ranks(source, &coverage->n_missing_ranks);
	unpack_skipped(source, coverage);
}

static bool is_result(int code)
{
	return code == 200 || code == 201 || code == 500;
}

/* Reads in the order of fsl_localisation_pack. */
static void unpack_verdict(struct source *source, struct fsl_localisation *out)
{
	refuse_unless(source, fsl_unpack_u32(&source->unpack) == VERDICT_MAGIC);
	unpack_row(source, &verdict_table, out);
	refuse_unless(source, is_result(out->result_code));
	unpack_details(source, LIST(out, abnormal));
	unpack_details(source, LIST(out, normal));
	unpack_culprits(source, out);
	unpack_list(source, &suspect_table, LIST(out, victims));
	unpack_list(source, &suspect_table, LIST(out, unconfirmed));
	unpack_row(source, &replay_table, &out->replay);
	out->replay.whatifs = unpack_array(source, &whatif_table, &out->replay.n_whatifs);
	unpack_coverage(source, &out->coverage);
	refuse_unless(source, fsl_unpack_is_done(&source->unpack));
}

enum fsl_status fsl_localisation_unpack(struct fsl_localisation *out, const void *bytes,
					size_t n_bytes, struct fsl_error *err)
{
	struct source source = {.unpack = {.at = bytes, .n_left = n_bytes}, .arena = &out->arena};
	unpack_verdict(&source, out);
	if (!source.unpack.is_bad) {
		return FSL_OK;
	}
	fsl_localisation_fini(out);
	fsl_localisation_init(out);
	return source.is_short
		       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: packed_bytes=%zu", n_bytes)
		       : FSL_FAIL(err, FSL_ERR_FORMAT, "not the bytes of a verdict: bytes=%zu",
				  n_bytes);
}
