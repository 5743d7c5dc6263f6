/*
 * The JSON files of a rank's folder over the streaming tokenizer: walking objects whose values are
 * known, and telling what is wrong with a file. A fault of the file never fails a run.
 */
#ifndef FSL_PROFILE_JSON_FILE_H
#define FSL_PROFILE_JSON_FILE_H

#include "base/json_stream.h"
#include "profile/files.h"

/* Greater figures are none: sums of a file's times, bytes and counts then fit 64 bits. */
#define FSL_PROFILE_TIME_MAX_NS INT64_C(4102444800000000000) /* the year 2100 */
#define FSL_PROFILE_FIGURE_MAX  INT64_C(1000000000000000)    /* 10^15 ns are 11 days */

/*
 * The value behind a key: a string, number or word as it is. An object or array is skipped and
 * given as FSL_JSON_NULL.
 */
enum fsl_status fsl_json_take_scalar(struct fsl_json *json, struct fsl_json_value *value,
				     struct fsl_error *err);
/* Enters the next value when it is an object (or array), else skips it. */
enum fsl_status fsl_json_enter_object(struct fsl_json *json, bool *is_entered,
				      struct fsl_error *err);
enum fsl_status fsl_json_enter_array(struct fsl_json *json, bool *is_entered,
				     struct fsl_error *err);
/* The next key of an entered object; *has_key false at its end, which is then left. */
enum fsl_status fsl_json_next_key(struct fsl_json *json, struct fsl_json_value *key, bool *has_key,
				  struct fsl_error *err);
/* True when @value is the text @text. */
bool fsl_json_is(const struct fsl_json_value *value, const char *text);
/* The number of a NUMBER, STRING or KEY times @scale (fsl_parse_scaled); false for everything else,
 * and when the result is not in [0, @max]. */
bool fsl_json_scaled(const struct fsl_json_value *value, int64_t scale, int64_t max, int64_t *out);
/* A duration in ms: ns, and in *@ps what they lack; false, and both unchanged, as above. */
bool fsl_json_duration(const struct fsl_json_value *value, int64_t *ns, int16_t *ps);
/* A size in MB of 10^6 bytes: bytes. */
bool fsl_json_bytes(const struct fsl_json_value *value, int64_t *n_bytes);
/* A ratio or rate; NaN for everything that is no finite number. */
double fsl_json_real(const struct fsl_json_value *value);

/* Counts a record as dropped; @reason (static) is told for the first one, with its offset. */
enum fsl_status fsl_json_file_drop(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json *json, const char *reason,
				   struct fsl_error *err);
/* Counts what cannot be read (@status, in @own) as a record that was dropped, and tells the first
 * such fault. Passes on only that memory is short. */
enum fsl_status fsl_json_file_fault(struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input, enum fsl_status status,
				    const struct fsl_error *own, struct fsl_error *err);
/*
 * Once, behind the last value or the first fault (@status, in @own): tells cut, broken and empty
 * files in input->file. Passes on only that memory is short. @remedy (static) ends the message of a
 * file in which nothing was found (n_records is 0).
 */
enum fsl_status fsl_json_file_end(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, enum fsl_status status,
				  const struct fsl_error *own, const char *remedy,
				  struct fsl_error *err);

#endif
