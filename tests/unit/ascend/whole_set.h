/* For tests on whole sets: reads a folder and compares it with itself; then the judges run. */
#ifndef FSL_TESTS_PROFILE_WHOLE_SET_H
#define FSL_TESTS_PROFILE_WHOLE_SET_H

#include "small_capture.h"

#include <stdlib.h>
#include <unistd.h>

struct whole_set {
	struct fsl_profile profile;
	struct fsl_profile_cluster cluster;
	struct fsl_profile_findings findings;
};

/* Skips the test when the folder is not there. */
static inline void whole_set_begin(struct whole_set *set, const char *path)
{
	struct fsl_error err = {0};
	if (access(path, F_OK) != 0) {
		skip();
	}
	*set = (struct whole_set){0};
	const struct fsl_profile_options options = {.path = path, .n_threads = 1};
	assert_int_equal(fsl_profile_read(&set->profile, &options, &err), FSL_OK);
	assert_int_equal(fsl_profile_cluster_build(&set->cluster, &set->profile, &err), FSL_OK);
}

/* The same of a set of the reference data. */
static inline void whole_set_begin_shared(struct whole_set *set, const char *name)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	char path[1024];
	(void)snprintf(path, sizeof(path), "%s/data/ascend/%s",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, name);
	whole_set_begin(set, path);
}

static inline struct fsl_profile_case whole_set_case(const struct whole_set *set)
{
	return (struct fsl_profile_case){
		.profile = &set->profile, .cluster = &set->cluster, .n_threads = 1};
}

static inline void whole_set_end(struct whole_set *set)
{
	fsl_profile_findings_fini(&set->findings);
	fsl_profile_cluster_fini(&set->cluster);
	fsl_profile_fini(&set->profile);
}

#endif
