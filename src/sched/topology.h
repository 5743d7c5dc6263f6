/* Which CPUs share a core, a cache, a NUMA node. */
#ifndef FSL_SCHED_TOPOLOGY_H
#define FSL_SCHED_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* Places of a CPU; -1: not told. Numbers of cores count within the host. */
struct fsl_sched_place {
	int32_t core, socket, node;
	int32_t cache; /* the last level that is told */
};

/* Start as {0}. */
struct fsl_sched_topology {
	struct fsl_sched_place *cpus; /* [n_cpus], by number */
	size_t n_cpus, cpus_capacity;
};

enum fsl_sched_far { FSL_SCHED_FAR_CACHE, FSL_SCHED_FAR_NODE, FSL_SCHED_FAR_N };

/*
 * Reads what `lscpu -p` prints, also with a choice of columns (`lscpu -p=cpu,node,socket,cache`):
 * the last comment names the columns. FSL_ERR_FORMAT: another text; FSL_ERR_MEMORY.
 */
enum fsl_status fsl_sched_topology_parse(struct fsl_sched_topology *out, const char *text,
					 size_t length, struct fsl_error *err);
void fsl_sched_topology_fini(struct fsl_sched_topology *topology);

/* The place of a CPU; all -1 if it is not told. @topology may be NULL. */
struct fsl_sched_place fsl_sched_place_of(const struct fsl_sched_topology *topology, int32_t cpu);
/* Whether both CPUs are known not to share the cache, or the node. */
bool fsl_sched_is_far(const struct fsl_sched_topology *topology, enum fsl_sched_far far,
		      int32_t cpu, int32_t other);

#endif
