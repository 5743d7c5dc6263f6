/* Runs detectors over units of work, on threads, with the same result for any number of them. */
#ifndef FSL_DETECT_ENGINE_H
#define FSL_DETECT_ENGINE_H

#include "config/config.h"
#include "model/windows.h"

/*
 * One scan of @config->detector over @windows; findings are appended to @out, the new ones sorted
 * by rank, then window. A detector whose needs do not cover the metric, or none (NULL), is skipped:
 * *skipped set, FSL_OK. A finding outside the unit is FSL_ERR_PLUGIN. On failure @out is as before.
 */
enum fsl_status fsl_engine_scan(const struct fsl_detector_config *config,
				const struct fsl_windows *windows, struct fsl_findings *out,
				bool *skipped, struct fsl_error *err);

/*
 * Labels per member and window from findings, as sysTrace's detectors give them: 1 inside a
 * finding's range. @findings come from one fsl_engine_scan, so they are sorted by rank. labels:
 * n_members * n_windows bytes, same layout as windows->values.
 */
void fsl_findings_to_labels(const struct fsl_findings *findings, const struct fsl_windows *windows,
			    uint8_t *labels);

#endif
