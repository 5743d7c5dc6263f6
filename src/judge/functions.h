/*
 * Functions across the workers of a job: which worker differs from its peers in which function, and
 * whether that makes it slow or only makes it wait. Differential observability as in PerfTracker
 * (arXiv 2506.08528): a function on a worker is a point of share of the trace, mean and spread of
 * its duration, each as share of the greatest one of all workers (the spread: of the greatest mean
 * if that is more); the distance of two workers is the sum of the three differences.
 */
#ifndef FSL_JUDGE_FUNCTIONS_H
#define FSL_JUDGE_FUNCTIONS_H

#include "capture/cluster.h"
#include "capture/functions.h"
#include "capture/worker_figures.h"

struct fsl_functions_options {
	double delta;     /* two workers differ in a function from this distance on; 0 to 3 */
	double k;         /* median absolute deviations of a worker that stands out */
	size_t sample;    /* peers that each worker is compared with, at least 1 */
	double ratio_min; /* share of the trace that matters */
};
struct fsl_functions_options fsl_functions_defaults(void);

/* Name of worker->excess_class for documents: "compute" to "python", "idle". */
const char *fsl_functions_class_text(enum fsl_function_class class);

/* A function on one worker. */
struct fsl_function_cell {
	const struct fsl_function *function; /* NULL: the worker has none; borrowed */
	double ratio;                        /* share of its trace */
	int32_t n_different;                 /* peers that differ; -1: not compared */
	bool is_abnormal;                    /* it stands out among its peers */
	double excess;                       /* ratio beyond the median of its peers */
};

/* A function over all workers. */
struct fsl_function_row {
	enum fsl_function_class class;
	const char *name, *shape;
	bool is_wait;                    /* takes long on workers that wait for others */
	struct fsl_function_cell *cells; /* [n_workers] */
	double mean_ratio, max_ratio;    /* over all workers; 0 if a worker has none */
	double median_ns;                /* of one call, median of the workers; NaN: of Python */
	double median_count;             /* of calls, likewise */
	size_t n_abnormal;
	uint32_t name_id;      /* of kernels: the same for all shapes of a name */
	bool has_other_shapes; /* in other rows: their sum is compared */
};

/* How a worker's host feeds its device, in one number each. */
enum fsl_worker_figure {
	FSL_FIGURE_HOST_WAIT, /* share of the trace in which the busiest stream waits for a launch
			       */
	FSL_FIGURE_LAUNCH_DELAY, /* us, median from the end of a launch to the begin of its work */
	FSL_FIGURE_SHORT_WORK,   /* share of works that take less time than their launch */
	FSL_FIGURE_QUEUE,     /* launched works that have not begun: mean of the busiest stream */
	FSL_FIGURE_HOST_LINK, /* GB/s of copies between host and device */
	FSL_FIGURE_PATH_HOST, /* share of the critical path that is the host's */
	FSL_WORKER_FIGURES_N
};

struct fsl_function_worker {
	const struct fsl_profile_rank *rank;
	const struct fsl_functions *functions;
	size_t stage;       /* workers of one stage are peers; 0 without stages */
	double utilisation; /* share of the trace in which it computes */
	bool is_utilisation_abnormal;
	double communication; /* share of the trace in which it communicates and does not compute */
	double idle;          /* share of the trace in which the device does nothing */
	/* How much more its own work takes than that of its peers, as share of the trace, in the
	 * class in which that is most; 0: nothing stands out. Without such a class the device may
	 * be idle for long: FSL_FUNCTION_CLASSES_N. */
	double excess;
	enum fsl_function_class excess_class;
	double shapes_excess; /* part of that of kernels that run in several shapes */
	bool has_peers;       /* enough of them for one to stand out */
	bool is_damaged; /* parts of its trace are lost: idle time and call paths tell nothing */
	bool is_culprit, is_victim;
	double relative_score, individual_score; /* NaN: unknown */
	double same_work_share; /* of the time of kernels, in those that all workers have */
	bool is_straggler;      /* by one of the scores */
	bool has_other_work;    /* so the score may tell what it does, not how fast */
	double figures[FSL_WORKER_FIGURES_N];  /* NaN: unknown */
	double usual[FSL_WORKER_FIGURES_N];    /* median of its stage; NaN: unknown */
	bool is_unusual[FSL_WORKER_FIGURES_N]; /* a figure stands out among those of its peers */
};

enum fsl_functions_verdict {
	FSL_FUNCTIONS_NONE,
	FSL_FUNCTIONS_CULPRITS, /* and victims */
	FSL_FUNCTIONS_INSUFFICIENT,
};

struct fsl_functions_view {
	struct fsl_arena arena;
	struct fsl_function_sampled sampled[FSL_SAMPLED_N]; /* of all workers */
	struct fsl_functions_options options;
	struct fsl_function_worker *workers; /* by rank; ranks without functions are left out */
	size_t n_workers;
	struct fsl_function_row *rows; /* by class, the greatest mean ratio first */
	size_t n_rows;
	enum fsl_functions_verdict verdict;
	const char *reason; /* of insufficient evidence: a sentence, static; else "" */
};

/*
 * Compares the workers of a set that was read with functions. @out is overwritten; the set must
 * outlive it. On failure (FSL_ERR_MEMORY) @out is empty.
 */
enum fsl_status fsl_functions_compare(struct fsl_functions_view *out,
				      const struct fsl_profile *profile,
				      const struct fsl_profile_cluster *cluster,
				      const struct fsl_functions_options *options,
				      struct fsl_error *err);
void fsl_functions_view_fini(struct fsl_functions_view *view);

/*
 * Fills scores of all workers as NVIDIA's resiliency extension has them. relative: for each kernel
 * that all workers run, the least median of them over the worker's own, weighted by the time of the
 * kernel. individual: the same for the last step against the least median of the steps up to it.
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_function_scores(struct fsl_functions_view *view, struct fsl_error *err);
/* Fills figures of all workers, and says which stand out. FSL_ERR_MEMORY only. */
enum fsl_status fsl_function_figures(struct fsl_functions_view *view, struct fsl_error *err);
/* A level of the function's counter in percent: as it is, or of the greatest sample of the set.
 * NaN: unknown. */
double fsl_functions_percent(const struct fsl_functions_view *view,
			     const struct fsl_function *function, double level);
/* The stream of a worker that is busy longest; NULL: it has none. */
const struct fsl_stream_figures *
fsl_worker_busiest_stream(const struct fsl_worker_figures *figures);

#endif
