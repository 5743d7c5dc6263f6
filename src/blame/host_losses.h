/* Time of a step in which hosts do not keep their devices busy, by symptom: which ranks have it,
 * how long, and what could be won. */
#ifndef FSL_BLAME_HOST_LOSSES_H
#define FSL_BLAME_HOST_LOSSES_H

#include "blame/counts.h"
#include "capture/edges.h"

enum fsl_host_symptom {
	FSL_SYMPTOM_IDLE,       /* the device has nothing to do */
	FSL_SYMPTOM_PREPARING,  /* from the first operator of a step to its first device task */
	FSL_SYMPTOM_COMPILING,  /* operators */
	FSL_SYMPTOM_ALLOCATING, /* memory of the device */
	FSL_SYMPTOM_LOADING,    /* data */
	FSL_SYMPTOM_COLLECTING, /* garbage of Python */
	FSL_SYMPTOM_PAUSING,    /* the host does nothing for the device */
	FSL_SYMPTOM_SYNCHRONISING,
	FSL_SYMPTOMS_N
};

/* One rank, times in ms per step; NaN: not told. */
struct fsl_host_view {
	const struct fsl_profile_rank *rank;
	/* Without the edges: from the begin of the work to its end. */
	double step_ms, free_ms, preparing_ms;
	struct fsl_profile_edges edges;
	double synchronise_ms, compile_ms, allocate_ms; /* of the host, NaN without statistics */
	double n_kernels;
	double long_gaps_ms;               /* the longest ones together */
	const struct fsl_profile_gap *gap; /* the longest; NULL: none told */
	/* From trace_view.json; NaN without it. The longest idle stretches in three parts: until
	 * the framework called the operator that ended the stretch, from then until CANN launched
	 * it, and from then until it began. */
	double framework_ms, cann_ms, device_ms;
	double host_ms;  /* framework_ms + cann_ms, which are NaN, if calls of the framework are not
			    told; else NaN */
	double pause_ms; /* idle stretches in which the host did nothing for the device */
	double dataloader_ms, gc_ms; /* of long calls only */
	bool is_host_bound;          /* the free time is more than in a healthy job */
	double symptom_ms[FSL_SYMPTOMS_N];
};

/* A rank that has more of a symptom than a healthy one may have. */
struct fsl_host_loss {
	const struct fsl_host_view *view;
	double ms, gain_ms; /* of it, what comes back on the level of the others; NaN: not told */
};

struct fsl_symptom_losses {
	struct fsl_host_loss *ranks; /* longest first, then by rank */
	size_t n_ranks;
	bool is_single;     /* few ranks have it and stand out; else it is a loss of the job */
	double ms, step_ms; /* medians of these ranks */
	double others_ms;   /* median of the others; NaN: there are none */
	double gain_ms;     /* of the job; NaN: not told */
};

struct fsl_host_losses {
	struct fsl_arena arena;
	struct fsl_host_view *views; /* [n_ranks] */
	struct fsl_symptom_losses symptoms[FSL_SYMPTOMS_N];
	/* The longest idle times before and behind the work of ranks, ms: nobody can win them. */
	double before_ms, after_ms;
};

struct fsl_host_view fsl_host_view_of(const struct fsl_profile_rank *rank);

/* Fills @out (overwritten). Fails with
 * FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_host_losses_find(struct fsl_host_losses *out, const struct fsl_profile *profile,
				     const struct fsl_look *look, struct fsl_error *err);
void fsl_host_losses_fini(struct fsl_host_losses *losses);

#endif
