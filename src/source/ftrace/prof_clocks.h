/* Clocks that profiles of Ascend tell of their host: PROF_<n>/host/start_info, end_info, info.json.
 */
#ifndef FSL_SOURCE_FTRACE_PROF_CLOCKS_H
#define FSL_SOURCE_FTRACE_PROF_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "base/mem.h"

/* Clocks of one profile. */
struct fsl_prof_clock {
	const char *folder;       /* with start_info; arena of the list */
	const char *host;         /* name of the host, else its id, by info.json; "": not told */
	int64_t offset_ns;        /* UTC minus CLOCK_MONOTONIC_RAW as the profile began */
	int64_t drift_ns;         /* how much offset_ns had changed at its end; 0: not told */
	int64_t begin_ns, end_ns; /* of the profile on CLOCK_MONOTONIC_RAW; end INT64_MAX: not told
				   */
};

/* Start as {0}. */
struct fsl_prof_clocks {
	struct fsl_arena arena;
	struct fsl_prof_clock *items; /* by folder */
	size_t n_items, items_capacity;
};

/* Adds the clocks of @folder if it has a start_info. A file that cannot be used is told as a
 * warning. FSL_ERR_MEMORY. */
enum fsl_status fsl_prof_clocks_add(struct fsl_prof_clocks *clocks, const char *folder,
				    struct fsl_error *err);
/* Adds the clocks of all folders PROF_<n>/host below @paths. */
enum fsl_status fsl_prof_clocks_find(struct fsl_prof_clocks *clocks, const char *const *paths,
				     size_t n_paths, struct fsl_error *err);
void fsl_prof_clocks_fini(struct fsl_prof_clocks *clocks);

/*
 * The clocks for the trace @path, whose first event is at @first_ns on its own clock: of profiles
 * that went on then or began within a day, those of the trace's host; of these the one that began
 * last before @first_ns, else first. If profiles of several hosts are left, the host's name must
 * stand in @path; else *is_ambiguous is set. NULL: none fits.
 */
const struct fsl_prof_clock *fsl_prof_clocks_choose(const struct fsl_prof_clocks *clocks,
						    const char *path, int64_t first_ns,
						    bool *is_ambiguous);

#endif
