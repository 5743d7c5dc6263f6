/* Pipeline stages of ranks; private to src/blame. */
#ifndef FSL_BLAME_STAGES_H
#define FSL_BLAME_STAGES_H

#include <failslow/error.h>

#include "model/run.h"
#include "model/topology.h"

/* Fills the stage of each rank index, all 0 before; it stays 0 without pipelines. */
enum fsl_status fsl_stages_find(int32_t *stage_of, const struct fsl_run *run,
				const struct fsl_topology *topology, struct fsl_error *err);

#endif
