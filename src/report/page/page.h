/*
 * One self-contained HTML page of a case, of functions across workers, or of hosts, drawn from its
 * document alone: what the terminal says, and the charts that show why. The same document gives the
 * same bytes.
 */
#ifndef FSL_REPORT_PAGE_PAGE_H
#define FSL_REPORT_PAGE_PAGE_H

#include <cjson/cJSON.h>

#include <failslow/error.h>

#include "base/pack.h"

/* Appends the page of a case (failslow.case/2), of functions (failslow.functions/1) or of hosts
 * (failslow.hostbound/1) to @out, UTF-8. The document is not trusted. FSL_ERR_FORMAT,
 * FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_html_make(struct fsl_pack *out, const cJSON *document, struct fsl_error *err);

/* Names of the charts of a case that can stand alone, ended by NULL; functions and hosts
 * have others. */
extern const char *const fsl_html_charts[];
/* Appends one chart as an SVG of its own. FSL_ERR_USAGE: no such chart, or the case has not what it
 * needs; the message says which. */
enum fsl_status fsl_html_make_chart(struct fsl_pack *out, const cJSON *document, const char *name,
				    struct fsl_error *err);

/* Appends the own time of one rank over time, against that of its peers, as an SVG of its own.
 * Errors as above; FSL_ERR_INPUT: the case does not tell it. */
enum fsl_status fsl_html_make_rank(struct fsl_pack *out, const cJSON *document, int64_t rank,
				   struct fsl_error *err);

/* Writes the page of a document to a file, which appears whole or not at all. */
enum fsl_status fsl_html_write(const char *path, const cJSON *document, struct fsl_error *err);
/* The same for --report, whose name the message tells. Takes over the document; NULL: memory is
 * short. */
enum fsl_status fsl_html_report(const char *path, cJSON *document, struct fsl_error *err);

#endif
