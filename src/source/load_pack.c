/* The message of a file that another process read. Each field of a struct that a format may fill
 * has its line here. The asserts fail if a field is added. */
#include "source/load_pack.h"

#include <string.h>

#include "base/try.h"

enum {
	LOAD_MAGIC = 0x344c5346, /* "FSL4"; another number when the message changes */
	BLOCK_ROWS = 512,        /* stay in the cache from the first of their columns to the last */
	MESSAGE_BYTES_MAX = 1 << 16,
	FORMAT_BYTES_MAX = 64,
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_op) == 64, "fields of an operator travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_stage) == 48, "fields of a stage travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_step_time) == 40, "fields travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_rank) == 160, "fields of a rank travel");
_Static_assert(sizeof(void *) != 8 || sizeof(struct fsl_file) == 64 + FSL_DROPS_N * 8,
	       "fields of a file travel");

/* One field of a struct as a column. */
struct column {
	size_t offset, n_bytes;
};

#define COLUMN(type, field)                                                                        \
	{                                                                                          \
		offsetof(struct type, field), sizeof(((struct type *)0)->field)                    \
	}

static const struct column op_columns[] = {
	COLUMN(fsl_op, host_begin_ns), COLUMN(fsl_op, host_end_ns), COLUMN(fsl_op, dev_begin_ns),
	COLUMN(fsl_op, dev_end_ns),    COLUMN(fsl_op, id),          COLUMN(fsl_op, n_elements),
	COLUMN(fsl_op, op_id),         COLUMN(fsl_op, group_id),    COLUMN(fsl_op, dtype_id),
	COLUMN(fsl_op, step),
};
static const struct column stage_columns[] = {
	COLUMN(fsl_stage, begin_ns),
	COLUMN(fsl_stage, end_ns),
	COLUMN(fsl_stage, step),
	COLUMN(fsl_stage, type_id),
	COLUMN(fsl_stage, kind),
	COLUMN(fsl_stage, frame),
	COLUMN(fsl_stage, stack),
	COLUMN(fsl_stage, n_collected),
	COLUMN(fsl_stage, n_uncollectable),
};
static const struct column step_columns[] = {
	COLUMN(fsl_step_time, step),      COLUMN(fsl_step_time, begin_ns),
	COLUMN(fsl_step_time, dur_ns),    COLUMN(fsl_step_time, data_ns),
	COLUMN(fsl_step_time, is_logged),
};

static bool is_time_or_absent(int64_t time_ns)
{
	return time_ns >= FSL_NS_ABSENT && time_ns <= FSL_TIME_MAX_NS;
}

static bool is_name(uint32_t id, size_t n_names)
{
	return id < n_names || id == FSL_STR_NONE;
}

/* Checks what the sink guarantees about times and ids: later code does not check them again. */
static bool are_remnants_sound(const void *rows, size_t n, size_t n_names)
{
	const struct fsl_op *ops = rows;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_op *op = &ops[i];
		if (!is_time_or_absent(op->host_begin_ns) || !is_time_or_absent(op->host_end_ns) ||
		    !is_time_or_absent(op->dev_begin_ns) || !is_time_or_absent(op->dev_end_ns) ||
		    !is_name(op->op_id, n_names) || !is_name(op->group_id, n_names) ||
		    !is_name(op->dtype_id, n_names)) {
			return false;
		}
	}
	return true;
}

static bool are_ops_sound(const void *rows, size_t n, size_t n_names)
{
	const struct fsl_op *ops = rows;
	for (size_t i = 0; i < n; i++) {
		int64_t begin_ns = fsl_op_begin_ns(&ops[i]);
		if (begin_ns < 0 || begin_ns > fsl_op_end_ns(&ops[i])) {
			return false;
		}
	}
	return are_remnants_sound(rows, n, n_names);
}

static bool are_stages_sound(const void *rows, size_t n, size_t n_names)
{
	const struct fsl_stage *stages = rows;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_stage *stage = &stages[i];
		if (!is_time_or_absent(stage->begin_ns) || !is_time_or_absent(stage->end_ns) ||
		    !is_name(stage->type_id, n_names) || (uint32_t)stage->kind >= FSL_STAGES_N ||
		    stage->frame > n_names || stage->stack > n_names) {
			return false;
		}
	}
	return true;
}

static bool are_steps_sound(const void *rows, size_t n, size_t n_names)
{
	const struct fsl_step_time *steps = rows;
	(void)n_names;
	for (size_t i = 0; i < n; i++) {
		if (!is_time_or_absent(steps[i].begin_ns) || steps[i].dur_ns < 0 ||
		    steps[i].dur_ns > FSL_TIME_MAX_NS || steps[i].data_ns < 0 ||
		    steps[i].data_ns > FSL_TIME_MAX_NS) {
			return false;
		}
	}
	return true;
}

/* The columns of one kind of row. */
struct table {
	const struct column *columns;
	size_t n_columns, n_row_bytes, n_rows_max;
	bool (*are_sound)(const void *rows, size_t n, size_t n_names);
};

#define TABLE(list, type, max, are_sound)                                                          \
	{                                                                                          \
		list, sizeof(list) / sizeof((list)[0]), sizeof(struct type), max, are_sound        \
	}

static const struct table op_table = TABLE(op_columns, fsl_op, FSL_SINK_OPS_MAX, are_ops_sound);
static const struct table remnant_table =
	TABLE(op_columns, fsl_op, FSL_SINK_OPS_MAX, are_remnants_sound);
static const struct table stage_table =
	TABLE(stage_columns, fsl_stage, FSL_SINK_STAGES_MAX, are_stages_sound);
static const struct table step_table =
	TABLE(step_columns, fsl_step_time, FSL_SINK_STEPS_MAX, are_steps_sound);

static size_t rows_of_block(size_t n_left)
{
	return n_left < BLOCK_ROWS ? n_left : BLOCK_ROWS;
}

static void pack_rows(struct fsl_pack *pack, const struct table *table, const void *rows, size_t n)
{
	fsl_pack_u64(pack, n);
	for (size_t begin = 0; begin < n; begin += BLOCK_ROWS) {
		const char *block = (const char *)rows + begin * table->n_row_bytes;
		for (size_t i = 0; i < table->n_columns; i++) {
			const struct column *column = &table->columns[i];
			const struct fsl_pack_field shape = {column->n_bytes, table->n_row_bytes};
			fsl_pack_column(pack, block + column->offset, shape,
					rows_of_block(n - begin));
		}
	}
}

static void pack_file(struct fsl_pack *pack, const struct fsl_file *file)
{
	fsl_pack_text(pack, file->format);
	fsl_pack_u32(pack, (uint32_t)file->rank);
	fsl_pack_u8(pack, (uint8_t)file->state);
	fsl_pack_u64(pack, file->n_bytes);
	fsl_pack_u64(pack, file->n_bytes_before);
	fsl_pack_u64(pack, file->n_bytes_behind);
	fsl_pack_u64(pack, file->n_records);
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		fsl_pack_u64(pack, file->n_dropped[i]);
	}
	fsl_pack_text(pack, file->message);
}

static void pack_names(struct fsl_pack *pack, const struct fsl_strpool *names)
{
	size_t n_names = fsl_strpool_size(names);
	fsl_pack_u64(pack, n_names);
	for (size_t i = 0; i < n_names; i++) {
		fsl_pack_text(pack, fsl_strpool_text(names, (uint32_t)i));
	}
}

/* is_rising is not packed: the receiver finds it itself. */
static void pack_events(struct fsl_pack *pack, const struct fsl_rank *events)
{
	fsl_pack_u32(pack, (uint32_t)events->rank);
	fsl_pack_u64(pack, (uint64_t)events->last_event_ns);
	fsl_pack_u64(pack, (uint64_t)events->finished_ns);
	fsl_pack_u8(pack, events->is_restarted);
	fsl_pack_u32(pack, events->n_restarts);
	fsl_pack_u32(pack, events->open_op_id);
	fsl_pack_u32(pack, events->open_group_id);
	fsl_pack_u64(pack, (uint64_t)events->open_begin_ns);
	pack_rows(pack, &op_table, events->ops, events->n_ops);
	pack_rows(pack, &remnant_table, events->remnants, events->n_remnants);
	pack_rows(pack, &stage_table, events->stages, events->n_stages);
	pack_rows(pack, &step_table, events->steps, events->n_steps);
}

enum fsl_status fsl_load_pack(const struct fsl_load *load, struct fsl_pack *pack,
			      struct fsl_error *err)
{
	fsl_pack_u32(pack, LOAD_MAGIC);
	fsl_pack_u8(pack, (uint8_t)load->kind);
	fsl_pack_u8(pack, load->is_ignored);
	pack_file(pack, &load->file);
	pack_names(pack, load->sink.names);
	pack_events(pack, &load->sink.events);
	if (pack->is_failed) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				load->input->path);
	}
	return FSL_OK;
}

void fsl_load_pack_answer(struct fsl_load *load)
{
	fsl_pack_u8(load->answer, 1);
	(void)fsl_load_pack(load, load->answer, NULL); /* the answer says it, too */
	fsl_sink_fini(&load->sink);
}

/* A value that has to be below @n; else the message is bad. */
static uint32_t below(struct fsl_unpack *unpack, uint32_t value, uint32_t n)
{
	unpack->is_bad = unpack->is_bad || value >= n;
	return unpack->is_bad ? 0 : value;
}

static int64_t unpack_time(struct fsl_unpack *unpack)
{
	int64_t time_ns = (int64_t)fsl_unpack_u64(unpack);
	unpack->is_bad = unpack->is_bad || !is_time_or_absent(time_ns);
	return time_ns;
}

static uint32_t unpack_name(struct fsl_unpack *unpack, size_t n_names)
{
	uint32_t id = fsl_unpack_u32(unpack);
	unpack->is_bad = unpack->is_bad || !is_name(id, n_names);
	return id;
}

static int32_t unpack_rank(struct fsl_unpack *unpack)
{
	int32_t rank = (int32_t)fsl_unpack_u32(unpack);
	unpack->is_bad = unpack->is_bad || rank < FSL_RANK_UNKNOWN || rank >= FSL_RANKS_MAX;
	return rank;
}

/* A block of rows, all of its columns. */
static void unpack_block(struct fsl_unpack *unpack, const struct table *table, char *rows, size_t n,
			 size_t n_names)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		const struct fsl_pack_field shape = {column->n_bytes, table->n_row_bytes};
		fsl_unpack_column(unpack, rows + column->offset, shape, n);
	}
	unpack->is_bad = unpack->is_bad || !table->are_sound(rows, n, n_names);
}

/* Array of a rank that receives the rows of one kind from a message. */
struct rows {
	void **items;
	size_t *n, *capacity;
};

static enum fsl_status unpack_rows(struct fsl_unpack *unpack, const struct table *table,
				   struct rows rows, size_t n_names)
{
	size_t n = fsl_unpack_count(unpack, table->n_rows_max, table->n_columns);
	if (n == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_reserve(rows.items, rows.capacity, n, table->n_row_bytes, NULL));
	for (size_t at = 0; !unpack->is_bad && at < n; at += BLOCK_ROWS) {
		char *block = (char *)*rows.items + at * table->n_row_bytes;
		unpack_block(unpack, table, block, rows_of_block(n - at), n_names);
	}
	*rows.n = !unpack->is_bad ? n : 0;
	return FSL_OK;
}

/* Returns a format's own name: the field is static text everywhere. */
static const char *unpack_format(struct fsl_unpack *unpack)
{
	size_t n = 0;
	const char *text = fsl_unpack_text(unpack, FORMAT_BYTES_MAX, &n);
	for (size_t i = 0; n > 0 && i < fsl_formats_size(); i++) {
		const char *name = fsl_formats_at(i)->name;
		if (strlen(name) == n && memcmp(name, text, n) == 0) {
			return name;
		}
	}
	unpack->is_bad = unpack->is_bad || n > 0;
	return "";
}

static enum fsl_status unpack_file(struct fsl_unpack *unpack, struct fsl_load *load)
{
	struct fsl_file *file = &load->file;
	size_t n_message = 0;
	file->format = unpack_format(unpack);
	file->rank = unpack_rank(unpack);
	file->state =
		(enum fsl_file_state)below(unpack, fsl_unpack_u8(unpack), FSL_FILE_DUPLICATE + 1);
	file->n_bytes = fsl_unpack_u64(unpack);
	file->n_bytes_before = fsl_unpack_u64(unpack);
	file->n_bytes_behind = fsl_unpack_u64(unpack);
	file->n_records = fsl_unpack_u64(unpack);
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		file->n_dropped[i] = fsl_unpack_u64(unpack);
	}
	const char *message = fsl_unpack_text(unpack, MESSAGE_BYTES_MAX, &n_message);
	file->message = fsl_arena_strndup(&load->sink.arena, message, n_message);
	return file->message != NULL ? FSL_OK : FSL_ERR_MEMORY;
}

/* Ids count from 0 in the order of the names, so no name may come twice. */
static enum fsl_status unpack_names(struct fsl_unpack *unpack, struct fsl_strpool *names)
{
	enum fsl_status status = FSL_OK;
	size_t n_names = fsl_unpack_count(unpack, FSL_SINK_NAMES_MAX, sizeof(uint32_t));
	for (size_t i = 0; status == FSL_OK && !unpack->is_bad && i < n_names; i++) {
		size_t n = 0;
		uint32_t id = 0;
		const char *text = fsl_unpack_text(unpack, FSL_NAME_BYTES_MAX, &n);
		status = fsl_strpool_intern(names, text, n, &id, NULL);
		unpack->is_bad = unpack->is_bad || id != i;
	}
	return status;
}

static enum fsl_status unpack_events(struct fsl_unpack *unpack, struct fsl_rank *events,
				     size_t n_names)
{
	events->rank = unpack_rank(unpack);
	events->last_event_ns = unpack_time(unpack);
	events->finished_ns = unpack_time(unpack);
	events->is_restarted = below(unpack, fsl_unpack_u8(unpack), 2) == 1;
	events->n_restarts = fsl_unpack_u32(unpack);
	events->open_op_id = unpack_name(unpack, n_names);
	events->open_group_id = unpack_name(unpack, n_names);
	events->open_begin_ns = unpack_time(unpack);
	const struct {
		const struct table *table;
		struct rows rows;
	} parts[] = {
		{&op_table, {(void **)&events->ops, &events->n_ops, &events->ops_capacity}},
		{&remnant_table,
		 {(void **)&events->remnants, &events->n_remnants, &events->remnants_capacity}},
		{&stage_table,
		 {(void **)&events->stages, &events->n_stages, &events->stages_capacity}},
		{&step_table, {(void **)&events->steps, &events->n_steps, &events->steps_capacity}},
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		FSL_TRY(unpack_rows(unpack, parts[i].table, parts[i].rows, n_names));
	}
	return FSL_OK;
}

static enum fsl_status unpack_load(struct fsl_load *load, struct fsl_unpack *unpack)
{
	unpack->is_bad = fsl_unpack_u32(unpack) != LOAD_MAGIC || unpack->is_bad;
	load->kind = (enum fsl_input_kind)below(unpack, fsl_unpack_u8(unpack), FSL_INPUT_LOG + 1);
	load->is_ignored = below(unpack, fsl_unpack_u8(unpack), 2) == 1;
	FSL_TRY(unpack_file(unpack, load));
	FSL_TRY(unpack_names(unpack, load->sink.names));
	FSL_TRY(unpack_events(unpack, &load->sink.events, fsl_strpool_size(load->sink.names)));
	return !fsl_unpack_is_done(unpack) ? FSL_ERR_FORMAT : FSL_OK;
}

enum fsl_status fsl_load_unpack(struct fsl_load *load, const void *message, size_t n_message,
				struct fsl_error *err)
{
	const char *path = load->input->path;
	struct fsl_unpack unpack = {.at = message, .n_left = n_message};
	load->file = (struct fsl_file){.path = path, .format = "", .message = ""};
	enum fsl_status status = fsl_sink_init(&load->sink, &load->file, err);
	if (status != FSL_OK) {
		return status;
	}
	status = unpack_load(load, &unpack);
	if (status == FSL_OK) {
		return FSL_OK;
	}
	fsl_sink_fini(&load->sink);
	load->file = (struct fsl_file){.path = path, .format = "", .message = ""};
	return status == FSL_ERR_MEMORY
		       ? FSL_FAIL(err, status, "out of memory: path=\"%s\"", path)
		       : FSL_FAIL(
				 err, FSL_ERR_FORMAT,
				 "what another process read of a file arrived broken: path=\"%s\", "
				 "bytes=%zu",
				 path, n_message);
}
