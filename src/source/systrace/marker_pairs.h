/*
 * Start and end rows of communication markers to operators, in one pass: a hash of the operators
 * that still lack a row, no allocation per record. Shared by the CSV and the JSON form.
 */
#ifndef FSL_SOURCE_SYSTRACE_MARKER_PAIRS_H
#define FSL_SOURCE_SYSTRACE_MARKER_PAIRS_H

#include "source/ingest.h"
#include "source/marker.h"
#include "source/systrace/id_set.h"

enum { FSL_MARKER_OP_BYTES = 224 }; /* of a file for an operator: four rows of some 56 */

struct fsl_marker_pairs; /* opaque; pushes into a sink that it does not own */

struct fsl_marker_pairs *fsl_marker_pairs_create(struct fsl_sink *sink); /* NULL: out of memory */
void fsl_marker_pairs_destroy(struct fsl_marker_pairs *pairs);

/* Next record in order of the file. Operators are pushed as soon as they are complete. */
enum fsl_status fsl_marker_pairs_add(struct fsl_marker_pairs *pairs,
				     const struct fsl_marker *marker, struct fsl_error *err);
/* Rows are left out from here on: operators that lack some get none, and wait in nothing. */
enum fsl_status fsl_marker_pairs_skip(struct fsl_marker_pairs *pairs, struct fsl_error *err);
/* Operators that began and did not end so far may have ended in rows that were left out: when they
 * never end, nobody waits in them. */
void fsl_marker_pairs_doubt(struct fsl_marker_pairs *pairs);
/* At the end of the file: pushes what is usable of the rest, notes the open operator, counts. */
enum fsl_status fsl_marker_pairs_finish(struct fsl_marker_pairs *pairs, struct fsl_error *err);

/* One operator that still lacks a row. Times are FSL_NS_ABSENT until seen. */
struct fsl_marker_pending {
	uint64_t id;
	int64_t begin_ns[2], end_ns[2]; /* [host], [device] */
	uint32_t name;                  /* of the whole name; UINT32_MAX: not seen */
	bool is_used;                   /* the slot of the hash is taken */
	bool is_backwards;
	bool is_doubtful; /* fsl_marker_pairs_doubt(); in no state, as there is none in a range */
};

enum {
	FSL_MARKER_SLOTS_MIN =
		256, /* holds what is in flight; grows when rows come late or never */
	/* What a mark may hold: more is not worth reading again and again. */
	FSL_MARKER_STATE_SLOTS_MAX = 1 << 18,
	FSL_MARKER_STATE_RUNS_MAX = 1 << 16,
};

/* What is known in the middle of a file, beside the names: see source/mark.h. */
struct fsl_marker_state {
	/* In the order in which they give the same hash of @n_slots slots when put into it. */
	struct fsl_marker_pending *pending;
	size_t n_pending, n_slots;
	struct fsl_id_run *used; /* ids of the operators pushed so far, unless a restart is known */
	size_t n_used;
	int64_t last_device_launch_ns;
	uint64_t last_host_id;
	bool has_host_id, has_id_fallen;
};

/* Copies the state out, to be freed with fsl_marker_state_fini; *is_saved false when it is too
 * large. Looks for a restart among the operators pushed so far. */
enum fsl_status fsl_marker_pairs_save(struct fsl_marker_pairs *pairs,
				      struct fsl_marker_state *state, bool *is_saved,
				      struct fsl_error *err);
/* What is known of operators that are not in the sink. */
struct fsl_marker_past {
	const struct fsl_id_run *used; /* their ids */
	size_t n_used;
	int64_t last_ns; /* none of their rows had a later time */
};
/*
 * Makes new pairs, and the names of their sink, what they were; the sink holds the operators that
 * are not @past, whose ids stay borrowed. FSL_ERR_FORMAT when the state is none that can be.
 */
enum fsl_status fsl_marker_pairs_restore(struct fsl_marker_pairs *pairs,
					 const struct fsl_marker_state *state,
					 const struct fsl_marker_past *past,
					 const char *const *names, size_t n_names,
					 struct fsl_error *err);
void fsl_marker_state_fini(struct fsl_marker_state *state);
/* The whole names seen so far, in order of their ids; borrowed. */
const struct fsl_strpool *fsl_marker_pairs_texts(const struct fsl_marker_pairs *pairs);

/* Parts of a name; borrowed from it. */
struct fsl_marker_name {
	const char *op, *group, *dtype;
	size_t n_op, n_group, n_dtype;
	uint64_t n_elements;
};
/*
 * `[prefix:]OP!group!dtype!count` or the same with commas, split from both ends: the group may hold
 * the separator. False when the text is nothing of the kind.
 */
bool fsl_marker_name_parse(struct fsl_marker_name *out, const char *text, size_t length);

#endif
