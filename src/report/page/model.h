/* The facts of a case that charts need, checked: its document may be hostile. */
#ifndef FSL_REPORT_PAGE_MODEL_H
#define FSL_REPORT_PAGE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include <failslow/error.h>

#include "base/mem.h"

enum { FSL_PAGE_PARTS_MAX = 8 };

struct fsl_html_rank {
	int64_t rank;
	int64_t host;  /* index of hosts; -1: unknown */
	int64_t stage; /* pipeline stage; -1: unknown */
	int64_t peers; /* number of the class of ranks with the same work; -1: unknown */
	/* Per step, ms; NaN: unknown. */
	double cost_ms, own_ms, peers_ms, late_ms, wait_ms;
	double part_ms[FSL_PAGE_PARTS_MAX];
	const char *last_event; /* NULL: unknown */
	bool is_culprit, is_victim, is_waiting, is_stopped;
	bool is_named; /* by the verdict: culprits, else ranks of a loss or of the first finding */
};

struct fsl_html_step {
	int64_t step;
	double at_ms, ms;
	bool has_checkpoint;
};

enum { FSL_PAGE_SIZES_MAX = 8 };

/* Transfers of one size over a link. */
struct fsl_html_size {
	double n_bytes, ms;
};

/* The transfer of a link, and that of links like it, ms per step. */
struct fsl_html_link {
	int64_t *ranks; /* [n_ranks >= 2]: two ends, or members of a group */
	size_t n_ranks;
	const char *operation;
	double ms, usual_ms;
	bool is_directed;
	struct fsl_html_size sizes[FSL_PAGE_SIZES_MAX];
	size_t n_sizes; /* 0: the files do not tell sizes */
};

/* A matrix of ranks over time: codes of fsl_matrix_ms(). */
struct fsl_html_matrix {
	const unsigned char *codes; /* [rank_idx * n_columns + column]; NULL: not told */
};

/* Texts are borrowed from the document, arrays live in the arena. */
struct fsl_html {
	struct fsl_arena arena;
	const cJSON *root;
	struct fsl_html_rank *ranks; /* as in the document: rising */
	size_t n_ranks;
	const char **hosts;
	size_t n_hosts;
	const char *part_names[FSL_PAGE_PARTS_MAX];
	size_t n_parts;
	struct fsl_html_step *steps;
	size_t n_steps;
	int64_t every; /* steps of the job per item of steps */
	struct fsl_html_link *links;
	size_t n_links; /* 0: no link is to blame */
	struct fsl_html_matrix own, loss;
	size_t n_columns;
	double step_ms; /* the scale of costs; NaN: unknown */
	size_t worst;   /* index of the rank that is told: culprit, else costliest; SIZE_MAX */
	size_t n_named;
	size_t n_culprits, n_victims;
	bool has_stages;     /* two stages and more are known */
	char stage_name[24]; /* of the stage that is named */
	bool is_of_stage; /* the verdict names a pipeline stage: its ranks against other stages */
	bool is_capture;  /* of a profiler */
	int64_t since_step, until_step; /* over which ranks are compared; -1: open */
};

/* Fills @out (overwritten; release with fsl_html_fini) from a document that outlives it.
 * FSL_ERR_FORMAT if it is no case, FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_html_read(struct fsl_html *out, const cJSON *document, struct fsl_error *err);
void fsl_html_fini(struct fsl_html *page);

/* The kernel trace that the case tells beside its charts; NULL: none. */
const cJSON *fsl_html_host_trace(const struct fsl_html *page);

/* Walk of documents: NULL, "" or NaN if the key is absent or of another kind. */
const cJSON *fsl_html_at(const cJSON *object, const char *key);
const char *fsl_html_text(const cJSON *object, const char *key);
double fsl_html_number(const cJSON *object, const char *key);
/* -1 if it is no number from 0 to the nanoseconds of the year 2099. */
int64_t fsl_html_index_of(const cJSON *item);
int64_t fsl_html_index(const cJSON *object, const char *key);

/* Index of the rank with a number; SIZE_MAX: none. */
size_t fsl_html_find(const struct fsl_html *page, int64_t rank);
/* Name of the host of a rank; "" if unknown. */
const char *fsl_html_host(const struct fsl_html *page, const struct fsl_html_rank *rank);
/* True for ranks that @rank_idx is compared with: others that do the same work, or, if a stage is
 * named, those of other stages. */
bool fsl_html_is_peer(const struct fsl_html *page, size_t rank_idx, size_t other_idx);
/* Median of a member of the peers of a rank: @offset by offsetof(). */
double fsl_html_peers_median(const struct fsl_html *page, size_t rank_idx, size_t offset);

/* The class of a cost (fsl_cost_class()); 0 if the cost or the step is unknown. */
int fsl_html_class(const struct fsl_html *page, double cost_ms);

#endif
