/* Compiles and matches the forms of training logs with PCRE2, whose work per line is limited. */
#include "source/log/log_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <math.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"

enum {
	MATCH_LIMIT = 200000, /* steps of a match; no line of a log needs more */
	HEAP_KIB = 8192,
	SAME_NAME_MAX = 4, /* groups of one name, in alternatives */
	NUMBER_BYTES = 40, /* longer texts are no number */
};

#define NUM "\\d[\\d,]*(?:\\.\\d*)?(?:[eE][-+]?\\d{1,3})?"
#define STEP                                                                                       \
	"(?:(?:\\b|_)(?:global[_ ]?step|train[_ ]?step|steps?|iter(?:ation)?s?|batch|update)|步)"
#define UNIT "ms|msec|millisec(?:ond)?s?|us|ns|s|secs?|seconds?|min|minutes?|毫秒|秒"

/* The number of a step in front of what is looked for, if there is one. */
#define STEP_NUMBER                                                                                \
	"(?:.*?(?:" STEP                                                                           \
	"[^\\w\\n]{0,6}(?<step>\\d+)(?:\\s*/\\s*(?<total>\\d+))?\\b|第\\s*(?<step>\\d+)\\s*"      \
	"步))?"

/* Each line of a generic form holds one of these, and so do lines that come near to it. */
static const char word_regex[] = "step|iter|batch|update|epoch|its?(?:per|(?![a-z]))|步";

enum field {
	FIELD_STEP,
	FIELD_TOTAL,
	FIELD_PLANNED,
	FIELD_EPOCH,
	FIELD_EPOCHS,
	FIELD_TIME,
	FIELD_TIME2,
	FIELD_TIME3,
	FIELD_UNIT,
	FIELD_RATE,
	FIELD_SPAN,
	FIELD_ELAPSED,
	FIELD_DATA,
	FIELD_RANK,
	FIELD_KEY,
	FIELDS_N
};

/* Names of the groups. time2 and time3 are added to time. */
static const char *const field_names[FIELDS_N] = {
	"step", "total", "planned", "epoch",   "epochs", "time", "time2", "time3",
	"unit", "rate",  "span",    "elapsed", "data",   "rank", "key",
};

static const struct row {
	const char *name, *title, *anchor;
	unsigned flags;
	double unit_s;
	const char *regex;
} rows[] = {
#define PATTERN(name, title, anchor, flags, unit_s, regex)                                         \
	{name, "training log: " title, anchor, flags, unit_s, regex},
#include "source/log/patterns.def"
#undef PATTERN
};

enum { ROWS_N = sizeof(rows) / sizeof(rows[0]) };

/* Lines behind the last step of a job that finished, or that stopped as it was asked to.
 * Megatron-LM tells that it exits, the Trainer of HF its run time, MindFormers and others that
 * training is done. */
static const char end_regex[] =
	"train_runtime|`Trainer\\.fit` stopped|exiting program (?:at iteration|after)|"
	"end time of running main|^(?!.*epoch).*(?:"
	"training (?:(?:is|was|has|been) )*(?:done|complete|finished|over\\b)|"
	"(?:finished|done|completed|end of) training)";

/* Rank at the begin of a line: torchrun, srun, mpirun, and some programs by themselves. */
static const char rank_regex[] =
	"^\\s*(?:\\[(?:rank|default|Rank )?\\s*(\\d+)\\]:|\\[\\d+,(\\d+)\\]<\\w+>:?|(\\d+): |"
	"\\[?[Rr]ank[ _:=]?(\\d+)\\]?[: ])";

struct pattern {
	struct row row;
	pcre2_code *code;
	uint32_t groups[FIELDS_N][SAME_NAME_MAX]; /* 0: no such group */
};

struct fsl_log_patterns {
	struct pattern *items; /* the user's first */
	size_t n;
	pcre2_code *rank, *word, *anchor, *end;
	pcre2_match_data *match;
	pcre2_match_context *context;
};

static pcre2_code *compile(const char *regex, uint32_t options, struct fsl_error *err)
{
	int code = 0;
	PCRE2_SIZE at = 0;
	pcre2_code *out =
		pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
			      options | PCRE2_DUPNAMES | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
	if (out == NULL) {
		PCRE2_UCHAR text[128] = "";
		(void)pcre2_get_error_message(code, text, sizeof(text));
		(void)FSL_FAIL(err, FSL_ERR_FORMAT,
			       "no regular expression, correct log_patterns: reason=\"%s\", "
			       "at=%zu, text=\"%s\"",
			       (const char *)text, (size_t)at, regex);
	} else {
		/* Without it matching only takes longer. */
		(void)pcre2_jit_compile(out, PCRE2_JIT_COMPLETE);
	}
	return out;
}

static void note_groups(struct pattern *pattern)
{
	uint32_t n_names = 0, n_entry = 0;
	PCRE2_SPTR table = NULL;
	(void)pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMECOUNT, &n_names);
	(void)pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMEENTRYSIZE, &n_entry);
	(void)pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < n_names; i++, table += n_entry) {
		uint32_t number = (uint32_t)table[0] << 8 | table[1];
		for (size_t f = 0; f < FIELDS_N; f++) {
			uint32_t *groups = pattern->groups[f];
			size_t k = 0;
			while (k < SAME_NAME_MAX && groups[k] != 0) {
				k++;
			}
			if (k < SAME_NAME_MAX &&
			    strcmp((const char *)table + 2, field_names[f]) == 0) {
				groups[k] = number;
			}
		}
	}
}

/* Few forms are ever needed, and compiling all takes longer than reading a short log. */
static enum fsl_status compile_pattern(struct pattern *pattern, struct fsl_error *err)
{
	uint32_t options = (pattern->row.flags & LINE_GENERIC) != 0 ? PCRE2_CASELESS : 0;
	if (pattern->code == NULL) {
		pattern->code = compile(pattern->row.regex, options, err);
		if (pattern->code == NULL) {
			return FSL_ERR_FORMAT;
		}
		note_groups(pattern);
	}
	return FSL_OK;
}

/* Any of the anchors. */
static pcre2_code *compile_anchors(struct fsl_error *err)
{
	char text[2048] = "";
	size_t n = 0;
	for (size_t i = 0; i < ROWS_N && n < sizeof(text); i++) {
		if (rows[i].anchor[0] != '\0') {
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\\Q%s\\E",
					      n > 0 ? "|" : "", rows[i].anchor);
		}
	}
	return n < sizeof(text) ? compile(text, 0, err) : NULL;
}

enum fsl_status fsl_log_patterns_create(struct fsl_log_patterns **out, const char *const *more,
					size_t n_more, struct fsl_error *err)
{
	struct fsl_log_patterns *patterns = NULL;
	*out = NULL;
	FSL_TRY(FSL_NEW(patterns, 1, "patterns", err));
	enum fsl_status status = FSL_NEW(patterns->items, n_more + ROWS_N, "patterns", err);
	for (size_t i = 0; i < n_more && status == FSL_OK; i++) {
		struct pattern *pattern = &patterns->items[patterns->n++];
		pattern->row = (struct row){"log_patterns", "", "", 0, 1.0, more[i]};
		status = compile_pattern(pattern, err);
	}
	for (size_t i = 0; i < ROWS_N && status == FSL_OK; i++) {
		patterns->items[patterns->n++].row = rows[i];
	}
	if (status == FSL_OK) {
		patterns->rank = compile(rank_regex, 0, err);
		patterns->word = compile(word_regex, PCRE2_CASELESS, err);
		patterns->anchor = compile_anchors(err);
		patterns->end = compile(end_regex, PCRE2_CASELESS, err);
		patterns->match = pcre2_match_data_create(64, NULL);
		patterns->context = pcre2_match_context_create(NULL);
		if (patterns->rank == NULL || patterns->word == NULL || patterns->anchor == NULL ||
		    patterns->end == NULL || patterns->match == NULL || patterns->context == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for patterns");
		}
	}
	if (status != FSL_OK) {
		fsl_log_patterns_destroy(patterns);
		return status;
	}
	(void)pcre2_set_match_limit(patterns->context, MATCH_LIMIT);
	(void)pcre2_set_heap_limit(patterns->context, HEAP_KIB);
	*out = patterns;
	return FSL_OK;
}

void fsl_log_patterns_destroy(struct fsl_log_patterns *patterns)
{
	if (patterns == NULL) {
		return;
	}
	for (size_t i = 0; i < patterns->n; i++) {
		pcre2_code_free(patterns->items[i].code);
	}
	pcre2_code_free(patterns->rank);
	pcre2_code_free(patterns->word);
	pcre2_code_free(patterns->anchor);
	pcre2_code_free(patterns->end);
	pcre2_match_data_free(patterns->match);
	pcre2_match_context_free(patterns->context);
	fsl_free(patterns->items);
	fsl_free(patterns);
}

size_t fsl_log_patterns_size(const struct fsl_log_patterns *patterns)
{
	return patterns->n;
}

const char *fsl_log_pattern_anchor(const struct fsl_log_patterns *patterns, size_t idx)
{
	return patterns->items[idx].row.anchor;
}

unsigned fsl_log_pattern_flags(const struct fsl_log_patterns *patterns, size_t idx)
{
	return patterns->items[idx].row.flags;
}

bool fsl_log_form_at(size_t idx, const char **name, const char **title)
{
	if (idx >= ROWS_N) {
		return false;
	}
	*name = rows[idx].name;
	*title = rows[idx].title;
	return true;
}

const char *fsl_log_find_anchor(const char *text, size_t length)
{
	for (size_t i = 0; i < ROWS_N; i++) {
		size_t n = strlen(rows[i].anchor);
		const char *at = n > 0 ? memmem(text, length, rows[i].anchor, n) : NULL;
		if (at != NULL) {
			return at;
		}
	}
	return NULL;
}

struct text {
	const char *at;
	size_t n;
};

/* Text of a field, of the group of its name that took part in the match; n 0: none. */
static struct text field_of(const struct fsl_log_patterns *patterns, const struct pattern *pattern,
			    const char *line, enum field field)
{
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(patterns->match);
	uint32_t n_pairs = pcre2_get_ovector_count(patterns->match);
	for (size_t k = 0; k < SAME_NAME_MAX && pattern->groups[field][k] != 0; k++) {
		uint32_t group = pattern->groups[field][k];
		if (group < n_pairs && ends[2 * group] != PCRE2_UNSET &&
		    ends[2 * group + 1] > ends[2 * group]) {
			return (struct text){line + ends[2 * group],
					     ends[2 * group + 1] - ends[2 * group]};
		}
	}
	return (struct text){"", 0};
}

/* A number, also with commas between thousands; NaN: none. */
static double number(struct text text)
{
	char copy[NUMBER_BYTES];
	size_t n = 0;
	for (size_t i = 0; i < text.n && n + 1 < sizeof(copy); i++) {
		if (text.at[i] != ',') {
			copy[n++] = text.at[i];
		}
	}
	copy[n] = '\0';
	char *end = copy;
	double value = n > 0 && n + 1 < sizeof(copy) ? strtod(copy, &end) : (double)NAN;
	return end > copy && isfinite(value) && value >= 0.0 ? value : (double)NAN;
}

/* Share of a number that its last digit stands for. */
static double rounding_of(struct text text)
{
	const char *dot = memchr(text.at, '.', text.n);
	size_t n_decimals = dot != NULL ? (size_t)(text.at + text.n - dot) - 1 : 0;
	double value = number(text);
	return value > 0.0 ? pow(10.0, -(double)n_decimals) / value : 0.0;
}

/* A count, also "12K" or "1.5e3"; -1: none. */
static int64_t count(struct text text, bool *is_rounded)
{
	static const struct {
		char suffix;
		double scale;
	} scales[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}};
	double scale = 1.0, value = number(text);
	for (size_t i = 0; i < 3 && text.n > 0; i++) {
		if (text.at[text.n - 1] == scales[i].suffix) {
			scale = scales[i].scale;
			*is_rounded = true;
		}
	}
	value *= scale;
	return value >= 0.0 && value < 1e15 ? (int64_t)value : -1;
}

/* Seconds of a unit; @usual without one. */
static double unit_of(struct text unit, double usual)
{
	static const struct {
		const char *begin;
		double seconds;
	} units[] = {{"毫秒", 1e-3}, {"秒", 1.0},    {"ns", 1e-9}, {"us", 1e-6},
		     {"min", 60.0},  {"mi", 1e-3},   {"ms", 1e-3}, {"m", 60.0},
		     {"h", 3600.0},  {"d", 86400.0}, {"s", 1.0}};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].begin);
		if (unit.n >= n && memcmp(unit.at, units[i].begin, n) == 0) {
			return units[i].seconds;
		}
	}
	return usual;
}

/* "1:02:03", "1 day, 0:01:12", "1h 2m 3s", "12.5", "1234ms" as seconds; NaN: none. *step_s: what
 * it is rounded to. */
static double duration(struct text text, double usual_s, double *step_s)
{
	double sum_s = 0.0, clock_s = 0.0;
	bool is_any = false;
	*step_s = 1.0;
	for (size_t i = 0; i < text.n;) {
		size_t n = i;
		while (n < text.n && strchr("0123456789.", text.at[n]) != NULL &&
		       text.at[n] != '\0') {
			n++;
		}
		if (n == i) {
			i++;
			continue;
		}
		double value = number((struct text){text.at + i, n - i});
		size_t dot = i;
		while (dot < n && text.at[dot] != '.') {
			dot++;
		}
		double decimals = dot < n ? pow(10.0, -(double)(n - dot - 1)) : 1.0;
		while (n < text.n && text.at[n] == ' ') {
			n++;
		}
		if (n < text.n && text.at[n] == ':') {
			clock_s = 60.0 * (clock_s + value);
		} else {
			struct text unit = {text.at + n, text.n - n};
			bool is_clock = clock_s > 0.0 || (i > 0 && text.at[i - 1] == ':');
			double scale = is_clock ? 1.0 : unit_of(unit, usual_s);
			sum_s += clock_s + value * scale;
			*step_s = scale * decimals;
			clock_s = 0.0;
		}
		is_any = true;
		i = n;
	}
	return is_any && isfinite(sum_s) ? sum_s : (double)NAN;
}

static int match(struct fsl_log_patterns *patterns, const pcre2_code *code, const char *line,
		 size_t length)
{
	return pcre2_match(code, (PCRE2_SPTR)line, length, 0, 0, patterns->match,
			   patterns->context);
}

/* Sets the times of a match. */
static void take_times(const struct fsl_log_patterns *patterns, const struct pattern *pattern,
		       const char *line, struct fsl_log_hit *hit)
{
	double unit_s = unit_of(field_of(patterns, pattern, line, FIELD_UNIT), pattern->row.unit_s);
	double rounded_s = 1.0;
	struct text time = field_of(patterns, pattern, line, FIELD_TIME);
	struct text rate_text = field_of(patterns, pattern, line, FIELD_RATE);
	hit->time_s = number(time) * unit_s;
	hit->rounding = rounding_of(time.n > 0 ? time : rate_text);
	for (enum field field = FIELD_TIME2; field <= FIELD_TIME3; field++) {
		struct text text = field_of(patterns, pattern, line, field);
		hit->time_s += text.n > 0 ? number(text) * unit_s : 0.0;
	}
	double rate = number(rate_text);
	if (isnan(hit->time_s) && rate > 0.0) {
		hit->time_s = 1.0 / rate;
	}
	hit->span_s = duration(field_of(patterns, pattern, line, FIELD_SPAN), unit_s, &rounded_s);
	hit->elapsed_s = duration(field_of(patterns, pattern, line, FIELD_ELAPSED),
				  pattern->row.unit_s, &rounded_s);
	hit->elapsed_step_ns = (int64_t)(fmin(rounded_s, 60.0) * FSL_NS_PER_S);
	hit->data_s = number(field_of(patterns, pattern, line, FIELD_DATA)) * unit_s;
	if ((pattern->row.flags & LINE_ADDS_DATA) != 0 && hit->data_s > 0.0) {
		hit->time_s += hit->data_s;
	}
}

static int32_t rank_at_begin(struct fsl_log_patterns *patterns, const char *line, size_t length)
{
	enum { PREFIX_BYTES = 64 };
	int n = match(patterns, patterns->rank, line,
		      length < PREFIX_BYTES ? length : PREFIX_BYTES);
	const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(patterns->match);
	int64_t rank = -1;
	bool is_rounded = false;
	for (int g = 1; g < n; g++) {
		if (ends[2 * g] != PCRE2_UNSET) {
			rank = count(
				(struct text){line + ends[2 * g], ends[2 * g + 1] - ends[2 * g]},
				&is_rounded);
		}
	}
	return rank < INT32_MAX ? (int32_t)rank : -1;
}

bool fsl_log_has_step_word(struct fsl_log_patterns *patterns, const char *line, size_t length)
{
	return match(patterns, patterns->word, line, length) >= 0;
}

bool fsl_log_has_anchor(struct fsl_log_patterns *patterns, const char *line, size_t length)
{
	return match(patterns, patterns->anchor, line, length) >= 0;
}

bool fsl_log_is_end(struct fsl_log_patterns *patterns, const char *line, size_t length)
{
	return match(patterns, patterns->end, line, length) >= 0;
}

bool fsl_log_pattern_match(struct fsl_log_patterns *patterns, size_t idx, const char *line,
			   size_t length, struct fsl_log_hit *hit)
{
	struct pattern *pattern = &patterns->items[idx];
	if (compile_pattern(pattern, NULL) != FSL_OK ||
	    match(patterns, pattern->code, line, length) < 0) {
		return false;
	}
	bool is_rounded = false;
	struct text step = field_of(patterns, pattern, line, FIELD_STEP);
	struct text key = field_of(patterns, pattern, line, FIELD_KEY);
	struct text rank = field_of(patterns, pattern, line, FIELD_RANK);
	size_t end = pcre2_get_ovector_pointer(patterns->match)[1];
	int64_t planned = count(field_of(patterns, pattern, line, FIELD_PLANNED), &is_rounded);
	int64_t total = count(field_of(patterns, pattern, line, FIELD_TOTAL), &is_rounded);
	*hit = (struct fsl_log_hit){
		.step = count(step, &is_rounded),
		.total = planned >= 0 ? planned : total,
		.planned = planned,
		.epoch = count(field_of(patterns, pattern, line, FIELD_EPOCH), &is_rounded),
		.epochs = count(field_of(patterns, pattern, line, FIELD_EPOCHS), &is_rounded),
		.is_rounded = is_rounded,
		.stamp_ns = FSL_NS_ABSENT,
		.ends_with_line = end == length && end > 0 && strchr("0123456789.", line[end - 1]),
		.key_at = key.n > 0 ? (size_t)(key.at - line) : 0,
		.n_key = key.n,
	};
	take_times(patterns, pattern, line, hit);
	int64_t told = count(rank, &is_rounded);
	hit->rank = told >= 0 && told < INT32_MAX ? (int32_t)told
						  : rank_at_begin(patterns, line, length);
	return true;
}
