/* The names that the Ascend profiler gives to events of trace_view.json. */
#ifndef FSL_SOURCE_ASCEND_TRACE_NAMES_H
#define FSL_SOURCE_ASCEND_TRACE_NAMES_H

#include "chrome/trace_event.h"

enum fsl_trace_name {
	FSL_TRACE_NAME_OTHER,
	FSL_TRACE_NAME_STEP,          /* ProfilerStep#50; event->number is its step */
	FSL_TRACE_NAME_DATALOADER,    /* "dataloader" in any case anywhere */
	FSL_TRACE_NAME_SYNCHRONIZE,   /* AscendCL@aclrtSynchronize... */
	FSL_TRACE_NAME_COMPILE,       /* AscendCL@opCompile */
	FSL_TRACE_NAME_ACL,           /* AscendCL@ and anything else */
	FSL_TRACE_NAME_LAUNCH,        /* Node@launch */
	FSL_TRACE_NAME_RECEIVE,       /* hcom_receive... */
	FSL_TRACE_NAME_COMPUTING,     /* slices of the Overlap Analysis, here... */
	FSL_TRACE_NAME_COMMUNICATION, /* */
	FSL_TRACE_NAME_EXPOSED,       /* Communication(Not Overlapped) */
	FSL_TRACE_NAME_FREE,          /* ...to here */
	FSL_TRACE_NAME_FREQ,          /* AI Core Freq */
	FSL_TRACE_NAME_PROCESS,       /* process_name */
	FSL_TRACE_NAME_SIGNAL,        /* Notify_Wait: for a signal of another rank */
};

enum fsl_trace_category {
	FSL_TRACE_CATEGORY_NONE,
	FSL_TRACE_CATEGORY_HOST_TO_DEVICE, /* HostToDevice */
	FSL_TRACE_CATEGORY_TORCH,          /* async_npu */
	FSL_TRACE_CATEGORY_QUEUE,          /* async_task_queue */
	FSL_TRACE_CATEGORY_PYTHON,         /* python_function */
	FSL_TRACE_CATEGORY_GC,             /* gc in any case */
};

/* Kinds of the text args.name. */
enum fsl_trace_process {
	FSL_TRACE_PROCESS_OTHER,
	FSL_TRACE_PROCESS_DEVICE,        /* Ascend Hardware */
	FSL_TRACE_PROCESS_COMMUNICATION, /* HCCL, Communication */
	FSL_TRACE_PROCESS_OVERLAP,       /* Overlap Analysis */
};

/* Kinds of the text args["Task Type"]: cores that run kernels, and copies. */
enum fsl_trace_core {
	FSL_TRACE_CORE_OTHER,
	FSL_TRACE_CORE_CUBE,
	FSL_TRACE_CORE_VECTOR,
	FSL_TRACE_CORE_MIX_CUBE,
	FSL_TRACE_CORE_MIX_VECTOR,
	FSL_TRACE_CORE_CPU,
	FSL_TRACE_CORE_DSA,  /* random numbers */
	FSL_TRACE_CORE_COPY, /* no core: a copy of memory, outside of collectives */
};

/* Places in event->args. */
enum fsl_trace_arg_place {
	FSL_TRACE_ARG_MHZ,     /* args.MHz */
	FSL_TRACE_ARG_PEER,    /* args["dst rank"] */
	FSL_TRACE_ARG_PROCESS, /* args.name, an enum fsl_trace_process */
	FSL_TRACE_ARG_CORE,    /* args["Task Type"], an enum fsl_trace_core */
	FSL_TRACE_ARGS_N
};

/* Kinds of flows. */
enum fsl_trace_flow {
	FSL_TRACE_FLOW_LAUNCH, /* from a launch by CANN to its task */
	FSL_TRACE_FLOW_TORCH,  /* from the framework's operator to its task */
	FSL_TRACE_FLOW_QUEUE,  /* in the task queue, from Enqueue to Dequeue */
	FSL_TRACE_FLOWS_N
};

/* The vocabulary with the tables that it points to: stays where it was made. */
struct fsl_trace_names {
	struct fsl_trace_vocabulary vocabulary;
	struct fsl_trace_words processes, cores;
	struct fsl_trace_arg args[FSL_TRACE_ARGS_N];
};
void fsl_trace_names_init(struct fsl_trace_names *names);

/* As fsl_trace_event_fault, and what an event of these names must have. */
const char *fsl_trace_names_fault(const struct fsl_trace_event *event);

#endif
