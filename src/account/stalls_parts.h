/* Shared by the files about stalls. */
#ifndef FSL_ACCOUNT_STALLS_PARTS_H
#define FSL_ACCOUNT_STALLS_PARTS_H

#include <failslow/stats.h>

#include "base/number.h"
#include "blame/case.h"
#include "model/progress.h"

/* The search for the stalls of one job; arrays have @n values, one a step. */
struct fsl_stalls_look {
	struct fsl_perception *out;
	const struct fsl_progress *progress;
	const struct fsl_case *facts;
	struct fsl_arena arena;
	size_t n;
	double *step_ms;         /* without a checkpoint of usual length */
	double *level_ms;        /* usual length at that place */
	double *excess;          /* log(step_ms / level_ms) */
	double *work;            /* 2 n */
	int64_t *gap_ns;         /* in front of the step */
	struct fsl_stall *found; /* [2 n]: one for each stalled step and gap, then joined */
	size_t n_found;
	double usual_save_ns, usual_loading_ns;
	double usual_ops, most_ops; /* operators of a step of the first rank; 0: unknown */
};

static inline int64_t fsl_stalls_larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline double fsl_stalls_ms(int64_t ns)
{
	return (double)ns / FSL_NS_PER_MS;
}

static inline double fsl_stalls_median(double *values, size_t n, double *scratch)
{
	return n > 0 ? fsl_median(values, n, scratch) : 0.0;
}

/* Sets the usual number of operators of a step, from the first rank. */
void fsl_stalls_set_usual_ops(struct fsl_stalls_look *look);
/* True if the operators of a step say that it is an evaluation. It took @lost_ns longer. */
bool fsl_stalls_has_more_work(const struct fsl_stalls_look *look, int64_t step, double lost_ns);
/* Adds restarts that the ids of operators tell, after levels and usual operators are set. */
void fsl_stalls_find_restarts(struct fsl_stalls_look *look);
/* Joins stalls that are periodic; leaves them in order of phase. */
void fsl_stalls_join(struct fsl_stalls_look *look);

/* Sets the reason of a verdict of stalls, which cost @share of the time. FSL_ERR_MEMORY only. */
enum fsl_status fsl_stalls_tell(struct fsl_perception *out, double share, struct fsl_error *err);

#endif
