/*
 * Step times from a training log. The first lines are compared with all known forms; the form that
 * fits best is then looked for alone, by the bytes that each of its lines holds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/file_name.h"
#include "source/ingest.h"
#include "source/log/log_lines.h"
#include "source/log/log_pattern.h"
#include "source/log/log_steps.h"

enum {
	LEARNED_MAX = 256,       /* lines of one form are enough to choose it */
	HITS_MAX = 1 << 13,      /* lines of all forms, and then the best of them is taken */
	SERIES_MAX = 64,         /* forms, ranks and progress bars that are told apart */
	GENERIC_MIN = 8,         /* lines of a form of no known program */
	FORM_MIN = 8,            /* lines for which an earlier form of the table wins */
	RARE_SHARE = 20,         /* unless another form has so many times more lines */
	NO_HIT_BYTES = 64 << 20, /* a log that told no step by then tells none, */
	IN_VAIN_BYTES = 8 << 20, /* nor one with so much in lines that seemed to tell one */
	NEAREST_MAX = 2,
	NEAREST_BYTES = 100,
	CUMULATIVE_MIN = 16,
};

/* Lines of one form, rank and total number of steps: what one writer of the log printed. */
struct series {
	size_t pattern;
	int32_t rank;
	int64_t total, last_step;
	size_t n, n_falls;
};

enum seen_kind { SEEN_STEP, SEEN_BROKEN, SEEN_CUT };

/* A line that was looked at while the form was not known yet. */
struct seen {
	enum seen_kind kind;
	size_t pattern;
	struct fsl_log_hit hit; /* of a step, with its series */
	size_t series;
	uint64_t offset;
};

struct state {
	struct fsl_sink *sink;
	struct fsl_log_patterns *patterns;
	struct fsl_log_lines lines;
	struct fsl_log_clock clock;
	struct fsl_log_steps steps;
	struct series series[SERIES_MAX];
	size_t n_series;
	struct seen *seen; /* while the form is being learned */
	size_t n_seen, seen_capacity;
	struct series chosen;
	char *key; /* words of a form of no known program, as this log writes them */
	size_t n_key;
	char nearest[NEAREST_MAX]
		    [NEAREST_BYTES]; /* lines that may tell steps, of an unknown form */
	size_t n_nearest;
	uint64_t last_step_at; /* offset of the last line of a step */
	uint64_t n_in_vain;    /* bytes in lines with a word for step and without a step */
};

/* The first lines of a log often hold no step. A text file whose name is that of a log then counts
 * as a log. */
static int probe_head(const struct fsl_probe *probe)
{
	if (probe->n_head == 0 || memchr(probe->head, '\0', probe->n_head) != NULL) {
		return 0;
	}
	if (fsl_log_find_anchor(probe->head, probe->n_head) != NULL) {
		return FSL_PROBE_LOG;
	}
	return fsl_file_name_is_log(probe->file_name) ? FSL_PROBE_NAME : 0;
}

/* Time of the last write to the file, or into the pipe: times without a day end there. */
static int64_t written_ns(const struct fsl_reader *reader)
{
	struct stat facts;
	const char *path = fsl_reader_path(reader);
	if ((strcmp(path, FSL_STDIN) == 0 ? fstat(STDIN_FILENO, &facts) : stat(path, &facts)) ==
	    0) {
		return (int64_t)facts.st_mtim.tv_sec * FSL_NS_PER_S + facts.st_mtim.tv_nsec;
	}
	return 0;
}

/* Adds a line to its series; false if there are too many series. */
static bool note_series(struct state *state, struct seen *seen, bool *is_enough)
{
	const struct fsl_log_hit *hit = &seen->hit;
	size_t i = 0;
	while (i < state->n_series &&
	       (state->series[i].pattern != seen->pattern || state->series[i].rank != hit->rank ||
		state->series[i].total != hit->total)) {
		i++;
	}
	if (i == SERIES_MAX) {
		return false;
	}
	struct series *series = &state->series[i];
	if (i == state->n_series) {
		*series = (struct series){.pattern = seen->pattern,
					  .rank = hit->rank,
					  .total = hit->total,
					  .last_step = -1};
		state->n_series++;
	}
	series->n_falls += hit->step < series->last_step;
	series->last_step = hit->step;
	seen->series = i;
	*is_enough |= ++series->n >= LEARNED_MAX;
	return true;
}

/* Reads the stamp of a line; false if the form needs one and there is none. */
static bool take_stamp(struct state *state, const struct fsl_log_line *line, unsigned flags,
		       struct fsl_log_hit *hit)
{
	if (fsl_log_stamp(&state->clock, line->text, line->length, &hit->stamp_ns,
			  &hit->stamp_step_ns)) {
		return true;
	}
	hit->stamp_ns = FSL_NS_ABSENT;
	return (flags & LINE_NEEDS_STAMP) == 0;
}

/*
 * Compares a line, which has the anchor, with a form; false if it is not of it. A number that the
 * end of the file may have cut is not used.
 */
static bool match(struct state *state, size_t pattern, const struct fsl_log_line *line,
		  struct seen *out)
{
	unsigned flags = fsl_log_pattern_flags(state->patterns, pattern);
	*out = (struct seen){.kind = SEEN_STEP, .pattern = pattern, .offset = line->offset};
	bool fits = fsl_log_pattern_match(state->patterns, pattern, line->text, line->length,
					  &out->hit) &&
		    take_stamp(state, line, flags, &out->hit);
	if (!fits && (flags & LINE_STRICT) == 0) {
		return false;
	}
	if (!line->is_terminated && (!fits || out->hit.ends_with_line)) {
		out->kind = SEEN_CUT;
	} else if (!fits) {
		out->kind = SEEN_BROKEN;
	}
	return true;
}

/* Remembers a line of digits with a word for steps, for the user who has to write a pattern. */
static void note_nearest(struct state *state, const struct fsl_log_line *line)
{
	static const char *const words[] = {"step", "Step", "iter", "Iter", "epoch", "Epoch", "步"};
	bool has_word = false, has_digit = false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !has_word; i++) {
		has_word = memmem(line->text, line->length, words[i], strlen(words[i])) != NULL;
	}
	for (size_t i = 0; has_word && i < line->length && !has_digit; i++) {
		has_digit = line->text[i] >= '0' && line->text[i] <= '9';
	}
	if (!has_digit) {
		return;
	}
	/* The newest lines: a log begins with its settings. */
	char *out = state->nearest[state->n_nearest++ % NEAREST_MAX];
	size_t n = line->length < NEAREST_BYTES ? line->length : NEAREST_BYTES - 1;
	for (size_t i = 0; i < n; i++) {
		out[i] = line->text[i] >= ' ' && line->text[i] < 0x7f && line->text[i] != '"'
				 ? line->text[i]
				 : '?';
	}
	out[n] = '\0';
}

/* Compares a line with all forms. */
static enum fsl_status learn_line(struct state *state, const struct fsl_log_line *line,
				  bool *is_enough, struct fsl_error *err)
{
	bool is_known = false;
	bool has_word = fsl_log_has_step_word(state->patterns, line->text, line->length);
	bool has_anchor = fsl_log_has_anchor(state->patterns, line->text, line->length);
	for (size_t p = 0; p < fsl_log_patterns_size(state->patterns); p++) {
		const char *anchor = fsl_log_pattern_anchor(state->patterns, p);
		bool is_generic = (fsl_log_pattern_flags(state->patterns, p) & LINE_GENERIC) != 0;
		struct seen seen;
		if ((is_generic && (is_known || !has_word)) ||
		    (anchor[0] != '\0' && (!has_anchor || memmem(line->text, line->length, anchor,
								 strlen(anchor)) == NULL)) ||
		    !match(state, p, line, &seen)) {
			continue;
		}
		is_known |= seen.kind == SEEN_STEP;
		if (seen.kind == SEEN_STEP && !note_series(state, &seen, is_enough)) {
			continue;
		}
		FSL_TRY(FSL_APPEND(state, seen, &seen, err));
		*is_enough |= state->n_seen >= HITS_MAX;
	}
	if (!is_known && has_word) {
		state->n_in_vain += line->length;
		note_nearest(state, line);
	}
	return FSL_OK;
}

static enum fsl_status learn(struct state *state, struct fsl_error *err)
{
	bool is_enough = false;
	while (!is_enough) {
		struct fsl_log_line line;
		FSL_TRY(fsl_log_lines_next(&state->lines, "", 0, &line, err));
		bool is_in_vain = line.offset > NO_HIT_BYTES || state->n_in_vain > IN_VAIN_BYTES;
		if (line.text == NULL || (state->n_seen == 0 && is_in_vain)) {
			return FSL_OK;
		}
		FSL_TRY(learn_line(state, &line, &is_enough, err));
	}
	return FSL_OK;
}

/* How much a series looks like that of the steps: a progress bar of evaluation begins again. */
static double score_of(const struct series *series)
{
	return (double)series->n / (double)(1 + series->n_falls);
}

static bool is_generic(const struct state *state, size_t pattern)
{
	return (fsl_log_pattern_flags(state->patterns, pattern) & LINE_GENERIC) != 0;
}

/* The form of the log: the first of the table with enough lines; SIZE_MAX: none. */
static size_t choose_pattern(const struct state *state)
{
	size_t n_best = 0, best = SIZE_MAX, first = SIZE_MAX;
	for (size_t i = 0; i < state->n_series; i++) {
		const struct series *series = &state->series[i];
		bool is_known = !is_generic(state, series->pattern);
		if ((is_known || series->n >= GENERIC_MIN) && series->n > n_best) {
			n_best = series->n;
			best = series->pattern;
		}
	}
	for (size_t i = 0; i < state->n_series; i++) {
		const struct series *series = &state->series[i];
		if (series->n >= FORM_MIN && series->n * RARE_SHARE >= n_best) {
			first = series->pattern < first ? series->pattern : first;
		}
	}
	return first != SIZE_MAX ? first : best;
}

/* Of the series of a form: the longest ones, and of these the one of the lowest rank. */
static bool choose_series(struct state *state, size_t *chosen)
{
	size_t pattern = choose_pattern(state);
	double most = 0.0;
	*chosen = SIZE_MAX;
	for (size_t i = 0; i < state->n_series; i++) {
		if (state->series[i].pattern == pattern) {
			most = fmax(most, score_of(&state->series[i]));
		}
	}
	for (size_t i = 0; i < state->n_series && pattern != SIZE_MAX; i++) {
		const struct series *series = &state->series[i];
		if (series->pattern == pattern && 2.0 * score_of(series) >= most &&
		    (*chosen == SIZE_MAX || series->rank < state->series[*chosen].rank)) {
			*chosen = i;
		}
	}
	return *chosen != SIZE_MAX;
}

static bool is_of(const struct seen *seen, size_t series)
{
	return seen->kind == SEEN_STEP && seen->series == series;
}

static int compare_doubles(const void *left, const void *right)
{
	return FSL_ORDER(*(const double *)left, *(const double *)right);
}

/* Median rise of the step numbers of the chosen series. */
static int64_t stride_of(const struct state *state, size_t chosen, double *scratch)
{
	int64_t last = -1;
	size_t n = 0;
	for (size_t i = 0; i < state->n_seen; i++) {
		const struct seen *seen = &state->seen[i];
		if (!is_of(seen, chosen) || seen->hit.step < 0 || seen->hit.is_rounded) {
			continue;
		}
		if (last >= 0 && seen->hit.step > last) {
			scratch[n++] = (double)(seen->hit.step - last);
		}
		last = seen->hit.step;
	}
	qsort(scratch, n, sizeof(*scratch), compare_doubles);
	return n > 0 ? (int64_t)scratch[n / 2] : 1;
}

/*
 * True if the times are those since the begin: each is greater than the one before, by about as
 * much, and that is not little of the first one. Step times that slowly grow jump up and down.
 */
static bool is_cumulative(const struct state *state, size_t chosen, double *scratch)
{
	double first = NAN, last = NAN;
	size_t n = 0;
	for (size_t i = 0; i < state->n_seen; i++) {
		const struct seen *seen = &state->seen[i];
		if (!is_of(seen, chosen)) {
			continue;
		}
		double time_s = seen->hit.time_s;
		if (isnan(time_s) || time_s <= last) {
			return false;
		}
		if (isnan(first)) {
			first = time_s;
		} else {
			scratch[n++] = time_s - last;
		}
		last = time_s;
	}
	qsort(scratch, n, sizeof(*scratch), compare_doubles);
	return n >= CUMULATIVE_MIN && scratch[3 * n / 4] < 2.0 * scratch[n / 4] &&
	       first < 20.0 * scratch[n / 2];
}

/* Words that each line of a generic form holds, as this log writes them. */
static enum fsl_status keep_key(struct state *state, const struct fsl_log_line *line,
				const struct fsl_log_hit *hit, struct fsl_error *err)
{
	if (state->key != NULL || hit->n_key == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(state->key, hit->n_key, "bytes", err));
	memcpy(state->key, line->text + hit->key_at, hit->n_key);
	state->n_key = hit->n_key;
	return FSL_OK;
}

/* Uses a line of the chosen form. */
static enum fsl_status use(struct state *state, const struct seen *seen, struct fsl_error *err)
{
	const struct fsl_log_hit *hit = &seen->hit;
	unsigned long long offset = seen->offset;
	if (seen->kind == SEEN_STEP &&
	    (hit->rank != state->chosen.rank || hit->total != state->chosen.total)) {
		return FSL_OK; /* another rank, or a progress bar of something else */
	}
	state->sink->file->n_records++;
	if (seen->kind == SEEN_STEP) {
		state->last_step_at = seen->offset;
		return fsl_log_steps_add(&state->steps, hit, err);
	}
	if (seen->kind == SEEN_CUT) {
		fsl_sink_bad_record(state->sink, FSL_DROP_CUT,
				    "the log ends in the middle of a line (still being written, "
				    "or the disk was full): offset=%llu",
				    offset);
	} else {
		fsl_sink_bad_record(state->sink, FSL_DROP_MALFORMED,
				    "lines that lack their number were left out, the first: "
				    "offset=%llu",
				    offset);
	}
	return FSL_OK;
}

/* Gives the learned lines of the chosen series to the steps. */
static enum fsl_status begin_steps(struct state *state, size_t chosen, struct fsl_error *err)
{
	double *scratch = NULL;
	FSL_TRY(FSL_NEW(scratch, state->n_seen, "lines", err));
	state->chosen = state->series[chosen];
	state->steps = (struct fsl_log_steps){
		.sink = state->sink,
		.clock = &state->clock,
		.flags = fsl_log_pattern_flags(state->patterns, state->chosen.pattern),
		.stride = stride_of(state, chosen, scratch),
		.is_cumulative = is_generic(state, state->chosen.pattern) &&
				 is_cumulative(state, chosen, scratch),
	};
	fsl_free(scratch);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < state->n_seen && status == FSL_OK; i++) {
		if (state->seen[i].pattern == state->chosen.pattern) {
			status = use(state, &state->seen[i], err);
		}
	}
	fsl_free(state->seen);
	state->seen = NULL;
	state->n_seen = 0;
	return status;
}

/* Reads the rest of the log for the chosen form alone. */
static enum fsl_status follow(struct state *state, struct fsl_error *err)
{
	const char *anchor = fsl_log_pattern_anchor(state->patterns, state->chosen.pattern);
	size_t n_anchor = strlen(anchor);
	for (;;) {
		struct fsl_log_line line;
		struct seen seen;
		FSL_TRY(fsl_log_lines_next(&state->lines, n_anchor > 0 ? anchor : state->key,
					   n_anchor > 0 ? n_anchor : state->n_key, &line, err));
		if (line.text == NULL) {
			return FSL_OK;
		}
		if (match(state, state->chosen.pattern, &line, &seen)) {
			FSL_TRY(keep_key(state, &line, &seen.hit, err));
			FSL_TRY(use(state, &seen, err));
		}
	}
}

/* Looks for a line behind the last step which tells that the job is done. */
static enum fsl_status find_end(struct state *state, struct fsl_error *err)
{
	const char *at = NULL;
	size_t n_left = 0;
	FSL_TRY(fsl_log_lines_tail(&state->lines, state->last_step_at, &at, &n_left, err));
	while (n_left > 0 && !state->steps.is_done) {
		const char *newline = memchr(at, '\n', n_left);
		size_t length = newline != NULL ? (size_t)(newline - at) : n_left;
		size_t n_looked = length < FSL_LOG_LINE_BYTES ? length : FSL_LOG_LINE_BYTES;
		state->steps.is_done = fsl_log_is_end(state->patterns, at, n_looked);
		length += newline != NULL ? 1 : 0;
		at += length;
		n_left -= length;
	}
	return FSL_OK;
}

static void tell_unknown(struct state *state)
{
	if (state->n_nearest == 0) {
		return; /* nothing in it looks like steps */
	}
	fsl_sink_unusable(
		state->sink,
		"a log of an unknown form: give a regular expression for its steps in the "
		"key log_patterns (docs/users/formats.md), the nearest lines: "
		"nearest=\"%s\"%s%s%s",
		state->nearest[0], state->n_nearest > 1 ? ", nearest=\"" : "",
		state->n_nearest > 1 ? state->nearest[1] : "", state->n_nearest > 1 ? "\"" : "");
}

static enum fsl_status read_steps(struct state *state, struct fsl_error *err)
{
	size_t chosen = SIZE_MAX;
	FSL_TRY(learn(state, err));
	if (!choose_series(state, &chosen)) {
		tell_unknown(state);
		return FSL_OK;
	}
	FSL_TRY(begin_steps(state, chosen, err));
	enum fsl_status status = follow(state, err);
	FSL_THEN(status, find_end(state, err));
	fsl_log_steps_finish(&state->steps);
	return status;
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	struct state *state = NULL;
	FSL_TRY(FSL_NEW(state, 1, "logs", err));
	state->sink = sink;
	state->lines.reader = reader;
	state->clock.written_ns = written_ns(reader);
	enum fsl_status status = fsl_log_patterns_create(&state->patterns, sink->log_patterns,
							 sink->n_log_patterns, err);
	FSL_THEN(status, read_steps(state, err));
	if (state->lines.n_too_long > 0) {
		sink->file->n_records += state->lines.n_too_long;
		fsl_sink_bad_record(sink, FSL_DROP_TOO_LONG,
				    "lines over the limit were left out: lines=%llu, max_bytes=%d",
				    (unsigned long long)state->lines.n_too_long,
				    FSL_LOG_LINE_BYTES_MAX);
		sink->file->n_dropped[FSL_DROP_TOO_LONG] = state->lines.n_too_long;
	}
	fsl_log_patterns_destroy(state->patterns);
	fsl_free(state->seen);
	fsl_free(state->key);
	fsl_free(state);
	return fsl_sink_fault(sink, status, err);
}

const struct fsl_format fsl_format_training_log = {
	.name = "training_log",
	.summary = "training log of Megatron-LM, DeepSpeed, HF Trainer, MindFormers and others",
	.kind = FSL_INPUT_LOG,
	.probe = probe_head,
	.read = read_file,
};
