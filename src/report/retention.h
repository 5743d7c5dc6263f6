/* Removes verdict files of earlier runs, so that a program that runs for years fills no disk. */
#ifndef FSL_REPORT_RETENTION_H
#define FSL_REPORT_RETENTION_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of verdict files. */
enum fsl_result_kind {
	FSL_RESULT_PERCEPTION,   /* fail_slow_perception_result_TYPE_SECONDS.json */
	FSL_RESULT_LOCALISATION, /* slow_node_result_SECONDS.json */
};

struct fsl_retention {
	double days;   /* files that were written longer ago are removed; 0: no such limit */
	int64_t files; /* number of files of a kind that stay, the newest ones; 0: all */
};

/*
 * Removes old files of one kind from a folder, by the time at which they were written. @now_s: the
 * clock, seconds since 1970. Only regular files of the user with a name that this program writes
 * are removed, never the target of a link. The failSlow file with the latest time in its name
 * stays, because with_fail_slow reads it. A file that cannot be removed stays. Returns how many
 * were removed.
 */
size_t fsl_retention_sweep(const char *folder, enum fsl_result_kind kind,
			   const struct fsl_retention *rule, int64_t now_s);

#endif
