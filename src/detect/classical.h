/*
 * Classical observation points: sysTrace's locator (cal, op_launch, comm by pair voting) on
 * aggregated windows of operator times. Specification: docs/users/algorithms.md, "classical".
 */
#ifndef FSL_DETECT_CLASSICAL_H
#define FSL_DETECT_CLASSICAL_H

#include "config/config.h"
#include "model/topology.h"
#include "model/verdict.h"

/*
 * Appends the entries of sysTrace's abnormalDetail and normalDetail to @out and sets its resultCode
 * and the compute/network/storage flags. Notes skipped detectors, with the reason, in
 * out->coverage. Each rank without data becomes one LACK entry. The result does not depend on the
 * number of threads. FSL_ERR_MEMORY, FSL_ERR_PLUGIN.
 */
enum fsl_status fsl_classical_run(struct fsl_localisation *out, const struct fsl_run *run,
				  const struct fsl_topology *topology,
				  const struct fsl_config *config, struct fsl_error *err);

#endif
