/*
 * Series of one metric: the times of one operator on one communicator, aggregated per rank in
 * windows of fixed length in time or in steps. There is one struct fsl_windows per aggregation
 * function.
 */
#ifndef FSL_DETECT_KPI_SERIES_H
#define FSL_DETECT_KPI_SERIES_H

#include "config/config.h"
#include "model/run.h"
#include "model/steps.h"
#include "model/windows.h"

enum {
	/* Most windows of a rank: 24 days of 2 s. More mean a broken clock. */
	FSL_KPI_WINDOWS_MAX = 1 << 20,
	/* Most windows x members, 20 bytes each. */
	FSL_KPI_CELLS_MAX = 1 << 24,
};

struct fsl_kpi_request {
	const struct fsl_run *run;
	const struct fsl_metric_config *metric;
	const uint32_t *op_ids; /* ids of metric->op_name, see fsl_kpi_op_ids */
	size_t n_op_ids;
	uint32_t group_id;    /* the communicator; run->names */
	const int32_t *ranks; /* members of the communicator */
	size_t n_ranks;
	const struct fsl_steps *steps; /* steps of the job, for metrics with during_steps */
	double trim_head_share;        /* share of each rank's uses that is left out at the start */
};

/* Ids of the operator's name in every spelling ("HcclAllReduce", "HcclAllreduce"), at most @n_max;
 * returns their number. */
size_t fsl_kpi_op_ids(const struct fsl_run *run, const char *op_name, uint32_t *op_ids,
		      size_t n_max);

/*
 * Fills @out[0 .. metric->n_funcs) with the members that have samples, in the order of
 * request->ranks. All functions share members, windows and times. Window w of a rank is the w-th
 * stretch of during_s after the rank's own first sample. With during_steps it is the w-th stretch
 * of so many steps of the job. Windows without a sample are NaN. Without any sample @out has no
 * members. *n_outside: number of samples that were dropped beyond the limits above. FSL_ERR_MEMORY
 * only.
 */
enum fsl_status fsl_kpi_build(struct fsl_windows *out, const struct fsl_kpi_request *request,
			      size_t *n_outside, struct fsl_error *err);

/* Number of windows up to and including the last one in which @member has a sample. */
size_t fsl_kpi_member_length(const struct fsl_windows *windows, size_t member);

#endif
