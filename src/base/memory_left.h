/* How much memory a run may still take before the system kills it without a message; giving some
 * back. */
#ifndef FSL_BASE_MEMORY_LEFT_H
#define FSL_BASE_MEMORY_LEFT_H

#include <stdint.h>

/*
 * Bytes that the processes of this job may still take, about. The result is the memory that the
 * kernel calls available (MemAvailable of /proc/meminfo), but at most the limit of the process's
 * control group and of the groups around it (cgroup v2 memory.max, v1 memory.limit_in_bytes): a
 * container has such a limit. UINT64_MAX if neither is known. @root is the prefix of /proc and
 * /sys, "" except in tests. A limit counts as a whole: the part that other processes have taken is
 * mostly page cache, which gives way.
 */
uint64_t fsl_memory_left(const char *root);

/* Gives memory that was freed back to the system, once: behind a step that needed far more than the
 * next ones will. Takes a moment. */
void fsl_memory_give_back(void);

#endif
