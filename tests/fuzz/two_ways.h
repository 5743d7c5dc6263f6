/*
 * Reads one input format in two ways and compares. Records that are whole in memory and spelt as
 * usual take a fast way, all others a careful one. Fed in small pieces, no record is ever whole in
 * memory.
 */
#ifndef FSL_TESTS_FUZZ_TWO_WAYS_H
#define FSL_TESTS_FUZZ_TWO_WAYS_H

#include <string.h>

#include "source/ingest.h"

struct reading {
	struct fsl_file file;
	struct fsl_sink sink;
};

/* Reads everything and closes @reader; false when that cannot be done (@reader NULL, no memory). */
static inline bool reading_begin(struct reading *reading, const char *format,
				 struct fsl_reader *reader)
{
	*reading = (struct reading){.file = {.path = "test", .message = ""}};
	bool is_read = reader != NULL &&
		       fsl_sink_init(&reading->sink, &reading->file, NULL) == FSL_OK &&
		       fsl_format_by_name(format)->read(reader, &reading->sink, NULL) == FSL_OK;
	fsl_reader_close(reader);
	return is_read;
}

static inline void reading_end(struct reading *reading)
{
	fsl_sink_fini(&reading->sink);
}

static inline bool reading_ops_are_alike(const struct fsl_op *a, size_t n_a, const struct fsl_op *b,
					 size_t n_b)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static inline bool reading_is_alike(const struct reading *a, const struct reading *b)
{
	const struct fsl_rank *left = &a->sink.events, *right = &b->sink.events;
	return strcmp(a->file.message, b->file.message) == 0 && a->file.state == b->file.state &&
	       a->file.n_records == b->file.n_records &&
	       memcmp(a->file.n_dropped, b->file.n_dropped, sizeof(a->file.n_dropped)) == 0 &&
	       reading_ops_are_alike(left->ops, left->n_ops, right->ops, right->n_ops) &&
	       reading_ops_are_alike(left->remnants, left->n_remnants, right->remnants,
				     right->n_remnants) &&
	       left->last_event_ns == right->last_event_ns &&
	       left->open_op_id == right->open_op_id &&
	       left->open_begin_ns == right->open_begin_ns &&
	       left->is_restarted == right->is_restarted;
}

#endif
