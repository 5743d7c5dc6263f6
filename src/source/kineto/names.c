/* Kineto's names as tables. */
#include "source/kineto/names.h"

#include <ctype.h>
#include <string.h>

#define N_OF(items) (sizeof(items) / sizeof((items)[0]))

/* What may stand anywhere in a name comes last. */
static const struct fsl_trace_word name_words[] = {
	{FSL_KINETO_STEP, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
	{FSL_KINETO_PARAMS, FSL_TRACE_WHOLE, "record_param_comms", NULL},
	{FSL_KINETO_MEMORY, FSL_TRACE_WHOLE, "[memory]", NULL},
	{FSL_KINETO_STREAM_SYNC, FSL_TRACE_WHOLE, "Stream Sync", NULL},
	{FSL_KINETO_CONTEXT_SYNC, FSL_TRACE_WHOLE, "Context Sync", NULL},
	{FSL_KINETO_EVENT_SYNC, FSL_TRACE_WHOLE, "Event Sync", NULL},
	{FSL_KINETO_STREAM_WAIT, FSL_TRACE_WHOLE, "Stream Wait Event", NULL},
	{FSL_KINETO_DATALOADER, FSL_TRACE_ANYWHERE, "dataloader", NULL},
};

/* Names of nearly all events are of no interest: they are looked up only if they may be. */
#define BIT(category) (UINT32_C(1) << (category))
static const uint32_t nameless = BIT(FSL_KINETO_NONE) | BIT(FSL_KINETO_KERNEL) |
				 BIT(FSL_KINETO_COPY) | BIT(FSL_KINETO_RUNTIME) |
				 BIT(FSL_KINETO_PYTHON) | BIT(FSL_KINETO_SPAN);

/* Of 2021 with a capital. ROCm uses CUDA's words. */
static const struct fsl_trace_word category_words[] = {
	{FSL_KINETO_KERNEL, FSL_TRACE_WHOLE_ANY_CASE, "kernel", NULL},
	{FSL_KINETO_COPY, FSL_TRACE_WHOLE, "gpu_memcpy", NULL},
	{FSL_KINETO_COPY, FSL_TRACE_WHOLE, "gpu_memset", NULL},
	{FSL_KINETO_COPY, FSL_TRACE_WHOLE, "Memcpy", NULL},
	{FSL_KINETO_COPY, FSL_TRACE_WHOLE, "Memset", NULL},
	{FSL_KINETO_RUNTIME, FSL_TRACE_WHOLE, "cuda_runtime", NULL},
	{FSL_KINETO_RUNTIME, FSL_TRACE_WHOLE, "cuda_driver", NULL},
	{FSL_KINETO_RUNTIME, FSL_TRACE_WHOLE, "Runtime", NULL},
	{FSL_KINETO_OPERATOR, FSL_TRACE_WHOLE, "cpu_op", NULL},
	{FSL_KINETO_OPERATOR, FSL_TRACE_WHOLE, "Operator", NULL},
	{FSL_KINETO_ANNOTATION, FSL_TRACE_WHOLE, "user_annotation", NULL},
	{FSL_KINETO_DEVICE_ANNOTATION, FSL_TRACE_WHOLE, "gpu_user_annotation", NULL},
	{FSL_KINETO_PYTHON, FSL_TRACE_WHOLE, "python_function", NULL},
	{FSL_KINETO_INSTANT, FSL_TRACE_WHOLE, "cpu_instant_event", NULL},
	{FSL_KINETO_SPAN, FSL_TRACE_WHOLE, "Trace", NULL},
	{FSL_KINETO_SYNC, FSL_TRACE_WHOLE, "cuda_sync", NULL},
	/* ACK AI Profiling: lanes of Python, CPU, system calls, CUDA's libraries and kernels. Known
	 * from its manual and from code that reads it, not from an export. */
	{FSL_KINETO_PYTHON, FSL_TRACE_WHOLE_ANY_CASE, "python", NULL},
	{FSL_KINETO_SYSCALL, FSL_TRACE_WHOLE_ANY_CASE, "syscall", NULL},
	{FSL_KINETO_RUNTIME, FSL_TRACE_WHOLE_ANY_CASE, "cudalib", NULL},
	{FSL_KINETO_RUNTIME, FSL_TRACE_WHOLE_ANY_CASE, "cuda_lib", NULL},
	{FSL_KINETO_CPU, FSL_TRACE_WHOLE_ANY_CASE, "cpu", NULL},
	{FSL_KINETO_CPU, FSL_TRACE_HEAD, "CAT_", NULL},
};

_Static_assert((int)FSL_KINETO_ARGS_N <= (int)FSL_TRACE_ARGS_MAX, "an event has room for all");

static const struct fsl_trace_arg arguments[FSL_KINETO_ARGS_N] = {
	[FSL_KINETO_EXTERNAL] = {"External id", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_EXTERNAL_OLD] = {"external id", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_CORRELATION] = {"correlation", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_STREAM] = {"stream", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_DEVICE] = {"device", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_GRID] = {"grid", 0, NULL, FSL_TRACE_ARG_SIZES},
	[FSL_KINETO_BLOCK] = {"block", 0, NULL, FSL_TRACE_ARG_SIZES},
	[FSL_KINETO_COLLECTIVE_NAME] = {"Collective name", 0, NULL, FSL_TRACE_ARG_TEXT},
	[FSL_KINETO_GROUP_NAME] = {"Process Group Name", 0, NULL, FSL_TRACE_ARG_TEXT},
	[FSL_KINETO_GROUP_RANKS] = {"Process Group Ranks", 0, NULL, FSL_TRACE_ARG_TEXT},
	[FSL_KINETO_GROUP_DESCRIPTION] = {"Process Group Description", 0, NULL, FSL_TRACE_ARG_TEXT},
	[FSL_KINETO_SEQUENCE] = {"Seq", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_ELEMENTS] = {"In msg nelems", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_ALLOCATED] = {"Total Allocated", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_VALUE] = {"value", INT64_MAX, NULL, FSL_TRACE_ARG_MILLIONTHS},
	[FSL_KINETO_BYTES] = {"bytes", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_BANDWIDTH] = {"memory bandwidth (GB/s)", INT64_MAX, NULL,
				  FSL_TRACE_ARG_BILLIONTHS},
	[FSL_KINETO_WAIT_STREAM] = {"wait_on_stream", INT32_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_WAIT_EVENT] = {"wait_on_cuda_event_record_corr_id", INT64_MAX, NULL,
				   FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_RESERVED] = {"Total Reserved", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_NESTED] = {"args", 0, NULL, FSL_TRACE_ARG_NESTED},
	[FSL_KINETO_LANE_NAME] = {"name", 0, NULL, FSL_TRACE_ARG_TEXT},
	[FSL_KINETO_FLOPS] = {"kernel_flop", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	[FSL_KINETO_MOVED_BYTES] = {"kernel_num_gb", INT64_MAX, NULL, FSL_TRACE_ARG_BILLIONTHS},
};

void fsl_kineto_names_init(struct fsl_kineto_names *names)
{
	fsl_trace_words_init(&names->vocabulary.names, name_words, N_OF(name_words));
	fsl_trace_words_init(&names->vocabulary.categories, category_words, N_OF(category_words));
	names->vocabulary.nameless = nameless;
	names->vocabulary.wants_counters = true;
	memcpy(names->args, arguments, sizeof(arguments));
	names->vocabulary.n_args = FSL_KINETO_ARGS_N;
	names->vocabulary.args = names->args;
}

bool fsl_kineto_is_collective(const struct fsl_trace_text *name)
{
	static const char *const anywhere[] = {"ncclKernel", "ncclDevKernel"};
	static const char *const heads[] = {"nccl", "hccl", "rccl"};
	for (size_t i = 0; i < N_OF(heads); i++) {
		if (name->length >= 4 && memcmp(name->text, heads[i], 4) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < N_OF(anywhere); i++) {
		if (fsl_trace_text_holds(name->text, name->length, anywhere[i],
					 strlen(anywhere[i]))) {
			return true;
		}
	}
	return false;
}

const char *fsl_kineto_collective(const char *name, size_t length)
{
	/* In this order: what holds another one comes first. */
	static const struct {
		const char *key, *type;
	} types[] = {
		{"allreduce", "ncclAllReduce"}, {"reducescatter", "ncclReduceScatter"},
		{"allgather", "ncclAllGather"}, {"alltoall", "ncclAllToAll"},
		{"broadcast", "ncclBroadcast"}, {"sendrecv", "ncclSendRecv"},
		{"send", "ncclSend"},           {"recv", "ncclRecv"},
		{"barrier", "ncclBarrier"},     {"reduce", "ncclReduce"},
		{"scatter", "ncclScatter"},     {"gather", "ncclGather"},
	};
	char plain[FSL_TRACE_TEXT_MAX + 1];
	size_t n = 0;
	for (size_t i = 0; i < length && name[i] != '(' && n + 1 < sizeof(plain); i++) {
		if (isalnum((unsigned char)name[i]) != 0) {
			plain[n++] = (char)tolower((unsigned char)name[i]);
		}
	}
	plain[n] = '\0';
	for (size_t i = 0; i < N_OF(types); i++) {
		if (strstr(plain, types[i].key) != NULL) {
			return types[i].type;
		}
	}
	return "";
}
