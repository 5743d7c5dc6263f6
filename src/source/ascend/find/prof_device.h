/* What a PROF_* folder of msprof tells of its device: device_<N>/info.json.<N>. */
#ifndef FSL_SOURCE_ASCEND_FIND_PROF_DEVICE_H
#define FSL_SOURCE_ASCEND_FIND_PROF_DEVICE_H

#include "base/mem.h"

struct fsl_prof_device {
	int64_t rank;         /* -1 not told */
	int64_t device;       /* number of the first device; -1 none */
	size_t n_devices;     /* whose data lie in the folder */
	const char *host_uid; /* or host name, of the host's info.json where the device's tells
				 none; the arena, "" not told */
};

/* Fails only when memory is short: what cannot be read tells nothing. */
enum fsl_status fsl_prof_device_read(struct fsl_prof_device *out, const char *path,
				     struct fsl_arena *arena, struct fsl_error *err);

#endif
