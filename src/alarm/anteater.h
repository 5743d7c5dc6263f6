/* An edge as the message that gala-anteater's detector of slow nodes sends, for consumers that read
 * its topic. */
#ifndef FSL_ALARM_ANTEATER_H
#define FSL_ALARM_ANTEATER_H

#include "alarm/channel.h"

/*
 * {"Timestamp", "Attributes": {"resultCode", "compute", "network", "storage", "abnormalDetail",
 * ...}, "SeverityText", "SeverityNumber", "Body", "is_anomaly"}. A place at fault is an entry of
 * abnormalDetail; the end of an incident has none and is no anomaly. Free with cJSON_free. NULL:
 * out of memory.
 */
char *fsl_anteater_text(const struct fsl_edge *edge);

#endif
