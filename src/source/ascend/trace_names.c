/* The Ascend profiler's names as tables. */
#include "source/ascend/trace_names.h"

#define N_OF(items) (sizeof(items) / sizeof((items)[0]))

/* In this order: AscendCL@ stands behind the calls that begin with it, what may be anywhere last.
 */
static const struct fsl_trace_word name_words[] = {
	{FSL_TRACE_NAME_SYNCHRONIZE, FSL_TRACE_HEAD, "AscendCL@aclrtSynchronize", NULL},
	{FSL_TRACE_NAME_COMPILE, FSL_TRACE_WHOLE, "AscendCL@opCompile", NULL},
	{FSL_TRACE_NAME_ACL, FSL_TRACE_HEAD, "AscendCL@", NULL},
	{FSL_TRACE_NAME_RECEIVE, FSL_TRACE_HEAD, "hcom_receive", NULL},
	{FSL_TRACE_NAME_SIGNAL, FSL_TRACE_HEAD_AND_TAIL, "Notify", "Wait"},
	{FSL_TRACE_NAME_STEP, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
	{FSL_TRACE_NAME_COMPUTING, FSL_TRACE_WHOLE, "Computing", NULL},
	{FSL_TRACE_NAME_COMMUNICATION, FSL_TRACE_WHOLE, "Communication", NULL},
	{FSL_TRACE_NAME_EXPOSED, FSL_TRACE_WHOLE, "Communication(Not Overlapped)", NULL},
	{FSL_TRACE_NAME_FREE, FSL_TRACE_WHOLE, "Free", NULL},
	{FSL_TRACE_NAME_FREQ, FSL_TRACE_WHOLE, "AI Core Freq", NULL},
	{FSL_TRACE_NAME_PROCESS, FSL_TRACE_WHOLE, "process_name", NULL},
	{FSL_TRACE_NAME_LAUNCH, FSL_TRACE_WHOLE, "Node@launch", NULL},
	{FSL_TRACE_NAME_DATALOADER, FSL_TRACE_ANYWHERE, "dataloader", NULL},
};

static const struct fsl_trace_word category_words[] = {
	{FSL_TRACE_CATEGORY_PYTHON, FSL_TRACE_WHOLE, "python_function", NULL},
	{FSL_TRACE_CATEGORY_HOST_TO_DEVICE, FSL_TRACE_WHOLE, "HostToDevice", NULL},
	{FSL_TRACE_CATEGORY_TORCH, FSL_TRACE_WHOLE, "async_npu", NULL},
	{FSL_TRACE_CATEGORY_QUEUE, FSL_TRACE_WHOLE, "async_task_queue", NULL},
	{FSL_TRACE_CATEGORY_GC, FSL_TRACE_WHOLE_ANY_CASE, "gc", NULL},
};

static const struct fsl_trace_word process_words[] = {
	{FSL_TRACE_PROCESS_DEVICE, FSL_TRACE_WHOLE, "Ascend Hardware", NULL},
	{FSL_TRACE_PROCESS_COMMUNICATION, FSL_TRACE_WHOLE, "HCCL", NULL},
	{FSL_TRACE_PROCESS_COMMUNICATION, FSL_TRACE_WHOLE, "Communication", NULL},
	{FSL_TRACE_PROCESS_OVERLAP, FSL_TRACE_WHOLE, "Overlap Analysis", NULL},
};

/* In the spelling of kernel_details.csv, and in that of newer traces. */
static const struct fsl_trace_word core_words[] = {
	{FSL_TRACE_CORE_CUBE, FSL_TRACE_WHOLE, "AI_CORE", NULL},
	{FSL_TRACE_CORE_VECTOR, FSL_TRACE_WHOLE, "AI_VECTOR_CORE", NULL},
	{FSL_TRACE_CORE_MIX_CUBE, FSL_TRACE_WHOLE, "MIX_AIC", NULL},
	{FSL_TRACE_CORE_MIX_VECTOR, FSL_TRACE_WHOLE, "MIX_AIV", NULL},
	{FSL_TRACE_CORE_CPU, FSL_TRACE_WHOLE, "AI_CPU", NULL},
	{FSL_TRACE_CORE_DSA, FSL_TRACE_WHOLE, "DSA_SQE", NULL},
	{FSL_TRACE_CORE_CUBE, FSL_TRACE_WHOLE, "KERNEL_AICORE", NULL},
	{FSL_TRACE_CORE_VECTOR, FSL_TRACE_WHOLE, "KERNEL_AIVEC", NULL},
	{FSL_TRACE_CORE_MIX_CUBE, FSL_TRACE_WHOLE, "KERNEL_MIX_AIC", NULL},
	{FSL_TRACE_CORE_MIX_VECTOR, FSL_TRACE_WHOLE, "KERNEL_MIX_AIV", NULL},
	{FSL_TRACE_CORE_CPU, FSL_TRACE_WHOLE, "KERNEL_AICPU", NULL},
	{FSL_TRACE_CORE_COPY, FSL_TRACE_WHOLE, "MEMCPY_ASYNC", NULL},
	{FSL_TRACE_CORE_COPY, FSL_TRACE_WHOLE, "PCIE_DMA_SQE", NULL},
	{FSL_TRACE_CORE_COPY, FSL_TRACE_WHOLE, "SDMA_SQE", NULL},
};

void fsl_trace_names_init(struct fsl_trace_names *names)
{
	fsl_trace_words_init(&names->vocabulary.names, name_words, N_OF(name_words));
	fsl_trace_words_init(&names->vocabulary.categories, category_words, N_OF(category_words));
	fsl_trace_words_init(&names->processes, process_words, N_OF(process_words));
	names->args[FSL_TRACE_ARG_MHZ] =
		(struct fsl_trace_arg){"MHz", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER};
	names->args[FSL_TRACE_ARG_PEER] =
		(struct fsl_trace_arg){"dst rank", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER};
	names->args[FSL_TRACE_ARG_PROCESS] =
		(struct fsl_trace_arg){"name", 0, &names->processes, FSL_TRACE_ARG_NUMBER};
	fsl_trace_words_init(&names->cores, core_words, N_OF(core_words));
	names->args[FSL_TRACE_ARG_CORE] =
		(struct fsl_trace_arg){"Task Type", 0, &names->cores, FSL_TRACE_ARG_NUMBER};
	names->vocabulary.n_args = FSL_TRACE_ARGS_N;
	names->vocabulary.args = names->args;
}

const char *fsl_trace_names_fault(const struct fsl_trace_event *event)
{
	const char *fault = fsl_trace_event_fault(event);
	bool is_freq = event->phase == 'C' && event->name == FSL_TRACE_NAME_FREQ;
	if (fault == NULL && is_freq &&
	    (event->ts_ns == FSL_NS_ABSENT || event->args[FSL_TRACE_ARG_MHZ] < 0)) {
		fault = "a frequency without time or value";
	}
	return fault;
}
