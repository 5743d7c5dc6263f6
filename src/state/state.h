/*
 * What one run leaves for the next: alarms already sent, in an SQLite file. Can be deleted at any
 * time, at no loss but a second alarm.
 */
#ifndef FSL_STATE_STATE_H
#define FSL_STATE_STATE_H

#include "model/verdict.h"

struct fsl_state; /* opaque; used by one thread */

/*
 * Opens or makes the file, and its folder; another file if others could change this one, see
 * state_place.h. A damaged file is set aside (renamed to <path>.damaged-<n>) with a warning and a
 * new one made. FSL_ERR_IO when the file cannot be made, read or written, or no place is safe,
 * FSL_ERR_CONFIG when it belongs to another program or a newer failslow; nothing is changed then,
 * and a run can go on without state: every alarm is a new one.
 */
enum fsl_status fsl_state_open(struct fsl_state **out, const char *path, struct fsl_error *err);
void fsl_state_close(struct fsl_state *state);

/* What the history says about an alarm. */
struct fsl_alarm {
	bool is_suppressed; /* raised within look_back: no new alarm */
	int64_t since_ns;   /* first alarm of the incident; FSL_NS_ABSENT: no incident */
};

/*
 * Alarm de-duplication: *out is suppressed when an alarm of the same @job (the path of its folder:
 * several jobs may share a state file) with the same verdict kind and culprit ranks, peers and
 * causes was recorded in (now - look_back, now]. Otherwise the alarm is recorded
 * as new. look_back_mins 0: never suppressed. The record stands, and other runs go on, after
 * fsl_state_settle_alarm(); until then they wait, and nothing else may be asked of the state.
 *
 * An incident goes on while it is seen again, alarmed or suppressed, within look_back of the last
 * time; an alarm that is due again keeps the incident's since_ns. A verdict without culprits is an
 * incident of its abnormal ranks (slow, or without data), or of the job when it hangs or got
 * slower; else it is never recorded and since_ns is FSL_NS_ABSENT. Records not seen for 90 days
 * are removed. Two runs at once are safe: one of them alarms.
 */
enum fsl_status fsl_state_check_alarm(struct fsl_state *state, const char *job,
				      const struct fsl_localisation *localisation, int64_t now_ns,
				      double look_back_mins, struct fsl_alarm *out,
				      struct fsl_error *err);
/* Keeps the record of the alarm that was checked, once it was told; else it was never raised.
 * FSL_OK where none was checked. */
enum fsl_status fsl_state_settle_alarm(struct fsl_state *state, bool is_told,
				       struct fsl_error *err);

/* Makes the folder of the state file. */
enum fsl_status fsl_state_prepare_folder(const char *state_path, struct fsl_error *err);

#endif
