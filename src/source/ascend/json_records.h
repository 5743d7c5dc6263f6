/* Finds records inside nested objects by the records' own keys. One walk reads both {"step50":
 * {"p2p": {"name": {record}}}} and {"name": {record}}. */
#ifndef FSL_SOURCE_ASCEND_JSON_RECORDS_H
#define FSL_SOURCE_ASCEND_JSON_RECORDS_H

#include "capture/json_file.h"

enum { FSL_JSON_WALK_LEVELS_MAX = 4, FSL_JSON_WALK_NAME_BYTES_MAX = 1024 };

/* Key of an open object. */
struct fsl_json_level {
	char text[FSL_JSON_WALK_NAME_BYTES_MAX];
	size_t length;
	bool is_long; /* the key did not fit; text is empty */
};

struct fsl_json_walk;

/* Describes a kind of record and how to read it. */
struct fsl_json_record {
	size_t n_levels_max; /* greatest number of keys around a record, its own name included */
	bool (*has_key)(const struct fsl_json_value *key);
	void (*begin)(struct fsl_json_walk *walk); /* called before its first key */
	/* Reads the value behind a key for which has_key() holds. */
	enum fsl_status (*read)(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				struct fsl_error *err);
	/* Called if the record is complete and its step is wanted. */
	enum fsl_status (*end)(struct fsl_json_walk *walk, struct fsl_error *err);
	void (*drop)(struct fsl_json_walk *walk); /* called instead of end: forget the record */
	const char *remedy;                       /* for files without records */
};

struct fsl_json_walk {
	struct fsl_profile_rank *rank;
	const struct fsl_profile_input *input;
	struct fsl_json *json;
	const struct fsl_json_record *record;
	void *context; /* the reader's own data */
	size_t n_levels;
	struct fsl_json_level levels[FSL_JSON_WALK_LEVELS_MAX];
	/* Facts about the open record, known in end(). */
	bool is_open;
	int64_t step;
	bool has_kind, is_p2p; /* a key "p2p" or "collective" is around the record */
};

/* Reads a whole file. FSL_ERR_MEMORY only. */
enum fsl_status fsl_json_walk_file(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json_record *record, void *context,
				   struct fsl_error *err);
/*
 * Reads the value of one key of an object inside a record. @of: the caller's data for the object.
 */
typedef enum fsl_status (*fsl_json_member)(struct fsl_json_walk *walk,
					   const struct fsl_json_value *key, void *of,
					   struct fsl_error *err);
/* Calls @member for each member if the next value is an object, else skips it. */
enum fsl_status fsl_json_walk_members(struct fsl_json_walk *walk, fsl_json_member member, void *of,
				      struct fsl_error *err);
/* Key @n_up levels above the record's own name (0); empty if there is none. */
const struct fsl_json_level *fsl_json_walk_key(const struct fsl_json_walk *walk, size_t n_up);
/* Counts the open record as dropped. */
enum fsl_status fsl_json_walk_reject(struct fsl_json_walk *walk, const char *reason,
				     struct fsl_error *err);

#endif
