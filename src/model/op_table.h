/*
 * Operations of a job with pipeline stages and data-parallel replicas, one row each, as ByteDance's
 * StragglerAnalysis keeps them: which worker ran which operation of which step, when, and for how
 * long. Tensor-parallel ranks are one worker.
 */
#ifndef FSL_MODEL_OP_TABLE_H
#define FSL_MODEL_OP_TABLE_H

#include "base/mem.h"

enum fsl_op_type {
	FSL_OP_FORWARD,
	FSL_OP_BACKWARD,
	FSL_OP_FORWARD_SEND,
	FSL_OP_FORWARD_RECEIVE,
	FSL_OP_BACKWARD_SEND,
	FSL_OP_BACKWARD_RECEIVE,
	FSL_OP_PARAMS_GATHER,   /* data-parallel, before the forward passes of a chunk */
	FSL_OP_GRADS_SCATTER,   /* data-parallel, behind the backward passes of a chunk */
	FSL_OP_SEPARATE_GRADS,  /* data-parallel */
	FSL_OP_LAYERNORM_GRADS, /* tensor-parallel */
	FSL_OP_EMBEDDING_GRADS, /* of the first and the last stage */
	FSL_OP_CLIP,            /* over all workers */
	FSL_OP_OPTIMIZER,
	FSL_OP_GC,
	FSL_OP_TYPES_N
};
/* "forward-compute", as the table spells it. */
extern const char *const fsl_op_type_texts[FSL_OP_TYPES_N];
/* It moves data: all members end together. */
bool fsl_op_is_communication(enum fsl_op_type type);

struct fsl_op_row {
	double begin_s, dur_s;
	int32_t dp, stage, rank;     /* replica, pipeline stage, global rank of the worker */
	int32_t step, seq;           /* number of the operation within its type, step and worker */
	int32_t chunk, global_chunk; /* of the model: within the stage, and in all; -1: not told */
	enum fsl_op_type type;
};

/* Owned; start as {0}. */
struct fsl_op_table {
	struct fsl_op_row *rows;
	size_t n_rows, rows_capacity;
	size_t n_dropped;      /* rows of other types, and rows that are no operations */
	uint64_t dropped_line; /* of the first of them */
};
void fsl_op_table_fini(struct fsl_op_table *table);

#endif
