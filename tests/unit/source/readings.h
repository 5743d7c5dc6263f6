/* What two readings of one file differ in; NULL or true: in nothing. */
#ifndef FSL_TESTS_UNIT_SOURCE_READINGS_H
#define FSL_TESTS_UNIT_SOURCE_READINGS_H

#include <string.h>

#include "source/ingest.h"

static inline bool are_ops_alike(const struct fsl_op *a, size_t n_a, const struct fsl_op *b,
				 size_t n_b)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static inline bool are_stages_alike(const struct fsl_rank *a, const struct fsl_rank *b)
{
	return a->n_stages == b->n_stages &&
	       (a->n_stages == 0 ||
		memcmp(a->stages, b->stages, a->n_stages * sizeof(*a->stages)) == 0);
}

static inline const char *difference_of_events(const struct fsl_rank *a, const struct fsl_rank *b)
{
	if (!are_ops_alike(a->ops, a->n_ops, b->ops, b->n_ops)) {
		return "operators";
	}
	if (!are_ops_alike(a->remnants, a->n_remnants, b->remnants, b->n_remnants)) {
		return "remnants";
	}
	if (!are_stages_alike(a, b)) {
		return "stages";
	}
	if (a->last_event_ns != b->last_event_ns || a->rank != b->rank) {
		return "last event or rank";
	}
	if (a->is_restarted != b->is_restarted) {
		return "restart";
	}
	if (a->open_op_id != b->open_op_id || a->open_group_id != b->open_group_id ||
	    a->open_begin_ns != b->open_begin_ns) {
		return "open operator";
	}
	return NULL;
}

static inline const char *difference_of_files(const struct fsl_file *a, const struct fsl_file *b)
{
	if (a->n_records != b->n_records) {
		return "records";
	}
	if (memcmp(a->n_dropped, b->n_dropped, sizeof(a->n_dropped)) != 0) {
		return "dropped records";
	}
	if (a->state != b->state || strcmp(a->message, b->message) != 0) {
		return "state or message";
	}
	return a->n_bytes != b->n_bytes || strcmp(a->format, b->format) != 0 ? "file" : NULL;
}

static inline bool are_names_alike(const struct fsl_strpool *a, const struct fsl_strpool *b)
{
	bool is_alike = fsl_strpool_size(a) == fsl_strpool_size(b);
	for (uint32_t i = 0; is_alike && i < fsl_strpool_size(a); i++) {
		is_alike = strcmp(fsl_strpool_text(a, i), fsl_strpool_text(b, i)) == 0;
	}
	return is_alike;
}

#endif
