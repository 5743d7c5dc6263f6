/* Calls detectors of the registry for captures. */
#ifndef FSL_JUDGE_ASK_H
#define FSL_JUDGE_ASK_H

#include "config/config.h"
#include "model/windows.h"

/*
 * Sets @out to the built-in detector @name with its default parameters, except those in @given
 * (JSON text; NULL: none). The parameters are kept in @arena. Fails only when out of memory; an
 * unknown detector or parameter is a mistake of the program.
 */
enum fsl_status fsl_profile_detector(struct fsl_detector_config *out, const char *name,
				     const char *given, struct fsl_arena *arena,
				     struct fsl_error *err);
/* Replaces @findings by the findings of @detector in @windows, sorted by rank and window. */
enum fsl_status fsl_profile_ask(struct fsl_findings *findings,
				const struct fsl_detector_config *detector,
				const struct fsl_windows *windows, struct fsl_error *err);

#endif
