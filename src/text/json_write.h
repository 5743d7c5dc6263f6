/* Writes JSON piece by piece, spaced as Python's json.dump does, because these files may be larger
 * than memory. Write errors are reported when the draft is published. */
#ifndef FSL_TEXT_JSON_WRITE_H
#define FSL_TEXT_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fsl_json_writer {
	FILE *stream;
	bool is_behind; /* the present object or array has a member already */
};

/* @key, here and below: NULL inside an array and for the document itself. @bracket: '{' or '['. */
void fsl_json_write_open(struct fsl_json_writer *json, const char *key, char bracket);
void fsl_json_write_close(struct fsl_json_writer *json, char bracket);
/* Writes a key of two parts: "name@group". The value follows, with key NULL. */
void fsl_json_write_key(struct fsl_json_writer *json, const char *name, const char *group);
void fsl_json_write_text(struct fsl_json_writer *json, const char *key, const char *text);
/* Writes @value unchanged. */
void fsl_json_write_raw(struct fsl_json_writer *json, const char *key, const char *value);
/* Writes the shortest form that reads back as the same number; 0 if not finite. */
void fsl_json_write_real(struct fsl_json_writer *json, const char *key, double value);
void fsl_json_write_integer(struct fsl_json_writer *json, const char *key, int64_t value);
/* Writes @value * 10^-@decimals exactly; @decimals >= 1, here and below. */
void fsl_json_write_scaled(struct fsl_json_writer *json, const char *key, int64_t value,
			   int decimals);

/* Text of such a number without trailing zeros, but with at least @min_decimals decimals. The text
 * lies in @buffer, which has at least 48 bytes. */
const char *fsl_json_write_digits(int64_t value, int decimals, int min_decimals, char *buffer,
				  size_t size);

/* str(float) of Python 3: the shortest text that reads back as the same number. @buffer of at least
 * 40 bytes. Returns the text, which lies in @buffer. */
const char *fsl_python_float(double value, char *buffer, size_t size);

#endif
