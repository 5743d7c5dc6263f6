/* The order of the page of functions. */
#include "report/page/functions_parts.h"

void fsl_functions_put_body(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	fsl_markup_raw(markup, "<main class=\"functions\">");
	fsl_functions_put_facts(markup, page);
	fsl_markup_raw(markup, "<div class=\"work\"><div class=\"first\">");
	fsl_functions_put_shares(markup, page);
	fsl_markup_raw(markup, "<div class=\"side\">");
	fsl_functions_put_one(markup, page);
	fsl_functions_put_slice(markup, page);
	fsl_markup_raw(markup, "</div></div><div class=\"sections\">");
	fsl_functions_put_sections(markup, page);
	fsl_markup_raw(markup, "</div></div><div class=\"second\">");
	fsl_functions_put_workers(markup, page);
	fsl_functions_put_figures(markup, page);
	fsl_functions_put_technical(markup, page);
	fsl_markup_raw(markup, "</div></main>");
	fsl_functions_put_data(markup, page);
}
