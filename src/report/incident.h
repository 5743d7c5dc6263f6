/* Incidents in reports: what a run saw, and what receivers are told. */
#ifndef FSL_REPORT_INCIDENT_H
#define FSL_REPORT_INCIDENT_H

#include "report/reporter.h"
#include "state/incidents.h"

/* What this run saw of the job, and the texts that the look borrows. */
struct fsl_incident_sight {
	struct fsl_incident_look look;
	struct fsl_arena arena;
};
/* FSL_ERR_MEMORY; free with fsl_incident_sight_fini in any case. */
enum fsl_status fsl_incident_sight_take(struct fsl_incident_sight *out,
					const struct fsl_report *report,
					const struct fsl_config *config, struct fsl_error *err);
void fsl_incident_sight_fini(struct fsl_incident_sight *sight);

/* "critical" if the job stands or loses 20 % and more, else "warning"; static. */
const char *fsl_incident_severity(const struct fsl_incident *incident);

/*
 * The edge as JSON (docs/edge.schema.json), to be freed with fsl_free; NULL if memory is short.
 * @n_of_host: incidents of its worst host in seven days, this one with them.
 */
char *fsl_incident_edge_json(const struct fsl_incident *incident, int64_t now_ns,
			     int64_t n_of_host);

#endif
