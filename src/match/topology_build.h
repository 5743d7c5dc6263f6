/* Topology from configuration, rank table, or from which ranks share a communicator and how they
 * nest. */
#ifndef FSL_MATCH_TOPOLOGY_BUILD_H
#define FSL_MATCH_TOPOLOGY_BUILD_H

#include "config/config.h"
#include "model/run.h"
#include "model/topology.h"

/*
 * Fills @out (started as {0}). Never fails for odd data: what cannot be told is FSL_GROUP_UNKNOWN
 * with the reason. A rank_table_json that exists and cannot be used is a warning; an inconsistent
 * hccl_domain is FSL_ERR_CONFIG.
 */
enum fsl_status fsl_topology_build(struct fsl_topology *out, const struct fsl_run *run,
				   const struct fsl_config *config, struct fsl_error *err);

/* FSL_ERR_CONFIG when hccl_domain contradicts itself; fsl_topology_build asks, too. */
enum fsl_status fsl_hccl_domain_check(const struct fsl_config *config, struct fsl_error *err);

#endif
