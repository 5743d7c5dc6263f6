/* Any bytes as a trace of Kineto, with functions: as a whole and in pieces alike. */
#include "capture/functions.h"
#include "capture/shares.h"
#include "capture/worker_figures.h"
#include "fuzz/fuzz_profile_ways.h"
#include "source/kineto/read.h"

static void check_functions(const struct fsl_functions *functions)
{
	FSL_REQUIRE(functions->compute_ns <= functions->busy_ns);
	FSL_REQUIRE(functions->busy_ns <= functions->window_ns);
	for (size_t i = 0; i < functions->n_items; i++) {
		const struct fsl_function *item = &functions->items[i];
		FSL_REQUIRE(item->count > 0 && item->total_ns >= 0 && item->mean_ns >= 0.0);
		FSL_REQUIRE(item->exclusive_ns >= 0 && item->exclusive_ns <= item->wall_ns);
		FSL_REQUIRE(item->wall_ns <= functions->window_ns);
		FSL_REQUIRE(item->syscall_ns >= 0 && item->syscall_ns <= item->total_ns);
	}
}

static void check_figures(const struct fsl_worker_figures *figures)
{
	int64_t sum_ns = 0, count = 0;
	for (size_t i = 0; i < FSL_PATH_PARTS_N; i++) {
		FSL_REQUIRE(figures->path.parts_ns[i] >= 0);
		sum_ns = fsl_sum_i64(sum_ns, figures->path.parts_ns[i]);
	}
	FSL_REQUIRE(sum_ns == figures->path.length_ns);
	for (size_t i = 0; i < figures->n_streams; i++) {
		FSL_REQUIRE(figures->streams[i].count > 0 && figures->streams[i].busy_ns >= 0);
		FSL_REQUIRE(figures->streams[i].full_ns >= 0);
		count += figures->streams[i].count;
	}
	FSL_REQUIRE(figures->launches.count <= count && figures->launches.delay_ns >= 0);
}

static enum fsl_status read_with_functions(struct fsl_profile_rank *rank,
					   const struct fsl_profile_input *input,
					   struct fsl_error *err)
{
	rank->info.host_name = "";
	rank->functions = fsl_calloc(1, sizeof(*rank->functions));
	rank->figures = fsl_calloc(1, sizeof(*rank->figures));
	FSL_REQUIRE(rank->functions != NULL && rank->figures != NULL);
	enum fsl_status status = fsl_kineto_read_file(rank, input, err);
	check_functions(rank->functions);
	check_figures(rank->figures);
	for (size_t i = 0; i < rank->n_shares; i++) {
		const struct fsl_profile_shares *shares = &rank->shares[i];
		FSL_REQUIRE(shares->window_ns == shares->compute_ns + shares->exposed_comm_ns +
							 shares->exposed_memory_ns +
							 shares->idle_ns);
	}
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	fuzz_profile_ways(read_with_functions, data, n_bytes);
	return fuzz_profile(read_with_functions, data, n_bytes);
}
