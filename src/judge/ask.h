/* The detectors that captures are asked with. */
#ifndef FSL_JUDGE_ASK_H
#define FSL_JUDGE_ASK_H

#include "config/config.h"
#include "model/windows.h"

/*
 * Built-in detector @name with its defaults, but for the parameters in @given (JSON text; NULL:
 * none). Those are kept in @arena. Fails when memory is short; a detector that does not exist or
 * does not know @given is a mistake of the program.
 */
enum fsl_status fsl_profile_detector(struct fsl_detector_config *out, const char *name,
				     const char *given, struct fsl_arena *arena,
				     struct fsl_error *err);
/* What @detector finds in @windows, sorted by rank and window; replaces what is in @findings. */
enum fsl_status fsl_profile_ask(struct fsl_findings *findings,
				const struct fsl_detector_config *detector,
				const struct fsl_windows *windows, struct fsl_error *err);

#endif
