/* Traces as PyTorch's profiler writes them: steps of layers, each a function of Python that calls
 * an operator, which launches a kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/try.h"
#include "bench/bench_parts.h"

enum {
	LAYERS = 32,       /* of a step */
	LAYER_NS = 183457, /* of its operator; no round number */
	US_PER_MS = 1000,
};

/* One file while it is written. */
struct trace {
	FILE *stream;
	int64_t rank, now_ns;
	int64_t n_layers; /* so far */
};

#define US "%" PRId64 ".%03d"
/* A time in ns as us with decimals, for US. */
#define US_OF(ns) (int64_t)((ns) / US_PER_MS), (int)((ns) % US_PER_MS)

static void write_head(const struct trace *trace, int64_t n_ranks)
{
	(void)fprintf(trace->stream,
		      "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n"
		      "      \"id\": 0, \"name\": \"Device\", \"numSms\": 132\n    }\n  ],\n"
		      "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRId64
		      ", \"world_size\": %" PRId64 "},\n  \"with_stack\": 1,\n"
		      "  \"traceEvents\": [",
		      trace->rank, n_ranks);
}

static void write_host(const struct trace *trace)
{
	int64_t id = trace->n_layers, ns = trace->now_ns;
	int thread = 3000 + (int)trace->rank;
	(void)fprintf(trace->stream,
		      "%s\n  {\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": "
		      "\"torch/nn/modules/module.py(%d): _call_impl\", \"pid\": %d, \"tid\": %d,\n"
		      "    \"ts\": " US ", \"dur\": " US ",\n    \"args\": {\n"
		      "      \"Python parent id\": %" PRId64 ", \"Python id\": %" PRId64
		      ", \"Ev Idx\": %" PRId64 "\n    }\n  },\n",
		      id > 0 ? "," : "", 1500 + (int)(id % LAYERS), thread, thread, US_OF(ns),
		      US_OF(LAYER_NS * 9 / 10), id, id + 1, 5 * id);
	(void)fprintf(
		trace->stream,
		"  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::%s\", \"pid\": "
		"%d, \"tid\": %d,\n    \"ts\": " US ", \"dur\": " US ",\n    \"args\": {\n"
		"      \"External id\": %" PRId64 ",\"Record function id\": %" PRId64
		", \"Input Dims\": [[%d, 4096], [4096, 4096]], \"Input type\": "
		"[\"c10::BFloat16\", \"c10::BFloat16\"], \"Ev Idx\": %" PRId64 "\n    }\n  },\n",
		id % 2 == 0 ? "mm" : "native_layer_norm", thread, thread, US_OF(ns + 5127),
		US_OF(LAYER_NS / 2), id + 1, id % 1000, 64 << (id % 4), 5 * id + 1);
}

static void write_launch(const struct trace *trace)
{
	int64_t id = trace->n_layers, ns = trace->now_ns + 20311;
	int thread = 3000 + (int)trace->rank;
	(void)fprintf(trace->stream,
		      "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "
		      "\"cudaLaunchKernel\", \"pid\": %d, \"tid\": %d,\n    \"ts\": " US
		      ", \"dur\": " US ",\n    \"args\": {\n      \"External id\": %" PRId64
		      ", \"cbid\": 211, \"correlation\": %" PRId64 "\n    }\n  },\n"
		      "  {\n    \"ph\": \"s\", \"id\": %" PRId64
		      ", \"pid\": %d, \"tid\": %d, \"ts\": " US
		      ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n",
		      thread, thread, US_OF(ns), US_OF((int64_t)(4000 + id % 977)), id + 1, id, id,
		      thread, thread, US_OF(ns));
}

static void write_kernel(const struct trace *trace)
{
	static const char *const names[] = {
		"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
		"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
		"float>(int, float, c10::BFloat16 const*, c10::BFloat16*)",
	};
	int64_t id = trace->n_layers, ns = trace->now_ns + 40777;
	bool is_collective = id % LAYERS == LAYERS - 1;
	(void)fprintf(trace->stream,
		      "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, "
		      "\"tid\": 7,\n    \"ts\": " US ", \"dur\": " US ",\n    \"args\": {\n"
		      "      \"External id\": %" PRId64
		      ", \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, "
		      "\"correlation\": %" PRId64
		      ",\n      \"registers per thread\": 122, \"shared memory\": 81920,\n"
		      "      \"blocks per SM\": 4.740741, \"warps per SM\": 18.962963,\n"
		      "      \"grid\": [%d, 1, 8],\n      \"block\": [128, 1, 1],\n"
		      "      \"est. achieved occupancy %%\": 12%s\n    }\n  },\n",
		      is_collective ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclWork*)"
				    : names[id % 2],
		      US_OF(ns), US_OF((int64_t)(90000 + id % 2311)), id + 1, id, 64 << (id % 4),
		      is_collective
			      ? ", \"Collective name\": \"allreduce\", \"In msg nelems\": 4096, "
				"\"Group size\": 8, \"Process Group Name\": \"0\""
			      : "");
	(void)fprintf(trace->stream,
		      "  {\n    \"ph\": \"f\", \"id\": %" PRId64
		      ", \"pid\": 0, \"tid\": 7, \"ts\": " US
		      ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }",
		      id, US_OF(ns));
}

/* Writes layers until the file has @n_bytes; LAYERS make a step, whose annotation comes last. */
static void write_events(struct trace *trace, int64_t n_bytes)
{
	int64_t begin_ns = trace->now_ns;
	for (; ftell(trace->stream) < n_bytes && ferror(trace->stream) == 0; trace->n_layers++) {
		write_host(trace);
		write_launch(trace);
		write_kernel(trace);
		trace->now_ns += LAYER_NS;
		if (trace->n_layers % LAYERS == LAYERS - 1) {
			(void)fprintf(trace->stream,
				      ",\n  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", "
				      "\"name\": \"ProfilerStep#%" PRId64
				      "\", \"pid\": %d, \"tid\": %d,\n    \"ts\": " US
				      ", \"dur\": " US
				      ",\n    \"args\": {\n      \"External id\": 7\n    }\n  }",
				      trace->n_layers / LAYERS, 3000 + (int)trace->rank,
				      3000 + (int)trace->rank, US_OF(begin_ns),
				      US_OF(trace->now_ns - begin_ns));
			begin_ns = trace->now_ns;
		}
	}
	(void)fprintf(trace->stream, "\n  ],\n  \"traceName\": \"trace.json\",\n"
				     "  \"displayTimeUnit\": \"ms\",\n"
				     "  \"baseTimeNanoseconds\": 1767189312000000000\n}\n");
}

static enum fsl_status write_one(const char *folder, const struct fsl_bench_job *job, int64_t rank,
				 struct fsl_error *err)
{
	struct fsl_draft *draft = NULL;
	char path[FSL_BENCH_PATH_BYTES + 64];
	(void)snprintf(path, sizeof(path), "%s/rank%" PRId64 ".pt.trace.json", folder, rank);
	FSL_TRY(fsl_draft_create(&draft, path, err));
	struct trace trace = {.stream = fsl_draft_stream(draft),
			      .rank = rank,
			      .now_ns = INT64_C(4458676522690655) + rank * 1013};
	write_head(&trace, job->n_ranks);
	write_events(&trace, job->n_bytes / job->n_ranks);
	enum fsl_status status = ferror(trace.stream) == 0 ? fsl_draft_publish(draft, err)
							   : fsl_draft_fail(draft, errno, err);
	fsl_draft_destroy(draft);
	return status;
}

enum fsl_status fsl_bench_traces_write(const struct fsl_bench_tree *tree,
				       const struct fsl_bench_job *job, struct fsl_error *err)
{
	char folder[FSL_BENCH_PATH_BYTES];
	fsl_bench_tree_folder(tree, folder);
	FSL_TRY(fsl_dir_create(folder, err));
	for (int64_t rank = 0; rank < job->n_ranks; rank++) {
		FSL_TRY(write_one(folder, job, rank, err));
	}
	return FSL_OK;
}
