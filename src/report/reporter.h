/*
 * Reporters write the result of a run to a terminal, to a program, to files or to readers of
 * alarms. They are a table, reporters.def, in the order in which they are called. `detect` and
 * `profile` call `begin` of each; those that return true get the verdict, then `end`.
 */
#ifndef FSL_REPORT_REPORTER_H
#define FSL_REPORT_REPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <failslow/error.h>

#include "account/outcome.h"

struct fsl_blame;
struct fsl_config;
struct fsl_incidents;
struct fsl_match;
struct fsl_confine;
struct fsl_own;
struct fsl_profile_cluster;
struct fsl_profile_findings;
struct fsl_run;
struct fsl_topology;

enum fsl_print { FSL_PRINT_NOTHING, FSL_PRINT_TEXT, FSL_PRINT_JSON, FSL_PRINT_LINE };

/* All that is reported, and where to. All members are borrowed; members that the run does not have
 * are NULL, false or 0. */
struct fsl_report {
	struct fsl_perception
		*perception; /* NULL: nothing is perceived in captures of a profiler */
	struct fsl_localisation *localisation;
	const struct fsl_topology *topology;
	const struct fsl_run *run;
	const struct fsl_steps *steps;  /* of the job; of a long capture: of its newest chapter */
	const struct fsl_steps *series; /* steps of several chapters; NULL or empty: as @steps */
	const struct fsl_blame *blame;  /* of the run and @steps, for pictures */
	const struct fsl_own *own;      /* likewise */
	const struct fsl_match *match;  /* likewise */
	bool is_anomaly;                /* the result is an anomaly: a caller may want to be told */

	/* For captures of a profiler all three are set, else NULL. */
	const struct fsl_profile *profile;
	const struct fsl_profile_cluster *cluster;
	const struct fsl_profile_findings *findings;

	const char *root;         /* of several operands their nearest common folder; NULL: what
				     the configuration or the capture says */
	const char *job_name;     /* of captures; NULL: told from the folder */
	const char *described_by; /* file in the folder that describes the job; NULL: none */

	/* The present; FSL_NS_ABSENT: none is known, as files are looked at that may be old. */
	int64_t now_ns;

	/* Options of the command line. */
	const char *output;    /* folder for the results of captures */
	const char *page_path; /* file for the HTML page; NULL: none */
	bool wants_msprof;     /* also write the files of msprof-analyze into @output */
	enum fsl_print print;
	FILE *stream;    /* stream that @print goes to */
	bool is_beside;  /* captures beside the files of a job, which has a report of its own */
	bool has_beside; /* the report of such a job: that of the captures follows */
	bool is_long;    /* the whole summary, however many lines it has */
	bool colours;    /* the terminal behind @stream shows colours */
	bool has_blocks; /* it shows blocks of UTF-8 */
	int width;       /* of the terminal, columns */

	/* Of the job, once they were brought up to date; NULL: they are not kept. */
	const struct fsl_incidents *incidents;
	/* Paths of files that reporters wrote, for later reporters. */
	const char *perception_path, *localisation_path;
	/* The perception as a document, once a reporter has made it; NULL: not made. */
	struct cJSON *perception_document;
	/* Text of the case as it was kept, without a line break at its end; NULL: not kept. */
	char *case_text;
};

static inline struct fsl_outcome fsl_report_outcome(const struct fsl_report *report)
{
	return (struct fsl_outcome){report->perception, report->localisation, report->steps,
				    report->profile, report->now_ns};
}

/*
 * One way to report. A reporter keeps its state only in @self: zeroed memory of one run, NULL if
 * self_bytes is 0.
 */
struct fsl_reporter {
	const char *name; /* its file is reporter_<name>.c */
	const char *summary;
	size_t self_bytes;
	/*
	 * Takes what it needs of the configuration (@config NULL: the run has none). False: the
	 * reporter has nothing to do in this run, holds nothing, and is not called again.
	 */
	bool (*begin)(void *self, const struct fsl_config *config, const struct fsl_report *report);
	/* Does the work. Later reporters see its changes in @report. */
	enum fsl_status (*verdict)(void *self, struct fsl_report *report, struct fsl_error *err);
	/* Releases what @self holds; NULL: nothing. @is_told: no reporter failed. */
	void (*end)(void *self, bool is_told);
	/*
	 * Says through fsl_confine_allow() what the reporter opens besides the folders of the
	 * results, or that the process must not be confined; NULL: nothing. Called once, before
	 * inputs are read and before any begin().
	 */
	void (*allow)(struct fsl_confine *plan, const struct fsl_config *config);
};

/* The table. */
size_t fsl_reporters_size(void);
const struct fsl_reporter *fsl_reporters_at(size_t idx);

/* Asks all reporters what they need if the process is confined (base/confine.h). */
void fsl_report_allow(struct fsl_confine *plan, const struct fsl_config *config);

/*
 * Calls all reporters with @report. A failure of one does not stop the others; the first failure is
 * returned.
 */
enum fsl_status fsl_report_tell(struct fsl_report *report, const struct fsl_config *config,
				struct fsl_error *err);
/* The same with another table, which ends with NULL. */
enum fsl_status fsl_report_tell_through(const struct fsl_reporter *const *reporters,
					struct fsl_report *report, const struct fsl_config *config,
					struct fsl_error *err);

#endif
