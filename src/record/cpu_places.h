/* Which CPUs of this host share a core, a cache, a NUMA node. */
#ifndef FSL_RECORD_CPU_PLACES_H
#define FSL_RECORD_CPU_PLACES_H

#include <stdio.h>

/*
 * Writes them as `lscpu -p=cpu,core,socket,node,cache` does, from @cpus
 * ("/sys/devices/system/cpu"):
 * "# CPU,Core,Socket,Node,L3" and one line for each CPU that tells its core. What is not told is
 * left empty. A cache has the number of its first CPU. Returns the number of CPUs.
 */
size_t fsl_record_cpu_places_write(const char *cpus, FILE *stream);

#endif
