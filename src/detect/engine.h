/* Runs detectors over units of work, on threads. The result does not depend on their number. */
#ifndef FSL_DETECT_ENGINE_H
#define FSL_DETECT_ENGINE_H

#include "config/config.h"
#include "model/windows.h"

/*
 * Runs one scan of @config->detector over @windows. Appends its findings to @out, the new ones
 * sorted by rank, then window. Skips (*skipped is set, FSL_OK) if there is no detector (NULL) or
 * its needs do not cover the metric. FSL_ERR_PLUGIN for a finding outside the unit. On failure @out
 * is unchanged.
 */
enum fsl_status fsl_engine_scan(const struct fsl_detector_config *config,
				const struct fsl_windows *windows, struct fsl_findings *out,
				bool *skipped, struct fsl_error *err);

/*
 * Converts findings to labels per member and window, as sysTrace's detectors give them: 1 inside a
 * finding's range. @findings come from one fsl_engine_scan, so they are sorted by rank. @labels:
 * n_members * n_windows bytes, laid out as windows->values.
 */
void fsl_findings_to_labels(const struct fsl_findings *findings, const struct fsl_windows *windows,
			    uint8_t *labels);

#endif
