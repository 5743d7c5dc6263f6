/* Random files of one rank as collectors write and spoil them: rows lost, doubled and out of order,
 * ids that begin again, and what else may stand between. */
#ifndef FSL_TESTS_UNIT_SOURCE_ROW_DOCUMENTS_H
#define FSL_TESTS_UNIT_SOURCE_ROW_DOCUMENTS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/random_text.h"
#include "tree.h"

enum {
	ROWS_MAX = 512,
	ROWS_TEXT_MAX = 128 * 1024,
	ROWS_BASE_NS = 1000000000,
	ROWS_PERIOD_NS = 200000,
};

struct rows_row {
	int64_t order_ns; /* when it is written */
	int64_t time_ns;
	uint64_t id;
	int flag;
	bool is_device;
	const char *name;
};

struct rows_list {
	struct rows_row items[ROWS_MAX];
	size_t n;
};

struct rows_text {
	char bytes[ROWS_TEXT_MAX];
	size_t n;
};

static inline bool rows_chance(uint64_t *random, size_t one_in)
{
	return random_below(random, one_in) == 0;
}

__attribute__((format(printf, 2, 3))) static inline void rows_print(struct rows_text *text,
								    const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->bytes + text->n, ROWS_TEXT_MAX - text->n, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < ROWS_TEXT_MAX - text->n);
	text->n += (size_t)n;
}

/* What kinds of trouble a document has; each is there in some. */
struct rows_trouble {
	bool has_losses, has_doubles, has_disorder, has_restart, has_turns, is_host_only;
};

static inline struct rows_trouble rows_trouble_of(uint64_t *random)
{
	return (struct rows_trouble){
		.has_losses = rows_chance(random, 2),
		.has_doubles = rows_chance(random, 3),
		.has_disorder = rows_chance(random, 2),
		.has_restart = rows_chance(random, 3),
		.has_turns = rows_chance(random, 3),
		.is_host_only = rows_chance(random, 8),
	};
}

static inline void rows_add(struct rows_list *rows, struct rows_row row,
			    const struct rows_trouble *trouble, uint64_t *random)
{
	size_t n = trouble->has_losses && rows_chance(random, 25) ? 0 : 1;
	n += trouble->has_doubles && rows_chance(random, 25) ? 1 : 0;
	row.order_ns = row.time_ns;
	if (trouble->has_disorder) {
		row.order_ns += (int64_t)random_below(random, 60) * 1000;
	}
	for (; n > 0 && rows->n < ROWS_MAX; n--) {
		rows->items[rows->n++] = row;
		row.order_ns += (int64_t)random_below(random, 400) * 1000;
	}
}

static inline int rows_compare(const void *left, const void *right)
{
	const struct rows_row *a = left, *b = right;
	return (a->order_ns > b->order_ns) - (a->order_ns < b->order_ns);
}

/* Rows of a buffer that was written out twice. */
static inline void rows_write_twice(struct rows_list *rows, uint64_t *random)
{
	size_t n = 1 + random_below(random, 40);
	size_t at = random_below(random, rows->n + 1);
	n = at + n <= rows->n ? n : rows->n - at;
	if (rows->n + n <= ROWS_MAX) {
		memmove(&rows->items[at + n], &rows->items[at],
			(rows->n - at) * sizeof(rows->items[0]));
		rows->n += n;
	}
}

static inline void rows_rows_make(struct rows_list *rows, uint64_t *random)
{
	static const char *const names[] = {
		"comm:HcclAllReduce!tp0!bfp16!4096",
		"comm:HcclAllGather!dp0!fp32!128",
		"comm:HcclReduceScatter!dp0!fp32!7",
		"HcclSend!pp1!int8!1",
		"no operator at all",
		"comm:HcclAllReduce!tp0!bfp16!64",
	};
	const struct rows_trouble trouble = rows_trouble_of(random);
	int64_t at_ns = ROWS_BASE_NS;
	uint64_t id = 1 + random_below(random, 5);
	rows->n = 0;
	for (size_t n_ops = 1 + random_below(random, 80); n_ops > 0; n_ops--) {
		uint64_t own = id++ ^ (trouble.has_turns ? 1U : 0U);
		const char *name = names[random_below(random, 6)];
		int64_t device_ns = at_ns + (int64_t)random_below(random, 90) * 1000;
		rows_add(rows, (struct rows_row){0, at_ns, own, 16, false, name}, &trouble, random);
		rows_add(rows, (struct rows_row){0, at_ns + 2000, own, 32, false, ""}, &trouble,
			 random);
		if (!trouble.is_host_only) {
			int64_t end_ns = device_ns + (int64_t)random_below(random, 50) * 1000;
			rows_add(rows, (struct rows_row){0, device_ns, own, 16, true, ""}, &trouble,
				 random);
			rows_add(rows, (struct rows_row){0, end_ns, own, 32, true, ""}, &trouble,
				 random);
		}
		at_ns += (int64_t)random_below(random, rows_chance(random, 20) ? 900 : 40) * 1000;
		id = trouble.has_restart && rows_chance(random, 40) ? 1 : id;
		id += rows_chance(random, 20) ? 3 : 0;
	}
	qsort(rows->items, rows->n, sizeof(rows->items[0]), rows_compare);
	if (rows_chance(random, 4)) {
		rows_write_twice(rows, random);
	}
}

static inline void rows_csv_oddity(struct rows_text *text, const char *end, uint64_t *random)
{
	switch (random_below(random, 7)) {
	case 0:
		rows_print(text, "%s", end);
		break;
	case 5: /* rows that are none: they stand in a name */
		rows_print(text, "16,2,1,\"%s", end);
		for (size_t n = random_below(random, 40); n > 0; n--) {
			rows_print(text, "16,9,1,comm:HcclSend!p!int8!1,0,%d,0,0,0,0%s",
				   ROWS_BASE_NS, end);
		}
		rows_print(text, "\",0,%d,0,0,0,0%s", ROWS_BASE_NS, end);
		break;
	case 1:
		rows_print(text, "16,nothing,1,,0,77,0,0,0,0%s", end);
		break;
	case 2:
		rows_print(text, "%.*s%s", (int)strlen(MARKER_HEADER) - 1, MARKER_HEADER, end);
		break;
	case 3:
		rows_print(text, "16,3%s", end);
		break;
	case 4:
		rows_print(text, "16,\"3,1%s", end);
		break;
	default:
		rows_print(text, "16,2,1,\"comm:HcclSend!p,\"\"p!int8!1\",0,%d,0,0,0,0%s",
			   ROWS_BASE_NS + (int)random_below(random, 900) * 1000, end);
	}
}

static inline void rows_csv_make(struct rows_text *text, uint64_t *random)
{
	static struct rows_list rows;
	const char *end = rows_chance(random, 3) ? "\r\n" : "\n";
	bool has_oddities = rows_chance(random, 2);
	rows_rows_make(&rows, random);
	text->n = 0;
	rows_print(text, "%s%.*s%s", rows_chance(random, 4) ? "\xEF\xBB\xBF" : "",
		   (int)strlen(MARKER_HEADER) - 1, MARKER_HEADER, end);
	for (size_t i = 0; i < rows.n; i++) {
		const struct rows_row *row = &rows.items[i];
		if (has_oddities && rows_chance(random, 15)) {
			rows_csv_oddity(text, end, random);
		}
		rows_print(text, "%d,%llu,1,%s,%d,%lld,0,0,4242,4242%s", row->flag,
			   (unsigned long long)row->id, row->name, row->is_device ? 1 : 0,
			   (long long)row->time_ns, end);
	}
	text->n -= rows_chance(random, 4) ? strlen(end) : 0;
}

/* What a dead process, or a strange writer, leaves between two objects. */
static inline void rows_json_oddity(struct rows_text *text, uint64_t *random)
{
	switch (random_below(random, 7)) {
	case 0:
		rows_print(text,
			   "{\"Flag\":16,\"Id\":\"nothing\",\"SourceKind\":0,\"Timestamp\":5},");
		break;
	case 1:
		rows_print(text, "{\"Flag\":16,\"Id\":3,\"Name\":\"cut");
		rows_print(text, "\n[");
		break;
	case 2:
		rows_print(text, "{\"Flag\":16,\n[");
		break;
	case 3:
		rows_print(text, "12, true, ");
		break;
	case 4:
		rows_print(text,
			   "{\"Id\":12345, \"Timestamp\" : %d, \"More\":[{\"x\":1}],\n"
			   "\"SourceKind\":1,\"Flag\":16},",
			   ROWS_BASE_NS + (int)random_below(random, 900) * 1000);
		break;
	case 5:
		rows_print(text,
			   "[{\"Flag\":16,\"Id\":3,\"Name\":\"\",\"SourceKind\":0,"
			   "\"Timestamp\":%d}],",
			   ROWS_BASE_NS + (int)random_below(random, 900) * 1000);
		break;
	default:
		rows_print(text, "] 7 [");
	}
}

static inline void rows_json_make(struct rows_text *text, uint64_t *random)
{
	static const char *const betweens[] = {",", ", ", ",\n", ",\r\n  "};
	static const char *const flushes[] = {"]\n[", "][", "]\r\n[\n"};
	static struct rows_list rows;
	const char *between = betweens[random_below(random, 4)];
	const char *flush = flushes[random_below(random, 3)];
	bool has_oddities = rows_chance(random, 2);
	rows_rows_make(&rows, random);
	text->n = 0;
	rows_print(text, "%s[", rows_chance(random, 4) ? "\xEF\xBB\xBF" : "");
	for (size_t i = 0; i < rows.n; i++) {
		const struct rows_row *row = &rows.items[i];
		if (has_oddities && rows_chance(random, 25)) {
			rows_json_oddity(text, random);
		}
		rows_print(text,
			   "{\"Flag\":%d,\"Id\":%llu,\"Kind\":1,\"Name\":\"%s\","
			   "\"SourceKind\":%d,\"Timestamp\":%lld}",
			   row->flag, (unsigned long long)row->id, row->name,
			   row->is_device ? 1 : 0, (long long)row->time_ns);
		rows_print(text, "%s",
			   i + 1 == rows.n           ? "]"
			   : rows_chance(random, 12) ? flush
						     : between);
	}
	rows_print(text, "%s", rows_chance(random, 2) ? "\n" : "");
	text->n -= rows_chance(random, 4) ? 1 + random_below(random, 20) : 0;
}

static inline void rows_varint(struct rows_text *text, uint64_t value)
{
	assert_true(text->n + 10 < ROWS_TEXT_MAX);
	for (; value >= 0x80; value >>= 7) {
		text->bytes[text->n++] = (char)((value & 0x7F) | 0x80);
	}
	text->bytes[text->n++] = (char)value;
}

static inline void rows_field(struct rows_text *text, unsigned number, const char *bytes, size_t n)
{
	rows_varint(text, number << 3 | 2);
	rows_varint(text, n);
	assert_true(text->n + n < ROWS_TEXT_MAX);
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
}

static inline void rows_stage(struct rows_text *text, uint64_t at_us, uint64_t *random)
{
	static const char *const types[] = {"forward_step", "backward_step", "GC",
					    "torch.utils.data.dataloader@x", "odd"};
	static struct rows_text stage;
	const char *type = types[random_below(random, 5)];
	stage.n = 0;
	rows_varint(&stage, 1 << 3);
	rows_varint(&stage, random_below(random, 300));
	rows_field(&stage, 2, type, strlen(type));
	rows_varint(&stage, 3 << 3);
	rows_varint(&stage, at_us);
	if (!rows_chance(random, 15)) { /* one that never ended */
		rows_varint(&stage, 4 << 3);
		rows_varint(&stage, at_us + random_below(random, 90));
	}
	if (rows_chance(random, 2)) {
		static const char *const frames[] = {"f@f.py:1", "g@g.py:2", "odd"};
		const char *frame = frames[random_below(random, 3)];
		rows_field(&stage, 5, frame, strlen(frame));
		rows_field(&stage, 6, "\x08\x11", 2); /* 17 objects */
	}
	if (rows_chance(random, 20)) {
		stage.n -= 1; /* broken */
	}
	rows_field(text, 1, stage.bytes, stage.n);
}

static inline void rows_timeline_make(struct rows_text *text, uint64_t *random)
{
	uint64_t at_us = ROWS_BASE_NS / 1000;
	text->n = 0;
	for (size_t n = 1 + random_below(random, 150); n > 0; n--) {
		rows_stage(text, at_us, random);
		at_us += random_below(random, rows_chance(random, 20) ? 900 : 40);
		at_us -= rows_chance(random, 10) ? random_below(random, 100) : 0;
		if (rows_chance(random, 20)) {
			rows_varint(text, 2 << 3); /* the rank */
			rows_varint(text, random_below(random, 9));
		}
		if (rows_chance(random, 20)) {
			rows_field(text, 4, "the job", 7);
		}
	}
	if (rows_chance(random, 4)) {
		rows_print(text, "\x07what is this, and how much of it is there");
	}
}

static inline void rows_nccl_make(struct rows_text *text, uint64_t *random)
{
	const char *end = rows_chance(random, 3) ? "\r\n" : "\n";
	uint64_t at_us = ROWS_BASE_NS / 1000;
	text->n = 0;
	rows_print(text, "kernel,t1,t2,t3,t4,step%s", end);
	for (size_t n = 1 + random_below(random, 150); n > 0; n--) {
		const char *kernel = rows_chance(random, 2) ? "ncclAllReduce(a, b)" : "Send";
		rows_print(text, "%s,%llu,%llu,%llu.5,%llu.25,%d%s", kernel,
			   (unsigned long long)at_us, (unsigned long long)at_us + 2,
			   (unsigned long long)at_us + 1,
			   (unsigned long long)at_us + random_below(random, 60), 3, end);
		at_us += random_below(random, rows_chance(random, 20) ? 900 : 40);
		at_us -= rows_chance(random, 10) ? random_below(random, 100) : 0;
		if (rows_chance(random, 20)) {
			rows_print(text, "%s%s", rows_chance(random, 2) ? "kernel,7,x" : "", end);
		}
	}
	text->n -= rows_chance(random, 4) ? strlen(end) : 0;
}

#endif
