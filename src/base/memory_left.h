/* How much memory a run may still take before the system ends it without a word. */
#ifndef FSL_BASE_MEMORY_LEFT_H
#define FSL_BASE_MEMORY_LEFT_H

#include <stdint.h>

/*
 * Bytes that the processes here may take, about: what the kernel calls available (MemAvailable of
 * /proc/meminfo), and no more than the limit of the control group that this process is in, or of
 * one around it (cgroup v2 memory.max, v1 memory.limit_in_bytes): a container has one. UINT64_MAX
 * where neither is told. @root stands in front of /proc and /sys: "" but in tests. A limit counts
 * as a whole: how much of it others have taken is mostly page cache, which gives way.
 */
uint64_t fsl_memory_left(const char *root);

#endif
