/*
 * Incidents: what is wrong with a job, from the run that saw it first to the run that saw it well
 * again. An incident keeps its id while it lasts, so that receivers of alarms are told once that it
 * opened and once that it cleared.
 */
#ifndef FSL_STATE_INCIDENTS_H
#define FSL_STATE_INCIDENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "state/state.h"

enum { FSL_INCIDENT_ID_CHARS = 26 };

/* Two problems of different classes are never one incident. */
enum fsl_incident_class {
	FSL_INCIDENT_PLACE, /* ranks, hosts or links are slow */
	FSL_INCIDENT_JOB,   /* the job is, and nobody is named */
	FSL_INCIDENT_HANG,
	FSL_INCIDENT_CLASSES_N
};

enum fsl_incident_status {
	FSL_INCIDENT_PENDING, /* seen once; it may be noise */
	FSL_INCIDENT_OPEN,
	FSL_INCIDENT_CLEARED,
	FSL_INCIDENT_STATUSES_N
};
const char *fsl_incident_status_text(enum fsl_incident_status status); /* "open" */

/* What this run changed. */
enum fsl_incident_edge {
	FSL_EDGE_NONE,
	FSL_EDGE_OPEN,
	FSL_EDGE_UPDATE, /* the loss doubled or halved */
	FSL_EDGE_CLEAR,
	FSL_EDGES_N
};
const char *fsl_incident_edge_text(enum fsl_incident_edge edge); /* "open" */

/* Texts live in the arena of the list; times are FSL_NS_ABSENT if it did not come to that. */
struct fsl_incident {
	char id[FSL_INCIDENT_ID_CHARS + 1]; /* ULID: sorts by the time of the first run */
	const char *job;                    /* real path of the job's folder */
	const char *job_name;
	enum fsl_incident_status status;
	enum fsl_incident_class class;
	enum fsl_incident_edge edge;
	/* As they were when it opened. */
	const char *kind;     /* "slow_rank" */
	const char *cause;    /* "compute"; "": none is known */
	const char *places;   /* as in fsl_incident_look, with commas between */
	const char *hosts;    /* "10.1.0.7,10.1.0.8"; "": none is known */
	const char *ranks;    /* "3,11" */
	const char *headline; /* of the run that saw it last */
	int64_t first_ns, opened_ns, seen_ns, cleared_ns;
	int64_t held_ns;            /* it flaps: not cleared before this time */
	int64_t n_runs, n_clean;    /* that saw it; that saw the job well since */
	int64_t n_ranks_seen;       /* when it was opened */
	double told_share;          /* of the time, at the last edge; 0..1 */
	double lost_share, lost_ms; /* 0..1; per step. NaN: unknown */
	double confidence;
};

struct fsl_incidents {
	struct fsl_arena arena;
	struct fsl_incident *items;
	size_t n_items, capacity;
};
void fsl_incidents_fini(struct fsl_incidents *incidents);

enum fsl_look_result {
	FSL_LOOK_CLEAN,   /* the job runs well, or healed */
	FSL_LOOK_PROBLEM, /* something is wrong now */
	FSL_LOOK_UNKNOWN, /* the run cannot tell: it opens nothing and clears nothing */
};

/* What one run saw of a job; all borrowed. */
struct fsl_incident_look {
	const char *job, *job_name;
	int64_t now_ns;
	enum fsl_look_result result;
	bool has_ended; /* the job is over, and with it what was wrong */
	size_t n_ranks_seen;
	int64_t begin_ns, end_ns; /* of the data; FSL_NS_ABSENT: none were read */
	double forget_hours;      /* ranks that were not seen for so long are not missed */
	const char *const *hosts; /* [n_hosts]: all hosts of the job, each once */
	size_t n_hosts;
	/* Of a problem. */
	enum fsl_incident_class class;
	const char *kind, *cause, *headline;
	/* [n_places], sorted, each once: a host ("10.1.0.7"), a device of it ("10.1.0.7#3", the
	 * fourth), or a rank of unknown host ("rank 3"). A restart gives other ranks to the same
	 * devices, and it is the same incident. */
	const char *const *places;
	size_t n_places;
	const char *bad_hosts, *ranks; /* as in fsl_incident */
	double lost_share, lost_ms;    /* NaN: unknown */
	double confidence;
};

/*
 * Brings the incidents of the job up to date in a transaction, which stays open until
 * fsl_state_settle(). *out (overwritten): incidents that are pending or open, and those that
 * cleared in this run or the one before it, oldest first. A run that is not later than the last one
 * of the job changes nothing. limits.h holds the rules. FSL_ERR_IO, FSL_ERR_MEMORY.
 */
enum fsl_status fsl_incidents_note(struct fsl_state *state, const struct fsl_incident_look *look,
				   struct fsl_incidents *out, struct fsl_error *err);

/* Which incidents are listed; NULL or FSL_NS_ABSENT: all. */
struct fsl_incident_filter {
	const char *job_name, *host;
	int64_t since_ns; /* seen at or after */
	bool only_open;
};
/* *out (overwritten): incidents that were opened once, newest first; in the open transaction. */
enum fsl_status fsl_incidents_find(struct fsl_state *state,
				   const struct fsl_incident_filter *filter,
				   struct fsl_incidents *out, struct fsl_error *err);
/* The same in a transaction of its own. */
enum fsl_status fsl_incidents_list(struct fsl_state *state,
				   const struct fsl_incident_filter *filter,
				   struct fsl_incidents *out, struct fsl_error *err);

/* How often a host had incidents, beside the others. */
struct fsl_host_record {
	const char *host;
	double job_days;             /* for which it was observed, jobs added up */
	int64_t n_incidents, n_jobs; /* opened; in how many jobs */
	int64_t last_ns;             /* newest one seen; FSL_NS_ABSENT: none */
	double expected;             /* incidents, if all hosts were alike */
	double p_value;              /* of so many or more, if all hosts were alike */
	bool stands_out;             /* p_value, times the number of hosts, is below the limit */
};

struct fsl_host_records {
	struct fsl_arena arena;
	struct fsl_host_record *items; /* [n_items]: least p_value first, then by name */
	size_t n_items, capacity;
};

/* Hosts by incidents per job-day since @since_ns. An exact test of two Poisson rates: of all
 * incidents each falls on a host with the probability of its part of the job-days. */
enum fsl_status fsl_hosts_rank(struct fsl_state *state, int64_t since_ns,
			       struct fsl_host_records *out, struct fsl_error *err);
void fsl_host_records_fini(struct fsl_host_records *records);

#endif
