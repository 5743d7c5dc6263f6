/* What a conversion holds on its way; private to convert_*.c. */
#ifndef FSL_CLI_CONVERT_PARTS_H
#define FSL_CLI_CONVERT_PARTS_H

#include "cli/convert_run.h"
#include "config/config.h"
#include "match/match.h"
#include "match/topology_build.h"
#include "model/steps.h"
#include "report/trace/run_tracks.h"

struct fsl_conversion {
	const struct fsl_convert_run *wanted;
	struct fsl_config config;
	struct fsl_track_plan *plan;
	/* Markers and timelines, as read. */
	struct fsl_run run;
	struct fsl_topology topology;
	struct fsl_match match;
	struct fsl_steps steps;
	bool *is_wanted; /* [run.n_ranks] */
	struct fsl_run_tracks tracks;
	uint64_t n_bytes_read; /* about */
	struct fsl_track_counts counts;
};

/* Prints the summary. */
void fsl_conversion_tell(const struct fsl_conversion *c);

#endif
