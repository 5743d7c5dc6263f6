/*
 * JSON written as it is made, spaced as json.dump of Python does it: these files may be larger than
 * all that is in memory. Failed writes are told when the draft is published.
 */
#ifndef FSL_TEXT_JSON_WRITE_H
#define FSL_TEXT_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fsl_json_writer {
	FILE *stream;
	bool is_behind; /* something stands before in the same object or array */
};

/* @key NULL, here and below: inside an array, or the document itself. @bracket: '{' or '['. */
void fsl_json_write_open(struct fsl_json_writer *json, const char *key, char bracket);
void fsl_json_write_close(struct fsl_json_writer *json, char bracket);
/* A key of two parts: "name@group". The value comes next, with its key NULL. */
void fsl_json_write_key(struct fsl_json_writer *json, const char *name, const char *group);
void fsl_json_write_text(struct fsl_json_writer *json, const char *key, const char *text);
/* @value as it is. */
void fsl_json_write_raw(struct fsl_json_writer *json, const char *key, const char *value);
/* Shortest form that reads back as the same number; 0 when not finite. */
void fsl_json_write_real(struct fsl_json_writer *json, const char *key, double value);
void fsl_json_write_integer(struct fsl_json_writer *json, const char *key, int64_t value);
/* @value * 10^-@decimals, exactly; @decimals from 1, here and below. */
void fsl_json_write_scaled(struct fsl_json_writer *json, const char *key, int64_t value,
			   int decimals);

/* The text of such a number, without zeros at its end; at least @min_decimals. @buffer: at least 48
 * bytes, in which the text lies. */
const char *fsl_json_write_digits(int64_t value, int decimals, int min_decimals, char *buffer,
				  size_t size);

/* str(float) of Python 3: shortest text that reads back as the same number. @buffer of at least 40
 * bytes. Returns @buffer. */
const char *fsl_python_float(double value, char *buffer, size_t size);

#endif
