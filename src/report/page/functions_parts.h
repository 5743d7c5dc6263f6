/* Parts of the page of functions across workers, for functions_*.c alone. */
#ifndef FSL_REPORT_PAGE_FUNCTIONS_PARTS_H
#define FSL_REPORT_PAGE_FUNCTIONS_PARTS_H

#include "report/page/functions_model.h"
#include "report/page/parts.h"

/* The parts below in their order, and the data: all between head and script. */
void fsl_functions_put_body(struct fsl_markup *markup, const struct fsl_html_functions *page);

/* Headline, reason, and the facts: who, which function, how, at what cost. */
void fsl_functions_put_facts(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* Parts of the time of each worker. */
void fsl_functions_put_shares(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* The told function on all workers; the script exchanges it. */
void fsl_functions_put_one(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* The five sections, which are tabs with a script. */
void fsl_functions_put_sections(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* Call paths of the told worker; nothing if there are none. */
void fsl_functions_put_flame(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* Kernels by operations and bytes; nothing if no kernel has both. */
void fsl_functions_put_roofline(struct fsl_markup *markup, const struct fsl_html_functions *page);
void fsl_functions_put_workers(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* How hosts feed their devices; nothing if the document does not tell it. */
void fsl_functions_put_figures(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* The command that cuts the slice of the finding out of the trace. */
void fsl_functions_put_slice(struct fsl_markup *markup, const struct fsl_html_functions *page);
void fsl_functions_put_technical(struct fsl_markup *markup, const struct fsl_html_functions *page);
/* Figures for the script, as JSON in a script element that is not run. */
void fsl_functions_put_data(struct fsl_markup *markup, const struct fsl_html_functions *page);

/* A kernel without arguments and templates, or the last frames of a call path, of at most @n_most
 * bytes and some. */
void fsl_functions_put_name(struct fsl_markup *markup, const struct fsl_html_function *function,
			    size_t n_most);
/* The whole name with its shape, or at most 600 bytes of it. */
void fsl_functions_put_whole_name(struct fsl_markup *markup,
				  const struct fsl_html_function *function);
/* The begin of a text of at most @n_most bytes, with "…" if it is cut. */
void fsl_functions_put_begin(struct fsl_markup *markup, const char *text, size_t n_most);
/* "36 %", or "–" if @share is unknown. */
void fsl_functions_put_share(struct fsl_markup *markup, double share);
/* "5906 µs", "45.5 ms", or "–"; the script has the same limit. */
enum { FSL_FUNCTIONS_MS_FROM_US = 10000 };
void fsl_functions_put_us(struct fsl_markup *markup, double us);
/* The same as a cell of a table, which sorts by µs. */
void fsl_functions_put_us_cell(struct fsl_markup *markup, double us);
/* The word for a section of the document, "compute" to "idle". */
void fsl_functions_say_section(struct fsl_markup *markup, const char *section);
/* Medians over workers that are no culprits: of the duration of one call, and of the number of
 * calls; NaN: there are none. */
double fsl_functions_peers_us(const struct fsl_html_functions *page,
			      const struct fsl_html_function *function);
double fsl_functions_peers_count(const struct fsl_html_functions *page,
				 const struct fsl_html_function *function);

/* Workers of a picture: up to FSL_FUNCTIONS_BINS_MAX bins in the order of ranks. */
enum { FSL_FUNCTIONS_BINS_MAX = 128 };
struct fsl_functions_bins {
	size_t n, per;      /* bins, and workers of a bin; the last one may have fewer */
	double left, width; /* of the first bin, and of each; in units of a picture */
	size_t labels_every;
};
struct fsl_functions_bins fsl_functions_bins_of(const struct fsl_html_functions *page, double left,
						double right);
/* Numbers of ranks below the bins, those of culprits in bold. */
void fsl_functions_put_bin_labels(struct fsl_markup *markup, const struct fsl_html_functions *page,
				  const struct fsl_functions_bins *bins, double y);
/* True if a worker of the bin is a culprit. */
bool fsl_functions_bin_is_culprit(const struct fsl_html_functions *page,
				  const struct fsl_functions_bins *bins, size_t bin);

#endif
