/*
 * What one run leaves for the next: alarms already sent, in an SQLite file, and beside it what it
 * found of captures that go on. Can be deleted at any time, at no loss but time and a second alarm.
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

/* What stands beside the state file, for each folder of a job. */
enum fsl_beside {
	FSL_BESIDE_KEPT,  /* what is kept of the job; removed once nobody wrote to it for 90 days */
	FSL_BESIDE_TAILS, /* its newest events; for two days */
	FSL_BESIDE_N,
};
/* Makes the folder of the state file, in which the others stand, too. */
enum fsl_status fsl_state_prepare_folder(const char *state_path, struct fsl_error *err);
/* Path of the file for the job in folder @root; NULL: out of memory. Free with fsl_free. */
char *fsl_state_beside(const char *state_path, enum fsl_beside kind, const char *root);
/* Removes files of all jobs that are too old, and what runs that were killed left half-written two
 * days ago; called when a file is made. */
void fsl_state_sweep_beside(const char *state_path);
/* Removes all of them and the state file, as if nothing had ever run. */
void fsl_state_forget(const char *state_path);

/*
 * What was kept of the job in folder @root, judged by the same @rules; *bytes NULL when nothing is
 * or when it is damaged. Free *bytes with fsl_free. Not in the state file: that has to be looked
 * through whenever it is opened, and waits for the disk when it is written.
 */
enum fsl_status fsl_state_get_kept(const char *state_path, const char *root, const char *rules,
				   void **bytes, size_t *n_bytes, struct fsl_error *err);
/* Keeps @bytes in the place of what was kept of @root before, as a whole or not at all, in a folder
 * that is there. FSL_ERR_LIMIT when they are too many to be read again. */
enum fsl_status fsl_state_put_kept(const char *state_path, const char *root, const char *rules,
				   const void *bytes, size_t n_bytes, struct fsl_error *err);

#endif
