/* Random files of one rank as collectors write and spoil them: rows lost, doubled and out of order,
 * ids that begin again, and what else may stand between. */
#ifndef FSL_TESTS_UNIT_INGEST_MARKS_DOCUMENTS_H
#define FSL_TESTS_UNIT_INGEST_MARKS_DOCUMENTS_H

#include "fuzz/random_text.h"
#include "tree.h"

enum {
	MARKS_ROWS_MAX = 512,
	MARKS_TEXT_MAX = 128 * 1024,
	MARKS_BASE_NS = 1000000000,
	MARKS_PERIOD_NS = 200000,
};

struct marks_row {
	int64_t order_ns; /* when it is written */
	int64_t time_ns;
	uint64_t id;
	int flag;
	bool is_device;
	const char *name;
};

struct marks_rows {
	struct marks_row items[MARKS_ROWS_MAX];
	size_t n;
};

struct marks_text {
	char bytes[MARKS_TEXT_MAX];
	size_t n;
};

static inline bool marks_chance(uint64_t *random, size_t one_in)
{
	return random_below(random, one_in) == 0;
}

__attribute__((format(printf, 2, 3))) static inline void marks_print(struct marks_text *text,
								     const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->bytes + text->n, MARKS_TEXT_MAX - text->n, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < MARKS_TEXT_MAX - text->n);
	text->n += (size_t)n;
}

/* What kinds of trouble a document has; each is there in some. */
struct marks_trouble {
	bool has_losses, has_doubles, has_disorder, has_restart, has_turns, is_host_only;
};

static inline struct marks_trouble marks_trouble_of(uint64_t *random)
{
	return (struct marks_trouble){
		.has_losses = marks_chance(random, 2),
		.has_doubles = marks_chance(random, 3),
		.has_disorder = marks_chance(random, 2),
		.has_restart = marks_chance(random, 3),
		.has_turns = marks_chance(random, 3),
		.is_host_only = marks_chance(random, 8),
	};
}

static inline void marks_add(struct marks_rows *rows, struct marks_row row,
			     const struct marks_trouble *trouble, uint64_t *random)
{
	size_t n = trouble->has_losses && marks_chance(random, 25) ? 0 : 1;
	n += trouble->has_doubles && marks_chance(random, 25) ? 1 : 0;
	row.order_ns = row.time_ns;
	if (trouble->has_disorder) {
		row.order_ns += (int64_t)random_below(random, 60) * 1000;
	}
	for (; n > 0 && rows->n < MARKS_ROWS_MAX; n--) {
		rows->items[rows->n++] = row;
		row.order_ns += (int64_t)random_below(random, 400) * 1000;
	}
}

static inline int marks_compare(const void *left, const void *right)
{
	const struct marks_row *a = left, *b = right;
	return (a->order_ns > b->order_ns) - (a->order_ns < b->order_ns);
}

/* Rows of a buffer that was written out twice. */
static inline void marks_write_twice(struct marks_rows *rows, uint64_t *random)
{
	size_t n = 1 + random_below(random, 40);
	size_t at = random_below(random, rows->n + 1);
	n = at + n <= rows->n ? n : rows->n - at;
	if (rows->n + n <= MARKS_ROWS_MAX) {
		memmove(&rows->items[at + n], &rows->items[at],
			(rows->n - at) * sizeof(rows->items[0]));
		rows->n += n;
	}
}

static inline void marks_rows_make(struct marks_rows *rows, uint64_t *random)
{
	static const char *const names[] = {
		"comm:HcclAllReduce!tp0!bfp16!4096",
		"comm:HcclAllGather!dp0!fp32!128",
		"comm:HcclReduceScatter!dp0!fp32!7",
		"HcclSend!pp1!int8!1",
		"no operator at all",
		"comm:HcclAllReduce!tp0!bfp16!64",
	};
	const struct marks_trouble trouble = marks_trouble_of(random);
	int64_t at_ns = MARKS_BASE_NS;
	uint64_t id = 1 + random_below(random, 5);
	rows->n = 0;
	for (size_t n_ops = 1 + random_below(random, 80); n_ops > 0; n_ops--) {
		uint64_t own = id++ ^ (trouble.has_turns ? 1U : 0U);
		const char *name = names[random_below(random, 6)];
		int64_t device_ns = at_ns + (int64_t)random_below(random, 90) * 1000;
		marks_add(rows, (struct marks_row){0, at_ns, own, 16, false, name}, &trouble,
			  random);
		marks_add(rows, (struct marks_row){0, at_ns + 2000, own, 32, false, ""}, &trouble,
			  random);
		if (!trouble.is_host_only) {
			int64_t end_ns = device_ns + (int64_t)random_below(random, 50) * 1000;
			marks_add(rows, (struct marks_row){0, device_ns, own, 16, true, ""},
				  &trouble, random);
			marks_add(rows, (struct marks_row){0, end_ns, own, 32, true, ""}, &trouble,
				  random);
		}
		at_ns += (int64_t)random_below(random, marks_chance(random, 20) ? 900 : 40) * 1000;
		id = trouble.has_restart && marks_chance(random, 40) ? 1 : id;
		id += marks_chance(random, 20) ? 3 : 0;
	}
	qsort(rows->items, rows->n, sizeof(rows->items[0]), marks_compare);
	if (marks_chance(random, 4)) {
		marks_write_twice(rows, random);
	}
}

static inline void marks_csv_oddity(struct marks_text *text, const char *end, uint64_t *random)
{
	switch (random_below(random, 7)) {
	case 0:
		marks_print(text, "%s", end);
		break;
	case 5: /* rows that are none: they stand in a name */
		marks_print(text, "16,2,1,\"%s", end);
		for (size_t n = random_below(random, 40); n > 0; n--) {
			marks_print(text, "16,9,1,comm:HcclSend!p!int8!1,0,%d,0,0,0,0%s",
				    MARKS_BASE_NS, end);
		}
		marks_print(text, "\",0,%d,0,0,0,0%s", MARKS_BASE_NS, end);
		break;
	case 1:
		marks_print(text, "16,nothing,1,,0,77,0,0,0,0%s", end);
		break;
	case 2:
		marks_print(text, "%.*s%s", (int)strlen(MARKER_HEADER) - 1, MARKER_HEADER, end);
		break;
	case 3:
		marks_print(text, "16,3%s", end);
		break;
	case 4:
		marks_print(text, "16,\"3,1%s", end);
		break;
	default:
		marks_print(text, "16,2,1,\"comm:HcclSend!p,\"\"p!int8!1\",0,%d,0,0,0,0%s",
			    MARKS_BASE_NS + (int)random_below(random, 900) * 1000, end);
	}
}

static inline void marks_csv_make(struct marks_text *text, uint64_t *random)
{
	static struct marks_rows rows;
	const char *end = marks_chance(random, 3) ? "\r\n" : "\n";
	bool has_oddities = marks_chance(random, 2);
	marks_rows_make(&rows, random);
	text->n = 0;
	marks_print(text, "%s%.*s%s", marks_chance(random, 4) ? "\xEF\xBB\xBF" : "",
		    (int)strlen(MARKER_HEADER) - 1, MARKER_HEADER, end);
	for (size_t i = 0; i < rows.n; i++) {
		const struct marks_row *row = &rows.items[i];
		if (has_oddities && marks_chance(random, 15)) {
			marks_csv_oddity(text, end, random);
		}
		marks_print(text, "%d,%llu,1,%s,%d,%lld,0,0,4242,4242%s", row->flag,
			    (unsigned long long)row->id, row->name, row->is_device ? 1 : 0,
			    (long long)row->time_ns, end);
	}
	text->n -= marks_chance(random, 4) ? strlen(end) : 0;
}

/* What a dead process, or a strange writer, leaves between two objects. */
static inline void marks_json_oddity(struct marks_text *text, uint64_t *random)
{
	switch (random_below(random, 7)) {
	case 0:
		marks_print(text,
			    "{\"Flag\":16,\"Id\":\"nothing\",\"SourceKind\":0,\"Timestamp\":5},");
		break;
	case 1:
		marks_print(text, "{\"Flag\":16,\"Id\":3,\"Name\":\"cut");
		marks_print(text, "\n[");
		break;
	case 2:
		marks_print(text, "{\"Flag\":16,\n[");
		break;
	case 3:
		marks_print(text, "12, true, ");
		break;
	case 4:
		marks_print(text,
			    "{\"Id\":12345, \"Timestamp\" : %d, \"More\":[{\"x\":1}],\n"
			    "\"SourceKind\":1,\"Flag\":16},",
			    MARKS_BASE_NS + (int)random_below(random, 900) * 1000);
		break;
	case 5:
		marks_print(text,
			    "[{\"Flag\":16,\"Id\":3,\"Name\":\"\",\"SourceKind\":0,"
			    "\"Timestamp\":%d}],",
			    MARKS_BASE_NS + (int)random_below(random, 900) * 1000);
		break;
	default:
		marks_print(text, "] 7 [");
	}
}

static inline void marks_json_make(struct marks_text *text, uint64_t *random)
{
	static const char *const betweens[] = {",", ", ", ",\n", ",\r\n  "};
	static const char *const flushes[] = {"]\n[", "][", "]\r\n[\n"};
	static struct marks_rows rows;
	const char *between = betweens[random_below(random, 4)];
	const char *flush = flushes[random_below(random, 3)];
	bool has_oddities = marks_chance(random, 2);
	marks_rows_make(&rows, random);
	text->n = 0;
	marks_print(text, "%s[", marks_chance(random, 4) ? "\xEF\xBB\xBF" : "");
	for (size_t i = 0; i < rows.n; i++) {
		const struct marks_row *row = &rows.items[i];
		if (has_oddities && marks_chance(random, 25)) {
			marks_json_oddity(text, random);
		}
		marks_print(text,
			    "{\"Flag\":%d,\"Id\":%llu,\"Kind\":1,\"Name\":\"%s\","
			    "\"SourceKind\":%d,\"Timestamp\":%lld}",
			    row->flag, (unsigned long long)row->id, row->name,
			    row->is_device ? 1 : 0, (long long)row->time_ns);
		marks_print(text, "%s",
			    i + 1 == rows.n            ? "]"
			    : marks_chance(random, 12) ? flush
						       : between);
	}
	marks_print(text, "%s", marks_chance(random, 2) ? "\n" : "");
	text->n -= marks_chance(random, 4) ? 1 + random_below(random, 20) : 0;
}

static inline void marks_varint(struct marks_text *text, uint64_t value)
{
	assert_true(text->n + 10 < MARKS_TEXT_MAX);
	for (; value >= 0x80; value >>= 7) {
		text->bytes[text->n++] = (char)((value & 0x7F) | 0x80);
	}
	text->bytes[text->n++] = (char)value;
}

static inline void marks_field(struct marks_text *text, unsigned number, const char *bytes,
			       size_t n)
{
	marks_varint(text, number << 3 | 2);
	marks_varint(text, n);
	assert_true(text->n + n < MARKS_TEXT_MAX);
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
}

static inline void marks_stage(struct marks_text *text, uint64_t at_us, uint64_t *random)
{
	static const char *const types[] = {"forward_step", "backward_step", "GC",
					    "torch.utils.data.dataloader@x", "odd"};
	static struct marks_text stage;
	const char *type = types[random_below(random, 5)];
	stage.n = 0;
	marks_varint(&stage, 1 << 3);
	marks_varint(&stage, random_below(random, 300));
	marks_field(&stage, 2, type, strlen(type));
	marks_varint(&stage, 3 << 3);
	marks_varint(&stage, at_us);
	if (!marks_chance(random, 15)) { /* one that never ended */
		marks_varint(&stage, 4 << 3);
		marks_varint(&stage, at_us + random_below(random, 90));
	}
	if (marks_chance(random, 20)) {
		stage.n -= 1; /* broken */
	}
	marks_field(text, 1, stage.bytes, stage.n);
}

static inline void marks_timeline_make(struct marks_text *text, uint64_t *random)
{
	uint64_t at_us = MARKS_BASE_NS / 1000;
	text->n = 0;
	for (size_t n = 1 + random_below(random, 150); n > 0; n--) {
		marks_stage(text, at_us, random);
		at_us += random_below(random, marks_chance(random, 20) ? 900 : 40);
		at_us -= marks_chance(random, 10) ? random_below(random, 100) : 0;
		if (marks_chance(random, 20)) {
			marks_varint(text, 2 << 3); /* the rank */
			marks_varint(text, random_below(random, 9));
		}
		if (marks_chance(random, 20)) {
			marks_field(text, 4, "the job", 7);
		}
	}
	if (marks_chance(random, 4)) {
		marks_print(text, "\x07what is this, and how much of it is there");
	}
}

static inline void marks_nccl_make(struct marks_text *text, uint64_t *random)
{
	const char *end = marks_chance(random, 3) ? "\r\n" : "\n";
	uint64_t at_us = MARKS_BASE_NS / 1000;
	text->n = 0;
	marks_print(text, "kernel,t1,t2,t3,t4,step%s", end);
	for (size_t n = 1 + random_below(random, 150); n > 0; n--) {
		const char *kernel = marks_chance(random, 2) ? "ncclAllReduce(a, b)" : "Send";
		marks_print(text, "%s,%llu,%llu,%llu.5,%llu.25,%d%s", kernel,
			    (unsigned long long)at_us, (unsigned long long)at_us + 2,
			    (unsigned long long)at_us + 1,
			    (unsigned long long)at_us + random_below(random, 60), 3, end);
		at_us += random_below(random, marks_chance(random, 20) ? 900 : 40);
		at_us -= marks_chance(random, 10) ? random_below(random, 100) : 0;
		if (marks_chance(random, 20)) {
			marks_print(text, "%s%s", marks_chance(random, 2) ? "kernel,7,x" : "", end);
		}
	}
	text->n -= marks_chance(random, 4) ? strlen(end) : 0;
}

#endif
