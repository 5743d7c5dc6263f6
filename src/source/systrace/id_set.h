/* A set of ids that mostly rise one by one, as runs without gaps. */
#ifndef FSL_SOURCE_SYSTRACE_ID_SET_H
#define FSL_SOURCE_SYSTRACE_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

struct fsl_id_run {
	uint64_t first, last;
};

/* Start as {0}; the runs are sorted and do not touch. */
struct fsl_id_set {
	struct fsl_id_run *runs;
	size_t n, capacity;
};

void fsl_id_set_fini(struct fsl_id_set *set);
/* True when the id is in one of @n sorted runs. */
bool fsl_id_runs_have(const struct fsl_id_run *runs, size_t n, uint64_t id);
/* Puts @n runs, each sound but in any order, into the set; *is_again: an id came twice or was there
 * before. Reorders @runs. */
enum fsl_status fsl_id_set_add(struct fsl_id_set *set, struct fsl_id_run *runs, size_t n,
			       bool *is_again, struct fsl_error *err);

#endif
