/* Processes of a job in one export of Nsight Systems: each that ran kernels is a worker. */
#ifndef FSL_SOURCE_KINETO_NSYS_WORKERS_H
#define FSL_SOURCE_KINETO_NSYS_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum {
	FSL_NSYS_WORKERS_MAX = 256, /* of a report: ranks of one host; further ones are left out */
	FSL_NSYS_THREAD_BITS = 24,  /* of a globalTid and globalPid; the process stands above */
};

struct fsl_nsys_worker {
	int64_t process; /* globalPid without the bits of threads */
	int64_t n_kernels;
	int64_t device; /* the least one; -1: not told */
	int64_t rank;   /* of MPI, if that was traced; -1: not told */
};

/* How the order of workers is known. */
enum fsl_nsys_order { FSL_NSYS_BY_RANK, FSL_NSYS_BY_DEVICE, FSL_NSYS_BY_NUMBER };

struct fsl_nsys_workers {
	size_t n;
	enum fsl_nsys_order order;
	struct fsl_nsys_worker items[FSL_NSYS_WORKERS_MAX];
};

/*
 * Lists the processes of the database @path that ran kernels, in order: by rank if all tell one, by
 * device if all have another one, else by number. A process with less than a tenth of the kernels
 * of the greatest one is a helper and left out. None if the file is no database, or does not tell
 * processes. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_nsys_workers_list(struct fsl_nsys_workers *workers, const char *path,
				      struct fsl_error *err);

#endif
