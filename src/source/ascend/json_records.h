/*
 * Records somewhere inside nested objects, told by their own keys: {"step50": {"p2p": {"name":
 * {record}}}} and {"name": {record}} are read by the same walk.
 */
#ifndef FSL_SOURCE_ASCEND_JSON_RECORDS_H
#define FSL_SOURCE_ASCEND_JSON_RECORDS_H

#include "source/ascend/json_file.h"

enum { FSL_JSON_WALK_LEVELS_MAX = 4, FSL_JSON_WALK_NAME_BYTES_MAX = 1024 };

/* The key of an open object. */
struct fsl_json_level {
	char text[FSL_JSON_WALK_NAME_BYTES_MAX];
	size_t length;
	bool is_long; /* did not fit, text is empty */
};

struct fsl_json_walk;

/* What a record is. */
struct fsl_json_record {
	size_t n_levels_max; /* keys around a record, its own name included */
	bool (*has_key)(const struct fsl_json_value *key);
	void (*begin)(struct fsl_json_walk *walk); /* in front of its first key */
	/* Reads the value behind a key for which has_key() holds. */
	enum fsl_status (*read)(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				struct fsl_error *err);
	/* The record is complete and its step is wanted. */
	enum fsl_status (*end)(struct fsl_json_walk *walk, struct fsl_error *err);
	void (*drop)(struct fsl_json_walk *walk); /* instead of end: forget it */
	const char *remedy;                       /* when a file has none: fsl_json_file_end() */
};

struct fsl_json_walk {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_json *json;
	const struct fsl_json_record *record;
	void *context; /* the reader's own */
	size_t n_levels;
	struct fsl_json_level levels[FSL_JSON_WALK_LEVELS_MAX];
	/* Of the open record, known in end(). */
	bool is_open;
	int64_t step;
	bool has_kind, is_p2p; /* a "p2p" or "collective" is around it */
};

/* Reads a whole file. */
enum fsl_status fsl_json_walk_file(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json_record *record, void *context,
				   struct fsl_error *err);
/* Reads the value behind one key of an object inside of a record. @of: whatever it is part of. */
typedef enum fsl_status (*fsl_json_member)(struct fsl_json_walk *walk,
					   const struct fsl_json_value *key, void *of,
					   struct fsl_error *err);
/* Each member of the next value when that is an object, else skips it. */
enum fsl_status fsl_json_walk_members(struct fsl_json_walk *walk, fsl_json_member member, void *of,
				      struct fsl_error *err);
/* Key @n_up levels above the record's own name (0); empty where there is none. */
const struct fsl_json_level *fsl_json_walk_key(const struct fsl_json_walk *walk, size_t n_up);
/* Counts the open record as dropped. */
enum fsl_status fsl_json_walk_reject(struct fsl_json_walk *walk, const char *reason,
				     struct fsl_error *err);

#endif
