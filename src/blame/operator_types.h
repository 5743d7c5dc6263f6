/* Time of the types of operators on the devices, over all ranks: what bounds the types, and what
 * could be won. */
#ifndef FSL_BLAME_OPERATOR_TYPES_H
#define FSL_BLAME_OPERATOR_TYPES_H

#include "capture/capture.h"

/* The bound of a type: one of the units of the cores (enum fsl_pipe), or what follows. */
enum {
	FSL_BOUND_BLOCKS = FSL_PIPES_N, /* it uses few of the cores */
	FSL_BOUNDS_N,                   /* nothing bounds it, or nothing is told */
};

/* One type. Numbers are per step, summed over ranks. */
struct fsl_operator_type {
	const char *name; /* the types' pool */
	double ms, cpu_ms /* of it on AI CPUs, not on AI cores */, count, cpu_count;
	double pipe_ms[FSL_PIPES_N]; /* of it, in which each unit of the cores worked; 0: not told
				      */
	/* Sums over kernels with known blocks, on cores of a known number: time; time times
	 * blocks; time times cores. */
	double placed_ms, blocks_ms, cores_ms;
	/* From ranks with kernel_details.csv alone. */
	double calls, calls_once;   /* calls with shapes that only one step has */
	double n_shapes_max;        /* different shapes on one rank */
	double calls_of_shapes_max; /* per step, on that rank */
	size_t bound;               /* see above */
};

struct fsl_operator_types {
	struct fsl_strpool *names;
	struct fsl_operator_type *items; /* longest first */
	size_t n_items, capacity;
	size_t n_ranks;     /* that told anything */
	size_t n_steps_min; /* of ranks with kernels; 0: none */
	double ms;          /* all types together, sum over ranks */
	/* Calls that run on AI CPUs, per step and rank, and the type with most of it; NULL: they
	 * take too little. */
	double cpu_ms, cpu_count;
	const struct fsl_operator_type *most_on_cpu;
	/* Types whose shapes change from call to call, and the longest of them; NULL: they take too
	 * little. */
	double changing_ms; /* sum over ranks */
	size_t n_changing;
	const struct fsl_operator_type *first_changing;
};

/* Sums the kernels of each rank, or its op_statistic.csv if it has no kernels, or if its kernels
 * are cut. Start @types as {0}. Fails only when memory is short. */
enum fsl_status fsl_operator_types_sum(struct fsl_operator_types *types,
				       const struct fsl_profile *profile, struct fsl_error *err);
void fsl_operator_types_fini(struct fsl_operator_types *types);

/* True if the kernels of the rank are an excerpt: they hold little of the time that its steps
 * compute, or that op_statistic.csv tells. False without kernels. */
bool fsl_operator_types_are_cut(const struct fsl_profile_rank *rank);

#endif
