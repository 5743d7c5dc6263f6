/* Walks objects and arrays of JSON with known keys, over the streaming tokenizer. */
#ifndef FSL_TEXT_JSON_WALK_H
#define FSL_TEXT_JSON_WALK_H

#include "base/json_stream.h"

/*
 * Greatest figures that are believed, so that sums of a file's times, bytes and counts fit 64 bits.
 */
#define FSL_JSON_TIME_MAX_NS INT64_C(4102444800000000000) /* the year 2100 */
#define FSL_JSON_FIGURE_MAX  INT64_C(1000000000000000)    /* 10^15 ns are 11 days */

/* Reads the value behind a key: a string, number or word as it is. An object or array is skipped
 * and returned as FSL_JSON_NULL. */
enum fsl_status fsl_json_take_scalar(struct fsl_json *json, struct fsl_json_value *value,
				     struct fsl_error *err);
/* Enters the next value if it is an object (or array), else skips it. */
enum fsl_status fsl_json_enter_object(struct fsl_json *json, bool *is_entered,
				      struct fsl_error *err);
enum fsl_status fsl_json_enter_array(struct fsl_json *json, bool *is_entered,
				     struct fsl_error *err);
/* Reads the next key of an entered object. *has_key is false at its end, where it is left. */
enum fsl_status fsl_json_next_key(struct fsl_json *json, struct fsl_json_value *key, bool *has_key,
				  struct fsl_error *err);
/* True if @value is the text @text. */
bool fsl_json_is(const struct fsl_json_value *value, const char *text);
/* Number of a NUMBER, STRING or KEY times @scale (fsl_parse_scaled). False for every other value,
 * and if the result is not in [0, @max]. */
bool fsl_json_scaled(const struct fsl_json_value *value, int64_t scale, int64_t max, int64_t *out);
/* A duration in ms as ns, and the rest of it in *ps; false with both unchanged, as above. */
bool fsl_json_duration(const struct fsl_json_value *value, int64_t *ns, int16_t *ps);
/* A size in MB of 10^6 bytes, as bytes. */
bool fsl_json_bytes(const struct fsl_json_value *value, int64_t *n_bytes);
/* A ratio or rate; NaN if @value is no finite number. */
double fsl_json_real(const struct fsl_json_value *value);

#endif
