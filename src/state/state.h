/*
 * What one run leaves for the next: alarms already sent, and what it found of a capture that goes
 * on. SQLite; can be deleted at any time, at no loss but time and a second alarm.
 */
#ifndef FSL_STATE_STATE_H
#define FSL_STATE_STATE_H

#include "series/verdict.h"

struct fsl_state; /* opaque; used by one thread */

/*
 * Opens or makes the file, and its folder. A damaged file is set aside (renamed to
 * <path>.damaged-<n>) with a warning and a new one made. FSL_ERR_IO when the file cannot be made,
 * read or written, FSL_ERR_CONFIG when it belongs to another program or a newer failslow; nothing
 * is changed then, and a run can go on without state: every alarm is a new one.
 */
enum fsl_status fsl_state_open(struct fsl_state **out, const char *path, struct fsl_error *err);
/* The same unless *state is open already, and its file still has that name: a run opens it once. */
enum fsl_status fsl_state_use(struct fsl_state **state, const char *path, struct fsl_error *err);
void fsl_state_close(struct fsl_state *state);

/* What the history says about an alarm. */
struct fsl_alarm {
	bool is_suppressed; /* raised within look_back: no new alarm */
	int64_t since_ns;   /* first alarm of the incident; FSL_NS_ABSENT: no incident */
};

/*
 * Alarm de-duplication: *out is suppressed when an alarm with the same verdict kind and culprit
 * ranks, peers and causes was recorded in (now - look_back, now]. Otherwise the alarm is recorded
 * as new. look_back_mins 0: never suppressed. The record stands, and other runs go on, after
 * fsl_state_settle_alarm(); until then they wait, and nothing else may be asked of the state.
 *
 * An incident goes on while it is seen again, alarmed or suppressed, within look_back of the last
 * time; an alarm that is due again keeps the incident's since_ns. A verdict without culprits is an
 * incident of its abnormal ranks (slow, or without data), or of the job when it hangs or got
 * slower; else it is never recorded and since_ns is FSL_NS_ABSENT. Records not seen for 90 days
 * are removed. Two runs at once are safe: one of them alarms.
 */
enum fsl_status fsl_state_check_alarm(struct fsl_state *state,
				      const struct fsl_localisation *localisation, int64_t now_ns,
				      double look_back_mins, struct fsl_alarm *out,
				      struct fsl_error *err);
/* Keeps the record of the alarm that was checked, once it was told; else it was never raised.
 * FSL_OK where none was checked. */
enum fsl_status fsl_state_settle_alarm(struct fsl_state *state, bool is_told,
				       struct fsl_error *err);

/* The file beside the state file for what is kept of the job in folder @root and too large for
 * that; NULL: out of memory. Free with fsl_free. */
char *fsl_state_beside(const char *state_path, const char *root);
/* Removes those of all jobs that nobody wrote to for two days; called when one is made. */
void fsl_state_sweep_beside(const char *state_path);
/*
 * What was kept of the job in folder @root, judged by the same @rules; *bytes NULL when nothing is
 * or when it is damaged. Free *bytes with fsl_free.
 */
enum fsl_status fsl_state_get_kept(struct fsl_state *state, const char *root, const char *rules,
				   void **bytes, size_t *n_bytes, struct fsl_error *err);
/* Keeps @bytes in the place of what was kept of @root before. What was kept 90 days ago is removed.
 */
enum fsl_status fsl_state_put_kept(struct fsl_state *state, const char *root, const char *rules,
				   const void *bytes, size_t n_bytes, int64_t now_ns,
				   struct fsl_error *err);

#endif
