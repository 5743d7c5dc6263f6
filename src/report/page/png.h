/* A chart as PNG, by librsvg and cairo if the host has them. */
#ifndef FSL_REPORT_PAGE_PNG_H
#define FSL_REPORT_PAGE_PNG_H

#include "report/page/page.h"

/* As fsl_html_make_chart(), in light colours, 1,680 pixels wide. FSL_ERR_INPUT: librsvg is not
 * installed, or could not draw. */
enum fsl_status fsl_html_make_png(struct fsl_pack *out, const cJSON *document, const char *name,
				  struct fsl_error *err);

/* Draws an SVG of fsl_html_make_chart() or fsl_html_make_rank(). Errors as above. */
enum fsl_status fsl_html_png_of(struct fsl_pack *out, const struct fsl_pack *svg,
				struct fsl_error *err);

#endif
