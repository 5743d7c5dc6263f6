/*
 * The events of one file are spelt in a few ways: the same keys in the same order with the same
 * white space, and between them values. The texts between two values are learnt from events that
 * were read, as a tree: behind each value stand the texts that followed it so far. An event that
 * walks along the tree is read by comparing bytes; every other one is left to the caller.
 */
#ifndef FSL_CHROME_TRACE_SHAPES_H
#define FSL_CHROME_TRACE_SHAPES_H

#include "chrome/trace_event.h"

struct fsl_trace_shapes; /* opaque; of one file and one vocabulary */

struct fsl_trace_shapes *fsl_trace_shapes_create(void); /* NULL when out of memory */
void fsl_trace_shapes_destroy(struct fsl_trace_shapes *shapes);

/*
 * As fsl_trace_event_scan(), for events that go along the tree; 0 for every other one. *event was
 * cleared once by fsl_trace_event_clear(), or read by any of the three ways with this vocabulary.
 * The text of its category may be that of @shapes, and then lives as long as they do.
 */
size_t fsl_trace_shapes_scan(struct fsl_trace_shapes *shapes, const char *text, size_t n_bytes,
			     const struct fsl_trace_vocabulary *vocabulary,
			     struct fsl_trace_event *event, uint64_t *n_newlines);

/* Adds the way of the event at @text to the tree. fsl_trace_event_scan() has read it, and as many
 * bytes as there can be read. Does nothing if the tree is full, or if the event has a value at a
 * place that no tree is made for. The event has no counters: a walk along the tree tells none. */
void fsl_trace_shapes_learn(struct fsl_trace_shapes *shapes, const char *text, size_t n_bytes,
			    const struct fsl_trace_vocabulary *vocabulary);

#endif
