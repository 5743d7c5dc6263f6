/*
 * Keeps in an SQLite file what later runs have to know: the alarms that were given, incidents
 * (incidents.h), and what is to be delivered (outbox.h). The file can be deleted at any time; an
 * alarm may then be given again.
 */
#ifndef FSL_STATE_STATE_H
#define FSL_STATE_STATE_H

#include "model/seen_ranks.h"
#include "model/verdict.h"

struct fsl_state; /* opaque; used by one thread */

/*
 * Opens or makes the file and its folder. If other users could change this file, it uses another
 * one (state_place.h). A damaged file is renamed to <path>.damaged-<n> with a warning, and a new
 * file is made. FSL_ERR_IO if the file cannot be made, read or written, or no place is safe.
 * FSL_ERR_CONFIG if the file belongs to another program or a newer failslow. After a failure
 * nothing is changed and a run can go on without state: every alarm is then a new one.
 */
enum fsl_status fsl_state_open(struct fsl_state **out, const char *path, struct fsl_error *err);
/* The same for a file that is there, to be read; the user need not be allowed to write it.
 * FSL_ERR_INPUT: no run left one. */
enum fsl_status fsl_state_find(struct fsl_state **out, const char *path, struct fsl_error *err);
void fsl_state_close(struct fsl_state *state);

/* Begins a transaction that writes, unless one is open; other runs wait until it is settled. */
enum fsl_status fsl_state_begin(struct fsl_state *state, struct fsl_error *err);
/* Keeps what was written since, or drops it as if it had never begun. FSL_OK also if no transaction
 * is open. */
enum fsl_status fsl_state_settle(struct fsl_state *state, bool is_kept, struct fsl_error *err);

/* Result of looking an alarm up in the history. */
struct fsl_alarm {
	bool is_suppressed; /* raised within look_back: no new alarm */
	int64_t since_ns;   /* first alarm of the incident; FSL_NS_ABSENT: no incident */
};

/*
 * Looks for a repeated alarm. *out is suppressed if an alarm of the same @job with the same verdict
 * kind and the same culprit ranks, peers and causes was recorded in (now - look_back, now]. @job is
 * the path of its folder, as several jobs may share a state file. Otherwise the alarm is recorded
 * as new. look_back_mins 0: never suppressed. The record is kept once fsl_state_settle() is called.
 *
 * An incident goes on while it is seen again, alarmed or suppressed, within look_back of the last
 * time. An alarm that is due again keeps the since_ns of its incident. A verdict without culprits
 * is an incident of its abnormal ranks (slow, or without data), or of the job if it hangs or got
 * slower. Any other verdict without culprits is never recorded, and since_ns is FSL_NS_ABSENT.
 * Records that were not seen for 90 days are removed. Two runs may call at the same time: one of
 * them alarms.
 */
enum fsl_status fsl_state_check_alarm(struct fsl_state *state, const char *job,
				      const struct fsl_localisation *localisation, int64_t now_ns,
				      double look_back_mins, struct fsl_alarm *out,
				      struct fsl_error *err);
/*
 * Reads how many ranks earlier runs saw of @job, the path of its folder, before the run opens the
 * state to write. *out is {0} if nobody knows: there is no file, or it cannot be read now. Tells
 * nothing, as fsl_state_open() will.
 */
void fsl_state_recall_ranks(struct fsl_seen_ranks *out, const char *state_path, const char *job);
/* Makes the folder of the state file. */
enum fsl_status fsl_state_prepare_folder(const char *state_path, struct fsl_error *err);

#endif
