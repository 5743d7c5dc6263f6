/* All threads of this host: their process, and their number in the container that they run in. */
#ifndef FSL_RECORD_PID_MAP_H
#define FSL_RECORD_PID_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <failslow/error.h>

enum { FSL_PID_NAME_MAX = 64 }; /* kernel threads have long names in /proc */

struct fsl_pid_row {
	int64_t tid, tgid, parent; /* as the host numbers them */
	int64_t inner;             /* the thread in its innermost PID namespace */
	char name[FSL_PID_NAME_MAX];
	int look; /* which look at the host saw it so */
};

/* Sorted by tid, one row each. Start as {0}. */
struct fsl_pid_map {
	struct fsl_pid_row *rows; /* owned */
	size_t n_rows, rows_capacity;
	int n_looks;
};

void fsl_pid_map_fini(struct fsl_pid_map *map);
/* Adds the threads that run now, below @proc ("/proc"). A thread that the map has gets its present
 * name. Threads that end meanwhile are left out. FSL_ERR_IO: there is no such folder. */
enum fsl_status fsl_pid_map_add_present(struct fsl_pid_map *map, const char *proc,
					struct fsl_error *err);
/* Writes one object: {"TID": {"NSpid": "..", "name": "..", "Tgid": "..", "PPid": ".."}, ...}. */
void fsl_pid_map_write(const struct fsl_pid_map *map, FILE *stream);

#endif
