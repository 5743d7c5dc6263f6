/* What one run leaves for the next: alarms already sent. SQLite; can be deleted at any time. */
#ifndef FSL_STATE_STATE_H
#define FSL_STATE_STATE_H

#include "series/verdict.h"

struct fsl_state; /* opaque */

/* Opens or makes the file. A damaged file is set aside (renamed to *.damaged-<n>) with a warning
 * and a new one made. */
enum fsl_status fsl_state_open(struct fsl_state **out, const char *path, struct fsl_error *err);
void fsl_state_close(struct fsl_state *state);

/*
 * Alarm de-duplication: true in *suppressed when an alarm with the same verdict kind and culprit
 * ranks and causes was recorded in (now - look_back, now]; *since_ns is the time of the first alarm
 * of that incident. Otherwise the alarm is recorded as new. look_back_mins 0: never suppressed. A
 * verdict without culprits is never recorded.
 */
enum fsl_status fsl_state_check_alarm(struct fsl_state *state,
				      const struct fsl_localisation *localisation, int64_t now_ns,
				      double look_back_mins, bool *suppressed, int64_t *since_ns,
				      struct fsl_error *err);

#endif
