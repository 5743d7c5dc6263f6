/* Parts of the page of hosts, for hosts_*.c and page.c alone. */
#ifndef FSL_REPORT_PAGE_HOSTS_PARTS_H
#define FSL_REPORT_PAGE_HOSTS_PARTS_H

#include "report/page/hosts_model.h"
#include "report/page/parts.h"

/* The parts below in their order, and the data: all between head and script. */
void fsl_hosts_put_body(struct fsl_markup *markup, const struct fsl_html_hosts *page);

/* Headline, advice, and the facts: who waited, for which CPU, held by whom, at what cost. */
void fsl_hosts_put_facts(struct fsl_markup *markup, const struct fsl_html_hosts *page);
/* Who held each CPU in the worst step. */
void fsl_hosts_put_cpus(struct fsl_markup *markup, const struct fsl_html_hosts *page);
/* Who held the CPUs while the told rank waited. */
void fsl_hosts_put_held(struct fsl_markup *markup, const struct fsl_html_hosts *page);
/* States of the told rank's thread by step, and those of all ranks. */
void fsl_hosts_put_steps(struct fsl_markup *markup, const struct fsl_html_hosts *page);
void fsl_hosts_put_states(struct fsl_markup *markup, const struct fsl_html_hosts *page);
/* How long waits are. */
void fsl_hosts_put_latency(struct fsl_markup *markup, const struct fsl_html_hosts *page);
/* Tables: ranks, advice, threads, interrupts, all traces, how the page was made. */
void fsl_hosts_put_tables(struct fsl_markup *markup, const struct fsl_html_hosts *page);

/* All pictures, in the page of a case whose document has a kernel trace; nothing if it has none. */
void fsl_hosts_put_in_case(struct fsl_markup *markup, const struct fsl_html *page);

/* "hog (3828, 3827, …)", "rank 1 rk1 (3808)", "its own threads"; words as @tag. */
void fsl_hosts_put_holder(struct fsl_markup *markup, const struct fsl_html_holder *holder,
			  const char *tag);
/* A cell with milliseconds; "–" for NaN. */
void fsl_hosts_put_ms_cell(struct fsl_markup *markup, double ms);
/* One entry of a key: a swatch of a class of colours, and a word. */
void fsl_hosts_put_key(struct fsl_markup *markup, const char *class, enum fsl_html_word word);
/* Opens "as a table" with a head. */
void fsl_hosts_open_twin(struct fsl_markup *markup, const int *columns);
void fsl_hosts_close_twin(struct fsl_markup *markup);

#endif
