/* Names of operations. */
#include "model/op_table.h"

const char *const fsl_op_type_texts[FSL_OP_TYPES_N] = {
	[FSL_OP_FORWARD] = "forward-compute",
	[FSL_OP_BACKWARD] = "backward-compute",
	[FSL_OP_FORWARD_SEND] = "forward-send",
	[FSL_OP_FORWARD_RECEIVE] = "forward-recv",
	[FSL_OP_BACKWARD_SEND] = "backward-send",
	[FSL_OP_BACKWARD_RECEIVE] = "backward-recv",
	[FSL_OP_PARAMS_GATHER] = "params-all-gather",
	[FSL_OP_GRADS_SCATTER] = "grads-reduce-scatter",
	[FSL_OP_SEPARATE_GRADS] = "separate-grads-all-reduce",
	[FSL_OP_LAYERNORM_GRADS] = "layernorm-grads-all-reduce",
	[FSL_OP_EMBEDDING_GRADS] = "embedding-grads-all-reduce",
	[FSL_OP_CLIP] = "optimizer-clip-main-grad",
	[FSL_OP_OPTIMIZER] = "optimizer",
	[FSL_OP_GC] = "gc",
};

bool fsl_op_is_communication(enum fsl_op_type type)
{
	return type >= FSL_OP_FORWARD_SEND && type <= FSL_OP_CLIP;
}

void fsl_op_table_fini(struct fsl_op_table *table)
{
	fsl_free(table->rows);
	*table = (struct fsl_op_table){0};
}
