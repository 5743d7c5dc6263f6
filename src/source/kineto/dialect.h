/* Names of the dialects of traces, for documents. */
#ifndef FSL_SOURCE_KINETO_DIALECT_H
#define FSL_SOURCE_KINETO_DIALECT_H

#include "source/kineto/intake.h"

/*
 * Dialect of a trace that was read: "kineto_2021" (operators have the category Operator),
 * "kineto_base" (times behind baseTimeNanoseconds), "kineto_epoch" (times since 1970, or of no
 * known begin), "rocm_base" and "rocm_epoch" (the same with calls of HIP), "pftrace", "nsys",
 * "ack", or "lanes" if the user tells what its lanes are. Static text.
 */
const char *fsl_kineto_dialect(const struct fsl_kineto_events *events,
			       const struct fsl_kineto_intake *intake,
			       const struct fsl_profile_input *input);

#endif
