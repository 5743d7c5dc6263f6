/* style.css and page.js of this folder, which the build turns into texts (cmake/page.cmake). */
#ifndef FSL_REPORT_PAGE_ASSETS_H
#define FSL_REPORT_PAGE_ASSETS_H

extern const char fsl_html_style[], fsl_html_script[];
/* Their SHA-256 as 64 hexadecimal digits. */
extern const char fsl_html_style_sha256[], fsl_html_script_sha256[];

#endif
