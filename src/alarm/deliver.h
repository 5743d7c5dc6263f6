/* Puts edges of incidents into the outbox, and tells them to their channels. */
#ifndef FSL_ALARM_DELIVER_H
#define FSL_ALARM_DELIVER_H

#include "config/config.h"
#include "state/incidents.h"
#include "state/state.h"

/* True if the configuration names a receiver of edges. */
bool fsl_alarm_has_channels(const struct fsl_config *config);

/* Time that one receiver may take: its part of alarm_timeout_s, so that one that hangs leaves the
 * others theirs. ns. */
int64_t fsl_alarm_share_ns(const struct fsl_config *config);

/* Puts an edge into the outbox for each channel that is on, in the transaction of the state. @text:
 * docs/edge.schema.json. */
enum fsl_status fsl_alarm_put(struct fsl_state *state, const struct fsl_config *config,
			      const char *incident, enum fsl_incident_edge edge, const char *text,
			      struct fsl_error *err);

/*
 * Tells each channel what is due, oldest first, no transaction being open. A receiver that does not
 * take an edge is warned of, and tried again in a later run; all of them together get
 * alarm_timeout_s. Faults cost no verdict.
 */
void fsl_alarm_deliver(struct fsl_state *state, const struct fsl_config *config);

#endif
