/*
 * One event of a Chrome trace, reduced while it is read: texts become kinds, ids become numbers, so
 * that of all texts of the file the name and those args are kept that somebody asks for. The caller
 * names the texts and args that it knows in a vocabulary; this folder knows none.
 */
#ifndef FSL_CHROME_TRACE_EVENT_H
#define FSL_CHROME_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_stream.h"
#include "base/number.h"

/*
 * The texts in Chrome traces that a caller knows. A trace holds the same few texts millions of
 * times; a table of them gives each a number of the caller's own, its kind.
 */
enum { FSL_TRACE_WORDS_MAX = 32 }; /* one bit each in a mask */

enum fsl_trace_spelling {
	FSL_TRACE_WHOLE,          /* this text */
	FSL_TRACE_WHOLE_ANY_CASE, /* this text, in any case of ASCII */
	FSL_TRACE_HEAD,           /* every text that begins with it */
	FSL_TRACE_HEAD_NUMBER,    /* the same, and the decimal number behind it is told */
	FSL_TRACE_HEAD_AND_TAIL,  /* every text that begins with it and ends with @tail */
	FSL_TRACE_ANYWHERE,       /* every text that holds it, in any case of ASCII */
};

struct fsl_trace_word {
	int kind; /* above 0; several words may have the same one */
	enum fsl_trace_spelling spelling;
	const char *text; /* not empty */
	const char *tail; /* of FSL_TRACE_HEAD_AND_TAIL, else NULL */
};

/* A table that is ready to be asked: for each first byte of a text, the words that it may be. */
struct fsl_trace_words {
	const struct fsl_trace_word *items; /* the caller's */
	uint8_t n_text[FSL_TRACE_WORDS_MAX], n_tail[FSL_TRACE_WORDS_MAX];
	uint32_t by_first[256];
};

/* At most FSL_TRACE_WORDS_MAX @items of at most 255 bytes; they stay the caller's, and must live as
 * long as @words. */
void fsl_trace_words_init(struct fsl_trace_words *words, const struct fsl_trace_word *items,
			  size_t n_items);
/* The kind of the first word, in the order of the table, that @text is; 0: none. *number: of
 * FSL_TRACE_HEAD_NUMBER, -1 when there is none or it does not fit; every other word leaves it
 * alone. */
int fsl_trace_words_find(const struct fsl_trace_words *words, const char *text, size_t length,
			 int64_t *number);

/* True if @text holds @word, not empty, in any case of ASCII. */
bool fsl_trace_text_holds(const char *text, size_t length, const char *word, size_t n_word);

enum {
	FSL_TRACE_ARGS_MAX = 24,
	FSL_TRACE_NAME_MAX = 1024,   /* longer names are cut */
	FSL_TRACE_TEXT_MAX = 240,    /* longer texts of args are cut */
	FSL_TRACE_COUNTERS_MAX = 32, /* of one event; further ones are left out */
	FSL_TRACE_KEYS_MAX = 1024,   /* bytes of their keys, likewise */
};

enum fsl_trace_arg_kind {
	FSL_TRACE_ARG_NUMBER,     /* in [0, max]; or the kind of a text, if @words is not NULL */
	FSL_TRACE_ARG_TEXT,       /* the text as it is */
	FSL_TRACE_ARG_MILLIONTHS, /* a number with a point, times 10^6; up to 9 * 10^12 */
	FSL_TRACE_ARG_BILLIONTHS, /* times 10^9; up to 9 * 10^9 */
	FSL_TRACE_ARG_SIZES,      /* three numbers, as [132, 1, 1]: see fsl_trace_sizes() */
	FSL_TRACE_ARG_NESTED,     /* a text that holds args as JSON: they are taken in */
};

/* A member of "args". */
struct fsl_trace_arg {
	const char *key;
	int64_t max;
	const struct fsl_trace_words *words;
	enum fsl_trace_arg_kind kind;
};

/* A text; no NUL behind it. Borrowed from the event, and so from the file, until the next event. */
struct fsl_trace_text {
	const char *text;
	size_t length; /* 0: none */
};

/* A value of an event of phase 'C', under a key that the vocabulary does not have. */
struct fsl_trace_counter {
	struct fsl_trace_text key; /* Kineto leaves it empty if the event's name tells all */
	int64_t millionths;        /* from 0 on */
};

/* The three numbers of an arg of FSL_TRACE_ARG_SIZES in one: 32, 16 and 15 bits; -1 if they do not
 * fit. */
static inline int64_t fsl_trace_sizes(int64_t x, int64_t y, int64_t z)
{
	bool is_good =
		x >= 0 && x <= INT32_MAX && y >= 0 && y <= UINT16_MAX && z >= 0 && z <= UINT16_MAX;
	return is_good ? (x << 32) | (y << 16) | z : -1;
}

/* Texts and args of the caller; borrowed as long as events are read. */
struct fsl_trace_vocabulary {
	struct fsl_trace_words names, categories;
	/* Bit k: the kind of a name is not wanted if that of the category is k, below 32. */
	uint32_t nameless;
	bool wants_counters; /* events tell fsl_trace_counter, too */
	size_t n_args;       /* at most FSL_TRACE_ARGS_MAX */
	const struct fsl_trace_arg *args;
};

struct fsl_trace_event {
	char phase; /* 'X', 'M', 's', 'f', 'C'...; 0: none */
	int name;   /* kinds of the vocabulary; 0: another text, none, or not wanted */
	int category;
	int64_t number; /* number behind a name of FSL_TRACE_HEAD_NUMBER; -1: none */
	bool has_id;
	uint64_t pid, tid, id;            /* decimal numbers as they are, others as a hash */
	int64_t ts_ns, dur_ns;            /* FSL_NS_ABSENT: none that could be used */
	int64_t args[FSL_TRACE_ARGS_MAX]; /* of the vocabulary: numbers, -1 for none; kinds of
					     texts, 0 for none */
	bool has_nested_args;             /* an arg of FSL_TRACE_ARG_NESTED was taken in */
	struct fsl_trace_text whole_name; /* of any kind */
	struct fsl_trace_text whole_category;
	struct fsl_trace_text texts[FSL_TRACE_ARGS_MAX]; /* of args of FSL_TRACE_ARG_TEXT */
	uint32_t args_set; /* bit i: args[i] or texts[i] may be something */
	bool has_counters; /* also those that are negative, or too many */
	size_t n_counters, n_key_bytes;
	struct fsl_trace_counter counters[FSL_TRACE_COUNTERS_MAX];
	size_t n_room;
	char room[2 * FSL_TRACE_NAME_MAX +
		  FSL_TRACE_KEYS_MAX]; /* holds texts that the tokenizer read */
};

/* NULL if the event can be used, else the reason why not (static text). */
const char *fsl_trace_event_fault(const struct fsl_trace_event *event);

/* Reads the rest of an event whose "{" was taken. If a key stands there twice, its last value
 * counts. */
enum fsl_status fsl_trace_event_read(struct fsl_json *json,
				     const struct fsl_trace_vocabulary *vocabulary,
				     struct fsl_trace_event *event, struct fsl_error *err);
/*
 * Reads the event at @text, of which @n_bytes from its "{" on are in memory, without the tokenizer:
 * for events that are spelt as profilers spell them. Returns its length, or 0 if only the tokenizer
 * can read it. Both functions give the same result for an event that both read. *n_newlines:
 * newlines in it.
 */
size_t fsl_trace_event_scan(const char *text, size_t n_bytes,
			    const struct fsl_trace_vocabulary *vocabulary,
			    struct fsl_trace_event *event, uint64_t *n_newlines);

/* For the two above: keys of an event, and taking their values. */
enum fsl_trace_key {
	FSL_TRACE_KEY_PHASE,
	FSL_TRACE_KEY_NAME,
	FSL_TRACE_KEY_PID,
	FSL_TRACE_KEY_TID,
	FSL_TRACE_KEY_TS,
	FSL_TRACE_KEY_DUR,
	FSL_TRACE_KEY_CATEGORY,
	FSL_TRACE_KEY_ID,
	FSL_TRACE_KEY_ARGS,
	FSL_TRACE_KEY_OTHER,
};
enum fsl_trace_key fsl_trace_key_find(const char *text, size_t length);
void fsl_trace_event_clear(const struct fsl_trace_vocabulary *vocabulary,
			   struct fsl_trace_event *event);
/* The same for an event that was cleared before. */
void fsl_trace_event_clear_set(const struct fsl_trace_vocabulary *vocabulary,
			       struct fsl_trace_event *event);
void fsl_trace_event_take(const struct fsl_trace_vocabulary *vocabulary,
			  struct fsl_trace_event *event, enum fsl_trace_key key,
			  const struct fsl_json_value *value);
/* All members were taken: finds the kind of the name. */
void fsl_trace_event_end(const struct fsl_trace_vocabulary *vocabulary,
			 struct fsl_trace_event *event);
/* Index of an arg; vocabulary->n_args: one that nobody asked for. */
size_t fsl_trace_arg_find(const struct fsl_trace_vocabulary *vocabulary, const char *text,
			  size_t length);
/* Begins args: forgets the values of an earlier "args". */
void fsl_trace_event_clear_args(const struct fsl_trace_vocabulary *vocabulary,
				struct fsl_trace_event *event);
void fsl_trace_event_take_arg(const struct fsl_trace_vocabulary *vocabulary,
			      struct fsl_trace_event *event, size_t arg,
			      const struct fsl_json_value *value);
/* Whether values under keys that the vocabulary does not have are to be taken: the event is one of
 * counters, or its phase comes behind its args. */
static inline bool fsl_trace_event_has_counters(const struct fsl_trace_vocabulary *vocabulary,
						const struct fsl_trace_event *event)
{
	return vocabulary->wants_counters && (event->phase == 'C' || event->phase == '\0');
}
/* Takes such a value if it is a number; @key is borrowed from the caller. */
void fsl_trace_event_take_counter(struct fsl_trace_event *event, const struct fsl_json_value *key,
				  const struct fsl_json_value *value);
/* An arg of FSL_TRACE_ARG_SIZES: the first three of @n numbers, -1 for what is none. */
void fsl_trace_event_take_sizes(struct fsl_trace_event *event, size_t arg, const int64_t sizes[3],
				size_t n);

#endif
