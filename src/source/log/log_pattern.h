/* The forms of training logs: regular expressions with named groups, and what a line tells. */
#ifndef FSL_SOURCE_LOG_LOG_PATTERN_H
#define FSL_SOURCE_LOG_LOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum fsl_log_flag {
	LINE_STRICT = 1,       /* a line with the anchor that does not match is a broken record */
	LINE_SMOOTHED = 2,     /* the time is smoothed over earlier steps: the clock knows better */
	LINE_AVERAGE = 4,      /* the time is the mean of all steps so far */
	LINE_GENERIC = 8,      /* of no known program: many lines are needed */
	LINE_ADDS_DATA = 16,   /* loading data is no part of the time */
	LINE_NEEDS_STAMP = 32, /* a match counts only in a line with a time stamp */
};

/* What one line tells. Numbers are -1, times NaN if it does not tell them; times are seconds. */
struct fsl_log_hit {
	int64_t step, total, epoch;
	int64_t planned; /* total that the job, or its last epoch, ends with */
	int64_t epochs;  /* total of epochs */
	bool is_rounded; /* the step is rounded ("12K") */
	double time_s;   /* of one step */
	double rounding; /* share of time_s that its text may hide */
	double span_s;   /* of all steps since the line before */
	double elapsed_s, data_s;
	int64_t elapsed_step_ns; /* what the elapsed time is rounded to */
	int32_t rank;            /* prefix of the line; -1: none */
	int64_t stamp_ns;        /* FSL_NS_ABSENT: none */
	int64_t stamp_step_ns;   /* what the stamp is rounded to */
	bool ends_with_line;     /* the last number of the match is the end of the line */
	size_t key_at, n_key;    /* place of the words that tell the form; 0: not told */
};

struct fsl_log_patterns; /* opaque; used by one thread */

/* Compiles the table, and in front of it @more expressions of the user, which were checked.
 * FSL_ERR_FORMAT for one that is none, FSL_ERR_MEMORY. */
enum fsl_status fsl_log_patterns_create(struct fsl_log_patterns **out, const char *const *more,
					size_t n_more, struct fsl_error *err);
void fsl_log_patterns_destroy(struct fsl_log_patterns *patterns); /* NULL is fine */
size_t fsl_log_patterns_size(const struct fsl_log_patterns *patterns);
const char *fsl_log_pattern_anchor(const struct fsl_log_patterns *patterns, size_t idx);
unsigned fsl_log_pattern_flags(const struct fsl_log_patterns *patterns, size_t idx);

/* False if the line is of no generic form, or of no form with an anchor; this takes far less time
 * than to match them. */
bool fsl_log_has_step_word(struct fsl_log_patterns *patterns, const char *line, size_t length);
bool fsl_log_has_anchor(struct fsl_log_patterns *patterns, const char *line, size_t length);

/* True if the line, which stands behind the last step, tells that the job is done. */
bool fsl_log_is_end(struct fsl_log_patterns *patterns, const char *line, size_t length);

/* True if the line, without colours, is of this form. Sets all of @hit but the stamp. */
bool fsl_log_pattern_match(struct fsl_log_patterns *patterns, size_t idx, const char *line,
			   size_t length, struct fsl_log_hit *hit);

/* Name and title of a form of the table; false behind the last one. */
bool fsl_log_form_at(size_t idx, const char **name, const char **title);
/* Anchor of one of the known forms in @text; NULL: none. For a look at the head of a file. */
const char *fsl_log_find_anchor(const char *text, size_t length);

#endif
