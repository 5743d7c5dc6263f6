/* When incidents open, change and clear. The values are decisions of operations, not measured. */
#ifndef FSL_STATE_LIMITS_H
#define FSL_STATE_LIMITS_H

#include "base/number.h"

/* Share of the time: a job that loses as much is told at once, a smaller loss when the next run
 * sees it, too. */
#define FSL_INCIDENT_AT_ONCE_SHARE 0.20
enum {
	FSL_INCIDENT_OPEN_RUNS = 2,  /* a single run may have seen noise */
	FSL_INCIDENT_CLEAR_RUNS = 2, /* whose coverage is that at opening: a lost file cures nothing
				      */
	FSL_INCIDENT_CLEAR_TOLD_RUNS = 2, /* a receiver may miss one */
	FSL_INCIDENT_FLAP_OPENS = 3,      /* within a day: then it is held open for a day */
};
/* Ratio of the loss to that at the last edge; the inverse counts, too. */
#define FSL_INCIDENT_UPDATE_RATIO 2.0
#define FSL_INCIDENT_FLAP_NS      (INT64_C(24) * 3600 * FSL_NS_PER_S)
/* Gap between two runs of a job that counts as observed: a longer one is no cron job at work. */
#define FSL_OBSERVED_GAP_NS (INT64_C(2) * 3600 * FSL_NS_PER_S)
/* Age at which incidents are forgotten. */
#define FSL_INCIDENT_KEEP_NS (INT64_C(400) * 24 * 3600 * FSL_NS_PER_S)
/* A host stands out if chance gives so many incidents to one of the hosts less often. */
#define FSL_REPEAT_P_MAX 0.01
enum { FSL_REPEAT_INCIDENTS_MIN = 3 }; /* fewer happen to any host */

#endif
