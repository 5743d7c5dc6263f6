/* The device of a msprof PROF_* folder, from device_<N>/info.json.<N>. */
#ifndef FSL_SOURCE_ASCEND_FIND_PROF_DEVICE_H
#define FSL_SOURCE_ASCEND_FIND_PROF_DEVICE_H

#include "base/mem.h"

struct fsl_prof_device {
	int64_t rank;         /* -1 unknown */
	int64_t device;       /* number of the first device; -1 none */
	size_t n_devices;     /* number of devices with data in the folder */
	const char *host_uid; /* or host name; from the host's info.json if the device's has
				 none; in the arena, "" unknown */
};

/* Reads the device. Unreadable files are ignored. FSL_ERR_MEMORY only. */
enum fsl_status fsl_prof_device_read(struct fsl_prof_device *out, const char *path,
				     struct fsl_arena *arena, struct fsl_error *err);

#endif
