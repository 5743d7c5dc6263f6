/* The names that PyTorch's profiler (Kineto) gives to events, in all dialects since 2021. */
#ifndef FSL_SOURCE_KINETO_NAMES_H
#define FSL_SOURCE_KINETO_NAMES_H

#include "chrome/trace_event.h"

enum fsl_kineto_category {
	FSL_KINETO_NONE,
	FSL_KINETO_KERNEL,
	FSL_KINETO_COPY, /* memcpy and memset of the device */
	FSL_KINETO_RUNTIME,
	FSL_KINETO_OPERATOR, /* of the framework */
	FSL_KINETO_ANNOTATION,
	FSL_KINETO_DEVICE_ANNOTATION, /* covers kernels, is no work */
	FSL_KINETO_PYTHON,
	FSL_KINETO_INSTANT,
	FSL_KINETO_SPAN,    /* the time of the profiler itself */
	FSL_KINETO_SYSCALL, /* a system call: time of the function that makes it */
	FSL_KINETO_CPU,     /* a lane of a processor or of the machine: no function */
	FSL_KINETO_SYNC,    /* what a call or a stream waits for */
};

enum fsl_kineto_name {
	FSL_KINETO_OTHER,
	FSL_KINETO_STEP, /* ProfilerStep#12; event->number is its step */
	FSL_KINETO_DATALOADER,
	FSL_KINETO_PARAMS, /* record_param_comms: facts of a collective's host side */
	FSL_KINETO_MEMORY, /* [memory] */
	/* Names of FSL_KINETO_SYNC: streams have the last one, calls the others. */
	FSL_KINETO_STREAM_SYNC,
	FSL_KINETO_CONTEXT_SYNC,
	FSL_KINETO_EVENT_SYNC,
	FSL_KINETO_STREAM_WAIT,
};

/* Places in event->args and event->texts. */
enum fsl_kineto_arg {
	FSL_KINETO_EXTERNAL,
	FSL_KINETO_EXTERNAL_OLD, /* "external id" of 2021 */
	FSL_KINETO_CORRELATION,
	FSL_KINETO_STREAM,
	FSL_KINETO_DEVICE,
	FSL_KINETO_GRID,
	FSL_KINETO_BLOCK,
	FSL_KINETO_COLLECTIVE_NAME,
	FSL_KINETO_GROUP_NAME,
	FSL_KINETO_GROUP_RANKS,
	FSL_KINETO_GROUP_DESCRIPTION,
	FSL_KINETO_SEQUENCE,
	FSL_KINETO_ELEMENTS,
	FSL_KINETO_ALLOCATED,
	FSL_KINETO_RESERVED,
	FSL_KINETO_BYTES,     /* of a copy */
	FSL_KINETO_BANDWIDTH, /* bytes/s */
	FSL_KINETO_WAIT_STREAM,
	FSL_KINETO_WAIT_EVENT,  /* correlation of the call that recorded it */
	FSL_KINETO_VALUE,       /* of a counter, millionths */
	FSL_KINETO_NESTED,      /* args of ACK's exports are JSON in a text */
	FSL_KINETO_LANE_NAME,   /* "name" of metadata */
	FSL_KINETO_FLOPS,       /* of a kernel, by PyTorch's analysis of Inductor's kernels */
	FSL_KINETO_MOVED_BYTES, /* likewise, through the device's memory */
	FSL_KINETO_ARGS_N
};

/* The vocabulary with the tables that it points to: stays where it was made. */
struct fsl_kineto_names {
	struct fsl_trace_vocabulary vocabulary;
	struct fsl_trace_arg args[FSL_KINETO_ARGS_N];
};
void fsl_kineto_names_init(struct fsl_kineto_names *names);

/* True if the name is that of a kernel of NCCL, RCCL or HCCL. */
bool fsl_kineto_is_collective(const struct fsl_trace_text *name);

/*
 * Type of a collective from the name that the framework or a kernel has for it: "ncclAllReduce" for
 * "allreduce", "all_reduce", "nccl:all_reduce" and
 * "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"; "" for what is none of them. Static text.
 */
const char *fsl_kineto_collective(const char *name, size_t length);

#endif
