/* Findings: the results of a detector. */
#ifndef FAILSLOW_FINDING_H
#define FAILSLOW_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>
#include <failslow/view.h>

struct fsl_findings; /* collects what a detector reports; findings are copied in */

/* "Member m of the unit deviates in windows [begin, end)". */
struct fsl_finding {
	int32_t rank;        /* rank number; -1: the whole job */
	int32_t peer;        /* far end of a slow link; -1: none */
	size_t window_begin; /* half open range of the unit's windows */
	size_t window_end;
	double slow_ratio; /* observed / expected; 1.0: normal; below 1: shorter; NaN: unknown */
	double effect_ms;  /* observed - expected per window, ms; NaN: unknown */
	double confidence; /* 0..1 */
};

/* Copies @finding into @out. FSL_ERR_MEMORY is the only error. */
enum fsl_status fsl_findings_add(struct fsl_findings *out, const struct fsl_finding *finding,
				 struct fsl_error *err);

/* One member's labels, with its observed and its expected value in every window. All borrowed. */
struct fsl_labelled {
	int32_t rank;
	size_t n_windows;
	const uint8_t *labels;  /* 1: deviates */
	const double *observed; /* NaN: no sample */
	const double *expected; /* NaN: unknown */
};

/*
 * Adds one finding for each run of ones in the labels. Ratio and effect compare the means of
 * @observed and @expected over the windows of the run that have both. The confidence of a run of n
 * such windows is 1 - 2^-n. FSL_ERR_MEMORY is the only error.
 */
enum fsl_status fsl_findings_add_runs(struct fsl_findings *out, const struct fsl_labelled *series,
				      struct fsl_error *err);

#endif
