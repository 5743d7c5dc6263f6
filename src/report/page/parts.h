/* Parts of the page in their order, for page.c alone. */
#ifndef FSL_REPORT_PAGE_PARTS_H
#define FSL_REPORT_PAGE_PARTS_H

#include "report/page/charts.h"

/* Headline and key facts. */
void fsl_html_put_facts(struct fsl_markup *markup, const struct fsl_html *page);
/* One chart with its head, its picture and its table; nothing if it has nothing and @is_told. */
void fsl_html_put_chart(struct fsl_markup *markup, const struct fsl_html *page,
			const struct fsl_chart *chart, bool is_left_out);
/* Each is left out if the case does not tell it. */
void fsl_html_put_raster(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_capture(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_hang(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_coverage(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_ruled_out(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_whatif(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_ranks(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_files(struct fsl_markup *markup, const struct fsl_html *page);
void fsl_html_put_technical(struct fsl_markup *markup, const struct fsl_html *page);
/* Figures that the script needs, as JSON in a script element that is not run. */
void fsl_html_put_data(struct fsl_markup *markup, const struct fsl_html *page);

/* Head of a section, and of a table with columns; ends with FSL_PAGE_WORDS_N. A column that is a
 * number is followed by FSL_PAGE_RIGHT. */
enum { FSL_PAGE_RIGHT = FSL_PAGE_WORDS_N + 1 };
void fsl_html_open_section(struct fsl_markup *markup, const char *id, enum fsl_html_word title);
void fsl_html_put_head(struct fsl_markup *markup, const int *columns);

#endif
