/*
 * JSON written as it is made, spaced as json.dump of Python does it: these files may be larger than
 * all that is in memory. Failed writes are told when the draft is published.
 */
#ifndef FSL_PROFILE_PEER_JSON_H
#define FSL_PROFILE_PEER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct fsl_peer_json {
	FILE *stream;
	bool is_behind; /* something stands before in the same object or array */
};

/* @key NULL, here and below: inside an array, or the document itself. @bracket: '{' or '['. */
void fsl_peer_json_open(struct fsl_peer_json *json, const char *key, char bracket);
void fsl_peer_json_close(struct fsl_peer_json *json, char bracket);
/* A key of two parts: "name@group". The value comes next, with its key NULL. */
void fsl_peer_json_key(struct fsl_peer_json *json, const char *name, const char *group);
void fsl_peer_json_text(struct fsl_peer_json *json, const char *key, const char *text);
/* @value as it is. */
void fsl_peer_json_raw(struct fsl_peer_json *json, const char *key, const char *value);
/* Shortest form that reads back as the same number; 0 when not finite. */
void fsl_peer_json_real(struct fsl_peer_json *json, const char *key, double value);
void fsl_peer_json_integer(struct fsl_peer_json *json, const char *key, int64_t value);
/* @value * 10^-@decimals, exactly; @decimals from 1, here and below. */
void fsl_peer_json_scaled(struct fsl_peer_json *json, const char *key, int64_t value, int decimals);

/* The text of such a number, without zeros at its end; at least @min_decimals. @buffer: at least 48
 * bytes, in which the text lies. */
const char *fsl_peer_scaled(int64_t value, int decimals, int min_decimals, char *buffer,
			    size_t size);

#endif
