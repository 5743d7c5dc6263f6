/* Kinds of lanes as a user tells them: rules "REGEX=KIND" for categories, threads and processes. */
#ifndef FSL_SOURCE_KINETO_LANES_H
#define FSL_SOURCE_KINETO_LANES_H

#include <stddef.h>

#include <failslow/error.h>

/* Help of --lane; static. */
extern const char fsl_lane_help[];

struct fsl_lanes; /* opaque; may be asked by several threads */

/*
 * Compiles rules; a KIND is python, cpu, syscall, cudalib or kernel. *out NULL without rules. Free
 * it with fsl_lanes_destroy. FSL_ERR_USAGE names the rule that is wrong; FSL_ERR_MEMORY.
 */
enum fsl_status fsl_lanes_create(struct fsl_lanes **out, const char *const *rules, size_t n_rules,
				 struct fsl_error *err);
void fsl_lanes_destroy(struct fsl_lanes *lanes); /* NULL is fine */

/* enum fsl_kineto_category of the first rule that the text fits; FSL_KINETO_NONE: none does. */
int fsl_lanes_category(const struct fsl_lanes *lanes, const char *text, size_t length);

#endif
