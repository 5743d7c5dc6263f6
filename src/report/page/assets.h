/* Styles and scripts of this folder, which the build turns into texts (cmake/page.cmake): of the
 * page of a case, and of those of functions and of hosts. */
#ifndef FSL_REPORT_PAGE_ASSETS_H
#define FSL_REPORT_PAGE_ASSETS_H

struct fsl_html_asset {
	const char *text;
	const char *sha256; /* 64 hexadecimal digits */
};
extern const struct fsl_html_asset fsl_html_style, fsl_html_script, fsl_html_functions_style,
	fsl_html_functions_script, fsl_html_hosts_style, fsl_html_hosts_script;

#endif
