/* The begin of every page, for facts.c, functions_facts.c and hosts_facts.c. */
#ifndef FSL_REPORT_PAGE_HEAD_H
#define FSL_REPORT_PAGE_HEAD_H

#include "report/page/charts.h"

/* Opens the header with the state of the job: the verdict; more words may follow. */
void fsl_html_begin_header(struct fsl_markup *markup, const char *verdict, bool is_calm);
/* Ends the state, and names the job by the last part of @path; more words may follow. */
void fsl_html_end_state(struct fsl_markup *markup, const char *path);
/* Ends the header with the headline, its reason and what to do; "": none. */
void fsl_html_end_header(struct fsl_markup *markup, const char *headline, const char *reason,
			 const char *next);

/* Opens and ends one of the key facts. */
void fsl_html_begin_fact(struct fsl_markup *markup, enum fsl_html_word title, const char *id);
void fsl_html_end_fact(struct fsl_markup *markup);

#endif
