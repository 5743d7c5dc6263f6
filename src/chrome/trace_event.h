/*
 * One event of trace_view.json, reduced while it is read to what is asked for: texts become kinds,
 * ids become numbers, so that nothing of a file of any size has to be kept.
 */
#ifndef FSL_CHROME_TRACE_EVENT_H
#define FSL_CHROME_TRACE_EVENT_H

#include "base/json_stream.h"
#include "capture/capture.h"

enum fsl_trace_name {
	FSL_TRACE_NAME_OTHER,
	FSL_TRACE_NAME_STEP,          /* ProfilerStep#50 */
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

enum fsl_trace_process {
	FSL_TRACE_PROCESS_OTHER,
	FSL_TRACE_PROCESS_DEVICE,        /* Ascend Hardware */
	FSL_TRACE_PROCESS_COMMUNICATION, /* HCCL, Communication */
	FSL_TRACE_PROCESS_OVERLAP,       /* Overlap Analysis */
};

struct fsl_trace_event {
	char phase; /* 'X', 'M', 's', 'f', 'C'...; 0: none */
	enum fsl_trace_name name;
	int64_t step; /* of FSL_TRACE_NAME_STEP */
	enum fsl_trace_category category;
	bool has_id;
	uint64_t pid, id;               /* decimal numbers as they are, others as a hash */
	int64_t ts_ns, dur_ns;          /* FSL_NS_ABSENT: none that could be used */
	int32_t mhz;                    /* args.MHz; -1: none */
	int32_t peer;                   /* args["dst rank"]; -1: none */
	enum fsl_trace_process process; /* args.name */
};

/* NULL when the event can be used, else why not; static. */
const char *fsl_trace_event_fault(const struct fsl_trace_event *event);

/* Reads the rest of an event whose "{" was taken. Of the same key twice the last one holds. */
enum fsl_status fsl_trace_event_read(struct fsl_json *json, struct fsl_trace_event *event,
				     struct fsl_error *err);
/*
 * The same from @n_bytes in memory from its "{" on, for events that are spelt as profilers do: its
 * length, or 0 when it takes the tokenizer to tell what it is. What this reads, that reads alike.
 */
size_t fsl_trace_event_scan(const char *text, size_t n_bytes, struct fsl_trace_event *event);

/* For the two above: takes the value of a key of the event, or of its args. */
enum fsl_trace_key {
	FSL_TRACE_KEY_PHASE,
	FSL_TRACE_KEY_NAME,
	FSL_TRACE_KEY_PID,
	FSL_TRACE_KEY_TS,
	FSL_TRACE_KEY_DUR,
	FSL_TRACE_KEY_CATEGORY,
	FSL_TRACE_KEY_ID,
	FSL_TRACE_KEY_ARGS,
	FSL_TRACE_KEY_ARG_MHZ,
	FSL_TRACE_KEY_ARG_NAME,
	FSL_TRACE_KEY_ARG_PEER,
	FSL_TRACE_KEY_OTHER,
};
enum fsl_trace_key fsl_trace_key_find(const char *text, size_t length);
enum fsl_trace_key fsl_trace_key_find_arg(const char *text, size_t length);
void fsl_trace_event_clear(struct fsl_trace_event *event);
/* Begins args: those of an earlier "args" are forgotten. */
void fsl_trace_event_clear_args(struct fsl_trace_event *event);
void fsl_trace_event_take(struct fsl_trace_event *event, enum fsl_trace_key key,
			  const struct fsl_json_value *value);

#endif
