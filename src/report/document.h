/*
 * A JSON document under construction. One failed allocation marks the whole document as failed and
 * every later call does nothing, so that the forms in the files *_json.c read as
 * lists of keys; fsl_document_finish tells the result.
 */
#ifndef FSL_REPORT_DOCUMENT_H
#define FSL_REPORT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "config/config.h"
#include "model/verdict.h"
#include "text/json_write.h"

struct fsl_profile_cluster;
struct fsl_report;

struct fsl_document {
	bool has_failed; /* out of memory */
};

/* Number of decimals that are written, by unit. Rounding keeps the bytes equal on all machines and
 * compilers. */
enum {
	FSL_DECIMALS_MS = 3,
	FSL_DECIMALS_RATIO = 4,
	FSL_DECIMALS_MINUTES = 2,
};

enum { FSL_GROUPS_LISTED_MAX = 64 }; /* the file stays readable in jobs of thousands of groups */

/* @key NULL: @parent is an array. @parent NULL: a root, or the parent could not be made. Returned
 * values are owned by their parent. */
cJSON *fsl_document_object(struct fsl_document *document, cJSON *parent, const char *key);
cJSON *fsl_document_array(struct fsl_document *document, cJSON *parent, const char *key);
/* Hands over an item that was made by cJSON; NULL: it could not be made. */
void fsl_document_item(struct fsl_document *document, cJSON *parent, const char *key, cJSON *item);
/* Broken UTF-8 is replaced by U+FFFD. NULL reads as "". */
void fsl_document_text(struct fsl_document *document, cJSON *parent, const char *key,
		       const char *text);
/* null if @text is NULL or "". */
void fsl_document_told(struct fsl_document *document, cJSON *parent, const char *key,
		       const char *text);
void fsl_document_bool(struct fsl_document *document, cJSON *parent, const char *key, bool value);
void fsl_document_null(struct fsl_document *document, cJSON *parent, const char *key);
/* Writes all 19 digits. */
void fsl_document_integer(struct fsl_document *document, cJSON *parent, const char *key,
			  int64_t value);
/* null if @value is negative. */
void fsl_document_index(struct fsl_document *document, cJSON *parent, const char *key,
			int64_t value);
void fsl_document_count(struct fsl_document *document, cJSON *parent, const char *key,
			uint64_t value);
/* Rounded to @decimals; null when not finite. */
void fsl_document_number(struct fsl_document *document, cJSON *parent, const char *key,
			 double value, int decimals);
/* Rounded to @digits significant digits; null when not finite. */
void fsl_document_significant(struct fsl_document *document, cJSON *parent, const char *key,
			      double value, int digits);
/* ISO 8601 in UTC; null for FSL_NS_ABSENT. */
void fsl_document_time(struct fsl_document *document, cJSON *parent, const char *key,
		       int64_t time_ns);
void fsl_document_ranks(struct fsl_document *document, cJSON *parent, const char *key,
			const int32_t *ranks, size_t n_ranks);
/* Returns @root. If anything failed, frees @root and returns NULL. */
cJSON *fsl_document_finish(struct fsl_document *document, cJSON *root);

/* Writes one number; the key is its name and unit in camel case: {"own", 560.0, "ms"} is "ownMs":
 * 560.0. */
void fsl_document_fact(struct fsl_document *document, cJSON *parent, const struct fsl_fact *fact);

/* Parts that several documents have. */

void fsl_document_evidence(struct fsl_document *document, cJSON *parent,
			   const struct fsl_culprit *culprit);
void fsl_document_suspects(struct fsl_document *document, cJSON *parent, const char *key,
			   const struct fsl_suspect *suspects, size_t n_suspects);
/* null if the job was not replayed. */
void fsl_document_replay(struct fsl_document *document, cJSON *parent,
			 const struct fsl_replay_summary *replay);
/* Nothing for a capture that was judged as a whole. */
void fsl_document_chapters(struct fsl_document *document, cJSON *parent,
			   const struct fsl_localisation *localisation);
/* "replay" or "waits"; null if nothing was lost. */
void fsl_document_loss_source(struct fsl_document *document, cJSON *parent,
			      const struct fsl_localisation *localisation);
/* @run NULL: without the names of groups. */
void fsl_document_topology(struct fsl_document *document, cJSON *parent,
			   const struct fsl_topology *topology, const struct fsl_run *run);
/* @run NULL: without filesWithProblems. */
void fsl_document_coverage(struct fsl_document *document, cJSON *parent,
			   const struct fsl_coverage *coverage, const struct fsl_run *run);
void fsl_document_engine(struct fsl_document *document, cJSON *parent, const char *algorithm);
/* "findings": what judges say of a capture; of other sources the verdict in their codes. */
void fsl_document_findings(struct fsl_document *document, cJSON *parent,
			   const struct fsl_report *report);
/* "topology" of a capture, as fsl_document_topology writes that of markers. */
void fsl_document_capture_topology(struct fsl_document *document, cJSON *parent,
				   const struct fsl_profile_cluster *cluster);
/* "links" of a capture if a link is to blame, else null. */
void fsl_document_capture_links(struct fsl_document *document, cJSON *capture,
				const struct fsl_report *report);
/* "capture": its ranks, steps, stages, groups, links and files. */
void fsl_document_capture(struct fsl_document *document, cJSON *parent,
			  const struct fsl_report *report);

#endif
