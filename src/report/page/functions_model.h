/* The facts of a document of functions across workers (failslow.functions/1) that its page needs,
 * checked: the document may be hostile. Its texts are borrowed, arrays live in the arena. */
#ifndef FSL_REPORT_PAGE_FUNCTIONS_MODEL_H
#define FSL_REPORT_PAGE_FUNCTIONS_MODEL_H

#include "report/page/model.h"

enum fsl_html_section {
	FSL_HTML_COMPUTE,
	FSL_HTML_MEMORY,
	FSL_HTML_COMMUNICATION,
	FSL_HTML_RUNTIME,
	FSL_HTML_PYTHON,
	FSL_HTML_SECTIONS_N
};
/* Their names in the document and in ids: "compute" to "python". */
extern const char *const fsl_html_section_ids[FSL_HTML_SECTIONS_N];

/* Parts of a worker's window, in the order of the picture. */
enum fsl_html_share {
	FSL_HTML_SHARE_COMPUTE,
	FSL_HTML_SHARE_MEMORY,
	FSL_HTML_SHARE_COMMUNICATION,
	FSL_HTML_SHARE_IDLE,
	FSL_HTML_SHARES_N
};

struct fsl_html_worker {
	int64_t rank;
	const char *host;    /* "": unknown */
	const char *section; /* in which it works longer than its peers; "": in none */
	double excess;       /* how much longer, as share of its trace; NaN: unknown */
	double relative_score, individual_score, same_work; /* NaN: unknown */
	double window_ms;                                   /* NaN: unknown */
	double shares[FSL_HTML_SHARES_N];                   /* of the window; NaN: unknown */
	bool is_culprit, is_victim, is_straggler;
};

/* A function on one worker. */
struct fsl_html_cell {
	double ratio;   /* share of the trace; NaN: not told */
	double mean_us; /* of one call; NaN: the worker has none */
	double count;   /* calls; NaN: not told */
	bool is_abnormal;
};

struct fsl_html_function {
	enum fsl_html_section section;
	const char *name, *shape;      /* "": no shape */
	const char *group;             /* class of a collective, as "ring"; else "" */
	double ratio;                  /* mean over the workers */
	double call_us;                /* of one call, median of the workers; NaN: unknown */
	double flops, bytes;           /* of one call, by counters; NaN: not recorded */
	struct fsl_html_cell *cells;   /* [n_workers] */
	double usual_ratio;            /* median of the workers that are no culprits */
	double ratio_max, mean_us_max; /* over the workers; 0: none */
	size_t n_abnormal;
};

struct fsl_html_functions {
	struct fsl_arena arena;
	const cJSON *root;
	struct fsl_html_worker *workers; /* by rank, rising */
	size_t n_workers;
	struct fsl_html_function *items; /* by section, then as in the document */
	size_t n_items;
	size_t n_cut[FSL_HTML_SECTIONS_N]; /* functions beyond the limits of a page */
	size_t n_culprits, n_victims, n_stragglers;
	size_t worst; /* index of the worker that is told; SIZE_MAX: there is none */
	size_t told;  /* index of the function that is told; SIZE_MAX: there is none */
};

/* True if the document is one of functions. */
bool fsl_html_is_functions(const cJSON *document);
/* Fills @out (overwritten; release with fsl_html_functions_fini) from a document that outlives it.
 * FSL_ERR_FORMAT, FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_html_functions_read(struct fsl_html_functions *out, const cJSON *document,
					struct fsl_error *err);
void fsl_html_functions_fini(struct fsl_html_functions *page);

/* Index of the worker of a rank; SIZE_MAX: none. */
size_t fsl_html_worker_of(const struct fsl_html_functions *page, int64_t rank);

#endif
